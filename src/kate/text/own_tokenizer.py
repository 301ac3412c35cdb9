"""Words that the user makes: with a function of their own, or as lists that are cut already."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from kate.errors import quoted
from kate.text.cleaning import Cleaning
from kate.text.tokenizer import Tokenizer

__all__ = ["OwnTokenizer", "TokenFunction", "tokenizer_from_config", "with_function"]

TokenFunction = Callable[[str], Iterable[str]]

# Batches of texts are read by several threads; a function of the user may not be made for that.
_ONE_AT_A_TIME = threading.Lock()


@dataclass(frozen=True, eq=False)
class OwnTokenizer(Tokenizer):
    """Words as the user makes them: no stems, no stop words, no cleaning of ours.

    Parameters
    ----------
    function : text → words. Without one, texts are lists of words, or words between white space.
    name : of the function, for a model that is saved without it.

    >>> OwnTokenizer(lambda text: text.split(", ")).words("new york, gold")
    ['new york', 'gold']
    >>> OwnTokenizer().words("The New-York Times")
    ['The', 'New-York', 'Times']
    """

    language: str | None = field(default=None, init=False)
    stem: bool = field(default=False, init=False)
    stop_words: Iterable[str] | None = field(default=(), init=False)
    cleaning: Cleaning = field(default_factory=Cleaning.off, init=False)
    function: TokenFunction | None = None
    name: str | None = None

    def __init__(self, function: TokenFunction | None = None, name: str | None = None) -> None:
        if function is not None and not callable(function):
            raise TypeError(
                f"tokenizer is {quoted(function, 60)}; give a function that makes a list of words of a text"
            )
        Tokenizer.__init__(self, None, False, (), Cleaning.off())
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "name", name if function is None else _name_of(function))

    @property
    def is_missing(self) -> bool:
        """Whether there was a function that is not here: a saved model holds no code."""
        return self.name is not None and self.function is None

    def cut(self, texts: pl.Series, breaks: bool = False) -> pl.Series:
        """The words of every text, as the user makes them."""
        if isinstance(texts.dtype, pl.List):
            return texts
        if self.is_missing:
            raise ValueError(f"the tokenizer {self.name} is not here; load the model with tokenizer=...")
        if self.function is None:
            return texts.str.extract_all(r"\S+")
        with _ONE_AT_A_TIME:
            words = [_checked(self.function(text), self.name) for text in texts]
        return pl.Series(words, dtype=pl.List(pl.String))

    def resolve(self, chunks: pl.Series) -> pl.DataFrame:
        """Every word is its own stem. White space inside a word is one space, and an empty word is none."""
        table = pl.DataFrame({"word": self.fold(chunks)}).with_row_index("chunk")
        table = table.filter(pl.col("word") != "")
        return table.with_columns(pl.col("word").alias("stem"))

    def fold(self, words: pl.Series) -> pl.Series:
        """The word as it is, on one line."""
        return words.str.replace_all(r"\s+", " ").str.strip_chars()

    @property
    def _identity(self) -> tuple[object, ...]:
        return self.function, self.name

    def config(self) -> dict[str, Any]:
        return super().config() | {"own": {"name": self.name}}


def tokenizer_from_config(config: Mapping[str, Any]) -> Tokenizer:
    """The tokenizer that ``config`` came from; a function of the user is missing from it."""
    if "own" in config:
        return OwnTokenizer(name=config["own"]["name"])
    return Tokenizer.from_config(config)


def with_function(tokenizer: Tokenizer, function: TokenFunction | None, shown: str) -> Tokenizer:
    """A tokenizer with the function that a saved model does not hold; ``shown`` names the model in errors."""
    name = tokenizer.name if isinstance(tokenizer, OwnTokenizer) else None
    if name is None and function is not None:
        raise ValueError(f"{shown} was fitted without a tokenizer of its own; leave tokenizer out")
    if name is None:
        return tokenizer
    if function is None:
        raise ValueError(
            f"{shown} was fitted with the tokenizer {name}, which is not saved with it; pass it again: "
            "kate.load(folder, tokenizer=...)"
        )
    return OwnTokenizer(function)


def _name_of(function: Any) -> str:
    named = function if hasattr(function, "__qualname__") else type(function)
    module = getattr(named, "__module__", None)
    return f"{module}.{named.__qualname__}" if module else str(named.__qualname__)


def _checked(words: Any, name: str | None) -> list[str]:
    found = None if isinstance(words, str | bytes) or not isinstance(words, Iterable) else list(words)
    if found is None or not all(isinstance(word, str) for word in found):
        raise TypeError(f"the tokenizer {name} gave {quoted(words, 60)}; expected a list of str")
    return found
