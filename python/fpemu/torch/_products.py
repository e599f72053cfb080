# SPDX-License-Identifier: BSD-2-Clause
"""Which products a module's own forward pass makes, read from its code: nothing is run."""

from __future__ import annotations

import builtins
import dis
import functools
import inspect
import operator
import sys
from collections.abc import Mapping
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from .everywhere import _FUNCTIONS, _NAMES, _UNSAID, ATTENTION, PRODUCT

_SAID = {name for name, (_, kinds) in _FUNCTIONS.items() if kinds in (PRODUCT, (ATTENTION,), ())}  # not softmax, norms
_OF_TORCH = {id(function): name for function, name in {**_NAMES, **_UNSAID}.items()
             if name in _SAID or function in _UNSAID}
_OF_TORCH[id(F.multi_head_attention_forward)] = "multi_head_attention_forward"
_OF_TORCH.update({id(operator.matmul): "@", id(operator.imatmul): "@"})
_BY_NAME = frozenset(name.strip("_") for name in _OF_TORCH.values()) | {"flex_attention"}
_METHODS = frozenset(name for name in _BY_NAME if hasattr(torch.Tensor, name)) | {
    "einsum", "scaled_dot_product_attention", "flex_attention", "grouped_mm"}
_ABOUT = frozenset("dtype device shape size dim ndim numel is_cuda is_meta is_cpu layout requires_grad grad".split())
_DEPTH = 4  # of calls
_UNKNOWN = object()


@functools.lru_cache(maxsize=4096)
def _chains(code: CodeType) -> tuple[tuple[str, ...], ...]:
    """What code names: ("local", "global" or "import", name, attribute, attribute, ...), ("@",) for each product, and
    ("data",) where it writes a tensor's memory."""
    found: list[tuple[str, ...]] = []
    chain: tuple[str, ...] = ()
    package: tuple[str, ...] = ()
    imported: dict[str, tuple[str, ...]] = {}
    asked = False  # about the next, which is not used then
    for step in dis.get_instructions(code):
        name = step.argval
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            chain = (*(chain or ("local", "")), name)
            continue
        if step.opname in ("CACHE", "NOP", "PUSH_NULL", "EXTENDED_ARG"):
            continue
        if chain:
            if not asked:
                found.append(chain)
            if chain[0] == "import" and step.opname.startswith("STORE_"):
                imported[name] = chain
            asked = not asked and chain[-1] in ("isinstance", "hasattr", "getattr", "type", "id")
        chain = ()
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            chain = ("global", name)
        elif step.opname == "IMPORT_NAME":
            chain = package = ("import", name)
        elif step.opname == "IMPORT_FROM":
            chain = (*package, name)
        elif step.opname.startswith(("LOAD_FAST", "LOAD_DEREF", "LOAD_CLOSURE", "LOAD_CLASSDEREF")):
            name = name[-1] if isinstance(name, tuple) else name  # of two loads in one
            chain = imported.get(name, ("local", name))
        elif "MATRIX_MULTIPLY" in step.opname or (step.opname == "BINARY_OP" and step.argrepr in ("@", "@=")):
            found.append(("@",))
        elif step.opname == "STORE_ATTR" and name == "data":
            found.append(("data",))
    found.append(chain)
    inner = [more for constant in code.co_consts if isinstance(constant, CodeType) for more in _chains(constant)]
    return tuple(dict.fromkeys(entry for entry in (*found, *inner) if entry))


def _is_foreign(thing: Any) -> bool:
    """Of torch, whose products have names, of fpemu, which emulates them, or of what multiplies no tensors."""
    top = str(getattr(thing, "__module__", None) or "").partition(".")[0]
    return top in ("torch", "fpemu", "numpy") or top in sys.stdlib_module_names or (
        not top and not isinstance(thing, FunctionType))


class Products:
    """Of one module: `calls`, which names which function of its code calls; `reads`, the matrices that it takes from
    other modules; `blind`, whether something is called that has no code to read."""

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._seen: set[Any] = set()
        self._tables: set[int] = set()
        self._by_fpemu = False
        self.calls: dict[str, str] = {}
        self.reads: dict[str, nn.Parameter] = {}
        self.blind = False
        if "forward" in vars(module):  # of the instance: it goes round the class
            self._follow(vars(module)["forward"], 0, True)
        self._method("forward", 0, any(p.dim() > 1 for p in module.parameters(recurse=False)))
        if self._by_fpemu:  # and not by the function that is named beside the table
            own = tuple(f"{cls.__name__}." for cls in type(module).__mro__)
            self.calls = {name: where for name, where in self.calls.items() if where.startswith(own)}
        if not self.calls:  # rows of tables are taken
            self.reads = {path: p for path, p in self.reads.items() if id(p) not in self._tables}

    def __bool__(self) -> bool:
        return bool(self.calls or self.reads)

    def __str__(self) -> str:
        own = type(self._module).__name__ + ".forward"
        by: dict[str, list[str]] = {}
        for name, where in self.calls.items():
            by.setdefault("" if where == own else f" in {where}", []).append(name)
        parts = [", ".join(names) + where for where, names in by.items()]
        if self.reads:
            parts.append("reads " + ", ".join(self.reads) + " past its layer")
        return "; ".join(parts) or "by code that cannot be read"

    def _method(self, name: str, depth: int, of_torch: bool = False) -> None:
        """Every definition of a method that the class has: a method may call what it overrides."""
        for cls in type(self._module).__mro__:
            if name in vars(cls) and cls is not nn.Module:
                self._follow(vars(cls)[name], depth, True, of_torch)

    def _follow(self, thing: Any, depth: int, own: bool = False, of_torch: bool = False) -> None:
        if isinstance(thing, (MethodType, staticmethod, classmethod)):
            thing = thing.__func__
        elif isinstance(thing, (functools.cached_property, property)):
            thing = thing.fget if isinstance(thing, property) else thing.func
        if depth > _DEPTH or (id(thing), own) in self._seen or (_is_foreign(thing) and not of_torch):
            return
        self._seen.add((id(thing), own))
        inner = getattr(thing, "__dict__", {}).get("__wrapped__")
        if inner is not None:
            self._follow(inner, depth, own, of_torch)
        if not isinstance(thing, FunctionType):
            self.blind |= inner is None
            return
        code = thing.__code__
        me = code.co_varnames[0] if own and code.co_argcount else None
        cells = {}
        for name, cell in zip(code.co_freevars, thing.__closure__ or ()):
            try:
                cells[name] = cell.cell_contents
            except ValueError:  # it is empty yet
                continue
        chains = _chains(code)
        if depth and ("data",) in chains:  # what it multiplies makes a weight, as where an adapter is merged
            return
        for kind, *names in chains:
            if not names:
                self._found(kind, thing)
                continue
            root, rest = names[0], names[1:]
            if kind == "global":
                start = thing.__globals__.get(root, getattr(builtins, root, _UNKNOWN))
            elif kind == "import":
                start = sys.modules.get(root, _UNKNOWN)
            else:
                start = self._module if root == me and root else cells.get(root, _UNKNOWN)
            self._resolve(start, rest, thing, depth)

    def _found(self, name: str, where: FunctionType) -> None:
        self.calls.setdefault(name, where.__qualname__.replace(".<locals>", ""))

    def _resolve(self, start: Any, names: list[str], where: FunctionType, depth: int) -> None:
        """Follows attributes from an object as far as that can be done without running anything."""
        if isinstance(start, Mapping):
            self._choose(start, depth)
        thing, path = start, []
        for i, name in enumerate(names):
            if isinstance(thing, ModuleType) and thing.__name__.startswith("torch"):
                for called in names[i:]:
                    if called.strip("_") in _BY_NAME:
                        self._found(called, where)
                return
            if isinstance(thing, nn.Module):
                path.append(name)
                held = {**vars(thing), **thing._parameters, **thing._buffers, **thing._modules}
                owner, thing = thing, held.get(name, inspect.getattr_static(type(thing), name, _UNKNOWN))
                if owner is self._module and not isinstance(thing, (nn.Module, torch.Tensor)) and name not in held:
                    self._method(name, depth + 1)
                    return
                if owner is not self._module and not (names[i + 1:] and names[i + 1] in _ABOUT):
                    self._read(owner, name, ".".join(path))
            elif isinstance(thing, type) and issubclass(thing, torch.autograd.Function) and name == "apply":
                thing = inspect.getattr_static(thing, "forward")
            elif isinstance(thing, ModuleType):
                thing = vars(thing).get(name, _UNKNOWN)
            elif isinstance(thing, type):
                thing = inspect.getattr_static(thing, name, _UNKNOWN)
            else:
                thing = _UNKNOWN
                if name.strip("_") in _METHODS:
                    self._found(name, where)
        while isinstance(thing, functools.partial):
            thing = thing.func
        if id(thing) in _OF_TORCH:
            self._found(_OF_TORCH[id(thing)], where)
        elif callable(thing) and not isinstance(thing, (type, nn.Module)):
            self._follow(thing, depth + 1)

    def _choose(self, table: Mapping[Any, Any], depth: int) -> None:
        """A table of functions: a word of the module's settings may choose one, as in transformers' config."""
        words = [word for word in vars(getattr(self._module, "config", object)).values() if isinstance(word, str)]
        chosen = [table[word] for word in words if word in table and isinstance(table[word], FunctionType)]
        self.blind |= type(table) is not dict or any(map(callable, table.values()))
        for function in chosen:
            self._by_fpemu |= str(function.__module__).startswith("fpemu.")
            self._follow(function, depth + 1)

    def _read(self, owner: nn.Module, name: str, path: str) -> None:
        if type(self._module).__module__.startswith("torch.nn"):  # which asks about layers before it goes round them
            return
        held: Any = owner._parameters.get(name)
        if held is None and name in getattr(owner, "parametrizations", ()):
            lists: Any = owner.parametrizations
            held = getattr(lists[name], "original", None)
        if held is not None and held.dim() > 1:
            self.reads[path] = held
            if isinstance(owner, (nn.Embedding, nn.EmbeddingBag)):
                self._tables.add(id(held))
