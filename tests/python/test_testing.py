# SPDX-License-Identifier: BSD-2-Clause
"""fpemu.testing: right code passes, planted defects are found and told in numbers."""

import asyncio
import importlib
import shutil
from types import SimpleNamespace

import fpemu
import numpy as np
import pytest
from fpemu import testing


def fails(text, assertion, *arguments, **options):
    with pytest.raises(AssertionError, match=text):
        assertion(*arguments, **options)


def test_quantizers():
    shaped = [f"block(int8,block={shape},scale=fp32,rule=absmax)" for shape in ("row", "channel")]
    for spec in ("mxfp4", "nvfp4", "s2fp8", *shaped):
        testing.assert_quantizes(lambda x, spec=spec: fpemu.quantize(x, spec), spec)
        testing.assert_quantizes(lambda x, spec=spec: fpemu.pack(x, spec).bytes, spec)
    for text, verb in (
            (r"element/short-block: \d+, such as x\[\d+\] = .*: number \d+, which is .*, not ", fpemu.quantize),
            (r"scale/normal: \d+, such as ", fpemu.pack)):
        fails(text, testing.assert_quantizes, lambda x, verb=verb: verb(x, "mx(e2m1,rule=ceil)"), "mxfp4")
    contiguous = lambda x: fpemu.quantize(x, "mxfp4") if x.flags.c_contiguous else x
    fails("element", testing.assert_quantizes, contiguous, "mxfp4")

    def unclamped(x):
        """Elements of 7 and more of a block's scale are lost, which takes a block far below the tensor's largest."""
        scales, _, (_, d) = fpemu.scales(x, "nvfp4")
        with np.errstate(all="ignore"):
            end = 7 * np.float64(d) * scales.repeat(16)[: len(x)]
            return np.where(~(np.abs(x) >= end) | (end == 0), fpemu.quantize(x, "nvfp4"), np.copysign(np.float32(0), x))

    fails("element/normal", testing.assert_quantizes, unclamped, "nvfp4")
    fails(r"in 1 class\n  element/signed-zero: \d+, such as .*, which is -0.0, not 0.0$", testing.assert_quantizes,
          lambda x: fpemu.quantize(x, "mxfp4") + 0, "mxfp4")
    testing.assert_quantizes(lambda a, b: fpemu.add(a, b, "fp16"), "fp16", op="add", operands="e5m2")
    with pytest.raises(ValueError, match="inputs: -1 is less than 0"):
        testing.assert_quantizes(np.abs, "fp16", inputs=-1)
    with pytest.raises(TypeError, match="3 cannot be called"):
        testing.assert_quantizes(3, "fp16")
    testing.assert_quantizes(lambda x: fpemu.quantize(x, "e5m2"), "e5m2", dtype="float16")
    fails(r"signed-zero: 1, such as -0.0 .*, which is -0.0, not 0.0", testing.assert_quantizes,
          lambda x: np.where(x == 0, np.float16(0), fpemu.quantize(x, "e5m2")), "e5m2", dtype="float16")


def test_stochastic_rounding():
    """NumPy's own to multiples of 1/16; what is known of others' defects."""
    rng = np.random.default_rng(3)

    def fixed(x, bits=lambda n: rng.random(n), defect=1):
        y = np.floor(np.abs(x.astype(np.float64)) * 16 + bits(len(x))) / 16 * defect
        return np.clip(np.copysign(y, x), -8, 7.9375)

    for text, work in (
        ("neighbour/normal.*\n.*exact/normal|exact/normal(.|\n)*neighbour/normal", lambda x: fixed(x, defect=0)),
        ("probability/normal: .* is .*, else .* at .*, not ", lambda x: fixed(x, lambda n: rng.random(n) * 0.9)),
        ("repeats-calls: 1, .* two calls alike in half, not in 65536 of",
         lambda x: fixed(x, lambda n: np.random.default_rng(5).random(n))),
        ("repeats-elements: 1, .* elements 1 apart", lambda x: fixed(x, lambda n: np.repeat(rng.random(n), 2)[:n])),
    ):
        fails(text, testing.assert_stochastic, work, "fixed(8,4)")
    testing.assert_stochastic(fixed, "fixed(8,4)")
    testing.assert_stochastic(lambda x: fixed(x, lambda n: rng.integers(0, 16, n) / 16), "fixed(8,4)", bits=4)


def test_products():
    """A sum in sequence by NumPy holds to its model and to its bound; one that drops a product does not."""

    def product(a, b, dropped=None):
        with np.errstate(all="ignore"):
            c = np.zeros((len(a), b.shape[1]), np.float32)
            for k in range(len(b)):
                c = c + a[:, k : k + 1] * b[k] if k != dropped else c
        return c

    testing.assert_matmul(product, (3, 20, 2), model="seq(fp32)")
    testing.assert_matmul(product, (1, 20, 1), bound=20 * 2.0**-24, operands=("bf16", "e5m2"))
    fails(r"^sizes: \[0, 0\] of 3x20x2: [-0-9.]+ \* [-0-9.]+ is .* by the model seq\(fp32\), not 0.0$",
          testing.assert_matmul, lambda a, b: product(a, b, 7), (3, 20, 2), model="seq(fp32)")
    fails("exactly, give or take", testing.assert_matmul, lambda a, b: fpemu.quantize(product(a, b), "bf16"),
          (3, 20, 2), bound=20 * 2.0**-24)


def test_bench_of_64_bits(monkeypatch):
    """A design whose output is its input, without a simulator."""
    from fpemu import cocotb

    monkeypatch.setattr(cocotb, "Timer", lambda steps: asyncio.sleep(0))
    Bench = cocotb.Bench
    for y, wrong, worst in ((None, 0, ""), (SimpleNamespace(value=1), 2, "a = nan: y is nan, not 5e-324")):
        a = SimpleNamespace()
        bench = Bench(SimpleNamespace(a=a, y=y or a), {"a": "fp64"}, {"y": "fp64"}, lambda a: a)
        fails("nothing was tried", bench.check)
        columns = [[1, 2**64 - 1, 2**63 + 1]] if y else bench.operands(300)
        asyncio.run(bench.run(columns))
        assert (bench.tried, bench.wrong, bench.worst) == (len(columns[0]), wrong, worst)
    assert bench.operands(300)[0].max() >= 2**63


def test_simulation(pytester):
    """What failed in a simulator fails in pytest; without cocotb or the simulator it is skipped with a word."""
    bench = """
import cocotb, fpemu.cocotb
@cocotb.test()
async def holds(dut):
    bench = fpemu.cocotb.Bench(dut, {"a": "e4m3fn"}, {"y": "e4m3fn"}, lambda a: %s)
    await bench.run(bench.operands(10))
    bench.check()
"""
    pytester.makefile(".sv", top="module top(input logic [7:0] a, output logic [7:0] y); assign y = a; endmodule")
    test = "\ndef test_%s(simulate): simulate(['top.sv'], 'top', '%s', '%s')"
    pytester.makepyfile(same=bench % "a", wrong=bench % "-a", none="import cocotb", test_it="".join(
        test % words for words in (("same", "same", "icarus"), ("wrong", "wrong", "icarus"), ("none", "none", "icarus"),
                                   ("no", "same", "other"))))
    present = importlib.util.find_spec("cocotb") and shutil.which("iverilog")
    result = pytester.runpytest_subprocess("-p", "fpemu.cocotb", "-rs")
    result.assert_outcomes(**({"passed": 1, "failed": 2, "skipped": 1} if present else {"skipped": 4}))
    pytester.makepyfile(cocotb="raise ImportError")
    result = pytester.runpytest_subprocess("-p", "fpemu.cocotb", "-rs")
    result.stdout.fnmatch_lines(["SKIPPED*4*no cocotb"])


pytest_plugins = "pytester"
