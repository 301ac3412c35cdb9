"""Kate: document vectors, topics, similar words and search from a pile of text.

>>> import kate
>>> texts = ["peace treaty signed", "treaty of peace", "gold and silver coin", "silver or gold"] * 5
>>> model = kate.TextModel(n_components=2, max_epochs=5).fit(texts)
>>> model.encode(["a new treaty"]).shape
(1, 2)
>>> [topic.name for topic in model.topics(2)]
['peace, treaty', 'gold, silver']
>>> kate.Index.build(model, texts).search("silver coins", top=2)[0].rank
1

>>> kate.__version__.split(".")[0]
'0'

Names are imported when they are first used, so ``import kate`` is quick and loads neither PyTorch nor matplotlib.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kate import explore, plot, spark
    from kate.competition import compete
    from kate.errors import KateError
    from kate.model.encoder import EmptyDocumentsWarning, Encoder
    from kate.model.kate import KATE
    from kate.model.not_fitted import NotFittedError
    from kate.model.text_model import TextModel, UnknownWordError, load
    from kate.model.text_update import UpdateError
    from kate.model.update_report import UpdateReport
    from kate.research.datasets import load_dataset
    from kate.research.datasets.corpus import Corpus
    from kate.search import DuplicateGroup, FilterError, Hit, Hits, Index, QueryError
    from kate.storage.folders import FolderError
    from kate.text.compressed_files import CorpusError
    from kate.text.counts import Counts
    from kate.text.documents import Documents
    from kate.text.file_rows import MalformedRowError
    from kate.text.languages import languages
    from kate.text.readers import CorpusBatches, iter_corpus, read_corpus
    from kate.text.vocabulary import Vocabulary
    from kate.threads import ForkedProcessError
    from kate.topics.neuron_table import NeuronPole, NeuronPoles
    from kate.topics.topic import Topic
    from kate.topics.topic_nodes import TopicNode
    from kate.topics.topic_set import Topics

# The one place of the version: pyproject.toml reads it from here.
__version__ = "0.2.0.dev0"

__all__ = [
    "KATE",
    "Corpus",
    "CorpusBatches",
    "CorpusError",
    "Counts",
    "Documents",
    "DuplicateGroup",
    "EmptyDocumentsWarning",
    "Encoder",
    "FilterError",
    "FolderError",
    "ForkedProcessError",
    "Hit",
    "Hits",
    "Index",
    "KateError",
    "MalformedRowError",
    "NeuronPole",
    "NeuronPoles",
    "NotFittedError",
    "QueryError",
    "TextModel",
    "Topic",
    "TopicNode",
    "Topics",
    "UnknownWordError",
    "UpdateError",
    "UpdateReport",
    "Vocabulary",
    "__version__",
    "compete",
    "explore",
    "iter_corpus",
    "languages",
    "load",
    "load_dataset",
    "plot",
    "read_corpus",
    "spark",
]

_HOMES = {
    "KATE": "kate.model.kate",
    "Corpus": "kate.research.datasets.corpus",
    "CorpusBatches": "kate.text.readers",
    "CorpusError": "kate.text.compressed_files",
    "Counts": "kate.text.counts",
    "Documents": "kate.text.documents",
    "DuplicateGroup": "kate.search",
    "EmptyDocumentsWarning": "kate.model.encoder",
    "Encoder": "kate.model.encoder",
    "FilterError": "kate.search",
    "FolderError": "kate.storage.folders",
    "ForkedProcessError": "kate.threads",
    "Hit": "kate.search",
    "Hits": "kate.search",
    "Index": "kate.search",
    "KateError": "kate.errors",
    "MalformedRowError": "kate.text.file_rows",
    "NeuronPole": "kate.topics.neuron_table",
    "NeuronPoles": "kate.topics.neuron_table",
    "NotFittedError": "kate.model.not_fitted",
    "QueryError": "kate.search",
    "TextModel": "kate.model.text_model",
    "Topic": "kate.topics.topic",
    "TopicNode": "kate.topics.topic_nodes",
    "Topics": "kate.topics.topic_set",
    "UnknownWordError": "kate.model.text_model",
    "UpdateError": "kate.model.text_update",
    "UpdateReport": "kate.model.update_report",
    "Vocabulary": "kate.text.vocabulary",
    "compete": "kate.competition",
    "explore": "kate",
    "iter_corpus": "kate.text.readers",
    "languages": "kate.text.languages",
    "load": "kate.model.text_model",
    "load_dataset": "kate.research.datasets",
    "plot": "kate",
    "read_corpus": "kate.text.readers",
    "spark": "kate",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        home = _HOMES[name]
        is_room = home == "kate"
        try:
            module = importlib.import_module(f"kate.{name}" if is_room else home)
        except ModuleNotFoundError as error:
            from kate.extras import missing_package

            raise missing_package(error, f"kate.{name}") or error from error
        value = module if is_room else getattr(module, name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'kate' has no attribute {name[:100]!r}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
