# SPDX-License-Identifier: BSD-2-Clause
"""Tensors on 1, 2 and 4 ranks: the bits of one rank alone, by gloo on this machine."""

import copy
import os
import socket
import traceback

import pytest
from same import refuses

torch = pytest.importorskip("torch")
if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    pytest.skip("no torch.distributed with gloo", allow_module_level=True)

import fpemu  # noqa: E402
import fpemu.torch as ft  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.multiprocessing as mp  # noqa: E402
from fpemu.torch import parallel  # noqa: E402
from torch.distributed.fsdp import fully_shard  # noqa: E402
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor, init_device_mesh  # noqa: E402

STATE = ft.new_state(3, 4, 5)


def drawn(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def each_dimension(mesh):
    """Shards along any dimension, even and uneven, of formats without blocks and with."""
    ranks = mesh.size()
    x = drawn(8, 64, 10)
    for spec, axis, straddles in (("e4m3fn", -1, ()), ("mxfp4", 1, (1,) if ranks > 2 else ()), ("nvfp4", 1, ()),
                                  ("group(int4,4)", 2, (2,)), ("scaled(e4m3fn)", 0, ()), ("s2fp8", 0, ()),
                                  ("e4m3fn/row", 2, (2,))):
        if spec == "e4m3fn/row":
            spec = "group(int8,row)"
        for dim in range(3):
            d = distribute_tensor(x, mesh, [Shard(dim)])
            if dim in straddles and ranks > 1:
                refuses(ValueError, lambda: ft.quantize(d, spec, "sr", state=STATE, axis=axis), "two parts")
                continue
            got = ft.quantize(d, spec, "rne" if spec == "s2fp8" else "sr", state=STATE, axis=axis)
            assert got.placements == (Shard(dim),)
            want = ft.quantize(x, spec, "rne" if spec == "s2fp8" else "sr", state=STATE, axis=axis)
            assert torch.equal(got.full_tensor(), want), (spec, dim)


def gradients(mesh):
    x, g = drawn(6, 10) * 300, drawn(6, 10)
    words = {"state": STATE, "ste": "clipped", "backward": "e5m2", "backward_rounding": "sr"}
    one = x.clone().requires_grad_()
    ft.quantize(one, "e4m3fn", "sr", **words).backward(g)
    many = distribute_tensor(x, mesh, [Shard(1)]).requires_grad_()
    ft.quantize(many, "e4m3fn", "sr", **words).backward(distribute_tensor(g, mesh, [Shard(1)]))
    assert torch.equal(many.grad.full_tensor(), one.grad)


def other_placements(mesh):
    x = drawn(4, 12)
    want = ft.quantize(x, "e4m3fn", "sr", state=STATE)
    assert torch.equal(ft.quantize(distribute_tensor(x, mesh, [Replicate()]), "e4m3fn", "sr", state=STATE).to_local(),
                       want)
    part = DTensor.from_local(x / mesh.size(), mesh, [Partial()])
    got = ft.quantize(part, "e4m3fn", "sr", state=STATE)
    assert got.placements == (Replicate(),) and torch.equal(got.to_local(), want)
    refuses(ValueError, lambda: ft.quantize_(part, "e4m3fn"), "partial")
    d = distribute_tensor(x, mesh, [Shard(0)])
    assert ft.quantize_(d, "e4m3fn", "sr", state=STATE) is d and torch.equal(d.full_tensor(), want)
    if mesh.size() == 4:
        plane = init_device_mesh("cpu", (2, 2))
        both = ft.quantize(distribute_tensor(x, plane, [Shard(0), Shard(1)]), "e4m3fn", "sr", state=STATE)
        assert torch.equal(both.full_tensor(), want)
        twice = ft.quantize(distribute_tensor(x, plane, [Shard(1), Shard(1)]), "e4m3fn", "sr", state=STATE)
        assert torch.equal(twice.full_tensor(), want)


def counters(mesh):
    x = drawn(8, 32) * 100
    stats, want = ft.new_stats(), fpemu.Stats()
    ft.quantize(distribute_tensor(x, mesh, [Shard(0)]), "mxfp4", stats=stats)
    fpemu.quantize(x, "mxfp4", stats=want)
    all_of_them = [torch.empty_like(stats) for _ in range(mesh.size())]
    dist.all_gather(all_of_them, stats)
    total = ft.read_stats(all_of_them[0])
    for part in all_of_them[1:]:
        total += ft.read_stats(part)
    assert total == want


def net():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(6, 7), torch.nn.Tanh(), torch.nn.Linear(7, 3))


def parameters_of_fsdp(mesh):
    """Weights kept in 16 bits by stochastic rounding after each step."""
    alone, sharded = net(), fully_shard(net(), mesh=mesh)
    with torch.no_grad():
        for step in range(2):
            for i, (p, q) in enumerate(zip(alone.parameters(), sharded.parameters())):
                state = ft.new_state(1, 2 * step, 1000 * i)
                for weight in (p, q):
                    weight.mul_(1.0 + 1 / 1024)
                    ft.quantize_(weight, "bf16", "sr", state=state)
        for p, q in zip(alone.parameters(), sharded.parameters()):
            assert isinstance(q, DTensor) and torch.equal(q.full_tensor(), p)


def optimisers_of_fsdp(mesh):
    """The steps of torch's optimiser on copies in float32, which no rounding of the parameters touches."""
    alone, sharded = net(), fully_shard(net(), mesh=mesh)
    plain = torch.optim.Adam(alone.parameters(), 1e-3)
    ours = ft.optimizer(torch.optim.Adam(sharded.parameters(), 1e-3), parameters="bf16")
    x = drawn(4, 6)
    for step in range(3):
        for p, q in zip(alone.parameters(), sharded.parameters()):
            p.grad = drawn(*p.shape) + step
            q.grad = distribute_tensor(p.grad, mesh, q.placements)
        plain.step()
        ours.step()
        for p, q, master in zip(alone.parameters(), sharded.parameters(), ours.masters()):
            assert torch.equal(master.full_tensor(), p) and torch.equal(q.full_tensor(), p.bfloat16().float())
    rounded = net()
    rounded.load_state_dict({key: value.bfloat16().float() for key, value in alone.state_dict().items()})
    assert torch.equal(sharded(x), rounded(x))  # what is gathered are the parameters


def scaled_losses_of_fsdp(mesh):
    """A gradient that is not finite on one rank alone halves the scale, and skips the step, on all: as GradScaler."""
    for bad in (torch.inf, torch.nan):
        weight = torch.nn.Parameter(distribute_tensor(torch.ones(5, 2), mesh, [Shard(0)]))
        optimizer, scaler = torch.optim.SGD([weight], 1.0), ft.loss_scaler("backoff", scale=4.0)
        for last, scale, value in ((bad, 2.0, 1.0), (2.0, 2.0, 0.0)):
            g = torch.full((5, 2), 2.0)
            g[-1, -1] = last
            weight.grad = distribute_tensor(g, mesh, [Shard(0)])
            scaler.step(optimizer)
            scaler.update()
            assert scaler.get_scale() == scale and torch.equal(weight.full_tensor(), torch.full((5, 2), value))


def batches(mesh):
    """Activations and their gradients, where each rank has a part of the batch."""
    x, g = drawn(8, 5), drawn(8, 5) * 3
    whole, part = (ft.Quantizer("e4m3fn", "e5m2", "sr", seed=2) for _ in range(2))
    parallel.split_batch(torch.nn.Sequential(part))
    rows = slice(mesh.get_rank() * 8 // mesh.size(), (mesh.get_rank() + 1) * 8 // mesh.size())
    for _ in range(2):
        one, mine = x.clone().requires_grad_(), x[rows].clone().requires_grad_()
        want, got = whole(one), part(mine)
        want.backward(g)
        got.backward(g[rows])
        assert torch.equal(got, want[rows]) and torch.equal(mine.grad, one.grad[rows])


class Net(torch.nn.Module):
    """A layer of each kind whose results do not depend on how many rows torch multiplies at once."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.conv = torch.nn.Conv2d(2, 4, 3, padding=1)
        self.norm = torch.nn.LayerNorm(16)
        self.rms = torch.nn.RMSNorm(16)
        self.attention = torch.nn.MultiheadAttention(16, 2, batch_first=True)
        self.dot = ft.DotProductAttention()
        self.linear = torch.nn.Linear(16, 8)

    def forward(self, x):
        x = self.norm(self.conv(x).flatten(2))
        x = self.attention(x, x, x, need_weights=False)[0]
        x = self.dot(self.rms(x), x, x)
        return self.linear(x)


def recipe_of(operands, accumulator="fp32"):
    return ft.Recipe(input=operands, weight=operands, gradient="e5m2/sr", norm="bf16/sr", softmax="bf16/sr",
                     forward=ft.Product(accumulator=accumulator, result="bf16/sr"),
                     data_gradient=ft.Product(accumulator=accumulator, result="bf16/sr"),
                     weight_gradient=ft.Product(accumulator=accumulator, result="bf16/sr"))


def converted_models(mesh):
    """Forward passes and the gradients of inputs: each slot of each layer, alone and under FSDP2."""
    x, g = drawn(8, 2, 4, 4), drawn(8, 4, 8)
    rank, n = mesh.get_rank(), 8 // mesh.size()
    rows = slice(rank * n, (rank + 1) * n)
    for recipe in (recipe_of("e4m3fn/sr"), recipe_of("group(int8,4)/sr"),
                   recipe_of("nvfp4/sr").replace(gradient="scaled(e5m2)")):  # scales of the whole batch
        if not recipe.input.startswith("e4m3fn"):  # blocks along the rows are those of the gradients of weights
            recipe = recipe.replace(weight_gradient=ft.Product(left="e5m2/sr", right="bf16/sr", result="bf16/sr"))
        whole, part, sharded = (ft.convert(Net(), recipe, seed=5) for _ in range(3))
        fully_shard(sharded, mesh=mesh)
        part = copy.deepcopy(parallel.split_batch(part, mesh.get_group()))
        parallel.split_batch(sharded)
        for _ in range(2):
            one = x.clone().requires_grad_()
            want = whole(one)
            want.backward(g)
            for model in (part, sharded):
                mine = x[rows].clone().requires_grad_()
                got = model(mine)
                got.backward(g[rows])
                assert torch.equal(got, want[rows]) and torch.equal(mine.grad, one.grad[rows])


def other_converted_layers(mesh):
    """Layers one by one: a table of embeddings, transposed convolution, batch normalisation; gradients of weights whose
    operands are rounded for them alone have the sum of the parts."""
    rank, ranks = mesh.get_rank(), mesh.size()
    rows = slice(rank * 8 // ranks, (rank + 1) * 8 // ranks)
    again = ft.Recipe(input="e4m3fn", weight="e4m3fn", gradient="e5m2/sr",
                      weight_gradient=ft.Product(left="int8/sr", right="int4/sr"))
    tokens = torch.randint(0, 10, (8, 3), generator=torch.Generator().manual_seed(1))
    quarters = (drawn(8, 3, 6, 6) * 16).round() / 4
    for make, x, recipe in (
            (lambda: torch.nn.Linear(6, 4), quarters, again),
            (lambda: torch.nn.Conv2d(3, 4, 3), quarters, again),
            (lambda: torch.nn.ConvTranspose2d(3, 4, 3), quarters, again),
            (lambda: torch.nn.BatchNorm2d(3).eval(), quarters, ft.Recipe(norm="bf16/sr", gradient="e5m2/sr")),
            (lambda: torch.nn.Embedding(10, 4), tokens, ft.Recipe(embedding="e4m3fn", gradient="int8/sr"))):
        whole, part = (ft.convert(make().double(), recipe, seed=6) for _ in range(2))
        parallel.split_batch(part)
        part.load_state_dict(whole.state_dict())
        one, mine = (t if t.dtype == torch.int64 else t.double().requires_grad_() for t in (x, x[rows].clone()))
        want, got = whole(one), part(mine)
        assert torch.equal(got, want[rows])
        g = (drawn(*want.shape) * 20).double()
        want.backward(g)
        got.backward(g[rows])
        assert one.grad is None or torch.equal(mine.grad, one.grad[rows])
        if not isinstance(whole, torch.nn.BatchNorm2d):  # of whole numbers: sums are exact in any order
            dist.all_reduce(part.weight.grad)
            assert torch.equal(part.weight.grad, whole.weight.grad)


def refusals(mesh):
    several = mesh.size() > 1
    linear = torch.nn.Linear(32, 32)
    net = torch.nn.Sequential(torch.nn.Linear(32, 32), ft.Quantizer("e4m3fn"))

    def refused(model, recipe, match, **how):
        model = ft.convert(model, recipe)
        if not several:
            parallel.split_batch(model, **how)
            return
        refuses(ValueError, lambda: parallel.split_batch(model, **how), match)

    refused(net, ft.Recipe(forward=ft.Product(accumulator="seq(bf16/sr)")), "0: the random bits of sums")
    assert net[1].batch_part is None or not several
    refused(linear, "e4m3fn/sr", "dimension 0, not 1", dim=1)
    refused(linear, "scaled(e4m3fn)", "dimension 0, not 1", dim=1)
    refused(torch.nn.MultiheadAttention(8, 2), "e4m3fn/sr", "batch_first")
    refused(torch.nn.LSTM(8, 2), "e4m3fn/sr", "its functions take is not known")
    parallel.split_batch(ft.convert(torch.nn.MultiheadAttention(8, 2), "e4m3fn"))  # the same bits wherever it lies
    for module, x in ((torch.nn.Linear(4, 4), (drawn(4),)), (torch.nn.Conv1d(2, 2, 1), (drawn(2, 4),)),
                      (torch.nn.LayerNorm((2, 4)), (drawn(2, 4),)), (torch.nn.RMSNorm(4), (drawn(4),)),
                      (torch.nn.MultiheadAttention(8, 2, batch_first=True), (drawn(3, 8),) * 3),
                      (ft.DotProductAttention(), (drawn(2, 3, 8), drawn(3, 8), drawn(3, 8)))):
        parallel.split_batch(ft.convert(module, ft.Recipe(input="bf16/sr", weight="bf16/sr", norm="bf16/sr")))
        if several:
            refuses(ValueError, lambda: module(*x), "takes the batch in dimension 0")
        else:
            module(*x)
    cut = parallel.split_batch(ft.convert(torch.nn.Linear(32, 32), "mxfp8"))
    loss = cut(drawn(16, 32)).sum()  # blocks of 32 rows in the gradient of the weight
    if several:
        refuses(ValueError, lambda: loss.backward(), "two parts")
    else:
        loss.backward()


CHECKS = (each_dimension, gradients, other_placements, counters, parameters_of_fsdp, optimisers_of_fsdp,
          scaled_losses_of_fsdp, batches, converted_models, other_converted_layers, refusals)


def work(rank, ranks, port, failures):
    try:
        torch.set_num_threads(1)
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        dist.init_process_group("gloo", rank=rank, world_size=ranks)
        mesh = init_device_mesh("cpu", (ranks,))
        for check in CHECKS:
            check(mesh)
        dist.destroy_process_group()
    except BaseException:
        failures.put(f"rank {rank} of {ranks}: {traceback.format_exc()}")
        os._exit(1)  # the others must not wait for this rank


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ranks(ranks):
    failures = mp.get_context("fork").SimpleQueue()
    processes = mp.start_processes(work, (ranks, free_port(), failures), nprocs=ranks, join=False, start_method="fork")
    try:
        while not processes.join(timeout=120):
            pass
    except Exception as error:
        pytest.fail(failures.get() if not failures.empty() else str(error))
    assert failures.empty()


def test_ranges_of_parts_are_that_of_the_whole():
    x = drawn(1000) * 100
    x[5], x[700] = torch.inf, 0
    for spec in ("nvfp4", "s2fp8"):
        parts = [fpemu.measure(part, spec) for part in (*x.split(300), x[:0], torch.zeros(0))]
        assert parallel.merge_ranges(parts) == fpemu.measure(x, spec)
    small = x / 1e6
    assert parallel.merge_ranges([fpemu.measure(small[10:500], "s2fp8"), fpemu.measure(small[500:600], "s2fp8")]) == \
        fpemu.measure(small[10:600], "s2fp8")
