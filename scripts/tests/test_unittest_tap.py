"""The runner of these very tests: every way in which a test can end."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

RUNNER = Path(__file__).resolve().parent.parent / "ttc" / "unittest_tap.py"

MANY = """
    import unittest

    class Many(unittest.TestCase):
        def test_good(self):
            pass

        def test_bad(self):
            self.assertEqual(1, 2)

        def test_broken(self):
            raise OSError("no disk")

        @unittest.skip("not here")
        def test_skipped(self):
            pass

        def test_parts(self):
            for number in (1, 2):
                with self.subTest(number=number):
                    self.assertEqual(number, 1)

        @unittest.expectedFailure
        def test_unexpected(self):
            pass
"""


class Runner(unittest.TestCase):
    def run_on(self, **modules: str) -> tuple[int, list[str]]:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in modules.items():
                (Path(folder) / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
            argv = [sys.executable, str(RUNNER), folder]
            done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout.splitlines()

    def test_every_kind_of_end(self) -> None:
        status, lines = self.run_on(test_many=MANY)
        self.assertEqual(status, 1)
        self.assertIn("# AssertionError: 1 != 2", lines)
        self.assertIn("# OSError: no disk", lines)
        results = [line for line in lines if not line.startswith("#")]
        self.assertEqual(results[0], "TAP version 13")
        self.assertEqual([line.split(" - ")[0] for line in results[1:]],
                         ["not ok 1", "not ok 2", "ok 3", "not ok 4", "ok 5", "not ok 6", "1..6"])
        self.assertTrue(results[5].endswith("test_skipped # SKIP not here"))

    def test_two_modules_are_counted_through(self) -> None:
        good = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n"
        status, lines = self.run_on(test_a=good, test_b=good)
        self.assertEqual((status, lines[-1]), (0, "1..2"))
        names = {line.split(" - ")[1] for line in lines[1:-1]}
        self.assertEqual(names, {"test_a.A.test_a", "test_b.A.test_a"})

    def test_a_module_that_does_not_load_or_ends_early_fails(self) -> None:
        status, lines = self.run_on(test_a="import nothing_of_this_name\n")
        self.assertEqual(status, 1)
        self.assertTrue(any("ModuleNotFoundError" in line for line in lines))
        status, lines = self.run_on(test_a="import os\nprint('boo', flush=True)\nos._exit(0)\n")
        self.assertEqual(status, 1)
        self.assertIn("not ok 1 - test_a.py ends as its tests do (exit status 0)", lines)

    def test_a_bad_end_after_good_tests_fails(self) -> None:
        text = "import atexit, os, unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n"
        status, lines = self.run_on(test_a=f"{text}atexit.register(os._exit, 3)\n")
        self.assertEqual(status, 1)
        self.assertIn("not ok 2 - test_a.py ends as its tests do (exit status 3)", lines)

    def test_no_test_is_no_success(self) -> None:
        self.assertEqual(self.run_on(), (1, ["TAP version 13", "1..0"]))


if __name__ == "__main__":
    unittest.main()
