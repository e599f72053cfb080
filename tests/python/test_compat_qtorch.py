# SPDX-License-Identifier: BSD-2-Clause
"""fpemu.compat.qtorch against qtorch 0.3.0 where it is installed and compiles, and against facts that its CPU kernels
were seen to produce; its rules are judged by against_judges/compat.c and blocks.c."""

from __future__ import annotations

import itertools
import math
import shutil
import subprocess
import sys

import pytest
from same import assert_same as same
from same import refuses

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from fpemu.compat import qtorch as ours
from fpemu.compat.qtorch.auto_low import lower, sequential_lower
from fpemu.compat.qtorch.optim import OptimLP
from fpemu.compat.qtorch.quant import Quantizer, block_quantize, fixed_point_quantize, float_quantize, quantizer


def numbers():
    """Numbers of all sizes, and ties."""
    g = torch.Generator().manual_seed(1)
    words = torch.randint(-2**31, 2**31 - 1, (1 << 16,), generator=g, dtype=torch.int64).to(torch.int32)
    x = words.view(torch.float32)
    return torch.cat([x[~x.isnan()], torch.randn(1 << 15, generator=g), torch.arange(-4096, 4096) / 64.0,
                      torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, 2.0**24 - 1, 1 - 2.0**24])])


# --------------------------------------------------------------------------------------------- beside qtorch

@pytest.fixture(scope="module")
def real():
    """qtorch.quant itself. Its kernels are compiled at import, which needs ninja and a compiler."""
    pytest.importorskip("qtorch", reason="qtorch is not installed")
    if not shutil.which("c++") and not shutil.which("g++"):
        pytest.skip("qtorch needs a C++ compiler at import")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{sys.prefix}/bin:{sys.base_prefix}/bin", prepend=":")
        try:
            import qtorch.quant
        except Exception as error:  # whatever its build raises
            pytest.skip(f"qtorch cannot be imported: {type(error).__name__}")
    if qtorch.quant.__file__.find("compat") >= 0:
        pytest.skip("qtorch is our own")
    return qtorch.quant


@pytest.mark.parametrize("exp", range(1, 9))
@pytest.mark.parametrize("man", [1, 2, 3, 7, 10, 22])
def test_floats_beside_qtorch(real, exp, man):
    x = numbers()
    same(float_quantize(x, exp, man, "nearest"), real.float_quantize(x, exp, man, "nearest"))


@pytest.mark.parametrize("wl,fl", [(8, 4), (5, 4), (16, 8), (2, 1), (25, 10), (8, 20), (32, 16), (24, 23), (8, -2)])
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("clamp", [False, True])
def test_fixed_point_beside_qtorch(real, wl, fl, symmetric, clamp):
    x = numbers()
    if not clamp:  # where qtorch's product with 2^fl overflows, it gives an infinity
        x = x[(x.abs() < 2.0 ** (127 - max(fl, 0))) | x.isinf()]
    same(fixed_point_quantize(x, wl, fl, clamp, symmetric, "nearest"),
         real.fixed_point_quantize(x, wl, fl, clamp, symmetric, "nearest"))


@pytest.mark.parametrize("wl", [3, 4, 8, 16, 22])
@pytest.mark.parametrize("dim", [-1, 0, 1, 2])
def test_blocks_beside_qtorch(real, wl, dim):
    g = torch.Generator().manual_seed(2)
    x = torch.randn(6, 10, 16, generator=g) * torch.exp2(torch.randint(-30, 30, (6, 1, 1), generator=g))
    x[2, 3], x[:, 5] = 0, 0
    same(block_quantize(x, wl, dim, "nearest"), real.block_quantize(x, wl, dim, "nearest"))
    y = x.transpose(0, 2)  # not contiguous
    same(block_quantize(y, wl, dim, "nearest"), real.block_quantize(y, wl, dim, "nearest"))


def test_quantizer_beside_qtorch(real):
    import qtorch
    x = torch.linspace(-2, 2, 301)
    g = torch.linspace(-9, 5, 301)
    pairs = [(None, ours.FloatingPoint(4, 3)), (ours.FixedPoint(5, 3), ours.BlockFloatingPoint(6)),
             (ours.BlockFloatingPoint(4, 0), None), (ours.FixedPoint(4, 3, True, True), ours.FixedPoint(6, 2))]
    for (forward, backward), clamping in itertools.product(pairs, (False, True)):
        if clamping and not isinstance(forward, (ours.FixedPoint, type(None))):
            continue
        results = []
        for package, make in ((ours, quantizer), (qtorch, real.quantizer)):
            both = [n and getattr(package, type(n).__name__)(**vars(n)) for n in (forward, backward)]
            v = x.clone().requires_grad_()
            y = make(*both, "nearest", "nearest", clamping, [lambda t: t * 2])(v)
            y.backward(g)
            results.append((y, v.grad))
        same(results[0][0], results[1][0])
        same(results[0][1], results[1][1])


# ------------------------------------------------------------------------------------------------ as was seen

def test_what_qtorch_was_seen_to_do():
    def fixed(x, *arguments, **more):
        return fixed_point_quantize(torch.tensor(x), *arguments, **more, rounding="nearest").tolist()

    assert fixed([0.09375, 0.03125, -0.03125, 8.0, -9.0], 8, 4) == [0.125, 0.0, 0.0, 7.9375, -8.0]
    assert fixed([-9.0], 8, 4, symmetric=True) == [-7.9375]
    assert fixed([100.03, 2.0**30], 8, 4, clamp=False) == [100.0, 2.0**30]
    assert fixed([8388609.0], 25, 0) == [8388610.0]  # its sum with 1/2 is rounded to binary32
    assert fixed([40000.0, -40000.0], 32, 16) == [32768.0, -32768.0]
    f = float_quantize(torch.tensor([math.inf, -math.inf, math.nan, 1e9]), 4, 3, "nearest").tolist()
    assert f == [480.0, -480.0, 480.0, 480.0]
    b = block_quantize(torch.tensor([1.0, 0.125, -0.125, 0.374]), 4, rounding="nearest").tolist()
    assert b == [1.0, 0.25, 0.0, 0.25]  # steps of 1/4, ties upward


def test_stochastic_rounding_has_the_law():
    torch.manual_seed(5)
    n = 1 << 16
    for y, low, step in ((fixed_point_quantize(torch.full((n,), 0.3), 8, 4), 0.25, 0.0625),
                         (float_quantize(torch.full((n,), 0.3), 5, 2), 0.25, 0.0625),
                         (block_quantize(torch.cat([torch.full((n - 1,), 0.3), torch.ones(1)]), 6)[:-1], 0.25, 0.0625)):
        values = set(y.tolist())
        assert values == {low, low + step}
        assert abs(float((y - low).mean()) / step - 0.8) < 5 * math.sqrt(0.8 * 0.2 / n)
    torch.manual_seed(6)
    a = float_quantize(torch.rand(100), 4, 2)
    b = float_quantize(torch.rand(100), 4, 2)
    torch.manual_seed(6)
    assert torch.equal(float_quantize(torch.rand(100), 4, 2), a) and not torch.equal(a, b)
    x = torch.rand(1000)
    assert not torch.equal(float_quantize(x, 4, 2), float_quantize(x, 4, 2))


# ------------------------------------------------------------------------------------- modules, optimisers

def test_gradients():
    x = torch.tensor([-1.0, -0.6, 0.0, 1.0], requires_grad=True)
    number = ours.FixedPoint(wl=5, fl=4)
    quantizer(number, number, "nearest", "nearest", clamping_grad_zero=True)(x).sum().backward()
    assert x.grad.tolist() == [0.9375, 0.9375, 0.9375, 0.0]
    x.grad = None
    Quantizer(ours.FloatingPoint(4, 3), ours.FloatingPoint(2, 1), "nearest", "nearest")(x).backward(torch.ones(4) * 100)
    assert x.grad.tolist() == [6.0] * 4  # the largest of fp(2,1)
    hooked = quantizer(number, ours.FloatingPoint(5, 2), "nearest", "nearest", True, [lambda g: g * 8])
    x.grad = None
    hooked(x).sum().backward()
    assert x.grad.tolist() == [8.0, 8.0, 8.0, 0.0]
    assert quantizer()(x).tolist() == x.tolist()


def test_layers_are_lowered():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(),
                                torch.nn.ModuleDict({"a": torch.nn.Linear(8, 2)})["a"])
    number = ours.FixedPoint(4, 2)
    new = sequential_lower(model, ["linear", "activation"], number, forward_rounding="nearest")
    kinds = [type(m).__name__ for m in new.modules()]
    assert kinds.count("Quantizer") == 1 and kinds.count("Sequential") == 4  # one quantiser, shared
    x = torch.randn(16, 4)
    y = fixed_point_quantize(model[0](x), 4, 2, rounding="nearest")
    y = fixed_point_quantize(model[2](torch.relu(y)), 4, 2, rounding="nearest")
    assert torch.equal(new(x), y)
    lower(model, ["linear"], number, forward_rounding="nearest")
    assert torch.equal(model(x), y)
    refuses(AssertionError, lambda: lower(model, ["layers"]))


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam])
def test_optimiser(kind):
    w = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    inner = kind([w], lr=0.3, **({"momentum": 0.9} if kind is torch.optim.SGD else {}))
    calls = []

    def rounding(name, fl):
        def quant(t):
            calls.append(name)
            return fixed_point_quantize(t, 16, fl, rounding="nearest")
        return quant

    o = OptimLP(inner, rounding("weight", 2), 2.0, rounding("grad", 3), rounding("momentum", 4), rounding("acc", 8))
    scheduler = torch.optim.lr_scheduler.StepLR(o, 1, 0.5)
    for _ in range(3):
        o.zero_grad()
        (w * torch.tensor([0.3, 0.7])).sum().backward()
        o.step()
        scheduler.step()
    assert w.grad.tolist() == [0.625, 1.375]  # 0.6 and 1.4 in steps of 1/8
    assert (w * 4 == (w * 4).round()).all() and inner.param_groups[0]["lr"] == pytest.approx(0.3 / 8)
    acc = o.weight_acc[w]
    assert (acc * 256 == (acc * 256).round()).all() and not torch.equal(acc, w)
    for key in o.momentum_keys:
        state = inner.state[w][key]
        assert (state * 16 == (state * 16).round()).all()
    assert calls[:4] == ["grad", "acc", "weight", "momentum"]
    refuses(NotImplementedError, lambda: o.step(lambda: 0))


def test_refusals():
    for bad in (lambda: ours.FloatingPoint(9, 3), lambda: ours.FixedPoint(0, 1), lambda: ours.BlockFloatingPoint(4, -2),
                lambda: float_quantize(torch.ones(2), 4, 3, "up"), lambda: quantizer(forward_rounding="up"),
                lambda: quantizer(ours.FixedPoint(4, 2, clamp=False), clamping_grad_zero=True),
                lambda: quantizer(4)):
        refuses(AssertionError, bad)
    refuses(TypeError, lambda: float_quantize(torch.ones(2, dtype=torch.float64), 4, 3), "float64")
    refuses(ValueError, lambda: block_quantize(torch.ones(2), 2))
    refuses(ValueError, lambda: fixed_point_quantize(torch.ones(2), -1, 3))
    refuses(ValueError, lambda: quantizer(ours.FloatingPoint(4, 3), clamping_grad_zero=True))
    assert str(ours.FixedPoint(5, 4)) == "FixedPoint (wl=5, fl=4)"


def test_programs_find_it_under_qtorchs_name():
    program = """if True:
        import fpemu.compat.qtorch
        fpemu.compat.qtorch.install()
        import qtorch, torch
        from qtorch import FixedPoint, BlockFloatingPoint, FloatingPoint
        from qtorch.quant import *
        from qtorch.auto_low import sequential_lower
        from qtorch.optim import OptimLP
        assert qtorch.quant.quantizer is quantizer and qtorch.__name__ == "fpemu.compat.qtorch"
        assert float_quantize(torch.tensor([1.3]), exp=4, man=2, rounding="nearest").item() == 1.25
        assert Quantizer(FixedPoint(4, 2))(torch.tensor([0.5])).item() == 0.5
        import sys; sys.modules["qtorch"] = sys
        try:
            fpemu.compat.qtorch.install()
        except ImportError:
            fpemu.compat.qtorch.install(replace=True)
            import qtorch
            assert qtorch.__name__ == "fpemu.compat.qtorch"
        else:
            raise SystemExit("replaced another package without being asked")
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
