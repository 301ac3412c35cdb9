"""20 Newsgroups, the version sorted by date: 18,846 posts of 1993 in 20 groups."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kate.research.datasets.archives import files_in, require_count
from kate.research.datasets.corpus import Corpus
from kate.research.datasets.dataset import DataSet, Expected, Preparation
from kate.research.datasets.download import Archive
from kate.research.datasets.raw_documents import count_documents
from kate.research.datasets.splits import draw

__all__ = ["DATASET", "Post", "read_posts", "without_footer", "without_headers", "without_quotes"]

_ARCHIVE = Archive(
    "20news-bydate.tar.gz",
    (
        "http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
        "https://ndownloader.figshare.com/files/5975967",
    ),
    sha256="8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
)
_HINT = "the archive is not the by-date one or is truncated"
_SIGNATURE_LINES = 12

_QUOTED = re.compile(r"^\s*(?:[>|:}#]|[A-Za-z]{1,4}>)")
_ATTRIBUTION = re.compile(r"\b(?:writes|wrote|says|said)\s*:?\s*$|^\s*In article\b|^\s*Quoted? from\b", re.I)
_RULE = re.compile(r"^\s*(?:-- ?|[-_=*~+#]{3,})\s*$")


class Post(NamedTuple):
    """A post as it is in the archive, with its headers."""

    id: str
    group: str
    text: str


def prepare(
    preparation: Preparation, *, headers: bool = True, footers: bool = True, quotes: bool = True
) -> Corpus:
    """Count the posts; the validation documents are drawn from the training posts."""
    train, test = read_posts(preparation.paths[_ARCHIVE.name])
    require_count(len(train), preparation.expected.train, "documents in 20news-bydate-train", _HINT)
    require_count(len(test), preparation.expected.test, "documents in 20news-bydate-test", _HINT)
    posts = train + test
    groups = np.array([post.group for post in posts])
    if preparation.expected.classes is not None:
        require_count(np.unique(groups).size, preparation.expected.classes, "newsgroups", _HINT)
    train_rows = np.arange(len(train))
    dropped = [
        name for name, kept in (("headers", headers), ("footers", footers), ("quotes", quotes)) if not kept
    ]
    return count_documents(
        preparation,
        f"20 Newsgroups by date, {' and '.join(dropped) or 'nothing'} dropped",
        texts=[_keep(post.text, headers=headers, footers=footers, quotes=quotes) for post in posts],
        ids=[post.id for post in posts],
        labels=groups,
        label_kind="classes",
        train=train_rows,
        validation=draw(train_rows, preparation.expected.validation, preparation.seed)[0],
        test=np.arange(len(train), len(posts)),
    )


def without_headers(post: str) -> str:
    """The post after its first empty line.

    >>> without_headers("From: a@b.c\\nSubject: x\\n\\nHello.")
    'Hello.'
    """
    head, gap, body = post.partition("\n\n")
    return body if gap else head


def without_quotes(post: str) -> str:
    """The post without the lines it quotes from others and without the lines that announce them.

    >>> without_quotes("In article <1@x> Bob writes:\\n> It is.\\nIt is not.")
    'It is not.'
    """
    lines = (line for line in post.split("\n") if not _QUOTED.match(line) and not _ATTRIBUTION.search(line))
    return "\n".join(lines)


def without_footer(post: str) -> str:
    """The post without its signature: the lines after the last ``--`` or line of dashes, if that is near the end.

    >>> without_footer("See you there.\\n--\\nBob, bob@x.edu")
    'See you there.'
    """
    lines = post.rstrip().split("\n")
    for index in range(len(lines) - 1, max(0, len(lines) - _SIGNATURE_LINES) - 1, -1):
        if _RULE.match(lines[index]):
            return "\n".join(lines[:index])
    return post


def read_posts(path: Path) -> tuple[list[Post], list[Post]]:
    """The training and the test posts of the archive, sorted."""
    posts: dict[str, list[Post]] = {"20news-bydate-train": [], "20news-bydate-test": []}
    for name, content in files_in(path):
        parts = name.split("/")
        if len(parts) == 3 and parts[0] in posts:
            folder, group, number = parts
            posts[folder].append(Post(f"{group}/{number}", group, content.decode("latin-1")))
    # Sorted: results must not depend on the order in which an archive was packed.
    return sorted(posts["20news-bydate-train"]), sorted(posts["20news-bydate-test"])


def _keep(text: str, *, headers: bool, footers: bool, quotes: bool) -> str:
    if not headers:
        text = without_headers(text)
    if not footers:
        text = without_footer(text)
    if not quotes:
        text = without_quotes(text)
    return text


DATASET = DataSet(
    name="20news",
    title="20 Newsgroups, sorted by date",
    task="classification, retrieval",
    split="by date",
    licence="no licence stated; the posts belong to their authors; cite Lang (1995)",
    sources=(_ARCHIVE,),
    expected=Expected(train=11_314, validation=1_000, test=7_532, classes=20),
    vocabulary_size=2_000,
    prepare=prepare,
)
