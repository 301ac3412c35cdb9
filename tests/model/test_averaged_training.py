"""Several workers: one of them does what plain training does, to the bit; a round can be done again."""

from contextlib import contextmanager

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kate import KATE
from kate.model.averaged_training import AveragedTraining, InProcessTeam, shares_of
from kate.model.fitting import fit_network
from kate.model.local_worker import Round, Schedule, dealt_rows
from kate.model.training import Machine


def in_process(n_workers, teams=None, machine_of_workers=None):
    """Training by workers that take their turns in this process."""

    @contextmanager
    def share_out(learner, counts, max_epochs, machine):
        schedule = Schedule.of(learner.settings, counts.shape[0], n_workers)
        on = machine_of_workers or machine
        team = InProcessTeam.of(learner, counts, schedule, max_epochs, n_workers, on)
        if teams is not None:
            teams.append(team)
        yield AveragedTraining(learner, team, schedule, max_epochs)

    return share_out


@pytest.fixture(scope="module")
def counts():
    return csr_matrix(np.random.default_rng(0).poisson(0.3, (300, 200)).astype(np.float32))


def weights_of(fitted):
    return [
        fitted.finished.neurons.W,
        fitted.finished.neurons.b,
        fitted.output_bias,
        fitted.finished.encoder.W,
    ]


@pytest.mark.parametrize(
    "settings",
    [{}, {"max_steps": 41}, {"reconstruction_sampling": 50}, {"validation_fraction": 0.1, "patience": 1}],
    ids=["defaults", "an epoch cut short", "sampled words", "early stopping"],
)
def test_one_worker_is_plain_training(counts, settings):
    model = KATE(8, random_state=3, device="cpu", **settings)
    plain = fit_network(model, counts, None)
    shared = fit_network(model, counts, None, share_out=in_process(1))
    for ours, expected in zip(weights_of(shared), weights_of(plain), strict=True):
        np.testing.assert_array_equal(ours, expected)
    for ours, expected in zip(shared.history, plain.history, strict=True):
        assert ours["loss"] == pytest.approx(expected["loss"], rel=1e-12)
        assert ours["validation_loss"] == expected["validation_loss"]


def test_the_same_seed_and_number_of_workers_give_the_same_bits(counts):
    def fit(n_workers, seed):
        model = KATE(8, random_state=seed, device="cpu")
        return fit_network(model, counts, None, share_out=in_process(n_workers)).finished.encoder.W

    np.testing.assert_array_equal(fit(3, 0), fit(3, 0))
    assert not np.array_equal(fit(3, 0), fit(3, 1))
    assert not np.array_equal(fit(3, 0), fit(2, 0))


def test_a_round_done_again_by_a_new_worker_gives_the_same_bits(counts):
    teams = []
    fit_network(KATE(8, device="cpu"), counts, None, share_out=in_process(2, teams))
    [team] = teams
    steps = Round(epoch=2, start=1, stop=9)
    first = team.workers[1].train_round(team.flat, steps)
    team.workers[1].train_round(first.flat, Round(4, 0, 3))  # something else in between
    again = team.workers[1].train_round(team.flat, steps)
    assert first.flat.tobytes() == again.flat.tobytes()
    assert (first.loss, first.n_documents) == (again.loss, again.n_documents)
    assert not np.array_equal(first.flat, team.flat)


def test_a_round_is_the_mean_of_what_its_workers_learn(counts):
    teams = []
    fit_network(KATE(8, device="cpu"), counts[:299], None, share_out=in_process(2, teams))
    [team] = teams
    steps, before = Round(0, 0, 4), team.flat
    results = [worker.train_round(before, steps) for worker in team.workers]
    loss, n_documents = team.train_round(steps)
    shares = np.array([result.n_documents for result in results]) / n_documents
    expected = sum(share * result.flat for share, result in zip(shares, results, strict=True))
    np.testing.assert_allclose(team.flat, expected, rtol=1e-6, atol=1e-9)
    assert loss == sum(result.loss for result in results)


def test_every_document_is_learned_from_once_in_an_epoch(counts):
    teams = []
    fit_network(KATE(8, device="cpu"), counts, None, share_out=in_process(3, teams))
    for worker in teams[0].workers:
        plan = worker._plan_of(1)
        assert sorted(np.concatenate(plan.batches)) == list(range(100))
        assert len(plan.batches) == teams[0].workers[0].schedule.n_batches
    dealt = [dealt_rows(300, 3, worker) for worker in range(3)]
    assert sorted(np.concatenate(dealt)) == list(range(300))


def test_documents_dealt_by_pieces_are_those_dealt_at_once():
    for worker in range(3):
        whole = dealt_rows(100, 3, worker)
        pieces = [
            first + dealt_rows(stop - first, 3, worker, first)
            for first, stop in ((0, 7), (7, 8), (8, 60), (60, 100))
        ]
        np.testing.assert_array_equal(np.concatenate(pieces), whole)


def test_two_workers_learn_what_one_learns():
    """Two themes: documents of one are nearer to each other than to those of the other, however many workers."""
    random = np.random.default_rng(1)
    theme = np.arange(400) % 2
    rates = np.full((400, 60), 0.1)
    rates[theme == 0, :30] = rates[theme == 1, 30:] = 0.6
    counts = csr_matrix(random.poisson(rates).astype(np.float32))
    for n_workers in (1, 2, 4):
        fitted = fit_network(
            KATE(2, n_neurons=8, device="cpu", mean="keep"), counts, None, share_out=in_process(n_workers)
        )
        vectors = fitted.finished.encoder.vectors(counts)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = vectors @ vectors.T
        same = theme[:, None] == theme
        assert cosines[same].mean() > cosines[~same].mean() + 0.3


def test_more_workers_than_documents_are_refused(counts):
    with pytest.raises(
        ValueError, match="200 workers share 300 documents, which is less than one for every step"
    ):
        fit_network(KATE(8, device="cpu"), counts, None, share_out=in_process(200))


def test_shares_follow_the_documents():
    assert shares_of([1, 3]) == [0.25, 0.75]


def test_workers_on_the_gpu_engine_end_where_those_on_the_cpu_engine_end(counts):
    pytest.importorskip("torch", reason="the GPU engine needs the extra gpu")
    from kate.engines.gpu.torch_engine import TorchEngine

    class OnTorch(Machine):
        def engine(self, network, recipe):
            return TorchEngine(network, recipe, "cpu")

    model = KATE(8, dropout=0.3, random_state=1, max_epochs=3, device="cpu", reconstruction_sampling=None)
    expected = fit_network(model, counts, None, share_out=in_process(2))
    ours = fit_network(model, counts, None, share_out=in_process(2, machine_of_workers=OnTorch()))
    np.testing.assert_allclose(ours.finished.neurons.W, expected.finished.neurons.W, atol=2e-4)
    np.testing.assert_allclose(ours.output_bias, expected.output_bias, atol=2e-4)
