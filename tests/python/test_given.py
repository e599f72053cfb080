# SPDX-License-Identifier: BSD-2-Clause
"""Scales, zero points and random words of the caller, against packages that take them and models of instructions."""

import fpemu
import numpy as np
import pytest

COUNT = 3072 * 512


def numbers(shape, seed=0):
    x = np.random.default_rng(seed).standard_normal(shape, np.float32) * np.float32(3)
    x.ravel()[::5] = np.round(x.ravel()[::5] * 16) / 16  # ties
    return x


def scales(shape, seed=1):
    s = np.exp2(np.random.default_rng(seed).uniform(-6, 0, shape)).astype(np.float32)
    s.ravel()[::3] = np.exp2(np.round(np.log2(s.ravel()[::3])))
    return s


SHAPES = [(), (1, 1), (64, 1), (1, 96), (64, 6), (4, 6), (8, 1), (96,), (6,)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("order", "shift"), [(None, 0), ("after", 0), ("before", 0.375)])
@pytest.mark.parametrize("reciprocal", [False, True])
def test_broadcasting(shape, order, shift, reciprocal):
    x, s = numbers((64, 96)), scales(shape)
    z = np.random.default_rng(2).integers(-8, 8, shape).astype(np.float32) + np.float32(shift)

    def whole(a):
        a = a.reshape((1,) * (2 - a.ndim) + a.shape)
        return a.repeat(64 // a.shape[0], 0).repeat(96 // a.shape[1], 1)

    t = x * (np.float32(1) / whole(s)) if reciprocal else x / whole(s)
    zero = whole(z) if order else np.float32(0)
    q = np.rint(t + zero) if order == "before" else np.rint(t) + zero
    expected = (np.clip(q, -8, 7) - zero) * whole(s)
    zeros = {"zero": z, "zero_order": order} if order else {}
    got = fpemu.quantize(x, "int4", scale=s, reciprocal=reciprocal, **zeros)
    assert got.shape == x.shape and got.dtype == x.dtype
    np.testing.assert_array_equal(got, expected + 0)


def test_blocks_and_counters():
    x = numbers((8, 64))
    tile = fpemu.quantize(x, "block(e4m3fn,block=4x16,scale=fp32,rule=absmax)", scale=scales((2, 4)))
    whole = scales((2, 4)).repeat(4, 0).repeat(16, 1)
    np.testing.assert_array_equal(tile, fpemu.quantize(x / whole, "e4m3fn:saturate") * whole)
    stats = fpemu.Stats()
    fpemu.quantize(x, "int4", scale=np.float32(0.25), stats=stats)
    assert stats.blocks == 1 and stats.clipped == int(((x / 0.25 < -8) | (x / 0.25 > 7)).sum())
    assert fpemu.quantize(3.2, "int4", scale=0.5) == 3.0


def test_torch_and_jax_arrays():
    torch = pytest.importorskip("torch")
    x, s = numbers((8, 64)), scales((8, 1))
    expected = fpemu.quantize(x, "int4", scale=s, zero=1)
    got = fpemu.quantize(torch.from_numpy(x), "int4", scale=torch.from_numpy(s), zero=1)
    assert torch.equal(got, torch.from_numpy(expected))
    half = fpemu.quantize(torch.from_numpy(x).bfloat16(), "int4", scale=1.0)
    assert half.dtype == torch.bfloat16
    t, one = torch.from_numpy(x), torch.ones(8, 1)
    for scale in (one.to(torch.float8_e8m0fnu), one.bfloat16(), torch._neg_view(-one)):
        assert torch.equal(fpemu.quantize(t, "int4", scale=scale), fpemu.quantize(t, "int4", scale=1.0))
    for call in (lambda: fpemu.quantize(t.clone().requires_grad_(), "int4", scale=1.0),
                 lambda: fpemu.quantize(t, "int4", scale=one.clone().requires_grad_()),
                 lambda: torch.jit.trace(lambda t: fpemu.quantize(t, "int4", scale=1.0), t),
                 lambda: torch.vmap(lambda t: fpemu.quantize(t, "e2m1", "sr", words=np.zeros(64, np.uint32)))(t)):
        with pytest.raises(TypeError, match="detach"):
            call()
    jax = pytest.importorskip("jax")
    got = fpemu.quantize(jax.numpy.asarray(x), "int4", scale=jax.numpy.asarray(s), zero=1)
    assert isinstance(got, jax.Array)
    np.testing.assert_array_equal(np.asarray(got), expected)


def test_torch_per_channel():
    torch = pytest.importorskip("torch")
    x = torch.from_numpy(numbers((512, COUNT // 512)))
    s, z = torch.from_numpy(scales((512,))), torch.arange(512, dtype=torch.int32) % 256
    x[:, ::3] = (torch.round(x[:, ::3] / s[:, None]) + 0.5) * s[:, None]  # where a quotient is no product
    expected = torch.fake_quantize_per_channel_affine(x, s, z, 0, 0, 255)
    got = fpemu.quantize(x, "uint8", scale=s[:, None], zero=z[:, None], reciprocal=True)
    assert torch.equal(got, expected)


@pytest.mark.parametrize("rule", ["asymmetric", "minmax", "tinygemm", "hqq"])
def test_torchao_chooses(rule):
    torch, ao = pytest.importorskip("torch"), pytest.importorskip("torchao.quantization.quant_primitives")
    x = torch.from_numpy(numbers((512, COUNT // 512)) + np.float32(rule != "asymmetric"))
    packed, block, limits = fpemu.pack(x, f"group(uint4,32,rule={rule})"), (1, 32), (torch.uint8, 0, 15)
    if rule == "hqq":
        begin = ao._choose_qparams_and_quantize_affine_hqq
        q, s, z, _ = begin(x, 4, 32, False, 1, torch.float32, "cpu", raw_output=True)
        y = ((q.reshape(512, -1, 32) - z[..., None]) * s[..., None]).reshape(x.shape)
    else:
        choose = {"asymmetric": ao.choose_qparams_affine, "minmax": ao._choose_qparams_affine_dont_preserve_zero,
                  "tinygemm": ao._choose_qparams_affine_tinygemm}[rule]
        s, z = choose(x, ao.MappingType.ASYMMETRIC, block, *limits)
        way = "_tinygemm" if rule == "tinygemm" else ""
        q = getattr(ao, "_quantize_affine" + way)(x, block, s, z, *limits)
        y = getattr(ao, "_dequantize_affine" + way)(q, block, s, z, *limits)
    assert torch.equal(packed.scales.reshape(-1), s.reshape(-1))
    assert np.array_equal(packed.zero_points.ravel(), z.numpy().ravel())
    assert np.array_equal(packed.codes.ravel(), q.numpy().ravel())
    assert torch.equal(packed.unpack(), y)


def cvt_rs(x, bits, r, low):
    """x rounded to steps of 2^-bits of its binade, at least 2^low, by adding random bits below; r: them, how many."""
    random, n = r
    m, e = np.frexp(np.abs(x).astype(np.float64))
    step = np.exp2(np.maximum(e - 1 - bits, low).astype(np.float64))
    v = np.abs(x) / step
    up = np.floor((v - np.floor(v)) * 2.0**n) + random >= 2.0**n
    return np.sign(x) * (np.floor(v) + up) * step


def test_words_of_instructions():
    g = np.random.default_rng(3)
    x = numbers(4096, 4)
    w = g.integers(0, 2**32, 4096, np.uint32)
    i = np.arange(4096)
    half = (w[i >> 1] >> (i % 2 * 16).astype(np.uint32)) & 0xFFFF
    for format, n, m, low in (("fp16", 13, 10, -24), ("bf16", 16, 7, -133)):
        got = fpemu.quantize(x, format, fpemu.rounding("sr", bits=n), words=w, layout="ptx-x2")
        np.testing.assert_array_equal(got, cvt_rs(x, m, (half & (2**n - 1), n), low))
    half = (w[i >> 2] >> (i // 2 % 2 * 16).astype(np.uint32)) & 0xFFFF
    back = np.array([int(f"{h:016b}"[::-1], 2) for h in half])
    got = fpemu.quantize(x, "e4m3fn:saturate", fpemu.rounding("sr", bits=16), words=w, layout="ptx-x4")
    np.testing.assert_array_equal(got, cvt_rs(x, 3, (np.where(i % 2, back, half), 16), -9))
    for format, n, m, low in (("e4m3fn:saturate", 20, 3, -9), ("e5m2:saturate", 21, 2, -16)):  # AMD
        got = fpemu.quantize(x, format, fpemu.rounding("sr", bits=n), words=w)
        np.testing.assert_array_equal(got, cvt_rs(x, m, (w >> np.uint32(32 - n), n), low))


@pytest.mark.parametrize(("n", "format", "s"), [(32, "mxfp4", (0, 1)), (8, "int4", (1, 2)), (8, "int4", (0, 2))])
def test_without_elements(n, format, s):
    x = np.zeros((0, n), np.float32)
    assert fpemu.quantize(x, format, scale=np.ones(s)).shape == x.shape


def test_refused():
    x = numbers((4, 8))
    for error, text, call in (
        (ValueError, "does not go with", {"scale": np.ones(3)}),
        (TypeError, "go with scale=", {"zero": 1}),
        (TypeError, "out=", {"scale": 1.0, "out": x}),
        (TypeError, "real", {"scale": 1j}),
        (TypeError, "zero_order", {"zero_order": "before"}),
        (TypeError, "layout", {"layout": "ptx-x2"}),
        (ValueError, "zero_order", {"scale": 1.0, "zero": 1, "zero_order": "between"}),
        (ValueError, "sr and se", {"words": np.zeros(32, np.uint32)}),
    ):
        with pytest.raises(error, match=text):
            fpemu.quantize(x, "int4", **call)
    with pytest.raises(ValueError, match="31 random words are too few"):
        fpemu.quantize(x, "int4", "sr", words=np.zeros(31, np.uint32))
    for offset, own in ((2**64 - 1000, 0), (8, 2**64 - 8)):  # sums past 64 bits
        with pytest.raises(ValueError, match="too few"):
            by = fpemu.rounding("sr", offset=own)
            fpemu.quantize(numbers(1001), "int4", by, offset=offset, words=np.zeros(1001, np.uint32))
    with pytest.raises(fpemu.Error):
        fpemu.quantize(x, "e4m3fn", scale=1.0, zero=1)
