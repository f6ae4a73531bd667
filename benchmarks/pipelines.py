"""How fast are the pipelines, and how much of the time does the parser take?

    python benchmarks/pipelines.py corpus/dm/test.spacy en_sdp_dm_sm en_sdp_dm_md

Pipelines are packages or folders. Each text consists of 8 sentences of the corpus. The
pipelines take turns to parse the texts several times. Results are medians, and words
are counted in the corpus. Only compare ratios within the same run.

With `--peer supar/bin/python training/supar/model`, if these files exist, SuPar parses
the same sentences in each round, in its own environment (see peer.py). Its input is
tokens, not raw text.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from statistics import median

import spacy
import torch
from common import RESULTS, write_json, write_markdown
from spacy.language import Language
from tqdm import trange

from spacy_sdp.formats import conllu, docbin
from spacy_sdp.graph.record import Record

SENTENCES_A_TEXT = 8
PARSER, ENCODER, PEER = "sdp_meanfield", "transformer", "SuPar"


def join_texts(sentences: list[Record]) -> list[str]:
    texts = [sentence.text or "" for sentence in sentences]
    starts = range(0, len(texts), SENTENCES_A_TEXT)
    return [" ".join(texts[i : i + SENTENCES_A_TEXT]) for i in starts]


def time_components(nlp: Language, texts: list[str]) -> dict[str, float]:
    """RETURNS (Dict[str, float]): Seconds of each component."""
    seconds = {}
    start = time.perf_counter()
    docs = [nlp.make_doc(text) for text in texts]
    seconds["tokenizer"] = time.perf_counter() - start
    for name, component in nlp.pipeline:
        start = time.perf_counter()
        if hasattr(component, "pipe"):
            docs = list(component.pipe(docs, batch_size=nlp.batch_size))
        else:
            docs = list(map(component, docs))
        seconds[name] = time.perf_counter() - start
    return seconds


def time_peer(
    python: str, model: str, sentences: list[Record], threads: int
) -> dict[str, float]:
    """RETURNS (Dict[str, float]): Seconds."""
    script = Path(__file__).with_name("peer.py")
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder) / "given.conllu", Path(folder) / "found.conllu"
        conllu.write(sentences, given)
        options = ["--repeat", "2", "--threads", str(threads)]
        command = [python, script, "parse", model, given, found, *options]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    # The first run includes the warm-up, so use the last one.
    return {PEER: json.loads(done.stdout.splitlines()[-1])[-1]}


def summarize(runs: list[dict[str, float]], words: int) -> dict[str, float]:
    total = median(sum(run.values()) for run in runs)
    if PARSER not in runs[0]:
        return {"words": words, "words/s": words / total}
    parser = median(run[PARSER] for run in runs)
    summary = {
        "words": words,
        "words/s": words / total,
        "words/s without the parser": words / (total - parser),
        "parser, share of the time": parser / total,
    }
    if ENCODER in runs[0]:
        encoder = median(run[ENCODER] for run in runs)
        summary["parser / transformer"] = parser / encoder
    return summary


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", type=Path)
    parser.add_argument("pipelines", nargs="+")
    parser.add_argument("--sentences", type=int, help="how many; all by default")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--peer", nargs=2, metavar=("PYTHON", "MODEL"))
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder to write to")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    sentences = list(docbin.read(args.corpus))[: args.sentences]
    words = sum(len(sentence.words) for sentence in sentences)
    texts = join_texts(sentences)
    loaded = {name: spacy.load(name) for name in args.pipelines}
    has_peer = args.peer and all(Path(each).exists() for each in args.peer)
    runs: dict[str, list[dict[str, float]]] = defaultdict(list)
    for nlp in loaded.values():
        time_components(nlp, texts[:4])
    for _ in trange(args.repeat, unit=" rounds"):
        for name, nlp in loaded.items():
            runs[name].append(time_components(nlp, texts))
        if has_peer:
            runs[PEER].append(time_peer(*args.peer, sentences, args.threads))
    results = {name: summarize(runs[name], words) for name in runs}
    slowest = min(result["words/s"] for result in results.values())
    lines = [
        f"{args.threads} threads, {words:,} words.",
        "",
        "| pipeline | words/s | times the slowest | words/s without the parser "
        "| parser / transformer |",
        "|---|---|---|---|---|",
    ]
    for name, result in results.items():
        alone = result.get("words/s without the parser")
        ratio = result.get("parser / transformer")
        cells = (
            name,
            f"{result['words/s']:,.0f}",
            f"{result['words/s'] / slowest:.2f}",
            "" if alone is None else f"{alone:,.0f}",
            "" if ratio is None else f"{ratio:.2f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    write_json(args.out / "pipelines.json", {"results": results, "runs": runs})
    write_markdown(args.out / "pipelines.md", lines)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
