import numpy as np
import pytest

import kate

PEACE = ["treaty", "peace", "nations", "ally", "envoy", "truce"]
MONEY = ["gold", "silver", "coin", "bank", "mint", "dollars"]


@pytest.fixture(scope="session")
def texts():
    random = np.random.default_rng(0)
    return [" ".join(random.choice((PEACE, MONEY)[i % 2], size=4, replace=False)) for i in range(120)]


@pytest.fixture(scope="session")
def model(texts):
    return kate.TextModel(8, random_state=0, verbose=False).fit(texts)
