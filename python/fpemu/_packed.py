# SPDX-License-Identifier: BSD-2-Clause
"""Packed bytes, scales, and what is known of whole tensors."""

from __future__ import annotations

import operator
import struct
import sys
from typing import Any

import numpy as np

from . import _native
from ._arrays import CARRIERS, SCALES, carrier_of, default_carrier, shape_of, to_numpy, told
from ._errors import Error
from ._format import ZERO_POINTS, Format
from ._format import format as make_format
from ._rounding import Rounding
from ._stats import Stats

_UNSUPPORTED = 5  # FPEMU_ERROR_UNSUPPORTED of fpemu/status.h
_RANGE = struct.Struct("=QQQddddQq24x")
_DELAYED = struct.Struct("=8xI8xI96x")


def _field(i: int, convert: Any, text: str) -> Any:
    return property(lambda self: convert(self._fields[i]), doc=text)


class Range:
    """What is known of a whole tensor, made by `fpemu.measure`: what a scale of all of it needs.

    Immutable; two are equal where all numbers are. Pass it as `range=` to quantise a tensor slice by slice, or by the
    range of earlier tensors (delayed scaling; see `Delayed`).
    """

    __slots__ = ("_content",)
    _content: bytes

    def __init__(self, content: bytes = bytes(_RANGE.size)) -> None:
        if not isinstance(content, bytes) or len(content) != _RANGE.size:
            raise ValueError("a range is made by fpemu.measure")
        object.__setattr__(self, "_content", content)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a Range does not change")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Range) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)

    @property
    def _fields(self) -> tuple[Any, ...]:
        return _RANGE.unpack(self._content)

    count: int = _field(0, int, "Elements.")
    nonzero: int = _field(1, int, "Finite elements other than zero.")
    nonfinite: int = _field(2, int, "NaN and infinities.")
    amax: float = _field(3, float, "Largest |x| of the finite elements.")
    max: float = _field(4, float, "Largest finite x, 0 if none is above zero.")
    min: float = _field(5, float, "Smallest finite x, 0 if none is below zero.")

    def __repr__(self) -> str:
        return f"<fpemu.Range of {self.count}: amax={self.amax} nonfinite={self.nonfinite}>"

    def __reduce__(self) -> tuple[type[Range], tuple[bytes]]:
        return Range, (self._content,)


def measure(x: Any, format: Format | str, *, range: Range | None = None) -> Range:
    """The range of x, of any shape, added to that of earlier pieces: pieces and order change nothing.

    format: whose scales the range is for (s2fp8 needs logarithms too).
    """
    return Range(_native.measure(x, format, range))


class Delayed:
    """Delayed scaling: the scale follows from the largest magnitudes of the last `length` tensors.

        state = fpemu.Delayed(16)
        y = fpemu.quantize(x, "scaled(e4m3fn)", range=state.range)
        state.update(fpemu.measure(x, "scaled(e4m3fn)"))

    Tensors with a NaN, an infinity or nothing but zeros are left out. latest: the most recent tensor decides, in place
    of the largest of the history. Before the first tensor the scale is 1.
    """

    def __init__(self, length: int, *, latest: bool = False) -> None:
        if not 1 <= length < 1 << 32:
            raise ValueError(f"the history has one tensor or more, not {length}")
        self._state = _DELAYED.pack(length, latest) + bytes(8 * length)

    def update(self, seen: Range) -> None:
        """Takes in the range of the tensor just seen."""
        self._state = _native.delayed_update(self._state, seen)

    @property
    def range(self) -> Range:
        """What to pass as `range=`."""
        return Range(self._state[24:_DELAYED.size])


def _flat(codes: Any) -> Any:
    """The elements in C order, without gaps."""
    flat = codes.reshape(-1)
    if isinstance(flat, np.ndarray):
        return np.ascontiguousarray(flat)
    return flat.contiguous() if hasattr(flat, "contiguous") else flat


def _scale_dtype(format: Format) -> np.dtype[Any] | None:
    """The dtype of scales' codes, for a tensor without elements too; None where blocks have none."""
    size = _native.layout(format, (1,), 0)["scale_bytes"]
    return np.dtype(f"u{size}") if size else None


def has_levels(format: Format) -> bool:
    """Whether a block has more than a scale above zero for all of its elements, or lines have a scale too."""
    return format.outer > 0 or (format.correct > 0 and format.scaling_rule != "eden") or \
        format.scaling_rule in ("pairs", "hif4", "ggml_0", "ggml_0k", *ZERO_POINTS)


def _scales_shape(format: Format, shape: tuple[int, ...], axis: int) -> tuple[int, ...] | None:
    """The shape in which the scales' order is C order; None where there is none but a list, as of a tensor without
    elements, which has no blocks."""
    if not shape:
        shape, axis = (1,), 0
    axis %= len(shape)
    block = format.block_shape
    if block is None or 0 in shape:
        return None
    if block == "tensor":
        return ()
    if block == "channel":
        return (shape[axis],)
    leading, inner = shape[:axis], shape[axis + 1:]
    if block == "row":
        return leading + inner
    assert isinstance(block, tuple)
    along = -(-shape[axis] // block[-1])
    if len(block) == 1:
        return leading + inner + (along,)
    if axis == 0:
        return inner + (1, along)
    return leading[:-1] + inner + (-(-leading[-1] // block[0]), along)


class Packed:
    """A tensor as packed bytes, made by `fpemu.pack`: elements of the format's width, and the scales of blocks.

    bytes: the packed bytes, a flat array of uint8 of the kind that was packed (TypeError for another dtype; `frombytes`
    takes Python's bytes). format, shape, axis, dtype: of the tensor; blocks run along `axis`. The layout is that of
    doc/blocks.md, 4, and of `layout`.
    """

    __slots__ = ("_layout", "axis", "bytes", "dtype", "format", "shape")

    def __init__(self, data: Any, format: Format | str, shape: tuple[int, ...], axis: int = -1,
                 dtype: Any = None) -> None:
        self.format = make_format(format)
        self.shape = tuple(operator.index(size) for size in shape)
        if any(size >= 1 << 63 for size in self.shape):
            raise ValueError(f"the shape {self.shape} has more elements than memory")
        self._layout = _native.layout(self.format, self.shape, axis)  # which refuses an axis that there is not
        self.axis = operator.index(axis) % max(len(self.shape), 1)
        self.dtype = CARRIERS[default_carrier(self.format) if dtype is None else carrier_of(dtype)]
        self.bytes = data = told(data)
        if data.dtype != np.uint8 and str(data.dtype) != "torch.uint8":
            raise TypeError(f"packed bytes have the dtype uint8, not {data.dtype}")
        if shape_of(data) != (self.nbytes,):
            raise ValueError(f"a tensor of shape {self.shape} in {self.format!r} has {self.nbytes} bytes, not "
                             f"{shape_of(data)}")

    @property
    def nbytes(self) -> int:
        """Bytes in all."""
        return int(self._layout["bytes"])

    @property
    def layout(self) -> dict[str, int]:
        """Where what lies: bytes, blocks, tensor_offset, tensor_bytes, scales_offset, scale_bytes, elements_offset,
        element_bits, block_elements, block_bytes; offsets and sizes in bytes, element_bits in bits."""
        return dict(self._layout)

    @property
    def elements(self) -> Any:
        """The bytes of the elements, a view: block after block, low bits first, each block from a byte on."""
        return self.bytes[self._layout["elements_offset"]:]

    @property
    def codes(self) -> Any:
        """The codes of the elements in the order of blocks, one in an unsigned integer each; without padding.

        For blocks along the last axis, and for scalar formats, the array has the tensor's shape.
        """
        raw = np.ascontiguousarray(to_numpy(self.elements))
        width, per_block = int(self._layout["element_bits"]), int(self._layout["block_elements"])
        count = int(np.prod(self.shape, dtype=np.int64))
        blocks = int(self._layout["blocks"])
        dtype = self.format.element.code_dtype
        if count == 0:
            return np.zeros(self.shape, dtype)
        last = self.axis == max(len(self.shape), 1) - 1
        lines = [per_block] * blocks if blocks * per_block == count else _native.extents(self.format, self.shape,
                                                                                         self.axis)
        pieces, at = [], 0
        if width in (8, 16, 32, 64):
            flat = raw.view(dtype) if raw.size % dtype.itemsize == 0 else raw
        elif len(set(lines)) == 1:
            flat = _unpack_bits(raw.reshape(blocks, -1), width, lines[0]).astype(dtype).ravel()
        else:
            for elements in lines:
                size = (elements * width + 7) // 8
                pieces.append(_unpack_bits(raw[None, at:at + size], width, elements)[0])
                at += size
            flat = np.concatenate(pieces).astype(dtype)
        shaped = last and self.format.block_shape not in ("channel",) and not (
            isinstance(self.format.block_shape, tuple) and len(self.format.block_shape) == 2)
        return flat.reshape(self.shape) if shaped else flat

    @property
    def scales(self) -> Any:
        """The numbers that stand for the blocks' scales, float32 (float64 for a float64 tensor), by blocks: runs have
        the tensor's shape less the axis, then as many as a line has blocks; rows the shape less the axis; channels one
        each; a tensor one. A tensor without elements has none, a flat array. None for scalar formats and s2fp8."""
        if not self.format.is_blocked or self.format.scaling_rule == "s2fp8":
            return None
        wide = 1 if self.dtype == "float64" else 0
        flat = _native.unpack_scales(self.bytes, self.format, self.shape, self.axis, wide)
        shape = _scales_shape(self.format, self.shape, self.axis)
        return flat if shape is None else flat.reshape(shape)

    @property
    def scale_codes(self) -> Any:
        """The codes of the blocks' scales, unsigned integers, shaped as `scales`; of a bare power of two its exponent
        in two's complement; above either the bits of levels or of `zero_points`. None for scalar formats and s2fp8."""
        dtype = _scale_dtype(self.format)
        if dtype is None:
            return None
        at = int(self._layout["scales_offset"])
        raw = self.bytes[at:at + dtype.itemsize * int(self._layout["blocks"])]
        if dtype.itemsize > 1:
            is_torch = hasattr(raw, "detach")  # whose views begin at whole numbers of them
            raw = raw.clone().view(getattr(sys.modules["torch"], dtype.name)) if is_torch else raw.view(dtype)
        shape = _scales_shape(self.format, self.shape, self.axis)
        return raw if shape is None else raw.reshape(shape)

    @property
    def zero_points(self) -> Any:
        """The second numbers of blocks (doc/blocks.md, 2.7), shaped as `scales`; None where blocks have none."""
        rule, scale = self.format.scaling_rule, self.format.scale_format
        if scale is None or rule not in ZERO_POINTS:
            return None
        kind = self.format.element if rule in ("asymmetric", "minmax") else scale
        codes = to_numpy(self.scale_codes).astype(np.uint64) >> np.uint64(scale.bits)
        return _native.decode(codes.astype(kind.code_dtype), kind, default_carrier(kind), None)

    @property
    def tensor_scales(self) -> tuple[Any, ...] | None:
        """The two numbers of the whole tensor: nvfp4's multiplier u and scale d, with outer=row such a pair for each
        line in the order of the blocks; s2fp8's alpha and beta."""
        at, size = int(self._layout["tensor_offset"]), int(self._layout["tensor_bytes"])
        pairs = tuple(struct.iter_unpack("<ff", np.ascontiguousarray(to_numpy(self.bytes[at:at + size])).tobytes()))
        return pairs if self.format.outer else pairs[0] if pairs else None

    def swizzled(self) -> Any:
        """The scales' codes in the order in which tensor cores read them, flat, tiles of 128 x 4 padded with 0.

        Of blocks along the last axis with scales of one byte; else ValueError. Leading axes are rows.
        """
        codes = self.scale_codes
        if codes is None or _scale_dtype(self.format) != np.uint8 or codes.ndim == 0 or \
                not isinstance(self.format.block_shape, tuple) or self.axis != len(self.shape) - 1:
            raise ValueError("only scales of one byte, of blocks along the last axis, have that order")
        columns = codes.shape[-1]
        rows = int(np.prod(codes.shape[:-1], dtype=np.int64))
        return _native.swizzle(_flat(codes), rows, columns, False)

    def unpack(self, dtype: Any = None, *, out: Any = None) -> Any:
        """The values, in the tensor's shape: those that `quantize` gives for the same input; but a NaN that has no code
        becomes what the format's NaN policy names. dtype: as packed, unless told."""
        carrier = carrier_of(self.dtype if dtype is None else dtype)
        return _native.unpack(self.bytes, self.format, self.shape, self.axis, carrier, out)

    def tobytes(self) -> bytes:
        """The packed bytes as Python's."""
        return np.ascontiguousarray(to_numpy(self.bytes)).tobytes()

    @classmethod
    def frombytes(cls, content: bytes, format: Format | str, shape: tuple[int, ...], axis: int = -1,
                  dtype: Any = None) -> Packed:
        """A tensor of packed bytes, such as tobytes gave; ValueError where their number is another."""
        return cls(np.frombuffer(bytearray(content), dtype=np.uint8), format, shape, axis, dtype)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Packed) and (self.format, self.shape, self.axis) == \
            (other.format, other.shape, other.axis) and self.tobytes() == other.tobytes()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<fpemu.Packed {self.format!r} shape={self.shape} axis={self.axis} {self.nbytes} bytes>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Packed, (self.bytes, self.format, self.shape, self.axis, self.dtype)


def _unpack_bits(raw: Any, width: int, elements: int) -> Any:
    """Codes of `width` bits from rows of bytes, low bits first."""
    bits = np.unpackbits(raw, axis=1, bitorder="little")[:, :elements * width].reshape(len(raw), elements, width)
    return bits.astype(np.uint64) @ (np.uint64(1) << np.arange(width, dtype=np.uint64))


def pack(x: Any, format: Format | str, rounding: Rounding | str = "rne", *, axis: int = -1, offset: int = 0,
         range: Range | None = None, stats: Stats | None = None) -> Packed:
    """x as packed bytes: its elements in codes of the format's width, with the scales of blocks along `axis`.

    Any format; of a scalar one each line along `axis` is a block without a scale. Arguments are as for `quantize`.
    """
    x = told(x)
    data = _native.pack(x, format, rounding, axis, offset, range, stats)
    return Packed(data, format, shape_of(x), axis, CARRIERS[carrier_of(x.dtype)])


def scales(x: Any, format: Format | str, *, axis: int = -1, range: Range | None = None) -> tuple[Any, Any,
                                                                                                tuple[Any, ...]]:
    """The scales that `quantize` and `pack` use for x, where the format has a search by "rne": (scales, codes, (u, d)).

    scales, codes: by blocks, shaped as `Packed.scales`. The value of an element is P * s, with P a value of the element
    format and s the block's scale; nvfp4: P * s * d, with d the tensor's scale; outer=row: (u, d) of each line. Other
    rules have u = d = 1.
    fpemu.Error for formats whose blocks have none: those without scales, and s2fp8.
    """
    x, to = told(x), make_format(format)
    if _scale_dtype(to) is None:
        raise Error(f"scales: {to._check('rne', carrier_of(x.dtype), SCALES)} (format {to})", _UNSUPPORTED)
    packed = pack(x, to, axis=axis, range=range)
    return packed.scales, packed.scale_codes, packed.tensor_scales or (1.0, 1.0)


def swizzle(codes: Any) -> Any:
    """Scale codes of one byte, rows x columns, in the order in which tensor cores read them: flat, padded with 0."""
    codes = told(codes)
    shape = shape_of(codes)
    if len(shape) != 2:
        raise ValueError(f"codes are rows x columns, not of the shape {shape}")
    rows, columns = shape
    return _native.swizzle(_flat(codes), rows, columns, False)


def unswizzle(codes: Any, rows: int, columns: int) -> Any:
    """The inverse of `swizzle`: rows x columns codes of one byte."""
    return _native.swizzle(_flat(told(codes)), rows, columns, True).reshape(rows, columns)


__all__ = ["Delayed", "Packed", "Range", "measure", "pack", "scales", "swizzle", "unswizzle"]
