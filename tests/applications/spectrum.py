# SPDX-License-Identifier: Apache-2.0
"""Wave numbers of a field that a run has written on the unit square, with numpy and VTK."""
import re

import numpy
import vtk
from vtk.util.numpy_support import vtk_to_numpy


def fields(run_directory, name):
    """(time, array of the nodal values of a field on an equidistant grid) for each time of solution.pvd; runs of one rank."""
    pvd = (run_directory / "solution.pvd").read_text()
    for time, file in re.findall(r'timestep="([^"]*)"[^>]*file="([^"]*)"', pvd):
        reader = vtk.vtkXMLUnstructuredGridReader()
        reader.SetFileName(str(run_directory / file.replace(".pvtu", ".0000.vtu")))
        reader.Update()
        grid = reader.GetOutput()
        points, values = vtk_to_numpy(grid.GetPoints().GetData()), vtk_to_numpy(grid.GetPointData().GetArray(name))
        n = int(round(1 / numpy.min(points[points[:, 0] > 1e-9, 0])))
        array = numpy.empty((n + 1, n + 1))
        array[numpy.rint(points[:, 0] * n).astype(int), numpy.rint(points[:, 1] * n).astype(int)] = values
        yield float(time), array


def spectrum(array):
    """Wave numbers pi sqrt(m^2 + n^2) and the power of the modes cos(pi m x) cos(pi n y), without the mean."""
    n = len(array) - 1
    m = numpy.arange(n + 1)
    ends = numpy.where((m == 0) | (m == n), 0.5, 1.0)
    cosines = numpy.cos(numpy.pi * numpy.outer(m, m) / n) * ends
    coefficients = cosines @ array @ cosines.T
    power = coefficients**2 * ends[:, None] * ends[None, :]
    power[0, 0] = 0
    return numpy.pi * numpy.hypot(m[:, None], m[None, :]), power


def mean_wave_number(array):
    """The mean of the wave numbers, weighted with the power of their modes."""
    k, power = spectrum(array)
    return (k * power).sum() / power.sum()
