"""Movie reviews with ratings in [0, 1]: the scale data v1.0 of Pang and Lee (2005)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from kate.errors import quoted
from kate.research.datasets.archives import decode_text, files_in, require_count
from kate.research.datasets.corpus import Corpus
from kate.research.datasets.dataset import DataSet, Expected, Preparation
from kate.research.datasets.download import Archive
from kate.research.datasets.raw_documents import count_documents
from kate.research.datasets.splits import draw_groups

__all__ = ["DATASET"]

_URLS = tuple(f"{scheme}://www.cs.cornell.edu/people/pabo/movie-review-data/" for scheme in ("https", "http"))
_EXTRACTS = Archive("scale_data.tar.gz", tuple(url + "scale_data.tar.gz" for url in _URLS))
_WHOLE = Archive(
    "scale_whole_review.tar.gz", tuple(url + "scale_whole_review.tar.gz" for url in _URLS), only_with="whole"
)
_HINT = "the archive is not the scale data v1.0 or is truncated"


class _Review(NamedTuple):
    author: str
    id: str
    text: str
    rating: float


def prepare(preparation: Preparation, *, whole: bool = False) -> Corpus:
    """Count the subjective extracts, or the whole reviews; copies of a text stay on one side of the split.

    Some reviews occur several times, under different numbers. Without this, a review could be in the training set and
    in the test set.
    """
    expected = preparation.expected
    reviews = _read_extracts(preparation.paths[_EXTRACTS.name])
    require_count(len(reviews), expected.documents, f"reviews in {_EXTRACTS.name}", _HINT)
    if whole:
        reviews = _with_whole_texts(reviews, preparation.paths[_WHOLE.name])
    copies = [" ".join(review.text.lower().split()) for review in reviews]
    test, train = draw_groups(copies, np.arange(len(reviews)), expected.test, preparation.seed)
    kind = "whole reviews" if whole else "subjective extracts"
    return count_documents(
        preparation,
        f"Pang and Lee's scale data v1.0, {kind}",
        texts=[review.text for review in reviews],
        ids=[f"{review.author}/{review.id}" for review in reviews],
        labels=np.array([review.rating for review in reviews]),
        label_kind="number",
        train=train,
        validation=draw_groups(copies, train, expected.validation, preparation.seed)[0],
        test=test,
    )


def _read_extracts(path: Path) -> list[_Review]:
    """One file per column, one line per review: scaledata/AUTHOR/{id,subj,rating}.AUTHOR."""
    columns: dict[str, dict[str, list[str]]] = {}
    for name, content in files_in(path):
        kind, _, author = name.rpartition("/")[2].partition(".")
        if kind in ("id", "subj", "rating") and name.endswith(f"{author}/{kind}.{author}"):
            columns.setdefault(author, {})[kind] = decode_text(content).removesuffix("\n").split("\n")
    reviews = []
    for author, column in sorted(columns.items()):
        ids, texts, ratings = (column.get(kind, []) for kind in ("id", "subj", "rating"))
        if not len(ids) == len(texts) == len(ratings):
            raise ValueError(
                f"{path.name}: {author} has {len(ids):,} ids, {len(texts):,} texts and {len(ratings):,} "
                f"ratings, expected as many of each: {_HINT}"
            )
        for line, (number, text, rating) in enumerate(zip(ids, texts, ratings, strict=True), start=1):
            where = f"{path.name}: rating.{author}, line {line}"
            reviews.append(_Review(author, number.strip(), text, _rating(rating, where)))
    return sorted(reviews)


def _rating(written: str, where: str) -> float:
    try:
        rating = float(written)
    except ValueError:
        rating = float("nan")
    if not 0 <= rating <= 1:
        raise ValueError(f"{where}: {quoted(written)} is not a rating between 0 and 1")
    return rating


def _with_whole_texts(reviews: list[_Review], path: Path) -> list[_Review]:
    whole = {}
    for name, content in files_in(path):
        parts = name.split("/")
        if len(parts) >= 3 and parts[-2] == "txt.parag" and name.endswith(".txt"):
            whole[parts[-3], parts[-1].removesuffix(".txt")] = content.decode("cp1252", errors="replace")
    require_count(len(whole), len(reviews), f"reviews in {path.name}", _HINT)
    missing = [review for review in reviews if (review.author, review.id) not in whole]
    if missing:
        example = f"{missing[0].author}/{missing[0].id}"
        raise ValueError(f"{path.name} lacks {len(missing):,} rated reviews, such as {example}: {_HINT}")
    return [review._replace(text=whole[review.author, review.id]) for review in reviews]


DATASET = DataSet(
    name="movies",
    title="Movie reviews with ratings, Pang and Lee's scale data v1.0",
    task="regression",
    split="random, copies together",
    licence="no licence stated; the reviews belong to their authors; cite Pang and Lee (2005)",
    sources=(_EXTRACTS, _WHOLE),
    expected=Expected(train=3_337, validation=300, test=1_669),
    vocabulary_size=2_000,
    prepare=prepare,
)
