"""Workers, which parse parts of the input and write the results."""

from __future__ import annotations

import hashlib
import os
import pickle
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..formats.files import FormatError
from .inputs import Part, read_rows
from .parse_batch import ParseBatch
from .schema import ERROR
from .storage import Location

# Maximum number of attempts to start a worker, or at a part, if it dies each time.
MAX_ATTEMPTS = 3
# Bytes of parsed rows in Arrow that are written together, as a row group.
ROW_GROUP = 2**24
# The start of the names of the marks that attempts leave.
MARK = "begun-"
# The columns in the datasets of Ray.
PARTS, REPORT = "parts", "report"


@dataclass
class Report:
    """The outcome of a part.

    name (str): The output file of the part.
    size (int): The size of the input in bytes.
    rows (int): The number of rows.
    words (int): The number of tokens.
    errors (int): The number of rows with an error.
    attempts (int): The number of attempts.
    memory (int): The peak memory of the worker so far, in bytes.
    began (float): The start of the last attempt, in seconds since the epoch.
    ended (float): The end of this attempt.
    cpu (float): The CPU time of this attempt, in seconds.
    failure (Optional[str]): Why the part was not written, or None if it was.
    stop (bool): Whether other parts will fail for the same reason.
    hashes (bytes): The hashes of the ids, eight bytes each.
    found (List[str]): The ids with wanted hashes.
    """

    name: str
    size: int
    rows: int = 0
    words: int = 0
    errors: int = 0
    attempts: int = 1
    memory: int = 0
    began: float = field(default_factory=time.time)
    ended: float = 0.0
    cpu: float = 0.0
    failure: str | None = None
    stop: bool = False
    hashes: bytes = field(default=b"", repr=False)
    found: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """The configuration of all workers.

    output (str): The output folder.
    scratch (str): Its subfolder for incomplete files.
    schema (pyarrow.Schema): The columns of the input.
    version (str): The version that the pipeline must have.
    settings (Dict[str, Any]): The arguments of ParseBatch.
    """

    output: str
    scratch: str
    schema: pa.Schema
    version: str
    settings: dict[str, Any]


class Worker:
    """Processes parts and returns a report for each: a callable for `map_batches`.

    It never raises an error. If a function raises an error, Ray ends the job instead of
    retrying, and if creating the callable fails, the job never ends. If the process
    dies, Ray starts it again without limit, so attempts leave marks in a folder.
    """

    def __init__(self, plan: Plan) -> None:
        """Prepare the worker.

        plan (Plan): The configuration.
        """
        self.plan = plan
        self.broken: str | None = None
        try:
            self.output = Location.find(plan.output)
            self.scratch = self.output / plan.scratch
            self._start()
        except Exception as error:
            reason = " ".join(str(error).split())
            self.broken = f"A worker on {socket.gethostname()} cannot start: {reason}"

    def _start(self) -> None:
        actor = actor_id()
        if actor is None:
            self.load()
            return
        marks = self.scratch / actor
        if count_marks(marks) >= MAX_ATTEMPTS:
            raise RuntimeError(
                f"it died {MAX_ATTEMPTS} times while it loaded "
                f"{self.plan.settings['model']}. Does it run out of memory? Use fewer "
                "workers per machine."
            )
        add_mark(marks)
        self.load()
        marks.delete()

    def __call__(self, table: pa.Table) -> pa.Table:
        """Process the parts in the column `parts`.

        table (pyarrow.Table): Lists of parts, as JSON.
        RETURNS (pyarrow.Table): The reports, pickled.
        """
        parts = [part for row in table.column(PARTS).to_pylist() for part in row]
        reports = [pickle.dumps(self.work(Part.from_json(part))) for part in parts]
        return pa.table({REPORT: pa.array(reports, pa.binary())})

    def work(self, part: Part) -> Report:
        """Process a part.

        part (Part): The part.
        RETURNS (Report): The outcome.
        """
        report, cpu = Report(part.name, part.size), time.process_time()
        if self.broken is not None:
            report.failure, report.stop = self.broken, True
            return report
        scratch = self.scratch / part.name
        try:
            report.attempts += count_marks(scratch)
            if report.attempts > MAX_ATTEMPTS:
                report.attempts = MAX_ATTEMPTS
                report.failure = (
                    f"{part.uri}: its worker died {MAX_ATTEMPTS} times; does it run "
                    "out of memory? Try a smaller batch size"
                )
                return report
            add_mark(scratch)
            self.process(part, scratch, report)
            scratch.delete()
        except FormatError as error:
            report.failure = str(error)
        except (OSError, pa.ArrowException) as error:
            report.failure = f"{self.plan.output} cannot be written ({error})"
            report.stop = True
        except Exception as error:
            report.failure = f"{part.uri}: {type(error).__name__}: {error}"
        report.memory = peak_memory()
        report.ended, report.cpu = time.time(), time.process_time() - cpu
        return report

    def load(self) -> None:
        """Load what the worker needs for all parts."""

    def process(self, part: Part, scratch: Location, report: Report) -> None:
        """Process a part.

        part (Part): The part.
        scratch (Location): A folder for incomplete files.
        report (Report): The report, to complete.
        """
        raise NotImplementedError


class ParsePart(Worker):
    """Parses parts and writes each to a file, which appears when it is complete."""

    def load(self) -> None:
        """Load the pipeline."""
        model = self.plan.settings["model"]
        try:
            self.parse = ParseBatch(**self.plan.settings)
        except Exception as error:
            raise RuntimeError(
                f"the pipeline {model} cannot be loaded ({str(error).rstrip('.')}). "
                "Install it on all machines."
            ) from None
        found = self.parse.version
        if found != self.plan.version:
            raise RuntimeError(
                f"the pipeline {model} has version {found}, but {self.plan.version} "
                "where the job was started. Install the same version everywhere."
            )

    def process(self, part: Part, scratch: Location, report: Report) -> None:
        """Parse a part and write it."""
        # Use a new name, because a worker that Ray gave up may still be writing.
        temporary = scratch / f"{os.getpid()}-{time.time_ns()}.part"
        schema = pa.schema([*self.plan.schema, *self.parse.schema])
        with (self.output / part.name).new_file(temporary) as file:
            writer = pq.ParquetWriter(file, schema, compression="zstd")
            try:
                for table in self._groups(part, report):
                    writer.write_table(table, row_group_size=max(1, len(table)))
            finally:
                writer.close()

    def _groups(self, part: Part, report: Report) -> Iterator[pa.Table]:
        """Parse a part, and yield its row groups."""
        waiting: list[pa.Table] = []
        size = 0
        for rows, reasons in read_rows(part, self.plan.schema):
            # Parsed rows take many times more memory than texts.
            step = self.parse.batch_size
            for start in range(0, len(rows), step):
                end = start + step
                table = self.parse.parse(rows.slice(start, step), reasons[start:end])
                report.rows += len(table)
                words = pc.sum(pc.list_value_length(table.column("tokens"))).as_py()
                report.words += words or 0
                report.errors += len(table) - table.column(ERROR).null_count
                waiting.append(table)
                size += table.nbytes
                if size > ROW_GROUP:
                    yield pa.concat_tables(waiting)
                    waiting.clear()
                    size = 0
        if waiting:
            yield pa.concat_tables(waiting)


class FindIds(Worker):
    """Reads the ids of parts, to find duplicates."""

    def __init__(
        self, plan: Plan, id_column: str, wanted: frozenset[bytes] | None = None
    ) -> None:
        """Prepare the worker.

        plan (Plan): The configuration.
        id_column (str): The column with the ids.
        wanted (Optional[FrozenSet[bytes]]): Report the ids with these hashes. By
            default, report the hashes of all ids.
        """
        self.id_column = id_column
        self.wanted = wanted
        super().__init__(plan)

    def process(self, part: Part, scratch: Location, report: Report) -> None:
        """Read the ids of a part."""
        hashes = bytearray()
        missing = 0
        for table, reasons in read_rows(part, self.plan.schema, self.id_column):
            values = table.column(self.id_column).to_pylist()
            for value, reason in zip(values, reasons, strict=True):
                if value is None:
                    missing += reason is None
                elif self.wanted is None:
                    hashes += hash_id(str(value))
                elif hash_id(str(value)) in self.wanted:
                    report.found.append(str(value))
        report.hashes = bytes(hashes)
        if missing:
            noun = "row has" if missing == 1 else "rows have"
            report.failure = f"{part.uri}: {missing:,} {noun} no {self.id_column!r}"
            report.stop = True


def hash_id(value: str) -> bytes:
    """RETURNS (bytes): A hash of eight bytes, the same on all machines."""
    return hashlib.blake2b(value.encode(), digest_size=8).digest()


def actor_id() -> str | None:
    """RETURNS (Optional[str]): The actor, the same when it is restarted, if any."""
    ray = sys.modules.get("ray")
    if ray is None or not ray.is_initialized():
        return None
    return ray.get_runtime_context().get_actor_id()


def count_marks(folder: Location) -> int:
    """RETURNS (int): The number of attempts that have begun."""
    return sum(name.startswith(MARK) for name in folder.files())


def add_mark(folder: Location) -> None:
    """Leave a mark of an attempt, to be deleted at its end."""
    name = f"{MARK}{time.time_ns()}"
    (folder / name).write(b"", folder / "mark")


def peak_memory() -> int:
    """RETURNS (int): The peak memory of this process in bytes, 0 on Windows."""
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # macOS reports bytes, other systems KiB.
    return peak if sys.platform == "darwin" else peak * 1024
