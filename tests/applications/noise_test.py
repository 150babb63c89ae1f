# SPDX-License-Identifier: Apache-2.0
"""'Turing/Noise ...': random forces, white in space and time, by the implicit scheme of Euler and Maruyama."""
import base64
import math
import re
import struct
import zlib

from program import Program

HEAT = """set Problem = turing
subsection Turing
  set Kinetics     = expressions
  set Species      = u, v
  set Reaction u   = 0
  set Reaction v   = 0
  set Diffusion u  = 0.1
  set Diffusion v  = 0.1
  set Steady state = none
  set Initial value u = 1
  set Initial value v = 2
  set Noise u      = 0.3
end
subsection Mesh
  set Upper corner       = 2
  set Global refinements = 3
end
subsection Time stepping
  set Scheme       = implicit Euler
  set Step control = fixed
  set Step size    = 0.01
  set End time     = 4
end
subsection Linear solver
  set Method  = direct
  set Threads = 1
end
subsection Newton
  set Relative tolerance = 1e-12
  set Absolute tolerance = 1e-15
end
subsection Output
  set Log every = 1
end
"""


def variance(values):
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values) / len(values)


class Noise(Program):
    def setUp(self):
        super().setUp()
        self.file = self.write("heat.prm", HEAT)

    def masses(self, *settings, field="u", **options):
        """The total mass of a field after each step, beginning with that of the initial values."""
        self.leopard(self.file, *settings, **options)
        columns, rows = self.statistics("heat")
        at = columns.index(f"total mass of {field} (dimensionless)")
        return [row[at] for row in rows]

    def test_is_white_and_of_the_strength_asked_for(self):
        # the mass of a field walks at random: independent steps with the variance sigma^2 |domain| dt, on every mesh
        for settings, sigma, dt in (([], 0.3, 0.01), (["Mesh/Global refinements=4", "Time stepping/End time=2"], 0.3, 0.01), (["Time stepping/Step size=0.02", "Turing/Noise u=0.5"], 0.5, 0.02),
                                    (["Discretization/Method=finite elements", "Turing/Seed=5"], 0.3, 0.01)):
            masses = [4.0] + self.masses(*settings)
            steps = [b - a for a, b in zip(masses, masses[1:])]
            n = len(steps)
            self.assertAlmostEqual(variance(steps) / (sigma ** 2 * 4 * dt), 1, delta=4 * (2 / n) ** 0.5)
            self.assertLess(abs(sum(steps) / n), 4 * (sigma ** 2 * 4 * dt / n) ** 0.5)
            correlation = sum(a * b for a, b in zip(steps, steps[1:])) / n / variance(steps)
            self.assertLess(abs(correlation), 4 / n ** 0.5)
            columns, rows = self.statistics("heat")
            balance = next(i for i, column in enumerate(columns) if column.startswith("mass balance of u"))
            self.assertLess(max(abs(row[balance]) for row in rows), 1e-10)
        other = self.masses(field="v")
        self.assertLess(max(other) - min(other), 1e-9, "v has no noise")

    def test_steps_that_follow_the_asynchronous_bound(self):
        """They depend on what is before them alone, and none is repeated: the variance of each is that of its length, and masses are balanced."""
        bound = ["Time stepping/Step control=asynchronous bound", "Time stepping/Bound fraction=0.9", "Linear solver/Method=async", "Linear solver/Relative tolerance=1e-12",
                 "Turing/Reaction u=5*(1 - u)", "Turing/Reaction v=-v"]
        for engine in ("general", "automatic"):
            self.masses(*bound, f"Time stepping/Engine={engine}", "Turing/Noise u=0.3*u", "Time stepping/End time=2")
            sizes = self.column("heat", "step size")
            self.assertGreater(len(sizes), 10, engine)
            balance = self.column("heat", "mass balance of u")
            self.assertLess(max(abs(value) for value in balance), 1e-8, engine)
            self.assertGreater(max(abs(value - 4) for value in self.column("heat", "total mass of u")), 1e-3, engine)
        self.assertIn("its noise is for steps that do not follow the asynchronous bound", self.leopard(self.file, *bound, "Time stepping/Engine=fused", fails=True))
        self.invalid([(self.file.name, ["Time stepping/Step control=error-controlled"], ["'Turing/Noise ...' is given", "would choose among the random numbers", "fixed, multiple of h^2 or asynchronous bound"])])

    def test_meshes_whose_places_are_not_told_apart_are_refused(self):
        error = self.leopard(self.file, "Mesh/Upper corner=2e-8", fails=True)
        for words in ("'Turing/Noise ...' is given", "the shortest edge of the mesh is 2.5e-09", "edges of 1e-08 at least"):
            self.assertIn(words, error)

    def test_drift_is_implicit_and_noise_that_of_the_step(self):
        # the same numbers in both runs: M_n+1 (1 + dt) = M_n + (the step of the walk)
        walk, decay = ([4.0] + self.masses(f"Turing/Reaction u={reaction}", "Time stepping/End time=1") for reaction in ("0", "-u"))
        for n in range(100):
            self.assertAlmostEqual(decay[n + 1] * 1.01, decay[n] + walk[n + 1] - walk[n], delta=1e-8)

    def test_negative_values(self):
        """Additive noise has both signs: no step size takes such values away, and around zero they are meant."""
        file = self.write("signs.prm", HEAT)
        short = ["Time stepping/End time=0.2", "Turing/Initial value u=0", "Turing/Noise u=1"]
        for engine, method in (("fused", "automatic"), ("general", "direct")):
            settings = [*short, f"Time stepping/Engine={engine}", f"Linear solver/Method={method}"]
            said = self.leopard(file, *settings)
            self.assertLess(min(self.column("signs", "minimum of u")), -0.1)
            self.assertNotIn("negative", said)
            said = self.leopard(file, *settings, "Turing/Initial value u=0.1")
            self.assertRegex(said, "warning: u becomes negative, .*: noise acts where it is zero, whatever the steps are")
            self.assertNotIn("do not trust", said)
        said = self.leopard(file, *short, "Turing/Initial value u=1", "Turing/Noise u=2*u")
        self.assertRegex(said, "warning: u becomes negative, .*, which noise or long steps may cause; do not trust")

    def test_multiplicative_noise_takes_the_old_values(self):
        # Ito: with sigma = u at one value everywhere the first step is u_0 times that of additive noise of strength one
        one = self.masses("Turing/Noise u=1", "Time stepping/End time=0.01")[0] - 4
        double = self.masses("Turing/Noise u=u", "Turing/Initial value u=2", "Time stepping/End time=0.01")[0] - 8
        self.assertAlmostEqual(double, 2 * one, delta=1e-9)
        self.assertGreater(abs(one), 1e-3)
        still = self.masses("Turing/Noise u=u", "Turing/Initial value u=0", "Time stepping/End time=0.05")
        self.assertEqual(max(abs(mass) for mass in still), 0)
        local = self.masses("Turing/Noise u=if(x < 10, 0, 1)", "Time stepping/End time=0.05")
        self.assertLess(max(abs(mass - 4) for mass in local), 1e-9)

    def test_does_not_depend_on_ranks_or_a_stop(self):
        settings = ["Time stepping/End time=0.2", "Linear solver/Method=gmres", "Linear solver/Relative tolerance=1e-12", "Turing/Noise v=0.1*u"]
        self.leopard(self.file, *settings)
        reference = self.measures()
        self.assertEqual(len(reference), 20)
        self.leopard(self.file, *settings, ranks=3)
        self.check_equal(reference)
        self.leopard(self.file, "Time stepping/End time=0.1", *settings[1:])
        self.assertEqual(len(self.measures()), 10)
        self.leopard(self.file, *settings, options=["--resume"])
        self.check_equal(reference)
        self.leopard(self.file, *settings, "Turing/Seed=2")
        for one, other in zip(reference[-1], self.measures()[-1]):
            self.assertNotAlmostEqual(one, other, delta=1e-6)

    def measures(self):
        """Minimum, maximum and mean of both fields after each step: noise at other places has others, even if it is as much in all."""
        return [row[10:16] for row in self.statistics("heat")[1]]

    def check_equal(self, reference):
        found = self.measures()
        self.assertEqual(len(reference), len(found))
        for one, other in zip(reference, found):
            for a, b in zip(one, other):
                self.assertAlmostEqual(a, b, delta=1e-9)

    def values(self, step, *settings):
        """Runs to t = 1 in `step`s; u and v at the nodes after each."""
        self.leopard(self.file, "Turing/Diffusion u=0", "Turing/Diffusion v=0", "Mesh/Upper corner=32", "Mesh/Global refinements=5", "Mesh/Periodic=x, y", f"Time stepping/Step size={step}",
                     "Time stepping/End time=1", f"Output/Interval={step}", *settings)
        fields = []
        for file in sorted((self.folder / "output/heat/solution").glob("*.vtu")):
            arrays = [re.search(rf"<DataArray[^>]*{name}[^>]*>\s*(\S+)\s*<", file.read_text())[1] for name in ('NumberOfComponents="3"', 'Name="u"', 'Name="v"')]
            points, u, v = (struct.unpack(f"<{len(data) // 4}f", data) for data in (zlib.decompress(base64.b64decode(array[24:])) for array in arrays))
            at = {(points[3 * i] % 32, points[3 * i + 1] % 32): (u[i], v[i]) for i in range(len(u))}  # points are there once a cell, and periodic
            self.assertEqual(len(at), 1024)
            fields.append([at[place] for place in sorted(at)])
        return fields[1:]

    def test_strong_orders(self):
        """Nodes of mass 1 that nothing couples are as many paths of du = -u/2 dt + u/2 dW and dv = -v dt + dW/2, whose solutions for the path of the noise are known.

        That path is the solution without a drift. Of v all increments count, and what is not known of the path within the steps has a variance that is."""
        errors = []
        for n in (8, 32):
            dt = 1 / n
            still = [f"Turing/{entry}" for entry in ("Initial value u=0", "Initial value v=0", "Noise u=1", "Noise v=1")]
            paths = self.values(dt, *still)
            ends = self.values(dt, "Turing/Initial value u=1", "Turing/Initial value v=1", "Turing/Reaction u=-u/2", "Turing/Reaction v=-v", "Turing/Noise u=u/2", "Turing/Noise v=1/2")[-1]
            self.assertEqual(len(paths), n)
            decay = [math.exp(k * dt - 1) for k in range(n + 1)]  # exp(s - 1) at the ends of the steps
            unknown = sum((b ** 2 - a ** 2) / 2 - (b - a) ** 2 / dt for a, b in zip(decay, decay[1:])) / 4
            multiplicative, additive = [], []
            for i, (u, v) in enumerate(ends):
                walk = [0] + [path[i][1] for path in paths]
                known = decay[0] + sum((b - a) * (y - x) / dt / 2 for a, b, x, y in zip(decay, decay[1:], walk, walk[1:]))
                multiplicative.append((u - math.exp(-1 / 2 - 1 / 8 + paths[-1][i][0] / 2)) ** 2)
                additive.append((v - known) ** 2 + unknown)
            self.assertAlmostEqual(variance([value for value, _ in paths[-1]]), 1, delta=0.2)
            errors.append([math.sqrt(sum(squares) / len(squares)) for squares in (multiplicative, additive)])
        for coarse, fine, order in zip(*errors, (0.5, 1)):
            self.assertLess(fine, 0.05)
            self.assertAlmostEqual(math.log(coarse / fine, 4), order, delta=0.12)

    def test_bad_input(self):
        self.invalid([(self.file, [setting], says) for setting, says in (
            ("Time stepping/Scheme=BDF2", "'Time stepping/Scheme' is BDF2"), ("Time stepping/Step control=error-controlled", "'Time stepping/Step control' is error-controlled"),
            ("Mesh/Growth=linear", "'Mesh/Growth"), ("Turing/Noise u=w", "w"), ("Time stepping/Estimate error=true", "whose noise would differ"))])
        said = self.failed_run(self.file, "Turing/Noise u=1/(x - 1)", says=["the noise is not finite: that of u at (1, 0) and t = 0, where u = 1", ": the expression '1/(x - 1)' of the entry 'Turing/Noise u' is inf"])
        self.assertNotIn("error-controlled", said)

    def test_noise_that_is_too_strong_is_named(self):
        for engine, settings in (("general", ["Turing/Noise u=1e300"]), ("general", ["Turing/Noise u=1e12"]), ("fused", ["Linear solver/Method=automatic", "Turing/Noise u=1e300"])):
            with self.subTest(f"{engine} {settings}"):
                self.failed_run(self.file, *settings, f"Time stepping/Engine={engine}", says=["the noise of the step, 'Turing/Noise ...', changes a field by up to ", "at the start the largest |u| was 2"])

    def test_noise_that_is_not_finite_at_the_beginning_deletes_no_results(self):
        self.leopard(self.file)
        kept = self.statistics("heat")
        said = self.leopard(self.file, "Turing/Noise u=1/x", fails=True)  # with --overwrite
        self.assertIn("the noise is not finite: that of u at (0, 0) and t = 0", said)
        self.assertEqual(self.statistics("heat"), kept)


SPOTS = """set Problem = turing
subsection Turing
  set gamma   = 50
  set Noise u = 0.05
  set Noise v = 0.04*v
  set Start from steady state = true
  set Perturbation = 0.02
  set Seed = 7
end
subsection Mesh
  set Global refinements = 4
end
subsection Time stepping
  set Scheme       = implicit Euler
  set Step control = fixed
  set Step size    = 2e-3
  set End time     = 0.04
end
subsection Linear solver
  set Method             = gmres
  set Relative tolerance = 1e-12
  set Threads            = 2
end
subsection Newton
  set Relative tolerance = 1e-12
  set Absolute tolerance = 1e-15
end
subsection Output
  set Log every = 1
end
"""


THREE = SPOTS.replace("""  set gamma   = 50
  set Noise u = 0.05
  set Noise v = 0.04*v
  set Start from steady state = true
  set Perturbation = 0.02
""", """  set Kinetics     = expressions
  set Species      = a, b, c
  set Reaction a   = b - a
  set Reaction b   = c - b
  set Reaction c   = 1 - c*a
  set Diffusion a  = 1
  set Diffusion b  = 2
  set Diffusion c  = 3
  set gamma        = 1
  set Noise a      = 0.1
  set Noise b      = 0.1*c
  set Steady state = none
  set Initial value a = 1
""")


class NoiseInTheFusedLoop(Program):
    """The same random numbers, in a time loop of its own: files without a linear solver of their own are done by it."""

    def run_spots(self, name, *settings, engine="fused", text=SPOTS, **options):
        """What statistics says of the fields after each step."""
        free = ["Linear solver/Method=automatic"] if engine == "fused" else []
        self.leopard(self.write(f"{name}.prm", text), *free, f"Time stepping/Engine={engine}", *settings, **options)
        self.assertIn(f"time loop: {engine}", self.log(name))
        return self.rows(name)

    def rows(self, name):
        columns, rows = self.statistics(name)
        at = [i for i, column in enumerate(columns) if column.startswith(("minimum of", "maximum of", "mean of", "total mass of", "rate of change"))]
        self.assertGreaterEqual(len(at), 9)
        return [[row[i] for i in at] for row in rows]

    def assert_same(self, found, expected, what, delta=1e-8):
        self.assertEqual(len(found), len(expected), what)
        for one, other in zip(found, expected):
            for a, b in zip(one, other):
                self.assertAlmostEqual(a, b, delta=delta * max(1, abs(b)), msg=what)

    def test_is_that_of_the_general_loop(self):
        picture = self.write("half.csv", "0.25, 1\n0.5, 0.75\n")
        self.leopard(self.write("still.prm", SPOTS), "Turing/Noise u=", "Turing/Noise v=", "Linear solver/Method=automatic")
        still = self.rows("still")
        for i, (text, more) in enumerate((
                (SPOTS, []),
                (SPOTS, ["Discretization/Method=finite elements", "Mesh/Domain=ball", "Mesh/Global refinements=3"]),
                (SPOTS, ["Discretization/Method=finite elements", "Mesh/Domain=sphere", "Mesh/Global refinements=2"]),
                (SPOTS, ["Mesh/Periodic=x, y"]),
                (SPOTS, ["Dimension=3", "Mesh/Global refinements=2"]),
                (SPOTS, ["Turing/Noise u=0.05*(1 + x)*u*exp(-10*t)", "Turing/Noise v=if(y < 0.5, 0.03, 0)*sqrt(u*v)"]),
                (SPOTS, [f"Turing/Images=half: {picture}", "Turing/Noise u=0.1*half", "Turing/gamma=50*(1 + half)", "Turing/Noise v="]),
                (SPOTS, ["Turing/Source u=sin(3*x)*exp(-t)", "Turing/Boundary values u=0: 1", "Turing/Boundary values v=0: 1 + t"]),
                (THREE, []))):
            fused, general = self.run_spots(f"fused_{i}", *more, text=text), self.run_spots(f"general_{i}", *more, engine="general", text=text)
            self.assertEqual(len(fused), 20)
            self.assert_same(fused, general, more, 1e-7)
            if i == 0:
                self.assertGreater(max(abs(a - b) for a, b in zip(fused[-1], still[-1])), 1e-2)

    def test_mass_balance(self):
        for more in ([], ["Discretization/Method=finite elements", "Turing/Noise u=0.1*u*(1 + x)"]):
            self.run_spots("balance", *more)
            for field in "uv":
                self.assertLess(max(map(abs, self.column("balance", f"mass balance of {field}"))), 1e-8)

    def test_does_not_depend_on_threads_ranks_or_a_stop(self):
        whole = self.run_spots("whole")
        large = ["Mesh/Global refinements=7", "Time stepping/End time=0.006"]  # smaller ones have one thread
        one, two = (self.run_spots("threads", *large, f"Linear solver/Threads={n}") for n in (1, 2))
        self.assertIn("time loop: fused, 2 host threads", self.log("threads"))
        self.assert_same(two, one, "threads")
        for ranks in (2, 3):
            self.assert_same(self.run_spots("ranks", ranks=ranks), whole, f"{ranks} ranks")
        for mesh in (["Discretization/Method=finite elements", "Mesh/Domain=ball", "Mesh/Global refinements=3"], ["Mesh/Periodic=x"],
                     ["Turing/Noise u=0.05*(1 + x)*u", "Turing/gamma=50*(1 + y)", "Turing/Boundary values u=0: 1", "Turing/Boundary values v=0: 1 + t"]):
            one = self.run_spots("one", *mesh)
            for ranks in (2, 4):
                self.assert_same(self.run_spots("ranks", *mesh, ranks=ranks), one, f"{ranks} ranks, {mesh}")
                self.assertIn(f"time loop: fused, {ranks} ranks", self.log("ranks"))
        # in its middle, and in both loops by turns
        for first, second in (("fused", "fused"), ("fused", "general"), ("general", "fused")):
            self.run_spots("parts", "Time stepping/End time=0.02", engine=first)
            self.assert_same(self.run_spots("parts", engine=second, options=["--resume"]), whole, f"{first}, then {second}", 1e-7)
        other = self.run_spots("other", "Turing/Seed=8")
        for a, b in zip(other[-1], whole[-1]):
            self.assertGreater(abs(a - b), 1e-6)

    def test_many_steps_a_call(self):
        """Steps that nobody looks at are the same ones, and the mass balance is that of the last."""
        whole = self.run_spots("whole")
        few = self.run_spots("few", "Output/Log every=7")
        self.assert_same(few[-1:], whole[-1:], "the last step")
        self.assertLess(max(map(abs, self.column("few", "mass balance of u"))), 1e-8)

    def test_what_it_does_not_know_is_said(self):
        file = self.write("said.prm", SPOTS)
        free = ["Linear solver/Method=automatic", "Time stepping/End time=0.004"]
        why = "time loop: general, since the fused one cannot be used: "
        long = " + ".join(f"sin({k}*u)^2" for k in range(1, 150))
        self.assertIn(why + "of the expressions of 'Turing/Noise ...': they have ", self.leopard(file, *free, f"Turing/Noise u=({long})/1000"))
        refused = self.leopard(file, *free, "Time stepping/Engine=fused", f"Turing/Noise u=({long})/1000", fails=True)
        self.assertIn("of the expressions of 'Turing/Noise ...': they have ", refused)

    def test_bad_input(self):
        file = self.write("bad.prm", SPOTS)
        free = ["Linear solver/Method=automatic", "Time stepping/Engine=fused"]
        for expression, words, where in (("1/(x - 1)", "the noise is not finite: that of u at (1, 0) and t = 0, where u = ", "where the run begins"), ("sqrt(0.011 - t)", "t = 0.012, where u = ", "in the step from time ")):
            message = self.failed_run(file, *free, f"Turing/Noise u={expression}", says=[words, f": the expression '{expression}' of the entry 'Turing/Noise u' is ", where])
            self.assertNotIn("error-controlled", message)
        self.assertEqual(self.checkpoints("bad")[-1:], [6], "the last good state")
        self.assertIn("noise tells places apart to 1e-09", self.leopard(file, *free, "Mesh/Upper corner=2e-8", fails=True))
        self.invalid([(file, free + [setting], says) for setting, says in (
            ("Time stepping/Scheme=BDF2", "'Time stepping/Scheme' is BDF2"), ("Time stepping/Step control=error-controlled", "'Time stepping/Step control' is error-controlled"))])
