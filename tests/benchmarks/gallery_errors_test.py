# SPDX-License-Identifier: Apache-2.0
"""benchmarks/gallery_errors: what it reads of VTU files, and errors that are known."""
import importlib.machinery
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LEOPARD = os.environ.get("LEOPARD", "leopard")
SCRIPT = ROOT / "benchmarks/gallery_errors"

# u = x e^-t, 0 to 1 at the beginning; the second field has no error
DECAY = """set Problem = turing
subsection Turing
  set Kinetics        = expressions
  set Steady state    = none
  set Reaction u      = -u
  set Reaction v      = 0*v
  set Diffusion u     = 1e-9
  set Diffusion v     = 1e-9
  set Initial value u = x
  set Initial value v = y
end
subsection Mesh
  set Global refinements = 3
end
subsection Time stepping
  set Step size       = 1e-3
  set Error tolerance = 1e-2
  set End time        = {end}
end
"""


def module():
    loader = importlib.machinery.SourceFileLoader("gallery_errors", str(SCRIPT))
    loaded = importlib.util.module_from_spec(importlib.util.spec_from_loader("gallery_errors", loader))
    loader.exec_module(loaded)
    return loaded


class GalleryErrors(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def table(self, *arguments, code=0):
        done = subprocess.run([sys.executable, str(SCRIPT), "--leopard", LEOPARD, "--folder", str(self.folder / "runs"), *map(str, arguments)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in done.stdout.splitlines() if line.startswith("|")][2:], done.stderr

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def test_fields_are_read(self):
        self.table(self.write("decay.prm", DECAY.format(end="1e-9")))
        found = module().fields(self.folder / "runs/decay/exact")
        self.assertEqual(sorted(found), ["points", "u", "v"])
        self.assertGreaterEqual(len(found["u"]), 81)
        self.assertEqual(3 * len(found["u"]), len(found["points"]))
        for i, (u, v) in enumerate(zip(found["u"], found["v"])):
            self.assertAlmostEqual(u, found["points"][3 * i], delta=1e-6)
            self.assertAlmostEqual(v, found["points"][3 * i + 1], delta=1e-6)

    def test_errors_of_a_decay(self):
        """Of u alone, largest where x = 1, its mean over x sqrt(1/3) of that; the exact run is a hundredth as far off."""
        rows, _ = self.table(self.write("decay.prm", DECAY.format(end="1")))
        values = {kind: module().fields(self.folder / f"runs/decay/{kind}")["u"] for kind in ("as_it_is", "exact")}
        expected = 100 * abs(max(values["as_it_is"]) / max(values["exact"]) - 1)
        self.assertEqual(rows[0][:2] + [rows[0][6]], ["decay", "0.01", "u"])
        largest, mean = (float(cell.split()[0]) for cell in rows[0][7:])
        self.assertAlmostEqual(largest / expected, 1, delta=0.06)
        self.assertAlmostEqual(mean / largest, (1 / 3)**0.5, delta=0.08)
        self.assertGreater(int(rows[0][4].split(",")[0]), int(rows[0][2].split(",")[0]))
        smaller, _ = self.table("--set", "Mesh/Global refinements=2", "--folder", self.folder / "others", "--ratio", "10", self.folder / "decay.prm")
        self.assertEqual(smaller[0][0], "decay")

    def test_what_is_finished_is_not_done_again_and_what_fails_is_said(self):
        file = self.write("decay.prm", DECAY.format(end="0.1"))
        first, _ = self.table(file)
        report = self.folder / "runs/decay/exact/run.json"
        before = report.stat().st_mtime_ns
        self.assertEqual(self.table(file)[0], first)
        self.assertEqual(report.stat().st_mtime_ns, before)
        fixed = self.write("fixed.prm", DECAY.format(end="0.1").replace("set Error tolerance = 1e-2", "set Step control = fixed"))
        rows, said = self.table(fixed)
        self.assertEqual(rows, [])
        self.assertIn("fixed.prm has no tolerance", said)
        bad = self.write("bad.prm", DECAY.format(end="0.1").replace("set Reaction u      = -u", "set Reaction u      = -w"))
        rows, said = self.table(bad, file, code=1)
        self.assertEqual(rows, first)
        self.assertTrue(re.search(r"gallery_errors: bad\.prm: .*w", said), said)

    def test_values_that_are_no_numbers_are_refused(self):
        compare, failure = module().compare, module().Failure
        points = [0., 0., 0., 1., 0., 0.]
        self.assertEqual(compare({"points": points, "u": [0., 1.5]}, {"points": points, "u": [0., 1.]})[:2], ("u", 0.5))
        for run, exact in (([0., float("nan")], [0., 1.]), ([0., 1.], [0., float("nan")]), ([0., 1.], [1., 1.])):
            with self.assertRaises(Exception) as caught:
                compare({"points": points, "u": run}, {"points": points, "u": exact})
            self.assertEqual(type(caught.exception).__name__, failure.__name__)
        with self.assertRaises(Exception):
            compare({"points": [0., 0., 0., 2., 0., 0.], "u": [0., 1.]}, {"points": points, "u": [0., 1.]})


if __name__ == "__main__":
    unittest.main()
