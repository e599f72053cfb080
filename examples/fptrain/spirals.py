#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Data of one's own for fptrain: three spirals of points, as NumPy writes them.

    python3 spirals.py                                  # writes spirals.npz
    fptrain data spirals.npz
    fptrain run --data spirals.npz --model mlp --epochs 20
    fptrain run --data spirals.npz --model mlp --epochs 20 --set formats.v=e4m3fn --set formats.w=e4m3fn
    fptrain run --data spirals.npz --model mlp --epochs 20 --set formats.v=e2m1 --set formats.w=e2m1

It needs NumPy alone. The first two runs are right on more than 90 % of the test points, in FP32 and with activations
and weights of eight bits; with four bits the last is right on a third, which is chance.
"""
import numpy as np

rng = np.random.default_rng(1)
n = 3000
label = rng.integers(0, 3, n)
radius = rng.uniform(0.2, 1, n)
angle = 2 * np.pi * (label / 3 + radius) + rng.normal(0, 0.4, n)
points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
np.savez("spirals.npz", x=points.astype(np.float32), y=label)
