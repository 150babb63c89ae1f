# SPDX-License-Identifier: Apache-2.0
"""--resume: what may change takes effect, what may not is named with both values before anything is touched."""
import json
import re
import shutil

from program import FILES, ROOT, Program

TINY = ROOT / "tests/output/tiny_turing.prm"
ELEMENTS = "Discretization/Method=finite elements"


class Resume(Program):
    def content(self, name="tiny_turing"):
        folder = self.folder / "output" / name
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "lock"}

    def refused(self, file, *settings, says, name="tiny_turing"):
        """The program refuses to go on and leaves everything as it was."""
        before = self.content(name)
        error = self.leopard(file, *settings, options=["--resume"], fails=True)
        for text in says:
            self.assertIn(text, error)
        self.assertEqual(error.count("leopard: "), 1, error)
        self.assertEqual(before, self.content(name), f"{settings} changed the run directory")

    def test_what_the_checkpoint_was_made_with_may_not_change(self):
        self.leopard(TINY, ELEMENTS)
        for setting, before in (("Mesh/Domain=ball", "hypercube"), ("Mesh/Cells=3", "1"), ("Mesh/Upper corner=2", "1"), ("Dimension=3", "2"), ("Mesh/Global refinements=5", "4"),
                                ("Discretization/Degree=2", "1"), ("Discretization/Mass matrix=consistent", "lumped"), ("Turing/Kinetics=Brusselator", "Schnakenberg"),
                                ("Turing/Initial value u=x", "0"), ("Turing/Perturbation=0.06", "0.05"), ("Problem=laplace", "turing")):
            entry, now = setting.split("=")
            self.refused(TINY, ELEMENTS, setting, "Time stepping/End time=4e-3", says=[f"'{entry}' is {now}, and was {before}", "--overwrite"])
        # all mistakes at once
        self.refused(TINY, ELEMENTS, "Mesh/Cells=3", "Mesh/Upper corner=2", says=["'Mesh/Cells'", "'Mesh/Upper corner'"])
        self.refused(TINY, ELEMENTS, "Time stepping/End time=1e-3", says=["'Time stepping/End time' is 1e-3, and was 3e-3", "the run is at time 0.003"])

    def test_the_ceiling_of_steps_goes_on(self):
        """A step so long that Newton's method fails is not tried again soon, whether the run was resumed meanwhile or not."""
        settings = ["Time stepping/Engine=general", "Time stepping/Step control=error-controlled", "Time stepping/Error tolerance=1", "Newton/Max steps=3", "Newton/Relative tolerance=1e-12", "Newton/Error fraction=0",
                    "Output/Interval=0", "Linear solver/Method=direct", "Run/Checkpoint steps=8", "Time stepping/End time=0.5"]
        self.leopard(TINY, *settings, "Run/Directory=output/whole")
        shutil.copytree(self.folder / "output/whole", self.folder / "output/tiny_turing")
        shutil.rmtree(self.folder / f"output/tiny_turing/checkpoints/step_{self.checkpoints('whole')[-1]:09d}")  # of the end
        state = json.loads((self.folder / f"output/tiny_turing/checkpoints/step_{self.checkpoints('tiny_turing')[-1]:09d}/metadata.json").read_text())
        self.assertLess(state["step_ceiling"], 1.6 * state["next_step_size"], "it should be what holds the second step back")
        self.leopard(TINY, *settings, options=["--resume"])
        whole, resumed = self.statistics("whole")[1], self.statistics("tiny_turing")[1]
        self.assertGreater(len(resumed), state["step"] + 2)
        for one, two in zip(whole, resumed):
            for a, b in zip(one[:3], two[:3]):  # step, time, step size
                self.assertAlmostEqual(a, b, delta=1e-6 * abs(a))

    def test_fields_that_are_gone_are_said(self):
        self.leopard(TINY)
        said = self.leopard(TINY, "Time stepping/End time=4e-3", options=["--resume"])
        self.assertNotIn("that are not there", said)
        shutil.rmtree(self.folder / "output/tiny_turing/solution")
        said = self.leopard(TINY, "Time stepping/End time=5e-3", options=["--resume"])
        self.assertRegex(said, r"warning: .*solution\.pvd names (\d+) of \1 files that are not there, the first is solution/solution_0000000\.pvtu")

    def test_a_damaged_line_is_found_before_the_run_is_said_to_go_on(self):
        self.leopard(TINY)
        pvd = self.folder / "output/tiny_turing/solution.pvd"
        pvd.write_text(pvd.read_text().replace('timestep="', 'timestep="<', 1))
        result = self.run_command(self.command(TINY, "Time stepping/End time=4e-3", options=["--resume"]))
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(result.stderr.count("is damaged"), 1)
        self.assertNotIn("resumed at step", result.stdout)
        pvd.write_text(pvd.read_text().replace('timestep="<', 'timestep="'))
        self.assertIn("resumed at step", self.leopard(TINY, "Time stepping/End time=4e-3", options=["--resume"]))

    def test_values_are_compared_and_not_text(self):
        self.leopard(TINY)
        text = re.sub(r"set Step size.*\n", "", TINY.read_text()).replace("set Step control", "set Step size = 0.001 # the same\n  set Step control")
        said = self.leopard(self.write("tiny_turing.prm", text), "Mesh/Upper corner=1.0, 1", "Turing/Perturbation=5e-2", "Turing/Initial value u=0.0", "Mesh/Radius=7",
                            "Time stepping/End time=4e-3", options=["--resume"])
        self.assertIn("changed on resume: 'Time stepping/End time' from 3e-3 to 4e-3\n", said)

    def test_what_automatic_has_chosen_may_be_written_out(self):
        self.leopard(TINY, "Discretization/Method=automatic")
        self.refused(TINY, "Discretization/Method=finite elements", "Time stepping/End time=4e-3", says=["'Discretization/Method' is finite elements, and was automatic"])
        said = self.leopard(TINY, "Discretization/Method=finite differences", "Time stepping/End time=4e-3", options=["--resume"])
        self.assertIn("changed on resume: 'Time stepping/End time' from 3e-3 to 4e-3\n", said)
        self.leopard(TINY, "Discretization/Method=automatic", "Time stepping/End time=5e-3", options=["--resume"])

    def test_changes_take_effect_and_are_remembered(self):
        self.leopard(TINY)
        for end, setting, entry in (("4e-3", "Turing/gamma=50", "Turing/gamma"), ("5e-3", "Turing/Source u=1000", "Turing/Source u"), ("6e-3", "Turing/kappa=2", "Turing/kappa")):
            shutil.rmtree(self.folder / "other", ignore_errors=True)
            shutil.copytree(self.folder / "output/tiny_turing", self.folder / "other")
            settings = [f"Time stepping/End time={end}", "Turing/gamma=50"]
            if end != "4e-3":
                settings.append("Turing/Source u=1000")
            without = [s for s in settings if not s.startswith(entry)]
            self.leopard(TINY, *without, "Run/Directory=other", options=["--resume"])
            said = self.leopard(TINY, *without, setting, options=["--resume"])
            self.assertIn(f"'{entry}' from ", said)
            rows = self.statistics("tiny_turing")[1]
            other = [float(word) for word in (self.folder / "other/statistics").read_text().splitlines()[-1].split()]
            self.assertEqual(rows[-1][0], other[0])
            self.assertGreater(max(abs(a - b) / abs(b) for a, b in zip(rows[-1][10:16], other[10:16])), 1e-6, setting)
        changes = self.run_json("tiny_turing")["changed_on_resume"]
        self.assertEqual([(c["step"], c["entry"], c["before"], c["now"]) for c in changes if c["entry"] != "Time stepping/End time"],
                         [(3, "Turing/gamma", "100", "50"), (4, "Turing/Source u", "", "1000"), (5, "Turing/kappa", "10", "2")])

    def test_a_new_step_size_takes_effect_in_both_loops(self):
        for engine in ("general", "fused"):
            self.leopard(TINY, f"Time stepping/Engine={engine}")
            for end, step, settings in (("5e-3", 5e-4, ["Time stepping/Step size=5e-4"]),
                                        ("7e-3", 2e-4, ["Time stepping/Step control=multiple of h^2", "Time stepping/Step factor=0.0512"]),
                                        ("8e-3", 1e-4, ["Time stepping/Step control=error-controlled", "Time stepping/Step size=1e-4", "Time stepping/Error tolerance=0.9"]),
                                        ("9e-3", 5e-5, ["Time stepping/Step control=error-controlled", "Time stepping/Step size=5e-5", "Time stepping/Largest step=5e-5"])):
                n = len(self.statistics("tiny_turing")[1])
                self.leopard(TINY, f"Time stepping/Engine={engine}", f"Time stepping/End time={end}", *settings, options=["--resume"])
                rows = self.statistics("tiny_turing")[1]
                self.assertAlmostEqual(rows[n][2] / step, 1, delta=1e-9, msg=f"{engine} {settings}")
                self.assertAlmostEqual(rows[-1][1], float(end), delta=1e-12)

    def test_error_controlled_steps_go_on_as_they_were(self):
        settings = ["Time stepping/Step control=error-controlled", "Time stepping/Step size=1e-4"]
        self.leopard(TINY, *settings, "Time stepping/End time=0.02")
        n = len(self.statistics("tiny_turing")[1])
        self.leopard(TINY, *settings, "Time stepping/End time=0.1", options=["--resume"])
        self.assertGreater(self.statistics("tiny_turing")[1][n][2], 1.2e-4)

    def test_no_checkpoint_can_be_used(self):
        self.leopard(TINY, ELEMENTS)
        for metadata in (self.folder / "output/tiny_turing/checkpoints").glob("*/metadata.json"):
            metadata.write_text(metadata.read_text().replace('"format": 1', '"format": "x"'))
        self.refused(TINY, ELEMENTS, "Time stepping/End time=4e-3", says=["can be used"])

    def test_a_fixed_step_longer_than_what_is_left(self):
        self.leopard(TINY, ELEMENTS)
        self.refused(TINY, ELEMENTS, "Time stepping/End time=4e-3", "Time stepping/Step size=2e-3", says=["fixed step size"])

    def test_another_scheme_takes_effect(self):
        for engine in ("general", "fused"):
            self.leopard(TINY, f"Time stepping/Engine={engine}")
            for end, scheme in ((4, "SBDF2"), (5, "implicit Euler"), (6, "BDF2")):
                said = self.leopard(TINY, f"Time stepping/Engine={engine}", f"Time stepping/End time={end}e-3", f"Time stepping/Scheme={scheme}", options=["--resume"])
                self.assertIn(f" by {scheme}, dt = 0.001", said)
                self.assertEqual(self.statistics("tiny_turing")[1][-1][0], end)

    def test_another_content_of_the_mesh_file(self):
        shutil.copy(ROOT / "meshes/fish.msh", self.folder / "mesh.msh")
        settings = [ELEMENTS, "Mesh/Domain=file", f"Mesh/File={self.folder}/mesh.msh", "Mesh/Global refinements=0"]
        self.leopard(TINY, *settings)
        (self.folder / "moved").mkdir()
        shutil.move(self.folder / "mesh.msh", self.folder / "moved/mesh.msh")
        moved = [*settings[:2], f"Mesh/File={self.folder}/moved/mesh.msh", settings[3], "Time stepping/End time=4e-3"]
        self.leopard(TINY, *moved, options=["--resume"])  # the same content elsewhere
        shutil.copy(ROOT / "meshes/tail.msh", self.folder / "moved/mesh.msh")
        self.refused(TINY, *moved, says=["has another content"])

    def test_a_checkpoint_that_does_not_say_with_what_it_was_made(self):
        self.leopard(TINY)
        for path in (self.folder / "output/tiny_turing/checkpoints").glob("*/metadata.json"):
            metadata = json.loads(path.read_text())
            del metadata["parameters"]
            path.write_text(json.dumps(metadata))
        self.refused(TINY, says=["does not say with which parameters it was made"])


class ResumeStationary(Resume):
    FILE = FILES / "verification/adaptive_l_shape.prm"
    NAME = "adaptive_l_shape"

    def test_one_table_has_one_problem(self):
        self.leopard(self.FILE, "Mesh/Adaptive cycles=2")
        first = self.run_json(self.NAME)["cycles"]
        for setting in ("Laplace/Source=1000", "Laplace/Coefficient=2", "Laplace/Exact solution=x", "Laplace/Boundary values=*: 1", "Mesh/Refine fraction=0.5", "Discretization/Degree=2",
                        "Mesh/Global refinements=4", "Mesh/Adaptive=false"):
            self.refused(self.FILE, "Mesh/Adaptive cycles=3", setting, says=[f"'{setting.split('=')[0]}' is {setting.split('=')[1]}, and was "], name=self.NAME)
        self.refused(self.FILE, "Mesh/Adaptive cycles=1", says=["'Mesh/Adaptive cycles' is 1, and was 2, but the run has done 2 of its cycles"], name=self.NAME)
        said = self.leopard(self.FILE, "Mesh/Adaptive cycles=3", "Linear solver/Relative tolerance=1e-11", options=["--resume"])
        self.assertIn("'Linear solver/Relative tolerance' from ", said)
        cycles = self.run_json(self.NAME)["cycles"]
        self.assertEqual(cycles[:2], first)
        self.assertEqual(len(cycles), 3)
        self.leopard(self.FILE, "Mesh/Adaptive cycles=3", "Linear solver/Relative tolerance=1e-11", options=["--resume"])
        self.assertEqual(self.run_json(self.NAME)["cycles"], cycles, "lost by a start with nothing to do")

    def test_constants_are_compared_by_their_values(self):
        text = "set Problem = laplace\nsubsection Laplace\n set Constants = k: 2, c: 10*k\n set Source = c*x + k\nend\nsubsection Mesh\n set Global refinements = 2\n set Adaptive = true\n set Adaptive cycles = 2\nend\n"
        file = self.write("constants.prm", text)
        self.leopard(file)
        for constants in ("c: 20, k: 4/2", "k: 2.0, c: 20"):
            self.assertNotIn("changed on resume", self.leopard(file, f"Laplace/Constants={constants}", options=["--resume"]))
        for constants in ("k: 2, c: 21", "k: 2, c: 20, d: 1"):
            self.refused(file, f"Laplace/Constants={constants}", says=["'Laplace/Constants' is " + constants], name="constants")

    def test_convergence_study(self):
        file = FILES / "verification/laplace.prm"
        self.leopard(file, "Verification/Refinements=1")
        self.refused(file, "Verification/Refinements=2", "Laplace/Source=1000", says=["'Laplace/Source' is 1000, and was 2*pi^2"], name="laplace")
        self.leopard(file, "Verification/Refinements=2", options=["--resume"])
        self.assertEqual(len(self.run_json("laplace")["cycles"]), 3)
        self.assertEqual(len(self.convergence("laplace")), 3)


class ResumeSweeps(Resume):
    def test_one_table_has_one_set_of_parameters(self):
        sweep = "Run/Sweep=gamma: 50, 100"
        self.leopard(TINY, sweep)
        for setting in ("Turing/kappa=12", "Mesh/Global refinements=3", "Newton/Relative tolerance=1e-5"):
            entry, now = setting.split("=")
            self.refused(TINY, "Run/Sweep=gamma: 50, 100, 200", setting, says=[f"runs/gamma=50': '{entry}' is {now}, and was ", "--overwrite"])
        # what says where, by whom and how far may change
        said = self.leopard(TINY, sweep, "Linear solver/Threads=1", "Output/Interval=0", "Time stepping/End time=4e-3", options=["--resume"])
        self.assertEqual(said.count(": goes on"), 2)
        for gamma in (50, 100):
            run = json.loads((self.folder / f"output/tiny_turing/runs/gamma={gamma}/run.json").read_text())
            self.assertIn("Time stepping/End time", [change["entry"] for change in run["changed_on_resume"]])
        said = self.leopard(TINY, sweep, "Time stepping/End time=4e-3", options=["--resume"])
        self.assertEqual(said.count("has finished before"), 2)


if __name__ == "__main__":
    import unittest
    unittest.main()
