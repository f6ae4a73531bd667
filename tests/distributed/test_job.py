"""Folders of Parquet, by one worker: what is written, kept and refused."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from filelock import FileLock
from util import run

from spacy_sdp.distributed import apply, engine, ids, job
from spacy_sdp.distributed.engine import to_blocks
from spacy_sdp.distributed.inputs import Part, find_inputs
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
    assert code == 1 and "The ids in 'id' must be unique" in err
    assert f'several times: "7" in {corpus}/more.jsonl and {corpus}/rows.jsonl.' in err
    assert state(out) == {}
    # As in the output, where all files have the same type.
    write_rows(corpus / "more.jsonl", [{**row, "id": str(row["id"])} for row in ROWS])
    code, _, err = parse(corpus, tmp_path / "2", tiny, "--id-column", "id")
    assert code == 1 and "and 57 more." in err
    write_rows(corpus / "more.jsonl", [{"text": "a"}])
    code, _, err = parse(corpus, tmp_path / "3", tiny, "--id-column", "id")
    assert code == 1 and "no column 'id' with ids, only text" in err
    write_rows(corpus / "more.jsonl", [{"id": "a", "text": "a"}, {"text": "a"}] * 2)
    code, _, err = parse(corpus, tmp_path / "4", tiny, "--id-column", "id")
    assert code == 1 and "more.jsonl: 2 rows have no 'id'" in err


def test_more_ids_than_can_be_compared(corpus, tiny, tmp_path, monkeypatch):
    write_rows(corpus / "more.jsonl")
    monkeypatch.setattr(ids, "MAX_COMPARED", 5)
    with pytest.raises(ValueError, match="and 57 more"):
        apply([str(corpus)], str(tmp_path / "out"), model=tiny, id_column="id")


def test_a_corrupt_file_does_not_stop_the_others(corpus, tiny, tmp_path):
    pq.write_table(pa.table({"text": ["a"] * 9000}), corpus / "broken.parquet")
    data = bytearray((corpus / "broken.parquet").read_bytes())
    data[10:40] = bytes(30)
    (corpus / "broken.parquet").write_bytes(data)
    (corpus / "cut.parquet").write_bytes(data[:100])
    out = tmp_path / "out"
    code, _, err = parse(corpus, out, tiny)
    cut, broken, summary = err.splitlines()
    assert code == 1 and cut.startswith(f"⚠ {corpus}/cut.parquet: cannot be read (")
    assert broken.startswith(f"⚠ {corpus}/broken.parquet: cannot be read (")
    assert summary.endswith("2 NOT WRITTEN, see above")
    assert list(state(out)) == ["rows.parquet"]
    assert not (out / "_temporary").exists()
    (corpus / "cut.parquet").unlink()
    # It can be repaired, because nothing of it has been parsed.
    pq.write_table(pa.table({"text": ["a"]}), corpus / "broken.parquet")
    code, _, err = parse(corpus, out, tiny)
    assert code == 0 and "1 files written; 1 already complete" in err


def test_a_corrupt_file_does_not_stop_the_check_of_ids(corpus, tiny, tmp_path):
    table = pa.table({"id": range(100, 9100), "text": ["a"] * 9000})
    pq.write_table(table, corpus / "broken.parquet", compression="none")
    data = bytearray((corpus / "broken.parquet").read_bytes())
    data[4:40] = bytes(36)
    (corpus / "broken.parquet").write_bytes(data)
    code, _, err = parse(corpus, tmp_path / "out", tiny, "--id-column", "id")
    broken, summary = err.splitlines()
    assert broken.startswith(f"⚠ {corpus}/broken.parquet: cannot be read (")
    assert code == 1 and ": 60 rows, " in summary and "1 NOT WRITTEN" in summary


def test_files_of_different_columns_are_one_table(corpus, tiny, tmp_path):
    out = tmp_path / "out"
    write_rows(corpus / "more.jsonl", [{"text": "Fish swim.", "id": 60, "new": "a"}])
    (corpus / "empty.jsonl").touch()
    code, _, err = parse(corpus, out, tiny)
    assert code == 0 and "61 rows" in err and "3 files written" in err
    # Arrow takes the columns of the first file.
    assert [row["new"] for row in read_rows(out)] == ([None] * 60) + ["a"]
    write_rows(corpus / "less.jsonl", [{"text": "a", "id": None}])
    assert parse(corpus, out, tiny)[0] == 0
    assert pq.read_schema(out / "less.parquet") == pq.read_schema(out / "rows.parquet")
    write_rows(corpus / "other.jsonl", [{"text": "a", "date": "1984"}])
    code, _, err = parse(corpus, out, tiny)
    assert code == 1 and f"than when {out} was started: 'date'. Use another" in err


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
    (corpus / "rows.csv").write_text("text\na")
    code, _, err = parse(corpus, out, tiny)
    assert code == 1 and "would both be written to rows.parquet" in err
    code, _, err = parse(tmp_path / "nothing", out, tiny)
    assert code == 1 and "no such file or folder" in err
    code, _, err = parse("foo://bar/in.jsonl", out, tiny)
    assert code == 1 and "✘ foo://bar/in.jsonl: this file system is not sup" in err


def test_an_output_inside_the_input_is_refused(corpus, tiny, tmp_path):
    (tmp_path / "link").symlink_to(corpus)
    for out in (corpus / "parsed", corpus, tmp_path / "link" / "parsed"):
        code, _, err = parse(corpus, out, tiny)
        assert code == 1 and f"is inside the input {corpus}, so that the next" in err
    assert os.listdir(corpus) == ["rows.jsonl"]
    # A file is no folder, and another folder may have a similar name.
    out = tmp_path / "in2"
    assert parse(corpus / "rows.jsonl", out, tiny)[0] == 0


@pytest.mark.parametrize("text", ["{}", "[]", "", '{"settings": {}, "inputs": {}}'])
def test_files_that_are_no_manifests_are_refused(text, corpus, tiny, tmp_path):
    (tmp_path / "_manifest.json").write_text(text)
    with pytest.raises(ValueError, match=r"_manifest\.json is not a manifest of this"):
        apply([str(corpus / "rows.jsonl")], str(tmp_path), model=tiny)


@pytest.mark.parametrize(
    "name, value, message",
    [
        ("workers", 0, "'workers' must be at least 1, but is 0."),
        ("part_size", 0, "'part_size' must be at least 1, but is 0."),
        ("batch_size", -1, "'batch_size' must be at least 1, but is -1."),
        ("gpus", -1, "'gpus' must be at least 0, but is -1."),
        ("threshold", 2, "'threshold' must be between 0 and 1, but is 2."),
        ("threshold", float("nan"), "'threshold' must be between 0 and 1, but is nan."),
    ],
)
def test_settings_have_limits(name, value, message, corpus, tiny, tmp_path):
    with pytest.raises(ValueError, match=re.escape(message)):
        apply([str(corpus)], str(tmp_path / "out"), model=tiny, **{name: value})
    assert not (tmp_path / "out").exists()


def test_a_wheel_is_a_pipeline(corpus, tiny, tmp_path):
    wheel = tmp_path / "en_tiny-0.0.0-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        for path in Path(tiny).rglob("*"):
            archive.write(path, f"en_tiny/en_tiny-0.0.0/{path.relative_to(tiny)}")
    summary = apply([str(corpus)], str(tmp_path / "out"), model=str(wheel))
    assert (summary.rows, summary.errors) == (60, 0)


def test_a_cluster_that_does_not_answer(corpus, tiny, tmp_path):
    pytest.importorskip("ray")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    code, _, err = parse(corpus, tmp_path / "out", tiny, "--ray-address", address)
    assert code == 1
    assert err.startswith(f"✘ Cannot start Ray or connect to it at {address} (")
    assert err.endswith("refused). Check 'ray_address' (--ray-address).\n")


def test_only_many_small_parts_share_blocks(monkeypatch):
    parts = [
        Part("a", str(i), "jsonl", 0, None, size) for i, size in enumerate([1, 1, 2, 9])
    ]
    monkeypatch.setattr(engine, "BLOCK_SIZE", 3)
    assert [len(block) for block in to_blocks(parts)] == [1, 1, 1, 1]
    monkeypatch.setattr(engine, "MAX_BLOCKS", 3)
    blocks = list(to_blocks(parts))
    assert [len(block) for block in blocks] == [2, 1, 1]
    assert [Part.from_json(part) for block in blocks for part in block] == parts


def test_a_worker_with_another_version_stops_the_job(
    corpus, tiny, tmp_path, monkeypatch
):

    monkeypatch.setattr(job, "find_pipeline", lambda model: (model, "9.9"))
    with pytest.raises(OSError, match=r"has version 0\.0\.0, but 9\.9 where"):
        apply([str(corpus)], str(tmp_path / "out"), model=tiny)
    monkeypatch.setattr(job, "find_pipeline", lambda model: ("en_none", "9.9"))
    with pytest.raises(
        OSError, match=r"A worker on .* en_none cannot be loaded .*E050"
    ):
        apply([str(corpus)], str(tmp_path / "2"), model="en_none")


def test_a_part_that_kills_its_worker_is_given_up(corpus, tiny, tmp_path):
    (file,) = find_inputs([str(corpus)], None)
    (part,) = file.parts(10**6)
    schema = pa.schema([("id", pa.int64()), ("text", pa.string())])
    plan = Plan(str(tmp_path), "_temporary/x", schema, "0.0.0", {"model": tiny})
    worker = ParsePart(plan)
    marks = tmp_path / "_temporary" / "x" / "rows.parquet"
    marks.mkdir(parents=True)
    # As workers leave them when they die.
    (marks / "begun-1").touch()
    assert (worker.work(part).attempts, worker.work(part).attempts) == (2, 1)
    for number in (1, 2, 3):
        marks.mkdir(exist_ok=True)
        (marks / f"begun-{number}").touch()
    report = worker.work(part)
    name = str(corpus / "rows.jsonl")
    assert report.failure.startswith(f"{name}: its worker died 3 times; does it run")
    assert not report.stop and report.attempts == 3
