"""Keep some parameters of a torch module as they are in training."""

import re
from collections.abc import Callable
from functools import partial

from spacy.language import Language
from spacy.util import registry


@registry.callbacks("spacy_sdp.freeze_parameters.v1")
def make_freeze_parameters(
    component: str = "transformer", pattern: str = r"\bword_embeddings\b"
) -> Callable[[Language], None]:
    """Make a callback for `[initialize] after_init` that freezes parameters of torch.

    Their gradient is not even computed, which for the vectors of word pieces takes a
    good part of a step on a CPU.

    component (str): Name of the component whose parameters are meant.
    pattern (str): A regular expression; parameters whose name it finds stay as they
        are. If there are none, training does not begin.
    """
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise ValueError(
            "The setting 'pattern' of spacy_sdp.freeze_parameters.v1 is not a regular "
            f"expression: {pattern!r} ({error})."
        ) from None
    return partial(freeze_parameters, component=component, pattern=compiled)


def freeze_parameters(
    nlp: Language, *, component: str, pattern: re.Pattern[str]
) -> None:
    """Freeze the torch parameters of a component whose name a pattern finds.

    nlp (Language): The initialized pipeline.
    component (str): Name of the component, which may be disabled.
    pattern (Pattern): The regular expression.
    """
    # Not `nlp.get_pipe`: components with weights are disabled while others initialize.
    pipe = dict(nlp.components).get(component)
    if pipe is None:
        raise ValueError(
            f"Cannot freeze parameters of '{component}': the pipeline has no such "
            f"component, but {', '.join(nlp.component_names) or 'none'}. Change "
            "'component' in [initialize.after_init]."
        )
    layers = pipe.model.walk() if hasattr(pipe, "model") else ()
    modules = [shim._model for layer in layers for shim in layer.shims]
    names = []
    for module in modules:
        for name, parameter in module.named_parameters():
            names.append(name)
            if pattern.search(name):
                parameter.requires_grad_(False)
    if not any(map(pattern.search, names)):
        raise ValueError(
            f"Cannot freeze parameters of '{component}': the pattern "
            f"{pattern.pattern!r} matches none of the names of its {len(names)} torch "
            f"parameters{f', such as {names[0]!r}' if names else ''}. Change 'pattern' "
            "in [initialize.after_init]."
        )
