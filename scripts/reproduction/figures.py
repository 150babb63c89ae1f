# SPDX-License-Identifier: Apache-2.0
"""
The figures, in the layout of the papers', with the published points where numbers are printed. They need matplotlib;
sparsity plots read the matrices.
"""
import gzip
import math
import pathlib

from . import Error, checks, fields, published, study_figures
from .experiments import CELLS, COUNTS, MATRICES, NEWTON_COUNTS, PATTERN_TIMES
from .plots import curves, legend_below

COLORS = {"async-1": "C0", "async-5": "C3", "gauss-seidel": "C2", "jacobi": "C1", "cg": "C4"}
NAMES = {"async-1": "async-(1)", "async-5": "async-(5)", "gauss-seidel": "Gauss-Seidel", "jacobi": "Jacobi", "cg": "CG"}


def draw_histories(plt, result, methods, x_of=lambda matrix, method, n: n, x_name="global iterations",
                   endings=(("", "-"), ("-chaotic", "-"), ("-synchronous", ":"))):
    """A panel a matrix, a curve a method (of the chaotic schedule; the synchronous one dotted). endings: those, of files."""
    panels = []
    for matrix in MATRICES:
        lines = []
        for method in methods:
            for ending, line in endings:
                name = f"{matrix}-{method}{ending}"
                if (result.folder / f"{name}.csv").exists():
                    found = [(x_of(matrix, method, n), r) for n, r in checks.history(result, name)]
                    lines.append((NAMES[method] + (", synchronous" if line == ":" else ""),
                                  [point for point in found if all(map(math.isfinite, point))],
                                  {"linestyle": line, "color": COLORS[method]}))
        panels.append((checks.shown(matrix), lines))
    return curves(plt, panels, x_name, "relative residual")


def figure_4_3(plt, get):
    result = get("histories")
    return result and draw_histories(plt, result, ("async-1", "gauss-seidel", "jacobi"))


def figure_4_4(plt, get):
    result = get("histories")
    return result and draw_histories(plt, result, ("async-5", "gauss-seidel", "async-1"))


def figure_4_6(plt, get):
    """The histories over the time that an iteration takes in a solve."""
    result, times = get("histories"), get("solve-times")
    if not result or not times:
        return None

    def seconds(matrix, method, n):
        name = f"{method}-chaotic" if method.startswith("async") else method
        return n * checks.solve_seconds(times, matrix, method) / checks.needed(result, matrix, name)
    methods = ("gauss-seidel", "jacobi", "async-5", "cg")
    where = "host" if times.device == "host" else f"{times.device}; Gauss-Seidel: host"
    # the synchronous schedule is not timed
    return draw_histories(plt, result, methods, seconds, f"seconds ({where})", (("", "-"), ("-chaotic", "-")))


def figure_4_5(plt, get):
    result = get("iteration-times")
    if not result:
        return None
    figure, axis = plt.subplots(figsize=(6, 4), layout="constrained")
    for i, method in enumerate(("gauss-seidel", "jacobi", "async-5")):
        points = [(count, checks.seconds_an_iteration(result, "fv3", method, count)) for count in COUNTS]
        device = "host" if method == "gauss-seidel" else result.device
        axis.semilogy(*zip(*points), "o-", color=COLORS[method], markersize=3, label=f"{NAMES[method]}, {device}")
        axis.axhline(published.ITERATION_SECONDS["fv3"][i], color=COLORS[method], linestyle="--", linewidth=1,
                     label=f"{NAMES[method]}, published mean (T Table 4.6)")
    axis.set_xlabel("global iterations")
    axis.set_ylabel("seconds an iteration, fv3")
    legend_below(figure, [axis])
    return figure


def figure_4_25(plt, get):
    result = get("mesh-blocks")
    if not result:
        return None
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for schedule in checks.schedules(result):
        _, _, rows = result.table(f"{schedule}.csv", "Meshes for blocks of")
        n = [int(row[0]) for row in rows]
        for column, marker in ((2, "s"), (3, "o")):
            axes[0].semilogy(n, [float(row[column]) for row in rows], marker + "-", markersize=3,
                             label=f"after {900 if column == 2 else 1000}, {schedule}")
        axes[1].plot(n, [checks.number("(.*)", row[5]) / checks.number("(.*)", row[4]) for row in rows], "o-",
                     markersize=3, label=schedule)
    axes[0].set_ylabel("relative residual")
    axes[1].set_ylabel(f"seconds for 1000 iterations ({result.device})")
    for axis in axes:
        axis.set_xlabel("nodes a side, N; blocks of 112 rows")
        axis.legend()
    return figure


def figure_4_38(plt, get):
    result = get("newton")
    names = [f"async-{count}" for count in NEWTON_COUNTS] + ["mpir"]
    if not result or not checks.has(result, *names):
        return None
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for i, name in enumerate(names):
        steps = result.json(f"{name}/run.json")["cycles"][0]["newton"]
        residuals, seconds = [step["residual"] / steps[0]["residual"] for step in steps], [0.]
        for step in steps[1:]:
            seconds.append(seconds[-1] + step["seconds"])
        label = "mpir-async-(5)" if name == "mpir" else f"{name.removeprefix('async-')} iterations"
        axes[0].semilogy(range(len(steps)), residuals, ".-", color=f"C{i}", label=label, linewidth=1, markersize=3)
        axes[1].semilogy(seconds, residuals, ".-", color=f"C{i}", linewidth=1, markersize=3)
    axes[0].set_xlabel("Newton steps")
    axes[1].set_xlabel(f"seconds ({result.device})")
    axes[0].set_ylabel("relative residual")
    axes[0].legend()
    return figure


def figure_statistics_fv3(plt, get):
    result = get("statistics-fv3")
    if not result:
        return None
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    printed = published.STATISTICS_FV3
    axes[0].semilogy([row[0] for row in printed], [row[1] for row in printed], "kx", label="published mean (P Table V)")
    for k in (5, 6):
        points = [point for point in checks.history(result, f"synchronous-{k}") if point[0] > 0]
        axes[0].semilogy(*zip(*points), "-", label=f"{k} sweeps, synchronous", linewidth=1)
    runs = {n: values for n, values in checks.fv3_runs(result).items() if n > 0}
    axes[0].semilogy(list(runs), [sum(v) / len(v) for v in runs.values()], ":",
                     label=f"6 sweeps, {result.device}, mean")
    axes[0].set_ylabel("relative residual, fv3")
    axes[1].semilogy([row[0] for row in printed], [(row[2] - row[3]) / row[1] for row in printed], "kx",
                     label="published")
    name = f"{len(next(iter(runs.values()), []))} runs, {result.device}"
    spreads = [(n, (max(v) - min(v)) / (sum(v) / len(v))) for n, v in runs.items() if max(v) > min(v)]
    if spreads:
        axes[1].semilogy(*zip(*spreads), "o-", markersize=3, label=name)
    elif all(max(v) == min(v) for v in runs.values()):  # a logarithmic axis has no zero
        axes[1].set_title(f"{name}: all are equal, no variation on this machine", fontsize=8)
    axes[1].set_ylabel("(largest - smallest) / mean")
    for axis in axes:
        axis.set_xlabel("global iterations")
        axis.legend()
    return figure


def figure_variation(plt, get):
    """T Figure 4.2 a, b: means; e, f: relative variations; with the printed points."""
    result = get("variation")
    if not result:
        return None
    figure, axes = plt.subplots(2, 2, figsize=(8, 5.6), layout="constrained")
    for row, (matrix, name) in enumerate((("fv1", "fv1"), ("trefethen", "Trefethen_2000"))):
        _, _, residuals = result.table("chaotic.csv", f"Relative residual, {matrix}, as reconstructed")
        _, _, spreads = result.table("chaotic.csv", f"Variation, {matrix}, as reconstructed")
        n = [int(line[0]) for line in residuals]
        for column, style, label in ((2, "kx", "published mean"), (7, "-", "synchronous, 112 rows, 6 sweeps"),
                                     (1, ":", f"{result.device}, mean of the runs")):
            axes[row, 0].semilogy(n, [float(line[column]) for line in residuals], style, label=label, linewidth=1)
        axes[row, 1].plot(n, [float(line[4]) for line in spreads], "kx", label="published")
        axes[row, 1].plot(n, [float(line[3]) for line in spreads], ":o", markersize=3, label=result.device)
        axes[row, 1].set_yscale("symlog", linthresh=1e-4)
        axes[row, 0].set_ylabel(f"relative residual, {name}")
        axes[row, 1].set_ylabel("relative variation")
        for axis in axes[row]:
            axis.set_xlabel("global iterations")
            axis.legend()
    return figure


def figure_b_3(plt, get, matrices=None):
    if not matrices:
        return None
    figure, axes = plt.subplots(1, 4, figsize=(9, 2.6), layout="constrained")
    for (matrix, file), axis in zip(MATRICES.items(), axes):
        path = pathlib.Path(matrices) / f"{file}.mtx.gz"
        if not path.exists():
            return None
        with gzip.open(path, "rt") as stream:
            symmetric = "symmetric" in stream.readline()
            lines = (line.split() for line in stream if not line.startswith("%"))
            n = int(next(lines)[0])
            entries = [(int(line[0]), int(line[1])) for line in lines if line]
        entries += [(column, row) for row, column in entries] if symmetric else []
        axis.plot([c for _, c in entries], [r for r, _ in entries], ",", color="C0")
        axis.set(xlim=(0, n), ylim=(n, 0), aspect="equal", xticks=[], yticks=[])
        axis.set_title(checks.shown(matrix), fontsize=8)
    return figure


def figure_4_40(plt, get):
    """u at the thesis' six times, each with colours of its own, as in the thesis."""
    result = get("patterns")
    if not result:
        return None
    times, nodes = [time for time in PATTERN_TIMES if time != 4], CELLS[result.device] + 1
    figure, axes = plt.subplots(2, 3, figsize=(9, 5.6), layout="constrained")
    of_times = fields.at_times(result.folder / "thesis", "u", nodes, times)
    for axis, letter, time, u in zip(axes.flat, "abcdef", times, of_times):
        picture = axis.imshow([[u[x, y] for x in range(nodes)] for y in range(nodes)], origin="lower", extent=(0, 1, 0, 1))
        axis.set(xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])
        axis.grid(False)
        axis.set_title(f"({letter}) u at t = {time:g} ({result.device}, {nodes}$^2$ nodes)", fontsize=9)
        figure.colorbar(picture, ax=axis, shrink=0.8)
    return figure


def figure_o_7(plt, get):
    """The lower factor of LAP, 27 points on 64^3 nodes in reverse Cuthill-McKee order; its pattern is that of A."""
    try:
        import numpy
        import scipy.sparse
        from scipy.sparse.csgraph import reverse_cuthill_mckee
    except ImportError:
        return None
    n = 64
    line = scipy.sparse.diags([numpy.ones(n - 1), numpy.ones(n), numpy.ones(n - 1)], (-1, 0, 1))
    A = scipy.sparse.kron(line, scipy.sparse.kron(line, line)).tocsr()
    order = reverse_cuthill_mckee(A, symmetric_mode=True)
    L = scipy.sparse.tril(A[order][:, order]).tocoo()
    figure, axes = plt.subplots(1, 2, figsize=(7, 3.2), layout="constrained")
    for axis, first, rows, title in ((axes[0], 0, n ** 3, f"LAP: {n ** 3:,} rows, {L.nnz:,} entries"),
                                     (axes[1], n ** 3 // 2, 4000, "4000 rows in its middle")):
        here = (L.row >= first) & (L.row < first + rows) & (L.col >= first)
        counts, _, _ = numpy.histogram2d(L.row[here], L.col[here], 400, [[first, first + rows]] * 2)
        axis.imshow(counts > 0, cmap="Blues", interpolation="nearest")
        axis.set(xticks=[], yticks=[])
        axis.grid(False)
        axis.set_title(title, fontsize=8)
    return figure


def figure_spreads(plt, get):
    """T Figure 4.2 e, f with random orders beside the printed points."""
    result = get("random-order")
    if not result:
        return None
    figure, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
    for axis, (matrix, name) in zip(axes, (("fv1", "fv1"), ("trefethen", "Trefethen_2000"))):
        _, _, rows = result.table("chaotic.csv", f"Variation, {matrix}, as reconstructed")
        rows = rows[:10 if matrix == "fv1" else 6]  # before rounding takes over
        n = [int(row[0]) for row in rows]
        axis.semilogy(n, [float(row[4]) for row in rows], "kx", label="published")
        axis.semilogy(n, [float(row[3]) for row in rows], "o-", markersize=3, label="random order, seeded")
        axis.set_xlabel("global iterations")
        axis.set_ylabel(f"relative variation, {name}")
        axis.legend()
    return figure


DRAW = {"statistics_fv3": figure_statistics_fv3, "variation": figure_variation, "4_3": figure_4_3, "4_4": figure_4_4,
        "4_5": figure_4_5, "4_6": figure_4_6, "4_25": figure_4_25, "4_38": figure_4_38, "4_40": figure_4_40,
        "b_3": figure_b_3, "o_7": figure_o_7, "spreads": figure_spreads, **study_figures.DRAW}
PIXELS = ("4_40", "b_3", "o_7")  # pictures; the others are curves


def import_matplotlib():
    """matplotlib.pyplot, or None where it is missing."""
    try:
        import matplotlib
    except ImportError:
        return None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    plt.rcParams.update({"font.size": 8, "axes.grid": True, "grid.alpha": 0.3, "legend.fontsize": 7,
                         "svg.fonttype": "none", "svg.hashsalt": "reproduction"})
    return plt


def draw(get, folder, matrices, document):
    """{name: path relative to the document} of the figures that there are results for; {} without matplotlib."""
    plt = import_matplotlib()
    if plt is None:
        return {}
    written = {}
    for name, function in DRAW.items():
        try:
            figure = function(plt, get, matrices) if name == "b_3" else function(plt, get)
        except (Error, OSError, ValueError, KeyError, IndexError) as error:
            print(f"figure {name} is not drawn, the output cannot be read: {str(error).splitlines()[0]}")
            continue
        if figure is None:
            continue
        path = folder / f"figure_{name}.{'png' if name in PIXELS else 'svg'}"
        save(figure, path)
        plt.close(figure)
        written[name] = path.relative_to(document.parent).as_posix()
    return written


def save(figure, path):
    """The whole picture or nothing."""
    part = path.with_name(f".part_{path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(part, bbox_inches="tight" if figure.legends else None,  # those are outside of the axes
                       **({"dpi": 110} if path.suffix == ".png" else {"metadata": {"Date": None}}))
        part.replace(path)
    except OSError as error:
        raise Error(f"{path} cannot be written: {error.strerror}\n  expected: a place that may be written to\n"
                    "  to do: --document FILE") from None
