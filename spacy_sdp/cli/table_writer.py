"""Writing of tables as CSV, TSV, JSONL or Parquet."""

from __future__ import annotations

import csv
import io
import json
import pickle
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

from spacy.util import minibatch

from ..formats.files import STANDARD_STREAM, atomic_write, write_records
from ..formats.jsonl import format_object
from ..formats.table import BATCH_ROWS, DELIMITERS, import_pyarrow
from ..graph.table import Row

TABLE_KIND_OF_SUFFIX = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".parquet": "parquet",
}


def find_table_kind(path: Path) -> str:
    """Find the format of a table.

    path (Path): The file.
    RETURNS (str): "csv", "tsv", "jsonl" or "parquet" by its suffix, otherwise "text".
    """
    if str(path) == STANDARD_STREAM:
        return "text"
    return TABLE_KIND_OF_SUFFIX.get(path.suffix.lower(), "text")


def write_table(
    rows: Iterable[Row], columns: Mapping[str, type], path: Path, kind: str
) -> None:
    """Write rows to a file, either all of them or none.

    rows (Iterable[Row]): The rows, which may have further columns.
    columns (Mapping[str, type]): The columns that all rows have, with the types of
        their values. They are the last columns of the table.
    path (Path): The file.
    kind (str): "csv", "tsv", "jsonl" or "parquet".
    """
    if kind == "jsonl":
        write_records(rows, path, lambda row, _: format_object(row))
        return
    # All columns and types are only known after the last row.
    with TemporaryFile() as file, atomic_write(path) as output:
        spool = _Spool(file, rows)
        names = [name for name in spool.columns if name not in columns]
        if kind == "parquet":
            _write_parquet(spool, names, columns, output)
        else:
            _write_csv(spool, [*names, *columns], DELIMITERS[kind], output)


class _Spool:
    """Rows in a temporary file, to iterate over several times."""

    def __init__(self, file: BinaryIO, rows: Iterable[Row]) -> None:
        self.file = file
        self.columns: dict[str, None] = {}
        for row in rows:
            self.columns |= dict.fromkeys(row)
            pickle.dump(row, file)
        self.end = file.tell()

    def __iter__(self) -> Iterator[Row]:
        self.file.seek(0)
        while self.file.tell() < self.end:
            yield pickle.load(self.file)


def _write_csv(
    spool: _Spool, columns: list[str], delimiter: str, output: BinaryIO
) -> None:
    text = io.TextIOWrapper(output, encoding="utf8", newline="", write_through=True)
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    for row in spool:
        writer.writerow([_to_cell(row.get(name)) for name in columns])
    # Keep the output open, because it is closed elsewhere.
    text.detach()


def _write_parquet(
    spool: _Spool, names: list[str], columns: Mapping[str, type], output: BinaryIO
) -> None:
    pyarrow = import_pyarrow()
    own = {
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        bool: pyarrow.bool_(),
        str: pyarrow.string(),
    }
    types = dict.fromkeys(names, pyarrow.null())
    for batch in minibatch(spool, BATCH_ROWS):
        for name in names:
            found = _find_type(pyarrow, [row.get(name) for row in batch])
            types[name] = _unify(pyarrow, types[name], found)
    for name in names:
        # Columns without values become text, so that other tables can be appended.
        if pyarrow.types.is_null(types[name]):
            types[name] = pyarrow.string()
    schema = pyarrow.schema({**types, **{name: own[columns[name]] for name in columns}})
    with pyarrow.parquet.ParquetWriter(output, schema) as writer:
        for batch in minibatch(spool, BATCH_ROWS):
            arrays = [_to_array(pyarrow, batch, field) for field in schema]
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))


def _find_type(pyarrow: Any, values: list[Any]) -> Any:
    """Find the Arrow type of values. Values of different types are written as text."""
    try:
        return pyarrow.array(values).type
    except (pyarrow.ArrowException, OverflowError):
        return pyarrow.string()


def _unify(pyarrow: Any, *types: Any) -> Any:
    schemas = [pyarrow.schema({"": each}) for each in types]
    try:
        unified = pyarrow.unify_schemas(schemas, promote_options="permissive")
    except pyarrow.ArrowException:
        return pyarrow.string()
    return unified.field(0).type


def _to_array(pyarrow: Any, rows: list[Row], field: Any) -> Any:
    """Get a column of some rows as an Arrow array."""
    values = [row.get(field.name) for row in rows]
    if field.type == pyarrow.string():
        values = [None if value is None else _to_cell(value) for value in values]
    return pyarrow.array(values, field.type)


def _to_cell(value: Any) -> str:
    """Convert a value to text, without quotation marks; None is an empty cell."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    # Dates and other values of Parquet files are written as text.
    return json.dumps(value, ensure_ascii=False, default=str).strip('"')
