# SPDX-License-Identifier: Apache-2.0
"""
Tables of numbers, published beside ours: columns of the tables of a study, rows made of other output, and tables of
files in benchmarks/results/.
"""
import dataclasses
import re
import statistics

from . import Error, checks, published
from .checks import g
from .experiments import HELMHOLTZ, MATRICES
from .plots import value

RESULTS = "benchmarks/results/"


@dataclasses.dataclass(frozen=True)
class Table:
    """
    Columns of a table of a study, to be shown; the published values are among them. each: the rows of all tables whose
    title begins so, with what follows in the title as a first column of this name.
    """

    experiment: str
    start: str
    columns: tuple
    heads: tuple
    every: int = 1
    each: str = ""

    @property
    def name(self):
        return self.start.rstrip(", ")

    def read(self, result):
        """Title, heads, rows."""
        name = "run/study_findings.csv" if self.experiment == "smoothers" else "chaotic.csv"
        if not self.each:
            title, _, rows = result.table(name, self.start)
            rows = rows[::-1][::self.every][::-1]
            return title, self.heads, [[row[i] for i in self.columns] for row in rows]
        found = [(title.removeprefix(self.start).split(",")[0], row) for title, _, rows in result.tables(name)
                 if title.startswith(self.start) for row in rows]
        return self.name, (self.each, *self.heads), [[what, *(row[i] for i in self.columns)] for what, row in found]


@dataclasses.dataclass(frozen=True)
class Made:
    """A table whose rows a function makes of a result; its title is that of the study's table that begins so, if any."""

    experiment: str
    title: str
    rows: object
    heads: tuple
    start: str = ""

    @property
    def name(self):
        return self.title or self.start

    def read(self, result):
        title = result.table("chaotic.csv", self.start)[0] if self.start else self.title
        return title, self.heads, [list(map(str, row)) for row in self.rows(result)]


@dataclasses.dataclass(frozen=True)
class Quoted:
    """The table of a file in benchmarks/results/ whose line of heads begins so."""

    file: str
    start: str

    def read(self, root):
        """Heads and rows."""
        lines = (root / RESULTS / self.file).read_text(encoding="utf-8").splitlines()
        first = next((i for i, line in enumerate(lines) if line.startswith(self.start)), None)
        if first is None:
            raise Error(f"{RESULTS}{self.file} has no table '{self.start}'\n  expected: the table that items.py names")
        table = []
        for line in lines[first:]:
            if not line.startswith("|"):
                break
            table.append([text.strip() for text in line.strip("|").split("|")])
        return table[0], table[2:]


def fv3_residuals(result):
    """P Table V beside ours."""
    runs = checks.fv3_runs(result)
    for n, mean, most, least, variation, *_ in published.STATISTICS_FV3:
        ours = runs.get(n, [])
        values = (statistics.fmean(ours), max(ours), min(ours), max(ours) - min(ours)) if ours else ("-",) * 4
        yield (n, *(text for pair in zip((f"{mean:.6e}", f"{most:.6e}", f"{least:.6e}", f"{variation:.2e}"),
                                         (v if v == "-" else f"{v:.6e}" for v in values)) for text in pair))


def fv3_spreads(result):
    """P Table IV beside ours."""
    runs = checks.fv3_runs(result)
    for n, *_, variance, deviation, error in published.STATISTICS_FV3:
        ours = runs.get(n, [])
        if len(ours) > 1:
            own = statistics.variance(ours)
            values = [f"{v:.4e}" for v in (own, own ** 0.5, (own / len(ours)) ** 0.5)]
        else:
            values = ["-"] * 3
        yield (n, *(text for pair in zip((f"{v:.9e}" for v in (variance, deviation, error)), values) for text in pair))


def iteration_seconds(result):
    """T Table 4.6 beside ours."""
    for matrix in MATRICES:
        row = [checks.shown(matrix)]
        for i, method in enumerate(("gauss-seidel", "jacobi", "async-5")):
            row += [f"{published.ITERATION_SECONDS[matrix][i]:.6f}", g(checks.mean_seconds(result, matrix, method), 3)]
        yield row


def storage(result):
    """T Table 4.8 beside ours."""
    _, _, rows = result.table("chaotic.csv", "Plain CRS and block-CRS")
    for method, kept, second, printed, less, printed_less, start, printed_start, after, printed_after, *_ in rows:
        yield (method, kept, printed, second, printed_less, less, printed_start, start, printed_after, after)


def stand_ins(result):
    """What stands for the matrices of T Tables 5.1 to 5.5."""
    text = result.text("chaotic.txt")
    for name, (rows, entries) in published.SIZES.items():
        match = re.search(rf"^{name}(?: is (\S+) here, which is generated)?: (\d+) rows, (\d+) entries", text, re.MULTILINE)
        if match and name not in MATRICES:
            yield name, rows, entries, match[1] or "the same", match[2], match[3]


def waiting(start, printed):
    """T Tables 5.4, 5.5 in their layout; ours is the energy of GPU and CPU, or of the GPU where that is not known."""
    def rows(result):
        ours = {}
        for title, _, table in result.tables("chaotic.csv"):
            if title.startswith(start):
                matrix = title.removeprefix(start).split(",")[0]
                ours[matrix] = {row[1]: row[10] if row[10] != "-" else row[8] for row in table}
        for matrix, (plain, dvfs, both, _, better) in printed.items():
            spin, block = (ours.get(matrix, {}).get(way, "-") for way in ("spin", "block"))
            ratio = 100 * (value(spin) / value(block) - 1) if value(block) > 0 else value("-")
            yield (matrix, *(f"{v:.2f}" for v in (plain, dvfs, both)), spin, block, better,
                   f"{ratio:.1f}" if ratio == ratio else "-")
    return rows


def helmholtz(result):
    """T Table 4.10 beside ours; rows that have not been run are left out."""
    for n, rows, entries, condition in published.HELMHOLTZ:
        path = result.folder / f"N-{n}.txt"
        if n in HELMHOLTZ and path.exists():
            text = path.read_text(encoding="utf-8")
            ours = [checks.number(pattern, text) for pattern in (
                r"^rows, entries:\s+(\d+)", r"^rows, entries:\s+\d+, (\d+)", r"^eigenvalues.*ratio ([0-9.]+)")]
            yield (n, rows, f"{ours[0]:.0f}", entries, f"{ours[1]:.0f}", f"{condition:.2f}", f"{ours[2]:.2f}")
