#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the figures and the tables of numbers of scripts/reproduce with output that is written here."""
import csv
import json
import math
import pathlib
import re
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
from reproduction import Error, checks, document, figures, items, plots, published, run, store, tables  # noqa: E402
from reproduction import verdicts  # noqa: E402
from reproduction.verdicts import OPEN, Line  # noqa: E402


def numbered(columns, *labels):
    """Two rows of a table: labels, then cells such as 2.05 in row 1, column 5."""
    return [[*labels, *(f"{row}.{column:02}" for column in range(len(labels), columns))] for row in (1, 2)]


def output(folder, name, *blocks, file="chaotic.csv"):
    """The result of an experiment on a GPU with these tables: (title, heads or their number, rows)."""
    path = pathlib.Path(folder) / f"{name}.cuda"
    (path / file).parent.mkdir(parents=True, exist_ok=True)
    (path / "result.json").write_text('{"device": "cuda", "experiment": "x"}')
    with open(path / file, "w", newline="") as stream:
        writer = csv.writer(stream)
        for title, heads, rows in blocks:
            writer.writerows([[title], heads if isinstance(heads, tuple) else range(heads), *rows, []])
    return store.Result(path)


ACCURACIES = "Iterations and time to a relative residual, fv1 (T Figures 4.31)"
KINDS = ("iteration", "none", "uniform", "top-down", "bottom-up")
POWER = ("time (s)", *(f"Jacobi, {way}: {device} (W)" for way in ("spin", "block") for device in ("CPU", "GPU")))
# Figure: (experiment, titles, heads or their number, {name of a curve: (column of x, column of y)})
CURVES = {
    "4_7": ("faults", ["Relative residual, fv1, blocks of 448, k = 5, means of the runs"], ("n", "a", "b"),
            {"a": (0, 1), "b": (0, 2)}),
    "4_18": ("weights", ["Iterations to 1e-08, factor an iteration and time, fv1 (T Figures 4.18)"], 10,
             {"SOR": (0, 1), "async-(5)": (0, 4), "l1-async-(5)": (0, 7)}),
    "4_19": ("weights", ["l1 weights and block sizes"], 6, {"async-(5)": (0, 1), "l1-async-(5)": (0, 3)}),
    "4_21": ("theta", ["Iterations to 1e-12"], 18, {"async-(theta)": (0, 1)}),
    "4_22": ("theta", ["Iterations to 1e-12"], 18, {"async-(5)": (0, 5), "l1-async-(5)": (0, 9)}),
    "4_24": ("mesh-blocks", ["Block sizes, 32 x 32"], 5,
             {"after 200 iterations": (0, 2), "after 1000 iterations": (0, 3)}),
    "4_26": ("mesh-blocks", ["Meshes for blocks of"], 6, {"time": (0, 5)}),
    "4_31": ("refinement", [ACCURACIES], 11, {"refinement, double": (3, 0), "refinement, mixed": (5, 0)}),
    "4_32": ("refinement", [ACCURACIES], 11, {"async-(5)": (2, 0), "refinement, mixed": (6, 0)}),
    "4_34": ("refinement", [ACCURACIES], 11, {"block-asynchronous, mixed": (9, 0)}),
    "4_35": ("refinement", [ACCURACIES], 11, {"block-asynchronous, double": (8, 0)}),
    "4_36": ("refinement", [ACCURACIES], 11, {"refinement, mixed": (5, 0), "block-asynchronous, mixed": (9, 0)}),
    "4_37": ("refinement", [ACCURACIES], 11, {"async-(5)": (2, 0), "block-asynchronous, mixed": (10, 0)}),
    "5_4": ("energy", ["Figure 5.4: power over time, Jacobi, fv3"], POWER, {"GPU, spin": (0, 2), "CPU, block": (0, 3)}),
    "5_5": ("energy", ["Figure 5.5: power over time, Jacobi, fv3"], POWER, {"CPU, spin": (0, 1), "GPU, block": (0, 4)}),
    "5_6": ("energy", ["Figure 5.6: energy over accuracy, fv3 (the power)"],
            ("residual", "CG: GPU (J)", "CG: GPU and CPU (J)"), {"CG": (0, 2)}),
    "o_2": ("overlap", ["A, blocks top-down", "A, blocks in random order"], KINDS, {"none": (0, 1), "uniform": (0, 2)}),
    "o_3": ("overlap", ["A, blocks top-down"], KINDS, {"uniform": (0, 2), "top-down": (0, 3), "bottom-up": (0, 4)}),
    "o_4": ("overlap", ["A, blocks in random order"], KINDS, {"top-down": (0, 3), "bottom-up": (0, 4)}),
    "o_9": ("overlap", ["LAP on 64^3"], 4, {"global iterations": (0, 2), "milliseconds": (0, 3)}),
    "o_5": ("overlap", ["L of ILU(0), random order", "U of ILU(0), random order"], KINDS, {"bottom-up": (0, 4)}),
}
WEIGHTED = ("weights", "chaotic.csv", [("Iterations to 1e-08, factor an iteration and time, fv1 (T Figures 4.18)", 10,
                                        numbered(10))])
# Figure: (experiment, file, tables, {name of a series of bars: heights})
# Two GPUs; dk is on one of them only.
EXCHANGED = ("gpus", "chaotic.csv", [("fv3: residual after 400 global iterations; to 4.32e-01", 9, [
    [name, gpus, "0.01", f"{gpus}.{i}", "-", "0.4", "630", f"0.{gpus}{i}"] for i, name in enumerate(("halo", "amc", "dc", "dk"))
    for gpus in "12" if (name, gpus) != ("dk", "2")])])
BARS = {
    "4_10": (*EXCHANGED, {"AMC": [1.1, 2.1]}), "4_12": (*EXCHANGED, {"DC": [1.2, 2.2]}), "4_13": (*EXCHANGED, {"DK": [1.3]}),
    "4_14": (*EXCHANGED, {"AMC": [0.11, 0.21], "DC": [0.12, 0.22], "DK": [0.13, 0.]}),
    "4_20": (*WEIGHTED, {"SOR, host": [1.03, 2.03], "async-(5), cuda": [1.06, 2.06],
                         "l1-async-(5), cuda": [1.09, 2.09]}),
    "4_29": ("smoothers", "run/study_findings.csv",
             [("Table 4.11 and Figure 4.29", 12, numbered(12, "2", "10") + numbered(12, "5", "10"))],
             {"Gauss-Seidel, host": [1.02, 2.02] * 2, "Gauss-Seidel, published": [1.03, 2.03] * 2,
              "async-(5) and copies, cuda": [2.1, 4.1] * 2, "async-(5) and copies, published": [2.12, 4.12] * 2}),
    "4_30": ("smoothers", "run/study_findings.csv",
             [("Figure 4.30", 9, [["1", name, "1", "9", "5", "3"] for name in ("gauss-seidel", "async(5)")])],
             {"Gauss-Seidel, smoother": [3.], "Gauss-Seidel, rest": [2.], "async-(5), rest": [2.]}),
}


@unittest.skipUnless(figures.import_matplotlib(), "matplotlib is missing")
class FiguresTest(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder, self.plt = self.temporary.name, figures.import_matplotlib()

    def tearDown(self):
        self.plt.close("all")
        self.temporary.cleanup()

    # fails if what is not a number or has no place on the axis is drawn, or if nothing gives an empty figure
    def test_curves_of_what_can_be_shown(self):
        panels = [("a", [("b", [(0, 1.), (1, 0.), (2, math.nan), (3, 2.)], {})]), ("c", [("d", [(1, -1.)], {})])]
        axes = plots.curves(self.plt, panels, "x", "y").axes
        self.assertEqual([list(line.get_xydata().flat) for axis in axes for line in axis.get_lines()], [[0, 1, 3, 2]])
        self.assertIsNone(plots.curves(self.plt, panels[1:], "x", "y"))
        self.assertEqual([plots.value(text) for text in ("1.5e-03", "12.0 (0.1)")], [1.5e-3, 12.])
        self.assertTrue(all(math.isnan(plots.value(text)) for text in ("-", "never", "", "nan")))
        self.assertEqual(plots.points([["1", "2"], ["-", "3"], ["4", "never"]], 0, 1), [(1., 2.)])

    # fails if parts of a bar cover each other
    def test_parts_of_a_bar_are_stacked(self):
        figure = plots.bars(self.plt, [("t", ["g"], [("n", [("a", [1.]), ("b", [2.])], {})])], "x", "y")
        self.assertEqual([(bar.get_y(), bar.get_height()) for bar in figure.axes[0].patches], [(0, 1), (1, 2)])
        self.assertIsNone(plots.bars(self.plt, [], "x", "y"))

    # fails if another column is drawn, or under another name
    def test_curves_are_the_columns_of_the_output(self):
        for name, (experiment, titles, heads, expected) in CURVES.items():
            rows = numbered(len(heads) if isinstance(heads, tuple) else heads)
            result = output(self.folder, experiment, *((title, heads, rows) for title in titles))
            figure = figures.DRAW[name](self.plt, lambda wanted: result if wanted == experiment else None)
            lines = [line for axis in figure.axes for line in axis.get_lines()]
            if name == "5_4":  # what is printed of A318 is not for another matrix
                self.assertFalse([line for line in lines if "published" in line.get_label()])
            lines = [line for line in lines if line.get_label() in expected]
            self.assertEqual(len(lines), len(expected) * len(titles), name)
            for line in lines:
                x, y = expected[line.get_label()]
                there = set(map(tuple, line.get_xydata()))
                self.assertLessEqual({(float(row[x]), float(row[y])) for row in rows}, there, (name, line.get_label()))
            self.plt.close(figure)

    # fails if bars have other heights, or published and ours are mixed up
    def test_bars_are_the_columns_of_the_output(self):
        for name, (experiment, file, blocks, expected) in BARS.items():
            result = output(self.folder, experiment, *blocks, file=file)
            figure = figures.DRAW[name](self.plt, lambda wanted: result)
            heights = {}
            for group in (group for axis in figure.axes for group in axis.containers):
                heights.setdefault(group.get_label(), []).extend(round(bar.get_height(), 9) for bar in group)
            for label, values in expected.items():
                self.assertEqual(heights[label], [round(value, 9) for value in values], (name, label))

    # fails if published times are not the printed start and iterations
    def test_start_and_iterations(self):
        row = ["async-(1)", "plain CRS, Algorithm 16", "2", "3", "-", "-", "5", "7", "-", "-", "-"]
        result = output(self.folder, "storage", ("Plain CRS and block-CRS, seven-point 9^3 (T Table 4.8)", 11, [row]))
        lines = figures.DRAW["4_16"](self.plt, lambda name: result).axes[0].get_lines()
        self.assertEqual({line.get_label(): list(line.get_ydata()[:2]) for line in lines},
                         {"plain CRS, Algorithm 16, cuda": [5, 9], "plain CRS, published": [7, 13]})

    # fails if residuals of one smoother, repetition or case are drawn as those of another one
    def test_cycles_of_multigrid(self):
        heads = ("case", "epsilon", "unknowns", "smoothing_steps", "smoother", "repetition", "cycle_number",
                 "relative_residual")
        rows = [(f"Figure {case}", "1e-2", "9", *rest) for case, *rest in (
            ("4.27", "2", "async(k=5)", "0", "0", "1"), ("4.27", "2", "async(k=5)", "0", "1", "0.5"),
            ("4.27", "1", "jacobi", "0", "0", "0.25"), ("4.27", "1", "jacobi", "1", "1", "0.1"),
            ("4.28", "2", "gauss-seidel", "0", "0", "0.125"), ("4.27", "2", "async(k=5, omega=1)", "0", "2", "0.1"))]
        result = output(self.folder, "smoothers")
        (result.folder / "run").mkdir()
        with open(result.folder / "run" / "study_history.csv", "w", newline="") as stream:
            csv.writer(stream).writerows([heads, *rows])
        for name, expected in (("4_27", [("Jacobi, epsilon = 1e-2", [0.25]), ("async-(5), epsilon = 1e-2", [1., 0.5])]),
                               ("4_28", [("Gauss-Seidel, unknowns = 9", [0.125])])):
            axes = figures.DRAW[name](self.plt, lambda wanted: result).axes
            self.assertEqual([(line.get_label(), list(line.get_ydata())) for axis in axes for line in axis.get_lines()],
                             expected)

    # fails if the seconds of Newton's steps are not summed, or Gauss-Seidel is said to run on the GPU
    def test_inner_solvers_over_time(self):
        result = output(self.folder, "newton")
        for name in ("async-500", "jacobi", "gauss-seidel", "cg", "gmres"):
            (result.folder / name).mkdir()
            steps = [{"residual": 4., "seconds": 9.}, {"residual": 2., "seconds": 1.}, {"residual": 1., "seconds": 2.}]
            (result.folder / name / "run.json").write_text(json.dumps({"cycles": [{"newton": steps}]}))
        lines = figures.DRAW["4_39"](self.plt, lambda wanted: result).axes[0].get_lines()
        self.assertEqual(list(map(tuple, lines[0].get_xydata())), [(1e-3, 1.), (1., 0.5), (3., 0.25)])
        self.assertIn("Gauss-Seidel, host", [line.get_label() for line in lines])

    # fails if a schedule that is not timed is drawn over the time of another one
    def test_residual_over_time_is_of_what_was_timed(self):
        result = output(self.folder, "histories")
        for schedule in ("chaotic", "synchronous"):
            (result.folder / f"fv1-async-5-{schedule}.csv").write_text("iteration,relative\n0,1\n10,1e-12\n")
        with unittest.mock.patch.object(checks, "solve_seconds", return_value=2.):
            lines = figures.figure_4_6(self.plt, lambda name: result).axes[0].get_lines()
        self.assertEqual([(line.get_label(), list(line.get_xdata())) for line in lines], [("async-(5)", [0, 2])])
        drawn = figures.figure_4_4(self.plt, lambda name: result).axes[0].get_lines()
        self.assertEqual([line.get_label() for line in drawn], ["async-(5)", "async-(5), synchronous"])

    # fails if a figure is neither drawn nor said why not, or drawn for nobody
    def test_every_figure_is_drawn_or_it_is_said_why_not(self):
        self.assertEqual({item.figure for item in items.ITEMS if item.figure}, set(figures.DRAW))
        for item in items.ITEMS:
            if "Figure" in item.where and not item.same_as and item.status != verdicts.NOTHING:
                self.assertEqual(bool(item.figure), not (item.undrawn or item.why), item.where)

    # fails if Gauss-Seidel is said to run on the GPU, or if runs that are all equal are an empty curve
    def test_what_runs_where_and_equal_runs(self):
        result = type("Result", (), {"device": "cuda"})
        with unittest.mock.patch.object(checks, "seconds_an_iteration", return_value=1.):
            names = figures.figure_4_5(self.plt, lambda name: result).axes[0].get_legend_handles_labels()[1]
        self.assertIn("Gauss-Seidel, host", names)
        self.assertIn("Jacobi, cuda", names)
        for runs, said in (([1., 1.], True), ([1., 2.], False)):
            with unittest.mock.patch.multiple(checks, fv3_runs=lambda _, r=runs: {9: r}, history=lambda *_: [(9, 1.)]):
                axis = figures.figure_statistics_fv3(self.plt, lambda name: result).axes[1]
            self.assertEqual("all are equal" in axis.get_title(), said)
            self.assertEqual(len(axis.get_lines()), 1 if said else 2)


class TablesTest(unittest.TestCase):
    # fails if rows of some tables are lost, or stand under the name of another one
    def test_one_table_of_several(self):
        with tempfile.TemporaryDirectory() as folder:
            blocks = [(f"Table 5.4: CG, {name}, to 1e-10", 2, [[name, "1"]]) for name in "ab"]
            result = output(folder, "energy", *blocks, ("Table 5.5: CG, c", 2, [["c", "1"]]))
            table = tables.Table("energy", "Table 5.4: CG, ", (1, 0), ("x", "y"), each="matrix")
            title, heads, rows = table.read(result)
        self.assertEqual((title, heads), ("Table 5.4: CG", ("matrix", "x", "y")))
        self.assertEqual(rows, [["a", "1", "a"], ["b", "1", "b"]])

    # fails if joules, seconds or published numbers of the energy tables stand under another head
    def test_columns_of_the_energy_tables(self):
        source = (SCRIPTS.parent / "applications" / "studies" / "papers" / "energy.cc").read_text(encoding="utf-8")
        study = re.findall('"([^"]*)"', re.search("columns = {(.*?)};", source, re.DOTALL)[1])
        shown = [(head.removeprefix("ours, ").replace("published", "printed"), study[column])
                 for head, column in zip(items.ENERGY_HEADS, items.ENERGY_COLUMNS)]
        self.assertIn(("ours", "time (s)"), shown)
        named = [pair for pair in shown if pair[0] != "ours"]
        self.assertEqual([head for head, _ in named], [column for _, column in named])

    # fails if other columns of the papers are shown, or ours are not the means over the runs
    def test_tables_that_are_made(self):
        with unittest.mock.patch.object(checks, "fv3_runs", return_value={1000: [1., 3.]}):
            self.assertEqual(next(iter(tables.fv3_residuals(None)))[:5],
                             (1000, "5.891843e-02", "2.000000e+00", "5.892425e-02", "3.000000e+00"))
            self.assertEqual(next(iter(tables.fv3_spreads(None))),
                             (1000, "1.267907777e-11", "2.0000e+00", "3.560769267e-06", "1.4142e+00", "1.186923089e-06",
                              "1.0000e+00"))
        seconds = {"gauss-seidel": 1., "jacobi": 2., "async-5": 3.}
        with unittest.mock.patch.object(checks, "mean_seconds", lambda result, matrix, method: seconds[method]):
            self.assertEqual(list(tables.iteration_seconds(None))[1],
                             ["fv1", "0.120191", "1", "0.019449", "2", "0.012964", "3"])
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "N-112.txt").write_text("rows, entries: 7, 8\neigenvalues: 1 to 9, ratio 693.6\n")
            result = type("Result", (), {"folder": pathlib.Path(folder)})
            self.assertEqual(list(tables.helmholtz(result)), [(112, 12544, "7", 62272, "8", "693.63", "693.60")])

    # fails if printed digits are lost, or another energy is compared, or that of another matrix
    def test_tables_in_the_papers_layout(self):
        with tempfile.TemporaryDirectory() as folder:
            row = ["async-(1)", "block-CRS, double", "1", "2", "3", "4", "5", "3.8482", "7", "8", "9"]
            result = output(folder, "storage", ("Plain CRS and block-CRS", 11, [row]))
            self.assertEqual(list(tables.storage(result)),
                             [("async-(1)", "block-CRS, double", "2", "1", "4", "3", "3.8482", "5", "8", "7")])
            named = tables.Made("storage", "", tables.storage, (), "Plain CRS").read(result)
            self.assertEqual((named[0], len(named[2])), ("Plain CRS and block-CRS", 1))
            ways = [["CG", way, *"234567", joules, "9", "-"] for way, joules in (("spin", "6"), ("block", "4"))]
            result = output(folder, "energy", ("Table 5.4: CG, apache2, to 1e-10", 11, ways))
            rows = {row[0]: row for row in tables.waiting("Table 5.4: CG, ", published.ENERGY_CG)(result)}
        self.assertEqual(rows["apache2"], ("apache2", "1.98", "1.99", "1.82", "6", "4", 8.8, "50.0"))
        self.assertEqual(rows["A318"][4:], ("-", "-", 21.8, "-"))

    # fails if a number of ours stands under another head, what was not measured has a number, or printed rows are left out
    def test_tables_as_they_are_printed(self):
        def energy(name, way, base):
            return [name, way, *(str(base + column) for column in range(2, 15))]

        with tempfile.TemporaryDirectory() as folder:
            result = output(folder, "energy", ("Table 5.1: CG, G3_circuit, to 1e-10", 15, [energy("CG, 1 thread", "-", 100), energy("CG, GPU", "block", 200)]),
                            ("Table 5.3: CG, A318, to 1e-10", 15, [energy("CG, GPU", "block", 300)]),
                            ("Table 5.6, fv3, to 1e-12", 15, [energy("Jacobi", "spin", 0), energy("Jacobi", "block", 100),
                                                              energy("async-(5)", "spin", -1), energy("async-(5)", "block", 99)]))
            rows = list(tables.processors("CG", "Table 5.1: CG, ", published.OF_CG, published.PARTS_CG)(result))
            self.assertEqual(rows[0], ("CPU 1T", 21424, "102", "1674.45", "103", "53.96", "109", "-", "-", "53.96", "110"))
            self.assertEqual(rows[1], ("CPU 2T", 21424, *["not measured", "1307.21", "not measured", "45.70", "not measured", "-", "-", "45.70", "not measured"]))
            self.assertEqual(rows[4], ("GPU", 21467, "202", "198.43", "203", "8.04", "209", "3.44", "208", "11.48", "210"))
            rows = list(tables.frequencies(result))
            self.assertEqual(rows[8], ("GPU", "2,000", "253.22", "303", "149.04", "307", "61.89", "305", "14.84", "310"))
            self.assertEqual(rows[9], ("GPU", "800", "254.25", *["not measured", "138.50"], "not measured", "61.45", "not measured", "14.12", "not measured"))
            self.assertEqual(len(rows), 10)
            rows = list(tables.relaxations(result))
            self.assertEqual(rows[0], ("Jacobi", "406.10", "3", "217.60", "3.333", "124.85", "1.068", "24.35", "10", "14.08", "110", "-", "-"))
            self.assertEqual(rows[1][2:5] + rows[1][11:], ("2", "216.72", "4.5", "67, 67, 69", "33, 10, 0.91"))
            self.assertEqual(rows[2][2::2], ("not measured",) * 5 + ("-, -, -",))

            study = [["2", "100000", *(f"{n}" for n in range(2, 12))], ["2", "100000", *"abcdefghij"]]  # of another smoother
            rows = list(tables.smoothers(output(folder, "smoothers", ("Table 4.11 and Figure 4.29", 12, study), file="run/study_findings.csv")))
            self.assertEqual(rows[1], (2, "10^5", "0.03613", "2", "0.00602", "4", "0.02571", "6", "6.00", "8", "1.14", "10"))
            self.assertEqual((len(rows), rows[15][1:4]), (16, ("10^7", "6.95943", "not measured")))

            result = output(folder, "variation", ("Relative residual, fv1, as printed", 8, [[f"r{n}" for n in range(8)]]),
                            ("Variation, fv1, as printed", 11, [[f"v{n}" for n in range(11)]]))
            self.assertEqual(next(iter(tables.variation("fv1", "as printed")(result))),
                             ("r0", "r2", "r1", "r4", "r3", "r6", "r5", "v2", "v1", "v4", "v3", "r7"))

            result = output(folder, "overlap", ("Findings", 4, [["O Table 1", "LAP", "holds", "7 rows, 14 entries"]]))
            rows = {row[0]: row[1:] for row in tables.factors(result)}
            self.assertEqual(rows["LAP"], (262144, "7", 3560572, "14", "13.58", "2.00", "9.23e+06", "not measured"))
            self.assertEqual((len(rows), rows["M_T1"][1::2]), (8, ("not measured",) * 4))

            for name, text in (("fv1.txt", "rows, entries: 7, 8\nrho(B): 0.5\n"), ("fv1-condition.txt", '{"A, 2-norm": 1, "A, 1-norm": 2, "D^-1 A, 1-norm": 3}')):
                (result.folder / name).write_text(text)
            self.assertIn(("fv1", 9604, "7", 85264, "8"), list(tables.sizes(result)))
            self.assertIn(("fv2", 9801, "not measured", 87025, "not measured"), list(tables.sizes(result)))
            self.assertIn(("fv1", "9.3e+04", "1", "2", "12.76", "3", "0.8541", "0.5"), list(tables.conditions(result)))
            self.assertEqual(len(list(tables.conditions(result))), 6)

    # fails if the source of the studies is read wrongly, or a name that is not there is passed over
    def test_what_the_source_prints(self):
        self.assertEqual(published.SMOOTHER_SECONDS[0][:2], [2, [0.00398, 0.03613, 0.36815, 3.62690]])
        self.assertEqual(published.OF_CG[4], [0, 21467, 198.43, 11.48])
        self.assertEqual(dict((row[0], row[1:]) for row in published.printed("energy_of_waiting"))["ldoor"], [None, None, 43.22, 34.79])
        self.assertEqual(published.ENERGY_FV3["async-(5)"], (133.09, 216.72, 118.98, 7.98, 4.38))
        with self.assertRaisesRegex(Error, "has no 'energy = "):
            published.printed("energy")

    # fails if seconds, watts and watt-hours of a row do not belong together, which mistyped ones would not
    def test_printed_watts(self):
        for threads, _, seconds, hours in published.OF_A318:
            self.assertAlmostEqual(seconds * sum(filter(None, published.WATTS_A318[threads])) / 3600, hours, delta=0.02)
            seconds, chipset, gpu, hours = published.AT_800_MHZ[threads]
            self.assertAlmostEqual(seconds * (chipset + (gpu or 0)) / 3600, hours, delta=0.02)
        for rows, parts in ((published.OF_CG, published.PARTS_CG), (published.OF_PCG, published.PARTS_PCG)):
            self.assertAlmostEqual(sum(parts), rows[4][3], delta=0.005)
        for seconds, plain, asleep, plain_hours, asleep_hours in published.ENERGY_FV3.values():
            self.assertAlmostEqual(seconds * plain / 3600, plain_hours, delta=0.21)  # Jacobi's is an erratum
            self.assertAlmostEqual(seconds * asleep / 3600, asleep_hours, delta=0.03)

    # fails if the printed energies are mistyped: improvements are printed; the sign of ecology2 is an erratum
    def test_printed_energies(self):
        for printed in (published.ENERGY_CG, published.ENERGY_PCG):
            for matrix, (plain, dvfs, both, of_dvfs, of_both) in printed.items():
                self.assertAlmostEqual(100 * (plain / both - 1), of_both, delta=0.06)
                sign = -1 if (matrix, of_dvfs) == ("ecology2", -1.3) else 1
                self.assertAlmostEqual(100 * (plain / dvfs - 1), sign * of_dvfs, delta=0.06)

    # fails if what was measured before is not linked where nothing is decided, or from another folder
    def test_what_was_measured_before_is_linked(self):
        item = items.Item("T 1", "what", (("a", lambda result: [Line("c", "1 GPU", OPEN)]),), see=("b.md",))
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(document, "ITEMS", (item,)):
            output(folder, "a", ("x", 1, []))
            (pathlib.Path(folder) / "a.cuda" / "result.json").write_text('{"device": "cuda", "quick": false}')
            rows = document.Document(store.Store(folder), up="../../").rows(item)
        self.assertIn("measured before: [b.md](../../benchmarks/results/b.md)", rows[0][3])

    # fails if a quoted table is not found, or goes on in the text behind it
    def test_quoted_tables(self):
        heads, rows = tables.Quoted(items.GPUS, "| finding | here").read(run.ROOT)
        self.assertEqual(heads, ["finding", "here"])
        self.assertEqual({len(row) for row in rows}, {2})
        with self.assertRaisesRegex(Error, "has no table"):
            tables.Quoted(items.GPUS, "| nothing").read(run.ROOT)
        self.assertTrue(all(quoted.read(run.ROOT)[1] for item in items.ITEMS for quoted in item.quoted))

    # fails if a table is left out without a word, as with another title, without rows, or of another experiment's run
    def test_tables_that_the_output_lacks(self):
        table = tables.Table("a", "Table 9, ", (0,), ("x",))
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(document, "ITEMS", ()):
            for title, rows, there in (("Table 9, fv1", [["7"]], True), ("Table 9, fv1", [], False), ("Table 8", [["7"]], False)):
                output(folder, "a", (title, 1, rows))
                (pathlib.Path(folder) / "a.cuda" / "result.json").write_text('{"device": "cuda", "quick": false}')
                text = document.Document(store.Store(folder)).table(table)
                self.assertEqual("| 7 |" in text, there)
                self.assertEqual(text == "Table 9: not in the output of `a` on cuda.", not there)
            self.assertEqual(document.Document(store.Store(folder)).table(tables.Table("b", "x", (0,), ("x",))), "")  # not run

    # fails if a long table is not folded up, or a short one is
    def test_long_tables_are_folded_up(self):
        self.assertTrue(document.titled("a", "b", document.MANY + 1).startswith("<details>"))
        self.assertEqual(document.titled("a", "b", document.MANY), "a:\n\nb")


if __name__ == "__main__":
    unittest.main()
