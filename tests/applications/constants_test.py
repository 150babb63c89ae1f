# SPDX-License-Identifier: Apache-2.0
"""Stationary problems without boundary values: solutions that are determined up to a constant, and those whose constant part rounding could take."""
from program import ROOT, Program

MESHES = ROOT / "tests/meshes"
PURE_FLUX = ("set Problem = laplace\nsubsection Laplace\n set Source = 5*pi^2*cos(pi*x)*cos(2*pi*y)\n set Exact solution = cos(pi*x)*cos(2*pi*y)\n"
             " set Boundary values =\n set Boundary fluxes = *: 0\nend\nsubsection Mesh\n set Global refinements = 3\nend\n"
             "subsection Verification\n set Refinements = 2\nend\n")
TRIANGLES = ("Mesh/Domain=file", f"Mesh/File={MESHES}/square_triangles_41.msh", "Mesh/Global refinements=1")


class UpToAConstant(Program):
    def solved(self, *settings, **options):
        """What was said, and the last row of the convergence table."""
        said = self.leopard(self.write("flux.prm", PURE_FLUX), *settings, **options)
        self.assertIn("the one of mean zero", said)
        for cycle in self.run_json("flux")["cycles"]:
            self.assertAlmostEqual(cycle["u"]["mean"], 0, delta=1e-10)
            self.assertLess(cycle["linear_iterations"], 40)
        return said, self.convergence("flux")[-1] if (self.folder / "output/flux/convergence.csv").exists() else None

    def test_meshes_without_levels_take_aggregation(self):
        cube = ("Dimension=3", "Mesh/Domain=file", f"Mesh/File={MESHES}/cube_tetrahedra_41.msh", "Mesh/Global refinements=1", "Verification/Refinements=1",
                "Laplace/Source=3*pi^2*cos(pi*x)*cos(pi*y)*cos(pi*z)", "Laplace/Exact solution=cos(pi*x)*cos(pi*y)*cos(pi*z)")
        sphere = ("Mesh/Domain=sphere", "Laplace/Boundary fluxes=", "Laplace/Source=6*x*y", "Laplace/Exact solution=x*y")
        for mesh in (TRIANGLES, cube, sphere):
            said, row = self.solved(*mesh)
            self.assertIn("cg with the preconditioner aggregation (automatic", said)
            self.assertAlmostEqual(float(row["l2_rate"]), 2, delta=0.25, msg=mesh)

    def test_aggregation_keeps_constants_out_wherever_it_is_asked_for(self):
        asked = ("Linear solver/Preconditioner=aggregation", "Verification/Refinements=1")
        for more in (("Linear solver/Method=gmres",), ("Discretization/Degree=2", "Mesh/Global refinements=2"), ("Linear solver/Backend=reference",), TRIANGLES):
            self.solved("Linear solver/Method=cg", *asked, *more)
            self.solved("Linear solver/Method=cg", *asked, *more, ranks=2)
        adaptive = ("Mesh/Adaptive=true", "Mesh/Adaptive cycles=4", "Verification/Refinements=0", "Laplace/Exact solution=")
        self.solved("Linear solver/Method=cg", *asked, *adaptive)
        self.solved(*adaptive, "Mesh/Periodic=x, y", "Laplace/Boundary fluxes=", "Laplace/Source=cos(2*pi*x)*exp(cos(2*pi*y))")  # has no levels

    def test_message_names_what_can_be_had(self):
        for mesh, expected in (((), "aggregation or multigrid, which"), (TRIANGLES, "aggregation, which")):
            message = self.leopard(self.write("flux.prm", PURE_FLUX), *mesh, "Linear solver/Method=cg", "Linear solver/Preconditioner=amg", fails=True)
            self.assertIn(f"'Linear solver/Method' = cg with 'Preconditioner' = {expected} finds the solution of mean zero", message)

    def test_errors_are_those_at_equal_means(self):
        line = "its errors are those beside the exact solution after it is given the same mean"
        for exact, says in (("7 + cos(pi*x)*cos(2*pi*y)", True), ("1e-3 + cos(pi*x)*cos(2*pi*y)", True), ("cos(pi*x)*cos(2*pi*y)", False)):
            said, row = self.solved("Linear solver/Method=cg", "Linear solver/Preconditioner=multigrid", f"Laplace/Exact solution={exact}")
            for name in ("l2_rate", "nodal_maximum_rate"):
                self.assertAlmostEqual(float(row[name]), 2, delta=0.15, msg=exact)
            self.assertEqual(said.count(line), int(says), exact)

    def test_reaction_that_does_not_depend_on_the_field_is_refused(self):
        file = self.write("source.prm", "set Problem = reaction-diffusion\nsubsection Reaction-diffusion\n set Reaction = expression\n set f = 1\n set Boundary values =\n"
                          " set Boundary fluxes = *: -0.25\nend\nsubsection Mesh\n set Global refinements = 3\nend\n")
        quadratic = ("Reaction-diffusion/Reaction=quadratic", "Reaction-diffusion/f=", "Reaction-diffusion/beta=0")
        for more in ((), ("Reaction-diffusion/Boundary fluxes=*: 0",), ("Reaction-diffusion/f=a*u + x", "Reaction-diffusion/Constants=a: 0"), quadratic,
                     ("Reaction-diffusion/f=cos(2*pi*x)", "Reaction-diffusion/Boundary fluxes=", "Mesh/Periodic=x, y")):
            message = self.leopard(file, *more, fails=True)
            self.assertIn("does not depend on u, so the solution is determined up to a constant only, if sources and fluxes balance at all", message)
            self.assertIn("the problem laplace, with this as a part of its 'Source'", message)
        for more in (("Reaction-diffusion/Boundary values=0: 0", "Reaction-diffusion/Boundary fluxes="), ("Reaction-diffusion/f=1 - u",)):
            self.leopard(file, *more)


class MeanOfAbsorption(Program):
    def test_constant_part_is_not_lost(self):
        file = self.write("weak.prm", "set Problem = helmholtz\nsubsection Helmholtz\n set Constants = delta: 1e-3\n set Delta = delta\n set Source = delta*3 + cos(pi*x)\n"
                          " set Exact solution = 3 + cos(pi*x)/(pi^2 + delta)\n set Boundary values =\n set Boundary fluxes = *: 0\nend\n"
                          "subsection Mesh\n set Global refinements = 5\nend\n")
        for delta in ("1e-10", "1e-6", "1"):
            for solver in ((), ("Linear solver/Method=direct",),
                           ("Linear solver/Method=cg", "Linear solver/Preconditioner=aggregation", "Mesh/Adaptive=true", "Mesh/Adaptive cycles=3")):
                said = self.leopard(file, f"Helmholtz/Constants=delta: {delta}", *solver)
                self.assertLess(float(self.convergence("weak")[-1]["nodal_maximum_error"]), 1e-3, f"{delta} {solver}")
                self.assertIn("is the one with which absorption balances sources and fluxes", said)
        self.assertIn("the mean of u is uncertain by about", self.leopard(file, "Helmholtz/Constants=delta: 1e-14"))
        self.assertNotIn("absorption balances", self.leopard(file, "Helmholtz/Boundary fluxes=1: 0", "Helmholtz/Boundary values=0: 0", "Helmholtz/Exact solution="))
