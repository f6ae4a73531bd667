"""Round the weights of a pipeline to 8 significant bits (bfloat16).

    python scripts/round_weights.py training/small/model-best training/small/rounded

They stay 32-bit numbers, so nothing else changes, but a packed file has less than half
the size.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy
import spacy
import torch
from spacy.language import Language


def round_weights(nlp: Language) -> None:
    """Round all weights of all components, in place."""
    for _, component in nlp.components:
        if not hasattr(component, "model"):
            continue
        for node in component.model.walk():
            for name in node.param_names:
                if node.has_param(name):
                    node.set_param(name, round_array(node.get_param(name)))
            for shim in node.shims:
                with torch.no_grad():
                    for weights in getattr(shim._model, "parameters", list)():
                        weights.copy_(weights.bfloat16().float())


def round_array(array: numpy.ndarray) -> numpy.ndarray:
    return torch.from_numpy(numpy.array(array)).bfloat16().float().numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    args = parser.parse_args()
    nlp = spacy.load(args.source)
    round_weights(nlp)
    nlp.to_disk(args.target)
    print(f"{args.target}: all weights rounded to bfloat16")


if __name__ == "__main__":
    main()
