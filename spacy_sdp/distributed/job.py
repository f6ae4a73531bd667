"""Parsing of a corpus: from input files to a folder of Parquet."""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy
from spacy.util import get_package_path, is_package, load_meta

from ..about import __version__
from ..formats.files import FormatError
from ..graph.extensions import DEFAULT_ATTR
from .engine import Engine
from .inputs import InputFile, Part, find_inputs
from .manifest import SCRATCH, check_manifest, locked
from .storage import Location
from .worker import HashIds, ParsePart, Plan, Report, hash_id, read_ids

# Bytes of a part: the maximum to parse again if a worker dies.
PART_SIZE = 4 * 2**20
# Maximum number of duplicate ids in a message.
MAX_NAMED = 3


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
    model (str): The pipeline: a package, or a folder that all machines have.
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
    folder.make_folder()
    engine = Engine(workers, ray_address, gpus)
    summary = Summary()
    scratch = f"{SCRATCH}/{uuid.uuid4().hex}"
    with locked(folder):
        if folder.is_local:
            # Left by jobs that were killed.
            (folder / SCRATCH).delete()
        try:
            check_manifest(
                folder,
                {
                    "spacy_sdp": __version__,
                    "model": model,
                    "version": version,
                    "format": format,
                    **{k: v for k, v in settings.items() if k != "batch_size"},
                    "part_size": part_size,
                },
                files,
                folder / scratch / "manifest",
            )
            parts = _divide(files, part_size, summary)
            there = set(folder.files())
            todo = [part for part in parts if part.name not in there]
            summary.skipped = len(parts) - len(todo)
            if watch is not None:
                watch(sum(part.size for part in todo), None)
            with engine.connected():
                if id_column is not None:
                    _check_ids(engine, parts, id_column)
                plan = Plan(
                    folder.uri,
                    scratch,
                    version,
                    {"model": model, "gpu": gpus > 0, **settings},
                )
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


def find_pipeline(model: str) -> tuple[str, str]:
    """Find a pipeline without loading it.

    model (str): A package or a folder.
    RETURNS (Tuple[str, str]): The package or the absolute path, and the version.
    """
    if is_package(model):
        path = get_package_path(model)
    else:
        path = Path(model).absolute()
        model = str(path)
    if not (path / "meta.json").is_file():
        raise ValueError(
            f"There is no pipeline {model}: it is neither an installed package nor the "
            "folder of a pipeline."
        )
    return model, load_meta(path / "meta.json")["version"]


def _divide(files: Iterable[InputFile], size: int, summary: Summary) -> list[Part]:
    """Divide files into parts. Files that cannot be read are added to the failures."""
    parts = []
    for file in files:
        try:
            parts += file.parts(size)
        except FormatError as error:
            summary.failures[file.name] = str(error)
    counts = Counter(part.name for part in parts)
    for part in parts:
        if counts[part.name] > 1:
            same = [each.uri for each in parts if each.name == part.name]
            raise ValueError(
                f"{' and '.join(same)} would both be written to {part.name}. Parse "
                "them to different folders."
            )
    return parts


def _check_ids(engine: Engine, parts: Sequence[Part], id_column: str) -> None:
    """Raise an error if ids are not unique. This takes eight bytes per row."""
    reports = list(engine.run(parts, HashIds, id_column))
    for report in reports:
        if report.failure is not None:
            raise ValueError(report.failure)
    hashes = numpy.frombuffer(b"".join(report.ids for report in reports), "u8")
    values, counts = numpy.unique(hashes, return_counts=True)
    twice = set(values[counts > 1].tolist())
    if not twice:
        return
    where = {
        report.name
        for report in reports
        if not twice.isdisjoint(numpy.frombuffer(report.ids, "u8").tolist())
    }
    found: Counter[str] = Counter()
    for part in parts:
        if part.name in where:
            found.update(
                value
                for value in read_ids(part, id_column)
                if int.from_bytes(hash_id(value), "little") in twice
            )
    named = [json.dumps(value) for value, count in found.items() if count > 1]
    if named:
        more = f" and {len(named) - MAX_NAMED:,} more" if len(named) > MAX_NAMED else ""
        raise ValueError(
            f"The ids in {id_column!r} must be unique, but some occur several times: "
            f"{', '.join(named[:MAX_NAMED])}{more}."
        )
