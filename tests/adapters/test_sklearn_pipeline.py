"""A TextModel is a step of scikit-learn's pipelines: raw texts in."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import kate


def test_a_pipeline_learns_from_texts(texts):
    labels = np.arange(len(texts)) % 2
    pipeline = make_pipeline(kate.TextModel(4, random_state=0, verbose=False), LogisticRegression())
    search = GridSearchCV(pipeline, {"textmodel__n_components": [2, 4]}, cv=2).fit(texts, labels)
    assert search.best_score_ > 0.95
    assert search.predict(["gold and silver", "a treaty of peace"]).tolist() == [1, 0]
