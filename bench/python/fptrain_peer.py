# SPDX-License-Identifier: BSD-2-Clause
"""Training steps of the trainer's networks in PyTorch, taken when asked for (fptrain_steps.py asks).

    python bench/python/fptrain_peer.py MODEL SHAPE BATCH THREADS fp32|fp8

As bench/fptrain: each line on standard input is a number of steps, the answer a line with the seconds of each and the
largest memory of the process so far, in bytes. fp8 is QPyTorch: what every module puts out and its gradient, every
parameter (with a master copy) and its gradient, to nearest, of 4 exponent bits and 3 of the mantissa forward, 5 and 2
backward, at a fixed loss scale; it counts nothing.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

SCALE = 1024.0


class Add(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return a + b


class Shortcut(nn.Module):
    """Every stride-th pixel, and zeros for the channels that are new."""

    def __init__(self, new: int, stride: int) -> None:
        super().__init__()
        self.new, self.stride = new, stride

    def forward(self, x: Tensor) -> Tensor:
        return F.pad(x[:, :, ::self.stride, ::self.stride], (0, 0, 0, 0, 0, self.new))


class Means(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.mean((2, 3))


def unit(inner: int, outer: int, kernel: int, stride: int = 1, then: type[nn.Module] | None = nn.ReLU,
         groups: int = 1) -> nn.Sequential:
    """A convolution with batch normalisation and maybe an activation."""
    parts = [nn.Conv2d(inner, outer, kernel, stride, kernel // 2, groups=groups, bias=False), nn.BatchNorm2d(outer)]
    return nn.Sequential(*parts, *([then()] if then else []))


class Residual(nn.Module):
    def __init__(self, inner: int, outer: int, stride: int, projections: bool) -> None:
        super().__init__()
        self.first, self.second = unit(inner, outer, 3, stride), unit(outer, outer, 3, then=None)
        self.by: nn.Module = nn.Identity()
        if stride > 1 or inner != outer:
            self.by = unit(inner, outer, 1, stride, None) if projections else Shortcut(outer - inner, stride)
        self.add, self.relu = Add(), nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        return self.relu(self.add(self.second(self.first(x)), self.by(x)))


def residual_network(widths: list[int], blocks: int, projections: bool) -> nn.Module:
    layers: list[nn.Module] = [unit(3, widths[0], 3)]
    inner = widths[0]
    for stage, outer in enumerate(widths):
        for i in range(blocks):
            layers.append(Residual(inner, outer, 2 if stage and not i else 1, projections))
            inner = outer
    return nn.Sequential(*layers, Means(), nn.Linear(inner, 10))


class Inverted(nn.Module):
    def __init__(self, inner: int, outer: int, expansion: int, stride: int) -> None:
        super().__init__()
        wide = expansion * inner
        self.body = nn.Sequential(unit(inner, wide, 1, then=nn.ReLU6),
                                  unit(wide, wide, 3, stride, nn.ReLU6, groups=wide), unit(wide, outer, 1, then=None))
        self.plain = stride > 1
        self.by: nn.Module = nn.Identity() if inner == outer else unit(inner, outer, 1, then=None)
        if self.plain:
            self.by = nn.Identity()
        self.add = Add()

    def forward(self, x: Tensor) -> Tensor:
        y = self.body(x)
        return y if self.plain else self.add(y, self.by(x))


def mobilenetv2() -> nn.Module:
    layers: list[nn.Module] = [unit(3, 32, 3, then=nn.ReLU6)]
    inner = 32
    for expansion, outer, blocks, stride in ((1, 16, 1, 1), (6, 24, 2, 1), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
                                             (6, 160, 3, 2), (6, 320, 1, 1)):
        for i in range(blocks):
            layers.append(Inverted(inner, outer, expansion, 1 if i else stride))
            inner = outer
    return nn.Sequential(*layers, unit(inner, 1280, 1, then=nn.ReLU6), Means(), nn.Linear(1280, 10))


def lenet() -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                         nn.Linear(84, 10))


class First(nn.Module):
    def forward(self, x: tuple[Tensor, object]) -> Tensor:
        return x[0]


def charlstm() -> nn.Module:
    return nn.Sequential(nn.Embedding(128, 64), nn.LSTM(64, 128, batch_first=True), First(), nn.Linear(128, 128))


class Attention(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        n, steps, wide = x.shape
        q, k, v = (t.view(n, steps, 4, -1).transpose(1, 2) for t in x.chunk(3, -1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return y.transpose(1, 2).reshape(n, steps, wide // 3)


class Layer(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.attention = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 3 * width), Attention(),
                                       nn.Linear(width, width))
        self.inner = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.ReLU(),
                                   nn.Linear(4 * width, width))
        self.add1, self.add2 = Add(), Add()

    def forward(self, x: Tensor) -> Tensor:
        x = self.add1(x, self.attention(x))
        return self.add2(x, self.inner(x))


class Places(nn.Module):
    def __init__(self, steps: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(0.02 * torch.randn(steps, width))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.weight


def chargpt(steps: int) -> nn.Module:
    return nn.Sequential(nn.Embedding(128, 128), Places(steps, 128), *(Layer(128) for _ in range(4)),
                         nn.LayerNorm(128), nn.Linear(128, 128))


MODELS: dict[str, Callable[[int], nn.Module]] = {
    "lenet": lambda steps: lenet(),
    "resnet20": lambda steps: residual_network([16, 32, 64], 3, False),
    "resnet18": lambda steps: residual_network([64, 128, 256, 512], 2, True),
    "mobilenetv2": lambda steps: mobilenetv2(),
    "charlstm": lambda steps: charlstm(),
    "chargpt": chargpt,
}


def draw(shape: str, batch: int) -> tuple[Tensor, Tensor]:
    """Images of 10 classes, or texts of 128 characters."""
    if "x" in shape:
        return torch.randn(batch, *map(int, shape.split("x"))), torch.randint(10, (batch,))
    return torch.randint(128, (batch, int(shape))), torch.randint(128, (batch, int(shape)))


def stepper_fp32(model: nn.Module, x: Tensor, target: Tensor) -> Callable[[], None]:
    optimizer = torch.optim.SGD(model.parameters(), 1e-3, momentum=0.9)

    def step() -> None:
        optimizer.zero_grad()
        F.cross_entropy(model(x).flatten(0, -2), target.flatten()).backward()
        optimizer.step()

    return step


def stepper_fp8(model: nn.Module, x: Tensor, target: Tensor) -> Callable[[], None]:
    from qtorch.quant import float_quantize

    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx: object, x: Tensor) -> Tensor:
            return float_quantize(x.contiguous(), 4, 3, "nearest")

        @staticmethod
        def backward(ctx: object, g: Tensor) -> Tensor:
            return float_quantize(g.contiguous(), 5, 2, "nearest")

    def round_output(module: nn.Module, args: object, out: object) -> object:
        if isinstance(module, (nn.Flatten, First, nn.Identity)):
            return None
        return (Both.apply(out[0]), *out[1:]) if isinstance(out, tuple) else Both.apply(out)

    for module in model.modules():
        if not any(module.children()):
            module.register_forward_hook(round_output)
    fed = float_quantize(x, 4, 3, "nearest") if x.is_floating_point() else x
    parameters = list(model.parameters())
    masters = [nn.Parameter(p.detach().clone()) for p in parameters]
    optimizer = torch.optim.SGD(masters, 1e-3 / SCALE, momentum=0.9)

    def step() -> None:
        with torch.no_grad():
            for p, master in zip(parameters, masters):
                p.copy_(float_quantize(master.detach(), 4, 3, "nearest"))
                p.grad = None
        (SCALE * F.cross_entropy(model(fed).flatten(0, -2), target.flatten())).backward()
        for p, master in zip(parameters, masters):
            assert p.grad is not None
            master.grad = float_quantize(p.grad, 5, 2, "nearest")
        optimizer.step()

    return step


def peak_bytes() -> int:
    """VmHWM of Linux; 0 elsewhere."""
    try:
        with open("/proc/self/status") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0


def main() -> None:
    name, shape, batch, threads, way = sys.argv[1:]
    torch.set_num_threads(int(threads))
    torch.manual_seed(1)
    x, target = draw(shape, int(batch))
    model = MODELS[name](x.shape[1])
    step = (stepper_fp8 if way == "fp8" else stepper_fp32)(model, x, target)
    for line in sys.stdin:
        for _ in range(int(line)):
            start = time.perf_counter()
            step()
            print(f"{time.perf_counter() - start:.9g}", end=" ")
        print(peak_bytes(), flush=True)


if __name__ == "__main__":
    main()
