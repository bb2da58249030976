"""SVG charts for light and dark pages."""

import math
from html import escape

WIDTH = 760
STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #1f2328; }
.title { font-size: 15px; font-weight: 600; }
.quiet { fill: #59636e; font-size: 12px; }
.grid { stroke: #d1d9e0; }
.c0 { fill: #0969da; stroke: #0969da; } .c1 { fill: #bc4c00; stroke: #bc4c00; } .c2 { fill: #8250df; stroke: #8250df; }
.c3 { fill: #1a7f37; stroke: #1a7f37; } .c4 { fill: #6e7781; stroke: #6e7781; } .c5 { fill: #bf3989; stroke: #bf3989; }
.line { stroke-width: 2; }
text.c0, text.c1, text.c2, text.c3, text.c4, text.c5 { stroke: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc; } .quiet { fill: #9198a1; } .grid { stroke: #3d444d; }
  .c0 { fill: #4493f8; stroke: #4493f8; } .c1 { fill: #f0883e; stroke: #f0883e; } .c2 { fill: #ab7df8; stroke: #ab7df8; }
  .c3 { fill: #3fb950; stroke: #3fb950; } .c4 { fill: #9198a1; stroke: #9198a1; } .c5 { fill: #db61a2; stroke: #db61a2; }
}
</style>"""


def svg(height, title, body):
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">'
    return "\n".join([head, STYLE, f"<title>{escape(title)}</title>", text(10, 22, title, "title"), *body, "</svg>"]) + "\n"


def text(x, y, what, kind="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(what)}</text>'


def line(x1, y1, x2, y2):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="grid"/>'


def number(value):
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def bars(title, rows, logarithmic=False):
    """Rows of a label, a value, the text behind the bar, and a color. On a logarithmic scale, bars begin at 1."""
    left, right, step, top = 300, 110, 24, 40
    values = [value for _, value, _, _ in rows if math.isfinite(value)]
    if not values:
        return svg(60, title, [text(10, 45, "not measured", "quiet")])
    scale = (lambda value: math.log10(value)) if logarithmic else (lambda value: value)
    low, high = min(0, *map(scale, values)), max(map(scale, values))
    wide = (WIDTH - left - right) / (high - low or 1)
    zero = left - low * wide
    body = [line(zero, top - 4, zero, top + step * len(rows))]
    for at, (label, value, behind, color) in enumerate(rows):
        y = top + at * step
        body.append(text(left - 10, y + 14, label, anchor="end"))
        if not math.isfinite(value):
            continue
        end = left + (scale(value) - low) * wide
        x, width = min(zero, end), max(abs(end - zero), 1)
        body.append(f'<rect x="{x:.1f}" y="{y + 2}" width="{width:.1f}" height="{step - 8}" class="c{color}"/>')
        body.append(text(max(zero, end) + 6, y + 14, behind, "quiet"))
    return svg(top + step * len(rows) + 14, title, body)


def lines(title, axis, marks, series):
    """Series of a name and one value for each mark. Both axes are logarithmic; each mark is placed at its value."""
    left, right, top, bottom, height = 80, 150, 45, 50, 360
    values = [value for _, all_of in series for value in all_of if math.isfinite(value)]
    if not values:
        return svg(60, title, [text(10, 45, "not measured", "quiet")])
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    places = [math.log10(value) for _, value in marks]
    span = places[-1] - places[0] or 1
    x = [left + (WIDTH - left - right) * (place - places[0]) / span for place in places]

    def y(value):
        return height - bottom - (height - top - bottom) * (math.log10(value) - low) / (high - low or 1)

    body = []
    for power in range(low, high + 1):
        body += [line(left, y(10**power), WIDTH - right, y(10**power)), text(left - 8, y(10**power) + 4, number(10**power), "quiet", "end")]
    body += [text(at, height - bottom + 18, name, "quiet", "middle") for at, (name, _) in zip(x, marks)]
    body.append(text(left, height - 10, axis, "quiet"))
    names = []
    for color, (name, all_of) in enumerate(series):
        points = [(at, y(value)) for at, value in zip(x, all_of) if math.isfinite(value)]
        if not points:
            continue
        path = " ".join(f"{at:.1f},{to:.1f}" for at, to in points)
        body.append(f'<polyline points="{path}" class="line c{color % 6}" style="fill:none"/>')
        body += [f'<circle cx="{at:.1f}" cy="{to:.1f}" r="3" class="c{color % 6}"/>' for at, to in points]
        names.append([points[-1][1], name, color])
    names.sort()
    for above, below in zip(names, names[1:]):
        below[0] = max(below[0], above[0] + 15)
    body += [text(WIDTH - right + 8, to + 4, name, f"c{color % 6}") for to, name, color in names]
    return svg(height, title, body)
