"""Steps of fixed shapes learn what sparse ones learn; on a GPU, where one is, by replaying a graph."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

torch = pytest.importorskip("torch", reason="neural models need the extra paper")

from kate.research.registry import make_model  # noqa: E402
from kate.research.rivals.neural.batches import DenseBatch, SparseBatch  # noqa: E402
from kate.research.rivals.neural.neural_steps import EpochPlan, FixedSteps, SparseSteps, steps_for  # noqa: E402

DEVICES = ["cpu"] + ["cuda"] * torch.cuda.is_available()
COUNTS = csr_matrix(np.random.default_rng(0).poisson(0.6, size=(23, 30)).astype(np.float32))
N_EPOCHS = 6  # of two sizes of batches, so that both are captured on a GPU, and replayed


def module_of(name, device, **settings):
    model = make_model(name, 6, {"vae.n_hidden": 16, "dbn.n_hidden": 16} | settings)
    generator = torch.Generator(device).manual_seed(1)
    return model._build(COUNTS.shape[1], generator)


def plans(n_turns=1):
    random = np.random.default_rng(2)
    for epoch in range(N_EPOCHS):
        batches = np.array_split(random.permutation(COUNTS.shape[0]), 3)
        rates = np.linspace(0.01, 0.03, 3)
        yield EpochPlan(batches, rates, (epoch + np.arange(3) / 3) / N_EPOCHS, epoch % n_turns)


def trained(kind, module, optimizer):
    steps = kind(module.train(), COUNTS, optimizer, 0.01, 1e-7)
    losses = [steps.run(plan) for plan in plans(len(module.turns()))]
    return losses, {name: value.cpu().numpy() for name, value in module.state_dict().items()}


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("optimizer", ["adam", "adadelta", "sgd"])
@pytest.mark.parametrize("name", ["ae", "cae", "ksae"])
def test_fixed_steps_end_where_sparse_steps_end(name, optimizer, device):
    losses, weights = trained(SparseSteps, module_of(name, device), optimizer)
    fixed_losses, fixed_weights = trained(FixedSteps, module_of(name, device), optimizer)
    np.testing.assert_allclose(fixed_losses, losses, rtol=1e-4)
    assert losses[-1] < losses[0]
    for each, value in weights.items():
        np.testing.assert_allclose(fixed_weights[each], value, rtol=1e-3, atol=1e-4, err_msg=each)


@pytest.mark.parametrize("name", ["nvdm", "vae"])
def test_turns_and_warm_up_are_followed(name, monkeypatch):
    """With the noise put out both forms see the same progress and train the same turn."""
    weights = []
    for kind in (SparseSteps, FixedSteps):
        module = module_of(name, "cpu", kl_warmup=0.5)
        monkeypatch.setattr(module, "normal_like", torch.zeros_like)
        weights.append(trained(kind, module, "adam")[1])
    for each, value in weights[0].items():
        np.testing.assert_allclose(weights[1][each], value, rtol=1e-3, atol=1e-4, err_msg=each)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", ["dae", "vae", "nvdm", "prodlda", "etm", "dbn"])
def test_a_seed_repeats_itself_and_every_step_draws_anew(name, device):
    first, again = (trained(FixedSteps, module_of(name, device), "adam") for _ in range(2))
    np.testing.assert_allclose(first[0], again[0], rtol=1e-4)
    assert np.all(np.isfinite(first[0]))
    module = module_of(name, device).train()
    documents = DenseBatch(torch.as_tensor(COUNTS.toarray(), device=device))
    with torch.no_grad():
        assert module.loss(documents) != module.loss(documents)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA GPU here")
def test_a_gpu_replays_graphs():
    steps = steps_for(module_of("vae", "cuda").train(), COUNTS, "adam", 0.01, 1e-7)
    assert isinstance(steps, FixedSteps)
    for plan in plans():
        steps.run(plan)
    assert set(steps._graphs) == {(0, 7), (0, 8)}
    seen = set()
    for _ in range(3):  # the same documents, at no learning rate: only the draws differ
        seen.add(steps.run(EpochPlan([np.arange(8), np.arange(8), np.arange(7)], np.zeros(3), np.ones(3), 0)))
    assert len(seen) == 3


def test_a_cpu_and_a_module_without_fixed_shapes_take_sparse_steps():
    for name in ("ae", "docnade"):
        assert isinstance(steps_for(module_of(name, "cpu"), COUNTS, "adam", 0.01, 1e-7), SparseSteps)
    assert not module_of("docnade", "cpu").has_fixed_shapes


def test_both_forms_of_documents_say_the_same():
    sparse = SparseBatch.of(COUNTS, np.array([3, 0, 7]), torch.device("cpu"))
    dense = DenseBatch(torch.as_tensor(COUNTS[[3, 0, 7]].toarray()))
    weights = torch.randn(COUNTS.shape[1], 4, generator=torch.Generator().manual_seed(0))
    assert (len(sparse), sparse.n_words) == (len(dense), dense.n_words)
    torch.testing.assert_close(sparse.totals, dense.totals)
    torch.testing.assert_close(sparse.dense(), dense.dense())
    torch.testing.assert_close(sparse.times(weights), dense.times(weights))
    for each in ("words", "rows", "values"):
        torch.testing.assert_close(getattr(sparse.entries(), each), getattr(dense.entries(), each))
    halves = [each.with_values(each.values / each.spread(2 * each.totals)).totals for each in (sparse, dense)]
    torch.testing.assert_close(halves[0], halves[1])
