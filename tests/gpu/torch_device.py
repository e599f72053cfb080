# SPDX-License-Identifier: BSD-2-Clause
"""What a device shows of fpemu.torch beside tests/python/test_torch_device.py, a line for each result; the status is 1
where one is wrong. The processor, where kernels are played, has no graphs: there the work runs itself.

    python tests/gpu/torch_device.py graphs compile waits [--device cuda] [--size 1048576]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import fpemu
import fpemu.torch as ft
import torch
from torch import nn

FORMATS = ("e4m3fn", "mxfp8", "nvfp4", "scaled(int8)", "codebook(nf4)")
wrong = []


def tell(step: str, what: str, right: bool) -> None:
    print(f"{step}: {what}: {'alike' if right else 'WRONG'}", flush=True)
    wrong.extend([what] * (not right))


def captured(work: Callable[[], object], device: torch.device) -> tuple[object, Callable[[], object]]:
    """The results of work in a CUDA graph, and what replays it."""
    if device.type == "cpu":
        return (found := work()), lambda: [a.copy_(b) for a, b in zip(found, work())]
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = work()
    return found, graph.replay


def graphs(device: torch.device, size: int) -> None:
    """Replays read new numbers and add to the counters; random bits are refused."""
    for spec in FORMATS:
        x, stats = torch.randn(4, size // 4, device=device), ft.new_stats(device=device)
        found, replay = captured(lambda: (ft.quantize(x, spec, stats=stats), ft.pack(x, spec)), device)
        ft.clear_stats(stats)
        right = True
        for power in range(3):
            x.copy_(torch.randn(4, size // 4) * 3**power)
            replay()
            want = ft.quantize(x, spec), ft.pack(x, spec)
            right &= all(torch.equal(a, b) for a, b in zip(found, want))
        tell("graphs", spec, right and ft.read_stats(stats).count == 3 * x.numel())
    a = torch.randn(64, 64, device=device)
    (product,), replay = captured(lambda: (ft.matmul(a, a, "seq(bf16)"),), device)
    a.mul_(3)
    replay()
    tell("graphs", "seq(bf16)", torch.equal(product, ft.matmul(a, a, "seq(bf16)")))
    if device.type == "cuda":
        try:
            captured(lambda: ft.quantize(a, "e4m3fn", "sr"), device)
        except fpemu.Error as error:
            tell("graphs", "sr is refused", "CUDA graph" in str(error))
        else:
            tell("graphs", "sr is refused", False)


def compile(device: torch.device, size: int) -> None:
    """Compiled functions and steps give the bits of eager ones."""
    product = ft.Product(accumulator="seq(bf16)")
    how = {"fullgraph": True, "backend": "inductor" if device.type == "cuda" else "aot_eager"}
    for spec in FORMATS:
        work = torch.compile(lambda x: ft.quantize(x.relu() * 2, spec) + 1, **how)
        x = torch.randn(4, size // 4, device=device)
        tell("compile", spec, torch.equal(work(x), ft.quantize(x.relu() * 2, spec) + 1))
    recipe = ft.Recipe("mxfp8", forward=product, data_gradient=product, weight_gradient=product)
    torch.manual_seed(1)
    layer = ft.convert(nn.Linear(64, 64, False).to(device), recipe)
    x, gradients = torch.randn(8, 64, device=device), []
    for run in (layer, torch.compile(layer, **how)):
        layer.zero_grad()
        run(x).backward(torch.ones(8, 64, device=device))
        gradients.append(layer.weight.grad.clone())
    tell("compile", "a step of a layer", torch.equal(*gradients))


def waits(device: torch.device, size: int) -> None:
    """The host's time for a call that is enqueued, beside a cast's, and elements a second."""
    few, many = torch.randn(16, device=device), torch.randn(size, device=device)
    stats = ft.new_stats(device=device)
    calls = {"cast to bfloat16": lambda x: x.bfloat16(),
             "e4m3fn, counted": lambda x: ft.quantize(x, "e4m3fn", stats=stats),
             **{spec: lambda x, spec=spec: ft.quantize(x, spec) for spec in FORMATS}}
    for name, call in calls.items():
        times = []
        for x, repeats in ((few, 200), (many, 20)):
            call(x)
            torch.cuda.synchronize() if device.type == "cuda" else None
            start = time.perf_counter()
            for _ in range(repeats):
                call(x)
            if x is many and device.type == "cuda":
                torch.cuda.synchronize()
            times.append((time.perf_counter() - start) / repeats)
        print(f"waits: {name}: {1e6 * times[0]:.1f} us a call, {size / times[1] / 1e9:.2f} G elements a second")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = {"graphs": graphs, "compile": compile, "waits": waits}
    parser.add_argument("steps", nargs="+", choices=steps)
    parser.add_argument("--device", type=torch.device, default=torch.device("cuda"))
    parser.add_argument("--size", type=int, default=1 << 20)
    options = parser.parse_args()
    for step in options.steps:
        steps[step](options.device, options.size)
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
