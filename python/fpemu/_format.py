"""Formats and roundings as immutable values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native

KINDS = ("invalid", "float", "fixed", "int", "posit", "codebook")
SCALINGS = ("none", "floor", "ceil", "even", "rceil", "hbfp", "absmax", "nvfp4", "nvfp4_ao", "recipe", "recipe_pow2",
            "muppet", "s2fp8")
BLOCKS = ("run", "row", "tile", "channel", "tensor")


class Format(_native.Format):
    """A number format: which values exist and how they are coded. Immutable, hashable, equal where the values, codes
    and policies are; made by `fpemu.format`.

    All numbers below are of one element; of a format with blocks they are the element format's.
    """

    __slots__ = ()

    @property
    def spec(self) -> str:
        """The canonical text; `fpemu.format` makes an equal format of it. A table of the caller's has none."""
        if self._spec is None:
            raise ValueError("a table of one's own has no text")
        return self._spec

    def __repr__(self) -> str:
        return self._spec if self._spec is not None else f"<table of {self.codebook_length} values>"

    __str__ = __repr__

    def __reduce__(self) -> tuple[type[Format], tuple[str | bytes]]:
        return Format, (self._spec if self._spec is not None else self._table or b"",)

    def __copy__(self) -> Format:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Format:
        return self


def format(spec: str | Format | Sequence[float] | npt.NDArray[Any]) -> Format:  # noqa: A001 - the field's word
    """The format of a spec such as "e4m3fn", "float(e=5,m=2)", "mxfp4" (fpemu-formats(7) has the grammar)."""
    if isinstance(spec, (str, Format)):
        return _native.format(spec)
    table = np.asarray(spec, dtype=np.float64)
    narrow = table.astype(np.float32)
    if table.ndim != 1 or not np.array_equal(narrow, table):
        raise ValueError("a table is a sequence of numbers that binary32 holds exactly")
    return Format(narrow.tobytes())
