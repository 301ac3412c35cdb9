"""Changes of a model from outside: files of changed topics, and updates with texts from a grammar of trouble."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import kate
from attacks.file_damage import JSON_DAMAGE, damaged_json
from attacks.odd_inputs import Random, _Odd, odd_text
from kate.cli.topic_commands import _applied

__all__ = ["OddEdits", "OddUpdate"]

_EDITS = {
    "n_topics": 4,
    "edits": [
        {"kind": "rename", "topics": [3], "name": "law"},
        {"kind": "merge", "topics": [0, 1]},
        {"kind": "split", "topics": [2]},
        {"kind": "drop", "topics": [3]},
    ],
}


class OddEdits(_Odd):
    """A file of changed topics, as the page of kate explore saves it, is applied, or changes nothing."""

    def try_one(self, number: int, random: Random) -> str | None:
        topics = kate.load(Path(self.folder) / "model").topics(3)
        before = [(topic.number, topic.name) for topic in topics]
        kind = JSON_DAMAGE[number % len(JSON_DAMAGE)]
        value, self.shown = damaged_json(json.dumps(_EDITS).encode(), kind, random)
        if random.integers(5) == 0:
            value = _EDITS | {"edits": [{"kind": "rename", "topics": [0], "name": odd_text(random)}]}
        text: Any = value if isinstance(value, str) else json.dumps(value)
        path = self.place / "edits.json"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        try:
            found = _applied(topics, path)
        except ValueError:
            return (
                None
                if [(topic.number, topic.name) for topic in topics] == before
                else f"{self.shown}: changed"
            )
        names = [topic.name for topic in found]
        shares = found.shares(["gold coin", ""])
        if len(set(names)) != len(names) or not np.isfinite(shares).all():
            return f"{self.shown}: {names}"
        self.outcome = "applied"
        return None


class OddUpdate(_Odd):
    """A model goes on with odd texts, or stays what it was; halves of characters are refused."""

    allowed = (kate.KateError, ValueError, TypeError)

    def try_one(self, number: int, random: Random) -> str | None:
        model = kate.load(Path(self.folder) / "model")
        before = model.encode("gold coin of peace")
        texts = [odd_text(random) for _ in range(int(random.integers(1, 40)))]
        if number % 5:
            texts = [text.encode("utf-8", "replace").decode() for text in texts]
        self.shown = repr(texts)[:300]
        try:
            report = model.update(texts)
        except Exception:
            if not np.array_equal(model.encode("gold coin of peace"), before):
                return f"changed by a failure: {self.shown}"
            raise
        if not np.isfinite(model.encode([*texts[:9], "gold"])).all() or report.n_new != len(texts):
            return f"{report.as_dict()}: {self.shown}"
        model.save(self.place / "updated")
        again = kate.load(self.place / "updated")
        if not np.array_equal(again.encode("gold peace"), model.encode("gold peace")):
            return f"another model when it is read again: {self.shown}"
        if [topic.name for topic in again.topics()] != [topic.name for topic in model.topics()]:
            return f"other topics when they are read again: {self.shown}"
        return None
