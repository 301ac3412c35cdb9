"""Texts of documents, whole or as snippets, in blocks: who reads one document decompresses one block."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import polars as pl

from kate.explore.page_data import array_bytes, compressed

__all__ = ["KeptTexts", "snippets", "text_parts"]

KeptTexts: TypeAlias = Literal["whole", "snippet", "none"]
"""How much of its texts a page holds."""

_BLOCK = 256 * 1024  # bytes of text
_SNIPPET = 280  # characters
_ENDS = 40  # of them, in which a snippet may end at a space


def text_parts(texts: pl.Series, kept: KeptTexts) -> tuple[dict[str, bytes], list[int]]:
    """The parts text_offsets and texts-0, texts-1, …, and the first document of every block.

    Offsets are bytes of UTF-8 from the first text on, one more than there are documents.
    """
    if kept == "none":
        return {}, []
    encoded = [text.encode("utf-8", errors="replace") for text in _strings(texts, kept)]
    offsets = np.zeros(len(encoded) + 1, dtype=np.uint32)
    np.cumsum([len(text) for text in encoded], out=offsets[1:])
    parts, blocks = {"text_offsets": array_bytes(offsets)}, list[int]()
    first, size = 0, 0
    for row, text in enumerate(encoded):
        size += len(text)
        if size >= _BLOCK or row + 1 == len(encoded):
            parts[f"texts-{len(blocks)}"] = compressed(b"".join(encoded[first : row + 1]))
            blocks.append(first)
            first, size = row + 1, 0
    return parts, blocks


def snippets(texts: pl.Series) -> list[str]:
    """The beginnings of texts, white space made one space.

    >>> snippets(pl.Series(["A  short\\ntext.", "word " * 100]))[0]
    'A short text.'
    """
    # twice as much as is kept: white space goes
    starts = texts.str.slice(0, 2 * _SNIPPET).str.replace_all(r"\s+", " ").str.strip_chars()
    whole = texts.str.len_chars() <= 2 * _SNIPPET
    return [
        start if len(start) <= _SNIPPET and all_of_it else _cut(start)
        for start, all_of_it in zip(starts.to_list(), whole.to_list(), strict=True)
    ]


def _cut(text: str) -> str:
    at = text.rfind(" ", _SNIPPET - _ENDS, _SNIPPET)
    return text[: at if at > 0 else _SNIPPET].rstrip() + " …"


def _strings(texts: pl.Series, kept: KeptTexts) -> list[str]:
    return texts.to_list() if kept == "whole" else snippets(texts)
