"""Tells how a run goes: a live table on a terminal, plain lines on a pipe."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from ttc.rows import FAIL, OK, RUNNING, SKIP, Row, flaky, totals
from ttc.tap import Check
from ttc.term import check_lines, colours, paint, say


class PlainReport:
    """One line a check, as it comes; what a failed check said stands under it."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self._lock = threading.Lock()

    def __enter__(self) -> PlainReport:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def building(self, line: str) -> None:
        """A line of the build: of no interest on a pipe unless the build fails."""

    def stage(self, text: str) -> None:
        say(f"== {text}")

    def check(self, row: Row, check: Check) -> None:
        with self._lock:
            detail = check.detail if check.state == FAIL else []
            for line in check_lines(check.state, f"{row.id}: {check.name}", check.reason, detail):
                say(line)

    def note(self, row: Row, text: str) -> None:
        with self._lock:
            say(f"note  {row.id}: {text}")

    def close(self) -> None:
        """The failed checks once more, by name: the output above may be long."""
        for row in self.rows:
            for check in row.checks:
                if check.state == FAIL:
                    say(f"failed: {row.id}: {check.name}")


class LiveReport(PlainReport):
    """A table that is redrawn in place; details follow when it is complete."""

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(rows)
        from rich.console import Console
        from rich.live import Live

        self._stage = ""
        self._live = Live(
            console=Console(highlight=False), get_renderable=self._render, refresh_per_second=8
        )

    def __enter__(self) -> LiveReport:
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def building(self, line: str) -> None:
        self._stage = f"build: {line}"

    def stage(self, text: str) -> None:
        self._stage = text

    def check(self, row: Row, check: Check) -> None:
        """The table shows it already."""

    def note(self, row: Row, text: str) -> None:
        """Shown at the end."""

    def _render(self) -> object:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, pad_edge=False, expand=True)
        table.add_column("chapter", no_wrap=True)
        table.add_column("state", no_wrap=True, width=7)
        for heading in (OK, "fail", SKIP, "s"):
            table.add_column(heading, justify="right", no_wrap=True, min_width=4)
        table.add_column("now", ratio=1, no_wrap=True, overflow="ellipsis")
        styles = {"FAILED": "bold red", "passed": "green", "skipped": "yellow", RUNNING: "bold"}
        for row in self.rows:
            counts = [str(row.count(state)) for state in (OK, FAIL, SKIP)]
            word = Text(row.verdict(), style=styles.get(row.verdict(), "dim"))
            table.add_row(Text(row.id), word, *counts, f"{row.elapsed():.1f}", Text(row.now))
        return Group(table, Text(self._stage, style="dim", no_wrap=True, overflow="ellipsis"))

    def close(self) -> None:
        for row in self.rows:
            for check in row.checks:
                if check.state != OK:
                    detail = check.detail if check.state == FAIL else []
                    for line in check_lines(check.state, f"{row.id}: {check.name}", check.reason, detail):
                        say(line)
            for text in row.notes:
                say(f"note  {row.id}: {text}")


def choose(rows: Sequence[Row]) -> PlainReport:
    """The live table where it can be seen (and where rich is installed)."""
    if not colours():
        return PlainReport(rows)
    try:
        return LiveReport(rows)
    except ImportError:
        return PlainReport(rows)


def summary(rows: Sequence[Row], rounds: int) -> int:
    """The closing lines, and the exit status: 0 only if something passed and nothing failed."""
    passed, failed, skipped = totals(rows)
    unstable = flaky(rows) if rounds > 1 else []
    for line in unstable:
        say(paint(f"flaky: {line}", "FAIL"))
    if rounds > 1 and not unstable:
        say(f"{rounds} rounds, no check was flaky")
    if passed == 0 and failed == 0:
        say(paint("Nothing was checked: this is not a pass.", "FAIL"))
    say(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if passed and not failed else 1
