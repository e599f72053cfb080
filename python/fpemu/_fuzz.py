# SPDX-License-Identifier: BSD-2-Clause
"""Somebody else's cast, operation, quantiser of blocks or stochastic rounding against the library: inputs on which such
is most likely to go wrong, the differences in classes, and the smallest example of each, as `fpemu fuzz` does it."""

from __future__ import annotations

import importlib
import math
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native, _values
from ._arrays import CARRIERS, carrier_of, default_carrier
from ._format import Format
from ._format import format as make_format
from ._packed import Packed, pack
from ._rounding import Rounding
from ._rounding import rounding as make_rounding

KINDS = ("stray-bits", "tie", "subnormal", "underflow", "overflow-threshold", "above-max", "negative", "infinity",
         "division-by-zero", "invalid", "nan", "signed-zero", "zero", "normal")
_ARITY = {"convert": 1, "sqrt": 1, "fma": 3}
_FALSE_ALARM = 1e-6
_EXACT: dict[str, Callable[..., tuple[Any, ...]]] = {  # operands that have about the result t, given all but one
    "add": lambda t, x, y: (x, t - x), "sub": lambda t, x, y: (x, x - t), "mul": lambda t, x, y: (x, t / x),
    "div": lambda t, x, y: (t * x, x), "sqrt": lambda t, x, y: (t * t,), "fma": lambda t, x, y: (x, y, t - x * y)}
_FROM = {"float32": "fp32", "float64": "fp64", "float16": "fp16", "bfloat16": "bf16"}
_BATCH = 1 << 20

Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class Difference:
    """A class of differences: its name, how many there were, and the example of the smallest input: a number, the
    operands, or a tensor, with what is at `place`. Of stochastic rounding `expected` and `got` are told in words."""

    kind: str
    count: int
    input: float | tuple[float, ...]
    expected: float | str
    got: float | str
    place: int | None = None

    def __str__(self) -> str:
        x = self.input
        if self.place is not None and isinstance(x, tuple):
            shown = [f"x[{i}] = {value!r}" for i, value in enumerate(x) if value != 0]
            more = [f"{len(shown) - 6} more"] if len(shown) > 6 else ["0 elsewhere"]
            text = f"{', '.join(shown[:6] + more)}, {len(x)} elements: number {self.place}"
        else:
            text = f"{x!r} ({x.hex()})" if isinstance(x, float) else ", ".join(map(repr, x))
        return f"{self.kind}: {self.count}, such as {text}, which is {self.expected}, not {self.got}"


class FuzzReport:
    """What a search found: tried inputs, and a Difference for each class; bool() is whether there is one."""

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
        n, classes = self.count, len(self.differences)
        lines = [head + f"{n} difference{'s' * (n > 1)} in {classes} class{'es' * (classes > 1)}"]
        return "\n".join(lines + [f"  {difference}" for difference in self.differences])

    __repr__ = __str__


# ---------------------------------------------------------------------------------------------------- inputs
def _unique(codes: Numbers) -> Numbers:
    """As np.unique, whose tables of hashes are slow for codes."""
    codes = np.sort(codes)
    return codes[np.append(True, codes[1:] != codes[:-1])]


def _neighbours(codes: Numbers, reach: int, bits: int) -> Numbers:
    steps = np.arange(-reach, reach + 1).astype(np.uint64)  # those below zero as 2^64 less: sums wrap
    mask = np.uint64((1 << bits) - 1)
    return _unique(((codes.astype(np.uint64)[:, None] + steps) & mask).ravel()).astype(codes.dtype)


def _around(carrier: Format, points: npt.NDArray[np.float64], reach: int) -> Numbers:
    """Codes of the carrier nearest to points and their mirror images, with neighbours."""
    points = points[np.isfinite(points)]
    nearest = make_rounding("rne", overflow="saturate")
    codes = _values.encode(np.concatenate([points, -points]), carrier, nearest)
    return _neighbours(codes, reach, carrier.bits)


def _midpoints(to: Format, low: npt.NDArray[np.float64], high: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    if to.kind_name == "posit" and to.bits < 32:  # the posit between them with one bit more
        wider = make_format(f"posit({to.bits + 1},{to.exponent_bits})")
        after = _values.encode(np.maximum(low, 0), wider) + 1
        return np.where(low > 0, _values.decode(after.astype(wider.code_dtype), wider, "float64"), (low + high) / 2)
    with np.errstate(invalid="ignore"):  # of no numbers past the ends
        return low + (high - low) / 2


def _boundary(to: Format, carrier: Format, reach: int = 3) -> Numbers:
    """Values of the format, midpoints, thresholds past its ends, the carrier's own specials; with neighbours."""
    if to.value_count <= 1 << 17:
        values = to.values()
    else:
        first, last = math.frexp(to.smallest)[1] - 1, math.frexp(max(to.max, -to.lowest))[1] - 1
        starts = np.ldexp([[1.0], [1.5], [2 - 2.0 ** -30]], np.arange(first, last + 1)).ravel()
        middle, high = _steps(to, np.nextafter(starts, np.inf))
        values = np.unique(np.concatenate([_steps(to, np.nextafter(middle, -np.inf))[0], middle, high]))
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
    return _unique(np.concatenate(codes))


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
    return _unique(np.concatenate(parts)).astype(carrier.code_dtype)


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


def _stages(to: Format, carrier: Format, count: int, seed: int) -> Iterator[list[Numbers]]:
    for codes in (_boundary(to, carrier), _coverage(carrier, seed), _random(to, carrier, count, seed)):
        for first in range(0, len(codes), _BATCH):
            yield [codes[first:first + _BATCH]]


def _every(formats: list[Format]) -> Iterator[list[Numbers]]:
    """All codes of all operands."""
    bits = sum(f.bits for f in formats)
    for first in range(0, 1 << bits, _BATCH):
        rest = np.arange(first, min(first + _BATCH, 1 << bits), dtype=np.uint64)
        codes = []
        for f in formats:
            codes.append((rest & np.uint64((1 << f.bits) - 1)).astype(f.code_dtype))
            rest = rest >> np.uint64(f.bits)
        yield codes


def _random_codes(rng: np.random.Generator, f: Format, count: int) -> Numbers:
    return rng.integers(0, 1 << f.bits, count, dtype=np.uint64).astype(f.code_dtype)


def _operands(op: str, formats: list[Format], to: Format, count: int, seed: int) -> Iterator[list[Numbers]]:
    """Codes of operands: every combination of special ones, those with results at or beside values of the format,
    midpoints and thresholds, and random ones, some of about one size."""
    rng, wide = np.random.default_rng(seed), make_format("fp64")
    nearest, n = make_rounding("rne"), len(formats)
    edges = [np.append(_around(f, np.array([0, 1, f.max, f.smallest, f.smallest_normal]), 1),
                       _values.encode(np.array([np.inf, -np.inf, np.nan]), f)) for f in formats]
    yield [grid.ravel() for grid in np.meshgrid(*edges)]
    with np.errstate(all="ignore"):
        t = rng.choice(_boundary(to, wide, 1).view(np.float64), count)
        x, y = (_values.decode(_random_codes(rng, formats[k % n], count), formats[k % n], "float64") for k in (0, 1))
        near = np.ldexp(rng.uniform(1, 2, count), np.frexp(t)[1] + rng.integers(-3, 4, count))
        for first in (x, _native.quantize(near, formats[0], nearest)):
            aimed = _EXACT.get(op, lambda t, x, y: (x, t))(t, first, y)
            yield [_values.encode(z, f) for z, f in zip(aimed, formats, strict=True)]
    yield [_random_codes(rng, f, count) for f in formats]


def _tensor(rng: np.random.Generator, block: int, i: int, carrier: Format, name: str) -> Numbers:
    """A tensor of one axis, the last block short at times: of numbers about as large as one another, of values and
    midpoints, of little but zeros, or with a NaN or an infinity; sizes go through every exponent, and blocks of some
    tensors differ in size."""
    n = max((block, 2 * block + block // 2 + 1, block - 1, 1, block + 1, block, 3 * block)[i % 7], 1)
    first, last = (math.frexp(size)[1] for size in (carrier.smallest, carrier.max / 16))
    e = first + i // 3 % (last - first) if i % 2 else int(rng.integers(-8, 9))
    x = rng.uniform(-1, 1, n) if i % 3 else rng.integers(-64, 65, n) / 64
    x = np.where(rng.random(n) < (0, 0, 0.9, 1)[i // 7 % 4], 0, x)
    x[rng.integers(n)] = rng.choice([1, -1, 1.5, x[0], 0, -0.0])
    x = np.ldexp(x, e + rng.integers(0, 4))
    if i // 28 % 2:
        x = np.ldexp(x, -rng.integers(0, 24, -(-n // block)).repeat(block)[:n])
    if i % 16 == 15:
        x[rng.integers(n)] = rng.choice([np.nan, np.inf, -np.inf])
    return x.astype(_numpy_dtype(name))


# --------------------------------------------------------------------------------------------------- classes
def _steps(to: Format, x: Numbers) -> Numbers:
    """The numbers of the format that numbers within its range lie between; below and above equal: it is one of them."""
    if to.value_count <= 1 << 17:
        values = to.values()
        i = np.searchsorted(values, x).clip(1, len(values) - 1)
        return np.array([np.where(values[i] == x, x, values[i - 1]), values[i]])
    size = np.abs(x)
    code = _values.encode(size, to, make_rounding("rne", overflow="saturate")).astype(np.uint64)
    near = _values.decode(code.astype(to.code_dtype), to, "float64")
    other = _values.decode((code - 2 * (near > size) + 1).astype(to.code_dtype), to, "float64")
    return np.sort([np.copysign(near, x), np.copysign(np.where(near == size, near, other), x)], axis=0)


def _classify(to: Format, operands: list[Numbers], x: Numbers, expected: Numbers, got: Numbers,
              stray: Numbers) -> Numbers:
    """By the operands, the exact result x, and the results; `stray`: bits above the width of a code."""
    size, finite = np.abs(x), np.where(np.isfinite(x), x, 0)
    low, high = _steps(to, finite)
    small = (size < to.smallest_normal) | (np.abs(expected) < to.smallest_normal)
    over, under = to.max - to.next_down(to.max), to.next_up(to.lowest) - to.lowest
    same, below = (got == expected) | (np.isnan(got) & np.isnan(expected)), (x < to.lowest) & (to.lowest <= 0)
    classes = {
        "stray-bits": stray & same, "nan": np.isnan(operands).any(axis=0), "invalid": np.isnan(x),
        "infinity": np.isinf(operands).any(axis=0), "division-by-zero": np.isinf(x),
        "signed-zero": (expected == 0) & (got == 0), "zero": x == 0, "negative": (x < 0) & (not to.is_signed),
        "overflow-threshold": (x > to.max) & (finite - to.max < over) | below & (to.lowest - finite < under),
        "above-max": (x > to.max) | below,
        "tie": (low < high) & (x == _midpoints(to, low, high)) & (np.minimum(expected, got) == low)
               & (np.maximum(expected, got) == high),
        "underflow": expected == 0, "subnormal": small & (to.smallest_normal > to.smallest)}
    kinds = np.array([*classes, "underflow", "normal"])
    return kinds[np.argmax([*classes.values(), size < to.smallest, np.ones(x.shape, np.bool_)], axis=0)]


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


class _Search:
    """What is compared, and what was found of each class: how often, and the example of the smallest rank."""

    def __init__(self, function: Callable[..., Any], to: Format, by: Rounding, name: str, strict_nan: bool,
                 tensors: bool) -> None:
        self.function, self.to, self.by, self.name = function, to, by, name
        self.strict_nan, self.tensors = strict_nan, tensors
        self.tried, self.found = 0, {}  # type: int, dict[str, tuple[int, Any, tuple[Any, ...]]]

    def take(self, kind: str, rank: Any, *example: Any, count: int = 1) -> None:
        before, best, kept = self.found.get(kind, (0, rank, example))
        self.found[kind] = (before + count, *((rank, example) if rank < best else (best, kept)))

    def report(self, exhaustive: bool = False) -> FuzzReport:
        order = [*(kind for kind in KINDS if kind in self.found), *(kind for kind in self.found if kind not in KINDS)]
        return FuzzReport(self.to, self.by, self.name, self.tried, exhaustive,
                          [Difference(kind, self.found[kind][0], *self.found[kind][2]) for kind in order])

    def call(self, *arrays: Numbers) -> Any:
        """What the function gives for copies that it may write to."""
        self.tried += len(arrays[0])
        given: list[Any] = [x.copy() if x.flags.c_contiguous else x for x in arrays]
        if self.tensors:
            torch = importlib.import_module("torch")
            given = [torch.from_numpy(x.view(f"i{x.itemsize}")).view(getattr(torch, self.name)) for x in given]
        return self.function(*given)

    def numbers(self, op: str, codes: list[Numbers], formats: list[Format]) -> None:
        """A conversion or an operation, of each of many inputs."""
        to, by, name = self.to, self.by, self.name
        convert = op == "convert"
        operands = [c.view(_numpy_dtype(name)) if convert else _values.decode(c, f, name)
                    for c, f in zip(codes, formats, strict=True)]
        x = operands[0]
        with np.errstate(invalid="ignore"):  # of signalling NaN
            wide = [operand.astype(np.float64) for operand in operands]
        got, given_codes = _results(self.call(*operands), to, name, x.shape)
        right = _native.quantize(x, to, by) if convert else _values._arith(op, (*operands,), to, by, 0, None, None)
        expected, stray = right, np.zeros(x.shape, np.bool_)
        if given_codes is None:
            differ = ~_same(expected, got, self.strict_nan)
        else:
            coded = _values.encode(x if convert else right, to, by).astype(np.uint64)
            expected = _values.decode(coded.astype(to.code_dtype), to, name)
            stray = given_codes >> np.uint64(to.bits) != 0 if to.bits < 64 else stray
            nans = np.isnan(expected.astype(np.float64)) & np.isnan(got.astype(np.float64))
            differ = (given_codes != coded) & (stray | ~nans | self.strict_nan)
        exact = wide[0] if convert else _values._arith(op, (*wide,), "fp64", "rto", 0, None, None)
        at = np.flatnonzero(differ)
        wide = [operand[at] for operand in wide]
        y = [numbers[at].astype(np.float64) for numbers in (exact, expected, got)]
        kinds = _classify(to, wide, y[0], y[1], y[2], stray[at])
        for kind in np.unique(kinds):
            some = np.flatnonzero(kinds == kind)
            first = some[np.lexsort([key for w in wide[::-1] for key in (w[some] < 0, np.abs(w[some]))])[0]]
            example = tuple(float(w[first]) for w in wide)
            self.take(str(kind), [(abs(x), x < 0) for x in example], example[0] if convert else example,
                      float(y[1][first]), float(y[2][first]), count=len(some))

    def blocks(self, count: int, seed: int, carrier: Format) -> None:
        """Tensors in a format with scales; every fifth is no contiguous array."""
        to, rng, shape = self.to, np.random.default_rng(seed), self.to.block_shape
        usual = shape[-1] if isinstance(shape, tuple) else 32
        for i in range(count):
            x = _tensor(rng, usual, i, carrier, self.name)
            block = usual if isinstance(shape, tuple) else 1 if shape == "channel" else len(x)
            result = self.call(np.repeat(x, 2)[::2] if i % 5 == 4 else x)
            packed = isinstance(result, Packed) or str(getattr(result, "dtype", "")).endswith("uint8")
            want, got = pack(x, to, self.by), None
            if packed:
                got = result if isinstance(result, Packed) else Packed.frombytes(bytes(result), to, x.shape)
            values = _results(result if got is None else got.unpack(self.name), to, self.name, x.shape)[0]
            pairs = [("element", 1, _native.quantize(x, to, self.by), values)]
            if got is not None and want.scales is not None:  # s2fp8 has none
                pairs.insert(0, ("scale", block, np.ravel(want.scales), np.ravel(got.scales)))
            for part, size, expected, other in pairs:
                differ = ~_same(expected, other, self.strict_nan)
                zeros = (expected == 0) & (other == 0)
                # Those that differ in the sign of a zero alone are told of where nothing else differs.
                wrong = np.flatnonzero(differ if not (differ & ~zeros).any() else differ & ~zeros)
                if not len(wrong):
                    continue
                at, pair = int(wrong[0]) * size, (float(expected[wrong[0]]), float(other[wrong[0]]))
                own = x[at - at % block:][:block].astype(np.float64)
                amax = np.abs(own).max()
                kind = ("signed-zero" if zeros[wrong[0]] else
                        "nan" if np.isnan(amax) else "infinity" if np.isinf(amax) else "zero" if amax == 0 else
                        "short-block" if len(own) < block else "power-of-two" if np.frexp(amax)[0] == 0.5 else
                        "subnormal" if amax < carrier.smallest_normal else "normal")
                self.take(f"{part}/{kind}", (np.count_nonzero(x), len(x), abs(np.frexp(amax)[1])),
                          tuple(x.tolist()), *pair, int(wrong[0]))
                break

    def law(self, results: int, seed: int) -> None:
        """Stochastic rounding, as doc/man/fpemu.1 says of `fuzz -r sr`."""
        to, rng = self.to, np.random.default_rng(seed)
        dtype = _numpy_dtype(self.name)
        settle = make_rounding("rne", overflow=self.by.overflow, nan=self.by.nan)
        codes = np.arange(0, to.max_code, to.max_code // 240 + 1).astype(to.code_dtype)
        values = _values.decode(codes, to, "float64")
        values = [*values[(values >= 0) & (values < to.max)], to.next_down(to.smallest_normal), to.next_down(to.max)]
        ends = [(value, to.next_up(value)) for value in dict.fromkeys(values)]
        last = (math.ldexp(1, math.frexp(to.max)[1] - 1 - to.mantissa_bits) if to.kind_name == "float" else
                to.max - to.next_down(to.max) if to.kind_name != "codebook" else 0)
        past = float(_native.quantize(np.array([4 * to.max]), to, settle)[0])
        points = []  # x, the two results, the chance of the second, region
        for low, high in [*ends, (to.max, to.max + last)]:
            r = rng.random()
            for part in (0, 0.5, 0.25 + r / 64, 0.75 + r / 64, r / 64, 1 - r / 64, r):
                x = float(np.array(low + (high - low) * part, dtype))
                above = past if low == to.max else high
                chance = 0.0 if x == low or low == above else 0.5 if self.by.mode == "se" else (x - low) / (high - low)
                region = "end" if x > to.max else "subnormal" if x < to.smallest_normal else "normal"
                if 0 <= chance < 1:
                    points += [(sign * x, sign * low, sign * above, chance, region)
                               for sign in ((1, -1) if to.is_signed and -to.lowest == to.max else (1,))]
        trials = max(64, results // len(points))
        slack = 2.0 ** -(self.by.bits or 32)
        least = math.log(_FALSE_ALARM / (2 * (len(points) + 4 + 1040)))

        def unlikely(k: float, n: float, p: float) -> bool:
            """Chernoff: k or more, or k or fewer, of n are less likely than the limit."""
            for part, chance in ((k / n, min(p + slack, 1)), (1 - k / n, min(1 - p + slack, 1))):
                if part > chance:
                    there = part * math.log(part / chance) if chance > 0 else math.inf
                    if -n * (there + ((1 - part) * math.log((1 - part) / (1 - chance)) if part < 1 else 0)) < least:
                        return True
            return False

        def rounded(x: Any) -> Numbers:
            return _results(self.call(np.asarray(x, dtype)), to, self.name, np.shape(x))[0].astype(np.float64)

        pools: dict[str, list[float]] = {}
        for first in range(0, len(points), step := max(1, _BATCH // trials)):
            some = points[first:first + step]
            y = rounded(np.repeat([point[0] for point in some], trials)).reshape(-1, trials)
            for (x, low, high, p, region), row in zip(some, y, strict=True):
                up = (row == high) | (np.isnan(row) & math.isnan(high))
                strange = row[~up & (row != low)] if p > 0 else row[row != low]
                want = f"{low}, else {high} at {p:.6g}" if p > 0 else f"{low}"
                if len(strange):
                    kind = "neighbour" if p > 0 else "exact"
                    self.take(f"{kind}/{region}", abs(x), x, want, f"{strange[0]} in {len(strange)} of {trials}")
                elif p > 0:
                    if unlikely(up.sum(), trials, p):
                        self.take(f"probability/{region}", abs(x), x, want, f"{high} in {up.sum()} of {trials}")
                    pools[region] = [a + b for a, b in zip(pools.get(region, (0, 0, 0)), (trials, up.sum(), p * trials),
                                                           strict=True)]
        for region, (n, k, mean) in pools.items():
            if unlikely(k, n, mean / n):
                self.take(f"bias/{region}", 0, 0.0, f"away from zero at {mean / n:.6g}", f"at {k / n:.6g}")
        tie, n = (1 + to.next_up(1)) / 2, 1 << 16
        one, two = (rounded(np.full(n, tie)) == to.next_up(1) for _ in range(2))
        if unlikely((one == two).sum(), n, 0.5):
            self.take("repeats-calls", 0, tie, "two calls alike in half", f"in {(one == two).sum()} of {n}")
        for lag in [*range(1, 1025), *(1 << k for k in range(11, 16))]:
            alike = int((one[lag:] == one[:-lag]).sum())
            if unlikely(alike, n - lag, 0.5):
                self.take("repeats-elements", lag, tie, f"elements {lag} apart alike in half",
                          f"in {alike} of {n - lag}")


def fuzz(function: Callable[..., Any], format: Format | str, rounding: Rounding | str = "rne", *, op: str = "convert",
         operands: Format | str | Sequence[Format | str] | None = None, dtype: Any = "float32",
         inputs: int | None = None, seed: int = 0, exhaustive: bool | None = None, strict_nan: bool = False,
         tensors: bool = False) -> FuzzReport:
    """Looks for inputs on which somebody else's conversion to `format` differs from the library's.

    function: takes a one-dimensional array of `dtype` (a NumPy array; with tensors=True one of torch) and returns as
        many results: values in any floating type, codes in an integer type, or an array of a type of ml_dtypes or torch
        that is the format. Of a format with scales it takes a tensor, and returns its values, a `Packed`, or packed
        bytes as uint8.
    format, rounding: what the function should do. Of stochastic rounding the law is tested: a right implementation
        fails in less than one of 10^6 runs; formats with scales have no such law.
    op: "convert", or an operation ("add", "mul", "fma", ...), which takes as many arrays as it has operands.
    operands: their format, or a list of them, which dtype must hold; None: `format`.
    dtype: of the inputs: "float32", "float64", "float16", "bfloat16".
    exhaustive: all inputs; None: where they have 16 bits. Otherwise the boundaries of the format, then every exponent
        with ties at every place of the mantissa, then so many random `inputs` (None: 2^18; 4096 tensors; of stochastic
        rounding 2^22 results in all); `seed` chooses these.
    strict_nan: compare the bits of a NaN, not only that it is one.

    Returns a FuzzReport: differences by class, each with its smallest example. ValueError for results of another shape.
    """
    if not callable(function):
        raise TypeError(f"fuzz: {function!r} cannot be called")
    if inputs is not None and operator.index(inputs) < 0:
        raise ValueError(f"inputs: {inputs} is less than 0")
    to, by = make_format(format), make_rounding(rounding)
    name = CARRIERS[carrier_of(dtype)]
    carrier = make_format(_FROM[name])
    if op != "convert" and op not in _values._OPERATIONS:
        raise ValueError(f"op: {op!r} is none of: convert {' '.join(_values._OPERATIONS)}")
    random = to.is_stochastic or by.is_stochastic
    if (to.is_blocked and random) or (op != "convert" and (to.is_blocked or random)):
        raise ValueError("stochastic rounding and formats with scales are tested on conversions, one of the two")
    n = _ARITY.get(op, 2)
    if isinstance(operands, (str, Format)):
        operands = [operands] * n
    formats = [carrier] if op == "convert" else [make_format(f) for f in operands or [to] * n]
    if len(formats) != n:
        raise ValueError(f"{op} has {n} operands, and {len(formats)} formats are named")
    for f in {to, *formats}:
        if not f.fits(name, by if f == to else "rne"):
            raise ValueError(f"{name} cannot be used with {f!r} and {by.mode}: {f._check(by, carrier_of(name))}; "
                             f"dtype={CARRIERS[default_carrier(f)]!r} holds all of its values")
    search = _Search(function, to, by, name, strict_nan, tensors)
    everything = sum(f.bits for f in formats) <= 16 if exhaustive is None else exhaustive
    if by.is_stochastic:
        search.law(1 << 22 if inputs is None else inputs, seed)
    elif to.is_blocked:
        search.blocks(4096 if inputs is None else inputs, seed, carrier)
    else:
        count = 1 << 18 if inputs is None else inputs
        for codes in (_every(formats) if everything else _stages(to, carrier, count, seed) if op == "convert" else
                      _operands(op, formats, to, count // 3, seed)):
            search.numbers(op, codes, formats)
    return search.report(everything and not (to.is_blocked or by.is_stochastic))
