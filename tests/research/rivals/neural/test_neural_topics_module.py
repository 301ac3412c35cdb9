"""VAE, NVDM, ProdLDA and ETM against their equations."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

torch = pytest.importorskip("torch")
from torch.distributions import Normal, kl_divergence  # noqa: E402

from kate.research.rivals.neural import losses  # noqa: E402
from kate.research.rivals.neural.batches import SparseBatch  # noqa: E402
from kate.research.rivals.neural.gaussian import read_as  # noqa: E402
from kate.research.rivals.neural.neural_topics_module import (  # noqa: E402
    EmbeddedTopicModel,
    NeuralVariationalDocumentModel,
    ProductOfExperts,
    laplace_variance,
)
from kate.research.rivals.neural.vae_module import VariationalAutoencoder  # noqa: E402

N_WORDS, N_TOPICS = 20, 5
COUNTS = csr_matrix(np.random.default_rng(0).poisson(0.6, (7, N_WORDS)).astype(np.float32))
DOCUMENTS = SparseBatch.of(COUNTS, slice(None), torch.device("cpu"))
DENSE = DOCUMENTS.dense()
READER = {
    "n_hidden": 8, "n_layers": 2, "squash": "tanh", "reading": "log",
    "dropout": 0.0, "kl_weight": 0.7, "kl_warmup": 0.0,
}  # fmt: skip


def generator():
    return torch.Generator().manual_seed(0)


def nvdm(**changes):
    return NeuralVariationalDocumentModel(
        N_WORDS, N_TOPICS, generator(), alternate=False, **(READER | changes)
    )


def prodlda(**changes):
    settings = READER | {"concentration": 0.5, "topic_dropout": 0.0, "output": "shares"} | changes
    return ProductOfExperts(N_WORDS, N_TOPICS, generator(), **settings)


def etm(**changes):
    return EmbeddedTopicModel(
        N_WORDS, N_TOPICS, generator(), n_embedding=6, **(READER | {"output": "shares"} | changes)
    )


def test_the_divergence_is_that_of_gaussians():
    mean, log_variance = torch.randn(2, 4, 3, generator=generator())
    expected = kl_divergence(Normal(mean, (0.5 * log_variance).exp()), Normal(0.0, 2.0**0.5)).sum(dim=1)
    torch.testing.assert_close(losses.kl_divergence(mean, log_variance, 2.0), expected)


def test_what_the_network_sees_of_counts():
    torch.testing.assert_close(read_as(DOCUMENTS, "counts").dense(), DENSE)
    torch.testing.assert_close(read_as(DOCUMENTS, "log").dense(), DENSE.log1p())
    torch.testing.assert_close(read_as(DOCUMENTS, "shares").dense(), DENSE / DENSE.sum(dim=1, keepdim=True))


def test_nvdm_without_noise_is_its_equation():
    made = nvdm().eval()
    hidden = torch.tanh(DENSE.log1p() @ made.U + made.u)
    hidden = torch.tanh(hidden @ made.layers[0].weight.T + made.layers[0].bias)
    mean = hidden @ made.mean.weight.T + made.mean.bias
    words = torch.softmax(mean @ made.R.T + made.c, dim=1)
    divergence = losses.kl_divergence(mean, torch.zeros_like(mean)).mean()
    expected = -(DENSE * words.log()).sum(dim=1).mean() + 0.7 * divergence
    torch.testing.assert_close(made.loss(DOCUMENTS), expected)
    torch.testing.assert_close(made.codes(DOCUMENTS), mean)


def test_the_draw_has_the_mean_and_the_variance_that_were_read():
    made = nvdm()
    mean, log_variance = torch.tensor([[0.5, -1.0]]), torch.tensor([[0.0, 1.0]])
    drawn = torch.stack([made.draw(mean, log_variance) for _ in range(5000)])
    torch.testing.assert_close(drawn.mean(dim=0), mean, atol=0.08, rtol=0.0)
    torch.testing.assert_close(drawn.var(dim=0), log_variance.exp(), atol=0.15, rtol=0.0)
    torch.testing.assert_close(made.eval().draw(mean, log_variance), mean)


def test_the_weight_of_the_divergence_rises_in_training_and_is_whole_outside():
    made = nvdm(kl_warmup=0.5)
    mean, log_variance = torch.ones(1, 2), torch.zeros(1, 2)
    weights = []
    for made.progress in (0.0, 0.25, 0.5, 1.0):
        weights.append(made.divergence(mean, log_variance).item())
    np.testing.assert_allclose(weights, [0, 0.35, 0.7, 0.7], rtol=1e-5)
    made.progress = 0.0
    assert made.eval().divergence(mean, log_variance).item() == pytest.approx(0.7)


def test_reader_and_writer_take_turns_where_asked():
    made = NeuralVariationalDocumentModel(N_WORDS, N_TOPICS, generator(), alternate=True, **READER)
    writer, reader = made.turns()
    assert {id(each) for each in writer} == {id(made.R), id(made.c)}
    assert len(writer) + len(reader) == len(list(made.parameters()))
    assert len(nvdm().turns()) == 1


def test_prodlda_multiplies_topics():
    made = prodlda()
    z = torch.randn(7, N_TOPICS, generator=generator())
    product = z.softmax(dim=1) @ made.B
    normal = (product - product.mean(dim=0)) / (product.var(dim=0, unbiased=False) + 1e-5).sqrt()
    torch.testing.assert_close(made.log_words(z), normal.log_softmax(dim=1), atol=1e-4, rtol=1e-4)
    assert laplace_variance(4, 0.5) == pytest.approx(2 * (1 - 2 / 4) + 2 / 4)
    assert made.prior_variance == laplace_variance(N_TOPICS, 0.5)


def test_etm_mixes_topics_that_are_points_among_the_words():
    made = etm()
    beta = torch.softmax(made.alpha @ made.rho.T, dim=1)
    torch.testing.assert_close(made.topics(), beta)
    z = torch.randn(7, N_TOPICS, generator=generator())
    torch.testing.assert_close(made.log_words(z), (z.softmax(dim=1) @ beta).log(), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(made.log_words(z).exp().sum(dim=1), torch.ones(7), atol=1e-4, rtol=0.0)


@pytest.mark.parametrize("make", [prodlda, etm])
def test_vectors_are_shares_or_means(make):
    shares, means = make().eval().codes(DOCUMENTS), make(output="mean").eval().codes(DOCUMENTS)
    torch.testing.assert_close(means.softmax(dim=1), shares)


def test_the_variational_autoencoder_without_noise_is_its_equation():
    x = SparseBatch.of(COUNTS / COUNTS.max(), slice(None), torch.device("cpu"))
    made = VariationalAutoencoder(
        N_WORDS,
        N_TOPICS,
        generator(),
        n_hidden=8,
        loss="cross-entropy",
        dropout=0.0,
        kl_weight=0.3,
        kl_warmup=0.0,
    ).eval()
    hidden = torch.tanh(x.dense() @ made.U + made.u)
    mean = hidden @ made.mean.weight.T + made.mean.bias
    log_variance = hidden @ made.log_variance.weight.T + made.log_variance.bias
    back = torch.tanh(mean @ made.V.weight.T + made.V.bias)
    rebuilt = torch.sigmoid(back @ made.U.T + made.c)
    entropy = -(x.dense() * rebuilt.log() + (1 - x.dense()) * (1 - rebuilt).log()).sum(dim=1).mean()
    expected = entropy + 0.3 * losses.kl_divergence(mean, log_variance).mean()
    torch.testing.assert_close(made.loss(x), expected)
    torch.testing.assert_close(made.codes(x), mean)
    assert made.topics().shape == (N_TOPICS, N_WORDS)
