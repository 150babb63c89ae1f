# SPDX-License-Identifier: Apache-2.0
"""Numbers as arithmetic, constants, choices in reactions, and what follows from an exact solution."""
import csv
import json
import math
import re
import subprocess

from program import FILES, LEOPARD, ROOT, Program

TINY = ROOT / "tests/output/tiny_turing.prm"
DIRECT = "subsection Linear solver\n set Method = direct\nend\n"


def one_species(entries, end="0.5", more=""):
    return ("set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Species = u\n set Diffusion u = 1\n" + entries + "end\n"
            "subsection Mesh\n set Global refinements = 3\nend\nsubsection Discretization\n set Method = finite differences\nend\n"
            f"subsection Time stepping\n set Step control = fixed\n set Step size = 1/50\n set End time = {end}\nend\n" + more)


class Arithmetic(Program):
    def test_in_any_number(self):
        self.leopard(TINY, "Time stepping/Step size=1/1000", "Time stepping/End time=sqrt(9)/1000", "Turing/gamma=10^2", "Mesh/Upper corner=2 - 1", "Output/Interval=0",
                     "Mesh/Cells=2^2", "Output/Log every=3 - 2", "Output/Times=1e-3, 2*1e-3")
        rows = self.statistics("tiny_turing")[1]
        self.assertEqual([round(row[2], 12) for row in rows], [1e-3] * 3)
        run = self.run_json("tiny_turing")["computed"]
        self.assertEqual(run["Time stepping/Step size"], {"written": "1/1000", "value": "0.001"})
        self.assertEqual(run["Mesh/Cells"]["value"], "4")
        self.assertIn("'Turing/gamma' = 10^2 is 100", (self.folder / "output/tiny_turing/log.txt").read_text())
        file = self.write("constants.prm", one_species(" set Constants = T: 1/5, r: 2*T\n set Reaction u = -r*u\n set Initial value u = T\n set Steady state = none\n", "T/2"))
        self.leopard(file)
        self.assertIn("set End time = T/2", (self.folder / "output/constants/parameters.prm").read_text())
        self.assertIn("set End time = 0.1\n", (self.folder / "output/constants/parameters_all.prm").read_text())
        columns, rows = self.statistics("constants")
        self.assertAlmostEqual(rows[-1][1], 0.1)

    def test_mistakes(self):
        cases = []
        for setting, says in (("Turing/gamma=2*foo", ["'Turing/gamma' is '2*foo'", "there is no constant 'foo'", "a number >= 0, or an expression in x, y, z, t, or arithmetic"]),
                              ("Turing/gamma=1/0", ["'Turing/gamma' is '1/0'", "division by zero"]),
                              ("Turing/gamma=1 - 2", ["'Turing/gamma' is '1 - 2': it is -1", "a number >= 0"]),
                              ("Mesh/Cells=1/3", ["'Mesh/Cells' is '1/3'", "integer"])):
            cases.append((TINY, [setting], says))
        self.invalid(cases)
        error = self.leopard(TINY, "Turing/Constants/k=1", fails=True)
        self.assertIn("'Turing/Constants' has no constant 'k'", error)

    def test_sweep_of_a_constant(self):
        file = self.write("decay.prm", one_species(" set Constants = r: 1, s: 2*r\n set Reaction u = -s*u\n set Initial value u = 1\n set Steady state = none\n"))
        self.leopard(file, "Run/Sweep=r: 1/2, 1")
        with open(self.folder / "output/decay/sweep.csv", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        self.assertEqual([row["r"] for row in rows], ["0.5", "1"])
        for row, rate in zip(rows, (1, 2)):
            run = self.folder / "output/decay/runs" / row["run"]
            maximum = max(value for name, value in ((m["name"], m["value"]) for m in json.loads((run / "run.json").read_text())["measures"]) if "max" in name and "u" in name)
            self.assertAlmostEqual(maximum, math.exp(-0.5 * rate), delta=3e-3)
            self.assertIn(f"r: {row['run'].split('=')[1].split('_')[0]}", (run / "parameters_all.prm").read_text())
        error = self.leopard(file, "Run/Sweep=q: 1, 2", fails=True)
        self.assertIn("there is no entry 'q'", error)
        self.leopard(file, "Turing/Constants/r=3", "Run/Directory=single")
        self.assertIn("set Constants = r: 3, s: 2*r", (self.folder / "single/parameters_all.prm").read_text())


class Functions(Program):
    """doc/coefficients.md says which expressions may call which functions."""
    ARGUMENTS = {"if": "x < 1, x, 2", "step": "2", "atan2": "x, 2", "pow": "x, 2", "min": "x, 2", "max": "x, 2", "sum": "x, 2", "avg": "x, 2"}

    def rows(self):
        table = (ROOT / "doc/coefficients.md").read_text().split("## Functions in expressions")[1]
        return [[name.split("(")[0] for name in re.findall(r"`([a-z0-9]+(?:\([^`]*)?)`", line) if name != "pi"] for line in table.splitlines() if line.startswith("| ")][1:]

    def calls(self, entry, names):
        return [(TINY, [f"Turing/{entry}={'1 + ' if entry == 'gamma' else ''}{name}({self.ARGUMENTS.get(name, '0.5 + x' if name != 'acosh' else '1 + x')})"]) for name in names]

    def test_are_those_of_the_table(self):
        both, differentiated, evaluated = self.rows()
        self.assertIn("atanh", both)
        self.assertEqual(differentiated, ["step"])
        self.assertIn("floor", evaluated)
        self.valid(self.calls("Source u", [name for name in both + evaluated if name not in ("asin", "acos", "atanh")]) + self.calls("gamma", [name for name in both + differentiated if name not in ("asin", "acos", "atanh")]))
        for entry, unknown, known, more in (("gamma", evaluated, both + differentiated, "here, where derivatives are formed; initial values, sources and boundary conditions know it"),
                                            ("Initial value u", differentiated, both + evaluated, "cannot be evaluated")):
            cases = [(file, settings, [more]) for file, settings in self.calls(entry, unknown)]
            for message in self.invalid(cases):
                self.assertEqual(message.strip().rsplit(" functions ", 1)[1].split(", "), sorted(known))


class TwoLanguages(Program):
    """What muParser reads, and what is differentiated: they once took different things."""
    ENTRIES = ("Source u", "Initial value u", "gamma")
    FLUX = "Boundary fluxes u"

    def of_all(self, expression):
        return [(TINY, ["Turing/Start from steady state=false", f"Turing/{entry}={expression}"]) for entry in self.ENTRIES] + [(TINY, [f"Turing/{self.FLUX}=0: {expression}"])]

    def test_the_same_is_refused(self):
        for expression, says in (("1,5", "',5': numbers have a decimal point, '1.5', and a comma stands between arguments of functions only"),
                                 ("2 + (x, y)", "a comma stands between arguments of functions only, and numbers have a decimal point, as in 1.5"),
                                 ("if(x=0.5,7,3)", "at position 5, '=0.5,7,3)': nothing can be assigned here: did you mean '==', which compares, 'x == 0.5'?"),
                                 ("t=1", "'t == 1'?"), ("x =< 1", "there is no such sign: did you mean '<='?"),
                                 ("2^3^2", "a power of a power needs parentheses"), ("1 < x < 2", "a comparison of a comparison needs parentheses, or && between two")):
            messages = self.invalid([(file, settings, [says, f"'{expression}'", "expected: "]) for file, settings in self.of_all(expression)])
            for entry, message in zip((*self.ENTRIES, self.FLUX), messages):
                self.assertIn(f"'Turing/{entry}", message)
                self.assertRegex(message, r"\.prm:\d+: ")

    def test_the_same_is_taken(self):
        self.valid([case for expression in ("max(1, 5)", "1 + (x <= 1) + (x >= 1) + (x == 1) + (x != 1)", "x < 1 ? 2 : x < 2 ? 3 : 4", "1 + !(x > 1)", "1 + max(x)", "2^(3^2)")
                    for case in self.of_all(expression)])

    def test_and_means_the_same(self):
        self.leopard(self.write("same.prm", "set Problem = laplace\nsubsection Laplace\n set Source = 0\n set Exact solution = 2 + (x > 2 ? 1 : 2) + 4*!x + max(3)\n"
                                " set Boundary values = *: 7 + 0*x\nend\n" + DIRECT), "Mesh/Lower corner=1", "Mesh/Upper corner=2")
        self.assertLess(float(self.convergence("same")[-1]["nodal_maximum_error"]), 1e-9)


class ReactionsWithChoices(Program):
    def last_range(self, name):
        """Smallest and largest u at the end, and what was said of the time loop."""
        columns, rows = self.statistics(name)
        low = next(i for i, column in enumerate(columns) if "min" in column.lower())
        high = next(i for i, column in enumerate(columns) if "max" in column.lower())
        return rows[-1][low], rows[-1][high]

    def test_place_and_time(self):
        """u_t = cos(t) on the left and 2 cos(t) on the right, without diffusion to speak of."""
        file = self.write("place.prm", one_species(" set Reaction u = if(x < 0.5, 1, 2)*cos(t)\n set Initial value u = 0\n", "1"))
        for settings in ((), ("Time stepping/Scheme=SBDF2",), ("Time stepping/Scheme=SBDF2", "Time stepping/Step control=error-controlled", "Time stepping/Error tolerance=1e-5")):
            said = self.leopard(file, "Turing/Diffusion u=1e-9", *settings)
            self.assertIn("time loop: fused", said)
            self.assertIn("no analysis: the reaction depends on", said)
            low, high = self.last_range("place")
            self.assertAlmostEqual(low, math.sin(1), delta=2e-3)
            self.assertAlmostEqual(high, 2 * math.sin(1), delta=4e-3)
        one = self.statistics("place")[1][-1]
        self.leopard(file, "Turing/Diffusion u=1e-9", ranks=2)
        self.assertAlmostEqual(self.last_range("place")[1], 2 * math.sin(1), delta=4e-3)
        self.assertEqual(len(self.statistics("place")[1][-1]), len(one))

    def test_limits(self):
        """u_t = min(u, 1) from 1/2, exponential and then linear: exp(t)/2 until log(2), 1 + t - log(2) later. In both loops."""
        for engine in ("general", "fused"):
            file = self.write("limit.prm", one_species(" set Reaction u = min(abs(u), max(1, 1 - u^2))\n set Initial value u = 1/2\n set Steady state = none\n", "1"))
            self.leopard(file, f"Time stepping/Engine={engine}")
            self.assertAlmostEqual(self.last_range("limit")[1], 2 - math.log(2), delta=2e-3)


class ExactSolutions(Program):
    def rate(self, name, text, rate=2, **options):
        said = self.leopard(self.write(f"{name}.prm", text + DIRECT + "subsection Verification\n set Refinements = 2\nend\n"), **options)
        self.assertIn("from the exact solution", said)
        self.assertAlmostEqual(float(self.convergence(name)[-1]["l2_rate"]), rate, delta=0.15)
        self.assertLess(float(self.convergence(name)[-1]["l2_error"]), 0.02)

    def test_gradients_in_domains_of_any_size(self):
        """Differences of the exact solution were of a step of 1e-5, whatever the domain's size."""
        for side in (1e-9, 1e6):
            exact = f"sin({math.pi / side!r}*x)*sin({math.pi / side!r}*y)"
            text = f"set Problem = laplace\nsubsection Laplace\n set Exact solution = {exact}\nend\nsubsection Mesh\n set Domain = box\n set Upper corner = {side!r}, {side!r}\n set Cells = 8, 8\n set Global refinements = 1\nend\n"
            self.leopard(self.write("small.prm", text + DIRECT + "subsection Verification\n set Refinements = 2\nend\n"))
            self.assertAlmostEqual(float(self.convergence("small")[-1]["h1_seminorm_rate"]), 1, delta=0.1, msg=side)

    def test_signs_of_logic_need_no_blanks(self):
        """In 'x>0||y>0' the sign was not known."""
        text = "set Problem = laplace\nsubsection Laplace\n set Exact solution = x\n set Source = 0\n set Boundary values = *: {}\nend\n" + DIRECT
        for condition in ("x<2||y<0", "x<2&&y<2", "(x>2)||((y<2)&&(x<2))"):
            self.leopard(self.write("logic.prm", text.format(f"if({condition}, x, 7)")))
            self.assertLess(float(self.convergence("logic")[-1]["nodal_maximum_error"]), 1e-9, condition)

    def test_make_source_and_boundary_values(self):
        mesh = "subsection Mesh\n set Global refinements = {}\nend\n"
        exact = " set Exact solution = sin(pi*x)*exp(y) + x*z\n"
        self.rate("laplace_2d", f"set Problem = laplace\nsubsection Laplace\n set Coefficient = 1 + x*y\n{exact}end\n" + mesh.format(3))
        self.rate("laplace_3d", f"set Problem = laplace\nset Dimension = 3\nsubsection Laplace\n set Coefficient = 1 + x*y*z\n{exact}end\n" + mesh.format(1))
        self.rate("helmholtz_2d", f"set Problem = helmholtz\nsubsection Helmholtz\n set Constants = k: 3\n set Delta = k^2\n{exact}end\n" + mesh.format(3))
        for reaction in ("", " set Reaction = expression\n set f = -u^3 + y*exp(u)\n"):
            self.rate("reaction", f"set Problem = reaction-diffusion\nsubsection Reaction-diffusion\n{reaction}{exact}end\n" + mesh.format(3))

    def test_of_a_turing_system(self):
        """The file of the order in space without its sources."""
        text = (FILES / "verification/turing_space_order.prm").read_text()
        without = re.sub(r"  set Source [uv] .*\n( +[-+*(].*\n)*", "", text.replace("\\\n", ""))
        self.assertNotIn("Source", without)
        given = self.leopard(self.write("given.prm", text), "Verification/Refinements=1")
        self.leopard(self.write("derived.prm", without), "Verification/Refinements=1")
        for a, b in zip(self.convergence("given"), self.convergence("derived")):
            self.assertAlmostEqual(float(a["l2_error"]), float(b["l2_error"]), delta=1e-3 * float(a["l2_error"]))
        self.assertNotIn("from the exact solution", given)

    def test_what_is_given_counts(self):
        file = self.write("given.prm", "set Problem = laplace\nsubsection Laplace\n set Exact solution = x^2\n set Source = 0\nend\n" + DIRECT)
        self.leopard(file)
        self.assertGreater(float(self.convergence("given")[-1]["l2_error"]), 0.01)  # not the exact solution of this source

    def test_what_cannot_be_derived(self):
        for solution, says in (("rint(x)", ["'Laplace/Source' is not given and cannot be derived", "there is no function 'rint'"]),):
            error = self.leopard(self.write("no.prm", f"set Problem = laplace\nsubsection Laplace\n set Exact solution = {solution}\nend\n"), fails=True)
            for words in says:
                self.assertIn(words, error)

    def test_kinks_are_warned_of(self):
        text = "set Problem = laplace\nsubsection Laplace\n set Exact solution = {}\nend\nsubsection Mesh\n set Global refinements = 2\nend\n"
        said = self.leopard(self.write("jump.prm", text.format("x*x\n set Coefficient = if (x<1/2, 1, 1000)")))
        self.assertIn("warning: the coefficient has if, min, max, abs or the like", said)
        for exact in ("abs(x - 0.4)", "if (x < 0.3, x, y)", "max(x, y)", "x^2 && y"):
            self.assertIn("warning: the exact solution has if, min, max, abs or the like", self.leopard(self.write("kinks.prm", text.format(exact))))
        self.assertNotIn("warning", self.leopard(self.write("kinks.prm", text.format("sin(x)*y"))))
        self.assertNotIn("warning", self.leopard(self.write("kinks.prm", text.format("abs(x - 0.4)\n set Source = 1"))))  # not derived

    def test_derivative_of_f(self):
        text = ("set Problem = reaction-diffusion\nsubsection Reaction-diffusion\n set Reaction = expression\n set f = 1 - u^3*exp(u)\n{}end\n"
                "subsection Mesh\n set Global refinements = 4\nend\nsubsection Newton\n set Forcing = relative tolerance\nend\n" + DIRECT)
        self.leopard(self.write("derived.prm", text.format("")))
        self.leopard(self.write("given.prm", text.format(" set Derivative of f = -(3*u^2 + u^3)*exp(u)\n")))
        derived, given = (self.run_json(name)["cycles"][0] for name in ("derived", "given"))
        self.assertEqual(derived["newton_steps"], given["newton_steps"])
        self.assertAlmostEqual(derived["u"]["maximum"], given["u"]["maximum"], delta=1e-9)

    # fails if one difference quotient is taken at its word: at a kink, or of a wave shorter than its step
    def test_derivatives_of_f_with_kinks_and_short_waves(self):
        text = "set Problem = reaction-diffusion\nsubsection Reaction-diffusion\n set Reaction = expression\n set f = {}\n set Derivative of f = {}\nend\n"
        right = [("max(u - 0.3, 0)", "if(u > 0.3, 1, 0)"), ("abs(u - 0.3027)", "if(u > 0.3027, 1, -1)"), ("sin(1e6*u)", "1e6*cos(1e6*u)"), ("1e8*u^3", "3e8*u^2"), ("sqrt(u)", "1/2/sqrt(u)")]
        wrong = [("max(u - 0.3, 0)", "if(u > 0.3, 0, 1)"), ("sin(1e6*u)", "-1e6*cos(1e6*u)"), ("u^3", "2*u^2"), ("exp(u)", "-exp(u)"), ("if(u > 1, u^2, u)", "1"), ("u^2", "1/(u - u) + 2*u")]
        self.valid([(self.write(f"right{i}.prm", text.format(*case)).name, []) for i, case in enumerate(right)])
        self.invalid([(self.write(f"wrong{i}.prm", text.format(*case)).name, [], "'Reaction-diffusion/Derivative of f'") for i, case in enumerate(wrong)])


class BuiltInKinetics(Program):
    def test_log_calls_them_built_in_and_fused(self):
        for name in ("Schnakenberg", "Gierer-Meinhardt", "Brusselator", "Gray-Scott", "FitzHugh-Nagumo"):
            said = self.leopard(TINY, f"Turing/Kinetics={name}", "Turing/gamma=1")
            self.assertIn("time loop: fused", said)
        for name in ("Thomas", "Lengyel-Epstein", "Barkley", "Oregonator"):  # of which none is compiled
            said = self.leopard(TINY, f"Turing/Kinetics={name}", "Turing/gamma=1")
            self.assertIn("time loop: fused", said)

    def test_each_has_one_place(self):
        """Of the solver library only the list of compiled ones names them."""
        for path in list((ROOT / "applications").rglob("*.cc")) + list((ROOT / "solvers").rglob("*.cc")) + list((ROOT / "solvers").rglob("*.cu*")):
            if "/turing/kinetics/" not in str(path):
                self.assertNotRegex(path.read_text(), '"(Gierer-Meinhardt|Brusselator|FitzHugh-Nagumo|Thomas|Lengyel-Epstein|Barkley|Oregonator)"', str(path))


class Reference(Program):
    def test_settings_before_the_file(self):
        result = subprocess.run([LEOPARD, "--set", "Turing/gamma=7", "--set", "Turing/kappa=9", str(TINY), "--validate"], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("gamma = 7, kappa = 9", result.stdout)

    def test_validation_never_ends_without_a_word(self):
        """LAPACK once ended the program, with the exit code 0."""
        for setting in ("Turing/kappa=0", "Turing/gamma=1e308"):
            result = subprocess.run([LEOPARD, str(TINY), "--set", setting, "--validate"], cwd=self.folder, capture_output=True, text=True, check=False)
            self.assertIn("is valid" if result.returncode == 0 else "expected: ", result.stdout + result.stderr, setting)
            self.assertNotIn("DGEBAL", result.stdout + result.stderr)

    def test_what_is_allowed(self):
        said = subprocess.run([LEOPARD, "--print-parameters"], capture_output=True, text=True, check=True).stdout
        for words in ("#   allowed: one of: laplace | helmholtz | reaction-diffusion | turing; default: turing", "#   allowed: a number above 0; default: 1\n  set End time = 1",
                      "#   allowed: true or false; default: false\n  set Adaptive = false"):
            self.assertIn(words, said)

    def test_doc_is_up_to_date(self):
        said = subprocess.run([LEOPARD, "--print-parameters=markdown"], capture_output=True, text=True, check=True, timeout=1200).stdout
        self.assertEqual(said, (ROOT / "doc/parameters.md").read_text(), "make it anew: leopard --print-parameters=markdown > doc/parameters.md")
        for words in ("## Section `Turing`", "*Not used where the problem is stationary", "'Mesh/Domain' is ball"):
            self.assertIn(words, said)
