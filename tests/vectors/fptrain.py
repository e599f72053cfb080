#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Losses, logits and gradients of small networks by PyTorch in double precision, for tests/fptrain/networks.c.

    pip install torch; python3 fptrain.py >fptrain.txt

A line `network loss correct` begins a network; `logits` and every parameter follow: name, number of elements, sum of
element times a fixed sequence, sum of squares, and at most six elements, as index:value.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
MASK = (1 << 64) - 1


def sequence(seed, i):
    """The numbers of tests/fptrain/harness.c."""
    z = ((seed * 1000003 + i + 1) * 6364136223846793005) & MASK
    z = ((z ^ (z >> 29)) * 6364136223846793005 + 1442695040888963407) & MASK
    k = (z >> 40) & 8191
    return (k - 4096 + (k == 0)) / 4096


def numbers(seed, shape, spread=1.0, start=0.0):
    n = 1
    for d in shape:
        n *= d
    exact = [start + spread * sequence(seed, i) for i in range(n)]
    return torch.tensor(exact).to(torch.float32).to(torch.float64).reshape(shape)


class Parameters:
    """Handed out in the order in which the operators of the C program own them."""

    def __init__(self):
        self.all = []

    def new(self, name, *shape):
        scale = name.endswith(".scale")
        p = nn.Parameter(numbers(40 + len(self.all), shape, 0.25, 1.0 if scale else 0.0))
        self.all.append((name, p))
        return p


def norm(p, x, number):
    c = x.shape[1]
    scale, shift = p.new(f"batch_norm{number}.scale", c), p.new(f"batch_norm{number}.shift", c)
    return F.batch_norm(x, None, None, scale, shift, training=True)


def lenet(p, x):
    x = F.conv2d(x, p.new("conv1.weight", 6, 1, 5, 5), p.new("conv1.bias", 6), padding=2)
    x = F.max_pool2d(F.relu(x), 2)
    x = F.conv2d(x, p.new("conv2.weight", 16, 6, 5, 5), p.new("conv2.bias", 16))
    x = F.max_pool2d(F.relu(x), 2).flatten(1)
    x = F.relu(F.linear(x, p.new("linear1.weight", 120, 400), p.new("linear1.bias", 120)))
    x = F.relu(F.linear(x, p.new("linear2.weight", 84, 120), p.new("linear2.bias", 84)))
    return F.linear(x, p.new("linear3.weight", 10, 84), p.new("linear3.bias", 10))


def residual(p, x):
    x = F.relu(norm(p, F.conv2d(x, p.new("conv1.weight", 8, 3, 3, 3), padding=1), 1))
    y = F.relu(norm(p, F.conv2d(x, p.new("conv2.weight", 16, 8, 3, 3), padding=1, stride=2), 2))
    y = norm(p, F.conv2d(y, p.new("conv3.weight", 16, 16, 3, 3), padding=1), 3)
    x = F.relu(y + F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 0, 8)))
    a, b = x[:, :8], x[:, 8:]
    b = F.relu6(norm(p, F.conv2d(b, p.new("conv4.weight", 8, 1, 3, 3), padding=1, groups=8), 4))
    x = shuffle(torch.cat([a, b], 1), 2)
    y = F.conv2d(x, p.new("conv5.weight", 8, 8, 3, 3), p.new("conv5.bias", 8), padding=1, groups=2)
    x = torch.cat([F.max_pool2d(x, 3, 2, 1), F.avg_pool2d(y, 3, 2, 1), F.avg_pool2d(x, 3, 2, 1)], 1)
    x = F.adaptive_avg_pool2d(torch.sigmoid(x), 1).flatten(1)
    return F.linear(torch.tanh(x), p.new("linear1.weight", 7, 40), p.new("linear1.bias", 7))


def shuffle(x, groups):
    n, c, h, w = x.shape
    return x.reshape(n, groups, c // groups, h, w).transpose(1, 2).reshape(n, c, h, w)


def layers(p, x):
    x = F.relu6(8 * F.conv2d(x, p.new("conv1.weight", 4, 3, 3, 3), p.new("conv1.bias", 4), padding=1))
    x = F.conv2d(x, p.new("conv2.weight", 4, 1, 3, 3), padding=1, groups=4)
    x = F.conv2d(x, p.new("conv3.weight", 6, 4, 5, 5), stride=2, padding=2)
    x = F.conv2d(x, p.new("conv4.weight", 5, 6, 3, 3))
    y = F.conv2d(x, p.new("conv5.weight", 8, 5, 1, 1), stride=2)
    x = y + F.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, 0, 3))
    x = torch.tanh(F.conv2d(x, p.new("conv6.weight", 4, 8, 1, 1), p.new("conv6.bias", 4)))
    x = F.conv2d(x, p.new("conv7.weight", 6, 2, 3, 3), p.new("conv7.bias", 6), padding=1, groups=2)
    x = shuffle(torch.cat([F.relu(x), F.avg_pool2d(x, 3, 1, 1), F.relu(x)], 1), 3)
    x = F.max_pool2d(x, 2) + F.avg_pool2d(x, 2)
    x = F.conv2d(x, p.new("conv8.weight", 18, 1, 3, 3), p.new("conv8.bias", 18), stride=2, padding=1, groups=18)
    x = F.conv2d(F.relu(x), p.new("conv9.weight", 5, 18, 3, 3), stride=3, padding=2).flatten(1)
    x = F.relu(norm(p, F.linear(x, p.new("linear1.weight", 9, 20)), 1))
    return F.linear(x, p.new("linear2.weight", 6, 9), p.new("linear2.bias", 6))


def points(p, x):
    x = F.conv2d(x, p.new("conv1.weight", 6, 3, 1, 1), p.new("conv1.bias", 6))
    return F.adaptive_avg_pool2d(x, 1).flatten(1)


def recurrent(p, tokens):
    x = F.embedding(tokens, p.new("embedding1.weight", 11, 6))
    for layer, inputs in ((1, 6), (2, 10)):
        lstm = nn.LSTM(inputs, 10, batch_first=True)
        lstm.weight_ih_l0 = p.new(f"lstm{layer}.weight", 40, inputs)
        lstm.weight_hh_l0 = p.new(f"lstm{layer}.recurrent", 40, 10)
        lstm.bias_ih_l0 = p.new(f"lstm{layer}.bias", 40)
        lstm.bias_hh_l0 = nn.Parameter(torch.zeros(40))
        x = lstm(x)[0]
    return F.linear(x, p.new("linear1.weight", 11, 10), p.new("linear1.bias", 11)).flatten(0, 1)


def transformer(p, tokens):
    n, steps = tokens.shape
    x = F.embedding(tokens, p.new("embedding1.weight", 11, 12)) + p.new("positions1.weight", steps, 12)
    y = F.layer_norm(x, (12,), p.new("layer_norm1.scale", 12), p.new("layer_norm1.shift", 12))
    y = F.linear(y, p.new("linear1.weight", 36, 12), p.new("linear1.bias", 36))
    q, k, v = (t.reshape(n, steps, 3, 4).transpose(1, 2) for t in y.split(12, 2))
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(n, steps, 12)
    x = x + F.linear(y, p.new("linear2.weight", 12, 12), p.new("linear2.bias", 12))
    y = F.layer_norm(x, (12,), p.new("layer_norm2.scale", 12), p.new("layer_norm2.shift", 12))
    y = F.relu(F.linear(y, p.new("linear3.weight", 20, 12), p.new("linear3.bias", 20)))
    x = x + F.linear(y, p.new("linear4.weight", 12, 20), p.new("linear4.bias", 12))
    return F.linear(x, p.new("linear5.weight", 11, 12)).flatten(0, 1)


def show(name, t):
    flat = t.detach().flatten().tolist()
    dot = sum(x * sequence(99, i) for i, x in enumerate(flat))
    step = max(1, len(flat) // 6)
    some = " ".join(f"{i}:{flat[i]:.12g}" for i in range(0, len(flat), step)[:6])
    print(f"{name} {len(flat)} {dot:.12g} {sum(x * x for x in flat):.12g} {some}")


def run(build, x):
    p = Parameters()
    logits = build(p, x)
    rows, classes = logits.shape
    labels = torch.tensor([(i * 5 + 2) % classes for i in range(rows)])
    loss = F.cross_entropy(logits, labels)
    loss.backward()
    print(f"network {build.__name__} {loss.item():.12g} {(logits.argmax(1) == labels).sum().item()}")
    show("logits", logits)
    for name, parameter in p.all:
        show(name, parameter.grad)


SAMPLES = 10
run(lenet, numbers(3, (SAMPLES, 1, 28, 28)))
run(residual, numbers(3, (SAMPLES, 3, 16, 16)))
TOKENS = torch.tensor([i * 7 % 11 for i in range(SAMPLES * 9)]).reshape(SAMPLES, 9)
run(layers, numbers(3, (SAMPLES, 3, 44, 37)))
run(points, numbers(3, (SAMPLES, 3, 40, 33)))
run(recurrent, TOKENS)
run(transformer, TOKENS)
