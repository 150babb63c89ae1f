#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""soak.py [--runs N] [--jobs J] [--seed S] [--only SEED] [--keep FOLDER]

Runs N random parameter files, each made from its own seed: a small problem, a random engine, backend, scheme and solver, and random values, most of them
allowed, of any entry that the program declares. A run may finish, stop, be refused or fail with one clear message. It may not crash, hang, speak of an
unexpected error, leave something half-written, accept what its entry forbids, or say "finished" with a field that is not finite or a residual above its
tolerance. Exit code 1 if one does. --only SEED makes one again and shows its file and what it said.
"""
import collections
import concurrent.futures
import pathlib
import random
import re
import shutil
import sys

import entries
import harness

LIMIT, GRACE = 60, 30  # seconds: for hangs only; --limit on a slow machine
WALL_TIME = "0.1"      # minutes, of a run in time

MANUFACTURED = {
    "Laplace": ["Exact solution=sin(pi*x)*sin(pi*y) + x", "Source=2*pi^2*sin(pi*x)*sin(pi*y)", "Boundary values=*: sin(pi*x)*sin(pi*y) + x"],
    "Helmholtz": ["Delta=10", "Source=1 + x*y", "Boundary values=0: 0; 1: x", "Boundary fluxes=2: 1"],
    "Reaction-diffusion": ["Source=sin(pi*x)", "Boundary values=*: 0", "alpha=1", "beta=2"],
}
EXPRESSION_KINETICS = [
    ["Species=u, v", "Reaction u=a - u + u^2*v", "Reaction v=b - u^2*v", "Diffusion u=1", "Diffusion v=10", "Constants=a: 0.1, b: 0.9", "gamma=100"],
    ["Species=u", "Reaction u=u - u^3", "Diffusion u=1", "Steady state=any", "Initial value u=0.1*x"],
    ["Species=u, v, w", "Reaction u=1 - u*w", "Reaction v=u - v", "Reaction w=v - w", "Diffusion u=1", "Diffusion v=2", "Diffusion w=0.1"],
    ["Species=u", "Reaction u=-sqrt(u)", "Diffusion u=1", "Steady state=none", "Initial value u=1"],
    ["Species=u", "Reaction u=1/u", "Diffusion u=1", "Steady state=none", "Initial value u=1 + x"],
]
# what may fail, and must then say so: overflow, poles, roots of negative values (f, its derivative)
HOSTILE_REACTIONS = [("log(u)", "1/u"), ("exp(u)", "exp(u)"), ("1/u", "-1/u^2"), ("sqrt(u)", "0.5/sqrt(u)"), ("u^3 - 1e3*u", "3*u^2 - 1e3"), ("-exp(-u)", "exp(-u)")]
INITIAL_VALUES = ["0", "1", "-1", "1e-3*x", "1 + 0.1*x*y", "700", "1e200", "x - 0.5"]


def section(name, settings):
    return {f"{name}/{setting.split('=', 1)[0]}": setting.split("=", 1)[1] for setting in settings}


def base_file(rng, choices):
    """A small problem, {entry: value}. @param choices of the selections, by entry."""
    problem = rng.choice([*choices["Problem"], "turing", "turing"])
    values = {"Problem": problem, "Mesh/Global refinements": str(rng.choice((2, 3, 3, 4))), "Run/Wall time": WALL_TIME, "Run/Directory": "run"}
    method = rng.choice(choices["Linear solver/Method"])
    values["Linear solver/Method"] = method
    if method in ("cg", "gmres"):
        values["Linear solver/Preconditioner"] = rng.choice(choices["Linear solver/Preconditioner"])
    values["Linear solver/Backend"] = rng.choice(choices["usable backends"])
    values["Linear solver/Threads"] = str(rng.choice((1, 2)))
    values["Linear solver/Max iterations"] = "5000"
    values["Discretization/Method"] = rng.choice(choices["Discretization/Method"])
    if rng.random() < 0.15:
        values["Dimension"], values["Mesh/Global refinements"] = "3", "2"
    elif values["Discretization/Method"] == "finite elements" and rng.random() < 0.3:
        values["Mesh/Domain"] = rng.choice([domain for domain in choices["Mesh/Domain"] if "file" not in domain])
        values["Mesh/Global refinements"] = "2"
    if problem == "turing":
        values.update(turing(rng, choices))
    else:
        name = problem[0].upper() + problem[1:]
        values.update(section(name, MANUFACTURED.get(name, [])))
        if problem == "reaction-diffusion" and rng.random() < 0.4:
            f, derivative = rng.choice(HOSTILE_REACTIONS)
            values.update(section(name, ["Reaction=expression", f"f={f}", f"Derivative of f={derivative}", f"Initial value={rng.choice(INITIAL_VALUES)}"]))
            del values[f"{name}/alpha"], values[f"{name}/beta"]
        if rng.random() < 0.2 and "Exact solution" in str(values):
            values["Verification/Refinements"] = "1"
        if rng.random() < 0.15:
            values["Mesh/Adaptive"], values["Mesh/Adaptive cycles"] = "true", "2"
    if rng.random() < 0.06:
        values["Study"] = "smoothers"
        values.update(section("Smoother study", ["Smoothers=async, gauss-seidel", "Refinements=2", "Repetitions=1"]))
    return values


def turing(rng, choices):
    values = {"Turing/Start from steady state": "true", "Turing/Perturbation": "0.05", "Turing/gamma": "100"}
    if rng.random() < 0.35:
        values = section("Turing", rng.choice(EXPRESSION_KINETICS))
        values["Turing/Kinetics"] = "expressions"
    else:
        values["Turing/Kinetics"] = rng.choice([name for name in choices["Turing/Kinetics"] if name != "expressions"])
        if rng.random() < 0.3:
            values.update({"Turing/Start from steady state": "false", "Turing/Initial value u": rng.choice(INITIAL_VALUES), "Turing/Initial value v": rng.choice(INITIAL_VALUES)})
    values["Time stepping/Engine"] = rng.choice(choices["Time stepping/Engine"])
    values["Time stepping/Scheme"] = rng.choice(choices["Time stepping/Scheme"])
    values["Time stepping/Step control"] = rng.choice(choices["Time stepping/Step control"])
    values["Time stepping/End time"] = "5e-3"
    values["Time stepping/Step size"] = rng.choice(("1e-3", "5e-4"))
    if rng.random() < 0.15:
        values["Mesh/Growth"], values["Mesh/Growth rate"] = rng.choice(choices["Mesh/Growth"]), "1"
    return values


class File:
    """The random file of a seed. bad: the entry with a value that must be refused, or ""; names_bad: whether that is found first, before anything else."""

    def __init__(self, seed, known, choices, root):
        rng = random.Random(f"leopard {seed}")
        self.seed, self.bad = seed, ""
        self.values = base_file(rng, choices)
        self.ranks = 2 if rng.random() < 0.15 else 1
        relevant = [entry for entry in known if self.concerns(entry.name)]
        for entry in rng.sample(relevant, min(len(relevant), rng.choice((0, 1, 1, 2, 3, 4)))):
            self.values[entry.name] = entry.valid(rng).replace("@", f"{root}/")
        if rng.random() < 0.25:
            entry = rng.choice([entry for entry in relevant if self.must_be_refused(entry)])
            self.bad, self.values[entry.name] = entry.name, entry.invalid(rng)
            self.names_bad = entry.kind != "text"

    def concerns(self, name):
        """Entries of other problems are read but not used."""
        first, problem = name.split("/")[0], self.values["Problem"]
        if first in ("Laplace", "Helmholtz", "Reaction-diffusion", "Turing") and first.lower() != problem:
            return False
        return first != "Smoother study" or "Study" in self.values

    def must_be_refused(self, entry):
        """An entry that free text stands in is looked at only where it is used; a study has its own way with what is not needed."""
        if entry.kind != "text":
            return True
        if entry.name in ("Mesh/File",) and "file" not in self.values.get("Mesh/Domain", ""):
            return False
        if entry.name.startswith("Turing/") and self.values.get("Turing/Kinetics") != "expressions" and "Initial" not in entry.name:
            return False
        return "Spot threshold" not in entry.name and "Levels" not in entry.name and "Study" not in self.values and not entry.name.startswith("Run/")

    def text(self):
        sections = collections.defaultdict(list)
        for name, value in self.values.items():
            *path, entry = name.split("/")
            sections["/".join(path)].append(f"set {entry} = {value}\n")
        text = f"# seed {self.seed}\n" + "".join(sections.pop("", []))
        return text + "".join(f"subsection {name}\n{''.join('  ' + line for line in lines)}end\n" for name, lines in sections.items())


def stationary_residuals(directory, file, said):
    """A finished stationary run has residuals below its tolerance. The scale is the load, which is about the residual of the first guess, the largest one of
    all cycles; so this finds gross mistakes, beyond twice that."""
    found = []
    try:
        cycles = harness.read_json(directory / "run.json").get("cycles", [])
    except (OSError, ValueError) as error:
        return [str(error)]
    linear = [(float(a), float(b)) for a, b in re.findall(r"residual ([^ ]+) -> ([^ ,\n]+)", said)]
    largest = max((a for a, _ in linear), default=0.)
    tolerance = float(file.values.get("Linear solver/Relative tolerance", "1e-8"))
    for first, last in linear:
        if not last <= 2 * max(tolerance, 1e-13) * max(largest, first) + 1e-14:
            found.append(f"finished with a residual of {last:g}, first {first:g}, tolerance {tolerance:g}")
    newton = [cycle["newton"] for cycle in cycles if "newton" in cycle]
    largest = max((step["residual"] or 0. for history in newton for step in history), default=0.)
    tolerance = max(float(file.values.get("Newton/Relative tolerance", "1e-8")), float(file.values.get("Newton/Absolute tolerance", "1e-12")))
    for history in newton:
        last = history[-1]["residual"]
        if last is None or not last <= 2 * tolerance * largest + 1e-14:
            found.append(f"finished with Newton's residual {last}, the first {history[0]['residual']}, tolerance {tolerance:g}")
    if any(cycle.get("residual", 0.) is None for cycle in cycles):
        found.append("finished with a residual that is not finite")
    return found


def verdict(file, result, directory):
    """(outcome, complaints)."""
    wrong = harness.complaints_about_end(result) + harness.complaints_about_directory(directory)
    status = harness.status_of(directory)
    if result.stopped == "stopped on request":
        return "long, stopped on request", wrong
    if result.stopped:
        return "hangs", wrong
    if result.code != 0:
        # complaints about fields are none of a failed run: its last good state is
        if file.bad and file.names_bad and file.bad.split("/")[-1] not in result.err:
            wrong.append(f"the message does not name the entry '{file.bad}': {result.err.strip()[:200]}")
        if directory.is_dir() and (directory / "run.json").exists() and not status.startswith("failed"):
            wrong.append(f"failed, but run.json says '{status}'")
        return ("refused" if file.bad else "failed in the run" if status.startswith("failed") else "refused, allowed values"), wrong
    if file.bad and not re.search(f"^not used: .*'{re.escape(file.bad)}'", result.out, re.MULTILINE):
        wrong.append(f"accepts '{file.bad}' = '{file.values[file.bad]}'")
    if not status and "Run/Sweep" not in file.values:
        wrong.append("exit code 0 without a run.json")
    if "Run/Sweep" not in file.values:
        wrong += stationary_residuals(directory, file, result.out)
    return status.split(":")[0] or "finished", wrong


def choices_of(known, folder):
    """The selections, and the backends that this machine has."""
    choices = {entry.name: entry.choices for entry in known if entry.kind == "selection"}
    patterns = entries.ask_patterns(folder, ["Problem", "Study"])
    choices["Problem"] = patterns["Problem"][8:].split(" | ")
    usable = []
    for backend in choices["Linear solver/Backend"]:
        (folder / "backend.prm").write_text("set Problem = laplace\nsubsection Laplace\n set Source = 1\n set Boundary values = *: 0\nend\n"
                                            "subsection Mesh\n set Global refinements = 2\nend\n")
        result = harness.run(harness.command("backend.prm", f"Linear solver/Backend={backend}", "Run/Directory=backend", options=["--overwrite"]), folder, 120)
        if result.code == 0:
            usable.append(backend)
    choices["usable backends"] = usable
    return choices


def one_run(seed, known, choices, scratch, arguments):
    root = pathlib.Path(__file__).resolve().parents[2]
    folder = pathlib.Path(scratch) / str(seed)
    folder.mkdir()
    file = File(seed, known, choices, root)
    (folder / "case.prm").write_text(file.text())
    result = harness.run(harness.command("case.prm", ranks=file.ranks), folder, arguments.limit, GRACE)
    outcome, wrong = verdict(file, result, folder / "run")
    if arguments.only is not None:
        print(file.text(), result.said[-6000:], sep="\n")
    if wrong or arguments.verbose:
        print(f"seed {seed}: {outcome}, exit code {result.code}, {result.seconds:.1f} s, {file.ranks} rank(s): {'; '.join(wrong)}", flush=True)
    if wrong and arguments.keep:
        (folder / "said.txt").write_text(result.said)
        shutil.copytree(folder, pathlib.Path(arguments.keep) / str(seed), dirs_exist_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    return seed, outcome, wrong, result.seconds


def main():
    parser = harness.parser(__doc__, only="the seed of one run to repeat", keep="the runs with complaints")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds a run may take before it is asked to stop")
    parser.add_argument("--verbose", action="store_true", help="a line for each run")
    arguments = parser.parse_args()
    seeds = [int(arguments.only)] if arguments.only else range(arguments.seed, arguments.seed + arguments.runs)
    with harness.scratch() as scratch, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        known = entries.all_entries(pathlib.Path(scratch))
        choices = choices_of(known, pathlib.Path(scratch))
        print(f"{len(known)} entries; backends: {', '.join(choices['usable backends'])}", flush=True)
        done = list(pool.map(lambda seed: one_run(seed, known, choices, scratch, arguments), seeds))
    outcomes = collections.Counter(outcome for _, outcome, _, _ in done)
    bad = [(seed, outcome, "; ".join(wrong)[:160]) for seed, outcome, wrong, _ in done if wrong]
    print(harness.table(sorted(outcomes.items()), ("outcome", "runs")))
    print(f"{len(done)} runs, the longest {max(seconds for *_, seconds in done):.1f} s, {len(bad)} with complaints")
    if bad:
        print(harness.table(bad, ("seed", "outcome", "complaint")))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
