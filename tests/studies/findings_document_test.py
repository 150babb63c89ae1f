#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""doc/findings.md quotes the reproductions of the papers: what it quotes stands there, also after they are made anew."""
import pathlib
import re
import unittest

DOC = pathlib.Path(__file__).resolve().parents[2] / "doc"
LINK = re.compile(r"\[[^\]]*\]\(([^)#]*)[^)]*\)")


def missing(text, documents):
    """(document, number): decimal numbers between a link to one of the documents and the link before it that are not in the document."""
    for paragraph in re.split(r"\n(?:\n|(?=- ))", text):
        start = 0
        for link in LINK.finditer(paragraph):
            if link[1] in documents:
                numbers = re.findall(r"(?<![\w.^])\d+\.\d+(?![\w.])", paragraph[start:link.start()])
                yield from ((link[1], number) for number in numbers if not re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", documents[link[1]]))
            start = link.end()


class Findings(unittest.TestCase):
    def test_numbers_of_the_reproductions(self):
        documents = {name: (DOC / name).read_text(encoding="utf-8") for name in ("reproduction.md", "gpu/reproduction.md")}
        text = (DOC / "findings.md").read_text(encoding="utf-8")
        self.assertGreater(len([link for link in LINK.finditer(text) if link[1] in documents]), 3)
        self.assertEqual(list(missing(text, documents)), [])

    def test_what_is_missing_is_found(self):
        text = "It is 1.5 times ([a](a.md)), then 2.5 and 0.3 ([a](a.md)).\n- 1.50 of it ([b](b.md#x))"
        self.assertEqual(list(missing(text, {"a.md": "1.5 and 0.30", "b.md": ""})), [("a.md", "2.5"), ("a.md", "0.3"), ("b.md", "1.50")])


if __name__ == "__main__":
    unittest.main()
