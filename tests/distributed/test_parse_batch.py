"""Arrow in, Arrow out: the columns of a parse."""

import pyarrow as pa
import pytest
import spacy
from spacy.tokens import DocBin
from util import save_chain

from spacy_sdp.distributed import ParseBatch, parse_schema
from spacy_sdp.distributed.schema import CLAUSE, to_columns
from spacy_sdp.graph.graph import SemanticGraph
from spacy_sdp.graph.table import clause_rows


def test_the_columns_are_those_of_the_schema(tmp_path):
    parse = ParseBatch(str(save_chain(tmp_path / "chain")), docs=True)
    texts = ["Dogs  bark. Cats purr.", "", None]
    table = parse(pa.table({"id": [7, 8, 9], "text": texts}))
    assert table.schema == pa.schema(
        [("id", pa.int64()), ("text", pa.string()), *parse_schema(docs=True)]
    )
    first, empty, missing = table.to_pylist()
    assert [token["text"] for token in first["tokens"]] == [
        *("Dogs", " ", "bark", ".", "Cats", "purr", ".")
    ]
    for token in first["tokens"]:
        assert texts[0][token["start"] : token["end"]] == token["text"]
    assert [token["sentence"] for token in first["tokens"]] == [0, 0, 0, 0, 1, 1, 1]
    assert first["arcs"][0] == {"head": 2, "dep": 0, "label": "ARG1", "score": None}
    assert first["tops"] == [3, 6] and first["error"] is None
    assert (first["pipeline"], first["pipeline_version"]) == ("en_pipeline", "0.0.0")
    (doc,) = DocBin().from_bytes(first["docbin"]).get_docs(spacy.blank("en").vocab)
    assert [token.i for token in doc._.sdp.tops] == [3, 6]
    # There are no tags, and so no clauses.
    assert first["clauses"] is None and first["frames"] is None
    assert (empty["tokens"], empty["arcs"], empty["tops"]) == ([], [], [])
    assert missing["error"] == "the text is missing"
    assert missing["tokens"] is missing["arcs"] is missing["docbin"] is None


def test_clauses_and_frames(cat):
    for token, tag in zip(cat, ["DT", "JJ", "NN", "VBZ", "TO", "VB", "."], strict=True):
        token.tag_ = tag
    data = {**cat._.sdp.to_dict(), "frames": [[3, "v_1"]]}
    cat._.sdp = SemanticGraph.from_dict(cat, data)
    columns, reasons = to_columns([cat, None], "sdp", clauses=True, with_docs=False)
    assert reasons == [None, None]
    assert columns["frames"].to_pylist() == [[{"token": 3, "frame": "v_1"}], None]
    clauses, nothing = columns["clauses"].to_pylist()
    assert nothing is None and list(clauses[0]) == list(CLAUSE)
    assert {**clauses[0], "text": ""}.items() >= {
        "subject": "The shy cat",
        "verb": "wants",
        "objects": "to eat",
        "negated": False,
        "token": 3,
        "sentence": 0,
        "score": None,
    }.items()
    columns, _ = to_columns([cat], "sdp", clauses=False, with_docs=False)
    assert columns["clauses"].to_pylist() == [None]


def test_what_has_no_clauses_keeps_its_arcs(cat):
    for token in cat:
        token.tag_ = "NN"
    cat._.sdp = [(3, 2, "ACT-arg")]
    columns, reasons = to_columns([cat], "sdp", clauses=True, with_docs=False)
    assert reasons[0].startswith("no clauses (ValueError: ")
    assert len(columns["arcs"][0]) == 1 and not columns["clauses"][0].is_valid


def test_the_clauses_are_those_of_the_schema(cat):
    for token in cat:
        token.tag_ = "VBZ" if token.text == "wants" else "NN"
    (row, *_) = clause_rows(cat._.sdp, 0)
    assert set(row) - set(CLAUSE) == {"doc", "sent", "clause"}
    columns, _ = to_columns([cat], "sdp", clauses=True, with_docs=False)
    (found, *_) = columns["clauses"].to_pylist()[0]
    assert found == {name: row[name] for name in CLAUSE if name != "token"} | {
        "token": cat._.sdp.clauses()[0].verb.head.i,
        "sentence": 0,
    }


def test_batches_do_not_change_the_result(tiny, poison):
    texts = ["Dogs bark.", poison, "Cats purr. Fish swim.", "It rains. " * 200, "Go!"]
    table = pa.table({"text": texts})
    one, two = (ParseBatch(tiny, batch_size=size)(table) for size in (1, 100))
    assert one.drop(["arcs"]) == two.drop(["arcs"])
    scored = [each.column("arcs").combine_chunks().flatten() for each in (one, two)]
    assert scored[0].field("label") == scored[1].field("label")
    assert scored[0].field("score").to_pylist() == pytest.approx(
        scored[1].field("score").to_pylist(), abs=1e-5
    )
    errors = one.column("error").to_pylist()
    assert "E088" in errors[1] and errors[:1] + errors[2:] == [None] * 4
    assert table.slice(0, 0) == ParseBatch(tiny)(table.slice(0, 0)).select(["text"])


def test_what_it_cannot_use_is_refused(tiny, tmp_path):
    parse = ParseBatch(tiny)
    with pytest.raises(TypeError, match='batch_format="pyarrow"'):
        parse({"text": ["a"]})
    for table, message in (
        ({"body": ["a"]}, "no column 'text' with the texts, only body"),
        ({"text": [1]}, "The column 'text' has int64, not texts"),
        ({"text": ["a"], "arcs": [1]}, "has the column 'arcs'"),
    ):
        with pytest.raises(ValueError, match=message):
            parse(pa.table(table))
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(ValueError, match=r"does not set Doc\._\.sdp"):
        ParseBatch(str(tmp_path / "blank"))
