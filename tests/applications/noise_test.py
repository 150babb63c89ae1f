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

    def test_meshes_whose_places_are_not_told_apart_are_refused(self):
        error = self.leopard(self.file, "Mesh/Upper corner=2e-8", fails=True)
        for words in ("'Turing/Noise ...' is given", "the shortest edge of the mesh is 2.5e-09", "edges of 1e-08 at least"):
            self.assertIn(words, error)

    def test_drift_is_implicit_and_noise_that_of_the_step(self):
        # the same numbers in both runs: M_n+1 (1 + dt) = M_n + (the step of the walk)
        walk, decay = ([4.0] + self.masses(f"Turing/Reaction u={reaction}", "Time stepping/End time=1") for reaction in ("0", "-u"))
        for n in range(100):
            self.assertAlmostEqual(decay[n + 1] * 1.01, decay[n] + walk[n + 1] - walk[n], delta=1e-8)

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
            ("Mesh/Growth=linear", "'Mesh/Growth"), ("Turing/Noise u=w", "w"), ("Time stepping/Estimate error=true", "whose noise would differ"), ("Time stepping/Engine=fused", "it knows no noise"))])
        said = self.failed_run(self.file, "Turing/Noise u=1/(x - 1)", says=["the noise is not finite: that of u at (1, 0) and t = 0, where u = 1", ": the expression '1/(x - 1)' of the entry 'Turing/Noise u' is inf"])
        self.assertNotIn("error-controlled", said)
        self.assertIn("time loop: general, since the fused one cannot be used: it knows no noise", self.leopard(self.file, "Time stepping/End time=0.02"))
