# SPDX-License-Identifier: BSD-2-Clause
"""audit: every product that a model computes, and whether fpemu rounded its operands.

A mode of torch's dispatcher sees every operator with its operands. What an operator of fpemu gives has a *label*, its
format and rounding. Labels belong to memory, so views have them; operators that only move numbers pass them on, what is
written to loses them, and all else has none. So what cannot be told is reported as not rounded.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import get_gradient_edge
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode, is_traceable_wrapper_subclass_type
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

import fpemu
from fpemu import _files

from .everywhere import modes as active
from .everywhere import multiplies
from .modules import Quantized

__all__ = ["audit", "Audit", "Row"]


@dataclass(frozen=True)
class Row:
    """Products that are alike but for their sizes.

    operator
        "mm", "convolution"; "fpemu::matmul" is followed by its accumulator.
    direction, source, module
        "forward" or "backward"; the innermost line outside torch and fpemu, "file.py:123"; the innermost module by its
        name in named_modules, "" for the model itself. Products of the backward pass have those of the forward call.
    left, right
        format and rounding of an operand that fpemu rounded ("e4m3fn", "e5m2/sr"), else its dtype ("float32"). For a
        kernel of several products, such as attention's, *right* is the dtype in which it multiplies what it made.
    rounded
        how many of the two operands are rounded. 2: the product is emulated. fpemu::matmul is by definition.
    multiplications, share
        of all calls, and as a part of those of all rows; None where no formula is known.
    calls
        how many products these are.
    """

    operator: str
    direction: str
    source: str
    module: str
    left: str
    right: str
    rounded: int
    multiplications: int | None
    share: float | None
    calls: int


class Audit:
    """What ``audit`` found: rows, first those that are not emulated, of which the largest come first. ``print`` shows
    a table, in which layers whose names differ by a number are one line."""

    def __init__(self, products: Iterable[tuple[Any, ...]]) -> None:
        """products: the fields of a row up to *rounded*, multiplications, calls."""
        found: dict[Any, list[Any]] = {}
        for *key, number, calls in products:
            row = found.setdefault(tuple(key), [0, 0])
            row[:] = None if None in (row[0], number) else row[0] + number, row[1] + calls
        whole = max(sum(number or 0 for number, _ in found.values()), 1)
        rows = [Row(*[*key, number, None if number is None else number / whole, calls])
                for key, (number, calls) in found.items()]
        self._rows = sorted(rows, key=lambda row: (row.rounded == 2, row.share is not None, -(row.share or 0)))

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    @property
    def emulated(self) -> list[Row]:
        """Rows of products whose operands are both rounded."""
        return [row for row in self if row.rounded == 2]

    @property
    def left(self) -> list[Row]:
        """Rows of all other products: those of unknown size, then the largest."""
        return [row for row in self if row.rounded < 2]

    @property
    def share(self) -> float:
        """The part of all multiplications that is in emulated products, 0 to 1. NaN where no product ran, or one of
        unknown size is not emulated."""
        return self._part(2) if self._rows and all(row.share is not None for row in self.left) else math.nan

    def _part(self, rounded: int) -> float:
        numbers = [(row.multiplications or 0, row.rounded == rounded) for row in self]
        return sum(n for n, counts in numbers if counts) / max(sum(n for n, _ in numbers), 1)

    def __str__(self) -> str:
        if not self._rows:
            return "no product ran"
        merged = Audit((row.operator, row.direction, row.source, re.sub(r"(^|\.)\d+(?=\.|$)", r"\1*", row.module),
                        row.left, row.right, row.rounded, row.multiplications, row.calls) for row in self)
        table = [("share", "", "product", "operands", "calls", "line", "module")]
        for row in merged:
            share = "unknown" if row.share is None else _percent(row.share)
            name = row.operator.removesuffix("_backward") + " backward" * (row.direction == "backward")
            table.append((share, ("NOT", "HALF", "")[row.rounded], name, f"{row.left} x {row.right}", str(row.calls),
                          row.source, row.module))
        lines = _files.table(table, (0, 4))
        calls = [sum(row.calls for row in self if row.rounded == n) for n in range(3)]
        unknown = sum(row.calls for row in self if row.share is None)
        lines.append(f"{_percent(self._part(2))} of multiplications in emulated products ({calls[2]} of {sum(calls)} "
                     "products)" + f"; {_percent(self._part(1))} with one operand rounded ({calls[1]})" * bool(calls[1])
                     + f"; {unknown} of unknown size, in no share" * bool(unknown))
        if self.left:
            lines.append("to close it: fpemu.torch.convert(model, recipe) for layers, `with "
                         "fpemu.torch.everywhere(recipe):` for functions")
        return "\n".join(lines)


def _percent(part: float) -> str:
    """Rounded down: 100 % is all."""
    if part in (0, 1):
        return "100 %" if part else "0 %"
    return "<0.1 %" if part < 0.001 else f"{math.floor(part * 1000) / 10:.1f} %"


# ------------------------------------------------------------------------------------------------ what operators do

# Products in one kernel.
_SEVERAL = re.compile("attention|attn|flash|rnn|lstm|gru|transformer|trilinear|backward|solve|lstsq|dist|exp|fft")
_ROUNDS = re.compile("(quantize|parts|arith|apply|decode|unpack)(_counted)?_?")
# Each element of a result is one of an operand, or 0.
_MOVES = frozenset((
    "_reshape_copy _to_copy _unsafe_index cat clone constant_pad_nd copy_ embedding flip gather im2col index "
    "index_select masked_fill masked_select max_pool2d_with_indices reflection_pad1d reflection_pad2d relu repeat roll "
    "select_backward slice_backward stack take tril triu unfold_copy view_copy where").split())


class _Operator:
    """What is known of an operator by its name and schema."""

    def __init__(self, func: Any) -> None:
        higher = isinstance(func, torch._ops.HigherOrderOperator)
        space, _, self.name = ("", "", func.name()) if higher else func._schema.name.partition("::")
        arguments = () if higher else func._schema.arguments
        self.text = self.name if space in ("aten", "") else f"{space}::{self.name}"
        self.arguments = [argument.name for argument in arguments]
        self.written = [argument.name for argument in arguments if argument.alias_info is not None
                        and argument.alias_info.is_write and not argument.name.endswith("stats")]
        self.formula = flop_registry.get(func if higher else func.overloadpacket)
        self.composed = self.formula is None and not higher and func._can_decompose()
        self.multiplies = higher or self.formula is not None or multiplies(self.name)
        self.several = higher or bool(_SEVERAL.search(self.name) and self.name != "convolution_backward")
        self.of_fpemu = space == "fpemu"
        self.rounds = self.of_fpemu and _ROUNDS.fullmatch(self.name) is not None
        self.moves = space == "aten" and self.name in _MOVES
        self.scales = space == "aten" and self.name in ("mul", "div")

    def products(self, given: dict[str, Any], args: Any, kwargs: Any, out: Any) -> list[tuple[Any, Any, int | None]]:
        """(left, right, multiplications) of the products in a call."""
        tensors = [value for name, value in given.items() if isinstance(value, Tensor) and name != "stats"]
        operands: list[Any] = [*tensors[bool(re.search("add(bmm|mm|mv)", self.name)):], None, None, None]
        a, b, c = operands[:3]
        if self.name == "convolution_backward":  # torch's formula takes no notice of groups
            number = c.numel() * a.shape[0] * math.prod((b if given["transposed"] else a).shape[2:])
            return [(a, other, number) for other, wanted in zip((c, b), given["output_mask"]) if wanted]
        if self.formula is not None:
            return [(a, b, self.formula(*args, **kwargs, out_val=out) // 2)]
        if "rnn" in self.name:
            weights = tree_leaves([value for name, value in given.items() if name.startswith("weight")])
            number = math.prod(a.shape[:-1]) * sum(t.numel() for t in weights if isinstance(t, Tensor) and t.ndim == 2)
            return [(a, b, number * (1 + self.name.endswith("backward")))]
        if self.several or "conv" in self.name or not isinstance(out, Tensor):
            return [(a, b, None)]
        number = out.numel() * a.shape[-1] * (a.shape[0] if self.name == "addbmm" else 1)
        return [(a, b, number // out.shape[0] if "grouped" in self.name and out.ndim == 3 > a.ndim else number)]


_operator = functools.cache(_Operator)
_next_node: Callable[[], int] = torch.autograd._get_sequence_nr  # type: ignore[attr-defined]
_BELOW = tuple(os.path.dirname(str(package.__file__)) + os.sep for package in (torch, fpemu))
_CHECKPOINT = os.path.join(_BELOW[0], "utils", "checkpoint.py")
# Frames that begin a backward pass, or the part of it that is a function of Python.
_BACKWARD = (torch.autograd.graph._engine_run_backward.__code__,
             torch.autograd.function.BackwardCFunction.apply.__code__)


def _short(file: str) -> str:
    """A path within site-packages, or the working directory, or its tail."""
    inside = re.search(r"(?:site|dist)-packages/(.*)", file)
    near = inside[1] if inside else os.path.relpath(file)
    return os.sep.join(file.split(os.sep)[-2:]) if near.startswith("..") else near


def _holds(wide: torch.dtype, narrow: torch.dtype) -> bool:
    """Whether a dtype has all values of another."""
    if wide == narrow or not (wide.is_floating_point and narrow.is_floating_point):
        return wide == narrow
    new, old = torch.finfo(wide), torch.finfo(narrow)
    return new.eps <= old.eps and new.max >= old.max


def _number(value: Any) -> float:
    """A number, or that of a tensor of one; NaN for others."""
    if isinstance(value, Tensor):
        value = value.item() if value.numel() == 1 and not value.is_meta else math.nan
    return float(value) if isinstance(value, (int, float)) else math.nan


class _Watch(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Labels what is rounded, and notes the products."""

    supports_higher_order_operators = True
    only_looks = True  # for fpemu's calls without an operator

    def __init__(self, model: nn.Module | None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.names = {} if model is None else {id(module): name for name, module in model.named_modules()}
        self.labels: dict[int, tuple[StorageWeakRef, str]] = {}  # by storage; while referred to its address is not used
        self.places: dict[int, tuple[str, str]] = {}  # source and module by the number of autograd's node
        self.products: list[tuple[Any, ...]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if any(is_traceable_wrapper_subclass_type(kind) for kind in types):
            return NotImplemented  # its parts are seen
        operator, kwargs = _operator(func), kwargs or {}
        if operator.composed:  # seen in inference mode
            with self:
                return func.decompose(*args, **kwargs)
        backward, node = torch._C._current_graph_task_id() != -1, _next_node() - 1
        if node not in self.places and (not backward or torch.is_grad_enabled()):
            self.places[node] = self.place(backward)[1:]
        out = func(*args, **kwargs)
        given = {**dict(zip(operator.arguments or map(str, range(len(args))), args)), **kwargs}
        if operator.multiplies:
            place = self.place(backward)
            text = f"{operator.text} {given['spec']}" if operator.of_fpemu else operator.text
            for left, right, number in operator.products(given, args, kwargs, out):
                self.products.append((text, *place, *self.operands(operator, left, right), number, 1))
        label = self.result(operator, given, out)
        if operator.written or label is not None:
            for t in tree_leaves([given.get(name) for name in operator.written] if operator.written else out):
                if isinstance(t, Tensor) and t.layout == torch.strided:
                    memory: Any = t.untyped_storage()
                    self.labels.pop(memory._cdata, None)
                    if label is not None and t.is_floating_point() and (not operator.written or _covers(t)):
                        self.labels[memory._cdata] = StorageWeakRef(memory), label  # type: ignore[no-untyped-call]
        return out

    def label(self, t: Any) -> str | None:
        if not isinstance(t, Tensor) or t.layout != torch.strided:
            return None
        return self.labels.get(t.untyped_storage()._cdata, (None, None))[1]

    def result(self, operator: _Operator, given: dict[str, Any], out: Any) -> str | None:
        """The label of what an operator gives, or writes."""
        if operator.rounds:
            rounding = given.get("rounding", "rne")
            return str(given["format"]) if rounding == "rne" else f"{given['format']}/{rounding}"
        if not self.labels or not (operator.moves or operator.scales):
            return None
        if operator.name == "copy_":
            given = {"self": given["src"]}
        source = next((t for t in tree_leaves(list(given.values())) if self.label(t) is not None), None)
        if source is None or not _holds(tree_leaves(out)[0].dtype, source.dtype):
            return None
        label = self.label(source)
        if operator.scales:
            exact = given["self"] is source and math.frexp(abs(_number(given["other"])))[0] == 0.5
            return label if exact and "rounding_mode" not in given else None
        others = [t for t in tree_leaves(list(given.values())) if isinstance(t, Tensor) and t.is_floating_point()]
        others += [given[name] for name in ("self", "other", "value") if name in given]
        return label if all(self.label(other) == label or _number(other) == 0 for other in others) else None

    def operands(self, operator: _Operator, left: Any, right: Any) -> tuple[str, str, int]:
        """Labels or dtypes, and how many are rounded."""
        labels = [self.label(left), None if operator.several else self.label(right)]
        dtypes = [str(getattr(t, "dtype", "")).removeprefix("torch.")
                  for t in (left, left if operator.several else right)]
        rounded = 2 if operator.of_fpemu else 2 - labels.count(None)
        return labels[0] or dtypes[0], labels[1] or dtypes[1], rounded

    def place(self, backward: bool) -> tuple[str, str, str]:
        """Direction, source and module of what runs. A checkpoint runs its part of the forward pass again."""
        source, module, again, frame = "", None, not backward, sys._getframe(2)
        while frame is not None and not (backward and frame.f_code in _BACKWARD):
            code = frame.f_code
            again = again or code.co_filename == _CHECKPOINT
            if not source and not code.co_filename.startswith(_BELOW):
                source = f"{_short(code.co_filename)}:{frame.f_lineno}"
            if module is None and self.names and code.co_argcount:
                module = self.names.get(id(frame.f_locals.get(code.co_varnames[0])))
            if source and not backward and (module is not None or not self.names):
                break
            frame = frame.f_back  # type: ignore[assignment]
        if again or (source and torch.is_grad_enabled()):
            return "forward", source, module or ""
        node = torch._C._current_autograd_node()
        return "backward", *self.places.get(-1 if node is None else node._sequence_nr(), ("", ""))


def _covers(t: Tensor) -> bool:
    """Whether a tensor is all of its memory."""
    full = t.numel() * t.element_size() == t.untyped_storage().nbytes()
    return full and bool(torch.ops.aten.is_non_overlapping_and_dense.default(t))


# --------------------------------------------------------------------------------------------------------- the run
@contextlib.contextmanager
def _as_before(model: nn.Module | None, given: Any) -> Iterator[None]:
    """Gives back what a run changes, as audit says."""
    modules = [] if model is None else list(model.modules())
    modes = [(module, module.training) for module in modules]
    buffers = [(module._buffers, dict(module._buffers)) for module in modules]
    attached = [module._fpemu for module in modules if isinstance(module, Quantized)]
    attached += [held for mode in active for spots in mode.places() for spot in spots for held in (spot or {}).values()]
    changed = [b for _, held in buffers for b in held.values()] + [held.streams for held in attached]
    copies = [(t, t.detach().clone()) for t in changed if t is not None and not t.is_meta]
    sites: list[Any] = [(site, dict(site.__dict__)) for held in attached for site in held.sites.values()]
    for site, _ in sites:  # observe and loss scalers count what trains
        site.__dict__.update(counters=None, tensors=None, watch=None, watch_tensors=None, measure=False, frozen=None)
    sites += [(held, {"streams": held.streams}) for held in attached]
    tensors = [*([] if model is None else model.parameters()), *tree_leaves(given)]
    devices = {t.device for t in tensors if isinstance(t, Tensor) and t.device.type not in ("cpu", "meta")}
    kind = next((device.type for device in devices), "cuda")
    try:
        with torch.random.fork_rng(devices, device_type=kind):  # and the processor's
            yield
    finally:
        for module, training in modes:
            module.training = training
        for table, held in buffers:
            table.clear()
            table.update(held)
        with torch.no_grad():
            for t, copy in copies:
                if not torch.equal(t, copy):
                    t.copy_(copy)
        for site, held in sites:
            site.__dict__.update(held)


def _backward(roots: list[Tensor], parameters: Iterable[Tensor]) -> None:
    """Of the sum of all, outside autocast, and without a trace in the gradients."""
    nodes, waiting, leaves = set[Any](), [get_gradient_edge(t).node for t in roots], {id(t): t for t in parameters}
    while waiting:
        node: Any = waiting.pop()
        if node is not None and node not in nodes:
            nodes.add(node)
            waiting += [after for after, _ in node.next_functions]
            if hasattr(node, "variable"):
                leaves[id(node.variable)] = node.variable
    gradients = [(t, t.grad) for t in leaves.values()]
    try:
        with contextlib.ExitStack() as stack:
            for kind in {t.device.type for t in roots if torch.amp.is_autocast_available(t.device.type)}:
                stack.enter_context(torch.autocast(kind, enabled=False))
            for t, _ in gradients:
                t.grad = None
            torch.autograd.backward(roots, [torch.ones_like(t) for t in roots])
    finally:
        for t, gradient in gradients:
            t.grad = gradient


def audit(model: Callable[..., Any], /, *inputs: Any, loss: Callable[[Any], Any] | None = None, backward: bool = True,
          **keywords: Any) -> Audit:
    """Runs a model once, forward and backward, and lists every product: the line that it comes from, its share of all
    multiplications, and whether fpemu rounded its operands, and how. ``print(audit(model, x))`` shows a table.

    model
        a module, or any function. It is given the inputs and the keywords.
    loss
        a function of what the model gives, at whose result the backward pass begins. None: at the sum of all tensors of
        floating-point numbers that the model gives.
    backward
        False: the forward pass alone, without gradients.

    What counts is which operators ran and which operands they got, not what a module says of itself: the weight of a
    converted layer that another module reads is not rounded there. Products are the operators of torch's dispatcher
    that multiply: mm, convolution, scaled_dot_product_attention and their like, in numbers of torch.utils.flop_counter,
    which knows no masks. Sums of elementwise products are none, and kernels of Triton and NumPy are not seen.
    What was rounded before the call, to a table, or by fpemu.decode and unpack, counts as not rounded. fpemu.matmul is
    refused: fpemu.torch.matmul is seen.

    Afterwards these are as before: the .grad of all tensors; of a module, or the module of a method, its buffers, train
    and eval mode, random streams of converted layers and of Quantizer, counts of observe and loss scalers; torch's
    random state. What else the model and its hooks change stays changed. Compiled models run in eager mode.

    TypeError for what cannot be called; ValueError where the result has no gradient.
    """
    if not callable(model):
        raise TypeError(f"audit takes a module or a function, not {type(model).__name__}")
    owner = model if isinstance(model, nn.Module) else getattr(model, "__self__", None)
    owner = owner if isinstance(owner, nn.Module) else None
    watch = _Watch(owner)
    with (_as_before(owner, (inputs, keywords)), torch.compiler.set_stance("force_eager"),
          torch.set_grad_enabled(backward), watch):
        result = model(*inputs, **keywords)
        result = result if loss is None else loss(result)
        if backward:
            roots = [t for t in tree_leaves(result) if isinstance(t, Tensor) and t.is_floating_point()]
            if not roots:
                raise ValueError("the result has no tensor of floating-point numbers, at which a backward pass could "
                                 "begin: give loss=, a function of the result, or backward=False")
            roots = [t for t in roots if t.requires_grad]
            if not roots:
                raise ValueError("the result depends on nothing that requires a gradient: give backward=False, or "
                                 "inputs or parameters that do")
            _backward(roots, [] if owner is None else owner.parameters())
    return Audit(watch.products)
