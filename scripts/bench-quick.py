#!/usr/bin/python3
"""Compares all models, a null server and nginx under wrk: requests a second, and CPU time a request.

The server runs on core 0 and wrk on core 1. Rounds are interleaved, ratios are taken within a round,
and their medians are printed. Sends to 127.0.0.1 only. (Fixed rates and latencies are for chapter 13.)"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from ttc import manifest  # noqa: E402

ROOT = manifest.project_root()
BUILD = ROOT / "build" / "release"
READY = re.compile(r"serving.* on 127\.0\.0\.1:(\d+)")
# these serve one connection a worker, so they get as many workers as there are connections
WORKER_EACH = {"preforked", "thread-pool"}
# these start one for each connection, and its time is gone from /proc when it ends
WORKER_FOR_EACH = {"forking", "thread-per-conn"}
READINESS = {"poll", "epoll-lt", "epoll-et", "event-loop"}
SERVER_CORE, CLIENT_CORE = "0", "1"

NGINX = """daemon off; master_process on; worker_processes 1; pid {dir}/pid; error_log {dir}/error;
events {{ worker_connections 20000; }}
http {{ access_log off; keepalive_requests 1000000000; default_type text/html; sendfile on; tcp_nodelay on;
client_body_temp_path {dir}/a; proxy_temp_path {dir}/b; fastcgi_temp_path {dir}/c; uwsgi_temp_path {dir}/d;
scgi_temp_path {dir}/e; server {{ listen 127.0.0.1:{port}; root {site}; }} }}
"""

PIPELINE = """init = function(args) local r = {} for i = 1, 16 do r[i] = wrk.format("GET", "/") end
req = table.concat(r) end request = function() return req end"""


@dataclass
class Server:
    """Something to measure. command(workers, scratch) is what starts it."""

    name: str
    argv: list[str]
    worker_option: bool = False
    results: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def command(self, connections: int) -> list[str]:
        workers = ["--workers", str(connections)] if self.worker_option else []
        return ["taskset", "-c", SERVER_CORE, *self.argv, *workers]


def say(text: str) -> None:
    print(text, flush=True)


def family(pid: int) -> list[int]:
    """A process and all its descendants."""
    found = [pid]
    for one in found:
        with contextlib.suppress(OSError):  # it has just ended
            for task in Path(f"/proc/{one}/task").glob("*/children"):
                found += [int(word) for word in task.read_text().split()]
    return found


def ticks_seconds(pid: int) -> float:
    """The same in ticks of 10 ms: coarse, but threads and reaped children that have ended are in it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(word) for word in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """Time on the processor so far, of all threads of all processes of the family that are there now."""
    total = 0
    for one in family(pid):
        with contextlib.suppress(OSError):
            for stat in Path(f"/proc/{one}/task").glob("*/schedstat"):
                total += int(stat.read_text().split()[0])
    return total / 1e9


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


def wait_for_port(process: subprocess.Popen[str], port: int | None) -> int:
    """The port of the ready line; or, for nginx, when the port answers."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and process.poll() is None:
        if port is None:
            assert process.stderr is not None
            if found := READY.search(process.stderr.readline()):
                return int(found[1])
        else:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                return port
    raise RuntimeError(f"{process.args!r} did not start")


@contextlib.contextmanager
def running(server: Server, connections: int, scratch: Path) -> Iterator[tuple[int, int]]:
    """Starts the server; gives its process id and its port."""
    port, command = None, server.command(connections)
    if server.name == "nginx":
        port = free_port()
        conf = scratch / "nginx.conf"
        conf.write_text(NGINX.format(dir=scratch, port=port, site=ROOT / "examples/lib/http/site"))
        command += ["-c", str(conf), "-e", str(scratch / "error")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        yield process.pid, wait_for_port(process, port)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()


def wrk(port: int, connections: int, seconds: int, script: Path | None) -> int:
    """Requests that were answered with 2xx."""
    command = ["taskset", "-c", CLIENT_CORE, "wrk", "-t1", f"-c{connections}", f"-d{seconds}s"]
    command += ["-s", str(script)] if script else []
    out = subprocess.run(
        [*command, f"http://127.0.0.1:{port}/"], capture_output=True, text=True, check=True
    ).stdout
    answered = int(re.search(r"(\d+) requests in", out)[1])  # type: ignore[index]
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", out)
    return answered - int(bad[1]) if bad else answered


def settle(pid: int, server: Server) -> None:
    """Waits until the workers of the last connections have ended: their time counts only then."""
    deadline = time.monotonic() + 5
    while server.name in WORKER_FOR_EACH and time.monotonic() < deadline:
        if len(family(pid)) == 1 and len(os.listdir(f"/proc/{pid}/task")) == 1:
            return
        time.sleep(0.005)


def measure(
    server: Server, connections: int, seconds: int, scratch: Path, script: Path | None
) -> tuple[float, float]:
    """Requests a second, and microseconds of CPU time a request."""
    with running(server, connections, scratch) as (pid, port):
        wrk(port, connections, 1, script)  # warm
        clock = ticks_seconds if server.name in WORKER_FOR_EACH else cpu_seconds
        settle(pid, server)
        before, start = clock(pid), time.monotonic()
        requests = wrk(port, connections, seconds, script)
        wall = time.monotonic() - start
        settle(pid, server)
        cpu = clock(pid) - before
    return requests / wall, cpu * 1e6 / max(requests, 1)


def resident_kib(pid: int) -> int:
    total = 0
    for one in family(pid):
        with contextlib.suppress(OSError):
            found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{one}/status").read_text())
            total += int(found[1]) if found else 0
    return total


def idle_memory(server: Server, connections: int, scratch: Path) -> int:
    """KiB resident with so many idle connections, after one GET each."""
    request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    with running(server, connections, scratch) as (pid, port), contextlib.ExitStack() as stack:
        for _ in range(connections):
            one = stack.enter_context(socket.create_connection(("127.0.0.1", port), 10))
            one.sendall(request)
            if not one.recv(65536).startswith(b"HTTP/1.1 200"):
                raise RuntimeError(f"{server.name} did not answer a GET")
        return resident_kib(pid)


def servers(scratch: Path) -> list[Server]:
    found = []
    response = scratch / "response"
    for chapter in manifest.load(ROOT):
        app = BUILD / chapter.id / "app"
        if not app.exists() or chapter.id[:2] in ("01", "02"):
            continue  # one connection at a time: nothing to compare at a hundred
        for model in chapter.models:
            argv = [str(app), "serve", "--model", model, "--port", "0", "--idle-timeout", "60000"]
            found.append(Server(model, argv, model in WORKER_EACH))
    feed = BUILD / "02-sans-io" / "app"
    request = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
    response.write_bytes(
        subprocess.run([str(feed), "feed"], input=request, capture_output=True, check=True).stdout
    )
    found.append(Server("null", [str(BUILD / "lib/bench/null-server"), str(response)]))
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/sbin")
    if nginx:
        found.append(Server("nginx", [nginx]))
    else:
        say("nginx is not installed: its columns are left out")
    return found


def ratio(server: Server, base: Server | None, load: str, column: int) -> str:
    """The median of the ratios within a round."""
    if base is None or load not in base.results or load not in server.results:
        return "-"
    pairs = zip(server.results[load], base.results[load], strict=True)
    return f"{statistics.median(mine[column] / theirs[column] for mine, theirs in pairs):.2f}"


def table(found: list[Server], load: str) -> None:
    by_name = {server.name: server for server in found}
    nginx, null = by_name.get("nginx"), by_name.get("null")
    say(f"\n{load}")
    say(f"{'':16} {'requests/s':>11} {'/ nginx':>8} {'CPU us/req':>11} {'/ nginx':>8} {'/ null':>8}")
    for server in found:
        if load not in server.results:
            continue
        rate = statistics.median(r for r, _ in server.results[load])
        cpu = statistics.median(c for _, c in server.results[load])
        say(
            f"{server.name:16} {rate:11.0f} {ratio(server, nginx, load, 0):>8} {cpu:11.2f} "
            f"{ratio(server, nginx, load, 1):>8} {ratio(server, null, load, 1):>8}"
        )


def machine() -> str:
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    commit = subprocess.run(
        ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"], capture_output=True, text=True
    )
    return (
        f"{model[1] if model else platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}, "
        f"commit {commit.stdout.strip() or 'none'}"
    )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2, help="for each measurement")
    parser.add_argument("--only", action="append", help="a model (null and nginx always run)")
    parser.add_argument("--idle", type=int, default=10000, help="idle connections for the memory table")
    parser.add_argument("--json", type=Path, help="write all rounds here, too")
    return parser.parse_args()


def run(args: argparse.Namespace, scratch: Path) -> None:
    found = [one for one in servers(scratch) if not args.only or one.name in {*args.only, "null", "nginx"}]
    pipeline = scratch / "pipeline.lua"
    pipeline.write_text(PIPELINE)
    loads = [
        ("100 connections", 100, None),
        ("1000 connections", 1000, None),
        ("100 connections, 16 requests pipelined", 100, pipeline),
    ]
    for number in range(args.rounds):
        for load, connections, script in loads:
            for server in found:
                if script and server.name not in READINESS | {"nginx"}:
                    continue  # the null server does not count requests
                say(f"round {number + 1} of {args.rounds}: {load}: {server.name}")
                result = measure(server, connections, args.seconds, scratch, script)
                server.results.setdefault(load, []).append(result)
    say(
        f"\n{machine()}; medians of {args.rounds} rounds of {args.seconds} s; server on core {SERVER_CORE}, "
        f"wrk on core {CLIENT_CORE}"
    )
    for load, _, _ in loads:
        table(found, load)
    say(f"\nresident memory with {args.idle} idle connections, after one GET each")
    for server in found:
        if server.name in READINESS | {"nginx"}:
            say(f"{server.name:16} {idle_memory(server, args.idle, scratch) / 1024:8.1f} MiB")
    if args.json:
        args.json.write_text(json.dumps({one.name: one.results for one in found}, indent=1))


def main() -> int:
    args = arguments()
    for tool in ("wrk", "taskset"):
        if not shutil.which(tool):
            say(f"bench-quick: SKIP: {tool} is not installed")
            return 77
    if (os.cpu_count() or 1) < 2:
        say("bench-quick: SKIP: needs two cores, one for the server and one for wrk")
        return 77
    with tempfile.TemporaryDirectory(prefix="bench-quick-") as scratch:
        run(args, Path(scratch))
    return 0


if __name__ == "__main__":
    sys.exit(main())
