# SPDX-License-Identifier: Apache-2.0
"""leopard-solve from outside: what it solves, writes and says, and how it refuses what it cannot do."""
import ast
import csv
import gzip
import json
import math
import os
import pathlib
import random
import re
import resource
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import started  # noqa: E402

LEOPARD_SOLVE = os.environ.get("LEOPARD_SOLVE", "leopard-solve")
HAS_GPU = subprocess.run(["sh", "-c", "command -v nvidia-smi && nvidia-smi -L"], capture_output=True, check=False).returncode == 0
N_GPUS = subprocess.run(["sh", "-c", "nvidia-smi -L"], capture_output=True, text=True, check=False).stdout.count("GPU ")
METHODS = ("async", "jacobi", "gauss-seidel", "sor", "ssor", "chebyshev", "async-refinement")


def laplace(n, diagonal=4.):
    """Entries of the five-point stencil on an n x n grid, {(row, column): value} from 0."""
    entries = {}
    for y in range(n):
        for x in range(n):
            entries[y * n + x, y * n + x] = diagonal
            for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                if 0 <= x + dx < n and 0 <= y + dy < n:
                    entries[y * n + x, (y + dy) * n + x + dx] = -1.
    return entries


def multiply(entries, x):
    y = [0.] * len(x)
    for (i, j), value in entries.items():
        y[i] += value * x[j]
    return y


def norm(v):
    return math.sqrt(sum(value * value for value in v))


class Program(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)
        self.entries = laplace(12)
        self.matrix("A.mtx", self.entries, 144)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def matrix(self, name, entries, n):
        text = f"%%MatrixMarket matrix coordinate real general\n{n} {n} {len(entries)}\n"
        text += "".join(f"{i + 1} {j + 1} {value!r}\n" for (i, j), value in entries.items())
        if name.endswith(".gz"):
            (self.folder / name).write_bytes(gzip.compress(text.encode()))
        else:
            self.write(name, text)

    def vector(self, name, values):
        self.write(name, f"%%MatrixMarket matrix array real general\n{len(values)} 1\n" + "".join(f"{value!r}\n" for value in values))

    def read_vector(self, name):
        lines = (self.folder / name).read_text().splitlines()
        self.assertEqual(lines[0], "%%MatrixMarket matrix array real general")
        self.assertEqual(lines[1].split(), [str(len(lines) - 2), "1"])
        return [float(line) for line in lines[2:]]

    def check_times(self, rows):
        """Those of a history on the host: all are known, and go on."""
        times = [float(row["time"]) for row in rows]
        self.assertEqual(times, sorted(times))
        self.assertLess(times[0], times[-1])

    def run_it(self, *options, code=0):
        """Standard output, or if it is to fail standard output and error."""
        result = started.run([LEOPARD_SOLVE, *options], self.folder)
        self.assertEqual(result.returncode, code, result.stdout[-3000:] + result.stderr)
        if code == 0:
            self.assertEqual(result.stderr, "")
            return result.stdout
        return result.stdout, result.stderr

    def refused(self, *options, says, code=2):
        """One message with all of `says`, and nothing written."""
        before = sorted(self.folder.iterdir())
        _, error = self.run_it(*options, code=code)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, error)
        self.assertEqual(error.count("leopard-solve: "), 1, error)
        self.assertEqual(error.count("\n  expected:") + error.count("\n  to do:"), 1, error)
        self.assertNotIn("unexpected error", error)
        self.assertEqual(sorted(self.folder.iterdir()), before, "something was written")


class Solving(Program):
    def test_a_system_of_one_row_as_scipy_writes_it(self):
        """What is 1 x 1 is symmetric there."""
        self.write("one.mtx", "%%MatrixMarket matrix coordinate real symmetric\n%\n1 1 1\n1 1 2.000000000000000e+00\n")
        for kind in ("array real symmetric\n%\n1 1\n5.0000000000000000e+00\n", "coordinate real symmetric\n%\n1 1 1\n1 1 5\n", "array integer symmetric\n%\n1 1\n5\n"):
            self.write("b.mtx", "%%MatrixMarket matrix " + kind)
            self.run_it("one.mtx", "--rhs", "b.mtx", "--solution", "x.mtx")
            self.assertEqual(self.read_vector("x.mtx"), [2.5])

    def test_right_hand_sides_whose_residuals_would_be_denormal(self):
        """Down to there all digits are right; below, what solves in mixed precision stagnated, and advice was of no use."""
        b = [math.sin(i) for i in range(144)]
        for options in ((), ("--method", "cg", "--precision", "mixed", "--preconditioner", "none"), ("--method", "async", "--precision", "mixed")):
            self.vector("b.mtx", [1e-291 * value for value in b])
            self.run_it("A.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", "--tolerance", "1e-10", "--backend", "host", *options)
            r = [v - w for v, w in zip(b, multiply(self.entries, [1e291 * value for value in self.read_vector("x.mtx")]))]
            self.assertLess(norm(r), 1.2e-10 * norm(b), options)
            (self.folder / "x.mtx").unlink()
            for size in (1e-293, 1e-310):
                self.vector("b.mtx", [size * value for value in b])
                self.refused("A.mtx", "--rhs", "b.mtx", *options, says=["b.mtx: the norm of the right-hand side is", "below 1e-292", "scale b and x by the same power of ten"], code=1)
        self.vector("b.mtx", [0.] * 144)
        self.run_it("A.mtx", "--rhs", "b.mtx")

    def test_numbers_below_the_range_of_double_precision(self):
        for option in ("--tolerance", "--max-seconds", "--block-omega", "--tune-seconds", "--overlap-percent"):
            self.refused("A.mtx", option, "1e-400", says=[option, "'1e-400' is beyond the range of double precision", "0, or a number"])
        self.assertIn("converged", self.run_it("A.mtx", "--method", "jacobi", "--tolerance", "1e-5"))

    def check_solution(self, entries, b, tolerance=1e-9):
        x = self.read_vector("x.mtx")
        residual = [value - product for value, product in zip(b, multiply(entries, x))]
        self.assertLessEqual(norm(residual), tolerance * norm(b))

    def test_every_method(self):
        b = [math.sin(i) for i in range(144)]
        self.vector("b.mtx", b)
        for method in METHODS:
            with self.subTest(method):
                said = self.run_it("A.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", "--method", method, "--tolerance", "1e-9")
                self.check_solution(self.entries, b)
                for text in ("144 rows, 672 entries, symmetric", "backend", "method", "iteration   relative residual", "converged after", "computed anew"):
                    self.assertIn(text, said)

    def test_says_what_energy_it_took_or_why_that_is_not_known(self):
        zone = self.folder / "intel-rapl:0"
        command = [LEOPARD_SOLVE, "A.mtx", "--method", "jacobi", "--tolerance", "0", "--max-iterations", "100000", "--backend", "host"]
        for counts, says in (("no counter", "there is no "), ("stands still", "RAPL, 1 package has not moved"), ("counts", "")):
            if counts != "no counter":
                zone.mkdir(exist_ok=True)
                for name, content in (("name", "package-0"), ("max_energy_range_uj", 10**12), ("energy_uj", 1)):
                    (zone / name).write_text(f"{content}\n")
            with unittest.mock.patch.dict(os.environ, LEOPARD_POWERCAP=str(self.folder)):
                process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, text=True)
                while counts == "counts" and process.poll() is None:
                    (self.folder / "new").write_text(f"{time.monotonic_ns() // 1000}\n")
                    os.replace(self.folder / "new", zone / "energy_uj")
                said = process.communicate()[0]
            cpu = f"not known: {says}" if says else r"\S+ J, \S+ W \(RAPL, 1 package\), of all that runs on it\n"
            self.assertRegex(said, f"\nenergy      GPU not known: no GPU is used; CPU {cpu}")

    def test_asynchronous_options(self):
        """What cannot be compared with a model still solves the system; what each option does: class Options."""
        b = [1. + i % 7 for i in range(144)]
        self.vector("b.mtx", b)
        for options in (["--blocks", "rcm"], ["--blocks", "metis", "--block-size", "20"], ["--block-size", "16", "--theta"], ["--omega", "tau"], ["--omega", "0.9"],
                        ["--momentum"], ["--momentum", "0.2"], ["--momentum", "automatic", "--local-iterations", "2"], ["--l1", "--block-size", "32"],
                        ["--block-omega", "0.9"], ["--overlap", "uniform", "--block-size", "32"], ["--schedule", "synchronous"],
                        ["--overlap", "upward", "--overlap-percent", "40", "--block-size", "32", "--blocks", "rcm"], ["--backend", "reference"],
                        ["--backend", "host", "--threads", "2", "--block-size", "16"]):
            with self.subTest(options):
                self.run_it("--rhs", "b.mtx", "--solution", "x.mtx", *options, "A.mtx")
                self.check_solution(self.entries, b, 1e-9)

    def trefethen(self, n):
        """Primes on the diagonal, ones where indices differ by a power of two."""
        primes = []
        candidate = 2
        while len(primes) < n:
            if all(candidate % p for p in primes):
                primes.append(candidate)
            candidate += 1
        entries = {(i, i): float(p) for i, p in enumerate(primes)}
        for i in range(n):
            for e in range(n.bit_length()):
                if i + 2**e < n:
                    entries[i, i + 2**e] = entries[i + 2**e, i] = 1.
        self.matrix("T.mtx", entries, n)

    def iterations(self, *options):
        said = self.run_it(*options, "--test-every", "1", "--backend", "host", "--threads", "1")
        return int(said.split("converged after ")[1].split()[0]), said

    def test_theta_says_what_to_expect(self):
        self.trefethen(600)
        without, _ = self.iterations("T.mtx", "--block-size", "75")
        with_theta, said = self.iterations("T.mtx", "--block-size", "75", "--theta")
        self.assertLess(with_theta, 1.5 * without)
        self.assertIn("predicted for the synchronous schedule: ", said)
        predicted = [float(part.split(" global")[0].split()[-1]) for part in said.split("warning     --theta is predicted to lose")[1].split(" iterations and ")[:2]]
        self.assertAlmostEqual(with_theta / without, predicted[0] / predicted[1], delta=0.25)
        # blocks that are all alike: nothing is lost
        said = self.run_it("A.mtx", "--block-size", "144", "--theta")
        self.assertIn("5 local iterations in 1 blocks, 4 in 0 blocks", said)
        self.assertNotIn("warning", said)
        self.assertIn("K - 1 in the others: less work", " ".join(self.run_it("--help").split()))

    def test_eigenvalues_that_take_long_are_estimated(self):
        n = 100000
        self.matrix("line.mtx", {(i, j): 2. if i == j else -1. for i in range(n) for j in range(max(0, i - 1), min(n, i + 2))}, n)
        said = self.run_it("line.mtx", "--analyze")
        self.assertIn("estimated: ", said)
        smallest, largest = (float(value) for value in re.search(r"eigenvalues of D\^-1 A: +(\S+) to (\S+),", said).groups())
        self.assertGreater(smallest, 0.)
        self.assertLess(smallest, 1.1 * (1. - math.cos(math.pi / (n + 1))))  # Lanczos steps alone: a thousand times as large
        self.assertLess(1.99, largest)
        self.assertLess(largest, 2. + 1e-6)
        # a limit of time is that of the solve, of which the estimate takes a part: it took all of it for exact ones, and then failed
        limit = 20.
        for options in (("--method", "chebyshev"), ("--omega", "tau"), ("--momentum",)):
            begin = time.monotonic()
            said = self.run_it("line.mtx", *options, "--max-seconds", str(limit), "--max-iterations", "2", "--tolerance", "0")
            self.assertIn("estimated from inside the spectrum", said)
            self.assertLess(time.monotonic() - begin, limit, said)
        self.assertNotIn("estimated", self.run_it("A.mtx", "--omega", "tau", "--max-seconds", str(limit)))  # small: exact ones, as without a limit
        said = self.run_it("line.mtx", "--method", "chebyshev", "--max-iterations", "200", "--tolerance", "0")
        self.assertIn("estimated from inside the spectrum", said)
        self.assertNotIn("diverged", said)  # the interval covers the largest one
        for options in (("--omega", "tau"), ("--momentum",), ("--omega", "1.2"), ("--analyze",)):
            begin = time.monotonic()
            said = self.run_it("line.mtx", *options, *(("--max-iterations", "1", "--tolerance", "0") if options != ("--analyze",) else ()))
            self.assertLess(time.monotonic() - begin, 15., said)  # some seconds; before up to 60

    def test_omega_above_the_bound_of_asynchronous_schedules_warns(self):
        bound = 2 / (1 + math.cos(math.pi / 13))
        for options in (["--omega", "1.1"], ["--block-omega", "1.1"], ["--omega", "1.1", "--schedule", "replay"]):
            said = self.run_it("A.mtx", "--block-size", "36", "--max-iterations", "3", "--tolerance", "0", *options)
            self.assertIn(f"omega = 1.1 is not below 2 / (1 + rho(|B|)) = {bound:.4f}"[:-1], said)
        said = self.run_it("A.mtx", "--block-size", "36", "--max-iterations", "3", "--tolerance", "0", "--omega", "1.1", "--schedule", "synchronous")
        self.assertIn(f"= {bound:.4f}"[:-1], said)
        self.assertIn("up to which any number of local iterations converges", said)
        for options in (["--omega", "1.01"], ["--omega", "0.5"], ["--omega", "1.01", "--schedule", "synchronous", "--local-iterations", "1"]):
            self.assertNotIn("warning", self.run_it("A.mtx", "--max-iterations", "3", "--tolerance", "0", *options))
        self.matrix("B.mtx", laplace(12, 3.5), 144)
        for options in (["--omega", "1.2", "--schedule", "synchronous", "--local-iterations", "1"], ["--omega", "1.9", "--l1", "--block-size", "36"]):
            said = self.run_it("A.mtx", "--max-iterations", "1", "--tolerance", "0", *options)
            self.assertIn(f"omega = {options[1]} is too large: tried out in the synchronous schedule, the error grows by the factor", said)
        self.assertNotIn("warning", self.run_it("A.mtx", "--max-iterations", "1", "--tolerance", "0", "--omega", "1.1", "--l1", "--block-size", "36"))
        # for B >= 0 that bound is Jacobi's too
        said = self.run_it("A.mtx", "--max-iterations", "1", "--tolerance", "0", "--omega", "1.1")
        self.assertIn("to do: an omega below", said)
        self.assertNotIn("--schedule synchronous", said)
        said = self.run_it("B.mtx", "--max-iterations", "1", "--tolerance", "0", "--omega", "0.5")
        self.assertIn("no omega makes every asynchronous schedule converge", said)

    def test_momentum_is_one_that_converges_in_every_order(self):
        self.matrix("large.mtx", laplace(30), 900)  # small enough to be measured in time with a sanitizer, too
        options = ["large.mtx", "--local-iterations", "1", "--tolerance", "1e-2", "--backend", "host", "--max-iterations", "100000"]
        said = self.run_it(*options, "--momentum", "--threads", "1")
        omega, momentum = said.split("weights     omega = ")[1].splitlines()[0].split(", momentum = ")
        for schedule in (["--schedule", "synchronous"], ["--threads", "2"], ["--threads", "5"]):
            self.run_it(*options, "--omega", omega, "--momentum", momentum, *schedule)

    def test_momentum_does_not_take_the_file(self):
        self.assertIn("with momentum", self.run_it("--momentum", "A.mtx"))

    def test_without_rhs(self):
        said = self.run_it("A.mtx", "--solution", "x.mtx")
        self.assertIn("the solution is all ones", said)
        self.assertIn("max |x - 1| = ", said)
        for value in self.read_vector("x.mtx"):
            self.assertAlmostEqual(value, 1., delta=1e-7)

    def test_zero_rhs(self):
        self.vector("b.mtx", [0.] * 144)
        self.run_it("A.mtx", "--rhs", "b.mtx", "--solution", "x.mtx")
        self.assertEqual(self.read_vector("x.mtx"), [0.] * 144)

    def test_names_of_numpy_files(self):
        """They were written in Matrix Market format, compressed or not, and read as if they were."""
        for options in (("--solution", "x.npy.gz"), ("--solution", "x.NPY"), ("--rhs", "b.npy.gz"), ("--rhs", "b.NPY.GZ")):
            self.refused("A.mtx", *options, says=f"{options[0]} is {options[1]}")

    def test_a_row_is_a_vector(self):
        """As in .npy files."""
        for kind, entries in (("array", "\n".join("1" for _ in range(144))), ("coordinate", "\n".join(f"1 {i + 1} 1" for i in range(144)))):
            self.write("b.mtx", f"%%MatrixMarket matrix {kind} real general\n1 144{' 144' if kind == 'coordinate' else ''}\n{entries}\n")
            self.run_it("A.mtx", "--rhs", "b.mtx", "--solution", "x.mtx")
            self.check_solution(self.entries, [1.] * 144)

    def test_a_file_that_may_be_cut_off_is_warned_of(self):
        """Within its last number, what is left is a number, too."""
        self.vector("b.mtx", [1.] * 144)
        self.assertNotIn("cut off", self.run_it("A.mtx", "--rhs", "b.mtx"))
        for name in ("A.mtx", "b.mtx"):
            text = (self.folder / name).read_text()
            self.write("cut.mtx", text[:-2])
            options = ("cut.mtx", "--rhs", "b.mtx") if name == "A.mtx" else ("A.mtx", "--rhs", "cut.mtx")
            self.assertIn("warning     cut.mtx does not end with the end of a line", self.run_it(*options))
        (self.folder / "B.mtx.gz").write_bytes(gzip.compress((self.folder / "A.mtx").read_bytes()[:-1]))
        self.assertNotIn("cut off", self.run_it("B.mtx.gz"))  # a compressed file knows its length

    def test_compressed_and_not_symmetric(self):
        entries = laplace(12)
        entries[3, 4] = -0.5
        self.matrix("B.mtx.gz", entries, 144)
        said = self.run_it("B.mtx.gz", "--solution", "x.mtx", "--blocks", "metis")
        self.assertIn("not symmetric (row 4, column 5)", said)
        self.check_solution(entries, multiply(entries, [1.] * 144))

    def test_one_row(self):
        self.matrix("one.mtx", {(0, 0): 4.}, 1)
        for method in METHODS:
            self.run_it("one.mtx", "--method", method, "--solution", "x.mtx")
            self.assertAlmostEqual(self.read_vector("x.mtx")[0], 1.)

    def test_says_who_computes_and_how_it_varies(self):
        self.matrix("large.mtx", laplace(100, 5.), 10000)  # small ones are for one thread
        said = self.run_it("large.mtx", "--backend", "host", "--threads", "2")
        self.assertIn("asynchronous: results vary from run to run", said)
        self.assertNotIn("vary from run to run", self.run_it("A.mtx", "--schedule", "synchronous"))
        self.assertIn("backend     host, as asked for", said)
        if not HAS_GPU:
            self.assertIn("no GPU answers", self.run_it("A.mtx"))

    def test_precisions(self):
        reached = {}
        self.vector("b.mtx", [math.sin(i) for i in range(144)])  # b = A 1 would be solved exactly in single precision, too
        for precision in ("double", "mixed", "single"):
            for method in ("async", "jacobi", "gauss-seidel", "chebyshev", "async-refinement"):
                tolerance = 1e-5 if precision == "single" else 1e-12
                said = self.run_it("A.mtx", "--method", method, "--precision", precision, "--tolerance", str(tolerance), "--rhs", "b.mtx")
                reached[precision] = float(re.search(r"= ([^ ]*), computed anew", said)[1])
                self.assertLess(reached[precision], tolerance)
                self.assertEqual("in single precision" in said, precision != "double")
                self.assertEqual("corrections of" in said, precision == "mixed" and method != "async-refinement")  # which is mixed by itself
        self.assertGreater(reached["single"], 1e-9)  # it is not double in disguise
        self.assertIn("stagnated", self.run_it("A.mtx", "--precision", "single", "--tolerance", "1e-12", "--rhs", "b.mtx", code=1)[0])

    def test_precisions_of_multigrid(self):
        """Of a stencil and of aggregates: as many cycles as in double and the same residual; what cannot be is refused or named."""
        self.matrix("grid.mtx", laplace(40), 1600)
        varied = {(i, j): value * (1. + 0.5 * math.sin(i + j)) if i != j else 0. for (i, j), value in laplace(40).items()}
        for (i, j), value in list(varied.items()):
            varied[i, i] += abs(value) if i != j else 0.1
        self.matrix("varied.mtx", varied, 1600)
        self.matrix("tiny.mtx", {place: 1e-30 * value for place, value in varied.items()}, 1600)
        self.vector("c.mtx", [math.sin(i) for i in range(1600)])
        for matrix in ("grid.mtx", "varied.mtx", "tiny.mtx"):
            cycles = {}
            for precision in ("double", "mixed", "automatic"):
                said = self.run_it(matrix, "--method", "multigrid", "--precision", precision, "--tolerance", "1e-11", "--rhs", "c.mtx", "--backend", "host", "--threads", "1")
                self.assertLess(float(re.search(r"= ([^ ]*), computed anew", said)[1]), 1e-11)
                self.assertEqual("refinement with multigrid in single precision" in said, precision != "double")
                cycles[precision] = int(re.search(r"converged after (\d+) cycles", said)[1])
            self.assertLessEqual(cycles["mixed"], cycles["double"] + 1)
            self.assertEqual(cycles["automatic"], cycles["mixed"])
        size = [1e4 if i % 2 == 0 else 1e-4 for i in range(400)]  # beyond what single precision tells apart
        self.matrix("sizes.mtx", {(i, j): value * size[i] * size[j] for (i, j), value in laplace(20).items()}, 400)
        said = self.run_it("sizes.mtx", "--method", "multigrid", "--precision", "automatic", "--max-iterations", "3000", "--backend", "host")
        self.assertIn("double, as single does not do for this matrix", said)
        self.assertIn("converged after", said)
        said = self.run_it("grid.mtx", "--method", "multigrid", "--precision", "automatic", "--backend", "reference")
        self.assertNotIn("single precision", said)
        said = self.run_it("grid.mtx")  # the default knows the stencil
        self.assertIn("refinement with multigrid in single precision", said)
        singular = {(i, j): value for (i, j), value in laplace(20).items() if i != j}
        for i, j in list(singular):
            singular[i, i] = singular.get((i, i), 0.) + 1.
        self.matrix("singular.mtx", singular, 400)
        self.vector("d.mtx", [1. - 2. * (i % 2) for i in range(400)])
        for precision in ("mixed", "automatic"):  # as many cycles as in double, and x of mean zero
            cycles = {}
            for each in (precision, "double"):
                said = self.run_it("singular.mtx", "--method", "multigrid", "--precision", each, "--tolerance", "1e-12", "--backend", "host", "--rhs", "d.mtx",
                                   "--solution", "x.mtx")
                self.assertEqual("refinement with multigrid in single precision" in said, each != "double", said)
                self.assertLess(float(re.search(r"= ([^ ]*), computed anew", said)[1]), 1e-12)
                self.assertLess(abs(sum(self.read_vector("x.mtx"))), 1e-8)
                cycles[each] = int(re.search(r"converged after (\d+) cycles", said)[1])
            self.assertLessEqual(cycles[precision], cycles["double"] + 2)
        self.refused("grid.mtx", "--method", "multigrid", "--precision", "mixed", "--max-iterations", "0", says="--max-iterations 0")
        # as preconditioner: in single precision by default where the method is chosen, and with mixed or automatic; never with double
        shuffled = {((7 * i) % 1601 - 1, (7 * j) % 1601 - 1): value for (i, j), value in ((tuple(k + 1 for k in place), v) for place, v in laplace(40).items())}
        self.matrix("shuffled.mtx", shuffled, 1600)
        iterations = {}
        for options in ((), ("--precision", "double"), ("--precision", "mixed"), ("--precision", "automatic")):
            method = ("--method", "automatic") if options[1:] != ("mixed",) else ("--method", "cg", "--preconditioner", "multigrid")
            said = self.run_it("shuffled.mtx", *method, *options, "--tolerance", "1e-11", "--rhs", "c.mtx", "--backend", "host", "--threads", "1")
            self.assertLess(float(re.search(r"= ([^ ]*), computed anew", said)[1]), 1e-11)
            self.assertEqual("CG with multigrid in single precision" in said, options[1:] != ("double",), said)
            iterations[options[1:]] = int(re.search(r"converged after (\d+) iterations", said)[1])
        self.assertLessEqual(max(iterations.values()), iterations["double",] + 1)
        for precision in ("mixed", "automatic"):
            said = self.run_it("singular.mtx", "--method", "cg", "--preconditioner", "multigrid", "--precision", precision, "--tolerance", "1e-12", "--rhs", "d.mtx",
                               "--backend", "host")
            self.assertIn("CG with multigrid in single precision", said)
            self.assertLess(float(re.search(r"= ([^ ]*), computed anew", said)[1]), 1e-12)
        # nearly singular: single precision would not know it from singular
        nearly = {(i, j): value * (1. + 0.5 * math.sin(i + j)) for (i, j), value in singular.items() if i != j}
        for i, j in list(nearly):
            nearly[i, i] = nearly.get((i, i), 1e-9) - nearly[i, j]
        self.matrix("nearly.mtx", nearly, 400)
        said = self.run_it("nearly.mtx", "--method", "cg", "--preconditioner", "multigrid", "--precision", "automatic", "--rhs", "d.mtx", "--backend", "host")
        self.assertNotIn("single precision", said)
        for matrix in ("grid.mtx", "shuffled.mtx"):
            self.assertIn("in single precision", self.run_it(matrix, "--precision", "mixed", "--rhs", "c.mtx", "--backend", "host"))
        self.assertIn("double, as single does not do", self.run_it("nearly.mtx", "--precision", "mixed", "--rhs", "d.mtx", "--backend", "host"))
        self.refused("grid.mtx", "--method", "direct", "--precision", "mixed", says="--precision")

    def test_krylov_methods_correct_in_single_precision(self):
        """All of the method for each correction: the accuracy of double from a tolerance that single precision has not."""
        self.matrix("A.mtx", laplace(30), 900)
        self.vector("c.mtx", [math.sin(i) for i in range(900)])
        common = ("A.mtx", "--precision", "mixed", "--rhs", "c.mtx", "--tolerance", "1e-12")
        corrections = {}
        for method in ("cg", "gmres"):
            for preconditioner in ("none", "jacobi", "ic" if method == "cg" else "ilu", "async"):
                for backend in ("host", "reference"):
                    said = self.run_it(*common, "--method", method, "--preconditioner", preconditioner, "--backend", backend)
                    self.assertRegex(said, "refinement with (CG|FGMRES).* in single precision")
                    self.assertLess(float(re.search(r"= ([^ ]*), computed anew", said)[1]), 1e-12)
                    corrections[method, preconditioner, backend] = int(re.search(r"after (\d+) corrections", said)[1])
        self.assertLessEqual(max(corrections.values()), 4, corrections)
        said = self.run_it(*common, "--method", "cg", "--preconditioner", "none", "--inner-iterations", "7", "--backend", "host")
        self.assertRegex(said, "corrections of 7, 7, 7")
        said = self.run_it(*common, "--method", "cg", "--preconditioner", "none", "--max-iterations", "20", "--backend", "host", code=1)[0]
        self.assertIn("iteration limit after 20 iterations", said)
        for method in ("cg", "gmres"):  # within the second correction, which was begun with a limit of its own
            of_first = int(re.search(r"corrections of (\d+), \d", self.run_it(*common, "--method", method, "--preconditioner", "none", "--backend", "host"))[1])
            said = self.run_it(*common, "--method", method, "--preconditioner", "none", "--max-iterations", str(of_first + 3), "--backend", "host", code=1)[0]
            self.assertIn(f"iteration limit after {of_first + 3} iterations", said)
        for method, each in (("jacobi", 40), ("async", 6), ("multigrid", 2)):
            said = self.run_it(*common, "--method", method, "--inner-iterations", str(each), "--backend", "host")
            self.assertRegex(said, f"corrections of {each}, {each}")
            self.assertLess(float(re.search(r"= ([^ ]*), computed anew", said)[1]), 1e-12)
        # CG asks for a matrix that is positive definite, in either precision
        self.matrix("waves.mtx", laplace(20, 3.7), 400)
        self.assertIn("does not converge", self.run_it("waves.mtx", "--method", "cg", "--preconditioner", "none", "--precision", "mixed", "--backend", "host", code=1)[0])
        self.refused("A.mtx", "--method", "cg", "--preconditioner", "none", "--precision", "automatic", says="mixed or double")
        self.refused("A.mtx", "--method", "jacobi", "--inner-iterations", "5", says="no --precision mixed")
        self.refused("A.mtx", "--method", "jacobi", "--precision", "mixed", "--inner-iterations", "0", says="--inner-iterations is 0")
        self.refused("A.mtx", "--method", "cg", "--preconditioner", "multigrid", "--precision", "mixed", "--inner-iterations", "2", says="with other methods")
        self.refused("A.mtx", "--method", "async-refinement", "--precision", "mixed", "--inner-iterations", "2", says="with other methods")

    def test_a_precision_alone_keeps_the_automatic_method(self):
        """It silently was one of async, which diverges for waves."""
        self.matrix("waves.mtx", laplace(20, 3.7), 400)
        for precision in ("double", "mixed", "automatic"):
            said = self.run_it("waves.mtx", "--precision", precision, "--backend", "host")
            self.assertIn("automatic   ", said)
            self.assertEqual("has nothing in single precision" in said, precision == "mixed", said)
        for options, asks in ((("--precision", "single", "--tolerance", "1e-5"), "--precision single"), (("--omega", "0.9"), "--omega"),
                              (("--tolerance", "0", "--max-iterations", "3"), "--tolerance 0"), (("--block-size", "16"), "--block-size")):
            self.assertIn(f"chosen      --method async, as {asks} is given", self.run_it("A.mtx", *options))
        self.assertNotIn("chosen", self.run_it("A.mtx", "--method", "async"))

    def test_precision_automatic(self):
        """The choice, why, and that it is what is done."""
        said = self.run_it("A.mtx", "--method", "async", "--precision", "automatic", "--backend", "host")
        chosen = re.search(r"precision +(mixed|double): .* corrections of .* digits: predicted", said)[1]
        self.assertEqual(bool(re.search(r"corrections of [\d, ]+ iterations", said)), chosen == "mixed")
        pairs = {(i, i): 1. for i in range(144)}
        pairs.update({(i, i + 1 - 2 * (i % 2)): -(1. - 1e-7) for i in range(144)})
        self.matrix("pairs.mtx", pairs, 144)
        self.matrix("growing.mtx", laplace(12, 1.), 144)
        self.matrix("large.mtx", {**laplace(12), (3, 4): 1e60}, 144)
        for matrix, says in (("pairs.mtx", "is too large for single precision"), ("growing.mtx", "no convergence is predicted"),
                             ("large.mtx", "the entry in row 4, column 5 is 1e+60")):
            said = self.run_it(matrix, "--method", "async", "--precision", "automatic", "--max-iterations", "10", "--local-iterations", "1", code=1)[0]
            self.assertRegex(said, f"precision +double: .*{re.escape(says)}")
        self.assertIn("without a tolerance", self.run_it("A.mtx", "--method", "async", "--precision", "automatic", "--tolerance", "0", "--max-iterations", "3"))

    def test_choices_do_not_depend_on_the_scaling_of_rows_and_columns(self):
        """D A D with D = 1e4 and 1e-4 by turns: no convergence was predicted, and no momentum found."""
        size = [10. ** (4 - 8 * (i % 2)) for i in range(225)]
        plain, scaled = laplace(15), {(i, j): value * size[i] * size[j] for (i, j), value in laplace(15).items()}
        said = []
        for matrix in (plain, scaled):
            self.matrix("dad.mtx", matrix, 225)
            self.vector("b.mtx", [1.] * 225 if matrix is plain else size)
            for choice in ("--precision", "--momentum"):
                text = self.run_it("dad.mtx", "--rhs", "b.mtx", "--method", "async", choice, "automatic", "--block-size", "32", "--backend", "host")
                said.append(re.search(r"(\d+) corrections of \S+ digits" if choice == "--precision" else "momentum = .*", text)[0])
        self.assertEqual(said[:2], said[2:])

    def test_precisions_of_badly_scaled_matrices(self):
        size = [10. ** (25. * math.sin(i)) for i in range(144)]
        self.matrix("bad.mtx", {(i, j): value * size[i] * size[j] for (i, j), value in laplace(12, 4.2).items()}, 144)
        self.vector("b.mtx", size)
        for options in (["--method", "async", "--precision", "mixed"], ["--precision", "double"], ["--precision", "mixed", "--method", "async-refinement"]):
            said = self.run_it("bad.mtx", "--tolerance", "1e-8", "--rhs", "b.mtx", *options)
            self.assertIn("converged", said)
        self.matrix("large.mtx", {**laplace(12), (3, 4): 1e60}, 144)
        for method in ("async", "async-refinement"):
            self.assertIn("the entry in row 4, column 5 is 1e+60", self.run_it("large.mtx", "--precision", "mixed", "--method", method, code=1)[1])

    def test_rows_and_columns_of_different_size(self):
        """D_1 A D_2 with a diagonal near 1: scaled by itself, and in mixed precision, where it was called too ill-conditioned."""
        numbers = random.Random(3)
        d = [10. ** numbers.uniform(-6., 6.) for _ in range(144)]
        entries = {(i, j): value * (1.3 if j == i - 1 else 0.7 if j == i + 1 else 1.) for (i, j), value in laplace(12, 4.2).items()}
        self.matrix("even.mtx", entries, 144)
        self.matrix("uneven.mtx", {(i, j): value * d[i] / d[j] for (i, j), value in entries.items()}, 144)
        self.vector("b.mtx", d)  # R b = 1
        self.vector("ones.mtx", [1.] * 144)
        self.assertNotIn("scaled", self.run_it("even.mtx", "--rhs", "ones.mtx", "--solution", "y.mtx", "--tolerance", "1e-12", "--method", "gmres", "--precision", "mixed", "--preconditioner", "none"))
        expected = self.read_vector("y.mtx")
        for options in (["--method", "automatic"], ["--method", "gmres", "--precision", "mixed", "--preconditioner", "none"], ["--method", "gmres", "--precision", "mixed", "--preconditioner", "ilu"]):
            said = self.run_it("uneven.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", *options)
            self.assertRegex(said, r"scaled +rows and columns differ in size by the factor .*: solved is R A C y = R b")
            for x, y, s in zip(self.read_vector("x.mtx"), expected, d):
                self.assertAlmostEqual(x / s, y, delta=1e-5 * y, msg=f"{options}")

    def test_precisions_that_cannot_be(self):
        for options, says in ((("--tolerance", "0"), "a tolerance"), (("--test-every", "5"), "no --test-every")):
            self.assertIn(says, self.run_it("A.mtx", "--method", "async", "--precision", "mixed", *options, code=2)[1])
        said = self.run_it("A.mtx", "--method", "async", "--precision", "mixed", "--max-iterations", "3", "--tolerance", "1e-12", code=1)[0]
        self.assertIn("iteration limit after 3 ", said)

    def test_replay_twice(self):
        options = ["A.mtx", "--schedule", "replay", "--block-size", "16", "--solution"]
        said = self.run_it(*options, "x1.mtx", "--seed", "7")
        self.assertIn("replayed: this seed gives the same result in every run", said)
        self.run_it(*options, "x2.mtx", "--seed", "7")
        self.run_it(*options, "x3.mtx", "--seed", "8")
        first, second, third = ((self.folder / f"x{i}.mtx").read_bytes() for i in (1, 2, 3))
        self.assertEqual(first, second)
        self.assertNotEqual(first, third)

    def test_history_without_a_tolerance(self):
        def history(*options):
            said = self.run_it("A.mtx", "--method", "async", "--tolerance", "0", "--schedule", "synchronous", "--history", "h.csv", "--backend", "host", *options)
            with open(self.folder / "h.csv", encoding="utf-8") as stream:
                rows = list(csv.DictReader(stream))
            self.check_times(rows)
            return said, rows
        said, rows = history("--max-iterations", "25", "--test-every", "10")
        self.assertEqual([int(row["iteration"]) for row in rows], [0, 10, 20, 25])
        self.assertAlmostEqual(float(re.search(r"/ \|\|b\|\| = (\S+),", said)[1]) / float(rows[-1]["relative"]), 1., delta=1e-3)
        self.assertIn("iteration limit after 25 ", said)
        for limit in ((), ("--max-seconds", "1000")):  # far beyond where the residual falls
            said, rows = history("--max-iterations", "5000", *limit)
            self.assertIn("iteration limit after 5000 ", said)
            self.assertEqual(len(rows), 501)
        plain = self.run_it("A.mtx", "--method", "async", "--tolerance", "0", "--max-iterations", "25", "--backend", "host")
        self.assertEqual(re.findall(r"^ +(\d+) +\d\.", plain, re.M), ["0", "25"])  # nobody asks for what is between

    def test_a_history_whose_name_says_so_is_compressed(self):
        """It was plain text."""
        for name in ("h.csv", "h.csv.gz"):
            self.run_it("A.mtx", "--method", "async", "--schedule", "replay", "--history", name)
        text = gzip.decompress((self.folder / "h.csv.gz").read_bytes()).decode()
        columns = [[line.split(",")[:3] for line in lines.splitlines()] for lines in (text, (self.folder / "h.csv").read_text())]  # but for the times
        self.assertEqual(*columns)

    def test_history(self):
        said = self.run_it("A.mtx", "--method", "async", "--history", "h.csv", "--test-every", "1", "--tolerance", "1e-8", "--backend", "host")
        with open(self.folder / "h.csv", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        self.assertEqual(list(rows[0]), ["iteration", "residual", "relative", "time"])
        self.check_times(rows)
        iterations = [int(row["iteration"]) for row in rows]
        self.assertEqual(iterations, sorted(iterations))
        self.assertEqual(iterations[0], 0)
        self.assertEqual(float(rows[0]["relative"]), 1.)
        self.assertGreater(len(rows), 20)
        self.assertLessEqual(float(rows[-1]["relative"]), 1e-8)
        norm_b = norm(multiply(self.entries, [1.] * 144))
        for row in rows:
            self.assertAlmostEqual(float(row["residual"]) / norm_b, float(row["relative"]), delta=1e-12)
        table = said[said.index("   iteration"):said.index("result")]
        self.assertLessEqual(table.count("\n"), 20)
        self.run_it("A.mtx", "--method", "async", "--precision", "mixed", "--history", "h.csv", "--backend", "host")
        with open(self.folder / "h.csv", encoding="utf-8") as stream:
            self.check_times(list(csv.DictReader(stream)))

    def test_tolerance_zero_does_all_iterations(self):
        self.assertIn("iteration limit after 30 global", self.run_it("A.mtx", "--tolerance", "0", "--max-iterations", "30", "--schedule", "synchronous"))

    def test_analyze(self):
        said = self.run_it("A.mtx", "--analyze", "--blocks", "metis", "--block-size", "36")
        radius = math.cos(math.pi / 13)
        self.assertIn(f"rho(|B|):                {radius:.4f}"[:-1], said)
        for text in ("verdict:", "converges for every schedule", "theta", "eigenvalues of D^-1 A"):
            self.assertIn(text, said)
        self.assertNotIn("converged after", said)

    def test_row_sums_of_rounding_are_the_same_for_all(self):
        """5e-14 of the entries: coarse solvers take the matrix for singular, and so does what looks at it before."""
        entries = {(i, j): value for (i, j), value in laplace(20).items() if i != j}
        for i, j in list(entries):
            entries[i, i] = entries.get((i, i), 0.) + 1. + 1e-13
        self.matrix("nearly.mtx", entries, 400)
        self.vector("one.mtx", [1.] * 400)
        self.vector("zero.mtx", [1. - 2. * (i % 2) for i in range(400)])
        self.refused("nearly.mtx", "--rhs", "one.mtx", says="the matrix is singular, rows sum to zero", code=1)
        self.refused("nearly.mtx", says="b = A 1, which is taken where there is no --rhs, is zero but for rounding", code=1)
        said = self.run_it("nearly.mtx", "--rhs", "zero.mtx", "--tolerance", "1e-10", "--backend", "host")
        self.assertLess(float(re.search(r"= ([^ ]*), computed anew", said)[1]), 1e-10)

    def test_what_is_nearly_singular_is_solved_by_factors(self):
        """Fourth differences: lambda_1 of D^-1 A is about 1e-11, and A is regular."""
        n = 4000
        entries = {(i, i + d): value for i in range(n) for d, value in ((-2, 1.), (-1, -4.), (0, 6.), (1, -4.), (2, 1.)) if 0 <= i + d < n}
        self.matrix("beam.mtx", entries, n)
        said = self.run_it("beam.mtx", "--analyze")
        self.assertIn("singular up to rounding, or nearly so", said)
        self.assertIn("where it is not, --method direct solves it", said)
        error = re.search(r"max \|x - 1\| = (\S+)", self.run_it("beam.mtx", "--method", "direct"))[1]
        self.assertLess(float(error), 1e-3)

    def npy(self, name, kind, values, shape=None, code=None, version=1):
        """A file as numpy.save() writes it."""
        shape = shape if shape is not None else f"({len(values)},)"
        header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
        length = {1: "<H"}.get(version, "<I")
        begin = 8 + struct.calcsize(length)
        header += " " * (-(begin + len(header) + 1) % 64) + "\n"
        data = b"\x93NUMPY" + bytes((version, 0)) + struct.pack(length, len(header)) + header.encode()
        order = "<" if kind[0] in "<|" else ">"
        data += struct.pack(f"{order}{len(values)}{code or 'd'}", *values)
        (self.folder / name).write_bytes(data)
        return data

    def test_vectors_of_numpy(self):
        n = 144
        expected = [1. + i % 5 for i in range(n)]
        b = multiply(self.entries, expected)
        for kind, code in (("<f8", "d"), (">f8", "d"), ("<f4", "f"), ("<i4", "i"), (">i8", "q"), ("|i1", "b"), ("<i2", "h")):
            for shape in (f"({n},)", f"({n}, 1)", f"(1, {n})"):
                self.npy("b.npy", kind, [int(v) for v in b] if code not in "df" else b, shape, code, 2 if kind == "<f8" else 1)
                self.run_it("A.mtx", "--rhs", "b.npy", "--solution", "x.npy")
                data = (self.folder / "x.npy").read_bytes()
                length = struct.unpack("<H", data[8:10])[0]
                self.assertEqual((10 + length) % 64, 0)
                header = ast.literal_eval(data[10:10 + length].decode())
                self.assertEqual(header, {"descr": "<f8", "fortran_order": False, "shape": (n,)})
                for value, right in zip(struct.unpack(f"<{n}d", data[10 + length:]), expected, strict=True):
                    self.assertAlmostEqual(value, right, delta=1e-7)

    def test_vectors_of_numpy_that_are_none(self):
        ones = [1.] * 144
        whole = self.npy("b.npy", "<f8", ones)
        (self.folder / "short.npy").write_bytes(whole[:-1])
        (self.folder / "long.npy").write_bytes(whole + b"1")
        (self.folder / "header.npy").write_bytes(whole[:40])
        (self.folder / "version.npy").write_bytes(whole[:6] + b"\x07" + whole[7:])
        self.npy("complex.npy", "<c16", ones)
        self.npy("object.npy", "|O", ones)
        self.npy("text.npy", "<U8", ones)
        self.npy("shape.npy", "<f8", ones, "(12, 12)")
        self.npy("other.npy", "<f8", ones[:-1])
        self.npy("nan.npy", "<f8", ones[:7] + [math.nan] + ones[8:])
        self.npy("large.npy", "<i8", [1] * 143 + [2 ** 60], code="q")
        for name, says in (("short", "1151 bytes follow the header"), ("long", "1153 bytes"), ("header", "ends in its header"), ("version", "version of the format is 7"),
                           ("complex", "'<c16'"), ("object", "'|O'"), ("text", "'<U8'"), ("shape", "the shape is '(12,12)'"), ("other", "(143,)"),
                           ("nan", "entry 7 (the first is 0) is nan"), ("large", "2^53")):
            with self.subTest(name=name):
                self.refused("A.mtx", "--rhs", name + ".npy", "--solution", "x.npy", says=[name + ".npy: ", says], code=1)
                self.assertFalse((self.folder / "x.npy").exists())

    def test_predicted_time_is_that_of_a_solve(self):
        rng = random.Random(5)
        order = list(range(40000))
        rng.shuffle(order)
        self.matrix("grid.mtx", {(order[i], order[j]): value for (i, j), value in laplace(200).items()}, 40000)
        graph = {}  # a Laplacian without a grid
        for i in range(4000):
            for j in rng.sample(range(4000), 3):
                if i != j:
                    graph[i, j] = graph[j, i] = -1.
        for i in range(4000):
            graph[i, i] = 0.01
        for (i, j), value in list(graph.items()):
            if i != j:
                graph[i, i] -= value
        self.matrix("graph.mtx", graph, 4000)
        small = 0.05  # seconds, such as threads that wait for another process take
        for name in ("grid.mtx", "graph.mtx"):
            told = []
            for _ in range(4):  # others may use the machine
                found = re.search(r"predicted time: +about ([0-9.e-]+) s, ([0-9.e-]+) s of them set-up", self.run_it(name, "--analyze"))
                self.assertIsNotNone(found, name)
                predicted = float(found[1])
                self.assertTrue(math.isfinite(predicted) and predicted > 0.)
                took = re.search(r"time +([0-9.e-]+) s solving, ([0-9.e-]+) s reading, ([0-9.e-]+) s preparing", self.run_it(name))
                solving, preparing = float(took[1]), float(took[3])
                told.append((predicted, solving, preparing))
                if predicted < 5. * (solving + preparing) + small and solving < 5. * predicted + small:
                    break
            else:
                self.fail(f"{name}: predicted, solving and preparing, in seconds: {told}")

    def test_predicted_time_of_a_trial_that_ends_before(self):
        n = 40000  # a chain of stiff and weak links, for which conjugate gradients take long
        chain = {}
        for i in range(n):
            left, right = 10. ** (i * 7 % 6), 10. ** ((i + 1) * 7 % 6)
            chain[i, i] = left + right
            if i > 0:
                chain[i, i - 1] = chain[i - 1, i] = -left
        self.matrix("chain.mtx", chain, n)
        said = self.run_it("chain.mtx", "--analyze")
        self.assertRegex(said, r"predicted time: +(about [0-9.e-]+ (s|minutes|hours|days|years),|not told)")

    def test_tune_and_choice(self):
        said = self.run_it("A.mtx", "--tune", "--tune-seconds", "3", "--choice", "choice.json", "--solution", "x.mtx", "--backend", "host")
        self.assertIn("chosen:", said)
        self.check_solution(self.entries, multiply(self.entries, [1.] * 144))
        choice = json.loads((self.folder / "choice.json").read_text())
        self.assertEqual(choice["matrix"], {"rows": 144, "entries": 672})
        said = self.run_it("A.mtx", "--choice", "choice.json", "--solution", "y.mtx", "--threads", "1")
        self.assertIn("choice      of choice.json", said)
        self.assertIn(f"async-({choice['choice']['local_iterations']})", said)
        for value in self.read_vector("y.mtx"):
            self.assertAlmostEqual(value, 1., delta=1e-7)
        self.assertIn("--tune anew", self.run_it("A.mtx", "--choice", "choice.json", "--max-iterations", "1", code=1)[0])
        self.matrix("other.mtx", laplace(5), 25)
        self.refused("other.mtx", "--choice", "choice.json", says=["choice.json", "matrix.rows", "144", "25"], code=1)
        self.refused("A.mtx", "--choice", "choice.json", "--backend", "reference", says=["--backend is reference", "for the backend host"])

    def test_threads_beside_a_choice(self):
        self.matrix("large.mtx", laplace(100, 5.), 10000)
        self.run_it("large.mtx", "--tune", "--tune-seconds", "3", "--choice", "choice.json", "--backend", "host", "--threads", "1")
        for n in ("1", "2"):
            self.assertIn(f" on {n} threads", self.run_it("large.mtx", "--choice", "choice.json", "--threads", n))

    def test_version_and_help(self):
        self.assertRegex(self.run_it("--version"), r"^leopard-solve \d+\.\d+\.\d+ \(.+\), with(out)? CUDA\n$")
        said = self.run_it("--help")
        for option in ("--rhs", "--momentum", "--analyze", "Exit code"):
            self.assertIn(option, said)


class Advice(Program):
    """What is said of iterations that are slow, fail, or only seem to have converged: with options of the command line, and always a way out."""
    WAY_OUT = "a Krylov method with a strong preconditioner"

    def line(self, n, off=-1.):
        """A tridiagonal matrix with 2 on the diagonal."""
        self.matrix("line.mtx", {(i, j): 2. if i == j else off for i in range(n) for j in range(max(0, i - 1), min(n, i + 2))}, n)

    def check_words(self, said):
        for word in ("()", "_parameters", "l1_weights", "block_omega", "local_iterations"):
            self.assertNotIn(word, said)

    def test_a_slow_solve_is_called_slow_with_its_time(self):
        self.line(1000)
        said, _ = self.run_it("line.mtx", "--local-iterations", "1", "--schedule", "synchronous", "--max-iterations", "2000", "--tolerance", "1e-8", code=1)
        found = re.search(r"slow .* the tolerance 1e-08 takes (?:at least|about) (\d+) global iterations in all, ([0-9.e+-]+) (s|minutes)", said)
        self.assertIsNotNone(found, said)
        self.assertGreater(int(found[1]), 4000)
        for text in ("--method chebyshev, about ", "--momentum automatic", self.WAY_OUT, "--method automatic chooses among these"):
            self.assertIn(text, said)
        self.check_words(said)
        self.line(60)
        said = self.run_it("line.mtx", "--local-iterations", "1", "--schedule", "synchronous", "--tolerance", "1e-4")
        self.assertRegex(said, r"slow +the factor 0\.99\d+ an iteration \(1\d\d\d iterations a digit\); --analyze says what is faster")
        self.assertNotIn("slow ", self.run_it("A.mtx"))

    def test_the_time_of_a_right_hand_side_that_has_little_of_the_slowest_error(self):
        """The rate of its residual held for the parts that fall fast: a fifth of what was needed was foretold."""
        self.line(200)
        self.vector("fast.mtx", [math.sin(2.9 * i) for i in range(200)])
        options = ("line.mtx", "--rhs", "fast.mtx", "--method", "gauss-seidel", "--tolerance", "1e-8", "--max-iterations")
        needed = int(re.search(r"converged after (\d+) global", self.run_it(*options, "1000000"))[1])
        said, _ = self.run_it(*options, str(needed // 20), code=1)
        found = re.search(r"slow +at the factor \S+ an iteration \(\d+ iterations a digit\) of the slowest part of the error the tolerance 1e-08 takes about (\d+) global", said)
        self.assertIsNotNone(found, said)
        self.assertLess(needed / 1.5, int(found[1]))
        self.assertLess(int(found[1]), 1.5 * needed)
        self.line(2000)  # the slowest part is not alone for long
        self.vector("fast.mtx", [math.sin(2.9 * i) for i in range(2000)])
        self.assertIn("takes at least ", self.run_it(*options, "500", code=1)[0])
        said, _ = self.run_it(*options, str(needed // 20), "--precision", "mixed", code=1)
        self.assertIn("iteration limit after", said)  # a refinement solves once, and is not asked to do so again
        self.assertNotIn("does not fall any more", said)  # said after one correction, which had made it smaller

    def test_a_long_solve_says_how_long_it_will_take(self):
        self.line(3000)
        said, _ = self.run_it("line.mtx", "--local-iterations", "1", "--max-seconds", "3.5", "--max-iterations", "2000000000", "--backend", "host", "--threads", "1", code=1)
        self.assertRegex(said, r"solving +after [23][0-9.]* s and \d+ global iterations the relative residual is .*; at the factor 0\.9.* takes at least ")

    def test_no_method_converges(self):
        self.line(50, off=-1.5)
        said, error = self.run_it("line.mtx", "--tune", "--tune-seconds", "0.5", "--backend", "host", code=1)
        for text in ("candidates converges in", "what remains:", "not positive definite", self.WAY_OUT):
            self.assertIn(text, error)
        self.check_words(said + error)
        said, _ = self.run_it("line.mtx", "--method", "async", code=1)
        self.assertIn("no relaxation converges for it", said)
        self.check_words(said)
        said = self.run_it("line.mtx", "--analyze")
        self.assertIn("as a relaxation:         the matrix is not positive definite", said)
        self.assertIn("--method automatic:      ", said)

    def test_a_tuning_that_is_too_short(self):
        """It advised --tune; and tuning took ten times the limit of time, of which nothing was said."""
        self.matrix("large.mtx", laplace(260), 67600)  # of which ten iterations take longer than the least time of a candidate
        _, error = self.run_it("large.mtx", "--tune", "--tune-seconds", "0.0001", "--backend", "host", code=1)
        self.assertIn("more time for the search (--tune-seconds, now 0.0001)", error)
        self.assertIn("without --tune larger or more compact blocks", error)
        self.assertNotIn("--tune;", error)
        self.matrix("grid.mtx", laplace(120), 14400)
        said, _ = self.run_it("grid.mtx", "--tune", "--tune-seconds", "1", "--max-seconds", "0.3", "--backend", "host", code=1)
        self.assertRegex(said.split("advice ")[1], r"^ *to do: more --max-seconds, or fewer --tune-seconds: tuning took most of the \S+ s before the solution")
        said = self.run_it("grid.mtx", "--tune", "--max-seconds", "3", "--tolerance", "0.1", "--backend", "host")
        self.assertIn("takes half of --max-seconds, 1.5 s", said)

    def test_no_advice_to_scale_what_is_even(self):
        """S A S with S = D^-1/2 was advised where the diagonal is constant, and changes nothing."""
        self.matrix("grid.mtx", laplace(120), 14400)
        said = self.run_it("grid.mtx", "--method", "async", "--tolerance", "1e-3", "--max-iterations", "100000")
        self.assertIn("; a large condition number makes it so\n            to do: --tolerance ", said)
        self.assertNotIn("S A S", said)
        self.assertNotIn("of very different size", said)

    def test_options_that_made_it_diverge(self):
        said, _ = self.run_it("A.mtx", "--omega", "1.9", code=1)
        self.assertIn("without --omega every schedule converges for this matrix", said)
        self.check_words(said)

    def test_omega_of_jacobi_that_made_it_diverge(self):
        said, _ = self.run_it("A.mtx", "--method", "jacobi", "--omega", "1.9", code=1)
        self.assertIn("without --omega it converges for this matrix", said)

    def test_theta_without_convergence(self):
        self.line(50, off=-30.)
        for k in ("2", "300"):  # an iteration whose growth is a number, and one whose growth is none
            said, _ = self.run_it("line.mtx", "--theta", "--block-size", "20", "--local-iterations", k, code=1)
            self.assertIn("no convergence is predicted, with --theta or without it", said)
            self.assertNotIn("(factor nan)", said)
            self.assertNotIn("(factor -nan)", said)

    def test_a_small_residual_that_hides_a_large_error(self):
        n = 200
        entries = {(i, i): 1. for i in range(n)}
        entries.update({(i, j): 1e-14 * (2. if i == j else -1.) for i in range(n // 2, n) for j in range(max(n // 2, i - 1), min(n, i + 2))})
        self.matrix("scaled.mtx", entries, n)
        self.vector("b.mtx", multiply(entries, [2e5] * n))
        for options, error in (([], r"its largest relative error is (1|0\.[1-9]\d*);"), (["--rhs", "b.mtx"], r"by an estimate entries are wrong by .* of the largest entry found, which is \d")):
            said = self.run_it("scaled.mtx", "--method", "async", *options)
            self.assertRegex(said, "warning     the residual is small enough, but the solution is not: " + error)
            self.assertIn("solve S A S y = S b with S = D^-1/2 and x = S y, which keeps A symmetric", said)
        self.matrix("rows.mtx", {(i, j): value * (1e-3 if i > n // 2 and i % 2 else 1.) for (i, j), value in entries.items()}, n)
        self.assertIn("divide each row of A and b by its diagonal entry", self.run_it("rows.mtx", "--method", "async"))
        # D A D: scaling does not help where entries of x are to be found beside larger ones; more digits do
        exponents = random.Random(1)
        d = [10**exponents.uniform(-6, 6) for _ in range(144)]
        self.matrix("both.mtx", {(i, j): value * d[i] * d[j] for (i, j), value in self.entries.items()}, 144)
        said = self.run_it("both.mtx", "--method", "async")
        needed = re.search(r"to do: (--tolerance \S+|--tolerance 0 --max-iterations \S+), since the error", said)
        self.assertIsNotNone(needed, said)
        error = float(re.search(r"error       max \|x - 1\| = (\S+)", self.run_it("both.mtx", "--method", "async", *needed[1].split()))[1])
        self.assertLess(error, 1e-2)
        self.assertNotIn("warning", self.run_it("A.mtx"))
        self.vector("b.mtx", [math.sin(i) for i in range(144)])
        self.assertNotIn("warning", self.run_it("A.mtx", "--rhs", "b.mtx"))


class Automatic(Program):
    """What is solved without an option, and the methods that --method automatic chooses among."""

    def line_of(self, said, label):
        return [line for line in said.splitlines() if line.startswith(label)]

    def solve(self, name, *options):
        said = self.run_it(name, *options)
        self.assertIn("result      converged", said)
        self.assertLessEqual(float(re.search(r"relative *\|? *= (\S+)|= (\S+), computed anew", said)[2]), 1.1e-10)
        return said

    def convection(self, n, speed):
        entries = laplace(n)
        for y in range(n):
            for x in range(n):
                entries[y * n + x, y * n + x] += 2. * speed
                for i in (x - 1, y - 1):
                    if i >= 0:
                        entries[y * n + x, y * n + x - (1 if i == x - 1 else n)] = -1. - speed
        return entries

    def shuffled(self, entries, n, seed=1):
        order = list(range(n))
        random.Random(seed).shuffle(order)
        return {(order[i], order[j]): value for (i, j), value in entries.items()}

    def test_each_kind_of_matrix_has_its_method(self):
        grid, n = laplace(40), 1600
        squared = {}
        small = laplace(16)
        for (i, j), value in small.items():
            for (k, l), other in small.items():
                if k == j:
                    squared[i, l] = squared.get((i, l), 0.) + value * other
        saddle = {(0, 0): 2., (0, 1): 1., (1, 0): 1.}
        for name, entries, size, first in (("dominant", laplace(12, 5.), 144, "async"), ("grid", grid, n, "multigrid"), ("shuffled", self.shuffled(grid, n), n, "cg preconditioned by multigrid"),
                                           ("biharmonic", squared, 256, "direct"), ("convection", self.convection(30, 2.), 900, "gmres preconditioned by multigrid"),
                                           ("saddle", saddle, 2, "direct")):
            with self.subTest(name):
                self.matrix("some.mtx", entries, size)
                said = self.solve("some.mtx")
                self.assertEqual(len(self.line_of(said, "automatic ")), 1, said)
                self.assertTrue(self.line_of(said, "automatic ")[0].split(None, 1)[1].startswith(first), said)
                self.assertNotIn("failed ", said)
                said = self.run_it("some.mtx", "--analyze") if name != "saddle" else None
                self.assertTrue(said is None or "--method automatic:      " + first in said, said)

    def test_what_fails_is_said_and_something_stronger_goes_on(self):
        # one wave of low frequency, which coarse levels suit, but not CG, and which is so near to definite that a few Lanczos steps tell nothing
        n = 120
        self.matrix("indefinite.mtx", {**laplace(n, 4. - 1.42e-3), (n * n, n * n): 4.}, n * n + 1)
        said = self.solve("indefinite.mtx", "--solution", "x.mtx")
        failed, tried = self.line_of(said, "failed "), self.line_of(said, "next ")
        self.assertEqual(len(failed), len(tried))
        self.assertGreaterEqual(len(failed), 1)
        self.assertNotIn("Lanczos", said)
        self.assertIn("gmres preconditioned by multigrid", tried[-1])
        self.assertLess(max(abs(value - 1.) for value in self.read_vector("x.mtx")), 1e-4)

    def test_no_longer_in_vain_than_factors_take(self):
        n, numbers = 70, random.Random(3)
        k = [10.**numbers.uniform(-4, 4) for _ in range(n * n)]  # of cells that know nothing of one another
        entries = {}
        for i, j in laplace(n):
            if i != j:
                entries[i, j] = -2. / (1. / k[i] + 1. / k[j])
                entries[i, i] = entries.get((i, i), 0. if i >= n else k[i]) - entries[i, j]
        self.matrix("jumps.mtx", entries, n * n)
        self.write("noise.mtx", f"%%MatrixMarket matrix array real general\n{n * n} 1\n" + "".join(f"{numbers.gauss(0., 1.)!r}\n" for _ in range(n * n)))
        said = self.solve("jumps.mtx", "--near-null-space", "noise.mtx")  # so that coarse levels are in vain, too
        failed = [int(line.split(" after ")[1].split()[0]) for line in self.line_of(said, "failed ") if "preconditioned by ic" in line]
        self.assertLess(max(failed), 300, said)

    def test_badly_scaled(self):
        exponents = random.Random(1)
        d = [10**exponents.uniform(-4, 4) for _ in range(1600)]
        self.matrix("both.mtx", {(i, j): value * d[i] * d[j] for (i, j), value in laplace(40).items()}, 1600)
        self.vector("b.mtx", [value for value in d])
        said = self.solve("both.mtx", "--rhs", "b.mtx", "--tolerance", "1e-13", "--solution", "x.mtx")
        self.assertIn("S A S y = S b", said)
        self.matrix("A.mtx", laplace(40), 1600)
        self.vector("b.mtx", [1.] * 1600)
        self.solve("A.mtx", "--rhs", "b.mtx", "--solution", "y.mtx")
        for x, y, s in zip(self.read_vector("x.mtx"), self.read_vector("y.mtx"), d):
            self.assertAlmostEqual(x * s, y, delta=1e-3 * y)
        self.assertNotIn("S A S", self.run_it("A.mtx"))

    def test_units_of_unknowns(self):
        n, exponents = 80, random.Random(2)
        for most in (1, 4):  # 4: scaled, too
            with self.subTest(most):
                d = [10**exponents.uniform(-most, most) for _ in range(n * n)]
                self.matrix("units.mtx", {(i, j): value * d[i] * d[j] for (i, j), value in laplace(n).items()}, n * n)
                said = self.solve("units.mtx", "--method", "cg", "--preconditioner", "multigrid")
                self.assertIn("units       ", said)
                self.assertLessEqual(int(re.search(r"converged after (\d+) iterations", said)[1]), 20)  # with constants 150 and more
                self.assertIn("units       ", self.run_it("units.mtx", "--analyze"))  # as the advice is of that
        jumps = {}
        for (i, j), value in laplace(n).items():
            if i < j:
                k = 1e7 if i % n < n // 2 and j % n < n // 2 else 1.
                jumps[i, j] = jumps[j, i] = value * k
                for row in (i, j):
                    jumps[row, row] = jumps.get((row, row), 1.) + k
        self.matrix("jumps.mtx", jumps, n * n)
        self.assertNotIn("units       ", self.run_it("jumps.mtx"))

    def test_a_shift_of_the_diagonal_is_said(self):
        """Kershaw's example is positive definite, and yet the last pivot of IC(0) is -5; the other one has a pivot that is zero."""
        kershaw = {(0, 0): 3., (0, 1): -2., (0, 3): 2., (1, 1): 3., (1, 2): -2., (2, 2): 3., (2, 3): -2., (3, 3): 3.}
        self.matrix("kershaw.mtx", {**kershaw, **{(j, i): value for (i, j), value in kershaw.items()}}, 4)
        self.assertRegex(self.solve("kershaw.mtx", "--method", "cg", "--preconditioner", "ic"), r"factors +IC\(0\) of A \+ 0\.[0-9]+ diag\(A\), ")
        self.assertNotIn("diag(A)", self.solve("kershaw.mtx", "--method", "gmres", "--preconditioner", "ilu"))
        self.matrix("pivot.mtx", {(0, 0): 1., (0, 1): 1., (1, 0): 1., (1, 1): 1., (1, 2): 1., (2, 1): 1., (2, 2): 1.}, 3)
        said = self.solve("pivot.mtx", "--method", "gmres", "--preconditioner", "ilu")
        self.assertRegex(said, r"factors +ILU\(0\) of A \+ [0-9.e-]+ diag\(A\), ")

    def test_memory_is_said_before_it_is_taken(self):
        self.matrix("grid.mtx", laplace(40), 1600)
        for options, says in ((["--method", "async"], "the matrix in blocks"), (["--method", "multigrid"], "levels of stencils"),
                              (["--method", "cg", "--preconditioner", "multigrid"], "levels while they are made"),
                              (["--method", "cg", "--preconditioner", "ic"], "factors while they are made"), (["--method", "gmres", "--preconditioner", "none"], "vectors of gmres")):
            with self.subTest(options):
                said = self.solve("grid.mtx", "--backend", "host", *options)
                self.assertRegex(said, f"(?s)memory      {says}: about [0-9.e-]+ GB of the [0-9.e+]+ GB that this process may use\n(.*\n)?method ")

    def test_what_there_is_no_memory_for_is_refused_before(self):
        """With a limit of the address space, as ulimit -v sets it: no vector has been made by then, and no bad_alloc is caught."""
        limit, n = 600 << 20, 800000

        def little():
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])  # each thread takes some, too
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        self.write("large.mtx", f"%%MatrixMarket matrix coordinate real general\n{n} {n} {n}\n" + "".join(f"{i} {i} 2\n" for i in range(1, n + 1)))
        common = {"cwd": self.folder, "capture_output": True, "text": True, "timeout": 1200, "check": False, "preexec_fn": little}
        if subprocess.run([LEOPARD_SOLVE, "large.mtx", "--method", "cg", "--preconditioner", "none", "--backend", "host"], **common).returncode != 0:
            self.skipTest("the program needs more address space, as with a sanitizer")
        run = subprocess.run([LEOPARD_SOLVE, "large.mtx", "--method", "gmres", "--preconditioner", "none", "--backend", "host", "--solution", "x.mtx"], **common)
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        self.assertIn("leopard-solve: memory: vectors of gmres: about 0.68 GB of the 0.629 GB that this process may use\n  expected: no more than is there; ", run.stderr)
        self.assertFalse((self.folder / "x.mtx").exists())

    def test_singular_with_constants(self):
        n = 20
        entries = {}
        for y in range(n):
            for x in range(n):
                for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                    if 0 <= x + dx < n and 0 <= y + dy < n:
                        entries[y * n + x, (y + dy) * n + x + dx] = -1.
                        entries[y * n + x, y * n + x] = entries.get((y * n + x, y * n + x), 0.) + 1.
        self.matrix("neumann.mtx", entries, n * n)
        b = [math.sin(i) for i in range(n * n)]
        mean = sum(b) / len(b)
        self.vector("b.mtx", b)
        self.refused("neumann.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", says=["sum to zero", "no solution"], code=1)
        self.refused("neumann.mtx", says="rows sum to zero", code=1)
        self.vector("b.mtx", [value - mean for value in b])
        said = self.solve("neumann.mtx", "--rhs", "b.mtx", "--solution", "x.mtx")
        self.assertLessEqual(int(re.search(r"converged after (\d+) iterations", said)[1]), 20)  # cycles alone: 39 on 150 x 150 nodes
        residual = [value - mean - product for value, product in zip(b, multiply(entries, self.read_vector("x.mtx")))]
        self.assertLess(norm(residual), 1e-9 * norm(b))

    def test_direct_says_what_is_not_interrupted(self):
        self.matrix("grid.mtx", laplace(40), 1600)
        said = self.solve("grid.mtx", "--method", "direct", "--max-seconds", "1000")
        self.assertIn("factors of 1600 rows with 7840 entries: --max-seconds does not interrupt them", said)
        self.assertNotIn("interrupt", self.solve("grid.mtx", "--method", "direct"))
        self.assertIn("wall time from when the system has been read", " ".join(subprocess.run([LEOPARD_SOLVE, "--help"], capture_output=True, text=True, check=True).stdout.split()))

    def test_all_can_be_asked_for(self):
        self.matrix("grid.mtx", laplace(40), 1600)
        for options, says in ((["--method", "cg", "--preconditioner", "none"], "CG"), (["--method", "cg", "--preconditioner", "async", "--blocks", "metis"], "CG with async-(5)"),
                              (["--method", "cg", "--preconditioner", "jacobi", "--omega", "0.8"], "CG with Jacobi"), (["--method", "gmres", "--preconditioner", "multigrid", "--smoother", "async"], "FGMRES"),
                              (["--method", "cg"], "CG with multigrid"), (["--method", "multigrid", "--smoother", "gauss-seidel"], "multigrid"), (["--method", "direct"], "direct")):
            with self.subTest(options):
                said = self.solve("grid.mtx", "--backend", "host", "--history", "h.csv", *options)
                self.assertIn("method      " + says, said)
                with open(self.folder / "h.csv", encoding="utf-8") as stream:
                    rows = list(csv.DictReader(stream))
                self.check_times(rows)
                self.assertLessEqual(float(rows[-1]["relative"]), 1e-10)
                self.assertEqual(int(rows[-1]["iteration"]), int(re.search(r"converged after (\d+)", said)[1]))
        said, _ = self.run_it("grid.mtx", "--method", "cg", "--preconditioner", "none", "--max-iterations", "3", code=1)
        self.assertIn("iteration limit after 3 iterations", said)
        self.assertNotIn("next ", said)

    def test_contradictions(self):
        for options, says in ((["--preconditioner", "async"], "--preconditioner"), (["--method", "async", "--preconditioner", "jacobi"], "--preconditioner"),
                              (["--method", "cg", "--preconditioner", "none", "--smoother", "async"], "--smoother"), (["--method", "cg", "--tune"], "--tune"),
                              (["--method", "cg", "--preconditioner", "none", "--block-size", "8"], "--block-size"), (["--method", "gmres", "--tolerance", "0"], "--tolerance 0"),
                              (["--method", "multigrid", "--precision", "single"], "--precision single"), (["--method", "direct", "--precision", "mixed"], "--precision"), (["--method", "direct", "--omega", "0.5"], "--omega"),
                              (["--method", "cg", "--preconditioner", "async", "--momentum"], "--momentum automatic"), (["--method", "direct", "--threads", "2"], "--threads"),
                              (["--method", "cg", "--test-every", "2"], "--test-every"), (["--method", "cg", "--preconditioner", "magic"], "--preconditioner is 'magic'")):
            with self.subTest(options):
                self.refused("A.mtx", *options, says=says)

    def test_a_singular_matrix_is_named(self):
        self.matrix("singular.mtx", {(0, 0): 1., (0, 1): 1., (1, 0): 1., (1, 1): 1., (2, 2): 1.}, 3)
        self.vector("b.mtx", [1., 2., 1.])
        said, error = self.run_it("singular.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", code=1)
        self.assertIn("singular", error, said)
        self.assertFalse((self.folder / "x.mtx").exists())
        self.refused("singular.mtx", "--method", "direct", "--rhs", "b.mtx", says="direct: the matrix is singular", code=1)
        said = self.run_it("singular.mtx", "--solution", "x.mtx")  # b = A 1 is in the range
        self.assertIn("x is determined up to its null space", said)
        x = self.read_vector("x.mtx")
        self.assertAlmostEqual(x[0] + x[1], 2.)
        self.matrix("general.mtx", {(0, 0): 1., (0, 1): 2., (1, 0): 2., (1, 1): 4., (2, 2): 1., (2, 0): 1.}, 3)
        self.run_it("general.mtx")

    def test_what_is_known_to_be_indefinite_goes_to_factors_or_gmres(self):
        """Three attempts of CG came before; and above 100,000 rows there were no factors, however cheap."""
        self.matrix("waves.mtx", laplace(40, 3.), 1600)
        said = self.solve("waves.mtx")
        self.assertEqual(self.line_of(said, "automatic ")[0].split(":")[0].split()[1:], ["direct"])
        self.assertIn("not definite", said)
        # the sum of all entries tells nothing, a few steps of Lanczos do: waves of low frequency, and others
        for diagonal, n in ((3.98, 60), (1.3, 40)):
            with self.subTest(diagonal):
                self.matrix("indefinite.mtx", {**laplace(n, diagonal), (n * n, n * n): 1e4 if diagonal < 2. else 4.}, n * n + 1)
                said = self.solve("indefinite.mtx", "--solution", "x.mtx")
                self.assertIn("not definite, as some steps of the Lanczos method find an eigenvalue below zero", self.line_of(said, "automatic ")[0])
                self.assertFalse(self.line_of(said, "failed "), said)
                self.assertLess(max(abs(value - 1.) for value in self.read_vector("x.mtx")), 1e-7)
                self.assertIn("not definite, as some steps of the Lanczos method", self.run_it("indefinite.mtx", "--analyze"))
                self.assertNotIn("Lanczos", self.run_it("indefinite.mtx", "--method", "gmres"))
        n = 100001  # factors of a line take no time
        entries = {(i, i): 1. for i in range(n)}
        entries.update({(i, j): -1. for i in range(n) for j in (i - 1, i + 1) if 0 <= j < n})
        self.matrix("line.mtx", entries, n)
        said = self.run_it("line.mtx", "--analyze")  # what comes after factors, should they take too long
        self.assertIn("gmres preconditioned by jacobi (for matrices that are not definite, too; convergence is not promised)", said)
        entries = {(i, i): 3. for i in range(n)}
        entries.update({(i, j): -1. for i in range(n) for j in (i - 1, i + 1) if 0 <= j < n})
        self.matrix("line.mtx", entries, n)
        said = self.solve("line.mtx", "--method", "direct")
        self.assertRegex(said, "factors of 100001 rows take about .* multiplications and .* GB")

    def test_small_matrices_that_are_not_symmetric_are_factorized(self):
        """ILU(0) was that of a matrix with eight times the diagonal added, and took 250 iterations for 60 rows."""
        numbers = random.Random(9)
        entries = {(i, j): numbers.gauss(0., 1.) for i in range(60) for j in {i} | {numbers.randrange(60) for _ in range(5)}}
        self.matrix("rand.mtx", entries, 60)
        said = self.solve("rand.mtx")
        self.assertTrue(self.line_of(said, "automatic ")[0].split(None, 1)[1].startswith("direct"), said)


class Systems(Program):
    """What --block-unknowns and --near-null-space tell smoothed aggregation: plane elasticity, clamped on the left."""

    def setUp(self):
        super().setUp()
        self.n = 22  # cells a side
        self.size = 2 * (self.n + 1) ** 2
        self.system = self.elasticity(self.n)
        self.matrix("E.mtx", self.system, self.size)
        self.modes = [[1. if i % 2 == 0 else 0. for i in range(self.size)], [1. if i % 2 == 1 else 0. for i in range(self.size)],
                      [float(i // 2 // (self.n + 1)) if i % 2 == 0 else -float(i // 2 % (self.n + 1)) for i in range(self.size)]]

    def elasticity(self, n, modulus=lambda cell: 1.):
        """Bilinear elements on n x n unit cells, mu = 1, lambda = 1.5 times the modulus of each."""
        k, m, c = ((1., -1.), (-1., 1.)), ((1 / 3, 1 / 6), (1 / 6, 1 / 3)), ((-.5, -.5), (.5, .5))  # of (derivatives of) functions at the ends of (0, 1)
        entries = {}
        for cell in range(n * n):
            corners = [(cell % n + x, cell // n + y) for y in (0, 1) for x in (0, 1)]
            for p in range(4):
                for q in range(4):
                    (i, j), (r, s) = (p % 2, q % 2), (p // 2, q // 2)
                    K = ((k[i][j] * m[r][s], c[i][j] * c[s][r]), (c[j][i] * c[r][s], m[i][j] * k[r][s]))
                    for a in (0, 1):
                        for b in (0, 1):
                            row, column = [2 * (y * (n + 1) + x) + d for (x, y), d in ((corners[p], a), (corners[q], b))]
                            value = modulus(cell) * (1.5 * K[a][b] + K[b][a] + (K[0][0] + K[1][1] if a == b else 0.))
                            if corners[p][0] == 0 or corners[q][0] == 0:
                                value = 1. if row == column else 0.
                            if value != 0.:
                                entries[row, column] = 1. if corners[p][0] == 0 else entries.get((row, column), 0.) + value
        return entries

    def columns(self, name, columns):
        self.write(name, f"%%MatrixMarket matrix array real general\n{len(columns[0])} {len(columns)}\n" + "".join(f"{value!r}\n" for column in columns for value in column))

    def iterations(self, *options, name="E.mtx"):
        """And what was said."""
        said = self.run_it(name, "--backend", "host", *options)
        self.assertIn("result      converged", said)
        return int(re.search(r"converged after (\d+)", said)[1]), said

    def test_they_are_followed(self):
        self.columns("modes.mtx", self.modes)
        options = ["--method", "cg", "--preconditioner", "multigrid"]
        scalar, _ = self.iterations(*options, "--block-unknowns", "1")
        blocks, said = self.iterations(*options, "--block-unknowns", "2")
        self.assertIn("nodes       529 of 2 unknowns\n", said)
        rigid, said = self.iterations(*options, "--block-unknowns", "2", "--near-null-space", "modes.mtx")
        self.assertIn("nodes       529 of 2 unknowns, near the null space 3 vectors of modes.mtx", said)
        self.assertIn("levels      1058, 192 rows by smoothed aggregation", said)
        self.assertNotIn("warning", said)
        self.assertLess(blocks, 0.7 * scalar)
        self.assertLess(rigid, 0.8 * blocks)
        one_unknown_a_node, _ = self.iterations(*options, "--near-null-space", "modes.mtx")
        self.assertNotEqual(one_unknown_a_node, rigid)

    def test_nodes_are_found_in_the_matrix(self):
        """As nobody who has a file of elasticity knows the option; without it cg with ic took 586 iterations where 38 do."""
        seem = "nodes       2 unknowns each seem to be those of a node"
        options = ["--method", "cg", "--preconditioner", "multigrid"]
        told, _ = self.iterations(*options, "--block-unknowns", "2")
        found, said = self.iterations(*options)
        self.assertEqual(said.count(seem), 1, said)
        self.assertEqual(found, told)
        scalar, said = self.iterations(*options, "--block-unknowns", "1")
        self.assertNotIn("seem", said)
        self.assertGreater(scalar, 1.3 * told)
        self.assertIn("cg preconditioned by ic: entries unlike those of diffusion", self.iterations("--method", "cg")[1])  # nothing would follow if cycles did not suit
        self.assertNotIn("its nodes are given", self.iterations("--block-unknowns", "1")[1])
        n = 30  # 13 points: entries of both signs, one unknown a node
        line = {(i, j): 6. if i == j else -4. if abs(i - j) == 1 else 1. for i in range(n * n) for j in (i - 2, i - 1, i, i + 1, i + 2) if 0 <= j < n * n}
        self.matrix("B.mtx", line, n * n)
        self.assertNotIn("seem", self.run_it("B.mtx", "--backend", "host", *options))
        long = {}  # bilinear elements 1 : 100, strongly coupled between lines: constants of every second unknown are near the null space
        for (i, j) in ((i, j) for i in range(n * n) for j in range(n * n) if abs(i % n - j % n) <= 1 and abs(i // n - j // n) <= 1):
            x, y = abs(i % n - j % n), abs(i // n - j // n)
            k, m = ((2., 2 / 3), (-1., 1 / 6)), (0.01, 100.)
            long[i, j] = m[0] * k[x][0] * k[y][1] + m[1] * k[x][1] * k[y][0]
        self.matrix("L.mtx", long, n * n)
        self.assertNotIn("seem", self.run_it("L.mtx", "--backend", "host", *options))

    def test_nodes_keep_their_constants_where_the_system_is_scaled(self):
        """Levels had constants in the units of the scaled system: 111 iterations for 60."""
        stiff = self.elasticity(self.n, lambda cell: 1e7 if cell % 7 < 3 else 1.)
        self.matrix("S.mtx", stiff, self.size)
        scaled, said = self.iterations("--block-unknowns", "2", "--tolerance", "1e-6", name="S.mtx")
        self.assertIn("scaled ", said)
        self.assertLessEqual(scaled, 80)

    def test_a_vector_far_from_the_null_space_is_said(self):
        """It was taken without a word."""
        numbers = random.Random(5)
        self.columns("modes.mtx", [*self.modes[:2], [numbers.gauss(0., 1.) for _ in range(self.size)]])
        said = self.run_it("E.mtx", "--backend", "host", "--block-unknowns", "2", "--near-null-space", "modes.mtx")
        self.assertEqual(said.count("is not near the null space"), 1)
        self.assertIn("warning     modes.mtx: column 3 is not near the null space: v^T A v is ", said)

    def test_files_of_either_kind_are_the_same(self):
        self.columns("modes.mtx", self.modes)
        lines = [f"{i + 1} {k + 1} {value!r}\n" for k, mode in enumerate(self.modes) for i, value in enumerate(mode) if value != 0.]
        self.write("sparse.mtx", f"%%MatrixMarket matrix coordinate real general\n{self.size} 3 {len(lines)}\n" + "".join(lines))
        by_rows = [self.modes[k][i] for i in range(self.size) for k in range(3)]
        for name, order, values in (("c.npy", "False", by_rows), ("fortran.npy", "True", sum(self.modes, []))):
            header = f"{{'descr': '<f8', 'fortran_order': {order}, 'shape': ({self.size}, 3), }}\n".encode()
            (self.folder / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}d", *values))
        results = set()
        for name in ("modes.mtx", "sparse.mtx", "c.npy", "fortran.npy"):
            self.iterations("--block-unknowns", "2", "--near-null-space", name, "--history", "h.csv", "--threads", "1")
            results.add(re.sub(r",[^,]*$", "", (self.folder / "h.csv").read_text(), flags=re.M))  # without the times
        self.assertEqual(len(results), 1)

    def test_automatic_tries_them_first(self):
        self.columns("modes.mtx", self.modes)
        self.assertNotIn("multigrid", re.search("^automatic.*$", self.run_it("E.mtx"), re.M)[0])
        for options, says in ((["--block-unknowns", "2"], "by --block-unknowns 2"), (["--near-null-space", "modes.mtx"], "by --near-null-space"),
                              (["--block-unknowns", "2", "--near-null-space", "modes.mtx"], "by --block-unknowns 2 and --near-null-space")):
            _, said = self.iterations(*options)
            self.assertEqual(re.findall("^automatic .*$", said, re.M), ["automatic   cg preconditioned by multigrid: its nodes are given, " + says])
            self.assertNotIn("unused", said)
        _, said = self.iterations("--method", "cg", "--block-unknowns", "2")
        self.assertIn("cg preconditioned by multigrid: its nodes are given, by --block-unknowns 2\n", said)
        skew = {(i, j): value * (1. if i == j else 1.01 if i > j else 0.99) for (i, j), value in self.system.items()}
        self.matrix("skew.mtx", skew, self.size)
        _, said = self.iterations("--block-unknowns", "2", name="skew.mtx")
        self.assertIn("automatic   gmres preconditioned by multigrid: its nodes are given", said)
        self.matrix("grid.mtx", laplace(40), 1600)
        self.assertIn("stencil  ", self.run_it("grid.mtx", "--method", "multigrid"))
        said = self.run_it("grid.mtx", "--method", "multigrid", "--block-unknowns", "2")
        self.assertNotIn("stencil  ", said)
        self.assertIn("levels      1600, ", said)

    def test_memory_is_said_before_it_is_taken(self):
        self.matrix("grid.mtx", laplace(40), 1600)
        said = self.run_it("grid.mtx", "--method", "gmres", "--preconditioner", "multigrid", "--backend", "host")
        lines = said.splitlines()
        at = {what: next(i for i, line in enumerate(lines) if line.startswith(what)) for what in ("memory      vectors", "memory      levels", "levels ")}
        self.assertLess(max(at["memory      vectors"], at["memory      levels"]), at["levels "])
        needed, there = map(float, re.search(r"levels while they are made: about (\S+) GB of the (\S+) GB that this process may use", said).groups())
        taken = float(re.search(r", smoothed by \S+, (\S+) GB, set up in", said)[1])
        self.assertAlmostEqual(needed * 1e9, 8 * (12 * (5 * 1600 - 160) + 4 * 1601), delta=0.05e6)  # 8 times the matrix
        self.assertTrue(0. < taken <= needed < there, said)
        vectors = [float(re.search(rf"vectors of {method}: about (\S+) GB", self.run_it("grid.mtx", "--method", method, "--preconditioner", "ic"))[1])
                   for method in ("cg", "gmres")]
        self.assertGreater(vectors[1], 5. * vectors[0])  # FGMRES keeps two for each step

    def test_they_are_scaled_with_the_matrix(self):
        exponents = random.Random(1)
        d = [2.**exponents.randint(-12, 12) for _ in range(self.size)]
        self.matrix("scaled.mtx", {(i, j): value * d[i] * d[j] for (i, j), value in self.system.items()}, self.size)
        self.columns("modes.mtx", self.modes)
        self.columns("scaled_modes.mtx", [[value / s for value, s in zip(mode, d)] for mode in self.modes])
        self.vector("b.mtx", [1. for _ in d])
        self.vector("scaled_b.mtx", d)
        usual, _ = self.iterations("--block-unknowns", "2", "--near-null-space", "modes.mtx", "--rhs", "b.mtx")
        found, said = self.iterations("--block-unknowns", "2", "--near-null-space", "scaled_modes.mtx", "--rhs", "scaled_b.mtx", name="scaled.mtx")
        self.assertIn("solved is S A S y = S b", said)
        self.assertNotIn("failed  ", said)
        self.assertLessEqual(found, usual + 4)

    def test_where_they_are_not_used(self):
        self.matrix("saddle.mtx", {(0, 0): 2., (0, 1): 1., (1, 0): 1.}, 2)
        self.assertIn("unused      --block-unknowns 2, as direct has no levels", self.run_it("saddle.mtx", "--block-unknowns", "2"))
        expected = "it with --method automatic or multigrid, or --preconditioner multigrid"
        for options in (["--method", "async"], ["--method", "cg", "--preconditioner", "ic"], ["--method", "direct"], ["--omega", "0.5"]):
            self.refused("E.mtx", "--block-unknowns", "2", *options, says=["--block-unknowns is given with --method", expected])
            self.refused("E.mtx", "--near-null-space", "E.mtx", *options, says=["--near-null-space is given with --method", expected])
        self.assertIn("--method automatic:      cg preconditioned by multigrid (its nodes are given, by --block-unknowns 2)", self.run_it("E.mtx", "--analyze", "--block-unknowns", "2"))
        self.refused("E.mtx", "--analyze", "--near-null-space", "missing.npy", says="missing.npy", code=1)

    def test_what_is_wrong_is_said(self):
        n = self.size
        for number, says in (("0", "--block-unknowns is 0"), ("-2", "--block-unknowns is -2"), ("x", "--block-unknowns"), ("1.5", "--block-unknowns"),
                             ("5", ["--block-unknowns is 5, and E.mtx has 1058 rows", "divides them"])):
            self.refused("E.mtx", "--block-unknowns", number, "--solution", "x.mtx", says=says)
        array = "%%MatrixMarket matrix array real general\n"
        for name, text, says in (("short.mtx", array + f"{n - 1} 1\n" + "1\n" * (n - 1), ["short.mtx:2", "1057 rows", "1058 rows"]), ("wide.mtx", array + f"{n} 101\n", "1 to 100 columns"),
                                 ("none.mtx", array + f"{n} 0\n", ["none.mtx:2", "1 to 100 columns"]), ("nan.mtx", array + f"{n} 1\n" + "nan\n" * n, ["nan.mtx:3", "'nan'"]),
                                 ("zero.mtx", array + f"{n} 2\n" + "1\n" * n + "0\n" * n, ["zero.mtx: column 2 is zero"]), ("cut.mtx", array + f"{n} 2\n" + "1\n" * n, "the file ends after 1058 of 2116"),
                                 ("twice.mtx", f"%%MatrixMarket matrix coordinate real general\n{n} 2 2\n3 2 1\n3 2 1\n", ["twice.mtx:4", "row 3, column 2", "line 3"])):
            with self.subTest(name):
                self.write(name, text)
                self.refused("E.mtx", "--block-unknowns", "2", "--near-null-space", name, "--solution", "x.mtx", says=says, code=1)
        for name, shape, values, says in (("flat.npy", f"({n + 1}, 2)", 2 * n + 2, ["the shape is", f"({n},m) with up to 100 columns"]), ("turned.npy", f"(3, {n})", 3 * n, "the shape is"),
                                          ("part.npy", f"({n}, 2)", 2 * n - 1, "bytes follow the header")):
            with self.subTest(name):
                header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
                (self.folder / name).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack("<d", 1.) * values)
                self.refused("E.mtx", "--near-null-space", name, says=[name + ": "] + ([says] if isinstance(says, str) else says), code=1)
        self.refused("E.mtx", "--near-null-space", "missing.mtx", says="missing.mtx", code=1)
        self.refused("E.mtx", "--near-null-space", "", says="the name of the file is empty")
        self.columns("modes.mtx", self.modes)
        self.refused("E.mtx", "--near-null-space", "modes.mtx", "--solution", "modes.mtx", says="--solution and --near-null-space are the same file")


class Rough(Program):
    """Matrices as they come: nearly singular, badly scaled, singular, negative, with zeros. Solved, or refused with the true reason."""

    def grid_of_squares(self, n):
        """Minus the Laplacian with natural boundary conditions: rows sum to zero."""
        entries = {}
        for (i, j), value in laplace(n).items():
            if i != j:
                entries[i, j] = value
                entries[i, i] = entries.get((i, i), 0.) + 1.
        return entries

    def test_rounding_is_named_with_a_tolerance_that_can_be_reached(self):
        self.matrix("near.mtx", {(0, 0): 1., (0, 1): 1. / 3., (1, 0): 1. / 3., (1, 1): 1. / 9. + 1e-9}, 2)
        self.matrix("grid.mtx", laplace(40), 1600)
        for name, b, options in (("near.mtx", [1., 2.], []), ("grid.mtx", [1. + 0.1 * math.sin(i) for i in range(1600)], ["--method", "cg"])):
            self.vector("b.mtx", b)
            said, _ = self.run_it(name, "--rhs", "b.mtx", "--solution", "x.mtx", "--tolerance", "1e-15", *options, code=1)
            found = re.search(r"to do: at most --tolerance (\S+) can be reached", said)
            self.assertIsNotNone(found, said)
            self.assertNotIn("relaxation", said)
            self.assertEqual(len(self.read_vector("x.mtx")), len(b))
            self.run_it(name, "--rhs", "b.mtx", *options, "--tolerance", found[1])

    def test_what_is_scaled_is_judged_as_it_was_solved(self):
        exponents = random.Random(1)
        n = 1600
        left, right = ([10**exponents.uniform(-8, 8) for _ in range(n)] for _ in range(2))
        b = [exponents.uniform(-1., 1.) for _ in range(n)]
        for name, rows, columns in (("both", left, left), ("rows", left, [1.] * n), ("different", left, right)):
            with self.subTest(name):
                self.matrix("scaled.mtx", {(i, j): value * rows[i] * columns[j] for (i, j), value in laplace(40).items()}, n)
                self.vector("b.mtx", b)
                said = self.run_it("scaled.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", "--history", "h.csv")
                self.assertIn("solved is ", said)
                with open(self.folder / "h.csv", encoding="utf-8") as stream:
                    relative = [float(row["relative"]) for row in csv.DictReader(stream)]
                self.assertAlmostEqual(relative[0], 1.)
                self.assertLessEqual(relative[-1], 1e-10)
                x = self.read_vector("x.mtx")
                self.matrix("plain.mtx", laplace(40), n)
                self.vector("b.mtx", [value / row for value, row in zip(b, rows)])
                self.run_it("plain.mtx", "--rhs", "b.mtx", "--solution", "y.mtx", "--tolerance", "1e-14", "--method", "direct")
                y = self.read_vector("y.mtx")
                largest = max(abs(value) for value in y)
                for value, column, other in zip(x, columns, y):
                    self.assertAlmostEqual(value * column, other, delta=1e-6 * largest)

    def test_what_meets_the_tolerance_in_the_file_is_converged(self):
        """The residual of A x = b was 3e-14 of b, as --tolerance means it, and called stagnated for that of the scaled system."""
        numbers, n, entries = random.Random(20), 6, {}
        for i in range(n):
            entries[i, i] = 10.**numbers.uniform(-12, 12)
            j = numbers.randrange(n)
            if i != j:
                entries[i, j] = 10.**numbers.uniform(-12, 12)
        b = multiply(entries, [1. + j % 3 for j in range(n)])
        self.matrix("wide.mtx", entries, n)
        self.vector("b.mtx", b)
        said = self.run_it("wide.mtx", "--rhs", "b.mtx", "--solution", "x.mtx")
        residual = [value - product for value, product in zip(b, multiply(entries, self.read_vector("x.mtx")))]
        self.assertLessEqual(norm(residual), 1e-10 * norm(b))
        self.assertIn("of the scaled system, where small rows count", said)

    def test_scaling_that_overflows_is_left_out(self):
        self.matrix("wild.mtx", {(0, 0): 1e-300, (0, 1): 1e200, (1, 0): 1e200, (1, 1): 1.}, 2)
        self.vector("b.mtx", [1e200, 1e200])
        said = self.run_it("wild.mtx", "--rhs", "b.mtx", "--solution", "x.mtx")
        self.assertIn("not scaled", said)
        for value in self.read_vector("x.mtx"):
            self.assertAlmostEqual(value, 1.)
        self.matrix("wide.mtx", {(0, 0): 1e-200, (1, 1): 1e200}, 2)
        said = self.run_it("wide.mtx")
        self.assertIn("by the factor 1e308 or more", said)
        self.assertNotIn("inf", said)

    def test_a_norm_that_overflows(self):
        """No residual is small beside it."""
        self.matrix("grid.mtx", laplace(10), 100)
        self.vector("b.mtx", [1.5e308] * 100)
        for method in ("automatic", "cg", "jacobi"):
            self.assertIn("b.mtx: the norm of the right-hand side is above 1.8e+308", self.run_it("grid.mtx", "--rhs", "b.mtx", "--method", method, code=1)[1])
        self.matrix("large.mtx", {(i, i): 1.5e308 for i in range(100)}, 100)
        self.assertIn("b = A 1, as there is no --rhs: the norm", self.run_it("large.mtx", code=1)[1])

    def test_zeros_on_the_diagonal_are_analyzed(self):
        self.matrix("saddle.mtx", {(0, 0): 2., (0, 1): 1., (1, 0): 1.}, 2)
        said = self.run_it("saddle.mtx", "--analyze")
        self.assertIn("the diagonal entry of row 2 is zero or missing", said)
        self.assertIn("--method automatic:      direct", said)
        self.vector("b.mtx", [1., 3.])
        self.assertNotIn("warning", self.run_it("saddle.mtx", "--rhs", "b.mtx"))
        for preconditioner in ("ilu", "jacobi"):  # which divide by it: the row as the file counts
            self.refused("saddle.mtx", "--method", "gmres", "--preconditioner", preconditioner, says="the diagonal entry of row 2 is missing", code=1)

    def test_advice_for_bad_scaling_can_be_followed(self):
        exponents = random.Random(1)
        d = [10**exponents.uniform(-8, 8) for _ in range(1600)]
        self.matrix("both.mtx", {(i, j): value * d[i] * d[j] for (i, j), value in laplace(40).items()}, 1600)
        self.vector("b.mtx", [exponents.uniform(-1., 1.) for _ in range(1600)])
        for options in ([], ["--rhs", "b.mtx"]):
            result = subprocess.run([LEOPARD_SOLVE, "both.mtx", "--method", "cg", *options], cwd=self.folder, capture_output=True, text=True, timeout=1200, check=False)
            self.assertIn("--method automatic", result.stdout)
            self.assertNotIn("--tolerance 0", result.stdout)
        self.run_it("both.mtx", "--rhs", "b.mtx")

    def test_natural_boundary_conditions_are_no_stencil_with_zeros_beyond(self):
        n = 40
        entries = self.grid_of_squares(n)
        b = [math.sin(i) for i in range(n * n)]
        self.vector("b.mtx", [value - sum(b) / len(b) for value in b])
        self.matrix("neumann.mtx", entries, n * n)
        for options in ([], ["--method", "multigrid"]):
            said = self.run_it("neumann.mtx", "--rhs", "b.mtx", *options)
            self.assertNotIn("failed ", said)
            self.assertNotIn("stencil ", said)
        for i in range(n * n):
            entries[i, i] += 1e-6
        self.matrix("neumann.mtx", entries, n * n)
        self.assertNotIn("failed ", self.run_it("neumann.mtx", "--rhs", "b.mtx"))

    def test_parts_that_are_singular(self):
        n = 12
        entries, regular = self.grid_of_squares(n), laplace(n)
        two = {**entries, **{(i + n * n, j + n * n): value for (i, j), value in entries.items()}}
        one = {**regular, **{(i + n * n, j + n * n): value for (i, j), value in entries.items()}}
        b = [1.] * (n * n) + [-1.] * (n * n)
        self.vector("b.mtx", b)
        self.matrix("two.mtx", two, 2 * n * n)
        self.refused("two.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", says=["row 1 and the 143 rows", "there sum to 144", "no solution"], code=1)
        self.matrix("one.mtx", one, 2 * n * n)
        self.refused("one.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", says=["row 145 and the 143 rows", "no solution"], code=1)
        self.vector("b.mtx", [math.sin(i) if i < n * n else (1. if i % 2 else -1.) for i in range(2 * n * n)])
        for name in ("one.mtx", "two.mtx"):
            self.vector("b.mtx", [1. if i % 2 else -1. for i in range(2 * n * n)])
            self.run_it(name, "--rhs", "b.mtx")

    def test_singular_and_not_symmetric(self):
        n = 12
        entries = {(i, j): value * (1. + i % 3) for (i, j), value in self.grid_of_squares(n).items()}
        self.matrix("rows.mtx", entries, n * n)
        self.refused("rows.mtx", "--solution", "x.mtx", says=["its rows sum to zero", "b = A 1", "a --rhs in the range"], code=1)
        self.matrix("columns.mtx", {(j, i): value for (i, j), value in entries.items()}, n * n)
        self.vector("b.mtx", [1.] * (n * n))
        self.refused("columns.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", says=["columns sum to zero", "no solution"], code=1)
        said, _ = self.run_it("rows.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", code=1)
        self.assertIn("singular, or nearly so", said)

    def test_rounding_of_sums_is_no_right_hand_side(self):
        numbers = random.Random(2)
        n = 50
        entries = {}
        for i in range(n):
            for j in range(i):
                entries[i, j] = entries[j, i] = -numbers.random()
        for i in range(n):
            entries[i, i] = -sum(value for (row, column), value in entries.items() if row == i and column != i)
        self.matrix("graph.mtx", entries, n)
        self.refused("graph.mtx", says=["its rows sum to zero", "b = A 1"], code=1)
        self.matrix("graph.mtx", {**entries, (n + 1, n + 1): 0.}, n + 2)  # two nodes that nothing is coupled with
        self.refused("graph.mtx", says=["its rows sum to zero", "b = A 1"], code=1)

    def test_zero_rows(self):
        entries = laplace(12)
        self.matrix("zero.mtx", {(i, j): value for (i, j), value in entries.items() if 7 not in (i, j)}, 144)
        b = [1. if i != 7 else 0. for i in range(144)]
        self.vector("b.mtx", b)
        said = self.run_it("zero.mtx", "--rhs", "b.mtx", "--solution", "x.mtx")
        self.assertIn("1 rows and columns are zero", said)
        self.assertEqual(self.read_vector("x.mtx")[7], 0.)
        self.vector("b.mtx", [1.] * 144)
        self.refused("zero.mtx", "--rhs", "b.mtx", "--solution", "y.mtx", says=["row 8 is empty or zero", "entry 8", "no solution"], code=1)
        self.matrix("zero.mtx", {(i, j): value for (i, j), value in entries.items() if j != 7}, 144)
        said, error = self.run_it("zero.mtx", "--rhs", "b.mtx", "--solution", "y.mtx", code=1)
        self.assertIn("zero rows   column 8 is empty or zero, and its row is not: the matrix is singular, and there is a solution for some right-hand sides only", said)
        self.assertIn("at most 143 of its 144 rows can have a pivot, as column 8 is zero; gmres ends at the relative residual", error)

    def test_zero_rows_take_zero_columns(self):
        """x of a zero column is free, so that a zero row may say it; x = 0 of its own number would leave no solution."""
        for entries, n, b, x in (({(0, 1): 1.}, 2, [1., 0.], [0., 1.]),
                                 ({(0, 0): 2., (1, 0): -1., (1, 2): -1., (2, 2): 2., (2, 3): -1.}, 4, [2., -4., 2., 0.], [1., 0., 3., 4.])):
            with self.subTest(n):
                self.matrix("free.mtx", entries, n)
                self.vector("b.mtx", b)
                said = self.run_it("free.mtx", "--rhs", "b.mtx", "--solution", "x.mtx")
                self.assertIn("1 rows are zero, and so is b there, and as many other columns, of which x may be any number: 0 is taken", said)
                for found, expected in zip(self.read_vector("x.mtx"), x):
                    self.assertAlmostEqual(found, expected)
                self.assertIn("max |x - 1| = 0", self.run_it("free.mtx"))

    # fails if a residual is believed in whose sums lose b beside terms of 1e31
    def test_x_so_large_that_b_is_lost(self):
        for entries, n, b in (({(0, 0): 1., (0, 1): 1., (1, 0): 1., (1, 1): 1.}, 2, [1., 2.]),
                              ({(0, 0): 1., (0, 1): 1., (1, 0): 1., (1, 1): 2., (1, 2): 1., (2, 1): 1., (2, 2): 1.}, 3, [-3., -2., -2.])):
            with self.subTest(n):
                self.matrix("singular.mtx", entries, n)
                self.vector("b.mtx", b)
                for options in ([], ["--method", "cg", "--preconditioner", "none"], ["--method", "cg", "--preconditioner", "jacobi"]):
                    self.run_it("singular.mtx", "--rhs", "b.mtx", *options, code=1)

    # fails if what rounding leaves in one method is the end: x of pieces drifts by constants of each
    def test_pieces_with_constants_of_their_own(self):
        numbers, first, entries, b = random.Random(30), 0, {}, []
        for n in (12, 13, 14):
            for i in range(n * n):
                for j in ([i + 1] if (i + 1) % n else []) + ([i + n] if i + n < n * n else []):
                    weight = 10**numbers.uniform(-3, 3)
                    for row, column in ((first + i, first + j), (first + j, first + i)):
                        entries[row, column] = -weight
                        entries[row, row] = entries.get((row, row), 0.) + weight
            part = [numbers.gauss(0., 1.) for _ in range(n * n)]
            b += [value - sum(part) / len(part) for value in part]
            first += n * n
        self.matrix("pieces.mtx", entries, first)
        self.vector("b.mtx", b)
        said = self.run_it("pieces.mtx", "--rhs", "b.mtx", "--solution", "x.mtx")
        self.assertIn("result      converged", said)
        residual = [value - product for value, product in zip(b, multiply(entries, self.read_vector("x.mtx")))]
        self.assertLess(norm(residual), 1e-9 * norm(b))

    def test_what_is_said_of_zeros(self):
        self.matrix("row.mtx", {(0, 0): 1., (2, 2): 1., (0, 2): 0.5, (2, 0): 0.5}, 3)
        said = self.run_it("row.mtx")  # the second entry of x is 0, and not wrong
        self.assertIn("x = 0 is taken", said)
        self.assertNotIn("warning", said)
        self.matrix("zero.mtx", {(0, 0): 0.}, 1)
        self.assertIn("x = 0 is taken", self.run_it("zero.mtx"))
        self.assertIn("error       max |x - 1| = 0, but in 1 zero rows, where x = 0", self.run_it("zero.mtx"))
        self.matrix("grid.mtx", laplace(40), 1600)
        self.assertIn("result      converged", self.run_it("grid.mtx", "--method", "direct", "--precision", "double"))
        self.refused("grid.mtx", "--method", "direct", "--precision", "mixed", says="--precision")
        self.vector("b.mtx", [0.] * 1600)
        self.assertNotIn("corrections of  cycles", self.run_it("grid.mtx", "--rhs", "b.mtx"))
        self.assertNotIn("max_corrections", self.run_it("grid.mtx", "--max-iterations", "0", code=1)[0])

    def test_cg_for_a_matrix_that_is_not_symmetric_is_warned_of(self):
        self.matrix("flow.mtx", {(i, j): value + 0.1 * (j - i == 1) for (i, j), value in laplace(12).items()}, 144)
        said = self.run_it("flow.mtx", "--method", "cg", "--preconditioner", "none", "--max-iterations", "2", code=1)[0]
        self.assertIn("warning     the matrix is not symmetric, as CG needs it", said)
        self.assertNotIn("as CG needs it", self.run_it("flow.mtx", "--method", "gmres"))

    # fails if factors that find the matrix singular are the end, or if cg with jacobi is advised, which a zero diagonal forbids
    def test_singular_with_a_zero_on_the_diagonal(self):
        numbers = random.Random(3)
        entries = {(i, j): float(numbers.choice((-2, -1, 1, 2))) for i in range(12) for j in range(12) if numbers.random() < 0.5 and (i, j) != (0, 0)}
        for j in range(12):  # row 11 is twice row 5
            entries.pop((11, j), None)
            if (5, j) in entries:
                entries[11, j] = 2. * entries[5, j]
        self.matrix("zero.mtx", entries, 12)
        self.vector("b.mtx", multiply(entries, [1. + 0.1 * i for i in range(12)]))
        self.run_it("zero.mtx", "--rhs", "b.mtx", "--solution", "x.mtx")
        r = [v - w for v, w in zip(multiply(entries, self.read_vector("x.mtx")), multiply(entries, [1. + 0.1 * i for i in range(12)]))]
        self.assertLess(norm(r), 1e-8)
        self.refused("zero.mtx", "--rhs", "b.mtx", "--method", "direct", says=["the matrix is singular", "gmres with the preconditioner none"], code=1)

    # fails if GMRES that gains digit after digit gives way to factors that fill up, or if the time told ignores the limit
    def test_steady_iterations_go_on_before_costly_factors(self):
        numbers, n = random.Random(2), 3000
        entries = {(i, numbers.randrange(n)): 1.22 * numbers.gauss(0., 1.) for i in range(n) for _ in range(4)}
        for i in range(n):
            entries[i, i] = entries.get((i, i), 0.) + 2.35
        self.matrix("graph.mtx", entries, n)
        said = self.run_it("graph.mtx")
        self.assertIn("iteration limit after 300 iterations", said)
        self.assertIn("the same with more iterations, as the residual falls", said)
        self.assertNotIn("next        direct", said)

    def test_singular_up_to_rounding_is_said(self):
        """D L D of a graph's L: "too ill-conditioned for double precision" was all that was said."""
        n, numbers = 40, random.Random(2)
        d = [numbers.uniform(0.5, 2.) for _ in range(n)]
        entries = {}
        for i in range(n - 1):
            for k, l in ((i, i + 1), (i + 1, i)):
                entries[k, l] = -d[k] * d[l]
                entries[k, k] = entries.get((k, k), 0.) + d[k] * d[k]
        self.matrix("dld.mtx", entries, n)
        said = self.run_it("dld.mtx")
        self.assertIn("determined up to its null space", said)

    def test_negative_definite(self):
        self.matrix("negative.mtx", {at: -value for at, value in laplace(40).items()}, 1600)
        for options in ([], ["--method", "cg"]):
            said = self.run_it("negative.mtx", "--solution", "x.mtx", *options)
            self.assertIn("-A x = -b is solved", said)
            self.assertNotIn("direct", said)
            self.assertLess(max(abs(value - 1.) for value in self.read_vector("x.mtx")), 1e-7)

    def test_no_worse_than_nothing_is_written(self):
        self.matrix("singular.mtx", {(0, 0): 1., (0, 1): 1., (0, 2): 0.5, (1, 0): 1., (1, 1): 1., (1, 2): 0.5, (2, 0): 0.5, (2, 1): 0.5, (2, 2): 1. / 3.}, 3)
        self.vector("b.mtx", [1., -1., 1.])
        for method in (["automatic"], ["cg"], ["gmres"], ["direct"], ["cg", "--preconditioner", "jacobi"]):
            with self.subTest(method):
                (self.folder / "x.mtx").unlink(missing_ok=True)
                self.run_it("singular.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", "--method", *method, code=1)
                if (self.folder / "x.mtx").exists():
                    x = self.read_vector("x.mtx")
                    self.assertLessEqual(norm([1. - x[0] - x[1] - x[2] / 2., -1. - x[0] - x[1] - x[2] / 2., 1. - x[0] / 2. - x[1] / 2. - x[2] / 3.]), 1.001 * math.sqrt(3.))


class Random(Program):
    """Small matrices of all kinds, solved by what leopard-solve chooses, against Gaussian elimination."""

    def solution(self, entries, b):
        """By elimination with row pivots, refined twice; None if a pivot is zero, or nearly so."""
        n = len(b)
        rows = [[entries.get((i, j), 0.) for j in range(n)] + [1. if i == j else 0. for j in range(n)] for i in range(n)]
        scale = [max(abs(value) for value in row[:n]) or 1. for row in rows]
        for i, row in enumerate(rows):
            rows[i] = [value / scale[i] for value in row]
        for k in range(n):
            pivot = max(range(k, n), key=lambda i, k=k: abs(rows[i][k]))
            if abs(rows[pivot][k]) < 1e-9:
                return None
            rows[k], rows[pivot] = rows[pivot], rows[k]
            rows[k] = [value / rows[k][k] for value in rows[k]]
            for i in range(n):
                if i != k and rows[i][k] != 0.:
                    factor = rows[i][k]
                    rows[i] = [value - factor * other for value, other in zip(rows[i], rows[k])]
        inverse = [row[n:] for row in rows]
        if max(abs(value) for row in inverse for value in row) * max(scale) > 1e9:
            return None  # compared are those whose solution is known to some digits
        x = [0.] * n
        for _ in range(3):
            r = [math.fsum([b[i]] + [-entries.get((i, j), 0.) * x[j] for j in range(n)]) for i in range(n)]
            x = [value + math.fsum(row[j] * r[j] for j in range(n)) for value, row in zip(x, inverse)]
        return x

    def solution_of_scaled(self, entries, b, n):
        """With columns divided by their largest entries, which are self.sizes."""
        self.sizes = [max(abs(entries.get((i, j), 0.)) for i in range(n)) for j in range(n)]
        rows = [max(abs(entries.get((i, j), 0.)) / self.sizes[j] for j in range(n)) for i in range(n)]
        y = self.solution({(i, j): value / self.sizes[j] / rows[i] for (i, j), value in entries.items()}, [value / row for value, row in zip(b, rows)])
        return None if y is None else [value / size for value, size in zip(y, self.sizes)]

    def random_matrix(self, kind, numbers):
        n = numbers.randint(1, 60 if kind != "badly scaled" else 30)
        density = numbers.choice((0.05, 0.2, 0.6, 1.))
        A = [[numbers.gauss(0., 1.) if numbers.random() < density else 0. for _ in range(n)] for _ in range(n)]
        if kind == "dominant":
            for i in range(n):
                A[i][i] = (sum(abs(value) for value in A[i]) + 0.1) * numbers.choice((-1., 1.))
        elif kind in ("positive definite", "negative definite"):
            sign = 1. if kind == "positive definite" else -1.
            A = [[sign * (sum(a * b for a, b in zip(A[i], A[j])) + (1. if i == j else 0.)) for j in range(n)] for i in range(n)]
        elif kind == "indefinite":
            A = [[A[i][j] + A[j][i] for j in range(n)] for i in range(n)]
        elif kind == "badly scaled":
            left, right = ([10.**numbers.uniform(-6, 6) for _ in range(n)] for _ in range(2))
            A = [[(A[i][j] + (sum(map(abs, A[i])) + 1. if i == j else 0.)) * left[i] * right[j] for j in range(n)] for i in range(n)]
        return n, {(i, j): A[i][j] for i in range(n) for j in range(n) if A[i][j] != 0.}

    def test_against_elimination(self):
        kinds = ("dominant", "positive definite", "negative definite", "indefinite", "not symmetric", "badly scaled")
        self.assertGreater(self.compare_with_elimination(kinds, 34, "host"), 150)

    @unittest.skipUnless(HAS_GPU, "no GPU")
    def test_against_elimination_on_a_gpu(self):
        """Those that need no factors, which are the host's."""
        self.assertGreater(self.compare_with_elimination(("dominant", "positive definite", "negative definite"), 8, "cuda"), 15)

    def compare_with_elimination(self, kinds, n_seeds, backend):
        """@return how many solutions were compared."""
        n_compared = 0
        for kind in kinds:
            for seed in range(n_seeds):
                with self.subTest(kind=kind, seed=seed):
                    numbers = random.Random(f"{kind} {seed}")
                    n, entries = self.random_matrix(kind, numbers)
                    if not entries:
                        continue
                    b = [numbers.gauss(0., 1.) for _ in range(n)]
                    if kind == "badly scaled":  # so that all rows count
                        largest = [max(abs(entries.get((i, j), 0.)) for j in range(n)) for i in range(n)]
                        b = [value * size for value, size in zip(b, largest)]
                    (self.folder / "x.mtx").unlink(missing_ok=True)
                    self.matrix("R.mtx", entries, n)
                    self.vector("b.mtx", b)
                    run = subprocess.run([LEOPARD_SOLVE, "R.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", "--backend", backend, "--tolerance", "1e-12"], cwd=self.folder,
                                         capture_output=True, text=True, timeout=1200, check=False)
                    said = run.stdout[-2000:] + run.stderr
                    self.assertIn(run.returncode, (0, 1), said)
                    self.assertNotIn("unexpected", said)
                    if run.returncode == 1:
                        self.assertRegex(said, "singular|zero|rounding", said)
                    expected = self.solution(entries, b) if kind != "badly scaled" else self.solution_of_scaled(entries, b, n)
                    if expected is None:
                        continue
                    n_compared += 1
                    if run.returncode == 1:  # only what double precision cannot do
                        self.assertIn("at most --tolerance", said)
                    x = self.read_vector("x.mtx")
                    if kind == "badly scaled":
                        x, expected = zip(*((value * size, other * size) for value, other, size in zip(x, expected, self.sizes)))
                    largest = max(abs(value) for value in expected)
                    for value, other in zip(x, expected):
                        self.assertAlmostEqual(value, other, delta=1e-3 * largest, msg=said)
        return n_compared


class Combined(Program):
    """Options of the methods that are put together: each does what it says, or is named."""

    def n_iterations(self, *options):
        said = self.run_it("grid.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", "--backend", "host", *options)
        residual = [value - product for value, product in zip(self.b, multiply(self.grid, self.read_vector("x.mtx")))]
        self.assertLessEqual(norm(residual), 1.1e-10 * norm(self.b))
        return int(re.search(r"converged after (\d+)", said)[1]), said

    def setUp(self):
        super().setUp()
        order = list(range(1600))
        random.Random(3).shuffle(order)
        self.grid = {(order[i], order[j]): value for (i, j), value in laplace(40).items()}
        self.b = [math.sin(i) for i in range(1600)]
        self.matrix("grid.mtx", self.grid, 1600)
        self.vector("b.mtx", self.b)

    def test_blocks_follow_the_matrix(self):
        common = ["--schedule", "synchronous", "--block-size", "100"]
        for options in (["--method", "cg", "--preconditioner", "async"], ["--method", "gmres", "--preconditioner", "ilu", "--triangular", "async"]):
            n, _ = self.n_iterations(*options, *common)
            for shape in ("metis", "rcm"):
                with self.subTest(options=options, shape=shape):
                    fewer, said = self.n_iterations(*options, *common, "--blocks", shape)
                    self.assertIn("blocks      " + shape, said)
                    if "async" == options[-1] and "ilu" in options:  # the factors are other ones, too
                        self.assertNotEqual(fewer, n)
                    else:
                        self.assertLess(fewer, 0.9 * n)
        self.matrix("natural.mtx", laplace(40), 1600)
        for options, is_stencil in (([], True), (["--block-size", "50"], False), (["--blocks", "metis"], False)):
            said = self.run_it("natural.mtx", "--method", "multigrid", "--smoother", "async", *options)
            self.assertEqual("stencil  " in said, is_stencil, said)

    def test_fill(self):
        for options in (["--method", "cg", "--preconditioner", "ic"], ["--method", "gmres", "--preconditioner", "ilu", "--factor-sweeps", "20"]):
            with self.subTest(options):
                counts = []
                for level in (0, 1, 3):
                    n, said = self.n_iterations(*options, "--fill", str(level))
                    self.assertIn(f"{options[3].upper()}({level}), ", said)
                    self.assertEqual(re.search(r"fill +\d\S* entries of the factors, about \S+ GB while they are made", said) is not None, level > 0)
                    counts.append(n)
                self.assertEqual(counts[0], self.n_iterations(*options)[0])
                self.assertLess(counts[1], 0.95 * counts[0])
                self.assertLess(counts[2], 0.9 * counts[1])

    def test_fill_ends_with_the_time(self):
        """Nothing interrupted it, for a minute after a limit of seconds."""
        self.matrix("large.mtx", laplace(100), 10000)
        for preconditioner, name in (("ic", "IC"), ("ilu", "ILU")):
            for level, limit in (("60", "0.1"), ("3", "1e-9")):  # while rows are eliminated, or the fill is found
                self.refused("large.mtx", "--method", "gmres", "--preconditioner", preconditioner, "--fill", level, "--max-seconds", limit,
                             says=[f"{name}({level}): the time was over", "a lower --fill, or more --max-seconds"], code=1)
            self.run_it("large.mtx", "--method", "gmres", "--preconditioner", preconditioner, "--fill", "2", "--max-seconds", "1000")

    def test_what_preconditions_cg_is_synchronous_unless_asked_for(self):
        self.matrix("grid.mtx", laplace(60), 3600)
        for preconditioner in (("async",), ("ic", "--triangular", "async")):
            options = ("grid.mtx", "--method", "cg", "--backend", "host", "--preconditioner", *preconditioner)
            said = self.run_it(*options)
            self.assertIn("schedule    synchronous, as CG", said)
            self.assertNotIn("warning", said)
            self.assertNotIn("vary from run to run", said)
            self.assertNotIn("schedule    ", self.run_it(*options, "--schedule", "synchronous"))
            self.assertIn("differs from call to call", self.run_it(*options, "--schedule", "chaotic"))

    def test_only_what_varies_is_said_to_vary(self):
        self.matrix("large.mtx", laplace(100, 4.1), 10000)  # enough for two threads
        for options, varies in ((["--preconditioner", "multigrid", "--smoother", "gauss-seidel"], False), (["--preconditioner", "ssor"], False), (["--preconditioner", "ilu"], False),
                                (["--preconditioner", "async"], True), (["--preconditioner", "async", "--schedule", "synchronous"], False),
                                (["--preconditioner", "ilu", "--triangular", "async"], True), (["--preconditioner", "ilu", "--factor-sweeps", "3"], True)):
            with self.subTest(options):
                said = self.run_it("large.mtx", "--method", "gmres", "--backend", "host", "--threads", "2", *options)
                self.assertEqual("results vary" in said, varies, said)

    def test_a_history_takes_what_is_needed(self):
        def little():
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        if subprocess.run([LEOPARD_SOLVE, "--version"], preexec_fn=little, capture_output=True, check=False).returncode != 0:
            self.skipTest("the program needs more address space, as with a sanitizer")
        self.matrix("line.mtx", {(i, j): 2. if i == j else -1. for i in range(3000) for j in range(max(0, i - 1), min(3000, i + 2))}, 3000)
        result = subprocess.run([LEOPARD_SOLVE, "line.mtx", "--method", "cg", "--preconditioner", "none", "--max-iterations", "2000000000", "--history", "h.csv",
                                 "--backend", "host"], cwd=self.folder, capture_output=True, text=True, timeout=1200, check=False, preexec_fn=little)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        with open(self.folder / "h.csv", encoding="utf-8") as stream:
            rows = [int(row["iteration"]) for row in csv.DictReader(stream)]
        self.assertGreater(len(rows), 1025)  # it has grown
        self.assertEqual(rows, list(range(len(rows))))

    def test_time_is_kept(self):
        said, _ = self.run_it("grid.mtx", "--method", "direct", "--max-seconds", "1e-9", code=1)
        self.assertIn("time limit after 0", said)
        for options in (["--method", "jacobi"], ["--method", "chebyshev"], ["--method", "cg", "--preconditioner", "none"]):
            said, _ = self.run_it("grid.mtx", *options, "--max-seconds", "1e-9", code=1)
            self.assertIn("more --max-seconds", said)
            self.assertNotIn("looking", said)
        said, _ = self.run_it("grid.mtx", "--max-seconds", "1e-9", code=1)
        self.assertIn("advice      to do: more --max-seconds; --analyze says which methods are tried", said)
        self.assertNotIn("singular", said)
        said, _ = self.run_it("grid.mtx", "--method", "async", "--tolerance", "0", "--max-seconds", "1e-9", code=1)  # not all iterations, with exit code 0
        self.assertRegex(said, r"advice +the time was over after \d+ of the 10000 iterations, all of which --tolerance 0 asks for\n +to do: more --max-seconds, or fewer --max-it")

    def test_the_best_solution_is_kept_where_time_is_over(self):
        """That of the attempt which the time ended was reported, 0.2 after 1e-5."""
        n = 60
        entries = {}
        for (i, j), value in laplace(n).items():
            if i != j:
                entries[i, j] = value
                entries[i, i] = entries.get((i, i), 0.) + 1.
        self.matrix("neumann.mtx", entries, n * n)
        b = [math.sin(i) for i in range(n * n)]
        self.vector("b.mtx", [value - sum(b) / len(b) for value in b])
        for limit in range(2, 60, 3):
            options = ["--rhs", "b.mtx", "--max-iterations", "5", "--max-seconds", str(limit * 1e-3)]  # factors, the last attempt, may be in time or not
            said = subprocess.run([LEOPARD_SOLVE, "neumann.mtx", *options], cwd=self.folder, capture_output=True, text=True, check=False).stdout
            found = [float(value) for value in re.findall(r"failed .*relative residual (\S+) ", said)]
            self.assertLessEqual(float(re.search(r"\|\|b\|\| = (\S+),", said)[1]), min(found + [1.]) * 1.01, said)

    def test_what_is_not_used_is_named(self):
        self.matrix("saddle.mtx", {(0, 0): 2., (0, 1): 1., (1, 0): 1.}, 2)
        said = self.run_it("saddle.mtx", "--threads", "2", "--test-every", "3", "--backend", "host")
        for text in ("unused      --threads", "unused      --test-every"):
            self.assertIn(text, said)
        self.assertNotIn("unused", self.run_it("grid.mtx", "--threads", "2", "--backend", "host"))
        for name, options, says in (("saddle.mtx", ["--triangular", "async", "--triangular-iterations", "2"], "--triangular and --triangular-iterations, as direct has no"),
                                    ("grid.mtx", ["--triangular", "exact"], "--triangular, as cg preconditioned by multigrid has no")):
            self.assertIn("unused      " + says + " incomplete factors", self.run_it(name, *options))
        self.assertNotIn("unused", self.run_it("grid.mtx", "--method", "cg", "--preconditioner", "ic", "--triangular", "exact"))

    def test_advice_is_of_the_method(self):
        for options, says in ((["--method", "cg", "--max-iterations", "3"], ["more --max-iterations", "--method gmres", "--method automatic"]),
                              (["--method", "multigrid", "--max-iterations", "1"], ["more --max-iterations", "--method automatic"]),
                              (["--max-iterations", "0"], ["more --max-iterations"])):
            said, _ = self.run_it("grid.mtx", *options, code=1)
            for text in says:
                self.assertIn(text, said)
            for text in ("chebyshev", "rho(B)", "--tune"):
                self.assertNotIn(text, said.split("advice ")[1])


class Options(Program):
    """Each option is done, not only read: iterates are those of a model that is written down here (block_async.h, the formula of BlockAsync)."""
    N, SIDE, DIAGONAL, SIZE = 144, 12, 8.5, 20

    def setUp(self):
        super().setUp()
        # all eight neighbours: unlike those of the five-point stencil, the eigenvalues of D^-1 A are not symmetric about 1, so that tau is not 1
        neighbours = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if (dx, dy) != (0, 0)]
        self.entries = {(i, i): self.DIAGONAL for i in range(self.N)}
        for x in range(self.SIDE):
            for y in range(self.SIDE):
                for dx, dy in neighbours:
                    if 0 <= x + dx < self.SIDE and 0 <= y + dy < self.SIDE:
                        self.entries[y * self.SIDE + x, (y + dy) * self.SIDE + x + dx] = -1.
        self.matrix("A.mtx", self.entries, self.N)
        self.b = [1. + i % 7 for i in range(self.N)]
        self.vector("b.mtx", self.b)
        self.rows = [[] for _ in range(self.N)]
        for (i, j), value in self.entries.items():
            self.rows[i].append((j, value))
        largest, smallest = (1 + 2 * math.cos(math.pi * j / (self.SIDE + 1)) for j in (1, self.SIDE))
        self.eigenvalues = [1 - (largest * factor - 1) / self.DIAGONAL for factor in (largest, smallest)]  # of D^-1 A, the extreme ones

    def blocks(self, overlap="none", percent=25., size=SIZE):
        """Rows that a block relaxes and rows that it owns: (begin, end, first owned, after the last owned)."""
        shared = 0 if overlap == "none" else math.floor(size * percent / 100 + 0.5)
        before = {"none": 0, "uniform": shared // 2, "upward": shared, "downward": 0}[overlap]
        result = []
        for first in range(0, self.N, size - shared):
            last = min(self.N, first + size - shared)
            result.append((max(0, first - before), min(self.N, last + shared - before), first, last))
        return result

    def model(self, n, blocks=None, k=5, omega=1., block_omega=1., l1=False, momentum=0., newest=False, in_turn=False):
        """n global iterations from x = 0; k a number or one for each block; newest: blocks in their order, each with the values of those before; in_turn: and rows in a block."""
        blocks = blocks or self.blocks()
        x, velocity = [0.] * self.N, [{} for _ in blocks]
        for _ in range(n):
            old = x if newest else list(x)
            new = list(x)
            for number, (begin, end, first, last) in enumerate(blocks):
                inside = range(begin, end)
                frozen = {i: self.b[i] - sum(a * old[j] for j, a in self.rows[i] if j not in inside) for i in inside}
                diagonal = {i: self.DIAGONAL + (sum(abs(a) for j, a in self.rows[i] if j not in inside) if l1 else 0.) for i in inside}
                y = {i: old[i] for i in inside}
                for _ in range(k if isinstance(k, int) else k[number]):
                    v, before = {}, y if in_turn else dict(y)
                    for i in inside:
                        v[i] = omega / diagonal[i] * (frozen[i] - sum(a * before[j] for j, a in self.rows[i] if j in inside)) + momentum * velocity[number].get(i, 0.)
                        y[i] += v[i]
                    velocity[number] = v
                for i in range(first, last):
                    (x if newest else new)[i] = old[i] + block_omega * (y[i] - old[i])
            x = x if newest else new
        return x

    def iterates(self, *options, n=3, schedule=("--schedule", "synchronous")):
        """x after n global iterations."""
        size = [] if "--block-size" in options or "--method" in options else ["--block-size", str(self.SIZE)]
        self.said = self.run_it("A.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", "--tolerance", "0", "--max-iterations", str(n), *schedule, *size, *options)
        return self.read_vector("x.mtx")

    def assert_near(self, x, expected, delta=1e-12):
        self.assertEqual(len(x), len(expected))
        self.assertTrue(all(abs(one - other) <= delta for one, other in zip(x, expected)), f"{x[:5]} ... instead of {expected[:5]} ..."[:500])

    def assert_differ(self, x, other):
        self.assertGreater(max(abs(one - two) for one, two in zip(x, other)), 1e-3)

    def test_numbers_are_those_of_the_model(self):
        for options, model in (([], {}), (["--block-size", "33"], {"blocks": self.blocks(size=33)}), (["--local-iterations", "2"], {"k": 2}), (["--omega", "0.8"], {"omega": 0.8}),
                               (["--block-omega", "0.7"], {"block_omega": 0.7}), (["--l1"], {"l1": True}), (["--momentum", "0.3"], {"momentum": 0.3}),
                               (["--overlap", "uniform"], {"blocks": self.blocks("uniform")}),
                               (["--overlap", "uniform", "--overlap-percent", "50"], {"blocks": self.blocks("uniform", 50.)}),
                               (["--overlap", "upward", "--overlap-level", "1", "--backend", "reference", "--block-size", "24"],
                                {"blocks": [(max(0, first - self.SIDE), first + 24, first, first + 24) for first in range(0, self.N, 24)]}),
                               (["--overlap", "upward", "--overlap-percent", "30"], {"blocks": self.blocks("upward", 30.)}),
                               (["--overlap", "downward", "--overlap-percent", "30", "--l1", "--momentum", "0.2", "--block-omega", "1.2"],
                                {"blocks": self.blocks("downward", 30.), "l1": True, "momentum": 0.2, "block_omega": 1.2})):
            with self.subTest(options):
                expected = self.model(3, **model)
                if model:
                    self.assert_differ(expected, self.model(3))
                self.assert_near(self.iterates(*options), expected)

    def test_backend_reference_takes_the_newest_values_in_order(self):
        self.assert_near(self.iterates("--backend", "reference", schedule=()), self.model(3, newest=True))
        self.assertIn("backend     reference, as asked for", self.said)
        self.assert_differ(self.model(3, newest=True), self.model(3))
        self.assert_differ(self.iterates("--schedule", "replay", "--seed", "1", schedule=()), self.model(3))

    def test_two_stage(self):
        self.assert_near(self.iterates("--two-stage", "synchronous", "--backend", "host"), self.model(3))
        self.assert_differ(self.model(3), self.model(3, in_turn=True))
        self.assert_near(self.iterates("--two-stage", "inner", "--backend", "host"), self.model(3, in_turn=True))
        self.assertIn("async-(5) two-stage inner synchronous", self.said)
        for kind in ("outer", "total"):  # of one thread
            self.assert_near(self.iterates("--two-stage", kind, "--backend", "host", "--threads", "1", schedule=()), self.model(3, newest=True, in_turn=True))
        self.assert_near(self.iterates("--two-stage", "block", "--backend", "host", "--threads", "1", schedule=()), self.model(3, newest=True))
        inner = ("--two-stage", "inner", "--backend", "reference")
        first = self.iterates(*inner, "--seed", "1")
        self.assertIn("replayed: this seed gives the same result in every run", self.said)
        self.assertEqual(first, self.iterates(*inner, "--seed", "1"))
        self.assert_differ(first, self.iterates(*inner, "--seed", "2"))

    def test_tau_is_found(self):
        tau = 2 / sum(self.eigenvalues)
        self.assertGreater(abs(tau - 1), 0.1)
        x = self.iterates("--omega", "tau")
        self.assertAlmostEqual(float(self.said.split("omega = ")[1].split()[0].strip(",")), tau, delta=2e-3 * tau)
        self.assert_near(x, self.model(3, omega=tau), 2e-2)
        self.assert_differ(x, self.model(3))
        self.assert_near(self.iterates("--method", "jacobi", "--omega", "tau", schedule=()), self.model(3, blocks=[(0, self.N, 0, self.N)], k=1, omega=tau), 2e-2)

    def test_momentum_is_found(self):
        first, last = (math.sqrt(value) for value in self.eigenvalues)
        omega, momentum = (2 / (first + last))**2, ((last - first) / (last + first))**2
        x = self.iterates("--momentum", "--local-iterations", "1", n=5)
        self.assert_near(x, self.model(5, k=1, omega=omega, momentum=momentum), 5e-2)
        self.assert_differ(x, self.model(5, k=1, omega=omega))
        self.assert_differ(x, self.model(5, k=1))

    def test_theta_gives_blocks_their_own_local_iterations(self):
        # after one global iteration a block shows how many sweeps it did
        x, found = self.iterates("--theta", n=1), []
        models = {k: self.model(1, k=k) for k in range(1, 11)}
        for begin, end, *_ in self.blocks():
            fitting = [k for k, model in models.items() if max(abs(x[i] - model[i]) for i in range(begin, end)) < 1e-12]
            self.assertEqual(len(fitting), 1, f"rows {begin} to {end} are of no number of local iterations")
            found += fitting
        self.assertGreater(max(found), min(found), "all blocks alike")
        self.assertGreater(found[0], found[len(found) // 2], "the first block depends less on others than one in the middle")

    def test_blocks_follow_the_matrix(self):
        # rows in a random order: only blocks that are found from the matrix hold neighbours
        order = list(range(400))
        random.Random(1).shuffle(order)
        self.matrix("B.mtx", {(order[i], order[j]): value for (i, j), value in laplace(20).items()}, 400)
        iterations = {shape: int(re.search(r"converged after (\d+)", self.run_it("B.mtx", "--blocks", shape, "--block-size", "50", "--local-iterations", "20", "--schedule", "synchronous",
                                                                                 "--test-every", "1"))[1]) for shape in ("contiguous", "rcm", "metis")}
        self.assertLess(iterations["rcm"], 0.8 * iterations["contiguous"])
        self.assertLess(iterations["metis"], 0.8 * iterations["contiguous"])
        self.assertNotEqual(iterations["rcm"], iterations["metis"])
        # three cliques of seven rows in blocks of up to ten: METIS makes each a block, which solves it; blocks of ten, ten and one row would cut them
        order = list(range(21))
        random.Random(2).shuffle(order)
        self.matrix("C.mtx", {(order[i], order[j]): 8. if i == j else -1. for i in range(21) for j in range(21) if i // 7 == j // 7}, 21)
        said = self.run_it("C.mtx", "--blocks", "metis", "--block-size", "10", "--local-iterations", "300", "--schedule", "synchronous", "--test-every", "1")
        self.assertIn("3 blocks of up to 7 rows", said)
        self.assertIn("converged after 1 global", said)

    def test_threads(self):
        self.matrix("large.mtx", laplace(100, 5.), 10000)
        for n in ("1", "2"):
            self.assertIn(f" on {n} threads", self.run_it("large.mtx", "--backend", "host", "--threads", n))

    def test_methods(self):
        whole = [(0, self.N, 0, self.N)]
        forward = [(i, i + 1, i, i + 1) for i in range(self.N)]
        x = {method: self.iterates("--method", method, schedule=()) for method in METHODS[1:]}
        self.assert_near(x["jacobi"], self.model(3, blocks=whole, k=1))
        self.assert_near(x["gauss-seidel"], self.model(3, blocks=forward, k=1, newest=True))
        self.assert_near(x["sor"], self.model(3, blocks=forward, k=1, newest=True))  # omega = 1
        self.assert_near(x["ssor"], self.model(3, blocks=forward + forward[::-1], k=1, newest=True))
        self.assert_near(self.iterates("--method", "jacobi", "--omega", "0.7", schedule=()), self.model(3, blocks=whole, k=1, omega=0.7))
        self.assert_near(self.iterates("--method", "sor", "--omega", "1.3", schedule=()), self.model(3, blocks=forward, k=1, omega=1.3, newest=True))
        self.assert_near(self.iterates("--method", "ssor", "--omega", "1.3", schedule=()), self.model(3, blocks=forward + forward[::-1], k=1, omega=1.3, newest=True))
        # Chebyshev's error after n iterations is smaller than Jacobi's by far
        exact = self.model(40, blocks=forward + forward[::-1], k=1, newest=True)
        errors = [norm([one - other for one, other in zip(self.iterates("--method", method, n=15, schedule=()), exact)]) for method in ("chebyshev", "jacobi")]
        self.assertLess(errors[0], 0.1 * errors[1])

    def test_block_asynchronous_refinement(self):
        """In double it is async-(k), and loops are further sweeps; in single the same to single precision."""
        for options, k in (([], 5), (["--local-iterations", "3"], 3), (["--local-iterations", "2", "--correction-loops", "2"], 4)):
            for precision, delta in (("double", 1e-12), ("mixed", 1e-5)):
                x = self.iterates("--method", "async-refinement", "--block-size", str(self.SIZE), "--precision", precision, *options)
                expected = self.model(3, k=k)
                self.assert_near(x, expected, delta)
                self.assertEqual(max(abs(one - other) for one, other in zip(x, expected)) > 1e-12, precision == "mixed")
                self.assertEqual("corrections in single precision" in self.said, precision == "mixed")

    def test_stopping(self):
        said = {}
        for tolerance in ("1e-3", "1e-6"):
            said[tolerance] = self.run_it("A.mtx", "--method", "async", "--tolerance", tolerance, "--test-every", "3", "--history", "h.csv", "--backend", "host")
            with open(self.folder / "h.csv", encoding="utf-8") as stream:
                rows = list(csv.DictReader(stream))
            self.assertEqual([int(row["iteration"]) for row in rows], [3 * i for i in range(len(rows))])
            relative = [float(row["relative"]) for row in rows]
            self.assertLessEqual(relative[-1], float(tolerance))
            self.assertGreater(relative[-2], float(tolerance))
        for seconds in ("0.001", "0.003", "0.01", "0.03"):  # on a busy machine the first candidate, too, may find no time
            result = subprocess.run([LEOPARD_SOLVE, "A.mtx", "--tune", "--tune-seconds", seconds, "--backend", "host"], cwd=self.folder, capture_output=True, text=True,
                                    timeout=1200, check=False)
            self.assertTrue(result.returncode == 0 or "or more time for the search (--tune-seconds, now" in result.stderr, result.stderr)
            self.assertIn("not tried, no time left", result.stdout)
            if result.returncode == 0:
                break


class Failing(Program):
    def test_divergence(self):
        self.matrix("bad.mtx", laplace(12, 2.5), 144)
        said, _ = self.run_it("bad.mtx", "--method", "async", "--solution", "x.mtx", "--history", "h.csv", code=1)
        for text in ("diverged", "rho(B) = ", "to do: ", "not written x.mtx"):
            self.assertIn(text, said)
        self.assertTrue((self.folder / "h.csv").exists())
        self.assertFalse((self.folder / "x.mtx").exists())

    def test_too_few_iterations(self):
        said, _ = self.run_it("A.mtx", "--method", "async", "--max-iterations", "20", "--solution", "x.mtx", code=1)
        for text in ("iteration limit after 20 global iterations", "to do: ", "global iterations in all"):
            self.assertIn(text, said)
        self.assertEqual(len(self.read_vector("x.mtx")), 144)

    def test_too_little_time(self):
        self.matrix("large.mtx", laplace(60), 3600)
        said, _ = self.run_it("large.mtx", "--max-seconds", "1e-4", "--block-size", "16", code=1)
        self.assertIn("time limit", said)
        said, _ = self.run_it("large.mtx", "--method", "async", "--max-seconds", "1e-9", code=1)  # before the first iteration
        self.assertIn("the time was over before a test of the residual", said)
        self.assertNotIn("more iterations will not help", said)

    def test_a_residual_that_is_rounding_is_not_taken_for_convergence(self):
        # rows whose terms are far larger than their sum: the residual in double precision is below the tolerance, the true one is not
        n_named = 0
        for seed in (0, 53, 94, 145):
            numbers = random.Random(seed)
            entries = {}
            for i in range(4):
                entries.update({(i, j): numbers.uniform(-1000., 1000.) for j in range(i)})
                entries[i, i] = numbers.uniform(1., 2.)
            self.matrix("B.mtx", entries, 4)
            self.vector("b.mtx", [numbers.uniform(-1., 1.) for _ in range(4)])
            run = subprocess.run([LEOPARD_SOLVE, "B.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", "--tolerance", "1e-15", "--backend", "host", "--threads", "1",
                                  "--block-size", "1"], cwd=self.folder, capture_output=True, text=True, check=False)
            if run.returncode == 1 and "at most --tolerance " in run.stdout:
                n_named += 1
                self.assertNotIn("result      converged", run.stdout)
                self.assertEqual(len(self.read_vector("x.mtx")), 4)
        self.assertGreater(n_named, 0)


class BadInput(Program):
    # fails if a link is replaced, if a private file becomes one for all, or if what must not be written is replaced
    def test_files_of_results(self):
        (self.folder / "target.mtx").write_text("old")
        (self.folder / "link.mtx").symlink_to("target.mtx")
        for name in ("link.mtx", "/dev/stdout"):
            self.refused("A.mtx", "--solution", name, says=[name, "symbolic link", "expected: the name of a file"], code=1)
        self.assertTrue((self.folder / "link.mtx").is_symlink())
        self.write("private.mtx", "old")
        (self.folder / "private.mtx").chmod(0o600)
        self.run_it("A.mtx", "--solution", "private.mtx")
        self.assertEqual((self.folder / "private.mtx").stat().st_mode & 0o777, 0o600)
        self.write("kept.mtx", "old")
        (self.folder / "kept.mtx").chmod(0o444)
        if os.geteuid() != 0:  # who may write everything
            self.refused("A.mtx", "--solution", "kept.mtx", says="kept.mtx", code=1)

    def test_several_gpus(self):
        """Each option of several GPUs that does not go with the others, or with this machine."""
        for options, says in ((["--gpus", "0"], "--gpus is 0"), (["--gpus", "65"], "--gpus is 65"), (["--exchange", "amc"], "--exchange is given with no --gpus"),
                              (["--wait"], "--wait is given with no --gpus"), (["--shares", "1,2"], "--shares is given with no --gpus"),
                              (["--gpus", "2", "--backend", "host"], "--gpus is given with --backend host"),
                              (["--gpus", "2", "--method", "cg", "--preconditioner", "multigrid"], "--gpus is given with --method cg --preconditioner multigrid"),
                              (["--gpus", "2", "--method", "gmres", "--preconditioner", "ssor"], "--preconditioner none, ic, ilu or one of "),
                              (["--gpus", "2", "--method", "multigrid"], "for multigrid the program leopard: mpirun"),
                              (["--gpus", "2", "--method", "async-refinement"], "--method async or automatic, or cg or gmres"),
                              (["--gpus", "2", "--method", "direct"], "--gpus is given with --method direct"),
                              (["--gpus", "2", "--method", "cg", "--preconditioner", "async", "--wait"], "--wait is given with --method cg"),
                              (["--gpus", "2", "--method", "automatic", "--exchange", "amc"], "--exchange is given with --method automatic"),
                              (["--gpus", "2", "--block-unknowns", "2"], "--block-unknowns is given with --gpus"),
                              (["--gpus", "2", "--method", "cg", "--backend", "host"], "--gpus is given with --backend host"),
                              (["--gpus", "2", "--tune"], "--gpus is given with --tune"),
                              (["--gpus", "2", "--exchange", "dk", "--wait"], "--wait is true for the exchange dk"),
                              (["--gpus", "2", "--shares", "1"], "--shares is a list of 1 for 2 GPUs"), (["--gpus", "2", "--shares", "1,nan"], "--shares is a list with nan"),
                              (["--gpus", "2", "--schedule", "synchronous"], "--schedule is synchronous"), (["--gpus", "2", "--overlap", "uniform"], "--overlap is given"),
                              (["--gpus", "2", "--wait", "--execution", "persistent"], "--execution is persistent")):
            with self.subTest(options):
                self.refused("A.mtx", *options, says=says)
        if N_GPUS == 0:
            for options in ([], ["--method", "automatic"], ["--method", "cg"], ["--method", "gmres", "--preconditioner", "ilu", "--shares", "1,2"], ["--method", "cg", "--max-seconds", "3"]):
                with self.subTest(options):
                    self.refused("A.mtx", "--gpus", "2", *options, says="no --gpus", code=1)

    def test_seeds_are_what_64_bits_hold(self):
        self.run_it("A.mtx", "--schedule", "replay", "--seed", str(2**64 - 1))
        for seed in ("-1", str(2**64), "1.5", "x"):
            with self.subTest(seed):
                self.refused("A.mtx", "--schedule", "replay", f"--seed={seed}", says="a whole number from 0 to 18446744073709551615")

    def test_a_smoother_that_is_not_given_is_not_named_as_given(self):
        for options, says in ((["--gpus", "2", "--method", "multigrid"], "--gpus is given with --method multigrid\n"),
                              (["--gpus", "2", "--method", "multigrid", "--smoother", "async"], "--gpus is given with --method multigrid --smoother async\n"),
                              (["--omega", "1.2", "--method", "multigrid"], "--omega is given with --method multigrid, whose smoother is chebyshev\n")):
            with self.subTest(options):
                self.refused("A.mtx", *options, says=says)

    def test_rows_count_as_in_the_file(self):
        """The library counts them from 0; in the order of blocks they are none of the file, and the message says so."""
        self.matrix("minus.mtx", {**laplace(12), (3, 3): -2.}, 144)
        for options in (("--method", "chebyshev"), ("--method", "cg", "--preconditioner", "ic"), ("--momentum", "automatic")):
            _, error = self.run_it("minus.mtx", *options, code=1)
            self.assertIn("the diagonal entry of row 4 is -2", error)
            self.assertNotIn("the first row", error)
        _, error = self.run_it("minus.mtx", "--momentum", "automatic", "--blocks", "rcm", "--block-size", "16", code=1)
        self.assertRegex(error, r"the diagonal entry of row \d+ is -2 \(the first row is 0, in the order of the blocks\)")

    def test_right_hand_sides_whose_norm_cannot_be_squared(self):
        for value in (1e-170, 1e160):
            with self.subTest(value):
                self.vector("b.mtx", [value] * 144)
                for method in METHODS:
                    self.refused("A.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", "--method", method, says="norm of", code=1)
        self.vector("b.mtx", [1e-120] * 144)
        self.run_it("A.mtx", "--rhs", "b.mtx", "--solution", "x.mtx")
        self.assertGreater(min(self.read_vector("x.mtx")), 2e-121)

    def test_matrix(self):
        self.refused("missing.mtx", says="missing.mtx", code=1)
        self.refused(".", says=".: ", code=1)
        head = "%%MatrixMarket matrix coordinate real general\n"
        for text, says in ((head + "2 3 2\n1 1 1\n2 2 1\n", ["2 rows and 3 columns", "square"]), (head + "2 2 2\n1 1 1\n2 2 0\n", "the diagonal entry of row 2 is zero"),
                           (head + "2 2 2\n1 1 1\n2 1 1\n", "the diagonal entry of row 2 is missing"), (head + "2 2 1\n1 1 1\n", "row 2 is empty"),
                           (head + "0 0 0\n", "no rows"), (head + "2 2 2\n1 1 1\n", "ends after 1 of 2"), ("hello\n", "begins with 'hello'"), ("", "empty")):
            self.write("bad.mtx", text)
            self.refused("bad.mtx", "--method", "async", "--solution", "x.mtx", says=says if isinstance(says, list) else [says, "bad.mtx"], code=1)

    def test_what_is_no_file(self):
        """/dev/zero never ends, and a pipe may never begin; within little memory and time."""
        os.mkfifo(self.folder / "pipe")
        (self.folder / "folder").mkdir()

        def little():
            resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))

        if subprocess.run([LEOPARD_SOLVE, "--version"], preexec_fn=little, capture_output=True, check=False).returncode != 0:
            self.skipTest("the program needs more address space, as with a sanitizer")
        for path, kind in (("/dev/zero", "a device"), ("/dev/null", "a device"), ("pipe", "a pipe"), ("folder", "a folder")):
            for options in ([path], ["A.mtx", "--rhs", path], ["A.mtx", "--choice", path]):
                result = subprocess.run([LEOPARD_SOLVE, *options], cwd=self.folder, capture_output=True, text=True, timeout=1200, check=False, preexec_fn=little)
                self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
                self.assertIn(f"{path}: this is {kind}\n  expected: ", result.stderr)

    def test_rhs(self):
        self.refused("A.mtx", "--rhs", "missing.mtx", says="missing.mtx", code=1)
        self.vector("b.mtx", [1., 2., 3.])
        self.refused("A.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", says=["b.mtx", "3 rows", "144 rows"], code=1)
        self.write("b.mtx", "%%MatrixMarket matrix array real general\n144 1\n" + "nan\n" * 144)
        self.refused("A.mtx", "--rhs", "b.mtx", says=["b.mtx:3", "'nan'"], code=1)

    def test_output_is_found_out_before(self):
        (self.folder / "folder").mkdir()
        os.mkfifo(self.folder / "pipe")
        # the matrix is missing, which is found out afterwards
        for option in ("--solution", "--history"):
            self.refused("missing.mtx", option, "no/such/folder/file", says="no/such/folder/file: the file cannot be written", code=1)
            self.refused("missing.mtx", option, "folder", says="not a regular file", code=1)
            self.refused("missing.mtx", option, "pipe", says="not a regular file", code=1)
            self.refused("missing.mtx", option, "", says="empty")
        self.refused("missing.mtx", "--tune", "--choice", "no/such/file", says="no/such/file: the file cannot be written", code=1)
        self.refused("A.mtx", "--choice", "missing.json", says="missing.json", code=1)

    def test_same_file_twice(self):
        self.refused("A.mtx", "--solution", "./A.mtx", says=["--solution and MATRIX", "the same file"])
        self.refused("A.mtx", "--solution", "x", "--history", "x", says="--history and --solution")

    def test_files_with_similar_names_are_left_alone(self):
        (self.folder / "A.mtx").rename(self.folder / "x.mtx.tmp")
        (self.folder / "r.csv.tmp").symlink_to("x.mtx.tmp")
        matrix = (self.folder / "x.mtx.tmp").read_bytes()
        self.run_it("x.mtx.tmp", "--solution", "x.mtx", "--history", "r.csv")
        self.assertEqual((self.folder / "x.mtx.tmp").read_bytes(), matrix)
        self.assertTrue((self.folder / "r.csv.tmp").is_symlink())
        self.assertEqual(len(self.read_vector("x.mtx")), 144)
        self.assertEqual(len(list(self.folder.iterdir())), 4)

    def test_damaged_choice(self):
        self.run_it("A.mtx", "--tune", "--tune-seconds", "2", "--choice", "good.json", "--backend", "host")
        text = (self.folder / "good.json").read_text()
        good = json.loads(text)

        def changed(key, value, part="choice"):
            return json.dumps({**good, part: {**good[part], key: value}})

        huge = "9" * 400
        for damaged, says in (("", "the file is empty"), (text[:len(text) // 2], "cut off"), (text + "x", "something was added"), ("{}", ["'leopard_choice'", "missing"]),
                              ("null}", "not JSON"), (text.replace('"host"', "host"), "not JSON"), (text.replace('"seed"', '"omega"'), "stands there twice"),
                              ('{"leopard_choice":' + "[" * 200000 + "]" * 200000 + "}", "within one another"), ('{"a":' * 100000 + "1" + "}" * 100000, "within one another"),
                              (json.dumps({**good, "leopard_choice": 2}), ["the version of the format) is 2", "expected: 1"]),
                              (json.dumps({**good, "leopard_choice": "1"}), "'leopard_choice' is \"1\""), (json.dumps({**good, "more": 1}), "'more' is unknown"),
                              (json.dumps({**good, "choice": []}), "an object"), (changed("omega", "1"), "'choice.omega' is \"1\""), (changed("omega", 1e308), "omega is 1e+308"),
                              (text.replace('"seed": 0', '"seed": ' + huge), "not JSON: "), (changed("omega", None), "'choice.omega' is null"),
                              (changed("block_size", 2**40), "of 32 bits"), (changed("block_size", 10**6), "block_size is 1000000"),
                              (changed("local_iterations", 2**31 - 1), ["local_iterations is 2147483647", "1 to 10000"]),
                              (changed("local_iterations_per_block", [1, 2**31 - 1]), "local_iterations_per_block is 2147483647"),
                              (changed("local_iterations_per_block", [3] * 1000), "1000 numbers"), (changed("shape", "round"), "\"contiguous\""),
                              (changed("seconds_a_digit", -1.), "seconds_a_digit"), (changed("rows", 145, "matrix"), ["matrix.rows", "tune anew"]),
                              (changed("entries", 5, "matrix"), ["matrix.entries", "tune anew"])):
            with self.subTest(damaged[:60]):
                self.write("choice.json", damaged)
                self.refused("A.mtx", "--choice", "choice.json", says=says, code=1)
        for no_choice in ("", text[:-10]):  # in the words of the command line
            self.write("choice.json", no_choice)
            self.refused("A.mtx", "--choice", "choice.json", says="a file that --tune with --choice wrote", code=1)
        (self.folder / "choice.json").write_bytes(text.encode().replace(b'"host"', b'"h\xf6st"'))
        self.refused("A.mtx", "--choice", "choice.json", says="UTF-8", code=1)

    def test_threads_that_the_machine_does_not_give(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, resource.RLIM_INFINITY))
        if subprocess.run([LEOPARD_SOLVE, "--version"], preexec_fn=limit, capture_output=True, check=False).returncode != 0:
            self.skipTest("the program needs more address space, as with a sanitizer")
        result = subprocess.run([LEOPARD_SOLVE, "A.mtx", "--threads", "4000", "--solution", "x.mtx", "--backend", "host"], cwd=self.folder, capture_output=True, text=True,
                                timeout=1200, check=False, preexec_fn=limit)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stderr, r"^leopard-solve: of 4000 host threads the machine gives \d+: .*\n  expected: at most that many")
        self.assertFalse((self.folder / "x.mtx").exists())

    def test_contradictions(self):
        for options, says in ((["--method", "jacobi", "--momentum"], ["--momentum", "--method jacobi"]), (["--method", "sor", "--blocks", "metis"], "--blocks"),
                              (["--method", "gauss-seidel", "--omega", "1.5"], "--method sor"), (["--method", "chebyshev", "--omega", "1"], "--omega"),
                              (["--method", "ssor", "--omega", "tau"], "--omega tau"), (["--momentum", "automatic", "--omega", "1"], "--omega is given with --momentum automatic"),
                              (["--momentum", "automatic", "--two-stage", "outer"], "--momentum automatic is given with --two-stage outer"),
                              (["--l1", "--omega", "tau"], "--l1"), (["--overlap-percent", "10"], "--overlap-percent"), (["--overlap-level", "1"], "--overlap-level"), (["--overlap", "uniform", "--blocks", "metis"], "--overlap"),
                              (["--seed", "3"], "--schedule replay"), (["--schedule", "replay", "--threads", "2"], "--threads"),
                              (["--backend", "reference", "--threads", "2"], "--threads"), (["--backend", "host", "--execution", "persistent"], "--execution"),
                              (["--backend", "host", "--storage", "single"], "--storage"), (["--backend", "host", "--waiting", "block"], "--waiting is given, and the backend is host"),
                              (["--backend", "reference", "--waiting", "spin"], "--waiting"), (["--tune", "--block-size", "64"], "--block-size is given with --tune"),
                              (["--choice", "c.json", "--omega", "1"], "--omega is given with --choice"), (["--tune-seconds", "3"], "--tune-seconds"),
                              (["--analyze", "--solution", "x"], "--solution is given with --analyze"), (["--tune", "--method", "jacobi"], "--tune is given with --method"),
                              (["--tune", "--method", "async-refinement"], "--tune is given with --method async-refinement"),
                              (["--method", "async-refinement", "--momentum"], "--momentum is given with --method async-refinement"),
                              (["--method", "async-refinement", "--overlap", "uniform"], "--overlap is given with --method async-refinement"),
                              (["--method", "async-refinement", "--two-stage", "outer"], "--two-stage is given with --method async-refinement"),
                              (["--two-stage", "inner"], ["--two-stage is inner with the schedule chaotic", "the schedule synchronous with it"]),
                              (["--two-stage", "inner", "--schedule", "synchronous", "--gpus", "2"], ["--schedule is synchronous", "GPUs that wait for one another"]),
                              (["--two-stage", "total", "--overlap", "uniform"], "--two-stage outer"), (["--two-stage", "outer", "--momentum", "0.5"], "--momentum is 0.5"),
                              (["--two-stage", "outer", "--seed", "3"], "--schedule replay"), (["--two-stage", "all"], ["--two-stage is 'all'", "outer, total"]),
                              (["--precision", "automatic", "--method", "jacobi"], "--precision automatic is given with --method jacobi"),
                              (["--method", "async", "--precision", "automatic", "--test-every", "5"], "no --test-every"),
                              (["--correction-loops", "2"], "it with --method async-refinement"),
                              (["--method", "async-refinement", "--correction-loops", "0"], "--correction-loops is 0")):
            with self.subTest(options):
                self.refused("A.mtx", *options, says=says)

    def test_values(self):
        self.refused(says="MATRIX")
        for options, says in ((["--method", "magic"], ["--method is 'magic'", "gauss-seidel"]), (["--backend", "gpu"], ["--backend is 'gpu'", "reference"]),
                              (["--omega", "-1"], "omega is -1"), (["--omega", "nan"], "--omega is 'nan'"), (["--omega", "1x"], "--omega is '1x'"),
                              (["--momentum=x"], "--momentum is 'x'"), (["--momentum", "1"], "--momentum is 1"), (["--local-iterations", "0"], "--local-iterations is 0"),
                              (["--local-iterations", "2.5"], "--local-iterations"), (["--block-size", "x"], "--block-size"), (["--block-size", "0"], "--block-size is 0"),
                              (["--tolerance", "-1"], "--tolerance is "), (["--tolerance", "nan"], "--tolerance is "), (["--test-every", "0"], "--test-every is 0"),
                              (["--max-iterations", "-1"], "--max-iterations is -1"), (["--max-seconds", "-1"], "--max-seconds is -1"), (["--threads", "-1"], "--threads is -1"), (["--threads", "100000"], "--threads is 100000"),
                              (["--overlap", "uniform", "--overlap-percent", "95"], "--overlap-percent is 95"), (["--tune", "--tune-seconds", "0"], "--tune-seconds"),
                              (["--max-seconds", "inf"], "--max-seconds is inf"), (["--tolerance", "1"], "--tolerance is 1"),
                              (["--method", "cg", "--preconditioner", "ic", "--factor-sweeps", "-1"], "--factor-sweeps is -1"),
                              (["--method", "cg", "--preconditioner", "ic", "--fill", "-1"], "--fill is -1"), (["--method", "cg", "--preconditioner", "none", "--fill", "1"], "--fill is given with"),
                              (["--method", "cg", "--preconditioner", "ic", "--triangular", "async", "--triangular-iterations", "0"], "--triangular-iterations is 0"),
                              (["--method", "sor", "--omega", "2"], "--omega is 2"), (["--local-iterations", "2147483647"], "--local-iterations is 2147483647"), (["--no-such-option"], "--no-such-option"), (["extra"], "extra")):
            with self.subTest(options):
                self.refused("A.mtx", *options, says=says)

    def test_not_positive_definite(self):
        self.matrix("bad.mtx", laplace(12, 2.5), 144)
        for options in (["--omega", "tau"], ["--momentum"], ["--method", "chebyshev"]):
            with self.subTest(options):
                self.refused("bad.mtx", *options, says=["positive definite", options[0]], code=1)
        entries = laplace(12)
        entries[3, 4] = -0.5
        self.matrix("bad.mtx", entries, 144)
        self.refused("bad.mtx", "--method", "chebyshev", says="symmetric", code=1)

    def test_small_matrices_do_not_wait_for_a_gpu(self):
        if not HAS_GPU:
            self.skipTest("no GPU here")
        small = "host: a small matrix"
        self.assertIn(small, self.run_it("A.mtx"))
        for options in (["--method", "async"], ["--backend", "cuda"], ["--method", "cg", "--preconditioner", "async", "--storage", "dictionary"]):
            with self.subTest(options):
                self.assertNotIn(small, self.run_it("A.mtx", *options))

    def test_device_that_is_not_there(self):
        if HAS_GPU:
            self.skipTest("there is a GPU here")
        self.refused("A.mtx", "--backend", "cuda", says=["--backend cuda", "--backend host"], code=1)
        self.refused("missing.mtx", "--backend", "cuda", says="--backend cuda", code=1)


if __name__ == "__main__":
    unittest.main()
