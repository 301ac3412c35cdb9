"""One training step of KATE in plain PyTorch operations with a hand-written backward pass, all shapes fixed.

For a batch of B documents, V words and m topics, as in :mod:`kate.engines.step`:

    X, X_in (B, V)  the batch, and what dropout leaves of it, made dense on the device
    Z (B, m)        = g(X_in W + b);  A = compete(Z)
    R (B, V)        = (output(A Wᵀ + c) - X) / B
    D (B, m)        = dL / d(X_in W + b)
    gradient of W   = [R; X_in]ᵀ [A; D], one product for the decoder's and the encoder's part

Nothing is read back and no shape depends on the data, so that a CUDA graph can replay the step: which documents are
next, their dropout seed and the learning rate stand in a plan on the device, and a counter on the device moves on. A
short batch is filled up with an empty document of no weight. Parameters, gradients and the optimizer's moments are
single flat vectors, of which W, b and c are views: an update is a handful of operations on the whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from kate.engines.devices import Precision
from kate.engines.network import Recipe

__all__ = ["Parameters", "Plan", "Rows", "Step", "Update"]

_RATE, _CORRECT1, _CORRECT2, _SHARE = range(4)  # columns of Plan.numbers


@dataclass(frozen=True, eq=False)
class Rows:
    """Sparse rows on the device, and after them one row without entries.

    ``starts`` (n_docs + 2,) int64, ``words`` int32 and ``values`` float32 with one entry more than there are, so that
    there is always something to look at, ``mass`` (n_docs + 1,) the sum of each row.
    """

    starts: Tensor
    words: Tensor
    values: Tensor
    mass: Tensor


class Parameters:
    """W (n_words, n_topics), b and c as views of one flat vector."""

    def __init__(self, n_words: int, n_topics: int, device: torch.device) -> None:
        n_weights = n_words * n_topics
        self.flat = torch.zeros(n_weights + n_topics + n_words, device=device)
        self.W = self.flat[:n_weights].view(n_words, n_topics)
        self.b = self.flat[n_weights : n_weights + n_topics]
        self.c = self.flat[n_weights + n_topics :]

    def __iter__(self) -> Iterator[Tensor]:
        return iter((self.W, self.b, self.c))


@dataclass(frozen=True, eq=False)
class Plan:
    """What the steps of an epoch are to do, a row a step.

    ``docs`` (n_steps, batch) int64, ``seeds`` (n_steps,) int64, ``numbers`` (n_steps, 4) float32: the learning rate,
    Adam's two corrections and one over the number of documents.
    """

    docs: Tensor
    seeds: Tensor
    numbers: Tensor

    def copy_from(self, other: Plan) -> None:
        for mine, theirs in zip(self._tensors(), other._tensors(), strict=True):
            mine.copy_(theirs)

    def _tensors(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.docs, self.seeds, self.numbers


@dataclass(frozen=True, eq=False)
class Batch:
    """A batch on the device: dense ``X`` and ``X_in`` (views of the step's memory), ``mass`` and ``share`` (B, 1).

    ``share`` is one over the number of documents, and 0 for those that only fill up a short batch.
    """

    X: Tensor
    X_in: Tensor
    mass: Tensor
    share: Tensor


class Competition:
    """ẑ = compete(z) and its gradient, as :func:`kate.competition.compete` defines them, both sides at once."""

    def __init__(self, recipe: Recipe, n_topics: int, device: torch.device) -> None:
        self.alpha = recipe.amplification
        shares = ((recipe.n_winners + 1) // 2, recipe.n_winners // 2)
        self.most = shares[0]
        self.last = torch.tensor([max(0, share - 1) for share in shares], device=device)
        self.may_win = torch.tensor([share > 0 for share in shares], device=device).view(2, 1, 1)
        self.sides = torch.arange(2, device=device)
        self.signs = torch.tensor([1.0, -1.0], device=device).view(2, 1, 1)
        self.before = torch.arange(n_topics - 1, -1, -1, device=device)  # of equals the lower index wins

    def forward(self, Z: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Â, and who won and who lost on either side (2, B, m)."""
        sided = Z * self.signs  # (2, B, m)
        is_there = sided > 0
        # of positive floats the larger has the larger bits: with the index below them no two keys are equal
        keys = (sided.view(torch.int32).to(torch.int64) << 32) | self.before
        best = torch.topk(keys, self.most, dim=-1).values  # the largest first
        least = best[self.sides, :, self.last].unsqueeze(-1)  # (2, B, 1)
        won = is_there & (keys >= least) & self.may_win
        lost = is_there & ~won
        energy = (sided * lost).sum(dim=-1, keepdim=True)
        competed = (sided + self.alpha * energy) * won
        return competed[0] - competed[1], won, lost

    def backward(self, grad: Tensor, won: Tensor, lost: Tensor) -> Tensor:
        """dL/dÂ → dL/dZ: losers learn only through the winners' amplification."""
        of_winners = grad * won  # (2, B, m)
        through = (self.alpha * of_winners.sum(dim=-1, keepdim=True)) * lost
        return (of_winners + through).sum(dim=0)


class Step:
    """The step, its memory and the state that it moves on; ``run`` does one step and reads nothing back."""

    def __init__(
        self,
        recipe: Recipe,
        rows: Rows,
        parameters: Parameters,
        batch_size: int,
        n_entries: int,
        precision: Precision,
    ) -> None:
        device = parameters.flat.device
        V, m = parameters.W.shape
        self.recipe, self.rows, self.parameters, self.precision = recipe, rows, parameters, precision
        self.gradient = Parameters(V, m, device)
        self.total = torch.zeros((), dtype=torch.float64, device=device)  # the summed loss so far
        self.at = torch.zeros(1, dtype=torch.int64, device=device)  # the step that is next
        self.size = batch_size
        self.slots = torch.arange(n_entries, device=device)
        self.which = torch.arange(batch_size, device=device)
        # R above X_in and A above D, so that one product makes the gradient of W; a spare place for empty slots
        self.below = torch.zeros(2 * batch_size * V + 1, device=device)
        self.target = torch.zeros(batch_size * V + 1, device=device)
        self.codes = torch.zeros(2 * batch_size, m, device=device)
        self.competition = Competition(recipe, m, device) if recipe.n_winners else None

    def run(self, plan: Plan, update: Callable[[Tensor, Tensor, Tensor], None] | None) -> None:
        """The step that is next in the plan; without an update only the gradient is computed."""
        docs = plan.docs.index_select(0, self.at).view(-1)
        numbers = plan.numbers.index_select(0, self.at).view(-1)
        batch = self._gather(docs, plan.seeds.index_select(0, self.at), numbers)
        self.total += self._losses_and_gradients(batch)
        if update is not None:
            update(self.parameters.flat, self.gradient.flat, numbers)
        self.at += 1

    def loss_of(self, docs: Tensor) -> Tensor:
        """The summed loss of some documents, by the recipe; nothing is changed but the step's memory."""
        unit = torch.ones(4, device=docs.device)
        batch = self._gather(docs, torch.zeros(1, dtype=torch.int64, device=docs.device), unit)
        Z = self._encode(batch)
        A = Z if self.competition is None else self.competition.forward(Z)[0]
        return self._loss(torch.addmm(self.parameters.c, A, self.parameters.W.T), batch)

    def _gather(self, docs: Tensor, seed: Tensor, numbers: Tensor) -> Batch:
        """The documents' entries, dense. Slot e belongs to the document whose entries span it."""
        V = self.parameters.W.shape[0]
        firsts = self.rows.starts[docs]
        ends = (self.rows.starts[docs + 1] - firsts).cumsum(0)  # in slots
        document = torch.searchsorted(ends, self.slots, right=True)
        is_used = document < self.size
        document = document.clamp(max=self.size - 1)
        before = ends - (self.rows.starts[docs + 1] - firsts)
        entry = (firsts[document] + self.slots - before[document]) * is_used
        values = self.rows.values[entry]
        place = document * V + self.rows.words[entry]

        self.target.zero_()
        self.target.index_copy_(0, place.masked_fill(~is_used, self.size * V), values)
        X = self.target[:-1].view(self.size, V)
        X_in = self.below[self.size * V : -1].view(self.size, V)
        if self.recipe.dropout:
            kept = is_kept(seed, entry, self.recipe.dropout) * values / (1 - self.recipe.dropout)
            X_in.zero_()
            into = (place + self.size * V).masked_fill(~is_used, 2 * self.size * V)
            self.below.index_copy_(0, into, kept)
        else:
            X_in.copy_(X)
        is_real = (docs < self.rows.mass.shape[0] - 1).unsqueeze(1)
        return Batch(X, X_in, self.rows.mass[docs].unsqueeze(1), is_real * numbers[_SHARE])

    def _encode(self, batch: Batch) -> Tensor:
        H = self._product(batch.X_in, self.parameters.W) + self.parameters.b
        return torch.tanh(H) if self.recipe.activation == "tanh" else torch.sigmoid(H)

    def _loss(self, O: Tensor, batch: Batch) -> Tensor:
        """The summed loss, in double precision."""
        if self.recipe.loss == "softmax":
            losses = batch.mass * torch.logsumexp(O, dim=1, keepdim=True) - (batch.X * O).sum(
                dim=1, keepdim=True
            )
        else:
            of_words = torch.nn.functional.binary_cross_entropy_with_logits(O, batch.X, reduction="none")
            losses = of_words.sum(dim=1, keepdim=True)
        return (losses * (batch.share > 0)).sum(dtype=torch.float64)

    def _losses_and_gradients(self, batch: Batch) -> Tensor:
        """Fill the gradient of the batch's mean loss; returns the summed loss."""
        W, c, B = self.parameters.W, self.parameters.c, self.size
        Z = self._encode(batch)
        A, D = self.codes[:B], self.codes[B:]
        if self.competition is None:
            A.copy_(Z)
        else:
            competed, won, lost = self.competition.forward(Z)
            A.copy_(competed)
        O = self._product(A, W.T) + c
        loss = self._loss(O, batch)
        output = torch.softmax(O, dim=1) * batch.mass if self.recipe.loss == "softmax" else torch.sigmoid(O)
        R = self.below[: B * W.shape[0]].view(B, -1)
        torch.mul(output - batch.X, batch.share, out=R)
        grad = self._product(R, W)
        if self.competition is not None:
            grad = self.competition.backward(grad, won, lost)
        torch.mul(grad, 1 - Z * Z if self.recipe.activation == "tanh" else Z * (1 - Z), out=D)
        both = self.below[:-1].view(2 * B, -1)
        if self.precision == "bf16":
            self.gradient.W.copy_(self._product(both.T, self.codes))
        else:
            torch.mm(both.T, self.codes, out=self.gradient.W)
        torch.sum(D, dim=0, out=self.gradient.b)
        torch.sum(R, dim=0, out=self.gradient.c)
        return loss

    def _product(self, a: Tensor, b: Tensor) -> Tensor:
        if self.precision == "bf16":
            return (a.bfloat16() @ b.bfloat16()).float()
        return a @ b


class Update:
    """Adam or Adadelta on flat vectors; ``numbers`` is the step's row of the plan."""

    def __init__(self, method: str, decay: tuple[float, float], epsilon: float, like: Parameters) -> None:
        n_words, n_topics = like.W.shape
        self.method, self.decay, self.epsilon = method, decay, epsilon
        self.first = Parameters(n_words, n_topics, like.flat.device)
        self.second = Parameters(n_words, n_topics, like.flat.device)

    def __call__(self, parameters: Tensor, gradient: Tensor, numbers: Tensor) -> None:
        first, second = self.first.flat, self.second.flat
        if self.method == "adam":
            first.lerp_(gradient, 1 - self.decay[0])
            second.mul_(self.decay[1]).addcmul_(gradient, gradient, value=1 - self.decay[1])
            size = (second * numbers[_CORRECT2]).sqrt_().add_(self.epsilon)
            parameters.sub_((first / size).mul_(numbers[_RATE] * numbers[_CORRECT1]))
        else:
            rho = self.decay[0]
            first.mul_(rho).addcmul_(gradient, gradient, value=1 - rho)
            change = ((second + self.epsilon) / (first + self.epsilon)).sqrt_().mul_(gradient)
            second.mul_(rho).addcmul_(change, change, value=1 - rho)
            parameters.sub_(change.mul_(numbers[_RATE]))


def is_kept(seed: Tensor, entry: Tensor, dropout: float) -> Tensor:
    """Which entries dropout keeps: the hash of the CPU engine, in signed integers that overflow as unsigned ones do."""
    h = (seed + entry) * _signed(0x9E3779B97F4A7C15)
    h = (h ^ _shifted(h, 30)) * _signed(0xBF58476D1CE4E5B9)
    h = (h ^ _shifted(h, 27)) * _signed(0x94D049BB133111EB)
    h = h ^ _shifted(h, 31)
    return _shifted(h, 11) >= math.ceil(dropout * 2**53)


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def _shifted(h: Tensor, n: int) -> Tensor:
    """h >> n without the copies of the sign bit."""
    return (h >> n) & ((1 << (64 - n)) - 1)
