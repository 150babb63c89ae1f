# SPDX-License-Identifier: Apache-2.0
"""A program of one's own on the library, of which one rank fails while the others wait for it: all end, with one message, after the time stated."""
import os
import subprocess
import time
import unittest

PROGRAM = os.environ["ONE_RANK_FAILS"]
SECONDS = 10.  # ErrorReporter::seconds_to_wait
SLACK = 40.  # for what starts and ends beside other tests


class OneRankFails(unittest.TestCase):
    def run_it(self, ranks, *failing):
        """Exit code, what is said on standard error, and seconds."""
        start = time.monotonic()
        command = ["timeout", f"{SECONDS + SLACK}", "mpirun", "-n", str(ranks), PROGRAM, *map(str, failing)]  # which lets mpirun end the ranks
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        return result.returncode, result.stderr, time.monotonic() - start

    # fails if the others wait for ever, end before the rank has waited for them, or the message does not name the rank, or comes more than once
    def test_one_of_two_and_of_three(self):
        for ranks, failing in ((2, 0), (2, 1), (3, 1)):
            with self.subTest(ranks=ranks, failing=failing):
                code, said, seconds = self.run_it(ranks, failing)
                self.assertEqual(code, 1, said)
                self.assertEqual(said.count("one_rank_fails: "), 1, said)
                self.assertIn(f"one_rank_fails: on rank {failing}: no memory left on its GPU\n  expected: 1 of these\n", said)
                self.assertGreater(seconds, SECONDS)

    # fails if an error of all ranks is said by each, or waited for
    def test_all(self):
        started = self.run_it(3)[2]  # what starting and ending takes, which is not the subject
        code, said, seconds = self.run_it(3, 0, 1, 2)
        self.assertEqual(code, 1, said)
        self.assertEqual(said.count("no memory left on its GPU"), 1, said)
        self.assertIn("one_rank_fails: no memory left", said)
        self.assertLess(seconds - started, SECONDS)

    def test_none(self):
        self.assertEqual(self.run_it(2)[0], 0)


if __name__ == "__main__":
    unittest.main()
