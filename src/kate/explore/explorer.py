"""From a model and a corpus to a page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import kate
from kate.explore.column_parts import ColumnParts, column_parts
from kate.explore.encoder_parts import encoder_parts
from kate.explore.explored_corpus import ExploredCorpus
from kate.explore.map_layout import lay_out
from kate.explore.page_data import PageData, array_bytes, compressed
from kate.explore.page_file import page_file_bytes, write_page
from kate.explore.page_limits import chosen_rows, fewer_texts, file_bytes, too_large
from kate.explore.text_parts import KeptTexts, text_parts
from kate.explore.topic_parts import TopicStops
from kate.model.text_model import TextModel
from kate.storage.files import whole_file
from kate.storage.folders import StrPath
from kate.text.documents import Documents
from kate.text.frames import as_documents
from kate.text.languages import code_of

__all__ = ["PageSettings", "Progress", "WrittenPage", "gather", "page"]

Progress = Callable[[str, float], None]
"""Told what is being done, and the share of it that is done."""


@dataclass(frozen=True)
class PageSettings:
    """What a page shows.

    title : its headline
    n_topics : how many topics it opens with; None takes the model's
    texts : how much of the texts it holds
    most_bytes : of its file; texts are left out to keep to it. None: as large as it gets
    n_all : documents of the corpus, where the page shows a sample of them
    """

    title: str
    n_topics: int | None = None
    texts: KeptTexts = "whole"
    most_bytes: int | None = None
    n_all: int | None = None


@dataclass(frozen=True)
class WrittenPage:
    """A page that was written.

    notes : what it does not show, in sentences
    texts : how much of the texts it holds
    """

    path: Path
    n_documents: int
    n_bytes: int
    notes: tuple[str, ...]
    texts: KeptTexts


def page(
    model: TextModel,
    corpus: Any,
    path: StrPath,
    *,
    date: str | None = None,
    n_topics: int | None = None,
    texts: KeptTexts = "whole",
    max_size: str | int | None = None,
    sample: int | None = None,
    text: str | None = None,
    title: str | None = None,
    progress: Progress | None = None,
    say: Callable[[str], None] | None = None,
) -> WrittenPage:
    """Write a corpus as one HTML file: a map of its documents, topics through time, search, reading. No network.

    Parameters
    ----------
    corpus
        texts, Documents, or a pandas or Polars frame
    date : str, optional
        the column of the dates; None takes one with a usual name (date, year, …), if it holds dates
    n_topics : int, optional
        how many topics the page opens with; a slider in it takes others. None takes the topics that you changed,
        or as many as the data suggest
    texts : {'whole', 'snippet', 'none'}, default 'whole'
        hold the texts "whole", the first lines of each ("snippet") or "none"
    max_size : str or int, optional
        of the file, such as "20MB"; whole texts become snippets, and these nothing, until it is kept to
    sample : int, optional
        show so many of the documents, drawn at random; None shows all, up to 200,000
    text : str, optional
        the column of a frame that holds the text
    title : str, optional
        the headline; the name of the file by default
    progress : Progress, optional
        called with the name of a step and the share of it that is done
    say : callable, optional
        called with sentences that are worth knowing before a long work begins

    Examples
    --------
    >>> import tempfile
    >>> import kate
    >>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
    >>> model = kate.TextModel(n_components=2).fit(texts)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = page(model, texts, f"{folder}/treaties.html", max_size="1MB")
    >>> written.n_documents, written.texts
    (20, 'whole')
    """
    documents = as_documents(corpus, text)
    if not len(documents):
        raise ValueError("the corpus has no documents; expected one at least")
    most_bytes = None if max_size is None else file_bytes(max_size)
    told = progress or (lambda what, share: None)
    with whole_file(path) as part:  # a target that cannot be written is told now, and not after the work
        shown = _sampled(documents, sample, say or (lambda sentence: None))
        told("reading documents", 0.0)
        n_all = len(documents) if len(shown) < len(documents) else None
        settings = PageSettings(title or Path(path).stem, n_topics, texts, most_bytes, n_all)
        columns = column_parts(shown, date)
        data = gather(ExploredCorpus.of(model, shown), columns, settings, told)
        told("writing", 0.0)
        n_bytes = write_page(data, part)
    manifest = data.manifest
    return WrittenPage(Path(path), len(shown), n_bytes, tuple(manifest["notes"]), manifest["texts"])


def _sampled(documents: Documents, sample: int | None, say: Callable[[str], None]) -> Documents:
    rows = chosen_rows(len(documents), sample)
    if rows is None:
        return documents
    if sample is None:
        say(
            f"{len(documents):,} documents are more than a page can show: it gets {len(rows):,} of them, drawn at "
            "random (--sample N for another number); kate index and kate serve show and search them all"
        )
    source = documents.source
    return Documents(documents.frame[rows], source=None if source is None else source[rows])


def gather(
    corpus: ExploredCorpus,
    columns: ColumnParts,
    settings: PageSettings,
    told: Progress,
    topics: TopicStops | None = None,
) -> PageData:
    """All data of a page. ``topics`` are those of the corpus, if they are at hand."""
    if not corpus.known.any():
        raise ValueError(
            f"none of the {len(corpus):,} documents has a word that the model knows, so they have neither topics nor "
            "places; take the corpus that the model was fitted on, or fit one on these: kate fit CORPUS -o MODEL"
        )
    told("topics", 0.0)
    topics = topics or TopicStops.of(corpus, settings.n_topics)
    layout = lay_out(corpus.vectors, corpus.known, lambda share: told("map", share))
    parts = {"positions": array_bytes(np.concatenate([layout.places[:, 0], layout.places[:, 1]]))}
    told("words", 0.0)
    words = encoder_parts(corpus.model, corpus.documents, corpus.counts)
    parts |= topics.parts() | columns.parts
    parts |= {name: compressed(data) for name, data in words.parts.items()}
    model = corpus.model
    facts = {
        "title": settings.title,
        "n_documents": len(corpus),
        "n_components": model.encoder_.n_components,
        "n_words": len(model.vocabulary_),
        "cuts": list(topics.stops),
        "initial_cut": topics.initial,
        "date": columns.date,
        "columns": columns.columns,
        "language": (language := model.settings_.get("language")),
        "language_code": None if language is None else code_of(language),
        "layout": layout.method,
        "sample": None if settings.n_all is None else {"total": settings.n_all},
        "notes": [*columns.notes, *words.notes, *_about_unknown(corpus)],
        "made": kate.__version__,
    }
    return _with_texts(corpus, settings, facts, parts)


def _with_texts(
    corpus: ExploredCorpus, settings: PageSettings, facts: dict[str, Any], parts: dict[str, bytes]
) -> PageData:
    """The page with as much of the texts as was asked for, or as fits into it."""
    for kept in fewer_texts(settings.texts):
        texts, blocks = text_parts(corpus.documents.texts, kept)
        of_texts = {"texts": kept, "text_blocks": blocks}
        notes = [*facts["notes"], *_about_texts(settings, kept)]
        data = PageData.of(facts | of_texts | {"notes": notes}, parts | texts)
        if settings.most_bytes is None or page_file_bytes(data) <= settings.most_bytes:
            return data
    assert settings.most_bytes is not None
    sizes = {name: -(-len(part) // 3) * 4 for name, part in parts.items()}
    raise ValueError(too_large(page_file_bytes(data), settings.most_bytes, len(corpus), sizes))


def _about_texts(settings: PageSettings, kept: KeptTexts) -> list[str]:
    if kept == settings.texts or settings.most_bytes is None:
        return []
    left = {"snippet": "holds the beginning of each text only", "none": "holds no texts"}[kept]
    return [f"To keep to {settings.most_bytes / 1e6:g} MB the page {left}."]


def _about_unknown(corpus: ExploredCorpus) -> list[str]:
    n_unknown = int((~corpus.known).sum())
    if not n_unknown:
        return []
    have = "1 document has" if n_unknown == 1 else f"{n_unknown:,} documents have"
    return [f"{have} no word that the model knows: no topic, and a place below the map."]
