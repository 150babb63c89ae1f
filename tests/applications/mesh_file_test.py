# SPDX-License-Identifier: Apache-2.0
"""Mesh files that are no mesh are refused with a line and a reason, before deal.II's reader crashes on them or takes them for a domain."""
import math
import subprocess

from program import LEOPARD, Program

SQUARE = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
CUBE = [(x, y, z) for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
QUADRILATERAL = "3 2 1 1 1 2 3 4"


def msh(nodes, elements, n_nodes=None):
    text = f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{n_nodes or len(nodes)}\n"
    text += "".join(f"{i} {x} {y} {z}\n" for i, (x, y, z) in enumerate(nodes, 1))
    text += f"$EndNodes\n$Elements\n{len(elements)}\n"
    return text + "".join(f"{i} {element}\n" for i, element in enumerate(elements, 1)) + "$EndElements\n"


def moebius_strip(n=8):
    points = [((1 + s * math.cos(a / 2)) * math.cos(a), (1 + s * math.cos(a / 2)) * math.sin(a), s * math.sin(a / 2))
              for a in (2 * math.pi * i / n for i in range(n)) for s in (-0.3, 0.3)]
    cells = [f"3 2 1 1 {2 * i + 1} {2 * i + 2} {2 * i + 4} {2 * i + 3}" for i in range(n - 1)]
    return msh(points, [*cells, f"3 2 1 1 {2 * n - 1} {2 * n} 1 2"])


class MeshFiles(Program):
    FILE = "set Problem = helmholtz\nsubsection Helmholtz\n set Delta = 1\n set Source = 1 + x\n set Boundary values =\nend\nsubsection Linear solver\n set Method = direct\nend\n"
    SURFACE, BODY = ("Mesh/Domain=surface file",), ("Dimension=3",)

    def read(self, text, *settings, **options):
        self.write("given.msh", text)
        return self.leopard(self.write("mesh.prm", self.FILE), "Mesh/Domain=file", "Mesh/File=given.msh", *settings, **options)

    def refused(self, text, says, *settings, ranks=1):
        error = self.read(text, *settings, fails=True, ranks=ranks)
        self.assertRegex(error, "the mesh file '.*given.msh' cannot be used: ")
        self.assertIn(says, error)
        self.assertEqual(error.count("leopard: "), 1, error)

    def test_form(self):
        good = msh(SQUARE, [QUADRILATERAL])
        self.read(good)
        self.read(good.replace("\n", "\r\n"))
        self.read(msh(SQUARE, ["3 0 1 2 3 4"]))
        self.read(msh(SQUARE, ["2 2 1 1 1 2 3", "2 2 1 1 1 3 4", "15 2 5 1 1", "1 2 0 1 1 3"]))  # the line inside is in no group
        self.read(msh(CUBE, ["4 2 1 1 1 2 3 6", "2 2 4 1 1 2 3"]), *self.BODY)
        self.refused(good.replace("2.2 0 8", "4.1 0 8"), "line 5 is '4'")
        self.refused(good.replace("2.2 0 8", "4 0 8"), "line 2 is '4 0 8'")
        self.refused(good.replace("2.2 0 8", "2.2 1 8"), "this one is binary")
        self.refused(good.replace("2.2 0 8", "252 0 8"), "line 2 is '252 0 8'")
        self.refused(good.replace("3 1 1 0", "3 nan 1 0"), "line 8 is '3 nan 1 0'")
        self.refused(good.replace("3 1 1 0", "3 1e308 1 0"), "line 8")
        self.refused(good.replace("1 2 3 4\n", "1 2 2 4\n"), "line 13")
        self.refused(msh(SQUARE, [QUADRILATERAL], n_nodes=2000000000), "line 10 is '$EndNodes'", ranks=2)

    def test_descriptions_name_what_is_wrong_with_a_plane_mesh(self):
        """They looked for a body first, and what they said against the file was said of that."""
        good = msh(SQUARE, [QUADRILATERAL])
        second = msh([*SQUARE, (0.5, 0, 0), (0.5, 0.5, 0), (0, 0.5, 0)], ["9 2 1 1 1 2 4 5 6 7"])
        for text, says in ((second, "a triangle of order 2 (to do: Mesh.ElementOrder = 1)"), (good.replace("2.2 0 8", "4 0 8"), "line 2 is '4 0 8'"),
                           (good.replace("2.2 0 8", "4.1 1 8"), "this one is binary"), (msh(SQUARE, ["1 2 7 1 1 2", "1 2 7 1 2 3"]), "but 2 lines; with a Physical Curve and no Physical Surface")):
            self.write("given.msh", text)
            result = subprocess.run([LEOPARD, "--describe-mesh", "given.msh"], cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 1)
            self.assertIn(says, result.stderr)
            self.assertRegex(result.stderr, "expected: .*(triangles or quadrilaterals|there should be)")
            self.assertNotIn("'Dimension = 3'", result.stderr)
            self.refused(text, says)

    VERSION_4 = ("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Comments\nany\n$EndComments\n$Entities\n1 1 1 0\n1 0 0 0 0\n1 0 0 0 1 1 0 1 5 2 1 -1\n1 0 0 0 1 1 0 1 -7 1 1\n$EndEntities\n"
                 "$Nodes\n2 4 1 4\n1 1 0 2\n1\n2\n0 0 0\n1 0 0\n2 1 1 2\n3\n4\n1 1 0 0.5 0.5\n0 1 0\n$EndNodes\n$Elements\n2 3 1 3\n1 1 1 1\n1 1 2\n2 1 2 2\n2 1 2 3\n3 1 3 4\n"
                 "$EndElements\n$NodeData\n")

    def test_version_4(self):
        good = self.VERSION_4
        self.read(good, "Helmholtz/Boundary values=5: 1")
        self.read(good.replace("2 1 2 2\n2 1 2 3\n3 1 3 4", "2 1 3 1\n2 1 2 3 4"), "Helmholtz/Boundary values=5: 1")  # a quadrilateral
        self.refused(good.replace("2 1 2 2\n2 1 2 3\n3 1 3 4", "2 1 2 1\n2 1 2 3\n2 1 3 1\n3 1 2 3 4").replace("$Elements\n2", "$Elements\n3"), "it has 1 triangles and 1 quadrilaterals")
        self.refused(good.replace("1 1 0 1 5 2 1 -1", "1 1 0 2 5 6 2 1 -1"), "in one physical group each; these elements are in 2")
        self.refused(good.replace("2 1 2 3\n", "2 1 2 9\n"), "is '2 1 2 9'")
        self.refused(good.replace("2 1 2 3\n", "2 1 2\n"), "is '2 1 2'")
        self.refused(good.replace("2 1 2 2", "2 1 9 2"), "a triangle of order 2 (to do: Mesh.ElementOrder = 1)")
        self.refused(good.replace("2 1 2 2", "2 1 2 2000000000"), "is '$EndElements'")
        self.refused(good.replace("$Comments", "$PartitionedEntities"), "a mesh that is not partitioned")

    def test_triangles_and_tetrahedra(self):
        for nodes in ([(x, 0, 0) for x in range(3)], [(0, 0, 0), (1, 0, 0), (2, 1e-9, 0)]):
            self.refused(msh(nodes, ["2 2 1 1 1 2 3"]), "is flat")
        self.refused(msh([*SQUARE], ["4 2 1 1 1 2 3 4"]), "is flat", *self.BODY)
        self.refused(msh([*SQUARE, (0.9, 0.1, 0)], ["2 2 1 1 1 2 3", "2 2 1 1 1 5 3"]), "lies on the same side of an edge")
        self.refused(msh(SQUARE, ["2 2 1 1 1 2 3", "2 2 1 1 1 2 3"]), "has 3 nodes in common")
        self.refused(msh(SQUARE, ["2 2 1 1 1 2 3", "1 2 4 1 1 2", "1 2 5 1 1 2"]), "the same side in line 14 has 4")
        self.refused(msh(SQUARE, ["4 2 1 1 1 2 3 4"]), "(to do: 'Dimension' = 3)")

    def test_cells(self):
        self.read(msh(CUBE, ["5 2 1 1 1 2 3 4 5 6 7 8"]), *self.BODY)
        for nodes, cell in ((SQUARE, "3 2 1 1 1 3 2 4"), ([(x, 0, 0) for x in range(4)], QUADRILATERAL), ([*SQUARE[:2], (0.1, 0.1, 0), SQUARE[3]], QUADRILATERAL)):
            self.refused(msh(nodes, [cell]), "the element in line 13 is flat, folded or not convex")
        for nodes, cell in ((CUBE, "5 2 1 1 1 3 2 4 5 6 7 8"), ([(x, y, 0) for x, y, _ in CUBE], "5 2 1 1 1 2 3 4 5 6 7 8")):
            self.refused(msh(nodes, [cell]), "the element in line 17 is flat, folded or not convex", *self.BODY)

    def test_cells_together(self):
        second = [*SQUARE, (2, 0, 0), (2, 1, 0)]
        self.read(msh(second, [QUADRILATERAL, "3 2 1 1 2 5 6 3", "1 2 5 1 1 2"]))
        self.refused(msh(second, [QUADRILATERAL, "3 2 1 1 2 5 6 3", "1 2 7 1 2 3"]), "lies between those in lines 15 and 16")
        self.refused(msh(second, [QUADRILATERAL, "1 2 7 1 1 3"]), "is no side of a quadrilateral")
        self.refused(msh(SQUARE, [QUADRILATERAL, QUADRILATERAL]), "has 4 nodes in common with that in line 13")
        self.refused(msh(CUBE, [QUADRILATERAL.replace("3 4", "6 5"), "3 2 1 1 6 1 5 8"]), "has 3 nodes in common", *self.SURFACE)
        self.refused(msh([*SQUARE, (0.2, 0.1, 0), (0.2, 0.9, 0)], [QUADRILATERAL, "3 2 1 1 2 5 6 3"]), "lies on the same side of an edge")
        book = [*second, (2, 0, 1), (2, 1, 1)]
        self.refused(msh(book, [QUADRILATERAL, "3 2 1 1 2 5 6 3", "3 2 1 1 2 7 8 3"]), "is the third at one of its edges", *self.SURFACE)
        self.refused(moebius_strip(), "one side only", *self.SURFACE)
        touching = [*SQUARE, (2, 1, 1), (2, 2, 1), (1, 2, 1)]
        self.refused(msh(touching, [QUADRILATERAL, "3 2 1 1 3 5 6 7"]), "touches another part of the surface in a node alone", *self.SURFACE)

    def test_boundary_ids_are_checked_before_a_run(self):
        """--validate took ids that the mesh does not have, and the run then did not."""
        self.write("given.msh", msh(SQUARE, [QUADRILATERAL, "1 2 7 1 1 2"]))
        values = self.write("values.prm", "set Problem = laplace\nsubsection Laplace\n set Source = 1\n set Boundary values = 7: 1; 0: 0\nend\n")
        fluxes = self.write("fluxes.prm", "set Problem = laplace\nsubsection Laplace\n set Boundary values = *: 0\n set Boundary fluxes = 7: 1\nend\n")
        from_file = ["Mesh/Domain=file", "Mesh/File=given.msh"]
        of_box, of_ball = "7, which the mesh does not have\n  expected: one of 0, 1, 2, 3, or *", "7, which the mesh does not have\n  expected: one of 0, or *"
        named, as_flux = "'Laplace/Boundary values' names the boundary id ", "'Laplace/Boundary fluxes' names the boundary id "
        swept = "Run/Sweep=Mesh/Domain: hypercube, ball"
        messages = self.invalid([
            (values, [], named + of_box), (fluxes, [], as_flux + of_box), (fluxes, ["Mesh/Domain=ball"], as_flux + of_ball),
            (values, ["Mesh/Cells=10000"], named + of_box),  # no mesh of 10000 x 10000 cells is made for that
            (values, ["Dimension=3"], named + "7, which the mesh does not have\n  expected: one of 0, 1, 2, 3, 4, 5, or *"),
            (values, [*from_file, "Laplace/Boundary values=7: 1; 2: 3"], named + "2, which the mesh does not have\n  expected: one of 0, 7, or *"),
            (values, ["Laplace/Boundary values=3: 1", swept], ["the run Mesh/Domain=ball of the sweep: ", named + of_ball.replace("7", "3")]),
            (values, [*from_file, "Study=smoothers", "Laplace/Boundary values=9: 1"], named + "9"),
            (values, [*from_file, "Laplace/Boundary values=", "Linear solver/Method=direct"], "prescribes boundary values nowhere"),
        ])
        self.assertIn(messages[0].split(": ", 1)[-1].strip(), self.leopard(values, fails=True))  # in the words of the run
        closed = ["Mesh/Domain=sphere", "Laplace/Boundary values=0: 1", "Run/Sweep=Mesh/Domain: ball, hypercube"]  # no run of the sweep has the sphere
        self.valid([(values, from_file), (fluxes, from_file), (values, ["Laplace/Boundary values=3: 1; *: 0"]), (values, closed)])
        self.leopard(values, "Laplace/Boundary values=3: 1", swept, "Run/Directory=swept", fails=True)
        self.assertFalse((self.folder / "swept").exists(), "the sweep has begun")
