"""The pipelines understand what people type first."""

from collections import Counter
from pathlib import Path

import pytest
import spacy

TEXT = Path(__file__).with_name("everyday.txt")


def read_sentences():
    """RETURNS the sentences, each with the arcs that it must have."""
    sentences = {}
    arcs = []
    for line in TEXT.read_text(encoding="utf8").splitlines():
        if line.startswith("\t"):
            arcs.append(line.strip())
        elif line and not line.startswith("#"):
            sentences[line] = arcs = []
    return sentences


def to_arcs(doc):
    """RETURNS the arcs of a Doc as they are written in the file."""
    counts = Counter()
    names = []
    for token in doc:
        counts[token.text] += 1
        number = counts[token.text]
        names.append(token.text if number == 1 else f"{token.text}@{number}")
    graph = doc._.sdp
    arcs = {f"{names[arc.head.i]} {arc.label} {names[arc.dep.i]}" for arc in graph}
    return arcs | {f"top {names[top.i]}" for top in graph.tops}


@pytest.mark.parametrize(
    "name, share", [("en_sdp_dm_sm", 0.88), ("en_sdp_dm_md", 0.95)]
)
def test_everyday_sentences_have_the_arcs_that_matter(name, share):
    sentences = read_sentences()
    assert len(sentences) >= 120
    nlp = spacy.load(name)
    missing = [
        f"{doc.text}: {arc}"
        for doc, arcs in zip(nlp.pipe(sentences), sentences.values(), strict=True)
        for arc in arcs
        if arc not in to_arcs(doc)
    ]
    total = sum(map(len, sentences.values()))
    assert len(missing) <= (1 - share) * total, "\n".join(missing)
