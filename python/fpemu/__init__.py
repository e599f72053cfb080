# SPDX-License-Identifier: BSD-2-Clause
"""fpemu: what would this computation do in that number format?

Numbers stay in ordinary arrays of NumPy, torch and jax. Each is rounded once, from its exact value, to a value of a
format: floats of any width, fixed point, integers with a scale, posits, and formats whose blocks share a scale, such as
MX and NVFP4. Equal arguments give equal bits on every machine and number of threads, for stochastic rounding too.

    >>> import fpemu, numpy as np
    >>> x = np.array([0.3, 1, 464, 1000, 1e-4], dtype=np.float32)
    >>> s = fpemu.Stats(sums=True)
    >>> fpemu.quantize(x, "e4m3fn:saturate", stats=s).tolist()
    [0.3125, 1.0, 448.0, 448.0, 0.0]
    >>> s.overflow, s.underflow, round(s.sqnr, 1)
    (1, 1, 6.0)

What is rounded to, and how:
    format(spec)            a Format: "bf16", "e4m3fn", "posit(16,1)", "mxfp4", ...; .max .bits .values() ...
    rounding(text, ...)     a Rounding: "rne", "rtz", "sr" with seed, stream and bits, ...
    Stats(...)              counters of what happened: overflow, underflow, sqnr, histograms, ...
Numbers and codes:
    quantize                values to values of a format; any shape, strides, in place or into `out`
    encode, decode          values to codes and back
    pack, scales, measure   whole tensors as packed bytes (Packed), scales of blocks, ranges; Delayed; swizzle
Arithmetic, each result rounded once:
    add sub mul div sqrt fma minimum maximum    equal less less_equal greater greater_equal
    apply(function, ...)    27 elementary functions, correctly rounded; functions() names them
    matmul                  products of matrices as a machine computes them: gemm(text) is a model of one
    array(x, format)        an Array, whose operators do all of this
Tools:
    load, judge             tensors of files that keep codes with scales, and the rules that made them
    compare(x, specs)       what a tensor would lose in each of several formats: a table, and a picture
    fuzz(callable, format)  where somebody else's cast differs from the library's, and the smallest examples
Errors:
    Error (a ValueError)    what the library refuses, and why; SpecError, with the position in a text
Elsewhere:
    fpemu.torch             operators with gradients, modules, conversion of models; once imported, quantize, encode,
                            arithmetic and functions here follow gradients, and torch.compile follows them
    fpemu.jax               operators under jit, vmap and grad
    fpemu.compat            the names of other packages

Calls on many elements release the interpreter's lock and use as many threads as OpenMP gives (OMP_NUM_THREADS); a
process made by os.fork works with one thread, since OpenMP's others do not survive it. Formats and roundings never
change, and are shared freely among threads; calls from several threads may add to one Stats.
"""


from . import _native
from ._array import Array, array
from ._arrays import adopt as _adopt
from ._arrays import bump as _bump
from ._arrays import grad_enabled as _grad_enabled
from ._arrays import memory_of as _memory_of
from ._command import judge, load
from ._compare import Comparison, compare
from ._errors import Error, SpecError
from ._format import Format, format, format_names
from ._fuzz import Difference, FuzzReport, fuzz
from ._gemm import Gemm, gemm, matmul
from ._given import quantize as _given
from ._packed import Delayed, Packed, Range, measure, pack, scales, swizzle, unswizzle
from ._rounding import Rounding, rounding
from ._stats import Stats
from ._values import *

_native.register(Format=Format, Rounding=Rounding, Error=Error, SpecError=SpecError, adopt=_adopt,
                 memory=_memory_of, bump=_bump, grad=_grad_enabled, given=_given)
quantize = _native.quantize


def library() -> dict[str, object]:
    """What the C library says of itself: its version, the instruction set in use (`variant`, which changes no result;
    the environment variable FPEMU_VARIANT names another), and those that this machine runs."""
    found = _native.library()
    version = int(found["version"])
    return {**found, "version": f"{version // 10000}.{version // 100 % 100}.{version % 100}"}


__version__ = str(library()["version"])

__all__ = [
    "Array", "Comparison", "Delayed", "Difference", "Error", "Format", "FuzzReport", "Gemm", "Packed", "Range",
    "Rounding", "SpecError", "Stats", "add", "apply", "array", "compare", "decode", "div", "encode", "equal", "fma",
    "format", "format_names", "functions", "fuzz", "gemm", "greater", "greater_equal", "judge", "less",
    "less_equal", "library", "load", "matmul", "maximum", "measure", "minimum", "mul", "pack", "quantize",
    "random_word", "rounding", "scales", "sqrt", "sub", "swizzle", "unswizzle",
]
