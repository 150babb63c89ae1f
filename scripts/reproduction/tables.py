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
    for matrix in published.ITERATION_SECONDS:
        row = [checks.shown(matrix)]
        if matrix not in MATRICES:
            yield [*row, *(text for seconds in published.ITERATION_SECONDS[matrix] for text in (f"{seconds:.6f}", NOT))]
            continue
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


NOT = "not measured"


def text_of(number, digits=2):
    """A printed number; a dash where none is printed."""
    return "-" if number is None else f"{number:.{digits}f}"


def known(row, *columns):
    """The first of these cells that is a number, as text."""
    return next((row[i] for i in columns if value(row[i]) == value(row[i])), NOT) if row else NOT


def processors(method, start, rows, parts):
    """T Tables 5.1, 5.2 as they are printed: [threads, iterations, s, Wh]; parts: Wh of chipset and GPU where that works."""
    def made(result):
        ours = {row[0]: row for row in result.table("chaotic.csv", start)[2]}
        for threads, iterations, seconds, hours in rows:
            row = ours.get(f"{method}, {name_of_threads(threads)}")
            chipset, gpu = parts if threads == 0 else (hours, None)
            yield (hardware(threads), iterations, known(row, 2), text_of(seconds), known(row, 3), text_of(chipset), known(row, 9), text_of(gpu),
                   known(row, 8) if threads == 0 else "-", text_of(hours), known(row, 10))
    return made


def name_of_threads(threads):
    """As leopard-study calls it."""
    return "GPU" if threads == 0 else f"{threads} thread{'s' if threads > 1 else ''}"


def hardware(threads):
    """As the thesis calls it."""
    return "GPU" if threads == 0 else f"CPU {threads}T"


def frequencies(result):
    """T Table 5.3 as it is printed; ours at the frequency that the machine has."""
    ours = {row[0]: row for row in result.table("chaotic.csv", "Table 5.3: CG")[2]}
    for threads, _, seconds, hours in published.OF_A318:
        row = ours.get(f"CG, {name_of_threads(threads)}")
        chipset, gpu = published.WATTS_A318[threads]
        yield (hardware(threads), "2,000", text_of(seconds), known(row, 3), text_of(chipset), known(row, 7), text_of(gpu),
               known(row, 5, 6) if threads == 0 else "-", text_of(hours), known(row, 10))
        seconds, chipset, gpu, hours = published.AT_800_MHZ[threads]
        yield (hardware(threads), "800", text_of(seconds), NOT, text_of(chipset), NOT, text_of(gpu), NOT if threads == 0 else "-", text_of(hours), NOT)


def relaxations(result):
    """T Table 5.6 as it is printed; ours of GPU and CPU, or of the GPU where that of the CPU is not known."""
    rows = {(row[0], row[1]): row for row in result.table("chaotic.csv", "Table 5.6, ")[2]}
    of_jacobi = ()
    for name, (seconds, spin, block, spin_hours, block_hours) in published.ENERGY_FV3.items():
        plain, asleep = rows.get((name, "spin"), rows.get((name, "-"))), rows.get((name, "block"))
        joules = [known(row, 10, 8) for row in (plain, asleep)]
        watts = [g(value(energy) / value(row[3])) if row and value(energy) == value(energy) else NOT for energy, row in zip(joules, (plain, asleep))]
        own = value(known(plain, 3)), *map(value, joules)
        of_jacobi = of_jacobi or own
        gains = ", ".join(g(100 * (1 - a / b), 2) if a == a and b == b else "-" for a, b in zip(own, of_jacobi))
        yield (name, text_of(seconds), known(plain, 3), text_of(spin), watts[0], text_of(block), watts[1], text_of(spin_hours), joules[0],
               text_of(block_hours), joules[1], ", ".join(map(str, published.GAINS_FV3.get(name, ("-",)))), gains if name != "Jacobi" else "-")


def smoothers(result):
    """T Table 4.11 as it is printed, with the gains that follow from it."""
    rows = {}
    for row in result.table("run/study_findings.csv", "Table 4.11 and Figure 4.29")[2]:
        rows.setdefault((int(row[0]), int(row[1])), row)
    for levels, *times in published.SMOOTHER_SECONDS:
        for i, (gs, own, copies) in enumerate(zip(*times)):
            row = rows.get((levels, 10 ** (4 + i)))
            yield (levels, f"10^{4 + i}", text_of(gs, 5), known(row, 2), text_of(own, 5), known(row, 4), text_of(copies, 5), known(row, 6),
                   text_of(gs / own), known(row, 8), text_of(gs / (own + copies)), known(row, 10))


def variation(matrix, set_up):
    """T Tables 4.1, 4.2 as they are printed, and the synchronous schedule."""
    def made(result):
        _, _, residuals = result.table("chaotic.csv", f"Relative residual, {matrix}, {set_up}")
        _, _, spread = result.table("chaotic.csv", f"Variation, {matrix}, {set_up}")
        for row, other in zip(residuals, spread):
            yield (row[0], row[2], row[1], row[4], row[3], row[6], row[5], other[2], other[1], other[4], other[3], row[7])
    return made


def sizes(result):
    """T Table B.1 as it is printed."""
    files = {"Trefethen_2000": "trefethen"}
    for name, (rows, entries) in published.SIZES.items():
        path = result.folder / f"{files.get(name, name)}.txt"
        match = re.search(r"^rows, entries:\s+(\d+), (\d+)", path.read_text(encoding="utf-8"), re.MULTILINE) if path.exists() else None
        yield (name, rows, match[1] if match else NOT, entries, match[2] if match else NOT)


def conditions(result):
    """T Table B.2 as it is printed."""
    for name, (of_a, scaled, rho) in published.CONDITION.items():
        path = result.folder / f"{name}.txt"
        if not path.exists():
            yield (checks.shown(name), f"{of_a:.1e}", NOT, NOT, f"{scaled:g}", NOT, f"{rho:g}", NOT)
            continue
        ours = result.json(f"{name}-condition.txt")
        yield (checks.shown(name), f"{of_a:.1e}", *(g(ours[kind], 5) if kind in ours else NOT for kind in ("A, 2-norm", "A, 1-norm")), f"{scaled:g}",
               g(ours["D^-1 A, 1-norm"], 5) if ours else NOT, f"{rho:g}", g(checks.number(r"^rho\(B\)[^:]*:\s+([0-9.]+)", path.read_text()), 5))


def factors(result):
    """O Table 1 as it is printed."""
    measured = next((text for source, _, _, text in result.findings("chaotic.csv") if source == "O Table 1"), "")
    ours = re.match(r"(\d+) rows, (\d+) entries", measured)
    for name, (rows, entries, a_row, condition) in published.FACTORS.items():
        own = ours if name == "LAP" else None
        yield (name, rows, own[1] if own else NOT, entries, own[2] if own else NOT, f"{a_row:.2f}",
               f"{int(own[2]) / int(own[1]):.2f}" if own else NOT, f"{condition:.2e}", NOT)


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
