# SPDX-License-Identifier: Apache-2.0
"""Parameter sweeps: all combinations, once each, whatever happens."""
import csv
import json
import shutil
import signal
import subprocess
import sys

from initial_values_test import ASCII, plane, vtu
from program import FILES, ROOT, Program

TINY = ROOT / "tests/output/tiny_turing.prm"
QUIET = ["Output/Interval=0", "Output/Log every=automatic"]
VARIED = "Run/Sweep=gamma: 50, 100, 200; kappa: 8, 10"
MEASURES = "Run/Sweep keeps=measures"
# two species with expressions: constants in the diffusion of u, in the reaction, and in neither of them
EXPRESSIONS = ["Turing/Kinetics=expressions", "Turing/Constants=d: 1, a: 0.1, s: 0", "Turing/Reaction u=a - u + u^2*v", "Turing/Reaction v=0.9 - u^2*v", "Turing/Diffusion u=1 + 0*d",
               "Turing/Diffusion v=10", "Turing/gamma=100"]


class Sweeps(Program):
    def table(self, name="tiny_turing"):
        with open(self.folder / "output" / name / "sweep.csv", encoding="utf-8") as stream:
            return list(csv.DictReader(stream))

    def run_json_of(self, row, name="tiny_turing"):
        return json.loads((self.folder / "output" / name / "runs" / row["run"] / "run.json").read_text())

    def started(self):
        return {row["run"]: self.run_json_of(row)["written"] + str(self.run_json_of(row)["wall_seconds"]) for row in self.table()}

    def interrupt(self, settings, after, how):
        """Starts the sweep and sends it the signal once it has said a line with `after`."""
        process = subprocess.Popen(self.command(TINY, *settings, options=["--overwrite"]), cwd=self.folder, stdout=subprocess.PIPE, text=True)
        for line in process.stdout:
            if after in line:
                break
        process.send_signal(how)
        said = process.stdout.read()
        process.communicate()
        if how == signal.SIGTERM:
            self.assertEqual(process.returncode, 143)
            self.assertIn("stopped: SIGTERM", said)

    def compare_with(self, reference, delta):
        for one, two in zip(reference, self.table()):
            self.assertEqual((one["gamma"], one["status"]), (two["gamma"], two["status"]))
            self.assertAlmostEqual(float(one["maximum of u"]), float(two["maximum of u"]), delta=delta)

    def test_all_combinations_give_what_single_runs_give(self):
        said = self.leopard(TINY, VARIED)
        self.assertIn("sweep of 6 runs", said)
        rows = self.table()
        self.assertEqual([(row["gamma"], row["kappa"]) for row in rows], [(g, k) for g in ("50", "100", "200") for k in ("8", "10")])
        self.assertEqual({row["status"] for row in rows}, {"finished"})
        self.assertEqual(rows[3]["run"], "gamma=100_kappa=10")
        self.leopard(TINY, "Turing/gamma=100", "Turing/kappa=10", "Run/Directory=single")
        self.assertEqual(rows[3].keys() - {"run", "gamma", "kappa", "status", "seconds"},
                         {measure["name"] for measure in json.loads((self.folder / "single/run.json").read_text())["measures"]})
        for measure in json.loads((self.folder / "single/run.json").read_text())["measures"]:
            self.assertAlmostEqual(float(rows[3][measure["name"]]), measure["value"], delta=1e-6, msg=measure["name"])
        text = (self.folder / "output/tiny_turing/sweep.txt").read_text().splitlines()
        self.assertEqual(len(text), 7)
        self.assertEqual(len({len(line) for line in text}), 1, "columns are not aligned")

    def test_runs_share_a_mesh_if_it_is_the_same(self):
        self.leopard(TINY, "Run/Sweep=Global refinements: 3, 4; Upper corner: 1, 2; gamma: 50, 100", "Run/Sweep runs at a time=3")
        rows = self.table()
        for row in rows:
            line = [line for line in self.log(f"tiny_turing/runs/{row['run']}").splitlines() if line.startswith("mesh: ")][0]
            n = 2 ** int(row["Global refinements"])
            self.assertIn(f"mesh: {n * n} cells, {2 * (n + 1) ** 2} unknowns, h = {float(row['Upper corner']) / n:.4g}", line)
            self.assertEqual("that of an earlier run" in line, row["gamma"] == "100", line)
        self.leopard(TINY, "Mesh/Global refinements=4", "Mesh/Upper corner=2", "Turing/gamma=100", "Run/Directory=single")
        for measure in json.loads((self.folder / "single/run.json").read_text())["measures"]:
            self.assertAlmostEqual(float(rows[-1][measure["name"]]), measure["value"], delta=1e-6, msg=measure["name"])

    def mesh_line(self, row):
        return [line for line in self.log(f"tiny_turing/runs/{row['run']}").splitlines() if line.startswith("mesh: ")][0]

    def compare_with_single_runs(self, axis, *settings):
        """Runs of a sweep over `axis`, "ENTRY: VALUE; VALUE", have the measures of single runs; their table."""
        entry, values = axis.split(": ", 1)
        values = values.split("; ")
        self.leopard(TINY, f"Run/Sweep={entry}: {', '.join(values)}", "Run/Sweep runs at a time=1", *settings)
        rows = self.table()
        for row, value in zip(rows, values, strict=True):
            self.leopard(TINY, *settings, f"{entry}={value}", "Run/Directory=single")
            for measure in json.loads((self.folder / "single/run.json").read_text())["measures"]:
                self.assertAlmostEqual(float(row[measure["name"]]), measure["value"], delta=1e-6, msg=f"{row['run']}: {measure['name']}")
        return rows

    def test_runs_share_matrices(self):
        for axis, settings in (("Turing/gamma: 50; 100", ()),
                               ("Turing/Schnakenberg a: 0.1; 0.2", ()),
                               ("Turing/Initial value u: 1; 1 + 0.1*cos(pi*x)", ("Turing/Start from steady state=false",)),
                               ("Turing/gamma: 50; 100", ("Time stepping/Engine=general",)),
                               ("Turing/Constants/a: 0.1; 0.2", EXPRESSIONS),
                               ("Time stepping/Step size: 1e-3; 5e-4", ())):
            with self.subTest(axis):
                first, second = self.compare_with_single_runs(axis, *settings)
                self.assertNotIn("earlier run", self.mesh_line(first))
                self.assertIn("that of an earlier run, with its matrices", self.mesh_line(second))

    # fails for the matrices' entries if text_of_shared_system() leaves out the entries of the problem or the constants
    def test_matrices_of_other_entries_are_new(self):
        for axis, settings in (("Turing/kappa: 8; 12", ()),
                               ("Turing/kappa: 8; 12", ("Time stepping/Engine=general",)),
                               ("Turing/Diffusion u: 1; 1 + x", ("Turing/kappa=10",)),
                               ("Turing/Constants/d: 1; 5", ["Turing/Diffusion u=d" if setting.startswith("Turing/Diffusion u") else setting for setting in EXPRESSIONS]),
                               ("Turing/Constants/s: 0; 5", [*EXPRESSIONS, "Turing/Source u=s*x"]),
                               ("Turing/Source u: 0; 20*x", ()),
                               ("Turing/Boundary values u: *: 1; *: 2", ()),
                               ("Turing/Boundary fluxes v: *: 0; *: 3", ()),
                               ("Turing/gamma: 50; 100", ("Turing/Exact solution u=1 + x", "Turing/Exact solution v=1")),  # its source has the reaction
                               ("Discretization/Method: finite differences; finite elements", ()),
                               ("Discretization/Mass matrix: lumped; consistent", ("Discretization/Method=finite elements",)),
                               ("Mesh/Upper corner: 1; 2", ()),
                               ("Mesh/Periodic: x; y", ("Turing/Initial value u=1 + 0.1*cos(pi*x)", "Turing/Start from steady state=false"))):
            with self.subTest(axis):
                _, second = self.compare_with_single_runs(axis, *settings)
                self.assertNotIn("with its matrices", self.mesh_line(second))

    def test_loads_that_change_with_time_are_not_shared(self):
        _, second = self.compare_with_single_runs("Turing/gamma: 50; 100", "Turing/Source u=10*t*x")
        self.assertIn("that of an earlier run", self.mesh_line(second))
        self.assertNotIn("with its matrices", self.mesh_line(second))

    def files_of(self, row):
        folder = self.folder / "output/tiny_turing/runs" / row["run"]
        return {path.name for path in folder.iterdir()}

    def test_sweeps_can_keep_measures_only(self):
        settings = [VARIED, "Run/Checkpoint steps=2", "Time stepping/Engine=fused"]
        self.leopard(TINY, *settings)
        reference = self.table()
        for row in reference:
            self.assertLessEqual({"solution", "solution.pvd", "checkpoints"}, self.files_of(row))
        said = self.leopard(TINY, *settings, MEASURES)
        self.assertIn("neither fields nor checkpoints are written: 'Run/Sweep keeps' is measures", said)
        self.assertIn("not used: 'Output/Interval', 'Run/Checkpoint steps' ('Run/Sweep keeps' is measures)", said)
        self.assertNotIn("contact_sheet", said)
        self.assertEqual(self.table()[0].keys(), reference[0].keys())
        for one, two in zip(reference, self.table(), strict=True):
            self.assertEqual((one["run"], one["status"]), (two["run"], two["status"]))
            for measure in one.keys() - {"run", "gamma", "kappa", "status", "seconds"}:
                self.assertAlmostEqual(float(one[measure]), float(two[measure]), delta=1e-6 * max(1, abs(float(one[measure]))), msg=measure)
            self.assertEqual(self.files_of(two), {"lock", "log.txt", "manifest.txt", "parameters.prm", "parameters_all.prm", "run.json", "statistics"})
            log = self.log(f"tiny_turing/runs/{two['run']}")
            self.assertIn("neither fields nor checkpoints are written: 'Run/Sweep keeps' is measures", log)
            self.assertIn("not used: 'Output/Interval', 'Run/Checkpoint steps' ('Run/Sweep keeps' is measures)", log)
            self.assertNotIn("scripts/render", log)
        self.assertIn("('Run/Sweep keeps' is measures)", self.leopard(TINY, *settings, MEASURES, options=["--validate"]))
        self.assertIn("not used: 'Run/Sweep keeps' ('Run/Sweep' is empty)", self.leopard(TINY, MEASURES))
        self.assertTrue((self.folder / "output/tiny_turing/solution.pvd").exists())
        self.assertIn("which all runs share", self.leopard(TINY, "Run/Sweep=Sweep keeps: all, measures", fails=True))

    def test_measures_of_the_general_time_loop_and_of_stationary_problems(self):
        for file, name, settings in ((TINY, "tiny_turing", ("Run/Sweep=gamma: 50, 100", "Time stepping/Engine=general")),
                                     (FILES / "verification/laplace.prm", "laplace", ("Run/Sweep=Laplace/Source: 1, 2", "Laplace/Boundary values=*: 0", "Verification/Refinements=1"))):
            with self.subTest(name):
                self.leopard(file, *settings)
                reference = self.table(name)
                self.leopard(file, *settings, MEASURES)
                for one, two in zip(reference, self.table(name), strict=True):
                    for measure in one.keys() - {"run", "gamma", "Laplace/Source", "status", "seconds"}:
                        self.assertAlmostEqual(float(one[measure]), float(two[measure]), delta=1e-6 * max(1, abs(float(one[measure]))), msg=measure)
                    self.assertEqual((one["run"], one["status"]), (two["run"], two["status"]))
                    folder = self.folder / "output" / name / "runs" / two["run"]
                    self.assertEqual({path.name for path in folder.iterdir()} & {"solution", "solution.pvd", "checkpoints"}, set())
                    self.assertIn("neither fields nor checkpoints are written", (folder / "log.txt").read_text())

    def test_measures_only_and_resumed(self):
        settings = [*QUIET, MEASURES, "Run/Sweep=gamma: 100, 200, 300", "Run/Sweep runs at a time=1", "Time stepping/End time=0.4", "Mesh/Global refinements=3", "Run/Checkpoint steps=37",
                    "Newton/Relative tolerance=1e-10"]
        self.leopard(TINY, *settings)
        reference = self.table()
        for how in (signal.SIGKILL, signal.SIGTERM):
            self.interrupt(settings, "gamma=200: starts", how)
            said = self.leopard(TINY, *settings, options=["--resume"])
            self.assertIn("gamma=100: has finished before", said)
            self.assertNotIn("goes on", said)  # there is nothing to go on from
            self.assertEqual({row["status"] for row in self.table()}, {"finished"})
            self.compare_with(reference, delta=1e-6)
            for row in self.table():
                self.assertEqual(self.files_of(row) & {"solution", "solution.pvd", "checkpoints"}, set())
        said = self.leopard(TINY, *settings, "Time stepping/End time=0.5", options=["--resume"])
        self.assertNotIn("has finished before", said)
        self.assertEqual({self.run_json_of(row)["status"] for row in self.table()}, {"finished"})
        self.assertEqual({row["gamma"] for row in self.table()}, {"100", "200", "300"})

    # fails if a run of the sweep with measures counts as done where fields are asked for now
    def test_runs_without_fields_are_done_anew_where_these_are_asked_for(self):
        self.leopard(TINY, MEASURES, "Run/Sweep=gamma: 50, 100")
        said = self.leopard(TINY, "Run/Sweep=gamma: 50, 100", options=["--resume"])
        self.assertNotIn("has finished before", said)
        for row in self.table():
            self.assertLessEqual({"solution", "solution.pvd", "checkpoints"}, self.files_of(row))
        said = self.leopard(TINY, MEASURES, "Run/Sweep=gamma: 50, 100, 200", options=["--resume"])
        self.assertEqual(said.count("has finished before"), 2)  # they have more than is asked for, and keep it
        self.assertIn("solution.pvd", self.files_of(self.table()[0]))
        self.assertNotIn("solution.pvd", self.files_of(self.table()[2]))

    def test_finished_runs_are_not_repeated(self):
        self.leopard(TINY, "Run/Sweep=gamma: 50, 100")
        before = self.started()
        said = self.leopard(TINY, "Run/Sweep=gamma: 50, 100, 200", "Run/Wall time=100", options=["--resume"])
        self.assertEqual(said.count("has finished before"), 2)
        after = self.started()
        for name, when in before.items():
            self.assertEqual(when, after[name])
        self.assertEqual(len(after), 3)
        self.assertIn("is not empty", self.leopard(TINY, "Run/Sweep=gamma: 50, 100", options=(), fails=True))
        self.leopard(TINY, "Run/Sweep=gamma: 1", options=["--overwrite"])
        self.assertEqual([path.name for path in (self.folder / "output/tiny_turing/runs").iterdir()], ["gamma=1"])

    def test_mesh_files_are_compared_by_content(self):
        shutil.copy(ROOT / "meshes/fish.msh", self.folder / "mesh.msh")
        settings = ["Discretization/Method=finite elements", "Mesh/Domain=file", "Mesh/Global refinements=0"]
        self.leopard(TINY, "Run/Sweep=gamma: 50", f"Mesh/File={self.folder}/mesh.msh", *settings)
        (self.folder / "moved").mkdir()
        moved = ["Run/Sweep=gamma: 50, 100", f"Mesh/File={self.folder}/moved/mesh.msh", *settings]
        shutil.copy(ROOT / "meshes/tail.msh", self.folder / "moved/mesh.msh")
        error = self.leopard(TINY, *moved, options=["--resume"], fails=True)
        self.assertIn("runs/gamma=50': the mesh file '", error)
        self.assertIn("has another content than that of the run had", error)
        shutil.move(self.folder / "mesh.msh", self.folder / "moved/mesh.msh")
        said = self.leopard(TINY, *moved, options=["--resume"])
        self.assertIn("gamma=50: has finished before", said)
        self.assertEqual([row["status"] for row in self.table()], ["finished", "finished"])

    def test_killed_and_resumed(self):
        settings = [*QUIET, "Run/Sweep=gamma: 100, 200, 300", "Run/Sweep runs at a time=1", "Time stepping/End time=0.4", "Mesh/Global refinements=3", "Run/Checkpoint steps=37", "Newton/Relative tolerance=1e-10"]
        self.leopard(TINY, *settings)
        reference = self.table()
        for how in (signal.SIGKILL, signal.SIGTERM):
            self.interrupt(settings, "gamma=200: starts", how)
            if how == signal.SIGTERM:
                self.assertIn(self.table()[1]["status"], ("stopped", "finished"))  # it may have been too fast
                self.assertEqual(self.table()[2]["status"], "not started")
            said = self.leopard(TINY, *settings, options=["--resume"])
            self.assertIn("gamma=100: has finished before", said)
            self.compare_with(reference, delta=1e-6)

    def test_groups_of_ranks_share_the_runs(self):
        self.leopard(TINY, VARIED)
        alone = self.table()
        for per_run in (1, 2):
            said = self.leopard(TINY, VARIED, f"Run/Sweep ranks per run={per_run}", "Run/Sweep runs at a time=1", ranks=2)
            self.assertIn(f"{2 // per_run} at a time", said)
            for one, two in zip(alone, self.table()):
                self.assertEqual(self.run_json_of(two)["ranks"], per_run)
                self.assertEqual((one["run"], one["status"]), (two["run"], two["status"]))
                for measure in ("mean of u", "maximum of v", "dominant wave number of u"):
                    self.assertAlmostEqual(float(one[measure]), float(two[measure]), delta=1e-5)
            log = (self.folder / "output/tiny_turing/log.txt").read_text()
            for row in self.table():
                self.assertEqual(log.count(f"{row['run'].replace('_', ', ')}: starts\n"), 1)
            self.assertFalse((self.folder / "output/tiny_turing/claims").exists())
        self.assertIn("a divisor of the number of ranks", self.leopard(TINY, VARIED, "Run/Sweep ranks per run=2", fails=True))

    def test_runs_side_by_side(self):
        """Threads of one process: the same results as one after the other, each run once, also with two ranks that share them."""
        host = "Linear solver/Backend=host"
        said = self.leopard(TINY, VARIED, "Run/Sweep runs at a time=1", host)
        self.assertIn("sweep of 6 runs, 1 at a time", said)
        alone = self.table()
        for settings, ranks, words in (((), 1, "sweep of 6 runs, 4 at a time"), (("Run/Sweep ranks per run=1",), 2, "sweep of 6 runs, 8 at a time, 4 on each of 2 ranks")):
            said = self.leopard(TINY, VARIED, "Run/Sweep runs at a time=4", host, *settings, ranks=ranks)
            self.assertIn(words, said)
            self.assertNotIn("warning", said)
            for one, two in zip(alone, self.table()):
                self.assertEqual((one["run"], one["status"]), (two["run"], two["status"]))
                for measure in one.keys() - {"run", "gamma", "kappa", "status", "seconds"}:
                    self.assertAlmostEqual(float(one[measure]), float(two[measure]), delta=1e-5 * max(1, abs(float(one[measure]))), msg=measure)
                self.assertEqual(said.count(f"{two['run'].replace('_', ', ')}: starts\n"), 1)
                self.assertEqual(said.count(f"{two['run'].replace('_', ', ')}: finished after"), 1)
                log = (self.folder / "output/tiny_turing/runs" / two["run"] / "log.txt").read_text()
                self.assertIn("time loop: fused, 1 host threads", log)  # of two, for four runs
            self.assertFalse((self.folder / "output/tiny_turing/claims").exists())
        many = ["Run/Sweep=gamma: 50, 60, 70", "Run/Sweep runs at a time=3", "Time stepping/End time=1", *QUIET]
        said = self.leopard(TINY, *many)
        self.assertLess(max(said.index(f"gamma={gamma}: starts") for gamma in (50, 60, 70)), min(said.index(f"gamma={gamma}: finished") for gamma in (50, 60, 70)))

    def test_what_cannot_run_side_by_side_says_so(self):
        sweep = "Run/Sweep=gamma: 50, 100"
        said = self.leopard(TINY, sweep, "Run/Sweep runs at a time=2", "Time stepping/Engine=general")
        self.assertIn("warning: 'Run/Sweep runs at a time' is 2, but only the fused time loop", said)
        self.assertIn("1 at a time", self.leopard(TINY, sweep, "Time stepping/Engine=general"))
        self.assertIn("'Run/Sweep runs at a time' is 2, but 2 ranks share a run", self.leopard(TINY, sweep, "Run/Sweep runs at a time=2", ranks=2, fails=True))
        self.assertIn("not used: 'Run/Sweep runs at a time' ('Run/Sweep' is empty)", self.leopard(TINY, "Run/Sweep runs at a time=2"))

    def test_side_by_side_the_pace_is_that_of_the_steps(self):
        """Runs that wait for the set-up of others are not too slow."""
        self.leopard(TINY, "Run/Sweep=gamma: 10, 20, 30, 40, 50, 60, 70, 80", "Run/Sweep runs at a time=8", "Time stepping/End time=0.1", "Mesh/Global refinements=5", "Run/Wall time=0.5",
                     "Run/Stop if too slow=true", *QUIET)
        self.assertEqual({row["status"] for row in self.table()}, {"finished"})

    def test_side_by_side_one_that_stops_ends_all(self):
        steps = ", ".join(["5e-7", *(f"{1e-3 * (1 + i / 100):g}" for i in range(60))])
        self.leopard(TINY, f"Run/Sweep=Step size: {steps}", "Run/Sweep runs at a time=2", "Time stepping/Step control=fixed", "Time stepping/End time=2", "Run/Wall time=0.5",
                     "Run/Stop if too slow=true", *QUIET)
        statuses = [row["status"] for row in self.table()]
        self.assertEqual(statuses[0], "stopped")
        self.assertEqual(statuses[-1], "not started")

    def test_sweeps_over_threads_are_one_at_a_time(self):
        self.assertIn("1 at a time", self.leopard(TINY, "Run/Sweep=Threads: 1, 2"))
        for threads in (1, 2):
            log = (self.folder / f"output/tiny_turing/runs/Threads={threads}/log.txt").read_text()
            self.assertIn(f"backend host, {threads} thread", log)

    # fails if choices are made for the ranks of the program and not for those of a run, or their errors have no place
    def test_choices_are_those_of_the_ranks_of_a_run(self):
        async_ = ["Time stepping/Engine=general", "Linear solver/Method=async"]
        sweep = ["Run/Sweep=gamma: 50, 100; Tuning time: 0, 0.1", *async_, *QUIET]
        error = self.leopard(TINY, *sweep, ranks=2, fails=True)
        self.assertIn("the run gamma=50, Tuning time=0.1 of the sweep: --set \"Linear solver/Tuning time=0.1\": "
                      "'Linear solver/Tuning time' is 0.1, but the program runs on 2 ranks", error)
        self.assertFalse((self.folder / "output").exists())
        self.leopard(TINY, *sweep, "Run/Sweep ranks per run=1", ranks=2)
        self.assertEqual({row["status"] for row in self.table()}, {"finished"})

    def test_side_by_side_stopped_and_resumed(self):
        settings = ["Run/Sweep=gamma: 100, 200, 300, 400", "Run/Sweep runs at a time=3", "Time stepping/End time=2", "Run/Checkpoint steps=500", "Newton/Relative tolerance=1e-8", *QUIET]
        self.leopard(TINY, *settings)
        reference = self.table()
        for how in (signal.SIGKILL, signal.SIGTERM):
            self.interrupt(settings, "gamma=300: starts", how)
            if how == signal.SIGTERM:
                self.assertLessEqual({row["status"] for row in self.table()}, {"stopped", "finished", "not started"})
                stopped = [row["run"] for row in self.table() if row["status"] == "stopped"]
                self.assertGreaterEqual(len(stopped), 2)  # the third may have been too early for a checkpoint
                self.assertGreaterEqual(len(list((self.folder / "output/tiny_turing/runs").glob("*/checkpoints/step_*"))), 2)
            self.leopard(TINY, *settings, options=["--resume"])
            self.compare_with(reference, delta=1e-5)

    def test_side_by_side_a_run_that_fails_does_not_stop_the_others(self):
        error = self.leopard(TINY, "Run/Sweep=Max steps: 1, 20, 21, 22", "Run/Sweep runs at a time=3", "Newton/Relative tolerance=1e-13", "Newton/Absolute tolerance=0",
                             "Turing/Perturbation=0.5", fails=True)
        self.assertIn("1 of 4 runs of the sweep failed:\n  Max steps=1: Newton's method does not converge", error)
        self.assertEqual([row["status"] for row in self.table()], ["failed", "finished", "finished", "finished"])

    def test_a_run_that_fails_does_not_stop_the_others(self):
        settings = ["Run/Sweep=Max steps: 1, 20", "Newton/Relative tolerance=1e-13", "Newton/Absolute tolerance=0", "Turing/Perturbation=0.5", "Linear solver/Method=direct"]
        for ranks in (1, 2):
            error = self.leopard(TINY, *settings, fails=True, ranks=ranks)
            self.assertIn("1 of 2 runs of the sweep failed:\n  Max steps=1: Newton's method does not converge", error)
            self.assertEqual([row["status"] for row in self.table()], ["failed", "finished"])
            self.assertRegex(self.log("tiny_turing").splitlines()[-1], "^ended; .*compares the runs")  # "finished" would look like success
        error = self.leopard(TINY, *settings, options=["--resume"], fails=True)
        self.assertIn("1 of 2 runs", error)
        self.assertIn("Max steps=20: has finished before", (self.folder / "output/tiny_turing/log.txt").read_text())

    def test_stationary_problems_and_words(self):
        file = FILES / "verification/laplace.prm"
        self.leopard(file, "Run/Sweep=Discretization/Method: finite elements, finite differences; Laplace/Coefficient: 1, if(x > 0.5, 2, 1)", "Verification/Refinements=1",
                     "Laplace/Source=1", "Laplace/Boundary values=*: 0")
        rows = self.table("laplace")
        self.assertEqual([(row["Discretization/Method"], row["Laplace/Coefficient"]) for row in rows],
                         [(m, c) for m in ("finite elements", "finite differences") for c in ("1", "if(x > 0.5, 2, 1)")])
        self.assertEqual(len({row["run"] for row in rows}), 4)
        self.assertGreater(float(rows[0]["maximum of u"]), float(rows[1]["maximum of u"]))
        for row in rows:
            self.assertRegex(row["run"], r"^[\w.+=-]+$")
            self.assertTrue((self.folder / "output/laplace/runs" / row["run"] / "solution.pvd").exists())
            self.assertGreater(float(row["L2 error"]), 0)

    def test_bad_input(self):
        cases = [(TINY, [f"Run/Sweep={sweep}"], says) for sweep, says in (("gama: 1", "there is no entry 'gama'; did you mean 'Turing/gamma'?"),
            ("Mesh/gamma: 1", "there is no entry 'Mesh/gamma'; it is known in section 'Turing'"),
            ("Method: cg, gmres", "one of 'Discretization/Method', 'Linear solver/Method'"),
            ("gamma 1, 2", "has the item 'gamma 1, 2'"),
            ("gamma:", "names no value"),
            ("gamma: 1,, 2", "names no value, or an empty one"),
            ("gamma: 1, 2, 1", "the value 1 of 'gamma' twice\n"),
            ("gamma: 1, 2, 2.0", "the value 2.0 of 'gamma' twice, first as 2\n"),
            ("gamma: 0.1, 2, 1/10", "the value 1/10 of 'gamma' twice, first as 0.1\n"),
            ("gamma: 3e2, 100*sin(0) + 300", "first as 3e2\n"),
            ("Adaptive: false, no", "the value no of 'Adaptive' twice, first as false\n"),
            ("gamma: 1; Turing/gamma: 2", "the entry 'Turing/gamma' twice"),
            ("Directory: a, b", "which all runs share"),
            ("gamma: 1; kappa: 5, -1", "the run gamma=1, kappa=-1 of the sweep"),
            ("Mesh/Adaptive: false, true", "the run Mesh/Adaptive=true of the sweep"))]
        self.invalid(cases)
        for _, settings, says in cases[::3]:  # a run finds the same
            error = self.leopard(TINY, *settings, options=(), fails=True)
            self.assertIn(says, error)
            self.assertEqual(error.count("leopard: "), 1, error)
        self.assertFalse((self.folder / "output").exists())
        self.assertIn("a sweep of 6 runs", self.leopard(TINY, VARIED, options=["--validate"]))

    def test_files_are_looked_at_before_the_first_run(self):
        """Those that a later run names, also in combinations that differ from the first one in several values."""
        points, cells, types, fields = plane(3, False)
        (self.folder / "good.vtu").write_bytes(vtu(points, cells, types, {"u": fields["u"], "v": fields["u"]}, ASCII))
        (self.folder / "half.vtu").write_bytes((self.folder / "good.vtu").read_bytes()[:300])
        (self.folder / "folder.msh").mkdir()
        shutil.copy(ROOT / "meshes/fish.msh", self.folder / "fish.msh")
        file = self.write("tiny.prm", TINY.read_text())
        start = "Turing/Initial values from"
        for sweep, run, says, more in (
                (f"{start}: good.vtu, gone.vtu", f"{start}=gone.vtu", "nothing of this name is there", []),
                (f"gamma: 50, 100; {start}: good.vtu, half.vtu", f"gamma=50, {start}=half.vtu", "is no whole XML file", []),
                ("Mesh/File: fish.msh, gone.msh", "Mesh/File=gone.msh", "gone.msh' cannot be read", ["Mesh/Domain=file", "Mesh/File=fish.msh", "Discretization/Method=finite elements"]),
                ("Mesh/File: fish.msh, folder.msh", "Mesh/File=folder.msh", "folder.msh' is a folder", ["Mesh/Domain=file", "Mesh/File=fish.msh", "Discretization/Method=finite elements"]),
                ("Time stepping/Engine: automatic, fused; Discretization/Mass matrix: lumped, consistent", "Time stepping/Engine=fused, Discretization/Mass matrix=consistent",
                 "this time loop cannot be used here", ["Discretization/Method=finite elements"])):
            self.assert_refused_before_the_first_run(file, sweep, run, says, more)

    def assert_refused_before_the_first_run(self, file, sweep, run, says, more):
        """And by --validate; `run` is the one of the sweep that cannot be."""
        with self.subTest(sweep):
            for options in ((), ("--validate",)):
                error = self.leopard(file, f"Run/Sweep={sweep}", *more, options=options, fails=True)
                self.assertIn(f"the run {run} of the sweep: ", error)
                self.assertIn(says, error)
                self.assertFalse((self.folder / "output").exists(), "something was written")

    def test_fields_of_files_are_looked_up_before_the_first_run(self):
        """Fields that are missing in a file, also in a piece that is not the first, do not cover the domain, or are not finite."""
        points, cells, types, fields = plane(3, False)
        u = fields["u"]
        write = lambda name, *text: (self.folder / name).write_bytes(vtu(*text, ASCII))
        write("good.vtu", points, cells, types, {"u": u, "v": u})
        write("only_u.vtu", points, cells, types, {"u": u, "w": u})
        write("nan.vtu", points, cells, types, {"u": u, "v": [*u[:5], float("nan"), *u[6:]]})
        small, *others, _ = plane(3, False, size=0.5)
        write("small.vtu", small, *others, {"u": u, "v": u})
        (self.folder / "pieces.pvtu").write_text('<VTKFile type="PUnstructuredGrid"><PUnstructuredGrid><Piece Source="good.vtu"/><Piece Source="only_u.vtu"/></PUnstructuredGrid></VTKFile>')
        file = self.write("tiny.prm", TINY.read_text())
        start = "Turing/Initial values from"
        image = [f"Turing/Images=old: {self.folder}/small.vtu: u", "Turing/Initial value u=1"]
        for sweep, run, says, more in (
                (f"{start}: good.vtu, pieces.pvtu", f"{start}=pieces.pvtu", "only_u.vtu' has no field 'v'", []),
                (f"{start}: good.vtu, small.vtu", f"{start}=small.vtu", "nodes of the mesh lie outside of its cells", []),
                (f"gamma: 50, 100; {start}: good.vtu, nan.vtu", f"gamma=50, {start}=nan.vtu", "where v is nan at (", []),
                ("Mesh/Upper corner: 1, 2", "Mesh/Upper corner=2", "nodes of the mesh lie outside of its cells", [f"{start}=good.vtu"]),
                ("Mesh/Upper corner: 0.5, 1", "Mesh/Upper corner=1", "nodes of the mesh lie outside of its cells", [*image, "Turing/gamma=50*old"])):
            self.assert_refused_before_the_first_run(file, sweep, run, says, more)
        large = ["Mesh/Global refinements=0", "Mesh/Cells=1200", "Discretization/Method=finite differences"]
        self.leopard(file, f"{start}=good.vtu", *large, options=["--validate"])  # at some of its nodes
        self.assertIn("outside of its cells", self.leopard(file, f"{start}=small.vtu", *large, options=["--validate"], fails=True))

    def test_contact_sheet(self):
        try:
            import PIL.Image
            import vtk
        except ImportError as error:
            self.skipTest(str(error))
        if not shutil.which("Xvfb") and vtk.vtkRenderWindow().GetClassName() == "vtkXOpenGLRenderWindow":
            self.skipTest("no Xvfb")

        def sheet(*arguments, code=0):
            result = subprocess.run([sys.executable, ROOT / "scripts/contact_sheet", "output/tiny_turing", "--size", "100", *arguments], cwd=self.folder, capture_output=True, text=True,
                                    check=False)
            self.assertEqual(result.returncode, code, result.stdout + result.stderr)
            self.assertNotIn("Traceback", result.stderr)
            return result.stderr

        self.assertIn("no sweep.csv", sheet(code=1))
        self.leopard(TINY, VARIED)
        shutil.rmtree(self.folder / "output/tiny_turing/runs/gamma=50_kappa=10")  # a run that has not been done has an empty place
        sheet("--common-range")
        picture = PIL.Image.open(self.folder / "output/tiny_turing/contact_sheet.png")
        self.assertGreater(picture.height, 3 * 100)  # three values of gamma below each other, two of kappa side by side
        self.assertGreater(picture.width, 2 * 100)
        self.assertLess(picture.width, 3 * 100)
        self.assertEqual(picture.getpixel((5 + 105 + 60, 20)), (0xdd, 0xdd, 0xdd))
        self.assertGreater(len(set(picture.crop((10, 10, 100, 100)).getdata())), 50)
        self.assertIn("there: u, v", sheet("--field", "w", code=1))


if __name__ == "__main__":
    import unittest
    unittest.main()
