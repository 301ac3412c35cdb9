import os

import numpy as np
import pytest

import kate
from kate.text.documents import Documents

# the clients ask loopback only, whatever proxy the machine has
os.environ["NO_PROXY"] = "127.0.0.1"

PEACE = ["treaty", "peace", "nations", "ally", "envoy", "truce"]
MONEY = ["gold", "silver", "coin", "bank", "mint", "dollars"]


def texts(n=120, seed=0):
    random = np.random.default_rng(seed)
    return [" ".join(random.choice((PEACE, MONEY)[i % 2], size=4, replace=False)) for i in range(n)]


@pytest.fixture(scope="session")
def model():
    return kate.TextModel(8, random_state=0, verbose=False).fit(texts())


@pytest.fixture(scope="session")
def model_folder(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served") / "speeches"
    model.save(folder)
    return folder


@pytest.fixture(scope="session")
def index_folder(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served") / "archive"
    titles = [f"number {i}" for i in range(40)]
    kate.Index.build(model, Documents.from_texts(texts(40, seed=1), titles=titles)).save(folder)
    return folder
