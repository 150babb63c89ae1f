# SPDX-License-Identifier: Apache-2.0
"""Problems in physical units, whose times and concentrations may be of any size: the same runs as in units of their own."""
import math
import re

from program import Program


def one_species(reaction, *entries, end="5*T", refinements=2):
    """du/dt = div(D grad u) + reaction, with T, the unit of time, and U, that of u, among the settings."""
    return ("set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Species = u\n set Constants = T: 1, U: 1\n set Steady state = none\n"
            f" set Reaction u = {reaction}\n set Diffusion u = 0.1/T\n" + "".join(f" set {entry}\n" for entry in entries)
            + f"end\nsubsection Mesh\n set Global refinements = {refinements}\nend\nsubsection Time stepping\n set End time = {end}\nend\n"
            "subsection Output\n set Log every = 1\nend\n")


class UnitsOfTime(Program):
    # fails if the smallest step does not follow the end time: one step of the whole run, without a word
    def test_short_and_long_runs_are_like_others(self):
        """u' = (1 - u)/T from 0.1 until 5 T."""
        file = self.write("decay.prm", one_species("(1 - u)/T", "Initial value u = 0.1"))
        exact = 1 - 0.9 * math.exp(-5)
        for unit in ("1e-13", "1e-20", "1e40"):
            for settings in (["Scheme=BDF2"], ["Scheme=BDF2", "Engine=general"], ["Scheme=BDF3"], ["Scheme=SBDF2"], ["Scheme=ETDRK4"]):
                with self.subTest(unit=unit, settings=settings):
                    self.leopard(file, f"Turing/Constants/T={unit}", *(f"Time stepping/{setting}" for setting in settings), timeout=20)
                    self.assertAlmostEqual(self.column("decay", "mean of u")[-1], exact, delta=5e-3)
                    self.assertAlmostEqual(self.column("decay", "time")[-1], 5 * float(unit), delta=1e-9 * float(unit))
                    self.assertLess(self.run_json("decay")["time_loop"]["steps"], 500)

    # fails if the first steps, of which there is no estimate, may be the whole run where the reaction does not limit them
    def test_diffusion_alone(self):
        """exp(-0.1 pi^2 t/T) cos(pi x), with 'Step size' above the end time."""
        file = self.write("diffusion.prm", one_species("0", "Initial value u = cos(pi*x)", end="T", refinements=5))
        for settings in ([], ["Engine=general"], ["Scheme=BDF3"]):
            said = self.leopard(file, "Turing/Constants/T=1e-8", *(f"Time stepping/{setting}" for setting in settings))
            self.assertAlmostEqual(self.column("diffusion", "maximum of u")[-1], math.exp(-0.1 * math.pi**2), delta=5e-3, msg=str(settings))
            self.assertIn("the first step is 1e-10 and not 'Time stepping/Step size' = 0.0001, a hundredth of the run", said)

    def test_a_given_smallest_step(self):
        file = self.write("given.prm", one_species("(1 - u)/T", "Initial value u = 0.1"))
        short = self.write("short.prm", file.read_text().replace("T: 1,", "T: 1e-13,")).name
        self.invalid([(short, ["Time stepping/Smallest step=1e-12"], ["'Time stepping/Smallest step' is 1e-12, and the whole run, 'End time' = 5e-13, is not much longer",
                                                                                 "expected: a number up to 5e-15, or automatic"]),
                      (file.name, ["Time stepping/Smallest step=0.06"], ["'Time stepping/Smallest step' is 0.06", "expected: a number up to 0.05"]),
                      (file.name, ["Time stepping/Smallest step=-1"], ["'-1'", "automatic"]),
                      (file.name, ["Time stepping/Smallest step=soon"], ["'soon'", "automatic"])])
        self.valid([(short, ["Time stepping/Smallest step=5e-15"]), (file.name, ["Time stepping/Smallest step=1/1000", "Time stepping/Step size=1e-2"]),
                    (file.name, ["Time stepping/Smallest step=0"]), (file.name, ["Time stepping/Smallest step=5", "Time stepping/Step control=fixed"])])
        # a first step that the error wants shorter than that
        said = self.leopard(file, "Turing/Constants/T=1e-6", "Time stepping/End time=1e-4", "Time stepping/Smallest step=3e-8")
        self.assertRegex(said, r"warning: the first step is 'Time stepping/Smallest step' = 3e-08, longer than \S+, as long as the error tolerance lets the reaction")
        self.assertIn("to try: a smaller 'Smallest step'", said)
        self.assertNotIn("warning: the first step", self.leopard(file, "Time stepping/Smallest step=1e-5"))

    def test_underflow_names_the_smallest_step(self):
        file = self.write("pole.prm", one_species("u^2/T", "Initial value u = 1"))
        for settings in ([], ["Time stepping/Engine=general"], ["Time stepping/Scheme=ETDRK4"]):
            error = self.failed_run(file, "Turing/Constants/T=1e-13", "Time stepping/Blow-up factor=1e300", "Time stepping/Smallest step=1e-16", *settings, says=["to try:"])
            self.assertRegex(error, "below 'Time stepping/Smallest step' = 1e-16|is not finite|blows up")
            if "below 'Time" in error:
                self.assertRegex(error.split("to try:")[1], "a smaller '(Time stepping/)?Smallest step'")


KINETICS = ("set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Constants = U: {U}, V: {V}\n"
            " set Reaction u = 0.1*U - u + u^2*v/(U*V)\n set Reaction v = 0.9*V - u^2*v*V/(U^2*V)\n set Diffusion u = 1\n set Diffusion v = 30\n{more}end\n"
            "subsection Mesh\n set Upper corner = 20\n set Global refinements = 3\nend\n")


class UnitsOfConcentration(Program):
    UNITS = (("1e-9", "1"), ("1", "1e-9"), ("1e-12", "1e12"), ("1e9", "1e9"), ("1e-15", "1e-15"), ("1e6", "1e-6"))

    def steady_state(self, U, V, more):
        """u and v of what was found, in these units."""
        [said] = self.valid([(self.write("steady.prm", KINETICS.format(U=U, V=V, more=more)).name, [])])
        return [float(value) / float(unit) for value, unit in zip(re.search(r"steady state: u = (\S+), v = (\S+)", said).groups(), (U, V))]

    # fails if species are measured by one size for all, or by 1
    def test_a_guess(self):
        for U, V in self.UNITS:
            with self.subTest(U=U, V=V):
                for about in (1, 1.5):
                    u, v = self.steady_state(U, V, f" set Steady state guess = u: {about}*U, v: 0.9*V\n")
                    self.assertAlmostEqual(u, 1, delta=1e-4)
                    self.assertAlmostEqual(v, 0.9, delta=1e-4)

    # fails if the search begins with starts from 0.01 to 100 only
    def test_initial_values(self):
        for U, V in self.UNITS:
            with self.subTest(U=U, V=V):
                u, v = self.steady_state(U, V, " set Initial value u = U*(1 + 0.2*cos(pi*x/20))\n set Initial value v = V\n")
                self.assertAlmostEqual(u, 1, delta=1e-4)
                self.assertAlmostEqual(v, 0.9, delta=1e-4)

    def test_neither(self):
        for U in ("1e-11", "1e-6", "1e5", "1e11"):
            with self.subTest(U=U):
                self.assertAlmostEqual(self.steady_state(U, U, " set Start from steady state = true\n set Perturbation = 0.01\n")[0], 1, delta=1e-4)

    # fails if states are told apart by an absolute difference
    def test_several_states(self):
        text = ("set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Constants = U: {}\n set Reaction u = -(u - U)*(u - 2*U)*(u - 3*U)/U^2\n"
                " set Reaction v = u - v\n set Diffusion u = 1\n set Diffusion v = 1\n set Initial value u = 2.9*U\n set Initial value v = 2.9*U\nend\n")
        for U in ("1", "1e-5", "1e-9", "1e-13", "1e7"):
            [said] = self.valid([(self.write("several.prm", text.format(U)).name, [])])
            self.assertIn("other steady states were found (2)", said, U)

    # fails if what rounding leaves of zero is called a positive species
    def test_zero_is_not_positive(self):
        for initial in ("1e-9", "1e-20", "1"):
            more = f" set Initial value u = 1\n set Initial value v = {initial}\n"
            self.invalid([(self.write("zero.prm", KINETICS.format(U="1", V="1", more=more).replace("0.9*V -", "0*V -")).name, [], "no positive homogeneous steady state")])


class Warnings(Program):
    # fails if values below 1 are compared by their absolute difference
    def test_a_start_beside_the_exact_solution(self):
        file = self.write("start.prm", one_species("0", "Exact solution u = U*(2 + exp(-t/T)*cos(pi*x))", "Initial value u = U*(2 + cos(pi*x))", end="0.01"))
        for unit in ("1", "1e-7", "1e-20"):
            self.assertNotIn("does not begin with", self.leopard(file, f"Turing/Constants/U={unit}"))
            self.assertIn("warning: the run does not begin with the exact solution: u is ", self.leopard(file, f"Turing/Constants/U={unit}", "Turing/Initial value u=U*(2 + 1.001*cos(pi*x))"))
        # what rounding leaves of zero is none of its size
        self.assertNotIn("does not begin with", self.leopard(file, "Turing/Exact solution u=sin(pi + t)*cos(pi*x)", "Turing/Initial value u=0"))

    # fails if a run that ends at once is not said to
    def test_a_steady_tolerance_above_all_rates(self):
        file = self.write("steady.prm", one_species("(U - u)/T", "Initial value u = 0.1*U", end="50*T"))
        tolerance = "Time stepping/Steady tolerance=1e-6"
        for engine in ("fused", "general"):
            said = self.leopard(file, tolerance, "Turing/Constants/U=1e-9", f"Time stepping/Engine={engine}")
            self.assertIn("warning: the run ends as steady after 1 of its steps, at t = 0.0001: du/dt is 9e-10, below 'Time stepping/Steady tolerance', which is absolute", said)
            self.assertIn("to try: a smaller 'Steady tolerance'", said)
            for settings in ([tolerance], ["Time stepping/Steady tolerance=1e-15", "Turing/Constants/U=1e-9"], [tolerance, "Turing/Initial value u=U"]):
                said = self.leopard(file, *settings, f"Time stepping/Engine={engine}")
                self.assertIn("steady state after", said)
                self.assertNotIn("ends as steady", said)

    # fails if nothing is said of what lies between two steps
    def test_what_changes_in_time(self):
        pulse = "10*exp(-((t - 10)/0.05)^2)"
        file = self.write("pulse.prm", one_species("0", "Initial value u = 0.5", end="20"))
        note = "changes in time that are shorter than the steps, such as a pulse between two of them, are not seen\n  to try: 'Time stepping/Largest step'"
        cases = {f"Reaction u={pulse}": "Reaction u", f"Source u={pulse}": "Source u", f"Boundary values u=0: {pulse}": "Boundary values u", "Boundary fluxes u=1: sin(t)": "Boundary fluxes u",
                 "gamma=1 + t": "gamma", "Advection u=t, 0": "Advection u"}
        said = self.valid([(file.name, [f"Turing/{setting}"]) for setting in cases])
        for entry, text in zip(cases.values(), said):
            self.assertIn(f"'Turing/{entry}' depends on t: {note}", text)
        two = [f"Turing/Reaction u={pulse}", "Turing/Source u=t"]
        self.assertIn(f"'Turing/Reaction u' and 1 more depend on t: {note}", self.valid([(file.name, two)])[0])
        for text in self.valid([(file.name, []), (file.name, [*two, "Time stepping/Largest step=0.01"]), (file.name, [*two, "Time stepping/Step control=fixed"]),
                                (file.name, ["Turing/Source u=x"])]):
            self.assertNotIn("changes in time", text)
        # and that is right: with steps of that length it is seen
        self.leopard(file, two[0], "Time stepping/Largest step=0.02", "Output/Log every=1000")
        self.assertAlmostEqual(self.column("pulse", "mean of u")[-1], 0.5 + 0.5 * math.sqrt(math.pi), delta=0.02)


if __name__ == "__main__":
    import unittest
    unittest.main()
