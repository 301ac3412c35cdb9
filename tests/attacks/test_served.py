"""kate serve under attack, over loopback: broken HTTP, odd JSON, huge bodies, slow clients, wrong tokens, odd paths."""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

pytest.importorskip("starlette", reason="kate serve needs Starlette: pip install 'kate-text[serve]'")
pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")

from attacks.attack_budget import cases, seed  # noqa: E402
from attacks.file_damage import damaged_json  # noqa: E402
from attacks.odd_inputs import odd_text  # noqa: E402
from kate.serve import service as serve_service  # noqa: E402
from kate.serve.limits import Limits  # noqa: E402
from serve.loopback import PATIENCE, running  # noqa: E402

os.environ["NO_PROXY"] = "127.0.0.1"
TOKEN = "a-token-of-the-test"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def address(whole_folders: Callable[[str], Path]) -> Iterator[str]:
    limits = Limits(body_bytes=100_000, texts=20, characters=5_000, seconds=PATIENCE)
    app = serve_service.make_app(whole_folders("index"), token=TOKEN, limits=limits, name="served")
    with running(app) as found:
        yield found


def answered(address: str, data: bytes, seconds: float = 3) -> bytes:
    """What comes back on a bare connection, until the service closes it or says nothing more."""
    place = urlsplit(address)
    found = b""
    with socket.create_connection((place.hostname, place.port), timeout=seconds) as connection:
        connection.sendall(data)
        with contextlib.suppress(TimeoutError):
            while part := connection.recv(65_536):
                found += part
    return found


def healthy(address: str) -> bool:
    return bool(httpx.get(f"{address}/health", timeout=PATIENCE).json()["status"] == "ok")


@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * 100,
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # a TLS hello
        b"POST /search HTTP/1.1\r\nHost: a\r\nContent-Length: -5\r\n\r\n",
        b"POST /search HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}",
        b"POST /search HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /search HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
        b"GET /health HTTP/1.1\r\nHost: a\r\nBad Header\r\n\r\n",
    ],
    ids=range(11),
)
def test_broken_requests_are_refused_and_others_answered(address: str, data: bytes) -> None:
    try:
        found = answered(address, data)
    except ConnectionError:
        found = b""
    assert not found.startswith(b"HTTP/1.1 5")
    assert healthy(address)


def test_odd_json_gets_an_error_of_the_client_and_never_one_of_the_server(address: str) -> None:
    """Mutations of good requests: status 200 or 4xx, always JSON."""
    bodies = {
        "/v1/embeddings": {
            "model": "served",
            "input": ["gold", "peace"],
            "encoding_format": "float",
            "dimensions": 4,
        },
        "/search": {
            "q": "gold",
            "top": 3,
            "offset": 0,
            "by": "both",
            "where": "year > 1950",
            "sort": "-year",
        },
        "/similar": {"id": "7", "top": 3, "where": "year > 1950"},
        "/label": {"texts": ["gold"], "n": 3},
    }
    kinds = (
        "value",
        "missing",
        "renamed",
        "added",
        "exchanged",
        "whole",
        "nested text",
        "number text",
        "twice",
    )
    with httpx.Client(base_url=address, headers=BEARER, timeout=PATIENCE) as client:
        for number in range(cases(120, 0.02)):
            random = np.random.default_rng([seed(), number])
            route = list(bodies)[number % len(bodies)]
            value, what = damaged_json(
                json.dumps(bodies[route]).encode(), kinds[random.integers(len(kinds))], random
            )
            if random.integers(4) == 0:
                value = bodies[route] | {str(random.choice(list(bodies[route]))): odd_text(random)[:3000]}
            body = value if isinstance(value, str) else json.dumps(value)
            found = client.post(route, content=body.encode("utf-8", "surrogatepass"))
            assert found.status_code in (200, 400, 404, 413), (
                f"{number}: {route} {what}: {found.status_code} {body[:200]}"
            )
            assert isinstance(found.json(), dict)
    assert healthy(address)


def test_numbers_of_thousands_of_digits_are_refused(address: str) -> None:
    """Python reads none of more than 4,300."""
    long = "9" * 5_000
    with httpx.Client(base_url=address, headers=BEARER, timeout=PATIENCE) as client:
        for route in (f"/search?q=gold&top={long}", f"/search?q=gold&offset=-{long}", f"/topics?n={long}"):
            assert client.get(route).status_code == 400, route
        for route in (f"/topics/{long}", "/topics/-1", "/topics/x", f"/topics/{long}?n=2"):
            assert client.get(route).status_code == 404, route


def test_half_a_character_spoils_no_answer_of_others(address: str) -> None:
    """Texts of several requests are encoded together."""
    good = {"model": "served", "input": ["gold coin"]}

    def post(body: dict[str, object]) -> int:
        sent = json.dumps(body).encode()
        return httpx.post(
            f"{address}/v1/embeddings", content=sent, headers=BEARER, timeout=PATIENCE
        ).status_code

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(post, [good, good | {"input": ["gold", "\ud800"]}] * 8))
    assert found == [200, 400] * 8
    assert (
        httpx.post(
            f"{address}/label", content=json.dumps({"texts": ["\ud800"]}), headers=BEARER, timeout=PATIENCE
        ).status_code
        == 400
    )


def test_a_huge_body_is_refused_before_it_is_read(address: str) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(10_000):
            yield b"x" * 65_536

    try:
        found = httpx.post(f"{address}/search", content=endless(), headers=BEARER, timeout=PATIENCE)
        assert found.status_code == 413
    except httpx.TransportError:  # the service hangs up on those who go on sending
        pass
    assert healthy(address)


def test_slow_clients_keep_nobody_out(address: str) -> None:
    """A hundred that send a byte now and then."""
    place = urlsplit(address)
    slow = [socket.create_connection((place.hostname, place.port), timeout=PATIENCE) for _ in range(100)]
    try:
        for connection in slow:
            connection.sendall(b"POST /search HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n" + b"X-A: b")
        start = time.monotonic()
        assert healthy(address)
        assert (
            httpx.post(f"{address}/search", json={"q": "gold"}, headers=BEARER, timeout=PATIENCE).status_code
            == 200
        )
        assert time.monotonic() - start < PATIENCE / 2
    finally:
        for connection in slow:
            connection.close()


@pytest.mark.parametrize(
    "given",
    [
        "",
        "Bearer",
        f"Bearer {TOKEN[:-1]}",
        f"bearer {TOKEN}x",
        f"Basic {TOKEN}",
        "Bearer é",
    ],
)
def test_a_wrong_token_is_refused_everywhere_but_for_health(address: str, given: str) -> None:
    routes = [
        "/v1/models",
        "/search?q=gold",
        "/documents/7",
        "/topics",
        "/topics/0",
        "/metrics",
        "/openapi.json",
        "/",
    ]
    for route in routes:
        found = httpx.get(
            f"{address}{route}", headers={"Authorization": given.encode("latin-1")}, timeout=PATIENCE
        )
        assert found.status_code == 401, route
    assert healthy(address)


def test_tokens_are_compared_in_constant_time(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    compare = hmac.compare_digest
    monkeypatch.setattr(
        hmac, "compare_digest", lambda one, other: compared.append((one, other)) or compare(one, other)
    )
    httpx.get(f"{address}/topics", headers={"Authorization": "Bearer x"}, timeout=PATIENCE)
    assert compared == [(b"Bearer x", f"Bearer {TOKEN}".encode())]


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/index.json", "/etc/passwd", "%00",
        "a%0d%0aSet-Cookie:%20x=1",
        "' or 1=1 --", "%F0%9F%98%80", "%ff%fe", "a" * 20_000, "7/../8", "%1b%5b2J",
    ],
    ids=range(12),
)  # fmt: skip
def test_tricks_in_paths_find_no_file_and_inject_no_header(address: str, name: str) -> None:
    for route in ("documents", "v1/models", "topics"):
        data = f"GET /{route}/{name.replace(' ', '%20')} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {TOKEN}\r\n"
        found = answered(address, data.encode() + b"Connection: close\r\n\r\n", PATIENCE)
        head, _, body = found.partition(b"\r\n\r\n")
        assert head.split(b" ", 2)[1] in (b"404", b"400"), found[:300]
        assert b"Set-Cookie" not in head
        assert b"root:" not in body and b"kate-index" not in body
    assert healthy(address)
