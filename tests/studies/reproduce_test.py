#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
Tests scripts/reproduce: verdicts, the store, the template, the list of what the papers have, and the script itself with
programs that are written here.
"""
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

sys.dont_write_bytecode = True
SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
from reproduction import Error, checks, document, errata, finding_checks, items, published, reasons, run, store, verdicts  # noqa: E402
from reproduction.experiments import BY_NAME, EXPERIMENTS  # noqa: E402
from reproduction.verdicts import CONFIRMED, OPEN, REFUTED, Line  # noqa: E402

CSV = '''"Table"
a,b
1,2

Findings
source,finding,verdict,measured
T Figure 4.21,the block size matters little,{verdict},{measured}
'''
# Writes down that it was called; waits where a file says so; fails where another one does.
PROGRAM = '''#!{python}
import pathlib, sys, time
folder = pathlib.Path(__file__).parent
with open(folder / "calls", "a") as stream:
    stream.write(" ".join(sys.argv[1:]) + "\\n")
if (folder / "fail").exists() and (folder / "fail").read_text() in sys.argv:
    sys.exit("a program failed")
if "--csv" in sys.argv:
    pathlib.Path(sys.argv[sys.argv.index("--csv") + 1]).write_text((folder / "csv").read_text())
if (folder / "wait").exists() and (folder / "wait").read_text() in sys.argv:
    (folder / "waiting").touch()
    time.sleep(600)
'''


class VerdictsTest(unittest.TestCase):
    # fails if a rule compares without asking for finite values first: "not a > b" and "any" are true of NaN
    def test_what_is_not_a_number_never_confirms(self):
        for value in (math.nan, math.inf, -math.inf):
            line = verdicts.decide("claim", [1., value], lambda a, b: not a > b, "measured")
            self.assertEqual(line.verdict, OPEN)
            self.assertFalse(verdicts.near(value, value, 1.))
            self.assertFalse(verdicts.near(1., value, 1.))
        self.assertEqual(verdicts.decide("claim", [], lambda: True, "nothing").verdict, OPEN)
        for measured in ("nan percent", "up to -nan", "inf iterations", "1, NaN"):
            self.assertEqual(verdicts.of_study("claim", "holds", measured).verdict, OPEN, measured)

    # fails if NaN is looked for inside of words, or if verdicts are mixed up
    def test_findings_of_studies(self):
        self.assertEqual(verdicts.of_study("c", "holds", "information of 3 finances").verdict, CONFIRMED)
        self.assertEqual(verdicts.of_study("c", "does not hold", "3").verdict, REFUTED)
        self.assertEqual(verdicts.of_study("c", "is not decided here", "3").verdict, OPEN)
        self.assertEqual(verdicts.of_study("c", "HOLDS", "3").verdict, OPEN)

    # fails if one confirmed run is enough
    def test_runs_that_disagree_decide_nothing(self):
        yes, no = Line("c", "1", CONFIRMED), Line("c", "2", REFUTED)
        self.assertEqual(verdicts.agree({"a": yes, "b": yes}).verdict, CONFIRMED)
        self.assertEqual(verdicts.agree({"a": no, "b": no}).verdict, REFUTED)
        self.assertEqual(verdicts.agree({"a": yes, "b": no}).verdict, OPEN)
        self.assertEqual(verdicts.agree({"a": yes, "b": yes.because("why")}).verdict, OPEN)

    # fails if max() is taken, which may drop NaN
    def test_helpers_keep_nan(self):
        self.assertTrue(math.isnan(checks.largest([1., math.nan, 2.])))
        self.assertTrue(math.isnan(checks.largest([math.nan, 2.])))
        self.assertTrue(math.isnan(checks.largest([])))
        self.assertTrue(math.isnan(checks.factor([(0, 1.)])))
        self.assertTrue(math.isnan(checks.factor([(0, 1.), (5, math.nan)])))
        self.assertAlmostEqual(checks.factor([(10, 1.), (12, 0.25)]), 0.5)
        for power in (0.5, 1., 2.):
            self.assertAlmostEqual(checks.exponent([(n, 3. * n ** power) for n in range(1, 11)]), power)
        for points in ([(1, 1.)], [(1, 1.), (1, 2.)], [(1, 0.), (2, 1.)], [(1, math.nan), (2, 1.)], []):
            self.assertTrue(math.isnan(checks.exponent(points)), points)

    # fails without the margin, if it is of another size, or if one near a limit hides one that is clearly outside
    def test_times_within_5_percent_of_a_limit_decide_nothing(self):
        for ratios, expected in (([0.53], CONFIRMED), ([1.], CONFIRMED), ([1.89], CONFIRMED), ([0.47], REFUTED), ([2.11], REFUTED),
                                 ([0.48], OPEN), ([0.52], OPEN), ([1.91], OPEN), ([2.09], OPEN), ([1., 2.01], OPEN),
                                 ([2.01, 2.11], REFUTED), ([1., math.nan], OPEN), ([math.inf], OPEN), ([], OPEN)):
            self.assertEqual(verdicts.decide_times("c", [1.], ratios, "x", 0.5, 2).verdict, expected, ratios)
        self.assertEqual(verdicts.decide_times("c", [math.nan], [1.], "x", 0.5, 2).verdict, OPEN)
        self.assertIn("within 5 percent of 1: nothing is decided", verdicts.decide_times("c", [1.], [1.04], "x", least=1).why)


def labels(where):
    """'T Algorithms 4 to 6, Theorem 2.1' is T Algorithm 4, 5, 6 and T Theorem 2.1; so are numbers such as 2.4.3."""
    found, kind = set(), ""
    for part in re.split(r",\s*", where[2:]):
        match = re.fullmatch(r"(?:([A-Za-z]+) )?([\w.]+)(?: to ([\w.]+))?", part)
        if not match:
            continue
        kind = match[1].removesuffix("s") if match[1] else kind
        numbers = [match[2]]
        if match[3]:
            head, _, first = match[2].rpartition(".")
            numbers = [f"{head}{'.' if head else ''}{n}" for n in range(int(first), int(match[3].split(".")[-1]) + 1)]
        found |= {f"{where[0]} {kind} {n}" for n in numbers}
    return found


class ItemsTest(unittest.TestCase):
    # fails if a table or figure of a paper is dropped: these are the papers' lists
    def test_all_tables_and_figures_are_there(self):
        lists = {"P Figure": [*range(1, 22)], "R Figure": [*range(1, 7)], "R Table": [1, 2],
                 "J Figure": [*range(1, 12)], "J Table": [*range(1, 7)], "O Figure": [*range(1, 10)], "O Table": [1],
                 "T Table": ["1.1", "3.1", *(f"4.{n}" for n in range(1, 12)), *(f"5.{n}" for n in range(1, 7)), "B.1",
                             "B.2", "C.3", "C.4"],
                 "T Figure": ["2.1", "2.2", "2.3", "3.1", *(f"4.{n}" for n in range(1, 41)),
                              *(f"5.{n}" for n in range(1, 7)), "A.1", "A.2", "B.3", "C.4"],
                 "T Algorithm": [*range(1, 25)], "J Algorithm": [1],
                 "T Theorem": ["2.4.1", "2.4.2", "3.2.2", "3.2.3", "3.2.5", "3.2.6", "4.10.1", "4.10.2", "4.13.3"],
                 # what is claimed or measured outside of tables and figures
                 "T section": ["2.1", "2.2", "2.4.1", "2.4.2", "2.4.3", "2.4.6", "2.6", "3.2.1", "3.3.5", "4.3", "4.4.1",
                               "4.8.2", "4.10.2", "4.10.8", "4.13.4", "4.14.2", "5.3", "5.3.3"],
                 "R section": [3, 5], "J section": ["4.2", "4.5"], "O section": [1, 4],
                 "T equation": ["2.2", "2.7", "2.10", "2.11", *(f"2.{n}" for n in range(43, 48)), *(f"4.{n}" for n in range(1, 5)),
                                *(f"4.{n}" for n in range(8, 35)), "5.1"]}
        there = set().union(*(labels(item.where) for item in items.ITEMS))
        for kind, numbers in lists.items():
            for number in numbers:
                self.assertIn(f"{kind} {number}", there)
        for number in ("I", "II", "III", "VI", "VII"):
            self.assertIn(f"P Table {number}", there)
        self.assertLessEqual({"P Table IV", "P Table V"}, there)

    # fails if labels are read wrongly, which would hide what is missing
    def test_labels(self):
        self.assertEqual(labels("T Algorithms 4 to 6, Theorem 2.4.1"),
                         {"T Algorithm 4", "T Algorithm 5", "T Algorithm 6", "T Theorem 2.4.1"})
        self.assertEqual(labels("T sections 2.4.1 to 2.4.3"), {f"T section 2.4.{n}" for n in (1, 2, 3)})
        self.assertEqual(labels("P Tables IV, V"), {"P Table IV", "P Table V"})

    # fails if an erratum that is known is dropped
    def test_errata(self):
        known = [(where, printed) for where, printed, _ in errata.of_papers()]
        for where, words in (("P Table IV", "100 runs"), ("P Table IV", "no square"), ("T Table 4.11", "10e+3"),
                             ("T Tables 5.4, 5.5", "21.8 percent"), ("T Tables 5.4, 5.5", "n24k"),
                             ("T Table 5.4", "-1.3"), ("T Table 5.6", "24.35"), ("T Figure 5.6", "fv3"),
                             ("T Figure A.2", "5.69e-08"), ("T Figure 4.26", "128"), ("T section 4.12.1", "C1070"),
                             ("T Table C.4", "C1060"), ("T section 4.10", "theta"), ("T section 4.11.2.2", "three times"),
                             ("T section 5.4.1", "480"), ("T section 5.4.2", "5.6"), ("O Table 1", "43.74"),
                             ("T Table B.1, P Table II, J Table 1", "262,411")):
            self.assertTrue(any(w == where and words in printed for w, printed in known), (where, words))

    # fails if two items have one name, or refer to what is not there
    def test_references(self):
        where = [item.where for item in items.ITEMS]
        self.assertEqual(len(where), len(set(where)))
        results = SCRIPTS.parent / "benchmarks" / "results"
        for item in items.ITEMS:
            self.assertTrue(item.same_as == "" or item.same_as in where, item)
            self.assertTrue(item.checks or item.same_as or item.why, item)
            self.assertTrue(all(name in BY_NAME for name in item.experiments), item)
            self.assertTrue(all((results / name).exists() for name in item.see), item)
        used = {name for item in items.ITEMS for name in item.experiments}
        self.assertEqual(used, {experiment.name for experiment in EXPERIMENTS})

    # fails if the printed numbers are mistyped: sizes and formulas that they have to satisfy
    def test_published_numbers(self):
        self.assertEqual(checks.trefethen_entries(2000, True), published.SIZES["Trefethen_2000"][1])
        self.assertEqual(checks.trefethen_entries(20000, True), published.SIZES["Trefethen_20000"][1])
        for n, rows, entries, condition in published.HELMHOLTZ:
            self.assertEqual((rows, entries), (n * n, 5 * n * n - 4 * n))
            c = math.cos(math.pi / (n + 1))
            self.assertAlmostEqual(condition, (4.01 + 4 * c) / (4.01 - 4 * c), delta=0.0051)
        for _, mean, largest, smallest, variation, variance, deviation, error in published.STATISTICS_FV3:
            self.assertTrue(smallest < mean < largest)
            self.assertAlmostEqual((largest - smallest) / variation, 1., delta=0.02)
            self.assertAlmostEqual(deviation ** 2 / variance, 1., places=6)
            self.assertAlmostEqual(deviation / error, 3., places=5)
        self.assertTrue(all(evidence for *_, evidence in errata.rows(lambda name: None)))


class DocumentTest(unittest.TestCase):
    # fails if a place of the template stays, or a value has no place
    def test_the_template_is_filled(self):
        self.assertEqual(document.fill("a {{x}} b {{y}}", {"x": "1", "y": "{{x}}"}), "a 1 b {{x}}")
        for values in ({"x": "1"}, {"x": "1", "y": "2", "z": "3"}):
            with self.assertRaisesRegex(Error, "y|z"):
                document.fill("a {{x}} b {{y}}", values)
        template = (SCRIPTS / "reproduction" / "template.md").read_text()
        with tempfile.TemporaryDirectory() as folder:
            text = document.Document(store.Store(folder)).text(template)
        self.assertNotIn("{{", text)
        self.assertNotIn("**confirmed** (", text)
        for item in items.ITEMS:
            self.assertIn(f"| {item.where}: ", text)

    # fails if what a GPU decides stands beside as not decided by the host
    def test_a_gpu_decides_what_the_host_does_not(self):
        line = Line("c", "1", CONFIRMED)
        item = items.Item("T 1", "what", (("a", lambda result: [checks.on_gpu(result, line)]),))
        with tempfile.TemporaryDirectory() as folder:
            results = store.Store(folder)
            results.finish(results.begin("a", "host"), "a", "host", {"commands": [], "quick": False})
            self.assertEqual([found.verdict for found, _ in document.lines_of(item, results)], [OPEN])
            results.finish(results.begin("a", "cuda"), "a", "cuda", {"commands": [], "quick": False})
            self.assertEqual(document.lines_of(item, results), [(line, "`a`, cuda")])

    # fails if a refuted line has no reason, that of another device or claim, or if one without a reason is not named
    def test_a_refuted_line_says_why(self):
        claims = (("a: b", REFUTED), ("a: c", REFUTED), ("d", REFUTED), ("a: e", CONFIRMED))
        item = items.Item("T 1", "what", (("x", lambda result: [Line(claim, "1", v) for claim, v in claims]),))
        tables = {"ANYWHERE": (("^a", "because"),), "ON_GPU": (("^a: c", "as a GPU"),)}
        for device, why in (("host", ["because", "because", "", ""]), ("cuda", ["because", "as a GPU", "", ""])):
            with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.multiple(reasons, **tables), \
                    unittest.mock.patch.object(document, "ITEMS", (item,)):
                results = store.Store(folder)
                results.finish(results.begin("x", device), "x", device, {"commands": [], "quick": False})
                made = document.Document(results)
                self.assertEqual([line.why for line, _ in made.lines["T 1"]], why)
                self.assertEqual(made.without_reason(), [("T 1", "d")])
                self.assertIn(f"| **refuted** ({why[1]}) | `x`, {device} |", document.markdown(document.HEAD, made.rows(item)))

    # fails if a file that was measured on as few GPUs is said to decide what this machine has too few GPUs for, or if one of more of them is not named
    def test_what_was_measured_before(self):
        lines = [Line(what, ours, OPEN) for what, ours in (("three", "this machine has 2 GPUs"), ("two", "1.02 times"), ("two more", "0.98 times"),
                                                           ("four", "this machine has 2 GPUs"))]
        item = items.Item("T 1", "what", (("x", lambda result: lines),), see=("before.md",), see_of_more_gpus=("more.md",))
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(document, "ITEMS", (item,)):
            results = store.Store(folder)
            results.finish(results.begin("x", "cuda"), "x", "cuda", {"commands": [], "quick": False})
            rows = document.Document(results).rows(item)
            self.assertEqual(["before.md" in row[3] for row in rows], [False, True, False, False])
            self.assertEqual(["more.md" in row[3] for row in rows], [True, False, False, False])

    # fails if a document has other tables of several GPUs than the results that items.py names
    def test_the_documents_quote_results(self):
        for path, up in (("doc/reproduction.md", "../"), ("doc/gpu/reproduction.md", "../../")):
            text = (SCRIPTS.parent / path).read_text()
            item, = [item for item in items.ITEMS if item.where == "T Figure 4.10"]
            self.assertIn(item.note, text)
            for quoted in item.quoted:
                self.assertIn(document.Document(store.Store(SCRIPTS), up=up).quote(quoted), text)

    # fails if iterations are shown and not what they take
    def test_the_classes_of_two_stage_iterations_have_times(self):
        heads = ["two-stage", "inner iter.", "outer iter.", "values", "local its", "Baudet", "iterations", "factor", "time (ms)"]
        csv = '"fv1: to 1e-08, median of 3 runs"\n' + ",".join(heads) + "\ninner,async.,sync.,beginning,5,,38.7,0.6,12.5\n"
        (table, *_), = [item.tables for item in items.ITEMS if item.where == "T Table 3.1"]
        with tempfile.TemporaryDirectory() as folder:
            results = store.Store(folder)
            part = results.begin("taxonomy", "host")
            (part / "chaotic.csv").write_text(csv)
            results.finish(part, "taxonomy", "host", {"commands": [], "quick": False})
            _, shown, rows = table.read(results.get("taxonomy", "host"))
        self.assertEqual(dict(zip(shown, rows[0]))["ours: iterations"], "38.7")
        self.assertEqual(dict(zip(shown, rows[0]))["ours: time (ms)"], "12.5")

    # fails if a reason is changed in reasons.py or in a document alone, or is missing
    def test_the_documents_say_why_claims_are_refuted(self):
        for path in ("doc/reproduction.md", "doc/gpu/reproduction.md"):
            rows = [re.split(r" (?<!\\)\| ", line) for line in (SCRIPTS.parent / path).read_text().splitlines()]
            refuted = [row for row in rows if len(row) == 5 and row[3].startswith("**refuted**")]
            self.assertGreater(len(refuted), 10)
            for _, claim, _, verdict, run_of in refuted:
                reason = reasons.of(claim.replace("\\|", "|"), "cuda" if "cuda" in run_of else "host")
                self.assertEqual(verdict, f"**refuted** ({document.cell(reason)})", claim)
                self.assertTrue(reason, claim)

    # fails if numbers of ours are typed into the template
    def test_the_template_has_no_measured_numbers(self):
        template = (SCRIPTS / "reproduction" / "template.md").read_text()
        self.assertEqual(re.findall(r"\d+\.\d+(?:e-?\d+)?\b", template), ["4.6", "4.6"])

    # fails if bars inside of cells break the tables
    def test_cells(self):
        self.assertEqual(document.markdown(("a", "b"), [("x|y", "z\nw")]), "| a | b |\n|---|---|\n| x\\|y | z w |")


class StoreTest(unittest.TestCase):
    # fails if what is half written counts, or if other commands do
    def test_only_finished_work_counts(self):
        with tempfile.TemporaryDirectory() as folder:
            results = store.Store(folder)
            part = results.begin("a", "host")
            (part / "out.txt").write_text("half")
            self.assertIsNone(results.get("a", "host"))
            results.finish(part, "a", "host", {"commands": [["x", "y"]]})
            self.assertTrue(results.is_finished("a", "host", [["x", "y"]]))
            self.assertFalse(results.is_finished("a", "host", [["x", "z"]]))
            self.assertFalse(results.is_finished("a", "cuda", [["x", "y"]]))
            (results.path("a", "host") / "result.json").write_text("{")
            self.assertIsNone(results.get("a", "host"))

    # fails if the commit of a program that was not used is said, or a change that is not committed is not
    def test_the_commits_of_programs(self):
        with tempfile.TemporaryDirectory() as folder:
            programs = []
            for name, version in (("a", "a 1.0 (abcdef1), with CUDA"), ("b", "b 1.0 (abcdef2-dirty)")):
                programs.append(pathlib.Path(folder) / name)
                programs[-1].write_text(f"#!/bin/sh\necho '{version}'\n")
                programs[-1].chmod(0o755)
            self.assertEqual(run.commit(programs[:1]), "abcdef1")
            self.assertEqual(run.commit(programs), "abcdef1, abcdef2-dirty")

    # fails if a result of another commit, or of a change that was not committed, is skipped in silence
    def test_a_result_of_another_commit_is_named(self):
        head = run.output(["git", "-C", str(run.ROOT), "rev-parse", "HEAD"]) or "abcdef1234"
        with unittest.mock.patch.object(run, "output", lambda command: head):
            for measured in (head[:7], f"{head[:7]}, {head[:10]}"):
                self.assertEqual(run.kept(measured), "")
            for measured in ("0000000", f"{head[:7]}-dirty", f"{head[:7]}, 0000000"):
                self.assertEqual(run.kept(measured), f" (kept: measured at {measured}; --again measures anew)")
            with tempfile.TemporaryDirectory() as folder:
                results, said = store.Store(folder), []
                commands = BY_NAME["theta"].commands("host", False)
                results.finish(results.begin("theta", "host"), "theta", "host", {"commands": commands, "commit": "0000000"})
                self.assertTrue(run.Runner(results, {}, None, say=said.append).run(BY_NAME["theta"], "host"))
            self.assertEqual(said, ["theta (host): finished before (kept: measured at 0000000; --again measures anew)"])

    # fails if starts that vary by more than they differ decide, or if clear ones do not
    def test_starts_that_are_too_near(self):
        row = "async-(5),{},1,1,-,-,{},1,-,-,1\n"
        heads = ",".join("abcdefghijk") + "\n"
        for crs, block, measured, verdict in (("0.740", "0.706", "0.0 iterations", OPEN), ("0.7", "2.8", "3.1 iterations", CONFIRMED),
                                              ("nan", "2.8", "3.1 iterations", OPEN), ("0.7", "0.7", "never", CONFIRMED)):
            with self.subTest(crs), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder)
                (path / "chaotic.csv").write_text(
                    '"Plain CRS and block-CRS, x"\n' + heads + row.format('"plain CRS, Algorithm 16"', crs)
                    + row.format('"block-CRS, double"', block) + "\nFindings\nsource,finding,verdict,measured\n"
                    f"T section 4.9,the conversion pays after at most 4 iterations of async-(5),holds,{measured}\n"
                    "T section 4.9,both give the same iterates of async-(5),holds,1e-15\n")
                (path / "result.json").write_text('{"device": "cuda"}')
                lines = finding_checks.OfStarts("T section 4.9", gpu="conversion")(store.Result(path))
                self.assertEqual([line.verdict for line in lines], [verdict, CONFIRMED])

    # fails if a failed repetition takes away the older result
    def test_a_failed_repetition_leaves_the_older_result(self):
        with tempfile.TemporaryDirectory() as folder:
            results = store.Store(folder)
            results.finish(results.begin("a", "host"), "a", "host", {"commands": []})
            results.fail(results.begin("a", "host"), "a", "host")
            self.assertTrue(results.is_finished("a", "host", []))

    # fails if the file is opened before the text is there
    def test_writing_is_all_or_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "file"
            store.write_atomically(path, "old")
            with self.assertRaises(UnicodeEncodeError):
                store.write_atomically(path, "new \ud800")
            self.assertEqual(path.read_text(), "old")
            store.write_atomically(path, "new")
            self.assertEqual(path.read_text(), "new")
            self.assertEqual([one for one in path.parent.iterdir() if one != path and "new" in one.read_text()], [])

    # fails if a reconstruction refutes, or its matrix is not named
    def test_the_reconstruction_does_not_refute(self):
        for claim, verdict, expected in (("Chem97ZtZ: c", REFUTED, OPEN), ("Chem97ZtZ: c", CONFIRMED, CONFIRMED),
                                         ("fv1: c", REFUTED, REFUTED)):
            line = document.of_reconstruction(Line(claim, "1", verdict))
            self.assertEqual(line.verdict, expected)
            self.assertEqual("reconstruction" in line.why, claim != "fv1: c")

    # fails if one of several sources of a claim takes the place of the others, or a label is lost
    def test_a_claim_of_several_sources(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "result.json").write_text('{"device": "host"}')
            (path / "chaotic.csv").write_text('"Findings"\na,b,c,d\nT 1,x,holds,1\nT 2,x,does not hold,2\n'
                                              'T 3,y,holds,3\n')
            lines = checks.Found("T", label="z: ")(store.Result(path))
        self.assertEqual([(line.claim, line.verdict) for line in lines],
                         [("z: T 1: x", CONFIRMED), ("z: T 2: x", REFUTED), ("z: y", CONFIRMED)])

    # fails if a count for an accuracy that is not printed is refuted by one for another accuracy
    def test_corrections_to_another_accuracy_refute_nothing(self):
        item = next(item for item in items.ITEMS if item.where == "T Figure 4.31")
        for verdict, expected in (("holds", CONFIRMED), ("does not hold", OPEN)):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder)
                (path / "result.json").write_text('{"device": "host"}')
                (path / "chaotic.csv").write_text(f'"Findings"\na,b,c,d\n"T section 4.12.1, R section 4",x,{verdict},3\n')
                lines = [line for _, check in item.checks for line in check(store.Result(path))]
            self.assertEqual([line.verdict for line in lines], [expected])

    # fails if host threads decide claims on GPUs
    def test_only_a_gpu_decides_claims_on_gpus(self):
        line = Line("c", "1", CONFIRMED)
        for device, expected in (("host", OPEN), ("cuda", CONFIRMED)):
            self.assertEqual(checks.on_gpu(type("Result", (), {"device": device}), line).verdict, expected)


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.temporary.name)
        self.program = self.folder / "program"
        self.program.write_text(PROGRAM.replace("{python}", sys.executable))
        self.program.chmod(0o755)
        self.write_csv("holds", "40 iterations")

    def tearDown(self):
        self.temporary.cleanup()

    def write_csv(self, verdict, measured):
        (self.folder / "csv").write_text(CSV.format(verdict=verdict, measured=measured))

    def command(self, *arguments):
        programs = [word for option in ("--leopard", "--leopard-study", "--leopard-solve")
                    for word in (option, str(self.program))]
        return [sys.executable, str(SCRIPTS / "reproduce"), *programs, "--results", str(self.folder / "results"),
                "--document", str(self.folder / "doc" / "reproduction.md"), *arguments]

    def run_script(self, *arguments):
        environment = {key: value for key, value in os.environ.items() if key != "LEOPARD_MATRICES"}
        return subprocess.run(self.command(*arguments), capture_output=True, text=True, env=environment, timeout=300)

    def calls(self):
        path = self.folder / "calls"
        words = [line.split()[0] for line in path.read_text().splitlines()] if path.exists() else []
        return [word for word in words if word != "--version"]

    def document(self):
        return (self.folder / "doc" / "reproduction.md").read_text()

    def refuses(self, *arguments, words, code=1):
        done = self.run_script(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse((self.folder / "doc").exists())
        self.assertFalse((self.folder / "results").exists())

    # fails if a result is read from elsewhere, or its verdict is another one
    def test_verdicts_come_from_the_output(self):
        for verdict, measured, expected in (("holds", "40", "**confirmed**"), ("does not hold", "41", "**refuted**"),
                                            ("holds", "nan", "cannot be decided here")):
            self.write_csv(verdict, measured)
            done = self.run_script("--only", "4.21", "--again")
            self.assertEqual(done.returncode, 0, done.stderr)
            row = next(line for line in self.document().splitlines() if line.startswith("| T Figure 4.21"))
            self.assertIn(f"| {measured} | {expected}", row)
            self.assertEqual("refuted without a reason: T Figure 4.21, the block size" in done.stdout, verdict == "does not hold")
        self.assertIn("`theta`, host", row)

    # fails if tiny sizes decide something
    def test_quick_decides_nothing(self):
        self.assertEqual(self.run_script("--only", "4.21", "--quick").returncode, 0)
        self.assertNotIn("| **confirmed** |", self.document())
        self.assertIn("sizes of --quick", self.document())

    # fails if what is finished runs again, if --again does not repeat it, or if part of a killed run counts
    def test_a_killed_run_goes_on(self):
        both = "^(theta|mesh-blocks)$"
        (self.folder / "wait").write_text("mesh-blocks")
        running = subprocess.Popen(self.command("--only", both), stdout=subprocess.DEVNULL, start_new_session=True)
        for _ in range(600):
            if (self.folder / "waiting").exists():
                break
            time.sleep(0.1)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        (self.folder / "wait").unlink()
        self.assertFalse((self.folder / "doc").exists())
        self.assertEqual(self.calls(), ["theta", "theta", "mesh-blocks"])
        for arguments, expected in ((["--only", both], ["mesh-blocks"] * 2), (["--only", both], []),
                                    (["--only", both, "--again"], ["theta"] * 2 + ["mesh-blocks"] * 2)):
            before = len(self.calls())
            self.assertEqual(self.run_script(*arguments).returncode, 0)
            self.assertEqual(self.calls()[before:], expected)
        self.assertEqual(list((self.folder / "results").glob("*.part")), [])

    # fails if steps wait for each other, more of them run at once than are allowed, or one begins after an Error
    def test_steps_side_by_side(self):
        begun, at_once, lock = [], [0], threading.Lock()

        class Counting(run.Runner):
            def step(self, part, name, command):
                with lock:
                    begun.append(name)
                    at_once[0] = max(at_once[0], len(begun) - ended[0])
                if command == ["fail"]:
                    raise Error("failed")
                time.sleep(0.2)
                with lock:
                    ended[0] += 1

        runner = Counting(None, {}, None)
        for workers in (1, 3):
            begun.clear()
            ended, at_once[0] = [0], 0
            runner.steps(None, [[str(i), "go"] for i in range(6)], workers)
            self.assertEqual((len(begun), at_once[0]), (6, workers))
        begun.clear()
        ended = [0]
        with self.assertRaises(Error):
            runner.steps(None, [["0", "fail"], *([str(i), "go"] for i in range(1, 6))], 1)
        self.assertLessEqual(len(begun), 2)

    # fails if a failure ends the run, is not named, or exits with 0
    def test_a_failed_experiment_is_named_and_others_go_on(self):
        (self.folder / "fail").write_text("storage")
        done = self.run_script("--only", "^(theta|storage)$")
        self.assertEqual(done.returncode, 1)
        self.assertIn("failed: storage", done.stderr)
        self.assertIn("a program failed", done.stdout)
        self.assertIn("theta", self.calls())
        self.assertIn("not run: `scripts/reproduce --only storage`", self.document())
        self.assertIn("**confirmed**", self.document())

    # fails if a finding that no item takes is dropped silently
    def test_findings_in_no_table_are_named(self):
        (self.folder / "csv").write_text((self.folder / "csv").read_text() + "T Figure 9.9,something new,holds,1\n")
        self.assertIn("in no table: theta, T Figure 9.9: something new", self.run_script("--only", "4.21").stdout)

    # fails if a number fits part of another one
    def test_numbers_are_whole(self):
        listed = self.run_script("--only", "4.2", "--list")
        self.assertEqual(listed.returncode, 0)
        self.assertIn("variation", listed.stdout)
        self.assertNotIn("theta", listed.stdout)

    # each fails if the input is not looked at before something runs or is written
    def test_bad_input_is_refused(self):
        self.refuses("--only", "(", words=["no regular expression", "expected"], code=2)
        self.refuses("--only", "zebra", words=["names no experiment", "--list"], code=2)
        self.refuses("--only", "4.10", "--leopard-solve", "/nowhere/solve", words=["/nowhere/solve", "--leopard-solve"])
        self.refuses("--only", "Figure 4.33", words=["names no experiment", "cannot be decided here"], code=2)
        self.refuses("--only", "4.5", "--matrices", "/nowhere", words=["/nowhere", "fv3.mtx.gz", "--matrices"])
        self.refuses("--runs", "3", words=["unrecognized"], code=2)
        self.refuses("--gpu", "--only", "B.2", words=["needs no GPU"], code=2)
        (self.folder / "fail").write_text("cuda")
        self.refuses("--gpu", "--only", "4.21", words=["no GPU answers"])

    # fails if an unwritable place ends in a traceback
    def test_a_document_that_cannot_be_written(self):
        (self.folder / "file").write_text("")
        done = self.run_script("--only", "4.21", "--document", str(self.folder / "file" / "x.md"))
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn("Traceback", done.stderr)
        self.assertIn("cannot be written", done.stderr)


if __name__ == "__main__":
    unittest.main()
