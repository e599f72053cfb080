# SPDX-License-Identifier: BSD-2-Clause
"""convert: a model whose layers are rounded by a recipe, in one line; revert: the model that it was."""

from __future__ import annotations

import difflib
import re
import warnings
import weakref
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from torch import nn
from torch.nn.utils.parametrize import is_parametrized
from torch.optim.optimizer import register_optimizer_step_post_hook

from .. import _files
from . import _device
from ._products import Products
from ._spec import check_seed
from .functional import STREAM_STEP, Plan
from .modules import Attachment, NamedNorm, Quantized, converted_class, known_class, not_called, quantized_class
from .quantizer import LEAF
from .recipe import Recipe, Rule, Which, matches, read_rules
from .recipe import recipe as _recipe

__all__ = ["convert", "revert", "summary", "Summary", "Total", "manual_seed", "freeze"]

Model = TypeVar("Model", bound=nn.Module)


def _is_lazy(module: nn.Module) -> bool:
    """Whether the first call will give the module another class."""
    return isinstance(module, nn.modules.lazy.LazyModuleMixin) and hasattr(module, "_initialize_hook")


class _Place:
    """A module that can be converted, or multiplies: which class of torch's it is, if one that is known; else what its
    code multiplies by; and the matrices of its own, or that it takes from modules in it."""

    def __init__(self, name: str, module: nn.Module) -> None:
        self.name, self.module = name, module
        base = _original(module)
        named = known_class(base) is NamedNorm and any(True for _ in module.children())  # and has layers inside
        own = "forward" in module.__dict__  # which goes round what the class has
        self.known = None if named or own else quantized_class(base)
        self.products = Products(module) if self.known is None else None
        lists: list[Any] = [m for m in module.children() if isinstance(m, (nn.ParameterList, nn.ParameterDict))]
        lists += getattr(module, "parametrizations", {}).values()
        held = [p for m in (module, *lists) for p in m.parameters(recurse=False) if p.dim() > 1]
        # What is one for all samples, as the vectors of places and classes are, is added to them.
        if self.products is not None:
            added = (3,) if self.products.calls else range(3, 6)
            held = [p for p in held if p.dim() not in added or p.shape[0] > 1] + [*self.products.reads.values()]
        self.matrices = list(dict.fromkeys(held))
        self.weights = sum(p.numel() for p in self.matrices)
        self.by_functions = self.products is not None and bool(self.products.calls)
        self.cls = self.known or (quantized_class(base, True) if self.by_functions and not own else None)
        if self.products is None:
            self.multiplies: bool = self.known.multiplies  # type: ignore[union-attr]
        else:
            self.multiplies = bool(self.products) or (self.products.blind and bool(self.matrices))

    @property
    def order(self) -> int:
        """Random streams are numbered in this order. The last are converted where a rule says so."""
        return 0 if self.known else 1 if self.cls and self.matrices else 2


def _survey(model: nn.Module) -> list[_Place]:
    places = [_Place(name, module) for name, module in model.named_modules() if not _is_lazy(module)]
    return sorted((place for place in places if place.known or place.multiplies), key=lambda place: place.order)


def _near(pattern: str, names: list[str]) -> str:
    plain = pattern.strip("*.")
    near = difflib.get_close_matches(plain, names, 3, 0.4) or [name for name in names if plain and plain in name][:3]
    near = near or names[:3]
    return "; near it: " + ", ".join(f"'{name}'" for name in near) if near else ""


def _choose(places: list[_Place], recipe: Which, rules: Mapping[Rule, Which]) -> dict[str, tuple[bool, Recipe | None]]:
    """For each place whether a rule names it, and its recipe."""
    read = read_rules(rules)
    matched = {rule: {place.name for place in places if matches(place.module, place.name, rule)} for rule in read}
    for rule in read:
        if not matched[rule]:
            near = _near(rule, [place.name for place in places]) if isinstance(rule, str) else ""
            what = rule if isinstance(rule, str) else getattr(rule, "__qualname__", rule)
            raise ValueError(f"the rule '{what}' matches no layer that can be converted{near}")
    usual = None if recipe is None else _recipe(recipe)
    chosen = {}
    for place in places:
        named = [own for rule, own in read.items() if place.name in matched[rule]]
        chosen[place.name] = (bool(named), named[0] if named else usual if place.order < 2 else None)
    return chosen


def _replace(module: nn.Module, base: type | None, cls: Any) -> None:
    """Puts a class where a module has the class `base`: the one that torch made above it for parametrisations is made
    anew, as torch takes the class below for the module's own."""
    current = type(module)
    module.__class__ = cls if current is base else type(current.__name__, (cls,), dict(current.__dict__))


def _attach(model: nn.Module, place: _Place, recipe: Recipe, plans: dict[str, Plan], number: int, seed: int) -> None:
    module, base = place.module, _original(place.module)
    _replace(module, base, place.cls)
    held = module.__dict__["_fpemu"] = Attachment(recipe, base, plans, seed, number * STREAM_STEP)
    held.move(_device.home(module, model))
    module.__dict__["__module__"] = LEAF


def convert(model: Model, recipe: Which, rules: Mapping[Rule, Which] | None = None, *, seed: int = 0,
            verbose: bool = False, strict: bool = False) -> Model:
    """Makes the layers of a model round by a recipe, in place, and returns the model.

    recipe
        a Recipe, the name of a ready-made one (``fpemu.torch.recipes()``), a format for inputs, weights and gradients,
        or None for nothing but the rules.
    rules
        patterns of names of modules, as named_modules and fnmatch have them, classes of modules, or functions of
        (module, name) to a truth, and what holds there in place of recipe: the same, or None to leave a layer as it is.
        The first that matches holds; ``*.head`` matches ``head`` too.
    seed
        of stochastic rounding: 0 .. 2^63 - 1. Each tensor of each layer and call has a stream of its own.
        load_state_dict of a converted model's checkpoint takes the seed and the calls of that; manual_seed afterwards
        sets others.
    verbose
        prints ``summary(model)``.
    strict
        ValueError, with nothing changed, in place of the warning of what multiplies unrounded.

    Converted are Linear, Conv1d/2d/3d, ConvTranspose1d/2d/3d, Embedding, EmbeddingBag, LayerNorm, RMSNorm, GroupNorm,
    BatchNorm1d/2d/3d, InstanceNorm1d/2d/3d, MultiheadAttention and DotProductAttention, classes derived from these
    without a forward pass of their own, and norms of other packages, which the end of their class's name tells
    (LayerNorm, RMSNorm). Norms and embeddings change only where the recipe names a format for them. Any other module
    that has matrices of its own, or takes those of its layers, and multiplies in its forward pass keeps that pass, and
    the functions that it calls go by the recipe, as in ``everywhere``: Bilinear, LSTM, GRU, RNN and cells; Conv1D,
    experts and routers of transformers.

    Left are modules that multiply but have no matrices, as attention often is, unless a rule names them. A warning
    names what multiplies unrounded though no rule left it, as far as the code of forward passes tells: functions that
    are chosen from a table, or are not written in Python, are not seen. ``audit`` sees what runs. There is no warning
    where the products of the recipe are torch's own of binary32, and where recipe is None.

    Parameters stay the objects that they are, so optimisers, shared weights, hooks, parametrisations and checkpoints
    hold; the keys of state_dict are the same. Its metadata says how many calls stochastic layers have made, and
    load_state_dict goes on from there; what loses the metadata, as safetensors do, needs manual_seed. What cannot be
    converted stays: summary(model) names it. Lazy layers are left until their first call, with a warning.
    TransformerEncoderLayer and MultiheadAttention do not take the fast path that goes round their modules. A layer
    that was converted before is converted anew.

    TypeError for what is no module or no rule; ValueError for a rule that matches nothing, with names near it, and for
    a model of which no layer fits a recipe that names formats of products; fpemu.SpecError for a format that cannot be
    read. Nothing is changed then.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"convert takes a torch.nn.Module, not {type(model).__name__}")
    check_seed(seed)
    places = _survey(model)
    chosen = _choose(places, recipe, rules or {})
    usual = None if recipe is None else _recipe(recipe)
    ready: list[tuple[int, _Place, Recipe, dict[str, Plan]]] = []
    left: dict[nn.Module, str] = {}
    for number, place in enumerate(places):
        ruled, own = chosen[place.name]
        if own is None and isinstance(place.module, nn.MultiheadAttention):
            _, out = chosen.get(f"{place.name}.out_proj".lstrip("."), (False, None))
            own = None if out is None else Recipe(name="none")  # it would read the weights of out_proj itself
        if own is None:
            if ruled or recipe is None:
                left[place.module] = "its recipe is None"
            continue
        if place.cls is None:
            continue
        try:
            plans = place.cls.plans(own)
        except ValueError as error:
            raise ValueError(f"{place.name or type(place.module).__name__}: {error}") from error
        if not all(plan.idle for plan in plans.values()) or isinstance(place.module, nn.MultiheadAttention):
            ready.append((number, place, own, plans))
        else:
            left[place.module] = "its recipe names no format for it"
    settled = {*left, *(place.module for _, place, _, _ in ready)}
    untold = [place for place in places if place.multiplies and place.module not in settled]
    told = _tell(untold)
    if usual is not None and usual.rounds and not ready and not any(ruled for ruled, _ in chosen.values()) and (
            not any(map(_becomes, model.modules()))):
        raise ValueError(f"nothing in the model fits the recipe{told or ': it has no layer that multiplies'}")
    if (usual is None or not usual.alters_products) and not any(chosen[place.name][0] for place in untold):
        told = ""
    if told:
        taken = {place.module for _, place, _, plans in ready if not next(iter(plans.values())).idle}
        told = f"not all that multiplies is rounded: {Total.of(places, taken)}{told}"
    if strict and told:
        raise ValueError(told)
    _revert(model)
    for number, place, own, plans in ready:
        _attach(model, place, own, plans, number, seed)
    for module, why in {**{place.module: "no rule names it" for place in untold}, **left}.items():
        module.__dict__["_fpemu_left"] = why
    _leave_fast_paths(model)
    _warn_of_lazy(model)
    if told:
        warnings.warn(told, stacklevel=2)
    if verbose:
        print(summary(model))
    return model


def _tell(untold: list[_Place]) -> str:
    """Lines on what multiplies and is neither converted nor left on purpose, and the ways out; "" for nothing."""
    groups = defaultdict(list)
    for place in untold:
        name = re.sub(r"(?<![^.])\d+(?![^.])", "*", place.name)
        groups[name, type(place.module).__name__, str(place.products)].append(place)
    lines = []
    for (name, kind, how), group in sorted(groups.items(), key=lambda item: -sum(p.weights for p in item[1])):
        times, weights = f"{len(group)} x " * (len(group) > 1), sum(place.weights for place in group)
        name = (name if times else group[0].name) or "the model itself"
        lines.append(f"\n  {name} ({times}{kind}): {how}" + f"; {weights} weights" * bool(weights))
    return (".\nThese multiply by functions, which stay as they are:" + "".join(lines) + "\nA rule that names such a "
            "module converts it, or with None says that it stays. `with fpemu.torch.everywhere(recipe):` rounds what "
            "any function multiplies; fpemu.torch.audit(model, inputs) lists every product.") if lines else ""


def _becomes(module: nn.Module) -> bool:
    """Whether it is a lazy layer that becomes one that can be converted."""
    cls = getattr(module, "cls_to_become", None)
    return _is_lazy(module) and cls is not None and quantized_class(cls) is not None


def _warn_of_lazy(model: nn.Module) -> None:
    lazy = [name or type(module).__name__ for name, module in model.named_modules() if _becomes(module)]
    if lazy:
        warnings.warn(f"{len(lazy)} lazy layer{'s are' * (len(lazy) > 1) or ' is'} left as torch has it, such as "
                      f"'{lazy[0]}': run the model once, and convert it again", stacklevel=3)


def _original(module: nn.Module) -> type:
    """The class that revert gives back, without what parametrisations made of it."""
    if isinstance(module, Quantized):
        return module._fpemu.base
    bases = type(module).__bases__
    return bases[0] if is_parametrized(module) and len(bases) == 1 else type(module)


def _leave_fast_paths(model: nn.Module) -> None:
    """TransformerEncoderLayer and TransformerEncoder read the weights of their modules where they think they may."""
    for module in model.modules():
        kinds = (nn.TransformerEncoderLayer, nn.TransformerEncoder)
        if not isinstance(module, kinds) or not any(isinstance(m, Quantized) for m in module.modules()):
            continue
        name = "activation_relu_or_gelu" if isinstance(module, nn.TransformerEncoderLayer) else "use_nested_tensor"
        if hasattr(module, name) and "_fpemu_fast_path" not in module.__dict__:
            module.__dict__["_fpemu_fast_path"] = getattr(module, name)
            setattr(module, name, 0)


def revert(model: Model) -> Model:
    """The inverse of convert, in place: every module has the class it had. Returns the model. Warns where observe or a
    loss scaler loses sight of it."""
    return _revert(model)


def _revert(model: Model) -> Model:
    """The warning names the line that calls revert or convert."""
    if any(site.lent for module in model.modules() if isinstance(module, Quantized)
           for site in module._fpemu.sites.values()):
        warnings.warn("the model is observed, or watched by a loss scaler, which lose sight of it: observe it, and "
                      "make the scaler, when it is converted", stacklevel=3)
    for module in model.modules():
        if isinstance(module, Quantized):
            base = module._fpemu.base
            _replace(module, converted_class(module), base)
            del module.__dict__["_fpemu"]
            module.__dict__.pop("__module__", None)
        module.__dict__.pop("_fpemu_left", None)
        if "_fpemu_fast_path" in module.__dict__:
            kept = module.__dict__.pop("_fpemu_fast_path")
            name = "activation_relu_or_gelu" if isinstance(module, nn.TransformerEncoderLayer) else "use_nested_tensor"
            setattr(module, name, kept)
    return model


def manual_seed(model: nn.Module, seed: int, call: int = 0) -> None:
    """Sets the seed of stochastic rounding in a converted model, and its streams to those of the given call (0: as
    after convert), so that a run can be repeated or resumed. ValueError for a seed outside 0 .. 2^63 - 1."""
    check_seed(seed)
    if call < 0:
        raise ValueError(f"a number of calls is not negative; {call} is")
    for module in model.modules():
        if isinstance(module, Quantized):
            module._fpemu.begin(seed, call)


def freeze(model: Model, keep: bool = True) -> Model:
    """Has converted layers keep their rounded weight, in place, and returns the model: for inference, where most of the
    time of a small batch goes into rounding weights anew. keep=False: they round it in every call, as before.

    A weight is rounded again when it is another tensor, torch has counted a write to it, or an optimiser has stepped.
    Writes through ``.data`` and by torch.distributed, which torch does not count, are not seen: freeze the model again.
    What is rounded stochastically, counted (observe), compiled, or cast by autocast is rounded in every call. A frozen
    model takes the memory of its weights twice.
    """
    for module in model.modules():
        if isinstance(module, Quantized):
            for site in module._fpemu.sites.values():
                site.frozen = {} if keep else None
                _frozen.add(site)
    return model


_frozen: weakref.WeakSet[Any] = weakref.WeakSet()


def _thaw(*_: Any) -> None:
    """After a step of any optimiser: writes of fused ones are not counted."""
    for site in _frozen:
        if site.frozen:
            site.frozen.clear()


register_optimizer_step_post_hook(_thaw)


# ------------------------------------------------------------------------------------------------ what was done
@dataclass(frozen=True)
class Total:
    """How much of a model is emulated: matrices, and the weights in them that multiply. Tables of embeddings, of which
    rows are taken, multiply nothing unless another layer shares them."""

    emulated_matrices: int
    matrices: int
    emulated_weights: int
    weights: int

    @classmethod
    def of(cls, places: Iterable[_Place], emulated: Container[nn.Module]) -> Total:
        every = {p: p.numel() for place in places if place.multiplies for p in place.matrices}
        ours = {p for place in places if place.multiplies and place.module in emulated for p in place.matrices}
        return cls(len(ours), len(every), sum(every[p] for p in ours), sum(every.values()))

    def __str__(self) -> str:
        share = 100 * self.emulated_weights / max(self.weights, 1)
        share = min(share, 99.9) if self.emulated_weights < self.weights else share
        return (f"{self.emulated_matrices} of {self.matrices} matrices, {share:.3g} % of the weights that multiply, "
                "are emulated")


@dataclass(frozen=True)
class Summary:
    """Rows of (name, class, what it was converted with or why it was not) of the modules that have parameters or
    multiply, and the total."""

    converted: tuple[tuple[str, str, str], ...]
    left: tuple[tuple[str, str, str], ...]
    total: Total

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        return iter(self.converted + self.left)

    def __str__(self) -> str:
        table = [("module", "class", "recipe"), *self.converted]
        if self.left:
            table += [("left alone", "", ""), *self.left]
        return "\n".join([*_files.table(table), str(self.total)])


def _why(module: nn.Module, place: _Place | None) -> str:
    if _is_lazy(module):
        return "it is lazy until its first call: run the model once"
    if place is None:
        return "no conversion for this class"
    late = "it was lazy or not there when the model was converted: convert it again"
    left: str = module.__dict__.get("_fpemu_left", late)
    return left if place.known else f"{left}; it multiplies by functions: {place.products}"


def summary(model: nn.Module) -> Summary:
    """What convert made of a model: which modules it converted with which recipe; which modules that have parameters or
    multiply it left, and why; how much of the model is emulated. ``print(summary(model))`` is a table.

    Once the model has run it says of which converted modules the forward pass has not: their weights are not rounded
    where other modules read them."""
    converted, left = [], []
    places = {place.module: place for place in _survey(model)}
    idle = not_called(model)
    for name, module in model.named_modules():
        place = places.get(module)
        if isinstance(module, Quantized):
            recipe = module.recipe.name or str(module.recipe.to_dict())
            if name in idle:
                recipe += "; its forward has not run, and what reads its weight elsewhere does not round it"
            converted.append((name, module._fpemu.base.__name__, recipe))
        elif place is not None or any(True for _ in module.parameters(recurse=False)):
            left.append((name, type(module).__name__, _why(module, place)))
    emulated = {module for module in places if isinstance(module, Quantized) and not module._fpemu.site.plan.idle}
    return Summary(tuple(converted), tuple(left), Total.of(places.values(), emulated))
