"""Input files in parts, and the rows of a part."""

from __future__ import annotations

import io
import json
import posixpath
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from ..formats.files import LONGEST_LINE, FormatError
from ..formats.table import DELIMITERS, INVALID, read_csv, read_paragraphs
from .storage import Location

FORMAT_OF_SUFFIX = {
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "text",
}
FORMATS = tuple(FORMAT_OF_SUFFIX.values())
COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
# Number of rows at the start of a JSONL file that determine the types of its columns.
ROWS_FOR_TYPES = 1000
ROWS_IN_TABLE = 1024
CHARS_IN_TABLE = 2**20
# Buffer size for reading Parquet files, in bytes.
BUFFER = 2**20
TEXT_SCHEMA = pa.schema(
    [("source", pa.string()), ("line", pa.int64()), ("text", pa.string())]
)


@dataclass(frozen=True)
class Part:
    """A part of an input file, with a separate output file.

    uri (str): The input file.
    name (str): The output file, in the output folder.
    format (str): One of FORMATS.
    start (int): The first row in Parquet, or the offset of the first line in bytes.
    end (Optional[int]): The end, or None for the end of the file.
    size (int): The size in bytes, for the progress.
    """

    uri: str
    name: str
    format: str
    start: int
    end: int | None
    size: int

    def to_json(self) -> str:
        """RETURNS (str): The part, for `from_json`."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Part:
        """RETURNS (Part): A part from the output of `to_json`."""
        return cls(**json.loads(text))


@dataclass(frozen=True)
class InputFile:
    """An input file.

    location (Location): The file.
    name (str): Its path below the folder that the user gave.
    format (str): One of FORMATS.
    """

    location: Location
    name: str
    format: str

    def parts(self, part_size: int) -> list[Part]:
        """Divide the file into parts.

        Reading can start at any line of JSONL and any row of Parquet. In CSV, cells may
        contain line breaks, so a file is one part.

        part_size (int): The size of a part in bytes, uncompressed in Parquet.
        RETURNS (List[Part]): The parts, of roughly the same size.
        """
        size = self.location.size
        stem, suffix = posixpath.splitext(self.name)
        if suffix in COMPRESSED:
            stem = posixpath.splitext(stem)[0]
        if self.format == "parquet":
            with _reading(self.location), _open_parquet(self.location) as file:
                groups = map(file.metadata.row_group, range(file.num_row_groups))
                size = sum(group.total_byte_size for group in groups)
                length = file.metadata.num_rows
        else:
            length = size
        divisible = self.format in ("parquet", "jsonl") and suffix not in COMPRESSED
        count = max(1, min(-(-size // part_size), length)) if divisible else 1
        bounds = [length * i // count for i in range(count + 1)]
        return [
            Part(
                self.location.uri,
                f"{stem}.parquet" if count == 1 else f"{stem}-{i:05}.parquet",
                self.format,
                bounds[i],
                bounds[i + 1] if divisible else None,
                size // count,
            )
            for i in range(count)
        ]


def find_inputs(uris: Iterable[str], format: str | None) -> list[InputFile]:
    """Find the input files.

    uris (Iterable[str]): Files and folders. In folders, other files are ignored.
    format (Optional[str]): One of FORMATS. By default, the suffixes decide.
    RETURNS (List[InputFile]): The files.
    """
    if format is not None and format not in FORMATS:
        raise ValueError(
            f"Files with the format {format!r} cannot be parsed to a folder; choose "
            f"one of {', '.join(FORMATS)} with 'format' (--from)."
        )
    found = []
    for uri in uris:
        location = Location.find(uri)
        if not location.exists():
            raise FileNotFoundError(f"{uri}: no such file or folder.")
        if location.is_folder():
            names = location.files()
            inside = [
                InputFile(location / name, name, kind)
                for name in names
                if (kind := format or _find_format(name))
                and not any(part[0] in "._" for part in name.split("/"))
            ]
            if not inside:
                raise FileNotFoundError(
                    f"{uri}: no file in this folder has one of the suffixes "
                    f"{', '.join(FORMAT_OF_SUFFIX)}."
                )
            found += inside
            continue
        name = posixpath.basename(location.path)
        kind = format or _find_format(name)
        if kind is None:
            raise FormatError(
                "unknown suffix; specify one of the formats "
                f"{', '.join(FORMATS)} with 'format' (--from)",
                uri,
            )
        found.append(InputFile(location, name, kind))
    return found


def _find_format(name: str) -> str | None:
    stem, suffix = posixpath.splitext(name.lower())
    if suffix in COMPRESSED:
        suffix = posixpath.splitext(stem)[1]
    return FORMAT_OF_SUFFIX.get(suffix)


@contextmanager
def _reading(location: Location) -> Iterator[None]:
    """Name the file in errors of pyarrow."""
    try:
        yield
    except FormatError:
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())
        raise FormatError(f"cannot be read ({reason})", location.uri) from None


def read_schema(part: Part) -> pa.Schema:
    """Get the columns of an input file, which are the same for all of its parts."""
    return _read_schema(part.uri, part.format, Location.find(part.uri).stamp)


@lru_cache(maxsize=64)
def _read_schema(uri: str, format: str, stamp: object) -> pa.Schema:
    # The size and time of the file, so that a changed file is read again.
    location = Location.find(uri)
    with _reading(location):
        if format == "parquet":
            with _open_parquet(location) as file:
                return file.schema_arrow.remove_metadata()
        if format == "jsonl":
            return _find_types(location)
        if format in DELIMITERS:
            with _open(location) as raw:
                columns, _ = read_csv(raw, location.uri, DELIMITERS[format])
                return pa.schema([(name, pa.string()) for name in columns])
        return TEXT_SCHEMA


# Rows of an input, and for each row the reason if it cannot be read.
Rows = tuple[pa.Table, list[str | None]]


def read_rows(part: Part) -> Iterator[Rows]:
    """Read the rows of a part in small tables.

    part (Part): The part.
    YIELDS (Tuple[pyarrow.Table, List[Optional[str]]]): Rows in the schema of
        `read_schema`, and for each row None, or the reason if it cannot be read.
    """
    location = Location.find(part.uri)
    with _reading(location):
        if part.format == "parquet":
            for table in _read_parquet(location, part.start, part.end or 0):
                yield table, [None] * len(table)
            return
        schema = read_schema(part)
        if part.format == "jsonl":
            rows = _read_jsonl(location, schema, part.start, part.end)
        elif part.format == "text":
            rows = _read_text(location)
        else:
            rows = _read_csv(location, DELIMITERS[part.format])
        yield from _to_tables(rows, schema)


# The values of a row by column, and None, or the reason if it cannot be read.
Row = tuple[dict[str, Any], str | None]


def _to_tables(rows: Iterable[Row], schema: pa.Schema) -> Iterator[Rows]:
    waiting: list[Row] = []
    chars = 0
    for row in rows:
        waiting.append(row)
        chars += sum(len(v) for v in row[0].values() if isinstance(v, str))
        if len(waiting) == ROWS_IN_TABLE or chars > CHARS_IN_TABLE:
            yield _to_table(waiting, schema)
            waiting, chars = [], 0
    if waiting:
        yield _to_table(waiting, schema)


def _to_table(rows: list[Row], schema: pa.Schema) -> Rows:
    table = pa.Table.from_pylist([values for values, _ in rows], schema)
    return table, [reason for _, reason in rows]


def _open_parquet(location: Location) -> pq.ParquetFile:
    return pq.ParquetFile(
        location.path,
        filesystem=location.filesystem,
        buffer_size=BUFFER,
        pre_buffer=False,
    )


def _read_parquet(location: Location, start: int, end: int) -> Iterator[pa.Table]:
    with _open_parquet(location) as file:
        first = 0
        for group in range(file.num_row_groups):
            last = first + file.metadata.row_group(group).num_rows
            if first < end and start < last:
                yield from _read_group(file, group, start - first, end - first)
            first = last


def _read_group(
    file: pq.ParquetFile, group: int, start: int, end: int
) -> Iterator[pa.Table]:
    """Yield the rows of a row group between `start` and `end`, which may exceed it."""
    first = 0
    for batch in file.iter_batches(ROWS_IN_TABLE, row_groups=[group]):
        last = first + len(batch)
        if start < last:
            piece = batch.slice(max(0, start - first), end - max(first, start))
            yield pa.Table.from_batches([piece]).replace_schema_metadata()
        first = last
        if first >= end:
            return


@contextmanager
def _open(location: Location, start: int = 0) -> Iterator[BinaryIO]:
    suffix = posixpath.splitext(location.path)[1].lower()
    if suffix in COMPRESSED:
        opened = location.filesystem.open_input_stream(
            location.path, compression=COMPRESSED[suffix]
        )
    else:
        opened = location.filesystem.open_input_file(location.path)
    with opened as file:
        if start:
            file.seek(start)
        yield io.BufferedReader(file, BUFFER)


def _read_lines(
    location: Location, start: int = 0, end: int | None = None
) -> Iterator[tuple[int, bytes]]:
    """Read the lines that start in a range of bytes, with their offsets."""
    # A line starts at `start` if the byte before it ends a line.
    offset = max(0, start - 1)
    with _open(location, offset) as file:
        if start:
            offset += len(_read_line(file, location, offset))
        while end is None or offset < end:
            line = _read_line(file, location, offset)
            if not line:
                return
            yield offset, line
            offset += len(line)


def _read_line(file: BinaryIO, location: Location, offset: int) -> bytes:
    line = file.readline(LONGEST_LINE + 1)
    if len(line) > LONGEST_LINE:
        raise FormatError(
            f"the line at byte {offset:,} has more than {LONGEST_LINE:,} bytes; is "
            "this a text file?",
            location.uri,
        )
    return line


def _find_types(location: Location) -> pa.Schema:
    """Find the columns of a JSONL file and their types, from its first rows.

    Columns with lists, objects or values of several types contain JSON as text.
    """
    kinds: dict[str, set[type]] = {}
    for _, line in islice(_read_lines(location), ROWS_FOR_TYPES):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        for key, value in row.items() if isinstance(row, dict) else ():
            kinds.setdefault(key, set()).add(type(value))
    types = {
        frozenset({bool}): pa.bool_(),
        frozenset({int}): pa.int64(),
        frozenset({float}): pa.float64(),
        frozenset({int, float}): pa.float64(),
    }
    return pa.schema(
        [
            (key, types.get(frozenset(found - {type(None)}), pa.string()))
            for key, found in kinds.items()
        ]
    )


def _read_jsonl(
    location: Location, schema: pa.Schema, start: int, end: int | None
) -> Iterator[Row]:
    for offset, line in _read_lines(location, start, end):
        if not line.strip():
            continue
        where = f"at byte {offset:,} of {location.uri}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            yield {}, f"not JSON ({error}), {where}"
            continue
        if not isinstance(row, dict):
            yield {}, f"not an object, {where}"
            continue
        values, reasons = {}, []
        for key, value in row.items():
            try:
                values[key] = _convert(value, schema, key)
            except ValueError as error:
                reasons.append(str(error))
        yield values, f"{'; '.join(reasons)}, {where}" if reasons else None


def _convert(value: Any, schema: pa.Schema, key: str) -> Any:
    """Convert a JSON value to the type of its column."""
    if key not in schema.names:
        raise ValueError(
            f"the first {ROWS_FOR_TYPES:,} rows of the file have no {key!r}"
        )
    kind = schema.field(key).type
    if value is None:
        return None
    if kind == pa.string():
        text = value if isinstance(value, str) else json.dumps(value)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{key!r} has an unpaired surrogate") from None
        return text
    expected: tuple[type, ...] = {
        pa.bool_(): (bool,),
        pa.int64(): (int,),
        pa.float64(): (int, float),
    }[kind]
    if type(value) not in expected or abs(value) >= 2**63:
        raise ValueError(f"{key!r} should be {kind}, as before, but is {value!r}")
    return value


def _read_csv(location: Location, delimiter: str) -> Iterator[Row]:
    with _open(location) as raw:
        for row in read_csv(raw, location.uri, delimiter)[1]:
            cells = row.cells if isinstance(row.cells, dict) else {}
            # Keep the id if another cell is invalid.
            values = {k: cell for k, cell in cells.items() if not INVALID.search(cell)}
            where = f", in line {row.number} of {location.uri}"
            yield values, row.reason and row.reason + where


def _read_text(location: Location) -> Iterator[Row]:
    with _open(location) as raw:
        for row in read_paragraphs(raw, location.uri):
            values = {"source": location.uri, "line": row.number, "text": row.cells}
            yield values, None
