"""Fine-tuning of trained pipelines on other data."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import spacy
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config, registry, resolve_dot_names
from thinc.api import Config

from ..graph.extensions import get_graph
from ..pipeline.parser import SemanticParser

# Maximum number of unknown labels in an error, the most frequent ones first.
MOST_LABELS = 10


def fine_tune(
    pipeline: str,
    output_path: Path,
    *,
    config_path: Path | None = None,
    overrides: dict[str, Any] | None = None,
    use_gpu: int = -1,
) -> None:
    """Fine-tune a trained pipeline on other data.

    pipeline (str): The package or folder of the pipeline.
    output_path (Path): The folder to write `model-best` and `model-last` to.
    config_path (Optional[Path]): The config to train with, which must have the same
        components. Defaults to the config that the pipeline was trained with.
    overrides (Optional[Dict[str, Any]]): Settings to change, such as "paths.train".
    use_gpu (int): The GPU, or -1 for the CPU.
    """
    config = make_config(pipeline, config_path, overrides)
    nlp = init_nlp(config, use_gpu=use_gpu)
    check_labels(nlp, pipeline)
    output_path.mkdir(parents=True, exist_ok=True)
    train(nlp, output_path, use_gpu=use_gpu)


def make_config(
    pipeline: str,
    config_path: Path | None = None,
    overrides: dict[str, Any] | None = None,
) -> Config:
    """Create the config to fine-tune a pipeline.

    All components are sourced from the pipeline. All other settings are taken from the
    config.

    pipeline (str): The package or folder of the pipeline.
    config_path (Optional[Path]): As in `fine_tune`.
    overrides (Optional[Dict[str, Any]]): As in `fine_tune`.
    RETURNS (Config): The config.
    """
    nlp = spacy.load(pipeline)
    config = nlp.config if config_path is None else load_config(config_path)
    if different := set(nlp.component_names) ^ set(config["components"]):
        raise ValueError(
            f"{config_path} does not fit {pipeline}: only one of them has the "
            f"components {', '.join(sorted(different))}."
        )
    config = config.copy()
    config["components"] = {name: {"source": pipeline} for name in nlp.component_names}
    if nlp.vocab.vectors.n_keys:
        config["initialize"]["vectors"] = pipeline
    return Config().from_str(
        config.to_str(), interpolate=False, overrides=overrides or {}
    )


def check_labels(nlp: Language, pipeline: str) -> None:
    """Raise an error if the training data has labels that a parser does not have.

    nlp (Language): The pipeline, with the training config.
    pipeline (str): The name of the pipeline, for the error.
    """
    config = nlp.config.interpolate()
    training = registry.resolve(config["training"], schema=ConfigSchemaTraining)
    if training["max_epochs"] == -1:
        # The corpus is a stream, which may be infinite.
        return
    (corpus,) = resolve_dot_names(config, [training["train_corpus"]])
    parsers = [
        pipe
        for name, pipe in nlp.pipeline
        if isinstance(pipe, SemanticParser)
        and name not in training["frozen_components"]
    ]
    unknown = find_unknown_labels(parsers, corpus(nlp))
    if not unknown:
        return
    labels = [f"{name} ({count})" for name, count in unknown.most_common(MOST_LABELS)]
    if len(unknown) > MOST_LABELS:
        labels.append(f"and {len(unknown) - MOST_LABELS} more")
    raise ValueError(
        f"The training data has {unknown.total()} arcs with labels that {pipeline} "
        f"does not have: {', '.join(labels)}. Fine-tuning cannot add labels. Rename "
        "them in the data, leave out the sentences that have them, or train a new "
        "parser with `python -m spacy train`."
    )


def find_unknown_labels(
    parsers: Iterable[SemanticParser], examples: Iterable[Example]
) -> Counter[str]:
    """Count the arcs with labels that a parser does not have.

    parsers (Iterable[SemanticParser]): The parsers.
    examples (Iterable[Example]): The training data.
    RETURNS (Counter[str]): The number of arcs of each unknown label.
    """
    known = [(parser.attr, set(parser.labels)) for parser in parsers]
    unknown: Counter[str] = Counter()
    for example in examples:
        for attr, labels in known:
            graph = get_graph(example.reference, attr)
            for arc in graph.indexed_arcs if graph is not None else ():
                if arc.label not in labels:
                    unknown[arc.label] += 1
    return unknown
