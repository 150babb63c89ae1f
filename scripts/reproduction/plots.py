# SPDX-License-Identifier: Apache-2.0
"""What figures share: curves and bars in panels, with one legend below that covers nothing."""
import math
import re

MOST = 150  # points of a curve


def thin(points):
    step = max(1, len(points) // MOST)
    return points[::step] + ([points[-1]] if points and (len(points) - 1) % step else [])


def value(cell):
    """The number that a cell begins with; NaN where there is none."""
    match = re.match(r"\s*([-+]?[0-9]*\.?[0-9]+([eE][-+]?[0-9]+)?)", cell)
    return float(match[1]) if match else math.nan


def points(rows, x, y):
    """(x, y) of two columns, of the rows where both are numbers."""
    pairs = ((value(row[x]), value(row[y])) for row in rows)
    return [pair for pair in pairs if all(map(math.isfinite, pair))]


def grid(plt, count, columns):
    """A figure of this many panels, of which columns stand beside each other."""
    columns = min(columns, count)
    rows = -(-count // columns)
    size = (min(9, 4.4 * columns), 2.7 * rows + 0.3)
    figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    for axis in axes.flat[count:]:
        axis.remove()
    return figure, list(axes.flat[:count])


def legend_below(figure, axes):
    """Each name once, whichever panels it is in."""
    entries = {}
    for axis in axes:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            entries.setdefault(label, handle)
    if len(entries) > 1:
        figure.legend(list(entries.values()), list(entries), loc="upper center", bbox_to_anchor=(0.5, 0),
                      ncol=min(len(entries), 4 if max(map(len, entries)) < 40 else 2))


def curves(plt, panels, x_name, y_name, log="y", columns=2):
    """
    Panels (title, [(name, points, style)]) with points joined by lines; log: the logarithmic axes. What cannot be
    shown on such an axis is left out, panels without a point too; None if nothing is left.
    """
    def shown(x, y):
        return ("x" not in log or x > 0) and ("y" not in log or y > 0)
    kept = [(title, [(name, thin([p for p in found if shown(*p)]), style) for name, found, style in lines])
            for title, lines in panels]
    kept = [(title, [line for line in lines if line[1]]) for title, lines in kept]
    kept = [panel for panel in kept if panel[1]]
    if not kept:
        return None
    figure, axes = grid(plt, len(kept), columns)
    for axis, (title, lines) in zip(axes, kept):
        for name, found, style in lines:
            axis.plot(*zip(*found), label=name, **{"linewidth": 1, "markersize": 3, **style})
        axis.set(title=title, xlabel=x_name, ylabel=y_name, xscale="log" if "x" in log else "linear",
                 yscale="log" if "y" in log else "linear")
        if "x" not in log:
            axis.ticklabel_format(axis="x", scilimits=(-3, 5))
    legend_below(figure, axes)
    return figure


def bars(plt, panels, x_name, y_name, log=True, columns=2):
    """
    Panels (title, groups, [(name, parts, style)]): for each group a bar of each name. parts: a list of (part, values)
    that are stacked, with one value a group; a part without a name has the whole bar. None without a panel.
    """
    if not panels:
        return None
    figure, axes = grid(plt, len(panels), columns)
    for axis, (title, groups, series) in zip(axes, panels):
        width = 0.8 / len(series)
        for i, (name, parts, style) in enumerate(series):
            at = [g + (i - (len(series) - 1) / 2) * width for g in range(len(groups))]
            base = [0.] * len(groups)
            for j, (part, values) in enumerate(parts):
                values = [v if math.isfinite(v) else 0. for v in values]
                axis.bar(at, values, 0.9 * width, base, label=f"{name}, {part}" if part else name,
                         **{"alpha": 1 / (1 + j), **style})
                base = [b + v for b, v in zip(base, values)]
        axis.set_xticks(range(len(groups)), groups)
        axis.grid(False, axis="x")
        axis.set(title=title, xlabel=x_name, ylabel=y_name, yscale="log" if log else "linear")
    legend_below(figure, axes)
    return figure
