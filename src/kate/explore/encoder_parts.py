"""The parts of a page with which it reads, encodes and ranks a query as Python does: words, forms, map, postings.

The vectors of the documents are not among them: the page makes them of the map and of the words of the documents, which
it needs anyway. So they are as exact as the map is, and a page of many documents is not larger for them.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from kate.explore.small_map import MAP_BITS, SmallMap
from kate.explore.word_lists import list_sections, varints
from kate.explore.word_table import WordTable, entities_of, reading_notes, token_settings
from kate.model.text_model import TextModel
from kate.search.building import words_of
from kate.text.documents import Documents

__all__ = ["EncoderParts", "encoder_parts"]

Floats = NDArray[np.float32]


class EncoderParts(NamedTuple):
    """Parts by name, not compressed, and what the user should know of them."""

    parts: dict[str, bytes]
    notes: list[str]


def encoder_parts(model: TextModel, documents: Documents, counts: Any = None) -> EncoderParts:
    """All that the page needs to think about words.

    counts : (n_docs, n_words) of the model's words in the documents; counted here if they are not at hand

    >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
    >>> model = TextModel(n_components=2, random_state=0, max_epochs=5).fit(texts)
    >>> sorted(encoder_parts(model, Documents.from_texts(texts)).parts)
    ['forms', 'postings', 'word_map', 'words']
    """
    vocabulary, n_jobs = model.vocabulary_, model.n_jobs
    if counts is None:
        counts = vocabulary.count(documents.texts, n_jobs)
    words = words_of(model, documents, n_jobs)
    table = WordTable.of(vocabulary, words)
    held = table.counts(words)
    lengths = np.diff(words.sequences.starts)
    map_sections, settings = _map_sections(model)
    list_parts = {
        "lengths": varints(lengths),
        **list_sections(held),
        **list_sections(_differences(counts, held), prefix="changed_"),
    }
    tokenizer = vocabulary.tokenizer
    with_entities = tokenizer.cleaning.strip_html
    facts = {
        "n_documents": len(documents),
        "n_components": model.encoder_.n_components,
        "n_columns": table.n_columns,
        "n_words": len(table),
        "tokens": token_settings(tokenizer),
        "entities": entities_of([documents.texts, _titles(documents)]) if with_entities else {},
        "encoder": settings,
        "sections": {
            "word_map": {name: len(data) for name, data in map_sections.items()},
            "postings": {name: len(data) for name, data in list_parts.items()},
        },
    }
    text = json.dumps(facts, ensure_ascii=False, separators=(",", ":"))
    parts = {
        "words": text.encode("utf-8", "replace"),
        "forms": table.to_text().encode("utf-8", "replace"),
        "word_map": b"".join(map_sections.values()),
        "postings": b"".join(list_parts.values()),
    }
    return EncoderParts(parts, reading_notes(tokenizer))


def _titles(documents: Documents) -> pl.Series:
    return documents.frame["title"].cast(pl.String).drop_nulls()


def _differences(counts: Any, held: sparse.csc_array) -> sparse.csc_array:
    """What is to be added to the counts of search words to get those of the model's (n_docs, n_columns).

    Titles are searched but not encoded, addresses likewise, and a phrase is a word of the model alone.
    """
    of_model = sparse.csc_array(counts).astype(np.int64)
    different = sparse.csc_array(of_model - held[:, : of_model.shape[1]].astype(np.int64))
    different.eliminate_zeros()
    return different


def _map_sections(model: TextModel) -> tuple[dict[str, bytes], dict[str, Any]]:
    """The map as the page applies it, and what is done before and after.

    Vectors are compared without what all documents have in common (kate.search.building.comparable): for neurons
    without an activation that is a direction, which is taken out of the map itself.
    """
    encoder, mean = model.encoder_, model.responses_.mean
    weights = encoder.W
    settings: dict[str, Any] = {
        "output": encoder.output,
        "scaling": encoder.scaling,
        "activation": None,
        "bits": MAP_BITS,
    }
    sections: dict[str, bytes] = {}
    if encoder.output == "preactivation":
        direction = (mean - encoder.b) / max(float(np.linalg.norm(mean - encoder.b)), 1e-9)
        weights = np.asarray(weights - np.outer(weights @ direction, direction), dtype=np.float32)
    elif encoder.output == "activation":
        settings["activation"] = encoder.activation
        sections = {"bias": encoder.b.astype("<f4").tobytes(), "mean": mean.astype("<f4").tobytes()}
    if encoder.weights is not None:
        sections = {"weights": encoder.weights.astype("<f4").tobytes(), **sections}
    return {**SmallMap.of(weights, MAP_BITS).sections(), **sections}, settings
