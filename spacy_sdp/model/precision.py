"""What matrices are multiplied in."""

from __future__ import annotations

from typing import Literal

import torch
from thinc.api import get_torch_default_device

Precision = Literal["float32", "bfloat16"]

# What torch calls the instructions for bfloat16, of Intel and AMD and of ARM.
INSTRUCTIONS = ("amx_bf16", "avx512_bf16", "bf16")


def check_precision(precision: Precision) -> None:
    """Refuse bfloat16 where it would be slower than float32.

    precision (str): The value of a setting `precision`, which is for CPUs.
    """
    if precision == "float32" or get_torch_default_device().type != "cpu":
        return
    # PyTorch before 2.13 does not tell.
    if not hasattr(torch.cpu, "get_capabilities"):
        return
    capabilities = torch.cpu.get_capabilities()
    if not any(capabilities.get(name) for name in INSTRUCTIONS):
        raise ValueError(
            "The setting precision = 'bfloat16' needs a processor with instructions "
            f"for it (one of {', '.join(INSTRUCTIONS)}), and this one has none. Set it "
            "to 'float32', also when a pipeline that was trained with 'bfloat16' is "
            "loaded; the weights are the same."
        )


def autocast(precision: Precision) -> torch.autocast:
    """Multiply in a precision on CPUs, while the context lasts.

    Weights and gradients stay in float32. Backward passes follow the forward pass, and
    have to be outside of the context.
    """
    return torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16")
