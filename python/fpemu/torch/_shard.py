# SPDX-License-Identifier: BSD-2-Clause
"""A tensor that is a part of a larger one: every element keeps the place in the random stream and the block that it has
in the whole, so that the parts of a whole hold the bits of one call on it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from fpemu import Format, Rounding

from ._spec import block_of, scale_length, scaling_of

TOGETHER = ("eden", "ggml_1k", "ggml_0k")
NVFP4 = ("nvfp4", "nvfp4_ao", "nvfp4_clamp", "4over6", "4over6_mse", "eden")


class Part(NamedTuple):
    """Where a part lies: the sizes of the whole, and the index of the part's first element along each dimension."""

    whole: Sequence[int]
    start: Sequence[int]


@dataclass(frozen=True)
class BatchPart:
    """Which part of a batch a rank has; group None: of all ranks. A copy is of the same group, which is pickled only
    where it is None."""

    rank: int
    ranks: int
    group: Any

    def __deepcopy__(self, memo: Any) -> BatchPart:
        return self


def has_tensor_scale(format: Format) -> bool:
    """Whether a scale of the format follows from the whole tensor (`fpemu.measure`)."""
    return block_of(format) == "tensor" or (scaling_of(format) in NVFP4 and not format.outer)


def check_part(part: Part, shape: Sequence[int]) -> None:
    """ValueError where a part does not lie in its whole."""
    if len(part.whole) != len(shape) or len(part.start) != len(shape):
        raise ValueError(f"whole and start have one number for each of {len(shape)} dimensions")
    for size, all_of_it, first in zip(shape, part.whole, part.start):
        if first < 0 or first + size > all_of_it:
            raise ValueError(f"a part of shape {tuple(shape)} from {tuple(part.start)} leaves {tuple(part.whole)}")


def check_blocks(format: Format, axis: int, part: Part, shape: Sequence[int]) -> None:
    """ValueError where a block of the whole lies on both sides of a cut. `axis` is not negative."""
    if block_of(format) in (None, "tensor"):
        return
    for d, (size, all_of_it, first) in enumerate(zip(shape, part.whole, part.start)):
        length = scale_length(format, d, axis) or all_of_it
        # Blocks of a line, and of tiles of its neighbours, share corrections, a super-block's numbers or a scale.
        tiles = format.correct and block_of(format) == "tile" and d == axis - 1
        if tiles or ((format.scaling_rule in TOGETHER or format.outer or format.correct) and d == axis):
            length = all_of_it
        end = first + size
        if size and (first % length or (end % length and end != all_of_it)):
            raise ValueError(f"dimension {d} is cut at {first}..{end} of {all_of_it}, where blocks of {format} have "
                             f"{length}: a block would lie in two parts. Cut at multiples of it, or along another "
                             "dimension")


def quantize_part(run: Callable[[Tensor, Tensor, Rounding, int], None], x: Tensor, y: Tensor, format: Format,
                  rounding: Rounding, axis: int, part: Part, is_counted: bool, is_measured: bool) -> None:
    """Quantises x, a part of a tensor, into y of the same shape; x and y may be the same.

    run(x, y, rounding, axis): quantises a tensor of its own to the format. is_counted: it counts. is_measured: it has
    the range of the whole tensor.

    Elements of x that are neighbours in the whole too become one call of the library. Stochastically rounded blocks
    that a cut behind their axis makes no such neighbours are quantised in a copy as wide as the whole, and cannot be
    counted.
    """
    shape = tuple(x.shape)
    check_part(part, shape)
    if x.numel() == 0:
        return
    axis = axis % x.ndim if x.ndim else 0
    check_blocks(format, axis, part, shape)
    if has_tensor_scale(format) and not is_measured and tuple(part.whole) != shape:
        raise ValueError(f"a scale of {format} follows from the whole tensor: pass its range")
    step = [math.prod(part.whole[d + 1 :]) for d in range(x.ndim)]
    cut = max((d for d in range(x.ndim) if shape[d] != part.whole[d]), default=0)
    lead = x.ndim
    block = block_of(format)
    if block not in (None, "tensor"):
        lead = 0 if block == "channel" else max(axis - (block == "tile"), 0)
    if not (rounding.is_stochastic or format.is_stochastic):
        cut = 0
    first = sum(s * t for s, t in zip(part.start, step))
    begin = min(cut, lead)
    if begin < cut and is_counted:
        raise ValueError(f"blocks of {format} along axis {axis}, cut along dimension {cut}, cannot be counted")
    for place in itertools.product(*(range(n) for n in shape[:begin])):
        offset = (rounding.offset + first + sum(i * s for i, s in zip(place, step))) % 2**64
        moved = rounding.replace(offset=offset)
        if begin == cut:
            run(x[place], y[place], moved, axis - begin if begin <= axis else -1)
            continue
        # The copy begins at the place's first element along the dimensions behind `begin`, and with the part along it.
        width = (shape[begin], *part.whole[begin + 1 :])
        inside = (slice(None), *(slice(s, s + n) for s, n in zip(part.start[begin + 1 :], shape[begin + 1 :])))
        wide = x.new_zeros(width)
        wide[inside] = x[place]
        origin = offset - sum(s * t for s, t in zip(part.start[begin + 1 :], step[begin + 1 :]))
        rounded = torch.empty_like(wide)
        run(wide, rounded, rounding.replace(offset=origin % 2**64), axis - begin)
        y[place].copy_(rounded[inside])
