# SPDX-License-Identifier: Apache-2.0
"""Verdicts on what the papers say. Each rule is written so that a value that is not a number never confirms."""
import dataclasses
import math
import re

CONFIRMED = "confirmed"
REFUTED = "refuted"
OPEN = "cannot be decided here"
NOTHING = "nothing to measure"
ALL = (CONFIRMED, REFUTED, OPEN, NOTHING)

OF_STUDY = {"holds": CONFIRMED, "does not hold": REFUTED, "is not decided here": OPEN}
NOT_A_NUMBER = re.compile(r"(?<![A-Za-z])[-+]?(nan|inf|infinity)(?![A-Za-z])", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class Line:
    """A row of the document: what is claimed with the published value, what was measured, the verdict and why."""

    claim: str
    ours: str
    verdict: str
    why: str = ""

    def __post_init__(self):
        if self.verdict not in ALL:
            raise ValueError(f"'{self.verdict}' is no verdict")

    def because(self, why):
        return dataclasses.replace(self, verdict=OPEN, why=why)


def near(measured, published, relative):
    """Whether the measured value is the published one up to a relative difference; never of NaN or infinity."""
    return finite(measured, published) and abs(measured - published) <= relative * abs(published)


def finite(*values):
    return all(isinstance(value, (int, float)) and math.isfinite(value) for value in values)


def decide(claim, values, holds, ours):
    """
    The line of a claim that holds(*values) decides. A value that is no finite number leaves it open: neither
    confirmed nor refuted, as then nothing was measured.
    """
    if not values or not finite(*values):
        return Line(claim, ours, OPEN, "no finite number was measured")
    return Line(claim, ours, CONFIRMED if holds(*values) else REFUTED)


def fact(claim, agrees, ours, why="arithmetic, which agrees"):
    """
    The line of a printed number that arithmetic decides and nothing measures, or of a theorem: a fact where it agrees,
    which confirms nothing of a method, else refuted.
    """
    return Line(claim, ours, NOTHING, why) if agrees else Line(claim, ours, REFUTED)


WITHIN = 0.05  # of a limit: what two runs may differ by; so in leopard-study


def decide_times(claim, values, ratios, ours, least=-math.inf, most=math.inf):
    """
    The line of a claim on times: each ratio of them is from least to most. One that is clearly outside refutes; where
    none is, one within 5 percent of a limit leaves it open. values: what the ratios are of, as of decide().
    """
    if not ratios or not finite(*values, *ratios):
        return decide(claim, [], None, ours)
    near = {ratio: limit for ratio in ratios for limit in (least, most) if abs(ratio / limit - 1) < WITHIN}
    line = decide(claim, ratios, lambda *_: all(least <= ratio <= most for ratio in ratios if ratio not in near), ours)
    if line.verdict == CONFIRMED and near:
        ratio, limit = next(iter(near.items()))
        return line.because(f"a ratio of {ratio:.3g}, within 5 percent of {limit:.3g}: nothing is decided")
    return line


def of_study(claim, verdict, measured):
    """The line of a finding of leopard-study or of a study of leopard; unknown words and NaN leave it open."""
    if verdict not in OF_STUDY:
        return Line(claim, measured, OPEN, f"the study says '{verdict}'")
    line = Line(claim, measured, OF_STUDY[verdict])
    if line.verdict == CONFIRMED and NOT_A_NUMBER.search(measured):
        return line.because("not all measured values are numbers")
    return line


def agree(lines):
    """
    One line of several runs' lines (name: line) of a claim. Where they do not agree the claim is not decided. They
    are named where there are several.
    """
    verdicts = {line.verdict for line in lines.values()}
    first = next(iter(lines.values()))
    if len(lines) == 1:
        return first
    ours = "; ".join(f"{name}: {line.ours}" for name, line in lines.items())
    if len({line.ours for line in lines.values()}) == 1:
        ours = first.ours
    if len(verdicts) == 1:
        return Line(first.claim, ours, first.verdict, first.why)
    return Line(first.claim, ours, OPEN, "the schedules disagree: "
                + ", ".join(f"{name} {line.verdict}" for name, line in lines.items()))
