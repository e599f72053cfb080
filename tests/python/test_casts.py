# SPDX-License-Identifier: BSD-2-Clause
"""Conversions against those of ml_dtypes, torch, gfloat and NumPy: all codes, and every pattern of 16 bits."""

import pickle

import fpemu
import numpy as np
import pytest
from same import assert_same, bits

# type of ml_dtypes: format, and how ml_dtypes rounds to it
ML_DTYPES = {
    "float8_e5m2": "e5m2", "float8_e4m3": "e4m3", "float8_e3m4": "e3m4", "float8_e4m3fn": "e4m3fn",
    "float8_e4m3fnuz": "e4m3fnuz", "float8_e5m2fnuz": "e5m2fnuz", "float8_e4m3b11fnuz": "e4m3b11fnuz",
    "float8_e8m0fnu": "e8m0", "float6_e3m2fn": "e3m2", "float6_e2m3fn": "e2m3", "float4_e2m1fn": "e2m1",
    "bfloat16": "bf16", "float16": "fp16",
}


def type_of(ml_dtypes, name):
    return np.dtype(np.float16 if name == "float16" else getattr(ml_dtypes, name))


def every(dtype):
    return np.arange(1 << 16, dtype=np.uint16).view(dtype)


def samples(fmt):
    """binary32 numbers around all values and midpoints of a format, and random patterns."""
    values = fpemu.format(fmt).values()
    middle = (values[:-1] + values[1:]) / 2
    ends = np.array([values[-1] * k for k in (1.03, 1.07, 1.2, 2, 1e3)] + [values[0] * k for k in (1.03, 1.07, 1.2, 2)])
    points = np.concatenate([values, middle, ends]).astype(np.float32)
    words = points.view(np.int32)
    random = np.random.default_rng(1).integers(0, 1 << 32, 1 << 16, dtype=np.uint32).view(np.float32)
    near = np.concatenate([words, words + 1, words - 1]).view(np.float32)
    return np.concatenate([near, random, np.array([np.inf, -np.inf, np.nan, 0.0, -0.0], np.float32)])


@pytest.mark.parametrize("name", ML_DTYPES)
def test_codes_have_the_values_of_ml_dtypes(ml_dtypes, name):
    f, dtype = fpemu.format(ML_DTYPES[name]), type_of(ml_dtypes, name)
    codes = np.arange(1 << f.bits, dtype=f.code_dtype)
    with np.errstate(invalid="ignore"):
        expected = codes.view(dtype).astype(np.float32)
    assert fpemu.format(dtype) == fpemu.format(dtype.type) == f
    assert_same(fpemu.decode(codes, dtype), expected, name)
    assert_same(fpemu.decode(codes, f, "float64"), expected.astype(np.float64), name)


@pytest.mark.parametrize("name", ML_DTYPES)
@pytest.mark.parametrize("source", ["float16", "bfloat16", "float32"])
def test_every_pattern_becomes_the_code_of_ml_dtypes(ml_dtypes, name, source):
    f, dtype = fpemu.format(ML_DTYPES[name]), type_of(ml_dtypes, name)
    x = samples(f) if source == "float32" else every(type_of(ml_dtypes, source))
    with np.errstate(all="ignore"):
        expected = x.astype(dtype).view(f.code_dtype)
    if name in ("float16", source):  # there NumPy keeps the payload of a NaN
        number = ~np.isnan(x.astype(np.float32))
        x, expected = x[number], expected[number]
    got = fpemu.encode(x, f, "ml-dtypes")
    if name in ("float6_e3m2fn", "float6_e2m3fn", "float4_e2m1fn"):
        keep = ~np.isnan(x.astype(np.float32))
        got, expected = got[keep], expected[keep]
    assert got.dtype == f.code_dtype
    assert np.array_equal(got, expected), name


@pytest.mark.parametrize("fmt", ["e5m2", "e4m3fn", "e4m3fnuz", "e5m2fnuz", "bf16", "fp16"])
@pytest.mark.parametrize("source", ["float32", "float64", "float16", "bfloat16"])
def test_casts_of_torch(torch, fmt, source):
    kind = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(fmt) or getattr(torch, f"float8_{fmt}")
    assert fpemu.format(kind) == fpemu.format(fmt) != fpemu.format(torch.float4_e2m1fn_x2) == fpemu.format("e2m1")
    dtype = getattr(torch, source)
    f = fpemu.format(fmt)
    if source in ("float16", "bfloat16"):
        x = torch.arange(1 << 16, dtype=torch.int32).to(torch.int16).view(dtype)
    else:
        x = torch.from_numpy(samples(f)).to(dtype)
    if not f.fits(source):
        with pytest.raises(fpemu.Error, match="does not hold") as caught:
            fpemu.quantize(x, f)
        assert caught.value.status == 3
        return
    if fmt not in ("bf16", "fp16"):
        x = x[x.abs() <= f.max]  # past the end versions of torch differ
    if source == "float64":
        x = x[x.float().double() == x]  # torch goes through float32
    assert_same(fpemu.quantize(x, f), x.to(kind).to(dtype), fmt)
    codes = fpemu.encode(x[~x.isnan()], f)
    assert np.array_equal(bits(codes), bits(x[~x.isnan()].to(kind)))


@pytest.mark.parametrize("source", ["float32", "float16", "bfloat16"])
def test_cast_of_torch_to_powers(torch, source):
    x = torch.from_numpy(samples("e8m0")) if source == "float32" else torch.from_numpy(
        every(np.float16).view(np.int16)).view(getattr(torch, source))
    assert np.array_equal(bits(fpemu.encode(x, "e8m0", "pytorch-cast")), bits(x.to(torch.float8_e8m0fnu)))


def test_ties_up():
    x = every(np.float16).astype(np.float64)
    x = x[np.isfinite(x)]
    assert_same(fpemu.quantize(x, "fixed(8,4)", "rnp"), np.clip(np.floor(x * 16 + 0.5) / 16, -8, 7.9375), "AP_RND")


@pytest.mark.parametrize("fmt", ["e4m3fn:saturate", "e5m2:saturate", "e3m2", "e2m3", "e2m1", "p3109(8,4,se)", "fp16"])
@pytest.mark.parametrize("mode,theirs", [("rne", "TiesToEven"), ("rna", "TiesToAway"), ("rtz", "TowardZero"),
                                         ("rtp", "TowardPositive"), ("rtn", "TowardNegative"), ("rto", "ToOdd")])
def test_roundings_of_gfloat(fmt, mode, theirs):
    gfloat = pytest.importorskip("gfloat", reason="gfloat is not installed")
    formats = pytest.importorskip("gfloat.formats")
    name = fmt.partition(":")[0]
    info = {"e4m3fn": "format_info_ocp_e4m3", "e5m2": "format_info_ocp_e5m2", "e3m2": "format_info_ocp_e3m2",
            "e2m3": "format_info_ocp_e2m3", "e2m1": "format_info_ocp_e2m1", "fp16": "format_info_binary16"}.get(name)
    mode_of = getattr(gfloat.RoundMode, theirs, None)
    if mode_of is None:
        pytest.skip(f"this gfloat has no {theirs}")
    if info is None:
        make = getattr(formats, "format_info_p3109", None)
        if make is None:
            pytest.skip("this gfloat has no p3109")
        theirs_format = make(8, 4)
    else:
        theirs_format = getattr(formats, info)
    f = fpemu.format(fmt)
    x = np.unique(samples(name)[:3000].astype(np.float64))
    x = x[np.isfinite(x) & (np.abs(x) <= f.max)]
    expected = np.array([gfloat.round_float(theirs_format, value, mode_of, ":saturate" in fmt) for value in x])
    assert_same(fpemu.quantize(x, f, mode), expected, fmt)


def test_fp32_of_numpy(rng):
    x = rng.standard_normal(100000) * 10.0 ** rng.integers(-44, 39, 100000)
    with np.errstate(over="ignore"):
        assert_same(fpemu.quantize(x, "fp32"), x.astype(np.float32).astype(np.float64))


@pytest.mark.parametrize("name", [n for n in ML_DTYPES if n.startswith("float8") and n != "float8_e8m0fnu"])
def test_tables_of_codes_round_as_ml_dtypes(ml_dtypes, name):
    dtype = type_of(ml_dtypes, name)
    values = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
    f, x = fpemu.format(values, codes=True), np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    with np.errstate(all="ignore"):
        y = x.astype(dtype)
    assert_same(fpemu.quantize(x, f), y.astype(np.float32))
    number = y == y
    assert (fpemu.encode(x, f)[number] == y.view(np.uint8)[number]).all()
    order = np.random.default_rng(1).permutation(256)  # codes in any order: ties apart, the same values
    mixed = fpemu.format(values[order], codes=True)
    assert_same(fpemu.decode(np.arange(256, dtype=np.uint8), mixed), values[order])
    assert_same(fpemu.decode(fpemu.encode(x, mixed, "rna"), mixed), fpemu.quantize(x, f, "rna"))
    again = pickle.loads(pickle.dumps(mixed))
    assert again == mixed != f and hash(again) == hash(mixed)
