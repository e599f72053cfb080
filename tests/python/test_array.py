# SPDX-License-Identifier: BSD-2-Clause
"""Arrays whose every operation is rounded once: by all of their rounding, to their format, counted in their stats."""

import copy
import pickle
from fractions import Fraction

import fpemu
import numpy as np
import pytest
from same import assert_same, refuses

M, G = 2**64 - 1, 0x9E3779B97F4A7C15


def mix(z):
    """doc/numerics.md, 5.1."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        z = (z ^ z >> shift) * factor & M
    return z ^ z >> 31


def in_sequence(a, b, f, rounding):
    """Sums of exact products, an fma each; sum k has the stream and element of doc/accumulation.md, 1.1."""
    s = np.zeros((a.shape[0], b.shape[1]), a.dtype)
    for k in range(a.shape[1]):
        step = rounding.replace(stream=mix(rounding.stream + (k + 1) * G & M))
        s = fpemu.fma(np.ascontiguousarray(np.broadcast_to(a[:, k, None], s.shape)),
                      np.ascontiguousarray(np.broadcast_to(b[k], s.shape)), s, f, step)
    return s


# ---------------------------------------------------------------------------------------- products of matrices
@pytest.mark.parametrize("overflow, limit", [("saturate", 448.0), ("keepinf", 448.0), ("ieee", np.nan), (None, np.nan)])
def test_products_overflow_as_the_rounding_says(overflow, limit):
    ten = fpemu.array(np.full((1, 6), 10, np.float32), "e4m3fn", fpemu.rounding(overflow=overflow))
    assert np.array_equal((ten @ ten.T).data, [[limit]], equal_nan=True)  # 10 * 10 six times
    assert np.array_equal((ten * 10).sum().data, limit, equal_nan=True)
    assert np.array_equal(ten.matmul(ten.T, "fp32").data, [[limit]], equal_nan=True)


def test_products_of_nan_as_the_rounding_says():
    f = fpemu.format("e2m1")  # which has none
    a, b = np.array([[np.nan, 1]], np.float32), np.array([[1], [-6]], np.float32)
    assert (fpemu.Array(a, f, fpemu.rounding(nan="max")) @ b).tolist() == [[0.0]]  # 6, then 6 - 6
    assert (fpemu.Array(a, f, fpemu.rounding(nan="zero")) @ b).tolist() == [[-6.0]]
    assert np.isnan((fpemu.Array(a, f, fpemu.rounding(nan="keep")) @ b).data).all()
    refuses(fpemu.Error, lambda: fpemu.Array(a, f, fpemu.rounding(nan="error")) @ b, "NaN")


@pytest.mark.parametrize("rounding", [
    fpemu.rounding("sr", seed=3), fpemu.rounding("sr", seed=3, stream=2**64 - 1, offset=77),
    fpemu.rounding("sr", seed=3, bits=3, variant="c"), fpemu.rounding("se", seed=2**63, generator="philox"),
    fpemu.rounding("rtz"), fpemu.rounding("rtp", overflow="saturate")], ids=repr)
def test_products_by_long_hand(rng, rounding):
    f = fpemu.format("e4m3fn")
    x, y = (rng.choice(f.values()[60:-60], shape).astype(np.float32) for shape in ((5, 9), (9, 4)))
    a, b = fpemu.array(x, f, rounding), fpemu.array(y, f)
    for step in 1, 2:  # of a stochastic rounding, whose stream 0 has rounded x
        own = rounding.replace(stream=(rounding.stream + step) % 2**64) if rounding.is_stochastic else rounding
        assert_same((a @ b).data, in_sequence(x, y, f, own))


def test_products_follow_nobodys_departures():
    a = fpemu.array(np.ones((2, 2), np.float32), "e5m2", "ml-dtypes")
    for operation in (lambda: a + a, lambda: a @ a, lambda: a.matmul(a, "fp32")):
        refuses(fpemu.Error, operation, "compatibility settings are for conversions")


def test_a_product_of_another_model_is_rounded_once():
    a = fpemu.array(np.float32([1, 0.5, 2**-16]), "e5m2")
    b = fpemu.array(np.float32([1, 0.25, 2**-16]), "e5m2")
    assert sum(Fraction(x) * Fraction(y) for x, y in zip(a.tolist(), b.tolist())) == Fraction(9, 8) + Fraction(1, 2**32)
    assert a.matmul(b, "fp64").item() == 1.25  # in binary32 it is 1.125, a tie
    assert a.matmul(b, "fp64; out=fp16").item() == 1.0  # which the model asks for
    assert a.matmul(b, fpemu.gemm("fp64; out=e5m2/rtz")).item() == 1.0


@pytest.mark.parametrize("call", [lambda a: a.matmul(a, "seq(e4m3fn/sr)"), lambda a: a + 0.05])
def test_stochastic_operations_repeat_and_do_not_reuse_bits(call):
    def run():
        a = fpemu.array(np.full((32, 32), 1.05, np.float32), "e4m3fn", fpemu.rounding("sr", seed=4))
        return call(a), call(a)
    (a, b), (c, d) = run(), run()
    assert a.tolist() == c.tolist() and b.tolist() == d.tolist()
    assert a.tolist() != b.tolist()


def test_products_are_counted():
    stats = fpemu.Stats()
    a = fpemu.array(np.full((2, 3), 20, np.float32), "e4m3fn", fpemu.rounding(overflow="saturate"), stats=stats)
    assert stats.count == 6
    assert (a @ a.T).tolist() == [[448.0] * 2] * 2
    assert stats.count == 6 + 4 * 3 and stats.overflow == 4 * 2  # 400 is 384; 384 + 400, and 448 + 400
    a.matmul(a.T, "seq(fp32)")
    assert stats.count == 18 + 4 * 4 and stats.overflow == 8 + 4  # the results, too
    a.matmul(a.T, "seq(fp32); out=fp16")
    assert stats.count == 34 + 4 * 5 and stats.overflow == 12 + 4
    a @ np.ones(3, np.float32)
    assert stats.count == 54 + 3 + 2 * 3
    for stats in (fpemu.Stats(sums=True), fpemu.Stats(histogram=(-3, 3))):
        a = fpemu.array(np.ones((2, 2), np.float32), "e4m3fn", stats=stats)
        refuses(fpemu.Error, lambda: a @ a, "without sums and histograms")
        counted = stats.copy()
        refuses(fpemu.Error, lambda: fpemu.matmul(a.data, a.data, "fp32", stats=stats), "without sums and histograms")
        assert stats == counted


# ------------------------------------------------------------------------------------------------- the others
@pytest.mark.parametrize("spec", ["int8", "fixed(8,4)", "e4m3fn", "e2m1"])
def test_no_sign_leaves_the_format(spec):
    f = fpemu.format(spec)
    a = fpemu.array(f.values().astype(np.float32), f)
    assert f.lowest in a.data
    for got, exact in ((abs(a), np.abs(a.data)), (-a, -a.data)):
        assert all(map(f.represents, got.tolist()))
        assert np.array_equal(got.data, np.minimum(exact, np.float32(f.max)))


def test_an_array_of_an_array_counts_where_it_is_told():
    first, second = fpemu.Stats(), fpemu.Stats()
    a = fpemu.array([300.0, 1.0], "fp16", stats=first)
    b = fpemu.array(a, "e4m3fn:saturate", stats=second)
    assert (first.count, second.count) == (2, 2) and b.tolist() == [288.0, 1.0]
    b + b
    assert (first.count, second.count, second.overflow) == (2, 4, 1)  # 576 is past 448
    c = fpemu.array(a, "e4m3fn")
    assert c.stats is first and (first.count, second.count) == (4, 4)


def test_abs_is_counted():
    stats = fpemu.Stats()
    a = fpemu.array([-128.0, 127.0], "int8", stats=stats)
    abs(a)
    assert (stats.count, stats.overflow) == (4, 1)


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_results_do_not_share_memory_with_operands(kind, request):
    made = np.asarray if kind == "numpy" else request.getfixturevalue("torch").from_numpy
    for reduce in (lambda a: a.sum(), lambda a: a.sum(1), lambda a: a.sum(1, order="pairwise"), lambda a: a.prod(0),
                   lambda a: a.min(), lambda a: a.max(1), lambda a: a.mean(), lambda a: +a):
        a = fpemu.array(made(np.float32([[1.5]])), "e4m3fn")
        result = reduce(a)
        a[0, 0] = 7
        assert result.item() == 1.5


def test_arrays_of_jax(jax, rng):
    """An Array of jax's arrays has the bits of one of NumPy's."""
    x = rng.standard_normal((3, 5)).astype(np.float32)
    ours, numpy = fpemu.array(jax.numpy.asarray(x), "bf16"), fpemu.array(x, "bf16")
    for call in (lambda a: a.sum(axis=0), lambda a: a.sum(1, order="pairwise"), lambda a: a.mean(), lambda a: a.min(0),
                 lambda a: a.transpose(1, 0), lambda a: a.transpose(), lambda a: a.T @ a, lambda a: a.copy() + 1):
        result = call(ours)
        assert isinstance(result.data, jax.Array)
        assert_same(np.asarray(result.data), np.asarray(call(numpy).data))


def test_numpy_s_protocol(torch):
    a = fpemu.array(np.float32([1.5, 2]), "bf16")
    assert np.asarray(a) is a.data and np.asarray(a, dtype=np.float32) is a.data
    assert np.asarray(a, dtype=np.float64).dtype == np.float64 and not np.shares_memory(np.array(a), a.data)
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":  # before, False was "as needed"
        assert np.array(a, copy=False) is a.data
        refuses(ValueError, lambda: np.array(a, dtype=np.float64, copy=False), "copy")
    ml_dtypes = pytest.importorskip("ml_dtypes")
    held = np.asarray(fpemu.array(torch.tensor([1.5, 2], dtype=torch.bfloat16), "e4m3fn"))
    assert held.dtype == ml_dtypes.bfloat16 and held.tolist() == [1.5, 2]


def test_what_is_no_number_is_never_equal():
    a = fpemu.array([1.0, 2], "bf16")
    for other in (None, "x", b"x", [1, 2], (1.0, 2.0), {}, object(), 1j):
        assert (a == other) is False and (other == a) is False
        assert (a != other) is True and (other != a) is True
        assert a not in [other]
    assert (a == 2).tolist() == [False, True] and (np.float32([1, 3]) != a).tolist() == [False, True]
    for call in (lambda: a == np.array([1, 2]), lambda: a != fpemu.array([1.0], "fp16")):
        with pytest.raises((TypeError, ValueError)):  # arrays that are no operands
            call()


@pytest.mark.parametrize("protocol", range(6))
def test_arrays_travel(protocol):
    """With their random bits: a, the twin and a copy of it go on alike, and parts share their stream as before."""
    a = fpemu.array(np.full(64, 1.3, np.float32), "e4m3fn", fpemu.rounding("sr", seed=3), stats=fpemu.Stats())
    twin, part = pickle.loads(pickle.dumps((a, a[:9]), protocol))
    assert type(twin) is fpemu.Array and twin.stats == a.stats and part.stats is twin.stats
    for other in (copy.deepcopy(twin), twin):
        assert (other.format, other.rounding) == (a.format, a.rounding)
    first = a * 1.1
    assert_same((twin * 1.1).data, first.data)
    second = a[:9] * 1.1
    assert_same((part * 1.1).data, second.data)
    assert twin.stats == a.stats


def test_an_order_of_sums_that_there_is_not():
    refuses(ValueError, lambda: fpemu.array([1.0], "bf16").sum(order="random"), "order")


def test_an_array_is_made_of_numbers():
    for bad in (["1"], [b"1"], [["1.5", 2]], [None, 1.0], [1.0, "nan", 2**70], [np.datetime64(1, "s")]):
        refuses(TypeError, lambda: fpemu.array(bad, "bf16"), "numbers")
    assert fpemu.array([Fraction(1, 2), 2**70, True, np.float16(3)], "bf16").tolist() == [0.5, 2.0**70, 1.0, 3.0]
    assert fpemu.array([], "bf16").shape == (0,)


def test_a_model_has_its_own_seed():
    a = fpemu.array(np.full((2, 8), 1.05, np.float32), "bf16", fpemu.rounding("sr", seed=3))
    model = fpemu.gemm("seq(fp(6,9,0)/sr); out=bf16", seed=1)
    assert a.matmul(a.T, model).tolist() == fpemu.matmul(a.data, a.data.T, model).tolist()


def test_results_of_tables_are_rounded_by_themselves():
    table = fpemu.array([[0.5, 1], [0, -1]], fpemu.format([-1, 0, 0.5, 1]), stats=fpemu.Stats())
    assert_same(table.matmul(table, "fp32").data, np.float32([[0, -1], [0, 1]]))  # of .25, -.5; 0, 1: ties go down
    refuses(ValueError, lambda: table @ table, "no text")
