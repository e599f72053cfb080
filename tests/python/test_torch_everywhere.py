# SPDX-License-Identifier: BSD-2-Clause
"""fpemu.torch.everywhere: against torch's own functions of operands that were rounded beforehand, and by a look at what
the operators below them are given."""

from __future__ import annotations

import copy
import functools
import warnings

import pytest

torch = pytest.importorskip("torch")

import fpemu.torch as ft  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

ROLES = ft.Recipe(input="e4m3fn", weight="e2m1", gradient="e5m2", bias="bf16")  # tells weights from activations


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(7)


def grid(*shape):
    """Numbers of magnitude 1/2 to 2 that are in no 8-bit format; sums of few products of their casts are exact in
    float32, in whatever order they are added."""
    return (torch.rand(shape) * 1.5 + 0.5) * (torch.randint(2, shape) * 2 - 1)


def run(function, tensors):
    """What a function gives, and the gradients of the tensors, for a gradient that is the same in each run."""
    leaves = [t.detach().clone().requires_grad_() for t in tensors]
    leaves = [nn.Parameter(t) if isinstance(o, nn.Parameter) else t for t, o in zip(leaves, tensors)]
    y = function(*leaves)
    torch.manual_seed(3)
    g = grid(*y.shape)
    return y, leaves, g


def judged(function, tensors, casts):
    """The same of operands cast beforehand, with the gradient cast on its way back."""
    y, leaves, g = run(function, [cast(t.detach()) for cast, t in zip(casts, tensors)])
    return [y.detach(), *torch.autograd.grad(y, leaves, ft.quantize(g, "e5m2"))]


def rounded(function, tensors, recipe=ROLES, rules=None):
    with ft.everywhere(recipe, rules):
        y, leaves, g = run(function, tensors)
        return [y.detach(), *torch.autograd.grad(y, leaves, g)]


def same(got, want):
    return len(got) == len(want) and all(torch.equal(a, b) for a, b in zip(got, want))


def act(x):
    return ft.quantize(x, "e4m3fn")


def wgt(x):
    return ft.quantize(x, "e2m1")


FP8 = ft.recipe("fp8")

# ------------------------------------------------------------------------------------------------ products

P = nn.Parameter
PRODUCTS = {
    "matmul": (torch.matmul, (2, 3, 4), (4, 5)), "@": (lambda a, b: a @ b, (3, 4), (2, 4, 5)),
    "method": (torch.Tensor.matmul, (4,), (4, 5)),
    "mm": (lambda a, b: torch.mm(input=a, mat2=b), (3, 4), (4, 5)),
    "bmm": (torch.bmm, (2, 3, 4), (2, 4, 5)), "mv": (torch.mv, (3, 4), (4,)),
    "dot": (torch.dot, (4,), (4,)), "inner": (torch.inner, (2, 4), (3, 4)),
    "tensordot": (lambda a, b: torch.tensordot(a, b, ([1, 0], [0, 2])), (2, 3, 4), (3, 5, 2)),
    "multi_dot": (lambda a, b: torch.linalg.multi_dot([a, b]), (3, 4), (4, 5)),
}


@pytest.mark.parametrize("weights", ["", "a", "b"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_those_of_rounded_operands(name, weights):
    function, *shapes = PRODUCTS[name]
    tensors = [P(grid(*s)) if which in weights else grid(*s) for which, s in zip("ab", shapes)]
    want = judged(function, tensors, [wgt if which in weights else act for which in "ab"])
    got = rounded(function, tensors)
    assert same(got, want)
    assert not torch.equal(got[0], function(*tensors))


EQUATIONS = ["ij,jk->ik", "ij,jk", "bij,bkj->bik", "bhqd,bhkd->bhqk", "i,i", "...ij,jk->...ik", "bij,kj->kib",
             "ija,ajk->ki", "biij,bj->bi", "bij,bjk->ik"]


@pytest.mark.parametrize("weights", ["", "a", "b"])
@pytest.mark.parametrize("equation", EQUATIONS)
def test_einsum_is_that_of_rounded_operands(equation, weights):
    sizes = dict(zip("abdhijklq", (2, 2, 4, 2, 3, 4, 3, 2, 3)))
    terms = equation.split("->")[0].split(",")
    shapes = [[2] * ("..." in term) + [sizes[c] for c in term.strip(".")] for term in terms]
    tensors = [P(grid(*s)) if which in weights else grid(*s) for which, s in zip("ab", shapes)]
    want = judged(lambda *t: torch.einsum(equation, *t), tensors, [wgt if c in weights else act for c in "ab"])
    got = rounded(lambda *t: torch.einsum(equation, *t), tensors)
    assert all(a.shape == b.shape and torch.allclose(a, b, 1e-6, 1e-6) for a, b in zip(got, want))
    assert not torch.allclose(got[0], torch.einsum(equation, *tensors), 1e-4)


def test_sums_of_more_operands_scalars_and_outer_products():
    a, b, c = grid(3, 4), grid(4, 5), grid(5, 2)
    with ft.everywhere(ROLES):
        y = torch.einsum("ij,jk,kl->li", a, b, c)
        assert torch.equal(torch.einsum(a, [0, 1], b, [1, 2], [2, 0]), torch.einsum("ij,jk->ki", a, b))
        assert torch.equal(torch.einsum("i,j->ij", a[0], b[0]), torch.outer(a[0], b[0]))  # no sum: nothing is rounded
        for wrong in ("ij,kj->ik", "ij,jk->iz", "ij->ij"):
            with pytest.raises(RuntimeError):
                torch.einsum(wrong, a, b)
    assert torch.allclose(y, (act(act(a) @ act(b)) @ act(c)).T, 1e-5)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("name", ["addmm", "baddbmm", "addbmm"])
def test_sums_with_a_product(name, bias):
    c, a, b, w = grid(5), grid(2, 3, 4), grid(2, 4, 5), grid(4, 5)
    if name == "addmm":
        a, b = a[0], w
    casts = [(lambda x: ft.quantize(x, "bf16")) if bias else torch.clone, act, wgt if bias else act]
    tensors = [P(c), a, P(b)] if bias else [c, a, b]
    for beta, alpha in ((1, 1), (0.5, 2), (0, 1)):
        def function(c, a, b):
            return getattr(torch, name)(c, a, b, beta=beta, alpha=alpha)
        got, want = rounded(function, tensors), judged(function, tensors, casts)
        assert all(torch.allclose(x, y, 1e-6, 1e-6) for x, y in zip((got[0], *got[2:]), (want[0], *want[2:])))
        torch.manual_seed(3)
        assert torch.allclose(got[1], beta * grid(*got[0].shape).sum_to_size(5))  # of the gradient as it arrives


def test_results_go_where_torch_puts_them():
    a, b, c = grid(3, 4), grid(4, 5), grid(3, 5)
    with ft.everywhere(ROLES):
        total = c.clone()
        assert total.addmm_(a, b) is total and torch.equal(total, torch.addmm(c, a, b))
        out = torch.empty(0)
        assert torch.mm(a, b, out=out) is out and torch.equal(out, act(a) @ act(b))
        with pytest.raises(RuntimeError, match="out="):
            torch.mm(P(a), b, out=out)
        half = torch.softmax(a.bfloat16(), -1, dtype=torch.float32)
    assert half.dtype == torch.float32


def test_what_has_no_rounding_is_torch_s():
    i, z = torch.randint(9, (3, 3)), torch.randn(3, 3, dtype=torch.complex64)
    with ft.everywhere(FP8):
        assert torch.equal(i @ i, (i.double() @ i.double()).long()) and torch.equal(z @ z, torch.linalg.matmul(z, z))
        for a, b in ((grid(0, 4), grid(4, 5)), (grid(3, 0), P(grid(0, 5))), (grid(2, 0, 4), P(grid(2, 4, 0)))):
            y = a.requires_grad_() @ b
            y.sum().backward()
            assert y.shape == (*a.shape[:-1], b.shape[-1]) and not y.any() and not a.grad.any()
        with pytest.raises(RuntimeError):
            torch.mm(grid(2, 3, 4), grid(4, 5))
        with pytest.raises(RuntimeError):
            torch.bmm(grid(1, 3, 4), grid(2, 4, 5))
        for call in (lambda: torch.cdist(grid(30, 4), grid(30, 4)), lambda: torch.matrix_power(grid(3, 3), 3),
                     lambda: torch.linalg.vecdot(grid(3), grid(3)),
                     lambda: torch.mm(grid(3, 3).to_sparse(), grid(3, 3))):
            with pytest.warns(UserWarning, match="is not rounded"):
                call()
    assert not torch.equal(z @ z, z * z)


# ------------------------------------------------------------------------------------------------ weights


def test_weights_are_parameters_and_what_is_made_of_them_alone():
    w, x = P(grid(6, 4, 5)), grid(2, 3, 4)
    views = {"part": lambda: w[1], "parts": lambda: w[torch.tensor([0, 4])], "selected": lambda: w.select(0, 2),
             "cast": lambda: w[0].double().float(), "joined": lambda: torch.cat([w[0], w[1]], -1),
             "transposed": lambda: w.mT.reshape(6, 5, 4).transpose(1, 2)[3:5],
             "picked": lambda: w.index_select(0, torch.tensor([3, 1]))}
    with ft.everywhere(ROLES):
        for name, view in views.items():
            assert torch.equal(x @ view(), act(x) @ wgt(view().detach())), name
        assert torch.equal(w[0].mT @ x[0].mT, wgt(w[0].detach()).mT @ act(x[0]).mT)
        moved = w[0] + grid(5)
        assert torch.equal(x[0] @ moved, act(x[0]) @ act(moved.detach()))


@pytest.mark.parametrize("side", ["left", "right"])
def test_blocks_of_weights_lie_along_the_sum(side):
    w, x = P(torch.randn(64, 40)), torch.randn(3, 64)
    function = (lambda x, w: x @ w) if side == "right" else (lambda x, w: (w.mT @ x.mT).mT)
    got = rounded(function, [x, w], ft.recipe("mxfp8"))
    torch.manual_seed(3)
    g, q = grid(3, 40), lambda t, axis: ft.quantize(t.detach().double(), "mxfp8", axis=axis)
    assert torch.allclose(got[0].double(), q(x, 1) @ q(w, 0), 1e-5, 1e-5)
    assert torch.allclose(got[1].double(), q(g, 1) @ q(w, 1).T, 1e-5, 1e-5)
    assert torch.allclose(got[2].double(), q(x, 0).T @ q(g, 0), 1e-5, 1e-5)


# ------------------------------------------------------------------------------------------------ layers


class Mixed(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.conv = nn.Embedding(9, 16), nn.Conv1d(16, 16, 3, padding="same")
        self.back = nn.ConvTranspose1d(16, 16, 2)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.norm, self.batch, self.head = nn.LayerNorm(16), nn.BatchNorm1d(16), nn.Linear(16, 5)

    def forward(self, ids):
        x = self.back(self.conv(self.table(ids).mT)).mT
        x = self.norm(x + self.attention(x, x, x, need_weights=False)[0])
        return self.head(self.batch(x.mT).mT)


def step(model, *args):
    model.zero_grad()
    y = model(*args)
    y.square().sum().backward()
    return [y.detach(), *(p.grad for p in model.parameters())]


PARTS = ("table", "conv", "back", "norm", "batch", "head", "attention.out_proj",
         *(f"attention.{part}" for part in ("in_proj", "scores", "softmax", "context")))
WHOLE = [FP8, ft.recipe("mxfp8"), ft.recipe("int8"), ROLES.replace(norm="bf16", embedding="e4m3fn", softmax="fp16")]


@pytest.mark.parametrize("recipe", WHOLE)
def test_layers_are_those_of_convert_bit_for_bit_and_converted_ones_are_left(recipe):
    model, ids = Mixed(), torch.randint(9, (2, 7))
    converted = ft.convert(copy.deepcopy(model), recipe)
    want, plain = step(converted, ids), step(copy.deepcopy(model), ids)
    with ft.everywhere(recipe):
        got = step(copy.deepcopy(model), ids)
        for (name, _), x, y in zip([("", 0), *model.named_parameters()], got, want):
            if "attention" in name:  # MultiheadAttention has the batch in another dimension: sums in another order
                assert torch.allclose(x, y, 1e-5, 1e-5)
            else:
                assert torch.equal(x, y), name
        assert not same(want[:1], plain[:1])
        again = ft.convert(copy.deepcopy(model), recipe)
        with ft.observe(again) as log:
            assert same(step(again, ids), want)
        assert {name.rpartition(".")[0] for name, _ in log.totals} <= set(PARTS)  # no places but the layers' own
        with ft.everywhere("e2m1"):  # the inner one holds
            assert not torch.equal(step(copy.deepcopy(model), ids)[0], want[0])
        with ft.everywhere(None), ft.everywhere(None):
            assert same(step(copy.deepcopy(model), ids), plain)
    assert same(step(copy.deepcopy(model), ids), plain)


def test_compiled_functions_tell_weights_as_eager_ones_do():
    w, x = P(torch.randn(16, 4, 8)), torch.randn(3, 16)
    norm, form, conv = nn.GroupNorm(2, 4), nn.Bilinear(8, 8, 4), nn.Conv1d(4, 4, 3, padding=1)

    def function(w):
        y = conv(norm(torch.einsum("bi,ihd->bhd", x, w)))
        y = torch.softmax(torch.baddbmm(torch.zeros(1), y, y.mT), -1) @ F.scaled_dot_product_attention(y, y, y)
        z = torch.addmm(w[0, 0, :4], F.linear(x, w[0, 0].repeat(8, 2)), w[1].mT)
        return form(y, y) + y @ w[2:5].mT.clone() + z[:, None]

    recipe = WHOLE[3].replace(forward=ft.Product(result="e4m3fn"))
    compiled = torch.compile(function, backend="aot_eager", fullgraph=True)
    assert same(rounded(compiled, [w], recipe), rounded(function, [w], recipe))


@pytest.mark.parametrize("weights", [False, True])
def test_grouped_products_have_blocks_of_their_own(weights):
    if not hasattr(torch, "_grouped_mm"):
        pytest.skip("this torch has no grouped_mm")
    offs = torch.tensor([40, 40, 72], dtype=torch.int32)
    a, b = torch.randn(80, 48), torch.randn(3, 48, 16)
    recipe = ft.Recipe(input="mxfp8", weight="mxfp4", gradient="mxfp8")
    got = rounded(lambda a, b: torch._grouped_mm(a, b, offs=offs), [a, P(b) if weights else b], recipe)
    torch.manual_seed(3)
    g, of_b = grid(80, 16), "mxfp4" if weights else "mxfp8"
    q = lambda x, format, axis: ft.quantize(x, format, axis=axis)  # noqa: E731
    want = [torch.zeros(80, 16), torch.zeros(80, 48), torch.zeros(3, 48, 16)]
    for i, (begin, end) in enumerate(((0, 40), (40, 40), (40, 72))):
        x, dy, w, rows = a[begin:end], g[begin:end], b[i], slice(begin, end)
        want[0][rows] = q(x, "mxfp8", 1) @ q(w, of_b, 0)
        want[1][rows] = q(dy, "mxfp8", 1) @ q(w, of_b, 1).T
        want[2][i] = q(x, "mxfp8", 0).T @ q(dy, "mxfp8", 0)
    assert all(torch.allclose(x, y, 1e-5, 1e-5) for x, y in zip(got, want))
    with ft.everywhere(recipe):
        c, ends = torch.randn(80, 32), torch.tensor([16, 80], dtype=torch.int32)
        parts = torch._grouped_mm(a.T, c, offs=ends)  # two matrices, cut along the sum
        assert torch.allclose(parts[1], q(a[16:], "mxfp8", 0).T @ q(c[16:], "mxfp8", 0), 1e-5, 1e-5)
        sides = torch._grouped_mm(b.mT, torch.randn(48, 80), offs=ends[:0].new_tensor([16, 32, 64]))
        assert sides.shape == (16, 80) and not sides[:, 64:].any()
        assert torch.equal(torch._grouped_mm(b.mT, b), torch.bmm(b.mT, b))


def test_bilinear_is_two_products():
    x, y, layer = grid(3, 4), grid(3, 5), nn.Bilinear(4, 5, 6)
    with ft.everywhere(ROLES):
        got = layer(x, y)
    inner = (act(y) @ wgt(layer.weight.detach()).reshape(24, 5).T).reshape(3, 6, 4)
    want = (act(inner) * act(x)[:, None]).sum(-1) + ft.quantize(layer.bias.detach(), "bf16")
    assert torch.allclose(got, want, 1e-5)


def lstm_step(x, h, c, w, u, b):
    i, f, g, o = (act(x) @ wgt(w).T + act(h) @ wgt(u).T + b).chunk(4, -1)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c.tanh(), c


def gru_step(x, h, w, u, b, d):
    r, z, n = (act(x) @ wgt(w).T + b).chunk(3, -1)
    s, y, m = (act(h) @ wgt(u).T + d).chunk(3, -1)
    n = (n + (r + s).sigmoid() * m).tanh()
    return n + (z + y).sigmoid() * (h - n)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers_round_each_step(kind):
    layer, x = getattr(nn, kind)(4, 6), grid(5, 3, 4)
    w, u, b, d = (p.detach() for p in layer.parameters())
    h = c = torch.zeros(3, 6)
    want = []
    for t in range(5):
        if kind == "LSTM":
            h, c = lstm_step(x[t], h, c, w, u, b + d)
        elif kind == "GRU":
            h = gru_step(x[t], h, w, u, b, d)
        else:
            h = (act(x[t]) @ wgt(w).T + act(h) @ wgt(u).T + b + d).tanh()
        want.append(h)
    cell = getattr(nn, kind + "Cell")(4, 6)
    cell.load_state_dict({name.removesuffix("_l0"): p for name, p in layer.state_dict().items()})
    packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 3, 2]))
    with ft.everywhere(ROLES.replace(bias=None)), Look("e4m3fn", "e2m1", "e5m2") as look:
        y, end = layer(x)
        one = cell(x[0])
        some, _ = layer(packed)
        (y.sum() + some.data.sum()).backward()
    assert torch.allclose(y, torch.stack(want), 1e-5, 1e-6)
    assert torch.allclose(one[0] if kind == "LSTM" else one, want[0], 1e-5, 1e-6)
    assert torch.allclose(some.data[:3], want[0], 1e-5, 1e-6) and torch.allclose(some.data[-1], want[4][0], 1e-5, 1e-6)
    assert look.seen and not look.bare


@pytest.mark.parametrize("name, make", [
    ("group_norm", lambda: nn.GroupNorm(2, 4)), ("instance_norm", lambda: nn.InstanceNorm1d(4, affine=True)),
    ("rms_norm", lambda: nn.RMSNorm(6)), ("layer_norm", lambda: nn.LayerNorm(6)),
    ("embedding_bag", lambda: nn.EmbeddingBag(9, 4))])
def test_norms_and_tables_go_by_their_own_format(name, make):
    layer, recipe = make(), ft.Recipe(gradient="e5m2", norm="bf16", embedding="bf16")
    x = torch.randint(9, (2, 3)) if name == "embedding_bag" else torch.randn(2, 4, 6, requires_grad=True)
    with torch.no_grad():
        for p in layer.parameters():
            p.add_(torch.randn_like(p))
    cast = copy.deepcopy(layer).bfloat16().float()
    want = cast(x.bfloat16().float() if x.is_floating_point() else x)
    with ft.everywhere(recipe):
        got = layer(x)
        g = torch.randn_like(got)
        got.backward(g)
    want.backward(ft.quantize(g, "e5m2"))
    assert torch.equal(got, want)
    assert all(torch.equal(p.grad, q.grad) for p, q in zip(layer.parameters(), cast.parameters()))
    with ft.everywhere(recipe, {name: None}):
        assert torch.equal(layer(x), make().__class__.forward(layer, x)) and not torch.equal(layer(x), got)


# ------------------------------------------------------------------------------------------------ models

# Operands of what multiplies below torch's functions.
OPERANDS = {**dict.fromkeys(("mm", "bmm", "mv", "dot", "_grouped_mm", "convolution"), (0, 1)),
            **dict.fromkeys(("addmm", "baddbmm", "addmv"), (1, 2))}


class Look(TorchDispatchMode):
    """The operands of every product, forward and backward: those that are numbers of no format of the recipe."""

    def __init__(self, *formats):
        super().__init__()
        self.formats = formats
        self.seen, self.bare = 0, []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = function._schema.name.rpartition(":")[2]
        places = (0, 1, 2) if "scaled_dot" in name or "rnn" in name else OPERANDS.get(name, ())
        if name == "convolution_backward":  # the input makes the gradient of the weight, the weight that of the input
            places = (0, *(2 - n for n, made in enumerate(args[-1][:2]) if made))
        for place in places:
            self.seen += 1
            x = args[place]
            if not any(torch.equal(x, ft.quantize(x, format)) for format in self.formats):
                self.bare.append((name, place, tuple(x.shape)))
        return function(*args, **(kwargs or {}))


GPT2 = {"n_embd": 32, "n_layer": 2, "n_head": 4, "bos_token_id": 0, "eos_token_id": 0}
T5 = {"d_model": 32, "d_ff": 48, "d_kv": 8, "num_layers": 2, "num_heads": 4, "decoder_start_token_id": 0}
SMALL = {"vocab_size": 40, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
LLAMA = {**SMALL, "num_key_value_heads": 2, "head_dim": 8}
MODELS = {
    "GPT2LMHeadModel": GPT2, "LlamaForCausalLM": LLAMA, "MixtralForCausalLM": {**LLAMA, "num_local_experts": 4},
    "Qwen3MoeForCausalLM": {**LLAMA, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32},
    "BertForMaskedLM": SMALL, "ViTForImageClassification": {**SMALL, "image_size": 16, "patch_size": 4},
    "T5ForConditionalGeneration": T5, "MambaForCausalLM": {"hidden_size": 32, "state_size": 4, "num_hidden_layers": 2},
}


def of_transformers(name, attention):
    transformers = pytest.importorskip("transformers")
    cls = getattr(transformers, name, None) or pytest.skip(f"this transformers has no {name}")
    model = cls(cls.config_class(**{"vocab_size": 40, **MODELS[name]}, attn_implementation=attention))
    if name.startswith("ViT"):
        return model, {"pixel_values": torch.randn(2, 3, 16, 16), "labels": torch.tensor([0, 1])}
    ids = torch.randint(40, (2, 10))
    return model, {"input_ids": ids, "labels": ids}


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("name", MODELS)
def test_every_product_of_a_model_has_rounded_operands(name, attention):
    if name.startswith("Mamba") and attention == "sdpa":
        pytest.skip("it has no attention")
    model, inputs = of_transformers(name, attention)
    with Look("e4m3fn", "e5m2") as look:
        model(**inputs).loss.backward()
    assert len(look.bare) > look.seen // 2
    with ft.everywhere("fp8"), Look("e4m3fn", "e5m2") as look, warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model(**inputs).loss.backward()
    assert look.seen > 20 and not look.bare


@pytest.mark.parametrize("name", ["resnet18", "vit_b_16"])
def test_every_product_of_torchvision_has_rounded_operands(name):
    model = getattr(pytest.importorskip("torchvision").models, name)(**{"image_size": 32} if name[0] == "v" else {})
    with ft.everywhere("fp8"), Look("e4m3fn", "e5m2") as look:
        model(torch.randn(2, 3, 32, 32)).square().sum().backward()
    assert look.seen > 20 and not look.bare


# ------------------------------------------------------------------------------------------------ places


class Scores(nn.Module):
    def __init__(self):
        super().__init__()
        self.key = P(torch.randn(8, 16))
        self.inner = nn.Linear(16, 16)

    def forward(self, x):
        x = self.inner(x)
        k = x @ self.key.T
        return torch.softmax(k @ k.mT, -1)


def test_rules_hold_by_function_class_callable_and_name():
    model, x = Scores(), torch.randn(2, 5, 16)
    linear, plain = ft.convert(copy.deepcopy(model), "e2m1")(x), model(x)
    for rules, want in (({"matmul": None}, linear), ({"m*": None}, linear), ({Scores: None}, linear),
                        ({lambda module, name: isinstance(module, Scores) and name == "matmul": None}, linear),
                        ({"lin*": None, "matmul": None}, plain), ({"linear": "e2m1", "*": None}, linear)):
        with ft.everywhere("e2m1", rules):
            assert torch.equal(model(x), want)
    with ft.everywhere("e2m1", {"inner": "e2m1", "*": None}, model=model):
        assert torch.equal(model(x), linear)
    with pytest.warns(UserWarning, match="1 of 2 rules matched nothing: conv*"), \
            ft.everywhere("e2m1", {"conv*": None, "matmul": None}):
        assert torch.equal(model(x), linear)
    for wrong in ({3: None}, "matmul"):
        with pytest.raises(TypeError):
            ft.everywhere("e2m1", wrong)
    with pytest.raises(ft.functional.fpemu.SpecError):
        ft.everywhere("nonsense")
    with pytest.warns(UserWarning, match="nothing"), ft.everywhere("e2m1", {Scores: None}), \
            pytest.raises(RuntimeError, match="knows no modules"):
        torch.compile(model, backend="aot_eager", fullgraph=True)(x)


def test_observe_counts_places_whichever_is_entered_first():
    model, x, free = Scores(), torch.randn(2, 5, 16), torch.randn(3, 4)
    recipe = ft.recipe("fp8").replace(softmax="bf16")
    with ft.everywhere(recipe) as places:
        with ft.observe(model) as log:
            model(x).sum().backward()
            free @ free.T
        total = log.totals
        model(x)
        assert log.totals.keys() == total.keys()
    assert total["inner.linear.input", "v"].count == 160 and total["inner.linear.weight", "w"].count == 256
    assert total["matmul.weight", "w"].count == 128 and total["softmax.output", "v"].count == 50
    assert sum(t.count for (name, _), t in total.items() if name.startswith("matmul:")) == 80 + 80 + 50
    assert [t.count for (name, _), t in total.items() if name.startswith("test_torch_everywhere.py:")] == [12, 12]
    with places, ft.observe(model) as log:
        model(x)
    assert log.totals["inner.linear.input", "v"].count == 160
    with ft.observe(ft.convert(Scores(), "fp8")) as log, places:
        model(x)
        torch.compile(model, backend="aot_eager", fullgraph=True)(x)
    assert sum(name.endswith("linear.input") for name, _ in log.totals) == 2
    with pytest.raises(ValueError, match="everywhere"), ft.observe(model):
        pass


def test_streams_go_on_and_are_repeated_by_checkpoints_alone():
    x, w = torch.randn(4, 32, requires_grad=True), P(torch.randn(8, 32))
    recipe, mode = ft.Recipe(input="e2m1/sr", weight="e2m1/sr", gradient="e2m1/sr"), None

    def calls(mode, n=1):
        with mode:
            return [F.linear(x, w) for _ in range(n)]

    mode = ft.everywhere(recipe, seed=5)
    first, second = calls(mode, 2)
    third, again = calls(mode)[0], calls(ft.everywhere(recipe, seed=5), 3)
    assert same(again, [first, second, third]) and len({y.sum().item() for y in again}) == 3
    assert not same(calls(ft.everywhere(recipe, seed=6)), [first])
    with ft.everywhere(recipe):
        a = F.linear(x, w)
        b = F.linear(x, w)  # another place
        assert not torch.equal(a, b)

    def block(x):
        return torch.tanh(F.linear(x, w)) @ torch.randn(8, 3, generator=torch.Generator().manual_seed(1))

    for recipe, reentrant in ((recipe, False), (ROLES, False), (ROLES, True)):
        grads = []
        for around in (lambda f, x: f(x), lambda f, x: checkpoint(f, x, use_reentrant=reentrant)):
            for outside in (False, True):
                with ft.everywhere(recipe):
                    y = around(block, x).square().sum()
                    if not outside:
                        y.backward()
                if outside:
                    y.backward()
                grads.append([x.grad, w.grad])
                x.grad = w.grad = None
        assert all(same(grads[0], other) for other in grads)


# ------------------------------------------------------------------------------------------------ modules by functions


class Experts(nn.Module):
    """A module with matrices of its own."""

    def __init__(self):
        super().__init__()
        self.up, self.down = P(torch.randn(3, 16, 8)), P(torch.randn(3, 8, 16))
        self.gate, self.left = nn.Linear(16, 3), nn.Linear(16, 16)

    def forward(self, x):
        w = self.gate(x).softmax(-1)
        y = torch.stack([self.kept(self.one, x, i) for i in range(3)], -1)
        return (y * w.unsqueeze(-2)).sum(-1) + self.left(x)

    def one(self, x, i):
        return F.silu(x @ self.up[i]) @ self.down[i]

    kept = staticmethod(lambda function, *args: function(*args))


def by_functions(model, recipe):
    """What convert does of a module whose functions are rounded."""
    from fpemu.torch import modules

    cls = type("Experts", (modules._ByFunctions, Experts), {})
    model.__dict__["_fpemu"] = modules.Attachment(recipe, Experts, cls.plans(recipe), 0, 0)
    model.__class__ = cls
    model.gate = ft.convert(model.gate, "fp8")
    model.left.__dict__["_fpemu_left"] = "its recipe is None"
    return model


@pytest.mark.parametrize("outer", [None, "fp8"])
def test_a_module_s_own_forward_goes_by_its_recipe(outer):
    model, x = Experts(), torch.randn(5, 16)
    made = by_functions(copy.deepcopy(model), ft.recipe("e2m1"))
    model.gate = ft.convert(model.gate, "fp8")
    with ft.everywhere("e2m1", {"linear": None}):
        want = model(x)
    assert torch.equal(made(x), want) and not torch.equal(model(x), want)
    with ft.everywhere(outer):
        assert torch.equal(made(x), want)
    if outer is None:
        assert torch.equal(torch.compile(made, backend="aot_eager", fullgraph=True)(x), want)
    whole = nn.Sequential(made, nn.Linear(16, 16))  # which is not rounded
    want, forward = step(whole, x.requires_grad_()), whole.forward
    for reentrant in (False, True):  # checkpoints within the module's forward, and around it and its neighbour
        kept = functools.partial(checkpoint, use_reentrant=reentrant)
        made.kept = kept
        assert same(step(whole, x), want)
        made.kept, whole.forward = Experts.kept, functools.partial(kept, forward)
        assert same(step(whole, x), want)
        whole.forward = forward
    with ft.observe(made) as log:
        made(x).sum().backward()
    assert {"weight", "gate.weight", "input"} <= {name for name, _ in log.totals}
    assert log.totals["weight", "w"].count == 2 * 3 * 16 * 8


@pytest.mark.parametrize("name", ["LlamaForCausalLM", "GPT2LMHeadModel"])
def test_attention_of_transformers_by_one_call(name):
    ft.register_attention("fp8", "fpemu-test")
    (model, inputs), (other, _) = of_transformers(name, "fpemu-test"), of_transformers(name, "sdpa")
    other.load_state_dict(model.eval().state_dict())
    other.eval()
    with ft.everywhere("fp8", {"scaled_dot_product_attention": "fp8", "*": None}):
        want = other(**inputs).loss
    with ft.observe(model) as log:
        loss = model(**inputs).loss
        loss.backward()
    assert torch.equal(loss, want) and not torch.equal(loss, other(**inputs).loss)
    assert sum(name.endswith("scores.input") for name, _ in log.totals) == 2
    assert all(".scaled_dot_product_attention." in name for name, _ in log.totals)
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    call = functools.partial(ALL_ATTENTION_FUNCTIONS["fpemu-test"], nn.Identity())
    q = torch.randn(1, 2, 5, 8)
    assert same(torch.compile(call, backend="aot_eager", fullgraph=True)(q, q, q, None)[:1], call(q, q, q, None)[:1])
