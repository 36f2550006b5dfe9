"""Runs verify.lua on a program, and judges an exercise by the checks that its README names."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from ttc.build import BuildError, Tree
from ttc.exercises import Exercise
from ttc.lua import LUA
from ttc.manifest import Chapter, UsageError, time_factor
from ttc.run import Programs
from ttc.tap import FAIL, OK, SKIP, Check, TapReader, closing

SHARDS = 2


def verify(
    chapter: Chapter,
    app: Path,
    programs: Programs,
    preset: str,
    only: list[str] | None = None,
    on_check: Callable[[Check], object] = lambda check: None,
) -> list[Check]:
    """The chapter's checks on the program `app`, as they come."""
    script = chapter.folder / "verify.lua"
    argv = [LUA, str(script.relative_to(chapter.root))]
    for name in only or []:
        argv += ["--only", name]
    env = {"VERIFY_PRESET": preset, "VERIFY_APP": str(app)}
    return run_tap(argv, chapter.root, chapter.time_limit * time_factor(preset), programs, env, on_check)


def run_tap(
    argv: list[str],
    cwd: Path,
    limit: float,
    programs: Programs,
    env: dict[str, str],
    on_check: Callable[[Check], object] = lambda check: None,
) -> list[Check]:
    """Runs a program that prints TAP. A check is reported when it is complete with its lines."""
    reader = TapReader()

    def on_line(line: str) -> None:
        if reader.feed(line) and len(reader.checks) > 1:
            on_check(reader.checks[-2])

    try:
        outcome = programs.run(argv, cwd=cwd, limit=limit, env=env, on_line=on_line)
    except FileNotFoundError as error:
        missing = Check(Path(argv[-1]).name, FAIL, detail=[f"# cannot run {argv[0]}: {error.strerror}"])
        on_check(missing)
        return [missing]
    if reader.checks:
        on_check(reader.checks[-1])
    checks = list(reader.checks)
    if extra := closing(reader, outcome, Path(argv[1]).name if len(argv) > 1 else argv[0]):
        on_check(extra)
        checks.append(extra)
    return checks


@dataclass
class Verdict:
    """What came of a reader's file."""

    compiled: bool = True
    compiler: list[str] = field(default_factory=list)
    named: list[Check] = field(default_factory=list)
    others: list[Check] = field(default_factory=list)
    complete: bool = False

    @property
    def solved(self) -> bool:
        everything = self.named and all(check.state == OK for check in self.named)
        return bool(self.complete and everything and not self.broken)

    @property
    def failed(self) -> list[Check]:
        return [check for check in self.named if check.state == FAIL]

    @property
    def skipped(self) -> list[Check]:
        return [check for check in self.named if check.state == SKIP]

    @property
    def broken(self) -> list[Check]:
        """Checks that this exercise is not about, and that fail."""
        return [check for check in self.others if check.state == FAIL]

    def in_short(self) -> str:
        """One line on why it is not solved."""
        if not self.compiled:
            return "it does not compile"
        for checks, word in ((self.failed, "fails"), (self.broken, "broke"), (self.skipped, "was skipped")):
            if checks:
                return f"{word}: {checks[0].name}"
        return "not judged"


def build_starter(exercise: Exercise, tree: Tree) -> Verdict | None:
    """Builds the reader's file; a verdict only when it does not compile."""
    try:
        tree.build(exercise.target)
    except BuildError as error:
        return Verdict(compiled=False, compiler=error.output)
    return None


def judge(
    exercise: Exercise,
    tree: Tree,
    programs: Programs,
    on_check: Callable[[Check], object] = lambda check: None,
) -> Verdict:
    """The named checks first, and the others only if those pass: the answer that matters comes soon."""
    names = exercise.judged_by
    if not names:
        raise UsageError(f"{exercise.id}: its README names no check under '## Judged by'")
    app = tree.app(exercise.chapter.id, "exercises", exercise.slug)
    run = partial(verify, exercise.chapter, app, programs, tree.preset)
    checks = run(only=names, on_check=on_check)
    for check in absent(names, checks):
        checks.append(check)
        on_check(check)
    first = split(names, checks)
    if first.failed or first.broken or first.skipped or programs.stopping:
        return first
    others = [name for name in check_names(exercise.chapter, programs) if name not in names]
    with ThreadPoolExecutor(SHARDS) as pool:
        futures = [pool.submit(run, only=shard) for shard in shards(others)]
        checks = [check for future in futures for check in future.result()]
    whole = Verdict(named=first.named, others=[check for check in checks if check.name not in names])
    # a name can be part of another's: what ran again must have passed again
    whole.named += [check for check in checks if check.name in names and check.state == FAIL]
    whole.complete = not programs.stopping
    return whole


def check_names(chapter: Chapter, programs: Programs) -> list[str]:
    """What verify.lua --list says."""
    names: list[str] = []
    argv = [LUA, str((chapter.folder / "verify.lua").relative_to(chapter.root)), "--list"]
    outcome = programs.run(argv, cwd=chapter.root, limit=chapter.time_limit, on_line=names.append)
    return names if outcome.status == 0 else []


def shards(names: list[str]) -> list[list[str]]:
    """Checks wait more than they compute: two halves at once are soon done. No name: one run of all."""
    halves = [names[start::SHARDS] for start in range(SHARDS)]
    return [half for half in halves if half] or [[]]


def absent(names: list[str], checks: list[Check]) -> list[Check]:
    """A failed check for each name that never came, unless a run that broke off explains it."""
    came = {check.name for check in checks}
    if any(check.state == FAIL and check.name not in names for check in checks):
        return []
    detail = ["# verify.lua has no check of this name"]
    return [Check(name, FAIL, detail=detail) for name in names if name not in came]


def split(names: list[str], checks: list[Check]) -> Verdict:
    """Sorts checks into those that the exercise names and the others."""
    named = [check for check in checks if check.name in names]
    return Verdict(named=named, others=[check for check in checks if check.name not in names])
