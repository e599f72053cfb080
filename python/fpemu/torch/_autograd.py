"""Gradients of the operators, registered below as kernels of autograd's dispatch key.

A rounding has the derivative zero almost everywhere; what is used in its place is the straight-through estimator
(Bengio, Leonard, Courville 2013): the gradient passes as it is, or, clipped, where the input lies inside
[lowest, max]. All formulas are made of differentiable operators, so that gradients of gradients are those of the
surrogate.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ._spec import block_of, format_of, is_stochastic, signed

# Gradients take the random bits of the stream whose number differs in the top bit.
GRADIENT_STREAM = signed(1 << 63)


def redispatch(name: str, keyset: Any, stats: Tensor | None, *args: Any) -> Any:
    """Calls what stands below autograd of an operator, or, with counters, of its like that counts."""
    packet = getattr(torch.ops.fpemu, name if stats is None else counted(name))
    if stats is not None:
        args = (stats, *args)
    op = packet.default
    with torch._C._AutoDispatchBelowAutograd():
        return op.redispatch(keyset & torch._C._after_autograd_keyset, *args)


def counted(name: str) -> str:
    """The name of an operator that counts."""
    return name[:-1] + "_counted_" if name.endswith("_") else name + "_counted"


def call(name: str, stats: Tensor | None, *args: Any, **keywords: Any) -> Any:
    """Calls an operator, or, with counters, its like that counts."""
    if stats is None:
        return getattr(torch.ops.fpemu, name).default(*args, **keywords)
    return getattr(torch.ops.fpemu, counted(name)).default(stats, *args, **keywords)


def wants_gradient(*tensors: Tensor | None) -> bool:
    """Whether autograd records a call on these."""
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)


def inside_range(x: Tensor, format: str) -> Tensor:
    """Where the clipped estimator lets the gradient pass: lowest <= x <= max. NaN lies nowhere."""
    f = format_of(format)
    if block_of(f) is not None:
        raise ValueError(f"clipped straight-through needs a range, and that of {format} follows its blocks: use "
                         "ste='identity'")
    return (x >= f.lowest) & (x <= f.max)


class _Quantize(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, keyset: Any, stats: Tensor | None, x: Tensor, format: str, rounding: str,
                state: Tensor | None, axis: int, ste: str, backward: str | None, backward_rounding: str,
                backward_stats: Tensor | None, whole: Any, start: Any, tensor_range: Tensor | None) -> Tensor:
        ctx.axis, ctx.part = axis, (whole, start)
        ctx.backward, ctx.backward_rounding, ctx.backward_stats = backward, backward_rounding, backward_stats
        saved: list[Tensor | None] = [None, None]
        if ste == "clipped":
            saved[0] = inside_range(x, format)
        if backward is not None and state is not None and is_stochastic(backward_rounding):
            saved[1] = state.clone()  # the caller's moves on
        ctx.save_for_backward(*saved)
        y: Tensor = redispatch("quantize", keyset, stats, x, format, rounding, state, axis, ste, backward,
                               backward_rounding, backward_stats, whole, start, tensor_range)
        return y

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        (gradient,) = gradients
        mask, state = ctx.saved_tensors
        if ctx.backward is not None:
            whole, start = ctx.part
            if state is not None:
                state = state + torch.tensor([0, GRADIENT_STREAM, 0])
            gradient = call(
                "quantize", ctx.backward_stats, gradient, ctx.backward, ctx.backward_rounding, state, ctx.axis,
                whole=whole, start=start)
        if mask is not None:
            gradient = torch.where(mask, gradient, 0.0)
        return (None, None, gradient, *[None] * 11)


def quantize(keyset: Any, stats: Tensor | None, x: Tensor, format: str, rounding: str = "rne",
             state: Tensor | None = None, axis: int = -1, ste: str = "identity", backward: str | None = None,
             backward_rounding: str = "rne", backward_stats: Tensor | None = None, whole: Any = None,
             start: Any = None, range: Tensor | None = None) -> Tensor:
    args = (keyset, stats, x, format, rounding, state, axis, ste, backward, backward_rounding, backward_stats, whole,
            start, range)
    if wants_gradient(x):
        y: Tensor = _Quantize.apply(*args)  # type: ignore[no-untyped-call]
        return y
    below: Tensor = redispatch("quantize", *args)
    return below


def _reduce_to(gradient: Tensor, shape: torch.Size) -> Tensor:
    """Sums over what broadcasting had repeated."""
    return gradient.sum_to_size(shape) if gradient.shape != shape else gradient


def _product(a: Tensor, b: Tensor, spec: str | None, state: Tensor | None, number: int) -> Tensor:
    if spec is None:
        return torch.matmul(a, b)
    if state is not None:
        state = state + torch.tensor([0, signed(number << 62), 0])
    product: Tensor = torch.ops.fpemu.matmul.default(a, b, spec, state, spec)
    return product


class _Matmul(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, keyset: Any, stats: Tensor | None, a: Tensor, b: Tensor, spec: str, state: Tensor | None,
                backward: str | None) -> Tensor:
        ctx.spec = backward
        keep = state.clone() if backward is not None and state is not None else None
        ctx.save_for_backward(a, b, keep)
        c: Tensor = redispatch("matmul", keyset, stats, a, b, spec, state, backward)
        return c

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        (gradient,) = gradients
        a, b, state = ctx.saved_tensors
        of_a = of_b = None
        if ctx.needs_input_grad[2]:
            of_a = _reduce_to(_product(gradient, b.mT, ctx.spec, state, 2), a.shape)
        if ctx.needs_input_grad[3]:
            if b.ndim == 2 and a.ndim > 2 and gradient.ndim > 2:
                # One product over all rows, as torch's linear has it: no sum follows the rounded ones.
                of_b = _product(a.flatten(0, -2).mT, gradient.flatten(0, -2), ctx.spec, state, 3)
            else:
                of_b = _reduce_to(_product(a.mT, gradient, ctx.spec, state, 3), b.shape)
        return None, None, of_a, of_b, None, None, None


def matmul(keyset: Any, stats: Tensor | None, a: Tensor, b: Tensor, spec: str, state: Tensor | None = None,
           backward: str | None = None) -> Tensor:
    if wants_gradient(a, b):
        c: Tensor = _Matmul.apply(keyset, stats, a, b, spec, state, backward)  # type: ignore[no-untyped-call]
        return c
    below: Tensor = redispatch("matmul", keyset, stats, a, b, spec, state, backward)
    return below


def no_gradient(name: str) -> Any:
    """For operators whose results have no derivative: codes, bytes, what is written in place."""

    def below(keyset: Any, stats: Tensor | None, *args: Any) -> Any:
        if name.endswith("_") and wants_gradient(args[0]):
            raise RuntimeError(f"fpemu::{name} does not record gradients: use fpemu.torch.{name}, or torch.no_grad()")
        return redispatch(name, keyset, stats, *args)

    return below
