"""Transcripts: what a marker in a chapter says was run, and what a run of it prints now."""

import difflib
import re
from dataclasses import dataclass, field
from pathlib import Path

from ttc.book_run import Result, RunError, Skip, missing_tool, normalise, run, skip_if_impossible, tail
from ttc.book_text import Block, Page

STEP = re.compile(r"^(?P<chapter>[\w-]+) step (?P<step>\d+)(?: lines=(?P<lines>[\d,-]+))?$")
COMMAND = re.compile(r"^command(?: lines=(?P<lines>[\d,-]+))?(?: exit=(?P<exit>\d+))?: (?P<command>.+)$")
HEADING = re.compile(r"^── Step (\d+)\b")
RULE = re.compile(r"^── ")
SKIPPED = re.compile(r"^(?:# )?(SKIP\b.*|.*: skipped)$", re.MULTILINE)
SCREEN = 80     # columns; scripts/demo.sh breaks its questions there
CUT = "…"


@dataclass
class Demos:
    """The output of each chapter's demo, which runs once."""
    root: Path
    results: dict[str, Result | RunError | Skip] = field(default_factory=dict)

    def output(self, chapter: str) -> str:
        if chapter not in self.results:
            self.results[chapter] = self.start(chapter)
        result = self.results[chapter]
        if isinstance(result, RunError):
            # in full once, for the first transcript; the others say only that it failed
            self.results[chapter] = RunError(str(result).split("\n", maxsplit=1)[0])
        if not isinstance(result, Result):
            raise result
        return result.output

    def start(self, chapter: str) -> Result | RunError | Skip:
        folder = self.root / "examples" / chapter
        if not (folder / "demo.sh").is_file():
            return RunError(f"examples/{chapter}/demo.sh does not exist")
        try:
            result = run(["./demo.sh"], folder, self.root)
        except (RunError, OSError) as error:
            return RunError(f"examples/{chapter}/demo.sh: {error}")
        if result.status == 77:
            return Skip(f"examples/{chapter}/demo.sh was skipped: {tail(result.output, 1).strip()}")
        if result.status != 0:
            return RunError(f"examples/{chapter}/demo.sh ended with {result.status}\n{tail(result.output)}")
        return result


def without_question(lines: list[str]) -> list[str]:
    """A step without the question, which goes on in the next line if that line's first word did not fit."""
    rest = list(lines)
    while rest and not rest[0].strip():
        rest.pop(0)
    if not rest or not rest[0].startswith("? "):
        return rest
    last = rest.pop(0)
    while rest and rest[0].strip() and not rest[0].startswith("$ "):
        if len(last) + 1 + len(rest[0].split()[0]) <= SCREEN:
            break
        last = rest.pop(0)
    return rest


def step_of(output: str, step: int) -> list[str]:
    """The lines of a step, without its heading and its question."""
    lines = output.splitlines()
    starts = [n for n, line in enumerate(lines) if (m := HEADING.match(line)) and int(m.group(1)) == step]
    if len(starts) != 1:
        raise RunError(f"the demo's output has {len(starts)} headings of step {step}")
    first = starts[0] + 1
    end = next((n for n in range(first, len(lines)) if RULE.match(lines[n])), len(lines))
    body = without_question(lines[first:end])
    while body and not body[0].strip():
        body.pop(0)
    while body and not body[-1].strip():
        body.pop()
    if not body:
        raise RunError(f"step {step} of the demo printed nothing")
    return body


def cut(lines: list[str], ranges: str | None) -> list[str]:
    """Only the ranges asked for, as 1-4,9-12; a line … stands for what is left out."""
    if not ranges:
        return lines
    shown, last = [], 0
    for part in ranges.split(","):
        low, _, high = part.partition("-")
        first, final = int(low), int(high or low)
        if not last < first <= final:
            raise RunError(f"lines={ranges}: ranges must ascend")
        if final > len(lines):
            raise RunError(f"lines={ranges}: there are only {len(lines)} lines")
        shown += ([CUT] if first > last + 1 else []) + lines[first - 1:final]
        last = final
    return shown + ([CUT] if last < len(lines) else [])


def output_of_command(match: re.Match[str], root: Path) -> list[str]:
    command = match.group("command")
    skip_if_impossible(command)
    if tool := missing_tool(command):
        raise Skip(f"{tool} is not installed")
    result = run(["bash", "-c", command], root, root)
    wanted = int(match.group("exit") or 0)
    if result.status == 77:
        raise Skip(tail(result.output, 1).strip() or f"{command} was skipped")
    if result.status != wanted:
        raise RunError(f"`{command}` ended with {result.status}, not {wanted}\n{tail(result.output)}")
    return [f"$ {command}", *cut(result.output.rstrip("\n").split("\n"), match.group("lines"))]


def output_of_step(match: re.Match[str], stored: str, demos: Demos) -> list[str]:
    lines = step_of(demos.output(match.group("chapter")), int(match.group("step")))
    skipped = SKIPPED.search("\n".join(lines))
    if skipped and not SKIPPED.search(stored):
        raise Skip(f"step {match.group('step')} of the demo: {skipped.group(1)}")
    return cut(lines, match.group("lines"))


def fresh_output(block: Block, demos: Demos) -> list[str]:
    """What a run prints now. Raises Skip or RunError."""
    step, command = STEP.match(block.args), COMMAND.match(block.args)
    if step:
        stored = "\n".join(block.body)
        skip_if_impossible(stored)
        return output_of_step(step, stored, demos)
    if command:
        return output_of_command(command, demos.root)
    raise RunError("a marker is: transcript CHAPTER step N [lines=A-B], "
                   "or: transcript command [lines=A-B] [exit=N]: COMMAND")


def stored_output(block: Block) -> list[str] | None:
    """The transcript in the chapter; None when the block is not one console fence."""
    body = list(block.body)
    while body and not body[0].strip():
        body.pop(0)
    while body and not body[-1].strip():
        body.pop()
    if len(body) < 3 or not body[0].startswith("```console") or body[-1] != "```":
        return None
    return body[1:-1]


def difference(stored: list[str], fresh: list[str]) -> str:
    """A diff of two transcripts as they compare; empty when they are equal."""
    old, new = normalise("\n".join(stored)).split("\n"), normalise("\n".join(fresh)).split("\n")
    lines = list(difflib.unified_diff(old, new, "chapter", "run", lineterm="", n=1))
    return "\n".join("    " + line for line in lines[2:])


def check(page: Page, demos: Demos) -> dict[int, list[str]]:
    """Runs each transcript. Returns what --write should put into which block.

    One that differs only in what varies anyway stays: its numbers are as real as new ones."""
    fresh = {}
    for block in page.blocks:
        if block.kind != "transcript":
            continue
        stored = stored_output(block)
        try:
            output = fresh_output(block, demos)
        except Skip as reason:
            page.add(block.start + 1, str(reason), "skip")
            if stored is None:
                page.add(block.start + 1, "the transcript is empty and cannot be made here")
            continue
        except RunError as error:
            page.add(block.start + 1, str(error))
            continue
        wrong = difference(stored, output) if stored is not None else "    (it is empty)"
        if wrong:
            page.add(block.start + 1, "the transcript differs from a run (--write refreshes it)\n" + wrong)
            fresh[block.start] = ["", "```console", *output, "```", ""]
    return fresh
