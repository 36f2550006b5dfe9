"""Words for a terminal: colours only where somebody sees them."""

from __future__ import annotations

import os
import sys

_CODES = {"ok": "32", "FAIL": "31;1", "skip": "33", "bold": "1", "dim": "2", "add": "32", "remove": "31"}


def colours() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def paint(text: str, style: str) -> str:
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if colours() else text


def say(text: str = "") -> None:
    """Printed at once: a pipe's reader, too, wants to see how far it is."""
    print(text, flush=True)


def check_lines(state: str, name: str, reason: str, detail: list[str]) -> list[str]:
    """`ok`, `FAIL` or `skip`, the check's name, and what it said."""
    suffix = f" # {reason}" if reason else ""
    return [f"{paint(f'{state:4}', state)}  {name}{suffix}", *(f"      {line}" for line in detail)]
