"""Links, images and figures of the chapters."""

import os
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote

from ttc import figure_svg
from ttc.book_text import (HTML_IMAGE, HTML_LINK, IMAGE, INLINE_CODE, LINK, Page, anchors, blank, line_at,
                           read_page, without_fences)
from ttc.figure_model import FigureError, load

FIGURES, PLOTS = "diagrams", "diagrams/plots"


def linkable(page: Page) -> str:
    return INLINE_CODE.sub(lambda m: blank(m.group()), without_fences(page))


@lru_cache
def anchors_of(path: Path) -> frozenset[str]:
    return frozenset(anchors(read_page(path, path.name)))


def check_link(page: Page, line: int, target: str, root: Path) -> None:
    if target.startswith(("http://", "https://", "mailto:")):
        return
    where, _, anchor = unquote(target).partition("#")
    path = Path(os.path.normpath(page.path.parent / where)) if where else page.path
    if not path.is_relative_to(root):
        page.add(line, f"the link {target} leads out of the project")
    elif not path.exists():
        page.add(line, f"dead link: {target} does not exist")
    elif anchor and path.suffix == ".md":
        known = anchors(page) if path == page.path else anchors_of(path)
        if anchor not in known:
            page.add(line, f"dead link: {path.name} has no heading #{anchor}")


def check_links(page: Page, root: Path) -> int:
    text = linkable(page)
    found = [(m.start(), m.group(2)) for m in LINK.finditer(text)]
    found += [(m.start(), m.group(1)) for m in HTML_LINK.finditer(text)]
    summary = page.path.name == "SUMMARY.md"
    checked = 0
    for offset, target in found:
        if not target and summary:
            continue     # a draft chapter
        checked += 1
        if target:
            check_link(page, line_at(text, offset), target, root)
        else:
            page.add(line_at(text, offset), "a link without a target")
    return checked


def check_figure(page: Page, line: int, alt: str, svg: Path) -> None:
    """A figure has one source, from which come both its drawing and its alt text."""
    source = svg.with_suffix(".excalidraw")
    if not source.is_file():
        page.add(line, f"the figure {svg.name} has no {source.name} beside it")
        return
    try:
        figure = load(source)
        if svg.read_text(encoding="utf-8") != figure_svg.render(figure):
            page.add(line, f"{svg.name} does not agree with {source.name}; run scripts/figure.py")
    except FigureError as error:
        page.add(line, f"{source.name}: {error.problems[0]}")
        return
    if " ".join(alt.split()) != figure.alt:
        page.add(line, f"the alt text differs from \"alt\" in {source.name}, which reads:\n    {figure.alt}")


def check_image(page: Page, line: int, alt: str, target: str, root: Path) -> Path | None:
    if not alt.strip():
        page.add(line, f"the image {target} has no alt text")
    path = Path(os.path.normpath(page.path.parent / unquote(target)))
    if not path.is_file():
        page.add(line, f"the image {target} does not exist")
        return None
    if not path.is_relative_to(root / FIGURES):
        page.add(line, f"the image {target} must be given as ../{FIGURES}/NAME.svg")
        return None
    if not path.is_relative_to(root / PLOTS):
        check_figure(page, line, alt, path)
    return path


def check_images(page: Page, root: Path) -> set[Path]:
    """Checks each image; returns those that are there."""
    text = linkable(page)
    used = set()
    for match in IMAGE.finditer(text):
        path = check_image(page, line_at(text, match.start()), match.group(1), match.group(2), root)
        if path:
            used.add(path)
    for match in HTML_IMAGE.finditer(text):
        page.add(line_at(text, match.start()), "write an image as ![alt](../diagrams/NAME.svg), not as HTML")
    return used
