"""Reading TAP, and noticing that a run was not what its lines say."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from ttc.run import Outcome  # noqa: E402
from ttc.tap import FAIL, OK, SKIP, Check, TapReader, closing  # noqa: E402


def read(*lines: str) -> TapReader:
    reader = TapReader()
    for line in lines:
        reader.feed(line)
    return reader


def close(reader: TapReader, status: int, **more: object) -> Check | None:
    return closing(reader, Outcome(limit=5, status=status, **more), "verify.lua")


class Lines(unittest.TestCase):
    def test_the_three_states(self) -> None:
        reader = read("TAP version 13", "ok 1 - a", "not ok 2 - b # 2", "ok 3 - c # SKIP no strace", "1..3")
        states = [(check.name, check.state, check.reason) for check in reader.checks]
        self.assertEqual(states, [("a", OK, ""), ("b # 2", FAIL, ""), ("c", SKIP, "no strace")])
        self.assertEqual(reader.plan, 3)

    def test_a_failure_cannot_be_skipped(self) -> None:
        self.assertEqual(read("not ok 1 - a # SKIP later").checks[0].state, FAIL)

    def test_diagnostics_belong_to_the_check_before(self) -> None:
        reader = read("# loose", "not ok 1 - a", "# sent: x", "#   more", "ok 2 - b", "1..2")
        self.assertEqual(reader.checks[0].detail, ["# sent: x", "#   more"])
        self.assertEqual(reader.checks[1].detail, [])
        self.assertEqual(reader.loose, ["# loose"])

    def test_words_that_only_look_like_results(self) -> None:
        self.assertEqual(read("okay", "not okay", "# ok 1 - a").checks, [])


class Closing(unittest.TestCase):
    def problem(self, check: Check | None) -> str:
        self.assertIsNotNone(check)
        assert check
        self.assertEqual(check.state, FAIL)
        return "\n".join([check.name, *check.detail])

    def test_good_endings(self) -> None:
        self.assertIsNone(close(read("ok 1 - a", "1..1"), 0))
        self.assertIsNone(close(read("not ok 1 - a", "1..1"), 1))
        self.assertIsNone(close(read("ok 1 - a # SKIP b", "1..1"), 77))

    def test_no_plan_and_wrong_plan(self) -> None:
        self.assertIn("no plan line came", self.problem(close(read("ok 1 - a"), 0)))
        self.assertIn("its plan says 2", self.problem(close(read("ok 1 - a", "1..2"), 0)))
        self.assertIn("0 checks came", self.problem(close(read(), 0)))

    def test_exit_status_against_the_lines(self) -> None:
        self.assertIn("exit status 0", self.problem(close(read("not ok 1 - a", "1..1"), 0)))
        self.assertIn("exit status 1", self.problem(close(read("ok 1 - a", "1..1"), 1)))
        self.assertIn("exit status 77", self.problem(close(read("ok 1 - a", "1..1"), 77)))

    def test_crash_timeout_and_leftovers(self) -> None:
        reader = read("ok 1 - a", "1..1")
        self.assertIn("signal SIGSEGV", self.problem(close(reader, -11)))
        self.assertIn("boom", self.problem(close(reader, 2, stderr="boom\n")))
        self.assertIn("within 5 s", self.problem(close(reader, -15, timed_out=True)))
        self.assertIn("leaves no process", self.problem(close(reader, 0, left=["1 sleep"])))

    def test_everything_skipped_by_plan(self) -> None:
        check = close(read("1..0 # SKIP no lua"), 77)
        assert check
        self.assertEqual((check.state, check.reason), (SKIP, "no lua"))

    def test_an_interrupted_run_is_nobodys_failure(self) -> None:
        self.assertIsNone(close(read("ok 1 - a"), -15, interrupted=True))


if __name__ == "__main__":
    unittest.main()
