"""A page of the book as its checks see it: fences, marked blocks, headings, links, sentences."""

import re
from dataclasses import dataclass, field
from pathlib import Path

FENCE = re.compile(r"^(\s*(?:> ?)*)(```+|~~~+)\s*([^`]*)$")
MARKER = re.compile(r"^\s*<!--\s*(listing|transcript)\b\s*(.*?)\s*-->\s*$")
END_MARKER = re.compile(r"^\s*<!--\s*/(listing|transcript)\s*-->\s*$")
HEADING = re.compile(r"^(#{1,6})\s+(.+?)\s*#*\s*$")
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
INLINE_CODE = re.compile(r"(`+)(?!`)((?:(?!\n\s*\n).)+?)(?<!`)\1(?!`)", re.DOTALL)
IMAGE = re.compile(r"!\[((?:\\.|[^\]\\])*)\]\(\s*<?([^)\s>]*)>?(?:\s+\"[^\"]*\")?\s*\)")
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|!?\[[^\]]*\](?:\([^)]*\))?)*)\]"
                  r"\(\s*<?([^)\s>]*)>?(?:\s+\"[^\"]*\")?\s*\)")
HTML_LINK = re.compile(r"<a\s[^>]*href=\"([^\"]*)\"")
HTML_IMAGE = re.compile(r"<img\s[^>]*>")
HTML_ID = re.compile(r"<[a-zA-Z][^>]*\sid=\"([^\"]+)\"")
TAG = re.compile(r"</?[a-zA-Z][^>]*>")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+")
SENTENCE_END = re.compile(r"(?<=[.?!])[\"')\]”’]*\s+(?=[\"'(\[“‘]*[A-Z0-9…])")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|cf|vs|etc|approx)\.")


@dataclass(frozen=True)
class Problem:
    path: str
    line: int
    message: str
    level: str = "error"     # error, warning or skip

    def __str__(self) -> str:
        prefix = {"error": "", "warning": "warning: ", "skip": "SKIP: "}[self.level]
        return f"{self.path}:{self.line}: {prefix}{self.message}"


@dataclass
class Fence:
    start: int               # index of the opening line
    end: int                 # index of the closing line
    info: str
    body: list[str]


@dataclass
class Block:
    """What stands between a marker and its end marker."""
    kind: str
    args: str
    start: int               # index of the marker's line
    end: int                 # index of the end marker's line
    body: list[str]


@dataclass(frozen=True)
class Heading:
    line: int
    level: int
    text: str
    anchor: str


@dataclass
class Page:
    path: Path
    shown: str               # the path as messages give it
    lines: list[str]
    fences: list[Fence] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def add(self, line: int, message: str, level: str = "error") -> None:
        """Notes a problem at a line, which is counted from 1."""
        self.problems.append(Problem(self.shown, line, message, level))

    @property
    def numbered(self) -> bool:
        return re.match(r"\d\d-", self.path.name) is not None


def blank(text: str) -> str:
    """The text's shape without its letters: newlines stay, so line numbers stay."""
    return re.sub(r"[^\n]", " ", text)


def find_fences(lines: list[str]) -> list[Fence]:
    fences, index = [], 0
    while index < len(lines):
        opening = FENCE.match(lines[index])
        index += 1
        if not opening:
            continue
        start, mark = index - 1, opening.group(2)
        while index < len(lines):
            closing = FENCE.match(lines[index])
            if closing and closing.group(2).startswith(mark) and not closing.group(3).strip():
                break
            index += 1
        fences.append(Fence(start, index, opening.group(3).strip(), lines[start + 1:index]))
        index += 1
    return fences


def find_blocks(page: Page) -> list[Block]:
    inside = {n for fence in page.fences for n in range(fence.start, fence.end + 1)}
    blocks: list[Block] = []
    opened: tuple[int, str, str] | None = None
    for number, line in enumerate(page.lines):
        if number in inside:
            continue
        start, end = MARKER.match(line), END_MARKER.match(line)
        if start:
            if opened:
                page.add(opened[0] + 1, f"this {opened[1]} has no end marker")
            opened = (number, start.group(1), start.group(2))
        elif end:
            if not opened or opened[1] != end.group(1):
                page.add(number + 1, f"this end marker has no {end.group(1)} before it")
            else:
                first, kind, args = opened
                blocks.append(Block(kind, args, first, number, page.lines[first + 1:number]))
            opened = None
    if opened:
        page.add(opened[0] + 1, f"this {opened[1]} has no end marker")
    return blocks


def read_page(path: Path, shown: str) -> Page:
    return make_page(path, shown, path.read_text(encoding="utf-8"))


def make_page(path: Path, shown: str, text: str) -> Page:
    page = Page(path, shown, text.splitlines())
    page.fences = find_fences(page.lines)
    page.blocks = find_blocks(page)
    return page


def without_fences(page: Page) -> str:
    """The page's text, with fenced code and comments blanked out."""
    lines = list(page.lines)
    for fence in page.fences:
        for number in range(fence.start, min(fence.end + 1, len(lines))):
            lines[number] = ""
    return COMMENT.sub(lambda m: blank(m.group()), "\n".join(lines))


def prose(page: Page) -> str:
    """Only what a person reads as text: no code, no captions of listings, no marks. Same lines."""
    lines = without_fences(page).split("\n")
    for block in page.blocks:
        for number in range(block.start, block.end + 1):
            lines[number] = ""
    text = INLINE_CODE.sub(lambda m: "Code" + re.sub(r"[^\n]", "", m.group()), "\n".join(lines))
    text = IMAGE.sub("", text)
    text = LINK.sub(lambda m: m.group(1), text)
    text = TAG.sub("", text)
    return re.sub(r"\*\*|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])|\b_|_\b", "", text)


def slug(text: str) -> str:
    """The anchor that mdBook gives to a heading."""
    text = TAG.sub("", LINK.sub(lambda m: m.group(1), text)).replace("`", "").replace("*", "")
    kept = [c.lower() if c.isalnum() or c in "_-" else "-" if c.isspace() else "" for c in text.strip()]
    return "".join(kept)


def headings(page: Page) -> list[Heading]:
    found: list[Heading] = []
    used: dict[str, int] = {}
    for number, line in enumerate(without_fences(page).split("\n")):
        match = HEADING.match(line)
        if match:
            anchor = slug(match.group(2))
            count = used.get(anchor, 0)
            used[anchor] = count + 1
            found.append(Heading(number + 1, len(match.group(1)), match.group(2),
                                 f"{anchor}-{count}" if count else anchor))
    return found


def anchors(page: Page) -> set[str]:
    return {h.anchor for h in headings(page)} | set(HTML_ID.findall(without_fences(page)))


def line_at(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def paragraphs(page: Page) -> list[tuple[int, str]]:
    """Each paragraph, list item and table cell with its first line's number."""
    found: list[tuple[int, list[str]]] = []
    fresh = True
    for number, line in enumerate(prose(page).split("\n")):
        line = re.sub(r"^\s*(?:> ?)+", "", line)
        if not line.strip() or HEADING.match(line) or page.lines[number].strip().startswith("<"):
            fresh = True
            text = re.sub(r"^\s*#+.*", "", line).strip()
            if text:
                found.append((number + 1, [text]))
        elif line.lstrip().startswith("|"):
            found += [(number + 1, [cell]) for cell in line.strip().strip("|").split("|")]
            fresh = True
        elif fresh or ITEM.match(line):
            found.append((number + 1, [ITEM.sub("", line)]))
            fresh = False
        else:
            found[-1][1].append(line)
    return [(number, "\n".join(text)) for number, text in found]


def count_words(text: str) -> int:
    return sum(1 for word in text.split() if any(c.isalnum() for c in word))


def sentences(page: Page) -> list[tuple[int, str]]:
    """Each sentence of the prose with the number of the line on which it begins."""
    found = []
    for number, text in paragraphs(page):
        text = ABBREVIATION.sub(lambda m: m.group(1) + " ", text)
        start = 0
        for end in [*(m.end() for m in SENTENCE_END.finditer(text)), len(text)]:
            sentence = " ".join(text[start:end].split())
            if sentence:
                found.append((number + text.count("\n", 0, start), sentence))
            start = end
    return found
