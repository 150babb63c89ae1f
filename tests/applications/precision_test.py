# SPDX-License-Identifier: Apache-2.0
"""Single precision inside double: refinement ('Linear solver/Precision'), and cycles that precondition ('Multigrid/Precision')."""
import json
import re

from program import FILES, ROOT, HostProgram, Program, has_gpu

VERIFICATION = FILES / "verification"
TINY = ROOT / "tests/output/tiny_turing.prm"
MIXED, SINGLE = "Linear solver/Precision=mixed", "Multigrid/Precision=single"
ON_GPU = ["Linear solver/Backend=cuda", "Multigrid/Level storage=bfloat16"]
SYNCHRONOUS = "Linear solver/Schedule=synchronous"
RELAXATIONS = ("async", "jacobi", "gauss-seidel", "ssor", "chebyshev")

SQUARE = ("set Problem = laplace\nsubsection Laplace\n set Source = {source}\n set Coefficient = {coefficient}\nend\n"
          "subsection Mesh\n set Global refinements = {refinements}\nend\nsubsection Linear solver\n set Method = {method}\n set Relative tolerance = 1e-11\n set Threads = 2\nend\n")


class PrecisionOfSolvers(HostProgram):
    def square(self, name="square", source="1", coefficient="1", refinements=4, method="async"):
        return self.write(f"{name}.prm", SQUARE.format(source=source, coefficient=coefficient, refinements=refinements, method=method))

    def solved(self, name):
        run = self.run_json(name)
        return run, run["cycles"][-1]

    def test_relaxations_find_the_solution_of_double(self):
        runs = self.sweep(self.square(refinements=3), {"Linear solver/Method": RELAXATIONS, "Linear solver/Precision": ("double", "mixed")})
        self.assertEqual(len(runs), 2 * len(RELAXATIONS))
        largest = None
        for (method, precision), name in runs:
            run, cycle = self.solved(name)
            largest = largest or cycle["u"]["maximum"]
            self.assertAlmostEqual(cycle["u"]["maximum"], largest, delta=1e-9 * largest, msg=f"{method} {precision}")
            self.assertEqual(run["linear_solver"]["precision"], precision)
            self.assertEqual("corrections" in cycle, precision == "mixed")
            if precision == "mixed":
                self.assertGreaterEqual(cycle["corrections"], 2)  # one gains six digits
                self.assertLessEqual(cycle["corrections"], 5)
                self.assertGreater(cycle["linear_iterations"], cycle["corrections"])
                self.assertRegex(self.log(name), rf"refinement with .* in single precision.*: {cycle['linear_iterations']} iterations in {cycle['corrections']} corrections, residual ")

    def test_krylov_methods_find_the_solution_of_double(self):
        preconditioners = ("none", "jacobi", "ssor", "async", "chebyshev", "ilu", "ic", "multigrid")
        runs = self.sweep(self.square(refinements=4), {"Linear solver/Method": ("cg", "gmres"), "Linear solver/Preconditioner": preconditioners, "Linear solver/Precision": ("double", "mixed")})
        self.assertEqual(len(runs), 4 * len(preconditioners))
        largest = None
        for (method, preconditioner, precision), name in runs:
            run, cycle = self.solved(name)
            largest = largest or cycle["u"]["maximum"]
            self.assertAlmostEqual(cycle["u"]["maximum"], largest, delta=1e-9 * largest, msg=f"{method} {preconditioner} {precision}")
            self.assertEqual(run["linear_solver"]["precision"], precision)
            if precision == "mixed":
                self.assertGreaterEqual(cycle["corrections"], 2)
                self.assertLessEqual(cycle["corrections"], 4)
                self.assertGreater(cycle["linear_iterations"], cycle["corrections"])
                self.assertIn(f"refinement with {'CG' if method == 'cg' else 'FGMRES(50)'} in single precision with", self.log(name))
                if preconditioner == "multigrid":
                    self.assertIn("in single precision with V(2,2) multigrid in single precision", self.log(name))
                    self.assertLessEqual(cycle["linear_iterations"], 30)  # some 6 a correction

    def test_krylov_methods_keep_to_the_largest_number_of_iterations(self):
        """That of all corrections together: the last one began with a limit of its own."""
        for method in ("cg", "gmres"):
            settings = (f"Linear solver/Method={method}", "Linear solver/Preconditioner=none", MIXED)
            name = self.square(refinements=4)
            self.leopard(name, *settings)
            most = 3 * self.solved("square")[1]["linear_iterations"] // 4  # within the second of two corrections
            error = self.leopard(name, *settings, f"Linear solver/Max iterations={most}", fails=True)
            self.assertRegex(error, rf"has not reached the tolerance 1e-11 in {most} iterations")

    def test_krylov_methods_take_new_values(self):
        """Time steps of several fields, whose matrix changes: as in double."""
        rows = []
        for precision in ("double", "mixed"):
            for preconditioner in ("async", "ilu", "multigrid"):
                self.leopard(TINY, "Time stepping/Engine=general", "Time stepping/Step size=0.01", "Time stepping/End time=0.03", "Output/Interval=0", "Linear solver/Method=gmres",
                             f"Linear solver/Preconditioner={preconditioner}", SYNCHRONOUS, f"Linear solver/Precision={precision}")
                rows.append(self.statistics("tiny_turing")[1][-1][10:16])
        for row in rows[1:]:
            for a, b in zip(rows[0], row):
                self.assertAlmostEqual(a, b, delta=1e-5)

    def test_async_refinement_corrects_its_blocks_in_the_precision_asked_for(self):
        file = self.square(refinements=3)
        for precision in ("double", "mixed"):
            said = self.leopard(file, "Linear solver/Method=async-refinement", f"Linear solver/Precision={precision}")
            self.assertEqual("corrections in single precision" in said, precision == "mixed", said)

    def test_cycles_have_momentum(self):
        """Slow ones, as without it they are as many in single precision as in double."""
        square = self.write("tensor.prm", "set Problem = laplace\nsubsection Laplace\n set Source = 1\n set Coefficient tensor = 1, 0, 0.02\nend\nsubsection Mesh\n set Global refinements = 5\nend\n")
        cycles = {}
        for precision in ("double", "mixed"):
            self.leopard(square, "Linear solver/Method=multigrid", "Multigrid/Smoother=chebyshev", f"Linear solver/Precision={precision}")
            cycles[precision] = self.solved("tensor")[1]["linear_iterations"]
        self.assertGreater(cycles["double"], 50)
        self.assertLess(cycles["mixed"], 0.6 * cycles["double"])

    def test_multigrid_takes_as_many_cycles_as_in_double(self):
        for file, settings in (("multigrid_2d", ["Multigrid/Form=stencil"]), ("multigrid_2d", ["Multigrid/Form=stored", "Multigrid/Coarse solver=cg", "Multigrid/Levels=3"]),
                               ("helmholtz", []), ("multigrid_jump", []), ("multigrid_neumann", []), ("multigrid_l_shape", ["Mesh/Adaptive cycles=4"])):
            study = [] if "l_shape" in file else ["Verification/Refinements=2"]
            results = []
            for precision in ("double", "mixed"):
                self.leopard(VERIFICATION / f"{file}.prm", *settings, *study, SYNCHRONOUS, "Linear solver/Method=multigrid", "Linear solver/Preconditioner=none",
                             f"Linear solver/Precision={precision}")
                results.append(self.run_json(file)["cycles"])
            for double, mixed in zip(*results):
                self.assertLessEqual(mixed["linear_iterations"], double["linear_iterations"] + 1, f"{file} {settings}")
                self.assertEqual(mixed["corrections"], mixed["linear_iterations"])
                for measure in ("minimum", "maximum"):
                    self.assertAlmostEqual(mixed["u"][measure], double["u"][measure], delta=1e-7 * double["u"]["maximum"], msg=f"{file} {settings}")

            if "Multigrid/Form=stored" in settings:  # tiles of stencils move, and then a cycle is no symmetric map
                n = results[1][-1]["linear_iterations"]
                self.assertIn(f" {n} cycles in {n} corrections with momentum, residual ", self.log(file))

    def test_preconditioner_takes_as_many_iterations_as_in_double(self):
        for file in ("laplace", "helmholtz", "multigrid_3d"):
            for method in ("cg", "gmres"):
                counts = []
                for precision in ("double", "single"):
                    said = self.leopard(VERIFICATION / f"{file}.prm", "Verification/Refinements=2", SYNCHRONOUS, f"Linear solver/Method={method}", "Linear solver/Preconditioner=multigrid",
                                        f"Multigrid/Precision={precision}")
                    self.assertEqual("multigrid in single precision" in said, precision == "single")
                    self.assertEqual(f"flexible {method}" in said, method == "gmres" and precision == "single")
                    self.assertEqual(self.run_json(file)["linear_solver"]["multigrid_precision"], precision)
                    counts.append(self.iterations(file))
                for double, single in zip(*counts):
                    self.assertLessEqual(single, double + 1, f"{file} {method}")
        # each field by itself, with new values in each step
        settings = ["Time stepping/Step size=0.01", "Time stepping/End time=0.03", "Output/Interval=0", "Linear solver/Method=gmres", "Linear solver/Preconditioner=multigrid", SYNCHRONOUS]
        rows = []
        for precision in ("double", "single"):
            self.leopard(TINY, *settings, f"Multigrid/Precision={precision}")
            rows.append(self.statistics("tiny_turing")[1])
        for double, single in zip(*rows):
            self.assertLessEqual(single[4], double[4] + single[3], "more than one iteration more a Newton step")
            for a, b in zip(double[10:16], single[10:16]):
                self.assertAlmostEqual(a, b, delta=1e-5)

    def test_units_do_not_matter(self):
        counts = {}
        for size in ("1", "1e-30", "1e30"):
            for method, preconditioner, settings in (("async", "none", [MIXED]), ("multigrid", "none", [MIXED]), ("cg", "multigrid", [SINGLE]), ("gmres", "multigrid", [MIXED])):
                for coefficient in ("1", size):  # of the right-hand side alone, and of the matrix, too
                    self.leopard(self.square(source=size, coefficient=coefficient), SYNCHRONOUS, f"Linear solver/Method={method}", f"Linear solver/Preconditioner={preconditioner}", *settings)
                    cycle = self.run_json("square")["cycles"][-1]
                    expected = 0.0736 * float(size) / float(coefficient)
                    self.assertAlmostEqual(cycle["u"]["maximum"], expected, delta=0.01 * expected, msg=f"{method} {size} {coefficient}")
                    counts.setdefault(method, []).append(cycle["linear_iterations"])
        for method, found in counts.items():
            self.assertLessEqual(max(found) - min(found), 20 if method == "async" else 1, f"{method} {found}")

    def test_newton(self):
        file = FILES / "benchmarks/newton_mpir_thesis.prm"
        said = self.leopard(file, "Mesh/Cells=21")
        mixed = self.run_json("newton_mpir_thesis")["cycles"][-1]
        self.assertRegex(said, r"Newton's method with refinement with async-\(5\) in single precision, blocks of 256:\n  step +residual +linear iterations +corrections ")
        self.leopard(file, "Mesh/Cells=21", "Linear solver/Precision=double")
        double = self.run_json("newton_mpir_thesis")["cycles"][-1]
        self.assertEqual(mixed["newton_steps"], double["newton_steps"])
        self.assertAlmostEqual(mixed["u"]["minimum"], double["u"]["minimum"], delta=1e-9)
        self.assertEqual(mixed["corrections"], sum(step["corrections"] for step in mixed["newton"]))
        self.assertLessEqual(mixed["corrections"], 4 * mixed["newton_steps"])
        self.assertNotIn("corrections", double)
        # a fixed number of iterations is done, no more and no less
        self.leopard(FILES / "benchmarks/newton_thesis.prm", "Mesh/Cells=21", "Newton/Linear iterations=50", MIXED)
        for step in self.run_json("newton_thesis")["cycles"][-1]["newton"][1:-2]:  # at the end corrections are exact
            self.assertEqual(step["linear_iterations"], 50)

    def test_resume_with_another_precision(self):
        settings = ["Time stepping/Engine=general", "Linear solver/Method=async", "Run/Checkpoint steps=1"]
        self.leopard(TINY, *settings, "Time stepping/End time=5e-3", "Run/Directory=output/whole")
        self.leopard(TINY, *settings)
        said = self.leopard(TINY, *settings, MIXED, "Time stepping/End time=5e-3", options=["--resume"])
        self.assertIn("'Linear solver/Precision' from automatic to mixed", said)
        self.assertIn("Newton with refinement with async-(5) in single precision", said)
        loop = self.run_json("tiny_turing")["time_loop"]
        self.assertGreaterEqual(loop["corrections"], loop["newton_steps"])
        self.assertIn(f"{loop['linear_iterations']} linear iterations in {loop['corrections']} corrections", said)
        whole, resumed = self.statistics("whole")[1][-1], self.statistics("tiny_turing")[1][-1]
        for a, b in zip(whole[10:16], resumed[10:16]):
            self.assertAlmostEqual(a, b, delta=1e-5)

    def chosen(self, file, *settings):
        """What is said to be the precisions of the linear solver and of the cycles."""
        self.leopard(file, "Verification/Refinements=0", *settings)
        solver = self.run_json(file.stem)["linear_solver"]
        return solver["precision"], solver.get("multigrid_precision")

    def test_the_program_chooses(self):
        """automatic: cycles in single precision, but where they are not safe or something else is asked for."""
        square = VERIFICATION / "multigrid_2d.prm"
        preconditioner = ["Linear solver/Method=cg", "Linear solver/Preconditioner=multigrid"]
        self.assertEqual(self.chosen(square), ("mixed", "single"))
        self.assertEqual(self.chosen(self.square(method="automatic")), ("double", "single"))  # cg with multigrid
        self.assertEqual(self.chosen(square, *preconditioner), ("double", "single"))
        self.assertEqual(self.chosen(square, *preconditioner, "Linear solver/Precision=double"), ("double", "double"))
        self.assertEqual(self.chosen(square, *preconditioner, "Multigrid/Precision=double"), ("double", "double"))
        self.assertEqual(self.chosen(square, "Linear solver/Precision=double"), ("double", "double"))
        self.assertEqual(self.chosen(square, "Linear solver/Backend=reference", SYNCHRONOUS), ("double", "double"))
        self.assertEqual(self.chosen(square, "Multigrid/Full multigrid start=true"), ("double", "double"))
        self.assertEqual(self.chosen(square, "Linear solver/Method=async"), ("double", None))
        growing = self.write("growing.prm", "set Problem = reaction-diffusion\nsubsection Reaction-diffusion\n set Reaction = expression\n set f = 30*u + 1 - u^3\nend\nsubsection Mesh\n set Global refinements = 4\nend\n"
                                            "subsection Linear solver\n set Method = gmres\n set Preconditioner = multigrid\nend\n")
        self.assertEqual(self.chosen(growing), ("double", "double"))  # which may be indefinite

    def test_double_where_single_does_not_do(self):
        """A region of a large coefficient that only its surroundings hold, and the coarsest level is the finest: kappa is above 1e8."""
        settings = ["Multigrid/Levels=1", "Linear solver/Relative tolerance=1e-6"]
        for size, refinements, ranks, why in (("2e6", 5, 1, "(after [0-9]+ iterations the residual is |the linear solver refinement .* diverges)"), ("1e8", 4, 1, "the entries on the diagonal are between .* and "),
                                 ("1e8", 4, 2, "the entries on the diagonal are between .* and ")):
            island = self.write("island.prm", SQUARE.format(source="1", coefficient=f"if(abs(x-0.5)<0.2 && abs(y-0.5)<0.2, {size}, 1)", refinements=refinements, method="multigrid"))
            self.leopard(island, *settings, "Linear solver/Precision=double")
            expected = self.run_json("island")["cycles"][-1]["u"]["maximum"]
            said = self.leopard(island, *settings, ranks=ranks)
            self.assertEqual(len(re.findall(f"multigrid in double precision from now on, as single precision does not do: {why}", said)), 1, said)
            self.assertIn("V(2,2) multigrid, smoother async", said)
            maximum = self.run_json("island")["cycles"][-1]["u"]["maximum"]
            self.assertAlmostEqual(maximum, expected, delta=1e-5 * expected)

    def test_krylov_methods_go_on_in_double(self):
        """The same, of cg, which does not get on in single precision: on ranks, too, all together."""
        island = self.write("island.prm", SQUARE.format(source="1", coefficient="if(abs(x-0.5)<0.2 && abs(y-0.5)<0.2, 1e8, 1)", refinements=4, method="cg"))
        for preconditioner, ranks in (("ic", 1), ("ic", 2), ("jacobi", 2)):
            settings = [f"Linear solver/Preconditioner={preconditioner}", "Linear solver/Relative tolerance=1e-6"]
            self.leopard(island, *settings, "Linear solver/Precision=double", ranks=ranks)
            expected = self.run_json("island")["cycles"][-1]["u"]["maximum"]
            said = self.leopard(island, *settings, MIXED, ranks=ranks)
            self.assertEqual(said.count(f"cg with the preconditioner {preconditioner} in double precision from now on, as single precision does not do: "), 1, said)
            self.assertAlmostEqual(self.run_json("island")["cycles"][-1]["u"]["maximum"], expected, delta=1e-5 * expected)

    def test_double_where_values_do_not_fit(self):
        """On several ranks, too, where nobody may wait for a rank that has failed."""
        file = self.write("small.prm", SQUARE.format(source="1e-200", coefficient="1e-200*(1+x*y)", refinements=3, method="multigrid"))
        for ranks in (1, 2):
            said = self.leopard(file, ranks=ranks)
            self.assertIn("single precision does not do: the entries on the diagonal are between ", said)
            self.assertGreater(self.run_json("small")["cycles"][-1]["u"]["maximum"], 0.03, said)

    def test_more_iterations_than_allowed_in_single(self):
        """Where so many cycles in single precision miss the tolerance those in double are asked, too; here one of them is enough."""
        island = self.write("island.prm", SQUARE.format(source="1", coefficient="if(abs(x-0.5)<0.2 && abs(y-0.5)<0.2, 2e6, 1)", refinements=4, method="multigrid"))
        said = self.leopard(island, "Multigrid/Levels=1", "Linear solver/Relative tolerance=1e-6", "Linear solver/Max iterations=3")
        self.assertIn("as single precision does not do: after 3 iterations the residual is ", said)


class PrecisionThatCannotBe(HostProgram):
    def test_contradictions(self):
        square, l_shape = VERIFICATION / "multigrid_2d.prm", VERIFICATION / "multigrid_l_shape.prm"
        self.invalid([
            (square, [MIXED, "Linear solver/Method=direct"], ["'Linear solver/Precision' is mixed, but the linear solver is direct", "multigrid, async, async-refinement, jacobi", "or the precision double"]),
            (square, [MIXED, "Linear solver/Method=cg", "Linear solver/Preconditioner=amg"], ["the linear solver is cg with the preconditioner amg"]),
            (square, [MIXED, "Linear solver/Method=gmres", "Linear solver/Preconditioner=multigrid", "Multigrid/Precision=double"], ["'Multigrid/Precision' is double", "expected: automatic or single"]),
            (square, [MIXED, "Linear solver/Method=cg", "Linear solver/Preconditioner=multigrid", "Linear solver/Backend=cuda"],
             ["'Linear solver/Backend' is cuda, but 'Linear solver/Precision' is mixed for cg with the preconditioner multigrid, which runs on the host"]),
            (square, [MIXED, "Linear solver/Method=cg", "Linear solver/Preconditioner=aggregation"], ["cg with the preconditioner aggregation", "or cg or gmres with the preconditioner none, ", "'Multigrid/Precision' = single"]),
            (l_shape, [MIXED, "Linear solver/Method=automatic", "Linear solver/Preconditioner=none"], ["cg with the preconditioner amg (automatic: "]),
            (square, [MIXED, "Multigrid/Full multigrid start=true"], ["'Multigrid/Full multigrid start' is true"]),
            (square, [*ON_GPU, "Linear solver/Precision=double"], ["'Multigrid/Level storage' is bfloat16, but the cycles are in double precision", "'Linear solver/Precision' = mixed"]),
            (square, [*ON_GPU, "Linear solver/Method=cg", "Linear solver/Preconditioner=multigrid", "Multigrid/Precision=double"], ["the cycles are in double precision", "'Multigrid/Precision' = single"]),
            (square, [*ON_GPU, MIXED, "Multigrid/Form=stencil"], ["'Multigrid/Form' is stencil, of which nothing is stored"]),
            (square, [*ON_GPU, MIXED, "Multigrid/Smoother=multicolour-gauss-seidel"], ["'Multigrid/Smoother' is multicolour-gauss-seidel", "exact, or the smoother async", "jacobi", "or chebyshev"]),
            (square, ["Linear solver/Precision=single"], ["'Linear solver/Precision' is 'single'", "automatic | double | mixed"])])

    def test_the_general_time_loop_says_what_it_cannot_do(self):
        error = self.leopard(TINY, MIXED, "Time stepping/Engine=general", "Linear solver/Preconditioner=amg", fails=True)
        self.assertIn("'Linear solver/Precision' is mixed, but the linear solver is gmres with the preconditioner amg (automatic", error)
        self.assertIn("'Linear solver/Method' = multigrid, async", error)
        self.assertFalse((self.folder / "output").exists(), "something was written")

    def test_krylov_methods_on_several_ranks(self):
        error = self.leopard(VERIFICATION / "multigrid_2d.prm", MIXED, "Linear solver/Method=cg", "Linear solver/Preconditioner=multigrid", ranks=2, fails=True)
        self.assertIn("'Linear solver/Precision' is mixed and the method cg with the preconditioner multigrid, but the program runs on 2 ranks\n"
                      "  expected: one rank, another preconditioner, another method, or the precision double", error)
        self.assertFalse((self.folder / "output").exists(), "something was written")

    def test_entries_that_nobody_uses(self):
        def not_used(name):
            return {item["entry"] for item in self.run_json(name)["not_used"]}
        said = self.leopard(TINY, MIXED, SINGLE)
        self.assertIn("time loop: fused", said)
        self.assertEqual(not_used("tiny_turing"), {"Linear solver/Precision", "Multigrid/Precision"})
        said = self.leopard(VERIFICATION / "multigrid_2d.prm", "Verification/Refinements=0", SINGLE, "Linear solver/Precision=double")
        self.assertIn("not used: 'Multigrid/Precision' (the method multigrid has 'Linear solver/Precision')\n", said)
        self.assertIn('"multigrid_precision": "double"', json.dumps(self.run_json("multigrid_2d")))
        self.leopard(VERIFICATION / "multigrid_2d.prm", "Verification/Refinements=0", "Linear solver/Method=async", "Linear solver/Test every=3", MIXED, SINGLE)
        self.assertLessEqual({"Multigrid/Precision", "Linear solver/Test every"}, not_used("multigrid_2d"))

    def test_what_fails_is_named(self):
        # kappa is above 1e8: a region of the coefficient 1e8 that only its surroundings hold; double can do it
        island = self.write("island.prm", SQUARE.format(source="1", coefficient="if(abs(x-0.5)<0.2 && abs(y-0.5)<0.2, 1e8, 1)", refinements=4, method="multigrid"))
        settings = ["Multigrid/Levels=1", "Linear solver/Relative tolerance=1e-6"]
        self.leopard(island, *settings, "Linear solver/Precision=double")
        self.assertNotIn("single precision does not do", self.log("island"))
        self.failed_run(island, *settings, MIXED, says=["too ill-conditioned for single precision", "to try: 'Linear solver/Precision' = double", "= cg with 'Preconditioner' = amg and 'Precision' = double"])
        # a tolerance below what double precision has
        square = self.write("square.prm", SQUARE.format(source="1", coefficient="1", refinements=4, method="async"))
        self.failed_run(square, "Linear solver/Relative tolerance=1e-18", MIXED, says=["it has come to the level of rounding errors", "a larger 'Linear solver/Relative tolerance'"])
        self.failed_run(square, "Linear solver/Max iterations=30", MIXED, says=["in 30 iterations", "it is slow", "a larger 'Linear solver/Max iterations'"])
        self.failed_run(square, "Linear solver/Omega=1.95", "Linear solver/Momentum=0", "Linear solver/Method=jacobi", MIXED,
                        says=["refinement with", "diverges", "rho(|I - D^-1 A|)", "'Linear solver/Precision' = double"])


class PrecisionOnSeveralRanks(Program):
    """What one rank finds, in as many cycles or about as many iterations; with a matrix that is scaled, too."""

    def found(self, file, *settings, ranks, says=""):
        self.assertIn(says, self.leopard(file, *settings, "Linear solver/Relative tolerance=1e-11", ranks=ranks))
        return self.run_json(file.stem)["cycles"][-1]

    def compare_cycles(self, backend):
        square, l_shape = VERIFICATION / "multigrid_2d.prm", VERIFICATION / "multigrid_l_shape.prm"
        stored = ["Multigrid/Form=stored", "Verification/Refinements=0"]
        preconditions = [*stored, SINGLE, "Linear solver/Method=cg", "Linear solver/Preconditioner=multigrid"]
        solves = [MIXED, "Linear solver/Method=multigrid", "Linear solver/Preconditioner=none"]
        for file, settings in ((square, [*stored, *solves]), (square, preconditions), (square, [*preconditions, "Multigrid/Coarse solver=cg", "Multigrid/Levels=3"]),
                               (l_shape, ["Mesh/Adaptive cycles=2", *solves])):
            says, here, there = "multigrid in single precision", "Linear solver/Backend=host", f"Linear solver/Backend={backend}"
            one = self.found(file, *settings, SYNCHRONOUS, here, ranks=1, says=says)
            two = self.found(file, *settings, SYNCHRONOUS, there, ranks=2, says=says)
            a_pair = 1 if backend == "cuda" and settings[-len(solves):] == solves else 0  # of cycles is a correction on a GPU
            self.assertLessEqual(two["linear_iterations"], one["linear_iterations"] + 1 + a_pair, f"{file} {settings}")
            loose = self.found(file, *settings, "Linear solver/Schedule=chaotic", "Multigrid/Wait for ghosts=false", there, ranks=2, says=says)
            self.assertLessEqual(loose["linear_iterations"], 3 * one["linear_iterations"], f"{file} {settings}")  # in double it is up to twice as many
            for found in (two, loose):
                self.assertAlmostEqual(found["u"]["maximum"], one["u"]["maximum"], delta=1e-9 * one["u"]["maximum"], msg=f"{file} {settings}")

    def compare_relaxations(self, backend):
        for method, size in (("async", "1"), ("chebyshev", "1"), ("jacobi", "1e30")):
            file = self.write("square.prm", SQUARE.format(source=size, coefficient=size, refinements=4, method=method))
            one, two = (self.found(file, MIXED, f"Linear solver/Backend={b}", ranks=ranks, says="in single precision") for b, ranks in (("host", 1), (backend, 2)))
            self.assertLessEqual(max(one["corrections"], two["corrections"]), 4)
            self.assertLessEqual(two["linear_iterations"], 1.5 * one["linear_iterations"], method)
            self.assertAlmostEqual(two["u"]["maximum"], one["u"]["maximum"], delta=1e-9 * one["u"]["maximum"])

    def test_krylov_methods(self):
        """Ranks precondition with their own rows of factors and blocks, so that iterations are more, but not corrections; units of the matrix do not matter."""
        for method, preconditioner, size in (("cg", "none", "1"), ("cg", "async", "1"), ("cg", "ic", "1e30"), ("gmres", "async", "1"), ("gmres", "ilu", "1"), ("gmres", "ssor", "1")):
            file = self.write("square.prm", SQUARE.format(source=size, coefficient=f"{size}*if(x<0.5, 1e4, 1)", refinements=4, method=method))
            settings = [f"Linear solver/Preconditioner={preconditioner}", "Linear solver/Backend=host"]
            double = self.found(file, *settings, ranks=1)
            one = self.found(file, *settings, MIXED, ranks=1)
            for ranks in (2, 3):
                found = self.found(file, *settings, MIXED, ranks=ranks, says=f"refinement with {'CG' if method == 'cg' else 'FGMRES(50)'} in single precision")
                which = f"{method} {preconditioner}, {ranks} ranks"
                self.assertGreaterEqual(found["corrections"], 2, which)
                self.assertLessEqual(found["corrections"], 4, which)
                self.assertLessEqual(found["linear_iterations"], (1.1 if preconditioner == "none" else 2.5) * one["linear_iterations"] + 5, which)
                self.assertAlmostEqual(found["u"]["maximum"], double["u"]["maximum"], delta=1e-9 * double["u"]["maximum"], msg=which)

    def test_krylov_methods_take_new_values(self):
        """Two fields in time, on two ranks as on one in double."""
        rows = []
        for precision, ranks in (("double", 1), ("mixed", 2)):
            for preconditioner in ("async", "ilu"):
                self.leopard(TINY, "Time stepping/Engine=general", "Time stepping/Step size=0.01", "Time stepping/End time=0.03", "Output/Interval=0", "Linear solver/Method=gmres",
                             f"Linear solver/Preconditioner={preconditioner}", SYNCHRONOUS, "Linear solver/Backend=host", f"Linear solver/Precision={precision}", ranks=ranks)
                rows.append(self.statistics("tiny_turing")[1][-1][10:16])
        for row in rows[1:]:
            for a, b in zip(rows[0], row):
                self.assertAlmostEqual(a, b, delta=1e-5)

    def test_host(self):
        self.compare_cycles("host")
        self.compare_relaxations("host")
        self.assertIn("time loop: fused", self.leopard(TINY, MIXED, "Linear solver/Backend=host", ranks=2))

    def test_a_gpu_each(self):
        if not has_gpu():
            self.skipTest("no GPU")
        self.compare_cycles("cuda")
        self.compare_relaxations("cuda")
        settings = [MIXED, "Multigrid/Form=stored", "Verification/Refinements=0"]
        exact, rounded = (self.found(VERIFICATION / "multigrid_2d.prm", *settings, "Linear solver/Backend=cuda", f"Multigrid/Level storage={storage}", ranks=2) for storage in ("exact", "bfloat16"))
        self.assertLessEqual(rounded["linear_iterations"], 2 * exact["linear_iterations"])
        self.assertAlmostEqual(rounded["u"]["maximum"], exact["u"]["maximum"], delta=1e-9 * exact["u"]["maximum"])


if __name__ == "__main__":
    import unittest
    unittest.main()
