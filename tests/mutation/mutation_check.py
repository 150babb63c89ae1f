#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Would the tests notice? Puts one defect (a mutant) at a time into a copy of the sources, builds what is needed, and runs the tests that should fail.

  tests/mutation/mutation_check.py LIST [--jobs N] [--only REGEX] [--resume] [--check-list]

LIST is tests/mutation/library.txt (the solver library alone: no deal.II, no MPI, no GPU, minutes to build) or tests/mutation/application.txt (the
whole program). To be run by hand: it takes 10 to 60 s a mutant. Each job has a copy of the tree with a build folder of its own below --folder; they
are kept, so that the next run builds only what has changed. The tests of a mutant must pass without it.

LIST: mutants, separated by empty lines, each with a name in brackets and four keys; lines that begin with # are comments.

  [solve: infinity counts as converged]
  file:  solvers/relaxation/relaxation.cc
  text:  result.final_residual <= test.goal()        what stands there, once in the file, within a line (several blanks are as one)
  with:  result.final_residual < 2e308               what is put in its place (may be empty)
  tests: gtest solvers_tests Solve.*                 should fail; several commands are separated by ' ; '

The tests are one of
  gtest PROGRAM FILTER         a test program built from the list's build folder
  python MODULE.CLASS[.TEST]   of tests/solvers or tests/applications, with the programs leopard-solve or leopard
  study                        tests/studies/study_test.py

Outcomes: killed (a test failed, or ran into the time limit), SURVIVED (all passed), does not compile, not found (the text is not in the file once: the
list is out of date), fails without (a test that fails without the mutant, too). Exit code: 0 if all were killed. --results keeps one line of JSON a mutant; --resume leaves out those that it calls killed.
"""
import argparse
import json
import os
import pathlib
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
KEYS = ("file", "text", "with", "tests")
PROGRAMS = {"leopard_solve": "leopard-solve"}  # targets whose program has another name
BUILD_LIMIT = 1800  # seconds; of hangs only


def read_list(path):
    """The mutants of a list, in its order. @throws SystemExit naming the line that is wrong."""
    mutants = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            mutants.append({"name": line.strip()[1:-1]})
            continue
        key, colon, value = line.partition(":")
        if not colon or key not in KEYS or not mutants or key in mutants[-1]:
            sys.exit(f"{path}:{number}: found '{line}'\n  expected: [NAME], or one of {', '.join(KEYS)} once below it")
        mutants[-1][key] = value.strip()
    names = [mutant["name"] for mutant in mutants]
    for mutant in mutants:
        missing = [key for key in KEYS if key not in mutant]
        if missing or names.count(mutant["name"]) > 1:
            sys.exit(f"{path}: [{mutant['name']}] " + (f"has no {missing[0]}" if missing else "stands there twice"))
        mutant["commands"] = [command.split() for command in mutant["tests"].split(" ; ")]
        for command in mutant["commands"]:
            if command[0] not in ("gtest", "python", "study") or len(command) != {"gtest": 3, "study": 1}.get(command[0], 2):
                sys.exit(f"{path}: [{mutant['name']}] has the tests '{' '.join(command)}'\n  expected: gtest PROGRAM FILTER, python NAME or study")
    return mutants


def mutated(root, mutant):
    """The text of the file with the defect. @throws ValueError if its place is not found, or not the only one."""
    path = root / mutant["file"]
    text = path.read_text() if path.is_file() else ""
    place = re.compile(" +".join(re.escape(word) for word in mutant["text"].split()))
    found = len(place.findall(text))
    if found != 1 or mutant["text"] == mutant["with"]:
        raise ValueError(f"'{mutant['text']}' is {found} times in {mutant['file']}; expected: once")
    return place.sub(lambda _: mutant["with"], text)


def missing_tests(root, mutant):
    """The tests of a mutant, as far as Python has them, that are not there."""
    for kind, name, *_ in (command for command in mutant["commands"] if command[0] == "python"):
        module, *rest = name.split(".")
        path = root / ("tests/solvers" if module == "command_line_test" else "tests/applications") / f"{module}.py"
        text = path.read_text() if path.is_file() else ""
        begin = [f"\nclass {rest[0]}("] + [f"\n    def {test}(" for test in rest[1:]]
        if not all(words in text for words in begin):
            yield f"{kind} {name} is not in {path.relative_to(root)}"


def copy_tree(source, target):
    """Sources only; what is equal keeps its time, so that little is built."""
    wanted = set()
    for folder, folders, names in os.walk(source):
        folders[:] = [name for name in folders if name not in (".git", "build", "__pycache__", "output")]
        for name in names:
            old = pathlib.Path(folder) / name
            new = target / old.relative_to(source)
            wanted.add(new)
            if not (new.is_file() and new.read_bytes() == old.read_bytes()):
                new.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(old, new)
                shutil.copymode(old, new)
    for folder, _, names in os.walk(target):
        for name in names:
            if pathlib.Path(folder) / name not in wanted:
                (pathlib.Path(folder) / name).unlink()


def run(command, limit, **options):
    """Exit code and output; the code is None after the time limit."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True, **options)
    try:
        output, _ = process.communicate(timeout=limit)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return None, process.communicate()[0]
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # what it has left running
        except ProcessLookupError:
            pass


class Worker:
    """A copy of the tree with its build folder."""
    seconds = {}  # that each command takes without a mutant, for all workers

    def __init__(self, arguments, number):
        self.arguments = arguments
        self.tree = arguments.tree or arguments.folder / f"tree{number}"
        self.build = arguments.build or arguments.folder / f"build{number}"
        self.kept, self.outputs, self.targets, self.problem = arguments.folder / f"kept{number}", [], [], ""
        self.programs = {}
        self.kept.mkdir(exist_ok=True)

    def prepare(self, targets):
        self.targets = targets
        if not self.arguments.tree:
            copy_tree(ROOT, self.tree)
        if not (self.build / "build.ninja").is_file():
            library = self.arguments.list.stem == "library"
            code, output = run(["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", "-D", "CMAKE_BUILD_TYPE=Release",
                                "-D", "CMAKE_CXX_FLAGS_RELEASE=-O1", "-D", "LEOPARD_CUDA=OFF", "-D", f"LEOPARD_SOLVERS_ONLY={'ON' if library else 'OFF'}", *(f"-D{option}" for option in self.arguments.cmake)], BUILD_LIMIT)
            if code != 0:
                self.problem = f"cmake failed:\n{output[-3000:]}"
                return
        code, output = self.compile(targets)
        if code != 0:
            self.problem = f"the sources without a mutant cannot be built:\n{output[-3000:]}"

    def compile(self, targets):
        return run(["ninja", "-C", self.build, "-j", str(self.arguments.build_jobs), *targets], BUILD_LIMIT)

    def program(self, target):
        name = PROGRAMS.get(target, target)
        if name not in self.programs:
            self.programs[name] = next((path for path in self.build.rglob(name) if path.is_file() and os.access(path, os.X_OK)), None)
        if self.programs[name] is None:
            raise FileNotFoundError(f"{name} is not in {self.build}")
        return self.programs[name]

    def test(self, command, limit):
        """Exit code (None: time limit), and which test failed first."""
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                           OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1")
        kind, folder = command[0], self.tree
        if kind == "gtest":
            words = [self.program(command[1]), f"--gtest_filter={command[2]}", "--gtest_fail_fast"]
        elif kind == "python":
            of_library = command[1].startswith("command_line_test.")
            folder = self.tree / ("tests/solvers" if of_library else "tests/applications")
            environment["LEOPARD_SOLVE" if of_library else "LEOPARD"] = str(self.program("leopard_solve" if of_library else "leopard"))
            words = ["/usr/bin/python3", "-m", "unittest", "-f", command[1]]
        else:
            words = ["/usr/bin/python3", self.tree / "tests/studies/study_test.py", self.program("leopard-study")]
        code, output = run(words, limit, cwd=folder, env=environment)
        if code == 0 and re.search(r"\[  PASSED  \] 0 tests|^Ran 0 tests", output, re.MULTILINE):
            code, output = 1, f"there is no test {' '.join(command)}"
        by = re.search(r"\[  FAILED  \] (\S+)|^(?:FAIL|ERROR): (.*)|^(study_test: .{0,80})", output, re.MULTILINE)
        return code, next(filter(None, by.groups())) if by else " ".join(output.split()[-12:])

    def fails_without(self, commands):
        """What fails without a mutant, so that it shows nothing. Each command is tried once, by whoever needs it first; that is also its time."""
        for command in commands:
            if tuple(command) not in self.seconds:
                start = time.monotonic()
                code, by = self.test(command, BUILD_LIMIT)
                if code != 0:
                    return f"{' '.join(command)}: {by}"
                self.seconds[tuple(command)] = time.monotonic() - start
        return ""

    def outcome(self, mutant):
        try:
            text = mutated(self.tree, mutant)
        except ValueError as problem:
            return "not found", str(problem)
        if problem := self.fails_without(mutant["commands"]):
            return "fails without", problem
        path, targets = self.tree / mutant["file"], targets_of([mutant])
        shutil.copy2(path, self.kept / "source")
        self.keep_outputs(path)
        try:
            path.write_text(text)
            code, output = self.compile(targets)
            if code != 0:
                return "does not compile", next((line for line in output.splitlines() if "error:" in line), output[-200:])
            for command in mutant["commands"]:
                limit = 30 + 10 * self.seconds[tuple(command)]  # for a busy machine
                code, by = self.test(command, limit)
                if code != 0:
                    return "killed", by if code is not None else f"time limit of {limit:.0f} s"
            return "SURVIVED", mutant["tests"]
        finally:
            shutil.copy2(self.kept / "source", path)
            self.put_outputs_back()

    def outputs_of(self, path):
        """The objects that are compiled of a file or include it, libraries and programs."""
        _, text = run(["ninja", "-C", self.build, "-t", "deps"], BUILD_LIMIT)
        objects, current = [], ""
        for line in text.splitlines():
            if line.startswith(" "):
                if line.endswith("/" + path.name) and os.path.realpath(os.path.join(self.build, line.strip())) == os.path.realpath(path):
                    objects.append(self.build / current)
            elif line:
                current = line.split(": #deps")[0]
        archives = [library for library in self.build.rglob("*.a") if library.is_file()]
        return objects + archives + [self.program(target) for target in self.targets]

    def keep_outputs(self, path):
        """Copies what may be built anew, so that nothing has to be compiled when the mutant is taken out."""
        self.outputs = self.outputs_of(path)
        for number, output in enumerate(self.outputs):
            shutil.copy2(output, self.kept / str(number))

    def put_outputs_back(self):
        for number, output in enumerate(self.outputs):
            beside = output.with_name(output.name + ".kept")
            shutil.copy2(self.kept / str(number), beside)  # with its time
            os.replace(beside, output)  # which may still be running
        self.outputs = []


def targets_of(mutants):
    """What is to be built, in the order of the first use."""
    targets = {}
    for mutant in mutants:
        for command in mutant["commands"]:
            targets[command[1] if command[0] == "gtest" else "leopard-study" if command[0] == "study" else
                    "leopard_solve" if command[1].startswith("command_line_test.") else "leopard"] = True
    return list(targets)


def check_list(mutants):
    n_wrong = 0
    for mutant in mutants:
        problems = list(missing_tests(ROOT, mutant))
        try:
            mutated(ROOT, mutant)
        except ValueError as problem:
            problems.append(str(problem))
        n_wrong += bool(problems)
        for problem in problems:
            print(f"[{mutant['name']}] {problem}")
    print(f"{len(mutants)} mutants, {n_wrong} whose text or tests are not found")
    return n_wrong > 0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=pathlib.Path, help="library.txt or application.txt")
    parser.add_argument("--jobs", type=int, default=1, help="copies at work at once, default 1")
    parser.add_argument("--build-jobs", type=int, default=2, help="of ninja in each copy, default 2")
    parser.add_argument("--only", default="", help="regular expression: mutants whose name or file matches")
    parser.add_argument("--results", type=pathlib.Path, help="file of results, default results_LIST.jsonl in the folder")
    parser.add_argument("--resume", action="store_true", help="leave out what the file of results calls killed")
    parser.add_argument("--check-list", action="store_true", help="only look whether all texts and tests are found in this tree")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/leopard_mutants"), help="for copies, default /tmp/leopard_mutants")
    parser.add_argument("--cmake", action="append", default=[], metavar="NAME=VALUE", help="variable for cmake; may be given again")
    parser.add_argument("--tree", type=pathlib.Path, help="a copy that is there (it is changed!), instead of making one; one job")
    parser.add_argument("--build", type=pathlib.Path, help="and its build folder")
    result = parser.parse_args()
    if result.tree and (result.jobs != 1 or not result.build):
        parser.error("--tree is for one job, and needs --build")
    result.folder.mkdir(parents=True, exist_ok=True)
    result.results = result.results or result.folder / f"results_{result.list.stem}.jsonl"
    return result


def main():
    options = arguments()
    mutants = [mutant for mutant in read_list(options.list) if re.search(options.only, f"{mutant['name']} {mutant['file']}")]
    if options.check_list:
        return check_list(mutants)
    old = [json.loads(line) for line in options.results.read_text().splitlines()] if options.resume and options.results.is_file() else []
    done = {(row["name"], row["text"], row["with"], row["tests"]): row for row in old if row["outcome"] == "killed"}
    left = [mutant for mutant in mutants if tuple(mutant[key] for key in ("name", "text", "with", "tests")) not in done]
    rows = [done[key] for mutant in mutants if (key := tuple(mutant[k] for k in ("name", "text", "with", "tests"))) in done]
    if not left:
        print(f"all {len(mutants)} mutants were killed before")
        return 0
    workers = [Worker(options, number) for number in range(max(1, min(options.jobs, len(left))))]
    print(f"{len(left)} mutants, {len(rows)} done before; building {len(workers)} copies below {options.folder} ...", flush=True)
    threads = [threading.Thread(target=worker.prepare, args=(targets_of(left),)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for worker in workers:
        if worker.problem:
            sys.exit(worker.problem)
    waiting, lock = queue.Queue(), threading.Lock()
    for mutant in left:
        waiting.put(mutant)

    def work(worker):
        while True:
            try:
                mutant = waiting.get_nowait()
            except queue.Empty:
                return
            start = time.monotonic()
            try:
                outcome, by = worker.outcome(mutant)
            except (Exception, SystemExit) as problem:  # of this script; the copy is as it was
                outcome, by = "fails without", f"{type(problem).__name__}: {problem}"
            row = {key: mutant[key] for key in ("name", *KEYS)} | {"outcome": outcome, "by": by, "seconds": round(time.monotonic() - start, 1)}
            with lock:
                rows.append(row)
                with options.results.open("a") as stream:
                    stream.write(json.dumps(row) + "\n")
                print(f"{len(rows):4d}/{len(mutants)}  {outcome:16} {row['seconds']:6.1f} s  {mutant['name']}: {by}", flush=True)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counts = {outcome: sum(row["outcome"] == outcome for row in rows) for outcome in ("killed", "SURVIVED", "does not compile", "not found", "fails without")}
    print(", ".join(f"{n} {outcome}" for outcome, n in counts.items()))
    return counts["killed"] != len(mutants)


if __name__ == "__main__":
    sys.exit(main())
