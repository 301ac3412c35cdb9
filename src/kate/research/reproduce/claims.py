"""The paper's claims, answered by our numbers: by the paper's protocol, and with every model tuned alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kate.research.reproduce.lookup import FoundScore, Results, papers_name
from kate.research.reproduce.spec import PROTOCOLS, Grid, Protocol, ScoresOutput, SweepsOutput

__all__ = ["Answer", "Claim", "Comparison", "check_claims"]

RIVALS = ("ae", "dae", "cae", "ksae")


@dataclass(frozen=True)
class Comparison:
    """Two scores that are compared; ``holds`` is None while one of them is missing."""

    where: str
    name: str
    score: FoundScore
    other_name: str
    other: FoundScore
    lower_is_better: bool = False

    @property
    def holds(self) -> bool | None:
        mine, theirs = self.score.mean, self.other.mean
        if mine is None or theirs is None:
            return None
        return mine < theirs if self.lower_is_better else mine > theirs

    @property
    def is_close(self) -> bool:
        """Whether the means differ by less than one standard deviation of their difference."""
        if self.score.score is None or self.other.score is None:
            return False
        variance = sum((one.sd or 0.0) ** 2 for one in (self.score.score, self.other.score))
        return bool(abs(self.score.score.mean - self.other.score.mean) < variance**0.5)

    def __str__(self) -> str:
        against = f"{self.name} {_told(self.score)}, {self.other_name} {_told(self.other)}"
        close = " (within one standard deviation)" if self.is_close else ""
        return f"{self.where}: {against}{close}" if self.where else f"{against}{close}"


@dataclass(frozen=True)
class Answer:
    """Yes when every comparison holds, no when one does not, None while that is not known."""

    comparisons: tuple[Comparison, ...]

    @property
    def holds(self) -> bool | None:
        held = [comparison.holds for comparison in self.comparisons]
        if False in held:
            return False
        return None if None in held or not held else True

    @property
    def word(self) -> str:
        return {True: "yes", False: "no", None: "not known yet"}[self.holds]

    @property
    def figures(self) -> str:
        """The comparisons in one line, without those that lack a number; repeated names are written once."""
        grouped: dict[str, list[str]] = {}
        for one in self.comparisons:
            if one.score.mean is None and one.other.mean is None:
                continue
            head = f"{one.where}: {one.name}" if one.where else one.name
            close = ", within one standard deviation" if one.is_close else ""
            grouped.setdefault(f"{head} {_told(one.score)}", []).append(
                f"{one.other_name} {_told(one.other)}{close}"
            )
        return "; ".join(f"{head} against {', '.join(others)}" for head, others in grouped.items())


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and whether the runs agree with it."""

    name: str
    text: str
    answers: Mapping[Protocol, Answer] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {
            "claim": self.name,
            "text": self.text,
            **{
                protocol: {"answer": answer.word, "figures": [str(one) for one in answer.comparisons]}
                for protocol, answer in self.answers.items()
            },
        }


def check_claims(results: Results) -> list[Claim]:
    """All claims that the grid has runs for."""
    grid = results.plan.grid
    return [
        claim
        for claim in _claims(grid, results)
        if any(answer.comparisons for answer in claim.answers.values())
    ]


def _claims(grid: Grid, results: Results) -> Iterator[Claim]:
    mscd, accuracy = _table_of(grid, "neurons.mscd"), _table_of(grid, "classification.accuracy")
    sweeps = next((output for output in grid.outputs.values() if isinstance(output, SweepsOutput)), None)
    if mscd is not None:
        yield _claim(
            "amplification-mscd",
            "Amplification lowers the MSCD of KATE's topics.",
            lambda protocol: _against(mscd, ["kate-noamp"], protocol, results),
        )
    if sweeps is not None:
        yield _claim(
            "tanh-sigmoid",
            "With tanh KATE is more accurate than with the sigmoid.",
            lambda protocol: _swept(sweeps, "activation", ("tanh", "sigmoid"), protocol, results),
        )
        yield _claim(
            "alpha",
            "With α = 6.26 KATE is more accurate than without amplification, α = 2/k (0.0625 for k = 32).",
            lambda protocol: _swept(sweeps, "amplification", (6.26, 0.0625), protocol, results),
        )
    if accuracy is not None:
        yield _claim(
            "kate-autoencoders",
            "KATE is more accurate than AE, DAE, CAE and KSAE.",
            lambda protocol: _against(accuracy, RIVALS, protocol, results),
        )


def _claim(name: str, text: str, compare: Any) -> Claim:
    return Claim(name, text, {protocol: Answer(tuple(compare(protocol))) for protocol in PROTOCOLS})


def _table_of(grid: Grid, score: str) -> ScoresOutput | None:
    for output in grid.outputs.values():
        if isinstance(output, ScoresOutput) and any(one.name == score for one in output.scores):
            return output
    return None


def _against(
    table: ScoresOutput, rivals: Sequence[str], protocol: Protocol, results: Results
) -> Iterator[Comparison]:
    """KATE against rivals, for every size of a table."""
    for topics in table.topics:
        for rival in rivals:
            if rival in table.models and "kate" in table.models:
                mine, theirs = (
                    results.of_table(table.datasets[0], model, topics, table.scores[0], protocol)
                    for model in ("kate", rival)
                )
                where, lower = f"{results.plan.grid.size(topics)} topics", table.best == "lowest"
                yield Comparison(where, "KATE", mine, papers_name(rival), theirs, lower)


def _swept(
    sweeps: SweepsOutput, parameter: str, values: tuple[Any, Any], protocol: Protocol, results: Results
) -> Iterator[Comparison]:
    """KATE with one value of a hyper-parameter against KATE with another."""
    panel = next((panel for panel in sweeps.panels if panel.parameter == parameter), None)
    if panel is None or not set(values) <= set(panel.values):
        return
    found = [results.of_sweep(sweeps, panel, value, protocol) for value in values]
    names = [f"α = {value}:" if parameter == "amplification" else str(value) for value in values]
    yield Comparison("", names[0], found[0], names[1], found[1])


def _told(found: FoundScore) -> str:
    return str(found.score) if found.score is not None else found.reason.split(";")[0]
