# SPDX-License-Identifier: Apache-2.0
"""Periodic boundaries, and boundary values and fluxes of problems in time."""
import math
import re

from gmsh_text import MATCHED, UNMATCHED
from program import HostProgram, Program

TIGHT = "subsection Linear solver\n set Method = direct\n set Relative tolerance = 1e-12\nend\nsubsection Newton\n set Relative tolerance = 1e-12\nend\n"

HELMHOLTZ = """
set Problem = helmholtz
subsection Helmholtz
  set Delta          = 3
  set Exact solution = sin(2*pi*x + 1)*cos(2*pi*y + 0.5)
end
subsection Mesh
  set Periodic           = x, y
  set Global refinements = 3
end
subsection Linear solver
  set Method             = direct
end
subsection Verification
  set Refinements = 2
end
"""

SCHNAKENBERG = """
set Problem = turing
subsection Turing
  set Kinetics         = expressions
  set Constants        = a: 0.1, b: 0.9
  set Reaction u       = a - u + u^2*v
  set Reaction v       = b - u^2*v
  set Diffusion u      = 1
  set Diffusion v      = 10
"""

# the two fields of verification/turing_space_order.prm, moved off the middle of the domain
MOVING = SCHNAKENBERG + """  set Initial value u  = 1 + cos(2*pi*x + 1)*cos(2*pi*y)/2
  set Initial value v  = 1 + cos(2*pi*x + 2)/2
  set Exact solution u = 1 + exp(-t)/2*cos(2*pi*x + 1)*cos(2*pi*y)
  set Exact solution v = 1 + exp(-t)/2*cos(2*pi*x + 2)
end
subsection Mesh
  set Periodic           = x
  set Global refinements = 3
end
subsection Discretization
  set Method = finite elements
end
subsection Time stepping
  set Scheme       = BDF2
  set Step control = fixed
  set Step size    = 0.005
  set End time     = 0.05
end
subsection Verification
  set Refinements = 2
end
""" + TIGHT

# exact for the five-point stencil at every h, so that all errors are those in time
PRESCRIBED = SCHNAKENBERG + """  set Initial value u   = 1
  set Initial value v   = 1 + y^2/2
  set Exact solution u  = 1 + sin(3*t)/2*(x^2 - y)
  set Exact solution v  = 1 + cos(3*t)/2*y^2
  set Boundary values u = automatic
  set Boundary fluxes u = 1: sin(3*t)
  set Boundary values v = 3: 1 + cos(3*t)/2
end
subsection Mesh
  set Global refinements = 3
end
subsection Discretization
  set Method = finite differences
end
subsection Time stepping
  set Step control = fixed
  set Step size    = 0.05
  set End time     = 1
end
subsection Verification
  set Refinements = 3
  set Refine      = time
end
""" + TIGHT

# of which the error in L2 has no part in space either
LINEAR = PRESCRIBED.replace("(x^2 - y)", "(x - y)").replace("1: sin(3*t)", "1: sin(3*t)/2").replace("y^2", "y").replace("set Boundary values v = 3: 1 + cos(3*t)/2", "set Boundary values v = automatic")

# without reaction; steady, and exact for Q1 and the five-point stencil
FLOW = """
set Problem = turing
subsection Turing
  set Kinetics          = expressions
  set Species           = u
  set Reaction u        = 0*u
  set Diffusion u       = 1
  set Steady state      = none
  set Initial value u   = x^2
  set Source u          = -2
  set Boundary values u = 0: 0; 1: 1
end
subsection Mesh
  set Global refinements = 4
end
subsection Time stepping
  set Step control = fixed
  set Step size    = 0.01
  set End time     = 0.05
end
subsection Newton
  set Relative tolerance = 1e-12
end
subsection Linear solver
  set Relative tolerance = 1e-12
end
subsection Output
  set Log every = 1
end
"""

SPOTS = """
set Problem = turing
subsection Turing
  set gamma                   = 100
  set kappa                   = 20
  set Start from steady state = true
  set Initial value u         = 0.05*(cos(2*pi*x + 1) + sin(4*pi*y + 2) + cos(2*pi*(x + y)))
end
subsection Mesh
  set Periodic           = x, y
  set Global refinements = 4
end
subsection Time stepping
  set End time = 0.1
end
subsection Output
  set Log every = 1
end
"""


class PeriodicRates(Program):
    def rate(self, name, text, *settings):
        self.leopard(self.write(f"{name}.prm", text), *settings)
        return float(self.convergence(name)[-1]["l2_rate"])

    def test_stationary(self):
        for settings, rate in ((["Discretization/Method=finite differences"], 2), (["Discretization/Method=finite elements"], 2), (["Discretization/Degree=2"], 3)):
            self.assertAlmostEqual(self.rate("plane", HELMHOLTZ, *settings), rate, delta=0.1, msg=settings)
        in_space = ("Dimension=3", "Helmholtz/Exact solution=sin(2*pi*x + 1)*exp(y)*cos(2*pi*z + 0.5)", "Mesh/Periodic=x, z", "Mesh/Global refinements=2")
        for settings, rate in ((["Discretization/Method=finite differences"], 2), (["Discretization/Degree=2", "Verification/Refinements=1"], 3)):
            self.assertAlmostEqual(self.rate("space", HELMHOLTZ, *in_space, *settings), rate, delta=0.25, msg=settings)

    def test_stencil_of_finite_differences(self):
        """One mode: the discrete solution is the exact one times 1/(k_h^2 + delta), k_h the stencil's eigenvalue, at the boundary, too."""
        n, h, delta = 16, 1 / 16, 3.
        k_h = 2 * (2 - 2 * math.cos(2 * math.pi * h)) / h**2
        self.leopard(self.write("mode.prm", HELMHOLTZ), "Mesh/Global refinements=4", "Discretization/Method=finite differences", "Verification/Refinements=0",
                     "Helmholtz/Source=sin(2*pi*x + 1)*cos(2*pi*y + 0.5)", f"Helmholtz/Exact solution=sin(2*pi*x + 1)*cos(2*pi*y + 0.5)/{k_h + delta:.17g}")
        self.assertLess(float(self.convergence("mode")[-1]["nodal_maximum_error"]), 1e-13, n)

    def test_adaptive_meshes(self):
        self.leopard(self.write("adaptive.prm", HELMHOLTZ), "Verification/Refinements=0", "Mesh/Adaptive=true", "Mesh/Adaptive cycles=6", "Linear solver/Method=direct",
                     "Helmholtz/Exact solution=exp(cos(2*pi*x)*8 - 8)*cos(2*pi*y)")  # steep at the boundary, so that it is refined there
        rows = self.convergence("adaptive")
        self.assertLess(float(rows[-1]["l2_error"]), float(rows[0]["l2_error"]) / 10)
        self.assertGreater(float(rows[-1]["l2_rate"]), 1.5)

    def test_multigrid_takes_as_many_iterations_as_without_flux(self):
        singular = ("Problem=laplace", "Laplace/Exact solution=sin(2*pi*x + 1)*cos(2*pi*y + 0.5)")
        for more, mesh in (((), 4), (singular, 4), (("Discretization/Degree=2",), 3), (("Mesh/Cells=3, 2",), 3), (("Mesh/Periodic=x",), 4)):
            iterations = {}
            for periodic in (True, False):
                settings = [*more, f"Mesh/Global refinements={mesh}", "Linear solver/Method=multigrid", "Linear solver/Schedule=synchronous"]
                if not periodic:
                    settings += ["Mesh/Periodic=", "Helmholtz/Boundary fluxes=*: 0", "Laplace/Boundary fluxes=*: 0",
                                 "Helmholtz/Exact solution=cos(2*pi*x)*cos(4*pi*y)", "Laplace/Exact solution=cos(2*pi*x)*cos(4*pi*y)"]
                said = self.leopard(self.write("grid.prm", HELMHOLTZ + "subsection Laplace\nend\n"), *settings)
                self.assertEqual("the one of mean zero" in said, more is singular)
                iterations[periodic] = max(self.iterations("grid"))
                if periodic:
                    self.assertAlmostEqual(float(self.convergence("grid")[-1]["l2_rate"]), 3 if "Degree=2" in str(more) else 2, delta=0.15, msg=more)
            self.assertLessEqual(iterations[True], iterations[False] + 3, more)

    def test_multigrid_of_one_coarse_cell_that_is_its_own_neighbour(self):
        """In time each field has levels of its diffusion alone."""
        file = self.write("moving.prm", MOVING)
        one = ("Mesh/Periodic=x, y", "Mesh/Global refinements=3", "Verification/Refinements=0", "Time stepping/Engine=general", "Discretization/Method=finite differences", "Turing/Exact solution u=",
               "Turing/Exact solution v=", "Turing/Source u=0", "Turing/Source v=0", "Linear solver/Relative tolerance=1e-12")
        ends = []
        for solver in (("gmres", "multigrid"), ("direct", "none")):
            self.leopard(file, *one, f"Linear solver/Method={solver[0]}", f"Linear solver/Preconditioner={solver[1]}")
            ends.append(self.statistics("moving")[1][-1][10:14])
        for a, b in zip(*ends):
            self.assertAlmostEqual(a, b, delta=1e-7)

    def test_ranks_agree(self):
        grid = ("Problem=laplace", "Laplace/Exact solution=sin(2*pi*x + 1)*cos(2*pi*y + 0.5)", "Linear solver/Method=multigrid", "Linear solver/Schedule=synchronous",
                "Linear solver/Relative tolerance=1e-11", "Verification/Refinements=1")
        adaptive = ("Verification/Refinements=0", "Mesh/Adaptive=true", "Mesh/Adaptive cycles=4", "Helmholtz/Exact solution=exp(cos(2*pi*x)*8 - 8)*cos(2*pi*y)",
                    "Linear solver/Method=cg", "Linear solver/Preconditioner=jacobi", "Linear solver/Relative tolerance=1e-11")
        for settings, most in ((grid, 14), (adaptive, 200)):
            errors = []
            for ranks in (1, 3):
                self.leopard(self.write("ranks.prm", HELMHOLTZ + "subsection Laplace\nend\n"), *settings, ranks=ranks)
                errors.append(float(self.convergence("ranks")[-1]["l2_error"]))
                self.assertLessEqual(max(self.iterations("ranks")), most, (settings, ranks))
                self.assertAlmostEqual(errors[-1], errors[0], delta=1e-6 * errors[0])

    def test_in_time(self):
        prescribed = ["Turing/Boundary values u=automatic", "Turing/Boundary values v=automatic"]  # in y, copies of such nodes at the corners
        for settings, rate in (([], 2), (["Discretization/Method=finite differences"], 2), (["Discretization/Degree=2", "Time stepping/Step size=0.0025"], 3), (prescribed, 2)):
            self.assertAlmostEqual(self.rate("moving", MOVING, *settings), rate, delta=0.15, msg=settings)


class PeriodicPatterns(HostProgram):
    def last(self, name):
        columns, rows = self.statistics(name)
        return dict(zip((column.split(" (")[0] for column in columns), rows[-1]))

    def run_spots(self, name, *settings, **options):
        self.leopard(self.write(f"{name}.prm", SPOTS), *settings, **options)
        return self.last(name)

    def test_fused_and_general_loop_agree(self):
        fixed = ("Time stepping/Step control=fixed", "Time stepping/Step size=1e-3", "Newton/Relative tolerance=1e-11", "Time stepping/End time=0.05")
        for more in ((), ("Mesh/Periodic=y",), ("Discretization/Method=finite elements",), ("Time stepping/Scheme=SBDF2", "Linear solver/Relative tolerance=1e-11")):
            fused = self.run_spots("fused", *fixed, *more, "Time stepping/Engine=fused")
            self.assertIn("time loop: fused", self.log("fused"))
            general = self.run_spots("general", *fixed, *more, "Time stepping/Engine=general")
            for measure in ("minimum of u", "maximum of u", "mean of v", "rate of change, RMS of du/dt", "number of spots of u", "dominant wave number of u"):
                self.assertAlmostEqual(fused[measure], general[measure], delta=1e-6 * max(1, abs(general[measure])), msg=(more, measure))

    def test_ranks_agree(self):
        fixed = ("Time stepping/Step control=fixed", "Time stepping/Step size=1e-3", "Newton/Relative tolerance=1e-11", "Time stepping/End time=0.02")
        for engine in ("fused", "general"):
            one, *others = (self.run_spots(f"ranks_{n}", *fixed, f"Time stepping/Engine={engine}", ranks=n) for n in (1, 2, 3))
            for n in (1, 2, 3):
                self.assertEqual("periodic, shared by its rows" in self.log(f"ranks_{n}"), engine == "fused" and n > 1)
            for other in others:
                for measure in ("minimum of u", "maximum of u", "mean of v", "total mass of u", "number of spots of u", "dominant wave number of u"):
                    self.assertAlmostEqual(one[measure], other[measure], delta=1e-7 * max(1, abs(one[measure])), msg=(engine, measure))

    def test_shifted_initial_values_give_the_shifted_pattern(self):
        fixed = ("Time stepping/Step control=fixed", "Time stepping/Step size=1e-3", "Newton/Relative tolerance=1e-11")
        here = self.run_spots("here", *fixed)
        # by 3 and 5 cells of 16
        there = self.run_spots("there", *fixed, "Turing/Initial value u=0.05*(cos(2*pi*(x + 3/16) + 1) + sin(4*pi*(y + 5/16) + 2) + cos(2*pi*(x + y + 8/16)))")
        self.assertGreater(here["maximum of u"] - here["minimum of u"], 0.5)
        for measure in ("minimum of u", "maximum of u", "mean of u", "maximum of v", "total mass of v", "number of spots of u", "dominant wave number of u",
                        "rate of change, RMS of du/dt"):
            self.assertAlmostEqual(here[measure], there[measure], delta=1e-6 * max(1, abs(here[measure])), msg=measure)

    def test_mass_balance(self):
        for engine in ("fused", "general"):
            last = self.run_spots("balance", "Newton/Relative tolerance=1e-11", "Newton/Error fraction=0", f"Time stepping/Engine={engine}")
            for field in "uv":
                self.assertLess(abs(last[f"mass balance of {field}: change in the step less integrated reaction"]), 1e-9)

    def test_resume(self):
        fixed = ("Time stepping/Step control=fixed", "Time stepping/Step size=1e-3", "Newton/Relative tolerance=1e-11")
        for engine in ("fused", "general"):
            whole = self.run_spots("whole", *fixed, f"Time stepping/Engine={engine}", "Time stepping/End time=0.02")
            self.run_spots("parts", *fixed, f"Time stepping/Engine={engine}", "Time stepping/End time=0.01")
            parts = self.run_spots("parts", *fixed, f"Time stepping/Engine={engine}", "Time stepping/End time=0.02", options=("--resume",), ranks=2)
            for measure in ("minimum of u", "maximum of u", "mean of v", "dominant wave number of u"):
                self.assertAlmostEqual(whole[measure], parts[measure], delta=1e-7 * max(1, abs(whole[measure])), msg=(engine, measure))
        message = self.leopard(self.write("parts.prm", SPOTS), *fixed, "Time stepping/End time=0.02", "Mesh/Periodic=x", options=("--resume",), fails=True)
        self.assertIn("'Mesh/Periodic' is x, and was x, y", message)
        self.leopard(self.write("parts.prm", SPOTS), *fixed, "Time stepping/End time=0.02", "Mesh/Periodic=y, x", options=("--resume",))


class BoundaryValuesInTime(HostProgram):
    def error(self, name):
        return float(re.findall("L2 error against the exact solution: (.*)", self.log(name))[-1])

    def test_order_in_time(self):
        for scheme, order in (("implicit Euler", 1), ("BDF2", 2), ("SBDF2", 2)):
            self.leopard(self.write("prescribed.prm", PRESCRIBED), f"Time stepping/Scheme={scheme}")
            rows = self.convergence("prescribed")
            self.assertAlmostEqual(float(rows[-1]["nodal_maximum_rate"]), order, delta=0.2, msg=scheme)
            self.assertLess(float(rows[-1]["nodal_maximum_error"]), 0.02, scheme)

    def test_order_in_space(self):
        text = PRESCRIBED.replace("sin(3*t)/2*(x^2 - y)", "exp(-t)*sin(2*x)*cos(y)").replace("set Boundary fluxes u = 1: sin(3*t)", "set Boundary fluxes u = 1: 2*exp(-t)*cos(2)*cos(y)")
        text = text.replace("set Initial value u   = 1\n", "set Initial value u   = 1 + sin(2*x)*cos(y)\n").replace("set Refine      = time", "").replace("refinements = 3", "refinements = 2")
        for settings, rate in (([], 2), (["Discretization/Method=finite elements"], 2), (["Discretization/Method=finite elements", "Discretization/Degree=2"], 3)):
            said = self.leopard(self.write("space.prm", text), "Time stepping/Step size=0.0025", "Time stepping/End time=0.05", "Time stepping/Scheme=BDF2",
                                "Verification/Refinements=2", "Mesh/Global refinements=2", *settings)
            self.assertNotIn("contradict", said)
            self.assertAlmostEqual(float(self.convergence("space")[-1]["l2_rate"]), rate, delta=0.2, msg=settings)

    def test_fused_time_loop(self):
        """All fields have values on the same part of the boundary: the rates of the loop, true mass balances, and fields and mass balances of the general one."""
        text = PRESCRIBED.replace(TIGHT, "").replace("  set Boundary fluxes u = 1: sin(3*t)\n", "").replace("set Boundary values v = 3: 1 + cos(3*t)/2", "set Boundary values v = automatic")
        tight = "subsection Newton\n set Relative tolerance = 1e-10\nend\nsubsection Linear solver\n set Relative tolerance = 1e-11\nend\n"
        for scheme, order in (("implicit Euler", 1), ("BDF2", 2), ("SBDF2", 2)):
            said = self.leopard(self.write("fused.prm", text + tight), f"Time stepping/Scheme={scheme}", "Time stepping/Engine=fused")
            self.assertAlmostEqual(float(self.convergence("fused")[-1]["nodal_maximum_rate"]), order, delta=0.2, msg=scheme)
            self.assertLess(float(self.convergence("fused")[-1]["nodal_maximum_error"]), 0.02, scheme)
            self.assertIn("nodes of a mesh", said)
        # what flows in is the Laplacian of the solution, sin(3*t) and cos(3*t), times its diffusion and the area of the free nodes
        for engine in ("general", "fused"):
            self.leopard(self.write("fused.prm", text + tight), "Verification/Refinements=0", "Verification/Refine=space", "Time stepping/Scheme=BDF2", "Time stepping/Step size=0.0125",
                         f"Time stepping/Engine={engine}")
            for field, flow in (("u", math.sin(3)), ("v", 10 * math.cos(3))):
                self.assertAlmostEqual(self.column("fused", f"mass balance of {field}")[-1] / (0.0125 * (7 / 8)**2 * flow), 1, delta=0.02, msg=(engine, field))
        in_space = ("Turing/Exact solution u=1 + exp(-t)*sin(2*x)*cos(y)", "Turing/Initial value u=1 + sin(2*x)*cos(y)", "Verification/Refine=space", "Verification/Refinements=2",
                    "Mesh/Global refinements=2", "Time stepping/Step size=0.0025", "Time stepping/End time=0.05", "Time stepping/Scheme=BDF2", "Time stepping/Engine=fused")
        for settings, rate in (([], 2), (["Discretization/Method=finite elements", "Discretization/Degree=2"], 3), (["Dimension=3"], 2)):
            self.leopard(self.write("fused.prm", text + tight), *in_space, *settings)
            self.assertAlmostEqual(float(self.convergence("fused")[-1]["l2_rate"]), rate, delta=0.25, msg=settings)
        one = ("Verification/Refinements=0", "Verification/Refine=space", "Turing/Boundary values u=2: 1 + sin(3*t)*x^2; 0: 1", "Turing/Boundary values v=2: 1 + x*t; 0: 0.8", "Output/Log every=7",
               "Turing/Boundary fluxes u=1: t*y")
        for settings in ((), ("Discretization/Method=finite elements",), ("Time stepping/Scheme=SBDF2",), ("Time stepping/Step control=error-controlled", "Time stepping/Step size=1e-4", "Output/Times=0.37")):
            rows = []
            for engine in ("general", "fused"):
                self.leopard(self.write("fused.prm", text + tight), *one, *settings, f"Time stepping/Engine={engine}")
                rows.append(self.statistics("fused"))
            columns = [c for c in rows[0][0] if c.startswith(("minimum", "maximum", "mean", "mass balance"))]
            self.assertGreater(len(columns), 6)
            for column in columns[:6] if len(settings) > 1 else columns:  # the balance of a step depends on its size
                i = rows[0][0].index(column)
                self.assertAlmostEqual(rows[0][1][-1][i], rows[1][1][-1][i], delta=1e-3 if len(settings) > 1 else 1e-6, msg=(settings, column))
        # of one field alone values depend on time: those of the other were lost at the nodes of the boundary
        for u, v in (("0: 1 + y + t", "0: 1"), ("0: 1; 2: 1.2 + t", "0: 1 + x; 2: 1.2"), ("0: 1; 2: 1", "0: 1 + t; 2: 1.2 + t")):
            found = []
            for engine in ("general", "fused"):
                self.leopard(self.write("fused.prm", text + tight), *one, f"Turing/Boundary values u={u}", f"Turing/Boundary values v={v}",
                             f"Time stepping/Engine={engine}", "Time stepping/End time=0.2")
                names, values = self.statistics("fused")
                found.append([values[-1][names.index(name)] for name in names if name.startswith(("minimum", "maximum", "mean"))])
            self.assertTrue(all(abs(a - b) < 1e-6 for a, b in zip(*found)), (u, v, found))
        self.leopard(self.write("fused.prm", text + tight), *one, "Time stepping/Engine=fused", "Time stepping/End time=0.5")
        self.leopard(self.write("fused.prm", text + tight), *one, "Time stepping/Engine=fused", options=("--resume",))
        self.leopard(self.write("whole.prm", text + tight), *one, "Time stepping/Engine=fused")
        for column in columns[:6]:
            i = rows[0][0].index(column)
            self.assertAlmostEqual(self.statistics("fused")[1][-1][i], self.statistics("whole")[1][-1][i], delta=1e-7, msg=column)

    def test_error_controlled_steps(self):
        for scheme in ("BDF2", "BDF3", "SBDF2"):
            errors = []
            for tolerance in ("1e-4", "1e-6"):
                self.leopard(self.write("controlled.prm", LINEAR), "Verification/Refinements=0", "Verification/Refine=space", f"Time stepping/Scheme={scheme}",
                             "Time stepping/Step control=error-controlled", f"Time stepping/Error tolerance={tolerance}", "Time stepping/Step size=1e-3")
                errors.append(self.error("controlled"))
            self.assertLess(errors[1], errors[0] / 10, scheme)
            self.assertLess(errors[1], 1e-4, scheme)

    def test_ranks_and_resume_agree(self):
        settings = ("Verification/Refinements=0", "Verification/Refine=space", "Time stepping/Scheme=BDF2")
        errors = []
        for ranks in (1, 3):
            self.leopard(self.write("ranks.prm", PRESCRIBED), *settings, ranks=ranks)
            errors.append(self.error("ranks"))
        self.leopard(self.write("ranks.prm", PRESCRIBED), *settings, "Time stepping/End time=0.5")
        self.leopard(self.write("ranks.prm", PRESCRIBED), *settings, options=("--resume",), ranks=2)
        errors.append(self.error("ranks"))
        for error in errors:
            self.assertAlmostEqual(error, errors[0], delta=1e-9)

    def test_fluxes_are_in_the_mass_balance(self):
        """Without a reaction the mass grows by what comes in: 2 per time through the side x = 1 of length 1."""
        text = ("set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Species = u\n set Reaction u = 0*u\n set Diffusion u = 1\n set Steady state = none\n"
                " set Initial value u = 1\n set Boundary fluxes u = 1: 2\nend\nsubsection Mesh\n set Global refinements = 3\nend\n"
                "subsection Time stepping\n set Step control = fixed\n set Step size = 0.01\n set End time = 0.5\nend\n" + TIGHT)
        self.leopard(self.write("flux.prm", text))
        columns, rows = self.statistics("flux")
        mass = next(i for i, column in enumerate(columns) if column.startswith("total mass of u"))
        balance = next(i for i, column in enumerate(columns) if column.startswith("mass balance of u"))
        self.assertAlmostEqual(rows[-1][mass], 2, delta=1e-9)
        self.assertAlmostEqual(rows[-1][balance], 0, delta=1e-9)

    def flow(self, name, *settings, **options):
        """Runs FLOW, or what `settings` make of it; the balances of mass of all steps."""
        self.leopard(self.write(f"{name}.prm", FLOW), *settings, **options)
        return self.column(name, "mass balance of u")[1:]

    def test_flow_through_prescribed_values_is_the_mass_balance(self):
        """Fields that the schemes step exactly: what flows in between the nodes of the boundary and those beside them is 1 - h of what flows in through the boundary."""
        everywhere = {"Discretization/Method": ("finite differences", "finite elements"), "Time stepping/Engine": ("general", "fused"), "Mesh/Global refinements": ("3", "4")}
        for name, settings, through in (("constant", ("u=1", "u=0", "u=*: 1"), 0.), ("steady", ("u=x^2", "u=-2", "u=0: 0; 1: 1"), 2.),
                                        ("moving", ("u=0", "u=x^2 - 2*t", "u=0: 0; 1: t"), 2 * 0.05)):
            settings = [f"Turing/{entry} {setting}" for entry, setting in zip(("Initial value", "Source", "Boundary values"), settings)]
            for scheme in ("implicit Euler", "BDF2", "SBDF2"):
                for (method, engine, refinements), run in self.sweep(self.write(f"{name}.prm", FLOW), everywhere, *settings, f"Time stepping/Scheme={scheme}"):
                    h, message = 0.5**int(refinements), (name, scheme, method, engine, refinements)
                    self.assertIn(f"time loop: {engine}", self.log(run), message)
                    flow = self.column(run, "mass balance of u")[-1] / 0.01
                    self.assertAlmostEqual(flow, through * (1 - h), delta=h * h / 3 if name == "moving" else 1e-8, msg=message)
                    self.assertLessEqual(abs(flow - through), 1.2 * through * h + 1e-8, message)  # of first order

    def test_flow_through_other_boundaries(self):
        """With a given flux beside prescribed values, a reaction, cells that are not square, in space, on ranks, a periodic boundary."""
        for settings, flow in ((("Turing/Boundary values u=0: 0", "Turing/Boundary fluxes u=1: 2"), -1 / 16), (("Mesh/Periodic=y",), 2 * 15 / 16),
                               (("Turing/Reaction u=-3*u", "Turing/Source u=-2 + 3*x^2", "Discretization/Method=finite differences"), 2 * 15 / 16), (("Mesh/Cells=1, 3",), 2 * 15 / 16),
                               (("Dimension=3", "Mesh/Global refinements=3"), 2 * 7 / 8), (("Turing/Boundary values u=*: x^2",), None)):
            for engine in ("general", "fused"):
                for ranks in (1, 3):
                    found = self.flow("flow", *settings, f"Time stepping/Engine={engine}", ranks=ranks)
                    for balance in found:
                        # beside values on all four sides what the sink takes at the free nodes
                        self.assertAlmostEqual(balance / 0.01, 2 * (15 / 16)**2 if flow is None else flow, delta=1e-7, msg=(settings, engine, ranks))

    def test_boundary_wins_over_initial_values(self):
        said = self.leopard(self.write("wins.prm", PRESCRIBED), "Verification/Refinements=0", "Verification/Refine=space", "Turing/Initial value u=1 + x", "Time stepping/End time=0.1")
        self.assertEqual(said.count("initial values at the boundary are not those prescribed there, which hold: most of all of u"), 1)
        self.assertNotIn("initial values at the boundary", self.leopard(self.write("wins.prm", PRESCRIBED), "Verification/Refinements=0", "Verification/Refine=space",
                                                                        "Time stepping/End time=0.1"))

    def test_kinetics_that_are_singular_at_zero_are_not_asked_at_the_boundary(self):
        self.leopard(self.write("zero.prm", PRESCRIBED), "Verification/Refinements=0", "Verification/Refine=space", "Turing/Reaction u=1/u - 1", "Turing/Exact solution u=",
                     "Turing/Exact solution v=", "Turing/Boundary fluxes u=", "Turing/Boundary values u=2: 0", "Time stepping/End time=0.1")


class BadBoundaries(Program):
    def test_named_values_go_before_a_star_of_the_fluxes(self):
        text = ("set Problem = laplace\nsubsection Laplace\n set Exact solution = x\n set Boundary values = 0: x; 1: x\n set Boundary fluxes = *: 0\nend\n"
                "subsection Mesh\n set Global refinements = 2\nend\n")
        self.assertNotIn("contradict", self.leopard(self.write("star.prm", text)))
        self.assertLess(float(self.convergence("star")[-1]["l2_error"]), 1e-8)

    def test_messages(self):
        self.write("helmholtz.prm", HELMHOLTZ)
        self.write("turing.prm", MOVING.replace("set Periodic           = x\n", ""))
        self.write("prescribed.prm", PRESCRIBED)
        self.write("half.msh", UNMATCHED)
        of_file = ("Mesh/Domain=file", "Mesh/File=half.msh", "Mesh/Global refinements=0", "Verification/Refinements=0")
        self.invalid([
            ("helmholtz.prm", ("Mesh/Periodic=w",), ("'Mesh/Periodic' is 'w'", "no direction of this domain")),
            ("helmholtz.prm", ("Mesh/Periodic=z",), ("'Mesh/Periodic' is 'z'", "x, y")),
            ("helmholtz.prm", ("Mesh/Periodic=x, x",), "has x twice"),
            ("helmholtz.prm", ("Mesh/Domain=L-shape",), ("'Mesh/Periodic' is x, y", "L-shape")),
            ("helmholtz.prm", ("Mesh/Domain=ball",), "whose boundary does not match across"),
            ("helmholtz.prm", ("Mesh/Domain=sphere",), "whose boundary does not match across"),
            ("helmholtz.prm", ("Helmholtz/Boundary values=0: 1",), ("the boundary id 0, which is periodic", "none, as all boundaries are periodic")),
            ("helmholtz.prm", ("Helmholtz/Boundary fluxes=3: 1", "Mesh/Periodic=y"), ("the boundary id 3, which is periodic", "one of 0, 1")),
            ("turing.prm", ("Turing/Boundary values v=2: 1", "Mesh/Periodic=y"), ("'Turing/Boundary values v'", "the boundary id 2, which is periodic")),
            ("turing.prm", ("Turing/Boundary values v=7: 1",), "the boundary id 7, which the mesh does not have"),
            ("prescribed.prm", ("Discretization/Method=finite elements", "Discretization/Mass matrix=consistent"), ("'Turing/Exact solution u' depends on t", "lumped")),
            ("prescribed.prm", ("Mesh/Growth=linear", "Mesh/Growth rate=1", "Verification/Refinements=0", "Turing/Exact solution u=", "Turing/Exact solution v="), "prescribes boundary values or fluxes"),
            ("prescribed.prm", ("Turing/Boundary values v=1: 1", "Turing/Boundary fluxes v=1: 0"), "boundary id 1 stands in both"),
            ("turing.prm", ("Verification/Refinements=0", "Time stepping/Engine=fused", "Time stepping/Scheme=ETDRK4", "Turing/Exact solution u=", "Turing/Exact solution v=", "Turing/Boundary values u=2: 1"),
             "with boundary values it does not know ETDRK4"),
            ("helmholtz.prm", (*of_file, "Mesh/Periodic=x"), ("does not match across", "normal to x, the 2 faces at the lower end do not have the places and forms")),
            ("helmholtz.prm", ("Mesh/Global refinements=0",), ("the mesh has one cell", "'Mesh/Global refinements'")),
            ("helmholtz.prm", ("Mesh/Adaptive=true", "Verification/Refinements=0", "Linear solver/Method=multigrid"), "'Mesh/Periodic' is given, for which there are no levels"),
        ])

    def test_what_is_seen_with_the_mesh_only(self):
        self.write("prescribed.prm", PRESCRIBED)
        helmholtz = self.write("helmholtz.prm", HELMHOLTZ)
        error = self.leopard(helmholtz, "Verification/Refinements=0", "Mesh/Periodic=x", "Helmholtz/Exact solution=", "Helmholtz/Boundary values=2: 1 + x; 3: 1", fails=True)
        self.assertIn("the expression '1 + x' of the entry 'Helmholtz/Boundary values, boundary 2' is 1 at (0, 0)", error)
        self.assertIn("the same at both ends of 'Mesh/Periodic'", error)
        self.leopard(helmholtz, "Verification/Refinements=0", "Mesh/Periodic=x", "Helmholtz/Exact solution=", "Helmholtz/Boundary values=2: 1 + x*(1 - x); 3: 1")
        for solver in ("direct", "cg"):
            error = self.leopard(helmholtz, "Problem=laplace", "Verification/Refinements=0", "Mesh/Adaptive=true", f"Linear solver/Method={solver}", fails=True)
            self.assertIn("'Linear solver/Method' = cg with 'Preconditioner' = aggregation, which finds the solution of mean zero", error)

    def test_values_that_contradict_one_another_at_the_ends_of_a_period(self):
        """Those that do so later only, too, before the run begins: what was there stays as it was. A value of zero that is computed as 1e-16 does not."""
        text = MOVING.replace("set Refinements = 2", "set Refinements = 0") + "subsection Output\n set Log every = 1\nend\n"
        text = "\n".join(line for line in text.splitlines() if "Exact solution" not in line)
        plane, space = self.write("plane.prm", text), self.write("space.prm", "set Dimension = 3\n" + text)
        good = "Turing/Boundary values u=2: 1 + t*sin(2*pi*x); 3: sin(2*pi*x)"
        self.leopard(plane, good, "Mesh/Global refinements=2")
        before = (self.folder / "output/plane/run.json").read_text()
        later = ["the expression '1 + x*t' of the entry 'Turing/Boundary values u, boundary 2' is 1 at (0, 0) and t = 0.0023125", " is 1.00231 at (1, 0) and t = 0.0023125",
                 "'Mesh/Periodic' = x makes one place of the two", "expected: 'Boundary values' that are the same at both ends of 'Mesh/Periodic'", "or 'Mesh/Periodic' without this direction"]
        in_space = ["the expression 'x*y*(1 - y)*t^2' of the entry 'Turing/Boundary values v, boundary 5' is 0 at (0, ", ", 1) and t = "]
        cases = [(plane, "2: 1 + x*t", "u", later), (space, "5: x*y*(1 - y)*t^2", "v", in_space)]
        self.invalid([(file, [f"Turing/Boundary values {field}={values}"], says) for file, values, field, says in cases])
        for file, values, field, says in cases:
            for ranks in (1, 2):
                error = self.leopard(file, f"Turing/Boundary values {field}={values}", "Mesh/Global refinements=2", ranks=ranks, fails=True)
                for words in says:
                    self.assertIn(words, error)
                self.assertEqual(error.count("leopard: "), 1)
                self.assertNotIn("to try", error)
        self.assertEqual(before, (self.folder / "output/plane/run.json").read_text())
        self.valid([(plane, [good])])

    def test_an_exact_solution_that_is_not_periodic(self):
        said = self.leopard(self.write("helmholtz.prm", HELMHOLTZ), "Verification/Refinements=0", "Helmholtz/Exact solution=cos(pi*x)*cos(2*pi*y)")
        self.assertIn("'Mesh/Periodic' = x, y contradicts 'Helmholtz/Exact solution': most of all it is", said)

    def test_mesh_files(self):
        self.write("strip.msh", MATCHED)
        said = self.leopard(self.write("file.prm", HELMHOLTZ), "Mesh/Domain=file", "Mesh/File=strip.msh", "Mesh/Periodic=x", "Helmholtz/Exact solution=sin(2*pi*x + 1)*exp(y)",
                            "Linear solver/Method=multigrid")
        self.assertNotIn("warning", said)
        self.assertAlmostEqual(float(self.convergence("file")[-1]["l2_rate"]), 2, delta=0.1)
