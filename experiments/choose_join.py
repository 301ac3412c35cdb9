"""How words and meaning are joined in a search: chosen on validation questions, told on the others.

    KATE_DATA=... python experiments/choose_join.py MODELS results.jsonl [JOIN]     # MODELS keeps fitted models
    python experiments/choose_join.py report results.jsonl

Validation: every second of Cranfield's questions, and one-word and two-word queries (metrics/queries.py) of every other
word on BBC News and film reviews. Test: the other questions and words. A line has the join, its
settings, the half, and the scores: nDCG@10 and MAP of the questions; the share of the ten best that hold the word of a
one-word query; the share of the ten best that have the label of the document that two words come from. All ranks are
exact. docs/how-search-works.md reads the results.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from numpy.typing import NDArray

import kate
from kate.research.metrics.queries import one_word_precision, two_word_precision
from kate.research.metrics.questions import judge_answers
from kate.search.postings import Postings
from kate.search.search_words import WordSequences, as_words, search_tokenizer

Floats = NDArray[np.float32]
CORPORA = ("cranfield", "bbc", "reviews")


def rows_of(name: str) -> list[dict[str, Any]]:
    with gzip.open(Path(os.environ["KATE_DATA"]) / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def documents_of(name: str) -> kate.Documents:
    if name == "20news":
        rows = []
        with tarfile.open(Path(os.environ["KATE_DATA"]) / "20news-bydate.tar.gz") as archive:
            for member in archive:
                if member.isfile() and (file := archive.extractfile(member)):
                    _, group, number = member.name.split("/")
                    rows.append(
                        {"text": file.read().decode("latin-1"), "id": f"{group}/{number}", "label": group}
                    )
    else:
        rows = [row for row in rows_of(name) if row.get("kind") != "query"]
    labels = [str(row.get("label")) for row in rows]
    return kate.Documents.from_texts([row["text"] for row in rows], [row["id"] for row in rows], labels)


def model_of(folder: Path, name: str, documents: kate.Documents) -> kate.TextModel:
    if not (folder / name).is_dir():
        kate.TextModel(128, random_state=0, verbose=False).fit(documents).save(folder / name)
    return kate.load(folder / name)


class Halves:
    """The two scores of every document for a query: by words and by meaning."""

    def __init__(self, model: kate.TextModel, documents: kate.Documents, tokenizer: Any = None) -> None:
        self.model = model
        self.tokenizer = tokenizer or search_tokenizer(model.vocabulary_.tokenizer)
        words = WordSequences.of(documents.texts, self.tokenizer)
        self.numbers = {stem: number for number, stem in enumerate(words.stems.to_list())}
        self.postings = Postings.of(words.sequences)
        self.vectors = model.encode(documents.texts, normalize=True)

    def of_text(self, text: str, stop_words: bool = False) -> tuple[Floats, Floats, Floats, int]:
        stop = frozenset() if stop_words else self.model.vocabulary_.tokenizer.stop_list
        stems = dict.fromkeys(stem for word, stem in as_words([text], self.tokenizer)[0] if word not in stop)
        numbers = [self.numbers[stem] for stem in stems if stem in self.numbers]
        vector = self.model.encode(text, normalize=True)
        return self.postings.scores(numbers), self.vectors @ vector, vector, len(numbers)

    def of_counts(self, Q: Any) -> Iterator[tuple[Floats, Floats, Floats, int]]:
        from kate.unit_rows import unit_rows

        stems = self.model.vocabulary_.words
        queries = unit_rows(self.model.encoder_.vectors(Q))
        meaning = queries @ self.vectors.T
        for row in range(Q.shape[0]):
            asked = [stems[column] for column in Q.indices[Q.indptr[row] : Q.indptr[row + 1]]]
            numbers = [self.numbers[stem] for stem in asked if stem in self.numbers]
            yield self.postings.scores(numbers), meaning[row], queries[row], len(numbers)


# words, meaning, the query's vector, how many words it has, the documents' vectors → scores
Join = Callable[[Floats, Floats, Floats, int, Floats], Floats]


def reciprocal(words: Floats, meaning: Floats, *, k: float, weight: float) -> Floats:
    def ranks(scores: Floats) -> Floats:
        order = np.argsort(-scores, kind="stable")
        found = np.empty(len(scores), np.float32)
        found[order] = np.arange(1, len(scores) + 1)
        return found

    by_words = np.where(words > 0, weight / (k + ranks(words)), 0)
    return (by_words + (1 - weight) / (k + ranks(meaning))).astype(np.float32)


def sum_to_best(words: Floats, meaning: Floats, *, weight: float) -> Floats:
    """Each half divided by its best score."""
    return weight * words / max(words.max(), 1e-9) + (1 - weight) * meaning / max(meaning.max(), 1e-9)


def sum_with_cosine(words: Floats, meaning: Floats, *, weight: float) -> Floats:
    """The words divided by their best score, and the cosine as it is."""
    return weight * words / max(words.max(), 1e-9) + (1 - weight) * meaning


def sum_of_z(words: Floats, meaning: Floats, *, weight: float) -> Floats:
    return weight * words / (words.std() + 1e-9) + (1 - weight) * meaning / (meaning.std() + 1e-9)


def product(words: Floats, meaning: Floats, *, weight: float) -> Floats:
    """A document without the words counts by its cosine alone."""
    return (1 + weight * words / max(words.max(), 1e-9)) * np.maximum(meaning, 0)


def second_look(
    words: Floats,
    meaning: Floats,
    query: Floats,
    n_words: int,
    vectors: Floats,
    *,
    weight: float,
    among: int,
    step: float,
    of_one_word: float = 0.0,
) -> Floats:
    """The sum to the best; then the query moves towards the mean of the best documents, and is asked once more.

    The words of a query of one word weigh ``of_one_word`` more, those of two half of that, and so on.
    """
    weight += of_one_word / max(n_words, 1)
    first = sum_to_best(words, meaning, weight=weight)
    best = np.argsort(-first, kind="stable")[:among]
    mean = first[best] @ vectors[best]
    moved = query + step * mean / max(np.linalg.norm(mean), 1e-9)
    return sum_to_best(words, vectors @ (moved / max(np.linalg.norm(moved), 1e-9)), weight=weight)


def joins() -> Iterator[tuple[dict[str, Any], Join]]:
    yield {"join": "words"}, lambda words, meaning, *_: words
    yield {"join": "meaning"}, lambda words, meaning, *_: meaning
    for weight in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
        for k in (5, 20, 60):
            yield (
                {"join": "reciprocal ranks", "k": k, "weight": weight},
                lambda w, m, *_, k=k, weight=weight: reciprocal(w, m, k=k, weight=weight),
            )
        for function in (sum_to_best, sum_with_cosine, sum_of_z):
            yield (
                {"join": function.__name__.replace("_", " "), "weight": weight},
                lambda w, m, *_, f=function, weight=weight: f(w, m, weight=weight),
            )
    for weight in (1.0, 3.0, 10.0):
        yield (
            {"join": "product", "weight": weight},
            lambda w, m, *_, weight=weight: product(w, m, weight=weight),
        )
    for weight in (0.3, 0.35, 0.4, 0.5):
        for among in (3, 5, 10):
            for step in (0.5, 1.0, 1.5):
                settings = {"weight": weight, "among": among, "step": step}
                yield {"join": "second look", **settings}, lambda *given, s=settings: second_look(*given, **s)
    for weight in (0.2, 0.25, 0.3):
        for of_one_word in (0.2, 0.25, 0.3):
            for step in (1.0, 1.5):
                settings = {"weight": weight, "among": 5, "step": step, "of_one_word": of_one_word}
                name = {"join": "second look by length", **settings}
                yield name, lambda *given, s=settings: second_look(*given, **s)


Tried = list[tuple[dict[str, Any], Join]]


def questions(folder: Path, name: str, tried: Tried) -> Iterator[dict[str, Any]]:
    documents = documents_of(name)
    place = {one: row for row, one in enumerate(documents.ids)}
    asked = [row for row in rows_of("cranfield") if row["kind"] == "query"]
    relevant = [[place[one] for one in row["relevant"] if one in place] for row in asked]
    halves = Halves(model_of(folder, "cranfield", documents), documents)
    for stop_words in (False, True):
        scores = [halves.of_text(row["text"], stop_words) for row in asked]
        for settings, join in tried:
            joined = np.array([join(*one, halves.vectors) for one in scores])
            for half, which in (
                ("validation", slice(0, None, 2)),
                ("test", slice(1, None, 2)),
                ("all", slice(None)),
            ):
                found = judge_answers(joined[which], relevant[which])
                yield {
                    "corpus": "cranfield", "half": half, **settings, "stop_words": stop_words,
                    "ndcg": round(found.ndcg_at_10, 4), "map": round(found.mean_average_precision, 4),
                }  # fmt: skip


def words_of_half(X: Any, half: str) -> Any:
    """The counts with every second word only, so that the halves ask for different words."""
    kept = np.zeros(X.shape[1], dtype=X.dtype)
    kept[int(half == "test") :: 2] = 1
    return sp.csr_array(X @ sp.diags_array(kept))


def short_queries(folder: Path, name: str, tried: Tried) -> Iterator[dict[str, Any]]:
    documents = documents_of(name)
    model = model_of(folder, name, documents)
    halves = Halves(model, documents)
    labels = np.array(documents.labels)
    X = model.vocabulary_.count(documents.texts)
    is_held_out = np.random.default_rng(0).random(len(documents)) < 0.2
    for half in ("validation", "test"):
        asked = words_of_half(X, half)
        for settings, join in tried:

            def similarity(Q: Any, join: Join = join) -> Floats:
                return np.array([join(*one, halves.vectors) for one in halves.of_counts(Q)])

            def not_held_out(Q: Any, ask: Any = similarity) -> Floats:
                return ask(Q)[:, ~is_held_out]

            two = two_word_precision(
                asked[~is_held_out], labels[~is_held_out], asked[is_held_out], labels[is_held_out], not_held_out
            )  # fmt: skip
            one = one_word_precision(asked, similarity)
            yield {
                "corpus": name,
                "half": half,
                **settings,
                "one_word": round(one, 4),
                "two_words": round(two, 4),
            }


def run(folder: Path, results: Path, only: str = "") -> None:
    """Try all joins, or those whose name begins with ``only``, and add their lines to the results."""
    folder.mkdir(exist_ok=True)
    tried = [(settings, join) for settings, join in joins() if settings["join"].startswith(only)]
    with results.open("a", encoding="utf-8") as file:
        for name in CORPORA:
            score = questions if name == "cranfield" else short_queries
            for row in score(folder, name, tried):
                file.write(json.dumps(row) + "\n")
            file.flush()
            print(name, flush=True)


def report(results: Path, half: str = "validation") -> None:
    """A row for each join: the questions, and the mean over the corpora of short queries."""
    table = pl.read_ndjson(results, infer_schema_length=None).filter(
        pl.col("half") == half, pl.col("stop_words").is_null() | ~pl.col("stop_words")
    )
    pl.Config.set_tbl_rows(100)
    print(
        table.group_by("join", "k", "weight", "among", "step", "of_one_word", maintain_order=True)
        .agg(
            pl.col("ndcg", "map", "one_word", "two_words").mean().round(4),
            pl.col("one_word").min().alias("least"),
        )
        .sort("ndcg", descending=True)
    )


if __name__ == "__main__":
    if sys.argv[1] == "report":
        report(Path(sys.argv[2]), *sys.argv[3:])
    else:
        run(Path(sys.argv[1]), Path(sys.argv[2]), *sys.argv[3:])
