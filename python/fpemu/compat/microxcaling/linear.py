# SPDX-License-Identifier: BSD-2-Clause
"""Products of matrices with quantised operands: rounded to bfloat or fp, then to MX along what is summed; multiplied in
PyTorch's arithmetic; results rounded to bfloat or fp. The backward pass likewise, by its own formats."""

from __future__ import annotations

from typing import Any

import torch

from ..._first_order import apply, link, tied
from .elemwise_ops import quantize_elemwise_op
from .mx_ops import quantize_mx_op
from .specs import apply_mx_specs, get_backwards_mx_specs

# The originals: inject_pyt_ops replaces the public names.
_linear, _matmul, _addmm, _bmm = torch.nn.functional.linear, torch.matmul, torch.addmm, torch.bmm


def _elementwise(x: torch.Tensor, specs: Any, role: str) -> torch.Tensor:
    return quantize_elemwise_op(x, specs, specs["round_" + role])


def _mx(x: torch.Tensor, specs: Any, element: str, axis: int, role: str) -> torch.Tensor:
    return quantize_mx_op(x, specs, elem_format=specs[element], axes=[axis], round=specs["round_mx_" + role])


class LinearFunction(torch.autograd.Function):
    """input @ weight.T + bias."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, weight: torch.Tensor, bias: Any, specs: Any) -> Any:
        rounded, rounded_weight = _elementwise(x, specs, "output"), _elementwise(weight, specs, "weight")
        ctx.rounds = specs["quantize_backprop"]
        ends = link(ctx, x, *((rounded, rounded_weight) if ctx.rounds else (x, weight)))
        ctx.specs, ctx.has_bias = get_backwards_mx_specs(specs), bias is not None
        y = _linear(_mx(rounded, specs, "a_elem_format", -1, "output"),
                    _mx(rounded_weight, specs, "w_elem_format", -1, "output"))
        y = _elementwise(y, specs, "output")
        if bias is not None:
            y = _elementwise(y + _elementwise(bias, specs, "weight"), specs, "output")
        return y, ends

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor, _: torch.Tensor) -> Any:
        saved, specs = ctx.saved_tensors, ctx.specs
        x, weight, _ = saved
        outputs, inputs = weight.shape
        g = _elementwise(gradient, specs, "grad_input")
        by_weight = _matmul(
            _mx(g, specs, "a_elem_format_bp_ex", -2, "grad_output_grad_weight").reshape(-1, outputs).T,
            _mx(x, specs, "a_elem_format_bp", -2, "input_grad_weight").reshape(-1, inputs))
        by_input = _matmul(_mx(g, specs, "a_elem_format_bp_os", -1, "grad_output_grad_input"),
                           _mx(weight, specs, "w_elem_format_bp", 0, "weight_grad_input"))
        by_bias = _elementwise(g.reshape(-1, outputs).sum(0), specs, "grad_weight") if ctx.has_bias else None
        found = (_elementwise(by_input, specs, "grad_input"), _elementwise(by_weight, specs, "grad_weight"), by_bias,
                 None)
        return tied(found, gradient, *saved) if ctx.rounds else found


class MatMulFunction(torch.autograd.Function):
    """a @ b + bias; the letters of `mode` say whether an operand is an activation (a) or a weight (w)."""

    @staticmethod
    def forward(ctx: Any, a: torch.Tensor, b: torch.Tensor, bias: Any, specs: Any, mode: str) -> Any:
        rounded_a, rounded_b = _elementwise(a, specs, "output"), _elementwise(b, specs, "output")
        ctx.rounds = specs["quantize_backprop"]
        ends = link(ctx, a, *((rounded_a, rounded_b) if ctx.rounds else (a, b)))
        ctx.specs, ctx.mode, ctx.bias_shape = get_backwards_mx_specs(specs), mode, getattr(bias, "shape", None)
        y = _matmul(_mx(rounded_a, specs, mode[0] + "_elem_format", -1, "output"),
                    _mx(rounded_b, specs, mode[1] + "_elem_format", -2, "output"))
        y = _elementwise(y, specs, "output")
        if bias is not None:
            y = _elementwise(y + _elementwise(bias, specs, "weight"), specs, "output")
        return y, ends

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor, _: torch.Tensor) -> Any:
        saved, specs, mode = ctx.saved_tensors, ctx.specs, ctx.mode
        a, b, _ = saved
        g = _elementwise(gradient, specs, "grad_input")
        along_columns = _mx(g, specs, "a_elem_format_bp_os", -1, "grad_output_grad_input")
        along_rows = _mx(g, specs, "a_elem_format_bp_os", -2, "grad_output_grad_input")
        by_a = _matmul(along_columns, _mx(b, specs, mode[1] + "_elem_format_bp", -1, "input_grad_input").mT)
        by_b = _matmul(_mx(a, specs, mode[0] + "_elem_format_bp", -2, "input_grad_input").mT, along_rows)
        by_bias = None
        if ctx.bias_shape is not None:
            by_bias = _elementwise(g.sum_to_size(ctx.bias_shape), specs, "grad_weight")
        found = (_elementwise(by_a.sum_to_size(a.shape), specs, "grad_input"),
                 _elementwise(by_b.sum_to_size(b.shape), specs, "grad_input"), by_bias, None, None)
        return tied(found, gradient, *saved) if ctx.rounds else found


def linear(input: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None,  # noqa: A002
           mx_specs: Any = None, prequantized_weights: bool = False, name: str | None = None) -> torch.Tensor:
    """torch.nn.functional.linear by mx_specs; PyTorch's own without. prequantized_weights is refused: rounding a weight
    that is rounded changes nothing. name is not used."""
    if mx_specs is None:
        return _linear(input, weight, bias)
    if prequantized_weights:
        raise ValueError("prequantized_weights is not needed: rounded weights stay what they are")
    if input.dim() == 1:
        return linear(input[None], weight, bias, mx_specs)[0]
    return apply(LinearFunction, input, weight, bias, apply_mx_specs(mx_specs))


def matmul(in1: torch.Tensor, in2: torch.Tensor, bias: torch.Tensor | None = None, mx_specs: Any = None,
           name: str | None = None, mode_config: str = "aa") -> torch.Tensor:
    """torch.matmul of tensors of two dimensions and more, plus bias, by mx_specs; PyTorch's own without. mode_config:
    "aa", "aw" or "wa", whether an operand has the format of activations or of weights. name is not used."""
    if mx_specs is None:
        return _matmul(in1, in2) if bias is None else _addmm(bias, in1, in2)
    if mode_config not in ("aa", "aw", "wa"):
        raise ValueError(f"mode_config is aa, aw or wa, not {mode_config!r}")
    if in1.dim() < 2 or in2.dim() < 2:
        raise ValueError("operands have two dimensions or more")
    return apply(MatMulFunction, in1, in2, bias, apply_mx_specs(mx_specs), mode_config)


def bmm(in1: torch.Tensor, in2: torch.Tensor, mx_specs: Any = None, name: str | None = None) -> torch.Tensor:
    """torch.bmm by mx_specs."""
    if in1.dim() != 3 or in2.dim() != 3 or mx_specs is None:
        return _bmm(in1, in2)
    return matmul(in1, in2, None, mx_specs, name)


def addmm(bias: torch.Tensor, in1: torch.Tensor, in2: torch.Tensor, mx_specs: Any = None,
          name: str | None = None) -> torch.Tensor:
    """torch.addmm by mx_specs."""
    return matmul(in1, in2, bias, mx_specs, name)


class Linear(torch.nn.Linear):
    """torch.nn.Linear by mx_specs; PyTorch's own without."""

    def __init__(self, in_features: int, out_features: int, bias: bool = True, mx_specs: Any = None,
                 name: str | None = None, **options: Any) -> None:
        super().__init__(in_features, out_features, bias, **options)
        self.name = name
        self.apply_mx_specs(mx_specs)

    def apply_mx_specs(self, mx_specs: Any) -> None:
        """Takes other specs, or none."""
        self.mx_none, self.mx_specs = mx_specs is None, apply_mx_specs(mx_specs)

    def forward(self, input: torch.Tensor) -> torch.Tensor:  # noqa: A002
        return linear(input, self.weight, self.bias, None if self.mx_none else self.mx_specs, name=self.name)
