# SPDX-License-Identifier: BSD-2-Clause
"""Tensors of CUDA devices, by libfpemu_cuda: its calls of fpemu_cuda.h on the current stream.

The library lies beside libfpemu.so, or where FPEMU_CUDA_LIBRARY says, and is opened with the first call. Nothing here
waits for the device but `measure`, `scales`, `read_stats`, and random state of three words there. State of two words is
read by the kernels when they run, so that a CUDA graph has new bits in each replay; a graph would repeat what is read
here, and is refused. What a tensor must be to be handed over is checked by the extension.

With FPEMU_CUDA_PLAYED in the environment tensors of the processor stand for those of a device, and the library for one
whose kernels are played there: for tests.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import fpemu
from fpemu import Format, Gemm, Range, Rounding, Stats, _native
from fpemu._arrays import FUNCTION, OPERATION, PACK, carrier_of
from fpemu._packed import Packed

from ._spec import is_stochastic, rounding_of, with_state

PLAYED = bool(os.environ.get("FPEMU_CUDA_PLAYED"))
How = tuple[Rounding, Tensor | None]  # a rounding, and its random state where kernels are to read that
_NEAREST: How = fpemu.rounding("rne"), None


def holds(x: Tensor) -> bool:
    """Whether a device has the tensor."""
    return x.is_cuda or (PLAYED and x.is_cpu)


def is_device(device: torch.device | str) -> bool:
    """Whether tensors there are a device's."""
    return torch.device(device).type == "cuda" or (PLAYED and torch.device(device).type == "cpu")


def home(*modules: Any) -> torch.device | str:
    """Where the counters of the first module that has parameters lie: on its device, else on the processor."""
    first = next((p.device for module in modules for p in module.parameters()), torch.device("cpu"))
    return first if is_device(first) else "cpu"


@functools.cache
def _stats_words() -> int:
    """Opens the library: the words of its counters. fpemu.Error where it is not there."""
    path = os.environ.get("FPEMU_CUDA_LIBRARY", str(Path(fpemu.__file__).parent / "libfpemu_cuda.so"))
    try:
        return _native.device_open(path) // 8
    except OSError as error:
        raise fpemu.Error(f"the tensor lies on a CUDA device, and there is no libfpemu_cuda: {error}", 0) from None


def check_capture(x: Tensor) -> None:
    """Random state for x is about to be read here, not by a kernel: fpemu.Error where a CUDA graph is captured."""
    if holds(x) and not PLAYED and torch.cuda.is_current_stream_capturing():
        raise fpemu.Error("a CUDA graph would repeat random state that is read here: kernels read new_state(seed, "
                          "stream)[:2] on the device, and that of layers after .to; sums of products and optimizers "
                          "are rounded stochastically outside of a graph", 0)


def drawn(x: Tensor, format: str, text: str, state: Tensor | None) -> How:
    """How x is rounded: by the state as it is read here, or by what kernels are to read."""
    if state is not None and state.shape[0] == 2 and state.device == x.device and holds(x):
        return rounding_of(text), state.contiguous().view(torch.uint64)
    if state is not None and is_stochastic(format, text):
        check_capture(x)
    return with_state(text, state), None


def _launch(call: Callable[..., Any], x: Tensor, *arguments: Any) -> Any:
    """Calls the extension for x's device, on the current stream there."""
    _stats_words()
    if PLAYED:
        return call(0, *arguments)
    with torch.cuda.device(x.device):
        return call(torch.cuda.current_stream().cuda_stream, *arguments)


def run(use: int, inputs: Sequence[Tensor], y: Tensor, format: Format, how: How = _NEAREST, axis: int = -1,
        stats: Tensor | None = None, known: Range | None = None) -> Tensor:
    """One call, by its fpemu_use, on tensors of any strides and one device; returns y, which it fills, and which may be
    the one input. Of operations the operands broadcast to y's shape."""
    if OPERATION <= use < FUNCTION:
        inputs = [x if x.numel() == 1 else x.expand(y.shape) for x in inputs]
    to = y if y.is_contiguous() else torch.empty_like(y, memory_format=torch.contiguous_format)

    def launch(stream: int) -> None:
        _native.device_run(use, stream, format, how[0], tuple(x.contiguous() for x in inputs), to, axis,
                           _counters(stats, y), known, how[1])

    _launch(launch, y)
    return y if to is y else y.copy_(to)


def pack(x: Tensor, format: Format, how: How, axis: int, known: Range | None, stats: Tensor | None) -> Tensor:
    """x as packed bytes."""
    size = _native.layout(format, tuple(x.shape), axis)["bytes"]
    return run(PACK, [x], x.new_empty(size, dtype=torch.uint8), format, how, axis, stats, known)


def measure(x: Tensor, format: Format) -> Range:
    """What is known of x; waits for the stream."""
    return Range(_launch(lambda stream: _native.device_measure(stream, x.contiguous(), format), x))


def head_of(packed: Tensor, x: Tensor, format: Format, axis: int) -> Packed:
    """The packed bytes of x on the processor, their scales at least: all but the elements is waited for."""
    if holds(packed):
        head = _native.layout(format, tuple(x.shape), axis)["elements_offset"]
        whole = torch.zeros(packed.shape, dtype=torch.uint8)
        whole[:head] = packed[:head].cpu()
        packed = whole
    return Packed(packed, format, tuple(x.shape), axis, x.dtype)


def matmul(a: Tensor, b: Tensor, y: Tensor, model: Gemm, stats: Tensor | None, scales: Sequence[Tensor | None],
           alpha: float) -> Tensor:
    """y = alpha * a @ b, batches broadcast, with scales of a and of b. y: of the operands' dtype."""
    batch, (m, n), k = y.shape[:-2], y.shape[-2:], a.shape[-1]
    wide = torch.promote_types(y.dtype, torch.float32)

    def dense(x: Tensor, scales: Tensor | None) -> tuple[Tensor, bool, Tensor | None]:
        """Matrices without gaps, one for all products or one for each; whether they are held transposed; scales."""
        held = [t for t in (x, scales) if t is not None]
        shared = all(t.shape[:-2].numel() == 1 for t in held)
        x, *own = ((t.reshape(t.shape[-2:]) if shared else t.expand(*batch, *t.shape[-2:])).to(wide) for t in held)
        turned = x.mT.is_contiguous()
        return (x.mT if turned else x.contiguous()), turned, own[0].contiguous() if own else None

    def launch(stream: int) -> None:
        (left, left_turned, scales_a), (right, right_turned, scales_b) = dense(a, scales[0]), dense(b, scales[1])
        _native.device_matmul(stream, left, right, to, (batch.numel(), m, n, k, left_turned, right_turned),
                              model._struct, carrier_of(y.dtype), _counters(stats, y, True), scales_a, scales_b, alpha)

    to = y if y.dtype == wide else torch.empty_like(y, dtype=wide)
    _launch(launch, y)
    return y if to is y else y.copy_(to)


# Counters on a device are words of the library's own; where more than counts is asked for, five in front say what.
_ASKED = 5


def _counters(stats: Tensor | None, x: Tensor, plain: bool = False) -> int:
    """Where the counters of a call on x are; 0 for none. plain: they may count alone."""
    if stats is None:
        return 0
    words = _stats_words()
    asked = stats.ndim == 1 and stats.shape[0] == words + _ASKED
    if (stats.dtype != torch.int64 or not (asked or stats.shape == (words,)) or not stats.is_contiguous()
            or stats.device != x.device):
        raise TypeError(f"counters on {x.device} are a tensor of fpemu.torch.new_stats(device='{x.device}'), int64, "
                        f"{words} words, not one of {stats.dtype}, shape {tuple(stats.shape)}, on {stats.device}")
    if asked and plain:
        raise fpemu.Error("matmul counts what happened, and takes counters without sums and histograms", 10)
    return stats.data_ptr() + 8 * _ASKED * asked


def new_stats(like: Stats, device: torch.device | str) -> Tensor:
    """Counters on a device that ask for what `like` does."""
    asked = [like._want, like._first, like._length, like._scale_first, like._scale_length] if like._want else []
    stats = torch.zeros(len(asked) + _stats_words(), dtype=torch.int64, device=device)
    if asked:
        stats[:_ASKED] = torch.tensor(asked)
    return clear_stats(stats, like._want)


def clear_stats(stats: Tensor, want: int | None = None) -> Tensor:
    """Forgets what was counted. want: what is asked for; None: that is read from the device, which waits where there
    is something."""
    address = _counters(stats, stats)
    if want is None:
        want = int(stats[0].item()) if stats.shape[0] > _stats_words() else 0
    _launch(_native.device_stats, stats, address, want)
    torch.autograd.graph.increment_version(stats)
    return stats


def read_stats(stats: Tensor) -> Stats:
    """What a device has counted; waits for the stream."""
    address = _counters(stats, stats)
    found = Stats()
    if stats.shape[0] > _stats_words():
        found = Stats._asking(*stats[:_ASKED].tolist())
    _launch(_native.device_stats, stats, address, found)
    return found


def overflows(stats: Sequence[Tensor]) -> list[int]:
    """What overflowed, by the counters of one device, in one small copy."""
    at = _native.DEVICE_OVERFLOW // 8
    words = [s[at + s.shape[0] - _stats_words()] for s in stats]
    return torch.stack(words).tolist() if words else []
