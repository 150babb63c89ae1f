# SPDX-License-Identifier: Apache-2.0
"""Fields of a run of leopard at the nodes of a uniform square: what solution.pvd and its VTU files hold. Needs VTK."""
import math
import re

from . import Error


def arrays(path, name):
    """The points of a VTU file, and its values of this name, one each."""
    try:
        import vtk
    except ImportError:
        raise Error("VTK for Python is missing, which reads fields\n  to do: scripts/install test") from None
    reader = vtk.vtkXMLUnstructuredGridReader()
    said = vtk.vtkStringOutputWindow()
    vtk.vtkOutputWindow.SetInstance(said)
    vtk.vtkLogger.SetStderrVerbosity(vtk.vtkLogger.VERBOSITY_OFF)  # the errors below say it
    reader.SetFileName(str(path))
    reader.Update()
    grid = reader.GetOutput()
    values = grid.GetPointData().GetArray(name)
    if values is None or said.GetOutput():
        raise Error(f"{path.name} cannot be read or has no array {name}")
    return [(grid.GetPoint(i), values.GetValue(i)) for i in range(grid.GetNumberOfPoints())]


def field(path, name, n):
    """{(column, row): value} at the n x n nodes of the unit square; NaN where a cell's value differs from another's."""
    found = {}
    for point, value in arrays(path, name):
        node = round(point[0] * (n - 1)), round(point[1] * (n - 1))
        found[node] = value if found.get(node, value) == value else math.nan
    if len(found) != n * n:
        raise Error(f"{path.name} has {len(found)} nodes\n  expected: {n} x {n}")
    return found


def at_times(run, name, n, times):
    """The field nearest to each of these times; an Error if there is none within a hundredth of the time."""
    steps = [(float(time), file) for time, file in
             re.findall(r'timestep="([^"]+)"[^>]*file="([^"]+)"', (run / "solution.pvd").read_text(encoding="utf-8"))]
    result = []
    for wanted in times:
        time, file = min(steps, key=lambda step: abs(step[0] - wanted), default=(math.inf, ""))
        if not abs(time - wanted) <= 0.01 * wanted:
            raise Error(f"the run '{run.name}' has no field at t = {wanted}")
        result.append(field(run / file.replace(".pvtu", ".0000.vtu"), name, n))
    return result


def difference(one, other):
    """Largest |difference| at a node; NaN if one is or nodes are missing."""
    if one.keys() != other.keys():
        return math.nan
    differences = [abs(one[node] - other[node]) for node in one]
    return math.nan if any(map(math.isnan, differences)) else max(differences)
