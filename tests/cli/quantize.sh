#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fpemu quantize: the index of an element is its position in the file, pieces or not; the report counts.
. "$(dirname "$0")/common.sh"

# More than one piece of the file; stochastic results near the seams are those of single numbers with the same index
"$FPEMU" sample normal -o in.npy --size 300000 || failed sample
holds "$(wc -c <in.npy)" -eq 1200128
gives '' quantize e4m3fn in.npy -o out.npy -r sr --seed 9 --stream 3
for i in 0 1 4095 4096 262143 262144 299999; do
    x=$("$FPEMU" round fp32 "$(word in.npy $i f4)")
    y=$("$FPEMU" round e4m3fn -r sr --seed 9 --stream 3 --index $i "$x")
    holds "$("$FPEMU" encode fp32 "$y")" = "0x$(word out.npy $i x4)"
done
tail -c +129 in.npy >in.raw
tail -c +129 out.npy >wanted
gives '' quantize e4m3fn in.raw -o out.raw --raw f32 -r sr --seed 9 --stream 3
same out.raw wanted
gives '' quantize e4m3fn in.npy -o other.npy -r sr --seed 10 --stream 3
cmp -s other.npy out.npy && failed 'another seed gives the same'
OMP_NUM_THREADS=2 "$FPEMU" quantize e4m3fn in.npy -o other.npy -r sr --seed 9 --stream 3 || failed 'two threads'
same other.npy out.npy
# eden takes random bits for its scales in the mode rne, which the report tells
for s in 9 10; do
    gives '' quantize 'nvfp4(rule=eden)' in.npy -o eden$s.npy --seed $s
    gives '' quantize 'nvfp4(rule=eden)' in.npy -o again.npy --seed $s
    same again.npy eden$s.npy
done
cmp -s eden9.npy eden10.npy && failed 'eden: another seed gives the same'
"$FPEMU" quantize 'nvfp4(rule=eden)' in.npy -o again.npy --seed 9 --json | grep -q '"seed": 9' || failed 'eden: no seed'
[ "$("$FPEMU" round 'nvfp4(rule=eden)' --seed 5 1 2.3 3.7 4)" = "$("$FPEMU" round 'nvfp4(rule=eden)' 1 2.3 3.7 4)" ] &&
    failed 'round: another seed gives the same'

# 1, 3, 465, 1000, 2^-10, 2^-9, nan, inf
printf '\000\000\200\077\000\000\100\100\000\200\350\103\000\000\172\104' >few.raw
printf '\000\000\200\072\000\000\000\073\000\000\300\177\000\000\200\177' >>few.raw
"$FPEMU" quantize e4m3fn few.raw -o out.raw --raw f32 --report >report || failed 'quantize --report'
counts() { # KEY VALUE
    grep -qE "^$1 +$2( |\$)" report || failed "report: $1 is not $2: $(grep "^$1 " report)"
}
counts format e4m3fn
counts rounding rne
counts count 8
counts nan 1
counts infinite 1
counts clipped 2
counts overflow 2
counts invalid 1
counts underflow 1
counts subnormal 1
counts inexact 3
counts min_abs 0.0009765625
counts max_abs 1000
"$FPEMU" quantize e4m3fn:saturate few.raw -o out.raw --raw f32 --report >report || failed 'quantize --report'
counts format e4m3fn:saturate
counts max_error 552
counts sum_error 569.0009765625
counts invalid 0
"$FPEMU" quantize e4m3fn:saturate few.raw -o out.raw --raw f32 --json -r sr --seed 18446744073709551615 >json \
    || failed 'quantize --json'
grep -q '"overflow": 2,' json || failed 'JSON report'
grep -q '"seed": 18446744073709551615,' json || failed 'JSON report: a seed above 2^63'
# The name of a file cannot forge a number
cp few.raw '"\u000012'
"$FPEMU" quantize e4m3fn '"\u000012' -o other.raw --raw f32 --json >json2 || failed 'quantize --json'
grep -qF '"input": "\"\\u000012",' json2 || failed "JSON report: $(grep input json2)"
python_checks json 'assert j["count"] == 8 and j["clipped"] == 2 and j["max_error"] == 552
assert j["spec"] == "e4m3fn:saturate" and j["type"] == "float32" and j["rounding"]["mode"] == "sr"
assert j["rounding"]["seed"] == 2**64 - 1 and j["rounding"]["bits"] == 32
assert j["sum_error2"] > 552**2 and 0 < j["sqnr_db"] < 10'

# A format that the type of the file does not hold; formats and roundings that do not go together: also without data
fails 1 'fp64: binary32 does not hold every value of the format: binary64 does; the data have to be float64' \
    quantize fp64 few.raw -o no.raw --raw f32
: >empty.raw
fails 1 'fp64' quantize fp64 empty.raw -o no.raw --raw f32
fails 1 'posit(8,2)' quantize 'posit(8,2)' empty.raw -o no.raw --raw f32 -r rtp
holds ! -e no.raw
# From a pipe to a pipe
gives '' quantize e4m3fn in.npy -o wanted.npy
"$FPEMU" quantize e4m3fn - -o - <in.npy | cat >out.npy
same out.npy wanted.npy
fails 2 'the report goes there' quantize e4m3fn in.npy -o - --report
fails 2 'the report goes there' quantize e4m3fn in.npy -o /dev/stdout --json
fails 2 'expected SPEC IN' quantize e4m3fn -o no.raw
fails 2 "unexpected argument 'more'" quantize e4m3fn few.raw more -o no.raw

# Scales and zero points of the caller: -1, 0.25, 0.75, 9 by steps of 0.5 about a zero point of 1
printf '\000\000\200\277\000\000\200\076\000\000\100\077\000\000\020\101' >few.raw
gives '' quantize int4 few.raw -o out.raw --raw f32 --scale 0.5 --zero 1
holds "$(od -An -v -tf4 out.raw | tr -s ' ')" = ' -1 0 1 3'
gives '' quantize int4 few.raw -o out.raw --raw f32 --scale 0.5 --zero 1.5 --zero-order before
holds "$(od -An -v -tf4 out.raw | tr -s ' ')" = ' -0.75 0.25 0.75 2.75'
"$FPEMU" quantize int4 few.raw -o out.raw --raw f32 --scale -1 --report >report || failed 'a negative scale'
holds "$(od -An -v -tf4 out.raw | tr -s ' ')" = ' nan nan nan nan'
counts blocks '1, zero 0, NaN 1, with a saturated scale 0'
"$FPEMU" quantize int4 few.raw -o out.raw --raw f32 --scale 1 --zero 8 2>err || failed 'a zero point that is no code'
holds "$(cat err)" = 'fpemu: quantize: 1 of 1 blocks became NaN: their scale or zero point is none that the format takes'
fails 1 'int8:wrap: --scale is not for formats that wrap' quantize int8:wrap in.npy -o no.npy --scale 1
fails 2 '--zero, --zero-order, --reciprocal and --tensor-scale go with --scale' quantize int4 in.npy -o no.npy --zero 1
fails 2 '--zero-order: goes with --zero' quantize int4 in.npy -o no.npy --scale 1 --zero-order after
fails 2 "'0' is no finite number above 0" quantize nvfp4 in.npy -o no.npy --scale 1 --tensor-scale 0
fails 1 '--zero is for int(B) and uint(B)' quantize e4m3fn in.npy -o no.npy --scale 1 --zero 1
fails 1 'write rule=reciprocal in it' quantize mxfp4 in.npy -o no.npy --scale 1 --reciprocal
fails 1 '--tensor-scale is for formats with a scale of the whole tensor' quantize mxfp4 in.npy -o no.npy --scale 1 \
    --tensor-scale 2
fails 1 '--scale is not for rules with more numbers than a scale' quantize mx9 in.npy -o no.npy --scale 1
fails 1 'compatibility settings do not go with --scale' quantize 'muppet(8)' in.npy -o no.npy --scale 1 -r muppet
"$FPEMU" sample normal -o s.npy --size 8 || failed sample
fails 1 'a scale of shape 1x8 does not go with the array of shape 4: each of its sizes divides' quantize int4 few.raw \
    -o no.npy --raw f32 --scale s.npy

# Arrays that broadcast, by NumPy; zero points after rounding are integers in the file
python3 -c 'import numpy' 2>/dev/null || { echo 'not all: no numpy'; finish; }
python3 - >cases <<'END' || failed 'no cases'
import numpy as np
g = np.random.default_rng(1)
x = g.standard_normal((64, 96), np.float32) * np.float32(3)
np.save("x.npy", x)
for name, shape in ("run", (64, 6)), ("tile", (4, 6)), ("channel", (96,)), ("tensor", ()):
    np.savez(name + ".npz", s=np.exp2(g.uniform(-6, 0, shape)).astype(np.float32), other=x)
def whole(a):
    a = a.reshape((1,) * (3 - a.ndim) + a.shape)
    return a.repeat(4 // a.shape[0], 0).repeat(16 // a.shape[1], 1).repeat(96 // a.shape[2], 2)
shapes = [(), (1, 1, 1), (4, 16, 1), (1, 1, 96), (4, 16, 6), (2, 4, 6), (2, 1, 1), (96,), (6,), (4, 1, 96), (16, 1)]
for k, shape in enumerate(shapes * 3):
    order, times = (None, "after", "before")[(k + k // 9) % 3], k % 2
    scales = tuple(1 if k % 3 == d % 2 == 0 else n for d, n in enumerate(shape)) if order else shape
    s = np.exp2(g.uniform(-6, 0, scales)).astype(np.float32)
    z = (g.integers(-8, 8, shape[shape[:1] == (1,):]) + (0.375 if order == "before" else 0)).astype(np.float32)
    y = x.reshape(4, 16, 96).copy()
    y[..., ::3] = (np.rint(y[..., ::3] / whole(s)[..., ::3]) + 0.5) * whole(s)[..., ::3] # where a quotient is no product
    t = y * (np.float32(1) / whole(s)) if times else y / whole(s)
    zero = whole(z) if order else np.float32(0)
    q = np.rint(t + zero) if order == "before" else np.rint(t) + zero
    np.save(f"s-{k}.npy", s)
    np.savez(f"z-{k}.npz", s=s, z=z.astype(["<i1", ">i2", "<i4", ">i8"][k % 4]) if order == "after" else z)
    np.save(f"x-{k}.npy", y)
    np.save(f"want-{k}.npy", (np.clip(q, -8, 7) - zero) * whole(s) + 0)
    print(k, "int4 --scale", f"s-{k}.npy", f"--zero z-{k}.npz:z --zero-order {order}" * (order is not None),
          "--reciprocal" * times)
np.save("integers.npy", np.array([[2], [200]] * 32, "u1"))
np.savez("far.npz", s=np.ones((100000, 1)), z=np.ones((1, 100000)))
np.savez("integers.npz", s=np.array([[2], [200]] * 32, "f8"))
END
while read -r case options; do
    # shellcheck disable=SC2086
    gives '' quantize ${options%% *} "x-$case.npy" -o out.npy ${options#* }
    tail -c +129 "want-$case.npy" >wanted
    tail -c +129 out.npy | cmp - wanted || failed "$case: $options"
done <cases
holds "$(wc -l <cases)" -eq 33
gives '' quantize int4 x.npy -o out.npy --scale integers.npy
gives '' quantize int4 x.npy -o wanted --scale integers.npz:s
same out.npy wanted

# Blocks of a format are those that the shape of the scales cuts of one without: runs, tiles, and channels of another axis
for case in run tile channel tensor; do
    case $case in run) block=16 ;; tile) block=16x16 ;; *) block=$case ;; esac
    gives '' quantize "group(e4m3fn,block=$block)" x.npy -o out.npy --scale "$case.npz:s"
    gives '' quantize e4m3fn:saturate x.npy -o wanted --scale "$case.npz:s"
    same out.npy wanted
done
fails 1 'a scale of shape 64x6 does not broadcast to the blocks of the array, of shape 64x3' quantize mxfp4 x.npy \
    -o no.npy --scale run.npz:s
fails 1 'a scale of shape 100000x100000 does not go with' quantize int4 x.npy -o no.npy --scale far.npz:s --zero far.npz:z
fails 1 'a zero point of shape 1x100000 does not broadcast to the blocks' quantize 'group(int4,block=16)' x.npy -o no.npy \
    --scale 1 --zero far.npz:z
fails 1 "run.npz has no tensor 'z'" quantize int4 x.npy -o no.npy --scale run.npz:z
fails 2 "-o: 'integers.npy' is the input: one of them would be lost" quantize int4 x.npy -o integers.npy --scale \
    integers.npy
"$FPEMU" quantize int4 - -o no.npy --scale - <x.npy 2>err && failed 'standard input read twice'
holds "$(cat err)" = 'fpemu: --scale: standard input brings the tensors already'
fails 1 'name one of the 2 tensors of run.npz, as in FILE:NAME' quantize int4 x.npy -o no.npy --scale run.npz
holds ! -e no.npy

finish
