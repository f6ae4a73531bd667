"""Rows of texts: CSV, TSV and Parquet files, and paragraphs of plain text."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from .files import (
    LONGEST_LINE,
    MOST_LINES,
    STANDARD_STREAM,
    FormatError,
    check_unpacked,
    decode_lines,
    group_lines,
    max_unpacked,
    number_lines,
)

DELIMITERS = {"csv": ",", "tsv": "\t"}
# Number of rows of a Parquet file to read at a time.
BATCH_ROWS = 1000
# NUL bytes, and the characters that invalid UTF-8 bytes are decoded to.
INVALID = re.compile("[\0\udc80-\udcff]")


@dataclass
class TableRow:
    """A row of a table, or a paragraph.

    number (int): The first line, or the number of the row in a Parquet file, from 1.
    cells (Any): The values by column, or the raw contents of an invalid row.
    reason (Optional[str]): Why the row is invalid.
    position (int): The size of the file up to the end of the row, in bytes.
    """

    number: int
    cells: Any
    reason: str | None = None
    position: int = 0


def import_pyarrow() -> Any:
    """Import pyarrow, which is only needed for Parquet files."""
    try:
        import pyarrow.parquet
    except ImportError:
        raise ValueError(
            'Parquet files require pyarrow: pip install "spacy-sdp[tables]"'
        ) from None
    return pyarrow


def read_csv(
    file: BinaryIO, path: str, delimiter: str
) -> tuple[list[str], Iterator[TableRow]]:
    """Read a CSV or TSV file with a header.

    file (BinaryIO): The file.
    path (str): The name of the file, for errors.
    delimiter (str): The character between cells.
    RETURNS (Tuple[List[str], Iterator[TableRow]]): The columns and the rows. Blank
        lines are skipped. In rows with broken quoting, `cells` is the line, and in rows
        with too few or too many cells, it is a list.
    """
    records = _read_records(file, path, delimiter)
    header = next(records, None)
    if header is None:
        raise FormatError("the file is empty; expected a line with the columns", path)
    if header.reason is None:
        header.reason = _find_fault(header.cells)
    if header.reason is not None:
        raise FormatError(header.reason, path, header.number)
    _check_names(header.cells, path, header.number)
    return header.cells, _name_cells(records, header.cells)


def _name_cells(records: Iterable[TableRow], columns: list[str]) -> Iterator[TableRow]:
    for row in records:
        if row.reason is None and len(row.cells) != len(columns):
            row.reason = (
                f"the row has {len(row.cells)} cells, but the header has {len(columns)}"
            )
        elif row.reason is None:
            row.reason = _find_fault(row.cells)
            row.cells = dict(zip(columns, row.cells, strict=True))
        yield row


def read_parquet(file: BinaryIO, path: str) -> tuple[list[str], Iterator[TableRow]]:
    """Read a Parquet file.

    file (BinaryIO): The file.
    path (str): The name of the file, for errors.
    RETURNS (Tuple[List[str], Iterator[TableRow]]): The columns and the rows.
    """
    pyarrow = import_pyarrow()
    if path == STANDARD_STREAM:
        raise FormatError("Parquet cannot be read from standard input; use a file")
    with _naming(path):
        table = pyarrow.parquet.ParquetFile(file)
        columns = table.schema_arrow.names
        groups = map(table.metadata.row_group, range(table.num_row_groups))
        # (The metadata of columns would be more exact, but if they are invalid, pyarrow
        # ends the process.)
        sizes = [group.total_byte_size for group in groups]
    for number, size in enumerate(sizes, start=1):
        check_unpacked(size, path, f"row group {number}")
    _check_names(columns, path)
    return columns, _read_batches(table, sizes, path)


def _read_batches(table: Any, sizes: list[int], path: str) -> Iterator[TableRow]:
    file_size, count = Path(path).stat().st_size, max(table.metadata.num_rows, 1)
    number = 0
    with _naming(path):
        for group, size in enumerate(sizes):
            # Columns with a dictionary store a value once, however often it occurs. A
            # row is never larger than its row group.
            rows = max(1, min(BATCH_ROWS, max_unpacked() // max(size, 1)))
            for batch in table.iter_batches(rows, row_groups=[group]):
                for cells, reason in _to_rows(_decode(batch)):
                    number += 1
                    position = min(file_size * number // count, file_size)
                    yield TableRow(number, cells, reason, position)


def _decode(batch: Any) -> Any:
    """Replace dictionaries, whose size would count for each row, by their values."""
    columns = [
        column.dictionary_decode() if hasattr(column, "dictionary") else column
        for column in batch.columns
    ]
    return type(batch).from_arrays(columns, names=batch.schema.names)


def _to_rows(batch: Any) -> Iterator[tuple[dict[str, Any], str | None]]:
    """Yield rows, and for each row None, or the reason why it is invalid."""
    reason = f"the row has more than {LONGEST_LINE:,} bytes"
    if batch.nbytes <= LONGEST_LINE:
        try:
            rows = batch.to_pylist()
        except (ValueError, OverflowError, import_pyarrow().ArrowException) as error:
            reason = f"the row has an invalid value ({error})"
        else:
            yield from ((row, None) for row in rows)
            return
    if len(batch) == 1:
        yield {}, reason
        return
    middle = len(batch) // 2
    yield from _to_rows(batch.slice(0, middle))
    yield from _to_rows(batch.slice(middle))


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Name the file in errors of pyarrow."""
    try:
        yield
    except FormatError:
        raise
    except (import_pyarrow().ArrowException, OSError, ValueError) as error:
        raise FormatError(f"not a valid Parquet file ({error})", path) from None


def read_paragraphs(file: BinaryIO, path: str) -> Iterator[TableRow]:
    """Read paragraphs between blank lines, and ignore their line breaks.

    file (BinaryIO): The file.
    path (str): The name of the file, for errors.
    YIELDS (TableRow): The paragraphs, as text.
    """
    position = 0
    lines = decode_lines(file, path)
    for block in group_lines(lines, path, is_blank=lambda line: not line.strip()):
        (first, *_), texts = zip(*block, strict=True)
        position += sum(len(text.encode()) + 1 for text in texts)
        yield TableRow(first, " ".join(texts), position=position)


class _Lines:
    """The lines of a file for `csv.reader`, which can be read twice."""

    def __init__(self, file: BinaryIO, path: str) -> None:
        self.lines = number_lines(file, path)
        # The lines of a record, with their numbers, and the lines to read again in
        # reverse order.
        self.record: list[tuple[int, str]] = []
        self.returned: list[tuple[int, str]] = []
        self.size = self.position = 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        if self.returned:
            number, line = self.returned.pop()
        else:
            number, raw = next(self.lines)
            self.position += len(raw)
            encoding = "utf-8-sig" if number == 1 else "utf-8"
            line = raw.decode(encoding, "surrogateescape")
        self.record.append((number, line))
        self.size += len(line)
        if self.size > LONGEST_LINE:
            raise csv.Error(f"the row has more than {LONGEST_LINE:,} characters")
        if len(self.record) > MOST_LINES:
            raise csv.Error(f"the row has more than {MOST_LINES:,} lines")
        return line

    def start_record(self) -> None:
        self.record.clear()
        self.size = 0

    def keep_first_line(self) -> None:
        """Read all lines of the record again, except for the first."""
        self.returned += reversed(self.record[1:])


def _read_records(file: BinaryIO, path: str, delimiter: str) -> Iterator[TableRow]:
    """Read records, of which the first is the header, with lists of cells."""
    csv.field_size_limit(LONGEST_LINE)
    lines = _Lines(file, path)
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        lines.start_record()
        try:
            cells: Any = next(reader)
            reason = None
        except StopIteration:
            return
        except csv.Error as error:
            # An unclosed quotation mark may include the rest of the file in the record,
            # so only leave out the first line.
            lines.keep_first_line()
            cells = lines.record[0][1].rstrip("\r\n")
            reason = f"broken quoting ({error}); double quotation marks in quoted cells"
        if cells:
            yield TableRow(lines.record[0][0], cells, reason, lines.position)


def _find_fault(cells: list[str]) -> str | None:
    """Find the reason why cells are not valid text."""
    for number, cell in enumerate(cells, start=1):
        if found := INVALID.search(cell):
            if found[0] == "\0":
                return f"cell {number} has a NUL byte; is this a text file?"
            return (
                f"cell {number} is not UTF-8 (it has the byte "
                f"0x{ord(found[0]) - 0xDC00:02x}); convert the file to UTF-8 first"
            )
    return None


def _check_names(columns: list[str], path: str, line: int | None = None) -> None:
    """Raise an error unless column names are unique."""
    seen = set()
    for name in columns:
        if name in seen:
            raise FormatError(f"there are two columns {name!r}", path, line)
        seen.add(name)
