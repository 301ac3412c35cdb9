from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest
import scipy.sparse as sp

from kate.research.metrics.topic_scores import c_v, diversity, mscd, npmi

TOKENS = [
    [0, 1, 2, 3],
    [0, 1, 4],
    [2, 3, 5, 5],
    [0, 2, 4, 1, 1],
    [3, 4, 5],
    [1, 0, 5, 2],
    [4, 3],
    [0, 1, 2, 3, 4, 5, 0, 1],
]
TOPICS = [[0, 1, 2], [3, 4, 5], [0, 5, 3]]

# From one run of gensim 4.4.0 on TOKENS and TOPICS:
# CoherenceModel(topics=…, texts=…, dictionary=…, coherence="c_v" | "c_npmi", window_size=…, topn=3)
GENSIM_C_V_OF_DOCUMENTS = [0.9188496308349503, 0.5648019050933121, 0.4575976047015314]
GENSIM_NPMI_OF_DOCUMENTS = [0.5707625401550617, -0.005566270950098558, -0.09900234301803822]

# And on documents where some words never meet
TOKENS_APART = [[0, 1], [0, 1], [2], [2, 0], [3]]
TOPICS_APART = [[0, 1, 2], [1, 2, 3]]
GENSIM_C_V_APART = [0.41965757671846554, 0.29405108479552267]


def counts(documents: list[list[int]], n_words: int = 6) -> sp.csr_array:
    return sp.csr_array(np.array([np.bincount(document, minlength=n_words) for document in documents]))


def test_mscd_of_orthogonal_parallel_and_slanted_topics() -> None:
    assert mscd(np.eye(4)) == 0.0
    assert mscd(np.ones((3, 5))) == pytest.approx(1.0)
    assert mscd([[1.0, 0.0], [-2.0, 0.0]]) == pytest.approx(1.0)  # opposite is as parallel
    # cosines 1/√2, 1/√2 and 0
    assert mscd([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]) == pytest.approx(sqrt((0.5 + 0.5) / 3))


def test_mscd_of_a_dead_topic_is_no_nan() -> None:
    assert mscd([[1.0, 0.0], [0.0, 0.0]]) == 0.0


def test_diversity_is_the_share_of_distinct_words() -> None:
    assert diversity([[0, 1, 2], [3, 4, 5]]) == 1.0
    assert diversity([[0, 1, 2], [0, 1, 2]]) == 0.5


def test_npmi_by_hand() -> None:
    X = sp.csr_array([[1, 1, 0, 1], [2, 5, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1]])
    # p(0) = 3/4, p(1) = 1/2, together 1/2
    pair = log(0.5 / (0.75 * 0.5)) / -log(0.5)
    found = npmi([[0, 1], [1, 2], [0, 3]], X)
    assert found.per_topic == pytest.approx([pair, -1.0, 0.0])  # a word of every document says nothing
    assert found.mean == pytest.approx((pair - 1.0) / 3)


def test_npmi_of_words_always_and_never_together() -> None:
    X = sp.csr_array([[1, 1, 0, 9, 9], [1, 1, 0, 9, 9], [0, 0, 1, 9, 9]])
    always, never, everywhere = npmi([[0, 1], [0, 2], [3, 4]], X).per_topic
    assert always == pytest.approx(1.0)
    assert never == -1.0
    assert everywhere == 0.0


def test_npmi_averages_over_the_pairs_of_a_topic() -> None:
    X = counts(TOKENS)
    pairs = [npmi([pair], X).mean for pair in ([0, 1], [0, 2], [1, 2])]
    assert npmi([[0, 1, 2]], X).mean == pytest.approx(np.mean(pairs))


def test_a_word_of_no_document_meets_nobody() -> None:
    X = sp.csr_array([[1, 0], [1, 0], [0, 0]])
    assert npmi([[0, 1]], X).mean == -1.0
    assert c_v([[0, 1]], X).mean == pytest.approx(0.5)  # the word that occurs agrees with itself


def test_npmi_and_c_v_of_documents_agree_with_gensim() -> None:
    X = counts(TOKENS)
    assert npmi(TOPICS, X).per_topic == pytest.approx(GENSIM_NPMI_OF_DOCUMENTS, abs=1e-9)
    assert c_v(TOPICS, X).per_topic == pytest.approx(GENSIM_C_V_OF_DOCUMENTS, abs=1e-9)
    assert c_v(TOPICS_APART, counts(TOKENS_APART)).per_topic == pytest.approx(GENSIM_C_V_APART, abs=1e-9)


def test_c_v_by_hand() -> None:
    """Two words with NPMI a: their vectors are (1, a) and (a, 1), the sum (1 + a)(1, 1)."""
    X = sp.csr_array([[1, 1], [1, 1], [0, 0], [1, 0]])
    a = log(0.5 / (0.75 * 0.5)) / -log(0.5)
    assert c_v([[0, 1]], X).mean == pytest.approx((1 + a) / (sqrt(1 + a * a) * sqrt(2)))


def test_coherence_agrees_with_gensim_where_it_is_installed() -> None:
    models = pytest.importorskip("gensim.models.coherencemodel")
    dictionary = pytest.importorskip("gensim.corpora").Dictionary([[str(word) for word in range(30)]])
    generator = np.random.default_rng(0)
    documents = [generator.permutation(30)[: generator.integers(1, 31)].tolist() for _ in range(60)]
    topics = [generator.permutation(30)[:5].tolist() for _ in range(4)]
    theirs = models.CoherenceModel(
        topics=[[str(word) for word in topic] for topic in topics],
        texts=[[str(word) for word in document] for document in documents],
        dictionary=dictionary,
        coherence="c_v",
        window_size=30,
        topn=5,
        processes=1,
    ).get_coherence_per_topic()
    assert c_v(topics, counts(documents, 30)).per_topic == pytest.approx(theirs, abs=1e-9)


def test_counts_may_be_dense_or_have_explicit_zeros() -> None:
    X = counts(TOKENS)
    padded = X.copy()
    padded.data[0] = 0
    assert npmi(TOPICS, X).mean == npmi(TOPICS, X.toarray()).mean
    assert npmi(TOPICS, padded).per_topic == pytest.approx(npmi(TOPICS, padded.toarray()).per_topic)


@pytest.mark.parametrize(
    ("top_words", "message"),
    [
        ([0, 1], "integers"),
        ([[0.0, 1.0]], "integers"),
        ([[0, 6]], "0 to 6 - 1"),
        ([[0, -1]], "from -1 to 0"),
        ([[0, 1], [2, 2]], "twice in topic 1"),
        ([[0], [1]], "one word per topic"),
    ],
)
def test_wrong_top_words_are_named(top_words: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        npmi(top_words, counts(TOKENS))  # type: ignore[arg-type]


def test_other_wrong_input_is_named() -> None:
    with pytest.raises(ValueError, match="one row"):
        mscd([[1.0, 2.0]])
    with pytest.raises(ValueError, match="no rows"):
        npmi(TOPICS, sp.csr_array((0, 6)))
