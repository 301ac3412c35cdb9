"""Corpus: counted documents with their labels and a fixed split.

A score has a meaning only for the documents it was measured on. So a :class:`Corpus` holds the split together with
the counts, makes every array read-only, and refuses a split whose parts overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kate.errors import quoted
from kate.text.sequences import Sequences

if TYPE_CHECKING:
    from kate.text.vocabulary import Vocabulary

__all__ = ["Corpus", "LabelKind", "Labels", "Part", "PartName", "Questions"]

Rows: TypeAlias = NDArray[np.int64]
Labels: TypeAlias = NDArray[Any] | sp.csr_array
LabelKind: TypeAlias = Literal["classes", "sets", "number", "none"]
PartName: TypeAlias = Literal["train", "fitting", "validation", "test"]


class Questions(NamedTuple):
    """Questions asked of a corpus: their counts, and for each the rows of the documents that answer it."""

    X: sp.csr_array
    relevant: tuple[frozenset[int], ...]


class Part(NamedTuple):
    """The documents of one part of the split: counts, labels and their rows in the corpus."""

    X: sp.csr_array
    y: Labels
    rows: Rows


@dataclass(frozen=True, eq=False, repr=False)
class Corpus:
    """Counts, vocabulary, ids, labels and one split; frozen.

    Attributes
    ----------
    X : sparse matrix
        counts, CSR (n_docs, n_words)
    vocabulary : Vocabulary
        the words of the columns, chosen on the training documents only
    labels : array or sparse matrix
        by ``label_kind``: ``"classes"`` an array of class names, ``"sets"`` an indicator CSR (n_docs, n_classes),
        ``"number"`` an array of floats, ``"none"`` an array that says nothing
    classes : list of str
        the names of the classes in order (of the columns, for sets); empty for a number
    train : array
        rows of *all* training documents, validation included: the size that papers report
    validation : array
        rows held out of ``train`` to choose settings and to stop early
    fitting : array
        ``train`` without ``validation``: what to fit on while settings are being chosen
    test : array
        rows of the test documents
    read_sequences : callable, optional
        returns ``sequences`` when they are first asked for; None if the order of words is lost

    Examples
    --------
    >>> from kate.text.vocabulary import Vocabulary
    >>> texts = ["red apple", "green apple", "blue sky", "grey sky"]
    >>> vocabulary, X = Vocabulary.learn(texts)
    >>> corpus = Corpus(
    ...     name="toy", X=X, vocabulary=vocabulary, ids=["a", "b", "c", "d"],
    ...     labels=np.array(["fruit", "fruit", "weather", "weather"]), label_kind="classes",
    ...     train=[0, 1, 2], validation=[1], test=[3],
    ... )
    >>> corpus
    Corpus 'toy': 4 documents (3 train, 1 of them validation, 1 test), 6 words, 2 classes
    >>> corpus.fitting
    array([0, 2])
    >>> X_test, y_test, rows = corpus.part("test")
    >>> y_test
    array(['weather'], dtype='<U7')
    """

    name: str
    X: sp.csr_array
    vocabulary: Vocabulary
    ids: Sequence[str]
    labels: Labels
    label_kind: LabelKind
    train: Rows
    validation: Rows
    test: Rows
    classes: Sequence[str] = ()
    description: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    texts: Sequence[str] | None = None
    read_sequences: Callable[[], Sequences] | None = None
    questions: Questions | None = None

    def __post_init__(self) -> None:
        for name in ("train", "validation", "test"):
            self._set(name, _read_only(np.array(getattr(self, name), dtype=np.int64)))
        self._set("ids", tuple(self.ids))
        self._set("settings", MappingProxyType(dict(self.settings)))
        if self.texts is not None:
            self._set("texts", tuple(self.texts))
        if self.label_kind == "classes" and not len(self.classes):
            self._set("classes", np.unique(np.asarray(self.labels)).tolist())
        self._set("classes", tuple(self.classes))
        self._set("X", _frozen(self.X))
        self._set("labels", _frozen(self.labels))
        self._require_consistent_lengths()
        self._require_known_labels()
        self._require_sound_split()

    @property
    def fitting(self) -> Rows:
        """Rows of the training documents without the validation documents."""
        return _read_only(np.setdiff1d(self.train, self.validation))

    @property
    def n_docs(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_words(self) -> int:
        return int(self.X.shape[1])

    def rows(self, part: PartName) -> Rows:
        """The rows of one part of the split."""
        if part not in get_args(PartName):
            raise ValueError(f"no part {quoted(part)}; the parts are {', '.join(get_args(PartName))}")
        rows: Rows = getattr(self, part)
        return rows

    def part(self, part: PartName) -> Part:
        """Counts, labels and rows of ``"train"``, ``"fitting"``, ``"validation"`` or ``"test"``."""
        rows = self.rows(part)
        return Part(self.X[rows], self.labels[rows], rows)

    @cached_property
    def sequences(self) -> Sequences:
        """The words of the documents in their order; in random order if it is lost."""
        if self.read_sequences is None:
            return Sequences.of_counts(self.X)
        sequences = self.read_sequences()
        if sequences.shape != self.X.shape:
            raise ValueError(f"sequences of shape {sequences.shape} for counts of shape {self.X.shape}")
        return sequences

    def __repr__(self) -> str:
        labels = {"number": "a number", "none": "no labels"}.get(
            self.label_kind, f"{len(self.classes):,} classes"
        )
        if self.questions is not None:
            labels += f", {len(self.questions.relevant):,} questions"
        return (
            f"Corpus {self.name!r}: {self.n_docs:,} documents ({self.train.size:,} train, "
            f"{self.validation.size:,} of them validation, {self.test.size:,} test), "
            f"{self.n_words:,} words, {labels}"
        )

    def _set(self, name: str, value: object) -> None:
        # the way to set an attribute of a frozen dataclass, used only while it is made
        object.__setattr__(self, name, value)

    def _require_consistent_lengths(self) -> None:
        if self.label_kind not in get_args(LabelKind):
            raise ValueError(
                f"label_kind is {quoted(self.label_kind)}; expected one of {', '.join(get_args(LabelKind))}"
            )
        lengths = {"ids": len(self.ids), "labels": int(self.labels.shape[0])}
        if self.texts is not None:
            lengths["texts"] = len(self.texts)
        for what, length in lengths.items():
            if length != self.n_docs:
                raise ValueError(f"{length:,} {what} for {self.n_docs:,} documents: one each is expected")
        if len(self.vocabulary) != self.n_words:
            raise ValueError(f"{len(self.vocabulary):,} words name {self.n_words:,} columns of X")

    def _require_known_labels(self) -> None:
        if sp.issparse(self.labels) != (self.label_kind == "sets"):
            raise ValueError("labels are a sparse indicator matrix exactly when label_kind is 'sets'")
        if self.label_kind == "sets" and self.labels.shape[1:] != (len(self.classes),):
            raise ValueError(f"labels of shape {self.labels.shape} for {len(self.classes):,} classes")
        if self.label_kind == "sets" and np.any(self.labels.data != 1):
            raise ValueError(
                "the indicator of label sets holds values other than 1; a document has a label or not"
            )
        if self.label_kind == "classes" and not np.isin(np.asarray(self.labels), list(self.classes)).all():
            raise ValueError("a document has a label that is not among the classes")

    def _require_sound_split(self) -> None:
        member = {name: np.zeros(self.n_docs, dtype=bool) for name in ("train", "validation", "test")}
        for name, mask in member.items():
            rows: Rows = getattr(self, name)
            if rows.size and (rows.min() < 0 or rows.max() >= self.n_docs):
                raise ValueError(f"{name} points outside the {self.n_docs:,} documents")
            mask[rows] = True
            if np.count_nonzero(mask) != rows.size:
                raise ValueError(f"{name} names a document twice")
        if (member["train"] & member["test"]).any():
            raise ValueError("train and test share documents: a score on this split would mean nothing")
        if (member["validation"] & ~member["train"]).any():
            raise ValueError("validation must be a subset of train")


def _frozen(array: Labels) -> Labels:
    """A read-only view of the same numbers; the caller's own array stays writable."""
    if isinstance(array, np.ndarray):
        return _read_only(array.view())
    if not array.has_canonical_format:  # a read-only array cannot be sorted later
        array = array.copy()
        array.sum_duplicates()
    # 32-bit indices if they are large enough: half the memory, and one type for compiled code.
    index = np.int32 if max(array.nnz, *array.shape) <= np.iinfo(np.int32).max else np.int64
    indices, indptr = (part.astype(index, copy=False) for part in (array.indices, array.indptr))
    parts = tuple(_read_only(part.view()) for part in (array.data, indices, indptr))
    return sp.csr_array(parts, shape=array.shape)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
