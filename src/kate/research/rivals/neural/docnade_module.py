"""DocNADE: reads a document word by word and predicts each word from those before it."""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from kate.research.rivals.neural.batches import Batch, SparseBatch
from kate.research.rivals.neural.document_module import DocumentModule, glorot
from kate.research.rivals.neural.word_tree import WordTree

__all__ = ["DocNADEModule", "WordsInOrder"]

_BLOCK = 4096  # tokens whose logits over all words are in memory at a time, outside of training


class WordsInOrder(NamedTuple):
    """The words of documents one by one, in an order: word, document and position in it, (n_tokens,) each."""

    words: Tensor
    rows: Tensor
    places: Tensor
    lengths: Tensor  # (n_docs,)


class _Softmax(nn.Module):
    """p(word given h) = softmax(V h + b)."""

    def __init__(self, n_words: int, n_components: int, generator: torch.Generator) -> None:
        super().__init__()
        self.V = glorot(n_words, n_components, generator)
        self.b = nn.Parameter(torch.zeros(n_words, device=generator.device))

    def log_probability(self, hidden: Tensor, words: Tensor) -> Tensor:
        return -functional.cross_entropy(functional.linear(hidden, self.V, self.b), words, reduction="none")

    def loss(self, hidden: Tensor, weights: Tensor) -> Tensor:
        return -(weights * functional.log_softmax(functional.linear(hidden, self.V, self.b), dim=1)).sum()


class DocNADEModule(DocumentModule):
    """The neural autoregressive topic model (Larochelle & Lauly, 2012), over words in a random order.

        h_i = g(c + Σ_{k<i} W_{v_k})                  W (n_words, n_components)
        p(v_i given v_<i) = softmax(V h_i + b)        or a path in a binary tree
        loss = -Σ_i ln p(v_i given v_<i)

    Of a long document ``n_positions`` positions are drawn and weighted so that the mean gradient is the same. At a
    position the "next" word is predicted, or all the "rest", each as if it were the next: the mean is the same, since
    the order is random (Lauly et al., 2017), and one softmax teaches far more.

    The code of a document is g(c + Σ_k W_{v_k}) over all its words.
    """

    has_fixed_shapes = False  # the number of tokens differs from batch to batch

    def __init__(
        self,
        n_words: int,
        n_components: int,
        generator: torch.Generator,
        *,
        activation: Literal["tanh", "sigmoid"],
        words: Literal["softmax", "tree"],
        targets: Literal["next", "rest"],
        n_positions: int | None,
    ) -> None:
        super().__init__(generator)
        self.W = glorot(n_words, n_components, generator)
        self.c = nn.Parameter(torch.zeros(n_components, device=generator.device))
        maker = WordTree if words == "tree" else _Softmax
        self.output: WordTree | _Softmax = maker(n_words, n_components, generator)
        self.activation, self.targets, self.n_positions = activation, targets, n_positions

    def loss(self, documents: Batch) -> Tensor:
        generator = self.generator
        if not self.training:  # the same random numbers every time, so that epochs can be compared
            generator = torch.Generator(self.W.device).manual_seed(0)
        if self.targets == "rest":
            n_splits = self.n_positions or 1
            losses = torch.stack([self._loss_of_rest(documents, generator) for _ in range(n_splits)])
            return losses.sum() / (n_splits * len(documents))
        return self._loss_of_next(documents, generator) / len(documents)

    def codes(self, documents: Batch) -> Tensor:
        return self._activate(documents.times(self.W) + self.c)

    def topics(self) -> Tensor:
        return self.W.T

    def word_vectors(self) -> Tensor:
        return self.W

    def log_likelihood(self, tokens: WordsInOrder) -> Tensor:
        """ln p of each document, with its words in this order: (n_docs,)."""
        blocks = zip(
            torch.split(self._hidden(tokens), _BLOCK), torch.split(tokens.words, _BLOCK), strict=True
        )
        log_words = torch.cat([self.output.log_probability(hidden, words) for hidden, words in blocks])
        zeros = torch.zeros(len(tokens.lengths), device=log_words.device)
        return zeros.index_add(0, tokens.rows, log_words)

    def _loss_of_next(self, documents: Batch, generator: torch.Generator) -> Tensor:
        tokens = shuffled(documents, generator)
        if self.n_positions is None:
            return -self.log_likelihood(tokens).sum()
        keys = torch.rand(len(tokens.words), generator=generator, device=tokens.words.device)
        # still sorted by document, in random order within it
        order = torch.argsort(tokens.rows + keys.double())
        # the first few of each document, drawn without replacement
        drawn = order[tokens.places < self.n_positions]
        lengths = tokens.lengths[tokens.rows[drawn]]
        weights = lengths / lengths.clamp(max=self.n_positions)
        log_words = self.output.log_probability(self._hidden(tokens)[drawn], tokens.words[drawn])
        return -(weights * log_words).sum()

    def _loss_of_rest(self, documents: Batch, generator: torch.Generator) -> Tensor:
        tokens = shuffled(documents, generator)
        at = torch.rand(len(documents), generator=generator, device=self.W.device)
        splits = (at * tokens.lengths).long()  # (n_docs,), from 0 to below the length
        is_before = tokens.places < splits[tokens.rows]
        seen = bag_of(tokens, is_before, torch.ones_like(is_before, dtype=torch.float32), documents.n_words)
        hidden = self._activate(seen.times(self.W) + self.c)  # (n_docs, n_components)
        weights = (tokens.lengths / (tokens.lengths - splits).clamp(min=1))[tokens.rows]
        return self.output.loss(hidden, bag_of(tokens, ~is_before, weights, documents.n_words).dense())

    def _hidden(self, tokens: WordsInOrder) -> Tensor:
        """h_i of every token, (n_tokens, n_components): the sum over all tokens before it in its document."""
        each = functional.embedding(tokens.words, self.W)
        before = each.cumsum(dim=0) - each
        starts = torch.arange(len(tokens.words), device=self.W.device) - tokens.places
        return self._activate(before - before[starts] + self.c)

    def _activate(self, potential: Tensor) -> Tensor:
        return potential.tanh() if self.activation == "tanh" else potential.sigmoid()


def shuffled(documents: Batch, generator: torch.Generator) -> WordsInOrder:
    """Every word as often as it is counted, in a random order within its document."""
    entries = documents.entries()
    times = entries.values.round().long()
    words, rows = entries.words.repeat_interleave(times), entries.rows.repeat_interleave(times)
    keys = torch.rand(len(words), generator=generator, device=words.device)
    order = torch.argsort(rows + keys.double())
    return tokens_of(words[order], rows[order], len(documents))


def tokens_of(words: Tensor, rows: Tensor, n_docs: int) -> WordsInOrder:
    """Words of documents, sorted by document, with their positions."""
    lengths = torch.bincount(rows, minlength=n_docs)
    starts = lengths.cumsum(0) - lengths
    places = torch.arange(len(words), device=words.device) - starts[rows]
    return WordsInOrder(words, rows, places, lengths)


def bag_of(tokens: WordsInOrder, is_in: Tensor, values: Tensor, n_words: int) -> SparseBatch:
    """Some of the tokens as documents again."""
    lengths = torch.bincount(tokens.rows[is_in], minlength=len(tokens.lengths))
    return SparseBatch(tokens.words[is_in], values[is_in], lengths.cumsum(0) - lengths, n_words)
