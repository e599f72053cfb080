# SPDX-License-Identifier: BSD-2-Clause
"""Quantising element by element: bfloat and fp."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import torch

import fpemu

from .formats import rounding_of, wanted_defects


def quantize_elemwise_op(A: torch.Tensor, mx_specs: Mapping[str, Any] | None,  # noqa: N803 - microxcaling's name
                         round: str | None = None, *,  # noqa: A002
                         defects: Iterable[str] | None = None) -> torch.Tensor:
    """A to the float of mx_specs: a tensor of A's shape and dtype, without gradient. A itself where there are no specs,
    or they name neither.

    mx_specs: bfloat (10 to 31 bits: sign, 8 exponent bits, the rest; 32 and 0 leave A as it is), or fp (7 and more:
    sign, 5 exponent bits, the rest), bfloat_subnorms (False: numbers below the smallest normal one become zero), round.
    round: in place of mx_specs' own. defects: see the package. ValueError for other numbers and names, or for both.
    """
    if mx_specs is None:
        return A
    bfloat, fp = int(mx_specs["bfloat"]), int(mx_specs["fp"])
    if bfloat > 0 and fp > 0:
        raise ValueError("mx_specs name both bfloat and fp")
    if 0 < bfloat <= 9 or bfloat > 32 or bfloat < 0:
        raise ValueError(f"bfloat is 0 or 10 to 32 bits, not {bfloat}")
    if 0 < fp <= 6 or fp > 29 or fp < 0:
        raise ValueError(f"fp is 0 or 7 to 29 bits, not {fp}")
    if bfloat in (0, 32) and not fp:
        return A
    flush = "" if mx_specs["bfloat_subnorms"] else ":flushin"
    spec = f"float(e=8,m={bfloat - 9})" if bfloat else f"float(e=5,m={fp - 6})"
    name = mx_specs["round"] if round is None else round
    x, f, chosen = A.detach(), fpemu.format(spec + flush), wanted_defects(defects)
    y: torch.Tensor = fpemu.quantize(x, f, rounding_of(name))
    if "floor_infinite" in chosen and name == "floor":
        past = x.abs() >= 2.0 ** (f.emax + 1)
        y = torch.where(past, torch.copysign(torch.full_like(y, float("inf")), x), y)
    if "positive_zero" in chosen:
        y = torch.where(x.abs() < f.min_normal if flush else x == 0, torch.zeros_like(y), y)
    return y
