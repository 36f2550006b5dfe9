"""Runs the unittest tests of a directory and prints TAP: python3 unittest_tap.py DIRECTORY [MODULE.py]."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import traceback
import unittest
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

_RESULT = re.compile(r"^(ok|not ok) \d+ - (.*)$")


class TapResult(unittest.TestResult):
    """Prints each test as a line when it is done; a failed one with its traceback."""

    def __init__(self) -> None:
        super().__init__()
        self.number = 0

    def _line(self, word: str, test: unittest.TestCase, rest: str = "", detail: str = "") -> None:
        self.number += 1
        print(f"{word} {self.number} - {test.id()}{rest}")
        for line in detail.splitlines():
            print(f"# {line}")
        sys.stdout.flush()

    def addSuccess(self, test: unittest.TestCase) -> None:
        super().addSuccess(test)
        self._line("ok", test)

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, reason)
        self._line("ok", test, f" # SKIP {reason}")

    def addFailure(self, test: unittest.TestCase, err: tuple) -> None:  # type: ignore[override]
        super().addFailure(test, err)
        self._line("not ok", test, detail="".join(traceback.format_exception(*err)))

    def addError(self, test: unittest.TestCase, err: tuple) -> None:  # type: ignore[override]
        super().addError(test, err)
        self._line("not ok", test, detail="".join(traceback.format_exception(*err)))

    def addSubTest(self, test, subtest, err) -> None:  # type: ignore[no-untyped-def]
        super().addSubTest(test, subtest, err)
        if err is not None:
            self._line("not ok", subtest, detail="".join(traceback.format_exception(*err)))

    def addExpectedFailure(self, test: unittest.TestCase, err: tuple) -> None:  # type: ignore[override]
        super().addExpectedFailure(test, err)
        self._line("ok", test)

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        super().addUnexpectedSuccess(test)
        self._line("not ok", test, detail="it passed, and was expected to fail")


def run_here(directory: str, module: str) -> int:
    """The tests of one module, in this process."""
    result = TapResult()
    unittest.TestLoader().discover(directory, module, directory).run(result)
    print(f"1..{result.number}", flush=True)
    return 0 if result.wasSuccessful() else 1


def run_module(directory: str, module: str) -> list[str]:
    """The same in a process of its own: its lines, with one more when they are not all there."""
    argv = [sys.executable, __file__, directory, module]
    done = subprocess.run(argv, capture_output=True, text=True, errors="replace", check=False)
    lines = done.stdout.splitlines()
    failed = any(line.startswith("not ok") for line in lines)
    if not (lines and lines[-1].startswith("1..")) or done.returncode != failed:
        lines.append(f"not ok 0 - {module} ends as its tests do (exit status {done.returncode})")
        lines += [f"# {line}" for line in done.stderr.splitlines()]
    return lines


def renumber(lines: list[str], number: int) -> Iterator[str]:
    """The results and diagnostics of one module, counted on from `number`; its plan is left out."""
    for line in lines:
        if match := _RESULT.match(line):
            number += 1
            yield f"{match[1]} {number} - {match[2]}"
        elif not line.startswith("1.."):
            yield line


def main(directory: str) -> int:
    """All modules, as many at once as there are processors: these tests wait more than they compute."""
    print("TAP version 13")
    modules = sorted(path.name for path in Path(directory).glob("test_*.py"))
    number, failed = 0, False
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for future in as_completed([pool.submit(run_module, directory, module) for module in modules]):
            for line in renumber(future.result(), number):
                number += _RESULT.match(line) is not None
                failed = failed or line.startswith("not ok")
                print(line)
            sys.stdout.flush()
    print(f"1..{number}")
    return 1 if failed or number == 0 else 0


if __name__ == "__main__":
    sys.exit(run_here(*sys.argv[1:]) if len(sys.argv) > 2 else main(sys.argv[1]))
