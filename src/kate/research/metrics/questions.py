"""Questions: real questions with judgements of which documents answer them. nDCG@10 and mean average precision."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Answers", "judge_answers"]

TOP = 10


@dataclass(frozen=True, eq=False)
class Answers:
    """Means over the questions that have an answer among the documents."""

    ndcg_at_10: float
    mean_average_precision: float
    precision_at_10: float
    n_questions: int
    ndcg_of_each: NDArray[np.float64]  # (n_questions,)

    def scores(self) -> dict[str, float]:
        """The numbers of a table's row."""
        return {
            "ndcg@10": self.ndcg_at_10,
            "map": self.mean_average_precision,
            "precision@10": self.precision_at_10,
        }


def judge_answers(scores: ArrayLike, relevant: Sequence[Collection[int]]) -> Answers:
    """How well scores (n_questions, n_documents) rank the documents that answer; of equals the earlier document first.

    ``relevant`` has, for each question, the rows of the documents that answer it; a question without any is left out.

    >>> found = judge_answers([[0.9, 0.8, 0.1]], [{1, 2}])
    >>> round(found.ndcg_at_10, 4), round(found.mean_average_precision, 4)  # ranks 2 and 3 of 3
    (0.6934, 0.5833)
    """
    matrix = np.asarray(scores)
    if matrix.ndim != 2 or len(matrix) != len(relevant):
        raise ValueError(
            f"scores has shape {matrix.shape} for {len(relevant)} questions; expected one row per question, "
            "one column per document"
        )
    judged = [_judge(row, rows) for row, rows in zip(matrix, relevant, strict=True) if len(rows)]
    if not judged:
        raise ValueError("no question has an answer among the documents; expected judgements of some")
    ndcg, average_precision, precision = (np.array(values) for values in zip(*judged, strict=True))
    return Answers(
        float(ndcg.mean()), float(average_precision.mean()), float(precision.mean()), len(judged), ndcg
    )


def _judge(scores: NDArray[Any], relevant: Collection[int]) -> tuple[float, float, float]:
    hits = np.zeros(len(scores), dtype=bool)
    hits[list(relevant)] = True
    ranked = hits[np.argsort(-scores, kind="stable")]
    ranks = np.arange(1, len(ranked) + 1)
    discounts = 1 / np.log2(ranks[:TOP] + 1)
    ideal = discounts[: min(len(relevant), TOP)].sum()
    gained = discounts[ranked[:TOP]].sum()
    average_precision = (np.cumsum(ranked)[ranked] / ranks[ranked]).mean()
    return float(gained / ideal), float(average_precision), float(ranked[:TOP].mean())
