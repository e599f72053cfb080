# SPDX-License-Identifier: BSD-2-Clause
"""The dictionary of what is quantised, and how: microxcaling's keys and defaults."""

from __future__ import annotations

import collections
from collections.abc import Mapping, MutableMapping
from typing import Any

__all__ = ["MxSpecs", "apply_mx_specs", "finalize_mx_specs", "get_backwards_mx_specs", "get_default_mx_specs"]

_DEFAULTS: dict[str, Any] = {
    "scale_bits": 0,  # bits of a block's scale; 0 is 8
    "w_elem_format": None,  # element format of weights: fp8_e5m2, fp8_e4m3, fp6_e3m2, fp6_e2m3, fp4_e2m1, int8, int4
    "a_elem_format": None,  # element format of activations
    "w_elem_format_bp": None,  # element format of weights in the backward pass
    "a_elem_format_bp": None,  # element format of stored activations in the backward pass
    "a_elem_format_bp_ex": None,  # element format of gradients of activations, along the examples
    "a_elem_format_bp_os": None,  # element format of gradients of activations, along the outputs
    "mx_flush_fp32_subnorms": False,  # blocks whose largest number is subnormal in binary32 become zero
    "shared_exp_method": "max",  # max: a scale a block; none: a scale an element
    "block_size": 0,  # elements of a block; 0 is a whole axis
    "bfloat": 0,  # bits of a float of 8 exponent bits for all that is not MX; 0 is none
    "fp": 0,  # bits of a float of 5 exponent bits for all that is not MX; 0 is none
    "bfloat_subnorms": True,  # bfloat and fp have subnormal numbers
    "quantize_backprop": True,  # the backward pass is quantised too
    "round": "nearest",  # rounding of everything that names none: nearest, floor, even, dither
    "round_m": "nearest",  # rounding of Adam's moments
    "round_weight": "nearest",  # rounding of weights to bfloat
    "round_output": "nearest",  # rounding of activations to bfloat
    "round_grad_weight": "nearest",  # rounding of gradients of weights to bfloat
    "round_grad_input": "nearest",  # rounding of gradients of activations to bfloat
    "round_mx_output": "nearest",  # rounding to MX in the forward pass
    "round_mx_input_grad_input": "nearest",  # rounding to MX of inputs, for gradients of inputs
    "round_mx_weight_grad_input": "nearest",  # rounding to MX of weights, for gradients of inputs
    "round_mx_grad_output_grad_input": "nearest",  # rounding to MX of gradients, for gradients of inputs
    "round_mx_input_grad_weight": "nearest",  # rounding to MX of inputs, for gradients of weights
    "round_mx_grad_output_grad_weight": "nearest",  # rounding to MX of gradients, for gradients of weights
    "softmax_exp2": False,  # softmax of powers of two (kept for programs; no function here reads it)
    "vec_use_exp2": False,  # e^x by powers of two (likewise)
    "vec_use_recip": False,  # division by a reciprocal (likewise)
    "custom_cuda": False,  # microxcaling's own kernels (likewise)
}

_FORMATS = ("w_elem_format", "a_elem_format", "w_elem_format_bp", "a_elem_format_bp", "a_elem_format_bp_os",
            "a_elem_format_bp_ex")

# Which entry stands for another that was not given, in this order.
_FOLLOW = (("w_elem_format_bp", "w_elem_format"), ("a_elem_format_bp", "a_elem_format"),
           ("a_elem_format_bp_os", "a_elem_format"), ("a_elem_format_bp_ex", "a_elem_format"), ("round_m", "round"),
           ("round_output", "round"), ("round_grad_weight", "round"), ("round_grad_input", "round"),
           ("round_weight", "round"), ("round_mx_output", "round"), ("round_mx_input_grad_input", "round_grad_input"),
           ("round_mx_weight_grad_input", "round_grad_input"),
           ("round_mx_grad_output_grad_input", "round_grad_input"),
           ("round_mx_input_grad_weight", "round_grad_input"),
           ("round_mx_grad_output_grad_weight", "round_grad_input"))


class MxSpecs(collections.UserDict[str, Any]):
    """A dictionary with all keys; those not given have their defaults. AssertionError for a key that there is not."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        unknown = set(self.data) - set(_DEFAULTS)
        if unknown:
            raise AssertionError(f"no key {', '.join(sorted(unknown))} in mx specs")
        self.data = _DEFAULTS | self.data


def get_default_mx_specs() -> MxSpecs:
    """Specs that quantise nothing."""
    return MxSpecs()


def get_backwards_mx_specs(specs: Any) -> Any:
    """Specs of the backward pass: those of the forward pass, or without any format if quantize_backprop is false."""
    back = specs.copy()
    if not back["quantize_backprop"]:
        back.update(dict.fromkeys(_FORMATS), block_size=0, bfloat=0, fp=0)
    return back


def apply_mx_specs(mx_specs: Mapping[str, Any] | None, default_mx_specs: Any = None) -> Any:
    """The defaults (changed in place, where they are given) with all entries of mx_specs that are not None. KeyError
    for a key that there is not."""
    specs = default_mx_specs if default_mx_specs else get_default_mx_specs()
    for key, value in (mx_specs or {}).items():
        if value is not None:
            if key not in specs:
                raise KeyError(f"no key {key!r} in mx specs")
            specs[key] = value
    return specs


def finalize_mx_specs(specs: MutableMapping[str, Any], early_exit: bool = True) -> Any:
    """Specs in which entries that were not given follow those that they depend on: formats of the backward pass those
    of the forward pass, roundings `round`. None where nothing is quantised, if early_exit is true."""
    if early_exit and not any(specs.get(key) for key in (*_FORMATS, "bfloat", "fp")):
        return None
    for key, other in _FOLLOW:
        if specs.get(key) is None and other in specs:
            specs[key] = specs[other]
    return apply_mx_specs(specs, get_default_mx_specs())
