# SPDX-License-Identifier: BSD-2-Clause
"""optimizer: any optimiser of torch.optim, its state and the parameters held in number formats."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from .._format import named
from . import operators
from ._spec import check_seed
from .recipe import Target, read_target

__all__ = ["optimizer", "LowPrecisionOptimizer"]

# Streams of a parameter's tensors, counted from the parameter's first; a step moves on by STEP.
_WEIGHT, _MASTER, _STATE = 0, 1, 2
_PARAMETER = 1 << 40
_STEP = 64


def _target(target: Any) -> Target | None:
    text = named(target)
    return None if text is None or text == "fp32" else read_target(text)


def _exchange_data(a: Any, b: Any) -> None:
    """Of tensors that hold others, as a DTensor does, the data of those: their own is nothing."""
    if is_traceable_wrapper_subclass(a):
        for name in a.__tensor_flatten__()[0]:
            if isinstance(getattr(a, name), Tensor):  # not the mesh
                _exchange_data(getattr(a, name), getattr(b, name))
    else:
        a.data, b.data = b.data, a.data


class LowPrecisionOptimizer(torch.optim.Optimizer):
    """Any optimiser of torch.optim with its tensors in number formats, rounded after every step.

    opt
        made as usual, on the parameters of the model.
    state
        target of the tensors that the optimiser keeps for a parameter, those of the parameter's shape, such as
        "bf16/sr", or of single ones by name: {"exp_avg": "codebook(dynamic8,2048)/sr"}; "*" for all others. A name that
        the optimiser does not keep is warned of at the first step.
    parameters
        target of the parameters that the model sees. None: they are left alone.
    master
        with parameters: what the copies are held in that the optimiser updates ("fp32": as they are), or None for no
        copies: the parameters themselves are updated, then rounded. Without parameters it is the target of the
        parameters themselves: "bf16/sr" is training in bfloat16 with stochastic rounding. What is written to parameters
        between steps, as when a model is loaded, is written to copies too, but what goes through ``.data`` is not seen.
    seed
        of stochastic rounding, 0 .. 2^63 - 1. Every tensor and step has a stream of its own, so a run resumed from
        state_dict gives the same bits.

    Tensors stay float32 (or what they are) and hold numbers of the formats; formats with blocks take a tensor as a
    vector, as Low-Precision Model Memory has it (Li et al.): state="group(int8,2048)/sr" for SGD's momentum. An
    optimiser that mixes parameters in fused steps works, one that calls its closure several times does not: TypeError
    for LBFGS.

    It shares param_groups and state with the optimiser that it wraps, so schedulers, and code that reads or changes
    either, work on it. ``inner`` is that optimiser.
    """

    def __init__(self, opt: torch.optim.Optimizer, state: str | Mapping[str, str | None] | None = None,
                 master: str | None = "fp32", *, parameters: str | None = None, seed: int = 0) -> None:
        if isinstance(opt, LowPrecisionOptimizer):
            raise TypeError("the optimiser holds its tensors in formats already")
        if isinstance(opt, torch.optim.LBFGS):
            raise TypeError("LBFGS moves the parameters inside its step: its tensors cannot be rounded between")
        check_seed(seed)
        self.inner = inner = opt
        by_name = state if isinstance(state, Mapping) else {} if state is None else {"*": state}
        self._formats = {key: _target(text) for key, text in by_name.items()}
        self._master = _target(master)
        self._parameters = _target(parameters)
        self._unmet = set(self._formats) - {"*"}  # names of states that no parameter had yet
        self._copies = master is not None and self._parameters is not None
        self._seed = seed
        self._steps = 0
        self._masters: dict[Tensor, Tensor] = {}
        self._versions: dict[Tensor, int] = {}  # of parameters when they were rounded from their copies
        super().__init__(inner.param_groups, inner.defaults)
        self.param_groups = inner.param_groups
        self.state = inner.state
        self._hold()

    def _all(self) -> list[Tensor]:
        return [p for group in self.param_groups for p in group["params"]]

    def _round_(self, x: Tensor, target: Target, number: int, which: int) -> None:
        random = None
        if target.stochastic:
            stream = number * _PARAMETER + self._steps * _STEP + which
            random = torch.tensor([self._seed, stream, 0], dtype=torch.int64)
        flat = x.detach()
        if target.blocked:
            flat = flat.reshape(-1)
        x.copy_(operators.quantize(flat, target.format, target.rounding, state=random).view_as(x))

    @torch.no_grad()
    def _hold(self) -> None:
        """Makes the copies of parameters that have none, and rounds what the model sees."""
        for number, p in enumerate(self._all()):
            if p.is_complex():
                raise TypeError("complex parameters are not rounded: torch.view_as_real shows their parts")
            if not p.is_floating_point() or p in self._masters:
                continue
            if self._copies:
                self._masters[p] = p.detach().clone()
                self._round_copy(p, number)
            elif self._parameters is not None:
                self._round_(p, self._parameters, number, _WEIGHT)

    @torch.no_grad()
    def _follow(self) -> None:
        """What others have written to parameters, such as a checkpoint of the model, becomes that of the copies."""
        for number, p in enumerate(self._all()):
            copy = self._masters.get(p)
            if copy is not None and p._version != self._versions.get(p):
                shown = copy.clone()
                self._show(shown, copy, number)
                copy.copy_(torch.where(p == shown, copy, p))
                self._versions[p] = p._version

    @torch._disable_dynamo  # compiled, it would not see what it has changed
    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """A step of the wrapped optimiser on the copies, or on the parameters themselves where there are none; then
        everything is rounded to its format. A closure sees the rounded parameters, once: TypeError for LBFGS."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        held = self._all()
        if self._copies:
            self._hold()
            self._follow()
            self._exchange(held)
        try:
            self.inner.step()
        finally:
            if self._copies:
                self._exchange(held)
        self._steps += 1
        for number, p in enumerate(held):
            if p.is_floating_point():
                self._round_all(p, number)
        if self._unmet and any(p.grad is not None and p.is_floating_point() for p in held):
            kept = sorted({str(key) for state in self.state.values() for key in state})
            warnings.warn(f"the optimiser keeps no {', '.join(sorted(self._unmet))}, for which state= has a format: it "
                          f"keeps {', '.join(kept) or 'nothing'}", stacklevel=2)
            self._unmet = set()
        return loss

    def _exchange(self, held: list[Tensor]) -> None:
        """Copies become the data of the parameters, and the data the copies, without a copy of either."""
        for p in held:
            if p in self._masters:
                _exchange_data(p, self._masters[p])

    def _round_all(self, p: Tensor, number: int) -> None:
        if self._formats:
            for which, (key, tensor) in enumerate(sorted(self.state.get(p, {}).items(), key=lambda item: str(item[0]))):
                self._unmet.discard(key)
                target = self._formats.get(key, self._formats.get("*"))
                if target is None or not isinstance(tensor, Tensor) or not tensor.is_floating_point():
                    continue
                if tensor.shape == p.shape and tensor.dim() > 0:
                    self._round_(tensor, target, number, _STATE + which)
        if p in self._masters:
            self._round_copy(p, number)
            return
        for target, which in ((self._master, _MASTER), (self._parameters, _WEIGHT)):
            if target is not None:
                self._round_(p, target, number, which)

    def _round_copy(self, p: Tensor, number: int) -> None:
        """Rounds a copy, and its parameter from it."""
        copy = self._masters[p]
        if self._master is not None:
            self._round_(copy, self._master, number, _MASTER)
        self._show(p, copy, number)
        self._versions[p] = p._version

    def _show(self, x: Tensor, copy: Tensor, number: int) -> None:
        """x becomes what the model sees of a copy."""
        x.copy_(copy)
        if self._parameters is not None:
            self._round_(x, self._parameters, number, _WEIGHT)

    def zero_grad(self, set_to_none: bool = True) -> None:
        self.inner.zero_grad(set_to_none)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        if not hasattr(self, "_masters") or self.param_groups is not self.inner.param_groups:
            super().add_param_group(param_group)  # while it is made
            return
        self.inner.add_param_group(param_group)
        self._hold()

    def masters(self) -> list[Tensor]:
        """The copies in the order of the parameters; the parameters themselves where there are none."""
        self._follow()
        return [self._masters.get(p, p) for p in self._all()]

    _OWN = ("inner", "_formats", "_master", "_parameters", "_copies", "_unmet", "_seed", "_steps", "_masters")

    def __getstate__(self) -> dict[str, Any]:
        """For copy and pickle. As of torch's optimisers, hooks stay behind."""
        return {name: self.__dict__[name] for name in self._OWN}

    def __setstate__(self, state: dict[str, Any]) -> None:
        inner = state["inner"]
        super().__setstate__({**state, "_versions": {}, "defaults": inner.defaults, "param_groups": inner.param_groups,
                              "state": inner.state})

    def state_dict(self) -> dict[str, Any]:
        """That of the wrapped optimiser, and under "fpemu" the number of steps, the seed and the copies."""
        self._follow()
        out = dict(self.inner.state_dict())
        copies = [self._masters[p] if p in self._masters else None for p in self._all()]
        out["fpemu"] = {"steps": self._steps, "seed": self._seed, "masters": copies if self._masters else []}
        return out

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes a state_dict of this class, whose copies the parameters follow, or of the wrapped optimiser alone; then
        the copies are the parameters as they are. ValueError where the copies are not those of these parameters, or the
        seed is none; nothing is changed then."""
        own = state_dict.get("fpemu", {})
        held = self._all()
        copies = own.get("masters", [])
        if copies and len(copies) != len(held):
            raise ValueError(f"the checkpoint has {len(copies)} master copies for {len(held)} parameters")
        for p, copy in zip(held, copies):
            if copy is not None and copy.shape != p.shape:
                raise ValueError(f"a master copy has the shape {tuple(copy.shape)}, its parameter {tuple(p.shape)}")
        steps, seed = int(own.get("steps", 0)), int(own.get("seed", self._seed))
        check_seed(seed)
        self.inner.load_state_dict({key: value for key, value in state_dict.items() if key != "fpemu"})
        self.param_groups, self.state = self.inner.param_groups, self.inner.state
        self._steps, self._seed = steps, seed
        if self._copies:
            for number, p in enumerate(held):
                given = copies[number] if copies else None
                kept = self._masters.get(p)
                if kept is not None:
                    kept.copy_(p.detach() if given is None else given)
                if given is not None:
                    self._show(p.detach(), kept, number)


optimizer = LowPrecisionOptimizer
