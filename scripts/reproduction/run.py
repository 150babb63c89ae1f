# SPDX-License-Identifier: Apache-2.0
"""Runs experiments: programs, machine, commit; what is finished is skipped."""
import concurrent.futures
import datetime
import os
import pathlib
import re
import subprocess
import sys
import time

from . import Error

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 3600  # seconds of a step


def output(command):
    """The standard output of a command, or the empty text."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def commit(programs):
    """The commits that these programs were built from, as they say; else the repository's."""
    said = (re.search(r"\(([0-9a-f]{6,}(-dirty)?)\)", output([program, "--version"])) for program in programs)
    commits = sorted({match[1] for match in said if match})
    return ", ".join(commits) or output(["git", "-C", str(ROOT), "describe", "--always", "--dirty",
                                         "--exclude=*"]) or "unknown"


def kept(measured):
    """Says of a finished result that it is of another commit than the repository's; empty where it is not, or there is none."""
    head = output(["git", "-C", str(ROOT), "rev-parse", "HEAD"])
    if not head or all(head.startswith(one) for one in measured.split(", ")):
        return ""
    return f" (kept: measured at {measured}; --again measures anew)"


def machine(device):
    """Processor and GPU in words, without names of hosts."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    names = re.findall(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    words = f"{os.cpu_count()} cores of {names[0] if names else 'an unknown processor'}"
    if device == "cuda":
        gpu = output(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]).splitlines()
        several = f"{len(gpu)} GPUs, each " if len(gpu) > 1 else ""
        words = f"{several}{gpu[0].replace(',', ', driver')}; {words}" if gpu else f"a GPU; {words}"
    return words


def shown(command):
    """A command as the document shows it: programs by name, folders in capitals."""
    words = {"{study}": "leopard-study", "{solve}": "leopard-solve", "{leopard}": "leopard", "{python}": "python3"}
    text = " ".join(f'"{word}"' if " " in word else word for word in (words.get(word, word) for word in command))
    return text.replace("{matrices}", "MATRICES").replace("{here}", "scripts/reproduction").replace("{root}/", "")


class Runner:
    def __init__(self, store, programs, matrices, quick=False, say=print):
        self.store, self.programs, self.matrices, self.quick, self.say = store, programs, matrices, quick, say

    def fill(self, word):
        places = {**self.programs, "python": sys.executable, "matrices": self.matrices, "here": HERE, "root": ROOT}
        return re.sub(r"^\{(\w+)\}", lambda match: str(places[match[1]]), word)

    def step(self, part, name, command):
        environment = {key: value for key, value in os.environ.items() if key != "LEOPARD_MATRICES"}
        with open(part / f"{name}.txt", "w", encoding="utf-8") as out:
            try:
                done = subprocess.run([self.fill(word) for word in command], cwd=part, stdout=out, timeout=LIMIT,
                                      stderr=subprocess.PIPE, text=True, env=environment)
            except OSError as error:
                raise Error(f"step '{name}' cannot be run: {error.strerror}\n  to do: scripts/build") from None
            except subprocess.TimeoutExpired:
                raise Error(f"step '{name}' took more than {LIMIT} s\n  command: {shown(command)}") from None
        text = (part / f"{name}.txt").read_text(encoding="utf-8")
        not_solved = command[0] == "{solve}" and done.returncode == 1 and re.search("^result ", text, re.MULTILINE)
        if done.returncode != 0 and not not_solved:  # a solve that does not converge is a result
            last = (done.stderr.strip() or text.strip())[-500:]
            raise Error(f"step '{name}' ended with exit code {done.returncode}\n  command: {shown(command)}\n{last}")

    def steps(self, part, commands, at_once):
        """All of them, so many at once; after an Error no further one begins."""
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            running = [pool.submit(self.step, part, name, command) for name, *command in commands]
            try:
                for step in running:
                    step.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def run(self, experiment, device, again=False):
        """True if it is finished now; an Error is said, and the output kept as NAME.failed."""
        commands = experiment.commands(device, self.quick)
        if not again and self.store.is_finished(experiment.name, device, commands):
            of_result = self.store.get(experiment.name, device).about.get("commit", "unknown")
            self.say(f"{experiment.name} ({device}): finished before{kept(of_result)}")
            return True
        self.say(f"{experiment.name} ({device}): {experiment.what} ...")
        part = self.store.begin(experiment.name, device)
        used = {word for command in commands for word in command}
        built = commit([path for key, path in self.programs.items() if "{" + key + "}" in used])  # before it is rebuilt
        start = time.monotonic()
        try:
            if experiment.prepare:
                experiment.prepare(part)
            self.steps(part, commands, 1 if experiment.timed else max(1, (os.cpu_count() or 1) // 4))
        except Error as error:
            failed = self.store.fail(part, experiment.name, device)
            self.say(f"{experiment.name} ({device}) FAILED: {error}\n  its output: {failed}")
            return False
        seconds = time.monotonic() - start
        self.store.finish(part, experiment.name, device, {
            "commands": commands, "quick": self.quick, "seconds": round(seconds, 1), "machine": machine(device),
            "commit": built, "date": datetime.date.today().isoformat()})
        self.say(f"{experiment.name} ({device}): {seconds:.0f} s")
        return True
