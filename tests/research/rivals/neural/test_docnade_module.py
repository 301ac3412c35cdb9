"""DocNADE against brute force on a tiny vocabulary: every sequence of words, every order, every place."""

from itertools import permutations, product

import numpy as np
import pytest
from scipy.sparse import csr_matrix

torch = pytest.importorskip("torch")

from kate.research.rivals.neural.batches import SparseBatch  # noqa: E402
from kate.research.rivals.neural.docnade_module import DocNADEModule, shuffled, tokens_of  # noqa: E402

N_WORDS, N_TOPICS = 5, 3
CPU = torch.device("cpu")


def module(words="softmax", **settings):
    defaults = {"activation": "tanh", "targets": "next", "n_positions": None}
    made = DocNADEModule(
        N_WORDS, N_TOPICS, torch.Generator().manual_seed(0), words=words, **(defaults | settings)
    )
    with torch.no_grad():  # far from the start, where all words are alike
        for parameter in made.parameters():
            parameter.normal_(generator=made.generator)
    return made


def sequences(*documents):
    rows = torch.tensor([row for row, words in enumerate(documents) for _ in words])
    return tokens_of(torch.tensor([word for words in documents for word in words]), rows, len(documents))


def word_probabilities(made, hidden):
    """p(word given hidden) by the definition, a word at a time."""
    output = made.output
    if hasattr(output, "nodes"):
        paths = [
            [(node, sign) for node, sign in zip(nodes.tolist(), signs.tolist(), strict=True) if sign]
            for nodes, signs in zip(output.nodes, output.signs, strict=True)
        ]
        turns = [[torch.sigmoid(s * (output.V[n] @ hidden + output.b[n])) for n, s in path] for path in paths]
        return torch.stack([torch.stack(each).prod() for each in turns])
    return torch.softmax(output.V @ hidden + output.b, dim=0)


def log_likelihood_by_hand(made, words):
    total = torch.zeros(())
    for place, word in enumerate(words):
        potential = made.c + sum((made.W[before] for before in words[:place]), torch.zeros(N_TOPICS))
        hidden = torch.tanh(potential) if made.activation == "tanh" else torch.sigmoid(potential)
        total = total + word_probabilities(made, hidden)[word].log()
    return total


@pytest.mark.parametrize("words", ["softmax", "tree"])
@pytest.mark.parametrize("activation", ["tanh", "sigmoid"])
def test_the_likelihood_is_that_of_the_definition(words, activation):
    made = module(words, activation=activation)
    documents = [(0, 1, 4, 1), (2,), (3, 3, 0)]
    expected = torch.stack([log_likelihood_by_hand(made, document) for document in documents])
    torch.testing.assert_close(made.log_likelihood(sequences(*documents)), expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("words", ["softmax", "tree"])
def test_all_sequences_of_three_words_together_are_certain(words):
    made = module(words)
    every = list(product(range(N_WORDS), repeat=3))
    assert made.log_likelihood(sequences(*every)).exp().sum().item() == pytest.approx(1.0, abs=1e-4)


def counts(*documents):
    X = np.zeros((len(documents), N_WORDS), dtype=np.float32)
    for row, words in enumerate(documents):
        np.add.at(X[row], list(words), 1)
    return SparseBatch.of(csr_matrix(X), slice(None), CPU)


@pytest.mark.parametrize("words", ["softmax", "tree"])
@pytest.mark.parametrize(
    ("targets", "n_positions"), [("next", None), ("next", 2), ("rest", None), ("rest", 3)]
)
def test_drawn_places_have_the_mean_of_all_orders_and_places(words, targets, n_positions):
    made = module(words, targets=targets, n_positions=n_positions)
    document = (0, 1, 1, 4)
    with torch.no_grad():
        orders = [log_likelihood_by_hand(made, order) for order in permutations(document)]
        draws = torch.stack([made.loss(counts(*[document] * 150)) for _ in range(20)])
    expected, spread = -torch.stack(orders).mean(), draws.std() / 20**0.5
    assert abs(draws.mean() - expected) < 4 * spread


def test_every_word_is_foretold_as_often_as_it_is_counted_in_any_order():
    documents = counts((0, 1, 1, 4), (), (2, 2))
    drawn = shuffled(documents, torch.Generator().manual_seed(0))
    assert sorted(zip(drawn.rows.tolist(), drawn.words.tolist(), strict=True)) == [
        (0, 0), (0, 1), (0, 1), (0, 4), (2, 2), (2, 2),
    ]  # fmt: skip
    assert drawn.places.tolist() == [0, 1, 2, 3, 0, 1]
    assert drawn.lengths.tolist() == [4, 0, 2]
    assert (
        len({tuple(shuffled(documents, torch.Generator().manual_seed(i)).words.tolist()) for i in range(9)})
        > 2
    )


@pytest.mark.parametrize("targets", ["next", "rest"])
def test_validation_draws_the_same_places_every_time(targets):
    made = module(targets=targets).eval()
    documents = counts((0, 1, 1, 4), (), (2, 3))
    assert made.loss(documents) == made.loss(documents)


def test_the_code_has_read_the_whole_document():
    made = module()
    expected = torch.tanh(made.c + made.W[0] + 2 * made.W[3])
    torch.testing.assert_close(made.codes(counts((3, 0, 3)))[0], expected)
