# SPDX-License-Identifier: Apache-2.0
"""
The experiments: which programs are called with which options. A command is a list of words; {study}, {solve},
{leopard}, {python}, {matrices} and {here} stand for programs and folders, a step runs in the experiment's own folder.
Each step writes its standard output to NAME.txt.
"""
import dataclasses
import math
import os
import pathlib

MATRICES = {"Chem97ZtZ": "Chem97ZtZ_reconstructed", "fv1": "fv1", "fv3": "fv3", "trefethen": "Trefethen_2000"}
ROWS = {"Chem97ZtZ": 2541, "fv1": 9604, "fv3": 9801, "trefethen": 2000}
SCHEDULES = ("chaotic", "synchronous")
ORDERS = (*SCHEDULES, "replay-0", "replay-1", "replay-2")  # of async-(1) on the host; replay: blocks in a random order, by seeds
HELMHOLTZ = range(100, 121)  # T Table 4.10: nodes a side
COUNTS = (10, 20, 40, 60, 80, 100, 140, 200)  # T Figure 4.5, Table 4.6: iterations
NEWTON_COUNTS = (200, 250, 300, 350, 500, 1000)
OMEGA_SEEDS = range(3)
BOUNDED = ("Chem97ZtZ", "fv1", "trefethen")  # rho(|B|) well below 1
PATTERN_TIMES = (0.025, 0.125, 0.15, 0.2, 0.225, 4, 5)  # T Figure 4.40, and 4 to see whether the end is steady
CELLS = {"cuda": 99, "host": 49}  # a side; 99 as in the thesis, whose 490050 steps take twenty minutes on two cores
COARSE = 24  # where each step is also done with a direct solver


@dataclasses.dataclass(frozen=True)
class Experiment:
    name: str
    what: str
    steps: object  # a function of the device ("host" or "cuda") and quick: (name, command) for each step
    matrices: tuple = ()  # files that it needs
    prepare: object = None  # a function of the folder that writes input files
    devices: tuple = ("host", "cuda")
    timed: bool = True  # whether times are read from it; if not, its steps may run side by side

    def commands(self, device, quick=False):
        return [[name, *command] for name, command in self.steps(device, quick)]


def memory():
    """Bytes that the machine has."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def study(name, options=(), cuda=(), quick=(), schedules=("chaotic",), matrices=(), devices=("host", "cuda"), timed=True, without=()):
    """A study of leopard-study; on the host with several schedules, which a GPU does not need. Without: options that it has not."""
    def steps(device, is_quick):
        more = list(quick if is_quick else cuda if device == "cuda" else options)
        with_matrices = ["--matrices", "{matrices}"] if matrices and "--matrix" not in more else []  # those named are generated
        for schedule in schedules if device == "host" else ("chaotic",):
            common = {"--backend": device, "--schedule": schedule}
            yield schedule, ["{study}", name, *(word for option in common if option not in without for word in (option, common[option])),
                             *more, *with_matrices, "--csv", f"{schedule}.csv"]
    return Experiment(name, f"leopard-study {name}", steps, tuple(MATRICES[m] for m in matrices), devices=devices,
                      timed=timed)


def matrix(name):
    return "{matrices}/" + MATRICES[name] + ".mtx.gz"


def solve(name, device, *options):
    return ["{solve}", matrix(name), "--backend", device, "--rhs", f"ones_{ROWS[name]}.mtx", *map(str, options)]


def write_ones(folder):
    for rows in set(ROWS.values()):
        text = f"%%MatrixMarket matrix array real general\n{rows} 1\n" + "1\n" * rows
        (pathlib.Path(folder) / f"ones_{rows}.mtx").write_text(text)


CG = ("--method", "cg", "--preconditioner", "none")
ASYNC = ("--method", "async", "--block-size", 512, "--local-iterations")


def as_in_print(device):
    """The papers launch each iteration; by itself a GPU does many in one launch, in which blocks run ahead."""
    return ("--execution", "launch") if device == "cuda" else ()


def methods(device):
    """(name, device, options) of what Figures 4.3 to 4.6 compare; Gauss-Seidel is on the host, as in the papers."""
    for k, orders in ((1, ORDERS), (5, SCHEDULES)):
        for order in orders if device == "host" else ("chaotic",):
            schedule, _, seed = order.partition("-")
            yield f"async-{k}-{order}", device, (*ASYNC, k, "--schedule", schedule, *(("--seed", seed) if seed else ()), *as_in_print(device))
    yield "jacobi", device, ("--method", "jacobi")
    yield "gauss-seidel", "host", ("--method", "gauss-seidel")
    yield "cg", device, CG


def histories(device, quick):
    for name in ("fv1",) if quick else MATRICES:
        every = 100 if name == "fv3" else 1
        for method, where, options in methods(device):
            test = () if method == "cg" else ("--test-every", every)
            yield f"{name}-{method}", solve(name, where, *options, *test, "--tolerance", "1e-12", "--max-iterations",
                                            100000, "--history", f"{name}-{method}.csv")


def solve_times(device, quick):
    """Time to 1e-12, without a history; tests as seldom as in P, where ten iterations are queued at once."""
    for name in ("fv1",) if quick else MATRICES:
        every = 100 if name == "fv3" else 10
        for method, where, options in (*timed_methods(device), ("cg", device, CG)):
            test = () if method == "cg" else ("--test-every", every)
            for run in range(1 if quick else 3):
                yield f"{name}-{method}-run-{run}", solve(name, where, *options, *test, "--tolerance", "1e-12",
                                                          "--max-iterations", 100000)


def timed_methods(device):
    yield "gauss-seidel", "host", ("--method", "gauss-seidel")
    yield "jacobi", device, ("--method", "jacobi")
    yield "async-5", device, (*ASYNC, 5)


def iteration_times(device, quick):
    for name in ("fv3",) if quick else MATRICES:
        for count in (10, 200) if quick else COUNTS:
            for method, where, options in timed_methods(device):
                yield f"{name}-{method}-{count}", solve(name, where, *options, "--tolerance", 0, "--max-iterations",
                                                        count, "--test-every", count)


def statistics_fv3(device, quick):
    most, every, runs = (300, 100, 2) if quick else (9000, 1000, 10)
    common = ("--test-every", every, "--tolerance", 0, "--max-iterations", most)
    for k in (5, 6):
        yield f"synchronous-{k}", solve("fv3", device, *ASYNC, k, "--schedule", "synchronous", *common,
                                        "--history", f"synchronous-{k}.csv")
    for run in range(runs):
        yield f"run-{run}", solve("fv3", device, *ASYNC, 6, *as_in_print(device), *common, "--history", f"run-{run}.csv")


def analyses(device, quick):
    for name in MATRICES:
        yield name, ["{solve}", matrix(name), "--analyze"]
        yield f"{name}-condition", ["{python}", "{here}/condition_numbers.py", matrix(name)]


def helmholtz(device, quick):
    for n in (100,) if quick else HELMHOLTZ:
        yield f"N-{n}", ["{solve}", f"helmholtz_{n}.mtx", "--analyze"]


def write_helmholtz(folder):
    """The five-point matrices with 4 + 0.01 on the diagonal, lower triangles."""
    for n in HELMHOLTZ:
        entries = []
        for row in range(n * n):
            entries.append(f"{row + 1} {row + 1} 4.01\n")
            if row % n:
                entries.append(f"{row + 1} {row} -1\n")
            if row >= n:
                entries.append(f"{row + 1} {row + 1 - n} -1\n")
        text = f"%%MatrixMarket matrix coordinate real symmetric\n{n * n} {n * n} {len(entries)}\n" + "".join(entries)
        (pathlib.Path(folder) / f"helmholtz_{n}.mtx").write_text(text)


def omega_bound(device, quick):
    """
    A random order with stale values: at 0.999 of the bound of Theorem 3.2.5, whose rho are those of Table B.2, in the
    whole and in local iterations (Theorem 4.10.1), and with l1 weights (Theorem 4.10.2).
    """
    from .published import CONDITION
    for name in BOUNDED:
        omega = f"{0.999 * 2 / (1 + CONDITION[name][2]):.6f}"
        for kind, options in (("", (*ASYNC, 1, "--omega", omega)), ("-local", (*ASYNC, 5, "--omega", omega)),
                              ("-l1", (*ASYNC, 5, "--l1"))):
            for seed in OMEGA_SEEDS:
                yield f"{name}{kind}-{seed}", solve(name, "host", *options, "--schedule", "replay", "--seed", seed,
                                                    "--tolerance", "1e-8", "--max-iterations", 20000)


def newton(device, quick):
    def run(name, file, *settings):
        words = ["{leopard}", "{root}/parameter_files/benchmarks/" + file, "--overwrite"]
        for setting in (f"Run/Directory={name}", f"Linear solver/Backend={device}", *settings):
            words += ["--set", setting]
        return name, words

    for count in (500,) if quick else NEWTON_COUNTS:
        yield run(f"async-{count}", "newton_thesis.prm", f"Newton/Linear iterations={count}")
    yield run("exact", "newton_mpir_thesis.prm", "Linear solver/Precision=double")
    yield run("mpir", "newton_mpir_thesis.prm")
    yield run("jacobi", "newton_thesis.prm", "Linear solver/Method=jacobi")
    name, words = run("gauss-seidel", "newton_thesis.prm", "Linear solver/Method=gauss-seidel")
    yield name, [word.replace("Backend=cuda", "Backend=host") for word in words]
    for method in ("cg", "gmres"):
        yield run(method, "newton_mpir_thesis.prm", "Linear solver/Precision=double", f"Linear solver/Method={method}")


def smoothers(device, quick):
    backend = "host" if device == "host" else "automatic"  # Gauss-Seidel is on the host
    words = ["{leopard}", "{root}/parameter_files/benchmarks/smoothers_thesis_1d.prm", "--overwrite", "--set",
             "Run/Directory=run", "--set", f"Smoother study/Backend={backend}"]
    once = ["--set", "Smoother study/Repetitions=1"]
    short = [*once, "--set", "Smoother study/Max cycles=25"]  # of eight minutes for all on a GPU this is to take two
    small = ["--set", "Smoother study/Sizes=2000", *once]
    yield "study", words + (small if quick else [] if device == "host" else short)


def random_order(device, quick):
    """The seeded random order of blocks, with values of up to two iterations before."""
    yield "chaotic", ["{study}", "variation", "--backend", device, "--schedule", "replay", "--matrices", "{matrices}",
                      "--runs", "2" if quick else "100", "--csv", "chaotic.csv"]


def many_blocks(device, quick):
    """More blocks than run at once: than a GPU holds, or on four times as many threads as there are cores."""
    if device == "cuda":
        size = ["--matrix", "five-point-1000,trefethen-400000"]
    else:
        threads = 4 * (os.cpu_count() or 1)
        rows = 2500 * threads  # a thread is used for 2000 rows or more
        size = ["--matrix", f"five-point-{math.isqrt(rows) + 1},trefethen-{rows}", "--threads", str(threads)]
    yield "chaotic", ["{study}", "variation", "--backend", device, "--schedule", "chaotic", *size,
                      "--runs", "2" if quick else "20", "--csv", "chaotic.csv"]


def pattern(name, device, times, *settings):
    """The thesis' run of pattern formation with output at these times, the last of which is its end."""
    words = ["{leopard}", "{root}/parameter_files/benchmarks/schnakenberg_thesis.prm", "--overwrite"]
    for setting in (f"Run/Directory={name}", f"Linear solver/Backend={device}",
                    "Output/Times=" + ", ".join(map(str, times)), f"Time stepping/End time={times[-1]}", *settings):
        words += ["--set", setting]
    return name, words


def patterns(device, quick):
    """Complete; on a coarser grid with a direct solver beside it; and with one to the end in few steps."""
    cells, coarse, general = f"Mesh/Cells={CELLS[device]}", f"Mesh/Cells={COARSE}", "Time stepping/Engine=general"
    direct = general, "Linear solver/Method=direct"
    formed = (0.0005,) if quick else PATTERN_TIMES[:5]
    yield pattern("thesis", device, (0.0005,) if quick else PATTERN_TIMES, cells)
    yield pattern("coarse-fused", device, formed, coarse)
    yield pattern("coarse-async", "host", formed, coarse, general)
    yield pattern("coarse-direct", "host", formed, coarse, *direct)
    yield pattern("direct", "host", (0.0005,) if quick else PATTERN_TIMES[5:], cells, *direct, "Time stepping/Scheme=BDF2",
                  "Time stepping/Step control=error-controlled")


def time_step_bound(device, quick):
    """Steps as long as rho(|B|) < 1 allows, in each step anew, until the pattern has formed."""
    yield pattern("bound", "host", (0.002,) if quick else PATTERN_TIMES[4:5], "Time stepping/Engine=general",
                  "Time stepping/Step control=asynchronous bound", "Time stepping/Bound fraction=1",
                  "Output/Log every=1")


STUDY_MATRICES = ("Chem97ZtZ", "fv1", "fv3")
EXPERIMENTS = (
    study("variation", cuda=("--runs", "1000"), quick=("--runs", "2"), matrices=("fv1",)),
    Experiment("random-order", "how much runs differ where the order of blocks is random", random_order,
               (MATRICES["fv1"],), devices=("host",), timed=False),
    Experiment("many-blocks", "how much runs differ with more blocks than run at once", many_blocks),
    study("local-iterations", cuda=("--runs", "40"), quick=("--runs", "1"), schedules=SCHEDULES, matrices=("fv3",)),
    study("storage", ("--size", "318", "--runs", "1") if memory() > 14e9 else ("--size", "128"), ("--size", "318"),
          ("--size", "24", "--runs", "1")),
    study("weights", quick=("--matrix", "trefethen"), schedules=SCHEDULES, matrices=STUDY_MATRICES),
    study("theta", schedules=SCHEDULES),
    study("mesh-blocks", quick=("--size", "16", "--runs", "1"), schedules=SCHEDULES),
    study("refinement", quick=("--matrix", "trefethen", "--runs", "1"), schedules=SCHEDULES, matrices=STUDY_MATRICES),
    study("precision", ("--runs", "5"), quick=("--matrix", "trefethen", "--runs", "1"), matrices=STUDY_MATRICES),
    study("overlap", ("--size", "64"), ("--full",), ("--size", "12", "--runs", "3", "--matrix", "hanging-9,convection-24"), matrices=("fv3",)),
    study("taxonomy", quick=("--matrix", "trefethen", "--runs", "1"), matrices=("fv1", "fv3"), devices=("host",)),
    study("copies", quick=("--size", "40", "--runs", "1"), without=("--schedule",)),
    study("energy", ("--seconds", "1"), ("--seconds", "1"), quick=("--matrix", "trefethen", "--seconds", "0.05"), matrices=STUDY_MATRICES),
    study("divergence", quick=("--matrix", "trefethen"), matrices=STUDY_MATRICES, devices=("host",), timed=False,
          without=("--backend", "--schedule")),
    study("gpus", cuda=("--full",), quick=("--runs", "1"), matrices=("fv3",), devices=("cuda",)),
    study("faults", ("--runs", "10"), ("--runs", "20"), ("--matrix", "trefethen", "--runs", "2"), SCHEDULES,
          ("Chem97ZtZ", "fv1")),
    Experiment("histories", "residuals of async-(1), async-(5), Jacobi, Gauss-Seidel and CG", histories,
               tuple(MATRICES.values()), write_ones),
    Experiment("solve-times", "time to solution of async-(5), Jacobi, Gauss-Seidel and CG", solve_times,
               tuple(MATRICES.values()), write_ones),
    Experiment("iteration-times", "time an iteration over the number of iterations", iteration_times,
               tuple(MATRICES.values()), write_ones),
    Experiment("statistics-fv3", "how much ten runs differ on fv3", statistics_fv3, ("fv3",), write_ones),
    Experiment("matrices", "spectral radii and condition numbers of the test matrices", analyses,
               tuple(MATRICES.values()), devices=("host",), timed=False),
    Experiment("helmholtz", "condition numbers of the five-point matrices", helmholtz, (), write_helmholtz, ("host",),
               timed=False),
    Experiment("omega-bound", "relaxation factors just below the bound, and l1 weights", omega_bound,
               tuple(MATRICES[m] for m in BOUNDED), write_ones, ("host",), timed=False),
    Experiment("newton", "Newton's method with each inner solver", newton),
    Experiment("patterns", "the thesis' run of pattern formation, and direct solvers beside it", patterns, timed=False),
    Experiment("time-step-bound", "the longest time steps with rho(|B|) < 1", time_step_bound, devices=("host",),
               timed=False),
    Experiment("smoothers", "smoothers of multigrid in 1D", smoothers),
)
BY_NAME = {experiment.name: experiment for experiment in EXPERIMENTS}
