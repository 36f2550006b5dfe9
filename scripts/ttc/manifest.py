"""The chapters, as examples/manifest.toml lists them."""

from __future__ import annotations

import shutil
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

PRESETS = ("release", "debug", "asan", "tsan")


class UsageError(Exception):
    """The reader asked for something that is not there; the message says what is."""


@dataclass(frozen=True)
class Chapter:
    """One entry of the manifest."""

    id: str
    title: str
    root: Path
    models: list[str] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)
    requires: list[str] = field(default_factory=list)
    time_limit: float = 60.0

    @property
    def folder(self) -> Path:
        return self.root / "examples" / self.id

    @property
    def number(self) -> str:
        return self.id.split("-", 1)[0]

    @property
    def slug(self) -> str:
        return self.id.split("-", 1)[1]

    def missing(self) -> list[str]:
        """The commands that this chapter needs and the machine does not have."""
        return [command for command in self.requires if shutil.which(command) is None]


def project_root() -> Path:
    """The directory that holds scripts/ and examples/."""
    return Path(__file__).resolve().parents[2]


def load(root: Path) -> list[Chapter]:
    """Reads the manifest; an entry that is not well formed is an error, not a skip."""
    path = root / "examples" / "manifest.toml"
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("chapter", [])
    except FileNotFoundError as error:
        raise UsageError(f"there is no {path}") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}") from error
    return [_chapter(root, path, entry) for entry in entries]


def _chapter(root: Path, path: Path, entry: dict) -> Chapter:
    try:
        return Chapter(root=root, **entry)
    except TypeError as error:
        name = entry.get("id", "an entry without an id")
        raise UsageError(f"{path}: {name}: {error}") from error


def matches(word: str, name: str) -> bool:
    """Is `word` a name for `NN-slug`: the whole, the number alone, or the slug alone?"""
    number, _, slug = name.partition("-")
    return word in (name, number, slug) or (word.isdigit() and number == word.zfill(len(number)))


def find(chapters: list[Chapter], word: str) -> Chapter:
    """The one chapter that `word` names."""
    found = [chapter for chapter in chapters if matches(word, chapter.id)]
    if len(found) != 1:
        ids = ", ".join(chapter.id for chapter in chapters)
        raise UsageError(f"no chapter '{word}'; there are: {ids}")
    return found[0]


def time_factor(preset: str) -> float:
    """A program with a sanitizer in it is slower by about this much."""
    return {"asan": 4.0, "tsan": 6.0, "debug": 2.0}.get(preset, 1.0)
