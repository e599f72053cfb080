#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Packed tensors as other software keeps them in safetensors: what it reads, and fpemu again, is what quantize gives.
. "$(dirname "$0")/common.sh"
here=$(dirname "$0")
case $here in /*) ;; *) here=$OLDPWD/$here ;; esac

# A tensor that is taken in several pieces, and one in binary64: back to what quantize gives
python3 -c pass 2>/dev/null || { echo 'not all: no Python 3'; finish; }
python3 - <<'END' || failed 'no file'
import random, struct
random.seed(1)
big = struct.pack("<600064f", *(random.gauss(0, 1) * 2.0 ** random.randint(-30, 9) for _ in range(600064)))
wide = struct.pack("<64d", *(random.gauss(0, 1) for _ in range(64)))
header = b'{"m.big":{"dtype":"F32","shape":[293,2048],"data_offsets":[0,2400256]},' \
         b'"m.wide":{"dtype":"F64","shape":[2,32],"data_offsets":[2400256,2400768]}}'
header += b" " * (-len(header) % 8)
open("in.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + big + wide)
END
while read -r software spec; do
    some='--tensors m.big' # whose values are F32, if computed from F32
    [ "${spec#mx}" = "$spec" ] || some='--tensors m.*'
    gives '' quantize "$spec" in.safetensors -o wanted.safetensors --dtype F32 $some
    gives '' pack "$spec" in.safetensors -o out.safetensors --layout "$software" $some
    gives '' unpack out.safetensors -o back.safetensors
    same back.safetensors wanted.safetensors
done <<'END'
torchao mxfp8
torchao nvfp4
compressed-tensors nvfp4
ModelOpt nvfp4
ModelOpt group(e4m3fn,tensor)
DeepSeek group(e4m3fn,128x128)
compressed-tensors group(e4m3fn,row)
compressed-tensors group(int8,tensor,rule=asymmetric)
compressed-tensors group(int4,32,rule=asymmetric)
gpt-oss mxfp4
END
"$FPEMU" unpack --list out.safetensors >table || failed 'unpack --list'
holds "$(tr -s ' ' <table | sed -n 's/^m.big F32 293x2048 [0-9]* //p')" = 'mxfp4, as gpt-oss'
"$FPEMU" compare out.safetensors fp32 bf16 --json >json || failed compare
python_checks json 't = j["tensors"]
assert t[0]["name"] == "m.big" and {a["dtype"] for a in t} == {"mxfp4"}, t'
gives '' quantize mxfp4 out.safetensors -o /dev/null --axis 0

# Parts that do not belong together are refused
python3 - <<'END' || failed 'no file'
import json, struct
def put(name, *tensors):
    header, data = {}, b""
    for key, dtype, shape, size in tensors:
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + size]}
        data += bytes(size)
    text = json.dumps(header).encode()
    open(name, "wb").write(struct.pack("<Q", len(text)) + text + data)
put("global.safetensors", ("w_packed", "U8", [2, 16], 32), ("w_scale", "F8_E4M3", [2, 2], 4))
put("twice.safetensors", ("w_packed", "U8", [2, 16], 32), ("w_scale", "U8", [2, 1], 2), ("w", "F32", [1], 4))
put("packed.safetensors", ("m.big_packed", "F32", [1], 4))
put("odd.safetensors", ("m.w", "F32", [2, 48], 384))
put("nameless.safetensors", ("", "F32", [1, 32], 128))
put("dot.safetensors", ("m.", "F32", [1, 32], 128))
put("gptq.safetensors", ("l.qweight", "I32", [8, 16], 512), ("l.qzeros", "I32", [2, 2], 16),
    ("l.scales", "F16", [2, 16], 64), ("l.g_idx", "I32", [64], 256))
put("names.safetensors", ("m.a", "F32", [1, 32], 128), ("m.a_scales", "U8", [3], 3), ("b", "F32", [32], 128))
END
for name in global twice; do
    fails 1 'files.md has those that are; 2 tensors are such' unpack --list $name.safetensors
    fails 1 'no file of packed tensors' unpack $name.safetensors -o no.safetensors --as-numbers
done

printf '{' >config.json
fails 1 'GPTQ, the nearest, has a config.json beside it that is JSON' unpack gptq.safetensors -o no.safetensors
rm config.json
gives '' unpack gptq.safetensors -o out.safetensors

# A directory of files, in each of which parts are put together; formats that differ from tensor to tensor
mkdir model mixed
gives '' pack mxfp4 in.safetensors -o model/a.safetensors --layout gpt-oss
sed 's/"m\.\(big\|wide\)"/"n.\1"/g' in.safetensors >other.safetensors
gives '' pack mxfp8 other.safetensors -o model/b.safetensors --layout compressed-tensors
gives '' quantize fp32 model -o plain
gives '' quantize mxfp4 in.safetensors -o plain-a.safetensors --dtype F32
gives '' quantize mxfp8 other.safetensors -o plain-b.safetensors --dtype F32
same plain/a.safetensors plain-a.safetensors
same plain/b.safetensors plain-b.safetensors
"$FPEMU" info model >table || failed info
holds "$(tr -s ' ' <table | sed -n 's/^m.wide //p')" = 'mxfp4 2x32 34 a.safetensors, as gpt-oss'
gives '' pack mxfp4 in.safetensors -o mixed.safetensors --layout compressed-tensors --map 'm.wide=mxfp8' --config c.json
gives '' quantize mxfp4 in.safetensors -o wanted.safetensors --map 'm.wide=mxfp8' --dtype F32
gives '' unpack mixed.safetensors -o back.safetensors
same back.safetensors wanted.safetensors
python_checks c.json 'c = j["quantization_config"]
assert c["format"] == "mixed-precision" and len(c["config_groups"]) == 2, c
assert {g["weights"]["num_bits"] for g in c["config_groups"].values()} == {4, 8}, c'
rm c.json

# A directory is kept so too, its index naming what lies in the files then
cp other.safetensors model/b.safetensors
cp in.safetensors model/a.safetensors
cat >names.py <<'END'
import json, struct
def names(directory):
    told, bytes = {}, 0
    for part in "b.safetensors", "a.safetensors":
        with open(directory + "/" + part, "rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        header.pop("__metadata__", None)
        told.update({name: part for name in header})
        bytes += max(t["data_offsets"][1] for t in header.values())
    return told, bytes
END
python3 -c 'import json, names
json.dump({"weight_map": names.names("model")[0]}, open("model/model.safetensors.index.json", "w"))' || failed 'no index'
for software in compressed-tensors torchao; do
    gives '' pack nvfp4 model -o sharded --layout $software --tensors '?.big'
    gives '' unpack sharded -o back
    gives '' quantize nvfp4 model -o wanted --tensors '?.big' --dtype F32
    same back/a.safetensors wanted/a.safetensors
    same back/b.safetensors wanted/b.safetensors
    python3 -c 'import json, names
index = json.load(open("sharded/model.safetensors.index.json"))
assert (index["weight_map"], index["metadata"]["total_size"]) == names.names("sharded"), index' || failed "$software: index"
    rm -r sharded back wanted
done
cp packed.safetensors model/b.safetensors
rm model/model.safetensors.index.json
fails 1 'two tensors of one name' pack mxfp4 model -o sharded --layout compressed-tensors --tensors m.big
holds ! -e sharded

fails 2 'none of: compressed-tensors' pack mxfp4 in.safetensors -o no.safetensors --layout gguf
fails 2 'ModelOpt has one format for all tensors' pack nvfp4 in.safetensors -o no.safetensors --layout ModelOpt \
    --map 'm.big=group(e4m3fn,tensor)'
while read -r software spec words; do
    fails "${words%% *}" "${words#* }" pack "$spec" in.safetensors -o no.safetensors --layout "$software"
done <<'END'
DeepSeek group(e4m3fn,64x64) 2 DeepSeek has no layout for group(e4m3fn,64x64); it has: group(e4m3fn,128x128)
compressed-tensors group(int4,row,bf16) 2 has no layout for group(int4,row,bf16); it has: mxfp8
compressed-tensors group(int4,64) 1 m.wide cannot be kept as compressed-tensors has it: its rows are no whole groups
compressed-tensors group(int4,1) 1 its groups no whole bytes
DeepSeek mx(e4m3fn,128x128) 1 does not end in 'weight'
gpt-oss nvfp4 2 gpt-oss has no layout for nvfp4; it has: mxfp4
torchao mx(e2m1,block=16) 2 has no layout for mx(e2m1,block=16)
compressed-tensors mx(e2m1,correct=64) 2 has no layout for mx(e2m1,correct=64)
compressed-tensors nvfp4(rule=nvfp4-ao) 2 has no layout for nvfp4(rule=nvfp4-ao)
END
fails 1 'it is no matrix' pack 'group(int4,row)' names.safetensors -o no.safetensors --layout compressed-tensors \
    --tensors b
fails 2 '--config is for --layout' pack mxfp4 in.safetensors -o no.safetensors --config c.json
fails 2 "--config: './no.safetensors' is the file of -o" pack mxfp4 in.safetensors -o no.safetensors \
    --layout compressed-tensors --config ./no.safetensors
fails 2 "--config '/dev/stdout': the report goes there" pack mxfp4 in.safetensors -o no.safetensors \
    --layout compressed-tensors --config /dev/stdout --report
fails 2 "--config '/dev/stdout': the tensors go there" pack mxfp4 in.safetensors -o /dev/stdout \
    --layout compressed-tensors --config /dev/stdout
fails 2 'says it all' pack mxfp4 in.safetensors -o no.safetensors --config c.json --layout torchao
fails 2 'another kind' pack mxfp4 in.safetensors -o no.fpk --layout torchao
fails 1 'its blocks run along the last axis' pack mxfp4 in.safetensors -o no.safetensors --layout torchao --axis 0 \
    --tensors m.wide
fails 1 'no dot in its name' pack mxfp4 names.safetensors -o no.safetensors --layout torchao --tensors m.a
fails 1 'two tensors of one name' pack mxfp4 names.safetensors -o no.safetensors --layout gpt-oss --tensors m.a
for software in compressed-tensors gpt-oss torchao; do
    fails 1 'it has no name' pack mxfp4 nameless.safetensors -o no.safetensors --layout $software
    [ $software != torchao ] || continue
    gives '' pack mxfp4 dot.safetensors -o out.safetensors --layout $software
    gives '' unpack out.safetensors -o back.safetensors
done
fails 1 'no word behind the last dot' pack mxfp4 dot.safetensors -o no.safetensors --layout torchao
"$FPEMU" sample weights -o in.npy --size 64 || failed sample
fails 1 'with names' pack mxfp4 in.npy -o no.safetensors --layout gpt-oss
fails 1 'rows are no whole blocks of 32' pack mxfp4 odd.safetensors -o no.safetensors --layout gpt-oss
holds ! -e no.safetensors
holds ! -e c.json

# As other programs read it; and the rule that made it
python3 -c 'import ml_dtypes, numpy, safetensors.numpy' >/dev/null 2>&1 \
    || { echo 'not all: no numpy, safetensors and ml_dtypes'; finish; }
python3 "$here/layouts_judge.py" write || failed 'no file'
checks='' case=0
while read -r software spec rule; do
    case=$((case + 1)) some='--min-dims 2' config=
    [ -z "$rule" ] || some="$some --tensors *.weight"
    [ "$software" = torchao ] || config="--config $case.json"
    gives '' quantize "$spec" in.safetensors -o $case-wanted.safetensors --dtype F32 $some
    gives '' pack "$spec" in.safetensors -o $case.safetensors --layout "$software" $some $config
    gives '' unpack $case.safetensors -o back.safetensors
    same back.safetensors $case-wanted.safetensors
    "$FPEMU" judge $case.safetensors --against in.safetensors >table || failed judge
    grep -q "as .*$software" table || failed "$software: $(cat table)"
    grep -qF "made by  ${rule:-$spec}" table || failed "$software, $spec: $(cat table)"
    checks="$checks $case:$software:$spec"
done <<'END'
compressed-tensors mxfp4
compressed-tensors mxfp8
compressed-tensors nvfp4
gpt-oss mxfp4
torchao mxfp4
torchao mxfp8
torchao nvfp4
compressed-tensors group(e4m3fn,tensor) group(e4m3fn,block=tensor)
compressed-tensors group(e4m3fn,row) group(e4m3fn,block=row)
compressed-tensors group(e4m3fn,128x128) group(e4m3fn,block=128x128)
compressed-tensors group(int8,tensor) group(fixed(8,0),block=tensor,target=127)
compressed-tensors group(fixed(8,0),row,target=127.5) group(fixed(8,0),block=row,target=127.5)
compressed-tensors group(int8,row,rule=asymmetric) group(int8,block=row,rule=asymmetric)
compressed-tensors group(int8,32) group(fixed(8,0),block=32,target=127)
compressed-tensors group(int4,row,rule=asymmetric) group(int4,block=row,rule=asymmetric)
compressed-tensors group(int4,32,rule=minmax) group(int4,block=32,rule=minmax)
DeepSeek group(e4m3fn,128x128) group(e4m3fn,block=128x128)
DeepSeek mx(e4m3fn,128x128,rule=rceil) mx(e4m3fn,block=128x128,rule=rceil)
ModelOpt group(e4m3fn,tensor) group(e4m3fn,block=tensor)
END
OMP_NUM_THREADS=1 python3 "$here/layouts_judge.py" check $checks >judged 2>&1 || failed "$(tail -3 judged)"
grep '^without' judged

# The rule that made codes and scales, with the tensors before and without; random rows tell all rules apart
for rule in mxfp4 'mx(e2m1,rule=ceil)' 'mx(e2m1,rule=even)' 'mx(e2m1,rule=rceil)' nvfp4 'nvfp4(rule=4over6)'; do
    gives '' pack "$rule" in.safetensors -o out.safetensors --layout compressed-tensors --min-dims 2
    "$FPEMU" judge out.safetensors --against in.safetensors --json >json || failed "judge $rule"
    python_checks json 'made = [[r["rule"] for r in t["rules"] if r["fits"]] for t in j]
assert all(sys.argv[2] in m for m in made) and len(made) == 3, made
assert made[0] == [sys.argv[2]] or sys.argv[2] == "nvfp4" and "4over6" not in str(made[0]), made' "$rule"
    "$FPEMU" judge out.safetensors --json >json || failed "judge $rule"
    python_checks json 'assert "4over6" in sys.argv[2] or all(sys.argv[2] in [r["rule"] for r in t["rules"] if r["fits"]]
                                       for t in j), j' "$rule"
done
"$FPEMU" judge out.safetensors >table || failed judge
grep -q 'z.weight_global_scale divides: values are code . scale / it, here 1$' table || failed "$(cat table)"
# One code, sign of a zero, scale or number of the whole tensor that is another is no such rule's; NaN are NaN. Without
# the tensors before, reciprocal scales fit whose largest element is a little less than the largest code stands for
cat >alter.py <<'END'
import sys, ml_dtypes, numpy as np
from safetensors.numpy import load_file, save_file
np.float8_e4m3fn = ml_dtypes.float8_e4m3fn
if sys.argv[1] == "source":
    x = np.random.default_rng(1).standard_normal((256, 384)).astype(np.float32)
    factor = np.float32(448) / abs(x).max(1, keepdims=True)
    save_file({"l.w": (x * factor).clip(-448, 448).astype(np.float8_e4m3fn), "l.w_scale_inv": 1 / factor},
              "reciprocal.safetensors")
    x[0, 0] = 5.25
    while 1 / (u := np.float32(2688) / x[0, 0]) != 1 / np.nextafter(u, np.float32(np.inf)):
        x[0, 0] += 2.0**-10 # until two u have one reciprocal
    save_file({"l.w": x}, "source.safetensors")
    stack = x[:4].reshape(2, 2, 384)
    scale = abs(stack).max((1, 2), keepdims=True) / np.float32(448)
    save_file({"l.w": (stack / scale).astype(np.float8_e4m3fn), "l.w_scale_inv": scale}, "stack.safetensors")
    save_file({"l.w": stack}, "stack-in.safetensors")
    x[3, 5] = np.nan
    scale = abs(x).max(1, keepdims=True) / np.float32(448)
    save_file({"l.w": (x / scale).astype(np.float8_e4m3fn), "l.w_scale_inv": scale}, "nan.safetensors")
    save_file({"l.w": x}, "nan-in.safetensors")
else:
    made, x = load_file("made.safetensors"), load_file("source.safetensors")["l.w"].reshape(-1)
    zero = np.flatnonzero((made["l.w_packed"].reshape(-1) & 7 == 0) & (x[::2] != 0))[0]
    for case, part, at, bits in (("code", "packed", 9, 1), ("zero", "packed", zero, 8), ("scale", "scale", 2, 1),
                                 ("whole", "global_scale", 0, 1)):
        parts = {k: v.copy() for k, v in made.items()}
        codes = parts["l.w_" + part].view(np.uint32 if part == "global_scale" else np.uint8).reshape(-1)
        codes[at] = codes[at] ^ bits if case != "whole" else codes[at] + 1
        save_file(parts, case + ".safetensors")
END
python3 alter.py source || failed 'no file'
gives '' pack nvfp4 source.safetensors -o made.safetensors --layout compressed-tensors
python3 alter.py made || failed 'no file'
for case in code zero scale whole; do
    "$FPEMU" judge $case.safetensors --against source.safetensors >table || failed judge
    ! grep 'made by  nvfp4$' table || failed "$case: $(cat table)"
done
"$FPEMU" judge nan.safetensors --against nan-in.safetensors >table || failed judge
grep -q 'made by  group(e4m3fn,block=row)$' table || failed "$(cat table)"
"$FPEMU" judge stack.safetensors --against stack-in.safetensors >table || failed judge
grep -q 'scales by matrix$' table && grep -q 'made by  group(e4m3fn,block=row)$' table || failed "$(cat table)"
"$FPEMU" judge reciprocal.safetensors >table || failed judge
grep -q 'fits     scaled(e4m3fn,block=row)$' table || failed "$(cat table)"
fails 1 "no tensor '" judge out.safetensors --against odd.safetensors
fails 1 'no codes with scales' judge in.safetensors

# Zero points: by the rule and in both orders of compressed-tensors and torchao; one code, scale, zero point that is
# another is found. Signed codes lie in bytes, as compressed-tensors keeps them
cat >shift.py <<'END'
import numpy as np
from safetensors.numpy import save_file
x = np.random.default_rng(1).standard_normal((64, 128)).astype(np.float32) + np.float32(0.5)
lo, hi = np.minimum(x.min(1, keepdims=True), 0), np.maximum(x.max(1, keepdims=True), 0)
s = (hi - lo) / np.float32(15)
x[:, 5:60] = (np.rint(x[:, 5:60] / s) + 0.5) * s # ties tell the orders apart
x = np.clip(x, lo, hi)
x[:, :1], x[:, 1:2] = lo, hi
z = np.clip(-8 - np.rint(lo / s), -8, 7)
save_file({"l.w": x}, "shift-in.safetensors")
made = {"times": np.rint(x * (1 / s)) + z, "over": np.rint(x / s) + z, "before": np.rint(x / s + z)}
for name, q in made.items():
    q = np.clip(q, -8, 7).astype(np.int8)
    save_file({"l.w": q, "l.w_scale": s, "l.w_zero_point": z.astype(np.int8)}, name + ".safetensors")
    for part in range(3) if name == "times" else []:
        parts = [q.copy(), s.copy(), z.astype(np.int8)]
        parts[part].ravel()[17] += 1 if parts[part].ravel()[17] < 7 else -1
        save_file(dict(zip(("l.w", "l.w_scale", "l.w_zero_point"), parts)), f"part-{part}.safetensors")
q = np.clip(made["over"], -8, 7).astype(np.int8) # as GPTQ's packages have it
save_file({"l.w": q, "l.w_scale": s.astype("f2"), "l.w_zero_point": z.astype(np.int8)}, "unrounded.safetensors")
END
python3 shift.py || failed 'no file'
while read -r case words; do
    "$FPEMU" judge "$case.safetensors" --against shift-in.safetensors >table || failed judge
    grep -q -e "$words" table || failed "$case: $(cat table)"
done <<'END'
times made by  group(int4,block=row,rule=asymmetric)$
over made by  group(int4,block=row,rule=asymmetric), codes by x/s$
before made by  group(int4,block=row,rule=asymmetric), codes by x/s, zero points before rounding$
unrounded made by  group(int4,block=row,scale=fp16,rule=asymmetric), codes by x/s, s before its rounding$
part-0 not .*rule=asymmetric); 1 values differ, the first of element 17:
part-1 not .*rule=asymmetric); 1 scales differ, the first of block 17:
part-2 not .*rule=asymmetric); 1 zero points differ, the first of block 17:
END

# Quark's words by config.json, bytes with zero points, floats of 6 bits, and of 4 with E5M3; in GPTQ's a plain order of
# columns is none
cat >quark.py <<'END'
import itertools, json, os, ml_dtypes, numpy as np
from safetensors.numpy import load_file, save_file
g = np.random.default_rng(1)
def words(q, order=range(8)): # of 4 bits each
    q = (q & 15).astype(np.uint32).reshape(len(q), -1, 8)[..., list(order)]
    return (q << 4 * np.arange(8, dtype=np.uint32)).sum(-1, dtype=np.uint32).view(np.int32)
def put(name, values, says, tensors):
    os.mkdir(name)
    config = {"quant_method": "quark", "global_quant_config": {"weight": says}, "export": {"pack_method": says["pack"]}}
    json.dump({"quantization_config": config}, open(name + "/config.json", "w"))
    save_file({"l.weight" + k: np.ascontiguousarray(v) for k, v in tensors.items()}, name + "/m.safetensors")
    np.save(name + ".npy", values.astype(np.float32))
    print(name)
for kind, groups, pack in itertools.product(("int4", "uint4"), (True, False), ("reorder", "order")):
    low, order = -8 * (kind == "int4"), (0, 2, 4, 6, 1, 3, 5, 7) if pack == "reorder" else range(8)
    q, z = g.integers(low, low + 16, (24, 64)), g.integers(low, low + 16, (24, 4 if groups else 1))
    s = g.random(z.shape, np.float32)
    values = ((q - z.repeat(64 // z.shape[1], 1)) * s.repeat(64 // z.shape[1], 1)).astype(np.float32)
    tensors = {"": words(q.T if groups else q, order), "_scale": s.T, "_zero_point": words(z.T, order)}
    if not groups:
        tensors = {"": tensors[""], "_scale": s[:, 0], "_zero_point": tensors["_zero_point"][0]}
    says = {"dtype": kind, "qscheme": "per_group" if groups else "per_channel", "pack": pack}
    put(f"{kind}-{groups}-{pack}", values, says, tensors)
q, z = g.integers(0, 256, (3, 64), np.uint8), g.integers(0, 256, 3, np.uint8)
put("bytes", (q - np.float32(z[:, None])) * s[:3], {"pack": "order"}, {"": q, "_scale": s[:3, 0], "_zero_point": z})
codes, scale = g.integers(0, 64, (3, 64)).astype(np.uint8), g.integers(100, 140, (3, 2), np.uint8)
bits = np.unpackbits(codes[..., None], axis=-1, bitorder="little")[..., :6].reshape(3, -1)
for kind in "e2m3", "e3m2":
    values = codes.view(f"float6_{kind}fn").astype(np.float32) * np.exp2(np.float32(scale).repeat(32, 1) - 127)
    put(kind, values, {"dtype": "fp6_" + kind, "pack": "order"}, {"": np.packbits(bits, 1, "little"), "_scale": scale})
codes, scale = g.integers(0, 16, (3, 64)).astype(np.uint8), g.integers(0, 255, (3, 4), np.uint8)
e = scale.astype(int) >> 3
wide = np.where(e > 0, np.ldexp(1 + (scale & 7) / 8, e - 15), np.ldexp((scale & 7) / 8, -14)).repeat(16, 1)
put("amdfp4", codes.view("float4_e2m1fn").astype(np.float32) * wide, {"scale_format": "e5m3", "pack": "order"},
    {"": codes[:, ::2] | codes[:, 1::2] << 4, "_scale": scale})
q, z, s = g.integers(0, 16, (64, 8)), g.integers(0, 15, (2, 8)), g.random((2, 8), np.float32)
for name, index in ("in-order", np.arange(64) // 32), ("shuffled", g.permutation(64) // 32):
    save_file({"l.qweight": np.ascontiguousarray(words(q.T).T), "l.qzeros": words(z - 1), "l.scales": s,
               "l.g_idx": index.astype(np.int32)}, name + ".safetensors")
    np.save(name + ".npy", ((q - z[index]) * s[index]).T.astype(np.float32))
    print(name)
# Codes and scales that are a rule's but for one thing
x = g.standard_normal((64, 32)).astype(np.float32)
save_file({"l.w": x}, "x.safetensors")
b = x.astype(ml_dtypes.bfloat16)
save_file({"l.w": b}, "b.safetensors")
lo, hi = np.minimum(b.min(1), 0), np.maximum(b.max(1), 0)
s = ((hi - lo) / np.asarray(15, b.dtype)).astype(b.dtype)
z = np.clip(-8 - np.rint((lo / s).astype(np.float32)), -8, 7)
q = np.clip(np.rint(b.astype(np.float32) / s.astype(np.float32)[:, None]) + z[:, None], -8, 7)
save_file({"l.w": q.astype(np.int8), "l.w_scale": s, "l.w_zero_point": z.astype(np.int8)}, "short.safetensors")
END
python3 quark.py >names || failed 'no files'
while read -r name; do
    [ ! -d "$name" ] || name=$name/m
    gives '' quantize fp32 "$name.safetensors" -o out.safetensors
    python3 -c 'import sys, numpy as np
from safetensors.numpy import load_file
assert np.array_equal(load_file("out.safetensors")["l.weight"], np.load(sys.argv[1] + ".npy"))' "${name%/m}" \
        || failed "$name"
done <names
holds "$(wc -l <names)" -eq 14
rm int4-True-order/config.json
fails 1 'a config.json that says int4 or uint4' quantize fp32 int4-True-order/m.safetensors -o no.safetensors
"$FPEMU" judge shuffled.safetensors | grep -q 'no rule is known' || failed 'an order of columns'
"$FPEMU" judge in-order.safetensors | grep -q 'rule=asymmetric' || failed 'a plain order of columns'
gives '' pack mxfp4 x.safetensors -o signed.safetensors --layout gpt-oss
python3 -c 'from safetensors.numpy import load_file, save_file
t = load_file("signed.safetensors")
c = t["l.w_blocks"]
t["l.w_blocks"] = (c & 15) * (c & 15 != 8) | (c & 240) * (c >> 4 != 8)
save_file(t, "bare.safetensors")' || failed 'no file'
while read -r case source words; do
    "$FPEMU" judge "$case.safetensors" --against "$source.safetensors" >table || failed judge
    grep -q -e "made by  $words" table || failed "$case: $(cat table)"
done <<'END'
signed x mxfp4$
bare x mxfp4, zeros without signs$
short b group(int4,block=row,scale=bf16,rule=asymmetric), codes by x/s, only those for the scales rounded to their type$
END

# What packages write is read as they read it
python3 -c 'import torch, safetensors.torch' 2>/dev/null || { echo 'not all: no torch'; finish; }
OMP_NUM_THREADS=1 python3 "$here/layouts_judge.py" packages >packages.out 2>judged || failed "$(tail -3 judged)"
grep '^without' judged
for case in $(sed -n 's/^case //p' packages.out); do
    gives '' quantize fp32 "$case.safetensors" -o "$case-out.safetensors"
    python3 "$here/layouts_judge.py" same "$case" 2>judged || failed "$case: $(tail -1 judged)"
done
while read -r case rule; do
    [ ! -e "$case.safetensors" ] || "$FPEMU" judge "$case.safetensors" --against "$case-source.safetensors" >table
    [ ! -e "$case.safetensors" ] || grep -qF "made by  $rule" table || failed "$case: $(cat table)"
done <<'END'
ct-fp8-tensor group(e4m3fn,block=tensor)
ct-fp8-block group(e4m3fn,block=40x128,scale=bf16), quotients rounded to the type of the scales
ct-int4-group group(fixed(4,0),block=32,scale=bf16,target=7.5), quotients rounded to the type of the scales
ct-int8-words group(fixed(8,0),block=row,target=127.5)
ct-int8-row group(int8,block=row,rule=asymmetric)
ct-int4-zero group(int4,block=64,scale=fp16,rule=asymmetric), codes by x/s, zero points before rounding, quotients rounded to the type of the scales
ct-int3-zero group(int(3),block=row,rule=asymmetric)
torchao-int4-group group(int4,block=32,rule=asymmetric)
torchao-int8-group group(fixed(8,0),block=32,target=127.5), codes by x*(1/s)
torchao-int4-whole group(fixed(4,0),block=32,target=8), scales by the larger
bnb-nf4 nf4
torchao-int4-bf16 group(int4,block=32,scale=bf16,rule=asymmetric), quotients rounded to the type of the scales
torchao-fp8-tensor group(e4m3fn,block=tensor)
modelopt-fp8 group(e4m3fn,block=tensor)
modelopt-nvfp4 nvfp4(rule=nvfp4-ao)
END

finish
