"""How fast are the pipelines, and how much of it is the parser?

    python benchmarks/pipelines.py corpus/dm/test.spacy en_sdp_dm_sm en_sdp_dm_md

Pipelines are packages or folders. The texts of the corpus are joined by 8 sentences and
parsed by each pipeline in turn, several times; the figures are medians. Compare them as
ratios within one run.

With `--peer supar/bin/python training/supar/model`, SuPar parses the same sentences
after each round, in its own environment (see peer.py). It gets tokens, not raw text.
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

from spacy_sdp.formats import conllu, docbin
from spacy_sdp.formats.sentence import Sentence

SENTENCES_A_TEXT = 8
PARSER, ENCODER, PEER = "sdp_meanfield", "transformer", "SuPar"


def join_texts(sentences: list[Sentence]) -> list[str]:
    texts = [sentence.text or "" for sentence in sentences]
    starts = range(0, len(texts), SENTENCES_A_TEXT)
    return [" ".join(texts[i : i + SENTENCES_A_TEXT]) for i in starts]


def time_components(nlp: Language, texts: list[str]) -> tuple[dict[str, float], int]:
    """RETURNS (Tuple[Dict[str, float], int]): Seconds of each component, and words."""
    seconds = {}
    start = time.perf_counter()
    docs = [nlp.make_doc(text) for text in texts]
    seconds["tokenizer"] = time.perf_counter() - start
    for name, component in nlp.pipeline:
        start = time.perf_counter()
        docs = list(component.pipe(docs, batch_size=nlp.batch_size))
        seconds[name] = time.perf_counter() - start
    return seconds, sum(len(doc) for doc in docs)


def time_peer(python: str, model: str, sentences: list[Sentence]) -> tuple[dict, int]:
    """RETURNS (Tuple[Dict[str, float], int]): Seconds, and words."""
    script = Path(__file__).with_name("peer.py")
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder) / "given.conllu", Path(folder) / "found.conllu"
        conllu.write(sentences, given)
        command = [python, script, "parse", model, given, found, "--repeat", "2"]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    measured = json.loads(done.stdout.splitlines()[-1])
    assert measured["threads"] == torch.get_num_threads()
    return {PEER: measured["seconds"][-1]}, measured["words"]


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
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--peer", nargs=2, metavar=("PYTHON", "MODEL"))
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder to write to")
    args = parser.parse_args()
    sentences = list(docbin.read(args.corpus))[: args.sentences]
    texts = join_texts(sentences)
    loaded = {name: spacy.load(name) for name in args.pipelines}
    runs: dict[str, list[dict[str, float]]] = defaultdict(list)
    words: dict[str, int] = {}
    for nlp in loaded.values():
        time_components(nlp, texts[:4])
    for _ in range(args.repeat):
        for name, nlp in loaded.items():
            seconds, words[name] = time_components(nlp, texts)
            runs[name].append(seconds)
        if args.peer:
            seconds, words[PEER] = time_peer(*args.peer, sentences)
            runs[PEER].append(seconds)
    results = {name: summarize(runs[name], words[name]) for name in runs}
    slowest = min(result["words/s"] for result in results.values())
    lines = [
        f"{torch.get_num_threads()} threads.",
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
