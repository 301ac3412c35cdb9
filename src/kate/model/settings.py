"""KATE's parameters: the values that are allowed, what None becomes, the paper's; and the check of the counts."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from kate.engines.row_checks import check_compressed
from kate.errors import quoted
from kate.extras import require
from kate.sparse_arrays import sparse

__all__ = [
    "MACHINE_PARAMETERS",
    "NETWORK_PARAMETERS",
    "check_settings",
    "checked_counts",
    "generator_from",
    "paper_settings",
    "paper_training",
    "require_between",
    "require_choice",
    "require_held_out",
    "require_whole",
    "sampled_words",
    "settings_for",
]

MACHINE_PARAMETERS = ("n_jobs", "device", "verbose")
"""Parameters that say how to compute, not what: no part of a model's settings. ``precision`` is not among them, because
it changes the result."""

NETWORK_PARAMETERS = (
    *(
        "n_components",
        "n_neurons",
        "n_winners",
        "amplification",
        "loss",
        "activation",
        "scaling",
        "weighting",
    ),
    *(
        "start",
        "start_share",
        "dropout",
        "reconstruction_sampling",
        "output_bias",
        "optimizer",
        "learning_rate",
    ),
    *(
        "epsilon",
        "warmup",
        "decay",
        "max_epochs",
        "max_steps",
        "batch_size",
        "validation_fraction",
        "patience",
    ),
    *("output", "mean", "precision", "n_devices"),
)
"""Parameters that shape the network: those of KATE but for its seed and those of the machine."""

_CHOICES: dict[str, tuple[Any, ...]] = {
    "loss": ("softmax", "cross-entropy"),
    "activation": ("tanh", "sigmoid"),
    "scaling": ("root", "l2", "max"),
    "weighting": ("idf", "none"),
    "start": ("svd", "random"),
    "output_bias": ("frequency", "zero"),
    "optimizer": ("adam", "adadelta"),
    "decay": ("linear", "none"),
    "output": ("projection", "preactivation", "activation"),
    "mean": ("project", "subtract", "keep"),
    "device": ("auto", "cpu", "cuda"),
    "precision": ("float32", "tf32", "bf16"),
}
_WHOLE_NUMBERS = (
    "n_components",
    "n_neurons",
    "max_epochs",
    "max_steps",
    "batch_size",
    "patience",
    "n_devices",
)
# Adadelta's step takes the root of a product of two of them: their product must not become zero in single precision
_LEAST_OF_ADADELTA = 1e-18
# from the first number to below the second
_INTERVALS = {
    "dropout": (0.0, 1.0),
    "start_share": (0.0, 1.0),
    "warmup": (0.0, 1.0),
    "validation_fraction": (0.0, 1.0),
    "amplification": (0.0, float("inf")),
    "learning_rate": (0.0, float("inf")),
    "epsilon": (0.0, float("inf")),
}


def check_settings(model: Any) -> None:
    """Refuse a parameter that makes no sense, with what was found and what is expected."""
    settings = {name: getattr(model, name) for name in (*NETWORK_PARAMETERS, "device")}
    for name, allowed in _CHOICES.items():
        require_choice(name, settings[name], allowed)
    for name in _WHOLE_NUMBERS:
        if settings[name] is not None:
            require_whole(name, settings[name])
    for name, (low, high) in _INTERVALS.items():
        if settings[name] is not None:
            require_between(name, settings[name], low, high)
    if settings["n_components"] is None:
        raise ValueError("n_components=None: expected a whole number of at least 1")
    if settings["learning_rate"] == 0:
        raise ValueError("learning_rate=0: nothing would be learned; give a number above 0, or None")
    if settings["epsilon"] is None or settings["epsilon"] == 0:
        raise ValueError(f"epsilon={settings['epsilon']}: expected a small number above 0, such as 1e-8")
    if settings["optimizer"] == "adadelta" and settings["epsilon"] < _LEAST_OF_ADADELTA:
        raise ValueError(
            f"epsilon={settings['epsilon']}: Adadelta needs at least {_LEAST_OF_ADADELTA} in single precision"
        )
    n_neurons = _neurons(settings)
    if settings["n_winners"] is not None:
        require_whole("n_winners", settings["n_winners"], least=0)
    if settings["n_winners"] is not None and settings["n_winners"] > n_neurons:
        raise ValueError(
            f"n_winners={settings['n_winners']} is more than the {n_neurons} neurons; only neurons can win: lower "
            "n_winners or raise n_neurons"
        )
    sampling = settings["reconstruction_sampling"]
    if sampling != "auto" and sampling is not None:
        require_whole("reconstruction_sampling", sampling)
    _check_output(settings, n_neurons)


def _check_output(settings: dict[str, Any], n_neurons: int) -> None:
    """Refuse settings that do not go with the kind of vectors asked for."""
    output, mean = settings["output"], settings["mean"]
    if output == "projection" and n_neurons < settings["n_components"]:
        raise ValueError(
            f"n_neurons={n_neurons} is less than n_components={settings['n_components']}; vectors are made from the "
            "neurons: raise n_neurons, or leave it at None"
        )
    if output != "projection" and n_neurons != settings["n_components"]:
        raise ValueError(
            f"output={quoted(output)} gives one number for each neuron, but n_neurons={n_neurons} is not "
            f"n_components={settings['n_components']}; leave n_neurons at None, or take output='projection'"
        )
    if (mean == "subtract") == (output == "projection") and mean != "keep":
        expected = "'project' or 'keep'" if output == "projection" else "'subtract' or 'keep'"
        raise ValueError(f"mean={quoted(mean)} does not go with output={quoted(output)}; take {expected}")


def require_held_out(model: Any, *, has_validation: bool) -> None:
    """Refuse a patience where no documents are held out to follow the validation loss."""
    if model.patience is not None and not has_validation and not model.validation_fraction:
        raise ValueError(
            f"patience={quoted(model.patience)} needs held-out documents: set validation_fraction or pass validation="
        )


def settings_for(model: Any, n_documents: int) -> dict[str, Any]:
    """All parameters that shape the network, with None replaced by what suits ``n_components`` and the documents.

    ``random_state`` is not among them: what it came to is known when the training starts, see :func:`generator_from`.
    """
    settings = {name: getattr(model, name) for name in NETWORK_PARAMETERS}
    settings["n_neurons"] = _neurons(settings)
    for name, value in _suited_to(settings["n_neurons"], n_documents).items():
        if settings[name] is None:
            settings[name] = value
    if settings["max_epochs"] is None:
        settings["max_epochs"] = _EPOCHS
        if settings["max_steps"] is None:
            settings["max_steps"] = _MOST_STEPS
    if settings["max_steps"] is not None:
        steps = -(-n_documents // settings["batch_size"])
        settings["max_epochs"] = min(settings["max_epochs"], -(-settings["max_steps"] // steps))
    return settings


def sampled_words(settings: dict[str, Any], n_words: int) -> int:
    """How many words a step draws to reconstruct beside those of its documents; 0: it reconstructs all."""
    sampling = settings["reconstruction_sampling"]
    if sampling == "auto":
        return _SAMPLED if n_words >= _SAMPLED_FROM else 0
    return int(sampling) if sampling else 0


def _neurons(settings: dict[str, Any]) -> int:
    """Vectors are best made from more neurons than they have components; other outputs are the neurons themselves."""
    if settings["n_neurons"] is not None:
        return int(settings["n_neurons"])
    least = _FEWEST_NEURONS if settings["output"] == "projection" else 0
    return max(least, int(settings["n_components"]))


def generator_from(random_state: Any) -> tuple[int | None, np.random.RandomState]:
    """The random generator that ``random_state`` asks for, and its seed.

    None draws a seed from NumPy's global generator, so that the result can be repeated by the seed that is written
    down. A generator that is given is used as it is; it has no seed that would repeat the result.
    """
    if isinstance(random_state, np.random.RandomState):
        return None, random_state
    if random_state is None:
        random_state = np.random.randint(2**31 - 1)  # noqa: NPY002 - the generator that users seed with np.random.seed
    if isinstance(random_state, bool) or not isinstance(random_state, Integral):
        raise ValueError(
            f"random_state={quoted(random_state)}: expected a whole number, None, or a numpy.random.RandomState"
        )
    return int(random_state), np.random.RandomState(int(random_state))


def paper_settings(n_components: int) -> dict[str, Any]:
    """KATE to the letter: section 4.2 of Chen & Zaki (2017)."""
    return paper_training(n_components) | {
        "n_neurons": None,  # as many as components
        "n_winners": {20: 6, 128: 32, 512: 102}.get(n_components, max(1, n_components // 4)),
        "amplification": 6.26,
        "loss": "cross-entropy",
        "activation": "tanh",
        "dropout": 0.0,
        "reconstruction_sampling": None,
        "weighting": "none",
        "start": "random",
        "max_steps": None,
        "output": "activation",
        "mean": "keep",
    }


def paper_training(n_components: int) -> dict[str, Any]:
    """How Chen & Zaki (2017) trained every autoencoder, KATE and the variational one too.

    They do not say what Adadelta adds to its running squares. With few neurons 1e-8 is too small: after 100 epochs the
    network still predicts little more than the words' frequencies (docs/defaults.md).
    """
    return {
        "scaling": "max",
        "output_bias": "zero",
        "optimizer": "adadelta",
        "learning_rate": 2.0,
        "epsilon": 1e-6 if n_components < 64 else 1e-8,
        "warmup": 0.0,
        "decay": "none",
        "max_epochs": 100,
        "batch_size": 50,
        "validation_fraction": 0.1,
        "patience": 5,
    }


# Chosen on validation documents of many corpora (docs/defaults.md).
_FEWEST_NEURONS = 256
_EPOCHS = 5
_MOST_STEPS = 500
_SAMPLED = 1_000
_SAMPLED_FROM = 4_000  # words: below, the sample would be no smaller


def _suited_to(n_neurons: int, n_documents: int) -> dict[str, Any]:
    """What None becomes, for so many neurons and documents.

    A winner takes over the energy of all losers of its sign, and the vectors of winners add up: with more neurons the
    share that each takes, the amplification, must be smaller. Beyond 20,000 documents batches grow instead of steps.
    """
    few = n_documents <= 20_000
    return {
        "n_winners": max(1, n_neurons // 4),
        "amplification": min(1.0, 0.7 * (256 / n_neurons) ** 2),
        "learning_rate": 2e-3,
        "batch_size": min(200, max(16, n_documents // 20)) if few else min(1_000, n_documents // 100),
    }


def checked_counts(model: Any, X: Any, *, reset: bool) -> sparse.csr_matrix:
    """Counts as float32 CSR, sorted, without duplicates and stored zeros; anything but counts is refused.

    ``reset`` (in fitting): the number of words is taken from X, and one document is too few. Otherwise it is compared.
    """
    require(f"{type(model).__name__} on counts", "sklearn", "sklearn")
    from sklearn.utils.validation import validate_data

    if getattr(X, "format", "") in {"csr", "csc"} and X.ndim == 2:
        check_compressed(X)  # before SciPy, whose compiled code trusts it
    if getattr(X, "format", "") == "csr" and X.ndim == 2 and X.dtype.kind in "biu":
        # converts the values alone: astype on the matrix would copy the indices as well
        X = sparse.csr_matrix((X.data.astype(np.float32), X.indices, X.indptr), shape=X.shape)
    checked = validate_data(
        model, X, reset=reset, accept_sparse="csr", dtype=np.float32, ensure_min_samples=2 if reset else 1
    )
    counts = sparse.csr_matrix(checked)
    if counts.nnz and counts.data.min() < 0:
        raise ValueError(
            f"Negative values in data passed to {type(model).__name__}: the lowest is {counts.data.min():g}; "
            "word counts start at 0"
        )
    if not counts.has_canonical_format or not counts.data.all():
        counts = counts.copy()  # the caller's matrix is theirs
        counts.sum_duplicates()
        counts.eliminate_zeros()
    return counts


def require_choice(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Refuse anything but one of a few values."""
    if value not in allowed:
        raise ValueError(
            f"{name}={quoted(value)} is not known; choose one of {', '.join(map(repr, allowed))}"
        )


def require_whole(name: str, value: Any, least: int = 1) -> None:
    """Refuse anything but a whole number that is large enough."""
    if type(value) is bool or not isinstance(value, Integral) or int(value) < least:
        raise ValueError(f"{name}={quoted(value)}: expected a whole number of at least {least}")


def require_between(name: str, value: Any, low: float, high: float) -> None:
    """Refuse anything but a number from ``low`` to below ``high``."""
    if type(value) is bool or not (isinstance(value, Real) and low <= float(value) < high):
        raise ValueError(f"{name}={quoted(value)}: expected a number from {low:g} to below {high:g}")
