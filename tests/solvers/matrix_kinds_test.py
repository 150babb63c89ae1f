# SPDX-License-Identifier: Apache-2.0
"""The default of leopard-solve with kinds of matrices for which it once was slow, wrong in its choice, or failed."""
import math
import pathlib
import random
import subprocess
import sys

from command_line_test import Program, laplace, norm, multiply

TABLE = pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "matrix_table"


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

    def test_levels_of_a_scaled_matrix_keep_what_were_constants(self):
        """Of S A S, whose near null space is S^-1 1, they had the constants: 300 iterations left half of the residual."""
        numbers = random.Random(4)
        said = self.solve(self.grid(60, lambda i, j: 10. ** numbers.uniform(-4., 4.)), 3600)
        self.assertIn("scaled ", said)
        self.assertNotIn("failed ", said)
        self.assertIn("by smoothed aggregation", said)
        self.assertLessEqual(int(said.split("converged after ")[1].split()[0]), 60, said)

    def test_levels_of_a_matrix_that_was_scaled_have_its_constants(self):
        """S K S with random S: S^-1 1 is near its null space, and levels were made for constants: a hundred iterations."""
        n, numbers = 60, random.Random(8)
        S = [10. ** numbers.uniform(-8., 8.) for _ in range(n * n)]
        entries = {(i, j): S[i] * (value * S[j]) if i <= j else S[j] * (value * S[i]) for (i, j), value in laplace(n).items()}
        said = self.solve(entries, n * n, b=multiply(entries, [numbers.gauss(0., 1.) for _ in range(n * n)]))
        self.assertIn("cg preconditioned by multigrid", said)
        self.assertNotIn("failed ", said)
        self.assertLessEqual(int(said.split("converged after ")[1].split()[0]), 30, said)

    def elastic(self, n, poisson):
        """Plane strain on n x n square elements, clamped on the left; node by node."""
        la, mu = poisson / ((1. + poisson) * (1. - 2. * poisson)), 0.5 / (1. + poisson)
        corners, points = ((0, 0), (1, 0), (0, 1), (1, 1)), (0.5 - 0.5 / math.sqrt(3.), 0.5 + 0.5 / math.sqrt(3.))
        element = {}
        for x in points:
            for y in points:
                slopes = [((2 * c - 1) * (y if d else 1. - y), (2 * d - 1) * (x if c else 1. - x)) for c, d in corners]
                for i, p in enumerate(slopes):
                    for j, q in enumerate(slopes):
                        for a in (0, 1):
                            for b in (0, 1):
                                value = la * p[a] * q[b] + mu * (p[b] * q[a] + (p[0] * q[0] + p[1] * q[1] if a == b else 0.))
                                element[2 * i + a, 2 * j + b] = element.get((2 * i + a, 2 * j + b), 0.) + 0.25 * value
        entries = {}
        for row in range(n):
            for column in range(n):
                at = [2 * ((row + d) * n + column + c - 1) + a if column + c > 0 else -1 for c, d in corners for a in (0, 1)]
                for (i, j), value in element.items():
                    if at[i] >= 0 and at[j] >= 0:
                        entries[at[i], at[j]] = entries.get((at[i], at[j]), 0.) + value
        return entries, 2 * n * (n + 1)

    def test_factors_that_are_cheap_are_not_kept_waiting(self):
        """CG with IC(0) ran its 3000 iterations in vain, and LU factors were computed for a matrix that is positive definite."""
        entries, n = self.elastic(60, 0.4999)
        said = self.solve(entries, n)
        self.assertNotIn("3000 iterations", said)
        self.assertIn("Cholesky", said)
        entries, n = self.elastic(12, 0.3)
        said = self.solve(entries, n)
        self.assertIn("automatic   direct", said)
        self.assertIn("Cholesky", said)

    def test_a_stencil_that_is_strong_across_the_axes_is_not_for_point_smoothers(self):
        """Bilinear elements for diffusion along the diagonal, 1e-4 across: equal couplings along the axes, and sixty cycles of stencils in vain."""
        n, across = 40, 1e-4
        K, M = {-1: -1., 0: 2., 1: -1.}, {-1: 1. / 6., 0: 2. / 3., 1: 1. / 6.}
        stencil = {(a, b): 0.5 * (1. + across) * (K[a] * M[b] + M[a] * K[b]) - 0.25 * (1. - across) * a * b for a in K for b in K}
        entries = {}
        for y in range(n):
            for x in range(n):
                for (a, b), value in stencil.items():
                    if 0 <= x + a < n and 0 <= y + b < n:
                        entries[y * n + x, (y + b) * n + x + a] = value
        said = self.solve(entries, n * n)
        self.assertNotIn("failed ", said)
        self.assertNotIn("levels of stencils", said)
        self.assertIn("levels of stencils", self.solve(laplace(n), n * n))

    def test_columns_tell_that_relaxation_converges_fast(self):
        """I - 0.85 P^T of a random walk: its column sums are 0.15; coarse levels of the graph were dense."""
        numbers = random.Random(4)
        n = 3000
        entries = {(i, i): 1. for i in range(n)}
        for j in range(n):
            targets = [int(n * numbers.random()**3) for _ in range(5)]
            for i in targets:
                entries[i, j] = entries.get((i, j), 0.) - 0.85 / len(targets)
        said = self.solve(entries, n)
        self.assertIn("automatic   async: rho(|B|) is at most 0.8", said)

    def test_graphs_that_spread_faster_than_a_mesh_are_not_for_coarse_levels(self):
        """Coarse levels of random graphs fill up: their set-up took longer than all iterations of anything else."""
        numbers = random.Random(5)
        n = 4000
        for shift, first in ((1e-3, "cg preconditioned by jacobi"), (0., "cg preconditioned by jacobi"), (None, "gmres preconditioned by ilu")):
            entries = {(i, i): shift or 0. for i in range(n)}
            for i in range(n):
                for j in [(i + 1) % n] + [numbers.randrange(n) for _ in range(4)]:
                    if i != j:
                        weight = numbers.random()
                        for k, l in ((i, j), (j, i)):
                            factor = weight * (1. if shift is not None or k == i else 0.5)
                            entries[k, l] = entries.get((k, l), 0.) - factor
                            entries[l, l] += factor
            b = [numbers.gauss(0., 1.) for _ in range(n)]
            with self.subTest(shift):
                said = self.solve(entries, n, b=[value - sum(b) / n for value in b])
                self.assertIn("automatic   " + first, said)
                self.assertNotIn("failed ", said)

    def test_an_attempt_that_is_nearly_done_goes_on(self):
        """CG with Jacobi was ended some iterations before it was done, and coarse levels were set up."""
        n, numbers = 4000, random.Random(1)
        entries = {(i, i): 1e-2 for i in range(n)}
        for i in range(n):
            for j in [(i + 1) % n] + [numbers.randrange(n) for _ in range(4)]:
                if i != j:
                    weight = 10. ** numbers.uniform(-2., 2.)
                    for k, l in ((i, j), (j, i)):
                        entries[k, l] = entries.get((k, l), 0.) - weight
                        entries[l, l] += weight
        said = self.solve(entries, n)
        self.assertIn("automatic   cg preconditioned by jacobi", said)
        self.assertIn("goes on     as the residual falls", said)
        self.assertNotIn("failed ", said)

    def test_scaled_columns_are_solved_in_the_units_of_the_file(self):
        """It was ended where rounding hid the scaled system, or after three corrections that had gained a digit each."""
        n = 40
        for seed in (0, 1, 2):
            numbers = random.Random(seed)
            columns = [10. ** numbers.uniform(-50., 50.) for _ in range(n * n)]
            entries = {(i, j): value * columns[j] for (i, j), value in laplace(n).items()}
            said = self.solve(entries, n * n, b=multiply(entries, [0.25 / size for size in columns]))
            self.assertNotIn("can be reached", said)

    def test_trees_are_solved_by_factors(self):
        """Four methods came before, in vain, for trees with weights over many orders, and multigrid for chains."""
        n, numbers = 3000, random.Random(5)
        for chain in (True, False):
            entries = {(i, i): 1e-2 for i in range(n)}
            for i in range(1, n):
                j, weight = i - 1 if chain else int(numbers.random() * i), 10. ** numbers.uniform(-3., 3.)
                for k, l in ((i, j), (j, i)):
                    entries[k, l] = -weight
                    entries[k, k] += weight
            said = self.solve(entries, n)
            self.assertIn("automatic   direct: symmetric with positive diagonal, a tree but for 0 rows", said)
            self.assertNotIn("failed ", said)

    def semidefinite(self, n, n_terms, seed):
        """Entries of B^T B with n_terms rows of B, three entries near one another in each, and B^T B x for some x."""
        numbers, entries = random.Random(seed), {}
        for term in range(n_terms):
            at = min(n - 1, term * n // n_terms)
            row = {}
            for j in [at] + [min(n - 1, max(0, at + numbers.randrange(-6, 7))) for _ in range(2)]:
                row[j] = numbers.gauss(0., 1.) * 10. ** numbers.uniform(-1., 1.)
            for i, a in row.items():
                for j, b in row.items():
                    entries[i, j] = entries.get((i, j), 0.) + a * b
        return entries, multiply(entries, [numbers.gauss(0., 1.) for _ in range(n)])

    def test_semidefinite_matrices_have_the_iterations_that_they_need(self):
        """CG was given up after 1000, without a word of what it had reached; and refused by hand where rows are zero."""
        entries, b = self.semidefinite(300, 290, 2)
        said = self.solve(entries, 300, b=b)
        self.assertIn("the matrix is singular: x is determined up to its null space", said)
        entries, b = self.semidefinite(300, 270, 2)
        self.assertLess(len({i for i, _ in entries}), 300)
        self.assertIn("zero rows", self.solve(entries, 300, "--method", "cg", "--preconditioner", "jacobi", "--max-iterations", "200000", b=b))
        said, _ = self.run_it("K.mtx", "--rhs", "b.mtx", "--backend", "host", "--max-iterations", "20", "--solution", "x.mtx", code=1)
        self.assertIn("computed anew", said)
        self.assertIn("has not found out whether b is in its range", said)
        self.assertNotIn("cg with jacobi", said)

    def test_states_that_absorb(self):
        """A generator of a Markov chain has zero rows for them, which every method refused, and I - P^T zero columns."""
        n, numbers = 200, random.Random(3)
        rates = {(i, j): numbers.random() for i in range(n - 2) for j in (i + 1, i - 1, numbers.randrange(n)) if j >= 0 and j != i}
        entries = {(i, j): -value for (i, j), value in rates.items()}
        for (i, _), value in rates.items():
            entries[i, i] = entries.get((i, i), 0.) + value
        b = [numbers.gauss(0., 1.) for _ in range(n - 2)] + [0., 0.]
        for options in ((), ("--method", "gmres", "--preconditioner", "jacobi"), ("--method", "direct")):
            said = self.solve(entries, n, *options, b=b)
            self.assertIn("2 rows are zero, and so is b there, and their columns are not", said)
            self.assertEqual(self.read_vector("x.mtx")[n - 2:], [0., 0.])
        said = self.run_it("K.mtx")
        self.assertIn("b = A x for such an x", said)
        self.assertNotIn("warning", said)
        columns = {(j, i): value for (i, j), value in entries.items()}
        x = [numbers.random() for _ in range(n)]
        self.assertIn("column 199 is empty or zero", self.solve(columns, n, b=multiply(columns, x)))

    def test_elasticity_without_a_word_about_its_nodes(self):
        """cg with ic took 66 iterations of it, and three times as many for twice the cells a side."""
        try:
            import numpy
        except ImportError:
            self.skipTest("no numpy")
        sys.path.insert(0, str(TABLE.parent))
        import finite_elements
        import sparse
        sparse.write(self.folder / "E.mtx", finite_elements.elasticity(3, 14, 0.3))
        numpy.save(self.folder / "b.npy", numpy.random.default_rng(1).standard_normal(9450))
        said = self.run_it("E.mtx", "--rhs", "b.npy", "--backend", "host")
        self.assertIn("cg preconditioned by multigrid: symmetric with positive diagonal, nodes of 3 unknowns each", said)
        self.assertNotIn("next ", said)
        self.assertLessEqual(int(said.split("converged after ")[1].split()[0]), 50, said)

    def test_structurally_singular_matrices_say_why(self):
        """Ten thousand iterations of GMRES ended with nothing but that they were ten thousand."""
        n, numbers = 60, random.Random(9)
        entries = {(i, i): 3. for i in range(n)}
        entries.update({(i, numbers.randrange(n)): numbers.gauss(0., 1.) for i in range(n) for _ in range(4)})
        entries = {(i, j): value for (i, j), value in entries.items() if j > 2 or i < 2}
        entries.update({(0, 1): 1., (0, 2): 2., (1, 0): 3., (1, 1): 4., (1, 2): 5., (2, 7): 1.})
        self.matrix("K.mtx", entries, n)
        self.vector("b.mtx", [numbers.gauss(0., 1.) for _ in range(n)])
        why = "structurally singular: at most 59 of its 60 rows can have a pivot, as columns 1, 2 and 3 have entries in rows 1 and 2 only"
        for options in ((), ("--method", "direct")):
            said, error = self.run_it("K.mtx", "--rhs", "b.mtx", "--backend", "host", *options, code=1)
            self.assertIn(why, error)
            self.assertNotIn("10000 iterations", said + error)
            self.assertEqual("convergence is not promised" in said, not options)
        said = self.run_it("K.mtx", "--analyze")
        self.assertIn(why, said)
        entries[2, 2] = 1.
        self.assertNotIn("structurally", self.solve(entries, n))
        del entries[2, 2], entries[1, 2]
        entries[7, 2] = 1.  # no diagonal there, and a pivot all the same
        self.assertNotIn("structurally", self.solve(entries, n))

    def acyclic(self, n, degree=4):
        """A directed graph without cycles, each node to some before it: D - U, triangular."""
        numbers, entries = random.Random(7), {(i, i): 0.01 for i in range(n)}
        for i in range(1, n):
            for _ in range(degree):
                j = int(numbers.random() * i)
                entries[j, i] = entries.get((j, i), 0.) - 1.
                entries[i, i] += 1.
        return entries

    def test_triangular_matrices_are_solved_by_substitution(self):
        """Coarse levels, dense ones, came first: half a minute and a gigabyte for 200,000 rows."""
        n = 3000
        upper = self.acyclic(n)
        for entries in (upper, {(j, i): value for (i, j), value in upper.items()}):
            for options in ((), ("--method", "gmres")):
                said = self.solve(entries, n, *options)
                self.assertIn("gmres preconditioned by ilu: triangular", said)
                self.assertLessEqual(int(said.split("converged after ")[1].split()[0]), 2, said)

    def test_a_graph_that_spreads_along_its_columns_is_no_mesh(self):
        """Only rows were followed, along which the other direction of the same graph looks like a mesh."""
        n, numbers = 12000, random.Random(10)
        order = list(range(n))
        numbers.shuffle(order)
        said = self.solve({(order[i], order[j]): value for (i, j), value in self.acyclic(n).items()}, n)
        self.assertIn("gmres preconditioned by ilu: not symmetric", said)
        for line in said.splitlines():
            if line.startswith("failed "):
                self.assertIn("coarse levels fill up", line)

    def test_coarse_levels_that_do_not_suit_a_flow_are_given_up_soon(self):
        """Strong convection, upwind: ILU(0) takes ten iterations, after two hundred with multigrid in vain; as its smoother four."""
        n, speed = 110, 100.
        entries = laplace(n)
        for y in range(n):
            for x in range(n):
                i = y * n + x
                entries[i, i] += 1.5 * speed
                if x > 0:
                    entries[i, i - 1] -= speed
                if y > 0:
                    entries[i, i - n] -= 0.5 * speed
        said = self.solve(entries, n * n)
        for line in said.splitlines():
            if line.startswith("failed "):
                self.assertLessEqual(int(line.split(" iterations")[0].split()[-1]), 60, said)
        self.assertRegex(said, r"converged after \d+ iterations")

    def test_a_mild_flow_is_smoothed_by_incomplete_factors(self):
        """Central differences, cell Peclet number 1.8: Chebyshev's interval smoothed in vain, and LU factors took what was left."""
        n = 100
        entries = {(i, j): value + (0.9 * (j - i) if abs(i - j) == 1 else 0.) for (i, j), value in laplace(n).items()}
        for options in ((), ("--method", "gmres"), ("--method", "gmres", "--preconditioner", "multigrid")):
            with self.subTest(options):
                said = self.solve(entries, n * n, *options)
                self.assertNotIn("failed ", said)
                self.assertLessEqual(int(said.split("converged after ")[1].split()[0]), 20, said)
                self.assertIn("smoothed by ilu0", said)
        self.assertIn("smoothed by chebyshev", self.solve(laplace(20, 4.1), 400, "--method", "gmres", "--preconditioner", "multigrid"))

    def test_incomplete_factors_of_another_matrix_are_not_tried_where_sparse_ones_are_cheap(self):
        """IC(0) had to add much of the diagonal, and then took long."""
        n, numbers, entries = 100, random.Random(6), {(i, i): 1e-4 for i in range(10000)}
        for y in range(n):  # C^T C with random C
            for x in range(n):
                row = [(v * n + u, numbers.gauss(0., 1.)) for u in (x, x + 1, x + 2) for v in (y, y + 1, y + 2) if u < n and v < n]
                for i, a in row:
                    for j, b in row:
                        entries[i, j] = entries.get((i, j), 0.) + a * b
        said = self.solve(entries, n * n)
        self.assertIn("failed      cg preconditioned by ic: the incomplete factors are those of another matrix", said)
        self.assertIn("Cholesky", said)

    def test_attempts_in_vain_are_ended_early(self):
        """Other weights in each direction of an edge, over four decades: sixty iterations with coarse levels and some hundred with ILU(0)."""
        n, numbers = 60, random.Random(1)
        entries = {}
        for i, j in laplace(n):
            if i != j:
                entries[i, j] = -10. ** numbers.uniform(-2., 2.)
                entries[i, i] = entries.get((i, i), 1. if i % n in (0, n - 1) or i // n in (0, n - 1) else 0.) - entries[i, j]
        said = self.solve(entries, n * n)
        after = [int(line.split(" after ")[1].split()[0]) for line in said.splitlines() if line.startswith("failed ")]
        self.assertEqual(len(after), 2, said)
        self.assertLessEqual(after[0], 20, said)
        self.assertLessEqual(after[1], 70, said)

    def test_a_residual_that_stands_still_is_given_up(self):
        """GMRES made its ten thousand iterations, of which all but some hundred changed nothing."""
        entries, b = self.semidefinite(300, 290, 2)
        numbers = random.Random(1)
        self.matrix("K.mtx", entries, 300)
        self.vector("b.mtx", [value + numbers.gauss(0., 1.) for value in b])
        for preconditioner in ("jacobi", "none"):
            said, _ = self.run_it("K.mtx", "--rhs", "b.mtx", "--backend", "host", "--method", "gmres", "--preconditioner", preconditioner, code=1)
            self.assertIn("ended       FGMRES(50): residual that stands still", said)
            self.assertLess(int(said.split("stagnated after ")[1].split()[0]), 3000, said)

    def test_large_entries_do_not_make_it_symmetric(self):
        """Products of diagonal entries overflowed, and triangular matrices were taken for symmetric and some refused as singular."""
        entries = {(i, i): 1e155 for i in range(30)}
        entries.update({(i, i + 1): -1e155 for i in range(0, 30, 3)})
        self.assertIn("not symmetric (row 1, column 2)", self.solve(entries, 30))


class Table(Program):
    """benchmarks/matrix_table believes nothing that it has not computed."""

    def table(self, *lines):
        """Of the five-point Laplacian by a program that says these lines and hands b back as the solution."""
        self.write("liar", "#!/bin/sh\ncp b.npy x.npy\n" + "\n".join(lines) + "\n")
        (self.folder / "liar").chmod(0o755)
        run = subprocess.run([sys.executable, TABLE, "--tiny", "--only", "^laplace-5$", "--no-peers", "--program", self.folder / "liar"],
                             capture_output=True, text=True, timeout=1200, check=False)
        if run.returncode == 77:
            self.skipTest(run.stderr)
        return run

    def test_what_is_false_is_found(self):
        for lines, says in ((["echo '||b - A x|| / ||b|| = 1e-12, computed anew'"], "WRONG: says solved, but the residual is"),
                            (["rm x.npy"], "WRONG: says solved, but the residual is nan"),
                            (["echo '||b - A x|| / ||b|| = 1e-3, computed anew'", "exit 1"], "WRONG: says that the residual is 1.0e-03"),
                            (["kill -SEGV $$"], "WRONG: ended with code -11"),
                            (["rm x.npy", "echo 'leopard-solve: the matrix is singular'", "exit 1"], "NOT SOLVED: the matrix is singular")):
            with self.subTest(says):
                run = self.table(*lines)
                self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
                self.assertIn(says, run.stdout)

    def test_seconds_are_all_that_a_run_says(self):
        """Preparing, which has the factors and all attempts that failed in it, was left out, of the default and of its peers."""
        run = self.table("echo 'time        0.25 s solving, 0.5 s reading, 1 s preparing'")
        self.assertIn("| 1.8 (", run.stdout, run.stderr)
