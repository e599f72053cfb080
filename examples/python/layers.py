# SPDX-License-Identifier: BSD-2-Clause
"""A model in a safetensors file gets a format for each layer: the narrowest with enough signal to quantisation noise.

A small network learns a function with torch and is saved as `model.safetensors`. Then, by NumPy and safetensors alone:
every tensor is compared in several formats, and the cheapest with so many decibels is taken. `packed.safetensors` has
the real bits, `rounded.safetensors` the same numbers as float32, to be loaded in place of the model. The network's
error is measured with each file.

    python layers.py --db 20 --folder .

Needs torch and safetensors.
"""

import argparse
import json
import pathlib

import fpemu
import numpy as np
import torch
from safetensors import safe_open
from safetensors.numpy import load_file, save_file
from torch import nn

FORMATS = ["mxfp4", "nvfp4", "mxfp6_e2m3", "mxint8", "mxfp8", "bf16"]


def network():
    return nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 128), nn.GELU(), nn.Linear(128, 128), nn.GELU(),
                         nn.Linear(128, 1))


def points(count):
    """Places in a square as sines and cosines, and a hilly function of them."""
    generator = torch.Generator().manual_seed(3)
    place = torch.rand(count, 2, generator=generator)
    waves = torch.randn(2, 32, generator=generator) * 4
    x = torch.cat([torch.sin(place @ waves), torch.cos(place @ waves)], 1)
    y = torch.sin(9 * place[:, :1]) * torch.cos(7 * place[:, 1:]) + place[:, :1] * place[:, 1:]
    return x, y


def make_model(file):
    torch.manual_seed(0)
    model, (x, y) = network(), points(2048)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(300):
        optimizer.zero_grad()
        (model(x) - y).square().mean().backward()
        optimizer.step()
    save_file({name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}, file)


def choose(tables, decibels):
    """A format's spec for each tensor: of those with so many decibels the one of the fewest bits; else fp32."""
    rows = {name: table.cheapest(decibels) for name, table in tables.items()}
    return {name: "fp32" if row is None else row.format.spec for name, row in rows.items()}


def write_packed(tensors, specs, file):
    """The packed bytes of each tensor, and in the metadata what they are; returns how many."""
    packed = {name: fpemu.pack(x, specs[name]) for name, x in tensors.items()}
    facts = {name: {"format": p.format.spec, "shape": p.shape} for name, p in packed.items()}
    save_file({name: p.bytes for name, p in packed.items()}, file, {"fpemu": json.dumps(facts)})
    return sum(p.nbytes for p in packed.values())


def read_packed(file):
    with safe_open(file, "numpy") as content:
        facts = json.loads(content.metadata()["fpemu"])
        return {name: fpemu.Packed(content.get_tensor(name), fact["format"], fact["shape"]).unpack("float32")
                for name, fact in facts.items()}


def error(file):
    """Of the network with the weights of a file: mean square error, relative to the function's own mean square."""
    model, (x, y) = network(), points(2048)
    model.load_state_dict({name: torch.from_numpy(tensor) for name, tensor in load_file(file).items()})
    with torch.no_grad():
        return ((model(x) - y).square().mean() / y.square().mean()).item()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--db", type=float, default=20, help="least signal to quantisation noise ratio of a tensor")
    parser.add_argument("--folder", default=".", help="where the files go")
    options = parser.parse_args()
    folder = pathlib.Path(options.folder)
    make_model(folder / "model.safetensors")
    tensors = load_file(folder / "model.safetensors")

    tables = {name: fpemu.compare(x, FORMATS) for name, x in tensors.items()}
    chosen = choose(tables, options.db)
    print(f"SQNR in dB {'':9}" + "".join(f"{spec:>12}" for spec in FORMATS) + f"   with {options.db:g} dB")
    for name, table in tables.items():
        shape = "x".join(map(str, tensors[name].shape))
        print(f"{name:10} {shape:9}" + "".join(f"{row.sqnr:12.2f}" for row in table) + f"   {chosen[name]}")
    tables["2.weight"].plot(folder / "layers.svg")

    print(f"\n{'file':20} {'packed bytes':>12} {'relative error':>15}")
    size = sum(x.nbytes for x in tensors.values())
    print(f"{'model.safetensors':20} {size:12} {error(folder / 'model.safetensors'):15.2e}")
    plans = {spec: dict.fromkeys(tensors, spec) for spec in ("mxfp4", "mxfp8")}
    plans["rounded"] = chosen
    for plan, specs in plans.items():
        rounded = {name: fpemu.quantize(x, specs[name]) for name, x in tensors.items()}
        save_file(rounded, folder / f"{plan}.safetensors")
        size = write_packed(tensors, specs, folder / "packed.safetensors")
        unpacked = read_packed(folder / "packed.safetensors")
        if not all(np.array_equal(unpacked[name], rounded[name]) for name in tensors):
            raise SystemExit("packed bytes do not give the rounded numbers")
        print(f"{plan + '.safetensors':20} {size:12} {error(folder / f'{plan}.safetensors'):15.2e}")


if __name__ == "__main__":
    main()
