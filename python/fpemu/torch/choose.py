# SPDX-License-Identifier: BSD-2-Clause
"""choose: a format for each layer of a model, so that the weights take so many bits and the error is least."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves

from .. import _files
from .convert import convert, revert
from .functional import WEIGHT
from .modules import Quantized
from .operators import pack, quantize
from .recipe import Recipe, read_target
from .recipe import recipe as _recipe

__all__ = ["choose", "Choice", "Option"]


@dataclass(frozen=True)
class Option:
    """One layer by one recipe: the weights it has, the bits of each, and the error: a sum of squares."""

    layer: str
    recipe: Recipe
    weights: int
    bits: float
    error: float

    @property
    def size(self) -> float:
        return self.bits * self.weights


class Choice(dict[str, Recipe]):
    """What ``choose`` found: the recipe of each layer by its name. ``convert(model, None, choice)`` takes it as rules.

    options
        everything that was measured, by layer. signal: the sum of squares that errors are compared with.
    bits, sqnr, most_sqnr
        bits of a weight on average; the signal to the sum of the layers' errors in dB, and what no choice exceeds.
    """

    def __init__(self, options: Mapping[str, Sequence[Option]], chosen: Mapping[str, Option], signal: float,
                 least_error: float, what: str) -> None:
        super().__init__({layer: option.recipe for layer, option in chosen.items()})
        self.options = {layer: tuple(own) for layer, own in options.items()}
        self.signal = signal
        self._what = what
        weights = sum(option.weights for option in chosen.values())
        self.bits = sum(option.bits * option.weights for option in chosen.values()) / weights
        self.sqnr = self.decibels(sum(option.error for option in chosen.values()))
        self.most_sqnr = self.decibels(least_error)

    def decibels(self, error: float) -> float:
        """An error as the signal's ratio to it."""
        if error == math.inf:
            return -math.inf
        return 10 * math.log10(self.signal / error) if error > 0 and self.signal > 0 else math.inf

    def __str__(self) -> str:
        names = list(dict.fromkeys(_name(option.recipe) for own in self.options.values() for option in own))
        table = [("layer", "weights", *names, "chosen")]
        for layer, own in self.options.items():
            found = {_name(option.recipe): f"{self.decibels(option.error):.2f}" for option in own}
            table.append((layer or "(model)", str(own[0].weights), *(found.get(name, "-") for name in names),
                          _name(self[layer])))
        lines = _files.table(table, range(1, len(table[0]) - 1))
        end = "" if self.most_sqnr - self.sqnr < 0.005 else f"; no choice has more than {self.most_sqnr:.2f} dB"
        return "\n".join([f"dB of {self._what}, by layer", *lines,
                          f"{self.bits:.3f} bits a weight, {self.sqnr:.2f} dB{end}"])


def _name(recipe: Recipe) -> str:
    return recipe.name or "own"


# -------------------------------------------------------------------------------------------------- measuring
def _results(run: Callable[..., Any], inputs: Sequence[Any], keywords: Mapping[str, Any]) -> list[Tensor]:
    with torch.no_grad():
        results = tree_leaves(run(*inputs, **keywords))
    found = [t.double() for t in results if isinstance(t, Tensor) and t.is_floating_point()]
    if not found:
        raise ValueError("the model gives no floating-point tensor, whose error could be measured")
    return found


def _energy(tensors: Sequence[Tensor]) -> float:
    """The sum of squares; infinite where one is NaN, as where a format overflows."""
    energy = float(sum(t.square().sum().item() for t in tensors))
    return math.inf if math.isnan(energy) else energy


def _layers(model: nn.Module, recipe: Recipe) -> dict[str, list[tuple[Tensor, int]]]:
    """The weights that a recipe rounds by layer, with the axis of their blocks."""
    found: dict[str, list[tuple[Tensor, int]]] = {}
    for name, module in model.named_modules():
        if isinstance(module, Quantized) and module._fpemu.site.plan.target[WEIGHT] is not None:
            transposed = isinstance(module, (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d))
            kernel = isinstance(module, (nn.Conv1d, nn.Conv2d, nn.Conv3d))
            axis = 0 if transposed else 1 if kernel else -1
            own: Any = module
            names = (*own._parameters, *getattr(own, "parametrizations", ()))
            held = [getattr(own, weight) for weight in names]
            matrices = [(p.detach(), axis) for p in held if p is not None and p.dim() > 1]
            if matrices:
                found[name] = matrices
    if not found:
        raise ValueError(f"the recipe {_name(recipe)} rounds no weights of the model")
    return found


def choose(model: nn.Module, formats: Sequence[str | Recipe], *inputs: Any, max_bits: float, by: str = "sqnr",
           **keywords: Any) -> Choice:
    """A recipe for each layer, so that the weights take at most `max_bits` bits each, on average over the model, and
    the error is least. ``convert(model, None, choice)`` converts the model so. The model is left as it is.

    formats
        the recipes to choose from, as ``convert`` takes them: formats, names, or Recipes. Bits are those of the packed
        weights, scales included.
    by
        "sqnr": the error is that of the weights alone, as ``fpemu compare --max-bits`` has it. "output": the model runs
        on `inputs` and `keywords` once for each layer and recipe, with that layer alone converted, and the error is
        that of its results; what several layers do is taken for the sum. The model runs in evaluation mode.

    ValueError where the formats of the fewest bits take more than `max_bits`, for another `by`, and where a recipe
    rounds no weights; TypeError for inputs that are missing or not asked for.
    """
    if by not in ("sqnr", "output"):
        raise ValueError(f"by is 'sqnr' or 'output', not {by!r}")
    if isinstance(formats, str) or not formats:
        raise ValueError("choose takes a list of recipes to choose from")
    runs = bool(inputs or keywords)
    if (by == "output") != runs:
        raise TypeError("by='output' runs the model, and takes its inputs; by='sqnr' looks at weights, and takes none")
    recipes = [_recipe(which) for which in formats]
    work = revert(copy.deepcopy(model)).eval()
    exact = _results(work, inputs, keywords) if runs else []
    options: dict[str, list[Option]] = {}
    signal = _energy(exact)
    for recipe in recipes:
        layers = _layers(convert(work, recipe), recipe)
        revert(work)
        to = read_target(recipe.operands("forward")[1] or "fp32")
        if not runs:
            signal = max(signal, _energy([weight.double() for own in layers.values() for weight, _ in own]))
        for name, weights in layers.items():
            if runs:
                rounded = _results(convert(work, None, {name: recipe}), inputs, keywords)
                error = _energy([a - b for a, b in zip(rounded, exact)])
                revert(work)
            else:
                error = _energy([quantize(w, to.format, to.rounding, axis=axis).double() - w.double()
                                 for w, axis in weights])
            count = sum(weight.numel() for weight, _ in weights)
            bits = 8 * sum(pack(weight, to.format, axis=axis).numel() for weight, axis in weights) / count
            options.setdefault(name, []).append(Option(name, recipe, count, bits, error))
    total = sum(own[0].weights for own in options.values())
    chosen, least = _allocate(options, max_bits * total)
    return Choice(options, chosen, signal, least, "the model's output" if runs else "the weights")


# ------------------------------------------------------------------------------------------------- allocating
def _hull(options: Sequence[Option]) -> list[Option]:
    """The options on the lower convex hull of error over bits, the fewest bits first."""
    hull: list[Option] = []
    for option in sorted(options, key=lambda o: (o.size, o.error)):
        if hull and option.error >= hull[-1].error:
            continue
        while len(hull) > 1 and _gain(hull[-2], hull[-1]) <= _gain(hull[-2], option):
            hull.pop()
        hull.append(option)
    return hull


def _gain(a: Option, b: Option) -> float:
    """Error that a bit takes away on the way from a to b."""
    return (a.error - b.error) / (b.size - a.size) if a.error < math.inf else math.inf


def _allocate(options: Mapping[str, Sequence[Option]], room: float) -> tuple[dict[str, Option], float]:
    """One option a layer within the bits, and the error below which no choice gets: steps along the hulls in the order
    of their gains (Everett 1963; the first step that does not fit, in part, gives the bound), then single exchanges."""
    hulls = {layer: _hull(own) for layer, own in options.items()}
    chosen = {layer: hull[0] for layer, hull in hulls.items()}
    room -= sum(option.size for option in chosen.values())
    if room < 0:
        weights = sum(option.weights for option in chosen.values())
        fewest = sum(option.size for option in chosen.values()) / weights
        raise ValueError(f"the fewest bits a weight are {fewest:.6g}: give a format with fewer, or more bits")
    steps = sorted(((_gain(a, b), layer, b) for layer, hull in hulls.items() for a, b in zip(hull, hull[1:])),
                   key=lambda step: -step[0])
    least = None
    stopped = set()
    for gain, layer, option in steps:
        cost = option.size - chosen[layer].size
        if cost > room and least is None:
            least = sum(o.error for o in chosen.values()) - gain * room
        if cost > room:
            stopped.add(layer)
        elif layer not in stopped:
            chosen[layer] = option
            room -= cost
    while True:
        better = [(chosen[option.layer].error - option.error, option) for own in options.values() for option in own
                  if option.error < chosen[option.layer].error
                  and option.size - chosen[option.layer].size <= room]
        if not better:
            break
        _, option = max(better, key=lambda found: found[0])
        room -= option.size - chosen[option.layer].size
        chosen[option.layer] = option
    return chosen, sum(o.error for o in chosen.values()) if least is None else max(least, 0.0)
