# SPDX-License-Identifier: BSD-2-Clause
"""Calls on each element by itself: codes, operations, elementary functions, comparisons."""

from __future__ import annotations

from typing import Any

from . import _native
from ._arrays import carrier_of, default_carrier
from ._errors import Error
from ._format import Format
from ._rounding import Rounding
from ._stats import Stats

__all__ = ["add", "apply", "decode", "div", "encode", "equal", "fma", "functions", "greater", "greater_equal", "less",
           "less_equal", "maximum", "minimum", "mul", "random_word", "sqrt", "sub"]

FormatLike = Format | str
RoundingLike = Rounding | str

_ARGUMENT = 11  # FPEMU_ERROR_ARGUMENT of fpemu/status.h


def encode(x: Any, format: FormatLike, rounding: RoundingLike = "rne", *, offset: int = 0, out: Any = None,
           stats: Stats | None = None) -> Any:
    """The codes of the values that `quantize` gives: unsigned integers of x's shape, the code in the low bits.

    The dtype is the smallest of uint8, uint16, uint32 and uint64 that holds a code (`format.code_dtype`); such an array
    may be viewed as a type of ml_dtypes or torch of the same format: `codes.view(ml_dtypes.float8_e4m3fn)`.
    Formats with scales have no codes apart from these: ValueError; `pack` gives both. Arguments are as for `quantize`.
    """
    return _native.encode(x, format, rounding, offset, out, stats)


def decode(codes: Any, format: FormatLike, dtype: Any = None, *, out: Any = None) -> Any:
    """The values of codes, in an array of the codes' shape.

    codes: unsigned integers of `format.code_dtype`; for codes of up to 8 bits also an array of a type of ml_dtypes or
        torch with one number to a byte. Others are viewed as integers: `x.view(np.uint16)` of bfloat16. Bits above the
        format's width are ignored; a code that stands for no value gives NaN.
    dtype: "float32", "float64", "float16", "bfloat16" or what NumPy, torch and jax call these; None: float32 where
        that holds every value, else float64. fpemu.Error where it does not.
    """
    carrier = default_carrier(format) if dtype is None else carrier_of(dtype)
    return _native.decode(codes, format, carrier, out)


_OPERATIONS = ("add", "sub", "mul", "div", "sqrt", "fma", "minimum", "maximum", "minimum_number", "maximum_number")


def _arith(name: str, operands: tuple[Any, ...], format: FormatLike, rounding: RoundingLike, offset: int, out: Any,
           stats: Stats | None) -> Any:
    return _native.arith(_OPERATIONS.index(name), operands, format, rounding, offset, out, stats)


def add(a: Any, b: Any, format: FormatLike, rounding: RoundingLike = "rne", *, offset: int = 0, out: Any = None,
        stats: Stats | None = None) -> Any:
    """a + b, the exact sum rounded once to `format`.

    a, b: arrays of one dtype, broadcast as NumPy does it, or Python numbers that this dtype holds exactly; they enter
        as they are, whatever format they came from. The result has the dtype of the arrays.
    format: without scales, no codebook, no wrapping; integers with a scale that is a power of two (else fpemu.Error).
    Other arguments are as for `quantize`; in `stats`, x is the exact result. doc/numerics.md, 9.
    """
    return _arith("add", (a, b), format, rounding, offset, out, stats)


def sub(a: Any, b: Any, format: FormatLike, rounding: RoundingLike = "rne", *, offset: int = 0, out: Any = None,
        stats: Stats | None = None) -> Any:
    """a - b, rounded once; see `add`."""
    return _arith("sub", (a, b), format, rounding, offset, out, stats)


def mul(a: Any, b: Any, format: FormatLike, rounding: RoundingLike = "rne", *, offset: int = 0, out: Any = None,
        stats: Stats | None = None) -> Any:
    """a * b, rounded once; see `add`."""
    return _arith("mul", (a, b), format, rounding, offset, out, stats)


def div(a: Any, b: Any, format: FormatLike, rounding: RoundingLike = "rne", *, offset: int = 0, out: Any = None,
        stats: Stats | None = None) -> Any:
    """a / b, rounded once; see `add`. Finite numbers over zero give infinities, counted by `stats.div_by_zero`."""
    return _arith("div", (a, b), format, rounding, offset, out, stats)


def sqrt(a: Any, format: FormatLike, rounding: RoundingLike = "rne", *, offset: int = 0, out: Any = None,
         stats: Stats | None = None) -> Any:
    """The square root of a, rounded once; see `add`."""
    return _arith("sqrt", (a,), format, rounding, offset, out, stats)


def fma(a: Any, b: Any, c: Any, format: FormatLike, rounding: RoundingLike = "rne", *, offset: int = 0,
        out: Any = None, stats: Stats | None = None) -> Any:
    """a * b + c, rounded once; see `add`."""
    return _arith("fma", (a, b, c), format, rounding, offset, out, stats)


def minimum(a: Any, b: Any, format: FormatLike, rounding: RoundingLike = "rne", *, number: bool = False,
            offset: int = 0, out: Any = None, stats: Stats | None = None) -> Any:
    """The smaller of a and b, taken to `format` by one rounding; -0 is below +0. NaN if one of them is (IEEE 754-2019
    minimum); with number=True the other one then (minimumNumber). See `add`."""
    return _arith("minimum_number" if number else "minimum", (a, b), format, rounding, offset, out, stats)


def maximum(a: Any, b: Any, format: FormatLike, rounding: RoundingLike = "rne", *, number: bool = False,
            offset: int = 0, out: Any = None, stats: Stats | None = None) -> Any:
    """The larger of a and b; see `minimum`."""
    return _arith("maximum_number" if number else "maximum", (a, b), format, rounding, offset, out, stats)


def apply(function: str, x: Any, format: FormatLike, rounding: RoundingLike = "rne", *, offset: int = 0,
          out: Any = None, stats: Stats | None = None) -> Any:
    """An elementary function of x, correctly rounded once to `format`, which float32 must hold.

    function: one of `fpemu.functions()`: "exp", "log2", "sin", "tanh", "erf", "rsqrt", "sigmoid", "silu", "gelu", ...
    x: numbers of at most 16 significant bits, as all of fp16, bf16 and narrower formats are; else the array is refused
        (fpemu.Error): correct rounding is known for these alone. doc/numerics.md, 9.6.
    """
    try:
        return _native.apply(function, x, format, rounding, offset, out, stats)
    except Error as error:
        if error.status != _ARGUMENT:
            raise
        raise Error(f"{function}: x has numbers of more than 16 significant bits, of which no correctly rounded result "
                    "is known; fpemu.quantize(x, 'bf16') makes some of 8, 'fp16' of 11", error.status) from None


def functions() -> list[str]:
    """The names of the elementary functions that `apply` knows."""
    return _native.functions()


def equal(a: Any, b: Any, *, out: Any = None) -> Any:
    """a == b element by element, as booleans; -0 equals +0, and nothing holds for a NaN. Operands as for `add`."""
    return _native.compare(0, a, b, out)


def less(a: Any, b: Any, *, out: Any = None) -> Any:
    """a < b; see `equal`."""
    return _native.compare(1, a, b, out)


def less_equal(a: Any, b: Any, *, out: Any = None) -> Any:
    """a <= b; see `equal`."""
    return _native.compare(2, a, b, out)


def greater(a: Any, b: Any, *, out: Any = None) -> Any:
    """a > b; see `equal`."""
    return _native.compare(1, b, a, out)


def greater_equal(a: Any, b: Any, *, out: Any = None) -> Any:
    """a >= b; see `equal`."""
    return _native.compare(2, b, a, out)


def random_word(seed: int, stream: int, j: int, *, generator: str = "hash") -> int:
    """Random word j of a stream, 32 bits: a pure function of its arguments (doc/numerics.md, 5)."""
    from ._rounding import GENERATORS, _index, _word
    return _native.random_word(_index(GENERATORS, generator, "generator"), _word(seed, "seed"),
                               _word(stream, "stream"), _word(j, "j"))
