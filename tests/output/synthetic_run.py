# SPDX-License-Identifier: Apache-2.0
"""Writes small run directories as the program does: solution.pvd, PVTU and VTU pieces of disconnected cells."""
import math

import vtk


def write_piece(path, cells, values):
    """Writes a VTU file. cells: lists of 4 (quadrilateral) or 8 (hexahedron) points; values: {field: function of x, y, z}."""
    points = vtk.vtkPoints()
    points.SetDataTypeToDouble()
    grid = vtk.vtkUnstructuredGrid()
    grid.Allocate(len(cells))
    for cell in cells:
        ids = [points.InsertNextPoint(p) for p in cell]
        grid.InsertNextCell(vtk.VTK_QUAD if len(ids) == 4 else vtk.VTK_HEXAHEDRON, len(ids), ids)
    grid.SetPoints(points)
    for name, function in values.items():
        array = vtk.vtkDoubleArray()
        array.SetName(name)
        for i in range(points.GetNumberOfPoints()):
            array.InsertNextValue(function(*points.GetPoint(i)))
        grid.GetPointData().AddArray(array)
    writer = vtk.vtkXMLUnstructuredGridWriter()
    writer.SetFileName(str(path))
    writer.SetInputData(grid)
    writer.SetCompressorTypeToZLib()
    writer.SetDataModeToBinary()
    writer.Write()


def write_step(directory, base, cells, values, n_pieces=2):
    """Writes solution/BASE.pvtu and its pieces; returns the name for the PVD."""
    (directory / "solution").mkdir(parents=True, exist_ok=True)
    names = [f"{base}.{i:04d}.vtu" for i in range(n_pieces)]
    for i, name in enumerate(names):
        write_piece(directory / "solution" / name, cells[i * len(cells) // n_pieces:(i + 1) * len(cells) // n_pieces], values)
    arrays = "".join(f'<PDataArray type="Float64" Name="{name}" format="ascii"/>' for name in values)
    pieces = "".join(f'<Piece Source="{name}"/>' for name in names)
    (directory / "solution" / f"{base}.pvtu").write_text(
        '<?xml version="1.0"?>\n<VTKFile type="PUnstructuredGrid" version="0.1" byte_order="LittleEndian">\n'
        f'<PUnstructuredGrid GhostLevel="0"><PPointData Scalars="scalars">{arrays}</PPointData>'
        f'<PPoints><PDataArray type="Float64" NumberOfComponents="3"/></PPoints>{pieces}</PUnstructuredGrid></VTKFile>\n')
    return f"solution/{base}.pvtu"


def write_pvd(directory, steps):
    """Writes solution.pvd. steps: [(time, file)]."""
    entries = "".join(f'    <DataSet timestep="{time!r}" group="" part="0" file="{file}"/>\n' for time, file in steps)
    (directory / "solution.pvd").write_text('<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1" '
                                            f'ByteOrder="LittleEndian">\n  <Collection>\n{entries}  </Collection>\n</VTKFile>\n')


def grid_cells(n, dim=2, stretch=1.):
    """The cells of the unit square or cube, n in each direction, as points."""
    h = 1. / n
    quad = [(0, 0), (1, 0), (1, 1), (0, 1)]
    levels = range(n) if dim == 3 else [0]
    return [[((i + a) * h * stretch, (j + b) * h, (k + c) * h) for c in ((0, 1) if dim == 3 else (0,)) for a, b in quad]
            for k in levels for j in range(n) for i in range(n)]


def spots(t, waves=6.):
    """Spots that grow with time."""
    return lambda x, y, z: 1. + t * (math.cos(waves * math.pi * x) * math.cos(waves * math.pi * y) * math.cos(waves * math.pi * z))


def write_run(directory, times=(0., 0.1), cells=None, fields=("u", "v"), n_pieces=2):
    """A whole run with spots in each field."""
    cells = cells or grid_cells(8)
    steps = []
    for step, time in enumerate(times):
        steps.append((time, write_step(directory, f"solution_{step:07d}", cells, {f: spots(0.1 + time) for f in fields}, n_pieces)))
    write_pvd(directory, steps)
