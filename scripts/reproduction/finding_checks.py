# SPDX-License-Identifier: Apache-2.0
"""Findings of studies with what else the output says of them, and claims that the tables of studies decide."""
import dataclasses
import math
import re

from . import tables
from .checks import ON_GPU, Found, g, number, schedules
from .experiments import SCHEDULES
from .verdicts import CONFIRMED, REFUTED, agree, decide, finite


class OfStarts(Found):
    """
    When a conversion pays is the difference of two starts over that of two iterations: where the starts of Algorithm 16
    and of block-CRS, each measured once, are within a quarter of each other, they vary by as much, and nothing is
    decided. Other findings are as they are.
    """

    def __call__(self, result):
        _, _, rows = result.table("chaotic.csv", "Plain CRS and block-CRS")
        starts = {(row[0], row[1]): number(r"^(.*)$", row[6]) for row in rows}
        lines = []
        for line in super().__call__(result):
            of = re.search(r"^the conversion pays .*(async-\(\d+\))", line.claim)
            crs, block = (starts.get((of and of[1], kept), math.nan) for kept in ("plain CRS, Algorithm 16", "block-CRS, double"))
            apart = finite(crs, block) and abs(block - crs) > 0.25 * max(crs, block)
            decided = of and line.verdict in (CONFIRMED, REFUTED) and not line.ours.startswith("never")
            lines.append(line if apart or not decided else line.because(
                f"the starts, {g(crs, 3)} and {g(block, 3)} s, are as far apart as from one run to another"))
        return lines


class OfPlans(Found):
    """
    Refinement with async-(5) in double precision does the iterations of async-(5), but for what its corrections do too
    much: where it does more than twice as many, the corrections after the first were planned from a rate that was
    measured wrongly, and no claim that counts or times them is decided.
    """

    def __call__(self, result):
        wrong = {}
        for schedule in (s for s in SCHEDULES if (result.folder / f"{s}.csv").exists()):
            for title, _, rows in result.tables(f"{schedule}.csv"):
                needed = {row[0]: number(r"^(.*)$", row[1]) for row in rows if len(row) > 1}
                plain, double = (needed.get(name, math.nan) for name in ("async", "refinement, double"))
                if title.startswith("To a relative residual of ") and double > 2 * plain:
                    wrong[title.split(", ")[-1]] = f"{schedule}, {double:g} iterations where async-(5) does {plain:g}"
        lines = []
        for line in super().__call__(result):
            matrix = re.match(r"\w+", line.claim)[0]
            affected = matrix in wrong and "refinement, double" in line.ours and line.why != ON_GPU
            lines.append(line.because(f"refinement in double ({wrong[matrix]}): its second correction was planned from a rate that "
                                      "was measured too slow, which says nothing of the precision") if affected else line)
        return lines


class OfStandIns(Found):
    """Findings of the study of energy, whose claims name the papers' matrices: with what stands for them, and its size."""

    def __call__(self, result):
        here = {name: f"{name} (here {found} of {int(rows):,} rows)" for name, _, _, found, rows, _ in tables.stand_ins(result)
                if found != "the same"} if (result.folder / "chaotic.txt").exists() else {}
        names = "|".join(sorted(here, key=len, reverse=True))
        return [dataclasses.replace(line, claim=re.sub(rf"\b({names})\b", lambda match: here[match[1]], line.claim)) if here else line
                for line in super().__call__(result)]


def of_schedules(result, claim, of):
    """The line of a claim that each schedule has to meet. of(schedule): values, what they have to be, ours."""
    return agree({schedule: decide(claim, *of(schedule)) for schedule in schedules(result)})


def smaller_blocks(result):
    """T section 4.10.5, Figure 4.21."""
    def of(schedule):
        _, _, rows = result.table(f"{schedule}.csv", "Iterations to 1e-12")
        factors = [number(r"^(.*)$", row[2]) for row in sorted(rows, key=lambda row: int(row[0]))]
        if len(factors) < 2:
            return [], None, "less than two block sizes"
        return factors, lambda *v: all(a < b for a, b in zip(v, v[1:])), "factors " + ", ".join(g(v) for v in factors)
    return [of_schedules(result, "Trefethen_2000: with theta-dependent local iterations smaller blocks converge faster (each size than the "
                         "next larger one, by the factor of an iteration)", of)]


def omega_of_chem97(result):
    """T section 4.10.3, Figure 4.18 a."""
    tables_there = [title for title, *_ in result.tables(f"{schedules(result)[0]}.csv") if re.search(r"^Iterations to .*Chem97ZtZ", title)]
    if not tables_there:  # other matrices were asked for
        return []

    def of(schedule):
        _, _, rows = result.table(f"{schedule}.csv", tables_there[0])
        factors = {float(row[0]): number(r"^(.*)$", row[5]) for row in rows}
        best = min((w for w in factors if w > 1), key=factors.get, default=math.nan)
        values = [factors.get(1., math.nan), factors.get(best, math.nan)]
        return values, lambda one, other: other >= one, f"factor {g(values[0])} with omega = 1, {g(values[1])} with {best:g}"
    return [of_schedules(result, "Chem97ZtZ: an omega above 1 does not help", of)]
