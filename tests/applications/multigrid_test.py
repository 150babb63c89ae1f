# SPDX-License-Identifier: Apache-2.0
"""Multigrid in the program: rates, iterations, ranks, forms, smoothers, singular and nonlinear problems, bad input."""
import re

from program import FILES, ROOT, HostProgram, Program

VERIFICATION = FILES / "verification"
TINY = ROOT / "tests/output/tiny_turing.prm"
SYNCHRONOUS = "Linear solver/Schedule=synchronous"


class MultigridRates(Program):
    def test_two_dimensions(self):
        for form in ("stencil", "stored"):
            said = self.check_rate("multigrid_2d", 2, f"Multigrid/Form={form}", most=12)
            self.assertIn(form, said)
        self.check_rate("multigrid_2d", 2, "Discretization/Method=finite elements", most=12)
        self.check_rate("multigrid_2d", 3, "Discretization/Method=finite elements", "Discretization/Degree=2", most=20)

    def test_three_dimensions(self):
        for settings, rate in ((["Discretization/Method=finite differences"], 2), ([], 2), (["Discretization/Degree=2"], 3)):
            self.check_rate("multigrid_3d", rate, *settings, most=10, delta=0.15)  # these meshes are small yet

    def test_variable_and_jumping_coefficients(self):
        self.check_rate("laplace", 2, "Linear solver/Method=multigrid", "Linear solver/Preconditioner=none", most=15)
        self.check_rate("multigrid_jump", 2, most=20)

    def test_adaptive_l_shape_takes_at_most_15_iterations(self):
        for settings in ([], ["Linear solver/Schedule=chaotic"], ["Multigrid/Smoother=damped-jacobi"], ["Discretization/Degree=2", "Mesh/Adaptive cycles=5"]):
            self.leopard(VERIFICATION / "multigrid_l_shape.prm", *settings)
            self.assertLessEqual(max(self.iterations("multigrid_l_shape")), 15, settings)
        self.leopard(VERIFICATION / "adaptive_l_shape.prm", "Mesh/Adaptive cycles=5", "Linear solver/Relative tolerance=1e-11")
        self.leopard(VERIFICATION / "multigrid_l_shape.prm", "Mesh/Adaptive cycles=5", "Linear solver/Relative tolerance=1e-11")
        errors = [float(self.convergence(name)[-1]["l2_error"]) for name in ("adaptive_l_shape", "multigrid_l_shape")]
        self.assertAlmostEqual(errors[0], errors[1], delta=1e-8 * errors[0])

    def test_adaptive_by_cycles_alone(self):
        self.leopard(VERIFICATION / "multigrid_l_shape.prm", "Linear solver/Method=multigrid", "Linear solver/Preconditioner=none")
        self.assertLessEqual(max(self.iterations("multigrid_l_shape")), 25)

    def test_gmsh_mesh(self):
        text = ("set Problem = laplace\nsubsection Laplace\n set Exact solution = sin(x)*exp(y)\n set Boundary values = *: sin(x)*exp(y)\nend\n"
                f"subsection Mesh\n set Domain = file\n set File = {ROOT}/meshes/leopard_pelt.msh\nend\n"
                "subsection Linear solver\n set Method = cg\n set Preconditioner = multigrid\n set Relative tolerance = 1e-11\nend\n"
                "subsection Verification\n set Refinements = 2\nend\n")
        for solver in ("dense", "direct", "cg", "amg"):
            self.leopard(self.write("pelt.prm", text), f"Multigrid/Coarse solver={solver}")
            self.assertAlmostEqual(float(self.convergence("pelt")[-1]["l2_rate"]), 2, delta=0.15)
            self.assertLessEqual(max(self.iterations("pelt")[1:]), 25, solver)


class MultigridOptions(Program):
    def test_cycles_smoothers_and_backends_find_the_same_solution(self):
        errors = []

        def run(entries, *settings, most=25):
            for values, name in self.sweep(VERIFICATION / "multigrid_2d.prm", entries, "Verification/Refinements=2", *settings):
                errors.append(float(self.convergence(name)[-1]["l2_error"]))
                self.assertLessEqual(max(self.iterations(name)), most, (values, settings))

        forms = {"Multigrid/Form": ["stored", "stencil"]}
        run({**forms, "Multigrid/Cycle": ["V", "W", "F"], "Multigrid/Full multigrid start": ["false", "true"]})
        run(forms, "Linear solver/Backend=reference")
        run(forms, "Multigrid/Pre smoothing=1", "Multigrid/Post smoothing=0", most=60)
        run({**forms, "Multigrid/Smoother": ["async", "damped-jacobi", "gauss-seidel", "multicolour-gauss-seidel", "sor", "ssor", "chebyshev", "chebyshev4", "ilu0"]})
        run({**forms, "Multigrid/Coarse solver": ["dense", "direct", "cg", "amg"]}, "Multigrid/Levels=3")
        run(forms, "Multigrid/Levels=3")
        run({"Multigrid/Block shape": ["contiguous", "tiles", "metis"]}, "Multigrid/Form=stored")
        run({"Linear solver/Method": ["cg", "gmres"], "Linear solver/Schedule": ["synchronous", "chaotic", "replay"]}, "Linear solver/Method=cg", "Linear solver/Preconditioner=multigrid")
        self.assertEqual(len(errors), 12 + 2 + 2 + 18 + 8 + 2 + 3 + 6)
        self.assertLess(max(errors) - min(errors), 1e-6 * max(errors))

    def test_log_says_what_is_done(self):
        said = self.leopard(VERIFICATION / "multigrid_2d.prm", "Verification/Refinements=3")
        for text in ("stencil, equal to the matrix", "levels", "cycles", "convergence factor", "asynchronous"):
            self.assertIn(text, said)
        self.assertRegex(said, r"V\(([12]),\1\) multigrid in single precision, smoother async-\(5\)")  # tiles of a GPU move: V(1,1)
        factor = self.run_json("multigrid_2d")["cycles"][-1]["convergence_factor"]
        self.assertGreater(factor, 0)
        self.assertLess(factor, 0.3)
        said = self.leopard(VERIFICATION / "multigrid_jump.prm", "Verification/Refinements=1")
        self.assertRegex(said, r"stored matrices \(no stencil: the coefficient .* varies from")
        for method, schedule, flexible in (("cg", "synchronous", False), ("gmres", "synchronous", False)):
            said = self.leopard(VERIFICATION / "multigrid_2d.prm", "Verification/Refinements=3", f"Linear solver/Method={method}", "Linear solver/Preconditioner=multigrid",
                                f"Linear solver/Schedule={schedule}", "Linear solver/Threads=2", "Multigrid/Precision=double")
            self.assertEqual(f"flexible {method}" in said, flexible, said)
        # a preconditioner that is fixed but not symmetric
        for settings in (["Multigrid/Smoother=gauss-seidel"], ["Multigrid/Pre smoothing=1"]):
            said = self.leopard(VERIFICATION / "multigrid_2d.prm", "Verification/Refinements=3", "Linear solver/Method=cg", "Linear solver/Preconditioner=multigrid",
                                SYNCHRONOUS, *settings)
            self.assertIn("flexible cg", said)


class MultigridProblems(Program):
    def test_pure_neumann(self):
        for method, preconditioner in (("multigrid", "none"), ("cg", "multigrid"), ("gmres", "multigrid")):
            said = self.check_rate("multigrid_neumann", 2, f"Linear solver/Method={method}", f"Linear solver/Preconditioner={preconditioner}", most=20)
            self.assertIn("the one of mean zero", said)
            self.assertNotIn("do not balance", said)
            self.assertAlmostEqual(self.run_json("multigrid_neumann")["cycles"][-1]["u"]["mean"], 0, delta=1e-12)
        said = self.leopard(VERIFICATION / "multigrid_neumann.prm", "Laplace/Source=1 + 5*pi^2*cos(pi*x)*cos(2*pi*y)", "Verification/Refinements=1")
        self.assertIn("do not balance: they add up to 1.000e+00", said)
        self.assertAlmostEqual(float(self.convergence("multigrid_neumann")[-1]["l2_rate"]), 2, delta=0.2)
        for solver in ("direct", "cg", "amg"):
            self.leopard(VERIFICATION / "multigrid_neumann.prm", f"Multigrid/Coarse solver={solver}", "Multigrid/Levels=3")

    def test_pure_neumann_on_adaptive_meshes(self):
        for method, preconditioner in (("multigrid", "none"), ("cg", "multigrid")):
            self.leopard(VERIFICATION / "multigrid_neumann.prm", "Verification/Refinements=0", "Mesh/Adaptive=true", "Mesh/Adaptive cycles=6", f"Linear solver/Method={method}",
                         f"Linear solver/Preconditioner={preconditioner}", "Laplace/Source=1/((x-0.3)^2+(y-0.3)^2+0.01)", "Laplace/Exact solution=")
            self.assertLessEqual(max(self.iterations("multigrid_neumann")), 30)
            last = self.run_json("multigrid_neumann")["cycles"][-1]
            self.assertAlmostEqual(last["u"]["mean"], 0, delta=1e-12)

    def test_newton(self):
        file, steps = FILES / "benchmarks/newton_thesis.prm", []
        for method, preconditioner in (("direct", "none"), ("multigrid", "none"), ("cg", "multigrid"), ("gmres", "multigrid")):
            self.leopard(file, "Mesh/Cells=1", "Mesh/Global refinements=6", f"Linear solver/Method={method}", f"Linear solver/Preconditioner={preconditioner}",
                         "Newton/Forcing=relative tolerance", "Newton/Linear tolerance=1e-8")
            cycle = self.run_json("newton_thesis")["cycles"][0]
            steps.append((cycle["newton_steps"], cycle["u"]["minimum"]))
            if method != "direct":
                self.assertLessEqual(cycle["linear_iterations"], 12 * cycle["newton_steps"])
        for count, minimum in steps[1:]:
            self.assertLessEqual(count, steps[0][0] + 1)
            self.assertAlmostEqual(minimum, steps[0][1], delta=1e-8)

    def test_long_cells(self):
        """Bilinear elements whose edges are 4 : 1: D^-1 A has eigenvalues above 2, and the smoother is damped for it in either form."""
        text = "set Problem = laplace\nsubsection Laplace\n set Source = 1\nend\nsubsection Mesh\n set Domain = box\n set Upper corner = 4,1\n set Global refinements = 6\nend\n"
        for form in ("stencil", "stored"):
            for method, preconditioner, most in (("multigrid", "none", 30), ("cg", "multigrid", 18)):
                self.leopard(self.write("long.prm", text), f"Multigrid/Form={form}", f"Linear solver/Method={method}", f"Linear solver/Preconditioner={preconditioner}")
                self.assertLessEqual(self.iterations("long")[0], most, f"{form} {method}")
        for corner, warns in (("4,1", False), ("20,1", True)):
            said = self.leopard(self.write("long.prm", text), "Linear solver/Method=multigrid", f"Mesh/Upper corner={corner}", options=("--validate",))
            self.assertEqual("warning: the cells' edges are" in said, warns, said)

    def test_fields_whose_reaction_outweighs_the_mass(self):
        """Once the smoothers of the coarse levels diverged, and gmres took thousands of iterations."""
        text = ("set Problem = turing\nsubsection Turing\n set gamma = 2500\n set kappa = 20\n set Schnakenberg a = 0.126779\n set Schnakenberg b = 0.792366\n"
                " set Start from steady state = true\n set Perturbation = 0.02\n set Seed = 2013\nend\nsubsection Mesh\n set Global refinements = 5\nend\n"
                "subsection Linear solver\n set Method = gmres\n set Preconditioner = multigrid\n set Max iterations = 300\nend\n"
                "subsection Time stepping\n set Engine = general\n set Step size = 1e-3\n set End time = 3e-3\nend\n")
        self.leopard(self.write("fields.prm", text), "Output/Log every=1", timeout=1200)
        columns, rows = self.statistics("fields")
        for row in rows:
            self.assertLessEqual(row[columns.index("linear iterations")], 60 * max(row[columns.index("Newton steps")], 1))

    def test_turing_fields_one_by_one(self):
        # steps far beyond what relaxation bears
        settings = ["Time stepping/Step size=0.01", "Time stepping/End time=0.05", "Mesh/Global refinements=6", "Output/Interval=0", "Linear solver/Method=gmres"]
        self.leopard(TINY, *settings, "Linear solver/Method=direct")
        reference = self.statistics("tiny_turing")[1][-1]
        self.leopard(TINY, *settings, "Linear solver/Preconditioner=multigrid")
        rows = self.statistics("tiny_turing")[1]
        for one, two in zip(reference[10:16], rows[-1][10:16]):
            self.assertAlmostEqual(one, two, delta=1e-5)
        for row in rows:
            self.assertLessEqual(row[4], 20 * max(row[3], 1), f"{row[4]} iterations in {row[3]} Newton steps")


class MultigridRanks(Program):
    def test_ranks_agree(self):
        cases = (("multigrid_2d", ["Verification/Refinements=2", "Multigrid/Form=stored"]),
                 ("multigrid_3d", ["Verification/Refinements=1"]),
                 ("multigrid_l_shape", ["Mesh/Adaptive cycles=3", "Linear solver/Relative tolerance=1e-11"]),
                 ("multigrid_l_shape", ["Mesh/Adaptive cycles=3", "Linear solver/Relative tolerance=1e-11", "Linear solver/Method=multigrid", "Linear solver/Preconditioner=none"]),
                 ("multigrid_neumann", ["Verification/Refinements=1"]))
        for name, settings in cases:
            results = []
            for ranks in (1, 3):
                # Jacobi is the same on any number of ranks
                self.leopard(VERIFICATION / f"{name}.prm", "Multigrid/Smoother=damped-jacobi", *settings, ranks=ranks)
                results.append(self.run_json(name)["cycles"][-1])
            # which cells are refined depends on the ranks a little: thresholds are found by bisection over all of them
            adaptive = name == "multigrid_l_shape"
            for result in results[1:]:
                self.assertAlmostEqual(result["unknowns"], results[0]["unknowns"], delta=0.05 * results[0]["unknowns"] if adaptive else 0)
                self.assertLessEqual(abs(result["linear_iterations"] - results[0]["linear_iterations"]), 1, f"{name} {settings}")
                for measure in ("minimum", "maximum", "mean"):
                    self.assertAlmostEqual(result["u"][measure], results[0]["u"][measure], delta=1e-2 if adaptive else 1e-8, msg=f"{name} {settings}")

    def test_asynchronous_smoothers_on_ranks(self):
        for ranks in (3,):
            self.leopard(VERIFICATION / "multigrid_l_shape.prm", "Linear solver/Schedule=chaotic", "Mesh/Adaptive cycles=6", ranks=ranks)
            self.assertLessEqual(max(self.iterations("multigrid_l_shape")), 15)
            for solver in ("dense", "cg", "amg"):
                self.leopard(VERIFICATION / "multigrid_2d.prm", "Verification/Refinements=2", f"Multigrid/Coarse solver={solver}", "Multigrid/Levels=3", ranks=ranks)
                self.assertLessEqual(max(self.iterations("multigrid_2d")), 14, solver)

    def test_ghosts_waited_for_or_not(self):
        cases = (("multigrid_2d", ["Verification/Refinements=2", "Multigrid/Form=stored", "Linear solver/Relative tolerance=1e-10"]),
                 ("multigrid_l_shape", ["Linear solver/Schedule=chaotic", "Mesh/Adaptive cycles=3", "Linear solver/Relative tolerance=1e-10"]))
        for name, settings in cases:
            results = []
            for wait, word in (("true", "; ghosts of the smoother waited for"), ("false", "; ghosts of the smoother not waited for")):
                said = self.leopard(VERIFICATION / f"{name}.prm", *settings, f"Multigrid/Wait for ghosts={wait}", ranks=2)
                self.assertIn(word, said)
                results.append(self.run_json(name)["cycles"])
            self.assertEqual(len(results[0]), len(results[1]))
            adaptive = name == "multigrid_l_shape"  # cells with equal error indicators: rounding decides which are refined
            for waiting, loose in zip(*results):
                self.assertAlmostEqual(waiting["unknowns"], loose["unknowns"], delta=0.05 * waiting["unknowns"] if adaptive else 0)
                # what never arrives costs twice the cycles (see solvers_dealii/loose_ghosts_test.cc)
                self.assertLessEqual(loose["linear_iterations"], 2 * waiting["linear_iterations"] + 4, name)
                for measure in ("minimum", "maximum", "mean"):
                    self.assertAlmostEqual(waiting["u"][measure], loose["u"][measure], delta=1e-2 if adaptive else 1e-8, msg=name)
        said = self.leopard(VERIFICATION / "multigrid_2d.prm", "Verification/Refinements=1", "Multigrid/Form=stored", "Multigrid/Wait for ghosts=false")
        self.assertNotIn("ghosts of the smoother", said, "one rank has none")

    def test_fields_one_by_one_on_ranks(self):
        settings = ["Time stepping/Step size=0.01", "Time stepping/End time=0.03", "Mesh/Global refinements=5", "Output/Interval=0", "Linear solver/Method=gmres"]
        self.leopard(TINY, *settings, "Linear solver/Method=direct")
        reference = self.statistics("tiny_turing")[1][-1]
        for ranks in (3,):
            self.leopard(TINY, *settings, "Linear solver/Preconditioner=multigrid", ranks=ranks)
            rows = self.statistics("tiny_turing")[1]
            for one, two in zip(reference[10:16], rows[-1][10:16]):
                self.assertAlmostEqual(one, two, delta=1e-5)
            for row in rows:
                self.assertLessEqual(row[4], 20 * max(row[3], 1), f"{row[4]} iterations in {row[3]} Newton steps")


class MultigridStencilOnRanks(HostProgram):
    SQUARE, DOUBLE = VERIFICATION / "multigrid_2d.prm", "Linear solver/Precision=double"

    def last(self, file, *settings, ranks):
        """The last cycle of a run, and what was said."""
        said = self.leopard(file, *settings, ranks=ranks)
        return self.run_json(file.stem)["cycles"][-1], said

    def expect_same(self, found, expected, says, delta=1e-9, cycles=1):
        self.assertEqual(found["unknowns"], expected["unknowns"])
        self.assertLessEqual(abs(found["linear_iterations"] - expected["linear_iterations"]), cycles, says)
        for measure in ("minimum", "maximum", "mean"):
            self.assertAlmostEqual(found["u"][measure], expected["u"][measure], delta=delta, msg=says)

    def test_as_on_one_rank_and_as_stored(self):
        cube = self.write("cube.prm", "set Problem = laplace\nset Dimension = 3\nsubsection Laplace\n set Source = 1 + x\n set Boundary values = *: y\nend\n"
                                      "subsection Linear solver\n set Method = multigrid\n set Relative tolerance = 1e-11\nend\n")
        for case, (file, settings) in enumerate((
                (self.SQUARE, ["Mesh/Global refinements=6"]),
                (self.SQUARE, ["Mesh/Global refinements=6", "Discretization/Method=finite elements", "Multigrid/Smoother=damped-jacobi", "Multigrid/Cycle=W"]),
                (self.SQUARE, ["Mesh/Global refinements=6", "Multigrid/Full multigrid start=true"]),
                (self.SQUARE, ["Mesh/Global refinements=6", "Linear solver/Method=cg", "Linear solver/Preconditioner=multigrid"]),
                (cube, ["Mesh/Global refinements=5", "Multigrid/Smoother=damped-jacobi"]))):
            settings = [*settings, "Verification/Refinements=0", self.DOUBLE, "Multigrid/Precision=double"]
            one, _ = self.last(file, *settings, "Multigrid/Form=stencil", ranks=1)
            for ranks in (2, 3, 4) if case == 0 else (3,):
                says = f"{file.stem} {settings} on {ranks} ranks"
                found, said = self.last(file, *settings, "Multigrid/Form=stencil", ranks=ranks)
                self.assertIn(f"stencil on slabs of {ranks} ranks, equal to the matrix", said)
                self.expect_same(found, one, says)
            if case == 0 or file == cube:
                stored, said = self.last(file, *settings, "Multigrid/Form=stored", ranks=2)
                self.assertNotIn("slabs", said)
                self.expect_same(stored, one, f"{file.stem} stored", cycles=3)

    def test_several_levels_on_slabs(self):
        settings = ["Mesh/Global refinements=9", "Verification/Refinements=0"]
        found, said = self.last(self.SQUARE, *settings, ranks=2)
        self.assertIn("2 ranks with slabs of 2 levels, gathered from 127 x 127 nodes on", said)
        one, _ = self.last(self.SQUARE, *settings, self.DOUBLE, ranks=1)
        self.expect_same(found, one, said)

    def test_values_that_change(self):
        """Newton's method: the diagonal varies from row to row and from step to step."""
        file, runs = FILES / "benchmarks/newton_thesis.prm", []
        settings = ["Mesh/Cells=1", "Mesh/Global refinements=6", "Linear solver/Method=multigrid", "Newton/Forcing=relative tolerance", "Newton/Linear tolerance=1e-8",
                    "Reaction-diffusion/alpha=-100", "Reaction-diffusion/beta=20", self.DOUBLE]
        for ranks in (1, 2, 4):
            cycle, said = self.last(file, *settings, "Multigrid/Form=stencil", ranks=ranks)
            self.assertIn("stencil", said)
            runs.append(cycle)
        for cycle in runs[1:]:
            self.assertEqual(cycle["newton_steps"], runs[0]["newton_steps"])
            self.expect_same(cycle, runs[0], "Newton", cycles=cycle["newton_steps"])

    def test_automatic(self):
        said = self.leopard(self.SQUARE, "Verification/Refinements=2", ranks=2)
        self.assertIn("stored matrices (no stencil: slabs of 2 ranks cannot do it: multigrid on slabs: 7 planes in y for 2 ranks)", said)
        self.assertIn("stencil on slabs of 2 ranks", said)
        self.assertIn("multigrid in double precision, which stencils on several ranks have", said)
        self.assertNotIn("single precision does not do", said)
        settings = ["Mesh/Global refinements=5", "Verification/Refinements=0"]
        for given, why in ((["Linear solver/Precision=mixed"], "'Linear solver/Precision' is mixed, and its cycles are in double precision"),
                           (["Linear solver/Method=cg", "Linear solver/Preconditioner=multigrid", "Multigrid/Precision=single"], "'Multigrid/Precision' is single"),
                           (["Multigrid/Smoother=chebyshev"], "the smoother is chebyshev"),
                           (["Multigrid/Coarse solver=amg"], "'Multigrid/Coarse solver' is amg"),
                           (["Linear solver/Backend=reference"], "backend is reference"),
                           (["Multigrid/Levels=1"], "'Multigrid/Levels' is 1")):
            if "chebyshev" in why or "mixed" in why:
                said = self.leopard(self.SQUARE, *settings, *given, ranks=2)
                self.assertRegex(said, r"stored matrices \(no stencil: slabs of 2 ranks cannot do it: .*" + re.escape(why), given)
            error = self.leopard(self.SQUARE, *settings, *given, "Multigrid/Form=stencil", ranks=2, fails=True)
            self.assertIn("'Multigrid/Form' is stencil, but slabs of 2 ranks cannot do it: ", error)
            self.assertIn(why, error)
            self.assertEqual(error.count("leopard: "), 1, error)
        said = self.leopard(VERIFICATION / "multigrid_jump.prm", "Verification/Refinements=1", ranks=2)
        self.assertRegex(said, r"stored matrices \(no stencil: the coefficient .* varies from")
        said = self.leopard(self.SQUARE, *settings, "Multigrid/Levels=2", ranks=2)
        self.assertIn("with slabs of 1 levels, gathered from 15 x 15 nodes", said)

    def test_a_smoother_that_diverges_is_named(self):
        error = self.leopard(self.SQUARE, "Mesh/Global refinements=5", "Verification/Refinements=0", "Multigrid/Smoother=damped-jacobi", "Multigrid/Smoother omega=1.5",
                             "Multigrid/Form=stencil", ranks=2, fails=True)
        for words in ("diverges", "amplifies on level", "by a factor of", "to try:"):
            self.assertIn(words, error)
        self.assertEqual(error.count("leopard: "), 1, error)


class MultigridBadInput(Program):
    def rejected(self, file, *settings, says, ranks=1):
        error = self.leopard(file, *settings, fails=True, ranks=ranks, timeout=1200)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, error)
        self.assertEqual(error.count("leopard: "), 1, error)
        self.assertNotIn("An error occurred in line", error, "deal.II's own message")

    def test_what_the_levels_cannot_be_is_said_before_a_folder_is_made(self):
        """Of a method that is chosen, too: a run that cannot begin leaves nothing, and what no solver uses ends no run."""
        jump = VERIFICATION / "multigrid_jump.prm"
        cases = [(jump, ["Linear solver/Method=cg", "Linear solver/Preconditioner=multigrid", "Multigrid/Form=stencil"], ["'Multigrid/Form' is stencil", "is not one", "varies from place to place"])]
        file = self.write("chosen.prm", "set Problem = laplace\nsubsection Laplace\n set Source = 1\n set Boundary values = *: 0\nend\nsubsection Mesh\n set Global refinements = 4\nend\n")
        for settings, says in ((["Multigrid/Form=stencil", "Discretization/Degree=1", "Laplace/Boundary values=0: 0", "Laplace/Boundary fluxes=1: 1"], ["is not one", "no values are prescribed at the boundary 1"]),
                               (["Multigrid/Levels=9"], ["'Multigrid/Levels' is 9", "has 5 levels"]), (["Multigrid/Form=stencil", "Multigrid/Levels=5"], ["has 4 levels down to one node"])):
            cases.append((file, settings, says))
        for path, settings, says in cases:
            with self.subTest(settings):
                self.rejected(path, *settings, says=says)
                self.invalid([(path, settings, says)])
                self.assertFalse((self.folder / "output").exists(), "a folder was made")
        self.leopard(file, "Linear solver/Method=direct", "Multigrid/Form=stencil", "Multigrid/Levels=9")
        self.assertEqual(len([e for e in self.run_json("chosen")["not_used"] if e["entry"].startswith("Multigrid/")]), 2)
        said = self.leopard(file, "Multigrid/Levels=5")
        self.assertIn("stored matrices (no stencil: its grid has 4 levels down to one node, and 'Multigrid/Levels' is 5)", said)
        # on several ranks, where slabs cannot do what is asked for and levels are stored
        few = self.write("few.prm", file.read_text().replace("set Global refinements = 4", "set Global refinements = 2\n set Cells = 16") + "subsection Linear solver\n set Method = multigrid\nend\n")
        for settings in (["Linear solver/Precision=mixed"], ["Multigrid/Smoother=chebyshev"], ["Multigrid/Coarse solver=amg"]):
            error = self.leopard(few, "Multigrid/Levels=5", *settings, "Run/Directory=none", ranks=2, fails=True)
            for words in ("'Multigrid/Levels' is 5", "has 3 levels of stored matrices, which 2 ranks have with these settings", "expected: at most 3"):
                self.assertIn(words, error)
            self.assertFalse((self.folder / "none").exists(), "a folder was made")
            self.leopard(few, "Multigrid/Levels=5", *settings)
        self.leopard(few, "Multigrid/Levels=5", "Linear solver/Backend=host", ranks=2)
        steps = ["Time stepping/Scheme=ETDRK4", "Linear solver/Method=gmres", "Linear solver/Preconditioner=multigrid", "Multigrid/Form=stored", "Multigrid/Levels=9"]
        self.leopard(TINY, *steps)
        self.assertIn("Multigrid/Levels", [e["entry"] for e in self.run_json(TINY.stem)["not_used"]])

    def test_the_coarse_solver_direct_is_taken(self):
        """It was the dense inverse, which does not bear these 6561 unknowns."""
        self.leopard(VERIFICATION / "multigrid_2d.prm", "Multigrid/Form=stored", "Multigrid/Levels=1", "Multigrid/Coarse solver=direct", "Verification/Refinements=0",
                     "Mesh/Cells=80", "Mesh/Global refinements=0", "Linear solver/Backend=host", "Linear solver/Precision=double")
        self.assertEqual(self.iterations("multigrid_2d"), [1])

    def test_a_mesh_without_levels_is_refused_before_it_is_made(self):
        """Where the coarse solver cannot bear the whole mesh; a smaller one is its own coarsest level, and a stencil has levels of its own."""
        square = "set Problem = laplace\nsubsection Laplace\n set Source = 1\n set Boundary values = *: 0\nend\nsubsection Linear solver\n set Method = cg\n set Preconditioner = multigrid\nend\n"
        n = 70
        nodes = "".join(f"{1 + i + n * j} {i / n} {j / n} 0\n" for j in range(n) for i in range(n))
        cells = "".join(f"{1 + i + (n - 1) * j} 3 2 1 1 {1 + i + n * j} {2 + i + n * j} {2 + i + n * (j + 1)} {1 + i + n * (j + 1)}\n" for j in range(n - 1) for i in range(n - 1))
        self.write("grid.msh", f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{n * n}\n{nodes}$EndNodes\n$Elements\n{(n - 1) ** 2}\n{cells}$EndElements\n")
        file, stored, unrefined = self.write("square.prm", square).name, "Multigrid/Form=stored", "Mesh/Global refinements=0"
        mesh = ["Mesh/Domain=file", "Mesh/File=grid.msh", unrefined]
        says = ["'Linear solver/Preconditioner' is multigrid, but the coarsest level", "'Linear solver/Preconditioner' = aggregation with cg or gmres", "'Mesh/Global refinements' is 0"]
        self.invalid([(file, [stored, unrefined, "Mesh/Cells=64"], [*says, " 4225 unknowns", "direct or amg"]),
                      (file, [stored, unrefined, "Mesh/Cells=17", "Dimension=3"], [*says, " 5832 unknowns"]),
                      (file, [stored, unrefined, "Mesh/Cells=32", "Discretization/Degree=2", "Discretization/Method=finite elements"], [*says, " 4225 unknowns"]),
                      (file, [stored, unrefined, "Mesh/Cells=400", "Multigrid/Coarse solver=direct"], [*says, "direct bears 100000"]),
                      (file, [*mesh, "Multigrid/Precision=double"], [*says, " 4655 unknowns"])])
        self.valid([(file, [stored, unrefined, "Mesh/Cells=63"]), (file, [unrefined, "Mesh/Cells=64"]), (file, [stored, "Mesh/Global refinements=1", "Mesh/Cells=63"]),
                    (file, [*mesh, "Multigrid/Coarse solver=direct"]), (file, [stored, unrefined, "Mesh/Cells=64", "Multigrid/Coarse solver=amg"]),
                    (file, [*mesh, "Linear solver/Preconditioner=aggregation"])])

    def test_contradictions(self):
        square, l_shape = VERIFICATION / "multigrid_2d.prm", VERIFICATION / "multigrid_l_shape.prm"
        for file, settings, says in (
                (square, ["Multigrid/Form=stored", "Multigrid/Levels=9"], ["'Multigrid/Levels' is 9", "has 4 levels"]),
                (square, ["Multigrid/Levels=9"], ["'Multigrid/Levels' is 9", "has 4 levels"]),
                (square, ["Multigrid/Form=stencil", "Multigrid/Levels=4"], ["'Multigrid/Levels' is 4", "has 3 levels down to one node"]),
                (square, ["Multigrid/Pre smoothing=0", "Multigrid/Post smoothing=0"], ["both 0", "at least one smoothing step"]),
                (square, ["Multigrid/Smoother omega=2"], ["below 2"]),
                (square, ["Multigrid/Smoother=gauss-seidel", "Multigrid/Smoother omega=1.2"], ["omega = 0 or 1", "sor"]),
                (square, ["Linear solver/Preconditioner=amg"], ["a preconditioner only with cg or gmres"]),
                (square, ["Linear solver/Method=cg", "Linear solver/Preconditioner=multigrid", "Multigrid/Full multigrid start=true"], ["the method multigrid"]),
                (square, ["Multigrid/Smoother=jacobian"], ["'Multigrid/Smoother' is 'jacobian'", "one of: automatic | async | jacobi"]),
                (VERIFICATION / "multigrid_jump.prm", ["Multigrid/Form=stencil"], ["is not one", "varies from", "stored or automatic"]),
                (VERIFICATION / "multigrid_neumann.prm", ["Multigrid/Form=stencil"], ["is not one"]),
                (VERIFICATION / "multigrid_neumann.prm", ["Linear solver/Method=cg"], ["up to a constant", "multigrid, which finds"]),
                (l_shape, ["Multigrid/Cycle=W"], ["'Multigrid/Cycle' is W", "V-cycle"]),
                (l_shape, ["Multigrid/Form=stencil"], ["'Mesh/Adaptive' is true"]),
                (l_shape, ["Multigrid/Levels=2"], ["does not cover the domain", "at least"]),
                (TINY, ["Linear solver/Method=multigrid"], ["2 fields", "gmres with the preconditioner multigrid"]),
                (FILES / "benchmarks/newton_thesis.prm",
                 ["Mesh/Adaptive=true", "Discretization/Method=finite elements", "Linear solver/Method=multigrid"], ["is not linear"]),
                (square, ["Multigrid/Levels=1", "Mesh/Global refinements=7", "Verification/Refinements=0"], ["the coarsest level of the mesh has 16129 unknowns or more", "'Multigrid/Coarse solver' = dense bears 4096",
                                                                                                                    "'Linear solver/Preconditioner' = aggregation", "'Multigrid/Levels' 1"]),
                (square, ["Multigrid/Wait for ghosts=false", "Multigrid/Smoother=chebyshev"], ["'Multigrid/Wait for ghosts' is false", "'Multigrid/Smoother' is chebyshev", "async"]),
                (square, ["Multigrid/Wait for ghosts=false", "Linear solver/Schedule=replay"], ["'Linear solver/Schedule' is not chaotic", "expected: true, or"]),
                (square, ["Multigrid/Wait for ghosts=false", "Linear solver/Backend=reference"], ["'Multigrid/Wait for ghosts' is false", "reference"]),
                (square, ["Multigrid/Blocks move=true", "Multigrid/Block shape=metis"], ["'Multigrid/Blocks move' is true, but 'Multigrid/Block shape' is metis"]),
                (square, ["Multigrid/Smoother=ssor", "Linear solver/Backend=cuda"], ["the smoother ssor runs on the host", "async, jacobi"])):
            self.rejected(file, *settings, says=says)
        self.rejected(square, "Multigrid/Form=stencil", says=["slabs of 2 ranks cannot do it", "7 planes in y", "one rank, or what slabs can do", "stored or automatic"], ranks=2)
        self.rejected(VERIFICATION / "multigrid_jump.prm", "Multigrid/Form=stencil", says=["is not one", "varies from", "stored or automatic"], ranks=2)
        self.rejected(VERIFICATION / "multigrid_neumann.prm", "Multigrid/Form=stencil", says=["is not one"], ranks=3)
        self.rejected(square, "Multigrid/Form=stored", "Multigrid/Levels=9", says="has 4 levels", ranks=2)
        self.rejected(square, "Multigrid/Form=stored", "Multigrid/Blocks move=true", says="'Multigrid/Blocks move' is true, but the program runs on 2 ranks", ranks=2)

    def test_blocks_that_move(self):
        square, log = VERIFICATION / "multigrid_2d.prm", {}
        for move in ("false", "true"):
            log[move] = self.leopard(square, "Verification/Refinements=1", "Multigrid/Form=stored", "Linear solver/Schedule=synchronous", f"Multigrid/Blocks move={move}")
        self.assertIn("V(2,2)-cycle", log["false"])
        self.assertIn("V(1,1)-cycle", log["true"])
        self.assertIn("blocks that move", log["true"])
        said = self.leopard(square, "Verification/Refinements=1", "Multigrid/Form=stencil", "Multigrid/Blocks move=true")
        self.assertIn("not used: 'Multigrid/Blocks move'", said)
        said = self.leopard(square, "Verification/Refinements=1", "Multigrid/Form=automatic", "Multigrid/Blocks move=true")
        self.assertIn("'Multigrid/Blocks move' are for stored matrices", said)
        said = self.leopard(square, "Verification/Refinements=1", "Multigrid/Smoother=chebyshev", "Multigrid/Blocks move=true")
        self.assertIn("not used: 'Multigrid/Blocks move'", said)

    def test_smoother_that_diverges_is_named_with_its_level(self):
        for form in ("stored", "stencil"):
            self.rejected(VERIFICATION / "multigrid_2d.prm", "Multigrid/Smoother=damped-jacobi", "Multigrid/Smoother omega=1.5", f"Multigrid/Form={form}",
                          says=["diverges", "amplifies on level", "by a factor of", "to try:"])

    def test_missed_tolerance(self):
        square = VERIFICATION / "multigrid_2d.prm"
        self.rejected(square, "Linear solver/Max iterations=2", "Linear solver/Precision=double", says=["has not reached the tolerance", "in 2 iterations: ", "to try:"])
        both = "in 4 iterations, 2 of them in single precision before those in double: "
        self.rejected(square, "Linear solver/Max iterations=2", says=["has not reached the tolerance", both, "to try:"])


if __name__ == "__main__":
    import unittest
    unittest.main()
