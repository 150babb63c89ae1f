#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill.py [--kills N] [--jobs J] [--seed S] [--only CASE:SEED] [--keep FOLDER]

Kills runs with kill -9 at random moments and goes on with --resume, until they are finished: the fields, solution.pvd and statistics then equal those of a
run that nobody disturbed. The cases: the general and the fused time loop on 1 and 2 ranks, and an adaptive stationary run. Exit code 1 if one differs.
"""
import concurrent.futures
import pathlib
import random
import re
import shutil
import sys

import harness

TURING = """set Problem = turing
subsection Run
  set Directory = run
  set Checkpoint steps = 3
end
subsection Output
  set Interval = 4e-3
  set Log every = 1
end
subsection Turing
  set gamma = 100
  set Start from steady state = true
  set Perturbation = 0.05
end
subsection Mesh
  set Global refinements = 4
end
subsection Time stepping
  set Scheme = BDF2
  set Step control = fixed
  set Step size = 1e-3
  set End time = 60e-3
end
subsection Newton
  set Relative tolerance = 1e-11
end
subsection Linear solver
  set Relative tolerance = 1e-11
  set Backend = host
  set Threads = 1
end
"""
ADAPTIVE = """set Problem = laplace
subsection Run
  set Directory = run
end
subsection Laplace
  set Exact solution = sin(3*x)*exp(y)
  set Source = 8*sin(3*x)*exp(y)
  set Boundary values = *: sin(3*x)*exp(y)
end
subsection Mesh
  set Domain = L-shape
  set Global refinements = 3
  set Adaptive = true
  set Adaptive cycles = 9
end
subsection Linear solver
  set Method = cg
  set Preconditioner = amg
  set Relative tolerance = 1e-12
end
"""
FD, FE = "Discretization/Method=finite differences", "Discretization/Method=finite elements"
GENERAL = ("Time stepping/Engine=general", "Linear solver/Method=gmres", "Linear solver/Preconditioner=async", "Linear solver/Schedule=synchronous")

# name: text, settings, ranks
CASES = {
    "general_1": (TURING, (FE, *GENERAL), 1),
    "general_2": (TURING, (FE, *GENERAL, "Time stepping/End time=40e-3"), 2),
    "fused_1": (TURING, (FD, "Time stepping/Engine=fused", "Time stepping/End time=100e-3"), 1),
    "fused_2": (TURING, (FD, "Time stepping/Engine=fused", "Time stepping/End time=60e-3"), 2),
    "fused_mesh_2": (TURING, (FE, "Time stepping/Engine=fused", "Time stepping/End time=60e-3"), 2),
    "adaptive_1": (ADAPTIVE, (), 1),
}
TOLERANCE = 1e-6  # of fields of order one, in single precision; a lost step or a wrong history changes 1e-4 and more
LIMIT = 120       # seconds, for hangs only


class Case:
    """A case and its undisturbed run."""

    def __init__(self, name, folder):
        self.name, (self.text, self.settings, self.ranks) = name, CASES[name]
        self.folder = pathlib.Path(folder) / name / "undisturbed"
        result = self.run(self.folder)
        if result.code != 0:
            raise SystemExit(f"the undisturbed run {name} fails:\n{result.said}")
        self.seconds = result.seconds

    def run(self, folder, *options, kill_after=None):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "case.prm").write_text(self.text)
        words = harness.command("case.prm", *self.settings, options=options, ranks=self.ranks)
        return harness.run(words, folder, LIMIT, kill_after=kill_after)


def chain(case, seed, n_kills, folder):
    """Kills one run n_kills times. @return what is wrong and the moments in seconds."""
    rng, moments, wrong, options = random.Random(f"{case.name} {seed}"), [], [], ()
    for _ in range(n_kills):
        # less time is left after each: often near the end of what is left, where the files are
        moments.append(round(rng.uniform(0.02, 1.05 if not moments else 0.7) * case.seconds, 3))
        result = case.run(folder, *options, kill_after=moments[-1])
        if result.code is not None:
            if result.code != 0:
                wrong.append(f"before kill {len(moments)}: {result.err.strip()[:300] or result.out[-300:]}")
                return wrong, moments
            if options:
                break  # finished before it was killed
        wrong += harness.complaints_about_fields(folder / "run") + harness.complaints_about_checkpoints(folder / "run")
        options = choose_options(folder)
    result = case.run(folder, *options)
    if result.code != 0:
        wrong += harness.complaints_about_end(result) + [f"{' '.join(options) or 'anew'} after {len(moments)} kills: {result.err.strip()[:300]}"]
        return wrong, moments
    # what a killed program was writing has a name of its own and stays (solvers/base/whole_file.h)
    left = [text for text in harness.complaints_about_directory(folder / "run") if not re.match(r"left behind: (.*/)?\.leopard-[0-9a-f]{16}\.tmp$", text)]
    return wrong + harness.complaints_about_end(result) + left + compare(case, folder), moments


def choose_options(folder):
    """--resume, once there is a run; nothing if the run was killed before it made its folder; --overwrite if it had written only its first files."""
    run = folder / "run"
    if not run.is_dir() or not any(path.name != "lock" for path in run.iterdir()):
        return ()
    return ("--resume",)


def compare(case, folder):
    found = harness.differences(case.folder / "run", folder / "run", TOLERANCE)
    status = harness.status_of(folder / "run")
    if status != "finished":
        found.append(f"run.json says '{status}'")
    if case.text is ADAPTIVE:
        one, two = (harness.read_json(path / "run/run.json").get("cycles", []) for path in (case.folder, folder))
        if [cycle["unknowns"] for cycle in one] != [cycle["unknowns"] for cycle in two]:
            found.append(f"run.json has {len(two)} cycles of {len(one)}")
        tables = [path.read_text() if path.exists() else "" for path in (case.folder / "run/convergence.csv", folder / "run/convergence.csv")]
        if tables[0].count("\n") != tables[1].count("\n"):
            found.append("convergence.csv is not complete")
    return found


def main():
    parser = harness.parser(__doc__, only="CASE:SEED, one line of the table again", keep="the runs that differ", cases=CASES)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--each", type=int, default=3, help="kills of one run")
    arguments = parser.parse_args()
    n_chains = -(-arguments.kills // arguments.each)
    names = arguments.cases.split(",")
    todo = [(names[i % len(names)], arguments.seed + i // len(names)) for i in range(n_chains)]
    if arguments.only:
        todo = [(arguments.only.split(":")[0], int(arguments.only.split(":")[1]))]
    with harness.scratch() as scratch, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        cases = dict(zip(names, pool.map(lambda name: Case(name, scratch), sorted({name for name, _ in todo}, key=names.index)))) if not arguments.only \
            else {todo[0][0]: Case(todo[0][0], scratch)}

        def one(item):
            name, seed = item
            folder = pathlib.Path(scratch) / name / str(seed)
            wrong, moments = chain(cases[name], seed, arguments.each, folder)
            print(f"{name}:{seed} killed at {moments} s: {'; '.join(wrong) or 'equal'}", flush=True)
            if wrong and arguments.keep:
                shutil.copytree(folder, pathlib.Path(arguments.keep) / f"{name}_{seed}", dirs_exist_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
            return name, len(moments), bool(wrong)

        done = list(pool.map(one, todo))
    rows = [(name, sum(n for other, n, _ in done if other == name), sum(other == name for other, _, _ in done),
             sum(bad for other, _, bad in done if other == name)) for name in cases]
    print(harness.table(rows, ("case", "kills", "runs", "not equal")))
    n_bad = sum(bad for _, _, bad in done)
    print(f"{sum(n for _, n, _ in done)} kills, {n_bad} of {len(done)} runs not equal to the undisturbed one")
    return 1 if n_bad else 0


if __name__ == "__main__":
    sys.exit(main())
