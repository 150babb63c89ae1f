# SPDX-License-Identifier: Apache-2.0
"""Files that leave solver and discretization to the program, and what is said where a solver that was asked for fails."""
import re

from program import ROOT, HostProgram, Program

TINY = ROOT / "tests/output/tiny_turing.prm"


def problem(name, *lines, refinements=5):
    return f"set Problem = {name.lower()}\nsubsection {name}\n" + "".join(f" set {line}\n" for line in lines) + f"end\nsubsection Mesh\n set Global refinements = {refinements}\nend\n"


LAPLACE = problem("Laplace", "Source = 1")


class Defaults(Program):
    def run_default(self, text, *settings, solver, iterations):
        """Runs a file without a method; checks what was chosen, that it is said with its reason, and that few iterations suffice."""
        said = self.leopard(self.write("default.prm", text), *settings, timeout=1200)
        report = self.run_json("default")["linear_solver"]
        self.assertEqual((report["method"], report["preconditioner"]), solver)
        self.assertTrue(report["automatic"])
        name = solver[0] + ("" if solver[1] == "none" else " with the preconditioner " + solver[1])
        self.assertIn(f"linear solver: {name} (automatic: {report['why']})\n", said)
        self.assertLessEqual(max(self.iterations("default")), iterations, said)
        return said

    def test_linear_problems(self):
        multigrid, amg = ("cg", "multigrid"), ("cg", "amg")
        self.run_default(problem("Laplace", "Source = 1", refinements=8), solver=multigrid, iterations=8)  # once 10000 iterations, and then failure
        self.run_default(LAPLACE, "Dimension=3", "Mesh/Global refinements=3", solver=multigrid, iterations=8)
        for delta in (0, 1000, 1e6):
            self.run_default(problem("Helmholtz", "Source = 1", f"Delta = {delta}"), solver=multigrid, iterations=8)
        self.run_default(LAPLACE, "Laplace/Coefficient=if(sin(40*x)*sin(40*y) < 0, 1, 10000)", solver=amg, iterations=40)
        self.run_default(LAPLACE, "Mesh/Domain=box", "Mesh/Upper corner=4,1", solver=amg, iterations=60)  # cells on which multigrid fails
        self.run_default(LAPLACE, "Discretization/Degree=2", solver=amg, iterations=40)
        self.run_default(LAPLACE, "Mesh/Domain=L-shape", "Mesh/Global refinements=2", "Mesh/Adaptive=true", "Mesh/Adaptive cycles=4", solver=amg, iterations=20)
        self.run_default(LAPLACE, "Mesh/Domain=ball", "Mesh/Global refinements=3", solver=amg, iterations=30)
        self.run_default(problem("Helmholtz", "Source = x"), "Mesh/Domain=sphere", "Mesh/Global refinements=3", solver=amg, iterations=30)
        self.run_default(LAPLACE, "Mesh/Cells=30", "Mesh/Global refinements=0", solver=amg, iterations=20)  # no levels, no small one
        self.run_default(problem("Laplace", "Source = cos(pi*x)", "Boundary values ="), solver=multigrid, iterations=10)

    def test_scheme(self):
        """Noise has the one whose order with noise is known; one that is asked for is taken."""
        fixed = ["Time stepping/Step control=fixed", "Time stepping/Step size=0.01", "Time stepping/End time=0.03"]
        for settings, scheme in ((["Time stepping/Step control=error-controlled"], "BDF2 (automatic)"), (fixed, "BDF2 (automatic)"), (fixed + ["Turing/Noise u=0.01"], "implicit Euler (automatic)"),
                                 (["Time stepping/Scheme=SBDF2"], "SBDF2"), (fixed + ["Time stepping/Scheme=implicit Euler"], "implicit Euler")):
            with self.subTest(settings):
                self.assertRegex(self.leopard(TINY, "Time stepping/Scheme=automatic", "Time stepping/End time=0.01", *settings), rf"time: to t = \S+ by {re.escape(scheme)}, ")

    def test_newton(self):
        quadratic = problem("Reaction-diffusion", "Source = 2")
        self.run_default(quadratic, solver=("gmres", "multigrid"), iterations=15)
        self.run_default(quadratic, "Mesh/Domain=ball", "Mesh/Global refinements=3", solver=("gmres", "amg"), iterations=40)
        growing = problem("Reaction-diffusion", "Reaction = expression", "f = 6*exp(u)", "Derivative of f = 6*exp(u)")
        self.run_default(growing, solver=("gmres", "multigrid"), iterations=15)  # f' is below the least eigenvalue of diffusion, 2 pi^2
        self.run_default(quadratic, "Newton/Forcing=fixed iterations", solver=("async", "none"), iterations=3000)

    def test_where_a_reaction_is_judged(self):
        """Its derivative is positive where the program once did not look: it looked at two points."""
        bump = "3*exp(-200*((x-0.75)^2+(y-0.25)^2))"
        judged = problem("Reaction-diffusion", "Reaction = expression", "f = 100*u^3", "Derivative of f = 300*u^2")
        place = problem("Reaction-diffusion", "Reaction = expression", f"f = 300*u*{bump}", f"Derivative of f = 300*{bump}")
        cases = []
        for text, settings in ((judged, [f"Reaction-diffusion/Initial value={bump}"]),
                               (judged, ["Reaction-diffusion/Exact solution=1.5*sin(pi*x)*sin(pi*y)"]),
                               (judged, ["Reaction-diffusion/Initial value=0.2", "Mesh/Upper corner=3"]),  # a large domain, on which diffusion does less
                               (place, [])):
            cases.append((self.write(f"{len(cases)}judged.prm", text), settings))
        cases.append((self.write("judged.prm", judged), ["Reaction-diffusion/Initial value=0.2*sin(pi*x)"]))
        *small, said = self.valid(cases)
        for each in small:
            self.assertIn("linear solver: direct (automatic: the reaction may make the matrix indefinite, and the mesh is small)", each)
        self.assertIn("linear solver: gmres with the preconditioner multigrid (automatic: ", said)

    def test_validation_says_what_will_be_chosen(self):
        for text, settings in ((LAPLACE, []), (problem("Reaction-diffusion", "Source = 2"), []), (LAPLACE, ["Mesh/Domain=ball", "Mesh/Global refinements=2"])):
            file = self.write("chosen.prm", text)
            valid, ran = self.leopard(file, *settings, options=("--validate",)), self.leopard(file, *settings)
            for line in ran.splitlines():
                if line.startswith(("linear solver: ", "discretization: ")):
                    self.assertIn(line + "\n", valid)
            self.assertIn("\nlinear solver: ", valid)
        general, controlled = "Time stepping/Engine=general", ["Time stepping/Step control=error-controlled", "Linear solver/Schedule=chaotic"]
        loops = (([], "fused"), ([general], "general, since it is asked for; Newton with gmres with the preconditioner async"),
                 ([general, *controlled, "Mesh/Global refinements=5"], "general, since it is asked for; Newton with direct"),
                 ([general, *controlled, "Mesh/Global refinements=6"], "general, since it is asked for; Newton with gmres with the preconditioner amg"),
                 (["Linear solver/Preconditioner=amg"], "general, since the fused one cannot be used: 'Linear solver/Method' asks for another"),
                 (["Discretization/Mass matrix=consistent", "Discretization/Method=finite elements"], "general, since the fused one cannot be used: it needs a lumped mass matrix"))
        for (settings, loop), said in zip(loops, self.valid([(TINY, settings) for settings, _ in loops])):
            self.assertIn("\ntime loop: " + loop, said)
            if "Mesh/Global refinements" not in str(settings):  # that would take minutes
                self.assertIn("\ntime loop: " + loop.partition("; ")[0], self.leopard(TINY, *settings))
        for mesh in ("square_triangles_22", "square_triangles_41"):  # of 30 nodes; factors of two million unknowns take minutes
            for refinements, solver in ((2, "direct"), (8, "gmres with the preconditioner amg")):
                said = self.leopard(TINY, general, *controlled, "Discretization/Method=finite elements", "Mesh/Domain=file", f"Mesh/File={ROOT}/tests/meshes/{mesh}.msh",
                                    f"Mesh/Global refinements={refinements}", options=("--validate",))
                self.assertIn(f"since it is asked for; Newton with {solver}", said)
        error = self.leopard(TINY, "Time stepping/Engine=fused", "Linear solver/Method=direct", options=("--validate",), fails=True)
        self.assertIn("'Time stepping/Engine' is fused, but this time loop cannot be used here", error)

    def test_several_gpus(self):
        """What several GPUs of a rank cannot do is not chosen, as is said with the reason; where nothing is left it is refused."""
        two = ["Linear solver/GPUs=2"]
        laplace = self.write("laplace.prm", LAPLACE).name
        said = self.valid([(laplace, two), (TINY, two), (TINY, [*two, "Time stepping/Step control=error-controlled"]), (laplace, [*two, "Linear solver/Preconditioner=ic"])])
        for text, solver in zip(said, ("cg with the preconditioner chebyshev (automatic: the matrix is symmetric and positive definite, and 'Linear solver/GPUs' is 2, ",
                                       "gmres with the preconditioner async (automatic: the matrix of a step is not symmetric",
                                       "gmres with the preconditioner ilu (automatic: steps become so long that relaxations stagnate, and 'Linear solver/GPUs' is 2, ",
                                       "cg with the preconditioner ic (automatic: the matrix is symmetric and positive definite, and the preconditioner is given")):
            self.assertIn(solver, text)
        cost = "'Linear solver/GPUs' is 2, for which the general time loop does the steps, several times slower than the fused one"
        self.assertEqual([cost in text for text in said], [False, True, True, False])
        others = [[*two, "Time stepping/Engine=general"], [*two, "Linear solver/Method=gmres", "Linear solver/Preconditioner=jacobi"], []]
        for text in self.valid([(TINY, settings) for settings in others]):  # general all the same, or fused
            self.assertNotIn("several times slower", text)
        self.invalid([(laplace, [*two, "Laplace/Boundary values="], "'Linear solver/GPUs' is 2, but the linear solver is cg with the preconditioner multigrid"),
                      (laplace, [*two, "Linear solver/Preconditioner=amg"], "'Linear solver/GPUs' is 2, but the linear solver is cg with the preconditioner amg")])

    def test_a_preconditioner_alone(self):
        self.run_default(LAPLACE, "Linear solver/Preconditioner=ssor", solver=("cg", "ssor"), iterations=60)

    def test_a_method_that_is_given_is_taken(self):
        self.leopard(self.write("given.prm", LAPLACE), "Linear solver/Method=direct")
        report = self.run_json("given")["linear_solver"]
        self.assertEqual((report["method"], report["automatic"]), ("direct", False))
        error = self.leopard(self.write("given.prm", LAPLACE), "Linear solver/Method=async", "Linear solver/Preconditioner=amg", fails=True)
        self.assertIn("expected: a preconditioner only with cg or gmres", error)

    def test_entries_of_another_method_are_named(self):
        said = self.leopard(self.write("default.prm", LAPLACE), "Linear solver/Restart=7", "Linear solver/Omega=0.5")
        self.assertIn("not used: 'Linear solver/Omega', 'Linear solver/Restart' ('Linear solver/Method' is automatic, which chooses cg with the preconditioner multigrid)\n", said)
        self.assertEqual({item["entry"] for item in self.run_json("default")["not_used"]}, {"Linear solver/Restart", "Linear solver/Omega"})

    def test_time_loops(self):
        said = self.leopard(TINY)
        self.assertIn("time loop: fused", said)
        for scheme, solver in (("BDF2", "gmres with"), ("SBDF2", "cg with")):
            said = self.leopard(TINY, "Time stepping/Engine=general", f"Time stepping/Scheme={scheme}")
            self.assertRegex(said, rf"time loop: general, since it is asked for; .*{solver}.* \(automatic: the matrix of a step is ")
            columns, rows = self.statistics("tiny_turing")
            self.assertLessEqual(max(row[columns.index("linear iterations")] for row in rows), 60)
        self.leopard(TINY, "Time stepping/Engine=general", "Time stepping/Step control=asynchronous bound")
        self.assertEqual(self.run_json("tiny_turing")["linear_solver"]["method"], "async")
        said = self.leopard(TINY, "Linear solver/Preconditioner=amg")
        self.assertRegex(said, "time loop: general, since the fused one cannot be used: .* gmres with preconditioner amg")


class DefaultDiscretization(Program):
    def method(self, text, *settings):
        said = self.leopard(self.write("method.prm", text), "Output/Log every=1", "Time stepping/Step control=fixed", "Time stepping/Step size=1e-5", "Time stepping/End time=2e-5", *settings)
        report = self.run_json("method")["discretization"]
        return report["method"], said

    def test_finite_differences_where_they_suit(self):
        turing = problem("Turing", "gamma = 100", "Start from steady state = true", "Perturbation = 0.05", refinements=3)
        method, said = self.method(turing)
        self.assertEqual(method, "finite differences")
        self.assertIn("discretization: finite differences (automatic: ", said)
        self.assertEqual(self.method(problem("Reaction-diffusion", "Source = 2", refinements=3))[0], "finite differences")
        self.assertEqual(self.method(problem("Laplace", "Source = 1", refinements=3))[0], "finite elements")
        for settings in (["Discretization/Degree=2"], ["Discretization/Mass matrix=consistent", "Linear solver/Method=direct"], ["Mesh/Domain=ball", "Mesh/Global refinements=1"]):
            method, said = self.method(turing, *settings)
            self.assertEqual(method, "finite elements", settings)
            self.assertNotIn("discretization: ", said)
        method, said = self.method(turing, "Discretization/Method=finite elements")
        self.assertEqual(method, "finite elements")
        self.assertRegex(said, "discretization: finite elements, as asked for; on this uniform box .* = finite differences has")


class Advice(HostProgram):
    """A solver that fails says how it went on, and what to take instead."""

    def advice(self, *settings, text=LAPLACE, says):
        error = self.leopard(self.write("fails.prm", text), *(f"Linear solver/{setting}" if setting.count("/") == 0 else setting for setting in settings), fails=True)
        for words in says:
            self.assertIn(words, error)
        return error

    def test_slow(self):
        for method in ("async", "jacobi", "sor", "chebyshev"):
            error = self.advice(f"Method={method}", "Max iterations=200", "Mesh/Global refinements=6",
                                says=["has not reached the tolerance", "it is slow: about ", "to try: 'Linear solver/Method' = cg with 'Preconditioner' = multigrid"])
            self.assertGreater(int(re.search(r"about (\d+) more iterations", error)[1]), 200)
        for settings in (["Method=cg", "Max iterations=100"], ["Method=gmres", "Max iterations=100"]):
            self.advice(*settings, "Mesh/Global refinements=8", says=["it is slow: about ", "= cg with 'Preconditioner' = multigrid"])

    def test_how_many_more_iterations(self):
        error = self.advice("Method=jacobi", "Max iterations=1500", says=["more iterations at the rate of the last ones"])
        more = int(re.search(r"about (\d+) more iterations", error)[1])
        self.leopard(self.write("more.prm", LAPLACE), "Linear solver/Method=jacobi", "Linear solver/Max iterations=10000")
        self.assertLess(abs(self.iterations("more")[0] - 1500 - more) / more, 0.1)

    def test_stagnating(self):
        far, larger = ["Relative tolerance=1e-17", "Max iterations=2000", "Mesh/Global refinements=6"], "to try: a larger 'Linear solver/Relative tolerance'"
        for settings in (["Method=cg"], ["Method=direct"], ["Method=multigrid", "Precision=double"]):
            self.advice(*settings, *far, says=["it stagnates at ", "rounding errors may be all that is left", larger])
        self.advice("Method=multigrid", *far, says=["it has come to the level of rounding errors", larger])

    def test_diverging(self):
        text = LAPLACE.replace("subsection Mesh", "subsection Mesh\n set Domain = box\n set Upper corner = 4,1")
        self.advice("Method=multigrid", "Multigrid/Smoother=jacobi", text=text, says=["diverges", "amplifies on level", "to try: 'Linear solver/Method' = cg with 'Preconditioner' = amg"])
        said = self.advice("Method=jacobi", "Omega=1.9", says=["diverges", "rho(|I - D^-1 A|)", "'Linear solver/Method' = cg with 'Preconditioner' = multigrid", "'Linear solver/Omega' = 1"])
        self.assertNotIn("time step", said)

    def test_cg_is_told_of_negative_curvature(self):
        text = problem("Reaction-diffusion", "Reaction = expression", "f = 1000*u", "Source = 1", refinements=5)
        error = self.advice("Method=cg", "Max iterations=20", "Newton/Max steps=2", text=text, says=["has met negative curvature: the matrix is not positive definite, as cg needs it"])
        self.assertNotIn("'Linear solver/Method' = cg", error)
        self.assertIn("'Linear solver/Method' = direct", error)
        error = self.advice("Method=cg", "Max iterations=20", says=["has not reached the tolerance"])
        self.assertNotIn("negative curvature", error)

    def test_omega_is_questioned_before_it_diverges(self):
        log = self.folder / "output/fails/log.txt"
        for method, omega, warns in (("jacobi", 1.9, True), ("async", 1.3, True), ("async", 0.9, False), ("sor", 1.9, False)):
            self.advice(f"Method={method}", f"Omega={omega}", "Max iterations=30", says=["to try: "])
            self.assertEqual(f"warning: 'Linear solver/Omega' is {omega}, above 1.0" in log.read_text(), warns, method)

    def test_newton(self):
        text = problem("Reaction-diffusion", "Source = 2", refinements=6)
        self.advice("Method=jacobi", "Max iterations=20", "Newton/Max steps=3", text=text,
                    says=["Newton's method does not converge: in 3 of its 3 steps the linear solver Jacobi has missed its tolerance", "it is slow: about ",
                          "'Linear solver/Method' = gmres with 'Preconditioner' = multigrid"])


if __name__ == "__main__":
    import unittest
    unittest.main()
