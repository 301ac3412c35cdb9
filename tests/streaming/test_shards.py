"""Shards hold what was counted, notice damage, and give the vocabulary that counting in memory gives."""

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_matrix

from kate.storage.folders import FolderError
from kate.streaming.memory_limit import MemoryLimit, parse_size
from kate.streaming.shard_counting import count_into_shards, cut_into_parts
from kate.streaming.shard_files import PIECE_SIZE, Shard, write_shard
from kate.streaming.word_totals import columns_of, merge_words
from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary
from zipf_texts import zipf_texts


def shards_of(texts, folder, n_characters=20_000):
    return list(count_into_shards(cut_into_parts([pl.Series(texts)], n_characters), folder, Tokenizer()))


def test_a_shard_holds_the_counts_in_pieces_that_are_samples(tmp_path):
    random = np.random.default_rng(0)
    dense = random.poisson(0.02, (5_000, 400)) * random.integers(1, 500, (5_000, 400))
    dense[:, 0] = np.arange(5_000) + 1
    counts = csr_matrix(dense)
    write_shard(tmp_path / "a.shard", counts, facts={"first_document": 7})
    shard = Shard.open(tmp_path / "a.shard")
    read = [shard.read(piece).toarray() for piece in shard.pieces]
    assert max(map(len, read)) == PIECE_SIZE
    together = np.concatenate(read)
    order = together[:, 0] - 1
    np.testing.assert_array_equal(together, counts.toarray()[order])
    assert shard.facts == {"first_document": 7}
    # documents are shuffled: the first piece has early and late ones alike
    assert abs(read[0][:, 0].mean() - 2_500) < 250


@pytest.mark.parametrize("where", [20, -10, "middle", "cut"])
def test_damage_is_noticed(tmp_path, where):
    path = tmp_path / "a.shard"
    write_shard(path, csr_matrix(np.random.default_rng(0).poisson(1.0, (300, 50))))
    data = bytearray(path.read_bytes())
    if where == "cut":
        del data[-100:]
    else:
        at = len(data) // 2 if where == "middle" else where
        data[at] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(FolderError, match=r"a\.shard .*(damaged|no shard|together)"):
        shard = Shard.open(path)
        for piece in shard.pieces:
            shard.read(piece)


@pytest.mark.parametrize("settings", [{}, {"vocabulary_size": 150}, {"min_df": 4, "max_df": 0.2}])
@pytest.mark.parametrize("rows_at_once", [10**6, 700])
def test_the_vocabulary_of_shards_is_that_of_all_texts(tmp_path, settings, rows_at_once):
    texts = zipf_texts()
    shards = shards_of(texts, tmp_path)
    assert len(shards) > 5
    merged = merge_words(shards, Tokenizer(), rows_at_once=rows_at_once, **settings)
    expected, counts = Vocabulary.learn(texts, **settings)
    assert list(merged.vocabulary.to_lines()) == list(expected.to_lines())
    assert merged.vocabulary.n_documents == len(texts)
    assert merged.n_groups == (1 if rows_at_once == 10**6 else pytest.approx(12, abs=11))

    # the same counts, in another order of the documents
    total = np.zeros(len(expected), np.int64)
    n_entries = 0
    for shard in shards:
        columns = columns_of(shard, expected)
        for piece in shard.pieces:
            rows = shard.read(piece)
            found = columns[rows.indices]
            np.add.at(total, found[found >= 0], rows.data[found >= 0])
            n_entries += np.count_nonzero(found >= 0)
    np.testing.assert_array_equal(total, expected.totals)
    assert n_entries == counts.nnz


def test_texts_without_words_are_refused_as_in_memory(tmp_path):
    shards = shards_of(["the", "and 12", ""], tmp_path)
    with pytest.raises(ValueError, match="the 3 documents hold no words"):
        merge_words(shards, Tokenizer())


def test_limits_are_read_as_people_write_them():
    assert parse_size("2GB") == parse_size("2 gib") == parse_size("2g") == parse_size(2**31)
    with pytest.raises(ValueError, match="memory='much' is no size; give one such as '2GB'"):
        MemoryLimit.of("much")
    with pytest.raises(ValueError, match="memory='1MB' is too little"):
        MemoryLimit.of("1MB")
