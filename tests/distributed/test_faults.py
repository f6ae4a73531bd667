"""Real faults on a local Ray: killed workers, a killed driver, two drivers."""

import json
import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import pyarrow.parquet as pq
import pytest

from spacy_sdp.distributed import ParseBatch, apply

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.skipif(
    os.name != "posix", reason="kills processes, as POSIX does"
)
ROWS = 2400
PARTS = 24
# Seconds until something counts as hanging.
PATIENCE = 600


@pytest.fixture
def corpus(tmp_path):
    """Some files, which take seconds together."""
    (tmp_path / "in").mkdir()
    for part in range(PARTS):
        rows = [
            {"id": i, "text": f"Dog {i} barks. It did not eat, and it is loud."}
            for i in range(part * ROWS // PARTS, (part + 1) * ROWS // PARTS)
        ]
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        (tmp_path / "in" / f"{part:02}.jsonl").write_text(lines)
    return tmp_path / "in"


def start(corpus, out, model, *options, path=""):
    command = [sys.executable, "-m", "spacy_sdp", "parse", corpus, "--model", model]
    command += ["--output", f"{out}/", "--to", "parquet", "--workers", "2", *options]
    return subprocess.Popen(
        list(map(str, command)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # The tests are no part of the environment of Ray's workers.
        env={**os.environ, "PYTHONPATH": str(path)},
    )


def written(out):
    return {
        path.name: (path.stat().st_mtime_ns, path.read_bytes())
        for path in out.glob("*.parquet")
    }


def wait_until(condition, process):
    end = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.05)
    return found


def stop_worker(out):
    """Stop a process in the middle of a part, so that the job cannot finish.

    RETURNS its number, or None if no process is writing.
    """
    for path in out.glob("_temporary/*/*/*.part"):
        worker = int(path.name.split("-")[0])
        os.kill(worker, signal.SIGSTOP)
        if path.exists():
            return worker
        # It has just finished this part.
        os.kill(worker, signal.SIGCONT)
    return None


def assert_complete(out):
    ids = pq.read_table(out, columns=["id"]).column("id").to_pylist()
    assert sorted(ids) == list(range(ROWS))
    assert sorted(path.name for path in out.iterdir() if path.suffix != ".parquet") == [
        ".lock",
        "_manifest.json",
    ]


def test_a_killed_worker_loses_nothing(corpus, tiny, tmp_path):
    out = tmp_path / "out"
    with start(corpus, out, tiny) as driver:
        os.kill(wait_until(lambda: stop_worker(out), driver), signal.SIGKILL)
        stdout, stderr = driver.communicate(timeout=PATIENCE)
    assert (driver.returncode, stdout) == (0, "")
    # One line, without messages of Ray.
    (line,) = stderr.splitlines()
    assert line.startswith(f"✔ {out}/: {ROWS:,} rows, ")
    assert f"0 rows with errors; 1 retries; {PARTS} files written" in line
    assert_complete(out)


def test_a_killed_driver_can_be_followed_by_another(corpus, tiny, tmp_path):
    out = tmp_path / "out"
    with start(corpus, out, tiny) as driver:
        worker = wait_until(lambda: stop_worker(out), driver)
        wait_until(lambda: len(written(out)) > 1, driver)
        with start(corpus, out, tiny) as second:
            message = second.communicate(timeout=PATIENCE)[1]
        assert second.returncode == 1
        assert f"✘ {out}: another job is writing to this folder" in message
        driver.kill()
        driver.communicate(timeout=PATIENCE)
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
    before = written(out)
    assert 1 < len(before) < PARTS
    with start(corpus, out, tiny) as driver:
        stdout, stderr = driver.communicate(timeout=PATIENCE)
    assert (driver.returncode, stdout) == (0, "")
    assert stderr.endswith(" already complete\n")
    after = written(out)
    assert before.items() <= after.items() and len(after) == PARTS
    assert_complete(out)


def test_a_worker_that_dies_while_loading_ends_the_job(corpus, tmp_path):
    # A package whose pipeline kills its process.
    package, about = tmp_path / "en_killer", tmp_path / "en_killer-0.0.0.dist-info"
    for path, name, text in (
        (package, "meta.json", '{"lang": "en", "name": "killer", "version": "0.0.0"}'),
        (
            package,
            "__init__.py",
            "def load(**_):\n import os\n os.kill(os.getpid(), 9)",
        ),
        (about, "METADATA", "Metadata-Version: 2.1\nName: en_killer\nVersion: 0.0.0"),
    ):
        path.mkdir(exist_ok=True)
        (path / name).write_text(text)
    options = ["--workers", "1", "--ray-address", "local"]
    out = tmp_path / "out"
    with start(corpus, out, "en_killer", *options, path=tmp_path) as driver:
        stdout, stderr = driver.communicate(timeout=PATIENCE)
    assert (driver.returncode, stdout) == (1, "")
    (line,) = stderr.splitlines()
    assert line.startswith("✘ A worker on ")
    assert "cannot start: it died 3 times while it loaded en_killer." in line
    assert written(out) == {}


@pytest.fixture(scope="module")
def cluster():
    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    yield ray
    ray.shutdown()


def test_programs_can_use_the_batches_and_jobs(cluster, corpus, tiny, tmp_path, poison):
    rows = [{"text": "Dogs bark."}, {"text": poison}]
    parsed = cluster.data.from_items(rows).map_batches(
        ParseBatch,
        fn_constructor_kwargs={"model": tiny},
        batch_format="pyarrow",
        compute=cluster.data.ActorPoolStrategy(size=1),
    )
    found = {row["text"]: row for row in parsed.take_all()}
    assert [token["text"] for token in found["Dogs bark."]["tokens"]][:2] == [
        *("Dogs", "bark")
    ]
    assert found["Dogs bark."]["error"] is None and "E088" in found[poison]["error"]
    # A job uses the Ray that runs already, and leaves it running.
    for file in sorted(corpus.iterdir())[2:]:
        file.unlink()
    summary = apply(
        [str(corpus)], str(tmp_path / "out"), model=tiny, workers=2, id_column="id"
    )
    assert (summary.rows, summary.written) == (2 * ROWS // PARTS, 2)
    assert cluster.is_initialized()
