"""What a vector is: one linear map of scaled counts, for one word and for a book, ordered by what it carries."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from kate import KATE, TextModel
from kate.demo.speeches import paragraphs
from kate.model.encoder import EmptyDocumentsWarning, scale_counts
from kate.model.training import KATETraining, Machine, idf_weights, learning_rates
from kate.text.documents import Documents
from model.two_themes import two_themes

QUERIES = (
    "railroad",
    "gold",
    "slavery",
    "tariff",
    "nuclear",
    "indian",
    "health",
    "canal",
    "treaty",
    "farmers",
)


@pytest.fixture(scope="module")
def speeches() -> list[str]:
    """Paragraphs of the State of the Union, two thousand of all years."""
    return [paragraph.text for paragraph in paragraphs()][::10][:2000]


@pytest.fixture(scope="module")
def model(speeches: list[str]) -> TextModel:
    return TextModel(64, vocabulary_size=4_000, device="cpu").fit(speeches)


def cosines(a: Any, b: Any) -> Any:
    a, b = (v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12) for v in (a, b))
    return a @ b.T


def test_saying_a_text_twice_changes_nothing(model: TextModel, speeches: list[str]) -> None:
    once = model.encode(speeches[:50])
    many = model.encode([" ".join([text] * 7) for text in speeches[:50]])
    np.testing.assert_allclose(many, once, atol=1e-5)


def test_a_word_is_nearest_to_documents_about_it(model: TextModel, speeches: list[str]) -> None:
    vectors = model.encode(speeches)
    counts = model.vocabulary_.count(speeches).tocsc()
    for word in QUERIES:
        column = model.vocabulary_.find(word)
        nearest = np.argsort(-cosines(model.encode(word), vectors), kind="stable")[:10]
        holds = counts[:, [column]].toarray().ravel()[nearest] > 0
        assert holds.mean() >= 0.5, word


def test_words_that_have_nothing_in_common_are_not_alike(model: TextModel) -> None:
    alike = model.similarity(QUERIES, QUERIES)
    assert (alike[~np.eye(len(QUERIES), dtype=bool)] < 0.5).all()
    np.testing.assert_allclose(np.diag(alike), 1, atol=1e-5)


def test_the_empty_text_is_the_zero_vector(model: TextModel) -> None:
    with pytest.warns(EmptyDocumentsWarning):
        assert not model.encode("").any()
    with pytest.warns(EmptyDocumentsWarning):
        assert not model.encode(["", "gold"], normalize=True)[0].any()


def test_vectors_are_one_linear_map_of_what_the_encoder_reads(model: TextModel, speeches: list[str]) -> None:
    counts = csr_matrix(model.vocabulary_.count(speeches[:100]), dtype=np.float32)
    weights = model.encoder_.weights
    assert weights is not None
    read = np.sqrt(counts.toarray()) * weights
    read /= np.linalg.norm(read, axis=1, keepdims=True)
    np.testing.assert_allclose(model.encode(speeches[:100]), read @ model.encoder_.W, atol=1e-5)
    # so the vector of a text is a sum of its words' vectors
    gold, coin = (model.vocabulary_.find(word) for word in ("gold", "coin"))
    words = model.encoder_.W[[gold, coin]] * weights[[gold, coin], None]
    expected = words.sum(axis=0) / np.linalg.norm(weights[[gold, coin]])
    np.testing.assert_allclose(model.encode("gold coin"), expected, atol=1e-5)


def test_rare_words_are_read_louder() -> None:
    X = csr_matrix(np.array([[1, 1, 0], [1, 0, 1], [1, 0, 1]], dtype=np.float32))
    expected = 1 + np.log(4 / np.array([4, 2, 3]))
    np.testing.assert_allclose(idf_weights(X), expected, rtol=1e-6)
    assert KATE(2, weighting="none", max_epochs=1).fit(X).encoder_.weights is None


def test_components_are_ordered_and_the_mean_is_nothing(model: TextModel, speeches: list[str]) -> None:
    vectors = model.encode(speeches)
    variances = vectors.var(axis=0)
    assert (np.diff(variances) <= 1e-4 * variances[0]).all()
    assert np.linalg.norm(vectors.mean(axis=0)) < 1e-3 * np.sqrt(variances.sum())
    together = np.corrcoef(vectors.T) - np.eye(64)
    assert np.abs(together).max() < 0.01  # turned by PCA: no two components say the same


def test_a_prefix_is_the_shorter_vector(model: TextModel, speeches: list[str]) -> None:
    texts = speeches[:30]
    short = model.encode(texts, truncate_dim=16)
    np.testing.assert_array_equal(short, model.encode(texts)[:, :16])
    fitted_short = TextModel(16, vocabulary_size=4_000, device="cpu").fit(speeches).encode(texts)
    np.testing.assert_allclose(cosines(short, short), cosines(fitted_short, fitted_short), atol=1e-3)
    normal = model.encode(texts, truncate_dim=16, normalize=True)
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1, atol=1e-5)


def test_one_string_gives_one_row_and_batches_the_same_vectors(model: TextModel, speeches: list[str]) -> None:
    texts = speeches[:25]
    vectors = model.encode(texts)
    assert model.encode(texts[0]).shape == (64,)
    np.testing.assert_array_equal(model.encode(texts[0]), vectors[0])
    kinds: list[Any] = [texts, iter(texts), Documents.from_texts(texts), np.array(texts)]
    for kind in kinds:
        np.testing.assert_array_equal(model.encode(kind, batch_size=4), vectors)
    assert model.encode([], batch_size=4, truncate_dim=3).shape == (0, 3)
    with pytest.warns(EmptyDocumentsWarning, match="3 of 5 documents") as caught:
        model.encode(["", "gold", "", "coin", ""], batch_size=2)
    assert (len(caught), caught[0].filename) == (1, __file__)


def test_a_batch_holds_no_more_texts_than_asked_for(
    model: TextModel, speeches: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    count, sizes = TextModel._count, []

    def counting(self: TextModel, texts: Any) -> csr_matrix:
        counts = count(self, texts)
        sizes.append(counts.shape[0])
        return counts

    monkeypatch.setattr(TextModel, "_count", counting)
    model.encode(speeches[:10], batch_size=4)
    assert sizes == [4, 4, 2]


def test_similarity_takes_vectors_and_texts(model: TextModel) -> None:
    vectors = model.encode(["gold and silver", "a treaty of peace"])
    expected = cosines(vectors, vectors)
    np.testing.assert_allclose(model.similarity(vectors, vectors), expected, atol=1e-6)
    np.testing.assert_allclose(model.similarity(vectors[0], vectors), expected[:1], atol=1e-6)
    np.testing.assert_allclose(
        model.similarity("gold and silver", ["gold and silver", "a treaty of peace"]), expected[:1], atol=1e-6
    )
    assert model.similarity(vectors[0], vectors[1]).shape == (1, 1)
    assert model.similarity(np.zeros(64), vectors).tolist() == [[0, 0]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"truncate_dim": 0}, "truncate_dim=0: expected a whole number of at least 1"),
        ({"truncate_dim": 65}, "truncate_dim=65 is more than the 64 components"),
        ({"truncate_dim": 2.5}, "truncate_dim=2.5"),
        ({"batch_size": 0}, "batch_size=0: expected a whole number of at least 1"),
    ],
)
def test_what_cannot_be_encoded_so_is_refused(
    model: TextModel, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        model.encode(["gold"], **options)


def test_what_cannot_be_compared_is_refused(model: TextModel) -> None:
    with pytest.raises(ValueError, match=r"vectors of 64 and of 3 numbers.*truncate_dim"):
        model.similarity("gold", np.ones(3))
    with pytest.raises(ValueError, match=r"got an array of shape \(2, 2, 2\)"):
        model.similarity(np.ones((2, 2, 2)), "gold")
    with pytest.raises(ValueError, match="NaN"):
        model.similarity(np.full(64, np.nan), "gold")


def test_neurons_have_no_order_to_cut() -> None:
    texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
    neurons = TextModel(3, output="preactivation", mean="subtract", max_epochs=1).fit(texts)
    with pytest.raises(ValueError, match=r"truncate_dim=2: .*neurons \(output='preactivation'\).*no order"):
        neurons.encode(texts, truncate_dim=2)


def themed_counts(n_docs: int = 600, n_words: int = 300, n_themes: int = 12) -> csr_matrix:
    rng = np.random.default_rng(0)
    themes = rng.dirichlet(np.full(n_words, 0.05), size=n_themes)
    mixtures = rng.dirichlet(np.full(n_themes, 0.2), size=n_docs)
    return csr_matrix(np.array([rng.multinomial(30, mixture @ themes) for mixture in mixtures]))


def test_two_seeds_find_the_same_neighbours() -> None:
    X = themed_counts()
    shared = {}
    for start in ("svd", "random"):
        nearest = []
        for seed in (0, 1):
            alike = cosines(*2 * [KATE(16, start=start, random_state=seed).fit_transform(X)])
            np.fill_diagonal(alike, -2)
            nearest.append(np.argsort(-alike, axis=1)[:, :10])
        shared[start] = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(*nearest, strict=True)])
    assert shared["svd"] > 0.6 > shared["random"]


def test_vectors_go_back_part_of_the_way_to_the_start() -> None:
    X = themed_counts(200)
    start = KATE(16, learning_rate=1e-12, random_state=0).fit(X)
    alike = [
        np.abs(
            cosines(KATE(16, start_share=share, random_state=0).fit_transform(X), start.transform(X))
        ).diagonal()
        for share in (0.0, 0.35, 0.9)
    ]
    assert np.mean(alike[0]) < np.mean(alike[1]) < np.mean(alike[2])


def test_fewer_documents_or_words_than_neurons_are_enough() -> None:
    X, theme = two_themes(n_docs=6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vectors = KATE(128).fit_transform(X)
    assert vectors.shape == (6, 128)
    alike = cosines(vectors, vectors)
    assert (alike[theme[:, None] == theme] > alike[theme[:, None] != theme].max()).all()


def test_the_learning_rate_rises_and_comes_down_to_zero() -> None:
    settings = {"learning_rate": 0.01, "warmup": 0.1, "decay": "linear"}
    rates = learning_rates(settings, 0, 99, 99)
    assert rates.max() == pytest.approx(0.01)
    assert np.argmax(rates) == 9
    assert (np.diff(rates[:10]) > 0).all() and (np.diff(rates[9:]) < 0).all()
    assert 0 < rates[-1] < 0.0002
    np.testing.assert_allclose(
        np.r_[learning_rates(settings, 0, 40, 99), learning_rates(settings, 40, 59, 99)], rates
    )
    np.testing.assert_array_equal(learning_rates(settings, 0, 3, None), [0.01] * 3)
    np.testing.assert_allclose(learning_rates(settings | {"decay": "none"}, 0, 99, 99)[10:], 0.01)


def test_the_last_epoch_ends_early_when_the_steps_are_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    X, _ = two_themes()
    seen: list[Any] = []
    engine = Machine.engine

    def spied(self: Machine, network: Any, recipe: Any) -> Any:
        made = engine(self, network, recipe)
        train = made.train
        made.train = lambda X, batches, rates, *rest: (
            seen.append((len(batches), rates)) or train(X, batches, rates, *rest)
        )
        return made

    monkeypatch.setattr(Machine, "engine", spied)
    model = KATE(4, batch_size=10, max_steps=16, device="cpu").fit(X)
    assert [n for n, _ in seen] == [6, 6, 4]
    assert (len(model.history_), model.settings_["max_epochs"]) == (3, 3)
    rates = np.concatenate([rates for _, rates in seen])
    assert 0 < rates[-1] < 0.1 * rates.max()
    assert all(np.isfinite(row["loss"]) for row in model.history_)
    seen.clear()
    KATE(4, batch_size=10, max_steps=100, max_epochs=2, device="cpu").fit(X)
    assert [n for n, _ in seen] == [6, 6]


def test_what_is_reconstructed_is_not_weighted() -> None:
    X, _ = two_themes()
    settings = KATE(4).fit(X).settings_
    learner = KATETraining.start(
        settings, csr_matrix(X, dtype=np.float32), None, np.random.RandomState(0), 1, Machine(1, "cpu")
    )
    np.testing.assert_array_equal(learner.rows.X.data, scale_counts(X.astype(np.float32), "root").data)
    assert learner.rows.inputs is not None
    assert not np.array_equal(learner.rows.inputs, learner.rows.X.data)
