# SPDX-License-Identifier: Apache-2.0
"""'Initial values from': the end of another run, on the same or another mesh, and VTU files of Leopard and of others."""
import base64
import re
import shutil
import struct
import zlib

from program import ROOT, Program

TINY = ROOT / "tests/output/tiny_turing.prm"
FROM = "Turing/Initial values from="
# Its solution is in every space of finite elements: whoever begins with it has nothing left to do.
LINEAR = """set Problem = laplace
subsection Laplace
  set Boundary values = *: 1 + x + 2*y + 3*z
end
subsection Mesh
  set Global refinements = 2
end
subsection Linear solver
  set Relative tolerance = 1e-13
  set Method             = cg
  set Preconditioner     = jacobi
  set Threads            = 1
end
"""
# Newton's method, with a solution that is no polynomial.
NEWTON = """set Problem = reaction-diffusion
subsection Reaction-diffusion
  set Source = 20*sin(3*x)
end
subsection Mesh
  set Global refinements = 4
end
subsection Newton
  set Relative tolerance = 1e-9
  set Absolute tolerance = 1e-9
end
subsection Linear solver
  set Method  = direct
  set Threads = 1
end
"""


def array(name, kind, values, form, offset=None, n_components=1):
    """A DataArray, and what of it stands in the appended data."""
    code = {"Float64": "d", "Float32": "f", "Int64": "q", "Int32": "i", "UInt8": "B"}[kind]
    head = f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="{n_components}" format="{form["format"]}"'
    if form["format"] == "ascii":
        return head + ">" + " ".join(repr(value) for value in values) + "</DataArray>", b""
    number = form["order"] + {4: "I", 8: "Q"}[form["header"]]
    count = lambda *n: b"".join(struct.pack(number, i) for i in n)
    data = b"".join(struct.pack(form["order"] + code, value) for value in values)
    encode = (lambda *parts: b"".join(parts)) if form.get("raw") else (lambda *parts: b"".join(base64.b64encode(part) for part in parts))
    if form["zlib"]:
        size = 56  # several blocks
        blocks = [data[i:i + size] for i in range(0, len(data), size)]
        packed = [zlib.compress(block) for block in blocks]
        text = encode(count(len(blocks), size, len(data) % size, *map(len, packed)), b"".join(packed))
    elif form.get("apart"):
        text = encode(count(len(data)), data)
    else:
        text = encode(count(len(data)) + data)
    if form["format"] == "appended":
        return head + f' offset="{offset}"/>', text
    return head + ">\n  " + text.decode() + "\n</DataArray>", b""


def vtu(points, cells, types, fields, form, real="Float64"):
    """A file of VTK as others write it."""
    appended = b""

    def add(*arguments, **more):
        nonlocal appended
        text, data = array(*arguments, form, len(appended), **more)
        appended += data
        return text + "\n"
    ends = [sum(map(len, cells[:i + 1])) for i in range(len(cells))]
    text = '<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0"'
    if form["format"] != "ascii":
        text += f' byte_order="{"LittleEndian" if form["order"] == "<" else "BigEndian"}" header_type="UInt{8 * form["header"]}"'
        text += ' compressor="vtkZLibDataCompressor"' if form["zlib"] else ""
    text += f'>\n<!-- of a test --><UnstructuredGrid><Piece NumberOfPoints="{len(points)}" NumberOfCells="{len(cells)}">\n'
    text += "<PointData>" + "".join(add(name, real, values) for name, values in fields.items()) + "</PointData>\n"
    text += "<CellData></CellData><Points>" + add("Points", real, [float(x) for point in points for x in point], n_components=3) + "</Points>\n<Cells>"
    text += add("connectivity", "Int64", [i for cell in cells for i in cell]) + add("offsets", "Int64", ends) + add("types", "UInt8", types)
    text += "</Cells></Piece></UnstructuredGrid>\n"
    end = b"</VTKFile>\n"
    if form["format"] == "appended":
        end = f'<AppendedData encoding="{"raw" if form.get("raw") else "base64"}">\n_'.encode() + appended + b"\n</AppendedData>" + end
    return text.encode() + end


ASCII = {"format": "ascii"}
FORMS = [ASCII,
         {"format": "binary", "order": "<", "header": 4, "zlib": False, "apart": True},
         {"format": "binary", "order": "<", "header": 8, "zlib": False},
         {"format": "binary", "order": "<", "header": 8, "zlib": True},
         {"format": "binary", "order": ">", "header": 4, "zlib": True},
         {"format": "appended", "order": "<", "header": 4, "zlib": False, "raw": True},
         {"format": "appended", "order": "<", "header": 8, "zlib": True, "raw": True},
         {"format": "appended", "order": ">", "header": 4, "zlib": False, "apart": True},
         {"format": "appended", "order": "<", "header": 4, "zlib": True}]


def plane(n, split, u=lambda x, y: 1 + x + 2 * y, size=1.):
    """Points, cells, types and field of the unit square, as quadrilaterals or as triangles of another mesh than Leopard's."""
    points = [(size * i / n, size * j / n, 0.) for j in range(n + 1) for i in range(n + 1)]
    at = lambda i, j: j * (n + 1) + i
    cells = []
    for j in range(n):
        for i in range(n):
            around = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]
            cells += [[around[0], around[1], around[2]], [around[0], around[2], around[3]]] if split else [around]
    return points, cells, [5 if split else 9] * len(cells), {"u": [u(x, y) for x, y, _ in points], "other": [0.] * len(points)}


class InitialValues(Program):
    def fields(self, name, which):
        """The text of the fields of the first or last file of a run, for each piece."""
        texts = []
        steps = sorted({path.name.split(".")[0] for path in (self.folder / f"output/{name}/solution").glob("*.vtu")})
        for path in sorted((self.folder / f"output/{name}/solution").glob(steps[which] + "*.vtu")):
            texts.append(re.findall(r'<DataArray[^>]*Name="[uv]"[^>]*>\s*([^<]*?)\s*</DataArray>', path.read_text()))
        self.assertTrue(texts and texts[0])
        return texts

    def content(self, name):
        """All that a run has left, but for the lock, which has the number of the last process."""
        return {path: path.read_bytes() for path in (self.folder / "output" / name).rglob("*") if path.is_file() and path.name != "lock"}

    def residuals(self, said):
        """First residual and number of iterations of a linear problem."""
        number, first = re.search(r": (\d+) (?:iterations|cycles), residual (\S+) ->", said).groups()
        return float(first), int(number)

    def nothing_left(self, file, *settings, most=1e-9, **options):
        """A run that has its solution as initial values: its first residual is that of rounding, or of single precision."""
        said = self.leopard(file, *settings, **options)
        self.assertLess(self.residuals(said)[0], most, said)
        return said

    def test_the_end_of_a_run_on_the_same_mesh(self):
        self.leopard(TINY, "Run/Directory=output/first")
        for engine in ("fused", "general"):
            said = self.leopard(TINY, FROM + "output/first", "Turing/Perturbation=0", f"Time stepping/Engine={engine}")
            self.assertIn("initial values of u, v are those of the run in 'output/first', step 3 at its time 0.003; all 289 nodes are nodes there", said)
            self.assertIn("not used: 'Turing/Start from steady state' ('Turing/Initial values from' is given)", said)
            self.assertEqual(self.fields("tiny_turing", 0), self.fields("first", -1))
            found = self.run_json("tiny_turing")["initial_values"]
            self.assertEqual((found["from"], found["nodes_there"], found["time"]), ("output/first", 289, 0.003))
            self.assertIn("step_000000003", found["checkpoint"])
        # it is another run's end, not this one's: a continuation begins at time zero, and --resume still knows where it came from
        error = self.leopard(TINY, FROM + "output/other", "Turing/Perturbation=0", "Time stepping/End time=4e-3", options=["--resume"], fails=True)
        self.assertIn("'Turing/Initial values from' is output/other, and was output/first", error)
        shutil.rmtree(self.folder / "output/first")
        self.leopard(TINY, FROM + "output/first", "Turing/Perturbation=0", "Time stepping/End time=4e-3", "Time stepping/Engine=general", options=["--resume"])
        self.assertEqual(self.run_json("tiny_turing")["initial_values"], found)

    def test_its_own_end_with_a_perturbation(self):
        self.leopard(TINY, "Turing/Perturbation=0.02")
        before = self.fields("tiny_turing", -1)
        self.leopard(TINY, FROM + "output/tiny_turing", "Turing/Perturbation=0.02", options=["--overwrite"])  # read before it is deleted
        self.assertNotEqual(self.fields("tiny_turing", 0), before)
        self.leopard(TINY, FROM + "output/tiny_turing", "Turing/Perturbation=0")
        columns, rows = self.statistics("tiny_turing")
        highest = next(i for i, name in enumerate(columns) if name.startswith("maximum of u"))
        self.assertLess(rows[0][highest], 1.1)

    def test_a_file_of_a_run(self):
        self.leopard(TINY, "Run/Directory=output/first", ranks=2)
        for path in ("solution_0000003.pvtu", "solution_0000003.0000.vtu"):
            if path.endswith(".pvtu"):
                said = self.leopard(TINY, FROM + "output/first/solution/" + path, "Turing/Perturbation=0")
                self.assertIn("single precision; all 289 nodes are nodes there", said)
                self.leopard(TINY, FROM + "output/first", "Turing/Perturbation=0", "Run/Directory=output/second")
                self.assertEqual(self.fields("tiny_turing", 0), self.fields("second", 0))
            else:  # one of two pieces is half of the domain
                self.leopard(TINY, "Run/Directory=output/kept")
                before = self.content("kept")
                error = self.leopard(TINY, FROM + "output/first/solution/" + path, "Run/Directory=output/kept", fails=True)
                self.assertIn("nodes of the mesh lie outside of its cells, for example (", error)
                self.assertTrue(before == self.content("kept"), "the run that was there has changed")

    def test_other_numbers_of_ranks(self):
        self.leopard(TINY, "Run/Directory=output/first", ranks=2)
        for ranks in (1, 3):
            self.leopard(TINY, FROM + "output/first", "Turing/Perturbation=0", "Mesh/Global refinements=5", "Time stepping/End time=1e-3", ranks=ranks)
            found = self.run_json("tiny_turing")["initial_values"]
            self.assertEqual((found["nodes_there"], found["nodes_in_cells"]), (289, 33 ** 2 - 289))
            columns, rows = self.statistics("tiny_turing")
            self.assertLess(abs(rows[0][columns.index(next(name for name in columns if name.startswith("maximum of u")))] - 1), 0.2)

    def test_other_meshes(self):
        file = self.write("linear.prm", LINEAR)
        refined, triangles = "Mesh/Global refinements=3", ["Mesh/Domain=file", f"Mesh/File={ROOT}/tests/meshes/square_triangles_41.msh", "Mesh/Global refinements=1"]
        cases = [([], [refined]), ([refined], []), (["Discretization/Degree=2"], [refined]), ([], ["Discretization/Degree=3", refined]),
                 (["Discretization/Degree=3"], ["Discretization/Degree=2", "Mesh/Cells=3"]), (["Dimension=3"], ["Dimension=3", refined]),
                 (["Mesh/Upper corner=2"], ["Mesh/Domain=L-shape"]),
                 (triangles, [refined]), ([], triangles), ([*triangles, "Discretization/Degree=2"], [*triangles, refined]),
                 (["Mesh/Adaptive=true", "Mesh/Adaptive cycles=3"], [refined])]
        for first, second in cases:
            with self.subTest(f"{first} {second}"):
                plain, _ = self.residuals(self.leopard(file, *second))
                self.assertGreater(plain, 1e-3)
                self.leopard(file, *first, "Run/Directory=output/first")
                self.nothing_left(file, *second, "Laplace/Initial values from=output/first")
                newest = sorted((self.folder / "output/first/solution").glob("*.pvtu"))[-1]
                self.nothing_left(file, *second, f"Laplace/Initial values from={newest}", most=1e-4)

    def test_round_domains_and_surfaces(self):
        for domain, dimension in (("ball", 2), ("ball", 3), ("sphere", 2), ("torus", 2)):
            with self.subTest(f"{domain} {dimension}"):
                settings = [f"Mesh/Domain={domain}", f"Dimension={dimension}", "Mesh/Global refinements=2", "Discretization/Method=finite elements", "Time stepping/End time=1e-3", "Linear solver/Threads=1"]
                self.leopard(TINY, *settings, "Run/Directory=output/first")
                finer = [s.replace("refinements=2", "refinements=3") for s in settings]
                said = self.leopard(TINY, *finer, FROM + "output/first", "Turing/Perturbation=0")
                self.assertRegex(said, r"[1-9]\d* lie beside its cells by up to 0.0\d* of a cell's size")
                said = self.leopard(TINY, *settings, FROM + "output/first", "Turing/Perturbation=0")
                self.assertRegex(said, r"all (\d+) nodes are nodes there")

    def test_newtons_method_begins_there(self):
        file = self.write("newton.prm", NEWTON)
        self.leopard(file, "Run/Directory=output/first")
        steps = self.run_json("first")["cycles"][0]["newton_steps"]
        self.leopard(file, "Reaction-diffusion/Initial values from=output/first")
        self.assertGreater(steps, 2)
        self.assertLessEqual(self.run_json("newton")["cycles"][0]["newton_steps"], 1)

    def test_files_of_others(self):
        file = self.write("linear.prm", LINEAR)
        for split in (False, True):
            for form in FORMS:
                with self.subTest(f"{split} {form}"):
                    (self.folder / "other.vtu").write_bytes(vtu(*plane(3, split), form))
                    said = self.nothing_left(file, "Laplace/Initial values from=other.vtu")
                    self.assertIn("of 25 nodes 4 are nodes there, 21 are interpolated in its cells", said)
        points, cells, _, fields = plane(3, True)  # triangles written as quadrilaterals with a corner twice
        (self.folder / "other.vtu").write_bytes(vtu(points, [[*cell, cell[-1]] for cell in cells], [9] * len(cells), fields, ASCII))
        self.nothing_left(file, "Laplace/Initial values from=other.vtu")
        (self.folder / "other.vtu").write_bytes(vtu(*plane(3, False), FORMS[3], real="Float32"))
        self.assertIn("single precision", self.nothing_left(file, "Laplace/Initial values from=other.vtu", most=1e-4))

    def test_a_field_of_the_other_run_that_is_not_asked_for(self):
        self.leopard(TINY, "Run/Directory=output/first")
        file = self.write("linear.prm", LINEAR)
        self.leopard(file, "Laplace/Initial values from=output/first")
        error = self.leopard(TINY, FROM + "output/linear", fails=True)
        self.assertIn("has no field 'v'", error)
        self.assertIn("there are u\n", error)

    def test_what_cannot_be_used(self):
        file = self.write("linear.prm", LINEAR)
        self.leopard(file)
        before = self.content("linear")
        good = plane(3, False)
        text = vtu(*good, FORMS[3])
        points, cells, types, fields = good
        (self.folder / "empty_run").mkdir()
        self.leopard(file, "Dimension=3", "Run/Directory=output/body")
        self.leopard(TINY, "Run/Directory=output/broken")
        for path in (self.folder / "output/broken/checkpoints").glob("*/mesh_fixed.data"):
            path.write_bytes(path.read_bytes()[:-8])
        nan = dict(fields, u=[float("nan") if i == 5 else value for i, value in enumerate(fields["u"])])
        wrong = {
            "missing.vtu": (None, "nothing of this name is there"),
            "empty_run": (None, "has no checkpoint"),
            "output/body": (None, "a run on a body, and 'Mesh/Domain' is a part of the plane"),
            "output/broken": (None, "can be used"),
            "linear.prm": (None, "neither a folder nor a file of these kinds"),
            "name.vtu": (vtu(points, cells, types, {"w": fields["u"]}, ASCII), "has no field 'u'"),
            "half.vtu": (text[:len(text) // 2], "is no whole XML file"),
            "binary.vtu": (text.replace(b"eJ", b"eK"), "zlib cannot inflate"),
            "short.vtu": (re.sub(rb"(Points=\")16", rb"\g<1>17", text), "numbers where there should be"),
            "huge.vtu": (re.sub(rb"(NumberOfCells=\")9", rb"\g<1>900000000000", text), "numbers where there should be"),
            "lzma.vtu": (text.replace(b"vtkZLib", b"vtkLZMA"), "vtkLZMADataCompressor"),
            "poly.vtu": (text.replace(b"UnstructuredGrid", b"PolyData"), "of VTK's type PolyData"),
            "html.vtu": (b"<html><body></body></html>", "no file of VTK"),
            "deep.vtu": (b"<a>" * 100000, "too deeply"),
            "nothing.vtu": (b"", "no file of VTK"),
            "nan.vtu": (vtu(points, cells, types, nan, ASCII), "u is nan at ("),
            "small.vtu": (vtu(*plane(3, False, size=0.5), ASCII), "nodes of the mesh lie outside of its cells, for example ("),
            "lifted.vtu": (vtu([(x, y, 0.1 * x) for x, y, _ in points], cells, types, fields, ASCII), "outside of the plane z = 0"),
            "lines.vtu": (vtu(points, [cell[:2] for cell in cells], [3] * len(cells), fields, ASCII), "no cells of dimension 2"),
            "wedge.vtu": (vtu(points, [[0, 1, 2, 4, 5, 6]], [13], fields, ASCII), "a cell of VTK's type 13 (wedge)"),
            "serendipity.vtu": (vtu(points, [[0, 2, 10, 8, 1, 6, 9, 4]], [23], fields, ASCII), "serendipity.vtu' has a cell of VTK's type 23 (quadratic quadrilateral)"),
            "legacy.vtu": (b"# vtk DataFile Version 3.0\nu\nASCII\nDATASET UNSTRUCTURED_GRID\n", "legacy.vtu' is of VTK's legacy format"),
            "legacy.vtk": (b"# vtk DataFile Version 3.0\n", "'Save Data' writes a .vtk file as .vtu"),
            "index.vtu": (vtu(points, [[0, 1, 2, 99]], [9], fields, ASCII), "a cell names the point 99 of 16"),
            "sliver.vtu": (vtu(points, [[0, 1, 4], [0, 1, 2]], [5, 5], fields, ASCII), "sliver.vtu' has a cell without area: 1 (counted from 0, as VTK does), with corners at (0, 0), (0.333333"),
            "folded.vtu": (vtu(points, [*cells, [0, 1, 3, 2]], [9] * 10, fields, ASCII), "folded.vtu' has a cell without area: 9 (counted from 0"),
            "point.vtu": (vtu(points, [[5, 5, 5, 5], *cells], [9] * 10, fields, ASCII), "point.vtu' has a cell without area: 0 (counted from 0"),
            "curved.vtu": (vtu(points, [[0, 1, 2, 4, 5, 6]], [22], fields, ASCII), "curved.vtu' has a cell without area: 0 (counted from 0"),
            "far.vtu": (vtu([*points, (float("nan"), 0., 0.)], [*cells, [0, 1, 5, 16]], [9] * 10, {name: values + [0.] for name, values in fields.items()}, ASCII), "not finite, of the point 16 of the cell 9 (counted from 0)"),
            "piece.pvtu": (b'<VTKFile type="PUnstructuredGrid"><PUnstructuredGrid><Piece Source="gone.vtu"/></PUnstructuredGrid></VTKFile>', "the file 'piece.pvtu' names the piece 'gone.vtu', which is not there"),
        }
        before_the_mesh = ["missing.vtu", "empty_run", "linear.prm", "name.vtu", "legacy.vtu", "legacy.vtk", "lzma.vtu", "poly.vtu", "html.vtu", "deep.vtu", "nothing.vtu", "piece.pvtu"]
        for name, (content, _) in wrong.items():
            if content is not None:
                (self.folder / name).write_bytes(content)
        self.invalid([(file, [f"Laplace/Initial values from={name}"], [wrong[name][1], "Laplace/Initial values from'"]) for name in before_the_mesh])
        for name, (_, says) in wrong.items():
            if name in before_the_mesh[1:]:
                continue  # found before a run begins, as the first
            with self.subTest(name):
                error = self.leopard(file, f"Laplace/Initial values from={name}", fails=True, timeout=1200)
                self.assertIn(says, error)
                self.assertIn("Laplace/Initial values from'", error)
                self.assertEqual(error.count("leopard: "), 1, error)
                self.assertTrue(before == self.content("linear"), "the run that was there has changed")
        corners = [(x, y, z) for z in (0., 1.) for y in (0., 1.) for x in (0., 1.)]
        hexahedron, fields = [0, 1, 3, 2, 4, 5, 7, 6], {"u": [0.] * 8}
        for kind, number, cell in (("hexahedron", 12, hexahedron[:4] * 2), ("tetrahedron", 10, [0, 1, 2, 3])):
            (self.folder / "flat.vtu").write_bytes(vtu(corners, [hexahedron, cell], [12, number], fields, ASCII))
            error = self.leopard(file, "Dimension=3", "Laplace/Initial values from=flat.vtu", fails=True)
            self.assertIn("flat.vtu' has a cell without volume: 1 (counted from 0", error, kind)
        self.leopard(file, "Run/Directory=output/sweep", "Run/Sweep=Global refinements: 1, 2")
        error = self.leopard(file, "Run/Directory=output/sweep", "Run/Sweep=Global refinements: 1, 2", "Laplace/Initial values from=output/sweep/runs/Global refinements=2", fails=True)
        self.assertIn("which is in the directory of this sweep", error)
        error = self.leopard(file, "Laplace/Initial values from=nan.vtu", fails=True, ranks=2)
        self.assertEqual(error.count("leopard: "), 1, error)

    def test_a_damaged_checkpoint_is_passed_over(self):
        self.leopard(TINY, "Run/Directory=output/first", "Run/Checkpoint steps=1")
        steps = self.checkpoints("first")
        self.assertEqual(len(steps), 2)
        for path in (self.folder / f"output/first/checkpoints/step_{steps[-1]:09}").glob("mesh*"):
            path.write_bytes(b"")
        said = self.leopard(TINY, FROM + "output/first")
        self.assertIn("is passed over", said)
        self.assertIn(f"step {steps[0]} at its time", said)


if __name__ == "__main__":
    import unittest
    unittest.main()
