"""The vectors and topics of the defaults are good: a third of 20 Newsgroups, without headers, footers and quotes.

Measured with three seeds: accuracy 0.662 to 0.674, precision 0.467 to 0.471. Of 20 topics: coherence 0.43, coverage
0.80 to 0.82, diversity 0.98, NMI with the groups of unseen posts 0.51 to 0.52. The floors leave room for other
machines, whose sums are rounded in another order. What fails here: the start alone, hardly trained (precision 0.39), a
random start (0.42), no IDF (0.38), no competition (0.43), a mean that is kept (0.452).
"""

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import normalized_mutual_info_score

from kate import TextModel
from kate.research.datasets.newsgroups import (
    read_posts,
    without_footer,
    without_headers,
    without_quotes,
)
from kate.research.metrics.retrieval import retrieve
from real_data import real_data_folder


def bare(posts, step):
    """Every so many posts: their texts without what gives the group away, and their groups."""
    chosen = posts[::step]
    texts = [without_quotes(without_footer(without_headers(post.text))) for post in chosen]
    return texts, np.array([post.group for post in chosen])


@pytest.mark.filterwarnings("ignore::kate.EmptyDocumentsWarning")  # some posts are nothing but a quotation
def test_the_defaults_are_as_good_as_they_were():
    archive = real_data_folder("20news-bydate.tar.gz") / "20news-bydate.tar.gz"
    train, test = read_posts(archive)
    (texts, groups), (unseen, their_groups) = bare(train, 3), bare(test, 4)
    model = TextModel(vocabulary_size=5_000, device="cpu", verbose=False)
    vectors, queries = model.fit_transform(texts), model.encode(unseen)
    scale = vectors.std()
    probe = RidgeClassifier(alpha=100).fit(vectors / scale, groups)
    accuracy = probe.score(queries / scale, their_groups)
    found = retrieve(vectors, groups, queries, their_groups, fractions=(0.01,), full=False)
    assert accuracy >= 0.645
    assert found.precision[0.01] >= 0.455
    topics = model.topics(20)
    found_topics = topics.label(unseen)["topic"].fill_null(-1)
    assert topics.coherence >= 0.40
    assert topics.coverage >= 0.77
    assert topics.diversity >= 0.95
    assert normalized_mutual_info_score(their_groups, found_topics) >= 0.49
