# SPDX-License-Identifier: Apache-2.0
"""Linear solver/Omega = tau: 2 / (lambda_1 + lambda_n) of D^-1 A, found from the matrix, on any number of ranks and whenever its values change."""
import math
import re

from program import Program

SQUARE = """
set Problem = laplace
subsection Laplace
  set Boundary values = *: 0
  set Source          = 1
end
subsection Mesh
  set Domain = hypercube
  set Cells  = 31
end
subsection Discretization
  set Method = finite elements
end
subsection Linear solver
  set Method         = jacobi
  set Omega          = tau
  set Test every     = 1
  set Max iterations = 100000
end
"""
STEPS = """
set Problem = turing
subsection Turing
  set gamma = 60
end
subsection Mesh
  set Domain             = hypercube
  set Global refinements = 4
end
subsection Discretization
  set Method      = finite elements
  set Mass matrix = consistent
end
subsection Time stepping
  set Scheme       = SBDF2
  set Step control = fixed
  set Step size    = 1e-4
  set End time     = 5e-4
end
subsection Linear solver
  set Method = jacobi
  set Omega  = tau
end
"""
NEWTON = """
set Problem = reaction-diffusion
subsection Reaction-diffusion
  set Source = 20
end
subsection Mesh
  set Global refinements = 4
end
subsection Linear solver
  set Method         = jacobi
  set Omega          = tau
  set Max iterations = 100000
end
"""
LINE = re.compile(r"omega = tau = (\S+), of the eigenvalues (?:\(at most\) )?(\S+) to (\S+) of D\^-1 A, estimated with \d+ products\n")
MIXED = "Linear solver/Precision=mixed"


class TauScaling(Program):
    def tau(self, text, *settings, ranks=1):
        """Runs a file; returns what it said, and tau with the eigenvalues."""
        for _ in range(5):  # beside other work half a second may end the estimate, which is said
            said = self.leopard(self.write("case.prm", text), *settings, ranks=ranks)
            if "all there was time for" not in said:
                break
        else:
            self.skipTest("this machine is too busy for the estimate")
        self.assertEqual(len(LINE.findall(said)), 1, said)
        numbers = [float(number) for number in LINE.search(said).groups()]
        self.assertAlmostEqual(numbers[0], 2 / (numbers[1] + numbers[2]), delta=2e-3 * numbers[0])
        return said, numbers

    def cycle(self):
        return self.run_json("case")["cycles"][-1]

    def test_of_known_eigenvalues(self):
        """Bilinear elements: lambda = 1 - (c + d + 2 c d) / 4 with c and d the cosines of k pi / n, from 1 - (c + c^2) / 2 to 1 + c^2 / 2."""
        c = math.cos(math.pi / 31)
        smallest, largest = 1 - (c + c * c) / 2, 1 + c * c / 2
        self.leopard(self.write("case.prm", SQUARE), "Linear solver/Omega=1")
        plain = self.cycle()
        for ranks in (1, 3):
            said, (tau, first, last) = self.tau(SQUARE, ranks=ranks)
            self.assertAlmostEqual(first, smallest, delta=0.01 * smallest)
            self.assertAlmostEqual(last, 1.01 * largest, delta=0.002)  # a margin, as it is seen from inside the spectrum
            self.assertRegex(said, r"(Jacobi|async-\(1\) synchronous), omega = tau: ")  # on a GPU Jacobi's method is this one
            self.assertNotIn("warning: 'Linear solver/Omega'", said)  # it converges for certain
            cycle = self.cycle()
            self.assertAlmostEqual(cycle["tau"]["omega"], tau, delta=1e-3 * tau)
            self.assertAlmostEqual(cycle["tau"]["smallest_eigenvalue"], first, delta=1e-3 * first)
            self.assertAlmostEqual(cycle["tau"]["largest_eigenvalue"], last, delta=1e-3 * last)
            expected = plain["linear_iterations"] * math.log(1 - smallest) / math.log(1 - tau * smallest)
            self.assertAlmostEqual(cycle["linear_iterations"], expected, delta=0.02 * expected)
            self.assertAlmostEqual(cycle["u"]["mean"], plain["u"]["mean"], delta=1e-6 * plain["u"]["mean"])

    def test_where_1_diverges(self):
        long_cells = ["Mesh/Domain=box", "Mesh/Upper corner=4,1", "Mesh/Cells=15", "Discretization/Degree=2"]
        self.failed_run(self.write("case.prm", SQUARE), *long_cells, "Linear solver/Omega=1", says=["diverges"])
        means = []
        for settings in ([], [MIXED], ["Method=async", "Schedule=synchronous", "Local iterations=1"], ["Method=gmres", "Preconditioner=async", "Schedule=synchronous"],
                         ["Method=async-refinement", "Schedule=synchronous", "Local iterations=1"]):
            self.tau(SQUARE, *long_cells, *(setting if "/" in setting else f"Linear solver/{setting}" for setting in settings))
            means.append(self.cycle()["u"]["mean"])
        self.assertLess(max(means) - min(means), 1e-6 * max(means))

    def test_warns_where_it_need_not_converge(self):
        self.assertIn("warning: 'Linear solver/Omega' is 1.3", self.tau(SQUARE, "Linear solver/Method=async")[0])

    def test_without_boundary_values(self):
        """The matrix is singular; tau is 2 / lambda_n."""
        text = SQUARE.replace("  set Boundary values = *: 0\n", "").replace("= 1\nend\nsubsection Mesh", "= cos(pi*x)\nend\nsubsection Mesh")
        said, (tau, first, last) = self.tau(text)
        self.assertLess(first, 0.01)
        self.assertAlmostEqual(last, 1.515, delta=0.01)

    def test_follows_the_values(self):
        """The matrix at first is that of diffusion, tau = 1.3; with the mass of a step that is far too large. And Newton's method, on all ways."""
        for ranks, settings in ((1, []), (2, []), (1, [MIXED]), (1, ["Linear solver/Method=async", "Linear solver/Schedule=synchronous"])):
            said, (tau, first, last) = self.tau(STEPS, *settings, ranks=ranks)
            self.assertIn("time loop: general, since ", said)
            self.assertIn("of the first step omega = tau = ", said)
            self.assertAlmostEqual(last, 1.97, delta=0.02)
            self.assertAlmostEqual(self.run_json("case")["time_loop"]["tau"]["omega"], tau, delta=0.05 * tau)  # that of the last step
        self.leopard(self.write("case.prm", NEWTON), "Linear solver/Method=direct", "Linear solver/Omega=1")
        mean = self.cycle()["u"]["mean"]
        for settings in ([], [MIXED], ["Linear solver/Method=async"], ["Linear solver/Method=gmres", "Linear solver/Preconditioner=async"]):
            self.tau(NEWTON, *settings)
            self.assertAlmostEqual(self.cycle()["u"]["mean"], mean, delta=1e-6 * mean, msg=str(settings))

    def test_fused_time_loop(self):
        finite_differences = ["Discretization/Method=finite differences", "Discretization/Mass matrix=lumped"]
        steps = self.write("case.prm", STEPS)
        said = self.leopard(steps, *finite_differences, "Linear solver/Method=async")
        self.assertIn("time loop: general, since the fused one cannot be used: 'Linear solver/Omega' is tau, which is of a matrix, and it has none", said)
        error = self.leopard(steps, *finite_differences, "Linear solver/Method=async", "Time stepping/Engine=fused", fails=True)
        self.assertIn("cannot be used here: 'Linear solver/Omega' is tau", error)
        said = self.leopard(steps, *finite_differences, "Linear solver/Method=automatic")
        self.assertIn("time loop: fused", said)
        self.assertIn("not used: 'Linear solver/Omega' (tau is of a matrix, and the fused time loop has none)\n", said)

    def test_what_cannot_use_it(self):
        square = self.write("case.prm", SQUARE)
        for settings, why in ((["Method=chebyshev"], "'Linear solver/Method' is chebyshev"), (["Method=cg", "Preconditioner=jacobi"], "'Linear solver/Preconditioner' is jacobi"),
                              (["Method=cg"], "'Linear solver/Preconditioner' is none"), (["Method=direct"], "'Linear solver/Method' is direct")):
            said = self.leopard(square, *(f"Linear solver/{setting}" for setting in settings))
            self.assertRegex(said, rf"not used: ('[^']*', )*'Linear solver/Omega'(, '[^']*')* \({re.escape(why)}\)\n")
            self.assertNotIn("omega = tau", said)
        for method, settings in (("Method' is sor", ["Method=sor"]), ("Method' is gauss-seidel", ["Method=gauss-seidel"]), ("Preconditioner' is ssor", ["Method=cg", "Preconditioner=ssor"])):
            error = self.leopard(square, *(f"Linear solver/{setting}" for setting in settings), fails=True)
            self.assertIn(f"'Linear solver/Omega' is tau, but 'Linear solver/{method}\n  expected: a number, or one of async, async-refinement, jacobi", error)
        error = self.leopard(square, "Linear solver/Method=async", "Linear solver/l1 weights=true", fails=True)
        self.assertIn("'Linear solver/Omega' is tau, but 'Linear solver/l1 weights' is true", error)
        error = self.leopard(self.write("case.prm", STEPS), "Time stepping/Scheme=BDF2", fails=True)
        self.assertIn("'Linear solver/Omega' is tau, but the Jacobian of the problem Turing is not symmetric\n  expected: a number", error)
        for ranks in (1, 2):
            self.failed_run(self.write("case.prm", NEWTON), "Reaction-diffusion/Reaction=expression", "Reaction-diffusion/f=100*u", ranks=ranks,
                            says=["'Linear solver/Omega' is tau, which this matrix does not have: ", "the eigenvalues of D^-1 A reach from -0.0", "expected: a symmetric positive definite matrix"])
        error = self.leopard(square, "Linear solver/Omega=tua", fails=True)
        self.assertIn("expected: a number, or tau", error)
        self.assertIn("'Linear solver/Omega' = 1/2 is 0.5", self.leopard(square, "Linear solver/Omega=1/2", "Mesh/Cells=8"))
