# SPDX-License-Identifier: Apache-2.0
"""The frame of scripts/watch --terminal: the field in half blocks and colours, or in characters, and lines below. Draws without a window."""
import contextlib
import os
import shutil
import sys
import termios
import time

from . import Error, render
from .pictures import NoField, caption, has_fields, newest, range_of, read_field
from .run import N_LOG_LINES

RAMP = " .:-=+*#%@"
OF_256 = (230, 223, 222, 179, 172, 136, 130, 94, 52, 235, 233, 232)  # from low to high values, about the colours of render
NOT_FINITE = 201
ENTER, LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[0m\x1b[?25h\x1b[?1049l"


def colors_of(stream, environment):
    """How many colours to draw with: 'true', '256' or 'none'."""
    if not stream.isatty() or environment.get("NO_COLOR") or "utf" not in (stream.encoding or "").lower():
        return "none"
    if environment.get("COLORTERM") in ("truecolor", "24bit"):
        return "true"
    return "256" if "256" in environment.get("TERM", "") else "none"


def fitted(width, height, columns, rows):
    """Columns and rows of square pixels that fit, in the ratio of the domain."""
    pixel = max(width / columns, height / rows)
    return max(1, round(width / pixel)), max(1, round(height / pixel))


class Raster:
    """The field as it is seen from where scripts/render looks from: rays that end at the surface of the domain."""

    def __init__(self, grid, field, columns, rows, squeeze=1):
        """columns, rows: at most; squeeze: how many times as high as wide a pixel is."""
        vtk = render.vtk
        flat, bounds = render.is_flat(grid), grid.GetBounds()
        toward, up, right, width, height = render.as_seen(flat, bounds)
        self.columns, tall = fitted(width, height, columns, rows * squeeze)
        self.rows = max(1, tall // squeeze)
        surface = vtk.vtkDataSetSurfaceFilter()
        surface.SetInputData(grid)
        surface.SetNonlinearSubdivisionLevel(2)
        surface.Update()
        self.surface = surface.GetOutput()
        self.values = self.surface.GetPointData().GetArray(field)
        self.locator = vtk.vtkStaticCellLocator()
        self.locator.SetDataSet(self.surface)
        self.locator.BuildLocator()
        self.toward = toward
        center = [(bounds[2 * d] + bounds[2 * d + 1]) / 2 for d in range(3)]
        far = width + height + max(bounds[2 * d + 1] - bounds[2 * d] for d in range(3))
        self.pixels = [[self.value([center[d] + ((i + 0.5) / self.columns - 0.5) * width * right[d] + (0.5 - (j + 0.5) / self.rows) * height * up[d]
                                    for d in range(3)], far) for i in range(self.columns)] for j in range(self.rows)]

    def value(self, place, far):
        """The value at the first point that the ray meets; None: it misses the domain."""
        vtk = render.vtk
        begin, end = ([p + sign * far * t for p, t in zip(place, self.toward)] for sign in (1, -1))
        share, x, inside = vtk.mutable(0.), [0.] * 3, [0.] * 3
        part, cell_id, cell = vtk.mutable(0), vtk.mutable(0), vtk.vtkGenericCell()
        if not self.locator.IntersectWithLine(begin, end, 1e-9 * far, share, x, inside, part, cell_id, cell):
            return None
        if cell.GetNumberOfPoints() not in (3, 4):
            return self.values.GetTuple1(cell.GetPointId(0))
        weights = [0.] * cell.GetNumberOfPoints()
        cell.InterpolateFunctions(inside, weights)
        return sum(weight * self.values.GetTuple1(cell.GetPointId(i)) for i, weight in enumerate(weights))


def code(color, how, ground):
    """The sequence that makes letters (ground 38) or what is behind them (48) of this colour."""
    return f"{ground};2;{';'.join(map(str, color))}" if how == "true" else f"{ground};5;{color}"


class Palette:
    def __init__(self, low, high, how):
        self.low, self.high, self.how = low, high, how
        self.table = render.color_table("leopard", low, high)

    def color(self, value):
        """Red, green and blue, or the number of the colour where there are 256; None beside the domain."""
        if value is None:
            return None
        if self.how == "256":
            return OF_256[self.part(value, len(OF_256))] if value == value else NOT_FINITE
        color = [0.] * 3
        self.table.GetColor(value, color)
        return tuple(round(255 * c) for c in color)

    def letter(self, value):
        if value is None:
            return " "
        if value != value:
            return "?"
        return RAMP[self.part(value, len(RAMP))]

    def part(self, value, n):
        """In which of n equal parts of the range a value is; infinite ones are in the first or the last."""
        share = min(1., max(0., (value - self.low) / (self.high - self.low)))
        return min(n - 1, int(share * n))

    def half_blocks(self, upper, lower):
        """A line of the terminal, which has two lines of pixels."""
        line, last = "", None
        for pair in zip(map(self.color, upper), map(self.color, lower)):
            if pair != last:
                above, below = pair
                codes = [code(c, self.how, g) for c, g in ((above or below, 38), (below if above else None, 48)) if c]
                line += "\x1b[" + ";".join(["0", *codes]) + "m"
                last = pair
            line += " " if pair == (None, None) else "▀" if pair[0] else "▄"
        return line + "\x1b[0m"

    def legend(self, field):
        """The scale of colours in a line."""
        n = 20
        values = [self.low + (i + 0.5) / n * (self.high - self.low) for i in range(n)]
        strip = "".join(map(self.letter, values)) if self.how == "none" else self.half_blocks(values, values)
        return f"{field}  {self.low:.5g} {strip} {self.high:.5g}"


def field_lines(grid, field, time, columns, lines, how):
    """The picture and its scale, in as many lines at most."""
    palette = Palette(*range_of(grid, field, time), how)
    lines = max(1, lines - 1)
    if how == "none":
        picture = ["".join(map(palette.letter, row)).rstrip() for row in Raster(grid, field, columns, lines, squeeze=2).pixels]
    else:
        pixels = Raster(grid, field, columns, 2 * lines).pixels
        if len(pixels) % 2:
            pixels.append([None] * len(pixels[0]))
        picture = [palette.half_blocks(upper, lower) for upper, lower in zip(pixels[::2], pixels[1::2])]
    return picture + [palette.legend(field)]


def clipped(text, columns):
    """One line without what a terminal would take as a command."""
    text = "".join(c if c.isprintable() else " " for c in text)
    return text if len(text) <= columns else text[:max(0, columns - 3)] + "..."


def text_lines(run, columns):
    """The numbers, as many on a line as fit, and of a sweep those of each run."""
    (_, state), *others = run.numbers()
    lines = [f"{run.name} {state}"]
    for i, (name, text) in enumerate(others):
        if i > 0 and len(lines[-1]) + len(f"   {name}: {text}") <= columns:
            lines[-1] += f"   {name}: {text}"
        else:
            lines.append(f"{name}: {text}")
    if run.is_sweep:
        for name, one in run.runs.items():
            lines.append(", ".join([f"  {name}: {run.phase_of(name)}", *(f"{label} {text}" for label, text in one.numbers()[1:4])]))
    return [clipped(line, columns) for line in lines]


class Frame:
    """What is on the terminal. The fields are read again only when they have changed."""

    def __init__(self, run, field):
        self.run, self.field = run, field
        self.stamp = self.grid = self.name = None
        self.caption = self.remark = ""
        self.drawn = None, []

    def refresh(self):
        """@throws NoField."""
        self.run.refresh()
        self.remark = ""
        if self.run.is_sweep:
            return
        try:
            if not has_fields(self.run.directory):
                self.remark = "no fields are written" + (" any more: this is the picture of a run that was overwritten" if self.grid else "")
                return
            step, now, files, stamp = newest(self.run.directory)
            if stamp != self.stamp:
                self.grid, self.name = read_field(files, self.field, self.run.default_field())
                self.stamp, self.caption, self.now = stamp, caption(self.run, self.name, step, now), now
        except NoField:
            raise
        except (Error, OSError) as error:
            self.remark = "the newest fields cannot be read, which is tried again: " + str(error).split("\n")[0]

    def picture(self, columns, lines, how):
        key = (self.stamp, columns, lines, how)
        if key != self.drawn[0]:
            try:
                self.drawn = key, field_lines(self.grid, self.name, self.now, columns, lines, how)
            except Error as error:  # no finite value
                self.drawn = key, [clipped(str(error).split("\n")[0], columns)]
        return self.drawn[1]

    def lines(self, columns, rows, how):
        below = [clipped(text, columns) for text in (self.caption, self.remark) if text] + text_lines(self.run, columns)
        n_log = min(N_LOG_LINES, (rows - len(below)) // 5)  # most of the room is for the picture
        below += [clipped(line, columns) for line in self.run.log[-n_log:]] if n_log > 0 else []
        room = rows - len(below)
        return ((self.picture(columns, room, how) if self.grid and room >= 2 else []) + below)[:rows]


@contextlib.contextmanager
def whole_screen():
    """A screen of its own, without cursor and without what is typed; afterwards the terminal is as it was."""
    keys = termios.tcgetattr(sys.stdin) if sys.stdin.isatty() else None
    try:
        if keys:
            quiet = termios.tcgetattr(sys.stdin)
            quiet[3] &= ~termios.ECHO
            quiet[6][termios.VSUSP] = b"\0"  # to be stopped would leave the screen as it is
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, quiet)
        sys.stdout.write(ENTER)
        yield
    finally:
        sys.stdout.write(LEAVE)
        sys.stdout.flush()
        if keys:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, keys)


def place(lines):
    """The sequence that puts the lines in place of what is on the terminal."""
    return "\x1b[H" + "\r\n".join(f"{line}\x1b[K" for line in lines) + "\x1b[J"


def show(run, field, every):
    """One frame where standard output is no terminal, else frames in place until Ctrl-C."""
    sys.stdout.reconfigure(errors="replace")
    frame = Frame(run, field)
    frame.refresh()
    size = shutil.get_terminal_size()
    if not sys.stdout.isatty():
        print("\n".join(frame.lines(size.columns, size.lines, "none")))
        return
    how = colors_of(sys.stdout, os.environ)
    try:
        with whole_screen():
            while True:
                size = shutil.get_terminal_size()
                sys.stdout.write(place(frame.lines(size.columns, size.lines, how)))
                sys.stdout.flush()
                until = time.monotonic() + every
                while (left := until - time.monotonic()) > 0 and shutil.get_terminal_size() == size:
                    time.sleep(min(0.2, left))
                frame.refresh()
    finally:
        print("\n".join(text_lines(run, size.columns)), flush=True)  # what was known last
