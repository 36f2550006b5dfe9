"""Finds definitions in C++ source by name: a scan of braces, not a parser."""

import re
from dataclasses import dataclass

OPENING, CLOSING = "([", ")]"
TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r"|\b(?:u8|[uUL])?R\"(?P<tag>[^()\\\s]{0,16})\(.*?\)(?P=tag)\""
    r"|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'"
    r"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.DOTALL | re.MULTILINE)
ACCESS = re.compile(r"\s*(?:(?:public|private|protected)\s*:(?!:)\s*)*")
TYPE = re.compile(r"(?:typedef\s+)?(?:enum\s+class|enum\s+struct|enum|class|struct|union)\s+([A-Za-z_]\w*)")
NAME = re.compile(r"((?:[A-Za-z_]\w*\s*(?:<[^<>]*>)?\s*::\s*)*(?:operator\s*[^\s\w]+|~?[A-Za-z_]\w*))\s*$")


@dataclass(frozen=True)
class Definition:
    name: str        # with the types around it: Connection::on_bytes
    start: int       # first line, counted from 0
    end: int         # last line
    has_body: bool


def mask(code: str) -> str:
    """The code with comments, literals and preprocessor lines blanked out; same length."""
    return TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), code)


def matching_brace(masked: str, opening: int) -> int:
    depth = 0
    for index in range(opening, len(masked)):
        if masked[index] == "{":
            depth += 1
        elif masked[index] == "}":
            depth -= 1
            if depth == 0:
                return index
    raise ValueError("a brace is never closed")


def strip_groups(header: str, opening: str, closing: str) -> str:
    """The header with what is between the outermost brackets taken out (the brackets stay)."""
    depth, kept = 0, []
    for char in header:
        if char == closing:
            depth = max(0, depth - 1)
        if depth == 0:
            kept.append(char)
        if char == opening:
            depth += 1
    return "".join(kept)


def clean(header: str) -> str:
    """What is left of a header without attributes, template parameters and arguments."""
    header = re.sub(r"\[\[.*?\]\]", " ", ACCESS.sub("", header, count=1), flags=re.DOTALL)
    header = strip_groups(header, "(", ")")
    header = re.sub(r"\b(?:alignas|noexcept|decltype|requires)\s*\(\)", " ", header).strip()
    while header.startswith("template"):
        rest = strip_groups(header, "<", ">")
        header = re.sub(r"^template\s*<>", "", rest, count=1).strip()
    return header


def is_initialiser(header: str) -> bool:
    return "=" in header and "operator" not in header


def name_of(header: str) -> str:
    """The name which a function's or a variable's header declares; empty if there is none."""
    if is_initialiser(header):
        header = header.split("=")[0]
    elif "()" in header:
        header = header.split("()")[0] if "operator()" not in header.replace(" ", "") else "operator()"
    elif not header.startswith(("enum", "class", "struct")):
        header = header.split(":")[0] if re.search(r"[^:]:[^:]", header) else header
    match = NAME.search(re.sub(r"\[\s*\]", "", header))
    return re.sub(r"\s+", "", match.group(1)) if match else ""


class Scanner:
    def __init__(self, code: str) -> None:
        self.code, self.masked = code, mask(code)
        self.found: list[Definition] = []
        self.scopes: list[tuple[str, int]] = []   # a type's name, or "" for a namespace, and its start

    def add(self, name: str, start: int, end: int, has_body: bool) -> None:
        while end + 1 < len(self.masked) and self.masked[end + 1] in " \t":
            end += 1
        if self.masked[end + 1:end + 2] == ";":
            end += 1
        types = [scope for scope, _ in self.scopes if scope]
        if name:
            self.found.append(Definition("::".join([*types, name]), self.code.count("\n", 0, start),
                                         self.code.count("\n", 0, end), has_body))

    def start_of(self, boundary: int) -> int:
        match = ACCESS.match(self.masked, boundary)
        return match.end() if match else boundary

    def open_brace(self, boundary: int, index: int) -> tuple[int, int]:
        """Deals with the { at index. Returns the next boundary and the next index."""
        header, start = clean(self.masked[boundary:index]), self.start_of(boundary)
        if re.match(r"(?:inline\s+)?namespace\b|extern$", header) or not header:
            self.scopes.append(("", start))
            return index + 1, index + 1
        kind = TYPE.match(header)
        if kind and "()" not in header and not header.startswith("enum"):
            self.scopes.append((kind.group(1), start))
            return index + 1, index + 1
        close = matching_brace(self.masked, index)
        following = self.masked[close + 1:].lstrip()[:1]
        if following in (",", "{", ";") or is_initialiser(header):
            if following != ";" or is_initialiser(header):
                return boundary, close + 1
        self.add(kind.group(1) if kind and "()" not in header else name_of(header), start, close, True)
        return close + 1, close + 1

    def close_brace(self, index: int) -> None:
        if self.scopes:
            name, start = self.scopes.pop()
            if name:
                self.add(name, start, index, True)

    def scan(self) -> list[Definition]:
        boundary = index = depth = 0
        while index < len(self.masked):
            char = self.masked[index]
            depth += (char in OPENING) - (char in CLOSING)
            if depth == 0 and char == "{":
                boundary, index = self.open_brace(boundary, index)
                continue
            if depth == 0 and char == "}":
                self.close_brace(index)
                boundary = index + 1
            elif depth == 0 and char == ";":
                header = clean(self.masked[boundary:index])
                self.add(name_of(header), self.start_of(boundary), index - 1, is_initialiser(header))
                boundary = index + 1
            index += 1
        return self.found


def definitions(code: str) -> list[Definition]:
    return Scanner(code).scan()
