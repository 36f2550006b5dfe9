"""Running programs: lines, limits, and nothing left behind."""

from __future__ import annotations

import sys
import threading
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from ttc.run import Outcome, Programs  # noqa: E402

HERE = Path(__file__).resolve().parent


class Run(unittest.TestCase):
    def setUp(self) -> None:
        self.programs = Programs(grace=0.3, linger=0.2)
        self.lines: list[str] = []

    def sh(self, script: str, limit: float = 20) -> Outcome:
        return self.programs.run(["sh", "-c", script], cwd=HERE, limit=limit, on_line=self.lines.append)

    def test_lines_status_and_errors(self) -> None:
        outcome = self.sh("echo one; echo oops >&2; printf two; exit 3")
        self.assertEqual((self.lines, outcome.status, outcome.stderr), (["one", "two"], 3, "oops\n"))
        self.assertFalse(outcome.timed_out or outcome.interrupted or outcome.left)

    def test_much_output_is_complete(self) -> None:
        self.sh("seq 100000")
        self.assertEqual((len(self.lines), self.lines[-1]), (100000, "100000"))

    def test_the_time_limit_ends_children_too(self) -> None:
        outcome = self.sh("sleep 60 & echo $!; wait", limit=0.3)
        self.assertTrue(outcome.timed_out)
        self.assertEqual(outcome.ended, "its process group was ended with SIGTERM")
        self.assertFalse(is_alive(int(self.lines[0])))

    def test_who_ignores_term_is_killed(self) -> None:
        outcome = self.sh("trap '' TERM; echo ready; while :; do sleep 1; done", limit=0.3)
        self.assertIn("SIGKILL", outcome.ended)
        self.assertEqual(outcome.ending(), "signal SIGKILL")

    def test_a_closed_output_does_not_escape_the_limit(self) -> None:
        self.assertTrue(self.sh("exec >&- 2>&-; sleep 60", limit=0.3).timed_out)

    def test_what_is_left_running_is_ended_and_told(self) -> None:
        outcome = self.sh("sleep 60 & echo $!")
        self.assertEqual(outcome.status, 0)
        self.assertEqual(len(outcome.left), 1)
        self.assertIn("sleep", outcome.left[0])
        self.assertFalse(is_alive(int(self.lines[0])))

    def test_stop_ends_it_and_prevents_the_next(self) -> None:
        started = threading.Event()
        threading.Thread(target=lambda: (started.wait(20), self.programs.stop()), daemon=True).start()
        start = time.monotonic()
        outcome = self.programs.run(
            ["sh", "-c", "echo up; exec sleep 60"], cwd=HERE, limit=50, on_line=lambda line: started.set()
        )
        self.assertTrue(outcome.interrupted)
        self.assertFalse(outcome.timed_out)
        self.assertLess(time.monotonic() - start, 20)
        self.assertTrue(self.sh("echo never").interrupted)
        self.assertEqual(self.lines, [])


def is_alive(pid: int) -> bool:
    """A zombie that nobody has waited for yet is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()
