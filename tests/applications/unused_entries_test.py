# SPDX-License-Identifier: Apache-2.0
"""Entries that a run has no use for are named (entries_test.cc tries all entries)."""
import re

from program import FILES, ROOT, HostProgram, Program

TINY = ROOT / "tests/output/tiny_turing.prm"


class UnusedEntries(HostProgram):
    def not_used(self, name="tiny_turing"):
        return {item["entry"] for item in self.run_json(name)["not_used"]}

    def test_of_the_fused_time_loop(self):
        solver = {"Linear solver/Momentum": "0.3", "Linear solver/Local iterations": "5", "Linear solver/Block size": "128", "Linear solver/Test every": "3",
                  "Newton/Linear tolerance": "0.1"}
        settings = [f"{entry}={value}" for entry, value in solver.items()]
        said = self.leopard(TINY, *settings)
        self.assertIn("time loop: fused", said)
        beginning = said[:said.index("step       1")]
        for entry in solver:
            self.assertIn(f"'{entry}'", beginning)
        self.assertIn("'Time stepping/Engine' = general uses it", beginning)
        self.assertEqual(self.not_used(), set(solver))
        said = self.leopard(TINY, *settings, "Time stepping/Engine=general", "Linear solver/Method=async")
        self.assertNotIn("not used", said)
        self.assertEqual(self.not_used(), set())

    def test_cycles_of_the_fused_time_loop(self):
        said = self.leopard(TINY, "Multigrid/Cycle=W", "Multigrid/Full multigrid start=true", "Multigrid/Post smoothing=1")
        self.assertRegex(said, r"time loop: fused, .*, W-cycles on \d+ (grids|levels)")
        self.assertIn("not used: 'Multigrid/Full multigrid start' (a time step has a first guess, from which the fused time loop goes on)\n", said)
        self.assertEqual(self.not_used(), {"Multigrid/Full multigrid start", "Multigrid/Post smoothing"})

    def test_a_schedule_that_the_fused_loop_cannot_do(self):
        for entry in ("Schedule=synchronous", "Schedule=replay", "Two stage=outer"):
            said = self.leopard(TINY, f"Linear solver/{entry}")
            self.assertIn("time loop: general, since the fused one cannot be used: ", said)
            said = self.leopard(TINY, f"Linear solver/{entry}", "Time stepping/Engine=fused", fails=True)
            self.assertIn("'Time stepping/Engine' is fused, but this time loop cannot be used here: ", said)

    def test_of_stationary_problems(self):
        file = FILES / "verification/laplace.prm"
        said = self.leopard(file, "Verification/Refinements=0", "Linear solver/Method=chebyshev", "Linear solver/Preconditioner=none", "Linear solver/Omega=0.7", "Mesh/Radius=2",
                            "Turing/gamma=7", "Time stepping/End time=2", "Linear solver/Relative tolerance=1e-3", "Linear solver/Max iterations=10000", "Linear solver/Largest eigenvalue=2.5",
                            "Linear solver/Smallest eigenvalue=0.01")
        for line in ("not used: 'Linear solver/Omega' ('Linear solver/Method' is chebyshev)", "not used: 'Mesh/Radius' ('Mesh/Domain' is hypercube)",
                     "not used: 'Turing/gamma' (the problem is Laplace)", "not used: 'Time stepping/End time' (the problem is stationary)"):
            self.assertIn(line + "\n", said)
        self.assertEqual(self.not_used("laplace"), {"Linear solver/Omega", "Mesh/Radius", "Turing/gamma", "Time stepping/End time"})

    def test_of_constants(self):
        """What a constant is called says nothing: Schnakenberg has an a of its own."""
        said = self.leopard(TINY, "Turing/Constants=a: 3, end: 2e-3, half: end/2, lost: 1, more: lost", "Time stepping/End time=half", "Time stepping/Step size=half/10")
        self.assertIn("not used: 'Turing/Constants/a' (no expression or number of the run names it; the a of the problem is 'Turing/Schnakenberg a')\n", said)
        self.assertIn("not used: 'Turing/Constants/lost', 'Turing/Constants/more' (no expression or number of the run names it)\n", said)
        self.assertEqual(self.not_used(), {f"Turing/Constants/{name}" for name in ("a", "lost", "more")})
        self.assertIn("not used: 'Turing/Constants/a'", self.leopard(TINY, "Turing/Constants=a: 3", options=["--validate"]))
        self.assertNotIn("not used", self.leopard(TINY, "Turing/Constants=a: 3", "Turing/Schnakenberg a=a/30", options=["--validate"]))

    def test_sweep_over_a_constant_without_use(self):
        said = self.leopard(TINY, "Turing/Constants=q: 30", "Run/Sweep=q: 10, 20", fails=True)
        self.assertIn("'Run/Sweep' varies 'q', but no expression or number of the run names it, so that all runs would be the same", said)
        self.leopard(TINY, "Turing/Constants=q: 30", "Run/Sweep=q: 10, 20", "Turing/gamma=q", options=["--validate"])
        self.leopard(TINY, "Turing/Constants=q: 30", "Run/Sweep=gamma: q, 2*q", options=["--validate"])

    def test_threads_and_ghosts(self):
        file = FILES / "verification/laplace.prm"
        for method, preconditioner, unused in (("direct", "none", True), ("cg", "ssor", True), ("jacobi", "none", True), ("gmres", "async", False), ("async", "none", False),
                                               ("cg", "multigrid", False)):
            self.leopard(file, "Verification/Refinements=0", f"Linear solver/Method={method}", f"Linear solver/Preconditioner={preconditioner}", "Linear solver/Threads=1",
                         "Linear solver/Relative tolerance=1e-3", "Linear solver/Max iterations=10000")
            self.assertEqual("Linear solver/Threads" in self.not_used("laplace"), unused, (method, preconditioner))
        for ranks in (1, 2):
            said = self.leopard(file, "Verification/Refinements=0", "Linear solver/Method=multigrid", "Linear solver/Preconditioner=none", "Multigrid/Wait for ghosts=false", ranks=ranks)
            self.assertEqual("not used: 'Multigrid/Wait for ghosts' (there is one rank)" in said, ranks == 1, said)
        said = self.leopard(file, "Verification/Refinements=0", "Linear solver/Method=cg", "Linear solver/Wait for ghosts=false", ranks=2)
        self.assertIn("not used: 'Linear solver/Wait for ghosts' (async in double precision does not solve)", said)

    def test_of_studies(self):
        self.study("set Study = smoothers\nset Dimension = 3\nsubsection Linear solver\n set Threads = 1\n set Method = direct\nend\nsubsection Smoother study\n set Stencil = 5-point\n"
                   " set Sizes = 15\n set Smoothers = jacobi\n set Repetitions = 1\nend\n")
        self.assertEqual(self.not_used("study"), {"Dimension", "Linear solver/Method"})

    def test_a_sweep_over_what_is_not_used(self):
        said = self.leopard(TINY, "Run/Sweep=Momentum: 0, 0.5")
        self.assertEqual(said.count("warning: run"), 2)
        self.assertIn("'Run/Sweep' varies 'Linear solver/Momentum', which is not used (the fused time loop", said)

    def test_validate_names_what_nobody_uses(self):
        said = self.leopard(TINY, "Turing/Gray-Scott F=0.03", "Linear solver/Momentum=0.5", options=["--validate"])
        self.assertIn("not used: 'Turing/Gray-Scott F' ('Turing/Kinetics' is Schnakenberg)", said)
        self.assertNotIn("Momentum", said)  # the general loop would use it

    def test_the_file_of_the_thesis_says_what_it_runs(self):
        file = FILES / "benchmarks/schnakenberg_thesis.prm"
        head = file.read_text().split("set Problem")[0]
        self.assertIn("fused", head)
        setting = re.search(r'--set "(Time stepping/Engine=general)"', head)[1]
        said = self.leopard(file, "Mesh/Cells=29", "Time stepping/End time=5e-4", "Output/Times=", setting)
        self.assertIn("time loop: general, since it is asked for", said)
        self.assertIn("async-(5)", said)
        said = self.leopard(file, "Mesh/Cells=29", "Time stepping/End time=5e-4", "Output/Times=")
        self.assertIn("time loop: fused", said)
        self.assertNotIn("not used", said)


if __name__ == "__main__":
    import unittest
    unittest.main()
