# SPDX-License-Identifier: Apache-2.0
"""Fields of a run of leopard at the nodes of a uniform square: what solution.pvd and its VTU files hold."""
import base64
import math
import re
import struct
import zlib

from . import Error


def array(text, name):
    """The numbers of a DataArray, single precision, compressed in one block; deal.II writes them so."""
    match = re.search(rf'<DataArray type="Float32"[^>]*{re.escape(name)}[^>]*format="binary"[^>]*>\s*(\S+)\s*<', text)
    if not match:
        raise Error(f"no array {name} of compressed single precision")
    data = zlib.decompress(base64.b64decode(match[1][24:]))  # after four numbers on blocks and sizes
    return struct.unpack(f"<{len(data) // 4}f", data)


def field(path, name, n):
    """{(column, row): value} at the n x n nodes of the unit square; NaN where a cell's value differs from another's."""
    text = path.read_text(encoding="utf-8")
    points, values = array(text, 'NumberOfComponents="3"'), array(text, f'Name="{name}"')
    found = {}
    for i, value in enumerate(values):
        node = round(points[3 * i] * (n - 1)), round(points[3 * i + 1] * (n - 1))
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
