"""The columns of a parse in Apache Arrow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from spacy.tokens import Doc

from ..formats import docbin
from ..graph.extensions import get_graph
from ..graph.graph import SemanticGraph
from ..graph.spans import sentence_numbers
from ..graph.table import CLAUSE_COLUMNS, clauses_with_rows

TOKEN = {
    "text": pa.string(),
    "start": pa.int32(),
    "end": pa.int32(),
    "tag": pa.string(),
    "lemma": pa.string(),
    "sentence": pa.int32(),
}
ARC = {
    "head": pa.int32(),
    "dep": pa.int32(),
    "label": pa.string(),
    "score": pa.float32(),
}
FRAME = {"token": pa.int32(), "frame": pa.string()}
TYPES = {int: pa.int32(), float: pa.float32(), bool: pa.bool_(), str: pa.string()}
# The columns of other tables of clauses. `doc` and `clause` are omitted, because they
# are the positions in the lists, and `sentence` is a number, as for tokens.
CLAUSE_COPIED = {
    name: TYPES[kind]
    for name, kind in CLAUSE_COLUMNS.items()
    if name not in ("doc", "sent", "clause", "sentence")
}
CLAUSE = {**CLAUSE_COPIED, "token": pa.int32(), "sentence": pa.int32()}
ERROR = "error"


def _list_of(columns: dict[str, pa.DataType]) -> pa.ListType:
    return pa.list_(pa.struct(list(columns.items())))


def parse_schema(*, docs: bool = False) -> pa.Schema:
    """Get the columns that a parse adds to the input.

    docs (bool): Whether to include the column with the Docs.
    RETURNS (pyarrow.Schema): The schema. All columns can be null.
    """
    columns = {
        "tokens": _list_of(TOKEN),
        "arcs": _list_of(ARC),
        "tops": pa.list_(pa.int32()),
        "frames": _list_of(FRAME),
        "clauses": _list_of(CLAUSE),
        "pipeline": pa.string(),
        "pipeline_version": pa.string(),
        **({"docbin": pa.binary()} if docs else {}),
        ERROR: pa.string(),
    }
    return pa.schema(list(columns.items()))


def to_columns(
    docs: Sequence[Doc | None], attr: str, *, clauses: bool, with_docs: bool
) -> tuple[dict[str, pa.Array], list[str | None]]:
    """Convert Docs to the columns of `parse_schema` that depend on them.

    docs (Sequence[Optional[Doc]]): The Docs, or None for texts that were not parsed.
    attr (str): The attribute with the graphs.
    clauses (bool): Whether to extract clauses, from Docs that have tags.
    with_docs (bool): Whether to add the Docs.
    RETURNS (Tuple[Dict[str, pyarrow.Array], List[Optional[str]]]): The columns, and for
        each Doc None, or the reason why its clauses cannot be extracted.
    """
    graphs = [None if doc is None else get_graph(doc, attr) for doc in docs]
    clause_rows: list[list[tuple[Any, ...]] | None] = []
    reasons: list[str | None] = []
    for graph in graphs:
        rows = reason = None
        if clauses and graph is not None and graph.doc.has_annotation("TAG"):
            try:
                rows = list(_clause_rows(graph))
            except Exception as error:
                reason = f"no clauses ({type(error).__name__}: {error})"
        clause_rows.append(rows)
        reasons.append(reason)
    tops = [None if each is None else [t.i for t in each.tops] for each in graphs]
    columns = {
        "tokens": _to_lists(
            (None if doc is None else _token_rows(doc) for doc in docs), TOKEN
        ),
        "arcs": _to_lists(
            (None if each is None else each.indexed_arcs for each in graphs), ARC
        ),
        "tops": pa.array(tops, pa.list_(pa.int32())),
        "frames": _to_lists(map(_frame_rows, graphs), FRAME),
        "clauses": _to_lists(clause_rows, CLAUSE),
    }
    if with_docs:
        data = [None if doc is None else docbin.to_bytes([doc]) for doc in docs]
        columns["docbin"] = pa.array(data, pa.binary())
    return columns, reasons


def _token_rows(doc: Doc) -> Iterable[tuple[Any, ...]]:
    return [
        (token.text, token.idx, token.idx + len(token), token.tag_, token.lemma_, i)
        for token, i in zip(doc, sentence_numbers(doc), strict=True)
    ]


def _frame_rows(graph: SemanticGraph | None) -> Iterable[tuple[Any, ...]] | None:
    if graph is None or not graph.has_frames:
        return None
    frames = ((token.i, graph.frame(token)) for token in graph.doc)
    return [row for row in frames if row[1] is not None]


def _clause_rows(graph: SemanticGraph) -> Iterator[tuple[Any, ...]]:
    for clause, row in clauses_with_rows(graph, 0):
        copied = (row[name] for name in CLAUSE_COPIED)
        yield *copied, clause.verb.head.i, row["sent"]


def _to_lists(
    lists: Iterable[Iterable[tuple[Any, ...]] | None], columns: dict[str, pa.DataType]
) -> pa.ListArray:
    """Build a column of lists of structs, from flat columns.

    This is many times faster than converting dictionaries with Arrow.
    """
    # A null offset makes the list that starts there null.
    offsets: list[int | None] = []
    rows: list[tuple[Any, ...]] = []
    for each in lists:
        offsets.append(None if each is None else len(rows))
        rows += each or ()
    offsets.append(len(rows))
    values = zip(*rows, strict=True) if rows else ((),) * len(columns)
    arrays = [
        pa.array(cells, kind)
        for cells, kind in zip(values, columns.values(), strict=True)
    ]
    structs = pa.StructArray.from_arrays(arrays, names=list(columns))
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), structs)
