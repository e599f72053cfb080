# SPDX-License-Identifier: BSD-2-Clause
"""Gradients of the operators, registered below as kernels of autograd's dispatch key.

A rounding has the derivative zero almost everywhere; what is used in its place is the straight-through estimator
(Bengio, Leonard, Courville 2013): the gradient passes as it is, or, clipped, where the input lies inside
[lowest, max]. All formulas are made of differentiable operators, so that gradients of gradients are those of the
surrogate.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch._functorch import autograd_function

import fpemu

from ._spec import block_of, format_of, is_stochastic, rounding_of

STE = ("identity", "clipped")
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


def kept(state: Tensor | None) -> Tensor | None:
    """A copy of random state for the backward pass: the caller's may move on, in place. It is made by an operator that
    the forward pass needs and the compiler does not repeat, and so it is what is saved in a compiled graph too."""
    return None if state is None else torch.ops.fpemu.substream.default(state, 0)


def wants_gradient(*tensors: Tensor | None) -> bool:
    """Whether autograd records a call on these."""
    return torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors)


def check_ste(ste: str) -> None:
    """ValueError for another estimator."""
    if ste not in STE:
        raise ValueError(f"ste is one of {STE}, not {ste!r}")


def _range_of(format: str) -> tuple[float, float]:
    f = format_of(format)
    if block_of(f) is not None:
        raise ValueError(f"clipped straight-through needs a range, and that of {format} follows its blocks: use "
                         "ste='identity'")
    return f.lowest, f.max


def inside_range(x: Tensor, format: str) -> Tensor:
    """Where the clipped estimator lets the gradient pass: lowest <= x <= max. NaN lies nowhere."""
    lowest, largest = _range_of(format)
    return (x >= lowest) & (x <= largest)


@functools.lru_cache(maxsize=4096)
def check_gradient(format: str, ste: str, backward: str | None, backward_rounding: str) -> None:
    """What says how a gradient of `quantize` is made; it is refused alike where none is recorded."""
    check_ste(ste)
    if ste == "clipped":
        _range_of(format)
    if backward is not None:
        format_of(backward)
    rounding_of(backward_rounding)


def below(name: str, stats: Tensor | None, *args: Any) -> Tensor:
    """Calls an operator as if no tensor required gradients, but for the levels of torch.func further out."""
    with torch._C._AutoDispatchBelowAutograd(), torch.enable_grad():
        result: Tensor = call(name, stats, *args)
    return result


def apply(function: type[torch.autograd.Function], *args: Any) -> Tensor:
    """Applies a function inside a kernel of autograd, where one level of torch.func is under way at most."""
    if not torch._C._are_functorch_transforms_active():
        return function.apply(*args)
    single_level: Any = autograd_function.__dict__["enable_single_level_autograd_function"]
    with single_level():
        return _single_level(function).apply(*args)


@functools.cache
def _single_level(function: type[torch.autograd.Function]) -> Any:
    """The same function as torch.func applies it to one of its levels."""
    methods = {name: staticmethod(getattr(function, name)) for name in ("forward", "setup_context", "backward")}
    return type(function.__name__, (torch.autograd.function._SingleLevelFunction,), methods)


def straight_through(ctx: Any, gradient: Tensor, run: Callable[..., Tensor]) -> Tensor:
    """The gradient of a rounding, which `run` rounds if ctx.format says to what; by what was saved, a mask and random
    state."""
    mask, state = ctx.saved_tensors
    if ctx.format is not None:
        if state is not None:
            state = torch.ops.fpemu.substream.default(state, GRADIENT)
        gradient = run(gradient, ctx.format, ctx.rounding, state)
    return gradient if mask is None else torch.where(mask, gradient, 0.0)


class _Quantize(torch.autograd.Function):
    @staticmethod
    def forward(stats: Tensor | None, *args: Any) -> Tensor:
        return below("quantize", stats, *args)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        (_, x, format, _, state, ctx.axis, ste, ctx.format, ctx.rounding, ctx.stats, ctx.whole, ctx.start, _) = inputs
        random = ctx.format is not None and is_stochastic(ctx.format, ctx.rounding)
        ctx.save_for_backward(inside_range(x, format) if ste == "clipped" else None, state if random else None)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        def run(gradient: Tensor, format: str, rounding: str, state: Tensor | None) -> Tensor:
            return call("quantize", ctx.stats, gradient, format, rounding, state, ctx.axis, whole=ctx.whole,
                        start=ctx.start)

        return (None, straight_through(ctx, gradients[0], run), *[None] * 11)


def quantize(keyset: Any, stats: Tensor | None, x: Tensor, format: str, rounding: str = "rne",
             state: Tensor | None = None, axis: int = -1, ste: str = "identity", backward: str | None = None,
             backward_rounding: str = "rne", backward_stats: Tensor | None = None, whole: Any = None,
             start: Any = None, range: Tensor | None = None) -> Tensor:
    recorded = wants_gradient(x)
    if recorded and backward is not None and is_stochastic(backward, backward_rounding):
        state = kept(state)
    args = (stats, x, format, rounding, state, axis, ste, backward, backward_rounding, backward_stats, whole,
            start, range)
    if recorded:
        return apply(_Quantize, *args)
    return redispatch("quantize", keyset, *args)


def _reduce_to(gradient: Tensor, shape: torch.Size) -> Tensor:
    """Sums over what broadcasting had repeated."""
    return gradient.sum_to_size(shape) if gradient.shape != shape else gradient


def _product(a: Tensor, b: Tensor, spec: str | None, state: Tensor | None, number: int) -> Tensor:
    if spec is None:
        return torch.matmul(a, b)
    if state is not None:
        state = torch.ops.fpemu.substream.default(state, number)
    return torch.ops.fpemu.matmul.default(a, b, spec, state, spec)


class _Matmul(torch.autograd.Function):
    @staticmethod
    def forward(stats: Tensor | None, *args: Any) -> Tensor:
        return below("matmul", stats, *args)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        (_, a, b, spec, state, ctx.spec, *scales) = inputs
        ctx.chunk = fpemu.gemm(spec).chunk
        ctx.save_for_backward(a, b, state if ctx.spec is not None else None, *scales)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        (gradient,) = gradients
        a, b, state, scales_a, scales_b, alpha = ctx.saved_tensors

        def scaled(x: Tensor, scales: Tensor | None, k: int) -> Tensor:
            """x, which has k along its last dimension, times scales."""
            return x if scales is None else x * scales.repeat_interleave(ctx.chunk, -1)[..., :k].to(x.dtype)

        k, gradient = a.shape[-1], gradient if alpha is None else gradient * alpha
        of_a = of_b = None
        if ctx.needs_input_grad[1]:
            right = scaled(b.mT, scales_b, k)
            of_a = _reduce_to(scaled(_product(gradient, right, ctx.spec, state, GRADIENT), scales_a, k), a.shape)
        if ctx.needs_input_grad[2]:
            a = scaled(a, scales_a, k)
            if b.ndim == 2 and a.ndim > 2:
                # One product over all rows, as torch's linear has it: no sum follows the rounded ones.
                of_b = _product(a.flatten(0, -2).mT, gradient.flatten(0, -2), ctx.spec, state, SECOND_GRADIENT)
            else:
                of_b = _product(a.mT, gradient, ctx.spec, state, SECOND_GRADIENT)
            of_b = _reduce_to(scaled(of_b.mT, scales_b, k).mT, b.shape)
        return None, of_a, of_b, *[None] * 6


def matmul(keyset: Any, stats: Tensor | None, a: Tensor, b: Tensor, spec: str, state: Tensor | None = None,
           backward: str | None = None, scales_a: Tensor | None = None, scales_b: Tensor | None = None,
           alpha: Tensor | None = None) -> Tensor:
    if wants_gradient(scales_a, scales_b, alpha):
        raise ValueError("matmul has no gradients of scales and alpha: detach() them")
    if wants_gradient(a, b):
        state = kept(state) if backward is not None else state
        return apply(_Matmul, stats, a, b, spec, state, backward, scales_a, scales_b, alpha)
    return redispatch("matmul", keyset, stats, a, b, spec, state, backward, scales_a, scales_b, alpha)


# Of fpemu_arith: (gradient, operands) to the gradients of the operands, before sums over broadcast dimensions.
def _extreme(g: Tensor, a: Tensor, b: Tensor, first: Tensor) -> tuple[Tensor, ...]:
    """Half for each where both are alike, and where b is NaN all for a."""
    share = torch.where(a == b, 0.5, (first | b.isnan()).to(a.dtype))
    return g * share, g * (1 - share)


def _minimum(g: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    return _extreme(g, a, b, a < b)


def _maximum(g: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, ...]:
    return _extreme(g, a, b, a > b)


PARTIALS: dict[str, Callable[..., tuple[Tensor, ...]]] = {
    "add": lambda g, a, b: (g, g), "sub": lambda g, a, b: (g, -g), "mul": lambda g, a, b: (g * b, g * a),
    "div": lambda g, a, b: (g / b, -g * a / (b * b)), "sqrt": lambda g, a: (g / (2 * a.sqrt()),),
    "fma": lambda g, a, b, c: (g * b, g * a, g), "minimum": _minimum, "maximum": _maximum, "minimum_number": _minimum,
    "maximum_number": _maximum,
}


def _gelu(x: Tensor) -> Tensor:
    return (1 + torch.erf(x * math.sqrt(0.5))) / 2 + x * torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)


# Of fpemu_apply: the derivative of the exact function.
DERIVATIVES: dict[str, Callable[[Tensor], Tensor]] = {
    "exp": torch.exp, "exp2": lambda x: torch.exp2(x) * math.log(2), "exp10": lambda x: torch.pow(10, x) * math.log(10),
    "expm1": torch.exp, "log": lambda x: 1 / x, "log2": lambda x: 1 / (x * math.log(2)),
    "log10": lambda x: 1 / (x * math.log(10)), "log1p": lambda x: 1 / (1 + x), "sin": torch.cos,
    "cos": lambda x: -torch.sin(x), "tan": lambda x: 1 + torch.tan(x).square(),
    "asin": lambda x: torch.rsqrt(1 - x * x), "acos": lambda x: -torch.rsqrt(1 - x * x),
    "atan": lambda x: 1 / (1 + x * x), "sinh": torch.cosh, "cosh": torch.sinh,
    "tanh": lambda x: 1 - torch.tanh(x).square(), "asinh": lambda x: torch.rsqrt(1 + x * x),
    "acosh": lambda x: torch.rsqrt(x * x - 1), "atanh": lambda x: 1 / (1 - x * x),
    "erf": lambda x: torch.exp(-x * x) * (2 / math.sqrt(math.pi)),
    "erfc": lambda x: torch.exp(-x * x) * (-2 / math.sqrt(math.pi)), "rsqrt": lambda x: torch.pow(x, -1.5) / -2,
    "sigmoid": lambda x: torch.sigmoid(x) * torch.sigmoid(-x),
    "silu": lambda x: torch.sigmoid(x) * (1 + x * torch.sigmoid(-x)), "gelu": _gelu, "softplus": torch.sigmoid,
}


class _Operation(torch.autograd.Function):
    """An operation, or a function with its one operand."""

    @staticmethod
    def forward(name: str, stats: Tensor | None, *args: Any) -> Tensor:
        return below(name, stats, *args)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, _, ctx.operation, _, *operands, _, _ = inputs
        ctx.places = len(operands)
        ctx.save_for_backward(*operands)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        operands = [t for t in ctx.saved_tensors if t is not None]
        if ctx.operation in PARTIALS:
            parts = PARTIALS[ctx.operation](*gradients, *operands)
        else:
            parts = (gradients[0] * DERIVATIVES[ctx.operation](*operands),)
        found = [_reduce_to(g, t.shape) for g, t in zip(parts, operands)]
        return (None, None, None, None, *found, *[None] * (ctx.places - len(found)), None, None)


def arith(keyset: Any, stats: Tensor | None, operation: str, format: str, a: Tensor, b: Tensor | None = None,
          c: Tensor | None = None, rounding: str = "rne", state: Tensor | None = None) -> Tensor:
    args = (stats, operation, format, a, b, c, rounding, state)
    if wants_gradient(a, b, c):
        return apply(_Operation, "arith", *args)
    return redispatch("arith", keyset, *args)


def function(keyset: Any, stats: Tensor | None, function: str, format: str, x: Tensor, rounding: str = "rne",
             state: Tensor | None = None) -> Tensor:
    args = (stats, function, format, x, rounding, state)
    if wants_gradient(x):
        return apply(_Operation, "apply", *args)
    return redispatch("apply", keyset, *args)


def no_gradient(name: str) -> Any:
    """For operators whose results have no derivative: codes, bytes, what is written in place."""

    def below(keyset: Any, stats: Tensor | None, *args: Any) -> Any:
        if name.endswith("_") and wants_gradient(args[0]):
            raise RuntimeError(f"fpemu::{name} does not record gradients: use fpemu.torch.{name}, or torch.no_grad()")
        return redispatch(name, keyset, stats, *args)

    return below
