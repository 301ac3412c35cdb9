"""Saveable: what is saved comes back, what is damaged or of another kind is refused with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from folder_edits import edit_json
from kate.storage.folders import FolderError
from kate.storage.saving import Saveable


class Scale(Saveable, BaseEstimator):
    def __init__(self, factor: float = 2.0, names: Any = None, random_state: Any = None) -> None:
        self.factor = factor
        self.names = names
        self.random_state = random_state

    def fit(self, X: Any) -> Scale:
        self.sums_ = np.asfortranarray(X * self.factor)
        self.history_ = [{"epoch": 1, "loss": np.float32(0.5), "validation_loss": None}]
        self.settings_ = {"factor": self.factor}
        self.n_features_in_ = np.int64(X.shape[1])
        return self


class Other(Scale):
    pass


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    model = Scale(3, names=("a", "b"), random_state=np.random.RandomState(0)).fit(np.eye(3)[:2])
    model.save(tmp_path / "model")
    return tmp_path / "model"


def test_what_is_saved_comes_back(folder: Path) -> None:
    model = Scale.load(folder)
    assert model.get_params() == {"factor": 3, "names": ["a", "b"], "random_state": None}
    np.testing.assert_array_equal(model.sums_, 3 * np.eye(3)[:2])
    assert model.history_ == [{"epoch": 1, "loss": 0.5, "validation_loss": None}]
    assert (model.settings_, model.n_features_in_) == ({"factor": 3}, 3)
    assert sorted(path.name for path in folder.iterdir()) == ["config.json", "weights.safetensors"]


def test_an_older_save_is_replaced_and_a_strangers_folder_is_not(folder: Path, tmp_path: Path) -> None:
    Scale(5).fit(np.eye(2)).save(folder)
    assert Scale.load(folder).factor == 5
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("dear")
    with pytest.raises(FileExistsError, match="choose another name or empty it"):
        Scale().fit(np.eye(2)).save(tmp_path / "home")


def edit(folder: Path, **changes: Any) -> None:
    edit_json(folder / "config.json", **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format_version": 3}, r"format version 3.*reads version 2: install"),
        ({"format": "kate-index"}, "not of a Kate estimator"),
        ({"model": "Other"}, "class 'Other', not Scale: load it with Other.load"),
        ({"parameters": {"speed": 1}}, "no parameter 'speed'"),
        ({"parameters": None}, "not a whole Scale: TypeError"),
        ({"fitted": 3}, "not a whole Scale"),
    ],
)
def test_what_is_not_ours_is_refused(folder: Path, changes: dict[str, Any], message: str) -> None:
    edit(folder, **changes)
    with pytest.raises(FolderError, match=message):
        Scale.load(folder)


def test_damage_is_refused(folder: Path) -> None:
    weights = folder / "weights.safetensors"
    data = weights.read_bytes()
    weights.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(FolderError, match="not the file that was saved"):
        Scale.load(folder)
    weights.write_bytes(data[:-1])
    with pytest.raises(FolderError, match="bytes long"):
        Scale.load(folder)
    with pytest.raises(FileNotFoundError, match="no estimator folder"):
        Scale.load(folder / "nowhere")


def test_a_model_that_is_not_fitted_or_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        Scale().save(tmp_path / "model")
    with pytest.raises(TypeError, match="JSON cannot hold <object"):
        Scale(names=object()).fit(np.eye(2)).save(tmp_path / "model")
    assert not (tmp_path / "model").exists()
