# SPDX-License-Identifier: Apache-2.0
"""Preconditioners of several fields go field after field: iterations and results of the general time loop, on ranks, too."""
import re

from program import FILES, Program

LEOPARD_SPOTS = FILES / "quickstart/leopard_spots.prm"
CHEMOTAXIS = """set Problem = turing
subsection Turing
  set Kinetics          = expressions
  set Constants         = chi: 9
  set Species           = c, n
  set Reaction n        = n*(1 - n)
  set Reaction c        = n - c
  set Diffusion n       = 1
  set Diffusion c       = 1
  set Cross-diffusion n = c: -chi*n
  set Start from steady state = true
  set Perturbation      = 0.02
end
subsection Mesh
  set Upper corner       = 15
  set Global refinements = 5
end
subsection Time stepping
  set Step control = fixed
  set Step size    = 0.25
  set End time     = 2
end
subsection Newton
  set Relative tolerance = 1e-8
end
subsection Output
  set Interval = 0
end
"""
GENERAL = ("Time stepping/Engine=general", "Output/Interval=0", "Linear solver/Schedule=synchronous", "Linear solver/Backend=host")


class Fields(Program):
    def run_with(self, file, name, solver, *settings, **options):
        """Linear iterations, what the log says, and extremes, means of the fields at the end."""
        method, preconditioner = ("direct", "none") if solver == "direct" else ("gmres", solver)
        said = self.leopard(file, *GENERAL, f"Linear solver/Method={method}", f"Linear solver/Preconditioner={preconditioner}", *settings, **options)
        return int(re.search(r"(\d+) linear iterations", said)[1]), said, self.statistics(name)[1][-1][10:16]

    def expect_equal(self, found, right, tolerance, what):
        for a, b in zip(found, right):
            self.assertAlmostEqual(a, b, delta=tolerance * max(1., abs(b)), msg=what)

    def test_long_steps_of_a_turing_system(self):
        """Each field by itself takes about three times the iterations of amg, which goes field after field."""
        steps = ("Mesh/Global refinements=5", "Time stepping/Scheme=BDF2", "Time stepping/Step control=fixed", "Time stepping/Step size=5e-4", "Time stepping/End time=0.02", "Newton/Relative tolerance=1e-8")
        right = self.run_with(LEOPARD_SPOTS, "leopard_spots", "direct", *steps)[2]
        amg = self.run_with(LEOPARD_SPOTS, "leopard_spots", "amg", *steps)[0]
        for solver in ("aggregation", "multigrid"):
            found, said, fields = self.run_with(LEOPARD_SPOTS, "leopard_spots", solver, *steps)
            self.assertRegex(said, "field after field")
            self.assertLessEqual(found, 1.5 * amg, solver)
            self.expect_equal(fields, right, 1e-5, solver)

    def test_fluxes_between_fields_on_ranks(self):
        """Cells n climb the gradient of c, which couples neighbours, over the boundary of ranks, too."""
        file = self.write("chemotaxis.prm", CHEMOTAXIS)
        right = self.run_with(file, "chemotaxis", "direct")[2]
        for solver in ("aggregation", "multigrid", "amg"):
            counts = []
            for ranks in (1, 2):
                found, said, fields = self.run_with(file, "chemotaxis", solver, ranks=ranks)
                if solver != "amg":
                    self.assertRegex(said, "field after field")
                self.expect_equal(fields, right, 1e-5, f"{solver}, {ranks} ranks")
                counts.append(found)
            self.assertLessEqual(counts[1], 1.15 * counts[0], solver)


if __name__ == "__main__":
    import unittest
    unittest.main()
