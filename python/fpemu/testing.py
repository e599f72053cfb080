# SPDX-License-Identifier: BSD-2-Clause
"""fpemu.testing: assertions for a test of one's own, as with pytest. A failure says in numbers what differs, and how
little makes it differ."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _fuzz, _gemm, _native, _values
from ._format import Format
from ._format import format as make_format
from ._packed import Packed, pack
from ._rounding import rounding as make_rounding

__all__ = ["assert_matmul", "assert_quantizes", "assert_stochastic"]


def _complain(head: str, found: dict[str, tuple[int, Any, str]]) -> None:
    """found: of each kind of difference how many, the rank of the simplest, and that in words."""
    if found:
        lines = [f"  {kind}: {count}, such as {text}" for kind, (count, _, text) in found.items()]
        raise AssertionError("\n".join([f"{head}: differences in {len(found)} classes", *lines]))


def _take(found: dict[str, tuple[int, Any, str]], kind: str, rank: Any, text: str) -> None:
    count, best, kept = found.get(kind, (0, None, ""))
    found[kind] = (count + 1, rank, text) if count == 0 or rank < best else (count + 1, best, kept)


def assert_quantizes(function: Callable[[Any], Any], format: Format | str, rounding: Any = "rne",
                     **options: Any) -> None:
    """That a conversion gives what the library gives.

    function, format, rounding, options: as for `fpemu.fuzz`. Of a format with scales the function takes a tensor of one
        axis, float32, and returns its values, or packed bytes: a `Packed` or uint8. Options are then `inputs`, how many
        tensors (512), and `seed`; TypeError for others. Some have a short last block, some are no contiguous array.
    """
    to, by, found = make_format(format), make_rounding(rounding), {}  # type: Any, Any, dict[str, tuple[int, Any, str]]
    if not to.is_blocked:
        report = _fuzz.fuzz(function, to, by, **options)
        if report:
            raise AssertionError(str(report))
        return
    if untaken := options.keys() - {"inputs", "seed"}:
        raise TypeError(f"{to!r} has scales: options are inputs= and seed=, not {', '.join(sorted(untaken))}=")
    rng, shape = np.random.default_rng(options.get("seed", 0)), to.block_shape
    usual = shape[-1] if isinstance(shape, tuple) else 32
    for i in range(options.get("inputs", 512)):
        n = max((usual, 2 * usual + usual // 2 + 1, usual - 1, 1, usual + 1)[i % 5], 1)
        block = usual if isinstance(shape, tuple) else 1 if shape == "channel" else n
        x = rng.integers(-64, 65, n) / 64 if i % 3 else rng.uniform(-1, 1, n)
        x = np.where(rng.random(n) < (0, 0.9, 1)[i // 5 % 3], 0, x)
        x[rng.integers(n)] = rng.choice([1, -1, 1.5, 0, np.nan if i % 16 == 15 else -0.0])
        x = np.ldexp(x, i % 270 - 148 if i % 2 else rng.integers(-8, 9)).astype(np.float32)
        result = function(np.repeat(x, 2)[::2] if i % 7 == 6 else x.copy())
        want, got = pack(x, to, by), None
        if isinstance(result, Packed) or str(getattr(result, "dtype", "")).endswith("uint8"):
            got = result if isinstance(result, Packed) else Packed.frombytes(bytes(result), to, x.shape)
            result = got.unpack("float32")
        pairs = [("element", _native.quantize(x, to, by), _fuzz._results(result, to, "float32", x.shape)[0])]
        if got is not None and want.scales is not None:  # s2fp8 has none
            pairs.insert(0, ("scale", want.scales.ravel(), got.scales.ravel()))
        for part, expected, values in pairs:
            wrong = np.flatnonzero(~_fuzz._same(expected, values, False))
            if len(wrong):
                k = int(wrong[0])
                own = np.abs(x[k * block :][:block] if part == "scale" else x[k - k % block :][:block])
                kind = "nan" if np.isnan(own).any() else "short-block" if len(own) < block else "block"
                shown = [f"x[{at}] = {x[at]}" for at in np.flatnonzero(x)]
                text = f"{', '.join(shown[:6])}{' ...' if len(shown) > 6 else ''} of {n}: number {k} is {expected[k]}"
                _take(found, f"{part}/{kind}", (len(shown), n), f"{text}, not {values[k]}")
                break
    _complain(f"{to!r} {by.mode}, {options.get('inputs', 512)} tensors", found)


def assert_stochastic(function: Callable[[Any], Any], format: Format | str, *, bits: int = 32,
                      inputs: int = 1 << 20, seed: int = 0) -> None:
    """That stochastic rounding to `format` follows its law; right ones fail in less than one of 10^6 runs.

    function: takes a flat array of float32, and returns values or codes; each call has new random bits. inputs: results
        in all. bits: of the random numbers; probabilities may be off by 2^-bits.

    A number goes to a neighbour, with a chance in proportion to its nearness; a number of the format stays. Bounds are
    Chernoff's. Random bits may not come again in the next call, or in one of the 1024 next elements.
    """
    to, rng = make_format(format), np.random.default_rng(seed)
    found: dict[str, tuple[int, Any, str]] = {}
    codes = np.arange(0, to.max_code, to.max_code // 120 + 1).astype(to.code_dtype)
    lows = _values.decode(codes, to, "float64")
    lows = np.unique([*lows[(lows >= 0) & (lows < to.max)], to.next_down(to.smallest_normal), to.next_down(to.max)])
    lows = lows[np.isfinite(lows)]
    highs = np.array([to.next_up(low) for low in lows])
    part = np.array([0, 0.5, 0.25, 0.75, 1 / 64, 63 / 64, 0])
    part = part + rng.random((len(lows), 7)) * [0, 0, 1, 1, 1, -1, 64] / 64
    x = (lows[:, None] + (highs - lows)[:, None] * part).astype(np.float32).astype(np.float64)
    p = (x - lows[:, None]) / (highs - lows)[:, None]
    low, high, x, p = (np.broadcast_to(a, x.shape).ravel() for a in (lows[:, None], highs[:, None], x, p))
    if to.is_signed:
        low, high, x, p = (np.concatenate([a, s * a]) for a, s in ((low, -1), (high, -1), (x, -1), (p, 1)))
    trials, least = max(64, inputs // len(x)), math.log(1e-6 / (2 * (len(x) + 1026)))

    def rounded(numbers: Any) -> Any:
        numbers = np.asarray(numbers, np.float32)
        return _fuzz._results(function(numbers.copy()), to, "float32", numbers.shape)[0].astype(np.float64)

    def unlikely(k: Any, n: Any, chance: Any) -> Any:
        """Chernoff: k or more, or k or fewer, of n are less likely than the limit."""
        result = np.zeros(np.shape(k), bool)
        for share, mean in ((k / n, chance + 2.0**-bits), (1 - k / n, 1 - chance + 2.0**-bits)):
            mean = np.minimum(mean, 1)
            share = np.maximum(share, mean)
            with np.errstate(divide="ignore", invalid="ignore"):
                other = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - mean)), 0)
            result |= (share > mean) & (-n * (share * np.log(share / mean) + other) < least)
        return result

    y = rounded(np.repeat(x, trials)).reshape(-1, trials)
    up = (y == high[:, None]) & (p > 0)[:, None]
    strange = ~up & (y != low[:, None])
    unfair = unlikely(up.sum(axis=1), trials, p) & ~strange.any(axis=1)
    for i in np.flatnonzero(strange.any(axis=1) | unfair):
        where = "subnormal" if abs(x[i]) < to.smallest_normal else "normal"
        want = f"{x[i]} is {low[i]}" + (f", else {high[i]} at {p[i]:.6g}" if p[i] > 0 else "")
        if unfair[i]:
            _take(found, f"probability/{where}", abs(x[i]), f"{want}, not {up[i].sum()} of {trials}")
        else:
            kind, one = "neighbour" if p[i] > 0 else "exact", y[i][strange[i]][0]
            _take(found, f"{kind}/{where}", abs(x[i]), f"{want}, not {one}, in {strange[i].sum()} of {trials}")
    n, tie = 1 << 16, (1 + to.next_up(1)) / 2
    first, second = (rounded(np.full(n, tie)) == to.next_up(1) for _ in range(2))
    for lag in range(1025):
        alike = int((second == first).sum() if lag == 0 else (first[lag:] == first[:-lag]).sum())
        if unlikely(np.array(alike), n - lag, 0.5):
            text = f"elements {lag} apart" if lag else "two calls"
            _take(found, "repeats-elements" if lag else "repeats-calls", lag, f"{text} alike in {alike} of {n - lag}")
    _complain(f"{to!r} sr, {len(x)} numbers, {trials} results of each", found)


def _operands(case: str, rng: np.random.Generator, f: Format, shape: tuple[int, int]) -> Any:
    """Values of f, shape (m, k): a row is an operand of a dot product."""
    codes = rng.integers(0, 1 << f.bits, shape, dtype=np.uint64).astype(f.code_dtype)
    if case == "any":
        return _values.decode(codes, f, "float64")
    low = math.frexp(f.smallest)[1]
    wide = max(2, -low // 2)
    sizes: dict[str, Any] = {"subnormal": low + rng.integers(0, 3, shape), "overflow": math.frexp(f.max)[1],
                             "spread": rng.integers(-wide, wide + 1, shape)}
    size = sizes.get(case, rng.integers(-2, 3, shape))
    x = np.ldexp(rng.uniform(0.5, 1, shape) * rng.choice([1, -1] if f.is_signed else [1], shape), size)
    if case == "one-large":
        x[np.arange(len(x)), rng.integers(0, shape[1], len(x))] *= 2.0 ** (f.mantissa_bits + rng.integers(0, 8))
    x = _values.decode(_values.encode(x, f, "rtz"), f, "float64")
    return np.where(rng.random(shape) < 0.25, 0, x) if case == "zeros" else x


def assert_matmul(function: Callable[[Any, Any], Any], shape: tuple[int, int, int], *, model: Any = None,
                  bound: float | None = None, operands: tuple[Format | str, Format | str] = ("fp16", "fp16"),
                  dtype: Any = "float32", rounds: int = 8, seed: int = 0) -> None:
    """That products of matrices are what a machine computes, or near enough to the exact ones.

    function: takes arrays a, (m, k), and b, (k, n), of `dtype`, and returns a @ b, (m, n). shape: (m, k, n); (1, k, 1)
        is a dot product.
    model: a text or a `Gemm`; results are compared bit by bit, a NaN with a NaN.
    bound: each result may differ from the exact sum of products by bound * sum |a b|; finite numbers alone are tried.
    operands: the formats of which a and b are values. rounds: so many of each case.

    The failure names the case and the smallest operands that were found: most products are zero.
    """
    if (model is None) == (bound is None):
        raise ValueError("assert_matmul: either a model or a bound")
    m, k, n = shape
    formats, rng = [make_format(f) for f in operands], np.random.default_rng(seed)
    kind = _fuzz._numpy_dtype(dtype)

    def run(a: Any, b: Any) -> Any:
        product = function(np.ascontiguousarray(a), np.ascontiguousarray(b))
        return _fuzz._results(product, make_format("fp64"), "float64", (m, n))[0]

    def judge(a: Any, b: Any) -> tuple[Any, Any, Any]:
        """The right results, the given ones, and where they differ."""
        got = run(a, b)
        if model is not None:
            want = np.asarray(_gemm.matmul(a, b, model)).astype(np.float64)
            return want, got, ~_fuzz._same(want, got, False)
        products = a.astype(np.float64)[:, :, None] * b.astype(np.float64)[None]
        want = np.array([[math.fsum(products[i, :, j]) for j in range(n)] for i in range(m)])
        return want, got, ~(np.abs(got - want) <= bound * np.abs(products).sum(axis=1))

    cases = ["sizes", "zeros", "spread", "one-large", "cancel", "subnormal", "overflow", "any"]
    for case in cases if model is not None else cases[:-2]:
        for _ in range(rounds):
            a, b = (_operands("sizes" if case == "cancel" else case, rng, f, (rows, k))
                    for f, rows in zip(formats, (m, n), strict=True))
            if case == "cancel":
                half = k // 2
                a[:, half : 2 * half], b[:, half : 2 * half] = -a[:, :half], b[:, :half]
            a, b = a.astype(kind), b.T.astype(kind)
            want, got, wrong = judge(a, b)
            if not wrong.any():
                continue
            i, j = (int(index[0]) for index in np.nonzero(wrong))
            a, b = np.where(np.arange(m)[:, None] == i, a, 0), np.where(np.arange(n) == j, b, 0)
            if not judge(a, b)[2][i, j]:
                raise AssertionError(f"{case}: [{i}, {j}] is {want[i, j]}, not {got[i, j]}; right without other rows")
            step = k
            while (step := step // 2) > 0:
                for first in range(0, k, step):
                    less = np.where((np.arange(k) >= first) & (np.arange(k) < first + step), 0, a)
                    a = less if judge(less, b)[2][i, j] else a
            want, got, _ = judge(a, b)
            terms = " + ".join(f"{a[i, at]!s} * {b[at, j]!s}" for at in np.flatnonzero(a[i]))
            how = f"by the model {model}" if model is not None else f"exactly, give or take {bound} sum |a b|"
            raise AssertionError(f"{case}: [{i}, {j}] of {m}x{k}x{n}: {terms or 'nothing'} is {want[i, j]} {how}, not "
                                 f"{got[i, j]}")
