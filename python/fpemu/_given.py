# SPDX-License-Identifier: BSD-2-Clause
"""quantize() with scales, zero points or random words of the caller: arrays that broadcast, in the order of blocks."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from . import _native
from ._arrays import grad_enabled, to_numpy, told
from ._format import Format
from ._format import format as make_format
from ._packed import _scales_shape
from ._rounding import _index
from ._rounding import rounding as make_rounding

ORDERS = (None, "after", "before")
LAYOUTS = ("each", "ptx-x2", "ptx-x4")


def _blocks(x: Any, format: Format, scale: Any, reciprocal: bool) -> tuple[Any, Format, int, Any]:
    """x, a format with blocks, their axis, and for each block the place of its number in `scale` and arrays like it."""
    shape, sizes = tuple(x.shape), scale.shape
    if len(sizes) > len(shape) or any(n < 1 or m % n for n, m in zip(sizes[::-1], shape[::-1], strict=False)):
        raise ValueError(
            f"a scale of shape {sizes} does not go with x of shape {shape}: each of its sizes divides "
            "x's, and stands for as many neighbours"
        )
    sizes = (1,) * (len(shape) - len(sizes)) + sizes
    some = [d for d, n in enumerate(sizes) if n > 1]
    place = np.arange(scale.size).reshape(sizes)
    axis = -1
    if not some:
        block = "tensor"
    elif len(some) == 1 and sizes[some[0]] == shape[some[0]]:
        block, axis = "channel", some[0]
    else:
        last = some[-1]
        for d in some[:-1]:
            place = place.repeat(shape[d] // sizes[d], d)
        place = np.broadcast_to(place, (*shape[:last], *place.shape[last:]))
        block = str(int(np.prod(shape[last:])) // sizes[last])
        x = x.reshape((*shape[:last], -1))
    rule = "reciprocal" if reciprocal else "absmax"
    return x, make_format(f"block({format},block={block},scale=fp32,rule={rule})"), axis, place.ravel()


def adopt(verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Carries out quantize(*args, **kwargs)."""
    assert verb == "quantize"
    return quantize(*args, **kwargs)


def quantize(
    x: Any,
    format: Any,
    rounding: Any = "rne",
    *,
    axis: int = -1,
    offset: int = 0,
    out: Any = None,
    stats: Any = None,
    range: Any = None,
    scale: Any = None,
    zero: Any = None,
    zero_order: str = "after",
    reciprocal: bool = False,
    tensor_scale: float = 0.0,
    words: Any = None,
    layout: str = "each",
) -> Any:
    """As _native.quantize describes it."""
    x, to, back = told(x), make_format(format), None
    if getattr(x, "requires_grad", False) and grad_enabled():
        raise TypeError("scale=, zero= and words= carry no gradient: pass x.detach()")
    if out is not None:
        raise TypeError("out= does not go with scale= and words=")
    scales = zeros = None
    if scale is None and (zero is not None or reciprocal or tensor_scale):
        raise TypeError("zero=, reciprocal= and tensor_scale= go with scale=")
    if scale is not None:
        scale = np.asarray(to_numpy(scale), np.float32)
        if zero is not None:
            scale, zero = np.broadcast_arrays(scale, np.asarray(to_numpy(zero), np.float32))
        if to.is_blocked:
            if reciprocal:
                raise ValueError("reciprocal= is for formats without scales: write rule=reciprocal in the format")
            grid = _scales_shape(to, tuple(x.shape), axis)
            place = np.broadcast_to(np.arange(scale.size).reshape(scale.shape), grid or ()).ravel()
        else:
            back = x.shape
            x, to, axis, place = _blocks(x, to, scale, reciprocal)
        scales = scale.ravel()[place]
        zeros = None if zero is None else zero.ravel()[place]
    if words is not None:
        rounding = make_rounding(rounding)
        if not rounding.is_stochastic:
            raise ValueError(f"words= are for the modes sr and se, not {rounding}")
        words = np.ascontiguousarray(to_numpy(words))
        if words.dtype not in (np.uint32, np.int32):
            raise TypeError(f"random words are uint32 or int32, not {words.dtype}")
    order = 0 if zero is None else _index(ORDERS, zero_order, "zero_order")
    scales, zeros, words = (None if a is None else a.tobytes() for a in (scales, zeros, words))
    given = (scales, zeros, order, float(tensor_scale), words, _index(LAYOUTS, layout, "layout"))
    tensor = x if hasattr(x, "detach") else None
    if tensor is not None:
        x = to_numpy(x)
    y = _native.quantize(x, to, rounding, axis=axis, offset=offset, stats=stats, range=range, given=given)
    y = y if back is None else y.reshape(back)
    if tensor is None:
        return y
    torch = sys.modules["torch"]
    held = (
        torch.from_numpy(y.view(np.int16)).view(torch.bfloat16) if y.dtype.name == "bfloat16" else torch.from_numpy(y)
    )
    return held.to(tensor.device)
