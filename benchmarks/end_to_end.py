"""From raw 20 Newsgroups posts to document vectors: Kate's defaults beside what people would use instead, in one run.

    KATE_DATA=... python benchmarks/end_to_end.py [kate] [tfidf-svd] [tomotopy] [gensim] [--seeds 1] [--rounds 2]
    KATE_DATA=... python benchmarks/end_to_end.py kate tfidf-svd --lines 1000000    # short lines instead of posts

Every contender reads the texts of the 18,846 posts from the archive, learns from the 11,314 training posts with 20,000
words and 128 dimensions, and gives the vectors of both splits. Each has a process of its own: its seconds include
imports, counting, fitting and encoding, and its peak memory is that of the process. Kate's kernels are compiled before,
as they are after the first fit on a machine. Scores are computed after the clock has stopped: accuracy of a softmax
probe (its strength chosen on 1,000 of the training posts), precision when 1 % of the training posts are retrieved for
each test post, and the NPMI of the topics' ten words over all posts and over the test posts. Contenders take turns, and
the best of their rounds counts, so that a busy moment of the machine does not matter. With ``--lines`` they learn from
so many lines of ten words, cut from the posts; nothing is scored then. One JSON line for each, with its time as a
multiple of Kate's.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

N_TOPICS = 128
N_WORDS = 20_000
N_TOP = 10
N_LINE_WORDS = 10
N_VALIDATION = 1_000
SWEEPS = 500  # of tomotopy
PASSES = 10  # of gensim


class Learned(NamedTuple):
    """What a contender gives: vectors of the training and test posts, and its topics.

    ``describe`` is called after the clock has stopped. It gives counts of all posts, training posts first, in the
    contender's own vocabulary, and the words of the topics as columns of these counts (n, N_TOP).
    """

    train: Any  # (n_train, n_components)
    test: Any
    describe: Callable[[], tuple[Any, Any]]


def kate(train: list[str], test: list[str], seed: int) -> Learned:
    from scipy import sparse

    from kate import TextModel

    model = TextModel(N_TOPICS, vocabulary_size=N_WORDS, random_state=seed, verbose=False)
    vectors, test_vectors = model.fit_encode(train), model.encode(test)

    def describe() -> tuple[Any, Any]:
        topics = [topic.words[:N_TOP] for topic in model.topics() if len(topic.words) >= N_TOP]
        top_words = np.array([[model.vocabulary_.find(word) for word in words] for words in topics])
        return sparse.vstack([model.vocabulary_.count(train), model.vocabulary_.count(test)]), top_words

    return Learned(vectors, test_vectors, describe)


def tfidf_svd(train: list[str], test: list[str], seed: int) -> Learned:
    from scipy import sparse
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    tfidf = TfidfVectorizer(sublinear_tf=True, stop_words="english", max_features=N_WORDS)
    X = tfidf.fit_transform(train)
    svd = TruncatedSVD(N_TOPICS, random_state=seed)
    vectors, X_test = svd.fit_transform(X), tfidf.transform(test)
    top_words = np.argsort(-svd.components_, axis=1)[:, :N_TOP]
    return Learned(
        vectors, svd.transform(X_test), lambda: (sparse.vstack([X, X_test]).astype(bool) * 1, top_words)
    )


def tomotopy(train: list[str], test: list[str], seed: int) -> Learned:
    import tomotopy as tp
    from scipy import sparse

    from kate import Counts

    counts = Counts(N_WORDS)
    X, names = counts.fit_transform(train), counts.get_feature_names_out().tolist()
    X_test = counts.transform(test)
    model = tp.LDAModel(k=N_TOPICS, seed=seed + 1)
    for tokens in token_lists(X, names):
        model.add_doc(tokens)
    # 0 workers: all cores
    model.train(SWEEPS, workers=0)
    vectors = np.array([document.get_topic_dist() for document in model.docs])
    unseen = [model.make_doc(tokens) for tokens in token_lists(X_test, names)]
    test_vectors = np.array(model.infer(unseen, workers=0)[0])
    column = counts.vocabulary_
    top_words = [[column[word] for word, _ in model.get_topic_words(k, top_n=N_TOP)] for k in range(N_TOPICS)]
    return Learned(vectors, test_vectors, lambda: (sparse.vstack([X, X_test]), np.array(top_words)))


def gensim(train: list[str], test: list[str], seed: int) -> Learned:
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaMulticore
    from scipy import sparse

    from kate import Counts

    counts = Counts(N_WORDS)
    X = counts.fit_transform(train)
    X_test = counts.transform(test)
    names = dict(enumerate(counts.get_feature_names_out().tolist()))
    model = LdaMulticore(
        Sparse2Corpus(X, documents_columns=False),
        N_TOPICS,
        id2word=names,
        passes=PASSES,
        workers=len(os.sched_getaffinity(0)),
        random_state=seed,
    )
    vectors, test_vectors = (
        model.inference(Sparse2Corpus(part, documents_columns=False))[0] for part in (X, X_test)
    )
    top_words = np.argsort(-model.get_topics(), axis=1)[:, :N_TOP]
    shares = [part / part.sum(axis=1, keepdims=True) for part in (vectors, test_vectors)]
    return Learned(shares[0], shares[1], lambda: (sparse.vstack([X, X_test]), top_words))


def token_lists(X: Any, names: list[str]) -> Any:
    """The words of each document, repeated as often as they were counted, as topic samplers want them."""
    for start, end in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        columns = np.repeat(X.indices[start:end], X.data[start:end])
        yield [names[column] for column in columns]


CONTENDERS: dict[str, Callable[[list[str], list[str], int], Learned]] = {
    "kate": kate,
    "tfidf-svd": tfidf_svd,
    "tomotopy": tomotopy,
    "gensim": gensim,
}


def lines_of(texts: list[str], n_lines: int, seed: int) -> list[str]:
    """Lines of ten words from random places of the texts."""
    words = [text.split() for text in texts]
    words = [one for one in words if len(one) >= N_LINE_WORDS]
    random = np.random.default_rng(seed)
    which = random.integers(0, len(words), n_lines)
    where = random.random(n_lines)
    return [
        " ".join(words[i][(at := int(share * (len(words[i]) - N_LINE_WORDS + 1))) : at + N_LINE_WORDS])
        for i, share in zip(which.tolist(), where.tolist(), strict=True)
    ]


def measure(name: str, seed: int, is_scored: bool, n_lines: int) -> dict[str, Any]:
    """The time and memory of one contender, then its scores; runs in a process of its own."""
    from kate.research.datasets.newsgroups import read_posts

    archive = data_folder() / "20news-bydate.tar.gz"
    start = time.perf_counter()
    train, test = read_posts(archive)
    texts = [[post.text for post in part] for part in (train, test)]
    if n_lines:
        texts = [lines_of(texts[0], n_lines, seed), lines_of(texts[1], 1_000, seed)]
        start = time.perf_counter()
    read = time.perf_counter()
    learned = CONTENDERS[name](*texts, seed)
    done = time.perf_counter()
    peak = (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    )
    facts = {"seconds": done - start, "seconds_reading": read - start, "peak_gib": peak / 2**20}
    if n_lines:
        return facts | {"lines": n_lines}
    if not is_scored:
        return facts
    groups = [[post.group for post in part] for part in (train, test)]
    return facts | scores(learned, *groups, seed)


def scores(learned: Learned, train_groups: list[str], test_groups: list[str], seed: int) -> dict[str, float]:
    from kate.research.metrics.classification import classify
    from kate.research.metrics.retrieval import retrieve
    from kate.research.metrics.topic_scores import diversity, npmi

    order = np.random.default_rng(seed).permutation(len(train_groups))
    chosen_on, fitted_on = order[:N_VALIDATION], order[N_VALIDATION:]
    labels = np.array(train_groups)
    probe = classify(
        learned.train[fitted_on], labels[fitted_on], learned.train[chosen_on], labels[chosen_on],
        learned.test, test_groups,
    )  # fmt: skip
    found = retrieve(
        learned.train, labels, learned.test, test_groups, fractions=(0.01,), center=True, full=False
    )
    X, top_words = learned.describe()
    return {
        "accuracy": probe.accuracy,
        "precision@1%": found.precision[0.01],
        "npmi": npmi(top_words, X).mean,
        "npmi_test": npmi(top_words, X[len(train_groups) :]).mean,
        "diversity": diversity(top_words),
    }


def run_apart(name: str, seed: int, is_scored: bool, n_lines: int, limit: float) -> dict[str, Any]:
    command = [sys.executable, __file__, name, "--seed", str(seed), "--lines", str(n_lines)]
    command += [] if is_scored else ["--unscored"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {limit:g} s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("contenders", nargs="*", default=list(CONTENDERS), help=f"of {', '.join(CONTENDERS)}")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2, help="of which the best counts")
    parser.add_argument("--lines", type=int, default=0, help="learn from so many lines of ten words instead")
    parser.add_argument("--limit", type=float, default=900, help="seconds that a contender may take")
    parser.add_argument("--seed", type=int, help=argparse.SUPPRESS)  # the child's
    parser.add_argument("--unscored", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.seed is not None:
        print(
            json.dumps(
                measure(arguments.contenders[0], arguments.seed, not arguments.unscored, arguments.lines)
            )
        )
        return
    compile_kernels()
    for seed in range(arguments.seeds):
        best: dict[str, dict[str, Any]] = {}
        for turn in range(arguments.rounds):
            for name in arguments.contenders:
                run = run_apart(name, seed, turn == 0, arguments.lines, arguments.limit)
                if turn == 0 or "error" in run:
                    best[name] = run
                elif run["seconds"] < best[name].get("seconds", 0.0):
                    # the scores stay those of the first round
                    best[name] |= run
        for name, run in best.items():
            if "seconds" in best.get("kate", {}) and "seconds" in run:
                run["times_kate"] = run["seconds"] / best["kate"]["seconds"]
            rounded = {
                key: round(value, 4) if isinstance(value, float) else value for key, value in run.items()
            }
            print(
                json.dumps({"benchmark": "end_to_end", "contender": name, "seed": seed} | rounded), flush=True
            )


def compile_kernels() -> None:
    from scipy import sparse

    from kate import KATE

    # as many words as it takes for the defaults to draw a sample of them
    KATE(N_TOPICS, max_epochs=1, verbose=False).fit(sparse.eye(600, 6_000, format="csr"))


def data_folder() -> Path:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("KATE_DATA", beside))


if __name__ == "__main__":
    main()
