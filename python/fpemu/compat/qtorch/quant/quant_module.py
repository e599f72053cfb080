# SPDX-License-Identifier: BSD-2-Clause
"""A quantiser as a module."""

from __future__ import annotations

import torch

from ..number import Number
from .quant_function import quantizer

__all__ = ["Quantizer"]


class Quantizer(torch.nn.Module):
    """Rounds what passes through it: tensors forward, gradients backward. Arguments as `quantizer`."""

    def __init__(self, forward_number: Number | None = None, backward_number: Number | None = None,
                 forward_rounding: str = "stochastic", backward_rounding: str = "stochastic") -> None:
        super().__init__()
        self.quantize = quantizer(forward_number, backward_number, forward_rounding, backward_rounding)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.quantize(x)
