# SPDX-License-Identifier: Apache-2.0
"""Studies of smoothers from outside: a tiny one from end to end, what must hold mathematically, bad input."""
import json

from program import FILES, ROOT, Program

STENCIL = """set Study = smoothers
subsection Smoother study
  set Stencil     = 3-point
  set Sizes       = 1000
  set Epsilon     = 1e-4
  set Levels      = 2
  set Smoothers   = gauss-seidel, async(k=5, merged=2, block=128), jacobi
  set Repetitions = 2
end
"""
MESH = """set Study = smoothers
set Problem = laplace
subsection Mesh
  set Global refinements = 3
end
subsection Laplace
  set Boundary values = *: 0
  set Source          = 1
end
"""
COLUMNS = ["case", "published", "problem", "epsilon", "unknowns", "levels", "cycle", "smoothing_steps", "smoother", "solver", "backend", "status", "varies",
           "repetitions", "cycles_mean", "cycles_min", "cycles_max", "convergence_factor", "seconds_mean", "seconds_min", "seconds_max",
           "seconds_standard_deviation", "cycles_median", "seconds_median", "seconds_lower_quartile", "seconds_upper_quartile", "seconds_a_cycle", "smoother_seconds_a_cycle", "residual_and_transfers_seconds_a_cycle",
           "coarse_solver_seconds_a_cycle", "copies_seconds_a_cycle", "setup_seconds", "hierarchy_seconds", "memory_bytes", "attainable_residual",
           "winner_reason", "note"]


def cycles(rows, smoother):
    return [float(row["cycles_mean"]) for row in rows if row["smoother"].startswith(smoother)]


class StudyTables(Program):
    def test_a_tiny_study(self):
        rows, history, said = self.study(STENCIL)
        self.assertEqual(list(rows[0]), COLUMNS)
        self.assertEqual([row["smoother"] for row in rows], ["gauss-seidel", "async(k=5, merged=2, block=128)", "jacobi"])
        for row in rows:
            self.assertEqual((row["unknowns"], row["levels"], row["cycle"], row["backend"]), ("1000", "2", "V", "host"))
        for row in rows[:2]:
            self.assertEqual((row["status"], row["repetitions"]), ("converged", "2"))
            self.assertLessEqual(float(row["seconds_min"]), float(row["seconds_mean"]))
            self.assertLessEqual(float(row["seconds_mean"]), float(row["seconds_max"]))
            quartiles = [float(row[name]) for name in ("seconds_min", "seconds_lower_quartile", "seconds_median", "seconds_upper_quartile", "seconds_max")]
            self.assertEqual(quartiles, sorted(quartiles))
            self.assertLess(float(row["convergence_factor"]), 0.3)
            self.assertGreater(float(row["smoother_seconds_a_cycle"]), 0)
            self.assertGreater(float(row["memory_bytes"]), 8 * 1000 * 3)
            residuals = [float(h["relative_residual"]) for h in history if h["smoother"] == row["smoother"] and h["repetition"] == "1"]
            self.assertGreaterEqual(len(residuals), int(float(row["cycles_min"])) + 1)
            self.assertEqual(residuals[0], 1)
            self.assertLessEqual(residuals[-1], 1e-10)
            self.assertGreater(residuals[-2], 1e-10)
        # undamped Jacobi does not smooth the highest frequency
        self.assertNotEqual(rows[2]["status"], "converged")
        self.assertEqual(rows[2]["repetitions"], "1")
        self.assertEqual(sum(bool(row["winner_reason"]) for row in rows), 1)
        self.assertEqual(rows[2]["winner_reason"], "")
        self.assertIn("winner: ", said)
        self.assertIn("winner: ", (self.folder / "output/study" / "study.txt").read_text())
        first = (self.folder / "output/study" / "study.txt").read_text().splitlines()[0]
        self.assertRegex(first, r"^Conclusion: .* is the fastest in 1 of 1 comparison, [0-9.]+ times as fast as the next smoother, (beyond the spread|which is within the spread)\.$")
        self.assertIn(first, said)
        self.assertIn("median (quartiles)", said)
        self.assertNotIn("+-", said)
        run = json.loads((self.folder / "output/study" / "run.json").read_text())
        self.assertEqual(run["conclusion"], first)
        self.assertEqual(run["status"], "finished")
        self.assertEqual(len(run["study"]), 3)
        self.assertIn("commit", run["leopard"])

    def test_lists_are_combined(self):
        rows, _, _ = self.study(STENCIL, "Smoother study/Levels=2, 4", "Smoother study/Smoothing steps=1, 3", "Smoother study/Cycles=V, W", "Smoother study/Epsilon=0.1, 0.01",
                                "Smoother study/Sizes=100, 200", "Smoother study/Solvers=multigrid, cg", "Smoother study/Smoothers=gauss-seidel", "Smoother study/Repetitions=1")
        combinations = {(r["epsilon"], r["unknowns"], r["levels"], r["cycle"], r["smoothing_steps"], r["solver"]) for r in rows}
        self.assertEqual(len(rows), 64)
        self.assertEqual(len(combinations), 64)
        self.assertTrue(all(row["status"] == "converged" for row in rows))
        self.assertEqual(sum(bool(row["winner_reason"]) for row in rows), 8)

    def test_cases_and_meshes(self):
        text = """set Study = smoothers
set Problem = laplace
subsection Laplace
  set Source          = 1
  set Boundary values = *: 0
end
subsection Linear solver
  set Method         = cg
  set Preconditioner = amg
end
subsection Smoother study
  set Smoothers   = async(merged=2), chebyshev(merged=3)
  set Refinements = 4, 5
  set Repetitions = 1
  set Solvers     = multigrid, cg
  set Cases       = Q1, finite differences [Discretization/Method=finite differences] [Refinements=5], Q2 [Discretization/Degree=2], \\
    L-shape [Mesh/Domain=L-shape] [Mesh/Adaptive=true] [Mesh/Adaptive cycles=3] [Refinements=3] [Solvers=cg], \\
    jumps [Laplace/Coefficient=if(x<0.5, 1, 1000)] [Refinements=5] [Solvers=cg]
end
"""
        rows, _, _ = self.study(text)
        self.assertEqual([len([r for r in rows if r["case"] == case]) for case in ("Q1", "finite differences", "Q2", "L-shape", "jumps")], [8, 4, 8, 2, 2])
        for row in rows:
            self.assertEqual(row["status"], "converged", row)
            self.assertLessEqual(float(row["cycles_mean"]), 25, row)
        self.assertEqual([r["unknowns"] for r in rows if r["case"] == "Q2"][::4], ["1089", "4225"])
        adaptive, = {int(r["unknowns"]) for r in rows if r["case"] == "L-shape"}
        self.assertGreater(adaptive, 225)

    def unknowns(self, text, *settings):
        rows, _, _ = self.study(text, "Smoother study/Additional refinements=2", "Smoother study/Smoothers=gauss-seidel", "Smoother study/Repetitions=1", *settings)
        return [int(row["unknowns"]) for row in rows]

    def test_additional_refinements_of_stencils(self):
        self.assertEqual(self.unknowns(STENCIL, "Smoother study/Sizes=24, 49"), [99, 199])

    def test_additional_refinements_of_a_mesh(self):
        self.assertEqual(self.unknowns(MESH), [33**2])

    def test_one_entry_makes_all_cases_smaller(self):
        cases = "Smoother study/Cases=a, b [Sizes=199], c [Stencil=none] [Sizes=] [Refinements=4] [Epsilon=0] [Problem=laplace] [Levels=0]"
        text = MESH + STENCIL.split("\n", 1)[1].replace("1000", "99")
        rows, _, _ = self.study(text, cases, "Smoother study/Additional refinements=-1", "Smoother study/Smoothers=gauss-seidel",
                                "Smoother study/Repetitions=1")
        self.assertEqual([int(row["unknowns"]) for row in rows], [49, 99, 9**2])

    def test_additional_refinements_of_several_meshes(self):
        self.assertEqual(self.unknowns(MESH, "Smoother study/Refinements=2, 4"), [17**2, 65**2])

    def test_cycles_beyond_and_the_command_line_that_has_the_last_word(self):
        rows, history, _ = self.study(STENCIL.replace("end", "set Cases = a [Levels=3], b\nend"), "Smoother study/Smoothers=gauss-seidel", "Smoother study/Cycles beyond=5",
                                      "Smoother study/Levels=2", "Smoother study/Repetitions=1")
        self.assertEqual([row["levels"] for row in rows], ["2", "2"])
        self.assertLess(float(rows[0]["attainable_residual"]), 1e-12)
        self.assertEqual(len([h for h in history if h["case"] == "a"]), int(float(rows[0]["cycles_mean"])) + 6)


class StudyFindings(Program):
    """What section 4.11 of the thesis finds and theory promises, at small sizes."""

    def test_size_does_not_matter(self):
        rows, _, _ = self.study(STENCIL, "Smoother study/Sizes=512, 4096, 20000", "Smoother study/Epsilon=1e-2", "Smoother study/Smoothers=gauss-seidel, async(merged=2)",
                                "Smoother study/Coarse solver=direct")
        for smoother in ("gauss-seidel", "async"):
            found = cycles(rows, smoother)
            self.assertEqual(len(found), 3)
            self.assertLessEqual(max(found) - min(found), 1, smoother)

    def test_async_is_as_good_as_gauss_seidel_and_jacobi_is_not(self):
        rows, _, _ = self.study(STENCIL, "Smoother study/Sizes=2000", "Smoother study/Epsilon=1e-6, 1e-3, 1e-1", "Smoother study/Smoothing steps=1, 2", "Smoother study/Max cycles=40",
                                "Smoother study/Smoothers=gauss-seidel, async(k=5, merged=2), jacobi")
        reference = cycles(rows, "gauss-seidel")
        self.assertEqual(len(reference), 6)
        for gauss_seidel, asynchronous, jacobi in zip(reference, cycles(rows, "async"), cycles(rows, "jacobi")):
            self.assertLessEqual(asynchronous, 1.1 * gauss_seidel)
            self.assertGreater(jacobi, 1.5 * gauss_seidel)

    def test_the_thesis_file(self):
        """The file itself, with small sizes; what is decided of its findings mathematically holds."""
        self.leopard(FILES / "benchmarks/smoothers_thesis_1d.prm", "Smoother study/Sizes=2500, 10000", "Smoother study/Repetitions=1", "Smoother study/Backend=host")
        directory = self.folder / "output/smoothers_thesis_1d"
        findings = [line.split(",") for line in (directory / "study_findings.csv").read_text().split("Findings\n")[1].splitlines()]
        text = (directory / "study.txt").read_text()
        self.assertGreater(len(findings), 20)
        for claim in ("hardly affects convergence", "the size has almost no influence", "gauss-seidel: more smoothing steps reduce the number of cycles"):
            lines = [line for line in text.splitlines() if line.startswith("finding") and claim in line and "omega=1" not in line]
            self.assertTrue(lines, claim)
            for line in lines:
                self.assertIn(": holds: measured", line)
        self.assertIn("0.00398", text, "a printed value of Table 4.11")


class StudyBadInput(Program):
    def rejected(self, *settings, says, text=STENCIL):
        error = self.leopard(self.write("bad.prm", text), *settings, fails=True, timeout=1200)
        for part in [says] if isinstance(says, str) else says:
            self.assertIn(part, error)
        self.assertEqual(error.count("leopard: "), 1, error)
        self.assertFalse((self.folder / "output").exists(), "something was written")

    def test_entries(self):
        for setting, says in (
                ("Smoothers=gaus-seidel", ["'Smoother study/Smoothers'", "did you mean 'gauss-seidel'?"]),
                ("Smoothers=", "'Smoother study/Smoothers' is empty"),
                ("Smoothers=async(k=5", "a ')' for each opening bracket"),
                ("Smoothers=async, async", "has async twice"),
                ("Smoothers=async(blok=5)", "did you mean 'block'?"),
                ("Sizes=", "'Smoother study/Sizes' is empty"),
                ("Sizes=0", "an integer"),
                ("Sizes=1000, 1000", "has 1000 twice"),
                ("Levels=11", ["'Smoother study/Levels' has 11", "nodes a direction has 10", "at most 10"]),
                ("Levels=", "'Smoother study/Levels'"),
                ("Epsilon=-1", "'Smoother study/Epsilon' is '-1'"),
                ("Cycles=X", ["'Smoother study/Cycles' is 'X'", "one of: V | W | F\n"]),
                ("Solvers=gmres", "one of: multigrid | cg\n"),
                ("Tolerance=1e-20", "'Smoother study/Tolerance'"),
                ("Refinements=3", "the stencil none"),
                ("Stencil=none", "'Smoother study/Stencil' is none"),
                ("Cases=A [Lvels=3]", ["case 'A'", "Lvels"]),
                ("Cases=A [Levels=99]", ["case 'A'", "has 99"]),
                ("Cases=A [Levels=2", "a ']' for each opening bracket"),
                ("Additional refinements=-21", "'Smoother study/Additional refinements'"),
                ("Additional refinements=-10", ["'Smoother study/Additional refinements' is -10", "which makes 1000 unknowns a direction none"]),
                ("Published=Figure 4.31", "Figure 4.30")):
            self.rejected("Smoother study/" + setting, says=says)
        self.rejected("Smoother study/Additional refinements=20", "Smoother study/Sizes=4000", says="which makes 4000 unknowns a direction more than 2^31 - 1")
        self.rejected("Smoother study/Stencil=5-point", "Smoother study/Sizes=100000", says="at most 2^31 - 1")
        self.rejected("Smoother study/Stencil=5-point", "Smoother study/Published=Table 4.11", says="expected: the stencil 3-point")
        self.rejected("Study=smothers", says="one of: none | smoothers")

    def test_meshes(self):
        text = MESH
        self.rejected("Smoother study/Additional refinements=-4", says=["'Mesh/Global refinements' is 3", "a sum that is not negative"], text=text)
        self.rejected("Smoother study/Levels=5", says=["'Smoother study/Levels' has 5", "at most 4"], text=text)
        self.rejected("Smoother study/Refinements=2, 3", "Smoother study/Levels=4", says="a mesh with 2 global refinements has 3", text=text)
        self.rejected("Problem=turing", says="depends on time", text=text)
        self.rejected("Problem=reaction-diffusion", says="is not linear", text=text)
        self.rejected("Mesh/Adaptive=true", "Smoother study/Levels=2", says="expected: 0, all levels", text=text)
        self.rejected("Mesh/Adaptive=true", "Smoother study/Cycles=V, W", says="expected: V, for local smoothing", text=text)

    def test_the_linear_solver_which_has_no_use(self):
        """It was refused for its precision, with advice on a method that nobody had asked for."""
        for text, settings in ((MESH, ["Linear solver/Precision=mixed"]), (STENCIL, ["Linear solver/Precision=mixed"]), (MESH, ["Linear solver/Preconditioner=amg", "Linear solver/Method=direct"])):
            self.assertRegex(self.leopard(self.write("unused.prm", text), *settings, options=("--validate",)), f"not used: .*'{settings[0].split('=')[0]}'.* \\(a study of smoothers has solvers of its own\\)")
        self.rejected("Mesh/Adaptive=true", "Linear solver/Precision=mixed", says="but the linear solver is cg with the preconditioner amg (automatic", text=MESH)

    def test_backends(self):
        file = self.write("bad.prm", STENCIL)
        error = self.leopard(file, "Smoother study/Backend=cuda", fails=True)
        self.assertIn("gauss-seidel(backend=host)", error)
        error = self.leopard(file, options=("--resume",), fails=True)
        self.assertIn("cannot be resumed", error)
        error = self.leopard(file, options=("--overwrite",), ranks=2, fails=True)
        self.assertIn("started on 2 ranks", error)
        self.assertFalse((self.folder / "output").exists(), "something was written")

    def test_a_smoother_that_diverges_is_a_row(self):
        rows, _, said = self.study(STENCIL, "Smoother study/Smoothers=async(omega=1.9), gauss-seidel")
        self.assertNotEqual(rows[0]["status"], "converged")
        self.assertIn("level", rows[0]["note"])
        self.assertEqual(rows[1]["status"], "converged")
        self.assertIn("only one that has converged", said)
