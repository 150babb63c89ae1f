# SPDX-License-Identifier: Apache-2.0
"""The default of leopard-solve with kinds of matrices for which it once was slow, wrong in its choice, or failed."""
import math
import random

from command_line_test import Program, laplace, norm, multiply


class Kinds(Program):
    def grid(self, n, weight):
        """Finite volumes on an n x n grid: weight(a, b) of the edge between two cells, 1 to the boundary."""
        entries = {}
        for (i, j) in laplace(n):
            if i < j:
                value = weight(i, j)
                entries[i, j] = entries[j, i] = -value
                for k in (i, j):
                    entries[k, k] = entries.get((k, k), 1. if k % n in (0, n - 1) or k // n in (0, n - 1) else 0.) + value
        return entries

    def solve(self, entries, n, *options, b=None, tolerance=1.1e-10):
        """What is said of a solution whose residual is small, computed here."""
        self.matrix("K.mtx", entries, n)
        numbers = random.Random(1)
        b = b or [numbers.gauss(0., 1.) for _ in range(n)]
        self.vector("b.mtx", b)
        said = self.run_it("K.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", "--backend", "host", *options)
        residual = [value - product for value, product in zip(b, multiply(entries, self.read_vector("x.mtx")))]
        self.assertLessEqual(norm(residual), tolerance * norm(b), said)
        return said

    def test_a_scaled_solution_goes_on_until_that_of_the_file_is_good(self):
        """It was given up for the next method and at last for sparse factors."""
        numbers = random.Random(3)
        at = [math.exp(3. * numbers.gauss(0., 1.)) for _ in range(60 * 60)]
        entries = self.grid(60, lambda i, j: 2. * at[i] * at[j] / (at[i] + at[j]))
        said = self.solve(entries, 3600)
        self.assertIn("scaled ", said)
        self.assertNotIn("failed ", said)
        self.assertIn("corrected   the residual of A x = b", said)
