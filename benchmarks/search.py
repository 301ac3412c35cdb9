"""Search as users ask: how good its answers are, how fast among a million documents, and whether both stores agree.

    KATE_DATA=... python benchmarks/search.py quality FOLDER       # Cranfield's questions, one-word queries
    KATE_DATA=... python benchmarks/search.py million FOLDER       # 1,000,000 short lines: an hour the first time
    KATE_DATA=... python benchmarks/search.py lance FOLDER         # the same lines in the store of lance
    KATE_DATA=... python benchmarks/search.py agreement FOLDER     # 500 queries to both stores, 20 Newsgroups
    KATE_DATA=... python benchmarks/search.py million FOLDER --lines 20000     # a quick look

FOLDER keeps models and indexes, so that a second run only measures. Prints JSON lines with what is compared and ratios.
A query takes the whole way: reading it, both halves, the join, the documents of ten hits with their passages. The first
query is not counted: it maps files and checks blocks ("first_ms"). Lines of ten words are cut from 20 Newsgroups
as in end_to_end.py; queries are one to four words of a line.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

import kate
from end_to_end import lines_of
from kate.search.lance_store import LanceStore
from kate.search.query import Query
from kate.search.store import Selection
from kate.threads import thread_count

sys.path.insert(0, str(Path(__file__).parents[1] / "experiments"))
from choose_join import documents_of, model_of, rows_of, words_of_half  # the same corpora as were chosen on

ROUNDS = 3
N_QUERIES = 100


def say(**facts: Any) -> None:
    print(json.dumps(facts, ensure_ascii=False), flush=True)


def quality(folder: Path, options: argparse.Namespace) -> None:
    questions(folder)
    for name in ("bbc", "reviews", "20news"):
        one_word(folder, name)


def questions(folder: Path) -> None:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer

    from kate.research.metrics.questions import judge_answers
    from kate.research.rivals.bm25 import BM25

    documents = documents_of("cranfield")
    place = {one: row for row, one in enumerate(documents.ids)}
    asked = [row for row in rows_of("cranfield") if row["kind"] == "query"]
    relevant = [[place[one] for one in row["relevant"] if one in place] for row in asked]
    model = model_of(folder, "cranfield", documents)
    index = kate.Index.build(model, documents)
    X, Q = (model.vocabulary_.count(texts) for texts in (documents.texts, [row["text"] for row in asked]))
    tfidf = TfidfTransformer(sublinear_tf=True).fit(X)
    svd = TruncatedSVD(128, random_state=0).fit(tfidf.transform(X))
    lsa = [unit(svd.transform(tfidf.transform(counts))) for counts in (X, Q)]
    found = {"bm25": BM25().fit(X).similarities(Q), "lsa": lsa[1] @ lsa[0].T}
    for by in ("words", "meaning", "both"):
        found[by] = np.stack([ranks(index, row["text"], by) for row in asked])
    for half, which in (("validation", slice(0, None, 2)), ("test", slice(1, None, 2)), ("all", slice(None))):
        scores = {name: judge_answers(one[which], relevant[which]).scores() for name, one in found.items()}
        for measure in ("ndcg@10", "map"):
            rest = {name: round(one[measure], 4) for name, one in scores.items()}
            best_other = max(value for name, value in rest.items() if name != "both")
            say(
                benchmark="cranfield",
                half=half,
                measure=measure,
                **rest,
                ratio=round(rest["both"] / best_other, 4),
            )


def ranks(index: kate.Index, text: str, by: Any) -> Any:
    """1 / rank of every document, as ``index.search`` orders them, without reading their texts."""
    query = Query.read(text, index._stems.tokenizer, index.model.vocabulary_.tokenizer.stop_list)
    known = index.store.known_stems(list(query.words))
    found = index._ranked(query, known, len(index), by, Selection(), exact=True)
    scores = np.zeros(len(index))
    scores[found.rows] = 1 / np.arange(1, len(found.rows) + 1)
    return scores


def unit(vectors: Any) -> Any:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def one_word(folder: Path, name: str) -> None:
    """The share of the ten best that hold the word, for 300 words that the choice of the join did not see."""
    from kate.research.metrics.queries import one_word_precision

    documents = documents_of(name)
    model = model_of(folder, name, documents)
    index = kate.Index.build(model, documents)
    X = words_of_half(model.vocabulary_.count(documents.texts), "test")
    place = {one: row for row, one in enumerate(documents.ids)}

    def similarity(by: str) -> Callable[[Any], Any]:
        def scores(Q: Any) -> Any:
            found = np.zeros((Q.shape[0], len(documents)), np.float32)
            for row in range(Q.shape[0]):
                [column] = Q.indices[Q.indptr[row] : Q.indptr[row + 1]]
                for hit in index.search(model.vocabulary_.readable[column], by=by):
                    found[row, place[hit.id]] = 1 / hit.rank
            return found

        return scores

    shares = {by: round(one_word_precision(X, similarity(by)), 4) for by in ("both", "words", "meaning")}
    say(benchmark="one word", corpus=name, **shares, ratio=round(shares["both"] / shares["meaning"], 3))


def corpus_of_lines(n_lines: int) -> kate.Documents:
    texts = documents_of("20news").texts.to_list()
    lines = lines_of(texts, n_lines, 0)
    return kate.Documents.from_texts(lines, titles=[f"line {number}" for number in range(n_lines)])


def model_of_lines(folder: Path, documents: kate.Documents) -> kate.TextModel:
    if not (folder / "lines-model").is_dir():
        some = documents.texts.head(50_000).to_list()
        kate.TextModel(128, random_state=0, max_epochs=3, verbose=False).fit(some).save(
            folder / "lines-model"
        )
    return kate.load(folder / "lines-model")


def some_queries(documents: kate.Documents, n_queries: int, seed: int = 1) -> list[str]:
    rng = np.random.default_rng(seed)
    queries: list[str] = []
    for row in rng.permutation(len(documents))[: 4 * n_queries].tolist():
        words = [word for word in documents.texts[row].split() if word.isalpha() and len(word) > 3]
        if len(words) >= 4:
            queries.append(" ".join(words[: rng.integers(1, 5)]))
    return queries[:n_queries]


def milliseconds(index: kate.Index, queries: Iterable[str], **options: Any) -> tuple[float, dict[str, float]]:
    """The first query; and the median and the slowest twentieth of the best of some rounds, one query at a time.

    cpu_ms is the median of what all threads worked, which other programs change less.
    """
    times: dict[str, list[float]] = {}
    worked: dict[str, list[float]] = {}
    start = time.perf_counter()
    index.search("first question", **options)
    first = time.perf_counter() - start
    for _ in range(ROUNDS):
        for query in queries:
            start, cpu = time.perf_counter(), time.process_time()
            try:
                index.search(query, **options)
            except ValueError:  # a word that the model does not know, by meaning alone
                continue
            times.setdefault(query, []).append(1000 * (time.perf_counter() - start))
            worked.setdefault(query, []).append(1000 * (time.process_time() - cpu))
    best = sorted(min(of_query) for of_query in times.values())
    return round(1000 * first, 1), {
        "p50_ms": round(statistics.median(best), 2),
        "p95_ms": round(best[int(0.95 * len(best))], 2),
        "cpu_ms": round(statistics.median(min(of_query) for of_query in worked.values()), 2),
    }


def million(folder: Path, options: argparse.Namespace) -> None:
    documents = corpus_of_lines(options.lines)
    model = model_of_lines(folder, documents)
    queries = some_queries(documents, N_QUERIES)
    for name, settings in (("graph", {"ann": True}), ("int8", {"int8": True})):
        place = folder / f"lines-{name}-{options.lines}"
        if options.only in (None, name) and not place.is_dir():
            start = time.perf_counter()
            made = kate.Index.build(model, documents, **settings)
            made.save(place)
            size = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
            say(
                benchmark="build", store=name, documents=options.lines, seconds=round(time.perf_counter() - start, 1),
                megabytes=round(size / 1e6), words=len(made.store.words),
            )  # fmt: skip
            del made
    for name, kept, asked, limit in (
        ("graph", "graph", {}, 20), ("exact", "graph", {"exact": True}, 150), ("int8", "int8", {}, 150),
    ):  # fmt: skip
        if options.only not in (None, kept):
            continue
        start = time.perf_counter()
        index = kate.Index.load(folder / f"lines-{kept}-{options.lines}")
        opened = 1000 * (time.perf_counter() - start)
        facts = (
            getattr(index.graph, "facts", None) if name == "graph" else getattr(index.vectors, "facts", None)
        )
        for by in ("both", "words", "meaning"):
            first, times = milliseconds(index, queries, by=by, **asked)
            say(
                benchmark="million", store=name, documents=options.lines, by=by, threads=thread_count(None),
                open_ms=round(opened, 1), first_ms=first, **times, recall=getattr(facts, "recall_at_10", None),
                limit_ms=limit, ratio=round(times["p50_ms"] / limit, 3),
            )  # fmt: skip


def lance(folder: Path, options: argparse.Namespace) -> None:
    documents = corpus_of_lines(options.lines)
    model = model_of_lines(folder, documents)
    place = folder / f"lines-lance-{options.lines}"
    if not place.is_dir():
        start = time.perf_counter()
        kate.Index.build(model, documents).save(place, store="lance")
        say(
            benchmark="build",
            store="lance",
            documents=options.lines,
            seconds=round(time.perf_counter() - start, 1),
        )
    index = kate.Index.load(place)
    for by in ("both", "words", "meaning"):
        first, times = milliseconds(index, some_queries(documents, 30), by=by)
        say(
            benchmark="million", store="lance", documents=options.lines, by=by, threads=thread_count(None),
            first_ms=first, **times, limit_ms=150, ratio=round(times["p50_ms"] / 150, 3),
        )  # fmt: skip
    new = corpus_of_lines(1_000)
    version = int(time.time())
    added = kate.Documents.from_texts(new.texts, ids=[f"{version}-{number}" for number in range(1_000)])
    start = time.perf_counter()
    index.add(added)
    seconds = time.perf_counter() - start
    say(
        benchmark="add 1,000",
        store="lance",
        documents=len(index),
        seconds=round(seconds, 3),
        ratio=round(seconds / 2, 3),
    )
    start = time.perf_counter()
    index.remove(added.ids)
    say(
        benchmark="remove 1,000",
        store="lance",
        documents=len(index),
        seconds=round(time.perf_counter() - start, 3),
    )
    start = time.perf_counter()
    index.compact()
    say(
        benchmark="compact",
        store="lance",
        documents=len(index),
        seconds=round(time.perf_counter() - start, 3),
    )


def agreement(folder: Path, options: argparse.Namespace) -> None:
    documents = documents_of("20news")
    index = kate.Index.build(model_of(folder, "20news", documents), documents)
    place = folder / "20news-lance"
    shutil.rmtree(place, ignore_errors=True)
    index.save(place, store="lance")
    other = kate.Index.load(place)
    assert isinstance(other.store, LanceStore)
    for by in ("both", "words", "meaning"):
        same = asked = 0
        for query in some_queries(documents, 500):
            try:
                found = [[hit.id for hit in one.search(query, by=by, exact=True)] for one in (index, other)]
            except ValueError:
                continue
            asked += 1
            same += found[0] == found[1]
        say(
            benchmark="agreement",
            by=by,
            queries=asked,
            same_top_ten=round(same / asked, 4),
            ratio=round(same / asked / 0.99, 4),
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    runs = {one.__name__: one for one in (quality, million, lance, agreement)}
    parser.add_argument("what", choices=list(runs))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--only", choices=["int8", "graph"])
    options = parser.parse_args()
    options.folder.mkdir(exist_ok=True)
    if "KATE_DATA" not in os.environ:
        parser.error("KATE_DATA names the folder with the data sets")
    runs[options.what](options.folder, options)


if __name__ == "__main__":
    main()
