# SPDX-License-Identifier: Apache-2.0
"""Sparse matrices with numpy alone: enough to make those of matrix_table, and to check what a solver says of them."""
import gzip

import numpy as np


class Matrix:
    """A square or rectangular matrix as sorted triplets without duplicates; entries that sum to zero are kept only if asked for."""

    def __init__(self, shape, rows, columns, values, keep_zeros=False):
        n_rows, n_columns = (shape, shape) if np.isscalar(shape) else shape
        key = np.asarray(rows, dtype=np.int64) * n_columns + np.asarray(columns, dtype=np.int64)
        key, place = np.unique(key, return_inverse=True)
        values = np.bincount(place.ravel(), weights=np.asarray(values, dtype=float), minlength=len(key))
        if not keep_zeros:
            key, values = key[values != 0.], values[values != 0.]
        self.n_rows, self.n_columns, self.rows, self.columns, self.values = n_rows, n_columns, key // n_columns, key % n_columns, values

    @property
    def shape(self):
        return self.n_rows, self.n_columns

    @property
    def T(self):
        return Matrix((self.n_columns, self.n_rows), self.columns, self.rows, self.values)

    def __add__(self, other):
        pairs = (self.rows, other.rows), (self.columns, other.columns), (self.values, other.values)
        return Matrix(self.shape, *(np.concatenate(pair) for pair in pairs))

    def __sub__(self, other):
        return self + -1. * other

    def __rmul__(self, factor):
        return Matrix(self.shape, self.rows, self.columns, factor * self.values)

    def __matmul__(self, other):
        if isinstance(other, np.ndarray):
            return np.bincount(self.rows, weights=self.values * other[self.columns], minlength=self.n_rows)
        begin = np.searchsorted(other.rows, np.arange(other.n_rows + 1))
        many = (begin[1:] - begin[:-1])[self.columns]  # entries of the row of `other` that each entry meets
        mine = np.repeat(np.arange(len(self.values)), many)
        theirs = np.arange(len(mine)) - np.repeat(np.cumsum(many) - many, many) + begin[self.columns[mine]]
        return Matrix((self.n_rows, other.n_columns), self.rows[mine], other.columns[theirs], self.values[mine] * other.values[theirs])

    def absolute(self):
        return Matrix(self.shape, self.rows, self.columns, np.abs(self.values))

    def diagonal(self):
        on = self.rows == self.columns
        return np.bincount(self.rows[on], weights=self.values[on], minlength=self.n_rows)

    def is_symmetric(self):
        mirrored = self.T
        return self.n_rows == self.n_columns and len(mirrored.values) == len(self.values) and all(
            np.array_equal(a, b) for a, b in ((self.rows, mirrored.rows), (self.columns, mirrored.columns), (self.values, mirrored.values)))

    def scaled(self, left, right):
        return Matrix(self.shape, self.rows, self.columns, left[self.rows] * self.values * right[self.columns])

    def permuted(self, rows, columns=None):
        """Entry (i, j) comes to (rows[i], columns[j])."""
        return Matrix(self.shape, rows[self.rows], (rows if columns is None else columns)[self.columns], self.values)

    def without(self, drop):
        """Without the rows and columns that a mask marks, as Dirichlet conditions leave it."""
        place = np.cumsum(~drop) - 1
        keep = ~drop[self.rows] & ~drop[self.columns]
        return Matrix(int((~drop).sum()), place[self.rows[keep]], place[self.columns[keep]], self.values[keep])


def identity(n):
    return diagonal(np.ones(n))


def diagonal(d):
    return Matrix(len(d), np.arange(len(d)), np.arange(len(d)), d)


def dense(A):
    rows, columns = np.nonzero(A)
    return Matrix(A.shape, rows, columns, A[rows, columns])


def bands(n, **of):
    """d0, u1, u2, ..., l1, ...: the same value or an array on a diagonal, upper or lower."""
    parts = []
    for name, value in of.items():
        k = int(name[1:])
        first = np.arange(n - k)
        i, j = (first, first + k) if name[0] in "du" else (first + k, first)
        parts.append((i, j, np.broadcast_to(value, n - k)))
    return Matrix(n, *(np.concatenate(part) for part in zip(*parts)))


def kron(A, B):
    """(A x B): the entries of B are neighbours."""
    a, b = (index.ravel() for index in np.meshgrid(np.arange(len(A.values)), np.arange(len(B.values)), indexing="ij"))
    shape = A.n_rows * B.n_rows, A.n_columns * B.n_columns
    return Matrix(shape, A.rows[a] * B.n_rows + B.rows[b], A.columns[a] * B.n_columns + B.columns[b], A.values[a] * B.values[b])


def blocks(parts):
    """A matrix of matrices, None where there is none."""
    heights = [next(part.n_rows for part in row if part is not None) for row in parts]
    widths = [next(row[k].n_columns for row in parts if row[k] is not None) for k in range(len(parts[0]))]
    top, left = np.cumsum([0] + heights), np.cumsum([0] + widths)
    placed = [(part, top[i], left[k]) for i, row in enumerate(parts) for k, part in enumerate(row) if part is not None]
    entries = [(part.rows + above, part.columns + before, part.values) for part, above, before in placed]
    return Matrix((top[-1], left[-1]), *(np.concatenate(part) for part in zip(*entries)))


def assemble(n, elements, matrices):
    """The sum of element matrices (elements, k, k), or of one for all (k, k), of the unknowns `elements` (elements, k)."""
    k = elements.shape[1]
    values = np.broadcast_to(matrices, (len(elements), k, k)).ravel()
    return Matrix(n, np.repeat(elements, k, axis=1).ravel(), np.tile(elements, (1, k)).ravel(), values)


def symmetrized(A):
    """Equal to A but for rounding, and symmetric to the last bit."""
    return 0.5 * (A + A.T)


def write(path, A):
    """Matrix Market; the lower triangle where A is symmetric."""
    symmetric = A.is_symmetric()
    keep = A.columns <= A.rows if symmetric else np.ones(len(A.values), dtype=bool)
    i, j, v = A.rows[keep] + 1, A.columns[keep] + 1, A.values[keep]
    with open(path, "w", encoding="ascii") as stream:
        stream.write(f"%%MatrixMarket matrix coordinate real {'symmetric' if symmetric else 'general'}\n{A.n_rows} {A.n_columns} {len(v)}\n")
        for begin in range(0, len(v), 100000):
            part = slice(begin, begin + 100000)
            stream.writelines(map("%d %d %.17g\n".__mod__, zip(i[part].tolist(), j[part].tolist(), v[part].tolist())))


def read(path):
    """A real matrix in coordinates, compressed or not."""
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt", encoding="ascii") as stream:
        symmetric = "symmetric" in stream.readline()
        line = stream.readline()
        while line.startswith("%"):
            line = stream.readline()
        n_rows, n_columns, _ = map(int, line.split())
        entries = np.array(stream.read().split(), dtype=float).reshape(-1, 3)
    i, j, v = entries[:, 0].astype(int) - 1, entries[:, 1].astype(int) - 1, entries[:, 2]
    if symmetric:
        off = i != j
        i, j, v = np.concatenate([i, j[off]]), np.concatenate([j, i[off]]), np.concatenate([v, v[off]])
    return Matrix((n_rows, n_columns), i, j, v)
