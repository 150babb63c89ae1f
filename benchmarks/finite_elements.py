# SPDX-License-Identifier: Apache-2.0
"""Matrices of finite elements, structures and graphs for matrix_table, with numpy alone."""
import numpy as np

from sparse import Matrix, assemble, blocks, diagonal, kron, symmetrized


def mass_and_stiffness(n, degree):
    """M, K, G of n elements of a degree on the unit interval: integrals of u v, u' v' and u v' (G[i, j]: of v_i' v_j)."""
    nodes = np.linspace(0., 1., degree + 1)
    points, weights = np.polynomial.legendre.leggauss(degree + 1)
    points, weights = 0.5 * (points + 1.), 0.5 * weights
    powers = np.linalg.inv(np.vander(nodes, increasing=True))  # column i: the coefficients of shape function i
    values = np.vander(points, degree + 1, increasing=True) @ powers
    slopes = np.hstack([np.zeros((degree + 1, 1)), np.vander(points, degree, increasing=True) * np.arange(1, degree + 1)]) @ powers
    elements = degree * np.arange(n)[:, None] + np.arange(degree + 1)
    M, K, G = (a.T @ (weights[:, None] * b) for a, b in ((values, values), (slopes, slopes), (slopes, values)))
    return [assemble(n * degree + 1, elements, X) for X in (M / n, K * n, G)]


def inner(A):
    """Without the first and the last unknown."""
    drop = np.zeros(A.n_rows, dtype=bool)
    drop[[0, -1]] = True
    return A.without(drop)


def product(*factors):
    A = factors[0]
    for factor in factors[1:]:
        A = kron(A, factor)
    return A


def stiffness(dim, n, degree, free=False):
    M, K, _ = mass_and_stiffness(n, degree)
    if not free:
        M, K = inner(M), inner(K)
    A = None
    for d in range(dim):
        term = product(*[K if d == e else M for e in range(dim)])
        A = term if A is None else A + term
    return symmetrized(A)


def mass(dim, n, degree):
    M, _, _ = mass_and_stiffness(n, degree)
    return symmetrized(product(*[M] * dim))


def rotated(n, epsilon, angle):
    """-div D grad with the eigenvalues 1 and epsilon of D, the first in the direction of an angle; Q1, Dirichlet."""
    M, K, G = (inner(X) for X in mass_and_stiffness(n, 1))
    c, s = np.cos(angle), np.sin(angle)
    mixed = kron(G, G.T) + kron(G.T, G)
    return symmetrized((c * c + epsilon * s * s) * kron(M, K) + (s * s + epsilon * c * c) * kron(K, M) + ((1. - epsilon) * c * s) * mixed)


def elasticity(dim, n, poisson, free=False):
    """Linear elasticity, Young's modulus 1, Q1 on n cubes a side (or a tuple: a bar of such cells), clamped at one end or free, node by node."""
    n = (n,) * dim if np.isscalar(n) else n
    mu, la = 0.5 / (1. + poisson), poisson / ((1. + poisson) * (1. - 2. * poisson))
    h = 1. / n[-1]
    one = [[length * X for length, X in zip((h * k, 1. / (h * k), 1.), mass_and_stiffness(k, 1))] for k in n]  # M, K, G in each direction
    place = lambda of: product(*[one[d][of.get(d, 0)] for d in range(dim)])
    transposed = lambda d, e: product(*[one[k][2] if k == d else one[k][2].T if k == e else one[k][0] for k in range(dim)])
    parts = [[None] * dim for _ in range(dim)]
    for d in range(dim):
        for e in range(dim):
            if d == e:
                part = (2. * mu + la) * place({d: 1})
                for k in range(dim):
                    part = part + mu * place({k: 1}) if k != d else part
            else:
                part = la * transposed(d, e) + mu * transposed(e, d)
            parts[d][e] = part
    A = blocks(parts)
    n_nodes = A.n_rows // dim
    node, component = np.arange(A.n_rows) % n_nodes, np.arange(A.n_rows) // n_nodes
    A = A.permuted(dim * node + component)
    clamped = (np.arange(n_nodes) < n_nodes // (n[0] + 1)) & (not free)  # the first direction varies slowest
    return symmetrized(A.without(np.repeat(clamped, dim)))


def triangles(n, numbers, shift):
    """P1 for the Laplacian on a grid with nodes shifted at random by up to a part of the spacing, diagonals at random; Dirichlet."""
    x, y = (v.ravel() for v in np.meshgrid(np.arange(n + 1.), np.arange(n + 1.)))
    free = (x > 0) & (x < n) & (y > 0) & (y < n)
    x, y = (v + shift * np.where(free, numbers.uniform(-1., 1., len(v)), 0.) for v in (x, y))
    a = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    b, c, d = a + 1, a + n + 2, a + n + 1
    one = numbers.random(len(a)) < 0.5
    of = np.concatenate([np.stack([a, b, np.where(one, c, d)], 1), np.stack([np.where(one, a, b), c, d], 1)])
    px, py = x[of], y[of]
    gx, gy = np.roll(py, -1, 1) - np.roll(py, -2, 1), np.roll(px, -2, 1) - np.roll(px, -1, 1)
    area = np.abs(gx[:, 0] * gy[:, 1] - gx[:, 1] * gy[:, 0])
    area = np.maximum(area, 1e-6)
    K = (gx[:, :, None] * gx[:, None, :] + gy[:, :, None] * gy[:, None, :]) / (2. * area[:, None, None])
    return symmetrized(assemble(len(x), of, K).without(~free))


def hanging(n, _):
    """Q1 on a square whose right half has cells half as wide: nodes in the middle of coarse sides are the mean of two."""
    coarse = np.stack(np.meshgrid(np.arange(n // 2), np.arange(n)), -1).reshape(-1, 2) * 2
    fine = np.stack(np.meshgrid(np.arange(n, 2 * n), np.arange(2 * n)), -1).reshape(-1, 2)
    corners = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    points = np.concatenate([(cells[:, None] + step * corners).reshape(-1, 2) for cells, step in ((coarse, 2), (fine, 1))])
    known, place = np.unique(points[:, 1] * (2 * n + 1) + points[:, 0], return_inverse=True)
    x, y = known % (2 * n + 1), known // (2 * n + 1)
    M, K = np.array([[2., 1.], [1., 2.]]) / 6., np.array([[1., -1.], [-1., 1.]])
    A = assemble(len(known), place.reshape(-1, 4), np.kron(M, K) + np.kron(K, M))
    middle = np.nonzero((x == n) & (y % 2 == 1))[0]
    where = lambda column, row: np.searchsorted(known, row * (2 * n + 1) + column)
    keep = np.setdiff1d(np.arange(len(known)), middle)
    column = np.full(len(known), -1)
    column[keep] = np.arange(len(keep))
    halves = np.concatenate([where(x[middle], y[middle] - 1), where(x[middle], y[middle] + 1)])
    C = Matrix((len(known), len(keep)), np.concatenate([keep, middle, middle]), np.concatenate([column[keep], column[halves]]),
               np.concatenate([np.ones(len(keep)), np.full(2 * len(middle), 0.5)]))
    at_boundary = ((x == 0) | (x == 2 * n) | (y == 0) | (y == 2 * n))[keep]
    return symmetrized((C.T @ A @ C).without(at_boundary))


# structures

def _facet(a, b, t, poisson=0.3):
    """
    The 24 x 24 stiffness of a rectangular facet in its plane, six unknowns a node (displacements, rotations): membrane, bending, shear
    (one point, without locking), and a small stiffness against turning in the plane.
    """
    corners = np.array([[-1., -1.], [1., -1.], [1., 1.], [-1., 1.]])

    def shapes(xi, eta):
        N = 0.25 * (1. + xi * corners[:, 0]) * (1. + eta * corners[:, 1])
        Nx = 0.25 * corners[:, 0] * (1. + eta * corners[:, 1]) * 2. / a
        Ny = 0.25 * corners[:, 1] * (1. + xi * corners[:, 0]) * 2. / b
        return N, Nx, Ny

    plane = np.array([[1., poisson, 0.], [poisson, 1., 0.], [0., 0., 0.5 * (1. - poisson)]]) / (1. - poisson**2)
    shear = 5. / 6. * 0.5 / (1. + poisson)
    K = np.zeros((24, 24))
    for xi in (-1. / np.sqrt(3.), 1. / np.sqrt(3.)):
        for eta in (-1. / np.sqrt(3.), 1. / np.sqrt(3.)):
            _, Nx, Ny = shapes(xi, eta)
            membrane, bending = np.zeros((3, 24)), np.zeros((3, 24))
            membrane[0, 0::6], membrane[1, 1::6], membrane[2, 0::6], membrane[2, 1::6] = Nx, Ny, Ny, Nx
            bending[0, 4::6], bending[1, 3::6], bending[2, 4::6], bending[2, 3::6] = Nx, -Ny, Ny, -Nx
            K += 0.25 * a * b * (t * membrane.T @ plane @ membrane + t**3 / 12. * bending.T @ plane @ bending)
    N, Nx, Ny = shapes(0., 0.)
    transverse = np.zeros((2, 24))
    transverse[0, 2::6], transverse[0, 4::6], transverse[1, 2::6], transverse[1, 3::6] = Nx, N, Ny, -N
    K += a * b * t * shear * transverse.T @ transverse
    K[range(5, 24, 6), range(5, 24, 6)] += 1e-3 * t * a * b
    K[range(2, 24, 6), range(2, 24, 6)] += 1e-9 * t  # against the pattern that one point does not see
    return K


def shell(n, slenderness):
    """A quarter of a cylinder of radius and length 1, R / t = slenderness, of n x n flat facets, clamped at one end: like s1rmt3m1."""
    angle = 0.5 * np.pi / n
    K = _facet(1. / n, 2. * np.sin(0.5 * angle), 1. / slenderness)
    first = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()  # rows of nodes along the axis
    nodes = np.stack([first, first + 1, first + n + 2, first + n + 1], 1)
    middle = (first // (n + 1) + 0.5) * angle
    c, s, zero, one = np.cos(middle), np.sin(middle), 0. * middle, 1. + 0. * middle
    frame = np.moveaxis(np.array([[one, zero, zero], [zero, -s, c], [zero, c, s]]), -1, 0)  # rows: axis, tangent, normal
    turn = np.zeros((len(first), 24, 24))
    for k in range(8):
        turn[:, 3 * k:3 * k + 3, 3 * k:3 * k + 3] = frame
    K = np.swapaxes(turn, 1, 2) @ K @ turn
    unknowns = (6 * nodes[:, :, None] + np.arange(6)).reshape(-1, 24)
    A = assemble(6 * (n + 1)**2, unknowns, K)
    return symmetrized(A.without(np.repeat(np.arange((n + 1)**2) % (n + 1) == 0, 6)))


def beam(n, _):
    """Bernoulli beam of n cubic Hermite elements, clamped at one end."""
    h = 1. / n
    D = np.diag([1., h, 1., h])
    K = D @ np.array([[12., 6., -12., 6.], [6., 4., -6., 2.], [-12., -6., 12., -6.], [6., 2., -6., 4.]]) @ D / h**3
    return symmetrized(assemble(2 * n + 2, 2 * np.arange(n)[:, None] + np.arange(4), K).without(np.arange(2 * n + 2) < 2))


def truss(n, numbers):
    """Bars between neighbours of a shifted grid, their sections from 0.1 to 10, held at the bottom."""
    x, y = (v.ravel() + numbers.uniform(-0.3, 0.3, n * n) for v in np.meshgrid(np.arange(n * 1.), np.arange(n * 1.)))
    at = np.arange(n * n).reshape(n, n)
    pairs = ((at[:, :-1], at[:, 1:]), (at[:-1], at[1:]), (at[:-1, :-1], at[1:, 1:]), (at[:-1, 1:], at[1:, :-1]))
    a, b = (np.concatenate([pair[side].ravel() for pair in pairs]) for side in (0, 1))
    d = np.stack([x[b] - x[a], y[b] - y[a]], 1)
    length = np.linalg.norm(d, axis=1)
    d = np.concatenate([-d, d], 1) / length[:, None]
    K = d[:, :, None] * d[:, None, :] * (10.**numbers.uniform(-1., 1., len(a)) / length)[:, None, None]
    A = assemble(2 * n * n, np.stack([2 * a, 2 * a + 1, 2 * b, 2 * b + 1], 1), K)
    return symmetrized(A.without(np.arange(2 * n * n) < 2 * n))


# graphs

def graph(n, a, b, weights):
    """The Laplacian of edges a, b with weights: rows sum to zero but for rounding."""
    proper = a != b
    a, b, weights = a[proper], b[proper], np.asarray(weights, dtype=float)[proper]
    W = Matrix(n, np.concatenate([a, b]), np.concatenate([b, a]), np.concatenate([weights, weights]))
    W = symmetrized(W)
    return diagonal(np.bincount(W.rows, weights=W.values, minlength=n)) - W


def grid_graph(n_x, n_y):
    at = np.arange(n_x * n_y).reshape(n_y, n_x)
    a, b = (np.concatenate([pair[side].ravel() for pair in ((at[:, :-1], at[:, 1:]), (at[:-1], at[1:]))]) for side in (0, 1))
    return graph(n_x * n_y, a, b, np.ones(len(a)))


def parts(A):
    """The number of the connected part that each row is in."""
    part = np.arange(A.n_rows)
    while True:
        lower = part.copy()
        np.minimum.at(lower, A.rows, part[A.columns])
        np.minimum.at(lower, A.columns, part[A.rows])
        lower = lower[lower]
        if np.array_equal(lower, part):
            return np.unique(part, return_inverse=True)[1].ravel()
        part = lower
