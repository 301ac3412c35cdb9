"""What a hit shows of its document: id, label, title and a snippet. Only the rows of the hits are read from disk."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from kate.storage.folders import FolderError

__all__ = ["make_snippets", "open_snippets", "read_snippets"]

COLUMNS = ("id", "label", "title", "snippet")
# Characters of a title or a snippet.
_SNIPPET = 200
# White space and control characters, except a single space: replacing every space by a space takes six times as long.
_NOT_ONE_SPACE = r"[\s\p{Cc}]{2,}|[[\s\p{Cc}]--[ ]]"


def make_snippets(frame: pl.DataFrame) -> pl.DataFrame:
    """One short line per document, without control characters that could disturb a terminal."""

    def one_line(column: str) -> pl.Expr:
        # the rest of a long text is not needed
        return (
            pl.col(column)
            .cast(pl.String)
            .str.head(5 * _SNIPPET)
            .str.replace_all(_NOT_ONE_SPACE, " ")
            .str.strip_chars()
        )

    def cut(line: pl.Expr) -> pl.Expr:
        at_a_word = line.str.head(_SNIPPET).str.replace(r"\s+\S*$", "")
        return pl.when(line.str.len_chars() > _SNIPPET).then(at_a_word + "…").otherwise(line)

    return frame.select(
        pl.col("id", "label").cast(pl.String), cut(one_line("title")), cut(one_line("text")).alias("snippet")
    )


def open_snippets(path: Path) -> pl.LazyFrame:
    """The table that an index has saved; its rows stay on disk."""
    try:
        documents = pl.scan_ipc(path)
        names: Sequence[str] = documents.collect_schema().names()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise FolderError(
            f"{path} is not an Arrow file ({error}): the index is damaged; copy it again"
        ) from None
    if tuple(names) != COLUMNS:
        raise FolderError(f"{path} has the columns {', '.join(names)}; expected {', '.join(COLUMNS)}")
    return documents


def read_snippets(documents: pl.LazyFrame, rows: Iterable[int]) -> dict[int, dict[str, Any]]:
    """What to show of some documents, by row."""
    numbered = documents.with_row_index("row")
    wanted = numbered.filter(pl.col("row").is_in(sorted(rows))).collect()
    return {shown.pop("row"): shown for shown in wanted.to_dicts()}
