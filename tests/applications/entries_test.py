# SPDX-License-Identifier: Apache-2.0
"""Entries of the solvers do what they say: each changes the number of iterations in the direction that theory says."""
import re

from program import FILES, ROOT, Program

HELMHOLTZ = FILES / "verification/helmholtz.prm"
NEWTON = FILES / "benchmarks/newton_thesis.prm"
TINY = ROOT / "tests/output/tiny_turing.prm"


class SolverEntries(Program):
    def count(self, *settings):
        """Linear iterations, the last of the run's meshes; self.mean: of the solution, with all digits."""
        said = self.leopard(HELMHOLTZ, "Verification/Refinements=1", *(setting if "/" in setting else f"Linear solver/{setting}" for setting in settings))
        cycle = self.run_json("helmholtz")["cycles"][-1]
        self.mean = cycle["u"]["mean"]
        self.flexible = "flexible" in said
        return cycle["linear_iterations"]

    def test_relaxations(self):
        synchronous = ["Preconditioner=none", "Schedule=synchronous", "Test every=1", "Block size=32"]
        plain = self.count("Method=async", *synchronous)
        for entry, more in (("Local iterations=2", True), ("Local iterations=15", False), ("Block size=8", True), ("Block size=160", False), ("Omega=0.6", True), ("Momentum=0.4", False),
                            ("Relative tolerance=1e-4", False)):
            with self.subTest(entry):
                changed = self.count("Method=async", *synchronous, entry)
                self.assertTrue(changed > 1.05 * plain if more else changed < 0.95 * plain, f"{entry}: {changed} iterations instead of {plain}")
        self.assertGreater(plain % 10, 0)
        self.assertEqual(self.count("Method=async", *synchronous, "Test every=10") % 10, 0)
        self.assertGreater(self.count("Method=jacobi", "Preconditioner=none", "Test every=1", "Omega=0.6"), 1.3 * self.count("Method=jacobi", "Preconditioner=none", "Test every=1"))
        for method in ("sor", "ssor"):  # on the host: by colours, as on a GPU, SSOR gains nothing from omega
            sequential = [f"Method={method}", "Backend=host", "Preconditioner=none", "Test every=1"]
            self.assertLess(self.count(*sequential, "Omega=1.5"), 0.7 * self.count(*sequential))
        chebyshev = ["Method=chebyshev", "Preconditioner=none"]
        for entries in (["Smallest eigenvalue=0.002", "Largest eigenvalue=2.1"], ["Smallest eigenvalue=0.05", "Largest eigenvalue=6"]):
            self.assertGreater(self.count(*chebyshev, *entries), 1.3 * self.count(*chebyshev, "Smallest eigenvalue=0.05", "Largest eigenvalue=2.1"))

    def test_several_gpus(self):
        """Refused before anything is made: methods that cannot share out rows, contradictions."""
        chosen = ["Method=async", "Preconditioner=none", "GPUs=2"]
        cannot = ["'Linear solver/GPUs' is 2", "expected: 'Linear solver/Method' = async, or cg or gmres with the preconditioner none", "mpirun with a rank for each GPU"]
        others = [[f"Method={method}"] for method in ("multigrid", "direct", "jacobi", "async-refinement")]
        others += [["Method=cg", f"Preconditioner={preconditioner}"] for preconditioner in ("amg", "aggregation", "multigrid", "ssor")]
        others += [["Method=automatic", "Preconditioner=amg"]]
        for settings, says in (*((other, cannot) for other in others), (["Precision=mixed"], ["'Linear solver/Precision' is mixed"]),
                               (["Method=cg", "Precision=mixed"], ["'Linear solver/GPUs' is 2", "'Linear solver/Precision' is mixed"]),
                               (["Method=gmres", "Preconditioner=async", "Schedule=replay"], ["'Linear solver/GPUs' is 2", "replay runs on the host"]),
                               (["Method=gmres", "Restart=1001"], ["'Linear solver/Restart' is '1001'"]),
                               (["Method=cg", "Backend=host"], ["'Linear solver/Backend' is host"]),
                               (["Backend=host"], ["'Linear solver/Backend' is host"]), (["Overlap=uniform"], ["overlap is given"]), (["Schedule=synchronous"], ["schedule is synchronous"]),
                               (["GPUs=65"], ["GPUs"])):
            error = self.leopard(HELMHOLTZ, *(f"Linear solver/{setting}" for setting in [*chosen, *settings]), fails=True)
            for words in says:
                self.assertIn(words, error)

    def test_ranks_that_wait_or_do_not(self):
        """Ranks that do not wait solve the same to the same tolerance; one rank has nobody to wait for."""
        chosen = [f"Linear solver/{entry}" for entry in ("Method=async", "Preconditioner=none", "Schedule=chaotic", "Block size=32", "Threads=1", "Backend=host", "Relative tolerance=1e-10")]
        means = {}
        for ranks, wait in ((2, "true"), (2, "false"), (3, "false"), (1, "false")):
            said = self.leopard(HELMHOLTZ, "Verification/Refinements=1", *chosen, f"Linear solver/Wait for ghosts={wait}", ranks=ranks)
            self.assertEqual("ghosts not waited for" in said, ranks > 1 and wait == "false", said)
            self.assertEqual("not used: 'Linear solver/Wait for ghosts' (there is one rank)" in said, ranks == 1, said)
            means[ranks, wait] = self.run_json("helmholtz")["cycles"][-1]["u"]["mean"]
        for which, mean in means.items():
            self.assertAlmostEqual(mean, means[2, "true"], delta=1e-7, msg=which)
        for entry in ("Schedule=synchronous", "Schedule=replay", "Backend=reference"):
            error = self.leopard(HELMHOLTZ, *chosen, f"Linear solver/{entry}", "Linear solver/Wait for ghosts=false", fails=True)
            self.assertIn("'Linear solver/Wait for ghosts' is false, but '" + "Linear solver/" + entry.split("=")[0], error)

    def test_classes_of_two_stage_iterations(self):
        """Newest values in a block save iterations; a class goes with a schedule, and a preconditioner of rows in their order is not symmetric."""
        chosen = ["Method=async", "Preconditioner=none", "Test every=1", "Block size=32", "Local iterations=2", "Threads=1", "Backend=host"]
        counts = {kind: self.count(*chosen, f"Two stage={kind}", f"Schedule={'synchronous' if kind in ('synchronous', 'inner') else 'chaotic'}")
                  for kind in ("synchronous", "inner", "block", "outer", "total")}
        self.assertLess(counts["inner"], 0.95 * counts["synchronous"])
        self.assertLess(counts["outer"], 0.9 * counts["block"])
        self.assertLess(abs(counts["total"] - counts["outer"]), 2)  # of one thread
        self.assertEqual(counts["block"], self.count(*chosen, "Schedule=chaotic"))
        for settings, says in ((["Two stage=inner"], ["'Linear solver/Two stage' is inner", "with the schedule chaotic", "expected: the schedule synchronous with it"]),
                               (["Two stage=outer", "Momentum=0.3"], ["'Linear solver/Two stage' is outer", "momentum is 0.3"]),
                               (["Two stage=inner", "Schedule=synchronous", "Backend=automatic", "GPUs=2"],
                                ["'Linear solver/GPUs' is 2, but for several GPUs: schedule is synchronous", "GPUs that wait for one another"])):
            error = self.leopard(HELMHOLTZ, *(f"Linear solver/{setting}" for setting in [*chosen, "Schedule=chaotic", *settings]), fails=True)
            for words in says:
                self.assertIn(words, error)
        cg = ["Method=cg", "Preconditioner=async", "Schedule=synchronous", "Backend=host", "Threads=1"]
        self.count(*cg)
        self.assertFalse(self.flexible)
        self.count(*cg, "Two stage=inner")
        self.assertTrue(self.flexible)
        self.assertLess(self.count("Method=cg", "Preconditioner=ic", "Triangular solves=async", "Triangular iterations=1", "Local iterations=1", "Schedule=synchronous", "Block size=160", "Backend=host",
                                   "Two stage=inner"),
                        self.count("Method=cg", "Preconditioner=ic", "Triangular solves=async", "Triangular iterations=1", "Local iterations=1", "Schedule=synchronous", "Block size=160", "Backend=host"))

    def test_replays_depend_on_their_seed(self):
        means = []
        for seed in ("1", "1", "2"):
            self.count("Method=async", "Preconditioner=none", "Schedule=replay", "Block size=32", f"Seed={seed}", "Relative tolerance=1e-5")
            means.append(self.mean)
        self.assertEqual(means[0], means[1])
        self.assertNotEqual(means[0], means[2])

    def test_missed_tolerances(self):
        for method in ("async", "jacobi", "chebyshev"):
            error = self.leopard(HELMHOLTZ, f"Linear solver/Method={method}", "Linear solver/Preconditioner=none", "Linear solver/Max iterations=5", fails=True)
            self.assertIn("has not reached the tolerance", error)

    def test_krylov_methods(self):
        unpreconditioned = ["Method=gmres", "Preconditioner=none"]
        self.assertGreater(self.count(*unpreconditioned, "Restart=4"), 1.3 * self.count(*unpreconditioned, "Restart=100"))
        asynchronous = ["Method=gmres", "Preconditioner=async", "Schedule=synchronous", "Block size=32"]
        self.assertGreater(self.count(*asynchronous, "Preconditioner iterations=1"), 1.3 * self.count(*asynchronous, "Preconditioner iterations=6"))
        self.assertGreater(self.count("Method=cg", "Preconditioner=ssor", "Omega=0.3"), 1.2 * self.count("Method=cg", "Preconditioner=ssor", "Omega=1.5"))

    def test_algebraic_preconditioners(self):
        plain = self.count("Method=cg", "Preconditioner=none")
        exact = {name: self.count("Method=cg", f"Preconditioner={name}") for name in ("ilu", "ic", "aggregation")}
        self.assertEqual(self.flexible, False)
        for name, count in exact.items():
            self.assertLess(count, 0.7 * plain, name)
        self.assertLess(exact["aggregation"], exact["ic"])
        for method, name in (("cg", "ic"), ("gmres", "ilu")):
            counts = [self.count(f"Method={method}", f"Preconditioner={name}", f"Fill level={level}") for level in (0, 1, 3, 1000)]
            self.assertLess(counts[1], 0.9 * counts[0], name)
            self.assertLess(counts[2], counts[1], name)
            self.assertLessEqual(counts[3], 2, name)  # all fill there is: factors of elimination
        solves = ["Method=cg", "Preconditioner=ic", "Triangular solves=async", "Schedule=synchronous", "Local iterations=1", "Block size=16"]
        few = self.count(*solves, "Triangular iterations=1")
        self.assertGreater(few, 1.1 * self.count(*solves, "Triangular iterations=30"))
        self.assertLessEqual(self.count(*solves, "Triangular iterations=30"), exact["ic"] + 1)
        for schedule, flexible in (("synchronous", False), ("chaotic", True)):  # what changes from call to call is not for plain cg
            self.count(*solves, f"Schedule={schedule}", "Triangular iterations=30", "Threads=2")
            self.assertEqual(self.flexible, flexible, schedule)
        swept = {sweeps: self.count("Method=gmres", "Preconditioner=ilu", f"Factor sweeps={sweeps}") for sweeps in (1, 20)}
        self.assertLess(swept[1], plain)
        self.assertLess(swept[20], swept[1])  # the first sweep does not find the factors
        self.assertLessEqual(abs(swept[20] - self.count("Method=gmres", "Preconditioner=ilu")), 1)

    def test_levels_of_aggregation_have_the_entries_of_cycles(self):
        def count(*settings):
            return self.count("Method=gmres", "Preconditioner=aggregation", "Verification/Refinements=4", *(f"Multigrid/{setting}" for setting in settings))

        usual = count()
        self.assertFalse(self.flexible)
        self.assertEqual(count("Smoother=chebyshev", "Pre smoothing=1", "Post smoothing=1"), usual)
        self.assertLess(count("Pre smoothing=4", "Post smoothing=4"), usual)
        self.assertLess(count("Smoothing iterations per step=4"), usual)
        self.assertGreater(count("Smoother=damped-jacobi", "Smoother omega=0.2"), usual)
        self.assertLessEqual(abs(count("Precision=single") - usual), 2)  # by the flexible form
        self.assertTrue(self.flexible)
        self.count("Method=gmres", "Preconditioner=aggregation", "Verification/Refinements=4", "Multigrid/Smoother=async", "Schedule=chaotic", "Threads=2")
        self.assertTrue(self.flexible)

    def test_algebraic_preconditioners_in_time(self):
        def linear_iterations(preconditioner):
            said = self.leopard(TINY, "Time stepping/Engine=general", "Time stepping/Step size=0.02", "Time stepping/End time=0.1", "Output/Interval=0", "Mesh/Global refinements=5",
                                "Linear solver/Method=gmres", f"Linear solver/Preconditioner={preconditioner}", "Newton/Linear tolerance=1e-6")
            return int(re.search(r"(\d+) linear iterations", said)[1])

        plain = linear_iterations("none")
        for preconditioner in ("ilu", "aggregation"):
            self.assertLess(linear_iterations(preconditioner), 0.5 * plain, preconditioner)

    def test_factors_of_each_ranks_rows(self):
        """Block Jacobi over the ranks: the same solution, more iterations the more ranks there are; also with new values, fill, sweeps and asynchronous solves."""
        for preconditioner, method in (("ic", "cg"), ("ilu", "gmres")):
            settings = [f"Linear solver/Method={method}", f"Linear solver/Preconditioner={preconditioner}", "Linear solver/Fill level=1"]
            counts, errors = [], []
            for ranks in (1, 2, 3):
                said = self.leopard(HELMHOLTZ, "Verification/Refinements=1", *settings, ranks=ranks)
                self.assertEqual("(of the first rank's rows; each rank has its own)" in said, ranks > 1)
                cycle = self.run_json("helmholtz")["cycles"][-1]
                counts.append(cycle["linear_iterations"])
                errors.append(cycle["l2_error"])
            self.assertLess(max(errors) - min(errors), 1e-5 * errors[0])
            self.assertGreater(counts[1], counts[0])
            self.assertGreaterEqual(counts[2], counts[1] - 1)
            self.assertLess(counts[2], 4 * counts[0])
        steps = ["Time stepping/Engine=general", "Time stepping/Step size=0.02", "Time stepping/End time=0.1", "Output/Interval=0", "Mesh/Global refinements=5", "Linear solver/Method=gmres",
                 "Newton/Linear tolerance=1e-6"]
        plain = int(re.search(r"(\d+) linear iterations", self.leopard(TINY, *steps, "Linear solver/Preconditioner=none", ranks=2))[1])
        for solves in ("Triangular solves=exact", "Triangular solves=async", "Factor sweeps=3"):
            said = self.leopard(TINY, *steps, "Linear solver/Preconditioner=ilu", "Linear solver/Fill level=1", f"Linear solver/{solves}", ranks=2)
            self.assertLess(int(re.search(r"(\d+) linear iterations", said)[1]), 0.5 * plain, solves)

    def test_incomplete_factors_refused_and_unused(self):
        error = self.leopard(TINY, "Linear solver/Method=gmres", "Linear solver/Preconditioner=ic", fails=True)
        self.assertIn("'Linear solver/Preconditioner' is ic, but the Jacobian of the problem Turing is not symmetric\n  expected: ilu", error)
        self.assertFalse((self.folder / "output").exists())
        said = self.leopard(HELMHOLTZ, "Verification/Refinements=0", "Linear solver/Preconditioner=ilu", "Linear solver/Triangular iterations=5", "Linear solver/Block size=20")
        self.assertIn("not used: 'Linear solver/Triangular iterations' ('Linear solver/Triangular solves' is automatic)\n", said)
        self.assertIn("not used: 'Linear solver/Block size', 'Linear solver/Schedule' (async is used nowhere)\n", said)
        said = self.leopard(HELMHOLTZ, "Verification/Refinements=0", "Linear solver/Preconditioner=ssor", "Linear solver/Fill level=1", "Linear solver/Factor sweeps=5")
        self.assertIn("not used: 'Linear solver/Factor sweeps', 'Linear solver/Fill level' (ilu and ic do not precondition)\n", said)
        # a general time loop, as the fused one does not have these
        self.assertIn("time loop: general", self.leopard(TINY, "Linear solver/Method=gmres", "Linear solver/Preconditioner=ilu", "Linear solver/Triangular solves=async"))

    def test_multigrid(self):
        def cycles(*settings):
            double = "Precision=double"  # with as many steps before as after, cycles in single precision have momentum
            return self.count("Method=multigrid", "Preconditioner=none", double, *(f"Multigrid/{setting}" for setting in settings))

        jacobi = ["Smoother=damped-jacobi"]
        plain = cycles(*jacobi)
        for entry, more in (("Pre smoothing=0", True), ("Post smoothing=0", True), ("Pre smoothing=6", False), ("Post smoothing=6", False), ("Smoother omega=0.3", True),
                            ("Smoothing iterations per step=4", False), ("Smoother=gauss-seidel", False)):
            with self.subTest(entry):
                changed = cycles(*(jacobi if not entry.startswith("Smoother=") else []), entry)
                self.assertTrue(changed > plain if more else changed < plain, f"{entry}: {changed} cycles instead of {plain}")

    def test_cycles_of_multigrid(self):
        multigrid = ["Linear solver/Method=multigrid", "Linear solver/Preconditioner=none", "Multigrid/Smoother=damped-jacobi", "Verification/Refinements=1"]
        for cycle in "VWF":
            self.assertIn(f"  {cycle}(2,2)-cycle, ", self.leopard(HELMHOLTZ, *multigrid, f"Multigrid/Cycle={cycle}"))
        self.assertIn("-cycle after full multigrid", self.leopard(HELMHOLTZ, *multigrid, "Multigrid/Full multigrid start=true"))


class NewtonEntries(Program):
    def steps(self, *settings):
        self.leopard(NEWTON, "Mesh/Cells=16", "Linear solver/Method=direct", "Linear solver/Preconditioner=none", "Newton/Forcing=relative tolerance",
                     *(f"Newton/{setting}" for setting in settings))
        return [step["residual"] for step in self.run_json("newton_thesis")["cycles"][0]["newton"]]

    def test_tolerances(self):
        exact = self.steps("Relative tolerance=1e-9", "Absolute tolerance=1e-15")
        self.assertLessEqual(exact[-1], 1e-9 * exact[0])
        self.assertLess(len(self.steps("Relative tolerance=1e-2", "Absolute tolerance=1e-15")), len(exact))

    def test_absolute_tolerance(self):
        steps = []
        for tolerance in ("1e-15", "1e-4"):
            self.leopard(TINY, "Linear solver/Method=direct", "Turing/Perturbation=0.3", "Newton/Relative tolerance=1e-9", f"Newton/Absolute tolerance={tolerance}",
                         "Time stepping/Step size=0.05", "Time stepping/End time=0.1", "Turing/gamma=10", "Output/Interval=0", "Output/Log every=1")
            steps.append(sum(row[3] for row in self.statistics("tiny_turing")[1]))
        self.assertLess(steps[1], steps[0])


    def test_rounding_is_no_failure(self):
        """Cells of 1/8 x 8e-8: what rounding leaves of the residual is far above both tolerances, and steps were shortened for it until they underflowed."""
        self.leopard(TINY, "Time stepping/Engine=general", "Linear solver/Method=direct", "Discretization/Method=finite differences", "Mesh/Domain=box", "Mesh/Upper corner=1,1e-5",
                     "Mesh/Cells=8,128", "Mesh/Global refinements=0", "Time stepping/Step control=error-controlled", "Time stepping/Step size=1e-5", "Time stepping/End time=2e-3",
                     "Turing/gamma=500", "Turing/kappa=20", "Turing/Perturbation=0.02", timeout=300)
        self.assertEqual(self.run_json("tiny_turing")["time_loop"]["rejected_for"]["Newton"], 0)


class TimeEntries(Program):
    def steps(self, *settings):
        self.leopard(TINY, "Time stepping/End time=0.02", "Output/Interval=0", "Output/Log every=1", *(f"Time stepping/{setting}" for setting in settings))
        return self.statistics("tiny_turing")[1]

    def test_steps(self):
        for engine in ("general", "automatic"):
            with self.subTest(engine):
                engine = f"Engine={engine}"
                self.assertEqual([round(row[2], 9) for row in self.steps(engine, "Step size=4e-3")], [4e-3] * 5)
                self.assertAlmostEqual(self.steps(engine, "End time=0.01")[-1][1], 0.01, delta=1e-9)
                controlled = [engine, "Step control=error-controlled", "Step size=1e-4", "Error tolerance=1e-4"]
                rows = self.steps(*controlled)
                self.assertAlmostEqual(rows[0][2], 1e-4)
                self.assertGreater(len(self.steps(*controlled[:3], "Error tolerance=1e-6")), 1.5 * len(rows))
                largest = max(row[2] for row in rows)
                self.assertLessEqual(max(row[2] for row in self.steps(*controlled, f"Largest step={largest / 3}")), largest / 3 * (1 + 1e-9))
                for row in rows:
                    self.assertLessEqual(row[7], 1)
                first = [self.steps(engine, "Step control=asynchronous bound", f"Bound fraction={fraction}")[0][2] for fraction in (0.4, 0.8)]
                self.assertAlmostEqual(first[1] / first[0], 2, delta=1e-6)


class OutputEntries(Program):
    def test_checkpoints_by_steps(self):
        self.leopard(TINY, "Time stepping/End time=0.012", "Output/Interval=0", "Run/Checkpoint steps=5")
        kept = sorted(path.name for path in (self.folder / "output/tiny_turing/checkpoints").iterdir())
        self.assertEqual(kept, ["step_000000010", "step_000000012"])
