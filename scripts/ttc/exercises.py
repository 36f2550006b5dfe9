"""An exercise: its folder, the one file to edit, and what its README says."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from ttc.manifest import Chapter, UsageError, matches

SUFFIXES = {".cpp", ".lua", ".go", ".rs"}

_ITEM = re.compile(r"^[-*] +`([^`]+)`")
_HINT = re.compile(r"<details>\s*<summary>(.*?)</summary>(.*?)</details>", re.DOTALL)


@dataclass(frozen=True)
class Exercise:
    """One folder in a chapter's exercises/."""

    chapter: Chapter
    slug: str

    @property
    def id(self) -> str:
        return f"{self.chapter.id}/{self.slug}"

    @property
    def target(self) -> str:
        return f"{self.chapter.id}.{self.slug}"

    @property
    def folder(self) -> Path:
        return self.chapter.folder / "exercises" / self.slug

    @cached_property
    def file(self) -> Path:
        """The file that the reader edits."""
        found = [path for path in self.folder.iterdir() if path.suffix in SUFFIXES]
        if len(found) != 1:
            names = ", ".join(sorted(path.name for path in found)) or "none"
            raise UsageError(f"{self.id}: one file to edit is expected, there are: {names}")
        return found[0]

    @property
    def solution(self) -> Path:
        return self.folder / "solution" / self.file.name

    @cached_property
    def readme(self) -> str:
        path = self.folder / "README.md"
        return path.read_text(encoding="utf-8") if path.exists() else ""

    @property
    def title(self) -> str:
        first = self.readme.splitlines()[0] if self.readme else ""
        return first.removeprefix("# ").strip()

    @property
    def judged_by(self) -> list[str]:
        """The names of the checks that judge it."""
        lines = _section(self.readme, "Judged by")
        return [match[1] for line in lines if (match := _ITEM.match(line))]

    @property
    def hints(self) -> list[tuple[str, str]]:
        """(heading, text) of each folded hint."""
        text = "\n".join(_section(self.readme, "Hints"))
        return [(head.strip(), body.strip()) for head, body in _HINT.findall(text)]

    def content_hash(self) -> str:
        return hashlib.sha256(self.file.read_bytes()).hexdigest()[:16]


def _section(text: str, title: str) -> list[str]:
    """The lines between `## title` and the next heading of that level."""
    inside, lines = False, []
    for line in text.splitlines():
        if line.startswith("## "):
            inside = line[3:].strip() == title
        elif inside:
            lines.append(line)
    return lines


def of_chapter(chapter: Chapter) -> list[Exercise]:
    folder = chapter.folder / "exercises"
    if not folder.is_dir():
        return []
    names = [path.name for path in folder.iterdir() if path.is_dir() and path.name[:1].isdigit()]
    return [Exercise(chapter, name) for name in sorted(names)]


def of_all(chapters: list[Chapter]) -> list[Exercise]:
    return [exercise for chapter in chapters for exercise in of_chapter(chapter)]


def find(chapters: list[Chapter], word: str) -> Exercise:
    """`01-one-at-a-time/1-short-write`, `01/1`, or a slug that only one exercise has."""
    everything = of_all(chapters)
    chapter, slash, name = word.rpartition("/")
    if slash:
        found = [one for one in everything if matches(chapter, one.chapter.id) and matches(name, one.slug)]
    else:
        found = [one for one in everything if word in (one.slug, one.slug.partition("-")[2])]
    if len(found) == 1:
        return found[0]
    ids = ", ".join(one.id for one in found or everything) or "none"
    problem = f"'{word}' names more than one exercise" if found else f"no exercise '{word}'; there are"
    raise UsageError(f"{problem}: {ids}")
