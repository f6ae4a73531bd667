"""How fast are the pipelines, and how much of it is the parser?

    python benchmarks/pipelines.py corpus/dm/test.spacy en_sdp_dm_sm en_sdp_dm_md

Pipelines are packages or folders. The texts of the corpus are joined by 8 sentences and
parsed by each pipeline in turn, several times; the figures are medians. Compare them as
ratios within one run.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from pathlib import Path
from statistics import median

import spacy
import torch
from common import write_json, write_markdown
from spacy.language import Language

from spacy_sdp.formats import docbin

RESULTS = Path(__file__).parent / "results"
SENTENCES_A_TEXT = 8
PARSER, ENCODER = "sdp_meanfield", "transformer"


def read_texts(path: Path, limit: int) -> list[str]:
    sentences = [sentence.text or "" for sentence in docbin.read(path)][:limit]
    starts = range(0, len(sentences), SENTENCES_A_TEXT)
    return [" ".join(sentences[i : i + SENTENCES_A_TEXT]) for i in starts]


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


def summarize(runs: list[dict[str, float]], words: int) -> dict[str, float]:
    total = median(sum(run.values()) for run in runs)
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
    args = parser.parse_args()
    texts = read_texts(args.corpus, args.sentences)
    loaded = {name: spacy.load(name) for name in args.pipelines}
    runs: dict[str, list[dict[str, float]]] = defaultdict(list)
    words: dict[str, int] = {}
    for nlp in loaded.values():
        time_components(nlp, texts[:4])
    for _ in range(args.repeat):
        for name, nlp in loaded.items():
            seconds, words[name] = time_components(nlp, texts)
            runs[name].append(seconds)
    results = {name: summarize(runs[name], words[name]) for name in loaded}
    slowest = min(result["words/s"] for result in results.values())
    lines = [
        f"{torch.get_num_threads()} threads.",
        "",
        "| pipeline | words/s | times the slowest | words/s without the parser "
        "| parser / transformer |",
        "|---|---|---|---|---|",
    ]
    for name, result in results.items():
        ratio = result.get("parser / transformer")
        cells = (
            name,
            f"{result['words/s']:,.0f}",
            f"{result['words/s'] / slowest:.2f}",
            f"{result['words/s without the parser']:,.0f}",
            "" if ratio is None else f"{ratio:.2f}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    write_json(RESULTS / "pipelines.json", {"results": results, "runs": runs})
    write_markdown(RESULTS / "pipelines.md", lines)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
