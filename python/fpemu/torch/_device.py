# SPDX-License-Identifier: BSD-2-Clause
"""CUDA tensors, by libfpemu_cuda: its calls of fpemu_cuda.h on the current stream, opened with the first CUDA tensor.

The library lies beside libfpemu.so, or where FPEMU_CUDA_LIBRARY says. Nothing here waits for the device but
`read_stats`. Formats, roundings and random state are read on the host when a kernel is launched: a CUDA graph would
repeat the launch with the state of its capture, and is refused where that is used. What is handed over by address is
checked for its size, dtype and device first.
"""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import fpemu
from fpemu import Format, Range, Rounding, Stats
from fpemu._arrays import DECODE, ENCODE, QUANTIZE, carrier_of
from fpemu._packed import _RANGE

from ._spec import STOCHASTIC

_SUFFIX = {torch.float32: "f32", torch.float64: "f64", torch.float16: "f16", torch.bfloat16: "bf16"}


class _Rounding(ctypes.Structure):
    _fields_ = [
        ("mode", ctypes.c_uint8),
        ("overflow", ctypes.c_uint8),
        ("nan", ctypes.c_uint8),
        ("variant", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("generator", ctypes.c_uint8),
        ("compat", ctypes.c_uint8),
        ("reserved0", ctypes.c_uint8),
        ("seed", ctypes.c_uint64),
        ("stream", ctypes.c_uint64),
        ("offset", ctypes.c_uint64),
        ("reserved1", ctypes.c_uint64 * 4),
    ]


class _Shape(ctypes.Structure):
    _fields_ = [
        ("sizes", ctypes.c_uint64 * 4),
        ("strides", ctypes.c_int64 * 8),
        ("whole", ctypes.c_uint64),
        ("reserved0", ctypes.c_uint64 * 3),
    ]


@functools.cache
def _libraries() -> tuple[ctypes.CDLL, ctypes.CDLL]:
    """libfpemu and libfpemu_cuda; fpemu.Error where the second is not there."""
    folder = Path(fpemu.__file__).parent
    host = ctypes.CDLL(str(folder / "libfpemu.so"))
    try:
        device = ctypes.CDLL(os.environ.get("FPEMU_CUDA_LIBRARY", str(folder / "libfpemu_cuda.so")))
    except OSError as error:
        raise fpemu.Error(f"the tensor lies on a CUDA device, and there is no libfpemu_cuda: {error}", 0) from None
    host.fpemu_sizeof.restype = ctypes.c_size_t
    for noun, size in ((b"rounding", ctypes.sizeof(_Rounding)), (b"shape", ctypes.sizeof(_Shape)),
                       (b"range", _RANGE.size)):
        if host.fpemu_sizeof(noun) != size:
            raise fpemu.Error("libfpemu.so is of another version than this package", 0)
    device.fpemu_cuda_stats_size.restype = ctypes.c_size_t
    device.fpemu_cuda_scratch_size.restype = ctypes.c_uint64
    device.fpemu_cuda_status_text.restype = ctypes.c_char_p
    return host, device


def _call(verb: str, *arguments: Any, why: Callable[[], str | None] = lambda: None) -> None:
    """Calls; an error is told by `why`, what libfpemu says to the same arguments, where that refuses them too."""
    _, device = _libraries()
    status = getattr(device, "fpemu_cuda_" + verb)(*arguments)
    if status:
        raise fpemu.Error(f"{verb}: {why() or device.fpemu_cuda_status_text(status).decode()}", status)


def _stream(x: Tensor) -> ctypes.c_void_p:
    return ctypes.c_void_p(torch.cuda.current_stream(x.device).cuda_stream)


def _pointer(x: Tensor | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(x.data_ptr() if x is not None and x.numel() else None)


@functools.lru_cache(maxsize=4096)
def _format(format: Format) -> Any:
    content = ctypes.create_string_buffer(_libraries()[0].fpemu_sizeof(b"format"))
    if _libraries()[0].fpemu_format_parse(format.spec.encode(), content, None):
        raise fpemu.Error(f"{format} cannot be used on a device", 0)
    return content


def _rounding(r: Rounding) -> Any:
    if r.mode in STOCHASTIC and torch.cuda.is_current_stream_capturing():
        raise fpemu.Error("a CUDA graph would repeat the random bits of its capture: round stochastically outside of "
                          "it, or to nearest inside", 0)
    return ctypes.byref(_Rounding(r._mode, r._overflow, r._nan, r._variant, r._bits, r._generator, r._compat, 0, r.seed,
                                  r.stream, r.offset))


def _check_same(x: Tensor, y: Tensor) -> None:
    if x.shape != y.shape or x.device != y.device:
        raise ValueError(f"a tensor of shape {tuple(x.shape)} on {x.device} and one of {tuple(y.shape)} on {y.device} "
                         "do not go together")


def _check_codes(codes: Tensor, format: Format) -> None:
    name = str(codes.dtype).removeprefix("torch.")
    if name != format.code_dtype.name and not (name.startswith("float8") and format.code_dtype.itemsize == 1):
        raise TypeError(f"codes of {format} are {format.code_dtype.name}, not {name}")


def quantize(x: Tensor, y: Tensor, format: Format, rounding: Rounding, axis: int, stats: Tensor | None,
             known: Range | None) -> None:
    """x to y, tensors of one device, dtype and shape; they may be the same."""
    _check_same(x, y)
    if x.dtype != y.dtype:
        raise TypeError(f"x has the dtype {x.dtype}, and the result {y.dtype}")
    if not (x.is_contiguous() and y.is_contiguous()):
        z = x.contiguous()
        z = z.clone() if z is x else z
        quantize(z, z, format, rounding, axis, stats, known)
        y.copy_(z)
        return
    host, device = _libraries()
    shape = _Shape()
    sizes = (ctypes.c_uint64 * max(x.ndim, 1))(*(x.shape or (1,)))
    status = host.fpemu_shape_of(ctypes.c_size_t(len(sizes)), sizes, ctypes.c_int(axis), ctypes.byref(shape))
    if status:
        raise fpemu.Error("quantize: the shape is too large", status)
    content = None if known is None else ctypes.create_string_buffer(known._content)
    shape.whole = 0 if content is None else ctypes.addressof(content)
    size = device.fpemu_cuda_scratch_size(_format(format), ctypes.byref(shape))
    with torch.cuda.device(x.device):
        scratch = torch.empty(size // 8 + 1, dtype=torch.int64, device=x.device) if size else None
        _call("quantize_tensor_" + _SUFFIX[x.dtype], _format(format), _rounding(rounding), ctypes.byref(shape),
              _pointer(x), _pointer(y), _pointer(scratch), _counters(stats, x), _stream(x),
              why=lambda: format._check(rounding, carrier_of(x.dtype), QUANTIZE))


def encode(x: Tensor, codes: Tensor, format: Format, rounding: Rounding, stats: Tensor | None) -> None:
    """x to codes of one shape, both contiguous."""
    _check_same(x, codes)
    _check_codes(codes, format)
    with torch.cuda.device(x.device):
        _call("encode_" + _SUFFIX[x.dtype], _format(format), _rounding(rounding), ctypes.c_size_t(x.numel()),
              _pointer(x), _pointer(codes), _counters(stats, x), _stream(x),
              why=lambda: format._check(rounding, carrier_of(x.dtype), ENCODE))


def decode(codes: Tensor, y: Tensor, format: Format) -> None:
    """Codes to values of one shape, both contiguous."""
    _check_same(codes, y)
    _check_codes(codes, format)
    with torch.cuda.device(y.device):
        _call("decode_" + _SUFFIX[y.dtype], _format(format), ctypes.c_size_t(y.numel()), _pointer(codes), _pointer(y),
              _stream(y), why=lambda: format._check("rne", carrier_of(y.dtype), DECODE))


# Counters on a device are opaque: a word that tells what is asked for, then those of fpemu_cuda_stats.


def _counters(stats: Tensor | None, x: Tensor) -> ctypes.c_void_p:
    """Where the counters of a call on x are."""
    if stats is None:
        return ctypes.c_void_p(None)
    words = 1 + _libraries()[1].fpemu_cuda_stats_size() // 8
    if (stats.dtype != torch.int64 or stats.shape != (words,) or not stats.is_contiguous() or stats.device != x.device):
        raise TypeError(f"counters on {x.device} are a tensor of fpemu.torch.new_stats(device='{x.device}'), int64, "
                        f"{words} words, not one of {stats.dtype}, shape {tuple(stats.shape)}, on {stats.device}")
    return ctypes.c_void_p(stats.data_ptr() + 8)


def new_stats(sums: bool, device: torch.device) -> Tensor:
    """Counters on a device."""
    words = _libraries()[1].fpemu_cuda_stats_size() // 8
    stats = torch.zeros(1 + words, dtype=torch.int64, device=device)
    stats[0] = int(sums)
    return clear_stats(stats, int(sums))


def clear_stats(stats: Tensor, want: int) -> Tensor:
    with torch.cuda.device(stats.device):
        _call("stats_clear", _counters(stats, stats), ctypes.c_uint32(want), _stream(stats))
    return stats


def read_stats(stats: Tensor) -> Stats:
    """What a device has counted; waits for the stream."""
    counters = _counters(stats, stats)
    found = Stats(sums=bool(stats[0].item()))
    scratch = ctypes.create_string_buffer((stats.numel() - 1) * 8)
    with torch.cuda.device(stats.device):
        _call("stats_read", counters, scratch, ctypes.c_void_p(found._address()), _stream(stats))
    return found
