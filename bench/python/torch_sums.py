# SPDX-License-Identifier: BSD-2-Clause
"""Steps through fpemu.torch with an accumulator, forward and backward, as ratios to PyTorch's step of the same round.

    OMP_NUM_THREADS=1 python bench/python/torch_sums.py [ACCUMULATOR...]

conv2d of 8 x 64 x 16 x 16 by 64 kernels of 3 x 3, padded; scaled_dot_product_attention of 4 x 4 heads, 128 places of 32
numbers, causal. One thread, processor time, medians of 7 rounds.
"""

import statistics
import sys
import time
from collections.abc import Callable

import fpemu.torch as ft
import torch
from torch import Tensor


def seconds(step: Callable[..., Tensor], leaves: list[Tensor], **how: object) -> float:
    """Of a step and its gradients."""
    start = time.process_time()
    for _ in range(2):
        step(*leaves, **how).sum().backward()
    return time.process_time() - start


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(1)
    functional = torch.nn.functional
    shapes = {"conv2d": [(8, 64, 16, 16), (64, 64, 3, 3)], "scaled_dot_product_attention": [(4, 4, 128, 32)] * 3}
    for name, sizes in shapes.items():
        how = {"padding": 1} if name == "conv2d" else {"is_causal": True}
        leaves = [torch.randn(size, requires_grad=True) for size in sizes]
        for accumulator in sys.argv[1:] or ["fp32", "tc(h100,fp16)", "seq(fp16)"]:
            own = ft.Product(accumulator=accumulator)
            recipe = ft.Recipe(forward=own, data_gradient=own, weight_gradient=own)
            emulated, real = getattr(ft.functional, name), getattr(functional, name)
            ratios = [seconds(emulated, leaves, recipe=recipe, **how) / seconds(real, leaves, **how) for _ in range(8)]
            print(f"{name:30}{accumulator:20}{statistics.median(ratios[1:]):6.1f}")


if __name__ == "__main__":
    main()
