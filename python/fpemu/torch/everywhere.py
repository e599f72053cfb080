# SPDX-License-Identifier: BSD-2-Clause
"""everywhere: torch's own functions go by a recipe, wherever they are called, forward and backward."""

from __future__ import annotations

import functools
import math
import re
import sys
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, zip_longest
from types import FunctionType
from typing import Any

import torch
import torch._decomp.decompositions
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils.checkpoint import CheckpointFunction
from torch.utils.weak import WeakIdKeyDictionary

from . import functional as f
from ._device import is_device
from ._spec import check_seed
from .functional import Plan, make_embedding_plan, make_norm_plan, make_plan, make_product_plan, make_softmax_plan
from .quantizer import _enclosing_checkpoint
from .recipe import Recipe, matches, read_rules
from .recipe import recipe as _recipe

__all__ = ["everywhere", "register_attention"]

rnn: Any = torch._decomp.decompositions

FIRST_STREAM = 1 << 61  # those of converted modules lie below
COMPILED = 1 << 20  # the number of the first place that is met in compiled graphs
FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
# Modes that are on, and the blocks of observe that are open: what is new of one is told to the other.
modes: list[Any] = []
watching: list[Any] = []

# What a call rounds: the names of its plans.
WEIGHTS, ACTIVATIONS, ATTENTION = ("",), ("activations",), ("scores", "softmax", "context")
SOFTMAX, NORM, EMBEDDING = ("softmax",), ("norm",), ("embedding",)
PRODUCT = (WEIGHTS, ACTIVATIONS)
KINDS = (*PRODUCT, ATTENTION, SOFTMAX, NORM, EMBEDDING)


def plans(recipe: Recipe, names: Sequence[str] = (*WEIGHTS, *ACTIVATIONS, *ATTENTION, *NORM, *EMBEDDING)) \
        -> dict[str, Plan]:
    """The plans of calls by a recipe, by name: "" is a product with a weight, "activations" one without; "scores" and
    "context" are attention's two."""
    made = {"": make_plan, "softmax": make_softmax_plan, "norm": make_norm_plan, "embedding": make_embedding_plan}
    return {name: made.get(name, make_product_plan)(recipe) for name in names}


# ------------------------------------------------------------------------------------------------ calls
class _Call:
    """A call of a function, and how its tensors are rounded."""

    def __init__(self, mode: _Mode, name: str, function: Any, spot: Mapping[Sequence[str], Any], place: Any) -> None:
        self.mode, self.name, self.function, self.spot, self.place = mode, name, function, spot, place
        self.is_weight = mode.is_weight

    def take(self, kind: Sequence[str]) -> tuple[Any, ...]:
        """The sites of a kind, and states for one call."""
        held = self.spot[kind]
        if not torch.compiler.is_compiling() and is_device(self.place):
            held.move(self.place)
        return (*(held.sites[name] for name in kind), held.states())

    def unseen(self, *args: Any, **kwargs: Any) -> Any:
        """torch's function, past other modes that are on: it is rounded once."""
        with torch._C.DisableTorchFunction():
            return self.function(*args, **kwargs)

    def refuse(self, *args: Any, **kwargs: Any) -> Any:
        """What torch does not take either: it says why."""
        y = self.function(*args, **kwargs)
        self.mode.warn(self.name, "such arguments are not known here")
        return y

    def linear(self, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
        if weight.dim() == 1:
            return self.linear(input, weight.unsqueeze(0), bias).squeeze(-1)
        return f._linear(input, weight, bias, *self.take(WEIGHTS))

    def times(self, a: Tensor, b: Tensor, left: bool, right: bool) -> Tensor:
        """a b, of which left and right say which is a weight: matrices, or batches of them."""
        if right:
            return self.linear(a, b.mT) if b.dim() == 2 else f._matmul(a, b, *self.take(WEIGHTS))
        return self.times(b.mT, a.mT, False, True).mT if left else f._matmul(a, b, *self.take(ACTIVATIONS))

    def plus(self, y: Tensor, bias: Tensor, times: float = 1) -> Tensor:
        if self.is_weight(bias):
            site, states = self.take(WEIGHTS)
            bias = f._pass(bias, site, f.BIAS, -1, -1, states)
        return y + (bias if times == 1 else bias * times)


def _matmul(at: _Call, a: Tensor, b: Tensor, out_dtype: torch.dtype | None = None) -> Tensor:
    left, right = at.is_weight(a), at.is_weight(b)
    if out_dtype is not None:
        a, b = a.to(out_dtype), b.to(out_dtype)
    row, column = a.dim() == 1, b.dim() == 1
    y = at.times(a.unsqueeze(0) if row else a, b.unsqueeze(1) if column else b, left, right)
    y = y.squeeze(-1) if column else y
    return y.squeeze(-1 if column else -2) if row else y


_DIMENSIONS = {"mm": (2, 2), "bmm": (3, 3), "mv": (2, 1), "dot": (1, 1), "vdot": (1, 1), "addmm": (2, 2),
               "addmv": (2, 1), "baddbmm": (3, 3), "addbmm": (3, 3)}  # of operands


def _fits(at: _Call, a: Tensor, b: Tensor) -> bool:
    dims = _DIMENSIONS[at.name]
    return (a.dim(), b.dim()) == dims and (dims != (3, 3) or a.shape[0] == b.shape[0])


def _product(at: _Call, a: Tensor, b: Tensor, *rest: Any, **named: Any) -> Any:
    return (_matmul if _fits(at, a, b) else _Call.refuse)(at, a, b, *rest, **named)


def _added(at: _Call, input: Tensor, a: Tensor, b: Tensor, out_dtype: torch.dtype | None = None, *, beta: float = 1,
           alpha: float = 1) -> Any:
    """beta input + alpha a b."""
    if not _fits(at, a, b):
        return at.refuse(input, a, b, beta=beta, alpha=alpha)
    left, right = at.is_weight(a), at.is_weight(b)
    if right and at.name == "addmm" and beta == alpha == 1 and input.dim() == 1 and out_dtype is None:
        return at.linear(a, b.mT, input)
    if at.name == "addbmm":  # sums over the batch too
        y = at.times(a.transpose(0, 1).flatten(1), b.flatten(0, 1), left, right)
    else:
        y = _matmul(at, a, b, out_dtype)
    y = y if alpha == 1 else y * alpha
    if beta == 0:  # whatever the input holds
        return y + input.masked_fill(torch.ones_like(input, dtype=torch.bool), 0)
    return at.plus(y, input, beta)


def _chain(at: _Call, *matrices: Any) -> Any:
    """chain_matmul, multi_dot: from left to right."""
    listed = matrices[0] if isinstance(matrices[0], (list, tuple)) else matrices
    return functools.reduce(functools.partial(_matmul, at), listed)


# ---- contractions

Labelled = tuple[Tensor, list[Any], bool]  # a tensor, the labels of its dimensions, whether it is a weight


def _summed(x: Tensor, labels: list[Any], keep: Any) -> tuple[Tensor, list[Any]]:
    gone = [i for i, label in enumerate(labels) if label not in keep]
    return (x.sum(gone) if gone else x), [label for label in labels if label in keep]


def _contract(at: _Call, one: Labelled, other: Labelled, keep: Sequence[Any]) -> Labelled:
    """The product of two tensors, summed over the labels that both have and that are not to be kept: one product of
    matrices, or a batch of them over the labels that both have and that are."""
    (a, la, left), (b, lb, right) = one, other
    a, la = _summed(a, la, {*lb, *keep})
    b, lb = _summed(b, lb, {*la, *keep})
    size = dict(zip(la, a.shape))
    size.update((label, n) for label, n in zip(lb, b.shape) if size.get(label, 1) == 1)  # one of both may be 1
    shared = [label for label in la if label in lb]
    batch, summed = [x for x in shared if x in keep], [x for x in shared if x not in keep]
    rows, columns = [x for x in la if x not in lb], [x for x in lb if x not in la]

    def ordered(x: Tensor, labels: list[Any], *groups: list[Any]) -> Tensor:
        wanted = [label for group in groups for label in group]
        x = x.permute([labels.index(label) for label in wanted]).expand([size[label] for label in wanted])
        flat = [math.prod([size[label] for label in group]) for group in groups[1:]]
        return x.reshape([*x.shape[:len(groups[0])], *flat])

    if summed:
        y = at.times(ordered(a, la, batch, rows, summed), ordered(b, lb, batch, summed, columns), left, right)
        left = False
    else:  # nothing is added up
        y = ordered(a, la, batch, rows).unsqueeze(-1) * ordered(b, lb, batch, columns).unsqueeze(-2)
    result = [*batch, *rows, *columns]
    return y.reshape([size[label] for label in result]), result, left and right


def _einsum(at: _Call, equation: Any, *operands: Any) -> Any:
    """By pairs, from left to right."""
    if not isinstance(equation, str):  # operand, its labels, ..., labels of the result
        args = [equation, *operands]
        texts = ["".join("..." if n is Ellipsis else chr(n % 26 + (65 if n < 26 else 97)) for n in labels)
                 for labels in (*args[1::2], *args[len(args) - len(args) % 2:])]
        operands = tuple(args[:len(args) // 2 * 2:2])
        equation = ",".join(texts[:len(operands)]) + "".join("->" + text for text in texts[len(operands):])
    elif len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    left, arrow, right = equation.replace(" ", "").partition("->")
    if not arrow:
        right = "..." * ("..." in left) + "".join(sorted(c for c in left if c.isalpha() and left.count(c) == 1))
    try:
        first, *rest = (_labelled(term, x, at.is_weight(x)) for term, x in zip(left.split(","), operands, strict=True))
        every = {label for _, labels, _ in (first, *rest) for label in labels}
        before, dots, after = right.partition("...")
        wanted = [*before, *sorted(x for x in every if dots and isinstance(x, int)), *after]
        if len(set(wanted)) != len(wanted) or not every.issuperset(wanted):
            raise ValueError
    except ValueError:
        return at.refuse(equation, *operands)
    for number, other in enumerate(rest):
        later = [label for _, labels, _ in rest[number + 1:] for label in labels]
        first = _contract(at, first, other, [*wanted, *later])
    y, labels = _summed(*first[:2], wanted)
    return y.permute([labels.index(label) for label in wanted])


def _labelled(term: str, x: Tensor, weight: bool) -> Labelled:
    """The labels of an operand: letters, and negative numbers for the dimensions that dots stand for. Of a letter that
    is there twice the diagonal is taken."""
    before, dots, after = term.partition("...")
    more = x.dim() - len(before) - len(after)
    if more < 0 or (more and not dots) or not all(c.isalpha() for c in before + after):
        raise ValueError
    labels: list[Any] = [*before, *range(-more, 0), *after]
    for label in set(labels):
        while labels.count(label) > 1:
            i = labels.index(label)
            j = labels.index(label, i + 1)
            if x.shape[i] != x.shape[j]:
                raise ValueError
            x, labels = x.diagonal(0, i, j), [*labels[:i], *labels[i + 1:j], *labels[j + 1:], label]
    return x, labels, weight


def _tensordot(at: _Call, a: Tensor, b: Tensor, dims: Any = 2) -> Any:
    dims = dims.tolist() if isinstance(dims, Tensor) else dims
    pairs = (list(range(-dims, 0)), list(range(dims))) if isinstance(dims, int) else dims
    ends = [[n % max(x.dim(), 1) for n in ([side] if isinstance(side, int) else side)]
            for x, side in zip((a, b), pairs)]
    if [a.shape[i] for i in ends[0]] != [b.shape[j] for j in ends[1]]:
        return at.refuse(a, b, dims)
    la = list(range(a.dim()))
    lb = [ends[0][ends[1].index(j)] if j in ends[1] else a.dim() + j for j in range(b.dim())]
    keep = [label for label in (*la, *lb) if label not in ends[0]]
    return _contract(at, (a, la, at.is_weight(a)), (b, lb, at.is_weight(b)), keep)[0]


def _inner(at: _Call, a: Tensor, b: Tensor) -> Any:
    return a * b if 0 in (a.dim(), b.dim()) else _tensordot(at, a, b, ([-1], [-1]))


# ---- layers


def _conv(at: _Call, input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1, padding: Any = 0,
          dilation: Any = 1, groups: int = 1) -> Any:
    if weight.dim() != 2 + int(at.name[4]):
        return at.refuse(input, weight, bias, stride, padding, dilation, groups)
    x, numbers = f.geometry(input, weight, stride, padding, dilation, groups)
    return f._conv(x, weight, bias, numbers, *at.take(WEIGHTS))


def _conv_transpose(at: _Call, input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Any = 1,
                    padding: Any = 0, output_padding: Any = 0, groups: int = 1, dilation: Any = 1) -> Any:
    return _convolution(at, input, weight, bias, stride, padding, dilation, True, output_padding, groups)


def _convolution(at: _Call, input: Tensor, weight: Tensor, bias: Tensor | None, stride: Any, padding: Any,
                 dilation: Any, transposed: bool, output_padding: Any, groups: int, *_: Any) -> Any:
    site, states = at.take(WEIGHTS)
    if transposed:
        f.check_conv(site.plan, True)
    steps, pads, spread, more = (f._each(value, weight.dim() - 2, what) for value, what in (
        (stride, "stride"), (padding, "padding"), (dilation, "dilation"), (output_padding, "output_padding")))
    numbers = f.Geometry(steps, pads, spread, groups, transposed, more if transposed else ())
    return f._conv(input, weight, bias, numbers, site, states)


def _attention(at: _Call, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
               dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
               enable_gqa: bool = False) -> Any:
    scores, softmax, context, states = at.take(ATTENTION)
    return f._attention(query, key, value, attn_mask, dropout_p, is_causal, scale, scores, softmax, context, states,
                        grouped=enable_gqa)[0]


def _grouped_mm(at: _Call, a: Tensor, b: Tensor, offs: Tensor | None = None, bias: Tensor | None = None,
                out_dtype: torch.dtype | None = None) -> Any:
    """Group by group, so that blocks begin anew with each."""
    if (offs is None) != (a.dim() == b.dim() == 3) or bias is not None:
        return at.refuse(a, b, offs=offs, bias=bias, out_dtype=out_dtype)
    left, right = at.is_weight(a), at.is_weight(b)
    if out_dtype is not None:
        a, b = a.to(out_dtype), b.to(out_dtype)
    if offs is None:
        return at.times(a, b, left, right)
    ends = offs.tolist()
    sizes = [end - begin for begin, end in zip([0, *ends], ends)]

    def parts(x: Any, dim: int) -> Any:
        return x.unbind(0) if x.dim() == 3 else x.narrow(dim, 0, ends[-1]).split(sizes, dim)

    made = [at.times(x, y, left, right) for x, y in zip(parts(a, 0 if b.dim() == 3 else 1),
                                                        parts(b, 1 if a.dim() == 3 else 0))]
    if a.dim() == b.dim():
        return torch.stack(made)
    rest = (a.shape[0] if a.dim() == 2 else b.shape[1]) - ends[-1]  # past the last group
    return F.pad(torch.cat(made, 0), (0, 0, 0, rest)) if a.dim() == 2 else F.pad(torch.cat(made, 1), (0, rest))


def _bilinear(at: _Call, input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Any:
    y = at.linear(input2, weight.flatten(0, 1))
    y = y.reshape(*y.shape[:-1], *weight.shape[:2])
    y = f._matmul(y, input1.unsqueeze(-1), *at.take(ACTIVATIONS)).squeeze(-1)
    return y if bias is None else at.plus(y, bias)


def _embedding(at: _Call, input: Tensor, weight: Tensor, *how: Any, **named: Any) -> Any:
    site, states = at.take(EMBEDDING)
    named.update(zip(("padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse"), how))
    return f._embedding(input, weight, site, states, **named)


def _embedding_bag(at: _Call, input: Tensor, weight: Tensor, *how: Any, **named: Any) -> Any:
    site, states = at.take(EMBEDDING)
    y = at.unseen(input, f._pass(weight, site, f.WEIGHT, -1, -1, states), *how, **named)
    return f._pass(y, site, -1, f.GRADIENT, -1, states)


def _softmax(at: _Call, input: Tensor, dim: int, *how: Any, **named: Any) -> Any:
    site, states = at.take(SOFTMAX)
    return f._pass(at.unseen(input, dim, *how, **named), site, f.OUTPUT, -1, dim, states)


def _norm(axis: int, *names: str) -> Any:
    """A normalisation along an axis, of which the first arguments have these names."""
    def normalised(at: _Call, input: Tensor, *args: Any, **named: Any) -> Any:
        site, states = at.take(NORM)
        told = {**dict(zip(names, args)), **named}
        x, *own = f._norm_operands(input, told.get("weight"), told.get("bias"), site, states, axis)
        now = dict(zip(("weight", "bias"), own))
        given = [now.get(name, t) for name, t in zip_longest(names[:len(args)], args)]
        y = at.unseen(x, *given, **{name: now.get(name, t) for name, t in named.items()})
        return f._pass(y, site, -1, f.GRADIENT, axis, states)
    return normalised


def _steps(at: _Call, data: Tensor, *rest: Any) -> Any:
    """A recurrent layer, or a cell, as torch writes it out in Python: its products are seen one by one."""
    packed = isinstance(rest[0], Tensor) and rest[0].dtype == torch.int64  # sizes of its batches
    return at.mode.again(_RECURRENT[at.name][packed], data, *rest)


def _lstm(data: Tensor, hx: Any, weights: Any, biased: bool, *how: Any) -> Any:
    groups = rnn.gather_params(weights, biased, hx[0].size(2) != hx[1].size(2))
    y, ends = rnn._rnn_helper(data, list(zip(*hx)), groups, biased, *how, rnn.one_layer_lstm)
    return (y, *(torch.stack(end) for end in zip(*ends)))


def _cell(inner: Any) -> Any:
    return lambda x, h, w, u, b=None, c=None: inner(x, h, w, b, u, c)


_RECURRENT: dict[str, tuple[Any, Any]] = {  # of a batch; of a packed sequence
    "lstm": (_lstm, rnn.lstm_data_impl), "gru": (rnn.gru_impl, rnn.gru_impl_data),
    "rnn_tanh": (rnn.rnn_tanh_input, rnn.rnn_tanh_data), "rnn_relu": (rnn.rnn_relu_input, rnn.rnn_relu_data),
    "lstm_cell": (_cell(lambda x, h, w, b, u, c: rnn.lstm_cell(F.linear(x, w, b), *h, u, c, None, 1)), None),
    "gru_cell": (_cell(rnn.gru_cell_data), None), "rnn_tanh_cell": (_cell(rnn.rnn_cell_data(torch.tanh)), None),
    "rnn_relu_cell": (_cell(rnn.rnn_cell_data(torch.relu)), None),
}


# ------------------------------------------------------------------------------------------------ torch's functions

_PRODUCTS = {
    "linear": _Call.linear, "matmul": _matmul, "einsum": _einsum, "tensordot": _tensordot, "inner": _inner,
    "chain_matmul": _chain, "multi_dot": _chain, "bilinear": _bilinear, "grouped_mm": _grouped_mm,
    "convolution": _convolution, **{f"conv{d}d": _conv for d in (1, 2, 3)},
    **{f"conv_transpose{d}d": _conv_transpose for d in (1, 2, 3)},
    **{name: _added if name.startswith("add") or name == "baddbmm" else _product for name in _DIMENSIONS},
}
_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {  # how a call is computed, and the kinds of what it rounds
    **{name: (call, PRODUCT) for name, call in _PRODUCTS.items()},
    **{name: (_steps, ()) for name in _RECURRENT},
    "scaled_dot_product_attention": (_attention, (ATTENTION,)), "softmax": (_softmax, (SOFTMAX,)),
    "embedding": (_embedding, (EMBEDDING,)), "embedding_bag": (_embedding_bag, (EMBEDDING,)),
    "layer_norm": (_norm(-1, "normalized_shape", "weight", "bias"), (NORM,)),
    "rms_norm": (_norm(-1, "normalized_shape", "weight"), (NORM,)),
    "group_norm": (_norm(1, "num_groups", "weight", "bias"), (NORM,)),
    "batch_norm": (_norm(1, "weight", "bias"), (NORM,)), "instance_norm": (_norm(1, "weight", "bias"), (NORM,)),
}
_OPERANDS = {  # by torch's names
    **dict.fromkeys(("mm", "bmm"), ("input", "mat2")), **dict.fromkeys(("matmul", "inner", "vdot"), ("input", "other")),
    **dict.fromkeys(("baddbmm", "addbmm"), ("input", "batch1", "batch2")), "mv": ("input", "vec"),
    "dot": ("input", "tensor"), "addmm": ("input", "mat1", "mat2"), "addmv": ("input", "mat", "vec"),
    "tensordot": ("a", "b", "dims"), "multi_dot": ("tensors",), "grouped_mm": ("mat_a", "mat_b"),
}
_IN_PLACE = (Tensor.addmm_, Tensor.addmv_, Tensor.baddbmm_, Tensor.addbmm_)
_OF_PRODUCTS = re.compile(
    r"(mm|mv|dot|rnn|lstm|gru)(?![a-z])|conv(?!ert)|linear(?!_comb|\dd)|attention|attn|flash|matmul|gemm|transformer|"
    r"(?<!re)solve|lstsq|cdist|euclidean_dist|matrix_(exp|power)|fft(?!shift|freq)|^cov$|corrcoef")
# Weights that are made ready, and settings. Names with thnn are those of the elementwise part of cells.
_OF_OTHERS = re.compile("(pre|un)pack($|_)|_pack_|reorder|flatten|search|precision|cache|_thnn")


def multiplies(name: str) -> bool:
    """Whether the name of a function of torch, or of an operator of any package, is that of a product."""
    return _OF_PRODUCTS.search(name) is not None and _OF_OTHERS.search(name) is None


_NAMES: dict[Any, str] = {Tensor.__matmul__: "matmul", F.embedding: "embedding", F.embedding_bag: "embedding_bag"}
_UNSAID: dict[Any, str] = {}  # what multiplies and is none of these
_opened: dict[Any, Any] = {}


_QUESTIONS = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")


@functools.cache
def _open(function: Any) -> Any:
    """What a function of torch that is written in Python does once it has asked whether a mode is on. With the mode on
    it would ask again and never get there, so this is the function with its questions answered: no. None for functions
    that do not ask so, or ask by way of torch.overrides, as those of nn.init, and for methods that stand above one of
    the same name in C, which is shown as that method again."""
    if not isinstance(function, FunctionType) or not set(_QUESTIONS) & set(function.__code__.co_names) & \
            set(function.__globals__):
        return None
    name: str = function.__name__
    if function is getattr(Tensor, name, None) and hasattr(torch._C.TensorBase, name):
        return None
    names = {**function.__globals__, **dict.fromkeys(_QUESTIONS, lambda *_: False)}
    opened = FunctionType(function.__code__, names, name, function.__defaults__, function.__closure__)
    opened.__kwdefaults__ = function.__kwdefaults__
    return opened


def _list_functions() -> None:
    for place in (torch, torch._C._VariableFunctions, Tensor, torch.linalg, torch.special, torch.fft, torch.sparse, F):
        for written in dir(place):
            function, name = getattr(place, written, None), written.strip("_").removeprefix("linalg_")
            if not callable(function) or function in _NAMES:
                continue
            opened = _open(function)
            if opened is not None:
                _opened[function] = opened
            if isinstance(function, FunctionType) and place is F:
                continue  # within it the one in C is called
            if name in _FUNCTIONS and "embedding" not in name:
                _NAMES[function] = name
            elif opened is None and multiplies(written):
                _UNSAID[function] = written


_list_functions()


# ------------------------------------------------------------------------------------------------ modes

# The code between a call and torch's function in C.
_INSIDE = ("fpemu.torch.", "torch._", "torch.functional", "torch.nn.functional", "torch.overrides")
_copies: Any = WeakIdKeyDictionary()  # tensors made of weights alone
IDLE: dict[Any, Any] = {}  # stands for a place at which a recipe has no format for a call


def _innermost() -> tuple[Any, str]:
    """The innermost module on the stack, or None, and the line of source that calls torch."""
    frame: Any = sys._getframe(2)
    line = ""
    while frame is not None:
        code = frame.f_code
        if not line and not frame.f_globals.get("__name__", "").startswith(_INSIDE):
            line = f"{code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"
        if code.co_argcount and code.co_varnames[0] == "self" and isinstance(frame.f_locals.get("self"), nn.Module):
            return frame.f_locals["self"], line
        frame = frame.f_back
    return None, line


def _tensors(args: Any) -> Iterator[Tensor]:
    for x in args:
        if isinstance(x, Tensor):
            yield x
        elif isinstance(x, (list, tuple)):
            yield from (t for t in x if isinstance(t, Tensor))


@functools.cache
def _answers(kind: Any) -> bool:
    """Whether a class of tensors has functions of its own."""
    usual: Any = Tensor.__torch_function__
    own = getattr(kind.__torch_function__, "__func__", kind.__torch_function__)
    return own not in (usual.__func__, torch._C._disabled_torch_function_impl)


class _Mode(TorchFunctionMode):
    """Functions go by what `spot` says of a call: None, or what holds the sites and the streams, by kind."""

    def __init__(self) -> None:
        super().__init__()
        self._said: set[str] = set()
        self._begun: Any = None  # the stack's frame, and the checkpoint, in which the mode was put on

    def spot(self, name: str, args: Any) -> Any:
        """None leaves a call as it is, IDLE leaves it to modes outside."""
        raise NotImplementedError

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if types and not torch.compiler.is_compiling() and torch._C._is_torch_function_enabled():
            for kind in filter(_answers, types):  # what it calls is seen
                y = self.again(kind.__torch_function__, func, types, args, kwargs)
                if y is not NotImplemented:
                    return y
        name = _NAMES.get(func)
        floats = [t for t in _tensors((*args, *kwargs.values())) if t.dtype in FLOATS]
        if name is None or not floats:
            return self._other(func, args, kwargs, floats)
        if any(t.layout != torch.strided or t.is_nested for t in floats):
            self.warn(name, "of sparse or nested tensors")
            return func(*args, **kwargs)
        spot = self.spot(name, args)
        if spot is IDLE:
            return func(*args, **kwargs)
        if spot is None:
            with torch._C.DisableTorchFunction():
                return func(*args, **kwargs)
        if not torch.compiler.is_compiling() and self._begun is not None:
            self._stay()
        out = kwargs.pop("out") if "out" in kwargs else None
        given = [*args]
        for operand in _OPERANDS.get(name, ())[len(args):]:
            if operand in kwargs:
                given.append(kwargs.pop(operand))
        y = _FUNCTIONS[name][0](_Call(self, name, func, spot, floats[0].device), *given, **kwargs)
        if out is not None:
            if torch.is_grad_enabled() and (y.requires_grad or out.requires_grad):
                raise RuntimeError(f"{name} with out= has no gradient")
            y = (out if out.shape == y.shape else out.resize_(y.shape)).copy_(y)
        return given[0].copy_(y) if func in _IN_PLACE else y

    def _other(self, func: Any, args: Any, kwargs: Any, floats: list[Tensor]) -> Any:
        """A function that is not rounded. What torch has in Python is run with the mode on."""
        compiling = torch.compiler.is_compiling()
        if floats and func in _UNSAID:
            self.warn(_UNSAID[func], "it has no form here")
        elif floats and isinstance(func, (torch._ops.OperatorBase, torch._ops.OpOverloadPacket)):
            self.warn_of_operator(func, compiling)
        opened = _opened.get(func) if compiling else _open(func)
        if opened is not None:
            return self.again(opened, *args, **kwargs)
        y = func(*args, **kwargs)
        name = getattr(func, "__name__", "")
        fresh = name.startswith("new_") or name.endswith("_like")  # of which the values are others
        if floats and not compiling and name.endswith("_") and not all(map(self.is_weight, floats)):
            for t in _tensors(args[:1] or floats[:1]):
                _copies.pop(t, None)  # it was written to
        elif floats and not fresh and all(map(self.is_weight, floats)):
            for t in _tensors(y if isinstance(y, (list, tuple)) else (y,)):
                if compiling:
                    t._fpemu_weight = True  # type: ignore[attr-defined]
                else:
                    _copies[t] = True
        return y

    def _begin(self) -> None:
        self._begun = sys._getframe(2), (_enclosing_checkpoint() or (None,))[0]

    def _stay(self) -> None:
        """Has the checkpoints that were begun since the mode was put on, and in which a call is, be computed again with
        the mode on, wherever the backward pass runs."""
        begun, around = self._begun
        found = _enclosing_checkpoint()
        held = [(found[0], "recompute_fn")] if found and not found[1] and found[0] is not around else []
        frame: Any = None if torch.is_grad_enabled() else sys._getframe(2)
        while frame is not None and frame is not begun:
            if frame.f_code is CheckpointFunction.forward.__code__:
                held.append((frame.f_locals["ctx"], "run_function"))
            frame = frame.f_back
        for holder, name in held:
            known = holder.__dict__.setdefault("_fpemu_modes", [])
            if self not in known:
                known.append(self)
                setattr(holder, name, functools.partial(self.again, getattr(holder, name)))

    def is_weight(self, x: Tensor) -> bool:
        """Whether a tensor is a parameter, or made of parameters alone by functions that are not rounded."""
        if isinstance(x, nn.Parameter) or torch.compiler.is_compiling():
            return isinstance(x, nn.Parameter) or getattr(x, "_fpemu_weight", False)
        return isinstance(x._base, nn.Parameter) or x in _copies

    def again(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """A call inside a function, during which the mode is on."""
        TorchFunctionMode.__enter__(self)  # type: ignore[no-untyped-call]
        try:
            return function(*args, **kwargs)
        finally:
            TorchFunctionMode.__exit__(self, None, None, None)  # type: ignore[no-untyped-call]

    @f.constant_in_graphs
    def warn(self, name: str, why: str) -> None:
        if name not in self._said:
            self._said.add(name)
            warnings.warn(f"{name} is not rounded at {_innermost()[1]}: {why}", stacklevel=3)

    @f.constant_in_graphs
    def warn_of_operator(self, operator: Any, compiling: bool) -> None:
        name = str(operator).removesuffix(".default")
        of_torch = name.startswith("aten.")
        if name.startswith("fpemu.") or not multiplies(name) or (of_torch and compiling):
            return
        frame: Any = sys._getframe(3)
        while of_torch and frame.f_globals.get("__name__", "").startswith("torch._"):
            frame = frame.f_back
        if of_torch and frame.f_globals.get("__name__", "").startswith("fpemu."):  # of operands that are rounded
            return
        while of_torch and frame is not None:
            if frame.f_globals.get("__name__", "").startswith("torch._functorch._aot_autograd"):
                return  # a compiled graph, which was traced with the mode on
            frame = frame.f_back
        self.warn(name, "it is an operator, and no function of torch")


class Functions(_Mode):
    """The functions that a converted module's own forward pass calls go by its recipe, at the places that it has for
    them. Modules within it that are converted have places of their own; those that a rule left stay as they are."""

    def __init__(self, module: Any) -> None:
        super().__init__()
        self._spot = dict.fromkeys(KINDS, module._fpemu)
        self._left = [m for m in module.modules() if "_fpemu_left" in m.__dict__]
        self._hooked = [m for m in module.modules() if m._forward_pre_hooks]
        if not torch.compiler.is_compiling():
            self._begin()

    def __exit__(self, *problem: Any) -> None:
        self._begun = None  # a frame, which holds all of its callers
        TorchFunctionMode.__exit__(self, *problem)  # type: ignore[no-untyped-call]

    def spot(self, name: str, args: Any) -> Any:
        if self._left and torch.compiler.is_compiling():  # no stack can be walked: weights tell modules
            if any(t is p for t in _tensors(args) for m in self._left for p in m._parameters.values()):
                return None
        elif self._left and hasattr(_innermost()[0], "_fpemu_left"):
            return None
        if self._hooked and not torch.compiler.is_compiling():
            for module in self._hooked:
                _note_weights(module)
        sites, kinds = self._spot[WEIGHTS].sites, _FUNCTIONS[name][1]
        return IDLE if kinds and all(sites[part].plan.idle for kind in kinds for part in kind) else self._spot


class _Spot(dict[Any, Any]):
    """A place: what holds its sites and streams, by kind, made when it is first met."""

    def __init__(self, mode: everywhere, recipe: Recipe, module: Any, name: str, line: str) -> None:
        super().__init__()
        self.mode, self.recipe, self.name, self.line = mode, recipe, name, line
        self.module = (lambda: None) if module is None else weakref.ref(module)

    def __missing__(self, kind: Sequence[str]) -> Any:
        from .modules import Attachment  # noqa: PLC0415

        number = next(self.mode._numbers[not self.line])
        stream = FIRST_STREAM + number * f.STREAM_STEP
        made = self[kind] = Attachment(self.recipe, object, plans(self.recipe, kind), self.mode._seed, stream)
        if stream in self.mode._calls:
            made.begin(self.mode._seed, self.mode._calls[stream])
        for watcher in watching:
            watcher.adopt(self, made)
        return made


def _note_weights(module: Any) -> None:
    """Notes what hooks of torch.nn.utils have made of a module's parameters: prune, weight_norm and spectral_norm."""
    for hook in module._forward_pre_hooks.values():
        made = module.__dict__.get(getattr(hook, "_tensor_name", getattr(hook, "name", None)))
        if isinstance(made, Tensor):
            _copies[made] = True


class _Attached:
    """Holds the places of compiled graphs as attributes, which graphs can be made to find."""


class everywhere(_Mode):
    """``with everywhere(recipe, rules):`` has torch's functions go by a recipe in this thread, forward and backward.

    recipe, rules
        as of ``convert``: a Recipe, its name, a format or None; and what holds in place of it for patterns of
        functions' names ("softmax", "conv*"), classes of the module that calls, functions of (module or None, name of
        the function) to a truth. The first that matches holds, and None leaves a function as it is.
    seed
        of stochastic rounding: 0 .. 2^63 - 1.
    model
        patterns in rules are those of names of its modules, too.

    Products: linear, matmul and @, mm, bmm, mv, dot, inner, tensordot, addmm and its kin, multi_dot, einsum,
    conv1d/2d/3d and transposed ones, bilinear, grouped_mm, scaled_dot_product_attention, and those within LSTM, GRU and
    RNN. Of two operands that one is a weight which is a parameter, or made of parameters alone (a part of one, or a
    cast); the weight of linear and conv is one always. Where both are activations the product is that of attention.
    softmax, layer_norm, rms_norm, group_norm, instance_norm, batch_norm, embedding and embedding_bag round where the
    recipe has a format for them. A product that cannot be said so is computed as torch does, with a warning, and so is
    an operator of torch.ops. Classes of tensors with functions of their own are asked first, and what these call is
    seen. Functions that the recipe has no format for are left to a block outside. Integers and complex numbers stay as
    they are, and so does what converted modules do, which round by themselves.

    A place is the module that calls, the function and the line of source; in a compiled graph the function alone. It
    has counters, which ``observe`` lends, and streams of random bits that go on when the block is entered again, or
    where load_state_dict of another object says. A new object begins with the same bits.
    Checkpoints are computed again as they were. Backward passes of other packages' autograd functions are rounded
    within the block, by what is said of forward ones; products of an optimiser's step had better stay outside.

    ValueError, TypeError and fpemu.SpecError as of convert. A warning at the end of the block names rules that nothing
    matched.
    """

    def __init__(self, recipe: Any, rules: Mapping[Any, Any] | None = None, *, seed: int = 0,
                 model: nn.Module | None = None) -> None:
        super().__init__()
        check_seed(seed)
        self._usual = None if recipe is None else _recipe(recipe)
        self._rules = read_rules({} if rules is None else rules)
        self._matched: set[Any] = set()
        self._names = {} if model is None else {id(module): name for name, module in model.named_modules()}
        self._model = model
        self._seed = seed
        self._calls: dict[int, int] = {}  # of places that are not met yet, by their first stream
        self._numbers = count(), count(COMPILED)  # of places, in eager mode and in graphs
        self._spots: Any = weakref.WeakKeyDictionary()
        self._elsewhere: dict[Any, Any] = {}  # outside of all modules
        self._graph: dict[str, Any] = {}  # places in graphs
        self._attached = _Attached()
        self._depth = 0
        self._attention = ""  # the name under which transformers calls it

    def __enter__(self) -> everywhere:
        self._depth += 1
        if self._depth == 1:
            self._begin()
            modes.append(self)
            for watcher in watching:
                self.lend(watcher)
        TorchFunctionMode.__enter__(self)  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *problem: Any) -> None:
        TorchFunctionMode.__exit__(self, *problem)  # type: ignore[no-untyped-call]
        self._depth -= 1
        if self._depth:
            return
        self._begun = None
        modes.remove(self)
        idle = [str(rule) for rule in self._rules if rule not in self._matched]
        if idle and problem[0] is None:
            warnings.warn(f"{len(idle)} of {len(self._rules)} rules matched nothing: {', '.join(idle)}", stacklevel=2)

    def concerns(self, model: nn.Module) -> bool:
        """Whether calls of a model come here: the mode is on, or the model's attention is registered so."""
        configs = (getattr(module, "config", None) for module in model.modules())
        return self._depth > 0 or any(getattr(config, "_attn_implementation", self) == self._attention
                                      for config in configs)

    def lend(self, watcher: Any) -> None:
        """Has observe count at the places that were met so far."""
        for held in self.places():
            for spot in held:
                for attachment in (spot or {}).values():
                    watcher.adopt(spot, attachment)

    def _attachments(self) -> Iterator[Any]:
        return (made for held in self.places() for spot in held for made in (spot or {}).values())

    def state_dict(self) -> dict[str, Any]:
        """The seed, and how many calls each place with random bits has made, by the number of its stream."""
        reached = {made.stream: made.reached()["call"] for made in self._attachments() if made.streams is not None}
        return {"seed": self._seed, "calls": {**self._calls, **reached}}

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Goes on from there, in a program that meets its places in the same order."""
        check_seed(state_dict["seed"])
        self._seed, self._calls = state_dict["seed"], dict(state_dict["calls"])
        for made in self._attachments():
            made.begin(self._seed, self._calls.get(made.stream, 0))

    def places(self) -> list[Any]:
        """The places that were met so far."""
        return [held.values() for held in (self._graph, self._elsewhere, *self._spots.values())]

    def spot(self, name: str, args: Any) -> Any:
        if torch.compiler.is_compiling():
            place = self._in_graph(name)
            if place in ("left", "idle"):
                return IDLE if place == "idle" else None
            return {kind: getattr(self._attached, self._in_graph(name, kind)) for kind in _FUNCTIONS[name][1]}
        module, line = _innermost()
        if module is not None and module._forward_pre_hooks:
            _note_weights(module)
        held = self._elsewhere if module is None else self._spots.setdefault(module, {})
        if (name, line) not in held:
            held[name, line] = self._made(module, name, line)
        return held[name, line]

    @f.constant_in_graphs
    def _in_graph(self, name: str, kind: Any = None) -> str:
        """The attribute of _attached for a place, which is made if need be; "left" or "idle" where there is none."""
        if self._names or not all(isinstance(rule, str) for rule in self._rules):
            raise RuntimeError("in a compiled graph everywhere knows no modules: rules are names of functions there")
        if name not in self._graph:
            self._graph[name] = self._made(None, name, "")
        spot = self._graph[name]
        if spot is None or spot is IDLE or kind is None:
            return "left" if spot is None else "idle" if spot is IDLE else name
        key = f"{name}_{kind[0]}"
        setattr(self._attached, key, spot[kind])
        return key

    def _made(self, module: Any, name: str, line: str) -> dict[Any, Any] | None:
        own = self._usual
        for rule, which in self._rules.items():
            named = isinstance(rule, str) and id(module) in self._names
            if matches(module, name, rule) or (named and matches(module, self._names[id(module)], rule)):
                self._matched.add(rule)
                own = which
                break
        kinds = _FUNCTIONS[name][1]
        if own is not None and kinds and all(plan.idle for kind in kinds for plan in plans(own, kind).values()):
            return IDLE
        return None if own is None else _Spot(self, own, module, name, line)


# ------------------------------------------------------------------------------------------------ transformers
def register_attention(recipe: Any, name: str = "fpemu", *, seed: int = 0) -> None:
    """Has models of transformers that are made with ``attn_implementation=name`` compute attention by a recipe, as
    ``functional.scaled_dot_product_attention`` has it. observe counts it, by module. ImportError without transformers.
    """
    try:
        from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS  # noqa: PLC0415
        from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS  # noqa: PLC0415
    except ImportError as error:
        raise ImportError("register_attention needs a transformers that has a registry of attention functions: pip "
                          "install -U transformers") from error
    mode = everywhere(recipe, seed=seed)
    sdpa = ALL_ATTENTION_FUNCTIONS["sdpa"]

    if name in ALL_ATTENTION_FUNCTIONS and not any(other._attention == name for other in modes):
        raise ValueError(f"transformers has attention '{name}' of its own: choose another name")

    def attention(*args: Any, **kwargs: Any) -> Any:
        more = [key for key, x in kwargs.items() if isinstance(x, nn.Parameter) or (key == "softcap" and x is not None)]
        if more:  # which that of torch would leave out
            raise NotImplementedError(f"attention with {', '.join(more)} is none of torch's: make the model with "
                                      "attn_implementation='eager', and convert it with a rule for the attention's "
                                      "class, or run it within fpemu.torch.everywhere")
        return mode.again(sdpa, *args, **kwargs)

    ALL_ATTENTION_FUNCTIONS.register(name, attention)
    ALL_MASK_ATTENTION_FUNCTIONS.register(name, ALL_MASK_ATTENTION_FUNCTIONS["sdpa"])
    mode._attention = name
    modes[:] = [*(other for other in modes if other._attention != name), mode]
