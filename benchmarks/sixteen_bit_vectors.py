#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What vectors of 16 bits on the levels of multigrid cost in convergence: cycles whose vectors are stored in 16 bits (arithmetic in single), as corrections of a double solution.

The five-point matrix (4 and -1) on N x N nodes, N = 2^m - 1, refinement with one V(2,2)-cycle of damped Jacobi (omega 0.8) each; x, b and residuals of all levels are rounded when they
are stored, a residual is scaled by a power of two so that its largest value is near 1. Printed: the true relative residual and the relative error (largest norms) after each correction.
Right-hand sides: A 1, random numbers, 1 (smooth). Usage: sixteen_bit_vectors.py [N ...]
"""
import sys

import numpy as np


def multiply(x):
    y = 4 * x
    y[1:] -= x[:-1]
    y[:-1] -= x[1:]
    y[:, 1:] -= x[:, :-1]
    y[:, :-1] -= x[:, 1:]
    return y


def to_bfloat16(v):
    bits = np.ascontiguousarray(v, dtype=np.float32).view(np.uint32)
    return ((bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000).view(np.float32)


STORED = {"single": lambda v: v.astype(np.float32), "fp16": lambda v: v.astype(np.float16).astype(np.float32), "bf16": to_bfloat16}


def restrict(r):  # full weighting; 4 times, as the coarse matrix is the same stencil
    lines = r[0:-2:2] + 2 * r[1::2] + r[2::2]
    return (lines[:, 0:-2:2] + 2 * lines[:, 1::2] + lines[:, 2::2]) / np.float32(4)


def prolongate(c, n):
    lines = np.zeros((n, c.shape[1]), np.float32)
    lines[1::2] = c
    lines[0:-1:2] += c / 2
    lines[2::2] += c / 2
    x = np.zeros((n, n), np.float32)
    x[:, 1::2] = lines
    x[:, 0:-1:2] += lines / 2
    x[:, 2::2] += lines / 2
    return x


def cycle(b, store):
    n = b.shape[0]
    if n == 1:
        return store(b / 4)
    scale = np.float32(2.) ** -int(np.floor(np.log2(np.abs(b).max())) if b.any() else 0)  # a level's own scale, exact
    b = store(b * scale)
    x = store(np.float32(0.2) * b)
    x = store(x + np.float32(0.2) * (b - multiply(x)))
    x = store(x + prolongate(cycle(store(restrict(b - multiply(x))), store), n))
    for _ in range(2):
        x = store(x + np.float32(0.2) * (b - multiply(x)))
    return x / scale


def main(sizes):
    generator = np.random.default_rng(1)
    for n in sizes:
        s = np.arange(1, n + 1) / (n + 1)
        sides = {"A 1": multiply(np.ones((n, n))), "random": generator.uniform(-1, 1, (n, n)), "1": np.ones((n, n))}
        for name, b in sides.items():
            for kind, store in STORED.items():
                x, r, said = np.zeros((n, n)), b.copy(), []
                for _ in range(12):
                    factor = 2. ** -np.floor(np.log2(np.abs(r).max()))
                    c = cycle((factor * r).astype(np.float32), store).astype(np.float64) / factor
                    x += c
                    r = b - multiply(x)
                    said.append(np.linalg.norm(r) / np.linalg.norm(b))
                    if not said[-1] > 1e-10:
                        break
                print(f"{n:5} {name:7} {kind:7} {len(said):3}  " + " ".join(f"{v:.1e}" for v in said), flush=True)


if __name__ == "__main__":
    main([int(a) for a in sys.argv[1:]] or [127, 511, 1023])
