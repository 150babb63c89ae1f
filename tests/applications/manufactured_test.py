# SPDX-License-Identifier: Apache-2.0
"""Solutions that are known, with the rate of convergence asserted: the terms and settings that no other test has.

| term                              | grid in the plane              | box in space                 | mesh                              | surface           |
| diffusion tensor                  | coefficients: diffusion        | here; coefficients: tensors  | here; coefficients: tensors       | here              |
| diffusion that varies in space    | coefficients: diffusion        | here; expressions: laplace   | here                              | here              |
| cross-diffusion, with the fields  | transport: in_the_plane        | here; transport: in_space    | transport: on_triangles, in_space | here              |
| advection                         | transport: in_the_plane        | here; transport: in_space    | transport: on_triangles, in_space | here              |
| sources that depend on the time   | boundary: BoundaryValuesInTime | here                         | here                              | here              |
| given fluxes, likewise            | boundary: BoundaryValuesInTime | here                         | here                              | has no boundary   |
| prescribed values, likewise       | boundary: BoundaryValuesInTime | here; boundary: fused        | here                              | has no boundary   |
| gamma, constants that vary        | coefficients: reactions        | here                         | here                              | here              |
| species without time derivative   | quasi_stationary: in_space     | here                         | here; quasi_stationary: in_space  | here              |
| periodic in time                  | boundary: in_time              | here                         | here                              | has no boundary   |

"boundary: BoundaryValuesInTime" is that class of boundary_test.py, "coefficients: diffusion" test_rates_of_diffusion in coefficients_test.py, and so on. Cross-diffusion that depends on the
fields is chemotaxis. Orders in time of each scheme: boundary_test.py, time_stepping_test.py, step_control_test.cc; with noise: noise_test.py.
"""
import math

from gmsh_text import MATCHED, simplices
from program import ROOT, Program

MESHES = ROOT / "tests/meshes"
TRIANGLES = f"Domain = file\n set File = {MESHES}/square_triangles_41.msh"  # boundary id 2 is x = 0 and x = 1
TETRAHEDRA = f"Domain = file\n set File = {MESHES}/cube_tetrahedra_22.msh"
DIFFERENCES, ELEMENTS = ("subsection Discretization\n set Method = {}\nend\n".format(f"finite {kind}") for kind in ("differences", "elements"))


def text(exact, entries, mesh, dim=2, more=""):
    """A few short steps of order 2: what is left is the error in space. Kinetics are those of `entries`, or expressions."""
    kinetics = [] if any(entry.startswith("Kinetics =") for entry in entries) else ["Kinetics = expressions", "Steady state = none"]
    return (f"set Problem = turing\nset Dimension = {dim}\nsubsection Turing\n" + "".join(f" set {entry}\n" for entry in kinetics) + "".join(f" set {entry}\n" for entry in entries) +
            "".join(f" set Exact solution {field} = {value}\n set Initial value {field} = {value.replace('exp(-t)', '1')}\n" for field, value in zip("uv", exact)) +
            f"end\nsubsection Mesh\n set {mesh}\nend\nsubsection Time stepping\n set Scheme = BDF2\n set Step control = fixed\n set Step size = {0.01 if dim == 2 else 0.03}\n set End time = {0.05 if dim == 2 else 0.15}\nend\n"
            f"subsection Newton\n set Relative tolerance = 1e-10\nend\nsubsection Verification\n set Refinements = 2\nend\n{more}")


class ManufacturedSolutions(Program):
    def test_in_flat_domains(self):
        """u with a given flux at x = 0 and x = 1 and prescribed values elsewhere, v with prescribed values, all of them other ones at each time.

        The fused time loop wants the same diffusion, but for a number, and prescribed values of both fields at the same nodes."""
        terms = {
            "tensor": (["Diffusion tensor u = 2 + x, 0.3, 1 + y", "Diffusion v = 2"], ["Diffusion tensor u = 2 + x, 0.3, 0.2, 1 + y, -0.1, 2", "Diffusion tensor v = 1, 0, 0.2, 2, 0, 3"],
                       "(2.3 + x)*u_x + 0.2*u_z"),
            "varying": (["Diffusion u = 1 + x*y", "Diffusion v = 2 - x"],) * 2 + ("(1 + x*y)*u_x",),
            "fused": (["Diffusion u = 1 + x*y", "Diffusion v = 1 + x*y"],) * 2 + ("(1 + x*y)*u_x",),
            "carried": (["Diffusion u = 1", "Diffusion v = 2", "Cross-diffusion u = u: 0.2*u^2", "Cross-diffusion v = u: 0.3*v", "Advection v = u, 2*x"],
                        ["Diffusion u = 1", "Diffusion v = 2", "Cross-diffusion u = u: 0.2*u^2", "Cross-diffusion v = u: 0.3*v", "Advection v = u, 2*z, 1 + t"], "(1 + 0.2*u_^2)*u_x"),
            "reaction": (["Kinetics = Schnakenberg", "gamma = 2*(1 + x*y)*(1 + t)", "Schnakenberg a = 0.1 + x*t", "Schnakenberg b = 0.5 + y", "Diffusion u = 1", "Diffusion v = 2"],
                         ["Kinetics = Schnakenberg", "gamma = 2*(1 + x*z)*(1 + t)", "Schnakenberg a = 0.1 + x*t", "Schnakenberg b = 0.5 + y*z", "Diffusion u = 1", "Diffusion v = 2"], "u_x"),
            "quasi-stationary": (["Quasi-stationary species = v", "Diffusion u = 1", "Diffusion v = 2"],) * 2 + ("u_x",)}
        cases = [(term, setting, mesh, dim, more) for setting, mesh, dim, more in (("triangles", TRIANGLES, 2, ""), ("differences", "Global refinements = 1", 3, DIFFERENCES),
                                                                                  ("elements", "Global refinements = 1", 3, ELEMENTS), ("tetrahedra", TETRAHEDRA, 3, ""))
                 for term in terms if setting in ("differences", "elements") or term == "fused" and dim == 2 or term in ("tensor", "varying", "reaction", "quasi-stationary")]
        for term, setting, mesh, dim, more in cases:
            with self.subTest(f"{term}, {setting}"):
                cosine = "cos(z)" if dim == 3 else "1"
                exact = (f"1 + 0.3*exp(-t)*sin(x + y)*{cosine}", f"2 + 0.2*cos(2*x)*exp(y)*exp(-t)*{cosine}")
                flux_of_v = f"(1 + x*y)*(-0.4*sin(2*x)*exp(y)*exp(-t)*{cosine})"
                flux = terms[term][2].replace("u_x", f"0.3*exp(-t)*cos(x + y)*{cosine}").replace("u_z", "(-0.3*exp(-t)*sin(x + y)*sin(z))" if dim == 3 else "0").replace("u_^", f"({exact[0]})^")
                ends = "" if setting == "tetrahedra" else "2: if(x < 0.5, -1, 1)*({0})" if setting == "triangles" else "0: -({0}); 1: {0}"
                entries = [*terms[term][dim - 2], *([] if term == "reaction" else ["Reaction u = v - u", "Reaction v = u - v^2"]), "Boundary values u = automatic", "Boundary values v = automatic",
                           "Boundary fluxes u = " + ends.format(flux), "Boundary fluxes v = " + (ends.format(flux_of_v) if term == "fused" else "")]
                said = self.expect_rate("flat", text(exact, entries, mesh, dim, more), most=0.05 if dim == 3 else 0.02)
                self.assertIn("time loop: fused, " if term == "fused" else "time loop: general, ", said)

    def test_on_the_sphere(self):
        """Of u = z the gradient on the unit sphere is e_z - z x, so that div(D grad z) = z (4 x.Dx - tr D) - 3 (Dx)_z for a matrix D, and (grad D).(grad z) + D laplace z for a number."""
        matrix = "(z*(4*(2*x^2 + 3*y^2 + 1.5*z^2 + 0.6*x*y + x*z - 0.8*y*z) - 6.5) - 3*(0.5*x - 0.4*y + 1.5*z))"
        tensor = (("1 + z*exp(-t)", "2 + z*exp(-t)"), ["Diffusion tensor u = 2, 0.3, 0.5, 3, -0.4, 1.5", f"Source u = 1 - exp(-t)*{matrix}",
                                                       "Diffusion v = 1 + z/2", "Source v = 2 - exp(-t)*(0.5 - 2*z - 1.5*z^2)"])
        carried = (("1 + z*exp(-t)", "2 + x*exp(-t)"), ["Diffusion u = 1", "Cross-diffusion u = v: -0.5*u", "Source u = 1 + 2*z*exp(-t) - 0.5*(2*x*exp(-t) + 3*x*z*exp(-2*t))",
                                                        "Diffusion v = 1", "Advection v = -3*y, 3*x, 0", "Source v = 2 + (2*x - 3*y)*exp(-t)"])
        gamma, u, v = "3*(1 + 0.5*z)*(1 + t)", "(1 + z*exp(-t))", "(2 + x*exp(-t))"
        reaction = ((u, v), ["Kinetics = Schnakenberg", f"gamma = {gamma}", "Schnakenberg a = 0.1 + 0.1*x*t", "Schnakenberg b = 0.9 + 0.2*y", "Diffusion u = 1", "Diffusion v = 1",
                             f"Source u = z*exp(-t) - {gamma}*(0.1 + 0.1*x*t - {u} + {u}^2*{v})", f"Source v = x*exp(-t) - {gamma}*(0.9 + 0.2*y - {u}^2*{v})"])
        quasi_stationary = ((u, "2 + z*exp(-t)"), ["Quasi-stationary species = v", "Diffusion u = 1", "Diffusion v = 1", "Reaction u = v - u", "Reaction v = u - v",
                                                   "Source u = z*exp(-t) - 1", "Source v = 1 + 2*z*exp(-t)"])
        decay = ["Reaction u = -u", "Reaction v = -v"]
        for exact, entries in ((tensor[0], tensor[1] + decay), (carried[0], carried[1] + decay), reaction, quasi_stationary):
            with self.subTest(entries[0]):
                self.expect_rate("sphere", text(exact, entries, "Domain = sphere\n set Radius = 1\n set Global refinements = 2"))

    def test_periodic_in_time(self):
        """In a box, on a mesh file of quadrilaterals, on triangles and tetrahedra, in both time loops; nothing flows through the other sides."""
        plane = ("1 + exp(-t)/2*cos(2*pi*x + 1)*cos(2*pi*y)", "1 + exp(-t)/2*cos(2*pi*x + 2)")
        space = ("1 + exp(-t)/2*cos(2*pi*x + 1)*cos(pi*y)*cos(2*pi*z)", "1 + exp(-t)/2*cos(2*pi*z + 2)")
        for name, mesh in (("strip", MATCHED), ("triangles", simplices(2, 6, 0.2)), ("tetrahedra", simplices(3, 4, 0.2))):
            self.write(f"{name}.msh", mesh)
        files = {name: f"Domain = file\n set File = {name}.msh" for name in ("strip", "triangles", "tetrahedra")}
        for name, dim, mesh, more in (("strip", 2, files["strip"] + "\n set Global refinements = 2", ""), ("triangles", 2, files["triangles"], ""), ("tetrahedra", 3, files["tetrahedra"], ""),
                                      ("differences", 3, "Global refinements = 2", DIFFERENCES), ("elements", 3, "Global refinements = 2", ELEMENTS)):
            for engine in ("fused", "general"):
                with self.subTest(f"{name}, {engine}"):
                    entries = ["Diffusion u = 1", "Diffusion v = 2", "Reaction u = v - u", "Reaction v = u - v^2"]
                    file = text(plane if dim == 2 else space, entries, f"{mesh}\n set Periodic = {'x' if dim == 2 else 'x, z'}", dim, more)
                    said = self.expect_rate("periodic", file.replace("subsection Time stepping\n", f"subsection Time stepping\n set Engine = {engine}\n"), most=0.02 if dim == 2 else 0.05)
                    self.assertIn(f"time loop: {engine}", said)

    def test_gradients_on_thin_domains(self):
        """The gradient of the exact solution was a difference quotient with a step of the long side: 1e-5 times it is more than the whole of the short one."""
        for thickness, wave in ((1, "cos(y)"), (1e-3, "cos(1e3*y)"), (1e-6, "cos(1e6*y)"), (1e-9, "cos(1e9*y)")):
            self.leopard(self.write("thin.prm", f"set Problem = laplace\nsubsection Laplace\n set Exact solution = sin(3*x)*{wave}\nend\nsubsection Mesh\n set Domain = box\n set Upper corner = 1, {thickness}\n"
                                    " set Global refinements = 3\nend\nsubsection Verification\n set Refinements = 1\nend\nsubsection Linear solver\n set Method = direct\nend\n"))
            last = self.convergence("thin")[-1]
            # of bilinear elements h/sqrt(12) times second derivatives; of thin domains those across, sqrt(|u_yy|^2 area/12) h, are all
            self.assertAlmostEqual(float(last["h1_seminorm_rate"]), 1, delta=0.05, msg=thickness)
            if thickness < 1:
                second = math.sqrt((0.5 - math.sin(6) / 12) * (0.5 + math.sin(2) / 4))
                self.assertAlmostEqual(float(last["h1_seminorm_error"]) * math.sqrt(thickness), second / 16 / math.sqrt(12), delta=5e-3 * second, msg=thickness)

    def test_gradients_to_rounding(self):
        """Of what the elements have exactly: in the plane, on skewed cells and on a surface nothing is left but rounding."""
        for exact, mesh in (("x*y", "Global refinements = 3"), ("1 + x - 2*y", TRIANGLES), ("3*x*y + y", "Upper corner = 1, 1e-6")):
            self.leopard(self.write("linear.prm", f"set Problem = laplace\nsubsection Laplace\n set Exact solution = {exact}\nend\nsubsection Mesh\n set {mesh}\nend\nsubsection Linear solver\n set Method = direct\nend\n"))
            self.assertLess(float(self.convergence("linear")[-1]["h1_seminorm_error"]), 1e-10, exact)

    def test_a_tolerance_that_limits_the_rates_is_named(self):
        """Q3: at nodes the rates were 4.78, 3.62, -0.13, and nothing said why."""
        file = self.write("q3.prm", "set Problem = laplace\nsubsection Laplace\n set Exact solution = sin(3*x)*exp(y)+x*y^2\nend\nsubsection Mesh\n set Global refinements = 2\nend\n"
                          "subsection Verification\n set Refinements = 3\nend\nsubsection Discretization\n set Degree = 3\nend\n")
        says = "the error at nodes is of the size that 'Linear solver/Relative tolerance' = "
        self.assertIn(says + "1e-08 leaves, and rates may show that: to try: 1e-12", self.leopard(file))
        for settings in (["Linear solver/Relative tolerance=1e-12"], ["Discretization/Degree=1"], ["Linear solver/Method=direct"]):
            self.assertNotIn(says, self.leopard(file, *settings), settings)

    def test_there_is_no_rate_where_errors_are_zero(self):
        self.leopard(self.write("zero.prm", "set Problem = laplace\nsubsection Laplace\n set Exact solution = 0\nend\nsubsection Mesh\n set Global refinements = 1\nend\n"
                                "subsection Verification\n set Refinements = 1\nend\n"))
        table = (self.folder / "output/zero/convergence.txt").read_text()
        self.assertRegex(table, r"\n +1 .* 0\.00000e\+00 +- +0\.00000e\+00 +- +0\.00000e\+00 +-\n")
        self.assertEqual([self.convergence("zero")[-1][f"{error}_rate"] for error in ("l2", "h1_seminorm", "nodal_maximum")], ["", "", ""])


if __name__ == "__main__":
    import unittest
    unittest.main()
