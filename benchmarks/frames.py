"""How accurate are predicted frames, and how accurate is the most frequent frame?

    python benchmarks/frames.py --train train.spacy --test test.spacy ood.spacy

The baseline is the most frequent frame of a lemma and tag in the training data, or of
the tag. Lemmas and tags are those of the pipeline, whose own frames are scored as well
if it predicts them. Tokens are those of the data.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from common import RESULTS, find_parser, prepare, read_docs, write_json, write_markdown
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.util import minibatch

FEW = (1, 2, 5, 10)
KINDS = ("all", "predicates", "verbs")


# What guesses the frame of a token, or None.
Guess = Callable[[Token], str | None]


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

    def __call__(self, token: Token) -> str:
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


def parse_frames(nlp: Language, docs: list[Doc]) -> Guess:
    """Predict frames with a pipeline.

    nlp (Language): The pipeline.
    docs (List[Doc]): Docs that its other components have processed.
    RETURNS (Callable[[Token], Optional[str]]): The frame of a token of these Docs.
    """
    parser = find_parser(nlp)
    parsed = [doc.copy() for doc in docs]
    for doc in parsed:
        doc._.sdp = None
    parser.set_annotations(
        parsed, [each for b in minibatch(parsed, 64) for each in parser.predict(b)]
    )
    graphs = {id(doc): each._.sdp for doc, each in zip(docs, parsed, strict=True)}
    return lambda token: graphs[id(token.doc)].frame(token.i)


def score(docs: list[Doc], guess: Guess) -> dict[str, float]:
    """Get the accuracy on all frames, on those of predicates and of verbs.

    docs (List[Doc]): The test data.
    guess (Callable[[Token], Optional[str]]): Guesses the frame of a token.
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
        if guess(token) == frame:
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
    baseline = MostFrequent(train)
    results: dict[str, Any] = {"train": describe(train, known)}
    rows = []
    for path in args.test:
        docs = read_docs(nlp, path)
        guesses: dict[str, Guess] = {"most frequent": baseline}
        if find_parser(nlp).frames:
            guesses[args.model] = parse_frames(nlp, docs)
        accuracy = {name: score(docs, guess) for name, guess in guesses.items()}
        results[path.name] = {**describe(docs, known), "accuracy": accuracy}
        for name, shares in accuracy.items():
            cells = (shares.get(kind, 0.0) for kind in KINDS)
            rows.append([path.name, name, *(f"{100 * cell:.2f}" for cell in cells)])
    lines = [
        "| test data | frames | all | of predicates | of verbs |",
        "|---|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows),
    ]
    print("\n".join(lines))
    write_json(args.out / "frames.json", results)
    write_markdown(args.out / "frames.md", lines)


if __name__ == "__main__":
    main()
