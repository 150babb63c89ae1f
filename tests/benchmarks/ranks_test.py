# SPDX-License-Identifier: Apache-2.0
"""Benchmarks with two ranks and tiny sizes, the model of waiting, and the script that calls them all."""
import csv
import importlib.machinery
import importlib.util
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import numpy as np
except ImportError:
    np = None

BENCHMARKS = pathlib.Path(os.environ.get("LEOPARD_BENCHMARKS", ""))
SOURCES = pathlib.Path(__file__).resolve().parents[2] / "benchmarks"


def model():
    loader = importlib.machinery.SourceFileLoader("waiting_model", str(SOURCES / "waiting_model"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def run(program, *options, ranks=2):
    return subprocess.run(["mpirun", "-n", str(ranks), str(BENCHMARKS / program), *options], capture_output=True, text=True, timeout=1200, check=False)


class Ranks(unittest.TestCase):
    def said(self, program, *options, **more):
        result = run(program, *options, **more)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertNotRegex(result.stdout, r"\b(nan|inf)\b")
        return result.stdout

    def rows(self, said):
        """Of the table of waiting_ranks: disturbance: its numbers."""
        found = {}
        for line in said.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if line.startswith("| ") and cells[0] != "disturbance":
                found[cells[0]] = [float(word) for cell in cells[1:] for word in cell.replace(" to ", " ").split()]
        return found

    # fails if a disturbance is left out, what is predicted is not the mean of the longer one, or the table differs from the file
    def test_waiting_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.csv"
            said = self.said("waiting_ranks", "--size", "32", "--runs", "1", "--block-size", "64", "--factor", "5", "--probability", "0.25", "--csv", str(path))
            rows = self.rows(said)
            self.assertEqual(len(rows), 9, said)
            for numbers in rows.values():
                self.assertTrue(all(number > 0. for number in numbers), said)
            self.assertEqual([len(numbers) for numbers in rows.values()], [6] * 8 + [7])
            longer, one = 1. + 4. * (1. - 0.75**2), 1. + 4. * 0.25
            self.assertAlmostEqual(rows["all ranks, slowed at random"][-1], longer / one, delta=0.006)
            with open(path, encoding="utf-8") as file:
                title, columns, *written = list(csv.reader(file))
            self.assertEqual([row[0] for row in written], list(rows))
            self.assertEqual({len(row) for row in written}, {len(columns)})

    # fails if the diagonal is not what --delta says: iterations to a residual are known for Jacobi's method, which one block a rank is
    def test_delta(self):
        for delta, size in ((0.5, 32), (0., 24)):
            said = self.said("waiting_ranks", "--size", str(size), "--delta", str(delta), "--runs", "1", "--block-size", "65536", "--local-iterations", "1", "--test-every", "1",
                             "--only", "none")
            x, b, n = np.zeros((size + 2, size + 2)), np.ones((size, size)), 0
            while np.linalg.norm(b - (4. + delta) * x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) > 1e-2 * size:
                x[1:-1, 1:-1] = (b + x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) / (4. + delta)
                n += 1
            self.assertAlmostEqual(self.rows(said)["none"][1], n, delta=1.)

    # fails if the slow rank does not need the fewer iterations that the model says, by what is measured of the ranks' pace
    def test_gain_of_a_slow_rank(self):
        size, seen = 64, []
        for _ in range(5):  # a rank that the system has stopped for other work has another pace
            rows = self.rows(self.said("waiting_ranks", "--size", str(size), "--delta", "0", "--runs", "1", "--block-size", "65536", "--local-iterations", "1", "--only", "ten times"))
            self.assertEqual(list(rows), ["none", "a rank that takes ten times as long"])
            _, waiting, _, fewest, most, _ = rows["a rank that takes ten times as long"]
            pace = most / fewest  # five at most
            predicted = model().gain_of_slow(size, 0., [round(4. * pace), 4], 1)
            if pace > 2. and abs(waiting / fewest - predicted) <= 0.1 * predicted:
                return
            seen.append((pace, waiting / fewest, predicted))
        if all(pace <= 2. for pace, _, _ in seen):
            self.skipTest(f"the ranks do not run side by side here: {seen}")
        self.fail(f"pace, iterations waiting over those of the slow rank, predicted: {seen}")

    def test_what_waiting_ranks_refuses(self):
        for option, value, says in (("--delta", "-1", "--delta is -1"), ("--delta", "nan", "--delta is nan"), ("--factor", "0.5", "--factor is 0.5"),
                                    ("--probability", "0", "--probability is 0"), ("--probability", "nan", "--probability is nan"), ("--only", "nothing", "--only is 'nothing'")):
            result = run("waiting_ranks", option, value)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(says, result.stderr)
            self.assertIn("expected: ", result.stderr)
        self.assertIn("there is one rank\n  expected: several", run("waiting_ranks", ranks=1).stderr)

    # fails if a problem is left out, does not converge, or its time is not a number
    def test_multigrid_scaling(self):
        said = self.said("multigrid_scaling", "--backend", "host", "--weak", "32", "--weak-3d", "8", "--strong", "32", "--samples", "1", "--cycles", "1", "--gather-below", "300")
        lines = re.findall(r"^(weak 3D|weak|strong) +.* 2 ranks +(waiting|loose) +cycle +([0-9.]+) us .* (\d+) cycles", said, re.MULTILINE)
        self.assertEqual([line[:2] for line in lines], [(kind, mode) for mode in ("waiting", "loose") for kind in ("weak", "weak 3D", "strong")], said)
        self.assertTrue(all(math.isfinite(float(line[2])) and int(line[3]) < 30 for line in lines), said)
        self.assertNotIn("NOT CONVERGED", said)

    def test_rank_solvers(self):
        said = self.said("rank_solvers", "--backend", "host", "--size", "32", "--size-3d", "8", "--samples", "1", "--iterations", "4", "--cycles", "1")
        lines = re.findall(r"^(\S+) +2 ranks .*async-\(5\) ([0-9.]+) us .*solve ([0-9.]+) ms \((\d+) cycles\)", said, re.MULTILINE)
        self.assertEqual([line[0] for line in lines], ["five-point", "seven-point"], said)
        self.assertTrue(all(0. < float(line[1]) and 0. < float(line[2]) and 1 < int(line[3]) < 30 for line in lines), said)


class SeveralGpus(unittest.TestCase):
    def call(self, *options, build=BENCHMARKS.parent):
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run([str(SOURCES / "several_gpus"), *options, "--build", str(build)], capture_output=True, text=True, timeout=1200, check=False,
                                    env={**os.environ, "OUT": folder})
            return result, {path.name: path.read_text(encoding="utf-8") for path in pathlib.Path(folder).glob("*.txt")}

    # fails if a step has no file of its own, one rank is not measured, or what needs GPUs counts as measured
    def test_steps(self):
        result, files = self.call("2", "--backend", "host", "--steps", "multigrid,async")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr + str(files))
        self.assertEqual(sorted(files), ["async.txt", "multigrid.txt"])
        self.assertEqual(files["async.txt"], "left out: it needs GPUs\n")
        self.assertEqual(len(re.findall(r"^(?:weak|weak 3D|strong) .* [12] ranks .* us ", files["multigrid.txt"], re.MULTILINE)), 6, files["multigrid.txt"])

    # fails if a step that takes too long goes on, takes what it had said with it, or is not said to have been killed
    def test_a_step_that_takes_too_long(self):
        with tempfile.TemporaryDirectory() as build:
            program = pathlib.Path(build) / "benchmarks/rank_solvers"
            program.parent.mkdir()
            program.write_text("#!/bin/sh\necho begun\nexec sleep 300\n", encoding="utf-8")
            program.chmod(0o755)
            start = time.monotonic()
            result, files = self.call("2", "--backend", "host", "--steps", "ranks", "--seconds", "2", build=build)
            self.assertLess(time.monotonic() - start, 60.)
        self.assertEqual(result.returncode, 1, result.stdout + str(files))
        self.assertIn("ranks: not all of it ran", result.stdout)
        self.assertEqual(files["ranks.txt"].count("begun"), 1, files)
        self.assertRegex(files["ranks.txt"], r"mpirun -n 1 benchmarks/rank_solvers [^\n]*\n(?s:.*)KILLED: (?s:.*)mpirun -n 2 benchmarks/rank_solvers [^\n]*\nNOT RUN: ")

    # fails if two GPUs are left out where there are more, or if what is slow comes before what is to be shown
    def test_order(self):
        with tempfile.TemporaryDirectory() as build:
            for name in ("benchmarks/multigrid_scaling", "benchmarks/pattern_formation", "applications/studies/papers/leopard-study"):
                program = pathlib.Path(build) / name
                program.parent.mkdir(parents=True, exist_ok=True)
                program.write_text("#!/bin/sh\n", encoding="utf-8")
                program.chmod(0o755)
            result, files = self.call("4", "--steps", "multigrid,async,time_loop", build=build)
            self.assertEqual(result.returncode, 0, result.stdout + str(files))
            for number, counts in (("1", "1"), ("2", "1,2")):
                self.assertIn(f"--gpu-counts {counts} ", self.call(number, "--steps", "async", build=build)[1]["async.txt"])
        commands = {step: [line for line in files[step + ".txt"].splitlines() if line.startswith("$ ")] for step in ("multigrid", "async", "time_loop")}
        ranks = {step: [int(number) for line in lines for number in re.findall(r"mpirun -n (\d+)", line)] for step, lines in commands.items()}
        self.assertEqual(ranks, {"multigrid": [1, 2, 4] * 2, "async": [], "time_loop": [1, 2, 4] * 4})
        self.assertTrue(all("--weak 4096 --weak-3d 0 --strong 4096" in line for line in commands["multigrid"][:3]), commands)
        for line, options in zip(commands["async"], ("--matrix five-point-64 --exchange halo --size 4096", "--matrix five-point-8192 --exchange halo --size 64",
                                                     "--matrix five-point-8192 --exchange amc,dc,dk --size 64"), strict=True):
            self.assertIn("--gpu-counts 1,2,4 " + options, line)
        self.assertTrue(all("--linear multigrid --nodes 4096" in line for line in commands["time_loop"][:3]), commands)

    def test_wrong_usage(self):
        for options, says in ((["0"], "the number of GPUs is '0'"), (["2", "--steps", "all"], "--steps has 'all'"), (["2", "--seconds", "x"], "--seconds is 'x'"),
                              (["2", "--backend", "gpu"], "--backend is 'gpu'"), (["2", "--what", "1"], "there is no option --what")):
            result, files = self.call(*options)
            self.assertEqual(result.returncode, 2, options)
            self.assertIn(says, result.stderr)
            self.assertFalse(files)


@unittest.skipUnless(np, "numpy is missing")
class Model(unittest.TestCase):
    # fails if the model of one mode is not what whole grids do: async-(k) in blocks of whole lines on slabs, of which one is slower
    def test_against_whole_grids(self):
        m, size = model(), 16
        for ranks, pace, delta, slow, first, local, lines in ((2, 2, 0., 1, None, 1, None), (2, 4, 0.02, 1, None, 1, None), (4, 3, 0., 3, None, 1, None),
                                                              (2, 2, 0., 0, 0.7, 1, None), (2, 2, 0., 1, None, 5, 4), (2, 3, 0.01, 0, 0.4, 3, 5),
                                                              (2, 2, 0., 1, None, 7, None)):
            for in_turn in (False, True):
                borders, counts = m.slabs(size, ranks, first), [1 if r == slow else pace for r in range(ranks)]

                def relaxed(before, begin, end):
                    """A global iteration of the lines from begin on: blocks keep what others had."""
                    result = before.copy()
                    for top in range(1 + begin, 1 + end, lines or end - begin):
                        rows, values = slice(top, min(top + (lines or end - begin), 1 + end)), before.copy()
                        for _ in range(local):
                            values[rows, 1:-1] = ((values[:-2, 1:-1] + values[2:, 1:-1] + values[1:-1, :-2] + values[1:-1, 2:]) / (4. + delta))[rows.start - 1:rows.stop - 1]
                        result[rows] = values[rows]
                    return result[1 + begin:1 + end]

                def norm_after(periods, values, counts):
                    for _ in range(periods):
                        for step in range(pace):  # who is slow does one with the last one of the others
                            before = values.copy()
                            for r in sorted(range(ranks), key=lambda r: -counts[r]):
                                if counts[r] > 1 or step == pace - 1:
                                    values[1 + borders[r]:1 + borders[r + 1]] = relaxed(values if in_turn else before, borders[r], borders[r + 1])
                    return np.linalg.norm(values)

                def rate(counts):
                    e = np.zeros((size + 2, size + 2))
                    e[1:-1, 1:-1] = np.random.default_rng(1).random((size, size))
                    start = norm_after(200, e, counts)
                    return math.log(start / norm_after(50, e, counts)) / 50.

                found = m.gain_of_slow(size, delta, counts, slow, first, local, lines, in_turn)
                if not in_turn:  # all do `pace` of them in as many steps
                    waiting = rate([pace] * ranks) / pace
                    self.assertAlmostEqual(m.Grid(size, delta, local, lines).waiting(borders), waiting, delta=1e-4 * waiting)
                self.assertAlmostEqual(found, rate(counts) / waiting, delta=1e-3, msg=str((ranks, pace, delta, slow, first, local, lines, in_turn)))

    # fails if what doc/scaling.md says of async-(5) does not hold: below 1.3 from 128 lines on, whatever the blocks, and towards 2 where parts are solved
    def test_local_iterations(self):
        gain = model().gain_of_slow
        for lines in (1, 4, None):
            most = [gain(size, 0., [2, 1], 1, None, 5, lines, True) for size in (32, 64, 128)]
            self.assertLess(most[2], 1.3)
            self.assertEqual(most, sorted(most, reverse=True))
            self.assertLess(gain(128, 0., [2, 1], 1, None, 5, lines), most[2])  # who uses older values is not faster
        self.assertGreater(gain(64, 0., [2, 1], 1, None, 5, None, True), 1.3)
        self.assertAlmostEqual(gain(16, 0., [2, 1], 1, None, 400, None, True), 2., delta=1e-3)
        self.assertAlmostEqual(gain(16, 0., [4, 1], 1, None, 400, None, True), 2., delta=1e-3)

    def test_options(self):
        def said(*options):
            return subprocess.run([sys.executable, str(SOURCES / "waiting_model"), *options], capture_output=True, text=True, timeout=300, check=False)

        of_async = ("--size", "16", "--delta", "0", "--pace", "2", "--local-iterations", "5", "--lines", "4")
        for options, more in (((), {}), (("--in-turn",), {"in_turn": True})):
            expected = model().gain_of_slow(16, 0., [2, 1], 1, local=5, lines=4, **more)
            self.assertEqual(said(*of_async, *options).stdout, f"waiting over not waiting: {expected:.3f}\n")
        for option in ("--local-iterations", "--lines"):
            result = said("--size", "16", "--pace", "2", option, "0")
            self.assertEqual(result.returncode, 2)
            self.assertIn("expected a positive number", result.stderr)
        self.assertIn("expected --pace", said("--size", "16", "--late", "2", "--in-turn").stderr)

    # fails if large grids do not tend to what is said of them
    def test_large_grids(self):
        m = model()
        for delta, pace, fast in ((0., 2, 0.5), (0., 4, 0.75), (1e-3, 2, 0.5)):
            found = m.gain_of_slow(128, delta, [pace, 1], 1, fast)
            self.assertAlmostEqual(found, m.large(delta * 128**2, pace, fast), delta=0.01 * found)
        self.assertLess(m.large(0., 2, 0.5), 1.3)  # what was to be reached, and is not
        self.assertAlmostEqual(m.large(0., 1, 0.3), 1., delta=1e-9)
        self.assertAlmostEqual(m.gain_of_late(64, 0.01, 2, 1), 1., delta=1e-9)


if __name__ == "__main__":
    unittest.main()
