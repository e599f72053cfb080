# SPDX-License-Identifier: BSD-2-Clause
"""Arrays that the binding does not know by itself: they are adopted as NumPy arrays, and results returned in their own
kind. Also names of dtypes, and what autograd needs to be told of."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native

CARRIERS = ("float32", "float64", "float16", "bfloat16")

# fpemu_use of fpemu/quantize.h; operations and functions are added to the last two.
QUANTIZE, ENCODE, DECODE, PACK, UNPACK, SCALES, OPERATION, FUNCTION = 0, 1, 2, 3, 4, 5, 64, 128


def carrier_of(dtype: Any) -> int:
    """The number of a dtype that holds values, told by a text, by NumPy, torch, jax or ml_dtypes. TypeError for
    others."""
    kind = dtype.type if isinstance(dtype, np.dtype) else dtype  # whose name NumPy need not put together
    name = dtype if isinstance(dtype, str) else getattr(kind, "__name__", None) or getattr(dtype, "name", None)
    if not isinstance(name, str):
        name = str(dtype)  # torch.float32
    name = {"single": "float32", "double": "float64", "float": "float64", "half": "float16"}.get(
        name.removeprefix("torch."), name.removeprefix("torch."))
    if name not in CARRIERS:
        raise TypeError(f"values are held in {', '.join(CARRIERS)}, not in {dtype!r}")
    return CARRIERS.index(name)


def default_carrier(format: Any) -> int:
    """float32 where it holds every value, else float64."""
    return 0 if _native.format(format).fits_f32 else 1


def shape_of(array: Any) -> tuple[int, ...]:
    """The shape of any array; of a Python number ()."""
    return tuple(int(size) for size in getattr(array, "shape", ()))


def to_numpy(array: Any) -> Any:
    """The same memory as a NumPy array; of a device's array a copy."""
    if isinstance(array, np.ndarray):
        return array
    if hasattr(array, "detach"):
        torch, array = sys.modules["torch"], array.detach()
        if array.device.type != "cpu":
            array = array.cpu()
        if array.dtype == torch.bfloat16:
            return array.view(torch.int16).numpy().view(importlib.import_module("ml_dtypes").bfloat16)
        return array.numpy()
    return np.asarray(array)


def float64_of(numbers: Any) -> npt.NDArray[np.float64]:
    """Python's numbers, one or some in lists, as an array of float64. ValueError for an integer that float64 does not
    hold: it would be rounded before the rounding that was asked for."""
    try:
        held = np.asarray(numbers, dtype=np.float64)
        large = bool((np.abs(held) >= 2.0 ** 53).any())
    except OverflowError:
        large, held = True, np.zeros(0)
    if large:
        for number in np.asarray(numbers, dtype=object).flat:
            if isinstance(number, (int, np.integer)) and not _is_float64(int(number)):
                raise ValueError("an integer that float64 does not hold would be rounded twice: pass a float")
    return held


def _is_float64(number: int) -> bool:
    try:
        return float(number) == number
    except OverflowError:
        return False


# ------------------------------------------------------------------------------------------------- adoption
class _Adopted:
    """NumPy arrays in place of a call's arguments, and the way back for its results."""

    def __init__(self) -> None:
        self.back: Any = None

    def __call__(self, value: Any) -> Any:
        if value is None or type(value) in (int, float):
            return value  # a matrix that is left out; a number beside an array
        if isinstance(value, np.ndarray):
            return self._ndarray(value)
        if isinstance(value, np.generic):
            self._remember(lambda result: result[()])
            return np.asarray(value)
        if _is_jax(value):
            return self._jax(value)
        return self._other(value)

    def _remember(self, back: Any) -> None:
        if self.back is None:
            self.back = back

    def _ndarray(self, value: Any) -> Any:
        if isinstance(value, np.ma.MaskedArray):
            raise TypeError("a masked array has elements that are none: pass x.filled(...) or x.data")
        self._remember(lambda result: result)
        if type(value) is not np.ndarray:
            value = np.ndarray.view(value, np.ndarray)
        return value if _is_aligned(value) else value.copy()

    def _jax(self, value: Any) -> Any:
        jax = importlib.import_module("jax")
        if isinstance(value, jax.core.Tracer):
            raise TypeError("the array is traced by jax: fpemu.jax has functions that work under jit, vmap and grad")
        if any(device.platform != "cpu" for device in value.devices()):
            raise TypeError("the array lies on an accelerator: fpemu works on the processor; jax.device_get(x) brings "
                            "it")
        device = next(iter(value.devices()))
        self._remember(lambda result: jax.device_put(result, device))
        return np.asarray(value)

    def _other(self, value: Any) -> Any:
        if hasattr(value, "__dlpack__"):
            package = type(value).__module__.partition(".")[0]
            try:
                adopted = np.from_dlpack(value)
            except (BufferError, RuntimeError, TypeError) as error:
                raise TypeError(f"{package}'s array could not be read by DLPack: {error}") from error
            self._remember(lambda result: result)
            return adopted
        if hasattr(value, "__array_interface__"):
            self._remember(lambda result: result)
            return np.asarray(value)
        raise TypeError(f"{type(value).__name__} is no array that fpemu knows: it takes arrays of NumPy, torch and "
                        "jax, and what has __dlpack__ or __array_interface__; numpy.asarray makes one of a list")


def told(x: Any) -> Any:
    """x, which tells its shape and dtype; what has the protocols of arrays alone, and numbers, as NumPy's arrays."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(x, torch.Tensor):
        check_dense(torch, x)  # before others fail at its shape
    if hasattr(x, "shape") and hasattr(x, "dtype"):
        return x
    if x is None:
        raise TypeError("None is no array")
    return float64_of(x) if type(x) in (int, float) else _Adopted()(x)


_ARRAYS = {  # places of arrays among the arguments of a verb; names where it has some
    "quantize": (0, "x"), "encode": (0,), "decode": (0,), "arith": (1,), "apply": (1,), "compare": (1, 2), "pack": (0,),
    "unpack": (0,), "measure": (0,), "swizzle": (0,), "matmul": (0, 1, 5, 6, 7), "unpack_scales": (0,),
    "quantize_given": (0,),
}


# Where the result of a verb is told: the place of `out` among its arguments, or its name.
_OUT: dict[str, int | str] = {"quantize": "out", "encode": 4, "decode": 3, "arith": 5, "apply": 5, "compare": 3,
                              "unpack": 5, "matmul": 8}


def _out_of(verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    place = _OUT.get(verb)
    if isinstance(place, int):
        return args[place] if place < len(args) else None
    return kwargs.get(place) if place is not None else None


def memory_of(out: Any) -> Any:
    """The memory of an `out` that the binding does not know by itself, as a NumPy array."""
    if isinstance(out, np.ma.MaskedArray):
        raise TypeError("out is a masked array, which has elements that are none: pass out.data")
    if isinstance(out, np.ndarray):
        memory = np.ndarray.view(out, np.ndarray)
        if not _is_aligned(memory):
            raise TypeError("out is not in aligned memory, or has strides that are no whole elements: fpemu writes to "
                            "no such array, but out[...] = does")
        return memory
    if _is_jax(out):
        raise TypeError("jax arrays do not change: out= is not for them")
    check_memory(out)
    raise TypeError(f"out is an array of NumPy or a tensor in plain memory, as the input is, not {type(out).__name__}")


def check_memory(out: Any) -> None:
    """Refuses a tensor whose numbers are not what its memory holds: what is written there would be read as another."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(out, torch.Tensor) and (out.is_neg() or out._is_zerotensor()):
        raise TypeError("out is a view with torch's negative bit, or a zero without memory: fpemu writes to no such "
                        "tensor, but out.copy_ does")


def _is_jax(array: Any) -> bool:
    return type(array).__module__.partition(".")[0] in ("jax", "jaxlib")


def _is_aligned(array: Any) -> bool:
    return bool(array.flags.aligned) and not any(stride % array.itemsize for stride, size in
                                                 zip(array.strides, array.shape, strict=True) if size > 1)


def _is_same(a: Any, b: Any) -> bool:
    return all(map(_is_same, a, b)) if isinstance(a, tuple) and isinstance(b, tuple) else a is b


def _arrays_of(verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    found: list[Any] = []
    for place in _ARRAYS[verb]:
        value: Any = kwargs.get(place) if isinstance(place, str) else args[place] if place < len(args) else None
        found += value if verb == "arith" else [value]
    return [value for value in found if value is not None] or found


def adopt(verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Carries out _native.<verb> on arrays that it did not take."""
    arrays = _arrays_of(verb, args, kwargs)
    number = next((array for array in arrays if type(array) in (int, float)), None) if verb == "matmul" else None
    if number is not None:
        raise TypeError(f"matmul takes arrays, not the number {number!r:.40}")
    torch = sys.modules.get("torch")
    if torch is not None and any(hasattr(type(array), "__torch_function__") for array in arrays):
        return _adopt_torch(torch, verb, args, kwargs, arrays)
    if arrays[0] is None:
        raise TypeError("None is no array")
    out = _out_of(verb, args, kwargs)
    if all(type(array) in (int, float) for array in arrays):
        if out is not None:
            raise TypeError("out= is for arrays")
        return _on_numbers(verb, args, kwargs)
    if out is not None and any(map(_is_jax, arrays)):
        raise TypeError("jax arrays do not change: out= is not for them")
    adopted = _Adopted()
    places = {place for place in _ARRAYS[verb] if isinstance(place, int)}
    new_args = (args[0], tuple(map(adopted, args[1])), *args[2:]) if verb == "arith" else \
        tuple(adopted(value) if i in places else value for i, value in enumerate(args))
    new_kwargs = {name: adopted(value) if name in _ARRAYS[verb] else value for name, value in kwargs.items()}
    if all(map(_is_same, args, new_args)) and all(_is_same(value, new_kwargs[name]) for name, value in kwargs.items()):
        raise TypeError(f"{verb} takes arrays: None stands where one is needed")  # the binding would refuse them again
    result = getattr(_native, verb)(*new_args, **new_kwargs)
    back = adopted.back or (lambda value: value)
    if isinstance(result, np.ndarray):
        return back(result)
    if isinstance(result, tuple):
        return tuple(back(item) if isinstance(item, np.ndarray) else item for item in result)
    return result


def _on_numbers(verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Python's numbers are binary64 numbers, and so are results."""
    def array(value: Any) -> Any:
        return tuple(map(array, value)) if isinstance(value, tuple) else \
            float64_of(value) if type(value) in (int, float) else value

    if verb in ("decode", "unpack", "swizzle", "unpack_scales"):
        raise TypeError(f"{verb} takes arrays, not numbers")
    places = _ARRAYS[verb]
    # a tuple: CPython 3.11 loses an object where a generator of arguments raises
    new_args = tuple(array(value) if i in places else value for i, value in enumerate(args))
    new_kwargs = {name: array(value) if name in places else value for name, value in kwargs.items()}
    result = getattr(_native, verb)(*new_args, **new_kwargs)
    return result.item() if isinstance(result, np.ndarray) and result.ndim == 0 else result


_RECORDED, _SEEN = 1, 2  # of _native.watched()
_OPERATORS = ("quantize", "encode", "arith", "apply")  # verbs that fpemu.torch carries out where it is seen


def _adopt_torch(torch: Any, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any], arrays: list[Any]) -> Any:
    """Tensors that are more than memory: with gradients, traced, batched, on another device; or of an old torch."""
    tensors = [array for array in arrays if hasattr(type(array), "__torch_function__")]
    for tensor in tensors:
        if not isinstance(tensor, torch.Tensor):  # torch.fx's, which stand for one
            continue
        check_dense(torch, tensor)
        if tensor.dtype.is_complex or not (tensor.dtype.is_floating_point or verb in ("decode", "unpack", "swizzle",
                                                                                      "unpack_scales")):
            raise TypeError(f"the tensor has the dtype {tensor.dtype}: fpemu takes float64, float32, float16 and "
                            "bfloat16, and rounds none of them first")
    own, watched = (torch.Tensor, torch.nn.Parameter), _native.watched()
    if watched & _RECORDED and verb != "matmul" and is_audited(torch):  # which has to see every product
        watched = watched & ~_RECORDED | _SEEN
    plain = not watched & _RECORDED and all(
        type(t) in own and t.device.type == "cpu" and not (t.requires_grad and torch.is_grad_enabled())
        and not torch._C._functorch.is_functorch_wrapped_tensor(t) and not torch._is_functional_tensor(t)
        and not has_tangent(t) for t in tensors)
    if plain and not (watched & _SEEN and verb in _OPERATORS and all(
            getattr(value, "_spec", "") is not None for value in (*args, *kwargs.values()))):  # a table has no text
        if any(t.is_neg() or t._is_zerotensor() for t in tensors):
            check_memory(_out_of(verb, args, kwargs))

            def solid(tensor: Any) -> Any:
                zeros = tensor._is_zerotensor()
                return torch.zeros(tensor.shape, dtype=tensor.dtype) if zeros else tensor.resolve_neg()

            return getattr(_native, verb)(*_map_tensors(torch, args, solid),
                                          **{k: _map_tensors(torch, (v,), solid)[0] for k, v in kwargs.items()})
        if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
            with torch._C._DisableFuncTorch():
                return _through_numpy(torch, verb, args, kwargs)
        if any(map(torch._C._functorch.is_legacy_batchedtensor, tensors)):
            raise TypeError("gradients come in a batch (is_grads_batched=True, jacobian(vectorize=True)), which fpemu "
                            "cannot see into: torch.vmap over torch.autograd.grad, one by one, takes them")
        if watched:  # for what this call has no part in
            with torch._C._DisableFuncTorch():
                return _native.unwatched(getattr(_native, verb), *args, **kwargs)
        mixed = [type(a).__name__ for a in arrays if not isinstance(a, (torch.Tensor, int, float))]
        raise TypeError(f"operands are arrays of different kinds: Tensor and {mixed[0]}" if mixed else
                        "the tensor's memory cannot be seen: fpemu takes dense tensors; clone() makes one")
    front = importlib.import_module("fpemu.torch")
    return front.adopt(verb, args, kwargs)


def is_audited(torch: Any) -> bool:
    """Whether nobody but fpemu.torch.audit, which records no graph, stands in torch's dispatcher."""
    modes = torch.utils._python_dispatch._get_current_dispatch_mode_stack()
    return not torch._C._is_tracing() and all(getattr(mode, "only_looks", False) for mode in modes)


def check_dense(torch: Any, tensor: Any) -> None:
    """TypeError for a nested, sparse or quantized tensor."""
    if tensor.is_nested:
        raise TypeError("the tensor is nested: fpemu takes dense tensors; unbind() gives those that it has")
    if tensor.layout != torch.strided:
        raise TypeError(f"the tensor is {str(tensor.layout).removeprefix('torch.')}: fpemu takes dense tensors; "
                        "to_dense() makes one")
    if tensor.is_quantized:
        raise TypeError(f"the tensor is quantized, of {tensor.dtype}: dequantize() gives the numbers it stands for")


def has_tangent(tensor: Any) -> bool:
    """Whether a derivative is carried forward with a tensor."""
    torch = sys.modules["torch"]
    forward = torch.autograd.forward_ad
    if forward._current_level < 0:
        return False
    functorch = torch._C._functorch
    forward_levels = {level.level() for level in functorch.get_interpreter_stack() or ()
                      if level.key() == functorch.TransformType.Jvp}
    while functorch.is_functorch_wrapped_tensor(tensor):
        if functorch.maybe_get_level(tensor) in forward_levels and forward.unpack_dual(tensor).tangent is not None:
            return True
        tensor = functorch.get_unwrapped(tensor)
    return forward.unpack_dual(tensor).tangent is not None


def _map_tensors(torch: Any, values: tuple[Any, ...], change: Any) -> tuple[Any, ...]:
    return tuple(change(v) if isinstance(v, torch.Tensor) else
                 _map_tensors(torch, v, change) if isinstance(v, tuple) else v for v in values)


def _through_numpy(torch: Any, verb: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """NumPy's view of the same memory: for a torch without the C functions of DLPack 1.3."""
    def back(result: Any) -> Any:
        if not isinstance(result, np.ndarray):
            return result
        if result.dtype.name == "bfloat16":
            return torch.from_numpy(result.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(result)

    out = _out_of(verb, args, kwargs)
    result = getattr(_native, verb)(*_map_tensors(torch, args, to_numpy),
                                    **dict(zip(kwargs, _map_tensors(torch, tuple(kwargs.values()), to_numpy),
                                               strict=True)))
    if isinstance(out, torch.Tensor):
        bump(out)
        return out
    return tuple(map(back, result)) if isinstance(result, tuple) else back(result)


# ------------------------------------------------------------------------------------------------- autograd
def bump(tensor: Any) -> None:
    """Tells autograd that a tensor was written."""
    sys.modules["torch"].autograd.graph.increment_version(tensor)


def grad_enabled() -> bool:
    """Whether autograd records."""
    torch = sys.modules.get("torch")
    return torch is not None and bool(torch.is_grad_enabled())
