#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""rules.py ROOT dependencies | floors | files | comparisons | format CLANG_FORMAT | tidy CLANG_TIDY BUILD_DIRECTORY

Checks the rules of this project's sources: what may include what, on which floor it stands, how a file begins, how long it and its functions are, how convergence is tested, its format,
clang-tidy.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

FOLDERS = ("applications", "solvers", "tests", "benchmarks", "examples", "cmake")
ENDINGS = (".h", ".cc", ".cu", ".cuh")
OTHER_ENDINGS = (".hpp", ".hh", ".hxx", ".H", ".cpp", ".cxx", ".c", ".C", ".ipp", ".inl", ".inc", ".tcc")  # not used here, and read all the same
MPI = r"mpi\.h$"
DEALII = r"deal\.II/|Epetra|Trilinos|ml_|Ifpack|Amesos|Teuchos"
# The first that fits: what sources there may not include, neither by themselves nor through headers of the project.
FOREIGN = [(re.compile(place), re.compile(foreign), why) for place, foreign, why in (
    (r".*\.cuh?$", f"{DEALII}|{MPI}", "CUDA sources never include deal.II or MPI"),
    ("solvers/distributed/|applications/reaction_diffusion_mpi/", DEALII, "what is distributed without deal.II includes none"),
    ("solvers/dealii/", "$^", ""),
    ("solvers/|applications/reaction_diffusion/|applications/studies/papers/", f"{DEALII}|{MPI}",
     "the solver library, the time loop and the studies of the papers know no deal.II, MPI or Trilinos outside dealii/ and distributed/"))]
CUDA_CONDITION = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif)\b.*(CUDA|NVCC)")
MAX_LINES = 600
MAX_FUNCTION_LINES = 60  # between its braces
LONG_FUNCTIONS = "tests/rules/long_functions.txt"  # those that were longer when this was first looked at: the list may only shrink
COMMENT_COLUMNS = 120  # of lines that are comment only; tables may be wider
COMMENT = re.compile(r"\s*(//|/\*|\*( |/|$))(?!\s*\|)")
# The rooms of the house, from the ground up: a room uses those before it. What lies in a room's own folders belongs to it, unless they are rooms.
ROOMS = (
    "solvers/base", "solvers/device", "solvers/matrix", "solvers/exchange", "solvers/relaxation", "solvers/block_async", "solvers/krylov",
    "solvers/multigrid", "solvers/triangular", "solvers/refinement", "solvers/distributed", "solvers/dealii", "solvers/command_line",
    "applications/reaction_diffusion/kinetics", "applications/reaction_diffusion/rules", "applications/reaction_diffusion/grid",
    "applications/reaction_diffusion/mesh", "applications/reaction_diffusion", "applications/reaction_diffusion/host",
    "applications/reaction_diffusion/cuda", "applications/reaction_diffusion_mpi", "applications/symbolic", "applications/base", "applications/problems",
    "applications/discretization", "applications/linear_solvers", "applications/nonlinear", "applications/time_stepping", "applications/output",
    "applications/studies/papers", "applications/studies/parameters", "applications/run", "applications/studies", "applications")
WITH_GOAL = re.compile(r" [<>]=? [^<>;=&|?]*\b\w*(goal|tolerance)\b(?!(\(\))? [<>=!]+ [01]\.)|\bgoal(\(\))? [<>]=? (?!\d)")
# What stands above a brace in its own column and begins no function.
NO_FUNCTION = re.compile(r"\s*(namespace|class|struct|union|enum|extern|else|do|try|catch|if|for|while|switch)\b|.*[;{}=]\s*$|\s*[#*/]")
NAME_OF_FUNCTION = re.compile(r"TEST\w*\([^)]*\)|(?:\w+(?:<[^()]*?>)?::)*~?\w+(?=\()")
MAX_OF_DIFFERENCE = re.compile(r"std::max(<\w+>)?\([^,()]+, std::f?abs\(.* - ")
PLAIN_NORM = re.compile(r"(\.|->)l2_norm\(\)")


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")) if (root / folder).is_dir() else []:
            if path.suffix in ENDINGS + OTHER_ENDINGS:
                yield path, path.relative_to(root).as_posix()


def includes(root, path):
    """The included names; quoted ones that exist beside the file become paths from the root."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if match:
            name = match[2]
            beside = (path.parent / name).resolve()
            if match[1] == '"' and beside.exists() and root.resolve() in beside.parents:
                name = beside.relative_to(root.resolve()).as_posix()
            yield number, name


def room_of(name):
    """The room that a file is in; None: in none."""
    rooms = [room for room in ROOMS if name.startswith(room + "/")]
    return max(rooms, key=len) if rooms else None


def public_headers(root):
    """The headers of each room of the library that has a list of public ones in its CMakeLists.txt."""
    result = {}
    for path in sorted((root / "solvers").glob("*/CMakeLists.txt")):
        match = re.search(r"leopard_add_room\(PUBLIC([^)]*?)(?: APART [^)]*)?\)", path.read_text())
        if match:
            room = path.parent.relative_to(root).as_posix()
            result[room] = {f"{room}/{name}" for name in match[1].split() if name != "INTERNAL"}
    result["solvers/command_line"] = set()  # a program
    return result


def floors(root):
    """A room uses those below it, so that there are no circles; other rooms of the library are used by their public headers; one name, one header."""
    public = public_headers(root)
    headers = {}
    for path, name in sources(root):
        if not name.startswith(("applications/", "solvers/")):
            continue
        room = room_of(name)
        if room is None:
            yield f"{name}: lies in no room; add its folder to ROOMS in tests/rules/rules.py, between those that it uses and those that use it"
            continue
        if path.suffix in (".h", ".cuh"):
            other = headers.setdefault(path.name, name)
            if other != name:
                yield f"{name}: has the name of {other}; headers have names of their own"
        for number, included in includes(root, path):
            target = room_of(included)
            if target is None:
                continue
            where = f"{name}:{number}: includes {included}"
            if ROOMS.index(target) > ROOMS.index(room):
                yield f"{where}: upward, {target} stands above {room}; move what both need down, or hand it in from above"
            if target not in public or target == room:
                continue
            from_outside = name.startswith("applications/") or name in public.get(room, ())
            if from_outside and included not in public[target]:
                yield f"{where}: it is not public; use the public headers that {target}/CMakeLists.txt lists, or list it there"
    for room, names in public.items():
        for name in sorted(names):
            if not (root / name).is_file():
                yield f"{room}/CMakeLists.txt: the public header {name} does not exist"


def dependencies(root):
    """The rules of "what may depend on what", one message a violation."""
    known, all_included = {}, {}

    def foreign_through(included, foreign):
        """(the header of the project, what it includes) through which `included` brings something foreign; None."""
        for header in with_headers(root, included, known) if (root / included).is_file() else []:
            if header not in all_included:
                all_included[header] = [one for _, one in includes(root, root / header)]
            for one in filter(foreign.match, all_included[header]):
                return header, one
        return None

    for path, name in sources(root):
        foreign, why = next(((foreign, why) for place, foreign, why in FOREIGN if place.match(name)), (None, ""))
        for number, included in includes(root, path):
            where = f"{name}:{number}: includes {included}"
            if foreign and foreign.match(included):
                yield f"{where}: {why}"
            elif foreign and (through := foreign_through(included, foreign)):
                yield f"{where}, and {through[0]} includes {through[1]}: {why}"
            problem = re.match(r"applications/problems/([^/]+)/", name)
            other = re.match(r"applications/problems/([^/]+)/", included)
            if problem and other and problem[1] != other[1]:
                yield f"{where}: problems do not know each other"
            if name.startswith("applications/problems/") and re.match(r"applications/(output|run|time_stepping|nonlinear|discretization)/", included):
                yield f"{where}: problems know neither the output nor the solution process"
            if name.startswith(("applications/time_stepping/", "applications/nonlinear/")) and (
                    other or included.startswith(("applications/output/", "deal.II/dofs/", "deal.II/grid/", "deal.II/distributed/"))):
                yield f"{where}: time stepping and Newton know the problem's interface only, no mesh and no output"
        if not name.startswith("solvers/") and path.suffix not in (".cu", ".cuh"):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if CUDA_CONDITION.match(line):
                    yield f"{name}:{number}: a condition on CUDA outside solvers/: {line.strip()}"


def functions(lines):
    """The name, the number of the first line, and how many lines are between the braces, of each function whose body begins with a brace in a line of its own."""
    indents = [len(line) - len(line.lstrip()) for line in lines]
    for brace, line in enumerate(lines):
        if line.strip() != "{":
            continue
        indent, first = indents[brace], brace - 1
        while first >= 0 and (not lines[first].strip() or indents[first] > indent):  # further lines of the signature, initializers
            first -= 1
        if first < 0 or indents[first] != indent or NO_FUNCTION.match(lines[first]):
            continue
        signature = re.sub(r"__launch_bounds__\((?:[^()]|\([^()]*\))*\)", "", " ".join(part.strip() for part in lines[first:brace]))
        name = NAME_OF_FUNCTION.search(signature)
        end = next((n for n in range(brace, len(lines)) if lines[n].startswith(" " * indent + "}")), len(lines))
        if name:
            yield name[0], first + 1, end - brace - 1


def long_functions(root):
    """Functions longer than the limit; those of the list, where they have grown, and where they are no longer that long."""
    listed = {}
    if (root / LONG_FUNCTIONS).is_file():
        for line in (root / LONG_FUNCTIONS).read_text().splitlines():
            n, name, function = line.split(" ", 2)
            listed[name, function] = int(n)
    found = set()
    for path, name in sources(root):
        for function, number, n in functions(path.read_text().splitlines()):
            if n > MAX_FUNCTION_LINES:
                found.add((name, function))
                at_most = listed.get((name, function), MAX_FUNCTION_LINES)
                if n > at_most:
                    yield f"{name}:{number}: {function} has {n} lines; at most {at_most}, it wants parts with names of their own"
    for name, function in sorted(listed.keys() - found):
        yield f"{LONG_FUNCTIONS}: {function} of {name} is no longer so long, or no longer there; delete its line"


def files(root):
    yield from long_functions(root)
    for path, name in sources(root):
        lines = path.read_text().splitlines()
        if not lines or not lines[0].startswith("// SPDX-License-Identifier: Apache-2.0"):
            yield f"{name}:1: the first line is not the SPDX line"
        if path.suffix not in ENDINGS:
            yield f"{name}: has the ending {path.suffix}; sources of this project have one of {' '.join(ENDINGS)}"
        if path.suffix in (".h", ".cuh") and "#pragma once" not in lines[:4]:
            yield f"{name}:2: #pragma once is missing"
        for number, line in enumerate(lines, 1):
            if len(line) > COMMENT_COLUMNS and COMMENT.match(line):
                yield f"{name}:{number}: a comment of {len(line)} columns; at most {COMMENT_COLUMNS}: scripts/wrap_comments wraps it"
        if len(lines) > MAX_LINES:
            yield f"{name}: {len(lines)} lines; at most {MAX_LINES}, it wants splitting"


def comparisons(root):
    """Convergence is tested by reached(), which NaN and infinity fail; largest differences of tests keep NaN; norms of HostVectors do not overflow where the vector does not."""
    for path, name in sources(root):
        if name == "solvers/base/norms.h":
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if name.startswith("tests/") and MAX_OF_DIFFERENCE.search(line):
                yield f"{name}:{number}: std::max(0., NaN) is 0, so that a test passes with NaN; larger_or_nan() of solvers/base/norms.h keeps it: {line.strip()}"
            if not name.startswith(("applications/", "solvers/", "benchmarks/")):
                continue
            code = re.sub(r"^\s*\*.*|//.*|/\*.*|\"[^\"]*\"|^\s*#.*", "", line)
            if WITH_GOAL.search(code):
                yield f"{name}:{number}: compares with a goal or a tolerance; reached() of solvers/base/norms.h does it so that NaN and infinity fail: {line.strip()}"
            if name.startswith(("applications/nonlinear/", "applications/time_stepping/", "applications/run/")) and PLAIN_NORM.search(line):
                yield f"{name}:{number}: the member l2_norm() overflows where entries exceed 1e154; use l2_norm(vector) of solvers/dealii/vector_norm.h"


def format_violations(root, clang_format):
    names = [name for _, name in sources(root)]
    for i in range(0, len(names), 100):  # a start takes longer than most files
        result = subprocess.run([clang_format, "--dry-run", "--Werror", *names[i:i + 100]], capture_output=True, cwd=root, text=True)
        found = sorted(set(re.findall(r"^(?:\./)?(.+?):\d+:\d+: error", result.stderr, flags=re.MULTILINE)))
        if result.returncode and not found:
            yield result.stderr
        for name in found:
            yield f"{name}: not formatted; run clang-format -i {name}"


def with_headers(root, name, known):
    """The paths from the root of a source and of all that it includes, directly or not, as far as they are the project's. known: what each file includes."""
    reached, new = {name}, {name}
    while new:
        for one in new:
            if one not in known:
                known[one] = {included for _, included in includes(root, root / one) if (root / included).is_file()}
        new = set().union(*(known[one] for one in new)) - reached
        reached |= new
    return sorted(reached)


def tidy(root, clang_tidy, build):
    """Several at once, those that are compiled together (cmake/LeopardTogether.cmake) as one source; what was found good is not looked at again until a source in it, a header of
    the project, its compilation or the checks change."""
    names = [name for _, name in sources(root) if name.endswith(".cc") and not name.endswith("_stub.cc")
             and name.startswith(("solvers/", "applications/reaction_diffusion/", "applications/studies/papers/")) and not re.match("solvers/(dealii|distributed)/", name)]
    version = subprocess.run([clang_tidy, "--version"], capture_output=True, check=True).stdout
    common = hashlib.sha256(version + (root / ".clang-tidy").read_bytes()).hexdigest()
    entries = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
    entries = [entry for entry in entries if " -o tests/" not in entry["command"]]  # tests compile some sources once more, with other warnings
    commands = {str(pathlib.Path(entry["file"])): entry["command"] for entry in entries}
    place = {}  # of a source: what the compiler is given
    for file in commands:
        if "/together/" in file:
            place.update((included, file) for included in re.findall("#include <(.*?)>", pathlib.Path(file).read_text()))
    units = {}
    for name in names:
        units.setdefault(place.get(name, str(root / name)), []).append(name)
    good = pathlib.Path(build) / "tidy"
    good.mkdir(exist_ok=True)
    (good / "compile_commands.json").write_text(json.dumps(entries))
    known = {}

    def key(unit):
        text = common + commands.get(unit, "")
        for path in sorted(set().union(*(with_headers(root, name, known) for name in units[unit]))):
            text += path + hashlib.sha256((root / path).read_bytes()).hexdigest()
        return hashlib.sha256(text.encode()).hexdigest()

    def check(unit):
        mark, wanted = good / units[unit][0].replace("/", "_"), key(unit)
        if mark.is_file() and mark.read_text() == wanted:
            return None
        # what GCC calls a promotion is an error of the build; clang counts arguments of functions, too
        flags = [f"--extra-arg=-Wno-{warning}" for warning in ("double-promotion", "float-conversion")]
        result = subprocess.run([clang_tidy, "-p", good, "--quiet", "--warnings-as-errors=*", *flags, unit], capture_output=True, text=True)
        if result.returncode:
            return result.stdout + result.stderr[-500:]
        mark.write_text(wanted)
        return None

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from filter(None, pool.map(check, sorted(units, key=lambda unit: -len(units[unit]))))  # the long ones first


def main():
    root, rule, rest = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    check = {"dependencies": dependencies, "floors": floors, "files": files, "comparisons": comparisons, "format": format_violations, "tidy": tidy}[rule]
    violations = list(check(root, *rest))
    print("\n".join(violations) or f"{rule}: {sum(1 for _ in sources(root))} files, no violation")
    return bool(violations)


if __name__ == "__main__":
    sys.exit(main())
