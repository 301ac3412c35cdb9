"""What the page of an index is given by the service: manifest, parts, documents; and to whom."""

from __future__ import annotations

import gzip
import json
import time

import numpy as np
import pytest

import kate
from kate.explore.explored_index import ExploredIndex
from kate.serve.service import make_app
from kate.text.documents import Documents
from serve.conftest import texts
from serve.loopback import PATIENCE, get, post, running

ON_MAP = 10  # of 40 documents


def manifest_of(address, **options):
    until = time.monotonic() + PATIENCE
    while (answer := get(f"{address}/explore/manifest.json", **options)).status_code == 202:
        assert answer.json()["making"].startswith("The page is being made: ")
        assert answer.headers["Retry-After"] == "1"
        assert time.monotonic() < until
        time.sleep(0.05)
    return answer


@pytest.fixture(scope="module")
def address(index_folder):
    with running(make_app(index_folder, on_map=ON_MAP)) as address:
        yield address


@pytest.fixture(scope="module")
def manifest(address):
    return manifest_of(address).json()


def test_the_page_holds_nothing_of_the_index_and_may_ask_this_service_alone(address):
    answer = get(f"{address}/explore/")
    assert answer.status_code == 200
    assert "connect-src 'self'" in answer.headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert "kate-manifest" not in answer.text.split("<script>")[0]
    assert get(f"{address}/explore", follow_redirects=True).text == answer.text


def test_topics_are_counted_in_all_documents(address, manifest, index_folder):
    assert (manifest["n_documents"], manifest["sample"], manifest["texts"]) == (
        ON_MAP,
        {"total": 40},
        "service",
    )
    name, edition = "topics", manifest["served"]["edition"]
    answer = get(f"{address}/explore/parts/{name}?edition={edition}")
    assert "Content-Encoding" not in answer.headers
    found = json.loads(gzip.decompress(answer.content))
    index = kate.Index.load(index_folder)
    vectors = index.store.vectors_of(np.arange(40))
    for cut in found["cuts"]:
        topics = index.model.topics(cut["n"])
        assigned = topics.cut.topics[topics.cut.nearest(vectors)]
        assert {topic["number"]: topic["size_of_all"] for topic in cut["topics"]} == {
            number: int((assigned == number).sum()) for number in topics.numbers
        }
        assert sum(topic["size"] for topic in cut["topics"]) == ON_MAP


def test_every_part_is_given_and_none_of_another_page(address, manifest):
    edition = manifest["served"]["edition"]
    for part in manifest["parts"]:
        answer = get(f"{address}/explore/parts/{part['name']}?edition={edition}")
        assert (answer.status_code, len(answer.content)) == (200, part["bytes"])
    assert not any(part["name"].startswith("text") for part in manifest["parts"])
    old = get(f"{address}/explore/parts/topics?edition=0")
    assert (old.status_code, "load the page again" in old.text) == (410, True)
    assert get(f"{address}/explore/parts/nothing?edition={edition}").status_code == 404


def test_documents_that_a_search_found_are_described(address, manifest, index_folder):
    index = kate.Index.load(index_folder)
    page = ExploredIndex.of(index, "archive", ON_MAP, lambda what, share: None)
    ids = [str(row) for row in range(40)]
    answer = post(f"{address}/explore/documents", json={"ids": [*ids, "nowhere", "0"]}).json()["documents"]
    assert [one["id"] for one in answer] == ids
    in_page = [one for one in answer if one["row"] is not None]
    assert sorted(one["row"] for one in in_page) == list(range(ON_MAP))
    for one in answer:
        if one["row"] is not None:
            assert page.sample.documents.ids[one["row"]] == one["id"]
            continue
        vector = index.store.vectors_of(np.array([int(one["id"])]))
        topics = [index.model.topics(n).cut for n in manifest["cuts"]]
        assert one["topics"] == [int(cut.topics[cut.nearest(vector)][0]) for cut in topics]
        assert all(0 <= place <= 65_535 for place in one["place"])
        assert one["columns"]["title"] == f"number {one['id']}"
        assert one["day"] is None
        # in the middle of the five nearest of the page, of which several may be equally near
        cosines = page.sample.vectors @ vector[0]
        near = page.places[cosines >= np.sort(cosines)[-5] - 1e-6]
        assert (near.min(axis=0) <= one["place"]).all()
        assert (near.max(axis=0) >= one["place"]).all()


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({}, "ids"),
        ({"ids": "1"}, "list of strings"),
        ({"ids": [1]}, "list of strings"),
        ({"ids": ["1"] * 1001}, "1,001 ids are more than 1,000"),
        ({"ids": [], "top": 3}, "top"),
    ],
)
def test_bad_requests_are_refused(address, body, told):
    answer = post(f"{address}/explore/documents", json=body)
    assert (answer.status_code, told in answer.text) == (400, True)


def test_a_token_guards_all_that_is_of_the_index(index_folder):
    with running(make_app(index_folder, token="secret", on_map=ON_MAP)) as address:
        assert get(f"{address}/explore/").status_code == 200
        for path in ("manifest.json", "parts/topics"):
            assert get(f"{address}/explore/{path}").status_code == 401
        assert post(f"{address}/explore/documents", json={"ids": ["0"]}).status_code == 401
        assert manifest_of(address, headers={"Authorization": "Bearer secret"}).status_code == 200


def test_a_model_has_nothing_to_explore(model_folder):
    with running(make_app(model_folder)) as address:
        answer = manifest_of(address)
        assert (answer.status_code, "serve an index" in answer.text) == (404, True)


def test_an_index_that_takes_over_gets_a_page_of_its_own(model, tmp_path):
    folder = tmp_path / "archive"
    kate.Index.build(model, Documents.from_texts(texts(30))).save(folder)
    app = make_app(folder)
    with running(app) as address:
        first = manifest_of(address).json()
        kate.Index.build(model, Documents.from_texts(texts(20, seed=3))).save(folder)
        until = time.monotonic() + PATIENCE
        while (second := manifest_of(address).json())["n_documents"] == 30:
            assert time.monotonic() < until
            time.sleep(0.1)
        assert second["n_documents"] == 20
        edition = first["served"]["edition"]
        assert get(f"{address}/explore/parts/topics?edition={edition}").status_code == 410


@pytest.mark.filterwarnings("ignore:2 of 2 documents have no word")
def test_an_index_of_unknown_words_says_so(model, tmp_path):
    folder = tmp_path / "archive"
    kate.Index.build(model, Documents.from_texts(["Χαίρετε", "κόσμε"])).save(folder)
    with running(make_app(folder)) as address:
        answer = manifest_of(address)
        assert answer.status_code == 500
        assert "has a word that the model knows" in answer.json()["error"]["message"]
