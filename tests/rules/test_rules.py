#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plants a violation of each rule in a temporary tree and expects it to be found, and nothing in a clean tree."""
import importlib.machinery
import importlib.util
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.dont_write_bytecode = True
import rules  # noqa: E402

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"


class Rules(unittest.TestCase):
    def violations(self, check, name, text):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, content in {"applications/problems/problem.h": SPDX + "#pragma once\n", "applications/problems/b/b.h": SPDX,
                                  "solvers/dealii/trilinos_matrix.h": SPDX + "#include <deal.II/base/mpi.h>\n",
                                  "solvers/dealii/through.h": SPDX + '#include "trilinos_matrix.h"\n',
                                  "solvers/distributed/mpi/transport.h": SPDX + "#include <mpi.h>\n",
                                  "solvers/command_line/method.h": SPDX, name: text}.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(content)
            return [v for v in check(root) if v.startswith(name)]

    def test_dependencies(self):
        for name, line in (
                ("solvers/matrix/a.cc", "#include <deal.II/base/mpi.h>"),
                ("solvers/block_async/a.h", "#include <mpi.h>"),
                ("solvers/base/a.cc", "#include <Epetra_Map.h>"),
                ("applications/reaction_diffusion/host/a.cc", "#include <mpi.h>"),
                ("solvers/base/a.hpp", "#include <Epetra_Map.h>"),
                ("applications/reaction_diffusion/stepper.cc", "#include <solvers/dealii/trilinos_matrix.h>"),
                ("applications/reaction_diffusion/stepper.cc", "#include <solvers/dealii/through.h>"),
                ("applications/reaction_diffusion/stepper.cc", "#include <solvers/distributed/mpi/transport.h>"),
                ("applications/studies/papers/a.cc", "#include <solvers/dealii/trilinos_matrix.h>"),
                ("solvers/distributed/a.cc", "#include <deal.II/base/index_set.h>"),
                ("solvers/distributed/mpi/a.cc", '#include "../../dealii/trilinos_matrix.h"'),
                ("solvers/distributed/stencil/a.h", '#include "../../dealii/trilinos_matrix.h"'),
                ("solvers/distributed/stencil/a.cu", '#include "../mpi/transport.h"'),
                ("solvers/dealii/a.cu", "#include <deal.II/base/mpi.h>"),
                ("applications/run/a.cc", "#ifdef LEOPARD_WITH_CUDA"),
                ("applications/run/a.cc", "#if defined(__CUDACC__)"),
                ("applications/problems/a/a.cc", '#include "../b/b.h"'),
                ("applications/problems/a/a.cc", "#include <applications/output/field_output.h>"),
                ("applications/time_stepping/a.cc", "#include <applications/problems/b/b.h>"),
                ("applications/time_stepping/a.cc", "#include <applications/output/field_output.h>")):
            self.assertEqual(len(self.violations(rules.dependencies, name, SPDX + line + "\n")), 1, (name, line))

    def test_floors(self):
        for name, line, word in (
                ("solvers/base/a.cc", "#include <applications/base/b.h>", "upward"),
                ("solvers/dealii/a.cc", "#include <applications/base/b.h>", "upward"),
                ("solvers/matrix/a.cc", "#include <solvers/relaxation/b.h>", "upward"),
                ("solvers/relaxation/a.cc", "#include <solvers/block_async/b.h>", "upward"),
                ("applications/base/a.cc", "#include <applications/run/b.h>", "upward"),
                ("applications/reaction_diffusion/grid/a.cc", "#include <applications/reaction_diffusion/stepper.h>", "upward"),
                ("solvers/device/a.h", '#include "b.h"', ""),
                ("solvers/base/a.hpp", "#include <applications/run/run.h>", "upward"),
                ("applications/run/a.cc", "#include <solvers/command_line/method.h>", "not public"),
                ("solvers/attic/a.cc", "", "no room"),
                ("applications/run/problem.h", "#pragma once", "has the name of applications/problems/problem.h")):
            found = self.violations(rules.floors, name, SPDX + line + "\n")
            self.assertEqual([word in v for v in found], [True] if word else [], (name, line, found))

    def test_circle(self):
        """Whichever way round two rooms stand, one of two includes that close a circle is found."""
        both = (self.violations(rules.floors, "solvers/matrix/a.cc", SPDX + "#include <solvers/device/b.h>\n") +
                self.violations(rules.floors, "solvers/device/a.cc", SPDX + "#include <solvers/matrix/b.h>\n"))
        self.assertEqual(len(both), 1, both)
        self.assertIn("solvers/device/a.cc:2: includes solvers/matrix/b.h", both[0])

    def test_public_headers_include_public_ones(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in (("solvers/device/CMakeLists.txt", "leopard_add_room(PUBLIC a.h gone.h)\n"), ("solvers/device/a.h", SPDX),
                               ("solvers/device/b.h", SPDX), ("solvers/matrix/CMakeLists.txt", "leopard_add_room(PUBLIC c.h)\n"),
                               ("solvers/matrix/c.h", SPDX + '#include "../device/b.h"\n'), ("solvers/matrix/d.cc", SPDX + '#include "../device/b.h"\n'),
                               ("applications/run/e.cc", SPDX + "#include <solvers/device/b.h>\n")):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            found = sorted(rules.floors(root))
            self.assertEqual(len(found), 3, found)
            for violation, place, word in zip(found, ("applications/run/e.cc:2:", "solvers/device/CMakeLists.txt:", "solvers/matrix/c.h:2:"),
                                              ("not public", "gone.h does not exist", "not public")):
                self.assertTrue(violation.startswith(place) and word in violation, violation)

    def test_allowed(self):
        for name, line in (
                ("solvers/dealii/a.cc", "#include <deal.II/base/mpi.h>"),
                ("solvers/distributed/stencil/a.cc", '#include "../mpi/transport.h"'),
                ("applications/reaction_diffusion_mpi/a.cc", "#include <solvers/distributed/mpi/transport.h>"),
                ("applications/linear_solvers/a.cc", "#include <solvers/dealii/trilinos_matrix.h>"),
                ("solvers/device/a.cu", "#ifdef __CUDA_ARCH__"),
                ("applications/problems/a/a.cc", "#include <applications/problems/problem.h>"),
                ("applications/time_stepping/a.cc", "#include <applications/problems/problem.h>")):
            self.assertEqual(self.violations(rules.dependencies, name, SPDX + line + "\n"), [], (name, line))

    def test_files(self):
        self.assertEqual(len(self.violations(rules.files, "solvers/a.cc", "int i;\n")), 1)
        self.assertEqual(len(self.violations(rules.files, "solvers/a.h", SPDX)), 1)
        self.assertEqual(len(self.violations(rules.files, "solvers/a.hpp", SPDX)), 1)
        self.assertEqual(len(self.violations(rules.files, "solvers/a.cc", SPDX + "\n" * 700)), 1)
        for line in ("// ", "  /** ", "   * "):
            self.assertEqual(len(self.violations(rules.files, "solvers/a.cc", SPDX + line + "word " * 22 + "\n")), 0, line)
            self.assertEqual(len(self.violations(rules.files, "solvers/a.cc", SPDX + line + "word " * 24 + "\n")), 1, line)
        self.assertEqual(self.violations(rules.files, "solvers/a.cc", SPDX + "int i; // " + "word " * 24 + "\n   * | " + "word " * 24 + "\n"), [])
        self.assertEqual(self.violations(rules.files, "solvers/a.cc", SPDX), [])

    def test_functions_are_short(self):
        def function(name, n):
            return f"  int {name}(int a,\n      int b)\n  {{\n" + "    ++a;\n" * (n - 3) + "    for (;;)\n      {\n      }\n  }\n"

        for n in (60, 61):
            found = self.violations(rules.files, "solvers/a.cc", SPDX + "namespace leopard\n{\n" + function("Class<Number>::f", n) + function("g", 60) + "} // namespace leopard\n")
            self.assertEqual(["Class<Number>::f has 61 lines; at most 60" in v for v in found], [True] * (n - 60), found)
        for text in ("TEST_P(A, Bcd)", "A::A(int b)\n  : b(b)\n  , c(1)", "template <int n>\n__global__ void __launch_bounds__(n, f(n)) kernel(const int (&c)[3])"):
            found = self.violations(rules.files, "solvers/a.cc", SPDX + text + "\n{\n" + "  ++a;\n" * 61 + "}\n")
            self.assertEqual(len(found), 1, (text, found))
            self.assertRegex(found[0], r": (TEST_P\(A, Bcd\)|A::A|kernel) has 61 lines")
        with tempfile.TemporaryDirectory() as folder:  # the list of those that may be longer
            root = pathlib.Path(folder)
            for path, text in (("solvers/a.cc", SPDX + function("f", 80)), (rules.LONG_FUNCTIONS, "80 solvers/a.cc f\n")):
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            self.assertEqual(list(rules.files(root)), [])
            for n, word in ((81, "f has 81 lines; at most 80"), (70, None), (60, "no longer so long")):
                (root / "solvers/a.cc").write_text(SPDX + function("f", n))
                found = list(rules.files(root))
                self.assertEqual([word in v for v in found] if word else found, [True] if word else [], found)

    def test_long_comments_are_wrapped(self):
        loader = importlib.machinery.SourceFileLoader("wrap_comments", str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "wrap_comments"))
        wrap_comments = importlib.util.module_from_spec(importlib.util.spec_from_loader("wrap_comments", loader))
        loader.exec_module(wrap_comments)
        for text, wrapped in (
                ("  /** one two three */", ["  /**", "   * one two", "   * three", "   */"]),
                ("   * one two three\n   * so\n   *\n   * five", ["   * one two", "   * three so", "   *", "   * five"]),
                ("// one two three\n// @param x\nint i;", ["// one two", "// three", "// @param x", "int i;"]),
                (" * - one two three\n *   so", [" * - one two", " *   three so"]),
                ("   *   x = y +   z\n   *   v = w", ["   *   x = y +", "   *   z", "   *   v = w"]),
                (" * | one | two | three |\nint i; // one two three", [" * | one | two | three |", "int i; // one two three"])):
            self.assertEqual(wrap_comments.wrapped(text.split("\n"), 14), wrapped)

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
                files = [root / "solvers/b.cc", *(root / "together").glob("*")]
                (root / "compile_commands.json").write_text(json.dumps([{"file": str(file), "command": command} for file in files]))
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

            (root / "solvers/c.cc").write_text("int c;\n")
            (root / "together").mkdir()
            (root / "together/all.cc").write_text("#include <solvers/a.cc> // as the build\n#include <solvers/c.cc>\n")
            self.assertEqual(looked_at(violations=1, command="c++ -O3"), ["all.cc", "b.cc"])
            (root / "solvers/c.cc").write_text("int c = 1;\n")
            self.assertEqual(looked_at(violations=1, command="c++ -O3"), ["all.cc", "b.cc"])

    def test_comparisons(self):
        for name, line in (
                ("applications/nonlinear/a.cc", "if (norm <= goal)"),
                ("applications/nonlinear/a.cc", "while (norm > test.goal())"),
                ("solvers/krylov/a.cuh", "const bool done = norm < tolerance * first;"),
                ("solvers/krylov/a.cc", "converged = std::abs(a - b) <= options.relative_tolerance * b;"),
                ("solvers/krylov/a.cc", "return goal >= norm;"),
                ("benchmarks/a.h", "#pragma once\nfor (; n < 100000 && r.l2_norm() > goal; ++n)"),
                ("benchmarks/a.cc", "for (; steps < 10000 && method.residual() > goal; ++steps)"),
                ("tests/solvers/a.cc", "difference = std::max(difference, std::abs(v[i / 16 + (i % 16)] - u[i]));"),
                ("tests/solvers/a.cc", "difference = std::max<double>(difference, std::abs(a - b));"),
                ("applications/time_stepping/a.cc", "const double norm = residual.l2_norm();")):
            self.assertEqual(len(self.violations(rules.comparisons, name, SPDX + line + "\n")), 1, (name, line))
        for name, line in (
                ("applications/nonlinear/a.cc", "if (reached(norm, goal))"),
                ("applications/nonlinear/a.cc", "const bool tests = criteria.relative_tolerance > 0. || criteria.absolute_tolerance > 0.;"),
                ("applications/nonlinear/a.cc", "double tolerance = 0.; ///< stop when r <= tolerance"),
                ("applications/nonlinear/a.cc", "reduction = norm > 0. ? 0.3 * goal / norm : 0.5;"),
                ("solvers/base/norms.h", "#pragma once\nreturn norm <= goal;"),
                ("tests/solvers/a.cc", "largest = std::max(largest, std::abs(x));"),
                ("tests/solvers/a.cc", "EXPECT_LT(larger_or_nan(error, std::abs(a - b)), tolerance);"),
                ("solvers/krylov/a.cc", "const double norm = residual.l2_norm();")):
            self.assertEqual(self.violations(rules.comparisons, name, SPDX + line + "\n"), [], (name, line))


if __name__ == "__main__":
    unittest.main()
