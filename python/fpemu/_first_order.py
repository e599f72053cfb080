# SPDX-License-Identifier: BSD-2-Clause
"""Functions of torch's autograd with first derivatives, taken backward, and no others. Whoever asks for another gets an
error, however it is asked for, and no zero."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ._arrays import has_tangent

_SECOND = ("what fpemu rounds here has first derivatives alone: second ones, and autograd.functional.jvp, which goes "
           "by them, are those of the model that fpemu.torch.revert gives, or of fpemu.torch.quantize and matmul")
_FORWARD = ("what fpemu rounds here has no derivative forward (forward_ad, jvp): take it backward, with "
            "torch.autograd.grad")
_TRANSFORM = ("what fpemu rounds here is not transformed by torch.vmap and torch.func: pass it the whole batch, and "
              "take derivatives with torch.autograd.grad; fpemu.torch.quantize and matmul can be transformed")


def apply(function: type[torch.autograd.Function], *args: Any) -> Any:
    """Applies a function whose backward pass is `first_order`; of several results the first. NotImplementedError where
    derivatives are carried forward, and inside torch.vmap and the transforms of torch.func."""
    if not torch.compiler.is_dynamo_compiling():
        if torch._C._are_functorch_transforms_active():
            raise NotImplementedError(_TRANSFORM)
        forward = torch.autograd.forward_ad._current_level >= 0
        if forward and any(isinstance(a, Tensor) and has_tangent(a) for a in args):
            raise NotImplementedError(_FORWARD)
    result = function.apply(*args)
    return result[0] if isinstance(result, tuple) else result


def link(ctx: Any, x: Tensor, *tensors: Tensor | None) -> Tensor:
    """Saves tensors for the backward pass, and with them an empty one, which is returned: as a second result of the
    function it stands for all of its operands, whose memory need not be kept for that."""
    empty = x.new_empty(0)
    ctx.save_for_backward(*tensors, empty)
    return empty


def first_order(backward: Callable[..., tuple[Any, ...]]) -> Callable[..., Any]:
    """Makes backward(ctx, gradient, *saved) a backward pass. What it gives is tied to the gradient and to what was
    saved by a node that raises RuntimeError. torch's once_differentiable ties it to nothing, and an engine that is
    asked for the gradients of some inputs passes by what does not lead there."""

    @functools.wraps(backward)
    def guarded(ctx: Any, gradient: Tensor, *_: Any) -> Any:
        saved = ctx.saved_tensors  # once: a checkpoint gives them once
        with torch.no_grad():
            found = backward(ctx, gradient, *saved)
        return tied(found, gradient, *saved)

    return guarded


def tied(found: tuple[Any, ...], *sources: Tensor | None) -> tuple[Any, ...]:
    """Results whose derivatives by any of the sources, or by what these come from, are refused."""
    if not torch.is_grad_enabled() or torch.compiler.is_dynamo_compiling():
        return found
    known = [t for t in sources if t is not None and t.requires_grad]
    if not known:
        return found
    every = (*found, *known)
    refusal: Any = torch._C._functions.DelayedError(_SECOND.encode(), len(every))
    results: tuple[Any, ...] = refusal(*every)
    return results[:len(found)]
