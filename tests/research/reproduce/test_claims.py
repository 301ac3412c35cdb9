"""The paper's claims: yes, no, or not known yet, with figures."""

from __future__ import annotations

from typing import Any

from kate.research.reproduce.claims import Claim, check_claims
from kate.research.reproduce.lookup import Results
from kate.research.reproduce.plan import GridCell, RunPlan
from research.reproduce.toys import invented


def claims_of(plan: RunPlan, records: dict[str, Any]) -> dict[str, Claim]:
    return {claim.name: claim for claim in check_claims(Results(plan, records))}


def set_score(plan: RunPlan, records: dict[str, Any], cell: GridCell, value: float) -> None:
    for seed in plan.seeds:
        records[plan.planned(cell, seed).key or ""]["scores"]["classification"]["accuracy"] = value


def test_claims_without_runs_are_not_known(plan: RunPlan) -> None:
    claims = claims_of(plan, {})
    assert set(claims) == {"amplification-mscd", "tanh-sigmoid", "alpha"}  # the toy grid has no AE in table 6
    for claim in claims.values():
        assert {answer.word for answer in claim.answers.values()} == {"not known yet"}
    assert "not run yet" in str(claims["alpha"].answers["paper"].comparisons[0])


def test_claims_are_answered_by_the_figures(plan: RunPlan) -> None:
    records = invented(plan)
    sigmoid = GridCell("toy", "kate", "paper", 4, (("activation", "sigmoid"),))
    set_score(plan, records, sigmoid, 0.2)
    set_score(plan, records, GridCell("toy", "kate", "tuned", 4, (("activation", "sigmoid"),)), 0.9)
    tanh = claims_of(plan, records)["tanh-sigmoid"]
    assert tanh.answers["paper"].word == "yes"
    assert tanh.answers["tuned"].word == "no"
    assert "tanh 0.550 ± 0.071, sigmoid 0.200" in str(tanh.answers["paper"].comparisons[0])
    assert tanh.as_dict()["tuned"]["answer"] == "no"


def test_a_difference_within_the_noise_says_so(plan: RunPlan) -> None:
    records = invented(plan)
    set_score(plan, records, GridCell("toy", "kate", "paper", 4, (("activation", "sigmoid"),)), 0.54)
    comparison = claims_of(plan, records)["tanh-sigmoid"].answers["paper"].comparisons[0]
    assert comparison.holds
    assert str(comparison).endswith("(within one standard deviation)")
