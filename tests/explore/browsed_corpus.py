"""A corpus of five themes that all tests of the browser look at: with years, labels and numbers."""

from __future__ import annotations

import random

import polars as pl

THEMES = {
    "money": "gold silver coin mint bullion treasury dollar bank currency standard metal payment",
    "war": "army navy soldier fleet cannon fort enemy battle regiment admiral victory peace",
    "farm": "wheat corn farmer soil harvest cattle plough field crop barn acre drought",
    "rail": "railroad canal bridge locomotive track freight station steam engine wagon mail coach",
    "law": "court judge statute constitution senate treaty clause justice appeal verdict jury oath",
}
N_DOCUMENTS = 300


def browsed_corpus() -> pl.DataFrame:
    dice = random.Random(0)
    rows = []
    for row in range(N_DOCUMENTS):
        theme = list(THEMES)[row % len(THEMES)]
        words = dice.choices(THEMES[theme].split(), k=18) + dice.choices(
            ["nation", "year", "people", "report", "great"], k=6
        )
        year = 1800 + 20 * (row % len(THEMES)) + dice.randrange(20)
        rows.append(
            {
                "text": "The " + " ".join(words) + ".",
                "title": f"Report {row} of the {theme}",
                "year": year,
                "label": theme,
                "pages": dice.randrange(1, 90),
            }
        )
    rows[0]["text"] = "Gold and silver, and silver and gold: the coin of the mint."
    return pl.DataFrame(rows)
