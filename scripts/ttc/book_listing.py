"""Listings: the part of a source file that a marker in a chapter names, and how it is shown."""

import difflib
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

from ttc import book_cpp
from ttc.book_text import Block, Page

LANGUAGES = {".cpp": "cpp", ".hpp": "cpp", ".lua": "lua", ".py": "python", ".sh": "bash", ".go": "go",
             ".rs": "rust", ".toml": "toml", ".json": "json", ".cmake": "cmake", ".js": "javascript"}
COMMENTS = {"lua": "--", "python": "#", "bash": "#", "cmake": "#", "toml": "#"}
SHORT, LONG, TOO_LONG = 5, 30, 45
ARGS = re.compile(r"^(\S+)\s+(.+?)(\s+bare)?$")
SLICE = re.compile(r'^"(.+?)"\s*(?:…|\.\.\.)\s*"(.+?)"$')
OPENERS = [r"^(\s*)(?:local\s+)?function\s+{name}\s*\(", r"^(\s*)(?:async\s+)?(?:def|class)\s+{name}\b",
           r"^(\s*)(?:function\s+)?{name}\s*\(\)\s*\{{", r"^(\s*)func\s+(?:\([^)]*\)\s*)?{name}\s*\(",
           r"^(\s*)(?:pub\s+)?(?:async\s+)?(?:fn|struct|enum|impl|trait)\s+{name}\b",
           r"^(\s*)(?:local\s+)?{name}\s*=\s*function\b", r"^(\s*)(?:function|macro)\({name}\b"]


class ListingError(Exception):
    pass


@dataclass(frozen=True)
class Piece:
    start: int       # first line, counted from 0
    end: int         # last line
    label: str       # what the caption says after the path


def with_comments(lines: list[str], start: int, mark: str) -> int:
    """The first line of the comment directly above a definition, else the definition's own."""
    while start > 0:
        above = lines[start - 1].strip()
        if mark == "//" and above.endswith("*/"):
            opening = start - 1
            while opening > 0 and not lines[opening].lstrip().startswith("/*"):
                opening -= 1
            start = opening
        elif above.startswith(mark) and not above.startswith("#!"):
            start -= 1
        else:
            break
    return start


def find_in_cpp(code: str, name: str) -> tuple[int, int]:
    hits = [d for d in book_cpp.definitions(code) if d.name == name or d.name.endswith("::" + name)]
    for better in (lambda d: d.has_body, lambda d: d.name == name):
        hits = [d for d in hits if better(d)] or hits
    if not hits:
        raise ListingError(f"there is no definition of {name}")
    if len(hits) > 1:
        lines = ", ".join(str(d.start + 1) for d in hits)
        raise ListingError(f"{name} is defined more than once (lines {lines}); use a slice")
    return hits[0].start, hits[0].end


def find_elsewhere(lines: list[str], name: str) -> tuple[int, int]:
    """A definition in a language whose blocks end at the indentation of their first line."""
    patterns = [re.compile(opener.format(name=re.escape(name))) for opener in OPENERS]
    hits = [(n, m.group(1)) for n, line in enumerate(lines) for p in patterns if (m := p.match(line))]
    if len(hits) != 1:
        raise ListingError(f"{name} is defined {len(hits)} times; a name must have one definition")
    start, indent = hits[0]
    end = start
    for number in range(start + 1, len(lines)):
        line = lines[number]
        if line.strip() and not line.startswith((indent + " ", indent + "\t")):
            closes = re.match(re.escape(indent) + r"(end|\}|\)|endfunction|endmacro)", line)
            return start, number if closes else end
        if line.strip():
            end = number
    return start, end


def find_slice(lines: list[str], first: str, last: str, after: int) -> tuple[int, int]:
    starts = [n for n, line in enumerate(lines) if first in line]
    later = [n for n in starts if n > after]
    if not starts:
        raise ListingError(f'no line contains "{first}"')
    if len(starts) > 1 and (after < 0 or not later):
        raise ListingError(f'{len(starts)} lines contain "{first}"; it must be unique')
    start = starts[0] if len(starts) == 1 else later[0]
    for end in range(start, len(lines)):
        if last in lines[end]:
            return start, end
    raise ListingError(f'no line contains "{last}" after line {start + 1}')


def around(code: str, start: int, suffix: str) -> str:
    """The function in which a slice stands, for its caption."""
    if LANGUAGES.get(suffix) != "cpp":
        return ""
    holders = [d for d in book_cpp.definitions(code) if d.has_body and d.start <= start <= d.end]
    return f", in `{min(holders, key=lambda d: d.end - d.start).name}`" if holders else ""


def find(path: Path, selector: str, bare: bool, after: int) -> Piece:
    code = path.read_text(encoding="utf-8")
    lines = code.splitlines()
    cut = SLICE.match(selector)
    if cut:
        start, end = find_slice(lines, cut.group(1), cut.group(2), after)
        label = around(code, start, path.suffix)
        if not bare:
            start, end = max(0, start - 1), min(len(lines) - 1, end + 1)
        return Piece(start, end, label)
    if '"' in selector or " " in selector:
        raise ListingError(f'"{selector}" is neither a name nor "first line" … "last line"')
    cpp = LANGUAGES.get(path.suffix) == "cpp"
    start, end = find_in_cpp(code, selector) if cpp else find_elsewhere(lines, selector)
    mark = COMMENTS.get(LANGUAGES.get(path.suffix, "cmake"), "//")
    return Piece(with_comments(lines, start, mark), end, f", `{selector}`")


def body_of(path: Path, piece: Piece) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()[piece.start:piece.end + 1]
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return textwrap.dedent("\n".join(lines)).split("\n")


def language_of(path: Path) -> str:
    return "cmake" if path.name == "CMakeLists.txt" else LANGUAGES.get(path.suffix, "text")


def show(shown: str, path: Path, piece: Piece) -> list[str]:
    """The lines that belong between the markers."""
    caption = f"*[`{shown}`](../{shown}){piece.label}*"
    return ["", caption, "", f"```{language_of(path)}", *body_of(path, piece), "```", ""]


def check_length(page: Page, block: Block, count: int) -> None:
    if count > TOO_LONG:
        page.add(block.start + 1, f"the listing has {count} lines; {LONG} are meant, {TOO_LONG} the limit")
    elif not SHORT <= count <= LONG:
        page.add(block.start + 1, f"the listing has {count} lines; {SHORT} to {LONG} are meant", "warning")


def expected(page: Page, block: Block, root: Path, last_line: dict[str, int]) -> list[str] | None:
    """What the block should hold; notes what is wrong with its marker or its length."""
    match = ARGS.match(block.args)
    if not match:
        page.add(block.start + 1, 'a marker is: listing PATH NAME, or: listing PATH "first" … "last" [bare]')
        return None
    shown, selector, bare = match.group(1), match.group(2), bool(match.group(3))
    path = root / shown
    if not path.is_file():
        page.add(block.start + 1, f"the listing's file {shown} does not exist")
        return None
    try:
        piece = find(path, selector, bare, last_line.get(shown, -1))
    except (ListingError, ValueError) as error:
        page.add(block.start + 1, f"{shown}: {error}")
        return None
    last_line[shown] = piece.end
    check_length(page, block, len(body_of(path, piece)))
    return show(shown, path, piece)


def difference(old: list[str], new: list[str]) -> str:
    lines = difflib.unified_diff(old, new, "chapter", "source", lineterm="", n=1)
    return "\n".join("    " + line for line in list(lines)[2:])


def check(page: Page, root: Path) -> dict[int, list[str]]:
    """Compares each listing with its source. Returns what --write should put into which block."""
    fresh, last_line = {}, {}
    for block in page.blocks:
        if block.kind != "listing":
            continue
        wanted = expected(page, block, root, last_line)
        if wanted is not None and wanted != block.body:
            fresh[block.start] = wanted
            page.add(block.start + 1, "the listing differs from its source (--write refreshes it)\n"
                     + difference(block.body, wanted))
    return fresh


def check_fences(page: Page) -> int:
    """Every C++ fence is a listing, or says that it is not. Returns how many say so."""
    inside = {n for block in page.blocks if block.kind == "listing" for n in range(block.start, block.end)}
    fragments = 0
    for fence in page.fences:
        words = re.split(r"[,\s]+", fence.info)
        if words[0] not in ("cpp", "c++", "cc", "hpp") or fence.start in inside:
            continue
        if "ignore-book" in words:
            fragments += 1
        else:
            page.add(fence.start + 1, "C++ outside a listing; quote a source, or mark it cpp,ignore-book")
    return fragments
