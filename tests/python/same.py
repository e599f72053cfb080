# SPDX-License-Identifier: BSD-2-Clause
"""Comparing bits; calls that are refused; arrays by one protocol alone."""

import numpy as np
import pytest


def bits(x):
    """The words of an array of NumPy or of a tensor."""
    if hasattr(x, "detach"):
        import torch
        x = x.detach().contiguous()
        x = x.view({1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[x.element_size()]).numpy()
    x = np.ascontiguousarray(x)
    return x.view(f"u{x.dtype.itemsize}")


def assert_same(got, expected, what=""):
    """The same bits, but that any NaN is as good as another."""
    assert got.shape == expected.shape, (what, got.shape, expected.shape)
    assert str(got.dtype) == str(expected.dtype), (what, got.dtype, expected.dtype)
    a, b = bits(got), bits(expected)
    if (a == b).all():
        return
    x = np.asarray(got.double() if hasattr(got, "double") else got).astype(np.float64)
    y = np.asarray(expected.double() if hasattr(expected, "double") else expected).astype(np.float64)
    wrong = (a != b) & ~(np.isnan(x) & np.isnan(y))
    at = np.argwhere(wrong)[:3]
    assert not wrong.any(), (what, int(wrong.sum()), [(tuple(i), x[tuple(i)], y[tuple(i)]) for i in at])


def refuses(error, call, match=None):
    """The call raises this error, with a text that fits."""
    with pytest.raises(error, match=match):
        call()


class Interface:
    """The same memory, told by the array interface alone."""

    def __init__(self, array):
        self.array = array

    @property
    def __array_interface__(self):
        return self.array.__array_interface__


class Capsule:
    """The same memory, told by DLPack alone."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **keywords):
        return self.array.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()
