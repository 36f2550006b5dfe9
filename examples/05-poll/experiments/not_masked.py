#!/usr/bin/python3
"""Does a poll() that asks for nothing hear of a reset? Chapter 5 asks, in its section on errors."""

import select
import socket
import struct

CALLS = 100_000
NAMES = {getattr(select, name): name for name in ("POLLIN", "POLLOUT", "POLLERR", "POLLHUP")}


def reset_connection() -> socket.socket:
    """The end of a connection whose peer has reset it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        peer = socket.create_connection(listener.getsockname())
        ours = listener.accept()[0]
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # close() sends a reset
    peer.close()
    return ours


def main() -> None:
    ours = reset_connection()
    asked_nothing = select.poll()
    asked_nothing.register(ours, 0)
    reported = {events for _ in range(CALLS) for _, events in asked_nothing.poll(1000)}
    names = " or ".join("|".join(name for bit, name in NAMES.items() if events & bit) for events in reported)
    print(f"events=0, peer has reset: {CALLS} calls, none of them slept; each reported {names}")

    asked_nothing.unregister(ours)
    print(f"its entry taken out: {len(asked_nothing.poll(10))} reported, after 10 ms")


if __name__ == "__main__":
    main()
