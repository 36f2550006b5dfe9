"""exercise.py, run on a fake project."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from queue import Queue
from unittest import mock

from fake_project import GOOD, FakeProject, starter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import exercise  # noqa: E402

SCRIPT = "scripts/exercise.py"
FOLDER = "examples/01-first-one/exercises/1-short-write"
FILE = f"{FOLDER}/part.cpp"
PATIENCE = 20


class Commands(unittest.TestCase):
    def setUp(self) -> None:
        self.project = self.enterContext(FakeProject())

    def run_it(self, *words: str) -> tuple[int, str]:
        result = self.project.run(SCRIPT, *words)
        self.assertNotIn("Traceback", result.stderr)
        return result.returncode, result.stdout + result.stderr

    def test_verify_names_the_failing_check_and_why(self) -> None:
        status, text = self.run_it("verify", "01/1")
        self.assertEqual(status, 1)
        self.assertIn("FAIL  answers\n      # sent: GET / [HTTP]\n", text)
        self.assertIn("Not solved: 1 of this exercise's 1 checks failed", text)
        self.assertIn("--target 01-first-one.1-short-write\n", self.project.read("cmake.log"))
        self.assertNotIn("--target all", self.project.read("cmake.log"))

    def test_verify_solved(self) -> None:
        self.project.write(FILE, GOOD)
        status, text = self.run_it("verify", "01-first-one/1-short-write")
        self.assertEqual(status, 0)
        self.assertIn("Solved: every check passes", text)

    def test_verify_something_else_broke(self) -> None:
        self.project.write(FILE, starter("leaves nothing behind"))
        status, text = self.run_it("verify", "short-write")
        self.assertEqual(status, 1)
        self.assertIn("something else broke: leaves nothing behind", text)
        self.assertIn("ok    answers", text)

    def test_verify_does_not_compile(self) -> None:
        self.project.write(FILE, "SYNTAX_ERROR\n")
        status, text = self.run_it("verify", "01/1")
        self.assertEqual(status, 1)
        self.assertIn("error: SYNTAX_ERROR", text)
        self.assertIn(f"Not solved: {FILE} does not compile.", text)

    def test_verify_cannot_be_judged_here(self) -> None:
        self.project.write(FILE, GOOD + "# skip answers\n")
        status, text = self.run_it("verify", "01/1")
        self.assertEqual(status, 1)
        self.assertIn("Not judged: a check of this exercise cannot run here: ptrace is not permitted", text)

    def test_verify_a_run_that_breaks_off_is_not_solved(self) -> None:
        self.project.write(FILE, GOOD + "# crash\n")
        status, text = self.run_it("verify", "01/1")
        self.assertEqual(status, 1)
        self.assertIn("FAIL  verify.lua runs to its end", text)

    def test_verify_a_named_check_that_does_not_exist(self) -> None:
        self.project.edit(f"{FOLDER}/README.md", "`answers`", "`is quick`")
        self.project.write(FILE, GOOD)
        status, text = self.run_it("verify", "01/1")
        self.assertEqual(status, 1)
        self.assertIn("verify.lua has no check of this name", text)

    def test_unknown_or_ambiguous_ids_are_usage_errors(self) -> None:
        for word in ("9/9", "01/3", "nothing", "01"):
            status, text = self.run_it("verify", word)
            self.assertEqual(status, 2, word)
            self.assertIn("01-first-one/1-short-write, 01-first-one/2-silent-client", text)
        self.project.chapter("03-third", {"1-short-write": "answers"})
        status, text = self.run_it("verify", "short-write")
        self.assertEqual(status, 2)
        self.assertIn("more than one exercise: 01-first-one/1-short-write, 03-third/1-short-write", text)
        self.assertEqual(self.run_it("dance", "01/1")[0], 2)
        self.assertEqual(self.run_it()[0], 2)

    def test_two_files_to_edit_are_refused(self) -> None:
        self.project.write(f"{FOLDER}/other.cpp", "")
        status, text = self.run_it("verify", "01/1")
        self.assertEqual(status, 2)
        self.assertIn("other.cpp, part.cpp", text)

    def test_hints_come_one_by_one(self) -> None:
        expected = ["Look at the first call.", "It may return less.", "Call it again."]
        for number, words in enumerate(expected, 1):
            status, text = self.run_it("hint", "01/1")
            self.assertEqual(status, 0)
            self.assertIn(f"Hint {number} (of 3)\n\n{words}", text)
            self.assertEqual(sum(one in text for one in expected), 1)
        text = self.run_it("hint", "01/1")[1]
        self.assertIn("no further hint", text)
        self.assertTrue(all(one in text for one in expected))

    def test_diff_is_shown_when_asked_twice(self) -> None:
        status, text = self.run_it("diff", "01/1")
        self.assertEqual(status, 1)
        self.assertNotIn("good answers", text)
        status, text = self.run_it("diff", "01/1")
        self.assertEqual(status, 0)
        self.assertIn("-# the bug is here\n+# good answers\n", text)

    def test_diff_is_shown_once_solved(self) -> None:
        self.project.write(FILE, GOOD + "# mine\n")
        self.run_it("verify", "01/1")
        status, text = self.run_it("diff", "01/1")
        self.assertEqual(status, 0)
        self.assertIn("-# mine", text)

    def test_reset_restores_the_committed_starter_and_keeps_yours(self) -> None:
        self.project.commit()
        for version in ("mine\n", "mine again\n"):
            self.project.write(FILE, version)
            self.assertEqual(self.run_it("reset", "01/1")[0], 0)
            self.assertEqual(self.project.read(FILE), starter("answers"))
        backup = "build/exercise-backup/01-first-one/1-short-write/part.cpp.bak"
        self.assertEqual(self.project.read(backup), "mine\n")
        self.assertEqual(self.project.read(f"{backup}.2"), "mine again\n")
        self.assertIn("is the starter already", self.run_it("reset", "01/1")[1])

    def test_reset_outside_git_changes_nothing(self) -> None:
        self.project.write(FILE, "mine\n")
        self.assertEqual(self.run_it("reset", "01/1")[0], 1)
        self.assertEqual(self.project.read(FILE), "mine\n")

    def test_list_knows_the_content_it_judged(self) -> None:
        self.assertRegex(self.run_it("list")[1], r"not tried +01-first-one/1-short-write +Short write")
        self.run_it("verify", "01/1")
        self.assertRegex(self.run_it("list")[1], r"unsolved +01-first-one/1-short-write")
        self.project.write(FILE, GOOD)
        self.assertRegex(self.run_it("list")[1], r"not tried +01-first-one/1-short-write")
        self.run_it("verify", "01/1")
        self.assertRegex(self.run_it("list")[1], r"(?m)^solved +01-first-one/1-short-write")

    def test_a_damaged_state_file_is_no_obstacle(self) -> None:
        self.project.write("build/exercise-state.json", "{")
        self.assertEqual(self.run_it("list")[0], 0)
        self.assertEqual(self.run_it("verify", "01/1")[0], 1)


class WatchedFile(unittest.TestCase):
    def test_only_a_save_starts_a_verification(self) -> None:
        # unchanged, unchanged, being replaced, saved; then what the next round starts from
        stamps = iter([(1, 1, 1), (1, 1, 1), (1, 1, 1), None, (2, 1, 1), (2, 1, 1)])
        verdicts = iter([exercise.EXIT_NOT, exercise.EXIT_OK])
        desk = mock.Mock()
        desk.programs.stopping = False
        with (
            mock.patch.object(exercise, "POLL", 0),
            mock.patch.object(exercise, "say"),
            mock.patch.object(exercise, "stamp", lambda path: next(stamps)),
            mock.patch.object(exercise, "verify", lambda *_: next(verdicts)),
        ):
            self.assertEqual(exercise.watch(desk, mock.Mock()), exercise.EXIT_OK)
        self.assertEqual(list(stamps), [])


class Watch(unittest.TestCase):
    def setUp(self) -> None:
        self.project = self.enterContext(FakeProject())
        argv = self.project.command(SCRIPT, "watch", "01/1")
        env, pipe = self.project.environment(), subprocess.PIPE
        self.process = self.enterContext(
            subprocess.Popen(argv, stdout=pipe, stderr=subprocess.STDOUT, text=True, env=env)
        )
        self.addCleanup(self.process.kill)
        self.lines: Queue[str] = Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.lines.put(line)

    def wait_for(self, text: str) -> None:
        while text not in self.lines.get(timeout=PATIENCE):
            pass

    def test_watch_verifies_on_each_save_until_solved(self) -> None:
        self.wait_for("Watching")
        self.project.write(FILE, "SYNTAX_ERROR\n")
        self.wait_for("does not compile")
        self.wait_for("Watching")
        self.project.write(FILE, GOOD)
        self.wait_for("Solved")
        self.assertEqual(self.process.wait(PATIENCE), 0)

    def test_watch_ends_cleanly_on_ctrl_c(self) -> None:
        self.wait_for("Watching")
        self.process.send_signal(signal.SIGINT)
        self.assertEqual(self.process.wait(PATIENCE), 1)
        self.wait_for("Stopped.")


if __name__ == "__main__":
    unittest.main()
