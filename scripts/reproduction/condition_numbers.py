# SPDX-License-Identifier: Apache-2.0
"""
condition_numbers.py MATRIX: cond(A) in the 2-norm and in the 1-norm, and cond(D^-1 A) in the 1-norm, as JSON. The
norms of inverses are estimates from below (Higham and Tisseur 2000), of which that of the 1-norm is nearly always
exact. Needs scipy; without it writes {}.
"""
import json
import sys

try:
    import numpy
    import scipy.io
    import scipy.sparse
    import scipy.sparse.linalg as linalg
except ImportError:
    print("{}")
    sys.exit(0)


def operator(n, apply, transposed):
    return linalg.LinearOperator((n, n), matvec=lambda b: apply(b.ravel()), rmatvec=lambda b: transposed(b.ravel()),
                                 dtype=float)


def main():
    A = scipy.io.mmread(sys.argv[1]).tocsc().astype(float)
    n, d = A.shape[0], A.diagonal()
    lu = linalg.splu(A)
    inverse = operator(n, lu.solve, lambda b: lu.solve(b, "T"))
    scaled_inverse = operator(n, lambda b: lu.solve(d * b), lambda b: d * lu.solve(b, "T"))
    largest = linalg.eigsh(A, k=1, which="LA", return_eigenvectors=False, tol=1e-6)[0]
    largest_inverse = linalg.eigsh(inverse, k=1, which="LA", return_eigenvectors=False, tol=1e-6)[0]
    numpy.random.seed(1)
    print(json.dumps({
        "A, 2-norm": float(largest * largest_inverse),
        "A, 1-norm": float(linalg.norm(A, 1) * linalg.onenormest(inverse)),
        "D^-1 A, 1-norm": float(linalg.norm(scipy.sparse.diags(1 / d) @ A, 1) * linalg.onenormest(scaled_inverse)),
    }))


if __name__ == "__main__":
    main()
