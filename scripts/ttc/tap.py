"""Reads TAP 13 line by line, and says whether a run ended as its lines promised."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field

from ttc.run import Outcome

OK, FAIL, SKIP = "ok", "FAIL", "skip"
SKIPPED_STATUS = 77

_RESULT = re.compile(r"^(not ok|ok)\b\s*\d*\s*(?:-\s+)?(.*)$")
_SKIP = re.compile(r"\s*# SKIP\b\S*\s*(.*)$", re.IGNORECASE)
_PLAN = re.compile(r"^1\.\.(\d+)\s*(?:# SKIP\b\S*\s*(.*))?$", re.IGNORECASE)


@dataclass
class Check:
    """One named check: its state, why it was skipped, what it said when it failed."""

    name: str
    state: str
    reason: str = ""
    detail: list[str] = field(default_factory=list)
    seconds: float = 0.0


class TapReader:
    """Collects checks. A check is complete when the next one, or the end, has come."""

    def __init__(self) -> None:
        self.checks: list[Check] = []
        self.plan: int | None = None
        self.skip_all = ""
        self.loose: list[str] = []
        self._since = time.monotonic()

    def feed(self, line: str) -> Check | None:
        """Takes one line; gives the check that this line starts, if it does."""
        if match := _RESULT.match(line):
            return self._start(match[1], match[2])
        if match := _PLAN.match(line):
            self.plan, self.skip_all = int(match[1]), match[2] or ""
        elif line.strip() and not line.startswith("TAP version"):
            lines = self.checks[-1].detail if self.checks else self.loose
            lines.append(line)
        return None

    def _start(self, word: str, text: str) -> Check:
        skip = _SKIP.search(text)
        name = text[: skip.start()] if skip else text
        state = SKIP if skip and word == "ok" else OK if word == "ok" else FAIL
        now = time.monotonic()
        check = Check(name.strip(), state, skip[1].strip() if skip else "", seconds=now - self._since)
        self._since = now
        self.checks.append(check)
        return check

    def failed(self) -> list[Check]:
        return [check for check in self.checks if check.state == FAIL]


def closing(reader: TapReader, outcome: Outcome, program: str) -> Check | None:
    """A further check when the run as a whole was not what its lines say, else None."""
    if outcome.interrupted:
        return None
    if outcome.timed_out:
        return _broken(f"{program} ends within {outcome.limit:g} s", _late(reader, outcome), outcome)
    if outcome.status not in (0, 1, SKIPPED_STATUS):
        return _broken(f"{program} runs to its end", _ending(reader, outcome), outcome)
    if outcome.left:
        return _broken(f"{program} leaves no process behind", outcome.left, outcome)
    if reader.plan == 0 and not reader.checks:
        return Check(program, SKIP, reader.skip_all or "nothing to check")
    if reader.plan != len(reader.checks):
        planned = "no plan line came" if reader.plan is None else f"its plan says {reader.plan}"
        words = [f"{len(reader.checks)} checks came, {planned}", *reader.loose]
        return _broken(f"{program} runs to its end", words, outcome)
    return _status_agrees(reader, outcome, program)


def _status_agrees(reader: TapReader, outcome: Outcome, program: str) -> Check | None:
    """An exit status that contradicts the lines would hide a failure from a shell."""
    only_skips = all(check.state == SKIP for check in reader.checks)
    allowed = {1} if reader.failed() else {0, SKIPPED_STATUS} if only_skips else {0}
    if outcome.status in allowed:
        return None
    words = [f"{len(reader.failed())} checks failed, yet it ended with {outcome.ending()}"]
    return _broken(f"{program} has the exit status of its checks", words, outcome)


def _ending(reader: TapReader, outcome: Outcome) -> list[str]:
    return [f"it ended with {outcome.ending()}", *reader.loose]


def _late(reader: TapReader, outcome: Outcome) -> list[str]:
    last = reader.checks[-1].name if reader.checks else "none"
    return [f"time limit of {outcome.limit:g} s passed; {outcome.ended}", f"last finished check: {last}"]


def _broken(name: str, words: list[str], outcome: Outcome) -> Check:
    errors = outcome.stderr.strip().splitlines()[-20:]
    return Check(name, FAIL, detail=[f"# {line}" for line in words + errors], seconds=0.0)
