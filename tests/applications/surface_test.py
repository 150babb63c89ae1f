# SPDX-License-Identifier: Apache-2.0
"""Surfaces in space: spherical harmonics, areas, closed Gmsh surfaces, ranks, and what is refused."""
import base64
import math
import re
import struct
import zlib

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
            self.assertAlmostEqual(float(rows[-1]["h1_seminorm_rate"]), degree, delta=0.2, msg=f"tangential gradient, {degree} {settings}")
            self.assertLess(float(rows[-1]["l2_error"]), 0.02)

    def test_product_of_coordinates_on_a_torus_has_its_rate(self):
        # laplace x_i = -H n_i on a surface with the outward normal n and H the sum of its principal curvatures (Dziuk, Elliott 2013, section 2), and
        # grad x . grad y = -n_x n_y for x unlike y; here H = 1/r + cos(theta)/rho, rho the distance from the axis y, cos(theta) = (rho - R)/r
        big, small = 1, 0.4
        rho = "sqrt(x^2 + z^2)"
        cosine = f"(({rho} - {big})/{small})"
        curvature, n_x, n_y = f"(1/{small} + {cosine}/{rho})", f"({cosine}*x/{rho})", f"(y/{small})"
        file = self.write("torus.prm", self.SPHERE.replace("7*x*y", f"x*y + {curvature}*(x*{n_y} + y*{n_x}) + 2*{n_x}*{n_y}").replace("Domain = sphere", "Domain = torus"))
        for degree, refinements in ((1, 2), (2, 1)):
            self.leopard(file, f"Discretization/Degree={degree}", f"Mesh/Radius={big}", f"Mesh/Tube radius={small}", f"Mesh/Global refinements={refinements}")
            rows = self.convergence("torus")
            self.assertAlmostEqual(float(rows[-1]["l2_rate"]), degree + 1, delta=0.2, msg=degree)
            self.assertAlmostEqual(float(rows[-1]["h1_seminorm_rate"]), degree, delta=0.2, msg=f"tangential gradient, {degree}")
            self.assertLess(float(rows[-1]["l2_error"]), 0.02)

    def test_fields_of_a_torus_in_files(self):
        # as many nodes as cells, so that a vector of nodes could be taken for one of cells
        file = self.write("torus.prm", self.SPHERE.replace("7*x*y", "1").replace("x*y", "1").replace("Domain = sphere", "Domain = torus"))
        self.leopard(file, "Helmholtz/Exact solution=", "Helmholtz/Source=x + 3*y", "Mesh/Global refinements=1", "Verification/Refinements=0")
        text = next((self.folder / "output/torus/solution").glob("*.vtu")).read_text()
        arrays = [re.search(rf"<DataArray[^>]*{name}[^>]*>\s*(\S+)\s*<", text)[1] for name in ('NumberOfComponents="3"', 'Name="u"')]
        points, values = (struct.unpack(f"<{len(data) // 4}f", data) for data in (zlib.decompress(base64.b64decode(array[24:])) for array in arrays))
        at = {}
        for i, value in enumerate(values):
            at.setdefault(tuple(round(x, 5) for x in points[3 * i:3 * i + 3]), set()).add(value)
        self.assertEqual(len(values), 4 * len(at))
        self.assertEqual({len(found) for found in at.values()}, {1}, "the field is not continuous")
        self.assertGreater(max(values) - min(values), 0.1)

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
        self.assertAlmostEqual(last[self.wave_number(columns)] * math.exp(r * t) / math.sqrt(2), 1, delta=0.01)

    def test_areas(self):
        for settings, area in ((["Mesh/Domain=sphere", "Mesh/Radius=2"], 16 * math.pi), (["Mesh/Domain=torus", "Mesh/Radius=1", "Mesh/Tube radius=0.25"], math.pi**2), (["Mesh/Domain=torus", "Mesh/Radius=1", "Mesh/Tube radius=0.9"], 3.6 * math.pi**2)):
            self.leopard(TINY, ELEMENTS, *settings, "Linear solver/Method=direct")
            columns, rows = self.statistics("tiny_turing")
            last = dict(zip(columns, rows[-1]))
            self.assertAlmostEqual(last["total mass of u (dimensionless)"] / last["mean of u (dimensionless)"] / area, 1, delta=0.01)
            said = self.leopard(TINY, ELEMENTS, *settings, options=["--validate"])
            self.assertAlmostEqual(float(re.search(r"area ([0-9.]+)\)", said)[1]) / area, 1, delta=1e-3)

    def test_expected_wave_numbers_of_a_sphere(self):
        # disturbances with a degree l of spherical harmonics grow as theory says: z is one of degree 1, k^2 = 2/R^2
        said = self.leopard(FILES / "gallery/sphere.prm", options=["--validate"])
        degree, k = re.search(r"unstable modes; the fastest: degree ([0-9]+) with k = ([0-9.]+)", said).groups()
        self.assertAlmostEqual(float(k)**2, int(degree) * (int(degree) + 1), delta=0.01)
        self.leopard(FILES / "gallery/sphere.prm", "Mesh/Global refinements=4", "Mesh/Radius=0.5", "Turing/gamma=30", "Turing/Perturbation=0", "Turing/Start from steady state=false",
                     "Turing/Initial value u=0.919138 + 1e-4*z", "Turing/Initial value v=0.937900", "Time stepping/End time=0.1", "Time stepping/Scheme=BDF2", "Time stepping/Step control=fixed",
                     "Time stepping/Step size=1e-3", "Output/Log every=1")
        columns, rows = self.statistics("sphere")
        self.assertAlmostEqual(dict(zip(columns, rows[0]))[self.wave_number(columns)] * 0.5 / math.sqrt(2), 1, delta=0.01)

    def turing_run(self, name, *settings, ranks=1):
        """A run to a pattern; the measures at its end."""
        self.leopard(FILES / f"gallery/{name}.prm", *settings, ranks=ranks)
        columns, rows = self.statistics(name)
        last = dict(zip(columns, rows[-1]))
        measures = [i for i, column in enumerate(columns) if " of u " in column or " of v " in column]
        self.assertTrue(all(math.isfinite(row[i]) for row in rows for i in measures))
        self.assertLessEqual(max(row[columns.index("linear iterations")] / row[columns.index("Newton steps")] for row in rows), 40)
        for field in "uv":
            self.assertGreater(last[f"minimum of {field} (dimensionless)"], 0)
        return last, columns

    @staticmethod
    def wave_number(columns):
        return next(name for name in columns if name.startswith("dominant wave number"))

    def test_patterns(self):
        # a fraction of the gallery's refinements and gammas; a sphere's wave number is that of a degree l of spherical harmonics that can grow
        coarse = ["Mesh/Global refinements=4", "Turing/gamma=150", "Time stepping/End time=0.5", "Turing/Perturbation=0.05"]
        last, columns = self.turing_run("sphere", *coarse)
        self.assertGreater(last["maximum of u (dimensionless)"], 1.5)
        k_min, k_max = self.run_json("sphere")["analysis"]["unstable_wave_numbers"][0]
        self.assertTrue(k_min < last[self.wave_number(columns)] < k_max)
        last, _ = self.turing_run("sphere", *coarse, "Mesh/Domain=torus", "Mesh/Tube radius=0.4", "Mesh/Global refinements=3")
        self.assertGreater(last["maximum of u (dimensionless)"], 1.5)

    def test_closed_gmsh_surface_on_one_and_two_ranks(self):
        coarse = ["Mesh/Global refinements=0", "Turing/gamma=1500", "Time stepping/End time=0.02", "Time stepping/Scheme=BDF2", "Time stepping/Step control=fixed", "Time stepping/Step size=1e-4",
                  "Linear solver/Relative tolerance=1e-10"]
        runs = []
        for ranks in (1, 2):
            last, columns = self.turing_run("leopard_skin", *coarse, ranks=ranks)
            runs.append([last[name] for name in columns if name.startswith(("minimum", "maximum", "mean", "total"))])
        for one, two in zip(*runs):
            self.assertAlmostEqual(one, two, delta=1e-6)

    def test_relaxation_at_the_asynchronous_bound(self):
        # async-(k) alone, chaotic, with the steps that theory gives: every linear system is solved
        self.leopard(FILES / "gallery/leopard_skin.prm", "Mesh/Global refinements=0", "Time stepping/Scheme=implicit Euler", "Time stepping/Step control=asynchronous bound",
                     "Time stepping/End time=2e-4", "Linear solver/Method=async", "Linear solver/Preconditioner=none", "Linear solver/Omega=1", "Linear solver/Schedule=chaotic", "Linear solver/Max iterations=200", "Output/Log every=1")
        columns, rows = self.statistics("leopard_skin")
        self.assertAlmostEqual(rows[-1][1], 2e-4, delta=1e-12)
        self.assertGreater(len(rows), 3)

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
                               ([ELEMENTS, "Mesh/Domain=torus", "Mesh/Tube radius=1e-9"], "'Mesh/Tube radius' is 1e-09"),
                               ([ELEMENTS, "Mesh/Domain=surface file"], "'Mesh/File' is empty"),
                               ([*sphere, "Study=smoothers"], "'Study' is smoothers")):
            error = self.leopard(TINY, *settings, fails=True)
            self.assertIn(says, error)
            self.assertEqual(error.count("leopard: "), 1)
        self.assertFalse((self.folder / "output").exists())
        # found when the run begins
        meshes = ROOT / "meshes"
        for settings, says in (([*sphere, "Time stepping/Engine=fused", "Discretization/Mass matrix=consistent"], "'Time stepping/Engine' is fused"),
                               ([*sphere, "Problem=laplace", "Linear solver/Method=direct"], "prescribes boundary values nowhere"),
                               ([*sphere, "Problem=helmholtz", "Helmholtz/Boundary values=3: 1"], "names the boundary id 3"),
                               ([ELEMENTS, "Mesh/Domain=surface file", f"Mesh/File={meshes}/block_with_hole.msh"], "cannot be used"),
                               ([ELEMENTS, "Mesh/Domain=file", f"Mesh/File={meshes}/leopard_skin.msh"], "expected: Domain = surface file")):
            error = self.leopard(TINY, *settings, fails=True)
            self.assertIn(says, error)
            self.assertEqual(error.count("leopard: "), 1)


if __name__ == "__main__":
    import unittest
    unittest.main()
