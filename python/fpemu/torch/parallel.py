# SPDX-License-Identifier: BSD-2-Clause
"""Tensors that lie on several ranks: every element is rounded as on one rank alone.

A random bit is a function of an element's index in the whole tensor, so 1, 2 and 4 ranks give the same bits. This room
has three ways to that:

- A `DTensor`, the parameters of FSDP2's fully_shard among them, needs nothing: `quantize` and `quantize_` take it, with
  any placements. What is partial (a sum not yet formed) is reduced first. Random state must be the same on all ranks.
- Plain tensors that are this rank's part of a batch: `split_batch(model, group)` tells the `Quantizer`s of a model.
- Any other part: `quantize(x, ..., whole=sizes, start=first_index)`.

Blocks must not lie on both sides of a cut, else ValueError. Scales of a whole tensor (nvfp4, scaled(...), s2fp8) are
found with a collective call. Counters count what the rank has; `read_stats(...)` of all ranks are to be added.

Importing this module registers the rules for DTensor; `quantize` does so when it meets one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor._utils import compute_local_shape_and_global_offset


from fpemu import Range
from fpemu._packed import _RANGE

from ._autograd import counted
from ._shard import has_tensor_scale
from ._spec import format_of

__all__ = ["merge_ranges", "split_batch"]


def merge_ranges(ranges: Sequence[Range]) -> Range:
    """What is known of a tensor whose disjoint parts have these ranges."""
    fields = [r._fields for r in ranges]
    count, nonzero, nonfinite = (sum(f[i] for f in fields) for i in range(3))
    amax, largest = (max(f[i] for f in fields) for i in (3, 4))
    smallest = min(f[5] for f in fields)
    log2_max = max((f[6] for f in fields if f[1]), default=0.0)
    logarithms = sum(f[7] + (f[8] << 64) for f in fields)
    return Range(_RANGE.pack(count, nonzero, nonfinite, amax, largest, smallest, log2_max, logarithms % 2**64,
                             logarithms >> 64))


def _whole_range(local: Tensor, format: str, sharded: Sequence[Any]) -> Tensor:
    """The range of a tensor whose parts lie on the ranks of the groups, one group after the other."""
    words: Tensor = torch.ops.fpemu.measure.default(local, format)
    for group in sharded:
        parts = [torch.empty_like(words) for _ in range(dist.get_world_size(group))]
        dist.all_gather(parts, words, group=group)
        merged = merge_ranges([Range(part.numpy().tobytes()) for part in parts])
        words = torch.frombuffer(bytearray(merged._content), dtype=torch.int64)
    return words


def _local_call(op: Any, x: DTensor, arguments: dict[str, Any]) -> Any:
    """Calls an operator on this rank's part of x, which has no partial placements and is one piece."""
    if arguments.get("whole") is not None or arguments.get("start") is not None or arguments.get("range") is not None:
        raise ValueError("whole, start and range of a DTensor follow from its placements")
    mesh, placements = x.device_mesh, x.placements
    local = x._local_tensor
    _, start = compute_local_shape_and_global_offset(x.shape, mesh, placements)
    if local.numel() == 0:
        start = (0,) * x.ndim
    arguments = {**arguments, "x": local, "whole": list(x.shape), "start": list(start)}
    if has_tensor_scale(format_of(arguments["format"])):
        groups = [mesh.get_group(i) for i, p in enumerate(placements) if isinstance(p, Shard)]
        arguments["range"] = _whole_range(local, arguments["format"], groups)
    return op(**arguments)


def _in_one_piece(x: DTensor) -> DTensor:
    """x with partial placements reduced, and without parts that are several pieces of the whole."""
    placements = tuple(p if type(p) in (Shard, Replicate) else Replicate() for p in x.placements)
    return x if placements == tuple(x.placements) else x.redistribute(placements=placements)


def _arguments(op: Any, args: Sequence[Any], kwargs: dict[str, Any] | None) -> dict[str, Any]:
    return {**dict(zip((a.name for a in op._schema.arguments), args)), **(kwargs or {})}


def _quantize(cls: Any, op: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None) -> Any:
    arguments = _arguments(op, args, kwargs)
    given = arguments["x"]
    x = _in_one_piece(given)
    local = _local_call(op, x, arguments)
    y = DTensor.from_local(local, x.device_mesh, x.placements, run_check=False, shape=x.shape, stride=x.stride())
    keep = tuple(Replicate() if isinstance(p, Partial) else p for p in given.placements)
    return y if keep == tuple(y.placements) else y.redistribute(placements=keep)


def _quantize_in_place(cls: Any, op: Any, types: Any, args: Sequence[Any] = (),
                       kwargs: dict[str, Any] | None = None) -> None:
    arguments = _arguments(op, args, kwargs)
    given = arguments["x"]
    if any(isinstance(p, Partial) for p in given.placements):
        raise ValueError("a DTensor with partial placements is not quantised in place: redistribute it first")
    x = _in_one_piece(given)
    _local_call(op, x, arguments)
    if x is not given:
        given._local_tensor.copy_(x.redistribute(placements=given.placements)._local_tensor)


for _name, _rule in (("quantize", _quantize), ("quantize_", _quantize_in_place)):
    for _op in (_name, counted(_name)):
        torch.library.register_torch_dispatch(f"fpemu::{_op}", DTensor, _rule)


def split_batch(module: nn.Module, group: dist.ProcessGroup | None = None, dim: int = 0) -> nn.Module:
    """Tells every `Quantizer` in a module that what it is given is this rank's part of a batch.

    group: the ranks that have the other parts, all of one size, in the order of ranks; None: all ranks. dim: the
    dimension that is cut, counted from the front. Activations and their gradients then take the random bits that one
    rank with the whole batch would give them. Returns the module.
    """
    from .quantizer import Quantizer  # noqa: PLC0415

    part = (dist.get_rank(group), dist.get_world_size(group), dim)
    for child in module.modules():
        if isinstance(child, Quantizer):
            child.batch_part = part
    return module
