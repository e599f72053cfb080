# SPDX-License-Identifier: BSD-2-Clause
"""Plain calls where torch watches: graphs that are recorded, functions made pure, derivatives forward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torch.autograd.forward_ad as forward_ad  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402

import fpemu  # noqa: E402
import fpemu.torch as ft  # noqa: E402

CALLS = (lambda x: fpemu.quantize(x, "e4m3fn"), lambda x: ft.quantize(x, "e4m3fn"),
         lambda x: ft.matmul(x, x.mT, "fp32"), lambda x: ft.arith("mul", (x, x), "bf16"),
         lambda x: ft.apply("exp", x, "bf16"))


@pytest.fixture
def x() -> Any:
    return torch.randn(5, 7, generator=torch.Generator().manual_seed(1)).bfloat16().float()


def test_graphs_hold_the_call_and_not_its_result(x: Any) -> None:
    graph = make_fx(lambda t: fpemu.quantize(t, "e4m3fn") + 1)(x)
    other = 3 * x
    assert torch.equal(graph(other), fpemu.quantize(other, "e4m3fn") + 1)
    with pytest.raises(TypeError):
        make_fx(lambda t: fpemu.decode(t, "e4m3fn"))(fpemu.encode(x, "e4m3fn"))


def test_functions_made_pure(x: Any) -> None:
    assert torch.equal(torch.func.functionalize(lambda t: fpemu.quantize(t, "e4m3fn"))(x), fpemu.quantize(x, "e4m3fn"))


def test_fake_tensors(x: Any) -> None:
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert isinstance(fpemu.quantize(x, "bf16"), FakeTensor)


def test_zeros_that_are_only_told() -> None:
    zeros = torch._efficientzerotensor((3, 4))
    assert torch.equal(fpemu.quantize(zeros, "e4m3fn"), torch.zeros(3, 4))


@pytest.mark.parametrize("call", CALLS)
def test_derivatives_forward_are_refused_and_not_lost(x: Any, call: Any) -> None:
    with pytest.raises(NotImplementedError, match="derivative forward"):
        torch.func.jvp(call, (x,), (x,))
    with pytest.raises(NotImplementedError, match="derivative forward"):
        torch.func.hessian(lambda t: (call(t) ** 2).sum())(x)
    with forward_ad.dual_level(), pytest.raises(NotImplementedError, match="derivative forward"):
        call(forward_ad.make_dual(x, x))


@pytest.mark.parametrize("call", CALLS)
def test_a_call_without_part_in_derivatives_forward(x: Any, call: Any) -> None:
    expected = call(x)
    with forward_ad.dual_level():
        assert torch.equal(call(x), expected)
    value, tangent = torch.func.jvp(lambda t: t * call(x).sum(), (x,), (x,))
    assert torch.equal(tangent, x * expected.sum())


def test_calls_that_are_refused_leave_what_was_given(x: Any) -> None:
    kept, out = x.clone(), torch.full_like(x, 9)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, x)
        with pytest.raises(NotImplementedError, match="derivative forward"):
            fpemu.add(dual, dual, "bf16", out=out)
    assert torch.equal(x, kept)
    assert bool((out == 9).all())


def test_why_a_function_or_a_count_is_refused() -> None:
    rows = np.full((2, 2), 1 / 3, dtype=np.float32)
    with pytest.raises(fpemu.Error, match="16 significant bits") as refused:
        fpemu.apply("exp", rows, "fp16")
    assert refused.value.status == 11
    for stats in (fpemu.Stats(sums=True), fpemu.Stats(histogram=(-3, 3))):
        with pytest.raises(fpemu.Error, match="without sums and histograms"):
            fpemu.matmul(rows, rows, "fp32", stats=stats)
        assert stats.count == 0


def test_plain_arithmetic_follows_gradients(x: Any) -> None:
    a, b = x.clone().requires_grad_(), (x[0] + 2).requires_grad_()
    y = fpemu.mul(a, b, "bf16")
    assert torch.equal(y, fpemu.mul(a.detach(), b.detach(), "bf16"))
    y.sum().backward()
    assert a.grad is not None and torch.equal(a.grad, b.detach().expand_as(a))
    assert b.grad is not None and torch.allclose(b.grad, x.sum(0))
    c = x.clone().requires_grad_()
    fpemu.fma(c, 2.0, 1, "bf16", out=(out := torch.empty_like(x)))
    out.sum().backward()
    assert c.grad is not None and bool((c.grad == 2).all())
    d = x.clone().requires_grad_()
    fpemu.apply("exp", d, "bf16").sum().backward()
    assert d.grad is not None and torch.allclose(d.grad, x.exp())
    assert torch.equal(fpemu.encode(d, "e4m3fn"), fpemu.encode(x, "e4m3fn"))
    with pytest.raises(ValueError, match=r"1\.1 is none"):
        fpemu.add(a, 1.1, "bf16")
    with pytest.raises(TypeError, match="different kinds"):
        fpemu.add(a, np.ones(7), "bf16")


INTO = {  # what writes into `out`, and the dtype of its results
    "quantize": (lambda t, out: fpemu.quantize(t, "e4m3fn", out=out), torch.float32),
    "encode": (lambda t, out: fpemu.encode(t, "bf16", out=out), torch.uint16),
    "add": (lambda t, out: fpemu.add(t, 1, "bf16", out=out), torch.float32),
    "apply": (lambda t, out: fpemu.apply("exp", t, "bf16", out=out), torch.float32),
}


@pytest.mark.parametrize("call, dtype", INTO.values(), ids=INTO)
def test_out_is_refused_alike_with_a_gradient_and_without(x: Any, call: Any, dtype: Any) -> None:
    w = x.clone().requires_grad_()
    bad = [torch.zeros(2, 5, 7, dtype=dtype), torch.zeros(7, 5, dtype=dtype), torch.zeros((), dtype=dtype),
           torch.zeros(5, 7, dtype=torch.float64), torch.zeros(5, 7, dtype=torch.int32),
           torch.zeros(7, dtype=dtype).expand(5, 7), torch.zeros(40, dtype=dtype).as_strided((5, 7), (6, 1)),
           x.numpy().copy(), [0.0], torch.zeros(5, 7, dtype=dtype, device="meta")]
    if dtype.is_floating_point:
        bad.append(torch.zeros(5, 7, requires_grad=True))
    for out in bad:
        before = out.copy() if isinstance(out, (np.ndarray, list)) else out.detach().clone()
        for t in x, w:
            with pytest.raises((TypeError, ValueError)) as refused:
                call(t, out)
            assert "out" in str(refused.value)
        if isinstance(out, torch.Tensor) and out.device.type == "cpu":
            assert torch.equal(out.detach(), before)
    for t in x, w:  # gaps, and an order of its own
        out = torch.zeros(7, 10, dtype=dtype)[:, ::2].T
        assert call(t, out) is out
        assert torch.equal(out.detach(), call(x, None))


def test_out_over_a_part_of_the_input(x: Any) -> None:
    for with_gradient in False, True:
        memory = torch.arange(20.0)
        t = memory[:16].reshape(4, 4).requires_grad_(with_gradient) * 1 if with_gradient else memory[:16].reshape(4, 4)
        own = t.detach()
        beside = own.reshape(-1)
        for a, out in ((t[:3], own[1:]), (t[0], own[:, 0]), (t, own.T), (t[0:2], beside[4:12].reshape(2, 4))):
            with pytest.raises(fpemu.Error, match="overlap") as refused:
                fpemu.quantize(a, "e2m1", out=out)
            assert refused.value.status == 6
        with pytest.raises(fpemu.Error, match="overlap"):
            fpemu.add(t[:2], t[2:], "e2m1", out=own[1:3])
        with pytest.raises(fpemu.Error, match="overlap"):
            fpemu.add(t, t[0], "e2m1", out=own)
        assert torch.equal(own.reshape(-1), torch.arange(16.0))
        fpemu.sub(t[:2], t[2, 3], "bf16", out=own[2:])  # one element is read before
        assert torch.equal(own[2:].reshape(-1), torch.arange(8.0) - 11)
        fpemu.quantize(t[:2], "e2m1", out=own[2:])
        fpemu.quantize(t[:2], "e2m1", out=own[:2])  # in place
        want = fpemu.quantize(torch.arange(8.0), "e2m1")
        assert torch.equal(own.reshape(-1), torch.cat([want, want]))
        fpemu.add(t[:, :2], 1.0, "bf16", out=own[:, 2:])  # columns into columns
        assert torch.equal(own[:, 2:], own[:, :2] + 1)
        crossed = memory.as_strided((2, 3), (3, 2))  # 0 2 4, 3 5 7: apart, though its axes interleave
        fpemu.quantize(t[2:, :3], "bf16", out=crossed)
        assert torch.equal(crossed, own[2:, :3])


def test_out_that_is_refused_counts_nothing(x: Any) -> None:
    stats = fpemu.Stats()
    with pytest.raises(ValueError, match="shape"):
        fpemu.mul(x.clone().requires_grad_(), 2, "bf16", out=torch.zeros(7, 5), stats=stats)
    assert stats.count == 0


def test_out_is_used_again_with_gradients(x: Any) -> None:
    w, out = x.clone().requires_grad_(), torch.zeros(5, 7)
    for _ in range(3):
        fpemu.quantize(w, "e4m3fn", out=out)
    out.sum().backward()
    assert w.grad is not None and bool((w.grad == 1).all())


def test_out_is_compiled(x: Any) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(lambda t, out: fpemu.quantize(t, "e4m3fn", out=out) + 1, fullgraph=True,
                             backend="aot_eager")
    out = torch.zeros(5, 7)
    assert torch.equal(compiled(x, out), fpemu.quantize(x, "e4m3fn") + 1)
    assert torch.equal(out, fpemu.quantize(x, "e4m3fn"))


def test_plain_arithmetic_is_mapped(x: Any) -> None:
    rows = torch.vmap(lambda row: fpemu.add(row, x[0], "e4m3fn"))(x)
    assert torch.equal(rows, fpemu.add(x, x[0], "e4m3fn"))


PLAIN = (lambda x: fpemu.quantize(x, "mxfp4", axis=0) * 2, lambda x: fpemu.quantize(x, E4M3) + 1,
         lambda x: fpemu.fma(x, 2.0, x.flip(0), "bf16"), lambda x: fpemu.apply("tanh", x, "bf16"),
         lambda x: fpemu.encode(x, "e5m2"))
E4M3 = fpemu.format("e4m3fn")


@pytest.mark.parametrize("call", PLAIN)
def test_plain_calls_are_compiled(x: Any, call: Any) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(call, fullgraph=True, backend="aot_eager")
    for value in (x, -2 * x):
        assert torch.equal(compiled(value), call(value))


def test_a_compiled_call_rounds_no_number(x: Any) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(lambda x: fpemu.add(x, 1.1, "bf16"), fullgraph=True, backend="aot_eager")
    with pytest.raises(Exception, match="is none of"):
        compiled(x)
