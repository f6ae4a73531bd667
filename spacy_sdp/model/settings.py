"""The settings of the model, each declared in a single place.

A setting is a field of a dataclass, with its type, default, limits and description. The
signature, the checks and the documentation of registered functions are derived from it.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable)


def setting(
    default: Any,
    about: str,
    *,
    least: float | None = None,
    below: float | None = None,
    choices: tuple[str, ...] | None = None,
) -> Any:
    """Declare a setting.

    default (Any): The default.
    about (str): The description.
    least (Optional[float]): The minimum value.
    below (Optional[float]): The value must be less than this.
    choices (Optional[Tuple[str, ...]]): The allowed values. For a list, the values that
        it may contain.
    """
    limits = {"least": least, "below": below, "choices": choices}
    return field(default=default, metadata={"about": about, **limits})


def check_settings(settings: Any) -> None:
    """Raise an error if a setting has an invalid value.

    settings (Any): A dataclass of settings.
    """
    for each in fields(settings):
        value, name = getattr(settings, each.name), f"The setting '{each.name}'"
        least, below, choices = (
            each.metadata.get(key) for key in ("least", "below", "choices")
        )
        # Also refuses NaN, for which every comparison is false.
        if least is not None and value is not None and not value >= least:
            raise ValueError(f"{name} must be at least {least}, not {value}.")
        if below is not None and not value < below:
            raise ValueError(f"{name} must be less than {below}, not {value}.")
        if choices is None:
            continue
        options = ", ".join(map(repr, choices))
        if isinstance(value, str):
            if value not in choices:
                raise ValueError(f"{name} must be one of {options}, not {value!r}.")
        elif not value or not set(value) <= set(choices):
            raise ValueError(
                f"{name} must contain at least one of {options} and nothing else, not "
                f"{list(value)}."
            )


def describe_settings(settings: type) -> str:
    """Format the documentation of settings as a list of arguments.

    settings (type): A dataclass of settings.
    """
    return "\n".join(
        f"    {each.name} ({_type_name(each.type)}): {each.metadata.get('about', '')}"
        for each in fields(settings)
    )


def _type_name(type_: Any) -> str:
    return type_.__name__ if isinstance(type_, type) else str(type_)


def takes_settings(settings: type) -> Callable[[Function], Function]:
    """Add the settings of a dataclass to the signature and docstring of a function.

    They replace its `**kwargs`, so that spaCy finds the arguments of the registered
    function and `help()` shows their documentation.

    settings (type): A dataclass of settings.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function)
        own = [
            each
            for each in signature.parameters.values()
            if each.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        keywords = [
            inspect.Parameter(
                each.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=each.default,
                annotation=each.type,
            )
            for each in fields(settings)
        ]
        function.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*own, *keywords]
        )
        function.__doc__ = f"{function.__doc__}\n{describe_settings(settings)}\n    "
        return function

    return decorate


SCORES = ("factored", "joint", "unlabelled")


@dataclass(frozen=True)
class Settings:
    """The settings that apply to all inference algorithms."""

    scores: str = setting(
        "factored",
        "How first-order scores are computed. 'factored': the score of the arc plus "
        "the log-probability of its label, so that all labels learn together which "
        "words are connected. 'joint': one independent score for each label, as in "
        "the paper. 'unlabelled': arcs are predicted first, and a separate classifier "
        "labels them.",
        choices=SCORES,
    )
    lstm_width: int = setting(200, "Width of the BiLSTM in each direction.", least=1)
    lstm_depth: int = setting(
        1, "Number of BiLSTM layers; 0 removes the BiLSTM.", least=0
    )
    bypass_lstm: bool = setting(
        False,
        "Concatenate the LSTM's input with its output, which gives a fine-tuned "
        "transformer a shorter path to the scores.",
    )
    mlp_width: int = setting(
        150, "Width of the layers before the first-order scores.", least=1
    )
    label_width: int | None = setting(
        None,
        "Width of the layers before the label scores, if arcs and labels are scored "
        "separately ('factored' and 'unlabelled'). Defaults to mlp_width.",
        least=1,
    )
    embed_dropout: float = setting(
        0.33,
        "Dropout of the LSTM's input. If frames are predicted, also the share of words "
        "whose form is hidden from them.",
        least=0,
        below=1,
    )
    lstm_dropout: float = setting(
        0.33, "Dropout between the LSTM's layers and of its output.", least=0, below=1
    )
    mlp_dropout: float = setting(
        0.33, "Dropout of the layers before scores and factors.", least=0, below=1
    )
    prune: float = setting(
        0.01,
        "Arcs whose first-order probability is lower are neither labelled nor passed "
        "to inference, and never predicted. 0 disables pruning.",
        least=0,
        below=1,
    )
    max_pairs: int = setting(
        50_000,
        "Maximum number of word pairs that are scored at a time. It limits the memory "
        "for a batch and, in prediction, also for a long sentence. It does not change "
        "the result. Training and inference without pruning hold all pairs of a "
        "sentence in memory.",
        least=1,
    )
    frames: bool = setting(
        False,
        "Also predict the frames of words. At least some Docs in the training data "
        "must have frames.",
    )
    min_frame_count: int = setting(
        1,
        "Frames that are less frequent in the training data are not learned. Ignored "
        "without frames.",
        least=1,
    )
    frame_weight: float = setting(
        0.5,
        "Weight of the frame loss; the weight of the arc loss is 1. Ignored without "
        "frames.",
        least=0,
    )
    grad_clip: float = setting(
        5.0,
        "Maximum global norm of the gradient of the parser's own parameters, excluding "
        "tok2vec; 0 disables clipping.",
        least=0,
    )

    def __post_init__(self) -> None:
        check_settings(self)
        if self.scores == "joint" and self.label_width is not None:
            raise ValueError(
                "The setting 'label_width' has no effect with scores = 'joint', where "
                "'mlp_width' is the width of all scores. Set it to null."
            )

    @property
    def labelled(self) -> bool:
        """Whether inference sees the labels of arcs."""
        return self.scores != "unlabelled"

    @property
    def arcs_apart(self) -> bool:
        """Whether arcs and labels are scored separately."""
        return self.scores != "joint"
