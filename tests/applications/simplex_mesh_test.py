# SPDX-License-Identifier: Apache-2.0
"""Meshes of triangles and tetrahedra from Gmsh, MSH 2.2 and 4.1: rates of P1 and P2, ranks, time loops, checkpoints, output, and what is refused.

The meshes are those of tests/meshes (Gmsh 4.8.4): the unit square with boundary ids 1 (y = 0 and y = 1) and 2 (x = 0 and x = 1), the unit cube with 1 (x = 0 and x = 1) and
2 (the other sides), the unit sphere."""
import base64
import re
import zlib

from program import ROOT, Program

MESHES = ROOT / "tests/meshes"


def vtu_types(path):
    """VTK's types of the cells of a file, as deal.II writes it: base64, zlib, one block after four numbers."""
    return set(zlib.decompress(base64.b64decode(re.search(r'Name="types"[^>]*>\s*(\S+)\s*<', path.read_text())[1][24:])))


class SimplexMeshes(Program):
    # boundary values on one part of the boundary and fluxes, which are not zero, on another
    FILE = ("set Problem = helmholtz\nsubsection Helmholtz\n set Delta = 1\n set Exact solution = exp(x)*cos(y)\n set Source = exp(x)*cos(y)\n"
            " set Boundary values = 1: exp(x)*cos(y)\n set Boundary fluxes = 2: if(x > 0.999999, exp(x)*cos(y), if(x < 0.000001, -exp(x)*cos(y), 0))\nend\n"
            f"subsection Mesh\n set Domain = file\n set File = {MESHES}/square_triangles_41.msh\nend\n"
            "subsection Linear solver\n set Method = cg\n set Preconditioner = amg\n set Relative tolerance = 1e-12\nend\n"
            "subsection Verification\n set Refinements = 2\nend\n")
    CUBE = ("Dimension=3", f"Mesh/File={MESHES}/cube_tetrahedra_41.msh", "Helmholtz/Boundary fluxes=2: if(y > 0.999999, -exp(x)*sin(y), 0)")

    def errors(self, *settings, **options):
        self.leopard(self.write("simplex.prm", self.FILE), *settings, **options)
        return self.convergence("simplex")

    def check_rates(self, degree, *settings, delta=0.15):
        rows = self.errors(f"Discretization/Degree={degree}", *settings)
        self.assertAlmostEqual(float(rows[-1]["l2_rate"]), degree + 1, delta=delta, msg=f"{degree} {settings}")
        self.assertAlmostEqual(float(rows[-1]["h1_seminorm_rate"]), degree, delta=delta, msg=f"{degree} {settings}")
        self.assertLess(float(rows[-1]["l2_error"]), 0.003)

    def test_triangles_have_their_rates(self):
        for degree in (1, 2):
            self.check_rates(degree)

    def test_tetrahedra_have_their_rates(self):
        for degree in (1, 2):
            self.check_rates(degree, *self.CUBE, delta=0.25)

    def test_surface(self):
        # the sphere of the file is a polyhedron of 7 percent less area: refined or not, the error is that of its faces
        self.leopard(self.write("simplex.prm", self.FILE), "Mesh/Domain=surface file", f"Mesh/File={MESHES}/sphere_triangles_41.msh", "Helmholtz/Exact solution=x*y",
                     "Helmholtz/Source=7*x*y", "Helmholtz/Boundary values=", "Helmholtz/Boundary fluxes=", "Verification/Refinements=1")
        self.assertLess(float(self.convergence("simplex")[-1]["l2_error"]), 0.05)

    def test_formats_and_ranks_give_the_same(self):
        reference = [float(row["l2_error"]) for row in self.errors()]
        for settings, ranks in (([f"Mesh/File={MESHES}/square_triangles_22.msh"], 1), ([], 2)):
            for row, expected in zip(self.errors(*settings, ranks=ranks), reference):
                self.assertAlmostEqual(float(row["l2_error"]) / expected, 1, delta=1e-6, msg=f"{settings} {ranks}")

    def test_output_has_the_cells(self):
        for degree, settings, kind in ((1, (), 5), (2, (), 69), (1, self.CUBE, 10), (2, self.CUBE, 10)):  # VTK: triangle, Lagrange triangle, tetrahedron
            self.errors(f"Discretization/Degree={degree}", "Verification/Refinements=0", *settings)
            self.assertEqual(vtu_types(next((self.folder / "output/simplex/solution").glob("*.vtu"))), {kind}, f"{degree} {settings}")

    def test_what_cannot_be_done_is_refused(self):
        file = self.write("simplex.prm", self.FILE)
        time = ("Problem=turing", "Discretization/Degree=2", "Verification/Refinements=0", "Linear solver/Method=gmres")
        for settings, says in ((("Mesh/Adaptive=true",), "'Mesh/Adaptive' is true"), (("Linear solver/Preconditioner=multigrid",), "'Preconditioner' = aggregation or amg"),
                               (("Discretization/Degree=3",), "expected: 1 or 2"), (time, "set Mass matrix = consistent")):
            error = self.leopard(file, *settings, fails=True)
            self.assertIn(says, error)
            self.assertEqual(error.count("leopard: "), 1, error)

    DECAY = ("set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Steady state = none\n set Species = u\n set Reaction u = -u\n set Diffusion u = 0.1\n"
             " set Initial value u = 2 + cos(pi*x)\nend\n"
             f"subsection Mesh\n set Domain = file\n set File = {MESHES}/square_triangles_41.msh\n set Global refinements = 2\nend\n"
             "subsection Time stepping\n set Step control = fixed\n set Step size = 0.005\n set End time = 0.1\nend\nsubsection Linear solver\n set Method = gmres\n set Preconditioner = amg\nend\n")

    def last(self):
        columns, rows = self.statistics("decay")
        return [dict(zip(columns, rows[-1]))[f"{measure} of u (dimensionless)"] for measure in ("minimum", "maximum", "mean")]

    def test_time_loops(self):
        # u = exp(-t) (2 + exp(-0.1 pi^2 t) cos(pi x))
        exact = (0.99002, 2.62936, 1.80967)
        file = self.write("decay.prm", self.DECAY)
        for settings in ((), ("Linear solver/Method=async", "Linear solver/Preconditioner=none", "Time stepping/Engine=fused"), ("Discretization/Degree=2", "Discretization/Mass matrix=consistent"),
                         ("Dimension=3", f"Mesh/File={MESHES}/cube_tetrahedra_41.msh", "Mesh/Global refinements=1")):
            self.leopard(file, *settings)
            for found, expected in zip(self.last(), exact):
                self.assertAlmostEqual(found / expected, 1, delta=0.03 if "Dimension=3" in settings else 0.01, msg=f"{settings}")

    def test_quadratic_tetrahedra_in_time_have_their_rates(self):
        # the linear solver is left to the program, and must bear a consistent mass
        file = self.write("quadratic.prm", "set Problem = turing\nset Dimension = 3\nsubsection Turing\n set Kinetics = expressions\n set Steady state = none\n set Species = u\n"
                          " set Reaction u = 0*u\n set Diffusion u = 0.1\n set Initial value u = 2 + cos(pi*x)\n set Exact solution u = (2 + cos(pi*x))*exp(-t)\nend\n"
                          f"subsection Mesh\n set Domain = file\n set File = {MESHES}/cube_tetrahedra_41.msh\nend\n"
                          "subsection Discretization\n set Degree = 2\n set Mass matrix = consistent\nend\n"
                          "subsection Time stepping\n set Step control = fixed\n set Step size = 0.005\n set End time = 0.02\nend\nsubsection Verification\n set Refinements = 2\nend\n")
        self.assertIn("gmres with preconditioner ssor", self.leopard(file, timeout=1200))
        last = self.convergence("quadratic")[-1]
        self.assertAlmostEqual(float(last["l2_rate"]), 3, delta=0.15)
        self.assertAlmostEqual(float(last["h1_seminorm_rate"]), 2, delta=0.15)
        self.assertLess(float(last["l2_error"]), 2e-4)

    def test_checkpoints_go_on_with_other_ranks(self):
        file = self.write("decay.prm", self.DECAY)
        self.leopard(file)
        reference = self.last()
        self.leopard(file, "Time stepping/End time=0.05")
        self.leopard(file, options=("--resume",), ranks=2)
        for found, expected in zip(self.last(), reference):
            self.assertAlmostEqual(found, expected, delta=1e-6)


class DescribeMesh(Program):
    def run_describe(self, file):
        return self.leopard("--describe-mesh", options=(str(file),))

    def test_gmsh_files(self):
        said = self.run_describe(MESHES / "square_triangles_22.msh")
        self.assertEqual(said.splitlines()[1:], self.run_describe(MESHES / "square_triangles_41.msh").splitlines()[1:])
        for words in ("42 triangles, 30 vertices", "x from 0 to 1, y from 0 to 1; area 1", "1: 8 lines, length 2", "material ids: 7 (42 cells)", "not possible: finite differences"):
            self.assertIn(words, said)
        self.assertIn("1: 28 faces, area 2", self.run_describe(MESHES / "cube_tetrahedra_41.msh"))
        self.assertIn("a surface in space, closed", self.run_describe(MESHES / "sphere_triangles_41.msh"))
        self.assertIn("'Mesh/Domain' = surface file", self.run_describe(ROOT / "meshes/leopard_skin.msh"))
        self.assertIn("material ids: 1 (256 cells)", self.run_describe(ROOT / "meshes/block_with_hole.msh"))

    def test_ids_of_built_in_domains(self):
        for domain, dimension, ids in (("hypercube", 2, {0, 1, 2, 3}), ("box", 3, {0, 1, 2, 3, 4, 5}), ("L-shape", 2, {0}), ("ball", 3, {0}), ("cylinder", 2, {0}),
                                       ("cylinder", 3, {0, 1, 2}), ("sphere", 2, set()), ("torus", 2, set())):
            said = self.run_describe(self.write("domain.prm", f"set Dimension = {dimension}\nsubsection Mesh\n set Domain = {domain}\nend\n"))
            self.assertEqual({int(id) for id in re.findall(r"^    (\d+): ", said, re.M)}, ids, said)
        # where they are: u is 1 where an id prescribes it
        file = self.write("ids.prm", "set Problem = laplace\nsubsection Laplace\n set Boundary values = *: 0\nend\nsubsection Mesh\n set Domain = box\nend\n"
                          "subsection Linear solver\n set Method = direct\nend\nsubsection Verification\nend\n")
        for id, solution in ((0, "1-x"), (1, "x"), (2, "1-y"), (3, "y")):
            other = id ^ 1
            self.leopard(file, f"Laplace/Boundary values={id}: 1; {other}: 0", f"Laplace/Exact solution={solution}")
            self.assertLess(self.run_json("ids")["cycles"][0]["l2_error"], 1e-12, id)

    def test_no_mesh_is_refused(self):
        error = self.leopard("--describe-mesh", options=(str(self.write("no.msh", "nonsense")),), fails=True)
        self.assertIn("cannot be used: line 1 is 'nonsense'", error)
