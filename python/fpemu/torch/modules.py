# SPDX-License-Identifier: BSD-2-Clause
"""Modules of torch.nn whose tensors are rounded: what ``convert`` makes of them.

A converted module is the module it was, with another class: its parameters, buffers, hooks and the keys of its
state_dict are the same. The class is made of the one that it had and, above that, one of this file with a forward pass
of ``fpemu.torch.functional``.
"""

from __future__ import annotations

import functools
import re
import threading
import warnings
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from . import functional as f
from ._shard import BatchPart
from .everywhere import Functions, plans
from .functional import STREAMS, Plan, make_plan, make_product_plan, make_softmax_plan
from .quantizer import _replayed, refuse_script
from .recipe import Recipe

__all__ = ["Quantized", "DotProductAttention"]


def _take(table: Tensor) -> Tensor:
    """A copy of the streams of this call; the table moves on to those of the next."""
    now = table.clone()
    table.select(1, 1).add_(table.shape[0])
    return now


# In a compiled graph an operator of its own: a copy that only the backward pass reads would be made there, from a table
# that has moved on.
_take_opaque = torch.library.custom_op("fpemu::take_streams", _take, mutates_args=("table",))
_take_opaque.register_fake(torch.empty_like)


_LOCK = threading.Lock()  # of threads that call one module


class Attachment:
    """What convert adds to a module."""

    ran = False  # the module's forward pass, once at least

    def __init__(self, recipe: Recipe, base: type, plans: dict[str, Plan], seed: int, stream: int) -> None:
        self.recipe = recipe
        self.base = base  # the class that revert gives back
        self.sites = {name: f.Site(plan) for name, plan in plans.items()}
        self.site = next(iter(self.sites.values()))
        self.stream = stream
        self.streams: Tensor | None = None  # (slots, 2) rows of [seed, stream] for the next call
        self.begin(seed, 0)

    @property
    def state(self) -> Tensor | None:
        """The streams, by the name under which those of a Quantizer are repeated in a checkpoint."""
        return self.streams

    def states(self) -> Tensor | None:
        """States for the slots of this call, which no other call gets."""
        self.ran = True
        table = self.streams
        if table is None:
            return None
        now: Tensor
        if torch.compiler.is_compiling() or torch._C._is_tracing():
            now = _take_opaque(table)
            return now
        holder: Any = self
        with _LOCK:
            now = _replayed(holder)
            return _take(now) if now is table else now  # else a checkpoint repeats a call

    def check_split(self) -> None:
        """ValueError where a part of a batch cannot be rounded as the batch is."""
        for site in self.sites.values():
            f.check_split(site.plan)

    def split(self, part: BatchPart | None) -> None:
        """Says which part of a batch the module is given; None: the whole."""
        for site in self.sites.values():
            site.part = part if site.plan.placed else None

    def begin(self, seed: int, call: int) -> None:
        """Sets the streams to those of a call."""
        count = rows({name: site.plan for name, site in self.sites.items()})
        if count:
            first = self.stream + call * count
            table = torch.tensor([[seed, first + i] for i in range(count)], dtype=torch.int64, device="cpu")
            self.streams = table if self.streams is None else self.streams.copy_(table)

    def move(self, place: str | torch.device) -> None:
        """Takes the streams to a device, whose kernels read them there: a CUDA graph goes on with them."""
        self.streams = None if self.streams is None else self.streams.to(place)

    def reached(self) -> dict[str, int] | None:
        """The arguments by which `begin` comes to where the streams are; None where nothing is stochastic."""
        if self.streams is None:
            return None
        seed, stream = self.streams[0].tolist()
        return {"seed": seed, "call": (stream - self.stream) // len(self.streams)}


class Quantized:
    """What all converted modules are. ``module.recipe`` is what they were converted with."""

    _fpemu: Attachment
    multiplies = True
    make_plan: Any = staticmethod(make_plan)
    __prepare_scriptable__ = refuse_script

    if TYPE_CHECKING:  # what the class below has
        def __getattr__(self, name: str) -> Any: ...

    @classmethod
    def plans(cls, recipe: Recipe) -> dict[str, Plan]:
        """The plans of a module of this class, by the name of the place; "" is the module itself."""
        return {"": cls.make_plan(recipe)}

    @property
    def recipe(self) -> Recipe:
        return self._fpemu.recipe

    def _apply(self, fn: Any, recurse: bool = True) -> Any:
        """Moves the streams too; where to_empty makes room for them, their numbers stay."""
        own = self._fpemu
        if own.streams is not None and not (moved := fn(own.streams)).is_meta:
            own.move(moved.device)
        return super()._apply(fn, recurse)  # type: ignore[misc]

    def extra_repr(self) -> str:
        inner: str = super().extra_repr()  # type: ignore[misc]
        return ", ".join(part for part in (inner, f"recipe={self.recipe.name or 'own'}") if part)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Where the streams are is metadata, as a module's version is: the keys are those of the module that it was."""
        super()._save_to_state_dict(destination, prefix, keep_vars)  # type: ignore[misc]
        reached = self._fpemu.reached()
        if reached is not None and hasattr(destination, "_metadata"):
            destination._metadata.setdefault(prefix[:-1], {})["fpemu"] = reached

    def _load_from_state_dict(self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any) -> None:
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)  # type: ignore[misc]
        if self._fpemu.streams is None:
            return
        if "fpemu" in local_metadata:
            self._fpemu.begin(**local_metadata["fpemu"])
        elif "version" not in local_metadata:
            warnings.warn("the state_dict has lost its metadata, as in safetensors or a plain dict, and with it how "
                          "many calls stochastic layers had made: fpemu.torch.manual_seed(model, seed, call) sets that",
                          stacklevel=2)

    def __reduce_ex__(self, protocol: Any) -> Any:
        own = getattr(type(self), "__getstate__", None)
        plain = own is None or own is getattr(object, "__getstate__", None)
        state = dict(self.__dict__) if plain else own(self)  # type: ignore[misc]
        return _rebuild, (self._fpemu.base, isinstance(self, _ByFunctions)), state


class _Linear(Quantized):
    """nn.Linear by a recipe: functional.linear."""

    def forward(self, input: Tensor) -> Tensor:
        return f._linear(input, self.weight, self.bias, self._fpemu.site, self._fpemu.states())


class _Conv(Quantized):
    """A convolution of torch.nn by a recipe: functional.conv1d and its kin."""

    @staticmethod
    def make_plan(recipe: Recipe) -> Plan:
        return f.check_conv(make_plan(recipe))

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = 0
        input, at = f.geometry(input, weight, self.stride, padding, self.dilation, self.groups)
        return f._conv(input, weight, bias, at, self._fpemu.site, self._fpemu.states())


class _ConvTranspose(Quantized):
    """A transposed convolution of torch.nn by a recipe, without emulated accumulators."""

    @staticmethod
    def make_plan(recipe: Recipe) -> Plan:
        return f.check_conv(make_plan(recipe), True)

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        if self.padding_mode != "zeros":
            raise ValueError("a transposed convolution is padded with zeros only")
        d = self.weight.dim() - 2
        extra = self._output_padding(input, output_size, self.stride, self.padding, self.kernel_size, d, self.dilation)
        at = f.Geometry(tuple(self.stride), tuple(self.padding), tuple(self.dilation), self.groups, True, tuple(extra))
        return f._conv(input, self.weight, self.bias, at, self._fpemu.site, self._fpemu.states())


class _Embedding(Quantized):
    """nn.Embedding by a recipe's embedding: functional.embedding."""

    multiplies = False
    make_plan = staticmethod(f.make_embedding_plan)

    def forward(self, input: Tensor) -> Tensor:
        return f._embedding(input, self.weight, self._fpemu.site, self._fpemu.states(), padding_idx=self.padding_idx,
                            max_norm=self.max_norm, norm_type=self.norm_type,
                            scale_grad_by_freq=self.scale_grad_by_freq, sparse=self.sparse)


class _OwnForward(Quantized):
    """The module's own forward pass, on an input and parameters that are rounded first."""

    multiplies = False
    axis = -1  # that blocks lie along in the input and the gradient

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        base: Any = self._fpemu.base
        site, states = self._fpemu.site, self._fpemu.states()
        # Tensors that are plain attributes are those of FSDP and of replicas.
        plain = [n for n in ("weight", "bias") if isinstance(self.__dict__.get(n), Tensor)]
        names = (*self._parameters, *self._modules.get("parametrizations", ()), *plain)
        held = {name: getattr(self, name) for name in names}
        held = {name: None if p is None else f._pass(p, site, f.BIAS if name == "bias" else f.WEIGHT, -1, -1, states)
                for name, p in held.items()}
        stand_in = base.__new__(base)  # for the module, which other threads may call
        stand_in.__dict__.update(self.__dict__, _parameters=held)
        for name in plain:
            stand_in.__dict__[name] = held[name]
        if args:
            args = (self._rounded(args[0], site, states), *args[1:])
        else:
            name = next(iter(kwargs))
            kwargs = {**kwargs, name: self._rounded(kwargs[name], site, states)}
        with torch._C.DisableTorchFunction():  # everywhere rounds what it sees
            y = base.forward(stand_in, *args, **kwargs)
        return f._pass(y, site, -1, f.GRADIENT, self.axis, states) if isinstance(y, Tensor) else y

    def _rounded(self, x: Tensor, site: f.Site, states: Tensor | None) -> Tensor:
        f._check_batched(site, x.dim() > len(self.__dict__.get("normalized_shape", ())))
        return f._pass(x, site, f.INPUT, -1, self.axis, states)


class _Norm(_OwnForward):
    """A norm by a recipe's norm, as functional.layer_norm."""

    make_plan = staticmethod(f.make_norm_plan)


class NamedNorm:
    """A norm of another package than torch, which its class's name tells."""


class _ChannelNorm(_Norm):
    """A norm by a recipe's norm, whose blocks lie along the channels, as functional.batch_norm."""

    axis = 1


class _EmbeddingBag(_OwnForward):
    """nn.EmbeddingBag by a recipe's embedding, as functional.embedding; the whole table is rounded."""

    make_plan = staticmethod(f.make_embedding_plan)


class _Attention(Quantized):
    """nn.MultiheadAttention by a recipe: its projections as functional.linear, its two products of activations as
    functional.scaled_dot_product_attention, out_proj by its own recipe. The fast path, which goes round all of these,
    is not taken, and the probabilities are made even where nobody asks for them. A query that sees no key gets NaN with
    need_weights and zero without, as of torch."""

    PLACES = ("in_proj", "in_proj_k", "in_proj_v", "scores", "softmax", "context")

    @staticmethod
    def plans(recipe: Recipe) -> dict[str, Plan]:
        layer, product = make_plan(recipe), make_product_plan(recipe)
        return {"in_proj": layer, "in_proj_k": layer, "in_proj_v": layer, "scores": product,
                "softmax": make_softmax_plan(recipe), "context": product}

    def _project(self, query: Tensor, key: Tensor, value: Tensor, states: Tensor | None) -> tuple[Tensor, ...]:
        sites, e = self._fpemu.sites, self.embed_dim
        part = (lambda i: None) if states is None else (lambda i: states[i * STREAMS:(i + 1) * STREAMS])
        if self._qkv_same_embed_dim and query is key and key is value:
            packed = f._linear(query, self.in_proj_weight, self.in_proj_bias, sites["in_proj"], part(0))
            return packed.chunk(3, -1)
        if self._qkv_same_embed_dim:
            weights = self.in_proj_weight.split(e)
        else:
            weights = (self.q_proj_weight, self.k_proj_weight, self.v_proj_weight)
        biases = (None, None, None) if self.in_proj_bias is None else self.in_proj_bias.split(e)
        return tuple(f._linear(x, w, b, sites[self.PLACES[i]], part(i))
                     for i, (x, w, b) in enumerate(zip((query, key, value), weights, biases)))

    def forward(self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
                need_weights: bool = True, attn_mask: Tensor | None = None, average_attn_weights: bool = True,
                is_causal: bool = False) -> tuple[Tensor, Tensor | None]:
        if is_causal and attn_mask is None:
            raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
        batched, same, pair = query.dim() == 3, query is key and key is value, key is value
        for site in self._fpemu.sites.values():
            f._check_batched(site, batched)
        if not batched:
            query = query.unsqueeze(0)
            key, value = (query, query) if same else (key.unsqueeze(0), value.unsqueeze(0))
            key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
        elif not self.batch_first:
            query = query.transpose(0, 1)
            key, value = (query, query) if same else (key.transpose(0, 1), value.transpose(0, 1))
        if pair and not same:
            value = key
        states = self._fpemu.states()
        q, k, v = self._project(query, key, value, states)
        n, heads, wide = q.shape[0], self.num_heads, self.head_dim
        if self.bias_k is not None and self.bias_v is not None:
            k = torch.cat([k, self.bias_k.expand(n, 1, -1)], 1)
            v = torch.cat([v, self.bias_v.expand(n, 1, -1)], 1)
        if self.add_zero_attn:
            k, v = (torch.cat([t, t.new_zeros(n, 1, t.shape[-1])], 1) for t in (k, v))
        mask = self._mask(q, k, attn_mask, key_padding_mask)
        q, k, v = (t.reshape(n, -1, heads, wide).transpose(1, 2) for t in (q, k, v))
        sites = self._fpemu.sites
        out, weights = f._attention(q, k, v, mask, self.dropout if self.training else 0.0, False, None,
                                    sites["scores"], sites["softmax"], sites["context"],
                                    None if states is None else states[3 * STREAMS:], safe=not need_weights)
        out = self.out_proj(out.transpose(1, 2).reshape(n, -1, heads * wide))
        if average_attn_weights:
            weights = weights.mean(1)
        if not batched:
            out, weights = out.squeeze(0), weights.squeeze(0)
        elif not self.batch_first:
            out = out.transpose(0, 1)
        return out, weights if need_weights else None

    def _mask(self, q: Tensor, k: Tensor, attn_mask: Tensor | None, key_padding_mask: Tensor | None) -> Tensor | None:
        """Both masks as one to be added, (N or 1, heads or 1, L, S); keys that the module adds are seen by all."""
        n, length, keys = q.shape[0], q.shape[1], k.shape[1]

        def added(mask: Tensor) -> Tensor:
            if mask.dtype == torch.bool:
                mask = torch.zeros_like(mask, dtype=q.dtype).masked_fill_(mask, float("-inf"))
            return F.pad(mask, (0, keys - mask.shape[-1]))

        total: Tensor | None = None
        if attn_mask is not None:
            mask = added(attn_mask)
            total = mask.reshape(n, self.num_heads, length, keys) if mask.dim() == 3 else mask[None, None]
        if key_padding_mask is not None:
            padding = added(key_padding_mask)[:, None, None, :]
            total = padding if total is None else total + padding
        return total


class _ByFunctions(Quantized):
    """A module whose own forward pass stays, and the functions that it calls go by the recipe."""

    @staticmethod
    def plans(recipe: Recipe) -> dict[str, Plan]:
        return plans(recipe)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        self._fpemu.ran = True
        with Functions(self):
            return super().forward(*args, **kwargs)  # type: ignore[misc]


class DotProductAttention(nn.Module):
    """torch's scaled_dot_product_attention as a module without parameters, so that ``convert`` finds it: put it where a
    model calls the function. Arguments and result are those of the function."""

    def forward(self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
                dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
                enable_gqa: bool = False) -> Tensor:
        more: Any = {"enable_gqa": True} if enable_gqa else {}  # torch 2.4 does not know it
        return F.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal, scale=scale, **more)


class _DotProductAttention(Quantized):
    """DotProductAttention by a recipe: functional.scaled_dot_product_attention."""

    @staticmethod
    def plans(recipe: Recipe) -> dict[str, Plan]:
        product = make_product_plan(recipe)
        return {"scores": product, "softmax": make_softmax_plan(recipe), "context": product}

    def forward(self, query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
                dropout_p: float = 0.0, is_causal: bool = False, scale: float | None = None,
                enable_gqa: bool = False) -> Tensor:
        sites = self._fpemu.sites
        return f._attention(query, key, value, attn_mask, dropout_p, is_causal, scale, sites["scores"],
                            sites["softmax"], sites["context"], self._fpemu.states(), grouped=enable_gqa)[0]


_CLASSES: dict[type, type] = {  # of torch.nn, and what goes above it
    nn.Linear: _Linear, nn.Conv1d: _Conv, nn.Conv2d: _Conv, nn.Conv3d: _Conv, nn.ConvTranspose1d: _ConvTranspose,
    nn.ConvTranspose2d: _ConvTranspose, nn.ConvTranspose3d: _ConvTranspose, nn.Embedding: _Embedding,
    nn.EmbeddingBag: _EmbeddingBag, nn.LayerNorm: _Norm, nn.RMSNorm: _Norm, NamedNorm: _Norm,
    nn.BatchNorm1d: _ChannelNorm, nn.BatchNorm2d: _ChannelNorm, nn.BatchNorm3d: _ChannelNorm,
    nn.GroupNorm: _ChannelNorm, nn.InstanceNorm1d: _ChannelNorm, nn.InstanceNorm2d: _ChannelNorm,
    nn.InstanceNorm3d: _ChannelNorm, nn.MultiheadAttention: _Attention, DotProductAttention: _DotProductAttention,
}


_made: dict[tuple[type, bool], type] = {}


def known_class(cls: type) -> type | None:
    """The class of torch.nn whose forward pass a class has, if it is one of those that can be converted."""
    for base in cls.__mro__:
        if base not in _CLASSES:
            continue
        own: Any = cls
        ours: Any = base
        same = all(getattr(own, name, None) is getattr(ours, name, None)
                   for name in ("forward", "_conv_forward", "__call__"))
        if same:
            return base
        break
    return NamedNorm if re.search(r"(?i)(rms|layer)_?norm(\dd)?$", cls.__name__) else None


def quantized_class(cls: type, by_functions: bool = False) -> Any:
    """The converted class of a module's class, which is above it; None where there is none. by_functions: of any class,
    whose functions go by the recipe."""
    base = None if by_functions else known_class(cls)
    if base is None and not by_functions:
        return None
    above = _ByFunctions if base is None else _CLASSES[base]
    made = _made.get((cls, by_functions))
    if made is None:
        above = _ChannelNorm if base is NamedNorm and cls.__name__.endswith("d") else above
        content: dict[str, Any] = {"__module__": __name__, "__doc__": above.__doc__}
        if by_functions:  # whose signature programs ask for
            own: Any = cls
            content["forward"] = functools.wraps(own.forward)(lambda *args, **kw: _ByFunctions.forward(*args, **kw))
        made = _made.setdefault((cls, by_functions), type(cls.__name__, (above, cls), content))
    return made


def converted_class(module: Quantized) -> Any:
    """The class that convert gave a module, without what parametrisations made of it."""
    return quantized_class(module._fpemu.base, isinstance(module, _ByFunctions))


def not_called(model: nn.Module) -> list[str]:
    """Converted modules whose forward pass has not run, though that of others has: what reads their weights elsewhere
    does not round them, unless it is a module that they are in, of which the functions go by its recipe."""
    found = {name: module for name, module in model.named_modules() if isinstance(module, Quantized)}
    around = [f"{name}.".lstrip(".") for name, module in found.items() if isinstance(module, _ByFunctions)]
    idle = [name for name, module in found.items() if not module._fpemu.ran]
    return [] if len(idle) == len(found) else [name for name in idle if not name.startswith(tuple(around))]


def _rebuild(base: type, by_functions: bool) -> Any:
    cls = quantized_class(base, by_functions)
    return cls.__new__(cls)


def rows(plans: dict[str, Plan]) -> int:
    """How many streams a call of a module with these plans takes; 0 where nothing is stochastic."""
    if not any(plan.stochastic for plan in plans.values()):
        return 0
    return STREAMS * {1: 1, 3: 2}.get(len(plans), 5)  # a layer; attention; attention with three projections
