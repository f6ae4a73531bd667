"""How much time does pruning save, and how does it affect accuracy?

    python benchmarks/pruning.py PIPELINE DATA.sdp [--out DIR]

parses the data with the same weights and several thresholds, and writes `pruning.json`
and `pruning.md`: the percentage of word pairs that take part in inference, the
percentage of gold arcs that are kept, labelled F1, and the time of inference.
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from pathlib import Path

import numpy
from common import (
    RESULTS,
    find_parser,
    load_with,
    prepare,
    read_docs,
    write_json,
    write_markdown,
)
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from tqdm import tqdm

from spacy_sdp.model.batch import Batch
from spacy_sdp.pipeline.parser import SemanticParser
from spacy_sdp.pipeline.scorer import score_examples

THRESHOLDS = (0.0, 1e-4, 1e-3, 1e-2, 1e-1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("model", help="a trained pipeline with a semantic parser")
    parser.add_argument("data", type=Path, help="gold standard, .sdp or .spacy")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    nlp = prepare(args)
    gold = read_docs(nlp, args.data)
    rows = []
    for threshold in tqdm(THRESHOLDS):
        for iterations in (2, 3, 10):
            # The time of iterations is the difference from a parser without them.
            parser_of = partial(load_parser, nlp, args.model, threshold)
            row = parse(parser_of(iterations), parser_of(0), gold)
            rows.append({"prune": threshold, "iterations": iterations, **row})
    write_json(args.out / "pruning.json", rows)
    lines = to_table(rows)
    write_markdown(args.out / "pruning.md", lines)
    print("\n".join(lines))


def load_parser(
    nlp: Language, model: str, prune: float, predict_iterations: int
) -> SemanticParser:
    settings = {"prune": prune, "predict_iterations": predict_iterations}
    return find_parser(load_with(nlp, model, **settings))


def parse(
    parser: SemanticParser, without_iterations: SemanticParser, gold: list[Doc]
) -> dict:
    docs = [doc.copy() for doc in gold]
    for doc in docs:
        doc._.set(parser.attr, None)
    seconds = 0.0
    pairs = candidates = gold_arcs = gold_kept = words = 0
    for start in range(0, len(docs), 64):
        batch_docs, references = docs[start : start + 64], gold[start : start + 64]
        for each, sign in ((without_iterations, -1), (parser, 1)):
            begin = time.perf_counter()
            posteriors = each.model.predict(batch_docs)
            seconds += sign * (time.perf_counter() - begin)
        parser.set_annotations(batch_docs, parser.predict(batch_docs))
        batch = posteriors.batch
        is_kept = numpy.zeros(int(batch.arc_offsets[-1]), dtype=bool)
        is_kept[posteriors.arcs] = True
        is_gold = gold_arcs_of(batch, references, parser.attr)
        pairs += sum(n * n for n in batch.lengths)
        candidates += int(is_kept.sum())
        gold_arcs += int(is_gold.sum())
        gold_kept += int((is_gold & is_kept).sum())
        words += sum(batch.lengths)
    examples = [Example(doc, ref) for doc, ref in zip(docs, gold, strict=True)]
    return {
        "pairs_kept": candidates / pairs,
        "candidates_per_word": candidates / words,
        "gold_kept": gold_kept / gold_arcs,
        "lf": score_examples(examples, attr=parser.attr)[f"{parser.attr}_lf"],
        "seconds": seconds,
        "words": words,
    }


def gold_arcs_of(batch: Batch, references: list[Doc], attr: str) -> numpy.ndarray:
    """Check for all arcs of a batch with gold tokens whether they are gold arcs."""
    is_gold = []
    for sentence in batch.sentences:
        graph = references[sentence.doc]._.get(attr)
        node = {token: i for i, token in enumerate(sentence.tokens.tolist(), start=1)}
        block = numpy.zeros((len(sentence) + 1, len(sentence)), dtype=bool)
        for arc in graph.indexed_arcs:
            if arc.head in node and arc.dep in node:
                block[node[arc.head], node[arc.dep] - 1] = True
        for top in graph.tops:
            if top.i in node:
                block[0, node[top.i] - 1] = True
        is_gold.append(block.ravel())
    return numpy.concatenate(is_gold)


def to_table(rows: list[dict]) -> list[str]:
    lines = [
        f"{rows[0]['words']:,} words. When pruning, at most 10 heads per word remain. "
        "The time is that of inference, without the choice of the candidates:",
        "",
        "| prune | iterations | pairs kept | candidates a word | gold arcs kept | LF1 "
        "| seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [
            f"{row['prune']:g}",
            str(row["iterations"]),
            f"{100 * row['pairs_kept']:.1f}%",
            f"{row['candidates_per_word']:.1f}",
            f"{100 * row['gold_kept']:.1f}%",
            f"{100 * row['lf']:.2f}",
            f"{row['seconds']:.2f}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    main()
