"""The family of Kate's own errors: what is wrong with folders, documents and queries that come from outside."""

from __future__ import annotations

__all__ = ["KateError", "quoted"]


class KateError(Exception):
    """Every error of Kate's own is one of these, and also of the kind that Python would use: mostly a ValueError.

    ::

        FolderError        a model, index or estimator folder that is damaged, of another kind or of another version
        CorpusError        documents that cannot be read; MalformedRowError is one row of them
        QueryError         a search that cannot be read
        FilterError        a condition that cannot be read
        UnknownWordError   a word that the model does not know
        UpdateError        a model that was saved without what an update needs
        ForkedProcessError Kate was used, then the process was forked
        ClusterError       a cluster that cannot be reached, is too small, or was lost

    A wrong argument is a ValueError or TypeError, as everywhere in Python, and what the system refuses (a full disk, a
    folder without rights) stays an OSError. docs/reliability.md says what comes out of what.

    >>> import kate
    >>> issubclass(kate.FolderError, kate.KateError), issubclass(kate.FolderError, ValueError)
    (True, True)
    """


def quoted(value: object, most: int = 100) -> str:
    r"""What an error or a warning repeats of a value that it was given: as ``repr`` shows it, and never much of it.

    The limit is on what is shown: an odd character may take ten.

    >>> quoted("gold"), quoted("gold" * 1_000_000, 8), quoted("\0" * 50, 8), quoted([1] * 50, 8)
    ("'gold'", "'goldgold…'", "'\\x00\\x00…'", '[1, 1, 1…')
    """
    if not isinstance(value, str):
        shown = repr(value)
        return shown if len(shown) <= most + 2 else f"{shown[:most]}…"
    kept = value[:most]
    while len(repr(kept)) > most + 2:
        kept = kept[: len(kept) * 4 // 5]
    return repr(value) if len(kept) == len(value) else repr(f"{kept}…")
