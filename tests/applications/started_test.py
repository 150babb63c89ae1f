# SPDX-License-Identifier: Apache-2.0
"""Starts of a program that is loaded once (../started.py) are as those of a process of its own; of the shell, whose words say what it was given."""
import os
import pathlib
import signal
import subprocess
import time
import unittest
import unittest.mock

from program import LEOPARD, Program, started

SHELL = "/bin/sh"


@unittest.skipUnless(started.LIBRARY, "LEOPARD_FORK_SERVER_LIBRARY is not set")
class Started(Program):
    def expect_the_same(self, *command):
        ours = started.run(command, self.folder)
        other = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual((ours.returncode, ours.stdout, ours.stderr), (other.returncode, other.stdout, other.stderr))
        return ours

    def test_what_a_process_is_given_and_gives(self):
        self.assertIn(str(self.folder), self.expect_the_same(SHELL, "-c", "pwd; echo \"$0 $1\"; echo said >&2; cat; env -u _ | sort; ls /proc/self/fd", "a b", "").stdout)
        with unittest.mock.patch.dict(os.environ, LEOPARD_CHANGED="later"):
            self.assertEqual(self.expect_the_same(SHELL, "-c", "echo $LEOPARD_CHANGED").stdout, "later\n")
        self.assertEqual(self.expect_the_same(SHELL, "-c", "echo $LEOPARD_CHANGED").stdout, "\n")
        self.assertEqual(self.expect_the_same(SHELL, "-c", "exit 3").returncode, 3)
        self.assertEqual(self.expect_the_same(SHELL, "-c", "kill -9 $$").returncode, -9)
        self.expect_the_same(LEOPARD, "--nothing-like-this")

    def test_what_does_not_end_is_ended(self):
        with self.assertRaises(subprocess.TimeoutExpired):
            started.run([SHELL, "-c", "echo $$ >number; while :; do :; done"], self.folder, timeout=0.5)
        state = pathlib.Path("/proc", (self.folder / "number").read_text().strip(), "stat")
        for _ in range(100):
            if not state.exists() or ") Z " in state.read_text():  # ended, and nobody has asked for its exit code
                break
            time.sleep(0.1)
        else:
            os.kill(int(state.parent.name), signal.SIGKILL)
            self.fail("it still runs")
        self.expect_the_same(SHELL, "-c", "echo again")
