# SPDX-License-Identifier: Apache-2.0
"""The benchmark of triangular solves, small: it ends, within limits that it tells, and says what it does."""
import os
import pathlib
import re
import subprocess
import unittest

PROGRAM = pathlib.Path(os.environ.get("LEOPARD_BENCHMARKS", "")) / "triangular"


class Triangular(unittest.TestCase):
    def said(self, *options, code=0):
        result = subprocess.run([PROGRAM, "--backend", "host", *options], capture_output=True, text=True, timeout=1200, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout if code == 0 else result.stderr

    def rows(self, said):
        """Of the solves: name: what stands at the iterations."""
        table = said[said.index("| solves |"):]
        return {cells[1].strip(): cells[5].strip() for cells in (line.split("|") for line in table.splitlines()[2:]) if len(cells) == 8}

    # fails if there is no limit of seconds, or what a limit has ended is not told apart from what has converged
    def test_limits(self):
        poisson = ["--method", "gmres", "--flat", "100"]
        for limit, says in ((["--max-seconds", "1e-6"], r"1 \(time limit, residual [0-9.e+-]+\)"), (["--max-iterations", "3"], r"3 \(iteration limit, residual [0-9.e+-]+\)")):
            rows = self.rows(self.said(*poisson, *limit))
            self.assertEqual(len(rows), 28)
            for name, iterations in rows.items():
                self.assertRegex(iterations, f"^{says}$", name)
        self.assertIn("28 solves with FGMRES to 1e-8, each of at most 10 s and 3 iterations.", self.said(*poisson, "--max-iterations", "3"))

    # fails if convection is not what FGMRES with ILU(0) solves in few iterations
    def test_flow(self):
        rows = self.rows(self.said("--method", "gmres", "--convection", "60"))
        self.assertRegex(rows["exact"], r"^\d+$")
        self.assertLess(int(rows["exact"]), 40)

    def test_only_what_is_asked_for(self):
        said = self.said("--flat", "20", "--size", "0", "--max-iterations", "5")
        self.assertEqual(re.findall(r"^(.*): \d+ rows", said, re.MULTILINE), ["5 points, 20^2"])
        self.assertIn("no matrix is asked for", self.said("--size", "0", code=1))
        self.assertIn("--convection is given, and the method is cg", self.said("--convection", "20", code=1))

    # fails if what is printed stays in the buffer until the end of a row
    def test_says_what_it_does(self):
        with subprocess.Popen([PROGRAM, "--backend", "host", "--method", "gmres", "--flat", "150", "--max-seconds", "60"], stdout=subprocess.PIPE, text=True) as process:
            said = ""
            while not said.endswith("| async 1 x 2 | "):
                character = process.stdout.read(1)
                self.assertNotEqual(character, "", said)
                said += character
            process.kill()
            self.assertNotIn("| exact", process.stdout.read())


if __name__ == "__main__":
    unittest.main()
