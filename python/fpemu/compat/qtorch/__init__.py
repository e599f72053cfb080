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
- `exp=8`: NaN stays NaN; in qtorch the rounding may carry a NaN's bits into an infinity or a zero. Past the largest
  number the result is infinite in both.
- Fixed point without clamping, or of more than 25 bits: x = (2^24 - 1) * 2^-fl stays, qtorch moves it one step up. NaN
  and infinities pass in both.
- Blocks whose largest number is below 2^-126 or at least 2^125, where qtorch's own sums leave the range of normal
  numbers, and words of fewer than 3 or more than 22 bits, follow the plain rule of block floating point; a NaN or an
  infinity makes its block NaN.
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
