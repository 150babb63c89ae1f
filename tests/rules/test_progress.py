#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/progress: what it makes of the output of ninja and of ctest."""
import os
import pathlib
import subprocess
import tempfile
import unittest

PROGRESS = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "progress"


class Progress(unittest.TestCase):
    def shown(self, text, *arguments):
        environment = {**os.environ, "LEOPARD_PROGRESS_INTERVAL": "0"}
        return subprocess.run([PROGRESS, *arguments], input=text, capture_output=True, text=True, env=environment, check=True).stdout.splitlines()

    def test_builds_are_shown_by_the_weight_of_what_is_done(self):
        steps = ["@ Building CXX object a.cc.o", "@ Building CUDA object b.cu.o", "@ Linking CXX executable c"]
        with tempfile.NamedTemporaryFile("w", suffix=".plan") as plan:
            plan.write("ninja: Entering directory\n" + "\n".join(steps))
            plan.write("\n")
            plan.flush()
            lines = self.shown("\n".join(steps[:1] + ["a.cc: warning: unused"] + steps[1:]) + "\n", "building", plan.name)
        self.assertEqual([line.split(",")[0] for line in lines], ["building: 23 %", "building: 100 %", "building: 100 %"])

    def test_failed_tests_and_what_they_say_are_passed_on(self):
        lines = self.shown("Test project /x\n      Start  1: a\n 1/2 Test  #1: a ......   Passed    0.01 sec\n      Start  2: b\n"
                           " 2/2 Test  #2: b ......***Failed    0.01 sec\nwhy\n\n50% tests passed, 1 tests failed out of 2\n", "testing")
        self.assertEqual(lines, ["Test project /x", lines[1], " 2/2 Test  #2: b ......***Failed    0.01 sec", lines[3], "why", "",
                                 "50% tests passed, 1 tests failed out of 2"])
        self.assertRegex(lines[1], r"^testing: 50 % \(1 of 2\), ")
        self.assertRegex(lines[3], r"^testing: 100 % \(2 of 2\), ")

    def test_tests_are_weighed_by_their_seconds(self):
        with tempfile.NamedTemporaryFile("w", suffix=".plan") as plan:
            plan.write("= 30 long.one\n= 9 long.two  # GetParam() = cuda\n= 1 short\n")
            plan.flush()
            lines = self.shown(" 1/3 Test  #2: short ......   Passed    0.01 sec\n 2/3 Test  #1: long.two  # GetParam() = cuda ......***Skipped   9.01 sec\n"
                               " 3/3 Test  #3: long.one ......   Passed   30.01 sec\n", "testing", plan.name)
        self.assertEqual([line.split(",")[0] for line in lines], ["testing: 2 % (1 of 3)", "testing: 25 % (2 of 3)", "testing: 100 % (3 of 3)"])


if __name__ == "__main__":
    unittest.main()
