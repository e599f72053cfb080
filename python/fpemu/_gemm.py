# SPDX-License-Identifier: BSD-2-Clause
"""Products of matrices as a machine computes them."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from . import _native
from ._arrays import carrier_of, shape_of, told
from ._errors import Error
from ._rounding import _word
from ._stats import Stats

_STATS = 10  # FPEMU_ERROR_STATS of fpemu/status.h


class Gemm:
    """A model of a dot product: what operands, products and sums are rounded to, and in which order they are added.

    Immutable, hashable, picklable; made by `fpemu.gemm`. spec: the canonical text. seed, stream: of stochastic
    roundings. chunk: products of a chunk, or 0.
    """

    __slots__ = ("_operands", "_random", "_struct", "_text", "chunk", "seed", "spec", "stream")
    _struct: bytes
    _text: str
    _operands: tuple[str | None, str | None]  # the formats that a and b are rounded to
    _random: bool  # it has a stochastic rounding
    spec: str
    seed: int
    stream: int
    chunk: int

    def __init__(self, text: str, seed: int = 0, stream: int = 0) -> None:
        seed, stream = _word(seed, "seed"), _word(stream, "stream")
        content, spec, chunk, operands, random = _native.gemm(text, seed, stream)
        for name, value in (("_struct", content), ("_text", text), ("spec", spec), ("seed", seed), ("stream", stream),
                            ("chunk", chunk), ("_operands", operands), ("_random", random)):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("a Gemm does not change")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gemm) and self._struct == other._struct

    def __hash__(self) -> int:
        return hash(self._struct)

    def __repr__(self) -> str:
        seeds = "".join(f", {name}={value}" for name, value in (("seed", self.seed), ("stream", self.stream)) if value)
        return f"fpemu.gemm({self.spec!r}{seeds})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Gemm, (self._text, self.seed, self.stream)


@lru_cache(maxsize=256)
def _known(text: str, seed: int, stream: int) -> Gemm:
    return Gemm(text, seed, stream)


def gemm(text: str | Gemm, *, seed: int = 0, stream: int = 0) -> Gemm:
    """The model of a text, by the grammar of doc/accumulation.md.

    Such as "fp32" (a sum in binary32, in sequence), "seq(bf16)", "chunk(64,fp(6,9,0)); ab=e5m2", "pairwise(fp16)",
    "kahan(bf16); product=bf16", "tc(h100,e4m3fn,promote=128)" (a tensor core), "int(32,saturate); ab=fixed(8,4)".
    seed, stream: integers of 64 bits, of the stochastic roundings. Raises fpemu.SpecError for another text, ValueError
    for numbers out of range, TypeError for a seed or a stream beside a Gemm, which has its own.
    """
    if isinstance(text, Gemm):
        if (seed, stream) != (0, 0):
            raise TypeError("a Gemm is there already: fpemu.gemm(model.spec, seed=...) makes one with another seed")
        return text
    return _known(text, _word(seed, "seed"), _word(stream, "stream"))


def matmul(a: Any, b: Any, spec: str | Gemm, *, alpha: float = 1.0, beta: float | None = None, c: Any = None,
           scales_a: Any = None, scales_b: Any = None, dtype: Any = None, seed: int = 0, stream: int = 0,
           out: Any = None, stats: Stats | None = None) -> Any:
    """alpha * a @ b + beta * c, as the machine that `spec` describes computes it: out(alpha * s + beta * c).

    a, b: arrays of one dtype with the shapes of NumPy's matmul, (..., m, k) and (..., k, n), batches broadcast; an
        operand of one dimension is a row, or a column, whose axis the result lacks. Any strides.
    spec: a text or a `Gemm`. alpha, beta: numbers of the dtype; c: an array (..., m, n); beta is 1 if there is a c.
    scales_a, scales_b: a scale for every chunk of k of each row of a, (..., m, ceil(k / chunk)), and of each column of
        b, (..., n, ceil(k / chunk)), as MX and NVFP4 hardware has it; for models with chunks. Dimensions in front are
        broadcast to the batch. float32 (float64 for float64 operands).
    dtype: of the result: that of the operands, or "float32" for 16-bit ones. Results in a 16-bit dtype are rounded once
        to it, or to the model's `out`, which it must hold.
    seed, stream: of the stochastic roundings in a text; a Gemm has its own.
    stats: counts every rounding of products and sums, and of the result where `out` is given; without sums and
        histograms (else fpemu.Error), since a rounding inside a product is of no element of a tensor.
    """
    model = spec if isinstance(spec, Gemm) else gemm(spec, seed=seed, stream=stream)
    carrier = None if dtype is None else carrier_of(dtype)
    beta = (0.0 if c is None else 1.0) if beta is None else beta
    if stats is not None and stats._want:
        raise Error("matmul counts what happened, and takes a Stats() without sums and histograms", _STATS)
    if c is None and beta:
        raise ValueError("beta needs a c")
    a, b = told(a), told(b)
    rows, columns = len(shape_of(a)) == 1, len(shape_of(b)) == 1
    if not (rows or columns):
        return _native.matmul(a, b, model._struct, alpha, beta, c, scales_a, scales_b, out, carrier, stats)
    if out is not None or c is not None:
        raise ValueError("out and c need operands of two dimensions or more")
    a = a[None, :] if rows else a
    b = b[:, None] if columns else b
    result = _native.matmul(a, b, model._struct, alpha, beta, None, scales_a, scales_b, None, carrier, stats)
    if rows:
        result = result[..., 0, :]
    return result[..., 0] if columns else result
