# SPDX-License-Identifier: BSD-2-Clause
"""The operators `torch.ops.fpemu.*`: schemas, kernels, shapes for tracing, and rules for vmap.

Formats and roundings are texts in the schemas, random state is an int64 tensor [seed, stream, offset] or the first two
words of one, and counters are an int64 tensor (`new_stats`), so that a compiled graph holds for every step. What the
kernels compute is done by the library; nothing here rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

import fpemu
from fpemu import Range, Rounding, Stats, _native
from fpemu._arrays import DECODE, ENCODE, FUNCTION, OPERATION, QUANTIZE, UNPACK, carrier_of, has_tangent
from fpemu._packed import _scale_dtype, _scales_shape, has_levels
from fpemu._values import _OPERATIONS

from . import _autograd, _device
from ._autograd import counted
from ._shard import Part, quantize_part
from ._spec import WORD, block_of, check_state, format_of, reads_neighbours, rounding_of, scale_length, signed
from .counters import check_stats, read_stats, write_stats

FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)
CODES = {1: torch.uint8, 2: torch.uint16, 4: torch.uint32, 8: torch.uint64}

# Operators that round are defined twice: as they stand here, and as <name>_counted, with a tensor of counters first.
# Kernels take the counters of the processor as Stats, those of a device as the tensor that they are.

SCHEMAS = {
    "quantize": "(Tensor x, str format, str rounding='rne', Tensor? state=None, int axis=-1, str ste='identity', "
    "str? backward=None, str backward_rounding='rne', Tensor? backward_stats=None, SymInt[]? whole=None, "
    "SymInt[]? start=None, Tensor? range=None) -> Tensor",
    "quantize_": "(Tensor(a!) x, str format, str rounding='rne', Tensor? state=None, int axis=-1, "
    "SymInt[]? whole=None, SymInt[]? start=None, Tensor? range=None) -> ()",
    "encode": "(Tensor x, str format, str rounding='rne', Tensor? state=None) -> Tensor",
    "decode": "(Tensor codes, str format, ScalarType? dtype=None) -> Tensor",
    "pack": "(Tensor x, str format, str rounding='rne', Tensor? state=None, int axis=-1, Tensor? range=None) -> Tensor",
    "unpack": "(Tensor bytes, str format, SymInt[] shape, int axis=-1, ScalarType? dtype=None) -> Tensor",
    "scales": "(Tensor x, str format, int axis=-1, Tensor? range=None) -> (Tensor, Tensor, Tensor)",
    "measure": "(Tensor x, str format) -> Tensor",
    "parts": "(Tensor x, str format, int along, int chunk, str rounding='rne', Tensor? state=None, int axis=-1) -> "
    "(Tensor, Tensor, Tensor)",
    "matmul": "(Tensor a, Tensor b, str spec, Tensor? state=None, str? backward=None, Tensor? scales_a=None, "
    "Tensor? scales_b=None, Tensor? alpha=None) -> Tensor",
    "arith": "(str operation, str format, Tensor a, Tensor? b=None, Tensor? c=None, str rounding='rne', "
    "Tensor? state=None) -> Tensor",
    "apply": "(str function, str format, Tensor x, str rounding='rne', Tensor? state=None) -> Tensor",
}

_Library: Any = torch.library.Library
library = _Library("fpemu", "DEF")
_broadcast_shapes: Any = torch.broadcast_shapes
TAGS = (torch.Tag.pt2_compliant_tag, torch.Tag.needs_exact_strides)


# ------------------------------------------------------------------------------------------------------- arguments
def check_float(x: Tensor, name: str = "x") -> None:
    """TypeError for a dtype that is not rounded."""
    if x.dtype not in FLOATS:
        raise TypeError(f"{name} has the dtype {x.dtype}: fpemu takes float64, float32, float16 and bfloat16, and "
                        "rounds none of them first; convert the tensor where that loses nothing")


def _check(x: Tensor, format: str, rounding: str, state: Tensor | None, axis: int = -1) -> None:
    check_float(x)
    format_of(format)
    rounding_of(rounding)
    check_state(state)
    if not -max(x.ndim, 1) <= axis < max(x.ndim, 1):
        raise ValueError(f"there is no axis {axis} in a tensor of {x.ndim} dimensions")


@contextmanager
def counting(stats: Tensor) -> Iterator[Stats]:
    """The counters of a tensor while they are added to; they are written back though the call fail for a NaN."""
    content = read_stats(stats)
    try:
        yield content
    finally:
        write_stats(stats, content)


def _part(whole: Sequence[int] | None, start: Sequence[int] | None) -> Part:
    if whole is None or start is None:
        raise ValueError("whole and start are given together")
    return Part(whole, start)


# ---------------------------------------------------------------------------------------------------- quantize, CPU
def range_of(tensor: Tensor | None) -> Range | None:
    """What a tensor of `measure` holds."""
    if tensor is None:
        return None
    if tensor.dtype != torch.int64 or tuple(tensor.shape) != (12,):
        raise TypeError("range is a tensor of fpemu.torch.measure: int64, 12 words")
    return Range(tensor.detach().cpu().numpy().tobytes())


def _quantize_into(counts: Any, x: Tensor, y: Tensor, format: str, rounding: str, state: Tensor | None, axis: int,
                   whole: Sequence[int] | None, start: Sequence[int] | None, tensor_range: Tensor | None) -> None:
    (r, words), f, known = _device.drawn(x, format, rounding, state), format_of(format), range_of(tensor_range)

    def run(x: Tensor, y: Tensor, r: Rounding, axis: int) -> None:
        if _device.holds(x):
            _device.run(QUANTIZE, [x], y, f, (r, words), axis, counts, known)
        else:
            fpemu.quantize(x, f, r, axis=axis, out=y, stats=counts, range=known)

    if whole is None and start is None:
        run(x, y, r, axis)
    else:
        quantize_part(run, x, y, f, r, axis, _part(whole, start), counts is not None, known is not None)


def _quantize(counts: Any, x: Tensor, format: str, rounding: str = "rne", state: Tensor | None = None,
              axis: int = -1, ste: str = "identity", backward: str | None = None, backward_rounding: str = "rne",
              backward_stats: Tensor | None = None, whole: Sequence[int] | None = None,
              start: Sequence[int] | None = None, range: Tensor | None = None) -> Tensor:
    y, x = _quantize_fake(x, format, rounding, state, axis, ste, backward, backward_rounding), x.detach()
    _quantize_into(counts, x, y, format, rounding, state, axis, whole, start, range)
    return y


def _quantize_fake(x: Tensor, format: str, rounding: str = "rne", state: Tensor | None = None, axis: int = -1,
                   ste: str = "identity", backward: str | None = None, backward_rounding: str = "rne", *rest: Any,
                   **keywords: Any) -> Tensor:
    _check(x, format, rounding, state, axis)
    _autograd.check_gradient(format, ste, backward, backward_rounding)
    return torch.empty_like(x)


def _quantize_in_place(counts: Any, x: Tensor, format: str, rounding: str = "rne",
                       state: Tensor | None = None, axis: int = -1, whole: Sequence[int] | None = None,
                       start: Sequence[int] | None = None, range: Tensor | None = None) -> None:
    _check(x, format, rounding, state, axis)
    x = x.detach()
    source = x.clone() if reads_neighbours(format_of(format)) else x  # which is not written over while it is read
    _quantize_into(counts, source, x, format, rounding, state, axis, whole, start, range)


def _quantize_in_place_fake(x: Tensor, format: str, rounding: str = "rne", state: Tensor | None = None, axis: int = -1,
                            *rest: Any, **keywords: Any) -> None:
    _check(x, format, rounding, state, axis)


# ---------------------------------------------------------------------------------------------------- codes, bytes
def code_dtype(format: str) -> torch.dtype:
    """The dtype of a format's codes."""
    return getattr(torch, format_of(format).code_dtype.name)


def _value_dtype(format: str, dtype: torch.dtype | None) -> torch.dtype:
    if dtype is None:
        return torch.float32 if format_of(format).fits_f32 else torch.float64
    if dtype not in FLOATS:
        raise TypeError(f"values are held in float64, float32, float16 or bfloat16, not in {dtype}")
    return dtype


def _encode(counts: Any, x: Tensor, format: str, rounding: str = "rne", state: Tensor | None = None) -> Tensor:
    codes, how = _encode_fake(x, format, rounding, state), _device.drawn(x, format, rounding, state)
    if _device.holds(x):
        return _device.run(ENCODE, [x.detach()], codes, format_of(format), how, stats=counts)
    fpemu.encode(x.detach(), format_of(format), how[0], out=codes, stats=counts)
    return codes


def _encode_fake(x: Tensor, format: str, rounding: str = "rne", state: Tensor | None = None) -> Tensor:
    _check(x, format, rounding, state)
    return torch.empty_like(x, dtype=code_dtype(format))


def _decode(counts: None, codes: Tensor, format: str, dtype: torch.dtype | None = None) -> Tensor:
    values = _decode_fake(codes, format, dtype)
    if _device.holds(codes):
        return _device.run(DECODE, [codes], values, format_of(format))
    fpemu.decode(codes, format_of(format), values.dtype, out=values)
    return values


def _decode_fake(codes: Tensor, format: str, dtype: torch.dtype | None = None) -> Tensor:
    return torch.empty_like(codes, dtype=_value_dtype(format, dtype))


def _layout(format: str, shape: Sequence[int], axis: int) -> dict[str, int]:
    return _native.layout(format_of(format), tuple(int(size) for size in shape), axis)


def _pack(counts: Any, x: Tensor, format: str, rounding: str = "rne", state: Tensor | None = None,
          axis: int = -1, range: Tensor | None = None) -> Tensor:
    _check(x, format, rounding, state, axis)
    how = _device.drawn(x, format, rounding, state)
    if _device.holds(x):
        return _device.pack(x.detach(), format_of(format), how, axis, range_of(range), counts)
    return _native.pack(x.detach(), format_of(format), how[0], axis, 0, range_of(range), counts)


def _pack_fake(x: Tensor, format: str, rounding: str = "rne", state: Tensor | None = None, axis: int = -1,
               range: Tensor | None = None) -> Tensor:
    _check(x, format, rounding, state, axis)
    return x.new_empty(_layout(format, x.shape, axis)["bytes"], dtype=torch.uint8)


def _unpack(counts: None, bytes: Tensor, format: str, shape: Sequence[int], axis: int = -1,
            dtype: torch.dtype | None = None) -> Tensor:
    values = _unpack_fake(bytes, format, shape, axis, dtype)
    if _device.holds(bytes):
        return _device.run(UNPACK, [bytes], values, format_of(format), axis=axis)
    _native.unpack(bytes, format_of(format), tuple(shape), axis, carrier_of(values.dtype), values)
    return values


def _unpack_fake(bytes: Tensor, format: str, shape: Sequence[int], axis: int = -1,
                 dtype: torch.dtype | None = None) -> Tensor:
    return bytes.new_empty(tuple(shape), dtype=_value_dtype(format, dtype))


def _need_scales(format: str) -> fpemu.Format:
    """The format; fpemu.Error where its blocks have no scales apart."""
    f = format_of(format)
    if _scale_dtype(f) is None:
        fpemu.scales(np.zeros(0), f)
    return f


def _scales(counts: None, x: Tensor, format: str, axis: int = -1,
            range: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    check_float(x)
    f = _need_scales(format)
    head = _device.head_of(_pack(None, x, format, "rne", None, axis, range), x, f, axis)
    numbers, tensor = head.scales, head.tensor_scales or (1.0, 1.0)
    return (numbers.to(x.device), head.scale_codes.clone().to(x.device),
            torch.tensor(tensor, dtype=numbers.dtype, device=x.device))


def _scales_fake(x: Tensor, format: str, axis: int = -1, range: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
    check_float(x)
    shape = tuple(int(size) for size in x.shape)
    of_scales = _scales_shape(format_of(format), shape, axis)
    if of_scales is None:
        of_scales = (_layout(format, shape, axis)["blocks"],)
    carrier = torch.float64 if x.dtype == torch.float64 else torch.float32
    code = _scale_dtype(format_of(format))
    codes = CODES[code.itemsize if code else 1]
    pairs = (_layout(format, shape, axis)["tensor_bytes"] // 8, 2) if format_of(format).outer else (2,)
    return (x.new_empty(of_scales, dtype=carrier), x.new_empty(of_scales, dtype=codes),
            x.new_empty(pairs, dtype=carrier))


def _parts(counts: Any, x: Tensor, format: str, along: int, chunk: int, rounding: str = "rne",
           state: Tensor | None = None, axis: int = -1) -> tuple[Tensor, Tensor, Tensor]:
    """Elements, as values of their format; scales, one for each chunk of the dimension `along`, which comes last; the
    scale of the whole tensor, one number on the processor."""
    elements, scales, tensor = _parts_fake(x, format, along, chunk, rounding, state, axis)
    f, axis = _need_scales(format), axis % x.ndim
    if has_levels(f):
        raise fpemu.Error(f"{format}: products take no scales with levels or zero points apart; round the operands, "
                          "and multiply the numbers")
    if not x.numel():
        return elements, scales.fill_(1), tensor.fill_(1)
    packed = _pack(counts, x, format, rounding, state, axis)
    head = _device.head_of(packed, x, f, axis)
    layout, block, found = head.layout, block_of(f), head.scales.numpy()
    tensor.fill_((head.tensor_scales or (1.0, 1.0))[1])
    if block == "row":
        found = np.expand_dims(found, axis)
    elif block == "run" or (block == "tile" and axis == 0):
        found = np.moveaxis(found.reshape(*x.shape[:axis], *x.shape[axis + 1:], -1), -1, axis)
    elif block == "tile":
        found = np.moveaxis(found, (-2, -1), (axis - 1, axis))
    else:
        found = found.reshape([-1 if d == axis else 1 for d in range(x.ndim)])
    places = [np.arange(0, n, chunk if d == along % x.ndim else 1) // (scale_length(f, d, axis) or n)
              for d, n in enumerate(x.shape)]
    scales.copy_(torch.from_numpy(np.moveaxis(found[np.ix_(*places)], along, -1)))
    one = 0 if f.scale_format is None else int(fpemu.encode(np.ones(1), f.scale_format)[0])
    ones = np.ones(layout["tensor_bytes"] // 4, "<f4").tobytes() + one.to_bytes(
        layout["scale_bytes"], "little") * layout["blocks"]
    packed[:layout["elements_offset"]] = torch.frombuffer(bytearray(ones), dtype=torch.uint8).to(packed.device)
    return _unpack(None, packed, format, x.shape, axis, x.dtype), scales, tensor


def _parts_fake(x: Tensor, format: str, along: int, chunk: int, rounding: str = "rne", state: Tensor | None = None,
                axis: int = -1) -> tuple[Tensor, Tensor, Tensor]:
    _check(x, format, rounding, state, axis)
    wide = torch.promote_types(x.dtype, torch.float32)
    length, sizes = scale_length(format_of(format), along % x.ndim, axis % x.ndim), list(x.shape)
    if length is not None and length % chunk:
        raise ValueError(f"{format} has a scale for each {length} along dimension {along}, and the product one for "
                         f"each {chunk}")
    sizes.append(-(-sizes.pop(along) // chunk))
    return torch.empty_like(x), x.new_empty(sizes, dtype=wide), torch.empty((), dtype=wide, device="cpu")


def _measure(counts: None, x: Tensor, format: str) -> Tensor:
    check_float(x)
    found = (_device if _device.holds(x) else fpemu).measure(x.detach(), format_of(format))
    return torch.frombuffer(bytearray(found._content), dtype=torch.int64).to(x.device)


def _measure_fake(x: Tensor, format: str) -> Tensor:
    check_float(x)
    return x.new_empty(12, dtype=torch.int64)


# ------------------------------------------------------------------------------------------- products and operations
def _same_dtype(*tensors: Tensor | None) -> None:
    dtypes = {t.dtype for t in tensors if t is not None}
    if len(dtypes) > 1:
        raise TypeError(f"operands have the dtypes {', '.join(sorted(map(str, dtypes)))}: fpemu converts none of them")


def _matmul_fake(a: Tensor, b: Tensor, spec: str, state: Tensor | None = None, backward: str | None = None,
                 *scales: Tensor | None) -> Tensor:
    check_float(a, "a")
    _same_dtype(a, b)
    check_state(state)
    fpemu.gemm(spec)
    if backward is not None:
        fpemu.gemm(backward)
    if a.ndim < 2 or b.ndim < 2:
        raise ValueError("operands of this operator have two dimensions or more")
    torch._check(a.shape[-1] == b.shape[-2],
                 lambda: f"{tuple(a.shape)} and {tuple(b.shape)} have no common inner dimension")
    batch = _broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return a.new_empty((*batch, a.shape[-2], b.shape[-1]))


def _matmul(counts: Any, a: Tensor, b: Tensor, spec: str, state: Tensor | None = None,
            backward: str | None = None, scales_a: Tensor | None = None, scales_b: Tensor | None = None,
            alpha: Tensor | None = None) -> Tensor:
    c = _matmul_fake(a, b, spec, state, backward)
    model = fpemu.gemm(spec)
    if state is not None and model._random:
        _device.check_capture(a)
        seed, stream = (word % WORD for word in state.tolist()[:2])
        model = fpemu.gemm(spec, seed=seed, stream=stream)
    number = 1.0 if alpha is None else float(alpha.item())
    if _device.holds(a):
        return _device.matmul(a.detach(), b.detach(), c, model, counts, (scales_a, scales_b), number)
    fpemu.matmul(a.detach(), b.detach(), model, alpha=number, scales_a=scales_a, scales_b=scales_b, out=c, stats=counts)
    return c


def _arith_fake(operation: str, format: str, a: Tensor, b: Tensor | None = None, c: Tensor | None = None,
                rounding: str = "rne", state: Tensor | None = None) -> Tensor:
    _check(a, format, rounding, state)
    operands = _operands(operation, a, b, c)
    shape = _broadcast_shapes(*(t.shape for t in operands))
    if all(t.shape == shape for t in operands):
        return torch.empty_like(a)
    return a.new_empty(shape)


def _operands(operation: str, *tensors: Tensor | None) -> list[Tensor]:
    if operation not in _OPERATIONS:
        raise ValueError(f"the operation is one of {', '.join(_OPERATIONS)}, not {operation!r}")
    _same_dtype(*tensors)
    given = [t for t in tensors if t is not None]
    needed = {"sqrt": 1, "fma": 3}.get(operation, 2)
    if len(given) != needed:
        raise TypeError(f"{operation} takes {needed} operand{'s' * (needed > 1)}, not {len(given)}")
    return given


def _arith(counts: Any, operation: str, format: str, a: Tensor, b: Tensor | None = None,
           c: Tensor | None = None, rounding: str = "rne", state: Tensor | None = None) -> Tensor:
    y = _arith_fake(operation, format, a, b, c, rounding, state)
    operands = tuple(t.detach() for t in _operands(operation, a, b, c))
    how, number = _device.drawn(a, format, rounding, state), _OPERATIONS.index(operation)
    if _device.holds(a):
        return _device.run(OPERATION + number, operands, y, format_of(format), how, stats=counts)
    _native.arith(number, operands, format_of(format), how[0], 0, y, counts)
    return y


def _apply(counts: Any, function: str, format: str, x: Tensor, rounding: str = "rne",
           state: Tensor | None = None) -> Tensor:
    y, how = _apply_fake(function, format, x, rounding, state), _device.drawn(x, format, rounding, state)
    if _device.holds(x):
        use = FUNCTION + fpemu.functions().index(function)
        return _device.run(use, [x.detach()], y, format_of(format), how, stats=counts)
    fpemu.apply(function, x.detach(), format_of(format), how[0], out=y, stats=counts)
    return y


def _apply_fake(function: str, format: str, x: Tensor, rounding: str = "rne", state: Tensor | None = None) -> Tensor:
    _check(x, format, rounding, state)
    if function not in _autograd.DERIVATIVES:
        raise ValueError(f"the function is one of {', '.join(_autograd.DERIVATIVES)}, not {function!r}")
    return torch.empty_like(x)


# ------------------------------------------------------------------------------------------------------------- vmap
def _loop(op: Any, fake: Callable[..., Any], info: Any, in_dims: Sequence[Any],
          args: Sequence[Any]) -> tuple[Any, Any]:
    """One call for each index of the mapped dimension, results side by side. Each takes the random bits that it would
    take alone, and adds to the same counters, where those are not mapped too. fake: shapes where there is no index."""
    results = []
    for i in range(info.batch_size):
        results.append(op(*(a if d is None else a.select(d, i) for a, d in zip(args, in_dims))))
    if not info.batch_size:
        of_one = (a if d is None else a.new_empty(a.shape[:d] + a.shape[d + 1:]) for a, d in zip(args, in_dims))
        results.append(fake(*of_one))

    def side_by_side(parts: Sequence[Tensor]) -> Tensor:
        return torch.stack(list(parts)) if info.batch_size else parts[0].new_empty((0, *parts[0].shape))

    if results[0] is None:
        return None, None
    if isinstance(results[0], tuple):
        stacked = tuple(side_by_side(parts) for parts in zip(*results))
        return stacked, (0,) * len(stacked)
    return side_by_side(results), 0


def _single_quantize(in_dims: Sequence[Any], x: Tensor, format: str, rounding: str = "rne",
                     state: Tensor | None = None, axis: int = -1, *rest: Any) -> bool:
    """A format without blocks and without random bits knows of no dimension: one call does for all. An axis that there
    is not is left to the single calls, which refuse it."""
    backward, backward_rounding = (*rest, *(None,) * 8)[1:3]
    ndim = max(x.ndim - 1, 1)
    return in_dims[0] is not None and -ndim <= axis < ndim and all(d is None for d in in_dims[1:]) \
        and all(f is None or block_of(format_of(f)) is None for f in (format, backward)) \
        and not any(r and rounding_of(r).is_stochastic for r in (rounding, backward_rounding)) \
        and not any(isinstance(r, (list, Tensor)) for r in rest)


# ----------------------------------------------------------------------------------------------------- random state
def _substream(state: Tensor, number: int) -> Tensor:
    check_state(state)
    result = state.detach().clone()
    result[1] ^= signed(number << 62)
    return result


def _substream_fake(state: Tensor, number: int) -> Tensor:
    check_state(state)
    return torch.empty_like(state)


def _register_substream() -> None:
    """fpemu::substream, a copy of random state for the stream whose number differs in its two top bits by `number`."""
    library.define("substream(Tensor state, int number) -> Tensor", tags=TAGS)
    library.impl("substream", _substream, "CompositeExplicitAutograd")
    torch.library.register_fake("fpemu::substream", _substream_fake, lib=library)
    _register_mapping("substream", _substream_fake, 0, lambda *args: False)


# ----------------------------------------------------------------------------------------------------- registration
def _refuse_tangents(name: str, args: Sequence[Any]) -> None:
    """Derivatives forward would be lost without a word."""
    if any(isinstance(a, Tensor) and has_tangent(a) for a in args):
        raise NotImplementedError(f"fpemu::{name} has no derivative forward (torch.func.jvp, jacfwd, hessian): its "
                                  "surrogate's goes backward (torch.func.vjp, grad, jacrev)")


def _register(name: str, kernel: Callable[..., Any], fake: Callable[..., Any], gradient: Callable[..., Any],
              single: Callable[..., bool] = lambda *args: False, counts: bool = True) -> None:
    """Defines an operator and, if it `counts`, its like that does.

    kernel: takes counters or None, then the operator's arguments. fake: shapes and dtypes of the results. gradient: the
    kernel of autograd, which takes a tensor of counters or None, then the arguments; it calls what is below. single:
    whether vmap may pass the whole batch, at its place, in one call whose result is mapped there too.
    """
    schema = SCHEMAS[name]
    library.define(name + schema, tags=TAGS)
    if counts:
        library.define(counted(name) + schema.replace("(", "(Tensor(s!) stats, ", 1), tags=TAGS)

    def plain_kernel(*args: Any) -> Any:
        return _native.unwatched(kernel, None, *args)

    def counted_kernel(stats: Tensor, *args: Any) -> Any:
        if any(isinstance(a, Tensor) and _device.holds(a) for a in args):
            return _native.unwatched(kernel, stats, *args)
        with counting(stats) as counts:
            return _native.unwatched(kernel, counts, *args)

    def counted_fake(stats: Tensor, *args: Any, **keywords: Any) -> Any:
        check_stats(stats)
        return fake(*args, **keywords)

    def plain_gradient(keyset: Any, *args: Any) -> Any:
        _refuse_tangents(name, args)
        return gradient(keyset, None, *args)

    def counted_gradient(keyset: Any, stats: Tensor, *args: Any) -> Any:
        _refuse_tangents(name, args)
        return gradient(keyset, stats, *args)

    both = ((name, plain_kernel, fake, plain_gradient),
            (counted(name), counted_kernel, counted_fake, counted_gradient))
    for op_name, run, shape, autograd in both if counts else both[:1]:
        library.impl(op_name, run, "CPU")
        library.impl(op_name, run, "CUDA")
        library.impl(op_name, autograd, "Autograd", with_keyset=True)
        torch.library.register_fake(f"fpemu::{op_name}", shape, lib=library)
        _register_mapping(op_name, shape, int(op_name != name), single)
        _register_writing(op_name)


def _register_mapping(name: str, fake: Callable[..., Any], first: int, single: Callable[..., bool]) -> None:
    op = getattr(torch.ops.fpemu, name).default

    def rule(info: Any, in_dims: Sequence[Any], *args: Any) -> tuple[Any, Any]:
        if all(d is None for d in in_dims[:first]) and single(in_dims[first:], *args[first:]):
            return op(*args), in_dims[first]
        return _loop(op, fake, info, in_dims, args)

    torch.library.register_vmap(f"fpemu::{name}", rule, lib=library)


def _register_writing(name: str) -> None:
    """Version counters of what an operator writes, on a device too, where nothing else counts them."""
    op = getattr(torch.ops.fpemu, name).default
    written = [i for i, a in enumerate(op._schema.arguments) if a.alias_info and a.alias_info.is_write]
    if not written:
        return

    def count_versions(keyset: Any, *args: Any) -> Any:
        for i in written:
            torch.autograd.graph.increment_version(args[i])
        return op.redispatch(keyset & torch._C._after_ADInplaceOrView_keyset, *args)

    library.impl(name, count_versions, "ADInplaceOrView", with_keyset=True)


_register_substream()
_register("quantize", _quantize, _quantize_fake, _autograd.quantize, _single_quantize)
_register("quantize_", _quantize_in_place, _quantize_in_place_fake, _autograd.no_gradient("quantize_"))
_register("encode", _encode, _encode_fake, _autograd.no_gradient("encode"))
_register("decode", _decode, _decode_fake, _autograd.no_gradient("decode"), counts=False)
_register("pack", _pack, _pack_fake, _autograd.no_gradient("pack"))
_register("unpack", _unpack, _unpack_fake, _autograd.no_gradient("unpack"), counts=False)
_register("scales", _scales, _scales_fake, _autograd.no_gradient("scales"), counts=False)
_register("measure", _measure, _measure_fake, _autograd.no_gradient("measure"), counts=False)
_register("parts", _parts, _parts_fake, _autograd.no_gradient("parts"))
_register("matmul", _matmul, _matmul_fake, _autograd.matmul)
_register("arith", _arith, _arith_fake, _autograd.arith)
_register("apply", _apply, _apply_fake, _autograd.function)
