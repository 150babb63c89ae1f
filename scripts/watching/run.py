# SPDX-License-Identifier: Apache-2.0
"""What the files of a run, or of a sweep, say at this moment: whether it is going on, how far it is, its numbers, the end of its log."""
import csv
import json
import math
import os
import pathlib
import re
import socket
import sys
import time
from array import array

from . import Error, name_of

N_LOG_LINES = 12
SIGNS_OF_LIFE = ("log.txt", "statistics", "run.json", "solution.pvd")


def duration(seconds):
    """As in the log of the program."""
    if not math.isfinite(seconds) or seconds < 0:
        return "?"
    if seconds < 59.5:
        return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"
    seconds = round(seconds)
    return f"{seconds // 60} min {seconds % 60:02d} s" if seconds < 3600 else f"{seconds // 3600} h {seconds // 60 % 60:02d} min"


def read_text(path):
    """The text of a file; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def read_json(path):
    try:
        content = json.loads(read_text(path))
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def last_lines(path, n=N_LOG_LINES):
    """The last n lines of a text that may be long."""
    try:
        with open(path, "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - 400 * n))
            lines = stream.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return []
    return lines[-n:]


class Statistics:
    """The table `statistics`, of which each refresh() reads only what is new."""

    def __init__(self, path):
        self.path = path
        self.forget()

    def forget(self):
        self.names, self.columns, self.offset, self.before = [], [], 0, b""

    def refresh(self):
        try:
            with open(self.path, "rb") as stream:
                stream.seek(self.offset - len(self.before))
                if stream.read(len(self.before)) != self.before:  # written anew, by --overwrite or --resume
                    self.forget()
                    stream.seek(0)
                text = stream.read()
        except OSError:
            self.forget()
            return
        end = text.rfind(b"\n") + 1  # the rest of a line that is being written comes next time
        self.offset += end
        self.before = (self.before + text[:end])[-200:]
        for line in text[:end].decode("utf-8", "replace").splitlines():
            if match := re.match(r"# \d+: (.*)", line):
                self.names.append(name_of(match[1]))
                self.columns.append(array("d"))
            elif line.strip():
                self.add(line.split())

    def add(self, words):
        try:
            row = [float(word) for word in words]
        except ValueError:
            return
        if len(row) == len(self.columns):
            for column, value in zip(self.columns, row):
                column.append(value)

    def __len__(self):
        return len(self.columns[0]) if self.columns else 0

    def full_name(self, begin):
        """The first column whose name begins so; None."""
        return next((name for name in self.names if name.startswith(begin)), None)

    def column(self, begin):
        name = self.full_name(begin)
        return self.columns[self.names.index(name)] if name else array("d")

    def last(self, begin):
        column = self.column(begin)
        return column[-1] if column else None

    def pace(self):
        """(steps a second, time a second, whether the latter has been about the same) over the last fifth of the time that the program runs, or the
        last ten seconds if this is more; None if there are not two rows yet."""
        wall, times, steps = self.column("wall-clock time"), self.column("time"), self.column("step")
        last = len(wall) - 1
        begin = last
        while begin > 0 and wall[begin - 1] < wall[begin]:  # the clock of a run that was resumed begins anew
            begin -= 1
        if begin >= last:
            return None
        since = wall[last] - max(10., 0.2 * (wall[last] - wall[begin]))
        first = next(i for i in range(begin, last + 1) if wall[i] >= since or i == last - 1)

        def between(column, i, j):
            return (column[j] - column[i]) / (wall[j] - wall[i])

        middle = (first + last) // 2
        halves = [between(times, i, j) for i, j in ((first, middle), (middle, last)) if i < j]
        return between(steps, first, last), between(times, first, last), len(halves) == 2 and min(halves) > 0.5 * max(halves)


def holder_of(directory):
    """(host, process) that the lock of a run directory names, and whether this process is there and has the lock; None where this cannot be seen."""
    match = re.fullmatch(r"host (.*), process (\d+)\s*", read_text(directory / "lock"))
    if not match:
        return None, None, None
    host, process = match[1], int(match[2])
    if host != socket.gethostname():
        return host, process, None
    try:
        os.kill(process, 0)  # which sends nothing, and tells a process of another user from none
        # looked up, since to try the lock would take it from a program that begins in this moment
        lock = os.stat(directory / "lock")
        for file in pathlib.Path(f"/proc/{process}/fd").iterdir():
            try:
                if os.path.samestat(file.stat(), lock):
                    return host, process, True
            except FileNotFoundError:
                pass
        return host, process, False
    except (FileNotFoundError, ProcessLookupError, OverflowError):
        return host, process, False
    except OSError:  # of another user
        return host, process, None


def has_begun(directory):
    """Whether there is anything that a run makes."""
    return any((directory / name).exists() for name in ("run.json", "lock", "manifest.txt", "solution.pvd", "statistics"))


class Run:
    """A run directory, or that of a sweep, which has `runs` by their names. refresh() reads it; all else is what was read."""

    def __init__(self, directory):
        self.directory = directory
        self.name = directory.resolve().name
        self.runs, self.in_table = {}, {}
        self.statistics = Statistics(directory / "statistics")
        self.refresh()

    def refresh(self):
        holder = None
        while holder != (holder := holder_of(self.directory)):  # a run that ends, or begins, in between would look like one that has died
            self.json = read_json(self.directory / "run.json")
        self.host, self.process, self.alive = holder
        self.statistics.refresh()
        self.log = last_lines(self.directory / "log.txt")
        self.end_time = self.find_end_time()
        stamps = []
        for name in SIGNS_OF_LIFE:
            try:
                stamps.append((self.directory / name).stat().st_mtime)
            except OSError:
                pass
        self.silent = max(0., time.time() - max(stamps)) if stamps else None
        self.phase, self.sentence = self.find_phase()
        self.is_sweep = (self.directory / "sweep.csv").exists() or (self.directory / "runs").is_dir() or "runs" in self.json
        self.refresh_runs()
        return self

    def refresh_runs(self):
        """Those of a sweep, in the order of its table as far as it has them."""
        rows = []
        if self.is_sweep:
            try:
                rows = list(csv.DictReader(read_text(self.directory / "sweep.csv").splitlines()))
            except csv.Error:
                pass
        self.in_table = {row["run"]: row.get("status") or "" for row in rows if row.get("run")}
        try:
            folders = sorted(path.name for path in (self.directory / "runs").iterdir() if path.is_dir())
        except OSError:
            folders = []
        old, self.runs = self.runs, {}
        for name in dict.fromkeys([*self.in_table, *folders]):
            if name == pathlib.PurePath(name).name:
                self.runs[name] = old[name].refresh() if name in old else Run(self.directory / "runs" / name)

    def phase_of(self, name):
        """Of a run of the sweep. One that has failed before it could write stands in the table only."""
        run = self.runs[name]
        return run.phase if run.json or run.alive else self.in_table.get(name) or "not started"

    def find_end_time(self):
        """That of the parameter file; None if it is not there."""
        try:
            return float(self.json["computed"]["Time stepping/End time"]["value"])  # of one that is arithmetic
        except (KeyError, TypeError, ValueError):
            pass
        section = re.search(r"^subsection Time stepping$(.*?)^end$", read_text(self.directory / "parameters_all.prm"), re.M | re.S)
        match = re.search(r"^\s*set End time\s*=\s*(\S+)", section[1] if section else "", re.M)
        try:
            return float(match[1]) if match else None
        except ValueError:
            return None

    def find_phase(self):
        """A word and a sentence: whether the run goes on, and how that is known."""
        status = str(self.json.get("status", "")).strip()
        first = status.split("\n")[0]
        process = f"process {self.process} on {self.host}"
        silent = f"; last sign of it {duration(self.silent)} ago" if self.silent is not None else ""
        if not status:
            if self.alive:
                return "waiting", f"a run is being set up ({process}) and has written nothing yet"
            if self.process and self.alive is None:
                return "unknown", f"nothing is written yet; the lock names {process}, which cannot be looked at from here"
            if self.process:
                return "died", f"nothing is written, and {process} is gone"
            return "unknown", "there is no run.json, and no lock file that names a process" + silent
        if status == "running":
            if self.alive:
                return "running", process + silent
            if self.alive is False:
                return "died", f"run.json says that it runs, but {process} is gone without a word{silent}; --resume goes on from its last checkpoint"
            where = f"{process} cannot be looked at from here" if self.process else "no lock file names its process"
            return "unknown", f"run.json says that it runs; {where}{silent}"
        goes_on = f"; {process} is still there: it is about to end, or another run is being set up here" if self.alive else ""
        if status.startswith("failed"):
            return "failed", first[len("failed"):].lstrip(": ") + goes_on
        if status.startswith("stopped"):
            return "stopped", first[len("stopped"):].lstrip(": ") + "; --resume goes on" + goes_on
        if status not in ("finished", "steady state"):
            return "unknown", f"run.json says: {first}" + goes_on
        seconds = self.json.get("wall_seconds_in_all", self.json.get("wall_seconds"))
        after = f"after {duration(seconds)}" if isinstance(seconds, (int, float)) else ""
        return "finished", ("" if status == "finished" else f"{first} ") + after + goes_on

    def is_stationary(self):
        """Whether its fields are those of cycles: it has no steps."""
        return "cycles" in self.json or bool(self.json) and not self.statistics.names

    def share_done(self):
        """How much of the time to the end time is done, 0 to 1; None if not known."""
        now = self.statistics.last("time")
        if now is None or not self.end_time:
            return None
        return min(1., now / self.end_time)

    def numbers(self):
        """[(name, text)] of what a user looks for first."""
        table, found = self.statistics, [("state", f"{self.phase}: {self.sentence}" if self.sentence else self.phase)]
        if self.is_sweep:
            return found + [("runs", self.count_runs())]
        now = table.last("time")
        if now is None:
            cycles = self.json.get("cycles")
            return found + ([("cycles", str(len(cycles)))] if isinstance(cycles, list) else [])
        done = self.share_done()
        found += [("step", f"{table.last('step'):.0f}"),
                  ("time", f"{now:.6g}" + (f" of {self.end_time:.6g} ({100 * done:.1f} %)" if done is not None else ""))]
        if (n := table.last("number of spots")) is not None:
            found.append(("spots", f"{n:.0f}"))
        if (k := table.last("dominant wave number")) is not None:
            found.append(("dominant wave number", f"{k:.5g}" + (f" (wavelength {2 * math.pi / k:.4g})" if k > 0 else "")))
        if pace := table.pace():
            rate = f"{pace[0]:.3g} steps and {pace[1]:.3g} of time a second"
            if self.phase in ("running", "unknown") and self.end_time and pace[1] > 0:
                rate += f"; about {duration((self.end_time - now) / pace[1])} left" + ("" if pace[2] else ", roughly: the pace is changing")
            found.append(("pace", rate))
        return found

    def count_runs(self):
        """As "6: 3 finished, 1 running, 2 not started"."""
        phases = [self.phase_of(name) for name in self.runs]
        n = self.json.get("runs")
        n = max(n, len(phases)) if isinstance(n, int) else len(phases)
        phases += ["not started"] * (n - len(phases))
        return f"{n}: " + ", ".join(f"{phases.count(phase)} {phase}" for phase in dict.fromkeys(phases))

    def default_field(self):
        """The field whose pattern is counted, if there is one."""
        name = self.statistics.full_name("number of spots of ")
        return name[len("number of spots of "):] if name else None


def open_run(directory, patience=10.):
    """The run, or the sweep, in a folder. One that is not there is waited for: a run that was started a moment ago makes it when its parameters
    are read. @throws Error if the folder is none of a run."""
    until = time.monotonic() + patience
    while not directory.exists() or directory.is_dir() and not any(directory.iterdir()):
        if patience > 0:
            print(f"nothing is in {directory}: waiting {patience:.0f} s for a run to begin there", file=sys.stderr, flush=True)
            patience = 0
        if time.monotonic() > until:
            break
        time.sleep(0.1)
    if not directory.is_dir():
        raise Error(f"no such directory: {directory}\n  expected: the run directory of a simulation, as output/leopard_spots")
    if not has_begun(directory):
        raise Error(f"{directory} is no run directory: it has no run.json and no lock\n"
                    "  expected: the folder that a run of leopard writes, as output/leopard_spots")
    return Run(directory)
