# SPDX-License-Identifier: Apache-2.0
"""Joules of a run: in the log, in run.json and in statistics, from a counter that the test feeds; and where there is none, why."""
import math
import os
import unittest.mock

from fake_rapl import FakeRapl
from program import ROOT, HostProgram

TINY = ROOT / "tests/output/tiny_turing.prm"
LONGER = ["Time stepping/Engine=general", "Mesh/Global refinements=5"]
COLUMN = "energy of the processors since the start of the program"
ABSENT = {"LEOPARD_POWERCAP": "/nowhere"}


class Energy(HostProgram):
    def energy(self):
        return self.run_json("tiny_turing")["energy"]

    def energies(self):
        columns, rows = self.statistics("tiny_turing")
        found = [i for i, column in enumerate(columns) if column.startswith(COLUMN)]
        self.assertEqual(len(found), 1, columns)
        return [row[found[0]] for row in rows]

    def test_where_nothing_can_be_read(self):
        with unittest.mock.patch.dict(os.environ, ABSENT):
            said = self.leopard(TINY)
        self.assertEqual(said.count("energy: "), 1)
        self.assertIn("energy: GPU not known: no GPU is used; CPU not known: there is no /nowhere/intel-rapl:* of a package", said)
        for part in ("gpu", "cpu"):
            self.assertNotIn("joules", self.energy()[part])
            self.assertTrue(self.energy()[part]["not_known"])
        self.assertNotIn("energy", " ".join(self.statistics("tiny_turing")[0]))

    def test_of_the_processors(self):
        for ranks in (1, 2):  # which share a package that is to be counted once
            with FakeRapl() as environment, unittest.mock.patch.dict(os.environ, environment):
                said = self.leopard(TINY, *LONGER, ranks=ranks)
            self.assertRegex(said, r"energy: GPU not known: no GPU is used; CPU \S+ J, \S+ W \(RAPL, 1 package\); of all that runs on them\n")
            energy = self.energy()
            self.assertEqual(energy["cpu"]["how"], "RAPL, 1 package")
            self.assertAlmostEqual(energy["cpu"]["joules"] / energy["seconds"], FakeRapl.WATTS, delta=0.3 * FakeRapl.WATTS)
            joules = self.energies()
            self.assertEqual(joules, sorted(joules))
            self.assertGreater(joules[-1], 0.)
            self.assertLessEqual(joules[-1], energy["cpu"]["joules"] * (1. + 1e-9))

    def test_resumed_where_it_can_be_read_no_more_or_only_then(self):
        with FakeRapl() as environment, unittest.mock.patch.dict(os.environ, environment):
            self.leopard(TINY, *LONGER)
        n = len(self.energies())
        with unittest.mock.patch.dict(os.environ, ABSENT):
            self.leopard(TINY, *LONGER, "Time stepping/End time=4e-3", options=["--resume"])
        joules = self.energies()
        self.assertGreater(len(joules), n)
        self.assertTrue(all(value >= 0. for value in joules[:n]), "the rows that were there stay")
        self.assertTrue(all(math.isnan(value) for value in joules[n:]), "not known, and not zero")
        with unittest.mock.patch.dict(os.environ, ABSENT):
            self.leopard(TINY, *LONGER)
        with FakeRapl() as environment, unittest.mock.patch.dict(os.environ, environment):
            self.leopard(TINY, *LONGER, "Time stepping/End time=4e-3", options=["--resume"])
        columns, rows = self.statistics("tiny_turing")
        self.assertGreater(len(rows), n)
        self.assertNotIn("energy", " ".join(columns))
        self.assertIn("joules", self.energy()["cpu"])

    def test_waiting_is_of_gpus_only(self):
        said = self.leopard(TINY, "Linear solver/Waiting=block")
        self.assertIn("not used: 'Linear solver/Waiting' (the backend is host)\n", said)
        self.assertIn("one of", self.leopard(TINY, "Linear solver/Waiting=sleep", fails=True))
