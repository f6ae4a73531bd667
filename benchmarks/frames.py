"""How accurate are predicted frames, and how accurate is the most frequent frame?

    python benchmarks/frames.py --train train.spacy --test test.spacy ood.spacy

The baseline is the most frequent frame of a lemma and tag in the training data, or of
the tag. Lemmas and tags are those of the pipeline, whose own frames are scored as well
if it predicts them. Tokens are those of the data. A second table says what is wrong
with the wrong frames.

    python benchmarks/frames.py --count --train train.spacy --test test.spacy ood.spacy

counts the frames of corpora in any format, without a pipeline.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from common import RESULTS, find_parser, prepare, read_docs, write_json, write_markdown
from spacy.language import Language
from spacy.tokens import Doc, Token
from spacy.util import minibatch

from spacy_sdp import formats

KINDS = ("all", "predicates", "verbs")
# How often a frame must be in the training data to count as known.
OFTEN = 2
# What can be wrong with a frame. The first that applies is counted.
MISTAKES = (
    "word outside the graph",
    "frame not in training",
    "kind of word",
    "sense",
    "number of arguments",
    "types of arguments",
)


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


def describe(counts: Counter[str], known: Counter[str]) -> dict[str, Any]:
    """Describe how many frames a corpus has, and how rare they are.

    counts (Counter[str]): How often the corpus has each frame.
    known (Counter[str]): The same of the training data.
    RETURNS (Dict[str, Any]): The number of words with a frame and of different frames,
        the share of those that occur once, and the share of words whose frame occurs in
        training at least once, and often enough.
    """
    total = counts.total()

    def coverage(least: int) -> float:
        words = sum(n for frame, n in counts.items() if known[frame] >= least)
        return words / total

    return {
        "words": total,
        "types": len(counts),
        "singletons": sum(n == 1 for n in counts.values()) / len(counts),
        "seen": coverage(1),
        "seen_often": coverage(OFTEN),
        "most_frequent": counts.most_common(10),
    }


def count_frames(paths: Iterable[Path]) -> Counter[str]:
    """RETURNS (Counter[str]): How often files in any format have each frame."""
    return Counter(
        frame
        for path in paths
        for sentence in formats.read(path)
        for frame in sentence.frames
        if frame
    )


def find_mistake(frame: str, found: str | None, known: Counter[str]) -> str:
    """Find out what is wrong with a frame.

    frame (str): The gold frame, such as `v_up:e-x-x`: the kind of word and the sense,
        and after the colon the types of the word and of its arguments.
    found (Optional[str]): The wrong frame, or None.
    known (Counter[str]): The frames of the training data.
    RETURNS (str): One of MISTAKES.
    """
    if found is None:
        return MISTAKES[0]
    if not known[frame]:
        return MISTAKES[1]
    (sense, _, types), (other_sense, _, other_types) = (
        each.partition(":") for each in (frame, found)
    )
    differences = (
        sense.split("_")[0] != other_sense.split("_")[0],
        sense != other_sense,
        types.count("-") != other_types.count("-"),
        True,
    )
    return MISTAKES[2 + differences.index(True)]


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


def confusions(docs: list[Doc], guess: Guess) -> Counter[tuple[str, str | None]]:
    """RETURNS (Counter[tuple]): How often a frame is mistaken for another, or None."""
    pairs = ((frame, guess(token)) for token, frame in gold_frames(docs))
    return Counter((frame, found) for frame, found in pairs if frame != found)


def classify(
    confused: Counter[tuple[str, str | None]], known: Counter[str]
) -> dict[str, int]:
    """RETURNS (Dict[str, int]): How often each of MISTAKES occurs."""
    counts = dict.fromkeys(MISTAKES, 0)
    for (frame, found), number in confused.items():
        counts[find_mistake(frame, found, known)] += number
    return counts


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """RETURNS (List[str]): The lines of a table in Markdown."""
    header = list(header)
    lines = [header, ["---"] * len(header), *rows]
    return [f"| {' | '.join(cells)} |" for cells in lines]


def print_counts(train: list[Path], test: list[Path]) -> None:
    """Print how many frames corpora have, and how many of them training covers."""
    known = count_frames(train)
    corpora = {"training": known} | {path.name: count_frames([path]) for path in test}
    rows = []
    for name, counts in corpora.items():
        if not counts:
            sys.exit(f"{name}: there are no frames")
        row = describe(counts, known)
        shares = [f"{100 * row[each]:.1f}%" for each in ("singletons", "seen_often")]
        if counts is known:
            shares[1] = ""
        rows.append([name, f"{row['words']:,}", f"{row['types']:,}", *shares])
    header = ("data", "words", "frames", "occur once", f"{OFTEN}+ times in training")
    print("\n".join(table(header, rows)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="en_sdp_dm_sm")
    parser.add_argument("--train", type=Path, nargs="+", required=True)
    parser.add_argument("--test", type=Path, nargs="+", default=[])
    parser.add_argument("--count", action="store_true", help="only count frames")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    if args.count:
        print_counts(args.train, args.test)
        return
    if not args.test:
        parser.error("--test is required without --count")
    nlp = prepare(args)
    train = [doc for path in args.train for doc in read_docs(nlp, path)]
    known = Counter(frame for _, frame in gold_frames(train))
    if not known:
        parser.error("the training data have no frames")
    baseline = MostFrequent(train)
    results: dict[str, Any] = {"train": describe(known, known)}
    rows, mistake_rows = [], []
    for path in args.test:
        docs = read_docs(nlp, path)
        guesses: dict[str, Guess] = {"most frequent": baseline}
        if find_parser(nlp).frames:
            guesses[args.model] = parse_frames(nlp, docs)
        accuracy = {name: score(docs, guess) for name, guess in guesses.items()}
        confused = {name: confusions(docs, guess) for name, guess in guesses.items()}
        mistakes = {name: classify(each, known) for name, each in confused.items()}
        counts = Counter(frame for _, frame in gold_frames(docs))
        results[path.name] = {
            **describe(counts, known),
            "accuracy": accuracy,
            "mistakes": mistakes,
            "most_frequent_mistakes": {
                name: each.most_common(20) for name, each in confused.items()
            },
        }
        for name in guesses:
            shares, numbers = accuracy[name], mistakes[name]
            cells = [100 * shares.get(kind, 0.0) for kind in KINDS]
            rows.append([path.name, name, *(f"{cell:.2f}" for cell in cells)])
            total = sum(numbers.values())
            cells = [100 * number / max(total, 1) for number in numbers.values()]
            mistake_rows.append(
                [path.name, name, str(total), *(f"{cell:.1f}%" for cell in cells)]
            )
    names = ("test data", "frames")
    lines = [
        *table((*names, "all", "of predicates", "of verbs"), rows),
        "",
        *table((*names, "wrong", *MISTAKES), mistake_rows),
    ]
    print("\n".join(lines))
    write_json(args.out / "frames.json", results)
    write_markdown(args.out / "frames.md", lines)


if __name__ == "__main__":
    main()
