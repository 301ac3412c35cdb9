"""A service ends without breaking off anybody, and another one may take its place."""

import os
import signal
import socket
import subprocess
import sys

import pytest

from kate.serve.listening import anyone_waits, open_shared, stop_handshakes
from serve.loopback import PATIENCE

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a filter of Linux")
REQUEST = b"GET /health HTTP/1.1\r\nHost: kate\r\nConnection: close\r\n\r\n"


def start(folder, port, *options):
    command = [sys.executable, "-m", "kate", "serve", str(folder), "--port", str(port), *options]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=os.environ | {"KATE_TOKEN": ""}
    )
    said = []
    for line in process.stderr:
        said.append(line)
        if "running on" in line:
            return process, int(line.split("127.0.0.1:")[1].split()[0])
    process.wait(PATIENCE)
    raise RuntimeError("".join(said))


def asking(port):
    client = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    client.sendall(REQUEST)
    return client


def answer_of(client):
    with client:
        return b"".join(iter(lambda: client.recv(4096), b""))


def test_whoever_waits_is_let_in_and_nobody_else():
    with socket.create_server(("127.0.0.1", 0)) as door:
        assert not anyone_waits([door.fileno()])
        with socket.create_connection(door.getsockname()) as waits, socket.socket() as late:
            assert stop_handshakes([door.fileno()])
            late.settimeout(0.1)
            with pytest.raises(TimeoutError):
                late.connect(door.getsockname())
            assert anyone_waits([door.fileno()])
            inside, _ = door.accept()
            with inside:
                waits.sendall(b"still here")
                assert inside.recv(10) == b"still here"
            assert not anyone_waits([door.fileno()])


def test_those_who_wait_when_a_service_is_stopped_are_answered(model_folder):
    process, port = start(model_folder, 0)
    try:
        process.send_signal(signal.SIGSTOP)  # the kernel takes connections in, the service sees none of them
        clients = [asking(port) for _ in range(20)]
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGCONT)
        assert [answer_of(client).split()[1] for client in clients] == [b"200"] * 20
        process.communicate(timeout=PATIENCE)
    finally:
        process.kill()


def test_a_service_takes_the_place_of_another(model_folder):
    [held] = open_shared("127.0.0.1", 0)  # a port that stays ours, and is not listened at
    with held:
        old, port = start(model_folder, held.getsockname()[1], "--share-port")
        new, same = start(model_folder, port, "--share-port")
        try:
            assert same == port
            old.send_signal(signal.SIGTERM)
            old.communicate(timeout=PATIENCE)
            assert answer_of(asking(port)).split()[1] == b"200"
        finally:
            old.kill()
            new.kill()


def test_a_port_that_is_not_shared_is_refused():
    with (
        socket.create_server(("127.0.0.1", 0)) as door,
        pytest.raises(ValueError, match="must have been started with --share-port"),
    ):
        open_shared(*door.getsockname())
