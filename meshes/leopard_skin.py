#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes leopard_skin.msh, the closed surface of a standing leopard: leopard_skin.py [FILE.msh]

Boxes are put together as body, legs, head and tail, and bent. Their outer faces are the cage of a subdivision surface (Catmull,
Clark, Computer-Aided Design 10, 1978, 350): each step splits a quadrilateral in four and rounds the corners. The cells become
nearly square, as block-asynchronous iteration wants them. x points forward, y to the left, z up; lengths are dimensionless.
Needs the standard library only.
"""
import collections
import math
import pathlib
import sys

STEPS = 2                                            # of the subdivision
# cross-sections of the spine from the tip of the tail to the nose: centre (x, z), angle to the x axis, half width, half height
SPINE = [(-1.46, -0.07, -0.90, 0.15, 0.14), (-1.36, -0.18, -0.75, 0.18, 0.17), (-1.25, -0.24, -0.25, 0.19, 0.18), (-1.13, -0.25, 0.05, 0.19, 0.18),
         (-1.01, -0.22, 0.30, 0.19, 0.18), (-0.90, -0.17, 0.45, 0.19, 0.19), (-0.79, -0.09, 0.50, 0.20, 0.20), (-0.66, 0.01, 0.20, 0.18, 0.20),
         (-0.50, 0.03, 0.05, 0.21, 0.23), (-0.34, 0.02, -0.03, 0.21, 0.23), (-0.18, 0.01, 0.00, 0.21, 0.225), (-0.02, 0.00, 0.00, 0.21, 0.23),
         (0.15, 0.00, 0.03, 0.22, 0.24), (0.31, 0.02, 0.20, 0.22, 0.25), (0.44, 0.09, 0.42, 0.20, 0.22), (0.57, 0.19, 0.55, 0.18, 0.19),
         (0.69, 0.27, 0.38, 0.18, 0.18), (0.82, 0.31, 0.10, 0.18, 0.18), (0.93, 0.30, -0.10, 0.16, 0.16), (1.04, 0.26, -0.15, 0.19, 0.15)]
ACROSS = [-1., -0.37, 0.37, 1.]                      # of half width and half height
# legs from the ground up: height, how far they stand forward of their place on the body, size
LEGS = {"hind": [(-0.72, -0.04, 0.90), (-0.63, -0.05, 0.88), (-0.535, -0.06, 0.88), (-0.435, -0.04, 0.92), (-0.325, 0.00, 1.00)],
        "fore": [(-0.72, 0.00, 0.90), (-0.63, 0.00, 0.88), (-0.535, 0.00, 0.88), (-0.435, 0.00, 0.92), (-0.335, 0.01, 1.00)]}
LEG_WIDTH, LEG_LENGTH = 0.13, 0.14                   # of size 1
HIND, FORE = 7, 12                                   # cross-sections of the spine behind them


def boxes():
    """Grid indices (i, j, k) of the boxes: i along the spine, j across, k upwards; 5 to 7 are the body."""
    found = set()

    def add(i_range, j_range, k_range):
        found.update((i, j, k) for i in i_range for j in j_range for k in k_range)

    add(range(7, 18), range(3), range(5, 8))         # body, neck and head
    add(range(7), [1], [6])                          # tail
    add([18], [1], [5, 6])                           # muzzle
    for j in (0, 2):
        add([16], [j], [8])                          # ears
        for i in (HIND, FORE):
            add([i], [j], range(5))                  # legs
            add([i + 1], [j], [0])                   # paws
    return found


def place(i, j, k):
    """The corner (i, j, k) of the cage in space."""
    if k < 5:
        behind, leg = (HIND, LEGS["hind"]) if i <= HIND + 2 else (FORE, LEGS["fore"])
        height, forward, size = leg[k]
        x = (SPINE[behind][0] + SPINE[behind + 1][0]) / 2 + forward + size * LEG_LENGTH * (i - behind - 0.5)
        side = 1 if j > 1 else -1
        return x, 0.144 * side + size * LEG_WIDTH * (0.5 if j % 2 else -0.5), height
    x, z, angle, width, height = SPINE[i]
    across, up = ACROSS[j], ACROSS[min(k, 8) - 5]
    if k == 9:                                       # tips of the ears
        up = 1.75
    elif abs(across) == 1 and abs(up) == 1:          # the cross-section is rounder than a rectangle
        across, up = 0.8 * across, 0.8 * up
    return x - up * height * math.sin(angle), across * width, z + up * height * math.cos(angle)


def cage():
    """Vertices and quadrilaterals, seen from outside counter-clockwise."""
    inside, number, faces = boxes(), {}, []
    for box in sorted(inside):
        for axis in range(3):
            for side in (0, 1):
                neighbour = list(box)
                neighbour[axis] += 2 * side - 1
                if tuple(neighbour) in inside:
                    continue
                corners = []
                for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)) if side else ((0, 0), (0, 1), (1, 1), (1, 0)):
                    corner = list(box)
                    corner[axis] += side
                    corner[(axis + 1) % 3] += a
                    corner[(axis + 2) % 3] += b
                    corners.append(number.setdefault(tuple(corner), len(number)))
                faces.append(corners)
    return [place(*corner) for corner in number], faces


def mean(points):
    return tuple(sum(x) / len(points) for x in zip(*points))


def subdivide(vertices, faces):
    """One step of Catmull and Clark's scheme on a closed surface."""
    centres = [mean([vertices[v] for v in face]) for face in faces]
    faces_of_edge, faces_of_vertex, edges_of_vertex = collections.defaultdict(list), collections.defaultdict(list), collections.defaultdict(set)
    for f, face in enumerate(faces):
        for v, w in zip(face, face[1:] + face[:1]):
            edge = (min(v, w), max(v, w))
            faces_of_edge[edge].append(f)
            faces_of_vertex[v].append(f)
            edges_of_vertex[v].add(edge)
            edges_of_vertex[w].add(edge)
    edges = list(faces_of_edge)
    edge_points = [mean([vertices[v], vertices[w], *(centres[f] for f in faces_of_edge[v, w])]) for v, w in edges]
    moved = []
    for v, point in enumerate(vertices):
        n = len(faces_of_vertex[v])
        q = mean([centres[f] for f in faces_of_vertex[v]])
        r = mean([mean([vertices[a], vertices[b]]) for a, b in sorted(edges_of_vertex[v])])
        moved.append(tuple((q[d] + 2 * r[d] + (n - 3) * point[d]) / n for d in range(3)))
    edge_number = {edge: len(vertices) + e for e, edge in enumerate(edges)}
    first_centre = len(vertices) + len(edges)
    fine = []
    for f, face in enumerate(faces):
        for u, v, w in zip(face[-1:] + face[:-1], face, face[1:] + face[:1]):
            fine.append([v, edge_number[min(v, w), max(v, w)], first_centre + f, edge_number[min(u, v), max(u, v)]])
    return moved + edge_points + centres, fine


def main():
    vertices, faces = cage()
    for _ in range(STEPS):
        vertices, faces = subdivide(vertices, faces)
    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", "1", '2 1 "skin"', "$EndPhysicalNames", "$Nodes", str(len(vertices))]
    lines += [f"{i} {x:.5f} {y:.5f} {z:.5f}" for i, (x, y, z) in enumerate(vertices, 1)]
    lines += ["$EndNodes", "$Elements", str(len(faces))]
    lines += [f"{i} 3 2 1 1 " + " ".join(str(v + 1) for v in face) for i, face in enumerate(faces, 1)]
    lines += ["$EndElements", ""]
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) == 2 else pathlib.Path(__file__).with_suffix(".msh")
    target.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
