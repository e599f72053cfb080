# SPDX-License-Identifier: BSD-2-Clause
"""PyTorch's own names by specs."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from .linear import Linear, addmm, bmm, linear, matmul

FUNCTIONS: dict[str, Callable[..., torch.Tensor]] = {
    "linear": linear, "matmul": matmul, "mm": matmul, "bmm": bmm, "addmm": addmm}


def inject_pyt_ops(mx_specs: Any) -> Callable[[], None]:
    """Has PyTorch's products of matrices compute by mx_specs, in this process: torch.nn.Linear (of modules made from
    now on), torch.nn.functional.linear, torch.matmul, mm, bmm, addmm. Gives back a function that undoes it. These
    take no out=, and addmm no beta= and alpha=: TypeError.

    microxcaling replaces convolutions, norms, activations, softmax, LSTM and arithmetic too; here they stay PyTorch's.
    """
    before: list[tuple[Any, str, Any]] = []

    def put(place: Any, name: str, value: Any) -> None:
        before.append((place, name, getattr(place, name)))
        setattr(place, name, value)

    def with_specs(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
        @functools.wraps(function)
        def call(*args: Any, dtype: torch.dtype | None = None, **kwargs: Any) -> torch.Tensor:
            result = function(*args, mx_specs=mx_specs, **kwargs)
            return result if dtype is None else result.to(dtype)
        return call

    def make(base: Any) -> Any:
        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            base.__init__(self, *args, mx_specs=mx_specs, **kwargs)
        return type(base.__name__ + "_inj", (base,), {"__init__": __init__})

    for name, function in FUNCTIONS.items():
        for place in (torch, torch.nn.functional):
            if hasattr(place, name):
                put(place, name, with_specs(function))
    put(torch.nn, "Linear", make(Linear))

    def undo() -> None:
        while before:
            place, name, value = before.pop()
            setattr(place, name, value)
    return undo
