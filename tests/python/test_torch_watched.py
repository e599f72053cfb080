# SPDX-License-Identifier: BSD-2-Clause
"""Plain calls where torch watches: graphs that are recorded, functions made pure, derivatives forward, profilers."""

from __future__ import annotations

import copy
import io
from typing import Any

import numpy as np
import pytest
from same import refuses

torch = pytest.importorskip("torch")

import fpemu  # noqa: E402
import fpemu.compat.microxcaling as mx  # noqa: E402
import fpemu.torch as ft  # noqa: E402
import torch.autograd.forward_ad as forward_ad  # noqa: E402
from fpemu.compat.qtorch.quant import block_quantize, float_quantize  # noqa: E402
from torch import nn  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode  # noqa: E402
from torch.fx.experimental.proxy_tensor import make_fx  # noqa: E402
from torch.overrides import TorchFunctionMode  # noqa: E402

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
    refuses(TypeError, lambda: make_fx(lambda t: fpemu.decode(t, "e4m3fn"))(fpemu.encode(x, "e4m3fn")))


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
    refuses(NotImplementedError, lambda: torch.func.jvp(call, (x,), (x,)), "derivative forward")
    refuses(NotImplementedError, lambda: torch.func.hessian(lambda t: (call(t) ** 2).sum())(x), "derivative forward")
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
        refuses(NotImplementedError, lambda: fpemu.add(dual, dual, "bf16", out=out), "derivative forward")
    assert torch.equal(x, kept)
    assert bool((out == 9).all())


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
    refuses(ValueError, lambda: fpemu.add(a, 1.1, "bf16"), r"1\.1 is none")
    refuses(TypeError, lambda: fpemu.add(a, np.ones(7), "bf16"), "different kinds")


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
        refuses(fpemu.Error, lambda: fpemu.add(t[:2], t[2:], "e2m1", out=own[1:3]), "overlap")
        refuses(fpemu.Error, lambda: fpemu.add(t, t[0], "e2m1", out=own), "overlap")
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
    refuses(Exception, lambda: compiled(x), "is none of")


# ----------------------------------------------------------------------------------------- graphs by torch.jit.trace

NORM = ft.Recipe(norm="bf16")
TRACED = {
    "quantize": lambda: lambda x: fpemu.quantize(x, "mxfp4", axis=0) * 2,
    "ft.quantize": lambda: lambda x: ft.quantize(x, "e4m3fn", "rne,overflow=saturate") * 2,
    "backward": lambda: lambda x: ft.quantize(x, "e4m3fn", backward="e5m2") * 2,
    "state": lambda: lambda x: ft.quantize(x, "e4m3fn", "sr", state=ft.new_state(3, 1)),
    "residual": lambda: lambda x: ft.quantize(x, "e4m3fn") + x,
    "out": lambda: lambda x: fpemu.quantize(x, "e4m3fn", out=torch.zeros(5, 7)),
    "range": lambda: lambda x: fpemu.quantize(x, "nvfp4", range=RANGE),
    "encode": lambda: lambda x: fpemu.encode(x, "e4m3fn"),
    "add": lambda: lambda x: fpemu.add(x, x.flip(0), "e4m3fn"),
    "mul": lambda: lambda x: fpemu.mul(x, 3.0, "e4m3fn"),
    "minimum": lambda: lambda x: fpemu.minimum(x, x.flip(0), "e4m3fn"),
    "apply": lambda: lambda x: fpemu.apply("exp", x, "e4m3fn"),
    "Array": lambda: lambda x: (fpemu.array(x, "e4m3fn") * 2 + 1).data,
    "Quantizer": lambda: ft.Quantizer("e4m3fn"),
    "Quantizer both": lambda: ft.Quantizer("e4m3fn", "e5m2"),
    "Quantizer in a model": lambda: nn.Sequential(nn.Linear(7, 7), ft.Quantizer("e4m3fn"), nn.ReLU()),
    "LayerNorm": lambda: ft.convert(nn.Sequential(nn.LayerNorm(7)), NORM),
    "Linear": lambda: ft.convert(nn.Sequential(nn.Linear(7, 3)), "fp8"),
    "qtorch": lambda: lambda x: float_quantize(x, 4, 3, "nearest") * 2,
    "qtorch's block": lambda: lambda x: block_quantize(x, 8, rounding="nearest"),
    "microxcaling": lambda: lambda x: mx.quantize_bfloat(x, mx.finalize_mx_specs({"bfloat": 16})),
}
RANGE = fpemu.measure(np.float32([3.0]), "nvfp4")


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("make", TRACED.values(), ids=TRACED)
def test_traces_hold_the_call_and_not_its_result(x: Any, make: Any) -> None:
    call, other = make(), (x * 1.5 - 1).bfloat16().float()
    with torch.no_grad():
        traced = torch.jit.trace(call, x)
        assert torch.equal(traced(other), call(other))
        assert not torch.equal(traced(other), call(x))
    assert "fpemu::" in str(traced.inlined_graph) or " ^" in str(traced.inlined_graph)  # a function of autograd


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("name", ["ft.quantize", "backward", "residual", "add", "Quantizer both", "Linear"])
def test_traces_have_gradients(x: Any, name: str) -> None:
    call, gradients = TRACED[name](), []
    traced = torch.jit.trace(call, x.clone().requires_grad_())
    for function in call, traced:
        leaf = (2 * x).requires_grad_()
        y = function(leaf)
        gradients += torch.autograd.grad(y, leaf, torch.full_like(y, 1.37))
    assert torch.equal(*gradients)


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning", "ignore::FutureWarning")
@pytest.mark.parametrize("make", [
    lambda: ft.Quantizer("e4m3fn", rounding="sr", seed=3),
    lambda: ft.convert(nn.Sequential(nn.LayerNorm(7, elementwise_affine=False)), ft.Recipe(norm="e4m3fn/sr")),
    lambda: lambda x: float_quantize(x, 4, 3),
], ids=["Quantizer", "LayerNorm", "qtorch"])
@torch.no_grad()
def test_traces_draw_new_bits_in_every_call(x: Any, make: Any) -> None:
    traced, call = torch.jit.trace(make(), x, check_trace=False), make()
    if isinstance(call, nn.Module):
        call(x)  # the call of the tracer
    results = []
    for function in call, traced:
        torch.manual_seed(5)
        results.append([function(2 * x) for _ in range(3)])
    assert all(map(torch.equal, *results))
    assert not torch.equal(results[0][0], results[0][1])


@pytest.mark.filterwarnings("ignore::FutureWarning")
@torch.no_grad()
def test_traces_count_where_observed(x: Any) -> None:
    model = ft.convert(nn.Sequential(nn.Linear(7, 3)), "fp8")
    with ft.observe(model) as log:
        traced = torch.jit.trace(model, x, check_trace=False)
        for _ in range(3):
            traced(x)
        log.step()
    assert {role: stats.count for _, role, stats in log} == {"v": 4 * 5 * 7, "w": 4 * 3 * 7}


@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning", "ignore::FutureWarning")
def test_what_no_trace_holds_is_refused(x: Any) -> None:
    codes = fpemu.encode(x, "e4m3fn")
    for call in (lambda t: fpemu.decode(ft.encode(t, "e4m3fn"), "e4m3fn"), lambda t: fpemu.matmul(t, t.T, "fp32"),
                 lambda t: fpemu.pack(t, "mxfp4").bytes, lambda t: fpemu.swizzle(codes), lambda t: fpemu.equal(t, t)):
        refuses(TypeError, lambda: torch.jit.trace(call, x), "stands in no graph")
    stats = fpemu.Stats()

    class Counted(nn.Module):
        def forward(self, t: Any) -> Any:
            return fpemu.quantize(t, "e4m3fn", stats=stats)

    for record in torch.jit.trace, lambda f, t: make_fx(f)(t), lambda f, t: torch.export.export(f, (t,)):
        refuses(TypeError, lambda: record(Counted(), x), r"fpemu\.torch\.new_stats")
    assert stats.count == 0


@pytest.mark.filterwarnings("ignore")
def test_the_exporter_that_traces_refuses_the_operator(x: Any) -> None:
    model = nn.Sequential(nn.Linear(7, 2), ft.Quantizer("e4m3fn"))
    refuses(Exception, lambda: torch.onnx.export(model, (x,), io.BytesIO(), dynamo=False), "fpemu::quantize")


# ------------------------------------------------------------------------------------------- modes and profilers
class FunctionsSeen(TorchFunctionMode):
    """Names of what is called."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(function))
        return function(*args, **(kwargs or {}))


class Profiled:
    def __init__(self, profiler: Any) -> None:
        self.profiler, self.names = profiler, []

    def __enter__(self) -> Profiled:
        self.profiler.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.profiler.__exit__(*error)
        self.names = [event.key for event in self.profiler.key_averages()]


WATCHERS = {"function mode": FunctionsSeen, "autograd's profiler": lambda: Profiled(torch.autograd.profiler.profile()),
            "profiler": lambda: Profiled(torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]))}
SEEN = {
    "quantize": lambda x: fpemu.quantize(x.T, "mxfp4"), "ft.quantize": lambda x: ft.quantize(x, "e4m3fn"),
    "gradient": lambda x: ft.quantize(x.clone().requires_grad_(), "e4m3fn", backward="e5m2"),
    "state": lambda x: ft.quantize(x, "e4m3fn", "sr", state=ft.new_state(1)),
    "stats": lambda x: fpemu.quantize(x, "e4m3fn", stats=fpemu.Stats()),
    "encode": lambda x: fpemu.encode(x, "e4m3fn"), "add": lambda x: fpemu.add(x, 1, "bf16"),
    "apply": lambda x: fpemu.apply("exp", x, "bf16"), "range": lambda x: fpemu.quantize(x, "nvfp4", range=RANGE),
}
UNSEEN = {  # without an operator that does the same
    "table": lambda x: fpemu.quantize(x, fpemu.format([-1.0, 0.0, 1.0])),
    "matmul": lambda x: fpemu.matmul(x, x.T, "fp32"),
    "decode": lambda x: fpemu.decode(torch.arange(5, dtype=torch.uint8), "e4m3fn"),
    "pack": lambda x: fpemu.pack(x, "mxfp4").unpack(), "scales": lambda x: fpemu.scales(x.T, "mxfp4")[0],
    "equal": lambda x: fpemu.equal(x, x.flip(0)),
}


@pytest.mark.parametrize("watch", WATCHERS.values(), ids=WATCHERS)
def test_watchers_see_the_operator(x: Any, watch: Any) -> None:
    for call in SEEN.values():
        with watch() as watcher:
            y = call(x)
        assert torch.equal(y, call(x))
        assert [name for name in watcher.names if "fpemu" in name], watcher.names
    for call in UNSEEN.values():
        with watch():
            y = call(x)
        assert torch.equal(y, call(x))


def test_a_call_without_part_in_gradients_of_torch_func(x: Any) -> None:
    for call in CALLS[0], SEEN["ft.quantize"], SEEN["stats"], UNSEEN["table"]:
        expected = call(x).sum()
        assert torch.equal(torch.func.grad(lambda t, call=call: t * call(x).sum())(x.new_ones(())), expected)


# ---------------------------------------------------------------------------------------------- torch.fx and script
def test_symbolic_graphs(x: Any) -> None:
    other = 3 * x
    for call in (lambda t: fpemu.quantize(t, "e4m3fn"), lambda t: fpemu.add(t, t, "bf16"),
                 lambda t: fpemu.apply("exp", t, "bf16")):
        assert torch.equal(torch.fx.symbolic_trace(call)(other), call(other))
    refuses(TypeError, lambda: torch.fx.symbolic_trace(lambda t: fpemu.add(t, 1.0, "bf16")), r"torch\.tensor makes")

    class Own(nn.Linear):
        pass

    model = nn.Sequential(nn.Linear(7, 7), nn.LayerNorm(7), Own(7, 7), ft.Quantizer("e4m3fn", rounding="sr", seed=3))
    ft.convert(model, ft.Recipe(input="e4m3fn/sr", norm="bf16"))
    twin = copy.deepcopy(model)
    graph = torch.fx.symbolic_trace(model)
    for t in x, other, x:
        assert torch.equal(graph(t), twin(t))
    assert ft.revert(twin)[0].__module__ == nn.Linear.__module__


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_script_is_refused(x: Any) -> None:
    for module in ft.convert(nn.Sequential(nn.Linear(7, 2)), "fp8"), nn.Sequential(ft.Quantizer("bf16")):
        refuses(TypeError, lambda: torch.jit.script(module), r"torch\.jit\.trace")

    def scripted(t: torch.Tensor) -> torch.Tensor:
        return torch.ops.fpemu.quantize(t, "e4m3fn")

    assert torch.equal(torch.jit.script(scripted)(x), fpemu.quantize(x, "e4m3fn"))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_tensors_that_are_not_dense(x: Any) -> None:
    layer = ft.convert(nn.Sequential(nn.Linear(7, 2)), "fp8")
    jagged = torch.nested.nested_tensor([x, x[:2]], layout=torch.jagged)
    quantized = torch.quantize_per_tensor(x, 0.1, 0, torch.quint8)
    for tensor, way_out in ((jagged, "unbind"), (torch.nested.nested_tensor([x, x[:2]]), "unbind"),
                            (x.to_sparse(), "to_dense"), (quantized, "dequantize")):
        for call in (lambda t: fpemu.quantize(t, "bf16"), lambda t: ft.quantize(t, "bf16"), layer,
                     lambda t: fpemu.pack(t, "bf16"), lambda t: ft.quantize_(t, "bf16"),
                     lambda t: ft.encode(t, "bf16")):
            refuses(TypeError, lambda: call(tensor), way_out)


def test_parallel_is_there_without_its_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(ft, "parallel", raising=False)
    assert callable(ft.parallel.split_batch)
    with pytest.raises(AttributeError, match="paralel"):
        ft.paralel  # noqa: B018
