"""Batches on the device: which documents come next, and where their entries go in a dense matrix.

A plan holds one row per step of an epoch. Some hundred steps at a time are laid out by a few large operations: the
value of every entry, what dropout leaves of it, and its place in the dense matrix. A step then picks its row of the
layout. Shapes are fixed and nothing is read back: all batches have as many slots as the largest one needs, and unused
slots point to a spare place after the matrix. A short batch is filled with an empty document that has no weight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

__all__ = ["BatchPlan", "DeviceRows", "Layout"]


@dataclass(frozen=True, eq=False)
class DeviceRows:
    """Sparse rows on the device, followed by one empty row.

    ``starts`` (n_docs + 2,) int64; ``words`` int32 and ``values`` float32, with one unused entry at the end that
    unused slots can read; ``mass`` (n_docs + 1,), the sum of each row.
    """

    starts: Tensor
    words: Tensor
    values: Tensor
    mass: Tensor
    inputs: Tensor


@dataclass(frozen=True, eq=False)
class BatchPlan:
    """What the steps of an epoch do, one row per step.

    ``docs`` (n_steps, batch) int64, ``seeds`` (n_steps,) int64, ``shares`` (n_steps,) 1 / the number of documents,
    ``numbers`` (n_steps, 3) the learning rate and Adam's two corrections.
    """

    docs: Tensor
    seeds: Tensor
    shares: Tensor
    numbers: Tensor

    def __len__(self) -> int:
        return len(self.docs)

    def part(self, start: int, stop: int) -> BatchPlan:
        return BatchPlan(
            *(tensor[start:stop] for tensor in (self.docs, self.seeds, self.shares, self.numbers))
        )


class Layout:
    """Some steps of a plan, laid out in memory that is allocated once.

    ``places`` (n_steps, n_slots) int64; ``values`` and ``kept`` (what dropout leaves), float32 of the same shape;
    ``ends`` (n_steps, batch) int64, the slot after the last one of each document; ``facts`` (n_steps, 3, batch, 1): the
    mass of a document, its share of the mean loss (0 for an empty one that fills a batch) and whether it is real;
    ``numbers`` as in the plan.
    """

    def __init__(
        self, rows: DeviceRows, n_words: int, batch_size: int, n_slots: int, n_steps: int, dropout: float
    ) -> None:
        device = rows.values.device
        self.rows, self.n_words, self.batch_size, self.dropout = rows, n_words, batch_size, dropout
        self.reads_inputs = self._reads_inputs(rows)
        self.slots = torch.arange(n_slots, device=device)
        self.places = torch.zeros((n_steps, n_slots), dtype=torch.int64, device=device)
        self.values = torch.zeros((n_steps, n_slots), device=device)
        self.kept = torch.zeros((n_steps, n_slots), device=device) if self.reads_inputs else self.values
        self.ends = torch.zeros((n_steps, batch_size), dtype=torch.int64, device=device)
        self.facts = torch.zeros((n_steps, 3, batch_size, 1), device=device)
        self.numbers = torch.zeros((n_steps, 3), device=device)

    def __len__(self) -> int:
        return len(self.places)

    def is_for(self, rows: DeviceRows) -> bool:
        """Whether these rows, too, can be laid out here."""
        return self._reads_inputs(rows) == self.reads_inputs

    def _reads_inputs(self, rows: DeviceRows) -> bool:
        return bool(self.dropout) or rows.inputs is not rows.values

    @property
    def n_cells(self) -> int:
        """Cells of a dense batch; the spare place comes after them."""
        return self.batch_size * self.n_words

    def fill(self, plan: BatchPlan) -> None:
        """Lay out the steps of a plan, at most ``len(self)``."""
        n, rows = len(plan), self.rows
        firsts = rows.starts[plan.docs]  # (n, batch)
        lengths = rows.starts[plan.docs + 1] - firsts
        ends = lengths.cumsum(dim=1)  # in slots; the slots before an end belong to that document
        document = torch.searchsorted(ends, self.slots.expand(n, -1).contiguous(), right=True)
        is_used = document < self.batch_size
        document = document.clamp(max=self.batch_size - 1)
        offset = (firsts - ends + lengths).gather(1, document)
        entry = (offset + self.slots) * is_used
        place = document * self.n_words + rows.words[entry]
        self.ends[:n] = ends
        self.places[:n] = place.masked_fill(~is_used, self.n_cells)
        self.values[:n] = rows.values[entry]
        if self.reads_inputs:
            self.kept[:n] = rows.inputs[entry]
        if self.dropout:
            kept = is_kept(plan.seeds.unsqueeze(1), entry, self.dropout)
            self.kept[:n] = self.kept[:n] * kept / (1 - self.dropout)
        is_real = (plan.docs < len(rows.mass) - 1).float()
        self.facts[:n, 0, :, 0] = rows.mass[plan.docs]
        self.facts[:n, 1, :, 0] = is_real * plan.shares.unsqueeze(1)
        self.facts[:n, 2, :, 0] = is_real
        self.numbers[:n] = plan.numbers


def is_kept(seed: Tensor, entry: Tensor, dropout: float) -> Tensor:
    """Which entries dropout keeps: the same hash as in the CPU engine; signed integers overflow as unsigned ones do."""
    h = (seed + entry) * _signed(0x9E3779B97F4A7C15)
    h = (h ^ _shifted(h, 30)) * _signed(0xBF58476D1CE4E5B9)
    h = (h ^ _shifted(h, 27)) * _signed(0x94D049BB133111EB)
    h = h ^ _shifted(h, 31)
    return _shifted(h, 11) >= math.ceil(dropout * 2**53)


def _signed(number: int) -> int:
    return number - 2**64 if number >= 2**63 else number


def _shifted(h: Tensor, n: int) -> Tensor:
    """h >> n, filled with zeros instead of the sign bit."""
    return (h >> n) & ((1 << (64 - n)) - 1)
