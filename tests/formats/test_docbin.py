import gc
import zlib

import pytest
from spacy.tokens import Doc
from util import run

from spacy_sdp.formats import docbin
from spacy_sdp.formats.files import FormatError

KEY = ("._.", "sdp", None, None)


@pytest.mark.parametrize(
    "changes, reason",
    [
        ({"arcs": [(0, 2, 5, None)]}, "the label must be a non-empty string"),
        ({"arcs": [(-1, 2, "BV", None)]}, "head -1 is not a token"),
        ({"tops": (3, 3)}, "A top is given twice"),
        ({"frames": ((3, 7),)}, "expected a string, found 7"),
        ({"arcs": 7}, "Expected a list of arcs, found 7"),
        ({"tokens": 3}, "was made for 3 tokens"),
    ],
    ids=str,
)
def test_broken_graphs_are_named_with_file_and_doc(changes, reason, cat, tmp_path):
    path = tmp_path / "in.spacy"
    other = cat.copy()
    other.user_data[KEY] = {"tokens": 7, "arcs": (), "tops": (), **changes}
    docbin.write_docs([cat, other], path)
    with pytest.raises(FormatError, match=f"in.spacy: Doc 2: .*{reason}"):
        list(docbin.read(path))
    code, _, err = run("convert", path, tmp_path / "out.sdp")
    assert code == 1 and "Doc 2" in err and "Traceback" not in err
    assert [each.name for each in tmp_path.iterdir()] == ["in.spacy"]


def test_docs_of_one_sentence_are_joined_with_spaces(nlp, tmp_path):
    docs = [nlp.make_doc("I met a client."), nlp.make_doc("It seems so.")]
    for doc in docs:
        doc._.sdp = []
    docbin.write_docs(docs, tmp_path / "in.spacy")
    run("convert", tmp_path / "in.spacy", tmp_path / "out.spacy", "--docs", 8)
    (joined,) = docbin.read_docs(tmp_path / "out.spacy")
    assert joined.text == "I met a client. It seems so."


def test_a_sentence_of_whitespace_does_not_glue_its_neighbours(nlp, tmp_path):
    doc = Doc(
        nlp.vocab,
        words=["Hi", ".", "\n\n", "Bye", "."],
        spaces=[False, False, False, False, False],
        sent_starts=[True, False, True, True, False],
    )
    doc._.sdp = []
    docbin.write_docs([doc], tmp_path / "in.spacy")
    docbin.write(docbin.read(tmp_path / "in.spacy"), tmp_path / "out.spacy")
    (again,) = docbin.read_docs(tmp_path / "out.spacy")
    assert again.text == "Hi. Bye."


@pytest.mark.parametrize(
    "value, reason",
    [({1, 2}, "set"), (2**70, "out of range"), ("\ud800", "surrogates not allowed")],
    ids=["type", "number", "string"],
)
def test_user_data_that_cannot_be_stored_are_named(value, reason, cat, tmp_path):
    path = tmp_path / "out.spacy"
    path.write_bytes(b"before")
    cat.user_data["mine"] = value
    with pytest.raises(
        ValueError, match=r"Doc 'The shy .*user_data\['mine'\]"
    ) as found:
        docbin.write_docs([cat], path)
    assert reason in str(found.value)
    assert path.read_bytes() == b"before" and len(list(tmp_path.iterdir())) == 1


def test_garbage_is_collected_again_after_a_broken_file(cat, tmp_path):
    data = docbin.to_bytes([cat])
    (tmp_path / "in.spacy").write_bytes(
        zlib.compress(zlib.decompress(data).replace(b"tops", b"\xc1ops"))
    )
    with pytest.raises(FormatError, match=r"not a valid \.spacy file"):
        list(docbin.read_docs(tmp_path / "in.spacy"))
    assert gc.isenabled()
