#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Leopard's Matrix Market reader with SciPy's (Debian: python3-scipy) on random files.

LEOPARD_MATRIX_MARKET_ECHO is the program that reads a matrix and writes it as a general one. What it has written is read
here without SciPy, and has to be what SciPy reads from the original, entry by entry and bit by bit.
"""
import gzip
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

try:
    from scipy.io import mminfo, mmread
except ImportError:
    mmread = None
ECHO = os.environ.get("LEOPARD_MATRIX_MARKET_ECHO", "")

VALUES = {
    "real": lambda r: r.choice((
        repr(r.uniform(-1, 1)), "%.16e" % (r.uniform(-1, 1) * 10. ** r.randint(-300, 300)), "%.3f" % r.uniform(-100, 100), "%.25e" % r.random(),
        "%d" % r.randint(-9, 9), "-.5", "3.", "+1.5E+02", "0", "-0.0", "5e-324", "2.2250738585072011e-308", "1.7976931348623157e308",
        "0.1000000000000000055511151231257827", "9007199254740993", "8.5e22")),
    "integer": lambda r: r.choice((str(r.randint(-1000, 1000)), "+7", "0", "9007199254740992", "-9007199254740991")),
    "pattern": lambda r: None,
}


def random_file(r, field, symmetry):
    """A random Matrix Market text, with the freedom that the format leaves."""
    n = r.randint(1, 40)
    places = [(i, j) for i in range(1, n + 1) for j in range(1, n + 1) if symmetry == "general" or j <= i]
    places = r.sample(places, r.randint(1, min(len(places), 6 * n)))
    if r.random() < 0.5:
        places.sort(key=lambda place: (place[1], place[0]))
    word = r.choice((str.lower, str.upper, str.capitalize, str))
    lines = ["%%MatrixMarket " + " ".join(map(word, ("matrix", "coordinate", field, symmetry)))]
    lines += ["% a comment", "%", "%1 2 3"][:r.randint(0, 3)]
    lines.append(f"{n} {n} {len(places)}")
    for i, j in places:
        value = VALUES[field](r)
        lines.append(r.choice(("{} {}", "{}  {}", " {}\t{}")).format(i, j) + ("" if value is None else r.choice((" ", "   ", "\t")) + value))
        if r.random() < 0.02:
            lines.append("")
    return r.choice(("\n", "\r\n")).join(lines) + r.choice(("\n", ""))


def entries_of_echo(text):
    """Size and entries of what the echo program has written, without SciPy; an entry that stands twice fails."""
    lines = text.splitlines()
    assert lines[0] == "%%MatrixMarket matrix coordinate real general", lines[0]
    n_rows, n_columns, n_entries = map(int, lines[1].split())
    entries = {}
    for line in lines[2:]:
        i, j, value = line.split()
        assert (int(i) - 1, int(j) - 1) not in entries, line
        entries[int(i) - 1, int(j) - 1] = float(value).hex()
    assert len(entries) == n_entries, lines[1]
    return (n_rows, n_columns), entries


def read(path):
    return gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()


@unittest.skipIf(mmread is None, "SciPy is missing (Debian: python3-scipy)")
@unittest.skipUnless(ECHO, "LEOPARD_MATRIX_MARKET_ECHO is not set")
class Oracle(unittest.TestCase):
    def compare(self, original, echoed):
        result = subprocess.run([ECHO, original, echoed], capture_output=True, text=True, timeout=1200)
        self.assertEqual(result.returncode, 0, result.stderr)
        shape, entries = entries_of_echo(read(echoed))
        expected = mmread(str(original)).tocoo()
        self.assertEqual(shape, expected.shape)
        self.assertEqual(len(entries), expected.nnz)
        self.assertEqual(entries, {(int(i), int(j)): float(v).hex() for i, j, v in zip(expected.row, expected.col, expected.data)})
        self.assertEqual(mminfo(str(echoed))[3:], ("coordinate", "real", "general"))
        self.assertEqual((mmread(str(echoed)).tocsr() != expected.tocsr()).nnz, 0)

    def test_random_files(self):
        r = random.Random(2005)
        for field in VALUES:
            for symmetry in ("general", "symmetric"):
                for number in range(6):
                    packed = number % 2 == 1
                    text = random_file(r, field, symmetry).encode()
                    with self.subTest(field=field, symmetry=symmetry, number=number), tempfile.TemporaryDirectory() as folder:
                        ending = ".mtx.gz" if packed else ".mtx"
                        original, echoed = pathlib.Path(folder, "original" + ending), pathlib.Path(folder, "echoed" + ending)
                        original.write_bytes(gzip.compress(text) if packed else text)
                        self.compare(original, echoed)

    def test_refuses_what_it_says_it_refuses(self):
        for banner in ("array real general", "coordinate complex general", "coordinate complex hermitian"):
            with self.subTest(banner=banner), tempfile.TemporaryDirectory() as folder:
                original = pathlib.Path(folder, "original.mtx")
                original.write_text(f"%%MatrixMarket matrix {banner}\n1 1 0\n")
                result = subprocess.run([ECHO, original, original.with_name("echoed.mtx")], capture_output=True, text=True, timeout=1200)
                self.assertEqual(result.returncode, 1)
                self.assertIn("original.mtx:1: ", result.stderr)
                self.assertEqual(len(list(original.parent.iterdir())), 1)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
