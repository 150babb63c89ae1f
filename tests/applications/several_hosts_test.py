# SPDX-License-Identifier: Apache-2.0
"""Ranks of several hosts, with a GPU each or without: the fused time loop by messages. The hosts are this machine under several names (UTS namespaces),
which share no memory for MPI, and start their ranks in the place of ssh."""
import os
import pathlib
import signal
import subprocess
import time
import unittest

from program import Program, has_gpu

CASE = """
set Problem = turing
subsection Turing
  set gamma = 100
  set Start from steady state = true
  set Perturbation = 0.05
end
subsection Mesh
  set Domain = box
  set Lower corner = 0, 0
  set Upper corner = 1, 1
  set Cells = 64, 64
end
subsection Time stepping
  set Step control = fixed
  set Step size = 1e-4
  set End time = 2e-3
end
subsection Newton
  set Relative tolerance = 1e-10
end
"""
ANOTHER_HOST = """#!/bin/sh
host=$1
shift
exec unshare --uts sh -c "hostname $host; exec $*"
"""
GRID = ["Discretization/Method=finite differences"]
LONG_STEPS = [*GRID, "Time stepping/Step size=2e-3", "Time stepping/End time=0.02"]
MESH = ["Discretization/Method=finite elements"]


def has_hosts():
    """Whether this machine may have several names, and MPI is one that is started as below."""
    return subprocess.run(["sh", "-c", "unshare --uts hostname one && mpirun --version | grep 'Open MPI'"], capture_output=True, check=False).returncode == 0


@unittest.skipUnless(has_hosts(), "no names for further hosts to be had here, or another MPI")
class SeveralHosts(Program):
    def on_hosts(self, hosts, *settings):
        """The command that runs the case with a rank on each of so many hosts."""
        ssh = self.write("another_host", ANOTHER_HOST)
        ssh.chmod(0o755)
        names = ",".join(f"host{i}" for i in range(hosts))
        return ["mpirun", "--mca", "plm_rsh_agent", str(ssh), "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo", "--mca", "oob_tcp_if_include", "lo",
                "--mca", "mpi_yield_when_idle", "1", "--host", names, "-n", str(hosts), *self.command(self.write("case.prm", CASE), *settings, options=["--overwrite"])]

    def compare(self, backend, way, most_hosts):
        for settings, hosts in ((GRID, 2), (LONG_STEPS, most_hosts), (MESH, most_hosts)):
            settings = [*settings, f"Linear solver/Backend={backend}"]
            self.assertIn("time loop: fused, ", self.leopard(self.write("case.prm", CASE), *settings))
            of_one = self.ends()
            result = self.run_command(self.on_hosts(hosts, *settings))
            self.assertEqual(result.returncode, 0, result.stdout[-2000:] + result.stderr)
            self.assertIn(f"time loop: fused, {hosts} ranks ({way}), each ", result.stdout)
            for one, several in zip(of_one, self.ends()):
                self.assertAlmostEqual(one, several, delta=1e-8 if backend == "host" else 1e-6, msg=f"{hosts} hosts, {settings}")

    def ends(self):
        return [self.column("case", f"{measure} of {field}")[-1] for measure in ("minimum", "maximum", "mean") for field in "uv"]

    def test_host_ranks_step_as_one_does(self):
        self.compare("host", "MPI messages", 4)

    @unittest.skipUnless(has_gpu(), "no GPU here")
    def test_gpus_step_as_one_does(self):
        self.compare("cuda", "MPI messages, staged through host memory (the ranks are on several hosts)", 2)  # 65 lines of nodes are for two GPUs

    def test_a_rank_that_dies_ends_all(self):
        backend = "cuda" if has_gpu() else "host"
        with subprocess.Popen(self.on_hosts(2, *GRID, "Time stepping/End time=100", f"Linear solver/Backend={backend}"), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True) as running:
            try:
                for line in running.stdout:
                    if "time loop: fused, 2 ranks" in line:
                        break
                time.sleep(1)
                os.kill(self.process_of_rank(1), signal.SIGKILL)
                said, _ = running.communicate(timeout=60)
            finally:
                running.kill()
        self.assertNotEqual(running.returncode, 0)
        self.assertIn("rank 1", said)

    def process_of_rank(self, rank):
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if f"OMPI_COMM_WORLD_RANK={rank}".encode() in (process / "environ").read_bytes().split(b"\0") and (process / "cwd").resolve() == self.folder.resolve():
                    return int(process.name)
            except OSError:  # it has ended, or is not ours
                continue
        self.fail(f"no process of rank {rank}")


if __name__ == "__main__":
    unittest.main()
