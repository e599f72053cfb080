# SPDX-License-Identifier: BSD-2-Clause
"""Roundings as immutable values."""

from __future__ import annotations

from operator import index
from typing import Any, SupportsIndex

from . import _native

MODES = ("rne", "rna", "rnz", "rtz", "raz", "rtp", "rtn", "rto", "sr", "se", "rnp")
OVERFLOWS = (None, "ieee", "saturate", "keepinf")
NANS = (None, "keep", "max", "signmax", "zero", "error")
VARIANTS = ("a", "b", "c")
GENERATORS = ("hash", "philox")
COMPATS = (None, "qpytorch", "lee-inf", "cpfloat", "ml-dtypes", "cuda", "pytorch-multiply", "pytorch-divide", "muppet",
           "ggml", "pytorch-cast")


def _index(names: tuple[str | None, ...], name: str | None, what: str) -> int:
    if name not in names:
        known = ", ".join(repr(n) for n in names)
        raise ValueError(f"{what} is one of {known}, not {name!r}")
    return names.index(name)


def _word(value: SupportsIndex, what: str) -> int:
    try:
        word = index(value)
    except TypeError:
        raise TypeError(f"{what} is an integer from 0 to 2**64 - 1, not {value!r}") from None
    if not 0 <= word < 1 << 64:
        raise ValueError(f"{what} is an integer from 0 to 2**64 - 1, not {value!r}")
    return word


def _named(field: str, names: tuple[str | None, ...], text: str) -> Any:
    return property(lambda self: names[getattr(self, field)], doc=text)


class Rounding(_native.Rounding):
    """How a number becomes a value of a format: which neighbour, what past the ends, and by which random bits.

    Immutable, hashable, picklable; made by `fpemu.rounding`. Random bits are a function of seed, stream, generator and
    the element's index alone, so neither threads nor the order of calls change them.
    """

    __slots__ = ()

    mode: str = _named("_mode", MODES, '"rne", "rna", "rnz", "rnp", "rtz", "raz", "rtp", "rtn", "rto", "sr" or "se".')
    overflow: str | None = _named("_overflow", OVERFLOWS, '"ieee", "saturate", "keepinf" (saturate, infinities apart), '
                                  'or None: as the format says.')
    nan: str | None = _named("_nan", NANS, 'What a NaN becomes where the format has none: "keep", "max", "signmax", '
                             '"zero", "error", or None: as the format says.')
    variant: str = _named("_variant", VARIANTS, 'How stochastic rounding compares with the random bits: "a", "b" or '
                          '"c" (IEEE P3109, 4.7.4).')
    generator: str = _named("_generator", GENERATORS, '"hash", or "philox" (Philox4x32-10).')
    compat: str | None = _named("_compat", COMPATS, "Whose departures from the rules are followed, or None.")

    @property
    def bits(self) -> int:
        """Random bits an element, 1 to 32; used by "sr" and "se" alone."""
        return self._bits or 32

    @property
    def is_stochastic(self) -> bool:
        """Whether random bits are used."""
        return self.mode in ("sr", "se")

    def replace(self, **changes: Any) -> Rounding:
        """The same with other `overflow`, `nan`, `variant`, `bits`, `generator`, `seed`, `stream` or `offset`."""
        fields: dict[str, Any] = {name: getattr(self, name) for name in
                                  ("overflow", "nan", "variant", "bits", "generator", "seed", "stream", "offset")}
        unknown = set(changes) - set(fields)
        if unknown:
            raise TypeError(f"a rounding has no {sorted(unknown)[0]!r} to replace")
        fields.update(changes)
        return _make(self.mode, self._compat, **fields)

    def __repr__(self) -> str:
        parts = [repr(self.mode)]
        parts += [f"{name}={getattr(self, name)}" for name in ("seed", "stream", "offset") if getattr(self, name)]
        parts += [f"bits={self._bits}"] if self._bits else []
        parts += [f"{name}={getattr(self, name)!r}" for name in ("overflow", "nan") if getattr(self, name)]
        parts += [f"variant={self.variant!r}"] if self._variant else []
        parts += [f"generator={self.generator!r}"] if self._generator else []
        parts += [f"compat={self.compat!r}"] if self._compat else []
        return f"fpemu.rounding({', '.join(parts)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Rounding, (self.mode, self._overflow, self._nan, self._variant, self._bits, self._generator,
                          self._compat, self.seed, self.stream, self.offset)

    def __copy__(self) -> Rounding:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Rounding:
        return self


def _make(text: str, compat: int, *, overflow: str | None, nan: str | None, variant: str, bits: int, generator: str,
          seed: int, stream: int, offset: int) -> Rounding:
    if not 1 <= bits <= 32:
        raise ValueError(f"bits is 1 to 32 random bits an element, not {bits!r}")
    return Rounding(text, _index(OVERFLOWS, overflow, "overflow") or -1, _index(NANS, nan, "nan") or -1,
                    _index(VARIANTS, variant, "variant"), bits % 32, _index(GENERATORS, generator, "generator"), compat,
                    _word(seed, "seed"), _word(stream, "stream"), _word(offset, "offset"))


def rounding(text: str | Rounding = "rne", *, seed: int = 0, stream: int = 0, offset: int = 0, bits: int = 32,
             variant: str = "a", generator: str = "hash", overflow: str | None = None,
             nan: str | None = None) -> Rounding:
    """A rounding.

    text: a mode: "rne", "rna", "rnz", "rnp" (to the nearest; ties to even, away from zero, to zero, up), "rtz", "raz",
        "rtp", "rtn" (toward zero, away from it, up, down), "rto" (to odd), "sr" (stochastic: up with the probability of
        the distance), "se" (up or down alike); long names such as "toward-zero"; or whose rounding to follow:
        "qpytorch", "qpytorch-sr", "lee", "cpfloat-sr", "nvidia", "ml-dtypes", "pytorch-multiply", ...
        (`fpemu_rounding_parse`).
    seed, stream: integers of 64 bits. Numbers of different streams are independent: say, one for each tensor and step.
    offset: index of the first element in its stream; a tensor rounded slice by slice, each slice with the offset of its
        first element, gets the bits of one call.
    bits: random bits an element, 1 to 32. variant: how they are used (IEEE P3109, 4.7.4). generator: "hash" or
        "philox".
    overflow: "ieee", "saturate" or "keepinf"; nan: "keep", "max", "signmax", "zero" or "error"; None: what
        text and format say.

    Raises fpemu.SpecError for another text, ValueError for numbers out of range.
    """
    if isinstance(text, Rounding):
        if (seed, stream, offset, bits, variant, generator, overflow, nan) != (0, 0, 0, 32, "a", "hash", None, None):
            raise TypeError("a Rounding is there already: rounding.replace(seed=...) changes it")
        return text
    return _make(text, -1, seed=seed, stream=stream, offset=offset, bits=bits, variant=variant, generator=generator,
                 overflow=overflow, nan=nan)
