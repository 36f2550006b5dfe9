#!/usr/bin/python3
"""check-book.py: a small book in order, and each thing that it must find when it is not."""

import contextlib
import importlib.util
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(SCRIPTS))

from ttc import book_cpp, book_links, book_listing, book_prose, book_text, book_transcript  # noqa: E402
from ttc import figure_palette, figure_svg  # noqa: E402
from ttc.book_run import RunError, Skip, missing_tool, normalise  # noqa: E402

CPP = '''// What it is for.
#include <string>

namespace a::b {

using Clock = std::chrono::steady_clock;
constexpr int kLimit = 1'000;

// Holds a { brace in a comment.
template <class T, class U = std::pair<T, T>>
class Box final : public Base<T> {
public:
    explicit Box(int n) : a_{n}, b_(n) { text_ = "}"; }
    [[nodiscard]] int size() const noexcept;
    bool operator==(const Box&) const = default;

private:
    int a_{0};
    std::function<void()> f_ = [] { return; };
};

int Box::size() const noexcept {
    return R"x({ ")x" ? 1 : '{';
}

enum class State : unsigned { kA, kB };

/* Two lines
   of comment. */
auto run(int first = {}, int second = 2)
    -> int {
    if (first) {
        return second;
    }
    return helper([&] { return 1; });
}

}  // namespace a::b
'''

CHAPTER = '''# One

*Reading time: 8 minutes*

A **peer** speaks. {filler}

## An experiment

<!-- transcript 01-one step 2 -->

```console
$ grep Threads
Threads: 1
port 127.0.0.1:40000 after 3 ms
```

<!-- /transcript -->

## The idea

![A figure. It shows it.](../diagrams/01-a.svg)

## How the code works

<!-- listing examples/01-one/main.cpp run -->

*[`examples/01-one/main.cpp`](../examples/01-one/main.cpp), `run`*

```cpp
/* Two lines
   of comment. */
auto run(int first = {{}}, int second = 2)
    -> int {{
    if (first) {{
        return second;
    }}
    return helper([&] {{ return 1; }});
}}
```

<!-- /listing -->

## Errors

## Concurrency lens

## Build, run, observe

## Cross-check

> *Predict:* one?

<details><summary>Answer</summary>

One.

</details>

> *Predict:* two?

<details><summary>Answer</summary>

Two.

</details>

## What changed since the last chapter

## Exercises

[Short](../examples/01-one/exercises/1-short/README.md): `scripts/exercise.py verify 01/1`

## What you learned

See [the idea](#the-idea) and [the peer](glossary.md#peers).

## Verified
'''

DEMO = '''#!/usr/bin/env bash
echo "── Step 1: Begin"
echo "? What?"
echo one
echo "── Step 2: Count"
echo "? How many threads?"
echo
echo '$ grep Threads'
echo 'Threads: 1'
echo "port 127.0.0.1:$((RANDOM + 1024)) after $((RANDOM % 90 + 1)) ms"
echo
'''

FIGURE = {"type": "excalidraw", "version": 2, "source": "x", "alt": "A figure. It shows it.", "appState": {},
          "files": {}, "elements": [{
              "id": "r", "type": "rectangle", "x": 0, "y": 0, "width": 9, "height": 9, "angle": 0,
              "strokeColor": figure_palette.INK, "backgroundColor": "transparent", "fillStyle": "solid",
              "strokeWidth": 2, "strokeStyle": "solid", "roughness": 0, "opacity": 100, "groupIds": [],
              "seed": 1, "version": 1, "versionNonce": 1, "isDeleted": False, "boundElements": [],
              "updated": 1, "link": None, "locked": False}]}


def load_script(name: str) -> object:
    """A script as a module, though its name has a dash."""
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


CHECK_BOOK = load_script("check-book")
LINKS_OUT = load_script("book-links-out")


def page(text: str, name: str = "01-one.md") -> book_text.Page:
    return book_text.make_page(Path("/book/chapters") / name, name, text)


def messages(checked: book_text.Page) -> str:
    return "\n".join(map(str, checked.problems))


class TheBook(unittest.TestCase):
    """Each test breaks one thing in a book that is in order, and must find that thing alone."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        filler = "The kernel keeps the bytes until the process reads them. " * 150
        self.write("chapters/01-one.md", CHAPTER.format(filler=filler))
        self.write("chapters/SUMMARY.md", "# Summary\n\n- [1](01-one.md)\n- [Later]()\n- [G](glossary.md)\n")
        self.write("chapters/glossary.md", "# Glossary\n\n## Peers\n\nThe other end.\n")
        self.write("examples/manifest.toml", '[[chapter]]\nid = "01-one"\n')
        self.write("examples/01-one/main.cpp", CPP)
        self.write("examples/01-one/exercises/1-short/README.md", "# Short\n")
        self.write("examples/01-one/demo.sh", DEMO).chmod(0o755)
        source = self.write("diagrams/01-a.excalidraw", json.dumps(FIGURE))
        self.write("diagrams/01-a.svg", figure_svg.render_file(source))

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def check(self, write: bool = False, run: bool = False) -> tuple[int, str]:
        book_links.anchors_of.cache_clear()
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = CHECK_BOOK.check(self.root, [], write, run)
        return status, out.getvalue()

    def breaks(self, name: str, old: str, new: str, message: str, run: bool = False) -> None:
        """After this edit there is one error, and it says what is wrong."""
        self.edit(name, old, new)
        status, said = self.check(run=run)
        self.assertEqual(status, 1, said)
        self.assertRegex(said, message)
        self.assertIn(" 1 errors", said)

    def test_a_book_in_order(self) -> None:
        status, said = self.check(run=True)
        self.assertEqual(status, 0, said)
        self.assertIn("1 listings, 0 fragments, 1 transcripts, 1 figures, 6 links: 0 errors", said)

    def test_no_book_is_not_in_order(self) -> None:
        for path in (self.root / "chapters").glob("*.md"):
            path.unlink()
        self.assertEqual(self.check()[0], 1)

    def test_a_source_that_changed(self) -> None:
        self.breaks("examples/01-one/main.cpp", "return second;", "return 7;", r"\+ +return 7;")

    def test_write_refreshes_listings_and_transcripts(self) -> None:
        self.edit("examples/01-one/main.cpp", "return second;", "return 7;")
        self.edit("chapters/01-one.md", "Threads: 1", "Threads: 2")
        self.assertEqual(self.check(write=True, run=True)[0], 0)
        text = (self.root / "chapters/01-one.md").read_text(encoding="utf-8")
        self.assertIn("        return 7;\n", text)
        self.assertIn("$ grep Threads\nThreads: 1\nport 127.0.0.1:", text)
        self.assertEqual(self.check(run=True)[0], 0)

    def test_write_leaves_what_differs_only_in_what_varies(self) -> None:
        before = (self.root / "chapters/01-one.md").read_text(encoding="utf-8")
        self.assertEqual(self.check(write=True, run=True)[0], 0)
        self.assertEqual((self.root / "chapters/01-one.md").read_text(encoding="utf-8"), before)

    def test_a_transcript_that_lies(self) -> None:
        self.breaks("chapters/01-one.md", "Threads: 1", "Threads: 2", r"-Threads: 2\n +\+Threads: 1",
                    run=True)

    def test_a_demo_that_fails(self) -> None:
        self.breaks("examples/01-one/demo.sh", "echo one", "echo broke; exit 3",
                    "ended with 3\n(.*\n)+ +broke", run=True)

    def test_a_demo_that_is_skipped_is_said_and_no_error(self) -> None:
        self.edit("examples/01-one/demo.sh", "echo one", "echo no luck; exit 77")
        status, said = self.check(run=True)
        self.assertEqual(status, 0, said)
        self.assertIn("SKIP: examples/01-one/demo.sh was skipped: no luck", said)
        self.assertRegex(said, "[1-9] skipped$")

    def test_cpp_outside_a_listing(self) -> None:
        self.breaks("chapters/01-one.md", "## Errors", "```cpp\nint x;\n```\n\n## Errors",
                    "C\\+\\+ outside a listing")

    def test_dead_links(self) -> None:
        self.breaks("chapters/01-one.md", "glossary.md#peers", "glossary.md#piers", "no heading #piers")
        self.edit("chapters/01-one.md", "glossary.md#piers", "nowhere.md")
        self.assertRegex(self.check()[1], r"01-one\.md:\d+: dead link: nowhere\.md does not exist")

    def test_alt_text(self) -> None:
        self.breaks("chapters/01-one.md", "![A figure.", "![Another.", "the alt text differs")

    def test_a_figure_that_was_changed_and_not_drawn(self) -> None:
        self.breaks("diagrams/01-a.excalidraw", '"width": 9', '"width": 90',
                    "does not agree with 01-a.excalidraw")

    def test_a_figure_without_a_source(self) -> None:
        (self.root / "diagrams/01-a.excalidraw").unlink()
        self.assertIn("has no 01-a.excalidraw beside it", self.check()[1])

    def test_a_missing_section(self) -> None:
        self.breaks("chapters/01-one.md", "## Errors", "## Mistakes", '"## Errors" is missing')

    def test_a_section_too_early(self) -> None:
        self.breaks("chapters/01-one.md", "## The idea", "## Verified\n\n## The idea", "stands too early")

    def test_the_reading_time(self) -> None:
        self.breaks("chapters/01-one.md", "time: 8", "time: 9", "the reading time is 8 minutes")

    def test_a_short_chapter(self) -> None:
        self.edit("chapters/01-one.md", "The kernel keeps the bytes until the process reads them. " * 100, "")
        self.assertRegex(self.check()[1], r"\d+ words of prose; a chapter has 1500 to 3500")

    def test_an_answer_without_a_prediction(self) -> None:
        self.breaks("chapters/01-one.md", "> *Predict:* two?", "Two?", 'no "> \\*Predict:\\*" before it')

    def test_an_exercise_that_is_not_linked(self) -> None:
        self.write("examples/01-one/exercises/2-other/README.md", "# Other\n")
        said = self.check()[1]
        self.assertIn("no link to ../examples/01-one/exercises/2-other/README.md", said)
        self.assertIn("the command that judges it is missing: scripts/exercise.py verify 01/2", said)

    def test_words_and_exclamations(self) -> None:
        self.breaks("chapters/01-one.md", "A **peer** speaks.", "A **peer** simply speaks.",
                    '"simply" is not used')
        self.breaks("chapters/01-one.md", "simply speaks.", "speaks!", "an exclamation mark")

    def test_a_long_sentence(self) -> None:
        words = "word " * 41
        self.breaks("chapters/01-one.md", "## Errors\n", f"## Errors\n\n{words}\n", "a sentence of 41 words")

    def test_a_term_that_the_glossary_lacks(self) -> None:
        self.breaks("chapters/01-one.md", "**peer**", "**pier**",
                    'the term "pier" is not in chapters/glossary.md')

    def test_a_chapter_that_the_summary_lacks(self) -> None:
        self.edit("examples/manifest.toml", '"01-one"', '"01-one"\n[[chapter]]\nid = "02-two"')
        self.assertIn("02-two.md, of examples/manifest.toml, is not listed", self.check()[1])
        self.edit("chapters/SUMMARY.md", "(01-one.md)", "()")
        self.assertIn("chapters/01-one.md:1: is not in SUMMARY.md", self.check()[1])


class Cpp(unittest.TestCase):
    def found(self, name: str) -> str:
        start, end = book_listing.find_in_cpp(CPP, name)
        return "\n".join(CPP.splitlines()[start:end + 1])

    def test_names(self) -> None:
        names = [d.name for d in book_cpp.definitions(CPP)]
        self.assertEqual(names, ["Clock", "kLimit", "Box::Box", "Box::size", "Box::operator==", "Box::a_",
                                 "Box::f_", "Box", "Box::size", "State", "run"])

    def test_a_body_is_preferred_to_a_declaration(self) -> None:
        self.assertTrue(self.found("size").startswith("int Box::size() const noexcept {\n"))

    def test_a_class_is_preferred_to_its_constructor(self) -> None:
        self.assertTrue(self.found("Box").startswith("template <class T"))
        self.assertTrue(self.found("Box").endswith("};"))
        self.assertEqual(self.found("Box::Box").count("\n"), 0)

    def test_short_things_are_whole(self) -> None:
        self.assertEqual(self.found("State"), "enum class State : unsigned { kA, kB };")
        self.assertEqual(self.found("kLimit"), "constexpr int kLimit = 1'000;")

    def test_what_is_not_there_and_what_is_there_twice(self) -> None:
        with self.assertRaisesRegex(book_listing.ListingError, "no definition of nothing"):
            book_listing.find_in_cpp(CPP, "nothing")
        with self.assertRaisesRegex(book_listing.ListingError, r"more than once \(lines 1, 2\)"):
            book_listing.find_in_cpp("int f() { return 1; }\nint f(int) { return 2; }\n", "f")


class Listings(unittest.TestCase):
    def test_slices(self) -> None:
        lines = ["a {", "  one", "}", "b {", "  one", "}"]
        self.assertEqual(book_listing.find_slice(lines, "b {", "}", -1), (3, 5))
        self.assertEqual(book_listing.find_slice(lines, "one", "}", 2), (4, 5))
        for first, last in (("one", "}"), ("none", "}"), ("b {", "a {")):
            with self.assertRaises(book_listing.ListingError):
                book_listing.find_slice(lines, first, last, -1)

    def test_other_languages(self) -> None:
        lua = ["local function f(x)", "  return x", "end", "", "return f"]
        python = ["def f(x):", "    y = 1", "", "    return y", "", "", "def g():", "    pass"]
        shell = ["f() {", "    echo", "}", "f"]
        self.assertEqual([book_listing.find_elsewhere(x, "f") for x in (lua, python, shell)],
                         [(0, 2), (0, 3), (0, 2)])


class Transcripts(unittest.TestCase):
    def test_only_what_varies_is_masked(self) -> None:
        same = [("127.0.0.1:1234", "127.0.0.1:56789"), ("[pid 12] accept4(3", "[pid   345] accept4(3"),
                ("took 4.8 s", "took 12 s"), ("Date: Mon, 30 Nov 2026 19:00:00 GMT",
                                              "Date: Tue, 01 Dec 2026 09:10:11 GMT"),
                ("VmRSS:  3512 kB", "VmRSS:  812 kB"), ("77 read(3", "1234 read(3"),
                (" 50.00    0.000123          12         5           read",
                 "  0.00    0.000000           0         5           read"),
                (r'send(5, "HTTP\r\nDate: Mon, 30 N"..., 9', r'send(5, "HTTP\r\nDate: Tue, 01 D"..., 9'),
                ("sin_port=htons(40000)", "sin_port=htons(4000)"),
                ("9<>/dev/tcp/127.0.0.1/4000", "9<>/dev/tcp/127.0.0.1/40001"),
                ("12345 sendto(3, " + "x" * 63 + "…", "678 sendto(3, " + "x" * 65 + "…")]
        for one, other in same:
            self.assertEqual(normalise(one), normalise(other))
        different = [("Threads: 1", "Threads: 2"), ("HTTP/1.1 200 OK", "HTTP/1.1 404 OK"),
                     ("read(3, 1024) = 5", "read(3, 1024) = 6"), ("clone3 50", "clone3 0"),
                     ("took 4.8 s", "took 4.8 ms"),
                     (" 50.00    0.000123          12         5           read",
                      " 50.00    0.000123          12         6           read")]
        for one, other in different:
            self.assertNotEqual(normalise(one), normalise(other))

    def test_steps(self) -> None:
        output = "── Step 1: A\n? q\n\none\n\n── Step 2: B\n? q\ntwo\nthree\n"
        self.assertEqual(book_transcript.step_of(output, 1), ["one"])
        self.assertEqual(book_transcript.step_of(output, 2), ["two", "three"])
        with self.assertRaises(RunError):
            book_transcript.step_of(output, 3)

    def test_a_question_of_two_lines(self) -> None:
        long = "? " + "word " * 15 + "end"
        self.assertEqual(len(long), 80)
        output = f"── Step 1: A\n{long}\nof it?\nA note.\n$ command\n"
        self.assertEqual(book_transcript.step_of(output, 1), ["A note.", "$ command"])

    def test_what_demo_sh_says_when_strace_is_forbidden(self) -> None:
        self.assertTrue(book_transcript.SKIPPED.search("$ a\nstrace is not permitted here: skipped\n"))
        self.assertFalse(book_transcript.SKIPPED.search("skipped 3 bytes\n"))

    def test_cuts(self) -> None:
        lines = ["1", "2", "3", "4", "5"]
        self.assertEqual(book_transcript.cut(lines, "1-2,4"), ["1", "2", "…", "4", "…"])
        self.assertEqual(book_transcript.cut(lines, "2-5"), ["…", "2", "3", "4", "5"])
        for ranges in ("4-6", "3-2", "1-3,2-4"):
            with self.assertRaises(RunError):
                book_transcript.cut(lines, ranges)

    def run_command(self, marker: str) -> list[str]:
        block = book_text.Block("transcript", marker, 0, 0, [])
        return book_transcript.fresh_output(block, book_transcript.Demos(Path("/")))

    def test_commands(self) -> None:
        self.assertEqual(self.run_command("command: echo a; echo b >&2"), ["$ echo a; echo b >&2", "a", "b"])
        self.assertEqual(self.run_command("command lines=2 exit=3: echo a; echo b; exit 3"),
                         ["$ echo a; echo b; exit 3", "…", "b"])
        with self.assertRaisesRegex(RunError, "ended with 3, not 0"):
            self.run_command("command: exit 3")
        with self.assertRaisesRegex(RunError, "a marker is"):
            self.run_command("something else")

    def test_a_missing_tool_is_a_skip(self) -> None:
        self.assertEqual(missing_tool("echo a | no-such-tool -x"), "no-such-tool")
        self.assertEqual(missing_tool("A=1 echo a | ./app serve | grep x"), "")
        with self.assertRaisesRegex(Skip, "no-such-tool is not installed"):
            self.run_command("command: no-such-tool")


class Text(unittest.TestCase):
    def test_anchors_are_mdbook_s(self) -> None:
        found = book_text.headings(page("# What's `new`?\n\n## A_b, c-d\n\n## A_b, c-d\n"))
        self.assertEqual([h.anchor for h in found], ["whats-new", "a_b-c-d", "a_b-c-d-1"])

    def test_a_heading_in_code_is_none(self) -> None:
        self.assertEqual(book_text.headings(page("```\n# no\n```\n")), [])

    def test_sentences_and_their_lines(self) -> None:
        found = book_text.sentences(page("One is, e.g. this. `f()` is\ntwo. Three!\n\n- Four\n- Five.\n"))
        self.assertEqual([(n, s.split()[0]) for n, s in found],
                         [(1, "One"), (1, "Code"), (2, "Three!"), (4, "Four"), (5, "Five.")])

    def test_markers_that_do_not_match(self) -> None:
        self.assertIn("has no end marker", messages(page("<!-- listing a b -->\n")))
        self.assertIn("has no transcript before it", messages(page("<!-- /transcript -->\n")))

    def test_code_and_images_are_not_prose(self) -> None:
        checked = page("`simply!`\n\n![just!](x.svg)\n\n```\nobviously!\n```\n\n<!-- blazing! -->\n")
        book_prose.check_words(checked)
        self.assertEqual(messages(checked), "")


class LinksOut(unittest.TestCase):
    """What the preprocessor makes of links that leave chapters/."""

    def test_figures_are_found_in_the_rendered_book(self) -> None:
        self.assertEqual(LINKS_OUT.convert("![a ] b](../diagrams/x.svg)"), "![a ] b](../diagrams/x.svg)")
        self.assertEqual(LINKS_OUT.convert("![a b](../diagrams/x.svg)"), "![a b](diagrams/x.svg)")

    def test_links_to_sources_become_text(self) -> None:
        self.assertEqual(LINKS_OUT.convert("[It](../examples/a/)."), "It (`examples/a`).")
        self.assertEqual(LINKS_OUT.convert("*[`examples/a`](../examples/a), `f`*"), "*`examples/a`, `f`*")
        self.assertEqual(LINKS_OUT.convert("[a\nb](../c)"), "a\nb (`c`)")

    def test_other_links_and_code_stay(self) -> None:
        for text in ("[a](b.md#c)", "[a](https://example.org)", "`[a](../b)`", "```\n[a](../b)\n```",
                     "~~~\n\n~~~"):
            self.assertEqual(LINKS_OUT.convert(text), text)

    def test_every_chapter_of_the_tree_is_converted(self) -> None:
        for key in ("sections", "items"):
            inner = {"Chapter": {"content": "[a](../b)", "sub_items": []}}
            book = {key: [{"Chapter": {"content": "[a](../b)", "sub_items": [inner]}}, "Separator"]}
            LINKS_OUT.walk(book)
            self.assertNotIn("](../b)", json.dumps(book))
            self.assertEqual(json.dumps(book).count("a (`b`)"), 2)


if __name__ == "__main__":
    unittest.main()
