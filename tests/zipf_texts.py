"""Texts of inflected words, frequent and rare, as many as wanted."""

import numpy as np


def zipf_texts(n=3_000, seed=0):
    random = np.random.default_rng(seed)
    letters = np.array(list("bcdfgklmnprst"))
    roots = [
        "".join(random.choice(letters, 2)) + "a" + "".join(random.choice(letters, 3)) for _ in range(900)
    ]
    words = [root + ending for root in roots for ending in ("", "ed", "ing")]
    chances = 1 / (np.arange(len(words)) + 3.0)
    chances /= chances.sum()
    sizes = random.integers(0, 30, n)
    drawn = random.choice(words, sizes.sum(), p=chances)
    return [" ".join(some) for some in np.split(drawn, np.cumsum(sizes)[:-1])]
