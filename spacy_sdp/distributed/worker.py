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
from .inputs import Part, read_rows, read_schema
from .parse_batch import ParseBatch, check_columns
from .schema import ERROR, parse_schema
from .storage import Location

# Maximum number of attempts at a part if the worker dies each time.
MAX_ATTEMPTS = 3
# Bytes of parsed rows in Arrow that are written together, as a row group.
ROW_GROUP = 2**24
# The columns in the datasets of Ray.
PART, REPORT = "part", "report"


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
    ids (bytes): The hashes of the ids, eight bytes each, when checking ids.
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
    ids: bytes = field(default=b"", repr=False)


@dataclass(frozen=True)
class Plan:
    """The configuration of all workers.

    output (str): The output folder.
    scratch (str): Its subfolder for incomplete files.
    version (str): The version that the pipeline must have.
    settings (Dict[str, Any]): The arguments of ParseBatch.
    """

    output: str
    scratch: str
    version: str
    settings: dict[str, Any]


class Worker:
    """Processes parts and returns a report for each: a callable for `map_batches`.

    It never raises an error. If a function raises an error, Ray ends the job instead of
    retrying, and if creating the callable fails, the job never ends.
    """

    def __call__(self, table: pa.Table) -> pa.Table:
        """Process the parts in the column `part`.

        table (pyarrow.Table): The parts, as JSON.
        RETURNS (pyarrow.Table): The reports, pickled.
        """
        parts = map(Part.from_json, table.column(PART).to_pylist())
        reports = [pickle.dumps(self.work(part)) for part in parts]
        return pa.table({REPORT: pa.array(reports, pa.binary())})

    def work(self, part: Part) -> Report:
        """Process a part.

        part (Part): The part.
        RETURNS (Report): The outcome.
        """
        raise NotImplementedError


class ParsePart(Worker):
    """Parses parts and writes each to a file, which appears when it is complete."""

    def __init__(self, plan: Plan) -> None:
        """Load the pipeline.

        plan (Plan): The configuration.
        """
        self.plan = plan
        self.output = Location.find(plan.output)
        self.broken: str | None = None
        where = f"on {socket.gethostname()}"
        try:
            self.parse = ParseBatch(**plan.settings)
            found = self.parse.version
            if found != plan.version:
                self.broken = (
                    f"The pipeline {plan.settings['model']} has version {found} "
                    f"{where}, and {plan.version} where the job was started. Install "
                    "the same version everywhere."
                )
        except Exception as error:
            reason = " ".join(str(error).split())
            self.broken = (
                f"The pipeline {plan.settings['model']} cannot be loaded {where}: "
                f"{reason} Install it on all machines."
            )

    def work(self, part: Part) -> Report:
        """Parse a part and write it.

        part (Part): The part.
        RETURNS (Report): The outcome.
        """
        report, cpu = Report(part.name, part.size), time.process_time()
        if self.broken is not None:
            report.failure, report.stop = self.broken, True
            return report
        scratch = self.output / self.plan.scratch / part.name
        try:
            # A worker that dies leaves a mark of its attempt.
            while (mark := scratch / f"begun-{report.attempts}").exists():
                report.attempts += 1
            if report.attempts > MAX_ATTEMPTS:
                report.attempts = MAX_ATTEMPTS
                report.failure = (
                    f"its worker died {MAX_ATTEMPTS} times; does it run out of memory? "
                    "Try a smaller batch size"
                )
                return report
            mark.write(b"", scratch / "mark")
            # Use a new name, because a worker that Ray gave up may still be writing.
            temporary = scratch / f"{os.getpid()}-{time.time_ns()}.part"
            self._write(part, temporary, report)
            scratch.delete()
        except FormatError as error:
            report.failure = str(error)
        except (OSError, pa.ArrowException) as error:
            report.failure = f"{self.plan.output} cannot be written ({error})"
            report.stop = True
        except Exception as error:
            report.failure = f"{type(error).__name__}: {error}"
        report.memory = peak_memory()
        report.ended, report.cpu = time.time(), time.process_time() - cpu
        return report

    def _write(self, part: Part, temporary: Location, report: Report) -> None:
        try:
            given = read_schema(part)
            added = parse_schema(docs=self.parse.docs)
            check_columns(given, self.parse.text_column, added)
        except (ValueError, TypeError) as error:
            raise FormatError(str(error), part.uri) from None
        schema = pa.schema([*given, *added])
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
        for rows, reasons in read_rows(part):
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
                if sum(each.nbytes for each in waiting) > ROW_GROUP:
                    yield pa.concat_tables(waiting)
                    waiting.clear()
        if waiting:
            yield pa.concat_tables(waiting)


class HashIds(Worker):
    """Reads the ids of parts, to find duplicates."""

    def __init__(self, id_column: str) -> None:
        """Create the worker.

        id_column (str): The column with the ids.
        """
        self.id_column = id_column

    def work(self, part: Part) -> Report:
        """Read the ids of a part.

        part (Part): The part.
        RETURNS (Report): The hashes of the ids.
        """
        report = Report(part.name, part.size)
        try:
            report.ids = b"".join(
                hash_id(value) for value in read_ids(part, self.id_column)
            )
        except Exception as error:
            report.failure = str(error)
        return report


def read_ids(part: Part, id_column: str) -> Iterator[str]:
    """Yield the ids of a part, except for rows that cannot be read.

    part (Part): The part.
    id_column (str): The column with the ids.
    YIELDS (str): The ids as text.
    """
    for table, reasons in read_rows(part):
        if id_column not in table.schema.names:
            raise FormatError(
                f"there is no column {id_column!r} with ids, only "
                f"{', '.join(table.schema.names)}",
                part.uri,
            )
        values = table.column(id_column).to_pylist()
        for value, reason in zip(values, reasons, strict=True):
            if value is None and reason is None:
                raise FormatError(f"a row has no {id_column!r}", part.uri)
            if value is not None:
                yield str(value)


def hash_id(value: str) -> bytes:
    """RETURNS (bytes): A hash of eight bytes, the same on all machines."""
    return hashlib.blake2b(value.encode(), digest_size=8).digest()


def peak_memory() -> int:
    """RETURNS (int): The peak memory of this process in bytes, 0 on Windows."""
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # macOS reports bytes, other systems KiB.
    return peak if sys.platform == "darwin" else peak * 1024
