"""What models are measured on: data sets by name, loaded when they are needed, and your own documents."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kate.errors import quoted
from kate.research.datasets.corpus import Corpus, LabelKind, Labels, Questions
from kate.research.datasets.loading import find_dataset, load_dataset
from kate.research.datasets.raw_documents import count_split, indicator
from kate.text.documents import Documents
from kate.text.languages import AUTO
from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary

__all__ = ["CorpusSource", "corpus_of", "question_corpus"]

Rows = NDArray[np.int64]

_MOST_NUMBERS_AS_CLASSES = 20  # five stars are classes, prices are numbers


@dataclass(frozen=True)
class CorpusSource:
    """A corpus that is loaded when it is asked for; its name and all that it depends on are known before."""

    name: str
    settings: Mapping[str, Any]
    load: Callable[[], Corpus] = field(repr=False)
    load_with_texts: Callable[[], Corpus] | None = field(default=None, repr=False)

    @classmethod
    def dataset(
        cls, name: str, vocabulary_size: int | None = None, options: Mapping[str, Any] | None = None
    ) -> CorpusSource:
        """A data set of ``kate.research.datasets``; an unknown name or option is refused at once.

        >>> source = CorpusSource.dataset("20news", options={"headers": False})
        >>> source.settings["headers"], source.settings["vocabulary_size"]
        (False, 2000)
        """
        dataset, given = find_dataset(name), dict(options or {})
        size = dataset.vocabulary_size if vocabulary_size is None else vocabulary_size
        settings = {"vocabulary_size": size, **dataset.options(given)}

        def load(keep_texts: bool = False) -> Corpus:
            return load_dataset(name, vocabulary_size=size, keep_texts=keep_texts, **given)

        return cls(name, settings, load, lambda: load(keep_texts=True))

    @classmethod
    def of(cls, corpus: Corpus) -> CorpusSource:
        """A corpus that is in memory already; a digest of its contents is part of its settings."""
        return cls(corpus.name, {**corpus.settings, "contents": _digest(corpus)}, lambda: corpus)

    def loaded(self, *, texts: bool = False) -> Corpus:
        """The corpus, with its texts where they are asked for and kept."""
        return (self.load_with_texts if texts and self.load_with_texts else self.load)()


def corpus_of(
    documents: Documents,
    name: str = "corpus",
    *,
    test_share: float = 0.2,
    validation_share: float = 0.1,
    vocabulary_size: int | None = 20_000,
    language: str | None = AUTO,
    label_kind: LabelKind | None = None,
    label_separator: str | None = None,
    seed: int = 0,
) -> Corpus:
    """Documents with labels as a Corpus: with a random split, and a vocabulary of the training documents only.

    ``test_share``        of all documents; ``validation_share`` of the rest
    ``label_kind``        None to guess: sets where there is a separator, a number where all labels are
                          numbers and there are more than 20 different ones, else classes
    ``label_separator``   separates the labels of a document that has several: ``"sports;business"``

    Documents without a label are left out. Copies of one text stay on one side of the split: otherwise a model would
    be tested on documents that it was fitted on.

    >>> documents = Documents.from_texts(
    ...     [f"a {word} of {number}" for word in ("treaty", "tax") for number in range(20)],
    ...     labels=["peace"] * 20 + ["money"] * 20,
    ... )
    >>> corpus_of(documents, "toy")
    Corpus 'toy': 40 documents (32 train, 3 of them validation, 8 test), 2 words, 2 classes
    """
    texts, ids, values = _labelled(documents)
    labels = _parse_labels(values, label_kind, label_separator)
    train, test = _split(texts, np.arange(len(texts)), test_share, seed, "test_share")
    _, validation = _split(texts, train, validation_share, seed + 1, "validation_share")
    vocabulary, X = count_split(texts, train, test, Tokenizer(language), vocabulary_size)
    return Corpus(
        name=name,
        X=X,
        vocabulary=vocabulary,
        ids=ids,
        labels=labels.values,
        label_kind=labels.kind,
        classes=labels.classes,
        train=train,
        validation=validation,
        test=test,
        description=f"documents of {name}, random split, the {len(vocabulary):,} most frequent words of the "
        "training documents",
        settings={
            "vocabulary_size": vocabulary_size,
            "language": vocabulary.tokenizer.language,
            "test_share": test_share,
            "validation_share": validation_share,
            "seed": seed,
        },
        texts=texts,
        read_sequences=lambda: vocabulary.sequences(texts),
    )


def question_corpus(
    rows: Sequence[Mapping[str, Any]],
    name: str = "questions",
    *,
    vocabulary_size: int | None = 20_000,
    language: str | None = AUTO,
) -> Corpus:
    """Documents and questions with judgements as a Corpus: all documents are fitted on and searched.

    ``rows`` have a ``kind``: a "document" has ``id`` and ``text``, a "query" has ``text`` and ``relevant``, the ids of
    the documents that answer it. Judgements of documents that are not there are left out.

    >>> question_corpus(
    ...     [
    ...         {"kind": "document", "id": "1", "text": "wings and lift"},
    ...         {"kind": "document", "id": "2", "text": "heat and flow"},
    ...         {"kind": "query", "id": "q", "text": "how do wings lift?", "relevant": ["1"]},
    ...     ]
    ... )
    Corpus 'questions': 2 documents (2 train, 0 of them validation, 0 test), 4 words, no labels, 1 questions
    """
    documents = [row for row in rows if row.get("kind") == "document"]
    queries = [row for row in rows if row.get("kind") == "query"]
    if not documents or not queries:
        raise ValueError(
            f"{name} has {len(documents):,} documents and {len(queries):,} queries; expected some of both: rows with "
            'kind "document" (id, text) and with kind "query" (text, relevant)'
        )
    for row in (*documents, *queries):
        needed = ("id", "text") if row["kind"] == "document" else ("text", "relevant")
        if missing := [field for field in needed if field not in row]:
            raise ValueError(f"{name}: a {row['kind']} has no {missing[0]}; expected {' and '.join(needed)}")
    ids = [str(row["id"]) for row in documents]
    place = {one: number for number, one in enumerate(ids)}
    texts = [str(row["text"]) for row in documents]
    vocabulary, X = Vocabulary.learn(texts, Tokenizer(language), vocabulary_size)
    relevant = tuple(
        frozenset(place[str(one)] for one in row["relevant"] if str(one) in place) for row in queries
    )
    return Corpus(
        name=name,
        X=sp.csr_array(X),
        vocabulary=vocabulary,
        ids=ids,
        labels=np.full(len(texts), ""),
        label_kind="none",
        train=np.arange(len(texts)),
        validation=np.zeros(0, dtype=np.int64),
        test=np.zeros(0, dtype=np.int64),
        description=f"documents of {name} and {len(queries):,} questions with judgements",
        settings={"vocabulary_size": vocabulary_size, "language": vocabulary.tokenizer.language},
        texts=texts,
        read_sequences=lambda: vocabulary.sequences(texts),
        questions=Questions(sp.csr_array(vocabulary.count([str(row["text"]) for row in queries])), relevant),
    )


def _labelled(documents: Documents) -> tuple[list[str], list[str], list[str]]:
    labels = documents.labels
    if labels is None:
        raise ValueError(
            "the documents have no labels to score against; say which field holds them (label=...)"
        )
    rows = [row for row, label in enumerate(labels) if label is not None]
    texts, ids = documents.texts.to_list(), documents.ids
    return [texts[row] for row in rows], [ids[row] for row in rows], [str(labels[row]) for row in rows]


class _ParsedLabels(NamedTuple):
    kind: LabelKind
    values: Labels
    classes: Sequence[str]


def _parse_labels(values: list[str], kind: LabelKind | None, separator: str | None) -> _ParsedLabels:
    if separator is not None or kind == "sets":
        if not separator or kind not in (None, "sets"):
            raise ValueError("sets of labels and a label separator go together: give both, or neither")
        sets = [{part.strip() for part in value.split(separator)} - {""} for value in values]
        classes = sorted(set().union(*sets))
        return _ParsedLabels("sets", indicator(sets, classes), classes)
    numbers = [_number(value) for value in values]
    are_numbers = not any(math.isnan(number) for number in numbers)
    if kind == "number" and not are_numbers:
        odd = next(value for value, number in zip(values, numbers, strict=True) if math.isnan(number))
        raise ValueError(
            f"the label {quoted(odd)} is no number; leave such documents out or take labels as classes"
        )
    if kind == "number" or (kind is None and are_numbers and len(set(numbers)) > _MOST_NUMBERS_AS_CLASSES):
        return _ParsedLabels("number", np.array(numbers), ())
    return _ParsedLabels("classes", np.array(values), sorted(set(values)))


def _number(value: str) -> float:
    """The number that a label is; NaN if it is not a finite number."""
    try:
        number = float(value)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def _split(texts: list[str], rows: Rows, share: float, seed: int, name: str) -> tuple[Rows, Rows]:
    """(kept, drawn): about ``share`` of the rows are drawn, copies of one text together or not at all."""
    if not 0 < share < 1:
        raise ValueError(f"{name} is {share}; expected a share above 0 and below 1")
    copies = Counter(texts[row] for row in rows)
    wanted = max(1, round(share * len(rows)))
    distinct = sorted(copies)  # not in the order of the file, which may be sorted by label
    drawn_texts: set[str] = set()
    n_drawn = 0
    for index in np.random.default_rng(seed).permutation(len(distinct)):
        text = distinct[index]
        if n_drawn + copies[text] <= wanted:
            drawn_texts.add(text)
            n_drawn += copies[text]
    is_drawn = np.array([texts[row] in drawn_texts for row in rows], dtype=np.bool_)
    if n_drawn == 0 or n_drawn > len(rows) - 2:
        raise ValueError(
            f"{len(rows):,} documents ({len(copies):,} different ones) are too few to set {share:.0%} of them "
            f"aside ({name}); give more documents"
        )
    return rows[~is_drawn], rows[is_drawn]


def _digest(corpus: Corpus) -> str:
    """A short name for counts, words, labels and split."""
    digest = hashlib.sha256("\n".join(corpus.vocabulary.words).encode())
    labels = corpus.labels
    parts = [corpus.X.data, corpus.X.indices, corpus.X.indptr, corpus.train, corpus.validation, corpus.test]
    parts += [labels] if isinstance(labels, np.ndarray) else [labels.indices, labels.indptr]
    if corpus.questions is not None:
        parts += [corpus.questions.X.data, corpus.questions.X.indices, corpus.questions.X.indptr]
        parts += [np.array(sorted(rows)) for rows in corpus.questions.relevant]
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()[:16]
