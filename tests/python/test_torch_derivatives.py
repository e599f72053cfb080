# SPDX-License-Identifier: BSD-2-Clause
"""Derivatives other than first ones, backward, through rounded layers: right, or refused by a line of ours; never zero
or a part."""

from __future__ import annotations

import pytest
from same import refuses

torch = pytest.importorskip("torch")

import fpemu.compat.microxcaling as mx  # noqa: E402
import fpemu.torch as ft  # noqa: E402
import torch.autograd.forward_ad as forward_ad  # noqa: E402
from fpemu.compat.qtorch import FixedPoint, FloatingPoint  # noqa: E402
from fpemu.compat.qtorch.quant import quantizer  # noqa: E402
from torch import nn  # noqa: E402
from torch.autograd import functional as A  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

EVERYTHING = ft.recipe("fp32")  # the identity, through all the machinery
ACCUMULATED = ft.Recipe(forward=ft.Product(accumulator="fp32"), data_gradient=ft.Product(accumulator="fp32"))


def attention(x):
    return ft.attention(x, x, x, recipe=EVERYTHING)


def mx_specs(**changes):
    return mx.finalize_mx_specs({"w_elem_format": "fp8_e4m3", "a_elem_format": "fp8_e4m3", "block_size": 32,
                                 "scale_bits": 8, "bfloat": 16, **changes})


def e5m2(**how):
    return quantizer(FloatingPoint(5, 2), FloatingPoint(5, 2), "nearest", "nearest", **how)


LAYERS = {
    "linear": lambda: ft.convert(nn.Linear(4, 4), EVERYTHING),
    "accumulated": lambda: ft.convert(nn.Linear(4, 4), ACCUMULATED),
    "conv": lambda: ft.convert(nn.Conv1d(3, 3, 1), EVERYTHING),
    "transposed": lambda: ft.convert(nn.ConvTranspose1d(3, 3, 1), EVERYTHING),
    "norm": lambda: ft.convert(nn.LayerNorm(4), EVERYTHING),
    "batch norm": lambda: ft.convert(nn.BatchNorm1d(4, track_running_stats=False), EVERYTHING),
    "attention": lambda: attention,
    "multihead": lambda: (lambda m: lambda x: m(x, x, x)[0])(ft.convert(nn.MultiheadAttention(4, 2), EVERYTHING)),
    "mx linear": lambda: mx.Linear(4, 4, mx_specs=mx_specs()),
    "mx matmul": lambda: lambda x: mx.matmul(x, x.mT, mx_specs=mx_specs()),
    "mx bfloat": lambda: lambda x: mx.quantize_bfloat(x, mx_specs()),
    "qtorch": e5m2,
    "qtorch clamped": lambda: quantizer(FixedPoint(8, 4), FixedPoint(8, 4), "nearest", "nearest",
                                        clamping_grad_zero=True),
}


@pytest.fixture(params=LAYERS)
def layer(request):
    torch.manual_seed(3)
    return LAYERS[request.param]()


def penalty(function, x, *others):
    """A gradient penalty's gradient, asked as programs do."""
    x = x.clone().requires_grad_()
    gradient, = torch.autograd.grad(function(x), x, create_graph=True, allow_unused=True)
    return torch.autograd.grad(gradient.square().sum(), [x, *others], allow_unused=True)


def refused(kind, text):
    return pytest.raises(kind, match=f"fpemu.*({text})")


def test_second_derivatives_are_refused_however_they_are_asked_for(layer):
    x, ones = torch.randn(3, 4), torch.ones(3, 4)
    asked = (lambda: A.hessian(lambda t: layer(t).square().sum(), x),
             lambda: A.hessian(lambda t: (t.sum() + layer(t)).square().sum(), x),
             lambda: A.hvp(lambda t: layer(t).square().sum(), x, ones, strict=True),
             lambda: A.vhp(lambda t: layer(t).square().sum(), x, ones),
             lambda: A.jvp(layer, x, ones),
             lambda: A.jvp(lambda t: t.sum() + layer(t), x, ones, create_graph=True),
             lambda: penalty(lambda t: layer(t).square().sum(), x),
             lambda: penalty(lambda t: checkpoint(lambda u: layer(u), t, use_reentrant=False).square().sum(), x))
    for ask in asked:
        with refused(RuntimeError, "first derivatives alone"):
            ask()


@pytest.mark.parametrize("name", ["linear", "conv", "mx linear"])
def test_a_gradient_that_follows_from_the_weight_alone_is_tied_to_it(name):
    layer = LAYERS[name]()
    with refused(RuntimeError, "first derivatives alone"):
        penalty(lambda t: layer(t).sum(), torch.randn(3, 4), layer.weight)


def test_gradients_with_a_graph_are_the_same_and_can_be_changed_in_place(layer):
    x = torch.randn(3, 4, requires_grad=True)
    plain, = torch.autograd.grad(layer(x).square().sum(), x)
    kept, = torch.autograd.grad(layer(x).square().sum(), x, create_graph=True)
    assert torch.equal(plain, kept) and kept.requires_grad
    with torch.no_grad():
        kept.mul_(2)
    assert torch.equal(kept, 2 * plain)


def test_transforms_and_derivatives_forward_are_refused(layer):
    x = torch.randn(3, 4)
    for ask in (lambda: torch.vmap(layer)(x[None]), lambda: torch.func.grad(lambda t: layer(t).sum())(x),
                lambda: torch.func.jacrev(layer)(x), lambda: torch.func.jvp(layer, (x,), (x,)),
                lambda: torch.func.hessian(lambda t: layer(t).sum())(x)):
        with refused(NotImplementedError, "torch.vmap and torch.func|no derivative forward"):
            ask()
    with forward_ad.dual_level(), refused(NotImplementedError, "no derivative forward"):
        layer(forward_ad.make_dual(x, x).requires_grad_())


@pytest.mark.parametrize("call", [ft.convert(nn.Linear(4, 4), EVERYTHING),
                                  lambda t: ft.quantize(t, "fp32", backward="fp32")])
def test_gradients_in_a_batch(call):
    x = torch.randn(4, requires_grad=True)
    y = call(x)
    for ask in (lambda: A.jacobian(call, x, vectorize=True),
                lambda: torch.autograd.grad(y, x, torch.eye(4), is_grads_batched=True, retain_graph=True)):
        refuses(TypeError, ask, "torch.vmap over torch.autograd.grad")
    rows = torch.vmap(lambda v: torch.autograd.grad(y, x, v, retain_graph=True)[0])(torch.eye(4))
    exact = call.weight if isinstance(call, nn.Module) else torch.eye(4)
    assert torch.allclose(rows, exact) and torch.allclose(A.jacobian(call, x), exact)


def test_functional_calls_need_no_transform():
    layer, x = LAYERS["linear"](), torch.randn(3, 4)
    weights = {name: 2 * p for name, p in layer.named_parameters()}
    y = torch.func.functional_call(layer, weights, (x,))
    assert torch.allclose(y, 2 * layer(x), atol=1e-6) and y.requires_grad


def test_second_derivatives_that_there_are():
    x = torch.randn(3, 4)
    w = torch.randn(4, 4)
    plain = mx_specs(quantize_backprop=False) | {"w_elem_format": None, "a_elem_format": None, "bfloat": 0}
    for call in (lambda t: ft.matmul(ft.quantize(t, "fp32", backward="fp32"), w, "fp32"),
                 lambda t: mx.linear(t, w.T, mx_specs=plain),
                 lambda t: quantizer(None, None)(t) @ w):
        found = A.hessian(lambda t: call(t).square().sum(), x)
        assert torch.allclose(found, A.hessian(lambda t: (t @ w).square().sum(), x), atol=1e-4)


@pytest.mark.parametrize("norm", [nn.BatchNorm1d(4), nn.LayerNorm(4), nn.RMSNorm(4)])
def test_a_norm_s_result_can_be_changed_in_place(norm):
    ft.convert(norm, ft.Recipe(norm="fp32", gradient="e5m2"))
    gradients = []
    for inplace in (False, True):
        x = torch.randn(3, 4, generator=torch.Generator().manual_seed(1)).requires_grad_()
        nn.functional.relu(norm(x), inplace=inplace).square().sum().backward()
        gradients.append(x.grad)
    assert torch.equal(*gradients) and gradients[0].any()
