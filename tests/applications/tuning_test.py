# SPDX-License-Identifier: Apache-2.0
"""Linear solver/Tuning time: block size, local iterations, omega and momentum of async, found by measuring with the matrix."""
import re

from program import Program
from tau_test import NEWTON, SQUARE, STEPS

LINE = re.compile(r"tuned in \S+ s: blocks of (\d+), (\d+) local iterations, omega = (\S+), momentum = (\S+?)(?:, \w+)?: \S+ s a digit\n")
ASYNC = ["Linear solver/Method=async", "Linear solver/Omega=1"]
TUNED = [*ASYNC, "Linear solver/Tuning time=1"]


class Tuning(Program):
    def tuned(self, text, *settings):
        """Runs a file; returns what it said, and what was chosen."""
        said = self.leopard(self.write("case.prm", text), *TUNED, *settings)
        self.assertEqual(len(LINE.findall(said)), 1, said)
        size, k, omega, momentum = LINE.search(said).groups()
        return said, (int(size), int(k), float(omega), float(momentum))

    def check_report(self, report, chosen):
        size, k, omega, momentum = chosen
        self.assertEqual((report["block_size"], report["local_iterations"]), (size, k))
        self.assertAlmostEqual(report["omega"], omega, delta=1e-3)
        self.assertAlmostEqual(report["momentum"], momentum, delta=1e-3)
        self.assertGreater(report["seconds_a_digit"], 0)
        self.assertGreater(report["seconds"], 0)

    def mean(self):
        return self.run_json("case")["cycles"][-1]["u"]["mean"]

    def test_finds_options_and_says_which(self):
        """They are what it then solves with, and the solution is the same."""
        self.leopard(self.write("case.prm", SQUARE), *ASYNC, "Mesh/Cells=48")
        mean = self.mean()
        self.assertNotIn("tuned", self.run_json("case")["cycles"][-1])
        for shape, blocks in (("compact", "compact blocks of"), ("rows", ", blocks of")):
            said, chosen = self.tuned(SQUARE, "Mesh/Cells=48", f"Linear solver/Block shape={shape}")
            self.check_report(self.run_json("case")["cycles"][-1]["tuned"], chosen)
            self.assertRegex(said, rf"async-\({chosen[1]}\).*{blocks} {chosen[0]}\b")
            self.assertAlmostEqual(self.mean(), mean, delta=1e-5 * mean)

    def test_without_boundary_values(self):
        """The matrix maps ones to zero, and the right-hand side of the search is not that."""
        text = SQUARE.replace("  set Boundary values = *: 0\n", "").replace("= 1\nend\nsubsection Mesh", "= cos(pi*x)\nend\nsubsection Mesh")
        self.tuned(text, "Linear solver/Relative tolerance=1e-5")

    def test_where_values_change(self):
        """The matrix of the first step is searched with, and later ones need not bear momentum."""
        said, chosen = self.tuned(STEPS, "Discretization/Mass matrix=lumped", "Discretization/Method=finite differences")
        self.assertIn("time loop: general, since the fused one cannot be used: 'Linear solver/Tuning time' is given", said)
        self.assertIn("of the first step tuned in ", said)
        self.assertEqual(said.count(", until it is tuned"), 1, said)
        self.assertEqual(chosen[2:], (1, 0))
        self.check_report(self.run_json("case")["time_loop"]["tuned"], chosen)
        # dominated by its mass, it is solved in a few iterations; that of diffusion alone would take thousands
        self.assertLess(self.run_json("case")["time_loop"]["tuned"]["seconds_a_digit"], 1e-3)
        self.leopard(self.write("case.prm", NEWTON), "Linear solver/Method=direct", "Linear solver/Omega=1")
        mean = self.mean()
        said, chosen = self.tuned(NEWTON)
        self.assertEqual(chosen[2:], (1, 0))
        self.check_report(self.run_json("case")["cycles"][-1]["tuned"], chosen)
        self.assertAlmostEqual(self.mean(), mean, delta=1e-6 * mean)

    def test_refused_and_unused(self):
        square = self.write("case.prm", SQUARE)
        cases = [(["Linear solver/Method=jacobi"], ["but the linear solver is jacobi", "'Linear solver/Method' = async, or 0"]),
                 (["Linear solver/Method=cg", "Linear solver/Preconditioner=async"], ["but the linear solver is cg with the preconditioner async"]),
                 (["Linear solver/Method=async-refinement"], ["but the linear solver is async-refinement"]),
                 (["Linear solver/Method=automatic"], ["(automatic: "]),
                 (["Linear solver/GPUs=2"], ["'Linear solver/GPUs' is 2", "one GPU"]), (["Linear solver/Backend=reference"], ["reproducible"]),
                 (["Linear solver/Precision=mixed"], ["'Linear solver/Precision' is mixed", "expected: double"])]
        cases += [([f"Linear solver/{entry}"], [f"'Linear solver/{entry.split('=')[0]}' is given, too, which tuning chooses\n  expected: one of the two"])
                  for entry in ("Omega=tau", "Omega=0.9", "Local iterations=3", "Block size=100", "Momentum=0.1")]
        cases += [([f"Linear solver/{entry}"], [f"'Linear solver/{entry.split('=')[0]}' is given, too, which tuning does not look at"])
                  for entry in ("Overlap=uniform", "Block omega=0.9", "l1 weights=true", "Schedule=synchronous", "Two stage=outer")]
        self.invalid([(square, [*TUNED, *settings], ["'Linear solver/Tuning time' is 1, but ", *says]) for settings, says in cases])
        self.assertIn("'Linear solver/Tuning time' is 1, but the program runs on 2 ranks\n  expected: one rank, or 0", self.leopard(square, *TUNED, ranks=2, fails=True))
        self.assertIn("cannot be used here: 'Linear solver/Tuning time' is given",
                      self.leopard(self.write("steps.prm", STEPS), *TUNED, "Discretization/Mass matrix=lumped", "Discretization/Method=finite differences", "Time stepping/Engine=fused", fails=True))
        said = self.leopard(square, *TUNED, "Linear solver/Local iterations=5", "Mesh/Cells=8")
        self.assertIn("not used: 'Linear solver/Local iterations', 'Linear solver/Omega' ('Linear solver/Tuning time' is given, and it is chosen by measuring)", said)
        said = self.leopard(square, "Linear solver/Tuning time=0", "Linear solver/Omega=1", "Mesh/Cells=8")
        self.assertIn("not used: 'Linear solver/Tuning time'", said)
        error = self.leopard(square, *TUNED, "Linear solver/Tuning time=1e-9", "Mesh/Domain=box", "Mesh/Upper corner=4,1", "Mesh/Cells=40", "Discretization/Degree=5", fails=True)
        self.assertIn("'Linear solver/Tuning time' is 1e-09 s: tuning: none of the ", error)
