# SPDX-License-Identifier: BSD-2-Clause
"""Which formats and roundings of libfpemu microxcaling's names stand for."""

from __future__ import annotations

import enum
import functools
from collections.abc import Iterable

import torch

import fpemu

# Known defects of microxcaling that can be asked for; the package's docstring says what they are.
DEFECTS = frozenset({"positive_zero", "floor_infinite", "nan_scale"})
_wanted: frozenset[str] = frozenset()


class ElemFormat(enum.Enum):
    """Element formats by name."""

    int8 = 1
    int4 = 2
    int2 = 3
    fp8_e5m2 = 4
    fp8_e4m3 = 5
    fp6_e3m2 = 6
    fp6_e2m3 = 7
    fp4 = 8
    fp4_e2m1 = 8
    float16 = 9
    fp16 = 9
    bfloat16 = 10
    bf16 = 10

    @staticmethod
    def from_str(s: str) -> ElemFormat:
        """The format of a name, in any case. ValueError where there is none."""
        try:
            return ElemFormat[s.lower()]
        except KeyError:
            raise ValueError(f"no element format {s!r}; there are {', '.join(ElemFormat.__members__)}") from None


ELEMENTS = {ElemFormat.int8: "fixed(8,6):symmetric", ElemFormat.int4: "fixed(4,2):symmetric",
            ElemFormat.int2: "fixed(2,0):symmetric", ElemFormat.fp8_e5m2: "e5m2", ElemFormat.fp8_e4m3: "e4m3fn",
            ElemFormat.fp6_e3m2: "e3m2", ElemFormat.fp6_e2m3: "e2m3", ElemFormat.fp4: "e2m1",
            ElemFormat.float16: "fp16", ElemFormat.bfloat16: "bf16"}
_ROUNDINGS = {"nearest": "rna", "floor": "rtz", "even": "rne", "dither": "sr"}


@functools.cache
def _rounding(name: str) -> fpemu.Rounding:
    if name not in _ROUNDINGS:
        raise ValueError(f"no rounding {name!r}; there are {', '.join(_ROUNDINGS)}")
    return fpemu.rounding(_ROUNDINGS[name])


def rounding_of(name: str) -> fpemu.Rounding:
    """The rounding of a name, for one call: dither takes a seed from torch's generator."""
    r = _rounding(name)
    return r.replace(seed=int(torch.randint(1 << 62, ()).item())) if name == "dither" else r


def scale_format(scale_bits: int) -> str:
    """Powers of two from -(2^(b-1) - 1) to 2^(b-1) - 1, b bits; 0 stands for 8."""
    if scale_bits in (0, 8):
        return "e8m0"
    if not 2 <= scale_bits <= 8:
        raise ValueError(f"scale_bits is 0 or 2 to 8, not {scale_bits}")
    return f"float(e={scale_bits},m=0,bias={1 << scale_bits - 1},specials=finite,signed=0)"


def use_defects(defects: Iterable[str]) -> frozenset[str]:
    """Which defects of microxcaling all later calls have that name none themselves; gives back what held before."""
    global _wanted
    before, _wanted = _wanted, wanted_defects(defects)
    return before


def wanted_defects(defects: Iterable[str] | None) -> frozenset[str]:
    """A call's defects. ValueError for one that there is not."""
    chosen = _wanted if defects is None else frozenset(defects)
    if not chosen <= DEFECTS:
        raise ValueError(f"no defect {', '.join(sorted(chosen - DEFECTS))}; there are {', '.join(sorted(DEFECTS))}")
    return chosen
