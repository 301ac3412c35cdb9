"""A binary tree with a word at each leaf: the probability of a word takes log2(n_words) nodes, not n_words logits."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from kate.research.rivals.neural.document_module import glorot

__all__ = ["WordTree"]


class WordTree(nn.Module):
    """ln p(word given h) = Σ over the nodes on the path to its leaf of ln σ(± (V_node · h + b_node)).

    The words are put on the leaves of a complete tree at random. ``nodes`` (n_words, depth) are the nodes from the leaf
    of each word up to the root, ``signs`` the directions there; shorter paths are padded with a sign of 0.
    """

    nodes: Tensor
    signs: Tensor

    def __init__(self, n_words: int, n_components: int, generator: torch.Generator) -> None:
        super().__init__()
        device = generator.device
        self.V = glorot(n_words, n_components, generator)  # as a heap: node 1 is the root, 0 is no node
        self.b = nn.Parameter(torch.zeros(n_words, device=device))
        # the leaves follow the inner nodes in the heap
        leaf = n_words + torch.randperm(n_words, generator=generator, device=device)
        depth = (2 * n_words - 1).bit_length() - 1
        nodes, signs = [], []
        for _ in range(depth):
            parent = leaf >> 1
            is_turn = parent >= 1
            nodes.append(torch.where(is_turn, parent, 0))
            signs.append(torch.where(is_turn, (leaf & 1) * 2 - 1, 0).float())
            leaf = parent
        self.register_buffer("nodes", torch.stack(nodes, dim=1))
        self.register_buffer("signs", torch.stack(signs, dim=1))

    def log_probability(self, hidden: Tensor, words: Tensor) -> Tensor:
        """ln p of a word for each row of hidden (n, n_components): (n,)."""
        nodes, signs = self.nodes[words], self.signs[words]  # (n, depth)
        turned = torch.einsum("ndm,nm->nd", functional.embedding(nodes, self.V), hidden) + self.b[nodes]
        return (functional.logsigmoid(signs * turned) * signs.abs()).sum(dim=1)

    def loss(self, hidden: Tensor, weights: Tensor) -> Tensor:
        """-Σ weights · ln p(every word), for weights (n, n_words): all nodes at once."""
        n_rows, n_nodes = weights.shape[0], len(self.V)
        # the weight of the words to the right and to the left of each node
        right, left = (torch.zeros(n_rows, n_nodes, device=weights.device) for _ in range(2))
        for nodes, signs in zip(self.nodes.T, self.signs.T, strict=True):
            right.index_add_(1, nodes, weights * (signs > 0))
            left.index_add_(1, nodes, weights * (signs < 0))
        turned = functional.linear(hidden, self.V, self.b)  # (n, n_nodes)
        return (right * functional.softplus(-turned) + left * functional.softplus(turned)).sum()
