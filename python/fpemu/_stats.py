# SPDX-License-Identifier: BSD-2-Clause
"""Counters of what happened to elements."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native

Counts = npt.NDArray[np.uint64]

_COUNTERS = ("count", "nan", "infinite", "clipped", "overflow", "invalid", "div_by_zero", "underflow", "subnormal",
             "inexact", "swamped", "min_abs", "max_abs", "max_error", "blocks", "zero_blocks", "nan_blocks",
             "saturated_scales")


def _sum(i: int, text: str) -> Any:
    return property(lambda self: self._need_sums()[i], doc=text)


def _counts(i: int, text: str) -> Any:
    def read(self: Stats) -> Counts | None:
        counts = self._histograms()[i]
        return None if counts is None else np.frombuffer(counts, dtype=np.uint64)
    return property(read, doc=text)


def _range(which: str, text: str) -> Any:
    def read(self: Stats) -> tuple[int, int] | None:
        first, length = getattr(self, which + "_first"), getattr(self, which + "_length")
        return (first, first + length - 3) if length else None
    return property(read, doc=text)


class Stats(_native.Stats):
    """What happened to the elements of one call or several, which all add to it. x is an input, y what it became.

    sums: also the sums of |x - y|, (x - y)^2 and x^2, and with them the signal to quantisation noise ratio.
    histogram: (first, last), both exponents: counts of floor(log2 |x|), with a bin below `first` and one above `last`.
    scale_histogram: the same of the scales of blocks.

    `s1 + s2` is what one call on both inputs would have found. Of sums this holds where the cut is at a multiple of
    4096 elements, offset included, or between blocks of formats with scales. Elsewhere the last bits may differ: up
    to 4096 terms are added in binary64, and only their totals exactly (doc/numerics.md, 6).
    Calls from several threads may add to one Stats.
    """

    __slots__ = ()

    def __new__(cls, sums: bool = False, histogram: tuple[int, int] | None = None,
                scale_histogram: tuple[int, int] | None = None) -> Stats:
        def bins(name: str, ends: tuple[int, int] | None) -> tuple[int, int]:
            if ends is None:
                return 0, 0
            try:
                first, last = map(index, ends)
            except (TypeError, ValueError):
                raise TypeError(f"{name} is two exponents, (first, last), not {ends!r}") from None
            if not -2000 <= first <= last <= 2000:
                raise ValueError(f"a histogram is told by its first and last exponent, not by {ends!r}")
            return first, last - first + 3
        return super().__new__(cls, sums, *bins("histogram", histogram), *bins("scale_histogram", scale_histogram))

    @property
    def sums(self) -> bool:
        """Whether sums of errors are formed."""
        return bool(self._want & 1)

    sum_error: float = _sum(0, "Sum of |x - y| over the elements with x and y finite, rounded once.")
    sum_error2: float = _sum(1, "Sum of (x - y)^2.")
    sum_square: float = _sum(2, "Sum of x^2.")
    sqnr: float = _sum(3, "Signal to quantisation noise ratio in dB, 10 log10(sum x^2 / sum (x-y)^2); +inf without "
                          "error, NaN without signal, or where there is an error and sum x^2 is infinite.")

    def _need_sums(self) -> tuple[float, float, float, float]:
        if not self.sums:
            raise ValueError("sums were not asked for: fpemu.Stats(sums=True)")
        return self._sums()

    histogram: Counts | None = _counts(
        0, "Counts of the exponents of the input: below `first`, each from `first` to `last`, above; or None.")
    scale_histogram: Counts | None = _counts(1, "The same of the scales of blocks.")

    histogram_range: tuple[int, int] | None = _range("", "First and last exponent of the histogram.")
    scale_histogram_range: tuple[int, int] | None = _range(
        "_scale", "First and last exponent of the histogram of scales.")

    @classmethod
    def _asking(cls, want: int, *bins: int) -> Stats:
        """One that asks for what the library's request says: want, and first exponent and length of both histograms."""
        return super().__new__(cls, bool(want & 1), *bins)

    def empty(self) -> Stats:
        """One that asks for the same and has counted nothing."""
        return type(self)._asking(self._want, self._first, self._length, self._scale_first, self._scale_length)

    def copy(self) -> Stats:
        """One that asks for the same and has counted the same."""
        other = self.empty()
        other._load(self._bytes())
        return other

    def __iadd__(self, other: Stats) -> Stats:
        self._merge(other.copy() if other is self else other)
        return self

    def __add__(self, other: Stats) -> Stats:
        if not isinstance(other, Stats):
            return NotImplemented
        total = self.copy()
        total._merge(other)
        return total

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stats) and self._bytes() == other._bytes()

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """All of it in Python's own numbers, lists and texts, as json.dumps takes them."""
        result: dict[str, Any] = {name: getattr(self, name) for name in _COUNTERS}
        if self.sums:
            names = ("sum_error", "sum_error2", "sum_square", "sqnr")
            result.update(zip(names, self._sums(), strict=True))
        for name in ("histogram", "scale_histogram"):
            counts = getattr(self, name)
            if counts is not None:
                result[name] = {"range": list(getattr(self, name + "_range")), "counts": counts.tolist()}
        return result

    def __repr__(self) -> str:
        found = [f"{name}={getattr(self, name)}" for name in _COUNTERS if getattr(self, name)]
        if self.sums and self.count:
            found.append(f"sqnr={self.sqnr:.2f}")
        return f"<fpemu.Stats {' '.join(found) or 'empty'}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _load, (self.sums, self.histogram_range, self.scale_histogram_range, self._bytes())

    def __copy__(self) -> Stats:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Stats:
        return self.copy()


def _load(sums: bool, histogram: tuple[int, int] | None, scale_histogram: tuple[int, int] | None,
          content: bytes) -> Stats:
    stats = Stats(sums, histogram, scale_histogram)
    stats._load(content)
    return stats
