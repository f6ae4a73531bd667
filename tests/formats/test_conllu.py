"""CoNLL-U with enhanced dependencies."""

import re

import pytest
from spacy.training import Example
from util import add_parser, train

from spacy_sdp.formats import FormatError, Record, conllu, docbin, sdp
from spacy_sdp.formats.bridge import from_doc, to_doc

# Multiword tokens, an empty node, labels with colons, two labels on one pair, features
# in the order of UD, a missing space, an unusual space, comments in any order.
FILE = """\
# newdoc id = letters
# sent_id = l-1
# a remark
# text = Kim can't read\N{NO-BREAK SPACE}books and Lee papers.
1	Kim	Kim	PROPN	NNP	Number=Sing	4	nsubj	4:nsubj	_
2-3	can't	_	_	_	_	_	_	_	_
2	ca	can	AUX	MD	VerbForm=Fin	4	aux	4:aux	_
3	n't	not	PART	RB	_	4	advmod	4:advmod	_
4	read	read	VERB	VB	VerbForm=Inf	0	root	0:root	SpacesAfter=\\u00A0
5	books	book	NOUN	NNS	Number=Plur|NumForm=Word	4	obj	4:obj|4:topic	_
6	and	and	CCONJ	CC	_	7	cc	7.1:cc	_
7	Lee	Lee	PROPN	NNP	Number=Sing	4	conj	7.1:nsubj	_
7.1	read	read	VERB	VB	VerbForm=Inf	_	_	4:conj:and	CopyOf=4
8	papers	paper	NOUN	NNS	Number=Plur	7	orphan	7.1:obj	SpaceAfter=No
9	.	.	PUNCT	.	_	4	punct	4:punct	_

# sent_id = l-2
# text = _
1	_	_	SYM	_	_	0	root	0:root	_

"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.conllu"


def read(path, text):
    path.write_bytes(text.encode())
    return list(conllu.read(path))


def test_reading_keeps_every_column(path):
    first, second = read(path, FILE)
    assert first.words == [
        "Kim",
        "ca",
        "n't",
        "read",
        "books",
        "and",
        "Lee",
        "papers",
        ".",
    ]
    assert first.id == "l-1" and first.comments[0] == " newdoc id = letters"
    assert first.text == "Kim can't read\N{NO-BREAK SPACE}books and Lee papers."
    assert first.pos[:4] == ["PROPN", "AUX", "PART", "VERB"]
    assert first.tags[:4] == ["NNP", "MD", "RB", "VB"]
    assert first.lemmas[1:3] == ["can", "not"]
    assert first.morphs[4] == "Number=Plur|NumForm=Word"
    assert first.heads == [3, 3, 3, -1, 3, 6, 3, 6, 3]
    assert first.deps[7] == "orphan"
    assert first.tops == [3]
    assert sorted(first.arcs) == [
        (3, 0, "nsubj"),
        (3, 1, "aux"),
        (3, 2, "advmod"),
        (3, 4, "obj|topic"),
        (3, 5, "conj:and>cc"),
        (3, 6, "conj:and>nsubj"),
        (3, 7, "conj:and>obj"),
        (3, 8, "punct"),
    ]
    assert second.words == ["_"] and second.lemmas == [] and second.text == "_"


def through_spacy(sentences, tmp_path):
    docbin.write(sentences, tmp_path / "file.spacy")
    return docbin.read(tmp_path / "file.spacy")


def test_round_trips_keep_every_byte(path, tmp_path):
    sentences = read(path, FILE)
    conllu.write(sentences, path)
    assert path.read_bytes().decode() == FILE
    conllu.write(through_spacy(sentences, tmp_path), path)
    assert path.read_bytes().decode() == FILE


def test_empty_nodes_go_with_the_graph_that_they_belong_to(nlp, path):
    (first, _) = read(path, FILE)
    doc = to_doc([first], nlp.vocab)
    assert len(next(from_doc(doc)).empty_nodes) == 1
    doc._.sdp = [(3, 0, "nsubj"), (-1, 3, "root")]
    (sentence,) = from_doc(doc)
    assert sentence.empty_nodes == [] and sentence.multiword_tokens
    assert "7.1" not in conllu.format_sentence(sentence)


def test_round_trips_keep_several_sentences_in_a_doc(path, tmp_path):
    sentences = read(path, FILE)
    sentences[1].starts_document = False
    again = list(through_spacy(sentences, tmp_path))
    assert [sentence.starts_document for sentence in again] == [True, False]
    conllu.write(again, path)
    assert path.read_bytes().decode() == FILE


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_round_trips_keep_every_byte_of_the_english_web_treebank(
    shared_data, path, tmp_path, split
):
    source = shared_data / "ud_english_ewt" / f"en_ewt-ud-{split}.conllu"
    conllu.write(conllu.read(source), path)
    assert path.read_bytes() == source.read_bytes()
    conllu.write(through_spacy(conllu.read(source), tmp_path), path)
    assert path.read_bytes() == source.read_bytes()


def test_docs_have_the_true_text_and_the_tree(nlp, path):
    first, second = read(path, FILE)
    doc = to_doc([first], nlp.vocab)
    assert doc.text == first.text
    assert [token.text for token in doc if token.is_space] == ["\N{NO-BREAK SPACE}"]
    assert [str(token) for token in doc if token.head.text == "read"] == [
        *("Kim", "ca", "n't", "read", "\N{NO-BREAK SPACE}", "books", "Lee", "."),
    ]
    assert doc[3].pos_ == "VERB" and doc[5].morph.get("Number") == ["Plur"]
    assert [arc.dep.text for arc in doc._.sdp.args(doc[3])][3] == "books"
    assert to_doc([second], nlp.vocab).text == "_"


def test_a_text_with_contractions_is_not_made_up(path):
    (sentence,) = read(
        path,
        "# text = Il va au lit.\n"
        "1\tIl\til\tPRON\t_\t_\t2\tnsubj\t2:nsubj\t_\n"
        "2\tva\taller\tVERB\t_\t_\t0\troot\t0:root\t_\n"
        "3-4\tau\t_\t_\t_\t_\t_\t_\t_\t_\n"
        "3\tà\tà\tADP\t_\t_\t5\tcase\t5:case\t_\n"
        "4\tle\tle\tDET\t_\t_\t5\tdet\t5:det\t_\n"
        "5\tlit\tlit\tNOUN\t_\t_\t2\tobl\t2:obl:à\tSpaceAfter=No\n"
        "6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t2:punct\t_\n\n",
    )
    # "au" is no word of its own, so the words have no text, and the Doc no spaces.
    assert sentence.text is None
    lines = conllu.format_sentence(sentence).splitlines()
    assert lines[0] == "# text = Il va au lit."
    assert lines[4] == "3-4\tau" + "\t_" * 8


def test_graphs_of_other_formats_can_be_written(nlp, tmp_path):
    nlp.add_pipe("sentencizer")
    doc = nlp("Dogs  bark. Cats, too.")
    doc._.sdp = [(2, 0, "ARG1"), (-1, 2, "root"), (6, 4, "a>b|c")]
    lines = [conllu.format_sentence(s, 7) for s in from_doc(doc)]
    assert lines[0].splitlines() == [
        "# sent_id = 7",
        "# text = Dogs bark.",
        "1\tDogs\t_\t_\t_\t_\t_\t_\t2:ARG1\t_",
        "2\tbark\t_\t_\t_\t_\t_\t_\t0:root\tSpaceAfter=No",
        "3\t.\t_\t_\t_\t_\t_\t_\t_\t_",
        "",
    ]
    assert lines[1].splitlines()[2:6] == [
        "0.1\t_\t_\t_\t_\t_\t_\t_\t3:a\t_",
        "1\tCats\t_\t_\t_\t_\t_\t_\t0.1:b|3:c\tSpaceAfter=No",
        "2\t,\t_\t_\t_\t_\t_\t_\t_\t_",
        "3\ttoo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No",
    ]


def test_composite_labels_survive_an_sdp_file(path, tmp_path):
    (first, _) = read(path, FILE)
    sdp.write([first], tmp_path / "file.sdp")
    (again,) = sdp.read(tmp_path / "file.sdp")
    assert again.id == "l-1" and sorted(again.arcs) == sorted(first.arcs)
    lines = conllu.format_sentence(again).splitlines()
    assert lines[:4] == FILE.splitlines()[:4] or "# sent_id = l-1" in lines[:4]
    rows = {line.split("\t")[0]: line.split("\t") for line in lines if "\t" in line}
    assert rows["5"][8] == "4:obj|4:topic"
    assert rows["5.1"][8] == "4:conj:and" and rows["8"][8] == "5.1:obj"


ENTRY = re.compile(r"(\d+(?:\.\d+)?):([^\s|:0-9][^\s|]*)")


def check_deps(text):
    """Check every DEPS field of a file without our own reader; RETURNS their number."""
    fields = 0
    for block in text.strip("\n").split("\n\n"):
        rows = [line.split("\t") for line in block.split("\n") if line[0] != "#"]
        nodes = {"0", *(cells[0] for cells in rows if "-" not in cells[0])}
        for cells in rows:
            assert len(cells) == 10
            if "-" in cells[0] or cells[8] == "_":
                continue
            keys = []
            for entry in cells[8].split("|"):
                head, label = ENTRY.fullmatch(entry).groups()
                assert head in nodes and head != cells[0]
                assert (head == "0") == (label == "root")
                keys.append(([int(n) for n in head.split(".")], label))
            assert keys == sorted(keys) and len(set(map(str, keys))) == len(keys)
            fields += 1
    return fields


def test_a_parser_learns_composite_labels_and_writes_them_unfolded(nlp, path):
    reference = to_doc(read(path, FILE)[:1], nlp.vocab)
    examples = [Example(nlp.make_doc(reference.text), reference)]
    add_parser(nlp, examples)
    train(nlp, examples, steps=40)
    conllu.write(from_doc(nlp(reference.text)), path)
    text = path.read_text()
    assert check_deps(text) == 10
    found = {cells[0]: cells[8] for cells in map(str.split, text.splitlines()[2:-1])}
    # The empty node is a new one, before the first word that needs it.
    assert found["5.1"] == "4:conj:and" and found["8"] == "5.1:obj"
    assert found["5"] == "4:obj|4:topic"


def row(*, at=1, **cells):
    names = ["form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"]
    values = {"form": f"w{at}", **cells}
    return "\t".join([str(at), *(values.get(name, "_") for name in names)])


def tree(at, head):
    return row(at=at, head=str(head), deprel="dep")


@pytest.mark.parametrize(
    "lines, line, reason",
    [
        (["# sent_id = 1"], 1, "the sentence has no words"),
        (["1\tw"], 1, r"2 columns, expected 10 \(ID FORM .* separated by tabs"),
        ([row(lemma="")], 1, "the column LEMMA is empty; write _ instead"),
        ([row(), row(at=3)], 2, "ID is '3', expected 2"),
        ([row(at=0)], 1, "ID is '0', expected 1"),
        ([row(at="1.1")], 1, "ID is '1.1', expected 1"),
        ([row(at="0.2"), row()], 1, "the empty node is 0.2, expected 0.1"),
        ([row(at="0.1")], 1, "the sentence has no words"),
        ([row(at="2-3"), row()], 1, "2-3 does not start at the next word, 1"),
        ([row(at="1-2"), row(), row(at="2-3")], 3, "overlaps with another one"),
        ([row(at="1-2"), row()], 2, "ends at word 2, but the sentence has 1 words"),
        ([row(upos="NN")], 1, "'NN' is not a universal part of speech; .* XPOS"),
        ([row(feats="Sing")], 1, "FEATS is 'Sing', expected Name=Value"),
        ([row(head="x")], 1, "HEAD is 'x', expected the number of a word or 0"),
        ([row(head="0")], 1, "the word has a HEAD but no DEPREL"),
        (
            [row(head="0", deprel="root"), row(at=2)],
            2,
            "HEAD is '_', expected .* for all words",
        ),
        ([row(head="2")], 1, "HEAD is 2, but the sentence has 1 words"),
        ([tree(1, 0), tree(2, 0)], 1, "2 words have the HEAD 0"),
        (
            [tree(1, 0), tree(2, 3), tree(3, 2)],
            2,
            "word 2 is in a cycle in the column HEAD",
        ),
        ([row(deps="0")], 1, "'0' in DEPS has no label; expected head:label"),
        ([row(deps="2:obj")], 1, "'2:obj' in DEPS has a head that is not a node"),
        ([row(deps="1:obj")], 1, "'1:obj' in DEPS is a self-loop"),
        ([row(deps="0:obj")], 1, "has the head 0, so its label must be root"),
        ([row(deps="0:root|0:root")], 1, "duplicate entries"),
        (
            [row(deps="0:root|1.1:obj"), row(at="1.1", deps="0:root")],
            1,
            "word 1 is a root twice",
        ),
    ],
)
def test_broken_files_are_refused(path, lines, line, reason):
    with pytest.raises(FormatError, match=reason) as error:
        read(path, "\n".join(lines) + "\n\n")
    assert str(error.value).startswith(f"{path}, line {line}: ")


@pytest.mark.parametrize(
    "sentence, reason",
    [
        (
            Record(words=["a\tb"]),
            "word 1: 'a\\tb' is not a valid value for the column FORM",
        ),
        (Record(words=["a"], tags=["\n"]), "is not a valid value for the column XPOS"),
        (Record(words=["a"], comments=["x\ny"]), "is not a valid comment"),
    ],
)
def test_what_the_format_cannot_hold_is_not_written(path, sentence, reason):
    with pytest.raises(FormatError, match=re.escape(reason)):
        conllu.write([sentence], path)
    assert not path.exists()
