# SPDX-License-Identifier: BSD-2-Clause
"""Formats, roundings and random state as they travel in the arguments of operators."""

from __future__ import annotations

import functools

import torch
from torch import Tensor

import fpemu
from fpemu import Format, Rounding
from fpemu._arrays import check_dense
from fpemu._format import BLOCKS, SCALINGS, named
from fpemu._rounding import COMPATS, _make, _word

WORD = 2**64
_KEYS = ("bits", "variant", "generator", "overflow", "nan", "compat")


def signed(word: int) -> int:
    """The int64 that has the bits of an unsigned word."""
    word %= WORD
    return word - WORD if word >> 63 else word


@functools.lru_cache(maxsize=4096)
def format_of(text: str) -> Format:
    """The format of a spec; `fpemu.SpecError` where there is none."""
    return fpemu.format(text)


def scaling_of(format: Format) -> str:
    """The rule of a format's scales, "none" for a scalar format."""
    return SCALINGS[format.scaling]


def block_of(format: Format) -> str | None:
    """Which elements share a scale: "run", "row", "tile", "channel" or "tensor"; None for a scalar format."""
    return BLOCKS[format.block] if format.scaling else None


def reads_neighbours(format: Format) -> bool:
    """Whether neighbouring blocks share a correction, a mantissa or a super-block."""
    return format.correct > 0 or scaling_of(format) in ("eden", "ggml_1k", "ggml_0k")


def scale_length(format: Format, dim: int, axis: int) -> int | None:
    """How many neighbours along a dimension a scale of blocks along `axis` is for; None: all. Neither is negative."""
    block = block_of(format)
    if block in ("run", "tile") and dim == axis:
        return format.block_length
    if block == "tile" and dim == axis - 1:
        return format.block_rows
    whole = block == "tensor" or (block == "row" and dim == axis) or (block == "channel" and dim != axis)
    return None if whole else 1


def format_text(format: str | Format) -> str:
    """The spec of a format; ValueError for a table of the caller's, which has none."""
    format = format if isinstance(format, (str, Format)) else named(format)
    if not isinstance(format, (str, Format)):
        raise TypeError(f"format is a fpemu.Format, a dtype or a text such as 'e4m3fn', not {format!r}")
    return format if isinstance(format, str) else format.spec


@functools.lru_cache(maxsize=4096)
def rounding_of(text: str) -> Rounding:
    """The rounding of a text such as "rne", "sr" or "sr,bits=16,variant=b": a text of `fpemu.rounding`, then what else
    it takes but for seed, stream and offset, which travel as a tensor."""
    name, *rest = text.split(",")
    fields: dict[str, str | int] = {}
    for item in rest:
        key, equal, value = item.partition("=")
        if not equal or key not in _KEYS or key in fields:
            raise ValueError(f"rounding {text!r}: {item!r} should be one of {', '.join(_KEYS)}, '=' and a value")
        fields[key] = int(value) if key == "bits" else value
    compat = fields.pop("compat", None)
    plain = fpemu.rounding(name, **fields)  # type: ignore[arg-type]
    if compat is None:
        return plain
    if compat not in COMPATS:
        raise ValueError(f"rounding {text!r}: there is no setting {compat!r}")
    return _make(name, COMPATS.index(str(compat)), overflow=plain.overflow, nan=plain.nan, variant=plain.variant,
                 bits=plain.bits, generator=plain.generator, seed=0, stream=0, offset=0)


@functools.lru_cache(maxsize=4096)
def _text_of(rounding: Rounding) -> str:
    parts = [rounding.mode]
    plain = fpemu.rounding(rounding.mode)
    for key in _KEYS:
        value = getattr(rounding, key)
        if value != getattr(plain, key):
            parts.append(f"{key}={value}")
    return ",".join(parts)


def rounding_text(rounding: str | Rounding) -> str:
    """The text of a rounding without its seed, stream and offset."""
    if not isinstance(rounding, (str, Rounding)):
        raise TypeError(f"rounding is a fpemu.Rounding or a text such as 'rne', not {rounding!r}")
    return rounding if isinstance(rounding, str) else _text_of(rounding)


@functools.lru_cache(maxsize=4096)
def is_stochastic(format: str, rounding: str) -> bool:
    """Whether a rounding to a format uses random bits."""
    return format_of(format).is_stochastic or rounding_of(rounding).is_stochastic


@functools.lru_cache(maxsize=4096)
def _fields_of(text: str) -> tuple[str, int, int, int, int, int, int]:
    r = rounding_of(text)
    return (r.mode, r._overflow or -1, r._nan or -1, r._variant, r._bits, r._generator, r._compat)


def new_state(seed: int = 0, stream: int = 0, offset: int = 0) -> Tensor:
    """Random state of stochastic rounding: an int64 tensor [seed, stream, offset] on the processor, each an unsigned
    word of 64 bits. Equal states give equal bits. ValueError for other numbers."""
    words = [_word(seed, "seed"), _word(stream, "stream"), _word(offset, "offset")]
    return torch.tensor([signed(word) for word in words], dtype=torch.int64, device="cpu")


def state_of(rounding: str | Rounding) -> Tensor | None:
    """The state that a rounding names; None where that is all zeros, or not used."""
    if isinstance(rounding, str) or not (rounding.seed or rounding.stream or rounding.offset):
        return None
    return new_state(rounding.seed, rounding.stream, rounding.offset)


def check_seed(seed: int) -> None:
    """ValueError for what is no seed of a model."""
    if not 0 <= seed < 1 << 63:
        raise ValueError(f"a seed lies between 0 and 2^63 - 1; {seed} does not")


def check_tensors(*tensors: object) -> None:
    """TypeError for what is neither a dense tensor nor stands for one, before torch's dispatcher meets it. A compiler
    knows its tensors, and lets nobody ask for a layout in a backward pass."""
    if torch.compiler.is_dynamo_compiling():
        return
    for x in tensors:
        if isinstance(x, Tensor):
            check_dense(torch, x)
        elif not hasattr(x, "__torch_function__"):
            raise TypeError(f"{type(x).__name__} is no tensor: fpemu.torch takes tensors alone; torch.as_tensor makes "
                            "one, and fpemu takes arrays of NumPy too")


def with_state(text: str, state: Tensor | None) -> Rounding:
    """A rounding with the seed, stream and offset of a state; None: all zero."""
    if state is None:
        return rounding_of(text)
    check_state(state)
    return Rounding(*_fields_of(text), *(word % WORD for word in (*state.tolist(), 0)[:3]))


def check_state(state: Tensor | None) -> None:
    """TypeError for what is no random state."""
    if state is None:
        return
    if not isinstance(state, Tensor):
        raise TypeError("state is an int64 tensor [seed, stream, offset], as new_state makes it, not "
                        f"{type(state).__name__}")
    if state.dtype != torch.int64 or tuple(state.shape) not in ((3,), (2,)):
        raise TypeError(f"state is an int64 tensor [seed, stream, offset], or its first two words, not one of "
                        f"{state.dtype} and the shape {tuple(state.shape)}")
