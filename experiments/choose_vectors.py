"""How KATE's document vectors were chosen: many recipes, many corpora, validation documents only, on one GPU.

    python choose_vectors.py corpora FOLDER                      # count the training documents (no test document)
    python choose_vectors.py search FOLDER grid.json results.jsonl [seconds] [workers]
    python choose_vectors.py report results.jsonl [...]          # every recipe against LSA, by components

A vector is one linear map of a document's scaled counts. A recipe says how the map is found: where W starts, how it is
trained (dense rows and one captured CUDA graph in plain PyTorch: a fit takes a fraction of a second) and what is done
with the vectors afterwards ("posts"). All runs of the rounds are in vectors.jsonl.xz, each line with its settings. The
corpora are counted by version 0.1 of Kate (no test document). docs/defaults.md reads the results.
"""

from __future__ import annotations

import gzip
import json
import lzma
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

CORPORA = (
    "20news", "reuters21578", "movies", "sotu", "bbc", "reviews", "cranfield", "lines", "heads", "news2k", "reut2k",
    "bbc2", "movies2",
)  # fmt: skip
LARGE = ("lines80k",)  # only where a grid names it
N_WORDS = 20_000

BASE: dict[str, Any] = {
    "m": 128,  # neurons
    "start": "svd",  # W: the leading singular vectors of the scaled counts ("svd") or Glorot's noise ("glorot")
    "target_tf": "log1p",  # the same for the decoder's target
    "tf": "log1p",  # how a count saturates, for the start and the encoder
    "start_idf": 1.0,  # exponent of the idf in the matrix that the start decomposes
    "center": False,  # the start decomposes the matrix minus its mean row
    "turn": True,  # the start is turned by a random rotation, so that neurons are alike; "fixed": the same for all
    "passes": 4,  # power iterations of the randomised decomposition
    "krylov": 0,  # instead of them, so many steps of a block Krylov decomposition, blocks of m / 2
    "rank": 0,  # singular vectors in the start, 0: as many as neurons
    "gain": 1.0,  # length of the columns of W at the start
    "tau": 1.0,  # the decoder's logits are tau * W a + c
    "idf": 1.0,  # exponent of the idf on the encoder's input
    "renorm": True,  # the encoder's input has length 1 after the idf (else it keeps the length that the idf gives it)
    "xgain": 1.0, "clip": False,  # 0.1 multiplies unit rows by 3 and cuts at 1
    "bias": True,  # the encoder has a bias while it is trained
    "k": 0.25, "alpha": 0.5, "dropout": 0.7,
    "emphasis": False,  # the loss counts the dropped words alone
    "lr": 1e-3, "warmup": 0.05, "epochs": 10.0, "min_steps": 300, "max_steps": 0,
    "batch": 0,  # 0: a twentieth of the documents, 16 to 200
    "sampled": 0,  # decode the batch's shared words and so many others, weighted (kate.engines.sampling)
    "seeds": 1,
}  # fmt: skip
POST: dict[str, Any] = {
    "mean": "project",  # "project" its direction out, "center", "none", or a number: so many top directions out
    "mix": 1.0,  # trained W's share, the start's is the rest
    "scale": "docs",  # the start is brought to the size of W by the length of the "docs"' vectors or of the "weights"
    "lsa": 0.0,  # LSA's vectors beside KATE's, so heavy
    "lsa_idf": 1.0,
    "keep": 0,  # components kept by PCA; 0: m
    "power": 0.0,  # a component is divided by its standard deviation to this power
}


# ---------------------------------------------------------------- corpora


def _lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def write_corpora(folder: Path) -> None:
    """A fifth of the training documents is held out for validation; the test documents are left out altogether."""
    import kate

    folder.mkdir(parents=True, exist_ok=True)
    data = Path(os.environ["KATE_DATA"])
    corpora: dict[str, Any] = {}
    for name in ("20news", "reuters21578", "movies", "sotu"):
        corpus = kate.load_dataset(name, vocabulary_size=N_WORDS, keep_texts=True)
        y = corpus.labels[corpus.train]
        y = y.toarray().astype(np.float32) if sp.issparse(y) else np.asarray(y)
        corpora[name] = (
            corpus.texts_of("train"),
            y,
            corpus.label_kind,
            [corpus.ids[i] for i in corpus.train],
        )
        save(folder, name, *split(len(y)), corpora[name], X=corpus.X[corpus.train])
        if name == "movies":
            save(folder, "movies2", *split(len(y), 1), corpora[name], X=corpus.X[corpus.train])
    for name in ("bbc", "reviews"):
        rows = _lines(data / f"{name}.jsonl.gz")
        rows = [row for row in rows if row["split"] == "train"]
        texts = [row["text"].replace("<br />", " ") for row in rows]
        made = (texts, np.array([str(row["label"]) for row in rows]), "classes", None)
        save(folder, name, *split(len(texts)), made)
        if name == "bbc":
            save(folder, "bbc2", *split(len(texts), 1), made)

    random = np.random.default_rng(7)
    texts, y, kind, ids = corpora["20news"]
    fit, val = split(len(texts))
    for name, n_lines in (("lines", 2), ("lines80k", 9)):  # ten words of a post
        draw = random if name == "lines" else np.random.default_rng(8)
        lines, labels, parts = [], [], []
        for rows, per_post, part in ((fit, n_lines, 0), (val, 1, 1)):
            for row in rows:
                words = texts[row].partition("\n\n")[2].split()
                for _ in range(per_post):
                    at = int(draw.integers(0, max(1, len(words) - 10)))
                    lines.append(" ".join(words[at : at + 10]))
                    labels.append(y[row])
                    parts.append(part)
        of = np.array(parts)
        save(
            folder,
            name,
            np.flatnonzero(of == 0),
            np.flatnonzero(of == 1),
            (lines, np.array(labels), kind, None),
        )

    # 2,000 early posts, and the last fifth of each group's posts to validate on: the test set is later, too
    numbers = np.array([int("".join(c for c in i.rsplit("/", 1)[-1] if c.isdigit()) or 0) for i in ids])
    late = np.zeros(len(y), bool)
    for label in np.unique(y):
        of = np.flatnonzero(y == label)
        late[of[np.argsort(numbers[of])][-(len(of) // 5) :]] = True
    early = random.permutation(np.flatnonzero(~late))[:2000]
    save(folder, "news2k", early, np.flatnonzero(late), (texts, y, kind, None))

    texts, y, kind, ids = corpora["reuters21578"]
    fit, val = split(len(texts))
    save(folder, "heads", fit, val, ([text.partition("\n")[0] for text in texts], y, kind, None))
    save(folder, "reut2k", fit[:2000], val, (texts, y, kind, None))

    rows = _lines(data / "cranfield.jsonl.gz")
    documents = [row for row in rows if row["kind"] == "document"]
    questions = [row for row in rows if row["kind"] == "query"][::2]  # the others stay unseen
    place = {row["id"]: i for i, row in enumerate(documents)}
    relevant = np.zeros((len(questions), len(documents)), np.float32)
    for i, row in enumerate(questions):
        relevant[i, [place[j] for j in row["relevant"] if j in place]] = 1
    made = ([row["text"] for row in documents + questions], relevant, "questions", None)
    n = len(documents)
    save(folder, "cranfield", np.arange(n), np.arange(n, n + len(questions)), made)


def split(n: int, fold: int = 0) -> tuple[Any, Any]:
    """Rows to fit on and a fifth to validate on."""
    rows = np.roll(np.random.default_rng(0).permutation(n), -fold * (n // 5))
    return rows[n // 5 :], rows[: n // 5]


def save(folder: Path, name: str, fit: Any, val: Any, made: tuple[Any, ...], X: Any = None) -> None:
    from kate.text.counts import Counts

    texts, y, kind, _ = made
    if X is None:
        counts = Counts(N_WORDS)
        parts = [counts.fit_transform([texts[i] for i in fit]), counts.transform([texts[i] for i in val])]
    else:
        parts = [X[fit], X[val]]
    if kind == "classes":
        y = np.unique(y, return_inverse=True)[1]
    out: dict[str, Any] = {"kind": kind, "fit_y": y if kind == "questions" else y[fit]}
    out["val_y"] = y if kind == "questions" else y[val]
    for part, given in zip(("fit", "val"), parts, strict=True):
        M = sp.csr_matrix(given)
        out |= {f"{part}_{key}": getattr(M, key) for key in ("indices", "indptr", "shape")}
        out[f"{part}_data"] = np.minimum(M.data, 60_000).astype(np.uint16)
    np.savez_compressed(folder / f"{name}.npz", **out)
    print(
        name,
        parts[0].shape,
        parts[1].shape,
        f"{parts[0].nnz / parts[0].shape[0]:.1f} words a document",
        flush=True,
    )


class Data:
    """A corpus on the GPU: log counts of documents and queries, dense, and what is right for them."""

    def __init__(self, folder: Path, name: str) -> None:
        import torch

        data = np.load(folder / f"{name}.npz")
        self.name, self.kind = name, str(data["kind"])
        self.y, self.val_y = data["fit_y"], data["val_y"]
        counts = {}
        for part in ("fit", "val"):
            arrays = tuple(data[f"{part}_{key}"] for key in ("data", "indices", "indptr"))
            counts[part] = sp.csr_matrix(arrays, shape=data[f"{part}_shape"]).astype(np.float32)
        n, self.n_words = counts["fit"].shape
        df = np.asarray((counts["fit"] > 0).sum(0)).ravel()
        self.df = df
        random = np.random.default_rng(3)
        usable = (df > 20) & (df < max(0.03 * n, 40))
        words = random.permutation(np.flatnonzero(usable))[:300]
        counts["one"] = sp.csr_matrix(
            (np.ones(len(words), np.float32), (np.arange(len(words)), words)), (len(words), self.n_words)
        )
        self.words = words
        two, rows = [], []
        if self.kind in ("classes", "sets"):
            val = counts["val"]
            for row in random.permutation(val.shape[0]):
                own = val.indices[val.indptr[row] : val.indptr[row + 1]]
                own = own[usable[own]]
                if len(own) >= 2:
                    two.append(random.choice(own, 2, replace=False))
                    rows.append(row)
                if len(rows) == 600:
                    break
            at = np.repeat(np.arange(len(two)), 2)
            counts["two"] = sp.csr_matrix(
                (np.ones(len(at), np.float32), (at, np.concatenate(two))), (len(two), self.n_words)
            )
            self.two_y = self.val_y[np.array(rows)]
        self.idf = torch.tensor(1 + np.log((1 + n) / (1 + df)), dtype=torch.float32, device="cuda")
        self.counts = counts
        self.logs = {part: torch.tensor(M.toarray(), device="cuda").log1p_() for part, M in counts.items()}
        self.cache: dict[Any, Any] = {}
        self.has = self.logs["fit"][:, torch.tensor(words, device="cuda")] > 0  # (docs, 300)

    def rows(
        self,
        part: str,
        idf: float,
        renorm: bool = True,
        xgain: float = 1.0,
        clip: bool = False,
        tf: str = "log1p",
    ) -> Any:
        """Scaled counts: log counts times idf^e, rows of length 1."""
        import torch

        key = (part, idf, renorm, xgain, clip, tf)
        if key not in self.cache:
            x = self.saturated(part, tf)
            if renorm:
                x = torch.nn.functional.normalize(x * self.idf**idf, dim=1) * xgain
            else:
                x = torch.nn.functional.normalize(x, dim=1) * self.idf**idf * xgain
            self.cache[key] = x.clamp(max=1.0) if clip else x
        return self.cache[key]

    def saturated(self, part: str, tf: str) -> Any:
        """What a word counts for that occurs n times."""
        import torch

        x = self.logs[part]
        if tf == "log1p":
            return x
        n = torch.expm1(x)
        if tf == "binary":
            return (x > 0).float()
        if tf == "log":
            return torch.where(x > 0, 1 + torch.log(n.clamp(min=1e-9)), x)
        if tf == "sqrt":
            return n.sqrt()
        # beside the mean count of the document's words: a text said twice is the same
        if tf.startswith("relative"):
            mean = n.sum(1, True) / (n > 0).sum(1, True).clamp(min=1)
            return torch.log1p(n / mean.clamp(min=1e-9) * float(tf.removeprefix("relative") or 1))
        size = torch.expm1(self.logs["fit"]).sum(1).mean()  # bm25
        return n / (n + 1.2 * (0.25 + 0.75 * n.sum(1, True) / size))

    def bm25(self, k1: float = 1.5, b: float = 0.75) -> Any:
        """Scores (questions, documents)."""
        X = self.counts["fit"]
        n = X.shape[0]
        size = np.asarray(X.sum(1)).ravel()
        idf = np.log(1 + (n - self.df + 0.5) / (self.df + 0.5))
        W = X.copy().tocsr()
        held = np.repeat(k1 * (1 - b + b * size / size.mean()), np.diff(W.indptr))
        W.data = W.data / (W.data + held) * idf[W.indices]
        return np.asarray((self.counts["val"] @ W.T).todense())


# ---------------------------------------------------------------- the map


def directions(
    data: Data,
    idf: float,
    m: int,
    seed: int,
    center: bool = False,
    lsa: bool = False,
    tf: str = "log1p",
    passes: int = 4,
    krylov: int = 0,
) -> tuple[Any, Any]:
    """The leading right singular vectors (n_words, m) and values of the scaled counts; ``lsa``: LSA's rows."""
    import torch

    key = ("svd", idf, m, seed, center, lsa, tf, passes, krylov)
    if key not in data.cache:
        torch.manual_seed(1000 + seed)
        x = lsa_rows(data, "fit") if lsa else data.rows("fit", idf, tf=tf)
        if center:
            x = x - x.mean(0)
        if krylov:
            V, s = block_krylov(x, m, krylov)
        else:
            _, s, V = torch.svd_lowrank(x, q=min(m + 20, *x.shape), niter=passes)
        data.cache[key] = (V[:, :m].contiguous(), s[:m])
    return data.cache[key]


def block_krylov(x: Any, m: int, steps: int) -> tuple[Any, Any]:
    """Half the sparse products of a randomised decomposition with power iterations, as exact where it matters.

    Blocks Q_0 = orth(xᵀ noise), Q_i = orth(xᵀ x Q_(i-1) without what earlier blocks span); the singular vectors are
    those of x inside their span. The products x Q_i of the steps serve the last projection, too.
    """
    import torch

    blocks = [torch.linalg.qr(x.T @ torch.randn(len(x), (m + 1) // 2, device="cuda"))[0]]
    images = [x @ blocks[0]]
    for _ in range(steps):
        Q, before = x.T @ images[-1], torch.cat(blocks, 1)
        for _ in range(2):
            Q = Q - before @ (before.T @ Q)
            Q = torch.linalg.qr(Q)[0]
        blocks.append(Q)
        images.append(x @ Q)
    image = torch.cat(images, 1)
    values, U = torch.linalg.eigh((image.T @ image).double())
    U, values = U.flip(1)[:, :m].float(), values.flip(0)[:m]
    return torch.cat(blocks, 1) @ U, values.clamp(min=1e-12).sqrt().float()


def lsa_rows(data: Data, part: str) -> Any:
    """(1 + ln counts) * idf, rows of length 1."""
    import torch

    key = ("lsa", part)
    if key not in data.cache:
        n = torch.expm1(data.logs[part])
        x = torch.where(n > 0.5, 1 + torch.log(n.clamp(min=1e-9)), torch.zeros_like(n)) * data.idf
        data.cache[key] = torch.nn.functional.normalize(x, dim=1)
    return data.cache[key]


def steps_of(n: int, cfg: dict[str, Any]) -> tuple[int, int]:
    """(documents in a step, steps)"""
    B = cfg["batch"] or (min(200, max(16, n // 20)) if n <= 20_000 else min(1000, n // 100))
    B = min(B, n)
    steps = max(cfg["min_steps"], round(cfg["epochs"] * n / B))
    if cfg["max_steps"]:
        steps = min(steps, cfg["max_steps"])
    return B, steps


def start_of(data: Data, cfg: dict[str, Any], seed: int) -> Any:
    import torch

    m = cfg["m"]
    if cfg["turn"] == "fixed":
        seed = 0
    generator = torch.Generator(device="cuda").manual_seed(seed)
    if cfg["start"] == "glorot":
        return (
            torch.randn(data.n_words, m, device="cuda", generator=generator) * (2 / (data.n_words + m)) ** 0.5
        )
    V, s = directions(
        data,
        cfg["start_idf"],
        min(cfg["rank"] or m, data.logs["fit"].shape[0] - 1),
        seed,
        cfg["center"],
        tf=cfg["tf"],
        passes=cfg["passes"],
        krylov=cfg["krylov"],
    )
    W = V * (s / s.mean()) ** cfg.get("start_power", 0.0)
    if W.shape[1] < m:
        W = torch.cat([W, torch.zeros(len(W), m - W.shape[1], device="cuda")], 1)
    if cfg["turn"]:
        W = W @ torch.linalg.qr(torch.randn(m, m, device="cuda", generator=generator))[0]
    return W.contiguous() * cfg["gain"]


def train(data: Data, cfg: dict[str, Any], seed: int) -> tuple[Any, Any, Any]:
    """(W at the start, W, b)"""
    import torch

    W0 = start_of(data, cfg, seed)
    m = cfg["m"]
    b = torch.zeros(m, device="cuda")
    if cfg["epochs"] == 0:
        return W0, W0, b
    target = data.rows("fit", 0.0, True, cfg["xgain"], cfg["clip"], cfg["target_tf"])
    read = data.rows("fit", cfg["idf"], cfg["renorm"], cfg["xgain"], cfg["clip"], cfg["tf"])
    torch.manual_seed(seed)
    N, V = target.shape
    B, steps = steps_of(N, cfg)
    k = max(2, round(cfg["k"] * m)) if cfg["k"] else 0
    kp, kn, alpha, drop, tau = (k + 1) // 2, k // 2, cfg["alpha"], cfg["dropout"], cfg["tau"]
    W = W0.clone()
    c = torch.log((target.sum(0) + 0.5 / V) / (N + 1))
    parameters = [W, b, c]
    first, second = [torch.zeros_like(p) for p in parameters], [torch.zeros_like(p) for p in parameters]
    idx = torch.zeros(B, dtype=torch.long, device="cuda")
    rate, corr1, corr2 = (torch.zeros((), device="cuda") for _ in range(3))
    chance = torch.tensor(data.df / data.df.sum(), dtype=torch.float32, device="cuda") * 0.5 + 0.5 / V

    def side(z: Any, share: int) -> tuple[Any, Any]:
        won = torch.zeros_like(z)
        if share:
            v, i = torch.topk(z, share, dim=1, sorted=False)
            won.scatter_(1, i, (v > 0).float())
        return won, (z > 0).float() * (1 - won)

    def step() -> None:
        xb = target[idx]
        xe = xb if read is target else read[idx]
        if drop:
            kept = torch.rand_like(xb) >= drop
            xin = xe * kept / (1 - drop)
        else:
            xin = xe
        z = torch.tanh(xin @ W + b)
        if k:
            (wp, lp), (wn, ln) = side(z, kp), side(-z, kn)
            a = z * (wp + wn) + alpha * (wp * (z * lp).sum(1, True) + wn * (z * ln).sum(1, True))
        else:
            a = z
        o = (a @ W.T) * tau + c
        if cfg["sampled"]:
            held = (xb > 0).float()
            shared = held.sum(0) > 1.5
            q = torch.where(shared, torch.zeros_like(chance), chance)
            q = (q / q.sum() * cfg["sampled"]).clamp(max=1.0)
            drawn = torch.rand_like(q) < q
            weight = torch.where(shared, torch.ones_like(q), drawn / q.clamp(min=1e-9))
            weight = torch.where(held > 0, torch.ones_like(o), weight.expand_as(o))
            o = o + torch.log(weight)  # -inf: not decoded
        t = xb * ~kept if cfg["emphasis"] and drop else xb
        r = (torch.softmax(o, 1) * t.sum(1, True) - t) / B
        da = (r @ W) * tau
        dz = da * (wp + wn) + alpha * (lp * (da * wp).sum(1, True) + ln * (da * wn).sum(1, True)) if k else da
        dh = dz * (1 - z * z)
        gradients = ((r.T @ a) * tau + xin.T @ dh, dh.sum(0), r.sum(0))
        for p, g, f, s in zip(parameters, gradients, first, second, strict=True):
            if p is b and not cfg["bias"]:
                continue
            f.mul_(0.9).add_(g, alpha=0.1)
            s.mul_(0.999).addcmul_(g, g, value=0.001)
            p.sub_(rate * (f * corr1) / (torch.sqrt(s * corr2) + 1e-8))

    saved = [t.clone() for t in parameters]
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(2):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    for p, s in zip(parameters, saved, strict=True):
        p.copy_(s)
    for t in (*first, *second):
        t.zero_()
    done = torch.arange(1, steps + 1, device="cuda") / (steps + 1)
    rates = cfg["lr"] * torch.minimum(
        done / max(cfg["warmup"], 1e-9), (1 - done) / (1 - cfg["warmup"])
    ).clamp(max=1)
    number = torch.arange(1, steps + 1, device="cuda", dtype=torch.float64)
    first_of, second_of = (1 / (1 - 0.9**number)).float(), (1 / (1 - 0.999**number)).float()
    per_epoch = N // B
    for t in range(steps):
        if t % per_epoch == 0:
            order = torch.randperm(N, device="cuda")
        at = (t % per_epoch) * B
        idx.copy_(order[at : at + B])
        rate.copy_(rates[t])
        corr1.copy_(first_of[t])
        corr2.copy_(second_of[t])
        graph.replay()
    return W0, W, b


PARTS = ("fit", "val", "one", "two")


def encoded(
    data: Data, cfg: dict[str, Any], W0: Any, W: Any, b: Any, post: dict[str, Any], seed: int
) -> dict[str, Any]:
    """The vectors of documents and queries: one linear map, whatever it is made of."""
    import torch

    parts = [part for part in PARTS if part in data.logs]
    rows = {
        part: data.rows(part, cfg["idf"], cfg["renorm"], cfg["xgain"], cfg["clip"], cfg["tf"])
        for part in parts
    }
    if post["mix"] != 1.0:
        size = (
            (rows["fit"] @ W).norm() / (rows["fit"] @ W0).norm()
            if post["scale"] == "docs"
            else W.norm() / W0.norm()
        )
        W = post["mix"] * W + (1 - post["mix"]) * size * W0
    u = {part: x @ W for part, x in rows.items()}
    u = out_of_mean(u, post["mean"], b)
    if post["lsa"]:
        u = {
            part: v / u["fit"].norm(dim=1).mean()
            for part, v in sorted(u.items(), key=lambda i: i[0] == "fit")
        }
        V, _ = directions(data, post["lsa_idf"], cfg["m"], seed)
        w = {part: data.rows(part, post["lsa_idf"]) @ V for part in parts}
        w = out_of_mean(w, post["mean"], None)
        size = w["fit"].norm(dim=1).mean()
        u = {part: torch.cat([u[part], w[part] * (post["lsa"] / size)], 1) for part in parts}
    keep = post["keep"] or cfg["m"]
    if keep < u["fit"].shape[1] or post["power"]:
        centred = u["fit"] - u["fit"].mean(0)
        values, Q = torch.linalg.eigh((centred.T @ centred).double() / len(centred))
        values, Q = values.flip(0)[:keep].clamp(min=0), Q.flip(1)[:, :keep]
        scale = torch.where(values > 1e-6 * values[0], values.clamp(min=1e-30) ** (-post["power"] / 2), 0)
        Q = (Q * scale).float()
        u = {part: v @ Q for part, v in u.items()}
    return u


def out_of_mean(u: dict[str, Any], how: Any, b: Any) -> dict[str, Any]:
    import torch

    mean = u["fit"].mean(0)
    if how == "none":
        return u
    if how == "center":
        return {part: v - mean for part, v in u.items()}
    axes = (mean / mean.norm())[:, None]
    if how != "project":  # so many of the directions that are left, too
        rest = u["fit"] - (u["fit"] @ axes) @ axes.T
        _, Q = torch.linalg.eigh(rest.T @ rest)
        axes = torch.cat([axes, Q.flip(1)[:, : int(how)]], 1)
    return {part: v - (v @ axes) @ axes.T for part, v in u.items()}


# ---------------------------------------------------------------- measures


def probe(F: Any, y: np.ndarray, G: Any, gy: np.ndarray, kind: str) -> float:
    """A linear probe; its L2 strength (and threshold) chosen on one half of the validation, scored on the other."""
    import torch

    mu, sd = F.mean(0), F.std(0)
    sd = torch.where(sd > 1e-6 * sd.max(), sd, torch.ones_like(sd))
    F, G = (F - mu) / sd, (G - mu) / sd
    order = np.random.default_rng(1).permutation(len(gy))
    halves = [order[: len(order) // 2], order[len(order) // 2 :]]
    is_number = kind == "number"
    scores = ridge_scores(F, y, G, gy, halves) if is_number else logistic_scores(F, y, G, gy, kind, halves)
    return float((scores[scores[:, 0].argmax(), 1] + scores[scores[:, 1].argmax(), 0]) / 2)


def ridge_scores(F: Any, y: np.ndarray, G: Any, gy: np.ndarray, halves: list[Any]) -> np.ndarray:
    import torch

    target = torch.tensor(y, dtype=torch.float64, device="cuda")
    F, G, mean = F.double(), G.double(), target.mean()
    C, t = F.T @ F / len(F), F.T @ (target - mean) / len(F)
    scores = []
    for l2 in (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.001):
        w = torch.linalg.solve(C + l2 * torch.eye(len(C), device="cuda", dtype=torch.float64), t)
        guess = (G @ w + mean).cpu().numpy()
        scores.append(
            [1 - ((gy[h] - guess[h]) ** 2).sum() / ((gy[h] - gy[h].mean()) ** 2).sum() for h in halves]
        )
    return np.array(scores)


STRENGTHS = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001)


def logistic_scores(
    F: Any, y: np.ndarray, G: Any, gy: np.ndarray, kind: str, halves: list[Any]
) -> np.ndarray:
    """All strengths at once by accelerated, preconditioned descent in one captured graph."""
    import torch

    n, S = len(F), len(STRENGTHS)
    values, Q = torch.linalg.eigh((F.T @ F / n).double())
    A = torch.cat([(F @ Q.float()), torch.ones(n, 1, device="cuda")], 1)
    B = torch.cat([(G @ Q.float()), torch.ones(len(G), 1, device="cuda")], 1)
    d = A.shape[1]
    C = int(y.max()) + 1 if kind == "classes" else y.shape[1]
    bound = 0.5 if kind == "classes" else 0.25
    l2 = torch.tensor(STRENGTHS, device="cuda")[None, :, None].expand(d, S, C).clone()
    l2[-1] = 0
    curve = torch.cat([values.float().clamp(min=0), torch.ones(1, device="cuda")])[:, None, None] * bound
    pace = 1 / (curve * 1.05 + l2 + 1e-6)
    if kind == "classes":
        truth = torch.nn.functional.one_hot(torch.tensor(y, device="cuda").long(), C).float()[:, None]
    else:
        truth = torch.tensor(y, device="cuda")[:, None]
    w, last = torch.zeros(d, S, C, device="cuda"), torch.zeros(d, S, C, device="cuda")
    t = torch.ones((), device="cuda")

    def step() -> None:
        t_next = (1 + torch.sqrt(1 + 4 * t * t)) / 2
        v = w + (t - 1) / t_next * (w - last)
        o = (A @ v.view(d, S * C)).view(n, S, C)
        p = torch.softmax(o, 2) if kind == "classes" else torch.sigmoid(o)
        g = (A.T @ (p - truth).view(n, S * C)).view(d, S, C) / n + l2 * v
        last.copy_(w)
        w.copy_(v - pace * g)
        t.copy_(t_next)

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    w.zero_()
    last.zero_()
    for i in range(240):
        if i % 80 == 0:
            t.fill_(1.0)
        graph.replay()
    o = (B @ w.view(d, S * C)).view(len(G), S, C)
    if kind == "classes":
        right = (o.argmax(2) == torch.tensor(gy, device="cuda")[:, None]).float().cpu().numpy()
        return np.array([[right[h, s].mean() for h in halves] for s in range(S)])
    truth = gy > 0
    scores = []
    for threshold in (-1.4, -0.85, -0.4, 0.0):  # of the logit: .2, .3, .4, .5
        guess = (o > threshold).cpu().numpy()
        for s in range(S):
            of = [
                (guess[h, s] & truth[h]).sum() * 2 / max(1, guess[h, s].sum() + truth[h].sum())
                for h in halves
            ]
            scores.append(of)
    return np.array(scores)


def top(G: Any, F: Any, n: int) -> Any:
    import torch

    F, G = (torch.nn.functional.normalize(v, dim=1) for v in (F, G))
    return torch.topk(G @ F.T, n, dim=1).indices


def hits(found: Any, y: np.ndarray, gy: np.ndarray, kind: str) -> float:
    """Share of the documents found that share a label with the query."""
    import torch

    y, gy = torch.tensor(y, device="cuda"), torch.tensor(gy, device="cuda")
    if kind == "classes":
        return float((y[found] == gy[:, None]).float().mean())
    return float((torch.einsum("qnc,qc->qn", y[found], gy) > 0).float().mean())


def question_scores(scores: np.ndarray, relevant: np.ndarray) -> dict[str, float]:
    """nDCG@10 and mean average precision."""
    order = np.argsort(-scores, axis=1, kind="stable")
    gains = np.take_along_axis(relevant, order, 1)
    discount = 1 / np.log2(np.arange(2, 12))
    best = np.array([discount[: int(min(10, n))].sum() for n in relevant.sum(1)])
    ndcg = (gains[:, :10] * discount).sum(1) / np.maximum(best, 1e-9)
    precision = gains.cumsum(1) / np.arange(1, gains.shape[1] + 1)
    ap = (precision * gains).sum(1) / np.maximum(relevant.sum(1), 1)
    return {"ndcg": float(ndcg.mean()), "map": float(ap.mean())}


def measured(data: Data, u: dict[str, Any], with_probe: bool = True) -> tuple[dict[str, float], Any]:
    """All measures of these vectors, and each validation document's ten nearest."""
    import torch

    F, G, kind = u["fit"], u["val"], data.kind
    row: dict[str, float] = {}
    if kind == "questions":
        sims = torch.nn.functional.normalize(G, dim=1) @ torch.nn.functional.normalize(F, dim=1).T
        row |= question_scores(sims.cpu().numpy(), data.val_y)
    elif with_probe:
        row["probe"] = probe(F, data.y, G, data.val_y, kind)
    n = max(10, round(0.01 * len(F)))
    found = top(G, F, n)
    if kind in ("classes", "sets"):
        row["p1"] = hits(found[:, : max(1, round(0.01 * len(F)))], data.y, data.val_y, kind)
        row["p01"] = hits(found[:, : max(1, round(0.001 * len(F)))], data.y, data.val_y, kind)
        row["two"] = hits(top(u["two"], F, 10), data.y, data.two_y, kind)
    nearest = top(u["one"], F, 10)
    row["one"] = float(torch.gather(data.has.T, 1, nearest).float().mean())
    return row, found[:, :10]


def overlap(a: Any, b: Any) -> float:
    return float((a[:, :, None] == b[:, None, :]).any(2).float().mean())


def run(data: Data, cfg: dict[str, Any], posts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    import torch

    torch.cuda.synchronize()
    begun = time.perf_counter()
    if cfg["start"] == "bm25":
        return (
            [{"corpus": data.name, **cfg, "post": {}, **question_scores(data.bm25(), data.val_y)}]
            if data.kind == "questions"
            else []
        )
    is_lsa, seeds = cfg["start"] == "lsa", range(cfg["seeds"])
    nets = [None] * len(seeds) if is_lsa else [train(data, cfg, seed) for seed in seeds]
    torch.cuda.synchronize()
    seconds = time.perf_counter() - begun
    rows, probes = [], {}
    for change in posts or [{}]:
        post = POST | change
        scores, near = [], []
        # a probe does not see the power
        same = json.dumps({key: v for key, v in post.items() if key != "power"})
        for seed, net in enumerate(nets):
            if net is None:
                V, _ = directions(data, 1.0, cfg["m"], seed, lsa=True)
                u = {part: lsa_rows(data, part) @ V for part in PARTS if part in data.logs}
            else:
                u = encoded(data, cfg, *net, post, seed)
            got, found = measured(data, u, (same, seed) not in probes)
            if "probe" in got:
                probes[same, seed] = got["probe"]
            elif (same, seed) in probes:
                got["probe"] = probes[same, seed]
            scores.append(got)
            near.append(found)
        row = {"corpus": data.name, **cfg, "post": change, "seconds": round(seconds, 2)}
        row |= {key: round(float(np.mean([s[key] for s in scores])), 4) for key in scores[0]}
        if len(near) > 1:
            row["agree"] = round(overlap(near[0], near[1]), 4)
        rows.append(row)
    return rows


# ---------------------------------------------------------------- search


def worker(
    folder: Path, jobs: list[tuple[str, dict[str, Any]]], counter: Any, path: Path, deadline: float
) -> None:
    import torch

    torch.set_num_threads(2)
    torch.backends.cuda.matmul.allow_tf32 = True
    data = None
    with path.open("w") as out:
        while time.time() < deadline:
            with counter.get_lock():
                i = counter.value
                counter.value += 1
            if i >= len(jobs):
                break
            name, cfg = jobs[i]
            cfg = dict(cfg)
            posts = cfg.pop("posts", None)
            try:
                if data is None or data.name != name:
                    data = None
                    torch.cuda.empty_cache()
                    data = Data(folder, name)
                for row in run(data, cfg, posts):
                    out.write(json.dumps(row) + "\n")
            except Exception as error:  # a setting that cannot run is a result too
                out.write(json.dumps({"corpus": name, **cfg, "error": repr(error)[:300]}) + "\n")
                if "CUDA error" in repr(error):
                    out.flush()
                    raise
            out.flush()


def search(folder: Path, grid: Path, results: Path, seconds: float, n_workers: int, chunk: int = 12) -> None:
    """``grid``: a list of changes to BASE, each with its ``posts``; ``chunk`` recipes at a time."""
    import multiprocessing as mp

    begun = time.time()
    settings = [BASE | change for change in json.loads(grid.read_text())]
    jobs = []
    for at in range(0, len(settings), chunk):
        for name in (*CORPORA, *LARGE):
            asked = [cfg for cfg in settings[at : at + chunk] if name in cfg.get("corpora", CORPORA)]
            jobs += [(name, {key: v for key, v in cfg.items() if key != "corpora"}) for cfg in asked]
    context = mp.get_context("spawn")
    counter = context.Value("i", 0)
    parts, processes = [], []
    for w in range(n_workers):
        parts.append(results.with_suffix(f".part{w}"))
        arguments = (folder, jobs, counter, parts[-1], begun + seconds)
        processes.append(context.Process(target=worker, args=arguments))
        processes[-1].start()
    for process in processes:
        process.join()
    with results.open("w") as out:
        for part in parts:
            out.write(part.read_text())
            part.unlink()
    print(f"{min(counter.value, len(jobs))} of {len(jobs)} jobs in {time.time() - begun:.0f} s", flush=True)


# ---------------------------------------------------------------- report

MEASURES = ("probe", "p1", "p01", "one", "two")
SIX = ("20news", "reuters21578", "movies", "sotu", "bbc", "reviews")
OTHERS = ("lines", "heads", "news2k", "reut2k", "bbc2", "movies2")
CHOSEN: dict[str, Any] = {
    "m": 256, "start": "svd", "turn": "fixed", "bias": False, "k": 0.25, "alpha": 0.7, "dropout": 0.5,
    "lr": 2e-3, "epochs": 5.0, "min_steps": 0, "sampled": 1000,
}  # fmt: skip
NOT_SHOWN = {"corpus", "post", "seconds", "error", "seeds", "ndcg", "map", "agree", "max_steps", *MEASURES}

Table = dict[int, dict[str, dict[str, Any]]]


def name_of(row: dict[str, Any]) -> str:
    """What sets a recipe apart from the chosen one."""
    post = " ".join(f"{key} {value}" for key, value in row.get("post", {}).items() if key != "keep")
    if row["start"] in ("lsa", "bm25"):
        return str(row["start"]).upper()
    if row["start"] == "glorot":
        return f"0.1, {post}"
    usual = BASE | CHOSEN
    return ", ".join(
        [f"{key} {v}" for key, v in row.items() if key not in NOT_SHOWN and usual.get(key) != v] + [post]
    )


def read(paths: list[Path]) -> Table:
    """Dimensions → recipe → corpus → its line; a later file takes precedence."""
    table: Table = {}
    for path in paths:
        data = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
        for line in data.splitlines():
            row = json.loads(line)
            if "error" not in row:
                size = row["post"].get("keep") or row["m"]
                table.setdefault(size, {}).setdefault(name_of(row), {})[row["corpus"]] = row
    return table


def mean(
    rows: dict[str, Any], corpora: tuple[str, ...], measure: str, less: dict[str, Any] | None = None
) -> float:
    """The mean of a measure, or of its difference to another model."""
    of = [c for c in corpora if measure in rows.get(c, ())]
    return (
        float(np.mean([rows[c][measure] - (less[c][measure] if less else 0) for c in of])) if of else np.nan
    )


def worst(rows: dict[str, Any], lsa: dict[str, Any], measure: str) -> str:
    found = [(rows[c][measure] - lsa[c][measure], c) for c in (*SIX, *OTHERS) if measure in rows.get(c, ())]
    return f"{min(found)[0]:+.3f} {min(found)[1]}" if found else ""


def report(paths: list[Path], per_corpus: tuple[str, ...] = ("probe", "p1", "p01", "one", "two")) -> str:
    lines = []
    for size, recipes in sorted(read(paths).items()):
        lsa = recipes.get("LSA")
        if lsa is None:
            continue
        lines += [f"## {size} components, every recipe, less LSA (six corpora, six others)", ""]
        heads = (
            [f"{m}" for m in MEASURES] + [f"{m} others" for m in MEASURES] + ["nDCG", "MAP", "seeds agree"]
        )
        heads += [f"worst {m}" for m in ("probe", "p1", "one")]
        lines += ["| recipe | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
        ranked = sorted(recipes.items(), key=lambda item: -np.nan_to_num(mean(item[1], SIX, "probe", lsa)))
        for name, rows in ranked:
            if any(c not in rows for c in SIX):
                continue
            cells = [f"{mean(rows, part, m, lsa):+.3f}" for part in (SIX, OTHERS) for m in MEASURES]
            cranfield = rows.get("cranfield", {})
            cells += [f"{cranfield.get('ndcg', np.nan):.3f}", f"{cranfield.get('map', np.nan):.3f}"]
            cells += [
                f"{mean(rows, (*SIX, *OTHERS), 'agree'):.2f}",
                *(worst(rows, lsa, m) for m in ("probe", "p1", "one")),
            ]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)


def main_table(paths: list[Path], size: int, recipes: list[tuple[str, str]]) -> str:
    """(title, recipe) → one row each, a column a corpus: probe, P@1 %, P@0.1 %, one word, two words."""
    table = read(paths)[size]
    lines = []
    for measure in (*MEASURES, "agree"):
        corpora = [c for c in (*SIX, *OTHERS) if measure in table[recipes[0][1]].get(c, ())]
        lines += [
            f"**{measure}**",
            "",
            "| | " + " | ".join(corpora) + " | six | all |",
            "|---" * (len(corpora) + 3) + "|",
        ]
        for title, name in recipes:
            rows = table[name]
            cells = [f"{rows[c][measure]:.3f}" if measure in rows.get(c, ()) else "" for c in corpora]
            means = [f"{mean(rows, part, measure):.3f}" for part in (SIX, (*SIX, *OTHERS))]
            lines.append(f"| {title} | " + " | ".join(cells + means) + " |")
        lines.append("")
    return "\n".join(lines)


SAME = "target_tf sqrt, tf sqrt, krylov 3, "
SHOWN = {
    128: {
        "LSA": "LSA",
        "0.1": "0.1, mean center",
        "0.1, the mean's direction projected out": "0.1, mean project",
        "**chosen**, share of the start .4": f"{SAME}mix 0.6",
        "**chosen**, share of the start .33": f"{SAME}mix 0.667",
        "the same without competition, .4": f"{SAME}k 0, mix 0.6",
        "the same without competition, .33": f"{SAME}k 0, mix 0.667",
        "α .5 instead of .7, .33": f"{SAME}alpha 0.5, mix 0.667",
        "α 1 instead of .7, .33": f"{SAME}alpha 1.0, mix 0.667",
        "10 epochs at .001, .33": f"{SAME}lr 0.001, epochs 10.0, mix 0.667",
        "512 neurons, α .175, .33": f"m 512, {SAME}alpha 0.175, mix 0.667",
        "log counts instead of roots, .33": "krylov 3, mix 0.667",
        "log of counts over their mean, .33": "target_tf relative2, tf relative2, krylov 3, mix 0.667",
    },
    **{
        size: {
            "LSA": "LSA",
            "0.1": "0.1, mean center",
            "**chosen**, share of the start .4": f"{SAME}mix 0.6",
            "**chosen**, share of the start .33": f"{SAME}mix 0.667",
            "the same without competition, .33": f"{SAME}k 0, mix 0.667",
        }
        for size in (20, 50)
    },
    512: {
        "LSA": "LSA",
        "0.1": "0.1, mean center",
        "**chosen**, share of the start .4": f"m 512, {SAME}alpha 0.175, mix 0.6",
        "**chosen**, share of the start .33": f"m 512, {SAME}alpha 0.175, mix 0.667",
        "the same without competition, .33": f"m 512, {SAME}k 0, mix 0.667",
    },
}


def shown_tables(path: Path) -> str:
    """Means over the six corpora, and over all twelve; of the questions of Cranfield; how far two seeds agree."""
    lines = []
    for size, recipes in SHOWN.items():
        table = read([path])[size]
        heads = ["probe", "P@1 %", "P@0.1 %", "one word", "two words", "nDCG@10", "seeds agree"]
        lines += [f"### {size} components", "", f"| | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
        for title, name in recipes.items():
            rows = table[name]
            cells = [
                f"{mean(rows, SIX, measure):.3f} / {mean(rows, (*SIX, *OTHERS), measure):.3f}"
                for measure in MEASURES
            ]
            cells += [f"{rows['cranfield']['ndcg']:.3f}", f"{mean(rows, (*SIX, *OTHERS), 'agree'):.2f}"]
            lines.append(f"| {title} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    command = sys.argv[1]
    if command == "tables":
        print(shown_tables(Path(__file__).with_name("vectors.jsonl.xz")))
        sys.exit()
    if command == "corpora":
        write_corpora(Path(sys.argv[2]))
    elif command == "report":
        print(report([Path(path) for path in sys.argv[2:]]))
    else:
        limit = float(sys.argv[5]) if len(sys.argv) > 5 else 540.0
        n = int(sys.argv[6]) if len(sys.argv) > 6 else 8
        search(Path(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]), limit, n)
