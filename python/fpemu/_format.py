# SPDX-License-Identifier: BSD-2-Clause
"""Formats as immutable values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native
from ._arrays import carrier_of, float64_of

KINDS = ("invalid", "float", "fixed", "int", "posit", "codebook")
SCALINGS = ("none", "floor", "ceil", "even", "rceil", "hbfp", "absmax", "nvfp4", "nvfp4_ao", "recipe", "recipe_pow2",
            "muppet", "s2fp8", "reciprocal", "4over6", "4over6_mse", "nvfp4_clamp", "pairs", "hif4", "asymmetric",
            "minmax", "tinygemm", "hqq", "ggml_1", "ggml_0", "eden", "ggml_1k", "ggml_0k", "absmean")
ZERO_POINTS = (*SCALINGS[19:24], "ggml_1k")  # a block has a second number
BLOCKS = ("run", "row", "tile", "channel", "tensor")


def named(spec: Any) -> Any:
    """The name of a dtype of NumPy, torch, jax or ml_dtypes; what is none as it is."""
    if isinstance(spec, type):
        own = getattr(spec, "dtype", None)  # of jax.numpy's
        spec = own if isinstance(own, np.dtype) else np.dtype(spec) if issubclass(spec, np.generic) else spec
    if isinstance(spec, np.dtype):
        return spec.name
    is_torch = (type(spec).__module__, type(spec).__name__) == ("torch", "dtype")
    return str(spec).removeprefix("torch.").removesuffix("_x2") if is_torch else spec


def _fact(name: str, kind: Any, text: str) -> Any:
    return property(lambda self: kind(self._facts()[name]), doc=text)


class Format(_native.Format):
    """A number format: which values exist and how they are coded; made by `fpemu.format`.

    Immutable, hashable, picklable; equal where values, codes and policies are. repr and str are the spec. Numbers are
    of one element; of a format with blocks they are its element's: `max`, `lowest`, `min_normal`, `min_positive`
    (floats); `exponent_bits`, `mantissa_bits`, `bias`, `emin`, `emax`, `precision` (of floats, else 0);
    `fraction_bits` (fixed point); `zero_point`, `scale` (integers); `max_code`, `lowest_code`, `nan_code`.
    """

    __slots__ = ()

    def __new__(cls, spec: Any, codes: bool = False) -> Format:
        return super().__new__(cls, named(spec), codes)

    @property
    def spec(self) -> str:
        """The canonical text, of which `fpemu.format` makes an equal format. ValueError for a table of one's own."""
        if self._spec is None:
            raise ValueError("a table of one's own has no text")
        return self._spec

    @property
    def kind_name(self) -> str:
        """"float", "fixed", "int", "posit" or "codebook"; of a format with blocks, its element's."""
        return KINDS[self.kind]

    @property
    def smallest(self) -> float:
        """The smallest value above zero."""
        return self.min_positive

    @property
    def smallest_normal(self) -> float:
        """The smallest normal value of a float; of other kinds the smallest value above zero."""
        return self.min_normal

    @property
    def is_blocked(self) -> bool:
        """Whether blocks of elements share a scale."""
        return self.scaling != 0

    @property
    def is_stochastic(self) -> bool:
        """Whether its scales are rounded by random bits, whatever the rounding."""
        return self.scaling_rule == "eden"

    @property
    def scaling_rule(self) -> str | None:
        """How a block's scale follows from its elements, such as "floor" (MX) or "nvfp4"; None without scales."""
        return SCALINGS[self.scaling] if self.scaling else None

    @property
    def block_shape(self) -> tuple[int, ...] | str | None:
        """(n,) for runs of n neighbours, (rows, n) for tiles, "row", "channel" or "tensor"; None without scales."""
        if not self.scaling:
            return None
        kind = BLOCKS[self.block]
        if kind == "run":
            return (self.block_length,)
        return (self.block_rows, self.block_length) if kind == "tile" else kind

    @property
    def element(self) -> Format:
        """The element format of one with blocks; a scalar format itself."""
        return self._element()

    @property
    def scale_format(self) -> Format | None:
        """The format of the scales of blocks; None where they are bare powers of two, or there are none."""
        return self._scale()

    bits_per_element: float = _fact("bits_per_element", float, "Bits of a code; in blocks of a fixed size with the "
                                    "element's part of the scale's code.")
    epsilon: float = _fact("epsilon", float, "Floats: 2^-m, the distance from 1 to the next value where both are "
                           "normal; posits: that distance; else 0.")
    value_count: int = _fact("value_count", int, "How many finite values there are, +-0 counted once; 2**64 - 1 if "
                             "more.")
    nan_count: int = _fact("nan_count", int, "How many codes stand for NaN.")
    code_dtype: np.dtype[Any] = _fact("code_size", lambda size: np.dtype(f"u{size}"), "The dtype of codes in an array: "
                                      "uint8, uint16, uint32 or uint64.")

    def values(self) -> npt.NDArray[np.float64]:
        """All finite values in ascending order, zero once, as float64. ValueError past 2**26 of them."""
        return np.frombuffer(self._enumerate()[0], dtype=np.float64).copy()

    def codes(self) -> npt.NDArray[Any]:
        """The codes of `values()`, as unsigned integers."""
        return np.frombuffer(self._enumerate()[1], dtype=np.uint64).astype(self.code_dtype)

    def fits(self, dtype: Any, rounding: Any = "rne") -> bool:
        """Whether arrays of that dtype ("float32", "float64", "float16", "bfloat16") can be quantised to this format.

        A dtype must hold every value exactly; a rounding may have no meaning for a format.
        """
        return self._check(rounding, carrier_of(dtype)) is None

    def __repr__(self) -> str:
        return self._spec if self._spec is not None else f"<table of {self.codebook_length} values>"

    __str__ = __repr__

    def __reduce__(self) -> tuple[type[Format], tuple[str | bytes, bool]]:
        if self._table is None:
            return Format, (self._spec or "", False)
        values = self._table[: 4 * self.codebook_length]
        return Format, (values, len(values) < len(self._table))

    def __copy__(self) -> Format:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Format:
        return self


def format(spec: str | Format | npt.DTypeLike | Sequence[float] | npt.NDArray[Any], *, codes: bool = False) -> Format:
    """The format of a spec, the vocabulary of the C library and the command line alike.

    spec: a name such as "fp16", "bf16", "tf32", "e4m3fn", "e5m2", "e2m1", "int8", "mxfp8", "mxfp4", "nvfp4"
        (`fpemu.format_names()` lists them); a family such as "float(e=4,m=3,bias=11)", "fp(6,9,0)", "p3109(8,4,se)",
        "fixed(8,4)", "int(8,scale=0.5)", "posit(16,1)"; with policies, as "e4m3fn:saturate", "bf16:flushin"; or with
        scales of blocks, as "group(int4,128)", "scaled(e4m3fn)", "bfp(8)". fpemu-formats(7) has the grammar.
        Or a dtype of NumPy, torch, jax or ml_dtypes, such as torch.float8_e4m3fn: its name; any call takes these.
        Or a table: 2 to 65536 numbers in strictly ascending order that float32 holds exactly; the codes are indices.
        Other calls take formats and texts only: fpemu.quantize(x, fpemu.format(table)).
    codes: the table has the value of each code, in any order, with infinities, NaN, both zeros and repetitions if any.

    Raises fpemu.SpecError, which says what was expected and where, and ValueError for a table that is none.
    """
    spec = named(spec)
    if isinstance(spec, (str, Format)):
        if codes:
            raise TypeError("codes=True is for a table, the values of codes")
        return _native.format(spec)
    kind = np.asarray(spec).dtype.kind
    if kind in "USMmc" or (kind == "O" and not all(hasattr(v, "__float__") for v in np.asarray(spec).flat)):
        raise ValueError("a table is a sequence of numbers, and has things that are none")
    table = float64_of(spec)
    narrow = table.astype(np.float32)
    if table.ndim != 1 or not np.array_equal(narrow, table, equal_nan=True):
        raise ValueError("a table is a sequence of numbers that float32 holds exactly")
    return Format(narrow.tobytes(), codes)


def format_names() -> list[str]:
    """The formats that have a name, as `fpemu.format` reads them."""
    return _native.names()
