"""test-all-examples.py, run on a fake project."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path

from fake_project import GOOD, FakeProject, starter

SCRIPT = "scripts/test-all-examples.py"
MAIN = "examples/01-first-one/src/main.cpp"
FIRST = "examples/01-first-one/exercises/1-short-write"


class TestAll(unittest.TestCase):
    def setUp(self) -> None:
        self.project = self.enterContext(FakeProject())

    def run_it(self, *words: str, **env: str) -> tuple[int, list[str]]:
        result = self.project.run(SCRIPT, *words, **env)
        self.assertNotIn("Traceback", result.stderr)
        return result.returncode, result.stdout.splitlines()

    def test_everything_passes(self) -> None:
        status, lines = self.run_it()
        # lib 2, verify 1, scripts 1, chapters 3 each, two solutions 3 each
        self.assertEqual(lines[-1], "16 passed, 0 failed, 0 skipped", "\n".join(lines))
        self.assertEqual(status, 0)
        self.assertIn("ok    lib: Date.renders", lines)
        self.assertIn("ok    01-first-one: 1-short-write solution: answers", lines)
        self.assertIn("note  01-first-one: 1-short-write: unsolved (fails: answers)", lines)

    def test_a_failure_is_told_word_for_word(self) -> None:
        self.project.write(MAIN, starter("answers"))
        status, lines = self.run_it("--only", "01")
        self.assertEqual(status, 1)
        self.assertEqual(lines[-1], "8 passed, 1 failed, 0 skipped")
        at = lines.index("FAIL  01-first-one: answers")
        self.assertEqual(lines[at + 1], "      # sent: GET / [HTTP]")
        self.assertEqual(lines[at + 3], "      # see: Errors")
        self.assertIn("failed: 01-first-one: answers", lines)

    def test_without_exercises_only_the_programs_are_checked(self) -> None:
        self.project.write(f"{FIRST}/solution/part.cpp", starter("answers"))
        status, lines = self.run_it("--only", "01", "--no-exercises")
        self.assertEqual((status, lines[-1]), (0, "3 passed, 0 failed, 0 skipped"))

    def test_a_broken_solution_fails(self) -> None:
        self.project.write(f"{FIRST}/solution/part.cpp", starter("answers"))
        status, lines = self.run_it("--only", "first-one")
        self.assertEqual((status, lines[-1]), (1, "8 passed, 1 failed, 0 skipped"))
        self.assertIn("failed: 01-first-one: 1-short-write solution: answers", lines)

    def test_the_readers_files_never_fail_the_run(self) -> None:
        self.project.write(f"{FIRST}/part.cpp", GOOD)
        self.project.write("examples/01-first-one/exercises/2-silent-client/part.cpp", "SYNTAX_ERROR\n")
        status, lines = self.run_it("--only", "01")
        self.assertEqual((status, lines[-1]), (0, "9 passed, 0 failed, 0 skipped"))
        self.assertIn("note  01-first-one: 1-short-write: solved", lines)
        self.assertIn("note  01-first-one: 2-silent-client: unsolved (it does not compile)", lines)
        listed = self.project.run("scripts/exercise.py", "list").stdout
        self.assertRegex(listed, r"solved +01-first-one/1-short-write")
        self.assertRegex(listed, r"unsolved +01-first-one/2-silent-client")

    def test_an_exercise_without_a_readme_is_the_books_fault(self) -> None:
        self.project.path(f"{FIRST}/README.md").unlink()
        status, lines = self.run_it("--only", "01")
        self.assertEqual((status, lines[-1]), (1, "9 passed, 1 failed, 0 skipped"))
        self.assertIn("failed: 01-first-one: 1-short-write: can be judged", lines)

    def test_two_files_to_edit_fail_the_chapter_only(self) -> None:
        self.project.write(f"{FIRST}/other.cpp", "")
        status, lines = self.run_it("--only", "01", "--only", "02")
        self.assertEqual(status, 1)
        self.assertIn("ok    02-second-one: answers", lines)
        self.assertIn("failed: 01-first-one: 1-short-write: can be judged", lines)

    def test_a_build_failure_shows_the_output_and_fails(self) -> None:
        self.project.write(MAIN, "SYNTAX_ERROR\n")
        status, lines = self.run_it()
        self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertTrue(any("error: SYNTAX_ERROR" in line for line in lines))

    def test_the_build_is_silent_when_it_succeeds_and_configures_once(self) -> None:
        for _ in range(2):
            self.run_it("--only", "02")
        log = self.project.read("cmake.log")
        self.assertEqual(log.count("--preset"), 1)
        self.assertIn("--target 02-second-one/all", log)

    def test_only_skips_is_not_green(self) -> None:
        self.project.write("examples/02-second-one/src/main.cpp", "everything is skipped\n")
        status, lines = self.run_it("--only", "02")
        self.assertEqual((status, lines[-1]), (1, "0 passed, 0 failed, 1 skipped"))
        self.assertIn("skip  02-second-one: verify.lua # no network here", lines)

    def test_a_chapter_whose_needs_are_missing_is_skipped(self) -> None:
        self.project.chapter("03-third", {}, 'requires = ["no-such-command-here"]')
        status, lines = self.run_it("--only", "03", "--only", "02")
        self.assertEqual((status, lines[-1]), (0, "3 passed, 0 failed, 1 skipped"))
        self.assertIn("skip  03-third: the chapter # not installed here: no-such-command-here", lines)

    def test_a_failing_unit_test_fails_the_run(self) -> None:
        self.project.write("ctest.xml", '<testsuite><testcase name="A.b" time="0" status="fail"><failure '
                           'message=""/><system-out>1 != 2\n</system-out></testcase></testsuite>')
        status, lines = self.run_it("--only", "lib")
        self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("      # 1 != 2", lines)

    def test_no_unit_test_at_all_fails_the_run(self) -> None:
        self.project.path("ctest.xml").unlink()
        status, lines = self.run_it("--only", "lib")
        self.assertEqual((status, lines[-1]), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertIn("      # No tests were found!!!", lines)

    def test_failing_script_and_verify_tests_fail_the_run(self) -> None:
        self.project.edit("scripts/tests/test_one.py", "1 + 1, 2", "1 + 1, 3")
        self.project.edit("verify/tests/run.lua", "ok 1", "not ok 1")
        status, lines = self.run_it("--only", "scripts", "--only", "verify")
        self.assertEqual(status, 1)
        self.assertIn("failed: scripts: test_one.One.test_adds", lines)
        self.assertTrue(any("AssertionError: 2 != 3" in line for line in lines))
        # run.lua failed a check and still exits 0: two failures
        self.assertEqual(lines[-1], "0 passed, 3 failed, 0 skipped")

    def test_time_limit_ends_the_whole_group(self) -> None:
        self.project.chapter("03-slow", {}, "time_limit = 0.3")
        self.project.write("examples/03-slow/src/main.cpp", GOOD + "# hang\n")
        status, lines = self.run_it("--only", "03")
        self.assertEqual((status, lines[-1]), (1, "1 passed, 1 failed, 0 skipped"))
        self.assertIn("FAIL  03-slow: verify.lua ends within 0.3 s", lines)
        self.assertTrue(any("its process group was ended with SIGTERM" in line for line in lines))

    def test_jobs_runs_all_rows(self) -> None:
        status, lines = self.run_it("--jobs", "3")
        self.assertEqual((status, lines[-1]), (0, "16 passed, 0 failed, 0 skipped"))

    def test_repeat_sums_and_names_the_flaky(self) -> None:
        status, lines = self.run_it("--only", "02", "--repeat", "3")
        self.assertEqual((status, lines[-1]), (0, "9 passed, 0 failed, 0 skipped"))
        self.assertIn("3 rounds, no check was flaky", lines)
        once = self.project.path("once")
        self.project.write("examples/02-second-one/verify.lua", f"""
            local seen = io.open("{once}")
            io.open("{once}", "w"):close()
            print((seen and "ok" or "not ok") .. " 1 - works the second time")
            print("1..1")
            os.exit(seen and 0 or 1)""")
        status, lines = self.run_it("--only", "02", "--repeat", "3")
        self.assertEqual((status, lines[-1]), (1, "2 passed, 1 failed, 0 skipped"))
        self.assertIn("flaky: 02-second-one: works the second time: failed 1 of 3 times", lines)

    def test_unknown_words_are_usage_errors(self) -> None:
        for words, expected in (
            (["--only", "nothing"], "01-first-one, 02-second-one, lib, verify, scripts"),
            (["--lang", "cobol"], "cpp, lua, python"),
            (["--only", "verify", "--lang", "cpp"], "nothing is both"),
            (["--jobs", "0"], "invalid"),
        ):
            with self.subTest(words=words):
                result = self.project.run(SCRIPT, *words)
                self.assertEqual(result.returncode, 2)
                self.assertIn(expected, result.stderr)

    def test_lang_chooses_rows(self) -> None:
        status, lines = self.run_it("--lang", "python")
        self.assertEqual((status, lines[-1]), (0, "1 passed, 0 failed, 0 skipped"))

    def test_junit_is_valid_and_complete(self) -> None:
        self.project.write(MAIN, starter("answers") + "# skip leaves nothing behind\n")
        self.project.edit("examples/01-first-one/verify.lua", "see: Errors", "<&> \\1 \\255")
        out = self.project.path("out/junit.xml")
        self.run_it("--junit", str(out))
        root = ET.parse(out).getroot()
        self.assertEqual(root.get("tests"), "16")
        suite = {one.get("name"): one for one in root}["01-first-one"]
        cases = {case.get("name"): case for case in suite.iter("testcase")}
        self.assertEqual(len(cases), 9)
        failure = cases["answers"].findtext("failure") or ""
        self.assertIn("expected: 200", failure)
        self.assertIn("<&> \\x01 \ufffd", failure)
        self.assertIsNotNone(cases["leaves nothing behind"].find("skipped"))

    def test_a_terminal_sees_the_table(self) -> None:
        text = self.on_terminal("--only", "01")
        self.assertIn("chapter", text)
        self.assertRegex(text, r"01-first-one +\S*passed")
        self.assertIn("1-short-write: unsolved", text)
        self.assertTrue(text.rstrip().endswith("9 passed, 0 failed, 0 skipped"))

    def on_terminal(self, *words: str) -> str:
        main, side = pty.openpty()
        env = self.project.environment(TERM="xterm", COLUMNS="80")
        env.pop("NO_COLOR", None)
        argv = self.project.command(SCRIPT, *words)
        with subprocess.Popen(argv, stdout=side, stderr=side, stdin=subprocess.DEVNULL, env=env):
            os.close(side)
            data = b""
            try:
                while chunk := os.read(main, 65536):
                    data += chunk
            except OSError:
                pass  # the other side is closed: it has ended
            os.close(main)
        return data.decode()


class SelfCheck(unittest.TestCase):
    def setUp(self) -> None:
        self.project = self.enterContext(FakeProject())
        self.name = "fails on exactly the checks that its README names"

    def run_it(self) -> tuple[int, list[str]]:
        result = self.project.run(SCRIPT, "--self-check", "--only", "01")
        self.assertNotIn("Traceback", result.stderr)
        return result.returncode, result.stdout.splitlines()

    def test_the_committed_starters_count_not_the_readers_files(self) -> None:
        self.project.commit()
        self.project.write(f"{FIRST}/part.cpp", GOOD)
        status, lines = self.run_it()
        self.assertEqual((status, lines[-1]), (0, "13 passed, 0 failed, 0 skipped"))
        self.assertIn(f"ok    01-first-one: 1-short-write starter: {self.name}", lines)
        self.assertEqual(self.project.read(f"{FIRST}/part.cpp"), GOOD)

    def test_only_one_of_two_chapters_with_exercises(self) -> None:
        self.project.chapter("03-third", {"1-short-write": "answers"})
        status, lines = self.run_it()
        self.assertEqual((status, lines[-1]), (0, "13 passed, 0 failed, 0 skipped"), "\n".join(lines))

    def test_outside_git_the_files_as_they_are(self) -> None:
        status, lines = self.run_it()
        self.assertEqual((status, lines[-1]), (0, "13 passed, 0 failed, 0 skipped"))

    def test_a_starter_that_passes_is_an_error(self) -> None:
        self.project.write(f"{FIRST}/part.cpp", GOOD)
        status, lines = self.run_it()
        self.assertEqual((status, lines[-1]), (1, "12 passed, 1 failed, 0 skipped"))
        self.assertIn("      # named, but did not fail: answers", lines)

    def test_a_starter_that_fails_on_more_is_an_error(self) -> None:
        self.project.edit(f"{FIRST}/part.cpp", "# good leaves nothing behind\n", "")
        status, lines = self.run_it()
        self.assertEqual(status, 1)
        self.assertIn("      # failed, but is not named: leaves nothing behind", lines)

    def test_a_starter_must_compile(self) -> None:
        self.project.write(f"{FIRST}/part.cpp", "SYNTAX_ERROR\n")
        status, lines = self.run_it()
        self.assertEqual((status, lines[-1]), (1, "11 passed, 1 failed, 0 skipped"))
        self.assertIn("failed: 01-first-one: 1-short-write starter: compiles", lines)

    def test_a_named_check_that_cannot_run_skips(self) -> None:
        self.project.write(f"{FIRST}/part.cpp", GOOD + "# skip answers\n")
        status, lines = self.run_it()
        self.assertEqual((status, lines[-1]), (0, "12 passed, 0 failed, 1 skipped"))


class Interrupted(unittest.TestCase):
    def test_ctrl_c_ends_what_runs_and_says_so(self) -> None:
        with FakeProject() as project:
            project.write(MAIN, GOOD + "# hang\n")
            argv = project.command(SCRIPT, "--only", "01", "--jobs", "2")
            env = project.environment()
            with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=env) as process:
                verify = wait_for_child(process.pid)
                process.send_signal(signal.SIGINT)
                output, _ = process.communicate(timeout=20)
            self.assertEqual(process.returncode, 130)
            self.assertIn("Interrupted", output)
            self.assertRegex(output.splitlines()[-1], r"^\d+ passed, 0 failed, 0 skipped$")
            self.assertFalse(is_alive(verify))


def wait_for_child(parent: int) -> int:
    """The sleep at the bottom: verify.lua runs, and hangs."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                name, rest = stat.read_text().partition("(")[2].rsplit(")", 1)
            except (OSError, ValueError):
                continue
            if name == "sleep" and session_leader(int(rest.split()[3]), parent):
                return int(stat.parent.name)
        time.sleep(0.02)
    raise AssertionError("verify.lua did not start")


def is_alive(pid: int) -> bool:
    """A zombie that nobody has waited for yet is not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def session_leader(session: int, parent: int) -> bool:
    """Is the leader of this session a child of `parent`?"""
    try:
        rest = Path(f"/proc/{session}/stat").read_text().rsplit(")", 1)[1]
    except OSError:
        return False
    return int(rest.split()[1]) == parent


if __name__ == "__main__":
    unittest.main()
