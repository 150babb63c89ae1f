# SPDX-License-Identifier: Apache-2.0
"""
The figures of the studies: convergence, times and energy in the layout of the papers' figures. Each is a function of
matplotlib.pyplot and of what gets the result of an experiment; None where there is none.
"""
import math

from . import checks, published
from .plots import bars, curves, points, value

SOLID, DASHED, DOTTED = {"linestyle": "-"}, {"linestyle": "--"}, {"linestyle": ":"}
BLACK = {"color": "k"}


def of(experiment):
    """A figure of one experiment: a function of pyplot and its result."""
    def decorate(function):
        def draw(plt, get):
            result = get(experiment)
            return result and function(plt, result)
        return draw
    return decorate


def rows_of(result, start, file="chaotic.csv"):
    return result.table(file, start)[2]


def tables_of(result, start):
    """(title, columns, rows) of all tables whose title begins so."""
    return [table for table in result.tables("chaotic.csv") if table[0].startswith(start)]


def colored(number, marker=".", **more):
    return {"color": f"C{number}", "marker": marker, **more}


# --- faults, storage --------------------------------------------------------------------------------------------------


@of("faults")
def figure_4_7(plt, result):
    """A panel a matrix and set-up, a curve a recovery."""
    panels = []
    for title, columns, rows in tables_of(result, "Relative residual, "):
        _, matrix, rest = title.split(", ", 2)
        panels.append((f"{checks.shown(matrix)}, {rest.split(', means')[0]}",
                       [(name, points(rows, 0, i), {"color": f"C{i - 1}"}) for i, name in enumerate(columns) if i]))
    return curves(plt, panels, f"global iterations ({result.device})", "relative residual")


@of("storage")
def figure_4_16(plt, result):
    """Start and iterations together, from the times of each: lines by their nature, the published ones too."""
    title, _, rows = result.table("chaotic.csv", "Plain CRS and block-CRS")
    panels = {}
    for method, storage, second, printed, _, _, start, printed_start, *_ in rows:
        lines = panels.setdefault(method, [])
        style = {"color": f"C{sum(who.endswith(result.device) for who, *_ in lines)}"}
        for a, b, who, dash in ((start, second, result.device, SOLID), (printed_start, printed, "published", DASHED)):
            name = storage.removesuffix(", Algorithm 16") if who == "published" else storage
            line = [(n, value(a) + n * value(b)) for n in range(0, 51, 2)]
            if line[0][1] == line[0][1]:  # it is printed
                lines.append((f"{name}, {who}", line, {**style, **dash}))
    return curves(plt, list(panels.items()), f"global iterations, {title.split(', ')[1].split(' (')[0]}", "seconds")


# --- weights, theta, meshes -------------------------------------------------------------------------------------------

WEIGHTED = (("SOR", 1, "C2"), ("async-(5)", 4, "C3"), ("l1-async-(5)", 7, "C0"))  # name, first column, color


def weights(result):
    """(title, rows) of each matrix."""
    for title, _, rows in tables_of(result, "Iterations to "):
        accuracy, _, matrix = title.removeprefix("Iterations to ").split(" (")[0].split(", ")
        yield f"{checks.shown(matrix)}, to {accuracy}", rows


@of("weights")
def figure_4_18(plt, result):
    panels = [(title, [(name, points(rows, 0, column), {"color": color, "marker": "o"})
                       for name, column, color in WEIGHTED]) for title, rows in weights(result)]
    return curves(plt, panels, "relaxation factor", f"global iterations ({result.device})")


@of("weights")
def figure_4_20(plt, result):
    panels = [(title, [row[0] for row in rows],
               [(f"{name}, {'host' if name == 'SOR' else result.device}",
                 [("", [value(row[column + 2]) for row in rows])], {"color": color})
                for name, column, color in WEIGHTED]) for title, rows in weights(result)]
    return bars(plt, panels, "relaxation factor", "milliseconds")


def over_block_size(plt, result, rows, columns):
    lines = [(name, points(rows, 0, column), colored(i, "o", **style))
             for i, (name, column, style) in enumerate(columns)]
    figure = curves(plt, [("Trefethen_2000, to 1e-12", lines)], "rows of a block",
                    f"global iterations ({result.device})", log="x")
    if figure:
        figure.axes[0].set_ylim(0, 1.1 * max(y for _, line, _ in lines for _, y in line))
        figure.axes[0].set_xticks([value(row[0]) for row in rows], [row[0] for row in rows])
        figure.axes[0].minorticks_off()
    return figure


@of("weights")
def figure_4_19(plt, result):
    rows = rows_of(result, "l1 weights and block sizes")
    return over_block_size(plt, result, rows, (("async-(5)", 1, SOLID), ("l1-async-(5)", 3, DASHED)))


@of("theta")
def figure_4_21(plt, result):
    rows = rows_of(result, "Iterations to 1e-12")
    return over_block_size(plt, result, rows, (("async-(theta)", 1, DOTTED),))


@of("theta")
def figure_4_22(plt, result):
    rows = rows_of(result, "Iterations to 1e-12")
    return over_block_size(plt, result, rows, (("async-(theta)", 1, DOTTED), ("async-(5)", 5, SOLID),
                                               ("l1-async-(5)", 9, DASHED)))


@of("mesh-blocks")
def figure_4_24(plt, result):
    rows = rows_of(result, "Block sizes, 32 x 32")
    return curves(plt, [("32 x 32 nodes", [(f"after {n} iterations", points(rows, 0, column), colored(i, "o"))
                                           for i, (n, column) in enumerate(((200, 2), (1000, 3)))])],
                  "rows of a block; four mesh lines are 128", f"relative residual ({result.device})")


@of("mesh-blocks")
def figure_4_26(plt, result):
    rows = rows_of(result, "Meshes for blocks of")
    figure = curves(plt, [("to 1e-6, blocks of 112 rows", [("time", points(rows, 0, 5), colored(0, "o"))])],
                    "nodes a side, N", f"milliseconds ({result.device})", log="")
    if figure:
        figure.axes[0].axvline(112, color="k", linewidth=0.7, linestyle=":")
    return figure


# --- multigrid --------------------------------------------------------------------------------------------------------


def smoother_name(text):
    """'async(k=5, merged=2, block=512)' is the damped async-(5)."""
    return {"gauss-seidel": "Gauss-Seidel", "jacobi": "Jacobi"}.get(
        text, "async-(5)" if text.startswith("async") and "omega=1" not in text else "")


SMOOTHERS = {"Gauss-Seidel": SOLID, "async-(5)": DASHED, "Jacobi": DOTTED}


def cycles(result, case, panel_of, color_of, panel_names):
    """Residuals over cycles; a panel and a color by columns of the history, the line by the smoother."""
    panels, colors = {}, {}
    for row in result.rows("run/study_history.csv"):
        name = smoother_name(row["smoother"])
        if row["case"] == case and name and row["repetition"] == "0":
            lines = panels.setdefault(row[panel_of], {})
            color = colors.setdefault(row[color_of], f"C{len(colors)}")
            lines.setdefault((f"{name}, {color_of} = {row[color_of]}", color, name), []).append(
                (int(row["cycle_number"]), float(row["relative_residual"])))
    return [(panel_names.format(key), [(label, line, {"color": color, **SMOOTHERS[name]})
                                       for (label, color, name), line in lines.items()])
            for key, lines in sorted(panels.items())]


@of("smoothers")
def figure_4_27(plt, result):
    return curves(plt, cycles(result, "Figure 4.27", "smoothing_steps", "epsilon", "smoothing steps: {}"),
                  f"V-cycles, two levels ({result.device}; Gauss-Seidel: host)", "relative residual")


@of("smoothers")
def figure_4_28(plt, result):
    return curves(plt, cycles(result, "Figure 4.28", "epsilon", "unknowns", "epsilon = {}, two smoothing steps"),
                  f"V-cycles, two levels ({result.device})", "relative residual")


@of("smoothers")
def figure_4_29(plt, result):
    """Seconds of the smoother and of copies, of Table 4.11: two and five levels, the published beside."""
    rows = rows_of(result, "Table 4.11 and Figure 4.29", "run/study_findings.csv")
    panels = []
    for levels in ("2", "5"):
        own = [row for row in rows if row[0] == levels]

        def column(i):
            return [value(row[i]) for row in own]
        panels.append((f"{levels} levels", [f"{int(row[1]):.0e}".replace("e+0", "e") for row in own], [
            ("Gauss-Seidel, published", [("", column(3))], {"color": "C2", "alpha": 0.4}),
            ("Gauss-Seidel, host", [("", column(2))], {"color": "C2"}),
            ("async-(5) and copies, published", [("", [a + c for a, c in zip(column(5), column(7))])],
             {"color": "C3", "alpha": 0.4}),
            (f"async-(5) and copies, {result.device}", [("", [a + c for a, c in zip(column(4), column(6))])],
             {"color": "C3"})]))
    return bars(plt, panels, "unknowns", "seconds in the smoother")


@of("smoothers")
def figure_4_30(plt, result):
    rows = rows_of(result, "Figure 4.30", "run/study_findings.csv")
    panels = []
    for epsilon, smoother in dict.fromkeys((row[0], row[1]) for row in rows):
        own = [row for row in rows if row[:2] == [epsilon, smoother]]
        name = smoother_name(smoother)
        parts = [("smoother", [value(row[5]) for row in own]), ("rest", [value(row[4]) - value(row[5]) for row in own])]
        panels.append((f"{name}, {'host' if name == 'Gauss-Seidel' else result.device}, epsilon = {epsilon}",
                       [row[2] for row in own], [(name, parts, {"color": "C2" if name == "Gauss-Seidel" else "C3"})]))
    return bars(plt, panels, "smoothing steps", "milliseconds", log=False)


# --- refinement, Newton -----------------------------------------------------------------------------------------------

ACCURACIES = "Iterations and time to a relative residual, "
REFINED = {"async": ("async-(5)", 1, "C3"), "double": ("refinement, double", 3, "C0"),
           "mixed": ("refinement, mixed", 5, "C0"), "block double": ("block-asynchronous, double", 7, "C1"),
           "block mixed": ("block-asynchronous, mixed", 9, "C1")}


def refinement(names, time):
    """What is needed to reach an accuracy, in iterations or time, of these solvers; single precision is dashed."""
    @of("refinement")
    def draw(plt, result):
        panels = []
        for title, _, rows in tables_of(result, ACCURACIES):
            lines = []
            for key in names:
                name, column, color = REFINED[key]
                style = {"color": color, "marker": "o", **(DASHED if "mixed" in key else SOLID)}
                found = [(x, r) for r, x in points(rows, 0, column + time)]
                lines.append((name, found and [(0, 1.), *found], style))
            panels.append((checks.shown(title.removeprefix(ACCURACIES).split(" (")[0]), lines))
        return curves(plt, panels, f"{'milliseconds' if time else 'global iterations'} ({result.device})",
                      "relative residual")
    return draw


@of("newton")
def figure_4_39(plt, result):
    """Newton's method over time with each inner solver."""
    lines = []
    for i, name in enumerate(("async-500", "jacobi", "gauss-seidel", "cg", "gmres")):
        if not checks.has(result, name):
            return None
        steps, seconds, found = result.json(f"{name}/run.json")["cycles"][0]["newton"], 0., []
        for j, step in enumerate(steps):
            seconds += step["seconds"] if j else 0
            found.append((max(seconds, 1e-3), step["residual"] / steps[0]["residual"]))
        label = {"async-500": "async-(5)", "jacobi": "Jacobi", "gauss-seidel": "Gauss-Seidel"}.get(name, name.upper())
        device = "host" if name == "gauss-seidel" else result.device
        lines.append((f"{label}, {device}", found, colored(i)))
    return curves(plt, [("", lines)], "seconds (the start at 0.001)", "relative residual", log="xy")


# --- several GPUs -----------------------------------------------------------------------------------------------------


def exchanges(names, column, y_name):
    """Of these exchanges: a panel a matrix, a group of bars a number of GPUs, and a bar an exchange."""
    @of("gpus")
    def draw(plt, result):
        panels = []
        for title, _, rows in result.tables("chaotic.csv"):
            found = {(row[0], row[1]): value(row[column]) for row in rows if ": residual after " in title and row[0] in names}
            numbers = sorted({gpus for _, gpus in found}, key=int)
            series = [(name.upper(), [("", [found.get((name, gpus), math.nan) for gpus in numbers])], {"color": f"C{i}"})
                      for i, name in enumerate(names) if any(name == key for key, _ in found)]
            if series:
                panels.append((title.split(": residual after ")[0], numbers, series))
        return bars(plt, panels, f"GPUs ({result.device})", y_name, log=False)
    return draw


# --- energy -----------------------------------------------------------------------------------------------------------


def power(plt, result, start, means):
    """Power over time of each way to wait; published means of a title as dashed lines: (name, W)."""
    panels = []
    for title, columns, rows in tables_of(result, start):
        lines = []
        for i, column in enumerate(columns[1:], 1):  # such as 'CG, spin: GPU (W)'
            waiting, device = column.removesuffix(" (W)").split(", ")[-1].split(": ")
            lines.append((f"{device}, {waiting}", points(rows, 0, i), colored(i)))
        times = [p[0] for _, found, _ in lines for p in found]
        for i, (name, watt) in enumerate(means(title) if times else ()):
            lines.append((name, [(min(times), watt), (max(times), watt)], {**BLACK, **(DASHED, DOTTED)[i % 2]}))
        panels.append((title.split("power over time, ")[1], lines))
    figure = curves(plt, panels, f"seconds ({result.device})", "W", log="")
    for axis in figure.axes if figure else ():
        axis.set_ylim(bottom=0)
    return figure


@of("energy")
def figure_5_4(plt, result):
    def means(title):
        names = ("published mean, chipset (T Table 5.3)", "published mean, GPU (T Table 5.3)")
        return zip(names, published.WATTS_A318[0]) if title.endswith(", A318") else ()
    return power(plt, result, "Figure 5.4", means)


@of("energy")
def figure_5_5(plt, result):
    def means(title):
        if not title.endswith(", fv3"):
            return ()
        _, spin, block, *_ = published.ENERGY_FV3[title.split(", ")[1]]
        return (("published mean, CPU and GPU, spin (T Table 5.6)", spin),
                ("published mean, CPU and GPU, block (T Table 5.6)", block))
    return power(plt, result, "Figure 5.5", means)


@of("energy")
def figure_5_6(plt, result):
    """Energy over accuracy; of the GPU alone where that of the processor is not known."""
    tables = tables_of(result, "Figure 5.6")
    both = any(points(rows, 0, i) for _, columns, rows in tables for i, name in enumerate(columns)
               if name.endswith("GPU and CPU (J)"))
    what = "GPU and CPU (J)" if both else "GPU (J)"
    panels = []
    for title, columns, rows in tables:
        names = [(name.split(": ")[0], i) for i, name in enumerate(columns) if name.endswith(f": {what}")]
        panels.append((checks.shown(title.split("accuracy, ")[1].split(" (")[0]),
                       [(name, points(rows, 0, i), colored(j, "o")) for j, (name, i) in enumerate(names)]))
    figure = curves(plt, panels, "relative residual", what, log="xy")
    for axis in figure.axes if figure else ():
        axis.invert_xaxis()
    return figure


# --- overlap ----------------------------------------------------------------------------------------------------------


OVERLAPS = {"none": colored(0), "uniform": colored(1, linewidth=3, alpha=0.4), "top-down": colored(2, **DASHED),
            "bottom-up": colored(3, **DOTTED)}


def overlap(titles, kinds=tuple(OVERLAPS)):
    """A panel for each of these titles, a curve a kind of overlap."""
    @of("overlap")
    def draw(plt, result):
        panels = []
        for start in titles:
            _, columns, rows = result.table("chaotic.csv", start)
            panels.append((start, [(name, points(rows, 0, i), OVERLAPS[name]) for i, name in enumerate(columns)
                                   if name in kinds]))
        return curves(plt, panels, f"global iterations ({result.device})", "relative residual")
    return draw


@of("overlap")
def figure_o_9(plt, result):
    _, _, rows = result.table("chaotic.csv", "LAP on")
    return curves(plt, [(f"LAP, {name} to 1e-10", [(name, points(rows, 0, column), colored(column, "o"))])
                        for name, column in (("global iterations", 2), ("milliseconds", 3))],
                  f"overlap in percent of a block ({result.device})", "", log="")


DRAW = {
    **{figure: exchanges((name,), 3, "microseconds an iteration") for figure, name in (("4_10", "amc"), ("4_12", "dc"), ("4_13", "dk"))},
    "4_14": exchanges(("amc", "dc", "dk"), 7, "seconds to the residual"),
    "4_7": figure_4_7, "4_16": figure_4_16, "4_18": figure_4_18, "4_19": figure_4_19, "4_20": figure_4_20,
    "4_21": figure_4_21, "4_22": figure_4_22, "4_24": figure_4_24, "4_26": figure_4_26, "4_27": figure_4_27,
    "4_28": figure_4_28, "4_29": figure_4_29, "4_30": figure_4_30,
    "4_31": refinement(("double", "mixed"), 0), "4_32": refinement(("async", "double", "mixed"), 1),
    "4_34": refinement(("block double", "block mixed"), 0), "4_35": refinement(("block double", "block mixed"), 1),
    "4_36": refinement(("mixed", "block mixed"), 0), "4_37": refinement(("async", "mixed", "block mixed"), 1),
    "4_39": figure_4_39, "5_4": figure_5_4, "5_5": figure_5_5, "5_6": figure_5_6,
    "o_2": overlap(("A, blocks top-down", "A, blocks in random order"), ("none", "uniform")),
    "o_3": overlap(("A, blocks top-down",)), "o_4": overlap(("A, blocks in random order",)),
    "o_5": overlap(("L of ILU(0), random order", "U of ILU(0), random order")), "o_9": figure_o_9,
}
