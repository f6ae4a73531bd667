"""How fast is inference, and how much memory does it take?

    python benchmarks/inference.py [--quick] [--out DIR] [--model PIPELINE --data FILE]

compares four formulations of the same mean-field inference on the same factors, in one
process and taking turns: the order-5 tensors written out ("dense"), the decomposition
as published ("published"), and ours, exact and pruned. It writes `inference.json`, a
table `inference.md` and two plots. Without a pipeline it trains one on the example
sentences of the package; for figures that mean something give it a trained one, and a
file to parse.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import spacy
import torch
from common import write_json, write_markdown
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
from spacy.tokens import Doc
from tqdm import tqdm

from spacy_sdp import formats
from spacy_sdp.demo import EXAMPLES, train_demo
from spacy_sdp.model import network as network_module
from spacy_sdp.model.arcs import mask_labels_
from spacy_sdp.model.batch import Batch
from spacy_sdp.model.layers import Biaffine, BiLSTM
from spacy_sdp.model.network import Network
from spacy_sdp.model.second_order import to_parts
from spacy_sdp.parser import SemanticParser

LABELS = (1, 5, 10, 20, 30, 40, 91)
LENGTHS = (10, 20, 40, 80, 160, 320)
RANK = 300
# Tensors of more bytes than that are not written out.
DENSE_LIMIT = 12e9
BATCH_WORDS = 3000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="finish in two minutes")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    parser.add_argument("--model", help="a trained pipeline with a semantic parser")
    parser.add_argument("--data", type=Path, help="sentences for it, .sdp or .spacy")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    args.out.mkdir(parents=True, exist_ok=True)
    nlp = spacy.load(args.model) if args.model else train_demo()
    semantic_parser = next(
        pipe for _, pipe in nlp.pipeline if isinstance(pipe, SemanticParser)
    )
    settings = semantic_parser.model.get_ref("network").shims[0].settings
    if settings.inference != "mean_field" or not settings.labelled:
        parser.error("the pipeline has to be one with labelled mean field")
    data = args.data or EXAMPLES
    docs = [each.to_doc(nlp.vocab) for each in formats.read(data)]
    bench = Benchmark(semantic_parser, docs, quick=args.quick)
    with tqdm(total=bench.size, unit="measurement") as progress:
        for experiment in (bench.figure, bench.growth, bench.batch, bench.share):
            for row in experiment():
                bench.rows.append({**row, "threads": args.threads})
                progress.update()
    write_json(args.out / "inference.json", bench.rows)
    name = Path(args.model).parent.name if args.model else "trained on the examples"
    lines = [
        f"{args.threads} threads; pipeline: {name}.",
        "",
        *summary(bench.rows, bench.batch_words),
        "",
        *limit(bench),
    ]
    write_markdown(args.out / "inference.md", lines)
    plot(args.out, bench.rows)
    print("\n".join(lines))


class Benchmark:
    """The experiments, each a generator of rows."""

    def __init__(self, parser: SemanticParser, docs: list[Doc], *, quick: bool) -> None:
        self.parser = parser
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
                # A tensor for each part and one in between, and again for gradients.
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
        """Time and memory of one sentence as it gets longer."""
        iterations, n_labels = 3, 91
        for n in self.lengths:
            random = random_problem(n, n_labels, rank=RANK)
            real = real_problem(self.parser, [joined(self.docs, n)])
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
        problem = real_problem(self.parser, some_words(self.docs, self.batch_words))
        count, size, _, columns = problem.scores.shape
        shape = (size - 1, columns - 1, count, rank_of(problem))
        for iterations, mode in ((3, "forward"), (10, "forward"), (3, "backward")):
            systems = contestants(problem, iterations)
            times = measure(systems, problem, mode, quick=self.quick)
            for system, ms in times.items():
                peak = peak_mb(systems[system]) if mode == "forward" else None
                yield row("batch", system, *shape, mode, iterations, ms, peak)

    def share(self) -> Iterator[dict]:
        """Where the time of a whole parse goes, for the parser alone."""
        docs = self.docs[: 50 if self.quick else 500]
        words = sum(map(len, docs))
        settings = self.parser.model.get_ref("network").shims[0].settings
        runs: list[dict[str, float]] = []
        for _ in range(2 if self.quick else 6):
            copies = [doc.copy() for doc in docs]
            seconds: dict[str, float] = {}
            with timed_parts(self.parser, seconds):
                start = time.perf_counter()
                for _ in self.parser.pipe(copies, batch_size=64):
                    pass
                total = time.perf_counter() - start
            rest = total - sum(seconds.values())
            runs.append({**seconds, "decoding and the rest": rest, "all": total})
        # The first one warms up.
        seconds = sorted(runs[1:], key=lambda run: run["all"])[len(runs[1:]) // 2]
        for name, value in seconds.items():
            yield {
                **row(
                    *("share", name, words, len(self.parser.labels) + 1, len(docs)),
                    *(settings.rank, "forward", settings.predict_iterations),
                ),
                "ms": 1000 * value,
                "share": value / seconds["all"],
            }


def contestants(problem: Problem, iterations: int) -> dict[str, Callable | None]:
    """The contestants for a problem. Ours are given it as our network makes it."""
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
    # Two rows for exact inference: in the published formulas, and so in the first, an
    # arc is its own neighbour; in the second, our default, and in "pruned" it is not.
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


def measure(
    systems: Mapping[str, Callable[[], object] | None],
    problem: Problem,
    mode: str,
    *,
    quick: bool,
) -> dict[str, float | None]:
    """The median time of each system, taking turns."""
    budget, most = (0.7, 5) if quick else (3.0, 100)
    times: dict[str, list[float]] = {name: [] for name in systems}
    tensors = [problem.scores, *(t for part in problem.parts for t in part[1:])]
    for tensor in tensors:
        tensor.requires_grad_(mode == "backward")
    running = {name for name, run in systems.items() if run is not None}
    while running:
        for name in list(running):
            with torch.set_grad_enabled(mode == "backward"):
                start = time.perf_counter()
                output = systems[name]()  # type: ignore[misc]
                if mode == "backward":
                    outputs = output if isinstance(output, list) else [output]
                    finite = [o.masked_fill(torch.isinf(o), 0).sum() for o in outputs]
                    sum(finite).backward()
                times[name].append(time.perf_counter() - start)
            # The first run warms up.
            if len(times[name]) > most or sum(times[name]) > budget:
                running.discard(name)
    for tensor in tensors:
        tensor.requires_grad_(False)
        tensor.grad = None
    return {
        name: 1000 * statistics.median(each[1:] or each) if each else None
        for name, each in times.items()
    }


def peak_mb(run: Callable[[], object]) -> float | None:
    """How much memory a run takes at its peak, as Linux counts it."""
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    before = _status("VmRSS")
    with torch.no_grad():
        run()
    return (_status("VmHWM") - before) / 1024


def _status(name: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    raise ValueError(f"/proc/self/status has no {name}.")


def peak_gflops(size: int = 1024) -> float:
    """What the machine reaches in one large multiplication of matrices."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    times = []
    for _ in range(10):
        start = time.perf_counter()
        a @ b
        times.append(time.perf_counter() - start)
    return 2 * size**3 / min(times) / 1e9


def joined(docs: list[Doc], n: int) -> Doc:
    """Consecutive sentences as one of n words."""
    tokens = [token for doc in some_words(docs, n) for token in doc][:n]
    doc = Doc(docs[0].vocab, words=[token.text for token in tokens])
    for token, original in zip(doc, tokens, strict=True):
        token.tag_ = original.tag_
    return doc


def some_words(docs: list[Doc], words: int) -> list[Doc]:
    """As many Docs, over and over if need be, as have so many words together."""
    chosen: list[Doc] = []
    while sum(map(len, chosen)) < words:
        chosen.append(docs[len(chosen) % len(docs)])
    return chosen


def real_problem(parser: SemanticParser, docs: list[Doc]) -> Problem:
    """First-order scores and factors that a trained parser gives to sentences."""
    network: Network = parser.model.get_ref("network").shims[0]._model.eval()
    batch = Batch.from_docs(docs)
    table = parser.model.ops.flatten(parser.model.get_ref("tok2vec").predict(docs))
    vectors = torch.from_numpy(table[batch.word_rows])
    longest = batch.lengths[0]
    sizes = [n + 1 for n in batch.lengths]
    with torch.no_grad():
        nodes, sentence_of = network._nodes(vectors, batch.lengths)
        heads, deps = network.labels.tables(nodes, sentence_of)
        factors = network.second_order.of_nodes(nodes, sentence_of)
        scores = torch.zeros(len(sizes), longest + 1, longest + 1, network.n_labels)
        padded = torch.zeros(len(sizes), longest + 1, *factors.shape[1:])
        for i, (head, dep, factor) in enumerate(
            zip(
                heads.split(sizes), deps.split(sizes), factors.split(sizes), strict=True
            )
        ):
            block = network.labels(head.unsqueeze(0), dep.unsqueeze(0))
            block = mask_labels_(torch.nn.functional.pad(block, (1, 0)))
            size = sizes[i]
            scores[i, :size, 1:size] = block[0]
            padded[i, :size] = factor
        parts = to_parts(padded, network.second_order.of_labels(), network.settings)
        parts = [
            type(part)(part.type, *(t.clone() for t in part[1:])) for part in parts
        ]
    return Problem(scores, valid_mask(batch.lengths, longest), parts, batch.lengths)


@contextlib.contextmanager
def timed_parts(parser: SemanticParser, seconds: dict[str, float]) -> Iterator[None]:
    """Add up the time that is spent in the parts of a parse."""
    seconds.clear()
    network = parser.model.get_ref("network").shims[0]._model
    second_order = type(network.second_order)
    places = (
        (BiLSTM, "forward", "LSTM"),
        (Biaffine, "tables", "first-order scores"),
        (Biaffine, "forward", "first-order scores"),
        (second_order, "of_nodes", "second-order factors"),
        (second_order, "of_labels", "second-order factors"),
        (network_module, "candidates", "mean field"),
        (Network, "_refine_all", "mean field"),
        (Network, "_refine_some", "mean field"),
        (SemanticParser, "set_annotations", "writing to the Doc"),
    )
    tok2vec = parser.model.get_ref("tok2vec")
    originals = [(owner, name, getattr(owner, name)) for owner, name, _ in places]
    original_encoder = tok2vec._func

    def timed(function: Callable, key: str) -> Callable:
        def wrapper(*args: object, **kwargs: object) -> object:
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                elapsed = time.perf_counter() - start
                seconds[key] = seconds.get(key, 0.0) + elapsed

        return wrapper

    tok2vec._func = timed(original_encoder, "encoder")
    for owner, name, key in places:
        setattr(owner, name, timed(getattr(owner, name), key))
    try:
        yield
    finally:
        tok2vec._func = original_encoder
        for owner, name, function in originals:
            setattr(owner, name, function)


SYSTEMS = {
    ("dense", False): "w/o CPD",
    ("published", False): "w/ CPD, as published",
    ("exact", False): "ours, exact",
    ("exact", True): "ours, exact, without self",
    ("pruned", True): "ours, pruned",
}


def summary(rows: list[dict], batch_words: int) -> list[str]:
    """The tables, and what follows from them."""
    lines: list[str] = []
    for mode in ("forward", "backward"):
        lines += [
            f"**Seconds for 100 runs**, n = 40, rank {RANK}, 3 iterations, {mode}:",
            "",
            *table(rows, "figure", "labels", 0.1, mode=mode),
            "",
        ]
    lines += [
        "**Growth** with the length n of a sentence, ms, 3 iterations; random factors "
        f"of rank {RANK} with 91 labels, for pruned those of the pipeline, when the "
        "candidates are known:",
        "",
        *table(rows, "growth", "n"),
        "",
        "The same, peak memory in MB:",
        "",
        *table(rows, "growth", "n", value="peak_mb"),
        "",
    ]
    exponents = [
        f"{name} {exponent(rows, *system):.2f}"
        for system, name in SYSTEMS.items()
        if system[0] != "dense"
    ]
    lines += [
        f"Exponent of the time in n, from n = 40 on: {'; '.join(exponents)}.",
        "",
        f"**A batch** of {batch_words} words of mixed lengths, factors of the "
        "pipeline, the choice of the candidates included, ms:",
        "",
        *table(rows, "batch", "iterations", mode="forward"),
        "",
        "The same, forward and backward:",
        "",
        *table(rows, "batch", "iterations", mode="backward"),
        "",
        "**A parse** by the parser alone:",
        "",
        "| part | ms | share |",
        "|---|---|---|",
    ]
    for each in rows:
        if each["experiment"] == "share":
            cells = [each["system"], number(each["ms"]), f"{100 * each['share']:.1f}%"]
            lines.append("| " + " | ".join(cells) + " |")
    return lines


def table(
    rows: list[dict],
    experiment: str,
    by: str,
    scale: float = 1.0,
    *,
    mode: str = "forward",
    value: str = "ms",
) -> list[str]:
    """A table with a column for each system that took part."""
    values: dict[tuple, dict] = {}
    for each in rows:
        if (each["experiment"], each["mode"]) == (experiment, mode):
            system = (each["system"], each["exclude_self"])
            values.setdefault(system, {})[each[by]] = each[value]
    systems = [system for system in SYSTEMS if system in values]
    lines = [
        f"| {by} | " + " | ".join(SYSTEMS[system] for system in systems) + " |",
        "|---" * (len(systems) + 1) + "|",
    ]
    for key in values[systems[0]]:
        cells = [number(values[system][key], scale) for system in systems]
        lines.append(f"| {key} | " + " | ".join(cells) + " |")
    return lines


def limit(bench: Benchmark) -> list[str]:
    """The time of the multiplications of matrices alone."""
    n, labels = 40, 91
    flops = 3 * 4 * 2 * 2 * (n + 1) * n * labels * RANK
    best = flops / bench.peak_gflops / 1e6
    (ms,) = (
        r["ms"]
        for r in bench.rows
        if r["experiment"] == "figure"
        and (r["system"], r["labels"], r["mode"]) == ("exact", labels, "forward")
        and not r["exclude_self"]
    )
    return [
        f"**The physical limit**: {bench.peak_gflops:.0f} GFLOP/s is what this machine "
        "reaches in one large multiplication of matrices. At that speed, the "
        f"multiplications of exact inference (n = {n}, {labels} labels, 3 iterations) "
        f"take {best:.1f} ms; with everything else it takes {ms:.1f} ms."
    ]


def number(value: float | None, scale: float = 1.0) -> str:
    return "does not fit" if value is None else f"{scale * value:.3g}"


def exponent(rows: list[dict], system: str, exclude_self: bool) -> float:
    """The slope of a line through the logarithms."""
    points = [
        (each["n"], each["ms"])
        for each in rows
        if each["experiment"] == "growth"
        and (each["system"], each["exclude_self"]) == (system, exclude_self)
        and each["n"] >= 40
    ]
    x, y = torch.tensor(points).log().T
    x, y = x - x.mean(), y - y.mean()
    return float((x * y).sum() / (x * x).sum())


def plot(folder: Path, rows: list[dict]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    for experiment, axis, x_label in (
        ("figure", "labels", "labels"),
        ("growth", "n", "words in the sentence"),
    ):
        figure, axes = pyplot.subplots(figsize=(6, 4))
        for system, name in SYSTEMS.items():
            points = [
                (each[axis], each["ms"])
                for each in rows
                if each["experiment"] == experiment
                and (each["system"], each["exclude_self"]) == system
                and each["mode"] == "forward"
                and each["ms"] is not None
            ]
            if points:
                axes.plot(*zip(*points, strict=True), marker="o", label=name)
        axes.set(xlabel=x_label, ylabel="ms a run", yscale="log")
        if experiment == "growth":
            axes.set(xscale="log")
        axes.grid(alpha=0.3)
        axes.legend()
        figure.tight_layout()
        figure.savefig(folder / f"inference-{experiment}.png", dpi=150)


if __name__ == "__main__":
    main()
