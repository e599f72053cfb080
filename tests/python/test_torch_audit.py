# SPDX-License-Identifier: BSD-2-Clause
"""audit against numbers worked by hand. Whole models are in test_torch_models.py."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
from models import is_8_bit
from same import refuses

torch = pytest.importorskip("torch")

import fpemu  # noqa: E402
import fpemu.torch as ft  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn.attention.flex_attention import flex_attention  # noqa: E402
from torch.testing._internal.two_tensor import TwoTensor  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
X, W = torch.randn(3, 4), torch.randn(4, 5)
COUNTED = {  # a function, its inputs, and the multiplications of its operators
    "MLP": (nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)), [X], {"addmm": 96 + 48, "mm": 96 + 48 + 48}),
    "groups": (nn.Conv2d(4, 6, 3, groups=2), [torch.randn(2, 4, 8, 8)], {
        "convolution": 2 * 6 * 36 * 2 * 9, "convolution_backward": 2 * 6 * 36 * 2 * 9}),
    "transposed": (nn.ConvTranspose1d(4, 6, 3, groups=2), [torch.randn(2, 4, 8)], {
        "convolution": 2 * 4 * 8 * 3 * 3, "convolution_backward": 2 * 4 * 8 * 3 * 3}),
    "einsum": (lambda a, b: torch.einsum("bij,bkj->bik", a.requires_grad_(), b),
               [torch.randn(2, 3, 4), torch.randn(2, 5, 4)], {"bmm": 240}),
    "vectors": (lambda x, w: w @ w[0] + torch.dot(w[0], w[1]) + x.requires_grad_(),
                [torch.randn(4), torch.randn(4, 4)], {"mv": 16, "dot": 4}),
    "batches": (torch.addbmm, [torch.zeros(3, 5, requires_grad=True), torch.randn(2, 3, 4), torch.randn(2, 4, 5)],
                {"addbmm": 120}),
    "groups of rows": (lambda a, b: torch._grouped_mm(a, b, torch.tensor([2, 8], dtype=torch.int32)).square(),
                       [torch.randn(8, 16).requires_grad_(), torch.randn(2, 16, 24).requires_grad_()],
                       {"_grouped_mm": 3 * 8 * 16 * 24}),
    "LSTM": (nn.LSTM(4, 5), [torch.randn(6, 2, 4)], {
        "mkldnn_rnn_layer": 12 * 20 * 9, "mkldnn_rnn_layer_backward": 24 * 20 * 9}),
    "sums": (lambda x, w: ft.matmul(x, w.requires_grad_(), "chunk(4,fp32)"), [X, W.clone()],
             {"fpemu::matmul chunk(4,fp32)": 60, "mm": 60}),
    "unknown": (nn.Bilinear(3, 4, 5), [torch.randn(6, 3), torch.randn(6, 4)], {"_trilinear": None}),
}


@pytest.mark.parametrize("call, inputs, expected", COUNTED.values(), ids=COUNTED)
def test_multiplications_by_hand(call: Any, inputs: Any, expected: Any) -> None:
    found = ft.audit(call, *inputs)
    counts: dict[str, Any] = {}
    for row in found:
        counts[row.operator] = row.multiplications and counts.get(row.operator, 0) + row.multiplications
    assert counts == expected and all(t.grad is None for t in inputs)
    assert all(row.rounded == 2 * ("fpemu" in row.operator) for row in found)
    assert math.isnan(found.share) == ("of unknown size" in str(found)) == (None in counts.values())


def write(q: Any, y: Any, rows: Any = slice(None)) -> Any:
    y[rows].copy_(q[rows])
    return y


def round_part(y: Any) -> Any:
    ft.quantize_(y[1:], "e4m3fn")
    return y


MASK, TABLE = X > 0, fpemu.format([-1.0, 0.0, 1.0])
KEPT = {
    "view": lambda q: q.T[1:].T, "broadcast": lambda q: q[:1].expand(3, 4), "copy": lambda q: q.T.contiguous().clone(),
    "wider": lambda q: q.double(), "parts": lambda q: torch.cat([torch.cat([q, q]), torch.stack([q, q])[0]]),
    "rows": lambda q: F.embedding(torch.tensor([2, 0]), q), "repeated": lambda q: q.repeat(2, 1).repeat_interleave(2),
    "moved": lambda q: q[torch.tensor([1, 2])].flip(0).roll(1), "chosen": lambda q: q.gather(1, torch.tensor([[1, 0]])),
    "zeros": lambda q: F.pad(q, (1, 0)).masked_fill(torch.eye(3, 5) > 0, 0), "if": lambda q: torch.where(MASK, q, 0.0),
    "scaled": lambda q: q * torch.tensor(8.0) / 2 * 0.25, "written": lambda q: write(q, torch.empty(4, 3).T),
    "windows": lambda q: F.unfold(q[None, None], 2)[0], "in place": lambda q: ft.quantize_(X.clone(), "e4m3fn"),
    "decoded": lambda q: ft.decode(ft.encode(q, "e4m3fn"), "e4m3fn"),
}
LOST = {
    "sum": lambda q: q + 0.3, "scaled": lambda q: q * 3, "product": lambda q: q * q, "in place": lambda q: q.mul_(3),
    "floor": lambda q: q.div(2, rounding_mode="floor"),
    "view": lambda q: (q[0].add_(0.3), q)[1], "element": lambda q: (q.__setitem__((0, 0), 0.3), q)[1],
    "narrower": lambda q: q.bfloat16(), "parts": lambda q: torch.cat([q, X]), "if": lambda q: torch.where(MASK, q, 0.3),
    "padded": lambda q: F.pad(q, (0, 1), value=0.3), "filled": lambda q: q.masked_fill(MASK, 0.3),
    "integer": lambda q: torch.where(MASK, q, torch.tensor(449)), "a part written": lambda q: write(q, X.clone(), 0),
    "a part rounded": lambda q: round_part(X.clone()), "address": lambda q: [q + i for i in range(1, 9)][0],
    "a table": lambda q: fpemu.quantize(X, TABLE),
    "decode": lambda q: fpemu.decode(fpemu.encode(q, "e4m3fn"), "e4m3fn"),
}


@pytest.mark.parametrize("change", [*KEPT.values(), *LOST.values()], ids=[*KEPT, *("not " + name for name in LOST)])
def test_what_keeps_the_label(change: Any) -> None:
    seen = []

    def call(x: Any) -> Any:
        for _ in range(9):
            fpemu.quantize(x, "e4m3fn")  # and forgets it: its memory is given to others
        y = change(fpemu.quantize(x, "e4m3fn"))
        seen.append(y.clone())
        return torch.ones(1, len(y), dtype=y.dtype) @ y

    (row,) = ft.audit(call, X, backward=False)
    kept = any(change is known for known in KEPT.values())
    assert (row.right == "e4m3fn") == kept == (row.rounded == 1)
    assert is_8_bit(seen[0]) or not kept


def test_formats_and_roundings_are_told() -> None:
    model, x = ft.convert(nn.Sequential(nn.Linear(32, 32)), "nvfp4"), torch.randn(4, 32, requires_grad=True)
    found = ft.audit(model, x)
    assert {(row.operator, row.left, row.right) for row in found} == {
        ("addmm", "nvfp4", "nvfp4"), ("mm", "nvfp4/sr", "nvfp4")}
    assert found.share == 1 and str(found).endswith("\n100 % of multiplications in emulated products (3 of 3 products)")
    ft.convert(model, "fp8")[0]._fpemu.site.scale = torch.tensor(0.125)  # of a loss scaler
    assert ft.audit(model, x).share == 1

    def hooked(x: Any) -> Any:
        y = x * 3
        y.register_hook(lambda g: fpemu.quantize(g, "e5m2") @ fpemu.quantize(torch.eye(32), "e5m2"))
        return y

    with torch.autocast("cpu", torch.bfloat16):  # which ends before the backward pass
        assert ft.audit(model, x).share == ft.audit(hooked, x).share == 1
    found = ft.audit(nn.Sequential(model, nn.Linear(32, 96, bias=False)), x)  # 3 of 12 parts; half of a product
    assert "25 % of" in str(found).replace(".0 %", " %") and "(3 of 6 products)" in str(found)


class Block(nn.Module):
    def __init__(self, reentrant: Any) -> None:
        super().__init__()
        self.inner, self.tied, self.reentrant = nn.Linear(4, 4), nn.Linear(4, 4, bias=False), reentrant
        self.tied.weight = self.inner.weight

    def part(self, x: Any) -> Any:
        return self.tied(self.inner(x)) @ self.inner.weight

    def forward(self, x: Any) -> Any:
        return self.part(x) if self.reentrant is None else checkpoint(self.part, x, use_reentrant=self.reentrant)


@pytest.mark.parametrize("reentrant", [None, False, True])
def test_lines_modules_and_checkpoints(reentrant: Any) -> None:
    model = ft.convert(nn.Sequential(Block(reentrant)), "fp8", {Block: None})
    found = ft.audit(model, torch.randn(3, 4, requires_grad=True))
    line = f"test_torch_audit.py:{Block.part.__code__.co_firstlineno + 1}"
    assert all(row.source.endswith(line) for row in found)
    twice = 1 if reentrant is None else 2  # but for the last, before which checkpoints without reentry stop
    assert {(row.module, row.direction, row.rounded): row.calls for row in found} == {
        ("0.inner", "forward", 2): twice, ("0.tied", "forward", 2): twice, ("0", "forward", 0): 1 + bool(reentrant),
        ("0.inner", "backward", 2): 2, ("0.tied", "backward", 2): 2, ("0", "backward", 0): 2}
    assert [row.rounded for row in found] == [0, 0, 2, 2, 2, 2]


def test_everything_is_as_before() -> None:
    torch.manual_seed(3)
    model = ft.convert(nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(), nn.Linear(4, 4),
                                     ft.Quantizer("e4m3fn", rounding="sr")), "nvfp4")
    model[0].eval()
    model(X).sum().backward()
    gradients = [(p.grad, p.grad.clone()) for p in model.parameters()]
    twin, state, extra = copy.deepcopy(model), torch.get_rng_state(), torch.randn(4).requires_grad_()
    torch.set_rng_state(state)
    model[3].register_forward_hook(lambda module, *_: module.eval() and None)
    with ft.observe(model) as log:
        ft.audit(model, X, loss=lambda y: y + extra)
        refuses(ZeroDivisionError, lambda: ft.audit(model, X, loss=lambda y: 1 / 0), "zero")
        assert extra.grad is None and torch.equal(torch.get_rng_state(), state)
        assert [module.training for module in model.modules()] == [module.training for module in twin.modules()]
        assert all(p.grad is old and torch.equal(old, kept) for p, (old, kept) in zip(model.parameters(), gradients))
        assert all(map(torch.equal, model.state_dict().values(), twin.state_dict().values()))
        assert torch.equal(model[3]._fpemu.streams, twin[3]._fpemu.streams)
        assert all(stats.count == 0 for _, _, stats in log)
        y = model(X)
        assert any(stats.count for _, _, stats in log)
    torch.set_rng_state(state)
    assert torch.equal(y, twin(X)) and not torch._C._len_torch_dispatch_stack()


def test_ways_to_run() -> None:
    model = ft.convert(nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 5)), "fp8", {"1": None})
    for backend in "eager", "aot_eager":
        compiled = torch.compile(model, fullgraph=True, backend=backend)
        for _ in range(2):
            assert [row.rounded for row in ft.audit(compiled, X)] == [0, 0, 2, 2]
            compiled(X)
    with torch.inference_mode():
        assert [(row.operator, row.rounded) for row in ft.audit(model, X, backward=False)] == [
            ("addmm", 0), ("addmm", 2)]
    with torch.no_grad(), torch.device("cpu"):
        assert len(list(ft.audit(model.forward, X))) == 4 and model[0].weight.grad is None
    assert [row.rounded for row in ft.audit(copy.deepcopy(model).to("meta"), X.to("meta"))] == [0, 0, 2, 2]
    two = TwoTensor(X, X.clone())
    assert [row.calls for row in ft.audit(lambda: ft.quantize(W, "e4m3fn").T @ two.T, backward=False)] == [2]
    (row,) = ft.audit(lambda x: F.scaled_dot_product_attention(*[fpemu.quantize(x, "e4m3fn")] * 3),
                      torch.randn(1, 2, 5, 4), backward=False)  # whose second product is in FP32
    assert (row.multiplications, row.left, row.right, row.rounded) == (2 * 2 * 5 * 5 * 4, "e4m3fn", "float32", 1)
    (row,) = ft.audit(flex_attention, *[torch.randn(1, 2, 8, 4)] * 3, backward=False)
    assert (row.operator, row.multiplications, row.rounded) == ("flex_attention", 2 * 2 * 8 * 8 * 4, 0)
    assert [row.calls for row in ft.audit(lambda x: ft.quantize(x, TABLE) @ W, X.clone().requires_grad_())] == [1, 1]


def test_what_is_refused() -> None:
    refuses(TypeError, lambda: ft.audit([1]), "a module or a function, not list")
    refuses(ValueError, lambda: ft.audit(lambda x: x.argmax(), X), "give loss=.*backward=False")
    refuses(ValueError, lambda: ft.audit(lambda x: x @ W, X), "nothing that requires a gradient")
    refuses(TypeError, lambda: ft.audit(lambda x: fpemu.matmul(x, W, "fp32"), X, backward=False), r"fpemu\.torch")
    nothing = ft.audit(lambda x: x + 1, X, backward=False)
    assert not list(nothing) and math.isnan(nothing.share) and str(nothing) == "no product ran"


@pytest.mark.parametrize("call", [lambda x, w: torch.linalg.solve_triangular(w.tril(), x, upper=False), torch.cdist,
                                  lambda x, w: torch.linalg.solve(w, x), lambda x, w: torch.fft.fft(x @ w).real,
                                  lambda x, w: torch.linalg.lstsq(w, x)[0]])
def test_what_sums_products_in_ways_of_its_own_is_told(call):
    w = torch.nn.Parameter(torch.eye(4) + 0.1)
    with ft.everywhere("e4m3fn"), pytest.warns(UserWarning, match="it has no form here"):
        found = ft.audit(lambda x: call(x, w), torch.randn(4, 4), backward=False)
    assert [row.multiplications for row in found.left] == [None] and math.isnan(found.share)
