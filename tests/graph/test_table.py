"""Clauses and triples as rows, and as data frames."""

import pytest
from spacy.tokens import Doc

from spacy_sdp import SemanticGraph, to_frame
from spacy_sdp.graph import table
from spacy_sdp.graph.table import (
    CLAUSE_COLUMNS,
    TRIPLE_COLUMNS,
    clause_rows,
    triple_rows,
)


@pytest.fixture
def doc(nlp):
    """A Doc with two sentences, of which the first one has two clauses."""
    doc = Doc(
        nlp.vocab,
        words=["The", "shy", "cat", "wants", "to", "eat", ".", "Dogs", "bark", ".\n"],
        tags=["DT", "JJ", "NN", "VBZ", "TO", "VB", ".", "NNS", "VBP", "."],
        sent_starts=[i in (0, 7) for i in range(10)],
    )
    doc._.sdp = [
        (-1, 3, "root"),
        (0, 2, "BV", 0.9),
        (1, 2, "ARG1", 0.9),
        (3, 2, "ARG1", 0.75),
        (3, 5, "ARG2", 0.9),
        (5, 2, "ARG1", 0.62347),
        (-1, 8, "root"),
        (8, 7, "ARG1", 0.5),
    ]
    return doc


def test_rows_of_clauses_are_numbered_and_linked(doc):
    rows = list(clause_rows(doc._.sdp, 4))
    assert [list(row) for row in rows] == [list(CLAUSE_COLUMNS)] * 3
    names = ("doc", "sent", "clause", "subject", "verb", "objects", "object_clause")
    assert [[row[name] for name in names] for row in rows] == [
        [4, 0, 0, "The shy cat", "wants", "to eat", 1],
        [4, 0, 1, "The shy cat", "eat", "", None],
        [4, 1, 2, "Dogs", "bark", "", None],
    ]
    assert [row["score"] for row in rows] == [0.75, 0.6235, 0.5]
    assert [row["negated"] for row in rows] == [False] * 3
    assert rows[0]["text"] == "the shy cat wants to eat"
    assert [row["sentence"] for row in rows[1:]] == [
        "The shy cat wants to eat .",
        "Dogs bark .",
    ]
    for row in rows:
        for name, value in row.items():
            assert value is None or type(value) is CLAUSE_COLUMNS[name]


def test_rows_of_triples_have_tokens_and_scores(doc):
    rows = list(triple_rows(doc._.sdp, 4))
    assert [list(row) for row in rows] == [list(TRIPLE_COLUMNS)] * 6
    assert list(rows[-2].values()) == [
        *(4, 0, 5, 2, "eat", "ARG1", "cat", None, 0.6235),
        "The shy cat wants to eat .",
    ]
    assert list(rows[-1].values())[:7] == [4, 1, 8, 7, "bark", "ARG1", "Dogs"]
    assert rows[-1]["score"] == 0.5


def test_rows_of_triples_have_the_frame_of_the_predicate(doc):
    graph = SemanticGraph.from_arcs(
        doc, doc._.sdp.indexed_arcs, frames={3: "v:e-x-h", 7: "n:x"}
    )
    frames = [(row["predicate"], row["frame"]) for row in triple_rows(graph, 0)]
    assert set(frames) == {
        ("wants", "v:e-x-h"),
        *((word, None) for word in ("The", "shy", "eat", "bark")),
    }


def test_a_frame_of_pandas(doc):
    pandas = pytest.importorskip("pandas")
    frame = to_frame([doc, doc])
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == list(CLAUSE_COLUMNS)
    assert frame["doc"].tolist() == [0, 0, 0, 1, 1, 1]
    assert frame["verb"].tolist() == ["wants", "eat", "bark"] * 2
    assert frame["object_clause"].dropna().tolist() == [1, 1]
    assert [str(frame[name].dtype) for name in ("clause", "negated", "score")] == [
        "Int64",
        "bool",
        "float64",
    ]
    empty = to_frame([])
    assert empty.dtypes.to_dict().keys() == CLAUSE_COLUMNS.keys() and empty.empty


def test_a_frame_of_polars(doc):
    polars = pytest.importorskip("polars")
    frame = to_frame(doc, library="polars")
    assert isinstance(frame, polars.DataFrame)
    assert frame["object_clause"].to_list() == [1, None, None]
    assert frame.schema == to_frame([], library="polars").schema
    assert frame.schema["score"] == polars.Float64
    assert frame.schema["subject"] == polars.String


def test_coordination_can_be_distributed(nlp):
    doc = Doc(
        nlp.vocab,
        words=["Anna", "and", "Ben", "sing"],
        tags=["NNP", "CC", "NNP", "VBP"],
    )
    doc._.sdp = [(-1, 3, "root"), (0, 2, "_and_c"), (3, 0, "ARG1")]
    assert to_frame(doc)["subject"].tolist() == ["Anna and Ben"]
    assert to_frame(doc, conjuncts=True)["subject"].tolist() == ["Anna", "Ben"]


def test_what_is_missing_is_named(doc, nlp, monkeypatch):
    with pytest.raises(ValueError, match=r"has no graph in Doc\._\.sdp\. Parse"):
        to_frame([doc, nlp("Dogs bark.")])
    with pytest.raises(ValueError, match="Unknown library 'numpy': choose one of pan"):
        to_frame(doc, library="numpy")
    monkeypatch.setattr(table, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="requires pandas or polars: pip install pan"):
        to_frame(doc)
    with pytest.raises(ImportError, match="requires polars: pip install polars"):
        to_frame(doc, library="polars")
