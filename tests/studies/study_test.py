#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""study_test.py LEOPARD_STUDY: each study with tiny sizes on generated matrices, its CSV, and what it says of mistakes."""
import csv
import math
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
STUDIES = {
    "variation": ["--matrix", "five-point-12,trefethen-60", "--runs", "3", "--block-size", "16"],
    "local-iterations": ["--matrix", "five-point-12", "--runs", "1", "--block-size", "16"],
    "storage": ["--size", "6", "--runs", "1", "--block-size", "16"],
    "weights": ["--matrix", "five-point-8,trefethen-60", "--block-size", "16"],
    "theta": ["--matrix", "trefethen-200", "--block-size", "28"],
    "mesh-blocks": ["--size", "8", "--runs", "1", "--block-size", "14"],
    "refinement": ["--matrix", "five-point-12,trefethen-60", "--runs", "1", "--block-size", "16"],
    "precision": ["--matrix", "five-point-12,random-60", "--runs", "1", "--block-size", "16"],
    "overlap": ["--size", "12", "--runs", "3", "--matrix", "hanging-9,q2-12,jumps-24,convection-24"],
    "taxonomy": ["--matrix", "five-point-12,trefethen-60", "--runs", "1", "--block-size", "16"],
    "faults": ["--matrix", "five-point-12,trefethen-60", "--runs", "2", "--block-size", "16"],
    "divergence": ["--matrix", "five-point-8,trefethen-60"],
    "copies": ["--size", "20", "--runs", "1"],
    "energy": ["--matrix", "five-point-12,trefethen-60,G3_circuit,A318,nd24k", "--size", "6", "--seconds", "0.02", "--block-size", "16"],
    "imbalance": ["--matrix", "five-point-72", "--runs", "1", "--block-size", "72", "--threads", "2"],
}
# what each study takes beside --csv, and values of all that there is
ITERATION = {"--backend", "--execution", "--schedule", "--threads", "--seed", "--block-size", "--local-iterations"}
MATRICES = {"--matrix", "--matrices"}
OPTIONS = {
    "variation": ITERATION | MATRICES | {"--runs", "--full"},
    "local-iterations": ITERATION - {"--local-iterations"} | MATRICES | {"--runs", "--full"},
    "storage": ITERATION - {"--local-iterations"} | {"--runs", "--size", "--full"},
    "weights": ITERATION | MATRICES | {"--full"},
    "theta": ITERATION | MATRICES,
    "mesh-blocks": ITERATION | {"--runs", "--size", "--full"},
    "refinement": ITERATION | MATRICES | {"--runs", "--full"},
    "precision": ITERATION | MATRICES | {"--runs", "--full"},
    "overlap": ITERATION | MATRICES | {"--runs", "--size", "--full"},
    "taxonomy": ITERATION - {"--execution"} | MATRICES | {"--runs", "--full"},
    "divergence": MATRICES | {"--seed"},
    "imbalance": ITERATION | MATRICES | {"--runs", "--gpus", "--full"},
    "gpus": ITERATION - {"--threads"} | MATRICES | {"--runs", "--size", "--gpus", "--gpu-counts", "--exchange", "--full"},
    "copies": {"--backend", "--threads", "--runs", "--size", "--gpus", "--full"},
    "energy": ITERATION | MATRICES | {"--size", "--seconds", "--full"},
    "faults": ITERATION | MATRICES | {"--runs", "--full"},
}
VALUES = {"--backend": ["host"], "--execution": ["launch"], "--schedule": ["chaotic"], "--threads": ["2"], "--seed": ["3"], "--block-size": ["16"],
          "--local-iterations": ["2"], "--matrix": ["five-point-8"], "--matrices": ["."], "--runs": ["1"], "--size": ["8"], "--gpus": ["1"],
          "--gpu-counts": ["1"], "--exchange": ["halo"], "--seconds": ["0.02"], "--full": []}
MARK = f"LEOPARD_STUDY_TEST={os.getpid()}"  # in the environment of all that this test starts


def environment(**more):
    return {**{name: value for name, value in os.environ.items() if name != "LEOPARD_MATRICES"}, **dict([MARK.split("=")]), **more}


def run(*arguments, **more):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=environment(**more), timeout=1200)


def common(study, **values):
    """Of these options those that the study has."""
    return [word for name, value in values.items() if f"--{name}" in OPTIONS[study] for word in (f"--{name}", value)]


def started():
    """The ids of those processes that there are that this test has started, or they."""
    ids = []
    for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
        try:
            if MARK.encode() in path.read_bytes().split(b"\0"):
                ids.append(int(path.parent.name))
        except OSError:
            pass  # another user's, or gone
    return ids


def wait_until(condition, what):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    for process in started():
        os.kill(process, signal.SIGKILL)
    check(False, what)


def check(condition, what):
    if not condition:
        sys.exit(f"study_test: {what}")


def check_csv(path, study):
    """Blocks of a title, the columns and rows as long; at least one table before the findings."""
    blocks = [[]]
    with open(path, newline="") as file:
        for line in csv.reader(file):
            if line:
                blocks[-1].append(line)
            else:
                blocks.append([])
    blocks = [block for block in blocks if block]
    check(len(blocks) >= 2 and blocks[-1][0] == ["Findings"], f"{study}: tables in the CSV file: {[b[0] for b in blocks]}")
    for title, columns, *rows in blocks:
        check(len(title) == 1 and all(len(row) == len(columns) for row in rows), f"{study}: the table {title} is not rectangular")
        check(rows or title == ["Findings"], f"{study}: the table {title} is empty")


version = run("--version")
check(version.returncode == 0 and re.fullmatch(r"leopard-study \d+\.\d+\.\d+ \(.+\), with(out)? CUDA\n", version.stdout), f"--version: {version}")

# what a study does not use it does not show, and refuses before anything is computed
for study, own in OPTIONS.items():
    shown = set(re.findall(r"^  (--[a-z-]+)", run(study, "--help").stdout, re.MULTILINE))
    check(shown == own | {"--csv"}, f"{study} --help: {sorted(shown ^ own)}")
    for option in VALUES.keys() - own:
        result = run(study, option, *VALUES[option])
        check(result.returncode == 1 and not result.stdout and result.stderr.startswith(f"error: {option} is given, and {study} ")
              and result.stderr.endswith(f"\n  expected: no {option}\n"), f"{study} {option}: {result}")
for study, *arguments, option in (
        ("precision", "--execution", "launch", "--execution"), ("imbalance", "--gpus", "2", "--gpus"), ("copies", "--gpus", "1", "--gpus"),
        ("theta", "--seed", "3", "--seed"), ("storage", "--seed", "3", "--seed"), ("variation", "--schedule", "chaotic", "--seed", "3", "--seed"),
        ("theta", "--matrices", ".", "--matrices"), ("taxonomy", "--matrix", "five-point-8,trefethen", "--matrices", ".", "--matrices"),
        ("weights", "--matrix", "trefethen-60", "--full", "--full"), ("energy", "--matrix", "five-point-12", "--size", "6", "--size"),
        ("energy", "--matrix", "five-point-12", "--full", "--full")):
    result = run(study, "--backend", "host", *arguments)
    check(result.returncode == 1 and "|" not in result.stdout and f"error: {option} is given, and {study} " in result.stderr
          and f"expected: no {option}" in result.stderr, f"{study} {arguments}: {result}")
result = run("local-iterations", "--matrix", "five-point-8,trefethen-60")
check(result.returncode == 1 and "--matrix has 2 names" in result.stderr and "expected: one name" in result.stderr, f"local-iterations: {result}")
for study, *arguments in (("precision", "--matrix", "five-point-8,random-60", "--runs", "1", "--seed", "3"),
                          ("storage", "--size", "6", "--runs", "1", "--schedule", "replay", "--seed", "3"),
                          ("mesh-blocks", *STUDIES["mesh-blocks"], "--seed", "3"), ("taxonomy", *STUDIES["taxonomy"], "--seed", "3"),
                          ("energy", "--matrix", "G3_circuit", "--size", "6", "--seconds", "0.02", "--seed", "3", "--matrices", ".")):
    result = run(study, "--backend", "host", *arguments)
    check(result.returncode == 0, f"{study} {arguments}: what it uses is refused: {result.stderr}")

with tempfile.TemporaryDirectory() as folder:
    for study, arguments in STUDIES.items():
        path = pathlib.Path(folder) / f"{study}.csv"
        result = run(study, *common(study, backend="host"), "--csv", str(path), *arguments)
        check(result.returncode == 0, f"{study}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
        check("|" in result.stdout and "nan" not in result.stdout, f"{study}: no table, or one with nan\n{result.stdout}")
        check_csv(path, study)

    # the same schedule, so the same numbers
    replay = ["variation", "--backend", "host", "--schedule", "replay", "--seed", "5", *STUDIES["variation"]]
    check(run(*replay).stdout == run(*replay).stdout, "variation: the replayed schedule is not reproducible")

    # Verdicts are measured, and each can be another one. The schedule is the synchronous one unless something else is said, so that mathematics decides.
    HOLDS, DOES_NOT, OPEN = ": holds: ", ": does not hold: ", ": is not decided here: "

    def verdicts(study, *arguments, schedule="synchronous", **expected):
        """Each finding whose sentence has these words has this verdict."""
        output = run(study, *common(study, backend="host", schedule=schedule), *arguments, LEOPARD_MATRICES=folder).stdout
        findings = [line for line in output.splitlines() if line.startswith("finding")]
        for words, verdict in expected.items():
            found = [line for line in findings if words in line]
            check(found and all(verdict in line for line in found), f"{study} {' '.join(arguments)}: '{words}' should be '{verdict}'\n" + "\n".join(found or findings))
        return output

    def matrix(name, entries, n):
        """A matrix of this name in the folder; {(row, column): value} from 0, ones on the diagonal."""
        entries = {**{(i, i): 1. for i in range(n)}, **entries}
        pathlib.Path(folder, f"{name}.mtx").write_text(f"%%MatrixMarket matrix coordinate real general\n{n} {n} {len(entries)}\n"
                                                       + "".join(f"{i + 1} {j + 1} {a!r}\n" for (i, j), a in entries.items()))

    def pairs(c, distance, n=8):
        """Rows i and i + distance depend on each other by c and -c in turn, within blocks of 4 rows (1) or across them (4): b = 1 has parts of both modes."""
        firsts = [i for i in range(n) if i % (2 * distance) < distance]
        return {entry: (-1)**number * c for number, i in enumerate(firsts) for entry in ((i, i + distance), (i + distance, i))}

    # the reconstructed set-up gives the printed numbers, the printed one does not; equal runs show nothing of their spread
    verdicts("variation", "--matrix", "trefethen", "--runs", "2",
             **{"trefethen, as reconstructed: the printed maxima at 5 to 20 iterations are the residuals of the synchronous schedule (to 1e-4)": HOLDS,
                "trefethen, as printed: a global iteration reduces the residual by 0.4021 (to 2 percent)": DOES_NOT, "the runs' spread grows": OPEN})
    matrix("fv1", pairs(0.9, 4), 8)
    small = ["--block-size", "4", "--local-iterations", "5"]
    verdicts("variation", "--matrix", "fv1", "--runs", "3", *small, **{"runs differ by less than 1e-3": OPEN})
    verdicts("variation", "--matrix", "fv1", "--runs", "3", *small, schedule="replay", **{"runs differ by less than 1e-3": DOES_NOT})
    verdicts("variation", "--matrix", "fv1,trefethen", "--runs", "3", *small, schedule="synchronous", **{"trefethen varies more than fv1": OPEN})

    # weights: factors a sweep of I - omega (I - B) for eigenvalues of B of both signs, and with D + l1 in the place of D
    matrix("Chem97ZtZ", pairs(0.9, 4), 8)
    chem = {words: "Chem97ZtZ: " + words for words in ("omega = 1.1 already", "l1 weights keep", "l1 weights make")}
    everywhere = "without l1 weights omega >= 1.4 diverges on all test cases"
    weights = ["weights", "--block-size", "4", "--local-iterations", "1"]
    verdicts(*weights, "--matrix", "Chem97ZtZ", **dict.fromkeys([*chem.values(), everywhere], HOLDS))
    matrix("Chem97ZtZ", pairs(0.4, 4), 8)  # omega is harmless up to 2 / 1.4
    verdicts(*weights, "--matrix", "Chem97ZtZ", **{chem["omega = 1.1 already"]: DOES_NOT, everywhere: DOES_NOT})
    matrix("Chem97ZtZ", pairs(1.5, 4), 8)  # diverges with omega = 1, too
    verdicts(*weights, "--matrix", "Chem97ZtZ", **{chem["omega = 1.1 already"]: OPEN, chem["l1 weights make"]: OPEN, everywhere: OPEN})
    # across blocks a sweep has the factor |c|, Gauss-Seidel c^2; within them five sweeps have |c|^5
    weights[-1] = "5"
    verdicts(*weights, "--matrix", "fv1", **{"fv1: async-(5) needs fewer iterations than Gauss-Seidel": DOES_NOT, "fv1: an omega above 1 can help": DOES_NOT})
    matrix("fv1", {(i, j): -0.4 for i in range(3) for j in range(3) if i != j}, 3)  # eigenvalues 0.8, -0.4, -0.4
    verdicts("weights", "--block-size", "1", "--matrix", "fv1", **{"fv1: an omega above 1 can help": HOLDS})
    matrix("fv1", {(i, j): 0.6 for i in range(3) for j in range(3) if i != j}, 3)  # eigenvalues -1.2, 0.6, 0.6: diverges soon, and Gauss-Seidel converges
    verdicts("weights", "--block-size", "1", "--matrix", "fv1", **{"fv1: async-(5) needs fewer iterations than Gauss-Seidel": DOES_NOT})
    matrix("fv1", pairs(0.9, 1), 8)
    verdicts(*weights, "--matrix", "fv1", **{"fv1: async-(5) needs fewer iterations than Gauss-Seidel": HOLDS})

    # taxonomy: what theorems say of the classes, and where they say nothing; the classes say which of them wait for one another
    taxonomy = ["taxonomy", "--runs", "1", "--block-size", "4"]
    claims = converge, newest, same = "where rho(|B|) < 1 all classes converge", "newest values in a block do not take more", "with one row a block"
    matrix("taxonomy", {(i, j): -0.2 for i in range(8) for j in (i - 1, i + 1) if 0 <= j < 8}, 8)
    said = verdicts(*taxonomy, "--matrix", "taxonomy", schedule="replay", **dict.fromkeys(claims, HOLDS))
    for words in ("| synchronous |", " inner |", " AJ |", " AGS |", " PA |"):
        check(words in said, f"taxonomy: no line '{words}'\n{said}")
    matrix("taxonomy", pairs(0.5, 1), 8)
    verdicts(*taxonomy, "--matrix", "taxonomy", schedule="replay", **{converge: HOLDS, newest: OPEN, same: HOLDS})
    matrix("taxonomy", pairs(1.5, 4), 8)  # diverges
    verdicts(*taxonomy, "--matrix", "taxonomy", schedule="replay", **{converge: OPEN, newest: OPEN, same: HOLDS})
    for options, words in ((["--backend", "cuda", "--threads", "2"], "--threads is given"), (["--schedule", "synchronous"], "--schedule is synchronous")):
        result = run(*taxonomy, "--matrix", "five-point-8", *options)
        check(result.returncode == 1 and words in result.stderr and "expected: " in result.stderr, f"taxonomy {options}: {result.stderr}")

    # imbalance: what waits is the schedule alone, and the busy processes end with the program, in whatever way it ends
    with open(pathlib.Path(folder) / "imbalance.csv", newline="") as file:
        title, columns, *rows = [line for line in csv.reader(file)][:7]
    check("on 2 threads" in title[0] and [row[0] for row in rows] == ["0", "1", "2", "3", "4"], f"imbalance: {title}, {rows}")
    for row in (dict(zip(columns, row)) for row in rows):
        check(row["iterations, waiting"] == rows[0][columns.index("iterations, waiting")], f"imbalance: those with waiting differ: {rows}")
        check(all(float(cell) > 0 for name, cell in row.items() if name != "busy processes"), f"imbalance: {row}")
    check(not started(), "imbalance: busy processes are left behind")
    imbalance = ["imbalance", *STUDIES["imbalance"]]
    for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        with subprocess.Popen([PROGRAM, *imbalance, "--backend", "host"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment()) as program:
            wait_until(lambda: len(started()) >= 2, "imbalance: there are no busy processes")
            program.send_signal(how)
        check(program.returncode == -how, f"imbalance: {how.name} gives {program.returncode}")
        wait_until(lambda: not started(), f"imbalance: busy processes are left behind by {how.name}")
    verdicts("imbalance", "--matrix", "five-point-12", "--runs", "1", schedule="automatic", **{"alone, ": OPEN, "waiting makes a global iteration longer": OPEN})
    matrix("imbalance", pairs(1.5, 4), 8)  # diverges
    for options, words in ((["--backend", "cuda", "--gpus", "1"], "--backend is cuda, and there "), (["--schedule", "synchronous"], "--schedule is synchronous"),
                           (["--matrix", "imbalance", "--matrices", folder], "the relative residual within"), (["--size", "12"], "--size is given"),
                           (["--seed", "3"], "--seed is given"), (["--backend", "cuda", "--threads", "2"], "--threads is given")):
        result = run("imbalance", *options)
        check(result.returncode == 1 and words in result.stderr and "expected: " in result.stderr, f"imbalance {options}: {result.stderr}")
    for options in (["--threads", "2"], ["--seed", "3"]):  # with a GPU and without
        result = run("gpus", *options)
        check(result.returncode == 1 and f"{options[0]} is given, and gpus" in result.stderr, f"gpus {options}: {result.stderr}")
    for command, words, code in ((["nope"], "there is no study 'nope'", 2), (["overlap", "--runs", "-1"], "--runs", 2),
                                 (["overlap", "--matrix", "q2-0"], "--matrix has 'q2-0'", 1), (["divergence", "--matrix", "none"], "the matrix none is missing", 1)):
        result = run(*command)
        check(result.returncode == code and words in result.stderr and len(result.stderr) < 600 and "Figures" not in result.stdout, f"{command}: {result}")
    for backend, words in (("host", "error: --backend is host, and gpus "), ("automatic", "error: no GPU answers, and gpus "), ("cuda", "error: no GPU answers, and gpus ")):
        result = run("gpus", "--backend", backend, "--size", "12", "--seed", "3", "--matrix", "random-60", CUDA_VISIBLE_DEVICES="")
        check(result.returncode == 1 and result.stderr.startswith(words), f"gpus without GPUs, --backend {backend}: {result.returncode}, {result.stderr}")
        check("nothing was run\n  expected: " in result.stderr and "Findings" not in result.stdout, f"gpus without GPUs: {result}")
    verdicts("divergence", "--matrix", "trefethen-60", **{"where rho(|B|) < 1 random orders": HOLDS, "with omega = 0.99": HOLDS, "with omega = 1.01": HOLDS, "where rho(B) < 1 < rho(|B|)": HOLDS, "where rho(|B|) < 1 the same order converges": HOLDS})

    # refinement: across blocks an iteration has the factor |c|, in both precisions and with any number of sweeps
    study = ["refinement", "--runs", "1", *small]
    mixed, corrections, outer = "single precision hardly changes", "never needs more than 5 corrections", "at least three times the outer iterations"
    verdicts(*study, "--matrix", "fv1", **{mixed: HOLDS, corrections: HOLDS, "changes the iterations little": HOLDS, "mixed: converges": HOLDS, outer: HOLDS})
    matrix("fv3", pairs(0.9, 4), 8)
    verdicts(*study, "--matrix", "fv3", **{"need more iterations (10 percent at least)": DOES_NOT, "takes 4 corrections": DOES_NOT})
    matrix("Chem97ZtZ", pairs(1e-3, 4), 8)  # a few iterations are enough, and in double the first correction
    verdicts(*study, "--matrix", "Chem97ZtZ", **{outer: DOES_NOT, "takes more iterations": DOES_NOT, "refinement, double: the corrections are": OPEN})
    matrix("fv1", pairs(1 - 1e-6, 4), 8)  # too slow for all of them
    verdicts(*study, "--matrix", "fv1", **{mixed: OPEN, corrections: OPEN, "changes the iterations little": OPEN, "mixed: converges": DOES_NOT, outer: OPEN,
                                           "costs next to nothing": OPEN, "is not faster than the synchronous one": OPEN})
    matrix("fv3", pairs(1 - 1e-4, 1), 8)  # single precision gains few digits at a time
    verdicts(*study, "--matrix", "fv3", **{"need more iterations (10 percent at least)": HOLDS, corrections: HOLDS})
    matrix("fv1", pairs(0.9, 4), 8)

    # overlap: of triangular matrices towards the dependencies; the work is counted in rows, and half of it is misprinted
    few = ["overlap", "--matrix", "hanging-9"]
    verdicts(*few, **{"is 6.68 times": HOLDS, "is 3.34 times": DOES_NOT, "L: overlap towards the dependencies is as good": HOLDS,
                      "U: overlap towards the dependencies is as good": HOLDS, "overlap in one direction is worse": HOLDS,
                      "3 percent are best": OPEN, "has 262,144 rows": OPEN})
    verdicts(*few, "--block-size", "16", **{"is 6.68 times": OPEN})
    # of other matrices: by their names, factors of IC(0), or ILU(0) where they are not symmetric
    output = verdicts("overlap", "--size", "8", "--runs", "1", "--matrix", "q2-24,convection-40",
                      **{"q2-24: L: overlap saves iterations": HOLDS, "convection-40: U: overlap saves iterations": HOLDS, "3 percent are best": OPEN})
    check(re.search(r"^q2-24: 2209 rows, \d+ entries, IC\(0\) ", output, re.MULTILINE) and re.search(r"^convection-40: .* ILU\(0\) ", output, re.MULTILINE), output)
    check(re.search(r"^Curves of q2-24: U, .* top-down overlap", output, re.MULTILINE), output)
    # theta: printed sums are counted; one block size says nothing of the size
    verdicts("theta", **{"give the printed sums (to 2)": HOLDS, "the block size matters little": HOLDS, "save more than 13 percent": DOES_NOT})
    verdicts("theta", "--block-size", "112", **{"the block size matters little": OPEN})
    check("largest difference 2\n" in verdicts("theta"), "theta: the printed sums are met to 2, not better")
    verdicts("theta", "--local-iterations", "20", **{"give the printed sums (to 2)": OPEN, "the block size matters little": DOES_NOT})
    verdicts("theta", "--local-iterations", "2", **{"save more than 13 percent": HOLDS})

    # mesh-blocks: the verdicts are those of the printed tables
    def tables(*arguments):
        path = pathlib.Path(folder) / "tables.csv"
        output = verdicts("mesh-blocks", *arguments, "--csv", str(path))
        with open(path, newline="") as file:
            text = file.read()
        result = []
        for block in text.strip().split("\n\n"):
            title, columns, *rows = csv.reader(block.splitlines())
            result.append((title[0], [dict(zip(columns, row)) for row in rows]))
        return output, result

    output, (sizes, meshes, laplace, *_) = tables("--size", "16", "--runs", "1", "--block-size", "40")
    after = {int(row["block size"]): float(row["residual after 200"]) for row in sizes[1]}
    best = all(after[size] > after[64] for size in after if size < 64)
    local_minimum = all(after[size] > after[64] for size in range(65, 69))
    check((HOLDS if best else DOES_NOT) in next(line for line in output.splitlines() if "are better than smaller ones" in line), output)
    check((HOLDS if local_minimum else DOES_NOT) in next(line for line in output.splitlines() if "and a local minimum" in line), output)
    milliseconds = {int(row["N"]): float(row["time to 1e-6 (ms)"]) for row in meshes[1]}
    ratio = milliseconds[36] / milliseconds[40]
    line = next(line for line in output.splitlines() if "N = 108 is faster" in line)
    if abs(abs(ratio - 1) - 0.05) > 0.01:  # printed with three digits
        check((OPEN if abs(ratio - 1) < 0.05 else HOLDS if ratio < 1 else DOES_NOT) in line, f"{ratio}: {line}")
    log = {int(row["N"]): math.log10(float(row["after 1000"])) for row in meshes[1]}
    dips = {n: (log[n - 1] + log[n + 1]) / 2 - log[n] for n in log if n - 1 in log and n + 1 in log}
    deepest = max(dip for n, dip in dips.items() if n != 40)
    line = next(line for line in output.splitlines() if "is nearly linear in N" in line)
    beyond = dips[40] - max(0, deepest)
    if OPEN not in line:  # runs do not differ by as much
        check((HOLDS if beyond > 0 else DOES_NOT) in line and abs(beyond) > 0.02, f"{beyond}: {line}")
    needed = {row["block"]: float(row["iterations"]) for row in laplace[1]}
    check(needed["two lines"] < needed["one and a half"] and needed["two lines"] < needed["two lines and a row"], f"shapes: {needed}")
    check(HOLDS in next(line for line in output.splitlines() if "Laplace: blocks of whole mesh lines" in line), output)
    # with one local iteration the blocks do not matter at all
    verdicts("mesh-blocks", "--size", "16", "--runs", "1", "--block-size", "14", "--local-iterations", "1",
             **{"are better than smaller ones": DOES_NOT, "and a local minimum": DOES_NOT})
    verdicts("mesh-blocks", "--size", "8", "--runs", "1", "--block-size", "14",
             **{"are better than smaller ones": OPEN, "and a local minimum": OPEN, "is nearly linear in N": OPEN})
    verdicts("mesh-blocks", "--size", "4", "--runs", "1", "--block-size", "2", **{"reaches 1e-6 sooner than": OPEN, "N = 108 is faster": OPEN})

    # faults: rows that stop keep the residual where it is, unless it is zero before; equal runs raise no false alarm
    faults = ["faults", "--runs", "2", "--block-size", "16", "--matrix"]
    stalls, returns, signals = "the residual stalls far from the solution", "after recovery the normal rate returns", "an unexpected delay signals"
    verdicts(*faults, "five-point-12", **{stalls: HOLDS, returns: HOLDS, signals: DOES_NOT})
    output = verdicts(*faults, "five-point-12", schedule="replay", **{signals: DOES_NOT})
    check(re.search(r"measured (\d+) of \1 found, 100.0 percent false alarms", output), output)  # all are found, but so is what is not there
    matrix("nearly_diagonal", pairs(1e-3, 4, 64), 64)  # done in a few iterations
    verdicts(*faults[:-3], "--block-size", "4", "--matrix", "nearly_diagonal", **{stalls: DOES_NOT, returns: OPEN})
    output = verdicts("faults", "--runs", "4", "--block-size", "448", "--matrix", "trefethen", **{signals: OPEN})
    check("all runs without a fault are equal" in output, output)
    output = run("faults", "--backend", "host", "--schedule", "replay", "--runs", "4", "--block-size", "448", "--matrix", "trefethen").stdout
    line = next(line for line in output.splitlines() if signals in line)
    found, of, alarms = (float(number) for number in re.search(r"measured (\d+) of (\d+) found, (\S+) percent", line).groups())
    check((HOLDS if found >= 0.95 * of and alarms <= 1 else DOES_NOT) in line, line)

    result = run("variation", "--backend", "host", "--matrix", "fv2", "--matrices", folder)
    check(result.returncode == 1 and "the matrix fv2 is missing" in result.stderr and "LEOPARD_MATRICES" in result.stderr, result.stderr)
    result = run("storage", "--backend", "host", "--size", "4", "--csv", f"{folder}/none/x.csv")
    check(result.returncode == 1 and "cannot be written" in result.stderr, result.stderr)
    old, new = pathlib.Path(folder) / "old.csv", pathlib.Path(folder) / "new.csv"
    old.write_text("results")
    for path in (old, new):
        result = run("theta", "--backend", "host", "--seed", "3", "--csv", str(path))
        check(result.returncode == 1 and old.read_text() == "results" and not new.exists(), f"a refusal wrote {path}: {result}")
    check(run().returncode != 0 and run("variation", "--backend", "gpu").returncode != 0, "wrong command lines are accepted")
print("all studies: no problem")
