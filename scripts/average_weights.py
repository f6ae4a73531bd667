"""Average the weights of pipelines that were trained from the same one.

    python scripts/average_weights.py training/0/model-last training/1/model-last mean

Trainings that go on from one parser (scripts/go_on.py), each with a seed of its own,
end close to each other. Their mean makes fewer mistakes than each of them, depends less
on chance, and is as small and fast as one.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import spacy
import torch
from spacy.language import Language
from torch import Tensor
from weights import change_weights


def average_weights(pipelines: list[Language]) -> Language:
    """RETURNS (Language): The first pipeline, with the mean of the weights of all."""
    kinds = {(*nlp.component_names, str(nlp.pipe_labels)) for nlp in pipelines}
    try:
        if len(kinds) > 1:
            raise ValueError("other components or labels")
        change_weights(mean, *pipelines)
    except (ValueError, RuntimeError) as error:
        raise ValueError(
            "These pipelines were not trained from the same one, so their mean makes "
            f"no sense: {error}."
        ) from None
    return pipelines[0]


def mean(*weights: Tensor) -> Tensor:
    return torch.stack(weights).mean(0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", type=Path, nargs="+", help="folders of pipelines")
    parser.add_argument("target", type=Path, help="the folder to write")
    args = parser.parse_args()
    pipelines = [spacy.load(source) for source in args.sources]
    try:
        average_weights(pipelines).to_disk(args.target)
    except ValueError as error:
        parser.error(str(error))
    print(f"{args.target}: the mean of {len(pipelines)} pipelines")


if __name__ == "__main__":
    main()
