# SPDX-License-Identifier: BSD-2-Clause
"""Recipes: which tensor of a network is rounded to what, and how products are added up.

A *target* is a text ``FORMAT`` or ``FORMAT/MODE`` as in the texts of products (``e4m3fn:saturate``, ``bf16/sr``): a
format that ``fpemu.format`` reads, and a rounding that ``fpemu.rounding`` reads, ``rne`` if absent. ``None`` leaves a
tensor alone and uncounted; ``fp32`` rounds a float32 tensor to itself, but counts it. A ``fpemu.Format`` or a dtype,
such as ``torch.bfloat16``, stands for its text.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

import fpemu

from .._format import named
from .._packed import _scale_dtype, has_levels
from ._shard import has_tensor_scale
from ._spec import block_of, format_of, is_stochastic, rounding_of, scale_length

__all__ = ["Product", "Recipe", "recipe", "recipes"]

_TENSORS = ("input", "weight", "gradient", "bias", "norm", "embedding", "softmax")
_PRODUCTS = ("forward", "data_gradient", "weight_gradient")


def split_target(target: str) -> tuple[str, str]:
    """The format and the rounding of a target; parentheses may hold a slash."""
    depth = 0
    for place in range(len(target) - 1, -1, -1):
        depth += (target[place] == ")") - (target[place] == "(")
        if target[place] == "/" and depth == 0:
            return target[:place].strip(), target[place + 1:].strip()
    return target.strip(), "rne"


@dataclass(frozen=True)
class Target:
    """A target taken apart, with what a layer has to know of it."""

    format: str
    rounding: str
    stochastic: bool  # takes random bits
    blocked: bool  # has scales
    along: bool  # depends on the axis that blocks lie along
    whole: bool  # a scale of the whole tensor: a part of a tensor is rounded in another way than the tensor
    measured: bool  # a scale follows from the whole tensor (`fpemu.measure`)
    chunk: int = 0  # products take its elements and its scales apart, a scale for so many along k; 0: the numbers

    @property
    def placed(self) -> bool:
        """What becomes of a part of a tensor depends on where it lies, or on the other parts."""
        return self.stochastic or self.along or self.measured


@functools.cache
def read_target(target: str) -> Target:
    """Reads a target; fpemu.SpecError where the format or the rounding cannot be read."""
    spec, mode = split_target(target)
    format = format_of(spec)
    block, measured = block_of(format), has_tensor_scale(format)
    rounding_of(mode)
    return Target(spec, mode, is_stochastic(spec, mode), block is not None, block not in (None, "tensor"),
                  measured or block in ("channel", "tile"), measured)


@functools.cache
def chunk_of(accumulator: str | None, side: int, target: str, turned: bool) -> int:
    """For how many neighbours along k a product by an accumulator takes a scale of its left (0) or right (1) operand,
    whose elements it takes apart; 0 where it takes the numbers as they are: without scales, or if the accumulator
    rounds them to no format. turned: blocks lie along the other dimension than k. ValueError where that cannot be."""
    to = None if accumulator is None else fpemu.gemm(accumulator)._operands[side]
    read = read_target(target)
    if accumulator is None or to is None or not read.blocked:
        return 0
    model, format, why = fpemu.gemm(accumulator), format_of(read.format), ""
    chunk, length = model.chunk, scale_length(format, 1 - turned, 1)
    element, scales = format.element, format.scale_format
    held = element.value_count <= 1 << 16 and np.array_equal(fpemu.quantize(element.values(), to), element.values())
    steps = [1.0, 2.0] if scales is None else [1.0, float(np.float32(1 / 3))]
    if scales is not None and scales.value_count <= 1 << 16:
        steps = [step for step in scales.values() if step >= 0]
    told = np.array(steps, np.float32).reshape(-1, 1)[:, :chunk]
    if _scale_dtype(format) is None or has_levels(format):
        why = "it would round once more what has no scales apart from the numbers"
    elif not held:
        why = f"it rounds to {to}, which lacks values of {element}"
    elif turned and length == 1:
        why = "they do not lie along k as the forward product took them: leave right=None, or take tiles"
    elif length is not None and chunk and length % chunk:
        why = f"it takes one for every {chunk} along k, and each is of {length}"
    else:
        try:
            nothing = np.zeros((len(told), 1), np.float32)
            fpemu.matmul(nothing, nothing[:1], model, scales_a=told, scales_b=told[:1])
        except fpemu.Error:
            why = f"it takes no such scales as {scales or 'powers of two'}" if chunk else "it has no chunks to scale"
    if why:
        along = length if length and length > 1 else 128
        none = turned or _scale_dtype(format) is None or has_levels(format)
        way = "" if none else f"One like chunk({along},fp32); ab={element} takes them. "
        raise ValueError(f"the accumulator '{accumulator}' cannot take the scales of '{target}': {why}. {way}One "
                         "without operands, such as chunk(32,fp32), takes the numbers as they are")
    return chunk


def _named(holder: Any, name: str) -> Any:
    """A field, in which a format or dtype becomes its text."""
    value = getattr(holder, name)
    value = value.spec if isinstance(value, fpemu.Format) else named(value)
    object.__setattr__(holder, name, value)
    return value


@dataclass(frozen=True)
class Product:
    """One of the three products of a layer.

    left, right
        targets of its operands; ``None``: what the recipe says of that tensor. *forward* multiplies input by weight,
        *data_gradient* gradient by weight, *weight_gradient* gradient by input. ``right="forward"`` of the latter two:
        the weight, or input, as the forward product took it, whatever axis its blocks lie along.
    accumulator
        the text of a product of ``fpemu.matmul`` (doc/accumulation.md), such as ``tc(h100,e4m3fn,promote=128)``;
        ``None``: torch's own product of the rounded operands, in their dtype. One that rounds its operands, as this
        does, takes those that have scales as the hardware does: elements of their format, and a scale for each chunk
        along k; so its chunks divide the blocks. One that does not, such as ``chunk(32,fp32)``, takes the numbers.
    result
        target of what comes out, without the bias; ``None``: left alone.
    """

    left: str | None = None
    right: str | None = None
    accumulator: str | None = None
    result: str | None = None

    def __post_init__(self) -> None:
        for name in ("left", "right", "accumulator", "result"):
            text = _named(self, name)
            if text is not None and not isinstance(text, str):
                raise TypeError(f"Product.{name} is a text or None, not {type(text).__name__}")
        for target in (self.left, None if self.right == "forward" else self.right, self.result):
            if target is not None:
                read_target(target)
        if self.accumulator is not None:
            fpemu.gemm(self.accumulator)


@dataclass(frozen=True)
class Recipe:
    """What the tensors of a layer are rounded to. Immutable; equal recipes are equal and hash alike.

    input, weight, gradient
        targets of activations going into products, of weights, and of the gradient that arrives at a layer. Blocks of
        formats with scales lie along the dimension that a product sums over, so such a tensor is rounded once for each
        product that it takes part in; all others are rounded once, and kept for the backward pass.
    forward, data_gradient, weight_gradient
        the three products: other operands, the accumulator, the result.
    bias, norm, embedding, softmax
        targets of the bias of a layer; of what a normalisation reads, and its scale and shift; of the table of an
        embedding; of the probabilities that attention's softmax gives. Inside they compute as torch does.
    name, source
        a word for printing, and where the recipe comes from; neither takes part in comparisons.

    ``print(recipe)`` shows what is rounded, ``recipe.replace(norm="bf16")`` is a copy with changes, ``to_dict`` and
    ``Recipe.from_dict`` go to a dict of JSON and back. fpemu.SpecError for a text that cannot be read; ValueError
    for an accumulator that rounds its operands where these have scales that it cannot take.
    """

    input: str | None = None
    weight: str | None = None
    gradient: str | None = None
    forward: Product = Product()
    data_gradient: Product = Product()
    weight_gradient: Product = Product()
    bias: str | None = None
    norm: str | None = None
    embedding: str | None = None
    softmax: str | None = None
    name: str = field(default="", compare=False)
    source: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        for name in _TENSORS:
            target = _named(self, name)
            if target is None:
                continue
            if not isinstance(target, str):
                raise TypeError(f"Recipe.{name} is a text or None, not {type(target).__name__}")
            read_target(target)
        for name in _PRODUCTS:
            product = getattr(self, name)
            if not isinstance(product, Product):
                raise TypeError(f"Recipe.{name} is a Product, not {type(product).__name__}")
            if name == "forward" and product.right == "forward":
                raise ValueError("the right operand of the forward product cannot be that of the forward product")
            try:
                self.chunks(name)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None

    def operands(self, product: str, activations: bool = False) -> tuple[str | None, str | None]:
        """Targets of the left and right operand of "forward", "data_gradient" or "weight_gradient"; *activations*: both
        operands of forward are activations, as in attention."""
        weight = self.input if activations else self.weight
        usual = {"forward": (self.input, weight), "data_gradient": (self.gradient, weight),
                 "weight_gradient": (self.gradient, self.input)}[product]
        own: Product = getattr(self, product)
        return (own.left if own.left is not None else usual[0], own.right if own.right is not None else usual[1])

    def chunks(self, product: str, activations: bool = False) -> list[int]:
        """Of both operands, for how many neighbours along k the product takes a scale; 0: it takes the numbers."""
        accumulator, found = getattr(self, product).accumulator, []
        for side, target in enumerate(self.operands(product, activations)):
            turned = target == "forward"
            target = self.operands("forward", activations)[product == "data_gradient"] if turned else target
            found.append(0 if target is None else chunk_of(accumulator, side, target, turned))
        return found

    def replace(self, **changes: Any) -> Recipe:
        """A copy with some fields changed; TypeError for a field that there is not."""
        return dataclasses.replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Fields that are not the default, products as dicts of theirs."""
        out: dict[str, Any] = {}
        for f in dataclasses.fields(self):
            value = getattr(self, f.name)
            if isinstance(value, Product):
                value = {p.name: getattr(value, p.name) for p in dataclasses.fields(value)
                         if getattr(value, p.name) is not None}
            if value:
                out[f.name] = value
        return out

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Recipe:
        """The inverse of to_dict; ValueError names a field that there is not."""

        def known(what: str, kind: Any, given: Mapping[str, Any]) -> dict[str, Any]:
            names = {f.name for f in dataclasses.fields(kind)}
            for key in given:
                if key not in names:
                    raise ValueError(f"{what} has no '{key}'; it has {', '.join(sorted(names))}")
            return dict(given)

        given = known("a recipe", cls, fields)
        for name in _PRODUCTS:
            if name in given and not isinstance(given[name], Product):
                given[name] = Product(**known(name, Product, given[name]))
        return cls(**given)

    @property
    def rounds(self) -> bool:
        """Whether anything of a layer with weights is rounded, counted or added up in another way."""
        products = (self.forward, self.data_gradient, self.weight_gradient)
        return any(p != Product() for p in products) or any((self.input, self.weight, self.gradient, self.bias))

    @property
    def alters_products(self) -> bool:
        """Whether products are others than torch's own of binary32."""
        products: dict[str, Product] = {name: getattr(self, name) for name in _PRODUCTS}
        targets = [t for name, p in products.items() for t in (*self.operands(name), p.result)]
        return any(p.accumulator for p in products.values()) or any(
            t not in (None, "forward") and read_target(t).format != "fp32" for t in targets)

    def __str__(self) -> str:
        lines = [f"recipe {self.name}".rstrip() + (f"  [{self.source}]" if self.source else "")]
        for name in _TENSORS:
            lines.append(f"  {name:<16} {getattr(self, name) or '-'}")
        for name in _PRODUCTS:
            p: Product = getattr(self, name)
            left, right = self.operands(name)
            line = f"  {name:<16} {left or '-'} x {right or '-'}, added up by {p.accumulator or 'torch'}"
            lines.append(line + (f", result {p.result}" if p.result else ""))
        return "\n".join(lines)


_READY = {r.name: r for r in (
    Recipe(name="fp32", input="fp32", weight="fp32", gradient="fp32", bias="fp32", norm="fp32", embedding="fp32",
           softmax="fp32", source="nothing is rounded, everything is counted"),
    Recipe(name="fp16", input="fp16", weight="fp16", gradient="fp16",
           source="Micikevicius et al., Mixed precision training, ICLR 2018"),
    Recipe(name="bf16", input="bf16", weight="bf16", gradient="bf16",
           source="Kalamkar et al., A study of BFLOAT16 for deep learning training, 2019"),
    Recipe(name="fp8", input="e4m3fn:saturate", weight="e4m3fn:saturate", gradient="e5m2",
           source="Micikevicius et al., FP8 formats for deep learning, 2022; OCP OFP8 1.0; plain casts without scales"),
    Recipe(name="fp8-scaled", input="scaled(e4m3fn)", weight="scaled(e4m3fn)", gradient="scaled(e5m2)",
           source="Micikevicius et al. 2022; TransformerEngine's current scaling: a scale a tensor from its largest "
                  "magnitude"),
    Recipe(name="mxfp8", input="mxfp8", weight="mxfp8", gradient="mxfp8",
           source="OCP MX 1.0; Rouhani et al., Microscaling data formats for deep learning, 2023; E4M3 everywhere"),
    Recipe(name="mxfp4", input="mxfp4", weight="mxfp4", gradient="mxfp4/sr",
           source="OCP MX 1.0; Tseng et al., Training LLMs with MXFP4, 2025, without its Hadamard transform"),
    Recipe(name="nvfp4", input="nvfp4", weight="nvfp4", gradient="nvfp4/sr",
           source="NVIDIA, Pretraining large language models with NVFP4, 2025, without its Hadamard transform and its "
                  "square blocks of weights"),
    Recipe(name="int8", input="scaled(int8:symmetric)", weight="scaled(int8:symmetric,block=row)",
           source="Jacob et al., Quantization and training of neural networks for efficient integer-arithmetic-only "
                  "inference, CVPR 2018: gradients pass straight through; symmetric, weights a scale an output"),
)}


def recipes() -> list[str]:
    """Names of the ready-made recipes."""
    return list(_READY)


def recipe(which: str | Recipe | Mapping[str, Any]) -> Recipe:
    """A ready-made recipe by its name; a Recipe itself; or one from a dict of its fields.

    A text that is no name is taken for a format: that of inputs, weights and gradients. fpemu.SpecError where it is
    neither.
    """
    if isinstance(which, Recipe):
        return which
    if isinstance(which, Mapping):
        return Recipe.from_dict(which)
    which = which.spec if isinstance(which, fpemu.Format) else named(which)
    if not isinstance(which, str):
        raise TypeError(f"a recipe is a Recipe, a name, a format or a dict, not {type(which).__name__}")
    if which in _READY:
        return _READY[which]
    return Recipe(name=which, input=which, weight=which, gradient=which)


Which = str | Recipe | Mapping[str, Any] | None
Rule = str | type | Callable[[Any, str], bool]


def read_rules(rules: Mapping[Rule, Which]) -> dict[Rule, Recipe | None]:
    """Rules and their recipes; TypeError for what is no dict of rules."""
    if not isinstance(rules, Mapping) or not all(isinstance(rule, str) or callable(rule) for rule in rules):
        raise TypeError("rules say which recipe holds for which pattern of names, class, or function of (module, name) "
                        f"to a truth: a dict of these, not {rules!r:.80}")
    return {rule: None if which is None else recipe(which) for rule, which in rules.items()}


def matches(module: Any, name: str, rule: Rule) -> bool:
    """Whether a rule is about a module, or a function of that name which it calls."""
    if isinstance(rule, str):
        return fnmatchcase(name, rule) or fnmatchcase("." + name, rule)
    return isinstance(module, rule) if isinstance(rule, type) else bool(rule(module, name))
