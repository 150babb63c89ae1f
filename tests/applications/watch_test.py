# SPDX-License-Identifier: Apache-2.0
"""scripts/watch: the page and the frame in the terminal, of runs that go on, have ended, died, are overwritten or half written, of sweeps, and of no run."""
import contextlib
import fcntl
import hashlib
import html
import http.client
import os
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
import unittest

from program import ROOT, Program

sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tests/output"), str(ROOT / "scripts")]
try:
    import vtk  # noqa: F401
    import PIL  # noqa: F401
    import synthetic_run as synthetic
    from watching import terminal
    MISSING = "" if shutil.which("Xvfb") else "Xvfb"
except ImportError as error:
    MISSING = str(error)

WATCH = ROOT / "scripts/watch"
TINY = ROOT / "tests/output/tiny_turing.prm"
PNG = b"\x89PNG"


def snapshot(folder):
    """All that is in a folder: times of change, lengths and contents."""
    return {path: (path.lstat().st_mtime_ns, path.lstat().st_size, hashlib.sha1(path.read_bytes()).hexdigest() if path.is_file() else "")
            for path in [folder, *sorted(folder.rglob("*"))]}


def visible(page):
    """The text of a page as it is read, with blanks where marks were."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", page)))


class Page:
    """A scripts/watch at work."""

    def __init__(self, test, *arguments):
        self.test = test
        self.process = subprocess.Popen([sys.executable, str(WATCH), *map(str, arguments), "--every", "0.2"], cwd=test.folder, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(test.scratch)})
        line = self.process.stdout.readline()
        match = re.search(r"http://localhost:(\d+)", line)
        if not match:
            test.fail(f"no address: {line}{self.process.communicate()[1]}")
        self.port = int(match[1])
        self.second_line = self.process.stdout.readline()

    def get(self, path, code=200, host="localhost"):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        with contextlib.closing(connection):
            connection.request("GET", path, headers={"Host": host})
            answer = connection.getresponse()
            content = answer.read()
            self.test.assertEqual(answer.status, code, path)
            return content

    def body(self, query=""):
        return self.get("/body" + query).decode()

    def wait(self, what, condition, query="", seconds=60):
        """The first page for which the condition holds."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            page = self.body(query)
            if condition(page):
                return page
            time.sleep(0.1)
        return self.test.fail(f"the page never showed {what}:\n{visible(page)}")

    def picture(self, query="", seconds=60):
        """The address of the picture, and a hash of what it shows."""
        page = self.wait("a picture", lambda page: "<img" in page, query, seconds)
        path = html.unescape(re.search(r'<img[^>]* src="([^"]*)"', page)[1])
        content = self.get("/" + path)
        self.test.assertTrue(content.startswith(PNG))
        return path, hashlib.sha1(content).hexdigest()

    def stop(self, number=signal.SIGINT):
        """The exit code, after a signal as of Ctrl-C."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        said, wrong = self.process.communicate(timeout=30)
        self.test.assertEqual(wrong, "")
        return self.process.returncode


@unittest.skipIf(MISSING, MISSING)
class Watch(Program):
    def setUp(self):
        super().setUp()
        self.scratch = self.folder / "scratch"
        self.scratch.mkdir()

    @contextlib.contextmanager
    def watching(self, *arguments):
        page = Page(self, *arguments)
        try:
            yield page
        finally:
            page.process.send_signal(signal.SIGINT) if page.process.poll() is None else None
            page.process.communicate(timeout=30)

    def fails(self, *arguments):
        result = subprocess.run([sys.executable, str(WATCH), *map(str, arguments)], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertNotIn("Traceback", result.stderr)
        return result.stderr

    def synthetic(self, name, **options):
        synthetic.write_run(self.folder / name, **options)
        return self.folder / name

    def test_finished_run(self):
        self.leopard(TINY)
        run = self.folder / "output/tiny_turing"
        before = snapshot(run)
        with self.watching(run) as page:
            whole = page.get("/").decode()
            text = visible(page.body())
            columns, rows = self.statistics("tiny_turing")
            spots = rows[-1][next(i for i, name in enumerate(columns) if name.startswith("number of spots of u"))]
            for words in ("finished after", "step 3 ", "time 0.003 of 0.003 (100.0 %)", f"spots {spots:.0f} ", "u at t = 0.003, step 3",
                          "dominant wave number", "steps and", "number of spots of u, logarithmic", "Newton residual"):
                self.assertIn(words, text)
            self.assertIn((run / "log.txt").read_text().splitlines()[-1][:60], text)
            self.assertNotRegex(whole, r"(src|href)=.?https?:", "something from elsewhere")
            self.assertIn(visible(page.body()).strip()[:60], visible(whole), "without scripts there is the same")
            page.picture()
            self.assertRegex(page.second_line, rf"ssh -L {page.port}:127\.0\.0\.1:{page.port} \S+@\S+")
            # fixed paths, one machine
            for path in ("/../run.json", "/run.json", "/solution.pvd", "/?run=.", "/?run=..%2F..", "/body?run=x", "/picture.png?run=../..",
                         "//etc/passwd"):
                page.get(path, code=404)
            page.get("/", code=403, host="evil.example")
            page.get("/", host=f"127.0.0.1:{page.port}")
            with self.assertRaises(ConnectionRefusedError):
                socket.create_connection(("127.0.0.2", page.port), timeout=5).close()
            self.assertIn(f"port {page.port} is in use", self.fails(run, "--port", page.port))
            self.assertEqual(page.stop(), 0)
        self.assertEqual(list(self.scratch.iterdir()), [], "something is left")
        self.assertEqual(snapshot(run), before, "the run directory has changed")
        self.assertRegex(self.fails(run, "--field", "w"), r"no field 'w' in the data\n  there: u, v")
        self.assertRegex(self.fails(run, "--field", "w", "--terminal"), r"no field 'w' in the data\n  there: u, v")

    def test_run_that_goes_on_dies_and_is_overwritten(self):
        run = self.folder / "output/tiny_turing"
        command = self.command(TINY, "Time stepping/End time=1000", "Output/Interval=0.05", "Mesh/Global refinements=6")
        endless = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL)
        self.addCleanup(endless.wait)
        self.addCleanup(endless.kill)
        with self.watching(run) as page:  # which waits for the folder
            path, first = page.picture()
            step = int(re.search(r"step</th><td>(\d+)", page.wait("a step", lambda page: "step</th>" in page))[1])
            text = visible(page.wait("a later step", lambda page: int(re.search(r"step</th><td>(\d+)", page)[1]) > step + 3))
            self.assertIn(f"running process {endless.pid} on {socket.gethostname()}", text)
            self.assertRegex(text, r"of time a second; about .* left")
            page.wait("another picture", lambda now: path not in html.unescape(now) and page.picture()[1] != first)
            endless.kill()
            endless.wait()
            text = visible(page.wait("that the run has died", lambda page: ">died<" in page, seconds=10))
            self.assertIn(f"process {endless.pid} on {socket.gethostname()} is gone without a word", text)
            self.assertNotIn("time a second; about", text)
            last = page.picture()[0]
            self.leopard(TINY)
            page.wait("the end of the new run", lambda page: ">finished<" in page and "u at t = 0.003, step 3<" in page)
            self.assertNotEqual(page.picture()[0], last)
            self.assertIn("step 3 time 0.003 of 0.003", visible(page.body()))

    def test_half_written_file(self):
        run = self.synthetic("run")
        with self.watching(run) as page:
            path, first = page.picture()
            synthetic.write_run(run, times=(0., 0.1, 0.4))
            newest = run / "solution/solution_0000002.0001.vtu"
            whole = newest.read_bytes()
            newest.write_bytes(whole[:len(whole) // 2])
            page.wait("that the file cannot be read", lambda page: "cannot be read, which is tried again" in page)
            self.assertEqual(page.picture(), (path, first))
            frame = subprocess.run([sys.executable, str(WATCH), str(run), "--terminal"], capture_output=True, text=True, timeout=60)
            self.assertEqual((frame.returncode, frame.stderr), (0, ""))
            self.assertIn("cannot be read, which is tried again", frame.stdout)
            newest.write_bytes(whole)
            page.wait("the whole file", lambda page: "u at t = 0.4, step 2" in page)
            self.assertNotEqual(page.picture()[1], first)
            (run / "solution.pvd").write_text("<VTKFile><Coll")
            page.wait("that the list cannot be read", lambda page: "cannot be read, which is tried again" in page and "<img" in page)
            (run / "solution.pvd").unlink()
            page.wait("that the fields are gone", lambda page: "was overwritten" in page and "<img" in page)

    def test_before_there_are_fields(self):
        run = self.folder / "run"
        run.mkdir()
        (run / "lock").write_text(f"host {socket.gethostname()}, process {os.getpid()}\n")
        with open(run / "lock", encoding="utf-8"), self.watching(run) as page:  # this process has it open, as the program has
            text = visible(page.wait("that it waits", lambda page: "no fields are written yet" in page))
            self.assertIn(f"waiting a run is being set up (process {os.getpid()}", text)
            self.synthetic("run")
            page.picture()
            with self.watching(run) as other:
                self.assertNotEqual(other.port, page.port, "a free one is taken")

    def test_how_it_is_known_whether_a_run_goes_on(self):
        from watching.run import Run
        run = self.folder / "run"
        run.mkdir()
        here, mine = socket.gethostname(), os.getpid()
        for status, lock, phase, words in (
                ("running", f"host elsewhere, process {mine}\n", "unknown", "cannot be looked at from here"),
                ("running", "", "unknown", "no lock file"),
                ("running", f"host {here}, process {mine}\n", "died", "gone without a word"), ("finished", "", "finished", "after 2.0 s"),
                ("steady state", "", "finished", "steady state after"), ("stopped: SIGTERM", "", "stopped", "SIGTERM; --resume"),
                ("failed: no room\n  expected: more", "", "failed", "no room"), ("something", "", "unknown", "run.json says: something")):
            with self.subTest(status=status, lock=lock):
                (run / "run.json").write_text('{"wall_seconds": 2, "status": "%s"}' % status.replace("\n", "\\n"))
                (run / "lock").write_text(lock)
                found = Run(run)
                self.assertEqual(found.phase, phase)
                self.assertIn(words, found.sentence)

    def test_no_run(self):
        (self.folder / "notes").mkdir()
        (self.folder / "notes/thesis.txt").write_text("")
        self.assertIn("is no run directory", self.fails(self.folder / "notes"))
        self.assertIn("is no run directory", self.fails(self.folder / "notes", "--terminal"))
        self.assertIn("no such directory", self.fails(self.folder / "notes/thesis.txt"))
        self.assertEqual([path.name for path in (self.folder / "notes").iterdir()], ["thesis.txt"])

    def test_sweep(self):
        self.sweep(TINY, {"gamma": ["100", "300"]})
        run = self.folder / "sweep"
        run.mkdir()
        (run / "lock").write_text(f"host {socket.gethostname()}, process {os.getpid()}\n")  # it is not known yet that a sweep begins
        with self.watching(run) as page:
            self.assertIn("no fields", page.wait("that there is nothing", lambda page: "no fields" in page))
            shutil.copytree(self.folder / "output/tiny_turing", run, dirs_exist_ok=True)
            before = snapshot(run)
            text = page.wait("both pictures", lambda page: page.count("<img") == 2)
            self.assertIn("runs 2: 2 finished", visible(text))
            links = [html.unescape(link) for link in re.findall(r'<a href="\./([^"]*)"', text)]
            self.assertEqual(links, ["?run=gamma%3D100", "?run=gamma%3D300"])
            pictures = []
            for link in links:
                self.assertIn("time 0.003 of 0.003", visible(page.body(link)))
                self.assertIn("all runs of the sweep", page.get("/" + link).decode())
                pictures.append(page.picture(link)[1])
            self.assertNotEqual(*pictures)
            page.get("/?run=gamma%3D200", code=404)
        frame = subprocess.run([sys.executable, str(WATCH), str(run), "--terminal"], capture_output=True, text=True, timeout=60).stdout
        self.assertRegex(frame, r"gamma=100: finished, step 3, time 0.003 of 0.003")
        self.assertEqual(snapshot(run), before)

    def test_frame_of_a_known_field(self):
        """Low on the left, high on the right, twice as wide as high."""
        run = self.folder / "run"
        synthetic.write_pvd(run.parent, [])
        step = synthetic.write_step(run, "solution_0000007", synthetic.grid_cells(8, stretch=2.), {"u": lambda x, y, z: 0. if x < 1. else 3.})
        synthetic.write_pvd(run, [(0.5, step)])
        before = snapshot(run)
        result = subprocess.run([sys.executable, str(WATCH), str(run), "--terminal"], capture_output=True, text=True, timeout=60,
                                env={**{k: v for k, v in os.environ.items() if k != "DISPLAY"}, "PATH": "/nowhere", "COLUMNS": "40", "LINES": "30"})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), 10 + 3)
        for line in lines[:10]:
            self.assertRegex(line, r"^ {15,19}.{0,5}@{17,20}$")
        self.assertRegex(lines[10], r"^u  0 .* 3$")
        self.assertEqual(lines[11], "u at t = 0.5, step 7")
        self.assertEqual(snapshot(run), before)

    def test_frame_of_a_cube(self):
        """It is seen from a corner: narrow above and below, wide between them, no hole, and in front the side y = 0."""
        run = self.folder / "cube"
        step = synthetic.write_step(run, "solution_0000000", synthetic.grid_cells(4, dim=3), {"u": lambda x, y, z: 1. - y})
        synthetic.write_pvd(run, [(0., step)])
        frame = subprocess.run([sys.executable, str(WATCH), str(run), "--terminal"], capture_output=True, text=True, timeout=60).stdout
        rows = frame.split("u  ")[0].splitlines()
        letters = [len(row.strip()) for row in rows]
        self.assertGreater(len(rows), 15)
        self.assertLess(max(letters[0], letters[-1]), 0.5 * max(letters))
        self.assertGreater(min(letters[len(rows) // 3:2 * len(rows) // 3]), 0.8 * max(letters))
        self.assertGreater("".join(rows).count("@"), 0.3 * sum(letters))

    def test_pace(self):
        """The clock of a run that was resumed begins anew, and a row that is being written does not count."""
        from watching.run import Run
        run = self.folder / "run"
        run.mkdir()
        (run / "run.json").write_text('{"status": "running"}')
        (run / "parameters_all.prm").write_text("subsection Other\n  set End time = 3\nend\n"
                                                "subsection Time stepping\n  # a remark\n  set End time = 50\nend\n")
        rows = [(10 * i, i, 100 + i) for i in range(5)] + [(40 + 4 * i, 4 + 0.5 * i, 3 + i) for i in range(1, 5)]
        table = "".join(f"# {i}: {name}\n" for i, name in enumerate(("step", "time (s)", "wall-clock time since the start of the program (s)"), 1))
        (run / "statistics").write_text(table + "".join("%g %g %g\n" % row for row in rows) + "60 6.5 9")
        found = Run(run)
        self.assertEqual((found.statistics.last("step"), found.end_time), (56., 50.))
        self.assertEqual(found.statistics.pace(), (4., 0.5, True))
        self.assertIn(("pace", "4 steps and 0.5 of time a second; about 1 min 28 s left"), found.numbers())
        with open(run / "statistics", "a", encoding="utf-8") as stream:
            stream.write("\n64 20 10\n")
        found.refresh()
        self.assertEqual(found.statistics.column("wall-clock time").tolist(), [100., 101., 102., 103., 104., 4., 5., 6., 7., 9., 10.])
        self.assertIn(" left, roughly: the pace is changing", dict(found.numbers())["pace"])

    def frames(self, seconds, *arguments, **environment):
        """What --terminal writes to a terminal of 60 x 20 until Ctrl-C, and its exit code."""
        process, file = pty.fork()
        if process == 0:
            os.execve(sys.executable, [sys.executable, str(WATCH), *map(str, arguments), "--terminal", "--every", "0.2"],
                      {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8", **environment})
        fcntl.ioctl(file, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 60, 0, 0))
        said, until, ended = b"", time.monotonic() + 60, False
        while True:
            if select.select([file], [], [], 0.1)[0]:
                try:
                    part = os.read(file, 65536)
                except OSError:  # closed
                    break
                said += part
            if not ended and (said.count(b"\x1b[H") >= 3 or time.monotonic() > until):
                self.assertFalse(termios.tcgetattr(file)[3] & termios.ECHO, "what is typed does not go into the picture")
                os.write(file, b"\x03")
                ended = True
        self.assertTrue(termios.tcgetattr(file)[3] & termios.ECHO, "the terminal is as it was")
        os.close(file)
        # Ctrl-C throws away what the terminal has not shown yet, also the half of a character
        return said.decode(errors="replace"), os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])

    def test_terminal(self):
        run = self.synthetic("run")
        for environment, code in (({"COLORTERM": "truecolor"}, r"\x1b\[0;38;2;\d+;\d+;\d+;48;2;\d+;\d+;\d+m▀"),
                                  ({}, r"\x1b\[0;38;5;\d+;48;5;\d+m▀"),
                                  ({"COLORTERM": "truecolor", "NO_COLOR": "1"}, r"@")):
            with self.subTest(environment):
                said, exit_code = self.frames(60, run, **environment)
                self.assertEqual(exit_code, 0, said[-500:])
                self.assertRegex(said, code)
                if "NO_COLOR" in environment:
                    self.assertNotRegex(said, r"\x1b\[[0-9;]*[34]8;")
                frame, rest = said.split("\x1b[?1049l")
                self.assertIn("\x1b[?25h", frame[-20:], "the cursor is there again")
                self.assertNotIn("\x1b", rest)
                self.assertNotIn("^C", said)
                self.assertTrue(rest.startswith("run unknown: "), "what was known last")
                self.assertNotIn("Traceback", said)
                self.assertGreaterEqual(frame.count("\x1b[H"), 3, "it renews itself")
                lines = frame.split("\x1b[H")[1].split("\r\n")
                self.assertLessEqual(len(lines), 20)
                self.assertLessEqual(max(len(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line)) for line in lines), 60)


if __name__ == "__main__":
    unittest.main()
