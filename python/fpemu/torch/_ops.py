"""The operators `torch.ops.fpemu.*`: schemas, kernels, shapes for tracing, and rules for vmap.

Formats and roundings are texts in the schemas, random state is an int64 tensor [seed, stream, offset], and counters are
an int64 tensor (`new_stats`), so that a compiled graph holds for every step. What the kernels compute is done by the
library; nothing here rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

import fpemu
from fpemu import Stats

from . import _autograd
from ._shard import Part, quantize_part
from ._spec import block_of, check_state, format_of, is_stochastic, rounding_of, with_state
from .counters import check_stats, read_stats, write_stats

FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
CODES = {1: torch.uint8, 2: torch.uint16, 4: torch.uint32, 8: torch.uint64}
STE = ("identity", "clipped")

SCHEMAS = {
    "quantize": "(Tensor x, str format, str rounding='rne', Tensor? state=None, int axis=-1, Tensor(a!)? stats=None, "
    "str ste='identity', str? backward=None, str backward_rounding='rne', Tensor? backward_stats=None, "
    "SymInt[]? whole=None, SymInt[]? start=None, Tensor? range=None) -> Tensor",
    "quantize_": "(Tensor(a!) x, str format, str rounding='rne', Tensor? state=None, int axis=-1, "
    "Tensor(b!)? stats=None, SymInt[]? whole=None, SymInt[]? start=None, Tensor? range=None) -> ()",
}

library = torch.library.Library("fpemu", "DEF")
for _name, _schema in SCHEMAS.items():
    library.define(_name + _schema, tags=(torch.Tag.pt2_compliant_tag, torch.Tag.needs_exact_strides))


# ------------------------------------------------------------------------------------------------------- arguments


def check_float(x: Tensor, name: str = "x") -> None:
    """TypeError for a dtype that is not rounded."""
    if x.dtype not in FLOATS:
        raise TypeError(f"{name} has the dtype {x.dtype}: fpemu takes float64, float32, float16 and bfloat16, and rounds "
                        "none of them first; convert the tensor where that loses nothing")


def _check(x: Tensor, format: str, rounding: str, state: Tensor | None, stats: Tensor | None, axis: int) -> None:
    check_float(x)
    format_of(format)
    rounding_of(rounding)
    check_state(state)
    check_stats(stats)
    if not -max(x.ndim, 1) <= axis < max(x.ndim, 1):
        raise ValueError(f"there is no axis {axis} in a tensor of {x.ndim} dimensions")


@contextmanager
def _counting(stats: Tensor | None) -> Iterator[Stats | None]:
    """The counters of a tensor while they are added to; they are written back though the call fail for a NaN."""
    if stats is None:
        yield None
        return
    content = read_stats(stats)
    try:
        yield content
    finally:
        write_stats(stats, content)


def _part(whole: Sequence[int] | None, start: Sequence[int] | None) -> Part | None:
    if whole is None and start is None:
        return None
    if whole is None or start is None:
        raise ValueError("whole and start are given together")
    return Part(whole, start)


# ---------------------------------------------------------------------------------------------------- quantize, CPU


def _quantize_into(x: Tensor, y: Tensor, format: str, rounding: str, state: Tensor | None, axis: int,
                   stats: Tensor | None, whole: Sequence[int] | None, start: Sequence[int] | None,
                   tensor_range: Tensor | None) -> None:
    part = _part(whole, start)
    r = with_state(rounding, state)
    known = None if tensor_range is None else range_of(tensor_range)
    with _counting(stats) as counts:
        if part is not None:
            quantize_part(x, y, format_of(format), r, axis, counts, part, known)
        else:
            fpemu.quantize(x, format_of(format), r, axis=axis, out=y, stats=counts, range=known)


def range_of(tensor: Tensor) -> bytes:
    """The bytes of fpemu_range that a tensor of `measure` holds."""
    if tensor.dtype != torch.int64 or tuple(tensor.shape) != (12,):
        raise TypeError("range is a tensor of fpemu.torch.measure: int64, 12 words")
    content: bytes = tensor.detach().cpu().numpy().tobytes()
    return content


def _quantize(x: Tensor, format: str, rounding: str = "rne", state: Tensor | None = None, axis: int = -1,
              stats: Tensor | None = None, ste: str = "identity", backward: str | None = None,
              backward_rounding: str = "rne", backward_stats: Tensor | None = None,
              whole: Sequence[int] | None = None, start: Sequence[int] | None = None,
              range: Tensor | None = None) -> Tensor:
    _check(x, format, rounding, state, stats, axis)
    x = x.detach()
    y = torch.empty_like(x)
    _quantize_into(x, y, format, rounding, state, axis, stats, whole, start, range)
    return y


def _quantize_fake(x: Tensor, format: str, rounding: str = "rne", state: Tensor | None = None, axis: int = -1,
                   stats: Tensor | None = None, ste: str = "identity", backward: str | None = None,
                   backward_rounding: str = "rne", backward_stats: Tensor | None = None,
                   whole: Sequence[int] | None = None, start: Sequence[int] | None = None,
                   range: Tensor | None = None) -> Tensor:
    _check(x, format, rounding, state, stats, axis)
    return torch.empty_like(x)


def _quantize_in_place(x: Tensor, format: str, rounding: str = "rne", state: Tensor | None = None, axis: int = -1,
                       stats: Tensor | None = None, whole: Sequence[int] | None = None,
                       start: Sequence[int] | None = None, range: Tensor | None = None) -> None:
    _check(x, format, rounding, state, stats, axis)
    x = x.detach()
    _quantize_into(x, x, format, rounding, state, axis, stats, whole, start, range)


def _quantize_in_place_fake(x: Tensor, format: str, rounding: str = "rne", state: Tensor | None = None, axis: int = -1,
                            stats: Tensor | None = None, whole: Sequence[int] | None = None,
                            start: Sequence[int] | None = None, range: Tensor | None = None) -> None:
    _check(x, format, rounding, state, stats, axis)


# ------------------------------------------------------------------------------------------------------------- vmap


def _loop(op: Any, info: Any, in_dims: Sequence[Any], args: Sequence[Any]) -> tuple[Any, Any]:
    """One call for each index of the mapped dimension, results side by side. Each takes the random bits that it would
    take alone, and adds to the same counters, where those are not mapped too."""
    results = []
    for i in range(info.batch_size):
        results.append(op(*(a if d is None else a.select(d, i) for a, d in zip(args, in_dims))))
    if not results or results[0] is None:
        return None, None
    if isinstance(results[0], tuple):
        stacked = tuple(torch.stack(parts) for parts in zip(*results))
        return stacked, (0,) * len(stacked)
    return torch.stack(results), 0


def _vmap_by_loop(op: Any) -> Callable[..., tuple[Any, Any]]:
    def rule(info: Any, in_dims: Sequence[Any], *args: Any) -> tuple[Any, Any]:
        return _loop(op, info, in_dims, args)

    return rule


def _vmap_quantize(op: Any) -> Callable[..., tuple[Any, Any]]:
    """A format without blocks and without random bits knows of no dimension: one call does for all."""

    def rule(info: Any, in_dims: Sequence[Any], x: Tensor, format: str, rounding: str = "rne", *rest: Any) -> Any:
        once = in_dims[0] is not None and all(d is None for d in in_dims[1:]) and block_of(format_of(format)) is None
        backward, backward_rounding = (*rest, *(None,) * 11)[4:6] if op is _default("quantize") else (None, None)
        once = once and not is_stochastic(rounding) and not any(r is not None for r in rest[7:])
        once = once and (backward is None or block_of(format_of(backward)) is None)
        once = once and not is_stochastic(backward_rounding or "rne")
        if not once:
            return _loop(op, info, in_dims, (x, format, rounding, *rest))
        return op(x, format, rounding, *rest), in_dims[0]

    return rule


# ----------------------------------------------------------------------------------------------------- registration


def _default(name: str) -> Any:
    return getattr(torch.ops.fpemu, name).default


def _mutated(name: str) -> list[int]:
    return [i for i, a in enumerate(_default(name)._schema.arguments) if a.alias_info and a.alias_info.is_write]


def _register(name: str, kernel: Callable[..., Any], fake: Callable[..., Any], vmap: Callable[..., Any],
              gradient: Callable[..., Any]) -> None:
    op = _default(name)
    mutated = _mutated(name)
    library.impl(name, kernel, "CPU")
    library.impl(name, kernel, "CUDA")
    library.impl(name, gradient, "Autograd", with_keyset=True)
    torch.library.register_fake(f"fpemu::{name}", fake, lib=library)
    torch.library.register_vmap(f"fpemu::{name}", vmap, lib=library)

    def written(keyset: Any, *args: Any) -> Any:
        for i in mutated:
            if i < len(args) and args[i] is not None:
                torch.autograd.graph.increment_version(args[i])
        return op.redispatch(keyset & torch._C._after_ADInplaceOrView_keyset, *args)

    if mutated:
        library.impl(name, written, "ADInplaceOrView", with_keyset=True)


_register("quantize", _quantize, _quantize_fake, _vmap_quantize(_default("quantize")), _autograd.quantize)
_register("quantize_", _quantize_in_place, _quantize_in_place_fake, _vmap_by_loop(_default("quantize_")),
          _autograd.no_gradient("quantize_"))
