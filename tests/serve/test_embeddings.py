"""/v1/embeddings with the real client of OpenAI's API."""

import base64
import json

import numpy as np
import openai
import pytest

from kate.serve.limits import Limits
from kate.serve.service import make_app
from serve.loopback import post, running


@pytest.fixture(scope="module")
def address(model_folder):
    with running(
        make_app(model_folder, limits=Limits(body_bytes=100_000, texts=5, characters=1_000))
    ) as address:
        yield address


@pytest.fixture(scope="module")
def client(address):
    with openai.OpenAI(base_url=f"{address}/v1", api_key="none", max_retries=0) as client:
        yield client


def test_vectors_are_those_of_the_model(client, model):
    texts = ["gold and silver", "a treaty of peace"]
    answer = client.embeddings.create(model="speeches", input=texts)
    expected = model.encode(texts, normalize=True)
    np.testing.assert_allclose([row.embedding for row in answer.data], expected, atol=1e-6)
    assert [row.index for row in answer.data] == [0, 1]
    assert (answer.model, answer.object) == ("speeches", "list")
    assert answer.usage.prompt_tokens == answer.usage.total_tokens == 4


@pytest.mark.parametrize("form", ["float", "base64"])
def test_one_text_in_either_form(address, model, form):
    body = {"model": "speeches", "input": "gold", "encoding_format": form}
    [row] = post(f"{address}/v1/embeddings", json=body).json()["data"]
    vector = row["embedding"]
    if form == "base64":
        vector = np.frombuffer(base64.b64decode(vector), dtype="<f4")
    np.testing.assert_allclose(vector, model.encode("gold", normalize=True), atol=1e-6)


def test_shorter_vectors_are_the_first_numbers(client, model):
    [row] = client.embeddings.create(model="speeches", input="gold", dimensions=3).data
    np.testing.assert_allclose(row.embedding, model.encode("gold", truncate_dim=3, normalize=True), atol=1e-6)


def test_a_text_without_known_words_is_zeros(client):
    answer = client.embeddings.create(model="speeches", input=["xyzzy", ""])
    assert [set(row.embedding) for row in answer.data] == [{0.0}, {0.0}]
    assert answer.usage.total_tokens == 0


def test_models_are_listed(client):
    assert [model.id for model in client.models.list()] == ["speeches"]
    assert client.models.retrieve("speeches").owned_by == "kate"
    with pytest.raises(openai.NotFoundError, match="no model 'other' here; this service has 'speeches'"):
        client.models.retrieve("other")


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"model": "other", "input": "gold"}, openai.NotFoundError, "no model 'other' here"),
        ({"input": []}, openai.BadRequestError, "expected a text or a list of texts"),
        ({"input": [1, 2]}, openai.BadRequestError, "expected texts, not tokens"),
        ({"input": ["gold", 3]}, openai.BadRequestError, "expected texts, not tokens"),
        ({"input": ["gold"] * 6}, openai.BadRequestError, "6 texts; at most 5 per request"),
        ({"input": "x" * 1_001}, openai.BadRequestError, "1,001 characters; at most 1,000"),
        ({"input": "gold", "dimensions": 9}, openai.BadRequestError, "whole number from 1 to 8"),
        ({"input": "gold", "dimensions": 0}, openai.BadRequestError, "whole number from 1 to 8"),
        ({"input": "gold", "encoding_format": "int8"}, openai.BadRequestError, "one of float, base64"),
        ({"input": "gold", "extra_body": {"inptu": 1}}, openai.BadRequestError, "inptu is not known here"),
    ],
)
def test_errors_are_those_that_the_client_knows(client, asked, error, message):
    with pytest.raises(error, match=message) as caught:
        client.embeddings.create(**({"model": "speeches"} | asked))
    assert set(caught.value.body) == {"message", "type", "param", "code"}


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{", 400, "not valid JSON"),
        (b"[]", 400, "not a JSON object"),
        (b'{"model": "speeches"}', 400, "input is missing"),
        (b'{"input": "gold"}', 400, "model is missing"),
        (b"[" * 50_000, 400, "not valid JSON"),
        (json.dumps({"input": "x" * 200_000}).encode(), 413, "longer than 100,000 bytes"),
        (b"\xff\xfe", 400, "not valid JSON"),
    ],
)
def test_bodies_that_are_no_request_are_refused(address, body, status, message):
    answer = post(f"{address}/v1/embeddings", content=body)
    assert answer.status_code == status
    assert message in answer.json()["error"]["message"]
