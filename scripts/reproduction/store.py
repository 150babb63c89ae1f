# SPDX-License-Identifier: Apache-2.0
"""
The results folder: one folder an experiment and device, with the raw output of its steps and result.json, which says
what was called, where and at which commit. It gets its name when all steps are done, so that what has the name is
complete; a run that was killed leaves NAME.part behind, a failed one NAME.failed.
"""
import contextlib
import csv
import json
import os
import pathlib
import shutil

from . import Error


class Result:
    """The output of a finished experiment."""

    def __init__(self, folder):
        self.folder = folder
        self.about = json.loads((folder / "result.json").read_text(encoding="utf-8"))

    @property
    def device(self):
        return self.about["device"]

    def text(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def json(self, name):
        return json.loads(self.text(name))

    def rows(self, name):
        """The rows of a CSV file with a line of columns, as dictionaries."""
        with open(self.folder / name, newline="", encoding="utf-8") as stream:
            return list(csv.DictReader(stream))

    def tables(self, name):
        """(title, columns, rows) of the tables of a study: blocks between empty lines."""
        blocks = [[]]
        with open(self.folder / name, newline="", encoding="utf-8") as stream:
            for row in csv.reader(stream):
                if row:
                    blocks[-1].append(row)
                else:
                    blocks.append([])
        return [(block[0][0], block[1], block[2:]) for block in blocks if len(block) > 1]

    def table(self, name, start):
        """The table whose title begins so."""
        for title, columns, rows in self.tables(name):
            if title.startswith(start):
                return title, columns, rows
        raise Error(f"{self.folder / name} has no table '{start}'\n  expected: output of this version's programs\n"
                    f"  to do: scripts/reproduce --again --only {self.about['experiment']}")

    def findings(self, name):
        """(source, claim, verdict, measured) of a study."""
        return [tuple(row) for title, _, rows in self.tables(name) if title == "Findings" for row in rows]


class Store:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def path(self, name, device):
        return self.folder / f"{name}.{device}"

    def get(self, name, device):
        """The result, or None. Whatever is not complete and readable is none."""
        try:
            return Result(self.path(name, device))
        except (OSError, ValueError):
            return None

    def is_finished(self, name, device, commands):
        """Whether these commands have been done, by whatever commit: Runner.run says which where it is another one."""
        result = self.get(name, device)
        return result is not None and result.about.get("commands") == commands

    def begin(self, name, device):
        """An empty folder to work in."""
        part = self.path(name, device).with_suffix(f".{device}.part")
        shutil.rmtree(part, ignore_errors=True)
        try:
            part.mkdir(parents=True)
        except OSError as error:
            raise Error(f"the folder {part} cannot be made: {error.strerror}\n"
                        "  expected: a place that may be written to\n  to do: --results FOLDER") from None
        return part

    def finish(self, part, name, device, about):
        """The work is complete: it gets its name, in the place of an older one."""
        with open(part / "result.json", "w", encoding="utf-8") as stream:
            json.dump({"experiment": name, "device": device, **about}, stream, indent=2)
            stream.flush()
            os.fsync(stream.fileno())
        final = self.path(name, device)
        old = final.with_suffix(f".{device}.old")
        shutil.rmtree(old, ignore_errors=True)
        if final.exists():
            final.rename(old)
        part.rename(final)
        shutil.rmtree(old, ignore_errors=True)
        shutil.rmtree(final.with_suffix(f".{device}.failed"), ignore_errors=True)

    def fail(self, part, name, device):
        """Keeps the output of what failed, to look at."""
        failed = self.path(name, device).with_suffix(f".{device}.failed")
        shutil.rmtree(failed, ignore_errors=True)
        part.rename(failed)
        return failed


def write_atomically(path, text):
    """The whole text or nothing."""
    path = pathlib.Path(path)
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)
    except OSError as error:
        with contextlib.suppress(OSError):  # it may be in no folder at all
            part.unlink()
        raise Error(f"{path} cannot be written: {error.strerror}\n  expected: a place that may be written to\n"
                    "  to do: --document FILE") from None
