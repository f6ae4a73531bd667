"""Clauses and triples as rows of a table, and clauses as a data frame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from typing import Any

from spacy.tokens import Doc

from .adjuncts import ADJUNCTS
from .clauses import DECIMALS, Clause
from .extensions import DEFAULT_ATTR, require_graph
from .graph import SemanticGraph
from .spans import sentence_numbers, sentences

Row = dict[str, Any]
# The columns, with the types of their values. `doc`, `sent`, `clause` and the tokens
# `head` and `dep` are numbers that count from 0. `frame` is that of the predicate.
MAIN_COLUMNS = ("subject", "verb", "objects")
CONTEXT_COLUMNS = ("attribution", "conditional", "asked")
# The other parts of a clause, which are shown with their names.
DETAIL_COLUMNS = (*ADJUNCTS, "negated", "modality", *CONTEXT_COLUMNS)
CLAUSE_COLUMNS = {
    **dict.fromkeys(("doc", "sent", "clause"), int),
    **dict.fromkeys((*MAIN_COLUMNS, *ADJUNCTS), str),
    **dict.fromkeys(("negated", "asserted"), bool),
    **dict.fromkeys(("modality", "tense", "aspect", "voice"), str),
    **dict.fromkeys(CONTEXT_COLUMNS, str),
    **dict.fromkeys(("subject_clause", "object_clause"), int),
    "score": float,
    **dict.fromkeys(("text", "sentence"), str),
}
TRIPLE_COLUMNS = {
    **dict.fromkeys(("doc", "sent", "head", "dep"), int),
    **dict.fromkeys(("predicate", "label", "argument", "frame"), str),
    "score": float,
    "sentence": str,
}
LIBRARIES = ("pandas", "polars")


def clause_rows(
    graph: SemanticGraph, number: int, *, conjuncts: bool = False
) -> Iterator[Row]:
    """Yield the clauses of a graph as rows.

    graph (SemanticGraph): The graph.
    number (int): The number of its Doc.
    conjuncts (bool): Whether to distribute coordinated subjects and objects.
    YIELDS (Dict[str, Any]): The values of CLAUSE_COLUMNS, or None if missing.
    """
    for _, row in clauses_with_rows(graph, number, conjuncts=conjuncts):
        yield row


def clauses_with_rows(
    graph: SemanticGraph, number: int, *, conjuncts: bool = False
) -> Iterator[tuple[Clause, Row]]:
    """Yield the clauses of a graph, each with its row; see `clause_rows`."""
    clauses = graph.clauses(conjuncts=conjuncts)
    sents = sentence_numbers(graph.doc)
    numbers = {id(clause): i for i, clause in enumerate(clauses)}
    for i, clause in enumerate(clauses):
        row = {
            **clause.to_dict(),
            "doc": number,
            "sent": sents[clause.verb.head.i],
            "clause": i,
            "subject_clause": numbers.get(id(clause.subject_clause)),
            "object_clause": numbers.get(id(clause.object_clause)),
        }
        yield clause, {name: row[name] for name in CLAUSE_COLUMNS}


def triple_rows(graph: SemanticGraph, number: int) -> Iterator[Row]:
    """Yield the arcs of a graph as rows.

    graph (SemanticGraph): The graph.
    number (int): The number of its Doc.
    YIELDS (Dict[str, Any]): The values of TRIPLE_COLUMNS, or None if missing.
    """
    sents, texts = sentence_numbers(graph.doc), sentences(graph.doc)
    for arc in graph:
        sent = sents[arc.head.i]
        yield {
            "doc": number,
            "sent": sent,
            "head": arc.head.i,
            "dep": arc.dep.i,
            "predicate": arc.head.text,
            "label": arc.label,
            "argument": arc.dep.text,
            "frame": graph.frame(arc.head),
            "score": None if arc.score is None else round(arc.score, DECIMALS),
            "sentence": texts[sent].text.strip(),
        }


def to_frame(
    docs: Doc | Iterable[Doc],
    attr: str = DEFAULT_ATTR,
    *,
    conjuncts: bool = False,
    library: str | None = None,
) -> Any:
    """Convert the clauses of Docs to a data frame of pandas or Polars.

    docs (Doc | Iterable[Doc]): One or several Docs with graphs.
    attr (str): The attribute with the graphs.
    conjuncts (bool): Whether to distribute coordinated subjects and objects.
    library (Optional[str]): "pandas" or "polars". Defaults to the first installed one.
    RETURNS (pandas.DataFrame | polars.DataFrame): A row for each clause, with the
        numbers of its Doc, its sentence and itself, which count from 0, and the fields
        of `Clause.to_dict`.

    >>> frame = to_frame([doc, doc])
    >>> frame[["doc", "subject", "verb", "objects"]].values.tolist()[1:3]
    [[0, 'The shy cat', 'eat', ''], [1, 'The shy cat', 'wants', 'to eat']]
    """
    name = _find_library(library)
    rows: list[Row] = []
    for number, doc in enumerate([docs] if isinstance(docs, Doc) else docs):
        graph = require_graph(doc, attr)
        rows += clause_rows(graph, number, conjuncts=conjuncts)
    if name == "polars":
        import polars

        return polars.DataFrame(rows, schema=CLAUSE_COLUMNS)
    import pandas

    frame = pandas.DataFrame(rows, columns=list(CLAUSE_COLUMNS))
    # Without types, missing numbers would turn all numbers into floats.
    types = {int: "Int64", float: "float64", bool: "bool"}
    return frame.astype(
        {name: types[kind] for name, kind in CLAUSE_COLUMNS.items() if kind in types}
    )


def _find_library(name: str | None) -> str:
    if name not in (None, *LIBRARIES):
        raise ValueError(
            f"Unknown library {name!r}: choose one of {', '.join(LIBRARIES)}."
        )
    names = LIBRARIES if name is None else (name,)
    for each in names:
        if find_spec(each) is not None:
            return each
    raise ImportError(f"to_frame requires {' or '.join(names)}: pip install {names[0]}")
