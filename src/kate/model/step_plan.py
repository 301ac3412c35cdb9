"""What an epoch does: which documents are learned from in which step, at which rate, with which seed of its dropout."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

__all__ = ["StepPlan"]


class StepPlan(NamedTuple):
    """One entry for each step.

    >>> plan = StepPlan.draw(np.random.RandomState(0), n_documents=5, batch_size=2)
    >>> [batch.tolist() for batch in plan.batches], plan.n_documents
    ([[2, 0], [1, 3], [4]], 5)
    """

    batches: list[NDArray[np.int64]]  # documents
    seeds: NDArray[np.int64]
    rates: NDArray[np.float64]

    @classmethod
    def draw(cls, random: Any, n_documents: int, batch_size: int, n_batches: int | None = None) -> Self:
        """All documents once, in a new order; ``n_batches``: as many of about the same size instead."""
        order = random.permutation(n_documents).astype(np.int64)
        if n_batches is None or n_batches == -(-n_documents // batch_size):
            batches = [order[i : i + batch_size] for i in range(0, n_documents, batch_size)]
        else:
            batches = np.array_split(order, n_batches)
        seeds = random.randint(0, 2**62, size=len(batches), dtype=np.int64)
        return cls(batches, seeds, np.zeros(len(batches)))

    def with_rates(self, rates: NDArray[np.float64]) -> Self:
        """With the learning rates of the steps; no more steps than there are rates."""
        return type(self)(self.batches[: len(rates)], self.seeds[: len(rates)], rates)

    def part(self, start: int, stop: int) -> Self:
        """Some of the steps."""
        return type(self)(self.batches[start:stop], self.seeds[start:stop], self.rates[start:stop])

    @property
    def n_documents(self) -> int:
        return sum(map(len, self.batches))
