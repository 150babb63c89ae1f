# SPDX-License-Identifier: Apache-2.0
"""What is wrong or contradictory in the papers, each with the evidence, which is computed where it is a number."""

from . import Error, checks, published
from .checks import g, trefethen_entries

BY_READING = "by reading"
RATIO = "(standard deviation / standard error)^2 "


def column(result, name, start, index):
    return [float(row[index]) for row in result.table(name, start)[2]]


def runs_of(deviations, errors):
    """How many runs (deviation / error)^2 speaks for, as text."""
    ratios = [(a / b) ** 2 for a, b in zip(deviations, errors)]
    least, most = g(min(ratios)), g(max(ratios))
    return f"{RATIO}is {least if least == most else f'{least} to {most}'} in all rows"


def of_variation(result):
    texts = {}
    for matrix in ("fv1", "trefethen"):
        start = f"Variation, {matrix}, as printed"
        texts[matrix] = runs_of(column(result, "chaotic.csv", start, 8), column(result, "chaotic.csv", start, 10))
    yield ("T Table 4.3, J Table 2", "1000 runs on fv1: the printed numbers are those of 400",
           f"{texts['fv1']}, which is n - 1; on Trefethen_2000 it {texts['trefethen'].removeprefix(RATIO)}")
    _, _, rows = result.table("chaotic.csv", "Relative residual, trefethen, as printed")
    largest, mean, smallest = float(rows[0][4]), float(rows[0][2]), float(rows[0][6])
    printed = column(result, "chaotic.csv", "Variation, trefethen, as printed", 4)[0]
    yield ("T Table 4.2, J Table 3", f"relative variation {printed:.4e} at iteration 5: ten times too small",
           f"(largest - smallest) / mean of the same row is {(largest - smallest) / mean:.4e}")
    powers = [checks.exponent(list(zip(column(result, "chaotic.csv", f"Variation, {matrix}, as printed", 0),
                                       column(result, "chaotic.csv", f"Variation, {matrix}, as printed", 4)))[first:last])
              for matrix, first, last in (("fv1", 0, 10), ("trefethen", 1, 6))]  # the misprint is left out
    yield ("T section 4.3, Figure 4.2", "the relative variation grows linearly",
           f"by the printed numbers it grows as a power of the iteration with the exponent {powers[0]:.2f} on fv1 (to 100) "
           f"and {powers[1]:.2f} on Trefethen_2000 (10 to 30)")


def of_local_iterations(result):
    _, _, rows = result.table("chaotic.csv", "More time than k = 1 takes")
    yield ("P, T section 4.4.2", "nine local iterations cost less than 35 percent more",
           f"{rows[8][10]} percent for 500 iterations by the printed times")


def of_storage(result):
    _, _, rows = result.table("chaotic.csv", "Plain CRS and block-CRS")
    printed = {(row[0], row[1].split(",")[0]): float(row[3]) for row in rows if row[3] != "-"}
    (crs, block), one = ((printed["async-(5)", name] for name in ("plain CRS", "block-CRS")),
                         printed["async-(1)", "plain CRS"])
    yield ("T Table 4.8", "82 percent less time for async-(5)",
           f"{100 * (1 - block / crs):.1f} percent by the printed times {crs} and {block} s")
    findings = {source: measured for source, claim, verdict, measured in result.findings("chaotic.csv")
                if "sweeps" in claim and verdict == "holds" or "as printed give the same iterates" in claim}
    yield ("T Algorithms 16, 17, 18", "async-(k) does 1 + k sweeps, as one stands before the loop",
           "; ".join(f"Algorithm {n}: {findings.get(f'T Algorithm {n}', 'not seen')}" for n in (16, 17, 18))
           + ". P Table V is met with 6 sweeps and not with 5, T Tables 4.1 and 4.2 with 6 in blocks of 112 rows and not with 5 in "
           f"blocks of 128; the times of T Table 4.8, {crs} / {one} = {crs / one:.2f}, speak for 5 against 1")
    yield ("T section 4.9", "CRS and block-CRS give the same iterates",
           f"Algorithm 16 reads values of other rows and blocks in each local iteration, Algorithm 18 does not: "
           f"{findings.get('T section 4.9, Algorithms 16, 18', 'not measured')}")


def of_theta(result):
    _, _, rows = result.table("chaotic.csv", "Local iterations of a global one")
    size, blocks, printed = int(rows[0][0]), int(rows[0][1]), int(rows[0][5])
    yield ("T Table 4.9", "the caption says Trefethen_20000", f"{blocks} blocks of {size} are {blocks * size} rows: "
           "it is Trefethen_2000")
    yield ("T Table 4.9", f"{printed} local iterations of async-(5) in {blocks} blocks of {size}",
           f"{printed} / 5 = {printed / 5:g}: the last block is not counted")


def of_matrices(result):
    entries = {ones: trefethen_entries(2000, ones) for ones in (True, False)}
    yield ("T appendix B", "ones of Trefethen_2000 where abs(i - j) = 2, 4, 8, ...",
           f"these are {entries[False]:,} entries; the printed {published.SIZES['Trefethen_2000'][1]:,} need "
           f"abs(i - j) = 1, too: {entries[True]:,}")
    fv1 = result.json("fv1-condition.txt")
    if fv1:
        yield ("T Table B.2, P Table III, J and R Table 1", "cond(D^-1 A) beside eigenvalues",
               f"printed are condition numbers in the 1-norm (fv1: {fv1['D^-1 A, 1-norm']:.5g}), not ratios of "
               "eigenvalues, on which convergence and tau depend")
        yield ("the same tables", f"cond(A) = {published.CONDITION['fv1'][0]:g} of fv1",
               f"{fv1['A, 2-norm']:.4g} in the 2-norm, {fv1['A, 1-norm']:.5g} in the 1-norm: it is neither, and "
               "so for the others, see T Table B.2")
    yield ("J Table 1", "Trefethen_20000 has the condition numbers of Trefethen_2000, digit by digit",
           "its largest diagonal entry is 224,737 in the place of 17,389, with 2 as the smallest in both")


def of_papers():
    """What needs no run."""
    rows = published.STATISTICS_FV3
    yield ("P Table IV", "100 runs on fv3: the printed numbers are those of ten",
           runs_of([row[6] for row in rows], [row[7] for row in rows]) + ", which is n - 1")
    yield ("P Table IV", "the formulas in its head have no square", BY_READING)
    times = published.SMOOTHER_SECONDS[0][1]  # two levels
    yield ("T Table 4.11", "sizes 10e+3, 10e+5, 10e+6, 10e+7 in its head",
           "the times of Gauss-Seidel grow by " + ", ".join(f"{b / a:.1f}" for a, b in zip(times, times[1:]))
           + " from column to column: they are ten times as large each")
    least, levels, size = min((a / b, levels, 4 + i) for levels, gs, own, _ in published.SMOOTHER_SECONDS
                              for i, (a, b) in enumerate(zip(gs, own)))
    yield ("T section 4.11.2.2", "async-(5) is at least three times as fast as Gauss-Seidel for small problems",
           f"{least:.2f} times by T Table 4.11, {levels} levels and 10^{size} unknowns")
    ours = {threads: hours for threads, _, _, hours in published.OF_PCG}
    best = min(hours for threads, hours in ours.items() if threads)
    yield ("T section 5.4.1", "with Jacobi the best run on threads consumes more than 480 percent more energy than the GPU",
           f"T Table 5.2 has {best} and {ours[0]} Wh: {100 * best / ours[0]:.0f} percent of it, which is {100 * (best / ours[0] - 1):.0f} percent more")
    plain, dvfs, *_ = published.ENERGY_CG["A318"]
    yield ("T section 5.4.2", "DVFS saves up to 5.6 percent of the energy of the GPU's run",
           f"T Table 5.3 has {plain} and {dvfs} Wh: {100 * (1 - dvfs / plain):.1f} percent less")
    plain, _, both, _, improvement = published.ENERGY_CG["A318"]
    yield ("T Tables 5.4, 5.5", f"improvement of {improvement} percent (A318)",
           f"{plain} / {both} - 1 = {100 * (plain / both - 1):.1f} percent; the energy saved is "
           f"{100 * (1 - both / plain):.1f} percent")
    plain, dvfs, _, improvement, _ = published.ENERGY_CG["ecology2"]
    yield ("T Table 5.4", f"ecology2: {improvement} percent", f"{plain} to {dvfs} Wh is "
           f"{100 * (plain / dvfs - 1):+.1f} percent: the sign is wrong")
    for name, (seconds, watts, _, hours, _) in published.ENERGY_FV3.items():
        if abs(seconds * watts / 3600 / hours - 1) > 0.005:
            yield ("T Table 5.6", f"{name}: {hours} Wh", f"{watts} W for {seconds} s: {seconds * watts / 3600:.2f} Wh")
    yield ("T Figure A.2", f"rounding unit of single precision {published.ROUNDING_SINGLE:g}",
           f"2^-24 = {2 ** -24:.3g}: two digits are exchanged")
    yield ("T Figure 4.26", "blocks of 128 in the caption, of 112 in the text", BY_READING)
    yield ("T section 4.12.1", "a GPU named C1070", f"{BY_READING}: the C1060 of the rest of the text")
    yield ("T Table B.1, P Table II, J Table 1", f"s1rmt3m1 has {published.SIZES['s1rmt3m1'][1]:,} entries",
           "the collection's file has 217,651 and a rho of 2.64973, which is the printed 2.65, by its description; it "
           "is not here to count")
    yield ("T Algorithm 23", "correction loops", f"{BY_READING}: the residual is not computed anew between two of them, so "
           "that the same correction is added twice")
    yield ("T section 4.10", "small theta stands for dominance in the text; in equation 4.4 large theta does",
           BY_READING)
    for name, (count, entries, a_row, _) in published.FACTORS.items():
        if abs(entries / count - a_row) > 0.0051:
            yield ("O Table 1", f"{name}: {a_row} entries a row", f"{entries:,} / {count:,} = {entries / count:.2f}")
    clocks = published.CLOCKS
    yield ("T Table C.4", f"{clocks['C1060'][0]} GHz for the C1060 and {clocks['C2070'][0]} GHz for the C2070",
           f"R Table 2 has {clocks['C1060'][1]} and {clocks['C2070'][1]} GHz, and T appendix C.1 {clocks['C2070'][1]} "
           "GHz for the C2070: the two are exchanged")
    yield ("T Tables 5.4, 5.5", "a matrix n24k", f"{BY_READING}: nd24k of T Table B.1")
    plain, refined = (published.ENERGY_FV3[name][3] for name in ("async-(5)", "MPIR async-(5)"))
    yield ("T Figure 5.6", "its text: refinement gains nothing on fv3",
           f"T Table 5.6 has {refined} in the place of {plain} Wh there, {100 * (1 - refined / plain):.0f} percent "
           "less")


def rows(get):
    """(where, what is printed, evidence); get(experiment): a Result or None."""
    sources = (("variation", of_variation), ("local-iterations", of_local_iterations), ("storage", of_storage),
               ("theta", of_theta), ("matrices", of_matrices))
    for name, function in sources:
        result = get(name)
        if result is None:
            yield (f"experiment {name}", "its errata", f"not run: scripts/reproduce --only {name}")
        elif result.about["quick"]:
            yield (f"experiment {name}", "its errata", "not with --quick")
        else:
            try:
                yield from list(function(result))
            except (Error, OSError, ValueError, KeyError, IndexError) as error:
                yield (f"experiment {name}", "its errata", f"its output cannot be read ({str(error).splitlines()[0]})")
    yield from of_papers()
