# SPDX-License-Identifier: BSD-2-Clause
"""The functions of fpemu.jax, and their gradients."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import jax
import jax.numpy as jnp
import jax.typing
import numpy as np

import fpemu
from fpemu._arrays import ENCODE, FUNCTION, OPERATION, QUANTIZE
from fpemu._values import _OPERATIONS

from . import _calls
from ._calls import Counters, Word

__all__ = ["add", "apply", "decode", "div", "dot_general", "encode", "fma", "matmul", "maximum", "measure", "minimum",
           "mul", "quantize", "sqrt", "sub"]

FormatLike: TypeAlias = "fpemu.Format | str"
RoundingLike: TypeAlias = "fpemu.Rounding | str"

# The bit of the stream's number that tells the random bits of gradients from those of the forward pass.
GRADIENT_STREAM = np.array([0, 0, 0, 1 << 31, 0, 0, 0, 0], dtype=np.uint32)
SECOND_GRADIENT_STREAM = np.array([0, 0, 0, 3 << 30, 0, 0, 0, 0], dtype=np.uint32)

_FUNCTIONS = fpemu.functions()


def _array(x: Any, name: str) -> jax.Array:
    """`x` as an array of a type that carries values, none of them rounded. A device that has no handlers is refused
    where it is known."""
    if type(x) in (int, float):
        return _number(x, name, jnp.result_type(float))
    if not hasattr(x, "dtype"):
        raise TypeError(f"{name} is no array but {type(x).__name__}: fpemu.jax takes arrays of JAX and NumPy; "
                        "jax.numpy.asarray makes one of a list")
    given = getattr(x.dtype, "name", None) or str(x.dtype).removeprefix("torch.")
    if given not in _calls.CARRIERS:
        raise TypeError(f"{name} has the dtype {given}: fpemu takes float64, float32, float16 and bfloat16, and rounds "
                        "none of them first; convert the array where that loses nothing")
    array = jnp.asarray(x)
    if array.dtype.name != given:
        raise TypeError(f"{name} has the dtype {given}, which JAX holds in x64 mode only: fpemu.jax does not round it "
                        f"to {array.dtype} first")
    if not isinstance(array, jax.core.Tracer):
        for device in array.devices():
            if device.platform != "cpu":
                raise NotImplementedError(f"fpemu.jax computes on processors only, and {name} lies on {device}")
    return array


def _number(x: float, name: str, dtype: Any) -> jax.Array:
    """A Python number in a dtype that holds it."""
    try:
        with np.errstate(over="ignore"):
            held = np.asarray(x, dtype)
        same = x != x or float(held) == x
    except OverflowError:
        same = False
    if not same:
        raise ValueError(f"{name}, the number {x!r:.40}, is none of the dtype {jnp.dtype(dtype)}; fpemu.quantize "
                         "rounds it first")
    return jnp.asarray(held)


def _checked(format: FormatLike, rounding: RoundingLike, x: jax.Array,  # noqa: A002
             use: int = QUANTIZE) -> tuple[str, tuple[int, ...]]:
    """The text of a format and what is fixed of a rounding, once the library takes them for x's dtype."""
    pair = fpemu.format(format).spec, _calls.rounding_fields(fpemu.rounding(rounding))
    _calls.check(*pair, x.dtype.name, use)
    return pair


# ------------------------------------------------------------------------------------------------- quantize

@dataclasses.dataclass(frozen=True)
class _Quantize:
    """What of a call of `quantize` is fixed when a program is compiled."""

    format: str
    rounding: tuple[int, ...]
    axis: int
    request: tuple[int, int, int, int, int] | None
    sharding: tuple[Any, ...] | None
    ends: tuple[float, float] | None  # of the clipped straight-through gradient
    gradient: tuple[str, tuple[int, ...]] | None


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _quantize(call: _Quantize, x: jax.Array, state: Any, whole: Any, words: Any) -> tuple[jax.Array, jax.Array]:
    attributes: dict[str, Any] = {}
    starts: Any = np.zeros(0, np.uint32)
    if call.sharding is not None and x.ndim:
        sizes, starts = _calls.shard_place(x.shape, call.sharding)
        attributes["global"] = np.array(sizes, np.int64)
        axes = _calls.mesh_axes(call.sharding)
        if axes and not whole.size and _calls.library.fpemu_jax_needs_range(call.format.encode()):
            whole = jax.lax.all_gather(_measure(call.format, x), axes)
    if call.request is not None:
        attributes["request"] = np.array(call.request, np.int64)
    y, words = _calls.call("quantize", [(x.shape, x.dtype), (words.shape, jnp.uint32)], x, state, starts, whole, words,
                           format=call.format, rounding=np.array(call.rounding, np.int64),
                           axis=np.int64(call.axis), rank=np.int64(x.ndim), **attributes)
    return y, words


def _quantize_forward(call: _Quantize, x: jax.Array, state: Any, whole: Any, words: Any) -> tuple[Any, Any]:
    inside = None if call.ends is None else (x >= call.ends[0]) & (x <= call.ends[1])
    return _quantize(call, x, state, whole, words), (inside, state)  # itself, which has a derivative


def _quantize_backward(call: _Quantize, kept: Any, cotangents: Any) -> tuple[Any, None, None, None]:
    (inside, state), g = kept, cotangents[0]
    if call.gradient is not None:
        back = dataclasses.replace(call, format=call.gradient[0], rounding=call.gradient[1], request=None, ends=None,
                                   gradient=None)
        none = np.zeros((0, _calls.RANGE_WORDS), np.uint32)
        g, _ = _quantize(back, g, jnp.asarray(state) ^ GRADIENT_STREAM, none, none[0:0, 0])
    if inside is not None:
        g = jnp.where(inside, g, jnp.zeros((), g.dtype))
    return g, None, None, None


_quantize.defvjp(_quantize_forward, _quantize_backward)
_quantize_compiled = jax.jit(_quantize, static_argnums=0)


def quantize(x: Any, format: FormatLike, rounding: RoundingLike = "rne", *, axis: int = -1,  # noqa: A002
             offset: Word = 0, seed: Word | None = None, stream: Word | None = None, stats: Counters | None = None,
             whole: Any = None, sharding: Sequence[Any] | None = None,
             gradient: Literal["straight", "clipped"] = "straight", backward: FormatLike | None = None,
             backward_rounding: RoundingLike = "rne") -> Any:
    """Each element of x to a value of the format, as `fpemu.quantize`; of x's shape and dtype.

    x: array of float64 (where JAX's x64 mode is on), float32, float16 or bfloat16, or a Python number that float32
        (float64 in x64 mode) holds exactly. Others are refused, never converted.
    axis: along which blocks run; tiles along that one and the one before it.
    seed, stream: in place of the rounding's; offset: added to it, the index of the first element in the random stream.
        Ints, or traced scalars of an integer type (32 bits where x64 mode is off), two traced words of uint32, the low
        one first, or a key of jax.random of two words. None of them makes JAX compile again.
    stats: counters, to which this call's are added; then the result is a pair (y, counters).
    whole: the range of the tensor of which x is a part, as `measure` gives it, uint32[24], or [pieces, 24] of its
        pieces; used where a scale belongs to the whole tensor. Ranges of earlier tensors give delayed scaling.
    sharding: inside shard_map, the PartitionSpec of the array of which x is this device's shard, all shards of one
        size: elements have their indices in that array, and a scale of the whole tensor is found by an all_gather of
        ranges. A shard must not cut a block; stochastic rounding of blocks that run along a dimension before a sharded
        one is refused.
    gradient: "straight", the cotangent as it is, or "clipped", zero where x lies outside the format's range (formats
        without blocks). backward: the format that cotangents are quantised to, by backward_rounding, at the same axis
        and place; their stream is the forward pass's with its top bit flipped. Zeroing by "clipped" comes last. The
        gradient of the gradient is that of these rules, in which a rounding is straight-through.

    Raises TypeError for a dtype, ValueError for a number, fpemu.SpecError for a text, fpemu.Error for a format and a
    rounding that do not go together or do not go with a dtype; what only the numbers tell (a NaN under the policy
    error, a shard that cuts a block) is XLA's runtime error with the library's words, when the program runs.
    """
    f, r, x = fpemu.format(format), fpemu.rounding(rounding), _array(x, "x")
    if gradient not in ("straight", "clipped"):
        raise ValueError(f'gradient is "straight" or "clipped", not {gradient!r}')
    if gradient == "clipped" and f.is_blocked:
        raise ValueError(f"{f} has no range of its own: its blocks have scales, and a clipped gradient needs one")
    if not -max(x.ndim, 1) <= axis < max(x.ndim, 1):
        raise ValueError(f"axis {axis} of an array of {x.ndim} dimensions")
    b = None if backward is None else _checked(backward, backward_rounding, x)
    call = _Quantize(*_checked(f, r, x), axis % max(x.ndim, 1), None if stats is None else stats.request,
                     None if sharding is None else tuple(sharding),
                     (f.lowest, f.max) if gradient == "clipped" else None, b)
    ranges = np.zeros((0, _calls.RANGE_WORDS), np.uint32) if whole is None else jnp.asarray(whole)
    if ranges.dtype != jnp.uint32 or ranges.ndim > 2 or ranges.shape[-1:] != (_calls.RANGE_WORDS,):
        raise TypeError(f"whole is what measure gives, uint32[24] or [pieces, 24], not {ranges.dtype}{ranges.shape}")
    if ranges.ndim == 1:
        ranges = ranges[None]
    words = np.zeros(0, np.uint32) if stats is None else stats.words
    run = _quantize if isinstance(x, jax.core.Tracer) else _quantize_compiled
    y, words = run(call, x, _calls.state(r, seed, stream, offset), ranges, words)
    return y if stats is None else (y, Counters(words, stats.request))


@functools.partial(jax.jit, static_argnums=0)
def _measure(format: str, x: jax.Array) -> Any:  # noqa: A002
    return _calls.call("measure", [((_calls.RANGE_WORDS,), jnp.uint32)], x, format=format, rank=np.int64(x.ndim))[0]


def measure(x: Any, format: FormatLike) -> Any:  # noqa: A002
    """What is known of a whole tensor, for `quantize(whole=)`: uint32[24], the words of a fpemu_range. Ranges of the
    pieces of a tensor may be stacked along a first dimension."""
    return _measure(fpemu.format(format).spec, jax.lax.stop_gradient(_array(x, "x")))


# ------------------------------------------------------------------------------------------------ codes

@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _encode(format: str, rounding: tuple[int, ...], dtype: str, x: jax.Array, state: Any) -> Any:  # noqa: A002
    return _calls.call("encode", [(x.shape, dtype)], x, state, format=format, rounding=np.array(rounding, np.int64),
                       rank=np.int64(x.ndim))[0]


def encode(x: Any, format: FormatLike, rounding: RoundingLike = "rne", *, offset: Word = 0,  # noqa: A002
           seed: Word | None = None, stream: Word | None = None) -> Any:
    """Each element of x to its code in a format without blocks: uint8, uint16, uint32 or uint64 (x64 mode only), the
    code in the low bits. `jax.lax.bitcast_convert_type` views codes of 8 bits as JAX's types of 8 bits. Arguments as
    `quantize`; no gradient."""
    f, r, x = fpemu.format(format), fpemu.rounding(rounding), jax.lax.stop_gradient(_array(x, "x"))
    return _encode(*_checked(f, r, x, ENCODE), _code_type(f), x, _calls.state(r, seed, stream, offset))


def _code_type(f: fpemu.Format) -> str:
    name: str = f.code_dtype.name
    if name == "uint64" and jax.dtypes.canonicalize_dtype(np.uint64) != np.uint64:
        raise TypeError(f"codes of {f} have 64 bits, which JAX holds in x64 mode only")
    return name


@functools.partial(jax.jit, static_argnums=(0, 1))
def _decode(format: str, dtype: str, codes: jax.Array) -> Any:  # noqa: A002
    flat = codes.reshape(-1)
    y = jax.vmap(lambda code: _calls.call("decode", [((), dtype)], code, format=format)[0])(flat)
    return y.reshape(codes.shape)


def decode(codes: Any, format: FormatLike, dtype: Any = jnp.float32) -> Any:  # noqa: A002
    """Each code to its value, of `dtype`. codes: of the type that `encode` gives, or of one of JAX's types of 8 bits
    (float8_e4m3fn and so on)."""
    f, codes, dtype = fpemu.format(format), jnp.asarray(codes), jnp.dtype(dtype).name
    if dtype not in _calls.CARRIERS:
        raise TypeError(f"dtype is float64, float32, float16 or bfloat16, not {dtype}")
    if codes.dtype.name.startswith("float8"):
        codes = jax.lax.bitcast_convert_type(codes, jnp.uint8)
    if codes.dtype.name != _code_type(f):
        raise TypeError(f"codes of {f} are an array of {_code_type(f)}, not of {codes.dtype}")
    return _decode(f.spec, dtype, codes)


# -------------------------------------------------------------------------------------------- arithmetic

@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _arith(operation: int, format: str, rounding: tuple[int, ...], state: Any,  # noqa: A002
           *operands: jax.Array) -> Any:
    x = operands[0]
    return _calls.call("arith", [(x.shape, x.dtype)], state, *operands, format=format,
                       rounding=np.array(rounding, np.int64), rank=np.int64(x.ndim), operation=np.int64(operation))[0]


def _exact(operation: int, *operands: jax.Array) -> Any:
    """The operation as JAX has it, for its gradient."""
    a, b = operands[0], operands[-1]
    return (a + b, a - b, a * b, a / b, jnp.sqrt(a), a * operands[1 % len(operands)] + b, jnp.minimum(a, b),
            jnp.maximum(a, b))[operation] if operation < 8 else _exact_function(_FUNCTIONS[operation - 10])(a)


def _exact_function(name: str) -> Any:
    special: dict[str, Any] = {"asin": jnp.arcsin, "acos": jnp.arccos, "atan": jnp.arctan, "asinh": jnp.arcsinh,
                               "acosh": jnp.arccosh, "atanh": jnp.arctanh, "erf": jax.scipy.special.erf,
                               "erfc": jax.scipy.special.erfc, "rsqrt": jax.lax.rsqrt, "sigmoid": jax.nn.sigmoid,
                               "silu": jax.nn.silu, "gelu": functools.partial(jax.nn.gelu, approximate=False),
                               "softplus": jax.nn.softplus, "exp10": lambda x: 10.0**x}
    return special[name] if name in special else getattr(jnp, name)


def _arith_forward(operation: int, format: str, rounding: tuple[int, ...], state: Any,  # noqa: A002
                   *operands: jax.Array) -> Any:
    return _arith(operation, format, rounding, state, *operands), operands


def _arith_backward(operation: int, format: str, rounding: tuple[int, ...], operands: Any,  # noqa: A002
                    g: jax.Array) -> tuple[Any, ...]:
    return None, *jax.vjp(functools.partial(_exact, operation), *operands)[1](g)


_arith.defvjp(_arith_forward, _arith_backward)


def _operate(operation: int, operands: Sequence[Any], format: FormatLike, rounding: RoundingLike,  # noqa: A002
             seed: Word | None, stream: Word | None, offset: Word) -> Any:
    f, r = fpemu.format(format), fpemu.rounding(rounding)
    given = [x if type(x) in (int, float) else _array(x, name) for x, name in zip(operands, "abc", strict=False)]
    types = [x.dtype for x in given if isinstance(x, jax.Array)]  # result_type would leave out those of weak arrays
    dtype = functools.reduce(jnp.promote_types, types) if types else jnp.result_type(float)
    arrays = jnp.broadcast_arrays(*(x.astype(dtype) if isinstance(x, jax.Array) else _number(x, name, dtype)
                                    for x, name in zip(given, "abc", strict=False)))
    use = OPERATION + operation if operation < 10 else FUNCTION + operation - 10
    return _arith(operation, *_checked(f, r, arrays[0], use), _calls.state(r, seed, stream, offset), *arrays)


def _binary(name: str, text: str) -> Any:
    def function(a: Any, b: Any, format: FormatLike, rounding: RoundingLike = "rne", *,  # noqa: A002
                 offset: Word = 0, seed: Word | None = None, stream: Word | None = None) -> Any:
        return _operate(_OPERATIONS.index(name), (a, b), format, rounding, seed, stream, offset)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = (f"{text}, rounded once to the format. Operands are arrays, which are broadcast, and of several "
                        "dtypes are in one that holds the numbers of all; or Python numbers that this dtype holds "
                        "exactly. The gradient is that of the exact operation. Other arguments as `quantize`.")
    return function


add = _binary("add", "a + b")
sub = _binary("sub", "a - b")
mul = _binary("mul", "a * b")
div = _binary("div", "a / b")
minimum = _binary("minimum", "The lesser of a and b (IEEE 754-2019 minimum)")
maximum = _binary("maximum", "The greater of a and b (IEEE 754-2019 maximum)")


def sqrt(a: Any, format: FormatLike, rounding: RoundingLike = "rne", *, offset: Word = 0,  # noqa: A002
         seed: Word | None = None, stream: Word | None = None) -> Any:
    """The square root of a, rounded once to the format. Arguments as `quantize`."""
    return _operate(_OPERATIONS.index("sqrt"), (a,), format, rounding, seed, stream, offset)


def fma(a: Any, b: Any, c: Any, format: FormatLike, rounding: RoundingLike = "rne", *, offset: Word = 0,  # noqa: A002
        seed: Word | None = None, stream: Word | None = None) -> Any:
    """a * b + c, rounded once to the format. Arguments as `quantize`."""
    return _operate(_OPERATIONS.index("fma"), (a, b, c), format, rounding, seed, stream, offset)


def apply(name: str, a: Any, format: FormatLike, rounding: RoundingLike = "rne", *, offset: Word = 0,  # noqa: A002
          seed: Word | None = None, stream: Word | None = None) -> Any:
    """An elementary function of a ("exp", "tanh", "gelu", ... of include/fpemu/arith.h), rounded correctly and once.
    Elements of a are float32 numbers of at most 16 significant bits, as all of bf16 and fp16 are. The gradient is that
    of JAX's function."""
    if name not in _FUNCTIONS:
        raise ValueError(f"no function {name!r}; there are {', '.join(_FUNCTIONS)}")
    return _operate(10 + _FUNCTIONS.index(name), (a,), format, rounding, seed, stream, offset)


# ------------------------------------------------------------------------------------------------ products

@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1, 2))
def _matmul(spec: str, backward: str, request: Any, state: Any, a: jax.Array, b: jax.Array, words: Any) -> Any:
    attributes = {} if request is None else {"request": np.array(request, np.int64)}
    shape = (max(a.shape[0], b.shape[0]), a.shape[1], b.shape[2])
    return tuple(_calls.call("matmul", [(shape, a.dtype), (words.shape, jnp.uint32)], state, a, b, words, spec=spec,
                             **attributes))


def _matmul_forward(spec: str, backward: str, request: Any, state: Any, a: jax.Array, b: jax.Array, words: Any) -> Any:
    return _matmul(spec, backward, request, state, a, b, words), (state, a, b)


def _matmul_backward(spec: str, backward: str, request: Any, kept: Any, cotangents: Any) -> Any:
    (state, a, b), g, none = kept, cotangents[0], np.zeros(0, np.uint32)
    state = jnp.asarray(state)

    def product(stream: Any, left: jax.Array, right: jax.Array, like: jax.Array) -> jax.Array:
        result: jax.Array = _matmul(backward, backward, None, state ^ stream, left, right, none)[0]
        return result if result.shape == like.shape else result.sum(0, keepdims=True)

    return (None, product(GRADIENT_STREAM, g, b.swapaxes(1, 2), a),
            product(SECOND_GRADIENT_STREAM, a.swapaxes(1, 2), g, b), None)


_matmul.defvjp(_matmul_forward, _matmul_backward)
_matmul_compiled = jax.jit(_matmul, static_argnums=(0, 1, 2))


def dot_general(a: Any, b: Any, dimension_numbers: Any, spec: str, *, backward: str | None = None, offset: Word = 0,
                seed: Word | None = None, stream: Word | None = None, stats: Counters | None = None,
                precision: Any = None, preferred_element_type: Any = None) -> Any:
    """`jax.lax.dot_general` with sums as `spec` has them (grammar: doc/accumulation.md), such as
    "tc(h100,e4m3fn,promote=128)" or "seq(fp(6,9,0)/sr); ab=e5m2".

    dimension_numbers: ((contracting of a, of b), (batch of a, of b)). Operands are float64, or narrower types, which
    are widened exactly to float32; the result is of that type, of shape batch + the rest of a + the rest of b.
    Contracted dimensions are added up in C order of dimension_numbers. seed, stream, offset: of every rounding
    of the spec, as `quantize`; an element's index is that in the products as matrices (include/fpemu/gemm.h).
    backward: the spec of both products of the gradient, otherwise `spec`; their streams have numbers of their own, the
    forward pass's with the top bit, and with the two top bits, flipped.
    precision, preferred_element_type: what layers pass that take a dot_general. ValueError for a precision other than
    None and the default, which `spec` says; TypeError for another type than the result's.
    """
    asked = precision if isinstance(precision, (tuple, list)) else (precision,)
    if any(p not in (None, "default", jax.lax.Precision.DEFAULT) for p in asked):
        raise ValueError(f"precision={precision!r} says how a machine multiplies, which spec says here: leave it None")
    ((contract_a, contract_b), (batch_a, batch_b)) = dimension_numbers
    a, b = _array(a, "a"), _array(b, "b")
    wide = jnp.float64 if "float64" in (a.dtype.name, b.dtype.name) else jnp.float32
    if preferred_element_type is not None and jnp.dtype(preferred_element_type) != jnp.dtype(wide):
        raise TypeError(f"the result is of {jnp.dtype(wide)}, and would be rounded again to preferred_element_type="
                        f"{jnp.dtype(preferred_element_type)}: result.astype does so")
    a, b = a.astype(wide), b.astype(wide)
    free_a = [i for i in range(a.ndim) if i not in (*contract_a, *batch_a)]
    free_b = [i for i in range(b.ndim) if i not in (*contract_b, *batch_b)]
    sizes = [a.shape[i] for i in batch_a]
    if sizes != [b.shape[i] for i in batch_b] or [a.shape[i] for i in contract_a] != [b.shape[i] for i in contract_b]:
        raise TypeError(f"arrays of shapes {a.shape} and {b.shape} do not go together along {dimension_numbers}")
    left = a.transpose([*batch_a, *free_a, *contract_a])
    right = b.transpose([*batch_b, *contract_b, *free_b])
    shape_a, shape_b = [a.shape[i] for i in free_a], [b.shape[i] for i in free_b]
    k = int(np.prod([a.shape[i] for i in contract_a], dtype=np.int64))
    products = int(np.prod(sizes, dtype=np.int64))
    left = left.reshape(products, int(np.prod(shape_a, dtype=np.int64)), k)
    right = right.reshape(products, k, int(np.prod(shape_b, dtype=np.int64)))
    c = _products(left, right, spec, backward, offset, seed, stream, stats)
    shape = (*sizes, *shape_a, *shape_b)
    return c.reshape(shape) if stats is None else (c[0].reshape(shape), c[1])


def _products(a: jax.Array, b: jax.Array, spec: str, backward: str | None, offset: Word, seed: Word | None,
              stream: Word | None, stats: Counters | None) -> Any:
    fpemu.gemm(spec)  # what is no model is told here, by name
    if backward is not None:
        fpemu.gemm(backward)
    request = None if stats is None else stats.request
    words = np.zeros(0, np.uint32) if stats is None else stats.words
    run = _matmul if isinstance(a, jax.core.Tracer) or isinstance(b, jax.core.Tracer) else _matmul_compiled
    c, words = run(spec, backward or spec, request, _calls.state(fpemu.rounding("rne"), seed, stream, offset), a, b,
                   words)
    return c if stats is None else (c, Counters(words, stats.request))


def matmul(a: Any, b: Any, spec: str, *, backward: str | None = None, offset: Word = 0, seed: Word | None = None,
           stream: Word | None = None, stats: Counters | None = None) -> Any:
    """a @ b with sums as `spec` has them: arrays of one dimension and more, leading dimensions broadcast as jnp.matmul
    has it. Everything else as `dot_general`."""
    a, b = _array(a, "a"), _array(b, "b")
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("matmul takes arrays of one dimension and more")
    wide = jnp.float64 if "float64" in (a.dtype.name, b.dtype.name) else jnp.float32
    left, right = a.astype(wide), b.astype(wide)
    left = left[None] if a.ndim == 1 else left
    right = right[:, None] if b.ndim == 1 else right
    if left.shape[-1] != right.shape[-2]:
        raise TypeError(f"arrays of shapes {a.shape} and {b.shape} cannot be multiplied")
    lead = jnp.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    products = int(np.prod(lead, dtype=np.int64))
    shape = (*lead, *([left.shape[-2]] if a.ndim > 1 else []), *([right.shape[-1]] if b.ndim > 1 else []))

    def stack(x: jax.Array) -> jax.Array:
        if all(size == 1 for size in x.shape[:-2]):
            return x.reshape(1, *x.shape[-2:])
        return jnp.broadcast_to(x, (*lead, *x.shape[-2:])).reshape(products, *x.shape[-2:])

    c = _products(stack(left), stack(right), spec, backward, offset, seed, stream, stats)
    return c.reshape(shape) if stats is None else (c[0].reshape(shape), c[1])
