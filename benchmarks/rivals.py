"""What we wrote ourselves of the rivals, beside the libraries' own, in the same run. Needs the extra ``paper``.

    KATE_DATA=... python benchmarks/rivals.py                   # a few minutes
    KATE_DATA=... python benchmarks/rivals.py nmf doc2vec       # these alone
    python benchmarks/rivals.py --quick                         # few documents, one round: shows that it runs

Prints one JSON line per part: processor seconds of our code and of the library's for the same work on the same
documents, one thread each, and how many times as fast ours is. The documents are those of 20 Newsgroups if KATE_DATA
has them, made-up ones otherwise. The tests in tests/research/rivals show that both find the same.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from threadpoolctl import threadpool_limits

from kate.text.sequences import Sequences

N_WORDS = 2_000
ROUNDS = 2
Work = Callable[[], object]


@dataclass(frozen=True)
class Data:
    """Documents to fit on and documents to encode, as counts and as sequences of words."""

    name: str
    fit: csr_matrix
    encode: csr_matrix
    fit_sequences: Sequences
    encode_sequences: Sequences


@dataclass(frozen=True)
class Case:
    """One part: our way and the library's."""

    part: str
    library: str
    dimensions: int
    documents: int
    ours: Work
    theirs: Work


def load(n_fit: int, n_encode: int) -> Data:
    """20 Newsgroups where it is, or else documents whose words follow Zipf's law."""
    from kate.research.datasets import list_datasets, load_dataset

    here = {row.name for row in list_datasets(data_folder()) if row.is_here}
    if "20news" in here:
        corpus = load_dataset("20news", vocabulary_size=N_WORDS, data_home=data_folder())
        counts, sequences, name = csr_matrix(corpus.X), corpus.sequences, "20news"
        # an order drawn once: the archive is sorted by newsgroup
        rows = np.random.default_rng(0).permutation(corpus.fitting)[:n_fit]
        others = corpus.test[:: max(1, len(corpus.test) // n_encode)][:n_encode]
    else:
        counts, name = made_up(n_fit + n_encode), "made up"
        sequences = Sequences.of_counts(counts)
        rows, others = np.arange(n_fit), np.arange(n_fit, n_fit + n_encode)
    return Data(name, counts[rows], counts[others], sequences.take(rows), sequences.take(others))


def data_folder() -> Path | None:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return None if "KATE_DATA" in os.environ or not beside.is_dir() else beside


def made_up(n_docs: int) -> csr_matrix:
    random = np.random.default_rng(0)
    shares = 1 / np.arange(1, N_WORDS + 1)
    rows = np.repeat(np.arange(n_docs), random.integers(20, 200, size=n_docs))
    columns = random.choice(N_WORDS, size=rows.size, p=shares / shares.sum())
    counts = csr_matrix((np.ones(rows.size, np.int32), (rows, columns)), shape=(n_docs, N_WORDS))
    counts.sum_duplicates()
    return counts


def lda(data: Data, dimensions: int, quick: bool) -> Iterator[Case]:
    """Training with the compiled iteration for documents, by both libraries, and inference with fixed topics."""
    from gensim.matutils import Sparse2Corpus
    from gensim.models import LdaModel
    from sklearn.decomposition import LatentDirichletAllocation

    from kate.research.rivals.lda import GensimLDA, SklearnLDA, infer_proportions

    passes = 1 if quick else 2
    names = {column: str(column) for column in range(N_WORDS)}
    documents = list(Sparse2Corpus(data.fit, documents_columns=False))

    def gensim() -> Any:
        return LdaModel(
            documents, dimensions, names, passes=passes, chunksize=2000, eval_every=None, random_state=0
        )

    def sklearn() -> Any:
        model = LatentDirichletAllocation(
            dimensions,
            learning_method="online",
            batch_size=256,
            total_samples=data.fit.shape[0],
            max_doc_update_iter=50,
            random_state=0,
        )
        for _ in range(passes):
            model.partial_fit(floats)
        return model

    floats = data.fit.astype(np.float32)
    ours = GensimLDA(dimensions, passes=passes, random_state=0)
    n_fit, n_encode = data.fit.shape[0], data.encode.shape[0]
    yield Case("LDA, training", "gensim", dimensions, n_fit, lambda: ours.fit(data.fit), gensim)
    other = SklearnLDA(dimensions, passes=passes, random_state=0)
    yield Case("LDA, training", "scikit-learn", dimensions, n_fit, lambda: other.fit(data.fit), sklearn)

    by_gensim, by_sklearn = gensim(), sklearn()
    ours.fit(data.fit)
    unseen, unseen_floats = (
        list(Sparse2Corpus(data.encode, documents_columns=False)),
        data.encode.astype(np.float32),
    )

    def infer() -> Any:
        return infer_proportions(data.encode, ours.strengths_, ours.prior_)

    yield Case("LDA, inference", "gensim", dimensions, n_encode, infer, lambda: by_gensim.inference(unseen))
    yield Case(
        "LDA, inference",
        "scikit-learn",
        dimensions,
        n_encode,
        infer,
        lambda: by_sklearn.transform(unseen_floats),
    )


def nmf(data: Data, dimensions: int, quick: bool) -> Iterator[Case]:
    """Coordinate descent that keeps the gradient, beside scikit-learn's of the same passes."""
    from sklearn import decomposition
    from sklearn.exceptions import ConvergenceWarning

    from kate.research.rivals.nmf import NMF
    from kate.research.rivals.weighting import inverse_document_frequencies, weigh

    warnings.simplefilter("ignore", ConvergenceWarning)
    idf = inverse_document_frequencies(data.fit)
    weights, unseen = weigh(data.fit, idf), weigh(data.encode, idf)
    passes = 10 if quick else 50

    def sklearn() -> Any:
        return decomposition.NMF(dimensions, init="nndsvda", max_iter=passes, random_state=0).fit(weights)

    ours = NMF(dimensions, max_iter=passes, random_state=0)
    n_fit, n_encode = data.fit.shape[0], data.encode.shape[0]
    yield Case("NMF, fit", "scikit-learn", dimensions, n_fit, lambda: ours.fit(data.fit), sklearn)
    ours.fit(data.fit)
    theirs = sklearn()
    # without a tolerance, as a document's vector must not depend on the documents beside it
    theirs.max_iter, theirs.tol = 50, 0.0
    yield Case(
        "NMF, encoding",
        "scikit-learn",
        dimensions,
        n_encode,
        lambda: ours.transform(data.encode),
        lambda: theirs.transform(unseen),
    )


def doc2vec(data: Data, dimensions: int, quick: bool) -> Iterator[Case]:
    """Inference of many documents at once, beside gensim's ``infer_vector`` for one after the other."""
    from kate.research.rivals.doc2vec import Doc2Vec

    for method in ("dm-concat", "dbow"):
        epochs = 2 if quick else 5
        model = Doc2Vec(dimensions, method=method, epochs=1, inference_epochs=epochs, random_state=0)
        model.fit(data.fit_sequences)
        network = model._trained_network()
        network.random.seed(0)
        texts = [[str(word) for word in document] for document in data.encode_sequences]

        def infer_one_by_one(network: Any = network, texts: Any = texts, epochs: int = epochs) -> Any:
            return [network.infer_vector(words, epochs=epochs) for words in texts]

        yield Case(
            f"Doc2Vec, inference, {method}",
            "gensim",
            dimensions,
            len(texts),
            lambda model=model: model.transform(data.encode_sequences),
            infer_one_by_one,
        )


PARTS = {"lda": lda, "nmf": nmf, "doc2vec": doc2vec}


def best_seconds(works: dict[str, Work], rounds: int) -> dict[str, float]:
    """The best of some rounds in which both take turns; processor time, which other programs change little."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            start = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - start)
    return best


def measure(case: Case, data: Data, rounds: int) -> dict[str, object]:
    case.ours()  # compiles, or loads what was compiled
    best = best_seconds({"ours": case.ours, "library": case.theirs}, rounds)
    return {
        "benchmark": "rivals",
        "part": case.part,
        "library": case.library,
        "data": data.name,
        "documents": case.documents,
        "words": N_WORDS,
        "dimensions": case.dimensions,
        "ours_s": round(best["ours"], 4),
        "library_s": round(best["library"], 4),
        "times_as_fast": round(best["library"] / best["ours"], 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "parts", nargs="*", default=list(PARTS), help=f"of {', '.join(PARTS)}; all by default"
    )
    parser.add_argument("--quick", action="store_true", help="few documents, 20 dimensions, one round")
    options = parser.parse_args()
    for name in options.parts:
        if name not in PARTS:
            parser.error(f"there is no part {name!r}; choose from {', '.join(PARTS)}")
    data = load(300, 100) if options.quick else load(4_000, 4_000)
    rounds, sizes = (1, (20,)) if options.quick else (ROUNDS, (20, 128))
    with threadpool_limits(1):
        for part, dimensions in itertools.product(options.parts, sizes):
            for case in PARTS[part](data, dimensions, options.quick):
                print(json.dumps(measure(case, data, rounds)), flush=True)


if __name__ == "__main__":
    main()
