#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests scripts/plot_statistics on a small run directory that is written here. Exit code 77 if there is no matplotlib."""
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import matplotlib  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "plot_statistics"
COLUMNS = ["step", "time (dimensionless)", "step size (dimensionless)", "Newton steps", "linear iterations", "rejected steps", "Newton residual (l2 norm)",
           "rate of change, RMS of du/dt (dimensionless)", "wall-clock time since the run was started or resumed (s)", "minimum of u (dimensionless)",
           "maximum of u (dimensionless)", "mean of u (dimensionless)", "distance to the homogeneous steady state (root mean square, dimensionless)",
           "number of spots of u (connected parts of the mesh where it is above 1)", "dominant wave number of u (strongest shell, dimensionless)",
           "mass balance of u: change in the step less integrated reaction (dimensionless)"]


class PlotStatistics(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.run_directory = pathlib.Path(folder.name)
        (self.run_directory / "manifest.txt").write_text("statistics\n")
        (self.run_directory / "run.json").write_text(json.dumps({"analysis": {"pattern": True, "wavelength": 0.3}}))
        self.write([[i, 0.1 * i, 0.1, 2, 5, 0, 1e-9, math.exp(-i), 0.5 * i, 1 - 0.1 * i, 1 + 0.1 * i, 1, 0.1 * i, i, 20, 0] for i in range(1, 6)])

    def write(self, rows, columns=COLUMNS):
        header = "".join(f"# {i}: {name}\n" for i, name in enumerate(columns, 1))
        (self.run_directory / "statistics").write_text(header + "".join(" ".join(map(str, row)) + "\n" for row in rows))

    def call(self, *arguments, code=0):
        result = subprocess.run([sys.executable, str(SCRIPT), str(self.run_directory), *arguments], capture_output=True, text=True)
        said = result.stdout + result.stderr
        self.assertEqual(result.returncode, code, said)
        self.assertNotIn("Traceback", said)
        return said

    def test_overview(self):
        figure = self.run_directory / "figures/statistics.png"
        self.assertIn(str(figure), self.call())
        self.assertGreater(figure.stat().st_size, 20000)
        self.assertIn("figures/statistics.png", (self.run_directory / "manifest.txt").read_text().splitlines())

    def test_columns_by_name_wherever_they_stand(self):
        self.assertIn("maximum of u: 1.5", self.call("--list"))
        order = [*range(len(COLUMNS))][::-1]
        self.write([[row[i] for i in order] for row in [[9, *range(1, len(COLUMNS))]]], [COLUMNS[i] for i in order])
        said = self.call("--list").splitlines()
        self.assertEqual(said[0], "mass balance of u: 15")
        self.assertIn("step: 9", said)
        for suffix in ("svg", "pdf"):
            output = self.run_directory / ("chosen." + suffix)
            self.call("--columns", "maximum of u, rate", "--log", "--over", "wall", "--output", str(output))
            self.assertTrue(output.exists())
        text = (self.run_directory / "chosen.svg").read_text()
        self.assertIn("maximum of u", text)
        self.assertIn("rate of change, RMS of du/dt", text)

    def test_sweep(self):
        (self.run_directory / "statistics").unlink()  # a sweep has none
        table = self.run_directory / "sweep.csv"
        table.write_text("run,c,Scheme,status,seconds,minimum of u,maximum of u\nc=1_a,1,a,finished,0.1,0,2\nc=2_a,2,a,failed,,,\nc=4_a,4,a,finished,0.1,0,5\nc=1_b,1,b,finished,0.1,0,\n")
        self.assertIn(str(self.run_directory / "figures/sweep.png"), self.call())
        self.assertEqual(self.call("--list").split("\n")[:2], ["minimum of u", "maximum of u"])
        output = self.run_directory / "chosen.svg"
        self.call("--columns", "max", "--output", str(output))
        for words in ("maximum of u", "Scheme = a", "Scheme = b"):
            self.assertIn(words, output.read_text())
        self.assertNotIn("minimum of u", output.read_text())
        table.write_text("run,c,status,seconds\nc=1,1,failed,0.1\n")
        self.assertIn("no run that is finished", self.call(code=1))
        table.write_text("a,b\n1,2\n")
        self.assertIn("no table of a sweep", self.call(code=1))

    def test_what_is_wrong_is_said(self):
        self.assertIn("'m' begins the names of 4 columns: minimum of u", self.call("--columns", "m", code=1))
        self.assertIn("no column 'x'", self.call("--columns", "time, x", code=1))
        self.assertIn("ends in .png, .pdf or .svg", self.call("--output", "figure.xyz", code=1))
        self.write([[1, 2]])
        self.assertIn("row 1 has 2 of 16 numbers", self.call(code=1))
        self.write([])
        self.assertIn("has no rows", self.call(code=1))
        (self.run_directory / "statistics").unlink()
        self.assertIn("expected: the run directory of a time-dependent run", self.call(code=1))


if __name__ == "__main__":
    unittest.main()
