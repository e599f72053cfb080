# SPDX-License-Identifier: BSD-2-Clause
"""Training steps of models converted by fpemu.torch, beside FP32 and beside other software where it is installed.

    OMP_NUM_THREADS=1 python bench/python/torch_steps.py [--rounds 15] [--models resnet18,gpt] [--ways fp32,fp8,qtorch]
    python bench/python/torch_steps.py --device cuda --models resnet18-256,gpt100m

Each round takes one step of every way in turn; printed are medians in milliseconds, and the median over the rounds of
the ratio to the FP32 step of the same round. "fp8" rounds every tensor of every layer (inputs, weights, biases, norms,
embeddings, attention, gradients) to E4M3 or E5M2 and counts all of them; "fp8-gemm" is the ready-made recipe:
operands of products only, not counted. Threads: OMP_NUM_THREADS, and torch's are set to the same. On a device FP32 has
no TF32, and the most memory of a step is told.

Of other software, "qtorch" is QPyTorch, "torchao-fp8" and "torchao-mxfp8" are torchao's emulated training: of linear
layers only, all three products of each. Of MX formats torchao 0.18 has layers for MXFP8 alone.
"""

from __future__ import annotations

import argparse
import copy
import os
import statistics
import time
from collections.abc import Callable, Collection

import fpemu.torch as ft
import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Block(nn.Module):
    """Two 3x3 convolutions with batch normalisation, and a shortcut."""

    def __init__(self, inner: int, outer: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outer)
        self.conv2 = nn.Conv2d(outer, outer, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outer)
        self.shortcut = nn.Sequential() if stride == 1 and inner == outer else nn.Sequential(
            nn.Conv2d(inner, outer, 1, stride, bias=False), nn.BatchNorm2d(outer))

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class ResNet18(nn.Module):
    """The ResNet-18 for images of 32 x 32: 11.2 million parameters (He et al. 2016, with a first kernel of 3 x 3)."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU())
        widths = (64, 64, 128, 256, 512)
        self.blocks = nn.Sequential(*(Block(widths[i] if j == 0 else widths[i + 1], widths[i + 1],
                                            2 if i and j == 0 else 1) for i in range(4) for j in range(2)))
        self.head = nn.Linear(512, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks(self.stem(x)).mean((2, 3)))


class Layer(nn.Module):
    """A transformer's layer, normalised before."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.attention = ft.DotProductAttention()
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        n, length, width = x.shape
        q, k, v = (t.view(n, length, self.heads, -1).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, -1))
        y = self.attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(n, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    """6 layers of width 384 on characters: 10.8 million parameters."""

    def __init__(self, vocabulary: int = 128, width: int = 384, layers: int = 6, heads: int = 6, length: int = 256):
        super().__init__()
        self.token, self.place = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.layers = nn.Sequential(*(Layer(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y = self.token(x) + self.place(torch.arange(x.shape[1], device=x.device))
        return self.head(self.norm(self.layers(y)))


EVERY = ft.recipe("fp8").replace(name="fp8", bias="e4m3fn:saturate", norm="e4m3fn:saturate",
                                 embedding="e4m3fn:saturate")


def ours(recipe: object, counted: bool) -> Callable[[nn.Module], nn.Module]:
    def make(model: nn.Module) -> nn.Module:
        ft.convert(model, recipe)
        if counted:
            ft.observe(model).__enter__()
        return model
    return make


class Both(torch.autograd.Function):
    """QPyTorch's nearest rounding, e4m3 forward and e5m2 backward."""

    @staticmethod
    def forward(ctx: object, x: Tensor) -> Tensor:
        from qtorch.quant import float_quantize
        return float_quantize(x, 4, 3, "nearest")

    @staticmethod
    def backward(ctx: object, g: Tensor) -> Tensor:
        from qtorch.quant import float_quantize
        return float_quantize(g.contiguous(), 5, 2, "nearest")


def qpytorch(model: nn.Module) -> nn.Module:
    """Inputs of every layer, its weights, and the gradients of both, as its examples do it: by hooks."""
    import qtorch.quant  # noqa: F401

    for module in model.modules():
        if not isinstance(module, (nn.Linear, nn.Conv2d, nn.LayerNorm, nn.BatchNorm2d)):
            continue
        module.register_forward_pre_hook(lambda m, args: (Both.apply(args[0].contiguous()),))
        nn.utils.parametrize.register_parametrization(module, "weight", Cast(), unsafe=True)
    return model


class Cast(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return Both.apply(x)


def torchao_fp8(model: nn.Module) -> nn.Module:
    from torchao.float8 import Float8LinearConfig, convert_to_float8_training

    refuse_convolutions(model)
    return convert_to_float8_training(model, config=Float8LinearConfig(emulate=True))


def torchao_mxfp8(model: nn.Module) -> nn.Module:
    from torchao.prototype.moe_training.mxfp8_linear import MXFP8Linear
    from torchao.prototype.mx_formats import ScaleCalculationMode
    from torchao.quantization.quantize_.common import KernelPreference

    refuse_convolutions(model)
    for name, module in list(model.named_modules()):
        if isinstance(module, nn.Linear):
            layer = MXFP8Linear(module.in_features, module.out_features, module.bias is not None,
                                kernel_preference=KernelPreference.EMULATED,
                                scale_calculation_mode=ScaleCalculationMode.FLOOR)
            layer.weight, layer.bias = module.weight, module.bias
            model.set_submodule(name, layer)
    return model


def refuse_convolutions(model: nn.Module) -> None:
    if any(isinstance(m, nn.Conv2d) for m in model.modules()):
        raise NotImplementedError("it has no convolutions")


WAYS: dict[str, Callable[[nn.Module], nn.Module]] = {
    "fp32": lambda model: model,
    "fp8": ours(EVERY, True),
    "fp8-gemm": ours("fp8", False),
    "mxfp8": ours("mxfp8", False),
    "nvfp4": ours("nvfp4", False),
    "qtorch": qpytorch,
    "torchao-fp8": torchao_fp8,
    "torchao-mxfp8": torchao_mxfp8,
}
MODELS = {
    "resnet18": (ResNet18, lambda: (torch.randn(32, 3, 32, 32), torch.randint(10, (32,)))),
    "gpt": (GPT, lambda: (torch.randint(128, (8, 256)), torch.randint(128, (8, 256)))),
    "tiny": (lambda: GPT(20, 16, 1, 2, 8), lambda: (torch.randint(20, (2, 8)), torch.randint(20, (2, 8)))),
    "resnet18-256": (ResNet18, lambda: (torch.randn(256, 3, 32, 32), torch.randint(10, (256,)))),
    "gpt100m": (lambda: GPT(10000, 768, 12, 12, 512),
                lambda: (torch.randint(10000, (8, 512)), torch.randint(10000, (8, 512)))),
}


def stepper(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Callable[[], float]:
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9)
    x, target = batch

    def step() -> float:
        wait(x.device)
        start = time.perf_counter()
        optimizer.zero_grad()
        F.cross_entropy(model(x).flatten(0, -2), target.flatten()).backward()
        optimizer.step()
        wait(x.device)
        return time.perf_counter() - start

    return step


def wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def most_memory(step: Callable[[], float], device: torch.device) -> str:
    """Of one step on a device, above what lies there before."""
    if device.type != "cuda":
        return ""
    before = torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    step()
    return f"  {(torch.cuda.max_memory_allocated(device) - before) / 2**20:8.0f} MiB"


def names_among(known: Collection[str]) -> Callable[[str], list[str]]:
    """A reader of names with commas between them, which refuses others."""
    def read(text: str) -> list[str]:
        names = text.split(",")
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
        return names
    return read


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--models", type=names_among(MODELS), default=["resnet18", "gpt"],
                        help=f"of {', '.join(MODELS)}")
    parser.add_argument("--device", type=torch.device, default=torch.device("cpu"))
    parser.add_argument("--ways", type=names_among(WAYS), default=list(WAYS), help=f"of {', '.join(WAYS)}")
    options = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    for name in options.models:
        make, draw = MODELS[name]
        torch.manual_seed(1)
        first, batch = make().to(options.device), tuple(t.to(options.device) for t in draw())
        steps = {}
        for way in options.ways:
            try:
                steps[way] = stepper(WAYS[way](copy.deepcopy(first)), batch)
                steps[way]()
            except Exception as error:  # noqa: BLE001 - other software may lack anything
                reason = str(error).partition("\n")[0][:80]
                print(f"{name:12} {way:14} not measured: {type(error).__name__}: {reason}")
                steps.pop(way, None)
        times: dict[str, list[float]] = {way: [] for way in steps}
        for _ in range(options.rounds):
            for way, step in steps.items():
                times[way].append(step())
        for way, found in times.items():
            ratio = statistics.median(a / b for a, b in zip(found, times["fp32"])) if "fp32" in times else float("nan")
            print(f"{name:12} {way:14} {1e3 * statistics.median(found):9.1f} ms  {ratio:6.2f}"
                  f"{most_memory(steps[way], options.device)}", flush=True)


if __name__ == "__main__":
    main()
