#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Files that Python's safetensors and NumPy wrote, rounded, and read back by them; the casts of ml_dtypes judge.
. "$(dirname "$0")/common.sh"
python3 -c 'import ml_dtypes, numpy, safetensors.numpy' >/dev/null 2>&1 \
    || { echo 'skipped: no Python 3 with numpy, safetensors and ml_dtypes'; exit 77; }

cat >frameworks.py <<'EOF2'
import sys
import ml_dtypes
import numpy as np
for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float8_e4m3fnuz", "float8_e5m2fnuz"):
    if not hasattr(np, name):
        setattr(np, name, getattr(ml_dtypes, name))  # safetensors looks for them there
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

rng = np.random.default_rng(1)
def make(shape, dtype, scale=1):
    return (rng.standard_normal(shape) * scale).astype(dtype)
tensors = {
    "layers.0.weight": make((64, 96), np.float32), "layers.0.bias": make(96, ml_dtypes.bfloat16),
    "layers.1.weight": make((64, 96), np.float16, 0.01), "f8": make(33, ml_dtypes.float8_e4m3fn),
    "f8b": make((33, 3), ml_dtypes.float8_e5m2), "fnuz": make((2, 2, 2), ml_dtypes.float8_e4m3fnuz),
    "wide": make((7, 3), np.float64), "ids": np.arange(12).reshape(3, 4), "flag": np.array([True, False]),
    "empty": np.zeros((0, 5), np.float32), "scalar": np.array(3.25, np.float32),
    "special": np.array([np.inf, -np.inf, np.nan, -0.0, 1e38, 1e-45], np.float32)}
arrays = {k: v for k, v in tensors.items() if v.dtype.name in ("float16", "float32", "float64", "int64", "bool")}
casts = {"bf16": ml_dtypes.bfloat16, "e4m3fn": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2,
         "fp16": np.float16, "e4m3fnuz": ml_dtypes.float8_e4m3fnuz}

def check(spec, old, new):
    assert set(old) == set(new)
    for name in old:
        x, y = old[name], new[name]
        assert x.shape == y.shape, name
        if x.dtype.name in ("int64", "bool"):
            assert x.dtype == y.dtype and np.array_equal(x, y), name
            continue
        with np.errstate(all="ignore"):
            want = x.astype(np.float64 if x.dtype == np.float64 else np.float32).astype(casts[spec]).astype(np.float64)
        assert np.array_equal(want, y.astype(np.float64), equal_nan=True), (spec, name, want, y)
        assert y.dtype in (x.dtype, np.float32), (name, y.dtype)

if sys.argv[1] == "write":
    save_file(tensors, "in.safetensors", metadata={"format": "np", "k": "v"})
    np.savez("stored.npz", **arrays)
    np.savez_compressed("deflated.npz", **arrays)
else:
    spec = sys.argv[1]
    for name in ("out", "unpacked"):
        check(spec, load_file("in.safetensors"), load_file(name + ".safetensors"))
        assert safe_open(name + ".safetensors", "np").metadata() == {"format": "np", "k": "v"}
    for name in ("stored", "deflated"):
        check(spec, np.load(name + ".npz"), np.load(name + "-out.npz"))
EOF2
python3 frameworks.py write || failed 'no files'
# told ARGUMENT...: silent but for the tensor `special`, in which a number overflows.
told() {
    "$FPEMU" "$@" >out 2>err && [ ! -s out ] && ! grep -v "'special': 1 of 6 elements became NaN or infinite" err ||
        failed "$*: $(cat out err)"
}
for spec in bf16 e4m3fn e5m2 fp16 e4m3fnuz; do
    told quantize $spec in.safetensors -o out.safetensors
    told pack $spec in.safetensors -o packed.fpk
    gives '' unpack packed.fpk -o unpacked.safetensors
    told quantize $spec stored.npz -o stored-out.npz
    told quantize $spec deflated.npz -o deflated-out.npz
    python3 frameworks.py $spec || failed "$spec"
done

finish
