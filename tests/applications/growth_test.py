# SPDX-License-Identifier: Apache-2.0
"""Domains that grow uniformly: modes that decay as they must, a manufactured solution, masses, pictures, and mistakes."""
import math
import xml.etree.ElementTree

from program import FILES, ROOT, Program

VERIFICATION = FILES / "verification"
TINY = ROOT / "tests/output/tiny_turing.prm"
SCHEMES = {"implicit Euler": 1, "BDF2": 2, "SBDF2": 2}
LAWS = ("exponential", "linear")


def length(law, r, t):
    return math.exp(r * t) if law == "exponential" else 1 + r * t


def inverse_square(law, r, t):
    """The integral of 1/L^2 from 0 to t."""
    return (1 - math.exp(-2 * r * t)) / (2 * r) if law == "exponential" else t / (1 + r * t)


class Growth(Program):
    # no reaction: each cosine decays on its own, and the mass stays
    DECAY = ("set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Steady state = none\n set Reaction u = 0*u\n set Reaction v = 0*v\n"
             " set Diffusion u = 1\n set Diffusion v = 3\n set Initial value u = 2 + cos(pi*x)\n set Initial value v = 1 + cos(pi*x)/2\nend\n"
             "subsection Mesh\n set Global refinements = 2\nend\nsubsection Discretization\n set Method = finite differences\nend\n"
             "subsection Linear solver\n set Method = direct\n set Relative tolerance = 1e-14\nend\nsubsection Newton\n set Relative tolerance = 1e-12\nend\n"
             "subsection Time stepping\n set Step control = fixed\n set End time = 0.2\nend\nsubsection Output\n set Interval = 0.1\nend\n")

    def test_modes_decay_and_masses_stay(self):
        file = self.write("decay.prm", self.DECAY)
        eigenvalue = 4 * 16 * math.sin(math.pi / 8) ** 2  # of cos(pi x) on the grid with h = 1/4
        for dim, schemes, rate in ((2, list(SCHEMES), 3), (2, ["BDF2"], -2), (3, ["BDF2"], 3)):
            runs = self.sweep(file, {"Mesh/Growth": LAWS, "Time stepping/Scheme": schemes, "Time stepping/Step size": ["0.005", "0.0025"]}, "Mesh/Growth=linear", f"Mesh/Growth rate={rate}",
                              f"Dimension={dim}")
            errors = {}
            for (law, scheme, _), name in runs:
                grown = length(law, rate, 0.2)
                columns, rows = self.statistics(name)
                last = dict(zip(columns, rows[-1]))
                error = [0., 0.]
                for field, diffusion, mean, amplitude in (("u", 1, 2, 1), ("v", 3, 1, 0.5)):
                    expected = amplitude * math.exp(-diffusion * eigenvalue * inverse_square(law, rate, 0.2)) / grown**dim
                    found = (last[f"maximum of {field} (dimensionless)"] - last[f"minimum of {field} (dimensionless)"]) / 2
                    error[0] += abs(found / expected - 1)
                    error[1] += abs(last[f"total mass of {field} (dimensionless)"] / mean - 1)
                    for row in rows:  # the scheme's own balance closes to rounding
                        self.assertLess(abs(row[columns.index(f"mass balance of {field}: change in the step less integrated reaction (dimensionless)")]), 1e-12)
                errors.setdefault((law, scheme), []).append(error)
            self.assertEqual(len(errors), 2 * len(schemes))
            for (law, scheme), both in errors.items():
                for coarse, fine in zip(*both, strict=True):
                    self.assertAlmostEqual(math.log2(coarse / fine), SCHEMES[scheme], delta=0.2, msg=f"{law} {dim}D {scheme} {rate}: {both}")
                    self.assertLess(fine, 0.3 if SCHEMES[scheme] == 1 else 0.05)

    def test_manufactured_solution_of_the_coupled_system(self):
        u, v = "(1 + exp(-t)/2*cos(pi*x)*cos(pi*y))", "(1 + exp(-t)/2*cos(2*pi*x))"
        for law, k, s in (("exponential", "exp(-2*t)", "2"), ("linear", "1/(1 + t)^2", "2/(1 + t)")):
            sources = [f"Turing/Source u=({k}*2*pi^2 - 1)*exp(-t)/2*cos(pi*x)*cos(pi*y) + {s}*{u} - (0.1 - {u} + {u}^2*{v})",
                       f"Turing/Source v=({k}*40*pi^2 - 1)*exp(-t)/2*cos(2*pi*x) + {s}*{v} - (0.9 - {u}^2*{v})"]
            for order, settings in ((2, ["Discretization/Method=finite differences"]), (3, ["Discretization/Degree=2", "Verification/Refinements=2", "Time stepping/Scheme=SBDF2"])):
                self.leopard(VERIFICATION / "turing_space_order.prm", f"Mesh/Growth={law}", "Mesh/Growth rate=1", *sources, *settings)
                rows = self.convergence("turing_space_order")
                self.assertAlmostEqual(float(rows[-1]["l2_rate"]), order, delta=0.15, msg=f"{law} {settings}")
                self.assertLess(float(rows[-1]["l2_error"]), 0.02)

    def test_the_asynchronous_bound_holds(self):
        runs = self.sweep(TINY, {"Mesh/Growth": LAWS}, "Mesh/Growth=linear", "Mesh/Growth rate=5", "Time stepping/Step control=asynchronous bound", "Time stepping/End time=0.1",
                          "Turing/gamma=1000", "Linear solver/Method=async")
        for law, name in runs:
            self.assertIn("times the asynchronous bound", self.log(name), law)

    def test_killed_or_not_the_end_is_the_same(self):
        settings = ["Mesh/Growth=exponential", "Mesh/Growth rate=20", "Linear solver/Method=direct", "Newton/Relative tolerance=1e-12", "Time stepping/Scheme=BDF2"]
        self.leopard(TINY, *settings, "Time stepping/End time=0.02")
        reference = self.statistics("tiny_turing")[1]
        self.leopard(TINY, *settings, "Time stepping/End time=0.01")
        self.leopard(TINY, *settings, "Time stepping/End time=0.02", options=["--resume"])
        rows = self.statistics("tiny_turing")[1]
        self.assertEqual([row[0] for row in rows], [row[0] for row in reference])
        for one, other in zip(rows[-1][10:18], reference[-1][10:18]):
            self.assertAlmostEqual(one, other, delta=1e-8)

    def widths(self):
        """Of the domain, as the files of the PVD have it."""
        import vtk
        result = []
        for entry in xml.etree.ElementTree.parse(self.folder / "output/tiny_turing/solution.pvd").iter("DataSet"):
            reader = vtk.vtkXMLPUnstructuredGridReader() if entry.get("file").endswith("pvtu") else vtk.vtkXMLUnstructuredGridReader()
            reader.SetFileName(str(self.folder / "output/tiny_turing" / entry.get("file")))
            reader.Update()
            bounds = reader.GetOutput().GetBounds()
            result.append((float(entry.get("timestep")), bounds[1] - bounds[0]))
        return result

    def test_fields_are_written_on_the_grown_domain(self):
        try:
            import vtk  # noqa: F401
        except ImportError as error:
            self.skipTest(str(error))
        for scaled in ("true", "false"):
            self.leopard(TINY, "Mesh/Growth=linear", "Mesh/Growth rate=100", f"Output/Scale by growth={scaled}")
            widths = self.widths()
            self.assertEqual(len(widths), 4)
            for time, width in widths:
                self.assertAlmostEqual(width, 1 + 100 * time if scaled == "true" else 1, delta=1e-6)

    def test_bad_input(self):
        for settings, says in ((["Mesh/Growth=linear"], "'Mesh/Growth' is linear, but 'Mesh/Growth rate' is 0"),
                               (["Mesh/Growth rate=1"], "'Mesh/Growth' is none"),
                               (["Mesh/Growth=linear", "Mesh/Growth rate=-1000"], "the domain has vanished before"),
                               (["Mesh/Growth=quick"], "one of: none | exponential | linear")):
            error = self.leopard(TINY, *settings, fails=True)
            self.assertIn(says, error)
            self.assertEqual(error.count("leopard: "), 1)
        self.assertIn("is stationary", self.leopard(VERIFICATION / "laplace.prm", "Mesh/Growth=linear", "Mesh/Growth rate=1", fails=True))
        self.assertFalse((self.folder / "output").exists())


if __name__ == "__main__":
    import unittest
    unittest.main()
