# SPDX-License-Identifier: BSD-2-Clause
"""fpemu.cocotb: operands, a model and a scoreboard for the bench of a design, with cocotb and the package fpemu.

bench = Bench(dut, {"a": "e4m3fn", "b": "e4m3fn"}, {"y": "fp16"}, lambda a, b: fpemu.mul(a, b, "fp16"))
await bench.run(bench.operands(10000))
bench.check()

`pytest -p fpemu.cocotb` has a fixture `simulate` for tests; these are skipped where cocotb or the simulator is missing.
"""

import re
import shutil
from collections import Counter
from pathlib import Path

import fpemu
import numpy as np

try:
    from cocotb.triggers import RisingEdge, Timer
except ImportError:  # as pytest loads it; without cocotb there is no bench
    RisingEdge = Timer = None

CLASSES = ("normal", "subnormal", "zero", "infinity", "nan")


class Bench:
    """A design beside a model.

    inputs, outputs: what the ports are, by name: a format, or (format, lanes), the first lane in the lowest bits.
    model: takes an array of values for each input, float64, (n,) or (n, lanes). Returns for each output as many
        numbers, which are rounded to nearest in the port's format, or codes, unsigned integers. Any NaN equals another.
    clock: a port; results are then read `latency` rising edges after their operands. Without, after a time step.
    coverage: how often which classes of the inputs and the first output came, such as ("normal", "zero", "zero"); of
        lanes the last in the order of CLASSES.
    """

    def __init__(self, dut, inputs, outputs, model, clock=None, latency=1):
        self.dut, self.model, self.clock, self.latency = dut, model, clock, latency if clock else 0
        pairs = {name: p if isinstance(p, tuple) else (p, 0) for name, p in {**inputs, **outputs}.items()}
        self.ports = {name: (fpemu.format(spec), lanes) for name, (spec, lanes) in pairs.items()}
        self.inputs, self.outputs = list(inputs), list(outputs)
        self.tried, self.wrong, self.worst, self.coverage = 0, 0, "", Counter()

    def operands(self, count, seed=0):
        """Codes of the inputs: all, of single numbers of 16 bits together; else for each input by turns special values
        and their neighbours, numbers of few bits about as large as one another, and any codes."""
        rng, columns = np.random.default_rng(seed), []
        ports = [self.ports[name] for name in self.inputs]
        if sum(f.bits for f, _ in ports) <= 16 and not any(lanes for _, lanes in ports):
            every = np.arange(1 << sum(f.bits for f, _ in ports), dtype=np.uint64)
            for f, _ in ports:
                columns.append(every & np.uint64((1 << f.bits) - 1))
                every = every >> np.uint64(f.bits)
            return columns
        for f, lanes in ports:
            shape, sign = (count, max(lanes, 1)), [1, -1] if f.is_signed else [1]
            points = [s * v for v in (0, 1, f.max, f.smallest, f.smallest_normal) for s in sign]
            codes = fpemu.encode(np.array(points + [np.inf, np.nan], np.float64), f).astype(np.uint64)
            special = rng.choice(np.concatenate([codes, codes + 1, codes - 1]), shape)
            near = np.ldexp(rng.integers(1, 17, shape) / 16, rng.integers(-3, 4, shape)) * rng.choice(sign, shape)
            turn = [rng.integers(0, 3, (count, 1)) == k for k in (0, 1)]
            any_code = rng.integers(0, 1 << f.bits, shape, np.uint64)
            codes = np.select(turn, [special, fpemu.encode(near, f).astype(np.uint64)], any_code)
            codes &= np.uint64((1 << f.bits) - 1)
            columns.append(codes if lanes else codes[:, 0])
        return columns

    async def run(self, columns, stop=None):
        """Drives codes, an array for each input, and compares what comes out; ends after `stop` differences."""
        values = [self._values(name, column) for name, column in zip(self.inputs, columns)]
        right = self.model(*values)
        right = [np.asarray(want) for want in ([right] if len(self.outputs) == 1 else right)]
        right = [
            want if want.dtype.kind == "u" else fpemu.encode(want.astype(np.float64), self.ports[name][0])
            for name, want in zip(self.outputs, right)
        ]
        first = [(self.outputs[0], self._values(self.outputs[0], right[0]))]
        classes = [self._classes(name, column) for name, column in [*zip(self.inputs, values), *first]]
        self.coverage.update(zip(*classes))
        driven = [self._words(name, column) for name, column in zip(self.inputs, columns)]
        wanted = [self._words(name, column) for name, column in zip(self.outputs, right)]
        for i in range(len(columns[0]) + self.latency):
            for name, words in zip(self.inputs, driven):
                getattr(self.dut, name).value = words[min(i, len(words) - 1)]
            await (RisingEdge(getattr(self.dut, self.clock)) if self.clock else Timer(1))
            row = i - self.latency
            if row < 0:
                continue
            self.tried += 1
            differ = [text for name, words in zip(self.outputs, wanted) if (text := self._judge(name, words[row]))]
            if differ:
                self.wrong += 1
                shown = ", ".join(f"{name} = {value[row].tolist()}" for name, value in zip(self.inputs, values))
                self.worst = self.worst or f"{shown}: {differ[0]}"
                if self.wrong == stop:
                    break

    def check(self):
        """AssertionError where something differed: how much, and the first in numbers; or where nothing was tried."""
        assert self.tried > 0, "nothing was tried"
        assert self.wrong == 0, f"{self.wrong} of {self.tried} differ, such as {self.worst}"

    def _values(self, name, codes):
        f = self.ports[name][0]
        return fpemu.decode(np.asarray(codes, np.uint64).astype(f.code_dtype), f, "float64")

    def _classes(self, name, values):
        size = np.abs(values.reshape(len(values), -1))
        small = size < self.ports[name][0].smallest_normal
        rank = np.select([np.isnan(size), np.isinf(size), size == 0, small], [4, 3, 2, 1], 0)
        return [CLASSES[k] for k in rank.max(axis=1)]

    def _words(self, name, codes):
        bits = self.ports[name][0].bits
        rows = [row if isinstance(row, list) else [row] for row in np.asarray(codes, np.uint64).tolist()]
        return [sum(code << bits * k for k, code in enumerate(row)) for row in rows]

    def _judge(self, name, want):
        """What is wrong with a port; "": nothing."""
        f, lanes = self.ports[name]
        try:
            got = int(getattr(self.dut, name).value)
        except ValueError:
            return f"{name} has unknown bits"
        if got == want:
            return ""
        codes = [[word >> f.bits * k & ((1 << f.bits) - 1) for k in range(max(lanes, 1))] for word in (want, got)]
        a, b = (self._values(name, row).tolist() for row in codes)
        if all(c == d or (u != u and v != v) for c, d, u, v in zip(*codes, a, b)):
            return ""
        return f"{name} is {a if lanes else a[0]}, not {b if lanes else b[0]}"


def simulate(sources, top, module, simulator="icarus", folder="sim"):
    """Runs the cocotb tests of a module, which Python can import, on a design. AssertionError says what failed."""
    try:
        from cocotb_tools.runner import get_runner  # cocotb 2
    except ImportError:
        from cocotb.runner import get_runner
    runner = get_runner(simulator)
    options = ["-g2012"] if simulator == "icarus" else ["-Wno-fatal"]
    runner.build(verilog_sources=sources, hdl_toplevel=top, build_dir=folder, build_args=options)
    try:
        results = runner.test(hdl_toplevel=top, test_module=module, build_dir=folder, test_dir=folder)
    except SystemExit as end:  # so it ends under pytest
        raise AssertionError(f"{module}: {end}") from None
    text = Path(results).read_text()
    failed = re.findall(r'<testcase name="(\w+)"[^>]*>\s*<failure', text)
    assert not failed, f"{module}: {', '.join(failed)} failed"
    assert text.count("<testcase") > text.count("<skipped"), f"{module}: no test was run"


try:
    import pytest

    @pytest.fixture(name="simulate")
    def _simulate(tmp_path):
        """fpemu.cocotb.simulate in a folder of its own."""

        def run(sources, top, module, simulator="icarus"):
            command = "iverilog" if simulator == "icarus" else simulator
            if Timer is None or shutil.which(command) is None:
                pytest.skip("no cocotb" if Timer is None else f"no {command}")
            simulate(sources, top, module, simulator, tmp_path)

        return run
except ImportError:
    pass
