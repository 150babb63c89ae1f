# SPDX-License-Identifier: Apache-2.0
"""T section 4.14.2, Figure 4.40: the run of pattern formation against direct solvers, its end, and its time step."""
import math
import re

from . import fields
from .checks import g, largest, number
from .experiments import CELLS, COARSE, PATTERN_TIMES
from .verdicts import decide

FORMED, END = PATTERN_TIMES[:5], PATTERN_TIMES[-1]
NEGLIGIBLE = 1e-5  # of u, which is about 1


def of_direct_solver(result):
    """The same steps with and without a direct solver, on a grid on which that takes minutes."""
    reference = fields.at_times(result.folder / "coarse-direct", "u", COARSE + 1, FORMED)
    lines = []
    for name, what in (("coarse-async", "async-(5) in blocks of rows"), ("coarse-fused", "the fused time loop")):
        ours = fields.at_times(result.folder / name, "u", COARSE + 1, FORMED)
        differences = [fields.difference(a, b) for a, b in zip(ours, reference)]
        lines.append(decide(f"{what}, {COARSE + 1} x {COARSE + 1} nodes: u at t = {', '.join(map(str, FORMED))} "
                            f"differs negligibly from that of a direct solver ({NEGLIGIBLE:g} at most)", differences,
                            lambda *v: max(v) <= NEGLIGIBLE, ", ".join(g(value, 2) for value in differences)))
    return lines


def end(result):
    """The complete run: where it ends."""
    nodes = CELLS[result.device] + 1
    last, before = (fields.at_times(result.folder / "thesis", "u", nodes, (t,))[0] for t in (END, PATTERN_TIMES[-2]))
    direct = fields.at_times(result.folder / "direct", "u", nodes, (END,))[0]
    text = result.text("thesis.txt")
    steps = number(r"^(\d+) steps, ", text)
    apart, change = fields.difference(last, direct), fields.difference(last, before)
    kind = re.search(r"^pattern of u at t = [\d.]+: (\d+) spots?([^;]*)", text, re.MULTILINE)
    spots = float(kind[1]) if kind else math.nan
    striped = kind is not None and "stripes" in kind[2].split("(")[0]
    return [
        decide(f"{nodes} x {nodes} nodes: u at t = 5 differs negligibly from that of a direct solver ({NEGLIGIBLE:g} "
               "at most; that one by BDF2 with error-controlled steps)", [apart], lambda v: v <= NEGLIGIBLE,
               f"{g(apart, 2)} after {g(steps, 6)} steps of 0.1 h^2"),
        decide(f"u converges towards a steady pattern (change from t = 4 to t = 5: {NEGLIGIBLE:g} at most)", [change],
               lambda v: v <= NEGLIGIBLE, g(change, 2)),
        decide("the steady pattern is dotted: two spots at least and no stripes", [spots],
               lambda v: v >= 2 and not striped, f"{g(spots)} spots" + (", or stripes" if striped else "")
               + f", u between {g(-largest(-value for value in last.values()))} and {g(largest(last.values()))}"),
    ]


def bound(result):
    """The step of the thesis against the longest one for which rho(|B|) < 1; the last one ends the run."""
    text = result.text("bound/statistics")
    steps = [float(line.split()[2]) for line in text.splitlines() if line and not line.startswith("#")][1:-1]
    longest, chosen = -largest(-step for step in steps), 0.1 / CELLS["cuda"] ** 2
    return [decide(f"dt = 0.1 h^2 = {chosen:.3g} is so small that rho(|B|) < 1 in each step until the pattern has "
                   "formed (the longest such step: beside)", [longest], lambda v: chosen < v,
                   f"such steps may be as long as {g(longest, 3)} to {g(largest(steps), 3)} here")]
