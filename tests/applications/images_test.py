# SPDX-License-Identifier: Apache-2.0
"""Coefficients and initial values from pictures, tables and fields of VTU files: values at nodes, kinds of files, where names may stand, resume, and what is refused."""
import struct
import zlib

from initial_values_test import ASCII, plane, vtu
from program import ROOT, Program

TINY = ROOT / "tests/output/tiny_turing.prm"
EXACT = ["Linear solver/Method=direct", "Newton/Relative tolerance=1e-12", "Time stepping/Engine=general"]

# of the picture 0, 1 above 0.2, 0.4 on the unit square: bilinear between the centres of the pixels, as at the outermost ones beyond
COLUMN, ROW = "max(0, min(1, 2*x - 0.5))", "max(0, min(1, 1.5 - 2*y))"
BILINEAR = f"(1 - {ROW})*{COLUMN} + {ROW}*(0.2 + 0.2*{COLUMN})"

STANDING = """set Problem = turing
subsection Turing
 set Kinetics = expressions
 set Species = u
 set Reaction u = 0*u
 set Diffusion u = 1e-14
 set Steady state = none
 set Images = coat: {file}
 set Initial value u = coat
 set Exact solution u = {exact}
 set Source u = 0
end
subsection Mesh
 set Global refinements = 3
end
subsection Time stepping
 set Step control = fixed
 set Step size = 1e-6
 set End time = 1e-6
end
subsection Verification
 set Refinements = 1
end
"""


def png(rows, bits=8, color=0):
    """A PNG, grey (color 0), grey with transparency (4), or of colours (2); rows of bytes or 16 bit numbers."""
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    channels = {0: 1, 2: 3, 4: 2}[color]
    raw = b"".join(b"\0" + b"".join(struct.pack(">B" if bits == 8 else ">H", value) for value in row) for row in rows)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]) // channels, len(rows), bits, color, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


class Images(Program):
    def write_bytes(self, name, content):
        (self.folder / name).write_bytes(content)
        return name

    def error_at_nodes(self, file, exact, *settings):
        self.leopard(self.write("standing.prm", STANDING.format(file=file, exact=exact)), *settings)
        return max(float(row["nodal_maximum_error"]) for row in self.convergence("standing"))

    def test_values_at_nodes(self):
        files = {"grey.png": png([[0, 255], [51, 102]]), "deep.png": png([[0, 65535], [13107, 26214]], bits=16), "alpha.png": png([[0, 9, 255, 9], [51, 9, 102, 9]], color=4),
                 "colour.png": png([[0] * 3 + [255] * 3, [51] * 3 + [102] * 3], color=2), "plain.pgm": b"P2\n# a comment\n2 2 10\n0 10 2 4\n",
                 "binary.pgm": b"P5 2 2 255\n" + bytes([0, 255, 51, 102]), "deep.pgm": b"P5 2 2 65535\n" + struct.pack(">4H", 0, 65535, 13107, 26214),
                 "table.csv": b"0, 1\n0.2 , 4e-1\n\n", "marked.csv": b"\xef\xbb\xbf0;1\r\n0.2;0.4\r\n", "blanks.csv": b" 0 1\n0.2\t 0.4"}
        for name, content in files.items():
            self.assertLess(self.error_at_nodes(self.write_bytes(name, content), BILINEAR), 1e-9, name)
        self.assertGreater(self.error_at_nodes("table.csv", BILINEAR.replace("1.5 - 2*y", "2*y - 0.5")), 0.1)  # upside down
        red = png([[255, 0, 0, 0, 255, 0, 0, 0, 255]], color=2)
        self.assertLess(self.error_at_nodes(self.write_bytes("red.png", red), "if(x < 0.5, 0.2126 + (0.7152 - 0.2126)*max(0, 3*x - 0.5), 0.7152 + (0.0722 - 0.7152)*min(1, 3*x - 1.5))"), 1e-9)

    def test_other_domains(self):
        """Stretched over the box around them; constant along z; relative to the file's folder."""
        self.write_bytes("table.csv", b"0, 1\n0.2, 0.4\n")
        on_box = BILINEAR.replace("2*x", "x").replace("2*y", "1/2*(y + 1)")
        self.assertLess(self.error_at_nodes("table.csv", on_box, "Mesh/Domain=box", "Mesh/Lower corner=0, -1", "Mesh/Upper corner=2, 3"), 1e-9)
        self.assertLess(self.error_at_nodes("table.csv", BILINEAR, "Dimension=3", "Mesh/Global refinements=2"), 1e-9)
        ball = BILINEAR.replace("2*x", "(x + 1)").replace("2*y", "(y + 1)")
        self.assertLess(self.error_at_nodes("table.csv", ball, "Mesh/Domain=ball", "Discretization/Method=finite elements", "Mesh/Global refinements=2"), 1e-2)
        (self.folder / "deep").mkdir()
        (self.folder / "table.csv").rename(self.folder / "deep/table.csv")
        file = self.write("deep/standing.prm", STANDING.format(file="table.csv", exact=BILINEAR))
        self.leopard(file, ranks=2)
        self.assertLess(float(self.convergence("standing")[-1]["nodal_maximum_error"]), 1e-9)

    def test_where_names_may_stand(self):
        """A picture of one number is that number."""
        self.write("two.csv", "2\n")
        images = f"Turing/Images=two: {self.folder}/two.csv"
        ends = lambda *settings: (self.leopard(TINY, *EXACT, "Turing/kappa=12", *settings), self.statistics("tiny_turing")[1][-1][10:16])[1]
        number = ends()
        for setting in ("gamma=50*two", "kappa=6*two", "Diffusion u=two/2", "Diffusion tensor u=two - 1, 0, two/2", "Initial value v=two - 2", "Source u=two - 2"):
            for a, b in zip(number, ends(images, "Turing/" + setting)):
                self.assertAlmostEqual(a, b, delta=1e-11, msg=setting)
        for entry in ("Boundary values u", "Boundary fluxes u"):
            for a, b in zip(ends(f"Turing/{entry}=2: 2*x"), ends(images, f"Turing/{entry}=2: two*x")):
                self.assertAlmostEqual(a, b, delta=1e-11, msg=entry)
        start = ["Turing/Start from steady state=false", "Turing/Initial value u=0.9", "Turing/Initial value v=0.9 + 0.1*x"]
        for with_number, with_picture in ((["Turing/Schnakenberg a=0.2"], ["Turing/Schnakenberg a=two/10"]),
                                          (["Turing/Kinetics=expressions", "Turing/kappa=10", "Turing/Diffusion u=1", "Turing/Diffusion v=2", "Turing/Reaction u=0.2 - u + u^2*v", "Turing/Reaction v=1 - u^2*v"],
                                           ["Turing/Kinetics=expressions", "Turing/kappa=10", "Turing/Diffusion u=1", "Turing/Diffusion v=two", "Turing/Reaction u=two/10 - u + u^2*v", "Turing/Reaction v=1 - u^two*v"])):
            for a, b in zip(ends(*start, *with_number), ends(*start, images, *with_picture)):
                self.assertAlmostEqual(a, b, delta=1e-9)
        said = [next(line for line in self.leopard(TINY, images, f"Turing/gamma={gamma}*(1 + x)", options=["--validate"]).splitlines() if "elsewhere: " in line)
                for gamma in ("100", "50*two")]
        self.assertIn("of 25 points of a box around the domain, at t = 0 and each with its own numbers, 25 are unstable to a pattern", said[0])
        self.assertEqual(said[0], said[1])

    def test_what_the_log_says(self):
        """File, size and box of each; a warning where pixels are no squares, a table has none; and which nobody names."""
        self.write_bytes("wide.pgm", b"P5 40 10 255\n" + bytes(range(200)) * 2)
        self.write("table.csv", "1, 2, 3, 4\n")
        images = f"Turing/Images=wide: {self.folder}/wide.pgm, table: {self.folder}/table.csv, idle: {self.folder}/table.csv"
        said = self.leopard(TINY, images, "Turing/gamma=50 + 50*wide + table")
        self.assertIn(f"picture wide: {self.folder}/wide.pgm, 40 x 10 numbers over [0, 1] x [0, 1]", said)
        self.assertIn(f"picture table: {self.folder}/table.csv, 4 x 1 numbers over [0, 1] x [0, 1]", said)
        self.assertIn("warning: the picture wide is stretched: its pixels are 4 times as long in one direction as in the other", said)
        self.assertEqual(said.count("is stretched"), 1, said)
        self.assertIn("not used: 'Turing/Images/idle' (no expression of the run names it)", said)
        self.assertEqual([item["entry"] for item in self.run_json("tiny_turing")["not_used"] if "Images" in item["entry"]], ["Turing/Images/idle"])
        self.assertNotIn("is stretched", self.leopard(TINY, images, "Turing/gamma=50 + 50*wide + table", "Mesh/Upper corner=4, 1.05", options=["--validate"]))

    def test_sweep_and_resume(self):
        self.write("coat.csv", "1 2\n3 4\n")
        images = f"Turing/Images=coat: {self.folder}/coat.csv"
        runs = self.sweep(TINY, {"gamma": ["50*coat", "100*coat"]}, images, "Time stepping/End time=2e-3")
        self.assertEqual(len({tuple(self.statistics(name)[1][-1][10:16]) for _, name in runs}), 2)
        self.leopard(TINY, images, "Turing/gamma=50*coat", "Time stepping/End time=2e-3")
        self.assertEqual(len(self.run_json("tiny_turing")["pictures"]), 1)
        again = [images, "Turing/gamma=50*coat", "Time stepping/End time=4e-3"]
        self.write("coat.csv", "1 2\n3 4.5\n")
        self.assertIn("coat.csv' of 'Turing/Images' has another content than it had in the run", self.leopard(TINY, *again, options=["--resume"], fails=True))
        self.write("coat.csv", "1 2\n3 4\n")
        self.leopard(TINY, *again, options=["--resume"])
        self.assertIn("'Turing/Images'", self.leopard(TINY, images.replace("coat:", "hide:"), "Turing/gamma=50*hide", "Time stepping/End time=5e-3", options=["--resume"], fails=True))
        field = [f"Turing/Images=old: {self.folder}/output/tiny_turing/solution/solution_0000000.pvtu: u", "Turing/gamma=50*old", "Run/Directory=output/second"]
        self.leopard(TINY, *field, "Time stepping/End time=2e-3")
        piece = next((self.folder / "output/tiny_turing/solution").glob("solution_0000000*.vtu"))
        text = piece.read_text()
        piece.write_text(text + "<!-- changed -->")
        self.assertIn(f"{piece.name}' of 'Turing/Images' has another content", self.leopard(TINY, *field, "Time stepping/End time=4e-3", options=["--resume"], fails=True))
        piece.write_text(text)
        self.leopard(TINY, *field, "Time stepping/End time=4e-3", options=["--resume"])

    def test_fields_of_vtu_files(self):
        """A linear field is the same on every mesh: of triangles in a file, of another run; in space and on a surface, whose cells are curved."""
        points, cells, types, fields = plane(3, True)
        old = self.write_bytes("old.vtu", vtu(points, cells, types, fields, ASCII))
        self.assertLess(self.error_at_nodes(f"{old}: u", "1 + x + 2*y"), 1e-9)
        self.leopard(self.folder / "standing.prm", ranks=2)
        self.assertLess(float(self.convergence("standing")[-1]["nodal_maximum_error"]), 1e-9)
        named = self.write_bytes("named.vtu", vtu(points, cells, types, {"coat": fields["u"]}, ASCII))
        self.assertLess(self.error_at_nodes(named, "1 + x + 2*y"), 1e-9)
        alone = ("Verification/Refinements=0", "Turing/Exact solution u=")
        for domain, exact, most in ((["Dimension=3", "Mesh/Global refinements=2"], "1 + x + 2*y + 3*z", 1e-6), (["Mesh/Domain=sphere", "Discretization/Method=finite elements"], "3 + x + z", 2e-2)):
            text = STANDING.replace(" set Images = coat: {file}\n", "").replace("= coat", f"= {exact}").format(exact=exact)
            self.leopard(self.write("writes.prm", text), *domain, *alone, "Run/Directory=output/writes")
            end = sorted((self.folder / "output/writes/solution").glob("*.pvtu"))[-1]
            self.assertLess(self.error_at_nodes(f"{end.relative_to(self.folder)}: u", exact, *domain, "Mesh/Global refinements=3"), most)

    def test_pieces_without_cells(self):
        """A rank without cells writes a piece without them; it says nothing, wherever it stands."""
        points, cells, types, fields = plane(3, False)
        fields["v"] = fields["other"]
        self.write_bytes("full.vtu", vtu(points, cells, types, fields, ASCII))
        self.write_bytes("none.vtu", vtu([], [], [], {name: [] for name in fields}, ASCII))
        for order in (("full", "none"), ("none", "full")):
            pieces = "".join(f'<Piece Source="{name}.vtu"/>' for name in order)
            self.write_bytes("both.pvtu", f'<VTKFile type="PUnstructuredGrid"><PUnstructuredGrid>{pieces}</PUnstructuredGrid></VTKFile>'.encode())
            tiny = self.write("tiny.prm", TINY.read_text())
            values = []
            for source in ("full.vtu", "both.pvtu"):
                self.leopard(tiny, f"Turing/Images=old: {source}: u", "Turing/gamma=50*old", "Run/Directory=output/" + source)
                columns, rows = self.statistics(source)
                values.append([value for row in rows for column, value in zip(columns, row) if " of u" in column])
            self.assertTrue(values[0])
            self.assertEqual(values[0], values[1])
            self.leopard(tiny, "Turing/Initial values from=" + str(self.folder / "both.pvtu"), "Run/Directory=output/from")

    def test_coefficients_that_are_fields(self):
        """As the expression that the field is: in both time loops, for the reaction, its constants and diffusion."""
        points, cells, types, fields = plane(4, False)
        self.write_bytes("old.vtu", vtu(points, cells, types, fields, ASCII))
        images = f"Turing/Images=old: {self.folder}/old.vtu: u"
        start = ["Turing/Start from steady state=false", "Turing/Initial value u=0.9", "Turing/Initial value v=0.9 + 0.1*x"]
        for entry, value in (("gamma", "50*{}"), ("Schnakenberg a", "0.1*{}"), ("Diffusion u", "{}"), ("Diffusion tensor v", "20*{0}, 1, 20*{0}"), ("Cross-diffusion u", "v: 0.1*u*{}")):
            ends = []
            for more, engine in ((["Turing/" + entry + "=" + value.format("(1 + x + 2*y)")], "automatic"), ([images, f"Turing/{entry}=" + value.format("old")], "automatic"),
                                 ([images, f"Turing/{entry}=" + value.format("old")], "general")):
                said = self.leopard(TINY, "Turing/gamma=100", *start, *more, "Newton/Relative tolerance=1e-11", "Linear solver/Relative tolerance=1e-11", f"Time stepping/Engine={engine}")
                ends.append(self.statistics("tiny_turing")[1][-1][10:16])
            for one, *others in zip(*ends):
                for other in others:
                    self.assertAlmostEqual(one, other, delta=1e-7, msg=entry)
        self.assertIn(f"field old: u of {self.folder}/old.vtu, from (0, 0) to (1, 1)", said)

    def test_fields_that_are_refused(self):
        points, cells, types, fields = plane(3, False)
        tiny = self.write("tiny.prm", TINY.read_text())
        self.leopard(tiny)
        before = (self.folder / "output/tiny/run.json").read_text()
        nan = dict(fields, u=[float("nan") if i == 5 else value for i, value in enumerate(fields["u"])])
        for name, content in (("small.vtu", vtu(*plane(3, False, size=0.5), ASCII)), ("nan.vtu", vtu(points, cells, types, nan, ASCII)), ("good.vtu", vtu(points, cells, types, fields, ASCII)),
                              ("half.vtu", vtu(points, cells, types, fields, ASCII)[:300]), ("lines.vtu", vtu(points, [cell[:2] for cell in cells], [3] * len(cells), fields, ASCII)),
                              ("none.vtu", vtu([], [], [], {"u": []}, ASCII)), ("gone.pvtu", b'<VTKFile type="PUnstructuredGrid"><PUnstructuredGrid><Piece Source="gone.vtu"/></PUnstructuredGrid></VTKFile>')):
            self.write_bytes(name, content)
        self.invalid([(tiny, [f"Turing/Images=old: {file}", "Turing/gamma=old"], ["'Turing/Images', old: ", *says]) for file, says in (
            ("good.vtu", ["good.vtu' has no field 'old'", "NAME: FILE: FIELD with a field of the file; there are u, other"]), ("good.vtu: w", ["has no field 'w'"]), ("missing.vtu: u", ["missing.vtu"]),
            ("half.vtu: u", ["is no whole XML file"]), ("lines.vtu: u", ["has no cells of dimension 2"]), ("gone.pvtu: u", ["gone.vtu"]),
            ("none.vtu: u", ["none.vtu' has no cells of dimension 2"]), ("legacy.vtk: u", ["a field is asked of 'legacy.vtk'", "ends in .vtu or .pvtu"]))])
        for file, says in (("small.vtu: u", ["'Turing/Images', old, is ", "small.vtu, and 208 of 289 nodes of the mesh lie outside of its cells, for example (0.5", "they reach from (0, 0) to (0.5, 0.5)"]),
                           ("nan.vtu: u", ["'Turing/Images', old, is ", "nan.vtu, where u is nan at ("])):
            for ranks in (1, 2):
                error = self.leopard(tiny, f"Turing/Images=old: {file}", "Turing/gamma=old", ranks=ranks, fails=True)
                for words in says:
                    self.assertIn(words, error)
                self.assertEqual(error.count("leopard: "), 1)
        self.assertEqual(before, (self.folder / "output/tiny/run.json").read_text())

    def test_what_is_refused(self):
        for name, content in (("text.png", b"no picture"), ("short.png", png([[0, 255], [51, 102]])[:-20]), ("none.pgm", b"P2 0 2 255\n"), ("few.pgm", b"P2 2 2 255\n1 2 3\n"),
                              ("large.pgm", b"P2 1 1 255\n256\n"), ("colour.pgm", b"P3 1 1 255\n1 2 3\n"), ("ragged.csv", b"1, 2\n3, 4\n5\n"), ("nan.csv", b"1, 2\n3, nan\n"),
                              ("word.csv", b"1, 2x\n"), ("commas.csv", b"0,5;0,7\n0,25;1,5\n"), ("holes.csv", b"1,,2,3\n4,5,,6\n"), ("end.csv", b"1,2,\n3,4,\n"), ("empty.csv", b"\n"), ("picture.jpg", b"x"), ("good.csv", b"1\n")):
            self.write_bytes(name, content)
        cases = [("coat: text.png", ["text.png' is no PNG that can be read", "a whole PNG picture"]), ("coat: short.png", ["short.png' is no PNG that can be read: it ends too early"]),
                 ("coat: no.png", ["no.png'"]), ("coat: none.pgm", ["a picture of 0 x 2 pixels"]), ("coat: few.pgm", ["has 3 values, and 4 pixels"]),
                 ("coat: large.pgm", ["has the value 256, and 255 as the largest"]), ("coat: colour.pgm", ["is no PGM"]),
                 ("coat: ragged.csv", ["has 1 number in line 3, and 2 in the lines before"]), ("coat: nan.csv", ["has 'nan' in line 2", "finite numbers"]),
                 ("coat: word.csv", ["has '2x' in line 1"]), ("coat: commas.csv", ["has '0,5' in line 1", "decimal points"]), ("coat: holes.csv", ["has an empty cell in line 1"]),
                 ("coat: end.csv", ["has an empty cell in line 1"]), ("coat: empty.csv", ["has no numbers"]), ("coat: picture.jpg", ["ends in .png, .pgm, .csv, .vtu or .pvtu"]),
                 ("x: good.csv", ["'x': it has another meaning"]), ("u: good.csv", ["'u': it has another meaning"]), ("k: good.csv", ["'k': it has another meaning"]),
                 ("sin: good.csv", ["'sin' has a meaning in expressions already"]), ("a: good.csv, a: good.csv", ["'a': it stands there twice"]), ("a", ["a file is missing"]),
                 ("2: good.csv", ["'2' is no name"])]
        self.write("tiny.prm", TINY.read_text())
        self.invalid([("tiny.prm", [f"Turing/Images={images}", "Turing/Constants=k: 3", "Turing/gamma=100"], ["'Turing/Images'", *says]) for images, says in cases])


if __name__ == "__main__":
    import unittest
    unittest.main()
