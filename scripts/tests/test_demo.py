"""demo.sh, the library of every chapter's demo, with a small server as the chapter's program."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import time
import unittest
from pathlib import Path

from fake_project import FakeProject

APP = r"""#!/usr/bin/python3 -S
import os, signal, socket, sys
words = sys.argv[1:]
if words[:1] == ["echo"]:
    print(" ".join(words[1:]))
    sys.exit()
if words[:1] != ["serve"]:
    print("usage: app serve", file=sys.stderr)
    sys.exit(2)
model = words[words.index("--model") + 1]
if model == "broken":
    print("httpd: cannot bind", file=sys.stderr)
    sys.exit(1)
listener = socket.create_server(("127.0.0.1", 0))
def stop(*_):
    print(f"httpd: stopped model={model} requests=1", file=sys.stderr, flush=True)
    os._exit(3 if model == "sour" else 0)
if model == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
else:
    signal.signal(signal.SIGTERM, stop)
print(f"httpd: serving model={model} on 127.0.0.1:{listener.getsockname()[1]}", file=sys.stderr, flush=True)
while True:
    peer, _ = listener.accept()
    peer.recv(100)
    peer.send(b"hello\n")
    peer.close()
"""

DEMO = """#!/usr/bin/env bash
. "$(dirname "$0")/../../scripts/demo.sh"
ask() { exec 8<>"/dev/tcp/127.0.0.1/$PORT"; echo GET >&8; cat <&8; exec 8>&-; }
story() {
%s
}
demo "$@"
"""

SCRIPT = "examples/01-first-one/demo.sh"
STRACE = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True).returncode == 0


class DemoCase(unittest.TestCase):
    def setUp(self) -> None:
        self.project = self.enterContext(FakeProject())
        self.project.write("examples/01-first-one/src/main.cpp", APP)
        self.story('    run app echo hello\n')

    def story(self, text: str) -> None:
        self.project.write(SCRIPT, DEMO % text, executable=True)

    def run_it(self, *words: str, **env: str) -> tuple[int, str, str]:
        result = self.project.run(SCRIPT, *words, **env)
        return result.returncode, result.stdout, result.stderr


class Story(DemoCase):
    def test_steps_are_numbered_headings_with_a_question(self) -> None:
        self.story('step "A title" "How many?"\nrun app echo "it\'s" "a b"\nstep Two "Why?"\nnote done')
        status, out, err = self.run_it()
        self.assertEqual((status, err), (0, ""))
        lines = out.splitlines()
        self.assertEqual(lines[1], "── Step 1: A title " + "─" * 61)
        self.assertEqual(len(lines[1]), 80)
        self.assertEqual(lines[2:5], ["? How many?", "$ app echo 'it'\\''s' 'a b'", "it's a b"])
        self.assertTrue(lines[6].startswith("── Step 2: Two ─"))
        self.assertEqual(lines[-1], "done")

    def test_long_lines_are_wrapped(self) -> None:
        self.story('note "' + "väldigt long " * 20 + '"')
        self.assertLessEqual(max(len(line) for line in self.run_it()[1].splitlines()), 80)

    def test_a_server_from_start_to_end(self) -> None:
        self.story("serve --model iterative\nrun ask\nthreads_line\nstop_server")
        status, out, err = self.run_it()
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"(?m)^\$ app serve --model iterative --port 0 &\n"
                              r"httpd: serving model=iterative on 127.0.0.1:\d+\n\$ ask\nhello\n"
                              r"\$ grep Threads: /proc/\d+/status\nThreads:\t1\n"
                              r"\$ kill -TERM \d+\n"
                              r"httpd: stopped model=iterative requests=1\n\(exit status 0\)")

    def test_what_fails_ends_the_demo_and_says_where(self) -> None:
        for story, words in (
            ("run app dance", "step 1: 'app' ended with exit status 2"),
            ("run_fails app echo hello", "step 1: 'app' was expected to fail"),
            ("run_line 'echo hello | grep bye'", "step 1: the command ended with exit status 1"),
            ("serve --model broken", "step 1: the server did not start: httpd: cannot bind"),
            ("serve --model iterative", "its server is still running"),
            ("serve --model sour\nstop_server", "the server ended with exit status 3"),
            ("start app dance\nfinish", "ended with exit status 2"),
            ("false", "step 1: `false` failed"),
            ('grep x /nonexistent-file\necho "not reached"', "failed"),
        ):
            with self.subTest(story=story):
                self.story(f"step One Why\n{story}\n")
                status, out, err = self.run_it()
                self.assertEqual(status, 1, out + err)
                self.assertIn(words, err)
                self.assertNotIn("not reached", out)

    def test_an_expected_failure_is_shown(self) -> None:
        self.story("run_fails app dance")
        self.assertEqual(self.run_it(), (0, "$ app dance\nusage: app serve\n(exit status 2)\n", ""))

    def test_pipes_background_and_time(self) -> None:
        self.story("run_line 'printf \"a\\nb\\n\" | wc -l'\nstart app echo late\nfinish\nelapsed app echo x")
        status, out, err = self.run_it()
        self.assertEqual((status, err), (0, ""))
        self.assertIn("| wc -l\n2\n$ app echo late &\nlate\n$ app echo x\nx\ntook 0.", out)

    def test_a_dropped_connection_is_closed_while_a_command_waits(self) -> None:
        self.story("serve --model iterative\nhold_connection\nstart ask\ndrop_connection\n"
                   "finish\nstop_server")
        status, out, err = self.run_it()
        self.assertEqual((status, err), (0, ""))
        self.assertIn("$ exec 9>&-\nhello\n", out)

    def test_nothing_outlives_the_demo(self) -> None:
        self.story("serve --model stubborn\necho pid $SERVER\nfail on purpose")
        status, out, _ = self.run_it()
        self.assertEqual(status, 1)
        self.assertFalse(alive(self.pid(out)))

    def pid(self, text: str) -> int:
        match = re.search(r"pid (\d+)", text)
        assert match, text
        return int(match[1])

    def test_a_demo_that_is_ended_ends_its_server(self) -> None:
        self.story("serve --model iterative\necho pid $SERVER\nread -r _ <&7")
        read_end, write_end = os.pipe()
        argv = ["bash", "-c", f'exec 7<&{read_end}; exec bash "$0"', str(self.project.path(SCRIPT))]
        env = self.project.environment()
        with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=env, pass_fds=[read_end]) as demo:
            text = ""
            while "pid " not in text:
                assert demo.stdout
                text += demo.stdout.readline()
            demo.send_signal(signal.SIGTERM)
            self.assertEqual(demo.wait(20), 143)
        os.close(write_end)
        os.close(read_end)
        self.assertFalse(alive(self.pid(text)))

    @unittest.skipUnless(STRACE, "strace is not permitted here")
    def test_traced_server_and_command(self) -> None:
        self.story("traced -e network,write serve --model iterative\nrun ask\nshow_calls -u sendto\n"
                   "threads_line\nstop_server\nshow_calls -c -u exited\ntraced -n 1 -e write app echo hello\n"
                   "traced -c -e write app echo hello")
        status, out, err = self.run_it()
        self.assertEqual((status, err), (0, ""))
        strace = "$ strace -D -f -e trace=network,write -o trace app serve"
        self.assertIn(f"{strace} --model iterative --port 0 &\n", out)
        self.assertRegex(out, r"(?m)^\d+ +accept4\(.*\n(.*\n)*\d+ +sendto\(.*\n(.*\n)*Threads:\t1\n")
        self.assertRegex(out, r"\(exit status 0\)\n( +\d \w+\n)* +\d write\n")
        self.assertRegex(out, r"\$ strace -f -e trace=write app echo hello\nhello\n"
                              r"\d+ +write\(1, .*\n… \(\d+ more\)\n")
        self.assertRegex(out, r"hello\n +\d write\n$")

    def test_without_ptrace_the_story_goes_on(self) -> None:
        self.project.write("bin/strace", "#!/bin/sh\nexit 1\n", executable=True)
        self.story("traced -e write serve --model iterative\nrun ask\nshow_calls -u sendto\nstop_server\n"
                   "traced app echo hello")
        status, out, err = self.run_it()
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out.count("strace is not permitted here: skipped"), 3)
        self.assertIn("$ app echo hello\nhello\n", out)


class CommandLine(DemoCase):
    def test_build(self) -> None:
        expected = (0, "built build/release/01-first-one/app\n", "")
        for words in (["build"], ["cpp", "build"], ["all", "build"]):
            self.assertEqual(self.run_it(*words), expected)
        self.assertIn("--target 01-first-one\n", self.project.read("cmake.log"))

    def test_build_failure_shows_the_log(self) -> None:
        self.project.write("examples/01-first-one/src/main.cpp", "SYNTAX_ERROR")
        for words in (["build"], ["run", "echo"], ["verify"], []):
            status, out, err = self.run_it(*words)
            self.assertEqual((status, out), (1, ""))
            self.assertIn("error: SYNTAX_ERROR", err)

    def test_run_is_the_program(self) -> None:
        self.assertEqual(self.run_it("run", "echo", "a  b", "*"), (0, "a  b *\n", ""))
        self.assertEqual(self.run_it("cpp", "run", "dance"), (2, "", "usage: app serve\n"))

    def test_signals_reach_the_program(self) -> None:
        argv = ["bash", str(self.project.path(SCRIPT)), "run", "serve", "--model", "m"]
        pipe, env = subprocess.PIPE, self.project.environment()
        with subprocess.Popen(argv, stderr=pipe, text=True, env=env) as process:
            assert process.stderr
            port = int(process.stderr.readline().rsplit(":", 1)[1])
            socket.create_connection(("127.0.0.1", port)).close()
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.stderr.readline(), "httpd: stopped model=m requests=1\n")
            self.assertEqual(process.wait(20), 0)

    def test_verify_runs_the_checks(self) -> None:
        self.project.write("examples/01-first-one/verify.lua",
                           'print(os.getenv("VERIFY_PRESET"), arg[1])\nos.exit(1)\n')
        self.assertEqual(self.run_it("verify", "--list"), (1, "release\t--list\n", ""))

    def test_exercise(self) -> None:
        status, out, _ = self.run_it("exercise", "1")
        self.assertEqual(status, 1)
        self.assertIn("01-first-one/1-short-write: Short write", out)
        self.assertEqual(self.run_it("exercise")[0], 2)

    def test_usage(self) -> None:
        status, out, _ = self.run_it("help")
        self.assertEqual(status, 0)
        self.assertIn("usage: ./demo.sh", out)
        for words, problem in (
            (["dance"], "unknown verb 'dance'"),
            (["go"], "01-first-one has no go version"),
            (["rust", "build"], "01-first-one has no rust version"),
            (["all", "run"], "run needs one language"),
        ):
            status, out, err = self.run_it(*words)
            self.assertEqual((status, out), (2, ""))
            self.assertIn(problem, err)
            self.assertIn("usage:", err)


def alive(pid: int) -> bool:
    """Soon after: a process that was told to end needs a moment, a zombie is no process."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] in "ZX":
                return False
        except OSError:
            return False
        time.sleep(0.02)
    return True


if __name__ == "__main__":
    unittest.main()
