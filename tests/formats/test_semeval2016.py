"""Chinese semantic dependencies, a token on several lines."""

import re

import pytest

from spacy_sdp.formats import FormatError, Record, semeval2016
from spacy_sdp.formats.bridge import from_doc, to_doc

# "The little cat wants to eat fish.": the cat has two heads.
FILE = """\
1	小	小	JJ	JJ	_	2	Desc	_	_
2	猫	猫	NN	NN	_	3	Exp	_	_
2	猫	猫	NN	NN	_	4	Agt	_	_
3	想	想	VV	VV	_	0	Root	_	_
4	吃	吃	VV	VV	_	3	dCont	_	_
5	鱼	鱼	NN	NN	_	4	Pat	_	_
5	鱼	鱼	NN	NN	_	4	Prod	_	_
6	。	。	PU	PU	_	_	_	_	_

1	好	好	VA	VA	_	0	Root	_	_

"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.conll"


def read(path, text):
    path.write_text(text)
    return list(semeval2016.read(path))


def test_reading_joins_the_lines_of_a_word(path):
    first, second = read(path, FILE)
    assert first == Record(
        words=["小", "猫", "想", "吃", "鱼", "。"],
        lemmas=["小", "猫", "想", "吃", "鱼", "。"],
        tags=["JJ", "NN", "VV", "VV", "NN", "PU"],
        arcs=[
            (1, 0, "Desc"),
            (2, 1, "Exp"),
            (3, 1, "Agt"),
            (2, 3, "dCont"),
            (3, 4, "Pat|Prod"),
        ],
        tops=[2],
    )
    assert second.words == ["好"] and second.tops == [0]


def test_files_are_written_as_they_were_read(path):
    semeval2016.write(read(path, FILE), path)
    assert path.read_text() == FILE


def test_docs_keep_the_graph(nlp, path):
    first = read(path, FILE)[0]
    (again,) = from_doc(to_doc([first], nlp.vocab))
    assert sorted(again.arcs) == sorted(first.arcs) and again.tags == first.tags


def row(number=1, form="w", head="_", label="_"):
    return f"{number}\t{form}\t_\t_\t_\t_\t{head}\t{label}\t_\t_"


@pytest.mark.parametrize(
    "lines, line, reason",
    [
        (["1 w"], 1, "1 columns, expected 10 (ID FORM LEMMA"),
        ([row(form="")], 1, "the column FORM is empty"),
        ([row(2)], 1, "ID is '2', expected 1"),
        ([row(), row(2), row(1)], 3, "ID is '1', expected 3, or 2 for another head"),
        ([row(), row(form="x")], 2, "word 1 is 'x', but was 'w' before"),
        ([row(head="1")], 1, "HEAD and DEPREL must both be set, or neither"),
        ([row(head="x", label="A")], 1, "HEAD is 'x', expected the number"),
        ([row(head="0", label="A")], 1, "the head 0 with the label 'A'; expected Root"),
        ([row(head="0", label="Root")] * 2, 2, "expected Root, once"),
        ([row(head="1", label="A")], 1, "1 -A-> 1 is a self-loop or a duplicate"),
        ([row(head="2", label="A")] * 2, 2, "2 -A-> 1 is a self-loop or a duplicate"),
        (
            [row(head="2", label="A")],
            1,
            "word 1 has the head 2, but the sentence has 1",
        ),
    ],
)
def test_broken_files_are_refused(path, lines, line, reason):
    with pytest.raises(FormatError, match=re.escape(reason)) as error:
        read(path, "\n".join(lines) + "\n")
    assert str(error.value).startswith(f"{path}, line {line}: ")


def test_what_the_format_cannot_hold_is_not_written(path):
    with pytest.raises(
        FormatError, match="sentence 1: '' of word 1 is not a valid value"
    ):
        semeval2016.write([Record(words=[""])], path)
    assert not path.exists()
