#!/usr/bin/python3 -IS
"""A small server with the book's command line, right by default and wrong on demand.

fake_server.py serve [--model M] [--port P] [--fault NAME]...   or: feed, exit N, chat
It is the program under test of the library's own tests.
"""
import os
import signal
import socket
import sys
import threading
import time

DATE = "Thu, 01 Jan 1970 00:00:00 GMT"


class Fake:
    def __init__(self, words: list[str]) -> None:
        self.model, self.port, self.faults = "fake", 0, set[str]()
        self.kind = "model"
        pairs = zip(words[::2], words[1::2])
        for name, value in pairs:
            if name == "--fault":
                self.faults.add(value)
            elif name == "--port":
                self.port = int(value)
            elif name in ("--model", "--engine"):
                self.kind, self.model = name[2:], value
        self.program = "chatterd" if self.kind == "engine" else "httpd"
        self.requests = self.connections = self.open = self.peak = 0
        self.kept: list[object] = []
        self.peers: list[socket.socket] = []
        self.lock = threading.Lock()

    def has(self, fault: str) -> bool:
        return fault in self.faults

    # ---- life cycle ----

    def serve(self) -> int:
        if self.has("exits-3"):
            print("httpd: cannot bind 127.0.0.1: it was told so", file=sys.stderr)
            return 3
        stop = {signal.SIGTERM, signal.SIGINT}
        signal.pthread_sigmask(signal.SIG_BLOCK, stop)
        with socket.create_server(("127.0.0.1", self.port), backlog=64) as listener:
            self.misbehave_early()
            port = listener.getsockname()[1]
            ready = f"{self.program}: serving {self.kind}={self.model} on 127.0.0.1:{port}"
            if self.has("wrong-ready"):
                ready = ready.replace("serving", "listening")
            if not self.has("no-ready"):
                print(ready, file=sys.stderr, flush=True)
            threading.Thread(target=self.accept_loop, args=(listener,), daemon=True).start()
            while signal.sigwait(stop) and self.has("ignores-term"):
                pass
        if self.has("slow-stop"):
            time.sleep(1.2)
        self.say_goodbye()
        return 5 if self.has("bad-exit") else 0

    def misbehave_early(self) -> None:
        if self.has("zombie") and os.fork() == 0:
            os._exit(0)
        if self.has("orphan"):
            self.kept.append(os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "60"))
        if self.has("second-listener"):
            self.kept.append(socket.create_server(("127.0.0.1", 0)))
        if self.has("sanitizer"):
            print("x.cpp:1:1: runtime error: signed integer overflow", file=sys.stderr)
        if self.has("spins"):
            threading.Thread(target=self.spin, daemon=True).start()
        if self.has("memory"):
            self.kept.append(b"x" * (64 << 20))

    def spin(self) -> None:
        while True:
            os.getppid()

    def say_goodbye(self) -> None:
        if self.has("no-stopped-line"):
            return
        counts = f"requests={self.requests} connections={self.connections} peak={self.peak}"
        if self.kind == "engine":
            counts = f"messages={self.requests} peak_conns={self.peak}"
        print(f"{self.program}: stopped {self.kind}={self.model} {counts}", file=sys.stderr, flush=True)

    # ---- connections ----

    def accept_loop(self, listener: socket.socket) -> None:
        while True:
            try:
                peer, _ = listener.accept()
            except OSError as problem:
                if self.has("dies-of-accept"):
                    os._exit(1)
                if problem.errno == 9:
                    return
                continue
            self.connections += 1
            if self.has("leaks"):
                self.kept.append(os.dup(0))
            if self.has("one-at-a-time"):
                self.run_connection(peer)
            else:
                threading.Thread(target=self.run_connection, args=(peer,), daemon=True).start()

    def run_connection(self, peer: socket.socket) -> None:
        with self.lock:
            self.open += 1
            self.peak = max(self.peak, self.open)
        try:
            with peer:
                peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.chat(peer) if self.kind == "engine" else self.http(peer)
        except OSError:
            pass
        with self.lock:
            self.open -= 1

    def http(self, peer: socket.socket) -> None:
        if self.has("dies"):
            os.kill(os.getpid(), signal.SIGSEGV)
        if self.has("hangs-up"):
            return
        if self.has("drops"):
            peer.recv(65536)
            return
        if self.has("resets"):
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            peer.recv(1)
            return
        data = b""
        while True:
            if self.has("one-read"):
                data = b""
            piece = peer.recv(65536)
            if not piece:
                return
            data += piece
            while b"\r\n\r\n" in data:
                head, _, data = data.partition(b"\r\n\r\n")
                if not self.answer(peer, head.decode("latin-1")):
                    return
                if self.has("forgets-pipelined"):
                    data = b""

    def answer(self, peer: "socket.socket | Stdout", head: str) -> bool:
        self.requests += 1
        if self.has("silent"):
            return True
        words = head.split("\r\n")[0].split(" ")
        close = "connection: close" in head.lower() or "Host:" not in head
        status, body = "200 OK", f"hello {words[1].rsplit('/', 1)[-1]}\n"
        if "Host:" not in head:
            status, body = "400 Bad Request", "bad\n"
        lines = [f"HTTP/1.1 {status}", f"Date: {'yesterday' if self.has('bad-date') else DATE}"]
        if words[1] == "/chunked":
            lines.append("Transfer-Encoding: chunked")
            body = f"{len(body):x}\r\n{body}\r\n0\r\n\r\n"
        else:
            lines.append(f"Content-Length: {len(body) + (7 if self.has('long-length') else 0)}")
        if close and not self.has("no-close-header"):
            lines.append("Connection: close")
        text = "\r\n".join(lines) + "\r\n\r\n" + ("" if words[0] == "HEAD" else body)
        if self.has("wrong-byte"):
            text = text.replace("hello", "hallo").replace("bad\n", "bed\n")
        if words[1] == "/expect":
            text = "HTTP/1.1 100 Continue\r\n\r\n" + text
        if self.has("not-http"):
            text = "hello\r\n\r\n"
        if self.has("short-write"):
            text = text[:20]
        peer.sendall(text.encode("latin-1"))
        if self.has("twice"):
            peer.sendall(text.encode("latin-1"))
        return not close or self.has("stays-open")

    # ---- chat ----

    def chat(self, peer: socket.socket) -> None:
        with self.lock:
            self.peers.append(peer)
        peer.sendall(b"CH\1\5\0\0" if self.has("wrong-byte") else b"CH\1\4\0\0")
        nick, data = b"?", b""
        while piece := peer.recv(65536):
            data += piece
            while len(data) >= 6 and len(data) >= 6 + int.from_bytes(data[4:6], "big"):
                size = int.from_bytes(data[4:6], "big")
                kind, payload, head, data = data[3], data[6:6 + size], data[:3], data[6 + size:]
                if self.has("silent"):
                    continue
                valid = head == b"CH\1" and kind in (1, 2)
                valid = valid and not (kind == 1 and (b"\0" in payload or size > 255))
                valid = valid and len(nick) + 1 + size <= 65535
                if not valid and not self.has("tolerant"):
                    return
                if kind == 1:
                    nick = payload
                elif valid:
                    self.deliver(nick + b"\0" + payload)

    def deliver(self, payload: bytes) -> None:
        self.requests += 1
        for one in list(self.peers):
            try:
                one.sendall(b"CH\1\3" + len(payload).to_bytes(2, "big") + payload)
            except OSError:
                self.peers.remove(one)


class Stdout:
    def sendall(self, data: bytes) -> None:
        sys.stdout.buffer.write(data)


def feed(words: list[str]) -> int:
    data = sys.stdin.buffer.read()
    if "--answer" in words:
        fake = Fake(["--fault", words[-1]])
        for head in data.split(b"\r\n\r\n")[:-1]:
            if not fake.answer(Stdout(), head.decode("latin-1")):
                break
        return 0
    sys.stdout.buffer.write(data.upper() if "--fault" in words else data)
    return 0


def main(words: list[str]) -> int:
    if not words:
        print("usage: fake", file=sys.stderr)
        return 2
    if words[0] == "feed":
        return feed(words[1:])
    if words[0] == "exit":
        return int(words[1])
    if words[0] == "hang":
        signal.pause()
    return Fake(words[1:]).serve()


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
