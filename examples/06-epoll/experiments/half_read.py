#!/usr/bin/python3
"""Reads one byte of four. Does epoll mention the other three? Level-triggered, then edge-triggered."""

import select
import socket


def ask(epoll: select.epoll) -> str:
    return "ready" if epoll.poll(0.1) else "nothing, for 100 ms"


def try_mode(name: str, mode: int) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs, select.epoll() as epoll:
        epoll.register(ours, select.EPOLLIN | mode)
        theirs.send(b"four")
        print(f"{name}: 4 bytes come          -> {ask(epoll)}")
        ours.recv(1)
        print(f"{name}: 1 is read, 3 are left -> {ask(epoll)}")
        theirs.send(b"!")
        print(f"{name}: 1 more comes          -> {ask(epoll)}, {len(ours.recv(100))} bytes are there")


try_mode("level", 0)
try_mode("edge ", select.EPOLLET)
