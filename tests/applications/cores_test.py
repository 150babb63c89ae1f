# SPDX-License-Identifier: Apache-2.0
"""Threads are those of the cores and memory that of the limits that the program is started with, not the machine's."""
import os
import pathlib
import re
import subprocess
import unittest

from program import ROOT, Program, has_gpu

TINY = ROOT / "tests/output/tiny_turing.prm"
QUOTAS = ("/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us")


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "one core")
class Cores(Program):
    def run_after(self, *before):
        """The log of a run on the host that other programs start, `before`."""
        command = [*before, *self.command(TINY, "Linear solver/Backend=host", "Linear solver/Threads=0", options=["--overwrite"])]
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=1200, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_one_process(self):
        said = self.run_after("taskset", "-c", str(min(os.sched_getaffinity(0))))
        self.assertIn("backend host, 1 thread a rank", said)
        self.assertRegex(said, rf"(?m)^bound to 1 of {os.cpu_count()} cores; for more, where these have bound it: mpirun --bind-to none, srun ")
        self.assertEqual(self.run_json("tiny_turing")["usable_cores"], 1)

    @unittest.skipIf(any(pathlib.Path(file).exists() and pathlib.Path(file).read_text().split()[0] not in ("max", "-1") for file in QUOTAS), "a quota of processor time")
    def test_ranks(self):
        """Which share their cores where they are not bound; and have their own, to which they are, whole."""
        n = len(os.sched_getaffinity(0))
        said = self.run_after("mpirun", "--bind-to", "none", "-n", "2")
        self.assertIn("backend host, %d thread%s a rank" % (n // 2, "" if n // 2 == 1 else "s"), said)
        self.assertNotIn("bound to", said)
        if n == os.cpu_count():
            self.assertIn("backend host, 1 thread a rank", self.run_after("mpirun", "--bind-to", "core", "-n", "2"))

    @unittest.skipIf(has_gpu(), "the driver of a GPU takes more address space than the limit")
    def test_memory(self):
        """A coarse mesh that the machine may have room for, and the limit of this process has not."""
        program = " ".join(self.command(TINY, "'Mesh/Cells=6000'", "'Mesh/Global refinements=0'", options=["--overwrite"]))
        result = subprocess.run(["sh", "-c", f"ulimit -v 4000000; exec {program}"], cwd=self.folder, capture_output=True, text=True, timeout=1200, check=False)
        self.assertEqual(result.returncode, 1, result.stdout)
        said = re.search(r"takes more than (\S+) GB, and this process may use 4\.1 GB", result.stderr)
        self.assertIsNotNone(said, result.stderr)


if __name__ == "__main__":
    unittest.main()
