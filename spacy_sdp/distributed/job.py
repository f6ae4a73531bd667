"""Parsing of a corpus: from input files to a folder of Parquet."""

from __future__ import annotations

import math
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
from spacy.util import get_package_path, is_package, load_meta

from ..about import __version__
from ..formats.files import FormatError
from ..graph.extensions import DEFAULT_ATTR
from ..pipeline.loading import unpacked
from .columns import read_schema
from .engine import Engine
from .ids import check_ids
from .inputs import InputFile, Part, find_inputs
from .manifest import SCRATCH, check_manifest, locked
from .schema import parse_schema
from .storage import Location
from .worker import ParsePart, Plan, Report

# Bytes of a part: the maximum to parse again if a worker dies.
PART_SIZE = 4 * 2**20
# Number of threads that read the starts of files.
THREADS = 16


@dataclass
class Summary:
    """The outcome of a job.

    rows (int): The number of parsed rows, including rows with errors.
    words (int): The number of tokens in these rows.
    errors (int): The number of rows with an error.
    retries (int): How often a part was restarted because its worker died.
    written (int): The number of files that were written.
    skipped (int): The number of files that were already complete.
    seconds (float): The duration in seconds.
    cpu (float): The CPU time of the workers in seconds, without loading.
    memory (int): The peak memory of a worker, in bytes.
    failures (Dict[str, str]): Files that were not written, with the reasons.
    """

    rows: int = 0
    words: int = 0
    errors: int = 0
    retries: int = 0
    written: int = 0
    skipped: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    memory: int = 0
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, report: Report) -> None:
        """Add the report of a part."""
        self.cpu += report.cpu
        self.retries += report.attempts - 1
        self.memory = max(self.memory, report.memory)
        if report.failure is not None:
            self.failures[report.name] = report.failure
            return
        self.rows += report.rows
        self.words += report.words
        self.errors += report.errors
        self.written += 1


# A callback that gets the size of the input in bytes first, and then each report.
Watch = Callable[[int, Report | None], None]


def apply(
    inputs: Sequence[str],
    output: str,
    *,
    model: str,
    format: str | None = None,
    text_column: str = "text",
    id_column: str | None = None,
    workers: int = 1,
    ray_address: str | None = None,
    gpus: float = 0,
    attr: str = DEFAULT_ATTR,
    threshold: float | None = None,
    batch_size: int | None = None,
    clauses: bool = True,
    docs: bool = False,
    part_size: int = PART_SIZE,
    watch: Watch | None = None,
) -> Summary:
    """Parse files, and write a folder of Parquet.

    Complete files in the folder are kept, so calling it again after an interruption
    parses the rest.

    inputs (Sequence[str]): Parquet, JSONL, CSV, TSV and text files, or folders of them,
        by path or URI.
    output (str): The folder, by path or URI.
    model (str): The pipeline: a package, or a folder or wheel that all machines have.
    format (Optional[str]): The format of the input. By default, the suffixes decide.
    text_column (str): The column with the texts.
    id_column (Optional[str]): A column whose values must be unique.
    workers (int): The number of workers, each with a pipeline and one thread.
    ray_address (Optional[str]): The address of a Ray cluster, or "local" to start Ray
        on this machine. By default, several workers start Ray, and one runs without.
    gpus (float): The GPUs per worker, can be a fraction.
    attr (str): The attribute in which the parser stores its graphs.
    threshold (Optional[float]): The minimum probability of an arc.
    batch_size (Optional[int]): The number of texts in a batch. Defaults to the
        pipeline's.
    clauses (bool): Whether to extract clauses, if the pipeline has a tagger.
    docs (bool): Whether to add the column `docbin` with each Doc as a DocBin.
    part_size (int): The size in bytes of the parts that Parquet and JSONL files are
        divided into.
    watch (Optional[Callable[[int, Optional[Report]], None]]): Called with the size of
        the input in bytes and None, and then with the report of each part.
    RETURNS (Summary): The outcome.
    """
    start = time.monotonic()
    _check_settings(
        workers=workers,
        gpus=gpus,
        threshold=threshold,
        batch_size=batch_size,
        part_size=part_size,
    )
    files = find_inputs(inputs, format)
    settings = {
        "text_column": text_column,
        "attr": attr,
        "threshold": threshold,
        "batch_size": batch_size,
        "clauses": clauses,
        "docs": docs,
    }
    model, version = find_pipeline(model)
    folder = Location.find(output)
    for each in map(Location.find, inputs):
        if folder.is_inside(each):
            raise ValueError(
                f"The output folder {output} is inside the input {each.uri}, so that "
                "the next run would parse its own output. Use a folder outside of it, "
                "or specify the files."
            )
    folder.make_folder()
    engine = Engine(workers, ray_address, gpus)
    summary = Summary()
    scratch = f"{SCRATCH}/{uuid.uuid4().hex}"
    with locked(folder):
        if folder.is_local:
            # Left by jobs that were killed.
            (folder / SCRATCH).delete()
        try:
            added = parse_schema(docs=docs)
            found = _examine(files, text_column, added, part_size, summary)
            parts = [part for each in found for part in each.parts]
            _check_names(parts)
            there = set(folder.files())
            schema = check_manifest(
                folder,
                {
                    "spacy_sdp": __version__,
                    "model": model,
                    "version": version,
                    "format": format,
                    **{k: v for k, v in settings.items() if k != "batch_size"},
                    "part_size": part_size,
                },
                [(each.file, each.schema) for each in found],
                there,
                folder / scratch / "manifest",
            )
            plan = Plan(
                folder.uri,
                scratch,
                schema,
                version,
                {"model": model, "gpu": gpus > 0, **settings},
            )
            todo = [part for part in parts if part.name not in there]
            if watch is not None:
                watch(sum(part.size for part in todo), None)
            needed = todo or id_column is not None
            with engine.connected() if needed else nullcontext():
                if id_column is not None:
                    _check_id_columns(found, id_column)
                    failures = check_ids(engine, parts, plan, id_column)
                    summary.failures.update(failures)
                parts = [part for part in parts if part.name not in summary.failures]
                todo = [part for part in parts if part.name not in there]
                summary.skipped = len(parts) - len(todo)
                for report in engine.run(todo, ParsePart, plan):
                    if report.stop:
                        raise OSError(report.failure)
                    summary.add(report)
                    if watch is not None:
                        watch(0, report)
        finally:
            (folder / SCRATCH if folder.is_local else folder / scratch).delete()
    summary.seconds = time.monotonic() - start
    return summary


def _check_settings(**settings: float | None) -> None:
    for name, value in settings.items():
        least = 0 if name in ("gpus", "threshold") else 1
        most = 1 if name == "threshold" else math.inf
        if value is not None and not least <= value <= most:
            limits = f"at least {least}" if most > 1 else "between 0 and 1"
            raise ValueError(f"{name!r} must be {limits}, but is {value}.")


def find_pipeline(model: str) -> tuple[str, str]:
    """Find a pipeline without loading it.

    model (str): A package, a folder or a wheel.
    RETURNS (Tuple[str, str]): The package or the absolute path, and the version.
    """
    if is_package(model):
        path = get_package_path(model)
    else:
        path = Path(model).absolute()
        model = str(path)
    if path.suffix == ".whl" and path.is_file():
        with unpacked(model) as folder:
            return model, load_meta(folder / "meta.json")["version"]
    if not (path / "meta.json").is_file():
        raise ValueError(
            f"There is no pipeline {model}: it is neither an installed package nor the "
            "folder or the wheel of a pipeline."
        )
    return model, load_meta(path / "meta.json")["version"]


@dataclass(frozen=True)
class Examined:
    """An input file that can be parsed.

    file (InputFile): The file.
    schema (pyarrow.Schema): Its columns.
    parts (List[Part]): Its parts.
    """

    file: InputFile
    schema: pa.Schema
    parts: list[Part]


def _examine(
    files: Iterable[InputFile],
    text_column: str,
    added: pa.Schema,
    part_size: int,
    summary: Summary,
) -> list[Examined]:
    """Read the start of each file. If it cannot be parsed, this is a failure."""

    def examine(file: InputFile) -> Examined | FormatError:
        try:
            schema = read_schema(file, text_column, added)
            return Examined(file, schema, file.parts(part_size))
        except FormatError as error:
            return error

    good = []
    # Threads, because most of the time is spent on waiting for object stores.
    with ThreadPoolExecutor(THREADS) as pool:
        for file, found in zip(files, pool.map(examine, files), strict=True):
            if isinstance(found, FormatError):
                summary.failures[file.name] = str(found)
            else:
                good.append(found)
    return good


def _check_names(parts: Iterable[Part]) -> None:
    """Raise an error if two parts would be written to the same file."""
    first: dict[str, str] = {}
    for part in parts:
        other = first.setdefault(part.name, part.uri)
        if other != part.uri:
            raise ValueError(
                f"{other} and {part.uri} would both be written to {part.name}. Parse "
                "them to different folders."
            )


def _check_id_columns(found: Iterable[Examined], id_column: str) -> None:
    for each in found:
        names = each.schema.names
        if names and id_column not in names:
            raise ValueError(
                f"{each.file.location.uri}: there is no column {id_column!r} with ids, "
                f"only {', '.join(names)}."
            )
