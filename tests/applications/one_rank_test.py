# SPDX-License-Identifier: Apache-2.0
"""What goes wrong on one rank alone: one message, an exit code, and all ranks have ended after the time that doc/scaling.md states."""
import shlex
import subprocess
import time
import unittest

from program import ROOT, Program, has_gpu

TINY = ROOT / "tests/output/tiny_turing.prm"
SECONDS = 10.  # ErrorReporter waits as long for the others
SLACK = 120.  # for what starts, fills memory and ends beside other tests


class OneRank(Program):
    """`before` is what the shell of one rank does first, such as to limit its memory."""

    def on_rank(self, failing, before, *settings):
        """Runs two ranks, of which one is not as the other. Returns the message and the seconds until both have ended."""
        program = self.command(TINY, *settings, options=["--overwrite"])
        shell = ["sh", "-c", f"{before}; exec {shlex.join(program)}"]
        ranks = [program, program]
        ranks[failing] = shell
        start = time.monotonic()
        result = subprocess.run(["mpirun", "-n", "1", *ranks[0], ":", "-n", "1", *ranks[1]], cwd=self.folder, capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertEqual(result.stderr.count("leopard: "), 1, result.stderr)
        self.assertNotIn("Signal", result.stderr)
        return result.stderr, time.monotonic() - start

    @unittest.skipIf(has_gpu(), "the driver of a GPU takes more address space than the limit")
    def test_memory(self):
        """One rank has none left and ends, where the other one makes its part of the mesh and waits."""
        settings = ["Mesh/Cells=2500", "Mesh/Global refinements=0"]
        for failing in (0, 1):
            with self.subTest(rank=failing):
                said, seconds = self.on_rank(failing, "ulimit -v 2000000", *settings)
                self.assertIn(f"leopard: on rank {failing}: not enough memory\n  expected: ", said)
                self.assertGreater(seconds, SECONDS, "the other one was not waited for")
                self.assertLess(seconds, SECONDS + SLACK)

    def test_folder(self):
        """The last rank is in another folder, where there is no run directory for its part of the fields: an error of all, at once."""
        (self.folder / "elsewhere").mkdir()
        said, seconds = self.on_rank(1, "cd elsewhere")
        self.assertIn(".0001.vtu' cannot be written: No such file or directory", said)
        self.assertLess(seconds, SLACK)
        self.assertEqual(list((self.folder / "elsewhere").iterdir()), [])
        self.assertIn("failed", self.run_json("tiny_turing")["status"])


if __name__ == "__main__":
    unittest.main()
