from collections import Counter
from pathlib import Path

import pytest
import spacy

from spacy_sdp import explain
from spacy_sdp.formats import sdp
from spacy_sdp.graph.labels import LABELS, to_markdown

READING = Path(__file__).parents[2] / "docs" / "reading.md"


def test_the_documentation_has_the_table():
    if not READING.exists():
        pytest.skip("needs a checkout")
    assert f"\n{to_markdown()}\n" in READING.read_text(encoding="utf8")


def test_every_name_is_explained():
    assert explain("ARG4") == explain("ARG3")
    assert explain("poss") == (
        "possessive → what is owned (Her → cup: Her cup is empty.)"
    )
    with pytest.warns(
        UserWarning, match="No description found for the label 'ACT-arg'"
    ):
        assert explain("ACT-arg") is None


def test_the_shipped_parser_finds_every_example():
    pytest.importorskip("en_sdp_dm_md", reason="en_sdp_dm_md is not installed")
    nlp = spacy.load("en_sdp_dm_md")
    for label, doc in zip(LABELS, nlp.pipe(each.text for each in LABELS), strict=True):
        triple = (label.example[0], label.names[0], label.example[1])
        assert triple in [tuple(each) for each in doc._.sdp.triples()], doc


def test_labels_are_complete_and_point_where_those_of_the_corpus_do(shared_data):
    counts, leftwards = Counter(), Counter()
    for sentence in sdp.read(shared_data / "open_dm" / "wescience.train.dm.sdp"):
        for head, dep, label in sentence.arcs:
            counts[label] += 1
            leftwards[label] += head > dep
    explained = {name for label in LABELS for name in label.names}
    assert not {label for label, n in counts.items() if n >= 100} - explained
    for label in LABELS:
        head, dep = map(label.text.index, label.example)
        share = leftwards[label.names[0]] / counts[label.names[0]]
        # A few have no direction, or another one in clauses that follow.
        if not 0.1 < share < 0.9:
            assert (share > 0.5) == (head > dep), label
