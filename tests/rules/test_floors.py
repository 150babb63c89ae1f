#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/draw_floors: the committed picture is that of the sources, and an arrow that would point up is an error."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "draw_floors"
loader = importlib.machinery.SourceFileLoader("draw_floors", str(SCRIPT))
draw_floors = importlib.util.module_from_spec(importlib.util.spec_from_loader("draw_floors", loader))
loader.exec_module(draw_floors)


class Floors(unittest.TestCase):
    def draw(self, sources):
        """The exit code, standard error, and the picture of a tree with these sources."""
        with tempfile.TemporaryDirectory() as folder:
            root, picture = pathlib.Path(folder), pathlib.Path(folder) / "floors.svg"
            for name, text in sources.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            done = subprocess.run([SCRIPT, picture, root], capture_output=True, text=True)
            return done.returncode, done.stderr, picture.read_text() if picture.exists() else None

    def test_committed_picture_is_that_of_the_sources(self):
        rooms, edges = draw_floors.rooms_and_edges(ROOT)
        drawn_rooms, drawn_edges = draw_floors.drawn((ROOT / "doc/images/floors.svg").read_text())
        message = "doc/images/floors.svg is out of date; make it anew: scripts/draw_floors"
        self.assertEqual(drawn_rooms, set(rooms), message)
        self.assertEqual(drawn_edges, set(edges), message)
        self.assertGreater(len(edges), 100)

    def test_arrows_are_those_of_the_includes(self):
        code, error, picture = self.draw({"solvers/base/a.h": "", "solvers/device/b.h": '#include "../base/a.h"\n', "applications/main.cc": "",
                                          "solvers/multigrid/c.cu": "#include <solvers/device/b.h>\n#include <solvers/base/a.h>\n#include <vector>\n"})
        self.assertEqual((code, error), (0, ""))
        self.assertEqual(draw_floors.drawn(picture), ({"applications", "solvers/base", "solvers/device", "solvers/multigrid"}, {
            ("solvers/device", "solvers/base"), ("solvers/multigrid", "solvers/device"), ("solvers/multigrid", "solvers/base")}))

    def test_arrow_upward_is_an_error(self):
        code, error, picture = self.draw({"solvers/base/a.h": "#include <solvers/device/b.h>\n", "solvers/device/b.h": ""})
        self.assertEqual((code, picture), (1, None))
        self.assertIn("solvers/base/a.h:1: includes solvers/device/b.h: upward", error)


if __name__ == "__main__":
    unittest.main()
