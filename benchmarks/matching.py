"""How fast does the SemanticMatcher match many patterns?

    python benchmarks/matching.py

matches 50 patterns of three nodes in a graph of 100 words with three arguments each.
"""

from __future__ import annotations

import argparse
import random
import time
from statistics import median

import spacy
from spacy.tokens import Doc

from spacy_sdp import SemanticMatcher

LABELS = ("ARG1", "ARG2", "ARG3", "BV", "loc", "compound")


def make_doc(nlp: spacy.Language, size: int) -> Doc:
    words = [random.choice("abcdefgh") for _ in range(size)]
    doc = Doc(nlp.vocab, words=words)
    pairs = {(i, random.randrange(size)) for i in range(size) for _ in range(3)}
    doc._.sdp = [(h, d, random.choice(LABELS)) for h, d in sorted(pairs) if h != d]
    return doc


def make_pattern() -> dict:
    first, second = random.choices(LABELS, k=2)
    return {
        "nodes": {"act": {"LOWER": random.choice("abcdefgh")}, "who": {}, "what": {}},
        "arcs": [
            {"head": "act", "label": first, "dep": "who"},
            {"head": "act", "label": second, "dep": "what", "op": "?"},
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=100)
    parser.add_argument("--patterns", type=int, default=50)
    args = parser.parse_args()
    random.seed(0)
    nlp = spacy.blank("en")
    doc = make_doc(nlp, args.words)
    matcher = SemanticMatcher(nlp.vocab)
    for number in range(args.patterns):
        matcher.add(f"pattern {number}", [make_pattern()])
    seconds = []
    for _ in range(20):
        start = time.perf_counter()
        matches = matcher(doc)
        seconds.append(time.perf_counter() - start)
    print(
        f"{args.words} words, {len(doc._.sdp)} arcs, {args.patterns} patterns: "
        f"{len(matches)} matches in {1000 * median(seconds):.1f} ms"
    )


if __name__ == "__main__":
    main()
