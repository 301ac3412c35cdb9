"""Topics through time, batch by batch, are those of the corpus at once."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kate
from kate.model.corpus_trends import topics_of_corpus

THEMES = ("peace treaty signed", "gold and silver coin", "harvest of wheat fields", "ships in the harbour")


@pytest.fixture(scope="module")
def model() -> kate.TextModel:
    texts = [f"{theme} {word}" for theme in THEMES for word in ("new", "old", "great", "small")] * 5
    return kate.TextModel(n_components=4, random_state=0, max_epochs=5, verbose=False).fit(texts)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Documents whose words change with the years, some without a date, some without a known word."""
    rng = np.random.default_rng(0)
    rows = []
    for number in range(400):
        year = 1900 + number // 10
        theme = THEMES[int(rng.integers(4))]
        text = (theme if year > 1920 else theme.split()[0]) if number % 23 else "zzz"
        rows.append({"text": text, "date": f"{year}-03-01" if number % 19 else "", "party": "ab"[number % 2]})
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("by", "every"), [("date", None), ("date", "decade"), ("party", None)])
@pytest.mark.parametrize("batch_size", [9, 1000])
def test_the_table_is_that_of_over(
    model: kate.TextModel, corpus: Path, tmp_path: Path, by: str, every: str | None, batch_size: int
) -> None:
    topics = model.topics(4)
    expected = topics.over_time(kate.read_corpus(corpus), by, every)
    (tmp_path / "scratch").mkdir()
    found = topics_of_corpus(
        model,
        topics,
        kate.iter_corpus(corpus, batch_size=batch_size),
        by,
        every,
        scratch=tmp_path / "scratch",
    )
    assert found.every == expected.every
    assert found.frame.equals(expected.frame)
    if every == "decade":
        assert found.frame["words"].list.len().sum() > 0


def test_a_date_that_is_none_names_its_document(model: kate.TextModel, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("id,text,date\na,gold coin,1999-01-01\nb,silver,1999-01-02\nc,peace,soon\n")
    with pytest.raises(ValueError, match=r"'soon' in the column 'date' \(row 2, id 'c'\) is not a date"):
        topics_of_corpus(model, model.topics(4), kate.iter_corpus(path, batch_size=1), scratch=tmp_path)


def test_a_column_that_is_not_there_is_named_with_those_that_are(
    model: kate.TextModel, tmp_path: Path
) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("text,year\ngold coin,1999\n")
    with pytest.raises(ValueError, match="the corpus has no column 'yaer'; did you mean year"):
        topics_of_corpus(model, model.topics(4), kate.iter_corpus(path), "yaer", scratch=tmp_path)
