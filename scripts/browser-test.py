#!/usr/bin/python3
"""Opens every page of the rendered book in a headless browser and looks for what is broken.

Exit status: 0 in order, 1 when something is broken, 77 when there is no browser here."""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ttc import book_browser
from ttc.book_browser import Links
from ttc.book_text import IMAGE, read_page, without_fences

ROOT = Path(__file__).resolve().parent.parent
PROBE = Path(book_browser.__file__).with_name("book_probe.js").read_text(encoding="utf-8")
THEMES = ("light", "navy")
SIZES = ((400, 800), (1280, 900))
LEAST_CONTRAST = 4.5


@dataclass(frozen=True)
class Expected:
    """What the Markdown says a page holds."""
    name: str
    code: int
    images: int


def expected_pages(chapters: Path) -> list[Expected]:
    """The pages that SUMMARY.md lists, in its order."""
    summary = (chapters / "SUMMARY.md").read_text(encoding="utf-8")
    pages = []
    for name in re.findall(r"\]\(([^)#]+)\.md\)", summary):
        page = read_page(chapters / f"{name}.md", name)
        html = "index.html" if name == "README" else f"{name}.html"
        pages.append(Expected(html, len(page.fences), len(IMAGE.findall(without_fences(page)))))
    return pages


def judge(page: Expected, theme: str, found: dict[str, Any], links: Links, console: list[str]) -> list[str]:
    """Everything wrong with a page, one line each."""
    if found.get("missing"):
        return ["there is no <main>: not a page of the book"]
    problems = [f"console: {message}" for message in console]
    if theme not in found["theme"].split():
        problems.append(f"the theme is {found['theme']}, not {theme}")
    problems += [f"broken image {address}" for address in found["brokenImages"]]
    problems += [text for address in sorted(set(found["links"])) if (text := links.problem(address))]
    if found["pageScroll"] > 0:
        problems.append(f"the page scrolls sideways by {found['pageScroll']} px")
    problems += [f"too wide: {text}" for text in found["tooWide"]]
    if found["code"] != page.code:
        problems.append(f"{found['code']} code blocks, but {page.code} in the Markdown")
    if found["images"] != page.images:
        problems.append(f"{found['images']} images, but {page.images} in the Markdown")
    problems += [f"contrast below {LEAST_CONTRAST}: {text}" for text in found["faint"]]
    return problems


def visit(driver: Any, address: str, width: int, height: int) -> tuple[dict[str, Any], list[str]]:
    """Opens a page afresh; returns what the probe found and what the console said."""
    driver.get_log("browser")
    book_browser.set_size(driver, width, height)
    driver.get(address)
    found = driver.execute_script(PROBE, LEAST_CONTRAST)
    console = [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    return found, console


def test(book: Path, pages: list[Expected], themes: list[str], shots: Path | None) -> list[bool]:
    """Looks at each page in each theme and size. One result for each look."""
    results = []
    with book_browser.served(book) as (host, port), book_browser.browser() as driver:
        links = Links(host, port)
        driver.get(f"http://{host}:{port}/{pages[0].name}")
        for theme in themes:
            driver.execute_script("localStorage.setItem('mdbook-theme', arguments[0])", theme)
            for page in pages:
                for width, height in SIZES:
                    found, console = visit(driver, f"http://{host}:{port}/{page.name}", width, height)
                    problems = judge(page, theme, found, links, console)
                    print(f"{'FAIL' if problems else 'ok':4} {page.name} {theme} {width} px", flush=True)
                    for problem in problems:
                        print(f"       {problem}")
                    results.append(not problems)
                    if shots and not found.get("missing"):
                        name = f"{Path(page.name).stem}-{theme}-{width}.png"
                        book_browser.screenshot(driver, shots / name, width, found["height"])
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--book", type=Path, default=ROOT / "build" / "book", help="the rendered book")
    parser.add_argument("--chapters", type=Path, default=ROOT / "chapters", help="its Markdown")
    parser.add_argument("--themes", nargs="+", default=THEMES, help="default: %(default)s")
    parser.add_argument("--shots", type=Path, metavar="DIR", help="write a screenshot of each page there")
    args = parser.parse_args()
    if missing := book_browser.what_is_missing():
        print(f"browser-test: SKIP: {missing}")
        return 77
    if not (args.book / "index.html").is_file():
        print(f"browser-test: {args.book} holds no rendered book; run make book first", file=sys.stderr)
        return 1
    pages = expected_pages(args.chapters)
    if args.shots:
        args.shots.mkdir(parents=True, exist_ok=True)
    results = test(args.book.resolve(), pages, args.themes, args.shots) if pages else []
    print(f"{results.count(True)} passed, {results.count(False)} failed")
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
