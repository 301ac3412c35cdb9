from __future__ import annotations

import pytest

from kate.research.reproduce.plan import RunPlan
from research.reproduce.toys import toy_grid


@pytest.fixture(scope="session")
def plan(tmp_path_factory: pytest.TempPathFactory) -> RunPlan:
    return RunPlan(toy_grid(tmp_path_factory.mktemp("grid")))
