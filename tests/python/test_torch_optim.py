# SPDX-License-Identifier: BSD-2-Clause
"""fpemu.torch.optimizer: against torch's optimisers with casts of torch and ml_dtypes between the steps."""

from __future__ import annotations

import copy
import pickle
import warnings

import pytest
from models import e5m2
from same import refuses

torch = pytest.importorskip("torch")
ml_dtypes = pytest.importorskip("ml_dtypes")

import fpemu  # noqa: E402
import fpemu.torch as ft  # noqa: E402
import numpy as np  # noqa: E402
from torch import nn  # noqa: E402


def bf16(x):
    return torch.from_numpy(x.detach().numpy().astype(ml_dtypes.bfloat16).astype(np.float32))


def model():
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 4))


def gradients(net, step):
    torch.manual_seed(100 + step)
    for p in net.parameters():
        p.grad = torch.randn_like(p)


OPTIMIZERS = {
    "sgd": lambda ps: torch.optim.SGD(ps, 0.1, momentum=0.9, weight_decay=1e-3),
    "adam": lambda ps: torch.optim.Adam(ps, 1e-2),
    "adamw": lambda ps: torch.optim.AdamW(ps, 1e-2, amsgrad=True),
    "rmsprop": lambda ps: torch.optim.RMSprop(ps, 1e-2, centered=True),
    "adagrad": lambda ps: torch.optim.Adagrad(ps, 1e-2),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_states_are_rounded_after_every_step(name):
    ours, plain = model(), model()
    a = ft.optimizer(OPTIMIZERS[name](ours.parameters()), state="bf16")
    b = OPTIMIZERS[name](plain.parameters())
    for step in range(4):
        for net, optimizer in ((ours, a), (plain, b)):
            gradients(net, step)
            optimizer.step()
        for p in plain.parameters():
            for key, value in b.state[p].items():
                if value.dim():
                    value.copy_(bf16(value))
        for p, q in zip(ours.parameters(), plain.parameters()):
            assert torch.equal(p, q)
            for key, value in a.state[p].items():
                assert torch.equal(value, b.state[q][key]), key
    assert any(t.dim() for t in a.state[next(ours.parameters())].values())


def test_parameters_in_a_format_with_a_master_copy():
    ours, plain = model(), model()
    a = ft.optimizer(torch.optim.SGD(ours.parameters(), 0.01), parameters="e5m2")
    for p, q in zip(ours.parameters(), plain.parameters()):
        assert torch.equal(p, e5m2(q))
    b = torch.optim.SGD(plain.parameters(), 0.01)
    for step in range(5):
        gradients(ours, step)
        gradients(plain, step)
        a.step()
        b.step()
        for p, master, q in zip(ours.parameters(), a.masters(), plain.parameters()):
            assert torch.equal(master, q) and torch.equal(p, e5m2(q))


def test_master_copies_have_their_format_from_the_first():
    ours, plain = model(), model()
    a = ft.optimizer(torch.optim.SGD(ours.parameters(), 0.01), parameters="e5m2", master="bf16")
    late = nn.Parameter(torch.full((3,), 0.3))
    a.inner.add_param_group({"params": [late]})  # past the wrapper: its copy is made in the step
    masters = [bf16(q) for q in plain.parameters()]
    assert any(not torch.equal(m, q) for m, q in zip(masters, plain.parameters()))
    assert all(torch.equal(a, b) for a, b in zip(a.masters(), masters))
    assert all(torch.equal(p, e5m2(m)) for p, m in zip(ours.parameters(), masters))
    late.grad = torch.zeros(3)
    gradients(ours, 0)
    a.step()
    for master, m, p in zip(a.masters(), masters, ours.parameters()):
        assert torch.equal(master, bf16(m - 0.01 * p.grad))
    assert torch.equal(a.masters()[-1], bf16(torch.full((3,), 0.3)))
    some = [nn.Parameter(torch.full((4096,), 1 + 2**-8)) for _ in range(2)]  # a half and a tie of bf16
    b = ft.optimizer(torch.optim.SGD(some, 0.01), parameters="e5m2", master="bf16/sr", seed=4)
    first, second = b.masters()
    assert set(first.tolist()) == {1.0, 1 + 2**-7} and abs(first.mean().item() - 1 - 2**-8) < 2**-12
    assert not torch.equal(first, second) and all(torch.equal(p, torch.ones(4096)) for p in some)


def test_without_a_master_copy_small_updates_vanish_unless_rounded_stochastically():
    moved = {}
    for target in ("bf16", "bf16/sr"):
        p = nn.Parameter(torch.ones(4096))
        optimizer = ft.optimizer(torch.optim.SGD([p], 1e-4), master=target)
        for _ in range(64):
            p.grad = torch.ones_like(p)
            optimizer.step()
        assert torch.equal(p, bf16(p))
        moved[target] = 1 - p.mean().item()
    assert moved["bf16"] == 0 and abs(moved["bf16/sr"] - 64e-4) < 5e-4  # 6 standard deviations are 3.4e-4
    held = nn.Parameter(torch.ones(8))
    bare = ft.optimizer(torch.optim.SGD([held], 1e-4), parameters="bf16", master=None)
    held.grad = torch.ones(8)
    bare.step()
    assert torch.equal(held, torch.ones(8)) and bare.masters()[0] is held


def test_stochastic_states_are_neighbours_and_unbiased_by_tensor_and_step():
    p = nn.Parameter(torch.zeros(20000))
    q = nn.Parameter(torch.zeros(20000))
    optimizer = ft.optimizer(torch.optim.SGD([p, q], 0.0, momentum=0.5), state="e5m2/sr", seed=9)
    held = []
    for _ in range(2):
        p.grad, q.grad = torch.full_like(p, 1.1), torch.full_like(q, 1.1)
        optimizer.state.clear()
        optimizer.step()
        for t in (p, q):
            m = optimizer.state[t]["momentum_buffer"]
            assert set(m.unique().tolist()) == {1.0, 1.25} and abs(m.mean().item() - 1.1) < 0.005
            held.append(m.clone())
    assert all(not torch.equal(held[i], held[j]) for i in range(4) for j in range(i))


def test_groups_lie_along_the_flattened_tensor():
    p = nn.Parameter(torch.zeros(3, 2000))
    optimizer = ft.optimizer(torch.optim.SGD([p], 0.0, momentum=0.9), state="group(int8,2048)")
    g = torch.randn(3, 2000)
    p.grad = g.clone()
    optimizer.step()
    flat, got = g.flatten().numpy(), optimizer.state[p]["momentum_buffer"].flatten().numpy()
    for i in range(0, 6000, 2048):
        block = flat[i:i + 2048]
        delta = np.float32(np.abs(block).max()) / np.float32(127)
        assert np.allclose(got[i:i + 2048], np.rint(block / delta) * delta, atol=1e-6)


def test_states_by_name():
    net = model()
    optimizer = ft.optimizer(torch.optim.Adam(net.parameters(), 1e-3), state={"exp_avg": "e5m2", "*": "bf16"})
    gradients(net, 0)
    optimizer.step()
    for p in net.parameters():
        state = optimizer.state[p]
        assert torch.equal(state["exp_avg"], e5m2(state["exp_avg"]))
        assert torch.equal(state["exp_avg_sq"], bf16(state["exp_avg_sq"]))
        assert not torch.equal(state["exp_avg_sq"], e5m2(state["exp_avg_sq"])) and state["step"] == 1


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("parameters", ["e4m3fn/sr", "hif4"])  # rounding twice to hif4 is not rounding once
def test_a_run_that_is_resumed_gives_the_same_bits(parameters, early):
    def new(loaded=None):
        net = model()
        if loaded:
            net.load_state_dict(loaded)
        return net, ft.optimizer(torch.optim.Adam(net.parameters(), 1e-2), state="e5m2/sr", master="bf16/sr",
                                 parameters=parameters, seed=4)

    net, optimizer = new()
    for step in range(3):
        gradients(net, step)
        optimizer.step()
    saved = copy.deepcopy((net.state_dict(), optimizer.state_dict()))
    other, resumed = new(saved[0] if early else None)
    if not early:
        other.load_state_dict(saved[0])
    resumed.load_state_dict(saved[1])
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), other.parameters()))
    for step in range(3, 6):
        for n, o in ((net, optimizer), (other, resumed)):
            gradients(n, step)
            o.step()
    assert all(torch.equal(a, b) for a, b in zip(net.parameters(), other.parameters()))
    assert all(torch.equal(a, b) for a, b in zip(optimizer.masters(), resumed.masters()))


def test_what_is_written_to_parameters_is_written_to_their_copies():
    p = nn.Parameter(torch.tensor([0.3, 0.7]))
    optimizer = ft.optimizer(torch.optim.SGD([p], 0.0), parameters="e5m2")
    with torch.no_grad():
        p[1] = 9.5  # no number of e5m2
    assert torch.equal(optimizer.masters()[0], torch.tensor([0.3, 9.5]))
    p.grad = torch.zeros(2)
    optimizer.step()
    assert p.tolist() == [0.3125, 10.0] and torch.equal(optimizer.masters()[0], torch.tensor([0.3, 9.5]))
    complex_one = nn.Parameter(torch.zeros(2, dtype=torch.complex64))
    refuses(TypeError, lambda: ft.optimizer(torch.optim.SGD([complex_one], 0.1), "bf16"), "complex")


def test_a_compiled_step_is_that_of_eager_mode():
    nets = model(), model()
    eager, other = (ft.optimizer(torch.optim.Adam(net.parameters()), "bf16", parameters="e5m2") for net in nets)
    compiled = torch.compile(other.step, backend="eager")
    for step in range(3):
        for net in nets:
            gradients(net, step)
        eager.step()
        compiled()
    assert all(torch.equal(a, b) for a, b in zip(eager.masters(), other.masters()))


@pytest.mark.parametrize("way", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))], ids=["deepcopy", "pickle"])
def test_a_copy_goes_on_to_the_same_bits(way):
    net = model()
    optimizer = ft.optimizer(torch.optim.AdamW(net.parameters(), 1e-2), state="e5m2/sr", master="bf16/sr",
                             parameters="e4m3fn/sr", seed=4)
    gradients(net, 0)
    optimizer.step()
    other, copied = way((net, optimizer))
    assert copied.param_groups is copied.inner.param_groups and copied.param_groups[0]["params"][0] is other[0].weight
    for step in range(1, 4):
        for n, o in ((net, optimizer), (other, copied)):
            torch.optim.lr_scheduler.ExponentialLR(o, 0.5).step()
            gradients(n, step)
            o.step()
    for a, b in zip(net.parameters(), other.parameters()):
        assert a is not b and torch.equal(a, b)
        assert torch.equal(optimizer.state[a]["exp_avg"], copied.state[b]["exp_avg"])
    assert all(torch.equal(a, b) for a, b in zip(optimizer.masters(), copied.masters()))
    assert optimizer.param_groups[0]["lr"] == copied.param_groups[0]["lr"] < 1e-2


def test_a_state_that_is_refused_changes_nothing():
    net = model()
    optimizer = ft.optimizer(torch.optim.Adam(net.parameters(), 1e-2), parameters="bf16")
    gradients(net, 0)
    optimizer.step()
    for own in ({"steps": "three"}, {"seed": "four"}, {"seed": -1}):
        state = copy.deepcopy(optimizer.state_dict())
        state["param_groups"][0]["lr"] = 5.0
        state["fpemu"].update(own)
        refuses(ValueError, lambda: optimizer.load_state_dict(state))
        assert optimizer.param_groups[0]["lr"] == 1e-2


def test_checkpoints_of_the_plain_optimiser_load_both_ways():
    net, plain_net = model(), model()
    plain = torch.optim.Adam(plain_net.parameters(), 1e-2)
    gradients(plain_net, 0)
    plain.step()
    ours = ft.optimizer(torch.optim.Adam(net.parameters(), 1e-2), state="bf16", parameters="bf16")
    net.load_state_dict(plain_net.state_dict())
    ours.load_state_dict(plain.state_dict())
    assert all(torch.equal(m, p) for m, p in zip(ours.masters(), plain_net.parameters()))
    plain.load_state_dict({k: v for k, v in ours.state_dict().items() if k != "fpemu"})
    wrong = ours.state_dict()
    wrong["fpemu"]["masters"] = wrong["fpemu"]["masters"][:-1]
    refuses(ValueError, lambda: ours.load_state_dict(wrong), "3 master copies for 4")


def test_schedulers_closures_and_new_groups():
    net = model()
    inner = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    optimizer = ft.optimizer(inner, state="bf16", parameters="bf16")
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)

    def closure():
        optimizer.zero_grad()
        loss = net(torch.ones(2, 8)).square().mean()
        loss.backward()
        return loss

    first = optimizer.step(closure)
    scheduler.step()
    assert inner.param_groups[0]["lr"] == 0.05 and optimizer.step(closure) < first
    extra = nn.Parameter(torch.full((3,), 0.3))
    optimizer.add_param_group({"params": [extra]})
    assert torch.equal(extra, bf16(extra)) and torch.equal(optimizer.masters()[-1], torch.full((3,), 0.3))
    refuses(TypeError, lambda: ft.optimizer(torch.optim.LBFGS(net.parameters())), "LBFGS")
    refuses(TypeError, lambda: ft.optimizer(optimizer))
    refuses(fpemu.SpecError, lambda: ft.optimizer(torch.optim.SGD(net.parameters(), 0.1), state="e4m3fm"))


def test_a_name_that_no_state_has_is_warned_of():
    net = model()
    optimizer = ft.optimizer(torch.optim.Adam(net.parameters()), {"exp_agv": "bf16", "exp_avg_sq": "bf16"})
    net(torch.ones(2, 8)).sum().backward()
    with pytest.warns(UserWarning, match="keeps no exp_agv, .*: it keeps exp_avg, exp_avg_sq, step"):
        optimizer.step()
    plain = ft.optimizer(torch.optim.SGD(net.parameters(), 0.1), {"momentum_buffer": "bf16"})
    with pytest.warns(UserWarning, match="keeps no momentum_buffer, .*: it keeps nothing"):
        plain.step()
    named = ft.optimizer(torch.optim.Adam(net.parameters()), {"exp_avg": "bf16", "*": "fp16"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        named.step()
