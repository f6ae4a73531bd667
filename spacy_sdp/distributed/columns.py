"""The columns of input files, and of all files of a job."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import pyarrow as pa

from ..formats.files import FormatError
from ..formats.table import DELIMITERS, read_csv
from .inputs import (
    ROWS_FOR_TYPES,
    TEXT_SCHEMA,
    InputFile,
    naming,
    open_file,
    open_parquet,
    read_lines,
    read_object,
)
from .parse_batch import check_columns, is_text
from .storage import Location

# Maximum size of the rows that determine the columns of a JSONL file, in bytes.
BYTES_FOR_TYPES = 2**24
JSON_TYPES = {bool: pa.bool_(), int: pa.int64(), float: pa.float64()}


def read_schema(file: InputFile, text_column: str, added: pa.Schema) -> pa.Schema:
    """Get the columns of an input file.

    file (InputFile): The file.
    text_column (str): The column with the texts, which it must have.
    added (pyarrow.Schema): The columns of the parse, which it must not have.
    RETURNS (pyarrow.Schema): The columns. JSONL files without rows have none.
    """
    location = file.location
    with naming(location):
        if file.format == "parquet":
            with open_parquet(location) as opened:
                schema = opened.schema_arrow
        elif file.format == "jsonl":
            schema = _find_types(location)
            if not schema.names:
                return schema
        elif file.format in DELIMITERS:
            with open_file(location) as raw:
                columns, _ = read_csv(raw, location.uri, DELIMITERS[file.format])
                schema = pa.schema([(name, pa.string()) for name in columns])
        else:
            schema = TEXT_SCHEMA
    for name in schema.names:
        if schema.names.count(name) > 1:
            raise FormatError(f"there are two columns {name!r}", location.uri)
    try:
        check_columns(schema, text_column, added)
    except ValueError as error:
        raise FormatError(str(error), location.uri) from None
    return pa.schema([(field.name, _simplify(field.type)) for field in schema])


def _simplify(kind: pa.DataType) -> pa.DataType:
    """The type of a column in the output, where all texts have the same type."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.string() if is_text(kind) and not pa.types.is_null(kind) else kind


def _find_types(location: Location) -> pa.Schema:
    """Find the columns of a JSONL file and their types, from its first rows.

    Columns with lists, objects or values of several types contain JSON as text.
    """
    kinds: dict[str, pa.DataType] = {}
    rows = size = 0
    reason = None
    for offset, line in islice(read_lines(location), ROWS_FOR_TYPES):
        if line is not None and not line.strip():
            continue
        try:
            row = read_object(line)
        except ValueError as error:
            reason = reason or f"{error}, at byte {offset:,}"
        else:
            rows += 1
            for key, value in row.items():
                kinds[key] = merge_types(kinds.get(key, pa.null()), _type_of(value))
        size += len(line or b"")
        if size > BYTES_FOR_TYPES:
            break
    if reason is not None and not rows:
        raise FormatError(
            f"no line at the start of the file has a JSON object ({reason})",
            location.uri,
        )
    return pa.schema(list(kinds.items()))


def _type_of(value: Any) -> pa.DataType:
    if value is None:
        return pa.null()
    if type(value) is int and not -(2**63) <= value < 2**63:
        return pa.string()
    return JSON_TYPES.get(type(value), pa.string())


def merge_types(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Find a type for the values of two types.

    RETURNS (pyarrow.DataType): The type, which is text for scalars of different kinds.
        Raises a ValueError if there is none.
    """
    if one == other:
        return one
    try:
        found = pa.unify_schemas(
            [pa.schema([("", kind)]) for kind in (one, other)],
            promote_options="permissive",
        )
        return found.field(0).type
    except pa.ArrowException:
        for kind in (one, other):
            if pa.types.is_nested(kind) or pa.types.is_binary(kind):
                raise ValueError(f"{one} and {other}") from None
        return pa.string()


def merge_schemas(schemas: Mapping[str, pa.Schema]) -> pa.Schema:
    """Find columns for all files, so that the output can be read as one table.

    schemas (Mapping[str, pyarrow.Schema]): The columns of each file, by URI.
    RETURNS (pyarrow.Schema): All columns.
    """
    types: dict[str, pa.DataType] = {}
    first: dict[str, str] = {}
    for uri, schema in schemas.items():
        for field in schema:
            before = types.get(field.name, pa.null())
            try:
                types[field.name] = merge_types(before, field.type)
            except ValueError:
                raise ValueError(
                    f"The column {field.name!r} has the type {before} in "
                    f"{first[field.name]}, and {field.type} in {uri}. Parse these "
                    "files to different folders, or convert the column."
                ) from None
            first.setdefault(field.name, uri)
    return pa.schema(
        [
            (name, pa.string() if pa.types.is_null(kind) else kind)
            for name, kind in types.items()
        ]
    )
