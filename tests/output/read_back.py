#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Reads what a run has written back with VTK: read_back.py RUN_DIRECTORY [--fields u,v] [--times 0,0.1].

Checks that solution.pvd and each PVTU and VTU file behind it are there and can be read, that times increase strictly (and are
the expected ones), that the fields are there, that each step has cells and that all values and points are finite.
Exit code 0: all is well; 1: something is not, and one message says what; 77: no VTK for this Python.
"""
import argparse
import math
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

try:
    import vtk
except ImportError:
    print(f"skipped: no VTK for {sys.executable} (on Debian: apt-get install python3-vtk9)")
    sys.exit(77)


class Bad(Exception):
    """What is wrong with the run directory."""


def parse(path):
    if not path.is_file():
        raise Bad(f"no such file: {path}")
    try:
        return ElementTree.parse(path).getroot()
    except ElementTree.ParseError as error:
        raise Bad(f"{path} is no XML file: {error}") from None


def same(a, b):
    return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-12)


def read_pvd(directory):
    """Returns [(time, PVTU file)]."""
    pvd = directory / "solution.pvd"
    try:
        steps = [(float(entry.attrib["timestep"]), directory / entry.attrib["file"]) for entry in parse(pvd).iter("DataSet")]
    except (KeyError, ValueError) as error:
        raise Bad(f"{pvd} has a bad DataSet entry: {error!r}") from None
    if not steps:
        raise Bad(f"{pvd} names no data")
    return steps


def check_times(steps, expected):
    times = [time for time, _ in steps]
    for earlier, later in zip(times, times[1:]):
        if not earlier < later:
            raise Bad(f"times do not increase: {earlier:.10g} is followed by {later:.10g}")
    if expected and (len(expected) != len(times) or not all(map(same, times, expected))):
        raise Bad(f"times are {times}\n  expected: {expected}")


def read_vtu(path):
    """Reads one piece; VTK only prints its errors, so they are caught where they are printed."""
    if not path.is_file():
        raise Bad(f"no such file: {path}")
    said = vtk.vtkStringOutputWindow()
    vtk.vtkOutputWindow.SetInstance(said)
    reader = vtk.vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    vtk.vtkOutputWindow.SetInstance(None)
    if said.GetOutput().strip():
        raise Bad(f"{path} cannot be read: {said.GetOutput().strip().splitlines()[-1]}")
    return reader.GetOutput()


def values(array):
    """All components of a VTK array, as numbers."""
    view = memoryview(array)
    return view if view.ndim == 1 else view.cast("B").cast(view.format)


def check_finite(array, what):
    n_wrong = sum(not math.isfinite(x) for x in values(array))
    if n_wrong:
        raise Bad(f"{what}: {n_wrong} of {array.GetNumberOfValues()} values are not finite")


def check_step(path, fields):
    """Checks one PVTU and its pieces. Returns number of pieces, cells, points and the range of each field."""
    root = parse(path)
    declared = {entry.get("Name") for data in root.iter("PPointData") for entry in data.iter("PDataArray")}
    pieces = [path.parent / piece.attrib["Source"] for piece in root.iter("Piece") if "Source" in piece.attrib]
    if not pieces:
        raise Bad(f"{path} names no pieces")
    for name in fields or []:
        if name not in declared:
            raise Bad(f"{path} has no field '{name}'; there: {', '.join(sorted(map(str, declared))) or 'none'}")

    n_cells = n_points = 0
    ranges = {name: [math.inf, -math.inf] for name in sorted(declared)}
    for piece in pieces:
        grid = read_vtu(piece)
        n_cells += grid.GetNumberOfCells()
        n_points += grid.GetNumberOfPoints()
        if not grid.GetNumberOfCells():
            continue  # a rank without cells
        check_finite(grid.GetPoints().GetData(), f"{piece}, points")
        for name, found in ranges.items():
            array = grid.GetPointData().GetArray(name)
            if array is None:
                raise Bad(f"{piece} has no field '{name}', which {path.name} names")
            check_finite(array, f"{piece}, field '{name}'")
            found[:] = min(found[0], min(values(array))), max(found[1], max(values(array)))
    if not n_cells:
        raise Bad(f"{path} has no cells")
    return len(pieces), n_cells, n_points, ranges


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run_directory", type=pathlib.Path)
    parser.add_argument("--fields", type=lambda text: text.split(","), help="fields that must be there")
    parser.add_argument("--times", type=lambda text: [float(t) for t in text.split(",")], help="all times, in order")
    parser.add_argument("--pieces", type=int, help="how many pieces each step must have (ranks)")
    arguments = parser.parse_args()
    steps = read_pvd(arguments.run_directory)
    check_times(steps, arguments.times)
    for time, path in steps:
        n_pieces, n_cells, n_points, ranges = check_step(path, arguments.fields)
        if arguments.pieces not in (None, n_pieces):
            raise Bad(f"{path} has {n_pieces} pieces (expected: {arguments.pieces})")
        text = ", ".join(f"{name} in [{low:.6g}, {high:.6g}]" for name, (low, high) in ranges.items())
        print(f"t = {time:.10g}: {n_pieces} pieces, {n_cells} cells, {n_points} points; {text}")
    print(f"{len(steps)} steps read back")


if __name__ == "__main__":
    try:
        main()
    except Bad as bad:
        sys.exit(f"read_back.py: {bad}")
