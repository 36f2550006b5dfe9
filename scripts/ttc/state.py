"""What exercise.py remembers between calls: verdicts, hints shown, solutions asked for."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

SOLVED, UNSOLVED, NOT_TRIED = "solved", "unsolved", "not tried"


class State:
    """build/exercise-state.json; a file that cannot be read counts as empty."""

    def __init__(self, root: Path) -> None:
        self._path = root / "build" / "exercise-state.json"

    def _load(self) -> dict:
        try:
            data = json.loads(self._path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return data if isinstance(data, dict) else {}

    def _save(self, data: dict) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=self._path.parent, prefix="exercise-state")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(data, file, indent=1, sort_keys=True)
        os.replace(name, self._path)  # another call reads the old state or the new, never half

    def verdict(self, exercise: str, content: str) -> str:
        """The verdict on exactly this content of the exercise's file."""
        return self._load().get(exercise, {}).get("verdicts", {}).get(content, NOT_TRIED)

    def record(self, exercise: str, content: str, verdict: str) -> None:
        data = self._load()
        data.setdefault(exercise, {}).setdefault("verdicts", {})[content] = verdict
        self._save(data)

    def count(self, exercise: str, what: str) -> int:
        """Counts one more `what`; gives how often it had happened before."""
        data = self._load()
        entry = data.setdefault(exercise, {})
        before = int(entry.get(what, 0))
        entry[what] = before + 1
        self._save(data)
        return before

    def forget(self, exercise: str) -> None:
        """Hints and the solution start from the beginning again; verdicts stay true."""
        data = self._load()
        for what in ("hints", "solution asked"):
            data.get(exercise, {}).pop(what, None)
        self._save(data)
