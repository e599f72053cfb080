# SPDX-License-Identifier: BSD-2-Clause
"""fpemu.torch.loss_scaler: against torch.amp.GradScaler, and the formulas of the papers in numpy and scipy."""

from __future__ import annotations

import contextlib
import math

import pytest
from same import refuses

torch = pytest.importorskip("torch")

import fpemu.torch as ft  # noqa: E402
import numpy as np  # noqa: E402
from torch import nn  # noqa: E402


def steps(scaler, bad, count):
    """Scales before each step, and which steps were taken, where those in `bad` have an infinite gradient."""
    p = nn.Parameter(torch.zeros(4))
    optimizer = torch.optim.SGD([p], 1.0)
    scales, taken = [], []
    for i in range(count):
        scales.append(scaler.get_scale())
        before = p.detach().clone()
        p.grad = None
        loss = scaler.scale((p * torch.full((4,), 2.0**-3)).sum())
        loss.backward()
        if i in bad:
            p.grad[1] = math.inf if i % 2 else math.nan
        scaler.step(optimizer)
        scaler.update()
        taken.append(not torch.equal(p, before))
        if taken[-1]:
            assert torch.equal(before - p, torch.full((4,), 2.0**-3))  # unscaled
    return scales, taken


@pytest.mark.parametrize("seed", range(4))
def test_backoff_goes_the_way_of_grad_scaler(seed):
    bad = set(np.random.default_rng(seed).choice(200, 40, replace=False).tolist())
    theirs = torch.amp.GradScaler("cpu", init_scale=2.0**16, growth_interval=5)
    ours = ft.loss_scaler("backoff", interval=5)
    found = steps(ours, bad, 200)
    assert found == steps(theirs, bad, 200)
    assert len(set(found[0])) > 5 and not all(found[1]) and ours.skipped == 40


def test_backoff_stays_within_its_ends():
    scaler = ft.loss_scaler("backoff", scale=2.0**23, interval=1)
    assert steps(scaler, set(), 4)[0] == [2.0**23, 2.0**24, 2.0**24, 2.0**24]
    scaler = ft.loss_scaler("backoff", scale=2.0**-23)
    assert steps(scaler, set(range(9)), 4)[0] == [2.0**-23, 2.0**-24, 2.0**-24, 2.0**-24]


def test_fixed_and_none():
    assert steps(ft.loss_scaler("fixed", scale=128.0), {1}, 3) == ([128.0] * 3, [True, False, True])
    p = nn.Parameter(torch.zeros(1))
    scaler, optimizer = ft.loss_scaler("none"), torch.optim.SGD([p], 1.0)
    p.grad = torch.tensor([math.inf])
    scaler.step(optimizer)
    assert not bool(p.isfinite()) and scaler.get_scale() == 1


def test_logmax_follows_kuchaiev():
    rng = np.random.default_rng(1)
    largest = np.exp2(rng.normal(-12, 2, 60))
    scaler = ft.loss_scaler("logmax", max_finite=57344.0)
    p = nn.Parameter(torch.zeros(3))
    optimizer = torch.optim.SGD([p], 0.0)
    xs = []
    for i, top in enumerate(largest):
        p.grad = torch.tensor([0.0, -top, top / 2], dtype=torch.float32) * scaler.get_scale()
        if i == 20:
            p.grad[0] = math.inf
        scaler.step(optimizer)
        scaler.update()
        xs.append(math.log2(57344) if i == 20 else math.log2(np.float32(top)))
        x = np.array(xs)
        n = len(x)
        fast, slow = (0.01 * 0.99 ** np.arange(n)[::-1], 0.001 * 0.999 ** np.arange(n)[::-1])
        mean = (fast * x).sum() / fast.sum()
        spread = math.sqrt(max((slow * x * x).sum() / slow.sum() - ((slow * x).sum() / slow.sum()) ** 2, 0))
        room = math.log2(57344) - mean - 3.09 * spread
        if abs(room - round(room)) > 1e-6:  # the next power of two could be either
            assert scaler.get_scale() == 2.0 ** min(max(math.floor(room), 0), 24), i
    assert scaler.get_scale() > 1 and scaler.skipped == 1


def small(gradient):
    """A layer whose gradient is tiny: a standard deviation of 2^-20, where E5M2 ends at 2^-16."""
    torch.manual_seed(5)
    model = ft.convert(nn.Sequential(nn.Linear(64, 32), nn.Linear(32, 256)), ft.Recipe(gradient=gradient))
    g = torch.randn(512, 256) * 2.0**-20
    return model, torch.randn(512, 64), g


def test_adaptive_lifts_the_gradients_of_layers():
    scipy = pytest.importorskip("scipy.special")
    model, x, g = small("e5m2")
    scaler = ft.loss_scaler("adaptive", model, interval=2)
    optimizer = torch.optim.SGD(model.parameters(), 0.0)
    zeros = []
    for step in range(3):
        with ft.observe(model) as log:
            optimizer.zero_grad()
            scaler.scale((model(x) * g).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        zeros.append({name: s.underflow / s.count for name, _, s in log})
        deviation = g.double().square().mean().sqrt().item()
        bound = 2.0**-16 / (deviation * math.sqrt(2) * scipy.erfinv(1e-3))
        assert scaler.layer_scales()["1"] == 2.0 ** math.floor(math.log2(min(bound, 57344 / g.abs().max().item())))
    assert zeros[0]["1.gradient"] > 0.9 and zeros[1]["1.gradient"] < 2e-3
    # scaled by a power of two, rounded, scaled back: the gradient is that of a format that reaches further down
    scale = scaler.layer_scales()["1"]
    exact = (g * scale).to(torch.float8_e5m2).float() / scale
    weight = model[1].weight.detach()
    x1 = torch.zeros(512, 32, requires_grad=True)
    model[1](x1).backward(g)
    assert torch.allclose(x1.grad, exact @ weight, rtol=1e-4, atol=1e-12)
    scaler.close()
    assert model[1]._fpemu.site.scale is None


def test_overflow_of_a_gradient_is_bad_though_nothing_is_infinite():
    model = ft.convert(nn.Sequential(nn.Linear(4, 4)), ft.Recipe(gradient="e4m3fn:saturate"))
    for scaler, skips in ((ft.loss_scaler("backoff", model, scale=2.0**16), True), (ft.loss_scaler("backoff"), False)):
        optimizer = torch.optim.SGD(model.parameters(), 1e-9)
        for expected in ([2.0**15, 2.0**14] if skips else [2.0**16] * 2):
            optimizer.zero_grad()
            scaler.scale(model(torch.ones(2, 4)).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
            assert scaler.get_scale() == expected
        assert scaler.skipped == (2 if skips else 0)
        scaler.close()


@pytest.mark.parametrize("gradient", ["mxfp8", "mxfp4", "nvfp4", "scaled(e5m2)"])
def test_formats_with_scales_do_not_overflow(gradient):
    """An element past its end, here 1.99 in blocks of 1, 2, 3, is as far past it whatever the loss is multiplied by."""
    x = (torch.arange(3 * 32).reshape(3, 32) % 3 + 1).float() * 1.99
    for kind, expected in (("backoff", 2.0**16), ("logmax", 2.0**24), ("adaptive", 1.0)):
        model = ft.convert(nn.Sequential(nn.Linear(32, 32)), ft.Recipe(gradient=gradient))
        optimizer, scaler = torch.optim.SGD(model.parameters(), 1e-9), ft.loss_scaler(kind, model)
        for bad in (False, False, True):
            optimizer.zero_grad()
            with ft.observe(model) if bad else contextlib.nullcontext():
                scaler.scale((model(x) * x).sum()).backward()
            if bad:
                model[0].bias.grad[0] = math.inf
            scaler.step(optimizer)
            scaler.update()
            if not bad:
                assert scaler.get_scale() == expected and scaler.skipped == 0
                assert set(scaler.layer_scales().values()) <= {1.0}
        assert scaler.skipped == 1
        scaler.close()


def test_state_goes_to_a_dict_and_back():
    model, x, g = small("e5m2")
    optimizer = torch.optim.SGD(model.parameters(), 0.0)
    scaler = ft.loss_scaler("adaptive", model)
    (model(x) * g).sum().backward()
    scaler.step(optimizer)
    scaler.update()
    state, scales = scaler.state_dict(), scaler.layer_scales()
    scaler.close()
    other = ft.loss_scaler("adaptive", model)
    assert other.layer_scales() != scales
    other.load_state_dict(state)
    assert other.layer_scales() == scales
    refuses(ValueError, lambda: ft.loss_scaler("backoff").load_state_dict(state), "'adaptive', not 'backoff'")
    for key in state:
        before = other.state_dict()
        with pytest.raises(ValueError):
            other.load_state_dict({name: value for name, value in {**state, "scale": 4.0}.items() if name != key})
        assert other.state_dict() == before
    first = ft.loss_scaler("backoff", interval=7)
    steps(first, {3, 9}, 20)
    second = ft.loss_scaler("backoff", interval=7)
    second.load_state_dict(first.state_dict())
    assert steps(first, {5}, 20) == steps(second, {5}, 20)


def test_what_makes_no_sense_is_refused():
    for arguments, words in (({"kind": "dynamic"}, "no loss scaler"), ({"kind": "fixed"}, "scale="),
                             ({"kind": "fixed", "scale": 3.0}, "power of two"),
                             ({"kind": "adaptive"}, "takes the model"),
                             ({"kind": "backoff", "scale": 2.0**30}, "between"),
                             ({"kind": "logmax", "scale": 2.0}, "itself"),
                             ({"kind": "logmax", "max_finite": 0}, "max_finite"),
                             ({"kind": "logmax", "max_finite": float("nan")}, "max_finite")):
        refuses(ValueError, lambda: ft.loss_scaler(**arguments), words)
    refuses(ValueError, lambda: ft.loss_scaler("backoff", nn.Linear(2, 2)), "convert")
    scaler = ft.loss_scaler()
    refuses(RuntimeError, lambda: scaler.update())
    optimizer = torch.optim.SGD([nn.Parameter(torch.ones(1))], 0.1)
    scaler.unscale_(optimizer)
    refuses(RuntimeError, lambda: scaler.unscale_(optimizer))


@pytest.mark.parametrize("observed", [False, True])
def test_overflow_in_a_compiled_model_is_seen(observed):
    """E4M3 ends at 448: the gradient 1, times 2^10, overflows, and times 2^8 does not."""
    found = []
    for backend in None, "aot_eager":
        torch._dynamo.reset()
        model = ft.convert(nn.Linear(4, 4), ft.Recipe(gradient="e4m3fn:saturate"))
        call = torch.compile(model, backend=backend) if backend else model
        scaler = ft.loss_scaler("backoff", model, scale=2.0**10)
        optimizer = torch.optim.SGD(model.parameters(), 0.0)
        scales = []
        with ft.observe(model) if observed else contextlib.nullcontext() as log:
            for _ in range(4):
                scaler.scale(call(torch.ones(2, 4)).sum()).backward()
                scaler.step(optimizer)
                scaler.update()
                scales.append(scaler.get_scale())
                if observed:
                    log.step()
        found.append((scales, scaler.skipped))
    assert found == 2 * [([2.0**9, 2.0**8, 2.0**8, 2.0**8], 2)]
