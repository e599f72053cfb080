#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Texts of bytes and of UTF-8, of one file and several, and numbers of tokens are what Python makes of the same bytes.
FPEMU=$FPTRAIN
. "$(dirname "$0")/common.sh"
python3 -c 'import zipfile' >/dev/null 2>&1 || { echo 'skipped: no Python 3 to make files with'; exit 77; }

cat >judge.py <<'END'
import array, os, random, struct, subprocess, zipfile

def fptrain(*words):
    said = subprocess.run([os.environ["FPTRAIN"], "data", *words, "--npz", "out.npz"], capture_output=True, text=True)
    assert said.returncode == 0, (words, said.stderr)
    members = {}
    with zipfile.ZipFile("out.npz") as archive:
        for name in archive.namelist():
            data = archive.read(name)
            start = 10 + struct.unpack("<H", data[8:10])[0]
            code = [letter for kind, letter in ((b"<u2", "H"), (b"<u4", "I")) if kind in data[:start]]
            members[name[:-4]] = array.array(code[0], data[start:]).tolist() if code else None
    return members, said.stdout

def put(name, data):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    open(name, "wb").write(data)

def check(got, train, test):
    """Sequences of characters, or of bytes."""
    symbols = sorted(set(train) | set(test))
    number = {s: k for k, s in enumerate(symbols)}
    assert got["symbols"] == [s if isinstance(s, int) else ord(s) for s in symbols]
    assert got["train"] == [number[s] for s in train]
    assert got["test"] == [number[s] for s in test]

random.seed(3)
text = "".join(random.choice("az é߿ࠀ€\uffff\U00010000\U0010ffff中文") for _ in range(997))
put("one.txt", text.encode())
utf8 = ["--set", "data.characters=utf8"]
for words, whole in (([], text.encode()), (utf8, text)):
    for share in 0.1, 0.25, 0.5:
        got, _ = fptrain("text:one.txt", *words, "--set", "data.test_share=%g" % share)
        n = len(whole) - int(len(whole) * share)
        check(got, whole[:n], whole[n:])
    check(fptrain("one.txt", *words)[0], whole[:len(whole) - len(whole) // 10], whole[len(whole) - len(whole) // 10:])
put("hundred.txt", b"abcdefghij" * 10)
for percent in 7, 29, 57, 58: # decimal shares, whose binary64 numbers times 100 lie on either side of these
    got, _ = fptrain("hundred.txt", "--set", "data.test_share=%g" % (percent / 100))
    check(got, (b"abcdefghij" * 10)[:-percent], (b"abcdefghij" * 10)[-percent:])
every = "".join(chr(c) for c in list(range(1, 0xd800)) + list(range(0xe000, 0xffff)))
put("every.txt", every[:65536].encode())
check(fptrain("every.txt", *utf8)[0], every[:len(every) - len(every) // 10], every[len(every) - len(every) // 10:])

# Several files, in the order of the list, or of the names in a directory; a part for testing that lies apart
pieces = {"b.txt": "second " * 5, "a.txt": "first " * 7, "c.txt": "third €" * 3}
for name, piece in pieces.items():
    put("dir/" + name, piece.encode())
listed = pieces["b.txt"] + pieces["a.txt"]
got, _ = fptrain("text:dir/b.txt,dir/a.txt", *utf8, "--set", "data.test=dir/c.txt")
check(got, listed, pieces["c.txt"])
whole = "".join(pieces[name] for name in sorted(pieces))
got, _ = fptrain("text:dir", *utf8)
check(got, whole[:len(whole) - len(whole) // 10], whole[len(whole) - len(whole) // 10:])

# Tokens: as nanoGPT writes them, and in .npy
def npy(code, kind, numbers):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (code, len(numbers))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    start = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode()
    return start + struct.pack(kind % len(numbers), *numbers)
tokens = [random.randrange(50000) for _ in range(3000)] + [50256]
put("gpt/train.bin", struct.pack("<%dH" % len(tokens), *tokens))
put("gpt/val.bin", struct.pack("<3H", 7, 8, 9))
got, said = fptrain("gpt")
assert got == {"train": tokens, "test": [7, 8, 9]}
assert "tokens: 3001 tokens for training, 3 for testing, 50257 classes" in said
assert ", 50304 classes" in fptrain("tokens:gpt", "--set", "data.classes=50304")[1]
for code, kind in ("<u2", "<%dH"), (">i4", ">%di"), ("<i8", "<%dq"):
    put("tokens.npy", npy(code, kind, tokens))
    for where in "tokens.npy", "tokens:tokens.npy":
        got, _ = fptrain(where)
        assert got["train"] == tokens[:2701] and got["test"] == tokens[2701:]
put("small.bin", struct.pack("<400H", *[k * k % 37 for k in range(400)]))

# IDX of other than ten classes, and names as EMNIST has them
def idx(shape, data):
    return bytes([0, 0, 8, len(shape)]) + struct.pack(">%dI" % len(shape), *shape) + bytes(data)
for word, classes, test in ("letters", 27, "test"), ("digits", 4, "t10k"):
    for part, count in ("train", 60), (test, 30):
        name = "emnist/%s-%s" % (word, part)
        put(name + "-images-idx3-ubyte", idx([count, 16, 16], [k % 251 for k in range(count * 256)]))
        put(name + "-labels-idx1-ubyte", idx([count], [k % classes for k in range(count)]))
for word, classes in ("letters", 27), ("digits", 4):
    got, said = fptrain("idx:emnist/" + word)
    assert "idx: 60 samples for training, 30 for testing, %d classes, 16 x 16 pixels" % classes in said, said

put("long.txt", b"abcd " * 400)
put("shorter.txt", b"abcabc")
put("short.txt", b"abca")
put("latin.txt", "naïve ".encode("latin-1") * 9)
for name, data in (("overlong", b"\xc0\xaf"), ("surrogate", b"\xed\xa0\x80"), ("beyond", b"\xf4\x90\x80\x80"),
                   ("cut", b"\xe2\x82")):
    put(name + ".txt", b"x" * 30 + data)
put("odd.bin", b"123")
put("none.bin", b"")
put("minus.npy", npy("<i2", "<%dh", [1, -1]))
put("real.npy", npy("<f4", "<%df", [1.0, 2.0]))
put("promise.npy", npy("<u2", "<%dH", tokens)[:-1])
END
python3 judge.py || { failed 'judge.py'; finish; }

for name in overlong surrogate beyond cut; do
    fails_data "$name.txt: byte 30 begins no character of UTF-8" $name.txt --set data.characters=utf8
    "$FPTRAIN" data $name.txt >/dev/null || failed "the bytes of $name.txt"
done
fails_data 'latin.txt: byte 2 begins no character' latin.txt --set data.characters=utf8
fails_data 'no-such.txt: No such file' text:one.txt,no-such.txt
fails_data 'for testing leave nothing for one part' text:dir/a.txt --set data.test_share=0.001
fails_data 'odd.bin: 3 bytes are no numbers of two bytes' tokens:odd.bin
fails_data 'none.bin: 0 bytes are no numbers' tokens:none.bin
fails_data 'minus.npy: element 1, -1, is not in 0..65535' tokens:minus.npy
fails_data "real.npy: elements of type '<f4'" real.npy
fails_data 'promise.npy: truncated' promise.npy
fails_data 'small.bin: token 6, 36, is not in 0..35' tokens:small.bin --set data.classes=36
fails_data 'emnist/letters: a label is 26, and data.classes says 26 classes' idx:emnist/letters --set data.classes=26
# What is said of files of other kinds
fails_data "data.test is nothing that data of the kind 'digits' use" digits --set data.test=one.txt
fails_data "data.characters is nothing that data of the kind 'tokens' use" tokens:small.bin --set data.characters=utf8
fails_data "data.layout is nothing that data of the kind 'text' use" one.txt --set data.layout=nchw
fails_data 'emnist: has several data sets: idx:emnist/digits is one, idx:emnist/letters another' idx:emnist
fails_data 'no file other-train-images-idx3-ubyte' idx:emnist/other

# Both kinds are trained on; formats round what a layer computes, not the numbers of tokens.
for model in charlstm chargpt; do
    "$FPTRAIN" run --data tokens:small.bin --model $model --batch 4 --epochs 1 --set data.steps=8 \
        --set model.width=0.25 --set formats.v=e4m3fn >out 2>&1 || failed "$model on tokens: $(cat out)"
done
"$FPTRAIN" run --data tokens:gpt --model charlstm --batch 4 --epochs 1 --set data.steps=2 --set model.width=0.1 \
    --set formats.v=e2m1 --set data.limit=40 >out 2>&1 || failed "charlstm on tokens: $(cat out)"
"$FPTRAIN" run --data text:one.txt --model charlstm --batch 4 --epochs 1 --set data.steps=8 --set model.width=0.1 \
    --set data.characters=utf8 >out 2>&1 || failed "charlstm on UTF-8: $(cat out)"
# As few characters as a run needs: twice data.steps, and data.steps and one
"$FPTRAIN" run --data text:shorter.txt --model charlstm --set data.test=short.txt --set data.steps=3 \
    --set model.width=0.1 --epochs 1 >out 2>&1 || failed "short texts: $(cat out)"
# A test part shorter than a sample tests nothing
"$FPTRAIN" run --data text:long.txt --model charlstm --set data.steps=300 --set model.width=0.1 >out 2>err
holds $? -eq 2
grep -qxF 'fptrain: run: text:long.txt: not one sample to test with' err || failed "no test part: $(cat err)"
"$FPTRAIN" run --data text:long.txt --model charlstm --set data.crop=2 >out 2>err
holds $? -eq 2
grep -qF 'cannot be cropped or mirrored' err || failed "crops of a text: $(cat err)"
"$FPTRAIN" run --data idx:emnist/letters --model lenet --epochs 1 >out 2>&1 || failed "lenet on 27 classes: $(cat out)"
finish
