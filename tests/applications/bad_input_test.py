# SPDX-License-Identifier: Apache-2.0
"""Whatever a user can get wrong: one message that says what was found, what is expected and where; exit code not 0; nothing half written."""
import os
import resource
import subprocess

from program import FILES, LEOPARD, ROOT, Program, has_gpu

TINY = ROOT / "tests/output/tiny_turing.prm"
LAPLACE = FILES / "verification/laplace.prm"
HELMHOLTZ = FILES / "verification/helmholtz.prm"


class BadInput(Program):
    def rejected(self, file, *settings, says, options=("--overwrite",), ranks=1, leaves_nothing=True):
        """The program fails with one message that contains all of `says`."""
        error = self.leopard(file, *settings, options=options, ranks=ranks, fails=True, timeout=1200)
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, error)
        self.assertEqual(error.count("leopard: "), 1, error)
        if ranks == 1:
            self.assertEqual(error.index("leopard: "), 0, error)
        self.assertNotIn("An error occurred in line", error, "deal.II's own message")
        if leaves_nothing:
            self.assertFalse((self.folder / "output").exists(), "something was written")
        return error

    def all_rejected(self, cases):
        """One start of the program looks at all, and nothing is written."""
        messages = self.invalid(cases)
        self.assertFalse((self.folder / "output").exists(), "something was written")
        return messages

    def test_several_files_at_once(self):
        """All are checked whatever is wrong with one; each has one result, and the exit code tells of the bad ones. A run takes one file."""
        bad = self.write("bad.prm", "set Dimenson = 2\n")
        self.valid([(TINY, []), (LAPLACE, [])])
        for ranks in (1, 2):
            (_, one), (_, two), (_, three), (_, four) = self.validated([(bad, []), (TINY, []), (TINY, ["Turing/kappa=-1"]), (LAPLACE, [])], ranks=ranks)
            self.assertIn("there is no entry 'Dimenson'", one)
            self.assertIn("'Turing/kappa' is '-1'", three)
            self.assertEqual((two, four), (None, None))
        result = subprocess.run([LEOPARD, TINY, LAPLACE], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("--validate takes several", result.stderr)
        self.assertFalse((self.folder / "output").exists())

    def test_parameter_file(self):
        cases = []
        for i, (text, says) in enumerate((
                ("set Dimenson = 2\n", ["bad.prm:1:", "there is no entry 'Dimenson'", "did you mean 'Dimension'?"]),
                ("\nsubsection Mesh\n set Gama = 2\nend\n", ["bad.prm:3:", "'Mesh/Gama'"]),
                ("subsection Mesh\n set kappa = 2\nend\n", ["bad.prm:2:", "did you mean 'Turing/kappa'?"]),
                ("set Dimension = two\n", ["bad.prm:1:", "'Dimension' is 'two'", "expected: an integer >= 2 and <= 3"]),
                ("set Dimension = 4\n", ["'Dimension' is '4'", "an integer >= 2 and <= 3"]),
                ("set Problem = heat\n", ["'Problem' is 'heat'", "one of: laplace | helmholtz | reaction-diffusion | turing"]),
                ("subsection Turing\n set kappa = -1\nend\n", ["'Turing/kappa' is '-1'", "a number >= 0"]),
                ("subsection Mesh\n set Adaptive = maybe\nend\n", ["'Mesh/Adaptive' is 'maybe'", "true or false"]),
                ("set Mesh/Global refinements = 3\n", ["bad.prm:1:", "there is no entry 'Mesh/Global refinements'", "it stands between 'subsection Mesh' and 'end', as 'Global refinements'"]),
                ("subsection Linear solver\n set Block size = 65537\nend\n", ["bad.prm:2:", "'Linear solver/Block size' is '65537'", "expected: an integer >= 0 and <= 65536"]),
                ("subsection Linear solver\n set Restart = 1001\nend\n", ["bad.prm:2:", "'Linear solver/Restart' is '1001'", "expected: an integer >= 2 and <= 1000"]),
                ("set Q = 3\n", ["bad.prm:1:", "there is no entry 'Q'; --print-parameters shows all entries"]),
                ("subsection Mesh\n", ["bad.prm:1:", "the section 'Mesh' has no 'end'"]),
                ("end\n", ["bad.prm:1:", "'end' without a section"]),
                ("Dimension = 2\n", ["bad.prm:1:", "the line 'Dimension = 2' is not understood"]),
                ("set Dimension = 2\nset Dimension = 3\n", ["bad.prm:2:", "'Dimension' is set again", "bad.prm:1"]))):
            cases.append((self.write(f"{i}bad.prm", text), [], says))
        self.all_rejected(cases)
        error = self.rejected(self.write("bad.prm", "set Dimenson = 2\nset Dimension = x\n"), says=["bad.prm:1:", "bad.prm:2:"])
        self.assertEqual(error.count("expected"), 1)

    def test_what_is_looked_at_after_the_file_is_read_has_its_line(self):
        """Expressions, boundary conditions, contradictions, and what the mesh does not have."""
        laplace = "set Problem = laplace\nsubsection Laplace\n set {}\nend\n"
        cases = []
        for i, (entry, says) in enumerate((
                ("Boundary values = 0: x; 0: y", ["the entry 'Laplace/Boundary values' names the boundary id 0 twice", "expected: one expression for each id"]),
                ("Boundary values = 0 x", ["the entry 'Laplace/Boundary values' has the item '0 x'", "expected: ID: EXPRESSION"]),
                ("Boundary values = 0: sin(; *: 0", ["of the entry 'Laplace/Boundary values, boundary 0'"]),
                ("Boundary fluxes = 1: q", ["the expression 'q' of the entry 'Laplace/Boundary fluxes, boundary 1' cannot be evaluated", "expected: an expression in x, y, z, t"]),
                ("Boundary values = *: 0; 7: 1", ["'Laplace/Boundary values' names the boundary id 7", "expected: "]),
                ("Source = x y", ["the expression 'x y' of the entry 'Laplace/Source'", "expected: "]),
                ("Constants = x: 1", ["'Laplace/Constants' has a value for 'x'", "expected: "]),
                ("Constants = a: b", ["of the entry 'Laplace/Constants, a'", "expected: "]))):
            cases.append((self.write(f"{i}bad.prm", laplace.format(entry)), [], [f"{i}bad.prm:3: ", *says]))
        for i, (text, line, says) in enumerate((
                ("subsection Mesh\n set Adaptive = true\nend\n", 2, "'Mesh/Adaptive' is true"),
                ("subsection Time stepping\n set Step size = 1e-3\n set Engine = fused\nend\nsubsection Linear solver\n set Schedule = replay\nend\n", 3, "'Time stepping/Engine' is fused"),
                ("subsection Mesh\n set Lower corner = 2\nend\n", 2, "expected: the lower corner below the upper one"),
                ("subsection Mesh\n set Refine fraction = 0.8\n set Coarsen fraction = 0.5\nend\n", 2, "expected: a sum of at most 1"))):
            cases.append((self.write(f"{i}worse.prm", text), [], [f"{i}worse.prm:{line}: ", says]))
        self.all_rejected(cases)
        self.rejected(cases[4][0], says="4bad.prm:3: 'Laplace/Boundary values' names the boundary id 7", leaves_nothing=False)
        self.assertIn("bad.prm:3: ", self.run_json("4bad")["status"])
        setting = "Laplace/Boundary values=0: x; 0: y"
        self.rejected(LAPLACE, setting, says=f'leopard: --set "{setting}": the entry \'Laplace/Boundary values\' names', leaves_nothing=False)

    def test_integers_that_are_too_large(self):
        tiny = ROOT / "tests/output/tiny_turing.prm"
        self.invalid([(tiny, [f"Turing/Seed={seed}"], [f"'Turing/Seed' is '{seed}'", says]) for seed, says in (
            ("2147483648", "an integer >= 0, at most 2147483647"), ("2^40", ": it is 1099511627776"), ("2^40", "at most 2147483647"))])
        self.assertNotIn("at most", self.invalid([(tiny, ["Turing/Seed=-1"], "an integer >= 0")])[0])
        self.leopard(tiny, "Turing/Seed=2147483647", options=["--validate"])
        self.invalid([(tiny, ["Mesh/Cells=2, 4294967296"], "an integer >= 1, at most 2147483647")])

    def test_numbers_beyond_double_precision(self):
        """Which deal.II reads with an exception, if they are too small."""
        tiny = ROOT / "tests/output/tiny_turing.prm"
        self.invalid([(tiny, [setting], [f"'{setting.split('=')[0]}' is '{setting.split('=')[1]}': ", f"{number} is beyond the range of double precision"]) for setting, number in (
            ("Mesh/Upper corner=1e-308", "1e-308"), ("Mesh/Upper corner=1, 1e-310", "1e-310"), ("Output/Interval=1e-320", "1e-320"), ("Turing/Perturbation=1e-400", "1e-400"))])

    def test_times_that_cannot_be_told_apart(self):
        tiny = ROOT / "tests/output/tiny_turing.prm"
        self.invalid([(tiny, ["Output/Interval=1e-300"], "'Output/Interval' is 1e-300, and 'Time stepping/End time' 0.003 is more than 1e+12 times as much"),
                      (tiny, ["Time stepping/End time=1e300"], "'Time stepping/Step size' is 0.001, and 'End time' = 1e+300 takes 1e+303 of them"),
                      (tiny, ["Run/Sweep=gamma: " + ", ".join(map(str, range(1, 400))) + "; kappa: " + ", ".join(map(str, range(1, 400)))], "'Run/Sweep' makes 1.592e+05 runs")])

    def test_a_damaged_run_json_is_no_hindrance(self):
        """The manifest says whose the folder is, and checkpoints have all else."""
        tiny, run = ROOT / "tests/output/tiny_turing.prm", self.folder / "output/tiny_turing"
        self.leopard(tiny)
        for n, text in enumerate(("", (run / "run.json").read_text()[:100])):
            (run / "run.json").write_text(text)
            self.assertIn(f"resumed at step {3 + n}", self.leopard(tiny, f"Time stepping/End time={4 + n}e-3", options=["--resume"]))
            self.assertEqual(self.run_json("tiny_turing")["status"], "finished")
        (run / "run.json").write_text("")
        self.leopard(tiny)  # --overwrite
        sweep = [tiny, "Run/Sweep=gamma: 50, 100", "Run/Directory=output/sweep"]
        self.leopard(*sweep)
        (self.folder / "output/sweep/runs/gamma=50/run.json").write_text("")
        self.leopard(*sweep, options=["--resume"])
        (run / "manifest.txt").write_text("")
        error = self.leopard(tiny, options=["--resume"], fails=True)
        self.assertIn("the run in 'output/tiny_turing' cannot be resumed: its manifest.txt is missing or damaged", error)

    def test_a_file_that_cannot_be_deleted_is_named_and_stays_known(self):
        """As an append-only one, where root cannot either: --overwrite can be repeated when it is mended."""
        tiny, log = ROOT / "tests/output/tiny_turing.prm", self.folder / "output/tiny_turing/log.txt"
        self.leopard(tiny)
        if subprocess.run(["chattr", "+a", str(log)], capture_output=True, check=False).returncode != 0:
            self.skipTest("this file system, or user, knows no append-only files")
        try:
            error = self.leopard(tiny, fails=True)
        finally:
            subprocess.run(["chattr", "-a", str(log)], check=True)
        self.assertIn("log.txt' cannot be deleted: Operation not permitted", error)
        self.leopard(tiny)

    def test_names_of_run_directories_that_cannot_be(self):
        tiny = ROOT / "tests/output/tiny_turing.prm"
        for name, target in (("loop", "loop"), ("dangling", "nowhere")):
            (self.folder / name).symlink_to(target)
        for name, says in (("a" * 300, "cannot be looked at: File name too long"), ("loop", "cannot be looked at: Too many levels"), ("dangling", "is a symbolic link to what is not there")):
            error = self.leopard(tiny, f"Run/Directory={name}", fails=True)
            self.assertIn(f"the run directory '{name}' ", error)
            self.assertIn(says, error)

    def test_files_and_overrides(self):
        self.rejected("missing.prm", says=["'missing.prm' cannot be read", "No such file"])
        self.rejected(self.folder, says="is a folder")
        os.mkfifo(self.folder / "pipe")
        for path, kind in (("pipe", "a pipe"), ("/dev/null", "a device")):  # one may never begin, others never end
            self.rejected(path, says=f"'{path}' is {kind}")
        self.rejected(TINY, "Turing/gama=3", says=['--set "Turing/gama=3"', "did you mean 'Turing/gamma'?"])
        self.rejected(TINY, "nonsense", says='expected: --set "Section/Entry=value"')
        for value in ("a\nb", "a#b", "a\\"):
            self.rejected(TINY, f"Mesh/File={value}", says=f'--set "Mesh/File={value}": the value is no line of a parameter file')

    def test_byte_order_mark(self):
        """Some editors write one; the file is read all the same."""
        file = self.folder / "marked.prm"
        file.write_bytes(b"\xef\xbb\xbfset Problem = laplace\n")
        result = subprocess.run([LEOPARD, str(file), "--validate"], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_command_lines(self):
        """README's exit code for errors."""
        for arguments in ([], ["--no-such-option"], ["--print-parameters=html"], [TINY, "--overwrite", "--resume"]):
            self.assertEqual(subprocess.run([LEOPARD, *map(str, arguments)], cwd=self.folder, capture_output=True, check=False).returncode, 1, arguments)
        self.assertEqual(subprocess.run([LEOPARD, "--help"], capture_output=True, check=False).returncode, 0)

    def test_a_working_directory_that_is_gone(self):
        """MPI and PETSc ended with a core dump and a stack."""
        self.assertTrue(os.path.isabs(LEOPARD), LEOPARD)
        for start in ("", "mpirun -n 1 "):
            ended = subprocess.run(["sh", "-c", f'mkdir gone && cd gone && rmdir ../gone && {start}"$0" "$1"', LEOPARD, str(TINY)], cwd=self.folder, capture_output=True, text=True, check=False)
            if start and "leopard:" not in ended.stderr:
                continue  # mpirun itself says it
            self.assertEqual(ended.returncode, 1, ended.stderr)
            self.assertTrue(ended.stderr.startswith("leopard: the working directory cannot be found (No such file or directory)\n  expected: "), ended.stderr)

    def test_random_numbers_in_expressions(self):
        """They were others in each run, and a source was drawn once or in each step, as the time loop happened to be."""
        for setting in ("Turing/Initial value u=0.9 + 0.1*rand()", "Turing/Source u=rand ( )", "Turing/Initial value v=rand_seed(3)"):
            self.rejected(TINY, "Turing/Start from steady state=false", setting, says=["rand() is another number in each call", "'Turing/Perturbation' and 'Noise'"])
        self.leopard(TINY, "Turing/Constants=strand: 0.5", "Turing/Source u=0*strand*(1 + x)", options=["--validate"])

    def test_a_domain_that_vanishes(self):
        for law, says, never in (("linear", "a rate above -20, or exponential growth", ""), ("exponential", "a rate above -14000\n", "or exponential")):
            error = self.leopard(TINY, f"Mesh/Growth={law}", "Mesh/Growth rate=-100000", "Time stepping/End time=0.05", fails=True)
            self.assertIn(says, error + "\n")
            self.assertNotIn(never or "nothing of it", error)

    def test_expressions(self):
        self.rejected(LAPLACE, "Laplace/Source=sin(x", says=["'sin(x'", "'Laplace/Source'", "cannot be evaluated"])
        self.rejected(LAPLACE, "Laplace/Source=x+w", says=["'x+w'", "'Laplace/Source'"])
        self.rejected(TINY, "Turing/Initial value u=u0", says=["'u0'", "'Turing/Initial value u'"])
        self.rejected(LAPLACE, "Laplace/Source=1/(x-x)", says=["'1/(x-x)'", "Laplace/Source", "is inf at (", "finite"], leaves_nothing=False)
        self.rejected(LAPLACE, "Laplace/Coefficient=x-0.5", says=["diffusion coefficient", "expected: a finite positive number"], leaves_nothing=False)
        self.rejected(TINY, "Turing/Initial value v=log(x)", says=["'log(x)'", "Turing/Initial value v", "is -inf at (0, 0"], leaves_nothing=False)
        self.rejected(LAPLACE, "Laplace/Boundary values=0: 1/x", "Mesh/Lower corner=0", says=["'1/x'", "boundary 0"], leaves_nothing=False)
        self.rejected(FILES / "benchmarks/newton_thesis.prm", "Reaction-diffusion/Reaction=expression", "Reaction-diffusion/f=u^3",
                      "Reaction-diffusion/Derivative of f=2*u^2", says=["Derivative of f", "difference quotient"], leaves_nothing=False)
        for derivative, reason in (("-1/0", "division by zero"), ("log(-1)", "not a real number")):
            self.rejected(FILES / "benchmarks/newton_thesis.prm", "Reaction-diffusion/Reaction=expression", "Reaction-diffusion/f=u^3",
                          f"Reaction-diffusion/Derivative of f={derivative}", says=["'Reaction-diffusion/Derivative of f'", derivative, reason], leaves_nothing=False)

    def test_nesting(self):
        cases = []
        for depth in (800, 200000):
            for text in ("sin(" * depth + "u" + ")" * depth, "(" * depth + "u", "-" * depth + "u", "1/(u+" * depth + "v" + ")" * depth):
                kinetics = f"set Kinetics = expressions\n set Reaction u = {text}\n set Reaction v = 1 - v\n set Diffusion u = 1\n set Diffusion v = 1\n"
                file = self.write(f"{len(cases)}nested.prm", f"set Problem = turing\nsubsection Turing\n {kinetics}end\n")
                source = self.write(f"{len(cases)}source.prm", f"set Problem = laplace\nsubsection Laplace\n set Source = {text.replace('u', 'x')}\nend\n")
                cases += [(file, [], ["'Turing/Reaction u'", "are possible"]), (source, [], ["'Laplace/Source'", "are possible"])]
        for message in self.all_rejected(cases):
            self.assertLess(len(message), 3000)

    def test_what_an_automatic_method_cannot_do_is_refused_before_anything_is_written(self):
        """In time the fused loop may need no such method; where the entries ask for the general one, nothing else is waited for."""
        automatic = ["Linear solver/Method=automatic", "Linear solver/Precision=mixed", "Time stepping/Engine=general"]
        for ranks, settings, says in (
                (1, [*automatic, "Linear solver/Preconditioner=aggregation"], ["'Linear solver/Precision' is mixed, but the linear solver is gmres with the preconditioner aggregation", "or the precision double"]),
                (1, [*automatic, "Linear solver/Preconditioner=multigrid", "Multigrid/Precision=double"], ["'Linear solver/Precision' is mixed, but 'Multigrid/Precision' is double"]),
                (2, [*automatic, "Linear solver/Preconditioner=multigrid"], ["'Linear solver/Precision' is mixed and the method gmres with the preconditioner multigrid, but the program runs on 2 ranks"])):
            for options in ((), ("--overwrite",)):
                self.rejected(TINY, *settings, says=says, ranks=ranks, options=options)

    def test_too_many_unknowns_are_counted_before_the_mesh_is_made(self):
        for settings in (["Mesh/Global refinements=20"], ["Mesh/Global refinements=15", "Discretization/Degree=3"], ["Dimension=3", "Mesh/Global refinements=11"]):
            self.rejected(LAPLACE, *settings, "Verification/Refinements=0", says=["more than this build of deal.II can count", "fewer refinements"], leaves_nothing=False)

    def test_free_kinetics(self):
        text = ("set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Constants = a: 0.1, b: 0.9\n set Reaction u = a - u + u^2*v\n"
                " set Reaction v = b - u^2*v\n set Diffusion u = 1\n set Diffusion v = 10\nend\n")
        file = self.write("free.prm", text)
        cases = [(file, settings, says) for settings, says in (
                (["Turing/Reaction u=a - u + u^2*w"], ["'Turing/Reaction u'", "at position 13, 'w'", "no species or constant 'w'", "an expression in u, v, x, y, z, t with the constants a, b"]),
                (["Turing/Reaction v=b - u^2*v)"], ["'Turing/Reaction v'", "at position 10, ')'"]),
                (["Turing/Reaction u=a + heaviside(u)"], ["at position 5", "there is no function 'heaviside'"]),
                (["Turing/Reaction u=step(u - 0.5) - u"], ["'Turing/Reaction u'", "at position 1", "its derivative cannot be formed, as 'step' has none"]),
                (["Turing/Reaction u="], ["'Turing/Reaction u' is missing", "one expression for each species"]),
                (["Turing/Species=u, v, w"], ["'Turing/Reaction w' is missing", "'Turing/Species' names w"]),
                (["Turing/Species=u"], ["there is no entry 'Turing/Reaction v'"]),
                (["Turing/Reaction w=1"], ["there is no entry 'Turing/Reaction w'; did you mean 'Turing/Reaction"]),
                (["Turing/Species=u, u"], ["'Turing/Species' is 'u, u'", "twice"]),
                (["Turing/Species=u, exp"], ["'exp' has a meaning"]),
                (["Turing/Species=x, y"], ["means a coordinate"]),
                (["Turing/Diffusion v="], ["'Turing/Diffusion v' is missing", "one positive number"]),
                (["Turing/Diffusion v=-1"], ["'Turing/Diffusion v' is '-1'", "zero, a positive number"]),
                (["Turing/Diffusion v=ten"], ["a positive number"]),
                (["Turing/Constants=a: 0.1, b"], ["'Turing/Constants' has the item 'b'", "for example 'a: 0.1, b: 1 - a'"]),
                (["Turing/Constants=a: 0.1, u: 1"], ["'Turing/Constants' has a value for 'u'"]),
                (["Turing/Constants=a: 0.1"], ["at position 1", "no species or constant 'b'"]),
                (["Turing/kappa=20"], ["'Turing/kappa' is given", "Diffusion u"]),
                (["Turing/Reaction u=a + log()"], ["'log' has 0 arguments and takes 1"]),
                (["Turing/Reaction u=a + atan2(u)"], ["'atan2' has 1 arguments and takes 2"]),
                (["Turing/Reaction u=a + 1e99999999999"], ["beyond the range of double precision"]),
                (["Turing/Reaction u=a + 2^(99999999999)"], ["an exponent is at most 100000"]),
                *((["Turing/Reaction u=a + " + power], ["an exponent is at most 100000"]) for power in ("9^(9^9)", "pow(9, 9^9)", "9^sqrt(10^20)", "(2*u)^(9^9)", "2^(-(9^9))")),
                (["Turing/Reaction u=a + (9^99)^99*u"], ["the power is beyond the range of double precision"]),
                (["Turing/Reaction u=a + u/0"], ["'Turing/Reaction u'", "division by zero"]),
                (["Turing/Reaction u=a + u"], ["no positive homogeneous steady state", "'Turing/Steady state' = any", "none"]),
                (["Turing/Reaction u=a + u^2", "Turing/Steady state=any"], ["no homogeneous steady state", "none, if there need not be one"]),
                (["Turing/Steady state=none", "Turing/Start from steady state=true"], ["'Turing/Steady state' is none"]),
                (["Turing/Steady state guess=u: 1"], ["one number for each species"]),
                (["Turing/Steady state guess=u: 1, w: 2"], ["one number for each species"]))]
        self.all_rejected([*cases,
                           (TINY, ["Turing/Reaction u=1 - u"], ["'Turing/Reaction u' is given", "Kinetics = expressions"]),
                           (TINY, ["Turing/kappa=20", "Turing/Diffusion v=3"], ["'Turing/Diffusion v' and 'Turing/kappa' are given", "one of the two"]),
                           (TINY, ["Turing/Species=u, v, w", "Turing/Reaction w=1"], ["there is no entry 'Turing/Reaction w'"]),
                           (TINY, ["Turing/Species=u, v, w"], ["'Turing/Species' is 'u, v, w'", "whose species are u, v"]),
                           (TINY, ["Turing/Schnakenberg b=0"], ["the Schnakenberg kinetics has no positive homogeneous steady state"])])
        for _, settings, says in cases[::12]:  # a run finds the same, and --set does as the file
            self.rejected(file, *settings, says=says)
            self.rejected(file, *settings, says=says, options=["--validate"])
        self.rejected(file, "Turing/Reaction u=a - u + u^2*w", says="position 13", ranks=2)

    def test_constants_cannot_hide_variables(self):
        """A constant u made the reaction u^2 a number, and x the same everywhere, without a word."""
        bratu = self.write("bratu.prm", "set Problem = reaction-diffusion\nsubsection Reaction-diffusion\n set Reaction = expression\n set Constants = k: 1\n set f = exp(u) + x + k\nend\n")
        free = self.write("hidden.prm", "set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Constants = a: 0.1\n set Reaction u = a - u + u^2*v\n"
                          " set Reaction v = 0.9*cos(t)*x - u^2*v\n set Diffusion u = 1\n set Diffusion v = 10\nend\n")
        cases = [(file, [f"{section}/Constants={own}, {name}: 2"], [f"'{section}/Constants' has a value for '{name}'", f"the name of {what}", "another name"])
                 for file, section, own, names in ((bratu, "Reaction-diffusion", "k: 1", "uxyzt"), (free, "Turing", "a: 0.1", "uvxyzt"), (TINY, "Turing", "q: 1", "uvx"),
                                                   (LAPLACE, "Laplace", "q: 1", "uxt"))
                 for name, what in ((name, {"t": "the time", "u": "a field", "v": "a field"}.get(name, "a coordinate")) for name in names)]
        self.all_rejected(cases)

    def test_meshes(self):
        self.rejected(LAPLACE, "Mesh/Domain=file", "Mesh/File=no.msh", says=["no.msh", "cannot be read"], leaves_nothing=False)
        for content in ("", "hello\n", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n"):
            broken = self.write("broken.msh", content)
            self.rejected(LAPLACE, "Mesh/Domain=file", f"Mesh/File={broken}", says=["broken.msh", "cannot be used", "expected: a Gmsh mesh"], leaves_nothing=False)
        self.rejected(FILES / "verification/laplace_3d.prm", "Mesh/Domain=file", f"Mesh/File={ROOT}/meshes/leopard_pelt.msh", says="cannot be used", leaves_nothing=False)
        self.rejected(LAPLACE, "Laplace/Boundary values=0: 0; 7: 1", says=["boundary id 7", "expected: one of 0, 1, 2, 3"], leaves_nothing=False)
        self.rejected(LAPLACE, "Laplace/Boundary values=0: x, 1: 1", says=["'1:' begins another one after a comma", "a semicolon between two items"], leaves_nothing=False)
        self.valid([(LAPLACE, ["Laplace/Boundary values=0: if(x < 1, 0, 2); 1: 1"])])
        self.rejected(LAPLACE, "Laplace/Source=1/", says=["Unexpected end of expression at position"], leaves_nothing=False)
        self.rejected(LAPLACE, "Laplace/Boundary values=zero: 0", says=["names the boundary 'zero'", "a boundary id, or * for all the others"], leaves_nothing=False)

    def test_contradictions(self):
        self.all_rejected([
                (LAPLACE, ["Discretization/Method=finite differences", "Discretization/Degree=2"], "degree 1"),
                (LAPLACE, ["Discretization/Method=finite differences", "Mesh/Domain=ball"], "not uniform"),
                (LAPLACE, ["Linear solver/Method=async"], "a preconditioner only with cg or gmres"),
                (LAPLACE, ["Linear solver/Omega=2.5"], "between 0 and 2"),
                (LAPLACE, ["Mesh/Domain=file"], "'Mesh/File' is empty"),
                (LAPLACE, ["Mesh/Lower corner=2"], "not below"),
                (LAPLACE, ["Verification/Refine=time"], "stationary"),
                (LAPLACE, ["Laplace/Exact solution="], "an exact solution, or no refinements"),
                (LAPLACE, ["Laplace/Boundary fluxes=0: 1", "Laplace/Boundary values=0: 1"], "both"),
                (LAPLACE, ["Linear solver/Method=direct", "Linear solver/Preconditioner=none", "Linear solver/Backend=cuda"], "the direct solver runs on the host"),
                (LAPLACE, ["Linear solver/Momentum=0.5"], "async is used nowhere"),
                (LAPLACE, ["Linear solver/Block omega=2"], "'Linear solver/Block omega' is 2"),
                (LAPLACE, ["Linear solver/Method=async-refinement", "Linear solver/Preconditioner=none", "Linear solver/Overlap=uniform"], "expected: no overlap, or the method async"),
                (LAPLACE, ["Linear solver/Overlap level=-1"], "'Linear solver/Overlap level' is '-1'"),
                (LAPLACE, ["Linear solver/Method=async", "Linear solver/Preconditioner=none", "Linear solver/Overlap level=1"], ["is given with no overlap", "= uniform, upward or downward"]),
                (LAPLACE, ["Linear solver/Preconditioner=async", "Linear solver/Overlap=uniform", "Linear solver/Overlap level=2"],
                 ["'Linear solver/Overlap level' is 2 on the backend automatic", "expected: the backend reference, or 'Linear solver/Schedule' = replay"]),
                (LAPLACE, ["Linear solver/Preconditioner=async", "Linear solver/Backend=reference", "Linear solver/Overlap=uniform", "Linear solver/Overlap level=2", "Linear solver/Overlap percent=10"],
                 "expected: one of the two"),
                (LAPLACE, ["Linear solver/Block shape=tiles"], "'Linear solver/Block shape' is 'tiles'"),
                (LAPLACE, ["Linear solver/Smallest eigenvalue=2", "Linear solver/Largest eigenvalue=1"], "not below 'Linear solver/Largest eigenvalue'"),
                (LAPLACE, ["Linear solver/Backend=cuda"], "amg runs on the host"),
                (TINY, ["Mesh/Adaptive=true", "Discretization/Method=finite elements"], "depends on time"),
                (TINY, ["Linear solver/Method=cg"], "not symmetric"),
                (TINY, ["Output/Times=4.25e-8", "Time stepping/End time=4e-8", "Time stepping/Step size=1e-8"], ["the time 4.25e-08, beyond 'Time stepping/End time' = 4e-08", "expected: times from 0"]),
                (TINY, ["Output/Spot threshold=half"], "'Output/Spot threshold' is 'half'"),
                (TINY, ["Time stepping/Step control=error-controlled", "Time stepping/Step size=1e-20", "Time stepping/Smallest step=1e-12"], "expected: a number between"),
                (TINY, ["Time stepping/Step control=asynchronous bound", "Time stepping/Scheme=SBDF2"], "every step size has a convergent iteration"),
                (TINY, ["Time stepping/Step control=asynchronous bound", "Discretization/Method=finite elements", "Discretization/Mass matrix=consistent"], "expected: lumped"),
                (TINY, ["Turing/Kinetics=FitzHugh-Nagumo", "Time stepping/Negative values=clip"], "are no concentrations"),
                (TINY, ["Run/Stop if too slow=true"], "'Run/Wall time' is 0"),
                (FILES / "verification/time_order.prm", ["Time stepping/Step control=asynchronous bound"], "a fixed step"),
                (TINY, ["Linear solver/Method=direct", "Newton/Forcing=fixed iterations"], "does not iterate")])
        self.rejected(LAPLACE, "Laplace/Boundary values=", says=["up to a constant"], leaves_nothing=False)

    def test_meshes_that_are_too_large(self):
        """Are refused before they are made; and where memory ends all the same, it is said."""
        self.rejected(TINY, "Mesh/Cells=100000000", "Mesh/Global refinements=0", says=["1e+16 cells", "more than this build of deal.II can count", "'Mesh/Cells'"], leaves_nothing=False)
        if os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE") < 2e11:
            self.rejected(TINY, "Mesh/Cells=32000", "Mesh/Global refinements=0", says=["the coarse mesh of 1.024e+09 cells takes more than 205 GB", "'Mesh/Global refinements'"],
                          leaves_nothing=False)
        for cells, says in (("4000", "takes more than 3.2 GB, and this process may use 2 GB\n  expected: "), ("3000", "leopard: not enough memory\n  expected: ")):
            command = self.command(TINY, "Mesh/Cells=" + cells, "Mesh/Global refinements=0", options=["--overwrite"])
            result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False,
                                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2000000000, 2000000000)))
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn(says, result.stderr)

    def test_long_values_are_not_said_whole(self):
        """And what is wrong with a long number is said."""
        for value, says in (("1" + "+1" * 50000, ["'Turing/Diffusion u' is '1+1", "more characters", "expected: a positive number"]),
                            ("x" * 100000, ["'Turing/Diffusion u' is 'xxx", "more characters", "expected: a positive number"])):
            error = self.leopard(self.write("long.prm", TINY.read_text() + f"subsection Turing\n set Diffusion u = {value}\nend\n"), fails=True)
            for text in says:
                self.assertIn(text, error)
            self.assertLess(len(error), 4000)

    def test_device_that_is_not_there(self):
        settings = ["Linear solver/Backend=cuda"] + (["Linear solver/Device=99"] if has_gpu() else [])
        self.rejected(TINY, *settings, says="'Linear solver/")

    def test_run_directory(self):
        self.leopard(TINY)
        self.rejected(TINY, options=(), says=["is not empty", "--overwrite", "--resume"], leaves_nothing=False)
        self.rejected(TINY, "Run/Directory=elsewhere", options=["--resume"], says="no run to resume", leaves_nothing=False)
        foreign = self.folder / "thesis"
        foreign.mkdir()
        (foreign / "chapter1.tex").write_text("precious")
        self.rejected(TINY, "Run/Directory=thesis", says="holds no run of Leopard", leaves_nothing=False)
        self.assertTrue((foreign / "chapter1.tex").exists())
        first = subprocess.Popen(self.command(TINY, "Time stepping/End time=1000", options=["--overwrite"]), cwd=self.folder, stdout=subprocess.PIPE, text=True)
        for line in first.stdout:
            if line.startswith("step"):
                break
        self.rejected(TINY, says=["in use by another run", "process"], leaves_nothing=False)
        first.kill()
        first.communicate()
        self.leopard(TINY)  # the lock of a killed run does not last

    def test_diverging_linear_solver(self):
        settings = ["Linear solver/Method=jacobi", "Time stepping/Step size=0.5", "Time stepping/End time=1", "Output/Interval=0", "Turing/gamma=10000"]
        self.rejected(TINY, *settings, says=["diverges", "rho(|I - D^-1 A|)", "to try:"], leaves_nothing=False)

    def test_missed_tolerance(self):
        self.rejected(HELMHOLTZ, "Linear solver/Max iterations=3", says=["has not reached the tolerance", "to try:"], leaves_nothing=False)

    def test_failing_newton(self):
        self.rejected(TINY, "Linear solver/Method=direct", "Newton/Max steps=1", "Newton/Relative tolerance=1e-14", "Newton/Absolute tolerance=0", "Turing/Perturbation=0.5",
                      says=["Newton's method does not converge in the step from time 0", "residual", "to try:"], leaves_nothing=False)
        self.rejected(FILES / "benchmarks/newton_thesis.prm", "Mesh/Cells=11", "Newton/Max steps=2", "Newton/Linear iterations=5",
                      says=["Newton's method does not converge", "to try:"], leaves_nothing=False)

    def test_step_size_underflow(self):
        for engine in ("general", "fused"):
            self.rejected(TINY, f"Time stepping/Engine={engine}", "Time stepping/Step control=error-controlled", "Time stepping/Smallest step=2e-5", "Newton/Max steps=1",
                          "Newton/Relative tolerance=1e-14", "Newton/Absolute tolerance=0", "Newton/Error fraction=0", "Turing/Perturbation=0.5", says=["the step size underflows", "'Time stepping/Smallest step'", "to try:"],
                          leaves_nothing=False)

    def test_two_ranks_say_it_once_and_do_not_hang(self):
        for file, settings, says in ((TINY, ["Turing/gama=3"], "did you mean"), ("missing.prm", [], "cannot be read"),
                                     (TINY, ["Turing/Initial value v=if(x > 0.7, 1/(x-x), 1)"], "is inf at ("),
                                     (TINY, ["Newton/Max steps=1", "Newton/Relative tolerance=1e-14", "Newton/Absolute tolerance=0"], "does not converge")):
            self.rejected(file, *settings, says=says, ranks=2, leaves_nothing=False)


if __name__ == "__main__":
    import unittest
    unittest.main()
