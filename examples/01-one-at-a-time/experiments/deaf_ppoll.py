#!/usr/bin/python3
"""Does ppoll() let a pending signal in when a descriptor is ready? Chapter 1 asks, under "Errors"."""

import ctypes
import os
import signal

CALLS = 100_000
POLLIN = 1


class Pollfd(ctypes.Structure):
    _fields_ = [("fd", ctypes.c_int), ("events", ctypes.c_short), ("revents", ctypes.c_short)]


def main() -> None:
    handled = []
    signal.signal(signal.SIGTERM, lambda *_: handled.append(1))
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    readable, writable = os.pipe()
    os.write(writable, b"x")
    os.kill(os.getpid(), signal.SIGTERM)  # pending from here on

    ppoll = ctypes.CDLL(None, use_errno=True).ppoll
    one = ctypes.byref(Pollfd(readable, POLLIN, 0))
    no_signal_blocked = ctypes.create_string_buffer(128)
    ready = sum(ppoll(one, 1, None, no_signal_blocked) == 1 for _ in range(CALLS))
    print(f"pipe readable, SIGTERM pending: {ready} calls said that it is ready; handled: {len(handled)}")

    os.read(readable, 1)
    ppoll(one, 1, None, no_signal_blocked)
    print(f"pipe empty, one more call: {os.strerror(ctypes.get_errno())}; handled: {len(handled)}")


if __name__ == "__main__":
    main()
