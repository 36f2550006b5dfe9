"""new-chapter.sh makes a whole chapter that says TODO and fails."""

from __future__ import annotations

import json
import os
import subprocess
import unittest

from fake_project import FakeProject

SCRIPT = "scripts/new-chapter.sh"
ID = "05-poll-it"


class NewChapter(unittest.TestCase):
    def setUp(self) -> None:
        self.project = self.enterContext(FakeProject())

    def make(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.project.run(SCRIPT, *words)

    def test_all_parts_are_there_and_say_todo(self) -> None:
        result = self.make(ID, "Poll")
        self.assertEqual(result.returncode, 0, result.stderr)
        folder = f"examples/{ID}"
        for name in (
            f"{folder}/README.md",
            f"{folder}/demo.sh",
            f"{folder}/verify.lua",
            f"{folder}/src/main.cpp",
            f"{folder}/exercises/1-first/README.md",
            f"{folder}/exercises/1-first/first.cpp",
            f"{folder}/exercises/1-first/solution/first.cpp",
            f"chapters/{ID}.md",
            f"diagrams/{ID}.excalidraw",
        ):
            self.assertIn("TODO", self.project.read(name), name)
            self.assertNotIn("@", self.project.read(name).replace('"$@"', ""), name)
        self.assertTrue(os.access(self.project.path(f"{folder}/demo.sh"), os.X_OK))
        self.assertIn(f"chapter({ID} SOURCES", self.project.read(f"{folder}/CMakeLists.txt"))
        self.assertEqual(json.loads(self.project.read(f"diagrams/{ID}.excalidraw"))["type"], "excalidraw")

    def test_its_checks_fail_until_they_are_written(self) -> None:
        self.make(ID, "Poll")
        result = self.project.run("scripts/test-all-examples.py", "--only", "05", "--self-check")
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertIn(f"FAIL  {ID}: TODO", result.stdout)

    def test_its_exercise_is_listed(self) -> None:
        self.make(ID, "Poll")
        self.assertIn(f"{ID}/1-first", self.project.run("scripts/exercise.py", "list").stdout)

    def test_a_draft_becomes_a_link(self) -> None:
        self.make(ID, "Poll")
        self.assertEqual(self.project.read("chapters/SUMMARY.md"),
                         f"# Summary\n\n- [First one](01-first-one.md)\n- [Poll]({ID}.md)\n")

    def test_without_a_draft_it_stands_behind_its_predecessors(self) -> None:
        self.make(ID, "Another")
        self.make("03-third", "Third & last")
        self.assertEqual(self.project.read("chapters/SUMMARY.md"),
                         "# Summary\n\n- [First one](01-first-one.md)\n- [Third & last](03-third.md)\n"
                         f"- [Another]({ID}.md)\n- [Poll]()\n")
        self.assertIn('title = "Third & last"', self.project.read("examples/manifest.toml"))

    def test_refusals_change_nothing(self) -> None:
        before = self.project.read("examples/manifest.toml")
        for words in (
            [ID],
            ["poll", "Poll"],
            ["5-poll", "Poll"],
            ["05-Poll", "Poll"],
            ["05-poll/../x", "Poll"],
            ["01-another", "Another"],
            [ID, 'A "title"'],
        ):
            result = self.make(*words)
            self.assertEqual(result.returncode, 2, words)
            self.assertIn("usage: new-chapter.sh", result.stderr)
        self.assertEqual(self.project.read("examples/manifest.toml"), before)
        self.assertFalse(self.project.path(f"examples/{ID}").exists())


if __name__ == "__main__":
    unittest.main()
