# SPDX-License-Identifier: Apache-2.0
"""'Turing/Cross-diffusion ...' and 'Turing/Advection ...': known solutions, mass, moving frames, linear theory, and what is refused."""
import math
import re

from program import ROOT, Program

MESHES = ROOT / "tests/meshes"
REACTIONS = [" set Kinetics = expressions", " set Reaction u = v - u", " set Reaction v = u - v^2", " set Diffusion u = 1", " set Diffusion v = 2", " set Steady state = none"]
CLOSED = ("1 + 0.3*cos(pi*x)*cos(pi*y)", "2 + 0.2*cos(pi*x)*cos(2*pi*y)")  # without flux through the boundary of the unit square
ANY = ("1 + 0.3*sin(x + y)", "2 + 0.2*cos(2*x)*exp(y)")
PERIODIC = ("1 + 0.3*sin(2*pi*(x + y))", "2 + 0.2*cos(2*pi*x)*sin(2*pi*y + 1)")
CROSS = ["Cross-diffusion u = v: -0.4*u*(1 + x), u: 0.2*u^2", "Cross-diffusion v = u: 0.3*v"]
FLOW = ["Advection u = 4*(1 + y), -3*v*x", "Advection v = u, 2"]


def text(exact, *entries, refinements=2, mesh="Global refinements = 3", dim=2, more=""):
    """Three steps with a solution that does not change: only the error in space is left."""
    return (f"set Problem = turing\nset Dimension = {dim}\nsubsection Turing\n" + "\n".join(REACTIONS) + "\n" + "".join(f" set {entry}\n" for entry in entries) +
            "".join(f" set {what} {field} = {value}\n" for field, value in zip("uv", exact) for what in ("Exact solution", "Initial value")) +
            f"end\nsubsection Mesh\n set {mesh}\nend\nsubsection Time stepping\n set Step control = fixed\n set Step size = 0.05\n set End time = 0.15\nend\n"
            f"subsection Newton\n set Relative tolerance = 1e-10\nend\nsubsection Verification\n set Refinements = {refinements}\nend\n"
            f"subsection Linear solver\n set Method = direct\nend\n{more}")


VALUES = ["Boundary values u = automatic", "Boundary values v = automatic"]
PATTERN = """set Problem = turing
subsection Turing
  set Kinetics        = Schnakenberg
  set gamma           = 1000
  set kappa           = 20
  set Initial value u = 0.919 + 0.05*cos(4*pi*x)
  set Initial value v = 0.938 + 0.02*sin(4*pi*x)
end
subsection Mesh
  set Domain             = box
  set Upper corner       = 1, 0.25
  set Cells              = 4, 1
  set Periodic           = x, y
  set Global refinements = 3
end
subsection Time stepping
  set Scheme       = BDF2
  set Step control = fixed
  set Step size    = 1e-3
  set End time     = 0.04
end
subsection Newton
  set Relative tolerance = 1e-11
end
subsection Linear solver
  set Method = direct
end
subsection Output
  set Log every = 1
end
"""


class TransportRates(Program):
    def test_in_the_plane(self):
        for method in ("finite differences", "finite elements"):
            more = f"subsection Discretization\n set Method = {method}\nend\n"
            self.expect_rate("closed", text(CLOSED, *CROSS, more=more))
            self.expect_rate("values", text(ANY, *CROSS, *FLOW, *VALUES, more=more))
        self.expect_rate("periodic", text(PERIODIC, *CROSS[1:], *FLOW[1:], "Advection u = 3*cos(2*pi*y), -v", mesh="Periodic = x, y\n set Global refinements = 4"))
        said = self.expect_rate("ranks", text(PERIODIC, *CROSS[1:], *FLOW[1:], mesh="Periodic = x\n set Global refinements = 3", refinements=1).replace("Method = direct", "Method = automatic")
                         .replace(*("end\nsubsection Mesh", " set Boundary values u = automatic\n set Boundary values v = automatic\nend\nsubsection Mesh")), ranks=2, most=0.05)
        self.assertNotIn("fused,", said)

    def test_on_triangles_and_in_space(self):
        triangles = f"Domain = file\n set File = {MESHES}/square_triangles_41.msh"
        self.expect_rate("triangles", text(ANY, *CROSS, *FLOW, *VALUES, mesh=triangles))
        self.expect_rate("quadratic", text(ANY, *CROSS, *FLOW, *VALUES, mesh=triangles, refinements=1, more="subsection Discretization\n set Degree = 2\n set Mass matrix = consistent\nend\n"), rate=3)
        flow = ["Advection u = 4*(1 + y), -3*v*z, u", "Advection v = 1, 2, 3*x"]
        self.expect_rate("space", text(ANY, *CROSS, *flow, *VALUES, mesh="Global refinements = 1", dim=3), most=0.05)
        tetrahedra = text(ANY, *CROSS, *flow, *VALUES, mesh=f"Domain = file\n set File = {MESHES}/cube_tetrahedra_22.msh", dim=3)
        self.expect_rate("tetrahedra", tetrahedra.replace("Method = direct", "Method = automatic"))

    def test_on_a_sphere(self):
        """Harmonics of degree 1 decay with the rate 2; u turns with the sphere and takes from v what cross-diffusion gives."""
        file = text(("1 + exp(-2*t)*(x*cos(3*t) + y*sin(3*t) - t*z)", "exp(-2*t)*z"), "Cross-diffusion u = v: 0.5", "Advection u = -3*y, 3*x, 0", "Source u = 0", "Source v = 0",
                    mesh="Domain = sphere\n set Radius = 1\n set Global refinements = 2")
        for old, new in (("u = v - u", "u = 0"), ("v = u - v^2", "v = 0"), ("Diffusion v = 2", "Diffusion v = 1"), ("Step size = 0.05", "Step size = 5e-3"), ("End time = 0.15", "End time = 0.1")):
            file = file.replace(old, new)
        self.expect_rate("sphere", re.sub(r"(Initial value \w = )(.*)", lambda found: found.group(1) + found.group(2).replace("*t", "*0").replace("- t*", "- 0*"), file))

    def test_given_fluxes(self):
        """n . (D grad u + C grad v - v u): of u with the derivative x, 1 - 0.4*u/2 - 4*u at x = 1 and 4*u at x = 0."""
        entries = ["Cross-diffusion u = v: -0.4*u", "Advection u = 4, 0", "Boundary fluxes v = 1: 1"]
        exact = ("1 + x^2/2", "2 + x^2/4")
        self.expect_rate("fluxes", text(exact, *entries, "Boundary fluxes u = 0: 4; 1: -5.3"))
        said = self.leopard(self.write("wrong.prm", text(exact, *entries, "Boundary fluxes u = 1: 1", refinements=1)))
        self.assertRegex(said, "contradict 'Turing/Exact solution u': most of all a du/dn with cross-diffusion and advection is 1 where that of the solution is -5.3")

    def test_in_time(self):
        """Linear in x and y, which every mesh has exactly: with coefficients that are linear only the steps make errors."""
        moving = ("(1 + x + 0.5*y)*exp(-t)", "2 + x*sin(3*t)")
        for scheme, control in (("BDF2", 0.05), ("SBDF2", 0.0025)):
            file = text(moving, "Cross-diffusion u = v: -0.4*u", "Advection v = 1, 2*t", *VALUES).replace("Refinements = 2", "Refinements = 2\n set Refine = time")
            file = file.replace("Step size = 0.05", f"Step size = {control}\n set Scheme = {scheme}").replace("End time = 0.15", f"End time = {8 * control}")
            said = self.expect_rate("time", file, most=1e-2)
            self.assertIn("no cross-diffusion and advection" if scheme == "BDF2" else "convergence", said)

    def test_diffusion_that_depends_on_time(self):
        """D = 1 + t as doc/coefficients.md has it, 'Diffusion u = 1' with 'Cross-diffusion u = u: t'; the sources are worked out by hand. In space a mode that decays, in time a parabola, which the stencil has exactly."""
        one = ("set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Species = u\n set Reaction u = 0*u\n set Steady state = none\n set Diffusion u = 1\n"
               " set Cross-diffusion u = u: {}*t\n set Source u = {}\n set Exact solution u = {}\n set Initial value u = {}\n{}end\nsubsection Mesh\n set Global refinements = 3\nend\n"
               "subsection Discretization\n set Method = finite differences\nend\nsubsection Time stepping\n set Scheme = {}\n set Step control = fixed\n set Step size = {}\n set End time = {}\nend\n"
               "subsection Newton\n set Relative tolerance = 1e-11\nend\nsubsection Verification\n set Refinements = 2\n{}end\nsubsection Linear solver\n set Method = direct\nend\n")
        mode = "1 + exp(-2*pi^2*(t + 20*t^2))*cos(pi*x)*cos(pi*y)"  # D = 1 + 40 t
        said = self.expect_rate("decay", one.format(40, 0, mode, mode.replace("*(t + 20*t^2)", "*0"), "", "BDF2", 5e-4, 0.05, ""))
        self.assertIn("no cross-diffusion and advection", said)
        for scheme, order in (("implicit Euler", 1), ("BDF2", 2)):
            self.leopard(self.write("steps.prm", one.format(1, "-3*sin(3*t)*x^2 - 2*(1 + t)*cos(3*t)", "1 + cos(3*t)*x^2", "1 + x^2", " set Boundary values u = automatic\n", scheme, 0.05, 1,
                                                            " set Refine = time\n")))
            last = self.convergence("steps")[-1]
            self.assertAlmostEqual(float(last["nodal_maximum_rate"]), order, delta=0.2, msg=scheme)
            self.assertLess(float(last["nodal_maximum_error"]), 0.05, scheme)

    def test_a_moving_frame(self):
        """A wave that decays and is carried along: no source is left over."""
        decay = "exp(-4*pi^2*t)"
        exact = (f"1 + {decay}*sin(2*pi*(x - 3*t))", f"1 + {decay}*cos(2*pi*(y + 2*t))")
        file = text(exact, "Advection u = 3, 1", "Advection v = -5, -2", mesh="Periodic = x, y\n set Global refinements = 4")
        for old, new in (("u = v - u", "u = 0"), ("v = u - v^2", "v = 0"), ("Diffusion v = 2", "Diffusion v = 1"), ("Step size = 0.05", "Step size = 1e-4"), ("End time = 0.15", "End time = 5e-3")):
            file = file.replace(old, new)
        file = file.replace("subsection Turing\n", "subsection Turing\n set Source u = 0\n set Source v = 0\n")
        self.expect_rate("frame", re.sub(r"(Initial value \w = )(.*)", lambda found: found.group(1) + found.group(2).replace("*t", "*0"), file))


class Transported(Program):
    def test_a_pattern_is_carried(self):
        """In a periodic box a flow that carries both fields changes nothing but the place; what the mesh does to it is of second order."""
        file, off = self.write("pattern.prm", PATTERN), []
        for refinements in (3, 4):
            ends = []
            for flow in ((), ("Turing/Advection u=12.5, 0", "Turing/Advection v=12.5, 0")):  # half the box in the end
                self.leopard(file, f"Mesh/Global refinements={refinements}", *flow, "Time stepping/Step size=2e-4")
                ends.append([self.column("pattern", f"{which} of u")[-1] for which in ("minimum", "maximum")])
            off.append(max(abs(a - b) for a, b in zip(*ends)))
            self.assertGreater(ends[0][1] - ends[0][0], 0.5, "there is a pattern")
        self.assertLess(off[0], 0.05)
        self.assertGreater(off[0] / off[1], 3)

    def test_the_choice_of_a_solver_without_reaction_names_transport(self):
        """The reason was a reaction that makes systems indefinite, and there was none."""
        carried = self.write("carried.prm", PATTERN)
        plain = ["Turing/Steady state=none", "Turing/Reaction v=0", "Turing/Diffusion u=1", "Turing/Diffusion v=1", "Turing/Advection u=1, 0",
                 "Time stepping/Step control=error-controlled", "Time stepping/End time=1e-3", "Mesh/Global refinements=2", "Linear solver/Method=automatic"]
        for reaction, says in (("0", "advection or cross-diffusion makes the systems of long steps unsymmetric, and the mesh is small"), ("u", "their systems are indefinite, and the mesh is small")):
            text = carried.read_text().replace("set Kinetics        = Schnakenberg", f"set Kinetics = expressions\n  set Reaction u = {reaction}")
            text = "\n".join(line for line in text.splitlines() if "kappa" not in line and "gamma" not in line) + "\n"
            self.assertIn(says, self.leopard(self.write("choice.prm", text), *plain))

    def test_mass(self):
        """Nothing is made or lost, but by reactions: on a grid, with periodic boundaries, on triangles, where advection is strong, implicit and explicit."""
        still = [f"Turing/{entry}" for entry in ("Kinetics=expressions", "Reaction u=0", "Reaction v=0", "Diffusion u=1", "Diffusion v=0.1", "gamma=1", "kappa=10", "Steady state=none")]
        flow = ["Turing/Cross-diffusion u=v: -0.3*u", "Turing/Advection v=30*(1 + y), x - u"]
        triangles = re.sub(r"Mesh\n.*?end", f"Mesh\n  set Domain = file\n  set File = {MESHES}/square_triangles_41.msh\nend", PATTERN, flags=re.DOTALL)
        for pattern, more in ((PATTERN, []), (PATTERN, ["Mesh/Periodic="]), (triangles, []), (PATTERN, ["Time stepping/Scheme=SBDF2", "Time stepping/Step size=1e-4"])):
            self.leopard(self.write("mass.prm", pattern), *still, *flow, *more, "Time stepping/End time=4e-3", "Newton/Absolute tolerance=1e-15", "Linear solver/Relative tolerance=1e-13")
            for field in "uv":
                masses = self.column("mass", f"total mass of {field}")
                self.assertGreater(len(masses), 3)
                for mass in masses:
                    self.assertAlmostEqual(mass, masses[0], delta=1e-12 * abs(masses[0]))
                self.assertLess(max(abs(balance) for balance in self.column("mass", f"mass balance of {field}")), 1e-12)
            self.assertGreater(self.column("mass", "maximum of v")[-1] - self.column("mass", "minimum of v")[-1], 1e-3, "and they move")

    def test_strong_advection_does_not_oscillate(self):
        """|v| h / D = 250: central differences would make values far below the smallest of the beginning."""
        still = [f"Turing/{entry}" for entry in ("Kinetics=expressions", "Reaction u=0", "Reaction v=0", "Diffusion u=0.01", "Diffusion v=1", "gamma=1", "kappa=10", "Steady state=none",
                                                 "Initial value u=if(x < 0.5, 1, 2)", "Initial value v=1")]
        self.leopard(self.write("steep.prm", PATTERN), *still, "Turing/Advection u=80, 0", "Time stepping/Scheme=implicit Euler")
        self.assertGreater(min(self.column("steep", "minimum of u")), 1 - 1e-9)
        self.assertLess(max(self.column("steep", "maximum of u")), 2 + 1e-9)

    def test_solvers_agree(self):
        """The direct solver, and gmres with each preconditioner; the explicit scheme to its order."""
        flow = ["Turing/Cross-diffusion u=v: -0.3*u", "Turing/Advection v=3, 1", "Time stepping/Step size=2e-4", "Time stepping/End time=4e-3"]
        file = self.write("solvers.prm", PATTERN)
        self.leopard(file, *flow)
        expected = [self.column("solvers", f"{which} of u")[-1] for which in ("minimum", "maximum", "mean")]
        for more, delta in ((["Linear solver/Method=automatic"], 1e-8), (["Linear solver/Method=gmres", "Linear solver/Preconditioner=ilu"], 1e-8), (["Linear solver/Method=async"], 1e-8),
                            (["Time stepping/Scheme=SBDF2", "Time stepping/Step size=1e-4"], 1e-3), (["Linear solver/Method=gmres", "Linear solver/Preconditioner=amg"], 1e-8)):
            said = self.leopard(file, *flow, *more)
            self.assertIn("time loop: general, since the fused one cannot be used: it knows no cross-diffusion and advection", said)
            for a, b in zip(expected, [self.column("solvers", f"{which} of u")[-1] for which in ("minimum", "maximum", "mean")]):
                self.assertAlmostEqual(a, b, delta=delta, msg=more)

    def test_newton_converges_quadratically(self):
        """Its matrix is the derivative: three steps, where a wrong one takes many more."""
        flow = ["Turing/Cross-diffusion u=v: -0.3*u*v", "Turing/Cross-diffusion v=u: 0.2*v^2, v: u^2", "Turing/Advection u=v, x"]
        self.leopard(self.write("newton.prm", PATTERN), *flow, "Time stepping/End time=0.01", "Newton/Linear tolerance=1e-12")
        self.assertLessEqual(max(self.column("newton", "Newton steps")), 4)

    def test_resume(self):
        flow = ["Turing/Cross-diffusion u=v: -0.3*u", "Turing/Advection v=3, t"]
        file = self.write("parts.prm", PATTERN)
        self.leopard(file, *flow, "Time stepping/End time=0.01")
        expected = [self.column("parts", f"{which} of u")[-1] for which in ("minimum", "maximum", "mean")]
        self.leopard(file, *flow, "Time stepping/End time=0.005")
        self.leopard(file, *flow, "Time stepping/End time=0.01", options=["--resume"])
        for a, b in zip(expected, [self.column("parts", f"{which} of u")[-1] for which in ("minimum", "maximum", "mean")]):
            self.assertAlmostEqual(a, b, delta=1e-12)

    def test_linear_theory(self):
        """A disturbance of the steady state grows as fast as the analysis says, in a pattern that only cross-diffusion makes."""
        entries = ["Turing/kappa=5", "Turing/gamma=400", "Turing/Start from steady state=true", "Turing/Initial value u=1e-5*cos(4*pi*x)", "Turing/Initial value v=0"]
        cross = ["Turing/Cross-diffusion v=u: -2.5"]
        file = self.write("linear.prm", PATTERN)
        self.assertIn("no pattern will form", self.leopard(file, *entries, options=["--validate"]))
        said = self.leopard(file, *entries, *cross, "Mesh/Global refinements=4", "Time stepping/Step size=2e-4")
        predicted = float(re.search(r"\(2, 0\)[^;\n]*? with k = 12\.566, growth rate ([\d.]+)", said).group(1))
        spread = [a - b for a, b in zip(self.column("linear", "maximum of u"), self.column("linear", "minimum of u"))]
        times = self.column("linear", "time")
        self.assertAlmostEqual(math.log(spread[-1] / spread[len(spread) // 2]) / (times[-1] - times[len(spread) // 2]), predicted, delta=0.03 * predicted)


class BadTransport(Program):
    def test_files_that_are_refused(self):
        file = self.write("bad.prm", PATTERN)
        items = "FIELD: EXPRESSION, FIELD: EXPRESSION"
        self.invalid([(file, [setting], says) for setting, says in (
            ("Turing/Cross-diffusion u=w: 1", ["'Turing/Cross-diffusion u'", "'w' is no field of the problem", items, "one of u, v"]),
            ("Turing/Cross-diffusion u=-0.3*u", ["the field is missing whose gradient it belongs to", items]),
            ("Turing/Cross-diffusion u=v:", ["an expression is missing"]),
            ("Turing/Cross-diffusion u=v: 1, v: 2", ["'v' stands there twice"]),
            ("Turing/Cross-diffusion u=v: chi*u", ["'Turing/Cross-diffusion u, v'", "'chi'"]),
            ("Turing/Advection u=1", ["'Turing/Advection u' is '1', which has 1 component", "v_x, v_y"]),
            ("Turing/Advection u=1, 2, 3", ["'Turing/Advection u' has 3 components", "in the plane"]),
            ("Turing/Advection u=1, w", ["'Turing/Advection u, v_y'", "'w'", "u, v, x, y, z, t"]),
            ("Turing/Advection w=1, 2", ["Advection w"]))] +
            [(file, ["Turing/Advection u=1, 2", "Time stepping/Engine=fused"], ["it knows no cross-diffusion and advection"]),
             (file, ["Turing/Advection u=1, 2", "Linear solver/Method=cg"], ["not symmetric"]),
             (file, ["Turing/Cross-diffusion u=v: 30*u", "Turing/Cross-diffusion v=u: 30*u"],
              ["an eigenvalue with the real part -", "the shorter they are", "'Turing/Steady state = none'"])])

    STILL = [f"Turing/{entry}" for entry in ("Kinetics=expressions", "Reaction u=0", "Reaction v=0", "Diffusion u=1", "Diffusion v=1", "gamma=1", "kappa=10", "Steady state=none")]

    def test_a_diffusion_matrix_that_is_not_positive(self):
        """Disturbances grow the faster the shorter they are: without a Turing analysis long implicit steps damped them, and the run ended well."""
        file = self.write("bad.prm", PATTERN)
        expected = "expected: eigenvalues with a positive real part"
        turning = ("Turing/Cross-diffusion u=v: 3, u: -2", "Turing/Cross-diffusion v=u: -3, v: -2")
        self.invalid([(file, [*self.STILL, *settings], ["bad.prm", "the shorter they are", expected, *says]) for settings, says in (
            (["Turing/Cross-diffusion u=u: -2"], ["'Turing/Cross-diffusion u, u' = -2 makes", "eigenvalues -1, 1"]), (["Turing/Cross-diffusion u=u: -1"], ["eigenvalues 0, 1"]),
            (["Turing/Cross-diffusion u=v: 2", "Turing/Cross-diffusion v=u: 2"], ["'Turing/Cross-diffusion u, v' = 2, 'Turing/Cross-diffusion v, u' = 2 make ", "eigenvalues -1, 3"]),
            (turning, ["eigenvalues -1 - 3 i, -1 + 3 i"]))])
        self.valid([(file, [*self.STILL, *settings]) for settings in (["Turing/Cross-diffusion u=v: -50"], ["Turing/Cross-diffusion u=v: 3", "Turing/Cross-diffusion v=u: -3"],
                                                                      ["Turing/Diffusion u=0", "Turing/Cross-diffusion u=v: 5"], ["Turing/Cross-diffusion u=u: -0.99"])])
        short = ["Time stepping/End time=1e-3", "Time stepping/Step size=5e-4"]
        for settings, says in ((["Turing/Cross-diffusion u=u: -2*x"], r"'Turing/Cross-diffusion u, u' = -2\*x makes a diffusion matrix with the eigenvalues -1, 1 at \(1, [\d.]+\) and t = 0: "),):
            for ranks in (1, 2):
                error = self.leopard(file, *self.STILL, *short, *settings, ranks=ranks, fails=True)
                self.assertRegex(error, says)
                self.assertIn(expected, error)
                self.assertEqual(error.count("leopard: "), 1, error)
        for settings, warns in ((["Turing/Cross-diffusion u=u: -2*u^2"], True), (["Turing/Cross-diffusion u=u: u^2, v: -9*u"], False)):
            said = self.leopard(file, *self.STILL, *short, *settings, "Turing/Initial value u=0.8")
            self.assertEqual(said.count("warning: the diffusion of u, v with 'Turing/Cross-diffusion u, u' = -2*u^2 makes a diffusion matrix with the eigenvalues -0.28, 1 at (0, 0) and t = 0, where u = 0.8, v = "), warns)
            self.assertEqual(said.count("to try: eigenvalues with a positive real part"), warns)

    def test_advection_that_is_smeared(self):
        """A diffusion that is many times the file's own was added, and nothing said so."""
        file = self.write("smeared.prm", PATTERN)
        flow = [*self.STILL, "Turing/Diffusion u=1e-3", "Turing/Advection u=1 + x, 0", "Time stepping/Step size=2e-3", "Time stepping/End time=4e-3"]  # h = 1/32
        for more in ([], ["Discretization/Method=finite elements"]):
            for ranks in (1, 2):
                said = self.leopard(file, *flow, *more, ranks=ranks)
                found = re.search(r"warning: advection of u is strong .* number \|V\| h / \(2 D\) is up to ([\d.]+), at \((\S+), \S+\): there a diffusion of ([\d.]+), ([\d.]+) times the field's own 0.001, .*\n"
                                  r".*'Mesh/Global refinements' = 8, where it is 3 now", said)
                self.assertIsNotNone(found, said)
                number, x, added, ratio = (float(value) for value in found.groups())
                self.assertAlmostEqual(number, 2 / 32 / 2e-3, delta=0.5)
                self.assertAlmostEqual(x, 1, delta=0.01)
                self.assertAlmostEqual(added, 1 / 32 - 1e-3, delta=5e-4)
                self.assertAlmostEqual(ratio, 1000 * added, delta=0.1)
        said = self.leopard(file, *flow, "Turing/Diffusion u=0")
        self.assertRegex(said, r"warning: advection of u is strong .* no diffusion of its own, .* a diffusion of 0.031\d? is added .*\n.* to try: a finer mesh, ")
        for more in (["Turing/Diffusion u=0.04"], ["Turing/Cross-diffusion u=u: 0.04"], ["Turing/Advection u=0, 0"],
                     ["Discretization/Degree=2", "Discretization/Method=finite elements"]):
            self.assertNotIn("advection of u is strong", self.leopard(file, *flow, *more))

    def test_what_is_not_finite(self):
        file = self.write("bad.prm", PATTERN)
        for setting, says in (("Turing/Advection u=log(u - 0.9), 0", r"'log\(u - 0\.9\)' of the entry 'Turing/Advection u, v_x' is nan at \([\d.]+, 0\) and t = 0, where u = 0\.8"),
                              ("Turing/Cross-diffusion v=u: 1/(x - 0.5)", r"'Turing/Cross-diffusion v, u' is -?inf at \(0\.5, 0\) and t = 0")):
            for ranks in (1, 2):
                error = self.leopard(file, setting, ranks=ranks, fails=True)
                self.assertRegex(error, says)
                self.assertEqual(error.count("leopard: "), 1, error)
        self.failed_run(file, "Turing/Advection u=1/(0.0025 - t), sqrt(0.0025 - t)", says=["not finite", "of the entry 'Turing/Advection u, v_y'"])


if __name__ == "__main__":
    import unittest
    unittest.main()
