# SPDX-License-Identifier: Apache-2.0
"""What README and doc/ show is tried: parameter files, commands, programs and what they are said to print. A snippet is a block that is indented by four
blanks or fenced. Parameter files are computed, on coarser meshes and for shorter times where they are long; commands are run on small runs of the same names;
what would build is looked up in files that other tests build. A snippet of a kind that is not known here fails."""
import csv
import math
import os
import pathlib
import re
import shlex
import shutil
import struct
import subprocess
import sys
import unittest

from program import FILES, LEOPARD, ROOT, Program

PAGES = [ROOT / "README.md", ROOT / "meshes/README.md", *sorted((ROOT / "doc").glob("*.md"))]
SOLVE = os.environ.get("LEOPARD_SOLVE", str(pathlib.Path(LEOPARD).parent.parent / "solvers/command_line/leopard-solve"))

# What makes a run of a file short. A file that is not here is computed as it is.
SMALL = {
    "leopard_spots": ["Mesh/Global refinements=4", "Time stepping/End time=1e-4"],
    "zebra": ["Mesh/Global refinements=3", "Time stepping/End time=1e-5"],
    "cima": ["Mesh/Global refinements=4", "Time stepping/End time=1"],
}
STUDY = """set Study = smoothers
set Problem = laplace
subsection Laplace
  set Source          = 1
  set Boundary values = *: 0
end
subsection Smoother study
  set Smoothers   = async, gauss-seidel
  set Refinements = 3
  set Repetitions = 1
end
"""
# What a part of a parameter file is tried with.
REST = {
    "Smoother study": "set Study = smoothers\nset Problem = laplace\nsubsection Laplace\n  set Boundary values = *: 0\nend\n",
    "": "set Problem = turing\nsubsection Turing\n  set Start from steady state = true\n  set Perturbation = 0.02\nend\n",
}


def snippets(page):
    """(line number, text) of each block that is indented by four blanks or fenced."""
    found, block, first, fence, before = [], [], 0, False, ""
    for number, line in enumerate([*page.read_text().splitlines(), ""], 1):
        if line.startswith("```"):
            if fence:
                found.append((first, "\n".join(block)))
                block = []
            fence, first = not fence, number + 1
        elif fence:
            block.append(line)
        elif line.startswith("    ") and (block or not before.strip()):
            first = first if block else number
            block.append(line[4:])
        elif block and line.strip():
            found.append((first, "\n".join(block).rstrip()))
            block = []
        elif block:
            block.append("")
        before = line
    if block:
        found.append((first, "\n".join(block).rstrip()))
    return found


def kind(text):
    """What a snippet is."""
    lines = text.splitlines()
    words = lines[0].split()
    if any(re.match(r"\s*(set \S.*=|subsection \S)", line) for line in lines):
        return "parameters"
    if words[0].startswith("scripts/") or words[0] in ("leopard", "leopard-solve", "mpirun", "sbatch", "cmake", "gmsh", "python3", "pvpython", "paraview", "build/release/examples/laplace_block_async"):
        return "commands"
    if words[0] == "import":
        return "python"
    if words[0] in ("#include", "using") or words[0].startswith(("leopard::", "//")):
        return "C++"
    if words[0].startswith(("find_package(", "cmake_minimum_required(")):
        return "CMake"
    if len(lines) == 1 and re.search(r"\s(<=|<|=)\s", lines[0]):
        return "formula"
    return "output"


def squeezed(text):
    """Without comments and blanks."""
    return [line for line in (re.sub(r"\s+", "", re.sub(r"(//|#(?!include)).*", "", line)) for line in text.splitlines()) if line]


def shape(line):
    """A line of the log without what differs from run to run: numbers, and the words that follow from them."""
    line = re.sub(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", "#", line)
    line = re.sub(r"(stripes|spots or stripes|holes|spots)( \(.*?parts\))?|# (spots|holes)", "PATTERN", re.sub(r"# (spots|holes)", r"\1", line))
    return re.sub(r"\s+", " ", re.sub(r"(# h |# min )?# (s|min)\b|  left .*|  \(# rejected\)", "TIME", line)).strip()


def numbers_to_compare(line):
    """Those of a printed line that are the same in each run, and how far they may be off, relative to them. Not times, what depends on the machine, and what a
    random disturbance decides."""
    if line.startswith(("step ", "time loop", "finished")):
        return [], 0.
    if line.startswith("pattern of"):
        line = line[line.index("wavelength"):].split("%")[0]
    counts = line.startswith(("from about step", "pattern of")) or " Newton steps," in line
    line = re.sub(r"\(\d+ [a-z ]+\)|, \d+ steps rejected", "", line.split(" ...")[0])
    return [float(number) for number in re.findall(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?", line)], 0.1 if counts or line.startswith("wavelength") else 0.02


def agree(printed, said):
    numbers, tolerance = numbers_to_compare(printed)
    # at the end of what the page shows a number may be cut
    others = numbers_to_compare(said)[0][:len(numbers)]
    return len(numbers) == len(others) and all(abs(a - b) <= tolerance * max(abs(b), 1e-3) + 1e-12 for a, b in zip(numbers, others))


def column(columns, name):
    return next(i for i, title in enumerate(columns) if title.startswith(name))


def each(*kinds):
    """(page, first line, text) of each snippet of these kinds."""
    return [(page, number, text) for page in PAGES for number, text in snippets(page) if kind(text) in kinds]


def readme(words):
    return next(text for page, _, text in each("parameters", "output") if page.name == "README.md" and words in text)


class Documentation(Program):
    def file(self, text, name="snippet.prm"):
        """A snippet as a file, in a folder from which ../../meshes is there, as it is from those in parameter_files/."""
        folder = self.folder / "parameter_files/here"
        if not folder.exists():
            folder.mkdir(parents=True)
            (self.folder / "meshes").symlink_to(ROOT / "meshes")
        return self.write(f"parameter_files/here/{name}", text)

    def check_printed(self, text, said, with_numbers=False):
        """Each line of the text, to its first comma or `...`, begins one of those that were said, but for what differs from run to run;
        with_numbers: those that do not are compared, too."""
        lines = [(shape(line), line) for line in said.splitlines()]
        for line in text.splitlines():
            begin = re.split(r",|\.\.\.", shape(line))[0].strip()
            alike = [other for form, other in lines if form.startswith(begin)]
            self.assertTrue(alike, f"'{line}' is not printed, as '{begin}':\n{said}")
            if with_numbers:
                self.assertTrue(any(agree(line, other) for other in alike), f"'{line}' has other numbers than\n" + "\n".join(alike))

    def check_pattern(self, text, *settings):
        """Computes a file; the pattern that it makes has about the predicted wavelength."""
        self.leopard(self.file(text), *settings)
        run = self.run_json("snippet")
        self.assertEqual(run["status"], "finished")
        self.assertNotEqual(run["pattern"]["kind"], "none")
        self.assertLess(abs(math.log(run["pattern"]["wavelength"] / run["analysis"]["wavelength"])), math.log(1.5))

    def test_all_kinds_are_there(self):
        kinds = [kind(text) for page in PAGES for _, text in snippets(page)]
        for name, least in (("parameters", 5), ("commands", 8), ("python", 1), ("C++", 1), ("CMake", 2), ("output", 1)):
            self.assertGreaterEqual(kinds.count(name), least, name)
        for page, number, text in each("output"):  # what is of no other kind is compared with what is printed, or must be made known here
            self.assertTrue(page.name in ("tutorial.md", "design.md") or text == readme("Turing analysis"), f"{page.name}, line {number}: no test reads\n{text}")

    def test_sketches_of_the_design_name_what_is_there(self):
        """Functions, classes and fields of the sketches, but for those that an example makes up."""
        made_up = {"Selkov", "make_richardson"}
        sources = "\n".join(path.read_text() for folder in ("applications", "solvers") for path in sorted((ROOT / folder).rglob("*"))
                            if path.suffix in (".h", ".cc", ".cuh", ".cu"))
        sketches = [(number, text) for page, number, text in each("output") if page.name == "design.md"]
        self.assertGreaterEqual(len(sketches), 3)
        for number, text in sketches:
            for name in set(re.findall(r"\b([A-Za-z_]\w+)(?=\(|::|<)|(?<=\.)(\w+)(?= =)", text)):
                name = name[0] or name[1]
                self.assertTrue(name in made_up or re.search(rf"\b{name}\b", sources), f"design.md, line {number}: there is no {name}")

    def test_parameter_files(self):
        texts = [text if "set Problem" in text else next(rest for section, rest in REST.items() if section in text) + text for _, _, text in each("parameters")]
        results = self.validated([(self.file(text, f"snippet{i}.prm"), []) for i, text in enumerate(texts)])
        for (page, number, _), text, (said, message) in zip(each("parameters"), texts, results):
            with self.subTest(f"{page.name}, line {number}"):
                self.assertIsNone(message)
                if "Gray-Scott" not in text:  # linear theory knows nothing of its patterns, as the text says
                    for wrong in ("warning", "no pattern"):
                        self.assertNotIn(wrong, said)

    def test_first_file_makes_a_pattern(self):
        self.check_pattern(readme("set Problem"))

    def test_free_kinetics_make_a_pattern(self):
        self.check_pattern(readme("set Species"), "Mesh/Global refinements=5")

    def test_pearsons_patch_grows(self):
        self.leopard(self.file(readme("Gray-Scott")), "Time stepping/End time=300")
        columns, rows = self.statistics("snippet")
        for name, least in (("maximum of v", 0.3), ("total mass of v", 1.5 * rows[0][column(columns, "total mass of v")])):
            self.assertGreater(rows[-1][column(columns, name)], least, name)

    def test_tutorial_shows_its_files(self):
        files = [re.sub(r"^#.*\n", "", path.read_text(), flags=re.M).strip() for path in (ROOT / "parameter_files/tutorial").glob("*.prm")]
        shown = [text.strip() for page, _, text in each("parameters") if page.name == "tutorial.md" and "set Problem" in text]
        self.assertCountEqual(shown, files)

    def test_printed_analysis(self):
        """README's analysis is that of the quickstart."""
        said = self.leopard(FILES / "quickstart/leopard_spots.prm", options=["--validate"])
        self.check_printed(readme("Turing analysis"), said)
        for number in re.findall(r"\d+\.\d+", readme("Turing analysis")):
            self.assertIn(number, said)

    def test_printed_by_the_tutorial(self):
        said = self.leopard(FILES / "tutorial/cima.prm") + self.leopard(FILES / "verification/turing_space_order.prm")
        for page, number, text in each("output"):
            if page.name == "tutorial.md" and not text.startswith("without:"):  # that of an example, which has a test of its own
                with self.subTest(f"line {number}"):
                    self.check_printed(text, said, with_numbers=True)

    def test_tables_of_the_tutorial(self):
        """The table of meshes is that of the sweep before it."""
        page = (ROOT / "doc/tutorial.md").read_text()
        command = next(text for _, text in snippets(ROOT / "doc/tutorial.md") if "cima_meshes" in text and text.startswith("scripts/run"))
        settings = re.findall(r'--set (?:"([^"]*)"|(\S+))', command)
        settings = [quoted or plain for quoted, plain in settings]
        self.leopard(FILES / "tutorial/cima.prm", *[setting.replace("5, 6, 7", "5, 6") for setting in settings])
        with open(self.folder / "output/cima_meshes/sweep.csv", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        table = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("|") and re.match(r"\| (Global|5 |6 )", line)]
        for row, printed in zip(rows, table[1:]):
            for name, value in zip(table[0], printed):
                found = next(text for title, text in row.items() if title.startswith(name))
                self.assertAlmostEqual(float(found), float(value), delta=0.01 * float(value), msg=f"{name}, {row}")

    def test_programs(self):
        """C++ stands in programs that tests build, or all names of a line in one of them; CMake names folders and libraries that are there."""
        texts = [path.read_text() for folder in ("examples", "tests/solvers", "tests/solvers_dealii") for path in (ROOT / folder).rglob("*.cc")]
        programs = {line for text in texts for line in squeezed(text)}
        names = [set(re.findall(r"[A-Za-z_]\w*", text)) for text in texts]
        libraries = "\n".join(path.read_text() for path in (ROOT / "solvers").rglob("CMakeLists.txt"))
        for page, number, text in each("C++", "CMake"):
            with self.subTest(f"{page.name}, line {number}"):
                if kind(text) == "C++":
                    known = lambda line: any(set(re.findall(r"[A-Za-z_]\w*", line)) - {"leopard", "preconditioner", "matrix"} <= these for these in names)
                    self.assertEqual([line for line in squeezed(text) if line not in programs and not known(line)], [], "these lines stand in no program that a test builds")
                for folder in re.findall(r"add_subdirectory\(leopard/(\S+)\)", text):
                    self.assertTrue((ROOT / folder / "CMakeLists.txt").exists(), folder)
                for library in re.findall(r"(?:target_link_libraries|find_package)\(.*?(leopard\w*)(?:::\w+)?(?: REQUIRED)?\)", text):
                    self.assertRegex(libraries, rf"\b{library}\b")

    def test_links(self):
        """Files and sections that the pages point to are there."""
        for page in PAGES:
            for target, section in re.findall(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)", page.read_text()):
                path = page.parent / target if target else page
                with self.subTest(f"{page.name}: {target}{section}"):
                    self.assertTrue(path.exists())
                    if section:
                        headings = [re.sub(r"[^\w -]", "", line.lstrip("# ").lower()).replace(" ", "-") for line in path.read_text().splitlines() if line.startswith("#")]
                        self.assertIn(section[1:], headings)


class DocumentedCommands(Program):
    """Each command is run in a folder in which the runs are short; what it would build, or needs a desktop, is only looked up."""

    def setUp(self):
        super().setUp()
        for name in ("meshes", "scripts", "examples"):
            (self.folder / name).symlink_to(ROOT / name)
        shutil.copytree(FILES, self.folder / "parameter_files")
        n = 30
        entries = [(i, j, 2 if i == j else -1) for i in range(1, n + 1) for j in (i - 1, i, i + 1) if 1 <= j <= n]
        self.write("A.mtx", f"%%MatrixMarket matrix coordinate real general\n{n} {n} {len(entries)}\n" + "".join(f"{i} {j} {a}\n" for i, j, a in entries))
        self.write("b.mtx", f"%%MatrixMarket matrix array real general\n{n} 1\n" + "1\n" * n)
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, 3), }}".ljust(117) + "\n"
        modes = [float(i % 3 == j) for i in range(n) for j in range(3)]
        (self.folder / "modes.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{3 * n}d", *modes))

    def call(self, *command):
        command = [str(word) for word in command]
        result = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=600)
        self.assertEqual(result.returncode, 0, f"{shlex.join(command)}\n{result.stdout}{result.stderr}")
        return result.stdout

    def run_file(self, file, options=(), ranks=1):
        """The program as scripts/run calls it, on little work."""
        path, name = self.folder / file, pathlib.Path(file).stem
        self.assertTrue(path.exists(), file)
        text = path.read_text()
        if "set Study" in text:
            self.leopard(path, options=["--validate"])
            path.write_text(STUDY)
        options = [*options, *(["--overwrite"] if "--validate" not in options and "--overwrite" not in options else [])]
        self.leopard(path, *SMALL.get(name, []), options=options, ranks=ranks)

    def test_commands(self):
        tools = {"render": "vtkmodules", "contact_sheet": "vtkmodules", "plot_study": "matplotlib", "plot_statistics": "matplotlib", "watch": "vtkmodules"}
        skipped = [tool for tool, module in tools.items() if subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True).returncode]
        last = None
        for page, number, text in each("commands"):
            if page != last:  # each page begins with an empty folder of results
                shutil.rmtree(self.folder / "output", ignore_errors=True)
            last = page
            for line in re.sub(r"\\\n\s*", " ", text).splitlines():
                with self.subTest(f"{page.name}, line {number}: {line}"):
                    words = shlex.split(line, comments=True)
                    if words and pathlib.Path(words[0]).name not in skipped:
                        self.check(words)

    def test_python(self):
        self.run_file("parameter_files/quickstart/leopard_spots.prm")
        for page, number, text in each("python"):
            with self.subTest(f"{page.name}, line {number}"):
                self.call(sys.executable, "-c", text)

    def check(self, words):
        program, arguments = pathlib.Path(words[0]).name, words[1:]
        if program == "leopard" and re.search(r"\bFILE\b", " ".join(words)):  # how to call it in general
            said = self.leopard("--help", options=[])
            for option in re.findall(r"--[a-z-]+", " ".join(words)):
                self.assertIn(option, said)
        elif words[0].startswith("scripts/") and program == "run" or program == "leopard":
            ranks = 1
            if arguments[0] == "-n":
                ranks, arguments = int(arguments[1]), arguments[2:]
            files = [word for word in arguments if word.endswith(".prm")]
            self.run_file(files[0], [word for word in arguments if word not in files], ranks)
        elif words[0].startswith("scripts/") and program in ("render", "contact_sheet", "plot_study", "plot_statistics", "watch"):
            name = pathlib.Path(arguments[0]).name
            if not (self.folder / arguments[0]).exists():
                self.run_file(next(path.relative_to(self.folder) for path in (self.folder / "parameter_files").rglob(f"{name}.prm")))
            if program == "watch" and "--terminal" not in arguments:
                arguments = [*arguments, "--terminal"]  # the page is there until Ctrl-C; one picture in characters ends
            self.call(sys.executable, ROOT / words[0], *arguments)
        elif words[0].startswith("scripts/"):
            self.assertTrue(os.access(ROOT / words[0], os.X_OK))
        elif program == "leopard-solve":
            self.call(SOLVE, *arguments)
        elif program == "cmake":
            for preset in re.findall(r"--preset (\S+)", " ".join(words)):
                self.assertIn(f'"name": "{preset}"', (ROOT / "CMakePresets.json").read_text())
        elif program in ("gmsh", "python3"):
            self.assertTrue((ROOT / "meshes" / arguments[-1]).exists())
        else:
            self.assertIn(program, ("mpirun", "sbatch", "srun", "pvpython", "laplace_block_async"))


if __name__ == "__main__":
    unittest.main()
