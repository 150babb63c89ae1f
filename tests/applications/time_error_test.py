# SPDX-License-Identifier: Apache-2.0
"""'Time stepping/Estimate error': the run once more with other steps, and what it says of the error."""
import signal
import subprocess
import time

from program import FILES, ROOT, Program

TINY = ROOT / "tests/output/tiny_turing.prm"
ORDER = FILES / "verification/time_order.prm"


class TimeError(Program):
    def rms(self, name):
        """Of both fields together, as the L2 error is: the domain has the area one."""
        fields = self.run_json(name)["time_error"]["fields"]
        return sum(field["rms"] ** 2 for field in fields.values()) ** 0.5

    def test_is_the_error_against_an_exact_solution(self):
        # fails where the order, the ratio of the steps or the sign of the correction is wrong
        control = "Time stepping/Step control="
        for settings in (["Time stepping/Scheme=implicit Euler", "Time stepping/Step size=0.01"],
                         ["Time stepping/Step size=0.01"],
                         ["Time stepping/Step size=0.04"],  # 25 steps beside 13
                         [control + "error-controlled", "Time stepping/Error tolerance=1e-4", "Time stepping/Step size=1e-3"],
                         [control + "error-controlled", "Time stepping/Error tolerance=1e-5", "Time stepping/Step size=1e-3", "Time stepping/Scheme=BDF3"],
                         [control + "asynchronous bound", "Time stepping/Bound fraction=0.05"]):
            said = self.leopard(ORDER, "Verification/Refinements=0", "Time stepping/Estimate error=true", *settings)
            self.assertIn("error at the end, as far as steps in time make it", said)
            measures = {measure["name"]: measure["value"] for measure in self.run_json("time_order")["measures"]}
            ratio = self.rms("time_order") / measures["L2 error"]
            self.assertTrue(0.6 < ratio < 3, f"{settings}: {ratio} times the error")
            self.assertGreaterEqual(measures["error of u by steps in time"], 0.9 * self.run_json("time_order")["time_error"]["fields"]["u"]["rms"])

    def test_the_run_stays_what_it_is(self):
        # fails where fields, statistics, pattern or checkpoints are those of the run beside
        settings = ["Time stepping/Step control=error-controlled", "Time stepping/Error tolerance=1e-4", "Time stepping/End time=0.02", "Linear solver/Threads=1"]
        self.leopard(TINY, *settings)
        before = self.statistics("tiny_turing")[1], self.checkpoints("tiny_turing"), self.run_json("tiny_turing")["pattern"]
        pvd = (self.folder / "output/tiny_turing/solution.pvd").read_text()
        said = self.leopard(TINY, *settings, "Time stepping/Estimate error=true")
        now = self.statistics("tiny_turing")[1], self.checkpoints("tiny_turing"), self.run_json("tiny_turing")["pattern"]
        self.assertEqual([row[:2] for row in before[0]], [row[:2] for row in now[0]])
        self.assertEqual(before[1], now[1])
        self.assertEqual(pvd, (self.folder / "output/tiny_turing/solution.pvd").read_text())
        self.assertEqual(said.count("time loop: "), 1)
        self.assertIn("the run once more, to estimate the error, with the tolerance 0.001", said)
        again = self.leopard(TINY, *settings, "Time stepping/Estimate error=true", options=["--resume"])
        self.assertIn("error at the end", again)

    def test_a_run_whose_steps_have_changed_is_not_judged(self):
        for settings, says in ((["Time stepping/Step size=5e-4"], "'Time stepping/Step size' has changed on resume"), (["Turing/gamma=50"], "'Turing/gamma' has changed on resume"),
                               ([], "error at the end")):
            self.leopard(TINY, "Time stepping/End time=5e-3")
            said = self.leopard(TINY, *settings, "Time stepping/End time=1e-2", "Time stepping/Estimate error=true", options=["--resume"])
            self.assertIn(says, said)

    # fails where the line is missing, or stands where the error is known, asked for or not that of a tolerance
    def test_a_run_with_error_control_says_that_there_is_an_estimate(self):
        control = "Time stepping/Step control=error-controlled"
        for file, settings, times in ((TINY, [control], 1), (TINY, [control, "Time stepping/Estimate error=true"], 0), (TINY, ["Time stepping/Step control=fixed"], 0),
                                      (ORDER, [control, "Verification/Refinements=0"], 0)):
            said = self.leopard(file, *settings, "Time stepping/End time=2e-3")
            self.assertEqual(said.count("'Time stepping/Estimate error = true' does the run once more"), times, settings)

    def test_homogeneous_fields(self):
        """Their span at the end is zero, and the estimate was said to be no more than an order of magnitude, however small it was."""
        file = self.write("logistic.prm", "set Problem = turing\nsubsection Turing\n set Kinetics = expressions\n set Species = u\n set Steady state = none\n set Reaction u = u*(1-u)\n"
                          " set Diffusion u = 1\n set Initial value u = 0.01\nend\nsubsection Mesh\n set Global refinements = 2\nend\nsubsection Time stepping\n set End time = 10\n set Estimate error = true\nend\n")
        for engine in ("fused", "general"):
            said = self.leopard(file, f"Time stepping/Engine={engine}")
            self.assertRegex(said, r"u: about \S+ at a node, \S+ in the mean \(root of the mean square\); its values span 0.98\d in the run, ")
            self.assertNotIn("order of magnitude", said)
            estimate = self.run_json("logistic")["time_error"]["fields"]["u"]
            self.assertTrue(estimate["reliable"])
            self.assertAlmostEqual(estimate["span"], 0.985, delta=2e-3)
            self.assertLess(estimate["span_at_end"], 1e-6)
        oscillator = ["Turing/Species=u, v", "Turing/Reaction u=100*v", "Turing/Reaction v=-100*u", "Turing/Diffusion v=1", "Turing/Initial value u=1", "Turing/Initial value v=0", "Time stepping/End time=1"]
        self.assertIn("more than a tenth of what values span in the run, so no more than an order of magnitude", self.leopard(file, *oscillator))

    def test_both_loops_agree(self):
        errors = []
        for engine in ("fused", "general"):
            self.leopard(TINY, f"Time stepping/Engine={engine}", "Time stepping/Step size=5e-4", "Time stepping/End time=0.02", "Time stepping/Estimate error=true",
                         "Newton/Relative tolerance=1e-10", "Linear solver/Relative tolerance=1e-8")
            errors.append(self.run_json("tiny_turing")["time_error"]["fields"]["u"]["largest"])
        self.assertAlmostEqual(errors[0] / errors[1], 1, delta=0.05)

    def test_why_there_is_none(self):
        said = self.leopard(TINY, "Time stepping/End time=1e-3", "Time stepping/Estimate error=true")
        self.assertIn("the error is not estimated: the run has 1 steps and the one beside it 1", said)
        self.assertIn("why_none", self.run_json("tiny_turing")["time_error"])
        said = self.leopard(TINY, "Time stepping/End time=0.2", "Time stepping/Step control=error-controlled", "Time stepping/Error tolerance=0.1", "Turing/gamma=1000", "Turing/Perturbation=0.5",
                            "Time stepping/Estimate error=true", "Output/Interval=0")
        self.assertIn("no more than an order of magnitude", said)
        said = self.leopard(ORDER, "Verification/Refinements=1", "Time stepping/Estimate error=true")
        self.assertIn("not used: 'Time stepping/Estimate error'", said)

    def test_a_signal_ends_the_run_beside_only(self):
        command = self.command(TINY, "Time stepping/Step size=2e-5", "Time stepping/End time=0.06", "Time stepping/Estimate error=true", "Output/Interval=0", "Output/Log every=automatic",
                               "Time stepping/Engine=general", "Mesh/Global refinements=5", options=["--overwrite"])
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as program:
            for line in program.stdout:
                if "the run once more" in line:
                    time.sleep(0.2)
                    program.send_signal(signal.SIGTERM)
                    break
            rest = program.stdout.read()
            program.wait()
        self.assertIn("the error is not estimated: stopped: SIGTERM", rest)
        self.assertTrue(self.checkpoints("tiny_turing"))
        self.assertIn("pattern", self.run_json("tiny_turing"))
