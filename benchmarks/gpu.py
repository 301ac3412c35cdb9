"""Training on one GPU, whole fits on real data: how long they take, how near to the limits of the GPU, how good.

    python benchmarks/gpu.py --counts counts.npz            # a file written by benchmarks/gpu_counts.py
    python benchmarks/gpu.py --counts counts.npz --device cpu --epochs 1 --rcv1-documents 2000   # to try the script

Needs PyTorch, NumPy, SciPy, scikit-learn, numba and this repository's src on the path, nothing else. Prints JSON lines:

- "limits": what this GPU can do, measured here: a large matrix product in each precision, and a large copy
- "paper": 100 epochs of KATE.paper(128) on 20 Newsgroups, 2,000 words
- "defaults": KATE(128) on 20 Newsgroups, 20,000 words
- "rcv1 shape": one epoch of 554,414 made-up documents of 75 words, out of 5,000, in batches of 100

In float32 each is compared with plain PyTorch on the same device in the same run: dense rows, autograd, its own
optimizer ("torch_step_ms"). "paper" and "defaults" are run in each precision, and scored on the test documents: the
accuracy of a softmax probe, and the precision among the nearest 1 %. Without --counts they are left out. "fit_s" is
the time of a whole ``fit``, after a first fit of one epoch ("first_fit_s") that loads libraries and compiles kernels.

"share_of_limit" is the least time that the arithmetic or the memory traffic of the steps could take, divided by the
time of the epochs. A step of B documents, V words and m topics counts as 10 B V m operations (five dense products), and
as 4 bytes each for 11 V m numbers (W read three times, the gradient written and read, parameters and two moments read
and written) and for 6 B V numbers (documents, logits and residuals, each written once and read once). The CPU engine
skips the losing neurons and does less than that: there the share can be above 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix

from kate.model.kate import KATE
from kate.research.metrics.classification import classify
from kate.research.metrics.retrieval import retrieve

sys.path.insert(0, str(Path(__file__).resolve().parent))  # however this script is started

from train import Shape, make_network, torch_steps

PRECISIONS = ("float32", "tf32", "bf16")
N_TOPICS = 128
RIVAL_STEPS = {"cuda": 50, "cpu": 2}


class Clock:
    """Seconds that include the work of the GPU: reading it waits for what has been started."""

    def __init__(self, device: str) -> None:
        self.device = device
        self.start = self.now()

    def now(self) -> float:
        if self.device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    def seconds(self) -> float:
        return self.now() - self.start


def measure_limits(device: str, size: int) -> dict[str, float]:
    """Operations per second of a square matrix product in each precision, and bytes per second of a copy."""
    limits = {}
    for precision in PRECISIONS:
        torch.set_float32_matmul_precision("high" if precision == "tf32" else "highest")
        a = torch.randn(
            size, size, device=device, dtype=torch.bfloat16 if precision == "bf16" else torch.float32
        )
        limits[precision] = 2 * size**3 / best_of(lambda a=a: a @ a, device)
    torch.set_float32_matmul_precision("highest")
    source = torch.zeros(16 * size * size, device=device)
    target = torch.empty_like(source)
    limits["bytes"] = 2 * 4 * source.numel() / best_of(lambda: target.copy_(source), device)
    return limits


def best_of(run: Any, device: str) -> float:
    run()
    best = float("inf")
    for _ in range(5):
        clock = Clock(device)
        run()
        best = min(best, clock.seconds())
    return best


def least_seconds(limits: dict[str, float], precision: str, B: int, V: int, m: int, n_steps: int) -> float:
    """How long the steps take at the limit of arithmetic or of memory, whichever is longer."""
    arithmetic = 10 * B * V * m / limits[precision]
    memory = 4 * (11 * V * m + 6 * B * V) / limits["bytes"]
    return n_steps * max(arithmetic, memory)


def fit(
    model: KATE, limits: dict[str, float], X: csr_matrix, validation: csr_matrix | None
) -> dict[str, Any]:
    """Fit for one epoch, then for all of them; returns the times."""
    device = model.device
    clock = Clock(device)
    KATE(**(model.get_params() | {"max_epochs": 1})).fit(X, validation=validation)
    first = clock.seconds()
    clock = Clock(device)
    model.fit(X, validation=validation)
    seconds = clock.seconds()
    B, n_epochs = model.settings_["batch_size"], len(model.history_)
    in_epochs = sum(float(row["seconds"] or 0) for row in model.history_)
    n_steps = n_epochs * -(-X.shape[0] // B)
    least = least_seconds(limits, model.precision, B, X.shape[1], model.n_components, n_steps)
    row = {
        "documents": X.shape[0], "words": X.shape[1], "topics": model.n_components, "batch": B, "epochs": n_epochs,
        "precision": model.precision, "first_fit_s": round(first, 2), "fit_s": round(seconds, 3),
        "epochs_s": round(in_epochs, 3), "step_ms": round(1000 * in_epochs / n_steps, 4),
        "documents_per_s": round(n_epochs * X.shape[0] / in_epochs), "share_of_limit": round(least / in_epochs, 3),
        "loss": round(float(model.history_[-1]["loss"] or 0), 4),
    }  # fmt: skip
    if model.precision == "float32":
        rival = plain_step_seconds(X, model)
        row["torch_step_ms"] = round(1000 * rival, 4)
        row["times_as_fast_as_torch"] = round(rival * n_steps / in_epochs, 2)
    return row


def plain_step_seconds(X: csr_matrix, model: KATE) -> float:
    """The time of one step of plain PyTorch, of the same shape on the same device; the best of a few rounds."""
    settings, n_words = model.settings_, X.shape[1]
    B, loss, n_steps = settings["batch_size"], settings["loss"], RIVAL_STEPS[model.device]
    batches = [np.arange(i, i + B) % X.shape[0] for i in range(0, n_steps * B, B)]
    few = X[: min(X.shape[0], n_steps * B)].astype(np.float32)
    few.data = np.log1p(few.data)  # about as large as scaled counts
    shape = Shape(n_words, model.n_components, settings["n_winners"], B, loss)
    steps = torch_steps(
        few,
        make_network(n_words, model.n_components),
        shape,
        [docs % few.shape[0] for docs in batches],
        model.device,
    )
    return best_of(steps, model.device) / n_steps


def quality(model: KATE, X: csr_matrix, counts: Any) -> dict[str, float]:
    vectors = {part: model.transform(X[counts[part]]) for part in ("fitting", "validation", "train", "test")}
    y = {part: counts["labels"][counts[part]] for part in vectors}
    probe = classify(*(x for part in ("fitting", "validation", "test") for x in (vectors[part], y[part])))
    found = retrieve(vectors["train"], y["train"], vectors["test"], y["test"], fractions=(0.01,), full=False)
    return {"accuracy": round(probe.accuracy, 4), "precision@1%": round(found.precision[0.01], 4)}


def runs_on_news(
    counts: Any, options: argparse.Namespace, limits: dict[str, float]
) -> Iterator[dict[str, Any]]:
    patience = options.epochs or 100  # runs every epoch and keeps the best, as the paper does
    makers = {
        "paper": (2_000, lambda **more: KATE.paper(N_TOPICS, patience=patience, **more)),
        "defaults": (20_000, lambda **more: KATE(N_TOPICS, **more)),
    }
    changes = {"max_epochs": options.epochs} if options.epochs else {}
    for name, (n_words, make) in makers.items():
        parts = [counts[f"{part}_{n_words}"] for part in ("data", "indices", "indptr")]
        data, indices = parts[0].astype(np.float32), parts[1].astype(np.int32)
        X = csr_matrix((data, indices, parts[2]), shape=tuple(counts[f"shape_{n_words}"]))
        for precision in PRECISIONS if options.device == "cuda" else PRECISIONS[:1]:
            model = make(random_state=0, device=options.device, precision=precision, verbose=False, **changes)
            row = fit(model, limits, X[counts["fitting"]], X[counts["validation"]])
            yield {"benchmark": name} | row | ({} if options.no_quality else quality(model, X, counts))


def make_documents(n_docs: int, n_words: int, length: int) -> csr_matrix:
    """Documents of ``length`` different words; frequent words come in more documents."""
    rng = np.random.default_rng(0)
    # one word from each of ``length`` bands that grow with the rank: no word comes twice, and drawing is fast
    edges = np.unique(np.geomspace(1, n_words, 4 * length).astype(np.int64))
    edges = edges[np.linspace(0, len(edges) - 1, length + 1).astype(int)] - 1
    indices = edges[:-1] + rng.integers(0, np.diff(edges), size=(n_docs, length))
    data = rng.integers(1, 4, size=n_docs * length).astype(np.float32)
    return csr_matrix(
        (data, indices.ravel().astype(np.int32), np.arange(0, n_docs * length + 1, length)),
        shape=(n_docs, n_words),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--counts", help="a file that benchmarks/gpu_counts.py wrote")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--epochs", type=int, help="fewer epochs than usual, to try the script")
    parser.add_argument("--rcv1-documents", type=int, default=554_414)
    parser.add_argument("--no-quality", action="store_true")
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit(
            f"PyTorch {torch.__version__} finds no CUDA GPU here; --device cpu tries the script on the CPU engine"
        )

    limits = measure_limits(options.device, 8_192 if options.device == "cuda" else 512)
    name = torch.cuda.get_device_name() if options.device == "cuda" else "CPU"
    shown = {f"teraflops_{precision}": round(limits[precision] / 1e12, 2) for precision in PRECISIONS}
    shown |= {"gigabytes_per_s": round(limits["bytes"] / 1e9, 1)}
    print(json.dumps({"benchmark": "limits", "device": name, "torch": torch.__version__} | shown), flush=True)
    if options.counts:
        with np.load(options.counts, allow_pickle=False) as file:
            counts = dict(file)
        for row in runs_on_news(counts, options, limits):
            print(json.dumps(row), flush=True)
    X = make_documents(options.rcv1_documents, 5_000, 75)
    for precision in PRECISIONS if options.device == "cuda" else PRECISIONS[:1]:
        model = KATE(
            N_TOPICS, batch_size=100, max_epochs=1, random_state=0, device=options.device, precision=precision,
            verbose=False,
        )  # fmt: skip
        print(json.dumps({"benchmark": "rcv1 shape"} | fit(model, limits, X, None)), flush=True)


if __name__ == "__main__":
    main()
