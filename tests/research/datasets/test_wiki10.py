from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kate.research.datasets import wiki10
from kate.research.datasets.dataset import Expected
from kate.research.datasets.preparing import prepare
from kate.research.datasets.wiki10 import DATASET, html_to_text

Pack = Callable[[Path, dict[str, bytes]], Path]

TAGS_OF = {
    "a" * 32: {"science": 9, "physics": 30},
    "b" * 32: {"science": 2, "history": 4},
    "c" * 32: {"history": 3, "art & craft": 80},
    "d" * 32: {"history": 1, "science": 1},
    "e" * 32: {"physics": 90},
}
SMALL = replace(DATASET, expected=Expected(train=3, validation=1, test=1, classes=2))


def tag_data(tags_of: dict[str, dict[str, int]]) -> bytes:
    articles = []
    for name, tags in tags_of.items():
        listed = "".join(
            f"<tag><name>{tag.replace('&', '&amp;')}</name><count>{count}</count></tag>"
            for tag, count in tags.items()
        )
        articles.append(
            f"<article><hash>{name}</hash><title>T</title><users>9</users><tags>{listed}</tags></article>"
        )
    return f"<?xml version='1.0' encoding='UTF-8'?>\n<articles>{''.join(articles)}</articles>".encode()


def pages() -> dict[str, bytes]:
    return {
        f"documents/{name}": f"<html><body><p>Article {name[:1] * 3} &amp; more</p></body></html>".encode()
        for name in TAGS_OF
    }


def write(folder: Path, make_tar: Pack, tags: bytes | None = None) -> Path:
    make_tar(folder / "wiki10+_documents.tar.bz2", pages())
    make_tar(folder / "wiki10+_tag-data.tar.gz", {"wiki10+_tag-data/tag-data.xml": tags or tag_data(TAGS_OF)})
    return folder


def test_the_tags_of_most_articles_and_the_articles_that_have_any(tmp_path: Path, make_tar: Pack) -> None:
    corpus = prepare(SMALL, data_home=write(tmp_path, make_tar), keep_texts=True)

    # "physics" has the most votes; "history" and "science" have the most articles.
    assert corpus.classes == ("history", "science")
    assert corpus.ids == tuple(letter * 32 for letter in "abcd")
    assert corpus.labels.toarray().tolist() == [[0, 1], [1, 1], [1, 0], [1, 1]]
    assert corpus.texts is not None
    assert corpus.texts[0] == "Article aaa & more"


def test_unpacked_files_are_read_too(tmp_path: Path) -> None:
    (tmp_path / "wiki10+_documents" / "documents").mkdir(parents=True)
    for name, page in pages().items():
        (tmp_path / "wiki10+_documents" / name).write_bytes(page)
    (tmp_path / "tag-data.xml").write_bytes(tag_data(TAGS_OF))

    assert prepare(SMALL, data_home=tmp_path).n_docs == 4


def test_a_page_is_the_article_without_scripts_styles_and_navigation() -> None:
    page = (
        "<html><style>p {color: red}</style><div>Log in</div><!-- start content --><p>Rivers<br/>flow"
        "<script>track()</script><!-- a comment --> to the&nbsp;sea</p><!-- end content --><div>Privacy</div>"
    )

    assert html_to_text(page) == "Rivers flow to the sea"


def test_a_little_off_is_a_warning_and_far_off_an_error(
    tmp_path: Path, make_tar: Pack, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(SMALL, expected=Expected(train=4, validation=1, test=1, classes=2))
    write(tmp_path, make_tar)

    with pytest.raises(ValueError, match="found 4 articles with one of the 2 most frequent tags, expected 5"):
        prepare(other, data_home=tmp_path)
    monkeypatch.setattr(wiki10, "_TOLERANCE", 0.5)
    with caplog.at_level(logging.WARNING):
        corpus = prepare(other, data_home=tmp_path)

    assert (corpus.train.size, corpus.test.size) == (3, 1)
    assert "found 4 articles" in caplog.text


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        (tag_data(TAGS_OF)[:-30], "the tags are not well-formed XML"),
        (tag_data({"no hash": {"x": 1}}), "article 1 has the hash 'no hash', expected 32 hexadecimal digits"),
    ],
)
def test_malformed_tags_are_named(tmp_path: Path, make_tar: Pack, tags: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        prepare(SMALL, data_home=write(tmp_path, make_tar, tags))


def test_an_archive_without_tags_is_named(tmp_path: Path, make_tar: Pack) -> None:
    write(tmp_path, make_tar)
    make_tar(tmp_path / "wiki10+_tag-data.tar.gz", {"README": b""})

    with pytest.raises(ValueError, match=r"has no tag-data\.xml"):
        prepare(SMALL, data_home=tmp_path)
