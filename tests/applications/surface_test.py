# SPDX-License-Identifier: Apache-2.0
"""Surfaces in space: spherical harmonics, areas, closed Gmsh surfaces, ranks, and what is refused."""
import math
import re

from program import FILES, ROOT, Program

VERIFICATION = FILES / "verification"
TINY = ROOT / "tests/output/tiny_turing.prm"
ELEMENTS = "Discretization/Method=finite elements"


class Surfaces(Program):
    # x y is a spherical harmonic of degree 2: -laplace u = 6 u on the unit sphere
    SPHERE = ("set Problem = helmholtz\nsubsection Helmholtz\n set Delta = 1\n set Exact solution = x*y\n set Source = 7*x*y\nend\n"
              "subsection Mesh\n set Domain = sphere\n set Global refinements = 2\nend\n"
              "subsection Linear solver\n set Method = cg\n set Preconditioner = async\n set Schedule = synchronous\n set Relative tolerance = 1e-12\nend\n"
              "subsection Verification\n set Refinements = 2\nend\n")

    def test_spherical_harmonic_has_its_rate(self):
        file = self.write("sphere.prm", self.SPHERE)
        for degree, settings in ((1, []), (2, []), (1, ["Linear solver/Preconditioner=amg"])):
            self.leopard(file, f"Discretization/Degree={degree}", *settings)
            rows = self.convergence("sphere")
            self.assertAlmostEqual(float(rows[-1]["l2_rate"]), degree + 1, delta=0.2, msg=f"{degree} {settings}")
            self.assertLess(float(rows[-1]["l2_error"]), 0.02)

    def test_harmonic_decays_on_a_growing_sphere(self):
        # exponential growth, L = exp(r t): the mode z decays by exp(-2 (1 - exp(-2 r t))/(2 r)) and is diluted by exp(-2 r t)
        r, t = 1.5, 0.2
        file = self.write("mode.prm", "set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Steady state = none\n set Species = u\n set Reaction u = 0*u\n"
                          " set Diffusion u = 1\n set Initial value u = 2 + z\nend\nsubsection Mesh\n set Domain = sphere\n set Global refinements = 4\n set Growth = exponential\n"
                          f" set Growth rate = {r}\nend\nsubsection Time stepping\n set Step control = fixed\n set Step size = 0.005\n set End time = {t}\nend\n"
                          "subsection Linear solver\n set Method = direct\nend\n")
        self.leopard(file)
        columns, rows = self.statistics("mode")
        last = dict(zip(columns, rows[-1]))
        amplitude = (last["maximum of u (dimensionless)"] - last["minimum of u (dimensionless)"]) / 2
        self.assertAlmostEqual(amplitude / math.exp(-(1 - math.exp(-2 * r * t)) / r - 2 * r * t), 1, delta=0.01)
        self.assertAlmostEqual(last["total mass of u (dimensionless)"] / (2 * 4 * math.pi), 1, delta=0.01)
        for row in rows:
            self.assertLess(abs(row[columns.index("mass balance of u: change in the step less integrated reaction (dimensionless)")]), 1e-8)
        wave_number = [name for name in columns if name.startswith("dominant wave number")]
        self.assertAlmostEqual(last[wave_number[0]] * math.exp(r * t) / math.sqrt(2), 1, delta=0.01)

    def test_areas(self):
        for settings, area in ((["Mesh/Domain=sphere", "Mesh/Radius=2"], 16 * math.pi), (["Mesh/Domain=torus", "Mesh/Radius=1", "Mesh/Tube radius=0.25"], math.pi**2)):
            self.leopard(TINY, ELEMENTS, *settings, "Linear solver/Method=direct")
            columns, rows = self.statistics("tiny_turing")
            last = dict(zip(columns, rows[-1]))
            self.assertAlmostEqual(last["total mass of u (dimensionless)"] / last["mean of u (dimensionless)"] / area, 1, delta=0.01)
            said = self.leopard(TINY, ELEMENTS, *settings, options=["--validate"])
            self.assertAlmostEqual(float(re.search(r"area ([0-9.]+)\)", said)[1]) / area, 1, delta=1e-3)

    def test_closed_gmsh_surface_on_one_and_two_ranks(self):
        last = []
        for ranks in (1, 2):
            self.leopard(TINY, ELEMENTS, "Mesh/Domain=surface file", f"Mesh/File={ROOT}/meshes/cat.msh", "Mesh/Global refinements=0", "Linear solver/Method=gmres", "Linear solver/Preconditioner=async", ranks=ranks)
            last.append(self.statistics("tiny_turing")[1][-1][10:19])
        for one, two in zip(*last):
            self.assertAlmostEqual(one, two, delta=1e-6)

    def test_a_resumed_run_goes_on(self):
        settings = [ELEMENTS, "Mesh/Domain=torus", "Mesh/Global refinements=2", "Linear solver/Method=direct", "Newton/Relative tolerance=1e-12"]
        self.leopard(TINY, *settings)
        reference = self.statistics("tiny_turing")[1][-1]
        self.leopard(TINY, *settings, "Time stepping/End time=0.002")
        self.leopard(TINY, *settings, options=["--resume"])
        for one, two in zip(self.statistics("tiny_turing")[1][-1][10:17], reference[10:17]):
            self.assertAlmostEqual(one, two, delta=1e-9)

    def test_bad_input(self):
        sphere = [ELEMENTS, "Mesh/Domain=sphere"]
        for settings, says in (([*sphere, "Linear solver/Method=gmres", "Linear solver/Preconditioner=multigrid"], "does not support there"),
                               ([*sphere, "Dimension=3"], "a surface, but 'Dimension' is 3"),
                               (["Mesh/Domain=sphere"], "finite differences"),
                               ([*sphere, "Mesh/Radius=0"], "'Mesh/Radius' is 0"),
                               ([ELEMENTS, "Mesh/Domain=torus", "Mesh/Tube radius=2"], "'Mesh/Tube radius' is 2"),
                               ([ELEMENTS, "Mesh/Domain=surface file"], "'Mesh/File' is empty")):
            error = self.leopard(TINY, *settings, fails=True)
            self.assertIn(says, error)
            self.assertEqual(error.count("leopard: "), 1)
        self.assertFalse((self.folder / "output").exists())


if __name__ == "__main__":
    import unittest
    unittest.main()
