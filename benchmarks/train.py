"""One training step of KATE beside plain dense PyTorch with autograd, in the same run. Needs the extra ``gpu`` (torch).

    python benchmarks/train.py

Prints one JSON line for the time of compiling with an empty cache, and one per shape: milliseconds of our step, of
PyTorch's step, of the three matrix products that a dense decoder needs, and their ratios. Both train on the same
documents from the same weights; the losses of the first steps show that they compute the same. The first three shapes
have the paper's loss and optimizer, the last one the defaults.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

import numpy as np
from scipy.sparse import csr_matrix

from kate.engines.network import Network, Optimizer, Recipe, floats
from kate.threads import thread_count


class Shape(NamedTuple):
    words: int
    topics: int
    winners: int
    batch: int
    loss: str = "cross-entropy"


SHAPES = [
    Shape(2_000, 128, 32, 50),
    Shape(2_000, 512, 102, 50),
    Shape(5_000, 128, 64, 100),
    Shape(20_000, 128, 32, 200, "softmax"),
]
WORDS_IN_A_DOCUMENT = 60
ROUNDS = 15
Name = TypeVar("Name")


def make_documents(n_docs: int, n_words: int) -> csr_matrix:
    """Documents whose words follow Zipf's law, as real ones do, scaled to at most 1."""
    rng = np.random.default_rng(0)
    p = 1 / np.arange(1, n_words + 1)
    rows = np.repeat(np.arange(n_docs), WORDS_IN_A_DOCUMENT)
    columns = rng.choice(n_words, size=rows.size, p=p / p.sum())
    X = csr_matrix((np.ones(rows.size, np.float32), (rows, columns)), shape=(n_docs, n_words))
    X.sum_duplicates()
    X.data = np.log1p(X.data)
    X.data /= np.repeat(np.asarray(X.max(axis=1).todense()).ravel(), np.diff(X.indptr))
    return X


def make_network(n_words: int, n_components: int) -> Network:
    rng = np.random.default_rng(1)
    W = floats(n_words, n_components)
    W[...] = rng.normal(scale=np.sqrt(2 / (n_words + n_components)), size=W.shape)
    return Network(W, np.zeros(n_components, np.float32), np.zeros(n_words, np.float32))


def amplification(shape: Shape) -> float:
    return 0.5 if shape.loss == "softmax" else 6.26


def our_steps(
    X: csr_matrix, network: Network, shape: Shape, batches: list[np.ndarray]
) -> Callable[[], float]:
    # not before: importing the compiler decides where machine code is kept
    from kate.engines.cpu.cpu_engine import CPUEngine

    engine = CPUEngine(network, Recipe(shape.loss, "tanh", shape.winners, amplification(shape)))
    if shape.loss == "softmax":
        optimizer, rate = Optimizer.adam(network), 1e-3
    else:
        optimizer, rate = Optimizer.adadelta(network), 2.0
    rates, seeds = np.full(len(batches), rate), np.zeros(len(batches), np.int64)

    def run() -> float:
        return engine.train(X, batches, rates, optimizer, seeds) / sum(map(len, batches))

    return run


def torch_steps(
    X: csr_matrix, network: Network, shape: Shape, batches: list[np.ndarray], device: str = "cpu"
) -> Callable[[], float]:
    """The straightforward way: dense rows, autograd through the competition, PyTorch's own optimizer."""
    import torch
    from torch.nn.functional import binary_cross_entropy_with_logits, log_softmax

    torch.set_num_threads(thread_count(None))
    dense = torch.tensor(X.toarray(), device=device)
    W, b, c = (torch.tensor(array.copy(), device=device, requires_grad=True) for array in network)
    alpha, n_positive, n_negative = amplification(shape), (shape.winners + 1) // 2, shape.winners // 2
    if shape.loss == "softmax":
        optimizer = torch.optim.Adam([W, b, c], lr=1e-3, eps=1e-8)
    else:
        optimizer = torch.optim.Adadelta([W, b, c], lr=2.0, rho=0.95, eps=1e-8)

    def one_side(z, share):  # type: ignore[no-untyped-def]
        side = torch.relu(z)
        won = torch.zeros_like(z).scatter(1, side.topk(share, dim=1).indices, 1.0) * (side > 0)
        lost = (side * (1 - won)).sum(dim=1, keepdim=True)
        return won * (side + alpha * lost)

    def summed_loss(logits, x):  # type: ignore[no-untyped-def]
        if shape.loss == "softmax":
            return -(x * log_softmax(logits, dim=1)).sum()
        return binary_cross_entropy_with_logits(logits, x, reduction="sum")

    def run() -> float:
        total = 0.0
        for docs in batches:
            x = dense[docs]
            z = torch.tanh(x @ W + b)
            competed = one_side(z, n_positive) - one_side(-z, n_negative)
            loss = summed_loss(competed @ W.T + c, x) / len(docs)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += float(loss.detach()) * len(docs)
        return total / sum(map(len, batches))

    return run


def decoder_products(network: Network, batch: int, repeats: int) -> Callable[[], None]:
    rng = np.random.default_rng(2)
    A = rng.normal(size=(batch, network.W.shape[1])).astype(np.float32)
    logits = np.empty((batch, network.W.shape[0]), np.float32)
    grad_A, grad_W = np.empty_like(A), np.empty_like(network.W)

    def run() -> None:
        for _ in range(repeats):
            np.dot(A, network.W.T, out=logits)
            np.dot(logits, network.W, out=grad_A)
            np.dot(logits.T, A, out=grad_W)

    return run


def best_milliseconds(runs: Mapping[Name, Callable[[], object]], n_steps: int) -> dict[Name, float]:
    """The best of several rounds in which all take turns, so that a busy moment of the machine affects all of them.

    Idle threads of one library keep spinning for a while and slow the next one down. So each turn starts with a pause,
    in which they fall asleep, and with a run that is not timed.
    """
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(ROUNDS):
        for name, run in runs.items():
            time.sleep(0.2)
            run()
            start = time.perf_counter()
            run()
            best[name] = min(best[name], 1000 * (time.perf_counter() - start) / n_steps)
    return best


def seconds_to_compile() -> float:
    """How much longer the first fit on a machine takes; later ones find the machine code on disk."""
    X, network = make_documents(10, 100), make_network(100, 16)
    batches = [np.arange(10)]
    run = our_steps(X, network, Shape(100, 16, 4, 10), batches)
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def measure(shape: Shape) -> dict[str, object]:
    # for the first shape, about as many as in an epoch of 20 Newsgroups
    n_steps = max(8, int(2.6e9 / (shape.words * shape.topics * shape.batch)))
    X = make_documents(2_000, shape.words)
    rng = np.random.default_rng(3)
    batches = [
        rng.choice(X.shape[0], size=shape.batch, replace=False).astype(np.int64) for _ in range(n_steps)
    ]
    network = make_network(shape.words, shape.topics)
    ours = our_steps(X, network.copy(), shape, batches)
    theirs = torch_steps(X, network, shape, batches)
    losses = ours(), theirs()  # warms up, and shows that both compute the same
    floor = decoder_products(network, shape.batch, n_steps)
    best = best_milliseconds({"kate": ours, "torch": theirs, "decoder": floor}, n_steps)
    return {
        "kate_ms": round(best["kate"], 3),
        "torch_ms": round(best["torch"], 3),
        "decoder_products_ms": round(best["decoder"], 3),
        "times_as_fast_as_torch": round(best["torch"] / best["kate"], 2),
        "multiple_of_decoder_products": round(best["kate"] / best["decoder"], 2),
        "first_epoch_loss_kate": round(losses[0], 3),
        "first_epoch_loss_torch": round(losses[1], 3),
    }


def main() -> None:
    print(
        json.dumps({"benchmark": "compiling", "seconds": round(seconds_to_compile(), 1)}),
        flush=True,
    )
    for shape in SHAPES:
        row = {
            "benchmark": "training step",
            **shape._asdict(),
            "threads": thread_count(None),
            **measure(shape),
        }
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as empty:
        os.environ["NUMBA_CACHE_DIR"] = empty  # read by numba when it is imported
        main()
