# SPDX-License-Identifier: Apache-2.0
"""doc/reproduction.md: the template with tables in the places of {{name}}."""
import collections
import dataclasses
import re

from . import Error, errata, reasons
from .checks import ON_GPU, Found
from .experiments import BY_NAME
from .items import ITEMS, PAPERS
from .run import ROOT, shown
from .tables import RESULTS
from .verdicts import ALL, CONFIRMED, NOTHING, OPEN, REFUTED, Line

NOT_RUN = "not run"
DEVICES = ("host", "cuda")
BOLD = {CONFIRMED: "**confirmed**", REFUTED: "**refuted**"}
MANY = 15  # rows of a table that is folded up
HEAD = ("where", "claim, published value", "ours", "verdict", "run")


def fill(template, values):
    """The template with each {{name}} replaced. What has no value, or no place, is an Error."""
    names = set(re.findall(r"\{\{(\w+)\}\}", template))
    if names != values.keys():
        wrong = sorted(names ^ values.keys())
        raise Error(f"the template and what fills it differ in {', '.join(wrong)}\n  expected: each {{{{name}}}} once "
                    "in scripts/reproduction/template.md")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: values[match[1]], template)


def cell(text):
    return str(text).replace("\n", " ").replace("|", "\\|")


def markdown(head, rows):
    lines = ["| " + " | ".join(map(cell, head)) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(cell, row)) + " |" for row in rows])


def of_check(result, check, name):
    """The lines of a check; one that says so where the output cannot be read."""
    try:
        lines = check(result)
    except (Error, OSError, ValueError, KeyError, IndexError) as error:
        what = str(error).splitlines()[0] if isinstance(error, Error) else f"{type(error).__name__}: {error}"
        return [Line(f"what `{name}` measures", "-", OPEN, f"its output cannot be read ({what})")]
    if not lines:
        return [Line(f"what `{name}` measures", "-", OPEN, "nothing of it in the output")]
    lines = [of_reconstruction(line) for line in lines]
    if result.about["quick"]:
        lines = [line.because("sizes of --quick") if line.verdict in (CONFIRMED, REFUTED) else line for line in lines]
    return lines


def of_reconstruction(line):
    """Chem97ZtZ is made from its data; the order of its rows is assumed, which matters to blocks."""
    if "Chem97ZtZ" not in line.claim or line.verdict not in (CONFIRMED, REFUTED):
        return line
    if line.verdict == REFUTED:
        return line.because("the matrix is a reconstruction, whose order of rows is assumed")
    return dataclasses.replace(line, why="on the reconstruction")


def with_reason(line, device):
    """A refuted line says why, where that is known."""
    return dataclasses.replace(line, why=reasons.of(line.claim, device)) if line.verdict == REFUTED else line


def lines_of(item, store):
    """(line, run) of an item, of all devices that have results."""
    found = []
    for name, check in item.checks:
        results = [result for result in (store.get(name, device) for device in DEVICES) if result]
        for result in results:
            lines = of_check(result, check, name)
            if len(results) > 1 and result.device == "host":  # the GPU's line says it
                lines = [line for line in lines if line.why != ON_GPU]
            found += [(with_reason(line, result.device), f"`{name}`, {result.device}") for line in lines]
        if not results:
            why = f"not run: `scripts/reproduce --only {name}`" if "host" in BY_NAME[name].devices else ON_GPU
            found.append((Line(item.what, "-", OPEN, why), "-"))
    if item.status:
        found.append((Line(item.what, "-", item.status, item.why), "-"))
    return found


def tally(lines):
    """'2 confirmed, 1 refuted'"""
    counts = collections.Counter(line.verdict for line, _ in lines)
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in ALL if counts[verdict])


def verdict_text(line, see, up):
    """up: the way from the document's folder to that of the repository."""
    text = BOLD.get(line.verdict, line.verdict) + (f" ({line.why})" if line.why else "")
    if see:
        text += "; measured before: " + ", ".join(f"[{name}]({up}{RESULTS}{name})" for name in see)
    return text


def titled(title, text, rows):
    """A table under its title, folded up if it is long."""
    if rows <= MANY:
        return f"{title}:\n\n{text}"
    return f"<details><summary>{title}: {rows} rows</summary>\n\n{text}\n\n</details>"


class Document:
    def __init__(self, store, pictures=None, up="../"):
        self.store, self.pictures, self.up = store, pictures or {}, up
        self.lines = {item.where: lines_of(item, store) for item in ITEMS}

    def without_reason(self):
        """(where, claim) of what is refuted while reasons.py does not say why."""
        return [(where, line.claim) for where, lines in self.lines.items() for line, _ in lines
                if line.verdict == REFUTED and not line.why]

    def best(self, name):
        """A GPU's result if there is one, else the host's."""
        return self.store.get(name, "cuda") or self.store.get(name, "host")

    def rows(self, item):
        if item.same_as:
            lines = [(line, run) for line, run in self.lines[item.same_as] if re.match(item.part, line.claim)]
            return [(f"{item.where}: {item.what}", f"as {item.same_as}", "", tally(lines) or NOT_RUN, "")]
        first, result, see, of_more_gpus = f"{item.where}: {item.what}", [], item.see, item.see_of_more_gpus
        for line, run in self.lines[item.where]:
            claim = "" if line.claim == item.what else line.claim
            files = ()
            if line.verdict == OPEN and line.ours.startswith("this machine has "):  # nor had those of `see`
                files, of_more_gpus = of_more_gpus, ()  # once an item
            elif line.verdict == OPEN:
                files, see = see, ()
            result.append((first, claim, "" if line.ours == "-" else line.ours, verdict_text(line, files, self.up), "" if run == "-" else run))
            first = ""
        return result

    def table(self, table):
        result = self.best(table.experiment)
        if result is None:
            return ""
        try:
            title, heads, rows = table.read(result)
        except (Error, OSError, ValueError, KeyError, IndexError):
            rows = []
        if not rows:
            return f"{table.name}: not in the output of `{table.experiment}` on {result.device}."
        return titled(f"{title} ({result.device})", markdown(heads, rows), len(rows))

    def quote(self, quoted):
        heads, rows = quoted.read(ROOT)
        return titled(f"From [{quoted.file}]({self.up}{RESULTS}{quoted.file})", markdown(heads, rows), len(rows))

    def paper(self, key):
        """The items in their order: tables of verdicts, broken where tables of numbers and figures stand."""
        parts, rows = [], []
        for item in (item for item in ITEMS if item.paper == key):
            rows += self.rows(item)
            more = [text for text in map(self.table, item.tables) if text] + list(map(self.quote, item.quoted))
            if item.figure in self.pictures:
                more.append(f"![{item.where}: {item.what}]({self.pictures[item.figure]})")
            if item.note:
                more.insert(0, f"{item.where}: {item.note}")
            if more:
                parts += [markdown(HEAD, rows), *more]
                rows = []
        if rows:
            parts.append(markdown(HEAD, rows))
        return "\n\n".join(parts)

    def not_drawn(self):
        """Figures with measurements that are not drawn, and why."""
        rows = []
        for item in ITEMS:
            measured = "Figure" in item.where and not item.same_as and item.status != NOTHING
            if measured and item.figure not in self.pictures:
                why = item.undrawn or item.why or f"no results of `{'`, `'.join(item.experiments)}` to draw it of"
                rows.append((f"{item.where}: {item.what}", why))
        return markdown(("figure", "why it is not drawn"), rows)

    def summary(self):
        rows = []
        for key, title in PAPERS.items():
            own = [item for item in ITEMS if item.paper == key]
            counts = collections.Counter(line.verdict for item in own for line, _ in self.lines[item.where])
            rows.append((f"{key}: {title}", len(own), sum(bool(item.same_as) for item in own),
                         *(counts[verdict] for verdict in ALL)))
        rows.append(("all", *(sum(row[i] for row in rows) for i in range(1, len(rows[0])))))
        return markdown(("paper", "tables, figures, findings", "of them treated elsewhere", *ALL), rows)

    def runs(self):
        rows = []
        for path in sorted(self.store.folder.glob("*/result.json")):
            name, _, device = path.parent.name.rpartition(".")
            result = self.store.get(name, device)
            if result is None or device not in DEVICES:
                continue
            about = result.about
            command = f"`{shown(about['commands'][0][1:])}`"
            if len(about["commands"]) > 1:
                command += f" and {len(about['commands']) - 1} more"
            rows.append((f"`{name}`", device, command, f"{about['seconds']:.0f}", about["machine"], about["commit"],
                         about["date"] + (", quick" if about["quick"] else "")))
        return markdown(("run", "on", "command", "seconds", "machine", "commit", "date"), rows)

    def text(self, template):
        values = {f"paper_{key}": self.paper(key) for key in PAPERS}
        values |= {"summary": self.summary(), "runs": self.runs(), "not_drawn": self.not_drawn(),
                   "errata": markdown(("where", "printed", "evidence"), errata.rows(self.best))}
        return fill(template, values)


def findings_without_item(store):
    """(experiment, source, claim) of findings of studies that no item takes: they would be dropped silently."""
    for path in sorted(store.folder.glob("*/result.json")):
        name, _, device = path.parent.name.rpartition(".")
        result = store.get(name, device)
        taken = [check for item in ITEMS for experiment, check in item.checks
                 if experiment == name and isinstance(check, Found)]
        for csv in (*result.folder.glob("*.csv"), *result.folder.glob("run/study_findings.csv")) if taken else ():
            for source, claim, *_ in result.findings(csv.relative_to(result.folder)):
                if not any(check.knows(source, claim) for check in taken):
                    yield name, source, claim
