# SPDX-License-Identifier: BSD-2-Clause
"""QPyTorch (qtorch 0.3.0, Zhang et al. 2019) over libfpemu: the same names, arguments, defaults and, where it rounds to
nearest, the same bits; no compiler at import, any number of threads, reproducible random bits.

    import fpemu.compat.qtorch as qtorch            # or, before a program that imports qtorch:
    import fpemu.compat.qtorch; fpemu.compat.qtorch.install()

Formats: `FloatingPoint(e, m)` is libfpemu's `fp(e,m,0)` (for e = 8 `float(8,m)`), `FixedPoint(wl, fl)` is
`fixed(wl,fl)`, `BlockFloatingPoint(wl)` is `bfp(wl-1,block=tensor)`, all with the compatibility setting `qpytorch`
(doc/numerics.md, 7; doc/blocks.md, 6), on float32 tensors of any layout.

Where it departs from the CPU kernels of qtorch 0.3.0:

- Stochastic rounding has qtorch's law and not its bits. Random bits follow `torch.manual_seed` in all three kinds of
  format; qtorch's floats and blocks are seeded by the system and cannot be repeated.
- `man=23` returns the number as it is, as rounding to its own precision should; qtorch shifts by -1 there, and changes
  signs.
- Floats of a NaN whose fraction bits are nearly all ones: qtorch's rounding carries into the sign and gives a zero, or
  with exp=8 may clear the fraction and give an infinity. Here every NaN becomes the largest number with its sign, as
  other NaNs do in qtorch, and with exp=8 stays NaN.
- Fixed point without clamping: x of 2^(128-fl) and more stays, where qtorch's product with 2^fl becomes infinite.
- Blocks whose largest number is below 2^-126 or at least 2^125, where qtorch's own sums leave the range of normal
  numbers, follow the plain rule of block floating point. Infinities and NaN in blocks follow doc/blocks.md, 1.2. Words
  are of 3 to 22 bits; others are refused.
- `OptimLP.step` refuses a closure, which qtorch ignores.
- CUDA tensors need libfpemu_cuda; where a setting is not to be had there, the library says so.

What is refused: tensors of other dtypes (TypeError), word lengths that are none (fpemu.Error). Wrong rounding names,
numbers and lengths raise AssertionError, as in qtorch.
"""

from .._alias import install as _install
from .number import BlockFloatingPoint, FixedPoint, FloatingPoint, Number

__all__ = ["BlockFloatingPoint", "FixedPoint", "FloatingPoint", "Number", "install"]


def install(replace: bool = False) -> None:
    """Makes `import qtorch` mean this package, in this process. ImportError where qtorch has been imported already,
    unless `replace` is true: then later imports find this one, and what was imported before stays what it is."""
    _install(__name__, "qtorch", ("number", "quant", "quant.quant_function", "quant.quant_module", "auto_low",
                                  "auto_low.auto_low", "optim", "optim.optim_low"), replace)
