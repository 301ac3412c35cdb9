"""The tied autoencoder against its equations: the loss, the contraction, the corruptions, the competition."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

torch = pytest.importorskip("torch")

from kate.research.rivals.neural.autoencoders_module import Autoencoder, Corruption  # noqa: E402
from kate.research.rivals.neural.batches import SparseBatch  # noqa: E402

N_WORDS, N_TOPICS = 30, 6
X = csr_matrix(
    np.random.default_rng(0).random((5, N_WORDS)) * (np.random.default_rng(1).random((5, N_WORDS)) < 0.3)
)
DOCUMENTS = SparseBatch.of(X, slice(None), torch.device("cpu"))
DENSE = DOCUMENTS.dense()


def module(**settings):
    made = Autoencoder(N_WORDS, N_TOPICS, torch.Generator().manual_seed(0), **settings)
    with torch.no_grad():
        made.b.normal_(generator=made.generator)
        made.c.normal_(generator=made.generator)
    return made


@pytest.mark.parametrize("reduction", ["sum", "mean"])
def test_cross_entropy_is_summed_or_averaged_over_the_words(reduction):
    made = module(reduction=reduction)
    hidden = torch.sigmoid(DENSE @ made.W + made.b)
    rebuilt = torch.sigmoid(hidden @ made.W.T + made.c)
    expected = -(DENSE * rebuilt.log() + (1 - DENSE) * (1 - rebuilt).log())
    expected = expected.sum(dim=1) if reduction == "sum" else expected.mean(dim=1)
    torch.testing.assert_close(made.loss(DOCUMENTS), expected.mean())


def test_softmax_loss_is_the_multinomial_likelihood():
    made = module(loss="softmax", activation="tanh")
    rebuilt = torch.softmax(torch.tanh(DENSE @ made.W + made.b) @ made.W.T + made.c, dim=1)
    torch.testing.assert_close(made.loss(DOCUMENTS), -(DENSE * rebuilt.log()).sum(dim=1).mean())


@pytest.mark.parametrize("activation", ["sigmoid", "tanh", "relu", "linear"])
def test_the_contraction_is_the_norm_of_the_jacobian_on_the_live_weights(activation):
    made = module(activation=activation, penalty=0.3)
    plain = module(activation=activation)

    def code(x):
        potential = x @ made.W + made.b
        return potential if activation == "linear" else getattr(torch, activation)(potential)

    jacobians = [torch.autograd.functional.jacobian(code, x) for x in DENSE]
    norm = torch.stack([jacobian.square().sum() for jacobian in jacobians]).mean()
    torch.testing.assert_close(made.loss(DOCUMENTS) - plain.loss(DOCUMENTS), 0.3 * norm, atol=1e-4, rtol=1e-4)
    # the penalty itself pulls at W, not at a copy of it
    (pull,) = torch.autograd.grad(made.contraction(code(DENSE)), made.W)
    assert pull.abs().sum() > 0


def test_only_the_highest_speak_in_training_and_all_in_use():
    made = module(activation="linear", n_winners=2)
    hidden = DENSE @ made.W + made.b
    threshold = hidden.sort(dim=1, descending=True).values[:, 1:2]
    kept = torch.where(hidden >= threshold, hidden, 0)
    rebuilt = torch.sigmoid(kept @ made.W.T + made.c)
    expected = -(DENSE * rebuilt.log() + (1 - DENSE) * (1 - rebuilt).log()).sum(dim=1).mean()
    torch.testing.assert_close(made.loss(DOCUMENTS), expected)
    torch.testing.assert_close(made.eval().codes(DOCUMENTS), hidden)


def potential_of(x_seen, made):
    return x_seen @ made.W + made.b


def test_masking_hides_words_in_training_alone():
    made = module(corruption=Corruption("masking", 0.5))
    drawn = torch.stack([made._potential(DOCUMENTS) for _ in range(2000)])
    expected = potential_of(DENSE, made)
    assert drawn.std(dim=0).min() > 0
    torch.testing.assert_close(drawn.mean(dim=0), expected, atol=0.06, rtol=0.0)
    torch.testing.assert_close(made.eval()._potential(DOCUMENTS), expected)


def test_gaussian_and_salt_and_pepper_noise():
    made = module()
    shaken = made._shaken(DENSE, Corruption("gaussian", 0.1)) - DENSE
    assert 0.05 < shaken.std() < 0.15
    hit = made._shaken(torch.full((100, 100), 0.5), Corruption("salt-and-pepper", 0.2))
    shares = [(hit == value).float().mean().item() for value in (0.0, 0.5, 1.0)]
    np.testing.assert_allclose(shares, [0.1, 0.8, 0.1], atol=0.02)
    for noise in ("gaussian", "salt-and-pepper"):
        assert module(corruption=Corruption(noise, 0.1)).loss(DOCUMENTS).isfinite()


def test_everything_random_comes_from_the_generator_alone():
    torch.manual_seed(5)
    expected = torch.rand(1)
    torch.manual_seed(5)
    first, second = (module(corruption=Corruption("masking", 0.3)).loss(DOCUMENTS) for _ in range(2))
    assert first == second
    assert torch.rand(1) == expected
