#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Rounding binary32 arrays to a format and back, by libfpemu and by its peers, in one run.

usage: peers.py LIBRARY [--json FILE] [--rounds N] [--sizes N,N]

LIBRARY is libfpemu.so. Peers that cannot be imported are left out, and named. Every round runs a copy of the array and
each case once, so that a change of clock or load meets all of them; the table has medians of the rounds. One thread;
the time is that of the processor.
Of sizes after the first, cases below 0.1 G elements a second are left out: it is not memory that they wait for.
run.sh installs the peers and starts this.
"""
import argparse
import ctypes
import importlib
import importlib.metadata
import json
import os
import platform
import statistics
import sys
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402: after the number of threads

FORMATS = ("fp16", "bf16", "e5m2", "e4m3fn", "e2m1", "fixed(8,4)", "int(8,scale=0.1)", "mxfp8", "mxfp4", "nvfp4")
MODES = ("rne", "rtz", "sr")
SLOW = 0.5  # seconds a call: such a case takes part in two rounds only
LEAST = 1e8  # elements a second
WINDOW = 1e-3  # seconds of a measurement, at least


class Case:
    """A call that fills `result` from the input, or returns it."""

    def __init__(self, peer, spec, mode, call, result=None):
        self.peer, self.spec, self.mode, self.call, self.result = peer, spec, mode, call, result
        self.repeat, self.seconds, self.differ = 1, [], None


# ------------------------------------------------------------------------------------------------------- libfpemu


class Fpemu:
    """fpemu_quantize_f32 through ctypes, its arguments made before the clock runs."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.fpemu_variant.restype = ctypes.c_char_p

    def quantize(self, spec, mode, x, y):
        form = ctypes.create_string_buffer(256)
        rounding = ctypes.create_string_buffer(64)
        if self.library.fpemu_format_parse(spec.encode(), form, None) or \
                self.library.fpemu_rounding_parse(mode.encode(), rounding, None):
            raise ValueError(f"{spec}, {mode}: not known to libfpemu")
        call = self.library.fpemu_quantize_f32
        arguments = (form, rounding, ctypes.c_size_t(x.size), ctypes.c_void_p(x.ctypes.data),
                     ctypes.c_void_p(y.ctypes.data), None)
        return lambda: call(*arguments)


def fpemu_cases(fpemu, x):
    y = np.empty_like(x)
    return [Case("libfpemu", spec, mode, fpemu.quantize(spec, mode, x, y), lambda: y)
            for spec in FORMATS for mode in MODES]


# ---------------------------------------------------------------------------------------------------------- peers
# Each yields its cases on x, a binary32 array.


def there_and_back(peer, spec, kind, x):
    narrow, y = np.empty(x.shape, kind), np.empty_like(x)

    def call():
        np.copyto(narrow, x, casting="unsafe")
        np.copyto(y, narrow, casting="unsafe")

    return Case(peer, spec, "rne", call, lambda: y)


def numpy_cases(x):
    yield there_and_back("numpy", "fp16", np.float16, x)


def ml_dtypes_cases(x):
    import ml_dtypes
    for spec, kind in (("bf16", "bfloat16"), ("e5m2", "float8_e5m2"), ("e4m3fn", "float8_e4m3fn"),
                       ("e2m1", "float4_e2m1fn")):
        yield there_and_back("ml_dtypes", spec, getattr(ml_dtypes, kind), x)


def torch_cases(x):
    import torch
    torch.set_num_threads(1)
    source, y = torch.from_numpy(x), torch.empty(x.size)
    for spec, kind in (("fp16", "float16"), ("bf16", "bfloat16"), ("e5m2", "float8_e5m2"), ("e4m3fn", "float8_e4m3fn")):
        narrow = torch.empty(x.size, dtype=getattr(torch, kind))

        def call(narrow=narrow):
            narrow.copy_(source)
            y.copy_(narrow)

        yield Case("torch", spec, "rne", call, y.numpy)
    yield Case("torch", "int(8,scale=0.1)", "rne",
               lambda: torch.fake_quantize_per_tensor_affine(source, 0.1, 0, -128, 127))


def torch_channel_cases(x):
    """The same with a scale for each of 64 channels, which are all alike here."""
    import torch
    torch.set_num_threads(1)
    source = torch.from_numpy(x).reshape(64, -1)
    scales, zeros = torch.full((64,), 0.1), torch.zeros(64, dtype=torch.int32)
    yield Case("torch channels", "int(8,scale=0.1)", "rne",
               lambda: torch.fake_quantize_per_channel_affine(source, scales, zeros, 0, -128, 127).reshape(-1))


def torchao_cases(x):
    import torch
    from torchao.prototype.mx_formats.mx_tensor import MXTensor
    from torchao.prototype.mx_formats.nvfp4_tensor import NVFP4Tensor, per_tensor_amax_to_scale
    torch.set_num_threads(1)
    source = torch.from_numpy(x).reshape(-1, 32)

    def to_nvfp4():
        scale = per_tensor_amax_to_scale(source.abs().max())
        return NVFP4Tensor.to_nvfp4(source, 16, scale).dequantize(torch.float32).reshape(-1)

    for spec, kind in (("mxfp8", "float8_e4m3fn"), ("mxfp4", "float4_e2m1fn_x2")):
        yield Case("torchao", spec, "rne", lambda kind=getattr(torch, kind):
                   MXTensor.to_mx(source, kind, 32).dequantize(torch.float32).reshape(-1))
    yield Case("torchao", "nvfp4", "rne", to_nvfp4)


def qtorch_cases(x):
    import torch
    from qtorch.quant import fixed_point_quantize, float_quantize
    torch.set_num_threads(1)
    source = torch.from_numpy(x)
    for mode, rounding in (("rne", "nearest"), ("sr", "stochastic")):
        for spec, e, m in (("fp16", 5, 10), ("e5m2", 5, 2), ("e4m3fn", 4, 3), ("e2m1", 2, 1)):
            yield Case("qtorch", spec, mode,
                       lambda e=e, m=m, rounding=rounding: float_quantize(source, e, m, rounding=rounding))
        yield Case("qtorch", "fixed(8,4)", mode,
                   lambda rounding=rounding: fixed_point_quantize(source, 8, 4, rounding=rounding))


def gfloat_cases(x):
    import gfloat
    from gfloat import formats
    random = np.random.default_rng(1).integers(0, 1 << 16, x.size)
    for spec, name in (("fp16", "binary16"), ("bf16", "bfloat16"), ("e5m2", "ocp_e5m2"), ("e4m3fn", "ocp_e4m3"),
                       ("e2m1", "ocp_e2m1")):
        form = getattr(formats, "format_info_" + name)
        sat = spec == "e2m1"  # it refuses overflow where there is neither infinity nor NaN
        for mode, rounding in (("rne", "TiesToEven"), ("rtz", "TowardZero")):
            yield Case("gfloat", spec, mode, lambda form=form, rounding=gfloat.RoundMode[rounding], sat=sat:
                       gfloat.round_ndarray(form, x, rounding, sat))
        yield Case("gfloat", spec, "sr", lambda form=form, sat=sat:
                   gfloat.round_ndarray(form, x, gfloat.RoundMode.Stochastic, sat, random, 16))


def pychop_cases(x):
    import pychop
    pychop.backend("numpy")
    modes = (("rne", 1), ("rtz", 4), ("sr", 5))
    for spec, e, m in (("fp16", 5, 10), ("bf16", 8, 7), ("e5m2", 5, 2), ("e4m3fn", 4, 3), ("e2m1", 2, 1)):
        for mode, number in modes:
            chop = pychop.Chop(exp_bits=e, sig_bits=m, rmode=number)
            yield Case("pychop", spec, mode, lambda chop=chop: chop(x))
    for mode, number in modes:
        chop = pychop.Chopf(ibits=4, fbits=4, rmode=number)
        yield Case("pychop", "fixed(8,4)", mode, lambda chop=chop: chop(x))


# Column, package, cases.
PEERS = (("numpy", "numpy", numpy_cases), ("ml_dtypes", "ml_dtypes", ml_dtypes_cases), ("torch", "torch", torch_cases),
         ("torch channels", "torch", torch_channel_cases), ("torchao", "torchao", torchao_cases),
         ("qtorch", "qtorch", qtorch_cases), ("gfloat", "gfloat", gfloat_cases), ("pychop", "pychop", pychop_cases))


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "?"


def peer_cases(x, slow, missing):
    """The cases of those peers that are there and work, and are not known to be slow; why the others do not."""
    cases = []
    for name, package, make in PEERS:
        try:
            importlib.import_module(package)
            for case in make(x):
                if (case.peer, case.spec, case.mode) in slow:
                    continue
                try:
                    case.call()
                    cases.append(case)
                except Exception as error:  # whatever a peer raises for one format must not stop the others
                    missing[f"{name} {case.spec} {case.mode}"] = f"{type(error).__name__}: {error}".split("\n")[0]
        except Exception as error:
            missing[name] = f"{type(error).__name__}: {error}".split("\n")[0]
    return cases


# -------------------------------------------------------------------------------------------------------- measuring


def timed(call, repeat):
    start = time.process_time()  # what other programs take of the machine does not count
    for _ in range(repeat):
        call()
    return (time.process_time() - start) / repeat


def measure(cases, rounds):
    for case in cases:
        once = min(timed(case.call, 1) for _ in range(2))
        case.repeat = max(1, round(WINDOW / max(once, 1e-9)))
    for number in range(rounds):
        for case in cases:
            if number < 2 or case.seconds[-1] < SLOW:
                case.seconds.append(timed(case.call, case.repeat))


def count_differences(cases, reference):
    """How many results of nearest and toward zero are other numbers than libfpemu's."""
    for case in cases:
        if case.mode == "sr" or case.peer == "libfpemu":
            continue
        got = case.call()
        if case.result is not None:
            got = case.result()
        got = np.asarray(got.numpy() if hasattr(got, "numpy") else got)
        want = reference[case.spec, case.mode]
        case.differ = int(np.count_nonzero(~((got == want) | (np.isnan(got) & np.isnan(want)))))


def run_size(fpemu, size, rounds, slow, missing):
    x = np.random.default_rng(20261120).standard_normal(size).astype(np.float32)
    copy = np.empty_like(x)
    yard = Case("copy", "", "", lambda: np.copyto(copy, x))
    ours = fpemu_cases(fpemu, x)
    reference = {}
    for case in ours:
        case.call()
        reference[case.spec, case.mode] = case.result().copy()
    peers = peer_cases(x, slow, missing)
    count_differences(peers, reference)
    measure([yard] + ours + peers, rounds)
    base = statistics.median(yard.seconds)
    empty = statistics.median(timed(fpemu.quantize("fp16", "rne", x[:0], copy), 100) for _ in range(rounds))
    rows = []
    for case in ours + peers:
        seconds = statistics.median(case.seconds)
        if size / seconds < LEAST:
            slow.add((case.peer, case.spec, case.mode))
        rows.append({"elements": size, "format": case.spec, "mode": case.mode, "by": case.peer,
                     "elements_per_second": size / seconds, "ratio_to_copy": base / seconds, "differ": case.differ})
    return {"elements": size, "copy_elements_per_second": size / base, "empty_call_seconds": empty, "rows": rows}


def processor():
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


# --------------------------------------------------------------------------------------------------------- printing


def print_table(results):
    names = ["libfpemu"] + [p for p, _, _ in PEERS if any(r["by"] == p for s in results["sizes"] for r in s["rows"])]
    for part in results["sizes"]:
        print(f"\n### {part['elements']} elements, copy {part['copy_elements_per_second'] / 1e9:.2f} G/s\n")
        print("| format | mode | " + " | ".join(names) + " |")
        print("|---|---" + "|---" * len(names) + "|")
        for spec in FORMATS:
            for mode in MODES:
                found = {r["by"]: r for r in part["rows"] if r["format"] == spec and r["mode"] == mode}
                cells = []
                for name in names:
                    row = found.get(name)
                    cells.append("" if row is None else "%.3g (%.2g)%s" % (
                        row["elements_per_second"] / 1e9, row["ratio_to_copy"], "*" if row["differ"] else ""))
                print(f"| {spec} | {mode} | " + " | ".join(cells) + " |")
    print("\n10^9 elements a second, in parentheses the ratio to a copy of the array in the same run; one thread, processor time. A")
    print("star: some results are other numbers than libfpemu's. An empty call of libfpemu takes "
          f"{results['sizes'][0]['empty_call_seconds'] * 1e6:.2f} us here.")
    for name, reason in results["missing"].items():
        print(f"- not measured: {name} ({reason})")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--sizes", default=f"{1 << 15},{1 << 24}")
    options = parser.parse_args()
    fpemu = Fpemu(os.path.abspath(options.library))
    missing = {}
    np.seterr(all="ignore")  # of the peers
    slow = set()
    sizes = [run_size(fpemu, int(size), options.rounds, slow, missing) for size in options.sizes.split(",")]
    results = {"date": time.strftime("%Y-%m-%d", time.gmtime()), "processor": processor(),
               "loops": fpemu.library.fpemu_variant().decode(), "python": platform.python_version(),
               "versions": {package: version(package) for name, package, _ in PEERS if name not in missing},
               "missing": missing, "sizes": sizes}
    versions = ", ".join(f"{p} {v}" for p, v in results["versions"].items())
    print(f"{results['date']}, {results['processor']}, {results['loops']} loops, Python {results['python']}; {versions}")
    print_table(results)
    if options.json:
        with open(options.json + ".new", "w", encoding="ascii") as file:
            json.dump(results, file, indent=1)
        os.replace(options.json + ".new", options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
