# SPDX-License-Identifier: BSD-2-Clause
"""Operators for PyTorch under torch.compile and torch.export: the bits of eager mode, one graph, and no recompilation
as steps go by. Inductor, whose C++ takes long, compiles one test; the others go its way up to that."""

import copy
import subprocess
import sys

import pytest
from same import refuses

torch = pytest.importorskip("torch")

import fpemu  # noqa: E402
import fpemu.torch as ft  # noqa: E402

TRACED = {"fullgraph": True, "backend": "aot_eager_decomp_partition"}


@pytest.fixture(autouse=True)
def fresh():
    """No graphs of earlier tests, none from the disk (their key does not hold our kernels), no second compilation."""
    torch._dynamo.reset()
    quick = {"force_disable_caches": True, "cpp.simdlen": 1, "cpp_cache_precompile_headers": False,
             "compile_threads": 1}
    with torch._dynamo.config.patch(error_on_recompile=True), torch._inductor.config.patch(quick):
        yield


def test_steps_of_training():
    def make():
        torch.manual_seed(0)
        return torch.nn.Sequential(
            ft.Quantizer("e4m3fn", "e5m2", "sr", seed=1, stream=0), torch.nn.Linear(32, 16), torch.nn.ReLU(),
            ft.Quantizer("mxfp4", "mxfp8", "sr", seed=1, stream=1), torch.nn.Linear(16, 4),
            ft.Quantizer(None, "e5m2", "sr", seed=1, stream=2))

    eager = make()
    module = copy.deepcopy(eager)
    compiled = torch.compile(module, **TRACED)
    for step in range(4):
        torch.manual_seed(step)
        x, g = torch.randn(8, 32), torch.randn(8, 4)
        for net in (eager, compiled):
            net.zero_grad()
            net(x).backward(g)
        for p, q in zip(eager.parameters(), module.parameters()):
            assert torch.equal(p.grad, q.grad)
        assert torch.equal(eager[3].state, module[3].state) and eager[3].state[1] == (1 << 32) + step + 1


@pytest.mark.parametrize("dtype, words", [(torch.float32, {"fullgraph": True}), (torch.bfloat16, TRACED)])
def test_bits_counters_and_gradients_as_steps_go_by(dtype, words):
    def call(x, state, stats, backward_stats):
        y = ft.quantize(x, "e4m3fn", "sr,bits=8", state=state, stats=stats, ste="clipped", backward="e5m2",
                        backward_rounding="sr", backward_stats=backward_stats)
        return y * 2

    compiled = torch.compile(call, **words)
    found, want = ([ft.new_stats(sums=True, histogram=(-8, 8)) for _ in range(2)] for _ in range(2))
    for step in range(4):
        x, g = (torch.randn(7, 33).to(dtype) * 300).requires_grad_(), torch.randn(7, 33).to(dtype)
        gradients = []
        for f, stats in ((compiled, found), (call, want)):
            y = f(x, ft.new_state(7, step, step), *stats)
            gradients.append((y, *torch.autograd.grad(y, x, g)))
        for a, b in zip(*gradients):
            assert torch.equal(a.isnan(), b.isnan()) and torch.equal(a.nan_to_num(), b.nan_to_num())
        for a, b in zip(found, want):
            assert torch.equal(a, b)
    assert ft.read_stats(found[1]).count == 4 * 7 * 33


def test_dynamic_shapes_and_layouts():
    def call(x, state):
        return ft.quantize(x.transpose(0, 1), "mxfp4", "sr", state=state, axis=0).sin().mul(0).add(
            ft.quantize(x.transpose(0, 1), "mxfp4", "sr", state=state, axis=0))

    compiled = torch.compile(call, **TRACED, dynamic=True)
    for rows in (4, 5, 40):
        x, state = torch.randn(rows, 70), ft.new_state(rows)
        got, want = compiled(x, state), call(x, state)
        assert torch.equal(got, want)


def test_other_operators():
    def call(a, b, state, stats):
        codes = ft.encode(a, "e4m3fn", "sr", state=state)
        c = ft.matmul(ft.decode(codes, "e4m3fn"), b, "seq(bf16/sr)", state=state, stats=stats, backward="seq(bf16/sr)")
        scales, _, _ = ft.scales(a, "mxfp4")
        back = ft.unpack(ft.pack(a, "mxfp4"), "mxfp4", a.shape)
        return c, ft.apply("exp", ft.arith("add", (back, back), "bf16"), "fp16"), scales

    compiled = torch.compile(call, **TRACED)
    a, b = torch.randn(8, 64), torch.randn(64, 4, requires_grad=True)
    found, want = ft.new_stats(), ft.new_stats()
    for step in range(3):
        x = [f(a, b, ft.new_state(step), s) for f, s in ((compiled, found), (call, want))]
        assert all(map(torch.equal, *x)) and torch.equal(found, want)
        gradients = [torch.autograd.grad(c.square().sum(), b)[0] for c, _, _ in x]
        assert torch.equal(*gradients)


def test_emulated_sums_of_a_backward_pass():
    product = ft.Product(accumulator="seq(bf16)")
    layer = ft.convert(torch.nn.Linear(8, 8, False), ft.Recipe("mxfp8", forward=product, data_gradient=product,
                                                               weight_gradient=product))
    x, found = torch.randn(4, 8), []
    for run in (layer, torch.compile(layer, **TRACED)):
        layer.zero_grad()
        run(x).square().sum().backward()
        found.append(layer.weight.grad.clone())
    assert torch.equal(*found)


def test_in_place():
    def call(x, state, stats):
        y = x * 2
        ft.quantize_(y, "e4m3fn", "sr", state=state, stats=stats)
        ft.quantize_(x, "bf16")
        return y + x

    compiled = torch.compile(call, **TRACED)
    found, want = ft.new_stats(), ft.new_stats()
    for step in range(2):
        x = torch.randn(40)
        p, q = x.clone(), x.clone()
        assert torch.equal(compiled(p, ft.new_state(step), found), call(q, ft.new_state(step), want))
        assert torch.equal(p, q) and torch.equal(p, x.bfloat16().float()) and torch.equal(found, want)


def test_objects_are_constants():
    format, rounding = fpemu.format("e4m3fn"), fpemu.rounding("sr", seed=3, bits=16)
    compiled = torch.compile(lambda x: ft.quantize(x, format, rounding), backend="aot_eager")
    for _ in range(2):
        x = torch.randn(50)
        assert torch.equal(compiled(x), ft.quantize(x, format, rounding))


def test_quantizer_can_be_exported():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.a = ft.Quantizer("e4m3fn", rounding="sr", seed=2), torch.nn.Linear(16, 4)

        def forward(self, x):
            return self.a(self.q(x))

    net = Net()
    rows = torch.export.Dim("rows", min=2, max=64)
    program = torch.export.export(copy.deepcopy(net), (torch.randn(8, 16),), dynamic_shapes=({0: rows},))
    assert any("fpemu.quantize" in str(node.target) for node in program.graph.nodes)
    module = program.module()
    for n in (8, 3):
        x = torch.randn(n, 16)
        assert torch.equal(module(x), net(x))
    assert torch.equal(module.q.state, net.q.state)


def test_nothing_is_computed_while_tracing():
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        y = ft.quantize(torch.empty(1 << 20, 1 << 20).mT, "mxfp4", axis=0)
        assert y.shape == (1 << 20, 1 << 20) and y.stride() == (1, 1 << 20)
        refuses(fpemu.SpecError, lambda: ft.quantize(y, "no format"))
        refuses(TypeError, lambda: ft.quantize(torch.empty(3, dtype=torch.int32), "e4m3fn"))
    assert ft.quantize(torch.empty(4, 4, device="meta"), "e4m3fn").device.type == "meta"


@pytest.mark.parametrize("before", [False, True])
def test_compiler_is_loaded_by_who_compiles(before):
    """It takes longer to import than torch; when it is, it follows plain calls."""
    probe = f"""
import sys, torch, importlib.util
if {before}: import torch._dynamo
import fpemu.torch
assert importlib.util.find_spec("torch._dynamo") and ("torch._dynamo" in sys.modules) == {before}
x = torch.tensor([0.3, 1.0, 100.0])
y = torch.compile(lambda x: fpemu.quantize(x, "e2m1") + 1, fullgraph=True, backend="aot_eager")(x)
assert y.tolist() == [1.5, 2.0, 7.0], y
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", probe], capture_output=True, text=True)
    assert not done.returncode, done.stderr
