# SPDX-License-Identifier: BSD-2-Clause
"""Every operator on the way of a device: tensors of the processor stand for its own, and libfpemu_cuda is the one whose
kernels are played there (FPEMU_CUDA_LIBRARY). Judged by the processor's way, bit for bit and counter by counter. With
FPEMU_TEST_DEVICE=cuda the device is one, and the library the wheel's (tests/gpu/torch.sh)."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest
from models import products
from same import refuses

torch = pytest.importorskip("torch")

import fpemu  # noqa: E402
import fpemu.torch as ft  # noqa: E402
from fpemu._arrays import ENCODE, QUANTIZE  # noqa: E402
from fpemu.torch import _device  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils._pytree import tree_leaves  # noqa: E402

PLACE = os.environ.get("FPEMU_TEST_DEVICE", "cpu")
pytestmark = pytest.mark.skipif(PLACE == "cpu" and not os.path.exists(os.environ.get("FPEMU_CUDA_LIBRARY", "")),
                                reason="no FPEMU_CUDA_LIBRARY with kernels that are played")
SCALAR = ("e4m3fn", "e5m2:saturate", "fp16", "bf16", "posit(8,1)", "fixed(8,4)", "uint4", "codebook(nf4)")
BLOCKED = ("mxfp8", "mxfp4", "nvfp4", "s2fp8", "bfp(7)", "scaled(e4m3fn)", "scaled(int8,block=row)",
           "scaled(e5m2,block=channel)", "scaled(e4m3fn,block=3x4)", "group(int4,8)")
ROUNDINGS = ("rne", "rtz", "sr", "sr,bits=5,variant=b", "se")
DTYPES = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
STATE = ft.new_state(7, 2**63 + 5, 11)


def words(x):
    """Random state that kernels read."""
    return STATE[:2].to(x.device, copy=True)


@pytest.fixture(autouse=True)
def device(monkeypatch):
    """played(True) takes the device's way from there on, and says where its tensors lie."""
    def played(on):
        monkeypatch.setattr(_device, "PLAYED", on and PLACE == "cpu")
        return PLACE if on else "cpu"
    played(True)
    return played


def tensors(dtype):
    """One of every kind of shape and strides, with numbers of every kind."""
    torch.manual_seed(3)
    special = torch.tensor([0.0, -0.0, float("nan"), float("inf"), -float("inf"), 1e-6, -6e4, 3e38])
    for x in (torch.randn(()), torch.randn(0, 3), torch.cat((special, torch.randn(33))), torch.randn(3, 40) * 100,
              torch.randn(6, 5, 8).transpose(0, 2), torch.randn(4, 9, 16)[::2, 1::2], torch.zeros(2, 7)):
        yield x.to(dtype)


def outcome(call):
    """What a call gives: bits, or the type of its error."""
    try:
        found = call()
    except Exception as error:
        return type(error).__name__
    found = found if isinstance(found, tuple) else (found,)
    numbers = [t.nan_to_num(nan=7.5) if t.is_floating_point() else t for t in found]  # -0.0 is told in the text
    return [(t.dtype, t.shape, t.numel() and PLACE == "cpu" and t.stride(), n.tolist()) for t, n in zip(found, numbers)]


def assert_alike(device, call, *tensors, counts=None, what=()):
    """call(stats, *tensors) gives the same on both ways, and counts the same; counts: what Stats are asked for."""
    ways = []
    for on in (False, True):
        place = device(on)
        stats = None if counts is None else fpemu.Stats(**counts)
        found = outcome(lambda: call(stats, *(t.to(place) for t in tensors)))
        ways.append((found, None if isinstance(found, str) or counts is None else stats.to_dict()))
    assert str(ways[0]) == str(ways[1]), what


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spec", SCALAR + BLOCKED)
def test_values_codes_and_bytes(device, spec, dtype):
    counts = {"sums": True, "histogram": (-9, 4), "scale_histogram": (-3, 3)}
    for x in tensors(dtype):
        for rounding in ROUNDINGS:
            how = {"counts": counts, "what": (x.shape, rounding)}
            for axis in range(-1, max(x.ndim - 1, 0)):
                for verb in (ft.quantize, ft.pack):
                    assert_alike(device, lambda s, x: verb(x, spec, rounding, axis=axis, state=words(x), stats=s), x,
                                 **how)
            assert_alike(device, lambda s, x: ft.quantize_(x.clone(), spec, rounding, state=STATE, stats=s), x, **how)
            assert_alike(device, lambda s, x: ft.encode(x, spec, rounding, state=words(x), stats=s), x, **how)
        for axis in range(-1, max(x.ndim - 1, 0)):
            device(False)
            packed = outcome(lambda: ft.pack(x, spec, axis=axis))
            if not isinstance(packed, str):
                assert_alike(device, lambda s, p: ft.unpack(p, spec, x.shape, axis=axis, dtype=dtype),
                             torch.tensor(packed[0][3], dtype=torch.uint8), what=(x.shape, axis))
            assert_alike(device, lambda s, x: ft.scales(x, spec, axis=axis), x, what=(x.shape, axis))
        assert_alike(device, lambda s, x: ft.measure(x, spec), x, what=x.shape)
    if spec in SCALAR and fpemu.format(spec).bits <= 8:
        codes = torch.arange(2**fpemu.format(spec).bits).to(torch.uint8).reshape(2, -1)
        assert_alike(device, lambda s, codes: ft.decode(codes, spec, dtype), codes.mT)


@pytest.mark.parametrize("spec", ["e4m3fn", "nvfp4", "scaled(int8)", "mxfp4"])
def test_parts_and_ranges(device, spec):
    x = torch.randn(8, 64)
    device(False)
    known = ft.measure(x, spec)
    assert_alike(device, lambda s, x, known: ft.quantize(x[4:6], spec, "sr", state=words(x), whole=x.shape,
                                                         start=(4, 0), range=known, stats=s), x, known,
                 counts={"sums": True})
    assert_alike(device, lambda s, x, known: torch.ops.fpemu.pack(x[2:], spec, range=known), x, known)
    assert_alike(device, lambda s, x, known: torch.ops.fpemu.scales(x[2:], spec, range=known), x, known)
    assert_alike(device, lambda s, x: torch.vmap(lambda row: ft.quantize(row, spec, "sr", state=words(x)))(x), x)
    if spec not in ("e4m3fn", "scaled(int8)"):  # whose numbers no model of products with scales takes
        model = f"chunk(16,fp32); ab={fpemu.format(spec).element}"
        recipe = ft.Recipe(spec, spec, gradient=spec + "/sr", **products(model))
        for x, multiply in ((x, ft.functional.linear), (x.bfloat16().view(4, 2, 64), ft.functional.matmul)):
            w = x[:3] if x.ndim == 2 else x[:1].mT
            assert_alike(device, lambda s, x, w: ((y := multiply(x.requires_grad_(), w, recipe=recipe)).detach(),
                                                  *torch.autograd.grad(y.sum(), x)), x, w)


@pytest.mark.parametrize("dtype", DTYPES)
def test_operations_and_functions(device, dtype):
    a, b, c = (torch.randn(s).to(torch.bfloat16).to(dtype) for s in ((5, 1, 9), (4, 9), ()))
    for spec in ("e4m3fn", "bf16", "posit(8,1)", "mxfp4"):
        for rounding in ROUNDINGS:
            for operation in fpemu._values._OPERATIONS:
                operands = {"sqrt": (a,), "fma": (a, b, c)}.get(operation, (a, b))
                for given in (operands, tuple(t.mT if t.ndim > 1 else t for t in reversed(operands))):
                    run = lambda s, *t: ft.arith(operation, t, spec, rounding, state=words(t[0]), stats=s)
                    assert_alike(device, run, *given, counts={}, what=(operation, spec, rounding))
        for function in fpemu.functions():
            assert_alike(device, lambda s, a: ft.apply(function, a, spec, "sr", state=words(a), stats=s), a.mT,
                         counts={"sums": True}, what=(function, spec))


@pytest.mark.parametrize("dtype", DTYPES)
def test_products(device, dtype):
    x = (torch.randn(3, 1, 4, 6) * 4).to(dtype)
    pairs = [(x, torch.randn(2, 6, 5).to(dtype)), (x.mT, x), (x[0, 0], x[:, 0].mT), (x[:, 0], x[:1, 0].mT),
             (x[0, 0, 0], x[0, 0].mT), (x[..., :0], x[..., :0].mT), (x[:0], x.mT)]
    for spec in ("fp32", "seq(bf16)", "chunk(4,fp32); ab=e4m3fn", "seq(bf16/sr); a=e5m2/sr; b=e5m2/sr",
                 "tc(h100,e4m3fn)", "pairwise(fp16); out=e4m3fn", "int(32,saturate); ab=fixed(8,4)"):
        for i, (a, b) in enumerate(pairs):
            assert_alike(device, lambda s, a, b: ft.matmul(a, b, spec, state=STATE, stats=s), a, b, counts={},
                         what=(spec, i))
    place = device(True)
    for stats in (fpemu.Stats(sums=True), ft.new_stats(sums=True, device=place)):
        refuses(fpemu.Error, lambda: ft.matmul(x.to(place), x.mT.to(place), "fp32", stats=stats), "without sums")


def test_counters_are_tensors_of_the_device(device):
    x, how, place = torch.randn(50), {"sums": True, "histogram": (-3, 3)}, device(True)
    stats, plain, whole = ft.new_stats(**how, device=place), ft.new_stats(device=place), fpemu.Stats(**how)
    for _ in range(2):
        ft.quantize(x.to(place), "e4m3fn", stats=stats)
        ft.quantize(x.to(place), "e4m3fn", stats=plain)
        fpemu.quantize(x, "e4m3fn", stats=whole)
    assert ft.read_stats(stats) == whole and ft.read_stats(plain).count == whole.count == 100
    assert ft.read_stats(ft.clear_stats(stats)) == whole.empty() and ft.read_stats(ft.clear_stats(plain)).count == 0
    device(False)
    own = ft.new_stats().to(place)
    x = x.to(device(True))
    refuses(ValueError, lambda: ft.new_stats(device="meta"), "not on meta")
    for other in (own, stats.double(), torch.cat((stats, stats))[::2], stats[1:]):
        for call in (lambda: ft.quantize(x, "e4m3fn", stats=other), lambda: ft.read_stats(other),
                     lambda: ft.clear_stats(other)):
            refuses(TypeError, call, "new_stats")
    for on, other in itertools.product((True, False), (torch.ones(200), torch.ones(5, dtype=torch.int64))):
        device(on)
        refuses(TypeError, lambda: ft.clear_stats(other), "new_stats")
        assert other.all()


def test_tensors_that_do_not_go_together_are_refused(device):
    x, f, rne = torch.ones(4, 8, device=PLACE), fpemu.format("e4m3fn"), ("rne", None)
    refuses(ValueError, lambda: _device.run(QUANTIZE, [x], x[:, 1:], f, rne), "32 elements where 28")
    refuses(TypeError, lambda: _device.run(QUANTIZE, [x], x.half(), f, rne), "float32 where float16 is needed")
    refuses(TypeError, lambda: _device.run(QUANTIZE, [x], x.to("meta"), f, rne), "memory of a device")
    refuses(ValueError, lambda: _device.run(ENCODE, [x], x[0].byte(), f, rne), "8 elements where 32")
    for codes, spec in ((x.byte(), "bf16"), (x.to(torch.uint16), "e4m3fn")):
        refuses(TypeError, lambda: ft.decode(codes, spec), "codes of .* are unsigned integers of")
    refuses(ValueError, lambda: ft.unpack(x[0].byte(), "mxfp4", (4, 8)), "8 elements where")
    refuses(fpemu.Error, lambda: ft.quantize(x, "e2m1", fpemu.rounding(nan="error")), "neither NaN policy error")


@pytest.mark.skipif(PLACE != "cpu", reason="a device has a capture of its own")
def test_a_graph_does_not_repeat_random_bits(device, monkeypatch):
    device(False)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    monkeypatch.setattr(torch.cuda, "device", lambda index: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: type("Stream", (), {"cuda_stream": 0}))
    monkeypatch.setattr(_device, "holds", lambda x: True)
    x = torch.randn(8)
    for rounding in ("sr", "se"):
        refuses(fpemu.Error, lambda: torch.ops.fpemu.quantize(x, "e4m3fn", rounding, STATE), "CUDA graph")
    refuses(fpemu.Error, lambda: torch.ops.fpemu.matmul(x[None], x[:, None], "seq(bf16/sr)", STATE[:2]), "CUDA graph")
    torch.ops.fpemu.quantize(x, "e4m3fn", "rne", STATE)
    torch.ops.fpemu.matmul(x[None], x[:, None], "fp32", STATE)


def trained(place, how, scaler=None):
    """The log of three steps of a small model, and what the loss scaler, if there is one, saw of them. Every sum is
    emulated, so that it is the same everywhere."""
    torch.manual_seed(4)
    product = ft.Product(accumulator="seq(bf16)")
    recipe = ft.Recipe("mxfp8", gradient="e5m2/sr", forward=product, data_gradient=product, weight_gradient=product)
    model = ft.convert(nn.Sequential(nn.Linear(6, 8, False), nn.ReLU(), nn.Linear(8, 3, False)), recipe).to(place)
    optimizer = torch.optim.SGD(model.parameters(), 0.125)
    scaler = scaler and ft.loss_scaler("backoff", model, scale=scaler)
    seen = []
    with ft.observe(model, **how) as log:
        for step in range(3):
            loss = model(torch.randn(5, 6).to(place) * 10**step).square().sum()
            optimizer.zero_grad()
            if scaler:
                scaler.scale(loss).backward()
                scaler.step(optimizer)
                scaler.update()
                seen.append((scaler.get_scale(), scaler.skipped))
            else:
                loss.backward()
                optimizer.step()
            log.step()
    return log, seen


@pytest.mark.parametrize("how", [{}, {"sums": True, "histogram": (-8, 8)}, {"every": 2}])
def test_observe_counts_on_a_device_and_reads_with_the_log(device, monkeypatch, how):
    log, _ = trained(device(False), how)
    want, lines = log.totals, log.lines
    place = device(True)
    read, waits = _device.read_stats, []
    monkeypatch.setattr(_device, "read_stats", lambda stats: waits.append(1) or read(stats))
    monkeypatch.setattr(torch.Tensor, "item", lambda self: pytest.fail("a step waited"))
    found, _ = trained(place, how)
    monkeypatch.undo()
    device(True)
    assert not waits and found.totals == want and len(want) == 11
    for a, b in zip(found.lines, lines, strict=True):
        assert {**a, "seconds": 0} == {**b, "seconds": 0}
    monkeypatch.setattr(sys.modules["fpemu.torch.observe"], "_MOST_PENDING", 1)  # much is pending
    found, _ = trained(place, how)
    assert not found._pending and found.totals == want


def test_a_scaler_sees_overflow_on_a_device_by_one_copy_a_step(device, monkeypatch):
    _, want = trained(device(False), {}, 2.0**20)
    place = device(True)
    copy, copies = _device.overflows, []
    monkeypatch.setattr(_device, "overflows", lambda stats: copies.append(len(stats)) or copy(stats))
    _, found = trained(place, {}, 2.0**20)
    assert found == want and want[-1][1] > 0 and len(copies) == 3 and min(copies) > 1


def recorded(work):
    log = []

    def launch(call, *args):
        log.append((lambda: call(*args), None))
        call(*args)

    class Recorder(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            before, call = len(log), lambda: func(*args, **(kwargs or {}))
            found = call()
            if len(log) == before:
                log.append((call, found))
            return found

    def replay():
        for call, found in log:
            for a, b in zip(tree_leaves(found), tree_leaves(call())):
                if isinstance(a, torch.Tensor) and a.data_ptr() != b.data_ptr():
                    a.copy_(b)

    with pytest.MonkeyPatch.context() as patch, Recorder():
        for name in ("device_run", "device_matmul"):
            patch.setattr(fpemu._native, name, functools.partial(launch, getattr(fpemu._native, name)))
        return work(), torch.no_grad()(replay)


def captured(work):
    """The results of work in a CUDA graph, before which it ran once, and what replays it; without a device, what makes
    its launches and torch's operators again."""
    if PLACE == "cpu":
        return recorded(work)
    with torch.cuda.stream(torch.cuda.Stream()):
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        found = work()
    return found, graph.replay


@pytest.mark.parametrize("spec", ["e4m3fn", "mxfp8", "nvfp4", "scaled(int8)", "codebook(nf4)"])
def test_a_graph_reads_new_numbers_and_counts(spec):
    x, stats = torch.randn(4, 4096, device=PLACE), ft.new_stats(device=PLACE)
    found, replay = captured(lambda: (ft.quantize(x, spec, stats=stats), ft.pack(x, spec),
                                      ft.matmul(x, x.mT, "seq(bf16)")))
    ft.clear_stats(stats)
    for power in range(3):
        x.copy_(torch.randn(4, 4096) * 3**power)
        replay()
        for a, b in zip(found, (ft.quantize(x, spec), ft.pack(x, spec), ft.matmul(x, x.mT, "seq(bf16)")), strict=True):
            assert torch.equal(a, b)
    assert ft.read_stats(stats).count == 3 * x.numel()
    if PLACE != "cpu":
        refuses(fpemu.Error, lambda: captured(lambda: ft.quantize(x, spec, "sr", state=STATE)), "CUDA graph")


def test_a_graph_draws_new_bits_in_each_replay_as_eager_calls_do():
    x, product = torch.randn(16, 64, device=PLACE), ft.Product(accumulator="seq(bf16)")
    recipe = ft.Recipe("e4m3fn/sr", gradient="mxfp8/sr", forward=product, data_gradient=product,
                       weight_gradient=product)

    def steps():
        torch.manual_seed(2)
        layer, state = ft.convert(nn.Linear(64, 8, False), recipe).to(PLACE), words(x)
        quantizer, mode = ft.Quantizer("e5m2", rounding="se").to(PLACE), ft.everywhere(recipe, seed=3)

        def step():
            with mode:
                y = nn.functional.linear(x, layer.weight)
            found = (*torch.autograd.grad(layer(x).square().sum(), layer.weight), y.detach(), quantizer(x),
                     ft.quantize(x, "nvfp4", "sr", state=state), ft.encode(x, "e4m3fn", "sr,bits=8", state=state),
                     ft.pack(x, "mxfp4", "sr", state=state), ft.arith("add", (x, x), "bf16", "sr", state=state),
                     ft.apply("exp", x.bfloat16(), "e4m3fn", "sr", state=state))
            state[1] += 1
            return found
        return layer, step

    (layer, step), (_, eager) = steps(), steps()
    found, replay = captured(step)
    last = eager()
    for call in range(3):
        replay()
        want = eager()
        assert all(torch.equal(a, b) and not torch.equal(a, c) for a, b, c in zip(found, want, last, strict=True))
        last = want
    ft.manual_seed(layer, 0, 3)
    replay()
    assert torch.equal(found[0], last[0])


def test_compiled_work_has_eager_bits():
    how = {"fullgraph": True, "backend": "aot_eager" if PLACE == "cpu" else "inductor"}
    x, product = torch.randn(16, 64, device=PLACE), ft.Product(accumulator="seq(bf16)")
    for spec in ("e4m3fn", "nvfp4"):
        work = torch.compile(lambda x: ft.quantize(x.relu() * 2, spec) + 1, **how)
        assert torch.equal(work(x), ft.quantize(x.relu() * 2, spec) + 1)
    layer = ft.convert(nn.Linear(64, 64, False).to(PLACE),
                       ft.Recipe("mxfp8", forward=product, data_gradient=product, weight_gradient=product))
    gradients = []
    for run in (layer, torch.compile(layer, **how)):
        layer.zero_grad()
        run(x).backward(torch.ones_like(x))
        gradients.append(layer.weight.grad.clone())
    assert torch.equal(*gradients)


@pytest.mark.skipif(PLACE != "cpu", reason="torch.sh calls it")
def test_steps_of_training_for_a_device_run():
    path = Path(__file__).parents[2] / "bench/python/torch_steps.py"
    done = subprocess.run([sys.executable, path, "--models", "tiny", "--rounds", "1"], text=True, capture_output=True,
                          env={**os.environ, "FPEMU_CUDA_PLAYED": "1"}, check=False)
    assert done.returncode == 0 and len(done.stdout.splitlines()) > 5, done.stdout + done.stderr
