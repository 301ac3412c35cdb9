"""The file of a graph of neighbours, looked through before usearch follows its links.

usearch reads a graph where it stands and trusts every number in it, so that a link of a stranger could lead it anywhere
in memory. Its file, format 2:

    rows, bytes per row           4 + 4 bytes, then the vectors
    head                          64 bytes: "usearch", versions, kinds of numbers, how many vectors, dimensions
    size, links, links on the     8 bytes each
      lowest level, levels, entry
    level of every node           2 bytes each
    nodes                         key (8), level (2), then for every level how many links (4) and the links (4 each)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["require_sound"]

_HEAD, _MAGIC = 64, b"usearch"
_KINDS = b"i\x04\x0e\x0f"  # inner product, bf16, keys of 8 bytes, links of 4 bytes
_NODE_HEAD = 10
_NODES_AT_ONCE = 65_536

Bytes = NDArray[np.uint8]


class _Layout(NamedTuple):
    """Where everything stands."""

    data: Bytes
    levels: NDArray[np.int64]  # of every node
    starts: NDArray[np.int64]  # byte of every node
    links: tuple[int, int]  # at most, on the lowest level and on the others
    top: int
    entry: int


def require_sound(data: memoryview, n_documents: int) -> None:
    """ValueError unless every link of the graph leads to one of its nodes, and every key to one of the documents."""
    graph = _layout(np.frombuffer(data, np.uint8))
    if graph is None:
        return
    n = len(graph.levels)
    if not (graph.entry < n and graph.levels[graph.entry] == graph.top == graph.levels.max()):
        raise ValueError("it begins nowhere")
    for first in range(0, n, _NODES_AT_ONCE):
        some = np.arange(first, min(first + _NODES_AT_ONCE, n))
        heads = _numbers(graph.data, graph.starts[some], _NODE_HEAD)
        keys, levels = heads[:, :8].copy().view(np.uint64), heads[:, 8:].copy().view(np.int16)
        if (keys >= n_documents).any() or not np.array_equal(levels.ravel(), graph.levels[some]):
            raise ValueError("its nodes are not the documents")
        for level in range(int(graph.levels[some].max()) + 1):
            _require_links(graph, some[graph.levels[some] >= level], level)


def _require_links(graph: _Layout, nodes: NDArray[np.int64], level: int) -> None:
    """The links of some nodes on one level lead to nodes that are there on this level."""
    base, above = graph.links
    offset = _NODE_HEAD + (4 + 4 * base + (level - 1) * (4 + 4 * above) if level else 0)
    most = above if level else base
    rows = _numbers(graph.data, graph.starts[nodes] + offset, 4 + 4 * most)
    numbers = rows.copy().view(np.uint32).astype(np.int64)
    counts, linked = numbers[:, 0], numbers[:, 1:]
    used = np.arange(most) < counts[:, None]
    if (counts > most).any() or (linked[used] >= len(graph.levels)).any():
        raise ValueError("its links lead nowhere")
    if level and (graph.levels[linked[used]] < level).any():
        raise ValueError("its links lead to levels that are not there")


def _layout(data: Bytes) -> _Layout | None:
    """Where everything stands in the file; None for a graph without nodes."""
    rows, width = (int(one) for one in _at(data, 0, 8, np.uint32))
    head = 8 + rows * width
    if bytes(data[head : head + 7]) != _MAGIC or bytes(data[head + 13 : head + 17]) != _KINDS:
        raise ValueError("it is not the file of a graph of Kate's, or of an unknown version of usearch")
    present, deleted, n_components = (int(one) for one in _at(data, head + 17, 24, np.uint64))
    if (present, deleted, width) != (rows, 0, 2 * n_components):
        raise ValueError("its vectors do not hold together")
    place = head + _HEAD
    size, above, base, top, entry = (int(one) for one in _at(data, place, 40, np.uint64))
    if size != rows or max(base, above) > 4096 or entry >= max(size, 1):
        raise ValueError("its sizes do not hold together")
    if size == 0:
        return None
    place += 40
    levels = _at(data, place, 2 * size, np.int16).astype(np.int64)
    if (levels < 0).any():
        raise ValueError("its levels are none")
    lengths = _NODE_HEAD + 4 + 4 * base + levels * (4 + 4 * above)
    ends = place + 2 * size + np.cumsum(lengths)
    if int(ends[-1]) != len(data):
        raise ValueError("its length is another")
    return _Layout(data, levels, ends - lengths, (base, above), top, entry)


def _at(data: Bytes, start: int, length: int, kind: Any) -> NDArray[Any]:
    part = data[start : start + length]
    if len(part) != length:
        raise ValueError("it is cut short")
    return part.copy().view(kind)


def _numbers(data: Bytes, starts: NDArray[np.int64], length: int) -> Bytes:
    """So many bytes from each start, (n, length)."""
    found: Bytes = np.lib.stride_tricks.sliding_window_view(data, length)[starts]
    return found
