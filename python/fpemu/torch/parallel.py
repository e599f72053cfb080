# SPDX-License-Identifier: BSD-2-Clause
"""Tensors that lie on several ranks: every element is rounded as on one rank alone.

A random bit is a function of an element's index in the whole tensor, so 1, 2 and 4 ranks give the same bits. This room
has three ways to that:

- A `DTensor`, the parameters of FSDP2's fully_shard among them, needs nothing: `quantize` and `quantize_` take it, with
  any placements. What is partial (a sum not yet formed) is reduced first. Random state must be the same on all ranks.
- Plain tensors that are this rank's part of a batch: `split_batch(model, group)` tells the `Quantizer`s and the
  converted layers of a model.
- Any other part: `quantize(x, ..., whole=sizes, start=first_index)`.

Blocks must not lie on both sides of a cut, else ValueError. Scales of a whole tensor (nvfp4, scaled(...), s2fp8) are
found with a collective call. Counters count what the rank has; `read_stats(...)` of all ranks are to be added.

Importing this module registers the rules for DTensor; `quantize` does so when it meets one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor._utils import compute_local_shape_and_global_offset

from fpemu import Range
from fpemu._packed import _RANGE

from ._autograd import counted
from ._shard import BatchPart, has_tensor_scale
from ._spec import format_of

if TYPE_CHECKING:
    from .modules import Quantized

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


def whole_range(local: Tensor, format: str, sharded: Sequence[Any]) -> Tensor:
    """The range of a tensor whose parts lie on the ranks of the groups, one group after the other."""
    words: Tensor = torch.ops.fpemu.measure.default(local, format)
    for group in sharded:
        parts = [torch.empty_like(words) for _ in range(dist.get_world_size(group))]
        dist.all_gather(parts, words, group=group)
        merged = merge_ranges([Range(part.cpu().numpy().tobytes()) for part in parts])
        words = torch.frombuffer(bytearray(merged._content), dtype=torch.int64).to(local.device)
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
        arguments["range"] = whole_range(local, arguments["format"], groups)
    return op(**arguments)


def _in_one_piece(x: DTensor) -> DTensor:
    """x with partial placements reduced, and without parts that are several pieces of the whole."""
    placements = tuple(p if type(p) in (Shard, Replicate) else Replicate() for p in x.placements)
    return x if placements == tuple(x.placements) else x.redistribute(placements=placements)


def largest_on_ranks(x: Any) -> Tensor:
    """The largest magnitude in a DTensor, infinite where there is a NaN: the same on all of its ranks."""
    local = _in_one_piece(x).to_local()
    top = local.abs().max() if local.numel() else local.new_zeros(())
    top = torch.where(top.isnan(), torch.inf, top)  # which a maximum of ranks might pass over
    for dim in range(x.device_mesh.ndim):
        dist.all_reduce(top, dist.ReduceOp.MAX, group=x.device_mesh.get_group(dim))
    return top


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
    """Tells every `Quantizer` and every converted layer in a module that it is given this rank's part of a batch.

    group: the ranks that have the other parts, all of one size, in the order of ranks; None: all ranks. dim: the
    dimension that is cut, counted from the front; converted layers take 0. Activations and their gradients then take
    the random bits that one rank with the whole batch would give them. Returns the module. Call it after `convert`.

    In converted layers (`fpemu.torch.convert`) these are inputs, results, the gradients that arrive, those of inputs,
    and all operands of attention's products. Weights and biases are taken to be whole on every rank, as they are in a
    forward pass under DistributedDataParallel and fully_shard. The gradient of a weight, of a table of embeddings too,
    is the product of the rank's own part, and its result is rounded as that. Every layer in the module must have the
    batch in dimension 0 of its input: nothing in a shape tells where it does not, as for a Linear whose input is a
    table of positions. For such layers call split_batch on the modules beside them. Batch normalisation in training
    takes the statistics of the rank's part, as without fpemu.

    The bits between roundings are torch's: where its product of fewer rows adds in another order, the parts differ
    as they do without fpemu; with an accumulator in the recipe they do not.

    A scale of a whole activation, as nvfp4 has, is found by a collective call of the group, forward and backward: all
    ranks run the same layers in the same order.

    ValueError, with nothing changed: accumulators with stochastic rounding, or that take scales apart; and where
    activations are rounded stochastically, in blocks or with a scale of the whole, a converted layer with dim other
    than 0, a module whose functions go by a recipe, such as LSTM and experts, or a MultiheadAttention without
    batch_first, whose batch is dimension 1. ValueError in a forward or backward pass of such layers: input without a
    batch, attention whose operands share no batch, and blocks that lie on both sides of a cut (blocks along the batch,
    in the gradient of a weight). With one rank nothing is refused.
    """
    from .modules import Quantized  # noqa: PLC0415
    from .quantizer import Quantizer  # noqa: PLC0415

    rank, ranks = dist.get_rank(group), dist.get_world_size(group)
    if ranks > 1:
        for name, child in module.named_modules():
            if isinstance(child, Quantized):
                try:
                    _check_split(child, dim)
                except ValueError as error:
                    raise ValueError(f"{name or type(child).__name__}: {error}") from error
    for child in module.modules():
        if isinstance(child, Quantizer):
            child.batch_part = (rank, ranks, dim)
        elif isinstance(child, Quantized):
            child._fpemu.split(BatchPart(rank, ranks, group) if ranks > 1 else None)
    return module


def _check_split(layer: Quantized, dim: int) -> None:
    """ValueError where a converted layer cannot take a part of a batch."""
    from .modules import _ByFunctions as ByFunctions  # noqa: PLC0415

    layer._fpemu.check_split()
    if not any(site.plan.placed for site in layer._fpemu.sites.values()):
        return
    if dim != 0:
        raise ValueError(f"a converted layer takes a batch that is cut along dimension 0, not {dim}")
    if isinstance(layer, ByFunctions):
        raise ValueError("where the batch lies in what its functions take is not known: leave it by a rule of None")
    if isinstance(layer, nn.MultiheadAttention) and not layer.batch_first:
        raise ValueError("its batch is dimension 1: make it with batch_first=True")
