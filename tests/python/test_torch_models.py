# SPDX-License-Identifier: BSD-2-Clause
"""What fpemu.torch.convert leaves of whole models, against what is seen below torch's dispatcher."""

from __future__ import annotations

import copy
import inspect
import io
import re
import sys
import warnings

import pytest
from same import refuses

torch = pytest.importorskip("torch")

import fpemu.torch as ft  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(7)


# ------------------------------------------------------------------------------------------------ judges


def e4m3(x):
    return x.float().clamp(-448, 448).to(torch.float8_e4m3fn).to(x.dtype)


def e5m2(x):
    return x.float().to(torch.float8_e5m2).to(x.dtype)


def is_fp8(x):
    return torch.equal(e4m3(x), x) or torch.equal(e5m2(x), x)


class Seen(TorchDispatchMode):
    """The products that ran, by value: `plain` are the classes of the modules whose products had an operand that is in
    neither format of fp8, by the innermost module on the stack; in backward passes that of the node's forward."""

    OPERANDS = {"mm": (0, 1), "addmm": (1, 2), "bmm": (0, 1), "baddbmm": (1, 2), "convolution": (0, 1), "mv": (0, 1),
                "convolution_backward": (0, 1, 2), "_grouped_mm": (0, 1), "dot": (0, 1), "addmv": (1, 2)}

    def __init__(self):
        super().__init__()
        self.count, self.emulated, self.plain, self.by_node = 0, 0, set(), {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        node, name = torch._C._current_autograd_node(), func.overloadpacket.__name__
        if node is None:
            owner, frame = None, sys._getframe(1)
            while frame is not None and owner is None:
                me = frame.f_locals.get((*frame.f_code.co_varnames, "")[0])
                owner, frame = me if isinstance(me, nn.Module) else None, frame.f_back
            owner = type(owner).__name__
            self.by_node[torch.autograd._get_sequence_nr() - 1] = owner
        else:
            owner = self.by_node.get(node._sequence_nr())
        places = self.OPERANDS.get(name, range(4) if "scaled_dot_product" in name or "lstm" in name else ())
        operands = [x for i, x in enumerate(args) if i in places and isinstance(x, torch.Tensor)]
        self.count += bool(operands)
        if operands and all(map(is_fp8, operands)):
            self.emulated += 1
        elif operands:
            self.plain.add(owner)
        return func(*args, **kwargs or {})


def converted(model, *args, **how):
    """The model, and what convert said of it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ft.convert(model, *args, **how)
    said = [str(w.message) for w in said if w.category is UserWarning]
    assert len(said) < 2
    return model, "".join(said)


# ------------------------------------------------------------------------------------------------ models

SMALL = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4}
MOE = {"num_key_value_heads": 2, "vocab_size": 64, **SMALL}
MODELS = {
    "GPT2LMHeadModel": {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 64, "n_positions": 32},
    "LlamaForCausalLM": MOE,
    "MixtralForCausalLM": {**MOE, "num_local_experts": 3},
    "Qwen3MoeForCausalLM": {**MOE, "num_experts": 3, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
                            "head_dim": 8},
    "ViTForImageClassification": {**SMALL, "image_size": 16, "patch_size": 4},
    "BertForSequenceClassification": {**SMALL, "vocab_size": 64, "max_position_embeddings": 32},
    "T5ForConditionalGeneration": {"d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4,
                                   "vocab_size": 64},
    "MambaForCausalLM": {"hidden_size": 32, "state_size": 4, "num_hidden_layers": 2, "vocab_size": 64},
}


def made(name, **how):
    transformers = pytest.importorskip("transformers")
    transformers.logging.set_verbosity_error()
    kind = getattr(transformers, name)
    model = kind(kind.config_class(**MODELS[name], **how))
    with torch.no_grad():  # biases and such begin at zero, which is a number of any format
        for p in model.parameters():
            p.copy_(torch.randn(p.shape) * 0.2 + (p.dim() == 1))
    tokens = torch.randint(64, (2, 8))
    if "ViT" in name:
        return model, {"pixel_values": torch.randn(2, 3, 16, 16)}
    return model, {"input_ids": tokens, **({"decoder_input_ids": tokens} if "T5" in name else {})}


def run(model, inputs):
    with Seen() as seen:
        model(**inputs).logits.square().mean().backward()
    return seen


@pytest.mark.parametrize("how", [{"attn_implementation": "sdpa"}, {"attn_implementation": "eager"}])
@pytest.mark.parametrize("name", MODELS)
def test_what_convert_leaves_of_a_model_is_named(name, how):
    model, inputs = made(name, **({} if "Mamba" in name else how))
    before = run(model, inputs)
    assert before.emulated == 0 and len(before.plain) > 1  # the judge sees products in FP32
    model, said = converted(model, "fp8")
    seen = run(model, inputs)
    assert seen.emulated > 20
    assert all(re.search(rf"\((\d+ x )?{kind}\)", said) for kind in seen.plain)
    matrices = {p for m in model.modules() if not isinstance(m, nn.Embedding) for p in m.parameters(recurse=False)
                if p.dim() > 1 and p.shape[0] > 1}
    total = ft.summary(model).total
    assert total.emulated_weights == total.weights == sum(p.numel() for p in matrices)
    assert not seen.plain or "100 % of the weights that multiply" in said
    assert [w for _, _, w in ft.summary(model).left if "no rule names it" in w] or not seen.plain
    _, said = converted(model, "fp8", {"*": "fp8"})
    seen = run(model, inputs)
    assert not said and not seen.plain and seen.emulated > before.count // 2
    assert not converted(model, "fp8", {"*": None})[1] and run(ft.revert(model), inputs).emulated == 0


def test_what_a_table_of_functions_gives_is_read():
    model, _ = made("LlamaForCausalLM", attn_implementation="sdpa")
    assert "scaled_dot_product_attention in sdpa_attention_forward" in converted(model, "fp8")[1]
    ft.register_attention("fp8", "fpemu-named")
    model, inputs = made("LlamaForCausalLM", attn_implementation="fpemu-named")
    assert not converted(model, "fp8", strict=True)[1] and not run(model, inputs).plain


@pytest.mark.parametrize("make", [
    lambda: nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)), lambda: nn.Transformer(8, 2, 1, 1, 16),
    lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))),
    lambda: pytest.importorskip("torchvision").models.resnet18(),
    lambda: pytest.importorskip("torchvision").models.vit_b_16(num_classes=2)])
def test_models_of_torch_s_layers_are_converted_without_a_word(make):
    model, said = converted(make(), "fp8", strict=True)
    total = ft.summary(model).total
    assert not said and total.emulated_weights == total.weights > 0
    assert str(ft.summary(model)).splitlines()[-1] == str(total) == (
        f"{total.matrices} of {total.matrices} matrices, 100 % of the weights that multiply, are emulated")


# ------------------------------------------------------------------------------------------------ what is named


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(4, 8))

    def forward(self, x):
        return F.linear(x, self.weight)


class Scores(nn.Module):
    """Products of activations in a helper, past a decorator."""

    def __init__(self):
        super().__init__()
        self.linear, self.gate, self.place = nn.Linear(8, 8), Gate(), nn.Parameter(torch.randn(1, 4, 8))

    @staticmethod
    def mix(x):
        return [scores(part, part) for part in x]

    @torch.no_grad()
    def forward(self, x):
        return self.gate(torch.stack(self.mix(self.linear(x + self.place))))


def scores(q, k):
    return matmul(q, k.mT) @ k


matmul = torch.matmul


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.einsum("ij,kj->ik", x, x)


class Hidden(nn.Module):
    def forward(self, x):
        return Straight.apply(x)


class Tables(nn.Module):
    """Multiplies nothing: what is looked up, added, asked about, or is a layer of that name."""

    def __init__(self):
        super().__init__()
        self.place, self.rows = nn.Parameter(torch.randn(1, 4, 8)), nn.Parameter(torch.randn(4, 8))
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        if isinstance(self.linear.weight, nn.Parameter) and self.linear.weight.dtype == x.dtype:
            x = self.linear(x + self.place) + self.rows
        return x * F.embedding(torch.arange(4), self.rows)


class Past(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x, times=None):
        return times(self.first(x), self.second.weight)


def test_what_a_module_s_code_multiplies_by_is_read():
    model = nn.ModuleDict({"a": nn.ModuleList([Scores(), Scores()]), "b": Hidden(), "c": Tables(), "d": Past()})
    model, said = converted(model, "fp8")
    lines = [line.strip() for line in said.splitlines()]
    assert lines[0] == "7 of 7 matrices, 100 % of the weights that multiply, are emulated."
    assert sorted(lines[2:-1]) == ["a.* (2 x Scores): matmul, @ in scores", "b (Hidden): einsum in Straight.forward",
                                   "d (Past): reads second.weight past its layer; 64 weights"]
    assert type(model["a"][0].gate).__mro__[1] is ft.modules._ByFunctions
    model["d"].forward = lambda x: x
    refuses(ValueError, lambda: ft.convert(model, "fp8", {"a.*": "fp8", "b": None}, strict=True), "reads second.weight")
    assert type(model["b"]) is Hidden and model["a"][0].linear.recipe.name == "fp8"  # as it was
    assert not converted(model, "fp32", strict=True)[1] and not converted(model, None, {"d.first": "fp8"})[1]
    assert not converted(model, ft.Recipe(norm="bf16"))[1]


@pytest.mark.parametrize("model", [nn.Sequential(nn.ReLU()), nn.LayerNorm(4), Hidden()])
def test_a_model_in_which_nothing_fits_is_refused(model):
    refuses(ValueError, lambda: ft.convert(model, "fp8"), "nothing in the model fits the recipe")
    ft.convert(model, None)
    ft.convert(model, ft.Recipe(embedding="bf16"))
    ft.convert(nn.Sequential(nn.Linear(4, 4)), "fp8", {"0": None})


# ------------------------------------------------------------------------------------------------ what is converted


class Cast(torch.autograd.Function):
    """One cast on the way forward, another on the way back."""

    @staticmethod
    def forward(ctx, x, there, back):
        ctx.back = back
        return there(x)

    @staticmethod
    def backward(ctx, g):
        return ctx.back(g), None, None


def same(x):
    return x.clone()


def times(x, w, b=0):
    """x w^T + b by fp8, as the recipe has it."""
    return Cast.apply(Cast.apply(x, e4m3, same) @ Cast.apply(w, e4m3, same).mT, same, e5m2) + b


def lstm(m, x):
    h, c = torch.zeros(2, x.shape[1], 4)
    out = []
    for row in x:
        i, f, g, o = (times(row, m.weight_ih_l0, m.bias_ih_l0) + times(h, m.weight_hh_l0, m.bias_hh_l0)).chunk(4, -1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        out.append(h)
    return torch.stack(out)


def gru(m, x):
    h, out = torch.zeros(x.shape[1], 4), []
    for row in x:
        a = times(row, m.weight_ih_l0, m.bias_ih_l0).chunk(3, -1)
        b = times(h, m.weight_hh_l0, m.bias_hh_l0).chunk(3, -1)
        r, z = (a[0] + b[0]).sigmoid(), (a[1] + b[1]).sigmoid()
        h = (1 - z) * (a[2] + r * b[2]).tanh() + z * h
        out.append(h)
    return torch.stack(out)


def rnn(m, x):
    return (times(x, m.weight_ih, m.bias_ih) + times(torch.zeros(x.shape[0], 4), m.weight_hh, m.bias_hh)).tanh()


class Own(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


LAYERS = {
    "Conv1D": (lambda: pytest.importorskip("transformers.pytorch_utils").Conv1D(4, 8), (3, 8),
               lambda m, x: times(x, m.weight.mT, m.bias)),
    "Gate": (Gate, (3, 8), lambda m, x: times(x, m.weight)), "Own": (lambda: Own(8, 4), (3, 8),
             lambda m, x: 2 * times(x, m.weight, m.bias)),
    "LSTM": (lambda: nn.LSTM(8, 4), (3, 2, 8), lstm), "GRU": (lambda: nn.GRU(8, 4), (3, 2, 8), gru),
    "RNNCell": (lambda: nn.RNNCell(8, 4), (3, 8), rnn),
}


@pytest.mark.parametrize("name", LAYERS)
def test_modules_with_matrices_of_their_own_multiply_by_the_recipe(name):
    make, shape, judge = LAYERS[name]
    module = make()
    plain = copy.deepcopy(module)
    model, said = converted(nn.Sequential(module), "fp8")
    x = torch.randn(shape, requires_grad=True)
    z = x.detach().clone().requires_grad_()
    found, wanted = model(x), judge(plain, z)
    found = found[0] if isinstance(found, tuple) else found
    g = torch.randn(found.shape)
    found.backward(g)
    wanted.backward(g)
    assert not said and found.shape == wanted.shape and torch.allclose(found, wanted, atol=1e-6)
    assert torch.allclose(x.grad, z.grad, atol=1e-5)
    for p, q in zip(module.parameters(), plain.parameters(), strict=True):
        assert torch.allclose(p.grad, q.grad, atol=1e-5)
    twin, file = copy.deepcopy(model), io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    for other in twin, torch.load(file, weights_only=False):
        again = other(x)
        assert torch.equal(again[0] if isinstance(again, tuple) else again, found)
        assert list(other.state_dict()) == list(nn.Sequential(plain).state_dict())
    with ft.observe(model) as log:
        model(x)
    assert {key[1] for key in log.totals} == {"v", "w"}
    assert type(ft.revert(model)[0]) is type(plain)


@pytest.mark.parametrize("how", ["eager", "batched_mm", "grouped_mm"])
def test_experts_multiply_by_the_recipe_however_they_are_computed(how):
    transformers = pytest.importorskip("transformers")
    config = transformers.MixtralConfig(**{**MOE, "num_local_experts": 3})
    config._experts_implementation = how
    experts = transformers.models.mixtral.modeling_mixtral.MixtralExperts(config)
    with torch.no_grad():
        for p in experts.parameters():
            p.copy_(torch.randn(p.shape) * 0.3)
    plain = copy.deepcopy(experts)
    x, z = (t.requires_grad_() for t in torch.randn(1, 6, 32).repeat(2, 1, 1).unbind())
    chosen = torch.tensor([[0, 1], [1, 2], [2, 0], [1, 0], [0, 2], [2, 1]])
    weights = torch.rand(6, 2)
    found = converted(nn.Sequential(experts), "fp8")[0][0](x, chosen, weights)
    wanted = 0
    for place in range(2):
        for expert in range(3):
            mine = chosen[:, place] == expert
            gate, up = times(z[mine], plain.gate_up_proj[expert]).chunk(2, -1)
            part = times(F.silu(gate) * up, plain.down_proj[expert]) * weights[mine, place, None]
            wanted = wanted + torch.zeros_like(z).index_add(0, mine.nonzero()[:, 0], part)
    g = torch.randn(6, 32)
    found.backward(g)
    wanted.backward(g)
    assert torch.allclose(found, wanted, atol=1e-5) and torch.allclose(x.grad, z.grad, atol=1e-4)
    for p, q in zip(experts.parameters(), plain.parameters(), strict=True):
        assert torch.allclose(p.grad, q.grad, atol=1e-4)


class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        return F.layer_norm(x.movedim(1, -1), self.normalized_shape, self.weight, self.bias, self.eps).movedim(-1, 1)


def named(family, name):
    return lambda: getattr(pytest.importorskip(f"transformers.models.{family}.modeling_{family}"), name)(8)


NORMS = [
    (lambda: nn.GroupNorm(2, 8), (2, 8, 5)), (lambda: nn.InstanceNorm1d(8, 1e-5, 0.1, True, True), (2, 8, 5)),
    (lambda: nn.InstanceNorm2d(8, affine=True), (8, 5, 5)), (lambda: LayerNorm2d(8), (2, 8, 4, 4)),
    (named("llama", "LlamaRMSNorm"), (2, 3, 8)), (named("gemma", "GemmaRMSNorm"), (2, 3, 8)),
    (named("t5", "T5LayerNorm"), (2, 3, 8)), (lambda: nn.EmbeddingBag(10, 8, mode="mean"), None),
]


@pytest.mark.parametrize("make, shape", NORMS)
def test_norms_and_bags_compute_on_what_is_rounded(make, shape):
    module, wide = make(), torch.randn(shape or ())
    with torch.no_grad():
        for p in module.parameters():
            p.uniform_(0.5, 2)
    plain = copy.deepcopy(module)
    with torch.no_grad():
        for p in plain.parameters():
            p.copy_(e4m3(p))
    recipe = ft.recipe("fp8").replace(norm="e4m3fn:saturate", embedding="e4m3fn:saturate")
    model = ft.convert(nn.Sequential(module), recipe)
    if shape is None:
        x = y = torch.tensor([[1, 2, 2], [0, 9, 4]])
    else:
        x, y = wide.clone().requires_grad_(), e4m3(wide).requires_grad_()
    found, wanted = model(x), plain(y)
    g = torch.randn(found.shape)
    found.backward(g)
    wanted.backward(e5m2(g))
    assert torch.equal(found, wanted) and (shape is None or torch.equal(x.grad, y.grad))
    assert all(torch.equal(p.grad, q.grad) for p, q in zip(module.parameters(), plain.parameters(), strict=True))
    assert all(torch.equal(p, q) for p, q in zip(module.buffers(), plain.buffers(), strict=True))
    twin, file = copy.deepcopy(model), io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    assert torch.equal(twin(x), found) and torch.equal(torch.load(file, weights_only=False)(x), found)
    with ft.observe(model) as log, ft.everywhere(ft.Recipe(norm="e5m2", embedding="e5m2")):  # which rounds none again
        assert torch.equal(model(x), found)
    assert len(log.totals) == len(list(module.parameters())) + (shape is not None)
    assert ft.summary(model).total.weights == 0 and type(ft.revert(model)[0]) is type(plain)


class Head(nn.Module):
    """The products of its own with the weights of its layers."""

    def __init__(self):
        super().__init__()
        self.table, self.inner = nn.Embedding(6, 8), nn.Linear(8, 8)

    def forward(self, x, scale: float = 1.0):
        return F.linear(self.table(x) @ self.inner.weight, self.table.weight) * scale


def test_layers_whose_weights_are_read_past_them_go_by_the_module_that_reads():
    model, x = converted(Head(), "fp8", strict=True)[0], torch.arange(6)
    table, inner = model.table.weight, model.inner.weight
    assert torch.equal(model(x), times(times(table, inner.mT), table))
    assert str(inspect.signature(model.forward)) == "(x, scale: 'float' = 1.0)"
    assert str(ft.summary(model).total).startswith("2 of 2 matrices, 100 %")
    assert {row[2] for row in ft.summary(model).converted} == {"fp8"}  # nothing of what has not run
    with warnings.catch_warnings(), ft.observe(model):
        warnings.simplefilter("error")
        model(x)


class Outer(Gate):
    """A product of its own, and layers inside that have theirs."""

    def __init__(self):
        super().__init__()
        self.inner, self.hidden, self.left = nn.Linear(8, 8), Hidden(), nn.Linear(8, 8)

    def forward(self, x):
        return super().forward(self.left(self.hidden(self.inner(x))))


def test_modules_inside_one_that_goes_by_functions_have_their_own_rules():
    model, x = Outer(), torch.randn(8, 8)
    with pytest.warns(UserWarning, match=r"2 of 3 matrices, .*\n.*\n  hidden \(Hidden\): einsum .*\nA rule"):
        ft.convert(model, "fp8", {"left": None})
    inner = times(x, model.inner.weight, model.inner.bias)
    y = F.linear(inner @ inner.mT, model.left.weight, model.left.bias)
    assert torch.equal(model(x), times(y, model.weight))
    every, said = converted(model, "fp8", {Hidden: "fp8"})
    y = times(times(inner, inner), every.left.weight, every.left.bias)
    assert not said and torch.equal(model(x), times(y, model.weight))


def test_random_bits_of_functions_go_on_from_a_checkpoint():
    recipe = ft.Recipe(input="e4m3fn/sr", weight="e4m3fn/sr", gradient="e5m2/sr", norm="bf16/sr")
    model, x = ft.convert(nn.Sequential(nn.GroupNorm(2, 8), Gate()), recipe, seed=5), torch.randn(3, 8)
    first = model(x)
    state, second = copy.deepcopy(model.state_dict()), model(x)
    resumed = ft.convert(nn.Sequential(nn.GroupNorm(2, 8), Gate()), recipe)
    resumed.load_state_dict(state)
    assert torch.equal(resumed(x), second) and not torch.equal(first, second)
    ft.manual_seed(resumed, 5)
    assert torch.equal(resumed(x), first)
