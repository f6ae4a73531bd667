"""A learning rate schedule that decays until the end of training."""

import re
import sys
from collections.abc import Iterable

from thinc.api import warmup_linear
from thinc.config import registry


@registry.schedules("spacy_sdp.warmup_linear.v1")
def make_warmup_linear(
    initial_rate: float, warmup_steps: int, total_steps: int | str
) -> Iterable[float]:
    """Create thinc's warmup_linear.v1, but allow a config variable as total_steps.

    Outside of `spacy train`, spaCy resolves [training.optimizer] without the rest of
    the config: in `debug data`, `debug model` and `nlp.resume_training()`. The variable
    then has no value, and the number of steps is not known in advance.

    initial_rate (float): The rate at the end of the warm-up.
    warmup_steps (int): The number of steps in which the rate increases from 0.
    total_steps (int or str): The step at which the rate is 0 again. If it is a variable
        without a value, such as "${training.max_steps}", the rate does not decay.
    RETURNS (Iterable[float]): The rate of each step.
    """
    if isinstance(total_steps, str):
        if not re.fullmatch(r"\$\{.+\}", total_steps):
            raise ValueError(
                "The setting 'total_steps' must be a number of steps or a variable "
                f"such as ${{training.max_steps}}, not {total_steps!r}."
            )
        total_steps = sys.maxsize
    return warmup_linear(initial_rate, warmup_steps, total_steps)
