# SPDX-License-Identifier: BSD-2-Clause
"""A module that quantises what passes through it, and the gradient that comes back."""

from __future__ import annotations

import sys
import weakref
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn

from fpemu import Format, Rounding

from . import operators
from ._autograd import check_ste
from ._spec import block_of, format_of, format_text, is_stochastic, new_state, rounding_text

_OWN_FORMAT = {torch.float64: "fp64", torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16"}

# torch.fx leaves modules whole that say they are of torch.nn: a graph calls those whose state moves on with every call.
LEAF = "torch.nn"


def refuse_script(module: nn.Module) -> Any:
    """What torch.jit.script is told, which calls it."""
    raise TypeError(f"torch.jit.script cannot read the forward pass of {type(module).__name__}: torch.jit.trace, "
                    "torch.export and torch.compile take it, and torch.ops.fpemu.quantize can be scripted")


class Quantizer(nn.Module):
    """Rounds a tensor to a format, and its gradient to another.

    forward, backward: formats or their texts; None passes numbers as they are. With backward alone a NaN loses its sign
        and payload.
    rounding, backward_rounding: roundings or their texts; of a Rounding's seed, stream and offset only the seed of
        `rounding` is used, where `seed` is not given.
    ste: "identity" or "clipped" (`quantize`); "clipped" needs a forward format without blocks.
    axis: along which blocks run.
    seed: of stochastic rounding, 64 bits. stream: this quantiser's number, 0 to 2**31 - 1; quantisers with different
        numbers draw independent random bits.

    The buffer `state`, int64 [seed, stream * 2**32 + calls, 0], advances by one with every call, in training and
    evaluation, and is saved by state_dict; so a run that is resumed goes on with the random bits that it would have
    had. A copy by deepcopy goes on from the same state. `reset()` begins again. A call under `torch.compile` takes the
    bits that the same call takes in eager mode.

    Under `torch.utils.checkpoint.checkpoint(..., use_reentrant=False)` the recomputation takes the random bits of the
    call that it repeats. Recomputations with use_reentrant=True, and of checkpoints inside checkpoints, cannot be told
    apart from new calls: there stochastic rounding raises RuntimeError.

    Shapes: any to the same shape; dtypes float64, float32, float16, bfloat16.
    """

    __prepare_scriptable__ = refuse_script
    state: Tensor
    batch_part: tuple[int, int, int] | None
    """(rank, ranks, dimension) where the input is a part of a batch; see `fpemu.torch.parallel.split_batch`."""

    def __init__(self, forward: str | Format | None = None, backward: str | Format | None = None,
                 rounding: str | Rounding = "rne", *, backward_rounding: str | Rounding | None = None,
                 ste: str = "identity", axis: int = -1, seed: int | None = None, stream: int = 0) -> None:
        super().__init__()
        self.__dict__["__module__"] = LEAF
        self.rounding = rounding_text(rounding)
        if seed is None:
            seed = 0 if isinstance(rounding, str) else rounding.seed
        if not 0 <= seed < 2**64 or not 0 <= stream < 2**31:
            raise ValueError(f"seed is 0 to 2**64 - 1 and stream 0 to 2**31 - 1, not {seed} and {stream}")
        check_ste(ste)
        self.forward_format = None if forward is None else format_text(forward)
        self.backward_format = None if backward is None else format_text(backward)
        self.backward_rounding = self.rounding if backward_rounding is None else rounding_text(backward_rounding)
        self.ste = ste
        self.axis = axis
        for text in (self.forward_format, self.backward_format):
            if text is not None:
                format_of(text)
        if ste == "clipped" and (self.forward_format is None or block_of(format_of(self.forward_format)) is not None):
            raise ValueError("ste='clipped' needs a forward format, without blocks: these follow their elements")
        self.batch_part = None
        self.is_stochastic = any(format is not None and is_stochastic(format, by) for format, by in (
            (self.forward_format, self.rounding), (self.backward_format, self.backward_rounding)))
        self._first = seed, stream << 32
        self.register_buffer("state", new_state(*self._first))

    def _apply(self, fn: Any, recurse: bool = True) -> Quantizer:
        """Moves the state as torch moves buffers; where to_empty makes room for it, its numbers stay."""
        kept = self.state
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if not self.state.is_meta:
            self.state.copy_(new_state(*self._first) if kept.is_meta else kept)
        return self

    def reset(self) -> None:
        """Begins the random numbers of this quantiser's stream again."""
        self.state[1] = (self.state[1] >> 32) << 32

    def extra_repr(self) -> str:
        parts = [f"forward={self.forward_format!r}", f"backward={self.backward_format!r}"]
        parts.append(f"rounding={self.rounding!r}")
        if self.backward_rounding != self.rounding:
            parts.append(f"backward_rounding={self.backward_rounding!r}")
        if self.ste != "identity":
            parts.append(f"ste={self.ste!r}")
        if self.axis != -1:
            parts.append(f"axis={self.axis}")
        return ", ".join(parts)

    def forward(self, x: Tensor, stats: Tensor | None = None, backward_stats: Tensor | None = None) -> Tensor:
        """x rounded; counted in `stats`, its gradient in `backward_stats` (tensors of `new_stats`)."""
        format = self.forward_format
        if format is None:
            if self.backward_format is None:
                return x
            format = _OWN_FORMAT.get(x.dtype, "fp32")
        state = None
        if self.is_stochastic:
            state = self.state if torch.compiler.is_compiling() else _replayed(self)
        whole = start = None
        if self.batch_part is not None:
            rank, ranks, dim = self.batch_part
            whole, start = list(x.shape), [0] * x.ndim
            whole[dim], start[dim] = ranks * x.shape[dim], rank * x.shape[dim]
        y = operators.quantize(
            x, format, self.rounding if self.forward_format is not None else "rne", axis=self.axis,
            state=None if state is None else state[:2], stats=stats, ste=self.ste, backward=self.backward_format,
            backward_rounding=self.backward_rounding, backward_stats=backward_stats, whole=whole, start=start)
        if state is self.state:
            self.state[1] += 1
        return y


# ------------------------------------------------------------------------------------------------------ checkpoints

# States that were used inside a checkpoint, by its frame and quantiser, in the order of calls; and how many of them a
# recomputation has used so far.
_used: weakref.WeakKeyDictionary[Any, dict[int, list[Tensor]]] = weakref.WeakKeyDictionary()
_repeated: weakref.WeakKeyDictionary[Any, dict[tuple[Any, int], int]] = weakref.WeakKeyDictionary()


def _enclosing_checkpoint() -> tuple[Any, bool] | None:
    """The frame of the innermost checkpoint, and whether it is being recomputed."""
    hooks = torch._C._autograd._top_saved_tensors_default_hooks(True)
    return _frame_held_by(hooks[0], 2) if hooks and type(hooks[0]) is FunctionType else None


def _frame_held_by(function: FunctionType, depth: int) -> tuple[Any, bool] | None:
    for cell in function.__closure__ or ():
        content = cell.cell_contents
        if type(content).__name__ == "_CheckpointFrame":
            return content, False
        if isinstance(content, weakref.ref) and type(content()).__name__ == "_CheckpointFrame":
            return content(), True
        if depth and type(content) is FunctionType and (found := _frame_held_by(content, depth - 1)):
            return found
    return None


def _replayed(quantizer: Quantizer) -> Tensor:
    """The state for a call: the quantiser's own, or, in a recomputation, that of the call which is repeated."""
    found = _enclosing_checkpoint()
    recomputing = torch._C._current_graph_task_id()
    if found is None:
        if recomputing != -1 and _inside_reentrant():
            raise RuntimeError("a stochastic Quantizer cannot repeat its random bits in checkpoint(use_reentrant=True):"
                               " use use_reentrant=False")
        return quantizer.state
    frame, again = found
    key = id(quantizer)
    if not again:
        if recomputing != -1:
            raise RuntimeError("a stochastic Quantizer cannot repeat its random bits in a checkpoint inside another")
        _used.setdefault(frame, {}).setdefault(key, []).append(quantizer.state.clone())
        return quantizer.state
    states = _used.get(frame, {}).get(key, [])
    counts = _repeated.setdefault(frame, {})
    place = counts.get((recomputing, key), 0)
    if place >= len(states):
        raise RuntimeError("a checkpoint's recomputation called a Quantizer more often than its forward pass had")
    counts[(recomputing, key)] = place + 1
    return states[place]


def recomputing() -> bool:
    """Whether a checkpoint is being computed again."""
    found, backward = _enclosing_checkpoint(), torch._C._current_graph_task_id() != -1
    return (found is not None and found[1]) or (backward and (found is not None or _inside_reentrant()))


def _inside_reentrant() -> bool:
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "backward" and frame.f_code.co_filename.endswith("checkpoint.py"):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
