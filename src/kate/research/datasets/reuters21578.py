"""Reuters-21578, the ModApte split, R(90): newswire of 1987, with the 90 topics that both parts have."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kate.research.datasets.archives import files_in, require_count
from kate.research.datasets.corpus import Corpus
from kate.research.datasets.dataset import DataSet, Expected, Preparation
from kate.research.datasets.download import Archive
from kate.research.datasets.raw_documents import count_documents, indicator
from kate.research.datasets.splits import draw

__all__ = ["DATASET"]

_ARCHIVE = Archive(
    "reuters21578.tar.gz",
    (
        "http://www.daviddlewis.com/resources/testcollections/reuters21578/reuters21578.tar.gz",
        "https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.tar.gz",
    ),
)
_HINT = "the archive is not Reuters-21578 distribution 1.0 or is truncated"

_SIDES = ("TRAIN", "TEST")

_STORY = re.compile(r"<REUTERS\s(?P<attributes>[^>]*)>(?P<content>.*?)</REUTERS>", re.S)
_TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.S)
_TOPIC = re.compile(r"<D>(.*?)</D>")
_TEXT = re.compile(r"<TEXT[^>]*>(.*?)</TEXT>", re.S)
_TITLE = re.compile(r"<TITLE>(.*?)</TITLE>", re.S)
_BODY = re.compile(r"<BODY>(.*?)</BODY>", re.S)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]|&#\d{1,2};")


class _Story(NamedTuple):
    id: str
    side: str
    topics: tuple[str, ...]
    text: str


def prepare(preparation: Preparation) -> Corpus:
    """Count the stories of ModApte that have one of the topics with both a train and a test document."""
    stories = [story for story in _read(preparation.paths[_ARCHIVE.name]) if story.side in _SIDES]
    seen = {side: {t for story in stories if story.side == side for t in story.topics} for side in _SIDES}
    classes = sorted(set.intersection(*seen.values()))
    kept = [story for story in stories if not set(classes).isdisjoint(story.topics)]
    train = np.array([row for row, story in enumerate(kept) if story.side == "TRAIN"], dtype=np.int64)
    test = np.setdiff1d(np.arange(len(kept)), train)
    expected = preparation.expected
    if expected.classes is not None:
        require_count(len(classes), expected.classes, "topics with a train and a test document", _HINT)
    require_count(train.size, expected.train, "training documents with a topic", _HINT)
    require_count(test.size, expected.test, "test documents with a topic", _HINT)
    return count_documents(
        preparation,
        "Reuters-21578, ModApte split, R(90), title and body",
        texts=[story.text for story in kept],
        ids=[story.id for story in kept],
        labels=indicator([story.topics for story in kept], classes),
        label_kind="sets",
        classes=classes,
        train=train,
        validation=draw(train, expected.validation, preparation.seed)[0],
        test=test,
    )


def _read(path: Path) -> Iterator[_Story]:
    for name, content in files_in(path):
        if not name.endswith(".sgm"):
            continue
        sgml = content.decode("latin-1")
        matches = list(_STORY.finditer(sgml))
        require_count(len(matches), sgml.count("<REUTERS "), f"whole stories in {name}", _HINT)
        for match in matches:
            story = _story(match["attributes"], match["content"])
            if story is None:
                line = sgml.count("\n", 0, match.start()) + 1
                raise ValueError(f"{name}, line {line:,}: a story without NEWID, LEWISSPLIT, TOPICS or TEXT")
            yield story


def _story(attributes: str, content: str) -> _Story | None:
    values = dict(re.findall(r'(\w+)="([^"]*)"', attributes))
    topics, text = _TOPICS.search(content), _TEXT.search(content)
    if topics is None or text is None or not {"NEWID", "LEWISSPLIT", "TOPICS"} <= values.keys():
        return None
    in_split = values["TOPICS"] == "YES"  # the other half of the definition of ModApte
    return _Story(
        id=values["NEWID"],
        side=values["LEWISSPLIT"] if in_split else "NOT-USED",
        topics=tuple(_TOPIC.findall(topics[1])),
        text=_title_and_body(text[1]),
    )


def _title_and_body(text: str) -> str:
    """Title and body; the whole text if it has neither."""
    parts = [match[1] for match in (_TITLE.search(text), _BODY.search(text)) if match]
    return html.unescape(_CONTROL.sub(" ", "\n".join(parts) or text)).strip()


DATASET = DataSet(
    name="reuters21578",
    title="Reuters-21578, ModApte, R(90)",
    task="multi-label classification",
    split="ModApte, by date",
    licence="copyright Reuters; for research only; cite Reuters-21578, Distribution 1.0",
    sources=(_ARCHIVE,),
    expected=Expected(train=7_770, validation=800, test=3_019, classes=90),
    vocabulary_size=2_000,
    prepare=prepare,
)
