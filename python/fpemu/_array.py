# SPDX-License-Identifier: BSD-2-Clause
"""Arrays whose every operation is rounded once."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _native, _values
from ._arrays import CARRIERS, default_carrier, float64_of, shape_of, to_numpy
from ._format import Format
from ._format import format as make_format
from ._gemm import Gemm, gemm, matmul
from ._rounding import Rounding
from ._rounding import rounding as make_rounding
from ._stats import Stats

# Where targets lie in a model of dot products, struct fpemu_gemm_spec: each a format and the rounding to it.
_OUT, _INNER, _FORMAT, _TARGET = 960, 1344, 256, 320
_ROUNDING = struct.Struct("=8B3Q32x")


_Operator = Callable[["Array", Any], "Array"]


def _comparison(name: str) -> Callable[[Array, Any], Any]:
    return lambda self, other: getattr(_values, name)(self.data, self._operand(other))


def _both_ways(name: str) -> tuple[_Operator, _Operator]:
    """An operator, and the same with its operands the other way round."""
    return lambda self, other: self._operate(name, self, other), lambda self, other: self._operate(name, other, self)


class Array:
    """Numbers of a format: every operation on them is exact but for one rounding to the format; made by `fpemu.array`.

    Operators + - * / and unary -, abs, comparisons, @, ** 2 and the methods below, with Arrays of the same format and
    with Python numbers and arrays, which are rounded to the format first, as an operand of a machine must be. The
    formats are those without scales that arithmetic takes. `a @ b` adds products in sequence, each addition of the
    exact product rounded (a fused multiply-add); `a.matmul(b, spec)` takes another model. What is neither an array
    nor a real number, such as None, a text or a list, is never equal: `a == None` is False.

    data: the values, an array of NumPy or jax, or a tensor. format, rounding. stats: a Stats that all operations count
    in, or None; products of matrices want one without sums and histograms (else fpemu.Error). Stochastic roundings take
    new random bits with every operation: each has a stream of its own, counted from `rounding.stream` on, so that a
    computation done again gives the same bits.
    """

    __slots__ = ("_step", "data", "format", "rounding", "stats")
    __array_priority__ = 100.0
    __array_ufunc__ = None

    def __init__(self, data: Any, format: Format, rounding: Rounding, stats: Stats | None = None,
                 step: list[int] | None = None) -> None:
        self.data = data
        self.format = format
        self.rounding = rounding
        self.stats = stats
        self._step = [0] if step is None else step

    # ------------------------------------------------------------------------------------------- what it is

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the dimensions."""
        return shape_of(self.data)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def dtype(self) -> Any:
        """The dtype that holds the values."""
        return self.data.dtype

    @property
    def codes(self) -> Any:
        """The codes of the values."""
        return _values.encode(self.data, self.format)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        own = to_numpy(self.data)
        if copy is False and dtype is not None and np.dtype(dtype) != own.dtype:
            raise ValueError(f"an Array of {own.dtype} becomes one of {np.dtype(dtype)} by a copy alone")
        return np.array(own, dtype=dtype) if copy else np.asarray(own, dtype=dtype)

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Array]:
        return (self[i] for i in range(len(self)))

    def __float__(self) -> float:
        return float(self.data)

    def __bool__(self) -> bool:
        return bool(self.data)

    def item(self) -> float:
        """The one element as a Python number."""
        return float(self.data.item())

    def tolist(self) -> Any:
        """The values as Python's numbers in lists."""
        return self.data.tolist()

    def __repr__(self) -> str:
        return f"fpemu.array({self.data!r}, {self.format!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.data, self.format, self.rounding, self.stats, self._step)

    # ----------------------------------------------------------------------------- nothing is rounded in these

    def _same(self, data: Any) -> Array:
        return Array(data, self.format, self.rounding, self.stats, self._step)

    def __getitem__(self, index: Any) -> Array:
        return self._same(np.asarray(self.data[index]) if isinstance(self.data, np.ndarray) else self.data[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.data[index] = self._operand(value)

    def reshape(self, *shape: Any) -> Array:
        """The same elements in another shape."""
        return self._same(self.data.reshape(*shape))

    @property
    def T(self) -> Array:
        """The transpose."""
        return self._same(self.data.T)

    def transpose(self, *axes: int) -> Array:
        """Axes in another order."""
        if _is_tensor(self.data):
            return self._same(self.data.permute(*(axes or tuple(reversed(range(self.ndim))))))
        return self._same(self.data.transpose(*axes))

    def copy(self) -> Array:
        """A copy with data of its own."""
        return self._same(self.data.clone() if _is_tensor(self.data) else self.data.copy())

    def astype(self, format: Format | str, rounding: Rounding | str | None = None) -> Array:
        """The values rounded once to another format."""
        to = make_format(format)
        by = self._next() if rounding is None else make_rounding(rounding)
        return Array(_quantize(self.data, to, by, stats=self.stats), to,
                     self.rounding if rounding is None else make_rounding(rounding), self.stats, self._step)

    def __neg__(self) -> Array:
        return self._same(_quantize(-self.data, self.format, self._next(), stats=self.stats))

    def __pos__(self) -> Array:
        return self.copy()

    def __abs__(self) -> Array:
        return self._same(_quantize(abs(self.data), self.format, self._next(), stats=self.stats))

    # -------------------------------------------------------------------------------------------- operations

    def _next(self, random: bool = False) -> Rounding:
        """The rounding of the next operation. random: that uses random bits whatever the rounding."""
        if not (random or self.rounding.is_stochastic or self.format.is_stochastic):
            return self.rounding
        step = self._step[0]
        self._step[0] += 1
        return self.rounding.replace(stream=(self.rounding.stream + step) % (1 << 64))

    def _operand(self, value: Any) -> Any:
        if isinstance(value, Array):
            if value.format != self.format:
                raise ValueError(f"operands have the formats {self.format!r} and {value.format!r}: astype rounds one "
                                 "of them to the other")
            return value.data
        if isinstance(value, (int, float)):
            return _quantize(float64_of(value).item(), self.format, self._next(), stats=self.stats)
        return _quantize(value, self.format, self._next(), stats=self.stats)

    def _operate(self, name: str, *operands: Any) -> Array:
        data = tuple(self._operand(value) for value in operands)
        return self._same(_values._arith(name, data, self.format, self._next(), 0, None, self.stats))

    __add__, __radd__ = _both_ways("add")
    __sub__, __rsub__ = _both_ways("sub")
    __mul__, __rmul__ = _both_ways("mul")
    __truediv__, __rtruediv__ = _both_ways("div")

    def __pow__(self, other: Any) -> Array:
        if other != 2:
            raise ValueError("only the square is an operation that is rounded once")
        return self._operate("mul", self, self)

    def sqrt(self) -> Array:
        """The square root."""
        return self._operate("sqrt", self)

    def fma(self, b: Any, c: Any) -> Array:
        """self * b + c, rounded once."""
        return self._operate("fma", self, b, c)

    def minimum(self, other: Any) -> Array:
        """The smaller; NaN if one of them is."""
        return self._operate("minimum", self, other)

    def maximum(self, other: Any) -> Array:
        """The larger; NaN if one of them is."""
        return self._operate("maximum", self, other)

    def apply(self, function: str) -> Array:
        """An elementary function, correctly rounded; see `fpemu.apply`."""
        return self._same(_values.apply(function, self.data, self.format, self._next(), stats=self.stats))

    def matmul(self, other: Any, spec: str | Gemm | None = None) -> Array:
        """self @ other by a model of `fpemu.matmul`, its result rounded to the format where the model names none.

        None: "seq(FORMAT)": products are added in sequence, each exact product and sum rounded once together, by the
        Array's rounding; a ValueError for a table, to which no sum is rounded. fpemu.Error for a rounding with a
        compatibility setting, which arithmetic does not follow. Stats count every rounding of products, sums and the
        result.
        """
        b = self._operand(other)
        rounding = self._next(isinstance(spec, str) and gemm(spec) != gemm(spec, seed=1))
        own = False
        if spec is None:
            model = _with_target(gemm("seq(fp32)"), _INNER, self.format, rounding)
        else:
            model = spec if isinstance(spec, Gemm) else gemm(spec, seed=rounding.seed, stream=rounding.stream)
            # no model rounds to a table: the result is, by itself
            own = any(model._struct[_OUT:_OUT + _TARGET]) or self.format.kind_name == "codebook"
            if not own:
                model = _with_target(model, _OUT, self.format, rounding)
        data = matmul(self.data, b, model, stats=self.stats)
        # The model's own `out` may be another format, and a sum of no products is a zero, which not all formats have.
        return self._same(_quantize(data, self.format, rounding, stats=self.stats if own else None))

    def __matmul__(self, other: Any) -> Array:
        return self.matmul(other)

    def __rmatmul__(self, other: Any) -> Array:
        return self._same(self._operand(other)).matmul(self)

    # -------------------------------------------------------------------------------------------- comparisons

    def __eq__(self, other: object) -> Any:
        if not _is_operand(other):
            return NotImplemented
        return _values.equal(self.data, self._operand(other))

    def __ne__(self, other: object) -> Any:
        if not _is_operand(other):
            return NotImplemented
        return ~_values.equal(self.data, self._operand(other))

    __lt__, __le__, __gt__, __ge__ = map(_comparison, ("less", "less_equal", "greater", "greater_equal"))
    __hash__ = None  # type: ignore[assignment]

    # --------------------------------------------------------------------------------------------- reductions

    def _reduce(self, name: str, axis: int | None, order: str) -> Array:
        if order not in ("sequential", "pairwise"):
            raise ValueError(f"order is 'sequential' or 'pairwise', not {order!r}")
        x = self.reshape(-1) if axis is None else self._same(_move_last(self.data, axis))
        length = x.shape[-1]
        if length == 0:
            raise ValueError("a reduction of no elements")
        if length == 1:
            return x[..., 0].copy()  # nothing is added, and the operand may change
        if order == "sequential":
            total = x[..., 0]
            for i in range(1, length):
                total = total._operate(name, total, x[..., i])
            return total
        while x.shape[-1] > 1:
            even = x.shape[-1] // 2 * 2
            joined = x._operate(name, x[..., 0:even:2], x[..., 1:even:2])
            if even < x.shape[-1]:
                joined = joined._same(_concatenate(joined.data, x.data[..., even:]))
            x = joined
        return x[..., 0]

    def sum(self, axis: int | None = None, *, order: str = "sequential") -> Array:
        """The sum along an axis, or of all elements in C order, rounded after every addition.

        order: "sequential", ((a0 + a1) + a2) + ..., or "pairwise", neighbours, then neighbours of those; an odd last
        one waits for the next round.
        """
        return self._reduce("add", axis, order)

    def prod(self, axis: int | None = None, *, order: str = "sequential") -> Array:
        """The product, likewise."""
        return self._reduce("mul", axis, order)

    def min(self, axis: int | None = None) -> Array:
        """The smallest; NaN if one is."""
        return self._reduce("minimum", axis, "pairwise")

    def max(self, axis: int | None = None) -> Array:
        """The largest; NaN if one is."""
        return self._reduce("maximum", axis, "pairwise")

    def mean(self, axis: int | None = None, *, order: str = "sequential") -> Array:
        """The sum, divided by the number of elements, which is rounded to the format first."""
        count = self.size if axis is None else self.shape[axis]
        return self.sum(axis, order=order) / count


def _with_target(model: Gemm, place: int, format: Format, rounding: Rounding) -> Gemm:
    """The model with another target at a place, and all of its rounding: texts of models tell the mode alone."""
    target = gemm(f"seq(fp32); out={format.spec}")._struct[_OUT:_OUT + _FORMAT] + _ROUNDING.pack(
        rounding._mode, rounding._overflow, rounding._nan, rounding._variant, rounding._bits, rounding._generator,
        rounding._compat, 0, rounding.seed, rounding.stream, rounding.offset)
    changed = object.__new__(Gemm)
    for name in Gemm.__slots__:
        object.__setattr__(changed, name, getattr(model, name))
    object.__setattr__(changed, "_struct", model._struct[:place] + target + model._struct[place + _TARGET:])
    return changed


_quantize = _native.quantize


def _is_operand(value: object) -> bool:
    """Whether value is a number, or an array of any kind."""
    return isinstance(value, (Array, int, float)) or \
        hasattr(value, "__dlpack__") or hasattr(value, "__array_interface__")


def _is_tensor(data: Any) -> bool:
    """Whether data has the methods of torch; arrays of jax have those of NumPy."""
    return hasattr(data, "movedim")


def _move_last(data: Any, axis: int) -> Any:
    return data.movedim(axis, -1) if _is_tensor(data) else np.moveaxis(data, axis, -1)


def _concatenate(a: Any, b: Any) -> Any:
    if isinstance(a, np.ndarray):
        return np.concatenate([a, b], axis=-1)
    import sys
    if _is_tensor(a):
        return sys.modules["torch"].cat([a, b], dim=-1)
    return sys.modules["jax"].numpy.concatenate([a, b], axis=-1)


def _numbers(x: Any) -> Any:
    """Lists of numbers as binary64 numbers. NumPy by itself would read texts too, and make a NaN of None."""
    found = np.asarray(x)
    others = {type(v) for v in found.flat if not hasattr(v, "__float__")} if found.dtype.kind == "O" else \
        {found.dtype.type} if found.dtype.kind not in "biuf" else None
    if others:
        raise TypeError(f"an Array is made of numbers, not of {others.pop().__name__}")
    return float64_of(x)


def array(x: Any, format: Format | str, rounding: Rounding | str = "rne", *, stats: Stats | None = None) -> Array:
    """x rounded once to `format`, as an `Array` whose operations are each rounded once by `rounding`.

    x: an array of NumPy or jax, or a tensor, or an Array, or numbers in lists (as float32 where that holds every value
        of the format, else float64). format: without scales. stats: a Stats in which the rounding of x and all
        operations count; None: that of an Array.
    TypeError for lists of anything but numbers.
    """
    to, by = make_format(format), make_rounding(rounding)
    if to.is_blocked:
        raise ValueError(f"{to!r} has scales: arithmetic is of numbers of a format without")
    if isinstance(x, Array):
        counted = x if stats is None else Array(x.data, x.format, x.rounding, stats, x._step)
        return counted.astype(to, by)
    if isinstance(x, (int, float, list, tuple)):
        rounded = _quantize(_numbers(x), to, by, stats=stats)
        start = rounded.astype(CARRIERS[default_carrier(to)])
    else:
        start = _quantize(x, to, by, stats=stats)
    return Array(start, to, by, stats, [1])
