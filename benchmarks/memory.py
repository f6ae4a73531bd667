"""How much memory does a long sentence take?

    python benchmarks/memory.py en_sdp_dm_sm

parses a "sentence" of each length, as in a text without sentence boundaries, and prints
the peak memory in addition to the loaded pipeline.
"""

import argparse
import time
from itertools import cycle, islice

import spacy
import torch
from measuring import peak_mb
from spacy.tokens import Doc

from spacy_sdp.data import EXAMPLES
from spacy_sdp.formats import sdp


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", default="en_sdp_dm_sm")
    parser.add_argument(
        "--words", type=int, nargs="+", default=[500, 1000, 2000, 5000, 10_000]
    )
    args = parser.parse_args()
    torch.set_num_threads(1)
    nlp = spacy.load(args.model)
    nlp("A short sentence.")
    words = [word for each in sdp.read(EXAMPLES) for word in each.words]
    print("| words in the sentence | peak MB above the pipeline | seconds |")
    print("|---|---|---|")
    for count in args.words:
        doc = make_sentence(nlp, list(islice(cycle(words), count)))
        start = time.perf_counter()
        megabytes = peak_mb(lambda doc=doc: nlp(doc))  # type: ignore[misc]
        seconds = time.perf_counter() - start
        shown = "unknown" if megabytes is None else f"{megabytes:.0f}"
        print(f"| {count} | {shown} | {seconds:.1f} |", flush=True)


def make_sentence(nlp: spacy.Language, words: list[str]) -> Doc:
    """Create a Doc that the pipeline keeps as a single sentence."""
    doc = Doc(nlp.vocab, words=words)
    for token in doc:
        token.is_sent_start = token.i == 0
    return doc


if __name__ == "__main__":
    main()
