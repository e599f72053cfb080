"""Gradients of the operators, registered below as kernels of autograd's dispatch key.

A rounding has the derivative zero almost everywhere; what is used in its place is the straight-through estimator
(Bengio, Leonard, Courville 2013): the gradient passes as it is, or, clipped, where the input lies inside
[lowest, max]. All formulas are made of differentiable operators, so that gradients of gradients are those of the
surrogate.
"""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import Tensor
from torch._functorch.autograd_function import enable_single_level_autograd_function

from ._spec import block_of, format_of, is_stochastic

# Gradients take the random bits of streams whose numbers differ from the state's in the two top bits: 2 those of a
# tensor or of a first operand, 3 those of a second.
GRADIENT, SECOND_GRADIENT = 2, 3


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


def below(name: str, stats: Tensor | None, *args: Any) -> Tensor:
    """Calls an operator as if no tensor required gradients, but for the levels of torch.func further out."""
    with torch._C._AutoDispatchBelowAutograd(), torch.enable_grad():
        result: Tensor = call(name, stats, *args)
    return result


def apply(function: type[torch.autograd.Function], *args: Any) -> Tensor:
    """Applies a function inside a kernel of autograd, where one level of torch.func is under way at most."""
    if not torch._C._are_functorch_transforms_active():
        result: Tensor = function.apply(*args)  # type: ignore[no-untyped-call]
        return result
    with enable_single_level_autograd_function():
        of_level: Tensor = _single_level(function).apply(*args)
        return of_level


@functools.cache
def _single_level(function: type[torch.autograd.Function]) -> Any:
    """The same function as torch.func applies it to one of its levels."""
    methods = {name: staticmethod(getattr(function, name)) for name in ("forward", "setup_context", "backward")}
    return type(function.__name__, (torch.autograd.function._SingleLevelFunction,), methods)


class _Quantize(torch.autograd.Function):
    @staticmethod
    def forward(stats: Tensor | None, *args: Any) -> Tensor:
        return below("quantize", stats, *args)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        (_, x, format, _, state, ctx.axis, ste, ctx.format, ctx.rounding, ctx.stats, ctx.whole, ctx.start, _) = inputs
        random = ctx.format is not None and state is not None and is_stochastic(ctx.rounding)
        ctx.save_for_backward(
            inside_range(x, format) if ste == "clipped" else None,
            torch.ops.fpemu.substream.default(state, GRADIENT) if random else None,  # the caller's state moves on
        )

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        (gradient,) = gradients
        mask, state = ctx.saved_tensors
        if ctx.format is not None:
            gradient = call("quantize", ctx.stats, gradient, ctx.format, ctx.rounding, state, ctx.axis,
                            whole=ctx.whole, start=ctx.start)
        if mask is not None:
            gradient = torch.where(mask, gradient, 0.0)
        return (None, gradient, *[None] * 11)


def quantize(keyset: Any, stats: Tensor | None, x: Tensor, format: str, rounding: str = "rne",
             state: Tensor | None = None, axis: int = -1, ste: str = "identity", backward: str | None = None,
             backward_rounding: str = "rne", backward_stats: Tensor | None = None, whole: Any = None,
             start: Any = None, range: Tensor | None = None) -> Tensor:
    args = (stats, x, format, rounding, state, axis, ste, backward, backward_rounding, backward_stats, whole,
            start, range)
    if wants_gradient(x):
        return apply(_Quantize, *args)
    y: Tensor = redispatch("quantize", keyset, *args)
    return y


def _reduce_to(gradient: Tensor, shape: torch.Size) -> Tensor:
    """Sums over what broadcasting had repeated."""
    return gradient.sum_to_size(shape) if gradient.shape != shape else gradient


def _product(a: Tensor, b: Tensor, spec: str | None, state: Tensor | None) -> Tensor:
    if spec is None:
        return torch.matmul(a, b)
    product: Tensor = torch.ops.fpemu.matmul.default(a, b, spec, state, spec)
    return product


class _Matmul(torch.autograd.Function):
    @staticmethod
    def forward(stats: Tensor | None, *args: Any) -> Tensor:
        return below("matmul", stats, *args)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        (_, a, b, _, state, ctx.spec) = inputs
        random = ctx.spec is not None and state is not None
        ctx.save_for_backward(
            a,
            b,
            torch.ops.fpemu.substream.default(state, GRADIENT) if random else None,
            torch.ops.fpemu.substream.default(state, SECOND_GRADIENT) if random else None,
        )

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        (gradient,) = gradients
        a, b, state_a, state_b = ctx.saved_tensors
        of_a = of_b = None
        if ctx.needs_input_grad[1]:
            of_a = _reduce_to(_product(gradient, b.mT, ctx.spec, state_a), a.shape)
        if ctx.needs_input_grad[2]:
            if b.ndim == 2 and a.ndim > 2:
                # One product over all rows, as torch's linear has it: no sum follows the rounded ones.
                of_b = _product(a.flatten(0, -2).mT, gradient.flatten(0, -2), ctx.spec, state_b)
            else:
                of_b = _reduce_to(_product(a.mT, gradient, ctx.spec, state_b), b.shape)
        return None, of_a, of_b, None, None, None


def matmul(keyset: Any, stats: Tensor | None, a: Tensor, b: Tensor, spec: str, state: Tensor | None = None,
           backward: str | None = None) -> Tensor:
    if wants_gradient(a, b):
        return apply(_Matmul, stats, a, b, spec, state, backward)
    c: Tensor = redispatch("matmul", keyset, stats, a, b, spec, state, backward)
    return c


def no_gradient(name: str) -> Any:
    """For operators whose results have no derivative: codes, bytes, what is written in place."""

    def below(keyset: Any, stats: Tensor | None, *args: Any) -> Any:
        if name.endswith("_") and wants_gradient(args[0]):
            raise RuntimeError(f"fpemu::{name} does not record gradients: use fpemu.torch.{name}, or torch.no_grad()")
        return redispatch(name, keyset, stats, *args)

    return below
