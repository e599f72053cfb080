# SPDX-License-Identifier: BSD-2-Clause
"""Benches of designs.sv by fpemu.cocotb: each unit agrees with its model, and the defect of its twin is found.

$ python3 bench.py icarus          or verilator, with the packages fpemu and cocotb
"""

import sys
import time
from pathlib import Path

import cocotb
import fpemu
import numpy as np
from fpemu.cocotb import Bench, simulate

FINITE = "float(e=5,m=10,bias=15,specials=finite)"  # binary16 without infinities and NaN


async def both(dut, count, inputs, outputs, model):
    """The design agrees, and its twin, whose last output ends in `wrong`, does not. Prints seconds."""
    for wrong in (False, True):
        start = time.perf_counter()
        names = [
            name if not wrong or name != list(outputs)[-1] else name.rsplit("_", 1)[0] + "_wrong" for name in outputs
        ]
        bench = Bench(dut, inputs, dict(zip(names, outputs.values())), model)
        await bench.run(bench.operands(count), stop=1)
        seconds = time.perf_counter() - start
        found = f"found after {bench.tried}: {bench.worst}" if bench.wrong else f"{bench.tried} agree"
        print(f"{names[-1]}: {seconds:.2f} s, {len(bench.coverage)} cells, {found}", file=sys.stderr)
        if not wrong:
            bench.check()
        else:
            assert bench.wrong > 0, "the defect was not found"


@cocotb.test()
async def mac(dut):
    await both(
        dut,
        2000,
        {"a": "e4m3fn", "b": "e4m3fn", "c": "fp16"},
        {"mac_y": "fp16"},
        lambda a, b, c: fpemu.fma(a, b, c, "fp16"),
    )


@cocotb.test()
async def mxdot(dut):
    def model(a, b, scale_a, scale_b):
        y = [
            fpemu.matmul(
                u[None].astype(np.float32),
                v[:, None].astype(np.float32),
                "chunk(8,fp64,fp32); ab=e4m3fn",
                scales_a=np.float32([[s]]),
                scales_b=np.float32([[t]]),
            )[0, 0]
            for u, v, s, t in zip(a, b, scale_a, scale_b)
        ]
        return np.array(y, np.float64)

    await both(
        dut, 500, {"va": ("e4m3fn", 8), "vb": ("e4m3fn", 8), "sa": "e8m0", "sb": "e8m0"}, {"mxdot_y": "fp32"}, model
    )


@cocotb.test()
async def nvfp4(dut):
    def model(x):
        packed = fpemu.pack(np.where(np.isfinite(x), x, 1).astype(np.float32), "group(e2m1,16,e4m3fn)")
        return packed.scale_codes[:, 0], packed.codes

    await both(dut, 300, {"x": (FINITE, 16)}, {"nvfp4_scale": "e4m3fn", "nvfp4_y": ("e2m1", 16)}, model)


@cocotb.test()
async def sr(dut):
    def model(x, random):
        low, high = (fpemu.quantize(x, "e5m2", mode) for mode in ("rtz", "raz"))
        with np.errstate(all="ignore"):
            part = np.where(low == high, 0, (x - low) / (np.where(np.isinf(high), np.sign(x) * 65536, high) - low))
        return np.where(np.floor(part * 256) + random >= 256, high, low)

    await both(dut, 2000, {"c": FINITE, "random": "uint(8)"}, {"sr_y": "e5m2"}, model)


if __name__ == "__main__":
    simulate([Path(__file__).with_name("designs.sv").resolve()], "designs", "bench", sys.argv[1], f"sim_{sys.argv[1]}")
