# SPDX-License-Identifier: BSD-2-Clause
"""Number formats as qtorch names them."""

from __future__ import annotations

__all__ = ["BlockFloatingPoint", "FixedPoint", "FloatingPoint", "Number"]


def require(condition: bool, message: str) -> None:
    """AssertionError, as qtorch raises it, whatever Python's -O does to assert statements."""
    if not condition:
        raise AssertionError(message)


class Number:
    """A number format."""

    def __str__(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return str(self)


class FixedPoint(Number):
    """Two's complement numbers of `wl` bits in steps of 2^-fl, between -2^(wl-fl-1) and 2^(wl-fl-1) - 2^-fl.

    wl, fl: above 0. clamp: whether numbers beyond the range become its ends; otherwise the range has none. symmetric:
    whether the range is that of the positive numbers on both sides.
    """

    def __init__(self, wl: int, fl: int, clamp: bool = True, symmetric: bool = False) -> None:
        require(wl > 0, f"word length {wl} is not above 0")
        require(fl > 0, f"fraction length {fl} is not above 0")
        require(isinstance(symmetric, bool), f"symmetric is a bool, not {type(symmetric).__name__}")
        self.wl, self.fl, self.clamp, self.symmetric = wl, fl, clamp, symmetric

    def __str__(self) -> str:
        return f"FixedPoint (wl={self.wl}, fl={self.fl})"


class FloatingPoint(Number):
    """Floats of `exp` (1..8) exponent bits and `man` (1..23) stored fraction bits, with subnormal numbers and without
    infinities and NaN but for exp = 8; ties are rounded away from zero."""

    def __init__(self, exp: int, man: int) -> None:
        require(8 >= exp > 0, f"{exp} exponent bits are not 1 to 8")
        require(23 >= man > 0, f"{man} fraction bits are not 1 to 23")
        self.exp, self.man = exp, man

    def __str__(self) -> str:
        return f"FloatingPoint (exponent={self.exp}, mantissa={self.man})"


class BlockFloatingPoint(Number):
    """Numbers of `wl` bits that share an exponent: that of the largest of a tensor (dim = -1), or of all that have the
    same index along dimension `dim`."""

    def __init__(self, wl: int, dim: int = -1) -> None:
        require(isinstance(wl, int) and wl > 0, f"word length {wl} is not an int above 0")
        require(isinstance(dim, int) and dim >= -1, f"dimension {dim} is not an int from -1")
        self.wl, self.dim = wl, dim

    def __str__(self) -> str:
        return f"BlockFloatingPoint (wl={self.wl}, dim={self.dim})"
