# SPDX-License-Identifier: BSD-2-Clause
# models.py - models of several files, written and read by Python's safetensors; NumPy's casts judge.
#
#   write DIR     three shards with an index; DIR/plain the same without an index, DIR/one one file
#   read DIR OUT  OUT is DIR rounded to fp16, but for the tensors of one dimension
#   tensors FILE OUT   both hold the same tensors, OUT in several files
import json
import os
import sys

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

INDEX = "model.safetensors.index.json"


def write(directory):
    rng = np.random.default_rng(5)
    shards = {}
    names = ("model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors", "rest.safetensors")
    for s, name in enumerate(names):
        shards[name] = {
            f"layers.{s}.weight": (rng.standard_normal((48, 32)) * 10.0 ** (3 * s - 4)).astype(np.float32),
            f"layers.{s}.norm.weight": (1 + rng.standard_normal(32) / 7).astype(np.float32),
            f"layers.{s}.wide": rng.standard_normal((3, 5)),
            f"layers.{s}.ids": np.arange(s + 1)}
    everything = {k: v for tensors in shards.values() for k, v in tensors.items()}
    for place in (directory, directory + "/plain"):
        os.makedirs(place, exist_ok=True)
        for i, (name, tensors) in enumerate(shards.items()):
            save_file(tensors, place + "/" + name, metadata={"format": "pt", "shard": str(i)})
        with open(place + "/config.json", "w") as f:
            f.write("{}")
    os.makedirs(directory + "/one", exist_ok=True)
    save_file(everything, directory + "/one/model.safetensors", metadata={"format": "pt"})
    index = {"metadata": {"total_size": 1, "origin": "here"},
             "weight_map": {k: name for name, tensors in shards.items() for k in tensors}}
    with open(directory + "/" + INDEX, "w") as f:
        json.dump(index, f, indent=2)


def read(directory, out):
    shards = sorted(f for f in os.listdir(directory) if f.endswith(".safetensors"))
    has_index = os.path.exists(directory + "/" + INDEX)
    assert sorted(os.listdir(out)) == sorted(shards + [INDEX] * has_index), os.listdir(out)
    total = 0
    for name in shards:
        old, new = load_file(directory + "/" + name), load_file(out + "/" + name)
        with safe_open(directory + "/" + name, "np") as a, safe_open(out + "/" + name, "np") as b:
            assert a.metadata() == b.metadata()
        assert set(old) == set(new)
        for k, x in old.items():
            want = x.astype(np.float16).astype(x.dtype) if x.ndim > 1 and x.dtype.kind == "f" else x
            assert want.dtype == new[k].dtype and np.array_equal(want, new[k]), (name, k)
            assert x.ndim < 2 or x.size < 100 or not np.array_equal(x, new[k]), k
            total += new[k].nbytes
    if has_index:
        with open(directory + "/" + INDEX) as a, open(out + "/" + INDEX) as b:
            before, after = json.load(a), json.load(b)
        assert after["weight_map"] == before["weight_map"]
        assert after["metadata"] == {"total_size": total, "origin": "here"}


def tensors(one, out):
    alone, several = load_file(one), {}
    for name in os.listdir(out):
        if name.endswith(".safetensors"):
            several.update(load_file(out + "/" + name))
    assert set(alone) == set(several)
    for k, x in alone.items():
        assert x.dtype == several[k].dtype and x.tobytes() == several[k].tobytes(), k


{"write": write, "read": read, "tensors": tensors}[sys.argv[1]](*sys.argv[2:])
