#!/usr/bin/python3
"""Builds everything, runs every test, every chapter's checks and every exercise's solution."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from ttc import junit, manifest, report, suite  # noqa: E402
from ttc.build import BuildError, Tree  # noqa: E402
from ttc.manifest import Chapter, UsageError  # noqa: E402
from ttc.report import PlainReport  # noqa: E402
from ttc.rows import Row  # noqa: E402
from ttc.run import Programs  # noqa: E402
from ttc.tap import FAIL, Check  # noqa: E402
from ttc.term import say  # noqa: E402

EXIT_USAGE, EXIT_INTERRUPTED = 2, 130

Work = Callable[[suite.Context, Row], None]

# id: title, the language that --lang knows it by, what it runs
TESTS: dict[str, tuple[str, str, Work]] = {
    suite.LIB: ("the C++ library's unit tests", "cpp", suite.unit_tests),
    suite.VERIFY: ("the tests of verify/", "lua", suite.verify_tests),
    suite.SCRIPTS: ("the tests of scripts/", "python", suite.script_tests),
}


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="test-all-examples.py", description=__doc__)
    parser.add_argument("--only", action="append", metavar="ID", help="a chapter, lib, verify or scripts")
    parser.add_argument("--lang", action="append", metavar="L", help="only what is written in L")
    parser.add_argument("--jobs", type=positive, default=1, help="chapters at the same time (default 1)")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write the results as JUnit XML, too")
    parser.add_argument("--repeat", type=positive, default=1, metavar="N", help="run the checks N times")
    help_ = "demand that the committed starters fail as they should"
    parser.add_argument("--self-check", action="store_true", help=help_)
    help_ = "the chapters' own programs, without the exercises"
    parser.add_argument("--no-exercises", action="store_true", help=help_)
    parser.add_argument("--preset", choices=manifest.PRESETS, default="release")
    return parser.parse_args(words)


class Plan:
    """The rows to run, and the chapters among them."""

    def __init__(self, root: Path, only: list[str], languages: list[str]) -> None:
        self.everything = manifest.load(root)
        self.whole = not only
        self.rows: list[tuple[Row, Work]] = []
        self.chapters = self._chapters(only, languages)
        for name, (title, language, work) in TESTS.items():
            if (not only or name in only) and (not languages or language in languages):
                self.rows.append((Row(name, title), work))
        for chapter in self.chapters:
            work = partial(suite.chapter_checks, chapter=chapter)
            self.rows.append((Row(chapter.id, chapter.title), work))
        if not self.rows:
            raise UsageError("nothing is both in --only and in --lang")

    def _chapters(self, only: list[str], languages: list[str]) -> list[Chapter]:
        known = {name for chapter in self.everything for name in chapter.languages}
        known |= {language for _, language, _ in TESTS.values()}
        if unknown := [name for name in languages if name not in known]:
            raise UsageError(f"no language '{unknown[0]}'; there are: {', '.join(sorted(known))}")
        chosen = [self._find(word) for word in only if word not in TESTS] if only else self.everything
        unique = [chapter for chapter in self.everything if chapter in chosen]
        return [one for one in unique if not languages or set(languages) & set(one.languages)]

    def _find(self, word: str) -> Chapter:
        try:
            return manifest.find(self.everything, word)
        except UsageError as error:
            raise UsageError(f"{error}, {', '.join(TESTS)}") from error

    def targets(self) -> list[str]:
        """What to build: all, or only what the chosen rows need."""
        if self.whole or any(row.id == suite.LIB for row, _ in self.rows):
            return ["all"]
        return [f"{chapter.id}/all" for chapter in self.chapters]


def build(context: suite.Context, plan: Plan) -> Check | None:
    """Builds what the rows need; a failed check when that is not possible."""
    try:
        for target in plan.targets():
            context.tree.build(target)
        if context.no_exercises:
            return None
        if context.self_check:
            suite.build_committed_starters(context, plan.chapters, plan.everything)
        else:
            suite.build_readers_files(context, plan.chapters)
    except BuildError as error:
        return Check(str(error), FAIL, detail=error.output)
    except UsageError as error:
        return Check("the exercises can be built", FAIL, detail=[f"# {error}"])
    return None


def run_round(context: suite.Context, plan: Plan, jobs: int) -> None:
    """Every row once."""

    def run(row: Row, work: Work) -> None:
        if context.programs.stopping:
            return
        row.start()
        try:
            work(context, row)
        except (UsageError, OSError) as error:  # this row's files are not as they should be
            context.adder(row)(Check("can be checked", FAIL, detail=[f"# {error}"]))
        finally:
            row.finish()

    with ThreadPoolExecutor(jobs) as pool:
        futures: set[Future[None]] = {pool.submit(run, row, work) for row, work in plan.rows}
        while futures:
            done, futures = wait(futures, timeout=0.2, return_when=FIRST_EXCEPTION)
            for future in done:
                future.result()


def check_all(args: argparse.Namespace, context: suite.Context, plan: Plan, rows: list[Row]) -> None:
    context.report.stage(f"building ({args.preset})")
    if failed := build(context, plan):
        row = Row("build", "the build", [failed])
        rows.insert(0, row)
        context.report.check(row, failed)
        return
    for number in range(1, args.repeat + 1):
        context.report.stage(f"round {number} of {args.repeat}" if args.repeat > 1 else "checking")
        context.first_round = number == 1
        run_round(context, plan, args.jobs)
    context.report.stage("done")


def run_plan(args: argparse.Namespace, root: Path, plan: Plan) -> int:
    programs = Programs()
    rows = [row for row, _ in plan.rows]
    shown: PlainReport = report.choose(rows)
    tree = Tree(root, args.preset, programs, shown.building)
    context = suite.Context(root, programs, tree, shown, args.self_check, args.no_exercises)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: programs.stop())
    try:
        with shown:
            check_all(args, context, plan, rows)
    except KeyboardInterrupt:
        pass  # stopped while building
    shown.close()
    suite.record_verdicts(context)
    if args.junit:
        junit.write(args.junit, rows)
    if programs.stopping:
        say("Interrupted: every program that was running was ended, with its whole process group.")
    status = report.summary(rows, args.repeat)
    return EXIT_INTERRUPTED if programs.stopping else status


def main(words: list[str] | None = None) -> int:
    args = arguments(words)
    root = manifest.project_root()
    try:
        return run_plan(args, root, Plan(root, args.only or [], args.lang or []))
    except UsageError as error:
        print(f"test-all-examples.py: {error}", file=sys.stderr)
        return EXIT_USAGE


if __name__ == "__main__":
    sys.exit(main())
