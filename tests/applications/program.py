# SPDX-License-Identifier: Apache-2.0
"""What the tests of the whole program share: running it in a temporary folder and reading what it wrote."""
import csv
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import started  # noqa: E402

LEOPARD = os.environ.get("LEOPARD", "leopard")
ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = ROOT / "parameter_files"


def with_settings(text, settings):
    """The text of a parameter file in which the settings, "Section/Entry=value", stand in place of what it says."""
    lines = text.splitlines()
    for setting in settings:
        path, value = setting.split("=", 1)
        *sections, entry = path.split("/")
        inside = []
        for i, line in enumerate(lines):
            words = line.split()
            if words[:1] == ["subsection"]:
                inside.append(" ".join(words[1:]))
            elif words == ["end"]:
                inside.pop()
            elif inside == sections and re.match(rf"\s*set\s+{re.escape(entry)}\s*=", line):
                lines[i] = f"set {entry} = {value}"
                break
        else:
            lines += [f"subsection {name}" for name in sections] + [f"set {entry} = {value}"] + ["end"] * len(sections)
    return "\n".join(lines) + "\n"


def has_gpu():
    """Whether the driver of the machine knows one."""
    return subprocess.run(["sh", "-c", "command -v nvidia-smi && nvidia-smi -L"], capture_output=True, check=False).returncode == 0


class Program(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)

    def command(self, file, *settings, options=(), ranks=1):
        command = [LEOPARD, str(file), *options]
        for setting in settings:
            command += ["--set", setting]
        return (["mpirun", "-n", str(ranks)] if ranks > 1 else []) + command

    def run_command(self, command, timeout=1200):
        """What subprocess.run() returns; the program alone is loaded once for all tests of a class."""
        if command[0] == LEOPARD:
            return started.run(command, self.folder, timeout)
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=timeout, check=False)

    def leopard(self, file, *settings, options=("--overwrite",), ranks=1, fails=False, timeout=1200):
        """Runs the program; returns what it said. Settings are "Section/Entry=value"."""
        result = self.run_command(self.command(file, *settings, options=options, ranks=ranks), timeout)
        if fails:
            self.assertNotEqual(result.returncode, 0, result.stdout)
            self.assertGreater(result.returncode, 0, "killed by a signal: " + result.stderr)
        else:
            self.assertEqual(result.returncode, 0, result.stdout[-2000:] + result.stderr)
        return result.stderr if fails else result.stdout

    def validated(self, cases, ranks=1):
        """Validates many parameter files, each with its settings, in one start of the program, which costs as much as a hundred files. Those with settings
        are copies that have them. Returns for each what was said of it if it is valid, or else None, and its message if it is not, or else None."""
        copies = []
        for i, (file, settings) in enumerate(cases):
            text = with_settings((self.folder / file).read_text(encoding="utf-8"), settings)
            copies.append(self.write(f"{i}_{pathlib.Path(file).name}", text).name if settings else str(file))
        result = self.run_command((["mpirun", "-n", str(ranks)] if ranks > 1 else []) + [LEOPARD, "--validate", *copies])
        said, messages = {}, {}
        for part in re.split(r"^leopard: ", result.stderr, flags=re.MULTILINE)[1:]:
            name, message = part.split(" is not valid: ", 1) if len(copies) > 1 else (copies[0], part)
            self.assertNotIn(name, messages, "two messages on one file")
            messages[name] = message
        for part in re.split(r"^(?=\S+\.prm is valid: )", result.stdout, flags=re.MULTILINE)[1:]:
            name = part.split(" is valid: ", 1)[0]
            self.assertNotIn(name, said, "two results of one file")
            said[name] = part
        self.assertEqual(sorted([*said, *messages]), sorted(copies), result.stdout + result.stderr)
        self.assertEqual(result.returncode, 1 if messages else 0, result.stderr)
        if ranks == 1:
            self.assertTrue(result.stderr == "" or result.stderr.startswith("leopard: "), result.stderr)
        return [(said.get(name), messages.get(name)) for name in copies]

    def valid(self, cases):
        """What the program says of each of many files with settings, all of which must be valid."""
        results = self.validated(cases)
        for (file, settings), (_, message) in zip(cases, results):
            self.assertIsNone(message, f"{file} {settings}")
        return [said for said, _ in results]

    def invalid(self, cases):
        """`cases` are files with settings, and words of the message that each must get. Returns the messages."""
        results = self.validated([(file, settings) for file, settings, _ in cases])
        for (file, settings, says), (_, message) in zip(cases, results):
            with self.subTest(f"{file} {settings}"):
                self.assertIsNotNone(message, "is valid")
                for text in [says] if isinstance(says, str) else says:
                    self.assertIn(text, message)
                self.assertNotIn("An error occurred in line", message, "deal.II's own message")
        return [message for _, message in results]

    def sweep(self, file, entries, *settings, **options):
        """Runs all combinations of the values of entries (a dictionary) in one start of the program, which takes longer than a small run. Returns the
        values of each run, and the name by which run_json() and the like find it."""
        self.leopard(file, "Run/Sweep=" + "; ".join(f"{entry}: {', '.join(values)}" for entry, values in entries.items()), *settings, **options)
        name = pathlib.Path(file).stem
        return [(tuple(row[entry] for entry in entries), f"{name}/runs/{row['run']}") for row in self.table(self.folder / "output" / name, "sweep.csv")]

    def log(self, name):
        return (self.folder / "output" / name / "log.txt").read_text()

    def failed_run(self, file, *settings, says=(), **options):
        """Runs what must fail, with one message that has these words, and says so in run.json; returns the message."""
        error = self.leopard(file, *settings, fails=True, **options)
        for words in says:
            self.assertIn(words, error)
        self.assertEqual(error.count("leopard: "), 1)
        self.assertIn("failed", self.run_json(file.stem)["status"])
        return error

    def checkpoints(self, name):
        """The steps whose checkpoints are there."""
        return sorted(int(path.name[5:]) for path in (self.folder / f"output/{name}/checkpoints").glob("step_*"))

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def run_json(self, name):
        return json.loads((self.folder / "output" / name / "run.json").read_text())

    def convergence(self, name):
        with open(self.folder / "output" / name / "convergence.csv", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        self.assertTrue(rows, "no row of the table of convergence")
        for row in rows:
            self.assertTrue(math.isfinite(float(row["l2_error"])), row)  # max() and min() may forget what is no number
        return rows

    def expect_rate(self, name, text, rate=2, most=0.02, **options):
        """Runs the file, whose last row has this rate of convergence in L2 and a small error. Returns what was said."""
        said = self.leopard(self.write(f"{name}.prm", text), **options)
        last = self.convergence(name)[-1]
        self.assertAlmostEqual(float(last["l2_rate"]), rate, delta=0.2, msg=name)
        self.assertLess(float(last["l2_error"]), most, name)
        self.assertNotIn("contradict", said)
        return said

    def iterations(self, name):
        """Linear iterations of each cycle of a stationary run."""
        return [cycle["linear_iterations"] for cycle in self.run_json(name)["cycles"]]

    def check_rate(self, name, rate, *settings, most, growth=3, delta=0.1):
        """The rate in L2 of a file of verification/, and a number of iterations that hardly grows with the mesh: these are small, the coarsest with two levels."""
        said = self.leopard(FILES / f"verification/{name}.prm", *settings)
        self.assertAlmostEqual(float(self.convergence(name)[-1]["l2_rate"]), rate, delta=delta, msg=f"{name} {settings}")
        iterations = self.iterations(name)
        self.assertLessEqual(max(iterations), most, f"{name} {settings}")
        self.assertLessEqual(iterations[-1], iterations[-2] + growth, f"{name} {settings}")
        return said

    def statistics(self, name):
        """Column names, and the rows as numbers."""
        lines = (self.folder / "output" / name / "statistics").read_text().splitlines()
        columns = [line.split(": ", 1)[1] for line in lines if line.startswith("#")]
        rows = [[float(word) for word in line.split()] for line in lines if not line.startswith("#")]
        self.assertTrue(rows, "no row of statistics")
        for row in rows:
            self.assertEqual(len(row), len(columns))
        return columns, rows

    def column(self, name, start):
        """The values in the first column of the statistics whose name starts so."""
        columns, rows = self.statistics(name)
        at = next(i for i, column in enumerate(columns) if column.startswith(start))
        return [row[at] for row in rows]

    def table(self, directory, name):
        """The rows of a CSV file, all with as many cells as there are columns."""
        with open(directory / name, newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        for row in rows:
            self.assertNotIn(None, row)
            self.assertNotIn(None, row.values())
        return rows

    def study(self, text, *settings):
        """Runs a study of smoothers on the host; the rows of study.csv and study_history.csv, and what the program said."""
        said = self.leopard(self.write("study.prm", text), "Smoother study/Backend=host", *settings)
        directory = self.folder / "output/study"
        return self.table(directory, "study.csv"), self.table(directory, "study_history.csv"), said


class HostProgram(Program):
    """What is said of the engines of host threads, or small grids on several ranks: a GPU of the machine is hidden."""

    def setUp(self):
        super().setUp()
        hidden = unittest.mock.patch.dict(os.environ, CUDA_VISIBLE_DEVICES="")
        hidden.start()
        self.addCleanup(hidden.stop)
