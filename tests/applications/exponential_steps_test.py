# SPDX-License-Identifier: Apache-2.0
"""The scheme ETDRK4 in the program: its fields are those of other schemes, what it cannot do is refused, and what it does not read is named."""
import math
import unittest

from fused_time_loop_test import CASE
from program import FILES, HostProgram, Program, has_gpu

STEPS = ["Time stepping/Step size=1e-5", "Time stepping/End time=0.2", "Output/Interval=0.05", "Output/Log every=1"]
ETD = "Time stepping/Scheme=ETDRK4"


def run_case(test, *settings, **options):
    said = test.leopard(test.write("case.prm", CASE.replace("set Relative tolerance = 1e-10", "")), *STEPS, *settings, **options)
    columns, rows = test.statistics("case")
    return said, {c: value for c, value in zip(columns, rows[-1]) if c.startswith(("minimum", "maximum", "mean"))}


class ExponentialSteps(HostProgram):
    def test_fields_are_those_of_another_scheme_in_fewer_steps(self):
        _, exact = run_case(self, "Time stepping/Scheme=BDF3", "Time stepping/Error tolerance=1e-7")
        bdf3 = self.run_json("case")["time_loop"]["steps"]
        for tolerance, most in (("1e-4", 2e-3), ("1e-6", 2e-5)):
            said, found = run_case(self, ETD, f"Time stepping/Error tolerance={tolerance}")
            for name, value in exact.items():
                self.assertAlmostEqual(found[name], value, delta=most, msg=f"{name}, {tolerance}")
            self.assertIn("time loop: fused, ", said)
            self.assertIn("exponential steps in 561 modes", said)
            self.assertNotIn("asynchronous", said)
            self.assertNotIn("Newton  ", said)
            self.assertRegex(said, r"step +\d+  t = .* error .* of the tolerance")
            loop = self.run_json("case")["time_loop"]
            self.assertEqual((loop["newton_steps"], loop["linear_iterations"]), (0, 0))
            self.assertLess(loop["steps"], 0.5 * bdf3)
            self.assertEqual(self.run_json("case")["linear_solver"], "none")
            self.assertNotIn("limited by the stability", said)

    def test_mass_balance(self):
        """What a step of order 4 and Simpson's rule leave of it is of the order of dt^5: twice the step, thirty times as much. Against the mass that the reaction makes it is small."""
        smooth = ["Turing/Start from steady state=false", "Turing/Perturbation=0", "Turing/Initial value u=0.9 + 0.2*cos(pi*x)*cos(4*pi*y)", "Turing/Initial value v=0.95 - 0.2*cos(2*pi*x)",
                  "Time stepping/Step control=fixed", "Time stepping/End time=0.016", ETD]
        for more in ([], ["Turing/Source u=3*t^2", "Turing/Boundary fluxes v=1: cos(5*t)"], ["Mesh/Periodic=x"]):
            for field in "uv":
                left = []
                for step in ("2e-3", "1e-3"):
                    run_case(self, *smooth, *more, f"Time stepping/Step size={step}")
                    balance, mass = self.column("case", f"mass balance of {field}"), self.column("case", f"total mass of {field}")
                    self.assertTrue(all(math.isfinite(value) for value in balance))
                    self.assertLess(max(map(abs, balance[2:])), 0.01 * max(abs(b - a) for a, b in zip(mass, mass[1:])), (more, field))
                    left.append(max(abs(value) for time, value in zip(self.column("case", "time"), balance) if time > 0.007))
                self.assertGreater(left[0] / left[1], 20, (more, field))
                self.assertLess(left[0] / left[1], 50, (more, field))

    def test_says_when_stability_limits_the_steps(self):
        """A pattern that has come to rest; a run by another scheme takes a few steps from there."""
        spots = [FILES / "quickstart/leopard_spots.prm", "Mesh/Global refinements=6", "Time stepping/Largest step=1e30", "Output/Interval=0"]
        said = self.leopard(*spots, ETD, "Time stepping/End time=2")
        self.assertEqual(said.count("steps are limited by the stability of ETDRK4"), 1)
        before = self.run_json("leopard_spots")["time_loop"]["steps"]
        said = self.leopard(*spots, "Time stepping/Scheme=BDF2", "Time stepping/End time=4", options=("--resume",))
        self.assertLess(self.run_json("leopard_spots")["time_loop"]["steps"], 0.2 * before)
        self.assertNotIn("limited by the stability", said)

    def test_fixed_steps_have_order_four(self):
        """From smooth values: noise dies in a time that such steps do not resolve."""
        smooth = ["Turing/Start from steady state=false", "Turing/Perturbation=0", "Turing/Initial value u=0.9 + 0.2*cos(pi*x)*cos(4*pi*y)",
                  "Turing/Initial value v=0.95 - 0.2*cos(2*pi*x)", "Time stepping/Step control=fixed", ETD]
        errors = []
        reference = run_case(self, *smooth, "Time stepping/Step size=1.25e-4")[1]
        for step in ("2e-3", "1e-3"):
            found = run_case(self, *smooth, f"Time stepping/Step size={step}")[1]
            errors.append(max(abs(found[name] - value) for name, value in reference.items()))
        self.assertGreater(errors[0] / errors[1], 10)
        self.assertLess(errors[0] / errors[1], 26)

    def test_the_estimate_sees_what_is_driven_by_others(self):
        """a follows p^4, p and q rotate: the stages of a step give the same derivative of a, and a formula of order 3 in them sees no error."""
        file = self.write("driven.prm", """
set Problem = turing
subsection Turing
  set Kinetics        = expressions
  set Species         = p, q, a
  set Reaction p      = 20*q
  set Reaction q      = -20*p
  set Reaction a      = 10*(p^4 - a)
  set Diffusion p     = 1
  set Diffusion q     = 1
  set Diffusion a     = 1
  set Steady state    = none
  set Initial value p = 1
  set Initial value q = 0
  set Initial value a = 0
end
subsection Mesh
  set Global refinements = 3
end
subsection Discretization
  set Method = finite differences
end
subsection Time stepping
  set End time        = 2
  set Step size       = 1e-4
  set Error tolerance = 1e-4
end
""")
        found = []
        for scheme, tolerance in (("ETDRK4", "1e-4"), ("BDF3", "1e-8")):
            self.leopard(file, f"Time stepping/Scheme={scheme}", f"Time stepping/Error tolerance={tolerance}")
            found.append(self.column("driven", "mean of a")[-1])
        self.assertAlmostEqual(found[0], found[1], delta=1e-3)

    def test_fixed_steps_that_are_too_long_are_named(self):
        said, _ = run_case(self, ETD, "Turing/gamma=20000", "Time stepping/Step control=fixed", "Time stepping/Step size=1e-3", "Time stepping/End time=0.004")
        self.assertEqual(said.count("fixed steps of 0.001 are too long for ETDRK4"), 1, said)

    def test_three_species_in_a_box(self):
        file = self.write("box.prm", """
set Problem   = turing
set Dimension = 3
subsection Turing
  set Kinetics        = expressions
  set Species         = a, b, c
  set Reaction a      = b - a*c
  set Reaction b      = a - b
  set Reaction c      = 1 - c*a
  set Diffusion a     = 0.1
  set Diffusion b     = 0.3
  set Diffusion c     = 1
  set Steady state    = none
  set Initial value a = 1 + 0.5*cos(pi*x)*cos(2*pi*y)
  set Initial value b = 0.5 + 0.1*cos(pi*z)
  set Initial value c = 1
end
subsection Mesh
  set Domain       = box
  set Upper corner = 1, 2, 1
  set Cells        = 8, 12, 6
end
subsection Discretization
  set Method = finite differences
end
subsection Time stepping
  set End time        = 0.5
  set Error tolerance = 1e-7
end
""")
        means = []
        for scheme in ("ETDRK4", "BDF3"):
            self.leopard(file, f"Time stepping/Scheme={scheme}")
            means.append([self.column("box", start)[-1] for start in ("mean of a", "maximum of a", "minimum of c")])
        for one, two in zip(*means):
            self.assertAlmostEqual(one, two, delta=1e-5)

    def test_periodic_directions(self):
        """The grid and its modes are those of the periodic domain, for one direction and for two; another scheme finds the same fields."""
        for around, transforms in (("x", "Fourier transforms"), ("x, y", "Fourier transforms")):
            periodic = ["Turing/Perturbation=0", "Turing/Start from steady state=false", f"Mesh/Periodic={around}",
                        "Turing/Initial value u=0.9 + 0.2*sin(2*pi*x)*cos(4*pi*y)", "Turing/Initial value v=0.95 - 0.1*cos(2*pi*x)*sin(4*pi*y)"]
            _, exact = run_case(self, *periodic, "Time stepping/Scheme=BDF3", "Time stepping/Error tolerance=1e-7")
            said, found = run_case(self, *periodic, ETD, "Time stepping/Error tolerance=1e-6")
            self.assertIn(transforms, said)
            self.assertIn(f"exponential steps in {32 * (17 if around == 'x' else 16)} modes", said)
            for name, value in exact.items():
                self.assertAlmostEqual(found[name], value, delta=3e-5, msg=f"{name}, {around}")

    def test_a_run_that_was_stopped_goes_on(self):
        _, whole = run_case(self, ETD, "Time stepping/Error tolerance=1e-6")
        run_case(self, ETD, "Time stepping/Error tolerance=1e-6", "Time stepping/End time=0.07")
        said, found = run_case(self, ETD, "Time stepping/Error tolerance=1e-6", options=("--resume",))
        self.assertIn("resumed at step", said)
        for name, value in whole.items():
            self.assertAlmostEqual(found[name], value, delta=2e-5, msg=name)
        # and by another scheme from there
        run_case(self, ETD, "Time stepping/Error tolerance=1e-6", "Time stepping/End time=0.07")
        _, found = run_case(self, "Time stepping/Scheme=BDF2", "Time stepping/Error tolerance=1e-6", options=("--resume",))
        for name, value in whole.items():
            self.assertAlmostEqual(found[name], value, delta=2e-3, msg=name)

    def test_the_error_is_estimated(self):
        pattern = ["Turing/gamma=1000", "Turing/Perturbation=0.2", ETD]  # whose steps the tolerance decides
        said, found = run_case(self, *pattern, "Time stepping/Error tolerance=1e-4", "Time stepping/Estimate error=true")
        estimate = self.run_json("case")["time_error"]["fields"]
        self.assertIn("order 4", said)
        _, exact = run_case(self, *pattern, "Time stepping/Error tolerance=1e-9")
        for field in ("u", "v"):
            actual = max(abs(found[name] - exact[name]) for name in exact if f" {field}" in name)
            self.assertLess(actual, 10 * estimate[field]["largest"])
            self.assertLess(estimate[field]["largest"], 0.05)

    def test_entries_of_solvers_are_not_read(self):
        said, _ = run_case(self, ETD, "Newton/Max steps=7", "Multigrid/Cycle=W", "Linear solver/Omega=0.9", "Linear solver/Threads=2")
        for entry in ("Newton/Max steps", "Multigrid/Cycle", "Linear solver/Omega"):
            self.assertRegex(said, rf"{entry}.*solves no system of equations|solves no system of equations.*{entry}", entry)
        self.assertNotRegex(said, r"Threads.*solves no system")

    def test_values_of_solvers_that_no_solver_could_have_end_no_run(self):
        """They contradict what a solver would be: as all that is not read they are named."""
        file = self.write("case.prm", CASE.replace("set Relative tolerance = 1e-10", ""))
        settings = ["Linear solver/Omega=tau", "Linear solver/Tuning time=1", "Linear solver/Momentum=0.5", "Linear solver/Preconditioner=ilu", "Linear solver/Method=async"]
        said = self.valid([(file.name, [ETD, *settings])])[0]
        for setting in settings:
            self.assertRegex(said, rf"not used: .*{setting.split('=')[0]}.*solves no system of equations")
        self.invalid([(file.name, settings, "'Linear solver/Preconditioner' is ilu, but 'Linear solver/Method' is async")])

    def test_what_it_cannot_do_is_refused(self):
        file = self.write("case.prm", CASE.replace("set Relative tolerance = 1e-10", ""))
        needs = "'Time stepping/Scheme' is ETDRK4"
        self.invalid([(file.name, [ETD, *settings], [needs, says]) for settings, says in (
            (["Discretization/Method=finite elements"], "finite elements"),
            (["Mesh/Growth=linear", "Mesh/Growth rate=1"], "'Mesh/Growth' is linear"),
            (["Time stepping/Engine=general"], "'Engine' is general"),
            (["Mesh/Domain=L-shape"], "'Mesh/Domain' is L-shape"),
            (["Time stepping/Negative values=clip"], "clip"),
            (["Turing/Source u=sin(x - t)"], "no sum of products"),
            (["Turing/Boundary values u=2: 1", "Turing/Boundary values v=2: 1"], "with boundary values it does not know ETDRK4"),
        )])
        self.invalid([(file.name, [ETD, "Time stepping/Step control=asynchronous bound"], "the scheme ETDRK4 iterates nothing")])
        error = self.failed_run(file, ETD, *STEPS, ranks=2, says=[needs, "2 ranks"])
        self.assertIn("on one rank", error)
        self.failed_run(file, ETD, *STEPS, "Linear solver/Backend=reference", says=[needs, "'Linear solver/Backend' is reference"])
        # entries of a solver that is not used do not matter
        self.valid([(file.name, [ETD, "Linear solver/Method=cg"]), (file.name, [ETD, "Linear solver/Preconditioner=ic"])])


class ExponentialStepsOnGpu(Program):
    @unittest.skipUnless(has_gpu(), "no GPU here")
    def test_fields_are_those_of_the_host(self):
        """The same operations in another order: they differ by rounding, which the growing pattern magnifies."""
        for settings in (["Time stepping/Error tolerance=1e-5"], ["Time stepping/Step control=fixed", "Time stepping/Step size=1e-3"]):
            found = []
            for backend in ("host", "cuda"):
                said, values = run_case(self, ETD, f"Linear solver/Backend={backend}", *settings)
                self.assertIn("cosine transforms by FFTW" if backend == "host" else "transforms by cuBLAS", said)
                found.append((self.run_json("case")["time_loop"]["steps"], values))
            self.assertEqual(found[0][0], found[1][0])
            for name, value in found[0][1].items():
                self.assertAlmostEqual(found[1][1][name], value, delta=1e-8, msg=name)
