# SPDX-License-Identifier: BSD-2-Clause
"""Calls from Python, one thread: overhead on 64 numbers beside torch's own casts, and large arrays beside the C call.

Each row is measured in turns with the others, round after round; told are medians over the rounds, and the ratio within
this run. The C call goes through ctypes on addresses that lie ready, whose own overhead is measured on no elements and
taken off.
"""

import ctypes
import statistics
import time
from pathlib import Path

import fpemu
import numpy as np

try:
    import torch
    torch.set_num_threads(1)
except ImportError:
    torch = None

ROUNDS = 15


def measure(rows, seconds=0.02):
    """Microseconds a call, the median of rounds in which every row has its turn."""
    counts = {}
    for name, call in rows.items():
        call()
        start, n = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            call()
            n += 1
        counts[name] = max(n, 1)
    times = {name: [] for name in rows}
    for _ in range(ROUNDS):
        for name, call in rows.items():
            n = counts[name]
            start = time.perf_counter()
            for _ in range(n):
                call()
            times[name].append((time.perf_counter() - start) / n * 1e6)
    return {name: statistics.median(values) for name, values in times.items()}


def c_call(f, n):
    library = ctypes.CDLL(str(Path(fpemu.__file__).parent / "libfpemu.so"))
    struct = ctypes.create_string_buffer(256)
    library.fpemu_format_parse(f.encode(), struct, None)
    rounding = ctypes.create_string_buffer(64)
    function = library.fpemu_quantize_f32
    function.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p,
                         ctypes.c_void_p]
    a, b = ctypes.addressof(struct), ctypes.addressof(rounding)

    x, y = np.random.default_rng(0).standard_normal(max(n, 1)).astype(np.float32), np.zeros(max(n, 1), np.float32)
    from_x, to_y = x.ctypes.data, y.ctypes.data
    keep = struct, rounding, x, y

    def call():
        return function(a, b, n, from_x, to_y, None) if keep else None

    return call, x, y


def overhead():
    x = np.random.default_rng(0).standard_normal(64).astype(np.float32)
    f, out = fpemu.format("e4m3fn"), np.zeros(64, np.float32)
    call, _, _ = c_call("e4m3fn", 64)
    rows = {"C call by ctypes": call, "NumPy, new array": lambda: fpemu.quantize(x, f),
            "NumPy, format as text": lambda: fpemu.quantize(x, "e4m3fn", "rne"),
            "NumPy, out=": lambda: fpemu.quantize(x, f, out=out)}
    if torch:
        t = torch.from_numpy(x)
        rows["torch"] = lambda: fpemu.quantize(t, f)
        rows["torch's own to(float8_e4m3fn).to(float32)"] = lambda: t.to(torch.float8_e4m3fn).to(torch.float32)
        rows["torch.empty_like"] = lambda: torch.empty_like(t)
    times = measure(rows)
    print("64 binary32 numbers to e4m3fn: microseconds a call")
    for name, value in times.items():
        print(f"  {name:42} {value:7.3f}")
    if torch:
        ratio = times["torch"] / times["torch's own to(float8_e4m3fn).to(float32)"]
        print(f"  fpemu on a tensor takes {ratio:.2f} times as long as torch's casts there and back")


def large():
    print("large arrays into `out`, beside the C call: the ratio of times, 1 = the same")
    for n in (1 << 14, 1 << 20):
        for spec in ("e4m3fn", "bf16", "mxfp4"):
            call, x, y = c_call(spec, n)
            empty, _, _ = c_call(spec, 0)
            f = fpemu.format(spec)
            rows = {"c": call, "numpy": lambda x=x, y=y, f=f: fpemu.quantize(x, f, out=y), "empty": empty}
            if torch:
                t, u = torch.from_numpy(x), torch.from_numpy(y)
                rows["torch"] = lambda t=t, u=u, f=f: fpemu.quantize(t, f, out=u)
            times = measure(rows)
            c = times["c"] - times["empty"]
            others = "".join(f"  {name} {times[name] / c:.3f}" for name in ("numpy", "torch") if name in times)
            print(f"  {n:8} {spec:8} C {c:10.1f} us {others}")


if __name__ == "__main__":
    overhead()
    large()
