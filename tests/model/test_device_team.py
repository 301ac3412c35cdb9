"""Several devices: two processes on PyTorch's CPU device, which meet by gloo, end where workers of one process end."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kate import KATE
from kate.model.fitting import fit_network
from kate.model.training import Machine
from model.test_averaged_training import in_process

pytest.importorskip("torch", reason="several devices need the extra gpu")

from kate.model.device_team import OneDevice, over_devices, require_devices


@pytest.fixture(scope="module")
def counts():
    return csr_matrix(np.random.default_rng(0).poisson(0.5, (151, 60)).astype(np.float32))


def test_two_processes_give_the_bits_of_two_workers_in_one(counts):
    settings = {"dropout": 0.3, "max_epochs": 3, "batch_size": 4, "reconstruction_sampling": None}
    model = KATE(6, n_neurons=8, device="cpu", n_jobs=1, verbose=False, **settings)
    ours = fit_network(model, counts, None, share_out=over_devices(2, "gloo", ["cpu", "cpu"]))
    on_torch = OneDevice(1, "cpu", "float32", "cpu")
    expected = fit_network(model, counts, None, share_out=in_process(2, machine_of_workers=on_torch))
    np.testing.assert_array_equal(ours.finished.neurons.W, expected.finished.neurons.W)
    np.testing.assert_array_equal(ours.output_bias, expected.output_bias)
    np.testing.assert_array_equal(ours.finished.encoder.W, expected.finished.encoder.W)
    assert [row["loss"] for row in ours.history] == [row["loss"] for row in expected.history]


def test_a_process_that_fails_says_why(counts):
    with pytest.raises(RuntimeError, match="nowhere"):
        fit_network(
            KATE(6, device="cpu", verbose=False),
            counts,
            None,
            share_out=over_devices(1, "gloo", ["nowhere"]),
        )


def test_devices_that_are_not_there_are_refused(counts):
    with pytest.raises(
        ValueError, match=r"n_devices=2 trains on so many GPUs, and device='cpu' uses none here"
    ):
        KATE(6, device="cpu", n_devices=2).fit(counts)
    with pytest.raises(ValueError, match="n_devices=0: expected a whole number of at least 1"):
        KATE(6, n_devices=0).fit(counts)

    class OnGPUs(Machine):
        def uses_gpu(self):
            return True

    with pytest.raises(ValueError, match=r"n_devices=99, but PyTorch sees \d+ GPUs here"):
        require_devices(99, OnGPUs())
