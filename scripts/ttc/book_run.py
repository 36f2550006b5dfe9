"""Runs what a transcript shows, and makes two runs of it comparable."""

import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

TIME_LIMIT = 300     # seconds; a demo may have to build first

# What differs between two honest runs of the same program. Order matters: the first rules see the raw text.
MASKS: list[tuple[str, str]] = [
    # colours, should a program insist on them
    (r"\x1b\[[0-9;]*[A-Za-z]", ""),
    # dates: HTTP's, ISO 8601's, those of ls and date
    (r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT", "DATE"),
    (r"\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?", "DATE"),
    (r"\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) {1,2}\d{1,2} \d\d:\d\d(:\d\d)?( \d{4})?", "DATE"),
    (r'Date: (Mon|Tue|Wed|Thu|Fri|Sat|Sun)[^"\n]{0,24}"\.\.\.', 'Date: DATE"...'),     # cut short by strace
    # ports
    (r"\b(127\.0\.0\.1|0\.0\.0\.0|localhost|\[::1\])([:/ ])\d{2,5}\b", r"\1\2PORT"),
    (r"\b([sd]port = :)\d+", r"\1PORT"),
    (r"\b(sin6?_port=htons)\(\d+\)", r"\1(PORT)"),
    (r"(--?port[ =]|\bport )\d{4,5}\b", r"\1PORT"),
    # process ids: strace's, those of ps, kill and /proc
    (r"\[pid +\d+\]", "[pid PID]"),
    (r"^\d{1,7} +(?=[a-z_0-9]+\(|\+\+\+|---|<\.\.\.)", "PID "),
    (r"\b((?:[Tt]gid|[Pp]?[Pp]id|PID|si_pid|process|child|strace -p|pgrep -P|kill(?: -\w+)?|-p)[ :=]+)\d+",
     r"\1PID"),
    (r"/proc/\d+", "/proc/PID"),
    (r"strace: (Process) \d+", r"strace: \1 PID"),
    # addresses and names of temporary files
    (r"\b0x[0-9a-f]{6,}\b", "ADDRESS"),
    (r"/tmp/[\w.-]+", "/tmp/NAME"),
    # strace's columns: times, then the calls, which count
    (r"<\d+\.\d{6}>", "<TIME>"),
    (r"^\d\d:\d\d:\d\d(\.\d+)? ", "TIME "),
    (r"^ *\d+\.\d\d +\d+\.\d{6} +\d* +(\d+)", r"TIME \1"),
    # times, rates and sizes with a unit; the unit stays
    (r"\b\d+(\.\d+)? ?(ns|us|µs|ms|s|min|seconds?|milliseconds?|minutes?)\b", r"TIME \2"),
    (r"\b\d[\d,.]* ?(requests/s|connections/s|MB/s|MiB/s|Gbit/s)", r"RATE \1"),
    (r"\b\d+(\.\d+)? ?(kB|KB|KiB|MB|MiB|GB|GiB)\b", r"SIZE \2"),
    # columns shift when a number in them has one digit more
    (r" {2,}", "  "),
    # a line that was cut at the screen's edge is cut elsewhere when a number before the cut grows
    (r"^(.{60}).*…$", r"\1…"),
    (r"[ \t]+$", ""),
]
COMPILED = [(re.compile(pattern, re.MULTILINE), mask) for pattern, mask in MASKS]


def normalise(text: str) -> str:
    for pattern, mask in COMPILED:
        text = pattern.sub(mask, text)
    return text


class RunError(Exception):
    """The command or demo did not do what the chapter says it does."""


class Skip(Exception):
    """It cannot be run here, for a reason which is no fault of the book."""


@dataclass(frozen=True)
class Result:
    status: int
    output: str


def environment() -> dict[str, str]:
    plain = {"NO_COLOR": "1", "TERM": "dumb", "LC_ALL": "C.UTF-8", "COLUMNS": "80"}
    return {**os.environ, **plain}


def run(command: list[str], folder: Path, root: Path) -> Result:
    """Runs a command in its own process group; its output comes back without this machine's paths."""
    process = subprocess.Popen(command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        raw, _ = process.communicate(timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise RunError(f"not finished after {TIME_LIMIT} s") from error
    text = raw.decode("utf-8", "replace").replace("\r\n", "\n")
    text = COMPILED[0][0].sub("", text).replace(f"{root}/", "").replace(str(root), ".")
    return Result(process.returncode, text)


@lru_cache
def ptrace_problem() -> str:
    """Why strace cannot be used here; empty when it can."""
    if not shutil.which("strace"):
        return "strace is not installed"
    probe = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, text=True, timeout=10)
    return "" if probe.returncode == 0 else "ptrace is not permitted here"


def missing_tool(command: str) -> str:
    """The first program in a command line that this machine lacks; empty when there is none."""
    for part in re.split(r"\|\||&&|[|;]", command):
        words = [w for w in part.split() if not re.match(r"\w+=", w)]
        if words and re.fullmatch(r"[a-z][\w.+-]*", words[0]):
            known = subprocess.run(["bash", "-c", f"type {words[0]}"], capture_output=True, timeout=10)
            if known.returncode != 0:
                return words[0]
    return ""


def skip_if_impossible(text: str) -> None:
    """Raises Skip when what the text shows cannot be run on this machine."""
    if re.search(r"\bstrace\b", text) and ptrace_problem():
        raise Skip(ptrace_problem())


def tail(text: str, count: int = 12) -> str:
    return "\n".join("    " + line for line in text.splitlines()[-count:])
