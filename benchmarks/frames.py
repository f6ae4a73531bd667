"""How accurate is the most frequent frame of a word?

    python benchmarks/frames.py --train train.spacy --test test.spacy ood.spacy

The baseline predicts the most frequent frame of a lemma and a tag in the training data,
or else that of the tag; a pipeline predicts lemmas and tags. Also counts the frames.
Both training and test data are read with gold tokens.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from common import RESULTS, prepare, read_docs, write_json, write_markdown
from spacy.tokens import Doc, Token

FEW = (1, 2, 5, 10)


class MostFrequent:
    """Predicts frames from lemma and tag."""

    def __init__(self, docs: Iterable[Doc]) -> None:
        """Count the frames.

        docs (Iterable[Doc]): Docs with lemmas, tags and gold graphs.
        """
        by_word: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for token, frame in gold_frames(docs):
            for key in keys(token):
                by_word[key][frame] += 1
        self._frames = {
            key: max(counts, key=lambda frame: (counts[frame], frame))
            for key, counts in by_word.items()
        }

    def guess(self, token: Token) -> str:
        """RETURNS (str): The frame."""
        return next(self._frames[key] for key in keys(token) if key in self._frames)


def keys(token: Token) -> list[tuple[str, ...]]:
    """RETURNS (List[Tuple[str, ...]]): The keys to count by, most specific first."""
    return [(token.lemma_, token.tag_), (token.tag_,), ()]


def gold_frames(docs: Iterable[Doc]) -> Iterator[tuple[Token, str]]:
    """YIELDS (Tuple[Token, str]): The tokens that have a frame, and the frame."""
    for doc in docs:
        for token in doc:
            if frame := doc._.sdp.frame(token):
                yield token, frame


def describe(docs: list[Doc], known: Counter[str]) -> dict[str, Any]:
    """Count the frames of a corpus, and the frames that the training data lack."""
    counts = Counter(frame for _, frame in gold_frames(docs))
    unseen = sum(count for frame, count in counts.items() if frame not in known)
    return {
        "tokens": counts.total(),
        "types": len(counts),
        **{f"types_at_most_{n}": sum(c <= n for c in counts.values()) for n in FEW},
        "unseen": unseen / counts.total(),
        "most_frequent": counts.most_common(10),
    }


def score(docs: list[Doc], model: MostFrequent) -> dict[str, float]:
    """Compute the accuracy on all frames, on those of predicates and of verbs.

    docs (List[Doc]): The test data.
    model (MostFrequent): The baseline.
    RETURNS (Dict[str, float]): The shares of correct frames.
    """
    right: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for token, frame in gold_frames(docs):
        kinds = ["all"]
        if token.doc._.sdp.is_predicate(token):
            kinds.append("predicates")
            if token.tag_.startswith("V"):
                kinds.append("verbs")
        total.update(kinds)
        if model.guess(token) == frame:
            right.update(kinds)
    return {kind: right[kind] / count for kind, count in total.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="en_sdp_dm_sm")
    parser.add_argument("--train", type=Path, nargs="+", required=True)
    parser.add_argument("--test", type=Path, nargs="+", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    nlp = prepare(args)
    train = [doc for path in args.train for doc in read_docs(nlp, path)]
    known = Counter(frame for _, frame in gold_frames(train))
    if not known:
        parser.error("the training data have no frames")
    model = MostFrequent(train)
    results: dict[str, Any] = {"train": describe(train, known)}
    rows = []
    for path in args.test:
        docs = read_docs(nlp, path)
        accuracy = score(docs, model)
        results[path.name] = {**describe(docs, known), "accuracy": accuracy}
        cells = (accuracy.get(kind, 0.0) for kind in ("all", "predicates", "verbs"))
        unseen = results[path.name]["unseen"]
        rows.append([path.name, *(f"{100 * cell:.2f}" for cell in (*cells, unseen))])
    lines = [
        "| test data | all frames | of predicates | of verbs | unseen |",
        "|---|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    print("\n".join(lines))
    write_json(args.out / "frames.json", results)
    write_markdown(args.out / "frames.md", lines)


if __name__ == "__main__":
    main()
