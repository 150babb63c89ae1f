# SPDX-License-Identifier: Apache-2.0
"""Linear solver/GPUs, and ranks with a GPU each: what they solve is solved, on as many GPUs as there are, up to two."""
import subprocess
import unittest

import numpy

from program import ROOT, Program

TINY = ROOT / "tests/output/tiny_turing.prm"
CELLS = 32
SQUARE = f"""
set Problem = laplace
subsection Laplace
  set Boundary values = *: 0
  set Source          = 1
end
subsection Mesh
  set Domain = hypercube
  set Cells  = {CELLS}
end
subsection Discretization
  set Method = finite differences
end
subsection Linear solver
  set Method             = async
  set Precision          = double
  set Relative tolerance = 1e-10
  set Max iterations     = 100000
end
"""


def n_gpus():
    return subprocess.run(["sh", "-c", "nvidia-smi -L"], capture_output=True, text=True, check=False).stdout.count("GPU ")


def maximum_of_solution():
    """Of the five-point stencil on the unit square, by numpy: its eigenvectors are products of sines."""
    n = CELLS - 1
    sines = numpy.sqrt(2. / CELLS) * numpy.sin(numpy.pi / CELLS * numpy.outer(numpy.arange(1, n + 1), numpy.arange(1, n + 1)))
    eigenvalues = (2. * CELLS * numpy.sin(numpy.pi / (2. * CELLS) * numpy.arange(1, n + 1))) ** 2
    return numpy.max(sines @ (sines @ numpy.ones((n, n)) @ sines / (eigenvalues[:, None] + eigenvalues[None, :])) @ sines)


class SeveralGpus(Program):
    def check(self, *settings, **options):
        said = self.leopard(self.write("square.prm", SQUARE), *settings, **options)
        found = self.run_json("square")["cycles"][-1]["u"]["maximum"]
        self.assertAlmostEqual(found, maximum_of_solution(), delta=1e-7 * found, msg=str(settings))
        return said

    def test_on_the_host(self):
        """What the others are compared with is what the program computes there."""
        self.check("Linear solver/Backend=host")

    @unittest.skipIf(n_gpus() == 0, "no GPU here")
    def test_each_exchange(self):
        self.check("Linear solver/Backend=cuda", "Linear solver/GPUs=1")
        if n_gpus() > 1:
            for exchange in ("amc", "dc", "dk", "halo", "waiting halo"):
                said = self.check("Linear solver/Backend=cuda", "Linear solver/GPUs=2", f"Linear solver/GPU exchange={exchange}")
                self.assertIn(f"and 1 more, exchange {exchange}", said)

    @unittest.skipIf(n_gpus() > 0, "a GPU here")
    def test_without_a_gpu(self):
        """Said before anything is written, with what is asked for and with what is chosen."""
        for settings in (["Linear solver/Method=cg", "Linear solver/Preconditioner=ic"], ["Linear solver/Method=automatic"]):
            said = self.leopard(self.write("square.prm", SQUARE), "Linear solver/GPUs=2", *settings, fails=True)
            self.assertIn("'Linear solver/GPUs' is 2, but the backend is host (automatic: ", said)
            self.assertIn("expected: GPUs, or one", said)
        self.assertFalse((self.folder / "output").exists())

    @unittest.skipIf(n_gpus() < 2, "needs two GPUs")
    def test_krylov_methods(self):
        """Each preconditioner that a GPU can make of its own rows; the exchange is not that of async."""
        two = ["Linear solver/Backend=cuda", "Linear solver/GPUs=2", "Linear solver/Restart=100"]
        for method in ("cg", "gmres"):
            for preconditioner in ("none", "jacobi", "async", "chebyshev", "ilu", "ic"):
                said = self.check(*two, f"Linear solver/Method={method}", f"Linear solver/Preconditioner={preconditioner}", "Linear solver/GPU exchange=dc")
                self.assertIn("and 1 more", said)
                self.assertIn(" on 2 GPUs", said)
                self.assertIn("Linear solver/GPU exchange", [item["entry"] for item in self.run_json("square")["not_used"]])
        said = self.check(*two, "Linear solver/Method=automatic")
        self.assertIn("cg with the preconditioner chebyshev (automatic: ", said)
        self.assertIn("'Linear solver/GPUs' is 2, with which there is no multigrid, aggregation or amg", said)

    @unittest.skipIf(n_gpus() < 2, "needs two GPUs")
    def test_time_steps(self):
        """Newton's method in time steps, whose matrices change, ends with the fields that one GPU finds."""
        ends = {}
        for gpus in (1, 2):
            self.leopard(TINY, "Linear solver/Backend=cuda", "Time stepping/Engine=general", "Linear solver/Method=gmres", "Linear solver/Preconditioner=async", f"Linear solver/GPUs={gpus}")
            ends[gpus] = [self.column("tiny_turing", f"{measure} of u")[-1] for measure in ("minimum", "maximum", "mean")]
        for one, two in zip(ends[1], ends[2]):
            self.assertAlmostEqual(one, two, delta=1e-5)

    @unittest.skipIf(n_gpus() == 0, "no GPU here")
    def test_ranks_that_share_a_gpu(self):
        """One line says so, and the fused time loop goes by messages, as kernels that wait for one another on a GPU need not end."""
        shared = ["Linear solver/Backend=cuda", "Linear solver/Device=0"]
        said = self.check(*shared, ranks=2)
        self.assertEqual(said.count("ranks share a GPU: ranks 0, 1 have "), 1, said)
        self.assertNotIn("warning: ranks share", said)
        self.assertIn("warning: ranks share a GPU", self.check(*shared, "Linear solver/Wait for ghosts=false", ranks=2))
        for settings in ([], ["Time stepping/Engine=fused"], ["Discretization/Method=finite elements"]):
            self.assertIn("time loop: fused, 2 ranks (MPI messages, staged through host memory (ranks share a GPU))", self.leopard(TINY, *shared, "Mesh/Global refinements=6", *settings, ranks=2))

    @unittest.skipIf(n_gpus() == 0, "no GPU here")
    def test_time_steps_by_messages(self):
        """As between hosts: with them the fused time loop ends with the fields that one GPU finds, also of ranks that share it."""
        for settings in (["Discretization/Method=finite differences"], ["Discretization/Method=finite elements"]):
            ends = {}
            for ranks in (1, 2):
                said = self.leopard(TINY, "Linear solver/Backend=cuda", "Mesh/Global refinements=6", "Time stepping/GPU exchange=messages", *settings, ranks=ranks)
                self.assertIn("time loop: fused, " + ("2 ranks (MPI messages, staged through host memory (as asked for)), each " if ranks > 1 else ""), said)
                self.assertEqual("not used: 'Time stepping/GPU exchange' (there is one rank)" in said, ranks == 1, said)
                ends[ranks] = [self.column("tiny_turing", f"{measure} of u")[-1] for measure in ("minimum", "maximum", "mean")]
            for one, two in zip(ends[1], ends[2]):
                self.assertAlmostEqual(one, two, delta=1e-5)

    @unittest.skipIf(n_gpus() < 2, "needs two GPUs")
    def test_ranks_that_see_a_gpu_each(self):
        """As batch systems start them: each counts from 0, and none shares."""
        command = ["mpirun"]
        for rank in range(2):
            command += [*([":"] if rank > 0 else []), "-n", "1", "env", f"CUDA_VISIBLE_DEVICES={rank}", *self.command(TINY, "Linear solver/Backend=cuda", options=["--overwrite"])]
        result = self.run_command(command)
        self.assertEqual(result.returncode, 0, result.stdout[-2000:] + result.stderr)
        self.assertIn("time loop: fused", result.stdout)
        self.assertNotIn("share a GPU", result.stdout)


if __name__ == "__main__":
    unittest.main()
