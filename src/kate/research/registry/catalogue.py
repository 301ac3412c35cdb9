"""All models that Kate knows, one line each, with what `kate tune` may try of each: the file to add a model to.

A range of one value is a setting that every trial has, where it differs from the paper's. Settings are found at one
number of components and used at others: what depends on it is given as a share.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from kate.research.registry.model_entry import Model, ModelEntry, lazily
from kate.research.registry.search_spaces import Choice, Int, Log, Range, Space, Uniform
from kate.research.registry.todays_models import TODAYS_ENTRIES

__all__ = ["ENTRIES"]


def _make_kate(n_components: int, paper: bool = False, **parameters: Any) -> Model:
    from kate.model.kate import KATE
    from kate.model.settings import check_settings

    model = (KATE.paper if paper else KATE)(n_components, **parameters)
    check_settings(model)  # mistakes are told now, not after a data set has been read
    return model


def _make_kate_network(n_components: int, **parameters: Any) -> Model:
    """The paper's network and nothing around it, trained as autoencoders are trained now."""
    own: dict[str, Any] = {
        "amplification": min(0.5, 64 / n_components),
        "scaling": "l2",
        "weighting": "none",
        "start": "random",
        "dropout": 0.7,
        "reconstruction_sampling": None,
        "learning_rate": 4e-3 if n_components < 32 else 2e-3,
        "max_epochs": 20,
        "output": "preactivation",
        "mean": "subtract",
    }
    return _make_kate(n_components, **(own | parameters))


def _make_kate_noamp(n_components: int, **parameters: Any) -> Model:
    """Every winner takes 2/k of the losers' energy: together they get what the losers had, and no more."""
    from kate.model.kate import KATE

    n_winners = parameters.get("n_winners") or KATE.paper(n_components).n_winners
    assert n_winners is not None
    return _make_kate(n_components, paper=True, **({"amplification": 2 / n_winners} | parameters))


_TRAINING: dict[str, Range] = {
    "optimizer": Choice("adam"),
    "warmup": Choice(0.05),
    "decay": Choice("linear"),
    "learning_rate": Log(3e-4, 1e-2),
    "batch_size": Choice(100, 200),
    "max_epochs": Choice(20, 40),
}
_AUTOENCODER: dict[str, Range] = _TRAINING | {
    "output_bias": Choice("frequency"),
    "loss": Choice("softmax", "cross-entropy"),
    "scaling": Choice("l2", "max"),
    "output": Choice("activation", "preactivation"),
}
_SPACES: dict[str, Space] = {
    "kate": {
        "learning_rate": Log(5e-4, 1e-2),
        "dropout": Uniform(0.0, 0.9),
        "amplification": Log(0.05, 10.0),
        "start_share": Uniform(0.0, 0.6),
        "max_epochs": Choice(3, 5, 10),
    },
    "kate-network": {
        "learning_rate": Log(5e-4, 1e-2),
        "dropout": Uniform(0.0, 0.9),
        "amplification": Log(0.05, 10.0),
        "loss": Choice("softmax", "cross-entropy"),
        "batch_size": Choice(50, 100, 200),
        "max_epochs": Choice(10, 20, 40),
    },
    "ae": {**_AUTOENCODER, "activation": Choice("sigmoid", "tanh")},
    "dae": {**_AUTOENCODER, "activation": Choice("sigmoid", "tanh"), "noise_level": Uniform(0.1, 0.9)},
    "cae": {**_AUTOENCODER, "penalty": Log(1e-3, 10.0)},
    "ksae": {**_AUTOENCODER, "n_winners": Uniform(0.1, 0.9)},
    "vae": {
        **_TRAINING,
        "output_bias": Choice("frequency"),
        "kl_warmup": Choice(0.3),
        "loss": Choice("softmax", "cross-entropy"),
        "scaling": Choice("l2", "max"),
        "dropout": Uniform(0.0, 0.5),
        "kl_weight": Log(1e-2, 1.0),
    },
    "docnade": {
        **_TRAINING,
        "words": Choice("softmax"),
        "targets": Choice("rest"),
        "n_positions": Choice(1, 2, 4),
        "activation": Choice("tanh", "sigmoid"),
    },
    "dbn": {
        **_TRAINING,
        "reading": Choice("counts", "log"),
        "finetune_epochs": Choice(0, 10, 20),
        "max_epochs": Choice(10, 20),
        "output": Choice("activation", "preactivation"),
    },
    "nvdm": {
        **_TRAINING,
        "alternate": Choice(False),
        "output_bias": Choice("frequency"),
        "n_hidden": Choice(256),
        "kl_warmup": Choice(0.5),
        "reading": Choice("log", "counts"),
        "dropout": Uniform(0.0, 0.5),
        "kl_weight": Log(0.05, 2.0),
    },
    "prodlda": {
        **_TRAINING,
        "reading": Choice("log", "counts"),
        "squash": Choice("tanh", "softplus"),
        "n_hidden": Choice(100, 256),
        "dropout": Uniform(0.0, 0.5),
        "topic_dropout": Uniform(0.0, 0.5),
        "kl_weight": Log(0.05, 2.0),
    },
    "etm": {
        **_TRAINING,
        "reading": Choice("log", "shares"),
        "squash": Choice("tanh", "relu"),
        "n_layers": Choice(1, 2),
        "dropout": Uniform(0.0, 0.5),
        "kl_weight": Log(0.05, 2.0),
    },
}


def _neural(name: str, title: str, path: str, paper_name: str | None = None) -> ModelEntry:
    """A model that PyTorch trains; one of the paper starts from the paper's settings."""
    return ModelEntry(
        name,
        title,
        lazily(f"kate.research.rivals.neural.{path}{'.paper' if paper_name else ''}"),
        start="paper" if paper_name else "default",
        paper_name=paper_name,
        needs=("torch",),
        space=_SPACES[name],
    )


ENTRIES: tuple[ModelEntry, ...] = (
    ModelEntry(
        "kate",
        "KATE with the defaults of this package",
        _make_kate,
        paper_name="KATE",
        space=_SPACES["kate"],
        revision=2,
    ),
    ModelEntry(
        "kate-network",
        "KATE's network alone: its neurons are the vectors, as in the paper, with newer training",
        _make_kate_network,
        paper_name="KATE",
        space=_SPACES["kate-network"],
    ),
    ModelEntry(
        "kate-paper",
        "KATE to the letter of Chen & Zaki (2017)",
        partial(_make_kate, paper=True),
        start="paper",
        paper_name="KATE",
    ),
    ModelEntry(
        "kate-noamp",
        "KATE of the paper without amplification, alpha = 2/k",
        _make_kate_noamp,
        start="paper",
        paper_name="KATE_no_amp",
    ),
    _neural("ae", "plain autoencoder", "autoencoders:AE", "AE"),
    _neural("dae", "denoising autoencoder", "autoencoders:DAE", "DAE"),
    _neural("cae", "contractive autoencoder", "autoencoders:CAE", "CAE"),
    _neural("ksae", "k-sparse autoencoder", "autoencoders:KSAE", "KSAE"),
    _neural("vae", "variational autoencoder", "vae:VAE", "VAE"),
    _neural("docnade", "autoregressive topic model", "docnade:DocNADE", "DocNADE"),
    _neural("dbn", "deep belief net", "dbn:DBN", "DBN"),
    _neural("nvdm", "neural variational document model", "neural_topics:NVDM", "NVDM"),
    _neural("prodlda", "LDA with topics that multiply, by a neural net", "neural_topics:ProdLDA"),
    _neural("etm", "topics among word vectors, by a neural net", "neural_topics:ETM"),
    ModelEntry(
        "lda",
        "latent Dirichlet allocation by gensim",
        lazily("kate.research.rivals.lda:GensimLDA.paper"),
        start="paper",
        paper_name="LDA",
        needs=("gensim",),
        space={
            "passes": Choice(5, 10, 20),
            "chunk_size": Choice(256, 512, 1024, 2000),
            "alpha": Choice("symmetric", "asymmetric", "auto"),
            "eta": Log(1e-3, 1.0),
            "decay": Uniform(0.5, 0.9),
        },
    ),
    ModelEntry(
        "lda-tomotopy",
        "latent Dirichlet allocation by tomotopy",
        lazily("kate.research.rivals.lda:TomotopyLDA"),
        needs=("tomotopy",),
        space={"sweeps": Choice(100, 200, 400), "alpha": Log(1e-3, 1.0), "eta": Log(1e-3, 1.0)},
    ),
    ModelEntry(
        "lda-sklearn",
        "latent Dirichlet allocation by scikit-learn",
        lazily("kate.research.rivals.lda:SklearnLDA"),
        space={
            "passes": Choice(5, 10, 20),
            "batch_size": Choice(128, 256, 512, 1024),
            "alpha": Log(1e-3, 1.0),
            "eta": Log(1e-3, 1.0),
            "decay": Uniform(0.51, 0.9),
        },
    ),
    ModelEntry(
        "word2vec",
        "mean of word vectors learned from the documents",
        lazily("kate.research.rivals.word2vec:Word2Vec.paper"),
        start="paper",
        paper_name="Word2Vec",
        needs=("gensim",),
        inputs="sequences",
        space={
            "algorithm": Choice("skip-gram", "cbow"),
            # with a window twice as wide and more epochs, a fit takes a quarter of an hour
            "window": Int(2, 20, log=True),
            "negative": Int(2, 10, log=True),
            "epochs": Int(5, 30, log=True),
            "learning_rate": Log(5e-3, 0.1),
            "subsample": Log(1e-5, 1e-2),
            "weighting": Choice("mean", "idf"),
        },
    ),
    ModelEntry(
        "word2vec-pre",
        "mean of pre-trained word vectors",
        lazily("kate.research.rivals.pretrained:PretrainedWord2Vec.paper"),
        start="paper",
        paper_name="Word2Vec_pre",
        must_set={"vectors": "a file of pre-trained word vectors (word2vec, GloVe or .kv)"},
        space={"weighting": Choice("mean", "idf")},
    ),
    ModelEntry(
        "doc2vec",
        "paragraph vectors, PV-DM or PV-DBOW",
        lazily("kate.research.rivals.doc2vec:Doc2Vec.paper"),
        start="paper",
        paper_name="Doc2Vec",
        needs=("gensim",),
        inputs="sequences",
        space={
            "method": Choice("dm", "dbow"),
            "window": Int(2, 20, log=True),
            "negative": Int(2, 20, log=True),
            "epochs": Int(10, 60, log=True),
            "inference_epochs": Int(10, 60, log=True),
            "learning_rate": Log(5e-3, 0.1),
            "subsample": Log(1e-5, 1e-2),
        },
    ),
    ModelEntry("lsa", "TF-IDF and truncated SVD", lazily("kate.research.rivals.lsa:LSA")),
    ModelEntry(
        "nmf",
        "non-negative matrix factorisation of TF-IDF",
        lazily("kate.research.rivals.nmf:NMF"),
        space={
            "max_iter": Choice(50, 100, 200),
            "sublinear": Choice(True, False),
            # with more regularisation, topics have no words left
            "regularisation": Log(1e-9, 1e-5),
            "l1_ratio": Uniform(0.0, 1.0),
        },
    ),
    ModelEntry(
        "tfidf",
        "the raw TF-IDF vector, as long as the vocabulary",
        lazily("kate.research.rivals.tfidf:TFIDF"),
        space={"sublinear": Choice(True, False)},
    ),
    ModelEntry(
        "bm25",
        "BM25, a ranking without vectors: retrieval alone",
        lazily("kate.research.rivals.bm25:BM25"),
        needs=("bm25s",),
        space={"k1": Log(0.1, 10.0), "b": Uniform(0.0, 1.0), "repeat": Choice(True, False)},
    ),
    *TODAYS_ENTRIES,
)
