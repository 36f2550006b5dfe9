"""A project in a temporary directory, with two small chapters and a build that only copies files."""

from __future__ import annotations

import compileall
import os
import shutil
import stat
import subprocess
import tempfile
import textwrap
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent.parent
PYTHON = "/usr/bin/python3"
TIME_LIMIT = 60

compileall.compile_dir(SCRIPTS / "ttc", quiet=1)  # once, not in each copy

# "Compiles" by copying: all, ID/all, ID, ID.N-slug, ID.N-slug.solution. SYNTAX_ERROR does not compile.
CMAKE = r"""#!/bin/bash
echo "cmake $*" >> "$FAKE_ROOT/cmake.log"
cd "$FAKE_ROOT/examples" || exit 1
compile() {
    if grep -q SYNTAX_ERROR "$1"; then echo "$1:1: error: SYNTAX_ERROR"; return 1; fi
    mkdir -p "$(dirname "$2")" && cp "$1" "$2.new" && chmod +x "$2.new" && mv "$2.new" "$2"
}
chapter() {
    compile "$1/src/main.cpp" "$out/$1/app" || return 1
    for e in "$1"/exercises/*/; do
        [[ -d $e ]] || continue
        compile "$e"solution/*.cpp "$out/$1/exercises/$(basename "$e")/solution/app" || return 1
    done
}
if [[ $1 == --preset ]]; then
    out=build/$2; starters=
    while (($#)); do
        case $1 in -B) out=$2 ;; -DTTC_STARTERS=*) starters=${1#*=} ;; esac; shift
    done
    for e in [0-9]*/exercises/*/; do
        [[ -z $starters ]] || compgen -G "$starters/$e*.cpp" >/dev/null || { echo "No SOURCES: $e"; exit 1; }
    done
    [[ $out == /* ]] || out=$FAKE_ROOT/$out
    mkdir -p "$out" && echo "$starters" > "$out/starters" && touch "$out/build.ninja"
    exit
fi
out=$2 target=$4
case $target in
    all) for c in [0-9]*/; do chapter "${c%/}" || exit 1; done ;;
    */all) chapter "${target%/all}" ;;
    *.solution) t=${target%.solution}; c=${t%%.*} e=${t#*.}
        compile "$c/exercises/$e/solution/"*.cpp "$out/$c/exercises/$e/solution/app" ;;
    *.*) c=${target%%.*} e=${target#*.} from=$(cat "$out/starters"); from=${from:-$PWD}
        compile "$from/$c/exercises/$e/"*.cpp "$out/$c/exercises/$e/app" ;;
    *) compile "$target/src/main.cpp" "$out/$target/app" ;;
esac
"""

CTEST = r"""#!/bin/bash
strict=0
while (($#)); do
    case $1 in --output-junit) out=$2 ;; --no-tests=error) strict=8 ;; esac; shift
done
[[ -e $FAKE_ROOT/ctest.xml ]] || { echo "No tests were found!!!"; exit $strict; }
cp "$FAKE_ROOT/ctest.xml" "$out"
! grep -q "<failure" "$out"
"""

CTEST_RESULTS = """<testsuite><testcase name="Date.renders" time="0.01" status="run"/>
<testcase name="Head.rejects" time="0.02" status="run"/></testsuite>
"""

# A check passes when the program has the line `good NAME`; other lines make the whole run misbehave.
VERIFY = r"""
local checks = { "answers", "survives a silent client", "leaves nothing behind" }
local only = {}
for i = 1, #arg do
    if arg[i] == "--only" then only[#only + 1] = arg[i + 1] end
    if arg[i] == "--list" then
        print(table.concat(checks, "\n"))
        os.exit(0)
    end
end
local file = assert(io.open(os.getenv("VERIFY_APP")))
local program = file:read("a")
file:close()
local function has(text) return program:find(text, 1, true) ~= nil end
local function wanted(name)
    for _, word in ipairs(only) do
        if name:find(word, 1, true) then return true end
    end
    return #only == 0
end
io.stdout:setvbuf("line")
print("TAP version 13")
if has("everything is skipped") then
    print("1..0 # SKIP no network here")
    os.exit(77)
end
local number, failed = 0, 0
for _, name in ipairs(checks) do
    if wanted(name) then
        number = number + 1
        if has("skip " .. name) then
            print(("ok %d - %s # SKIP ptrace is not permitted"):format(number, name))
        elseif has("good " .. name) then
            print(("ok %d - %s"):format(number, name))
        else
            failed = failed + 1
            print(("not ok %d - %s"):format(number, name))
            print("# sent: GET / [HTTP]")
            print("# expected: 200, got: nothing")
            print("# see: Errors")
        end
    end
    if has("hang") then os.execute("exec sleep 60") end
    if has("crash") then os.exit(3) end
end
if has("leak") then os.execute("sleep 60 >/dev/null 2>&1 &") end
print("1.." .. number)
os.exit(has("pretends success") and 0 or failed > 0 and 1 or 0)
"""

README = """# {title}

It hangs when I do this.

## What to change

`{file}`

## Judged by

- `{check}`: because

## Hints

<details><summary>Hint 1</summary>

Look at the first call.

</details>

<details><summary>Hint 2</summary>

It may return less.

</details>

<details><summary>Hint 3</summary>

Call it again.

</details>
"""

GOOD = "#!/bin/sh\n# good answers\n# good survives a silent client\n# good leaves nothing behind\n"
EXERCISES = {"1-short-write": "answers", "2-silent-client": "survives a silent client"}


def starter(check: str) -> str:
    """The good program without the line that this check looks for."""
    return GOOD.replace(f"# good {check}\n", "# the bug is here\n")


class FakeProject:
    """Two chapters, 01-first-one with two exercises and 02-second-one without; use as a context."""

    def __enter__(self) -> FakeProject:
        self._directory = tempfile.TemporaryDirectory()
        self.root = Path(self._directory.name)
        ignore = shutil.ignore_patterns("tests")
        shutil.copytree(SCRIPTS, self.root / "scripts", ignore=ignore)
        self.write("bin/cmake", CMAKE, executable=True)
        self.write("bin/ctest", CTEST, executable=True)
        self.write("ctest.xml", CTEST_RESULTS)
        self.write("verify/tests/run.lua", 'print("ok 1 - a failed check says why")\nprint("1..1")\n')
        self.write("scripts/tests/test_one.py", PASSING_TEST)
        self.write("chapters/SUMMARY.md", "# Summary\n\n- [First one](01-first-one.md)\n- [Poll]()\n")
        self.manifest = ""
        self.chapter("01-first-one", EXERCISES)
        self.chapter("02-second-one", {})
        return self

    def __exit__(self, *_: object) -> None:
        self._directory.cleanup()

    def chapter(self, name: str, exercises: dict[str, str], extra: str = "") -> None:
        title = name[3:].replace("-", " ").capitalize()
        self.manifest += f'[[chapter]]\nid = "{name}"\ntitle = "{title}"\nlanguages = ["cpp"]\n{extra}\n'
        self.write("examples/manifest.toml", self.manifest)
        self.write(f"examples/{name}/src/main.cpp", GOOD)
        self.write(f"examples/{name}/verify.lua", VERIFY)
        for slug, check in exercises.items():
            folder = f"examples/{name}/exercises/{slug}"
            self.write(f"{folder}/part.cpp", starter(check))
            self.write(f"{folder}/solution/part.cpp", GOOD)
            title = slug[2:].replace("-", " ").capitalize()
            self.write(f"{folder}/README.md", README.format(title=title, file="part.cpp", check=check))

    def path(self, name: str) -> Path:
        return self.root / name

    def write(self, name: str, text: str, executable: bool = False) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if executable:
            path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def read(self, name: str) -> str:
        return (self.root / name).read_text(encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        text = self.read(name)
        assert old in text, f"{old!r} is not in {name}"
        self.write(name, text.replace(old, new))

    def environment(self, **more: str) -> dict[str, str]:
        env = {key: value for key, value in os.environ.items() if not key.startswith(("VERIFY_", "GIT_"))}
        path = f"{self.root / 'bin'}:{env['PATH']}"
        return {**env, "PATH": path, "FAKE_ROOT": str(self.root), **more}

    def command(self, script: str, *words: str) -> list[str]:
        path = self.root / script
        return [PYTHON, str(path), *words] if path.suffix == ".py" else ["bash", str(path), *words]

    def run(self, script: str, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(script, *words),
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
            stdin=subprocess.DEVNULL,
            env=self.environment(**more),
            check=False,
        )

    def commit(self) -> None:
        """Puts everything into a git repository."""
        git = ["git", "-C", str(self.root), "-c", "user.name=nobody", "-c", "user.email=nobody@localhost"]
        for words in (["init", "-q"], ["add", "examples"], ["commit", "-q", "-m", "starters"]):
            subprocess.run([*git, *words], check=True, env=self.environment(), capture_output=True)


PASSING_TEST = textwrap.dedent(
    """
    import unittest

    class One(unittest.TestCase):
        def test_adds(self):
            self.assertEqual(1 + 1, 2)
    """
)
