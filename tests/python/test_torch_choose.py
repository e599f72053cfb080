# SPDX-License-Identifier: BSD-2-Clause
"""choose: against every choice there is, with errors that the test computes itself."""

import itertools
import math
import warnings

import pytest
from same import refuses

torch = pytest.importorskip("torch")
import fpemu.torch as ft  # noqa: E402
from torch import nn  # noqa: E402

FORMATS = {"mxfp4": 4.25, "e4m3fn": 8, "bf16": 16, "int8": 8}  # the recipe int8: a scale a row of weights


def network():
    torch.manual_seed(4)
    model = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 8))
    with torch.no_grad():
        model[2].weight *= 8
    return model


def weight_errors(model):
    spec = {"int8": "scaled(int8:symmetric,block=row)"}
    layers = {name: m.weight for name, m in model.named_modules() if isinstance(m, nn.Linear)}
    return {name: {f: (w - ft.quantize(w, spec.get(f, f))).double().square().sum().item() for f in FORMATS}
            for name, w in layers.items()}


def bits(model, name, format):
    weight = model.get_submodule(name).weight
    return (8 + 32 / weight.shape[1] if format == "int8" else FORMATS[format]) * weight.numel()


@pytest.mark.parametrize("most", [4.25, 5, 6.5, 8.6, 12, 16])
def test_no_choice_is_better(most):
    model = network()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    choice = ft.choose(model, list(FORMATS), max_bits=most)
    assert all(torch.equal(before[key], value) for key, value in model.state_dict().items())
    assert type(model[0]) is nn.Linear and model.training
    errors = weight_errors(model)
    total = sum(m.weight.numel() for m in model if isinstance(m, nn.Linear))
    signal = sum(m.weight.double().square().sum().item() for m in model if isinstance(m, nn.Linear))
    best = min(sum(errors[name][f] for name, f in zip(errors, pick)) for pick in itertools.product(FORMATS, repeat=3)
               if sum(bits(model, name, f) for name, f in zip(errors, pick)) <= most * total)
    mine = sum(errors[name][recipe.name] for name, recipe in choice.items())
    assert choice.bits <= most
    assert choice.bits == pytest.approx(sum(bits(model, n, r.name) for n, r in choice.items()) / total)
    assert choice.sqnr == pytest.approx(10 * math.log10(signal / mine))
    assert choice.most_sqnr >= 10 * math.log10(signal / best) - 1e-9  # a bound is a bound
    assert mine <= 1.2 * best
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ft.convert(model, None, choice)
    assert {name: recipe for name, _, recipe in ft.summary(model).converted} == {n: r.name for n, r in choice.items()}


def test_error_of_the_output():
    model, x = network(), torch.randn(16, 32)
    choice = ft.choose(model, ["mxfp4", "e4m3fn"], max_bits=6, by="output", input=x)
    hidden = [x]
    for layer in model:
        hidden.append(layer(hidden[-1]))
    for option in choice.options["2"]:
        w, b = model[2].weight, model[2].bias
        rounded = [ft.quantize(t, option.recipe.name) for t in (hidden[2], w)]
        y = nn.functional.linear(*rounded, b)
        error = (model[4](torch.tanh(y)).double() - hidden[-1].double()).square().sum().item()
        assert option.error == pytest.approx(error, rel=1e-5)
    assert choice.signal == pytest.approx(hidden[-1].double().square().sum().item())
    assert choice.bits <= 6 and len(choice) == 3


def test_what_is_shown():
    choice = ft.choose(network(), ["mxfp4", "bf16"], max_bits=9)
    table = str(choice).splitlines()
    assert [line.split()[0] for line in table[2:5]] == ["0", "2", "4"] and table[1].split()[:4] == [
        "layer", "weights", "mxfp4", "bf16"]
    assert table[-1].startswith(f"{choice.bits:.3f} bits a weight, {choice.sqnr:.2f} dB")


def test_refusals():
    model, x = network(), torch.randn(2, 32)
    refuses(ValueError, lambda: ft.choose(model, [], max_bits=5), "list of recipes")
    refuses(ValueError, lambda: ft.choose(model, ["mxfp4"], max_bits=4), "the fewest bits a weight are 4.25")
    refuses(ValueError, lambda: ft.choose(model, ["mxfp4"], max_bits=5, by="size"), "'sqnr' or 'output'")
    refuses(TypeError, lambda: ft.choose(model, ["mxfp4"], max_bits=5, by="output"), "takes its inputs")
    refuses(TypeError, lambda: ft.choose(model, ["mxfp4"], x, max_bits=5), "takes none")
    refuses(ValueError, lambda: ft.choose(model, [ft.Recipe(norm="bf16")], max_bits=5), "rounds no weights")


def test_layers_with_parametrisations_count():
    model = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(64, 64)), nn.Linear(64, 10))
    assert list(ft.choose(model, ["mxfp4", "mxfp8"], max_bits=6)) == ["0", "1"]
