# SPDX-License-Identifier: BSD-2-Clause
"""microsoft/microxcaling (package `mx`) over libfpemu: the dictionary of specs, the quantisers, and products of
matrices whose operands they round.

    import fpemu.compat.microxcaling as mx          # or, before a program that imports mx:
    import fpemu.compat.microxcaling; fpemu.compat.microxcaling.install()

Formats are libfpemu's `mx(ELEMENT, block=..., scale=e8m0)`, OCP MX v1.0 with the rule floor: fp8_e5m2, fp8_e4m3,
fp6_e3m2, fp6_e2m3, fp4 (= fp4_e2m1), int8, int4, int2 (`fixed(8,6):symmetric` and so on), fp16, bf16. Roundings:
nearest (rna), floor (rtz), even (rne), dither (sr; random bits follow torch.manual_seed). Blocks lie along any one
axis, or along two as tiles; `block_size` 0 is a whole axis, or all of several. Scales of `scale_bits` 2 to 8 (0 is 8).

Where microxcaling 7bc4195's reference, its PyTorch code, departs from the specification or from exact arithmetic, this
package does not. `DEFECTS` names those that can be had: `quantize_mx_op(..., defects={"positive_zero"})`, likewise
`quantize_elemwise_op`, or for all calls `use_defects({...})`.

- Exponents come from a floating logarithm there, which for numbers just below a power of two is one too large: scales
  are doubled and elements lose a bit. Its C++ and CUDA code takes them from the bits, and so does this package; the
  logarithm depends on the machine, and cannot be had.
- Zeros lose their sign there: "positive_zero". Elements of int formats have no -0 here; there numbers that
  round to zero from below keep the sign.
- An overflow of `bfloat` and `fp` rounded by floor becomes infinite there; IEEE 754's rounding toward zero gives the
  largest number: "floor_infinite".
- Scales of fewer than 8 bits that are too large for their format make the block NaN there; here elements saturate:
  "nan_scale". A block with NaN or an infinity becomes NaN in both, but with such scales only its NaNs here.
- float16 and bfloat16 tensors are computed in their own arithmetic there, each step rounded; here every number is
  rounded once from its exact value, and the result, which such a tensor may not hold, is rounded to it (RNE).
- `custom_cuda` is accepted and changes nothing. Sparse tensors are refused. There are no options for argparse.
"""

from __future__ import annotations

from .._alias import install as _install
from .elemwise_ops import quantize_elemwise_op
from .formats import DEFECTS, ElemFormat, use_defects
from .linear import Linear, addmm, bmm, linear, matmul
from .mx_mapping import inject_pyt_ops
from .mx_ops import quantize_mx_op
from .quantize import quantize_bfloat
from .specs import *

__all__ = ["DEFECTS", "ElemFormat", "Linear", "MxSpecs", "addmm", "apply_mx_specs", "bmm", "finalize_mx_specs",
           "get_backwards_mx_specs", "get_default_mx_specs", "inject_pyt_ops", "install", "linear", "matmul",
           "quantize_bfloat", "quantize_elemwise_op", "quantize_mx_op", "use_defects"]


def install(replace: bool = False) -> None:
    """Makes `import mx` mean this package, in this process. ImportError where a package mx has been imported already,
    unless `replace` is true."""
    _install(__name__, "mx", ("elemwise_ops", "formats", "linear", "mx_mapping", "mx_ops", "quantize", "specs"),
             replace)
