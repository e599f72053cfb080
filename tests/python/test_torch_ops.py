# SPDX-License-Identifier: BSD-2-Clause
"""Operators for PyTorch in eager mode: bits, gradients, maps, counters, state. Judged by PyTorch's own casts,
the same calls on NumPy's arrays, and derivatives by differences."""

import copy
import math
import pickle
import timeit
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from models import loaded
from same import assert_same, refuses

torch = pytest.importorskip("torch")

import fpemu  # noqa: E402
import fpemu.torch as ft  # noqa: E402
from fpemu.torch import _ops  # noqa: E402
from torch.library import opcheck  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402

OPS = torch.ops.fpemu
STATE = ft.new_state(1, 2, 3)
CLIPPING = "float(e=4,m=50):saturate"  # exact to 2^-50 inside its range of +-256: its surrogate has a derivative there


# ---------------------------------------------------------------------------------------------------------- bits
@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_dtypes_are_kept_and_rounded_once(dtype):
    x = torch.randn(1000, dtype=torch.float64).to(dtype)
    y = ft.quantize(x, "e5m2")
    assert y.dtype == dtype
    inside = x.double().abs() < 57344
    assert torch.equal(y[inside].double(), x[inside].float().to(torch.float8_e5m2).double())


def test_codes_are_torchs_own():
    x = torch.randn(1000)
    codes = ft.encode(x, "e4m3fn")
    assert torch.equal(codes.view(torch.float8_e4m3fn).float(), x.to(torch.float8_e4m3fn).float())
    everything = torch.arange(256, dtype=torch.uint8)
    assert_same(ft.decode(everything, "e5m2"), everything.view(torch.float8_e5m2).float())
    assert_same(ft.decode(everything.view(torch.float8_e5m2), "e5m2"), everything.view(torch.float8_e5m2).float())
    wide = torch.tensor([1.5, -3.0], dtype=torch.bfloat16)
    assert ft.decode(wide.view(torch.uint16), "bf16").tolist() == [1.5, -3.0]
    refuses(TypeError, lambda: ft.decode(wide, "bf16"), "16 bits")


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 5), (1,), (7, 3)])
def test_scalars_and_empty_tensors(shape):
    x = torch.randn(shape)
    assert torch.equal(ft.quantize(x, "bf16"), x.bfloat16().float())
    x.requires_grad_()
    ft.quantize(x, "mxfp4").sum().backward()
    assert x.grad.shape == x.shape


def test_layouts_are_kept():
    x = torch.randn(2, 8, 4, 4).to(memory_format=torch.channels_last)
    y = ft.quantize(x, "bf16")
    assert y.stride() == x.stride() and torch.equal(y, x.bfloat16().float())
    odd = torch.randn(6, 10, 4)[::2, 1::3].transpose(0, 2)
    assert torch.equal(ft.quantize(odd, "bf16"), odd.bfloat16().float())
    rounding = fpemu.rounding("sr", seed=5)
    assert torch.equal(ft.quantize(odd, "e4m3fn", rounding), ft.quantize(odd.contiguous(), "e4m3fn", rounding))
    want = ft.quantize(odd.contiguous(), "mxfp4", "sr", axis=1, state=STATE)
    assert torch.equal(OPS.quantize(odd, "mxfp4", "sr", STATE, 1), want)


def test_state_is_seed_stream_and_offset_of_the_library():
    x = torch.randn(40, 50)
    top = 2**64 - 1
    for seed, stream, offset in ((1, 2, 3), (top, top - 1, top - 5), (top, 5, 0)):
        want = fpemu.quantize(x.numpy(), "e4m3fn", fpemu.rounding("sr", seed=seed, stream=stream, offset=offset))
        state = ft.new_state(seed, stream, offset)[:3 if offset else 2]
        assert np.array_equal(ft.quantize(x, "e4m3fn", "sr", state=state).numpy(), want)
        assert np.array_equal(OPS.quantize(x, "e4m3fn", "sr", state).numpy(), want)
    few = fpemu.rounding("sr", seed=1, bits=4, variant="c", overflow="saturate")
    assert torch.equal(ft.quantize(x * 300, "e4m3fn", "sr,bits=4,variant=c,overflow=saturate", state=ft.new_state(1)),
                       torch.from_numpy(fpemu.quantize((x * 300).numpy(), "e4m3fn", few)))
    lee = fpemu.rounding("qpytorch-sr", seed=1)
    got = ft.quantize(x.clone().requires_grad_(), "e4m3fn", lee)
    assert np.array_equal(got.detach().numpy(), fpemu.quantize(x.numpy(), "e4m3fn", lee))


def test_a_product_of_several_matrices_or_vectors_is_that_of_each():
    a, b = torch.randn(2, 3, 17), torch.randn(17, 4)
    c = ft.matmul(a, b, "seq(bf16)")
    for q in range(2):
        assert np.array_equal(c[q].numpy(), fpemu.matmul(a[q].numpy(), b.numpy(), "seq(bf16)"))
    assert torch.equal(ft.matmul(a[0, 0], b, "seq(bf16)"), c[0, 0])
    assert torch.equal(ft.matmul(a, b[:, 1], "seq(bf16)"), c[..., 1])
    assert ft.matmul(a[0, 0], b[:, 1], "seq(bf16)").shape == ()
    assert torch.equal(ft.matmul(b.mT, a[0].mT, "seq(bf16)"), c[0].mT)


def test_operations_and_functions_are_those_of_numpys_arrays():
    a, b, c = (torch.randn(200, dtype=torch.float64).bfloat16().float() for _ in range(3))
    for name in ("add", "sub", "mul", "fma", "div"):
        operands = (a, b, c) if name == "fma" else (a, b)
        want = getattr(fpemu, name)(*(t.numpy() for t in operands), "fp16")
        assert np.array_equal(ft.arith(name, operands, "fp16").numpy(), want)
    for name in ("exp", "tanh", "erf", "sin"):
        assert np.array_equal(ft.apply(name, a, "bf16").numpy(), fpemu.apply(name, a.numpy(), "bf16"))


def test_packed_bytes_go_back():
    x = torch.randn(5, 70)
    for spec in ("e2m1", "mxfp4", "nvfp4", "bfp(8)"):
        data = ft.pack(x, spec)
        assert data.dtype == torch.uint8
        assert torch.equal(ft.unpack(data, spec, x.shape), ft.quantize(x, spec))
    scales, codes, tensor = ft.scales(x, "mxfp4")
    assert scales.shape == codes.shape == (5, 3) and tensor.tolist() == [1.0, 1.0]
    assert torch.equal(torch.exp2(codes.float() - 127), scales)
    assert ft.measure(x, "nvfp4").view(torch.float64)[3].item() == x.abs().max().item()


# ----------------------------------------------------------------------------------------------------- registration
def samples():
    def r(*shape):
        return torch.randn(*shape, requires_grad=True)

    x, positive, few = r(4, 32), torch.rand(5, requires_grad=True), torch.randn(5).bfloat16().float().requires_grad_()
    codes = torch.arange(100, dtype=torch.uint8)
    yield "quantize", (x, "e4m3fn")
    yield "quantize", (x, "e4m3fn", "sr", STATE, -1, "clipped", "e5m2", "sr")
    yield "quantize", (x, "mxfp4", "rne", None, 0)
    yield "quantize", (r(2, 6, 4, 4).to(memory_format=torch.channels_last), "bf16")
    yield "quantize", (r(4, 16), "e4m3fn", "sr", STATE, -1, "identity", None, "rne", None, [8, 32], [4, 16])
    yield "quantize_", (torch.randn(4, 32), "mxfp4", "sr", STATE)
    yield "encode", (x, "e4m3fn", "sr", STATE)
    yield "encode", (x.detach(), "fp16")
    yield "decode", (codes, "e5m2")
    yield "decode", (codes, "e5m2", torch.float16)
    yield "pack", (x, "nvfp4")
    yield "unpack", (ft.pack(x, "mxfp4"), "mxfp4", [4, 32])
    yield "scales", (x, "nvfp4")
    yield "scales", (x, "scaled(e4m3fn)")
    yield "measure", (x, "nvfp4")
    yield "matmul", (r(2, 3, 4), r(4, 5), "fp32")
    yield "matmul", (r(3, 4), r(4, 5), "seq(fp(6,9,0)/sr)", STATE, "seq(bf16/sr)")
    yield "matmul", (r(3, 4), r(4, 5), "chunk(2,fp32)", None, None, torch.rand(3, 2), torch.rand(5, 2), torch.rand(()))
    yield "parts", (x, "nvfp4", -1, 16, "sr", STATE)
    yield "parts", (x.detach(), "scaled(e4m3fn,block=2x32)", 0, 2)
    yield "arith", ("add", "e4m3fn", r(3, 4), r(4))
    yield "arith", ("fma", "bf16", r(3, 4), r(4), r(1), "sr", STATE)
    yield "arith", ("sqrt", "bf16", positive)
    yield "apply", ("exp", "fp16", few)
    yield "substream", (STATE, 2)


@pytest.mark.parametrize("name, args", list(samples()), ids=lambda value: value if isinstance(value, str) else "")
def test_opcheck(name, args):
    opcheck(getattr(OPS, name).default, args)


@pytest.mark.parametrize("name", ["quantize", "quantize_", "encode", "pack", "matmul", "arith", "apply"])
def test_opcheck_of_those_that_count(name):
    args = next(a for n, a in samples() if n == name)
    name = name[:-1] + "_counted_" if name.endswith("_") else name + "_counted"
    opcheck(getattr(OPS, name).default, (ft.new_stats(sums=name.startswith("quantize")), *args))


def test_every_operator_is_checked():
    assert {name for name, _ in samples()} == {*_ops.SCHEMAS, "substream"}


# --------------------------------------------------------------------------------------------------------- gradients
def test_gradients_of_the_surrogate_by_differences():
    x = (torch.randn(20, dtype=torch.float64) * 250).requires_grad_()
    x.data[x.data.abs().sub(fpemu.format(CLIPPING).max).abs() < 1] = 0.5  # no corner within a step of the differences
    assert (x.abs() > 257).any()
    assert torch.autograd.gradcheck(lambda t: ft.quantize(t, CLIPPING, ste="clipped"), x)
    assert torch.autograd.gradgradcheck(lambda t: ft.quantize(t, CLIPPING, ste="clipped", backward="fp64") ** 2, x)
    assert torch.autograd.gradcheck(lambda t: OPS.quantize(t, CLIPPING, "rne", None, -1, "clipped"), x)
    assert torch.autograd.gradgradcheck(lambda t: OPS.quantize(t, CLIPPING, "rne", None, -1, "clipped") ** 2, x)
    a, b = (torch.randn(s, dtype=torch.float64, requires_grad=True) for s in ((2, 3, 4), (4, 2)))
    for backward in (None, "fp64"):
        assert torch.autograd.gradcheck(lambda p, q, m=backward: ft.matmul(p, q, "fp64", backward=m), (a, b))
        assert torch.autograd.gradgradcheck(lambda p, q, m=backward: ft.matmul(p, q, "fp64", backward=m), (a, b))
        scales = {"scales_a": torch.rand(2, 3, 2).double(), "scales_b": torch.rand(2, 2).double(), "alpha": 0.75}
        scaled = lambda p, q, m=backward, how=scales: ft.matmul(p, q, "chunk(3,fp64)", backward=m, **how)
        assert torch.autograd.gradcheck(scaled, (a, b)) and torch.autograd.gradgradcheck(scaled, (a, b))
    refuses(ValueError, lambda: ft.matmul(a, b, "fp64", alpha=torch.ones((), requires_grad=True)), "detach")


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "sqrt", "fma", "minimum", "maximum"])
def test_gradients_of_operations_by_differences(name):
    count = {"sqrt": 1, "fma": 3}.get(name, 2)
    operands = [(torch.rand(s, dtype=torch.float64) + 0.5).requires_grad_() for s in ((3, 2), (2,), (1, 2))[:count]]
    assert torch.autograd.gradcheck(lambda *t: ft.arith(name, t, "fp64"), operands)


def test_gradients_of_functions_are_those_of_torch():
    names = {"log2": torch.log2, "rsqrt": torch.rsqrt, "gelu": torch.nn.functional.gelu,
             "silu": torch.nn.functional.silu, "softplus": torch.nn.functional.softplus, "exp10": lambda t: 10**t}
    for name in fpemu.functions():
        x = (torch.rand(50) * 0.8 + (1.0625 if name == "acosh" else 0.0625)).bfloat16().double().requires_grad_()
        of_torch = names.get(name) or getattr(torch, name, None) or getattr(torch.special, name)
        (want,) = torch.autograd.grad(of_torch(x).sum(), x)
        (got,) = torch.autograd.grad(ft.apply(name, x, "bf16").sum(), x)
        assert torch.allclose(got, want, rtol=1e-12), name


def test_clipped_gradient_ends_at_the_format():
    x = torch.tensor([448.0, 449.0, -448.0, -1e9, math.nan, math.inf, 0.0], requires_grad=True)
    for call in (ft.quantize, lambda *a, **k: OPS.quantize(*a, "rne", None, -1, k["ste"])):
        (g,) = torch.autograd.grad(call(x, "e4m3fn", ste="clipped").nan_to_num().sum(), x)
        assert g.tolist() == [1, 0, 1, 0, 0, 0, 1]
    refuses(ValueError, lambda: ft.quantize(x, "mxfp4", ste="clipped"), "clipped")


def test_gradient_is_rounded_and_counted():
    stats = ft.new_stats()
    for call in (ft.quantize, dispatched):
        ft.clear_stats(stats)
        x = torch.randn(64, requires_grad=True)
        g = torch.randn(64)
        y = call(x, "e4m3fn", "sr", state=STATE, backward="e5m2", backward_rounding="sr", backward_stats=stats)
        y.backward(g)
        want = fpemu.quantize(g.numpy(), "e5m2", fpemu.rounding("sr", seed=1, stream=2 ^ 1 << 63, offset=3))
        assert np.array_equal(x.grad.numpy(), want)
        assert ft.read_stats(stats).count == 64
    refuses(fpemu.SpecError, lambda: ft.quantize(x, "e4m3fn", backward="no format"))


def dispatched(x, format, rounding, **words):
    """The same by the operator, without the way that plain tensors take."""
    return OPS.quantize(x, format, rounding, words["state"], -1, "identity", words["backward"],
                        words["backward_rounding"], words["backward_stats"])


def test_one_product_over_all_rows_for_shared_weights():
    a, w, g = torch.randn(2, 3, 8), torch.randn(8, 5), torch.randn(2, 3, 5)
    w.requires_grad_()
    ft.matmul(a, w, "seq(bf16)", backward="seq(bf16)").backward(g)
    assert torch.equal(w.grad, ft.matmul(a.reshape(6, 8).mT, g.reshape(6, 5), "seq(bf16)"))


def test_backward_products_have_random_bits_of_their_own():
    a, b = (torch.randn(8, 8, requires_grad=True) for _ in range(2))
    spec, g = "seq(bf16/sr)", torch.randn(8, 8)
    ft.matmul(a, b, spec, state=STATE, backward=spec).backward(g)
    for grad, p, q, number in ((a.grad, g, b.detach().mT, 2), (b.grad, a.detach().mT, g, 3)):
        want = fpemu.matmul(p, q, spec, seed=1, stream=2 ^ number << 62)
        assert torch.equal(grad, want)


def test_in_place_bumps_versions():
    x = torch.randn(8)
    want, version = ft.quantize(x, "e4m3fn"), x._version
    assert ft.quantize_(x, "e4m3fn") is x
    assert torch.equal(x, want) and x._version > version
    stats = ft.new_stats()
    before = stats._version
    ft.quantize(x, "e4m3fn", stats=stats)
    OPS.quantize_counted(stats, x, "e4m3fn")
    assert stats._version >= before + 2
    a = torch.randn(4, requires_grad=True)
    b = a.exp()  # keeps its result
    c = b * 1
    ft.quantize_(c, "e4m3fn").sum().backward()
    assert torch.equal(a.grad, b.detach())
    d = a.exp()
    ft.quantize_(d, "e4m3fn")
    refuses(RuntimeError, lambda: d.sum().backward(), "modified by an inplace operation")
    refuses(RuntimeError, lambda: ft.quantize_(a, "e4m3fn"), "leaf")
    with torch.no_grad():
        ft.quantize_(a, "e4m3fn")
    refuses(RuntimeError, lambda: OPS.quantize_(a * 1, "e4m3fn"), "does not record")


# --------------------------------------------------------------------------------------------------------- torch.func
@pytest.mark.parametrize("spec", ["e4m3fn", "mxfp4", "nvfp4", "scaled(e4m3fn)"])
@pytest.mark.parametrize("rounding", ["rne", "sr"])
def test_vmap_is_a_loop(spec, rounding):
    x = torch.randn(3, 5, 64, generator=torch.Generator().manual_seed(1))  # none of which becomes NaN, unlike itself
    x *= torch.tensor([1, 100, 1e-3])[:, None, None]

    def call(t):
        return ft.quantize(t, spec, rounding, state=STATE)

    want = torch.stack([call(row) for row in x])
    assert torch.equal(torch.vmap(call)(x), want)
    assert torch.equal(torch.vmap(call, in_dims=2, out_dims=2)(x.movedim(0, 2)), want.movedim(0, 2))
    assert torch.equal(torch.vmap(torch.vmap(call))(x), torch.stack([torch.stack([call(q) for q in p]) for p in x]))


def test_vmap_of_other_operators():
    a, b, states = torch.randn(3, 4, 5), torch.randn(3, 5, 2), torch.stack([ft.new_state(i) for i in range(3)])
    got = torch.vmap(lambda p, q, s: ft.matmul(p, q, "seq(bf16/sr)", state=s))(a, b, states)
    assert torch.equal(got, torch.stack([ft.matmul(p, q, "seq(bf16/sr)", state=s) for p, q, s in zip(a, b, states)]))
    got = torch.vmap(lambda p: ft.arith("add", (p, b[0, 0, 0]), "bf16"), in_dims=1)(a)
    assert torch.equal(got, torch.stack([ft.arith("add", (p, b[0, 0, 0]), "bf16") for p in a.unbind(1)]))
    stats = ft.new_stats()
    torch.vmap(lambda p: ft.quantize(p, "e4m3fn", stats=stats))(a)
    assert ft.read_stats(stats).count == a.numel()


VALUES, CODES, STATES = torch.zeros(0, 4), torch.zeros(0, 4, dtype=torch.uint8), torch.zeros(0, 3, dtype=torch.int64)


@pytest.mark.parametrize("call, given, shape", [
    (lambda x: ft.quantize(x, "mxfp4"), (VALUES,), (0, 4)),
    (lambda x: ft.quantize(x, "bf16"), (VALUES,), (0, 4)),
    (lambda x: ft.encode(x, "e4m3fn"), (VALUES,), (0, 4)),
    (lambda x: ft.decode(x, "e4m3fn"), (CODES,), (0, 4)),
    (lambda x: OPS.pack(x, "e2m1"), (VALUES,), (0, 2)),
    (lambda x: OPS.measure(x, "nvfp4"), (VALUES,), (0, 12)),
    (lambda x: ft.matmul(x[None], torch.ones(4, 5), "fp32"), (VALUES,), (0, 1, 5)),
    (lambda x, s: ft.arith("add", (x, x), "bf16", "sr", state=s), (VALUES, STATES), (0, 4)),
    (lambda x: OPS.scales(x, "mx(e2m1,block=2)")[0], (VALUES,), (0, 2)),
])
def test_vmap_of_no_tensors(call, given, shape):
    assert torch.vmap(call)(*given).shape == shape
    outer = torch.vmap(torch.vmap(call))(*(x.new_zeros(3, *x.shape) for x in given))
    assert outer.shape == (3, *shape)
    inner = torch.vmap(torch.vmap(call))(*(x.new_zeros(0, 3, *x.shape[1:]) for x in given))
    assert inner.shape == (0, 3, *shape[1:])


def test_vmap_of_no_tensors_counts_none():
    stats = ft.new_stats()
    torch.vmap(lambda x: ft.quantize(x, "mxfp4", stats=stats))(VALUES)
    assert ft.read_stats(stats).count == 0


@pytest.mark.parametrize("spec", ["bf16", "mxfp4"])
def test_vmap_knows_the_axes_of_one_tensor(spec):
    x = torch.zeros(5, 3, 4)
    for axis in (-2, -1, 0, 1):
        assert torch.vmap(lambda t: ft.quantize(t, spec, axis=axis))(x).shape == x.shape
    for axis in (-3, 2):
        with pytest.raises(ValueError, match=f"no axis {axis} in a tensor of 2 dimensions"):
            torch.vmap(lambda t: ft.quantize(t, spec, axis=axis))(x)


def test_torch_func():
    x = torch.randn(4, 6) * 300

    def loss(t):
        return ft.quantize(t, "e4m3fn:saturate", ste="clipped", backward="e5m2").square().sum()

    leaf = x.clone().requires_grad_()
    loss(leaf).backward()
    assert torch.equal(torch.func.grad(loss)(x), leaf.grad)
    assert torch.equal(torch.vmap(torch.func.grad(loss))(x), leaf.grad)
    assert torch.equal(torch.func.jacrev(lambda t: ft.quantize(t, "e4m3fn"))(x[0]), torch.eye(6))
    twice = torch.func.grad(lambda t: torch.func.grad(lambda u: (ft.quantize(u, "fp32") ** 3).sum())(t).sum())(x)
    assert torch.allclose(twice, 6 * x)
    a, b = torch.randn(3, 3), torch.randn(3, 3)
    got = torch.func.grad(lambda p: (ft.matmul(p, b, "fp32") * a).sum())(a)
    assert torch.allclose(got, a @ b.T, rtol=1e-5, atol=1e-6)


# ----------------------------------------------------------------------------------------------------------- counters
def test_counters_as_tensors():
    x = torch.randn(50, 32) * 100
    want = fpemu.Stats(sums=True, histogram=(-5, 5), scale_histogram=(-3, 3))
    fpemu.quantize(x, "mxfp4", stats=want)
    for call in (ft.quantize, lambda *a, stats: OPS.quantize_counted(stats, *a)):
        stats = ft.new_stats(sums=True, histogram=(-5, 5), scale_histogram=(-3, 3))
        call(x, "mxfp4", stats=stats)
        assert ft.read_stats(stats) == want
        restored = loaded(stats, weights_only=True)
        call(x, "mxfp4", stats=restored)
        assert ft.read_stats(restored) == want + want
        assert ft.read_stats(ft.clear_stats(stats)) == want.empty()
    for x in (x, x.clone().requires_grad_()):
        own = want.empty()
        ft.quantize(x, "mxfp4", stats=own)
        assert own == want
    overflows = fpemu.Stats()
    ft.matmul(torch.full((2, 8), 100.0), torch.full((8, 2), 100.0), "seq(fp16)", stats=overflows)
    assert overflows.overflow == 4  # 8 * 10^4 passes 65504 with the seventh product: once then, infinities thereafter


def together(work, threads=4):
    """The same work in several threads at once."""
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(work) for _ in range(threads)]:
            done.result()


COUNTING = {
    "encode": lambda x, w, s: ft.encode(x, "bf16", stats=s),
    "pack": lambda x, w, s: ft.pack(x, "mxfp4", stats=s),
    "arith": lambda x, w, s: ft.arith("add", (x, x), "bf16", stats=s),
    "apply": lambda x, w, s: ft.apply("exp", x, "bf16", stats=s),
    "add of a gradient": lambda x, w, s: fpemu.add(w, w, "bf16", stats=s),
    "quantize of a part": lambda x, w, s: ft.quantize(x, "bf16", whole=x.shape, start=(0,), stats=s),
}


@pytest.mark.parametrize("call", COUNTING.values(), ids=COUNTING)
def test_threads_count_in_one_stats(call):
    x = torch.randn(20000).bfloat16().float()
    w = x.clone().requires_grad_()
    one = fpemu.Stats(histogram=(-5, 5), sums=True, scale_histogram=(-3, 3))
    call(x, w, one)
    want, stats = one.empty(), one.empty()
    for _ in range(4 * 25):
        want += one
    together(lambda: [call(x, w, stats) for _ in range(25)])
    assert stats == want and stats.count == 100 * one.count > 0


def test_threads_count_products_in_one_stats():
    a, stats = torch.randn(32, 32), fpemu.Stats()
    together(lambda: [ft.matmul(a, a, "seq(bf16)", stats=stats) for _ in range(25)])
    assert stats.count == 100 * 32**3


def test_counts_stay_where_a_nan_is_refused():
    x = torch.tensor([1.0, float("nan"), 100.0])
    plain, stats = fpemu.Stats(), fpemu.Stats()
    rounding = fpemu.rounding(nan="error")
    refuses(fpemu.Error, lambda: fpemu.quantize(x, "e2m1", rounding, stats=plain), "NaN")
    refuses(fpemu.Error, lambda: ft.quantize(x, "e2m1", rounding, whole=(3,), start=(0,), stats=stats), "NaN")
    assert stats == plain and stats.count == 3


class Rounded(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return ft.quantize(torch.arange(200000.0) / 700 + i, "e4m3fn", "sr", state=ft.new_state(i))


def test_workers_that_are_forked():
    ft.quantize(torch.randn(200000), "e4m3fn")  # threads are there before the fork
    loader = torch.utils.data.DataLoader(Rounded(), batch_size=4, num_workers=2, multiprocessing_context="fork")
    found = torch.cat(list(loader))
    assert torch.equal(found, torch.stack([Rounded()[i] for i in range(8)]))


# ---------------------------------------------------------------------------------------------------------- Quantizer
def test_quantizer_moves_on_and_can_be_kept():
    q = ft.Quantizer("e4m3fn", "e5m2", "sr", seed=2**64 - 3, stream=5)
    x = torch.randn(100)
    first, second = q(x), q(x)
    assert q.state.tolist() == [-3, (5 << 32) + 2, 0] and not torch.equal(first, second)
    want = fpemu.quantize(x, "e4m3fn", fpemu.rounding("sr", seed=2**64 - 3, stream=(5 << 32) + 1))
    assert torch.equal(second, want)
    kept = [copy.deepcopy(q), pickle.loads(pickle.dumps(q)), loaded(q)]
    other = ft.Quantizer("e4m3fn", "e5m2", "sr")
    other.load_state_dict(loaded(q.state_dict(), weights_only=True))
    third = q(x)
    for copied in [*kept, other]:
        assert torch.equal(copied(x), third)
    q.reset()
    assert torch.equal(q(x), first)
    assert "e4m3fn" in repr(q)


def test_quantizer_of_gradients_alone():
    q = ft.Quantizer(None, "e5m2")
    for dtype in (torch.float32, torch.bfloat16):
        x = torch.randn(50, dtype=dtype, requires_grad=True)
        g = torch.randn(50, dtype=dtype)
        y = q(x)
        y.backward(g)
        assert torch.equal(y, x) and torch.equal(x.grad, g.to(torch.float8_e5m2).to(dtype))
    assert ft.Quantizer()(x) is x


def test_quantizer_refuses():
    for words in ({"forward": "mxfp4", "ste": "clipped"}, {"seed": -1}, {"stream": 2**31}, {"ste": "other"}):
        refuses(ValueError, lambda: ft.Quantizer(**words))
    refuses(fpemu.SpecError, lambda: ft.Quantizer("e4m3fm"))
    for words, what in (({"forward": 3}, "format"), ({"backward": 3}, "format"), ({"rounding": 3}, "rounding"),
                        ({"backward_rounding": 3}, "rounding")):
        with pytest.raises(TypeError, match=f"^{what} is a fpemu.{what.capitalize()}.* or a text such as .*, not 3$"):
            ft.Quantizer(**words)


def test_checkpoint_repeats_random_bits():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.a, self.b = torch.nn.Linear(16, 16), torch.nn.Linear(16, 16)
            self.q = ft.Quantizer("e3m2", "e5m2", "sr", seed=4)

        def forward(self, x):
            return self.q(self.b(torch.tanh(self.q(self.a(x)))))

    x = torch.randn(8, 16)

    def gradients(call, net):
        y = x
        for _ in range(3):
            y = call(net, y)
        y.square().sum().backward()
        return [p.grad for p in net.parameters()], net.q.state

    plain, state = gradients(lambda net, y: net(y), Net())
    again, moved = gradients(lambda net, y: checkpoint(net, y, use_reentrant=False), Net())
    assert all(map(torch.equal, plain, again)) and torch.equal(state, moved)
    with pytest.raises(RuntimeError, match="use_reentrant"):
        gradients(lambda net, y: checkpoint(net, y.requires_grad_() if y is x else y, use_reentrant=True), Net())

    def inner(net, y):
        return checkpoint(net, y, use_reentrant=False)

    with pytest.raises(RuntimeError, match="inside another"):
        gradients(lambda net, y: checkpoint(lambda t: inner(net, inner(net, t)), y, use_reentrant=False), Net())


def test_autocast_changes_nothing():
    x, w = torch.randn(4, 4, requires_grad=True), torch.randn(4, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert ft.quantize(x, "e4m3fn").dtype == torch.float32
        assert ft.matmul(x, w, "fp32").dtype == torch.float32


# -------------------------------------------------------------------------------------------------------- bad input
def test_errors_say_what_is_wrong():
    x = torch.randn(4, 4)
    refuses(TypeError, lambda: ft.quantize(torch.arange(4), "e4m3fn"), "int64")
    refuses(TypeError, lambda: OPS.quantize(torch.arange(4), "e4m3fn"), "int64")
    refuses(TypeError, lambda: OPS.quantize(torch.zeros(2, dtype=torch.complex64), "e4m3fn"), "complex64")
    refuses(fpemu.SpecError, lambda: ft.quantize(x, "e4m3fm"))
    for call in (lambda: ft.quantize(x, "mxfp4", axis=2), lambda: OPS.quantize(x, "mxfp4", "rne", None, 2)):
        refuses(ValueError, call, "axis 2")
    refuses(ValueError, lambda: ft.quantize(x.requires_grad_(), "e4m3fn", ste="no"), "ste")
    x = x.detach()
    for word in ({"seed": 2**64}, {"seed": -1}, {"stream": -1}, {"offset": 2**64}):
        refuses(ValueError, lambda: ft.new_state(**word), f"{next(iter(word))} is an integer from 0")
    assert ft.new_state(2**64 - 1, 2**63).tolist() == [-1, -(2**63), 0]
    refuses(TypeError, lambda: OPS.quantize(x, "e4m3fn", "sr", torch.zeros(3)), "state")
    for bad in (torch.tensor([1]), torch.zeros(3), torch.zeros(3, 1, dtype=torch.int64), torch.tensor(3), [1, 2, 3]):
        for given in (x, x.clone().requires_grad_()):
            refuses(TypeError, lambda: ft.quantize(given, "e4m3fn", "sr", state=bad), "state is an int64 tensor")
        with pytest.raises(TypeError, match="state is an int64 tensor"):
            ft.functional.linear(x, x, recipe=ft.recipe("fp8").replace(input="e4m3fn/sr"), state=bad)
    refuses(TypeError, lambda: ft.matmul(x, x, "seq(bf16/sr)", state=torch.tensor([1])), "shape")
    for bad in ([1.0], np.ones(2), 1.0, None):
        for call in (lambda: ft.quantize(bad, "e2m1"), lambda: ft.quantize_(bad, "e2m1"),
                     lambda: ft.encode(bad, "e2m1"), lambda: ft.decode(bad, "e2m1"), lambda: ft.pack(bad, "mxfp4"),
                     lambda: ft.unpack(bad, "mxfp4", (2,)), lambda: ft.scales(bad, "mxfp4"),
                     lambda: ft.measure(bad, "nvfp4"), lambda: ft.matmul(x, bad, "fp32"),
                     lambda: ft.arith("add", (x, bad), "bf16"), lambda: ft.apply("exp", bad, "bf16")):
            refuses(TypeError, call, "is no tensor")
    refuses(TypeError, lambda: ft.quantize(x, "e4m3fn", stats=torch.zeros(10, dtype=torch.int64)), "stats")
    refuses(ValueError, lambda: ft.quantize(x, "e4m3fn", "sr,bits=9000", state=STATE), "bits=9000|bits is")
    refuses(ValueError, lambda: ft.quantize(x, "e4m3fn", "sr,seed=1", state=STATE), "should be one of")
    refuses(TypeError, lambda: ft.matmul(x, x.double(), "fp32"), "dtypes")
    refuses(RuntimeError, lambda: ft.matmul(x, x[:3], "fp32"), "inner dimension")
    refuses(TypeError, lambda: ft.arith("add", (x,), "bf16"), "takes 2 operands")
    refuses(ValueError, lambda: ft.arith("plus", (x, x), "bf16"), "operation")
    refuses(ValueError, lambda: ft.apply("expo", x, "bf16"), "function")
    refuses(ValueError, lambda: ft.encode(x, "mxfp4"), "no codes apart")
    refuses(fpemu.Error, lambda: ft.quantize(x.half(), "fp32"))
    refuses(TypeError, lambda: fpemu.pack(x.requires_grad_(), "mxfp4"), "detach")
    assert fpemu.quantize(x, "e4m3fn").requires_grad


WAYS = {  # of one call: a plain tensor, one with a gradient, one without for a while, the operator, a map
    "plain": lambda x, **how: ft.quantize(x, "mxfp4", **how),
    "gradient": lambda x, **how: ft.quantize(x.clone().requires_grad_(), "mxfp4", **how),
    "no_grad": lambda x, **how: torch.no_grad()(ft.quantize)(x.clone().requires_grad_(), "mxfp4", **how),
    "part": lambda x, **how: ft.quantize(x, "mxfp4", whole=x.shape, start=(0, 0), **how),
    "operator": lambda x, **how: OPS.quantize(x, "mxfp4", **how),
    "vmap": lambda x, **how: torch.vmap(lambda row: ft.quantize(row, "mxfp4", **how))(x),
    "fake": lambda x, **how: OPS.quantize(x.to("meta"), "mxfp4", **how),
}


@pytest.mark.parametrize("call", WAYS.values(), ids=WAYS)
def test_what_says_the_gradient_is_checked_without_one(call):
    x = torch.randn(2, 32)
    call(x, backward="e5m2", backward_rounding="sr,bits=8")
    refuses(ValueError, lambda: call(x, ste="zork"), "ste is one of")
    refuses(ValueError, lambda: call(x, ste="clipped"), "clipped")
    for how in ({"backward": "zork"}, {"backward_rounding": "zork"}, {"backward": "e5m2", "backward_rounding": "zork"}):
        refuses(fpemu.SpecError, lambda: call(x, **how), "zork")


def test_a_table_has_a_gradient():
    table = fpemu.format([-1, 0, 1])
    for x in (torch.tensor([0.7, 3.0]), torch.tensor([0.7, 3.0], requires_grad=True)):
        assert ft.quantize(x, table, backward="bf16").tolist() == [1, 1]
        refuses(ValueError, lambda: ft.quantize(x, table, ste="clipped"), "no text")


def test_texts_of_roundings_go_on():
    x = torch.randn(500)
    for text, rounding in (("sr,bits=4,variant=b", fpemu.rounding("sr", bits=4, variant="b")),
                           ("rne,overflow=saturate", fpemu.rounding(overflow="saturate"))):
        want = fpemu.quantize(100 * x, "e4m3fn", rounding)
        for y in (100 * x, (100 * x).requires_grad_()):
            assert_same(ft.quantize(y, "e4m3fn", text).detach(), want)
            stats = fpemu.Stats()
            ft.quantize(y, "e4m3fn", text, axis=0, stats=stats)
            assert stats.count == 500


def test_parts_of_a_whole():
    x = torch.randn(6, 64, 5)
    for spec, axis in (("e4m3fn", -1), ("mxfp4", 1), ("group(int4,16)", 1)):
        want = ft.quantize(x, spec, "sr", state=STATE, axis=axis)
        for begin, end in (((0, 0, 0), (6, 32, 5)), ((2, 32, 0), (5, 64, 5)), ((1, 0, 2), (6, 64, 3))):
            cut = tuple(slice(b, e) for b, e in zip(begin, end))
            got = ft.quantize(x[cut], spec, "sr", state=STATE, axis=axis, whole=x.shape, start=begin)
            assert torch.equal(got, want[cut]), (spec, cut)
    refuses(ValueError, lambda: ft.quantize(x[:, 3:40], "mxfp4", axis=1, whole=x.shape, start=(0, 3, 0)), "two parts")
    refuses(ValueError, lambda: ft.quantize(x, "bf16", "sr", start=(0, 0, 0)), "together")
    refuses(ValueError, lambda: ft.quantize(x, "e4m3fn", whole=(6, 64, 4), start=(0, 0, 0)), "leaves")
    refuses(ValueError, lambda: ft.quantize(x[:3], "nvfp4", axis=1, whole=x.shape, start=(0, 0, 0)), "range")
    known = ft.measure(x, "nvfp4")
    got = ft.quantize(x[3:], "nvfp4", axis=1, whole=x.shape, start=(3, 0, 0), range=known)
    assert torch.equal(got, ft.quantize(x, "nvfp4", axis=1)[3:])


def test_a_call_costs_less_than_a_cast():
    """Below PyTorch's own cast to float8 and back. (Times in microseconds are for bench/: here others work too.)"""
    x, f = torch.randn(64), fpemu.format("e4m3fn")

    def best(call):
        return min(timeit.repeat(call, number=2000, repeat=7))

    assert best(lambda: ft.quantize(x, f)) < best(lambda: x.to(torch.float8_e4m3fn).to(torch.float32))


def test_words_and_numbers_at_the_ends():
    for word in (np.int64(3), np.uint64(3), torch.tensor(3), 3):
        assert ft.new_state(word, word, word).tolist() == [3, 3, 3]
    assert ft.new_state(2**64 - 1).tolist() == [-1, 0, 0]
    for number in (10**400, -10**400):
        with pytest.raises(ValueError, match="none of the tensors' dtype"):
            fpemu.add(torch.ones(3, requires_grad=True), number, "e4m3fn")
    for scales in (fpemu.scales, ft.scales, lambda x, spec: OPS.parts(x, spec, 0, 1)):
        refuses(fpemu.Error, lambda: scales(torch.zeros(0, 64), "s2fp8"), "blocks of s2fp8 have no scales")
