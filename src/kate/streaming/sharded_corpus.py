"""Texts → shards of one vocabulary's columns, in a work folder: counted, put together, sorted.

    counting     texts → shards, each with words of its own     (shard_counting.py)
    vocabulary   the words of all shards → a Vocabulary         (word_totals.py)
    sorting      shards → shards of the vocabulary's columns    (count_shards.py)

Each phase goes on where it was: what is done is on disk, shard by shard.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from kate.storage.folders import FolderError
from kate.streaming.count_shards import read_ahead, translate_shard
from kate.streaming.memory_limit import MemoryLimit
from kate.streaming.shard_counting import count_into_shards, cut_into_parts, shard_name
from kate.streaming.shard_files import Shard
from kate.streaming.word_totals import merge_words
from kate.streaming.work_folder import WorkFolder
from kate.text.language_checks import tokenizer_for
from kate.text.own_tokenizer import tokenizer_from_config
from kate.text.text_stream import TextStream
from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary
from kate.text.word_parameters import WordParameters

__all__ = ["Tell", "count_stream"]

_logger = logging.getLogger(__name__)
_VOCABULARY = "vocabulary.txt"

Tell = Callable[[str, int, float | None], None]
"""Is told of the phase, how many documents are done in it and their share of the work; raises what ends the work."""


def count_stream(
    stream: TextStream, words: WordParameters, limit: MemoryLimit, work: WorkFolder, tell: Tell
) -> tuple[Vocabulary, list[Shard]]:
    """The vocabulary of all texts, and shards of their counts, in a folder that has begun.

    >>> import tempfile
    >>> from kate.text.text_stream import GivenTexts
    >>> with tempfile.TemporaryDirectory() as folder, WorkFolder(f"{folder}/work") as work:
    ...     work.begin({})
    ...     texts = GivenTexts(["gold and silver", "gold"])
    ...     limit = MemoryLimit.of("1GB")
    ...     vocabulary, shards = count_stream(texts, WordParameters(), limit, work, lambda *told: None)
    >>> vocabulary.words, shards[0].n_documents
    (['gold', 'silver'], 2)
    """
    if words.phrases:
        raise ValueError("phrases=True needs all texts in memory; leave it out, or leave memory out")
    corpus = _ShardedCorpus(stream, words, limit, work, tell)
    if work.phase == "counting":
        corpus.count()
        vocabulary = corpus.learn_vocabulary()
    else:
        vocabulary = corpus.read_vocabulary()
    return vocabulary, corpus.sort(vocabulary)


@dataclass(frozen=True, eq=False)
class _ShardedCorpus:
    stream: TextStream
    words: WordParameters
    limit: MemoryLimit
    work: WorkFolder
    tell: Tell

    def count(self) -> None:
        done = self.work.shards_in(self.work.words)
        n_done = _require_whole(done, self.work)
        n_places, n_before = done[-1].facts["place"] if done else (0, 0)
        texts = self.stream.texts(n_places, n_before, n_done)
        texts, tokenizer = self._with_tokenizer(texts, done)
        config = tokenizer.config()

        def facts(n_documents: int) -> dict[str, Any]:
            ends = [end for end in self.stream.ends if end <= n_documents]
            return {"place": [len(ends), ends[-1] if ends else 0], "tokens": config}

        shards = count_into_shards(
            read_ahead(cut_into_parts(texts, self.limit.text_at_once)),
            self.work.words,
            tokenizer,
            n_jobs=self.words.n_jobs,
            first=(len(done), n_done),
            facts=facts,
        )
        self.tell("counting", n_done, self.stream.share_read(n_done))
        for shard in shards:
            n_done += shard.n_documents
            self.tell("counting", n_done, self.stream.share_read(n_done))
        if n_done == 0:
            raise ValueError("no documents to learn a vocabulary from; pass at least one text")
        if n_done < 2:
            raise ValueError("one document is not enough to learn from; give two at least, better thousands")

    def _with_tokenizer(
        self, texts: Iterator[pl.Series], done: Sequence[Shard]
    ) -> tuple[Iterator[pl.Series], Tokenizer]:
        """The texts, and the tokenizer of the shards that are there, or else the one that fits the first texts."""
        if done:
            return texts, self._tokenizer_of(done)
        return tokenizer_for(texts, self.words.make_tokenizer())

    def _tokenizer_of(self, shards: Sequence[Shard]) -> Tokenizer:
        if self.words.tokenizer is not None:
            return self.words.make_tokenizer()
        return tokenizer_from_config(shards[0].facts["tokens"])

    def learn_vocabulary(self) -> Vocabulary:
        shards = self.work.shards_in(self.work.words)
        n_documents = sum(shard.n_documents for shard in shards)
        self.tell("vocabulary", 0, 0.0)
        merged = merge_words(
            shards,
            self._tokenizer_of(shards),
            self.words.vocabulary_size,
            self.words.min_df,
            self.words.max_df,
            rows_at_once=self.limit.rows_of_words,
            report=lambda share: self.tell("vocabulary", round(share * n_documents), share),
        )
        vocabulary = merged.vocabulary
        _logger.info(
            "%s distinct words, put together in %d groups; %s are the vocabulary",
            f"{merged.n_distinct:,}",
            merged.n_groups,
            f"{len(vocabulary):,}",
        )
        lines = "".join(f"{line}\n" for line in vocabulary.to_lines()).encode()
        facts = {"counted": {"vocabulary": vocabulary.config(), "n_shards": len(shards)}}
        self.work.keep({_VOCABULARY: lines}, "vocabulary", facts)
        self.tell("vocabulary", n_documents, 1.0)
        return vocabulary

    def read_vocabulary(self) -> Vocabulary:
        lines = self.work.read(_VOCABULARY).decode().split("\n")[:-1]
        vocabulary = Vocabulary.from_lines(lines, self.work.facts["counted"]["vocabulary"])
        return vocabulary if self.words.tokenizer is None else vocabulary.with_tokenizer(self.words.tokenizer)

    def sort(self, vocabulary: Vocabulary) -> list[Shard]:
        """The shards of the vocabulary's columns; each takes the place of one with words of its own."""
        counts, words = self.work.counts, self.work.words
        n_shards, n_done = int(self.work.facts["counted"]["n_shards"]), 0
        found = []
        for number in range(n_shards):
            name = shard_name(number)
            if (words / name).exists():
                translate_shard(Shard.open(words / name), vocabulary, counts / name)
                (words / name).unlink()
            elif not (counts / name).exists():
                raise FolderError(f"{counts / name} is missing; delete {self.work.path} and begin again")
            found.append(Shard.open(counts / name))
            n_done += found[-1].n_documents
            self.tell("sorting", n_done, (number + 1) / n_shards)
        return found


def _require_whole(shards: Sequence[Shard], work: WorkFolder) -> int:
    """Refuse shards between which one is missing; how many documents they have."""
    n_documents = 0
    for number, shard in enumerate(shards):
        if shard.path.name != shard_name(number) or shard.facts["first_document"] != n_documents:
            raise FolderError(
                f"{work.words / shard_name(number)} is missing; delete {work.path} and begin again"
            )
        n_documents += shard.n_documents
    return n_documents
