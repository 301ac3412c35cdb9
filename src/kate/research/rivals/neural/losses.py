"""Reconstruction losses: summed over words, averaged over documents; and the KL divergence of Gaussians."""

from __future__ import annotations

import math

from torch import Tensor
from torch.nn import functional

from kate.research.rivals.neural.batches import Batch

__all__ = ["binary_cross_entropy", "kl_divergence", "multinomial_loss"]


def binary_cross_entropy(logits: Tensor, documents: Batch) -> Tensor:
    """-Σ x ln σ(logits) + (1 - x) ln(1 - σ(logits)) over the words, averaged over the documents."""
    total = functional.binary_cross_entropy_with_logits(logits, documents.dense(), reduction="sum")
    return total / len(documents)


def multinomial_loss(logits: Tensor, documents: Batch) -> Tensor:
    """-Σ x ln softmax(logits) over the words, averaged over the documents."""
    return -(functional.log_softmax(logits, dim=1) * documents.dense()).sum() / len(documents)


def kl_divergence(mean: Tensor, log_variance: Tensor, prior_variance: float = 1.0) -> Tensor:
    """KL of N(mean, exp(log_variance)) from N(0, prior_variance), summed over topics: (n_docs,)."""
    log_ratio = log_variance - math.log(prior_variance)
    return 0.5 * ((mean.square() / prior_variance) + log_ratio.exp() - 1 - log_ratio).sum(dim=1)
