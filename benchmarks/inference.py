"""How fast is inference, and how much memory does it take?

    python benchmarks/inference.py [--quick] [--out DIR] [--model PIPELINE --data FILE]

compares four formulations of mean-field inference on the same factors: the full order-5
tensors ("dense"), the decomposition as published ("published"), and ours, exact and
pruned. They take turns in a single process. The results are written to
`inference.json`, a table `inference.md` and two plots. Without --data, it parses the
example sentences of the package, which are few and short.
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import torch
from common import (
    RESULTS,
    find_parser,
    load_with,
    prepare,
    read_docs,
    write_json,
    write_markdown,
)
from contestants import (
    Problem,
    dense,
    exact,
    find_candidates,
    pruned,
    pruned_iterations,
    published,
    random_problem,
    to_blocks,
    valid_mask,
)
from measuring import measure, peak_gflops, peak_mb, time_parts
from report import RANK, limit, plot, summary
from spacy.tokens import Doc
from thinc.api import ArgsKwargs
from tqdm import tqdm

from spacy_sdp.data import EXAMPLES
from spacy_sdp.model.arcs import split_arcs, split_nodes
from spacy_sdp.model.batch import Batch
from spacy_sdp.model.inference import MeanField
from spacy_sdp.pipeline.parser import SemanticParser

LABELS = (1, 5, 10, 20, 30, 40, 91)
LENGTHS = (10, 20, 40, 80, 160, 320)
# Maximum size of dense tensors, in bytes.
DENSE_LIMIT = 12e9
BATCH_WORDS = 3000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="finish in two minutes")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument(
        "--model", default="en_sdp_dm_sm", help="a pipeline with a semantic parser"
    )
    parser.add_argument("--data", type=Path, help="sentences to parse, .sdp or .spacy")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    nlp = prepare(args)
    semantic_parser = find_parser(nlp)
    shim = semantic_parser.model.get_ref("network").shims[0]
    if not isinstance(shim.inference, MeanField) or not shim.settings.labelled:
        parser.error("the pipeline must use labelled mean-field inference")
    data = args.data or EXAMPLES
    if nlp.has_pipe("transformer"):
        parser.error(
            "the pipeline must not have a transformer, because sentences are joined "
            "to longer ones, for which a transformer would have to run again"
        )
    docs = read_docs(nlp, data)
    exact_nlp = load_with(
        *(nlp, args.model),
        **dict.fromkeys(("embed_dropout", "lstm_dropout", "mlp_dropout", "prune"), 0.0),
        max_pairs=10**9,
    )
    bench = Benchmark(semantic_parser, find_parser(exact_nlp), docs, quick=args.quick)
    with tqdm(total=bench.size, unit="measurement") as progress:
        for experiment in (bench.figure, bench.growth, bench.batch, bench.share):
            for row in experiment():
                bench.rows.append({**row, "threads": args.threads})
                progress.update()
    write_json(args.out / "inference.json", bench.rows)
    lines = [
        f"{args.threads} threads; pipeline: {args.model}; data: {data.name}.",
        "",
        *summary(bench.rows, bench.batch_words),
        "",
        *limit(bench.rows, bench.peak_gflops),
    ]
    write_markdown(args.out / "inference.md", lines)
    plot(args.out, bench.rows)
    print("\n".join(lines))


class Benchmark:
    """The experiments, each of which yields rows of results."""

    def __init__(
        self,
        parser: SemanticParser,
        exact_parser: SemanticParser,
        docs: list[Doc],
        *,
        quick: bool,
    ) -> None:
        """Prepare the experiments.

        parser (SemanticParser): The parser.
        exact_parser (SemanticParser): The same parser without pruning and dropout.
        docs (List[Doc]): The sentences to parse.
        quick (bool): Whether to run smaller experiments.
        """
        self.parser = parser
        self.exact_parser = exact_parser
        self.docs = docs
        self.quick = quick
        self.rows: list[dict] = []
        self.labels = (1, 10, 91) if quick else LABELS
        self.lengths = LENGTHS[:4] if quick else LENGTHS
        self.batch_words = 500 if quick else BATCH_WORDS
        self.size = 10 * len(self.labels) + 4 * len(self.lengths) + 12 + 8
        self.peak_gflops = peak_gflops()

    def figure(self) -> Iterator[dict]:
        """The figure of the paper: 100 runs on one sentence of 40 words."""
        n, iterations = 40, 3
        for n_labels in self.labels:
            problem = random_problem(n, n_labels, rank=RANK)
            for mode in ("forward", "backward"):
                systems = contestants(problem, iterations)
                # A tensor for each part and an intermediate one, twice with gradients.
                copies = 5 if mode == "forward" else 10
                if 4 * (n + 1) ** 3 * (n_labels + 1) ** 2 * copies < DENSE_LIMIT:
                    systems["dense"] = partial(dense, problem, iterations)
                else:
                    systems["dense"] = None
                times = measure(systems, problem, mode, quick=self.quick)
                for system, ms in times.items():
                    yield row(
                        "figure", system, n, n_labels, 1, RANK, mode, iterations, ms
                    )

    def growth(self) -> Iterator[dict]:
        """Time and memory of a sentence by its length."""
        iterations, n_labels = 3, 91
        for n in self.lengths:
            random = random_problem(n, n_labels, rank=RANK)
            real = real_problem(self.exact_parser, [joined(self.docs, n)])
            found = find_candidates(real)
            systems = contestants(random, iterations)
            systems["pruned"] = partial(pruned_iterations, found, iterations)
            times = measure(systems, random, "forward", quick=self.quick)
            for system, ms in times.items():
                size = (n_labels, 1, RANK)
                if system == "pruned":
                    size = (real.scores.shape[-1] - 1, 1, rank_of(real))
                peak = peak_mb(systems[system])
                yield row("growth", system, n, *size, "forward", iterations, ms, peak)

    def batch(self) -> Iterator[dict]:
        """A training batch of mixed lengths, with the factors of the pipeline."""
        problem = real_problem(
            self.exact_parser, some_words(self.docs, self.batch_words)
        )
        count, size, _, columns = problem.scores.shape
        shape = (size - 1, columns - 1, count, rank_of(problem))
        for iterations, mode in ((3, "forward"), (10, "forward"), (3, "backward")):
            systems = contestants(problem, iterations)
            times = measure(systems, problem, mode, quick=self.quick)
            for system, ms in times.items():
                peak = peak_mb(systems[system]) if mode == "forward" else None
                yield row("batch", system, *shape, mode, iterations, ms, peak)

    def share(self) -> Iterator[dict]:
        """The share of time of each part of the parser."""
        docs = self.docs[: 50 if self.quick else 500]
        words = sum(map(len, docs))
        inference = self.parser.model.get_ref("network").shims[0].inference
        runs: list[dict[str, float]] = []
        for _ in range(2 if self.quick else 6):
            copies = [doc.copy() for doc in docs]
            parsed = self.parser.pipe(copies, batch_size=64)
            runs.append(time_parts(partial(deque, parsed, maxlen=0)))
        # The first run is a warm-up.
        seconds = sorted(runs[1:], key=lambda run: run["all"])[len(runs[1:]) // 2]
        for name, value in seconds.items():
            yield {
                **row(
                    *("share", name, words, len(self.parser.labels) + 1, len(docs)),
                    *(inference.rank, "forward", inference.predict_iterations),
                ),
                "ms": 1000 * value,
                "share": value / seconds["all"],
            }


def contestants(problem: Problem, iterations: int) -> dict[str, Callable | None]:
    """Create the contestants for a problem, with our input format for ours."""
    blocks = to_blocks(problem)
    return {
        "published": partial(published, problem, iterations),
        "exact": partial(exact, blocks, iterations, exclude_self=False),
        "exact, without self": partial(exact, blocks, iterations, exclude_self=True),
        "pruned": partial(pruned, problem, iterations),
    }


def rank_of(problem: Problem) -> int:
    return problem.parts[0].label.shape[1]


def row(
    experiment: str,
    system: str,
    n: int,
    labels: int,
    batch: int,
    rank: int,
    mode: str,
    iterations: int,
    ms: float | None = None,
    peak: float | None = None,
) -> dict:
    # There are two rows for exact inference. In the first one, as in the published
    # formulas, an arc is its own neighbour. In the second one (our default) and in
    # "pruned", it is not.
    return {
        "experiment": experiment,
        "system": system.removesuffix(", without self"),
        "exclude_self": system in ("exact, without self", "pruned"),
        "n": n,
        "labels": labels,
        "rank": rank,
        "batch": batch,
        "mode": mode,
        "iterations": iterations,
        "ms": ms,
        "peak_mb": peak,
    }


def joined(docs: list[Doc], n: int) -> Doc:
    """Join consecutive sentences to one of n words."""
    tokens = [token for doc in some_words(docs, n) for token in doc][:n]
    doc = Doc(docs[0].vocab, words=[token.text for token in tokens])
    for token, original in zip(doc, tokens, strict=True):
        token.tag_ = original.tag_
    return doc


def some_words(docs: list[Doc], words: int) -> list[Doc]:
    """Choose Docs with at least this number of words, repeated if necessary."""
    chosen: list[Doc] = []
    while sum(map(len, chosen)) < words:
        chosen.append(docs[len(chosen) % len(docs)])
    return chosen


def real_problem(parser: SemanticParser, docs: list[Doc]) -> Problem:
    """Compute the first-order scores and factors of sentences with a trained parser.

    parser (SemanticParser): The parser, without pruning and dropout.
    docs (List[Doc]): The sentences.
    """
    batch = Batch.from_docs(docs)
    table = parser.model.ops.flatten(parser.model.get_ref("tok2vec").predict(docs))
    vectors, lengths = torch.from_numpy(table[batch.word_rows]), batch.lengths
    inputs = (vectors, lengths, None, torch.from_numpy(batch.hashes))
    shim = parser.model.get_ref("network").shims[0]
    # Only in training does the network give the scores themselves.
    scores, _ = shim.begin_update(ArgsKwargs(inputs, {}))
    first_order, network = scores.refined[0].detach(), shim.network
    factors: list[torch.Tensor] = []
    hook = network.second_order.node_factors.register_forward_hook(
        lambda module, inputs, output: factors.append(output)
    )
    shim.predict(ArgsKwargs(inputs, {}))
    hook.remove()
    (of_nodes,) = factors
    with torch.no_grad():
        of_labels = network.second_order.of_labels()
    longest = lengths[0]
    scores = torch.zeros(len(lengths), longest + 1, longest + 1, len(of_labels))
    padded = torch.zeros(len(lengths), longest + 1, *of_nodes.shape[1:])
    start = 0
    for block, (nodes,) in zip(
        split_arcs(lengths, first_order), split_nodes(lengths, of_nodes), strict=True
    ):
        count, size = nodes.shape[:2]
        scores[start : start + count, :size, 1:size] = block
        padded[start : start + count, :size] = nodes
        start += count
    parts = [
        type(part)(part.type, *(table.clone() for table in part[1:]))
        for part in network.second_order.parts(padded, of_labels)
    ]
    return Problem(scores, valid_mask(lengths, longest), parts, lengths)


if __name__ == "__main__":
    main()
