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
