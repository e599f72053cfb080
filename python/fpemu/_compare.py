# SPDX-License-Identifier: BSD-2-Clause
"""What a tensor would lose in each of several formats."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from . import _files, _native
from ._arrays import CARRIERS, carrier_of, to_numpy, told
from ._format import ZERO_POINTS, Format
from ._format import format as make_format
from ._rounding import Rounding
from ._stats import Stats


@dataclass(frozen=True)
class Row:
    """One format's line: bits per element, signal to quantisation noise in dB, largest |x - y|, the Stats, and how many
    elements became NaN or infinite, which sqnr and max_error leave out."""

    format: Format
    bits: float
    sqnr: float
    max_error: float
    stats: Stats
    lost: int = 0


class Comparison(Sequence[Row]):
    """A row for each format, made by `fpemu.compare`; str() is a table."""

    def __init__(self, rows: Sequence[Row], title: str) -> None:
        self._rows = tuple(rows)
        self.title = title

    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def cheapest(self, min_sqnr: float) -> Row | None:
        """The row of the fewest bits with at least so many dB and none lost; None if there is none."""
        enough = [row for row in self._rows if row.sqnr >= min_sqnr and not row.lost]
        return min(enough, key=lambda row: (row.bits, -row.sqnr)) if enough else None

    def to_dict(self) -> list[dict[str, Any]]:
        """The rows in Python's own numbers and texts."""
        return [{"format": repr(row.format), "bits": row.bits, "sqnr": row.sqnr, "max_error": row.max_error,
                 "lost": row.lost, "stats": row.stats.to_dict()} for row in self._rows]

    def __str__(self) -> str:
        head = ("format", "bits", "SQNR-dB", "max-error", "clipped", "overflow", "underflow", "subnormal", "invalid")
        lines = [head] + [
            (repr(row.format), f"{row.bits:.4g}", f"{row.sqnr:.2f}", f"{row.max_error:.4g}",
             *(str(getattr(row.stats, name)) for name in ("clipped", "overflow", "underflow", "subnormal", "invalid")))
            for row in self._rows]
        return "\n".join(_files.table(lines, range(1, len(head))))

    __repr__ = __str__

    def plot(self, file: str | os.PathLike[str] | None = None) -> str:
        """A bar for each format's SQNR, as SVG: the text, which is also written to `file` where one is named.

        The file appears complete or not at all, as WHAT IS OVERWRITTEN in fpemu(1) has it. ValueError for the name of
        another kind of picture, OSError where the file cannot be written.
        """
        finite = [row.sqnr for row in self._rows if math.isfinite(row.sqnr)]
        top = max([10.0 * math.ceil(value / 10) for value in finite if value > 0] or [10.0])
        left = 12 + 8 * max([len(repr(row.format)) for row in self._rows] or [1])
        width, bar, gap = 360.0, 16, 8
        height = 46 + len(self._rows) * (bar + gap)
        parts = [f'<text x="8" y="18" font-size="13">{escape(self.title)}</text>']
        for mark in range(0, int(top) + 1, 10 if top <= 80 else 20):
            x = left + width * mark / top
            parts.append(f'<line x1="{x:.1f}" y1="28" x2="{x:.1f}" y2="{height - 8}" stroke="#ddd"/>')
        for i, row in enumerate(self._rows):
            y = 32 + i * (bar + gap)
            value = row.sqnr if math.isfinite(row.sqnr) else (top if row.sqnr > 0 else 0.0)
            length = width * max(value, 0.0) / top
            parts.append(f'<text x="{left - 6:.1f}" y="{y + 12}" text-anchor="end">{escape(repr(row.format))}</text>')
            parts.append(f'<rect x="{left:.1f}" y="{y}" width="{length:.1f}" height="{bar}" fill="#4477aa"/>')
            parts.append(f'<text x="{left + length + 5:.1f}" y="{y + 12}" fill="#444">{row.sqnr:.1f} dB, '
                         f'{row.bits:.4g} bits</text>')
        return _files.picture(file, left + width + 150, height, parts)


def _warn_of_losses(x: Any, y: Any, to: Format, stats: Stats) -> int:
    """What hardly anybody wants, with how much it is; the elements are looked at only where counters leave it open.
    Returns how many finite numbers overflowed to NaN or infinity."""
    if not hasattr(x, "sum"):  # memory that others understand, and no array with operators
        x, y = to_numpy(x), to_numpy(y)
    one_sided = to.lowest >= 0 and to.scaling_rule not in ZERO_POINTS
    negative = int(((x < 0) & (x > -math.inf)).sum()) if one_sided else 0
    if negative:
        warnings.warn(f"{to}: {negative} of {stats.count} elements are below zero, where the format has no values",
                      stacklevel=3)
    vanished = stats.underflow - negative
    others = int((x != 0).sum()) - stats.nan - negative if vanished > 0 else 0
    if vanished > 0 and vanished >= 0.9 * others:
        hint = "" if to.scaling else f"; scaled({to}) has a scale for the array"
        warnings.warn(f"{to}: {vanished} of {others} elements other than zero became zero{hint}", stacklevel=3)
    if not stats.overflow:
        return 0
    finite = abs(x) < math.inf
    lost = min(int(finite.sum()) - int((finite & (abs(y) < math.inf)).sum()), stats.overflow)
    if lost > negative:
        warnings.warn(f"{to}: {lost - negative} of {stats.count} elements became NaN or infinite by overflow, which "
                      "sqnr leaves out; overflow saturate, as in e4m3fn:saturate, keeps them finite", stacklevel=3)
    return lost


def compare(x: Any, specs: Format | str | Sequence[Format | str], rounding: Rounding | str = "rne", *,
            axis: int = -1) -> Comparison:
    """What x would lose in each of several formats.

    x: an array, as `quantize` takes it. specs: formats or specs, or one alone. rounding, axis: as for `quantize`.
    Returns a Comparison: a row each with bits per element, signal to quantisation noise ratio in dB (more is better),
    the largest error and all counters; print it, or draw it by .plot("errors.svg"). Warns (UserWarning) of numbers
    below zero where a format has none, of overflow to NaN or infinity, and where nine of ten numbers become zero.
    """
    x = told(x)
    rows = []
    for spec in [specs] if isinstance(specs, (str, Format)) else specs:
        to = make_format(spec)
        stats = Stats(sums=True)
        y = _native.quantize(x, to, rounding, axis=axis, stats=stats)
        lost = stats.invalid + _warn_of_losses(x, y, to, stats)
        rows.append(Row(to, to.bits_per_element, stats.sqnr, stats.max_error, stats, lost))
    kind = CARRIERS[carrier_of(x.dtype)]
    shape = " x ".join(str(size) for size in x.shape) or "1"
    return Comparison(rows, f"Signal to quantisation noise, {shape} {kind} numbers")
