"""What a row runs: unit tests, or a chapter's checks on its program, its solutions and the reader's files."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ttc import committed, exercises, junit
from ttc.build import Tree
from ttc.exercises import Exercise
from ttc.judge import Verdict, build_starter, judge, run_tap, verify
from ttc.lua import LUA
from ttc.manifest import Chapter, UsageError, time_factor
from ttc.report import PlainReport
from ttc.rows import Row
from ttc.run import Programs
from ttc.state import SOLVED, UNSOLVED, State
from ttc.tap import FAIL, OK, SKIP, Check

UNIT_LIMIT = 300.0

LIB, VERIFY, SCRIPTS = "lib", "verify", "scripts"


@dataclass
class Context:
    """What all rows share."""

    root: Path
    programs: Programs
    tree: Tree
    report: PlainReport
    self_check: bool = False
    no_exercises: bool = False
    first_round: bool = True
    starters: Tree | None = None  # the tree of the committed starters
    unbuilt: dict[str, Verdict] = field(default_factory=dict)  # exercise id: it does not compile
    judged: dict[str, tuple[str, bool]] = field(default_factory=dict)  # exercise id: content, solved

    def adder(self, row: Row, prefix: str = "") -> Callable[[Check], None]:
        def add(check: Check) -> None:
            check.name = prefix + check.name
            row.checks.append(check)
            row.now = check.name
            self.report.check(row, check)

        return add


def unit_tests(context: Context, row: Row) -> None:
    """Every ctest test in the tree."""
    out = context.tree.out
    results = out / "ctest.xml"
    results.unlink(missing_ok=True)
    output: list[str] = []

    def on_line(line: str) -> None:
        output.append(line)
        row.now = line.strip()

    argv = ["ctest", "--test-dir", str(out), "--no-tests=error", "--output-junit", str(results)]
    limit = UNIT_LIMIT * time_factor(context.tree.preset)
    outcome = context.programs.run(argv, cwd=context.root, limit=limit, on_line=on_line, merge=True)
    if outcome.interrupted:
        return
    checks = junit.read_ctest(results) if results.exists() else []
    add = context.adder(row)
    for check in checks:
        add(check)
    if outcome.status != 0 and not any(check.state == FAIL for check in checks):
        words = [f"ctest: {outcome.ending()} {outcome.ended}", *output[-20:]]
        add(Check("ctest runs the unit tests", FAIL, detail=[f"# {line}" for line in words]))


def verify_tests(context: Context, row: Row) -> None:
    """The tests of the Lua library."""
    argv = [LUA, "verify/tests/run.lua"]
    run_tap(argv, context.root, UNIT_LIMIT, context.programs, {}, context.adder(row))


def script_tests(context: Context, row: Row) -> None:
    """The tests of these scripts."""
    runner = Path(__file__).with_name("unittest_tap.py")
    argv = [sys.executable, str(runner), "scripts/tests"]
    run_tap(argv, context.root, UNIT_LIMIT, context.programs, {}, context.adder(row))


def chapter_checks(context: Context, row: Row, chapter: Chapter) -> None:
    """verify.lua on the chapter's program, then on every exercise's."""
    if missing := chapter.missing():
        context.adder(row)(Check("the chapter", SKIP, f"not installed here: {', '.join(missing)}"))
        return
    tree, programs = context.tree, context.programs
    verify(chapter, tree.app(chapter.id), programs, tree.preset, on_check=context.adder(row))
    if context.no_exercises:
        return
    for exercise in exercises.of_chapter(chapter):
        if programs.stopping:
            return
        app = tree.app(chapter.id, "exercises", exercise.slug, "solution")
        add = context.adder(row, f"{exercise.slug} solution: ")
        verify(chapter, app, programs, tree.preset, on_check=add)
    for exercise in exercises.of_chapter(chapter):
        if programs.stopping:
            return
        if context.self_check:
            starter_check(context, row, exercise)
        elif context.first_round:
            readers_file(context, row, exercise)


def readers_file(context: Context, row: Row, exercise: Exercise) -> None:
    """Says how far the reader is: a note, never a failure."""
    row.now = f"{exercise.slug}: your file"
    try:
        content = exercise.content_hash()
        verdict = context.unbuilt.get(exercise.id) or judge(exercise, context.tree, context.programs)
    except UsageError as error:  # an error of the book, not of the reader
        context.adder(row, f"{exercise.slug}: ")(Check("can be judged", FAIL, detail=[f"# {error}"]))
        return
    if context.programs.stopping:
        return
    context.judged[exercise.id] = content, verdict.solved
    text = f"{exercise.slug}: {'solved' if verdict.solved else f'unsolved ({verdict.in_short()})'}"
    row.notes.append(text)
    context.report.note(row, text)


def record_verdicts(context: Context) -> None:
    """So that exercise.py list knows what this run found out."""
    state = State(context.root)
    for exercise, (content, solved) in context.judged.items():
        state.record(exercise, content, SOLVED if solved else UNSOLVED)


def starter_check(context: Context, row: Row, exercise: Exercise) -> None:
    """The committed starter compiles, and fails on exactly the checks that its README names."""
    add = context.adder(row, f"{exercise.slug} starter: ")
    unbuilt = context.unbuilt.get(exercise.id)
    compiler = [f"# {line}" for line in unbuilt.compiler] if unbuilt else []
    add(Check("compiles", FAIL if unbuilt else OK, detail=compiler))
    if unbuilt or context.starters is None:
        return
    row.now = f"{exercise.slug}: the starter"
    app = context.starters.app(exercise.chapter.id, "exercises", exercise.slug)
    checks = verify(exercise.chapter, app, context.programs, context.tree.preset)
    if not context.programs.stopping:
        add(exactly(exercise.judged_by, checks))


def exactly(named: list[str], checks: list[Check]) -> Check:
    """Did these checks fail, all of them and no others?"""
    result = Check("fails on exactly the checks that its README names", OK)
    failed = {check.name: check for check in checks if check.state == FAIL}
    skipped = {check.name: check.reason for check in checks if check.state == SKIP}
    missing = [name for name in named if name not in failed]
    surplus = [name for name in failed if name not in named]
    if named and not missing and not surplus:
        return result
    if missing and not surplus and all(name in skipped for name in missing):
        result.state, result.reason = SKIP, f"{missing[0]}: {skipped[missing[0]]}"
        return result
    result.state = FAIL
    result.detail = [f"# named, but did not fail: {name}" for name in missing]
    for name in surplus:
        result.detail += [f"# failed, but is not named: {name}", *failed[name].detail]
    if not named:
        result.detail.append("# the README names no check under '## Judged by'")
    return result


def build_readers_files(context: Context, chapters: list[Chapter]) -> None:
    """One after the other: two builds at once in one tree would disturb each other."""
    for exercise in exercises.of_all(chapters):
        if verdict := build_starter(exercise, context.tree):
            context.unbuilt[exercise.id] = verdict


def build_committed_starters(
    context: Context, chapters: list[Chapter], everything: list[Chapter]
) -> None:
    """From a scratch copy under build/, so that the reader's files are left alone."""
    scratch = context.root / "build" / "self-check"
    for exercise in exercises.of_all(everything):  # cmake looks at the files of every chapter
        copy = scratch / "starters" / exercise.file.relative_to(context.root / "examples")
        content = committed.read(context.root, exercise.file)
        if content is None:
            content = exercise.file.read_bytes()
            context.report.stage(f"{exercise.id}: not in git, its starter is taken as it is")
        write_if_changed(copy, content)
    options = [f"-DTTC_STARTERS={scratch / 'starters'}"]
    preset = context.tree.preset
    context.starters = Tree(
        context.root, preset, context.programs, context.report.building, scratch / preset, options
    )
    context.starters.configure()
    for exercise in exercises.of_all(chapters):
        if verdict := build_starter(exercise, context.starters):
            context.unbuilt[exercise.id] = verdict


def write_if_changed(path: Path, content: bytes) -> None:
    """An untouched file is not compiled again."""
    if path.exists() and path.read_bytes() == content:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
