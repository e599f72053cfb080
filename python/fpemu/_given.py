# SPDX-License-Identifier: BSD-2-Clause
"""quantize() with scales, zero points or random words of the caller: arrays that broadcast, in the order of blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _native
from ._arrays import grad_enabled, to_numpy, told
from ._format import Format
from ._format import format as make_format
from ._packed import _scales_shape
from ._rounding import Rounding, _index
from ._rounding import rounding as make_rounding

ORDERS = (None, "after", "before")
LAYOUTS = ("each", "ptx-x2", "ptx-x4")


def _held(numbers: Any) -> Any:
    """Scales, zero points, in binary32."""
    if hasattr(numbers, "detach") and numbers.is_floating_point():
        numbers = numbers.detach().float().resolve_neg()  # 8-bit floats too
    if np.iscomplexobj(held := to_numpy(numbers)):
        raise TypeError("scales and zero points are real numbers")
    return np.asarray(held, np.float32)


def _blocks(x: Any, format: Format, scale: Any, reciprocal: bool) -> tuple[Any, Format, int, Any]:
    """x, a format with blocks, their axis, and for each block the place of its number in `scale` and arrays like it."""
    shape, sizes = tuple(x.shape), scale.shape
    if len(sizes) > len(shape) or any(n < 1 or m % n for n, m in zip(sizes[::-1], shape[::-1], strict=False)):
        why = "each of its sizes divides x's, and stands for as many neighbours"
        raise ValueError(f"a scale of shape {sizes} does not go with x of shape {shape}: {why}")
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


def quantize(x: Any, format: Format | str, rounding: Rounding | str = "rne", *, axis: int = -1, offset: int = 0,
             out: Any = None, stats: Any = None, range: Any = None, scale: Any = None, zero: Any = None,
             zero_order: str = "after", reciprocal: bool = False, tensor_scale: float = 0.0, words: Any = None,
             layout: str = "each") -> Any:
    """fpemu.quantize, called with one of the arguments from `scale` on."""
    x, format, rounding = told(x), make_format(format), make_rounding(rounding)
    shape = tuple(x.shape)
    if scale is None and (zero is not None or reciprocal or tensor_scale):
        raise TypeError("zero=, reciprocal= and tensor_scale= go with scale=")
    if (zero is None and zero_order != "after") or (words is None and layout != "each"):
        raise TypeError("zero_order= goes with zero=, and layout= with words=")
    if scale is None and words is None:
        return _native.quantize(x, format, rounding, axis=axis, offset=offset, out=out, stats=stats, range=range)
    if any(getattr(array, "requires_grad", False) for array in (x, scale, zero)) and grad_enabled():
        raise TypeError("scale=, zero= and words= carry no gradient: pass x.detach(), scale.detach()")
    if out is not None:
        raise TypeError("out= does not go with scale= and words=")
    if scale is not None:
        scale = _held(scale)
        if zero is not None:
            scale, zero = np.broadcast_arrays(scale, _held(zero))
        if reciprocal and format.is_blocked:
            raise ValueError("reciprocal= is for formats without scales: write rule=reciprocal in the format")
        if 0 in shape:
            place = np.arange(0)  # there are no blocks
        elif not format.is_blocked:
            x, format, axis, place = _blocks(x, format, scale, reciprocal)
        else:
            grid = _scales_shape(format, shape, axis) or ()
            place = np.broadcast_to(np.arange(scale.size).reshape(scale.shape), grid).ravel()
        scale, zero = scale.ravel()[place], None if zero is None else zero.ravel()[place]
    if words is not None:
        words = np.ascontiguousarray(to_numpy(words))
        if not (rounding.is_stochastic or format.is_stochastic):
            raise ValueError(f"words= are for the modes sr and se and the rule eden, not {rounding} and {format}")
        if words.dtype not in (np.uint32, np.int32):
            raise TypeError(f"random words are uint32 or int32, not {words.dtype}")
    order = 0 if zero is None else _index(ORDERS, zero_order, "zero_order")
    scales, zeros, drawn = (None if a is None else a.tobytes() for a in (scale, zero, words))
    given = (scales, zeros, order, float(tensor_scale), drawn, _index(LAYOUTS, layout, "layout"))
    far = hasattr(x, "detach") and x.device.type != "cpu"
    near = x.cpu() if far else x
    y = _native.quantize_given(near, format, rounding, axis, offset, None, stats, range, given).reshape(shape)
    return y.to(x.device) if far else y
