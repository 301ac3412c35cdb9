"""The service: search, topics, the token, a folder that is replaced, a full queue, a stop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

import httpx
import numpy as np
import pytest

import kate
from kate.serve import service
from kate.serve.api_errors import ApiError
from kate.serve.encode_queue import EncodeQueue
from kate.serve.limits import Limits
from kate.serve.service import make_app
from serve.conftest import texts
from serve.loopback import PATIENCE, get, post, running


@pytest.fixture(scope="module")
def address(index_folder):
    with running(make_app(index_folder)) as address:
        yield address


def ask(address, path, **fields):
    answer = get(f"{address}{path}", params=fields)
    return answer.status_code, answer.json()


def test_search_gives_the_hits_of_the_index(address, index_folder):
    status, found = ask(address, "/search", q="gold coin", top=3, by="words")
    expected = kate.Index.load(index_folder).search("gold coin", 3, by="words")
    assert status == 200
    assert [hit["id"] for hit in found["hits"]] == [hit.id for hit in expected]
    posted = post(f"{address}/search", json={"q": "gold coin", "top": 3, "by": "words"}).json()
    assert posted == found


def test_pages_and_conditions(address):
    first = ask(address, "/search", q="gold", top=4)[1]["hits"]
    second = ask(address, "/search", q="gold", top=2, offset=2)[1]["hits"]
    assert [hit["id"] for hit in first[2:]] == [hit["id"] for hit in second]
    [only] = ask(address, "/search", q="gold", where="id = '1'")[1]["hits"]
    assert only["id"] == "1"


def test_documents_and_what_is_like_them(address):
    status, document = ask(address, "/documents/3")
    assert (status, document["id"], document["text"]) == (200, "3", texts(40, seed=1)[3])
    like_it = post(f"{address}/similar", json={"id": "3", "top": 5}).json()["hits"]
    assert "3" not in {hit["id"] for hit in like_it}
    assert len(post(f"{address}/similar", json={"text": "gold", "top": 2}).json()["hits"]) == 2


def test_topics_and_labels(address, model):
    status, found = ask(address, "/topics", n=2, top=3)
    assert (status, found["n"]) == (200, 2)
    assert all(len(topic["words"]) == 3 for topic in found["topics"])
    assert ask(address, "/topics/1", n=2)[1]["name"] == model.topics(2)[1].name
    labels = post(f"{address}/label", json={"texts": ["gold coin", "xyzzy"], "n": 2}).json()["labels"]
    assert labels[0]["topic_name"] == model.label(["gold coin"], 2)["topic_name"][0]
    assert labels[1] == {"topic": None, "topic_name": None, "topic_share": None}
    own = {
        "texts": "a treaty of peace, a truce of nations",
        "topics": {"war": "treaty peace", "money": "gold"},
    }
    assert post(f"{address}/label", json=own).json()["labels"][0]["topic_name"] == "war"


@pytest.mark.parametrize(
    ("path", "fields", "status", "message"),
    [
        ("/search", {}, 400, "q is missing"),
        ("/search", {"q": "gold", "top": "0"}, 400, "whole number from 1"),
        ("/search", {"q": "gold", "top": "many"}, 400, "whole number from 1"),
        ("/search", {"q": "gold", "by": "luck"}, 400, "one of both, words, meaning"),
        ("/search", {"q": "gold", "where": "nope = 1"}, 400, "nope"),
        ("/search", {"q": "gold", "tpo": "3"}, 400, "tpo is not known here"),
        ("/documents/nope", {}, 404, "no document with the id 'nope'"),
        ("/topics/99", {"n": 2}, 404, "no topic 99 among the 2 topics"),
        ("/topics", {"n": 999}, 400, "999 topics were asked for"),
        ("/nowhere", {}, 404, "there is no /nowhere here"),
        ("/label", {}, 405, "does not take GET"),
    ],
)
def test_what_cannot_be_answered_gets_a_reason(address, path, fields, status, message):
    found, body = ask(address, path, **fields)
    assert found == status
    assert message in body["error"]["message"]


def test_a_model_alone_has_nothing_to_search_in(model_folder):
    with running(make_app(model_folder)) as address:
        status, body = ask(address, "/search", q="gold")
        assert (status, "serve an index" in body["error"]["message"]) == (404, True)
        assert ask(address, "/health") == (
            200,
            {"status": "ok", "kate": kate.__version__, "model": "speeches"},
        )


def test_without_the_token_only_the_health_is_told(index_folder):
    with running(make_app(index_folder, token="secret")) as address:
        assert ask(address, "/health")[0] == 200
        for path in ("/search?q=gold", "/metrics", "/topics", "/"):
            answer = get(address + path)
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
        for wrong in ("Bearer secre", "secret", "Bearer sécret"):
            headers = {"Authorization": wrong.encode()}
            assert get(f"{address}/topics", headers=headers).status_code == 401
        assert get(f"{address}/topics", headers={"Authorization": "Bearer secret"}).status_code == 200


def test_the_page_and_the_description(address):
    described = get(f"{address}/openapi.json").json()
    assert described["openapi"] == "3.1.0"
    assert set(described["paths"]) >= {"/v1/embeddings", "/search", "/similar", "/topics/{id}", "/label"}
    page = get(f"{address}/")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "/v1/embeddings" in page.text
    assert "http" not in page.text.replace("http-equiv", "")


def test_prometheus_reads_figures(address):
    ask(address, "/search", q="gold")
    ask(address, "/documents/nope")
    text = get(f"{address}/metrics").text
    assert 'kate_requests_total{route="/search",status="200"}' in text
    assert 'kate_requests_total{route="/documents/{id:path}",status="404"}' in text
    assert "kate_request_seconds_bucket" in text


def test_a_replaced_index_is_picked_up_and_no_request_is_dropped(model, index_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(service, "_LOOK_AGAIN", 0.05)
    folder = tmp_path / "archive"
    shutil.copytree(index_folder, folder)
    sizes, stop = [], threading.Event()

    def keep_asking(address):
        with httpx.Client(timeout=PATIENCE) as client:
            while not stop.is_set():
                client.get(f"{address}/search", params={"q": "gold"}).raise_for_status()
                sizes.append(client.get(f"{address}/health").json()["documents"])

    with running(make_app(folder)) as address, concurrent.futures.ThreadPoolExecutor(2) as pool:
        asking = [pool.submit(keep_asking, address) for _ in range(2)]
        for size in (40, 50):
            end = time.monotonic() + PATIENCE
            while size not in sizes and time.monotonic() < end:
                time.sleep(0.05)
            if size == 40:
                kate.Index.build(model, texts(50, seed=2)).save(folder)
        stop.set()
        for one in asking:
            one.result()
    assert set(sizes) == {40, 50}


def test_documents_that_come_and_go_are_picked_up(model, tmp_path, monkeypatch):
    pytest.importorskip("lancedb", reason="LanceDB is not installed: pip install 'kate-text[lance]'")
    monkeypatch.setattr("kate.serve.service._LOOK_AGAIN", 0.1)
    folder = tmp_path / "living"
    kate.Index.build(model, ["gold and silver", "a treaty of peace"]).save(folder, store="lance")
    with running(make_app(folder)) as address:

        def found():
            return [hit["id"] for hit in get(f"{address}/search?q=1815&by=words").json().get("hits", [])]

        def becomes(expected):
            end = time.monotonic() + PATIENCE
            while found() != expected and time.monotonic() < end:
                time.sleep(0.05)
            return found() == expected

        assert found() == []
        kate.Index.load(folder).add(kate.Documents.from_texts(["The peace of 1815"], ids=["new"]))
        assert becomes(["new"])
        kate.Index.load(folder).remove(["new"])
        assert becomes([])


def test_a_replaced_table_answers_though_nobody_has_looked_yet(model, tmp_path, monkeypatch):
    pytest.importorskip("lancedb", reason="LanceDB is not installed: pip install 'kate-text[lance]'")
    monkeypatch.setattr("kate.serve.service._LOOK_AGAIN", 600)
    folder = tmp_path / "living"
    kate.Index.build(model, ["gold and silver", "a treaty of peace"]).save(folder, store="lance")
    with running(make_app(folder)) as address:
        assert get(f"{address}/search?q=gold").status_code == 200
        kate.Index.build(model, ["new gold", "new peace", "silver"]).save(folder, store="lance")
        answer = get(f"{address}/search?q=gold&where=id%20%3D%20%270%27")
        assert answer.status_code == 200
        assert answer.json()["hits"][0]["snippet"] == "new gold"
        shutil.rmtree(folder)
        broken = get(f"{address}/search?q=gold")
        assert broken.status_code == 500
        assert broken.json()["error"]["type"] == "server_error"


def test_what_cannot_be_loaded_leaves_the_old_one(model_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(service, "_LOOK_AGAIN", 0.05)
    folder = tmp_path / "speeches"
    shutil.copytree(model_folder, folder)
    with running(make_app(folder)) as address:
        (folder / "config.json").write_text("{")
        time.sleep(0.3)
        body = {"model": "speeches", "input": "gold"}
        assert post(f"{address}/v1/embeddings", json=body).status_code == 200


def test_requests_that_wait_are_encoded_together(model):
    batches = []

    async def many():
        queue = EncodeQueue(Limits(), on_batch=batches.append)
        waiting = [asyncio.ensure_future(queue.encode([text], model)) for text in texts(20)]
        await asyncio.sleep(0)
        running_queue = asyncio.ensure_future(queue.run())
        found = await asyncio.gather(*waiting)
        running_queue.cancel()
        queue.close()
        return found

    found = asyncio.run(many())
    assert batches == [20]
    np.testing.assert_allclose(
        np.concatenate([one.vectors for one in found]), model.encode(texts(20), normalize=True), atol=1e-6
    )


def test_a_full_queue_turns_requests_away(model):
    async def too_many():
        queue = EncodeQueue(Limits(waiting=2))
        waiting = [asyncio.ensure_future(queue.encode(["gold"], model)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(ApiError, match="2 requests are waiting") as caught:
            queue.require_room()
        for one in waiting:
            one.cancel()
        queue.close()
        return caught.value

    error = asyncio.run(too_many())
    assert (error.status, error.headers) == (429, {"Retry-After": "1"})


def test_a_request_that_takes_too_long_is_answered(model):
    async def never_encoded():
        queue = EncodeQueue(Limits(seconds=0.05))
        with pytest.raises(ApiError, match=r"not answered within 0.05 seconds") as caught:
            await queue.encode(["gold"], model)
        queue.close()
        return caught.value.status, queue.n_waiting

    assert asyncio.run(never_encoded()) == (504, 0)


def test_an_error_in_encoding_reaches_those_who_wait_and_nobody_else():
    class Broken:
        def _count(self, texts):
            raise ValueError("broken")

    async def broken():
        queue = EncodeQueue(Limits())
        running_queue = asyncio.ensure_future(queue.run())
        for _ in range(2):
            with pytest.raises(ValueError, match="broken"):
                await queue.encode(["gold"], Broken())
        assert not running_queue.done()
        running_queue.cancel()
        queue.close()

    asyncio.run(broken())


def start(folder, *options):
    command = [sys.executable, "-m", "kate", "serve", str(folder), "--port", "0", *options]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=os.environ | {"KATE_TOKEN": ""})


def test_sigterm_ends_the_command(model_folder):
    process = start(model_folder)
    try:
        for line in process.stderr:
            if "running on" in line.lower():
                break
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode in (0, -signal.SIGTERM)


def test_another_host_needs_a_token(model_folder):
    process = start(model_folder, "--host", "0.0.0.0")
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "there is no token; give one" in said


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_is_told_rather_than_left_waiting(model):
    code = """
import os, sys, kate
model = kate.load({!r})
model.encode(["gold"])
child = os.fork()
if child == 0:
    try:
        model.encode(["gold"])
    except kate.ForkedProcessError as error:
        os._exit(7 if "spawn" in str(error) else 8)
    os._exit(9)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model")
        done = subprocess.run(
            [sys.executable, "-c", code.format(f"{folder}/model")], timeout=2 * PATIENCE, check=False
        )
    assert done.returncode == 7


PRELOADED = """
import asyncio, os, sys, kate
from kate.serve.service import make_app
app = make_app(sys.argv[1])  # as gunicorn --preload does, before it forks its workers
child = os.fork()
if child == 0:
    async def start():
        async with app.router.lifespan_context(app):
            pass
    try:
        asyncio.run(start())
    except kate.ForkedProcessError as error:
        os._exit(7 if "without --preload" in str(error) else 8)
    os._exit(9)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_worker_of_a_preloading_server_refuses_to_start_and_says_why(model_folder):
    command = [sys.executable, "-c", PRELOADED, str(model_folder)]
    assert subprocess.run(command, timeout=2 * PATIENCE, check=False).returncode == 7
