# SPDX-License-Identifier: BSD-2-Clause
"""The models of matrix units against those of the package mmasim where it is installed: 100,000 dot products an
instruction, of a dozen kinds of operands. A NaN is as good as another."""

from __future__ import annotations

import os
import sys

import fpemu
import numpy as np
import pytest
from same import assert_same

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

DOTS = int(os.environ.get("FPEMU_DOTS", 100_000))


@pytest.fixture(scope="module")
def mmasim():
    """mmasim. A kernel of it is compiled at import, which needs ninja and a compiler."""
    pytest.importorskip("mmasim", reason="mmasim is not installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{sys.prefix}/bin:{sys.base_prefix}/bin", prepend=":")
        try:
            import mmasim.amd
            import mmasim.nv_ptx
        except Exception as error:  # whatever its build raises
            pytest.skip(f"mmasim cannot be imported: {type(error).__name__}")
    return mmasim


# name: exponent bits, stored fraction bits, bias, torch's type; of six and four bits codes, as mmasim has them
OPERANDS = {"fp16": (5, 10, 15, torch.float16), "bf16": (8, 7, 127, torch.bfloat16),
            "tf32": (8, 23, 127, torch.float32), "e4m3fn": (4, 3, 7, torch.float8_e4m3fn),
            "e5m2": (5, 2, 15, torch.float8_e5m2), "e4m3fnuz": (4, 3, 8, torch.float8_e4m3fnuz),
            "e5m2fnuz": (5, 2, 16, torch.float8_e5m2fnuz),
            "e3m2": (3, 2, 3, None), "e2m3": (2, 3, 1, None), "e2m1": (2, 1, 1, None)}
SCALES = {"e8m0": torch.float8_e8m0fnu, "ue4m3": torch.float8_e4m3fn}
KINDS = ("any", "middle", "wide", "edge", "far", "cancel", "subnormal", "small", "large", "special", "zeros", "ties")


def words(name, kind, rng, shape):
    """Operands as integers."""
    e, m, bias, _ = OPERANDS[name]
    top = (1 << e) - 1
    low, high = {"middle": (bias - 2, bias + 3), "subnormal": (0, 1), "small": (0, 4), "large": (top - 3, top),
                 "edge": (bias - 7, bias + 7), "far": (bias - 14, bias + 2)}.get(kind, (0, top + (kind == "any")))
    field = rng.integers(max(low, 0), max(min(high, top + 1), 1), shape)
    part = rng.integers(0, 1 << m, shape)
    if kind == "ties":
        field, part = rng.integers(bias - 1, bias + 2, shape), rng.choice([0, 1, 1 << m - 1, (1 << m) - 1], shape)
    if kind == "far":  # one is far above the others
        field[..., rng.integers(0, shape[-1])] = min(bias + 8, top - 1)
    if kind == "zeros":
        field, part = (np.where(rng.integers(0, 2, shape), 0, v) for v in (field, part))
    if kind == "special":
        field = np.where(rng.integers(0, 8, shape) == 0, top, field)
        part = np.where(rng.integers(0, 2, shape), 0, part)
    return rng.integers(0, 2, shape) << e + m | field << m | part


def operands(name, kind, rng, shape, helper, first):
    """The same numbers as mmasim takes them, and as float32."""
    e, m, bias, dtype = OPERANDS[name]
    u = words(name, kind, rng, shape)
    if kind == "cancel":  # the second half takes away what the first gave, but for its end
        u, half = words(name, "middle", rng, shape), shape[-1] // 2
        u[..., half:2 * half - 1] = u[..., :half - 1] ^ (first << e + m)
    if dtype is None:
        code = torch.from_numpy((u << 5 - e - m).astype(np.uint8))
        return code, helper.decode_uint8_to_fp6_fp4(code, name).float()
    width = {1: np.uint8, 2: np.uint16, 4: np.uint32}[dtype.itemsize]
    value = torch.from_numpy(u.astype(width).view(width(0).dtype.str.replace("u", "i"))).view(dtype)
    return value, helper.truncate_fp32_to_tf32(value) if name == "tf32" else value.float()


def starts(kind, rng, count, half, near):
    """c: of any size, about as large as a product, zero, or special."""
    e, m = (5, 10) if half else (8, 23)
    bias, top = (1 << e - 1) - 1, (1 << e) - 1
    field = np.clip(bias + near + rng.integers(-40, 41, count), 0, top - 1)
    field = np.where(rng.integers(0, 4, count) == 0, rng.integers(0, top + (kind == "any"), count), field)
    part = np.where(rng.integers(0, 4, count) == 0, 0, rng.integers(0, 1 << m, count))
    field, part = (np.where(rng.integers(0, 8, count) == 0, 0, v) for v in (field, part))
    u = rng.integers(0, 2, count) << e + m | field << m | part
    return torch.from_numpy(u.astype(np.uint16 if half else np.uint32).view(np.int16 if half else np.int32)).view(
        torch.float16 if half else torch.float32)


def compare(helper, operation, spec, names, depth, *, half=False, scales=None):
    rng = np.random.default_rng(1)
    count = DOTS // len(KINDS) + 1
    for kind in KINDS:
        (a, x), (b, y) = (operands(name, kind, rng, (count, depth), helper, i == 0)
                            for i, name in enumerate(names))
        near = {"small": 2, "subnormal": 2, "large": 2 * ((1 << OPERANDS[names[0]][0]) - OPERANDS[names[0]][2])}
        size = near.get(kind, 0)
        if kind in ("small", "subnormal"):
            size -= OPERANDS[names[0]][2] + OPERANDS[names[1]][2]
        arguments, ours = [], {}
        if scales:
            form, every = scales
            for side in "ab":
                u = rng.integers(0, 256, (count, depth // every)) if kind in ("any", "wide", "far") else \
                    rng.integers(110, 140, (count, depth // every)) if form == "e8m0" else \
                    rng.integers(1, 0x7F, (count, depth // every))
                scale = torch.from_numpy((u & (0xFF if form == "e8m0" else 0x7F)).astype(np.uint8)).view(SCALES[form])
                arguments.append(scale)
                ours[f"scales_{side}"] = scale.float().numpy()[:, None, :]
        c = starts(kind, rng, count, half, size)
        if names[0] == "e2m1" and scales and depth == 64:  # two codes a byte there, already unpacked
            a, b = x.half(), y.half()
        expected = operation.dpa(a, b, c, *arguments).float().numpy()
        got = fpemu.matmul(x.numpy()[:, None, :], y.numpy()[:, :, None], f"{spec}; start=c", beta=1,
                           c=c.float().numpy()[:, None, None], **ours)
        got = got[:, 0, 0]
        if "fnuz" in spec:  # beside terms from 2^25 on, mmasim drops an old sum that is NaN or infinite
            assert (np.isfinite(got) == (torch.isfinite(x * y).all(1) & torch.isfinite(c)).numpy()).all()
            expected = np.where(np.isfinite(got), expected, got)
        assert_same(got, expected, f"{spec}, {kind}")


AMD = [("CDNA1", "f32_16x16x16f16", "tc(cdna1,fp16)", "fp16"), ("CDNA1", "f32_16x16x8bf16", "tc(cdna1,bf16)", "bf16"),
       ("CDNA2", "f32_16x16x16f16", "tc(cdna2,fp16)", "fp16"),
       ("CDNA2", "f32_16x16x16bf16_1k", "tc(cdna2,bf16)", "bf16"),
       ("CDNA2", "f32_16x16x8bf16", "tc(cdna2old,bf16)", "bf16"),
       ("CDNA3", "f32_16x16x16_f16", "tc(cdna3,fp16)", "fp16"),
       ("CDNA3", "f32_16x16x16_bf16", "tc(cdna3,bf16)", "bf16"),
       ("CDNA3", "f32_16x16x8_xf32", "tc(cdna3,tf32)", "tf32"),
       ("CDNA3", "f32_16x16x32_fp8_fp8", "tc(cdna3,e4m3fnuz)", "e4m3fnuz"),
       ("CDNA3", "f32_16x16x32_bf8_bf8", "tc(cdna3,e5m2fnuz)", "e5m2fnuz")]


@pytest.mark.parametrize("arch,suffix,spec,name", AMD, ids=[f"{row[0]}-{row[1]}" for row in AMD])
def test_amd(mmasim, arch, suffix, spec, name):
    from mmasim.arithmetic import helper
    operation = mmasim.amd.MFMA(arch, suffix)
    compare(helper, operation, spec, (name, name), operation.k)


def test_amd_mixed(mmasim):
    from mmasim.arithmetic import helper
    compare(helper, mmasim.amd.MFMA("CDNA3", "f32_16x16x32_fp8_bf8"), "tc(cdna3,e4m3fnuz); b=e5m2fnuz",
            ("e4m3fnuz", "e5m2fnuz"), 32)


PTX = {"fp16": "f16", "e4m3fn": "e4m3"}
NVIDIA = [("MMA", "Volta", "m8n8k4.{d}.{a}.{b}.{d}", "v100", "fp16"),
          ("MMA", "Ampere", "m16n8k16.{d}.{a}.{b}.{d}", "a100", "fp16 bf16"),
          ("MMA", "Ampere", "m16n8k8.{d}.{a}.{b}.{d}", "a100", "tf32"),
          ("MMA", "Ada Lovelace", "m16n8k16.{d}.{a}.{b}.{d}", "ada", "fp16 bf16"),
          ("MMA", "Ada Lovelace", "m16n8k8.{d}.{a}.{b}.{d}", "ada", "tf32"),
          ("MMA", "Ada Lovelace", "m16n8k32.{d}.{a}.{b}.{d}", "ada", "e4m3fn e5m2"),
          ("WGMMA", "Hopper", "m64n8k16.{d}.{a}.{b}", "h100", "fp16 bf16"),
          ("WGMMA", "Hopper", "m64n8k8.{d}.{a}.{b}", "h100", "tf32"),
          ("WGMMA", "Hopper", "m64n8k32.{d}.{a}.{b}", "h100", "e4m3fn e5m2"),
          ("TCGen05MMA", "Blackwell", "m64n8k16.kind::f16.{d}.{a}.{b}", "b200", "fp16 bf16"),
          ("TCGen05MMA", "Blackwell", "m64n8k8.kind::tf32.{d}.{a}.{b}", "b200", "tf32"),
          ("TCGen05MMA", "Blackwell", "m64n8k32.kind::f8f6f4.{d}.{a}.{b}", "b200", "e4m3fn e5m2 e3m2 e2m3 e2m1")]


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("form,arch,text,gpu,name", [row[:4] + (n,) for row in NVIDIA for n in row[4].split()])
def test_nvidia(mmasim, form, arch, text, gpu, name, half):
    from mmasim.arithmetic import helper
    if half and name in ("bf16", "tf32"):
        return
    ptx = PTX.get(name, name)
    operation = getattr(mmasim.nv_ptx, form)(arch, text.format(a=ptx, b=ptx, d="f16" if half else "f32"))
    compare(helper, operation, f"tc({gpu},{name}{',fp16' if half else ''})", (name, name), operation.k, half=half)


SCALED = [("k32.kind::mxf8f6f4.block32.f32.{a}.{b}.ue8m0", "mxf8f6f4", "e4m3fn e5m2 e3m2 e2m3 e2m1", "e8m0", 32, ""),
          ("k64.kind::mxf4.block32.f32.{a}.{b}.ue8m0", "mxf4", "e2m1", "e8m0", 32, ""),
          ("k64.kind::mxf4nvf4.block16.f32.{a}.{b}.ue4m3", "mxf4nvf4", "e2m1", "ue4m3", 16, ""),
          ("k64.kind::mxf4nvf4.block16.f32.{a}.{b}.ue8m0", "mxf4nvf4", "e2m1", "e8m0", 16, ",scales=e8m0")]


@pytest.mark.parametrize("text,unit,name,form,every,more", [row[:2] + (n,) + row[3:] for row in SCALED
                                                            for n in row[2].split()])
def test_scaled(mmasim, text, unit, name, form, every, more):
    from mmasim.arithmetic import helper
    ptx = PTX.get(name, name)
    operation = mmasim.nv_ptx.TCGen05MMABlockScale("Blackwell", "m128n8" + text.format(a=ptx, b=ptx))
    compare(helper, operation, f"tc(b200,{unit}{more}); ab={name}", (name, name), operation.k, scales=(form, every))
