"""The prose of the chapters: words, sentences, sections and terms, as the style asks for them."""

import math
import re
import tomllib
from pathlib import Path

from ttc.book_text import LINK, Heading, Page, count_words, headings, prose, sentences, without_fences

SECTIONS = ["An experiment", "The idea", "How the code works", "Errors", "Concurrency lens",
            "Build, run, observe", "Cross-check", "What changed since the last chapter", "Exercises",
            "What you learned", "Verified"]
READING_TIME = re.compile(r"^\*Reading time: (\d+) minutes?\*\s*$")
WORDS_A_MINUTE = 200
FEWEST_WORDS, MOST_WORDS = 1500, 3500
LONG_SENTENCE, TOO_LONG_SENTENCE = 30, 40
FORBIDDEN = re.compile(r"\b(simply|just|obviously|blazing(?:ly)?)\b", re.IGNORECASE)
BOLD = re.compile(r"\*\*([^*\n]+(?:\n[^*\n]+)?)\*\*")
PREDICTION = re.compile(r"^> \*Predict:\*")
PREDICTIONS = 2


def check_words(page: Page) -> None:
    for number, line in enumerate(prose(page).split("\n"), 1):
        for match in FORBIDDEN.finditer(line):
            page.add(number, f'the word "{match.group(1)}" is not used in this book')
        if "!" in line:
            page.add(number, "an exclamation mark outside code")


def check_sentences(page: Page) -> None:
    for number, sentence in sentences(page):
        words = count_words(sentence)
        if words > LONG_SENTENCE:
            start = " ".join(sentence.split()[:6])
            level = "error" if words > TOO_LONG_SENTENCE else "warning"
            page.add(number, f'a sentence of {words} words: "{start} …"', level)


def section_range(page: Page, name: str) -> tuple[int, int] | None:
    """The lines of a section, from the one after its heading, counted from 0."""
    found = [h for h in headings(page) if h.level <= 2]
    for index, heading in enumerate(found):
        if heading.level == 2 and heading.text == name:
            end = found[index + 1].line - 1 if index + 1 < len(found) else len(page.lines)
            return heading.line, end
    return None


def check_sections(page: Page) -> None:
    second: list[Heading] = [h for h in headings(page) if h.level == 2]
    position = -1
    for name in SECTIONS:
        places = [n for n, h in enumerate(second) if h.text == name]
        if not places:
            page.add(1, f'the section "## {name}" is missing')
        elif places[0] < position:
            page.add(second[places[0]].line, f'the section "{name}" stands too early; the order is: '
                     + ", ".join(SECTIONS))
        else:
            position = places[0]


def check_length(page: Page) -> None:
    words = count_words(prose(page))
    if not FEWEST_WORDS <= words <= MOST_WORDS:
        page.add(1, f"{words} words of prose; a chapter has {FEWEST_WORDS} to {MOST_WORDS}")
    minutes = math.ceil(words / WORDS_A_MINUTE)
    end = next((h.line for h in headings(page) if h.level == 2), len(page.lines))
    for number, line in enumerate(page.lines[:end], 1):
        if match := READING_TIME.match(line):
            if int(match.group(1)) != minutes:
                page.add(number, f"the reading time is {minutes} minutes ({words} words)")
            return
    page.add(1, f"before the first section there must be the line *Reading time: {minutes} minutes*")


def check_predictions(page: Page) -> None:
    """Each folded answer of the cross-check stands after a prediction."""
    place = section_range(page, "Cross-check")
    if not place:
        return
    predicted, answers = 0, 0
    for number in range(*place):
        if PREDICTION.match(page.lines[number]):
            predicted += 1
        elif page.lines[number].strip().startswith("<details"):
            answers += 1
            if predicted < answers:
                page.add(number + 1, "this <details> has no \"> *Predict:*\" before it")
                predicted = answers
    if answers < PREDICTIONS:
        page.add(place[0], f"{answers} predictions with a folded answer; at least {PREDICTIONS}")
    if predicted > answers:
        page.add(place[0], "a prediction without a folded answer")


def check_exercises(page: Page, root: Path) -> None:
    """Every exercise of the chapter is linked to, with the command that judges it."""
    place = section_range(page, "Exercises")
    folder = root / "examples" / page.path.stem / "exercises"
    if not place:
        return
    text = "\n".join(page.lines[slice(*place)])
    targets = [m.group(2) for m in LINK.finditer(text)]
    for exercise in sorted(p for p in folder.glob("*") if p.is_dir()):
        link = f"../examples/{page.path.stem}/exercises/{exercise.name}"
        if not any(t.rstrip("/") in (link, link + "/README.md") for t in targets):
            page.add(place[0], f"no link to {link}/README.md")
        short = f"{page.path.stem[:2]}/{exercise.name[:1]}"
        names = (f"{page.path.stem}/{exercise.name}", short, exercise.name)
        commands = [rf"(?:exercise\.py verify |EX=){re.escape(name)}(?![\w/-])" for name in names]
        if not re.search("|".join(commands), text):
            page.add(place[0], f"the command that judges it is missing: scripts/exercise.py verify {short}")


def stem(term: str) -> str:
    """A term as the glossary and a chapter may both spell it: no case, no plural."""
    term = " ".join(re.sub(r"[`*.:,;]", "", term.lower()).split())
    return re.sub(r"(?<=\w\w\w)(?<!s)s$", "", term)


def glossary_terms(glossary: Page) -> set[str]:
    terms = [h.text for h in headings(glossary)] + BOLD.findall(without_fences(glossary))
    return {stem(term) for term in terms}


def check_terms(page: Page, known: set[str]) -> None:
    text = without_fences(page)
    for match in BOLD.finditer(text):
        if stem(match.group(1)) not in known:
            page.add(text.count("\n", 0, match.start()) + 1,
                     f'the term "{match.group(1)}" is not in chapters/glossary.md')


def chapter_ids(root: Path) -> list[str]:
    """The chapters of examples/manifest.toml."""
    path = root / "examples" / "manifest.toml"
    return [c["id"] for c in tomllib.loads(path.read_text(encoding="utf-8")).get("chapter", [])]
