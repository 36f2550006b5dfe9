#!/usr/bin/python3
"""An mdBook preprocessor: makes the links that leave chapters/ fit the rendered book.

In the raw Markdown a figure is ../diagrams/NAME.svg and a source is ../examples/…, which a reader of the
repository can follow. The rendered book holds the figures (chapters/diagrams leads to them) but not the
sources: there the link becomes its text, with the path."""

import json
import re
import sys
from typing import Any

from ttc.book_text import LINK, find_fences

IMAGE = re.compile(r"(!\[(?:\\.|[^\]\\])*\]\()\.\./diagrams/")
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")


def plain_link(match: re.Match[str]) -> str:
    """The text of a link that leaves the book; the path follows if the text does not name it."""
    text, target = match.group(1), match.group(2)
    if not target.startswith("../"):
        return match.group()
    path = target.removeprefix("../").rstrip("/")
    return text if path in text else f"{text} (`{path}`)"


def convert_line(line: str) -> str:
    line = IMAGE.sub(r"\1diagrams/", line)
    spans = [m.span() for m in CODE.finditer(line)]

    def outside_code(match: re.Match[str]) -> str:
        inside = any(start < match.start() < end for start, end in spans)
        return match.group() if inside else plain_link(match)

    return LINK.sub(outside_code, line)


def convert(text: str) -> str:
    """A chapter as it should be rendered. Fenced code stays as it is."""
    lines = text.split("\n")
    code = {n for fence in find_fences(lines) for n in range(fence.start, fence.end + 1)}
    parts: list[str] = []
    run: list[str] = []
    for number, line in enumerate(lines):
        if number in code:
            parts += [convert_line("\n".join(run))] if run else []
            run = []
            parts.append(line)
        else:
            run.append(line)
    return "\n".join(parts + ([convert_line("\n".join(run))] if run else []))


def walk(node: Any) -> None:
    """Converts every chapter in the book's tree, whatever this mdBook calls the tree's parts."""
    if isinstance(node, list):
        for child in node:
            walk(child)
    elif isinstance(node, dict):
        if isinstance(node.get("content"), str):
            node["content"] = convert(node["content"])
        for child in node.values():
            walk(child)


def main() -> int:
    if sys.argv[1:2] == ["supports"]:
        return 0 if sys.argv[2:3] == ["html"] else 1
    _, book = json.load(sys.stdin)
    walk(book)
    json.dump(book, sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main())
