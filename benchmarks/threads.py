"""Is a pipeline correct and faster when several threads share it?

    python benchmarks/threads.py --model en_sdp_dm_sm

All threads call `nlp(text)` on the same pipeline. The table has the number of calls
that failed, the number of calls that returned different graphs, and the speed relative
to a single thread.
"""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import spacy
import torch

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import sdp
from spacy_sdp.pipeline.loading import load_pipeline


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", nargs="+", default=["en_sdp_dm_sm", "en_sdp_dm_md"])
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--calls", type=int, default=500, help="calls per thread")
    args = parser.parse_args()
    # Several torch threads would compete with ours for the same cores.
    torch.set_num_threads(1)
    texts = make_texts(100)
    print(f"{args.threads} threads, {args.calls} calls each, {len(texts)} texts")
    print("pipeline        errors  differences   speed vs. single thread")
    wrong = 0
    for model in args.model:
        errors, differences, speedup = measure(
            load_pipeline(model, threads=True), texts, args.threads, args.calls
        )
        print(f"{model:<15} {errors:>6}  {differences:>11}  {speedup:>24.2f}")
        wrong += errors + differences
    sys.exit(wrong > 0)


def make_texts(count: int) -> list[str]:
    """Create different texts of one to four example sentences."""
    sentences = [" ".join(each.words) for each in sdp.read(EXAMPLES)]
    return [
        " ".join(sentences[(i + j * 7) % len(sentences)] for j in range(1 + i % 4))
        + f" Number {i} is the last."
        for i in range(count)
    ]


def measure(
    nlp: spacy.Language, texts: list[str], threads: int, calls: int
) -> tuple[int, int, float]:
    """Count errors and differences, and measure the speedup."""
    expected = [nlp(text)._.sdp.to_dict() for text in texts]

    def run(thread: int) -> tuple[int, int]:
        errors = differences = 0
        for call in range(calls):
            number = (thread * 13 + call) % len(texts)
            try:
                found = nlp(texts[number])._.sdp.to_dict()
            except Exception:
                errors += 1
            else:
                differences += found != expected[number]
        return errors, differences

    start = perf_counter()
    results = [run(0)]
    alone = perf_counter() - start
    start = perf_counter()
    with ThreadPoolExecutor(threads) as pool:
        results += pool.map(run, range(threads))
    together = (perf_counter() - start) / threads
    errors, differences = map(sum, zip(*results, strict=True))
    return errors, differences, alone / together


if __name__ == "__main__":
    main()
