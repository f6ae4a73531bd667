import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import DocBin

from spacy_sdp import formats
from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import FormatError, Record, docbin, sdp
from spacy_sdp.formats.bridge import from_doc
from spacy_sdp.graph.record import column

FILE_2015 = """#SDP 2015
#42
1	Dogs	dog	NNS	-	-	n:x	ARG1	ARG1
2	bark	bark	VBP	+	+	v:e-i	_	_
3	loudly	loudly	RB	-	+	a:e-e	_	_
4	.	_	.	-	-	_	_	_

#43
1	_	_	NN	+	+	_	_

"""

FILE_2014 = """#42
1	Dogs	dog	NNS	-	-	ARG1
2	bark	bark	VBP	+	+	_

"""


def write(path, text):
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def read(path, text):
    return list(sdp.read(write(path, text)))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.sdp"


def test_reading_keeps_every_column(path):
    first, second = read(path, FILE_2015)
    assert first == Record(
        id="42",
        words=["Dogs", "bark", "loudly", "."],
        lemmas=["dog", "bark", "loudly", None],
        tags=["NNS", "VBP", "RB", "."],
        tops=[1],
        predicates=[False, True, True, False],
        frames=["n:x", "v:e-i", "a:e-e", None],
        arcs=[(1, 0, "ARG1"), (2, 0, "ARG1")],
    )
    # A word may be an underscore, and a predicate may have no arguments.
    assert second.words == ["_"] and second.predicates == [True]
    assert second.lemmas == []


def test_the_format_of_2014_has_no_frames(path):
    (sentence,) = read(path, FILE_2014)
    assert sentence.arcs == [(1, 0, "ARG1")]
    assert sentence.tops == [1] and sentence.frames == []
    sdp.write([sentence], path)
    assert path.read_text().splitlines()[2] == "1\tDogs\tdog\tNNS\t-\t-\t_\tARG1"


def test_a_file_of_2015_may_lack_its_header(path):
    text = FILE_2015.removeprefix("#SDP 2015\n")
    assert read(path, text) == read(path, FILE_2015)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.rstrip("\n"),
        lambda text: text.rstrip("\n") + "\n",
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text.replace("\n\n", "\n\n\n\n"),
        lambda text: text + "# the end\n",
    ],
    ids=["no last line end", "no blank line", "CRLF", "BOM", "blank lines", "remark"],
)
def test_harmless_differences_are_accepted(path, change):
    assert read(path, change(FILE_2015)) == read(path, FILE_2015)


def test_extra_comments_are_kept(path):
    text = FILE_2015.replace("#42\n", "#42\n# source: none\n#two  spaces\n")
    first, _ = read(path, text)
    assert first.id == "42" and first.comments == [" source: none", "two  spaces"]
    sdp.write(sdp.read(path), path)
    assert path.read_text() == text
    before = FILE_2015.replace("#42\n", "#a remark\n#42\n")
    assert read(path, before)[0].id == "42"
    assert read(path, FILE_2015.replace("#42", "#wsj.1"))[0].id == "wsj.1"
    assert read(path, FILE_2015.replace("#42", "#wsj.1\n#5"))[0].id == "wsj.1"
    assert (
        read(path, FILE_2015.replace("#42", "#remark\n#22000001"))[0].id == "22000001"
    )
    # An id of several words is still what tells one sentence from another.
    for name in (" sent 1", " 22000001"):
        text = FILE_2015.replace("#42", f"#{name}")
        assert read(path, text)[0].id == name
        sdp.write(sdp.read(path), path)
        assert path.read_text() == text
    late = "# made by hand\n" + FILE_2015
    assert [each.arcs for each in read(path, late)] == [
        each.arcs for each in read(path, FILE_2015)
    ]


def test_unusual_line_breaks_are_part_of_a_word(path):
    text = FILE_2015.replace("Dogs", "Do\u2028gs\x85")
    assert read(path, text)[0].words[0] == "Do\u2028gs\x85"


@pytest.mark.parametrize(
    "old, new, line, reason",
    [
        ("1\tDogs\tdog", "1\tDogs", 3, r"PRED is 'n:x', expected \+ or -"),
        ("1\tDogs\tdog\tNNS", "1 Dogs dog NNS", 3, "6 columns, expected at least 7"),
        ("\t_\t_\n3", "\t_\n3", 4, "1 argument columns, but the sentence has 2"),
        ("\t_\t_\n3", "\t_\t_\t_\n3", 4, "3 argument columns, but the sentence has 2"),
        ("+\t+\tv", "+\t-\tv", 3, "2 argument columns, but the sentence has 1"),
        ("3\tloudly", "4\tloudly", 5, "token id '4', expected 3"),
        ("1\tDogs", "0\tDogs", 3, "token id '0', expected 1"),
        ("1\tDogs", "x\tDogs", 3, "token id 'x', expected 1"),
        (".\t-\t-", ".\t-\t?", 6, r"PRED is '\?', expected \+ or -"),
        (".\t-\t-", ".\t*\t-", 6, r"TOP is '\*', expected \+ or -"),
        ("v:e-i\t_", "v:e-i\tARG1", 4, "a self-loop: 'bark' is its own 'ARG1'"),
        ("2\tbark", "2\t", 4, r"column 2 \(FORM\) is empty"),
        ("n:x\tARG1", "n:x\t", 3, r"column 8 \(argument\) is empty"),
        ("Dogs", b"Do\xe4gs", 3, r"not UTF-8 \(byte 5 of the line is 0xe4\)"),
        ("#43\n1\t_\t_\tNN\t+\t+\t_\t_\n", "#43\n", 8, "sentence 43 has no tokens"),
    ],
)
def test_broken_files_are_refused_with_line_and_reason(path, old, new, line, reason):
    old, new = (x if isinstance(x, bytes) else x.encode() for x in (old, new))
    assert FILE_2015.encode().count(old) >= 1
    write(path, FILE_2015.encode().replace(old, new, 1))
    output = path.with_suffix(".spacy")
    with pytest.raises(FormatError, match=reason) as caught:
        formats.write(formats.read(path), output)
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{path}, line {line}: ")
    assert os.listdir(path.parent) == [path.name]


def test_a_file_of_2014_under_a_header_of_2015_is_refused(path):
    with pytest.raises(FormatError, match="argument columns"):
        read(path, "#SDP 2015\n" + FILE_2014)


def test_writing_refuses_what_the_format_cannot_say(path):
    write(path, "as before")
    for sentence, reason in (
        (
            Record(["a", "b"], arcs=[(0, 1, "X"), (0, 1, "Y")], id="7"),
            r"sentence 7: two labels between 'a' and 'b' \(X, Y\)",
        ),
        (
            Record(["a\tb"]),
            r"file.sdp: sentence 1, token 1: 'a\\tb' is not a valid value .* FORM",
        ),
        (
            Record(["a", "b"], arcs=[(0, 1, "X\n")]),
            "is not a valid value for the column ARG",
        ),
    ):
        with pytest.raises(FormatError, match=reason):
            sdp.write([sentence], path)
        assert path.read_text() == "as before"
        assert os.listdir(path.parent) == [path.name]


CELL = st.text(
    st.characters(exclude_categories=("Cs",), exclude_characters="\t\n\r\0"), min_size=1
).filter(lambda cell: cell != "_")


@st.composite
def sentences(draw):
    size = draw(st.integers(1, 5))
    pairs = [(i, j) for i in range(size) for j in range(size) if i != j]
    arcs = [
        (*pair, draw(CELL))
        for pair in sorted(
            draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else [],
            key=lambda pair: pair[::-1],
        )
    ]
    heads = {head for head, _, _ in arcs}
    columns = st.lists(st.none() | CELL, min_size=size, max_size=size).map(column)
    return Record(
        words=draw(st.lists(CELL | st.just("_"), min_size=size, max_size=size)),
        arcs=arcs,
        tops=draw(st.sets(st.sampled_from(range(size))).map(sorted)),
        id=str(draw(st.integers(0))),
        lemmas=draw(columns),
        tags=draw(columns),
        frames=draw(columns),
        predicates=[i in heads or draw(st.booleans()) for i in range(size)],
    )


@given(st.lists(sentences(), max_size=3))
def test_sdp_files_keep_everything(tmp_path_factory, given_sentences):
    path = tmp_path_factory.mktemp("sdp") / "file.sdp"
    sdp.write(given_sentences, path)
    assert list(sdp.read(path)) == given_sentences


@given(st.lists(sentences(), max_size=3))
def test_docs_keep_everything(tmp_path_factory, given_sentences):
    path = tmp_path_factory.mktemp("docbin") / "file.spacy"
    docbin.write(given_sentences, path)
    again = list(docbin.read(path))
    for sentence in again:
        sentence.arcs.sort(key=lambda arc: (arc[1], arc[0]))
    assert again == given_sentences


def round_trip(path, tmp_path):
    """Through .sdp, and through .spacy."""
    sdp.write(sdp.read(path), tmp_path / "copy.sdp")
    docbin.write(sdp.read(path), tmp_path / "copy.spacy")
    sdp.write(docbin.read(tmp_path / "copy.spacy"), tmp_path / "again.sdp")
    expected = path.read_bytes()
    assert (tmp_path / "copy.sdp").read_bytes() == expected
    assert (tmp_path / "again.sdp").read_bytes() == expected


def test_round_trips_keep_every_byte_of_the_examples(tmp_path, path):
    round_trip(EXAMPLES, tmp_path)
    round_trip(write(path, FILE_2015), tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "sdp_sample/dm.sdp",
        "sdp_sample/psd.sdp",
        "open_dm/wescience.train.dm.sdp",
        "open_dm/wescience.dev.dm.sdp",
        "open_dm/wescience.test.dm.sdp",
        "open_dm/sherlock.ood.dm.sdp",
    ],
)
def test_round_trips_keep_every_byte_of_the_corpora(shared_data, tmp_path, name):
    round_trip(shared_data / name, tmp_path)


def test_docs_of_several_sentences_become_several_records(nlp):
    nlp.add_pipe("sentencizer")
    doc = nlp("Dogs bark.  \nCats sleep.")
    cats, sleep = (token.i for token in doc if token.text in ("Cats", "sleep"))
    doc._.sdp = [(1, 0, "ARG1"), (-1, 1, "root"), (sleep, cats, "ARG1")]
    first, second = from_doc(doc)
    assert first.words == ["Dogs", "bark", "."] and second.words == [
        "Cats",
        "sleep",
        ".",
    ]
    assert first.arcs == second.arcs == [(1, 0, "ARG1")]
    assert first.tops == [1] and second.tops == []


def test_whitespace_of_a_text_is_not_written(nlp, tmp_path):
    doc = nlp("Dogs  bark .\n")
    doc._.sdp = [(2, 0, "ARG1"), (-1, 2, "root")]
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "text.spacy")
    (sentence,) = docbin.read(tmp_path / "text.spacy")
    assert sentence.words == ["Dogs", "bark", "."] and sentence.arcs == [(1, 0, "ARG1")]


def test_docs_without_graph_are_refused(nlp, tmp_path):
    DocBin(docs=[nlp("Dogs bark.")]).to_disk(tmp_path / "lost.spacy")
    with pytest.raises(FormatError, match=r"lost.spacy: Doc 1: .*store_user_data=True"):
        list(docbin.read(tmp_path / "lost.spacy"))


def test_broken_spacy_files_are_refused(tmp_path):
    path = tmp_path / "broken.spacy"
    docbin.write(sdp.read(EXAMPLES), path)
    data = bytearray(path.read_bytes())
    random.Random(0).shuffle(data)
    for content in (b"", b"not one", bytes(data), path.read_bytes()[:100]):
        path.write_bytes(content)
        with pytest.raises(
            FormatError, match=r"broken\.spacy: not a valid .spacy file"
        ):
            list(docbin.read(path))
