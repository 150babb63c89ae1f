# SPDX-License-Identifier: Apache-2.0
"""The matrices that matrix_table makes: discretizations, graphs, statistics, textbook matrices and what cannot be solved."""
import zlib
from dataclasses import dataclass
from typing import Callable

import numpy as np

import finite_elements as fe
from sparse import Matrix, assemble, bands, blocks, dense, diagonal, identity, kron, symmetrized


@dataclass
class Case:
    """
    What is known of a matrix before it is solved. b: 'random' entries; 'range': A x of a random x; 'no sum': random with the sum zero,
    in each part where there are several; or a function of A and random numbers. reason: what a refusal has to say, a regular
    expression, where there is no solution or double precision cannot resolve it; empty: it has to be solved.
    """
    name: str
    kind: str
    make: Callable[..., Matrix]
    size: int = 0
    definite: bool = False
    b: object = "random"
    reason: str = ""
    large: int = 0  # the size for a GPU; 0: none
    tiny: int = 0   # the size of a test; 0: not in it

    def matrix(self, which="size"):
        size = getattr(self, which)
        return self.make(size, self.numbers()) if size else self.make(0, self.numbers())

    def numbers(self):
        return np.random.default_rng(zlib.crc32(self.name.encode()))

    def rhs(self, A):
        numbers = np.random.default_rng(zlib.crc32(self.name.encode()) + 1)
        if callable(self.b):
            return self.b(A, numbers)
        v = numbers.standard_normal(A.n_rows)
        if self.b == "range":
            return A @ v
        if self.b == "no sum":
            part = fe.parts(A)
            v -= (np.bincount(part, weights=v) / np.maximum(np.bincount(part), 1))[part]
        return v


# finite differences

def line(n):
    return bands(n, d0=2., u1=-1., l1=-1.)


def laplace(*n, weights=None):
    """Sum over directions of 1 x ... x line x ... x 1, the first direction with neighbours next to each other."""
    A = None
    for d in range(len(n)):
        term = line(n[d])
        for other in range(d):
            term = kron(term, identity(n[other]))
        for other in range(d + 1, len(n)):
            term = kron(identity(n[other]), term)
        term = (1. if weights is None else weights[d]) * term
        A = term if A is None else A + term
    return A


def laplace_9(n, _):
    M = bands(n, d0=4., u1=1., l1=1.)
    return kron(line(n), M) + kron(M, line(n))


def laplace_27(n, _):
    K, M = fe.mass_and_stiffness(n + 1, 1)[1::-1]
    K, M = (fe.inner(X) for X in (K, M))
    return symmetrized(kron(K, kron(M, M)) + kron(M, kron(K, M)) + kron(M, kron(M, K)))


def convection(n, peclet, upwind, circulating=False):
    """-Laplace u + b . grad u on the unit square, times h^2; b = peclet (1, 1/2) or turning around the centre."""
    h = 1. / (n + 1)
    x = np.tile(np.arange(1, n + 1) * h, n)
    y = np.repeat(np.arange(1, n + 1) * h, n)
    b = peclet + 0. * x, peclet / 2. + 0. * x
    if circulating:
        b = peclet * (2. * y - 1.) * (1. - (2. * x - 1.)**2), -peclet * (2. * x - 1.) * (1. - (2. * y - 1.)**2)
    A = laplace(n, n)
    forward, one = bands(n, d0=-1., u1=1.), identity(n)
    for speed, d in zip(b, (kron(one, forward), kron(forward, one))):
        back = -1. * d.T
        one_sided = diagonal(np.maximum(speed, 0.)) @ back + diagonal(np.minimum(speed, 0.)) @ d
        A = A + h * (one_sided if upwind else 0.5 * (diagonal(speed) @ (d + back)))
    return A


def cells(n, coefficient):
    """Finite volumes on n x n cells: the harmonic mean of the coefficients over each edge, Dirichlet all around."""
    at = np.arange(n * n).reshape(n, n)
    k = coefficient.reshape(n, n)
    pairs = [(at[:, :-1], at[:, 1:]), (at[:-1], at[1:])]
    a, b = (np.concatenate([pair[side].ravel() for pair in pairs]) for side in (0, 1))
    boundary = np.zeros((n, n))
    for side in (np.s_[0], np.s_[-1], np.s_[:, 0], np.s_[:, -1]):
        boundary[side] += 2. * k[side]
    return fe.graph(n * n, a, b, 2. * k.flat[a] * k.flat[b] / (k.flat[a] + k.flat[b])) + diagonal(boundary.ravel())


def checkerboard(n, _):
    i, j = np.divmod(np.arange(n * n), n)
    return cells(n, np.where((i * 8 // n + j * 8 // n) % 2 == 0, 1., 1e6))


def stretched(n, _):
    """Cells that grow from a wall by a factor, to an aspect ratio of 10^4, in y only."""
    hx, hy = np.full(n, 1. / n), np.geomspace(1e-4, 1., n) / n
    at = np.arange(n)
    one = lambda h: fe.graph(n, at[:-1], at[1:], 2. / (h[:-1] + h[1:])) + diagonal(np.where(at % (n - 1) == 0, 2. / h, 0.))
    return symmetrized(kron(diagonal(hy), one(hx)) + kron(one(hy), diagonal(hx)))


def biharmonic(n, _):
    L = laplace(n, n)
    edge = np.zeros((n, n))
    for side in (np.s_[0], np.s_[-1], np.s_[:, 0], np.s_[:, -1]):
        edge[side] += 2.  # clamped
    return L @ L + diagonal(edge.ravel())


def stokes(n, _):
    """Velocities on the edges, pressures in the cells of a staggered n x n grid, one pressure fixed: [[A, B^T], [B, 0]]."""
    difference = bands(n, d0=1., l1=-1.)
    keep = difference.columns < n - 1
    D = Matrix((n, n - 1), difference.rows[keep], difference.columns[keep], difference.values[keep])
    one = identity(n)
    A = blocks([[laplace(n - 1, n), None], [None, laplace(n, n - 1)]])
    B = blocks([[kron(one, D), kron(D, one)]])
    S = blocks([[A, B.T], [B, None]])
    drop = np.zeros(S.n_rows, dtype=bool)
    drop[-1] = True
    return S.without(drop)


# graphs

def random_graph(n, numbers):
    m = 4 * n
    return fe.graph(n, numbers.integers(0, n, m), numbers.integers(0, n, m), numbers.uniform(0.1, 1., m))


def scale_free(n, numbers):
    """Each node linked to 3 older ones, chosen so that few have very many (a power law)."""
    new = np.repeat(np.arange(1, n), 3)
    return fe.graph(n, new, (new * numbers.random(len(new))**3).astype(int), np.ones(len(new)))


def roads(n, numbers, n_parts=1):
    """Grids with four streets of ten taken away, nodes that nothing leads to any more left out."""
    at = np.arange(n * n).reshape(n, n)
    a, b = (np.concatenate([x.ravel(), y.ravel()]) for x, y in ((at[:, :-1], at[:-1]), (at[:, 1:], at[1:])))
    keep = numbers.random(len(a)) < 0.6
    A = fe.graph(n * n, a[keep], b[keep], numbers.uniform(0.2, 5., keep.sum()))
    part = fe.parts(A)
    A = A.without(part != np.argmax(np.bincount(part)))
    return A if n_parts == 1 else blocks([[A if i == k else None for k in range(n_parts)] for i in range(n_parts)])


def markov(n, numbers):
    """I - P^T of a random walk on a directed graph: its columns sum to zero."""
    i, j = np.concatenate([np.arange(n), numbers.integers(0, n, 4 * n)]), np.concatenate([(np.arange(n) + 1) % n, numbers.integers(0, n, 4 * n)])
    P = Matrix(n, i, j, numbers.random(len(i)))
    return identity(n) - P.scaled(1. / (P @ np.ones(n)), np.ones(n)).T


def page_rank(n, numbers):
    target = (n * numbers.random(5 * n)**3).astype(int)
    P = Matrix(n, np.repeat(np.arange(n), 5), target, np.ones(5 * n))
    return identity(n) - 0.85 * P.scaled(1. / (P @ np.ones(n)), np.ones(n)).T


def circuit(n, numbers):
    """Conductances from 1e-6 to 1 between nodes, to ground in some, and voltage sources: [[G, E], [E^T, 0]]."""
    near = np.arange(1, n) - 1 - np.minimum(np.arange(n - 1), numbers.integers(0, 9, n - 1))
    a, b = (np.concatenate(both) for both in ((np.arange(1, n), numbers.integers(0, n, n // 50)), (near, numbers.integers(0, n, n // 50))))
    G = fe.graph(n, a, b, 10.**numbers.uniform(-6., 0., len(a))) + diagonal(np.where(numbers.random(n) < 0.05, 1e-3, 0.))
    sources = numbers.choice(n, n // 50, replace=False)
    E = Matrix((n, len(sources)), sources, np.arange(len(sources)), np.ones(len(sources)))
    return blocks([[G, E], [E.T, None]])


# statistics and textbooks

def primes(n):
    sieve = np.ones(max(20, int(n * (np.log(n) + np.log(np.log(n + 3)) + 2))), dtype=bool)
    sieve[:2] = False
    for k in range(2, int(len(sieve)**0.5) + 1):
        sieve[k * k::k] = sieve[k * k::k] & (not sieve[k])
    return np.nonzero(sieve)[0][:n].astype(float)


def trefethen(n, _):
    A = diagonal(primes(n))
    for k in range(n.bit_length()):
        if 2**k < n:
            A = A + bands(n, **{f"u{2**k}": 1., f"l{2**k}": 1.})
    return A


def mixed_model(n, numbers):
    """Z Z^T of pupils in schools in regions, plus a diagonal: like Chem97ZtZ."""
    school, region = numbers.integers(0, n, 12 * n), numbers.integers(0, n // 18, n)
    counts = np.bincount(school, minlength=n).astype(float)
    Z = Matrix((n, n // 18), np.arange(n), region, counts)
    return blocks([[diagonal(counts + 4.), Z], [Z.T, diagonal(np.bincount(region, weights=counts, minlength=n // 18) + 350.)]])


def random_entries(n, numbers, each=6):
    return Matrix(n, np.repeat(np.arange(n), each), numbers.integers(0, n, each * n), numbers.standard_normal(each * n))


def dominant(n, numbers, by=1.1):
    A = random_entries(n, numbers)
    return A + diagonal(by * (A.absolute() @ np.ones(n)) * numbers.choice([-1., 1.], n))


def triangular(n, numbers):
    A = random_entries(n, numbers)
    below = A.columns < A.rows
    return Matrix(n, A.rows[below], A.columns[below], 0.3 * A.values[below]) + diagonal(numbers.uniform(1., 2., n))


def shuffled(A, numbers, both=True):
    order = numbers.permutation(A.n_rows)
    return A.permuted(order, order if both else numbers.permutation(A.n_rows))


def arrow(n, head, numbers):
    """Dense first (head 0) or last row and column."""
    others = np.delete(np.arange(n), head)
    row = numbers.uniform(0.1, 1., n - 1)
    A = Matrix(n, np.full(n - 1, head), others, row)
    return A + A.T + diagonal(np.where(np.arange(n) == head, n, 2.))


def small_blocks(n, numbers, k=8):
    B = numbers.standard_normal((n // k, k, k)) + 4. * np.eye(k)
    return assemble(n // k * k, np.arange(n // k * k).reshape(-1, k), B)


def wide_scales(n, numbers, exponent=8.):
    return 10.**numbers.uniform(-exponent, exponent, n)


def quasi_definite(n, numbers):
    """[[H, J^T], [J, -D]] of an interior point method: D from 1e-6 to 1e2."""
    m = n // 2
    J = Matrix((m, n), np.repeat(np.arange(m), 4), numbers.integers(0, n, 4 * m), numbers.standard_normal(4 * m))
    return blocks([[diagonal(10.**numbers.uniform(-4., 4., n)), J.T], [J, diagonal(-10.**numbers.uniform(-6., 2., m))]])


def constrained(n, numbers):
    """[[H, J^T], [J, 0]] of a quadratic program with equality constraints."""
    m = n // 4
    j = np.arange(4 * m).reshape(m, 4)
    J = Matrix((m, n), np.repeat(np.arange(m), 4), j.ravel(), numbers.uniform(0.5, 2., 4 * m))
    return blocks([[laplace(n) + 0.01 * identity(n), J.T], [J, None]])


def low_rank(n, numbers):
    V = np.round(numbers.standard_normal((n, n // 2)), 2)
    return dense(V @ V.T)


def with_zero_rows(n, _):
    A = laplace(n, n)
    drop = np.arange(n * n) % 97 == 5
    keep = ~(drop[A.rows] | drop[A.columns])
    return Matrix(n * n, A.rows[keep], A.columns[keep], A.values[keep])


def structurally_singular(n, numbers):
    """Three columns whose entries are in two rows only."""
    A = random_entries(n, numbers) + 3. * identity(n)
    keep = (A.columns > 2) | (A.rows < 2)
    two = Matrix(n, [0, 0, 0, 1, 1, 1, 2], [0, 1, 2, 0, 1, 2, 5], [1., 2., 3., 4., 5., 6., 1.])
    return Matrix(n, A.rows[keep], A.columns[keep], A.values[keep]) + two


def rank_deficient(n, numbers):
    """The last row is the sum of the two before it."""
    A = dominant(n, numbers)
    keep = A.rows < n - 1
    two = (A.rows == n - 3) | (A.rows == n - 2)
    sums = Matrix(n, np.full(two.sum(), n - 1), A.columns[two], A.values[two])
    return Matrix(n, A.rows[keep], A.columns[keep], A.values[keep]) + sums


def zero_where_zero(A, numbers):
    b = numbers.standard_normal(A.n_rows)
    return np.where(A.absolute() @ np.ones(A.n_rows) > 0., b, 0.)


SINGULAR = "singular|no solution"
TOO_FINE = r"rounding errors leave|at most --tolerance"


def dorr(n, theta=1e-2):
    """Higham's gallery: row-dominant, tridiagonal, ill-conditioned for small theta."""
    h = 1. / (n + 1)
    i = np.arange(1, n + 1)
    term, first = theta / h**2, i <= (n + 1) // 2
    lower = np.where(first, -term, -term + (0.5 - i * h) / h)
    upper = np.where(first, -term - (0.5 - i * h) / h, -term)
    return bands(n, d0=-(lower + upper), l1=lower[1:], u1=upper[:-1])


def hilbert(n):
    return dense(1. / (1. + np.add.outer(np.arange(n), np.arange(n))))


def cases():
    """All of them."""
    C = Case
    return [
        # diffusion
        C("laplace-5", "Laplacian, 5 points", lambda n, r: laplace(n, n), 200, True, large=2048, tiny=20),
        C("laplace-7", "Laplacian, 7 points", lambda n, r: laplace(n, n, n), 36, True, large=160),
        C("laplace-9", "Laplacian, 9 points", laplace_9, 150, True, large=1024),
        C("laplace-27", "Laplacian, 27 points (Q1)", laplace_27, 24, True, large=96),
        C("laplace-5-shuffled", "Laplacian in a random order", lambda n, r: shuffled(laplace(n, n), r), 150, True, large=1024),
        C("anisotropic-1e-3", "anisotropic 1e-3", lambda n, r: laplace(n, n, weights=(1., 1e-3)), 150, True, large=1024, tiny=20),
        C("anisotropic-1e-6", "anisotropic 1e-6, across the numbering", lambda n, r: laplace(n, n, weights=(1e-6, 1.)), 150, True),
        C("rotated-30", "anisotropic 1e-3, by 30 degrees (Q1)", lambda n, r: fe.rotated(n, 1e-3, np.pi / 6.), 100, True, large=1024),
        C("rotated-45", "anisotropic 1e-4, by 45 degrees (Q1)", lambda n, r: fe.rotated(n, 1e-4, np.pi / 4.), 100, True),
        C("jumps-1e6", "coefficients jump by 1e6", checkerboard, 128, True, large=1024),
        C("lognormal", "random coefficients, 1e-4 to 1e4", lambda n, r: cells(n, np.exp(2.3 * r.standard_normal(n * n))), 128, True, large=1024),
        C("stretched", "stretched grid, aspect ratio 1e4", stretched, 100, True),
        C("triangles", "P1, perturbed grid, random diagonals", lambda n, r: fe.triangles(n, r, 0.25), 120, True, large=800),
        C("slivers", "P1, strongly perturbed", lambda n, r: fe.triangles(n, r, 0.49), 80, True),
        C("hanging-nodes", "Q1, hanging nodes eliminated", fe.hanging, 40, True),
        C("q2-2d", "Q2 elements", lambda n, r: fe.stiffness(2, n, 2), 60, True),
        C("q2-3d", "Q2 elements, 3D", lambda n, r: fe.stiffness(3, n, 2), 10, True),
        C("q4-2d", "Q4 elements", lambda n, r: fe.stiffness(2, n, 4), 24, True),
        C("mass-q1", "mass matrix, Q1 in 3D", lambda n, r: fe.mass(3, n, 1), 24, True),
        C("mass-q2", "mass matrix, Q2", lambda n, r: fe.mass(2, n, 2), 60, True, tiny=6),
        C("helmholtz-positive", "-Laplace + 1", lambda n, r: laplace(n, n) + identity(n * n), 200, True),
        C("helmholtz-30", "-Laplace - k^2, k = 30", lambda n, r: laplace(n, n) - (30. / (n + 1))**2 * identity(n * n), 100, tiny=20),
        C("helmholtz-100", "-Laplace - k^2, k = 100", lambda n, r: laplace(n, n) - (100. / (n + 1))**2 * identity(n * n), 150),
        C("neumann", "pure Neumann, b in the range", lambda n, r: fe.grid_graph(n, n), 150, b="no sum", large=1024, tiny=20),
        C("neumann-q1-3d", "pure Neumann, Q1 in 3D", lambda n, r: fe.stiffness(3, n, 1, free=True), 20, b="no sum"),
        C("neumann-no-solution", "pure Neumann, b not in the range", lambda n, r: fe.grid_graph(n, n), 100, reason=SINGULAR, tiny=20),
        C("neumann-1e-12", "Neumann + 1e-12, condition 1e12", lambda n, r: fe.grid_graph(n, n) + 1e-12 * identity(n * n), 60, b="range"),
        C("neumann-1e-12-random", "the same, b random", lambda n, r: fe.grid_graph(n, n) + 1e-12 * identity(n * n), 60, reason=TOO_FINE),
        # convection
        C("convection-10-upwind", "convection, Peclet 10, upwind", lambda n, r: convection(n, 10., True), 120, large=1024),
        C("convection-1e4-upwind", "convection, Peclet 1e4, upwind", lambda n, r: convection(n, 1e4, True), 120),
        C("convection-100-central", "convection, Peclet 100, central", lambda n, r: convection(n, 100., False), 120, tiny=20),
        C("convection-1e4-central", "convection, Peclet 1e4, central", lambda n, r: convection(n, 1e4, False), 100),
        C("circulating-1e3", "turning flow, Peclet 1e3, upwind", lambda n, r: convection(n, 1e3, True, True), 120),
        C("circulating-1e4-central", "turning flow, Peclet 1e4, central", lambda n, r: convection(n, 1e4, False, True), 80),
        # structures
        C("biharmonic-60", "biharmonic, 13 points", biharmonic, 60, True),
        C("biharmonic-150", "biharmonic, 13 points", biharmonic, 150, True),
        C("shell-10", "cylindrical shell, R/t = 10", lambda n, r: fe.shell(n, 10.), 30, True, large=160, tiny=5),
        C("shell-100", "cylindrical shell, R/t = 100", lambda n, r: fe.shell(n, 100.), 30, True),
        C("shell-10-fine", "cylindrical shell, R/t = 10", lambda n, r: fe.shell(n, 10.), 64, True),
        C("elasticity-2d-0.3", "elasticity Q1, nu = 0.3", lambda n, r: fe.elasticity(2, n, 0.3), 64, True, large=512),
        C("elasticity-2d-0.49", "elasticity Q1, nu = 0.49", lambda n, r: fe.elasticity(2, n, 0.49), 64, True),
        C("elasticity-2d-0.4999", "elasticity Q1, nu = 0.4999", lambda n, r: fe.elasticity(2, n, 0.4999), 64, True),
        C("elasticity-3d-0.3", "elasticity Q1, nu = 0.3, 3D", lambda n, r: fe.elasticity(3, n, 0.3), 14, True, large=48),
        C("elasticity-3d-0.45", "elasticity Q1, nu = 0.45, 3D", lambda n, r: fe.elasticity(3, n, 0.45), 14, True),
        C("cantilever", "elasticity, long beam, nu = 0.3", lambda n, r: fe.elasticity(2, (20 * n, n), 0.3), 12, True),
        C("elasticity-free", "elasticity Q1, free: rigid motions, b in the range", lambda n, r: fe.elasticity(2, n, 0.3, True), 30, b="range"),
        C("elasticity-free-fine", "elasticity Q1, free: rigid motions, b in the range", lambda n, r: fe.elasticity(2, n, 0.3, True), 80, b="range"),
        C("elasticity-free-no-solution", "elasticity Q1, free, b not in the range", lambda n, r: fe.elasticity(2, n, 0.3, True), 30, reason=SINGULAR),
        C("shell-1000", "cylindrical shell, R/t = 1000", lambda n, r: fe.shell(n, 1000.), 40, True),
        C("beam", "Hermite beam, condition 1e10", fe.beam, 400, True, reason=TOO_FINE),
        C("truss", "truss of random bars", fe.truss, 50, True),
        # saddle points and indefinite ones
        C("stokes", "Stokes, staggered grid, zero block", stokes, 40, tiny=8),
        C("constrained", "quadratic program, zero block", constrained, 8000),
        C("quasi-definite", "quasi-definite, 1e-6 to 1e4", quasi_definite, 4000),
        C("indefinite-random", "random symmetric, indefinite", lambda n, r: symmetrized(random_entries(n, r)) + identity(n), 3000),
        C("circuit", "circuit, sources: zero block", circuit, 10000),
        # graphs
        C("graph-random", "Laplacian of a random graph", random_graph, 20000, b="no sum", large=1000000),
        C("graph-scale-free", "Laplacian, few nodes with many edges", scale_free, 20000, b="no sum"),
        C("graph-roads", "Laplacian, like roads", roads, 150, b="no sum"),
        C("graph-parts", "Laplacian, three parts", lambda n, r: roads(n, r, 3), 60, b="no sum"),
        C("graph-parts-no-solution", "Laplacian, three parts, b not in the range", lambda n, r: roads(n, r, 3), 60, reason=SINGULAR),
        C("graph-grounded", "Laplacian of a random graph + 1e-3", lambda n, r: random_graph(n, r) + 1e-3 * identity(n), 20000, True),
        C("markov", "Markov chain, I - P^T, b in the range", markov, 5000, b="no sum"),
        C("markov-no-solution", "Markov chain, b not in the range", markov, 5000, reason=SINGULAR),
        C("page-rank", "I - 0.85 P^T", page_rank, 50000, large=1000000),
        # scaling
        C("scaled-both", "S A S, S from 1e-8 to 1e8",
          lambda n, r: symmetrized(laplace(n, n).scaled(*[wide_scales(n * n, r)] * 2)), 60, True, b="range"),
        C("scaled-rows", "S A, S from 1e-8 to 1e8", lambda n, r: laplace(n, n).scaled(wide_scales(n * n, r), np.ones(n * n)), 60, b="range"),
        C("scaled-columns", "A S, S from 1e-8 to 1e8", lambda n, r: laplace(n, n).scaled(np.ones(n * n), wide_scales(n * n, r)), 60),
        C("scaled-differently", "R A S, from 1e-8 to 1e8",
          lambda n, r: convection(n, 10., True).scaled(wide_scales(n * n, r), wide_scales(n * n, r)), 60, b="range"),
        # random and textbook
        C("dominant", "random, diagonally dominant", dominant, 20000, large=1000000, tiny=200),
        C("barely-dominant", "random, dominant by 0.1 percent", lambda n, r: dominant(n, r, 1.001), 20000),
        C("random", "random, not symmetric", lambda n, r: random_entries(n, r) + 4. * identity(n), 2000),
        C("random-no-diagonal", "random, not symmetric, zeros on the diagonal",
          lambda n, r: random_entries(n, r) + identity(n).permuted(r.permutation(n), np.arange(n)), 1000),
        C("skew", "skew-symmetric + 0.1", lambda n, r: 0.5 * (random_entries(n, r) - random_entries(n, r).T) + 0.1 * identity(n), 2000),
        C("skew-grid", "central differences + 0.05", lambda n, r: bands(n, d0=0.05, u1=1., l1=-1., u100=0.5, l100=-0.5), 10000),
        C("negative-definite", "minus a Laplacian", lambda n, r: -1. * laplace(n, n), 120, tiny=20),
        C("triangular", "lower triangular", triangular, 20000),
        C("triangular-shuffled", "triangular, rows and columns permuted alike", lambda n, r: shuffled(triangular(n, r), r), 20000),
        C("triangular-permuted", "triangular, rows and columns permuted", lambda n, r: shuffled(triangular(n, r), r, False), 3000),
        C("circulant", "circulant", lambda n, r: bands(n, d0=3., u1=-1., l1=-0.5, **{f"l{n - 1}": -1., f"u{n - 1}": -0.5}), 20000),
        C("toeplitz-dense", "Toeplitz 1/(1 + distance), dense",
          lambda n, r: dense(1. / (1. + abs(np.subtract.outer(np.arange(n), np.arange(n))))), 500, True),
        C("grcar", "Grcar's Toeplitz matrix", lambda n, r: bands(n, d0=1., l1=-1., u1=1., u2=1., u3=1.), 2000),
        C("arrow-last", "arrow, its head last", lambda n, r: arrow(n, n - 1, r), 50000, True),
        C("arrow-first", "arrow, its head first", lambda n, r: arrow(n, 0, r), 50000, True),
        C("tridiagonal-1e6", "tridiagonal, dominant", lambda n, r: bands(n, d0=2.1, u1=-1., l1=-1.), 1000000, True),
        C("string-1e5", "Laplacian in 1D, condition 4e9", lambda n, r: line(n), 100000, True, b="range"),
        C("blocks", "blocks of 8 x 8", small_blocks, 40000),
        C("hilbert-8", "Hilbert, condition 1e10", lambda n, r: hilbert(n), 8, True, b="range", tiny=8),
        C("hilbert-12", "Hilbert, condition 1e16", lambda n, r: hilbert(n), 12, b="range"),
        C("trefethen-20000", "primes on the diagonal", trefethen, 20000, True),
        C("mixed-model", "statistics, like Chem97ZtZ", mixed_model, 20000, True),
        C("dorr", "Dorr, convection in a layer", lambda n, r: dorr(n), 2000, reason=TOO_FINE),
        # what has no solution, or hardly
        C("zero-rows", "rows and columns of zeros, b zero there", with_zero_rows, 60, b=zero_where_zero),
        C("zero-rows-no-solution", "rows and columns of zeros, b not zero there", with_zero_rows, 60, reason="empty or zero", tiny=12),
        C("structurally-singular", "three columns in two rows", structurally_singular, 500,
          reason=r"at most \d+ of its \d+ rows can have a pivot, as columns 1, 2 and 3 have entries in rows 1 and 2 only", tiny=50),
        C("rank-deficient", "a row is the sum of two", rank_deficient, 500, reason=SINGULAR),
        C("rank-deficient-range", "a row is the sum of two, b in the range", rank_deficient, 500, b="range"),
        C("low-rank", "dense, of half rank", low_rank, 200, reason=SINGULAR),
        C("low-rank-range", "dense, of half rank, b in the range", low_rank, 200, b="range"),
    ]
