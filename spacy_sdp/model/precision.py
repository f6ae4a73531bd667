"""The precision of matrix multiplication on CPUs."""

from __future__ import annotations

from typing import Literal

import torch
from thinc.api import get_torch_default_device

Precision = Literal["float32", "bfloat16"]

# torch's names for the bfloat16 instructions of Intel and AMD, and of ARM.
INSTRUCTIONS = ("amx_bf16", "avx512_bf16", "bf16")


def check_precision(precision: Precision) -> None:
    """Raise an error if bfloat16 would be slower than float32.

    precision (str): The value of a setting `precision`, which only applies to CPUs.
    """
    if precision == "float32" or get_torch_default_device().type != "cpu":
        return
    # PyTorch before 2.13 does not report capabilities.
    if not hasattr(torch.cpu, "get_capabilities"):
        return
    capabilities = torch.cpu.get_capabilities()
    if not any(capabilities.get(name) for name in INSTRUCTIONS):
        raise ValueError(
            "The setting precision = 'bfloat16' requires a processor with bfloat16 "
            f"instructions (one of {', '.join(INSTRUCTIONS)}), which this one does not "
            "have. Set it to 'float32'. This also works for pipelines that were "
            "trained with 'bfloat16', because the weights are the same."
        )


def autocast(precision: Precision) -> torch.autocast:
    """Get a context in which CPUs multiply matrices in the given precision.

    Weights and gradients stay in float32. Backward passes use the precision of the
    forward pass, and must run outside of the context.
    """
    return torch.autocast("cpu", torch.bfloat16, enabled=precision == "bfloat16")
