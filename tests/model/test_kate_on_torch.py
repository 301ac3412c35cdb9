"""KATE trained by the GPU's engine, on PyTorch's CPU device, ends where the CPU engine ends."""

from functools import partial

import numpy as np
import pytest

from kate import KATE
from kate.model import fitting
from kate.model.training import KATETraining, Machine

pytest.importorskip("torch", reason="the GPU engine needs the extra gpu")

from kate.engines.gpu.torch_engine import TorchEngine
from kate.engines.network import Network, Recipe


class OnTorch(Machine):
    def engine(self, network, recipe):
        return TorchEngine(network, recipe, "cpu")


@pytest.fixture
def on_torch(monkeypatch):
    """Call it to let KATE train on PyTorch from then on."""
    return lambda: monkeypatch.setattr(fitting, "_machine", lambda parameters: OnTorch())


@pytest.fixture
def counts():
    """Documents of which dropout leaves some words.

    Of a document without words the biases alone compete, and Adam's first steps make those all but equal: who wins is
    then decided by the last bits, in which no two engines agree.
    """
    return np.random.default_rng(0).poisson(0.8, size=(60, 25))


@pytest.mark.parametrize(
    "make", [partial(KATE, dropout=0.3), KATE.paper], ids=["defaults with less dropout", "paper"]
)
def test_it_learns_the_same_model(make, counts, on_torch):
    settings = {
        "random_state": 1,
        "max_epochs": 6,
        "validation_fraction": 0.2,
        "patience": 2,
        "batch_size": 16,
    }
    expected = make(8, **settings).fit(counts)
    on_torch()
    ours = make(8, **settings).fit(counts)
    np.testing.assert_allclose(ours.word_vectors_, expected.word_vectors_, atol=1e-4)
    np.testing.assert_allclose(ours.output_bias_, expected.output_bias_, atol=1e-4)
    np.testing.assert_allclose(ours.transform(counts), expected.transform(counts), rtol=1e-4, atol=1e-4)
    for row, same in zip(ours.history_, expected.history_, strict=True):
        assert row["loss"] == pytest.approx(same["loss"], rel=1e-4)
        assert row["validation_loss"] == pytest.approx(same["validation_loss"], rel=1e-4)


def test_the_best_epoch_is_kept(counts, on_torch):
    """A snapshot is fetched from the device when it is taken, and put back."""
    on_torch()
    model = KATE(
        8, dropout=0.0, learning_rate=0.5, decay="none", warmup=0.0, random_state=1, max_epochs=8, patience=8
    )
    model.fit(counts[:40], validation=counts[40:])
    losses = [row["validation_loss"] for row in model.history_]
    best = int(np.argmin(losses)) + 1
    assert best < 8  # at that rate it gets worse again
    until_then = KATE(**(model.get_params() | {"max_epochs": best, "patience": None}))
    until_then.fit(counts[:40], validation=counts[40:])
    np.testing.assert_array_equal(model.word_vectors_, until_then.word_vectors_)


def test_it_goes_on_from_where_it_was(counts, on_torch):
    expected = KATE(8, dropout=0.3, random_state=1).partial_fit(counts).partial_fit(counts)
    on_torch()
    ours = KATE(8, dropout=0.3, random_state=1).partial_fit(counts).partial_fit(counts)
    np.testing.assert_allclose(ours.word_vectors_, expected.word_vectors_, atol=1e-4)


def test_it_goes_on_to_the_bit_after_a_reload(counts, on_torch, tmp_path):
    on_torch()
    model = KATE(8, dropout=0.3, random_state=1).partial_fit(counts[:40])
    model.save(tmp_path / "model")
    loaded = KATE.load(tmp_path / "model")
    for rows in (counts[40:], counts[:20]):
        np.testing.assert_array_equal(
            loaded.partial_fit(rows).word_vectors_, model.partial_fit(rows).word_vectors_
        )


def test_an_interrupted_fit_keeps_the_last_complete_epoch_on_request(counts, on_torch, monkeypatch):
    on_torch()
    expected = KATE(8, max_epochs=4, decay="none", warmup=0.0).fit(counts)
    train_epoch = KATETraining.train_epoch

    def interrupted_in_the_fifth(self, epoch):
        loss = train_epoch(self, epoch)
        if epoch == 4:
            raise KeyboardInterrupt
        return loss

    monkeypatch.setattr(KATETraining, "train_epoch", interrupted_in_the_fifth)
    with pytest.warns(UserWarning, match="interrupted after 4 of at most 9 epochs"):
        model = KATE(8, max_epochs=9, decay="none", warmup=0.0).fit(counts, keep_on_interrupt=True)
    np.testing.assert_array_equal(model.word_vectors_, expected.word_vectors_)


def test_a_sample_of_the_words_is_reconstructed_on_the_cpu_alone(counts):
    with pytest.raises(ValueError, match="reconstruction_sampling works on the CPU only"):
        KATE(8, device="cuda", reconstruction_sampling=5, max_epochs=1).fit(counts)
    with pytest.raises(ValueError, match="n_sampled must be 0"):
        TorchEngine(
            Network(*(np.zeros(shape, np.float32) for shape in ((5, 2), 2, 5))), Recipe(n_sampled=3), "cpu"
        )
