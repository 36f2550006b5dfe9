"""Reads an .excalidraw file and says what in it the renderer cannot draw."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ttc import figure_palette as palette
from ttc import figure_text

SHAPES = {"rectangle", "ellipse", "diamond"}
LINES = {"arrow", "line"}
IGNORED = {"frame"}
HEADS = {None, "arrow", "triangle", "dot"}
STYLES = {"solid", "dashed", "dotted"}
COMMON = ("id", "type", "x", "y", "width", "height", "strokeColor", "backgroundColor", "fillStyle",
          "strokeWidth", "strokeStyle", "roughness", "opacity", "angle", "seed", "version",
          "versionNonce", "isDeleted", "groupIds", "boundElements", "updated", "link", "locked")
OWN = {
    "text": ("text", "fontSize", "fontFamily", "textAlign", "verticalAlign", "containerId",
             "originalText", "lineHeight"),
    "arrow": ("points", "startArrowhead", "endArrowhead"),
    "line": ("points", "startArrowhead", "endArrowhead"),
}

Element = dict[str, Any]


class FigureError(Exception):
    """The figure cannot be drawn, or would be hard to read. Holds one message for each problem."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


@dataclass
class Figure:
    alt: str
    elements: list[Element]

    def by_id(self, element_id: str | None) -> Element | None:
        return next((e for e in self.elements if e["id"] == element_id), None)


def name_of(element: Element) -> str:
    """What a person would call the element, for messages."""
    if element.get("type") == "text":
        return f'text "{element["text"].splitlines()[0] if element["text"] else ""}"'
    return f'{element.get("type")} {element.get("id")}'


def check_element(element: Element) -> list[str]:
    kind = element.get("type")
    if kind not in SHAPES | LINES | {"text"}:
        return [f"element {element.get('id')}: type {kind!r} is not supported"]
    missing = [key for key in COMMON + OWN.get(kind, ()) if key not in element]
    if missing:
        return [f"{kind} {element.get('id')}: Excalidraw needs the fields {', '.join(missing)}"]
    name, problems = name_of(element), []
    if element["strokeColor"] not in palette.STROKES:
        problems.append(f"{name}: the stroke {element['strokeColor']} is not in the palette")
    if element["backgroundColor"] not in palette.FILLS:
        problems.append(f"{name}: the fill {element['backgroundColor']} is not in the palette")
    elif element["backgroundColor"] != palette.TRANSPARENT and element["fillStyle"] != "solid":
        problems.append(f"{name}: the fill style must be solid, not {element['fillStyle']}")
    if element["strokeStyle"] not in STYLES:
        problems.append(f"{name}: unknown stroke style {element['strokeStyle']}")
    if element["angle"] != 0:
        problems.append(f"{name}: rotation is not supported")
    if kind == "text" and element["fontFamily"] not in figure_text.STACKS:
        problems.append(f"{name}: font family {element['fontFamily']} is neither 2 (sans) nor 3 (mono)")
    if kind in LINES:
        for end in ("startArrowhead", "endArrowhead"):
            if element[end] not in HEADS:
                problems.append(f"{name}: arrowhead {element[end]!r} is not supported")
    return problems


def parse(text: str) -> Figure:
    """The figure in an .excalidraw file's text. Raises FigureError."""
    try:
        scene = json.loads(text)
    except json.JSONDecodeError as error:
        raise FigureError([f"not JSON: {error}"]) from error
    if scene.get("type") != "excalidraw" or scene.get("version") != 2 or "appState" not in scene:
        raise FigureError(["not an Excalidraw file: type, version 2 and appState are needed"])
    alt = scene.get("alt", "")
    problems = []
    if not alt or alt != " ".join(alt.split()):
        problems.append('the top-level key "alt" must hold the alt text, on one line '
                        '(Excalidraw drops it on saving: put it back)')
    elements = [e for e in scene.get("elements", []) if not e.get("isDeleted")
                and e.get("type") not in IGNORED]
    if not elements:
        problems.append("there is nothing to draw")
    for element in elements:
        problems += check_element(element)
    ids = [e.get("id") for e in elements]
    problems += [f"two elements have the id {i}" for i in sorted({i for i in ids if ids.count(i) > 1})]
    if problems:
        raise FigureError(problems)
    return Figure(alt, elements)


def load(path: Path) -> Figure:
    return parse(path.read_text(encoding="utf-8"))
