# SPDX-License-Identifier: BSD-2-Clause
"""Layers as functions: linear, matmul, conv1d/2d/3d, embedding, layer_norm, batch_norm, attention, with a Recipe.

Each takes what the function of the same name in torch.nn.functional takes, then ``recipe`` (a Recipe, the name of a
ready-made one, or a format), and

state
    int64 tensor [seed, stream, offset] for recipes with stochastic rounding: a call takes the streams stream ..
    stream + 15 (attention: + 31), so calls that are to be independent get streams that far apart. None: zeros.
stats
    a sequence with an int64 counter tensor (``fpemu.torch.new_stats``) or None for each of ``SLOTS``: what the tensors
    of a call counted is added to them.

Operands are rounded from float32, float64, float16 or bfloat16, and stay in that dtype. Gradients pass roundings of
operands straight through; the gradient that arrives is rounded for each product, and each product is the recipe's.
The gradient of a bias is the sum of the gradient as it arrives, in its dtype (TransformerEngine's order). Second
derivatives raise RuntimeError, derivatives forward, torch.vmap and the transforms of torch.func NotImplementedError.
Where autocast is on, operands are cast to its dtype first.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import fpemu

from .._first_order import apply, first_order, link
from . import _device, operators
from ._shard import BatchPart
from ._spec import check_state
from .quantizer import recomputing
from .recipe import Product, Recipe, Target, read_target
from .recipe import recipe as _recipe

__all__ = ["SLOTS", "linear", "matmul", "conv1d", "conv2d", "conv3d", "embedding", "layer_norm", "batch_norm",
           "scaled_dot_product_attention", "Site"]

#: What a layer rounds, in the order of its streams and counters.
SLOTS = ("input", "weight", "bias", "output", "gradient", "weight again", "data gradient", "gradient again",
         "input again", "weight gradient", "sums", "data gradient sums", "weight gradient sums")
(INPUT, WEIGHT, BIAS, OUTPUT, GRADIENT, WEIGHT_AGAIN, DATA_GRADIENT, GRADIENT_AGAIN, INPUT_AGAIN, WEIGHT_GRADIENT, SUMS,
 DATA_SUMS, WEIGHT_SUMS) = range(13)
FORWARD = frozenset((INPUT, WEIGHT, BIAS, OUTPUT, SUMS))
STREAMS = 16  # of a call
STREAM_STEP = 1 << 40  # between the streams of two modules: calls of a module use those between

# Slots of tensors that have the batch in dimension 0. A layer's weights have none, and the gradient of a weight is the
# sum over a rank's own part; of a product of activations every tensor has one.
LAYER_BATCH = frozenset((INPUT, OUTPUT, GRADIENT, DATA_GRADIENT, GRADIENT_AGAIN, INPUT_AGAIN))
PRODUCT_BATCH = frozenset(range(WEIGHT_GRADIENT + 1))

Stats = Sequence[Tensor | fpemu.Stats | None] | None

# What torch computes here is called below the functions that a TorchFunctionMode sees: everywhere rounds those.
aten: Any = torch.ops.aten


@dataclass(frozen=True)
class Plan:
    """A recipe as a layer needs it: the targets of its slots and what one rounding serves."""

    target: tuple[Target | None, ...]  # of SLOTS up to WEIGHT_GRADIENT
    sums: tuple[str | None, str | None, str | None]  # accumulators of the three products
    weight_serves: bool  # the data gradient takes the operand of the forward product
    input_serves: bool  # so does the weight gradient
    gradient_serves: bool  # the weight gradient takes the gradient of the data gradient
    stochastic: bool
    batch: frozenset[int] = LAYER_BATCH  # slots that a cut of the batch cuts

    @property
    def placed(self) -> bool:
        """What becomes of a part of a batch depends on where it lies."""
        return any(t is not None and t.placed for t in (self.target[slot] for slot in self.batch))

    @property
    def idle(self) -> bool:
        """Nothing is rounded, torch multiplies."""
        return self.sums == (None, None, None) and not any(self.target)

    @property
    def scaled(self) -> bool:
        """A product takes elements and scales apart."""
        return any(t is not None and t.chunk for t in self.target)


class Scaled(NamedTuple):
    """An operand of a product as `operators.parts` gives it."""

    elements: Tensor
    scales: Tensor
    tensor: Tensor

    @property
    def mT(self) -> Scaled:
        """Of the transpose: scales belong to what is not summed over."""
        return self._replace(elements=self.elements.mT)


def _serves(first: Target | None, second: Target | None) -> bool:
    if first is None or second is None:
        return first is second
    return replace(first, chunk=second.chunk) == second and not first.along


def _is_random(accumulator: str | None) -> bool:
    return accumulator is not None and fpemu.gemm(accumulator)._random


def _accumulator(product: Product, left: Target | None, right: Target | None) -> str | None:
    """The text of a product; it is told the formats of the operands, which hold already: it is faster then."""
    text = product.accumulator
    if text is None or left is None or right is None or left.blocked or right.blocked:
        return text
    if any(fpemu.gemm(text)._operands):
        return text
    return f"{text}; a={left.format}; b={right.format}"


@functools.cache
def make_plan(recipe: Recipe, activations: bool = False) -> Plan:
    """The plan of a layer; of a product of two *activations* in attention."""

    def read(target: str | None, chunk: int = 0) -> Target | None:
        return None if target is None or target == "forward" else replace(read_target(target), chunk=chunk)

    slots: list[Target | None] = [None] * (WEIGHT_GRADIENT + 1)
    left, right = recipe.operands("forward", activations)
    data_left, data_right = recipe.operands("data_gradient", activations)
    weight_left, weight_right = recipe.operands("weight_gradient", activations)
    of, of_data, of_weight = (recipe.chunks(name, activations) for name in ("forward", "data_gradient",
                                                                            "weight_gradient"))
    slots[INPUT], slots[WEIGHT] = read(left, of[0]), read(right, of[1])
    slots[BIAS] = None if activations else read(recipe.bias)
    slots[OUTPUT] = read(recipe.forward.result)
    slots[GRADIENT] = read(data_left, of_data[0])
    keep_weight, keep_input = data_right == "forward", weight_right == "forward"
    slots[WEIGHT_AGAIN] = read(right if keep_weight else data_right, of_data[1])
    slots[INPUT_AGAIN] = read(left if keep_input else weight_right, of_weight[1])
    slots[GRADIENT_AGAIN] = read(weight_left, of_weight[0])
    slots[DATA_GRADIENT] = read(recipe.data_gradient.result)
    slots[WEIGHT_GRADIENT] = read(recipe.weight_gradient.result)
    sums = (_accumulator(recipe.forward, slots[INPUT], slots[WEIGHT]),
            _accumulator(recipe.data_gradient, slots[GRADIENT], slots[WEIGHT_AGAIN]),
            _accumulator(recipe.weight_gradient, slots[GRADIENT_AGAIN], slots[INPUT_AGAIN]))
    return Plan(tuple(slots), sums, keep_weight or _serves(slots[WEIGHT], slots[WEIGHT_AGAIN]),
                keep_input or _serves(slots[INPUT], slots[INPUT_AGAIN]),
                _serves(slots[GRADIENT], slots[GRADIENT_AGAIN]),
                any(t is not None and t.stochastic for t in slots) or any(_is_random(text) for text in sums),
                PRODUCT_BATCH if activations else LAYER_BATCH)


def check_conv(plan: Plan, transposed: bool = False) -> Plan:
    """The plan, if a convolution can have it; else ValueError."""
    if transposed and any(plan.sums):
        raise ValueError("transposed convolutions have no emulated accumulators")
    if plan.scaled:
        raise ValueError("blocks along channels do not lie along the taps that a convolution sums too: an accumulator "
                         "without operands, such as chunk(32,fp32), takes the numbers as they are")
    return plan


def check_split(plan: Plan) -> None:
    """ValueError where a part of a batch cannot be rounded as the batch is."""
    if plan.scaled:
        raise ValueError("products that take scales apart take whole batches: an accumulator without operands, such as "
                         "chunk(32,fp32), takes the numbers as they are")
    sums = plan.sums if plan.batch is PRODUCT_BATCH else plan.sums[:2]
    for text in sums:
        if _is_random(text):
            raise ValueError(f"the random bits of sums in '{text}' are those of a rank's own product")


def constant_in_graphs(function: Any) -> Any:
    """torch.compiler.assume_constant_result, which would import the compiler."""
    function._dynamo_marked_constant = True
    return function


def make_product_plan(recipe: Recipe) -> Plan:
    """The plan of a product of two activations."""
    return make_plan(recipe, True)


@constant_in_graphs
def _plan(recipe: str | Recipe, make: Callable[[Recipe], Plan] = make_plan) -> Plan:
    return make(_recipe(recipe))


class Site:
    """What one place in a network carries from call to call: its plan, its counters, the scale of its gradient."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.counters: Stats = None  # of SLOTS; observe lends them
        self.tensors: Stats = None  # the same for compiled graphs and devices
        self.part: BatchPart | None = None  # where the batch, dimension 0, is cut
        self.frozen: dict[str, Any] | None = None  # the rounded weight, and of what: `freeze`
        self.scale: Tensor | None = None  # power of two by which the gradient is multiplied while it is rounded
        # Of a loss scaler: counters, and those for compiled graphs, where observe has lent none; whether to measure the
        # gradient that arrives, and what was found, [mean square, largest magnitude].
        self.watch: list[fpemu.Stats | None] | None = None
        self.watch_tensors: list[Tensor | None] | None = None
        self.measure = False
        self.measured: Tensor | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "frozen": None, "counters": None, "tensors": None,
                "scale": None, "watch": None, "watch_tensors": None, "measure": False, "measured": None}

    @property
    def lent(self) -> bool:
        """observe or a loss scaler looks at the place."""
        return any(held is not None for held in (self.counters, self.tensors, self.watch, self.scale))

    def stats_for(self, x: Tensor) -> Stats:
        """Counters that a call on x adds to."""
        if torch.compiler.is_compiling() or not x.is_cpu or _device.PLAYED or (
                self.tensors is not None and torch._C._is_tracing()):
            lent = self.tensors if self.tensors is not None else self.watch_tensors
        else:
            lent = self.counters if self.counters is not None else self.watch
        if lent is None or torch.compiler.is_compiling() or not recomputing():
            return lent
        return [None if slot in FORWARD else stats for slot, stats in enumerate(lent)]  # which have counted this


def _states(plan: Plan, state: Tensor | None, device: torch.device, rows: int = STREAMS) -> Tensor | None:
    """A state for each slot, in rows."""
    if not plan.stochastic:
        return None
    if state is None:
        state = torch.zeros(2, dtype=torch.int64, device=device)
    check_state(state)
    table = state.repeat(rows, 1)
    table[:, 1] += torch.arange(rows, device=state.device)
    return table


def _round(x: Tensor, site: Site, slot: int, axis: int, states: Tensor | None, stats: Stats,
           along: int | None = None, again: int | None = None) -> Any:
    """x as a slot rounds it, with blocks along `axis`. For a product that takes scales apart a Scaled, whose scales lie
    along another dimension where that is told. again: the slot that says whether this is so, if it is another."""
    target = site.plan.target[slot if again is None else again]
    if target is None:
        return x
    along = axis if along is None else along
    state = states[slot] if target.stochastic and states is not None else None
    counts = None if stats is None else stats[slot]
    if type(x) is not Tensor and isinstance(x, nn.Parameter):  # which is asked in Python
        if site.frozen is not None and slot == WEIGHT and not (target.stochastic or counts is not None or
                                                               torch.compiler.is_compiling() or x.is_inference()):
            return _kept(x, site.frozen, target, axis, along)
        x = x.detach()
    if site.part is None or slot not in site.plan.batch or not target.placed:
        return _rounded(x, target, axis, along, state, counts)
    part = site.part
    size, *others = x.shape
    range = None
    if target.measured:
        from .parallel import whole_range  # noqa: PLC0415 - which loads torch.distributed

        range = whole_range(x, target.format, [part.group])
    return operators.quantize(x, target.format, target.rounding, axis=axis, state=state, stats=counts, range=range,
                              whole=(part.ranks * size, *others), start=(part.rank * size, *(0 for _ in others)))


def _rounded(x: Tensor, target: Target, axis: int, along: int, state: Tensor | None = None, stats: Any = None) -> Any:
    if not target.chunk:
        return operators.quantize(x, target.format, target.rounding, axis=axis, state=state, stats=stats)
    return Scaled(*operators.parts(x, target.format, along, target.chunk, target.rounding, axis=axis, state=state,
                                   stats=stats))


def _kept(weight: nn.Parameter, frozen: dict[str, Any], target: Target, axis: int, along: int) -> Any:
    """The rounded weight that a frozen layer keeps; made anew where the weight is another, or was written to."""
    of = (axis, along, target, weight._version, weight.data_ptr(), weight.dtype, weight.shape, weight.stride())
    if frozen.get("weight") is not weight or frozen["of"] != of:
        content = weight.detach()
        rounded = _rounded(content, target, axis, along)
        frozen.update(weight=weight, of=of, rounded=rounded, content=content)  # whose memory is not used anew meanwhile
    return frozen["rounded"]


def _round_again(x: Tensor, site: Site, first: int, again: int, axis: int, along: int, serves: bool,
                 states: Tensor | None, stats: Stats) -> Any:
    """An operand of a product of the backward pass. serves: as the forward product took it, which is rounded once more,
    with the same bits and uncounted, for to keep it takes more memory than to keep x, which others keep too."""
    return (_round(x, site, first, axis, states, None, along, again) if serves else
            _round(x, site, again, along, states, stats))


def _needed(x: Tensor, is_needed: bool) -> Tensor:
    """What is kept of an operand: nothing but its shape where no gradient asks for it."""
    return x if is_needed else x.new_empty(1).expand(x.shape)


def _check_batched(site: Site, batched: bool) -> None:
    if site.part is not None and not batched:
        raise ValueError("a layer whose batch is cut between ranks takes the batch in dimension 0, not one sample, or "
                         "operands without it")


def _round_gradient(g: Tensor, site: Site, slot: int, axis: int, states: Tensor | None, stats: Stats,
                    scale: Tensor | None, along: int | None = None, again: int | None = None) -> Any:
    plan = site.plan
    if site.measure and site.measured is None and g.numel():
        numbers = g.detach().float()
        site.measured = torch.stack((numbers.square().mean(), numbers.abs().max()))
    if scale is None or plan.target[slot] is None:
        return _round(g, site, slot, axis, states, stats, along, again)
    q = _round(g * scale, site, slot, axis, states, stats, along, again)
    return q._replace(tensor=q.tensor / scale) if isinstance(q, Scaled) else q / scale


def _gradient_again(gq: Any, g: Tensor, site: Site, axis: int, states: Tensor | None, stats: Stats,
                    scale: Tensor | None) -> Any:
    """The gradient for the product along `axis`; gq: that of the other one, along the last, or None."""
    first, again = (site.plan.target[slot] for slot in (GRADIENT, GRADIENT_AGAIN))
    if gq is None or not site.plan.gradient_serves:
        return _round_gradient(g, site, GRADIENT_AGAIN, axis, states, stats, scale)
    if first is None or again is None or not (first.chunk or again.chunk):
        return gq
    return _round_gradient(g, site, GRADIENT, -1, states, None, scale, axis, GRADIENT_AGAIN)


def _product(a: Any, b: Any, spec: str | None, states: Tensor | None, stats: Stats, slot: int) -> Tensor:
    if spec is None:
        return aten.matmul.default(a, b)
    (a, scales_a, *whole), (b, scales_b, *other) = (x if isinstance(x, Scaled) else (x, None) for x in (a, b))
    alpha = None if not whole + other else math.prod(whole + other)
    return operators.matmul(a, b, spec, state=None if states is None else states[slot],
                            stats=None if stats is None else stats[slot], scales_a=scales_a, scales_b=scales_b,
                            alpha=alpha)


def _autocast(*tensors: Tensor | None) -> tuple[Any, ...]:
    first = tensors[0]
    assert first is not None
    kind = first.device.type
    if first.is_meta or not torch.is_autocast_enabled(kind):  # which knows no meta
        return tensors
    dtype = torch.get_autocast_dtype(kind)
    return tuple(t.to(dtype) if t is not None and t.is_floating_point() and t.dtype != torch.float64 else t
                 for t in tensors)


# ------------------------------------------------------------------------------------------------ one tensor
class _Pass(torch.autograd.Function):
    """Rounds a tensor on its way forward by one slot (or -1: not), its gradient on the way back by another."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, site: Site, forward: int, backward: int, axis: int, states: Tensor | None,
                stats: Stats, scale: Tensor | None) -> Tensor:
        plan = site.plan
        ctx.rest = site, backward, axis, stats
        ctx.save_for_backward(states, scale)
        if forward < 0 or plan.target[forward] is None:
            if torch.compiler.is_dynamo_compiling():
                return x.view_as(x)
            ctx.mark_dirty(x)  # a result of torch's, which as a view could not be changed in place
            return x
        return _round(x, site, forward, axis, states, stats)

    @staticmethod
    @first_order
    def backward(ctx: Any, g: Tensor, states: Tensor | None, scale: Tensor | None) -> Any:
        site, backward, axis, stats = ctx.rest
        if backward >= 0:
            g = _round_gradient(g, site, backward, axis, states, stats, scale)
        return g, None, None, None, None, None, None, None


def _pass(x: Tensor, site: Site, forward: int, backward: int, axis: int, states: Tensor | None) -> Tensor:
    plan = site.plan
    there = forward >= 0 and plan.target[forward] is not None
    back = backward >= 0 and plan.target[backward] is not None and x.requires_grad
    if not there and not back:
        return x
    stats = site.stats_for(x)
    if not x.requires_grad or not torch.is_grad_enabled():
        return _round(x, site, forward, axis, states, stats) if there else x
    return apply(_Pass, x, site, forward, backward, axis, states, stats, site.scale if back else None)


# ------------------------------------------------------------------------------------------------ linear, matmul
def _rows(x: Any) -> Any:
    """A matrix of all leading dimensions taken together, which may have no columns."""
    return x if isinstance(x, Scaled) or x.dim() == 2 else x.reshape(x.shape[:-1].numel(), x.shape[-1])


class _Linear(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, bias: Tensor | None, site: Site, states: Tensor | None,
                stats: Stats, scale: Tensor | None) -> tuple[Tensor, Tensor]:
        plan = site.plan
        xq = _round(_rows(x) if plan.scaled else x, site, INPUT, -1, states, stats)
        wq = _round(w, site, WEIGHT, -1, states, stats)
        bq = None if bias is None else _round(bias, site, BIAS, -1, states, stats)
        ctx.rest = site, stats, bias is not None
        ends = link(ctx, x, _needed(x, ctx.needs_input_grad[1]), w, states, scale)
        if plan.sums[0] is None and plan.target[OUTPUT] is None:
            y = aten.linear.default(xq, wq, bq)
            return (y.reshape(*x.shape[:-1], w.shape[0]) if plan.scaled else y), ends
        rows = _rows(xq) if plan.sums[0] else xq
        y = _product(rows, wq.mT, plan.sums[0], states, stats, SUMS).reshape(*x.shape[:-1], w.shape[0])
        y = _round(y, site, OUTPUT, -1, states, stats)
        return (y if bq is None else y + bq), ends

    @staticmethod
    @first_order
    def backward(ctx: Any, g: Tensor, x: Tensor, w: Tensor, states: Tensor | None,
                 scale: Tensor | None, _: Tensor) -> Any:
        site, stats, biased = ctx.rest
        plan = site.plan
        need_x, need_w, need_b = ctx.needs_input_grad[:3]
        g = _rows(g)
        dx = dw = gq = None
        if need_x or (need_w and plan.gradient_serves):
            gq = _round_gradient(g, site, GRADIENT, -1, states, stats, scale)
        if need_x and gq is not None:
            wq = _round_again(w, site, WEIGHT, WEIGHT_AGAIN, -1, 0, plan.weight_serves, states, stats)
            dx = _product(gq, wq, plan.sums[1], states, stats, DATA_SUMS).reshape(x.shape)
            dx = _round(dx, site, DATA_GRADIENT, -1, states, stats)
        if need_w:
            rows = (_rows(_round(_rows(x) if plan.scaled else x, site, INPUT, -1, states, None, 0, INPUT_AGAIN))
                    if plan.input_serves else _round(_rows(x), site, INPUT_AGAIN, 0, states, stats))
            gq = _gradient_again(gq, g, site, 0, states, stats, scale)
            dw = _product(gq.mT, rows, plan.sums[2], states, stats, WEIGHT_SUMS)
            dw = _round(dw, site, WEIGHT_GRADIENT, -1, states, stats)
        return dx, dw, g.sum(0) if biased and need_b else None, None, None, None, None


def _linear(x: Tensor, w: Tensor, bias: Tensor | None, site: Site, states: Tensor | None) -> Tensor:
    x, w, bias = _autocast(x, w, bias)
    if site.plan.idle:
        return aten.linear.default(x, w, bias)
    _check_batched(site, x.dim() > 1)
    result = apply(_Linear, x, w, bias, site, states, site.stats_for(x), site.scale)
    return result


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None, *, recipe: str | Recipe,
           state: Tensor | None = None, stats: Stats = None) -> Tensor:
    """y = x W^T + b. x (..., K), weight (M, K), bias (M) or None; the result is (..., M).

    Blocks lie along K forward, along M for the gradient of x, and along the rows of x, all of its leading dimensions
    taken together, for that of the weight (microxcaling does the same).
    """
    site = _site(recipe, stats)
    return _linear(x, weight, bias, site, _states(site.plan, state, x.device))


def _site(recipe: str | Recipe, stats: Stats, make: Callable[[Recipe], Plan] = make_plan) -> Site:
    site = Site(_plan(recipe, make))
    site.counters = site.tensors = stats
    return site


def _sum_to(g: Tensor, shape: Sequence[int]) -> Tensor:
    return g if g.shape == torch.Size(shape) else g.sum_to_size(list(shape))


class _Matmul(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, a: Tensor, b: Tensor, site: Site, states: Tensor | None, stats: Stats,
                scale: Tensor | None) -> tuple[Tensor, Tensor]:
        plan = site.plan
        aq = _round(a, site, INPUT, -1, states, stats)
        bq = _round(b, site, WEIGHT, -2, states, stats)
        ctx.rest = site, stats
        ends = link(ctx, a, _needed(a, ctx.needs_input_grad[1]), _needed(b, ctx.needs_input_grad[0]), states, scale)
        y = _product(aq, bq, plan.sums[0], states, stats, SUMS)
        return _round(y, site, OUTPUT, -1, states, stats), ends

    @staticmethod
    @first_order
    def backward(ctx: Any, g: Tensor, a: Tensor, b: Tensor, states: Tensor | None,
                 scale: Tensor | None, _: Tensor) -> Any:
        site, stats = ctx.rest
        plan = site.plan
        da = db = gq = None
        if ctx.needs_input_grad[0] or plan.gradient_serves:
            gq = _round_gradient(g, site, GRADIENT, -1, states, stats, scale)
        if ctx.needs_input_grad[0] and gq is not None:
            bq = _round_again(b, site, WEIGHT, WEIGHT_AGAIN, -2, -1, plan.weight_serves, states, stats)
            da = _sum_to(_product(gq, bq.mT, plan.sums[1], states, stats, DATA_SUMS), a.shape)
            da = _round(da, site, DATA_GRADIENT, -1, states, stats)
        if ctx.needs_input_grad[1]:
            aq = _round_again(a, site, INPUT, INPUT_AGAIN, -1, -2, plan.input_serves, states, stats)
            gq = _gradient_again(gq, g, site, -2, states, stats, scale)
            db = _sum_to(_product(gq.mT, aq, plan.sums[2], states, stats, WEIGHT_SUMS).mT, b.shape)
            db = _round(db, site, WEIGHT_GRADIENT, -1, states, stats)
        return da, db, None, None, None, None


def _matmul(a: Tensor, b: Tensor, site: Site, states: Tensor | None) -> Tensor:
    a, b = _autocast(a, b)
    if site.plan.idle:
        return aten.matmul.default(a, b)
    result = apply(_Matmul, a, b, site, states, site.stats_for(a), site.scale)
    return result


def matmul(a: Tensor, b: Tensor, *, recipe: str | Recipe, state: Tensor | None = None, stats: Stats = None) -> Tensor:
    """a b, both activations: each is rounded to the recipe's input unless its product names other operands.

    a (..., M, K), b (..., K, N), leading dimensions broadcast; the result is (..., M, N). Blocks lie along K forward,
    along N for the gradient of a, along M for that of b. ValueError for vectors.
    """
    if a.dim() < 2 or b.dim() < 2:
        raise ValueError(f"matmul takes matrices or batches of them, not {a.dim()} and {b.dim()} dimensions")
    site = _site(recipe, stats, make_product_plan)
    return _matmul(a, b, site, _states(site.plan, state, a.device))


# ------------------------------------------------------------------------------------------------ convolutions
@dataclass(frozen=True)
class Geometry:
    """Numbers of a convolution, one for each of its d spatial dimensions."""

    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int
    transposed: bool = False
    output_padding: tuple[int, ...] = ()


def _columns(x: Tensor, kernel: Sequence[int], at: Geometry, padding: Sequence[tuple[int, int]]) -> Tensor:
    """The windows of x (N, C, spatial...) as (N, groups, C / groups * taps, places), channels slowest."""
    pads = [p for pair in reversed(list(padding)) for p in pair]
    x = F.pad(x, pads)
    d = len(kernel)
    for i, size in enumerate(kernel):
        span = at.dilation[i] * (size - 1) + 1
        x = x.unfold(2 + i, span, at.stride[i])[..., ::at.dilation[i]]
    n, c = x.shape[:2]
    places = x.shape[2:2 + d]
    order = [0, 1] + list(range(2 + d, 2 + 2 * d)) + list(range(2, 2 + d))
    taps = math.prod(kernel)
    return x.permute(order).reshape(n, at.groups, c // at.groups * taps, math.prod(places))


def _spread(g: Tensor, stride: Sequence[int]) -> Tensor:
    """g (N, M, spatial...) with stride - 1 zeros between neighbours."""
    if all(s == 1 for s in stride):
        return g
    sizes = [(n - 1) * s + 1 for n, s in zip(g.shape[2:], stride)]
    out = g.new_zeros(*g.shape[:2], *sizes)
    out[(slice(None), slice(None)) + tuple(slice(None, None, s) for s in stride)] = g
    return out


def _convolve(x: Tensor, w: Tensor, bias: Tensor | None, at: Geometry) -> Tensor:
    return aten.convolution.default(x, w, bias, at.stride, at.padding, at.dilation, at.transposed,
                                    at.output_padding or (0,) * len(at.stride), at.groups)


def _emulated_forward(x: Tensor, w: Tensor, at: Geometry, spec: str, states: Tensor | None, stats: Stats) -> Tensor:
    kernel = w.shape[2:]
    columns = _columns(x, kernel, at, [(p, p) for p in at.padding])
    matrix = w.reshape(at.groups, w.shape[0] // at.groups, -1)
    places = [(n + 2 * p - d * (k - 1) - 1) // s + 1
              for n, p, d, k, s in zip(x.shape[2:], at.padding, at.dilation, kernel, at.stride)]
    y = _product(columns.mT, matrix.mT.expand(x.shape[0], *matrix.mT.shape), spec, states, stats, SUMS).mT
    return y.reshape(x.shape[0], w.shape[0], *places)


def _emulated_data_gradient(g: Tensor, w: Tensor, sizes: Sequence[int], at: Geometry, spec: str,
                            states: Tensor | None, stats: Stats) -> Tensor:
    """The convolution of the spread gradient with the kernel turned round: sums over outputs and taps."""
    kernel, m = w.shape[2:], w.shape[0] // at.groups
    g = _spread(g, at.stride)
    pads = []
    for i, size in enumerate(kernel):
        low = at.dilation[i] * (size - 1) - at.padding[i]
        pads.append((low, sizes[i] - (g.shape[2 + i] + low - at.dilation[i] * (size - 1))))
    once = Geometry((1,) * len(kernel), (0,) * len(kernel), at.dilation, at.groups)
    columns = _columns(g, kernel, once, pads)
    turned = w.flip(list(range(2, w.dim()))).reshape(at.groups, m, w.shape[1], -1).transpose(1, 2)
    matrix = turned.reshape(at.groups, w.shape[1], -1)
    dx = _product(columns.mT, matrix.mT.expand(g.shape[0], *matrix.mT.shape), spec, states, stats, DATA_SUMS).mT
    return dx.reshape(g.shape[0], -1, *sizes)


def _emulated_weight_gradient(g: Tensor, x: Tensor, w: Tensor, at: Geometry, spec: str, states: Tensor | None,
                      stats: Stats) -> Tensor:
    """Sums over the samples, and within each over its places."""
    columns = _columns(x, w.shape[2:], at, [(p, p) for p in at.padding])  # (N, groups, CK, L)
    left = g.reshape(g.shape[0], at.groups, g.shape[1] // at.groups, -1).permute(1, 2, 0, 3).flatten(2)
    right = columns.permute(1, 0, 3, 2).flatten(1, 2)
    return _product(left, right, spec, states, stats, WEIGHT_SUMS).reshape(w.shape)


class _Conv(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, w: Tensor, bias: Tensor | None, site: Site, at: Geometry,
                states: Tensor | None, stats: Stats, scale: Tensor | None) -> tuple[Tensor, Tensor]:
        plan = site.plan
        xq = _round(x, site, INPUT, 1, states, stats)
        wq = _round(w, site, WEIGHT, 0 if at.transposed else 1, states, stats)
        bq = None if bias is None else _round(bias, site, BIAS, -1, states, stats)
        ctx.rest = site, stats, bias is not None, at
        ends = link(ctx, x, x, w, states, scale)
        if plan.sums[0] is None and plan.target[OUTPUT] is None:
            return _convolve(xq, wq, bq, at), ends
        if plan.sums[0] is None:
            y = _convolve(xq, wq, None, at)
        else:
            y = _emulated_forward(xq, wq, at, plan.sums[0], states, stats)
        y = _round(y, site, OUTPUT, 1, states, stats)
        return (y if bq is None else y + bq.reshape(-1, *(1,) * (y.dim() - 2))), ends

    @staticmethod
    @first_order
    def backward(ctx: Any, g: Tensor, x: Tensor, w: Tensor, states: Tensor | None,
                 scale: Tensor | None, _: Tensor) -> Any:
        site, stats, biased, at = ctx.rest
        plan = site.plan
        need_x, need_w, need_b = ctx.needs_input_grad[:3]

        def native(g: Tensor, x: Tensor, w: Tensor, mask: list[bool]) -> tuple[Tensor, Tensor, Tensor]:
            biases = [g.shape[1]] if mask[2] else None
            dx, dw, db = aten.convolution_backward.default(
                g, x, w, biases, at.stride, at.padding, at.dilation, at.transposed,
                at.output_padding or (0,) * len(at.stride), at.groups, mask)
            return dx, dw, db

        dx = dw = db = gq = wq = None
        rounded = plan.target[GRADIENT]
        whole = biased and need_b and (rounded is None or rounded.format == "fp32")  # torch's order, where that holds
        if need_x or (need_w and plan.gradient_serves):
            gq = _round_gradient(g, site, GRADIENT, 1, states, stats, scale)
        if need_x:
            wq = _round_again(w, site, WEIGHT, WEIGHT_AGAIN, 0 if at.transposed else 1, 1 if at.transposed else 0,
                              plan.weight_serves, states, stats)
        xq = _round_again(x, site, INPUT, INPUT_AGAIN, 1, 0, plan.input_serves, states, stats) if need_w else x
        together = (need_x and need_w and plan.gradient_serves and plan.input_serves and plan.sums[1:] == (None, None))
        if together:
            dx, dw, db = native(gq, xq, wq, [True, True, whole])  # type: ignore[arg-type]
        elif need_x:
            assert gq is not None and wq is not None
            dx = (native(gq, x, wq, [True, False, False])[0] if plan.sums[1] is None else
                  _emulated_data_gradient(gq, wq, x.shape[2:], at, plan.sums[1], states, stats))
        if need_w and not together:
            if gq is None or not plan.gradient_serves:
                gq = _round_gradient(g, site, GRADIENT_AGAIN, 0, states, stats, scale)
            if plan.sums[2] is None:
                _, dw, db = native(gq, xq, w, [False, True, whole])
            else:
                dw = _emulated_weight_gradient(gq, xq, w, at, plan.sums[2], states, stats)
        if dx is not None:
            dx = _round(dx, site, DATA_GRADIENT, 1, states, stats)
        if dw is not None:
            dw = _round(dw, site, WEIGHT_GRADIENT, 1, states, stats)
        if biased and need_b and (db is None or not whole):
            db = g.sum([0] + list(range(2, g.dim())))
        return dx, dw, db, None, None, None, None, None


def _conv(x: Tensor, w: Tensor, bias: Tensor | None, at: Geometry, site: Site, states: Tensor | None) -> Tensor:
    x, w, bias = _autocast(x, w, bias)
    if site.plan.idle:
        return _convolve(x, w, bias, at)
    check_conv(site.plan)
    single = x.dim() == w.dim() - 1
    _check_batched(site, not single)
    if single:
        x = x.unsqueeze(0)
    y: Tensor = apply(_Conv, x, w, bias, site, at, states, site.stats_for(x), site.scale)
    return y.squeeze(0) if single else y


Numbers = int | Sequence[int]


def _each(value: Numbers, d: int, what: str) -> tuple[int, ...]:
    if isinstance(value, int):
        return (value,) * d
    if len(value) == 1:
        return tuple(value) * d
    if len(value) != d:
        raise ValueError(f"{what} has {len(value)} numbers for {d} dimensions")
    return tuple(value)


def _conv_front(d: int, x: Tensor, weight: Tensor, bias: Tensor | None, stride: Numbers, padding: str | Numbers,
                dilation: Numbers, groups: int, recipe: str | Recipe, state: Tensor | None, stats: Stats) -> Tensor:
    if weight.dim() != d + 2:
        raise ValueError(f"conv{d}d takes a weight of {d + 2} dimensions, not {weight.dim()}")
    x, at = geometry(x, weight, stride, padding, dilation, groups)
    site = _site(recipe, stats)
    return _conv(x, weight, bias, at, site, _states(site.plan, state, x.device))


def geometry(x: Tensor, weight: Tensor, stride: Numbers, padding: str | Numbers, dilation: Numbers,
             groups: int) -> tuple[Tensor, Geometry]:
    """The numbers of a convolution; padding "same" that differs at the two ends is added to x."""
    d = weight.dim() - 2
    strides, dilations = _each(stride, d, "stride"), _each(dilation, d, "dilation")
    if not isinstance(padding, str):
        return x, Geometry(strides, _each(padding, d, "padding"), dilations, groups)
    if padding == "valid":
        return x, Geometry(strides, (0,) * d, dilations, groups)
    if padding != "same" or any(s != 1 for s in strides):
        raise ValueError(f"padding is numbers, 'valid' or, with stride 1, 'same'; not '{padding}'")
    whole = [n * (k - 1) for n, k in zip(dilations, weight.shape[2:])]
    if any(n % 2 for n in whole):
        x = F.pad(x, [p for n in reversed(whole) for p in (0, n % 2)])
    return x, Geometry(strides, tuple(n // 2 for n in whole), dilations, groups)


def conv1d(x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Numbers = 1,
           padding: str | Numbers = 0, dilation: Numbers = 1, groups: int = 1, *, recipe: str | Recipe,
           state: Tensor | None = None, stats: Stats = None) -> Tensor:
    """x (N, C, L) or (C, L), weight (M, C / groups, k); the result is (N, M, L').

    Blocks lie along channels: C forward, M for the gradient of x; along the batch N for that of the weight, as in
    microxcaling. With an accumulator, sums go over channels and, within each, over taps; for the gradient of x over the
    gradient spread with zeros by the stride; for that of the weight over samples and, within each, over places.
    """
    return _conv_front(1, x, weight, bias, stride, padding, dilation, groups, recipe, state, stats)


def conv2d(x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Numbers = 1,
           padding: str | Numbers = 0, dilation: Numbers = 1, groups: int = 1, *, recipe: str | Recipe,
           state: Tensor | None = None, stats: Stats = None) -> Tensor:
    """x (N, C, H, W) or (C, H, W), weight (M, C / groups, kh, kw); otherwise as conv1d."""
    return _conv_front(2, x, weight, bias, stride, padding, dilation, groups, recipe, state, stats)


def conv3d(x: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Numbers = 1,
           padding: str | Numbers = 0, dilation: Numbers = 1, groups: int = 1, *, recipe: str | Recipe,
           state: Tensor | None = None, stats: Stats = None) -> Tensor:
    """x (N, C, D, H, W) or (C, D, H, W), weight (M, C / groups, kd, kh, kw); otherwise as conv1d."""
    return _conv_front(3, x, weight, bias, stride, padding, dilation, groups, recipe, state, stats)


# ------------------------------------------------------------------------------------------------ the rest
@functools.cache
def make_norm_plan(recipe: Recipe) -> Plan:
    """Of a normalisation: input, scale (WEIGHT), shift (BIAS), gradient; nothing without the recipe's norm."""
    return _single_plan(recipe, recipe.norm, (INPUT, WEIGHT, BIAS))


@functools.cache
def make_embedding_plan(recipe: Recipe) -> Plan:
    """Of an embedding: its table and the gradient; nothing without the recipe's embedding."""
    return _single_plan(recipe, recipe.embedding, (WEIGHT,))


@functools.cache
def make_softmax_plan(recipe: Recipe) -> Plan:
    """Of a softmax: what it gives."""
    return _single_plan(recipe.replace(gradient=None), recipe.softmax, (OUTPUT,))


def _single_plan(recipe: Recipe, target: str | None, places: Sequence[int]) -> Plan:
    slots: list[Target | None] = [None] * (WEIGHT_GRADIENT + 1)
    if target is not None:
        for slot in places:
            slots[slot] = read_target(target)
        slots[GRADIENT] = None if recipe.gradient is None else read_target(recipe.gradient)
    return Plan(tuple(slots), (None, None, None), True, True, True, any(t is not None and t.stochastic for t in slots))


def _embedding(indices: Tensor, weight: Tensor, site: Site, states: Tensor | None, **how: Any) -> Tensor:
    target = site.plan.target[WEIGHT]
    first = target is not None and (target.whole or target.stochastic)  # else a row is rounded alike wherever it lies
    if first:
        weight = _pass(weight, site, WEIGHT, -1, -1, states)
    with torch._C.DisableTorchFunction():
        y = F.embedding(indices, weight, **how)
    return _pass(y, site, -1 if first else WEIGHT, GRADIENT, -1, states)


def embedding(indices: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
              norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, *,
              recipe: str | Recipe, state: Tensor | None = None, stats: Stats = None) -> Tensor:
    """Rows of weight (V, D) rounded to the recipe's embedding; the gradient that arrives to its gradient.

    Only rows that are used are rounded and counted, where that gives the same bits; the whole table where its format
    has a scale for all of it, or rounds stochastically. Blocks lie along D.
    """
    site = _site(recipe, stats, make_embedding_plan)
    return _embedding(indices, weight, site, _states(site.plan, state, weight.device), padding_idx=padding_idx,
                      max_norm=max_norm, norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


def _norm_operands(x: Tensor, weight: Tensor | None, bias: Tensor | None, site: Site, states: Tensor | None,
                   axis: int) -> tuple[Tensor, Tensor | None, Tensor | None]:
    return (_pass(x, site, INPUT, -1, axis, states),
            None if weight is None else _pass(weight, site, WEIGHT, -1, -1, states),
            None if bias is None else _pass(bias, site, BIAS, -1, -1, states))


def layer_norm(x: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None,
               eps: float = 1e-5, *, recipe: str | Recipe, state: Tensor | None = None, stats: Stats = None) -> Tensor:
    """x (..., normalized_shape), weight and bias are rounded to the recipe's norm, the gradient that arrives to its
    gradient; torch normalises. Blocks lie along the last dimension."""
    site = _site(recipe, stats, make_norm_plan)
    states = _states(site.plan, state, x.device)
    xq, wq, bq = _norm_operands(x, weight, bias, site, states, -1)
    y = aten.layer_norm.default(xq, normalized_shape, wq, bq, eps)
    return _pass(y, site, -1, GRADIENT, -1, states)


def batch_norm(x: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
               bias: Tensor | None = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-5, *,
               recipe: str | Recipe, state: Tensor | None = None, stats: Stats = None) -> Tensor:
    """x (N, C, ...), weight and bias (C) are rounded to the recipe's norm, the gradient that arrives to its gradient;
    running statistics are those of the rounded x, in float32. Blocks lie along C."""
    site = _site(recipe, stats, make_norm_plan)
    states = _states(site.plan, state, x.device)
    xq, wq, bq = _norm_operands(x, weight, bias, site, states, 1)
    with torch._C.DisableTorchFunction():
        y = F.batch_norm(xq, running_mean, running_var, wq, bq, training, momentum, eps)
    return _pass(y, site, -1, GRADIENT, 1, states)


def _attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout: float, is_causal: bool,
               scale: float | None, scores: Site, softmax: Site, context: Site,
               states: Tensor | None, safe: bool = True, grouped: bool = False) -> tuple[Tensor, Tensor]:
    """The result and the probabilities, after dropout. safe: a query that sees no key has probabilities of zero.
    grouped: k and v may have fewer heads."""
    if is_causal and mask is not None:
        raise ValueError("attention takes a mask or is causal, not both")
    if grouped:
        k, v = (_repeat_heads(t, q) for t in (k, v))
    batched = q.dim() > 2 and q.dim() == k.dim() == v.dim() and q.shape[0] == k.shape[0] == v.shape[0]
    for site in (scores, softmax, context):
        _check_batched(site, batched)
    scale = 1 / math.sqrt(max(q.shape[-1], 1)) if scale is None else scale  # of no numbers the scores are 0
    first = None if states is None else states[:STREAMS]
    second = None if states is None else states[STREAMS:]
    s = _matmul(q, k.mT, scores, first) * scale
    if is_causal:
        seen = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool, device=q.device).tril()
        s = s.masked_fill(~seen, -math.inf)
    if mask is not None:
        s = s.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else s + mask
    blind = (s == -math.inf).all(-1, keepdim=True) if safe else None
    p = aten.softmax.int(s if blind is None else s.masked_fill(blind, 0), -1)
    p = p if blind is None else p.masked_fill(blind, 0)
    # its slot is OUTPUT, which a product of activations leaves to its own result: a stream of the second sixteen
    p = _pass(p, softmax, OUTPUT, -1, -1, None if second is None else _far(second))
    if dropout > 0:
        p = F.dropout(p, dropout)
    return _matmul(p, v, context, second), p


def _repeat_heads(x: Tensor, q: Tensor) -> Tensor:
    """The heads of keys or values, each as often as it takes to have one for each head of the queries."""
    if min(x.dim(), q.dim()) < 3:
        raise ValueError("enable_gqa takes q, k and v with heads: three dimensions or more")
    heads, wanted = x.shape[-3], q.shape[-3]
    if heads == wanted:
        return x
    if heads == 0 or wanted % heads:
        raise ValueError(f"{heads} heads of keys or values do not divide {wanted} heads of queries")
    return x.repeat_interleave(wanted // heads, -3)


def _far(states: Tensor) -> Tensor:
    """Moves a slot past the slots of a product, within its sixteen streams."""
    return states + (STREAMS - 1 - OUTPUT) * (torch.arange(states.shape[1], device=states.device) == 1)


def scaled_dot_product_attention(q: Tensor, k: Tensor, v: Tensor, attn_mask: Tensor | None = None,
                                 dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
                                 enable_gqa: bool = False, *, recipe: str | Recipe, state: Tensor | None = None,
                                 stats: tuple[Stats, Stats, Stats] | None = None) -> Tensor:
    """softmax(q k^T * scale + mask) v, both products and their gradients by the recipe, as matmul has it.

    q (..., L, D), k (..., S, D), v (..., S, E); mask boolean (True takes part) or added; scale 1 / sqrt(D) if None. The
    result is (..., L, E), zero for a query that sees no key, as torch has it. The probabilities are rounded to the
    recipe's softmax, and then as an operand of the second product. enable_gqa: k and v, of fewer heads, are repeated
    first; their gradients are sums, by torch, of the heads' rounded products. stats: those of the scores, of the
    softmax, of the second product.
    """
    first, middle, last = (None, None, None) if stats is None else stats
    scores, context = (_site(recipe, own, make_product_plan) for own in (first, last))
    softmax = _site(recipe, middle, make_softmax_plan)
    stochastic = scores.plan if scores.plan.stochastic else softmax.plan
    return _attention(q, k, v, attn_mask, dropout_p, is_causal, scale, scores, softmax, context,
                      _states(stochastic, state, q.device, 2 * STREAMS), grouped=enable_gqa)[0]
