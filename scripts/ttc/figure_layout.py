"""Where everything in a figure stands, and whether its text can be read there."""

from dataclasses import dataclass

from ttc import figure_text
from ttc.figure_model import LINES, SHAPES, Element, Figure, name_of

WIDTH = 720        # the width at which the book shows a figure
MARGIN = 24        # paper around the drawing
SMALLEST = 14      # of text, in pixels, when the figure is WIDTH wide
PADDING = 5        # between a container's edge and its text, as Excalidraw has it
SLACK = 1.0        # an overlap thinner than this is no overlap

Point = tuple[float, float]


@dataclass(frozen=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: "Box") -> bool:
        return (min(self.right, other.right) - max(self.left, other.left) > SLACK
                and min(self.bottom, other.bottom) - max(self.top, other.top) > SLACK)

    def contains(self, other: "Box") -> bool:
        return (other.left >= self.left - SLACK and other.right <= self.right + SLACK
                and other.top >= self.top - SLACK and other.bottom <= self.bottom + SLACK)


@dataclass(frozen=True)
class PlacedText:
    element: Element
    box: Box
    container: Element | None


def points_of(element: Element) -> list[Point]:
    return [(element["x"] + dx, element["y"] + dy) for dx, dy in element["points"]]


def box_of(element: Element) -> Box:
    if element["type"] in LINES:
        xs, ys = zip(*points_of(element))
        return Box(min(xs), min(ys), max(xs), max(ys))
    return Box(element["x"], element["y"], element["x"] + element["width"],
               element["y"] + element["height"])


def middle_of(points: list[Point]) -> Point:
    """The point half way along a line: where its label stands."""
    lengths = [((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5 for (x1, y1), (x2, y2) in zip(points, points[1:])]
    rest = sum(lengths) / 2
    for length, (x1, y1), (x2, y2) in zip(lengths, points, points[1:]):
        if rest <= length and length > 0:
            return x1 + (x2 - x1) * rest / length, y1 + (y2 - y1) * rest / length
        rest -= length
    return points[-1]


def inner_box(container: Element) -> Box:
    """The part of a container in which text may stand."""
    box = box_of(container)
    width, height = box.right - box.left, box.bottom - box.top
    share = {"ellipse": (1 - 0.5 ** 0.5) / 2, "diamond": 0.25}.get(container["type"], 0.0)
    dx, dy = width * share + PADDING, height * share + PADDING
    return Box(box.left + dx, box.top + dy, box.right - dx, box.bottom - dy)


def place(text: Element, container: Element | None) -> Box:
    """The box of a text: centred in what it is bound to, else where it was put."""
    width, height = figure_text.text_size(text["text"], text["fontSize"], text["fontFamily"])
    if container is None:
        spare = {"left": 0.0, "center": 0.5, "right": 1.0}[text["textAlign"]]
        left = text["x"] + (text["width"] - width) * spare
        return Box(left, text["y"], left + width, text["y"] + height)
    if container["type"] in LINES:
        x, y = middle_of(points_of(container))
        return Box(x - width / 2, y - height / 2, x + width / 2, y + height / 2)
    room = inner_box(container)
    across = {"left": 0.0, "center": 0.5, "right": 1.0}[text["textAlign"]]
    down = {"top": 0.0, "middle": 0.5, "bottom": 1.0}[text["verticalAlign"]]
    left = room.left + (room.right - room.left - width) * across
    top = room.top + (room.bottom - room.top - height) * down
    return Box(left, top, left + width, top + height)


def place_texts(figure: Figure) -> list[PlacedText]:
    placed = []
    for element in figure.elements:
        if element["type"] == "text":
            container = figure.by_id(element["containerId"])
            placed.append(PlacedText(element, place(element, container), container))
    return placed


def bounds(figure: Figure) -> Box:
    boxes = [box_of(e) for e in figure.elements if e["type"] != "text"]
    boxes += [text.box for text in place_texts(figure)]
    return Box(min(b.left for b in boxes), min(b.top for b in boxes),
               max(b.right for b in boxes), max(b.bottom for b in boxes))


def crosses(box: Box, start: Point, end: Point) -> bool:
    """Does a straight stroke run through the box? (Liang and Barsky's clipping.)"""
    first, last = 0.0, 1.0
    dx, dy = end[0] - start[0], end[1] - start[1]
    for step, room in ((-dx, start[0] - box.left - SLACK), (dx, box.right - SLACK - start[0]),
                       (-dy, start[1] - box.top - SLACK), (dy, box.bottom - SLACK - start[1])):
        if step == 0:
            if room < 0:
                return False
        elif step < 0:
            first = max(first, room / step)
        else:
            last = min(last, room / step)
    return first < last


def check_text_against_shapes(figure: Figure, text: PlacedText) -> list[str]:
    problems = []
    for other in figure.elements:
        if other is text.container or other["type"] == "text":
            continue
        if other["type"] in SHAPES:
            box = box_of(other)
            if text.box.overlaps(box) and not box.contains(text.box):
                problems.append(f"{name_of(text.element)} runs over the edge of {name_of(other)}")
        else:
            points = points_of(other)
            if any(crosses(text.box, a, b) for a, b in zip(points, points[1:])):
                problems.append(f"{name_of(text.element)} is crossed by {name_of(other)}")
    return problems


def check(figure: Figure) -> list[str]:
    """Everything that would make the figure's text hard to read."""
    problems, texts = [], place_texts(figure)
    area = bounds(figure)
    scale = min(1.0, WIDTH / (area.right - area.left + 2 * MARGIN))
    for index, text in enumerate(texts):
        name, shown = name_of(text.element), text.element["fontSize"] * scale
        if shown < SMALLEST:
            problems.append(f"{name} is {shown:.1f} px high at {WIDTH} px width; at least {SMALLEST} px")
        if text.element["containerId"] and text.container is None:
            problems.append(f"{name} is bound to {text.element['containerId']}, which does not exist")
        elif text.container and text.container["type"] in SHAPES:
            room = inner_box(text.container)
            if not room.contains(text.box):
                problems.append(
                    f"{name} overflows its {name_of(text.container)}: it needs "
                    f"{text.box.right - text.box.left:.0f} x {text.box.bottom - text.box.top:.0f} px and has "
                    f"{room.right - room.left:.0f} x {room.bottom - room.top:.0f} px")
        for other in texts[index + 1:]:
            if text.box.overlaps(other.box):
                problems.append(f"{name} overlaps {name_of(other.element)}")
        problems += check_text_against_shapes(figure, text)
    return problems
