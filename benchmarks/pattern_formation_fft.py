#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a user's own short program does with the problem of pattern_formation.cc: SBDF2 with fixed steps, diffusion solved exactly by cosine transforms, with
SciPy on a host or PyTorch on a GPU (a step recorded as a CUDA graph). Prints seconds and the largest error of u against fields that pattern_formation has
written with --output, so that both stand beside each other at the same error."""
import argparse
import time

import numpy as np

GAMMA, KAPPA, A, B = 1000., 10., 0.126779, 0.792366


def initial_values(n):
    x = np.linspace(0., 1., n)
    p = 0.0016 * np.cos(2 * np.pi * (x[None, :] + x[:, None])) + 0.001 * sum(np.cos(2 * np.pi * j * x) for j in range(1, 9))[None, :]
    return np.stack([0.919145 + p, 0.937903 + p])


def eigenvalues(n):
    of_line = (2. * (n - 1) * np.sin(0.5 * np.pi * np.arange(n) / (n - 1)))**2
    sums = of_line[:, None] + of_line[None, :]
    return np.stack([sums, KAPPA * sums])


def reaction(u):
    product = u[0] * u[0] * u[1]
    return GAMMA * (A - u[0] + product), GAMMA * (B - product)


def with_scipy(n, end, n_steps, workers):
    from scipy.fft import dctn, idctn
    dt, u = end / n_steps, initial_values(n)
    start = time.perf_counter()
    first, others = 1. / (1. + dt * eigenvalues(n)), 1. / (1.5 + dt * eigenvalues(n))

    def solve(rhs, factor):
        return idctn(dctn(rhs, type=1, axes=(1, 2), workers=workers) * factor, type=1, axes=(1, 2), workers=workers)

    old, old_rate = u, np.stack(reaction(u))
    u = solve(u + dt * old_rate, first)
    for _ in range(n_steps - 1):
        rate = np.stack(reaction(u))
        u, old, old_rate = solve(2. * u - 0.5 * old + dt * (2. * rate - old_rate), others), u, rate
    return time.perf_counter() - start, u


def with_torch(n, end, n_steps, transform):
    import torch
    dt = end / n_steps

    def on_gpu(array):
        return torch.tensor(array, dtype=torch.float64, device="cuda")

    values = eigenvalues(n)
    u, factor, first = on_gpu(initial_values(n)), on_gpu(1. / (1.5 + dt * values)), on_gpu(1. / (1. + dt * values))
    index = np.arange(n)
    cosines = np.cos(np.pi * np.outer(index, index) / (n - 1))
    ends = np.where((index == 0) | (index == n - 1), 0.5, 1.)
    back, there = on_gpu(cosines), on_gpu(2. / (n - 1) * ends[:, None] * cosines * ends[None, :])

    def solve(rhs, f):
        if transform == "products":
            return back @ ((there @ rhs @ there.T) * f) @ back.T
        even = torch.cat([rhs, rhs[:, 1:-1].flip(1)], 1)
        even = torch.cat([even, even[:, :, 1:-1].flip(2)], 2)
        modes = torch.fft.rfft2(even)
        f = torch.cat([f, f[:, 1:-1].flip(1)], 1)
        return torch.fft.irfft2(modes * f)[:, :n, :n]

    def rates(v):
        return torch.stack(reaction(v))

    old, old_rate = u.clone(), rates(u)
    u = solve(u + dt * old_rate, first).contiguous()

    def step():
        rate = rates(u)
        new = solve(2. * u - 0.5 * old + dt * (2. * rate - old_rate), factor)
        old.copy_(u)
        old_rate.copy_(rate)
        u.copy_(new)

    beginning = [u.clone(), old.clone(), old_rate.clone()]
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for array, value in zip((u, old, old_rate), beginning):
        array.copy_(value)
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(n_steps - 1):
        graph.replay()
    torch.cuda.synchronize()
    return time.perf_counter() - start, u.cpu().numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--library", choices=["scipy", "torch"], default="scipy")
    parser.add_argument("--transform", choices=["fft", "products"], default="fft", help="torch: how cosine transforms are done")
    parser.add_argument("--nodes", type=int, default=101)
    parser.add_argument("--end", type=float, default=0.2)
    parser.add_argument("--steps", default="2000", help="numbers of steps, with commas")
    parser.add_argument("--workers", type=int, default=2, help="scipy: threads")
    parser.add_argument("--reference", help="prefix of files of pattern_formation --output")
    options = parser.parse_args()
    for n_steps in map(int, options.steps.split(",")):
        run = with_scipy if options.library == "scipy" else with_torch
        seconds, u = run(options.nodes, options.end, n_steps, options.workers if options.library == "scipy" else options.transform)
        text = f"{options.nodes}^2 nodes, {options.library}{' ' + options.transform if options.library == 'torch' else ''}, SBDF2, {n_steps} steps: {seconds:.3f} s"
        if options.reference:
            exact = np.fromfile(f"{options.reference}_{options.end:g}.f64", count=options.nodes**2).reshape(options.nodes, options.nodes)
            text += f", largest error of u {np.abs(u[0] - exact).max():.2e}"
        print(text, flush=True)


if __name__ == "__main__":
    main()
