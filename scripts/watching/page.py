# SPDX-License-Identifier: Apache-2.0
"""The page of scripts/watch: HTML, curves in SVG, and a few lines of script that renew it. Nothing in it comes from elsewhere."""
import html
import math
import urllib.parse

from . import render

STYLE = """
body { font: 15px/1.4 sans-serif; margin: 1em auto; max-width: 1250px; padding: 0 1em; color: #222; background: #fff }
h1 { font-size: 1.3em; margin: 0 0 .5em } h2 { font-size: 1em; margin: 1em 0 .3em }
.both { display: flex; flex-wrap: wrap; gap: 1.5em } .both > div { flex: 1 1 380px; min-width: 0 }
.picture { max-width: 100%; max-height: 75vh; display: block }
table { border-collapse: collapse }
th { text-align: left; font-weight: normal; color: #666; padding: .1em 1em .1em 0; vertical-align: top; white-space: nowrap }
.state { display: inline-block; padding: 0 .5em; border-radius: .3em; color: #fff; background: #777 }
.running { background: #27632a } .finished { background: #1f4e8c } .died, .failed { background: #a31515 } .stopped, .unknown { background: #8a5a00 }
.remark { color: #8a5a00 } #lost { display: none; color: #fff; background: #a31515; padding: .3em .6em }
.bar { height: .5em; background: #eee; margin: .5em 0 } .bar div { height: 100%; background: #b0722b }
pre { background: #f5f3ef; padding: .6em; white-space: pre-wrap; overflow-wrap: anywhere; font-size: 12px }
.curves { display: grid; grid-template-columns: repeat(auto-fill, minmax(230px, 1fr)); gap: .5em } .curves svg { width: 100% }
.runs { display: flex; flex-wrap: wrap; gap: 1em } .runs a { width: 210px; color: inherit; text-decoration: none; overflow-wrap: anywhere }
.runs img, .empty { width: 200px; height: 200px; object-fit: contain; display: block; background: #f5f3ef }
"""
# A new picture is put in place when it has come, so that the page does not flicker.
SCRIPT = """
async function renew() {
  const lost = document.getElementById("lost");
  try {
    const answer = await fetch("body" + location.search, {cache: "no-store"});
    if (!answer.ok) throw new Error();
    const text = await answer.text(), old = document.getElementById("now"), next = old.cloneNode(false);
    next.innerHTML = text;
    await Promise.all([...next.querySelectorAll("img")].map(image => image.decode().catch(() => {})));
    old.replaceWith(next);
    document.title = next.querySelector("[data-title]").dataset.title;
    lost.style.display = "none";
  } catch { lost.style.display = "block"; }
  setTimeout(renew, EVERY);
}
setTimeout(renew, Math.min(500, EVERY)); // the first picture may have been drawn by then
"""
LOST = ("scripts/watch does not answer: it has ended, or the connection to its machine is lost. What is below is old; it goes on by itself "
        "when there is an answer.")
CURVES = (("number of spots of ", True), ("rate of change", True), ("Newton residual", True), ("total mass of ", False))


def escape(text):
    return html.escape(str(text), quote=True)


def thinned(xs, ys, n=300):
    """At most about 2 n points, with the smallest and the largest of each part."""
    points = list(zip(xs, ys))
    if len(points) <= 2 * n:
        return points
    size = -(-len(points) // n)
    few = []
    for i in range(0, len(points), size):
        part = points[i:i + size]
        finite = [j for j in range(len(part)) if math.isfinite(part[j][1])]
        ends = {min(finite, key=lambda j: part[j][1]), max(finite, key=lambda j: part[j][1])} if finite else {0}
        few += [part[j] for j in sorted(ends)]
    return few + [points[-1]]


def curve(title, xs, ys, log):
    """A small picture of a column over time, as SVG."""
    width, height, left, right, top, bottom = 285, 130, 52, 8, 20, 16
    finite = [(x, y) for x, y in thinned(xs, ys) if math.isfinite(x) and math.isfinite(y)]
    log = log and any(y > 0 for _, y in finite)
    points = [(x, math.log10(y) if log else y) for x, y in finite if not log or y > 0]
    if len(points) < 2:
        return ""
    low, high = min(y for _, y in points), max(y for _, y in points)
    if log:
        low, high = math.floor(low), max(math.ceil(high), math.floor(low) + 1)
    elif high - low <= 1e-9 * max(abs(low), abs(high), 1e-300):
        low, high = low - (abs(low) or 1.) * 0.01, high + (abs(low) or 1.) * 0.01
    first, last = points[0][0], points[-1][0]

    def place(x, y):
        across = (x - first) / (last - first) if last > first else 0.
        return f"{left + across * (width - left - right):.1f},{height - bottom - (y - low) / (high - low) * (height - top - bottom):.1f}"

    def text(x, y, words, anchor):
        return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(words)}</text>'

    remark = ""
    if log:
        step = max(1, -(-(high - low) // 4))
        labels = [(value, f"{10. ** value:g}") for value in range(low, high + 1, step)]
    else:
        labels, remark = render.scale_labels(low, high, 4)
    parts = [text(left, 12, f"{title} {remark}".strip(), "start")]
    parts += [text(x, height - 3, words, where) for x, words, where in ((left, f"{first:.4g}", "start"), ((left + width - right) / 2, "time", "middle"),
                                                                        (width - right, f"{last:.4g}", "end"))]
    for value, label in labels:
        y = place(first, value).split(",")[1]
        parts += [f'<line x1="{left}" x2="{width - right}" y1="{y}" y2="{y}" stroke="#ddd"/>', text(left - 4, f"{float(y) + 4:.1f}", label, "end")]
    parts.append(f'<polyline fill="none" stroke="#8a4b12" stroke-width="1.5" points="{" ".join(place(*point) for point in points)}"/>')
    return f'<svg viewBox="0 0 {width} {height}" font-size="11" fill="#444" role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'


def curves(table):
    times = table.column("time")
    drawn = []
    for begin, log in CURVES:
        name = table.full_name(begin)
        if name:
            drawn.append(curve(name + (", logarithmic" if log else ""), times, table.column(begin), log))
    return f'<h2>over time</h2><div class="curves">{"".join(drawn)}</div>' if any(drawn) else ""


def address(path, **query):
    return escape(path + ("?" + urllib.parse.urlencode(query) if query else ""))


def number_rows(run):
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in run.numbers()[1:])
    done = run.share_done()
    bar = f'<div class="bar"><div style="width: {100 * done:.1f}%"></div></div>' if done is not None else ""
    return f'<p><span class="state {escape(run.phase)}">{escape(run.phase)}</span> {escape(run.sentence)}</p>{bar}<table>{rows}</table>'


def log_part(run):
    return f'<h2>end of log.txt</h2><pre>{escape(chr(10).join(run.log))}</pre>' if run.log else ""


def title_of(run):
    done = run.share_done()
    return (f"{100 * done:.0f} % " if done is not None and run.phase == "running" else f"{run.phase}: ") + run.name


def run_body(run, drawn, query, up):
    """What changes of a run's page. query: what names the run in addresses; up: whether it is one of a sweep."""
    source = address("picture.png", number=drawn.number, **query)
    picture = f'<img class="picture" alt="{escape(drawn.caption)}" src="{source}">' if drawn.png else ""
    said = (f"<p>{escape(drawn.caption)}</p>" if drawn.caption else "") + (f'<p class="remark">{escape(drawn.remark)}</p>' if drawn.remark else "")
    back = '<p><a href="./">all runs of the sweep</a></p>' if up else ""
    return (f'<h1 data-title="{escape(title_of(run))}">{escape(run.name)}</h1>{back}<div class="both"><div>{picture}{said}</div>'
            f"<div>{number_rows(run)}{curves(run.statistics)}</div></div>{log_part(run)}")


def sweep_body(sweep, pictures):
    """All runs of a sweep, with links to their pages."""
    parts = []
    for name, run in sweep.runs.items():
        drawn, phase = pictures.get((name, "small")), sweep.phase_of(name)
        source = address("picture.png", run=name, small=1, number=drawn.number)
        picture = f'<img alt="" src="{source}">' if drawn.png else f'<div class="empty">{escape(drawn.remark)}</div>'
        done, spots = run.share_done(), run.statistics.last("number of spots")
        details = [f"{100 * done:.0f} %"] if done is not None and phase != "finished" else []
        details += [f"{spots:.0f} spots"] if spots is not None else []
        state = f'<span class="state {escape(phase)}">{escape(phase)}</span> {escape(", ".join(details))}'
        parts.append(f'<a href="{address("./", run=name)}">{picture}{escape(name)}<br>{state}</a>')
    return (f'<h1 data-title="{escape(title_of(sweep))}">{escape(sweep.name)}</h1>{number_rows(sweep)}'
            f'<h2>runs</h2><div class="runs">{"".join(parts)}</div>{log_part(sweep)}')


def body(run, pictures, name):
    """What changes. name: of the run in the sweep; empty: the directory itself."""
    if name:
        return run_body(run.runs[name], pictures.get((name, "large")), {"run": name}, True)
    return sweep_body(run, pictures) if run.is_sweep else run_body(run, pictures.get(("", "large")), {}, False)


def page(content, title, every):
    seconds = max(1, round(every))
    return (f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            f'<title>{escape(title)}</title>'
            f'<noscript><meta http-equiv="refresh" content="{seconds}"></noscript><style>{STYLE}</style></head>'
            f'<body><div id="lost">{escape(LOST)}</div><div id="now">{content}</div>'
            f"<script>{SCRIPT.replace('EVERY', str(round(1000 * every)))}</script></body></html>")
