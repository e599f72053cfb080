# SPDX-License-Identifier: BSD-2-Clause
"""fpemu.torch.observe: its counts against numpy's and ml_dtypes', and the files it writes."""

from __future__ import annotations

import functools
import json
import os
import subprocess
from fractions import Fraction

import pytest
from same import refuses

torch = pytest.importorskip("torch")
ml_dtypes = pytest.importorskip("ml_dtypes")

import fpemu  # noqa: E402
import fpemu.torch as ft  # noqa: E402
import numpy as np  # noqa: E402
from torch import nn  # noqa: E402
from torch.utils.checkpoint import checkpoint  # noqa: E402


def counts(x, dtype, largest, smallest_normal):
    """What a cast counts, by ml_dtypes' cast of what is not past the end."""
    x = x.detach().double().numpy()
    finite = np.isfinite(x)
    inside = np.clip(np.where(finite, x, 0), -largest, largest)
    y = inside.astype(dtype).astype(np.float64)
    half = largest + (largest - np.float64(np.nextafter(dtype(largest), dtype(0)))) / 2
    return {"count": x.size, "nan": int(np.isnan(x).sum()), "infinite": int(np.isinf(x).sum()),
            "clipped": int((finite & (np.abs(x) > largest)).sum()),
            "overflow": int((finite & (np.abs(x) > half)).sum()),
            "underflow": int((finite & (x != 0) & (y == 0)).sum()),
            "subnormal": int(((y != 0) & (np.abs(y) < smallest_normal)).sum()),
            "inexact": int((finite & (x != np.where(np.abs(x) > largest, np.sign(x) * largest, y))).sum())}


def as_dict(found, keys):
    return {key: getattr(found, key) for key in keys}


def wide(*shape):
    """Magnitudes from 2^-20 to 2^20, some zeros."""
    x = torch.randn(*shape) * 2.0 ** torch.randint(-20, 20, shape)
    return torch.where(torch.rand(shape) < 0.05, torch.zeros(()), x)


@pytest.fixture
def layer():
    torch.manual_seed(11)
    module = nn.Sequential(nn.Linear(24, 16))
    with torch.no_grad():
        module[0].weight.copy_(wide(16, 24))
        module[0].bias.copy_(wide(16))
    return ft.convert(module, ft.recipe("fp8").replace(gradient="e5m2:saturate", bias="e4m3fn:saturate"))


def test_counts_are_numpy_s(layer):
    x, g = wide(32, 24), wide(32, 16)
    with ft.observe(layer, histogram=(-12, 12), sums=True) as log:
        layer(x).backward(g)
    totals = log.totals
    assert set(totals) == {("0.input", "v"), ("0.weight", "w"), ("0.bias", "w"), ("0.gradient", "dv")}
    e4m3 = (ml_dtypes.float8_e4m3fn, 448.0, 2.0**-6)
    e5m2 = (ml_dtypes.float8_e5m2, 57344.0, 2.0**-14)
    for name, tensor, how in (("input", x, e4m3), ("weight", layer[0].weight, e4m3), ("bias", layer[0].bias, e4m3),
                              ("gradient", g, e5m2)):
        found = next(s for key, s in totals.items() if key[0] == f"0.{name}")
        exact = counts(tensor, *how)
        assert as_dict(found, exact) == exact, name
        assert exact["count"] > exact["underflow"] > 0 or name == "bias"
        values = tensor.detach().numpy().ravel()
        exponents = np.clip(np.frexp(values[values != 0])[1] - 1, -13, 13) + 13
        assert found.histogram.tolist() == np.bincount(exponents, minlength=27).tolist()
        assert found.max_abs == np.abs(values).max() and np.isfinite(found.sqnr)
    lines = str(log).splitlines()
    assert lines[1].startswith("0.input") and [line.split()[:3] for line in lines[-3:]] == [
        ["all", "v", str(32 * 24)], ["all", "w", str(16 * 25)], ["all", "dv", str(32 * 16)]]
    assert lines[0].split()[-1] == "SQNR-dB" and lines[1].split()[-1] == f"{totals['0.input', 'v'].sqnr:.2f}"
    numbers = torch.cat([layer[0].weight.flatten(), layer[0].bias]).detach().double()
    noise = numbers.clamp(-448, 448).to(torch.float8_e4m3fn).double() - numbers
    ratio = 10 * np.log10(float(numbers.square().sum() / noise.square().sum()))
    assert abs(float(lines[-2].split()[-1]) - ratio) < 0.01


def test_every_step_has_a_line_and_nothing_is_lost_between(layer):
    with ft.observe(layer, every=2) as log:
        for step in range(5):
            layer(wide(8 + step, 24))
            log.step(torch.tensor(0.5 * step), lr=0.1, skipped=step == 3, epoch=1)
        layer(wide(3, 24))
    lines = log.lines
    assert [line["step"] for line in lines] == [1, 2, 3, 4, 5]
    assert [line["loss"] for line in lines] == [0, 0.5, 1, 1.5, 2]
    assert lines[-1]["skipped_so_far"] == 1 and "tensors" not in lines[1]
    kept = [line["tensors"] for line in lines if "tensors" in line]
    inputs = [next(t["count"] for t in tensors if t["name"] == "0.input") for tensors in kept]
    assert inputs == [8 * 24, (9 + 10) * 24, (11 + 12) * 24]
    assert log.totals["0.input", "v"].count == sum(inputs) + 3 * 24
    assert layer[0]._fpemu.site.counters is None
    layer(wide(3, 24))
    assert log.totals["0.input", "v"].count == sum(inputs) + 3 * 24  # the block has ended


def test_attention_norms_and_accumulators_have_their_names():
    recipe = ft.recipe("fp8").replace(norm="bf16", softmax="bf16", weight_gradient=ft.Product(
        accumulator="chunk(8,fp(6,9,0))", result="bf16"))
    model = ft.convert(nn.TransformerEncoderLayer(16, 2, 32, batch_first=True), recipe)
    with ft.observe(model) as log:
        model(torch.randn(2, 6, 16)).sum().backward()
    names = {name: role for name, role, _ in log}
    assert names["self_attn.in_proj.weight"] == "w" and names["self_attn.scores.gradient"] == "dv"
    assert names["self_attn.softmax.output"] == "v" and names["norm1.bias"] == "w"
    assert names["linear1.weight gradient"] == "dw" and names["linear1.weight gradient sums"] == "sum"
    totals = log.totals
    assert totals["self_attn.softmax.output", "v"].count == 2 * 2 * 6 * 6
    assert totals["linear1.weight gradient", "dw"].count == 16 * 32
    assert totals["linear1.weight gradient sums", "sum"].count == 16 * 32 * (12 + 2)  # 12 sums and the ends of 2 chunks


def test_compiled_models_count_alike():
    torch.manual_seed(0)
    x = wide(8, 24)
    totals = []
    for compiled in (False, True):
        torch.manual_seed(1)
        model = ft.convert(nn.Sequential(nn.Linear(24, 16), nn.ReLU(), nn.Linear(16, 4)), "mxfp4")
        call = torch.compile(model, backend="aot_eager", fullgraph=True) if compiled else model
        with ft.observe(model, histogram=(-20, 20)) as log:
            for _ in range(2):
                call(x).square().sum().backward()
                log.step()
        totals.append(log.totals)
    assert totals[0] == totals[1] and totals[0]["0.input", "v"].count == 2 * 8 * 24


def test_what_a_checkpoint_computes_again_counts_once():
    recipe = ft.recipe("mxfp8").replace(norm="bf16", forward=ft.Product(accumulator="chunk(32,fp32)"))
    model = ft.convert(nn.Sequential(nn.Linear(32, 32), nn.LayerNorm(32), nn.Linear(32, 32)), recipe)
    x, found = torch.randn(4, 32, requires_grad=True), []

    def block(x):
        return torch.softmax(model(x) @ model(x).mT, -1)

    for around in (lambda f, x: f(x), *(functools.partial(checkpoint, use_reentrant=way) for way in (False, True)),
                   lambda f, x: checkpoint(lambda x: checkpoint(f, x, use_reentrant=False), x, use_reentrant=False)):
        for mode in (ft.everywhere("mxfp8"), ft.everywhere(None)):
            with ft.observe(model) as log, mode:
                around(block, x).square().sum().backward()
            found.append({name.partition(":")[0]: stats.count for name, _, stats in log})
    assert len(found[0]) > len(found[1]) > 15 and found == found[:2] * 4


def test_it_is_refused_where_it_makes_no_sense(layer):
    refuses(ValueError, lambda: ft.observe(nn.Linear(2, 2)).__enter__(), "convert it first")
    with ft.observe(layer):
        refuses(RuntimeError, lambda: ft.observe(layer).__enter__(), "already")
    with ft.observe(layer) as log:
        pass
    refuses(ValueError, lambda: log.write_fptrain("nowhere"), "no steps")
    assert not os.path.exists("nowhere")


def trained(layer):
    with ft.observe(layer, histogram=(-30, 16)) as log:
        for step in range(3):
            layer(wide(8, 24)).sum().backward()
            log.step(1.0 / (step + 1) if step else float("inf"), lr=0.1, scale=8.0)
    return log


def test_numbers_of_numpy_and_tensors_are_numbers(layer):
    with ft.observe(layer) as log:
        layer(wide(8, 24))
        accuracy = torch.tensor(0.75)
        log.step(np.float32(2.5), lr=np.float64(0.5), accuracy=accuracy, seen=np.int64(3))
        accuracy += 1  # a mean that goes on
        layer(wide(8, 24))
        log.step(np.float32("nan"))
    assert [log.lines[0][key] for key in ("loss", "lr", "accuracy", "seen")] == [2.5, 0.5, 0.75, 3]
    assert log.lines[1]["loss"] == "nan"


def test_a_step_takes_numbers_alone(layer):
    with ft.observe(layer) as log:
        layer(wide(8, 24))
        for name in "loss", "lr", "scale", "epoch", "accuracy":
            for value in (torch.ones(2), torch.ones(0), np.ones(2)):
                refuses(ValueError, lambda: log.step(**{name: value}), f"^{name} is a number or .*, not of the shape")
            for value in ("a", "1", [1.0], 1j, torch.tensor(1j), np.array("a")):
                with pytest.raises(TypeError, match=f"^{name} is a number or a tensor of one element, not "):
                    log.step(**{name: value})
        assert log.lines == []
        log.step(torch.ones(1, 1), scale=np.ones(1), best=True, worst=torch.tensor(False), part=Fraction(1, 4),
                 none=None)
        log.step(torch.zeros((), device="meta"))  # whose number cannot be read: a step does not
        log._lines.pop()
    line = log.lines[0]
    assert [(line[k], type(line[k])) for k in ("loss", "scale", "best", "worst", "part")] == \
        [(1.0, float), (1.0, float), (1, int), (0, int), (0.25, float)]
    assert line["step"] == 1 and "none" not in line and line["tensors"]


def test_histograms(layer):
    line = trained(layer).lines[0]
    assert line["loss"] == "inf"
    weight = next(t for t in line["tensors"] if t["name"] == "0.weight")
    histogram = weight["histogram"]
    assert sum(histogram["counts"]) + histogram["zeros"] == weight["count"] == 16 * 24
    assert histogram["first"] == np.frexp(float(np.float32(weight["min_abs"])))[1] - 1


def test_fptrain_s_folder_of_a_run(layer, tmp_path):
    log = trained(layer)
    log.write_fptrain(tmp_path / "run")
    lines = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [1, 2, 3] and lines[2]["scale"] == 8.0
    assert "dv = e5m2:saturate" in (tmp_path / "run" / "settings.ini").read_text()
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    for name in ("checkpoint.safetensors", "best.safetensors", *before):  # any of them makes a run: fptrain(1)
        folder = tmp_path / f"with {name}"
        folder.mkdir()
        (folder / name).write_text("of a run")
        (folder / "notes").write_text("mine")
        with pytest.raises(FileExistsError, match="force=True") as caught:
            log.write_fptrain(folder)
        assert caught.value.filename == str(folder / name) and (folder / name).read_text() == "of a run"
        assert len(os.listdir(folder)) == 2
        log.write_fptrain(folder, force=True)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before | {"notes": b"mine"}
    program = os.environ.get("FPTRAIN")
    if not program:
        pytest.skip("FPTRAIN does not name the program")
    subprocess.run([program, "report", tmp_path / "run", "--tables", tmp_path / "tables.md", "--tensors", "*.gradient"],
                   check=True)
    share = 100 * log.totals["0.gradient", "dv"].underflow / log.totals["0.gradient", "dv"].count
    assert f"| 0.gradient | {share:.3g} |" in (tmp_path / "tables.md").read_text()
    assert isinstance(log.totals["0.gradient", "dv"], fpemu.Stats)
