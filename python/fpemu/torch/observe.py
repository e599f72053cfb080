# SPDX-License-Identifier: BSD-2-Clause
"""observe: what happened to every tensor of a converted model, by layer and role, and where that can be written."""

from __future__ import annotations

import errno
import json
import math
import numbers
import operator
import os
import time
import warnings
from collections.abc import Iterator
from functools import reduce
from typing import Any

from torch import Tensor, nn

import fpemu
from fpemu import _files

from . import _device
from .counters import begin_anew, new_stats, read_stats
from .everywhere import modes, watching
from .functional import SLOTS, SUMS, Plan, Site
from .modules import Attachment, Quantized, not_called

__all__ = ["observe", "Log"]

# Roles as fptrain has them: v forward values, w parameters, dv and dw their gradients; "sum" for accumulators.
ROLES = ("v", "w", "w", "v", "dv", "w", "dv", "dv", "v", "dw", "sum", "sum", "sum")
# What a run of fptrain leaves in its folder.
_CHECKPOINTS = ("checkpoint.safetensors", "best.safetensors")
_RUN = (*_CHECKPOINTS, "summary.json", "log.jsonl", "settings.ini")
_MOST_PENDING = 4096  # counters of devices that wait to be read, of 51 kB each


def _counted(plan: Plan, slot: int) -> bool:
    """Whether a call rounds, or adds up, by this slot on its own."""
    if slot >= SUMS:
        return plan.sums[slot - SUMS] is not None
    if plan.target[slot] is None:
        return False
    served = {5: plan.weight_serves, 7: plan.gradient_serves, 8: plan.input_serves}
    return not served.get(slot, False)


class _Place:
    """One tensor of one layer: where it is counted, and what was counted so far."""

    def __init__(self, name: str, role: str, site: Site, slot: int, how: dict[str, Any], home: Any) -> None:
        self.name, self.role = name, role
        self.site, self.slot = site, slot
        self.target = None if slot >= SUMS else site.plan.target[slot]
        if slot >= SUMS:
            how = {}  # sums have no order in which errors could be added
        self.total = fpemu.Stats(**how)
        self.step = fpemu.Stats(**how)
        self.tensor = new_stats(**how, device=home)  # of compiled graphs and devices

    def take(self) -> tuple[fpemu.Stats, Tensor]:
        """What was counted since the last time, the second of which is not read yet; counting begins anew."""
        found = self.step, self.tensor.clone()
        before = self.step, self.tensor
        self.step, self.tensor = self.step.empty(), begin_anew(self.tensor, self.total)
        for lent, old, new in zip((self.site.counters, self.site.tensors), before, (self.step, self.tensor)):
            if isinstance(lent, list) and lent[self.slot] is old:
                lent[self.slot] = new
        return found

    def held(self) -> fpemu.Stats:
        """What was counted since, by layers in eager mode, and by those in compiled graphs and on devices."""
        return self.step + read_stats(self.tensor)


def _number(x: float) -> float | str:
    """JSON has no infinities and no NaN; fptrain's logs have words for them."""
    return x if math.isfinite(x) else "nan" if math.isnan(x) else "inf" if x > 0 else "-inf"


def _one(name: str, value: Any) -> Any:
    """A number as Python's, a truth value as 0 or 1; a tensor of one as a copy, which is not read yet."""
    shape = tuple(getattr(value, "shape", ()))
    if math.prod(shape) != 1:
        raise ValueError(f"{name} is a number or a tensor of one element, not of the shape {shape}")
    if isinstance(value, Tensor) and not value.is_complex():
        return value.detach().clone()
    number = value.item() if hasattr(value, "item") else value
    if not isinstance(number, numbers.Real):
        raise TypeError(f"{name} is a number or a tensor of one element, not {type(value).__name__}")
    return int(number) if isinstance(number, numbers.Integral) else float(number)


def _histogram(found: fpemu.Stats) -> dict[str, Any]:
    counts = found.histogram
    ends = found.histogram_range
    assert counts is not None and ends is not None
    filled = counts.nonzero()[0]
    low, high = (int(filled[0]), int(filled[-1]) + 1) if len(filled) else (0, 0)
    return {"first": ends[0] - 1 + low, "counts": [int(n) for n in counts[low:high]],
            "zeros": int(found.count - found.nan - found.infinite - int(counts.sum()))}


_KEYS = ("count", "nan", "infinite", "clipped", "overflow", "underflow", "subnormal", "inexact")


def _line(place: _Place, found: fpemu.Stats) -> dict[str, Any]:
    line: dict[str, Any] = {"name": place.name, "role": place.role}
    for key in _KEYS:
        line[key] = int(getattr(found, key))
    line["min_abs"], line["max_abs"] = _number(found.min_abs), _number(found.max_abs)
    if found.sums:
        line["sqnr_db"] = _number(found.sqnr)
    if found.histogram is not None:
        line["histogram"] = _histogram(found)
    return line


class Log:
    """What ``observe`` found. ``print(log)`` is a table of the tensors, over all steps, with the signal to noise ratio
    where sums were asked for, and a line for all tensors of a role."""

    def __init__(self, model: nn.Module, places: list[_Place], every: int) -> None:
        self._places = places
        self._every = every
        self._model = type(model).__name__
        self._begin = time.monotonic()
        self._lines: list[dict[str, Any]] = []
        self._pending: list[tuple[dict[str, Any], list[tuple[_Place, fpemu.Stats, Tensor]]]] = []
        self._waits = any(_device.holds(place.tensor) for place in places)
        self._number = 0
        self._skipped = 0

    def step(self, loss: Tensor | float | None = None, *, lr: float | None = None, scale: float = 1.0,
             skipped: bool = False, epoch: int = 0, **numbers: float) -> None:
        """Ends a step: what was counted since the last one becomes a line of the log, with these numbers.

        loss is a number or a tensor of one element, read no sooner than the log is; scale that of the loss; skipped:
        the optimiser did not step. All numbers may be such tensors; None is left out, and truth values are 0 and 1.
        ValueError for another number of elements, TypeError for what is no number: nothing is logged then.

        Of ``observe(every=n)`` every n-th step, and the first, keeps its counters by tensor; what the others count
        joins the next that does.
        """
        told = {"epoch": epoch, "loss": loss, "lr": lr, "scale": scale, **numbers}
        told = {key: _one(key, v) for key, v in told.items() if v is not None}
        self._number += 1
        self._skipped += skipped
        line: dict[str, Any] = {
            "step": self._number, "skipped": bool(skipped), "skipped_so_far": self._skipped,
            "seconds": time.monotonic() - self._begin, **told}
        self._lines.append(line)
        if (self._number - 1) % self._every == 0:
            self._take(line)

    def _take(self, line: dict[str, Any]) -> None:
        self._pending.append((line, [(place, *place.take()) for place in self._places]))
        if not self._waits or len(self._pending) * len(self._places) > _MOST_PENDING:
            self._settle()

    def _settle(self) -> None:
        """Reads what steps have counted, for which a device is waited for."""
        pending, self._pending = self._pending, []
        for line, taken in pending:
            tensors, sums = [], fpemu.Stats()
            for place, step, tensor in taken:
                found = step + read_stats(tensor)
                place.total += found
                if found.count and place.role == "sum":
                    sums += found
                elif found.count:
                    tensors.append(_line(place, found))
            line["tensors"] = tensors
            if sums.count:
                line["sums"] = {key: int(getattr(sums, key)) for key in
                                ("count", "inexact", "swamped", "overflow", "underflow")}

    @property
    def totals(self) -> dict[tuple[str, str], fpemu.Stats]:
        """Counters over all steps, by the name of the tensor, such as "blocks.0.fc.gradient", and its role: "v" forward
        values, "w" parameters (of attention's products the second operand), "dv" and "dw" gradients, "sum"
        accumulators. Tensors that were not met are left out."""
        self._settle()
        found = {(p.name, p.role): p.total + p.held() for p in self._places}
        return {key: total for key, total in found.items() if total.count}

    @property
    def lines(self) -> list[dict[str, Any]]:
        """A dict for each step, as `fptrain report` reads them from a log.jsonl."""
        self._settle()
        out = []
        for line in self._lines:
            own = {k: _one(k, v.item()) if isinstance(v, Tensor) else v for k, v in line.items()}
            out.append({k: _number(v) if isinstance(v, float) else v for k, v in own.items()})
        return out

    def __iter__(self) -> Iterator[tuple[str, str, fpemu.Stats]]:
        """(name, role, counters) of every tensor, over all steps."""
        for (name, role), found in self.totals.items():
            yield name, role, found

    def __str__(self) -> str:
        rows = list(self)
        sums = any(found.sums for _, _, found in rows)
        head = ("tensor", "role", "count", "overflow", "underflow", "subnormal", "nan", *["SQNR-dB"] * sums)
        table = [head]
        for role in dict.fromkeys(role for _, role, _ in rows):
            same = [found for _, own, found in rows if own == role]
            rows.append(("all", role, reduce(operator.add, same)))
        for name, role, found in rows:
            share = [f"{100 * getattr(found, key) / found.count:.3g} %" if getattr(found, key) else "0"
                     for key in ("overflow", "underflow", "subnormal")]
            noise = [f"{found.sqnr:.2f}" if found.sums else ""] * sums
            table.append((name, role, str(found.count), *share, str(found.nan), *noise))
        return "\n".join(_files.table(table, range(2, len(head))))

    # -------------------------------------------------------------------------------------------- files

    def write_fptrain(self, directory: str | os.PathLike[str], *, force: bool = False) -> None:
        """Writes the folder of a run as fptrain leaves it, from which ``fptrain report DIRECTORY`` makes tables
        and plots: settings.ini, log.jsonl, summary.json. The folder is made where there is none.

        Of the settings it has the name of the model and the formats by role; the other keys, which tell of fptrain's
        own data and optimisers, are left at their defaults and mean nothing here. ValueError where no step was ended.

        FileExistsError, and nothing is written, where the folder holds a run already, of fptrain or of this method.
        force: the run is replaced, and checkpoints that would go on with it are removed; other files stay.
        """
        lines = self.lines
        if not lines:
            raise ValueError("the log has no steps: call log.step(loss) at the end of each")
        held = [path for path in (os.path.join(directory, name) for name in _RUN) if os.path.exists(path)]
        if held and not force:
            raise FileExistsError(errno.EEXIST, "the folder holds a run already, which force=True replaces", held[0])
        os.makedirs(directory, exist_ok=True)
        formats: dict[str, set[str]] = {}
        for place in self._places:
            if place.target is not None:
                mode = "" if place.target.rounding == "rne" else " " + place.target.rounding.split(",")[0]
                formats.setdefault(place.role, set()).add(place.target.format + mode)
        settings = f"[model]\nname = {self._model.lower()}\n\n[formats]\n" + "".join(
            f"{role} = {min(found)}\n" for role, found in sorted(formats.items()) if len(found) == 1)
        totals = {key: sum(t[key] for line in lines for t in line.get("tensors", []))
                  for key in ("count", "overflow", "underflow", "clipped", "nan")}
        summary = {"finished": True, "steps": self._number, "skipped": self._skipped,
                   "last_loss": lines[-1].get("loss"), "last_scale": lines[-1].get("scale"),
                   "seconds": lines[-1]["seconds"], "elements": totals.pop("count"), **totals, "notes": {}}
        text = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)
        for path in held:
            if os.path.basename(path) in _CHECKPOINTS:
                os.unlink(path)
        _files.write(os.path.join(directory, "log.jsonl"), text)
        _files.write(os.path.join(directory, "summary.json"), json.dumps(summary, indent=2, allow_nan=False) + "\n")
        _files.write(os.path.join(directory, "settings.ini"), settings)


class observe:
    """``with observe(model) as log:`` counts every tensor that a converted model rounds inside the block, and every
    one that ``everywhere`` does: by the module that calls, or by the line of source, and by the function.

    sums
        also sums of errors, for the signal to quantisation noise ratio.
    histogram
        (first, last): also how many numbers have which exponent floor(log2 |x|), before rounding.
    every
        how often ``log.step`` keeps counters by tensor.

    Layers on a device count there, and nothing waits for it until the log is read, but where many steps were counted
    since: their counters take 51 kB for each tensor of the model.

    Compiled models are compiled once more, when the block is entered and again when it is left. A model is observed by
    one block at a time: RuntimeError; at its end a warning names converted layers that were not called, though others
    were; ValueError where nothing in the model is rounded.
    """

    def __init__(self, model: nn.Module, *, sums: bool = False, histogram: tuple[int, int] | None = None,
                 every: int = 1) -> None:
        if every < 1:
            raise ValueError(f"every is at least 1, not {every}")
        self._model = model
        self._how: dict[str, Any] = {"sums": sums, "histogram": histogram}
        self._every = every
        self._places: list[_Place] = []
        self._ran: list[tuple[str, Attachment, bool]] = []  # before
        self._paths: dict[int, str] = {}  # names of modules
        self._labels: set[str] = set()  # of places of everywhere

    def __enter__(self) -> Log:
        sites, ran = [], []
        self._paths = {id(module): name for name, module in self._model.named_modules()}
        for name, module in self._model.named_modules():
            if not isinstance(module, Quantized):
                continue
            ran.append((name, module._fpemu, module._fpemu.ran))
            for where, site in module._fpemu.sites.items():
                if site.counters is not None or site.tensors is not None:
                    raise RuntimeError("the model is being observed already")
                sites.append((".".join(part for part in (name, where) if part), site,
                              _device.home(module, self._model)))
        for label, site, home in sites:
            self._add(label, site, home)
        if not self._places and not any(mode.concerns(self._model) for mode in modes):
            raise ValueError("nothing in the model is rounded: convert it first, or enter fpemu.torch.everywhere")
        for mode in modes:
            mode.lend(self)
        watching.append(self)
        self._ran = ran
        for _, attachment, _ in ran:
            attachment.ran = False
        return Log(self._model, self._places, self._every)

    def adopt(self, spot: Any, attachment: Attachment) -> None:
        """Counts at a place of everywhere, which no other block counts at."""
        if not spot.mode.concerns(self._model):
            return
        path = self._paths.get(id(spot.module()))
        label = f"{spot.line}.{spot.name}".lstrip(".") if path is None else f"{path}.{spot.name}".lstrip(".")
        if label in self._labels:
            label += ":" + spot.line.rpartition(":")[2]
        while label in self._labels:
            label += "'"
        self._labels.add(label)
        for where, site in attachment.sites.items():
            if site.counters is None and site.tensors is None:
                self._add(f"{label}.{where}" if len(attachment.sites) > 1 else label, site, _device.home(self._model))

    def _add(self, label: str, site: Site, home: Any) -> None:
        places = [_Place(".".join(part for part in (label, SLOTS[slot]) if part), ROLES[slot], site, slot, self._how,
                         home) for slot in range(len(SLOTS)) if _counted(site.plan, slot)]
        if places:
            self._places += places
            self._lend(site, places)

    @staticmethod
    def _lend(site: Site, places: list[_Place]) -> None:
        counters: list[fpemu.Stats | None] = [None] * len(SLOTS)
        tensors: list[Tensor | None] = [None] * len(SLOTS)
        for place in places:
            counters[place.slot], tensors[place.slot] = place.step, place.tensor
        site.counters, site.tensors = counters, tensors

    def __exit__(self, *problem: object) -> None:
        watching.remove(self)
        for place in self._places:
            place.site.counters = place.site.tensors = None
        idle = not_called(self._model)
        for _, attachment, before in self._ran:
            attachment.ran |= before
        if idle and problem[0] is None:
            some = ", ".join(idle[:3]) + ", ..." * (len(idle) > 3)
            warnings.warn(f"{len(idle)} of {len(self._ran)} converted layers were not called while they were observed "
                          f"({some}): what reads their weights elsewhere does not round them", stacklevel=2)

