"""Reuters RCV1-v2: 804,414 newswire stories and 103 topics, from the token files of Lewis et al. (2004).

The published tokens are stemmed and without stop words, and are used as they are. The stories are never all in memory
as strings: each token becomes an integer when it is read, 4 bytes for each of about a hundred million.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from kate.errors import quoted
from kate.research.datasets.archives import lines_of, require_count
from kate.research.datasets.corpus import Corpus
from kate.research.datasets.dataset import DataSet, Expected, Preparation
from kate.research.datasets.download import Archive
from kate.research.datasets.splits import draw
from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary

__all__ = ["DATASET", "TopicLabels", "read_topics"]

_URL = "http://www.ai.mit.edu/projects/jmlr/papers/volume5/lewis04a/a12-token-files/"
_PARTS = ("train", "test_pt0", "test_pt1", "test_pt2", "test_pt3")
_TOKENS = tuple(
    Archive(f"{name}.gz", (f"{_URL}{name}.gz",), also=(name,))
    for name in (f"lyrl2004_tokens_{part}.dat" for part in _PARTS)
)
_TOPICS = Archive(
    "rcv1-v2.topics.qrels.gz",
    ("https://ndownloader.figshare.com/files/5976048",),
    sha256="2a98e5e5d8b770bded93afc8930d88299474317fe14181aee1466cc754d0d1c1",
    also=("rcv1-v2.topics.qrels",),
)
_HINT = "the files are not those of RCV1-v2 or are truncated"
_STORIES_AT_ONCE = 50_000


class TopicLabels(NamedTuple):
    """Which document has which topic: pairs of a document id and the index of a topic in ``names``."""

    documents: NDArray[np.int64]
    codes: NDArray[np.int32]
    names: list[str]


@dataclass(frozen=True)
class _Stories:
    """Every token of every story as an integer; ``codes[starts[i]:starts[i + 1]]`` is story i."""

    ids: NDArray[np.int64]
    codes: NDArray[np.int32]
    starts: NDArray[np.int64]
    words: list[str]

    def blocks(self) -> Iterator[tuple[int, int]]:
        """(first, end) of blocks of stories, small enough to work on at once."""
        for first in range(0, self.ids.size, _STORIES_AT_ONCE):
            yield first, min(first + _STORIES_AT_ONCE, self.ids.size)

    def tokens(self, first: int, end: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """The codes of the stories from first to end, and for each the story it is in, counted from first."""
        lengths = np.diff(self.starts[first : end + 1])
        return self.codes[self.starts[first] : self.starts[end]], np.repeat(np.arange(end - first), lengths)


def prepare(preparation: Preparation) -> Corpus:
    """Count the stories; the test and validation stories are drawn at random, as the KATE paper does."""
    expected = preparation.expected
    stories = _read_stories([preparation.paths[source.name] for source in _TOKENS])
    require_count(stories.ids.size, expected.documents, "documents in the token files", _HINT)
    topics = read_topics(preparation.paths[_TOPICS.name])
    if expected.classes is not None:
        require_count(len(topics.names), expected.classes, f"topics in {_TOPICS.name}", _HINT)
    labels = _labels(topics, stories.ids)
    test, train = draw(np.arange(stories.ids.size), expected.test, preparation.seed)
    words = _most_frequent(stories, train, preparation.vocabulary_size)
    X = _count(stories, words)
    return Corpus(
        name=preparation.name,
        X=X,
        vocabulary=_vocabulary([stories.words[code] for code in words], X[train]),
        ids=[str(number) for number in stories.ids],
        labels=labels,
        label_kind="sets",
        classes=topics.names,
        train=train,
        validation=draw(train, expected.validation, preparation.seed)[0],
        test=test,
        description=f"Reuters RCV1-v2, tokens as published (stopped and stemmed), the {len(words):,} most "
        "frequent of the training documents",
    )


def read_topics(path: Path) -> TopicLabels:
    """Read lines of ``TOPIC DOCUMENT 1``; names in alphabetical order."""
    code_of: defaultdict[bytes, int] = defaultdict()
    code_of.default_factory = code_of.__len__
    documents, codes = array("q"), array("i")
    for number, line in lines_of(path):
        fields = line.split()
        if len(fields) != 3 or not fields[1].isdigit() or fields[2] != b"1":
            raise _malformed(path, number, "'TOPIC DOCUMENT 1'", line)
        codes.append(code_of[fields[0]])
        documents.append(int(fields[1]))
    names = [name.decode("ascii", errors="replace") for name in code_of]
    order = np.argsort(names)
    return TopicLabels(
        documents=np.asarray(documents, dtype=np.int64),
        codes=np.argsort(order).astype(np.int32)[np.asarray(codes, dtype=np.int32)],
        names=[names[index] for index in order],
    )


def _read_stories(paths: Sequence[Path]) -> _Stories:
    """Read stories: ``.I ID``, ``.W``, lines of tokens, an empty line."""
    code_of: defaultdict[bytes, int] = defaultdict()
    code_of.default_factory = code_of.__len__
    ids, codes, starts = array("q"), array("i"), array("q")
    for path in paths:
        awaits = b".I"
        for number, line in lines_of(path):
            if awaits != b".W" and line.startswith(b".I") and line[2:].strip().isdigit():
                ids.append(int(line[2:]))
                starts.append(len(codes))
                awaits = b".W"
            elif line == b".W" == awaits:
                awaits = b""
            elif not line or (not awaits and not line.startswith(b".")):
                codes.extend(map(code_of.__getitem__, line.split()))
            else:
                raise _malformed(path, number, _next(awaits), line)
        if awaits == b".W":
            raise ValueError(f"{path.name} ends inside document {ids[-1]}: {_HINT}")
    starts.append(len(codes))
    require_count(len(set(ids)), len(ids), "different document ids", "a token file is there twice")
    return _Stories(
        ids=np.asarray(ids, dtype=np.int64),
        codes=np.asarray(codes, dtype=np.int32),
        starts=np.asarray(starts, dtype=np.int64),
        words=[word.decode("utf-8", errors="replace") for word in code_of],
    )


def _most_frequent(stories: _Stories, train: NDArray[np.int64], size: int) -> list[int]:
    """The codes of the most frequent words of the training stories; of equals, the first in the alphabet."""
    in_train = np.zeros(stories.ids.size, dtype=bool)
    in_train[train] = True
    totals = np.zeros(len(stories.words), dtype=np.int64)
    for first, end in stories.blocks():
        codes, story = stories.tokens(first, end)
        totals += np.bincount(codes[in_train[first:end][story]], minlength=totals.size)
    seen = np.flatnonzero(totals).tolist()
    return sorted(seen, key=lambda code: (-totals[code], stories.words[code]))[:size]


def _count(stories: _Stories, words: list[int]) -> sp.csr_array:
    column_of = np.full(len(stories.words), -1, dtype=np.int32)
    column_of[words] = np.arange(len(words), dtype=np.int32)
    blocks = []
    for first, end in stories.blocks():
        codes, story = stories.tokens(first, end)
        columns = column_of[codes]
        kept = columns >= 0
        ones = np.ones(int(kept.sum()), dtype=np.int32)
        shape = (end - first, len(words))
        blocks.append(sp.csr_array(sp.coo_array((ones, (story[kept], columns[kept])), shape=shape)))
    return sp.csr_array(sp.vstack(blocks, format="csr"))


def _vocabulary(words: list[str], train_counts: sp.csr_array) -> Vocabulary:
    return Vocabulary(
        words=words,
        readable=words,  # the words that the stems came from were not published
        document_frequencies=np.bincount(train_counts.indices, minlength=len(words)),
        totals=train_counts.sum(axis=0, dtype=np.int64),
        n_documents=train_counts.shape[0],
        tokenizer=Tokenizer(language=None),
    )


def _labels(topics: TopicLabels, ids: NDArray[np.int64]) -> sp.csr_array:
    order = np.argsort(ids)
    place = np.searchsorted(ids, topics.documents, sorter=order).clip(max=ids.size - 1)
    rows = order[place]
    unknown = np.unique(topics.documents[ids[rows] != topics.documents])
    require_count(unknown.size, 0, f"documents in {_TOPICS.name} that no token file has", _HINT)
    ones = np.ones(rows.size, dtype=np.int8)
    shape = (ids.size, len(topics.names))
    labels = sp.csr_array(sp.coo_array((ones, (rows, topics.codes)), shape=shape))
    labels.data[:] = 1  # a pair that occurs twice is still one label
    require_count(int((np.diff(labels.indptr) == 0).sum()), 0, "documents without a topic", _HINT)
    return labels


def _next(awaits: bytes) -> str:
    return {b".I": "'.I NUMBER'", b".W": "'.W'"}.get(awaits, "tokens or '.I NUMBER'")


def _malformed(path: Path, number: int, expected: str, line: bytes) -> ValueError:
    found = line[:60].decode("utf-8", errors="replace")
    return ValueError(f"{path.name}, line {number:,}: expected {expected}, found {quoted(found)}")


DATASET = DataSet(
    name="rcv1",
    title="Reuters RCV1-v2",
    task="multi-label classification",
    split="random",
    licence="Reuters; the token files are published for research with Lewis et al. (2004)",
    sources=(*_TOKENS, _TOPICS),
    expected=Expected(train=554_414, validation=10_000, test=250_000, classes=103),
    vocabulary_size=5_000,
    prepare=prepare,
)
