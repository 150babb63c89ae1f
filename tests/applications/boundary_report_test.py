# SPDX-License-Identifier: Apache-2.0
"""What the log says of the boundary: conditions by id, ids for which nothing is given, sides in no physical group, and gaps in meshes from files."""
from mesh_file_test import SQUARE, msh
from program import Program

LAPLACE = "set Problem = laplace\nsubsection Laplace\n set Source = 1\nend\nsubsection Mesh\n set Global refinements = 2\nend\nsubsection Linear solver\n set Method = direct\nend\n"
TURING = ("set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Steady state = none\n set Species = u, v\n set Reaction u = -u\n set Reaction v = -v\n"
          " set Diffusion u = 1\n set Diffusion v = 1\nend\nsubsection Mesh\n set Global refinements = 2\nend\n"
          "subsection Time stepping\n set Step control = fixed\n set Step size = 0.01\n set End time = 0.01\nend\n")
# two unit squares side by side; the second has nodes 5 and 8 of its own where 2 and 3 are, or node 8 only, or stands elsewhere
SQUARES = ["3 2 1 1 1 2 3 4", "3 2 1 1 5 6 7 8"]
APART, CRACK = [*SQUARE, (1, 0, 0), (2, 0, 0), (2, 1, 0), (1, 1, 0)], [*SQUARE, (2, 0, 0), (2, 1, 0), (1 + 1e-14, 1, 0)]
GAP = ["3 2 1 1 1 2 3 4", "3 2 1 1 2 5 6 7"]


class BoundaryReports(Program):
    def log_of(self, text, *settings, **options):
        return self.leopard(self.write("conditions.prm", text), *settings, **options)

    def from_file(self, nodes, elements, *settings, text=LAPLACE):
        self.write("given.msh", msh(nodes, elements))
        return self.log_of(text, "Mesh/Domain=file", "Mesh/File=given.msh", *settings)

    def test_conditions_by_id(self):
        """Without it, whoever names one id gets no flux elsewhere, and no word of it."""
        for settings, says in ((("0: 0",), "u = 0 on 0; nothing is given for 1, 2, 3: no flux"), (("automatic",), "u = 0 on 0, 1, 2, 3"),
                               (("1: x; 0: x; 2: 3", "3: -1"), "u = x on 0, 1; u = 3 on 2; flux = -1 on 3"), (("0: 1; *: 2", "1: 0"), "u = 1 on 0; flux = 0 on 1; u = 2 on 2, 3"),
                               (("0: " + "+".join(["x"] * 60), "*: 0"), "u = " + "x+" * 38 + "x... on 0; flux = 0 on 1, 2, 3")):
            said = self.log_of(LAPLACE, *(f"Laplace/Boundary {what}={value}" for what, value in zip(("values", "fluxes"), settings)))
            self.assertEqual([line for line in said.splitlines() if line.startswith("boundary")], ["boundary: " + says])
            self.assertEqual(self.run_json("conditions")["boundary"], {"u": says})
            self.assertIn("boundary: " + says, self.log("conditions"))
            self.assertNotIn("warning", said)
        self.assertIn("boundary: u = x on 0, 1, 2, 3\n", self.log_of(LAPLACE, "Laplace/Exact solution=x", "Laplace/Source=0"))
        for settings, ids in ((("Mesh/Periodic=x",), "2, 3"), (("Dimension=3",), "0, 1, 2, 3, 4, 5")):
            self.assertIn(f"boundary: u = 0 on {ids}\n", self.log_of(LAPLACE, *settings, ranks=2))

    def test_problems_in_time(self):
        self.assertNotIn("boundary", self.log_of(TURING))
        said = self.log_of(TURING, "Turing/Boundary values u=0: t", "Turing/Boundary fluxes v=*: 0")
        for line in ("boundary of u: u = t on 0; nothing is given for 1, 2, 3: no flux\n", "boundary of v: flux = 0 on 0, 1, 2, 3\n"):
            self.assertEqual(said.count(line), 1, said)

    def test_sides_in_no_physical_group(self):
        elements = ["3 2 1 1 1 2 3 4", "1 2 7 1 1 2"]
        said = self.from_file(SQUARE, elements, "Laplace/Boundary values=7: 0")
        self.assertIn("boundary: u = 0 on 7; nothing is given for 0: no flux\n", said)
        self.assertRegex(said, "warning: sides at the boundary of '.*given.msh' are in no physical group")
        for values in ("7: 0; 0: 0", "7: 0; *: 0"):
            self.assertNotIn("warning", self.from_file(SQUARE, elements, f"Laplace/Boundary values={values}"))
        self.assertNotIn("warning", self.from_file(SQUARE, elements, "Laplace/Boundary values=7: 0", "Laplace/Boundary fluxes=0: 0"))
        said = self.from_file(SQUARE, elements, "Turing/Boundary values u=7: 0", text=TURING)
        self.assertEqual(said.count("are in no physical group"), 1, said)

    def named(self, *names, elements=("3 2 1 1 1 2 3 4", "1 2 7 1 1 2", "1 2 9 1 2 3")):
        """A square with groups of lines 7 and 9, and these lines of $PhysicalNames."""
        text = msh(SQUARE, list(elements))
        self.write("given.msh", text.replace("$EndMeshFormat\n", "$EndMeshFormat\n$PhysicalNames\n" + "\n".join([str(len(names)), *names]) + "\n$EndPhysicalNames\n", 1))

    def test_names_of_physical_groups(self):
        names = ('1 7 "inlet"', '1 9 "wall, cold"', '2 1 "plate"')
        self.named(*names)
        from_file = ("Mesh/Domain=file", "Mesh/File=given.msh")
        for values, says in (("inlet: 1; wall, cold: x; *: 0", "u = 0 on 0; u = 1 on 7 (inlet); u = x on 9 (wall, cold)"),
                             (" inlet:y>0.5 ? 1 : 2;9: 3", "nothing is given for 0: no flux")):
            for ranks in (1, 2):
                said = self.log_of(LAPLACE, f"Laplace/Boundary values={values}", *from_file, ranks=ranks)
                self.assertIn(says, said)
        self.assertIn("flux = 2 on 9 (wall, cold)", self.log_of(LAPLACE, "Laplace/Boundary values=inlet: 1", "Laplace/Boundary fluxes=wall, cold: 2", *from_file))
        self.assertIn("boundary of v: v = 0 on 7 (inlet)", self.log_of(TURING, "Turing/Boundary values v=inlet: 0", *from_file))
        self.assertIn("    7 (inlet): 1 lines, length 1\n    9 (wall, cold): 1 lines", self.described())

    def test_names_that_the_mesh_does_not_have(self):
        from_file = ("Mesh/Domain=file", "Mesh/File=given.msh")
        names = ('1 7 "inlet"', '1 9 "wall"', '2 1 "plate"')
        for lines, values, says in ((names, "inlett: 1", ["'Laplace/Boundary values' names the boundary 'inlett'", "expected: 'inlet', 'wall', a boundary id, or *"]),
                                    (names, "plate: 1", ["names the boundary 'plate'"]),
                                    (names, "inlet: 1; 7: 2", ["names the boundary id 7 twice"]),
                                    (('1 7 "inlet"', '1 9 "inlet"'), "inlet: 1", ["the boundary 'inlet', a name of the ids 7 and 9"]),
                                    (("1 7 inlet",), "7: 1", ["given.msh' cannot be used: line 6 is '1 7 inlet'", "DIMENSION NUMBER"]),
                                    (('1 7 "in:let"', '1 9 "#"'), "in:let: 1", ["names the boundary 'in'", "given.msh' has a name that can stand here"]),
                                    ((), "inlet: 1", ["no physical group of the boundary of ", "given.msh' has a name"])):
            with self.subTest(values=values, lines=lines):
                self.named(*lines)
                for ranks in (1, 2):
                    said = self.log_of(LAPLACE, f"Laplace/Boundary values={values}", *from_file, fails=True, ranks=ranks)
                    for text in says:
                        self.assertIn(text, said)

    def test_names_without_a_mesh_that_has_some(self):
        """That the file is not there was hidden by what was said of the name."""
        said = self.log_of(LAPLACE, "Laplace/Boundary values=inlet: 1", "Mesh/Domain=file", "Mesh/File=nope.msh", fails=True)
        self.assertRegex(said, "names the boundary 'inlet', which is not there.*\n.*the mesh file '.*nope.msh' cannot be read")
        self.assertIn("only physical groups of a mesh file have names", self.log_of(LAPLACE, "Laplace/Boundary values=inlet: 1", fails=True))

    def test_unusual_lists_of_names(self):
        """A name of 30,000 characters ended the program without a word."""
        long = "a" * 100000
        self.named(f'1 7 "{long}"', '1 9 " wall "', '1 9 " wall "', "", '3 4000000000 "far"', '1 -3 "turned"')
        said = self.log_of(LAPLACE, f"Laplace/Boundary values={long}: 1; wall: 2", "Mesh/Domain=file", "Mesh/File=given.msh")
        self.assertIn("u = 2 on 9 (wall)", said)
        text = (self.folder / "given.msh").read_text()
        self.write("given.msh", text.replace("$PhysicalNames", "$Comments\n$PhysicalNames\n$EndComments\n$PhysicalNames", 1))
        self.assertIn("u = 2 on 9 (wall)", self.log_of(LAPLACE, "Laplace/Boundary values=wall: 2", "Mesh/Domain=file", "Mesh/File=given.msh"))
        self.write("given.msh", text.replace("$PhysicalNames\n6\n", "$PhysicalNames\n", 1))
        self.assertIn("the number of names", self.log_of(LAPLACE, "Laplace/Boundary values=wall: 2", "Mesh/Domain=file", "Mesh/File=given.msh", fails=True))

    def described(self):
        return self.leopard("--describe-mesh", options=("given.msh",))

    def test_gaps_in_meshes(self):
        """They are solved with an insulating crack inside."""
        for nodes, elements, says in ((APART, SQUARES, "2 parts that do not touch, and 2 nodes at its boundary that stand at the place of another one, for example at (1, 0): "),
                                      (CRACK, GAP, "the mesh has 1 node at its boundary that stands at the place of another one, for example at (1, 1): "),
                                      ([*SQUARE, *((x + 3, y, z) for x, y, z in SQUARE)], SQUARES, "the mesh has 2 parts that do not touch: ")):
            said = self.from_file(nodes, elements)
            self.assertIn("warning: ", said)
            for text in (said, self.described()):
                self.assertIn(says, text)
                self.assertIn("Coherence", text)
        self.assertNotIn("warning", self.from_file([*SQUARE, (2, 0, 0), (2, 1, 0)], ["3 2 1 1 1 2 3 4", "3 2 1 1 2 5 6 3"]))
        self.assertNotIn("warning", self.described())

    def test_gaps_in_thin_meshes(self):
        """Places were compared with the long side, beside which all nodes of the short one stood at one place."""
        def thin(nodes):
            return [(1e6 * x, 1e-6 * y, z) for x, y, z in nodes]
        for nodes, elements, says in ((CRACK, GAP, "1 node at its boundary that stands at the place of another one, for example at (1e+06, 1e-06): "),
                                      ([*SQUARE, (1, 0.5, 0), (2, 0, 0), (2, 0.5, 0), (2, 1, 0)], ["3 2 1 1 1 2 3 4", "3 2 1 1 2 6 7 5", "3 2 1 1 5 7 8 3"],
                                       "1 node at its boundary that stands inside an edge of another cell (T-junctions), for example at (1e+06, 5e-07): ")):
            self.write("given.msh", msh(thin(nodes), elements))
            self.assertIn("warning: the mesh has " + says, self.described())
        # three quadrilaterals in a row
        row = [(x, y, 0) for x in range(4) for y in (0, 1)]
        self.write("given.msh", msh(thin(row), [f"3 2 1 1 {i} {i + 2} {i + 3} {i + 1}" for i in (1, 3, 5)]))
        self.assertNotIn("warning", self.described())

    def test_nodes_on_the_edge_of_another_cell(self):
        """T-junctions: the cells on both sides are not neighbours, and the crack between them was taken for a boundary."""
        halves = [*SQUARE, (1, 0.5, 0), (2, 0, 0), (2, 0.5, 0), (2, 1, 0)]
        cells = ["3 2 1 1 1 2 3 4", "3 2 1 1 2 6 7 5", "3 2 1 1 5 7 8 3"]
        thin = [(x, 1e-6 * y, z) for x, y, z in halves]
        where = " node at its boundary that stands inside an edge of another cell (T-junctions), for example at (1, "
        for nodes, place in ((halves, "0.5): "), (thin, "5e-07): "), ([*halves[:4], (1 + 1e-12, 0.3, 0), *halves[5:]], "0.3): ")):
            said = self.from_file(nodes, cells)
            for text in (said, self.described()):
                self.assertIn("warning: the mesh has 1" + where + place, text)
                self.assertIn("the same nodes", text)
        said = self.from_file(halves, cells, text=TURING)
        self.assertIn(where, said)
        self.assertNotIn("warning", self.from_file([*halves[:4], (1.1, 0.5, 0), *halves[5:]], cells))  # a hole is no gap
        triangles = [*SQUARE, (0.5, 0.5, 0)]
        self.assertIn("1 node at its boundary that stands inside an edge", self.from_file(triangles, ["2 2 1 1 1 2 3", "2 2 1 1 1 5 4", "2 2 1 1 5 3 4"], "Mesh/Global refinements=0"))
        # in space: a cube beside four boxes, which have a node in the middle of its face and four on its edges, and beside one
        columns = [(x, y, z) for z in (0, 0.5, 1) for y in (0, 0.5, 1) for x in (1, 2)]
        box = [f"5 2 1 1 {' '.join(str(9 + 6 * (k + c) + 2 * (j + b) + a) for c in (0, 1) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1)))}" for k in (0, 1) for j in (0, 1)]
        cube = "5 2 1 1 1 2 3 4 5 6 7 8"
        corners = [(x, y, z) for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
        nodes, of_cube = corners + columns, {9: 2, 13: 3, 21: 6, 25: 7}  # corners that they have in common
        joint = [" ".join([*cell.split()[:4], *(str(of_cube.get(int(node), int(node))) for node in cell.split()[4:])]) for cell in box]
        said = self.from_file(nodes, [cube, *joint], "Dimension=3", "Mesh/Global refinements=0")
        self.assertIn("the mesh has 5 nodes at its boundary that stand inside an edge or a face of another cell (T-junctions), for example at (1, 0.5, 0): ", said)
        self.assertIn("5 nodes at its boundary that stand inside an edge or a face", self.described())
        self.assertNotIn("warning", self.from_file(columns, [" ".join([*cell.split()[:4], *(str(int(node) - 8) for node in cell.split()[4:])]) for cell in box], "Dimension=3", "Mesh/Global refinements=0"))

    def test_layers_thinner_than_a_cell(self):
        """Finite elements oscillate beside the boundary, between -0.6 and 1 where the solution is between 0 and 1."""
        file = "set Problem = helmholtz\nsubsection Helmholtz\n set Delta = 1e6\n set Source = 0\n set Boundary values = 1: 1\nend\nsubsection Mesh\n set Global refinements = 4\nend\nsubsection Linear solver\n set Method = direct\nend\n"
        said = self.log_of(file)
        self.assertIn("warning: absorption is strong on a cell, sqrt(delta) h is up to 62.5, at (1, 0.", said)
        self.assertIn("to try: 'Discretization/Method' = finite differences, which do not oscillate, or 6 more of 'Mesh/Global refinements'", said)
        self.assertLess(self.run_json("conditions")["cycles"][0]["u"]["minimum"], -0.1)
        self.assertIn("sqrt(delta) h is up to 62.5", self.log_of(file, ranks=2))
        self.assertIn("sqrt(delta) h is up to 31.2", self.log_of(file, "Discretization/Degree=2"))
        self.assertIn("sqrt(delta) h is up to 15.6", self.log_of(file, "Verification/Refinements=2", "Helmholtz/Exact solution=exp(1000*(x-1))"))
        self.assertIn("to try: 8 more of", self.from_file(SQUARE, ["3 2 1 1 1 2 3 4"], "Helmholtz/Boundary values=0: 1", "Mesh/Global refinements=2", text=file))
        for settings in (["Discretization/Method=finite differences"], ["Helmholtz/Delta=1000"], ["Helmholtz/Source=1e6"], ["Helmholtz/Boundary values="], ["Mesh/Adaptive=true"],
                         ["Helmholtz/Boundary values=", "Helmholtz/Exact solution=cos(x)*y"]):
            self.assertNotIn("absorption is strong", self.log_of(file, *settings))
