"""How accurate are pipelines on different kinds of text, and of sentences?

    python benchmarks/kinds.py corpus/everyday/test en_sdp_dm_sm en_sdp_dm_md

prints the labelled F1 of each pipeline, including tops, on gold tokens: for each file
of a folder, for all files together, and for sentences with a question, coordination,
control, negation or a quotation, and sentences without a verb.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import spacy
from common import RESULTS, write_json, write_markdown
from spacy.language import Language
from spacy.tokens import Doc

from spacy_sdp.evaluation.metrics import score_sentences
from spacy_sdp.formats import Record, docbin
from spacy_sdp.formats.bridge import from_doc

QUOTATION_MARKS = set('"“”')
ARGUMENTS = {"ARG1", "ARG2", "ARG3", "ARG4"}


def has_control(sentence: Record) -> bool:
    """Check whether a predicate and its argument share one: *Tom wants to go*."""
    arguments = {
        (head, dep) for head, dep, label in sentence.arcs if label in ARGUMENTS
    }
    args_of: dict[int, set[int]] = {}
    for head, dep in arguments:
        args_of.setdefault(head, set()).add(dep)
    return any(args_of[head] & args_of.get(dep, set()) for head, dep in arguments)


PHENOMENA: dict[str, Callable[[Record], bool]] = {
    "questions": lambda each: "?" in each.words[-2:],
    "coordination": lambda each: any(label.endswith("_c") for *_, label in each.arcs),
    "control": has_control,
    "negation": lambda each: any(label == "neg" for *_, label in each.arcs),
    "quotations": lambda each: not QUOTATION_MARKS.isdisjoint(each.words),
    # Gold frames begin with the part of speech.
    "no verb": lambda each: (
        not any((frame or "").startswith("v:") for frame in each.frames)
    ),
}


def parse(nlp: Language, docs: list[Doc]) -> list[Record]:
    """Parse sentences with their own tokens.

    nlp (Language): The pipeline.
    docs (List[Doc]): The sentences. Their gold graphs are hidden from the pipeline.
    RETURNS (List[Record]): The sentences with predicted graphs.
    """
    inputs = []
    for doc in docs:
        words = [token.text for token in doc]
        spaces = [bool(token.whitespace_) for token in doc]
        starts = [token.i == 0 for token in doc]
        inputs.append(Doc(nlp.vocab, words, spaces, sent_starts=starts))
    return [record for doc in nlp.pipe(inputs) for record in from_doc(doc)]


def f1(gold: list[Record], system: list[Record]) -> float:
    return 100 * score_sentences(gold, system)["with_tops"]["LF"]


def score(nlp: Language, texts: dict[str, list[Doc]]) -> dict[str, float]:
    """Score a pipeline on all kinds of texts and of sentences.

    nlp (Language): The pipeline.
    texts (Dict[str, List[Doc]]): The sentences of each kind of text.
    RETURNS (Dict[str, float]): The F1 by kind.
    """
    scores: dict[str, float] = {}
    pairs: list[tuple[Record, Record]] = []
    for name, docs in texts.items():
        gold = [record for doc in docs for record in from_doc(doc)]
        system = parse(nlp, docs)
        scores[name] = f1(gold, system)
        pairs += zip(gold, system, strict=True)
    scores["all"] = f1(*map(list, zip(*pairs, strict=True)))
    for name, has_it in PHENOMENA.items():
        if some := [pair for pair in pairs if has_it(pair[0])]:
            scores[name] = f1(*map(list, zip(*some, strict=True)))
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("corpora", type=Path, help="folder of .spacy files")
    parser.add_argument("pipelines", nargs="+", help="packages or folders")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder for results")
    args = parser.parse_args()
    paths = sorted(args.corpora.glob("*.spacy"))
    if not paths:
        parser.error(f"there are no .spacy files in {args.corpora}")
    texts = {path.stem: list(docbin.read_docs(path)) for path in paths}
    scores = {name: score(spacy.load(name), texts) for name in args.pipelines}
    lines = ["| | " + " | ".join(scores) + " |", "|---" * (len(scores) + 1) + "|"]
    for kind in next(iter(scores.values())):
        cells = [f"{each[kind]:.1f}" for each in scores.values()]
        lines.append("| " + " | ".join([kind, *cells]) + " |")
    print("\n".join(lines))
    write_json(args.out / "kinds.json", scores)
    write_markdown(args.out / "kinds.md", lines)


if __name__ == "__main__":
    main()
