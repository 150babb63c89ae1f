#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""disk.py [--sizes N] [--jobs J] [--seed S] [--only CASE:BYTES] [--keep FOLDER]

Runs on a disk that is too small, at N sizes from nothing to what the run needs: one message, an exit code that is not 0, everything written before whole
and readable; then there is room, and --resume ends the run as if nothing had been. A tmpfs of its own is mounted for each (Linux; as root or in a user
namespace of unshare); where that cannot be, files are limited in size instead (RLIMIT_FSIZE). Exit code 1 if something is wrong.
"""
import concurrent.futures
import os
import pathlib
import random
import shutil
import subprocess
import sys

import harness
import kill

CASES = {
    "general_1": (kill.TURING, (kill.FE, *kill.GENERAL, "Time stepping/End time=20e-3", "Output/Interval=2e-3"), 1),
    "general_2": (kill.TURING, (kill.FE, *kill.GENERAL, "Time stepping/End time=12e-3", "Output/Interval=2e-3"), 2),
    "fused_1": (kill.TURING, (kill.FD, "Time stepping/Engine=fused", "Time stepping/End time=20e-3", "Output/Interval=2e-3"), 1),
    "adaptive_1": (kill.ADAPTIVE, ("Mesh/Adaptive cycles=5",), 1),
}
PAGE = 4096


def enter_namespace():
    """Starts this program again where it may mount; sets DISK_MOUNTS to whether it may."""
    if "DISK_MOUNTS" in os.environ:
        return
    test = "mount -t tmpfs -o size=64k leopard /mnt"
    for words in (["unshare", "-m"], ["unshare", "-Urm"]):
        if shutil.which("unshare") and subprocess.run([*words, "sh", "-c", test], capture_output=True, check=False).returncode == 0:
            os.environ["DISK_MOUNTS"] = "1"
            os.execvp("unshare", [*words, sys.executable, *sys.argv])
    os.environ["DISK_MOUNTS"] = ""


class Disk:
    """A folder with so much room; a tmpfs, or a limit for files of the processes started next."""

    def __init__(self, folder, n_bytes):
        self.folder, self.mounts = folder, bool(os.environ["DISK_MOUNTS"])
        folder.mkdir(parents=True)
        if self.mounts:
            subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={n_bytes}", "leopard", str(folder)], check=True)
        self.n_bytes = n_bytes

    def make_room(self):
        if self.mounts:
            subprocess.run(["mount", "-o", "remount,size=256m", str(self.folder)], check=True)
        self.n_bytes = None

    def free(self):
        return shutil.disk_usage(self.folder).free

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.mounts:
            subprocess.run(["umount", "-l", str(self.folder)], check=False)

    def run(self, words):
        if self.mounts or self.n_bytes is None:
            return harness.run(words, self.folder.parent, kill.LIMIT)
        # a process of its own, as a limit is inherited; SIGXFSZ stays ignored, so that a write fails with EFBIG
        limited = [sys.executable, "-c", "import os, resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]),) * 2);"
                   "os.execvp(sys.argv[2], sys.argv[2:])", str(self.n_bytes), *words]
        return harness.run(limited, self.folder.parent, kill.LIMIT)


class Case:
    """A case, and its run with room."""

    def __init__(self, name, scratch):
        self.name, (self.text, self.settings, self.ranks) = name, CASES[name]
        self.folder = pathlib.Path(scratch) / name / "undisturbed"
        result = harness.run(self.words(self.folder), self.folder, kill.LIMIT)
        if result.code != 0:
            raise SystemExit(f"the undisturbed run {name} fails:\n{result.said}")
        sizes = [path.stat().st_size for path in (self.folder / "run").rglob("*") if path.is_file()]
        self.needed, self.largest = sum(-(-size // PAGE) * PAGE for size in sizes), max(sizes)

    def words(self, folder, *options, directory="run"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "case.prm").write_text(self.text)
        return harness.command("case.prm", *self.settings, f"Run/Directory={directory}", options=options, ranks=self.ranks)


def trial(case, n_bytes, folder):
    """One disk. @return what is wrong."""
    with Disk(folder / "small", n_bytes) as disk:
        run = disk.folder / "run"
        result = disk.run(case.words(folder, directory=run))
        # what was begun may be left, but not under its final name
        wrong = harness.complaints_about_end(result) + [text for text in harness.complaints_about_directory(run) if not text.startswith("left behind")]
        if result.code == 0:
            return wrong + ([] if n_bytes >= 0.5 * case.needed or not disk.mounts else ["exit code 0, though the disk cannot hold what was written"])
        if result.code is not None and not any(word in result.err for word in ("No space left", "File too large", "no room", "cannot be written")):
            wrong.append(f"the message does not say that the disk is full: {result.err.strip()[:300]}")
        if harness.status_of(run) == "running" and disk.free() >= 4 * PAGE:
            wrong.append("run.json says 'running'")
        before = kept(run)
        disk.make_room()
        option = "--resume" if (run / "parameters.prm").exists() and (run / "run.json").exists() else "--overwrite"
        result = disk.run(case.words(folder, option, directory=run))
        if result.code != 0:
            return wrong + harness.complaints_about_end(result) + [f"{option} with room again: {result.err.strip()[:300]}"]
        wrong += harness.complaints_about_directory(run) + harness.differences(case.folder / "run", run, kill.TOLERANCE)
        lost = [name for name in before if not (run / name).exists()]
        return wrong + ([f"lost when it went on: {lost[:3]}"] if lost else [])


def kept(run):
    """Fields that were written before."""
    return [path.relative_to(run) for path in run.glob("solution/*.pvtu")] if run.is_dir() else []


def main():
    parser = harness.parser(__doc__, only="CASE:BYTES, one line of the table again", keep="what the small disks hold", cases=CASES)
    parser.add_argument("--sizes", type=int, default=30)
    arguments = parser.parse_args()
    enter_namespace()
    mounts = bool(os.environ["DISK_MOUNTS"])
    print("a tmpfs for each size" if mounts else "no tmpfs can be mounted here: the size of files is limited instead (RLIMIT_FSIZE)", flush=True)
    rng, names = random.Random(arguments.seed), arguments.cases.split(",")
    with harness.scratch() as scratch, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        if arguments.only:
            names = [arguments.only.split(":")[0]]
        cases = dict(zip(names, pool.map(lambda name: Case(name, scratch), names)))
        todo = []
        for i in range(arguments.sizes):
            case = cases[names[i % len(names)]]
            room = case.needed if mounts else case.largest
            # from nothing to all, the sizes of a case evenly spread, each at a random place in its part
            part, n = i // len(names), -(-arguments.sizes // len(names))
            todo.append((case, PAGE + int(room * (part + rng.random()) / n) if mounts else 1 + int(room * (part + rng.random()) / n)))
        if arguments.only:
            todo = [(cases[names[0]], int(arguments.only.split(":")[1]))]

        def one(item):
            case, n_bytes = item
            folder = pathlib.Path(scratch) / case.name / str(n_bytes)
            wrong = trial(case, n_bytes, folder)
            print(f"{case.name}:{n_bytes} ({100 * n_bytes // (case.needed if mounts else case.largest)} %): {'; '.join(wrong) or 'as it should be'}", flush=True)
            return case.name, bool(wrong)

        done = list(pool.map(one, todo))
    print(harness.table([(name, sum(other == name for other, _ in done), sum(bad for other, bad in done if other == name)) for name in names],
                        ("case", "sizes", "wrong")))
    n_bad = sum(bad for _, bad in done)
    print(f"{len(done)} sizes, {n_bad} wrong")
    return 1 if n_bad else 0


if __name__ == "__main__":
    sys.exit(main())
