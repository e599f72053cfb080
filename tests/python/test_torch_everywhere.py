# SPDX-License-Identifier: BSD-2-Clause
"""fpemu.torch.everywhere, function by function: against torch's own of operands that were rounded beforehand. Models
and their layers are in test_torch_models.py."""

from __future__ import annotations

import copy
import functools
import gc
import warnings
import weakref

import models
import pytest
from models import act, close, grid, same, step, wgt
from same import refuses

torch = pytest.importorskip("torch")

import fpemu.torch as ft  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.utils import prune  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

pytestmark = pytest.mark.usefixtures("seeded")
P, FP8, ROLES = nn.Parameter, ft.recipe("fp8"), models.ROLES.replace(bias="bf16")


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


# ------------------------------------------------------------------------------------------------ products

PRODUCTS = {
    "matmul": (torch.matmul, (2, 3, 4), (4, 5)), "@": (lambda a, b: a @ b, (3, 4), (2, 4, 5)),
    "method": (torch.Tensor.matmul, (4,), (4, 5)),
    "mm": (lambda a, b: torch.mm(input=a, mat2=b), (3, 4), (4, 5)),
    "bmm": (torch.bmm, (2, 3, 4), (2, 4, 5)), "mv": (torch.mv, (3, 4), (4,)),
    "dot": (torch.dot, (4,), (4,)), "inner": (torch.inner, (2, 4), (3, 4)),
    "tensordot": (lambda a, b: torch.tensordot(a, b, ([1, 0], [0, 2])), (2, 3, 4), (3, 5, 2)),
    "multi_dot": (lambda a, b: torch.linalg.multi_dot([a, b]), (3, 4), (4, 5)),
}
SIZES = dict(zip("abdhijklq", (2, 2, 4, 2, 3, 4, 3, 2, 3)))
for equation in ("ij,jk->ik", "ij,jk", "bij,bkj->bik", "bhqd,bhkd->bhqk", "i,i", "...ij,jk->...ik", "bij,kj->kib",
                 "ija,ajk->ki", "biij,bj->bi", "bij,bjk->ik"):
    PRODUCTS[equation] = (functools.partial(torch.einsum, equation), *(
        [2] * ("..." in term) + [SIZES[c] for c in term.strip(".")] for term in equation.split("->")[0].split(",")))


@pytest.mark.parametrize("weights", ["", "a", "b"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_are_those_of_rounded_operands(name, weights):
    function, *shapes = PRODUCTS[name]
    tensors = [P(grid(*s)) if which in weights else grid(*s) for which, s in zip("ab", shapes)]
    want = judged(function, tensors, [wgt if which in weights else act for which in "ab"])
    got = rounded(function, tensors)
    assert close(got, want, 1e-6, 1e-6) if "," in name else same(got, want)
    assert not torch.allclose(got[0], function(*tensors), 1e-4)


def test_sums_of_more_operands_scalars_and_outer_products():
    a, b, c, layer = grid(3, 4), grid(4, 5), grid(5, 2), nn.Bilinear(4, 5, 6)
    with ft.everywhere(ROLES):
        y = torch.einsum("ij,jk,kl->li", a, b, c)
        assert torch.equal(torch.einsum(a, [0, 1], b, [1, 2], [2, 0]), torch.einsum("ij,jk->ki", a, b))
        assert torch.equal(torch.einsum("i,j->ij", a[0], b[0]), torch.outer(a[0], b[0]))  # no sum: nothing is rounded
        for wrong in ("ij,kj->ik", "ij,jk->iz", "ij->ij"):
            refuses(RuntimeError, lambda: torch.einsum(wrong, a, b))
        bilinear = layer(a, b[:3])
    assert torch.allclose(y, (act(act(a) @ act(b)) @ act(c)).T, 1e-5)
    inner = (act(b[:3]) @ wgt(layer.weight.detach()).reshape(24, 5).T).reshape(3, 6, 4)
    want = (act(inner) * act(a)[:, None]).sum(-1) + ft.quantize(layer.bias.detach(), "bf16")
    assert torch.allclose(bilinear, want, 1e-5)


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
        refuses(RuntimeError, lambda: torch.mm(P(a), b, out=out), "out=")
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
        refuses(RuntimeError, lambda: torch.mm(grid(2, 3, 4), grid(4, 5)))
        refuses(RuntimeError, lambda: torch.bmm(grid(1, 3, 4), grid(2, 4, 5)))
        for call in (lambda: torch.cdist(grid(30, 4), grid(30, 4)), lambda: torch.matrix_power(grid(3, 3), 3),
                     lambda: torch.linalg.vecdot(grid(3), grid(3)),
                     lambda: torch.mm(grid(3, 3).to_sparse(), grid(3, 3)),
                     lambda: torch.sparse.addmm(grid(3, 3), grid(3, 3).to_sparse(), grid(3, 3))):
            with pytest.warns(UserWarning, match="is not rounded"):
                call()
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a name that ends in that of a solver
            grid(3).resolve_conj()
            torch._foreach_mul_([grid(3)], 2.0)  # as optimisers do
            torch.relu_(input=grid(3))
            nn.init.constant_(nn.Linear(3, 4).weight, 0.5)  # whose functions ask in a way of their own
    assert not torch.equal(z @ z, z * z)


class Own(torch.Tensor):
    """A class of tensors with functions of its own."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        with torch._C.DisableTorchFunctionSubclass():
            plain = [t.as_subclass(torch.Tensor) if isinstance(t, Own) else t for t in args]
        return torch.ops.aten.mm(*plain) if func is torch.mm else func(*plain, **(kwargs or {})) * 2


class NoTensor:
    def __init__(self, held):
        self.held = held

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func(*(t.held if isinstance(t, NoTensor) else t for t in args), **(kwargs or {}))


def test_operators_are_told_and_classes_of_tensors_are_asked():
    a, b = grid(3, 4), grid(4, 5)
    plain = a @ b
    with ft.everywhere(ROLES):
        assert torch.equal(torch.matmul(a.as_subclass(Own), b), 2 * (act(a) @ act(b)))
        assert torch.equal(torch.mm(NoTensor(a), b), act(a) @ act(b))
    for call in (lambda: torch.mm(a.as_subclass(Own), b), lambda: torch.ops.aten.mm.default(a, b)):
        with ft.everywhere(ROLES), pytest.warns(UserWarning, match="aten.mm is not rounded at test_torch_everywhere"):
            assert torch.equal(call(), plain)
    layer = ft.convert(nn.Linear(4, 5), "fp8")  # whose operators are fpemu's own
    with warnings.catch_warnings(), ft.everywhere(ROLES):
        warnings.simplefilter("error")
        layer(a)


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


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = P(torch.randn(16, 8))

    def forward(self, x):
        return torch.softmax(x @ self.weight, -1)


@pytest.mark.parametrize("hook", [lambda m: prune.random_unstructured(m, "weight", 0.5),
                                  nn.utils.spectral_norm, nn.utils.weight_norm])
def test_weights_that_hooks_make_are_weights(hook):
    model, x = Plain().eval(), grid(3, 16)
    hook(model)
    for mode in (ft.everywhere(ROLES), ft.everywhere(None)):
        with mode:
            y = model(x)
        assert torch.equal(y, torch.softmax(act(x) @ wgt(model.weight.detach()), -1))
        ft.convert(model, ROLES, {"": ROLES})


def test_modes_outside_round_what_a_recipe_says_nothing_of():
    model, x, outer = Plain(), grid(3, 16), ft.Recipe(softmax="e2m1", input="e2m1", weight="e2m1")
    want = torch.softmax(act(x) @ wgt(model.weight.detach()), -1)
    inner = ft.convert(copy.deepcopy(model), ROLES)
    with ft.everywhere(outer):
        assert torch.equal(inner(x), ft.quantize(want, "e2m1"))
        with ft.everywhere(ROLES):
            assert torch.equal(model(x), ft.quantize(want, "e2m1"))
        with ft.everywhere(ROLES, {"softmax": None}):
            assert torch.equal(model(x), want)


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


PARTS = ("table", "conv", "back", "norm", "batch", "head", "attention.out_proj",
         *(f"attention.{part}" for part in ("in_proj", "scores", "softmax", "context")))
WHOLE = [FP8, ft.recipe("mxfp8"), ft.recipe("int8"), ROLES.replace(norm="bf16", embedding="e4m3fn", softmax="fp16")]


@pytest.mark.parametrize("recipe", WHOLE)
def test_layers_are_those_of_convert_bit_for_bit_and_converted_ones_are_left(recipe):
    model, ids = Mixed(), torch.randint(9, (1, 14))  # of more, MultiheadAttention adds up in another order
    converted = ft.convert(copy.deepcopy(model), recipe)
    want, plain = step(converted, ids), step(copy.deepcopy(model), ids)
    with ft.everywhere(recipe):
        got = step(copy.deepcopy(model), ids)
        for (name, _), x, y in zip([("", 0), *model.named_parameters()], got, want):
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


@pytest.mark.filterwarnings("error:.* is not rounded")
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
        refuses(TypeError, lambda: ft.everywhere("e2m1", wrong))
    refuses(ft.functional.fpemu.SpecError, lambda: ft.everywhere("nonsense"))
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
    fourth, new, used = calls(ft.everywhere(recipe, seed=5), 4)[3:], ft.everywhere(recipe), ft.everywhere(recipe)
    calls(used)
    for other in (new, used):  # a run that is resumed
        other.load_state_dict(mode.state_dict())
        assert same(calls(other), fourth) and other.state_dict()["calls"].popitem()[1] == 4
    refuses(ValueError, lambda: new.load_state_dict({"seed": -1}), "a seed lies between")
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


@pytest.mark.parametrize("outer", [None, "fp8"])
def test_a_module_s_own_forward_goes_by_its_recipe(outer):
    model, x = Experts(), torch.randn(5, 16)
    made = ft.convert(copy.deepcopy(model), "e2m1", {"gate": "fp8", "left": None})
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


def test_modes_within_modes_round_once_and_hold_no_frames():
    class Inner(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.randn(8, 8))

        def forward(self, x):
            like = self.w.new_zeros(8, 8).copy_(x)  # an activation
            return torch.softmax(checkpoint(lambda t: t @ self.w, like, use_reentrant=False) @ like, -1)

    recipe = ft.Recipe(input="e4m3fn", weight="e5m2", softmax="bf16")
    model, x = ft.convert(Inner(), recipe), torch.randn(8, 8, requires_grad=True)
    a, w = ft.quantize(x.detach(), "e4m3fn"), ft.quantize(model.w.detach(), "e5m2")
    want = ft.quantize(torch.softmax(ft.quantize(a @ w, "e4m3fn") @ a, -1), "bf16")
    with ft.everywhere(recipe.replace(softmax="e2m1")):
        assert torch.equal(model(x), want)

    def step():
        mine = torch.randn(8, 8, requires_grad=True)
        loss = model(mine).sum()
        return weakref.ref(mine), loss.item()

    held, _ = step()
    gc.collect()
    assert held() is None


def test_attention_that_is_none_of_torch_s_is_refused():
    modeling = pytest.importorskip("transformers.modeling_utils")
    ft.register_attention("bf16", "refusing")
    attention, x = modeling.ALL_ATTENTION_FUNCTIONS["refusing"], torch.randn(1, 2, 3, 4)
    for more in ({"s_aux": nn.Parameter(torch.ones(2))}, {"softcap": 2.0}):
        refuses(NotImplementedError, lambda: attention(nn.Module(), x, x, x, None, **more), "convert it with a rule")
    refuses(ValueError, lambda: ft.register_attention("bf16", "sdpa"), "choose another name")
