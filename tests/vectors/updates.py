#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Weights after steps of optimisers, and losses with smoothed labels, for tests/fptrain/updates.c.

    python3 updates.py >updates.txt

Computed with decimal numbers of 60 digits from the definitions of PyTorch's SGD, Adam, AdamW, clip_grad_norm_,
clip_grad_value_ and CrossEntropyLoss, and of adaptive clipping in Brock et al. 2021. A line `case`, name, optimiser,
momentum, beta2, epsilon, decay, clip, clipping, patterns without decay, patterns without clipping (- where there is
none) begins a case; `step`, its rate, how many parts were clipped and the elements of all parameters follow for each
step. A line `loss`, smoothing, rows, classes and the loss is followed by the gradient of each row. The gradients and
the first weights are those of `start` and `gradient` below; numbers that are read have 17 digits.
"""
from decimal import Decimal, getcontext
from fnmatch import fnmatchcase

getcontext().prec = 60
MASK = (1 << 64) - 1
SHAPES = (("linear1.weight", (2, 3)), ("linear1.bias", (2,)), ("linear2.weight", (2, 2)), ("linear2.bias", (2,)))
STEPS = 6
CASES = (
    ("plain", "sgd", 0, 0, 0, "0.0625", 0, "norm", "-", "-"),
    ("momentum", "momentum", "0.9", 0, 0, "0.01", 0, "norm", "-", "-"),
    ("nesterov", "nesterov", "0.8", 0, 0, "0.01", 0, "norm", "*.bias", "-"),
    ("adam", "adam", "0.9", "0.999", "1e-8", "0.01", 0, "norm", "-", "-"),
    ("adamw", "adamw", "0.9", "0.999", "1e-8", "0.01", 0, "norm", "-", "-"),
    ("adamw_far", "adamw", "0.8", "0.95", "1e-3", "0.5", 0, "norm", "-", "-"),
    ("adamw_some", "adamw", "0.9", "0.99", "1e-8", "0.25", 0, "norm", "*.bias,linear2.*", "-"),
    ("norm", "momentum", "0.9", 0, 0, "0.01", "0.5", "norm", "-", "-"),
    ("norm_some", "adamw", "0.9", "0.99", "1e-3", "0.1", "0.5", "norm", "-", "linear2.*"),
    ("tensor", "sgd", 0, 0, 0, "0.01", "0.25", "tensor", "-", "-"),
    ("tensor_some", "adamw", "0.9", "0.99", "1e-3", "0.1", "0.25", "tensor", "*.bias", "*.bias"),
    ("value", "momentum", "0.9", 0, 0, "0.01", "0.125", "value", "-", "-"),
    ("value_some", "adamw", "0.9", "0.99", "1e-3", "0.1", "0.125", "value", "-", "linear1.*"),
    ("adaptive", "nesterov", "0.9", 0, 0, "0.01", "0.25", "adaptive", "-", "linear2.*"),
)


def sequence(seed, i):
    """The numbers of tests/fptrain/harness.c, times 4096."""
    z = ((seed * 1000003 + i + 1) * 6364136223846793005) & MASK
    z = ((z ^ (z >> 29)) * 6364136223846793005 + 1442695040888963407) & MASK
    k = (z >> 40) & 8191
    return k - 4096 + (k == 0)


def start(p, i):
    """The first value of element i of parameter p: a whole number of 4096ths."""
    return sequence(10 + p, i)


def gradient(p, i, step):
    """The same of its gradient, in 2^-16ths; in the first step small, so that not all is clipped."""
    return sequence(100 * step + p, i) * (1 if step == 1 else 16)


def rate(step):
    """Of step 1, 2, ...: multiples of 2^-10, so that they are what a program reads."""
    return Decimal((80, 64, 48, 32, 24, 16)[step - 1]) / 1024


def fits(name, patterns):
    return any(fnmatchcase(name, pattern) for pattern in patterns.split(","))


def size(shape):
    n = 1
    for d in shape:
        n *= d
    return n


def norm(numbers):
    return sum(x * x for x in numbers).sqrt()


def factor(limit, length):
    return min(Decimal(1), limit / (length + Decimal("1e-6")))


def clipped(gradients, weights, limit, kind, exempt):
    """The gradients, and how many parts were made smaller."""
    taken = [p for p in range(len(SHAPES)) if not fits(SHAPES[p][0], exempt)]
    count = 0
    if limit == 0:
        return gradients, 0
    made = list(gradients)
    if kind == "norm":
        f = factor(limit, norm([x for p in taken for x in gradients[p]]))
        count = int(f < 1)
        for p in taken:
            made[p] = [f * x for x in gradients[p]]
        return made, count
    for p in taken:
        g, w = gradients[p], weights[p]
        if kind == "tensor":
            f = factor(limit, norm(g))
            count += f < 1
            made[p] = [f * x for x in g]
        elif kind == "value":
            count += sum(abs(x) > limit for x in g)
            made[p] = [max(-limit, min(limit, x)) for x in g]
        else:
            shape = SHAPES[p][1]
            length = len(g) // shape[0] if len(shape) > 1 else len(g)
            made[p] = []
            for r in range(0, len(g), length):
                most = limit * max(norm(w[r:r + length]), Decimal("1e-3"))
                n = norm(g[r:r + length])
                f = most / max(n, Decimal("1e-6")) if n > most else Decimal(1)
                count += n > most
                made[p] += [f * x for x in g[r:r + length]]
    return made, count


def run(case):
    name, optimizer, *numbers, kind, no_decay, no_clip = case
    mu, beta2, epsilon, decay, limit = (Decimal(x) for x in numbers)
    weights = [[Decimal(start(p, i)) / 4096 for i in range(size(s))] for p, (_, s) in enumerate(SHAPES)]
    m = [[Decimal(0)] * len(w) for w in weights]
    v = [[Decimal(0)] * len(w) for w in weights]
    print("case", *case)
    for t in range(1, STEPS + 1):
        lr = rate(t)
        raw = [[Decimal(gradient(p, i, t)) / 65536 for i in range(len(w))] for p, w in enumerate(weights)]
        made, count = clipped(raw, weights, limit, kind, no_clip)
        for p, w in enumerate(weights):
            wd = Decimal(0) if fits(SHAPES[p][0], no_decay) else decay
            for i in range(len(w)):
                g = made[p][i]
                if optimizer == "adamw":
                    w[i] -= lr * wd * w[i]
                else:
                    g += wd * w[i]
                if optimizer in ("adam", "adamw"):
                    m[p][i] = mu * m[p][i] + (1 - mu) * g
                    v[p][i] = beta2 * v[p][i] + (1 - beta2) * g * g
                    root = (v[p][i] / (1 - beta2 ** t)).sqrt() + epsilon
                    w[i] -= lr * (m[p][i] / (1 - mu ** t)) / root
                else:
                    m[p][i] = g if t == 1 else mu * m[p][i] + g
                    w[i] -= lr * (g + mu * m[p][i] if optimizer == "nesterov" else m[p][i])
        print("step", lr, count, *(f"{x:.16e}" for w in weights for x in w))


LOSSES = (("0", 3, 5), ("0.1", 4, 10), ("0.25", 5, 3), ("1", 2, 4))


def logit(rows, i):
    """Logits in 512ths, up to 8 in magnitude."""
    return sequence(1000 + rows, i)


def loss(smoothing, rows, classes):
    e = Decimal(smoothing)
    total, gradients = Decimal(0), []
    for r in range(rows):
        x = [Decimal(logit(rows, r * classes + i)) / 512 for i in range(classes)]
        label = (7 * r + 1) % classes
        target = [(e / classes) + (1 - e if i == label else 0) for i in range(classes)]
        exponentials = [y.exp() for y in x]
        whole = sum(exponentials)
        total += sum(t * (whole.ln() - y) for t, y in zip(target, x))
        gradients.append([(y / whole - t) / rows for t, y in zip(target, exponentials)])
    print("loss", smoothing, rows, classes, f"{total / rows:.16e}")
    for row in gradients:
        print(*(f"{x:.16e}" for x in row))


if __name__ == "__main__":
    for one in CASES:
        run(one)
    for one in LOSSES:
        loss(*one)
