"""NeuronPole and NeuronPoles: what a pole of a neuron is to those who read it, and a table of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, overload

import numpy as np

from kate.errors import quoted

__all__ = ["NeuronPole", "NeuronPoles", "Pole", "PoleOrder"]

Pole = Literal["+", "-"]
PoleOrder = Literal["neuron", "share", "coherence"]


@dataclass(frozen=True)
class NeuronPole:
    """One pole of one neuron, described by words.

    ``share`` is the share of the training documents that it wins, ``coherence`` the NPMI of its first ten
    words in them; None where they were not measured.

    >>> NeuronPole(17, "+", ("treaty", "peace", "nations"), share=0.12, coherence=0.31).name
    '17+'
    """

    neuron: int
    pole: Pole
    words: tuple[str, ...]
    share: float | None = None
    coherence: float | None = None

    @property
    def name(self) -> str:
        return f"{self.neuron}{self.pole}"

    def shortened(self, top: int) -> NeuronPole:
        """The same pole with its first ``top`` words."""
        return replace(self, words=self.words[:top])

    def as_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "neuron": self.neuron,
            "pole": self.pole,
            "share": self.share,
            "coherence": self.coherence,
            "words": list(self.words),
        }


class NeuronPoles(Sequence[NeuronPole]):
    """Poles in a fixed order, by neuron and pole unless sorted otherwise; ``print`` shows them as a table.

    >>> peace = NeuronPole(0, "+", ("treaty", "peace"), share=0.25, coherence=0.5)
    >>> money = NeuronPole(0, "-", ("silver", "gold"), share=0.75, coherence=0.25)
    >>> poles = NeuronPoles([peace, money])
    >>> poles.coherence, poles.diversity
    (0.375, 1.0)
    >>> print(poles.sorted_by("share"))
    pole   share  coherence  words
    0-     75.0%      0.250  silver, gold
    0+     25.0%      0.500  treaty, peace
    """

    def __init__(self, poles: Iterable[NeuronPole]) -> None:
        self._poles = tuple(poles)

    @overload
    def __getitem__(self, index: int) -> NeuronPole: ...
    @overload
    def __getitem__(self, index: slice) -> NeuronPoles: ...
    def __getitem__(self, index: int | slice) -> NeuronPole | NeuronPoles:
        return NeuronPoles(self._poles[index]) if isinstance(index, slice) else self._poles[index]

    def __len__(self) -> int:
        return len(self._poles)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NeuronPoles) and self._poles == other._poles

    def __hash__(self) -> int:
        return hash(self._poles)

    @property
    def coherence(self) -> float | None:
        """The mean over the poles that have a coherence; None where none has."""
        measured = [pole.coherence for pole in self if pole.coherence is not None]
        return float(np.mean(measured)) if measured else None

    @property
    def diversity(self) -> float | None:
        """The share of distinct words among all listed words; None where there are none."""
        words = [word for pole in self for word in pole.words]
        return len(set(words)) / len(words) if words else None

    def sorted_by(self, key: PoleOrder) -> NeuronPoles:
        """By neuron and pole, or by share or coherence with the highest first (and the unmeasured last)."""
        if key == "neuron":
            # "+" sorts before "-"
            return NeuronPoles(sorted(self, key=lambda pole: (pole.neuron, pole.pole)))
        if key not in ("share", "coherence"):
            raise ValueError(f"cannot sort poles by {quoted(key)}; choose neuron, share or coherence")
        values = [-np.inf if (value := getattr(pole, key)) is None else value for pole in self]
        return NeuronPoles([self[int(i)] for i in np.argsort(-np.array(values), kind="stable")])

    def shortened(self, top: int) -> NeuronPoles:
        """The same poles with their first ``top`` words."""
        return NeuronPoles([pole.shortened(top) for pole in self])

    def as_dicts(self) -> list[dict[str, Any]]:
        return [pole.as_dict() for pole in self]

    def __str__(self) -> str:
        lines = ["pole   share  coherence  words"]
        for pole in self:
            coherence = "–" if pole.coherence is None else f"{pole.coherence:.3f}"
            share = "–" if pole.share is None else f"{pole.share:.1%}"
            lines.append(f"{pole.name:<5} {share:>6} {coherence:>10}  {', '.join(pole.words) or '–'}")
        return "\n".join(lines)

    __repr__ = __str__
