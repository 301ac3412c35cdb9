"""The deep belief net: free energies against sums over all hidden states, CD-1 against its update rule."""

from itertools import product

import numpy as np
import pytest
from scipy.sparse import csr_matrix

torch = pytest.importorskip("torch")

from kate.research.rivals.neural.batches import SparseBatch  # noqa: E402
from kate.research.rivals.neural.dbn_module import DeepBeliefNet  # noqa: E402

N_WORDS, N_HIDDEN, N_TOPICS = 6, 4, 3
COUNTS = csr_matrix(np.random.default_rng(0).poisson(0.8, (5, N_WORDS)).astype(np.float32))
DOCUMENTS = SparseBatch.of(COUNTS, slice(None), torch.device("cpu"))
X, LENGTHS = DOCUMENTS.dense(), DOCUMENTS.totals[:, None]


def net():
    made = DeepBeliefNet(
        N_WORDS, N_TOPICS, torch.Generator().manual_seed(0), n_hidden=N_HIDDEN, output="activation"
    )
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(std=0.5, generator=made.generator)
    return made


def binary_states(n):
    return torch.tensor(list(product([0.0, 1.0], repeat=n)))


def test_free_energies_sum_over_all_hidden_states():
    made = net()
    states = binary_states(N_HIDDEN)
    energies = -(X @ made.b)[:, None] - (X @ made.W) @ states.T - (LENGTHS * made.a) @ states.T
    torch.testing.assert_close(
        made.words_energy(X @ made.W, X @ made.b, LENGTHS), -(-energies).logsumexp(dim=1)
    )
    hidden, states = torch.rand(5, N_HIDDEN, generator=made.generator), binary_states(N_TOPICS)
    energies = -(hidden @ made.e)[:, None] - (hidden @ made.U + made.d) @ states.T
    torch.testing.assert_close(made.topics_energy(hidden), -(-energies).logsumexp(dim=1))


def test_the_gradient_of_the_words_is_contrastive_divergence():
    made = net()
    state = made.generator.get_state()
    made.loss(DOCUMENTS).backward()
    made.generator.set_state(state)
    with torch.no_grad():
        up = torch.sigmoid(X @ made.W + LENGTHS * made.a)
        drawn = torch.bernoulli(up, generator=made.generator)
        dreamt = LENGTHS * torch.softmax(drawn @ made.W.T + made.b, dim=1)
        again = torch.sigmoid(dreamt @ made.W + LENGTHS * made.a)
    n = len(X)
    torch.testing.assert_close(made.W.grad, -(X.T @ up - dreamt.T @ again) / n)
    torch.testing.assert_close(made.b.grad, -(X - dreamt).mean(dim=0))
    torch.testing.assert_close(made.a.grad, -(LENGTHS * (up - again)).mean(dim=0))


def test_the_gradient_of_the_topics_is_contrastive_divergence_and_spares_the_words():
    made = net()
    made.stage = "topics"
    state = made.generator.get_state()
    made.loss(DOCUMENTS).backward()
    made.generator.set_state(state)
    with torch.no_grad():
        hidden = torch.sigmoid(X @ made.W + LENGTHS * made.a)
        up = torch.sigmoid(hidden @ made.U + made.d)
        dreamt = torch.sigmoid(torch.bernoulli(up, generator=made.generator) @ made.U.T + made.e)
        again = torch.sigmoid(dreamt @ made.U + made.d)
    torch.testing.assert_close(made.U.grad, -(hidden.T @ up - dreamt.T @ again) / len(X))
    assert made.W.grad is None


def test_fine_tuning_unrolls_both_layers():
    made = net()
    made.stage = "fine-tuning"
    topics = torch.sigmoid(torch.sigmoid(X @ made.W + LENGTHS * made.a) @ made.U + made.d)
    words = torch.softmax(torch.sigmoid(topics @ made.U.T + made.e) @ made.W.T + made.b, dim=1)
    torch.testing.assert_close(made.loss(DOCUMENTS), -(X * words.log()).sum(dim=1).mean())
    torch.testing.assert_close(made.codes(DOCUMENTS), topics)


def test_each_stage_trains_its_own():
    made = net()
    sizes = []
    for made.stage in ("words", "topics", "fine-tuning"):
        sizes.append(len(made.turns()[0]))
        assert made.eval().loss(DOCUMENTS) == made.loss(DOCUMENTS)  # nothing drawn outside of training
    assert sizes == [3, 3, 6]
