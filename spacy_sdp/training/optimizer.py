"""Adam with a separate learning rate for the parameters of a transformer."""

import re
from typing import Any

from thinc.api import Optimizer
from thinc.config import registry
from thinc.optimizers import ADAM_DEFAULTS
from thinc.optimizers import FloatOrSeq as FloatOrSchedule
from thinc.types import FloatsXd

# How Hugging Face models name their parameters.
TRANSFORMER_PARAMETERS = (
    r"^(embeddings|embeddings_project|encoder|pooler|transformer|layers?|final_norm|"
    r"word_embedding|mask_emb|wte|wpe|h|ln_f)\b"
)


@registry.optimizers("spacy_sdp.Adam.v1")
def make_adam(
    learn_rate: FloatOrSchedule = ADAM_DEFAULTS["learn_rate"],
    *,
    transformer_learn_rate: FloatOrSchedule | None = None,
    transformer_parameters: str = TRANSFORMER_PARAMETERS,
    beta1: FloatOrSchedule = ADAM_DEFAULTS["beta1"],
    beta2: FloatOrSchedule = ADAM_DEFAULTS["beta2"],
    eps: FloatOrSchedule = ADAM_DEFAULTS["eps"],
    L2: FloatOrSchedule = ADAM_DEFAULTS["L2"],
    L2_is_weight_decay: bool = True,
    grad_clip: FloatOrSchedule = 0.0,
) -> "TwoRateAdam":
    """Create an Adam optimizer with two learning rates (and AdamW weight decay).

    learn_rate (float or schedule): The rate for all parameters except those of the
        transformer.
    transformer_learn_rate (float or schedule): The rate for the transformer's
        parameters. If None, `learn_rate` applies to them, too.
    transformer_parameters (str): A regular expression that matches the names of the
        transformer's parameters. If no name matches, training stops with an error.
    beta1, beta2, eps, L2, L2_is_weight_decay: As in thinc's Adam.
    grad_clip (float or schedule): Clips the gradient of each parameter by its own norm;
        0 disables it. The parser clips by the global norm, see its architecture.
    """
    return TwoRateAdam(
        learn_rate,
        transformer_learn_rate=transformer_learn_rate,
        transformer_parameters=compile_pattern(
            "transformer_parameters", transformer_parameters
        ),
        beta1=beta1,
        beta2=beta2,
        eps=eps,
        L2=L2,
        L2_is_weight_decay=L2_is_weight_decay,
        grad_clip=grad_clip,
        # thinc cannot write averages back to torch modules.
        use_averages=False,
    )


def compile_pattern(setting: str, pattern: str) -> re.Pattern[str]:
    """RETURNS (Pattern): The compiled regular expression of a setting."""
    try:
        return re.compile(pattern)
    except re.error as error:
        raise ValueError(
            f"The setting '{setting}' is not a regular expression: {pattern!r} "
            f"({error})."
        ) from None


class TwoRateAdam(Optimizer):
    """Adam with a separate rate for parameters whose names match a pattern."""

    transformer_learn_rate: float | None

    __slots__ = [
        "_models",
        "_steps",
        "pattern",
        "transformer_learn_rate",
    ]

    def __init__(
        self,
        learn_rate: FloatOrSchedule,
        *,
        transformer_learn_rate: FloatOrSchedule | None,
        transformer_parameters: re.Pattern[str],
        **settings: Any,
    ) -> None:
        super().__init__(learn_rate, **settings)
        self.pattern = transformer_parameters
        self._steps = 0
        # Maps ids of torch modules to whether their parameters are a transformer's.
        self._models: dict[int, bool] = {}
        self.transformer_learn_rate = None
        if transformer_learn_rate is not None:
            self._set_attr_or_schedule("transformer_learn_rate", transformer_learn_rate)

    def __call__(
        self,
        key: tuple[int, str],
        weights: FloatsXd,
        gradient: FloatsXd,
        *,
        lr_scale: float = 1.0,
    ) -> tuple[FloatsXd, FloatsXd]:
        if self.transformer_learn_rate is None or not self._is_transformer(*key):
            return super().__call__(key, weights, gradient, lr_scale=lr_scale)
        # The base class multiplies by its own rate, also in the weight decay. Replace
        # the rate instead of scaling it, because it may be 0 in a warm-up.
        rate, self.learn_rate = self.learn_rate, self.transformer_learn_rate
        try:
            return super().__call__(key, weights, gradient, lr_scale=lr_scale)
        finally:
            self.learn_rate = rate

    def _is_transformer(self, model: int, name: str) -> bool:
        matches = bool(self.pattern.search(name))
        # thinc's own layers have ids like those of torch modules, but short names.
        is_torch = matches or "." in name
        if is_torch and self._models.setdefault(model, matches) != matches:
            raise ValueError(
                "The optimizer has a 'transformer_learn_rate', but the pattern of "
                f"'transformer_parameters' ({self.pattern.pattern!r}) matches only "
                f"some of its parameters. Change the pattern so that it fits {name!r}."
            )
        return matches

    def step_schedules(self) -> None:
        """Advance the schedules by one step, after each update.

        By then, `spacy train` has updated every parameter. `nlp.update` updates a
        transformer with the gradient of the previous call, so the pattern is not
        checked after the first step.
        """
        self._steps += 1
        if self._steps > 1:
            self._check_pattern()
        super().step_schedules()

    def _check_pattern(self) -> None:
        updated = any(self.pattern.search(name) for _, name in self.nr_update)
        if self.transformer_learn_rate is not None and not updated:
            raise ValueError(
                "The optimizer has a 'transformer_learn_rate', but the pattern of "
                f"'transformer_parameters' ({self.pattern.pattern!r}) matches no "
                "parameter that was updated. Remove the rate if there is no trainable "
                "transformer, or change the pattern."
            )
