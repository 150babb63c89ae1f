# SPDX-License-Identifier: Apache-2.0
"""What the program does with files that are there: its own, other people's, damaged ones; and with disks that are full."""
import json
import os
import pathlib
import re
import shutil
import subprocess

from program import FILES, LEOPARD, ROOT, Program

TINY = ROOT / "tests/output/tiny_turing.prm"
LAPLACE = FILES / "verification/laplace.prm"
CHECKPOINTS = "Run/Checkpoint steps=1"


def content(folder):
    """All files below a folder, links not followed, with what is in them."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()}


class RunDirectories(Program):
    def setUp(self):
        super().setUp()
        self.run_directory = self.folder / "output/tiny_turing"

    def rejected(self, *settings, says, options=("--overwrite",), file=TINY, ranks=1):
        """The run fails, says why, and whatever was there before (but the lock) is there as it was."""
        before = content(self.folder)
        error = self.leopard(file, *settings, options=options, fails=True, ranks=ranks)
        after = content(self.folder)
        for path in set(before) ^ set(after):
            self.assertEqual(pathlib.Path(path).name, "lock")
        for path in set(before) & set(after):
            self.assertTrue(before[path] == after[path] or path.endswith("lock"), path)
        self.assertIn(says, error)

    def test_a_folder_of_somebody_else_is_refused(self):
        for name in ("parameters.prm", "figures/1.png", "pictures/2.png", "runs/a/b.txt", "solution/solution_0000000.pvtu", "log.txt", "manifest.txt"):
            path = self.folder / "thesis" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("precious")
        self.rejected("Run/Directory=thesis", says="holds no run of Leopard (no manifest.txt and run.json that say so), but 'figures', 'log.txt', 'manifest.txt', 'parameters.prm'")
        self.rejected("Run/Directory=thesis", says="no run to resume", options=["--resume"])
        (self.folder / "thesis/run.json").write_text('{"my": "file"}')
        self.rejected("Run/Directory=thesis", says="holds no run of Leopard")
        self.assertFalse((self.folder / "thesis/lock").exists())

    def test_names_of_folders_and_the_shell(self):
        """A folder called ~ was made here; commands of the log did not work for names with blanks."""
        self.rejected("Run/Directory=~/mine", says="'Run/Directory' is ~/mine, and a folder called ~ would be made here")
        self.assertFalse((self.folder / "~").exists())
        said = self.leopard(TINY, "Run/Directory=it's mine/1", "Time stepping/End time=1e-3")
        self.assertIn("scripts/render 'it'\\''s mine/1' draws pictures", said)

    def test_places_beyond_single_precision_are_said(self):
        """Of 33 places in a direction files for ParaView had 17 distinct ones, without a word."""
        said = self.leopard(LAPLACE, "Mesh/Domain=box", "Mesh/Lower corner=1e6, 0", "Mesh/Upper corner=1000001, 1", "Verification/Refinements=0", "Laplace/Coefficient=1", "Laplace/Source=1", "Laplace/Boundary values=*: 0", "Laplace/Exact solution=")
        self.assertIn("and up to 1e+06 from the origin: the files for ParaView hold places in single precision", said)
        self.assertNotIn("places in single precision", self.leopard(TINY, "Time stepping/End time=1e-3"))

    def test_overwrite_deletes_what_the_run_has_written_and_nothing_else(self):
        self.leopard(TINY, CHECKPOINTS)
        own = set(content(self.run_directory))
        foreign = ["notes.txt", "convergence.txt", "figures/1.png", "solution/solution_1.vtu", "checkpoints/step_old/a", "checkpoints/step_000000003/mine", "runs/mine/run.json"]
        for name in foreign:
            path = self.run_directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("precious")
        said = self.leopard(TINY, "Time stepping/End time=1e-3")
        self.assertIn("Leopard has not written, and it stays: 'checkpoints/', 'convergence.txt', 'figures/', 'notes.txt', 'runs/', 'solution/'", said)
        self.assertIn("and it stays: 'checkpoints/'", (self.run_directory / "log.txt").read_text())
        for name in foreign:
            self.assertEqual((self.run_directory / name).read_text(), "precious", name)
        now = set(content(self.run_directory))
        self.assertIn("solution/solution_0000003.pvtu", own)
        self.assertIn("checkpoints/step_000000003/mesh_fixed.data", own)
        self.assertFalse({"solution/solution_0000003.pvtu", "solution/solution_0000003.0000.vtu", "checkpoints/step_000000003/mesh_fixed.data"} & now)
        listed = (self.run_directory / "manifest.txt").read_text().splitlines()
        self.assertEqual(len(listed), len(set(listed)))
        for name in now - set(foreign) - {"lock", "manifest.txt"}:
            self.assertTrue(name in listed or name.rsplit("/", 1)[0] + "/" in listed, name)

    def test_overwrite_looks_at_boundary_fluxes_first(self):
        """As at values, sources, coefficients and initial values."""
        file = FILES / "verification/laplace.prm"
        settings = ["Verification/Refinements=0", "Laplace/Exact solution=", "Laplace/Boundary values=1: 1"]
        self.leopard(file, *settings)
        run = self.folder / "output/laplace"
        before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file() and path.name != "lock"}
        for ranks in (1, 2):
            error = self.leopard(file, *settings, "Laplace/Boundary fluxes=0: 1/x", options=["--overwrite"], ranks=ranks, fails=True)
            self.assertRegex(error, r"the expression '1/x' of the entry 'Laplace/Boundary fluxes, boundary 0' is inf at \(0, [\d.]+\) and t = 0")
            self.assertEqual(before, {path: path.read_bytes() for path in run.rglob("*") if path.is_file() and path.name != "lock"})

    def test_links_are_not_followed(self):
        self.leopard(TINY)
        outside = self.folder / "outside"
        for folder in ("solution", "checkpoints/step_000000003"):
            shutil.move(self.run_directory / folder, outside / folder)
            (self.run_directory / folder).symlink_to(outside / folder)
        (self.run_directory / "statistics").unlink()
        (self.run_directory / "statistics").symlink_to(outside / "mine")
        (outside / "mine").write_text("precious")
        before = content(outside)
        self.rejected(says="is a symbolic link")
        (self.run_directory / "solution").unlink()
        self.assertIn("is there already", self.leopard(TINY, "Time stepping/End time=1e-3", fails=True))
        (self.run_directory / "statistics").unlink()
        self.leopard(TINY, "Time stepping/End time=1e-3")
        self.assertEqual(content(outside), before)
        self.assertTrue((self.run_directory / "checkpoints/step_000000003").is_symlink())

    def test_the_old_run_stays_until_all_has_been_checked(self):
        self.leopard(TINY)
        for settings, says in ((["Turing/Initial value v=log(x)"], "is -inf at (0, 0) and t = 0"), (["Mesh/Domain=file", "Mesh/File=no.msh", "Discretization/Method=finite elements"], "cannot be read"),
                               (["Mesh/Global refinements=20"], "can count"), (["Turing/gama=3"], "did you mean"),
                               (["Turing/Source u=1/(x-x)"], "finite"), (["Time stepping/Engine=fused", "Newton/Forcing=fixed iterations"], "cannot be used here")):
            self.rejected(*settings, says=says)
        self.assertEqual(self.run_json("tiny_turing")["status"], "finished")

    def test_what_has_no_list_is_not_deleted(self):
        """A folder of the user's with runs in runs/, as sweeps have them."""
        self.leopard(TINY, "Run/Directory=mine/runs/a")
        mine = self.folder / "mine"
        (mine / "statistics").write_text("precious")
        (mine / "solution").mkdir()
        (mine / "solution/solution_0000001.0000.vtu").write_text("precious")
        for option in ("--overwrite", "--resume"):
            before = content(mine)
            self.leopard(TINY, "Run/Directory=mine", options=[option], fails=True)
            self.assertEqual(content(mine), before)

    def test_own_runs_beside_those_of_a_sweep_stay(self):
        self.leopard(TINY)
        self.leopard(TINY, "Run/Directory=output/tiny_turing/runs/own", options=[])
        self.leopard(TINY, "Run/Sweep=gamma: 50")
        self.assertTrue((self.run_directory / "runs/own/run.json").exists())

    def test_a_file_of_a_name_that_is_to_be_written(self):
        self.leopard(TINY)
        def rejected(name, *settings, file=TINY):
            path = self.run_directory / name
            path.write_text("precious")
            self.rejected(*settings, says=path.name, file=file)
            path.unlink()

        rejected("sweep.txt", "Run/Sweep=gamma: 50")
        rejected("convergence.csv", "Verification/Refinements=1", "Turing/Exact solution u=1", "Turing/Exact solution v=1")
        rejected("solution/solution_0000007.pvtu")
        rejected("convergence.txt", "Run/Directory=output/tiny_turing", file=LAPLACE)
        rejected("study.txt", "Study=smoothers", "Smoother study/Stencil=5-point", "Smoother study/Sizes=15", "Smoother study/Smoothers=jacobi", "Smoother study/Repetitions=1")
        self.leopard(LAPLACE, "Verification/Refinements=1", "Run/Directory=output/tiny_turing")
        rejected("statistics")
        self.leopard(TINY)

    def test_bad_sweeps_are_found_before_anything_is_deleted(self):
        self.leopard(TINY, "Run/Sweep=gamma: 100, 200")
        for ranks in (1, 2):
            for sweep, says in (("Initial value u: 1, log(x)", "the run Initial value u=log(x) of the sweep: "), ("gamma: 1; Source u: 1/(x-x)", "finite"),
                                ("gamma: 1, 2; Engine: automatic, fused; Forcing: fixed iterations", "the run gamma=1, Engine=fused, Forcing=fixed iterations")):
                self.rejected(f"Run/Sweep={sweep}", "Run/Sweep ranks per run=1", says=says, ranks=ranks)
        (self.run_directory / "runs/gamma=100/notes.txt").write_text("precious")
        self.rejected("Run/Sweep=gamma: 50, 100", says="notes.txt")
        self.assertEqual(self.run_json("tiny_turing")["status"], "finished")

    def test_links_to_runs_are_not_followed(self):
        self.leopard(TINY, "Run/Directory=precious")
        self.leopard(TINY, "Run/Sweep=gamma: 50")
        shutil.rmtree(self.run_directory / "runs/gamma=50")
        (self.run_directory / "runs/gamma=50").symlink_to(self.folder / "precious")
        before = content(self.folder / "precious")
        self.leopard(TINY, "Run/Sweep=gamma: 50", fails=True)
        self.assertEqual(content(self.folder / "precious"), before)

    def test_a_sweep_and_a_single_run_do_not_go_on_as_each_other(self):
        self.leopard(TINY)
        before = self.run_json("tiny_turing")
        self.assertIn("a single run, and a sweep", self.leopard(TINY, "Run/Sweep=gamma: 50", options=["--resume"], fails=True))
        self.assertEqual(self.run_json("tiny_turing"), before)
        self.leopard(TINY, "Run/Sweep=gamma: 50")
        self.assertIn("a sweep, and a single run", self.leopard(TINY, options=["--resume"], fails=True))

    def test_sweeps(self):
        self.leopard(TINY, "Run/Sweep=gamma: 50, 100")
        (self.run_directory / "runs/gamma=50/notes.txt").write_text("precious")
        error = self.leopard(TINY, "Run/Sweep=gamma: 100; Initial value u: log(x)", "Run/Directory=new", options=[], fails=True)
        self.assertIn("1 of 1 runs of the sweep failed", error)
        self.assertIn("failed", (self.folder / "new/sweep.txt").read_text())
        self.leopard(TINY, "Run/Sweep=gamma: 100, 200")
        self.assertEqual(content(self.run_directory / "runs/gamma=50"), {"notes.txt": b"precious"})
        for gamma in (100, 200):
            self.assertEqual(json.loads((self.run_directory / f"runs/gamma={gamma}/run.json").read_text())["status"], "finished")
        self.assertEqual(self.run_json("tiny_turing")["status"], "finished")
        self.leopard(TINY)
        self.assertEqual(set(content(self.run_directory / "runs")), {"gamma=50/notes.txt"})

    def test_names_that_are_no_utf_8(self):
        name = os.fsdecode(b"r\xe9sultats")  # Latin-1
        for settings, option in (([], "--overwrite"), (["Time stepping/End time=4e-3"], "--resume")):
            result = subprocess.run(self.command(TINY, f"Run/Directory={name}", *settings, options=[option]), cwd=self.folder, capture_output=True, timeout=1200, check=False)
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads((self.folder / name / "run.json").read_text())["status"], "finished")


class PictureLists(Program):
    """solution.pvd on resume."""
    # 12 digits of 4/6000 and of 7/6000, where the run is interrupted, are larger than the numbers
    SETTINGS = ["Time stepping/Step size=0.00016666666666666666", "Output/Interval=0.00016666666666666666", CHECKPOINTS]

    def entries(self):
        return [line.split('"')[1::2][0::3] for line in (self.folder / "output/tiny_turing/solution.pvd").read_text().splitlines() if "<DataSet" in line]

    def test_no_entry_is_lost_or_double(self):
        self.leopard(TINY, *self.SETTINGS, "Time stepping/End time=1.5e-3")
        reference = self.entries()
        self.assertEqual([file for _, file in reference], [f"solution/solution_{step:07}.pvtu" for step in range(10)])
        for end, option in (("0.00066666666666666664", "--overwrite"), ("0.0011666666666666668", "--resume"), ("1.5e-3", "--resume")):
            self.leopard(TINY, *self.SETTINGS, f"Time stepping/End time={end}", options=[option])
        self.assertEqual([file for _, file in self.entries()], [file for _, file in reference])
        for (one, _), (two, _) in zip(self.entries(), reference):
            self.assertAlmostEqual(float(one), float(two), delta=1e-15)

    def test_damage_is_named(self):
        self.leopard(TINY, *self.SETTINGS, "Time stepping/End time=5e-4")
        pvd = self.folder / "output/tiny_turing/solution.pvd"
        whole = pvd.read_text()
        for damaged, says in ((whole.replace('timestep="0.000', 'timestep="zero', 1), "solution.pvd:5: the line"), (whole[:whole.index("</VTK")], "the end of the file is missing"),
                              (whole.replace('    <DataSet timestep="0.000', "    <DataS\0\0\0\0", 1), "solution.pvd:5: the line"), (whole.replace("<Collection>", "<Collection>\nnonsense"), "solution.pvd:4: the line")):
            pvd.write_text(damaged)
            statistics = (self.folder / "output/tiny_turing/statistics").read_bytes()
            error = self.leopard(TINY, *self.SETTINGS, "Time stepping/End time=1e-3", options=["--resume"], fails=True)
            self.assertIn(says, error)
            self.assertIn("expected: ", error)
            self.assertEqual((self.folder / "output/tiny_turing/statistics").read_bytes(), statistics)
        pvd.unlink()
        self.leopard(TINY, *self.SETTINGS, "Time stepping/End time=1e-3", options=["--resume"])


class FullDisks(Program):
    """Wherever the room ends: one message, an exit code, and what was there before is whole."""
    SETTINGS = [CHECKPOINTS, "Mesh/Global refinements=5"]

    def mount(self, kilobytes):
        disk = self.folder / f"disk{kilobytes}"
        disk.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(disk)], capture_output=True, check=False).returncode:
            self.skipTest("mounting a small disk is not permitted here")
        self.addCleanup(subprocess.run, ["umount", str(disk)], check=True)
        return disk

    def check(self, kilobytes, ranks=1):
        disk = self.mount(kilobytes)
        settings = [*self.SETTINGS, f"Run/Directory={disk}/run"]
        result = subprocess.run(self.command(TINY, *settings, ranks=ranks), cwd=self.folder, capture_output=True, text=True, timeout=1200, check=False)
        self.assertEqual(result.returncode, 1, f"{kilobytes} kB: {result.stderr}")
        self.assertIn("no room on the disk", result.stderr)
        for needed, free in re.findall(r"it needs (\d+) bytes, (\d+) are free", result.stderr):
            self.assertLess(int(free), int(needed), "is no reason")
        self.assertEqual(result.stderr.count("leopard: "), 1)
        self.assertNotIn("Signal", result.stderr)
        self.assertEqual(list(disk.rglob(".leopard-*")), [])
        run = disk / "run"
        if (run / "run.json").exists():
            self.assertRegex(json.loads((run / "run.json").read_text())["status"], "^failed: .*no room on the disk")
        self.assertEqual(list(run.glob("checkpoints/*.tmp")), [])
        for text in ("log.txt", "statistics"):
            if (run / text).exists():
                self.assertRegex((run / text).read_bytes(), rb"\A\Z|\n\Z", text)  # whole lines, if any
        if (run / "solution.pvd").exists():
            for entry in (run / "solution.pvd").read_text().splitlines():
                if "<DataSet" in entry:
                    self.assertTrue((run / entry.split('"')[-2]).read_text().endswith("</VTKFile>\n"), entry)
        checkpoints = sorted(run.glob("checkpoints/step_?????????"))
        subprocess.run(["mount", "-o", "remount,size=4m", str(disk)], check=True)
        said = self.leopard(TINY, *settings, options=["--resume" if (run / "run.json").exists() else "--overwrite"], ranks=ranks)
        self.assertNotIn("is passed over", said)
        if checkpoints:
            self.assertIn(f"resumed at step {int(checkpoints[-1].name[5:])}", said)
        self.assertEqual([line.split()[0] for line in (run / "statistics").read_text().splitlines() if line[0] != "#"], ["1", "2", "3"])
        self.assertEqual((run / "solution.pvd").read_text().count("<DataSet"), 4)
        return len(checkpoints)

    def test_sizes(self):
        disk = self.mount(4096)  # all of it has room there
        self.leopard(TINY, *self.SETTINGS, f"Run/Directory={disk}/run")
        room = os.statvfs(disk)
        whole = (room.f_blocks - room.f_bfree) * room.f_frsize / 1024
        found = {self.check(round(whole * part)) for part in (0.04, 0.17, 0.3, 0.44, 0.57, 0.7, 0.83, 0.96)}
        self.assertEqual(found, {0, 1, 2}, f"the room did not end at every kind of moment; all of it takes {whole} kB")

    def test_two_ranks(self):
        for kilobytes in (200, 340):
            self.check(kilobytes, ranks=2)

    def test_standard_output(self):
        if not pathlib.Path("/dev/full").exists():
            self.skipTest("there is no /dev/full")
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([LEOPARD, str(TINY)], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True, timeout=1200, check=True)
        self.assertEqual(result.stderr.count("standard output cannot be written"), 1)
        self.assertIn("finished", (self.folder / "output/tiny_turing/log.txt").read_text())


if __name__ == "__main__":
    import unittest
    unittest.main()
