#!/usr/bin/python3
"""Checks the chapters against the sources, runs and figures that they show.

--write refreshes listings and transcripts. Exit status: 0 in order, 1 when something is wrong."""

import argparse
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from ttc import book_links, book_listing, book_prose, book_transcript
from ttc.book_text import Page, Problem, make_page, read_page

ROOT = Path(__file__).resolve().parent.parent


@dataclass
class Counts:
    listings: int = 0
    transcripts: int = 0
    fragments: int = 0
    links: int = 0
    figures: set[Path] = field(default_factory=set)


class Book:
    """The chapters of a project, and everything found wrong with them."""

    def __init__(self, root: Path, write: bool, run: bool) -> None:
        self.root, self.write, self.run = root, write, run
        self.chapters = root / "chapters"
        self.demos = book_transcript.Demos(root)
        self.counts = Counts()
        self.problems: list[Problem] = []
        glossary = self.chapters / "glossary.md"
        self.terms = book_prose.glossary_terms(read_page(glossary, "")) if glossary.exists() else set()

    def note(self, shown: str, message: str, level: str = "error") -> None:
        self.problems.append(Problem(shown, 1, message, level))

    def check_page(self, path: Path) -> None:
        page = read_page(path, str(path.relative_to(self.root)))
        page = self.refresh(page)
        self.counts.listings += sum(block.kind == "listing" for block in page.blocks)
        self.counts.transcripts += sum(block.kind == "transcript" for block in page.blocks)
        self.counts.fragments += book_listing.check_fences(page)
        self.counts.links += book_links.check_links(page, self.root)
        self.counts.figures |= book_links.check_images(page, self.root)
        book_prose.check_words(page)
        book_prose.check_sentences(page)
        if page.numbered:
            book_prose.check_sections(page)
            book_prose.check_length(page)
            book_prose.check_predictions(page)
            book_prose.check_exercises(page, self.root)
            book_prose.check_terms(page, self.terms)
        self.problems += sorted(page.problems, key=lambda problem: problem.line)

    def refresh(self, page: Page) -> Page:
        """Compares listings and transcripts; with --write puts the real ones in their place."""
        fresh = book_listing.check(page, self.root)
        if self.run:
            fresh |= book_transcript.check(page, self.demos)
        if not self.write or not fresh:
            return page
        lines = list(page.lines)
        for block in sorted(page.blocks, key=lambda b: b.start, reverse=True):
            if block.start in fresh:
                lines[block.start + 1:block.end] = fresh[block.start]
        text = "\n".join(lines) + "\n"
        page.path.write_text(text, encoding="utf-8")
        print(f"{page.shown}: {len(fresh)} blocks refreshed")
        refreshed = make_page(page.path, page.shown, text)
        book_listing.check(refreshed, self.root)
        refreshed.problems += [p for p in page.problems if "--write refreshes" not in p.message
                               and p.message not in {q.message for q in refreshed.problems}]
        return refreshed

    def check_summary(self) -> None:
        """Every chapter that there is can be reached, and every one in the manifest is listed."""
        summary = self.chapters / "SUMMARY.md"
        if not summary.exists():
            self.note("chapters/SUMMARY.md", "does not exist")
            return
        listed = set(re.findall(r"\]\(([^)#]+\.md)\)", summary.read_text(encoding="utf-8")))
        for path in sorted(self.chapters.glob("*.md")):
            if path.name != "SUMMARY.md" and path.name not in listed:
                self.note(f"chapters/{path.name}", "is not in SUMMARY.md")
        if not (self.root / "examples" / "manifest.toml").exists():
            self.note("examples/manifest.toml", "does not exist")
            return
        ids = book_prose.chapter_ids(self.root)
        for chapter in ids:
            if f"{chapter}.md" not in listed:
                self.note("chapters/SUMMARY.md", f"{chapter}.md, of examples/manifest.toml, is not listed")
        for path in sorted(self.chapters.glob("[0-9][0-9]-*.md")):
            if path.stem not in ids:
                self.note(f"chapters/{path.name}", "is not in examples/manifest.toml")

    def check_unused_figures(self) -> None:
        for source in sorted((self.root / "diagrams").glob("*.excalidraw")):
            if source.with_suffix(".svg") not in self.counts.figures:
                self.note(f"diagrams/{source.name}", "no chapter shows this figure", "warning")

    def check_spelling(self, paths: list[Path]) -> None:
        if not paths:
            return
        if not shutil.which("codespell"):
            self.note("chapters", "spelling: codespell is not installed", "skip")
            return
        names = [str(path.relative_to(self.root)) for path in paths]
        result = subprocess.run(["codespell", *names], cwd=self.root, capture_output=True, text=True,
                                timeout=60)
        for line in result.stdout.splitlines():
            match = re.match(r"(?:\./)?(.+?):(\d+): (.+)$", line)
            if match:
                self.problems.append(Problem(match.group(1), int(match.group(2)),
                                             f"spelling: {match.group(3)}"))
        if result.returncode not in (0, 65) and not result.stdout:
            self.note("chapters", f"codespell failed: {result.stderr.strip()}")

    def report(self, pages: int) -> int:
        """Prints everything found and the summary. Returns the exit status."""
        for problem in self.problems:
            print(problem)
        levels = [problem.level for problem in self.problems]
        counts, errors = self.counts, levels.count("error")
        print(f"check-book: {pages} pages, {counts.listings} listings, {counts.fragments} fragments, "
              f"{counts.transcripts} transcripts{'' if self.run else ' (not run)'}, "
              f"{len(counts.figures)} figures, {counts.links} links: {errors} errors, "
              f"{levels.count('warning')} warnings, {levels.count('skip')} skipped")
        return 1 if errors or not pages else 0


def check(root: Path, only: list[Path], write: bool, run: bool) -> int:
    book = Book(root, write, run)
    paths = only or sorted((root / "chapters").glob("*.md"))
    if not paths:
        book.note("chapters", "there are no chapters")
    for path in paths:
        book.check_page(path)
    book.check_spelling(paths)
    if not only:
        book.check_summary()
        book.check_unused_figures()
    if not run and book.counts.transcripts:
        book.note("chapters", "transcripts were not run (--no-transcripts)", "skip")
    return book.report(len(paths))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--write", action="store_true", help="refresh listings and transcripts")
    parser.add_argument("--no-transcripts", action="store_true", help="run nothing: takes about a second")
    parser.add_argument("--only", nargs="+", type=Path, default=[], metavar="FILE",
                        help="these chapters alone")
    args = parser.parse_args()
    only = [path.resolve() for path in args.only]
    for path in only:
        if not path.is_file() or not path.is_relative_to(ROOT):
            parser.error(f"{path} is not a chapter of this project")
    return check(ROOT, only, args.write, not args.no_transcripts)


if __name__ == "__main__":
    sys.exit(main())
