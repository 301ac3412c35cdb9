"""The lines of the registry for the models that PyTorch trains, with what `kate tune` may try of each.

A choice of one value is a setting that every trial has, where it is another than the paper's. Settings are found at one
number of topics and used at others: what depends on it is said as a share.
"""

from __future__ import annotations

from kate.models.entries import ModelEntry, lazily
from kate.models.spaces import Choice, Log, Range, Space, Uniform

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
}


def _of_the_paper(name: str, paper_name: str, title: str, path: str) -> ModelEntry:
    return ModelEntry(
        name,
        title,
        lazily(f"kate.models.{path}.paper"),
        start="paper",
        paper_name=paper_name,
        needs=("torch",),
        space=_SPACES[name],
    )


NEURAL_ENTRIES: tuple[ModelEntry, ...] = (
    _of_the_paper("ae", "AE", "plain autoencoder", "autoencoders:AE"),
    _of_the_paper("dae", "DAE", "denoising autoencoder", "autoencoders:DAE"),
    _of_the_paper("cae", "CAE", "contractive autoencoder", "autoencoders:CAE"),
    _of_the_paper("ksae", "KSAE", "k-sparse autoencoder", "autoencoders:KSAE"),
)
