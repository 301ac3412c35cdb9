"""What a page may hold: how many documents, how many bytes, and how much of the texts then."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from kate.errors import quoted
from kate.explore.text_parts import KeptTexts

__all__ = ["MOST_DOCUMENTS", "chosen_rows", "fewer_texts", "file_bytes", "too_large"]

# with so many points the map still moves smoothly, and the file is small enough to be sent
MOST_DOCUMENTS = 200_000

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "KI": 2**10, "MI": 2**20, "GI": 2**30}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMG]?I?)B?\s*", re.IGNORECASE)
_FROM_MOST_TO_LEAST: tuple[KeptTexts, ...] = get_args(KeptTexts)
_ABOUT = 0.9  # of the documents that would just fit: sizes do not grow quite evenly


def file_bytes(given: str | int) -> int:
    """Bytes of "20MB" or of a number; a megabyte has a million bytes, and "20MiB" are a little more.

    >>> file_bytes("20MB"), file_bytes("1.5 MiB"), file_bytes(1000)
    (20000000, 1572864, 1000)
    """
    found = _SIZE.fullmatch(given) if isinstance(given, str) else None
    if found is not None and found[2].upper() in _UNITS:
        size = int(float(found[1]) * _UNITS[found[2].upper()])
    elif isinstance(given, int) and not isinstance(given, bool):
        size = given
    else:
        raise ValueError(f"{quoted(given)} is no size of a file; give one such as 20MB or 500kB")
    if size < 1:
        raise ValueError(f"a page of {quoted(given)} holds nothing; give a size such as 20MB")
    return size


def fewer_texts(kept: KeptTexts) -> Iterator[KeptTexts]:
    """What was asked for, and then less and less of the texts.

    >>> list(fewer_texts("snippet"))
    ['snippet', 'none']
    """
    yield from _FROM_MOST_TO_LEAST[_FROM_MOST_TO_LEAST.index(kept) :]


def chosen_rows(n_documents: int, sample: int | None) -> NDArray[np.int64] | None:
    """The rows of the documents that a page shows, in their order; None where it shows all.

    sample : how many; None takes as many as a page can hold

    >>> chosen_rows(1_000, 200).shape, chosen_rows(1_000, 5_000)
    ((200,), None)
    """
    if sample is not None and sample < 1:
        raise ValueError(f"sample={sample} leaves no document; a page shows one at least")
    most = MOST_DOCUMENTS if sample is None else sample
    if n_documents <= most:
        return None
    return np.sort(np.random.default_rng(0).choice(n_documents, size=most, replace=False))


def too_large(n_bytes: int, most_bytes: int, n_documents: int, parts: Mapping[str, int]) -> str:
    """What to do where a page without any text is still larger than it may be.

    parts : bytes of each part

    >>> print(too_large(30_000_000, 20_000_000, 100_000, {"postings": 24_000_000, "word_map": 6_000_000}))
    without its texts the page still has 30.0 MB, more than the 20.0 MB that it may have (the words of the documents \
24.0 MB, the model 6.0 MB): show about 52,000 of the 100,000 documents (--sample 52000), allow more (--max-size 30MB), \
or serve them all (kate index, then kate serve)
    """
    of_model = sum(parts.get(name, 0) for name in ("word_map", "forms", "words", "topics", "centres"))
    remedies = [f"allow more (--max-size {-(-n_bytes // 10**6)}MB)"]
    of_documents = max(n_bytes - of_model, 1)
    fitting = int(n_documents * _ABOUT * (most_bytes - of_model) / of_documents)
    if fitting >= 100:
        some = fitting // 100 * 100 if fitting < 10_000 else fitting // 1_000 * 1_000
        remedies.insert(0, f"show about {some:,} of the {n_documents:,} documents (--sample {some})")
        remedies.append("or serve them all (kate index, then kate serve)")
    else:
        remedies.append("or fit a smaller model (kate fit --dimensions 64 --vocabulary-size 5000)")
    return (
        f"without its texts the page still has {_shown(n_bytes)}, more than the {_shown(most_bytes)} that it may have "
        f"(the words of the documents {_shown(parts.get('postings', 0))}, the model {_shown(of_model)}): "
        f"{', '.join(remedies)}"
    )


def _shown(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e5 else f"{n_bytes:,} bytes"
