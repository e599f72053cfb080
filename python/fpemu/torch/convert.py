# SPDX-License-Identifier: BSD-2-Clause
"""convert: a model whose layers are rounded by a recipe, in one line; revert: the model that it was."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, Optional, TypeVar, Union

from torch import nn
from torch.nn.utils.parametrize import is_parametrized

from .functional import Plan
from .modules import Attachment, Quantized, quantized_class
from .quantizer import LEAF
from .recipe import Recipe
from .recipe import recipe as _recipe

__all__ = ["convert", "revert", "summary", "Summary", "manual_seed", "freeze"]

Model = TypeVar("Model", bound=nn.Module)
Which = Union[str, Recipe, Mapping[str, Any], None]
Rule = Union[str, type, Callable[[nn.Module, str], bool]]

STREAM_STEP = 1 << 40  # between the streams of two modules: calls of a module use those between


def _matches(module: nn.Module, name: str, rule: Rule) -> bool:
    if isinstance(rule, str):
        return fnmatchcase(name, rule) or fnmatchcase("." + name, rule)
    return isinstance(module, rule) if isinstance(rule, type) else bool(rule(module, name))


def _bodies(module: nn.Module) -> Optional[type]:
    return type(module) if isinstance(module, Quantized) else quantized_class(type(module))


def _is_lazy(module: nn.Module) -> bool:
    """Whether the first call will give the module another class."""
    return isinstance(module, nn.modules.lazy.LazyModuleMixin) and hasattr(module, "_initialize_hook")


def _convertible(model: nn.Module) -> list[tuple[str, nn.Module]]:
    return [(name, module) for name, module in model.named_modules()
            if _bodies(module) is not None and not _is_lazy(module)]


def _near(pattern: str, names: list[str]) -> str:
    plain = pattern.strip("*.")
    near = difflib.get_close_matches(plain, names, 3, 0.4) or [name for name in names if plain and plain in name][:3]
    near = near or names[:3]
    return "; near it: " + ", ".join(f"'{name}'" for name in near) if near else ""


def _choose(model: nn.Module, recipe: Which, rules: Mapping[Rule, Which]) -> dict[str, Optional[Recipe]]:
    if not isinstance(rules, Mapping) or not all(isinstance(rule, str) or callable(rule) for rule in rules):
        raise TypeError("rules say which recipe holds for which pattern of names, class, or function of (module, name) "
                        f"to a truth: a dict of these, not {rules!r:.80}")
    modules = _convertible(model)
    matched = {rule: {name for name, module in modules if _matches(module, name, rule)} for rule in rules}
    for rule in rules:
        if not matched[rule]:
            near = _near(rule, [name for name, _ in modules]) if isinstance(rule, str) else ""
            what = rule if isinstance(rule, str) else getattr(rule, "__qualname__", rule)
            raise ValueError(f"the rule '{what}' matches no layer that can be converted{near}")
    read = {rule: None if which is None else _recipe(which) for rule, which in rules.items()}
    usual = None if recipe is None else _recipe(recipe)
    return {name: next((own for rule, own in read.items() if name in matched[rule]), usual) for name, _ in modules}


def _replace(module: nn.Module, base: Optional[type], cls: Any) -> None:
    """Puts a class where a module has the class `base`: the one that torch made above it for parametrisations is made
    anew, as torch takes the class below for the module's own."""
    current = type(module)
    module.__class__ = cls if current is base else type(current.__name__, (cls,), dict(current.__dict__))


def _attach(module: nn.Module, recipe: Recipe, plans: dict[str, Plan], number: int, seed: int) -> None:
    base = _original(module)
    _replace(module, base, quantized_class(base))
    module.__dict__["_fpemu"] = Attachment(recipe, base, plans, seed, number * STREAM_STEP)
    module.__dict__["__module__"] = LEAF


def convert(model: Model, recipe: Which, rules: Optional[Mapping[Rule, Which]] = None, *, seed: int = 0,
            verbose: bool = False) -> Model:
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

    Converted are Linear, Conv1d/2d/3d, ConvTranspose1d/2d/3d, Embedding, LayerNorm, RMSNorm, BatchNorm1d/2d/3d and
    MultiheadAttention, DotProductAttention, and classes derived from these without a forward pass of their own. Norms
    and embeddings change only where the recipe names a format for them. Parameters stay the objects that they are, so
    optimisers, shared weights, hooks, parametrisations and checkpoints hold; the keys of state_dict are the same. Its
    metadata says how many calls stochastic layers have made, and load_state_dict goes on from there; what loses the
    metadata, as safetensors do, needs manual_seed. What cannot be converted stays: summary(model) names it. Lazy layers
    are left until their first call, with a warning. TransformerEncoderLayer and MultiheadAttention no longer take
    the fast path that goes round their modules. A layer that was converted before is converted anew.

    Limits: random bits are repeated in checkpoints without reentry, refused in others (Quantizer); derivatives other
    than first ones, backward, are refused (functional); torch.compile with a backend that adds in an order of its own,
    as inductor does for sums of biases, differs from eager mode there as it does without fpemu.

    TypeError for what is no module or no rule; ValueError for a rule that matches nothing, with names near it;
    fpemu.SpecError for a format that cannot be read. Nothing is changed then.
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"convert takes a torch.nn.Module, not {type(model).__name__}")
    if not 0 <= seed < 1 << 63:
        raise ValueError(f"a seed lies between 0 and 2^63 - 1; {seed} does not")
    chosen = _choose(model, recipe, rules or {})
    ready: list[tuple[int, nn.Module, Recipe, dict[str, Plan]]] = []
    left: list[tuple[nn.Module, str]] = []
    for number, (name, module) in enumerate(_convertible(model)):
        own = chosen[name]
        if own is None and isinstance(module, nn.MultiheadAttention):
            out = chosen.get(f"{name}.out_proj" if name else "out_proj")
            own = None if out is None else Recipe(name="none")  # it would read the weights of out_proj itself
        if own is None:
            left.append((module, "its recipe is None"))
            continue
        base: Any = quantized_class(_original(module))
        try:
            plans = base.plans(own)
        except ValueError as error:
            raise ValueError(f"{name or type(module).__name__}: {error}") from error
        if not all(plan.idle for plan in plans.values()) or isinstance(module, nn.MultiheadAttention):
            ready.append((number, module, own, plans))
        else:
            left.append((module, "its recipe names no format for it"))
    _revert(model)
    for number, module, own, plans in ready:
        _attach(module, own, plans, number, seed)
    for module, why in left:
        module.__dict__["_fpemu_left"] = why
    _leave_fast_paths(model)
    _warn_of_lazy(model)
    if verbose:
        print(summary(model))
    return model


def _warn_of_lazy(model: nn.Module) -> None:
    lazy = [name or type(module).__name__ for name, module in model.named_modules()
            if _is_lazy(module) and module.cls_to_become and quantized_class(module.cls_to_become) is not None]
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
            _replace(module, quantized_class(base), base)
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
    if not 0 <= seed < 1 << 63 or call < 0:
        raise ValueError("a seed lies between 0 and 2^63 - 1, a call is not negative")
    for module in model.modules():
        if isinstance(module, Quantized):
            module._fpemu.begin(seed, call)


def freeze(model: Model, keep: bool = True) -> Model:
    """Has converted layers keep their rounded weight, in place, and returns the model: for inference, where most of the
    time of a small batch goes into rounding weights anew. keep=False: they round it in every call, as before.

    A weight is rounded again when it is another tensor or torch has counted a write to it, as of an optimiser or of
    load_state_dict. A write through ``.data``, which torch does not count, is not seen: freeze the model again. What is
    rounded stochastically, counted (observe), compiled, or cast by autocast is rounded in every call. A frozen model
    takes the memory of its weights twice.
    """
    for module in model.modules():
        if isinstance(module, Quantized):
            for site in module._fpemu.sites.values():
                site.frozen = {} if keep else None
    return model


# ------------------------------------------------------------------------------------------------ what was done


@dataclass(frozen=True)
class Summary:
    """Rows of (name, class, what it was converted with or why it was not) of the modules with parameters."""

    converted: tuple[tuple[str, str, str], ...]
    left: tuple[tuple[str, str, str], ...]

    def __iter__(self) -> Iterator[tuple[str, str, str]]:
        return iter(self.converted + self.left)

    def __str__(self) -> str:
        table = [("module", "class", "recipe"), *self.converted]
        if self.left:
            table += [("left alone", "", ""), *self.left]
        wide = [max(len(row[i]) for row in table) for i in range(2)]
        return "\n".join(f"{a:<{wide[0]}}  {b:<{wide[1]}}  {c}".rstrip() for a, b, c in table)


def _why(module: nn.Module) -> str:
    if _is_lazy(module):
        return "it is lazy until its first call: run the model once"
    if quantized_class(type(module)) is not None:
        return getattr(module, "_fpemu_left", "it was lazy or not there when the model was converted: convert it again")
    if any(base in type(module).__mro__ for base in (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.Embedding,
                                                     nn.LayerNorm, nn.MultiheadAttention)):
        return "it has a forward pass of its own"
    return "no conversion for this class"


def summary(model: nn.Module) -> Summary:
    """What convert made of a model: which modules it converted with which recipe, and which modules with parameters it
    left, and why. ``print(summary(model))`` is a table.

    Once the model has run it says of which converted modules the forward pass has not: their weights are not rounded
    where other modules read them, as Mamba of transformers does with its convolution's."""
    converted, left = [], []
    some_ran = any(isinstance(module, Quantized) and module._fpemu.ran for module in model.modules())
    for name, module in model.named_modules():
        if isinstance(module, Quantized):
            recipe = module.recipe.name or str(module.recipe.to_dict())
            if some_ran and not module._fpemu.ran:
                recipe += "; its forward has not run, and what reads its weight elsewhere does not round it"
            converted.append((name, module._fpemu.base.__name__, recipe))
        elif any(True for _ in module.parameters(recurse=False)):
            left.append((name, type(module).__name__, _why(module)))
    return Summary(tuple(converted), tuple(left))
