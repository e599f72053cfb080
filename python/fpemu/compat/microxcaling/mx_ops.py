# SPDX-License-Identifier: BSD-2-Clause
"""Quantising to formats whose blocks share a scale."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

import fpemu

from .formats import ELEMENTS, ElemFormat, rounding_of, scale_format, wanted_defects

MIN_NORMAL = 2.0**-126


def quantize_mx_op(A: torch.Tensor, mx_specs: Mapping[str, Any] | None,  # noqa: N803 - microxcaling's name
                   elem_format: str | ElemFormat | None = None, block_size: int | None = None,
                   axes: int | Sequence[int] | None = None, round: str = "nearest",  # noqa: A002
                   expand_and_reshape: bool = False, *, defects: Iterable[str] | None = None) -> torch.Tensor:
    """A to an MX format: a tensor of A's shape and dtype, without gradient. A itself where elem_format is None.

    mx_specs: of its entries block_size (where `block_size` is None), scale_bits, shared_exp_method ("max", or "none", a
    scale for every element) and mx_flush_fp32_subnorms (blocks whose largest number is below 2^-126 become zero) are
    used. axes: one axis, along which blocks run, or two, along which tiles lie. block_size 0: a whole axis; all of
    several. round: nearest, floor, even, dither. expand_and_reshape is not used, as in microxcaling. defects: see
    the package.

    ValueError for names and numbers that there are not, TypeError for a dtype or a sparse tensor.
    """
    if elem_format is None:
        return A
    assert mx_specs is not None
    element = ELEMENTS[ElemFormat.from_str(elem_format) if isinstance(elem_format, str) else elem_format]
    block = int(mx_specs["block_size"] if block_size is None else block_size)
    method, bits = mx_specs["shared_exp_method"], int(mx_specs["scale_bits"])
    if method not in ("max", "none"):
        raise ValueError(f"shared_exp_method is max or none, not {method!r}")
    if axes is None or block < 0:
        raise ValueError("axes and a block_size of 0 or more are needed")
    named = [axes] if isinstance(axes, int) else axes
    for axis in named:
        if not -A.dim() <= axis < A.dim():
            raise ValueError(f"there is no axis {axis} in a tensor of {A.dim()} dimensions")
    places = sorted({axis % A.dim() for axis in named})
    if A.is_sparse or A.dtype not in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
        raise TypeError(f"A is a dense tensor of floats, not {A.layout} of {A.dtype}")
    x, shape = A.detach(), A.shape
    if method == "none":
        x, blocks = x.reshape(-1), "1"
    elif len(places) == 1:
        x, blocks = x.movedim(places[0], -1), str(block) if block else "row"
    elif block == 0:
        x, blocks = x.movedim(places, list(range(-len(places), 0))).flatten(-len(places)), "row"
    elif len(places) == 2:
        x, blocks = x.movedim(places, [-2, -1]), f"{block}x{block}"
    else:
        raise ValueError(f"blocks of {block} lie along one axis or two, not {len(places)}")
    spec = f"mx({element},block={blocks},scale={scale_format(bits)})"
    chosen = wanted_defects(defects)
    flush, unholdable = bool(mx_specs["mx_flush_fp32_subnorms"]), "nan_scale" in chosen and bits not in (0, 8)
    y: torch.Tensor = fpemu.quantize(x, fpemu.format(spec), rounding_of(round), axis=-1)
    if (flush or unholdable) and x.numel():
        largest = _largest(x, blocks)
        if flush:
            y = torch.where(largest < MIN_NORMAL, torch.zeros_like(y), y)
        if unholdable:
            limit = 2.0 ** (math.frexp(fpemu.format(element).max)[1] - 1 + (1 << bits - 1))
            y = torch.where(largest >= limit, torch.full_like(y, float("nan")), y)
    if "positive_zero" in chosen:
        y = torch.where(x == 0, torch.zeros_like(y), y)
    if method == "max" and len(places) == 1:
        y = y.movedim(-1, places[0])
    elif method == "max" and block == 0:
        moved = [size for i, size in enumerate(shape) if i not in places]
        y = y.reshape(*moved, *(shape[i] for i in places)).movedim(list(range(-len(places), 0)), places)
    elif method == "max":
        y = y.movedim([-2, -1], places)
    return y.reshape(shape)


def _largest(x: torch.Tensor, blocks: str) -> torch.Tensor:
    """For every element the largest magnitude of its block, along the last axis or in tiles of the last two."""
    a = x.abs()
    if blocks == "row":
        return a.amax(-1, keepdim=True).expand_as(a)
    sizes = [int(size) for size in blocks.split("x")]
    for axis, size in zip(range(-len(sizes), 0), sizes):
        length = a.shape[axis]
        moved = torch.nn.functional.pad(a.movedim(axis, -1), (0, -length % size))
        tops = moved.reshape(*moved.shape[:-1], -1, size).amax(-1, keepdim=True).expand(*moved.shape[:-1], -1, size)
        a = tops.flatten(-2)[..., :length].movedim(-1, axis)
    return a
