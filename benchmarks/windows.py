"""What is lost if the transformer reads windows of running text, not sentences?

    python benchmarks/windows.py en_sdp_dm_md corpus/texts/ood.spacy

scores a pipeline with a transformer from raw text, as it is, and with windows of 128
words that overlap, as is usual with spacy-transformers.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import spacy
from spacy.training import Corpus

WINDOWS = {
    "@span_getters": "spacy-transformers.strided_spans.v1",
    "window": 128,
    "stride": 96,
}
CONTESTANTS = {"sentences": {}, "windows of 128 words": {"get_spans": WINDOWS}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("pipeline", help="package or folder")
    parser.add_argument("texts", type=Path, help="gold standard, as .spacy")
    args = parser.parse_args()
    if not args.texts.is_file():
        parser.error(f"there is no file {args.texts}")
    if not spacy.load(args.pipeline).has_pipe("transformer"):
        parser.error("the pipeline has to be one with a transformer")
    print("| the transformer reads | LF1 | UF1 |\n|---|---|---|")
    for name, model in CONTESTANTS.items():
        config = {"components": {"transformer": {"model": model}}}
        nlp = spacy.load(args.pipeline, config=config)
        scores = nlp.evaluate(list(Corpus(args.texts)(nlp)))
        cells = [f"{100 * scores[key]:.2f}" for key in ("sdp_lf", "sdp_uf")]
        print("|", " | ".join([name, *cells]), "|")


if __name__ == "__main__":
    main()
