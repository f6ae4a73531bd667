"""Input files in parts, and the rows of a part."""

from __future__ import annotations

import io
import json
import posixpath
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import pairwise
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
# Number of rows at the start of a JSONL file that determine its columns.
ROWS_FOR_TYPES = 1000
# Maximum sizes of a table of rows that are read together. A row of Parquet has the
# average size of its row group.
ROWS_IN_TABLE = 1024
CHARS_IN_TABLE = 2**20
# Maximum number of parts of a row group. A row group can only be read from its start,
# so more parts would take quadratic time.
PARTS_OF_GROUP = 32
# Maximum number of characters of a value in a message.
MAX_SHOWN = 100
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

        JSONL files are divided at any line. Parquet files are divided at row groups,
        and large row groups at rows. In CSV, cells may contain line breaks, so a file
        is one part.

        part_size (int): The size of a part in bytes, uncompressed in Parquet.
        RETURNS (List[Part]): The parts, of roughly the same size.
        """
        with naming(self.location):
            slices = self._slices(part_size)
        return [
            Part(
                self.location.uri,
                f"{self.stem}.parquet"
                if len(slices) == 1
                else f"{self.stem}-{i:05}.parquet",
                self.format,
                *each,
            )
            for i, each in enumerate(slices)
        ]

    @property
    def stem(self) -> str:
        """RETURNS (str): The start of the names of its output files."""
        stem, suffix = posixpath.splitext(self.name)
        return posixpath.splitext(stem)[0] if suffix in COMPRESSED else stem

    def _slices(self, part_size: int) -> list[tuple[int, int | None, int]]:
        """RETURNS: The start, the end and the size of each part."""
        if self.format == "parquet":
            with open_parquet(self.location) as file:
                groups = map(file.metadata.row_group, range(file.num_row_groups))
                sizes = [(each.num_rows, each.total_byte_size) for each in groups]
            return list(_cut_groups(sizes, part_size))
        size = self.location.size
        if self.format != "jsonl" or posixpath.splitext(self.name)[1] in COMPRESSED:
            return [(0, None, size)]
        return [(start, end, end - start) for start, end in _cut(size, part_size, size)]


def _cut(length: int, part_size: int, size: int) -> list[tuple[int, int]]:
    """Cut a range into equal parts.

    length (int): The length of the range.
    part_size (int): The size of a part in bytes.
    size (int): The size of the range in bytes.
    RETURNS (List[Tuple[int, int]]): The start and the end of each part.
    """
    count = max(1, min(-(-size // part_size), length))
    bounds = [length * i // count for i in range(count + 1)]
    return list(pairwise(bounds))


def _cut_groups(
    groups: Iterable[tuple[int, int]], part_size: int
) -> Iterator[tuple[int, int, int]]:
    """Join small row groups, and cut large ones.

    groups (Iterable[Tuple[int, int]]): The number of rows of each, and its bytes.
    part_size (int): The size of a part in bytes.
    YIELDS (Tuple[int, int, int]): The start, the end and the size of each part.
    """
    start = end = waiting = 0
    for rows, size in groups:
        if end > start and waiting + size > part_size:
            yield start, end, waiting
            start, waiting = end, 0
        waiting += size
        if waiting > part_size:
            # At least the size that results in the maximum number of parts.
            smallest = max(part_size, -(-size // PARTS_OF_GROUP))
            pieces = _cut(rows, smallest, size)
            for first, last in pieces:
                yield end + first, end + last, size // len(pieces)
            start, waiting = end + rows, 0
        end += rows
    if end > start or end == 0:
        yield start, end, waiting


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
def naming(location: Location) -> Iterator[None]:
    """Name the file in errors of pyarrow."""
    try:
        yield
    except FormatError:
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())
        raise FormatError(f"cannot be read ({reason})", location.uri) from None


# Rows of an input, and for each row the reason if it cannot be read.
Rows = tuple[pa.Table, list[str | None]]


def read_rows(
    part: Part, schema: pa.Schema, column: str | None = None
) -> Iterator[Rows]:
    """Read the rows of a part in small tables.

    part (Part): The part.
    schema (pyarrow.Schema): The columns of all inputs. Those that the file does not
        have are null.
    column (Optional[str]): A column, if others can be left out.
    YIELDS (Tuple[pyarrow.Table, List[Optional[str]]]): Rows in this schema, and for
        each row None, or the reason if it cannot be read.
    """
    location = Location.find(part.uri)
    with naming(location):
        if part.format == "parquet":
            if column is not None:
                schema = pa.schema([schema.field(column)])
            for table in _read_parquet(location, schema, part.start, part.end or 0):
                yield table, [None] * len(table)
            return
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


def open_parquet(location: Location) -> pq.ParquetFile:
    """Open a Parquet file, to read it in small pieces."""
    return pq.ParquetFile(
        location.path,
        filesystem=location.filesystem,
        buffer_size=BUFFER,
        pre_buffer=False,
    )


def _read_parquet(
    location: Location, schema: pa.Schema, start: int, end: int
) -> Iterator[pa.Table]:
    with open_parquet(location) as file:
        first = 0
        for group in range(file.num_row_groups):
            last = first + file.metadata.row_group(group).num_rows
            if first < end and start < last:
                for batch in _read_group(
                    file, group, schema.names, start - first, end - first
                ):
                    yield _cast(batch, schema)
            first = last


def _read_group(
    file: pq.ParquetFile, group: int, columns: list[str], start: int, end: int
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a row group between `start` and `end`, which may exceed it."""
    found = file.metadata.row_group(group)
    row_size = max(1, found.total_byte_size // found.num_rows)
    size = min(max(1, CHARS_IN_TABLE // row_size), ROWS_IN_TABLE)
    first = 0
    for batch in file.iter_batches(size, row_groups=[group], columns=columns):
        last = first + len(batch)
        if start < last:
            yield batch.slice(max(0, start - first), end - max(first, start))
        first = last
        if first >= end:
            return


def _cast(batch: pa.RecordBatch, schema: pa.Schema) -> pa.Table:
    columns = [
        batch.column(field.name).cast(field.type)
        if field.name in batch.schema.names
        else pa.nulls(len(batch), field.type)
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


@contextmanager
def open_file(location: Location, start: int = 0) -> Iterator[BinaryIO]:
    """Open a text file, and decompress it."""
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


def read_lines(
    location: Location, start: int = 0, end: int | None = None
) -> Iterator[tuple[int, bytes | None]]:
    """Read the lines that start in a range of bytes.

    location (Location): The file.
    start (int): The start of the range.
    end (Optional[int]): The end of the range, or None for the end of the file.
    YIELDS (Tuple[int, Optional[bytes]]): The offset of each line and the line, or None
        if it is too long.
    """
    # A line starts at `start` if the byte before it ends a line.
    offset = max(0, start - 1)
    with open_file(location, offset) as file:
        if start:
            offset += _read_line(file)[1]
        while end is None or offset < end:
            line, size = _read_line(file)
            if not size:
                return
            yield offset, line
            offset += size


def _read_line(file: BinaryIO) -> tuple[bytes | None, int]:
    """RETURNS: A line, or None if it is too long, and its size."""
    line = file.readline(LONGEST_LINE + 1)
    size = len(line)
    if size <= LONGEST_LINE:
        return line, size
    while line and not line.endswith(b"\n"):
        line = file.readline(LONGEST_LINE)
        size += len(line)
    return None, size


def read_object(line: bytes | None) -> dict[str, Any]:
    """Read a line of JSONL.

    line (Optional[bytes]): The line, or None if it is too long.
    RETURNS (Dict[str, Any]): The object. Raises a ValueError if there is none.
    """
    if line is None:
        raise ValueError(f"the line has more than {LONGEST_LINE:,} bytes")
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from None
    if not isinstance(row, dict):
        raise ValueError("not an object")
    return row


def _read_jsonl(
    location: Location, schema: pa.Schema, start: int, end: int | None
) -> Iterator[Row]:
    types = {field.name: field.type for field in schema}
    for offset, line in read_lines(location, start, end):
        if line is not None and not line.strip():
            continue
        where = f"at byte {offset:,} of {location.uri}"
        try:
            row = read_object(line)
        except ValueError as error:
            yield {}, f"{error}, {where}"
            continue
        values, reasons = {}, []
        for key, value in row.items():
            try:
                values[key] = _convert(value, types.get(key), key)
            except ValueError as error:
                reasons.append(str(error))
        yield values, f"{'; '.join(reasons)}, {where}" if reasons else None


def _convert(value: Any, kind: pa.DataType | None, key: str) -> Any:
    """Convert a JSON value to the type of its column."""
    if kind is None:
        raise ValueError(
            f"the first {ROWS_FOR_TYPES:,} rows of the file have no {key!r}"
        )
    if value is None:
        return None
    if pa.types.is_string(kind):
        text = value if isinstance(value, str) else json.dumps(value)
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueError(f"{key!r} has an unpaired surrogate") from None
        return text
    try:
        if pa.types.is_floating(kind) and type(value) in (int, float):
            return float(value)
        if pa.types.is_integer(kind) and isinstance(value, float):
            if not value.is_integer():
                raise ValueError
            value = int(value)
        return pa.scalar(value, kind).as_py()
    except (TypeError, ValueError, OverflowError):
        shown = repr(value)[:MAX_SHOWN]
        raise ValueError(
            f"{key!r} should be {kind}, as before, but is {shown}"
        ) from None


def _read_csv(location: Location, delimiter: str) -> Iterator[Row]:
    with open_file(location) as raw:
        for row in read_csv(raw, location.uri, delimiter)[1]:
            cells = row.cells if isinstance(row.cells, dict) else {}
            # Keep the id if another cell is invalid.
            values = {k: cell for k, cell in cells.items() if not INVALID.search(cell)}
            where = f", in line {row.number} of {location.uri}"
            yield values, row.reason and row.reason + where


def _read_text(location: Location) -> Iterator[Row]:
    with open_file(location) as raw:
        for row in read_paragraphs(raw, location.uri):
            values = {"source": location.uri, "line": row.number, "text": row.cells}
            yield values, None
