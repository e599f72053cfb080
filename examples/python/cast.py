# SPDX-License-Identifier: BSD-2-Clause
"""Somebody has written a conversion to E4M3 (OCP OFP8: 4 bits of exponent, 3 of mantissa, largest number 448).

`fpemu.fuzz` looks for inputs on which it differs from the library, and groups them: each defect has its smallest
example. The conversion is mended twice, until nothing differs. Then torch's own is tried, where torch is installed.

    python cast.py

Needs NumPy alone.
"""

import fpemu
import numpy as np

LARGEST, SMALLEST_NORMAL_EXPONENT = np.float32(448), -6


def first(x):
    """Scales by a power of two, adds a half and cuts: ties go away from zero. Subnormal numbers are forgotten."""
    exponent = np.frexp(x)[1] - 1
    step = np.ldexp(np.float32(1), exponent - 3)
    y = np.where(exponent < SMALLEST_NORMAL_EXPONENT, 0, np.floor(np.abs(x) / step + 0.5) * step)
    return np.copysign(np.minimum(y, LARGEST), x)


def second(x):
    """Ties go to even, subnormal numbers have the step 2^-9. But numbers pass by way of binary16: two roundings."""
    x = x.astype(np.float16).astype(np.float32)
    step = np.ldexp(np.float32(1), np.maximum(np.frexp(x)[1] - 1, SMALLEST_NORMAL_EXPONENT) - 3)
    return np.copysign(np.minimum(np.rint(np.abs(x) / step) * step, LARGEST), x)


def third(x):
    """Rounded once."""
    step = np.ldexp(np.float32(1), np.maximum(np.frexp(x)[1] - 1, SMALLEST_NORMAL_EXPONENT) - 3)
    return np.copysign(np.minimum(np.rint(np.abs(x) / step) * step, LARGEST), x)


def torch_cast(x):
    import torch
    return x.to(torch.float8_e4m3fn)


def main():
    with np.errstate(all="ignore"):
        for cast in first, second, third:
            print(f"{cast.__name__}: {fpemu.fuzz(cast, 'e4m3fn:saturate')}")
    try:
        import torch
    except ImportError:
        return
    for policy in "e4m3fn", "e4m3fn:saturate":  # what lies past 448 becomes NaN, or 448: it depends on the version
        print(f"torch {torch.__version__}: {fpemu.fuzz(torch_cast, policy, dtype='bfloat16', tensors=True)}")


if __name__ == "__main__":
    main()
