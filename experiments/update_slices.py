"""Ten updates beside one fit: 20 Newsgroups, the State of the Union and BBC News, three seeds.

    KATE_DATA=... python experiments/update_slices.py choose [20news] >> choose.jsonl   # no test document is read
    KATE_DATA=... python experiments/update_slices.py test [sotu] >> update_slices.jsonl
    KATE_DATA=... python experiments/update_slices.py orders [20news] >> update_slices.jsonl
    KATE_DATA=... python experiments/update_slices.py cost > update_cost.jsonl
    python experiments/update_slices.py table update_slices.jsonl                       # the table of docs/updates.md

The training documents are cut into ten slices in the order of time. A model is fitted on the first and updated with the
others; another is fitted on all of them at once; both are scored on the same documents. 20 Newsgroups by date has lost
its Date headers: within each group posts are in the order of their article numbers, which a news server counts up, and
a slice has a tenth of every group. Addresses are in the order of their years, so that every slice is of another time.
BBC's articles have no dates; their order is drawn, and differs with the seed.

sketch       "whole": the default, of at most 20,000 documents; a number: as if the corpus were larger than the sketch
nmi          of 20 topics cut from the tree; nmi_kept: of the topics that were carried from update to update
cpu_seconds  of all threads: counting, training and topics; of every slice for the updates
seconds      the same on the clock, which on a machine that is busy with other work says little by itself
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import sys
import time
import warnings
from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

import kate
from kate.research.metrics.classification import classify
from kate.research.metrics.clusters import compare_labels
from kate.research.metrics.retrieval import retrieve
from kate.topics import document_sketch
from kate.unit_rows import unit_rows

CORPORA, SEEDS, N_SLICES, N_TOPICS = ("20news", "sotu", "bbc"), 3, 10, 20
CHOSEN_ON = 0.25  # of the training documents, to choose settings
# src/kate/model/updating.py; lines without it are of rules before, which did not know what waits for a column
RULE = "as much as is at hand, waiting words known"
SMALL_SKETCH = {"20news": 2_000, "sotu": 2_000, "bbc": 250}
Row = dict[str, Any]


class Part(NamedTuple):
    """Documents in the order of time, and their labels."""

    texts: list[str]
    labels: Any

    def slices(self) -> Iterator[list[str]]:
        bounds = np.linspace(0, len(self.texts), N_SLICES + 1).astype(int)
        for first, end in pairwise(bounds.tolist()):
            yield self.texts[first:end]


class Split(NamedTuple):
    fitting: Part
    validation: Part
    test: Part


def load(name: str, seed: int) -> Split:
    """A corpus whose documents are in the order of time."""
    if name == "bbc":
        with gzip.open(Path(os.environ["KATE_DATA"]) / "bbc.jsonl.gz", "rt", encoding="utf-8") as lines:
            found = [json.loads(line) for line in lines]
        texts, labels = [row["text"] for row in found], np.array([row["label"] for row in found])
        train, test = (np.flatnonzero([row["split"] == part for row in found]) for part in ("train", "test"))
        validation = np.random.default_rng(0).permutation(train)[: len(train) // 10]
        when = np.random.default_rng(seed).permutation(len(texts)).astype(float)
    else:
        corpus = kate.load_dataset(name, vocabulary_size=20_000, keep_texts=True)
        assert corpus.texts is not None
        texts, labels = list(corpus.texts), np.asarray(corpus.labels)
        train, validation, test = corpus.train, corpus.validation, corpus.test
        when = _years(corpus.ids) if name == "sotu" else _places_in_group(corpus.ids, labels, train)
    fitting = np.setdiff1d(train, validation)
    fitting = fitting[np.argsort(when[fitting], kind="stable")]
    return Split(*(Part([texts[row] for row in rows], labels[rows]) for rows in (fitting, validation, test)))


def _years(ids: Any) -> Any:
    return np.array([float(one[:4]) for one in ids])


def _places_in_group(ids: Any, labels: Any, train: Any) -> Any:
    """From 0 to 1: where a post stands among those of its group, by its article number."""
    numbers = np.array([int(re.search(r"(\d+)$", one)[1]) for one in ids])  # type: ignore[index]
    when = np.zeros(len(numbers))
    for group in np.unique(labels):
        rows = train[labels[train] == group]
        when[rows[np.argsort(numbers[rows], kind="stable")]] = np.arange(len(rows)) / len(rows)
    return when


def for_choosing(split: Split, seed: int) -> Split:
    """The same without the test documents: a quarter of the training documents takes their place."""
    part = split.fitting
    drawn = np.random.default_rng(100 + seed).permutation(len(part.texts))
    n = round(CHOSEN_ON * len(drawn))

    def taken(rows: Any) -> Part:
        rows = np.sort(rows)
        return Part([part.texts[row] for row in rows], part.labels[rows])

    return Split(taken(drawn[n:]), split.validation, taken(drawn[:n]))


class Watch:
    """Processor time and time on the clock, lap by lap."""

    def __init__(self) -> None:
        self.laps: list[tuple[float, float]] = []
        self._last = time.process_time(), time.perf_counter()

    def lap(self) -> None:
        now = time.process_time(), time.perf_counter()
        self.laps.append((now[0] - self._last[0], now[1] - self._last[1]))
        self._last = now

    def facts(self) -> Row:
        names = ("cpu_seconds", "seconds")
        return {name: [round(lap[which], 2) for lap in self.laps] for which, name in enumerate(names)}


def one_fit(split: Split, seed: int) -> tuple[kate.TextModel, Row]:
    watch = Watch()
    model = kate.TextModel(random_state=seed, device="cpu", verbose=False).fit(split.fitting.texts)
    _ = model.topic_space_.tree
    watch.lap()
    return model, {"how": "one fit"} | watch.facts()


def ten_updates(split: Split, seed: int) -> tuple[kate.TextModel, Row]:
    model = kate.TextModel(random_state=seed, device="cpu", verbose=False)
    watch, entered, faded = Watch(), 0, 0
    for number, texts in enumerate(split.fitting.slices()):
        if number == 0:
            model.fit(texts)
        else:
            report = model.update(texts, n_topics=N_TOPICS if number == 1 else None)
            entered, faded = entered + len(report.entered), faded + len(report.faded)
        _ = model.topic_space_.tree
        watch.lap()
    facts = {"how": "ten updates", "rule": RULE} | watch.facts()
    return model, facts | {"entered": entered, "faded": faded}


def score(model: kate.TextModel, split: Split) -> Row:
    vectors = [model.encode(part.texts) for part in split]
    known = [one for part, made in zip(split, vectors, strict=True) for one in (made, part.labels)]
    near = retrieve(vectors[0], split.fitting.labels, vectors[2], split.test.labels).scores()
    space = model.topic_space_
    cuts = {"nmi": space.tree_cut(N_TOPICS)}
    if space.kept is not None:
        cuts["nmi_kept"] = space.current(None)[0].cut
    units = unit_rows(vectors[2])
    found = {name: compare_labels(cut.nearest(units), split.test.labels).nmi for name, cut in cuts.items()}
    return {
        "words": len(model.vocabulary_),
        "probe": classify(*known, random_state=0).scores()["accuracy"],
        "p1": near["precision@1%"],
        **found,
        **({"topics_kept": len(space.kept)} if space.kept is not None else {}),
    }


def cost() -> None:
    """Processor time and sizes: 20 Newsgroups at once, and the last tenth as an update of the other nine."""
    split = load("20news", 0)
    *most, last = split.fitting.slices()
    _ = kate.TextModel(8, verbose=False).fit(most[0][:300])  # compiles
    whole, row = one_fit(split, 0)
    model = kate.TextModel(random_state=0, device="cpu", verbose=False).fit(list(chain(*most)))
    watch = Watch()
    model.update(last, N_TOPICS)
    _ = model.topic_space_.tree
    watch.lap()
    found: Row = {"update": watch.facts(), "fit": {name: row[name] for name in watch.facts()}}
    with TemporaryDirectory() as folder:
        for name, one in (("fit", whole), ("update", model)):
            one.save(Path(folder, name))
            files = {file.name: file.stat().st_size for file in Path(folder, name).iterdir()}
            occurrences = one.topic_space_.sketch.occurrences
            assert occurrences is not None
            found[f"bytes_after_{name}"] = files | {"of_it_occurrences": occurrences.nbytes}
    say({"corpus": "20news", "what": "cost", "rule": RULE} | found)


def say(row: Row) -> None:
    rounded = {key: round(value, 4) if isinstance(value, float) else value for key, value in row.items()}
    print(json.dumps(rounded), flush=True)


def compare(names: list[str], seeds: list[int], sketches: list[str], choosing: bool) -> None:
    for name in names:
        for sketch in (SMALL_SKETCH[name] if kind == "small" else None for kind in sketches):
            for seed in seeds:
                split = load(name, seed)
                if choosing:
                    split = for_choosing(split, seed)
                facts = {"corpus": name, "seed": seed, "sketch": sketch or "whole"}
                if sketch is None:
                    model, row = one_fit(split, seed)
                    say(facts | row | score(model, split))
                with_sketch(sketch)
                model, row = ten_updates(split, seed)
                with_sketch(None)
                say(facts | row | score(model, split))


def orders(names: list[str], seeds: list[int]) -> None:
    """The same documents in other orders: how much scores vary that have nothing to do with updates.

    Where the tree of topics begins follows from the places of the documents, and not from the seed of the model. For
    one fit all documents are shuffled; for ten updates those of each slice, which stays a slice of its time.
    """
    for name in names:
        for order in seeds:
            random = np.random.default_rng(order)
            split = load(name, 0)
            n_documents = len(split.fitting.texts)
            bounds = np.linspace(0, n_documents, N_SLICES + 1).astype(int).tolist()
            drawn = {
                "one fit": random.permutation(n_documents),
                "ten updates": np.concatenate(
                    [random.permutation(np.arange(*two)) for two in pairwise(bounds)]
                ),
            }
            for learn in (one_fit, ten_updates):
                how = learn.__name__.replace("_", " ")
                rows = drawn[how]
                fitting = Part([split.fitting.texts[row] for row in rows], split.fitting.labels[rows])
                other = split._replace(fitting=fitting)
                model, row = learn(other, 0)
                facts = {"how": f"{how}, another order", "order": order}
                say({"corpus": name, "seed": 0, "sketch": "whole"} | row | facts | score(model, other))


_WHOLE = document_sketch._MOST_DOCUMENTS


def with_sketch(most: int | None) -> None:
    document_sketch._MOST_DOCUMENTS = most or _WHOLE


def table(path: Path) -> None:
    rows = [json.loads(line) for line in path.open(encoding="utf-8")]
    print(
        "| corpus | seeds | model | probe | P@1 % | NMI | NMI of the topics kept |\n|---|---|---|---|---|---|---|"
    )
    for name in dict.fromkeys(row["corpus"] for row in rows):
        own = [row for row in rows if row["corpus"] == name]
        for title in dict.fromkeys(map(_title, own)):
            some = [row for row in own if _title(row) == title]
            cells = [
                _mean(row.get(measure) for row in some) for measure in ("probe", "p1", "nmi", "nmi_kept")
            ]
            print(f"| {name} | {len(some)} | {title} | {' | '.join(cells)} |")


def _title(row: Row) -> str:
    sketch, epochs, replayed = row.get("sketch", "whole"), row.get("epochs"), row.get("replayed", 1)
    title: str = row["how"]
    title += "" if sketch == "whole" else f", sketch of {sketch:,}"
    title += "" if epochs is None else f", {epochs} epochs"
    title += "" if replayed == 1 else f", {replayed:g} old for a new one"
    return title + (f", {row['rule']}" if "rule" in row else "")


def _mean(values: Any) -> str:
    found = [value for value in values if value is not None]
    if not found:
        return "–"
    spread = f" ± {np.std(found, ddof=1):.3f}" if len(found) > 1 else ""
    return f"{np.mean(found):.3f}{spread}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=("choose", "test", "orders", "cost", "table"))
    parser.add_argument("names", nargs="*", default=list(CORPORA))
    parser.add_argument("--seeds", nargs="+", type=int, default=[*range(SEEDS)])
    parser.add_argument("--sketches", nargs="+", choices=("whole", "small"), default=["whole", "small"])
    given = parser.parse_args()
    if given.command == "table":
        table(Path(given.names[0]))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if given.command == "cost":
            cost()
        elif given.command == "orders":
            orders(given.names, given.seeds)
        else:
            compare(given.names, given.seeds, given.sketches, given.command == "choose")


if __name__ == "__main__":
    sys.exit(main())
