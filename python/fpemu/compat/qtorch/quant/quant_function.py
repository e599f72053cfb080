# SPDX-License-Identifier: BSD-2-Clause
"""Quantisers as functions: which format and setting of libfpemu qtorch's arguments stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

import fpemu

from ...._first_order import apply, tied
from ..number import BlockFloatingPoint, FixedPoint, FloatingPoint, Number, require

__all__ = ["block_quantize", "fixed_point_quantize", "float_quantize", "quantizer"]

# The most bits of a fixed-point number that binary32 holds, and with them the range that stands for "no range": from
# 2^24 steps on every binary32 number is a whole number of steps.
WIDEST_FIXED = 25

_nearest = {"float": fpemu.rounding("qpytorch"), "fixed": fpemu.rounding("qpytorch-fixed"),
            "block": fpemu.rounding("qpytorch")}
_stochastic = {"float": fpemu.rounding("qpytorch-sr"), "fixed": fpemu.rounding("qpytorch-fixed-sr"),
               "block": fpemu.rounding("qpytorch-sr")}


def _round(x: torch.Tensor, spec: str, kind: str, rounding: str, axis: int = -1) -> torch.Tensor:
    require(isinstance(x, torch.Tensor), "x is not a tensor")
    require(rounding in ("stochastic", "nearest"), f"rounding is stochastic or nearest, not {rounding}")
    if x.dtype != torch.float32:
        raise TypeError(f"qtorch quantises float32 tensors, not {x.dtype}")
    x = x.detach().contiguous()
    if rounding == "nearest":
        return fpemu.quantize(x, spec, _nearest[kind], axis=axis)
    from fpemu.torch import quantize  # noqa: PLC0415 - takes seconds

    state = torch.zeros(3, dtype=torch.int64)
    state[0] = torch.randint(1 << 62, ())  # a tensor, which a graph draws anew in every call
    return quantize(x, spec, _stochastic[kind], axis=axis, state=state)


def _unclamped(x: torch.Tensor, fl: int, rounding: str) -> torch.Tensor:
    """Fixed point without ends."""
    y = _round(x, f"fixed({WIDEST_FIXED},{fl})", "fixed", rounding)
    return torch.where(x.detach().abs() < 2.0 ** (WIDEST_FIXED - 1 - fl), y, x.detach())


def _ends(wl: int, fl: int, symmetric: bool) -> tuple[float, float]:
    low, step = -(2.0 ** (wl - fl - 1)), 2.0**-fl
    return (low + step if symmetric else low), -low - step


def fixed_point_quantize(x: torch.Tensor, wl: int, fl: int, clamp: bool = True, symmetric: bool = False,
                         rounding: str = "stochastic") -> torch.Tensor:
    """x to fixed point of `wl` bits in steps of 2^-fl: a new float32 tensor of x's shape, without gradient.

    clamp: numbers beyond the range become its ends, else the range has none. symmetric: without the lowest number.
    rounding: "stochastic" or "nearest" (ties to even).
    """
    if wl == -1 and fl != -1:
        raise ValueError(f"fixed point of word length {wl} and fraction length {fl}")
    if clamp and wl <= WIDEST_FIXED:
        return _round(x, f"fixed({wl},{fl})" + (":symmetric" if symmetric else ""), "fixed", rounding)
    y = _unclamped(x, fl, rounding)
    return y.clamp(*_ends(wl, fl, symmetric)) if clamp else y


def block_quantize(x: torch.Tensor, wl: int, dim: int = -1, rounding: str = "stochastic") -> torch.Tensor:
    """x to block floating point of `wl` bits: a new float32 tensor of x's shape, without gradient.

    dim: -1, all of x has one exponent; else all elements of one index along dimension `dim`. rounding: "stochastic" or
    "nearest" (ties toward +infinity).
    """
    block = "tensor" if dim == -1 else "channel"
    return _round(x, f"bfp({wl - 1},block={block})", "block", rounding, max(dim, 0) if x.dim() else -1)


def float_quantize(x: torch.Tensor, exp: int, man: int, rounding: str = "stochastic") -> torch.Tensor:
    """x to floats of `exp` exponent bits and `man` stored fraction bits: a new float32 tensor, without gradient.

    rounding: "stochastic" or "nearest" (ties away from zero).
    """
    return _round(x, f"float(8,{man})" if exp == 8 else f"fp({exp},{man},0)", "float", rounding)


def _function(number: Number | None, rounding: str) -> Callable[[torch.Tensor], torch.Tensor]:
    """What rounds to a number."""
    if isinstance(number, FixedPoint):
        return lambda x: fixed_point_quantize(x, number.wl, number.fl, number.clamp, number.symmetric, rounding)
    if isinstance(number, BlockFloatingPoint):
        return lambda x: block_quantize(x, number.wl, number.dim, rounding)
    if isinstance(number, FloatingPoint):
        return lambda x: float_quantize(x, number.exp, number.man, rounding)
    require(number is None, f"{number!r} is no number of qtorch")
    return lambda x: x


class _Straight(torch.autograd.Function):
    """Rounded forward, rounded backward."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, forward: Any, backward: Any) -> torch.Tensor:
        ctx.backward_function = backward
        return forward(x)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        rounded = ctx.backward_function(gradients[0]) if ctx.needs_input_grad[0] else None
        found = rounded, None, None
        return found if rounded is gradients[0] else tied(found, *gradients)


class _Clamped(torch.autograd.Function):
    """The same for fixed point, with gradients of zero where x was clamped."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, number: FixedPoint, rounding: str,
                hooks: Any, backward: Any) -> torch.Tensor:
        ctx.hooks, ctx.backward_function = hooks, backward
        rounded = _unclamped(x, number.fl, rounding)
        low, high = _ends(number.wl, number.fl, number.symmetric)
        ctx.save_for_backward((rounded > high) | (rounded < low))
        return rounded.clamp(low, high)

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        (mask,), g = ctx.saved_tensors, gradients[0]
        if not ctx.needs_input_grad[0]:
            return None, None, None, None, None
        if ctx.backward_function is not None:
            for hook in ctx.hooks:
                g = hook(g)
            g = ctx.backward_function(g).masked_fill(mask, 0)
        found = g, None, None, None, None
        return found if g is gradients[0] else tied(found, *gradients)


def quantizer(forward_number: Number | None = None, backward_number: Number | None = None,
              forward_rounding: str = "stochastic", backward_rounding: str = "stochastic",
              clamping_grad_zero: bool = False,
              backward_hooks: Iterable[Callable[[torch.Tensor], torch.Tensor]] = ()
              ) -> Callable[[torch.Tensor], torch.Tensor]:
    """A function on tensors that rounds to one number forward, and gradients to another backward.

    forward_number, backward_number: None passes them as they are. forward_rounding, backward_rounding: "stochastic" or
    "nearest". clamping_grad_zero: with a clamping FixedPoint forward and a backward number, gradients of what was
    clamped are zero, and backward_hooks are applied to gradients before they are rounded; as in qtorch, without
    clamping_grad_zero no hook is applied, and without a backward number neither happens.
    """
    for rounding in (forward_rounding, backward_rounding):
        require(rounding in ("stochastic", "nearest"), f"rounding is stochastic or nearest, not {rounding}")
    forward, backward = _function(forward_number, forward_rounding), _function(backward_number, backward_rounding)
    if not clamping_grad_zero or forward_number is None:
        if clamping_grad_zero and backward_number is not None and list(backward_hooks):
            rounded, hooks = backward, tuple(backward_hooks)

            def backward(g: torch.Tensor) -> torch.Tensor:
                for hook in hooks:
                    g = hook(g)
                return rounded(g)
        return lambda x: apply(_Straight, x, forward, backward)
    if not isinstance(forward_number, FixedPoint):
        raise ValueError("gradients of what is clamped are set to zero for fixed point only")
    require(forward_number.clamp is True, "clamping_grad_zero goes with a number that clamps")
    after = None if backward_number is None else backward
    return lambda x: apply(_Clamped, x, forward_number, forward_rounding, tuple(backward_hooks), after)
