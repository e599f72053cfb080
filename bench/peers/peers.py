#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Rounding binary32 arrays to a format and back, by libfpemu and by its peers, in one run.

usage: peers.py LIBRARY [--json FILE] [--rounds N] [--sizes N,N] [--magnitudes N]

LIBRARY is libfpemu.so. Peers that cannot be had are left out, and named. Every round runs a copy of the array and each
case once, so that a change of clock or load meets all of them; the tables have medians of the rounds. One thread; the
time is that of the processor.
The numbers are normally distributed; --magnitudes multiplies each by a power of two from -N to N, to compare results.
Of sizes after the first, cases below 0.1 G elements a second are left out: it is not memory that they wait for.
run.sh installs the packages among the peers and starts this. Those that are no packages are found by variables, each
of which names a folder with a copy of the peer's repository: MICROXCALING, SOFTPOSIT, UNIVERSAL, CPFLOAT. The last
three are compiled, into a temporary folder, by CC or CXX (cc, c++) with -O3 -march=native.
"""
import argparse
import ctypes
import importlib
import importlib.metadata
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile
import textwrap
import time

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402: after the number of threads

# Tables, and their rows: formats, each with modes of rounding, or with other verbs that it is measured at.
CONVERSIONS = ("rne", "encode", "decode")
OPERATIONS = {"add": (0, 2), "mul": (2, 2), "div": (3, 2), "sqrt": (4, 1), "fma": (5, 3)}  # code in fpemu, operands
PLAIN = dict.fromkeys(("fp16", "bf16", "e5m2", "e4m3", "e4m3fn", "e2m1", "fixed(8,4)"), ("rne", "rtz", "sr")) | {
    "int(8,scale=0.1)": ("rne", "pytorch-multiply", "encode")}
SCALED = dict.fromkeys(("mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e2m3", "mxfp6_e3m2", "mxfp4", "mxint8",
                        "nvfp4(rule=nvfp4-ao)", "nf4", "codebook(dynamic8,block=256)"), ("rne",))
POSITS = dict.fromkeys(("posit(8,0)", "posit(8,2)"), CONVERSIONS) | \
    dict.fromkeys(("posit(16,1)", "posit(16,2)", "posit(32,2)"), CONVERSIONS + tuple(OPERATIONS))
TABLES = (PLAIN, SCALED, POSITS)
WIDE = ("posit(32,2)",)  # binary32 does not hold its numbers: arrays of double
AHEAD = 5  # so many times faster than each peer libfpemu would be
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
    """Calls through ctypes, their arguments made before the clock runs."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.fpemu_variant.restype = ctypes.c_char_p
        self.library.fpemu_format_code_size.restype = ctypes.c_size_t

    def parse(self, spec, mode):
        form = ctypes.create_string_buffer(256)
        rounding = ctypes.create_string_buffer(64)
        if self.library.fpemu_format_parse(spec.encode(), form, None) or \
                self.library.fpemu_rounding_parse(mode.encode(), rounding, None):
            raise ValueError(f"{spec}, {mode}: not known to libfpemu")
        return form, rounding

    def call(self, name, kind, *arguments):
        function = getattr(self.library, name + {"float32": "_f32", "float64": "_f64"}[kind.name])
        pointers = [ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else a for a in arguments]
        return lambda keep=arguments: function(*pointers)

    def quantize(self, spec, mode, x, y):
        form, rounding = self.parse(spec, mode)
        return self.call("fpemu_quantize", x.dtype, form, rounding, ctypes.c_size_t(x.size), x, y, None)

    def codes(self, spec, mode, x, y):
        """Calls that encode x, and decode the codes to y."""
        form, rounding = self.parse(spec, mode)
        codes = np.empty(x.size * self.library.fpemu_format_code_size(form), np.uint8)
        n = ctypes.c_size_t(x.size)
        return (self.call("fpemu_encode", x.dtype, form, rounding, n, x, codes, None),
                self.call("fpemu_decode", x.dtype, form, n, codes, y))

    def operate(self, spec, operation, operands, y):
        form, rounding = self.parse(spec, "rne")
        number = OPERATIONS[operation][0]
        pointers = (ctypes.c_void_p * 3)(*(o.ctypes.data for o in operands))
        n = ctypes.c_size_t(y.size)
        call = self.call("fpemu_arith", y.dtype, form, rounding, number, n, pointers, None, y, None)
        return lambda operands=operands: call()  # which keeps the operands


def neighbours(x):
    """The operands of an operation: an array, itself moved by one, and by two places; for sqrt, its absolute values."""
    return x, np.roll(x, 1), np.roll(x, 2), abs(x)


def operands_of(operation, arrays):
    return arrays[3:] if operation == "sqrt" else arrays[:OPERATIONS[operation][1]]


def fpemu_cases(fpemu, x, wanted):
    """The cases of all tables, or of the formats and verbs that are wanted. All leave their results in one array."""
    results = {kind: np.empty(x.shape, kind) for kind in (np.float32, np.float64)}
    for spec, verbs in ((s, v) for formats in TABLES for s, v in formats.items()):
        verbs = [v for v in verbs if wanted is None or (spec, v) in wanted]
        source = x.astype(np.float64) if spec in WIDE and verbs else x
        y = results[np.float64 if spec in WIDE else np.float32]
        encode, decode = fpemu.codes(spec, "rne", source, y) if {"encode", "decode"} & set(verbs) else (None, None)
        operands = ()
        if set(OPERATIONS) & set(verbs):
            fpemu.quantize(spec, "rne", source, y)()
            operands = neighbours(y.copy())
        for verb in verbs:
            result = lambda y=y: y
            if verb == "encode":
                call = encode
                result = lambda y=y, decode=decode: (decode(), y)[1]
            elif verb == "decode":
                encode()
                call = decode
            elif verb in OPERATIONS:
                call = fpemu.operate(spec, verb, operands_of(verb, operands), y)
            else:
                call = fpemu.quantize(spec, verb, source, y)
            status = call()
            if status:
                raise ValueError(f"{spec}, {verb}: libfpemu's status {status}")
            yield Case("libfpemu", spec, verb, call, result)


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
    for mode in ("rne", "pytorch-multiply"):
        yield Case("torch", "int(8,scale=0.1)", mode,
                   lambda: torch.fake_quantize_per_tensor_affine(source, 0.1, 0, -128, 127))


def torch_codes_cases(x):
    """Codes by quantize_per_tensor, and the values by four operators."""
    import torch
    torch.set_num_threads(1)
    source, y = torch.from_numpy(x), torch.empty(x.size)

    def by_hand():
        torch.mul(source, 10, out=y)
        return y.round_().clamp_(-128, 127).mul_(0.1)

    def encode():
        return torch.quantize_per_tensor(source, 0.1, 0, torch.qint8)

    for mode in ("rne", "pytorch-multiply"):
        yield Case("torch steps", "int(8,scale=0.1)", mode, by_hand)
    yield Case("torch steps", "int(8,scale=0.1)", "encode", encode, lambda: encode().dequantize())


def torch_channel_cases(x):
    """The same with a scale for each of 64 channels, which are all alike here."""
    import torch
    torch.set_num_threads(1)
    source = torch.from_numpy(x).reshape(64, -1)
    scales, zeros = torch.full((64,), 0.1), torch.zeros(64, dtype=torch.int32)
    for mode in ("rne", "pytorch-multiply"):
        yield Case("torch channels", "int(8,scale=0.1)", mode,
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

    for spec, kind in (("mxfp8_e4m3", torch.float8_e4m3fn), ("mxfp8_e5m2", torch.float8_e5m2),
                       ("mxfp6_e2m3", "fp6_e2m3"), ("mxfp6_e3m2", "fp6_e3m2"), ("mxfp4", torch.float4_e2m1fn_x2)):
        yield Case("torchao", spec, "rne", lambda kind=kind:
                   MXTensor.to_mx(source, kind, 32).dequantize(torch.float32).reshape(-1))
    yield Case("torchao", "nvfp4(rule=nvfp4-ao)", "rne", to_nvfp4)


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


def bitsandbytes_cases(x):
    import torch
    from bitsandbytes import functional
    torch.set_num_threads(1)
    source = torch.from_numpy(x)

    def nf4():
        codes, state = functional.quantize_4bit(source, blocksize=64, quant_type="nf4")
        return functional.dequantize_4bit(codes, state).reshape(-1)

    def dynamic8():
        codes, state = functional.quantize_blockwise(source, blocksize=256)
        return functional.dequantize_blockwise(codes, state)

    yield Case("bitsandbytes", "nf4", "rne", nf4)
    yield Case("bitsandbytes", "codebook(dynamic8,block=256)", "rne", dynamic8)


def microxcaling_cases(x):
    import torch
    from mx.elemwise_ops import _quantize_bfloat, _quantize_fp
    from mx.mx_ops import _quantize_mx
    torch.set_num_threads(1)
    source = torch.from_numpy(x)
    blocks = source.reshape(-1, 32)
    for mode, rounding in (("rne", "even"), ("rtz", "floor")):
        yield Case("microxcaling", "fp16", mode, lambda rounding=rounding:
                   _quantize_fp(source, exp_bits=5, mantissa_bits=10, round=rounding))
        yield Case("microxcaling", "bf16", mode, lambda rounding=rounding:
                   _quantize_bfloat(source, 16, round=rounding))
    for spec, name in (("mxfp8_e4m3", "fp8_e4m3"), ("mxfp8_e5m2", "fp8_e5m2"), ("mxfp6_e2m3", "fp6_e2m3"),
                       ("mxfp6_e3m2", "fp6_e3m2"), ("mxfp4", "fp4_e2m1"), ("mxint8", "int8")):
        yield Case("microxcaling", spec, "rne", lambda name=name:
                   _quantize_mx(blocks, 8, name, axes=[-1], block_size=32, round="even").reshape(-1))


# --------------------------------------------------------------------------------------------- peers in C and C++
# They are compiled with one of the files beside this one, which has loops over their functions.


def compiled(peer, compiler, sources, flags):
    """The peer's shared library, made once."""
    if peer not in compiled.made:
        path = os.path.join(compiled.folder, peer + ".so")
        command = [*shlex.split(compiler), "-O3", "-march=native", "-fPIC", "-shared", "-w", *flags, *sources,
                   "-o", path, "-lm"]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise OSError("not compiled: " + next((line for line in done.stderr.split("\n") if "error" in line), "?"))
        compiled.made[peer] = ctypes.CDLL(path)
    return compiled.made[peer]


compiled.made = {}


def beside(name):
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), name)


def posit_cases(peer, library, x):
    """Whatever the library has of the table of posits."""
    for spec, verbs in POSITS.items():
        source = x.astype(np.float64) if spec in WIDE else x
        y = np.empty_like(source)
        codes = [np.zeros(x.size, np.uint32) for _ in range(5)]  # operands and results, of any width up to 32

        def call(verb, result, *operands, name="posit" + spec[6:-1].replace(",", "_"), n=ctypes.c_size_t(x.size)):
            function = getattr(library, f"{name}_{verb}")
            pointers = [ctypes.c_void_p(a.ctypes.data) for a in operands] + [None] * (3 - len(operands))
            return lambda keep=(result, operands): function(n, *pointers, ctypes.c_void_p(result.ctypes.data))

        for operand, number in zip(codes, neighbours(source)):
            call("encode", operand, number)()
        decode = call("decode", y, codes[4])
        decoded = lambda decode=decode, y=y: (decode(), y)[1]
        for verb in verbs:
            if verb == "rne":
                yield Case(peer, spec, verb, call("round", y, source), lambda y=y: y)
            elif verb == "encode":
                yield Case(peer, spec, verb, call(verb, codes[4], source), decoded)
            elif verb == "decode":
                yield Case(peer, spec, verb, call(verb, y, codes[0]), lambda y=y: y)
            else:
                yield Case(peer, spec, verb, call(verb, codes[4], *operands_of(verb, codes[:4])), decoded)


def softposit_cases(x):
    """With the settings of its Makefile for Linux, but the options of optimisation."""
    source = os.path.join(os.environ["SOFTPOSIT"], "source")
    build = os.path.join(os.environ["SOFTPOSIT"], "build", "Linux-x86_64-GCC")
    files = [os.path.join(source, name) for name in sorted(os.listdir(source)) if name.endswith(".c")]
    flags = ["-DSOFTPOSIT_FAST_INT64", "-DINLINE_LEVEL=5"]
    flags += ["-I" + folder for folder in (build, os.path.join(source, "8086-SSE"), os.path.join(source, "include"))]
    library = compiled("softposit", os.environ.get("CC", "cc"), [beside("softposit.c")] + files, flags)
    yield from posit_cases("softposit", library, x)


def universal_cases(x):
    include = os.path.join(os.environ["UNIVERSAL"], "include", "sw")
    library = compiled("universal", os.environ.get("CXX", "c++"), [beside("universal.cpp")],
                       ["-std=c++20", "-I" + include])
    yield from posit_cases("universal", library, x)


def cpfloat_cases(x):
    library = compiled("cpfloat", os.environ.get("CC", "cc"), [beside("cpfloat.c")],
                       ["-I" + os.path.join(os.environ["CPFLOAT"], "src")])
    y = np.empty_like(x)
    for spec, *parameters in (("fp16", 11, -14, 15), ("bf16", 8, -126, 127), ("e5m2", 3, -14, 15), ("e4m3", 4, -6, 7)):
        for mode, number in (("rne", 1), ("rtz", 4), ("sr", 5)):
            yield Case("cpfloat", spec, mode, lambda arguments=(
                ctypes.c_size_t(x.size), ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data), *parameters,
                number): library.cpfloat_round(*arguments), lambda: y)


# Column; what it is made of: a package, or what a variable names; cases.
PEERS = (("numpy", "numpy", numpy_cases), ("ml_dtypes", "ml_dtypes", ml_dtypes_cases), ("torch", "torch", torch_cases),
         ("torch channels", "torch", torch_channel_cases), ("torch steps", "torch", torch_codes_cases),
         ("torchao", "torchao", torchao_cases), ("qtorch", "qtorch", qtorch_cases), ("gfloat", "gfloat", gfloat_cases),
         ("pychop", "pychop", pychop_cases), ("bitsandbytes", "bitsandbytes", bitsandbytes_cases),
         ("microxcaling", "$MICROXCALING", microxcaling_cases), ("softposit", "$SOFTPOSIT", softposit_cases),
         ("universal", "$UNIVERSAL", universal_cases), ("cpfloat", "$CPFLOAT", cpfloat_cases))


def commit(folder):
    """Of a copy that git made."""
    if not os.path.exists(os.path.join(folder, ".git")):
        return "?"
    done = subprocess.run(["git", "-C", folder, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or "?"


def version(package):
    if package.startswith("$"):
        return package[1:].lower(), commit(os.environ[package[1:]])
    try:
        return package, importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return package, "?"


def find(package):
    """Raises an error if the package, or the folder that the variable names, is not there."""
    if not package.startswith("$"):
        importlib.import_module(package)
    elif not os.path.isdir(os.environ.get(package[1:], "")):
        raise ImportError(f"the variable {package[1:]} names no folder with a copy of it")


def peer_cases(x, slow, missing):
    """The cases of those peers that are there and work, and are not known to be slow; why the others do not."""
    cases = []
    for name, package, make in PEERS:
        try:
            find(package)
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


def count_differences(peers, ours):
    """How many of a peer's results are other numbers than libfpemu's, where no chance is in it."""
    ours = {(case.spec, case.mode): case for case in ours}
    for case in peers:
        reference = ours[case.spec, case.mode]
        if case.mode == "sr":
            continue
        got = case.call()
        if case.result is not None:
            got = case.result()
        got = np.asarray(got.numpy() if hasattr(got, "numpy") else got)
        reference.call()
        want = reference.result()
        case.differ = int(np.count_nonzero(~((got == want) | (np.isnan(got) & np.isnan(want)))))


def run_size(fpemu, size, options, slow, missing, first):
    random, rounds = np.random.default_rng(20261120), options.rounds
    x = random.standard_normal(size).astype(np.float32)
    if options.magnitudes:
        x = np.ldexp(x, random.integers(-options.magnitudes, options.magnitudes + 1, size)).astype(np.float32)
    copy, wide = np.empty_like(x), x.astype(np.float64)
    copy_wide = np.empty_like(wide)
    yards = [Case("copy", "", "", lambda: np.copyto(copy, x)), Case("copy", "", "", lambda: np.copyto(copy_wide, wide))]
    peers = peer_cases(x, slow, missing)
    ours = list(fpemu_cases(fpemu, x, None if first else {(case.spec, case.mode) for case in peers}))
    count_differences(peers, ours)
    measure(yards + ours + peers, rounds)
    base, base_wide = (statistics.median(yard.seconds) for yard in yards)
    empty = statistics.median(timed(fpemu.quantize("fp16", "rne", x[:0], copy), 100) for _ in range(rounds))
    fastest = {(case.spec, case.mode): size / statistics.median(case.seconds) for case in ours}
    rows = []
    for case in ours + peers:
        speed = size / statistics.median(case.seconds)
        if speed < LEAST:
            slow.add((case.peer, case.spec, case.mode))
        rows.append({"elements": size, "format": case.spec, "mode": case.mode, "by": case.peer,
                     "elements_per_second": speed, "differ": case.differ,
                     "ratio_to_copy": speed * (base_wide if case.spec in WIDE else base) / size,
                     "libfpemu_ahead": fastest[case.spec, case.mode] / speed})
    return {"elements": size, "copy_elements_per_second": size / base,
            "copy_doubles_per_second": size / base_wide, "empty_call_seconds": empty, "rows": rows}


def processor():
    try:
        with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


# --------------------------------------------------------------------------------------------------------- printing


def print_table(formats, rows):
    columns = [name for name in ["libfpemu"] + [peer for peer, _, _ in PEERS]
               if any(row["by"] == name and row["format"] in formats for row in rows)]
    print("\n| format | mode | " + " | ".join(columns) + " |")
    print("|---|---" + "|---" * len(columns) + "|")
    for spec, verbs in formats.items():
        for verb in verbs:
            found = {row["by"]: row for row in rows if row["format"] == spec and row["mode"] == verb}
            cells = ["%.3g (%.2g)%s" % (found[name]["elements_per_second"] / 1e9, found[name]["ratio_to_copy"],
                                        "*" if found[name]["differ"] else "") if name in found else ""
                     for name in columns]
            if found:
                print(f"| {spec} | {verb} | " + " | ".join(cells) + " |")


def print_results(results):
    for part in results["sizes"]:
        print(f"\n### {part['elements']} elements, copy {part['copy_elements_per_second'] / 1e9:.2f} G/s, "
              f"of doubles {part['copy_doubles_per_second'] / 1e9:.2f} G/s")
        for formats in TABLES:
            if any(row["format"] in formats for row in part["rows"]):
                print_table(formats, part["rows"])
        close = [row for row in part["rows"] if row["by"] != "libfpemu" and row["libfpemu_ahead"] < AHEAD]
        print(f"\nLess than {AHEAD} times as fast as a peer is libfpemu in {len(close)} of "
              f"{sum(row['by'] != 'libfpemu' for row in part['rows'])} comparisons"
              + (", so many times as fast:" if close else "."))
        for row in sorted(close, key=lambda row: row["libfpemu_ahead"]):
            print(f"- {row['libfpemu_ahead']:.2g}: {row['format']} {row['mode']}, {row['by']}")
    print("\n10^9 elements a second, in parentheses the ratio to a copy of the array in the same run; one thread,")
    print("processor time. A star: some results are other numbers than libfpemu's. An empty call of libfpemu takes "
          f"{results['sizes'][0]['empty_call_seconds'] * 1e6:.2f} us here.")
    for row in results["sizes"][0]["rows"]:
        if row["differ"]:
            print(f"- other numbers: {row['by']}, {row['format']} {row['mode']}: {row['differ']} of {row['elements']}")
    for name, reason in results["missing"].items():
        print(f"- not measured: {name} ({reason})")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--sizes", default=f"{1 << 15},{1 << 24}")
    parser.add_argument("--magnitudes", metavar="N", type=int, default=0)
    options = parser.parse_args()
    fpemu = Fpemu(os.path.abspath(options.library))
    missing = {}
    np.seterr(all="ignore")  # of the peers
    if os.environ.get("MICROXCALING"):
        sys.path.append(os.environ["MICROXCALING"])
    slow, sizes = set(), []
    with tempfile.TemporaryDirectory() as compiled.folder:
        for size in options.sizes.split(","):
            sizes.append(run_size(fpemu, int(size), options, slow, missing, not sizes))
    results = {"date": time.strftime("%Y-%m-%d", time.gmtime()), "processor": processor(),
               "loops": fpemu.library.fpemu_variant().decode(), "python": platform.python_version(),
               "commit": commit(beside(os.path.join("..", ".."))),
               "versions": dict(version(package) for name, package, _ in PEERS if name not in missing),
               "missing": missing, "sizes": sizes}
    versions = ", ".join(f"{p} {v}" for p, v in results["versions"].items())
    head = f"{results['date']}, {results['processor']}, commit {results['commit']}, {results['loops']} loops, " \
           f"Python {results['python']}; {versions}"
    print(textwrap.fill(head, 120, break_on_hyphens=False))
    print_results(results)
    if options.json:
        with open(options.json + ".new", "w", encoding="ascii") as file:
            json.dump(results, file, indent=1)
        os.replace(options.json + ".new", options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
