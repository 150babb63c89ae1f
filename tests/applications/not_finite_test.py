# SPDX-License-Identifier: Apache-2.0
"""What is not finite, or not solved, is never called a solution: residuals, reactions, error estimates, step sizes, true residuals of linear solvers."""
import re
import subprocess

from program import FILES, ROOT, Program

TINY = ROOT / "tests/output/tiny_turing.prm"


def stationary(f, derivative, *more):
    """-laplace u = f(u) on a small square, from the initial value of the settings, u = 0 on the boundary."""
    return ("set Problem = reaction-diffusion\nsubsection Reaction-diffusion\n set Reaction = expression\n"
            f" set f = {f}\n set Derivative of f = {derivative}\nend\nsubsection Mesh\n set Global refinements = 3\nend\n"
            "subsection Discretization\n set Method = finite differences\nend\nsubsection Linear solver\n set Method = direct\nend\n" + "\n".join(more))


def one_species(reaction, *more):
    return ("set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Steady state = none\n set Species = u\n"
            f" set Reaction u = {reaction}\n set Diffusion u = 1\n set Initial value u = 1\nend\nsubsection Mesh\n set Global refinements = 2\nend\n"
            "subsection Discretization\n set Method = finite differences\nend\nsubsection Output\n set Log every = 1000000\nend\n" + "\n".join(more))


class InfiniteResidual(Program):
    def test_of_a_time_step(self):
        """u^2 / v with v = 0."""
        file = self.write("spots.prm", "set Problem = turing\nsubsection Turing\n set Kinetics = Gierer-Meinhardt\n set Initial value u = 1\n set Initial value v = 0\nend\n"
                          "subsection Mesh\n set Global refinements = 3\nend\nsubsection Linear solver\n set Method = gmres\n set Preconditioner = amg\nend\n")
        says = ["' of the entry 'Turing/Kinetics' is inf at (0, 0) and t = 0, where u = 1, v = 0, the values that the run begins with", "expected: a finite number everywhere"]
        for ranks in (1, 2):
            self.failed_run(file, ranks=ranks, says=says)
            self.assertEqual(self.checkpoints("spots"), [])
        # and with the time loop of the library
        self.failed_run(file, "Linear solver/Method=async", "Linear solver/Preconditioner=none", "Time stepping/Engine=fused", says=says)

    def test_of_a_reaction_that_loses_its_value(self):
        """sqrt(v - 0.2), where v falls below 0.2 at one corner at t = 0.01, or is below at the start: entry, place and values, and no advice on solvers."""
        file = self.write("root.prm", "set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Species = u, v\n set Steady state = none\n"
                          " set Reaction u = 10*(0.1 - u + sqrt(v - 0.2)*u)\n set Reaction v = -1\n set Diffusion u = 1\n set Diffusion v = 1e-6\n set Initial value u = 1\n"
                          " set Initial value v = if(x > 0.9, if(y > 0.9, 0.21, 1), 1)\nend\nsubsection Mesh\n set Global refinements = 3\nend\n"
                          "subsection Time stepping\n set Step size = 8e-4\n set End time = 0.1\nend\n")
        reaction = "the expression '10*(0.1 - u + sqrt(v - 0.2)*u)' of the entry 'Turing/Reaction u' is nan at (1, 1) and t = 0"
        fixed = "Time stepping/Step control=fixed"
        for settings in (["implicit Euler"], ["BDF2"], ["BDF3"], ["SBDF2"], ["ETDRK4"], ["BDF2", fixed], ["ETDRK4", fixed], ["BDF2", "Time stepping/Engine=general"], ["BDF2", "Time stepping/Engine=general", fixed]):
            with self.subTest(settings):
                scheme = ["Time stepping/Scheme=" + settings[0], *settings[1:]]
                error = self.failed_run(file, *scheme, says=["of the entry 'Turing/Reaction u' is nan", "at (1, 1) and t = 0.01", "last good state: step"])
                self.assertRegex(error, r"v = 0\.(199|2\b)")
                self.assertTrue(error.startswith("leopard: the "), error)
                self.assertNotRegex(error, "underflow|larger|linear solver|gmres")
                self.assertAlmostEqual(float(re.search(r"last good state: step \d+, time ([0-9.e-]+)", error)[1]), 0.01, delta=0.001)
                if len(settings) == 1 or settings[1] != fixed:
                    error = self.failed_run(file, *scheme, "Turing/Initial value v=if(x > 0.9, if(y > 0.9, 0.1, 1), 1)", says=[reaction + ", where u = 1, v = 0.1, the values that the run begins with"])
                    self.assertNotIn("last good state", error)

    def test_of_what_depends_on_time(self):
        """An expression that is not finite from t = 0.005 on."""
        file = self.write("time.prm", one_species("0*u", "subsection Time stepping\n set End time = 0.01\n set Step size = 2e-3\nend\n"))
        for entry in ("Source u", "Boundary values u", "Boundary fluxes u"):
            text = ("0: " if "Boundary" in entry else "") + "1 + sqrt(0.005 - t)"
            for control in ("fixed", "error-controlled"):
                error = self.failed_run(file, f"Time stepping/Step control={control}", f"Turing/{entry}={text}",
                                        says=["the expression '1 + sqrt(0.005 - t)' of the entry 'Turing/" + entry, "is nan at (0, 0) and t = 0.00", "to try: an expression that has a finite value there"])
                self.assertNotRegex(error, "underflow|a larger|linear solver")

    def test_of_a_stationary_problem(self):
        for f, derivative in (("1/u", "-1/u^2"), ("log(u)", "1/u"), ("-1/u", "1/u^2")):
            for line_search in ("true", "false"):
                self.failed_run(self.write("at_zero.prm", stationary(f, derivative)), f"Newton/Line search={line_search}",
                             says=["the residual is not finite: that of u at (", "where u = 0", "to try: another 'Initial value'"])

    def test_of_errors(self):
        """Against an exact solution that has a pole on the boundary, at nodes alone; and of what is squared."""
        file = FILES / "verification/laplace.prm"
        source = ["Laplace/Source=1", "Laplace/Boundary values=*: 0", "Mesh/Lower corner=0", "Discretization/Degree=1"]
        for ranks in (1, 2):
            for exact in ("1/x", "1e200", "log(x - 0.3)"):
                self.failed_run(file, *source, f"Laplace/Exact solution={exact}", ranks=ranks, says=["against the exact solution of u, the expression '" + exact, "'Laplace/Exact solution", "is not finite at ("])

    def test_of_pictures(self):
        """They hold single precision."""
        file = self.write("large.prm", one_species("0*u", "subsection Time stepping\n set End time = 0.002\n set Step size = 0.001\n set Step control = fixed\nend\n"))
        said = self.leopard(file, "Turing/Initial value u=1e100")
        self.assertEqual(said.count("warning: |u| is up to 1e+100 at time 0: the files for ParaView hold numbers in single precision"), 1, said)
        self.assertNotIn("the files for ParaView hold", self.leopard(file, "Turing/Initial value u=1e30"))
        both = self.leopard(file, "Turing/Species=u, v", "Turing/Reaction v=0*v", "Turing/Diffusion v=1", "Turing/Initial value u=1e100", "Turing/Initial value v=1e101")
        self.assertEqual((both.count("warning: |u| is up to 1e+100"), both.count("warning: |v| is up to 1e+101")), (1, 1), both)

    def test_of_derivatives(self):
        self.failed_run(self.write("root.prm", stationary("1 + sqrt(u)", "1/(2*sqrt(u))")), says=["a derivative of the reaction is not finite", "the derivative by u of the expression '1 + sqrt(u)' of the entry 'Reaction-diffusion/f' is inf at ("])

    def test_squares_that_overflow(self):
        """exp(700) is a number, its square is none: Newton's method, which takes u down by one in a step, has to do its steps."""
        file = self.write("steep.prm", stationary("-exp(u)", "-exp(u)") + "subsection Reaction-diffusion\n set Initial value = 700\n set Source = 1\nend\n")
        for settings in ([], ["Newton/Relative tolerance=0"]):
            self.failed_run(file, *settings, says=["Newton's method does not converge"])
            self.leopard(file, *settings, "Newton/Max steps=1000")
            cycle = self.run_json("steep")["cycles"][0]
            self.assertGreater(cycle["newton_steps"], 600)
            self.assertLess(cycle["residual"], 1e-10 if settings else 1e-2)  # at the first guess 1e302
            self.assertLess(abs(cycle["u"]["maximum"]), 0.1)


class Lengths(Program):
    def test_whose_squares_are_no_numbers(self):
        for settings, says in ((["Mesh/Upper corner=1e300"], "'Mesh/Upper corner' is 1e+300"), (["Mesh/Lower corner=-1e160"], "'Mesh/Lower corner' is -1e+160"),
                               (["Mesh/Upper corner=1e-200"], "'Mesh/Upper corner' - 'Lower corner' is 1e-200"),
                               (["Mesh/Domain=ball", "Discretization/Method=finite elements", "Mesh/Radius=1e300"], "'Mesh/Radius' is 1e+300"),
                               (["Mesh/Domain=ball", "Discretization/Method=finite elements", "Mesh/Radius=1e-200"], "'Mesh/Radius' is 1e-200")):
            error = self.leopard(TINY, *settings, fails=True, timeout=1200)
            self.assertIn(says + "\n  expected: lengths from 1e-50 to 1e50", error)
            self.assertEqual(error.count("leopard: "), 1, error)
        text = (ROOT / "tests/meshes/square_triangles_22.msh").read_text()
        self.write("far.msh", text.replace("\n1 0 0 0\n", "\n1 -1e300 0 0\n", 1))
        self.assertNotEqual((self.folder / "far.msh").read_text(), text)
        error = self.leopard(TINY, "Mesh/Domain=file", f"Mesh/File={self.folder}/far.msh", "Discretization/Method=finite elements", fails=True, timeout=1200)
        self.assertIn("finite coordinates up to 1e50", error)


class KnownSolutions(Program):
    """Conditions of the file that are not those of its exact solution."""
    def warned(self, *settings, ranks=1):
        return self.leopard(FILES / "verification/laplace.prm", "Laplace/Coefficient=1", "Verification/Refinements=0", "Mesh/Global refinements=3", *settings, ranks=ranks)

    def test_contradictions_are_said_before_the_solve(self):
        for ranks in (1, 2):
            said = self.warned("Laplace/Exact solution=1 + x*y", "Laplace/Boundary values=*: 1 + x*y + 0.25*x", "Mesh/Lower corner=0", "Mesh/Upper corner=1", ranks=ranks)
            found = re.search(r"warning: 'Laplace/Boundary values' contradict 'Laplace/Exact solution': most of all they are (\S+) where it is (\S+), at \(1, (\S+), 0\), boundary id 1", said)
            self.assertIsNotNone(found, said)
            self.assertAlmostEqual(float(found[1]) - float(found[2]), 0.25, delta=1e-5)
            self.assertLess(said.index("contradict"), said.index("cycle 0"))
        said = self.warned("Laplace/Exact solution=1 + x*y", "Laplace/Boundary values=0: 1 + x*y", "Laplace/Boundary fluxes=1: y; 2: 0.5 - x", "Mesh/Lower corner=0", "Mesh/Upper corner=1")
        self.assertRegex(said, r"warning: 'Laplace/Boundary fluxes' contradict .*: most of all a du/dn is 0 where that of the solution is 0\.9\d*, at \(0\.9\d*, 1, 0\), boundary id 3, for which no condition is given")

    def test_fluxes_of_problems_in_time(self):
        """They are zero, whatever the exact solution; each field and a second time are looked at."""
        text = ("set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Species = u, v\n set Reaction u = 0\n set Reaction v = 0\n set Diffusion u = 1\n set Diffusion v = 1\n"
                " set Steady state = none\n set Exact solution u = {u}\n set Exact solution v = {v}\n set Initial value u = {u0}\n set Initial value v = {v0}\nend\n"
                "subsection Mesh\n set Global refinements = 2\nend\nsubsection Time stepping\n set Step control = fixed\n set Step size = 1e-3\n set End time = 2e-3\nend\n")
        good = "exp(-t)*cos(pi*x) + 2"
        for u, v, u0, v0, says in ((good, "1 + exp(-t)*x", "cos(pi*x) + 2", "1 + x", "the zero boundary fluxes contradict 'Turing/Exact solution v': most of all a du/dn is 0 where that of the solution is "),
                                   ("1 + t*x", good, "1", "cos(pi*x) + 2", "'Turing/Exact solution u'"), (good, good, "cos(pi*x) + 2", "cos(pi*x) + 2", None)):
            file = self.write("flux.prm", text.format(u=u, v=v, u0=u0, v0=v0))
            for settings in ((), ("Verification/Refinements=1",), ("Verification/Refinements=1", "Verification/Refine=time")):
                said = self.leopard(file, *settings)
                self.assertEqual(said.count("contradict"), 0 if says is None else 1, said)
                self.assertIn(says or "", said)
        for file in ("turing_space_order", "turing_time_order", "time_order"):
            self.assertNotIn("contradict", self.leopard(FILES / f"verification/{file}.prm", "Verification/Refinements=0", "Mesh/Global refinements=3", "Time stepping/End time=1e-2",
                                                        "Time stepping/Step size=5e-3"))

    def test_what_agrees_is_not_called_a_contradiction(self):
        for settings in ([], ["Laplace/Exact solution=1 + x*y", "Laplace/Boundary values=0: 1; 1: 1 + y", "Laplace/Boundary fluxes=2: -x; 3: x", "Mesh/Lower corner=0", "Mesh/Upper corner=1"],
                         ["Laplace/Exact solution=sin(pi*x)*sin(pi*y)", "Laplace/Boundary values=*: 0", "Mesh/Lower corner=0", "Mesh/Upper corner=1"],
                         ["Laplace/Exact solution=y^3", "Laplace/Boundary values=0: y^3; 1: y^3; 3: 1", "Mesh/Lower corner=0", "Mesh/Upper corner=1"],
                         ["Laplace/Exact solution=300 + cos(pi*y)", "Laplace/Boundary values=0: 300 + cos(pi*y); 1: 300 + cos(pi*y)", "Laplace/Coefficient=1e8",
                          "Mesh/Lower corner=0", "Mesh/Upper corner=1"],
                         ["Laplace/Exact solution=x^2 + y^2", "Laplace/Boundary values=*: 1", "Mesh/Domain=ball", "Discretization/Method=finite elements"]):
            self.assertNotIn("contradict", self.warned(*settings), settings)


class FarFirstGuess(Program):
    """The residual of -u^3 falls by the relative tolerance, 1e-8, when u has fallen to 2e-3 of what it was, and is far from any solution there."""

    def test_of_a_stationary_problem(self):
        file = self.write("cubic.prm", stationary("1 - u^3", "-3*u^2") + "subsection Reaction-diffusion\n set Initial value = 1e6\nend\n")
        for ranks in (1, 2):
            self.failed_run(file, says=["Newton's method does not converge"], ranks=ranks)
            self.leopard(file, "Newton/Max steps=100", ranks=ranks)
            self.assertLess(self.run_json("cubic")["cycles"][0]["u"]["maximum"], 0.1)

    def test_a_solution_that_is_zero(self):
        """There the residual is never small against the unknowns."""
        file = self.write("zero.prm", stationary("-u", "-1") + "subsection Reaction-diffusion\n set Initial value = 1\nend\n")
        self.leopard(file)
        self.assertLessEqual(self.run_json("zero")["cycles"][0]["newton_steps"], 2)

    def test_of_a_time_step(self):
        """u + u^3 = 1e6 at u = 99.99667."""
        file = self.write("cube.prm", one_species("-u^3", "subsection Time stepping\n set Scheme = implicit Euler\n set Step control = fixed\n set Step size = 1\n set End time = 1\nend\n"))
        for engine in ("fused", "general"):
            for domain in ("hypercube", "ball"):
                settings = ["Turing/Initial value u=1e6", f"Time stepping/Engine={engine}", f"Mesh/Domain={domain}", "Discretization/Method=automatic"]
                self.leopard(file, *settings, "Newton/Max steps=60")
                measures = {measure["name"]: measure["value"] for measure in self.run_json("cube")["measures"]}
                self.assertAlmostEqual(measures["maximum of u"], 99.99667, delta=1e-3, msg=f"{engine} {domain}")
                self.failed_run(file, *settings, "Newton/Max steps=18", says=["Newton's method does not converge", "last good state: step 0"])


class Scale(Program):
    def test_solutions_are_those_of_scaled_sources(self):
        text = "set Problem = laplace\nsubsection Laplace\n set Source = {}\nend\nsubsection Mesh\n set Global refinements = 3\nend\nsubsection Discretization\n set Method = finite differences\nend\n"
        for method in ("direct", "cg", "gmres", "async", "multigrid"):
            maxima = []
            for source in ("1", "1e200", "1e-200"):
                self.leopard(self.write("scale.prm", text.format(source)), f"Linear solver/Method={method}", "Linear solver/Relative tolerance=1e-10")
                maxima.append(self.run_json("scale")["cycles"][0]["u"]["maximum"] / float(source))
            for maximum in maxima:
                self.assertAlmostEqual(maximum / maxima[0], 1, delta=1e-7, msg=f"{method} {maxima}")


class FailedSteps(Program):
    def test_a_reaction_that_is_not_finite_at_the_new_values(self):
        """u' = -sqrt(u) from 1 is zero at t = 2; a step that leads below zero must not be accepted, as the next one could not be made."""
        file = self.write("root.prm", one_species("-sqrt(u)", "subsection Time stepping\n set Scheme = SBDF2\n set End time = 4\nend\n"))
        for settings in (["Time stepping/Step control=fixed", "Time stepping/Step size=0.3"], ["Time stepping/Step size=0.3", "Time stepping/Error tolerance=1"]):
            for engine in ("general", "fused"):
                self.failed_run(file, *settings, f"Time stepping/Engine={engine}", says=["last good state"])
                last = self.checkpoints("root")[-1]
                self.assertGreater(last, 2)
                self.assertGreaterEqual(min(row[10] for row in self.statistics("root")[1]), 0, f"{settings} {engine}")
                if len(settings) == 2 and "fixed" in settings[0]:
                    # the saved state is one from which the run can go on
                    self.leopard(file, *settings, "Time stepping/Negative values=clip", options=["--resume"])
                    rows = self.statistics("root")[1]
                    self.assertGreaterEqual(min(row[10] for row in rows), 0, f"{settings} {engine}")
                    self.assertGreater(rows[-1][1], 3.8)

    def test_a_source_that_is_not_finite(self):
        """A step beyond t = 0.05 is rejected until steps are too small, and then it is said why."""
        error = self.failed_run(FILES / "verification/time_order.prm", "Verification/Refinements=0", "Turing/Source u=if(t > 0.05, 1/(t-t), 0)", "Time stepping/Step control=error-controlled", "Time stepping/Step size=0.01",
                             says=["of the entry 'Turing/Source u' is inf at (", "and t = 0.05, in the steps from time 0.05, however short they are", "last good state"])
        self.assertAlmostEqual(float(re.search(r"last good state: step \d+, time ([0-9.e-]+)", error)[1]), 0.05, delta=1e-6)


class StepSizes(Program):
    def test_without_a_smallest_step_the_run_ends(self):
        """u' = u^2 is infinite at t = 1: steps become shorter than what the time can resolve."""
        file = self.write("pole.prm", one_species("u^2", "subsection Time stepping\n set Smallest step = 0\n set End time = 2\n set Blow-up factor = 1e300\nend\n"))
        for engine in ("general", "fused"):
            for scheme in ("implicit Euler", "BDF2", "SBDF2"):
                try:
                    error = self.failed_run(file, f"Time stepping/Engine={engine}", f"Time stepping/Scheme={scheme}", timeout=1200)
                except subprocess.TimeoutExpired:
                    self.fail(f"{engine}, {scheme} does not end")
                self.assertRegex(error, "too small to advance the time|is not finite")
                self.assertIn("last good state", error)

    def test_no_step_is_below_the_smallest_one(self):
        """u' = -sqrt(u) is zero at t = 0.064: steps that are accepted become shorter and shorter on the way there. A last step may be short."""
        file = self.write("shorter.prm", one_species("-sqrt(u)",
                                                     "subsection Time stepping\n set Scheme = implicit Euler\n set Step size = 1e-4\nend\n"))
        for engine in ("general", "fused"):
            for smallest in ("1e-12", "1e-7"):
                error = self.failed_run(file, f"Time stepping/Engine={engine}", f"Time stepping/Smallest step={smallest}", "Turing/Initial value u=1e-3", says=["last good state"])
                self.assertRegex(error, f"below 'Time stepping/Smallest step' = {float(smallest):g}|the expression '-sqrt.u.' of the entry 'Turing/Reaction u' is nan")  # what is met first
                self.assertGreaterEqual(self.statistics("shorter")[1][-1][2], float(smallest), engine)
            self.leopard(file, f"Time stepping/Engine={engine}", "Time stepping/Smallest step=2e-6", "Time stepping/Step control=error-controlled", "Time stepping/Error tolerance=1e-2",
                         "Time stepping/End time=2.00001e-4")

    def test_a_fixed_step_longer_than_the_run_is_refused(self):
        for settings, says in ((["Time stepping/Step size=0.01"], "'Time stepping/Step size' is 0.01, longer than the whole run, 'End time' = 0.003"),
                               (["Time stepping/Step control=multiple of h^2", "Time stepping/Step factor=10"], "'Time stepping/Step factor' times h^2 makes a step of 0.0390625, longer")):
            self.assertIn(says, self.leopard(TINY, *settings, fails=True))
        self.leopard(TINY, "Time stepping/Step size=0.003")
        self.assertEqual(self.run_json("tiny_turing")["time_loop"]["steps"], 1)

    def test_the_step_that_failed_is_named(self):
        error = self.leopard(TINY, "Time stepping/Engine=fused", "Time stepping/Step control=error-controlled", "Time stepping/Smallest step=1e-5", "Newton/Max steps=1",
                             "Newton/Relative tolerance=1e-14", "Newton/Absolute tolerance=0", "Newton/Error fraction=0", "Turing/Perturbation=0.5", fails=True)
        found = re.search(r"the step size underflows, to (\S+), below 'Time stepping/Smallest step' = 1e-05, in the step from time 0 with step size (\S+)", error)
        self.assertIsNotNone(found, error)
        self.assertLess(float(found[1]), 1e-5)
        self.assertAlmostEqual(float(found[2]), 4 * float(found[1]), delta=0.01 * float(found[2]))


class TrueResidual(Program):
    """Krylov methods know their residual by recursion, direct solvers not at all."""

    def test_success_is_a_residual_below_the_tolerance(self):
        text = "set Problem = helmholtz\nsubsection Helmholtz\n set Source = x\nend\nsubsection Mesh\n set Global refinements = 5\nend\n"
        for method, preconditioner in (("cg", "none"), ("cg", "amg"), ("gmres", "jacobi"), ("direct", "none")):
            for tolerance in (1e-8, 1e-12, 1e-13, 1e-14):
                command = self.command(self.write("true.prm", text), f"Linear solver/Method={method}", f"Linear solver/Preconditioner={preconditioner}",
                                       f"Linear solver/Relative tolerance={tolerance}", "Linear solver/Max iterations=3000", options=["--overwrite"])
                result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=1200)
                what = f"{method} {preconditioner} {tolerance}: {result.stdout[-300:]}{result.stderr}"
                if result.returncode != 0:
                    self.assertIn("has not reached the tolerance", result.stderr, what)
                    self.assertIn("the goal is", result.stderr, what)
                    self.assertLess(tolerance, 1e-11, what)
                    continue
                first, last = re.search(r"residual (\S+) -> (\S+)", result.stdout).groups()
                if "is what rounding errors leave" in result.stdout:
                    self.assertLess(tolerance, 1e-11, what)
                    self.assertLessEqual(float(last), 1e-12 * float(first), what)
                else:
                    self.assertLessEqual(float(last), 1.002 * tolerance * float(first), what)


if __name__ == "__main__":
    import unittest
    unittest.main()
