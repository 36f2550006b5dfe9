#!/usr/bin/python3
"""Builds and verifies one exercise, watches its file, gives hints, shows the solution, starts over."""

from __future__ import annotations

import argparse
import difflib
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from ttc import committed, exercises, manifest  # noqa: E402
from ttc.build import Tree  # noqa: E402
from ttc.exercises import Exercise  # noqa: E402
from ttc.judge import Verdict, build_starter, judge  # noqa: E402
from ttc.run import Programs  # noqa: E402
from ttc.state import SOLVED, UNSOLVED, State  # noqa: E402
from ttc.tap import Check  # noqa: E402
from ttc.term import check_lines, paint, say  # noqa: E402

POLL = 0.2  # seconds between two looks at the watched file

EXIT_OK, EXIT_NOT, EXIT_USAGE = 0, 1, 2


class Desk:
    """What the commands work with."""

    def __init__(self, root: Path, preset: str) -> None:
        self.root = root
        self.chapters = manifest.load(root)
        self.state = State(root)
        self.programs = Programs()
        self.tree = Tree(root, preset, self.programs)

    def path(self, path: Path) -> str:
        return str(path.relative_to(self.root))


def verify(desk: Desk, exercise: Exercise) -> int:
    """Builds the reader's file, runs the checks on it, and says what they mean for the reader."""
    say(paint(f"{exercise.id}: {exercise.title}", "bold"))
    content, start = exercise.content_hash(), time.monotonic()
    verdict = build_starter(exercise, desk.tree) or judge(exercise, desk.tree, desk.programs, show_check)
    if desk.programs.stopping:
        return EXIT_NOT
    desk.state.record(exercise.id, content, SOLVED if verdict.solved else UNSOLVED)
    for line in explain(desk, exercise, verdict):
        say(line)
    say(paint(f"({time.monotonic() - start:.1f} s)", "dim"))
    return EXIT_OK if verdict.solved else EXIT_NOT


def show_check(check: Check) -> None:
    """As soon as it is known; the verdict on all of them comes at the end."""
    for line in check_lines(check.state, check.name, check.reason, check.detail):
        say(line)


def explain(desk: Desk, exercise: Exercise, verdict: Verdict) -> list[str]:
    """The verdict in plain words."""
    if not verdict.compiled:
        words = f"Not solved: {desk.path(exercise.file)} does not compile."
        return [*verdict.compiler, "", paint(words, "FAIL")]
    lines = []
    later = [*verdict.failed, *verdict.broken] if verdict.complete else []  # the others were shown
    for check in later:
        lines += check_lines(check.state, check.name, check.reason, check.detail)
    return [*lines, "", conclusion(exercise, verdict)]


def conclusion(exercise: Exercise, verdict: Verdict) -> str:
    number = len(exercise.judged_by)
    passed = number - len(verdict.failed) - len(verdict.skipped)
    if verdict.solved:
        return paint(f"Solved: every check passes, the {number} of this exercise among them.", "ok")
    if verdict.failed:
        hint = f"A hint: scripts/exercise.py hint {exercise.chapter.number}/{exercise.slug.split('-')[0]}"
        fail = f"Not solved: {len(verdict.failed)} of this exercise's {number} checks failed (above)."
        return f"{paint(fail, 'FAIL')}\n{hint}"
    if verdict.broken:
        what = f"{passed} of this exercise's {number} checks passed, but something else broke"
        return paint(f"Not solved: {what}: {verdict.broken[0].name}", "FAIL")
    reason = verdict.skipped[0].reason if verdict.skipped else "the checks did not run"
    return paint(f"Not judged: a check of this exercise cannot run here: {reason}", "skip")


def stamp(path: Path) -> tuple[int, int, int] | None:
    """Changes when the file is saved; None while an editor is replacing it."""
    try:
        info = path.stat()
    except FileNotFoundError:
        return None
    return info.st_mtime_ns, info.st_size, info.st_ino


def watch(desk: Desk, exercise: Exercise) -> int:
    """Verifies now and after each save, until it is solved or the reader has had enough."""
    file = exercise.file
    while True:
        seen = stamp(file)
        if verify(desk, exercise) == EXIT_OK:
            return EXIT_OK
        say(f"\nWatching {desk.path(file)}: save it to verify again, Ctrl-C to stop.")
        while (now := stamp(file)) is None or now == seen:
            if desk.programs.stopping:
                return EXIT_NOT
            time.sleep(POLL)


def hint(desk: Desk, exercise: Exercise) -> int:
    """The next hint, each time; all of them again when none is left."""
    hints = exercise.hints
    if not hints:
        say(f"{exercise.id} has no hints.")
        return EXIT_NOT
    before = desk.state.count(exercise.id, "hints")
    shown = [hints[before]] if before < len(hints) else hints
    if before >= len(hints):
        say(f"There is no further hint. Here are all {len(hints)} again.\n")
    for heading, text in shown:
        say(f"{paint(heading, 'bold')} (of {len(hints)})\n\n{text}\n")
    return EXIT_OK


def diff(desk: Desk, exercise: Exercise) -> int:
    """From the reader's file to the solution: once solved, or when asked for twice."""
    solved = desk.state.verdict(exercise.id, exercise.content_hash()) == SOLVED
    if not solved and desk.state.count(exercise.id, "solution asked") == 0:
        say(f"{exercise.id} is not solved yet, and this shows its solution.")
        say("Ask again with the same command to see it, or take a hint first.")
        return EXIT_NOT
    yours, ours = (path.read_text(encoding="utf-8") for path in (exercise.file, exercise.solution))
    names = desk.path(exercise.file), desk.path(exercise.solution)
    lines = list(difflib.unified_diff(yours.splitlines(), ours.splitlines(), *names, lineterm=""))
    for line in lines:
        style = {"+": "add", "-": "remove"}.get(line[:1])
        say(paint(line, style) if style else line)
    if not lines:
        say("Your file and the solution are the same.")
    return EXIT_OK


def reset(desk: Desk, exercise: Exercise) -> int:
    """The committed starter again; the reader's file is kept beside the build."""
    starter = committed.read(desk.root, exercise.file)
    if starter is None:
        say(f"{desk.path(exercise.file)}: git has no committed version to go back to; nothing changed.")
        return EXIT_NOT
    desk.state.forget(exercise.id)
    mine = exercise.file.read_bytes()
    if mine == starter:
        say(f"{desk.path(exercise.file)} is the starter already.")
        return EXIT_OK
    backup = save_backup(desk.root / "build" / "exercise-backup" / exercise.id, exercise.file.name, mine)
    exercise.file.write_bytes(starter)
    say(f"{desk.path(exercise.file)} is the starter again. Your file: {desk.path(backup)}")
    return EXIT_OK


def save_backup(folder: Path, name: str, content: bytes) -> Path:
    """<name>.bak, or <name>.bak.2 and so on: an earlier backup is never overwritten."""
    folder.mkdir(parents=True, exist_ok=True)
    path, number = folder / f"{name}.bak", 1
    while path.exists():
        number += 1
        path = folder / f"{name}.bak.{number}"
    path.write_bytes(content)
    return path


def show_list(desk: Desk) -> int:
    """Every exercise: its state, its id, what it is about."""
    everything = exercises.of_all(desk.chapters)
    width = max((len(one.id) for one in everything), default=0)
    styles = {SOLVED: "ok", UNSOLVED: "FAIL"}
    for one in everything:
        state = desk.state.verdict(one.id, one.content_hash())
        say(f"{paint(f'{state:9}', styles.get(state, 'dim'))}  {one.id:{width}}  {one.title}")
    if not everything:
        say("There are no exercises.")
    return EXIT_OK if everything else EXIT_NOT


COMMANDS: dict[str, tuple[Callable[[Desk, Exercise], int], str]] = {
    "verify": (verify, "build it and run the checks"),
    "watch": (watch, "verify after each save, until solved"),
    "hint": (hint, "show the next hint"),
    "diff": (diff, "compare your file with the solution"),
    "reset": (reset, "go back to the starter"),
}


def arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="exercise.py", description=__doc__)
    parser.add_argument("--preset", choices=manifest.PRESETS, default="release")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("list", help="all exercises and their state")
    for name, (_, text) in COMMANDS.items():
        command = commands.add_parser(name, help=text)
        command.add_argument("id", metavar="ID", help="such as 01/1 or 01-one-at-a-time/1-short-write")
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    args = arguments(words)
    try:
        desk = Desk(manifest.project_root(), args.preset)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: desk.programs.stop())
        if args.command == "list":
            return show_list(desk)
        exercise = exercises.find(desk.chapters, args.id)
        status = COMMANDS[args.command][0](desk, exercise)
    except manifest.UsageError as error:
        print(f"exercise.py: {error}", file=sys.stderr)
        return EXIT_USAGE
    except KeyboardInterrupt:
        status = EXIT_NOT  # the build was stopped
    if desk.programs.stopping:
        print("\nStopped.", file=sys.stderr)
    return status


if __name__ == "__main__":
    sys.exit(main())
