"""Choosing a format, and Docs of several sentences."""

import shutil

import pytest
from spacy.tokens import Span
from spacy.vocab import Vocab

from spacy_sdp import formats
from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import FormatError, Record, docbin, sdp
from spacy_sdp.formats.bridge import find_words, from_doc, split_text, to_doc
from spacy_sdp.graph.record import documents


def test_unknown_formats_are_refused(tmp_path):
    with pytest.raises(FormatError, match=r"a\.txt: unknown suffix '\.txt'; .* \.sdp"):
        formats.read(tmp_path / "a.txt")
    with pytest.raises(FormatError, match=r"use one of .*, or specify the format"):
        formats.write([], tmp_path / "a")
    with pytest.raises(FormatError, match="unknown format 'amr'; choose one of"):
        formats.read(tmp_path / "a.sdp", format="amr")
    with pytest.raises(FormatError, match="standard input and output have no suffix"):
        formats.read("-")
    with pytest.raises(FormatError, match="can be read, but not written"):
        formats.write([], tmp_path / "a", format="erg")


def test_the_name_of_a_format_counts_more_than_the_suffix(tmp_path):
    formats.write(sdp.read(EXAMPLES), tmp_path / "a.sdp", format="conllu")
    assert (tmp_path / "a.sdp").read_text().startswith("# sent_id = 1\n# text = The")
    assert len(list(formats.read(tmp_path / "a.sdp", format="conllu"))) == 24


def test_folders_are_searched(tmp_path):
    (tmp_path / "b" / "profile").mkdir(parents=True)
    for name in ("z.sdp", "b/a.conllu", "b/notes.txt", "b/profile/relations"):
        (tmp_path / name).touch()
    (tmp_path / "folder.sdp").mkdir()

    def names(format=None):
        files = formats.find_files(tmp_path, format)
        return [str(file.relative_to(tmp_path)) for file in files]

    assert names() == ["b/a.conllu", "b/profile", "z.sdp"]
    assert names("sdp") == ["z.sdp"] and names("erg") == ["b/profile"]
    with pytest.raises(FormatError, match=r"no file .* is of the format mrp"):
        names("mrp")
    shutil.rmtree(tmp_path / "b")
    (tmp_path / "z.sdp").unlink()
    with pytest.raises(FormatError, match=r"no file in this folder ends in \.sdp"):
        names()
    assert formats.find_files("-") and formats.find_files(EXAMPLES) == [EXAMPLES]


def test_words_are_found_in_a_text():
    text = " one  two,\nthree "
    words = ["one", "two", ",", "three"]
    assert [text[a:b] for a, b in find_words(words, text)] == words
    tokens, spaces = split_text(words, text)
    assert tokens == [" ", "one", " ", "two", ",", "\n", "three"]
    assert spaces == [False, True, False, False, False, False, True]
    for wrong in (["one"], ["one", "three"], [*words, "four"]):
        with pytest.raises(FormatError, match="does not match the word"):
            find_words(wrong, text)


def test_split_text_makes_the_tokens_of_spacy(nlp):
    for text in ("a b", " a  b", "a\n\nb ", "a   b\t c  ", "\ta\N{NO-BREAK SPACE}b"):
        doc = nlp.make_doc(text)
        tokens, spaces = split_text(text.split(), text)
        assert "".join(t + " " * s for t, s in zip(tokens, spaces, strict=True)) == text
        assert tokens == [token.text for token in doc]


def two_sentences():
    return [
        Record(
            words=["Dogs", "bark", "."],
            text="Dogs  bark.",
            arcs=[(1, 0, "ARG1")],
            tops=[1],
            id="a",
            tags=["NNS", "VBP", "."],
            heads=[1, -1, 1],
            deps=["nsubj", "root", "punct"],
            comments=[" first"],
        ),
        Record(
            words=["Cats", "sleep"],
            text="Cats sleep",
            arcs=[(1, 0, "ARG1")],
            tops=[1],
            id="b",
            tags=["NNS", "VBP"],
            heads=[1, -1],
            deps=["nsubj", "root"],
            frames=["n", "v"],
            starts_document=False,
        ),
    ]


def test_a_doc_of_several_sentences_keeps_them_apart(nlp):
    (group,) = documents(two_sentences())
    doc = to_doc(group, nlp.vocab)
    assert doc.text == "Dogs  bark. Cats sleep"
    assert [span.text for span in doc.sents] == ["Dogs  bark.", "Cats sleep"]
    assert [repr(arc) for arc in doc._.sdp] == [
        "Arc(bark-ARG1->Dogs)",
        "Arc(sleep-ARG1->Cats)",
    ]
    again = list(from_doc(doc))
    expected = two_sentences()
    for sentence in expected:
        sentence.predicates = [i == 1 for i in range(len(sentence.words))]
    assert again == expected


def test_other_sentence_boundaries_do_not_mix_up_ids(nlp):
    doc = to_doc([Record(words=["a", "b"], id="7", comments=["x"])], nlp.vocab)
    doc[1].is_sent_start = True
    assert [(s.id, s.comments) for s in from_doc(doc)] == [
        ("7.1", []),
        ("7.2", []),
    ]


def test_docs_are_merged_with_all_they_have(nlp, tmp_path):
    doc = to_doc(two_sentences()[:1], nlp.vocab)
    doc.ents = [Span(doc, 0, 1, label="ANIMAL")]
    doc.cats = {"loud": 1.0}
    doc.user_data["note"] = "kept"
    docbin.write_docs([doc, doc], tmp_path / "two.spacy")
    docs = list(docbin.read_docs(tmp_path / "two.spacy"))
    assert len(docs) == 2
    for each in docs:
        assert [ent.label_ for ent in each.ents] == ["ANIMAL"]
        assert each.cats == {"loud": 1.0} and each.user_data["note"] == "kept"
        assert len(each._.sdp) == 1


def test_words_that_are_not_in_the_text_are_refused():
    with pytest.raises(FormatError, match="does not match the word 'c' at character 2"):
        to_doc([Record(words=["a", "c"], text="ab")], Vocab())


@pytest.mark.parametrize("stored", [7, {"arcs": 1}, {"tokens": 1, "arcs": [[0]]}])
def test_user_data_that_is_no_graph_is_refused(nlp, tmp_path, stored):
    doc = nlp("Hello")
    doc.user_data["._.", "sdp", None, None] = stored
    docbin.write_docs([doc], tmp_path / "file.spacy")
    with pytest.raises(
        FormatError, match=r"Doc 1: the value of Doc\._\.sdp is not a graph"
    ):
        list(docbin.read(tmp_path / "file.spacy"))


@pytest.mark.parametrize(
    ("arc", "message"),
    [
        ((1, 0, "A"), r"the arc from '\\n' \(token 1\) to 'Dogs' .* between words"),
        ((2, 1, "A"), r"the arc from 'bark' .* to '\\n' \(token 1\) .* between words"),
        ((-1, 1, "root"), r"the top '\\n' \(token 1\) is not a word"),
    ],
)
def test_no_whitespace_in_a_graph(nlp, arc, message):
    doc = nlp("Dogs\nbark")
    doc._.sdp = [arc]
    with pytest.raises(FormatError, match=message):
        list(from_doc(doc))
