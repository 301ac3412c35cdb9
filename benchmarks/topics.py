"""Topics on test documents: KATE beside NMF, LDA, LSA + k-means, BERTopic and k-means on MiniLM, 20 topics each.

    KATE_DATA=... python benchmarks/topics.py [20news] [reuters21578] [...] [--seeds 3] [--topics 20]
    KATE_DATA=... python benchmarks/topics.py --bertopic ENV/bin/python --cache FOLDER    # BERTopic too
    KATE_DATA=... python benchmarks/topics.py 20news --models kate,nmf                    # some of the models

BERTopic runs in an environment of its own, by benchmarks/bertopic_rival.py, which says how to make one; without
``--bertopic`` it is left out, and a line says so. Models are fitted on the training documents without the validation
documents, words are chosen on the same, and everything is scored on test documents. One JSON line for each corpus,
model and seed; then one with the means, the agreement between seeds, and each score as a multiple of KATE's; at the end
the time of KATE's topics on 20 Newsgroups. experiments/topics_table.py makes tables of them.

nmi, ari, purity      topics beside labels; Reuters: documents of one label; reviews are good or bad, which is no topic
npmi, coverage        of ten words in test documents, and how many of these hold one of their topic's words
diversity             share of distinct words
majority_label        how often the majority label of a document's topic is its label; strongest_share: how sure it was
seconds               to fit (with the embedding, for MiniLM) and to find topics and words; seconds_estimated: where the
                      embeddings came from another machine, from the time that a sample of the texts took
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from kate import TextModel
from kate.research.datasets.corpus import Corpus
from kate.research.evaluation import evaluate
from kate.research.metrics.clusters import adjusted_rand, compare_labels
from kate.research.metrics.topic_quality import judge_topics
from kate.research.registry import make_model
from kate.topics.topic_words import choose_words
from kate.unit_rows import unit_rows
from topic_corpora import LONG, SHORT, topic_corpus

MODELS = {"kate": "KATE", "nmf": "NMF", "lda-tomotopy": "LDA", "lsa": "LSA + k-means"}
N_DIMENSIONS, N_TOP = 128, 10
RATIOS = ("nmi", "ari", "purity", "coverage", "diversity", "seconds")  # not of npmi, which may be negative
Row = dict[str, Any]


def of_model(corpus: Corpus, name: str, seed: int, n_topics: int) -> tuple[Row, list[int]]:
    model = make_model(name, N_DIMENSIONS, random_state=seed)
    model.set_params(**({"verbose": False} if name == "kate" else {}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = evaluate(corpus, model, ["clusters", "topics"], random_state=seed, n_topics=n_topics)
    if run.errors:
        raise RuntimeError(f"{corpus.name}, {name}: {run.errors}")
    topics = dict(run.scores["topics"])
    seconds = run.seconds["fit"] + topics.pop("seconds")
    row = run.scores["clusters"] | topics | {"seconds": seconds, "seconds_fit": run.seconds["fit"]}
    return row, [int(one) for one in run.details["topics"]["documents"]]


class PreTrained:
    """What bertopic_rival.py found of one corpus, and k-means on its embeddings."""

    def __init__(self, corpus: Corpus, python: str, cache: Path, n_seeds: int, n_topics: int) -> None:
        self.corpus, self.cache, self.n_topics = corpus, cache, n_topics
        assert corpus.texts is not None
        texts = {part: [corpus.texts[row] for row in corpus.rows(part)] for part in ("fitting", "test")}
        cache.mkdir(parents=True, exist_ok=True)
        if not all(self._path(seed).exists() for seed in range(n_seeds)):
            (cache / f"{corpus.name}.json").write_text(json.dumps(texts), encoding="utf-8")
            command = [python, "-W", "ignore", str(Path(__file__).with_name("bertopic_rival.py")), str(cache)]
            command += [corpus.name, "--seeds", str(n_seeds), "--topics", str(n_topics)]
            subprocess.run(command, check=True)
        self.vectors = dict(np.load(cache / f"{corpus.name}.npz"))
        self.test = corpus.X[corpus.test]
        self.known = np.diff(self.test.indptr) > 0
        labels = corpus.labels[corpus.test]
        self.single, self.labels = _single(labels)

    def _path(self, seed: int) -> Path:
        return self.cache / f"{self.corpus.name}.{seed}.json"

    def rows(self, seed: int) -> dict[str, tuple[Row, list[int]]]:
        found = json.loads(self._path(seed).read_text(encoding="utf-8"))
        words = [self._columns(own) for own in found["words"]]
        seconds = float(self.vectors["fitting_seconds"]) + found["seconds_fit"]  # NaN: embedded elsewhere
        times = {"seconds": seconds, "seconds_fit": found["seconds_fit"]}
        sample = self.cache / f"{self.corpus.name}.sample.json"
        if np.isnan(seconds) and sample.exists():
            estimate = json.loads(sample.read_text(encoding="utf-8"))["estimated_seconds"]
            times["seconds_estimated"] = estimate + found["seconds_fit"]
        facts = times | {"n_topics": len(words), "outliers": float(np.mean(np.array(found["topics"]) < 0))}
        # as it is, outliers are one more cluster, without words; then with every document in a topic
        result = {
            "BERTopic": self._judged(np.array(found["topics"]), words, facts),
            "BERTopic, outliers assigned": self._judged(np.array(found["assigned"]), words, facts),
        }
        result["MiniLM + k-means"] = self._k_means(seed)
        return result

    def _k_means(self, seed: int) -> tuple[Row, list[int]]:
        from sklearn.cluster import KMeans

        start = time.perf_counter()
        means = KMeans(self.n_topics, n_init=3, random_state=seed).fit(unit_rows(self.vectors["fitting"]))
        present = sp.csr_array(self.corpus.X[self.corpus.fitting], dtype=np.float32)
        present.data = np.ones_like(present.data)
        found = choose_words(present, sp.csc_array(present), means.labels_.astype(np.int64), self.n_topics)
        own = time.perf_counter() - start
        words = [one.columns[:N_TOP] for one in found]
        times = {"seconds": own + float(self.vectors["fitting_seconds"]), "seconds_fit": own}
        return self._judged(means.predict(unit_rows(self.vectors["test"])), words, times)

    def _judged(self, topics: Any, words: list[Any], facts: Row) -> tuple[Row, list[int]]:
        usable = self.known & self.single
        agreement = compare_labels(topics[usable], self.labels[usable]).scores()
        quality = judge_topics(words, np.where(self.known, topics, -1), self.test).scores()
        return agreement | quality | facts, np.where(self.known, topics, -2).tolist()

    def _columns(self, words: list[str]) -> Any:
        """The first ten words that the vocabulary knows, each once."""
        found = dict.fromkeys(self.corpus.vocabulary.find(word) for word in words)
        return np.array([column for column in found if column is not None][:N_TOP], dtype=np.int64)


def _single(labels: Any) -> tuple[Any, Any]:
    if isinstance(labels, np.ndarray):
        return np.ones(len(labels), dtype=bool), labels
    has_one = np.diff(labels.indptr) == 1
    return has_one, np.asarray(labels.argmax(axis=1)).reshape(-1)


def say(line: Row) -> None:
    rounded = {
        key: (None if np.isnan(value) else round(value, 4)) if isinstance(value, float) else value
        for key, value in line.items()
    }
    print(json.dumps({"benchmark": "topics"} | rounded), flush=True)


def measure(corpus: Corpus, arguments: argparse.Namespace) -> None:
    runs: dict[str, list[tuple[Row, list[int]]]] = {}
    for name in [name for name in MODELS if name in arguments.models.split(",")]:
        title = MODELS[name]
        for seed in range(arguments.seeds):
            runs.setdefault(title, []).append(of_model(corpus, name, seed, arguments.topics))
            say({"corpus": corpus.name, "model": title, "seed": seed} | runs[title][-1][0])
    if arguments.bertopic:
        rival = PreTrained(corpus, arguments.bertopic, arguments.cache, arguments.seeds, arguments.topics)
        for seed in range(arguments.seeds):
            for title, found in rival.rows(seed).items():
                runs.setdefault(title, []).append(found)
                say({"corpus": corpus.name, "model": title, "seed": seed} | found[0])
    means: dict[str, Row] = {}
    for title, of in runs.items():
        means[title] = {key: float(np.mean([row[key] for row, _ in of])) for key in of[0][0]}
        pairs = [adjusted_rand(one, other) for (_, one), (_, other) in combinations(of, 2)]
        means[title]["seeds_ari"] = float(np.mean(pairs)) if pairs else float("nan")
        ratios = {
            f"{key}_of_kates": means[title][key] / means["KATE"][key] for key in RATIOS if "KATE" in means
        }
        say({"corpus": corpus.name, "model": title, "seeds": len(of)} | means[title] | ratios)


def times(n_topics: int) -> None:
    """All topics of 20 Newsgroups after a fit, with their words and names; then cuts at other numbers."""
    corpus = topic_corpus("20news")
    assert corpus.texts is not None
    model = TextModel(N_DIMENSIONS, verbose=False).fit([corpus.texts[row] for row in corpus.train])
    start = time.perf_counter()
    assert len(list(model.topics(n_topics))) == n_topics
    first = time.perf_counter() - start
    space = model._fitted().topics
    cuts = []
    for number in (10, 30, 40, 60, 100) * 5:
        space._cuts.clear()
        start = time.perf_counter()
        space.cut(number)
        cuts.append(time.perf_counter() - start)
    say({"what": "topics of 20 Newsgroups after the fit", "seconds": first, "must": 3.0, "holds": first < 3})
    cut = float(np.median(np.array(cuts).reshape(5, -1).min(axis=0)))  # the best of five, of each number
    say({"what": "a cut at another number", "seconds": cut, "must": 0.05, "holds": cut < 0.05})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    names = (*LONG, *SHORT)
    parser.add_argument("corpora", nargs="*", default=list(names), help=f"of {'; '.join(names)}")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--models", default=",".join(MODELS), help=f"of {', '.join(MODELS)}")
    parser.add_argument("--bertopic", metavar="PYTHON", help="of an environment that has BERTopic")
    parser.add_argument("--cache", type=Path, default=Path("bertopic-cache"), help="for its embeddings")
    parser.add_argument("--times", action="store_true", help="only the times of KATE's topics")
    arguments = parser.parse_args()
    if not arguments.bertopic:
        print("BERTopic is left out: --bertopic names an environment that has it", file=sys.stderr)
    for name in [] if arguments.times else arguments.corpora:
        measure(topic_corpus(name), arguments)
    if "kate" in arguments.models.split(","):
        times(arguments.topics)


if __name__ == "__main__":
    main()
