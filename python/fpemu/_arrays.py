"""Arrays that the binding does not know by itself: they are adopted as NumPy arrays or tensors, and results returned in
their own kind. Also what autograd needs to be told of."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _native


def _torch_front(verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Tensors that are more than memory: with gradients, traced, batched, on another device."""
    from . import torch as front  # type: ignore[attr-defined]
    return front.adopt(verb, args, kwargs)


def adopt(verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Carries out _native.<verb> on arrays that it did not take."""
    arrays: list[Any] = list(args) + list(kwargs.values())
    torch = sys.modules.get("torch")
    if torch is not None and any(isinstance(a, torch.Tensor) for a in arrays):
        return _torch_front(verb, args, kwargs)
    raise TypeError(f"{type(args[0]).__name__} is no array that fpemu knows: it needs __dlpack__ or "
                    "__array_interface__")


def bump(tensor: Any) -> None:
    """Tells autograd that a tensor was written."""
    sys.modules["torch"].autograd.graph.increment_version(tensor)


def grad_enabled() -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.is_grad_enabled())
