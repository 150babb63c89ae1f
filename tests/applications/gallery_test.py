# SPDX-License-Identifier: Apache-2.0
"""The gallery: each file is short and valid, is shown in doc/gallery.md, and says what it is; scripts/gallery knows it."""
import importlib.machinery
import importlib.util
import re
import sys
import unittest.mock

from program import FILES, ROOT, Program

GALLERY = sorted((FILES / "gallery").glob("*.prm"))


class Gallery(Program):
    def test_files_and_pictures(self):
        self.assertGreaterEqual(len(GALLERY), 10)
        page = (ROOT / "doc/gallery.md").read_text()
        for file in GALLERY:
            text = file.read_text()
            with self.subTest(file.stem):
                self.assertLess(len(re.findall(r"^\s*set ", text, re.M)), 25)
                self.assertIn(f"gallery/{file.name}", page)
                if file.stem != "leopard_pelt":  # older than the gallery
                    self.assertIn(f"doc/images/{file.stem}.png", text)
                    self.assertIn(f"images/{file.stem}.png", page)
                    self.assertLess((ROOT / f"doc/images/{file.stem}.png").stat().st_size, 150_000)
                    if "No wavelength" in text:
                        continue
                    # the wavelength in the header is the one that the program expects
                    said = self.leopard(file, options=["--validate"])
                    expected = float(re.search(r"a pattern of wavelength ([0-9.]+)", said)[1])
                    self.assertAlmostEqual(float(re.search(r"Expected wavelength ([0-9.]+)", text)[1]) / expected, 1, delta=0.01)

    def test_pictures_can_be_opened(self):
        loader = importlib.machinery.SourceFileLoader("gallery", str(ROOT / "scripts/gallery"))
        gallery = importlib.util.module_from_spec(importlib.util.spec_from_loader("gallery", loader))
        with unittest.mock.patch.object(sys, "dont_write_bytecode", True):
            loader.exec_module(gallery)
        for file in GALLERY:
            field, colors, _ = gallery.PRESETS[file.stem]
            fields = re.search(r"set Species\s*=\s*(.*)", file.read_text())
            self.assertIn(field, re.split(r",\s*", fields[1]) if fields else ["u", "v"])
            points = gallery.color_points(colors, -1, 3)
            self.assertEqual((points[0], points[-4], len(points)), (-1, 3, 4 * len(colors)))
            self.assertTrue(all(0 <= x <= 1 for i, x in enumerate(points) if i % 4))
        for arguments, says in (([], "usage"), (["tiger"], "usage"), (["zebra", str(self.folder)], "there is no"), (["zebra", "--save"], "--save wants")):
            with self.assertRaises(SystemExit) as error:
                gallery.parse(arguments)
            self.assertIn(says, str(error.exception))
        (self.folder / "solution.pvd").touch()
        self.assertEqual(gallery.parse(["zebra", str(self.folder), "--save", "a.png"]), ("zebra", self.folder, "a.png"))


if __name__ == "__main__":
    unittest.main()
