"""The operators as functions: the differentiable front of `torch.ops.fpemu`, with a fast path for plain tensors."""

from __future__ import annotations

import sys
from typing import Any

import torch
from torch import Tensor

import fpemu
from fpemu import Format, Rounding, Stats

from . import _ops
from ._autograd import call
from ._spec import format_text, rounding_text, state_of, with_state
from .counters import stats_tensor

_quantize_native = fpemu.quantize
_is_compiling = torch.compiler.is_compiling
_is_grad_enabled = torch.is_grad_enabled
_functorch_level = torch._C._functorch.maybe_current_level
_dispatch_modes = torch._C._len_torch_dispatch_stack


def _parallel(*tensors: Any) -> None:
    """Loads the rules for distributed tensors where there are any."""
    distributed = sys.modules.get("torch.distributed.tensor")
    if distributed is not None and any(isinstance(t, distributed.DTensor) for t in tensors):
        from . import parallel  # noqa: F401, PLC0415


def quantize(
    x: Tensor,
    format: str | Format,
    rounding: str | Rounding = "rne",
    *,
    axis: int = -1,
    state: Tensor | None = None,
    stats: Tensor | Stats | None = None,
    ste: str = "identity",
    backward: str | Format | None = None,
    backward_rounding: str | Rounding = "rne",
    backward_stats: Tensor | None = None,
) -> Tensor:
    """Every element of x as the value of the format that the rounding makes of it, with a gradient.

    x: a tensor of any shape and strides, float64, float32, float16 or bfloat16; a DTensor too. The result has its
        shape, dtype, device and layout. Autocast does not change the dtype.
    format, rounding: a `fpemu.Format` and a `fpemu.Rounding`, or their texts; a rounding's text may go on as in
        "sr,bits=16,variant=b".
    axis: along which blocks run, for formats with blocks.
    state: for stochastic rounding an int64 tensor [seed, stream, offset] on the processor (`new_state`); it is only
        read. None: those of `rounding`. Element i in C order has the index offset + i.
    stats: counters that are added to: a tensor of `new_stats`, or a `fpemu.Stats` where nothing is traced.
    ste: what the gradient is. "identity": as it comes, straight through. "clipped": 0 where x is outside
        [format.lowest, format.max], or NaN; for formats without blocks.
    backward: the format that the gradient is rounded to before that, by `backward_rounding`, counted in
        `backward_stats`. Its random bits are those of the stream whose number differs from the state's in the top bit.

    The gradient of the gradient is that of these rules, in which a rounding is straight-through.

    Under `torch.vmap` each element of the batch is rounded as alone: it has the blocks and the random bits that it
    would have without the batch.

    Raises TypeError for another dtype, `fpemu.SpecError` for a text that is none, `fpemu.Error` for what the library
    refuses, ValueError for an axis that there is not.
    """
    if not _is_compiling():
        if (
            type(x) is Tensor
            and not (x.requires_grad and _is_grad_enabled())
            and _functorch_level() is None
            and not _dispatch_modes()
            and (stats is None or type(stats) is Stats)
            and x.is_cpu
        ):
            if state is not None:
                rounding = with_state(rounding_text(rounding), state)
            return _quantize_native(x, format, rounding, axis=axis, stats=stats)  # type: ignore[no-any-return]
        _parallel(x)
    if ste not in _ops.STE:
        raise ValueError(f"ste is one of {_ops.STE}, not {ste!r}")
    if state is None:
        state = state_of(rounding)
        if state is None and not isinstance(backward_rounding, str):
            state = state_of(backward_rounding)
    holder = stats_tensor(stats) if isinstance(stats, Stats) else stats
    y: Tensor = call(
        "quantize", holder, x, format_text(format), rounding_text(rounding), state, axis, ste,
        None if backward is None else format_text(backward), rounding_text(backward_rounding), backward_stats)
    if isinstance(stats, Stats):
        stats._load(holder.numpy().tobytes())
    return y


def quantize_(
    x: Tensor,
    format: str | Format,
    rounding: str | Rounding = "rne",
    *,
    axis: int = -1,
    state: Tensor | None = None,
    stats: Tensor | Stats | None = None,
) -> Tensor:
    """`quantize` in place; returns x, whose version counter tells autograd of it.

    Where x takes part in autograd the gradient is straight-through. A leaf that requires grad is refused, as by all of
    PyTorch's operators in place: use torch.no_grad().
    """
    if not _is_compiling():
        _parallel(x)
    if x.requires_grad and _is_grad_enabled():
        return x.copy_(quantize(x, format, rounding, axis=axis, state=state, stats=stats))
    if state is None:
        state = state_of(rounding)
    holder = stats_tensor(stats) if isinstance(stats, Stats) else stats
    call("quantize_", holder, x, format_text(format), rounding_text(rounding), state, axis)
    if isinstance(stats, Stats):
        stats._load(holder.numpy().tobytes())
    return x


def adopt(verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Carries out a call of `fpemu.<verb>` on tensors that are more than memory on the processor: that take part in
    autograd, are traced or mapped, or lie on a device."""
    if verb == "quantize":
        return _adopt_quantize(*args, **kwargs)
    raise TypeError(f"fpemu.{verb} does not take this tensor")


def _adopt_quantize(x: Tensor, format: str | Format, rounding: str | Rounding = "rne", *, axis: int = -1,
                    offset: int = 0, out: Tensor | None = None, stats: Stats | None = None,
                    range: bytes | None = None) -> Tensor:
    if range is not None:
        raise TypeError("range goes with plain tensors only")
    if offset:
        rounding = fpemu.rounding(rounding)
        rounding = rounding.replace(offset=(rounding.offset + offset) % 2**64)
    y = quantize(x, format, rounding, axis=axis, stats=stats)
    return y if out is None else out.copy_(y)
