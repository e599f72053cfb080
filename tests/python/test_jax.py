# SPDX-License-Identifier: BSD-2-Clause
"""fpemu.jax against fpemu of NumPy's arrays, which test_casts.py, test_values.py and test_arith.py hold against others,
and against itself where JAX's transformations promise to change nothing."""

from __future__ import annotations

import functools
import os
import pathlib
import shutil
import subprocess

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"

import numpy as np
import pytest
from same import bits, refuses

pytest.importorskip("jax", reason="JAX is not installed")
pytest.importorskip("jax.ffi", reason="JAX is older than 0.5")
ml_dtypes = pytest.importorskip("ml_dtypes")

import fpemu
import fpemu.jax as fj
import jax
import jax.numpy as jnp
from fpemu.jax import _calls
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

SMALL = ["float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2",
         "float8_e5m2fnuz", "float8_e8m0fnu", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn"]
EVERY = np.arange(65536, dtype=np.uint16)
X = (np.random.default_rng(1).standard_normal((8, 64)) * 4).astype(np.float32)


def same(a, b):
    """Equal bits, NaN included."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.dtype == b.dtype and a.shape == b.shape
    np.testing.assert_array_equal(bits(a), bits(b))


def sr(**fields):
    return fpemu.rounding("sr").replace(**fields)


# ---------------------------------------------------------------------------------------------------- conversions

@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("carrier", ["float16", "bfloat16"])
def test_every_16_bit_number(name, carrier):
    x = EVERY.view(ml_dtypes.bfloat16 if carrier == "bfloat16" else np.float16)
    for array in x.astype(np.float32), x:
        if array.dtype == np.float16 and name == "float8_e8m0fnu":  # binary16 does not hold 2^127
            refuses(fpemu.Error, lambda: fj.quantize(jnp.asarray(x), name, "ml-dtypes"))
            continue
        same(fj.quantize(jnp.asarray(array), name, "ml-dtypes"), fpemu.quantize(array, name, "ml-dtypes"))
        same(fj.encode(jnp.asarray(array), name, "ml-dtypes"), fpemu.encode(array, name, "ml-dtypes"))


@pytest.mark.parametrize("name", SMALL)
def test_codes(name):
    codes = np.arange(1 << {"float4": 4, "float6": 6}.get(name[:6], 8), dtype=np.uint8)
    values = fpemu.decode(codes, name)
    same(fj.decode(codes, name), values)
    same(jax.jit(lambda c: fj.decode(c, name, jnp.bfloat16))(codes).astype(np.float32), values)
    if hasattr(jnp, name) and name.startswith("float8"):
        same(fj.decode(jax.lax.bitcast_convert_type(jnp.asarray(codes), getattr(jnp, name)), name), values)


def test_nothing_is_converted_first():
    """What JAX would round or widen by itself is refused, as fpemu does it for NumPy's arrays."""
    one = jnp.float32([1])
    for bad in ([1.0, 2.0], (1.0,), True, None, np.arange(3), jnp.arange(3), np.array([True]), np.float64(1),
                np.array([1 + 2.0**-8 + 2.0**-40])):  # which is 1.0078125 in bf16, and 1 by way of float32
        for call in (lambda: fj.quantize(bad, "bf16"), lambda: fj.encode(bad, "bf16"), lambda: fj.measure(bad, "nvfp4"),
                     lambda: fj.add(one, bad, "fp32"), lambda: fj.sqrt(bad, "fp32"),
                     lambda: fj.matmul(jnp.ones((1, 1)), bad, "fp32")):
            refuses(TypeError, call, "no array|dtype")
    for number in (0.1, 16777217, 1e300, 10**400):  # none of binary32
        refuses(ValueError, lambda: fj.add(one, number, "fp32"), "the number")
        refuses(ValueError, lambda: fj.quantize(number, "bf16"), "the number")
    assert fj.add(one, 0.5, "fp32") == 1.5 and fj.add(16777216, one, "fp32").dtype == jnp.float32
    assert fj.quantize(-0.5, "bf16") == -0.5 and np.isnan(fj.add(one, float("nan"), "fp32"))[0]
    with jax.enable_x64(True):
        assert fj.quantize(np.array([1 + 2.0**-8 + 2.0**-40]), "bf16")[0] == 1.0078125


def test_arrays_of_several_dtypes_are_widened():
    half, wide, weak = jnp.bfloat16([1]), jnp.float16([2.0**-11]), jnp.asarray(0.1)  # bfloat16 would hold neither sum
    y = fj.add(half, wide, "fp32")
    assert y.dtype == jnp.float32 and y[0] == 1 + 2.0**-11
    y = fj.add(weak, half * 0, "fp32")
    assert y.dtype == jnp.float32 and y[0] == np.float32(0.1)


def test_binary64_in_x64_mode():
    x = np.ldexp(np.random.default_rng(2).uniform(1, 2, 4096), np.random.default_rng(3).integers(-20, 20, 4096))
    with jax.enable_x64(True):
        y = fj.quantize(x, "fp32")
        assert y.dtype == jnp.float64
        np.testing.assert_array_equal(y, x.astype(np.float32).astype(np.float64))
        np.testing.assert_array_equal(fj.encode(x, "fp64"), x.view(np.uint64))
        assert fj.matmul(x[None], x[:, None], "fp64").dtype == jnp.float64
        y = fj.quantize(x, "bf16", "sr", stream=jnp.uint64(1 << 40))
        same(y, fpemu.quantize(x, "bf16", sr(stream=1 << 40)))
    refuses(TypeError, lambda: fj.decode(jnp.ones(2, jnp.uint32), "fp64"), "x64")


# -------------------------------------------------------------------------------------------------- random bits

@pytest.mark.parametrize("seed,stream,offset", [(0, 0, 0), (42, 7, 100), (2**63 + 5, 2**40 + 1, 2**33)])
def test_seed_stream_and_offset(seed, stream, offset):
    y = fj.quantize(X, "bf16", "sr", seed=seed, stream=stream, offset=offset)
    same(y, fpemu.quantize(X, "bf16", sr(seed=seed, stream=stream, offset=offset)))
    assert not np.array_equal(y, fj.quantize(X, "bf16", "sr", seed=seed + 1, stream=stream, offset=offset))
    split = functools.partial(np.array, dtype=np.uint32)

    @jax.jit
    def traced(x, a, b, c):
        return fj.quantize(x, "bf16", "sr", seed=a, stream=b, offset=c)

    words = [split([n & 0xffffffff, n >> 32]) for n in (seed, stream, offset)]
    same(traced(X, *words), y)
    same(fj.quantize(X, "bf16", sr(seed=seed, stream=stream, offset=offset)), y)
    same(fj.quantize(X, "bf16", sr(seed=seed, stream=stream, offset=offset - (1 if offset else 0)),
                     offset=1 if offset else 0), y)


def test_key_of_jax_random_is_a_seed():
    key = jax.random.key(2**40 + 3)
    low, high = (int(word) for word in jax.random.key_data(key))
    same(jax.jit(lambda k: fj.quantize(X, "bf16", "sr", seed=k))(key),
         fpemu.quantize(X, "bf16", sr(seed=low | high << 32)))


def test_steps_do_not_compile_again():
    traces = []

    @jax.jit
    def step(x, seed, stream, offset):
        traces.append(1)
        y = fj.quantize(x, "mxfp4", "sr", seed=seed, stream=stream, offset=offset)
        return y, fj.matmul(y, y.T, "seq(bf16/sr)", seed=seed, stream=stream)

    for i in range(5):
        y, _ = step(X, jnp.uint32(3), jnp.uint32(i), jnp.int32(512 * i))
        same(y, fpemu.quantize(X, "mxfp4", sr(seed=3, stream=i, offset=512 * i)))
    assert len(traces) == 1


# ------------------------------------------------------------------------------------------- transformations

CALLS = [("e4m3fn", "rne", -1), ("bf16", "sr", 0), ("mxfp4", "sr", 0), ("mxfp8", "rne", 1), ("nvfp4", "sr", 1),
         ("scaled(e4m3fn)", "sr", 0), ("mx(e2m1,block=4x16)", "rne", 1), ("bfp(7,block=channel)", "rtz", 0),
         ("posit(8,1)", "rne", 0), ("nf4", "rne", 1), ("s2fp8", "rne", 0)]


@pytest.mark.parametrize("spec,mode,axis", CALLS)
def test_jit_and_vmap_change_nothing(spec, mode, axis):
    r = sr(seed=9, stream=2**35) if mode == "sr" else fpemu.rounding(mode)
    eager = fj.quantize(X, spec, r, axis=axis)
    same(eager, fpemu.quantize(X, spec, r, axis=axis))
    same(jax.jit(lambda x: fj.quantize(x, spec, r, axis=axis))(X), eager)
    batch = np.stack([X * 2.0**i for i in range(3)])
    each = [np.asarray(fj.quantize(x, spec, r, axis=axis)) for x in batch]
    call = functools.partial(fj.quantize, format=spec, rounding=r, axis=axis)
    same(jax.vmap(call)(batch), np.stack(each))
    same(jax.jit(jax.vmap(call, in_axes=2, out_axes=1))(np.moveaxis(batch, 0, 2)), np.stack(each, 1))
    nested = jax.vmap(jax.vmap(lambda x, s: fj.quantize(x, spec, r, axis=axis, stream=s), (0, None)), (None, 0))
    streams = jnp.arange(2, dtype=jnp.uint32)
    same(nested(batch, streams),
         np.stack([[np.asarray(fj.quantize(x, spec, r, axis=axis, stream=s)) for x in batch] for s in (0, 1)]))


def test_vmap_over_the_stream_alone():
    y = jax.vmap(lambda s: fj.quantize(X, "e2m1", "sr", stream=s))(jnp.arange(3, dtype=jnp.uint32))
    same(y, np.stack([fpemu.quantize(X, "e2m1", sr(stream=s)) for s in range(3)]))


def test_empty_and_scalar_arrays():
    assert fj.quantize(jnp.zeros((0, 4)), "mxfp4").shape == (0, 4)
    assert jax.vmap(lambda x: fj.quantize(x, "bf16", "sr"))(jnp.zeros((0, 4))).shape == (0, 4)
    assert float(fj.quantize(464.0, "e4m3fn")) == 448 and float(fj.quantize(jnp.float32(3.3), "mxfp4")) == 3
    assert fj.matmul(jnp.zeros((2, 0)), jnp.zeros((0, 3)), "fp32").tolist() == [[0] * 3] * 2


def test_gradients():
    g = np.float32([1, 0.3, -7, 500, 2, 0.001])
    x = np.float32([1, 460, -900, 3, 448, -448.5])

    def pull(**options):
        return jax.vjp(lambda v: fj.quantize(v, "e4m3fn:saturate", **options), x)[1](g)[0]

    same(pull(), g)
    same(pull(gradient="clipped"), np.where(np.abs(x) <= 448, g, 0).astype(np.float32))
    narrow = g.astype(ml_dtypes.float8_e5m2).astype(np.float32)
    same(pull(backward="e5m2"), narrow)
    same(pull(backward="e5m2", gradient="clipped"), np.where(np.abs(x) <= 448, narrow, 0).astype(np.float32))
    same(pull(backward="bf16", backward_rounding="sr", seed=5, stream=6),
         fpemu.quantize(g, "bf16", sr(seed=5, stream=6 ^ 1 << 63)))
    same(jax.jit(jax.grad(lambda v: (fj.quantize(v, "mxfp4", "sr") * g).sum()))(x), g)
    both = jax.vmap(jax.grad(lambda v, s: (fj.quantize(v, "bf16", "sr", stream=s) * g).sum()), (None, 0))
    same(both(x, jnp.arange(2, dtype=jnp.uint32)), np.stack([g, g]))


def test_gradient_of_a_quantised_layer():
    w = np.float32([[0.5, 2], [3, -1]])

    def loss(w):
        return (fj.matmul(fj.quantize(jnp.ones((1, 2)) * 1.3, "e4m3fn"), fj.quantize(w, "e2m1"), "fp32") ** 2).sum()

    product = np.float32([[1.25, 1.25]]) @ w  # all of w are values of E2M1, and 1.3 becomes 1.25
    np.testing.assert_array_equal(jax.grad(loss)(w), np.float32([[1.25], [1.25]]) @ (2 * product))


def test_gradients_of_gradients():
    x = np.float32([0.3, 1, -1.4, 2.6, -9])
    q = np.float32([0.5, 1, -1.5, 3, -6])  # of e2m1
    inside = [True, True, True, True, False]

    def twice(**options):
        first = jax.grad(lambda v: (fj.quantize(v, "e2m1", **options) ** 3).sum())
        return jax.grad(lambda v: (first(v) ** 2).sum())(x)

    def narrow(v):
        return v.astype(ml_dtypes.float8_e5m2).astype(np.float32)

    same(twice(), 36 * q**3)
    once = narrow(3 * q**2)
    same(twice(backward="e5m2"), narrow(2 * once * 6 * q))
    same(twice(gradient="clipped"), np.where(inside, 36 * q**3, np.float32(0)))
    a, b = np.float32([[2, 3]]), np.float32([[5], [7]])
    loss = jax.grad(lambda a, b: (fj.matmul(a, b, "fp32") ** 2).sum())  # 2 (a b) b^T
    same(jax.grad(lambda b: loss(a, b).sum())(b), np.float32([[2 * (31 + 5 * 2 + 7 * 2)], [2 * (31 + 5 * 3 + 7 * 3)]]))
    assert float(jax.grad(jax.grad(lambda v: fj.mul(v, v * v, "bf16")))(3.0)) == 18


# -------------------------------------------------------------------------------------------------- shards

@pytest.mark.skipif(len(jax.devices()) < 4, reason="JAX was started with fewer than 4 devices")
@pytest.mark.parametrize("spec,mode,axis,part", [
    ("bf16", "sr", 1, P("a", "b")), ("bf16", "sr", 1, P(("b", "a"),)), ("bf16", "sr", 1, P(None, ("a", "b"))),
    ("mx(e2m1,block=16)", "sr", 1, P("b", "a")), ("mx(e2m1,block=16)", "rne", 0, P(None, "a")),
    ("nvfp4", "sr", 1, P("a", "b")), ("nvfp4", "rne", 1, P("b")), ("scaled(e4m3fn)", "rne", 1, P("a", "b")),
    ("s2fp8", "rne", 1, P("a", "b")), ("mx(e2m1,block=4x16)", "sr", 1, P("a")),
    ("bfp(7,block=channel)", "rne", 1, P(None, "a"))])
def test_shards_have_the_bits_of_the_whole(spec, mode, axis, part):
    mesh = Mesh(np.array(jax.devices()[:4]).reshape(2, 2), ("a", "b"))
    r = sr(seed=11, stream=3, offset=5) if mode == "sr" else fpemu.rounding(mode)
    run = jax.shard_map(lambda x: fj.quantize(x, spec, r, axis=axis, sharding=part), mesh=mesh, in_specs=part,
                        out_specs=part)
    expected = fpemu.quantize(X, spec, r, axis=axis)
    same(jax.jit(run)(X), expected)
    placed = jax.device_put(X, NamedSharding(mesh, part))
    same(jax.jit(lambda x: fj.quantize(x, spec, r, axis=axis))(placed), expected)
    if spec == "bf16":
        alone = jax.shard_map(lambda x: fj.quantize(x, spec, r, axis=axis), mesh=mesh, in_specs=part, out_specs=part)
        assert not np.array_equal(alone(X), expected)


@pytest.mark.skipif(len(jax.devices()) < 4, reason="JAX was started with fewer than 4 devices")
@pytest.mark.parametrize("spec,mode,axis,part,word", [
    ("mxfp4", "rne", 1, P(None, "d"), "cuts a block"), ("bfp(7,block=channel)", "rne", 1, P("d"), "cuts a block"),
    ("mx(e2m1,block=2)", "sr", 0, P(None, "d"), "contiguous")])
def test_shards_that_cannot_be_are_refused(spec, mode, axis, part, word):
    mesh = Mesh(np.array(jax.devices()[:4]), ("d",))
    run = jax.shard_map(lambda x: fj.quantize(x, spec, mode, axis=axis, sharding=part), mesh=mesh, in_specs=part,
                        out_specs=part)
    refuses(RuntimeError, lambda: jax.block_until_ready(run(X)), word)


@pytest.mark.skipif(len(jax.devices()) < 4, reason="JAX was started with fewer than 4 devices")
def test_gradient_and_counters_of_shards():
    mesh = Mesh(np.array(jax.devices()[:4]), ("d",))
    empty = fj.counters(sums=True)

    def body(x):
        y, n = fj.quantize(x, "nvfp4", "sr", sharding=P("d"), stats=empty)
        return y, jax.tree.map(lambda w: w[None], n)

    _, n = jax.shard_map(body, mesh=mesh, in_specs=P("d"), out_specs=(P("d"), P("d")))(X)
    whole = fpemu.Stats(sums=True)
    fpemu.quantize(X, "nvfp4", "sr", stats=whole)
    assert n.words.shape[0] == 4 and n.read().to_dict() == whole.to_dict()
    g = jax.grad(lambda x: jax.shard_map(lambda x: fj.quantize(x, "bf16", "sr", sharding=P("d"), backward="bf16",
                                                                backward_rounding="sr"),
                                         mesh=mesh, in_specs=P("d"), out_specs=P("d"))(x).sum() * 1.003)(X)
    same(g, fpemu.quantize(np.full_like(X, 1.003), "bf16", sr(stream=1 << 63)))


def test_ranges_of_pieces_and_of_earlier_tensors():
    pieces = jnp.stack([fj.measure(X[:2], "nvfp4"), fj.measure(X[2:], "nvfp4")])
    whole = fpemu.quantize(X, "nvfp4")
    same(jnp.concatenate([fj.quantize(X[:2], "nvfp4", whole=pieces), fj.quantize(X[2:], "nvfp4", whole=pieces)]), whole)
    delayed = fj.quantize(jnp.float32([3.0]), "scaled(e4m3fn)", whole=fj.measure(jnp.float32([448 * 4.0]),
                                                                               "scaled(e4m3fn)"))
    assert float(delayed[0]) == 3.0
    assert float(fj.quantize(jnp.float32([1.0625]), "scaled(e4m3fn)", whole=fj.measure(
        jnp.float32([448 * 2.0]), "scaled(e4m3fn)"))[0]) == 1.0  # a tie between 1 and 1.125 at a scale of 2


# ------------------------------------------------------------------------------------------------ counters

def test_counters():
    x = np.float32([0, 1, 500, -1e-9, np.nan, np.inf, 0.3])
    _, n = fj.quantize(x, "e4m3fn:saturate", stats=fj.counters(sums=True, histogram=(-2, 9)))
    s = n.read()
    assert (s.count, s.nan, s.infinite, s.overflow, s.underflow, s.inexact) == (7, 1, 1, 1, 1, 3)
    assert s.histogram.tolist() == [1] + [1, 0, 1] + [0] * 7 + [1] + [0, 0]  # 1e-9; 0.3, 1; 500
    assert s.sum_error2 == pytest.approx((500 - 448) ** 2 + 1e-18 + (0.3125 - np.float64(np.float32(0.3))) ** 2)

    def step(n, x):
        y, n = fj.quantize(x, "mxfp4", stats=n)
        return n, y

    n, y = jax.lax.scan(step, fj.counters(sums=True, scale_histogram=(-9, 9)), X)
    expected = fpemu.Stats(sums=True, scale_histogram=(-9, 9))
    same(y, np.stack([fpemu.quantize(row, "mxfp4", stats=expected) for row in X]))
    assert n.read().to_dict() == expected.to_dict()
    _, n = jax.vmap(lambda x: fj.quantize(x, "mxfp4", stats=fj.counters(sums=True, scale_histogram=(-9, 9))))(X)
    assert n.words.shape[0] == 8 and n.read().to_dict() == expected.to_dict()


# ------------------------------------------------------------------------------- products, arithmetic

def bfloat16_sum(a, b):
    return fpemu.matmul(a, b, "seq(bf16)")


def test_products():
    rng = np.random.default_rng(5)
    a, b = (rng.integers(-64, 65, shape).astype(np.float32) / 4 for shape in ((9, 40), (40, 7)))
    same(fj.matmul(a, b, "seq(bf16)"), bfloat16_sum(a, b))
    same(jax.jit(lambda a, b: fj.matmul(a, b, "seq(bf16)"))(a.astype(jnp.bfloat16), b.astype(jnp.float16)),
         bfloat16_sum(a, b))
    stacked = np.stack([a, 2 * a])
    same(fj.matmul(stacked, b, "seq(bf16)"), np.stack([bfloat16_sum(a, b), bfloat16_sum(2 * a, b)]))
    same(jax.vmap(lambda a: fj.matmul(a, b, "seq(bf16)"))(stacked),
         np.stack([bfloat16_sum(a, b), bfloat16_sum(2 * a, b)]))
    same(fj.matmul(a[0], b, "fp32"), a[0] @ b)
    same(fj.matmul(a, b[:, 0], "fp32"), a @ b[:, 0])
    assert float(fj.matmul(a[0], b[:, 0], "fp32")) == a[0] @ b[:, 0]
    numbers = (((2,), (0,)), ((1,), (2,)))
    left = rng.integers(-8, 9, (3, 4, 5, 2)).astype(np.float32)
    right = rng.integers(-8, 9, (5, 6, 4)).astype(np.float32)
    same(fj.dot_general(left, right, numbers, "fp32"), jax.lax.dot_general(left, right, numbers))
    # what flax's layers pass
    for extra in {"precision": None}, {"precision": "default", "preferred_element_type": jnp.float32}:
        same(fj.dot_general(left, right, numbers, "fp32", **extra), jax.lax.dot_general(left, right, numbers))
    refuses(ValueError, lambda: fj.dot_general(left, right, numbers, "fp32", precision="highest"), "leave it None")
    with pytest.raises(TypeError, match="rounded again"):
        fj.dot_general(left, right, numbers, "fp32", preferred_element_type=jnp.bfloat16)
    one = fj.matmul(a, b, "seq(bf16/sr)", seed=3, stream=jnp.uint32(4))
    same(one, fj.matmul(a, b, "seq(bf16/sr)", seed=3, stream=4))
    assert not np.array_equal(one, fj.matmul(a, b, "seq(bf16/sr)", seed=3, stream=5))
    _, n = fj.matmul(a, b, "seq(bf16)", stats=fj.counters())
    assert n.read().count == 9 * 7 * 40  # a rounding for every product added


def test_gradients_of_products():
    rng = np.random.default_rng(6)
    a, b = (rng.integers(-8, 9, shape).astype(np.float32) for shape in ((3, 4, 5), (5, 6)))
    g = rng.integers(-8, 9, (3, 4, 6)).astype(np.float32)
    pulled = jax.vjp(lambda a, b: fj.matmul(a, b, "fp32"), a, b)[1](g)
    for ours, exact in zip(pulled, jax.vjp(jnp.matmul, a, b)[1](g)):
        same(ours, exact)
    coarse = jax.vjp(lambda a, b: fj.matmul(a, b, "fp32", backward="seq(bf16)"), a[0], b)[1](g[0] / 8)
    same(coarse[0], bfloat16_sum(g[0] / 8, b.T))
    same(coarse[1], bfloat16_sum(a[0].T, g[0] / 8))


def test_arithmetic():
    a, b = np.meshgrid(*[fpemu.format("e4m3fn").values().astype(np.float32)] * 2)
    for name in "add", "sub", "mul", "minimum", "maximum":
        same(getattr(fj, name)(a, b, "e4m3fn"), getattr(fpemu, name)(a, b, "e4m3fn"))
    assert float(fj.fma(9.0, 14.0, 2304.0, "float(e=8,m=3)")) == 2304  # doc/validation/values.md
    assert float(fj.sqrt(2.0, "e4m3fn")) == 1.375 and float(fj.div(1.0, 3.0, "e2m1")) == 0.5
    assert float(fj.apply("sin", 65504.0, "fp16")) == 0.9755859375  # 0.97537...
    same(jax.grad(lambda x: fj.mul(x, x, "e5m2").sum())(X), 2 * X)
    same(jax.grad(lambda x: fj.apply("exp", x, "bf16").sum())(jnp.float32([1, 2])), jnp.exp(jnp.float32([1, 2])))
    same(jax.vmap(lambda a, b: fj.add(a, b, "bf16", "sr", seed=2), (0, None))(X, np.float32(0.7)),
         np.stack([fpemu.add(row, np.full(64, 0.7, np.float32), "bf16", sr(seed=2)) for row in X]))


# -------------------------------------------------------------------------------------------- what is refused

def test_refusals():
    refuses(TypeError, lambda: fj.quantize(jnp.arange(3), "bf16"), "int32")
    refuses(fpemu.SpecError, lambda: fj.quantize(jnp.ones(3), "e4m3fm"))
    refuses(fpemu.Error, lambda: jax.jit(lambda x: fj.quantize(x, "posit(32,2)"))(jnp.ones(3)), "hold")
    refuses(fpemu.Error, lambda: fj.quantize(jnp.ones(3), "posit(8,1)", "rtz"))
    refuses(ValueError, lambda: fj.quantize(jnp.ones(3), "mxfp4", axis=1), "axis")
    refuses(ValueError, lambda: fj.quantize(jnp.ones(3), "mxfp4", gradient="clipped"), "clipped")
    refuses(ValueError, lambda: fj.quantize(jnp.ones(3), "bf16", "sr", seed=-1), "64 bits")
    refuses(TypeError, lambda: fj.quantize(jnp.ones(3), "bf16", "sr", stream=jnp.ones(3)), "stream")
    refuses(TypeError, lambda: fj.quantize(jnp.ones(3), "nvfp4", whole=jnp.ones(24)), "uint32")
    refuses(TypeError, lambda: fj.decode(jnp.ones(3, jnp.uint16), "e4m3fn"), "uint8")
    refuses((fpemu.Error, RuntimeError), lambda: jax.block_until_ready(fj.encode(jnp.ones(3), "mxfp4")))
    with pytest.raises((fpemu.Error, RuntimeError)):
        jax.block_until_ready(fj.matmul(jnp.ones((2, 2)), jnp.ones((2, 2)), "sequence(bf16)"))
    refuses(TypeError, lambda: fj.matmul(jnp.ones((2, 3)), jnp.ones((2, 3)), "fp32"), "multiplied")
    refuses(ValueError, lambda: fj.apply("gamma", jnp.ones(3), "bf16"), "function")


# ---------------------------------------------------------------------------------- the interface with XLA

def test_another_major_version_is_refused():
    major, minor = _calls._version()
    assert major == 0 and _calls.library.fpemu_jax_speak(1, 0) == 0
    assert _calls.library.fpemu_jax_speak(major, minor) == 1


OFFSETS = {
    ("xla_extension", "XLA_FFI_Extension_Base"): "struct_size type next",
    ("xla_version", "XLA_FFI_Api_Version"): "struct_size extensions:extension_start major_version minor_version",
    ("xla_metadata", "XLA_FFI_Metadata"): "struct_size version:api_version traits",
    ("xla_metadata_extension", "XLA_FFI_Metadata_Extension"): "base:extension_base metadata",
    ("xla_error_arguments", "XLA_FFI_Error_Create_Args"): "struct_size extensions:extension_start message code:errc",
    ("xla_buffer", "XLA_FFI_Buffer"): "struct_size extensions:extension_start type:dtype data rank sizes:dims",
    ("xla_bytes", "XLA_FFI_ByteSpan"): "data:ptr length:len",
    ("xla_scalar", "XLA_FFI_Scalar"): "type:dtype value",
    ("xla_array", "XLA_FFI_Array"): "type:dtype length:size data",
    ("xla_buffers", "XLA_FFI_Args"): "struct_size extensions:extension_start count:size kinds:types items:args",
    ("xla_attributes", "XLA_FFI_Attrs"): "struct_size extensions:extension_start count:size kinds:types names "
                                         "items:attrs",
    ("xla_api", "XLA_FFI_Api"): "struct_size extensions:extension_start version:api_version internal:internal_api "
                                "create_error:XLA_FFI_Error_Create",
    ("xla_frame", "XLA_FFI_CallFrame"): "struct_size extensions:extension_start api context:ctx stage arguments:args "
                                        "results:rets attributes:attrs",
}
NUMBERS = {"XLA_U8": "DataType_U8", "XLA_U16": "DataType_U16", "XLA_U32": "DataType_U32", "XLA_U64": "DataType_U64",
           "XLA_S64": "DataType_S64", "XLA_F16": "DataType_F16", "XLA_F32": "DataType_F32", "XLA_F64": "DataType_F64",
           "XLA_BF16": "DataType_BF16", "XLA_ARGUMENT_BUFFER": "ArgType_BUFFER", "XLA_RESULT_BUFFER": "RetType_BUFFER",
           "XLA_ATTRIBUTE_ARRAY": "AttrType_ARRAY", "XLA_ATTRIBUTE_SCALAR": "AttrType_SCALAR",
           "XLA_ATTRIBUTE_STRING": "AttrType_STRING", "XLA_ATTRIBUTE_DICTIONARY": "AttrType_DICTIONARY",
           "XLA_EXTENSION_METADATA": "Extension_Metadata", "XLA_STAGE_EXECUTE": "ExecutionStage_EXECUTE",
           "XLA_INVALID_ARGUMENT": "Error_Code_INVALID_ARGUMENT",
           "XLA_RESOURCE_EXHAUSTED": "Error_Code_RESOURCE_EXHAUSTED", "XLA_UNIMPLEMENTED": "Error_Code_UNIMPLEMENTED"}


def test_our_header_has_the_layout_of_jaxlibs(tmp_path):
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    ours = pathlib.Path(__file__).parents[2] / "python/native/xla_ffi.h"
    theirs = pathlib.Path(jax.ffi.include_dir(), "xla/ffi/api/c_api.h")
    if not compiler or not ours.exists() or not theirs.exists():
        pytest.skip("needs a C compiler, the sources, and jaxlib's headers")
    # the first of the structs has another name since minor version 5
    renamed = "XLA_FFI_InternalExtension" in theirs.read_text()
    lines = [f'#include "{ours}"', f'#include "{theirs}"', "#define SAME(a, b) _Static_assert((a) == (b), #a)",
             "SAME(XLA_MAJOR, XLA_FFI_API_MAJOR);"]
    for (a, b), members in OFFSETS.items():
        b = "XLA_FFI_InternalExtension" if renamed and b == "XLA_FFI_Extension_Base" else b
        for member in members.split():
            x, y = member.split(":") if ":" in member else (member, member)
            lines += [f"SAME(offsetof({a}, {x}), offsetof({b}, {y}));",
                      f"SAME(sizeof(({a} *)0)->{x}, sizeof(({b} *)0)->{y});" if a != "xla_metadata" else ""]
    lines += [f"SAME((int){a}, (int)XLA_FFI_{b});" for a, b in NUMBERS.items()]
    source = tmp_path / "same.c"
    source.write_text("\n".join(lines).replace("sizeof((", "sizeof ((") + "\n")
    done = subprocess.run([compiler, "-std=c11", "-fsyntax-only", str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
