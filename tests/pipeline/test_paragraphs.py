import re

import pytest
import spacy
from spacy.tokens import Doc

import spacy_sdp


@pytest.fixture
def split(nlp):
    """Sentences of a text that has been split after stops, however it goes on."""
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("sdp_paragraphs")
    return lambda text: [sentence.text for sentence in nlp(text).sents]


def test_a_blank_line_ends_a_sentence(split):
    text = "A heading\n\nMice sleep. Cats\neat\n \n\nmice"
    assert split(text) == ["A heading\n\n", "Mice sleep.", "Cats\neat\n \n\n", "mice"]


def test_whitespace_begins_no_sentence_but_the_first(nlp):
    doc = nlp("  \n Mice sleep.\n\nCats \n\n")
    assert [token.text for token in doc if token.is_space] == ["  \n ", "\n\n", "\n\n"]
    for token in doc:
        token.is_sent_start = True
    nlp.add_pipe("sdp_paragraphs")
    doc = nlp(doc)
    assert [sentence[0].text for sentence in doc.sents] == [
        "  \n ",
        "sleep",
        ".",
        "Cats",
    ]


@pytest.mark.parametrize(
    "found, expected",
    [
        # Closing marks are left to the sentence before, opening ones are not.
        ('He said: "Go.|" |She went.', ['He said: "Go."', "She went."]),
        ("It ended. “|Very sorry.”", ["It ended.", "“Very sorry.”"]),
        ('It ended. (|"Very" was said.)', ["It ended.", '("Very" was said.)']),
        ("It ended. (|$5 were lost.)", ["It ended.", "($5 were lost.)"]),
        ("Mice sleep.|)", ["Mice sleep.)"]),
        # What is apart from what was before it stays, and so does what cannot be told.
        ("Mice sleep. |— Cats eat.", ["Mice sleep.", "— Cats eat."]),
        ("Mice sleep.|Cats eat.", ["Mice sleep.", "Cats eat."]),
        ("他说。“好。”|她走了。", ["他说。“好。”", "她走了。"]),
    ],
)
def test_marks_stay_with_what_they_are_written_together_with(found, expected, nlp):
    tokens = re.findall(r"(\|?)(\w+|[^\w\s|])( ?)", found)
    bars, words, spaces = zip(*tokens, strict=True)
    doc = Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=list(map(bool, bars)))
    nlp.add_pipe("sdp_paragraphs")
    assert [sentence.text for sentence in nlp(doc).sents] == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("1. Open it.\n2) Sit down.", ["1. Open it.\n", "2) Sit down."]),
        ("Buy:\n- milk\n\n  •  eggs", ["Buy:\n", "- milk\n\n  ", "•  eggs"]),
        ("# Mice\nMice sleep.", ["# Mice\n", "Mice sleep."]),
        # Numbers, dashes and stars that mark nothing.
        (
            "She ate it all then in\n1999. It - she - ate\n-5 or *all*.",
            ["She ate it all then in\n1999.", "It - she - ate\n-5 or *all*."],
        ),
        ("Cats\n-", ["Cats\n-"]),
    ],
)
def test_items_of_lists_begin_sentences_and_keep_their_marks(text, expected, split):
    assert split(text) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        # A heading, and a list without marks.
        ("Mice\r\nA mouse eats.", ["Mice\r\n", "A mouse eats."]),
        ("Tea\nCake\n5 eggs and milk", ["Tea\n", "Cake\n", "5 eggs and milk"]),
        # Lines that end at a margin, even before a name.
        (
            "In May, a cat met\nAnna in a park in\nBerlin. She slept.\nBen did not.",
            [
                "In May, a cat met\nAnna in a park in\nBerlin.",
                "She slept.\n",
                "Ben did not.",
            ],
        ),
        # Lines that are too long to end at a margin.
        ("mice " * 30 + "\nMice", ["mice " * 30 + "\n", "Mice"]),
        # A sentence that goes on.
        ("Cats eat\nmice and other animals", ["Cats eat\nmice and other animals"]),
    ],
)
def test_a_line_break_ends_a_sentence_unless_the_line_is_wrapped(text, expected, split):
    assert split(text) == expected


def test_texts_without_boundaries_stay_as_they_are(nlp):
    nlp.add_pipe("sdp_paragraphs")
    assert not nlp("Mice sleep.\n\nCats eat.").has_annotation("SENT_START")
    assert len(nlp("")) == 0


def test_sentences_of_a_tree_stay_as_they_are(nlp):
    nlp.add_pipe("sdp_paragraphs")
    words = ["Mice", "\n\n", "sleep"]
    tree = Doc(nlp.vocab, words=words, heads=[2, 0, 2], deps=["nsubj", "", "root"])
    assert [len(sentence) for sentence in nlp(tree).sents] == [3]


@pytest.mark.parametrize("name", ["en_sdp_dm_sm", "en_sdp_dm_md"])
def test_pipelines_read_letters(name):
    pytest.importorskip(name, reason=f"{name} is not installed")
    nlp = spacy.load(name)
    doc = nlp("Hi Bob,\n\nthe cat sleeps. It wants to eat.\n")
    assert [sentence[0].text for sentence in doc.sents] == ["Hi", "the", "It"]
    sentences = list(spacy_sdp.split_sents(doc))
    assert [str(top) for each in sentences[1:] for top in each._.sdp.tops] == [
        "sleeps",
        "wants",
    ]
    docs = list(nlp.pipe(["The cat sleeps.", "", " \n "]))
    assert [len(doc._.sdp.tops) for doc in docs] == [1, 0, 0]


@pytest.mark.parametrize("name", ["en_sdp_dm_sm", "en_sdp_dm_md"])
def test_pipelines_read_dialogue(name):
    pytest.importorskip(name, reason=f"{name} is not installed")
    doc = spacy.load(name)('"Come in," he said. "We were waiting." She sat down.')
    assert [sentence.text for sentence in doc.sents] == [
        '"Come in," he said.',
        '"We were waiting."',
        "She sat down.",
    ]
