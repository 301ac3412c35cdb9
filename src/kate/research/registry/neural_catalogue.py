"""The lines of the registry for the models that PyTorch trains, with what `kate tune` may try of each.

A choice of one value is a setting that every trial has, where it is another than the paper's. Settings are found at one
number of topics and used at others: what depends on it is said as a share.
"""

from __future__ import annotations

from kate.research.registry.entries import ModelEntry, lazily
from kate.research.registry.search_spaces import Choice, Log, Range, Space, Uniform

__all__ = ["NEURAL_ENTRIES"]

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


def _of_the_paper(name: str, paper_name: str, title: str, path: str) -> ModelEntry:
    return ModelEntry(
        name,
        title,
        lazily(f"kate.research.rivals.neural.{path}.paper"),
        start="paper",
        paper_name=paper_name,
        needs=("torch",),
        space=_SPACES[name],
    )


def _not_in_the_paper(name: str, title: str, path: str) -> ModelEntry:
    return ModelEntry(
        name, title, lazily(f"kate.research.rivals.neural.{path}"), needs=("torch",), space=_SPACES[name]
    )


NEURAL_ENTRIES: tuple[ModelEntry, ...] = (
    _of_the_paper("ae", "AE", "plain autoencoder", "autoencoders:AE"),
    _of_the_paper("dae", "DAE", "denoising autoencoder", "autoencoders:DAE"),
    _of_the_paper("cae", "CAE", "contractive autoencoder", "autoencoders:CAE"),
    _of_the_paper("ksae", "KSAE", "k-sparse autoencoder", "autoencoders:KSAE"),
    _of_the_paper("vae", "VAE", "variational autoencoder", "vae:VAE"),
    _of_the_paper("docnade", "DocNADE", "autoregressive topic model", "docnade:DocNADE"),
    _of_the_paper("dbn", "DBN", "deep belief net", "dbn:DBN"),
    _of_the_paper("nvdm", "NVDM", "neural variational document model", "neural_topics:NVDM"),
    _not_in_the_paper("prodlda", "LDA with topics that multiply, by a neural net", "neural_topics:ProdLDA"),
    _not_in_the_paper("etm", "topics among word vectors, by a neural net", "neural_topics:ETM"),
)
