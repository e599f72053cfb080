# SPDX-License-Identifier: BSD-2-Clause
"""loss_scaler: fixed, dynamic (backoff), logmax and adaptive loss scaling, used as torch.amp.GradScaler is."""

from __future__ import annotations

import itertools
import math
from typing import Any

import torch
from torch import Tensor, nn

import fpemu

from . import _device
from .counters import new_stats, read_stats
from .functional import DATA_GRADIENT, GRADIENT, GRADIENT_AGAIN, SLOTS, WEIGHT_GRADIENT, Site
from .modules import Quantized

__all__ = ["loss_scaler", "LossScaler"]

KINDS = ("none", "fixed", "backoff", "logmax", "adaptive")
_LEAST, _LARGEST = 2.0**-24, 2.0**24  # of backoff
_GRADIENTS = (GRADIENT, DATA_GRADIENT, GRADIENT_AGAIN, WEIGHT_GRADIENT)


def _power_of_two(x: float) -> bool:
    return x > 0 and math.isfinite(x) and math.frexp(x)[0] == 0.5


def _has_scales(format: str) -> bool:
    """Scales follow the numbers: an element past its format's end is no overflow that a loss scale could mend."""
    return bool(fpemu.format(format).is_blocked)


def _ends(format: str) -> tuple[float, float]:
    """The smallest and the largest magnitude; with scales those of binary32."""
    f = fpemu.format("fp32" if _has_scales(format) else format)
    return float(f.smallest), float(f.max)


def _below(x: float) -> float:
    """The largest power of two that is no more than x."""
    return math.ldexp(1.0, math.frexp(x)[1] - 1)


class LossScaler:
    """A loss scaler with the methods of torch.amp.GradScaler: scale, unscale_, step, update, get_scale.

    kind
        none: 1, every step is taken. fixed: ``scale``. backoff: starts at ``scale`` (2^16), times ``backoff`` after a
        bad step, times ``growth`` after ``interval`` (2000) clean ones in a row, within [2^-24, 2^24] (Micikevicius et
        al. 2018; fptrain). logmax: log2 of the largest gradient of a parameter is taken for a normal variable, and kept
        3.09 deviations below ``max_finite`` (Kuchaiev et al. 2018), scales 1 .. 2^24. adaptive: the loss is not
        scaled; the gradient that arrives at each layer is multiplied by a power of two of its own while it is rounded:
        the least for which, were it normal, a share of ``underflow_target`` at most would become zero, but at least 1,
        and at most what keeps the largest inside the format; found at the first step, every ``interval`` (100) steps
        and after a bad one.
    model
        a converted model: an overflow of one of its gradients makes a step bad, as in fptrain, also where its format
        saturates, but not where the format has scales, which follow the numbers; and max_finite, if None, is that of
        its gradients, with scales that of float32. With or without it a gradient of a parameter that is not finite
        makes a step bad, as in GradScaler. Needed for adaptive. Compiled models are not watched. Ranks do not tell
        each other what overflowed in their layers: on several ranks leave the model out.

    The rule of adaptive is that of Zhao et al., "Adaptive loss scaling for mixed precision training", for the gradient
    itself in place of their forecast of it: gradients between layers are not in the narrow format here, so it can be
    measured, branches need no common scale, and those of parameters are not scaled. All scales are powers of two;
    ValueError for others, and for a kind that there is not.

    ``kind`` and ``skipped``, how many steps were not taken, are to be read.
    """

    def __init__(self, kind: str = "backoff", model: nn.Module | None = None, *, scale: float | None = None,
                 interval: int | None = None, growth: float = 2.0, backoff: float = 0.5,
                 max_finite: float | None = None, underflow_target: float = 1e-3) -> None:
        if kind not in KINDS:
            raise ValueError(f"no loss scaler is called '{kind}'; there are {', '.join(KINDS)}")
        start = {"fixed": scale, "backoff": 2.0**16 if scale is None else scale}.get(kind, 1.0)
        if start is None:
            raise ValueError("a fixed loss scale is told as scale=")
        if scale is not None and kind not in ("fixed", "backoff"):
            raise ValueError(f"{kind} finds its scale itself")
        if not _power_of_two(start):
            raise ValueError(f"a loss scale is a power of two; {start:g} is not")
        if kind == "backoff" and not _LEAST <= start <= _LARGEST:
            raise ValueError(f"backoff keeps its scale between 2^-24 and 2^24; {start:g} is outside")
        if not (_power_of_two(growth) and growth >= 1 and _power_of_two(backoff) and backoff <= 1):
            raise ValueError("growth and backoff are powers of two, at least and at most 1")
        if interval is not None and interval < 1:
            raise ValueError(f"an interval is at least one step, not {interval}")
        if not 0 < underflow_target < 1:
            raise ValueError(f"the share of underflow to aim at lies between 0 and 1; {underflow_target:g} does not")
        if max_finite is not None and not (max_finite > 0 and math.isfinite(max_finite)):
            raise ValueError(f"the largest gradient, max_finite, is above 0 and finite; {max_finite:g} is not")
        if kind == "adaptive" and model is None:
            raise ValueError("adaptive scales the gradient of each layer: it takes the model")
        self.kind = kind
        self.skipped = 0
        self._scale = float(start)
        self._interval = interval or (100 if kind == "adaptive" else 2000)
        self._growth, self._backoff = growth, backoff
        self._quantile = math.sqrt(2) * _erf_inverse(underflow_target)
        self._clean = self._seen = self._step = 0
        self._mean = self._slow_mean = self._square = 0.0
        self._unscaled: dict[int, tuple[bool, float]] = {}  # by optimiser: not finite, largest |gradient|
        self._known: dict[tuple[int, int, int], tuple[Any, int, int]] = {}  # how much overflowed up to the last look
        self._bad = False  # a gradient overflowed in this step
        self._watched: list[tuple[str, Site]] = []
        self._room = torch.finfo(torch.float32).max if max_finite is None else float(max_finite)
        if model is not None:
            self._watch(model, max_finite is None)

    # ---------------------------------------------------------------------------------------------- the layers

    def _watch(self, model: nn.Module, find_room: bool) -> None:
        for name, module in model.named_modules():
            if not isinstance(module, Quantized):
                continue
            for where, site in module._fpemu.sites.items():
                targets = [site.plan.target[slot] for slot in _GRADIENTS]
                if not any(targets):
                    continue
                self._watched.append((".".join(part for part in (name, where) if part), site))
                site.watch, site.watch_tensors = [None] * len(SLOTS), [None] * len(SLOTS)
                for slot in _GRADIENTS:
                    if _can_overflow(site, slot):
                        site.watch[slot] = fpemu.Stats()
                        site.watch_tensors[slot] = new_stats(device=_device.home(module, model))
                last = site.plan.target[WEIGHT_GRADIENT] or site.plan.target[GRADIENT]
                if find_room and last is not None:
                    self._room = min(self._room, _ends(last.format)[1])
                if self.kind == "adaptive":
                    site.scale = torch.ones(())
                    site.measure = True
        if not self._watched:
            raise ValueError("the model rounds no gradients: convert it first")

    def layer_scales(self) -> dict[str, float]:
        """Of adaptive: by what the gradient that arrives at a layer is multiplied while it is rounded, by its name."""
        return {name: float(site.scale) for name, site in self._watched if site.scale is not None}

    # ---------------------------------------------------------------------------------------------- as GradScaler

    def get_scale(self) -> float:
        """By what the loss of the next step is multiplied; a power of two."""
        return self._scale

    def scale(self, outputs: Any) -> Any:
        """The loss, or a list, tuple or dict of losses, times the scale."""
        if isinstance(outputs, Tensor):
            return outputs * self._scale
        if isinstance(outputs, dict):
            return {key: self.scale(value) for key, value in outputs.items()}
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(self.scale(value) for value in outputs)
        raise TypeError(f"losses are tensors, not {type(outputs).__name__}")

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        """Divides the gradients of an optimiser's parameters by the scale, in place, say to clip them. RuntimeError for
        a second time before update()."""
        if id(optimizer) in self._unscaled:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        tops: list[Tensor] = []
        for group in optimizer.param_groups:
            for p in group["params"]:
                g = p.grad
                if g is None:
                    continue
                g = g._values() if g.is_sparse else g
                g.mul_(1 / self._scale)
                if g.numel():
                    tops.append(_largest(g.detach()))
        found = torch.stack([top.to(tops[0].device, torch.float64) for top in tops]).tolist() if tops else []
        finite = [top for top in found if math.isfinite(top)]
        self._unscaled[id(optimizer)] = len(finite) < len(found), max(finite, default=0.0)

    def step(self, optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> Any:
        """optimizer.step(), its gradients unscaled, or nothing: backoff leaves out every step in which a gradient was
        not finite or, given the model, overflowed; the other kinds those whose gradients of parameters are not finite;
        none leaves out none."""
        if id(optimizer) not in self._unscaled:
            self.unscale_(optimizer)
        bad = self._unscaled[id(optimizer)][0]
        self._bad = self._overflowed() or self._bad
        if self.kind == "backoff":
            bad = bad or self._bad
        if bad and self.kind != "none":
            self.skipped += 1
            return None
        return optimizer.step(*args, **kwargs)

    def _overflowed(self) -> bool:
        """Whether a gradient overflowed since the last time. Counters may be those of observe, which begin anew."""
        due: list[tuple[Any, Any, int, int]] = []
        for _, site in self._watched:
            held = (site.counters or site.watch, site.tensors or site.watch_tensors)
            for kind, slot in itertools.product(range(2), _GRADIENTS):
                lent, key = held[kind], (id(site), slot, kind)
                counts = lent[slot] if lent is not None and _can_overflow(site, slot) else None
                known, before, written = self._known.get(key, (None, 0, 0))
                version = counts._version if isinstance(counts, Tensor) else -1
                if counts is None or (known is counts and version == written):  # a tensor that nothing was added to
                    continue
                due.append((key, counts, before if known is counts else 0, max(version, 0)))
        found = False
        for (key, counts, before, version), now in zip(due, _overflows([counts for _, counts, _, _ in due])):
            found = found or now > before
            self._known[key] = counts, now, version
        return found

    def update(self, new_scale: float | None = None) -> None:
        """Ends the step: finds the next scale, or takes the one given. RuntimeError where no gradients were looked at
        since the last time."""
        if new_scale is None and not self._unscaled:
            raise RuntimeError("No gradients were recorded prior to update.")
        bad = self._overflowed() or self._bad or any(found[0] for found in self._unscaled.values())
        largest = max((found[1] for found in self._unscaled.values()), default=0.0)
        self._unscaled.clear()
        self._bad = False
        self._step += 1
        if new_scale is not None:
            if not _power_of_two(float(new_scale)):
                raise ValueError(f"a loss scale is a power of two; {new_scale:g} is not")
            self._scale = float(new_scale)
        elif self.kind == "backoff":
            self._update_backoff(bad)
        elif self.kind == "logmax":
            self._update_logmax(bad, largest)
        elif self.kind == "adaptive":
            self._update_adaptive(bad)

    def _update_backoff(self, bad: bool) -> None:
        if bad:
            self._scale, self._clean = max(self._scale * self._backoff, _LEAST), 0
            return
        self._clean += 1
        if self._clean == self._interval:
            self._scale, self._clean = min(self._scale * self._growth, _LARGEST), 0

    def _update_logmax(self, bad: bool, largest: float) -> None:
        """log2 of the largest gradient is taken as normal; 3.09 deviations are left above its mean."""
        if not bad and largest == 0:
            return
        fast, slow, room = 0.99, 0.999, math.log2(self._room)
        x = room if bad else math.log2(largest)
        self._seen += 1
        self._mean = fast * self._mean + (1 - fast) * x
        self._slow_mean = slow * self._slow_mean + (1 - slow) * x
        self._square = slow * self._square + (1 - slow) * x * x
        corrected = 1 - slow**self._seen
        mean, slow_mean = self._mean / (1 - fast**self._seen), self._slow_mean / corrected
        deviation = math.sqrt(max(self._square / corrected - slow_mean * slow_mean, 0.0))
        self._scale = 2.0 ** min(max(math.floor(room - mean - 3.09 * deviation), 0), 24)

    def _update_adaptive(self, bad: bool) -> None:
        for _, site in self._watched:
            found, target = site.measured, site.plan.target[GRADIENT] or site.plan.target[GRADIENT_AGAIN]
            if found is not None and target is not None and site.scale is not None:
                square, largest = (float(number) for number in found)
                site.scale = torch.tensor(self._layer_scale(square, largest, target.format, float(site.scale)))
            site.measured = None
            site.measure = bad or self._step % self._interval == 0

    def _layer_scale(self, square: float, largest: float, format: str, kept: float) -> float:
        """square, largest: the mean square and largest magnitude of the gradient, not scaled."""
        deviation = math.sqrt(square) if math.isfinite(square) else math.inf
        if deviation == 0 or not math.isfinite(deviation) or not math.isfinite(largest):
            return kept if deviation else 1.0
        smallest, most = _ends(format)
        return _below(min(max(smallest / (deviation * self._quantile), 1.0), most / largest))

    # ---------------------------------------------------------------------------------------------- state

    _STATE = ("scale", "clean", "seen", "step", "mean", "slow_mean", "square")

    def state_dict(self) -> dict[str, Any]:
        """Everything that a resumed run needs, the scales of layers by name included."""
        out: dict[str, Any] = {key: getattr(self, "_" + key) for key in self._STATE}
        out.update(kind=self.kind, skipped=self.skipped, layers=self.layer_scales(),
                   due=[name for name, site in self._watched if site.measure])
        return out

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The inverse. ValueError for the state of another kind or of other layers, and for one in which something is
        missing; nothing is changed then."""
        if state_dict.get("kind") != self.kind:
            raise ValueError(f"this is the state of a loss scaler '{state_dict.get('kind')}', not '{self.kind}'")
        missing = [key for key in (*self._STATE, "skipped", "layers", "due") if key not in state_dict]
        if missing:
            raise ValueError(f"the state of a loss scaler has {', '.join(missing)} too")
        if set(state_dict["layers"]) != set(self.layer_scales()):
            raise ValueError("this is the state of a loss scaler of other layers")
        if not _power_of_two(state_dict["scale"]):
            raise ValueError(f"a loss scale is a power of two; {state_dict['scale']:g} is not")
        scales = {name: torch.tensor(float(scale)) for name, scale in state_dict["layers"].items()}
        due = set(state_dict["due"])
        for key in self._STATE:
            setattr(self, "_" + key, state_dict[key])
        self.skipped = state_dict["skipped"]
        for name, site in self._watched:
            if name in scales:
                site.scale = scales[name]
                site.measure = name in due

    def close(self) -> None:
        """Takes what it lent to the layers of the model back: they round their gradients unscaled again."""
        for _, site in self._watched:
            site.scale = site.watch = site.watch_tensors = site.measured = None
            site.measure = False
        self._watched.clear()


def _can_overflow(site: Site, slot: int) -> bool:
    target = site.plan.target[slot]
    return target is not None and not _has_scales(target.format)


def _overflows(counters: list[Any]) -> list[int]:
    """How much each has counted as overflow; of those on a device by one small copy."""
    found = [0] * len(counters)
    on_device: dict[torch.device, list[int]] = {}
    for i, counts in enumerate(counters):
        if isinstance(counts, Tensor) and _device.holds(counts):
            on_device.setdefault(counts.device, []).append(i)
        else:
            found[i] = (read_stats(counts) if isinstance(counts, Tensor) else counts).overflow
    for places in on_device.values():
        for i, overflow in zip(places, _device.overflows([counters[i] for i in places])):
            found[i] = overflow
    return found


def _largest(x: Tensor) -> Tensor:
    """The largest magnitude, on all ranks that have a part."""
    if hasattr(x, "device_mesh"):
        from .parallel import largest_on_ranks  # noqa: PLC0415
        return largest_on_ranks(x)
    return x.abs().max()


def _erf_inverse(y: float) -> float:
    """The x with erf(x) = y, 0 < y < 1."""
    low, high = 0.0, 6.0
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if math.erf(middle) < y else (low, middle)
    return (low + high) / 2


loss_scaler = LossScaler
