# SPDX-License-Identifier: Apache-2.0
"""The newest fields of a run, as scripts/render reads and draws them. What cannot be read at this moment leaves the former picture in place."""
import dataclasses
import re
import threading

from . import Error, render


class NoField(Error):
    """The field that --field names is not in the data: it will not come by waiting."""


def newest(directory):
    """(number of the step or None, time or cycle, its files, a stamp that changes when they do) of the last entry of solution.pvd."""
    time, files = render.read_pvd(directory)[-1]
    match = re.search(r"_(\d+)\.p?vtu$", files[0].name)
    try:
        stamp = [str(files[0]), time] + [(state.st_mtime_ns, state.st_ino, state.st_size) for state in (path.stat() for path in files)]
    except OSError as error:
        raise Error(f"{files[0]} cannot be read: {error.strerror}") from None
    return int(match[1]) if match else None, time, files, stamp


def read_field(files, wanted, default):
    """The grid and the name of the field: `wanted`, else `default` where it is there, else what render takes."""
    grid = render.read(files)
    try:
        return grid, render.choose_field(grid, wanted) if wanted else choose_default(grid, default)
    except Error as error:
        raise NoField(str(error)) from None


def choose_default(grid, default):
    return default if default and grid.GetPointData().HasArray(default) else render.choose_field(grid, None)


def range_of(grid, field, time):
    return render.joined([render.field_of(grid, field, time).GetFiniteRange(0)], field)


def has_fields(directory):
    return (directory / "solution.pvd").exists()


@dataclasses.dataclass
class Drawn:
    """A picture, or why there is none (yet)."""
    png: bytes = b""
    number: int = 0  # of the picture: the page fetches it anew when this changes
    caption: str = ""
    remark: str = ""  # why it is not the newest, or why there is none
    stamp: object = None


class Pictures:
    """PNGs of the runs that somebody looks at. Drawn by one thread, read by others."""

    def __init__(self, folder, field):
        self.file, self.field = folder / "picture.png", field
        self.drawn, self.lock, self.count = {}, threading.Lock(), 0

    def get(self, key):
        with self.lock:
            return self.drawn.get(key, Drawn(remark="the picture is being drawn"))

    def refresh(self, key, run, size, plain):
        """Draws the newest fields of a run if they have changed. @throws NoField only; what else is wrong stands in the remark."""
        old = self.get(key)
        new = dataclasses.replace(old, remark="")
        try:
            if not has_fields(run.directory):
                new.remark = ("its fields are not there any more: this is the picture of a run that was overwritten" if old.png else
                              "no fields are written yet" if run.phase in ("waiting", "running", "unknown") else "no fields are there")
            else:
                step, time, files, stamp = newest(run.directory)
                if stamp != old.stamp:
                    new.caption, new.png = self.draw(run, step, time, files, size, plain)
                    new.stamp = stamp
                    self.count += 1
                    new.number = self.count
        except NoField:
            raise
        except (Error, OSError) as error:
            new.remark = "the newest fields cannot be read, which is tried again: " + str(error).split("\n")[0]
        with self.lock:
            self.drawn[key] = new

    def draw(self, run, step, time, files, size, plain):
        grid, field = read_field(files, self.field, run.default_field())
        table = render.color_table("leopard", *range_of(grid, field, time))
        picture = render.Picture(grid, field, table, size, plain)
        picture.label = "cycle " if run.is_stationary() else "t = "
        picture.write(grid, time, self.file)
        png = self.file.read_bytes()
        return caption(run, field, step, time), png


def caption(run, field, step, time):
    """Which fields these are: the table goes on while they stand."""
    if run.is_stationary():
        return f"{field} of cycle {time:.0f}"
    return f"{field} at t = {time:.6g}" + (f", step {step}" if step is not None else "")
