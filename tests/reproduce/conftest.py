from __future__ import annotations

import pytest

from kate.reproduce.plan import Plan
from reproduce.toys import toy_grid


@pytest.fixture(scope="session")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    return Plan(toy_grid(tmp_path_factory.mktemp("grid")))
