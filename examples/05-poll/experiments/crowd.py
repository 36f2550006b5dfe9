#!/usr/bin/python3
"""What a request costs a server beside idle connections."""

import argparse
import re
import resource
import socket
from pathlib import Path

REQUESTS = 1000
GET = b"GET /hello/x HTTP/1.1\r\nHost: a\r\n\r\n"


def connect(port: int, number: int) -> list[socket.socket]:
    """Connections that have been answered once: the server knows them."""
    new = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(number)]
    for one in new:
        one.sendall(GET)
    for one in new:
        expect_answer(one)
    return new


def expect_answer(one: socket.socket) -> None:
    answer = one.recv(4096)
    if not answer.startswith(b"HTTP/1.1 200 OK\r\n") or not answer.endswith(b"Hello, x\n"):
        raise SystemExit(f"crowd.py: an unexpected answer: {answer!r}")


def status(pid: int, field: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    found = re.search(rf"^{field}:\s*(\d+)", lines, re.MULTILINE)
    if not found:
        raise SystemExit(f"crowd.py: process {pid} has no {field}")
    return int(found[1])


def cpu_nanoseconds(pid: int) -> int:
    return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0])


def cost_of_a_request(port: int, pid: int) -> float:
    """In microseconds of the server's CPU time, user and system, over one connection."""
    with connect(port, 1)[0] as one:
        before = cpu_nanoseconds(pid)
        for _ in range(REQUESTS):
            one.sendall(GET)
            expect_answer(one)
        return (cpu_nanoseconds(pid) - before) / REQUESTS / 1000


def ticks(pid: int) -> tuple[int, int]:
    """CPU time in clock ticks: in the program, in the kernel."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return int(fields[11]), int(fields[12])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="of the server")
    parser.add_argument("--pid", type=int, required=True, help="of its process")
    parser.add_argument("numbers", type=int, nargs="*", default=[0, 1000, 4000], help="of idle connections")
    args = parser.parse_args()
    port, pid = args.port, args.pid
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    idle: list[socket.socket] = []
    print("idle connections   threads   memory     CPU time a request")
    for number in args.numbers:
        idle += connect(port, number - len(idle))
        before = ticks(pid)
        cost = cost_of_a_request(port, pid)
        user, system = (now - then for now, then in zip(ticks(pid), before))
        memory = f"{status(pid, 'VmRSS') / 1024:.1f} MiB"
        print(f"{number:16}   {status(pid, 'Threads'):7}   {memory:8}   {cost:.1f} µs")
    in_kernel = cost * system / max(user + system, 1)
    print(f"of the last: {in_kernel:.1f} µs in the kernel, {cost - in_kernel:.1f} µs in the program")


if __name__ == "__main__":
    main()
