"""A corpus of four themes with dates, authors and a planted change: what belongs together is known."""

from __future__ import annotations

import datetime

import numpy as np
import polars as pl

from kate import TextModel

__all__ = ["THEMES", "dated_frame", "fitted", "themed_texts"]

THEMES = {
    "peace": ["treaty", "peace", "nations", "signed", "ambassador", "border"],
    "money": ["gold", "silver", "coin", "bank", "currency", "treasury"],
    "school": ["teacher", "children", "books", "school", "lesson", "pupils"],
    "ships": ["navy", "ships", "harbor", "fleet", "captain", "sail"],
}


def themed_texts(n_texts: int = 160, seed: int = 0) -> list[str]:
    """Texts of eight words, of one theme after another."""
    random = np.random.default_rng(seed)
    names = list(THEMES)
    return [" ".join(random.choice(THEMES[names[row % 4]], size=8)) for row in range(n_texts)]


def dated_frame(n_texts: int = 160) -> pl.DataFrame:
    """The texts over two years, in order, with an author for every second one."""
    first = datetime.date(1999, 1, 15)
    days = [first + datetime.timedelta(days=730 * row // n_texts) for row in range(n_texts)]
    authors = ["Ann" if row % 2 else "Bob" for row in range(n_texts)]
    return pl.DataFrame({"date": days, "body": themed_texts(n_texts), "author": authors})


def fitted() -> TextModel:
    return TextModel(4, random_state=0, max_epochs=5, n_jobs=1).fit(themed_texts())
