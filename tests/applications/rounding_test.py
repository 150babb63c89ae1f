# SPDX-License-Identifier: Apache-2.0
"""Linear systems whose terms cancel so much that the tolerance lies below what rounding leaves: solved all the same, and said."""
from program import Program

# a flux into the stiff side, through which everything leaves: terms there are 1e6 times as large as what they add up to
JUMP = ("set Problem = laplace\nsubsection Laplace\n set Coefficient = if(x<1/2,1,1e6)\n set Source = 1\n set Boundary values = 0: 0\n set Boundary fluxes = 1: 2\n"
        " set Exact solution = if(x<1/2,3*x-x^2/2,1.375+(3*x-x^2/2-1.375)/1e6)\nend\nsubsection Mesh\n set Global refinements = 6\nend\n")
REMARK = "is what rounding errors leave"


class Rounding(Program):
    def test_what_cancels_is_solved_by_every_solver(self):
        for method, preconditioner in (("automatic", "none"), ("direct", "none"), ("cg", "ssor"), ("cg", "aggregation"), ("cg", "ic")):
            said = self.leopard(self.write("jump.prm", JUMP), f"Linear solver/Method={method}", f"Linear solver/Preconditioner={preconditioner}", timeout=120)
            self.assertIn(REMARK, said, method)
            self.assertLess(float(self.convergence("jump")[-1]["nodal_maximum_error"]), 1e-3, method)
        self.assertNotIn("warning: the residual", said)
        self.assertIn("warning: the residual", self.leopard(self.write("jump.prm", JUMP), "Laplace/Coefficient=if(x<1/2,1,1e11)"))
        error = self.leopard(self.write("jump.prm", JUMP), "Laplace/Coefficient=if(x<1/2,1,1e13)", fails=True)  # zero would leave hardly more
        self.assertIn("has not reached the tolerance", error)
        self.leopard(self.write("jump.prm", JUMP), ranks=2)
        self.assertLess(float(self.convergence("jump")[-1]["nodal_maximum_error"]), 1e-3)

    def test_others_keep_their_tolerance(self):
        smooth = ("Laplace/Coefficient=1", "Laplace/Exact solution=", "Mesh/Global refinements=4")
        self.assertNotIn(REMARK, self.leopard(self.write("jump.prm", JUMP), *smooth))
        message = self.leopard(self.write("jump.prm", JUMP), *smooth, "Linear solver/Method=cg", "Linear solver/Max iterations=5", fails=True)
        self.assertIn("has not reached the tolerance 1e-08 in 5 iterations", message)
