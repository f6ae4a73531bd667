"""How do fixed windows affect accuracy, compared to reading sentence by sentence?

    python benchmarks/windows.py en_sdp_dm_md corpus/texts/ood.spacy

scores a pipeline with a transformer on raw text, first unchanged, and then with
overlapping windows of 128 words, as usual with spacy-transformers.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import spacy
from spacy.training import Corpus
from spacy_transformers.span_getters import configure_strided_spans


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("pipeline", help="package or folder")
    parser.add_argument("texts", type=Path, help="gold standard, as .spacy")
    args = parser.parse_args()
    if not args.texts.is_file():
        parser.error(f"there is no file {args.texts}")
    nlp = spacy.load(args.pipeline)
    if not nlp.has_pipe("transformer"):
        parser.error("the pipeline must have a transformer")
    transformer = nlp.get_pipe("transformer").model
    contestants = {
        "sentences": transformer.attrs["get_spans"],
        "windows of 128 words": configure_strided_spans(window=128, stride=96),
    }
    print("| the transformer reads | LF1 | UF1 |\n|---|---|---|")
    for name, get_spans in contestants.items():
        transformer.attrs["get_spans"] = get_spans
        scores = nlp.evaluate(list(Corpus(args.texts)(nlp)))
        cells = [f"{100 * scores[key]:.2f}" for key in ("sdp_lf", "sdp_uf")]
        print("|", " | ".join([name, *cells]), "|")


if __name__ == "__main__":
    main()
