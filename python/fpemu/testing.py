# SPDX-License-Identifier: BSD-2-Clause
"""fpemu.testing: assertions for a test of one's own. A failure says in numbers how little makes something differ."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _fuzz, _gemm, _values
from ._format import Format
from ._format import format as make_format
from ._rounding import rounding as make_rounding

__all__ = ["assert_matmul", "assert_quantizes", "assert_stochastic"]


def assert_quantizes(function: Callable[..., Any], format: Format | str, rounding: Any = "rne", **options: Any) -> None:
    """That a conversion to `format`, of numbers or of blocks with scales, or an operation (`op=`) gives what the
    library gives; with stochastic rounding, that it follows the law. Arguments are those of `fpemu.fuzz`."""
    if report := _fuzz.fuzz(function, format, rounding, **options):
        raise AssertionError(str(report))


def assert_stochastic(function: Callable[[Any], Any], format: Format | str, *, bits: int = 32,
                      inputs: int = 1 << 20, seed: int = 0) -> None:
    """That stochastic rounding to `format` follows its law; right ones fail in less than one of 10^6 runs.

    function: takes a flat array of float32, and returns values or codes; each call has new random bits. inputs: results
        in all. bits: of the random numbers; probabilities may be off by 2^-bits."""
    assert_quantizes(function, format, make_rounding("sr", bits=bits), inputs=inputs, seed=seed)


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

    def judge(a: Any, b: Any) -> tuple[Any, Any, Any]:  # the right results, the given ones, where they differ
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
