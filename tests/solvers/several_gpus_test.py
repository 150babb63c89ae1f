# SPDX-License-Identifier: Apache-2.0
"""leopard-solve --gpus from outside: what it says to have solved is solved, on as many GPUs as there are, up to two."""
import random
import subprocess
import unittest

import numpy

from command_line_test import Program

N_GPUS = subprocess.run(["sh", "-c", "nvidia-smi -L"], capture_output=True, text=True, check=False).stdout.count("GPU ")


@unittest.skipIf(N_GPUS == 0, "no GPU here")
class SeveralGpus(Program):
    def setUp(self):
        super().setUp()
        numbers, self.n = random.Random(5), 3000
        entries = {}
        for i in range(self.n):
            for j in [*numbers.sample(range(self.n), 5), i - 1, i + 1]:  # neighbours are in other blocks, and on other GPUs
                if 0 <= j < self.n and j != i:
                    entries[i, j] = numbers.uniform(-1., 1.)
        sums = numpy.zeros(self.n)
        for (i, _), value in entries.items():
            sums[i] += abs(value)
        entries.update({(i, i): 1.3 * sums[i] for i in range(self.n)})
        self.matrix("K.mtx", entries, self.n)
        self.rows, self.columns = numpy.array(list(entries)).T
        self.values = numpy.array(list(entries.values()))
        self.b = numpy.array([numbers.gauss(0., 1.) for _ in range(self.n)])
        self.vector("b.mtx", self.b.tolist())

    def check(self, n_gpus, *options):
        said = self.run_it("K.mtx", "--rhs", "b.mtx", "--solution", "x.mtx", "--method", "async", "--precision", "double", "--tolerance", "1e-9", "--gpus", str(n_gpus), *options)
        self.assertIn(f"on {n_gpus} GPU", said)
        self.assertIn("result      converged", said)
        x = numpy.array(self.read_vector("x.mtx"))
        product = numpy.zeros(self.n)
        numpy.add.at(product, self.rows, self.values * x[self.columns])
        self.assertLessEqual(numpy.linalg.norm(self.b - product), 1.0001e-9 * numpy.linalg.norm(self.b), f"{n_gpus} GPUs {options}")
        return said

    def test_each_exchange(self):
        for n_gpus in range(1, min(N_GPUS, 2) + 1):
            for exchange in ("amc", "dc", "dk", "halo"):
                for options in ([], ["--local-iterations", "1"], ["--wait"] if exchange == "halo" else ["--block-size", "64"]):
                    with self.subTest(f"{n_gpus} {exchange} {options}"):
                        self.assertIn(f"exchange {exchange}", self.check(n_gpus, "--exchange", exchange, *options))

    def test_waiting_in_the_synchronous_schedule(self):
        for n_gpus in range(1, min(N_GPUS, 2) + 1):
            self.check(n_gpus, "--wait", "--schedule", "synchronous")

    def test_shares(self):
        if N_GPUS < 2:
            self.skipTest("one GPU")
        self.check(2, "--shares", "70,30")


if __name__ == "__main__":
    unittest.main()
