# SPDX-License-Identifier: BSD-2-Clause
"""Whole models, modules that multiply by functions, and norms, by convert and everywhere: against casts of torch, and a
look below torch's functions. What convert says that it leaves."""

from __future__ import annotations

import copy
import functools
import inspect
import operator
import re
import warnings
from collections import Counter

import models
import pytest
from models import ROLES, Past, Seen, close, e4m3, e5m2, grid, loaded, run, same, step, times
from same import refuses

torch = pytest.importorskip("torch")

import fpemu.torch as ft  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402

pytestmark = pytest.mark.usefixtures("seeded")
times8 = functools.partial(times, casts=(e4m3, e4m3))


def converted(model, *args, **how):
    """The model, and what convert said of it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        ft.convert(model, *args, **how)
    said = [str(w.message) for w in said if w.category is UserWarning]
    assert len(said) < 2
    return model, "".join(said)


# ------------------------------------------------------------------------------------------------ models
@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("name", models.MODELS)
def test_products_of_models(name, attention):
    """everywhere leaves none. What convert leaves it names, and audit finds each with its operands."""
    if "Mamba" in name and attention == "eager":
        pytest.skip("it has no attention")
    model, inputs = models.of_transformers(name, attention)
    before = run(model, inputs)
    assert not before.emulated and before.plain > 20  # the judge sees products in FP32
    with ft.everywhere("fp8"), warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        seen = run(model, inputs)
    assert seen.emulated > 20 and not seen.plain
    model, said = converted(model, "fp8")
    seen, products = run(model, inputs), Counter()
    found = ft.audit(model, loss=models.loss, **inputs)
    for row in found:
        products[row.operator, not row.left.startswith("float"), not row.right.startswith("float")] += row.calls
    assert ({key: n for key, n in products.items() if "_scaled" not in key[0]}
            == {key: n for key, n in seen.products.items() if "_scaled" not in key[0]})
    emulated = sum(row.multiplications for row in found.emulated)
    assert sum(row.multiplications for row in found) == seen.multiplications
    assert found.share == pytest.approx(emulated / seen.multiplications)
    assert {row.source.split("/")[0] for row in found} == {"transformers"}
    assert {row.module.rpartition(".")[2] for row in found.left} == models.MODELS[name][1] and seen.emulated > 20
    assert all(re.search(rf"\((\d+ x )?{type(model.get_submodule(row.module)).__name__}\)", said) for row in found.left)
    matrices = {p for m in model.modules() if not isinstance(m, nn.Embedding) for p in m.parameters(recurse=False)
                if p.dim() > 1 and p.shape[0] > 1}
    total = ft.summary(model).total
    assert total.emulated_weights == total.weights == sum(p.numel() for p in matrices)
    assert not seen.plain or "100 % of the weights that multiply" in said and any(
        "no rule names it" in why for _, _, why in ft.summary(model).left)
    _, said = converted(model, "fp8", {"*": "fp8"})
    seen = run(model, inputs)
    assert not said and not seen.plain and seen.emulated > before.plain // 2
    assert not converted(model, "fp8", {"*": None})[1] and not run(ft.revert(model), inputs).emulated


@pytest.mark.parametrize("name", ["LlamaForCausalLM", "GPT2LMHeadModel"])
def test_attention_of_transformers_by_one_call(name):
    ft.register_attention("fp8", "fpemu-test")
    (model, inputs), (other, _) = models.of_transformers(name, "fpemu-test"), models.of_transformers(name)
    other.eval().load_state_dict(model.eval().state_dict())
    with ft.everywhere("fp8", {"scaled_dot_product_attention": "fp8", "*": None}):
        want = other(**inputs).logits
    with ft.observe(model) as log:
        found = model(**inputs).logits
        found.sum().backward()
    assert torch.equal(found, want) and not torch.equal(found, other(**inputs).logits)
    assert sum(name.endswith("scores.input") for name, _ in log.totals) == 2
    assert all(".scaled_dot_product_attention." in name for name, _ in log.totals)
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    call = functools.partial(ALL_ATTENTION_FUNCTIONS["fpemu-test"], nn.Identity())
    q = torch.randn(1, 2, 5, 8)
    assert same(torch.compile(call, backend="aot_eager", fullgraph=True)(q, q, q, None)[:1], call(q, q, q, None)[:1])
    assert "scaled_dot_product_attention in sdpa_attention_forward" in converted(other, "fp8")[1]
    if "Llama" in name:  # GPT-2 has another way beside it
        assert not converted(model, "fp8", strict=True)[1] and not run(model, inputs).plain


@pytest.mark.parametrize("recipe", models.SCALED, ids=lambda recipe: recipe.input)
def test_a_llama_trains_through_products_with_scales(recipe):
    model, inputs = models.of_transformers("LlamaForCausalLM")
    ft.convert(model, recipe, {"*self_attn": None})
    rows = [row for row in ft.audit(model, loss=models.loss, **inputs) if row.left.startswith(recipe.input)]
    assert {(row.operator, row.right, row.rounded) for row in rows} == {
        (f"fpemu::matmul {recipe.forward.accumulator}", target, 2) for target in (recipe.input, recipe.weight)}
    assert {row.direction for row in rows} == {"forward", "backward"} and sum(row.calls for row in rows) == 3 * 15
    optimizer, losses = torch.optim.Adam(model.parameters(), 0.01), []
    for _ in range(6):
        optimizer.zero_grad()
        losses.append(model(**inputs, labels=inputs["input_ids"]).loss)
        losses[-1].backward()
        assert all(p.grad.isfinite().all() and p.grad.any() for p in model.parameters())
        optimizer.step()
    assert losses[-1] < losses[0] / 2


@pytest.mark.parametrize("make, x", [
    (lambda: nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)), (3, 4)),
    (lambda: nn.TransformerEncoderLayer(8, 2, 16), (3, 2, 8)),
    (lambda: nn.Sequential(nn.Conv2d(3, 4, 3), nn.utils.parametrizations.weight_norm(nn.Linear(4, 4))), (2, 3, 6, 6)),
    (lambda: pytest.importorskip("torchvision").models.resnet18(), (2, 3, 32, 32)),
    (lambda: pytest.importorskip("torchvision").models.vit_b_16(image_size=32, num_classes=2), (2, 3, 32, 32))])
def test_models_of_torch_s_layers_are_converted_without_a_word(make, x):
    model, x = make(), torch.randn(x)
    with ft.everywhere("fp8"), Seen() as seen:
        step(model, x)
    assert seen.emulated > 3 and not seen.plain
    model, said = converted(model, "fp8", strict=True)
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


def kept(function):
    """A decorator, which calls what cannot be read."""
    @functools.wraps(function)
    def call(self, *args):
        return functools.partial(function, self, *args)()
    return call


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return torch.einsum("ij,kj->ik", x, x)


class Hidden(nn.Module):
    def forward(self, x):
        return Straight.apply(x)


class Spelled(nn.Module):
    """Products by other names."""

    def __init__(self):
        super().__init__()
        self.times = functools.partial(torch.bmm)

    def forward(self, x):
        import torch.nn.functional as functions
        from torch import mv
        return operator.matmul(self.times(x, functions.bilinear(x, x, x)), mv(x[0], x[0, 0]))


class Tables(nn.Module):
    """Multiplies nothing: what is looked up, added, asked about, or is a layer of that name; and what makes weights."""

    def __init__(self):
        super().__init__()
        self.place, self.rows = nn.Parameter(torch.randn(1, 4, 4, 8)), nn.Parameter(torch.randn(4, 8))
        self.linear, self.merged = nn.Linear(8, 8), False

    def merge(self):
        self.rows.data -= self.rows @ self.rows.mT @ self.rows

    @kept
    def forward(self, x):
        if self.merged:
            self.merge()
        if isinstance(self.linear.weight, nn.Parameter) and self.linear.weight.dtype == x.dtype:
            x = self.linear(x + self.place) + self.rows
        return x * F.embedding(torch.arange(4), self.rows)


def test_what_a_module_s_code_multiplies_by_is_read():
    model = nn.ModuleDict({"a": nn.ModuleList([Scores(), Scores()]), "b": Hidden(), "c": Tables(), "d": Past(),
                           "e": Spelled()})
    model, said = converted(model, "fp8")
    lines = [line.strip() for line in said.splitlines()]
    assert lines[0].startswith("not all that multiplies is rounded: 7 of 7 matrices, 100 % of the weights")
    assert sorted(lines[2:-1]) == ["a.* (2 x Scores): matmul, @ in scores", "b (Hidden): einsum in Straight.forward",
                                   "d (Past): reads second.weight past its layer; 64 weights",
                                   "e (Spelled): mv, @, bmm, bilinear"]
    assert type(model["a"][0].gate).__mro__[1] is ft.modules._ByFunctions
    model["d"].forward = lambda x: x
    rules = {"a.*": "fp8", "b": None, "e": None}
    refuses(ValueError, lambda: ft.convert(model, "fp8", rules, strict=True), "reads second.weight")
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
def recurrent(layer, x):
    """The results of a recurrent layer, one product at a time."""
    w, u, b, d = layer.parameters()
    h = c = torch.zeros(x.shape[1], u.shape[1])
    out = []
    for row in x:
        left, right = times(row, w, b), times(h, u, d)
        if "LSTM" in type(layer).__name__:
            i, f, g, o = (left + right).chunk(4, -1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
        elif "GRU" in type(layer).__name__:
            (i, f, n), (j, g, m) = left.chunk(3, -1), right.chunk(3, -1)
            z = (f + g).sigmoid()
            h = (1 - z) * (n + (i + j).sigmoid() * m).tanh() + z * h
        else:
            h = (left + right).tanh()
        out.append(h)
    return torch.stack(out)


def experts(module, x, chosen, weights):
    """What experts of transformers give, one at a time."""
    y = 0
    for place in range(chosen.shape[1]):
        for i, (first, second) in enumerate(zip(module.gate_up_proj, module.down_proj)):
            mine = chosen[:, place] == i
            gate, up = times(x[mine], first).chunk(2, -1)
            part = times(F.silu(gate) * up, second) * weights[mine, place, None]
            y = y + torch.zeros_like(x).index_add(0, mine.nonzero()[:, 0], part)
    return y


class Own(nn.Linear):
    def forward(self, x):
        return 2 * super().forward(x)


def of_mixtral(how):
    transformers = pytest.importorskip("transformers")
    config = transformers.MixtralConfig(**models.MODELS["MixtralForCausalLM"][0])
    config._experts_implementation = how
    module = transformers.models.mixtral.modeling_mixtral.MixtralExperts(config)
    for p in module.parameters():
        nn.init.normal_(p, 0, 0.3)
    return module


CHOSEN = torch.tensor([[0, 1], [1, 2], [2, 0], [1, 0], [0, 2], [2, 1]]), torch.linspace(0, 1, 12).reshape(6, 2)
LAYERS = {
    "Conv1D": (lambda: pytest.importorskip("transformers.pytorch_utils").Conv1D(4, 8), (3, 8),
               lambda m, x: times(x, m.weight.mT, m.bias)),
    "Gate": (Gate, (3, 8), lambda m, x: times(x, m.weight)),
    "Own": (lambda: Own(8, 4), (3, 8), lambda m, x: 2 * times(x, m.weight, m.bias)),
    **{name: (functools.partial(getattr(nn, name), 8, 4), (5, 3, 8), recurrent) for name in ("LSTM", "GRU", "RNN")},
    **{name: (functools.partial(getattr(nn, name), 8, 4), (3, 8), lambda m, x: recurrent(m, x[None])[0])
       for name in ("LSTMCell", "GRUCell", "RNNCell")},
    **{how: (functools.partial(of_mixtral, how), (6, 32), experts, *CHOSEN)
       for how in ("eager", "batched_mm", "grouped_mm")},
}


@pytest.mark.parametrize("name", LAYERS)
def test_modules_with_matrices_of_their_own_multiply_by_the_recipe(name):
    make, shape, judge, *more = LAYERS[name]
    plain, x = make(), grid(*shape).requires_grad_()
    model, said = converted(nn.Sequential(copy.deepcopy(plain)), ROLES)
    assert not said
    g = None

    def first(module, *args):
        y = module(*args)
        return y[0] if isinstance(y, tuple) else y

    def ran(function, module):
        nonlocal g
        y = function(module, x, *more)
        g = torch.randn(y.shape) if g is None else g
        return y.detach(), *torch.autograd.grad(y, [x, *module.parameters()], g)

    wanted, found = ran(judge, plain), ran(first, model[0])
    with ft.everywhere(ROLES):
        assert close(ran(first, plain), wanted, 1e-4, 1e-4)
        if isinstance(plain, nn.RNNBase):
            y = plain(nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 3, 2])))[0].data
            assert close([y[:3], y[-1]], [wanted[0][0], wanted[0][4, 0]], 1e-5, 1e-6)
    assert close(found, wanted, 1e-4, 1e-4) and not close(found[:1], ran(first, plain)[:1], 1e-3, 1e-3)
    for other in copy.deepcopy(model), loaded(model):
        assert torch.equal(first(other[0], x, *more), found[0])
        assert list(other.state_dict()) == list(nn.Sequential(plain).state_dict())
    with ft.observe(model) as log:
        model[0](x, *more)
    assert {key[1] for key in log.totals} == {"v", "w"}
    assert type(ft.revert(model)[0]) is type(plain)


class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        return F.layer_norm(x.movedim(1, -1), self.normalized_shape, self.weight, self.bias, self.eps).movedim(-1, 1)


def named(family, name):
    return lambda: getattr(pytest.importorskip(f"transformers.models.{family}.modeling_{family}"), name)(8)


NORMS = [  # and the function that everywhere rounds
    (lambda: nn.GroupNorm(2, 8), (2, 8, 5), "group_norm"), (lambda: LayerNorm2d(8), (2, 8, 4, 4), "layer_norm"),
    (lambda: nn.InstanceNorm1d(8, 1e-5, 0.1, True, True), (2, 8, 5), "instance_norm"),
    (lambda: nn.InstanceNorm2d(8, affine=True), (8, 5, 5), "instance_norm"),
    (lambda: nn.BatchNorm2d(8), (2, 8, 5, 5), "batch_norm"), (lambda: nn.LayerNorm(8), (3, 8), "layer_norm"),
    (lambda: nn.RMSNorm(8), (3, 8), "rms_norm"), (named("llama", "LlamaRMSNorm"), (2, 3, 8), None),
    (named("gemma", "GemmaRMSNorm"), (2, 3, 8), None), (named("t5", "T5LayerNorm"), (2, 3, 8), None),
    (lambda: nn.Embedding(10, 8), None, "embedding"),
    (lambda: nn.EmbeddingBag(10, 8, mode="mean"), None, "embedding_bag"),
]


@pytest.mark.parametrize("make, shape, function", NORMS)
def test_norms_and_tables_compute_on_what_is_rounded(make, shape, function):
    module, wide = make(), torch.randn(shape or ())
    for p in module.parameters():
        nn.init.uniform_(p, 0.5, 2)
    plain, other, free = (copy.deepcopy(module) for _ in range(3))
    for p in plain.parameters():
        p.data = e4m3(p.data)
    recipe = ft.recipe("fp8").replace(norm="e4m3fn:saturate", embedding="e4m3fn:saturate")
    model, g = ft.convert(nn.Sequential(module), recipe), None

    def ran(model, cast=torch.clone, back=torch.clone):
        nonlocal g
        x = torch.tensor([[1, 2, 2], [0, 9, 4]]) if shape is None else cast(wide).requires_grad_()
        y = model(x)
        g = torch.randn(y.shape) if g is None else g
        y.backward(back(g))
        return [y.detach(), *([] if shape is None else [x.grad]), *(p.grad for p in model.parameters()),
                *model.buffers()]

    found, wanted = ran(model), ran(plain, e4m3, e5m2)
    assert same(found, wanted)
    if function:
        with ft.everywhere(recipe):
            assert same(ran(other), wanted)
        with ft.everywhere(recipe, {function: None}):
            assert not same(ran(free)[:1], wanted[:1])
    module.eval()
    x = torch.tensor([[1, 2, 2]]) if shape is None else wide
    y = model(x)
    assert torch.equal(copy.deepcopy(model)(x), y) and torch.equal(loaded(model)(x), y)
    with ft.observe(model) as log, ft.everywhere(ft.Recipe(norm="e5m2", embedding="e5m2")):  # which rounds none again
        assert torch.equal(model(x), y)
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
    assert torch.equal(model(x), times8(times8(table, inner.mT), table))
    assert str(inspect.signature(model.forward)) == "(x, scale: 'float' = 1.0)"
    assert str(ft.summary(model).total).startswith("2 of 2 matrices, 100 %")
    assert {row[2] for row in ft.summary(model).converted} == {"fp8"}  # nothing of what has not run
    with warnings.catch_warnings(), ft.observe(model):
        warnings.simplefilter("error")
        model(x)


class Either(nn.Sequential):
    """Reads the weight of a layer past it where it is told to."""

    exact = False

    def forward(self, x):
        return F.linear(x, self[0].weight) + F.linear(x, self.last.weight) if self.exact else super().forward(x)


def test_a_module_that_takes_another_branch_has_run():
    model = nn.Sequential(Either())
    model[0].last = nn.Linear(8, 8)
    converted(model, "fp8")[0](torch.randn(2, 8))
    assert ft.summary(model).converted == (("0", "Either", "fp8"), ("0.last", "Linear", "fp8"))


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
    inner = times8(x, model.inner.weight, model.inner.bias)
    y = F.linear(inner @ inner.mT, model.left.weight, model.left.bias)
    assert torch.equal(model(x), times8(y, model.weight))
    every, said = converted(model, "fp8", {Hidden: "fp8"})
    y = times8(times8(inner, inner), every.left.weight, every.left.bias)
    assert not said and torch.equal(model(x), times8(y, model.weight))
