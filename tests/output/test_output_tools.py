#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests read_back.py and scripts/render on small runs that are written here. Exit code 77 if there is no VTK."""
import itertools
import math
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import vtk
    import synthetic_run as synthetic
    from load_script import load_script
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

HERE = pathlib.Path(__file__).resolve().parent
RENDER = HERE.parents[1] / "scripts" / "render"


def variance(path):
    """Variance of the gray values of a PNG."""
    reader = vtk.vtkPNGReader()
    reader.SetFileName(str(path))
    reader.Update()
    pixels = memoryview(reader.GetOutput().GetPointData().GetScalars()).cast("B")
    mean = sum(pixels) / len(pixels)
    return sum((p - mean) ** 2 for p in pixels) / len(pixels)


def render_module():
    """scripts/render as a module, with its display."""
    module = load_script("render")
    if module.import_packages() and "DISPLAY" not in os.environ:
        module.start_display()
    return module


class WithRun(unittest.TestCase):
    """Each test has a good run with the times 0 and 0.1."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.run_directory = pathlib.Path(folder.name) / "run"
        synthetic.write_run(self.run_directory)

    def call(self, program, *arguments, code=0):
        """Calls a program on the run; returns what it says. An expected failure must not be a Python traceback."""
        result = subprocess.run([sys.executable, str(program), str(self.run_directory), *arguments], capture_output=True, text=True)
        said = result.stdout + result.stderr
        self.assertEqual(result.returncode, code, said)
        self.assertNotIn("Traceback", said)
        return said


class ReadBack(WithRun):
    def check(self, *arguments, code=0):
        return self.call(HERE / "read_back.py", *arguments, code=code)

    def test_good(self):
        self.assertIn("2 steps", self.check("--fields", "u,v", "--times", "0,0.1", "--pieces", "2"))

    def test_rank_without_cells(self):
        synthetic.write_run(self.run_directory, cells=synthetic.grid_cells(1), n_pieces=3)
        self.check("--fields", "u,v", "--times", "0,0.1")

    def test_three_dimensions(self):
        synthetic.write_run(self.run_directory, cells=synthetic.grid_cells(2, dim=3))
        self.assertIn("8 cells", self.check("--fields", "u,v"))

    def test_not_finite(self):
        for value in (math.nan, math.inf):
            synthetic.write_step(self.run_directory, "solution_0000001", synthetic.grid_cells(2),
                                 {"u": lambda x, y, z: value if x + y > 1.9 else 1., "v": lambda x, y, z: 1.})
            self.assertIn("1 of 8 values are not finite", self.check(code=1))

    def test_missing_files(self):
        (self.run_directory / "solution" / "solution_0000001.0001.vtu").unlink()
        self.assertIn("solution_0000001.0001.vtu", self.check(code=1))
        (self.run_directory / "solution" / "solution_0000001.pvtu").unlink()
        self.assertIn("no such file", self.check(code=1))
        (self.run_directory / "solution.pvd").unlink()
        self.assertIn("solution.pvd", self.check(code=1))

    def test_cut_off_piece(self):
        piece = self.run_directory / "solution" / "solution_0000001.0000.vtu"
        piece.write_bytes(piece.read_bytes()[:700])
        self.assertIn("cannot be read", self.check(code=1))

    def test_missing_field(self):
        self.assertIn("no field 'w'; there: u, v", self.check("--fields", "u,w", code=1))

    def test_times(self):
        self.assertIn("times are", self.check("--times", "0,0.2", code=1))
        self.assertIn("times are", self.check("--times", "0", code=1))
        file = "solution/solution_0000000.pvtu"
        synthetic.write_pvd(self.run_directory, [(0.1, file), (0.1, file)])
        self.assertIn("do not increase", self.check(code=1))
        synthetic.write_pvd(self.run_directory, [])
        self.assertIn("names no data", self.check(code=1))

    def test_no_cells(self):
        synthetic.write_step(self.run_directory, "solution_0000001", [], {"u": None, "v": None})
        self.assertIn("no cells", self.check(code=1))


class Render(WithRun):
    def check(self, *arguments, code=0):
        return self.call(RENDER, "--size", "300", *arguments, code=code)

    def setUp(self):
        super().setUp()
        if not shutil.which("Xvfb") and vtk.vtkRenderWindow().GetClassName() == "vtkXOpenGLRenderWindow":
            self.skipTest("no Xvfb")
        try:
            import PIL
        except ImportError:
            self.skipTest("no Pillow")

    def picture(self, name):
        path = self.run_directory / "pictures" / name
        self.assertTrue(path.exists(), path)
        return path

    def test_displays_are_not_those_that_mpi_looks_at(self):
        """hwloc looks for graphics cards at the servers :0 to :9 when a program with MPI starts; the end of one of them ends that program."""
        if vtk.vtkRenderWindow().GetClassName() != "vtkXOpenGLRenderWindow":
            self.skipTest("VTK draws without a display")
        program = ("import os, sys; from load_script import load_script; load_script('render').start_display();"
                   "print(os.environ['DISPLAY'], flush=True); sys.stdin.read()")
        numbers = []
        for _ in range(2):
            process = subprocess.Popen([sys.executable, "-c", program], cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.addCleanup(process.communicate)
            numbers.append(int(process.stdout.readline().strip()[1:]))
            time.sleep(0.3)
            with socket.socket(socket.AF_UNIX) as client:  # it still answers
                client.connect(f"\0/tmp/.X11-unix/X{numbers[-1]}")
        self.assertGreater(min(numbers), 9)
        self.assertNotEqual(*numbers)

    def test_all_times(self):
        said = self.check()
        for name in ("u_t0.000000.png", "u_t0.100000.png"):
            self.assertIn(str(self.picture(name)), said)
            self.assertGreater(variance(self.picture(name)), 500.)
        gif = self.picture("u.gif").read_bytes()
        self.assertTrue(gif.startswith(b"GIF89a"))
        # the same colours for both times: the stronger pattern has more contrast
        self.assertNotEqual(self.picture("u_t0.000000.png").read_bytes(), self.picture("u_t0.100000.png").read_bytes())

    def test_choices(self):
        said = self.check("--field", "v", "--times", "0.09", "--colors", "viridis", "--range=-1,3", "--output",
                          str(self.run_directory / "elsewhere"))
        self.assertIn("time 0.09 is not there: the nearest, 0.1, is used", said)
        self.assertEqual([path.name for path in (self.run_directory / "elsewhere").iterdir()], ["v_t0.100000.png"])

    def test_three_dimensions_and_wide(self):
        for cells in (synthetic.grid_cells(3, dim=3), synthetic.grid_cells(8, stretch=6.)):
            synthetic.write_run(self.run_directory, cells=cells, n_pieces=3)
            self.check("--no-animation")
            self.assertGreater(variance(self.picture("u_t0.100000.png")), 500.)
            self.assertFalse((self.run_directory / "pictures" / "u.gif").exists())

    RANGES = ((0.216, 2.92), (0., 1.), (-1., 1.), (3e-44, 0.42), (1e-9, 3e-9), (-1e6, 2e7), (1.0000001, 1.0000004), (5., 5.01), (-0.00025, 0.0007), (9999., 123456.),
              (-320000., -310000.), (1e20, 1.00001e20), (-123.456, -123.451))

    def test_values_at_the_scale_are_round_and_those_of_their_places(self):
        render = render_module()
        for low, high in self.RANGES:
            for n in range(1, 7):
                labels, remark = render.scale_labels(low, high, n)
                self.assertLessEqual(len(labels), n + 1)
                if n > 2:
                    self.assertGreaterEqual(len(labels), 2, (low, high, n))
                found = re.fullmatch(r"(?:- (\S+) )?(?:\[1e(-?\d+)\])?", remark)
                for value, text in labels:
                    self.assertTrue(low <= value <= high)
                    self.assertLessEqual(len(text), 8, (low, high, text))
                    self.assertAlmostEqual(float(text) * 10. ** int(found[2] or 0) + float(found[1] or 0), value, delta=1e-3 * (high - low))

    def test_texts_of_a_picture_do_not_overlap(self):
        render = render_module()
        for cells in (synthetic.grid_cells(4), synthetic.grid_cells(4, stretch=6.), synthetic.grid_cells(4, stretch=0.1), synthetic.grid_cells(2, dim=3)):
            synthetic.write_run(self.run_directory, cells=cells, fields=("u", "concentration"))
            grid = render.read([self.run_directory / "solution/solution_0000000.pvtu"])
            for field, size, (low, high) in itertools.product(("u", "concentration"), (300, 900), self.RANGES):
                with self.subTest(cells=len(cells[0]), field=field, size=size, range=(low, high)):
                    picture = render.Picture(grid, field, render.color_table("leopard", low, high), size)
                    picture.title.SetInput("t = 0.001")
                    paper = picture.window.GetRenderers().GetFirstRenderer()
                    boxes = [picture.box(actor, paper) for actor in (*picture.labels, picture.name, picture.title)]
                    width, height = picture.window.GetSize()
                    for i, a in enumerate(boxes):
                        self.assertTrue(0 <= a[0] and a[1] <= width and 0 <= a[2] and a[3] <= height, (i, a))
                        for b in boxes[:i]:
                            self.assertFalse(a[0] < b[1] and b[0] < a[1] and a[2] < b[3] and b[2] < a[3], (i, a, b))

    def test_growing_domain(self):
        """The pictures of a domain that grows by two have one scale, and the largest fits."""
        import PIL.Image
        files = []
        for step, length in enumerate((1., 2.)):
            cells = [[tuple(length * x for x in point) for point in cell] for cell in synthetic.grid_cells(4)]
            files.append((float(step), synthetic.write_step(self.run_directory, f"solution_{step:07d}", cells, {"u": lambda x, y, z: 1.})))
        synthetic.write_pvd(self.run_directory, files)
        self.check("--plain", "--range=0,2", "--no-animation")
        areas = []
        for name in ("u_t0.000000.png", "u_t1.000000.png"):
            with PIL.Image.open(self.picture(name)) as image:
                areas.append(sum(pixel != (255, 255, 255) for pixel in image.convert("RGB").getdata()) / (image.width * image.height))
        self.assertAlmostEqual(areas[0], 0.25, delta=0.02)
        self.assertGreater(areas[1], 0.97)

    def test_close_times(self):
        synthetic.write_run(self.run_directory, times=(1e-8, 2e-8))
        self.check("--no-animation")
        self.picture("u_t0.00000001.png")
        self.picture("u_t0.00000002.png")

    def test_cycles_of_a_stationary_run_are_no_times(self):
        (self.run_directory / "run.json").write_text('{"cycles": [{}, {}]}')
        synthetic.write_run(self.run_directory, times=(0., 1.))
        self.check("--no-animation")
        self.picture("u_cycle0.png")
        self.picture("u_cycle1.png")
        synthetic.write_run(self.run_directory, times=(0.,))
        self.check()
        self.picture("u.png")

    def test_constant_field_and_first_field(self):
        file = synthetic.write_step(self.run_directory, "solution_0000000", synthetic.grid_cells(2), {"phi": lambda x, y, z: 0.})
        synthetic.write_pvd(self.run_directory, [(0., file)])
        self.check()
        self.picture("phi_t0.000000.png")

    def test_errors(self):
        self.assertIn("there: u, v", self.check("--field", "w", code=1))
        self.assertIn("is no number", self.check("--times", "0,x", code=1))
        self.assertIn("--range", self.check("--range=2,1", code=1))
        (self.run_directory / "solution" / "solution_0000001.0001.vtu").unlink()
        self.assertIn("solution_0000001.0001.vtu", self.check(code=1))
        (self.run_directory / "solution.pvd").unlink()
        self.assertIn("no solution.pvd", self.check(code=1))
        self.run_directory = self.run_directory / "nowhere"
        self.assertIn("no such directory", self.check(code=1))


if __name__ == "__main__":
    unittest.main()
