# SPDX-License-Identifier: Apache-2.0
"""The entries of a parameter file as the program itself declares them, and random values for them: so new entries are covered by themselves."""
import re

import harness

# What keeps a run short: (entry, largest value). Values are free elsewhere.
SMALL = {
    "Mesh/Global refinements": 4, "Mesh/Cells": 6, "Mesh/Adaptive cycles": 3, "Discretization/Degree": 3, "Verification/Refinements": 2,
    "Smoother study/Repetitions": 2, "Smoother study/Refinements": 3, "Smoother study/Additional refinements": 2, "Smoother study/Max cycles": 100,
    "Smoother study/Cycles beyond": 3, "Smoother study/Sizes": 40, "Smoother study/Smoothing steps": 4, "Linear solver/Max iterations": 20000,
    "Linear solver/Local iterations": 20, "Linear solver/Preconditioner iterations": 20, "Multigrid/Pre smoothing": 5, "Multigrid/Post smoothing": 5,
    "Multigrid/Smoothing iterations per step": 5, "Linear solver/Threads": 5, "Newton/Linear iterations": 500, "Newton/Max steps": 40,
    "Smoother study/Levels": 6, "Linear solver/Restart": 500, "Linear solver/Triangular iterations": 20, "Linear solver/Factor sweeps": 20,
    "Linear solver/Tuning time": 1, "Linear solver/Fill level": 3,
}
# What the harness itself sets, or what has its own test
LEFT_OUT = {"Problem", "Study", "Run/Directory", "Run/Wall time"}

NUMBERS = ["0", "1", "0.5", "2", "-1", "1e-3", "1e3", "1e-12", "1e12", "3.7", "1e-300", "1e300"]
EXPRESSIONS = ["0", "1", "x", "x*y", "sin(pi*x)*cos(pi*y)", "exp(-10*((x-0.5)^2+(y-0.5)^2))", "if(x<0.5,1,2)", "1+t", "x+y+z", "abs(x-0.5)", "sqrt(x)", "-1",
               "1e-3*x", "1e8", "1e-300", "1e300*x", "1/x", "1/(x-0.5)", "log(x)", "sqrt(x-0.5)", "0/0", "1/0", "x^y", "tan(pi*x/2)", "rand_seed(1)", "min(x,y)"]
BROKEN_EXPRESSIONS = ["x+", "(", "sin(", "x y", "foo(x)", "w", "1..2", "$", "x=1", "sin()", "\"x\"", "0x", ")", "*", ",", "if(x)", "1e", "sin x", "x?1", "x;y"]
# entries that are no number, selection or list: (values that are fine, values that must be refused)
TEXTS = {
    "Output/Times": (["", "0.001", "0.001, 0.002", "0.002, 0.001, 0.001", "0"], ["1e30", "-1", "x"]),
    "Run/Sweep": (["", "Time stepping/Error tolerance: 1e-2, 1e-3", "Mesh/Lower corner: 0, -1; Mesh/Upper corner: 1, 2"],
                  ["gamma", ":", "gamma:", "nothing: 1", "Run/Directory: a, b", "Turing/gamma: x", "Turing/gamma: 1, 1", ";;:", "Turing/gamma: 1,,2"]),
    "Turing/Species": (["u, v"], ["", "u", "u, u", "1", "a,b,c,d,e,f,g", "pi, e", "u v", "x, ,y", "sin, cos"]),
    "Turing/Constants": (["", "a: 0.1, b: 0.9"], ["a", "a:", ": 1", "a: x", "a: 1, a: 2", "pi: 3", "a: 1e999", "a: nan", "u: 1"]),
    "Turing/Steady state guess": (["", "u: 1, v: 0.9"], ["u: 1", "u", "u: 1, w: 2", "u: x, v: 1", "u: 1, v: 1, v: 2", "u: nan, v: 1"]),
    "Smoother study/Smoothers": (["async", "async(k=5), gauss-seidel", "chebyshev(merged=3)", "damped-jacobi", "async(k=5, schedule=synchronous)", "ilu0", "ssor"],
                                 ["", "nothing", "async(", "async(k=)", "async(k=-1)", "async(q=1)", "async(k=1e9)", "chebyshev(merged=0)", ",", "async()x"]),
    "Smoother study/Cases": (["", "one, two [Discretization/Degree=2]"], ["[", "a [", "a [b]", "a [Mesh/Domain=nothing]", "a [=]", "a, a", "[Problem=laplace]"]),
    "Mesh/File": (["@meshes/fish.msh", "@meshes/leopard_pelt.msh", "@meshes/leopard_skin.msh", ""], ["no.msh", "/", ".", "case.prm", "/dev/null"]),
}


class Entry:
    """name: "Section/Entry"; kind: selection, bool, integer, number, list, text; low, high: numbers or None; choices: of a selection."""

    def __init__(self, name, default, pattern):
        self.name, self.default, self.kind, self.low, self.high, self.choices, self.element = name, default, "text", None, None, [], None
        if pattern.startswith("one of: "):
            self.kind, self.choices = "selection", pattern[8:].split(" | ")
        elif pattern == "true or false":
            self.kind, self.choices = "bool", ["true", "false"]
        elif pattern.startswith(("an integer", "a number")):
            self.kind = "integer" if pattern.startswith("an integer") else "number"
            self.low, self.high = limits(pattern)
        elif pattern.startswith("a list"):
            self.kind, self.element = "list", "integer" if "integers" in pattern else "selection" if "Selection" in pattern else "number"
            match = re.search(r"(?:Integer range|Double) ([^.\s]+(?:\.\d+)?(?:e-?\d+)?)\.\.\.(\S+)", pattern)
            self.low = None if not match or "MAX" in match[1] or match[1] == "-2147483648" else float(match[1])
            self.choices = re.search(r"Selection ([^\s\]]+)", pattern)[1].split("|") if self.element == "selection" else []

    def is_expression(self):
        return self.kind == "text" and self.name not in TEXTS

    def valid(self, rng):
        """A value that the pattern allows; it need not make sense beside the others."""
        if self.kind in ("selection", "bool"):
            return rng.choice(self.choices)
        if self.kind in ("integer", "number"):
            return self.one(rng)
        if self.kind == "list":
            return ", ".join(rng.choice(self.choices) if self.element == "selection" else self.one(rng) for _ in range(rng.choice((1, 1, 2, 3))))
        if self.name in TEXTS:
            return rng.choice(TEXTS[self.name][0])
        expression = rng.choice(EXPRESSIONS)
        if "Boundary" in self.name:
            return rng.choice(("*: {}", "0: {}", "0: {}; *: 0", "0: 1; 1: {}", "")).format(expression)
        if "Reaction " in self.name or self.name.endswith("/f") or "Derivative" in self.name:
            return rng.choice(("u - u^3", "-u", "u*(1-u)", "1/u", "log(u)", "exp(u)", "sqrt(u)", "-sqrt(u)", "u^2", "abs(u)", "0*u", "u^100", "tanh(u)", "1"))
        if "Diffusion " in self.name:
            return rng.choice(("1", "0.1", "1e-6", "1e6"))
        return expression

    def one(self, rng):
        integer = self.kind == "integer" or self.element == "integer"
        low = self.low if self.low is not None else -3
        if integer:
            high = SMALL.get(self.name, self.high if self.high is not None else 2147483647)
            pool = [low, low + 1, low + 2, rng.randint(int(low), int(min(high, low + 20))), high, self.default]
            return str(next(x for x in rng.sample(pool, len(pool)) if re.fullmatch(r"-?\d+(\.0)?", str(x)) and float(x) <= high)).split(".")[0]
        pool = [x for x in NUMBERS if float(x) >= (self.low if self.low is not None else -1e301) and (self.high is None or float(x) <= self.high)]
        pool += [f"{limit:.17g}" for limit in (self.low, self.high) if limit is not None]
        try:
            pool += [f"{float(self.default) * factor:.6g}" for factor in (0.5, 1, 1, 1, 2) if self.low is None or float(self.default) * factor >= self.low
                     if self.high is None or float(self.default) * factor <= self.high]
        except ValueError:
            pass
        return rng.choice(pool)

    def invalid(self, rng):
        """A value that must be refused, or None if there is none to be sure of."""
        if self.kind in ("selection", "bool"):
            return rng.choice(["", "nothing", self.choices[0] + "x", self.choices[0].upper() + "?", "1.5"])
        if self.kind in ("integer", "number"):
            bad = ["abc", "nan", "", "1 2", "inf", "-inf", "--1", "1e", "0x10z", "١"]
            bad += [f"{self.low - 1:.17g}"] if self.low is not None else []
            bad += [f"{self.high * 2 + 1:.17g}"] if self.high is not None else []
            bad += ["1.5", "99999999999999999999"] if self.kind == "integer" else ["1e999"]
            return rng.choice(bad)
        if self.kind == "list":
            return rng.choice(["abc", "1, x", ";", "nan", "1 2"])
        if self.name in TEXTS:
            return rng.choice(TEXTS[self.name][1])
        return rng.choice(BROKEN_EXPRESSIONS)


def limits(pattern):
    low, high = re.search(r">= (\S+)", pattern), re.search(r"<= (\S+)", pattern)
    return (float(low[1]) if low else None), (float(high[1]) if high else None)


def declared(folder, settings=()):
    """(name, default) of each entry, from --print-parameters."""
    result = harness.run([harness.LEOPARD, *settings, "--print-parameters"], folder, 60)
    if result.code != 0:
        raise SystemExit(f"--print-parameters fails: {result.said}")
    found, sections, continued = [], [], ""
    for line in result.out.splitlines():
        line = continued + line.strip()
        continued = ""
        if line.endswith("\\"):
            continued = line[:-1]
        elif line.startswith("subsection "):
            sections.append(line[11:])
        elif line == "end":
            sections.pop()
        elif line.startswith("set "):
            name, value = line[4:].split("=", 1)
            found.append(("/".join([*sections, name.strip()]), value.split("#")[0].strip()))
    return found


def ask_patterns(folder, names):
    """{name: what the program says that it expects}, found by asking for a value that nothing allows; nothing is said of free text."""
    patterns = {}
    for begin in range(0, len(names), 10):
        settings = [f"{name}=@" for name in names[begin:begin + 10]]
        (folder / "empty.prm").write_text("")
        said = harness.run(harness.command("empty.prm", *settings, options=["--validate"]), folder, 60).err
        for match in re.finditer(r"'([^'\n]+)' is '@'\n  expected: ([^\n]*)", said):
            patterns[match[1]] = match[2]
    return patterns


def all_entries(folder):
    names = declared(folder)
    patterns = ask_patterns(folder, [name for name, _ in names])
    return [Entry(name, default, patterns.get(name, "")) for name, default in names if name not in LEFT_OUT]
