"""A row of the report: a chapter, or the tests of the library, of verify/ and of the scripts."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from ttc.tap import FAIL, OK, SKIP, Check

WAITING, RUNNING, DONE = "waiting", "running", "done"


@dataclass
class Row:
    """What is known so far about one row. One thread at a time writes it."""

    id: str
    title: str
    checks: list[Check] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    state: str = WAITING
    now: str = ""
    seconds: float = 0.0
    _since: float = 0.0

    def start(self) -> None:
        self.state, self._since = RUNNING, time.monotonic()

    def finish(self) -> None:
        self.seconds += time.monotonic() - self._since
        self.state, self.now = DONE, ""

    def elapsed(self) -> float:
        running = time.monotonic() - self._since if self.state == RUNNING else 0.0
        return self.seconds + running

    def count(self, state: str) -> int:
        return sum(check.state == state for check in self.checks)

    def verdict(self) -> str:
        """One word for the row."""
        if self.state != DONE:
            return self.state
        if self.count(FAIL):
            return "FAILED"
        return "passed" if self.count(OK) else "skipped"


def totals(rows: Iterable[Row]) -> tuple[int, int, int]:
    """(passed, failed, skipped) of all rows."""
    everything = list(rows)
    passed, failed, skipped = (sum(row.count(state) for row in everything) for state in (OK, FAIL, SKIP))
    return passed, failed, skipped


def flaky(rows: Iterable[Row]) -> list[str]:
    """The checks that passed in one round and failed in another."""
    lines = []
    for row in rows:
        states: dict[str, list[str]] = {}
        for check in row.checks:
            states.setdefault(check.name, []).append(check.state)
        for name, seen in states.items():
            if OK in seen and FAIL in seen:
                lines.append(f"{row.id}: {name}: failed {seen.count(FAIL)} of {len(seen)} times")
    return lines
