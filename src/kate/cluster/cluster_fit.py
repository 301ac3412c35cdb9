"""Files → a fitted TextModel: counted on the cluster, trained here, or by several workers that are averaged."""

from __future__ import annotations

import logging
import warnings

from kate.cluster.cluster_counting import count_on_cluster, warn_of_skipped
from kate.cluster.corpus_pieces import CorpusPieces
from kate.cluster.ray_cluster import RayCluster
from kate.cluster.ray_team import share_out_on
from kate.model.settings import check_settings
from kate.model.text_model import TextModel
from kate.text.word_parameters import WordParameters

__all__ = ["fit_on_cluster"]

_logger = logging.getLogger(__name__)


def fit_on_cluster(
    cluster: RayCluster, model: TextModel, pieces: CorpusPieces, n_workers: int = 1
) -> TextModel:
    """``model.fit`` on the documents of files, which are counted on the machines of the cluster.

    n_workers : 1 trains here, and gives the model that ``fit`` gives, to the bit. More train copies of the network,
        each on its part of the documents, which are averaged again and again

    The counts of all documents come to this machine once: where training starts, and the vectors that it ends in, are
    worked out from them. Of very many documents (268 million entries of counts) a sample comes, one in n; the
    vocabulary is that of all.
    """
    check_settings(model)
    if n_workers > 1:
        cluster.require_workers(n_workers)
        if model.validation_fraction:
            raise ValueError(
                f"validation_fraction={model.validation_fraction} holds documents out, and workers train on all; take "
                "one worker, or validation_fraction=0"
            )
    counted = count_on_cluster(cluster, pieces, WordParameters.of(model))
    warn_of_skipped(counted)
    _logger.info(
        "counted %s documents in %d pieces on %d processors",
        f"{sum(counted.n_documents):,}",
        len(pieces),
        cluster.n_cpus,
    )
    share_out = share_out_on(cluster, counted, n_workers) if n_workers > 1 else None
    every = counted.every()
    if every > 1:
        warnings.warn(
            f"the counts of {sum(counted.n_documents):,} documents are too many for one machine: W starts from one in "
            f"{every}, and one worker is trained on these",
            UserWarning,
            stacklevel=2,
        )
    return model.fit_counted(counted.vocabulary, counted.gathered(every), share_out=share_out)
