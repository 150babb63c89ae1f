# SPDX-License-Identifier: Apache-2.0
"""Pattern formation from the user's side: free kinetics, the analysis before the run, and whether the run does what it says."""
import math

from program import FILES, ROOT, Program

TINY = ROOT / "tests/output/tiny_turing.prm"
SPOTS = FILES / "quickstart/leopard_spots.prm"

THREE_SPECIES = """
set Problem = turing
subsection Turing
  set Kinetics  = expressions
  set Species   = u, v, w
  set Constants = a: 0.126779, b: 0.792366, g: 100
  set Reaction u = g*(a - u + u^2*v)
  set Reaction v = g*(b - u^2*v)
  set Reaction w = g*(u - w)/(1 + w^2)
  set Diffusion u = 1
  set Diffusion v = 20
  set Diffusion w = 0.5
  set Start from steady state = true
  set Perturbation = 0.05
end
subsection Mesh
  set Global refinements = 4
end
subsection Discretization
  set Method = finite differences
end
subsection Time stepping
  set Step control = fixed
  set Step size    = 1e-3
  set End time     = 5e-3
end
subsection Newton
  set Relative tolerance = 1e-10
end
subsection Linear solver
  set Threads = 2
end
"""


class FreeKinetics(Program):
    AS_EXPRESSIONS = ["Turing/Kinetics=expressions", "Turing/gamma=100", "Turing/Constants=a: 0.126779, b: 0.792366", "Turing/Reaction u=a - u + u^2*v",
                      "Turing/Reaction v=b - u^2*v", "Turing/Diffusion u=1", "Turing/Diffusion v=10"]

    def test_they_give_what_the_built_in_ones_give(self):
        last = []
        for settings in ([], self.AS_EXPRESSIONS):
            self.leopard(TINY, "Linear solver/Method=direct", "Newton/Relative tolerance=1e-11", *settings)
            last.append(self.statistics("tiny_turing")[1][-1][10:16])
        for built_in, free in zip(*last):
            self.assertAlmostEqual(built_in, free, delta=1e-11)

    def test_three_species_on_one_and_two_ranks(self):
        file = self.write("three.prm", THREE_SPECIES)
        last = []
        for ranks in (1, 2):
            self.leopard(file, ranks=ranks)
            columns, rows = self.statistics("three")
            self.assertIn("mean of w (dimensionless)", columns)
            self.assertIn("w", (next((self.folder / "output/three/solution").glob("*.vtu"))).read_text())
            last.append(rows[-1][10:19])
            self.assertNotEqual(rows[-1][16], rows[-1][17], "w does not feel u")
        for one, two in zip(*last):
            self.assertAlmostEqual(one, two, delta=1e-7)

    def test_a_single_species(self):
        # u_t = u (1 - u), logistic: u = 1 / (1 + 9 exp(-t)) from u = 0.1
        text = ("set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Species = u\n set Reaction u = u*(1 - u)\n set Diffusion u = 1\n"
                " set Initial value u = 0.1\n set Exact solution u = 1/(1 + 9*exp(-t))\nend\nsubsection Mesh\n set Global refinements = 1\nend\n"
                "subsection Time stepping\n set Step control = fixed\n set Step size = 0.01\n set End time = 2\nend\nsubsection Linear solver\n set Method = direct\nend\n")
        self.leopard(self.write("logistic.prm", text))
        _, rows = self.statistics("logistic")
        self.assertAlmostEqual(rows[-1][12], 1 / (1 + 9 * math.exp(-2)), delta=1e-4)

    def test_printed_parameters_can_be_read_again(self):
        file = self.write("three.prm", THREE_SPECIES)
        text = self.leopard(file, options=["--print-parameters"])
        self.assertIn("set Reaction w", text)
        self.assertIn("is valid", self.leopard(self.write("again.prm", text), options=["--validate"]))

    def test_species_from_the_command_line(self):
        self.leopard(TINY, *self.AS_EXPRESSIONS, "Turing/Species=p, q", "Turing/Reaction p=a - p + p^2*q", "Turing/Reaction q=b - p^2*q", "Turing/Diffusion p=1",
                     "Turing/Diffusion q=10", fails=True)  # 'Reaction u' is left over
        said = self.leopard(TINY, "Turing/Kinetics=expressions", "Turing/Species=p, q", "Turing/Reaction p=1 - p", "Turing/Reaction q=p - q", "Turing/Diffusion p=1",
                            "Turing/Diffusion q=10", options=["--validate"])
        self.assertIn("p_t = gamma f_p", said)


class Analysis(Program):
    def test_validate_prints_it_and_runs_nothing(self):
        said = self.leopard(SPOTS, options=["--validate"])
        for text in ("Turing analysis", "u = 0.91914, v = 0.9379", "unstable wave numbers: 13.125 < k < 39.147", "116 unstable modes", "expected: a pattern of wavelength"):
            self.assertIn(text, said)
        self.assertFalse((self.folder / "output").exists())
        self.assertEqual(said.count("Turing analysis"), 1)
        self.assertEqual(self.leopard(SPOTS, options=["--validate"], ranks=2).count("Turing analysis"), 1)

    def test_log_and_run_json_hold_it(self):
        said = self.leopard(TINY)
        self.assertLess(said.index("Turing analysis"), said.index("step       1"))
        report = self.run_json("tiny_turing")["analysis"]
        a, b, gamma, kappa = 0.126779, 0.792366, 100, 10
        self.assertAlmostEqual(report["steady_state"]["u"], a + b, delta=1e-12)
        self.assertAlmostEqual(report["steady_state"]["v"], b / (a + b) ** 2, delta=1e-12)
        f_u, g_v, f_v, g_u = (b - a) / (a + b), -(a + b) ** 2, (a + b) ** 2, -2 * b / (a + b)
        h = kappa * f_u + g_v
        k_min, k_max = (math.sqrt(gamma * (h + s * math.sqrt(h * h - 4 * kappa * (f_u * g_v - f_v * g_u))) / (2 * kappa)) for s in (-1, 1))
        self.assertAlmostEqual(report["unstable_wave_numbers"][0][0], k_min, delta=1e-6)
        self.assertAlmostEqual(report["unstable_wave_numbers"][0][1], k_max, delta=1e-6)

    def test_subcritical_says_why_and_the_run_agrees(self):
        settings = ["Turing/gamma=1000", "Turing/kappa=5"]
        said = self.leopard(SPOTS, *settings, options=["--validate"])
        self.assertIn("no pattern will form from small disturbances, because", said)
        self.assertIn("the inhibitor v diffuses 5 times as fast as the activator u, and must diffuse more than 8.6199 times as fast", said)
        self.leopard(SPOTS, *settings, "Mesh/Global refinements=4", "Time stepping/End time=0.1", "Linear solver/Threads=2")
        _, rows = self.statistics("leopard_spots")
        self.assertLess(rows[-1][11] - rows[-1][10], 0.05 * (rows[0][11] - rows[0][10]))
        self.assertFalse(self.run_json("leopard_spots")["analysis"]["pattern"])

    def test_small_domain(self):
        said = self.leopard(SPOTS, "Mesh/Upper corner=0.05", options=["--validate"])
        self.assertIn("no pattern will form from small disturbances, because the domain is too small", said)

    def test_domains(self):
        domains = ((["Mesh/Domain=ball"], "ball, area 3.14"), (["Mesh/Domain=ball", "Dimension=3"], "ball, volume 4.18"), (["Mesh/Domain=L-shape"], "area 0.75"),
                               (["Mesh/Domain=box", "Mesh/Upper corner=2,1"], "(2 x 1)"), (["Dimension=3"], "(1 x 1 x 1)"),
                               (["Mesh/Domain=file", f"Mesh/File={ROOT}/meshes/leopard_pelt.msh"], "file, area "))
        for (_, says), said in zip(domains, self.valid([(SPOTS, ["Discretization/Method=finite elements", *settings]) for settings, _ in domains])):
            self.assertIn(says, said)

    def test_of_free_kinetics_is_that_of_the_built_in_ones(self):
        said = self.valid([(TINY, settings) for settings in ([], FreeKinetics.AS_EXPRESSIONS)])
        self.assertEqual(*(text[text.index("\n"):] for text in said))

    def test_guess_chooses_among_steady_states(self):
        settings = ["Turing/Kinetics=expressions", "Turing/Reaction u=(u - 1)*(2 - u)*(u - 3)", "Turing/Reaction v=u - v", "Turing/Diffusion u=1", "Turing/Diffusion v=1"]
        cases = [(TINY, [*settings, f"Turing/Steady state guess=u: {guess - 0.1}, v: 1"]) for guess in (1, 2, 3)]
        for guess, said in zip((1, 2, 3), self.valid(cases)):
            self.assertIn(f"steady state: u = {guess}, v = {guess}", said)
            self.assertIn("other steady states were found (2)", said)

    def test_none(self):
        said = self.leopard(TINY, "Turing/Steady state=none", "Turing/Start from steady state=false", "Turing/Initial value u=1", "Turing/Initial value v=1", options=["--validate"])
        self.assertNotIn("analysis", said)


class WaveNumber(Program):
    """What the run shows when the disturbance has grown a thousandfold, against the prediction."""

    def check(self, end_time, *settings):
        import spectrum
        self.leopard(SPOTS, "Mesh/Global refinements=6", "Turing/Perturbation=1e-4", "Time stepping/Largest step=5e-4", f"Time stepping/End time={end_time}",
                     "Output/Interval=0", "Output/Log every=1000", "Linear solver/Threads=2", *settings)
        predicted = self.run_json("leopard_spots")["analysis"]["fastest"]
        (_, first), (_, last) = spectrum.fields(self.folder / "output/leopard_spots", "u")
        self.assertGreater(last.std(), 20 * first.std(), "the disturbance has not grown")
        self.assertLess(last.std(), 0.2 * last.mean(), "the linear phase is over")
        # which single mode is the largest is a matter of the random start; the mean over the spectrum is not
        self.assertAlmostEqual(spectrum.mean_wave_number(last) / predicted["k"], 1, delta=0.1)

    def test_schnakenberg(self):
        self.check(0.015)

    def test_gierer_meinhardt(self):
        self.check(0.013, "Turing/Kinetics=Gierer-Meinhardt", "Turing/gamma=2000", "Turing/kappa=30")


if __name__ == "__main__":
    import unittest
    unittest.main()
