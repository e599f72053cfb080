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
from ._autograd import counted
from ._shard import Part, quantize_part
from ._spec import block_of, check_state, format_of, is_stochastic, rounding_of, with_state
from .counters import check_stats, read_stats, write_stats

FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
CODES = {1: torch.uint8, 2: torch.uint16, 4: torch.uint32, 8: torch.uint64}
STE = ("identity", "clipped")

# Each operator is defined twice: as it stands here, and as <name>_counted, which takes a tensor of counters first.
SCHEMAS = {
    "quantize": "(Tensor x, str format, str rounding='rne', Tensor? state=None, int axis=-1, str ste='identity', "
    "str? backward=None, str backward_rounding='rne', Tensor? backward_stats=None, SymInt[]? whole=None, "
    "SymInt[]? start=None, Tensor? range=None) -> Tensor",
    "quantize_": "(Tensor(a!) x, str format, str rounding='rne', Tensor? state=None, int axis=-1, "
    "SymInt[]? whole=None, SymInt[]? start=None, Tensor? range=None) -> ()",
}

library = torch.library.Library("fpemu", "DEF")


# ------------------------------------------------------------------------------------------------------- arguments


def check_float(x: Tensor, name: str = "x") -> None:
    """TypeError for a dtype that is not rounded."""
    if x.dtype not in FLOATS:
        raise TypeError(f"{name} has the dtype {x.dtype}: fpemu takes float64, float32, float16 and bfloat16, and rounds "
                        "none of them first; convert the tensor where that loses nothing")


def _check(x: Tensor, format: str, rounding: str, state: Tensor | None, axis: int = -1) -> None:
    check_float(x)
    format_of(format)
    rounding_of(rounding)
    check_state(state)
    if not -max(x.ndim, 1) <= axis < max(x.ndim, 1):
        raise ValueError(f"there is no axis {axis} in a tensor of {x.ndim} dimensions")


@contextmanager
def _counting(stats: Tensor) -> Iterator[Stats]:
    """The counters of a tensor while they are added to; they are written back though the call fail for a NaN."""
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


def range_of(tensor: Tensor) -> bytes:
    """The bytes of fpemu_range that a tensor of `measure` holds."""
    if tensor.dtype != torch.int64 or tuple(tensor.shape) != (12,):
        raise TypeError("range is a tensor of fpemu.torch.measure: int64, 12 words")
    content: bytes = tensor.detach().cpu().numpy().tobytes()
    return content


def _quantize_into(counts: Stats | None, x: Tensor, y: Tensor, format: str, rounding: str, state: Tensor | None,
                   axis: int, whole: Sequence[int] | None, start: Sequence[int] | None,
                   tensor_range: Tensor | None) -> None:
    part = _part(whole, start)
    r = with_state(rounding, state)
    known = None if tensor_range is None else range_of(tensor_range)
    if part is not None:
        quantize_part(x, y, format_of(format), r, axis, counts, part, known)
    else:
        fpemu.quantize(x, format_of(format), r, axis=axis, out=y, stats=counts, range=known)


def _quantize(counts: Stats | None, x: Tensor, format: str, rounding: str = "rne", state: Tensor | None = None,
              axis: int = -1, ste: str = "identity", backward: str | None = None, backward_rounding: str = "rne",
              backward_stats: Tensor | None = None, whole: Sequence[int] | None = None,
              start: Sequence[int] | None = None, range: Tensor | None = None) -> Tensor:
    _check(x, format, rounding, state, axis)
    x = x.detach()
    y = torch.empty_like(x)
    _quantize_into(counts, x, y, format, rounding, state, axis, whole, start, range)
    return y


def _quantize_fake(x: Tensor, format: str, rounding: str = "rne", state: Tensor | None = None, axis: int = -1,
                   *rest: Any, **keywords: Any) -> Tensor:
    _check(x, format, rounding, state, axis)
    return torch.empty_like(x)


def _quantize_in_place(counts: Stats | None, x: Tensor, format: str, rounding: str = "rne",
                       state: Tensor | None = None, axis: int = -1, whole: Sequence[int] | None = None,
                       start: Sequence[int] | None = None, range: Tensor | None = None) -> None:
    _check(x, format, rounding, state, axis)
    x = x.detach()
    _quantize_into(counts, x, x, format, rounding, state, axis, whole, start, range)


def _quantize_in_place_fake(x: Tensor, format: str, rounding: str = "rne", state: Tensor | None = None, axis: int = -1,
                            *rest: Any, **keywords: Any) -> None:
    _check(x, format, rounding, state, axis)


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


def _single_quantize(in_dims: Sequence[Any], x: Tensor, format: str, rounding: str = "rne",
                     state: Tensor | None = None, axis: int = -1, *rest: Any) -> bool:
    """A format without blocks and without random bits knows of no dimension: one call does for all."""
    backward, backward_rounding = (*rest, *(None,) * 8)[1:3]
    return (
        in_dims[0] is not None
        and all(d is None for d in in_dims[1:])
        and block_of(format_of(format)) is None
        and not is_stochastic(rounding)
        and (backward is None or block_of(format_of(backward)) is None)
        and not (backward_rounding and is_stochastic(backward_rounding))
        and not any(isinstance(r, (list, Tensor)) for r in rest)
    )


# ----------------------------------------------------------------------------------------------------- registration


def _register(name: str, kernel: Callable[..., Any], fake: Callable[..., Any], gradient: Callable[..., Any],
              single: Callable[..., bool] = lambda *args: False) -> None:
    """Defines an operator and its like that counts.

    kernel: takes a Stats or None, then the operator's arguments. fake: shapes and dtypes of the results. gradient: the
    kernel of autograd, which takes a tensor of counters or None, then the arguments; it calls what is below. single:
    whether vmap may pass the whole batch, at its place, in one call whose result is mapped there too.
    """
    schema = SCHEMAS[name]
    tags = (torch.Tag.pt2_compliant_tag, torch.Tag.needs_exact_strides)
    library.define(name + schema, tags=tags)
    library.define(counted(name) + schema.replace("(", "(Tensor(s!) stats, ", 1), tags=tags)

    def plain_kernel(*args: Any) -> Any:
        return kernel(None, *args)

    def counted_kernel(stats: Tensor, *args: Any) -> Any:
        with _counting(stats) as counts:
            return kernel(counts, *args)

    def counted_fake(stats: Tensor, *args: Any, **keywords: Any) -> Any:
        check_stats(stats)
        return fake(*args, **keywords)

    def plain_gradient(keyset: Any, *args: Any) -> Any:
        return gradient(keyset, None, *args)

    for op_name, run, shape, autograd in ((name, plain_kernel, fake, plain_gradient),
                                          (counted(name), counted_kernel, counted_fake, gradient)):
        library.impl(op_name, run, "CPU")
        library.impl(op_name, run, "CUDA")
        library.impl(op_name, autograd, "Autograd", with_keyset=True)
        torch.library.register_fake(f"fpemu::{op_name}", shape, lib=library)
        _register_mapping(op_name, int(op_name != name), single)
        _register_writing(op_name)


def _register_mapping(name: str, first: int, single: Callable[..., bool]) -> None:
    op = getattr(torch.ops.fpemu, name).default

    def rule(info: Any, in_dims: Sequence[Any], *args: Any) -> tuple[Any, Any]:
        if all(d is None for d in in_dims[:first]) and single(in_dims[first:], *args[first:]):
            return op(*args), in_dims[first]
        return _loop(op, info, in_dims, args)

    torch.library.register_vmap(f"fpemu::{name}", rule, lib=library)


def _register_writing(name: str) -> None:
    """Version counters of what an operator writes."""
    op = getattr(torch.ops.fpemu, name).default
    written = [i for i, a in enumerate(op._schema.arguments) if a.alias_info and a.alias_info.is_write]
    if not written:
        return

    def count_versions(keyset: Any, *args: Any) -> Any:
        for i in written:
            torch.autograd.graph.increment_version(args[i])
        return op.redispatch(keyset & torch._C._after_ADInplaceOrView_keyset, *args)

    library.impl(name, count_versions, "ADInplaceOrView", with_keyset=True)


_register("quantize", _quantize, _quantize_fake, _autograd.quantize, _single_quantize)
_register("quantize_", _quantize_in_place, _quantize_in_place_fake, _autograd.no_gradient("quantize_"))
