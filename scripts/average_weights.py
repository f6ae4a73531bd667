"""Average the weights of pipelines that were trained from the same one.

    python scripts/average_weights.py training/0/model-last training/1/model-last \\
        --output mean

Trainings that go on from one parser (scripts/go_on.py), each with a seed of its own,
end close to each other. Their mean makes fewer mistakes than each of them, and is as
small and fast as one.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from spacy.language import Language
from torch import Tensor
from trained_pipelines import get_weights, load, set_weights

# Least cosine between the weights of a component in two trainings. That of the parsers
# of workflow minilm, which went on for 2,000 steps, is 0.95; that of parsers that were
# trained from the start is less than 0.5.
LEAST_COSINE = 0.7


def average_weights(pipelines: list[Language]) -> Language:
    """Give the first pipeline the mean of the weights of all.

    pipelines (List[Language]): Pipelines that were trained from the same one.
    RETURNS (Language): The first one, without scores, as it was not scored yet.
    """
    first, *others = pipelines
    for other in others:
        for what in ("component_names", "pipe_labels"):
            if getattr(first, what) != getattr(other, what):
                raise ValueError(f"their {what.replace('_', ' ')} differ.")
    for name, component in first.components:
        weights = [get_weights(component)]
        for other in others:
            weights.append(get_weights(other.get_pipe(name)))
            check_similar(name, weights[0], weights[-1])
        means = [torch.stack(each).mean(0) for each in zip(*weights, strict=True)]
        set_weights(component, means)
    first.meta["performance"] = {}
    return first


def check_similar(name: str, first: list[Tensor], other: list[Tensor]) -> None:
    """Raise a ValueError if two components did not begin with the same weights."""
    if [each.shape for each in first] != [each.shape for each in other]:
        raise ValueError(f"the weights of '{name}' have different shapes.")
    if not first:
        return
    a, b = (torch.cat([each.flatten() for each in w]) for w in (first, other))
    cosine = float(torch.cosine_similarity(a, b, dim=0))
    if cosine < LEAST_COSINE:
        raise ValueError(
            f"those of '{name}' did not begin with the same weights (their cosine is "
            f"{cosine:.2f})."
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pipelines", nargs="+", help="packages, folders or wheels")
    parser.add_argument(
        "--output", type=Path, required=True, help="the folder to write"
    )
    args = parser.parse_args()
    if len(args.pipelines) < 2:
        parser.error("name at least two pipelines.")
    pipelines = [load(each, parser) for each in args.pipelines]
    try:
        average = average_weights(pipelines)
    except ValueError as error:
        parser.error(
            "the mean of these pipelines makes no sense, as they were not trained from "
            f"the same one: {error}"
        )
    args.output.mkdir(parents=True, exist_ok=True)
    average.to_disk(args.output)
    print(f"{args.output}: the mean of {len(pipelines)} pipelines")


if __name__ == "__main__":
    main()
