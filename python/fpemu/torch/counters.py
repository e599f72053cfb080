# SPDX-License-Identifier: BSD-2-Clause
"""Counters as tensors: the bytes of `fpemu.Stats` in an int64 tensor, to which operators add without a
synchronisation, and which buffers, compiled graphs and collectives can hold. One thread at a time adds to a tensor."""

from __future__ import annotations

import struct

import numpy as np
import torch
from torch import Tensor

from fpemu import Stats

from . import _device

_REQUEST = struct.Struct("=IIiIiI")
WORDS = 131  # of the library's struct


def new_stats(*, sums: bool = False, histogram: tuple[int, int] | None = None,
              scale_histogram: tuple[int, int] | None = None, device: torch.device | str = "cpu") -> Tensor:
    """A tensor of counters that have counted nothing: int64, 131 words and one for each bin. The arguments are those of
    `fpemu.Stats`. On a CUDA device the words are its library's own, and more. ValueError for other devices.

    Calls that run at the same time in several threads lose counts of one tensor: each thread has a tensor of its own,
    or all have one `fpemu.Stats`."""
    if torch.device(device).type not in ("cpu", "cuda"):
        raise ValueError(f"counters lie on the processor or on a CUDA device, not on {device}")
    return stats_on(device, Stats(sums=sums, histogram=histogram, scale_histogram=scale_histogram))


def stats_on(device: torch.device | str, like: Stats) -> Tensor:
    """A tensor of counters that have counted nothing, and ask for what `like` does."""
    return _device.new_stats(like, device) if _device.is_device(device) else stats_tensor(like.empty())


def stats_tensor(stats: Stats) -> Tensor:
    """A copy of counters as a tensor."""
    return torch.from_numpy(np.frombuffer(stats._bytes(), dtype=np.int64).copy())


def read_stats(stats: Tensor) -> Stats:
    """A copy of what a tensor of counters holds, which waits for its device. TypeError for another tensor.

    The tensors of ranks, or of steps, are added by `read_stats(a) + read_stats(b)`; their words are no plain sums."""
    _check_words(stats)
    if _device.holds(stats):
        return _device.read_stats(stats)
    content = stats.detach().contiguous().numpy().tobytes()
    want, _, *bins = _REQUEST.unpack_from(content)
    if WORDS + bins[1] + bins[3] != stats.shape[0]:
        raise TypeError("stats is a tensor of fpemu.torch.new_stats")
    result = Stats._asking(want, *bins)
    result._load(content)
    return result


def _check_words(stats: Tensor) -> None:
    if stats.dtype != torch.int64 or stats.ndim != 1 or stats.shape[0] < WORDS:
        raise TypeError(f"stats is a tensor of fpemu.torch.new_stats, not one of {stats.dtype} and shape "
                        f"{tuple(stats.shape)}")


def write_stats(stats: Tensor, content: Stats) -> None:
    """Puts counters into a tensor that asks for the same."""
    stats.copy_(torch.frombuffer(bytearray(content._bytes()), dtype=torch.int64))


def clear_stats(stats: Tensor) -> Tensor:
    """Forgets, in place, what was counted; what is asked for stays. Returns the tensor. TypeError for another one."""
    _check_words(stats)
    if _device.holds(stats):
        return _device.clear_stats(stats)
    stats[_REQUEST.size // 8 :] = 0
    return stats


def begin_anew(stats: Tensor, like: Stats) -> Tensor:
    """The same memory as another tensor, with nothing counted; nothing waits. like: asks for what it does."""
    again = stats.detach()
    return _device.clear_stats(again, like._want) if _device.holds(again) else clear_stats(again)


def check_stats(stats: Tensor | None) -> None:
    """TypeError for what cannot be counters."""
    if stats is not None and (stats.dtype != torch.int64 or stats.ndim != 1):
        raise TypeError(f"stats is a tensor of fpemu.torch.new_stats, not one of {stats.dtype} with {stats.ndim} "
                        "dimensions")
