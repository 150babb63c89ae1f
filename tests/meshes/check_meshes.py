#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the meshes that come with Leopard (MSH 2.2, ASCII): check_meshes.py FOLDER

It asks for more than the program does, which tells what it thinks of a mesh of one's own: leopard --describe-mesh FILE.msh.
A mesh must have quadrilaterals only (2D, z = 0, or a closed surface in space) or hexahedra only (3D), all positively oriented (of a
surface: alike) and well shaped, and a boundary id on every boundary face and nowhere else. In a folder, the table of its README.md must tell the truth about each file, which
must be small and have its .geo or .py beside it. Needs the standard library only. Exit code 1 if anything is wrong.
"""
import collections
import math
import pathlib
import re
import sys

LARGEST_FILE = 300000  # bytes
SMALLEST_JACOBIAN = 0.3
NAMES = {1: "line", 2: "triangle", 3: "quadrilateral", 4: "tetrahedron", 5: "hexahedron", 6: "prism", 7: "pyramid", 15: "point"}
N_NODES = {1: 2, 2: 3, 3: 4, 4: 4, 5: 8, 6: 6, 7: 5, 15: 1}
CELL = {2: 3, 3: 5}  # dimension: element type
# node, and its neighbours in right-handed order (Gmsh's numbering)
CORNERS = {2: [(0, 1, 3), (1, 2, 0), (2, 3, 1), (3, 0, 2)],
           3: [(0, 1, 3, 4), (1, 2, 0, 5), (2, 3, 1, 6), (3, 0, 2, 7), (4, 7, 5, 0), (5, 4, 6, 1), (6, 5, 7, 2), (7, 6, 4, 3)]}
FACES = {2: [(0, 1), (1, 2), (2, 3), (3, 0)],
         3: [(0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]}


class Bad(Exception):
    """What is wrong with a mesh."""


def read(path):
    """Returns nodes {number: point} and elements [(type, physical id, node numbers)]."""
    lines = path.read_text().splitlines()
    if lines[:2] != ["$MeshFormat", "2.2 0 8"]:
        raise Bad(f"is not MSH 2.2 ASCII, but begins with {lines[:2]} (expected: gmsh -format msh22)")

    def section(name):
        try:
            begin = lines.index("$" + name)
            n = int(lines[begin + 1])
            rows = [line.split() for line in lines[begin + 2:begin + 2 + n]]
            if lines[begin + 2 + n] != "$End" + name:
                raise ValueError
        except (ValueError, IndexError):
            raise Bad(f"has no whole section ${name}") from None
        return rows

    elements = []
    try:
        nodes = {int(number): (float(x), float(y), float(z)) for number, x, y, z in section("Nodes")}
        rows = [list(map(int, row)) for row in section("Elements")]
    except ValueError as error:
        raise Bad(f"has a line that is not understood: {error}") from None
    for number, kind, n_tags, *rest in rows:
        if len(rest) - n_tags != N_NODES.get(kind) or not n_tags:
            raise Bad(f"element {number} is of type {kind} with {len(rest) - n_tags} nodes and {n_tags} tags")
        if any(node not in nodes for node in rest[n_tags:]):
            raise Bad(f"element {number} names a node that is not there")
        elements.append((kind, rest[0], rest[n_tags:]))
    return nodes, elements


def unit_normal(points):
    """Of a quadrilateral in space: across its diagonals."""
    a, b = ([q - p for p, q in zip(points[i], points[i + 2])] for i in (0, 1))
    normal = [a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3] for i in range(3)]
    length = math.hypot(*normal)
    return [x / length for x in normal] if length else normal


def scaled_jacobian(points, dim, on_surface=False):
    """Smallest determinant of the unit edge vectors at the corners of a cell (of a surface: and the cell's normal)."""
    smallest = math.inf
    normal = unit_normal(points) if on_surface else [0., 0., 1.]
    for corner, *neighbours in CORNERS[dim]:
        edges = [[b - a for a, b in zip(points[corner], points[n])] for n in neighbours]
        lengths = [math.hypot(*edge) for edge in edges]
        if min(lengths) == 0.:
            return 0.
        e = [[x / length for x in edge] for edge, length in zip(edges, lengths)]
        if dim == 2:
            e.append(normal)
        determinant = sum(e[0][i] * (e[1][(i + 1) % 3] * e[2][(i + 2) % 3] - e[1][(i + 2) % 3] * e[2][(i + 1) % 3]) for i in range(3))
        smallest = min(smallest, determinant)
    return smallest


def check(path):
    """Checks one mesh. Returns number of cells, boundary ids, extents and the smallest scaled Jacobian; throws Bad."""
    nodes, elements = read(path)
    dim = 3 if any(kind in (4, 5, 6, 7) for kind, _, _ in elements) else 2
    kinds = collections.Counter(kind for kind, _, _ in elements)
    others = [f"{n} {NAMES[kind]}(s)" for kind, n in kinds.items() if kind not in (15, CELL[dim], CELL.get(dim - 1, 1))]  # points say nothing
    if others or not kinds[CELL[dim]]:
        raise Bad(f"has {', '.join(others) or 'no cells'} (expected: only {NAMES[CELL[dim]]}s and {NAMES[CELL.get(dim - 1, 1)]}s on the boundary)")

    on_surface = dim == 2 and any(abs(z) > 1e-12 for _, _, z in nodes.values())
    cells = [v for kind, _, v in elements if kind == CELL[dim]]
    unused = set(nodes) - {node for cell in cells for node in cell}
    if unused:
        raise Bad(f"has {len(unused)} nodes that belong to no cell, as node {min(unused)}")
    worst = min(scaled_jacobian([nodes[n] for n in cell], dim, on_surface) for cell in cells)
    if worst < SMALLEST_JACOBIAN:
        raise Bad(f"has a cell with scaled Jacobian {worst:.3f} (expected: at least {SMALLEST_JACOBIAN}; a negative one is wrongly oriented)")

    count = collections.Counter(frozenset(cell[i] for i in face) for cell in cells for face in FACES[dim])
    if max(count.values()) > 2:
        raise Bad("has a face that more than two cells share")
    boundary = {face for face, n in count.items() if n == 1}
    if on_surface:
        if boundary:
            raise Bad(f"has nodes off z = 0, but is no closed surface: {len(boundary)} edges belong to one cell only (expected: z = 0, or a closed surface)")
        directed = collections.Counter((cell[i], cell[(i + 1) % 4]) for cell in cells for i in range(4))
        if max(directed.values()) > 1:
            raise Bad("is a surface with neighbours of opposite orientation")
    given = [frozenset(v) for kind, _, v in elements if kind not in (15, CELL[dim])]
    if len(given) != len(set(given)) or set(given) != boundary:
        raise Bad(f"has boundary ids on {len(given)} faces, {len(set(given) & boundary)} of them on the boundary, which has {len(boundary)} faces")
    ids = {physical for kind, physical, _ in elements if kind not in (15, CELL[dim])}
    extents = [max(x) - min(x) for x in list(zip(*nodes.values()))[:3 if on_surface else dim]]
    return len(cells), ids, extents, worst


def table(readme):
    """Rows of the README's table: {file: (cells, ids, extents, scaled Jacobian) as text}."""
    rows = {}
    for line in readme.read_text().splitlines():
        columns = [column.strip() for column in line.strip("|").split("|")]
        if len(columns) == 6 and columns[0].endswith(".msh`"):
            ids = {int(i) for i in re.findall(r"(\d+):", columns[3])}
            rows[columns[0].strip("`")] = (columns[2], ids, columns[4], columns[5])
    return rows


def check_folder(folder):
    """Yields (file, what is wrong or None, what it is) for all meshes of a folder and its README."""
    rows = table(folder / "README.md")
    files = sorted(path.name for path in folder.glob("*.msh"))
    for name in sorted(set(rows) - set(files)):
        yield name, "is in the table of README.md, but not in the folder", ""
    for name in files:
        path = folder / name
        try:
            n_cells, ids, extents, worst = check(path)
            # the Jacobian rounded down
            found = (str(n_cells), ids, " x ".join(f"{x:.2f}" for x in extents), f"{math.floor(worst * 100 + 1e-9) / 100:.2f}")
            if rows.get(name) != found:
                raise Bad(f"is {found}, but README.md says {rows.get(name)}")
            if not any(path.with_suffix(suffix).exists() for suffix in (".geo", ".py")):
                raise Bad("has no .geo or .py beside it")
            if path.stat().st_size > LARGEST_FILE:
                raise Bad(f"has {path.stat().st_size} bytes (expected: at most {LARGEST_FILE})")
            yield name, None, found
        except Bad as bad:
            yield name, str(bad), ""


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    n_wrong = n_good = 0
    for argument in map(pathlib.Path, sys.argv[1:]):
        if not argument.is_dir():
            sys.exit(f"{argument} is no folder\n  to look at a mesh of your own: leopard --describe-mesh {argument}")
        for name, wrong, what in check_folder(argument):
            n_wrong += wrong is not None
            n_good += wrong is None
            if wrong:
                print(f"{name} {wrong}")
            else:
                n_cells, ids, extents, worst = what
                print(f"{name}: {n_cells} cells, boundary ids {sorted(ids)}, extent {extents}, smallest scaled Jacobian {worst}")
    if not n_wrong and not n_good:
        sys.exit("no meshes found")
    sys.exit(1 if n_wrong else 0)


if __name__ == "__main__":
    main()
