# SPDX-License-Identifier: BSD-2-Clause
"""The judge of weights_python.sh: PyTorch, safetensors and ml_dtypes on the same data as the trainer.

    weights_judge.py data DIR               writes pictures in MNIST's files, and a text
    weights_judge.py weights DIR            writes weights of PyTorch modules as safetensors
    weights_judge.py check DIR              compares what the trainer said and wrote
"""
import collections
import json
import os
import pathlib
import struct
import sys
import zlib

import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file

os.environ["OMP_NUM_THREADS"] = "1"
CLASSES, SIDE, TRAIN, TEST, BATCH, STEPS = 10, 28, 96, 64, 32, 16


def near(name, got, want, tolerance):
    if not abs(got - want) <= tolerance * abs(want):
        sys.exit(f"{name}: {got!r}, the judge has {want!r}")


def pictures(directory):
    """Training and test pictures as float32 with mean 0 and deviation 1 over the training part, and test labels."""
    def part(name):
        raw = np.frombuffer((directory / f"{name}-images-idx3-ubyte").read_bytes(), np.uint8, offset=16)
        return raw.reshape(-1, 1, SIDE, SIDE).astype(np.float64) / 255
    train, test = part("train"), part("t10k")
    labels = np.frombuffer((directory / "t10k-labels-idx1-ubyte").read_bytes(), np.uint8, offset=8).astype(np.int64)
    return [((x - train.mean()) / train.std()).astype(np.float32) for x in (train, test)] + [labels]


def write_data(directory):
    rng = np.random.default_rng(5)
    for name, count in (("train", TRAIN), ("t10k", TEST)):
        images = rng.integers(0, 256, (count, SIDE, SIDE), np.uint8)
        labels = rng.integers(0, CLASSES, count).astype(np.uint8)
        for what, start, data in (("images-idx3", (0x803, count, SIDE, SIDE), images),
                                  ("labels-idx1", (0x801, count), labels)):
            raw = struct.pack(f">{len(start)}I", *start) + data.tobytes()
            (directory / f"{name}-{what}-ubyte").write_bytes(raw)
    (directory / "text").write_bytes(rng.choice(np.frombuffer(b"abcdefg \n", np.uint8), 4000).tobytes())


def loss_of(logits, labels):
    """Mean cross entropy and accuracy, in double."""
    logits = logits.astype(np.float64)
    top = logits.max(1, keepdims=True)
    norm = np.log(np.exp(logits - top).sum(1)) + top[:, 0]
    return (norm - logits[np.arange(len(labels)), labels]).mean(), (logits.argmax(1) == labels).mean()


def said(directory, name):
    return json.loads((directory / f"{name}.json").read_text())["rows"]


def compare(directory, name, logits, labels, tolerance=1e-6, row=0):
    loss, accuracy = loss_of(logits, labels)
    got = said(directory, name)[row]
    near(f"{name}: loss", got["test_loss"], loss, tolerance)
    near(f"{name}: accuracy", got["test_accuracy"], accuracy, 0)


# ---------------------------------------------------------------------------------------------- the file itself

def check_checkpoint(directory):
    path = directory / "mlp/checkpoint.safetensors"
    raw = path.read_bytes()
    with safe_open(path, "np") as f:
        crc, _, size = f.metadata()["checksum"].split()[1:4]
        assert int(size) == len(raw)
        assert zlib.crc32(raw.replace(b"crc32 " + crc.encode(), b"crc32 00000000", 1)) == int(crc, 16)
        assert "name = mlp" in f.metadata()["settings"]
        assert f.get_tensor("linear1.weight").shape == (26, 784)
        assert f.get_tensor("optimizer.momentum.linear1.bias").dtype == np.float32
        assert f.get_tensor("optimizer.time").tolist() == [3]
        assert f.get_tensor("run.position").dtype == np.uint64
    own = load_file(directory / "mlp.safetensors")
    with safe_open(path, "np") as f:
        for name, x in own.items():
            assert np.array_equal(f.get_tensor(name), x), name


# ---------------------------------------------------------------------------------------------- formats

def check_formats(directory):
    """A small network by hand: weights in e4m3fn by ml_dtypes' cast, then values too, then with a scale for each."""
    import ml_dtypes
    _, test, labels = pictures(directory)
    w = load_file(directory / "mlp.safetensors")

    def cast(x):
        limit = np.float32(448)
        return np.clip(x, -limit, limit).astype(ml_dtypes.float8_e4m3fn).astype(np.float32)

    def scaled(x, most):
        """One scale: u = 448 / amax in binary32, elements by u and back by 1 / u."""
        u = np.float32(448) / np.float32(most)
        return (cast(x * u).astype(np.float64) * np.float64(np.float32(1) / u)).astype(np.float32)

    def forward(x, weight, value):
        x = x.reshape(len(x), -1)
        for i in (0, 1, 2, 3):
            x = value(x, f"v{i}") if i == 0 else x
            if i:
                x = x @ weight(w[f"linear{i}.weight"]).T + weight(w[f"linear{i}.bias"])
                x = value(x, f"v{i}")
                if i < 3:
                    x = value(np.maximum(x, 0), f"r{i}")
        return x

    def plain(x, _=None):
        return x

    compare(directory, "formats", forward(test, plain, plain), labels)
    compare(directory, "formats", forward(test, cast, plain), labels, row=1)
    # sums are added up in another order here, so that a value may fall on the other side of a tie
    compare(directory, "formats", forward(test, cast, lambda x, _: cast(x)), labels, 2e-3, row=2)

    def moment(x, _=None):
        return scaled(x, np.abs(x).max())

    batches = [forward(x, moment, moment) for x in np.split(test, TEST // BATCH)]
    compare(directory, "formats", np.concatenate(batches), labels, 2e-3, row=3)


# ---------------------------------------------------------------------------------------------- PyTorch

def lenet(torch):
    nn = torch.nn
    return nn.Sequential(collections.OrderedDict(
        conv1=nn.Conv2d(1, 6, 5, padding=2), relu1=nn.ReLU(), pool1=nn.MaxPool2d(2), conv2=nn.Conv2d(6, 16, 5),
        relu2=nn.ReLU(), pool2=nn.MaxPool2d(2), flat=nn.Flatten(), linear1=nn.Linear(400, 120), relu3=nn.ReLU(),
        linear2=nn.Linear(120, 84), relu4=nn.ReLU(), linear3=nn.Linear(84, CLASSES)))


def residual(torch):
    """resnet20 at a quarter of its width, with projections, its layers named as the trainer numbers them."""
    nn, sequence = torch.nn, iter(range(1, 100))

    class Net(nn.Module):
        def conv(self, a, b, kernel, stride):
            n = next(sequence)
            setattr(self, f"conv{n}", nn.Conv2d(a, b, kernel, stride, kernel // 2, bias=False))
            setattr(self, f"batch_norm{n}", nn.BatchNorm2d(b))
            return n

        def __init__(self):
            super().__init__()
            self.first, self.blocks, channels = self.conv(1, 4, 3, 1), [], 4
            for stage in range(3):
                for i in range(3):
                    wide, stride = 4 << stage, 2 if stage and not i else 1
                    block = [self.conv(channels, wide, 3, stride), self.conv(wide, wide, 3, 1)]
                    self.blocks.append(block + [self.conv(channels, wide, 1, stride) if channels != wide else None])
                    channels = wide
            self.linear1 = nn.Linear(16, CLASSES)

        def one(self, n, x):
            return getattr(self, f"batch_norm{n}")(getattr(self, f"conv{n}")(x))

        def forward(self, x):
            x = self.one(self.first, x).relu()
            for a, b, c in self.blocks:
                x = (self.one(b, self.one(a, x).relu()) + (self.one(c, x) if c else x)).relu()
            return self.linear1(x.mean((2, 3)))
    return Net()


def recurrent(torch):
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.embedding1, self.lstm1 = nn.Embedding(9, 16), nn.LSTM(16, 32, batch_first=True)
            self.linear1 = nn.Linear(32, 9)

        def forward(self, x):
            return self.linear1(self.lstm1(self.embedding1(x))[0]).reshape(-1, 9)
    return Net()


def characters(directory):
    """The test part in samples of STEPS characters, and those that follow each."""
    text = np.frombuffer((directory / "text").read_bytes(), np.uint8)
    part = np.searchsorted(np.unique(text), text)[len(text) - len(text) // 10:].astype(np.int64)
    samples = (len(part) - 1) // STEPS
    return part[:samples * STEPS].reshape(-1, STEPS), part[1:samples * STEPS + 1]


def run_torch(torch, net, path, x):
    from safetensors.torch import load_file as load
    net.load_state_dict(load(path), strict=True)
    net.eval()
    with torch.no_grad():
        return net(torch.from_numpy(x)).numpy()


def check_torch(directory):
    import torch
    torch.set_num_threads(1)
    _, test, labels = pictures(directory)
    compare(directory, "lenet", run_torch(torch, lenet(torch), directory / "lenet.safetensors", test), labels)
    logits = run_torch(torch, residual(torch), directory / "resnet.safetensors", test)
    compare(directory, "resnet", logits, labels, 1e-5)
    x, next_ones = characters(directory)
    compare(directory, "lstm", run_torch(torch, recurrent(torch), directory / "lstm.safetensors", x), next_ones, 1e-5)
    # the way back: PyTorch's own start, in 16 bits, an LSTM with two biases
    for name, net, data, wanted in (("half", lenet(torch), test, labels), ("back", recurrent(torch), x, next_ones)):
        logits = run_torch(torch, net.float(), directory / f"{name}.wide", data)
        compare(directory, name, logits, wanted, 1e-5)
    wide, loaded = load_file(directory / "half.wide"), load_file(directory / "loaded.safetensors")
    tuned = load_file(directory / "tuned.safetensors")
    assert loaded.keys() == wide.keys() == tuned.keys()
    for name in wide:
        assert np.array_equal(loaded[name], wide[name]), name
        assert np.array_equal(tuned[name], wide[name]) == (not name.startswith("linear3")), name


def write_weights(directory):
    import torch
    from safetensors.torch import save_file
    torch.manual_seed(3)
    for name, net in (("half", lenet(torch)), ("back", recurrent(torch))):
        short = (torch.float16, torch.bfloat16)
        state = {k: v.to(short[i % 2]) for i, (k, v) in enumerate(net.state_dict().items())}
        save_file(state, directory / f"{name}.safetensors")
        save_file({k: v.float() for k, v in state.items()}, directory / f"{name}.wide")
        if name == "half":
            save_file({k: v for k, v in state.items() if "linear3" not in k}, directory / "headless.safetensors")


if __name__ == "__main__":
    where = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "data":
        write_data(where)
    elif sys.argv[1] == "weights":
        write_weights(where)
    elif sys.argv[1] == "check":
        check_checkpoint(where)
        check_formats(where)
    else:
        check_torch(where)
