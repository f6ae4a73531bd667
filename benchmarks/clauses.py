"""How many clauses are right, and how many triples does textacy find?

    python benchmarks/clauses.py --model en_sdp_dm_md --triples triples.jsonl

The sentences are those of the tests, where the clauses of gold graphs equal those that
were written by hand. `benchmarks/textacy_triples.py` creates the file of triples.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import spacy
from common import RESULTS, write_json, write_markdown
from spacy.language import Language
from spacy.tokens import Doc

from spacy_sdp import formats
from spacy_sdp.formats.bridge import to_doc
from spacy_sdp.graph.clauses import Clause

TESTS = Path(__file__).parent.parent / "tests" / "graph"
# textacy includes these words in the verb; a clause has a field for them.
NEGATIONS = {"not", "n't", "never"}
SCORES = ("exact phrases", "heads", "heads, in any order")


def read_gold(nlp: Language) -> list[Doc]:
    """Read the sentences with their gold graphs and tags."""
    lines = (TESTS / "clauses.txt").read_text(encoding="utf8").splitlines()
    texts = [line.removeprefix("> ") for line in lines if line.startswith("> ")]
    docs = []
    for text, record in zip(texts, formats.read(TESTS / "clauses.sdp"), strict=True):
        doc, gold = nlp.make_doc(text), to_doc([record], nlp.vocab)
        for token, annotated in zip(doc, gold, strict=True):
            token.tag_, token.lemma_ = annotated.tag_, annotated.lemma_
        doc._.sdp = gold._.sdp
        docs.append(doc)
    return docs


def to_row(clause: Clause) -> tuple[str, str, str, bool]:
    """RETURNS (Tuple[str, str, str, bool]): Subject, verb, objects, negated."""
    objects = "; ".join(map(str, clause.objects))
    return str(clause.subject or "-"), str(clause.verb), objects or "-", clause.negated


def to_triples(clauses: Iterable[Clause]) -> Iterator[dict[str, Any]]:
    """Yield a triple for each object of each clause, with textacy's part names."""
    for clause in clauses:
        for each in clause.objects if clause.subject else ():
            parts = {"subject": clause.subject, "verb": clause.verb, "object": each}
            yield {
                name: {"text": phrase.text, "head": phrase.head.text}
                for name, phrase in parts.items()
            }


def simplify(triple: dict[str, Any], score: str) -> tuple[Any, ...]:
    """Get the parts of a triple to compare."""
    if score == "exact phrases":
        words = triple["verb"]["text"].replace("n't", " n't").split()
        verb = " ".join(word for word in words if word not in NEGATIONS)
        return triple["subject"]["text"], verb, triple["object"]["text"]
    subject, verb, object_ = (
        triple[name]["head"] for name in ("subject", "verb", "object")
    )
    if score == "heads":
        return subject, verb, object_
    # Surface subjects of passives are objects here, and neither is wrong.
    return verb, *sorted((subject, object_))


def compare(
    gold: list[list[dict[str, Any]]], found: list[list[dict[str, Any]]]
) -> dict[str, tuple[float, float]]:
    """RETURNS (Dict[str, Tuple[float, float]]): Precision and recall in percent."""
    results = {}
    for score in SCORES:
        right = n_gold = n_found = 0
        for gold_triples, found_triples in zip(gold, found, strict=True):
            one = Counter(simplify(triple, score) for triple in gold_triples)
            other = Counter(simplify(triple, score) for triple in found_triples)
            right += (one & other).total()
            n_gold, n_found = n_gold + one.total(), n_found + other.total()
        results[score] = (100 * right / n_found, 100 * right / n_gold)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="en_sdp_dm_md")
    parser.add_argument("--triples", type=Path, help="triples that textacy found")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    nlp = spacy.load(args.model)
    gold = read_gold(nlp)
    parsed = list(nlp.pipe([doc.text for doc in gold]))

    right = n_gold = n_found = 0
    misses = []
    for one, other in zip(gold, parsed, strict=True):
        expected = Counter(map(to_row, one._.sdp_clauses))
        found = Counter(map(to_row, other._.sdp_clauses))
        right += (expected & found).total()
        n_gold, n_found = n_gold + expected.total(), n_found + found.total()
        if expected != found:
            missed = [str(row) for row in expected - found]
            instead = [str(row) for row in found - expected]
            misses.append({"text": one.text, "missed": missed, "instead": instead})
    expected_triples = [list(to_triples(doc._.sdp_clauses)) for doc in gold]
    results = {
        args.model: compare(
            expected_triples, [list(to_triples(doc._.sdp_clauses)) for doc in parsed]
        )
    }
    if args.triples:
        lines = args.triples.read_text(encoding="utf8").splitlines()
        by_text = {row["text"]: row["triples"] for row in map(json.loads, lines)}
        results["textacy"] = compare(
            expected_triples, [by_text[doc.text] for doc in gold]
        )

    table = [
        f"Of {n_gold} clauses of {len(gold)} sentences, `{args.model}` has {right} "
        f"({100 * right / n_gold:.1f}%) right in subject, verb, objects and negation, "
        f"and {n_found - right} others.",
        "",
        "| (subject, verb, object) | "
        + " | ".join(f"{name}: P / R" for name in SCORES)
        + " |",
        "|---|" + "---|" * len(SCORES),
    ]
    for name, scores in results.items():
        cells = [f"{scores[each][0]:.1f} / {scores[each][1]:.1f}" for each in SCORES]
        table.append(f"| {name} | " + " | ".join(cells) + " |")
    write_markdown(args.out / "clauses.md", table)
    write_json(args.out / "clauses.json", {"triples": results, "misses": misses})


if __name__ == "__main__":
    main()
