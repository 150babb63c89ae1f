# SPDX-License-Identifier: Apache-2.0
"""What leopard-solve calls a success, what it goes on with, and what it says of a solution that is none."""
import random
import re
import resource
import subprocess

from command_line_test import LEOPARD_SOLVE, Program, laplace, multiply


class TrueResidual(Program):
    def test_of_a_scaled_system_each_equation_counts(self):
        """Rows of very different size, an x of 1e8: the norm of the residual is what rounding leaves of the large rows. What is shown is each row's."""
        numbers, n = random.Random(4), 400
        entries = {(i, j): value * (1e8 if i % 2 else 1e-8) for (i, j), value in laplace(20).items()}
        self.matrix("K.mtx", entries, n)
        self.vector("b.mtx", [numbers.gauss(0., 1.) for _ in range(n)])
        b = self.read_vector("b.mtx")
        said = self.run_it("K.mtx", "--rhs", "b.mtx", "--solution", "x.mtx")
        self.assertIn("scaled ", said)
        claimed = re.search(r"warning     the residual of the scaled system .*\n +each equation of A x = b is satisfied to (\S+) of its own terms", said)
        x = self.read_vector("x.mtx")
        residual, terms = multiply(entries, x), multiply({at: abs(value) for at, value in entries.items()}, [abs(value) for value in x])
        largest = max(abs(r - value) / (t + abs(value)) for r, t, value in zip(residual, terms, b))
        self.assertLess(largest, 1e-10)
        self.assertLess(float(claimed[1]), 1e-10)

    def test_of_a_scaled_system_that_is_solved(self):
        """The same with a right-hand side that a moderate x has."""
        entries = {(i, j): value * (1e8 if i % 2 else 1e-8) for (i, j), value in laplace(20).items()}
        self.matrix("K.mtx", entries, 400)
        self.assertIn("result      converged", self.run_it("K.mtx"))

    def saddle(self, name, diagonal, second, pairs):
        """[D B'; B S] with the entries of B that are given, and a right-hand side."""
        numbers, n, m = random.Random(7), len(diagonal), len(second)
        entries = {(i, i): value for i, value in enumerate(list(diagonal) + list(second))}
        for (i, j), value in pairs.items():
            entries[n + i, j] = entries[j, n + i] = value
        self.matrix(name + ".mtx", entries, n + m)
        self.vector(name + "_b.mtx", [numbers.gauss(0., 1.) for _ in range(n + m)])

    def test_a_larger_tolerance_is_no_harder(self):
        """A tolerance was refused, with one of three times as much advised, though a larger one got corrections that reached both."""
        numbers = random.Random(12)
        diagonal = [10**numbers.uniform(-12, 12) for _ in range(200)]
        pairs = {(i, j): numbers.gauss(0., 1.) for i in range(60) for j in numbers.sample(range(200), 4)}
        for name, second in (("regularized", [-1e-9] * 60), ("saddle", [0.] * 60)):
            self.saddle(name, diagonal, second, pairs)
            system = (name + ".mtx", "--rhs", name + "_b.mtx", "--tolerance")
            said, _ = self.run_it(*system, "1e-14", code=1)
            least = float(re.search(r"to do: at most --tolerance (\S+) can be reached", said)[1])
            for times in (1., 1.3, 2., 3., 5., 10., 100., 1e4):
                with self.subTest(name, times=times):
                    self.run_it(*system, repr(least * times))

    def test_the_scaled_system_decides_after_a_correction(self):
        """The first residual that the scaled system took for small was accepted, where one correction met the tolerance in the file."""
        m = 14  # fluxes through the edges between m x m cells, none through the boundary: constants are nearly in the null space
        edges = [(k, k + 1) for k in range(m * m) if k % m < m - 1] + [(k, k + m) for k in range(m * m - m)]
        pairs = {(cell, edge): sign for edge, cells in enumerate(edges) for cell, sign in zip(cells, (1., -1.))}
        self.saddle("mixed", [1e-3] * len(edges), [-1e-12] * m * m, pairs)
        system = ("mixed.mtx", "--rhs", "mixed_b.mtx", "--tolerance")
        said, _ = self.run_it(*system, "1e-12", code=1)
        found = re.search(r"rounding    the residual of the scaled system is .*\n +to do: at most --tolerance (\S+) can be reached in double precision, of the scaled system; "
                          r"that is (\S+) of A x = b", said)
        self.assertIsNotNone(found, said)
        self.run_it(*system, found[1])
        for times in (1., 1.5, 2., 3.):
            tolerance = float(found[2]) * times
            said = self.run_it(*system, repr(tolerance))
            self.assertLessEqual(float(re.search(r"\|\|b\|\| = (\S+),", said)[1]), 1.1 * tolerance)

    def test_an_x_that_explodes_settles_nothing(self):
        """Bidiagonal with 10 beside 1: Krylov methods stagnate at 1e31 of b, where rounding errors of x are as large; factors are exact."""
        n = 50
        self.matrix("K.mtx", {(i, j): 1. if i == j else 10. for i in range(n) for j in (i, i + 1) if j < n}, n)
        said = self.run_it("K.mtx")
        self.assertRegex(said, "(automatic|next) +direct")
        self.assertIn("max |x - 1| = 0", said)

    def test_an_x_beyond_double(self):
        """Seven methods failed, with a residual of "-nan", and the matrix was said to be singular, perhaps."""
        self.matrix("tiny.mtx", {at: value * 1e-200 for at, value in laplace(12).items()}, 144)
        self.vector("large.mtx", [1e200 * (1. + i % 3) for i in range(144)])
        self.matrix("row.mtx", {(0, 0): 1., (1, 1): 1e-300}, 2)
        self.vector("b.mtx", [1., -1e200])
        for system, says in ((("tiny.mtx", "--rhs", "large.mtx"), "row 12 asks for an entry of 5e+399 at least"), (("row.mtx", "--rhs", "b.mtx"), "row 2 asks for an entry of 1e+500 at least")):
            for options in ((), ("--method", "async"), ("--method", "direct")):
                self.refused(*system, *options, says=["x is beyond the range of double precision", says], code=1)
        n = 100  # a line, whose rows do not show it: x is 1250 times what the first one asks for
        self.matrix("line.mtx", {(i, j): 2e-200 if i == j else -1e-200 for i in range(n) for j in range(max(0, i - 1), min(n, i + 2))}, n)
        self.vector("b.mtx", [1.5e106] * n)
        for options in ((), ("--method", "async"), ("--method", "cg")):
            said, _ = self.run_it("line.mtx", "--rhs", "b.mtx", *options, code=1)
            self.assertIn("x has entries of 5e+305 at least, by row 1, and others may be beyond what double holds", said)
            self.assertNotIn("-nan", said)
            self.assertNotIn("singular", said)
        self.vector("b.mtx", [1e104] * n)
        self.run_it("line.mtx", "--rhs", "b.mtx")

    def test_relaxations_refuse_ones_that_are_in_the_null_space(self):
        """b = A 1 = 0: x = 0 was called the solution, which is said to be all ones."""
        entries = laplace(6)
        for i in range(36):
            entries[i, i] = -sum(value for (row, column), value in entries.items() if row == i and column != i)
        self.matrix("K.mtx", entries, 36)
        for options in (("--method", "async"), ("--method", "gauss-seidel", "--precision", "mixed"), ("--tune", "--tune-seconds", "1")):
            self.refused("K.mtx", *options, says=["singular", "--rhs"], code=1)

    def test_what_no_tolerance_helps(self):
        """More digits of a residual that is rounding errors were advised, of which there are none."""
        n = 14
        self.matrix("hilbert.mtx", {(i, j): 1. / (i + j + 1) for i in range(n) for j in range(n)}, n)
        said = self.run_it("hilbert.mtx")
        self.assertIn("the matrix is singular, or so nearly that double precision does not tell", said)

    def test_analyze_tells_what_is_done(self):
        """It told of the matrix before zero rows are completed and negative ones negated, which are never solved so."""
        n = 12
        zero_rows = {at: value for at, value in laplace(n).items() if 5 not in at}
        negative = {at: -value for at, value in laplace(n).items()}
        one_column = {at: value for at, value in laplace(n).items() if at[0] != 5}
        for name, entries, expected in (("zero_rows.mtx", zero_rows, "cg preconditioned by multigrid"), ("negative.mtx", negative, "cg preconditioned by multigrid"), ("one_column.mtx", one_column, "gmres preconditioned by ")):
            with self.subTest(name):
                self.matrix(name, entries, n * n)
                said = self.run_it(name, "--analyze")
                self.assertIn("--method automatic:      " + expected, said)

    def test_nodes_have_a_bound(self):
        """A node of all unknowns made a dense matrix, and no limit of time counted."""
        self.refused("A.mtx", "--block-unknowns", "144", says=["--block-unknowns is 144", "at most 100"])

    def test_a_replay_does_not_vary(self):
        self.matrix("K.mtx", laplace(40), 1600)
        for options in (("--method", "cg", "--preconditioner", "async"), ("--method", "multigrid", "--smoother", "async")):
            said = self.run_it("K.mtx", *options, "--schedule", "replay", "--seed", "3", "--backend", "host")
            self.assertIn("replayed: this seed gives the same result in every run", said)
            self.assertNotIn("vary from run to run", said)

    def test_a_full_disk_under_what_is_printed(self):
        """The report was lost, and the exit code 0."""
        with open("/dev/full", "w", encoding="ascii") as full:
            result = subprocess.run([LEOPARD_SOLVE, "A.mtx"], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True, timeout=1200, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("what is printed could not be written", result.stderr)

    def test_a_limit_on_files(self):
        """The signal that comes with it ended the program without a word, and left a temporary file."""
        self.matrix("K.mtx", laplace(40), 1600)
        result = subprocess.run([LEOPARD_SOLVE, "K.mtx", "--solution", "x.mtx"], cwd=self.folder, capture_output=True, text=True, timeout=1200, check=False,
                                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, resource.RLIM_INFINITY)))
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn("x.mtx", result.stderr)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["A.mtx", "K.mtx"])

    def test_the_predicted_time_is_that_of_the_method_that_solves_it(self):
        """An indefinite matrix: two iterations of CG that fail told a time."""
        n = 120
        self.matrix("K.mtx", {**laplace(n, 4. - 1.42e-3), (n * n, n * n): 4.}, n * n + 1)  # one eigenvalue below zero, which some Lanczos steps do not find
        said = self.run_it("K.mtx", "--analyze")
        self.assertRegex(said, r"predicted time: +(more than .*, the time of what fails \(cg preconditioned by|about .* of what fails \(cg preconditioned by)")
