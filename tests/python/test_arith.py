# SPDX-License-Identifier: BSD-2-Clause
"""Arithmetic against exact rationals, NumPy and long hand; products of matrices; arrays rounded at every operation."""

from fractions import Fraction

import fpemu
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from same import assert_same, refuses


def nearest(exact, f):
    """The value of a small format nearest to a rational, ties to even codes."""
    values = [Fraction(v) for v in f.values()]
    if exact > values[-1]:
        step = values[-1] - values[-2]
        return float(values[-1]) if exact < values[-1] + step / 2 else None
    if exact < values[0]:
        mirrored = nearest(-exact, f)
        return None if mirrored is None else -mirrored
    best = min(abs(v - exact) for v in values)
    found = [v for v in values if abs(v - exact) == best]
    if len(found) == 1:
        return float(found[0])
    codes = fpemu.encode(np.array([float(v) for v in found]), f)
    return float(found[0] if codes[0] % 2 == 0 else found[1])


@pytest.mark.parametrize("spec", ["e4m3fn:saturate", "e2m3", "e5m2", "e3m2"])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_operations_are_exact_but_for_one_rounding(rng, spec, name, dtype):
    f = fpemu.format(spec)
    a, b = (rng.choice(f.values(), 300).astype(dtype) for _ in range(2))
    b[b == 0] = 1
    got = getattr(fpemu, name)(a, b, f)
    assert got.dtype == a.dtype
    operation = {"add": "__add__", "sub": "__sub__", "mul": "__mul__", "div": "__truediv__"}[name]
    for x, y, z in zip(a, b, got, strict=True):
        expected = nearest(getattr(Fraction(float(x)), operation)(Fraction(float(y))), f)
        if expected is not None:
            assert expected == z, (spec, name, x, y, z)


def test_fma_is_rounded_once(rng):
    f = fpemu.format("e4m3fn:saturate")
    a, b, c = (rng.choice(f.values(), 500).astype(np.float32) for _ in range(3))
    for x, y, z, got in zip(a, b, c, fpemu.fma(a, b, c, f), strict=True):
        expected = nearest(Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)), f)
        if expected is not None:
            assert got == expected


def test_binary32_arithmetic_of_numpy(rng):
    a, b = (rng.standard_normal(10000).astype(np.float32) for _ in range(2))
    for name, function in (("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide),
                           ("minimum", np.minimum), ("maximum", np.maximum)):
        assert_same(getattr(fpemu, name)(a, b, "fp32"), function(a, b), name)
    assert_same(fpemu.sqrt(np.abs(a), "fp32"), np.sqrt(np.abs(a)))
    for name, function in (("equal", np.equal), ("less", np.less), ("less_equal", np.less_equal),
                           ("greater", np.greater), ("greater_equal", np.greater_equal)):
        got = getattr(fpemu, name)(a, np.round(a), )
        assert got.dtype == np.bool_ and np.array_equal(got, function(a, np.round(a)))


shapes = st.lists(st.integers(1, 4), min_size=0, max_size=4)


@given(shapes, st.integers(0, 15), st.integers(0, 3), st.integers(0, 9))
def test_broadcasting_is_numpys(shape, ones, shorter, seed):
    rng = np.random.default_rng(seed)
    other = tuple(1 if ones >> i & 1 else size for i, size in enumerate(shape))[min(shorter, len(shape)):]
    a, b = rng.standard_normal(shape).astype(np.float32), rng.standard_normal(other).astype(np.float32)
    assert_same(fpemu.add(a, b, "fp32"), np.asarray(np.add(a, b)))
    assert_same(fpemu.mul(b, a, "fp32"), np.asarray(np.multiply(b, a)))
    rounding = fpemu.rounding("sr", seed=seed)
    both = [np.array(x) for x in np.broadcast_arrays(a, b)]
    assert_same(fpemu.sub(a, b, "e4m3fn", rounding), fpemu.sub(*both, "e4m3fn", rounding))


def test_strided_operands_and_pieces(rng):
    a, b = rng.standard_normal((300, 70)).astype(np.float32), rng.standard_normal((70, 300)).astype(np.float32)
    rounding = fpemu.rounding("sr", seed=9, offset=100)
    s, t = fpemu.Stats(sums=True), fpemu.Stats(sums=True)
    expected = fpemu.add(a, np.ascontiguousarray(b.T), "e4m3fn", rounding, stats=s)
    assert_same(fpemu.add(a, b.T, "e4m3fn", rounding, stats=t), expected)
    assert s == t
    out = np.zeros((70, 300), np.float32).T
    assert fpemu.add(a, b.T, "e4m3fn", rounding, out=out) is out
    assert_same(out, expected)
    assert_same(fpemu.encode(b.T, "e4m3fn"), fpemu.encode(np.ascontiguousarray(b.T), "e4m3fn"))
    codes = fpemu.encode(a, "e4m3fn")
    assert_same(fpemu.decode(codes[::-2, ::3], "e4m3fn"), fpemu.quantize(a, "e4m3fn")[::-2, ::3])


def test_operands_that_are_no_numbers_of_the_dtype():
    x = np.ones(3, np.float32)
    refuses(ValueError, lambda: fpemu.add(x, 0.1, "bf16"), r"0\.1")
    refuses(TypeError, lambda: fpemu.add(x, x.astype(np.float64), "bf16"), "float64")
    refuses(ValueError, lambda: fpemu.add(x, np.ones(2, np.float32), "bf16"), "broadcast")
    assert fpemu.add(0.1, 0.2, "fp64") == 0.1 + 0.2


def test_functions_refuse_wide_operands():
    refuses(fpemu.Error, lambda: fpemu.apply("exp", np.array([0.1], np.float32), "fp16"))
    refuses(ValueError, lambda: fpemu.apply("exq", np.array([0.5], np.float32), "fp16"), "functions")
    assert len(fpemu.functions()) == 27


@pytest.mark.parametrize("size,offset", [(10000, 0), (1000, 4000)])
@pytest.mark.parametrize("x_step,out_step", [(1, 1), (2, 1), (1, 2), (2, 2)])
def test_a_refused_array_of_a_function_is_left_alone(size, offset, x_step, out_step):
    """The number that is refused lies behind the first 4096 elements, and behind a multiple of that in the stream."""
    x = np.full(2 * size, 0.5, np.float32)[:x_step * size:x_step]
    x[9 * size // 10] = 0.1
    kept, stats = x.copy(), fpemu.Stats(sums=True)
    for out in (x, np.full(2 * size, 7, np.float32)[:out_step * size:out_step]):
        before = out.copy()
        with pytest.raises(fpemu.Error, match="16 significant bits") as refused:
            fpemu.apply("exp", x, "bf16", offset=offset, out=out, stats=stats)
        assert refused.value.status == 11
        assert_same(out, before)
        assert_same(x, kept)
        assert stats == stats.empty()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_functions_of_any_strides(rng, dtype):
    x = rng.integers(-2000, 2000, (90, 60)).astype(dtype) / 256
    rounding, spec = fpemu.rounding("sr", seed=2, offset=77), "e5m2" if dtype == np.float16 else "bf16"
    s, t = fpemu.Stats(sums=True), fpemu.Stats(sums=True)
    expected = fpemu.apply("tanh", np.ascontiguousarray(x.T), spec, rounding, stats=s)
    out = np.zeros((120, 90), dtype)[::2]
    for y in (out, np.zeros((60, 90), dtype), x.T):
        t.clear()
        assert fpemu.apply("tanh", x.T, spec, rounding, out=y, stats=t) is y
        assert_same(np.ascontiguousarray(y), expected)
        assert s == t


def test_python_integers_are_rounded_once():
    """2**60 + 2**52 + 1 lies just above the middle of two numbers of bf16, and float64 holds that middle alone."""
    one, f = np.ones(2, np.float32), fpemu.format("bf16")
    array = fpemu.array(one, f)
    for number in (2 ** 60 + 2 ** 52 + 1, 2 ** 53 + 1, -2 ** 53 - 1, -2 ** 64 - 1, 2 ** 5000):
        for call in (lambda n: fpemu.quantize(n, "bf16"), lambda n: fpemu.encode(n, "bf16"),
                     lambda n: fpemu.add(n, 1, "bf16"), lambda n: fpemu.add(one, n, "bf16"),
                     lambda n: fpemu.less(n, one), lambda n: fpemu.matmul(one[None], one[:, None], "fp32", alpha=n),
                     lambda n: fpemu.format(sorted([0, n])), f.represents, f.next_up, f.next_down,
                     lambda n: fpemu.array(n, f), lambda n: fpemu.array([n, 0.5], f), lambda n: array * n,
                     lambda n: n - array, lambda n: array < n, lambda n: fpemu.pack(n, f)):
            refuses(ValueError, lambda: call(number), "rounded twice")
    refuses(ValueError, lambda: fpemu.format(np.array([0, 2 ** 60 + 1])), "rounded twice")
    for number in (2 ** 60 + 2 ** 53 + 2 ** 9, -3, 2 ** 1000):
        assert fpemu.quantize(number, "fp64") == number == fpemu.add(number, 0, "fp64")
    assert fpemu.quantize(2 ** 60 + 2 ** 52 + 2 ** 8, "bf16") == 2 ** 60 + 2 ** 53
    assert fpemu.array([2 ** 60 + 2 ** 52 + 2 ** 8, True, -3], f).tolist() == [2.0 ** 60 + 2 ** 53, 1.0, -3.0]
    assert f.represents(2 ** 60) and fpemu.format([0, 2 ** 60]).max == 2 ** 60


# ------------------------------------------------------------------------------------------------- matrices
def sequential(a, b, f):
    """s = round(s + product), the product exact, by rationals."""
    result = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s = nearest(Fraction(s) + Fraction(float(a[i, k])) * Fraction(float(b[k, j])), f)
            result[i, j] = s
    return result


def test_a_product_by_rationals(rng):
    f = fpemu.format("e4m3fn:saturate")
    a, b = (rng.choice(f.values()[60:-60], shape).astype(np.float32) for shape in ((4, 7), (7, 3)))
    got = fpemu.matmul(a, b, "seq(e4m3fn:saturate)")
    assert np.array_equal(got, sequential(a, b, f))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_strides_batches_and_transposes_change_nothing(rng, dtype):
    a, b = rng.standard_normal((3, 2, 5, 7)).astype(dtype), rng.standard_normal((3, 2, 7, 4)).astype(dtype)
    spec = "chunk(3,bf16)"
    expected = np.stack([[fpemu.matmul(a[i, j], b[i, j], spec) for j in range(2)] for i in range(3)])
    assert_same(fpemu.matmul(a, b, spec), expected)
    at = np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2)
    bt = np.ascontiguousarray(b.transpose(3, 1, 0, 2)).transpose(2, 1, 3, 0)
    assert_same(fpemu.matmul(at, bt, spec), expected)
    assert_same(fpemu.matmul(a[:, :, ::-1, ::-1], b[:, :, ::-1], spec), fpemu.matmul(
        np.ascontiguousarray(a[:, :, ::-1, ::-1]), np.ascontiguousarray(b[:, :, ::-1]), spec))
    out = np.zeros((3, 2, 4, 5), dtype).swapaxes(-1, -2)
    assert fpemu.matmul(a, b, spec, out=out) is out
    assert_same(out, expected)
    one = fpemu.matmul(a, b[0, 0], spec)
    assert_same(one, np.stack([[fpemu.matmul(a[i, j], b[0, 0], spec) for j in range(2)] for i in range(3)]))
    assert fpemu.matmul(a[0, 0, 0], b[0, 0], spec).shape == (4,)
    assert fpemu.matmul(a[0, 0], b[0, 0, :, 0], spec).shape == (5,)
    assert_same(fpemu.matmul(a[0, 0, 0], b[0, 0], spec), expected[0, 0, 0])


def test_c_alpha_and_beta(rng):
    a, b, c = (rng.integers(-4, 5, shape).astype(np.float32) for shape in ((3, 5), (5, 4), (3, 4)))
    assert np.array_equal(fpemu.matmul(a, b, "fp32", alpha=2, beta=3, c=c), 2 * (a @ b) + 3 * c)
    assert np.array_equal(fpemu.matmul(a, b, "fp32", c=c), a @ b + c)
    out = c.copy()
    fpemu.matmul(a, b, "fp32", c=out, out=out)
    assert np.array_equal(out, a @ b + c)
    with pytest.raises(fpemu.Error):
        square = rng.standard_normal((4, 4)).astype(np.float32)
        fpemu.matmul(square, square, "fp32", out=square)
    refuses(ValueError, lambda: fpemu.matmul(a, a, "fp32"), "rows")


def test_scaled_operands_are_those_of_mx(rng):
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((4, 64), (64, 5)))
    pa, pb = fpemu.pack(a, "mxfp8"), fpemu.pack(b, "mxfp8", axis=0)
    element = fpemu.decode(pa.codes, "e4m3fn")
    column = fpemu.decode(pb.codes.reshape(5, 64), "e4m3fn").T
    got = fpemu.matmul(element, column, "chunk(32,fp32)", scales_a=pa.scales, scales_b=pb.scales)
    exact = pa.unpack().astype(np.float64) @ pb.unpack().astype(np.float64)
    assert np.allclose(got, exact, rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="scales_a"):
        fpemu.matmul(element, column, "chunk(32,fp32)", scales_a=pa.scales[:, :1], scales_b=pb.scales)
    refuses(fpemu.Error, lambda: fpemu.matmul(element, column, "seq(fp32)", scales_a=np.ones((4, 0), np.float32)))


@pytest.mark.parametrize("scales", [(2, 3), (3,), (1, 3), (2, 1), (1, 1), (), (1, 2, 3), (1, 1, 1)])
@pytest.mark.parametrize("batch", [(2, 3), (1, 3), (2, 1), ()])
@pytest.mark.parametrize("repeated", [False, True])
def test_scales_of_batches(rng, scales, batch, repeated):
    """Small integers, of which every sum is exact: against NumPy's. `repeated`: operands that lie in one place."""
    def numbers(*shape):
        return rng.integers(-3, 4, shape).astype(np.float32)
    a, b = numbers(*batch, 4, 10), numbers(2, 3, 10, 5)
    if repeated:
        a, b = np.broadcast_to(a[(0,) * len(batch)], a.shape), np.broadcast_to(b[0, 0], b.shape)
    sa, sb = np.exp2(numbers(*scales, 4, 3)), np.exp2(numbers(*scales, 5, 3))
    wide_a, wide_b = (np.repeat(s, 4, axis=-1)[..., :10] for s in (sa, sb))
    exact = (a * wide_a) @ (b * wide_b.swapaxes(-1, -2))
    got = fpemu.matmul(a, b, "chunk(4,fp32)", scales_a=sa, scales_b=sb)
    assert np.array_equal(got, exact.reshape(got.shape)) and got.shape == (2, 3, 4, 5)
    assert_same(fpemu.matmul(a, b, "chunk(4,fp32)", scales_a=sa), ((a * wide_a) @ b).reshape(got.shape))


@pytest.mark.parametrize("shape", [(5, 2, 2), (3, 2, 2, 2), (2, 1, 2, 2), (0, 2, 2), (2, 3, 2), (2,)])
@pytest.mark.parametrize("repeated", [False, True])
def test_scales_of_other_batches_are_refused(rng, shape, repeated):
    a, b = rng.integers(-3, 4, (2, 2, 8)).astype(np.float32), np.ones((2, 8, 2), np.float32)
    if repeated:
        a = np.broadcast_to(a[0], a.shape)
    for name in "scales_a", "scales_b":
        refuses(ValueError, lambda: fpemu.matmul(a, b, "chunk(4,fp32)", **{name: np.ones(shape, np.float32)}), name)
    with pytest.raises(ValueError, match="scales_a"):
        fpemu.matmul(a[0], b[0], "chunk(4,fp32)", scales_a=np.ones((2, 2, 2), np.float32))


def test_a_repeated_operand_gives_what_its_copy_gives(rng):
    a, b = rng.standard_normal((4, 8)).astype(np.float32), rng.standard_normal((3, 8, 5)).astype(np.float32)
    repeated = np.broadcast_to(a, (3, 4, 8))
    model = fpemu.gemm("fp32; ab=e4m3fn/sr", seed=3)
    got = fpemu.matmul(repeated, b, model)
    assert_same(got, fpemu.matmul(repeated.copy(), b, model))
    assert_same(got[0], fpemu.matmul(a, b[0], model))
    shared = fpemu.matmul(a, b, model)  # one array for all products, rounded once
    assert_same(shared[0], got[0])
    assert not np.array_equal(shared[1], got[1])


def test_16_bit_operands(rng, ml_dtypes):
    a, b = (rng.standard_normal(s).astype(ml_dtypes.bfloat16) for s in ((4, 32), (32, 4)))
    wide = fpemu.matmul(a, b, "tc(h100,bf16)", dtype="float32")
    assert_same(wide, fpemu.matmul(a.astype(np.float32), b.astype(np.float32), "tc(h100,bf16)"))
    assert_same(fpemu.matmul(a, b, "tc(h100,bf16)"), wide.astype(ml_dtypes.bfloat16))


def test_stochastic_sums_follow_their_seed(rng):
    a, b = (rng.standard_normal(s).astype(np.float32) for s in ((8, 32), (32, 8)))
    first = fpemu.matmul(a, b, "seq(fp(6,9,0)/sr)", seed=1)
    assert_same(fpemu.matmul(a, b, fpemu.gemm("seq(fp(6,9,0)/sr)", seed=1)), first)
    assert not np.array_equal(fpemu.matmul(a, b, "seq(fp(6,9,0)/sr)", seed=2), first)


@pytest.mark.parametrize("splits,bound", [("bf16x3", 3.1 * 2**-16), ("bf16x6", 2.1 * 2**-24), ("bf16x9", 0),
                                          ("tf32x3", 3.1 * 2**-22), ("int8x3", None), ("int8x8", None),
                                          ("int8x9", None)])
def test_split_products_keep_their_bounds(rng, splits, bound):
    """Those that doc/accumulation.md states of exact sums; those of binary64 add one rounding a term and element."""
    dtype = "float64" if bound is None else "float32"
    a, b = ((rng.standard_normal(s) * 2.0**rng.integers(-3, 4, s)).astype(dtype) for s in ((4, 50), (50, 3)))
    c = fpemu.matmul(a.astype(np.float64), b.astype(np.float64), f"fp64; splits={splits}")
    worst = 0.0
    for i, j in np.ndindex(c.shape):
        products = [Fraction(float(x)) * Fraction(float(y)) for x, y in zip(a[i], b[:, j], strict=True)]
        size = float(sum(map(abs, products)))
        error = abs(float(Fraction(float(c[i, j])) - sum(products)))
        if bound is None:
            count, (e, f) = int(splits[5:]), (int(np.frexp(np.abs(v).max())[1]) for v in (a[i], b[:, j]))
            limit = (count + 2) * 50 * 2.0**(e + f - 7 * count) + count**2 / 2 * 2**-53 * size
        else:
            limit = bound * size + 450 * 2**-53 * size
        assert error <= limit, splits
        worst = max(worst, error / limit)
    assert worst > 1e-4  # the limit is not idle


# --------------------------------------------------------------------------------------------------- arrays
def test_an_array_rounds_every_operation():
    x = fpemu.array([0.1, 0.2, 0.3], "e4m3fn")
    assert x.data.tolist() == [0.1015625, 0.203125, 0.3125]
    assert (x + x[0]).tolist() == fpemu.add(x.data, x.data[:1], "e4m3fn").tolist()
    assert (1 - x).tolist() == fpemu.sub(1.0, x.data, "e4m3fn").tolist()
    assert (x / 3).tolist() == fpemu.div(x.data, 3.0, "e4m3fn").tolist()
    assert (x * 0.1).tolist() == fpemu.mul(x.data, 0.1015625, "e4m3fn").tolist()  # 0.1 is rounded first
    assert (-x).tolist() == (-x.data).tolist()
    assert (x > 0.2).tolist() == [False, False, True]  # 0.2 is rounded to 0.203125 first
    big = fpemu.array([16.0] + [1.0] * 16, "float(e=4,m=3)")
    assert big.sum().item() == 16.0  # each 1 is half a step, and ties go to the even 16
    assert big.sum(order="pairwise").item() > 16.0
    refuses(ValueError, lambda: x + fpemu.array([1.0], "e5m2"), "formats")
    refuses(ValueError, lambda: fpemu.array([1.0], "mxfp4"), "scales")
