"""Draws a figure as SVG: straight clean strokes, nothing random, the same bytes every time."""

from html import escape
from pathlib import Path

from ttc import figure_layout as layout
from ttc import figure_palette as palette
from ttc import figure_text
from ttc.figure_model import LINES, Element, Figure, FigureError, load

CORNER = 10          # radius of a rounded rectangle, and of the panel
HEAD = 10            # length of an arrowhead
DASHES = {"solid": "", "dashed": ' stroke-dasharray="8 5"', "dotted": ' stroke-dasharray="1.5 5"'}
ANCHORS = {"left": "start", "center": "middle", "right": "end"}
BASELINE = 0.97      # from the top of a line to its baseline, in font sizes, at LINE_HEIGHT


def num(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def attributes(element: Element, fill: str) -> str:
    opacity = "" if element["opacity"] == 100 else f' opacity="{num(element["opacity"] / 100)}"'
    return (f'fill="{"none" if fill == palette.TRANSPARENT else fill}" stroke="{element["strokeColor"]}" '
            f'stroke-width="{num(element["strokeWidth"])}"{DASHES[element["strokeStyle"]]}{opacity}')


def draw_shape(element: Element) -> str:
    x, y, w, h = (element[key] for key in ("x", "y", "width", "height"))
    style = attributes(element, element["backgroundColor"])
    if element["type"] == "rectangle":
        radius = f' rx="{CORNER}"' if element.get("roundness") else ""
        return f'<rect x="{num(x)}" y="{num(y)}" width="{num(w)}" height="{num(h)}"{radius} {style}/>'
    if element["type"] == "ellipse":
        return (f'<ellipse cx="{num(x + w / 2)}" cy="{num(y + h / 2)}" rx="{num(w / 2)}" '
                f'ry="{num(h / 2)}" {style}/>')
    corners = [(x + w / 2, y), (x + w, y + h / 2), (x + w / 2, y + h), (x, y + h / 2)]
    return f'<polygon points="{" ".join(f"{num(a)},{num(b)}" for a, b in corners)}" {style}/>'


def toward(start: layout.Point, end: layout.Point, distance: float) -> layout.Point:
    """The point at a distance from start in the direction of end."""
    length = ((end[0] - start[0]) ** 2 + (end[1] - start[1]) ** 2) ** 0.5 or 1.0
    return (start[0] + (end[0] - start[0]) * distance / length,
            start[1] + (end[1] - start[1]) * distance / length)


def line_path(points: list[layout.Point], rounded: bool) -> str:
    path = f"M{num(points[0][0])} {num(points[0][1])}"
    for before, corner, after in zip(points, points[1:], points[2:]):
        if not rounded:
            path += f" L{num(corner[0])} {num(corner[1])}"
            continue
        enter, leave = toward(corner, before, CORNER), toward(corner, after, CORNER)
        path += (f" L{num(enter[0])} {num(enter[1])} Q{num(corner[0])} {num(corner[1])} "
                 f"{num(leave[0])} {num(leave[1])}")
    return path + f" L{num(points[-1][0])} {num(points[-1][1])}"


def draw_head(kind: str, tip: layout.Point, behind: layout.Point, element: Element) -> str:
    colour = element["strokeColor"]
    if kind == "dot":
        return f'<circle cx="{num(tip[0])}" cy="{num(tip[1])}" r="4" fill="{colour}"/>'
    base = toward(tip, behind, HEAD)
    across = ((base[1] - tip[1]) * 0.45, (tip[0] - base[0]) * 0.45)
    corners = [tip, (base[0] + across[0], base[1] + across[1]), (base[0] - across[0], base[1] - across[1])]
    return (f'<polygon points="{" ".join(f"{num(x)},{num(y)}" for x, y in corners)}" '
            f'fill="{colour}"/>')


def draw_line(element: Element) -> str:
    points = layout.points_of(element)
    parts, shaft = [], list(points)
    for key, end, neighbour in (("startArrowhead", 0, 1), ("endArrowhead", -1, -2)):
        if element[key]:
            parts.append(draw_head(element[key], points[end], points[neighbour], element))
            # the shaft ends inside the head, so that its square end does not blunt the tip
            shaft[end] = toward(points[end], points[neighbour], HEAD / 2)
    path = line_path(shaft, bool(element.get("roundness")))
    return "".join([f'<path d="{path}" {attributes(element, palette.TRANSPARENT)}/>', *parts])


def draw_text(placed: layout.PlacedText) -> str:
    element, box = placed.element, placed.box
    size, family = element["fontSize"], element["fontFamily"]
    align = "center" if placed.container and placed.container["type"] in LINES else element["textAlign"]
    x = {"left": box.left, "center": (box.left + box.right) / 2, "right": box.right}[align]
    parts = []
    if placed.container and placed.container["type"] in LINES:
        parts.append(f'<rect x="{num(box.left - 3)}" y="{num(box.top)}" '
                     f'width="{num(box.right - box.left + 6)}" '
                     f'height="{num(box.bottom - box.top)}" fill="{palette.PAPER}"/>')
    opacity = "" if element["opacity"] == 100 else f' opacity="{num(element["opacity"] / 100)}"'
    for number, line in enumerate(element["text"].split("\n")):
        y = box.top + size * (BASELINE + number * figure_text.LINE_HEIGHT)
        parts.append(f'<text x="{num(x)}" y="{num(y)}" font-family="{figure_text.STACKS[family]}" '
                     f'font-size="{num(size)}" fill="{element["strokeColor"]}" '
                     f'text-anchor="{ANCHORS[align]}" xml:space="preserve"{opacity}>'
                     f'{escape(line, quote=False)}</text>')
    return "\n".join(parts)


def title_of(alt: str) -> str:
    """The first sentence of the alt text."""
    return alt.split(". ")[0].rstrip(".")


def render(figure: Figure) -> str:
    """The SVG's text. Raises FigureError when the figure would be hard to read."""
    problems = layout.check(figure)
    if problems:
        raise FigureError(problems)
    area = layout.bounds(figure)
    width = max(layout.WIDTH, area.right - area.left + 2 * layout.MARGIN)
    height = area.bottom - area.top + 2 * layout.MARGIN
    left = area.left - (width - (area.right - area.left)) / 2
    top = area.top - layout.MARGIN
    shown = num(height * layout.WIDTH / width)
    texts = {text.element["id"]: text for text in layout.place_texts(figure)}
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc" '
        f'width="{layout.WIDTH}" height="{shown}" '
        f'viewBox="{num(left)} {num(top)} {num(width)} {num(height)}">',
        f'<title id="title">{escape(title_of(figure.alt), quote=False)}</title>',
        f'<desc id="desc">{escape(figure.alt, quote=False)}</desc>',
        f'<rect x="{num(left)}" y="{num(top)}" width="{num(width)}" height="{num(height)}" '
        f'rx="{CORNER}" fill="{palette.PAPER}"/>',
    ]
    for element in figure.elements:
        if element["type"] == "text":
            out.append(draw_text(texts[element["id"]]))
        else:
            out.append(draw_line(element) if element["type"] in LINES else draw_shape(element))
    return "\n".join(out) + "\n</svg>\n"


def render_file(source: Path) -> str:
    return render(load(source))
