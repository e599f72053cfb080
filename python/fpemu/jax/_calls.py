# SPDX-License-Identifier: BSD-2-Clause
"""The handlers of libfpemu_jax.so, and the operands that they take."""

from __future__ import annotations

import ctypes
import dataclasses
import functools
import pathlib
import re
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

import fpemu

try:
    import jax
    import jax.ffi
    import jax.numpy as jnp
except ImportError as error:  # jax.ffi came with JAX 0.5
    raise ImportError(f"fpemu.jax needs JAX 0.5 or newer: {error}") from error

RANGE_WORDS = 24  # of fpemu_range, 32 bits each

# The dtypes of arrays that carry values, and their fpemu_type.
CARRIERS = {"float64": 64, "float32": 32, "float16": 16, "bfloat16": -16}

# A number of 64 bits: an int, a scalar of an integer type, two words of 32 bits (the low one first), or a key of
# jax.random with two words.
Word: TypeAlias = "int | npt.NDArray[Any] | np.integer[Any] | jax.Array"

# JAX's functions that have no types of their own, or other ones in other versions.
ffi: Any = jax.ffi
lax: Any = jax.lax
struct: Any = jax.ShapeDtypeStruct
partition: Any = jax.sharding.PartitionSpec

_HANDLERS = ("quantize", "measure", "encode", "decode", "arith", "matmul")


def _version() -> tuple[int, int]:
    """The version of XLA's FFI that the installed jaxlib has; the newest known where its header is not there. XLA looks
    at it only when a backend starts, and then a handler of another version takes the backend down."""
    header = pathlib.Path(ffi.include_dir(), "xla/ffi/api/c_api.h")
    found = re.findall(r"^#define XLA_FFI_API_(?:MAJOR|MINOR) (\d+)", header.read_text(encoding="utf-8"),
                       re.MULTILINE) if header.exists() else []
    return (int(found[0]), int(found[1])) if len(found) == 2 else (0, 3)


def _load() -> ctypes.CDLL:
    """Loads the library beside the package and registers its handlers with XLA."""
    path = pathlib.Path(fpemu.__file__).with_name("libfpemu_jax.so")
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError(f"fpemu.jax: cannot load {path.name}: {error}") from error
    major, minor = _version()
    if not library.fpemu_jax_speak(major, minor):
        raise ImportError(f"fpemu.jax speaks version 0 of XLA's FFI, and the installed jaxlib {major}.{minor}")
    for name in _HANDLERS:
        try:
            ffi.register_ffi_target("fpemu_" + name, ffi.pycapsule(getattr(library, "fpemu_jax_" + name)),
                                    platform="cpu")
        except Exception as error:
            raise ImportError(f"the installed jaxlib refuses fpemu.jax's handlers: {error}") from error
    return library


library = _load()


@functools.lru_cache(maxsize=1024)
def check(format: str, rounding: tuple[int, ...], dtype: str, use: int) -> None:  # noqa: A002 - the field's word
    """Raises fpemu.Error where the library refuses a format and a rounding for a dtype and an fpemu_use."""
    why = ctypes.create_string_buffer(128)  # fpemu_why: a number of 32 bits, a text
    status = library.fpemu_jax_check(format.encode(), bytes(rounding), CARRIERS[dtype], use, why)
    if status:
        raise fpemu.Error(f"{format} for {dtype}: {why.raw[4:].partition(bytes(1))[0].decode()}", status)


def words(value: Any, name: str) -> Any:
    """`value` as two words of 32 bits, the low one first: a NumPy array where it is known, else a traced one."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        number = int(value)
        if not 0 <= number < 1 << 64:
            raise ValueError(f"{name} is an integer of 64 bits, not {number}")
        return np.array([number & 0xffffffff, number >> 32], dtype=np.uint32)
    value = jnp.asarray(value)
    if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    if value.dtype == jnp.uint32 and value.shape == (2,):
        return value
    if not jnp.issubdtype(value.dtype, jnp.integer) or value.shape != ():
        raise TypeError(f"{name} is an int, an integer scalar, two words of uint32, or a key of two words; not "
                        f"{value.dtype}{list(value.shape)}")
    low = value.astype(jnp.uint32)
    high = (value >> 32).astype(jnp.uint32) if value.dtype.itemsize == 8 else jnp.zeros((), jnp.uint32)
    return jnp.stack([low, high])


def state(rounding: fpemu.Rounding, seed: Word | None, stream: Word | None, offset: Word) -> Any:
    """The eight words that a handler takes: seed, stream, the rounding's offset, the call's offset."""
    parts = [words(rounding.seed if seed is None else seed, "seed"),
             words(rounding.stream if stream is None else stream, "stream"),
             words(rounding.offset, "offset"), words(offset, "offset")]
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    return jnp.concatenate(parts)


def rounding_fields(rounding: fpemu.Rounding) -> tuple[int, ...]:
    """What of a rounding is fixed when a program is compiled: all but its random stream."""
    return (rounding._mode, rounding._overflow, rounding._nan, rounding._variant, rounding._bits, rounding._generator,
            rounding._compat)


# ------------------------------------------------------------------------------------------------ counters

@jax.tree_util.register_pytree_node_class
@dataclasses.dataclass(frozen=True)
class Counters:
    """Counters that travel through compiled functions as an array: `quantize(..., stats=c)` gives back counters with
    the call's added. A pytree with one leaf, so that they may be carried by `lax.scan`, and mapped.

    words: uint32, its last dimension the counters' words; dimensions in front (of vmap, of shard_map with
    `jax.tree.map(lambda w: w[None], c)` and an out_spec for that dimension) are counters of their own.
    request: want, first exponent and length of the histogram, and of that of scales.
    """

    words: jax.Array
    request: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)

    def tree_flatten(self) -> tuple[tuple[jax.Array], tuple[int, int, int, int, int]]:
        """The array of words as the only leaf, and what was asked for, which is constant under jit."""
        return (self.words,), self.request

    @classmethod
    def tree_unflatten(cls, request: tuple[int, int, int, int, int], leaves: Sequence[Any]) -> Counters:
        """The counters of a leaf, which may be any object that JAX puts in its place, and a request."""
        return cls(leaves[0], request)

    def read(self) -> fpemu.Stats:
        """What was counted, of all dimensions together. Waits for the array; not under a transformation."""
        total = fpemu.Stats._asking(*self.request)
        for row in np.asarray(self.words).reshape(-1, self.words.shape[-1]):
            part = total.empty()
            part._load(row.tobytes())
            total += part
        return total


def counters(*, sums: bool = False, histogram: tuple[int, int] | None = None,
             scale_histogram: tuple[int, int] | None = None) -> Counters:
    """Counters that have counted nothing.

    sums: the sums of errors too, from which `sqnr` follows. histogram, scale_histogram: (first, last) exponent of the
    input's histogram and of that of the scales of blocks, as `fpemu.Stats` takes them.
    """
    stats = fpemu.Stats(sums=sums, histogram=histogram, scale_histogram=scale_histogram)
    words = np.frombuffer(stats._bytes(), np.uint32)
    return Counters(jnp.asarray(words), (stats._want, stats._first, stats._length, stats._scale_first,
                                         stats._scale_length))


# --------------------------------------------------------------------------------------- shards of an array

def shard_place(local: Sequence[int], sharding: Sequence[Any]) -> tuple[tuple[int, ...], Any]:
    """The sizes of the whole array of which this shard has the sizes `local`, and the first index of the shard along
    each dimension (traced). `sharding` is the PartitionSpec of the array; every shard has the same sizes."""
    if len(sharding) > len(local):
        raise ValueError(f"sharding names {len(sharding)} dimensions of an array of {len(local)}")
    whole, starts = [], []
    for i, size in enumerate(local):
        parts, place = 1, jnp.zeros((), jnp.uint32)
        for axis in _axes(sharding[i] if i < len(sharding) else None):
            length = int(lax.psum(1, axis))
            place = place * np.uint32(length) + jax.lax.axis_index(axis).astype(jnp.uint32)
            parts *= length
        whole.append(size * parts)
        starts.append(place * np.uint32(size))
    return tuple(whole), jnp.stack(starts) if starts else jnp.zeros(0, jnp.uint32)


def _axes(entry: Any) -> tuple[Any, ...]:
    if entry is None:
        return ()
    return tuple(entry) if isinstance(entry, (tuple, list)) else (entry,)


def mesh_axes(sharding: Sequence[Any]) -> tuple[Any, ...]:
    """The names of the axes of the mesh that `sharding` names."""
    return tuple(axis for entry in sharding for axis in _axes(entry))


def _varying(x: Any) -> frozenset[Any]:
    """The axes of the mesh along which x varies inside shard_map. JAX 0.10 has given them a new name, and before 0.6
    arrays have no such type."""
    kind: Any = jax.typeof(x) if hasattr(jax, "typeof") else None
    return (kind.manual_axis_type.varying if hasattr(kind, "manual_axis_type")
            else getattr(kind, "vma", frozenset()))


def _like(x: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """An array of that shape and dtype that varies as x does."""
    if not _varying(x):
        return struct(shape, dtype)
    kind = jax.typeof(x)
    if hasattr(kind, "manual_axis_type"):
        everywhere = jax.sharding.NamedSharding(kind.sharding.mesh, partition(*(None for _ in shape)))
        return struct(shape, dtype, sharding=everywhere, manual_axis_type=kind.manual_axis_type)
    return struct(shape, dtype, vma=_varying(x))


def _vary(x: jax.Array, axes: frozenset[Any]) -> jax.Array:
    """x as an array that varies along those axes too."""
    missing = tuple(axes - _varying(x))
    if not missing:
        return x
    return lax.pcast(x, missing, to="varying") if hasattr(lax, "pcast") else lax.pvary(x, missing)


def call(name: str, results: Sequence[tuple[tuple[int, ...], Any]], *operands: Any, **attributes: Any) -> Any:
    """Calls a handler. Under shard_map all operands vary along the same axes of the mesh, and so do the results."""
    typed = [jnp.asarray(x) for x in operands]
    varying: frozenset[Any] = frozenset().union(*(_varying(x) for x in typed))
    typed = [_vary(x, varying) for x in typed]
    shapes = [_like(typed[0], shape, dtype) for shape, dtype in results]
    return ffi.ffi_call("fpemu_" + name, shapes, vmap_method="expand_dims")(*typed, **attributes)
