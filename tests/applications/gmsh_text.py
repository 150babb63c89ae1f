# SPDX-License-Identifier: Apache-2.0
"""Small meshes as the text of Gmsh files, MSH 2.2, without physical groups."""
import itertools
import math

# four quadrilaterals around a node that is off the middle, numbered so that opposite corners come first
STRIP_POINTS = [(0, 0), (0.4, 0), (1, 0), (0, 0.6), (0.55, 0.5), (1, 0.6), (0, 1), (0.4, 1), (1, 1)]
STRIP_CELLS = [(1, 2, 5, 4), (5, 6, 9, 8), (2, 3, 6, 5), (4, 5, 8, 7)]


def gmsh(points, cells):
    """Points have two or three coordinates; cells are tuples of numbers of points, the first of which is 1."""
    kind = {(2, 3): 2, (2, 4): 3, (3, 4): 4}[len(points[0]), len(cells[0])]  # triangle, quadrilateral, tetrahedron
    return ("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" + f"{len(points)}\n" + "".join(f"{i} {' '.join(map(str, [*point, 0][:3]))}\n" for i, point in enumerate(points, 1)) +
            "$EndNodes\n$Elements\n" + f"{len(cells)}\n" + "".join(f"{i} {kind} 2 1 1 " + " ".join(map(str, cell)) + "\n" for i, cell in enumerate(cells, 1)) + "$EndElements\n")


def simplices(dim, n, moved=0.):
    """The unit square of 2 n^2 triangles or the unit cube of 6 n^3 tetrahedra, all diagonals of which have one direction, so that opposite sides are alike (H. W. Kuhn 1960).
    `moved`: as a part of an edge, by how much nodes are moved inside and along the sides, opposite ones alike."""
    def place(index):
        moves = [0 if index[d] % n == 0 else moved * math.sin(1 + sum((e + d + 2) * (index[e] % n) for e in range(dim))) for d in range(dim)]
        return tuple((i + move) / n for i, move in zip(index, moves))
    nodes = list(itertools.product(range(n + 1), repeat=dim))
    number = {node: i for i, node in enumerate(nodes, 1)}
    cells = []
    for corner in itertools.product(range(n), repeat=dim):
        for way in itertools.permutations(range(dim)):
            path = [corner]
            for d in way:
                path.append(tuple(x + (e == d) for e, x in enumerate(path[-1])))
            odd = sum(a > b for a, b in itertools.combinations(way, 2)) % 2
            path[0], path[1] = (path[1], path[0]) if odd else (path[0], path[1])
            cells.append(tuple(number[node] for node in path))
    return gmsh([place(node) for node in nodes], cells)


MATCHED = gmsh(STRIP_POINTS, STRIP_CELLS)
UNMATCHED = gmsh([(1, 0.3) if point == (1, 0.6) else point for point in STRIP_POINTS], STRIP_CELLS)
