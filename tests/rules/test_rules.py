#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plants a violation of each rule in a temporary tree and expects it to be found, and nothing in a clean tree."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import rules  # noqa: E402

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


class Rules(unittest.TestCase):
    def violations(self, check, name, text):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, content in {"applications/problems/problem.h": SPDX + "#pragma once\n", "applications/problems/b/b.h": SPDX, name: text}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(content)
            return [v for v in check(root) if v.startswith(name)]

    def test_dependencies(self):
        for name, line in (
                ("solvers/matrix/a.cc", "#include <deal.II/base/mpi.h>"),
                ("solvers/block_async/a.h", "#include <mpi.h>"),
                ("solvers/base/a.cc", "#include <Epetra_Map.h>"),
                ("solvers/base/a.cc", "#include <applications/run/log.h>"),
                ("solvers/dealii/a.cc", "#include <applications/run/log.h>"),
                ("solvers/dealii/a.cu", "#include <deal.II/base/mpi.h>"),
                ("applications/run/a.cc", "#ifdef LEOPARD_WITH_CUDA"),
                ("applications/run/a.cc", "#if defined(__CUDACC__)"),
                ("applications/run/a.cc", "#include <solvers/device/cuda_error.cuh>"),
                ("applications/problems/a/a.cc", '#include "../b/b.h"'),
                ("applications/problems/a/a.cc", "#include <applications/output/field_output.h>"),
                ("applications/time_stepping/a.cc", "#include <applications/problems/b/b.h>"),
                ("applications/time_stepping/a.cc", "#include <applications/output/field_output.h>")):
            self.assertEqual(len(self.violations(rules.dependencies, name, SPDX + line + "\n")), 1, (name, line))

    def test_allowed(self):
        for name, line in (
                ("solvers/dealii/a.cc", "#include <deal.II/base/mpi.h>"),
                ("solvers/device/a.cu", "#ifdef __CUDA_ARCH__"),
                ("applications/problems/a/a.cc", "#include <applications/problems/problem.h>"),
                ("applications/time_stepping/a.cc", "#include <applications/problems/problem.h>")):
            self.assertEqual(self.violations(rules.dependencies, name, SPDX + line + "\n"), [], (name, line))

    def test_files(self):
        self.assertEqual(len(self.violations(rules.files, "solvers/a.cc", "int i;\n")), 1)
        self.assertEqual(len(self.violations(rules.files, "solvers/a.h", SPDX)), 1)
        self.assertEqual(len(self.violations(rules.files, "solvers/a.cc", SPDX + "\n" * 700)), 1)
        self.assertEqual(self.violations(rules.files, "solvers/a.cc", SPDX), [])

    def test_tidy_looks_again_at_what_has_changed_and_at_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            said, program = root / "said", root / "clang-tidy"
            program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exit\nfor file; do :; done\nbasename "$file" >>{said}\n! grep bad "$file"\n')
            program.chmod(0o755)
            (root / "solvers").mkdir()
            (root / ".clang-tidy").write_text("Checks: one\n")
            (root / "solvers/a.h").write_text("int a;\n")
            (root / "solvers/a.cc").write_text('#include "a.h"\n')
            (root / "solvers/b.cc").write_text("int b;\n")

            def looked_at(violations=0, command=""):
                said.write_text("")
                (root / "compile_commands.json").write_text(json.dumps([{"file": str(root / "solvers/b.cc"), "command": command}]))
                self.assertEqual(len(list(rules.tidy(root, program, root))), violations)
                return sorted(said.read_text().split())

            self.assertEqual(looked_at(), ["a.cc", "b.cc"])
            self.assertEqual(looked_at(), [])
            (root / "solvers/a.h").write_text("int a = 1;\n")
            self.assertEqual(looked_at(), ["a.cc"])
            self.assertEqual(looked_at(command="c++ -O3"), ["b.cc"])
            (root / "solvers/b.cc").write_text("bad\n")
            for _ in range(2):
                self.assertEqual(looked_at(violations=1, command="c++ -O3"), ["b.cc"])
            (root / ".clang-tidy").write_text("Checks: two\n")
            self.assertEqual(looked_at(violations=1, command="c++ -O3"), ["a.cc", "b.cc"])

    def test_comparisons(self):
        for name, line in (
                ("applications/nonlinear/a.cc", "if (norm <= goal)"),
                ("applications/nonlinear/a.cc", "while (norm > test.goal())"),
                ("solvers/krylov/a.cuh", "const bool done = norm < tolerance * first;"),
                ("solvers/krylov/a.cc", "converged = std::abs(a - b) <= options.relative_tolerance * b;"),
                ("solvers/krylov/a.cc", "return goal >= norm;"),
                ("applications/time_stepping/a.cc", "const double norm = residual.l2_norm();")):
            self.assertEqual(len(self.violations(rules.comparisons, name, SPDX + line + "\n")), 1, (name, line))
        for name, line in (
                ("applications/nonlinear/a.cc", "if (reached(norm, goal))"),
                ("applications/nonlinear/a.cc", "const bool tests = criteria.relative_tolerance > 0. || criteria.absolute_tolerance > 0.;"),
                ("applications/nonlinear/a.cc", "double tolerance = 0.; ///< stop when r <= tolerance"),
                ("applications/nonlinear/a.cc", "reduction = norm > 0. ? 0.3 * goal / norm : 0.5;"),
                ("solvers/base/norms.h", "#pragma once\nreturn norm <= goal;"),
                ("solvers/krylov/a.cc", "const double norm = residual.l2_norm();")):
            self.assertEqual(self.violations(rules.comparisons, name, SPDX + line + "\n"), [], (name, line))


if __name__ == "__main__":
    unittest.main()
