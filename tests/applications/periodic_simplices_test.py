# SPDX-License-Identifier: Apache-2.0
"""Periodic meshes of triangles and tetrahedra: known solutions, balances, shifted patterns, both time loops, ranks, and meshes whose faces do not match.

Rates in time of the fused and the general loop: manufactured_test.py."""
import itertools
import math

from boundary_test import HELMHOLTZ, SPOTS
from gmsh_text import gmsh, simplices
from program import LEOPARD, HostProgram, with_settings

OF_FILE = ("Mesh/Domain=file", "Mesh/File=mesh.msh", "Discretization/Method=finite elements")
FIXED = ("Time stepping/Step control=fixed", "Time stepping/Step size=1e-3", "Newton/Relative tolerance=1e-11")
MEASURES = ("minimum of u", "maximum of u", "mean of v", "total mass of u", "number of spots of u", "rate of change, RMS of du/dt")


class PeriodicSimplices(HostProgram):
    def stationary(self, mesh, *settings, **options):
        self.write("mesh.msh", mesh)
        said = self.leopard(self.write("file.prm", HELMHOLTZ), *OF_FILE, "Mesh/Global refinements=0", *settings, **options)
        return self.convergence("file")[-1], said

    def spots(self, name, *settings, mesh=None, **options):
        """The last measures of a short run of a pattern."""
        self.write("mesh.msh", mesh or simplices(2, 8))
        self.leopard(self.write(f"{name}.prm", SPOTS), *OF_FILE, "Mesh/Global refinements=1", *settings, **options)
        columns, rows = self.statistics(name)
        return dict(zip((column.split(" (")[0] for column in columns), rows[-1]))

    def expect_same(self, one, other, delta=1e-7, msg=None):
        for measure in MEASURES:
            self.assertLessEqual(abs(one[measure] - other[measure]), delta * max(1, abs(one[measure])), (msg, measure))

    def test_rates_in_space(self):
        """Of degrees 1 and 2, periodic in all directions and in some, on meshes whose nodes are moved along the sides, too."""
        space = ("Dimension=3", "Helmholtz/Exact solution=sin(2*pi*x + 1)*exp(y)*cos(2*pi*z + 0.5)", "Mesh/Periodic=x, z", "Verification/Refinements=1")
        for mesh, degree, settings, most in ((simplices(2, 4, 0.2), 1, (), 0.04), (simplices(2, 4, 0.2), 2, (), 1e-3), (simplices(2, 3, 0.2), 1, ("Mesh/Periodic=y", "Helmholtz/Exact solution=exp(x)*cos(2*pi*y + 1)"), 0.04),
                                             (simplices(3, 6, 0.2), 1, space, 0.1), (simplices(3, 4, 0.2), 2, space, 0.02)):
            last, said = self.stationary(mesh, f"Discretization/Degree={degree}", *settings)
            self.assertNotIn("contradict", said)
            self.assertAlmostEqual(float(last["l2_rate"]), degree + 1, delta=0.3, msg=settings)  # tetrahedra with seven to twelve edges a wave: 1.71
            self.assertLess(float(last["l2_error"]), most, settings)

    def test_a_uniform_mesh_is_the_stencil(self):
        """The five-point stencil for P1: one mode is multiplied by a number that is known, at the corners, where four nodes are one, too."""
        n, delta = 8, 3.
        k_h = 2 * (2 - 2 * math.cos(2 * math.pi / n)) * n**2
        self.write("mesh.msh", simplices(2, n))
        mass = ("Problem=turing", "Verification/Refinements=1", "Verification/Refine=time", "Time stepping/Step control=fixed", f"Time stepping/Step size={1 / delta}", f"Time stepping/End time={1 / delta}",
                "Time stepping/Scheme=implicit Euler", "Turing/Kinetics=expressions", "Turing/Species=u", "Turing/Reaction u=0*u", "Turing/Diffusion u=1", "Turing/Steady state=none",
                "Turing/Initial value u=sin(2*pi*x + 1)*cos(2*pi*y + 0.5)", f"Turing/Exact solution u=sin(2*pi*x + 1)*cos(2*pi*y + 0.5)*(1 - t*{delta}*{1 - delta / (k_h + delta):.17g})",
                "Turing/Source u=0", "Newton/Relative tolerance=1e-13", "Linear solver/Method=direct")
        self.leopard(self.write("mode.prm", ""), *OF_FILE, "Mesh/Periodic=x, y", *mass)
        self.assertLess(float(self.convergence("mode")[0]["nodal_maximum_error"]), 1e-12)

    def test_mass_balance(self):
        space = ("Dimension=3", "Mesh/Periodic=x, y, z", "Time stepping/End time=0.01")
        for engine, (dim, mesh, settings) in itertools.product(("fused", "general"), ((2, simplices(2, 8, 0.2), ()), (3, simplices(3, 4, 0.2), space))):
            last = self.spots("balance", "Newton/Relative tolerance=1e-11", "Newton/Error fraction=0", f"Time stepping/Engine={engine}", *settings, mesh=mesh)
            for field in "uv":
                self.assertLess(abs(last[f"mass balance of {field}: change in the step less integrated reaction"]), 1e-9, (engine, dim))

    def test_shifted_initial_values_give_the_shifted_pattern(self):
        """By 3 and 5 cells of 16; the loops agree, too."""
        there = "Turing/Initial value u=0.05*(cos(2*pi*(x + 3/16) + 1) + sin(4*pi*(y + 5/16) + 2) + cos(2*pi*(x + y + 8/16)))"
        ends = {}
        for engine in ("fused", "general"):
            ends[engine] = self.spots("here", *FIXED, f"Time stepping/Engine={engine}")
            self.assertIn(f"time loop: {engine}", self.log("here"))
            self.assertGreater(ends[engine]["maximum of u"] - ends[engine]["minimum of u"], 0.5)
            self.expect_same(ends[engine], self.spots("there", *FIXED, f"Time stepping/Engine={engine}", there), 1e-6, engine)
        self.expect_same(ends["fused"], ends["general"], 1e-6)

    def test_ranks_agree_and_resume(self):
        for engine, (mesh, settings) in itertools.product(("fused", "general"), ((simplices(2, 8, 0.2), ()), (simplices(3, 3, 0.2), ("Dimension=3", "Mesh/Periodic=x, y, z")))):
            short = (*FIXED, f"Time stepping/Engine={engine}", *settings)
            one, two = (self.spots(f"ranks_{n}", *short, "Time stepping/End time=0.02", mesh=mesh, ranks=n) for n in (1, 2))
            self.expect_same(one, two, msg=(engine, settings))
            self.spots("parts", *short, "Time stepping/End time=0.01", mesh=mesh)
            parts = self.spots("parts", *short, "Time stepping/End time=0.02", mesh=mesh, options=("--resume",), ranks=2)
            self.expect_same(one, parts, msg=(engine, settings))

    def test_ranks_agree_in_space(self):
        """Three ranks, of which one may own a node and others its copies, with values on other sides."""
        errors = []
        for ranks in (1, 3):
            last, _ = self.stationary(simplices(2, 4, 0.2), "Mesh/Periodic=x", "Helmholtz/Exact solution=sin(2*pi*x + 1)*exp(y)", "Helmholtz/Boundary values=automatic", "Linear solver/Method=cg",
                                      "Linear solver/Preconditioner=amg", "Linear solver/Relative tolerance=1e-12", ranks=ranks)
            errors.append(float(last["l2_error"]))
        self.assertAlmostEqual(errors[1] / errors[0], 1, delta=1e-6)

    def test_what_does_not_match_is_refused(self):
        """A node of a side, a diagonal of a side in space, the number of faces."""
        self.write("helmholtz.prm", HELMHOLTZ)
        square, cube = simplices(2, 3), simplices(3, 2)
        node = next(line for line in square.splitlines() if line.endswith("1.0 0.3333333333333333 0"))
        self.write("moved.msh", square.replace(node, node.replace("0.3333333333333333", "0.34")))
        self.write("less.msh", gmsh([(0, 0), (1, 0), (1, 0.5), (1, 1), (0, 1)], [(1, 2, 3), (1, 3, 5), (3, 4, 5)]))
        self.write("cube.msh", cube)
        corners = list(itertools.product((0, 1), repeat=3))  # the cube of five tetrahedra, whose diagonals on opposite sides are crossed
        five = [(0, 3, 5, 6), (0, 3, 5, 1), (0, 5, 6, 4), (0, 6, 3, 2), (3, 6, 5, 7)]
        self.write("crossed.msh", gmsh(corners, [tuple(i + 1 for i in cell) for cell in five]))
        with_file = lambda name, *more: ("Mesh/Domain=file", f"Mesh/File={name}", "Mesh/Global refinements=0", "Verification/Refinements=0", *more)  # noqa: E731
        crossed = ("Dimension=3", "Mesh/Periodic=z", "Helmholtz/Exact solution=", "Helmholtz/Source=1")
        self.invalid([("helmholtz.prm", with_file("moved.msh"), ("the boundary of the mesh file", "normal to x, the 3 faces at the lower end do not have the places and forms of those at the upper end")),
                      ("helmholtz.prm", with_file("less.msh"), "normal to x, 1 faces lie at the lower end and 2 at the upper end"),
                      ("helmholtz.prm", with_file("crossed.msh", *crossed), "normal to z, the 2 faces at the lower end do not have the places and forms")])
        self.valid([("helmholtz.prm", with_file("moved.msh", "Mesh/Periodic=y")), ("helmholtz.prm", with_file("cube.msh", *crossed))])

    def test_values_that_contradict_one_another_at_the_ends_of_a_period(self):
        """On other sides; also where one rank has one end only."""
        self.write("mesh.msh", simplices(2, 4))
        for ranks in (1, 3):
            error = self.leopard(self.write("file.prm", HELMHOLTZ), *OF_FILE, "Mesh/Periodic=x", "Mesh/Global refinements=1", "Verification/Refinements=0", "Helmholtz/Exact solution=",
                                 "Helmholtz/Boundary values=0: 1 + x", "Linear solver/Method=cg", ranks=ranks, fails=True)
            self.assertIn("the expression '1 + x' of the entry 'Helmholtz/Boundary values, boundary 0' is ", error)
            self.assertIn("expected: 'Boundary values' that are the same at both ends of 'Mesh/Periodic'", error)
            self.assertEqual(error.count("leopard: "), 1)

    def test_a_solution_that_is_not_periodic_is_told(self):
        _, said = self.stationary(simplices(2, 4), "Verification/Refinements=0", "Helmholtz/Exact solution=cos(pi*x)*cos(2*pi*y)")
        self.assertIn("'Mesh/Periodic' = x, y contradicts 'Helmholtz/Exact solution': most of all it is", said)

    def test_the_mesh_is_described(self):
        self.write("mesh.msh", simplices(2, 4))
        file = self.write("file.prm", with_settings(HELMHOLTZ, [*OF_FILE, "Mesh/Periodic=x"]))
        said = self.run_command([LEOPARD, "--describe-mesh", str(file)]).stdout
        self.assertRegex(said, r"0: 16 lines, length 4, periodic|lines, length 2, periodic")


if __name__ == "__main__":
    import unittest
    unittest.main()
