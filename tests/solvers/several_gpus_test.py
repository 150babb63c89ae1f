#SPDX - License - Identifier : Apache - 2.0
"""leopard-solve --gpus from outside: what it says to have solved is solved, on as many GPUs as there are, up to two."""
import random
import unittest

import numpy

from command_line_test import N_GPUS, Program


@unittest.skipIf(N_GPUS == 0, "no GPU here")
class SeveralGpus(Program):
    def setUp(self):
        super().setUp()
        numbers, self.n = random.Random(5), 3000
        entries = {}
        for i in range(self.n):
            for j in [*numbers.sample(range(self.n), 5), i - 1, i + 1]:  # neighbours are in other blocks, and on other GPUs
                if 0 <= j < self.n and j != i:
                    entries[i, j] = numbers.uniform(-1., 1.)
        sums = numpy.zeros(self.n)
        for (i, _), value in entries.items():
            sums[i] += abs(value)
        entries.update({(i, i): 1.3 * sums[i] for i in range(self.n)})
        self.matrix("K.mtx", entries, self.n)
        self.rows, self.columns = numpy.array(list(entries)).T
        self.values = numpy.array(list(entries.values()))
        self.b = numpy.array([numbers.gauss(0., 1.) for _ in range(self.n)])
        self.vector("b.mtx", self.b.tolist())

    def check(self, n_gpus, *options):
        said = self.run_it("K.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", "--method", "async", "--precision", "double", "--tolerance", "1e-9", "--gpus", str(n_gpus), *options)
        self.assertIn(f"on {n_gpus} GPU", said)
        self.assertIn("result      converged", said)
        x = numpy.array(self.read_vector("x.mtx"))
        product = numpy.zeros(self.n)
        numpy.add.at(product, self.rows, self.values * x[self.columns])
        self.assertLessEqual(numpy.linalg.norm(self.b - product), 1.0001e-9 * numpy.linalg.norm(self.b), f"{n_gpus} GPUs {options}")
        return said

    def test_each_exchange(self):
        for n_gpus in range(1, min(N_GPUS, 2) + 1):
            for exchange in ("amc", "dc", "dk", "halo"):
                for options in ([], ["--local-iterations", "1"], ["--wait"] if exchange == "halo" else ["--block-size", "64"]):
                    with self.subTest(f"{n_gpus} {exchange} {options}"):
                        self.assertIn(f"exchange {exchange}", self.check(n_gpus, "--exchange", exchange, *options))

    def test_waiting_in_the_synchronous_schedule(self):
        for n_gpus in range(1, min(N_GPUS, 2) + 1):
            self.check(n_gpus, "--wait", "--schedule", "synchronous")

    def test_shares(self):
        if N_GPUS < 2:
            self.skipTest("one GPU")
        self.check(2, "--shares", "70,30")


@unittest.skipIf(N_GPUS == 0, "no GPU here")
class SeveralGpusOfKrylovMethods(Program):
    """Five points on n x n nodes, and the same with a wind: each method and preconditioner, and what automatic chooses."""

    def five_points(self, name, n, shift, wind):
        entries = {}
        for i in range(n * n):
            entries[i, i] = 4. + shift
            for j, inside in ((i - 1, i % n > 0), (i + 1, i % n < n - 1), (i - n, i >= n), (i + n, i < n * (n - 1))):
                if inside:
                    entries[i, j] = -1. - wind if j < i else -1. + wind
        self.matrix(name, entries, n * n)
        rows, columns = numpy.array(list(entries)).T
        return rows, columns, numpy.array(list(entries.values()))

    def check(self, name, matrix, *options, n_gpus):
        rows, columns, values = matrix
        numbers = random.Random(7)
        b = numpy.array([numbers.gauss(0., 1.) for _ in range(rows.max() + 1)])
        self.vector("b.mtx", b.tolist())
        said = self.run_it(name, "--rhs", "b.mtx", "--solution", "x.mtx", "--tolerance", "1e-9", "--gpus", str(n_gpus), *options)
        self.assertIn("result      converged", said)
        x, product = numpy.array(self.read_vector("x.mtx")), numpy.zeros(b.size)
        numpy.add.at(product, rows, values * x[columns])
        self.assertLessEqual(numpy.linalg.norm(b - product), 1.0001e-9 * numpy.linalg.norm(b), f"{n_gpus} GPUs {options}")
        return said

    def test_each_method_and_preconditioner(self):
        for name, wind, method, factors in (("S.mtx", 0., "cg", "ic"), ("W.mtx", 0.4, "gmres", "ilu")):
            matrix = self.five_points(name, 40, 0.1, wind)
            for n_gpus in range(1, min(N_GPUS, 2) + 1):
                for preconditioner in ("none", "jacobi", "async", factors):
                    for precision in ("double", "mixed"):
                        with self.subTest(f"{method} {preconditioner} {precision} {n_gpus}"):
                            said = self.check(name, matrix, "--method", method, "--preconditioner", preconditioner, "--precision", precision, n_gpus=n_gpus)
                            self.assertIn(f"on {n_gpus} GPU", said)
                with self.subTest(f"{method}, blocks, {n_gpus}"):
                    self.check(name, matrix, "--method", method, "--preconditioner", "async", "--blocks", "metis", "--block-size", "32", n_gpus=n_gpus)
        if N_GPUS > 1:
            self.check("S.mtx", self.five_points("S.mtx", 40, 0.1, 0.), "--method", "cg", "--shares", "70,30", n_gpus=2)

    def test_automatic(self):
        for name, shift, wind, chosen in (("F.mtx", 4., 0., "async: rho(|B|)"), ("S.mtx", 0., 0., "cg preconditioned by async: "), ("W.mtx", 0., 0.4, "gmres preconditioned by async: "),
                                          ("P.mtx", 1., 0., "cg preconditioned by ic: ")):
            matrix = self.five_points(name, 20, shift, wind)
            if name == "P.mtx":  # its square: definite, and not dominated by the diagonal
                dense = numpy.zeros((400, 400))
                dense[matrix[0], matrix[1]] = matrix[2]
                square = dense @ dense
                rows, columns = numpy.nonzero(square)
                matrix = rows, columns, square[rows, columns]
                self.matrix(name, {(int(i), int(j)): float(value) for i, j, value in zip(*matrix)}, 400)
            for n_gpus in range(1, min(N_GPUS, 2) + 1):
                with self.subTest(f"{name} {n_gpus}"):
                    self.assertIn(f"automatic   {chosen}", self.check(name, matrix, n_gpus=n_gpus))


if __name__ == "__main__":
    unittest.main()
