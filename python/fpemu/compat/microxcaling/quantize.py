# SPDX-License-Identifier: BSD-2-Clause
"""bfloat and fp with gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from ..._first_order import apply, tied
from .elemwise_ops import quantize_elemwise_op
from .specs import apply_mx_specs, get_backwards_mx_specs


class QuantizeBfloatFunction(torch.autograd.Function):
    """Rounds to bfloat or fp forward, and gradients backward."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, mx_specs: Any, round: str | None = None) -> torch.Tensor:  # noqa: A002
        ctx.round = mx_specs["round"] if round is None else round
        ctx.mx_specs = get_backwards_mx_specs(mx_specs)
        return quantize_elemwise_op(x, mx_specs, ctx.round)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        rounded = quantize_elemwise_op(gradients[0], ctx.mx_specs, ctx.round)
        found = rounded, None, None
        return found if rounded is gradients[0] else tied(found, *gradients)


def quantize_bfloat(x: torch.Tensor, mx_specs: Mapping[str, Any] | None, round: str | None = None  # noqa: A002
                    ) -> torch.Tensor:
    """x to the float of mx_specs, its gradient too where quantize_backprop is true. x itself without specs."""
    if mx_specs is None:
        return x
    specs = apply_mx_specs(mx_specs)
    return apply(QuantizeBfloatFunction, x, specs, round)
