# SPDX-License-Identifier: Apache-2.0
"""'Turing/Quasi-stationary species' and species that do not diffuse: known solutions, fourth order by two fields, linear theory, and what is refused."""
import math

from program import FILES, ROOT, Program

MESHES = ROOT / "tests/meshes"
EXACT = ("(1 + 0.3*cos(pi*x)*cos(pi*y))*exp(-t)", "2 + 0.2*cos(pi*x)*cos(2*pi*y)*cos(3*t)")


def text(*entries, exact=EXACT, mesh="Global refinements = 3", refinements=2, steps="Step control = fixed\n set Step size = 0.05\n set End time = 0.15", more=""):
    """u and v, of which v has no time derivative, with sources that make the exact solution one."""
    initial = [value.replace("exp(-t)", "1").replace("cos(3*t)", "1") for value in exact]
    given = [f" set {what} {field} = {value}" for field, value, start in zip("uv", exact, initial) for what, value in (("Exact solution", value), ("Initial value", start))]
    own = ["Reaction u = v - u", "Reaction v = u - v^2", "Diffusion u = 1", "Diffusion v = 2", "Steady state = none", "Quasi-stationary species = v"]
    given += [f" set {entry}" for entry in own if not any(other.startswith(entry.split(" =")[0] + " =") for other in entries)]
    return ("set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n" + "\n".join(given) + "\n" + "".join(f" set {entry}\n" for entry in entries) +
            f"end\nsubsection Mesh\n set {mesh}\nend\nsubsection Time stepping\n set {steps}\nend\nsubsection Newton\n set Relative tolerance = 1e-10\nend\n"
            f"subsection Linear solver\n set Method = direct\nend\nsubsection Verification\n set Refinements = {refinements}\nend\n{more}")


STILL = tuple(value.replace("*exp(-t)", "").replace("*cos(3*t)", "") for value in EXACT)
FOURTH_ORDER = {  # in a strip without flux through its ends; growth rate of cos(k x)
    "cahn_hilliard": (lambda k: k**2 * (1 - 0.02**2 * k**2), 1.),
    "swift_hohenberg": (lambda k: 0.3 - (1 - k**2)**2, 4 * math.pi)}


class QuasiStationary(Program):
    def test_orders_in_space(self):
        for method in ("finite differences", "finite elements"):
            self.expect_rate("square", text(exact=STILL, more=f"subsection Discretization\n set Method = {method}\nend\n"))
        self.expect_rate("cross", text("Cross-diffusion v = u: -0.3*v", "Cross-diffusion u = v: 0.1*u", exact=STILL))
        values = ["Boundary values u = automatic", "Boundary values v = automatic"]
        self.expect_rate("triangles", text(*values, exact=("1 + 0.3*sin(x + y)", "2 + 0.2*cos(2*x)*exp(y)"), mesh=f"Domain = file\n set File = {MESHES}/square_triangles_41.msh"))
        consistent = "subsection Discretization\n set Method = finite elements\n set Mass matrix = consistent\nend\n"
        said = self.expect_rate("ranks", text(exact=STILL, more=consistent, refinements=1).replace("Method = direct", "Method = automatic"), ranks=2)
        self.assertIn("gmres with preconditioner ilu", said)

    def test_orders_in_time(self):
        """Both fields have the order of the scheme: linear in x and y, so that only the steps make errors."""
        exact = ("(1 + x + 0.5*y)*exp(-t)", "2 + x*cos(3*t)")
        values = ["Boundary values u = automatic", "Boundary values v = automatic", "Reaction v = u - 2*v", "Quasi-stationary species = v"]
        for scheme, rate in (("implicit Euler", 1), ("BDF2", 2)):
            file = text(*values, exact=exact, steps=f"Scheme = {scheme}\n set Step control = fixed\n set Step size = 0.0125\n set End time = 0.2")
            self.expect_rate("time", file.replace("Refinements = 2", "Refinements = 2\n set Refine = time"), rate=rate, most=0.05)

    def test_higher_order_with_controlled_errors(self):
        """BDF3 follows what has no time derivative, too: a tolerance a hundred times as small, an error at most a tenth of it."""
        errors = []
        for tolerance in ("1e-4", "1e-6"):
            file = text(exact=("(1 + x + 0.5*y)*exp(-t)", "2 + x*cos(3*t)"), refinements=1,
                        steps=f"Scheme = BDF3\n set Error tolerance = {tolerance}\n set Step size = 1e-5\n set End time = 0.5")
            file = file.replace("subsection Turing\n", "subsection Turing\n set Boundary values u = automatic\n set Boundary values v = automatic\n")
            self.leopard(self.write("controlled.prm", file))
            errors.append(float(self.convergence("controlled")[-1]["l2_error"]))
        self.assertLess(errors[1], 0.1 * errors[0])

    def elliptic(self):
        file = text("Reaction u = 0", "Reaction v = u - v", "Diffusion v = 1", exact=("0", "0"), refinements=0, mesh="Global refinements = 6")
        return "".join(line + "\n" for line in file.splitlines() if "Exact" not in line)

    def test_first_values_are_found(self):
        """0 = laplace v + u - v with u = cos(pi x): v = cos(pi x)/(1 + pi^2), whatever the file begins with."""
        file = self.elliptic()
        for first in ("0", "7*x", "1e6"):
            for ranks in (1, 2):
                said = self.leopard(self.write("first.prm", file), "Turing/Initial value u=cos(pi*x)", f"Turing/Initial value v={first}", "Time stepping/End time=0.05", ranks=ranks)
                self.assertIn("0 = gamma f_v + 1 laplace v", said)
                ratio = [v / u for u, v in zip(self.column("first", "maximum of u"), self.column("first", "maximum of v"))]
                for value in ratio:
                    self.assertAlmostEqual(value, 1 / (1 + math.pi**2), delta=1e-4)

    def test_first_values_are_written(self):
        try:
            import vtk
        except ImportError as error:
            self.skipTest(str(error))
        self.leopard(self.write("first.prm", self.elliptic()), "Turing/Initial value u=cos(pi*x)", "Turing/Initial value v=7*x", "Time stepping/End time=0.05")
        reader = vtk.vtkXMLUnstructuredGridReader()
        reader.SetFileName(str(self.folder / "output/first/solution/solution_0000000.0000.vtu"))
        reader.Update()
        u, v = (reader.GetOutput().GetPointData().GetArray(field).GetRange() for field in "uv")
        self.assertEqual(u, (-1, 1))
        self.assertAlmostEqual(v[1], 1 / (1 + math.pi**2), delta=1e-4)

    def test_the_limit_of_a_fast_species(self):
        """A species that is a thousand times as fast as the others differs from one that is at once where it should be by about a thousandth."""
        file, ends = FILES / "gallery/swift_hohenberg.prm", []
        settings = ["Mesh/Upper corner=12.566370614359172", "Mesh/Global refinements=4", "Turing/Perturbation=0", "Turing/Initial value u=0.3*cos(x)", "Time stepping/End time=1", "Time stepping/Error tolerance=1e-6",
                    "Turing/Steady state=none", "Linear solver/Method=direct"]
        for rates in ([], [f"Turing/{entry}" for entry in ("Quasi-stationary species=", "Reaction w=1000*(u - w)", "Cross-diffusion w=u: 1000", "Initial value w=0")]):
            self.leopard(file, *settings, *rates)
            ends.append(self.column("swift_hohenberg", "maximum of u")[-1])
        self.assertGreater(ends[0], 0.36)
        self.assertAlmostEqual(ends[0], ends[1], delta=2e-3)
        self.assertNotEqual(ends[0], ends[1])

    def test_fourth_order_grows_as_theory_says(self):
        for name, (rate, length) in FOURTH_ORDER.items():
            file = FILES / f"gallery/{name}.prm"
            for waves in (3, 6):
                k = 2 * math.pi * waves / length
                h = length / 128
                discrete = 2 / h * math.sin(k * h / 2)  # of the differences: k^2 becomes this squared
                expected = rate(discrete)
                step = 0.01 / max(abs(expected), 0.1)
                self.leopard(file, "Turing/Perturbation=0", f"Turing/Initial value u=1e-5*cos({k}*x)", f"Mesh/Upper corner={length}", "Time stepping/Step control=fixed", "Time stepping/Scheme=BDF2",
                             f"Time stepping/Step size={step}", f"Time stepping/End time={20 * step}", "Output/Interval=0", "Output/Log every=1", "Newton/Relative tolerance=1e-9")
                size, times = self.column(name, "maximum of u"), self.column(name, "time")
                found = math.log(size[-1] / size[3]) / (times[-1] - times[3])
                self.assertAlmostEqual(found, expected, delta=1e-3 * abs(expected), msg=f"{name} {waves}")
                self.assertAlmostEqual(found, rate(k), delta=0.03 * abs(rate(k)) + 0.01, msg=f"{name} {waves}")

    def test_what_the_analysis_says(self):
        for name, fastest, growth, last in (("cahn_hilliard", 1 / (math.sqrt(2) * 0.02), 625, 50), ("swift_hohenberg", 1, 0.3, math.sqrt(1 + math.sqrt(0.3)))):
            said = self.leopard(FILES / f"gallery/{name}.prm", "Mesh/Global refinements=4", "Time stepping/End time=1e-5", "Output/Interval=0")
            found = self.run_json(name)["analysis"]
            self.assertAlmostEqual(found["fastest"]["k"], fastest, delta=1e-4 * fastest)
            self.assertAlmostEqual(found["fastest"]["growth_rate"], growth, delta=1e-6 * growth)
            self.assertAlmostEqual(found["unstable_wave_numbers"][-1][1], last, delta=1e-4 * last)
            self.assertEqual(found["quasi_stationary"], ["w"])
            self.assertEqual(len(found["eigenvalues"]), 1)
            self.assertIn("gmres with preconditioner ilu", said)
            self.assertNotIn("becomes negative", said)

    def test_mass_and_resume(self):
        """Phases part and lose nothing; a run that goes on finds what one without an end in between does."""
        file, settings = FILES / "gallery/cahn_hilliard.prm", ["Mesh/Global refinements=5", "Output/Log every=1", "Time stepping/End time=8e-3", "Output/Interval=0", "Linear solver/Method=direct", "Linear solver/Threads=1"]
        self.leopard(file, *settings, "Run/Directory=output/whole", "Newton/Absolute tolerance=1e-14", "Newton/Error fraction=0")
        masses = self.column("whole", "total mass of u")
        self.assertGreater(len(masses), 20)
        for mass in masses:
            self.assertAlmostEqual(mass, masses[0], delta=1e-13)
        for field in "uw":
            self.assertLess(max(abs(balance) for balance in self.column("whole", f"mass balance of {field}")), 1e-10)
        self.assertGreater(self.column("whole", "maximum of u")[-1], 10 * self.column("whole", "maximum of u")[0])
        exact = ["Newton/Absolute tolerance=1e-14", "Newton/Error fraction=0", "Run/Checkpoint steps=1"]
        self.leopard(file, *settings, *exact, "Time stepping/End time=4e-3")
        self.leopard(file, *settings, *exact, options=["--resume"])
        for field in "uw":
            for extreme in ("minimum", "maximum"):
                whole, resumed = (self.column(name, f"{extreme} of {field}")[-1] for name in ("whole", "cahn_hilliard"))
                self.assertAlmostEqual(whole, resumed, delta=5e-3 * abs(whole))

    def test_linear_theory_of_four_species_of_which_one_does_not_diffuse(self):
        """The determinant of four diffusions is one of a singular matrix."""
        file = ("set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Species = u, v, w, p\n set Reaction u = 0.1 - u + u^2*v\n set Reaction v = 0.9 - u^2*v\n"
                " set Reaction w = u - w\n set Reaction p = w - p\n set Diffusion u = 1\n set Diffusion v = 20\n set Diffusion w = 0\n set Diffusion p = 1\n set gamma = 300\n"
                " set Start from steady state = true\n set Perturbation = 0.02\nend\nsubsection Mesh\n set Global refinements = 3\nend\nsubsection Time stepping\n set End time = 0.002\nend\n")
        said = self.leopard(self.write("four.prm", file))
        self.assertIn("a pattern of wavelength", said)
        self.assertIn("it knows no species that do not diffuse", said)

    def test_a_species_that_does_not_diffuse(self):
        """u_t = v - u at each place for itself, v at rest: u = v (1 - exp(-t))."""
        file = text("Reaction v = 0", "Diffusion u = 0", "Quasi-stationary species =", exact=("(1 + x)*(1 - exp(-t))", "1 + x"), steps="Step control = fixed\n set Step size = 0.01\n set End time = 0.5", refinements=0)
        file = file.replace("set Initial value u = (1 + x)*(1 - 1)", "set Initial value u = 0").replace("subsection Turing\n", "subsection Turing\n set Boundary values v = automatic\n set Source u = 0\n set Source v = 0\n")
        said = self.leopard(self.write("rest.prm", file), "Linear solver/Method=automatic")
        self.assertIn("u_t = gamma f_u, v_t", said)
        self.assertIn("it knows no species that do not diffuse", said)
        self.assertAlmostEqual(self.column("rest", "maximum of u")[-1], 2 * (1 - math.exp(-0.5)), delta=1e-4)
        self.assertAlmostEqual(self.column("rest", "minimum of u")[-1], 1 - math.exp(-0.5), delta=1e-4)


class QuasiStationaryThatCannotBe(Program):
    def test_bad_input(self):
        file, plain = FILES / "gallery/swift_hohenberg.prm", self.write("plain.prm", text(exact=STILL, refinements=0))
        self.invalid([
            (file, ["Turing/Quasi-stationary species=p"], ["'Turing/Quasi-stationary species' is 'p': 'p' is no species", "not all of u, w"]),
            (file, ["Turing/Quasi-stationary species=w, w"], ["'w' stands there twice"]),
            (file, ["Turing/Quasi-stationary species=w, u"], ["none is left that changes in time"]),
            (plain, ["Turing/Noise v=1"], ["'Turing/Noise v' is given, and random forces act on what has a time derivative"]),
            (plain, ["Time stepping/Scheme=SBDF2"], ["'Turing/Quasi-stationary species' is given, and 'Time stepping/Scheme' is SBDF2", "implicit Euler, BDF2 or BDF3"]),
            (plain, ["Time stepping/Step control=asynchronous bound"], ["'Time stepping/Step control' is asynchronous bound", "another step control"]),
            (plain, ["Time stepping/Engine=fused"], ["'Time stepping/Engine' is fused", "it knows no species without a time derivative"]),
            (plain, ["Time stepping/Negative values=clip"], ["clipped values do not satisfy their equations"]),
            (plain, ["Linear solver/Method=ssor"], ["'Linear solver/Method' is ssor", "automatic, gmres or direct"]),
            (plain, ["Linear solver/Method=gmres", "Linear solver/Preconditioner=multigrid"], ["v is quasi-stationary", "ilu"]),
            (file, ["Linear solver/Method=gmres", "Linear solver/Preconditioner=multigrid"], ["u does not diffuse", "ilu"]),
            (file, ["Turing/Diffusion u=-1"], ["'Turing/Diffusion u' is '-1'", "expected: zero, a positive number"])])

    def test_equations_that_determine_nothing(self):
        file = FILES / "gallery/swift_hohenberg.prm"
        self.failed_run(file, "Turing/Reaction w=u", says=["no values of the quasi-stationary species for a disturbance with the wave number 0", "an equation for each that contains it"])
        small = ["Mesh/Global refinements=3", "Turing/Steady state=none", "Linear solver/Method=direct"]
        self.failed_run(file, *small, "Turing/Reaction w=u", says=["no values of the quasi-stationary species are found at time zero: the direct solver found a singular matrix", "equations that determine them"])
        undetermined = ["found at time zero: their equations do not determine them"]
        for entries in (["Reaction w=0"], ["Reaction w=exp(w)"], ["Reaction w=u", "Diffusion w=1", "Initial value u=cos(pi*x)", "Initial value w=3", "Perturbation=0"]):
            self.failed_run(file, "Mesh/Global refinements=3", "Mesh/Upper corner=2", "Turing/Steady state=none", "Turing/Cross-diffusion w=", *[f"Turing/{entry}" for entry in entries], says=undetermined)
        self.failed_run(file, *small, "Turing/Reaction w=1 + w^2", "Turing/Cross-diffusion w=", says=["no values of the quasi-stationary species are found at time zero", "nearer"])

    def test_wave_numbers_at_which_they_are_not_determined(self):
        """An activator that is at once: 0 = 100 u - k^2 u - ... at k = 10, beside which growth has no bound."""
        file = self.write("activator.prm", "set Problem = turing\nsubsection Turing\n set Kinetics = FitzHugh-Nagumo\n set gamma = 100\n set Quasi-stationary species = u\nend\nsubsection Mesh\n set Global refinements = 3\nend\n")
        self.failed_run(file, says=["disturbance with the wave number 10:", "'Turing/Steady state = none'"])
        self.leopard(file, "Turing/Quasi-stationary species=v", "Time stepping/End time=1e-4")

    def test_quadratic_simplices(self):
        """Weights at the vertices of quadratic triangles are zero, of tetrahedra negative."""
        mesh = ["Mesh/Domain=file", "Mesh/Global refinements=0", "Discretization/Degree=2", "Discretization/Mass matrix=consistent"]
        plain = self.write("plain.prm", text(exact=STILL, refinements=0))
        self.failed_run(plain, *mesh, f"Mesh/File={MESHES}/square_triangles_41.msh", says=["at whose vertices weights are zero, and v is quasi-stationary", "set Degree = 1"])
        tetrahedra = ["Dimension=3", f"Mesh/File={MESHES}/cube_tetrahedra_22.msh", "Mesh/Domain=file"]
        for degree, fails in (("2", True), ("1", False)):
            settings = [*mesh, *tetrahedra, "Turing/Quasi-stationary species=", f"Discretization/Degree={degree}", "Time stepping/End time=0.05"]
            if fails:
                self.failed_run(plain, *settings, says=["at whose vertices weights are negative", "steps would be unstable", "a mesh of hexahedra"])
            else:
                self.leopard(plain, *settings)

    def test_short_disturbances_that_grow(self):
        file = FILES / "gallery/swift_hohenberg.prm"
        self.failed_run(file, "Turing/Cross-diffusion w=u: -1", says=["grow however short they are", "'Turing/Steady state = none'"])
        # those of a species at rest neither grow nor decay
        rest = ["Quasi-stationary species=", "Reaction u=0", "Cross-diffusion u=", "Cross-diffusion w=", "Diffusion w=1", "Reaction w=u - w"]
        self.leopard(file, "Mesh/Global refinements=3", "Time stepping/End time=0.1", *[f"Turing/{entry}" for entry in rest])


if __name__ == "__main__":
    import unittest
    unittest.main()
