# SPDX-License-Identifier: Apache-2.0
"""SIGTERM, Ctrl-C and SIGHUP wherever the program is: it stops soon, says so, and goes on with --resume."""
import fcntl
import os
import pathlib
import pty
import signal
import subprocess
import termios
import time

from program import FILES, ROOT, Program

LAPLACE = FILES / "verification/laplace.prm"
TINY = ROOT / "tests/output/tiny_turing.prm"
# none of these ends by itself within a quarter of an hour
NEVER = ["Linear solver/Max iterations=2000000000", "Linear solver/Relative tolerance=1e-15", "Mesh/Global refinements=9", "Verification/Refinements=0", "Laplace/Exact solution="]


class Signals(Program):
    def stop(self, file, *settings, after, number=signal.SIGTERM, ranks=1, name=None, pause=0):
        """Sends the signal `pause` seconds after a line with `after`, and expects an end that would not come otherwise."""
        process = subprocess.Popen(self.command(file, *settings, options=["--overwrite"], ranks=ranks), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        said = ""
        for line in process.stdout:
            said += line
            if after in line:
                break
        else:
            self.fail(said + process.stderr.read())
        time.sleep(pause)
        if ranks > 1:  # one of them; the others are to hear of it
            children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
            os.kill(int(children[-1]), number)
        else:
            process.send_signal(number)
        try:
            rest, error = process.communicate(timeout=300)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.fail(f"still running five minutes after the signal: {settings}")
        status = "stopped: " + signal.Signals(number).name
        self.assertEqual(process.returncode, 128 + number, said + rest + error)
        self.assertIn(status, rest)
        self.assertEqual(self.run_json(name or file.stem)["status"], status)
        return said + rest

    def test_stationary_solves(self):
        for method, preconditioner in (("jacobi", "none"), ("async", "none"), ("cg", "none"), ("gmres", "jacobi")):
            self.stop(LAPLACE, *NEVER, f"Linear solver/Method={method}", f"Linear solver/Preconditioner={preconditioner}", after="cycle 0", number=signal.SIGINT)

    # fails if neither a signal nor the wall time is looked at while the fields of one step are written
    def test_outputs_of_one_step(self):
        often = ["Output/Interval=1e-9", "Time stepping/Step control=error-controlled", "Time stepping/Scheme=BDF2"]
        said = self.stop(TINY, *often, after="time loop", pause=3)
        self.assertIn("asks for fields at", said)
        said = self.leopard(TINY, *often, "Run/Wall time=0.03")
        self.assertIn("stopped while fields of one step were written", said)

    def test_study_of_smoothers(self):
        """In the middle of the repetitions of one row, which is left out; or, where the machine is busy, before them."""
        settings = ["Study=smoothers", "Smoother study/Repetitions=10000", "Smoother study/Smoothers=damped-jacobi", "Mesh/Global refinements=6", "Laplace/Exact solution=", "Verification/Refinements=0"]
        for solver in ("multigrid", "cg"):
            said = self.stop(LAPLACE, *settings, f"Smoother study/Solvers={solver}", after="study of smoothers", pause=2)
            self.assertNotIn("no smoother has reached", said)
            self.assertNotIn("damped-jacobi", said)

    def test_newton(self):
        self.stop(FILES / "benchmarks/newton_thesis.prm", "Newton/Linear iterations=100000000", "Mesh/Cells=500", after="cycle 0")

    def test_inside_a_step(self):
        settings = ["Time stepping/Engine=general", "Newton/Forcing=fixed iterations", "Newton/Linear iterations=100000000", "Linear solver/Method=async"]
        said = self.stop(TINY, *settings, "Mesh/Global refinements=7", after="time loop: general")
        self.assertIn("go on with --resume", said)
        self.assertNotIn("pattern of u at", said)  # the disturbance of time zero is none
        self.leopard(TINY, *settings[:1], "Mesh/Global refinements=7", options=["--resume"])
        self.assertEqual(self.run_json("tiny_turing")["status"], "finished")

    def test_a_terminal_that_is_closed(self):
        """The log goes to a terminal that is no more; nothing but what is printed there is lost."""
        settings = ["Time stepping/End time=1000"]
        for ignored in (False, True):  # as with nohup
            with self.subTest(ignored=ignored):
                ours, its = pty.openpty()

                def begin():
                    fcntl.ioctl(its, termios.TIOCSCTTY, 0)
                    signal.signal(signal.SIGHUP, signal.SIG_IGN if ignored else signal.SIG_DFL)

                process = subprocess.Popen(self.command(TINY, *settings, options=["--overwrite"]), cwd=self.folder, stdin=its, stdout=its, stderr=its, start_new_session=True, preexec_fn=begin)
                os.close(its)
                said = b""
                while b"\nstep" not in said:
                    said += os.read(ours, 1000)
                os.close(ours)
                for _ in range(3):  # the shell that ran it sends one, too
                    process.send_signal(signal.SIGHUP)
                    time.sleep(0.01)
                if ignored:
                    time.sleep(2)
                    self.assertIsNone(process.poll())
                    process.send_signal(signal.SIGTERM)
                self.assertEqual(process.wait(300), 128 + (signal.SIGTERM if ignored else signal.SIGHUP))
                self.assertEqual(self.run_json("tiny_turing")["status"], "stopped: SIGTERM" if ignored else "stopped: SIGHUP")
                self.assertTrue(list((self.folder / "output/tiny_turing/checkpoints").iterdir()))

    # fails if a line of the log for a reader that is gone ends the run
    def test_a_pipe_whose_reader_ends_first(self):
        process = subprocess.Popen(self.command(TINY, "Time stepping/End time=1000", "Output/Log every=50", options=["--overwrite"]), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said = b""
        while b"\nstep" not in said:
            said += os.read(process.stdout.fileno(), 1000)
        process.stdout.close()
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        self.assertIn("standard output cannot be written; the lines for it are in the log file only", process.communicate(timeout=300)[1].decode())
        self.assertEqual(process.returncode, 128 + signal.SIGINT)
        self.assertEqual(self.run_json("tiny_turing")["status"], "stopped: SIGINT")
        self.assertTrue(list((self.folder / "output/tiny_turing/checkpoints").iterdir()))

    def test_two_ranks(self):
        settings = ["Time stepping/Engine=general", "Newton/Forcing=fixed iterations", "Newton/Linear iterations=100000000", "Linear solver/Method=async"]
        self.stop(TINY, *settings, "Mesh/Global refinements=6", after="time loop: general", ranks=2)

    # fails if the others wait for the values of a rank that is no more
    def test_a_rank_that_dies(self):
        """Out of memory, say. MPI ends the others, within three seconds; the limit is for busy machines."""
        waiting = ["Linear solver/Method=async", "Linear solver/Preconditioner=none"]
        for settings in (waiting, [*waiting, "Linear solver/Wait for ghosts=false"], ["Linear solver/Method=cg", "Linear solver/Preconditioner=jacobi"]):
            for victim in range(2):
                with self.subTest(f"rank {victim}, {settings}"):
                    process = subprocess.Popen(self.command(LAPLACE, *NEVER, *settings, options=["--overwrite"], ranks=2), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                    said = ""
                    while "cycle 0" not in said:
                        line = process.stdout.readline()
                        self.assertTrue(line, said)
                        said += line
                    time.sleep(1)
                    os.kill(int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[victim]), signal.SIGKILL)
                    start = time.monotonic()
                    _, error = process.communicate(timeout=300)
                    self.assertLess(time.monotonic() - start, 30)
                    self.assertNotEqual(process.returncode, 0)
                    self.assertIn("signal 9", error)

    def test_a_mesh_that_takes_minutes(self):
        """Four million cells in one call. It ends within two seconds; the limit is for busy machines."""
        for number, pause in ((signal.SIGTERM, 0.5), (signal.SIGINT, 4)):
            start = time.monotonic()
            self.stop(LAPLACE, *NEVER, "Mesh/Global refinements=0", "Mesh/Cells=2048", f"Run/Directory=output/{int(number)}", after="Leopard", number=number, pause=pause, name=str(int(number)))
            self.assertLess(time.monotonic() - start - pause, 100)

    def test_a_sweep_that_checks_its_runs(self):
        """Twenty thousand, of which no folder is there yet. Without a look at signals it went on for minutes."""
        axes = f"Run/Sweep=gamma: {', '.join(map(str, range(1, 201)))}; kappa: {', '.join(map(str, range(1, 101)))}"
        process = subprocess.Popen(self.command(TINY, axes), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        caught = 0
        while not caught >> (signal.SIGTERM - 1) & 1:  # from then on they are asked for
            self.assertIsNone(process.poll(), "it has ended")
            time.sleep(0.1)
            caught = int(next(line for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines() if line.startswith("SigCgt")).split()[1], 16)
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        try:
            said, error = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.fail("still running a minute after the signal")
        self.assertEqual(process.returncode, 128 + signal.SIGTERM, said + error)
        self.assertIn("stopped: SIGTERM before anything was computed", said)
        self.assertFalse((self.folder / "output").exists())

    def test_meshes(self):
        self.stop(LAPLACE, *NEVER, "Mesh/Global refinements=10", after="Leopard")


if __name__ == "__main__":
    import unittest
    unittest.main()
