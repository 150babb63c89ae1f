#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests check_meshes.py: it must find each fault in a mesh of two squares."""
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

import check_meshes

NODES = ["1 0 0 0", "2 1 0 0", "3 2 0 0", "4 0 1 0", "5 1 1 0", "6 2 1 0"]
LINES = ["1 2 1 1 1 2", "1 2 1 1 2 3", "1 2 2 2 3 6", "1 2 1 1 6 5", "1 2 1 1 5 4", "1 2 1 1 4 1"]
QUADS = ["3 2 1 1 1 2 5 4", "3 2 1 1 2 3 6 5"]


class CheckMeshes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, nodes=NODES, elements=LINES + QUADS, version="2.2 0 8"):
        path = self.folder / "two.msh"
        numbered = [f"{i + 1} {element}" for i, element in enumerate(elements)]
        path.write_text("\n".join(["$MeshFormat", version, "$EndMeshFormat", "$Nodes", str(len(nodes)), *nodes, "$EndNodes",
                                   "$Elements", str(len(numbered)), *numbered, "$EndElements", ""]))
        return path

    def fails(self, message, **mesh):
        with self.assertRaisesRegex(check_meshes.Bad, message):
            check_meshes.check(self.write(**mesh))

    def test_good(self):
        self.assertEqual(check_meshes.check(self.write()), (2, {1, 2}, [2., 1.], 1.))
        self.assertEqual(check_meshes.check(self.write(elements=["15 2 9 1 1"] + LINES + QUADS)), (2, {1, 2}, [2., 1.], 1.))  # Gmsh's physical points

    def test_faults(self):
        self.fails("not MSH 2.2", version="4.1 0 8")
        self.fails("triangle", elements=LINES + QUADS[:1] + ["2 2 1 1 2 3 6", "2 2 1 1 2 6 5"])
        self.fails("Jacobian -1", elements=LINES + [QUADS[0], "3 2 1 1 5 6 3 2"])
        self.fails("Jacobian 0.1", nodes=NODES[:5] + ["6 1.55 0.55 0"])
        self.fails("off z = 0", nodes=NODES[:5] + ["6 2 1 1"])
        self.fails("belong to no cell", nodes=NODES + ["7 3 3 0"])
        self.fails("boundary ids on 5 faces", elements=LINES[1:] + QUADS)
        self.fails("boundary ids on 7 faces", elements=LINES + ["1 2 3 3 2 5"] + QUADS)
        self.fails("not there", elements=LINES + ["3 2 1 1 1 2 5 9", QUADS[1]])
        self.fails("no cells", elements=LINES)
        self.fails("not understood", nodes=NODES[:5] + ["6 2 one 0"])
        path = self.write()
        path.write_text(path.read_text().replace("$EndNodes\n", ""))
        with self.assertRaisesRegex(check_meshes.Bad, "no whole section .Nodes"):
            check_meshes.check(path)

    def test_closed_surface(self):
        nodes = [f"{1 + i + 2 * j + 4 * k} {i} {j} {2 * k}" for k in (0, 1) for j in (0, 1) for i in (0, 1)]
        box = [f"3 2 1 1 {face}" for face in ("1 3 4 2", "5 6 8 7", "1 2 6 5", "3 7 8 4", "1 5 7 3", "2 4 8 6")]
        self.assertEqual(check_meshes.check(self.write(nodes=nodes, elements=box)), (6, set(), [1., 1., 2.], 1.))
        self.fails("no closed surface: 4 edges", nodes=nodes, elements=box[:-1])
        self.fails("opposite orientation", nodes=nodes, elements=box[:-1] + ["3 2 1 1 2 6 8 4"])
        self.fails("boundary ids on 1 faces", nodes=nodes, elements=["1 2 1 1 1 2"] + box)
        self.fails("Jacobian", nodes=nodes[:7] + ["8 0.1 0.1 2"], elements=box)

    def test_folder(self):
        def wrong(row):
            (self.folder / "README.md").write_text(row)
            return {name: message for name, message, _ in check_meshes.check_folder(self.folder)}

        self.write()
        (self.folder / "two.geo").touch()
        row = "| `two.msh` | two squares | 2 | 1: here, 2: right | 2.00 x 1.00 | 1.00 |\n"
        self.assertEqual(wrong(row), {"two.msh": None})
        self.assertIn("README.md says", wrong(row.replace("2: right", "3: right"))["two.msh"])
        self.assertIn("README.md says None", wrong("")["two.msh"])
        self.assertIn("not in the folder", wrong(row + row.replace("two.msh", "three.msh"))["three.msh"])
        (self.folder / "two.geo").unlink()
        self.assertIn("no .geo", wrong(row)["two.msh"])
        (self.folder / "two.py").touch()
        self.assertEqual(wrong(row), {"two.msh": None})

    def test_scripts_make_their_meshes(self):
        meshes = pathlib.Path(__file__).resolve().parents[2] / "meshes"
        for script in meshes.glob("*.py"):
            subprocess.run([sys.executable, script, self.folder / "made.msh"], check=True)
            nodes, elements = check_meshes.read(self.folder / "made.msh")
            expected_nodes, expected_elements = check_meshes.read(script.with_suffix(".msh"))
            self.assertEqual(elements, expected_elements)
            self.assertEqual(nodes.keys(), expected_nodes.keys())
            for number, point in nodes.items():
                self.assertLess(math.dist(point, expected_nodes[number]), 1e-4)


if __name__ == "__main__":
    unittest.main()
