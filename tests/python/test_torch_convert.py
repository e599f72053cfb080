# SPDX-License-Identifier: BSD-2-Clause
"""fpemu.torch.convert and the layers: against casts of torch and ml_dtypes, and products that are exact in float64."""

from __future__ import annotations

import copy
import functools
import json
import warnings
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest
from models import SCALED, Past, close, e4m3, e5m2, grid, loaded, products, same, step
from same import refuses

torch = pytest.importorskip("torch")
ml_dtypes = pytest.importorskip("ml_dtypes")

import fpemu  # noqa: E402
import fpemu.torch as ft  # noqa: E402
import numpy as np  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from fpemu.torch import functional, operators  # noqa: E402
from torch import nn  # noqa: E402

f = ft.functional
pytestmark = pytest.mark.usefixtures("seeded")


# ------------------------------------------------------------------------------------------------ judges
def mxfp8(x, axis):
    """OCP MX 1.0, 6.3, with E4M3 elements, block by block, by ml_dtypes' cast and exact powers of two."""
    x = np.moveaxis(x.detach().double().numpy(), axis, -1)
    y = np.zeros_like(x)
    for i in range(0, x.shape[-1], 32):
        block = x[..., i:i + 32]
        amax = np.abs(block).max(-1, keepdims=True)
        scale = np.ldexp(1.0, np.frexp(amax)[1] - 1 - 8)
        scale[amax == 0] = 1
        y[..., i:i + 32] = np.clip(block / scale, -448, 448).astype(ml_dtypes.float8_e4m3fn).astype(np.float64) * scale
    return torch.from_numpy(np.moveaxis(y, -1, axis).copy())


# ------------------------------------------------------------------------------------------------ random bits
def test_eden_draws_other_bits_in_every_call_of_a_layer():
    eden, x = "nvfp4(rule=eden)", torch.eye(256)
    for shared in (eden, "mx(e2m1,correct=64)", "q6_k"):
        assert ft.quantize_(x.clone(), shared).equal(ft.quantize(x, shared))
        refuses(fpemu.Error, lambda: fpemu.quantize(x, shared, out=x), "another array")  # noqa: B023
    layer = ft.convert(nn.Linear(256, 8, bias=False), ft.Recipe(weight=eden, gradient=eden))
    first, second = layer(x), layer(x)
    assert not torch.equal(first, second)
    ft.manual_seed(layer, 0, 0)
    assert torch.equal(layer(x), first) and torch.equal(layer(x), second)
    ft.freeze(layer)
    assert not torch.equal(layer(x), second)
    quantizer = ft.Quantizer(eden, backward=eden)
    assert not torch.equal(quantizer(layer.weight), quantizer(layer.weight))
    state, w = ft.new_state(3, 1), layer.weight.detach()
    y = ft.quantize(w, eden, state=state)
    for start in (0, 4):  # a part has its bits and the scale of the whole
        part = ft.quantize(w[start:start + 4], eden, state=state, whole=[8, 256], start=[start, 0],
                           range=ft.measure(w, eden))
        assert torch.equal(part, y[start:start + 4])
    refuses(ValueError, lambda: ft.quantize(w[:4], eden, whole=[8, 256], start=[0, 0]), "range")
    refuses(ValueError, lambda: ft.quantize(w[:, :128], eden, whole=[8, 256], start=[0, 0]), "two parts")
    rows = "nvfp4(outer=row)"
    part = ft.quantize(w[4:], rows, whole=[8, 256], start=[4, 0])
    assert torch.equal(part, ft.quantize(w, rows)[4:])
    refuses(ValueError, lambda: ft.quantize(w[:, :128], rows, whole=[8, 256], start=[0, 0], range=ft.measure(w, rows)),
            "two parts")


# ------------------------------------------------------------------------------------------------ linear
def test_linear_is_the_product_of_casts_bit_for_bit():
    x, w, b, g = (t.requires_grad_() for t in (grid(3, 5, 32), grid(16, 32), e4m3(grid(16)), grid(3, 5, 16)))
    y = f.linear(x, w, b, recipe="fp8")
    y.backward(g)
    xq, wq, gq = e4m3(x.detach()).double(), e4m3(w.detach()).double(), e5m2(g).double()
    assert not torch.equal(xq.float(), x.detach()) and not torch.equal(gq.float(), g)
    assert torch.equal(y, (xq @ wq.T).float() + b.detach())
    assert torch.equal(x.grad, (gq @ wq).float())
    assert torch.equal(w.grad, (gq.flatten(0, 1).T @ xq.flatten(0, 1)).float())
    assert torch.equal(b.grad, g.sum((0, 1)))


@pytest.mark.parametrize("accumulator", [None, "seq(fp32)", "fp64; splits=int8x8"])
@pytest.mark.parametrize("shape, outputs", [((2, 0), 3), ((2, 4, 0), 3), ((0,), 3), ((2, 4), 0), ((4,), 0)])
def test_linear_without_inputs_or_outputs_is_torch_s(accumulator, shape, outputs):
    product = ft.Product(accumulator=accumulator)
    plain = nn.Linear(shape[-1], outputs)
    layer = ft.convert(copy.deepcopy(plain), ft.Recipe(input="e4m3fn", gradient="e4m3fn", forward=product,
                                                       data_gradient=product, weight_gradient=product))
    x, again = (torch.ones(shape, requires_grad=True) for _ in range(2))
    y, wanted = layer(x), plain(again)
    assert same([y], [wanted])
    y.backward(torch.ones_like(y))
    wanted.backward(torch.ones_like(y))
    assert same([x.grad, layer.weight.grad, layer.bias.grad], [again.grad, plain.weight.grad, plain.bias.grad])


def test_products_may_have_operands_and_results_of_their_own():
    recipe = ft.Recipe(input="e4m3fn:saturate", weight="bf16", gradient="e5m2", bias="e5m2",
                       forward=ft.Product(result="bf16"), data_gradient=ft.Product(left="bf16", right="e5m2"),
                       weight_gradient=ft.Product(right="bf16", result="e4m3fn:saturate"))
    x, w, b, g = grid(8, 16).requires_grad_(), grid(4, 16).requires_grad_(), grid(4).requires_grad_(), grid(8, 4)
    y = f.linear(x, w, b, recipe=recipe)
    y.backward(g)
    bf16 = lambda t: t.float().bfloat16().double()  # noqa: E731
    xd, wd = x.detach(), w.detach()
    assert torch.equal(y, bf16(e4m3(xd).double() @ bf16(wd).T).float() + e5m2(b.detach()))
    assert torch.allclose(x.grad.double(), bf16(g) @ e5m2(wd).double(), rtol=1e-6, atol=1e-6)
    assert torch.equal(w.grad, e4m3((e5m2(g).T.double() @ bf16(xd)).float()))


def test_blocks_lie_along_the_dimension_that_is_summed_over():
    x, w = torch.randn(2, 40, 96, requires_grad=True), torch.randn(64, 96, requires_grad=True)
    g = torch.randn(2, 40, 64)
    f.linear(x, w, recipe="mxfp8").backward(g)
    y = f.linear(x, w, recipe="mxfp8")
    rows, grads = x.detach().flatten(0, 1), g.flatten(0, 1)
    near = lambda a, b: torch.allclose(a.double(), b, rtol=1e-5, atol=1e-5)  # noqa: E731
    assert near(y.flatten(0, 1), mxfp8(rows, -1) @ mxfp8(w, -1).T)
    assert near(x.grad.flatten(0, 1), mxfp8(grads, -1) @ mxfp8(w, 0))
    assert near(w.grad, mxfp8(grads, 0).T @ mxfp8(rows, 0))
    assert not near(w.grad, mxfp8(grads, -1).T @ mxfp8(rows, -1))  # the judge can tell the axes apart
    x.grad = None
    f.linear(x, w, recipe=ft.recipe("mxfp8").replace(data_gradient=ft.Product(right="forward"))).backward(g)
    assert near(x.grad.flatten(0, 1), mxfp8(grads, -1) @ mxfp8(w, -1))


def test_mx_operands_are_torchao_s():
    mx = pytest.importorskip("torchao.prototype.mx_formats.mx_tensor")
    x = torch.randn(64, 96) * 2.0 ** torch.randint(-20, 20, (64, 96))
    scale, data = mx.to_mx(x, torch.float8_e4m3fn, 32)
    theirs = (data.double().reshape(64, 3, 32) * scale.double().reshape(64, 3, 1)).reshape(64, 96)
    eye = torch.eye(96)
    assert torch.equal(f.linear(x, eye, recipe=ft.Recipe(input="mxfp8")).double(), theirs)


# ------------------------------------------------------------------------------------------------ convolutions

CONVOLUTIONS = [
    (1, (2, 4, 9), (6, 4, 3), {"padding": 1}),
    (1, (2, 4, 9), (6, 4, 4), {"padding": "same"}),
    (2, (2, 4, 6, 5), (6, 2, 3, 2), {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 2), "groups": 2}),
    (2, (3, 4, 7, 6), (4, 4, 3, 3), {"stride": 2, "padding": 1}),
    (2, (4, 7, 6), (3, 4, 2, 2), {"stride": 3}),
    (3, (1, 2, 4, 5, 3), (4, 2, 2, 3, 1), {"stride": (1, 2, 1), "padding": (0, 1, 0)}),
]


@pytest.mark.parametrize("accumulator", [None, "seq(fp32)", "tc(h100,e4m3fn,promote=32)"])
@pytest.mark.parametrize("d, size, kernel, how", CONVOLUTIONS)
def test_convolutions_are_exact_sums_of_casts(d, size, kernel, how, accumulator):
    gradient = accumulator and accumulator.replace("e4m3fn", "e5m2")
    recipe = ft.recipe("fp8").replace(forward=ft.Product(accumulator=accumulator))
    if accumulator == "seq(fp32)":
        recipe = recipe.replace(data_gradient=ft.Product(accumulator=gradient),
                                weight_gradient=ft.Product(accumulator=gradient))
    x, w, b = grid(*size).requires_grad_(), grid(*kernel).requires_grad_(), e4m3(grid(kernel[0])).requires_grad_()
    y = getattr(f, f"conv{d}d")(x, w, b, **how, recipe=recipe)
    xq, wq = (e4m3(t.detach()).double().requires_grad_() for t in (x, w))
    exact = getattr(F, f"conv{d}d")(xq, wq, None, **how)
    if accumulator is None or accumulator == "seq(fp32)":
        assert torch.equal(y, exact.float() + b.detach().view(-1, *(1,) * d))
    else:  # a tensor core keeps 14 bits of a step
        assert torch.allclose(y.double(), exact + b.detach().view(-1, *(1,) * d), rtol=1e-2, atol=1e-2)
        return
    g = grid(*y.shape)
    y.backward(g)
    dx, dw = torch.autograd.grad(exact, (xq, wq), e5m2(g).double())
    assert torch.equal(x.grad, dx.float())
    assert torch.equal(w.grad, dw.float())


def test_a_convolution_adds_channels_and_within_them_taps():
    x, w = torch.randn(2, 3, 6, 6), torch.randn(4, 3, 3, 3)
    spec = "chunk(4,fp(6,9,0))"
    y = f.conv2d(x, w, padding=1, recipe=ft.Recipe(forward=ft.Product(accumulator=spec)))
    columns = F.unfold(x, 3, padding=1).numpy()
    ours = np.stack([fpemu.matmul(w.reshape(4, -1).numpy(), c, spec) for c in columns])
    assert np.array_equal(y.flatten(2).numpy(), ours)
    assert not np.array_equal(F.conv2d(x, w, padding=1).flatten(2).numpy(), ours)


def test_blocks_of_a_convolution_lie_along_channels_and_the_batch():
    shapes = (40, 64, 3, 3), (96, 64, 2, 2), (40, 96, 2, 2)
    x, w, g = (torch.randn(*shape, requires_grad=True) for shape in shapes)
    f.conv2d(x, w, recipe="mxfp8").backward(g)

    def exact(x, w, g, which):
        x, w = x.clone().requires_grad_(), w.clone().requires_grad_()
        return torch.autograd.grad(F.conv2d(x, w), (x, w), g)[which]

    assert torch.allclose(x.grad.double(), exact(mxfp8(x, 1), mxfp8(w, 0), mxfp8(g, 1), 0), rtol=1e-4, atol=1e-4)
    assert torch.allclose(w.grad.double(), exact(mxfp8(x, 0), mxfp8(w, 1), mxfp8(g, 0), 1), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("make", [lambda: nn.ConvTranspose1d(4, 6, 3, 2, 1, 1), lambda: nn.ConvTranspose2d(4, 6, 3, 2),
                                  lambda: nn.ConvTranspose3d(4, 6, 2, groups=2)])
def test_transposed_convolutions(make):
    module = make()
    x = grid(2, 4, *(5,) * (module.weight.dim() - 2))
    with torch.no_grad():
        module.weight.copy_(grid(*module.weight.shape))
    plain = copy.deepcopy(module).double()
    with torch.no_grad():
        plain.weight.copy_(e4m3(plain.weight))
    assert torch.allclose(ft.convert(module, "fp8")(x).double(), plain(e4m3(x).double()), rtol=1e-6, atol=1e-6)
    refuses(ValueError, lambda: ft.convert(module, ft.Recipe(forward=ft.Product(accumulator="fp32"))), "accumulators")


# ------------------------------------------------------------------------------------------------ attention, others
def test_attention_rounds_both_products_and_their_gradients():
    q, k, v = (torch.randn(2, 3, 5, 8, requires_grad=True) for _ in range(3))
    g = torch.randn(2, 3, 5, 8)
    recipe = ft.recipe("fp8").replace(softmax="bf16")
    y = f.scaled_dot_product_attention(q, k, v, is_causal=True, recipe=recipe)
    y.backward(g)
    qq, kq, vq = (e4m3(t.detach()) for t in (q, k, v))
    scale = 1 / np.sqrt(8)
    s = (qq @ kq.mT) * scale
    s = s.masked_fill(~torch.ones(5, 5, dtype=torch.bool).tril(), -torch.inf)
    p = torch.softmax(s, -1)
    pq = e4m3(p.bfloat16().float())
    gq = e5m2(g)
    dp = gq @ vq.mT
    ds = e5m2(p * (dp - (dp * p).sum(-1, keepdim=True)) * scale)
    assert close([y, v.grad], [pq @ vq, pq.mT @ gq], 1e-6, 1e-6)
    assert close([q.grad, k.grad], [ds @ kq, ds.mT @ qq], 1e-5, 1e-6)


def test_queries_that_see_no_key_are_torch_s():
    mask = torch.tensor([[True, False, True], [False, False, False]])
    for given in (mask, torch.zeros(2, 3).masked_fill(~mask, -torch.inf)):
        q, k, v = (torch.randn(2, 4, n, 8, requires_grad=True) for n in (2, 3, 3))
        g = torch.randn(2, 4, 2, 8)
        ours = f.scaled_dot_product_attention(q, k, v, given, recipe="fp32")
        plain = F.scaled_dot_product_attention(q, k, v, given)
        assert torch.allclose(ours, plain, atol=1e-6) and not ours[:, :, 1].any()
        assert close(*(torch.autograd.grad(y, (q, k, v), g) for y in (ours, plain)), 1e-5, 1e-6)
        coarse = f.scaled_dot_product_attention(q, k, v, given, recipe="fp8")
        assert not coarse[:, :, 1].any()
        assert all(t.isfinite().all() for t in torch.autograd.grad(coarse, (q, k, v), g))
    plain = nn.MultiheadAttention(16, 4, batch_first=True)
    ours = ft.convert(copy.deepcopy(plain), "fp32")
    padding = torch.tensor([[False, False, True], [True, True, True]])
    for need in (False, True):
        x = torch.randn(2, 3, 16, requires_grad=True)
        results = [m(x, x, x, key_padding_mask=padding, need_weights=need)[0] for m in (ours, plain)]
        assert torch.allclose(*results, atol=1e-6, equal_nan=True) and results[0][1].isnan().all() == need
        if not need:
            assert torch.allclose(*(torch.autograd.grad(y.square().sum(), x)[0] for y in results), atol=1e-5)


def test_attention_with_fewer_heads_of_keys_is_torch_s():
    module = ft.DotProductAttention()
    ours = ft.convert(copy.deepcopy(module), "fp32")
    q, k, v = (torch.randn(2, h, 5, 8, requires_grad=True) for h in (6, 3, 2))
    g, wanted = torch.randn(2, 6, 5, 8), None
    for attend in (F.scaled_dot_product_attention, module, ours,
                   functools.partial(f.scaled_dot_product_attention, recipe="fp32")):
        y = attend(q, k, v, enable_gqa=True)
        found = [y, *torch.autograd.grad(y, (q, k, v), g)]
        wanted = wanted or found
        assert close(found, wanted, 1e-5, 1e-5)
    refuses(ValueError, lambda: ours(q, torch.zeros(2, 4, 5, 8), v, enable_gqa=True), "4 heads of keys .* divide 6")
    empty = torch.zeros(2, 3, 0), torch.zeros(2, 4, 0), torch.randn(2, 4, 5)
    assert torch.allclose(ours(*empty), F.scaled_dot_product_attention(*empty), atol=1e-6)


@pytest.mark.parametrize("how", [
    {}, {"batch_first": True}, {"bias": False}, {"add_bias_kv": True, "add_zero_attn": True},
    {"kdim": 12, "vdim": 20, "batch_first": True},
])
def test_multihead_attention_is_torch_s(how):
    plain = nn.MultiheadAttention(16, 4, **how)
    other = "kdim" in how
    query = torch.randn(3, 5, 16)
    key, value = (torch.randn(3, 5, 12), torch.randn(3, 5, 20)) if other else (query, query)
    batch, length = (3, 5) if how.get("batch_first") else (5, 3)
    padding = torch.zeros(batch, length, dtype=torch.bool)
    padding[:, -1] = True
    causal = torch.ones(length, length, dtype=torch.bool).triu(1)
    ours = ft.convert(copy.deepcopy(plain), "fp32")
    for arguments in ({}, {"need_weights": False}, {"key_padding_mask": padding, "average_attn_weights": False},
                      {"attn_mask": causal}, {"attn_mask": torch.randn(batch * 4, length, length)}):
        for a, b in zip(ours(query, key, value, **arguments), plain(query, key, value, **arguments)):
            assert (a is None) == (b is None)
            assert a is None or torch.allclose(a, b, rtol=1e-5, atol=1e-6)
    single = (query[0], key[0], value[0])
    assert torch.allclose(ours(*single)[0], plain(*single)[0], rtol=1e-5, atol=1e-6)


def test_the_fast_path_of_transformers_is_left():
    layer = nn.TransformerEncoderLayer(16, 4, 32, 0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 2).eval()
    x = torch.randn(2, 6, 16)
    padding = torch.zeros(2, 6, dtype=torch.bool)
    padding[:, 4:] = True
    with torch.no_grad():
        plain = model(x, src_key_padding_mask=padding)
        ft.convert(model, "e5m2")
        fast = model(x, src_key_padding_mask=padding)
    slow = model(x, src_key_padding_mask=padding)
    assert torch.equal(fast[:, :4], slow[:, :4]) and not torch.allclose(fast[:, :4], plain[:, :4], rtol=1e-3)
    ft.revert(model)
    with torch.no_grad():
        assert torch.equal(model(x, src_key_padding_mask=padding), plain)


def test_gradients_are_those_of_the_surrogate():
    """fp64 rounds nothing, so the derivative of what is computed is the derivative of what autograd gives."""
    double = lambda *shape: torch.randn(*shape, dtype=torch.float64, requires_grad=True)  # noqa: E731
    recipe = ft.Recipe(input="fp64", weight="fp64", gradient="fp64", bias="fp64", norm="fp64", embedding="fp64",
                       softmax="fp64")
    summed = recipe.replace(forward=ft.Product(accumulator="fp64"), data_gradient=ft.Product(accumulator="fp64"),
                            weight_gradient=ft.Product(accumulator="fp64"))
    check = torch.autograd.gradcheck
    for r in (recipe, summed):
        assert check(lambda x, w, b: f.linear(x, w, b, recipe=r), (double(3, 4), double(5, 4), double(5)))
        assert check(lambda a, b: f.matmul(a, b, recipe=r), (double(2, 3, 4), double(4, 2)))
        assert check(lambda x, w, b: f.conv2d(x, w, b, 2, 1, 1, 2, recipe=r),
                     (double(2, 4, 5, 4), double(4, 2, 3, 2), double(4)))
        assert check(lambda q, k, v: f.scaled_dot_product_attention(q, k, v, is_causal=True, recipe=r),
                     (double(2, 3, 4), double(2, 3, 4), double(2, 3, 2)))
    assert check(lambda x, w, b: f.layer_norm(x, (4,), w, b, recipe=recipe), (double(3, 4), double(4), double(4)))
    assert check(lambda w: f.embedding(torch.tensor([0, 2, 2]), w, recipe=recipe), (double(3, 4),))


# ------------------------------------------------------------------------------------------------ convert
class Tied(nn.Module):
    """A small language model whose head shares the embedding's weights."""

    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(20, 16)
        self.blocks = nn.ModuleList([nn.Sequential(nn.LayerNorm(16), nn.Linear(16, 16), nn.ReLU()) for _ in range(2)])
        self.conv = nn.Conv1d(16, 16, 3, padding=1)
        self.lm_head = nn.Linear(16, 20, bias=False)
        self.lm_head.weight = self.token.weight

    def forward(self, x):
        x = self.token(x)
        for block in self.blocks:
            x = x + block(x)
        return self.lm_head(x + self.conv(x.transpose(1, 2)).transpose(1, 2))


TOKENS = torch.arange(24).reshape(2, 12) % 20


def test_nothing_rounded_is_nothing_changed():
    model = Tied()
    before = step(model, TOKENS)
    assert same(step(ft.convert(copy.deepcopy(model), ft.Recipe()), TOKENS), before)
    counted = ft.convert(copy.deepcopy(model), "fp32")  # through all the machinery
    assert type(counted.conv).__module__.startswith("fpemu.torch")
    assert same(step(counted, TOKENS), before)
    image = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(72, 4))
    x = torch.randn(4, 3, 6, 6)
    assert same(step(ft.convert(copy.deepcopy(image), "fp32"), x), step(image, x))


def test_convert_keeps_parameters_keys_and_ties_and_revert_takes_it_back():
    model = Tied()
    keys, parameters, before = list(model.state_dict()), list(model.parameters()), step(model, TOKENS)
    checkpoint = copy.deepcopy(model.state_dict())
    assert ft.convert(model, ft.recipe("mxfp4").replace(embedding="mxfp4", norm="bf16")) is model
    assert list(model.state_dict()) == keys and model.lm_head.weight is model.token.weight
    assert all(a is b for a, b in zip(model.parameters(), parameters, strict=True))
    model.load_state_dict(checkpoint)
    rounded = step(model, TOKENS)
    assert not torch.equal(rounded[0], before[0])
    fresh = Tied()
    fresh.load_state_dict(model.state_dict())
    assert same(step(fresh, TOKENS), before)
    ft.revert(model)
    assert type(model.lm_head) is nn.Linear and type(model.conv) is nn.Conv1d and not hasattr(model.conv, "_fpemu")
    assert same(step(model, TOKENS), before)


def test_rules():
    model = ft.convert(Tied(), "fp8", {"*.lm_head": None, "blocks.0.*": "bf16", "blocks.*": "mxfp8"})
    assert type(model.lm_head) is nn.Linear
    assert model.blocks[0][1].recipe.name == "bf16" and model.blocks[1][1].recipe.name == "mxfp8"
    assert model.conv.recipe.name == "fp8" and type(model.token) is nn.Embedding
    text = str(ft.summary(model))
    assert "lm_head" in text.split("left alone")[1] and "conv" in text.split("left alone")[0]
    again = ft.convert(model, None, {"conv": "fp16"})
    assert again.conv.recipe.name == "fp16" and type(again.blocks[0][1]) is nn.Linear
    refuses(ValueError, lambda: ft.convert(model, "fp8", {"lm_hed": None}), "'lm_hed'.*near it: 'lm_head'")
    refuses(fpemu.SpecError, lambda: ft.convert(model, "fp8", {"conv": "e4m3fm"}))
    assert model.conv.recipe.name == "fp16"  # as it was
    model = ft.convert(Tied(), "fp8", {lambda module, name: name == "conv": "fp16", nn.Linear: "bf16"})
    assert model.conv.recipe.name == "fp16" and model.lm_head.recipe.name == model.blocks[0][1].recipe.name == "bf16"
    assert ft.convert(model, "fp8", {nn.Linear: None}).conv.recipe.name == "fp8"  # converted layers are of it too
    assert type(model.lm_head) is nn.Linear
    refuses(ValueError, lambda: ft.convert(model, "fp8", {nn.PReLU: None}), "'PReLU' matches no layer")
    for rules in (lambda module, name: True), ["conv"], {3: "fp8"}:
        refuses(TypeError, lambda: ft.convert(model, "fp8", rules), "a dict of these")
    refuses(TypeError, lambda: ft.convert([1], "fp8"), r"torch\.nn\.Module, not list")
    assert model.conv.recipe.name == "fp8"


class Own(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


class StaysLazy(nn.modules.lazy.LazyModuleMixin, nn.Identity):
    """A lazy layer that becomes no other class."""


def test_what_is_left_is_told_the_reason():
    ft.convert(nn.Sequential(StaysLazy(), nn.Linear(2, 2)), "fp8")
    model = nn.Sequential(nn.LazyLinear(4), nn.Linear(4, 4), nn.LayerNorm(4), nn.LazyInstanceNorm1d(), Own(4, 4),
                          nn.PReLU(), nn.LazyConv1d(4, 1))
    lazy, model[4].forward = "it is lazy until its first call: run the model once", lambda x: x
    why = {"0": lazy, "1": "its recipe is None", "2": "its recipe names no format for it", "3": lazy, "6": lazy,
           "4": "no rule names it; it multiplies by functions: linear in Linear.forward",
           "5": "no conversion for this class"}
    with pytest.warns(UserWarning, match=r"0 of 2 matrices, 0 % .*\n.*\n  4 \(Own\): linear in Linear.forward; 16 w"), \
            pytest.warns(UserWarning, match="3 lazy layers are left as torch has it, such as '0'"):
        ft.convert(model, "fp8", {"1": None})
    assert {name: why for name, _, why in ft.summary(model).left} == why and not ft.summary(model).converted
    model.append(nn.Linear(4, 4))
    x = torch.randn(2, 4, 4)
    model(x)
    late = "it was lazy or not there when the model was converted: convert it again"
    assert {name: why for name, _, why in ft.summary(model).left} == {**why, "0": late, "3": late, "6": late, "7": late}
    with pytest.warns(UserWarning, match="Own"):
        ft.convert(model, "fp8")
    assert [name for name, _, _ in ft.summary(model).converted] == ["0", "1", "6", "7"] and type(model[4]) is Own
    assert torch.equal(model[6](x), F.conv1d(e4m3(x), e4m3(model[6].weight), model[6].bias))
    assert not any("_fpemu_left" in module.__dict__ for module in ft.revert(model).modules())
    read = nn.LazyLinear(4)  # its weights have a shape, but its class will change
    read.load_state_dict(nn.Linear(6, 4).state_dict())
    x = torch.randn(2, 6)
    assert torch.equal(ft.convert(read, "fp8")(x), F.linear(x, read.weight, read.bias))


class Symmetric(nn.Module):
    def forward(self, w):
        return w + w.T


@pytest.mark.parametrize("early", [True, False])
def test_a_parametrisation_is_removed_from_a_converted_layer(early):
    layer, x = nn.Linear(8, 8), torch.randn(3, 8)
    if not early:
        ft.convert(layer, "fp8")
    nn.utils.parametrize.register_parametrization(layer, "weight", Symmetric())
    own = layer.parametrizations.weight.original.detach().clone()
    if early:
        ft.convert(ft.convert(layer, "fp16"), "fp8")
    y = F.linear(e4m3(x), e4m3(own + own.T), layer.bias)
    plain = F.linear(x, own + own.T, layer.bias)
    twin = ft.revert(copy.deepcopy(layer))
    assert torch.equal(layer(x), y) and torch.equal(twin(x), plain)
    nn.utils.parametrize.remove_parametrizations(twin, "weight")
    nn.utils.parametrize.remove_parametrizations(layer, "weight")
    assert type(twin) is nn.Linear and torch.equal(twin(x), plain)
    assert isinstance(layer, ft.modules.Quantized) and torch.equal(layer(x), y)
    assert ft.summary(layer).converted == (("", "Linear", "fp8"),)
    ft.revert(layer)
    assert type(layer) is nn.Linear and torch.equal(layer(x), plain)


def test_hooks_parametrisations_deepcopy_and_files():
    model = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(8, 8)), nn.Linear(8, 4))
    seen = []
    model[1].register_forward_hook(lambda m, args, out: seen.append(type(m).__name__))
    x = torch.randn(3, 8)
    plain = model(x)
    ft.convert(model, ft.recipe("fp8").replace(gradient="e5m2/sr"), seed=5)
    y = model(x)
    assert seen == ["Linear", "Linear"] and not torch.equal(y, plain)
    w = model[0].weight.detach()
    middle = F.linear(e4m3(x), e4m3(w), model[0].bias)
    assert torch.equal(y, F.linear(e4m3(middle), e4m3(model[1].weight), model[1].bias))
    twin = copy.deepcopy(model)
    assert same(step(twin, x), step(model, x))
    ft.revert(model)
    assert torch.equal(model(x), plain) and type(model[1]) is nn.Linear
    late = ft.convert(nn.Sequential(nn.Linear(8, 8)), "fp8")  # parametrised after it was converted
    nn.utils.parametrizations.weight_norm(late[0])
    ft.revert(late)
    assert torch.allclose(late(x), F.linear(x, late[0].weight, late[0].bias)) and hasattr(late[0], "parametrizations")
    model = ft.convert(nn.Sequential(nn.Linear(8, 4), nn.TransformerEncoderLayer(4, 2, 8)), "nvfp4")
    read = loaded(model)
    assert read[0].recipe == model[0].recipe and torch.equal(read.eval()(x), model.eval()(x))


def test_random_bits_differ_by_call_and_layer_and_come_again_by_the_seed():
    recipe = ft.Recipe(input="e4m3fn/sr", gradient="e5m2/sr")
    model = nn.Sequential(nn.Linear(32, 32, bias=False), nn.Linear(32, 32, bias=False))
    with torch.no_grad():
        for layer in model:
            layer.weight.copy_(torch.eye(32))
    ft.convert(model, recipe, seed=3)
    x = torch.rand(16, 32)
    calls = [model[0](x) for _ in range(3)]
    assert not torch.equal(calls[0], calls[1]) and not torch.equal(calls[1], calls[2])
    assert not torch.equal(calls[0], model[1](x))
    ft.manual_seed(model, 3)
    assert all(torch.equal(model[0](x), call) for call in calls)
    ft.manual_seed(model, 3, call=2)
    assert torch.equal(model[0](x), calls[2])
    ft.manual_seed(model, 4)
    assert not torch.equal(model[0](x), calls[0])
    low, high = (torch.from_numpy(fpemu.quantize(x.numpy(), "e4m3fn", mode)) for mode in ("rtz", "raz"))
    assert all(bool(((c == low) | (c == high)).all()) for c in calls)
    whole = ft.convert(nn.Linear(1, 1, bias=False), ft.Recipe(input="int8/sr"))
    with torch.no_grad():
        whole.weight.fill_(1)
        assert abs(whole(torch.full((20000, 1), 0.3)).mean().item() - 0.3) < 0.02
    torch.library.opcheck(torch.ops.fpemu.take_streams.default, (torch.tensor([[1, 2, 0], [1, 3, 0]]),))


def test_a_checkpoint_repeats_the_random_bits_of_its_call():
    from torch.utils.checkpoint import checkpoint

    model = ft.convert(nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 8)),
                       ft.Recipe(input="e4m3fn/sr", weight="e4m3fn/sr", gradient="e5m2/sr"))
    twin = copy.deepcopy(model)
    for _ in range(2):
        x = torch.randn(4, 16, requires_grad=True)
        for net, call in ((model, lambda y: model(y)), (twin, lambda y: checkpoint(twin, y, use_reentrant=False))):
            net.zero_grad()
            call(x).square().sum().backward()
        assert same([p.grad for p in model.parameters()], [p.grad for p in twin.parameters()])


@pytest.mark.parametrize("name", ["fp8", "mxfp4"])
def test_compiled_models_give_the_bits_of_eager_ones(name):
    from torch._dynamo.testing import CompileCounterWithBackend

    recipe = ft.recipe(name).replace(norm="bf16", bias="bf16/sr", embedding="bf16")
    eager = ft.convert(Tied(), recipe, seed=1)
    twin = copy.deepcopy(eager)
    torch._dynamo.reset()
    backend = CompileCounterWithBackend("aot_eager")
    compiled = torch.compile(twin, backend=backend, fullgraph=True)
    for _ in range(3):
        a = step(eager, TOKENS)
        twin.zero_grad()
        y = compiled(TOKENS)
        y.square().mean().backward()
        assert same([y.detach(), *(p.grad for p in twin.parameters())], a)
    assert backend.frame_count == 1


def test_other_dtypes_autocast_and_threads():
    model = ft.convert(nn.Linear(32, 16).bfloat16(), "fp8")
    x = torch.randn(4, 32).bfloat16()
    y = model(x)
    assert y.dtype == torch.bfloat16 and torch.equal(y, F.linear(e4m3(x), e4m3(model.weight), model.bias))
    single = ft.convert(nn.Linear(32, 16), "fp8")
    with torch.autocast("cpu", torch.bfloat16):
        y = single(x.float().requires_grad_())
    y.sum().backward()
    assert y.dtype == torch.bfloat16 and single.weight.grad.dtype == torch.float32
    models = [ft.convert(Tied(), "mxfp4", seed=2) for _ in range(4)]
    for m in models[1:]:
        m.load_state_dict(models[0].state_dict())
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda model: step(model, TOKENS), models))
    assert all(same(r, results[0]) for r in results[1:])


# ------------------------------------------------------------------------------------------------ recipes
@pytest.mark.parametrize("name", ft.recipes())
def test_ready_made_recipes_work_print_and_go_to_json_and_back(name):
    recipe = ft.recipe(name)
    assert recipe.source and name in str(recipe)
    read = ft.Recipe.from_dict(json.loads(json.dumps(recipe.to_dict())))
    assert read == recipe and hash(read) == hash(recipe)
    model = ft.convert(nn.Linear(64, 32), recipe)
    model(torch.randn(4, 64)).sum().backward()
    assert bool(model.weight.grad.isfinite().all())


def test_formats_and_dtypes_are_targets():
    dtype = torch.float8_e4m3fn
    recipe = ft.Recipe(input=dtype, weight=fpemu.format("mxfp4"), forward=ft.Product(result=ml_dtypes.bfloat16))
    assert recipe == ft.Recipe(input="float8_e4m3fn", weight="mxfp4", forward=ft.Product(result="bfloat16"))
    assert (ft.conv2d, ft.linear, ft.attention) == (f.conv2d, f.linear, f.scaled_dot_product_attention)
    x = torch.randn(3, 4)
    wanted = x.to(dtype).float()
    assert torch.equal(ft.quantize(x, dtype), wanted) and torch.equal(ft.Quantizer(dtype)(x), wanted)
    assert torch.equal(fpemu.quantize(x, dtype), wanted)
    layer = ft.convert(nn.Linear(4, 2), dtype)
    assert torch.equal(layer(x), F.linear(wanted, e4m3(layer.weight), layer.bias))
    optimizer = ft.optimizer(torch.optim.SGD(layer.parameters(), 0.1), parameters=torch.bfloat16)
    layer(x).sum().backward()
    optimizer.step()
    assert all(torch.equal(p, p.bfloat16().float()) for p in layer.parameters())
    for bad in (3, float, [1, 2]):
        refuses(TypeError, lambda: ft.quantize(x, bad), "a dtype or a text such as 'e4m3fn'")


def test_recipes_refuse_what_makes_no_sense():
    refuses(fpemu.SpecError, lambda: ft.Recipe(input="e4m3fm"))
    refuses(fpemu.SpecError, lambda: ft.Product(accumulator="tc(h200k,fp16)"))
    refuses(ValueError, lambda: ft.Recipe.from_dict({"inptu": "bf16"}), "has no 'inptu'")
    refuses(TypeError, lambda: ft.Recipe(input=8))
    with pytest.raises(AttributeError):
        ft.recipe("fp8").input = "bf16"
    accumulated = ft.recipe("mxfp8").replace(forward=ft.Product(accumulator="chunk(32,fp32)"))
    assert ft.Recipe.from_dict(accumulated.to_dict()).forward.accumulator == "chunk(32,fp32)"


# ------------------------------------------------------------------------------------------------ operands with scales
def apart(x, spec):
    """Of rows of x: elements, a scale for each, and the scale of all, by the numbers that quantize gives."""
    scales, _, (_, whole) = fpemu.scales(x.numpy(), spec)
    scales = np.kron(scales, np.ones(fpemu.format(spec).block_shape))[:len(x), :x.shape[1]]
    elements = fpemu.quantize(fpemu.quantize(x.double().numpy(), spec) / (scales * whole), fpemu.format(spec).element)
    return elements.astype(np.float32), scales.astype(np.float32), np.float32(whole)


def by_fractions(a, b, chunk):
    """Sums of a chunk are exact here; each times its scales is added, and rounded, and the last sum once more."""
    exact = np.vectorize(lambda x: Fraction(float(x)), otypes=[object])
    (p, s), (q, t), total = map(exact, a[:2]), map(exact, b[:2]), np.zeros((len(a[0]), len(b[0])), np.float32)
    for k in range(0, p.shape[1], chunk):
        inside = p[:, k:k + chunk] @ q[:, k:k + chunk].T * np.outer(s[:, k], t[:, k])
        total = (exact(total) + inside).astype(np.float64).astype(np.float32)
    return (exact(total) * exact(a[2] * b[2])).astype(np.float64).astype(np.float32)


@pytest.mark.parametrize("recipe, m, n, k", zip(SCALED, (150, 40, 20), (140, 50, 18), (200, 70, 40)))
def test_products_take_elements_and_scales_apart(recipe, m, n, k):
    model, chunk = recipe.forward.accumulator, fpemu.gemm(recipe.forward.accumulator).chunk
    x, w, g = torch.randn(m, k) * torch.randn(m, 1).exp(), torch.randn(n, k), torch.randn(m, n)
    specs = recipe.input, recipe.weight, recipe.gradient
    (a, b, c), (d, e, h) = ([apart(t.contiguous(), spec) for t, spec in zip(ts, specs)]
                            for ts in ((x, w, g), (x.T, w.T, g.T)))
    e = (b[0].T, b[1].T, b[2]) if recipe.data_gradient.right else e
    x, layer = x.view(2, m // 2, k).requires_grad_(), ft.convert(nn.Linear(k, n, False), recipe)
    layer.weight = nn.Parameter(w)
    for run in (layer, torch.compile(layer, backend="aot_eager", fullgraph=True)):
        y = run(x)
        found = y, *torch.autograd.grad(y, (x, layer.weight), g.view_as(y))
        for t, (one, other) in zip(found, ((a, b), (c, e), (h, d)), strict=True):
            want = fpemu.matmul(one[0], other[0].T, model, alpha=float(one[2] * other[2]),
                                scales_a=one[1][:, ::chunk], scales_b=other[1][:, ::chunk])
            assert np.array_equal(t.detach().view(want.shape).numpy(), want)
            assert "chunk" not in model or np.array_equal(by_fractions(one, other, chunk), want)
    if not recipe.data_gradient.right:  # of two activations
        p, q = (t.detach().requires_grad_() for t in (x.view(1, m, k), w.T))
        z = f.matmul(p, q, recipe=recipe)
        alike = zip((z, *torch.autograd.grad(z, (p, q), g.view_as(z))), (found[0], found[1], found[2].T))
        assert all(torch.equal(s.view_as(t), t) for s, t in alike)


def test_one_scale_serves_all_three_products():
    recipe = ft.recipe("fp8-scaled").replace(gradient="scaled(e4m3fn)", **products("tc(h100,e4m3fn,promote=128)"))
    x, layer = torch.randn(3, 50, 130, requires_grad=True), ft.convert(nn.Linear(130, 140, False), recipe)
    with ft.observe(layer) as log:
        y = layer(x)
        y.square().sum().backward()
    w = layer.weight.detach()
    assert {name: n.count for name, _, n in log if "sums" not in name} == {
        "input": x.numel(), "weight": w.numel(), "gradient": y.numel()}
    a, b, g = (ft.quantize(t.detach(), "scaled(e4m3fn)").flatten(0, -2) for t in (x, w, 2 * y))
    for found, want in ((y, a @ b.T), (x.grad, g @ b), (layer.weight.grad, g.T @ a)):
        assert torch.allclose(found.flatten(0, -2), want, 1e-3, 1e-3 * want.abs().max())
    assert torch.equal(ft.freeze(layer)(x), y) and torch.equal(layer(x), y)


def test_scales_that_a_model_cannot_take_are_refused():
    mx = ft.recipe("mxfp8")
    for accumulator, more, why in (
            ("tc(h100,e4m3fn)", {}, "no chunks"), ("tc(h100,e4m3fn,promote=64)", {}, "every 64 .* each is of 32"),
            ("tc(h100,e5m2,promote=32)", {}, "rounds to e5m2"), ("seq(fp32); a=e4m3fn", {}, "no chunks"),
            ("tc(h100,e4m3fn,promote=32)", {"right": "forward"}, "do not lie along k"),
            ("tc(h100,e4m3fn,promote=32)", {"left": "s2fp8"}, "has no scales apart")):
        product = ft.Product(accumulator=accumulator, **more)
        refuses(ValueError, lambda: mx.replace(data_gradient=product), f"^data_gradient: .*{why}.*chunk")
    taken = mx.replace(**products("tc(h100,e4m3fn,promote=32)"))
    refuses(ValueError, lambda: ft.convert(nn.Conv2d(2, 2, 1), taken), "taps")
    refuses(ValueError, lambda: functional.check_split(functional.make_plan(taken)), "whole batches")


# ------------------------------------------------------------------------------------------------ done and resumed
def test_a_layer_that_is_read_past_its_forward_is_named():
    model, x = ft.convert(Past(), None, {nn.Linear: "fp8"}), torch.randn(2, 8)
    assert ft.summary(model).converted == (("first", "Linear", "fp8"), ("second", "Linear", "fp8"))
    with pytest.warns(UserWarning, match=r"1 of 2 converted layers were not called .*\(second\)"), ft.observe(model):
        model(x)
    assert ft.summary(model).converted[0][2] == "fp8"
    assert ft.summary(model).converted[1][2].startswith("fp8; its forward has not run")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with ft.observe(model):
            model.second(model(x))
        assert ft.summary(model).converted[1][2] == "fp8"
        with pytest.raises(ZeroDivisionError), ft.observe(model):
            model(x)
            raise ZeroDivisionError
    assert ft.summary(copy.deepcopy(model)).converted[1][2] == "fp8"


class Random(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.mixed = nn.Linear(8, 8), nn.MultiheadAttention(8, 2, batch_first=True)
        self.rounded, self.norm = ft.Quantizer("bf16", rounding="sr"), nn.GroupNorm(2, 8)
        self.own = nn.Parameter(torch.randn(8, 8))

    def forward(self, x):
        x = self.rounded(self.first(x))
        return self.norm(self.mixed(x, x, x)[0].mT).mT @ self.own


@pytest.mark.parametrize("how", [{}, {"strict": False}, {"assign": True}])
@pytest.mark.parametrize("made", ["here", "empty", "meta"])
def test_a_resumed_run_has_the_same_random_bits(how, made):
    recipe, x = ft.recipe("nvfp4").replace(norm="bf16/sr"), torch.randn(2, 4, 8)
    model = ft.convert(Random(), recipe, seed=2**62 + 3)
    for _ in range(3):
        step(model, x)
    checkpoint = loaded(model.state_dict())
    assert list(checkpoint) == list(Random().state_dict())
    with torch.device("cpu" if made == "here" else "meta"):
        resumed = ft.convert(Random(), recipe)
    if made == "empty":
        resumed.to_empty(device="cpu")
    elif made == "meta" and "assign" not in how:
        pytest.skip("without memory only assign=True loads")
    resumed.load_state_dict(checkpoint, **how)
    for _ in range(2):
        assert same(step(resumed, x), step(model, x))
    assert same(loaded(resumed.state_dict()).values(), loaded(model.state_dict()).values())
    assert loaded(resumed.state_dict())._metadata == loaded(model.state_dict())._metadata
    Random().load_state_dict(checkpoint)  # the keys are those of a plain model


def test_checkpoints_without_the_calls_of_layers_leave_them():
    model, x = ft.convert(Random(), "nvfp4", seed=3), torch.randn(2, 4, 8)
    step(model, x)
    twin = copy.deepcopy(model)
    older = twin.state_dict()
    for content in older._metadata.values():
        content.pop("fpemu", None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.load_state_dict(older)
    with pytest.warns(UserWarning, match="manual_seed"):
        model.load_state_dict(dict(older))
    assert same(step(model, x), step(twin, x))
    ft.manual_seed(model, 3, call=2)
    assert same(step(model, x), step(twin, x))


@pytest.mark.parametrize("recipe", [ft.recipe("nvfp4").replace(norm="bf16/sr"), ft.Recipe(
    input="e4m3fn", norm="bf16", embedding="bf16", forward=ft.Product(accumulator="chunk(8,fp32)"))])
@pytest.mark.parametrize("make, shape", [
    (lambda: nn.Linear(4, 3), (2, 4)), (lambda: nn.Conv2d(3, 4, 3), (2, 3, 6, 6)),
    (lambda: nn.TransformerEncoderLayer(8, 2, 16), (5, 2, 8)), (lambda: nn.BatchNorm1d(4), (2, 4))])
def test_layers_have_shapes_on_meta(make, shape, recipe):
    x, plain = torch.randn(shape), make()
    layer = ft.convert(make().to("meta"), recipe)
    y = layer(x.to("meta"))
    assert y.is_meta and y.shape == plain(x).shape
    y.sum().backward()
    assert all(p.grad.shape == q.shape for p, q in zip(layer.parameters(), plain.parameters(), strict=True))


def test_a_quantizer_made_empty_keeps_its_state():
    model = nn.Sequential(ft.Quantizer("bf16", rounding="sr", seed=5, stream=3))
    model(torch.ones(3))
    assert model.to_empty(device="cpu")[0].state.tolist() == [5, 3 * 2**32 + 1, 0]
    assert model.to("meta")[0].state.is_meta
    assert model.to_empty(device="cpu")[0].state.tolist() == [5, 3 * 2**32, 0]


@pytest.mark.parametrize("recipe", ["fp8", "nvfp4", ft.Recipe(input="bf16/sr", weight="bf16/sr", gradient="e5m2/sr")])
def test_what_is_kept_for_the_backward_pass(recipe):
    """No more memory than torch's layers keep: parameters, what others keep too, and no rounded copies of these."""
    def kept(model):
        memory, parameters = {}, {p.data_ptr() for p in model.parameters()}

        def hook(t):
            if t.untyped_storage().data_ptr() not in parameters:
                memory[t.untyped_storage().data_ptr()] = t.untyped_storage().nbytes()
            return t
        with torch.autograd.graph.saved_tensors_hooks(hook, lambda t: t):
            y = model(torch.randn(16, 4, 8, 8))
        y.sum().backward()
        return sum(memory.values())

    def net():
        return nn.Sequential(nn.Conv2d(4, 8, 3, padding=1), nn.GELU(), nn.Conv2d(8, 4, 3), nn.GELU(), nn.Flatten(),
                             nn.Linear(144, 64), nn.GELU(), nn.Linear(64, 64))
    assert kept(ft.convert(net(), recipe)) < 1.02 * kept(net())


@pytest.mark.parametrize("recipe", ["fp8", "nvfp4", ft.Recipe(input="e4m3fn", weight="e4m3fn/sr")])
def test_frozen_weights(recipe, monkeypatch):
    """The bits of layers that round anew, whatever becomes of the weights; rounded once where torch can tell."""
    def net():
        torch.manual_seed(1)
        return ft.convert(nn.Sequential(nn.Conv2d(4, 16, 3), nn.Flatten(), nn.Linear(64, 32)), recipe, seed=3)
    plain, frozen, x = net(), ft.freeze(net()), torch.randn(2, 4, 4, 4)
    calls, quantize = [], operators.quantize
    monkeypatch.setattr(operators, "quantize", lambda t, *args, **how: calls.append(tuple(t.shape))
                        or quantize(t, *args, **how))

    def rounded(change=lambda model: None):
        change(plain)
        change(frozen)
        want = plain(x)
        calls.clear()
        assert torch.equal(frozen(x), want)
        return calls.count((32, 64)) + calls.count((16, 4, 3, 3))

    def step(model):
        torch.optim.SGD(model.parameters(), 0.5).step(lambda: model(x).square().sum().backward())

    def other(model):
        model[2].weight = nn.Parameter(model[2].weight.detach() * 3)

    once = 0 if isinstance(recipe, str) else 2  # stochastic rounding is never kept
    assert rounded() == 2 and rounded() == once and rounded(step) == 2 and rounded() == once
    assert rounded(lambda m: m.load_state_dict({k: v / 2 for k, v in m.state_dict().items()})) == 2
    assert rounded(other) == max(1, once) and rounded(lambda m: m.half().float()) == 2
    with ft.observe(frozen) as log:
        assert rounded() == 2
    assert log.totals["2.weight", "w"].count == 32 * 64
    assert copy.deepcopy(frozen)[2]._fpemu.site.frozen is None
    ft.freeze(frozen, keep=False)
    assert rounded() == 2


class Twice(nn.Module):
    """One weight in two convolutions, whose blocks lie along two of its dimensions."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(32, 32, 1) * torch.logspace(-3, 3, 32)[:, None, None])

    def forward(self, x):
        return F.conv_transpose1d(F.conv1d(x, self.weight), self.weight)


def test_frozen_weights_that_torch_does_not_tell_apart():
    twice, x = ft.convert(Twice(), "mxfp4"), torch.randn(1, 32, 6)
    assert torch.equal(twice(x), ft.freeze(twice)(x))
    layer = ft.freeze(ft.convert(nn.Linear(8, 4), "bf16"))
    before = layer(torch.ones(8))
    torch.optim.SGD(layer.parameters(), 0.5, fused=True).step(lambda: layer(torch.ones(8)).sum().backward())
    assert not torch.equal(layer(torch.ones(8)), before)
    assert ft.audit(layer, torch.ones(2, 8), backward=False).share == 1


def test_threads_draw_bits_of_their_own():
    layer, seen = ft.convert(nn.Linear(8, 8), ft.Recipe(input="e4m3fn/sr", weight="e4m3fn/sr")), []
    with ThreadPoolExecutor(4) as pool:
        for _ in range(4):
            pool.submit(lambda: seen.extend(int(layer._fpemu.states()[0, 1]) for _ in range(2000)))
    assert len(set(seen)) == 8000


def test_tiles_lie_in_the_backward_pass_where_they_lay():
    tiles = "scaled(e4m3fn,block=2x4)"
    recipe = ft.Recipe(input=tiles, weight="fp32", weight_gradient=ft.Product(right="forward"))
    x, w = torch.randn(2, 3, 4) * torch.logspace(-3, 3, 6).view(2, 3, 1), torch.randn(5, 4, requires_grad=True)
    functional.linear(x, w, recipe=recipe).sum().backward()
    assert torch.allclose(w.grad, torch.ones(5, 6) @ ft.quantize(x, tiles).reshape(6, 4))


def test_norms_whose_weight_is_no_parameter_for_a_while():
    norm, x = ft.convert(nn.GroupNorm(2, 4), ft.Recipe(norm="e2m1")), torch.randn(2, 4, 3)
    norm.weight.data.normal_()
    want, weight = norm(x), norm.weight.detach()
    del norm.weight
    norm.weight = weight  # as FSDP and replicas have it
    assert torch.equal(norm(x), want)


def test_a_layer_that_does_not_train_keeps_no_input():
    layer = ft.convert(nn.Linear(4, 4).requires_grad_(False), "e4m3fn")
    x = torch.randn(3, 4, requires_grad=True)
    h = x * 1
    y = layer(h)
    h.add_(1)
    y.sum().backward()
    assert torch.equal(x.grad, torch.ones(3, 4) @ ft.quantize(layer.weight, "e4m3fn"))
