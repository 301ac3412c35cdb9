"""The listening socket: opened so that a second service may share the port, and closed without losing a connection.

The kernel takes connections in before the service sees them, and closing the socket breaks off those that wait there.
So nobody new is let in first, then everybody who waits is, and then the socket is closed.
"""

from __future__ import annotations

import contextlib
import ctypes
import select
import socket
import struct
import sys
from collections.abc import Iterable, Iterator

__all__ = ["anyone_waits", "open_shared", "stop_handshakes"]

_SO_ATTACH_FILTER = 26  # of Linux; Python's socket module does not name it
# A filter as BPF has it (code, jump if true, jump if false, k), over the bytes of TCP's head: what asks for a new
# connection (SYN, bit 2 of byte 13) is dropped, everything else goes on. A handshake that has begun comes to its end.
_NO_NEW_ONES = (
    (0x30, 0, 0, 13),  # load byte 13
    (0x45, 0, 1, 0x02),  # is SYN set?
    (0x06, 0, 0, 0),  # then drop it
    (0x06, 0, 0, 0xFFFFFFFF),  # else keep it
)


def open_shared(host: str, port: int) -> list[socket.socket]:
    """Sockets at an address, one for each kind that it has, at which others with the same wish may listen, too."""
    if not hasattr(socket, "SO_REUSEPORT"):
        raise ValueError("--share-port: this system cannot let two services listen at one port")
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    sockets = []
    for family, kind, protocol, _, address in dict.fromkeys(found):
        sock = socket.socket(family, kind, protocol)
        sockets.append(sock)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            sock.bind(address)
        except OSError as error:
            for opened in sockets:
                opened.close()
            raise ValueError(
                f"cannot listen at {host}, port {port} ({error.strerror}); a service that is there must have been "
                "started with --share-port, too, by the same user"
            ) from None
    return sockets


def stop_handshakes(descriptors: Iterable[int]) -> bool:
    """Let nobody new in at listening sockets that stay open; whether this system can do that.

    Who asks now is not refused: the client's kernel asks again after a second, and then finds the port closed, or
    the service that has come after this one.
    """
    if not sys.platform.startswith("linux"):
        return False
    code = b"".join(struct.pack("HBBI", *line) for line in _NO_NEW_ONES)
    buffer = ctypes.create_string_buffer(code)
    program = struct.pack("HP", len(_NO_NEW_ONES), ctypes.addressof(buffer))
    try:
        for sock in _sockets(descriptors):
            sock.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
    except OSError:
        return False  # a kernel, or a sandbox, without filters
    return True


def anyone_waits(descriptors: Iterable[int]) -> bool:
    """Whether the kernel holds a connection that the service has not taken yet."""
    return bool(select.select(list(descriptors), [], [], 0)[0])


def _sockets(descriptors: Iterable[int]) -> Iterator[socket.socket]:
    """The sockets of descriptors that somebody else owns, and closes."""
    for descriptor in descriptors:
        with contextlib.closing(socket.socket(fileno=socket.dup(descriptor))) as sock:
            yield sock
