# SPDX-License-Identifier: Apache-2.0
"""Time stepping: orders, step control, the asynchronous bound, mass balance, and what happens when a solution goes wrong."""
import math
import re
import sys

from program import FILES, ROOT, Program

VERIFICATION = FILES / "verification"
TINY = ROOT / "tests/output/tiny_turing.prm"
SCHEMES = {"implicit Euler": 1, "BDF2": 2, "SBDF2": 2}


def kinetics(u, v, *more):
    """A file with the reactions u and v, which need not have a steady state, on a small mesh."""
    return ("set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Steady state = none\n"
            f" set Reaction u = {u}\n set Reaction v = {v}\n set Diffusion u = 1\n set Diffusion v = 1\n set Initial value u = 1\n set Initial value v = 1\nend\n"
            "subsection Mesh\n set Global refinements = 2\nend\nsubsection Linear solver\n set Method = direct\nend\n"
            "subsection Time stepping\n set Step control = fixed\n set Step size = 0.01\n set End time = 2\nend\nsubsection Output\n set Log every = 1\nend\n")


class Orders(Program):
    def test_in_time_of_the_coupled_system(self):
        for (scheme,), name in self.sweep(VERIFICATION / "turing_time_order.prm", {"Time stepping/Scheme": SCHEMES}):
            rates = [float(row["nodal_maximum_rate"]) for row in self.convergence(name)[2:]]
            for rate in rates:
                self.assertAlmostEqual(rate, SCHEMES[scheme], delta=0.1, msg=scheme)

    def test_in_space_of_the_coupled_system(self):
        for order, settings in ((2, ["Discretization/Method=finite differences"]), (2, []), (3, ["Discretization/Degree=2", "Verification/Refinements=2"])):
            for scheme, name in self.sweep(VERIFICATION / "turing_space_order.prm", {"Time stepping/Scheme": ["BDF2", "SBDF2"]}, *settings):
                self.assertAlmostEqual(float(self.convergence(name)[-1]["l2_rate"]), order, delta=0.1, msg=f"{scheme} {settings}")

    def test_error_control_of_every_scheme(self):
        runs = self.sweep(VERIFICATION / "time_order.prm", {"Time stepping/Scheme": SCHEMES, "Time stepping/Error tolerance": ["1e-2", "1e-3", "1e-4"]}, "Verification/Refinements=0",
                          "Time stepping/Step control=error-controlled", "Time stepping/Step size=1e-4", "Linear solver/Relative tolerance=1e-12")
        for scheme in SCHEMES:
            names = [name for (its, _), name in runs if its == scheme]
            self.assertEqual(len(names), 3)
            errors = [float(re.search(r"L2 error against the exact solution: (\S+)", self.log(name))[1]) for name in names]
            steps = [self.run_json(name)["time_loop"]["steps"] for name in names]
            # the local error is what is controlled: per unit of time it goes with tolerance^(order/(order+1))
            for coarse, fine in zip(errors, errors[1:]):
                self.assertLess(fine, 0.5 * coarse, f"{scheme}: {errors}")
            self.assertLess(errors[-1], 0.05, scheme)
            self.assertGreater(steps[-1], steps[0], f"{scheme}: {steps}")


class FixedSteps(Program):
    def test_an_end_that_is_not_the_end_time_is_said(self):
        settings = ["Time stepping/Step control=fixed", "Time stepping/End time=0.01", "Mesh/Global refinements=2"]
        for engine in ("fused", "general"):
            said = self.leopard(ROOT / "tests/output/tiny_turing.prm", *settings, "Time stepping/Step size=0.003", f"Time stepping/Engine={engine}")
            self.assertIn("warning: the run will end at t = 0.009 and not at 'Time stepping/End time' = 0.01", said)
            self.assertIn("t = 0.009 ", said)
            for step in ("0.002", "0.01", "0.01/3"):
                self.assertNotIn("the run will end at", self.leopard(ROOT / "tests/output/tiny_turing.prm", *settings, f"Time stepping/Step size={step}", f"Time stepping/Engine={engine}"))

    def test_the_table_of_a_refined_step_has_the_step(self):
        file = FILES / "verification/turing_time_order.prm"
        self.leopard(file, "Verification/Refinements=2", "Mesh/Global refinements=2")
        step = float(self.convergence("turing_time_order")[0]["dt"])
        self.assertIn(f"dt = {step:g}", self.leopard(file, "Verification/Refinements=1", "Mesh/Global refinements=2"))

    def test_a_start_that_is_not_the_exact_solution_is_warned_of(self):
        file = FILES / "verification/turing_time_order.prm"
        few = ["Verification/Refinements=1", "Mesh/Global refinements=1"]
        self.assertNotIn("does not begin with", self.leopard(file, *few))
        self.assertIn("warning: the run does not begin with the exact solution: v is 0 at (", self.leopard(file, *few, "Turing/Initial value v=0"))


class SemiImplicit(Program):
    """SBDF2: one linear solve a step with a symmetric matrix."""

    def test_symmetric_solvers_do(self):
        results = []
        for method, preconditioner in (("cg", "amg"), ("cg", "async"), ("direct", "none"), ("async", "none"), ("gmres", "jacobi")):
            for ranks in (1, 2) if method == "cg" else (1,):
                self.leopard(TINY, "Time stepping/Scheme=SBDF2", f"Linear solver/Method={method}", f"Linear solver/Preconditioner={preconditioner}",
                             "Linear solver/Relative tolerance=1e-10", "Time stepping/End time=0.01", ranks=ranks)
                columns, rows = self.statistics("tiny_turing")
                self.assertEqual({row[3] for row in rows}, {1.0}, "more than one solve a step")
                results.append(rows[-1][10:16])
        for result in results[1:]:
            for one, other in zip(results[0], result):
                self.assertAlmostEqual(one, other, delta=1e-7)

    def test_resumes_to_the_same_solution(self):
        """But for the error tolerance, as first steps are at most a hundredth of the run that was asked for."""
        settings = ["Time stepping/Scheme=SBDF2", "Linear solver/Method=direct", "Time stepping/End time=0.02", "Time stepping/Step control=error-controlled"]
        self.leopard(TINY, *settings)
        _, reference = self.statistics("tiny_turing")
        self.leopard(TINY, *settings[:2], "Time stepping/End time=0.01", settings[3])
        self.leopard(TINY, *settings, options=["--resume"])
        _, resumed = self.statistics("tiny_turing")
        for one, other in zip(reference[-1][10:16], resumed[-1][10:16]):
            self.assertAlmostEqual(one, other, delta=3e-4)

    def test_missed_tolerance_is_an_error(self):
        error = self.leopard(TINY, "Time stepping/Scheme=SBDF2", "Linear solver/Method=gmres", "Linear solver/Max iterations=1", "Linear solver/Relative tolerance=1e-12", fails=True)
        self.assertIn("has not reached the tolerance", error)
        self.assertIn("last good state", error)


class Bound(Program):
    """Steps and the bound up to which every asynchronous iteration converges."""

    def test_steps_at_the_bound(self):
        for scheme, factor in (("implicit Euler", 1.0), ("BDF2", None)):
            said = self.leopard(TINY, "Time stepping/Step control=asynchronous bound", f"Time stepping/Scheme={scheme}", "Time stepping/End time=0.1", "Turing/gamma=1000",
                                "Linear solver/Method=async", "Output/Interval=0")
            self.assertIn("times the asynchronous bound", said)
            columns, rows = self.statistics("tiny_turing")
            bound = columns.index("asynchronous bound of the step size (dimensionless)")
            self.assertGreater(len(rows), 10)
            for row in rows[:-2]:  # the last two share what is left
                self.assertLessEqual(row[2], 0.9 * row[bound] * (1 + 1e-9))
                if factor is not None:
                    self.assertAlmostEqual(row[2], 0.9 * row[bound], delta=1e-6 * row[2])
            # at the homogeneous steady state: 1 / (gamma max(f_u + |f_v|, g_v + |g_u|))
            a, b = 0.126779, 0.792366
            expected = 1 / (1000 * max((b - a) / (a + b) + (a + b) ** 2, 2 * b / (a + b) - (a + b) ** 2))
            self.assertAlmostEqual(rows[0][bound] / expected, 1, delta=0.2)

    def test_steps_beyond_the_bound_change_the_solver(self):
        settings = ["Time stepping/Step control=error-controlled", "Time stepping/End time=0.5", "Time stepping/Error tolerance=0.05", "Newton/Relative tolerance=1e-9",
                    "Output/Interval=0", "Turing/gamma=200"]
        said = self.leopard(TINY, *settings, "Linear solver/Method=async", "Time stepping/Engine=general")
        self.assertEqual(said.count("up to which every asynchronous iteration converges: such steps are solved by"), 1)
        self.assertIn("beyond the asynchronous bound solved by gmres", said)
        columns, rows = self.statistics("tiny_turing")
        bound, by_gmres = (columns.index(name) for name in ("asynchronous bound of the step size (dimensionless)", "solved by gmres since the step exceeds the bound (1: yes)"))
        for row in rows:
            self.assertEqual(row[by_gmres], 1.0 if row[2] > row[bound] else 0.0)
        self.assertEqual({row[by_gmres] for row in rows}, {0.0, 1.0}, "both solvers should have been at work")
        self.assertEqual(self.run_json("tiny_turing")["time_loop"]["steps_by_gmres"], sum(row[by_gmres] for row in rows))
        last = rows[-1][10:16]
        self.leopard(TINY, *settings, "Linear solver/Method=direct")
        for one, other in zip(last, self.statistics("tiny_turing")[1][-1][10:16]):
            self.assertAlmostEqual(one, other, delta=1e-4)

    def test_fixed_steps_beyond_the_bound_are_warned_of(self):
        for step, warns in (("0.01", 0), ("0.05", 1)):
            said = self.leopard(TINY, f"Time stepping/Step size={step}", "Time stepping/End time=0.1", "Linear solver/Method=gauss-seidel", "Output/Interval=0", "Turing/gamma=20")
            self.assertEqual(said.count("warning: the step"), warns)


class MassBalance(Program):
    def balances(self, name, ranks=1):
        columns, rows = self.statistics(name)
        return [(row[columns.index(f"total mass of {field} (dimensionless)")],
                 row[columns.index(f"mass balance of {field}: change in the step less integrated reaction (dimensionless)")],
                 row[columns.index(f"mean of {field} (dimensionless)")]) for row in rows for field in ("u", "v")]

    def test_closes_to_the_solver_tolerance(self):
        for discretization in (["Discretization/Method=finite differences"], ["Discretization/Method=finite elements"],
                               ["Discretization/Method=finite elements", "Discretization/Mass matrix=consistent"], ["Discretization/Method=finite elements", "Discretization/Degree=2"]):
            settings = [*discretization, "Linear solver/Method=direct", "Linear solver/Relative tolerance=1e-14", "Newton/Relative tolerance=1e-12", "Newton/Error fraction=0",
                        "Mesh/Upper corner=2", "Time stepping/End time=0.02", "Output/Interval=0"]
            for schemes, controls in ((SCHEMES, ["fixed", "error-controlled"]), (["BDF3"], ["error-controlled"])):
                runs = self.sweep(TINY, {"Time stepping/Scheme": schemes, "Time stepping/Step control": controls}, *settings)
                self.assertEqual(len(runs), len(schemes) * len(controls))
                for values, name in runs:
                    for mass, residual, mean in self.balances(name):
                        self.assertAlmostEqual(mass, 4 * mean, delta=1e-8)
                        self.assertLess(abs(residual), 1e-11, f"{discretization} {values}")

    def test_is_as_good_as_the_solver(self):
        # the residuals of the nodes' equations add up to it: at most dt sqrt(n) ||G||
        for tolerance, at_least in (("1e-2", 1e-9), ("1e-10", 0)):
            self.leopard(TINY, "Linear solver/Method=gmres", "Linear solver/Preconditioner=async", f"Newton/Relative tolerance={tolerance}", "Time stepping/Step size=0.01",
                         "Time stepping/End time=0.1", "Turing/gamma=50", "Turing/Perturbation=0.3", "Output/Interval=0", ranks=2)
            rows = self.statistics("tiny_turing")[1]
            residuals = [abs(residual) for _, residual, _ in self.balances("tiny_turing")]
            for row, u, v in zip(rows, residuals[::2], residuals[1::2]):
                self.assertLessEqual(max(u, v), row[2] * 17 * row[6] * (1 + 1e-6) + 1e-13)
            self.assertGreater(max(residuals), at_least)

    def test_with_sources_that_depend_on_time(self):
        for scheme, name in self.sweep(VERIFICATION / "turing_time_order.prm", {"Time stepping/Scheme": SCHEMES}, "Verification/Refinements=0"):
            for _, residual, _ in self.balances(name):
                self.assertLess(abs(residual), 1e-11, scheme)


class BadValues(Program):
    """Blow-up and negative concentrations."""

    def test_blow_up_is_recognized_and_the_last_good_state_is_kept(self):
        # u' = u^2 from u = 1 is infinite at t = 1
        file = self.write("blow.prm", kinetics("u^2", "-v"))
        for scheme in SCHEMES:
            for control in ("fixed", "error-controlled"):
                error = self.leopard(file, f"Time stepping/Scheme={scheme}", f"Time stepping/Step control={control}", "Output/Log every=1000", fails=True)
                self.assertRegex(error, "blows up|may blow up")
                self.assertEqual(error.count("leopard: "), 1)
                found = re.search(r"last good state: step (\d+), time ([0-9.]+), written to output/blow/solution.pvd", error)
                self.assertIsNotNone(found, error)
                self.assertLess(abs(float(found[2]) - 1), 0.1)
                times = [float(t) for t in re.findall(r'timestep="([^"]*)"', (self.folder / "output/blow/solution.pvd").read_text())]
                self.assertAlmostEqual(times[-1], float(found[2]), delta=1e-6)
                self.assertTrue((self.folder / f"output/blow/checkpoints/step_{int(found[1]):09d}").is_dir())
                self.assertIn("failed", self.run_json("blow")["status"])

    def test_blow_up_factor_of_the_general_loop(self):
        # u = 1/(1 - t) is 50 at t = 0.98; what is not finite is beyond any factor
        file = self.write("blow.prm", kinetics("u^2", "-v"))
        error = self.leopard(file, "Time stepping/Engine=general", "Time stepping/Scheme=BDF2", "Time stepping/Step size=2e-3", "Time stepping/Blow-up factor=50", fails=True)
        found = re.search(r"the solution blows up in the step from time (\S+) .*: the largest \|u\| is ([\d.]+),", error)
        self.assertIsNotNone(found, error)
        self.assertAlmostEqual(float(found[1]), 0.98, delta=0.01)
        self.assertGreater(float(found[2]), 50)
        columns, rows = self.statistics("blow")
        self.assertLessEqual(rows[-1][columns.index("maximum of u (dimensionless)")], 50)

    def test_a_saved_state_can_be_resumed_with_other_settings(self):
        file = self.write("blow.prm", kinetics("u^2", "-v"))
        self.leopard(file, "Time stepping/Step size=0.03", fails=True)
        error = self.leopard(file, "Time stepping/Step control=error-controlled", options=["--resume"], fails=True)
        self.assertIn("the solution blows up", error)

    def test_ordinary_growth_is_no_blow_up(self):
        # u = exp(10 t) grows by exp(10) = 2e4
        self.leopard(self.write("grow.prm", kinetics("10*u", "-v")), "Time stepping/End time=1", "Time stepping/Step control=error-controlled", "Output/Log every=1000")
        self.assertAlmostEqual(math.log(self.statistics("grow")[1][-1][12]), 10, delta=0.2)

    def negative(self, choice, **options):
        """u falls from 1 through 0 at t = 0.5."""
        return self.leopard(self.write("sink.prm", kinetics("-2 + 0*u", "1 - v")), "Time stepping/Scheme=implicit Euler", "Time stepping/End time=1",
                            f"Time stepping/Negative values={choice}", **options)

    def test_negative_values_stop_the_run(self):
        error = self.negative("stop", fails=True)
        self.assertIn("u becomes negative", error)
        self.assertIn("'Time stepping/Negative values' is stop", error)
        self.assertIn("last good state", error)
        self.assertGreaterEqual(min(row[10] for row in self.statistics("sink")[1]), -1e-9)
        self.assertAlmostEqual(self.statistics("sink")[1][-1][1], 0.5, delta=0.011)

    # fails if the error of a step is that of values before they are clipped: with u below zero, however short the step, it is as large as u
    def test_a_field_that_dies_out_is_stepped_on(self):
        """u' = -U until it is zero, at t = 1."""
        file = self.write("out.prm", "set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Species = u\n set Constants = U: 1\n set Steady state = none\n"
                          " set Reaction u = -U\n set Diffusion u = 1\n set Initial value u = U*(1 + cos(pi*x)/10)\nend\nsubsection Mesh\n set Global refinements = 3\nend\n"
                          "subsection Time stepping\n set End time = 2\n set Negative values = clip\nend\nsubsection Output\n set Log every = 1\nend\n")
        for settings in (["Scheme=BDF2"], ["Scheme=BDF3"], ["Scheme=SBDF2"], ["Scheme=implicit Euler"], ["Scheme=BDF2", "Step control=fixed", "Step size=0.01"]):
            for unit in ("1", "1e-9"):
                self.leopard(file, f"Turing/Constants/U={unit}", *(f"Time stepping/{setting}" for setting in settings))
                times, means = self.column("out", "time"), self.column("out", "mean of u")
                self.assertAlmostEqual(times[-1], 2, delta=1e-9)
                self.assertEqual(means[-1], 0, settings)
                before = [mean / float(unit) - (1 - t) for t, mean in zip(times, means) if t < 0.9]
                self.assertLess(max(map(abs, before)), 0.01, settings)
                self.assertLess(self.run_json("out")["time_loop"]["steps"], 300)

    def test_negative_values_are_clipped_and_counted(self):
        said = self.negative("clip")
        self.assertEqual(said.count("warning: u becomes negative"), 1)
        columns, rows = self.statistics("sink")
        self.assertGreaterEqual(min(row[10] for row in rows), 0)
        clipped = sum(row[columns.index("negative values set to zero")] for row in rows)
        self.assertGreater(clipped, 25 * 45)  # all 25 nodes in about 50 steps
        self.assertEqual(clipped, self.run_json("sink")["time_loop"]["clipped_values"])
        self.assertIn(f"{int(clipped)} negative values set to zero", said)

    def test_negative_values_are_ignored_after_one_warning(self):
        said = self.negative("ignore")
        self.assertEqual(said.count("warning: u becomes negative"), 1)
        self.assertAlmostEqual(self.statistics("sink")[1][-1][10], -1, delta=1e-6)

    def test_fields_that_may_be_negative_are_not_warned_of(self):
        said = self.leopard(TINY, "Turing/Kinetics=FitzHugh-Nagumo", "Turing/Start from steady state=false", "Turing/Initial value u=-0.5")
        self.assertNotIn("negative", said)

    def test_fields_that_begin_at_zero_and_go_below_are_not_warned_of(self):
        """An oscillator, u = cos(5t), v = -sin(5t): of v nothing is said, and of u, which begins above zero, that it is meant."""
        adaptive = ["Time stepping/Step control=error-controlled"]
        for engine in ("fused", "general"):
            settings = [f"Time stepping/Engine={engine}", "Turing/Initial value v=0", "Linear solver/Method=automatic", *adaptive]
            said = self.leopard(self.write("oscillator.prm", kinetics("5*v", "-5*u")), *settings)
            self.assertLess(min(self.column("oscillator", "minimum of v")), -0.9)
            self.assertNotIn("v becomes negative", said)
            self.assertEqual(said.count("warning: u becomes negative"), 1)
            self.assertRegex(said, "u becomes negative, .*: its reaction, sources or fluxes take it there from zero, and not an error of the steps")
            self.assertNotIn("do not trust", said)
        # sources, and boundary values that change their sign
        quiet = ["Turing/Initial value u=0", "Turing/Reaction v=-v", *adaptive]
        for more in (["Turing/Source u=-1"], ["Turing/Boundary values u=0: -sin(t)"], ["Turing/Boundary fluxes u=0: -1"]):
            said = self.leopard(self.write("zero.prm", kinetics("-u", "-v")), *quiet, *more)
            self.assertLess(min(self.column("zero", "minimum of u")), -0.1, more)
            self.assertNotIn("negative", said, more)
        self.assertNotIn("negative", self.leopard("zero.prm", "Turing/Boundary values u=0: cos(3*t)", *adaptive))

    def test_what_makes_a_field_negative_is_named(self):
        """A blob that long steps, a consistent mass matrix and a velocity take below zero."""
        blob = ["Mesh/Global refinements=4", "Turing/Initial value u=exp(-1000*((x-0.5)^2+(y-0.5)^2))", "Turing/Diffusion u=1e-3", "Time stepping/Step size=0.1", "Time stepping/End time=0.2"]
        mass = ["Discretization/Method=finite elements", "Discretization/Mass matrix=consistent"]
        for settings, says in ((mass, ("which the consistent mass matrix or long steps may cause; ", "or a finer mesh or 'Discretization/Mass matrix' = lumped takes them away")),
                               ([*mass, "Turing/Advection u=1, 0"], ("which advection, the consistent mass matrix or long steps may cause; ",)),
                               (["Turing/Advection u=2, 0", "Time stepping/Scheme=BDF2"], ("which advection or long steps may cause; ", "unless a smaller 'Step size' or a finer mesh takes"))):
            said = self.leopard(self.write("blob.prm", kinetics("0", "-v")), *blob, *settings)
            for words in says:
                self.assertIn(words, said, settings)
            self.assertIn("do not trust", said)


class OutputTimes(Program):
    """Steps that vary pass output times, where fields are interpolated."""
    VARIABLE = ("Time stepping/End time=0.1", "Output/Interval=0", "Turing/gamma=1000", "Newton/Relative tolerance=1e-10")
    TIMES = [0.0001 * 1.12 ** i for i in range(60)]  # several in a step at first and at last one in several steps

    def run_of(self, *settings, times=()):
        self.leopard(TINY, *self.VARIABLE, *settings, *(["Output/Times=" + ", ".join(map(repr, times))] if times else []))
        pvd = (self.folder / "output/tiny_turing/solution.pvd").read_text()
        found = [(float(t), file) for t, file in re.findall(r'timestep="([^"]*)".*file="([^"]*)"', pvd)]
        return found, self.run_json("tiny_turing")["time_loop"]["steps"]

    def fields_of(self, found, run="tiny_turing", nodes=17):
        sys.path.insert(0, str(ROOT / "scripts"))
        from reproduction.fields import field
        return [field(self.folder / "output" / run / file.replace(".pvtu", ".0000.vtu"), "u", nodes) for _, file in found]

    # fails if a step is cut short by an output time, or a time is left out, or two times in a step have one file
    def test_they_change_no_step(self):
        for engine, settings in (("general", ["Linear solver/Method=direct"]), ("general", ["Linear solver/Method=direct", "Time stepping/Scheme=BDF3"]),
                                 ("general", ["Time stepping/Step control=asynchronous bound", "Linear solver/Method=direct"]), ("fused", []),
                                 ("fused", ["Time stepping/Scheme=BDF3"]), ("fused", ["Time stepping/Scheme=ETDRK4"])):
            settings = ["Time stepping/Step control=error-controlled", f"Time stepping/Engine={engine}", *settings]
            _, steps = self.run_of(*settings)
            found, with_times = self.run_of(*settings, times=self.TIMES)
            self.assertLessEqual(abs(with_times - steps), 0 if engine == "general" else 2, settings)  # asynchronous sweeps are not the same twice
            self.assertEqual([time for time, _ in found], [0, *self.TIMES, 0.1])
            self.assertEqual(len({file for _, file in found}), len(found))

    # fails if the polynomial is of another time or order: steps are so long that a line is off by a tenth
    def test_fields_there_are_those_of_a_parabola(self):
        file = self.write("parabola.prm", "set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Species = u\n set Steady state = none\n"
                          " set Reaction u = 0\n set Source u = 2*t\n set Diffusion u = 1\n set Initial value u = 1\nend\nsubsection Mesh\n set Global refinements = 2\nend\n")
        times = [0.05 * i for i in range(1, 20)]
        self.leopard(file, "Output/Times=" + ", ".join(map(repr, times)), "Time stepping/Scheme=BDF2", "Linear solver/Method=direct")
        found = re.findall(r'timestep="([^"]*)".*file="([^"]*)"', (self.folder / "output/parabola/solution.pvd").read_text())
        self.assertEqual(len(found), 21)
        for time, field in zip((float(t) for t, _ in found), self.fields_of(found, "parabola", 5)):
            for value in field.values():
                self.assertAlmostEqual(value, 1 + time * time, delta=1e-5)

    # fails if a loop gives another one's solutions, or of another time
    def test_fields_there_are_as_accurate_as_the_steps(self):
        for engine, scheme in (("general", "BDF2"), ("fused", "BDF2"), ("fused", "BDF3"), ("fused", "ETDRK4")):
            settings = [f"Time stepping/Engine={engine}", "Time stepping/Step control=error-controlled", f"Time stepping/Scheme={scheme}"]
            times = [0.005 * i for i in range(1, 20)]
            rough, fine = (self.fields_of(self.run_of(*settings, f"Time stepping/Error tolerance={tolerance}", times=times)[0]) for tolerance in ("1e-4", "1e-6"))
            self.assertEqual(len(rough), 21)
            self.assertLess(max(abs(a[node] - b[node]) for a, b in zip(rough, fine) for node in a), 0.005)
            self.assertGreater(min(max(abs(a[node] - b[node]) for node in a) for a, b in zip(fine, fine[1:])), 0.01)  # from one time to the next

    LINEAR = ("set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Species = u\n set Steady state = none\n set Reaction u = 0*u\n set Source u = {source}\n"
              " set Diffusion u = 1\n set Initial value u = {initial}\nend\nsubsection Mesh\n set Global refinements = {refinements}\n{mesh}end\n"
              "subsection Time stepping\n set Scheme = ETDRK4\n set Step size = {step}\n set End time = 1\nend\n")

    # fails if the polynomial has a wrong rate of change, of another time or without diffusion or the source: such a field is stepped exactly, in a few long steps
    def test_fields_there_between_exponential_steps_are_those_of_a_cubic(self):
        times = [0.05 * i for i in range(1, 20)]
        for mesh in ("", " set Periodic = x\n"):
            file = self.write("cubic.prm", self.LINEAR.format(source="3*t^2 - 2*t*cos(2*pi*x)/10 - t^2*cos(2*pi*x)*({k2})/10".format(k2=128 * (1 - 0.5**0.5)), initial="1", refinements=3, step=1e-4, mesh=mesh))
            self.leopard(file, "Output/Times=" + ", ".join(map(repr, times)))
            self.assertLess(self.run_json("cubic")["time_loop"]["steps"], 40)
            found = re.findall(r'timestep="([^"]*)".*file="([^"]*)"', (self.folder / "output/cubic/solution.pvd").read_text())
            self.assertEqual(len(found), 21)
            for time, field in zip((float(t) for t, _ in found), self.fields_of(found, "cubic", 9)):
                for (column, _), value in field.items():
                    self.assertAlmostEqual(value, 1 + time**3 - time**2 * math.cos(math.pi * column / 4) / 10, delta=1e-3, msg=(time, column))

    # fails if the first step, whose initial values may be as rough as the mesh allows, is interpolated with their rate of change: up to 3.7
    def test_rough_initial_values_stay_in_their_bounds(self):
        file = self.write("rough.prm", self.LINEAR.format(source="0", initial="cos(16*pi*x)", refinements=5, step=0.01, mesh=""))
        times = [0.001 * i for i in range(1, 20)]
        self.leopard(file, "Output/Times=" + ", ".join(map(repr, times)))
        found = re.findall(r'file="([^"]*)"', (self.folder / "output/rough/solution.pvd").read_text())
        self.assertEqual(len(found), 21)
        for field in self.fields_of([(0, file) for file in found], "rough", 33):
            self.assertLessEqual(max(abs(value) for value in field.values()), 1 + 1e-9)

    # fails if files of a step that is done again are listed twice, or those before the checkpoint are forgotten
    def test_goes_on_after_a_resume(self):
        settings = ["Time stepping/Step control=error-controlled", "Time stepping/Engine=general", "Linear solver/Method=direct"]
        whole, _ = self.run_of(*settings, times=self.TIMES)
        fields = self.fields_of(whole)
        self.run_of(*settings, "Time stepping/End time=0.03", times=[time for time in self.TIMES if time < 0.03])
        self.leopard(TINY, *self.VARIABLE, *settings, "Output/Times=" + ", ".join(map(repr, self.TIMES)), options=("--resume",))
        pvd = (self.folder / "output/tiny_turing/solution.pvd").read_text()
        found = [(float(t), file) for t, file in re.findall(r'timestep="([^"]*)".*file="([^"]*)"', pvd)]
        self.assertEqual([time for time, _ in found], sorted({0, *self.TIMES, 0.03, 0.1}))
        for (time, _), again in zip(found, self.fields_of(found)):
            if time != 0.03:
                one = fields[[t for t, _ in whole].index(time)]
                self.assertLess(max(abs(one[node] - again[node]) for node in one), 0.01, time)


class FirstStep(Program):
    # fails if the first steps, of which there is no estimate, are taken whatever their error is: SBDF2 ended at 1.37
    def test_is_as_short_as_the_reaction_asks_for(self):
        rate = 1e5
        file = self.write("grow.prm", f"set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Species = u\n set Constants = r: {rate}\n set Steady state = none\n"
                          " set Reaction u = r*u*(1 - u)\n set Diffusion u = 1\n set Initial value u = 0.01\nend\n"
                          f"subsection Mesh\n set Global refinements = 2\nend\nsubsection Time stepping\n set End time = {5 / rate}\nend\n")
        for scheme in ("BDF2", "SBDF2", "implicit Euler", "BDF3"):
            for engine in ("fused", "general"):
                said = self.leopard(file, f"Time stepping/Scheme={scheme}", f"Time stepping/Engine={engine}", "Linear solver/Method=" + ("automatic" if engine == "fused" else "direct"))
                self.assertIn("the first step is 4.5", said)  # sqrt(2 tolerance) / rate, with (1 - u) (1 - 2 u) beside
                self.assertIn("and not 'Time stepping/Step size' = 0.0001", said)
                least, most = (float(value) for value in re.search(r"u is between (\S+) and (\S+)", said).groups())
                exact = 1 / (1 + 99 * math.exp(-5))
                self.assertLess(max(abs(least - exact), abs(most - exact)), 0.03, f"{scheme} {engine}")
        self.assertNotIn("the first step is", self.leopard(file, "Time stepping/Step size=1e-8"))
        self.assertNotIn("the first step is", self.leopard(file, "Time stepping/Step control=fixed", "Time stepping/Step size=1e-7"))


class StepsBeyondGrowth(Program):
    # fails if nothing is said of steps that damp what should grow
    def test_no_pattern_is_not_believed(self):
        settings = ["Turing/gamma=1000", "Turing/kappa=20", "Turing/Start from steady state=true", "Time stepping/Step control=error-controlled", "Time stepping/Step size=1e-4", "Time stepping/End time=0.3", "Output/Interval=0"]
        said = self.leopard(TINY, *settings, "Turing/Perturbation=1e-9")
        self.assertIn("no pattern at t = 0.3", said)
        self.assertRegex(said, r"warning: steps are \S+ long at the end, \S+ times what the fastest disturbance takes to grow")
        found = re.search(r"'Time stepping/Largest step' = (\S+)", said)[1]
        said = self.leopard(TINY, *settings, "Turing/Perturbation=1e-9", f"Time stepping/Largest step={found}")
        self.assertNotIn("no pattern", said)
        self.assertNotIn("warning: steps are", said)


class LogEvery(Program):
    def test_automatic_is_about_once_a_second_and_at_outputs(self):
        for engine in ("general", "fused"):
            said = self.leopard(TINY, f"Time stepping/Engine={engine}", "Output/Log every=automatic", "Output/Interval=0.05", "Time stepping/End time=0.2")
            rows = self.statistics("tiny_turing")[1]
            self.assertLessEqual(said.count("\nstep "), 2 + rows[-1][9])  # the first, the last, and one a second
            self.assertTrue({1, 50, 100, 150, 200} <= {row[0] for row in rows}, f"{engine}: {[row[0] for row in rows]}")
            self.assertLessEqual(len(rows), 5 + rows[-1][9])
            self.assertLess(len(rows), 150)

    def test_a_number_means_steps(self):
        for engine in ("general", "fused"):
            self.leopard(TINY, f"Time stepping/Engine={engine}", "Output/Log every=3", "Time stepping/End time=0.01")
            self.assertEqual([row[0] for row in self.statistics("tiny_turing")[1]], [1, 3, 6, 9, 10])

    def test_bad_input(self):
        self.invalid([(TINY, [f"Output/Log every={value}"], f"'Output/Log every' is '{value}'") for value in ("0", "often", "-1", "1.5")])


class LongSteps(Program):
    """The general loop with steps as long as their error allows, where the matrix of a step is neither symmetric nor definite."""

    TORUS = """set Problem = turing
subsection Turing
 set gamma = 200
 set Schnakenberg a = 0.1
 set Schnakenberg b = 0.9
 set Start from steady state = true
 set Perturbation = 0.02
end
subsection Mesh
 set Domain = torus
 set Radius = 1
 set Tube radius = 0.4
 set Global refinements = 3
end
subsection Time stepping
 set End time = 0.15
 set Engine = general
end
subsection Linear solver
 set Threads = 1
end
"""
    CONSISTENT = ["Mesh/Domain=hypercube", "Mesh/Global refinements=5", "Turing/gamma=1000", "Time stepping/End time=0.05", "Discretization/Mass matrix=consistent",
                  "Discretization/Method=finite elements"]

    def test_algebraic_multigrid_field_after_field(self):
        """Once it took hundreds of iterations a step, and steps were cut where it missed its tolerance."""
        file = self.write("torus.prm", self.TORUS)
        for settings, all_ranks in (([], [1]), (self.CONSISTENT, [1, 2])):
            self.leopard(file, *settings, "Linear solver/Method=direct")
            steps = self.run_json("torus")["time_loop"]["steps"]
            for ranks in all_ranks:
                self.leopard(file, *settings, "Linear solver/Preconditioner=amg", ranks=ranks)
                loop = self.run_json("torus")["time_loop"]
                self.assertLessEqual(abs(loop["steps"] - steps), 2)
                self.assertEqual(loop["rejected_for"]["linear solver"], 0)
                self.assertLess(loop["linear_iterations"], 60 * steps)


class TooSlow(Program):
    def test_estimate_after_one_percent(self):
        # one percent of the run by itself says how fast this machine is; then there is time for ten percent of it
        settings = ["Time stepping/Engine=general", "Time stepping/Step size=1e-3", "Output/Interval=0", "Linear solver/Method=direct"]
        self.leopard(TINY, *settings, "Time stepping/End time=0.05")
        one_percent = self.statistics("tiny_turing")[1][-1][9]
        settings += ["Time stepping/End time=5", f"Run/Wall time={10 * one_percent / 60}"]
        said = self.leopard(TINY, *settings, "Run/Stop if too slow=true")
        self.assertEqual(said.count("warning: at this pace"), 1)
        self.assertIn("stopped: too slow", said)
        self.assertEqual(self.run_json("tiny_turing")["status"], "stopped: too slow")
        self.assertEqual(self.run_json("tiny_turing")["time_loop"]["steps"], 50)
        self.assertTrue(list((self.folder / "output/tiny_turing/checkpoints").glob("step_*")))

    def test_stops_at_once_if_asked_to(self):
        settings = ["Time stepping/End time=0.1", "Run/Wall time=1e-7", "Output/Interval=0"]
        said = self.leopard(TINY, *settings, "Run/Stop if too slow=true")
        self.assertIn("stopped: too slow", said)
        self.assertEqual(said.count("warning: at this pace"), 1)
        self.assertIn("longer than 'Run/Wall time' = 1e-07 minutes", said)
        self.assertEqual(self.run_json("tiny_turing")["status"], "stopped: too slow")
        self.assertTrue(list((self.folder / "output/tiny_turing/checkpoints").glob("step_*")))
        said = self.leopard(TINY, *settings)
        self.assertIn("it will stop then with a checkpoint", said)
        self.assertIn("stopped: wall time", said)
        self.assertNotIn("at this pace", self.leopard(TINY, "Run/Wall time=60", "Run/Stop if too slow=true"))


if __name__ == "__main__":
    import unittest
    unittest.main()
