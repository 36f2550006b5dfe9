#!/usr/bin/python3
"""The figure renderer: what it draws, and each thing that it must refuse."""

import json
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path
from subprocess import run
from typing import Any

SCRIPTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SCRIPTS))

from ttc import figure_layout, figure_palette, figure_svg, figure_text  # noqa: E402
from ttc.figure_model import FigureError, parse  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
KERNEL = figure_palette.ROLES["kernel"]


def element(kind: str, **own: Any) -> dict[str, Any]:
    base = {"id": f"{kind}-{own.get('x', 0)}-{own.get('y', 0)}", "type": kind, "x": 0, "y": 0, "angle": 0,
            "width": 200, "height": 80, "strokeColor": figure_palette.INK, "backgroundColor": "transparent",
            "fillStyle": "solid", "strokeWidth": 2, "strokeStyle": "solid", "roughness": 0, "opacity": 100,
            "groupIds": [], "frameId": None, "roundness": None, "seed": 1, "version": 1, "versionNonce": 1,
            "isDeleted": False, "boundElements": [], "updated": 1, "link": None, "locked": False}
    return {**base, **own}


def text(words: str, **own: Any) -> dict[str, Any]:
    width, height = figure_text.text_size(words, own.get("fontSize", 16))
    base = {"text": words, "originalText": words, "fontSize": 16, "fontFamily": 2, "textAlign": "left",
            "verticalAlign": "top", "containerId": None, "lineHeight": 1.25, "width": width, "height": height}
    return element("text", **{**base, **own})


def arrow(points: list[list[float]], **own: Any) -> dict[str, Any]:
    return element("arrow", **{"points": points, "startArrowhead": None, "endArrowhead": "triangle", **own})


def scene(*elements: dict[str, Any], **own: Any) -> str:
    return json.dumps({"type": "excalidraw", "version": 2, "source": "x", "alt": "A figure. It shows it.",
                       "elements": list(elements), "appState": {}, "files": {}, **own})


def draw(*elements: dict[str, Any], **own: Any) -> xml.Element:
    return xml.fromstring(figure_svg.render(parse(scene(*elements, **own))))


class Drawing(unittest.TestCase):
    def test_title_and_description_come_from_alt(self) -> None:
        svg = draw(element("rectangle"), alt="One & only. All <of> it.")
        self.assertEqual(svg.find(f"{SVG}title").text, "One & only")
        self.assertEqual(svg.find(f"{SVG}desc").text, "One & only. All <of> it.")
        self.assertEqual(svg.get("role"), "img")

    def test_the_panel_lies_under_everything(self) -> None:
        svg = draw(element("rectangle"))
        panel = svg.find(f"{SVG}rect")
        self.assertEqual(panel.get("fill"), figure_palette.PAPER)
        self.assertEqual((svg.get("width"), panel.get("width")), ("720", "720"))

    def test_each_shape(self) -> None:
        svg = draw(element("rectangle", roundness={"type": 3}, backgroundColor=KERNEL[1]),
                   element("ellipse", x=300), element("diamond", y=200))
        self.assertEqual(svg.findall(f"{SVG}rect")[1].get("fill"), KERNEL[1])
        self.assertEqual(svg.findall(f"{SVG}rect")[1].get("rx"), "10")
        self.assertEqual(svg.find(f"{SVG}ellipse").get("cx"), "400")
        self.assertEqual(svg.find(f"{SVG}polygon").get("points"), "100,200 200,240 100,280 0,240")

    def test_arrowheads_point_along_the_last_stretch(self) -> None:
        svg = draw(arrow([[0, 0], [100, 0], [100, 50]], startArrowhead="dot"))
        self.assertEqual(svg.find(f"{SVG}path").get("d"), "M5 0 L100 0 L100 45")
        self.assertTrue(svg.find(f"{SVG}polygon").get("points").startswith("100,50 "))
        self.assertEqual(svg.find(f"{SVG}circle").get("cx"), "0")

    def test_dashes_and_opacity(self) -> None:
        path = draw(arrow([[0, 0], [100, 0]], strokeStyle="dashed", opacity=50)).find(f"{SVG}path")
        self.assertEqual((path.get("stroke-dasharray"), path.get("opacity")), ("8 5", "0.5"))

    def test_bound_text_is_centred_in_its_container(self) -> None:
        box = element("rectangle", id="box", x=100, y=100)
        lines = draw(box, text("one\nlonger", containerId="box", textAlign="center",
                               verticalAlign="middle")).findall(f"{SVG}text")
        self.assertEqual([line.text for line in lines], ["one", "longer"])
        self.assertEqual({line.get("x") for line in lines}, {"200"})
        self.assertEqual({line.get("text-anchor") for line in lines}, {"middle"})

    def test_right_alignment_keeps_the_right_edge(self) -> None:
        line = draw(text("abc", x=50, textAlign="right", width=100)).find(f"{SVG}text")
        self.assertEqual((line.get("x"), line.get("text-anchor")), ("150", "end"))

    def test_frames_and_deleted_elements_are_not_drawn(self) -> None:
        svg = draw(element("rectangle"), {"type": "frame", "id": "f"}, element("ellipse", isDeleted=True))
        self.assertIsNone(svg.find(f"{SVG}ellipse"))

    def test_the_same_source_gives_the_same_bytes(self) -> None:
        source = scene(element("rectangle"), text("x", x=300))
        self.assertEqual(figure_svg.render(parse(source)), figure_svg.render(parse(source)))


class Refusing(unittest.TestCase):
    def refuse(self, message: str, *elements: dict[str, Any], **own: Any) -> None:
        with self.assertRaisesRegex(FigureError, message):
            draw(*elements, **own)

    def test_small_text(self) -> None:
        self.refuse("13.0 px high at 720 px", text("small", fontSize=13))

    def test_text_made_small_by_a_wide_drawing(self) -> None:
        self.refuse("px high at 720 px", text("small"), element("rectangle", y=100, width=1500))

    def test_text_that_overflows_its_container(self) -> None:
        box = element("rectangle", id="box", width=60)
        self.refuse("overflows its rectangle box", box, text("far too long a text", containerId="box"))
        self.refuse("overflows its ellipse e", element("ellipse", id="e"),
                    text("fits a box only, not it", containerId="e"))

    def test_texts_that_overlap(self) -> None:
        self.refuse('text "one" overlaps text "two"', text("one"), text("two", x=10, y=10))

    def test_text_over_an_edge_or_a_line(self) -> None:
        self.refuse("runs over the edge of rectangle", element("rectangle"), text("edge", x=190, y=30))
        self.refuse("is crossed by arrow", arrow([[0, 0], [200, 100]]), text("crossed", x=80, y=40))

    def test_colours_outside_the_palette(self) -> None:
        self.refuse("stroke #ff0000 is not in the palette", element("rectangle", strokeColor="#ff0000"))
        self.refuse("fill #ff0000 is not in the palette", element("rectangle", backgroundColor="#ff0000"))

    def test_what_cannot_be_drawn(self) -> None:
        self.refuse("type 'image' is not supported", element("image"))
        self.refuse("rotation is not supported", element("rectangle", angle=1))
        self.refuse("fill style must be solid", element("rectangle", backgroundColor=KERNEL[1],
                                                        fillStyle="hachure"))
        self.refuse("font family 1", text("x", fontFamily=1))
        self.refuse("arrowhead 'bar'", arrow([[0, 0], [9, 9]], endArrowhead="bar"))
        self.refuse("which does not exist", text("x", containerId="nowhere"))

    def test_files_that_excalidraw_would_not_open(self) -> None:
        broken = element("rectangle")
        del broken["seed"]
        self.refuse("needs the fields seed", broken)
        self.refuse("alt", element("rectangle"), alt="")
        self.refuse("not an Excalidraw file", element("rectangle"), version=1)
        self.refuse("two elements have the id", element("rectangle"), element("rectangle"))


class Palette(unittest.TestCase):
    def test_contrast_is_wcag_s(self) -> None:
        self.assertAlmostEqual(figure_palette.contrast("#000000", "#ffffff"), 21.0)

    def test_every_colour_can_be_read_where_it_is_used(self) -> None:
        for role, (stroke, fill) in figure_palette.ROLES.items():
            for one, other in ((stroke, figure_palette.PAPER), (stroke, fill), (figure_palette.INK, fill)):
                self.assertGreaterEqual(figure_palette.contrast(one, other), 4.5, (role, one, other))
        self.assertGreaterEqual(figure_palette.contrast(figure_palette.MUTED, figure_palette.PAPER), 4.5)


class Layout(unittest.TestCase):
    def test_a_stroke_crosses_a_box_or_passes_it(self) -> None:
        box = figure_layout.Box(0, 0, 10, 10)
        self.assertTrue(figure_layout.crosses(box, (-5, 5), (15, 5)))
        self.assertFalse(figure_layout.crosses(box, (-5, 20), (15, 20)))
        self.assertFalse(figure_layout.crosses(box, (-5, 5), (-1, 5)))

    def test_an_arrow_s_label_stands_half_way(self) -> None:
        self.assertEqual(figure_layout.middle_of([(0, 0), (100, 0), (100, 20)]), (60, 0))


class Command(unittest.TestCase):
    def figure(self, *args: str) -> tuple[int, str]:
        done = run(["/usr/bin/python3", str(SCRIPTS / "figure.py"), *args], capture_output=True, text=True,
                   timeout=30)
        return done.returncode, done.stdout + done.stderr

    def test_render_check_and_a_stale_drawing(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "a.excalidraw"
            source.write_text(scene(element("rectangle")), encoding="utf-8")
            self.assertEqual(self.figure("--check", str(source))[0], 1)
            self.assertEqual(self.figure(str(source))[0], 0)
            self.assertEqual(self.figure("--check", str(source))[0], 0)
            source.write_text(scene(element("ellipse")), encoding="utf-8")
            status, said = self.figure("--check", str(source))
            self.assertEqual(status, 1)
            self.assertIn("does not agree with its source", said)

    def test_a_refused_figure_names_the_file(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "a.excalidraw"
            source.write_text("{", encoding="utf-8")
            status, said = self.figure(str(source))
            self.assertEqual(status, 1)
            self.assertIn("a.excalidraw: not JSON", said)


if __name__ == "__main__":
    unittest.main()
