# SPDX-License-Identifier: BSD-2-Clause
"""Somebody else's cast against the library: inputs on which a conversion is most likely to go wrong, the differences
in classes, and the smallest example of each. `fpemu fuzz` does the same to functions of shared libraries and to
programs."""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native, _values
from ._arrays import CARRIERS, carrier_of, default_carrier
from ._format import Format
from ._format import format as make_format
from ._rounding import Rounding
from ._rounding import rounding as make_rounding

KINDS = ("stray-bits", "tie", "subnormal", "underflow", "overflow-threshold", "above-max", "negative", "infinity",
         "nan", "signed-zero", "zero", "normal")
_FROM = {"float32": "fp32", "float64": "fp64", "float16": "fp16", "bfloat16": "bf16"}
_BATCH = 1 << 20

Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class Difference:
    """A class of differences: its name, how many there were, and the example of the smallest input."""

    kind: str
    count: int
    input: float
    expected: float
    got: float

    def __str__(self) -> str:
        return (f"{self.kind}: {self.count}, such as {self.input!r} ({self.input.hex()}), which is {self.expected!r}, "
                f"not {self.got!r}")


class FuzzReport:
    """What a search found: tried inputs, and a Difference for each class. False where nothing differs from the library
    would be the wrong way round: bool() is whether there is a difference."""

    def __init__(self, format: Format, rounding: Rounding, dtype: str, tried: int, exhaustive: bool,
                 differences: list[Difference]) -> None:
        self.format, self.rounding, self.dtype, self.tried = format, rounding, dtype, tried
        self.exhaustive, self.differences = exhaustive, differences

    @property
    def count(self) -> int:
        """Inputs on which the two differ."""
        return sum(difference.count for difference in self.differences)

    def __bool__(self) -> bool:
        return bool(self.differences)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    def to_dict(self) -> dict[str, Any]:
        """All of it in Python's own numbers and texts."""
        return {"format": repr(self.format), "rounding": repr(self.rounding), "dtype": self.dtype, "tried": self.tried,
                "exhaustive": self.exhaustive, "differences": [vars(difference) for difference in self.differences]}

    def __str__(self) -> str:
        tried = f"all {self.tried}" if self.exhaustive else str(self.tried)
        head = f"{self.format!r} {self.rounding.mode}, {tried} {self.dtype} inputs: "
        if not self.differences:
            return head + "no difference"
        lines = [head + f"{self.count} differences in {len(self.differences)} classes"]
        return "\n".join(lines + [f"  {difference}" for difference in self.differences])

    __repr__ = __str__


# ---------------------------------------------------------------------------------------------------- inputs
def _neighbours(codes: Numbers, reach: int, bits: int) -> Numbers:
    steps = np.arange(-reach, reach + 1).astype(np.uint64)  # those below zero as 2^64 less: sums wrap
    mask = np.uint64((1 << bits) - 1)
    return np.unique((codes.astype(np.uint64)[:, None] + steps) & mask).astype(codes.dtype)


def _around(carrier: Format, points: npt.NDArray[np.float64], reach: int) -> Numbers:
    """Codes of the carrier nearest to points and their mirror images, with neighbours."""
    points = points[np.isfinite(points)]
    nearest = make_rounding("rne", overflow="saturate")
    codes = _values.encode(np.concatenate([points, -points]), carrier, nearest)
    return _neighbours(codes, reach, carrier.bits)


def _midpoints(to: Format, low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    if to.kind_name == "posit" and to.bits < 32:  # the posit between them with one bit more
        wider = make_format(f"posit({to.bits + 1},{to.exponent_bits})")
        return np.array([wider.next_up(value) if value > 0 else (value + other) / 2
                         for value, other in zip(low, high, strict=True)])
    return low + (high - low) / 2


def _boundary(to: Format, carrier: Format, reach: int = 3) -> Numbers:
    """Values of the format, midpoints, thresholds past its ends, the carrier's own specials; with neighbours."""
    if to.value_count <= 1 << 17:
        values = to.values()
    else:
        first, last = math.frexp(to.smallest)[1] - 1, math.frexp(max(to.max, -to.lowest))[1] - 1
        starts = [math.ldexp(mantissa, e) for e in range(first, last + 1) for mantissa in (1.0, 1.5, 2 - 2.0 ** -30)]
        near: list[float] = []
        for start in starts:
            high = to.next_up(start)
            middle = to.next_down(high)
            near += [to.next_down(middle), middle, high]
        values = np.unique(np.array([value for value in near if not math.isnan(value)]))
    points = [values, _midpoints(to, values[:-1], values[1:])]
    for end, inner in ((to.max, to.next_down(to.max)), (to.lowest, to.next_up(to.lowest))):
        step = end - inner
        points.append(np.array([end + step * factor for factor in (0, 0.5, 1, 2, 4)] + [2 * end]))
    points.append(np.array([to.smallest_normal] + [to.smallest * 2.0 ** -i for i in range(3)]))
    with np.errstate(over="ignore"):
        codes = [_around(carrier, np.concatenate(points), reach)]
    sign = 1 << (carrier.bits - 1)
    infinity = int(_values.encode(np.array([np.inf]), carrier)[0])
    special = np.array([0, carrier.max_code, carrier.lowest_code, infinity, carrier.nan_code, sign - 1,
                        1 << carrier.mantissa_bits], dtype=np.uint64)
    special = np.concatenate([special, special ^ np.uint64(sign)]).astype(codes[0].dtype)
    codes.append(_neighbours(special, reach, carrier.bits))
    return np.unique(np.concatenate(codes))


def _coverage(carrier: Format, seed: int) -> Numbers:
    """Every exponent of the carrier, with ties and their neighbours at every place of the mantissa."""
    m = carrier.mantissa_bits
    tops = np.arange(1 << (carrier.bits - m), dtype=np.uint64)
    rng = np.random.default_rng(seed)
    parts = []
    for width in range(1, m + 1):
        half, ones = np.uint64(1 << (width - 1)), np.uint64((1 << width) - 1)
        leading = rng.integers(0, 1 << m, len(tops), dtype=np.uint64) & ~ones
        base = tops << np.uint64(m) | leading
        parts += [base | (np.uint64(pattern) & ones) for pattern in (0, 1, half - np.uint64(1), half,
                                                                     half + np.uint64(1), ones)]
    return np.unique(np.concatenate(parts)).astype(carrier.code_dtype)


def _random(to: Format, carrier: Format, count: int, seed: int) -> Numbers:
    """Codes of the carrier, and numbers within the format's range, by turns."""
    rng = np.random.default_rng([seed, 1])
    codes = rng.integers(0, 1 << carrier.bits, count // 2, dtype=np.uint64)
    first, last = math.frexp(to.smallest)[1] - 3, math.frexp(max(to.max, -to.lowest))[1] + 1
    size = np.ldexp(rng.uniform(1, 2, count - len(codes)), rng.integers(first, last, count - len(codes)))
    sign = np.where(rng.integers(0, 2, len(size)) == 1, -1.0, 1.0)
    with np.errstate(over="ignore"):
        inside = _values.encode(size * sign, carrier, make_rounding("rtz", overflow="saturate"))
    return np.concatenate([codes.astype(carrier.code_dtype), inside])


def _stages(to: Format, carrier: Format, count: int, seed: int, exhaustive: bool) -> Iterator[Numbers]:
    if exhaustive:
        for first in range(0, 1 << carrier.bits, _BATCH):
            last = min(first + _BATCH, 1 << carrier.bits)
            yield np.arange(first, last, dtype=np.uint64).astype(carrier.code_dtype)
        return
    for codes in (_boundary(to, carrier), _coverage(carrier, seed), _random(to, carrier, count, seed)):
        for first in range(0, len(codes), _BATCH):
            yield codes[first:first + _BATCH]


# --------------------------------------------------------------------------------------------------- classes
def _classify(to: Format, x: float, expected: float, got: float) -> str:
    if math.isnan(x):
        return "nan"
    if math.isinf(x):
        return "infinity"
    if expected == 0 and got == 0:
        return "signed-zero"
    if x == 0:
        return "zero"
    if x < 0 and not to.is_signed:
        return "negative"
    if x > to.max:
        return "overflow-threshold" if x - to.max < to.max - to.next_down(to.max) else "above-max"
    if x < to.lowest <= 0:
        return "overflow-threshold" if to.lowest - x < to.next_up(to.lowest) - to.lowest else "above-max"
    if not to.represents(x):
        low, high = to.next_down(x), to.next_up(x)
        middle = float(_midpoints(to, np.array([low]), np.array([high]))[0]) if low > 0 else low + (high - low) / 2
        if x == middle and {expected, got} == {low, high}:
            return "tie"
    if expected == 0:
        return "underflow"
    size = abs(x)
    if to.smallest_normal > to.smallest and (size < to.smallest_normal or abs(expected) < to.smallest_normal):
        return "subnormal"
    return "underflow" if size < to.smallest else "normal"


def _same(expected: Numbers, got: Numbers, strict_nan: bool) -> npt.NDArray[np.bool_]:
    words = np.dtype(f"u{expected.dtype.itemsize}")
    same: npt.NDArray[np.bool_] = expected.view(words) == got.view(words)
    return same if strict_nan else same | (np.isnan(expected.astype(np.float64)) & np.isnan(got.astype(np.float64)))


def _results(value: Any, to: Format, dtype: str, shape: tuple[int, ...]) -> tuple[Numbers, Numbers | None]:
    """What a callable gave, as values of the carrier; and the codes, where it gave these."""
    if type(value).__module__.partition(".")[0] == "torch":
        torch = sys.modules["torch"]
        if value.dtype.is_floating_point and value.element_size() == 1:
            value = value.view(torch.uint8)
        elif value.dtype == torch.bfloat16:
            value = value.float()
        value = value.detach().cpu().numpy()
    result = np.asarray(value)
    if result.shape != shape:
        raise ValueError(f"the callable was given an array of shape {shape} and returned one of shape {result.shape}")
    with np.errstate(over="ignore", invalid="ignore"):
        if result.dtype.kind in "ui":
            codes = result.view(f"u{result.dtype.itemsize}").astype(np.uint64)
            return _values.decode(codes.astype(to.code_dtype), to, dtype), codes
        if result.dtype.itemsize < 4:  # types of ml_dtypes among them
            result = result.astype(np.float32)
        return result.astype(_numpy_dtype(dtype)), None


def _numpy_dtype(dtype: str) -> Any:
    return np.dtype(importlib.import_module("ml_dtypes").bfloat16) if dtype == "bfloat16" else np.dtype(dtype)


def fuzz(function: Callable[[Any], Any], format: Format | str, rounding: Rounding | str = "rne", *,
         dtype: Any = "float32", inputs: int = 1 << 18, seed: int = 0, exhaustive: bool | None = None,
         strict_nan: bool = False, tensors: bool = False) -> FuzzReport:
    """Looks for inputs on which somebody else's conversion to `format` differs from the library's.

    function: takes a one-dimensional array of `dtype` (a NumPy array; with tensors=True one of torch) and returns as
        many results: values in any floating type, codes in an integer type, or an array of a type of ml_dtypes or torch
        that is the format.
    format, rounding: what the function should do; roundings without random bits.
    dtype: of the inputs: "float32", "float64", "float16", "bfloat16".
    exhaustive: all inputs; None: where they have 16 bits. Otherwise the boundaries of the format, then every exponent
        with ties at every place of the mantissa, then so many random `inputs`; `seed` chooses these.
    strict_nan: compare the bits of a NaN, not only that it is one.

    Returns a FuzzReport: differences by class, each with its smallest example. ValueError for results of another shape.
    """
    to, by = make_format(format), make_rounding(rounding)
    if by.is_stochastic:
        raise ValueError("stochastic rounding has the law of other software, not its bits: nothing to compare")
    if to.is_blocked:
        raise ValueError(f"{to!r} has scales: a search is through conversions of single numbers")
    name = CARRIERS[carrier_of(dtype)]
    carrier = make_format(_FROM[name])
    if not to.fits(name, by):
        raise ValueError(f"{name} cannot be used with {to!r} and {by.mode}: {to._check(by, carrier_of(name))}; "
                         f"dtype={CARRIERS[default_carrier(to)]!r} holds all of its values")
    everything = carrier.bits <= 16 if exhaustive is None else exhaustive
    found: dict[str, tuple[int, float, float, float]] = {}
    tried = 0
    for codes in _stages(to, carrier, inputs, seed, everything):
        x = codes.view(_numpy_dtype(name))
        tried += len(x)
        given: Any = x.copy()
        if tensors:
            torch = importlib.import_module("torch")
            given = torch.from_numpy(codes.view(f"i{codes.dtype.itemsize}").copy()).view(getattr(torch, name))
        got, given_codes = _results(function(given), to, name, x.shape)
        if given_codes is None:
            expected = _native.quantize(x, to, by)
            differ, stray = ~_same(expected, got, strict_nan), np.zeros(x.shape, np.bool_)
        else:
            right = _values.encode(x, to, by).astype(np.uint64)
            expected = _values.decode(right.astype(to.code_dtype), to, name)
            stray = given_codes >> np.uint64(to.bits) != 0 if to.bits < 64 else np.zeros(x.shape, np.bool_)
            nans = np.isnan(expected.astype(np.float64)) & np.isnan(got.astype(np.float64))
            differ = (given_codes != right) & (stray | ~nans | strict_nan)
        for i in np.flatnonzero(differ):
            number, want, wrong = float(x[i]), float(expected[i]), float(got[i])
            same = wrong == want or (math.isnan(wrong) and math.isnan(want))
            kind = "stray-bits" if stray[i] and same else _classify(to, number, want, wrong)
            count, *example = found.get(kind, (0, math.inf, 0.0, 0.0))
            smaller = count == 0 or (abs(number), number < 0) < (abs(example[0]), example[0] < 0)
            found[kind] = (count + 1, *((number, want, wrong) if smaller else example))
    differences = [Difference(kind, *found[kind]) for kind in KINDS if kind in found]
    return FuzzReport(to, by, name, tried, everything, differences)
