"""Runs programs, each in a process group of its own, with a time limit, and ends what is left."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

GRACE = 2.0  # seconds between asking a group to end and making it
STEP = 0.1  # how soon a stop request is noticed
LINGER = 1.0  # how long an ended program's children may still be there


@dataclass
class Outcome:
    """How a program ended."""

    limit: float
    status: int | None = None
    seconds: float = 0.0
    timed_out: bool = False
    interrupted: bool = False
    ended: str = ""
    stderr: str = ""
    left: list[str] = field(default_factory=list)

    def ending(self) -> str:
        if self.status is not None and self.status < 0:
            return f"signal {signal.Signals(-self.status).name}"
        return f"exit status {self.status}"


class Programs:
    """Starts programs for any number of threads; stop() makes all of them end theirs."""

    def __init__(self, grace: float = GRACE, linger: float = LINGER) -> None:
        self._stopping = threading.Event()
        self._grace = grace
        self._linger = linger

    @property
    def stopping(self) -> bool:
        return self._stopping.is_set()

    def stop(self) -> None:
        self._stopping.set()

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        limit: float,
        env: Mapping[str, str] | None = None,
        on_line: Callable[[str], object] = lambda line: None,
        merge: bool = False,
    ) -> Outcome:
        """Runs argv to its end, its time limit or stop(); each line of its output goes to on_line."""
        outcome = Outcome(limit)
        if self.stopping:
            outcome.interrupted = True
            return outcome
        start = time.monotonic()
        with subprocess.Popen(
            argv,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if merge else subprocess.PIPE,
            start_new_session=True,
        ) as process:
            try:
                self._follow(process, outcome, start + limit, on_line)
            finally:
                self._end_group(process, outcome)
            outcome.status = process.wait()
        outcome.seconds = time.monotonic() - start
        return outcome

    def _end_group(self, process: subprocess.Popen, outcome: Outcome) -> None:
        """Nothing of the group outlives the call: TERM, a grace, then KILL."""
        finished = process.poll() is not None
        members = _wait_until_gone(process, self._linger) if finished else group_members(process.pid)
        if finished:
            outcome.left = [f"still running after its end, now ended: {member}" for member in members]
        if not members:
            return
        os.killpg(process.pid, signal.SIGTERM)
        outcome.ended = "its process group was ended with SIGTERM"
        if _wait_until_gone(process, self._grace):
            os.killpg(process.pid, signal.SIGKILL)
            outcome.ended = "its process group was ended with SIGTERM, then SIGKILL"
            _wait_until_gone(process, GRACE)

    def _follow(
        self, process: subprocess.Popen, outcome: Outcome, deadline: float, on_line: Callable[[str], object]
    ) -> None:
        reader = _Output(process, on_line)
        while reader.open_pipes():
            reader.read(min(STEP, max(0.0, deadline - time.monotonic())))
            if process.poll() is not None:
                reader.read(0)  # a child may hold the pipe open: what is there now is all
                break
            outcome.timed_out = time.monotonic() >= deadline
            outcome.interrupted = self.stopping
            if outcome.timed_out or outcome.interrupted:
                break
        while process.poll() is None and not (outcome.timed_out or outcome.interrupted):
            time.sleep(STEP / 10)  # it closed its output and goes on: wait for its end
            outcome.timed_out = time.monotonic() >= deadline
            outcome.interrupted = self.stopping
        reader.close()
        outcome.stderr = reader.stderr


class _Output:
    """The pipes of one program, split into lines."""

    def __init__(self, process: subprocess.Popen, on_line: Callable[[str], object]) -> None:
        self.stderr = ""
        self._on_line = on_line
        self._partial = b""
        self._errors = b""
        self._selector = selectors.DefaultSelector()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                os.set_blocking(pipe.fileno(), False)
                self._selector.register(pipe, selectors.EVENT_READ, pipe is process.stdout)

    def open_pipes(self) -> bool:
        return bool(self._selector.get_map())

    def read(self, timeout: float) -> None:
        """Reads what comes within the time; drains the pipes when the time is 0."""
        while ready := self._selector.select(timeout):
            for key, _ in ready:
                data = os.read(key.fd, 65536)
                if not data:
                    self._selector.unregister(key.fileobj)
                elif key.data:
                    self._lines(data)
                else:
                    self._errors += data
            if timeout > 0:
                return

    def _lines(self, data: bytes) -> None:
        *lines, self._partial = (self._partial + data).split(b"\n")
        for line in lines:
            self._on_line(line.decode("utf-8", "replace"))

    def close(self) -> None:
        if self._partial:
            self._on_line(self._partial.decode("utf-8", "replace"))
        self.stderr = self._errors.decode("utf-8", "replace")
        self._selector.close()


def group_members(group: int) -> list[str]:
    """The living processes of a process group, as 'pid name' (a zombie does not live)."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            name, _, rest = (entry / "stat").read_text(errors="replace").partition("(")[2].rpartition(")")
        except OSError:
            continue  # it ended meanwhile
        state, _, pgrp = rest.split()[:3]
        if int(pgrp) == group and state not in "ZX":
            found.append(f"{entry.name} {name}")
    return found


def _wait_until_gone(process: subprocess.Popen, seconds: float) -> list[str]:
    deadline = time.monotonic() + seconds
    while (members := group_members(process.pid)) and time.monotonic() < deadline:
        process.poll()
        time.sleep(0.02)
    return members
