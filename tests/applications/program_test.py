# SPDX-License-Identifier: Apache-2.0
"""The program from outside: convergence rates, ranks, checkpoints, solvers."""
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import time

from program import FILES, LEOPARD, ROOT, Program

VERIFICATION = FILES / "verification"
TINY = ROOT / "tests/output/tiny_turing.prm"


class Rates(Program):
    def check(self, name, rate, *settings):
        self.leopard(VERIFICATION / f"{name}.prm", *settings)
        found = float(self.convergence(name)[-1]["l2_rate"])
        self.assertAlmostEqual(found, rate, delta=0.1, msg=f"{name} {settings}")

    def test_space(self):
        for dimension in ("", "_3d"):
            for problem in ("laplace", "helmholtz"):
                self.check(problem + dimension, 2, "Discretization/Method=finite differences")
                self.check(problem + dimension, 2)
                self.check(problem + dimension, 3, "Discretization/Degree=2")

    def test_time(self):
        self.check("time_order", 1, "Time stepping/Scheme=implicit Euler")
        self.check("time_order", 2)

    def test_adaptive_refinement_beats_the_corner_singularity(self):
        # globally O(N^(-2/3)) in L2, adaptively O(N^-1), that is rate 2 in N^(-1/2)
        self.leopard(VERIFICATION / "adaptive_l_shape.prm")
        rows = self.convergence("adaptive_l_shape")
        first, last = rows[1], rows[-1]
        import math
        rate = math.log(float(first["l2_error"]) / float(last["l2_error"])) / math.log(float(first["N^(-1/dim)"]) / float(last["N^(-1/dim)"]))
        self.assertGreater(rate, 1.7)

    def test_gmsh_mesh(self):
        text = ("set Problem = laplace\nsubsection Laplace\n set Exact solution = sin(x)*exp(y)\n set Boundary values = *: sin(x)*exp(y)\nend\n"
                f"subsection Mesh\n set Domain = file\n set File = {ROOT}/meshes/leopard_pelt.msh\nend\n"
                "subsection Linear solver\n set Method = cg\n set Preconditioner = amg\n set Relative tolerance = 1e-11\nend\n"
                "subsection Verification\n set Refinements = 2\nend\n")
        self.leopard(self.write("pelt.prm", text))
        self.assertAlmostEqual(float(self.convergence("pelt")[-1]["l2_rate"]), 2, delta=0.15)


class LinearSolvers(Program):
    METHODS = [(["async", "async-refinement", "jacobi", "gauss-seidel", "sor", "ssor", "chebyshev", "multigrid", "direct"], ["none"]),
               (["cg", "gmres"], ["none", "jacobi", "ssor", "chebyshev", "amg", "async", "ilu", "ic", "aggregation", "multigrid"])]

    def test_all_find_the_same_solution(self):
        errors = []
        for methods, preconditioners in self.METHODS:
            for _, name in self.sweep(VERIFICATION / "helmholtz.prm", {"Linear solver/Method": methods, "Linear solver/Preconditioner": preconditioners,
                                                                       "Linear solver/Backend": ["host", "reference"]},
                                      "Verification/Refinements=1", "Linear solver/Max iterations=100000"):
                errors.append(float(self.convergence(name)[-1]["l2_error"]))
        self.assertEqual(len(errors), 58)
        self.assertLess(max(errors) - min(errors), 1e-8 * max(errors))

    def test_schedules(self):
        for schedule, name in self.sweep(VERIFICATION / "helmholtz.prm", {"Linear solver/Schedule": ["synchronous", "chaotic", "replay"]}, "Verification/Refinements=1",
                                         "Linear solver/Method=async", "Linear solver/Preconditioner=none"):
            self.assertAlmostEqual(float(self.convergence(name)[-1]["l2_rate"]), 2, delta=0.1, msg=schedule)

    def test_momentum_speeds_async_up(self):
        counts = []
        for momentum in ("0", "0.6"):
            self.leopard(VERIFICATION / "helmholtz.prm", "Verification/Refinements=2", "Linear solver/Method=async", "Linear solver/Preconditioner=none",
                         "Linear solver/Schedule=synchronous", "Linear solver/Local iterations=1", f"Linear solver/Momentum={momentum}")
            counts.append(self.iterations("helmholtz")[-1])
        self.assertLess(counts[1], counts[0] / 2)

    def test_cg_is_flexible_where_the_preconditioner_is_not_symmetric(self):
        # one thread visits its blocks in one order always: fixed, but as little symmetric as Gauss-Seidel
        for schedule, flexible in (("synchronous", False), ("chaotic", True)):
            said = self.leopard(VERIFICATION / "helmholtz.prm", "Verification/Refinements=1", f"Linear solver/Schedule={schedule}", "Linear solver/Threads=1")
            self.assertEqual("flexible cg" in said, flexible)
            self.assertEqual("is not symmetric" in said, flexible)


class Newton(Program):
    FILE = FILES / "benchmarks/newton_thesis.prm"

    def steps(self, *settings):
        self.leopard(self.FILE, "Mesh/Cells=31", *settings)
        return self.run_json("newton_thesis")["cycles"][0]["newton"]

    def test_converges_quadratically_with_exact_solves(self):
        residuals = [step["residual"] for step in self.steps("Newton/Forcing=relative tolerance", "Newton/Linear tolerance=1e-12", "Linear solver/Method=direct")]
        self.assertLess(len(residuals), 6)
        self.assertLess(residuals[-1], 1e-10 * residuals[0])

    def test_more_linear_iterations_need_fewer_steps(self):
        counts = [len(self.steps(f"Newton/Linear iterations={n}")) for n in (50, 100, 400)]
        self.assertGreater(counts[0], counts[1])
        self.assertGreater(counts[1], counts[2])

    def test_eisenstat_walker_tightens_its_tolerance(self):
        steps = self.steps("Newton/Forcing=Eisenstat-Walker", "Newton/Linear tolerance=0.1", "Linear solver/Method=cg", "Linear solver/Preconditioner=async")
        self.assertLess(steps[-1]["residual"], 1e-10 * steps[0]["residual"])
        self.assertLess(len(steps), 10)

    def test_expression_equals_the_built_in_reaction(self):
        values = []
        for settings in ((), ("Reaction-diffusion/Reaction=expression", "Reaction-diffusion/f=-(1+2*u^2)", "Reaction-diffusion/Derivative of f=-4*u")):
            self.leopard(self.FILE, "Mesh/Cells=16", *settings)
            values.append(self.run_json("newton_thesis")["cycles"][0]["u"]["minimum"])
        self.assertAlmostEqual(values[0], values[1], delta=1e-9)


class Stationary(Program):
    def test_measures_include_the_boundary(self):
        # u = x: least and largest on the boundary
        file = self.write("linear.prm", "set Problem = laplace\nsubsection Laplace\n set Exact solution = 2 + x\nend\nsubsection Mesh\n set Global refinements = 2\nend\n")
        for settings, ranks in (((), 1), ((), 2), (("Discretization/Degree=2",), 1), (("Mesh/Adaptive=true", "Mesh/Adaptive cycles=2"), 1)):
            said = self.leopard(file, *settings, ranks=ranks)
            self.assertIn("u is between 2 and 3, in the mean 2.5", said)
            measures = {row["name"]: row["value"] for row in self.run_json("linear")["measures"]}
            for name, value in (("minimum of u", 2), ("maximum of u", 3), ("mean of u", 2.5)):
                self.assertAlmostEqual(measures[name], value, delta=1e-7, msg=f"{name} {settings}")

    def test_newton_says_where_there_is_no_solution(self):
        # -laplace u = lambda exp(u) on the unit square has solutions up to lambda = 6.808
        file = self.write("bratu.prm", "set Problem = reaction-diffusion\nsubsection Reaction-diffusion\n set Reaction = expression\n set Constants = lambda: 6.5\n"
                          " set f = lambda*exp(u)\nend\nsubsection Mesh\n set Global refinements = 4\nend\n")
        self.leopard(file)
        self.assertAlmostEqual(self.run_json("bratu")["cycles"][0]["u"]["maximum"], 1.0, delta=0.05)
        self.assertIn("there may be none at all", self.leopard(file, "Reaction-diffusion/Constants=lambda: 7.5", fails=True))


class Ranks(Program):
    """One and two ranks agree to the solver's tolerance on all problems."""

    def test_stationary(self):
        for file, settings in ((VERIFICATION / "laplace.prm", ["Verification/Refinements=1"]),
                               (VERIFICATION / "helmholtz.prm", ["Verification/Refinements=1", "Linear solver/Method=async", "Linear solver/Preconditioner=none"]),
                               (VERIFICATION / "adaptive_l_shape.prm", ["Mesh/Adaptive cycles=3", "Linear solver/Relative tolerance=1e-11"]),
                               (FILES / "benchmarks/newton_thesis.prm", ["Mesh/Cells=24"])):
            results = []
            for ranks in (1, 2):
                self.leopard(file, *settings, ranks=ranks)
                results.append(self.run_json(file.stem)["cycles"][-1])
            self.assertEqual(results[0]["unknowns"], results[1]["unknowns"])
            for measure in ("minimum", "maximum", "mean"):
                self.assertAlmostEqual(results[0]["u"][measure], results[1]["u"][measure], delta=1e-8, msg=f"{file.stem} {measure}")

    def test_turing(self):
        for method, preconditioner in (("async", "none"), ("gmres", "async"), ("gmres", "amg"), ("direct", "none")):
            last = []
            for ranks in (1, 2):
                self.leopard(TINY, f"Linear solver/Method={method}", f"Linear solver/Preconditioner={preconditioner}", ranks=ranks)
                last.append(self.statistics("tiny_turing")[1][-1][10:16])
            for one, two in zip(*last):
                self.assertAlmostEqual(one, two, delta=1e-6)


class Checkpoints(Program):
    SETTINGS = ["Time stepping/End time=0.1", "Run/Checkpoint steps=7", "Output/Interval=0.02", "Newton/Relative tolerance=1e-10", "Mesh/Global refinements=5"]

    def reference(self):
        self.leopard(TINY, *self.SETTINGS)
        columns, rows = self.statistics("tiny_turing")
        times = self.times()
        return rows, times

    def times(self):
        return re.findall(r'timestep="([^"]*)"', (self.folder / "output/tiny_turing/solution.pvd").read_text())

    def check_equal(self, reference):
        rows, times = reference
        _, resumed = self.statistics("tiny_turing")
        self.assertEqual([row[0] for row in rows], [row[0] for row in resumed], "steps missing or double")
        self.assertEqual(times, self.times())
        for one, two in zip(rows[-1][10:16], resumed[-1][10:16]):
            self.assertAlmostEqual(one, two, delta=1e-6)

    def test_killed_at_any_moment(self):
        reference = self.reference()
        random.seed(1)
        for ranks_after in (1, 2, 1):
            process = subprocess.Popen(self.command(TINY, *self.SETTINGS, options=["--overwrite"]), cwd=self.folder, stdout=subprocess.DEVNULL)
            while not list((self.folder / "output/tiny_turing/checkpoints").glob("step_?????????")):
                time.sleep(0.01)
            time.sleep(random.uniform(0, 0.5))
            process.kill()
            process.wait()
            self.leopard(TINY, *self.SETTINGS, options=["--resume"], ranks=ranks_after)
            self.check_equal(reference)

    def test_killed_before_the_first_checkpoint(self):
        settings = [*self.SETTINGS, "Run/Checkpoint steps=0"]
        reference = self.reference()
        process = subprocess.Popen(self.command(TINY, *settings, options=["--overwrite"]), cwd=self.folder, stdout=subprocess.PIPE, text=True)
        for line in process.stdout:
            if line.startswith("step"):
                break
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="utf-8")
        libraries = pathlib.Path(f"/proc/{process.pid}/maps").read_text(encoding="utf-8")
        process.kill()
        process.communicate()
        self.assertEqual(self.checkpoints("tiny_turing"), [])
        # what the run was begun with holds without a checkpoint, too
        error = self.leopard(TINY, *settings, "Mesh/Global refinements=3", options=["--resume"], fails=True)
        self.assertRegex(error, r"no checkpoint yet.*\n *'Mesh/Global refinements' is 3, and was 5")
        said = self.leopard(TINY, *settings, "Newton/Max steps=31", options=["--resume"])
        self.assertIn("no checkpoint is there: the run begins anew", said)
        self.assertIn("changed on resume: 'Newton/Max steps' from 20 to 31", said)
        self.check_equal(reference)
        # and a program that is alone had neither a daemon of Open MPI beside it nor drivers of networks in it
        self.assertEqual(children, "")
        self.assertNotRegex(libraries, "mca_(mtl|btl_tcp)")

    def test_killed_before_the_first_checkpoint_and_the_mesh_file_changed(self):
        """Its content counts, as with a checkpoint."""
        mesh = self.folder / "m.msh"
        mesh.write_text((ROOT / "meshes/fish.msh").read_text(encoding="utf-8"), encoding="utf-8")
        file = self.folder / "of_file.prm"
        file.write_text(TINY.read_text(encoding="utf-8"), encoding="utf-8")
        settings = ["Mesh/Domain=file", "Mesh/File=m.msh", "Mesh/Global refinements=0", "Discretization/Method=finite elements", "Time stepping/Step size=1e-6"]
        process = subprocess.Popen(self.command(file, *settings, options=["--overwrite"]), cwd=self.folder, stdout=subprocess.PIPE, text=True)
        for line in process.stdout:
            if line.startswith("step"):
                break
        process.kill()
        process.communicate()
        mesh.write_text(mesh.read_text(encoding="utf-8").replace("0.6340127421707212", "0.6340128421707212"), encoding="utf-8")
        error = self.leopard(file, *settings, options=["--resume"], fails=True)
        self.assertRegex(error, r"no checkpoint yet.*\n *the mesh file '.*m.msh' has another content")

    def test_sigterm_stops_with_a_checkpoint(self):
        reference = self.reference()
        process = subprocess.Popen(self.command(TINY, *self.SETTINGS, options=["--overwrite"]), cwd=self.folder, stdout=subprocess.PIPE, text=True)
        for line in process.stdout:
            if line.startswith("step") and int(line.split()[1]) > 5:
                break
        process.send_signal(signal.SIGTERM)
        rest = process.stdout.read()
        self.assertEqual(process.wait(), 143)
        self.assertIn("stopped: SIGTERM", rest)
        self.assertEqual(self.run_json("tiny_turing")["status"], "stopped: SIGTERM")
        at = self.statistics("tiny_turing")[1][-1][0]
        self.assertLess(at, reference[0][-1][0])
        first = self.run_json("tiny_turing")
        self.assertEqual((first["time_loop"]["steps"], first["time_loop"]["steps_in_all"]), (at, at))
        said = self.leopard(TINY, *self.SETTINGS, options=["--resume"])
        self.check_equal(reference)
        # counts and seconds say of which start they are
        second = self.run_json("tiny_turing")
        self.assertEqual((second["time_loop"]["steps"], second["time_loop"]["steps_in_all"]), (100 - at, 100))
        self.assertIn(f"\n100 steps in all; since step {at:.0f}: {100 - at:.0f} steps, ", said)
        self.assertRegex(said, r"\nfinished after .* \(.* with the starts before\); results in ")
        self.assertAlmostEqual(first["wall_seconds"], first["wall_seconds_in_all"], delta=1e-3)
        self.assertAlmostEqual(second["wall_seconds_in_all"] - second["wall_seconds"], first["wall_seconds"], delta=0.5 * first["wall_seconds"])
        # a checkpoint of an older program does not know
        newest = self.folder / "output/tiny_turing/checkpoints/step_000000100/metadata.json"
        metadata = json.loads(newest.read_text())
        del metadata["wall_seconds"]
        newest.write_text(json.dumps(metadata))
        said = self.leopard(TINY, *self.SETTINGS[1:], "Time stepping/End time=0.101", options=["--resume"])
        self.assertIn("\n101 steps in all; since step 100: 1 steps", said)
        self.assertNotIn("with the starts before", said)

    def test_damaged_checkpoint_is_passed_over(self):
        reference = self.reference()
        newest = sorted((self.folder / "output/tiny_turing/checkpoints").iterdir())[-1]
        for file in newest.iterdir():
            if "fixed" in file.name:
                file.write_bytes(file.read_bytes()[:-8])
        said = self.leopard(TINY, *self.SETTINGS, options=["--resume"])
        self.assertIn("is passed over", said)
        self.assertEqual(len(list((self.folder / "output/tiny_turing/checkpoints").iterdir())), 2)
        self.check_equal(reference)

    def test_stationary_resume(self):
        settings = ["Mesh/Adaptive cycles=4"]
        file = VERIFICATION / "adaptive_l_shape.prm"
        self.leopard(file, *settings)
        reference = self.run_json("adaptive_l_shape")["cycles"]
        self.leopard(file, "Mesh/Adaptive cycles=2")
        self.leopard(file, *settings, options=["--resume"], ranks=2)
        resumed = self.run_json("adaptive_l_shape")["cycles"]
        self.assertEqual([c["unknowns"] for c in reference], [c["unknowns"] for c in resumed])
        self.assertAlmostEqual(reference[-1]["l2_error"], resumed[-1]["l2_error"], delta=1e-9)


class TimeStepping(Program):
    def test_error_control_meets_its_tolerance_and_hits_output_times(self):
        errors = []
        for tolerance in ("1e-3", "1e-5"):
            self.leopard(VERIFICATION / "time_order.prm", "Verification/Refinements=0", "Time stepping/Step control=error-controlled",
                         f"Time stepping/Error tolerance={tolerance}", "Time stepping/Step size=1e-4", "Output/Times=0.3333, 0.5")
            pvd = (self.folder / "output/time_order/solution.pvd").read_text()
            self.assertEqual([float(t) for t in re.findall(r'timestep="([^"]*)"', pvd)], [0, 0.3333, 0.5, 1])
            errors.append(float(re.search(r"L2 error against the exact solution: (\S+)", (self.folder / "output/time_order/log.txt").read_text())[1]))
        self.assertLess(errors[0], 0.05)
        self.assertLess(errors[1], errors[0] / 10)

    def test_steady_state_ends_the_run(self):
        said = self.leopard(TINY, "Turing/gamma=1", "Time stepping/End time=1000", "Time stepping/Step size=0.05", "Time stepping/Steady tolerance=1e-4",
                            "Linear solver/Method=direct")
        self.assertIn("steady state after", said)

    def test_wall_time_ends_the_run_with_a_checkpoint(self):
        said = self.leopard(TINY, "Time stepping/End time=1000", "Run/Wall time=0.02")
        self.assertIn("stopped: wall time", said)
        self.assertTrue(list((self.folder / "output/tiny_turing/checkpoints").glob("step_*")))

    def test_all_kinetics_keep_their_steady_state(self):
        said = subprocess.run([LEOPARD, "--print-parameters"], capture_output=True, text=True, check=True).stdout
        kinetics = re.search(r"set Kinetics\s*=.*", said)
        self.assertIsNotNone(kinetics)
        names = re.search(r"\*\*Kinetics\*\*: one of: (.*?) \\\| expressions", (ROOT / "doc/parameters.md").read_text())[1].split(" \\| ")
        self.assertGreaterEqual(len(names), 9)
        for name in names:
            self.leopard(TINY, f"Turing/Kinetics={name}", "Turing/Perturbation=0", "Turing/gamma=1")
            row = self.statistics("tiny_turing")[1][-1]
            self.assertAlmostEqual(row[10], row[11], delta=1e-9, msg=name)
            self.assertLess(row[8], 1e-9, name)

    def test_jacobians_are_the_derivatives(self):
        # Newton with exact solves converges quadratically only with the right Jacobian: three or four steps from a guess far off, where a derivative
        # that is wrong takes twice as many; one that is missing is seen where the reaction is as large as the rest of the matrix
        for name, extra in (("Schnakenberg", []), ("Gierer-Meinhardt", ["Turing/Gierer-Meinhardt K=0.3"]), ("Brusselator", []), ("Gray-Scott", ["Turing/Initial value v=0.3"]),
                            ("FitzHugh-Nagumo", ["Turing/Initial value u=0.3", "Turing/FitzHugh-Nagumo a=0.1"])):
            self.leopard(TINY, f"Turing/Kinetics={name}", "Turing/Perturbation=0.3", "Turing/gamma=10", "Linear solver/Method=direct", "Newton/Relative tolerance=1e-9",
                         "Newton/Absolute tolerance=1e-15", "Time stepping/Step size=0.05", "Time stepping/End time=0.1", "Output/Interval=0", "Output/Log every=1", *extra)
            rows = self.statistics("tiny_turing")[1]
            self.assertEqual(len(rows), 2)
            for row in rows:
                self.assertLessEqual(row[3], 4, f"{name}: {row[3]} Newton steps")
            self.assertGreaterEqual(rows[0][3], 3, f"{name}: too few Newton steps to see their rate")


class CommandLine(Program):
    def test_help_version_parameters(self):
        for option, text in (("--help", "--resume"), ("--version", "leopard 0.1.0"), ("--print-parameters", "subsection Linear solver")):
            result = subprocess.run([LEOPARD, option], capture_output=True, text=True, check=True)
            self.assertIn(text, result.stdout)

    def test_a_full_device_is_an_error(self):
        """What was to be printed is lost: '--print-parameters=markdown > FILE' on a full disk leaves an empty file."""
        for options in (["--help"], ["--print-parameters"], ["--print-parameters=markdown"], [TINY, "--validate"], ["--validate", TINY, TINY], ["--describe-mesh", TINY]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                result = subprocess.run([LEOPARD, *map(str, options)], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
            self.assertEqual(result.returncode, 1, options)
            self.assertRegex(result.stderr, r"\Aleopard: standard output cannot be written \(No space left on device\).*\n\Z", options)

    def test_help_of_scripts_run_builds_nothing(self):
        script = self.folder / "run"  # without the scripts that install and build
        script.write_bytes((ROOT / "scripts/run").read_bytes())
        for option in ("--help", "-h"):
            result = subprocess.run(["bash", str(script), option], capture_output=True, text=True, check=True)
            self.assertIn("scripts/run [-n RANKS] PARAMETER_FILE", result.stdout)
            self.assertIn("--overwrite", result.stdout)

    def test_printed_parameters_can_be_read_again(self):
        text = subprocess.run(self.command(TINY, options=["--print-parameters"]), capture_output=True, text=True, check=True).stdout
        said = self.leopard(self.write("again.prm", text), options=["--validate"])
        self.assertIn("is valid", said)

    def test_run_directory_holds_what_it_must(self):
        self.leopard(TINY)
        directory = self.folder / "output/tiny_turing"
        for name in ("parameters.prm", "parameters_all.prm", "run.json", "log.txt", "statistics", "solution.pvd", "checkpoints", "manifest.txt"):
            self.assertTrue((directory / name).exists(), name)
        self.assertIn(f"scripts/render {directory.relative_to(self.folder)} draws pictures", (directory / "log.txt").read_text())
        run = json.loads((directory / "run.json").read_text())
        self.assertEqual(run["status"], "finished")
        for key in ("leopard", "versions", "host", "command", "started", "wall_seconds", "ranks", "backend"):
            self.assertIn(key, run)


if __name__ == "__main__":
    import unittest
    unittest.main()
