"""/v1/embeddings and /v1/models as OpenAI's API has them: its clients work unchanged.

Vectors have length 1, as OpenAI's have; a text without a known word is the zero vector.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from kate.errors import quoted
from kate.serve.api_errors import ApiError, bad_request
from kate.serve.encode_queue import EncodeQueue
from kate.serve.limits import Limits
from kate.serve.live_folder import Served
from kate.serve.request_fields import RequestFields, texts_of
from kate.unit_rows import unit_rows

__all__ = ["answer_embeddings", "described_model", "list_models"]


async def answer_embeddings(given: Any, served: Served, queue: EncodeQueue, limits: Limits) -> dict[str, Any]:
    """The answer to a POST of /v1/embeddings."""
    fields = RequestFields(given)
    _require_model(fields.string("model"), served)
    form = fields.string("encoding_format", "float", choices=("float", "base64"))
    n_components = served.model.encoder_.n_components
    dimensions = fields.whole("dimensions", n_components, 1, n_components)
    texts = texts_of(fields.take("input"), limits, "input")
    fields.take("user")
    fields.finish()
    if dimensions != n_components and served.model.encoder_.output != "projection":
        raise bad_request(
            "the components of this model have no order: it has no shorter vectors", "dimensions"
        )
    queue.require_room()
    encoded = await queue.encode(texts, served.model)
    vectors = encoded.vectors
    if dimensions != n_components:
        vectors = unit_rows(np.ascontiguousarray(vectors[:, :dimensions]))
    return {
        "object": "list",
        "data": [
            {"object": "embedding", "index": number, "embedding": _in_form(vector, form)}
            for number, vector in enumerate(vectors)
        ],
        "model": served.name,
        "usage": {"prompt_tokens": encoded.n_words, "total_tokens": encoded.n_words},
    }


def list_models(served: Served) -> dict[str, Any]:
    return {"object": "list", "data": [described_model(served, served.name)]}


def described_model(served: Served, name: str) -> dict[str, Any]:
    _require_model(name, served)
    return {"id": served.name, "object": "model", "created": served.loaded, "owned_by": "kate"}


def _require_model(name: str | None, served: Served) -> None:
    """Another model's vectors are not sent under its name."""
    if name is None:
        raise bad_request(f"model is missing; this service has {quoted(served.name)}", "model")
    if name != served.name:
        raise ApiError(
            404,
            f"there is no model {quoted(name)} here; this service has {quoted(served.name)}",
            param="model",
            code="model_not_found",
        )


def _in_form(vector: np.ndarray[Any, Any], form: str | None) -> str | list[float]:
    if form == "base64":
        return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")
    return [float(f"{number:.7g}") for number in vector.tolist()]
