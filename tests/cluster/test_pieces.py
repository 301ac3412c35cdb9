"""A corpus in pieces: read apart and put together they are the corpus; errors that need no cluster."""

import socket
import subprocess
import sys
from importlib.util import find_spec

import polars as pl
import pytest

import kate
from kate.cluster import corpus_pieces
from kate.cluster.cluster_encoding import results_in_order
from kate.cluster.corpus_pieces import CorpusPieces
from kate.cluster.piece_counting import columns_of_piece, count_piece, deal_piece, sum_words
from kate.cluster.piece_encoding import EncodedPiece
from kate.cluster.ray_cluster import ClusterError, RayCluster
from kate.text.readers import read_corpus
from kate.text.tokenizer import Tokenizer
from kate.text.vocabulary import Vocabulary
from zipf_texts import zipf_texts

pytest.importorskip("pyarrow", reason="Parquet files are divided by pyarrow, which Ray brings")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made, texts = tmp_path_factory.mktemp("pieces"), zipf_texts(700)
    table = pl.DataFrame({"body": [*texts[:499], None], "label": ["x", "y"] * 250})
    table.write_parquet(made / "a.parquet", row_group_size=100)
    (made / "b.csv").write_text("id,body\n" + "\n".join(f"{i},{text}" for i, text in enumerate(texts[500:])))
    return made


@pytest.mark.parametrize("piece_size", [1, 30_000, 10**9])
def test_pieces_put_together_are_the_corpus(folder, piece_size):
    paths = [folder / "a.parquet", folder / "b.csv"]
    pieces = CorpusPieces.of(paths, on_error="skip", piece_size=piece_size)
    assert len(pieces) == {1: 6, 30_000: 4, 10**9: 2}[piece_size]
    documents = pieces.joined([piece.read(pieces.rules) for piece in pieces])
    expected = read_corpus(paths, on_error="skip")
    assert documents.frame.equals(expected.frame)
    assert documents.source.equals(expected.source)
    assert documents.skipped == expected.skipped
    assert "row 500" in documents.skipped[0]


def test_words_of_pieces_are_added_up_to_the_vocabulary_and_counts_of_all_texts(folder):
    pieces = CorpusPieces.of(folder / "a.parquet", on_error="skip", piece_size=1)
    found = [count_piece(piece, pieces.rules, Tokenizer(), 3) for piece in pieces]
    groups = [sum_words(2, 300, 150, *[piece[2 + group] for piece in found]) for group in range(3)]
    kept = (
        pl.concat([group.kept for group in groups]).sort("total", "stem", descending=[True, False]).head(150)
    )
    texts = read_corpus(folder / "a.parquet", on_error="skip").texts
    vocabulary, counts = Vocabulary.learn(texts, vocabulary_size=150, min_df=2, max_df=300)
    assert kept["stem"].to_list() == vocabulary.words
    assert kept["total"].to_list() == vocabulary.totals.tolist()
    assert kept["documents"].to_list() == vocabulary.document_frequencies.tolist()
    start = 0
    for piece in found:
        ours, _ = columns_of_piece(piece[1], kept["stem"])
        expected = counts[start : start + ours.shape[0]]
        assert (ours != expected).nnz == 0
        assert ours.has_sorted_indices
        start += ours.shape[0]
    assert start == len(texts)
    dealt = deal_piece(ours, 400, 3)
    assert sum(part.shape[0] for part in dealt) == ours.shape[0]
    # the first document has number 400, which is the second worker's
    assert (dealt[0] != ours[2::3]).nnz == 0


def test_results_come_in_the_order_of_the_pieces_and_errors_at_their_place(folder):
    pieces = CorpusPieces.of(folder / "a.parquet", on_error="skip", piece_size=1)
    done = [EncodedPiece(piece.read(pieces.rules), None, 0) for piece in pieces]
    rows = [(number, done[number]) for number in (2, 0, 1, 4, 3)]
    assert list(results_in_order(rows, pieces)) == done
    rows[2] = 1, ValueError("the second")
    found = results_in_order(rows, pieces)
    assert next(found) is done[0]
    with pytest.raises(ValueError, match="the second"):
        next(found)


def test_a_folder_of_texts_is_read_some_files_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(corpus_pieces, "_FILES_AT_ONCE", 2)
    for number in range(5):
        (tmp_path / f"{number}.txt").write_text(f"text {number}")
    pieces = CorpusPieces.of(tmp_path)
    assert len(pieces) == 3
    documents = pieces.joined([piece.read(pieces.rules) for piece in pieces])
    assert documents.frame.equals(read_corpus(tmp_path).frame)


def test_standard_input_and_damaged_files_are_refused(tmp_path):
    with pytest.raises(kate.CorpusError, match="cannot read standard input; write it to a file"):
        CorpusPieces.of("-", format="jsonl")
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(kate.CorpusError, match=r"a\.parquet is not a Parquet file or is damaged"):
        CorpusPieces.of(tmp_path / "a.parquet")


def test_an_address_where_nobody_listens_is_told_at_once():
    if find_spec("ray") is None:
        pytest.skip("Ray is not installed: pip install 'kate-text[cluster]'")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(
        ClusterError, match=rf"no Ray cluster answers at 127\.0\.0\.1:{port} .*ray start --head"
    ):
        RayCluster.start(f"127.0.0.1:{port}")
    with pytest.raises(ClusterError, match="is no address; give HOST:PORT"):
        RayCluster.start("somewhere:else")


def test_options_of_a_cluster_need_an_engine(tmp_path):
    command = [sys.executable, "-m", "kate", "label", "m", "c.csv", "-o", "o.csv", "--workers", "2"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert ended.returncode == 2
    assert "--workers: goes with --on ray only" in ended.stderr
