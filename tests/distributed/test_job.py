"""Folders of Parquet, by one worker: what is written, kept and refused."""

import json
import os
import shutil
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from filelock import FileLock
from util import run

from spacy_sdp.distributed import apply, job
from spacy_sdp.distributed.inputs import find_inputs
from spacy_sdp.distributed.worker import ParsePart, Plan

ROWS = [{"id": i, "text": f"Dog {i} barks. It is loud."} for i in range(60)]


def write_rows(path, rows=ROWS):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def read_rows(folder):
    """RETURNS the rows, as everybody who reads a folder of Parquet finds them."""
    return sorted(pq.read_table(folder).to_pylist(), key=lambda row: row["id"])


def state(folder):
    """RETURNS the bytes and the time of each file."""
    return {
        path.name: (path.read_bytes(), path.stat().st_mtime_ns)
        for path in folder.glob("*.parquet")
    }


@pytest.fixture
def corpus(tmp_path):
    write_rows(tmp_path / "in" / "rows.jsonl")
    return tmp_path / "in"


def parse(corpus, out, tiny, *options):
    return run("parse", corpus, "-o", f"{out}/", "--model", tiny, *options)


def test_a_folder_has_every_row_once(corpus, tiny, tmp_path, poison):
    (corpus / "more").mkdir()
    bad = pa.table({"id": [99], "text": [poison]})
    pq.write_table(bad, corpus / "more" / "bad.parquet")
    summary = apply([str(corpus)], str(tmp_path / "out"), model=tiny, part_size=1000)
    assert (summary.rows, summary.errors, summary.retries) == (61, 1, 0)
    assert summary.words == 60 * 8 and summary.failures == {}
    assert (summary.written, summary.skipped) == (4, 0) and summary.memory > 0
    rows = read_rows(tmp_path / "out")
    assert [row["id"] for row in rows] == [*range(60), 99]
    assert "E088" in rows[-1]["error"] and rows[-1]["tokens"] is None
    names = sorted(
        p.relative_to(tmp_path / "out").as_posix()
        for p in (tmp_path / "out").rglob("*")
        if p.is_file()
    )
    assert names == [
        ".lock",
        "_manifest.json",
        "more/bad.parquet",
        *(f"rows-{i:05}.parquet" for i in range(3)),
    ]


def test_what_is_there_is_kept_and_the_rest_is_done(corpus, tiny, tmp_path):
    out = tmp_path / "out"
    options = {"model": tiny, "part_size": 1000}
    apply([str(corpus)], str(out), **options)
    before = state(out)
    (out / "rows-00001.parquet").unlink()
    write_rows(corpus / "new.jsonl", [{"id": 60, "text": "Fish swim."}])
    summary = apply([str(corpus)], str(out), **options)
    assert (summary.written, summary.skipped, summary.rows) == (2, 2, 21)
    after = state(out)
    for name in ("rows-00000.parquet", "rows-00002.parquet"):
        assert after[name] == before[name]
    assert [row["id"] for row in read_rows(out)] == [*range(61)]


def test_another_job_in_the_same_folder_is_refused(corpus, tiny, tmp_path):
    out = tmp_path / "out"
    assert parse(corpus, out, tiny)[0] == 0
    before = state(out)
    code, _, err = parse(corpus, out, tiny, "--threshold", 0.4)
    assert code == 1 and "was started with threshold = null, not 0.4" in err
    # A smaller batch may help if a worker runs out of memory.
    assert parse(corpus, out, tiny, "--batch-size", 3)[0] == 0
    other = tmp_path / "other"
    other.mkdir()
    write_rows(other / "rows.jsonl", ROWS)
    code, _, err = parse(other, out, tiny)
    assert code == 1 and f"has results of {corpus}/rows.jsonl, and those of" in err
    write_rows(corpus / "rows.jsonl", [*ROWS[:-1], {**ROWS[-1], "id": -1}])
    code, _, err = parse(corpus, out, tiny)
    assert code == 1 and "The input rows.jsonl has changed since" in err
    (out / "_manifest.json").unlink()
    code, _, err = parse(corpus, out, tiny)
    assert code == 1 and "already has other Parquet files" in err
    assert state(out) == before


def test_a_second_driver_is_refused(corpus, tiny, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "_temporary").mkdir()
    with FileLock(out / ".lock"):
        code, _, err = parse(corpus, out, tiny)
    assert code == 1 and "another job is writing to this folder" in err
    assert sorted(os.listdir(out)) == [".lock", "_temporary"]


def test_ids_must_differ(corpus, tiny, tmp_path):
    write_rows(corpus / "more.jsonl", [ROWS[7], {"id": 99, "text": "a"}])
    out = tmp_path / "out"
    code, _, err = parse(corpus, out, tiny, "--id-column", "id")
    assert code == 1 and "The ids in 'id' must be unique" in err and ': "7".' in err
    assert state(out) == {}
    write_rows(corpus / "more.jsonl", [{"text": "a"}])
    code, _, err = parse(corpus, tmp_path / "2", tiny, "--id-column", "id")
    assert code == 1 and "no column 'id' with ids, only text" in err
    write_rows(corpus / "more.jsonl", [{"id": "a", "text": "a"}, {"text": "a"}])
    code, _, err = parse(corpus, tmp_path / "3", tiny, "--id-column", "id")
    assert code == 1 and "more.jsonl: a row has no 'id'" in err


def test_a_corrupt_file_does_not_stop_the_others(corpus, tiny, tmp_path):
    pq.write_table(pa.table({"text": ["a"] * 9000}), corpus / "broken.parquet")
    data = bytearray((corpus / "broken.parquet").read_bytes())
    data[10:40] = bytes(30)
    (corpus / "broken.parquet").write_bytes(data)
    (corpus / "cut.parquet").write_bytes(data[:100])
    out = tmp_path / "out"
    code, _, err = parse(corpus, out, tiny)
    assert code == 1 and "cut.parquet: cannot be read (" in err
    assert "broken.parquet: cannot be read (" in err and "2 NOT WRITTEN" in err
    assert list(state(out)) == ["rows.parquet"]
    assert not (out / "_temporary").exists()
    (corpus / "cut.parquet").unlink()
    (corpus / "broken.parquet").unlink()
    code, _, err = parse(corpus, out, tiny)
    assert code == 0 and "0 files written; 1 already complete" in err


FULL_DISK = 'mount -t tmpfs -o size=200k tmpfs "$1" && shift && exec "$@"'


@pytest.mark.skipif(
    not shutil.which("unshare")
    or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode,
    reason="needs namespaces of users, for a small disk",
)
def test_a_full_disk_leaves_nothing_half_written(tiny, tmp_path):
    rows = [{"id": i, "text": os.urandom(4000).hex()} for i in range(60)]
    corpus, disk = write_rows(tmp_path / "in" / "rows.jsonl", rows), tmp_path / "disk"
    disk.mkdir()
    command = ["unshare", "-rm", "sh", "-c", FULL_DISK, "sh", disk]
    script = (
        '"$0" -m spacy_sdp parse "$1" -o "$2/out/" --model "$3"; echo $?; '
        'find "$2" -type f ! -name .lock ! -name _manifest.json'
    )
    command += ["sh", "-c", script, sys.executable, corpus, disk, tiny]
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert result.stdout == "1\n"
    assert "No space left on device" in result.stderr
    assert result.stderr.startswith("✘ ") and len(result.stderr.splitlines()) == 1


def test_what_makes_no_sense_is_refused(corpus, tiny, tmp_path):
    out = tmp_path / "out"
    for options, message in (
        (("--to", "sdp"), "the output is --to parquet"),
        (("--errors", "e.jsonl"), "omit --errors"),
        (("--from", "lines"), "format 'lines' cannot"),
    ):
        code, _, err = parse(corpus, out, tiny, *options)
        assert code in (1, 2) and message in " ".join(err.replace("│", "").split())
    code, _, err = run("parse", "a", "-o", "a.jsonl", "--workers", 2)
    assert code == 2 and "end the --output with /" in err
    code, _, err = parse(corpus, out, tmp_path / "none")
    assert code == 1 and "it is neither an installed package nor the folder" in err
    write_rows(corpus / "rows.csv")
    code, _, err = parse(corpus, out, tiny)
    assert code == 1 and "would both be written to rows.parquet" in err
    code, _, err = parse(tmp_path / "nothing", out, tiny)
    assert code == 1 and "no such file or folder" in err


def test_a_worker_with_another_version_stops_the_job(
    corpus, tiny, tmp_path, monkeypatch
):

    monkeypatch.setattr(job, "find_pipeline", lambda model: (model, "9.9"))
    with pytest.raises(OSError, match=r"has version 0\.0\.0 on .* and 9\.9 where"):
        apply([str(corpus)], str(tmp_path / "out"), model=tiny)
    monkeypatch.setattr(job, "find_pipeline", lambda model: ("en_none", "9.9"))
    with pytest.raises(OSError, match=r"en_none cannot be loaded on .*E050"):
        apply([str(corpus)], str(tmp_path / "2"), model="en_none")


def test_a_part_that_kills_its_worker_is_given_up(corpus, tiny, tmp_path):
    (file,) = find_inputs([str(corpus)], None)
    (part,) = file.parts(10**6)
    worker = ParsePart(Plan(str(tmp_path), "_temporary/x", "0.0.0", {"model": tiny}))
    marks = tmp_path / "_temporary" / "x" / "rows.parquet"
    marks.mkdir(parents=True)
    # As workers leave them when they die.
    (marks / "begun-1").touch()
    assert (worker.work(part).attempts, worker.work(part).attempts) == (2, 1)
    for number in (1, 2, 3):
        marks.mkdir(exist_ok=True)
        (marks / f"begun-{number}").touch()
    report = worker.work(part)
    assert report.failure.startswith("its worker died 3 times; does it run out of")
    assert not report.stop and report.attempts == 3
