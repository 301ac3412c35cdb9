"""Questions with judgements: nDCG and average precision beside scikit-learn's."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, ndcg_score

from kate.research.metrics.questions import judge_answers


def test_the_scores_are_those_of_scikit_learn():
    random = np.random.default_rng(0)
    scores = random.random((20, 50))
    relevant = [set(random.choice(50, random.integers(1, 15), replace=False).tolist()) for _ in range(20)]
    truth = np.array([[row in rows for row in range(50)] for rows in relevant])
    found = judge_answers(scores, relevant)
    assert found.ndcg_at_10 == pytest.approx(ndcg_score(truth, scores, k=10))
    expected = np.mean([average_precision_score(t, s) for t, s in zip(truth, scores, strict=True)])
    assert found.mean_average_precision == pytest.approx(expected)


def test_a_question_without_an_answer_is_left_out():
    found = judge_answers([[1.0, 0.0], [0.0, 1.0]], [{0}, set()])
    assert (found.n_questions, found.ndcg_at_10, found.mean_average_precision) == (1, 1.0, 1.0)


def test_of_equal_scores_the_earlier_document_comes_first():
    assert judge_answers([[0.5, 0.5]], [{1}]).mean_average_precision == 0.5


def test_wrong_shapes_are_named():
    with pytest.raises(ValueError, match="for 1 questions"):
        judge_answers([[1.0], [2.0]], [{0}])
    with pytest.raises(ValueError, match="no question has an answer"):
        judge_answers([[1.0]], [set()])
