#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""study_test.py LEOPARD_STUDY: each study with tiny sizes on generated matrices, its CSV, and what it says of mistakes."""
import csv
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
STUDIES = {
    "variation": ["--matrix", "five-point-12,trefethen-60", "--runs", "3", "--block-size", "16"],
    "local-iterations": ["--matrix", "five-point-12", "--runs", "1", "--block-size", "16"],
    "storage": ["--size", "6", "--runs", "1", "--block-size", "16"],
    "weights": ["--matrix", "five-point-8,trefethen-60", "--block-size", "16"],
    "theta": ["--matrix", "trefethen-200", "--block-size", "28"],
    "mesh-blocks": ["--size", "8", "--runs", "1", "--block-size", "14"],
    "faults": ["--matrix", "five-point-12,trefethen-60", "--runs", "2", "--block-size", "16"],
}


def run(*arguments):
    environment = {name: value for name, value in os.environ.items() if name != "LEOPARD_MATRICES"}
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=environment, timeout=120)


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


with tempfile.TemporaryDirectory() as folder:
    for study, arguments in STUDIES.items():
        path = pathlib.Path(folder) / f"{study}.csv"
        result = run(study, "--backend", "host", "--csv", str(path), *arguments)
        check(result.returncode == 0, f"{study}: exit code {result.returncode}\n{result.stdout}{result.stderr}")
        check("|" in result.stdout and "nan" not in result.stdout, f"{study}: no table, or one with nan\n{result.stdout}")
        check_csv(path, study)

    # the same schedule, so the same numbers
    replay = ["variation", "--backend", "host", "--schedule", "replay", "--seed", "5", *STUDIES["variation"]]
    check(run(*replay).stdout == run(*replay).stdout, "variation: the replayed schedule is not reproducible")

    # verdicts are measured: synchronously the reconstructed set-up gives the printed numbers, the printed one does not
    result = run("variation", "--backend", "host", "--schedule", "synchronous", "--matrix", "trefethen", "--runs", "2").stdout
    check("trefethen, as reconstructed: the printed maxima at 5 to 20 iterations are the residuals of the synchronous schedule (to 1e-4): holds" in result, result)
    check("trefethen, as printed: a global iteration reduces the residual by 0.4021 (to 2 percent): does not hold" in result, result)

    result = run("variation", "--backend", "host", "--matrix", "fv1", "--matrices", folder)
    check(result.returncode == 1 and "the matrix fv1 is missing" in result.stderr and "LEOPARD_MATRICES" in result.stderr, result.stderr)
    result = run("storage", "--backend", "host", "--size", "4", "--csv", f"{folder}/none/x.csv")
    check(result.returncode == 1 and "cannot be written" in result.stderr, result.stderr)
    check(run().returncode != 0 and run("variation", "--backend", "gpu").returncode != 0, "wrong command lines are accepted")
print("all studies: no problem")
