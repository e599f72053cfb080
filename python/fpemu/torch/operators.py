# SPDX-License-Identifier: BSD-2-Clause
"""The operators as functions: the differentiable front of `torch.ops.fpemu`, with a fast path for plain tensors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.abc import MetaPathFinder
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

import fpemu
from fpemu import Format, Range, Rounding, Stats, _native
from fpemu._arrays import check_memory, is_audited
from fpemu._values import _OPERATIONS

from . import _device, _ops, _spec
from ._autograd import call, check_gradient, check_ste, inside_range, straight_through, wants_gradient
from ._spec import check_state, check_tensors, format_text, is_stochastic, rounding_text, state_of
from .counters import read_stats, stats_on

_quantize_native: Callable[..., Tensor] = fpemu.quantize
_is_compiling = torch.compiler.is_dynamo_compiling
_is_grad_enabled = torch.is_grad_enabled
_watched = _native.watched


def _parallel(*tensors: Any) -> None:
    """Loads the rules for distributed tensors where there are any."""
    distributed = sys.modules.get("torch.distributed.tensor")
    if distributed is not None and any(isinstance(t, distributed.DTensor) for t in tensors):
        from . import parallel  # noqa: F401, PLC0415


def quantize(x: Tensor, format: str | Format, rounding: str | Rounding = "rne", *, axis: int = -1,
             state: Tensor | None = None, stats: Tensor | Stats | None = None, ste: str = "identity",
             backward: str | Format | None = None, backward_rounding: str | Rounding = "rne",
             backward_stats: Tensor | None = None, whole: Sequence[int] | None = None,
             start: Sequence[int] | None = None, range: Tensor | None = None) -> Tensor:
    """Every element of x as the value of the format that the rounding makes of it, with a gradient.

    x: a tensor of any shape and strides, float64, float32, float16 or bfloat16; a DTensor too. The result has its
        shape, dtype, device and layout. Autocast does not change the dtype.
    format, rounding: a `fpemu.Format` and a `fpemu.Rounding`, or their texts; a rounding's text may go on as in
        "sr,bits=16,variant=b".
    axis: along which blocks run, for formats with blocks.
    state: for stochastic rounding an int64 tensor [seed, stream, offset] (`new_state`). It is only read, on the host,
        which the capture of a CUDA graph refuses; where it has the first two words alone, on x's device, by the
        kernels. None: those of `rounding`. Element i in C order has the index offset + i.
    stats: counters that are added to: a tensor of `new_stats`, or a `fpemu.Stats` where nothing is traced. On a device
        the call ends with reading the counters for a `fpemu.Stats`, and waits; for a tensor there it does not.
    ste: what the gradient is. "identity": as it comes, straight through. "clipped": 0 where x is outside
        [format.lowest, format.max], or NaN; for formats without blocks.
    backward: the format that the gradient is rounded to before that, by `backward_rounding`, counted in
        `backward_stats`. Its random bits are those of the stream whose number differs from the state's in the top bit.

    whole, start: x is the part of a tensor of sizes `whole` that begins at the index `start`, one number for each
        dimension; every element takes the random bits that it would take there. ValueError where a block would lie in
        two parts. range: what `measure` found of that tensor, or of an earlier one, for formats with a scale of all.

    The gradient of the gradient is that of these rules, in which a rounding is straight-through.

    Under `torch.vmap` each element of the batch is rounded as alone: it has the blocks and the random bits that it
    would have without the batch.

    Raises TypeError for another dtype, `fpemu.SpecError` for a text that is none, `fpemu.Error` for what the library
    refuses, ValueError for an axis that there is not.
    """
    if _is_compiling() or not (type(x) is Tensor or type(x) is Parameter) or not x.is_cpu \
            or _device.PLAYED or whole is not None or start is not None or range is not None:
        return _through_dispatcher(x, format, rounding, axis, state, stats, ste, backward, backward_rounding,
                                   backward_stats, whole, start, range)
    recorded = x.requires_grad and _is_grad_enabled()
    if recorded or state is not None or backward is not None or ste != "identity" or backward_rounding != "rne" \
            or (stats is not None and isinstance(stats, Tensor)):
        if _watched() and not (getattr(format, "_spec", "") is None and is_audited(torch)):  # a table has no operator
            return _through_dispatcher(x, format, rounding, axis, state, stats, ste, backward, backward_rounding,
                                       backward_stats)
        if recorded or ste != "identity" or backward is not None or backward_rounding != "rne":
            # a format without a text, a table, is refused only where its range is asked for
            check_gradient(format_text(format) if ste == "clipped" else "", ste,
                           None if backward is None else format_text(backward), rounding_text(backward_rounding))
        if recorded:
            if backward is not None and state is None:
                state = state_of(rounding)
                state = state_of(backward_rounding) if state is None else state
            return _Plain.apply(x, format, rounding, axis, state, stats, ste, backward,
                                rounding_text(backward_rounding), backward_stats)
        if state is not None:
            rounding = _spec.with_state(rounding_text(rounding), state)
    if type(rounding) is str and "," in rounding:  # more than the library reads in a text
        rounding = _spec.rounding_of(rounding)
    if stats is None:  # the usual call, of which arguments by name cost a tenth; the binding asks who watches
        return (_quantize_native(x, format, rounding) if axis == -1 else
                _quantize_native(x, format, rounding, axis=axis))
    if isinstance(stats, Tensor):
        with _ops.counting(stats) as counts:
            return _quantize_native(x, format, rounding, axis=axis, stats=counts)
    return _quantize_native(x, format, rounding, axis=axis, stats=stats)


def _through_dispatcher(x: Tensor, format: str | Format, rounding: str | Rounding, axis: int = -1,
                        state: Tensor | None = None, stats: Tensor | Stats | None = None, ste: str = "identity",
                        backward: str | Format | None = None, backward_rounding: str | Rounding = "rne",
                        backward_stats: Tensor | None = None, whole: Sequence[int] | None = None,
                        start: Sequence[int] | None = None, range: Tensor | None = None) -> Tensor:
    """`quantize` where more than memory is asked for, or torch watches."""
    if not _is_compiling():
        check_tensors(x)
        _parallel(x)
    check_ste(ste)
    check_state(state)
    if state is None:
        state = state_of(rounding)
        if state is None and not isinstance(backward_rounding, str):
            state = state_of(backward_rounding)
    back = None if backward is None else format_text(backward)
    return _with_stats("quantize", stats, x, format_text(format), rounding_text(rounding), state, axis, ste, back,
                       rounding_text(backward_rounding), backward_stats, whole, start, range)


class _Plain(torch.autograd.Function):
    """fpemu::quantize and its gradient without the dispatcher, for tensors that are plain memory."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, format: str | Format, rounding: str | Rounding, axis: int,
                state: Tensor | None, stats: Tensor | Stats | None, ste: str, backward: str | Format | None,
                backward_rounding: str, backward_stats: Tensor | None) -> Tensor:
        ctx.axis, ctx.format, ctx.rounding, ctx.stats = axis, backward, backward_rounding, backward_stats
        random = backward is not None and state is not None and is_stochastic(format_text(backward), backward_rounding)
        ctx.save_for_backward(inside_range(x, format_text(format)) if ste == "clipped" else None,
                              None if state is None or not random else state.clone())  # the caller's moves on
        return quantize(x.detach(), format, rounding, axis=axis, state=state, stats=stats)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        def run(gradient: Tensor, format: str | Format, rounding: str, state: Tensor | None) -> Tensor:
            return quantize(gradient, format, rounding, axis=ctx.axis, state=state, stats=ctx.stats)

        return (straight_through(ctx, gradients[0], run), *[None] * 9)


def quantize_(x: Tensor, format: str | Format, rounding: str | Rounding = "rne", *, axis: int = -1,
              state: Tensor | None = None, stats: Tensor | Stats | None = None) -> Tensor:
    """`quantize` in place; returns x, whose version counter tells autograd of it.

    Where x takes part in autograd the gradient is straight-through. A leaf that requires grad is refused, as by all of
    PyTorch's operators in place: use torch.no_grad().
    """
    if not _is_compiling():
        check_tensors(x)
        _parallel(x)
        check_memory(x)
    if x.requires_grad and _is_grad_enabled():
        return x.copy_(quantize(x, format, rounding, axis=axis, state=state, stats=stats))
    if state is None:
        state = state_of(rounding)
    _with_stats("quantize_", stats, x, format_text(format), rounding_text(rounding), state, axis)
    return x


_GRAPH_MODES = torch._C._TorchDispatchModeKey.PROXY, torch._C._TorchDispatchModeKey.FAKE


def _with_stats(name: str, stats: Tensor | Stats | None, *args: Any) -> Any:
    if not isinstance(stats, Stats):
        return call(name, stats, *args)
    if torch._C._is_tracing() or any(torch._C._get_dispatch_mode(mode) for mode in _GRAPH_MODES):
        raise TypeError("a graph counts in no fpemu.Stats, which it would leave behind: stats=fpemu.torch.new_stats()")
    x = next(a for a in args if isinstance(a, Tensor))
    holder = stats_on(x.device, stats)  # of this call alone: other threads may add to `stats` meanwhile
    try:
        return call(name, holder, *args)
    finally:  # counts stay though the call fail for a NaN
        stats._merge(read_stats(holder))


def encode(x: Tensor, format: str | Format, rounding: str | Rounding = "rne", *, state: Tensor | None = None,
           stats: Tensor | Stats | None = None) -> Tensor:
    """The codes of the values that `quantize` gives, of x's shape: uint8, uint16, uint32 or uint64, the code in the low
    bits. `codes.view(torch.float8_e4m3fn)` and the like show them as PyTorch's own types. Without a gradient.

    ValueError for formats with blocks, which have no codes apart from their scales: `pack` gives both.
    """
    check_tensors(x)
    return _with_stats("encode", stats, x, format_text(format), rounding_text(rounding),
                       state_of(rounding) if state is None else state)


def decode(codes: Tensor, format: str | Format, dtype: torch.dtype | None = None) -> Tensor:
    """The values of codes, in their shape. codes: unsigned integers as `encode` gives, or PyTorch's types with one
    number to a byte; of others codes.view(torch.uint16). dtype: float64, float32, float16 or bfloat16; None: float32
    where it holds every value, else float64."""
    check_tensors(codes)
    return torch.ops.fpemu.decode.default(codes, format_text(format), dtype)


def pack(x: Tensor, format: str | Format, rounding: str | Rounding = "rne", *, axis: int = -1,
         state: Tensor | None = None, stats: Tensor | Stats | None = None) -> Tensor:
    """x as packed bytes, a flat uint8 tensor laid out as doc/blocks.md, 4, says: scales of blocks along `axis`, then
    elements. Under torch.compile its length makes the sizes of x constants. Without a gradient."""
    check_tensors(x)
    return _with_stats("pack", stats, x, format_text(format), rounding_text(rounding),
                       state_of(rounding) if state is None else state, axis)


def unpack(bytes: Tensor, format: str | Format, shape: Sequence[int], *, axis: int = -1,
           dtype: torch.dtype | None = None) -> Tensor:
    """The values of packed bytes, in the shape that was packed. dtype as for `decode`."""
    check_tensors(bytes)
    return torch.ops.fpemu.unpack.default(bytes, format_text(format), shape, axis, dtype)


def scales(x: Tensor, format: str | Format, *, axis: int = -1) -> tuple[Tensor, Tensor, Tensor]:
    """The scales that `quantize` and `pack` use for x, where the format has a search by "rne": (scales, codes, tensor).

    scales: float32 (float64 for such an x), by blocks: for runs the shape of x without `axis`, then as many as a line
        has blocks. codes: theirs, unsigned integers. tensor: two numbers, nvfp4's multiplier u and scale d (of
        each line with outer=row), else 1, 1.
    fpemu.Error for formats without scales.
    """
    check_tensors(x)
    return torch.ops.fpemu.scales.default(x, format_text(format), axis)


def measure(x: Tensor, format: str | Format) -> Tensor:
    """What is known of a whole tensor, an int64 tensor of 12 words, from which a scale of all of it follows:
    `fpemu.Range` of x for the format. This, and what is given its result as `range`, waits for a device."""
    check_tensors(x)
    return torch.ops.fpemu.measure.default(x, format_text(format))


def parts(x: Tensor, format: str, along: int, chunk: int, rounding: str = "rne", *, axis: int = -1,
          state: Tensor | None = None, stats: Tensor | Stats | None = None) -> tuple[Tensor, Tensor, Tensor]:
    """What `pack` makes of x as `matmul` takes it: (elements, scales, tensor).

    elements: of x's shape and dtype, values of the element format.
    scales: float32 (float64 for such an x), one for each `chunk` of the dimension `along`, in the shape of x without
        that, then as many as it has chunks.
    tensor: the scale of all of x, nvfp4's d, else 1: one number on the processor.
    Without a gradient. It waits for a device. ValueError where a chunk has several scales.
    """
    return _with_stats("parts", stats, x, format, along, chunk, rounding, state, axis)


def matmul(a: Tensor, b: Tensor, spec: str, *, scales_a: Tensor | None = None, scales_b: Tensor | None = None,
           alpha: Tensor | float | None = None, state: Tensor | None = None, stats: Tensor | Stats | None = None,
           backward: str | None = None) -> Tensor:
    """a @ b as the machine that `spec` describes computes it (`fpemu.gemm`): with what operands, products and sums are
    rounded to, and in which order they are added.

    a, b: (..., m, k) and (..., k, n) of one dtype, float64, float32, float16 or bfloat16; batches are broadcast; an
        operand of one dimension is a row, or a column, as for torch.matmul. Any strides; transposes cost nothing.
        The result has their dtype, autocast or not.
    scales_a, scales_b: a scale for every chunk of k of each row of a, (..., m, ceil(k / chunk)), and of each column of
        b, (..., n, ceil(k / chunk)), float32 (float64 for such operands); for models that take scales.
    alpha: a number of the operands' dtype, by which the sum is multiplied before its one rounding to the result.
    state: of stochastic roundings in the spec, [seed, stream, offset]; the offset is not used.
    stats: counts every rounding of products and sums.
    backward: the model of the two products of the backward pass, g b^T and a^T g, and of those of its own backward
        pass; None: torch.matmul. The gradient is that of the exact product of a and b as they are given, times scales;
        the rounding of operands by the spec is straight-through. ValueError for a gradient of scales or alpha. With b
        of two dimensions the gradient of b is one product over all rows of a.
    """
    check_tensors(a, b)
    rows, columns = a.ndim == 1, b.ndim == 1
    if rows:
        a = a.unsqueeze(0)
    if columns:
        b = b.unsqueeze(1)
    if alpha is not None and not isinstance(alpha, Tensor):
        alpha = torch.tensor(alpha, dtype=torch.float64)
    c = _with_stats("matmul", stats, a, b, spec, state, backward, scales_a, scales_b, alpha)
    if columns:
        c = c.squeeze(-1)
    return c.squeeze(-1 if columns else -2) if rows else c


def arith(operation: str, operands: Sequence[Tensor], format: str | Format, rounding: str | Rounding = "rne", *,
          state: Tensor | None = None, stats: Tensor | Stats | None = None) -> Tensor:
    """An operation of IEEE 754 on tensors that broadcast, its exact result rounded once to the format.

    operation: "add", "sub", "mul", "div", "sqrt", "fma" (a * b + c), "minimum", "maximum", "minimum_number",
        "maximum_number". operands: one, two or three tensors of one dtype.
    The gradient is that of the exact operation. fpemu.Error for formats that arithmetic refuses, as those with blocks.
    """
    check_tensors(*operands)
    a, b, c = (*operands, None, None, None)[:3]
    if a is None or len(operands) > 3:
        raise TypeError(f"{operation} takes one to three operands, not {len(operands)}")
    return _with_stats("arith", stats, operation, format_text(format), a, b, c, rounding_text(rounding),
                       state_of(rounding) if state is None else state)


def apply(function: str, x: Tensor, format: str | Format, rounding: str | Rounding = "rne", *,
          state: Tensor | None = None, stats: Tensor | Stats | None = None) -> Tensor:
    """An elementary function of x, correctly rounded once: one of `fpemu.functions()`, such as "exp" or "gelu".

    x: numbers of at most 16 significant bits, as all of fp16 and bf16 are; else fpemu.Error. On a device, which is not
    waited for, others become NaN. The gradient is that of the exact function, in x's dtype.
    """
    check_tensors(x)
    return _with_stats("apply", stats, function, format_text(format), x, rounding_text(rounding),
                       state_of(rounding) if state is None else state)


def adopt(verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Carries out a call of `fpemu.<verb>` on tensors that are more than memory on the processor: that take part in
    autograd, are traced or mapped, or lie on a device."""
    if verb not in _ADOPTED:
        verb = {"quantize_given": "quantize with scale= or words="}.get(verb, verb)
        raise TypeError(f"fpemu.{verb} takes tensors that are plain memory of the processor, without gradients, and "
                        "stands in no graph: x.detach() is one; fpemu.torch has what follows gradients and is traced")
    return _ADOPTED[verb](*args, **kwargs)


def _moved(rounding: str | Rounding, offset: int) -> str | Rounding:
    """A rounding whose first element has the index `offset` more."""
    if not offset:
        return rounding
    rounding = fpemu.rounding(rounding)
    return rounding.replace(offset=(rounding.offset + offset) % 2**64)


def _check_out(out: Any, inputs: Sequence[Tensor], dtype: torch.dtype, shape: Sequence[int]) -> None:
    """Refuses what plain calls refuse as `out`, before anything is counted: `copy_` would convert and repeat."""
    if not isinstance(out, Tensor):
        raise TypeError("out is of another kind of array than the input")
    if out.dtype != dtype:
        raise TypeError(f"out has the dtype {out.dtype}, and the result {dtype}")
    if out.device != inputs[0].device:
        raise ValueError("out lies on another device than the input")
    if out.shape != torch.Size(shape):
        raise ValueError("out has another shape than the result")
    if _is_compiling() or not all(map(_is_memory, (out, *inputs))):
        return
    check_memory(out)
    if out.requires_grad and out.is_leaf and _is_grad_enabled():
        raise ValueError("out requires a gradient: detach() it, or write under torch.no_grad()")
    if _native.overlap(_place(out)):
        raise ValueError("elements of out share memory with one another")
    if any(x.device == out.device and _native.overlap(_place(x), _place(out)) for x in inputs):
        raise fpemu.Error("out: input and output overlap without being the same array", 6)


def _is_memory(x: Tensor) -> bool:
    return type(x) in (Tensor, Parameter) and not x.is_meta and not torch._is_functional_tensor(x) \
        and not torch._C._functorch.is_functorch_wrapped_tensor(x)


def _place(x: Tensor) -> tuple[int, int, Any, Any]:
    return x.data_ptr(), x.element_size(), x.shape, x.stride()


def _adopt_quantize(x: Tensor, format: str | Format, rounding: str | Rounding = "rne", axis: int = -1,
                    offset: int = 0, out: Tensor | None = None, stats: Stats | None = None,
                    range: Any = None) -> Tensor:
    if range is not None:
        if not isinstance(range, Range):
            raise TypeError("range is a fpemu.Range, as fpemu.measure makes one, or None")
        range = torch.frombuffer(bytearray(range._content), dtype=torch.int64)
    if out is not None:  # a shape that is asked for stands in a trace
        _check_out(out, [x], x.dtype, x.shape)
    run = quantize if isinstance(x, Tensor) and wants_gradient(x) else _through_dispatcher  # none comes back here
    y = run(x, format, _moved(rounding, offset), axis=axis, stats=stats, range=range)
    return y if out is None else out.copy_(y)


def _adopt_encode(x: Tensor, format: str | Format, rounding: str | Rounding, offset: int, out: Tensor | None,
                  stats: Stats | None) -> Tensor:
    if out is not None:
        _check_out(out, [x], _ops.code_dtype(format_text(format)), x.shape)
    codes = encode(x, format, _moved(rounding, offset), stats=stats)
    return codes if out is None else out.copy_(codes)


def _adopt_arith(operation: int, operands: tuple[Any, ...], format: str | Format, rounding: str | Rounding,
                 offset: int, out: Tensor | None, stats: Stats | None) -> Tensor:
    like: Any = next(x for x in operands if _stands_for_tensor(x))
    tensors = [x if _stands_for_tensor(x) else _number(x, like) for x in operands]
    if out is not None:  # which may hold a single element: that is read before anything is written
        wide = [t for t in tensors if t.numel() != 1] or tensors
        _check_out(out, wide, like.dtype, _ops._broadcast_shapes(*(t.shape for t in tensors)))
    y = arith(_OPERATIONS[operation], tensors, format, _moved(rounding, offset), stats=stats)
    return y if out is None else out.copy_(y)


def _stands_for_tensor(x: Any) -> bool:
    return isinstance(x, Tensor) or hasattr(x, "__torch_function__")


def _number(number: Any, like: Tensor) -> Tensor:
    if not isinstance(like, Tensor):
        raise TypeError(f"the number {number!r:.40} beside a {type(like).__name__}, which has no dtype: torch.tensor "
                        "makes a tensor of it")
    if not isinstance(number, (int, float)):
        raise TypeError(f"operands are arrays of different kinds: Tensor and {type(number).__name__}")
    try:
        tensor = torch.tensor(number, dtype=like.dtype, device=like.device)
    except OverflowError:
        raise ValueError(f"the number {number!r:.40} is none of the tensors' dtype {like.dtype}") from None
    if _is_compiling():  # no number can be looked at: those are taken of which arithmetic on Python's tells enough
        digits = {torch.bfloat16: 8, torch.float16: 11, torch.float32: 24, torch.float64: 53}.get(like.dtype, 0)
        scaled = number * 2.0 ** (digits // 2)
        held = abs(scaled) <= 2.0**digits and scaled == int(scaled)
    else:
        held = number != number or tensor.item() == number
    if not held:
        raise ValueError(f"the number {number!r} is none of the tensors' dtype {like.dtype}, or torch.compile cannot "
                         "tell: fpemu.quantize rounds it first, and torch.tensor makes a tensor of it")
    return tensor


def _adopt_apply(function: str, x: Tensor, format: str | Format, rounding: str | Rounding, offset: int,
                 out: Tensor | None, stats: Stats | None) -> Tensor:
    if out is not None:
        _check_out(out, [x], x.dtype, x.shape)
    y = apply(function, x, format, _moved(rounding, offset), stats=stats)
    return y if out is None else out.copy_(y)


_ADOPTED: dict[str, Callable[..., Tensor]] = {
    "quantize": _adopt_quantize, "encode": _adopt_encode, "arith": _adopt_arith, "apply": _adopt_apply,
}


def _teach_compiler() -> None:
    """Tells torch.compile what to follow where it meets the plain calls."""
    for verb, traceable in _ADOPTED.items():
        torch.compiler.substitute_in_graph(getattr(_native, verb), skip_signature_check=True)(traceable)


class _WhenCompilerLoads(MetaPathFinder):
    """Runs `_teach_compiler` once torch._dynamo is imported, which takes longer than torch itself: who compiles nothing
    does not wait for it."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != "torch._dynamo":
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        spec: Any = next(filter(None, (finder.find_spec(name, path, target) for finder in others)), None)
        if spec is None:
            return None
        load = spec.loader.exec_module

        def load_and_teach(module: Any) -> None:
            load(module)
            if self in sys.meta_path:  # else another thread was first
                sys.meta_path.remove(self)
                _teach_compiler()

        spec.loader.exec_module = load_and_teach
        return spec


if "torch._dynamo" in sys.modules:
    _teach_compiler()
else:
    sys.meta_path.insert(0, _WhenCompilerLoads())
