"""/search, /similar, /documents, /topics and /label: what a model and an index answer, as JSON."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from kate.errors import quoted
from kate.search import Index
from kate.serve.api_errors import ApiError, bad_request
from kate.serve.limits import Limits
from kate.serve.live_folder import Served
from kate.serve.request_fields import RequestFields, texts_of, whole_number
from kate.storage.folders import FolderError
from kate.storage.json_values import as_json

__all__ = ["document", "label", "search", "similar", "topic", "topics"]

_MOST_HITS = 1000
_MOST_WORDS = 30


def search(given: Any, served: Served) -> Callable[[], Any]:
    """Documents that answer a query."""
    index, fields = _index(served), RequestFields(given)
    query = fields.required("q")
    top, offset = fields.whole("top", 10, 1, _MOST_HITS), fields.whole("offset", 0, 0, 1_000_000)
    by = fields.string("by", "both", choices=("both", "words", "meaning"))
    where, sort = fields.string("where"), fields.string("sort")
    fields.finish()

    def answer() -> Any:
        hits = index.search(query, top or 10, by=by, where=where, sort=sort, offset=offset or 0)  # type: ignore[arg-type]
        return {"hits": [as_json(hit.as_dict()) for hit in hits], "suggestions": dict(hits.suggestions)}

    return _answering(answer)


def similar(given: Any, served: Served) -> Callable[[], Any]:
    """Documents like one of the index, or like a text."""
    index, fields = _index(served), RequestFields(given)
    name, text = fields.string("id"), fields.string("text")
    top, offset = fields.whole("top", 10, 1, _MOST_HITS), fields.whole("offset", 0, 0, 1_000_000)
    where = fields.string("where")
    fields.finish()
    if (name is None) == (text is None):
        raise bad_request("give either id, of a document of the index, or text")

    def answer() -> Any:
        page: dict[str, Any] = {"top": top or 10, "where": where, "offset": offset or 0}
        hits = (
            index.similar_documents(name, **page)
            if name is not None
            else index.similar_to_text(str(text), **page)
        )
        return {"hits": [as_json(hit.as_dict()) for hit in hits]}

    return _answering(answer)


def document(name: str, served: Served) -> Callable[[], Any]:
    """A document of the index, whole."""
    index = _index(served)

    def answer() -> Any:
        row = index.store.row_of(name)
        if row is None:
            raise ApiError(404, f"there is no document with the id {quoted(name)}", param="id")
        [found] = index.store.documents(np.array([row])).to_dicts()
        return as_json(found)

    return _answering(answer)


def topics(given: Any, served: Served) -> Callable[[], Any]:
    """All topics of a cut."""
    fields = RequestFields(given)
    n, top = fields.whole("n", None, 1, 100_000), fields.whole("top", 10, 1, _MOST_WORDS)
    fields.finish()

    def answer() -> Any:
        found = served.model.topics(n)
        return {
            "n": len(found),
            "reason": found.reason,
            "topics": [_topic(one, top or 10) for one in found.sorted_by("share")],
        }

    return _answering(answer)


def topic(written: str, given: Any, served: Served) -> Callable[[], Any]:
    """One topic of a cut."""
    number = whole_number(written)
    fields = RequestFields(given)
    n, top = fields.whole("n", None, 1, 100_000), fields.whole("top", _MOST_WORDS, 1, _MOST_WORDS)
    fields.finish()

    def answer() -> Any:
        found = served.model.topics(n)
        if not isinstance(number, int) or number not in found:
            raise ApiError(
                404, f"there is no topic {quoted(number)} among the {len(found)} topics", param="id"
            )
        return _topic(found[number], top or _MOST_WORDS)

    return _answering(answer)


def label(given: Any, served: Served, limits: Limits) -> Callable[[], Any]:
    """The topic of each of some texts."""
    fields = RequestFields(given)
    texts = texts_of(fields.take("texts"), limits, "texts")
    n, own = fields.whole("n", None, 1, 100_000), fields.take("topics")
    fields.finish()
    if own is not None and not (
        isinstance(own, dict) and all(isinstance(words, str) for words in own.values())
    ):
        raise bad_request('topics are words by name, as in {"health": "doctor hospital"}', "topics")

    def answer() -> Any:
        labelled = served.model.label(texts, n, topics=own)
        columns = [name for name in ("topic", "topic_name", "topic_share") if name in labelled.columns]
        return {"labels": labelled.select(columns).to_dicts()}

    return _answering(answer)


def _topic(found: Any, top: int) -> dict[str, Any]:
    row: dict[str, Any] = found.as_dict()
    return row | {"words": row["words"][:top], "weights": row["weights"][:top]}


def _index(served: Served) -> Index:
    if served.index is None:
        raise ApiError(
            404, f"{served.name} is a model without documents; serve an index (kate index) to search in it"
        )
    return served.index


def _answering(answer: Callable[[], Any]) -> Callable[[], Any]:
    """What the library refuses is the client's mistake: 400, with its sentence."""

    def run() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return answer()
            except FolderError:  # it was replaced, or is damaged: not the client's mistake
                raise
            except ValueError as error:
                raise bad_request(str(error)) from error

    return run
