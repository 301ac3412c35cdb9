"""Wiki10+: English Wikipedia articles with the tags that people gave them on delicious.com, of 2009.

Zubiaga (2009) published two archives: the articles as HTML, one file each, named by a hash; and the tags with
the number of people who gave each. Following Cao et al. (2015) and the KATE paper, the 25 most frequent tags
are the labels and only articles with at least one of them are kept. The frequency of a tag is here the number of
articles that have it, not the number of people who gave it: so these are the 25 labels with the most examples.

The KATE paper counts 19,972 such articles. Since neither paper says how it counted tags, a collection that differs a
little is used, with a warning; one that differs a lot is refused as truncated.
"""

from __future__ import annotations

import html
import io
import logging
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Set
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from kate.errors import quoted
from kate.research.datasets.archives import decode_text, files_in, require_count
from kate.research.datasets.corpus import Corpus
from kate.research.datasets.dataset import DataSet, Expected, Preparation
from kate.research.datasets.download import Archive
from kate.research.datasets.raw_documents import count_documents, indicator
from kate.research.datasets.splits import draw

__all__ = ["DATASET", "html_to_text"]

_URL = "http://nlp.uned.es/social-tagging/wiki10+/"
_ARTICLES = Archive(
    "wiki10+_documents.tar.bz2",
    (_URL + "wiki10+_documents.tar.bz2",),
    also=("wiki10+_documents", "wiki10+_documents.tar.gz", "wiki10+_documents.tar"),
)
_TAGS = Archive(
    "wiki10+_tag-data.tar.gz",
    (_URL + "wiki10+_tag-data.tar.gz",),
    also=("tag-data.xml", "wiki10+_tag-data", "wiki10+_tag-data.tar"),
)
_HINT = "the archives are not those of Wiki10+ or are truncated"
_TOLERANCE = 0.02

logger = logging.getLogger(__name__)

_CONTENT = re.compile(r"<!-- start content -->(.*?)<!-- end content -->", re.S)
_INVISIBLE = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->", re.S | re.I)
_TAG = re.compile(r"<[^>]*>")
_HASH = re.compile(r"[0-9a-f]{32}")


class _Article(NamedTuple):
    hash: str
    tags: frozenset[str]


def prepare(preparation: Preparation) -> Corpus:
    """Count the articles that have one of the most frequent tags."""
    expected = preparation.expected
    articles = _read_tags(preparation.paths[_TAGS.name])
    frequency = Counter(tag for article in articles for tag in article.tags)
    by_rank = sorted(frequency, key=lambda tag: (-frequency[tag], tag))
    classes = sorted(by_rank[: expected.classes])
    tagged = {article.hash for article in articles if not article.tags.isdisjoint(classes)}
    texts = _read_articles(preparation.paths[_ARTICLES.name], tagged)
    kept = sorted(article for article in articles if article.hash in texts)
    what = f"articles with one of the {len(classes)} most frequent tags"
    _require_about(len(kept), expected.documents, what)
    test, train = draw(np.arange(len(kept)), expected.test, preparation.seed)
    return count_documents(
        preparation,
        f"Wiki10+, {what}",
        texts=[texts[article.hash] for article in kept],
        ids=[article.hash for article in kept],
        labels=indicator([article.tags for article in kept], classes),
        label_kind="sets",
        classes=classes,
        train=train,
        validation=draw(train, expected.validation, preparation.seed)[0],
        test=test,
    )


def html_to_text(page: str) -> str:
    """The text of a page; of a Wikipedia page of that time the article without the navigation around it.

    >>> html_to_text("<style>p {}</style><p>Bread &amp; <b>butter</b></p>")
    'Bread & butter'
    """
    article = _CONTENT.search(page)
    visible = _TAG.sub(" ", _INVISIBLE.sub(" ", article[1] if article else page))
    return " ".join(html.unescape(visible).split())


def _read_tags(path: Path) -> list[_Article]:
    """Read ``<article><hash/><title/><users/><tags><tag><name/><count/></tag>…</tags></article>``."""
    articles: list[_Article] = []
    try:
        with _tag_data(path) as xml:
            for _, element in ET.iterparse(xml):  # noqa: S314 - expat refuses entities that grow without end
                if element.tag == "article":
                    articles.append(_article(element, path, len(articles) + 1))
                    element.clear()  # the tree of all 20,000 articles and their tags would be large
    except ET.ParseError as error:
        raise ValueError(f"{path}: the tags are not well-formed XML ({error}): {_HINT}") from error
    return articles


@contextmanager
def _tag_data(path: Path) -> Iterator[IO[bytes]]:
    """tag-data.xml: itself, in its folder, or in its archive."""
    if path.suffix == ".xml" or path.is_dir():
        with (path / "tag-data.xml" if path.is_dir() else path).open("rb") as xml:
            yield xml
        return
    for name, content in files_in(path):
        if name.endswith("tag-data.xml"):
            yield io.BytesIO(content)
            return
    raise ValueError(f"{path} has no tag-data.xml: {_HINT}")


def _article(element: ET.Element, path: Path, number: int) -> _Article:
    name = (element.findtext("hash") or "").strip()
    if not _HASH.fullmatch(name):
        raise ValueError(
            f"{path}: article {number:,} has the hash {quoted(name)}, expected 32 hexadecimal digits"
        )
    tags = (tag.findtext("name") or "" for tag in element.iterfind("tags/tag"))
    return _Article(name, frozenset(tag.strip() for tag in tags if tag.strip()))


def _read_articles(path: Path, wanted: Set[str]) -> dict[str, str]:
    texts = {}
    for name, content in files_in(path):
        file = name.rpartition("/")[2].removesuffix(".html")
        if file in wanted:
            texts[file] = html_to_text(decode_text(content))
    return texts


def _require_about(found: int, expected: int, of_what: str) -> None:
    if abs(found - expected) > _TOLERANCE * expected:
        require_count(found, expected, of_what, _HINT)
    if found != expected:
        logger.warning("found %s %s where the KATE paper has %s", f"{found:,}", of_what, f"{expected:,}")


DATASET = DataSet(
    name="wiki10",
    title="Wiki10+, the 25 most frequent tags",
    task="multi-label classification",
    split="random",
    licence="Wikipedia text under CC BY-SA; cite Zubiaga (2009)",
    sources=(_ARTICLES, _TAGS),
    expected=Expected(train=13_972, validation=1_000, test=6_000, classes=25),
    vocabulary_size=2_000,
    prepare=prepare,
)
