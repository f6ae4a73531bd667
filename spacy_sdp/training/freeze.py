"""Freezing of torch parameters in training."""

import re
from collections.abc import Callable
from functools import partial

from spacy.language import Language
from spacy.util import registry

from .optimizer import compile_pattern


@registry.callbacks("spacy_sdp.freeze_parameters.v1")
def make_freeze_parameters(
    component: str = "transformer", pattern: str = r"\bword_embeddings\b"
) -> Callable[[Language], None]:
    """Create a callback for `[initialize] after_init` that freezes torch parameters.

    Their gradients are not computed. For word piece embeddings, this saves a good part
    of each training step on a CPU.

    component (str): The name of the component.
    pattern (str): A regular expression. Parameters with a matching name are frozen. If
        no name matches, training does not start.
    """
    compiled = compile_pattern("pattern", pattern)
    return partial(freeze_parameters, component=component, pattern=compiled)


def freeze_parameters(
    nlp: Language, *, component: str, pattern: re.Pattern[str]
) -> None:
    """Freeze the torch parameters of a component whose names match a pattern.

    nlp (Language): The initialized pipeline.
    component (str): The name of the component, which may be disabled.
    pattern (Pattern): The regular expression.
    """
    if component not in nlp.component_names:
        raise ValueError(
            f"Cannot freeze parameters of '{component}': the pipeline has no such "
            f"component (found: {', '.join(nlp.component_names) or 'none'}). Change "
            "'component' in [initialize.after_init]."
        )
    pipe = nlp.get_pipe(component)
    layers = pipe.model.walk() if hasattr(pipe, "model") else ()
    modules = [shim._model for layer in layers for shim in layer.shims]
    parameters = [pair for module in modules for pair in module.named_parameters()]
    if not parameters:
        raise ValueError(
            f"Cannot freeze parameters of '{component}': it has no torch parameters. "
            "Change 'component' in [initialize.after_init]."
        )
    frozen = [parameter for name, parameter in parameters if pattern.search(name)]
    if not frozen:
        raise ValueError(
            f"Cannot freeze parameters of '{component}': the pattern "
            f"{pattern.pattern!r} matches none of the names of its {len(parameters)} "
            f"torch parameters, such as {parameters[0][0]!r}. Change 'pattern' in "
            "[initialize.after_init]."
        )
    for parameter in frozen:
        parameter.requires_grad_(False)
