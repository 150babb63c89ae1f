# SPDX-License-Identifier: Apache-2.0
"""The time loop of the solver library inside the program: same fields, same outputs, killed and resumed."""
import random
import re
import signal
import subprocess
import time
import unittest

from program import ROOT, HostProgram, Program, has_gpu

CASE = """
set Problem = turing
subsection Turing
  set gamma = 100
  set Start from steady state = true
  set Perturbation = 0.05
end
subsection Mesh
  set Domain = box
  set Lower corner = 0, 0
  set Upper corner = 1, 0.5
  set Cells = 32, 16
end
subsection Discretization
  set Method = finite differences
end
subsection Newton
  set Relative tolerance = 1e-10
end
"""
FIXED = ["Time stepping/Step control=fixed", "Time stepping/Step size=1e-4", "Time stepping/End time=0.02", "Output/Log every=10", "Output/Times=0.00512, 0.01"]
CONTROLLED = ["Time stepping/Step size=1e-5", "Time stepping/Error tolerance=1e-4", "Time stepping/End time=0.2", "Output/Interval=0.05", "Output/Log every=1",
              "Linear solver/Method=gmres", "Linear solver/Preconditioner=async"]

PATTERN = """
set Problem = turing
subsection Turing
  set Kinetics        = expressions
  set Species         = u, v
  set Reaction u      = 12 - u - 4*u*v/(1 + u^2)
  set Reaction v      = 15*(u - u*v/(1 + u^2))
  set Diffusion u     = 1
  set Diffusion v     = 50
  set Initial value u = 2.4
  set Initial value v = 6.76
  set Perturbation    = 0.01
end
subsection Mesh
  set Domain       = box
  set Lower corner = 0, 0
  set Upper corner = 20, 20
  set Cells        = 40, 40
end
subsection Time stepping
  set End time = 200
end
"""


THOMAS = """
set Problem = turing
subsection Turing
  set Kinetics   = expressions
  set Constants  = a: 150, b: 100, alpha: 1.5, rho: 13, K: 0.05, d: 28
  set Reaction u = a - u - rho*u*v/(1 + u + K*u^2)
  set Reaction v = alpha*(b - v) - rho*u*v/(1 + u + K*u^2)
  set Diffusion u = 1
  set Diffusion v = d
  set gamma = 500
  set Start from steady state = true
  set Perturbation = 0.01
end
subsection Mesh
  set Global refinements = 5
end
subsection Time stepping
  set End time = 2
end
"""


class FusedTimeLoop(Program):
    def run_case(self, engine, *settings):
        said, self.case = self.leopard(self.write("case.prm", CASE), f"Time stepping/Engine={engine}", *settings), "case"
        return said, self.statistics("case")[1], self.times()

    def times(self):
        return [float(t) for t in re.findall(r'timestep="([^"]*)"', (self.folder / "output" / self.case / "solution.pvd").read_text())]

    def measures(self, row):
        """Minimum, maximum and mean of the fields: what does not depend on how many iterations a solver did."""
        columns, _ = self.statistics(self.case)
        return {c: value for c, value in zip(columns, row) if c.startswith(("minimum", "maximum", "mean"))}

    def compare(self, settings, delta):
        """Both engines in one start of the program; what is read afterwards is the fused one's."""
        runs = self.sweep(self.write("case.prm", CASE), {"Time stepping/Engine": ["general", "fused"]}, *settings)
        found = []
        for ((engine,), self.case), says in zip(runs, ("general, since it is asked for", "fused, ")):
            self.assertIn(f"time loop: {says}", self.log(self.case), engine)
            rows = self.statistics(self.case)[1]
            found.append((rows, self.measures(rows[-1]), self.times()))
        self.assertNotIn("multigrid", self.log(runs[0][1]))
        (general, last, general_times), (fused, _, fused_times) = found
        self.assertEqual(len(general_times), len(fused_times))
        for one, two in zip(general_times, fused_times):
            self.assertAlmostEqual(one, two, delta=1e-9)
        for name, value in self.measures(fused[-1]).items():
            self.assertAlmostEqual(last[name], value, delta=delta, msg=name)
        return general, fused

    def test_what_was_found_before_a_step_failed_is_said(self):
        """u' = -exp(-5u) from 0.5 is zero at t = 2.236 and minus infinity at t = 2.436: steps that are done in one call of the time loop."""
        file = self.write("sinks.prm", """
set Problem = turing
subsection Turing
  set Kinetics        = expressions
  set Steady state    = none
  set Species         = u
  set Reaction u      = -exp(-5*u)
  set Diffusion u     = 1
  set Initial value u = 0.5
end
subsection Mesh
  set Global refinements = 2
end
subsection Discretization
  set Method = finite differences
end
subsection Time stepping
  set Scheme       = implicit Euler
  set Step control = fixed
  set Step size    = 0.01
  set End time     = 4
end
""")
        for engine in ("fused", "general"):
            error = self.failed_run(file, f"Time stepping/Engine={engine}", "Output/Log every=1000", says=["in the step from time 2.", "last good state: step 2"])
            self.assertEqual(self.log("sinks").count("warning: u becomes negative"), 1, engine)
            done = int(re.search(r"last good state: step (\d+)", error)[1])
            self.assertGreater(done, 200)
            self.assertEqual(self.checkpoints("sinks")[-1], done)

    # fails if a GPU's loop leaves BDF3 to the general one, takes a wrong old solution, or gives a checkpoint too few of them
    @unittest.skipUnless(has_gpu(), "no GPU here")
    def test_third_order_on_a_gpu_is_that_of_the_host(self):
        for domain in ("finite differences", "finite elements"):  # a grid and a mesh
            settings = [f"Discretization/Method={domain}", "Time stepping/Scheme=BDF3", *CONTROLLED[:5], "Newton/Error fraction=0"]
            _, host, _ = self.run_case("fused", "Linear solver/Backend=host", *settings)
            fields = self.measures(host[-1])
            for stopped in (False, True):
                if stopped:
                    self.run_case("fused", "Linear solver/Backend=cuda", *settings, "Time stepping/End time=0.07")
                said = self.leopard(self.write("case.prm", CASE), "Linear solver/Backend=cuda", *settings, options=("--resume" if stopped else "--overwrite",))
                self.assertIn("time loop: fused, ", said)
                rows = self.statistics("case")[1]
                for name, value in self.measures(rows[-1]).items():
                    self.assertAlmostEqual(value, fields[name], delta=1e-4 if stopped else 1e-6, msg=f"{domain} {name}")  # a step ends at 0.07
                if not stopped:
                    self.assertEqual([row[0] for row in rows], [row[0] for row in host])
                    for one, two in zip(rows, host):
                        self.assertAlmostEqual(one[2], two[2], delta=1e-3 * two[2], msg=f"{domain} step {two[0]}")

    def test_fixed_steps_are_those_of_the_general_loop(self):
        for scheme in ("implicit Euler", "BDF2", "SBDF2"):
            general, fused = self.compare([f"Time stepping/Scheme={scheme}", "Linear solver/Relative tolerance=1e-11", *FIXED], 1e-8)
            self.assertEqual([row[0] for row in general], [row[0] for row in fused], "the same steps are in the statistics")
            for one, two in zip(general[1:], fused[1:]):
                self.assertAlmostEqual(one[1], two[1], delta=1e-12)

    def test_error_controlled_steps_agree_within_the_tolerance(self):
        general, fused = self.compare(CONTROLLED, 2e-3)
        self.assertLess(abs(general[-1][0] - fused[-1][0]), 0.3 * general[-1][0])
        # the last steps are long
        loop = self.run_json(self.case)["time_loop"]
        self.assertGreater(loop["steps_by_multigrid"], 0)
        self.assertLess(loop["steps_by_multigrid"], loop["steps"])

    def test_error_controlled_steps_of_sbdf2_are_those_of_the_general_loop(self):
        for tolerance in ("1e-3", "1e-4"):
            settings = [*CONTROLLED, "Time stepping/Scheme=SBDF2", f"Time stepping/Error tolerance={tolerance}", "Linear solver/Relative tolerance=1e-10",
                        "Linear solver/Method=cg", "Linear solver/Schedule=synchronous", "Output/Log every=1"]
            general, fused = self.compare(settings, 3 * float(tolerance))
            self.assertLess(abs(general[-1][0] - fused[-1][0]), 0.1 * general[-1][0], f"{general[-1][0]} and {fused[-1][0]} steps")
            # as long as nothing was rounded differently, step by step
            for one, two in list(zip(general, fused))[1:15]:
                self.assertAlmostEqual(one[2] / two[2], 1, delta=1e-2, msg=f"step {one[0]}")

    def test_error_controlled_steps_on_a_growing_domain_are_those_of_the_general_loop(self):
        """The error of an explicit reaction is diluted as the step is."""
        settings = [*CONTROLLED, "Time stepping/Scheme=SBDF2", "Time stepping/Error tolerance=1e-3", "Time stepping/End time=0.1", "Linear solver/Relative tolerance=1e-10",
                    "Linear solver/Method=cg", "Linear solver/Schedule=synchronous", "Mesh/Growth=exponential", "Mesh/Growth rate=2"]
        general, fused = self.compare(settings, 1e-6)
        self.assertEqual(len(general), len(fused))

    def test_steps_at_the_asynchronous_bound_are_those_of_the_general_loop(self):
        for scheme in ("implicit Euler", "BDF2"):
            settings = [f"Time stepping/Scheme={scheme}", "Time stepping/Step control=asynchronous bound", "Time stepping/End time=0.1", "Output/Log every=1",
                        "Linear solver/Max iterations=5000", "Newton/Relative tolerance=1e-12"]
            general, fused = self.compare(settings, 1e-8)
            columns, _ = self.statistics(self.case)
            bound = columns.index("asynchronous bound of the step size (dimensionless)")
            self.assertEqual(len(general), len(fused))
            self.assertGreater(len(general), 8)
            # the first step's state is the same, those of the others up to the tolerance of Newton's method
            self.assertAlmostEqual(general[0][bound] / fused[0][bound], 1, delta=1e-10)
            self.assertAlmostEqual(general[0][2] / fused[0][2], 1, delta=1e-10)
            for one, two in list(zip(general, fused))[:-2]:  # the last two share what is left
                self.assertAlmostEqual(one[bound] / two[bound], 1, delta=1e-7)
                self.assertAlmostEqual(one[2] / two[2], 1, delta=1e-7)

    def test_mass_balance_closes(self):
        for scheme in ("BDF2", "SBDF2"):
            self.run_case("fused", f"Time stepping/Scheme={scheme}", "Linear solver/Relative tolerance=1e-12", *FIXED)
            columns, rows = self.statistics("case")
            balances = [i for i, c in enumerate(columns) if c.startswith("mass balance")]
            self.assertEqual(len(balances), 2)
            for row in rows[1:]:
                for i in balances:
                    self.assertLess(abs(row[i]), 1e-9, scheme)

    def test_expressions(self):
        two = ["Turing/Kinetics=expressions", "Turing/Constants=a: 0.126779, b: 0.792366", "Turing/Reaction u=a - u + u^2*v", "Turing/Reaction v=b - u^2*v", "Turing/Diffusion u=1",
               "Turing/Diffusion v=10"]
        for scheme in ("BDF2", "SBDF2"):
            settings = [f"Time stepping/Scheme={scheme}", "Linear solver/Relative tolerance=1e-11", *FIXED]
            self.run_case("fused", *settings)
            built_in = self.measures(self.statistics("case")[1][-1])
            self.run_case("fused", *settings, *two)
            for name, value in self.measures(self.statistics("case")[1][-1]).items():
                self.assertAlmostEqual(built_in[name], value, delta=1e-8, msg=f"{scheme}: {name}")
        three = [*two, "Turing/Species=u, v, w", "Turing/Reaction w=0.5*(u*v - w)", "Turing/Diffusion w=0.3"]
        self.compare([*three, "Time stepping/Scheme=BDF2", *FIXED], 1e-8)
        self.assertEqual(len([c for c in self.statistics(self.case)[0] if c.startswith("maximum")]), 3)

    def test_expressions_that_are_too_much(self):
        file = self.write("case.prm", CASE)
        few = ["Turing/Kinetics=expressions", "Turing/Diffusion u=1", "Turing/Diffusion v=10", "Turing/Steady state=none", "Turing/Start from steady state=false", *FIXED[:2],
               "Time stepping/End time=2e-4"]
        long = "+".join(f"sin({k}*u)*exp(v/{k})" for k in range(1, 40))
        said = self.leopard(file, *few, f"Turing/Reaction u={long}", "Turing/Reaction v=-v")
        self.assertRegex(said, r"time loop: general, since the fused one cannot be used: of the expressions of 'Turing/Kinetics': they have \d+ operations with their derivatives, more than 256")
        names = "abcdefg"
        said = self.leopard(file, *few[:1], *few[3:], f"Turing/Species={','.join(names)}", *[f"Turing/Reaction {s}=-{s}" for s in names], *[f"Turing/Diffusion {s}=1" for s in names])
        self.assertIn("of the expressions of 'Turing/Kinetics': they have 7 species, and 1 to 6 are possible", said)

    def test_killed_or_stopped_and_resumed(self):
        settings = ["Time stepping/Scheme=BDF2", FIXED[0], *FIXED[2:], "Time stepping/Step size=1e-5", "Run/Checkpoint steps=50"]
        _, reference, times = self.run_case("fused", *settings)
        settings.append("Time stepping/Engine=fused")
        random.seed(3)
        for how in (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM):
            process = subprocess.Popen(self.command("case.prm", *settings, options=["--overwrite"]), cwd=self.folder, stdout=subprocess.DEVNULL)
            while process.poll() is None and not list((self.folder / "output/case/checkpoints").glob("step_?????????")):
                time.sleep(0.01)
            time.sleep(random.uniform(0, 0.5))
            process.send_signal(how)
            process.wait()
            self.leopard("case.prm", *settings, options=["--resume"])
            _, resumed = self.statistics("case")
            self.assertEqual([row[0] for row in reference], [row[0] for row in resumed if row[0] in {r[0] for r in reference}], "steps missing or double")
            self.assertEqual(len({row[0] for row in resumed}), len(resumed), "no step twice")
            pvd = (self.folder / "output/case/solution.pvd").read_text()
            self.assertEqual(times, [float(t) for t in re.findall(r'timestep="([^"]*)"', pvd)])
            one, two = self.measures(reference[-1]), self.measures(resumed[-1])
            for name in one:
                self.assertAlmostEqual(one[name], two[name], delta=1e-8, msg=name)

    def test_the_last_good_state_is_the_one_before_the_failure(self):
        """u' = u^2 is 50 at time 0.98, in the middle of many steps together; u' = -1 is negative at time 1."""
        text = ("set Problem = turing\nsubsection Turing\n set gamma = 1\n set Kinetics = expressions\n set Steady state = none\n set Species = u\n set Reaction u = 0\n"
                " set Diffusion u = 1\n set Initial value u = 1\nend\nsubsection Mesh\n set Global refinements = 2\nend\nsubsection Discretization\n set Method = finite differences\nend\n"
                "subsection Time stepping\n set Engine = fused\n set Step control = fixed\n set Step size = 1e-3\n set End time = 4\nend\nsubsection Linear solver\n set Threads = 1\nend\n")
        file = self.write("failing.prm", text)
        for settings, says, at in ((["Turing/Reaction u=u^2", "Time stepping/Blow-up factor=50"], "the solution blows up", 0.98),
                                   (["Turing/Reaction u=-1", "Time stepping/Negative values=stop"], "u becomes negative", 1.)):
            error = self.failed_run(file, *settings, "Output/Interval=4", says=[says])
            step, begin = re.search(r"last good state: step (\d+), time ([\d.]+)", error).groups()
            self.assertAlmostEqual(float(begin), at, delta=0.01)
            self.assertIn(f"in the step from time {begin} with step size 0.001", error)
            self.assertEqual(self.checkpoints("failing")[-1], int(step))
            self.assertAlmostEqual(float(begin), 1e-3 * int(step), delta=1e-6)

    def test_either_loop_resumes_the_other(self):
        settings = ["Time stepping/Scheme=BDF2", FIXED[0], FIXED[1], "Output/Interval=0"]
        _, reference, _ = self.run_case("general", *settings, "Time stepping/End time=0.01")
        for first, second in (("general", "fused"), ("fused", "general")):
            self.run_case(first, *settings, "Time stepping/End time=0.005")
            said = self.leopard("case.prm", *settings, f"Time stepping/Engine={second}", "Time stepping/End time=0.01", options=["--resume"])
            self.assertIn("resumed at step 50", said)
            self.assertIn(f"time loop: {second}", said)
            one, two = self.measures(reference[-1]), self.measures(self.statistics("case")[1][-1])
            for name in one:
                self.assertAlmostEqual(one[name], two[name], delta=1e-8, msg=name)

    def test_says_why_not(self):
        file = self.write("case.prm", CASE)
        for setting, reason in (("Turing/Source u=sin(x - t)", "'Turing/Source u' is no sum of products"),
                                ("Linear solver/Method=direct", "another solver"), ("Newton/Forcing=fixed iterations", "a fixed number"),
                                ("Time stepping/Negative values=clip", "does not clip")):
            said = self.leopard(file, "Time stepping/Engine=fused", setting, *FIXED[:3], fails=True)
            self.assertIn("'Time stepping/Engine' is fused", said)
            self.assertIn(reason, said)
        elements = ["Discretization/Method=finite elements", *FIXED[:2], "Time stepping/End time=1e-3"]
        said = self.leopard(file, "Discretization/Mass matrix=consistent", *elements)
        self.assertIn("time loop: general, since the fused one cannot be used: it needs a lumped mass matrix", said)

    def test_meshes_that_are_no_grid(self):
        elements = "Discretization/Method=finite elements"
        for mesh in ([elements], [elements, "Discretization/Degree=2", "Mesh/Cells=16, 8"], ["Mesh/Domain=L-shape", "Mesh/Global refinements=4"]):
            for scheme in ("BDF2", "SBDF2"):
                self.compare([f"Time stepping/Scheme={scheme}", "Linear solver/Relative tolerance=1e-11", *FIXED, *mesh], 1e-7)
                self.assertIn("nodes of a mesh", self.log(self.case))
            self.compare([*CONTROLLED, *mesh], 2e-3)

    def test_periodic_grids(self):
        """A grid needs three nodes to close; those with two or one in a direction are stepped by their rows."""
        fixed = ["Time stepping/Scheme=BDF2", "Linear solver/Relative tolerance=1e-11", "Linear solver/Backend=host", "Mesh/Periodic=x, y", *FIXED]
        for mesh, on in (([], "on 5 grids"), (["Mesh/Cells=31, 17"], "grids"), (["Mesh/Cells=32, 3"], "grids"), (["Mesh/Cells=32, 2"], "nodes of a mesh"),
                         (["Mesh/Cells=32, 1"], "nodes of a mesh"), (["Mesh/Cells=8, 64"], "on 7 grids"), (["Mesh/Cells=80, 4", "Mesh/Upper corner=5, 0.25"], "grids")):
            self.compare([*fixed, *mesh], 1e-7)
            self.assertIn(on, self.log(self.case), mesh)
            self.assertNotIn("shared by its rows", self.log(self.case))

    @unittest.skipUnless(has_gpu(), "no GPU here")
    def test_periodic_grids_on_a_gpu(self):
        fixed = ["Time stepping/Scheme=BDF2", "Mesh/Periodic=x, y", "Time stepping/Engine=fused", *FIXED]
        self.case = "case"
        for mesh in ([], ["Mesh/Cells=31, 17"], ["Mesh/Cells=80, 4", "Mesh/Upper corner=5, 0.25"]):
            ends = {}
            for backend in ("host", "cuda"):
                said = self.leopard(self.write("case.prm", CASE), f"Linear solver/Backend={backend}", *fixed, *mesh)
                self.assertEqual("nodes, periodic (never in one cluster)" in said, backend == "cuda", said)
                ends[backend] = self.measures(self.statistics("case")[1][-1])
            for name, value in ends["host"].items():
                self.assertAlmostEqual(ends["cuda"][name], value, delta=1e-7, msg=(name, mesh))

    def test_a_pattern_on_finite_elements_takes_the_steps_of_finite_differences(self):
        """The Lengyel-Epstein reaction: the pattern's wavelength is 15 cells, and the inhibitor diffuses 50 times as fast as the activator."""
        loops = {}
        for method in ("finite differences", "finite elements"):
            said = self.leopard(self.write("pattern.prm", PATTERN), f"Discretization/Method={method}")
            self.assertIn("time loop: fused", said)
            loops[method] = self.run_json("pattern")["time_loop"]
        grid, mesh = loops["finite differences"], loops["finite elements"]
        self.assertLess(abs(mesh["steps"] - grid["steps"]), 0.3 * grid["steps"])
        self.assertLessEqual(mesh["rejected_steps"], grid["rejected_steps"] + 5)
        self.assertLess(mesh["linear_iterations"], 20 * mesh["newton_steps"])
        # and the log and run.json say why
        self.assertEqual(sum(mesh["rejected_for"].values()), mesh["rejected_steps"])
        self.assertIn(f"{mesh['rejected_steps']} steps rejected", said)

    def test_steps_do_not_depend_on_threads(self):
        """Blocks of a mesh that were relaxed together knew one another's old values only, and steps failed in the linear solver."""
        disc = PATTERN.replace("15*(", "6.2*(").replace("Diffusion v     = 50", "Diffusion v     = 24").replace("set Perturbation    = 0.01", "set Perturbation    = 0.02").replace(
            "2.4\n", "2.4\n  set Start from steady state = true\n").replace("Initial value u = 2.4", "Initial value u = 0").replace("Initial value v = 6.76", "Initial value v = 0")
        disc = disc[:disc.index("subsection Mesh")] + "subsection Mesh\n set Domain = ball\n set Radius = 25\n set Global refinements = 5\nend\nsubsection Time stepping\n set End time = 20\nend\n"
        runs = {}
        for threads in (1, 2, 16):
            said = self.leopard(self.write("disc.prm", disc), "Linear solver/Backend=host", f"Linear solver/Threads={threads}")
            self.assertEqual(int(re.search(r"time loop: fused, (\d+) host threads", said)[1]) > 1, threads > 1)
            runs[threads] = self.run_json("disc")["time_loop"]
            self.assertEqual(runs[threads]["rejected_for"]["linear solver"], 0)
            self.assertLessEqual(abs(runs[threads]["steps"] - runs[1]["steps"]), 0.05 * runs[1]["steps"])
            self.assertLessEqual(abs(runs[threads]["linear_iterations"] - runs[1]["linear_iterations"]), 0.05 * runs[1]["linear_iterations"])

    def test_steps_that_only_the_linear_solver_cannot_do_are_told_from_others_in_the_general_loop(self):
        self.leopard(self.write("case.prm", CASE), "Time stepping/Engine=general", "Time stepping/Error tolerance=1e-2", "Time stepping/End time=0.1",
                     "Linear solver/Method=gauss-seidel", "Linear solver/Max iterations=60", "Newton/Max steps=6", "Newton/Error fraction=0")
        reasons = self.run_json("case")["time_loop"]["rejected_for"]
        self.assertGreater(reasons["linear solver"], 0)
        self.assertEqual(reasons["Newton"], 0)

    def test_says_why_steps_were_rejected(self):
        too_long = ["Time stepping/Step size=0.01", "Time stepping/End time=0.04", "Newton/Relative tolerance=1e-8", "Output/Log every=1"]
        for engine in ("fused", "general"):
            said = self.leopard(self.write("case.prm", CASE), f"Time stepping/Engine={engine}", "Time stepping/Error tolerance=1e-6", *too_long)
            self.assertRegex(said, r"step +\d+ .*\(\d rejected: \d error too large\)")
            reasons = self.run_json("case")["time_loop"]["rejected_for"]
            self.assertGreater(reasons["error"], 0)
            self.assertRegex(said, rf"\d+ steps rejected \({reasons['error']} error too large")
        # a solver that must fail
        said = self.leopard(self.write("case.prm", CASE), "Time stepping/Engine=fused", "Newton/Max steps=1", *too_long)
        reasons = self.run_json("case")["time_loop"]["rejected_for"]
        self.assertGreater(reasons["Newton"] + reasons["linear solver"], 0)

    def test_steps_grow_where_a_pattern_has_edges_as_narrow_as_a_coarse_mesh(self):
        """Thomas' kinetics: once the solver limited them to a thousandth of what the error estimate allows."""
        self.leopard(self.write("thomas.prm", THOMAS), "Output/Log every=1", timeout=1200)
        rows = self.statistics("thomas")[1]
        self.assertLess(len(rows), 260)  # once 494
        self.assertGreater(max(row[2] for row in rows[:-1]), 0.03)

    def test_no_step_goes_through_a_pole(self):
        """The denominator is zero at u = -1.06. Once a step in which four nodes of 16641 had come to its other side was accepted."""
        said = self.leopard(self.write("thomas.prm", THOMAS), "Mesh/Global refinements=7", "Time stepping/End time=0.79", "Linear solver/Threads=1", "Output/Log every=1", timeout=1200)
        columns, rows = self.statistics("thomas")
        self.assertGreater(min(row[columns.index("minimum of u (dimensionless)")] for row in rows), 0)
        self.assertLess(len(rows), 100)
        self.assertNotIn("becomes negative", said)

    def test_surfaces_and_growing_domains(self):
        sphere = ["Mesh/Domain=sphere", "Mesh/Radius=1", "Mesh/Global refinements=3", "Discretization/Method=finite elements"]
        for law in ("exponential", "linear"):
            growth = [f"Mesh/Growth={law}", "Mesh/Growth rate=5"]
            for mesh in ([], sphere):
                for scheme in ("implicit Euler", "SBDF2"):
                    general, fused = self.compare([f"Time stepping/Scheme={scheme}", "Linear solver/Relative tolerance=1e-11", *FIXED, *mesh, *growth], 1e-7)
                    columns, _ = self.statistics(self.case)
                    for c, one, two in zip(columns, general[-1], fused[-1]):
                        if c.startswith("asynchronous bound"):
                            self.assertTrue(one == two or abs(one / two - 1) < 1e-6, f"{one} and {two}")
                        if c.startswith("mass balance"):
                            self.assertLess(abs(two), 1e-9)
                general, fused = self.compare([*CONTROLLED, *mesh, *growth], 2e-3)
                self.assertLess(abs(general[-1][0] - fused[-1][0]), 0.3 * general[-1][0])

    def test_meshes_at_the_bound_and_resumed(self):
        mesh = ["Discretization/Method=finite elements", "Time stepping/Scheme=BDF2"]
        general, fused = self.compare([*mesh, "Time stepping/Step control=asynchronous bound", "Time stepping/End time=0.1", "Output/Log every=1",
                                       "Linear solver/Max iterations=5000", "Newton/Relative tolerance=1e-12"], 1e-7)
        self.assertEqual(len(general), len(fused))
        columns, _ = self.statistics(self.case)
        bound = next(i for i, c in enumerate(columns) if c.startswith("asynchronous bound"))
        self.assertAlmostEqual(general[0][bound] / fused[0][bound], 1, delta=1e-8)
        settings = [*mesh, FIXED[0], FIXED[1], "Output/Interval=0"]
        _, reference, _ = self.run_case("general", *settings, "Time stepping/End time=0.01")
        for first, second in (("general", "fused"), ("fused", "general")):
            self.run_case(first, *settings, "Time stepping/End time=0.005")
            said = self.leopard("case.prm", *settings, f"Time stepping/Engine={second}", "Time stepping/End time=0.01", options=["--resume"])
            self.assertIn(f"time loop: {second}", said)
            one, two = self.measures(reference[-1]), self.measures(self.statistics("case")[1][-1])
            for name in one:
                self.assertAlmostEqual(one[name], two[name], delta=1e-7, msg=name)


class FusedTimeLoopOnRanks(HostProgram):
    def run_case(self, ranks, *settings, **more):
        said = self.leopard(self.write("case.prm", CASE), "Time stepping/Engine=fused", "Output/Log every=1000", *settings, ranks=ranks, **more)
        self.assertIn("time loop: fused, " + (f"{ranks} ranks" if ranks > 1 else ""), said)
        columns, rows = self.statistics("case")
        return rows, {c: value for c, value in zip(columns, rows[-1]) if c.startswith(("minimum", "maximum", "mean"))}

    def test_steps_and_fields_are_those_of_one_rank(self):
        expressions = ["Turing/Kinetics=expressions", "Turing/Constants=a: 0.126779, b: 0.792366", "Turing/Reaction u=a - u + u^2*v", "Turing/Reaction v=b - u^2*v",
                       "Turing/Diffusion u=1", "Turing/Diffusion v=10", "Turing/Species=u, v, w", "Turing/Reaction w=0.5*(u*v - w)", "Turing/Diffusion w=0.3"]
        box = ["Dimension=3", "Mesh/Lower corner=0, 0, 0", "Mesh/Upper corner=1, 0.5, 0.5", "Mesh/Cells=12, 6, 6", "Time stepping/Step control=fixed", "Time stepping/Step size=5e-4",
               "Time stepping/End time=5e-3", "Output/Interval=0"]
        for settings, delta in ((["Time stepping/Scheme=BDF2", *FIXED], 1e-8), (["Time stepping/Scheme=SBDF2", "Linear solver/Relative tolerance=1e-11", *FIXED], 1e-8),
                                (["Time stepping/Scheme=BDF2", *CONTROLLED], 1e-5), ([*expressions, *FIXED], 1e-8), (box, 1e-8)):
            rows, one = self.run_case(1, *settings)
            for ranks in (3,):
                others, two = self.run_case(ranks, *settings)
                self.assertEqual([row[0] for row in rows], [row[0] for row in others])
                for name, value in one.items():
                    self.assertAlmostEqual(value, two[name], delta=delta, msg=f"{name}, {ranks} ranks, {settings}")

    def test_resumed_on_another_number_of_ranks(self):
        settings = ["Time stepping/Scheme=BDF2", FIXED[0], FIXED[1], "Output/Interval=0"]
        _, reference = self.run_case(1, *settings, "Time stepping/End time=0.01")
        for first, second in ((1, 2), (2, 1), (2, 3)):
            self.run_case(first, *settings, "Time stepping/End time=0.005", options=["--overwrite"])
            _, found = self.run_case(second, *settings, "Time stepping/End time=0.01", options=["--resume"])
            for name, value in reference.items():
                self.assertAlmostEqual(value, found[name], delta=1e-8, msg=name)

    def test_meshes_and_surfaces(self):
        elements = ["Discretization/Method=finite elements", "Time stepping/Scheme=BDF2"]
        gmsh = ["Mesh/Domain=file", f"Mesh/File={ROOT}/meshes/fish.msh"]
        sphere = ["Mesh/Domain=sphere", "Mesh/Radius=1", "Mesh/Global refinements=3"]
        growth = ["Mesh/Growth=exponential", "Mesh/Growth rate=2"]
        for settings, delta in (([*FIXED], 1e-8), (["Discretization/Degree=2", *FIXED], 1e-8), ([*gmsh, *FIXED], 1e-8),
                                ([*sphere, *growth, *FIXED], 1e-8), ([*sphere, *CONTROLLED], 1e-5)):
            rows, one = self.run_case(1, *elements, *settings)
            for ranks in (3,):
                others, two = self.run_case(ranks, *elements, *settings)
                self.assertEqual([row[0] for row in rows], [row[0] for row in others])
                for name, value in one.items():
                    self.assertAlmostEqual(value, two[name], delta=delta, msg=f"{name}, {ranks} ranks, {settings}")

    def test_the_way_between_gpus_is_of_gpus(self):
        """Ranks on a host talk by messages; the entry is named, and changes nothing."""
        for ranks, engine in ((1, "fused"), (2, "fused"), (2, "general")):
            said = self.leopard(self.write("case.prm", CASE), *FIXED[:2], "Time stepping/End time=1e-3", "Time stepping/GPU exchange=messages", f"Time stepping/Engine={engine}", ranks=ranks)
            why = "the backend is host" if engine == "fused" else "the time loop is the general one"
            self.assertIn(f"not used: 'Time stepping/GPU exchange' ({why})", said)
            if (ranks, engine) == (2, "fused"):
                self.assertIn("time loop: fused, 2 ranks (MPI messages), each ", said)

    def test_too_many_ranks(self):
        said = self.leopard(self.write("case.prm", CASE), "Mesh/Cells=32, 4", *FIXED[:2], "Time stepping/End time=1e-3", ranks=3)
        self.assertIn("time loop: general, since the fused one cannot be used: the grid has 5 nodes in y, too few for 3 ranks with at least 2 each", said)
