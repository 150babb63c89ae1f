# SPDX-License-Identifier: Apache-2.0
"""What the program says of a pattern: warnings before the run where it knows better, the log of the run, and the pattern at its end."""
import re

from program import FILES, ROOT, Program

TINY = ROOT / "tests/output/tiny_turing.prm"
SPOTS = FILES / "quickstart/leopard_spots.prm"
BAND = ["Turing/Start from steady state=true", "Turing/Perturbation=0"]

PEARSON = """
set Problem = turing
subsection Turing
  set Kinetics = Gray-Scott
  set Gray-Scott F = 0.037
  set Gray-Scott k = 0.06
  set Diffusion u  = 2e-5
  set Diffusion v  = 1e-5
  set Initial value u = 1 - 0.5*exp(-((x - 1.25)^2 + (y - 1.25)^2)/0.01)
  set Initial value v = 0.25*exp(-((x - 1.25)^2 + (y - 1.25)^2)/0.01)
end
subsection Mesh
  set Upper corner       = 2.5
  set Global refinements = 6
end
subsection Discretization
  set Method = finite differences
end
subsection Time stepping
  set Step size = 1
  set End time  = 200
end
subsection Linear solver
  set Threads = 1
end
"""


class StartWarnings(Program):
    def test_noise_is_a_start(self):
        self.assertEqual(self.warnings(ROOT / "parameter_files/gallery/noise.prm"), [])

    def all_warnings(self, cases):
        """Those of each of many files with settings."""
        return [re.findall(r"^warning: (.*(?:\n  to try: .*)?)", said, re.MULTILINE) for said in self.valid(cases)]

    def warnings(self, file, *settings):
        return self.all_warnings([(file, settings)])[0]

    def check(self, words, *settings):
        found = self.warnings(SPOTS, *settings)
        self.assertEqual(len(found), 1, found)
        for word in words:
            self.assertIn(word, found[0])

    def test_all_parameter_files_are_valid_and_have_none(self):
        files = sorted(FILES.rglob("*.prm"))
        for file, warnings in zip(files, self.all_warnings([(file, []) for file in files])):
            self.assertEqual(warnings, [], file)
        self.assertFalse((self.folder / "output").exists())

    def test_few_cells_a_wavelength(self):
        # wavelength 0.27 on 16 cells
        self.check(["4.4 nodes a wavelength", "'Mesh/Global refinements' = 5, where it is 4 now"], "Mesh/Global refinements=4")
        enough = (["Mesh/Global refinements=5"], ["Mesh/Global refinements=4", "Mesh/Cells=2"],
                  ["Discretization/Method=finite elements", "Discretization/Degree=2", "Mesh/Global refinements=4"])
        self.assertEqual(self.all_warnings([(SPOTS, settings) for settings in enough]), [[], [], []])

    def test_cells_that_are_so_short_that_rounding_counts(self):
        """The mean of fields of the thin box moved by percents, and the run was a success."""
        self.check(["cells are so short, 3.1e-09, that rounding of the diffusion terms may change fields by"], "Mesh/Global refinements=5", "Mesh/Domain=box", "Mesh/Upper corner=1, 1e-7")
        self.assertEqual(self.warnings(SPOTS, "Mesh/Global refinements=5", "Mesh/Domain=box", "Mesh/Upper corner=1, 1e-4"), [])

    def test_cells_of_a_growing_domain(self):
        self.check(["nodes a wavelength"], "Mesh/Global refinements=5", "Mesh/Growth=linear", "Mesh/Growth rate=20")  # five times as long at the end

    def test_one_cell(self):
        self.check(["the mesh is one cell", "'Mesh/Global refinements'"], "Mesh/Global refinements=0")
        laplace = self.write("laplace.prm", "set Problem = laplace\n")
        self.assertIn("the mesh is one cell", self.warnings(laplace)[0])

    def test_disturbance_outside_the_band(self):
        outside = ["strongest at the wave number k = 6.283", "no part in the unstable band (13.125 < k < 39.147)", "'Turing/Perturbation' = 0.02"]
        self.check(outside, *BAND, "Turing/Initial value u=0.01*cos(2*pi*x)")
        self.check(outside, *BAND, "Turing/Initial value v=0.01*cos(2*pi*y)")
        # inside it; with a random part; and one that is not small, of which linear theory does not speak
        others = (["Turing/Initial value u=0.01*cos(8*pi*x)"], ["Turing/Initial value u=0.01*cos(2*pi*x)", "Turing/Perturbation=1e-3"],
                  ["Turing/Initial value u=1.5*cos(2*pi*x)"])
        self.assertEqual(self.all_warnings([(SPOTS, [*BAND, *settings]) for settings in others]), [[], [], []])

    def test_a_domain_that_is_very_much_longer_than_wide(self):
        """The spectrum of what it begins with took memory as the ratio of the sides, 25 GB here."""
        for corner in ("1, 1e8", "1e9, 1"):
            said = self.leopard(SPOTS, f"Mesh/Upper corner={corner}", "Mesh/Global refinements=4", "Time stepping/End time=1e-4")
            self.assertIn("finished after", said)

    def test_homogeneous_start(self):
        for settings in ([], ["Turing/Initial value u=0.1"], ["Dimension=3", "Mesh/Global refinements=5"]):
            self.check(["all fields begin with the same value everywhere", "'Turing/Perturbation' = 0.02"], *BAND, *settings)
        self.check(["'Turing/Perturbation' = 0.1 is relative to the initial values, which are zero"], "Turing/Start from steady state=false", "Turing/Perturbation=0.1")
        for domain in ("sphere", "ball"):
            self.check(["the same value everywhere"], *BAND, f"Mesh/Domain={domain}", "Discretization/Method=finite elements")
            self.assertEqual(self.warnings(SPOTS, *BAND, f"Mesh/Domain={domain}", "Discretization/Method=finite elements", "Turing/Initial value u=0.01*x"), [])

    def test_log_and_run_json_have_them_and_a_resumed_run_does_not(self):
        settings = ["Turing/Perturbation=0", "Linear solver/Threads=1"]
        self.assertIn("warning: all fields begin with the same value", self.leopard(TINY, *settings))
        self.assertIn("all fields begin", self.run_json("tiny_turing")["warnings"][0])
        self.assertNotIn("all fields begin", self.leopard(TINY, *settings, "Time stepping/End time=4e-3", options=["--resume"]))


class LiteratureUnits(Program):
    def test_gray_scott_of_pearson(self):
        file = self.write("pearson.prm", PEARSON)
        said = self.leopard(file)
        self.assertIn("steady state: u = 1, v = 0", said)
        self.assertIn("no pattern will form from small disturbances", said)
        self.assertIn("a large one, such as a patch with other values, may form one all the same", said)
        self.assertNotIn("warning", said)
        analysis = self.run_json("pearson")["analysis"]
        self.assertEqual(analysis["diffusion"], {"u": 2e-5, "v": 1e-5})
        columns, rows = self.statistics("pearson")
        spots = next(i for i, name in enumerate(columns) if name.startswith("number of spots of v"))
        maximum = columns.index("maximum of v (dimensionless)")
        self.assertGreater(rows[-1][maximum], 0.1, "the patch has died")
        self.assertGreaterEqual(rows[-1][spots], 1)

    def test_units_do_not_matter(self):
        """The same system on the unit square: gamma = 2.5^2/2e-5 and time divided by it."""
        gamma, settings = 2.5**2 / 2e-5, ["Newton/Relative tolerance=1e-10", "Time stepping/Error tolerance=1e-4"]
        self.leopard(self.write("pearson.prm", PEARSON), *settings)
        own = self.statistics("pearson")[1][-1]
        scaled = PEARSON.replace("Diffusion u  = 2e-5", f"gamma = {gamma}").replace("Diffusion v  = 1e-5", "kappa = 0.5").replace("= 2.5", "= 1")
        scaled = re.sub(r"(Initial value . =)(.*)", lambda m: m[1] + re.sub(r"\b([xy])\b", r"(2.5*\1)", m[2]), scaled)
        self.leopard(self.write("scaled.prm", scaled), *settings, f"Time stepping/Step size={1 / gamma}", f"Time stepping/End time={200 / gamma}")
        for one, two in zip(own[10:16], self.statistics("scaled")[1][-1][10:16]):
            self.assertAlmostEqual(one, two, delta=1e-4)

    def test_diffusion_of_built_in_kinetics(self):
        for settings, says in ((["Turing/Diffusion u=3"], "3 laplace u, v_t = gamma g + 30 laplace v"), (["Turing/Diffusion v=7"], "kappa = 7"),
                               (["Turing/Diffusion u=2", "Turing/Diffusion v=8", "Turing/kappa=10"], "2 laplace u, v_t = gamma g + 8 laplace v")):
            self.assertIn(says, self.leopard(TINY, *settings, options=["--validate"]))
        self.assertIn("expected: one of the two", self.leopard(TINY, "Turing/Diffusion v=7", "Turing/kappa=12", fails=True))
        self.assertIn("'Turing/Diffusion u' is '-1'", self.leopard(TINY, "Turing/Diffusion u=-1", fails=True))


class LogOfARun(Program):
    def test_header_lines_and_summary(self):
        said = self.leopard(SPOTS, "Mesh/Global refinements=5", "Linear solver/Threads=1")
        header = said[:said.index("step       1")]
        self.assertIn("time: to t = 0.2 by BDF3, error-controlled steps (tolerance 0.001); fields are written at the beginning and the end and every 0.01", header)
        self.assertNotIn("the linear solver is asynchronous", header)  # the fused loop does not use it
        self.assertEqual(header.count("asynchronous: results of two runs differ"), 1)
        lines = re.findall(r"^step .*", said, re.MULTILINE)
        self.assertNotIn("left", lines[0])
        self.assertNotIn("left", lines[-1])
        seconds = self.run_json("leopard_spots")["wall_seconds"]
        self.assertLessEqual(len(lines), 3 + seconds, "more than a line a second")
        self.assertGreaterEqual(len(self.statistics("leopard_spots")[1]), 21, "statistics have a row for each output")
        pattern = self.run_json("leopard_spots")["pattern"]
        self.assertEqual(pattern["kind"], "spots")
        self.assertEqual(pattern["field"], "u")
        self.assertAlmostEqual(pattern["predicted_wavelength"], 0.27472, delta=1e-4)
        self.assertAlmostEqual(pattern["wavelength"], 0.25, delta=0.06)
        self.assertRegex(said, r"pattern of u at t = 0\.2: \d+ spots, wavelength 0\.\d+ \(predicted for small disturbances: 0\.2747, [+-]\d+ %\)")

    def test_general_loop_says_that_its_solver_is_asynchronous(self):
        said = self.leopard(TINY, "Time stepping/Engine=general", "Linear solver/Method=gmres", "Linear solver/Preconditioner=async", "Linear solver/Threads=1")
        self.assertEqual(said.count("'Linear solver/Schedule = replay' makes them equal"), 1)
        said = self.leopard(TINY, "Time stepping/Engine=general", "Linear solver/Method=async", "Linear solver/Wait for ghosts=false", "Linear solver/Threads=1", ranks=2)
        self.assertIn("'Linear solver/Schedule = replay' with 'Linear solver/Wait for ghosts = true' makes them equal", said)

    def test_no_pattern(self):
        said = self.leopard(TINY, "Turing/kappa=2", "Turing/Perturbation=1e-4", "Linear solver/Threads=1")
        self.assertIn("no pattern at t = 0.003: u is between", said)
        self.assertEqual(self.run_json("tiny_turing")["pattern"]["kind"], "none")

    def test_columns_of_statistics_are_documented(self):
        self.leopard(TINY, "Linear solver/Threads=1")
        text = (ROOT / "doc/statistics.md").read_text()
        for column in self.statistics("tiny_turing")[0]:
            name = re.sub(r"\bof [uv]$", "of FIELD", re.split(r" \(|: ", column, maxsplit=1)[0])
            self.assertIn(f"`{name}`", text)

    def test_lines_and_rows_by_steps(self):
        said = self.leopard(TINY, "Output/Log every=1", "Linear solver/Threads=1")
        self.assertEqual(len(re.findall(r"^step ", said, re.MULTILINE)), 3)
        self.assertEqual(len(self.statistics("tiny_turing")[1]), 3)


if __name__ == "__main__":
    import unittest
    unittest.main()
