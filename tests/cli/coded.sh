#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Codes with scales in layouts that are not read are no numbers: refused by name, unless they are asked for as numbers.
. "$(dirname "$0")/common.sh"
python3 -c pass 2>/dev/null || exit 77

mkdir several
python3 - <<'END' || failed 'no files'
import json, struct, zipfile
BITS = {"U8": 8, "I8": 8, "BF16": 16, "F16": 16, "F32": 32, "I32": 32, "U32": 32, "I64": 64, "F4": 4}
def put(name, *tensors, **metadata):
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    for key, dtype, shape, *own in tensors:
        count = 1
        for n in shape:
            count *= n
        some = own[0] if own else bytes(count * BITS.get(dtype, 8) // 8)
        header[key] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(some)]}
        data += some
    text = json.dumps(header).encode()
    open(name + ".safetensors", "wb").write(struct.pack("<Q", len(text)) + text + data)
def number(x):
    return struct.pack("<f", x)

e4m3 = ("F8_E4M3", [256, 256], b"\x38" * 65536)  # ones
norm = ("norm", "F32", [2], number(1.0625) + number(3))
put("deepseek", ("w", *e4m3), ("w_scale_inv", "F32", [3, 2]), norm)
put("deepseek4", ("l.weight", *e4m3), ("l.scale", "I32", [2, 2]))
put("channels", ("l.weight", *e4m3), ("l.weight_scale", "BF16", [255, 1]))
put("modelopt8", ("l.input_scale", "F32", []), ("l.weight", *e4m3), ("l.weight_scale", "I32", []))
put("modelopt4", ("l.weight", "U8", [4, 16]), ("l.weight_scale", "F8_E4M3", [4, 2]), ("l.weight_scale_2", "F32", [2]))
put("whole", ("l.weight_packed", "U8", [4, 16]), ("l.weight_scale", "F8_E4M3", [4, 2]))
put("words", ("l.weight_packed", "I32", [4, 4]), ("l.weight_scale", "BF16", [4, 1]), ("l.weight_zero_point", "I8", [1]))
put("gptq", ("l.g_idx", "I32", [32]), ("l.qweight", "I32", [4, 8]), ("l.qzeros", "I32", [1]), ("l.scales", "F16", [8]))
put("bitsandbytes4", ("l.weight", "U8", [64, 1]), ("l.weight.absmax", "F32", [1]), ("l.weight.quant_map", "F32", [16]))
put("bitsandbytes8", ("l.SCB", "F32", [3]), ("l.weight", "I8", [4, 8]))
put("quark", ("l.weight", "U8", [4, 16]), ("l.weight_scale", "U8", [4, 2]), ("norm", "F32", [2]))
put("mlx", ("l.biases", "F16", [4, 1]), ("l.scales", "F16", [4, 1]), ("l.weight", "U32", [4, 8]))
put("hqq", ("l.W_q", "U8", [4, 8]), ("l.scale", "F16", [4, 1]), ("l.zero", "F16", [4, 1]))
put("quanto", ("l.weight._data", "I8", [4, 8]), ("l.weight._scale", "F32", [4, 1]))
put("ao", ("l._weight_qdata", "F8_E4M3", [4, 32]), ("l._weight_scale", "F8_E8M0", [4, 1]))
put("several/a", ("l.weight", "F8_E4M3", [2, 32]))
put("several/b", ("l.weight_scale", "U8", [2, 1]))
put("experts", ("e.down_proj_blocks", "U8", [2, 4, 2, 16]), ("e.down_proj_scales", "U8", [2, 2, 4]))
# What is called a scale and is a number: beside numbers, integers of another name, and all in one small type
put("plain", ("a.weight", "BF16", [2]), ("a.scale", "F32", [1]), ("layer_scale", "F32", [1]),
    ("logit_scale", "F32", []), ("e.position_ids", "I64", [1, 4]), ("e.weight", "F8_E5M2", [2]),
    ("e.scale", "F8_E5M2", [2]), ("n.num_batches_tracked", "I64", []), ("n.scale", "F32", [2]),
    ("ids", "I32", [2]), ("scales", "F32", [1]))
for name, value in ("zero", 0), ("minus", -2), ("inf", float("inf")), ("nan", float("nan")):
    put(name, ("l.weight_packed", "U8", [1, 16]), ("l.weight_scale", "F8_E4M3", [1, 2]),
        ("l.weight_global_scale", "F32", [1], number(value)), norm)
    kind = json.dumps({"_type": "NVFP4Tensor", "_data": {"is_swizzled_scales": False}})
    put(name + "-ao", ("l._weight_qdata", "U8", [1, 16]), ("l._weight_scale", "F8_E4M3", [1, 2]),
        ("l._weight_per_tensor_scale", "F32", [], number(value)), norm, **{"l.weight": kind})
for file, descr in ("arrays.npz", "|i1"), ("mask.npz", "|b1"):
    archive = zipfile.ZipFile(file, "w")
    for name, descr, data in ("w", descr, bytes(4)), ("w_scale", "<f4", number(2)):
        head = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,)}" % (descr, len(data) // int(descr[2]))
        head = head.encode().ljust(117) + b"\n"
        archive.writestr(name + ".npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + data)
    archive.close()
END

# refused FILE CODES SCALES WHY: by every command that takes numbers out of it
refused() {
    line="'$2' (*) are codes with scales in '$3' (*), a layout that is not read; $4"
    fails 1 "$4" quantize bf16 "$1" -o no.safetensors
    # shellcheck disable=SC2254 # a pattern
    case $(cat err) in "fpemu: $1: "$line*) ;; *) failed "$1: $(cat err)" ;; esac
    fails 1 "'$2'" compare "$1" bf16
    fails 1 "'$3'" pack bf16 "$1" -o no.fpk
    fails 1 "'$2'" apply exp bf16 "$1" -o no.safetensors
    fails 1 "'$3'" unpack "$1" -o no.safetensors
}
blocks='the nearest, has a scale for the tensor, a row or equal blocks'
none='files.md has those that are'
refused deepseek.safetensors w w_scale_inv "DeepSeek, $blocks; 2 tensors are such"
refused deepseek4.safetensors l.weight l.scale 'DeepSeek, the nearest, has scales of F32, BF16 or F8_E8M0'
refused channels.safetensors l.weight l.weight_scale "compressed-tensors, $blocks"
refused modelopt8.safetensors l.weight l.weight_scale 'ModelOpt, Quark, the nearest, has scales of F32, F16 or BF16'
refused modelopt4.safetensors l.weight l.weight_scale "$none; 3 tensors"
refused whole.safetensors l.weight_packed l.weight_scale "$none; 2"
refused words.safetensors l.weight_packed l.weight_scale \
    'compressed-tensors, the nearest, has X_shape, two numbers, and scales of F32, F16 or BF16; 3 tensors'
refused gptq.safetensors l.qweight l.scales \
    'GPTQ, the nearest, has scales of groups times outputs, and as many zero points; 3 tensors'
refused bitsandbytes4.safetensors l.weight l.weight.absmax \
    'bitsandbytes, the nearest, has X.quant_state.bitsandbytes__nf4 or __fp4'
refused bitsandbytes8.safetensors l.weight l.SCB 'bitsandbytes, the nearest, has F32 M.SCB for each row'
refused quark.safetensors l.weight l.weight_scale 'Quark, the nearest, has a scale for 32 elements of a row'
refused mlx.safetensors l.weight l.scales "$none"
refused hqq.safetensors l.W_q l.scale "$none; 3 tensors"
refused quanto.safetensors l.weight._data l.weight._scale "$none"
refused ao.safetensors l._weight_qdata l._weight_scale "$none"
refused experts.safetensors e.down_proj_blocks e.down_proj_scales "$none"
refused several l.weight l.weight_scale "$none"
fails 1 "'w' (|i1 4) are codes with scales in 'w_scale' (F32 1)" quantize bf16 arrays.npz -o no.npz
fails 1 "'w'" compare deepseek.safetensors bf16 --tensors w_scale_inv
holds ! -e no.safetensors
holds ! -e no.fpk

# What is not concerned can be had, whatever chooses it; the rest is copied
gives '' quantize e2m1 deepseek.safetensors -o out.safetensors --tensors norm
gives '' quantize deepseek.safetensors -o again.safetensors --map 'norm=e2m1'
same out.safetensors again.safetensors
gives '' quantize e2m1 deepseek.safetensors -o again.safetensors --map 'w*=keep'
same out.safetensors again.safetensors
gives '' quantize e2m1 quark.safetensors -o out.safetensors --exclude 'l.*'
gives '' quantize fp32 deepseek.safetensors -o again.safetensors --tensors norm
holds "$(tail -c 65560 again.safetensors | cksum)" = "$(tail -c 65560 deepseek.safetensors | cksum)"
gives '' quantize bf16 plain.safetensors -o out.safetensors
"$FPEMU" compare mask.npz bf16 >out || failed 'a mask is taken for codes'

# As numbers: the codes of 1 are 1; a line says so
as_numbers() { # ARGUMENT...
    "$FPEMU" "$@" --as-numbers >out 2>err || failed "fpemu $*: $(cat err)"
    holds "$(cat err)" = "fpemu: deepseek.safetensors: 'w' and 'w_scale_inv', codes and their scales, are taken as "\
'numbers; 2 tensors are such'
}
as_numbers quantize fp32 deepseek.safetensors -o out.safetensors
python3 - <<'END' || failed 'other numbers'
import json, struct
with open("out.safetensors", "rb") as file:
    header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    assert header["w"]["dtype"] == "F32" and file.read(4 * 65536) == struct.pack("<f", 1) * 65536
END
as_numbers compare deepseek.safetensors bf16
as_numbers apply exp bf16 deepseek.safetensors -o out.safetensors
as_numbers pack bf16 deepseek.safetensors -o out.fpk
gives '' unpack out.fpk -o out.safetensors
fails 1 'no tensor of a floating-point type' quantize bf16 quark.safetensors -o no.safetensors --as-numbers \
    --tensors 'l.*'
fails 2 'go with -o' apply exp bf16 1 --as-numbers

"$FPEMU" info deepseek.safetensors >table 2>err || failed info
holds "$(tr -s ' ' <table | sed -n 's/^w F8_E4M3 //p')" = '256x256 65536 codes, not read with the scales in w_scale_inv'
"$FPEMU" info deepseek.safetensors --json >json || failed 'info --json'
python_checks json 'assert [t["scales"] for t in j["tensors"]] == ["w_scale_inv", None, None], j'

# A scale of the whole tensor that is none
for case in zero:0 minus:-2 inf:inf nan:nan; do
    name=${case%:*}
    fails 1 "'l.weight_global_scale', is ${case#*:}, and no finite number above 0" compare $name.safetensors bf16
    fails 1 "'l._weight_per_tensor_scale', is ${case#*:}, and no" unpack $name-ao.safetensors -o no.safetensors
    "$FPEMU" compare $name.safetensors bf16 --tensors norm >table || failed 'compare of another tensor'
done
holds ! -e no.safetensors

finish
