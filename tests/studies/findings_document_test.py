#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""
doc/findings.md quotes the reproductions of the papers and files in benchmarks/results/: what it quotes stands there, also
after they are made anew.
"""
import pathlib
import re
import unittest

DOC = pathlib.Path(__file__).resolve().parents[2] / "doc"
RESULTS = DOC.parent / "benchmarks" / "results"
LINK = re.compile(r"\[[^\]]*\]\(([^)#]*)[^)]*\)|\(same file[^)]*\)")
UNIT = re.compile(r"\n(?:\n|(?=- )|(?=\|))")  # before paragraphs, items of lists and rows of tables
COMPUTED = "(ratios of numbers above"  # the head of a column that is copied from no file


def numbers(text):
    return re.findall(r"(?<![\w.^])\d+\.\d+(?![\w.])", text)


def missing(text, documents):
    """
    (document, number): decimal numbers between a link to one of the documents and the link before it, and those behind
    the last link of a row of a table, that are not in the document. 'same file' stands for the link before. Tables of
    computed numbers are left out.
    """
    computed = False
    link = ""
    for unit in UNIT.split(text):
        computed = unit.startswith("|") and (computed or COMPUTED in unit)
        if computed:
            continue
        start = 0
        for match in LINK.finditer(unit):
            link = match[1] or link
            yield from not_in(unit[start:match.start()], link, documents)
            start = match.end()
        if unit.startswith("|") and start:
            yield from not_in(unit[start:], link, documents)


def not_in(text, link, documents):
    for number in numbers(text) if link in documents else ():
        if not re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", documents[link]):
            yield link, number


class Findings(unittest.TestCase):
    def test_numbers_of_the_reproductions(self):
        documents = {name: (DOC / name).read_text(encoding="utf-8") for name in ("reproduction.md", "gpu/reproduction.md")}
        text = (DOC / "findings.md").read_text(encoding="utf-8")
        self.assertGreater(len([link for link in LINK.finditer(text) if link[1] in documents]), 3)  # links to them
        self.assertEqual(list(missing(text, documents)), [])

    def test_numbers_of_the_results(self):
        text = (DOC / "findings.md").read_text(encoding="utf-8")
        documents = {link[1]: (DOC / link[1]).read_text(encoding="utf-8") for link in LINK.finditer(text)
                     if link[1] and (DOC / link[1]).resolve().parent == RESULTS}
        self.assertGreater(len(documents), 30)
        self.assertEqual(list(missing(text, documents)), [])

    def test_what_is_missing_is_found(self):
        text = "It is 1.5 times ([a](a.md)), then 2.5 and 0.3 ([a](a.md)).\n- 1.50 of it ([b](b.md#x)), 1.4 (same file, later)"
        documents = {"a.md": "1.5 and 0.30", "b.md": ""}
        self.assertEqual(list(missing(text, documents)), [("a.md", "2.5"), ("a.md", "0.3"), ("b.md", "1.50"), ("b.md", "1.4")])
        table = "| 1.5 ([a](a.md)) | 7.5 |\n| 8.5 | ([a](a.md)) |\n\n| x | times (ratios of numbers above) |\n| 9.5 | 3.5 ([a](a.md)) |\n\n4.5 ([a](a.md)) 5.5"
        self.assertEqual([number for _, number in missing(table, documents)], ["7.5", "8.5", "4.5"])


if __name__ == "__main__":
    unittest.main()
