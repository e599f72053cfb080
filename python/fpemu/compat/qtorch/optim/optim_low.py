# SPDX-License-Identifier: BSD-2-Clause
"""An optimiser whose weights, gradients, momentum and accumulators are rounded."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import torch
from torch.optim import SGD, Adam, Optimizer

from ..number import require

__all__ = ["OptimLP"]

Quant: TypeAlias = "Callable[[torch.Tensor], torch.Tensor] | None"


class OptimLP(Optimizer):
    """Wraps an optimiser (torch.optim.SGD or Adam) and rounds what it reads and writes.

    weight_quant, momentum_quant: applied to weights, and to momentum (SGD) or both moments (Adam), after a step.
    grad_quant: applied to gradients, times grad_scaling, before a step. acc_quant: a second copy of every weight is
    kept, which the optimiser updates; acc_quant is applied to it, and weight_quant makes the weight of it. None leaves
    a tensor as it is.
    """

    def __init__(self, optim: Optimizer, weight_quant: Quant = None, grad_scaling: float = 1.0,
                 grad_quant: Quant = None, momentum_quant: Quant = None, acc_quant: Quant = None) -> None:
        require(isinstance(optim, (SGD, Adam)), f"OptimLP wraps SGD or Adam, not {type(optim).__name__}")
        require(grad_scaling > 0, f"grad_scaling {grad_scaling} is not above 0")
        super().__init__(optim.param_groups, optim.defaults)
        self.param_groups = optim.param_groups  # one list of groups: schedulers change the wrapped optimiser's rates
        self.optim = optim
        self.grad_scaling = grad_scaling
        self.weight_quant, self.grad_quant = weight_quant, grad_quant
        self.momentum_quant, self.acc_quant = momentum_quant, acc_quant
        self.momentum_keys = ["momentum_buffer"] if isinstance(optim, SGD) else ["exp_avg", "exp_avg_sq"]
        if acc_quant is not None:
            self.weight_acc = {p: p.detach().clone() for _, p in self._parameters()}

    def _parameters(self) -> Iterator[tuple[dict[str, Any], torch.nn.Parameter]]:
        for group in self.param_groups:
            for p in group["params"]:
                yield group, p

    def step(self, closure: Any = None) -> Any:
        """One step of the wrapped optimiser: gradients are rounded before, accumulators, weights and momentum after.
        A closure is refused: what it computes would not be rounded."""
        if closure is not None:
            raise NotImplementedError("OptimLP.step takes no closure: its gradients would not be rounded")
        if self.grad_quant is not None:
            for _, p in self._parameters():
                if p.grad is not None:
                    p.grad.data = self.grad_quant(p.grad.data * self.grad_scaling)
        if self.acc_quant is not None:
            for _, p in self._parameters():
                p.data = self.weight_acc[p].data
        loss: Any = self.optim.step()
        if self.acc_quant is not None:
            for _, p in self._parameters():
                p.data = self.weight_acc[p].data = self.acc_quant(p.data).data
        if self.weight_quant is not None:
            for _, p in self._parameters():
                p.data = self.weight_quant(p.data).data
        if self.momentum_quant is not None:
            for group, p in self._parameters():
                if p.grad is None or (isinstance(self.optim, SGD) and group["momentum"] == 0):
                    continue
                state = self.optim.state[p]
                for key in self.momentum_keys:
                    state[key] = self.momentum_quant(state[key])
        return loss

    def __repr__(self) -> str:
        return f"LP Optimizer: {self.optim!r}"

    __str__ = __repr__
