#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
Every check of scripts/reproduction is fed with output that is right, that is wrong and that has no numbers. Right
output confirms all claims that it can decide, each claim is refuted by some wrong output, and nothing is confirmed
where there are no numbers.
"""
import contextlib
import json
import math
import pathlib
import re
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from reproduction import Error, checks, fields, finding_checks, items, pattern_checks, published, store  # noqa: E402
from reproduction.experiments import BOUNDED, COUNTS, MATRICES, NEWTON_COUNTS, OMEGA_SEEDS, ORDERS  # noqa: E402
from reproduction.verdicts import CONFIRMED, NOTHING, OPEN, REFUTED  # noqa: E402

NAN = math.nan


def curve(needed):
    """A history that gets to 1e-12 in so many iterations."""
    points = [(n, 10. ** (-12 * n / needed)) for n in (0, needed // 4, needed // 2, needed)] if needed == needed else []
    return "iteration,relative\n" + "".join(f"{n},{r!r}\n" for n, r in points)


def histories(**needed):
    """needed: a function of the matrix for each method, with _ for -."""
    return {f"{m}-{method.replace('_', '-')}.csv": curve(of(m)) for m in MATRICES for method, of in needed.items()}


def times(converged, **seconds):
    """Files of solves: {name: seconds}."""
    word = "converged" if converged else "not converged"
    return {f"{name}.txt": f"result {word}\ntime {value!r} s solving\n" for name, value in seconds.items()}


def solved(values):
    return times(True, **{f"{name}-run-0": seconds for name, seconds in values.items()})


def iteration_times(seconds, matrices=MATRICES):
    """seconds(method, count) of an iteration."""
    return times(True, **{f"{m}-{method}-{count}": count * seconds(method, count) for m in matrices for count in COUNTS
                          for method in ("gauss-seidel", "jacobi", "async-5")})


def few_iterations(seconds, left=1e-5):
    """Ten iterations of async-(5), and of Gauss-Seidel in a second."""
    return {f"trefethen-{method}-10.txt": f"residual    ||b - A x|| / ||b|| = {residual}, computed anew\ntime        {time} s solving, 0 s\n"
            for method, time, residual in (("async-5", seconds, left), ("gauss-seidel", 1., 1e-8))}


def tables(*blocks):
    """A study's CSV of (title, rows)."""
    return {"chaotic.csv": "\n".join(f'"{title}"\na,b\n' + "".join(",".join(map(str, row)) + "\n" for row in rows)
                                     for title, rows in blocks)}


def residuals(ratio):
    """T Table 4.1: printed means in column 2, those of the synchronous schedule in column 7."""
    return tables(("Relative residual, fv1, as reconstructed",
                   [(n, 0, 1e-3, 0, 0, 0, 0, ratio * 1e-3) for n in (10, 20)]))


def deviations(ratio):
    return tables(("Variation, fv1, as reconstructed", [(n, 0, 0, 0, 0, 0, 0, ratio, 1) for n in (10, 20)]))


def growth(power, printed=1.):
    rows = [(n, 0, 0, NAN if power != power else 1e-3 * n ** power, 1e-4 * n ** printed) for n in range(1, 11)]
    return tables(*((f"Variation, {m}, as reconstructed", rows) for m in ("fv1", "trefethen")))


MANY = ("five-point-100", "trefethen-10000")  # 10^4 rows: 100 times the rounding of a sum is 1.1e-12
TOO_LITTLE = 100 * 100 * 2. ** -53


def spreads(value, mean=1e-3, late=0.):
    """Of runs whose residual is so large at iteration 10, and at rounding at 20."""
    return tables(*((f"{kind}, {m}, as printed", rows) for m in MANY for kind, rows in (
        ("Relative residual", [(10, mean), (20, 1e-9)]), ("Variation", [(10, 0, 0, value), (20, 0, 0, late)]))))


def by_size(*factors):
    """theta: factors of blocks of 28, 56, ... rows."""
    return tables(("Iterations to 1e-12, x", [(28 * 2 ** i, 40, factor) for i, factor in enumerate(factors)]))


def by_omega(**factors):
    """weights: {omega with w for the beginning and _ for a point: factor}."""
    return tables(("Iterations to 1e-08, factor, Chem97ZtZ", [(w[1:].replace("_", "."), 0, 0, 0, 0, f) for w, f in factors.items()]))


def finding(source, claim, verdict, measured):
    return ("Findings", [(f'"{source}"', f'"{claim}"', verdict, f'"{measured}"')])


def statistics(factor, spread):
    """Histories on fv3: {sweeps: factor of an iteration}, and two runs that differ."""
    def text(f, scale=1.):
        return "iteration,relative\n" + "".join(f"{n},{scale * f ** n!r}\n" for n in (1000, 3000))
    return {**{f"synchronous-{k}.csv": text(f) for k, f in factor.items()}, "run-0.csv": text(0.997),
            "run-1.csv": text(0.997, 1 + spread)}


PRINTED = checks.factor([row[:2] for row in published.STATISTICS_FV3])


def matrices(scale=1.):
    result = {}
    for name in MATRICES:
        cond, scaled, rho = published.CONDITION[name]
        result[f"{name}.txt"] = f"rho(B): {scale * rho:.6f}\neigenvalues 1, ratio 2\n"
        result[f"{name}-condition.txt"] = json.dumps({"A, 2-norm": scale * cond, "A, 1-norm": scale * cond,
                                                      "D^-1 A, 1-norm": scale * scaled})
    return result


def sizes(more):
    found = {name: published.SIZES[key] for name, key in
             (("Chem97ZtZ", "Chem97ZtZ"), ("fv1", "fv1"), ("fv3", "fv3"), ("trefethen", "Trefethen_2000"))}
    return {f"{name}.txt": f"rows, entries: {rows + more}, {entries}\n" for name, (rows, entries) in found.items()}


def helmholtz(scale=1.):
    result = {}
    for n, *_ in published.HELMHOLTZ:
        c = math.cos(math.pi / (n + 1))
        result[f"N-{n}.txt"] = f"eigenvalues 1, ratio {scale * (4.01 + 4 * c) / (4.01 - 4 * c):.8f}\n"
    return result


def meshes(milliseconds):
    return tables(("Meshes for blocks of 112 rows", [(n, 0, 0, 0, "100", milliseconds if n == 112 else 10)
                                                     for n in (111, 112, 113)]))


def newton(**runs):
    """run.json of {name: (Newton steps, seconds of them all; NaN: it has not converged)}."""
    result = {}
    for name, (steps, seconds) in runs.items():
        rows = [{"residual": 1., "seconds": 0., "linear_iterations": 0}]
        last = 1e-11 if seconds == seconds else NAN
        rows += [{"residual": last, "seconds": seconds / steps, "linear_iterations": 1}] * steps
        result[f"{name.replace('_', '-')}/run.json"] = json.dumps({"cycles": [{"newton": rows}]})
    return result


def counts(steps, seconds, mpir):
    """Newton's method with so many inner iterations."""
    runs = {f"async_{count}": pair for count, pair in zip(NEWTON_COUNTS, zip(steps, seconds))}
    return newton(**runs, exact=(3, 1.), mpir=(3, mpir))


def orders(kind, converges):
    return times(converges, **{f"{name}{kind}-{seed}": 1. for name in BOUNDED for seed in OMEGA_SEEDS})


def vtu(values, n, times=1):
    """A grid of points without cells. times: how often each node is there."""
    nodes = [(x, y) for y in range(n) for x in range(n)] * times
    values = values if isinstance(values, list) else [values] * len(nodes)
    points = " ".join(f"{x / (n - 1)!r} {y / (n - 1)!r} 0" for x, y in nodes)

    def array(kind, name, text=""):
        components = 3 if name == "points" else 1
        return f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="{components}" format="ascii">{text}</DataArray>'

    fields_of = {"Points": array("Float32", "points", points), "PointData": array("Float64", "u", " ".join(map(repr, values))),
                 "Cells": array("Int32", "connectivity") + array("Int32", "offsets") + array("UInt8", "types")}
    inside = "".join(f"<{name}>{text}</{name}>" for name, text in fields_of.items())
    return (f'<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian"><UnstructuredGrid><Piece NumberOfPoints="{len(nodes)}" '
            f'NumberOfCells="0">{inside}</Piece></UnstructuredGrid></VTKFile>')


def run(name, n, **at):
    """A run of pattern formation whose u is constant: {time with t for the beginning and _ for a point: value}."""
    result, sets = {}, ""
    for i, (time, value) in enumerate(at.items()):
        sets += f'<DataSet timestep="{time[1:].replace("_", ".")}" file="solution/s_{i}.pvtu"/>\n'
        result[f"{name}/solution/s_{i}.0000.vtu"] = vtu(value, n)
    return {**result, f"{name}/solution.pvd": sets}


def formed(name, value):
    return run(name, 4, **{"t" + str(time).replace(".", "_"): value for time in pattern_checks.FORMED})


def patterns(fused=1., asynchronous=1.):
    return {**formed("coarse-direct", 1.), **formed("coarse-fused", fused), **formed("coarse-async", asynchronous)}


def end(direct=1., before=1., text="12 spots, wavelength 0.34"):
    return {**run("thesis", 5, t4=before, t5=1.), **run("direct", 5, t5=direct),
            "thesis.txt": f"100 steps, 1 Newton steps\npattern of u at t = 5: {text}\n"}


def bound(step):
    return {"bound/statistics": "# 1: step\n" + "".join(f" {n} 0.1 {step!r} 3\n" for n in range(5))}


def fourth(matrix):
    return {"Chem97ZtZ": 400, "trefethen": 114}.get(matrix, 100)


def of_rho(matrix):
    return round(12 / -math.log10(published.CONDITION[matrix][2]))


FAST = {"fv1-async-5": 1., "fv1-cg": 0.7, "fv1-jacobi": 2., "fv1-gauss-seidel": 30., "fv3-cg": 0.1, "fv3-async-5": 1.,
        "fv3-jacobi": 2., "fv3-gauss-seidel": 30., "Chem97ZtZ-gauss-seidel": 4., "trefethen-gauss-seidel": 2.,
        **{f"{m}-{method}": 2. for m in ("Chem97ZtZ", "trefethen") for method in ("cg", "jacobi")},
        "Chem97ZtZ-async-5": 1., "trefethen-async-5": 1.}
SOLVERS = {"async_500": (25, 1.), "jacobi": (25, 3.), "gauss_seidel": (25, 90.), "cg": (3, 0.5), "gmres": (4, 0.6)}
NEVER = {name: (steps, NAN) for name, (steps, _) in SOLVERS.items()}

# check: output that is right, several that are wrong, output without numbers
CASES = [
    (checks.variation_means("fv1", 100), residuals(1.01), [residuals(1.2)], residuals(NAN)),
    (checks.deviations("fv1", 100), deviations(1.5), [deviations(3.), deviations(0.1)], deviations(NAN)),
    (checks.pattern_of_variation, growth(1.), [growth(-1.)], growth(NAN)),
    (checks.runs_differ, spreads(1e-3), [spreads(1e-13), spreads(0., late=1e-3)], spreads(NAN)),
    (checks.growth_in_random_order, growth(-1.), [growth(1.)], growth(NAN)),
    (checks.statistics_fv3, statistics({5: PRINTED, 6: PRINTED}, 0.005), [statistics({5: 0.99, 6: 0.99}, 0.1)],
     statistics({5: NAN, 6: NAN}, NAN)),
    (checks.gauss_seidel_half, histories(jacobi=lambda m: 400, gauss_seidel=lambda m: 200),
     [histories(jacobi=lambda m: 400, gauss_seidel=lambda m: 400)],
     histories(jacobi=lambda m: NAN, gauss_seidel=lambda m: NAN)),
    (checks.jacobi_factor, histories(jacobi=of_rho), [histories(jacobi=lambda m: of_rho(m) // 3)],
     histories(jacobi=lambda m: NAN)),
    (checks.convergence_async_1,
     histories(jacobi=lambda m: 400, gauss_seidel=lambda m: 200, async_1_chaotic=lambda m: 400),
     [histories(jacobi=lambda m: 400, gauss_seidel=lambda m: 400, async_1_chaotic=lambda m: 400),
      histories(jacobi=lambda m: 400, gauss_seidel=lambda m: 400, async_1_chaotic=lambda m: 800)],
     histories(jacobi=lambda m: NAN, gauss_seidel=lambda m: NAN, async_1_chaotic=lambda m: NAN)),
    (checks.convergence_async_5,
     histories(jacobi=lambda m: 400, gauss_seidel=lambda m: 200, async_1_chaotic=lambda m: 400, async_5_chaotic=fourth),
     [histories(jacobi=lambda m: 400, gauss_seidel=lambda m: 200, async_1_chaotic=lambda m: 400,
                async_5_chaotic=lambda m, n=n: n) for n in (40, 800)],
     histories(jacobi=lambda m: NAN, gauss_seidel=lambda m: NAN, async_1_chaotic=lambda m: NAN,
               async_5_chaotic=lambda m: NAN)),
    (checks.times, solved(FAST), [solved({name: 1 / seconds for name, seconds in FAST.items()})], solved({name: NAN for name in FAST})),
    (checks.time_falls, iteration_times(lambda method, n: 10. / n), [iteration_times(lambda method, n: 1.)],
     iteration_times(lambda method, n: NAN)),
    (checks.iteration_seconds, iteration_times(lambda method, n: {"async-5": 1., "jacobi": 2.}.get(method, 3.)),
     [iteration_times(lambda method, n: 3. if method == "async-5" else 1.)], iteration_times(lambda method, n: NAN)),
    (checks.few_iterations, few_iterations(1.), [few_iterations(0.5), few_iterations(1., 1e-9)], few_iterations(NAN)),
    (checks.sizes, sizes(0), [sizes(1)], None),
    (checks.conditions, matrices(), [matrices(1.1)], matrices(NAN)),
    (checks.helmholtz, helmholtz(), [helmholtz(1.3)], helmholtz(NAN)),
    (checks.omega_bound, orders("", True), [orders("", False)], None),
    (checks.omega_weights, orders("-local", True), [orders("-local", False)], None),
    (checks.l1_weights, orders("-l1", True), [orders("-l1", False)], None),
    (checks.time_pattern, meshes(5.), [meshes(20.)], meshes(NAN)),
    (finding_checks.smaller_blocks, by_size(0.53, 0.54, 0.55), [by_size(0.55, 0.54, 0.53), by_size(0.54, 0.53, 0.55)],
     by_size(0.53, NAN, 0.55)),
    (finding_checks.omega_of_chem97, by_omega(w1_0=0.6, w1_1=0.65, w1_2=1.2), [by_omega(w1_0=0.6, w1_1=0.65, w1_2=0.5)],
     by_omega(w1_0=NAN, w1_1=0.65)),
    (checks.newton_counts, counts((60, 50, 40, 30, 20, 10), (1., 1.1, 1., 1., 1.1, 2.), 0.5),
     [counts((10, 20, 30, 40, 50, 60), (1., 3., 1., 1., 1., 0.5), 9.)],
     counts((60, 50, 40, 30, 20, 10), (NAN,) * 6, NAN)),
    (checks.newton_solvers, newton(**SOLVERS), [newton(**{**{name: (9, 1.) for name in SOLVERS}, "cg": (9, 5.)})],
     newton(**NEVER)),
    (pattern_checks.of_direct_solver, patterns(1. + 1e-6, 1. - 1e-6), [patterns(1.001, 0.999)], patterns(NAN, NAN)),
    (pattern_checks.end, end(1. + 1e-6, 1. - 1e-6),
     [end(1.1, 0.9, "1 spot, wavelength 1"), end(1., 1., "12 spots and 3 holes, or stripes (few)")], end(NAN, NAN, "")),
    (pattern_checks.bound, bound(0.1), [bound(1e-3)], bound(NAN)),
]
# What is computed here and not measured is refuted if the printed number is another one.
COUNTED = {"Trefethen_20000": (20000, 1), "A318": (1, 1)}
CONDITIONS = tuple((n, rows + 1, entries, 1.1 * condition) for n, rows, entries, condition in published.HELMHOLTZ)


def name_of(check):
    return check.__qualname__ if "<locals>" in check.__qualname__ else check.__name__


class FieldsTest(unittest.TestCase):
    # fails if a NaN is dropped, or nodes that are missing are
    def test_difference_keeps_nan(self):
        self.assertEqual(fields.difference({1: 1., 2: 2.}, {1: 1., 2: 2.5}), 0.5)
        for other in ({1: NAN, 2: 2.}, {1: 1., 2: NAN}, {1: 1.}):
            self.assertTrue(math.isnan(fields.difference(other, {1: 1., 2: 2.})), other)

    # fails if another time is taken, if a field that is not continuous is, or a file without all nodes
    def test_what_is_not_there_is_said(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for path, text in run("r", 3, t1=7.).items():
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_text(text)
            self.assertEqual(set(fields.at_times(folder / "r", "u", 3, (1,))[0].values()), {7.})
            with self.assertRaisesRegex(Error, "no field at t = 2"):
                fields.at_times(folder / "r", "u", 3, (2,))
            with self.assertRaisesRegex(Error, "expected: 4 x 4"):
                fields.at_times(folder / "r", "u", 4, (1,))
            with self.assertRaisesRegex(Error, "no array"):
                fields.at_times(folder / "r", "v", 3, (1,))
            file = folder / "twice.vtu"
            file.write_text(vtu([1.] * 4 + [1., 1., 1., 2.], 2, 2))
            self.assertEqual(sum(map(math.isnan, fields.field(file, "u", 2).values())), 1)


class VerdictsTest(unittest.TestCase):
    def setUp(self):
        stack = contextlib.ExitStack()
        self.addCleanup(stack.close)
        self.folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        stack.enter_context(unittest.mock.patch.multiple(pattern_checks, COARSE=3, CELLS={"cuda": 4}))
        self.number = 0

    def lines(self, check, files, device="cuda"):
        """Of a GPU, which decides everything."""
        self.number += 1
        folder = self.folder / str(self.number)
        for name, text in {**files, "result.json": f'{{"device": "{device}", "quick": false, "experiment": "x"}}'}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        return check(store.Result(folder))

    # fails if a check that the document uses is not fed here
    def test_every_check_is_fed(self):
        used = {name_of(check) for item in items.ITEMS for _, check in item.checks
                if not isinstance(check, checks.Found)}
        self.assertEqual(used, {name_of(check) for check, *_ in CASES})

    # fails if a check refutes what is right, or cannot decide
    def test_right_numbers_are_confirmed(self):
        for check, right, *_ in CASES:
            lines = self.lines(check, right)
            self.assertTrue(lines, name_of(check))
            for line in lines:
                if line.verdict == OPEN:  # a reconstruction only
                    self.assertIn("Chem97ZtZ", line.claim)
                elif line.verdict == NOTHING:  # a fact only
                    self.assertRegex(line.why, "arithmetic|theorem")
                else:
                    self.assertEqual(line.verdict, CONFIRMED, line)

    # fails if a verdict does not depend on the numbers
    def test_wrong_numbers_are_refuted(self):
        for check, right, wrongs, _ in CASES:
            claims = {line.claim for line in self.lines(check, right) if line.verdict in (CONFIRMED, NOTHING)}
            refuted = set()
            with unittest.mock.patch.dict(published.SIZES, COUNTED), \
                    unittest.mock.patch.object(published, "HELMHOLTZ", CONDITIONS):
                for wrong in wrongs:
                    refuted |= {line.claim.split(":")[0] if check is checks.sizes else line.claim
                                for line in self.lines(check, wrong) if line.verdict == REFUTED}
            if check is checks.sizes:  # the claims have the printed numbers in them
                claims = {claim.split(":")[0] for claim in claims}
            self.assertEqual(claims - refuted, set(), name_of(check))

    # fails if arithmetic confirms, or one of the printed numbers is another one and that is a fact
    def test_what_arithmetic_says_is_a_fact(self):
        for check, files, n in ((checks.sizes, sizes(0), 2), (checks.helmholtz, helmholtz(), 2)):
            self.assertEqual(sum(line.verdict == NOTHING for line in self.lines(check, files)), n)
            with unittest.mock.patch.dict(published.SIZES, COUNTED), unittest.mock.patch.object(published, "HELMHOLTZ", CONDITIONS):
                self.assertEqual(sum(line.verdict == NOTHING for line in self.lines(check, files)), 0)

    # fails if one order of blocks is enough on the host, or the synchronous one, which is Jacobi's method, counts
    def test_each_order_of_async_1_counts(self):
        names = {order.replace("-", "_"): lambda m: 400 for order in ORDERS}
        for order, needed, gauss_seidel, jacobi in ((None, 400, CONFIRMED, CONFIRMED), ("replay_1", 800, CONFIRMED, OPEN), ("chaotic", 800, CONFIRMED, OPEN),
                                                    ("synchronous", 800, CONFIRMED, CONFIRMED), ("replay_2", 220, OPEN, OPEN),
                                                    ("synchronous", 220, OPEN, CONFIRMED)):
            runs = {**names, order: lambda m, n=needed: n} if order else names
            files = histories(jacobi=lambda m: 400, gauss_seidel=lambda m: 200, **{f"async_1_{name}": of for name, of in runs.items()})
            lines = self.lines(checks.convergence_async_1, files, "host")
            self.assertEqual({line.verdict for line in lines[::2]}, {gauss_seidel}, order)
            self.assertEqual({line.verdict for line in lines[1::2]}, {jacobi}, order)

    # fails without the margin of 5 percent, or if it is not that of times
    def test_times_near_a_limit_decide_nothing(self):
        near = {"fv1-cg": 1 / 1.12, "fv1-jacobi": 1.52, "fv1-gauss-seidel": 10.2, "fv3-cg": 0.34, "fv3-jacobi": 1.52,
                "fv3-gauss-seidel": 10.2, **{name: 1.03 for name in FAST if name.split("-")[0] in ("Chem97ZtZ", "trefethen")}}
        jacobi = solved({"fv1-jacobi": 1., "fv3-jacobi": 1., "fv1-gauss-seidel": 10.2, "fv3-gauss-seidel": 10.2})
        cases = ((checks.times, solved({**FAST, **near, "trefethen-async-5": 1., "Chem97ZtZ-async-5": 1.})), (checks.times, jacobi),
                 (checks.time_falls, iteration_times(lambda method, n: 0.81 if n == COUNTS[-1] else 1.)),
                 (checks.iteration_seconds, iteration_times(lambda method, n: 1. if method == "async-5" else 1.04)),
                 (checks.time_pattern, meshes(9.935)),  # 0.8953 against 0.9013 ms, as once confirmed
                 (checks.newton_counts, counts((60, 50, 40, 30, 20, 10), (1., 1.23, 1., 1., 1.1, 1.25), 0.97)),
                 (checks.newton_solvers, newton(**{**SOLVERS, "jacobi": (25, 3.9), "gauss_seidel": (25, 52.), "cg": (3, 0.98)})),
                 (checks.runs_differ, spreads(1.02 * TOO_LITTLE)))
        for check, files in cases:
            lines = [line for line in self.lines(check, files) if "Newton steps" not in line.claim]
            if check is checks.times:  # Jacobi and Gauss-Seidel cannot be near all their limits at once
                lines = [line for line in lines if (checks.JACOBI_FASTER in line.claim) == (files is jacobi)]
            self.assertTrue(lines, name_of(check))
            for line in lines:
                self.assertEqual(line.verdict, OPEN, line)
                self.assertIn("within 5 percent", line.why)

    # fails if growth like the root of the iterations passes for linear growth, or rounding for differences of runs
    def test_what_was_once_confirmed(self):
        for check, files, expected in ((checks.pattern_of_variation, growth(0.5), REFUTED),
                                       (checks.growth_in_random_order, growth(0.5), CONFIRMED),
                                       (checks.growth_in_random_order, growth(0.5, 0.3), OPEN),
                                       (checks.pattern_of_variation, growth(1.5), REFUTED),
                                       (checks.runs_differ, spreads(0.9 * TOO_LITTLE), REFUTED),
                                       (checks.runs_differ, spreads(9.9e-10), CONFIRMED),
                                       (checks.runs_differ, spreads(9.9e-10, mean=1e-7), OPEN)):
            self.assertEqual({line.verdict for line in self.lines(check, files)}, {expected}, name_of(check))

    # fails if a theorem is confirmed by runs, or not refuted by one that does not converge
    def test_runs_do_not_confirm_theorems(self):
        for check, kind in ((checks.omega_bound, ""), (checks.omega_weights, "-local"), (checks.l1_weights, "-l1")):
            for converges, expected in ((True, NOTHING), (False, REFUTED)):
                self.assertEqual({line.verdict for line in self.lines(check, orders(kind, converges))}, {expected})

    # fails if corrections that were planned wrongly decide on a precision, or if those that were not do not
    def test_refinement_that_does_too_much_decides_nothing(self):
        claim = "Chem97ZtZ: mixed precision gains nothing over double (0.9 at least)"
        check = next(check for item in items.ITEMS if item.where == "T Figure 4.32" for _, check in item.checks)
        for double, ours, verdict in ((1560.3, "a ratio of 0.05 (refinement, mixed 1 ms, refinement, double 33 ms)", OPEN),
                                      (54.1, "a ratio of 0.5 (refinement, mixed 1 ms, refinement, double 2 ms)", REFUTED),
                                      (1560.3, "a ratio of 0.5 (async 2 ms)", REFUTED), (NAN, "a ratio of 0.5 (refinement, double 2 ms)", REFUTED)):
            files = tables(("To a relative residual of 1e-12, Chem97ZtZ", [("async", 54.1), ('"refinement, double"', double)]),
                           finding("T Figure 4.32", claim, "does not hold", ours))
            line, = self.lines(check, files)
            self.assertEqual(line.verdict, verdict, line)
            self.assertEqual("its second correction" in line.why, verdict == OPEN)

    # fails if a claim that could not have been refuted is confirmed
    def test_outer_iterations_of_two_kinds_decide_nothing(self):
        check = next(check for item in items.ITEMS if item.where == "T Figure 4.36" for _, check in item.checks)
        for verdict in ("holds", "does not hold"):
            line, = self.lines(check, tables(finding("T Figure 4.36", "fv1: three times the outer iterations", verdict, "41.3")))
            self.assertEqual((line.verdict, line.why), (OPEN, items.OUTER))

    # fails if a claim names a matrix that is not here without what stands for it
    def test_stand_ins_are_named(self):
        check = next(check for item in items.ITEMS if item.where == "T section 5.3" for _, check in item.checks)
        (title, one), (_, other) = (finding("T section 5.3", f"{matrix}, CG: sleeps", "holds", "1") for matrix in ("A318", "fv3"))
        files = {**tables((title, one + other)), "chaotic.txt": "A318 is seven-point-64 here, which is generated: 262144 rows, 1810432 entries\n"}
        self.assertEqual([line.claim for line in self.lines(check, files)],
                         ["A318 (here seven-point-64 of 262,144 rows), CG: sleeps", "fv3, CG: sleeps"])

    # fails if an item counts verdicts of its place on something else
    def test_items_treated_elsewhere_count_their_own_claims(self):
        parts = {item.where: item.part for item in items.ITEMS if item.same_as}
        silent, converges = parts["J section 4.5"], next(part for where, part in parts.items() if "4.13.3" in where)
        for part, claim, counts in ((silent, "fv1: an unexpected delay signals a silent error (x)", True),
                                    (silent, "fv1, blocks of 448, k = 5: without recovery the residual stalls", False),
                                    (converges, "fv1, block-asynchronous, double: converges", True),
                                    (converges, "fv1: block-asynchronous refinement: single precision takes more iterations", False)):
            self.assertEqual(bool(re.match(part, claim)), counts, claim)

    # fails if what is no number, or missing, confirms
    def test_what_is_no_number_confirms_nothing(self):
        for check, _, _, without in CASES:
            if without is None:
                continue
            try:
                lines = self.lines(check, without)
            except (Error, OSError, ValueError, KeyError, IndexError):
                continue  # the document says that the output cannot be read
            for line in lines:
                self.assertNotEqual(line.verdict, CONFIRMED, line)


if __name__ == "__main__":
    unittest.main()
