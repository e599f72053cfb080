#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Arrays that NumPy wrote, of every type, order and shape, are the samples that `fptrain data --npz' gives back to it.
FPEMU=$FPTRAIN
example=$(cd "$(dirname "$0")/../.." && pwd)/examples/fptrain/spirals.py
. "$(dirname "$0")/common.sh"
python3 -c 'import numpy' >/dev/null 2>&1 || { echo 'skipped: no Python 3 with NumPy'; exit 77; }

cat >judge.py <<'END'
import os, struct, subprocess, zipfile
import numpy as np

def fptrain(*words):
    said = subprocess.run([os.environ["FPTRAIN"], "data", *words, "--npz", "out.npz"], capture_output=True, text=True)
    assert said.returncode == 0, (words, said.stderr)
    return np.load("out.npz", allow_pickle=False), said.stdout

rng = np.random.default_rng(1)
n, m = 24, 9
labels, test_labels = rng.integers(0, 5, n), rng.integers(0, 5, m)
labels[0], test_labels[0] = 3, 4

def is_same(got, want):
    return got.dtype == want.dtype and got.shape == want.shape and (got == want).all()

# Every type and byte order, C and Fortran, deflated or not; (N, C, H, W) and (N, H, W, C), (N, H, W), (N, features).
cases = 0
for shape, axes in (((3, 5, 6), (0, 1, 2, 3)), ((3, 5, 6), (0, 2, 3, 1)), ((1, 5, 6), None), ((7,), None),
                    ((4, 8, 5), (0, 2, 3, 1)), ((2, 5, 6), (0, 1, 2, 3))):
    for code in "u1 i1 ?1 <u2 >u2 <i2 >i4 <u4 >i8 <u8 <f2 >f2 <f4 >f4 <f8 >f8".split():
        dtype = np.dtype(bool if code == "?1" else code)
        x = rng.integers(0, 3 if code == "?1" else 100, (n + m,) + shape)
        x = (x * 0.37 if dtype.kind == "f" else x).astype("u1" if code == "?1" else dtype)
        x = x.view(bool) if code == "?1" else x  # true is any byte but 0
        x = x << np.uint64(57) if code == "<u8" else x  # above 2^63, some of them
        want = x if code == "u1" else x.astype(np.float32)
        if shape == (1, 5, 6):
            x, want = x[:, 0], want[:, 0]
        stored = x if axes is None else x.transpose(axes)
        order = "CF"[cases % 2]
        save = (np.savez, np.savez_compressed)[cases // 2 % 2]
        kind = ("i8", ">i4", "u1", "<u2")[cases % 4]
        put = lambda a: np.asarray(a, order=order)
        save("in.npz", x_train=put(stored[:n]), y_train=labels.astype(kind), x_test=put(stored[n:]),
             y_test=test_labels.astype(kind)[:, None])
        extra = ["--set", "data.layout=nchw"] if shape[0] == 2 else []
        got, text = fptrain("in.npz", *extra)
        assert is_same(got["x_train"], want[:n]) and is_same(got["x_test"], want[n:]), (shape, axes, code, order)
        assert is_same(got["y_train"], labels.astype("i8")) and is_same(got["y_test"], test_labels.astype("i8"))
        numbers = want[:n].astype(np.float64).reshape(n, shape[0], -1) / (255 if code == "u1" else 1)
        deviation = np.where(numbers.std((0, 2)) > 0, numbers.std((0, 2)), 1)
        np.testing.assert_allclose(got["mean"], numbers.mean((0, 2)), rtol=1e-6)
        np.testing.assert_allclose(got["deviation"], deviation, rtol=1e-5)
        cases += 1
assert cases == 96

# What is given back is the same.
x = rng.integers(0, 256, (n + m, 5, 6, 3)).astype("u1")
np.savez("whole.npz", x_train=x[:n], y_train=labels, x_test=x[n:], y_test=test_labels)
want = dict(fptrain("whole.npz")[0])
assert is_same(want["x_train"], x[:n].transpose(0, 3, 1, 2))
assert list(want["classes"]) == [b"0", b"1", b"2", b"3", b"4"]
os.rename("out.npz", "again.npz")
for words in (["again.npz"], ["whole.npz", "--set", "data.names=x_train,y_train,x_test,y_test"]):
    got = dict(fptrain(*words)[0])
    assert got.keys() == want.keys() and all(is_same(got[k], want[k]) for k in want), words

# Divided by the seed: every sample in one part, its share of each class, another choice for another seed.
np.savez("one.npz", images=np.arange(2000, dtype="<f4").reshape(1000, 2), labels=np.repeat([0, 1, 2], [500, 300, 200]))
parts = []
for seed, share in ((1, 0.1), (1, 0.1), (2, 0.1), (1, 0.25)):
    got, _ = fptrain("one.npz", "--set", "data.seed=%d" % seed, "--set", "data.test_share=%g" % share)
    both = np.concatenate([got["x_train"], got["x_test"]])
    assert sorted(both[:, 0]) == list(range(0, 2000, 2)) and (both[:, 1] == both[:, 0] + 1).all()
    assert list(np.bincount(got["y_test"])) == [round(share * k) for k in (500, 300, 200)]
    assert (np.concatenate([got["y_train"], got["y_test"]]) == np.searchsorted([1000, 1600], both[:, 0], "right")).all()
    assert (np.diff(got["x_train"][:, 0]) > 0).all() and (np.diff(got["x_test"][:, 0]) > 0).all()
    parts.append(got["x_test"][:, 0].tolist())
assert parts[0] == parts[1] != parts[2]
np.savez("apart.npz", X=np.ones((3, 2), "<f8"), y=[2, 2, 1])
got, _ = fptrain("one.npz", "--set", "data.test=apart.npz")
assert len(got["x_train"]) == 1000 and is_same(got["x_test"], np.ones((3, 2), "f4"))
assert list(got["y_test"]) == [2, 2, 1]

# Numbers in place of the measured ones
for words, mean, deviation in ((["data.normalise=none"], [0] * 3, [1] * 3),
                               (["data.mean=0.5", "data.deviation=0.25,0.5,1"], [0.5] * 3, [0.25, 0.5, 1]),
                               (["data.normalise=all"], [x[:n].mean() / 255] * 3, [x[:n].std() / 255] * 3)):
    got, _ = fptrain("whole.npz", *[w for word in words for w in ("--set", word)])
    np.testing.assert_allclose(got["mean"], mean, rtol=1e-12)
    np.testing.assert_allclose(got["deviation"], deviation, rtol=1e-12)

# Defects, for the shell to try
def bad(name, **arrays):
    np.savez(name + ".npz", **arrays)
bad("shape", x_train=np.zeros((4, 3, 5, 3), "u1"), y_train=np.arange(4))
bad("count", x=np.zeros((4, 3), "u1"), y=np.arange(5))
bad("nan", x=np.array([[0, 1], [np.nan, 2]]), y=np.arange(2))
bad("beyond", x=np.array([[0, 1], [2, 1e39]]), y=np.arange(2))
bad("negative", x=np.zeros((3, 3), "u1"), y=np.array([0, 1, -1]))
bad("many", x=np.zeros((3, 3), "u1"), y=np.array([0, 1, 65536]))
bad("real", x=np.zeros((3, 3), "u1"), y=np.array([0, 1, 1.5]))
bad("hot", x=np.zeros((3, 3), "u1"), y=np.eye(3, dtype="i4"))
bad("other", a=np.zeros((3, 3), "u1"), b=np.arange(3))
bad("half", x_train=np.zeros((3, 3), "u1"), y_train=np.arange(3), x_test=np.zeros((3, 3), "u1"))
three = {"y_train": np.arange(3), "y_test": np.arange(3)}
bad("unlike", x_train=np.zeros((3, 3), "u1"), x_test=np.zeros((3, 4), "u1"), **three)
bad("mixed", x_train=np.zeros((3, 3), "u1"), x_test=np.zeros((3, 3)), **three)
bad("complex", x=np.zeros((3, 3), "c8"), y=np.arange(3))
bad("words", x=np.array([["a"]]), y=np.arange(1))
bad("empty", x=np.zeros((0, 3)), y=np.zeros(0, "i4"))
bad("single", x=np.zeros((5, 3), "u1"), y=np.zeros(5, "i4"))
bad("line", x=np.zeros(5, "u1"), y=np.arange(5))
whole = open("whole.npz", "rb").read()
open("cut.npz", "wb").write(whole[:len(whole) // 2])
place = whole.index(x[:n].tobytes()[:40]) + 50
open("flipped.npz", "wb").write(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1:])
for name, code, shape in ("promise", "<f8", (1048576, 1048576)), ("signed", "|S-1", (3, 1)):
    header = b"%r" % {"descr": code, "fortran_order": False, "shape": shape}
    bad(name, y=np.arange(3))
    with zipfile.ZipFile(name + ".npz", "a") as file:
        file.writestr("x.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + bytes(100))
np.savez("lenet.npz", x_train=rng.integers(0, 256, (60, 40, 40, 3)).astype("u1"), y_train=np.arange(60) % 7)
np.savez("lenet8.npz", x_train=np.load("lenet.npz")["x_train"], y_train=np.arange(60) % 8)
END
python3 judge.py || { failed 'judge.py'; finish; }

refuses 'may be the second or the last: data.layout = nchw or nhwc' data shape.npz
refuses 'count.npz: y: 5 labels of 4 samples' data count.npz
refuses 'nan.npz: x: element 2 is NaN' data nan.npz
refuses 'beyond.npz: x: element 3 is infinite, or beyond float32' data beyond.npz
refuses 'negative.npz: y: element 2, -1, is not in 0..65535' data negative.npz
refuses 'many.npz: y: element 2, 65536, is not in 0..65535' data many.npz
refuses "real.npz: y: elements of type '<f8'; classes and tokens are whole numbers" data real.npz
refuses 'hot.npz: y: 2 dimensions; classes and tokens are one number each' data hot.npz
refuses 'data.names = INPUTS,LABELS says which (there are: a, b)' data other.npz
refuses "half.npz: 'x_test' without 'y_test'" data half.npz
refuses 'unlike.npz: x_test: samples of 4 x 1 x 1 numbers' data unlike.npz
refuses 'of bytes (uint8), the other of other numbers' data mixed.npz
refuses "complex.npz: x: elements of type '<c8'" data complex.npz
refuses "words.npz: x: elements of type '<U1'" data words.npz
refuses 'empty.npz: x: an extent of 0' data empty.npz
refuses 'one class alone is nothing to learn' data single.npz
refuses 'line.npz: x: 1 dimensions; samples are' data line.npz
refuses 'cut.npz: zip archive' data cut.npz
refuses 'flipped.npz: x_train: zip archive: CRC error' data flipped.npz
refuses 'promise.npz: x: truncated' data promise.npz
refuses "signed.npz: x: elements of type '|S-1'" data signed.npz
refuses "whole.npz: no array 'a'" data whole.npz --set data.names=a,b
refuses "'a,b,c': 3 names" data whole.npz --set data.names=a,b,c
refuses 'element 3, 4, is not in 0..3' data whole.npz --set data.classes=4
refuses "data.mean: 'x' is no number" data whole.npz --set data.mean=x
refuses 'data.mean: 2 numbers for 3 channels' data whole.npz --set data.mean=1,2
refuses "data.deviation: '0' is no number above 0" data whole.npz --set data.deviation=0
refuses 'features cannot be padded' data one.npz --set data.pad=8
refuses 'features are no images' run --data one.npz --model mlp --set data.flip=yes
refuses 'needs images' run --data one.npz --model lenet
"$FPTRAIN" data whole.npz --set data.classes=50 | grep -q ', 50 classes,' || failed 'data.classes'

# Through a link that leads to nothing yet, which stays; nothing of a file that could not be written.
mkdir beyond
ln -s beyond/out.npz link.npz
"$FPTRAIN" data whole.npz --npz link.npz >out 2>&1 || failed "--npz through a link: $(cat out)"
holds -L link.npz
"$FPTRAIN" data whole.npz --npz plain.npz >out 2>&1 || failed "--npz: $(cat out)"
same beyond/out.npz plain.npz
refuses 'nowhere/x.npz: No such file' data whole.npz --npz nowhere/x.npz
[ ! -c /dev/full ] || refuses 'No space left' data whole.npz --npz /dev/full
[ ! -e /dev/stdout ] || { echo before >appended && "$FPTRAIN" data whole.npz --npz /dev/stdout >>appended 2>err &&
    failed '--npz appends to a file'; }

# The last layer has as many outputs as there are classes, on pictures of any size; what a run learnt it keeps to.
"$FPTRAIN" run --data lenet.npz --model lenet --epochs 1 --out run >out 2>&1 ||
    failed "lenet on 40 x 40 x 3: $(cat out)"
grep -q '"parameters": *[0-9]' run/summary.json || failed 'a summary without parameters'
cp lenet8.npz lenet.npz
refuses "others than those of the checkpoint" run --resume --data lenet.npz --model lenet --epochs 1 --out run

# The example, as it says
python3 "$example" || failed 'spirals.py'
for format in '' e4m3fn e2m1; do
    "$FPTRAIN" run --data spirals.npz --model mlp --epochs 20 \
        ${format:+--set formats.v=$format --set formats.w=$format} >out 2>&1 || failed "spirals in $format: $(cat out)"
    right=$(sed -n 's/^epoch 20.*test \([0-9]*\)\..*/\1/p' out)
    case $format in
    e2m1) holds "$right" -lt 50 ;;
    *) holds "$right" -ge 90 ;;
    esac
done
finish
