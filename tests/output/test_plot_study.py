#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests scripts/plot_study on a small study that is written here. Exit code 77 if there is no matplotlib."""
import csv
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import matplotlib  # noqa: F401

    from load_script import load_script
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "plot_study"
KEY = ["case", "published", "problem", "epsilon", "unknowns", "levels", "cycle", "smoothing_steps", "smoother", "solver", "backend"]
FOUND = ["status", "cycles_median", "cycles_min", "cycles_max", "seconds_median", "seconds_lower_quartile", "seconds_upper_quartile", "smoother_seconds_a_cycle", "residual_and_transfers_seconds_a_cycle",
         "coarse_solver_seconds_a_cycle", "copies_seconds_a_cycle"]
FINDINGS = '''"Table 4.11 and Figure 4.29: seconds"
levels,unknowns,Gauss-Seidel,T,async-(5),T,copies,T,times as fast,T,with copies,T
2,10000,0.00390,0.00398,0.00080,0.00085,0.00000,0.01193,4,4.68,4,0.31
2,50,0.00390,-,0.00080,-,0.00000,-,4,-,4,-

"Table 4.11 and Figure 4.29: seconds, another async"
levels,unknowns,Gauss-Seidel,T,async-(5),T,copies,T,times as fast,T,with copies,T
2,10000,1,0.00398,1,0.00085,0.00000,0.01193,1,4.68,1,0.31

Findings
source,finding,verdict,measured
T Figure 4.27,"jacobi, slower",holds,inf
T Table 4.11,faster,does not hold,1
T Figure 4.30a,steps,holds,1 and 2
'''


def rows():
    """Two sizes and two smoothers in a case without published findings, and in the thesis's cases; one smoother fails."""
    for case, published in (("a box", "none"), ("f27", "Figure 4.27"), ("f28", "Figure 4.28"), ("t11", "Table 4.11"), ("f30", "Figure 4.30")):
        for size in (100, 10000):
            for steps in (1, 2):
                for smoother in ("gauss-seidel", "async(k=5, merged=2)", "jacobi"):
                    key = [case, published, "3-point, eps = 0.01", "0.01", size, 2, "V", steps, smoother, "multigrid", "host"]
                    yield key, ["failed"] + 10 * [""] if smoother == "jacobi" and steps == 1 else ["converged", 8 / steps, 7 / steps, 9 / steps, 0.03, 0.029, 0.032, 1e-3 * steps, 1e-3, 5e-4, 0]


def write_study(folder):
    with open(folder / "study.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([KEY + FOUND] + [key + found for key, found in rows()])
    with open(folder / "study_history.csv", "w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(KEY + ["repetition", "cycle_number", "seconds", "relative_residual"])
        for key, found in rows():
            if found[0] == "converged":
                writer.writerows(key + [r, c, 0.01 * c, 10. ** -c] for r in range(2) for c in range(5))
    (folder / "study_findings.csv").write_text(FINDINGS)
    (folder / "run.json").write_text('{"conclusion": "Conclusion: async is the fastest in 3 of 4 comparisons."}')


class PlotStudy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        write_study(self.folder)

    def call(self, code=0, *options):
        return self.call_with(self.folder, code, *options)

    def call_with(self, path, code=0, *options):
        result = subprocess.run([sys.executable, str(SCRIPT), str(path), *options], capture_output=True, text=True)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        self.assertNotIn("Traceback", result.stderr)
        return result.stdout + result.stderr

    def test_figures_are_made(self):
        said = self.call()
        written = {path.stem for path in (self.folder / "figures").glob("*.png")}
        kinds = ("residual_over_cycles", "residual_over_time", "time_split", "cycles_against_size")
        expected = {f"{case}_{kind}" for case in ("a_box", "f27", "f28", "t11", "f30") for kind in kinds} | {"overview"}
        self.assertEqual(written, expected | {f"figure_4_{n}" for n in (27, 28, 29, 30)})
        for path in (self.folder / "figures").glob("*.png"):
            self.assertGreater(path.stat().st_size, 5000, path)
            self.assertEqual(path.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
            self.assertIn(str(path), said)

    def test_axes_are_labelled_and_hold_the_data(self):
        module = load_script("plot_study")
        module.import_matplotlib()
        figures = []

        class Kept(module.Figures):
            def save(self, figure, name):
                figures.append((name, figure))

        module.Figures = Kept
        arguments, sys.argv = sys.argv, ["plot_study", str(self.folder)]
        self.addCleanup(setattr, sys, "argv", arguments)
        module.main()
        self.assertEqual(len(figures), 25)
        self.assertEqual(figures[0][0], "overview")
        self.assertIn("async is the fastest in 3 of 4", figures[0][1]._suptitle.get_text().replace("\n", " "))
        for name, figure in figures:
            drawn = [axes for axes in figure.axes if axes.axison]
            self.assertTrue(drawn, name)
            for axes in drawn:
                self.assertTrue(axes.get_xlabel() and axes.get_ylabel(), name)
                self.assertTrue(axes.lines or axes.patches, name)
        named = dict(figures)
        line = named["a_box_residual_over_time"].axes[0].lines[0]
        self.assertEqual(list(line.get_xdata()), [0, 0.01, 0.02, 0.03, 0.04])
        self.assertEqual(list(line.get_ydata()), [1, 0.1, 0.01, 0.001, 0.0001])
        for name in ("a_box_residual_over_cycles", "a_box_time_split", "a_box_cycles_against_size", "overview"):
            self.assertEqual(sum(axes.get_legend() is not None for axes in named[name].axes), 1, name)
        markers = {line.get_marker() for line in named["a_box_residual_over_cycles"].axes[0].lines if line.get_marker() != "None"}
        self.assertEqual(len(markers), 2)
        axes = named["a_box_time_split"].axes[0]
        heights = [patch.get_height() for patch in axes.patches]
        self.assertAlmostEqual(heights[0], 8.)  # 8 cycles of 1 ms
        self.assertAlmostEqual(sum(patch.get_height() for patch in axes.patches if patch.get_x() < 0.), 30.)  # the time to solution
        texts = [text.get_text() for axes in named["figure_4_27"].axes for text in axes.texts]
        self.assertTrue(any("HOLDS: inf" in text for text in texts))
        bars = [patch.get_height() for patch in named["figure_4_29"].axes[0].patches]
        self.assertIn(0.0039, bars)
        self.assertIn(0.00398, bars)

    def test_parts_that_are_longer_than_the_whole_are_made_to_fit(self):
        module = load_script("plot_study")
        row = {"seconds_median": "0.004", "cycles_median": "2", **{column: "1e-3" for column in module.PARTS.values()}}
        parts = module.split(row)
        self.assertAlmostEqual(sum(parts.values()), 4.)
        self.assertAlmostEqual(parts["smoother"], 1.)

    def test_formats(self):
        for name in ("study.csv", "study_history.csv"):
            lines = (self.folder / name).read_text().splitlines(keepends=True)
            (self.folder / name).write_text(lines[0] + "".join(line for line in lines if line.startswith("a box")))
        self.call(0, "--format", "pdf", "--format", "svg")
        for name, head in (("overview.png", b"\x89PNG"), ("overview.pdf", b"%PDF"), ("overview.svg", b"<?xml")):
            self.assertEqual((self.folder / "figures" / name).read_bytes()[:len(head)], head)

    def drawn(self, path):
        """The name and the figure that are drawn of a file of tables."""
        module = load_script("plot_study")
        module.import_matplotlib()
        kept = []
        module.draw_tables(type("Kept", (), {"save": lambda self, figure, name: kept.append((name, figure))})(), path)
        found, = kept
        return found

    def test_times_over_the_slow_down(self):
        path = self.folder / "imbalance.csv"
        path.write_text('"five-point-9: to 1e-02 on 2 threads"\n'
                        'busy processes,slow-down seen,without waiting (ms),predicted,with waiting (ms),"predicted, waiting"\n'
                        "0,1.00,10.0,10.0,12.0,12.0\n1,1.50,16.0,15.0,30.0,27.0\n\n"
                        'Findings\nsource,finding,verdict,measured\n,alone not waiting is as fast,holds,-17 percent\n\n')
        name, figure = self.drawn(path)
        axes, text = figure.axes
        self.assertEqual(name, "imbalance")
        self.assertEqual({line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines},
                         {"without waiting": ([1, 1.5], [10, 16]), "without waiting, predicted": ([1, 1.5], [10, 15]),
                          "with waiting": ([1, 1.5], [12, 30]), "with waiting, predicted": ([1, 1.5], [12, 27])})
        self.assertIn("HOLDS: -17 percent", text.texts[0].get_text())
        said = self.call_with(path, 0)
        self.assertTrue((self.folder / "figures" / "imbalance.png").stat().st_size > 5000 and "imbalance.png" in said)
        path.write_text("a\nb,c\n1,2\n\n")
        self.assertIn("has no table with a column 'slow-down seen'", self.call_with(path, 1))
        self.assertIn("cannot be read", self.call_with(self.folder / "none.csv", 1))

    def test_ranks_that_wait_and_that_do_not(self):
        path = self.folder / "ranks.csv"
        path.write_text('"2 ranks, a thread each"\ndisturbance,waiting (ms),iterations of waiting,not waiting (ms),fewest iterations of not waiting,'
                        'most iterations of not waiting,waiting / not waiting\n"none",10,260,8,240,300,1.25\n"a link",300,260,100,980,990,3\n')
        name, figure = self.drawn(path)
        axes, = figure.axes
        self.assertEqual((name, axes.get_title()), ("waiting_ranks", "2 ranks, a thread each"))
        self.assertEqual([[bar.get_width() for bar in bars] for bars in axes.containers], [[10, 300], [8, 100]])
        self.assertEqual([label.get_text() for label in axes.get_yticklabels()], ["none", "a link"])
        self.assertEqual([text.get_text() for text in axes.texts], ["1.25", "3.00"])

    def test_bad_input(self):
        (self.folder / "study_history.csv").unlink()
        self.assertIn("study_history.csv cannot be read", self.call(1))
        (self.folder / "study.csv").write_text("a,b\n1,2\n")
        self.assertIn("has no column case", self.call(1))
        write_study(self.folder)
        with open(self.folder / "study.csv", "a") as stream:
            stream.write("half,a,row\n")
        self.assertIn("not as many cells", self.call(1))
        (self.folder / "study.csv").write_text(",".join(KEY + FOUND) + "\n")
        self.assertIn("has no rows", self.call(1))


if __name__ == "__main__":
    unittest.main()
