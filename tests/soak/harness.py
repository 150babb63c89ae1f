# SPDX-License-Identifier: Apache-2.0
"""What the programs of this folder share: running Leopard with a time limit, and checking what it left. Python's standard library only.

Environment: LEOPARD, the program; LEOPARD_MPIRUN, the command before "-n RANKS" (mpirun); LEOPARD_SCRATCH, where runs are made (the system's folder).
"""
import argparse
import base64
import json
import math
import os
import pathlib
import re
import shlex
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import xml.etree.ElementTree
import zlib

LEOPARD = shutil.which(os.environ.get("LEOPARD", "leopard"))
if not LEOPARD:
    raise SystemExit("there is no program 'leopard': set the environment variable LEOPARD to its path")
LEOPARD = os.path.abspath(LEOPARD)
MPIRUN = shlex.split(os.environ.get("LEOPARD_MPIRUN", "mpirun"))
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
               "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_hwloc_base_binding_policy": "none"}

# what no user should ever see
DEFECTS = re.compile(r"unexpected error|terminate called|what\(\):|Segmentation fault|Aborted|Backtrace|backtrace|Stacktrace|runtime error:|Sanitizer"
                     r"|An error occurred in line|Floating point exception|std::|json\.exception|bad_alloc|dealii::|Signal: ")


def descendants(pid):
    """The processes below one, itself last; mpirun's ranks are in sessions of their own."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as stream:
                    children.setdefault(int(stream.read().rsplit(")", 1)[1].split()[1]), []).append(int(entry))
            except OSError:
                pass
    found, waiting = [], [pid]
    while waiting:
        found.append(waiting.pop())
        waiting += children.get(found[-1], [])
    return found[::-1]


def kill_all(process):
    """kill -9 for a program and all that it started, at once."""
    for pid in descendants(process.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()


class Result:
    """code: the exit code, negative for a signal, None if the run was killed; stopped: "" or how its time limit ended; said: all that it printed."""

    def __init__(self, code, stopped, out, err, seconds):
        self.code, self.stopped, self.out, self.err, self.seconds = code, stopped, out, err, seconds
        self.said = out + err


def command(file, *settings, options=(), ranks=1):
    words = [LEOPARD, str(file), *options]
    for setting in settings:
        words += ["--set", setting]
    return ([*MPIRUN, "-n", str(ranks)] if ranks > 1 else []) + words


def run(words, folder, limit, grace=20, kill_after=None):
    """
    Runs a command. After `limit` seconds it is asked to stop (SIGTERM: "stopped on request"); if it then goes on for `grace` seconds, it hangs ("hangs").
    With kill_after it is killed after so many seconds.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=ENVIRONMENT, start_new_session=True)
        code, stopped = None, ""
        try:
            code = process.wait(limit if kill_after is None else kill_after)
        except subprocess.TimeoutExpired:
            if kill_after is None:
                process.terminate()
                try:
                    code = process.wait(grace)
                    stopped = "stopped on request"
                except subprocess.TimeoutExpired:
                    stopped = "hangs"
        finally:
            if code is None:
                kill_all(process)
        seconds = time.monotonic() - start
        texts = []
        for stream in (out, err):
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - 300000))
            texts.append(stream.read().decode("utf-8", "replace"))
    return Result(code, stopped, *texts, seconds)


def complaints_about_end(result):
    """What is wrong with how a run ended, whatever it was asked to do."""
    found = []
    if result.stopped == "hangs":
        found.append(f"hangs: does not even stop on SIGTERM after {result.seconds:.0f} s")
        return found
    code = result.code
    if code is not None and (code < 0 or code > 128):
        found.append(f"ended by signal {-code if code < 0 else code - 128}")
    match = DEFECTS.search(result.said)
    if match:
        line = next(line for line in result.said.splitlines() if match[0] in line)
        found.append(f"says '{line.strip()[:200]}'")
    n_messages = len(re.findall(r"(?m)^leopard: ", result.err))
    if code and n_messages != 1 and "--help" not in result.err:
        found.append(f"{n_messages} messages 'leopard: ...' instead of one, exit code {code}")
    if code == 0 and n_messages:
        found.append("exit code 0 beside an error message")
    return found


# ------------------------------------------------------------------------------------------------ reading what was written


def no_constant(name):
    raise ValueError(f"{name} in JSON")


def read_json(path):
    """@throws ValueError also for NaN and Infinity, which JSON does not have."""
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"), parse_constant=no_constant)


NUMBERS = {"Float32": "f", "Float64": "d", "Int8": "b", "UInt8": "B", "Int32": "i", "UInt32": "I", "Int64": "q", "UInt64": "Q"}


def data_array(element, header_type):
    """The numbers of a DataArray: ascii, or base64 of blocks packed with zlib."""
    kind, text = NUMBERS[element.get("type")], "".join((element.text or "").split())
    if element.get("format") == "ascii":
        return [float(word) for word in (element.text or "").split()]
    header = NUMBERS[header_type]
    size = struct.calcsize(header)

    def encoded(n):
        return 4 * ((n + 2) // 3)

    if not text:
        raise ValueError("an array without data")
    n_blocks = struct.unpack_from("<" + header, base64.b64decode(text[:encoded(size)] + "==="))[0]
    length = encoded((3 + n_blocks) * size)
    if len(text) < length:
        raise ValueError("an array that ends in its header")
    numbers = struct.unpack_from(f"<{3 + n_blocks}{header}", base64.b64decode(text[:length]))
    packed = base64.b64decode(text[length:], validate=True)
    if len(packed) != sum(numbers[3:]):
        raise ValueError(f"an array of {len(packed)} bytes instead of {sum(numbers[3:])}")
    data, position = b"", 0
    for n in numbers[3:]:
        data += zlib.decompress(packed[position:position + n])
        position += n
    return list(struct.unpack(f"<{len(data) // struct.calcsize(kind)}{kind}", data))


def read_vtu(path):
    """{name: numbers} of the point data, and the points as "points". @throws ValueError for a file that is not whole."""
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
    except xml.etree.ElementTree.ParseError as error:
        raise ValueError(f"{path} is not whole: {error}") from error
    header = root.get("header_type", "UInt32")
    arrays = {}
    for piece in root.iter("Piece"):
        n = int(piece.get("NumberOfPoints"))
        for element in piece.find("PointData") if piece.find("PointData") is not None else []:
            arrays.setdefault(element.get("Name"), []).extend(data_array(element, header) if n else [])
        for element in piece.find("Points"):
            arrays.setdefault("points", []).extend(data_array(element, header) if n else [])
        for element in piece.find("Cells"):
            if n:
                data_array(element, header)
        for name, numbers in arrays.items():
            if len(numbers) % max(n, 1):
                raise ValueError(f"{path}: {len(numbers)} numbers of {name} for {n} points")
    return arrays


def read_pvd(path):
    """(time, file) of each entry of solution.pvd."""
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
    except xml.etree.ElementTree.ParseError as error:
        raise ValueError(f"{path} is not whole: {error}") from error
    return [(float(entry.get("timestep")), entry.get("file")) for entry in root.iter("DataSet")]


def pieces(pvtu):
    try:
        root = xml.etree.ElementTree.parse(pvtu).getroot()
    except xml.etree.ElementTree.ParseError as error:
        raise ValueError(f"{pvtu} is not whole: {error}") from error
    return [pvtu.parent / piece.get("Source") for piece in root.iter("Piece")]


def fields_of(directory, file):
    """{point: [values]} of one entry of solution.pvd, from the pieces of all ranks; coordinates are rounded, as two runs may number differently."""
    values = {}
    for path in pieces(directory / file):
        arrays = read_vtu(path)
        points = arrays.pop("points", [])
        n = len(points) // 3
        for i in range(n):
            key = tuple(round(x, 5) + 0. for x in points[3 * i:3 * i + 3])
            values[key] = [array[i] for _, array in sorted(arrays.items()) if len(array) == n]
    return values


def read_statistics(path):
    """Column names and rows. @throws ValueError for a row that is not whole."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").split("\n")
    columns = [line.split(": ", 1)[1] for line in lines if line.startswith("#")]
    rows = []
    for number, line in enumerate(lines[:-1], 1):
        if line.startswith("#"):
            continue
        rows.append([float(word) for word in line.split()])
        if len(rows[-1]) != len(columns):
            raise ValueError(f"statistics:{number} has {len(rows[-1])} of {len(columns)} numbers")
    if lines[-1]:
        raise ValueError(f"statistics ends in the middle of a line: '{lines[-1][:60]}'")
    return columns, rows


def complaints_about_checkpoints(directory):
    found = []
    for folder in sorted((directory / "checkpoints").glob("step_*")) if (directory / "checkpoints").is_dir() else []:
        if folder.suffix == ".tmp" or not (folder / "metadata.json").exists():  # being written, or deleted
            continue
        try:
            for name, file in read_json(folder / "metadata.json")["files"].items():
                if (folder / name).stat().st_size != file["bytes"]:
                    found.append(f"the checkpoint {folder.name} has a file {name} of another length than it says")
        except (OSError, ValueError, KeyError) as error:
            found.append(f"the checkpoint {folder.name} is not whole: {error}")
    return found


def complaints_about_fields(directory):
    """Each entry of solution.pvd has its files, they are whole, and every number in them is finite; entries are in order and none twice."""
    found = []
    path = directory / "solution.pvd"
    if not path.exists():
        return found
    # files for ParaView are in single precision; the program says which fields are beyond it
    log = (directory / "log.txt").read_text(errors="replace") if (directory / "log.txt").exists() else ""
    too_large = set(re.findall(r"warning: \|(\w+)\| is up to .* single precision", log))
    try:
        entries = read_pvd(path)
        times = [t for t, _ in entries]
        if any(b <= a for a, b in zip(times, times[1:])):
            found.append(f"the times of solution.pvd do not increase: {times[:30]}")
        if len({file for _, file in entries}) != len(entries):
            found.append("solution.pvd names a file twice")
        for t, file in entries:
            for piece in pieces(directory / file):
                for name, numbers in read_vtu(piece).items():
                    if not all(math.isfinite(x) or (name in too_large and math.isinf(x)) for x in numbers):
                        found.append(f"{name} is not finite at time {t} ({piece.name})")
    except (OSError, ValueError, zlib.error, struct.error) as error:
        found.append(f"output: {error}")
    return found


def complaints_about_statistics(directory):
    found = []
    path = directory / "statistics"
    if not path.exists():
        return found
    try:
        columns, rows = read_statistics(path)
        steps = [row[0] for row in rows]
        if any(b <= a for a, b in zip(steps, steps[1:])):
            found.append("the steps of statistics do not increase")
        if any(b[1] < a[1] for a, b in zip(rows, rows[1:])):
            found.append("the times of statistics decrease")
        for row in rows:
            # without a bound of the step it is infinite, and rightly so
            bad = [columns[i] for i, x in enumerate(row) if not math.isfinite(x) and not (x == math.inf and columns[i].startswith("asynchronous bound"))]
            if bad:
                found.append(f"statistics, step {row[0]:.0f}: '{bad[0]}' is not finite")
                break
    except (OSError, ValueError) as error:
        found.append(str(error))
    return found


def complaints_about_directory(directory):
    """What is wrong in a run directory after a run has ended by itself, well or not. Nothing half-written, nothing that is not finite."""
    directory = pathlib.Path(directory)
    if not directory.is_dir():
        return []
    found = [f"left behind: {path.relative_to(directory)}" for path in sorted(directory.rglob("*.tmp"))]
    if (directory / "run.json").exists():
        try:
            read_json(directory / "run.json")
        except ValueError as error:
            found.append(f"run.json: {error}")
    return found + complaints_about_fields(directory) + complaints_about_statistics(directory) + complaints_about_checkpoints(directory)


def status_of(directory):
    try:
        return read_json(pathlib.Path(directory) / "run.json").get("status", "")
    except (OSError, ValueError):
        return ""


def differences(one, two, tolerance):
    """How two finished runs differ: entries of solution.pvd, fields, and the steps of statistics."""
    one, two, found = pathlib.Path(one), pathlib.Path(two), []
    first, second = read_pvd(one / "solution.pvd"), read_pvd(two / "solution.pvd")
    if [file for _, file in first] != [file for _, file in second] or any(abs(a[0] - b[0]) > 1e-9 * max(1e-9, abs(a[0])) for a, b in zip(first, second)):
        lost = sorted({file for _, file in first} - {file for _, file in second})
        found.append(f"solution.pvd differs: {len(first)} and {len(second)} entries; lost {lost[:4]}, times {[t for t, _ in second][:30]}")
    for _, file in first:
        if not (two / file).exists():
            continue
        a, b = fields_of(one, file), fields_of(two, file)
        if a.keys() != b.keys():
            found.append(f"{file}: other points, {len(a)} and {len(b)}")
            continue
        error = max((abs(x - y) / max(1., abs(x)) for key in a for x, y in zip(a[key], b[key])), default=0.)
        if not error <= tolerance:
            found.append(f"{file}: the fields differ by {error:.2e}, more than {tolerance:.0e}")
    if (one / "statistics").exists():
        steps = [[row[0] for row in read_statistics(path / "statistics")[1]] for path in (one, two)]
        if steps[0] != steps[1]:
            missing, more = sorted(set(steps[0]) - set(steps[1])), len(steps[1]) - len(set(steps[1]))
            found.append(f"statistics differs: {len(steps[0])} and {len(steps[1])} rows; lost steps {missing[:5]}, {more} twice")
    return found


def parser(doc, only, keep, cases=()):
    """The options that all rounds have. @param only, keep what --only repeats and --keep keeps, @param cases the names of which --cases chooses."""
    result = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--jobs", type=int, default=1)
    result.add_argument("--seed", type=int, default=1, help="of the first; the next has the next number")
    result.add_argument("--only", help=only)
    result.add_argument("--keep", help="a folder for " + keep)
    if cases:
        result.add_argument("--cases", default=",".join(cases), help="of " + ", ".join(cases))
    return result


def scratch():
    """A new folder for runs, which goes away with the object."""
    return tempfile.TemporaryDirectory(prefix="leopard_soak_", dir=os.environ.get("LEOPARD_SCRATCH"), ignore_cleanup_errors=True)


def table(rows, heading):
    """Lines of a table of strings."""
    rows = [heading, *[[str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[c]) for row in rows) for c in range(len(heading))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)
