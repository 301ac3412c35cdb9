"""On Ray with two workers of this machine: what comes out is what comes out without Ray, and workers may die.

One Ray for all tests of this file, which run in one process (the group): to start it takes seconds. Only the loopback
is used.
"""

import json
import os
import pickle
import signal
from importlib.util import find_spec

import numpy as np
import polars as pl
import pytest

import dying_pieces
import kate
from kate.cluster.corpus_pieces import CorpusPieces
from kate.text.readers import read_corpus
from zipf_texts import zipf_texts

# not imported here: Kate tells Ray to keep to the loopback before it imports it
if find_spec("ray") is None:
    pytest.skip("Ray is not installed: pip install 'kate-text[cluster]'", allow_module_level=True)

from kate.cluster.cluster_counting import count_on_cluster
from kate.cluster.cluster_encoding import (
    encode_on_cluster,
    index_on_cluster,
    label_on_cluster,
    results_in_order,
)
from kate.cluster.cluster_fit import fit_on_cluster
from kate.cluster.piece_encoding import EncodePieces, ModelWorker
from kate.cluster.ray_cluster import ClusterError, RayCluster
from kate.cluster.ray_team import RayTeam
from kate.model.corpus_outputs import encode_corpus, label_corpus
from kate.model.packed_model import PackedModel
from kate.model.text_answers import as_counts
from kate.text.word_parameters import WordParameters
from model.test_averaged_training import in_process

pytestmark = [
    pytest.mark.xdist_group("ray"),
    pytest.mark.filterwarnings("ignore::kate.EmptyDocumentsWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

SETTINGS = {"vocabulary_size": 400, "device": "cpu", "verbose": False}


@pytest.fixture(scope="module")
def cluster():
    with RayCluster.start(n_cpus=2) as started:
        # the workers do not find the modules of the tests
        started.ray.cloudpickle.register_pickle_by_value(dying_pieces)
        yield started


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A Parquet file of several row groups, lines of JSON with a malformed row, and lines of text."""
    folder, texts = tmp_path_factory.mktemp("corpus"), zipf_texts(2_400)
    table = pl.DataFrame(
        {"text": texts[:1_200], "year": np.arange(1_200) % 30 + 1990, "note": [["a"]] * 1_200}
    )
    table.write_parquet(folder / "a.parquet", row_group_size=300)
    rows = [json.dumps({"text": text, "title": f"no {i}"}) for i, text in enumerate(texts[1_200:1_800])]
    (folder / "b.jsonl").write_text("\n".join([*rows[:50], "no JSON", *rows[50:]]))
    (folder / "c.txt").write_text("\n".join(text or "empty" for text in texts[1_800:]))
    return [folder / name for name in ("a.parquet", "b.jsonl", "c.txt")]


@pytest.fixture
def pieces(files):
    found = CorpusPieces.of(files, on_error="skip", piece_size=12_000)
    assert len(found) == 6
    return found


@pytest.fixture
def documents(files):
    return read_corpus(files, on_error="skip", keep_nested=True)


@pytest.fixture(scope="module")
def model(files):
    return kate.TextModel(8, **SETTINGS).fit(read_corpus(files, on_error="skip"))


def with_a_death(pieces, folder):
    """The same pieces; who reads the third for the first time is killed."""
    third = pieces[2]
    dying = dying_pieces.DyingPiece(third.source, folder / "has died")
    return CorpusPieces((*pieces.pieces[:2], dying, *pieces.pieces[3:]), pieces.rules)


def test_a_fit_counted_by_the_cluster_is_the_same_to_the_bit(cluster, pieces, model, tmp_path):
    with pytest.warns(UserWarning, match=r"left out 1 malformed rows, first .*b\.jsonl, line 51: not JSON"):
        ours = fit_on_cluster(cluster, kate.TextModel(8, **SETTINGS), with_a_death(pieces, tmp_path))
    assert (tmp_path / "has died").exists()
    assert list(ours.vocabulary_.to_lines()) == list(model.vocabulary_.to_lines())
    np.testing.assert_array_equal(ours.encoder_.W, model.encoder_.W)
    np.testing.assert_array_equal(ours.output_bias_, model.output_bias_)
    assert ours.settings_ == model.settings_
    assert [topic.name for topic in ours.topics(5)] == [topic.name for topic in model.topics(5)]


def test_the_language_is_found_from_more_than_the_first_file(cluster, tmp_path):
    for number, text in enumerate(
        ["gold coins", *["le chat est dans la maison et il ne veut pas sortir avec nous"] * 9]
    ):
        (tmp_path / f"{number}.jsonl").write_text(json.dumps({"text": text}))
    counted = count_on_cluster(
        cluster, CorpusPieces.of(sorted(tmp_path.glob("*.jsonl"))), WordParameters(language="auto")
    )
    assert counted.vocabulary.tokenizer.language == "french"


def test_one_document_in_three_where_all_are_too_many(cluster, pieces):
    counted = count_on_cluster(cluster, pieces, WordParameters(400))
    whole = counted.gathered()
    assert counted.every() == 1
    assert counted.every(-(-counted.n_entries // 3)) == 3
    assert (counted.gathered(3) != whole[::3]).nnz == 0


@pytest.mark.filterwarnings("ignore:left out 1 malformed")
def test_workers_that_are_averaged_give_the_bits_of_one_process_though_one_is_killed(
    cluster, pieces, model, documents, monkeypatch
):
    train_round, rounds = RayTeam.train_round, []

    def with_a_kill(self, steps):
        rounds.append(steps)
        if len(rounds) == 2:
            os.kill(cluster.get(self.workers[1].process.remote()), signal.SIGKILL)
        return train_round(self, steps)

    monkeypatch.setattr(RayTeam, "train_round", with_a_kill)
    ours = fit_on_cluster(cluster, kate.TextModel(8, **SETTINGS), pieces, n_workers=2)
    assert len(rounds) > 3
    counts = as_counts(model.vocabulary_.count(documents.texts))
    expected = kate.TextModel(8, **SETTINGS).fit_counted(model.vocabulary_, counts, share_out=in_process(2))
    np.testing.assert_array_equal(ours.encoder_.W, expected.encoder_.W)
    np.testing.assert_array_equal(ours.output_bias_, expected.output_bias_)
    assert [row["loss"] for row in ours.history_] == [row["loss"] for row in expected.history_]
    assert not np.array_equal(ours.encoder_.W, model.encoder_.W)  # it was another training


def test_encoding_writes_the_same_file_though_a_worker_is_killed(cluster, pieces, model, files, tmp_path):
    how = {"normalize": True, "truncate_dim": 4}
    dying = with_a_death(pieces, tmp_path)
    done = encode_on_cluster(cluster, model, dying, tmp_path / "ours.parquet", n_workers=2, **how)
    assert (tmp_path / "has died").exists()
    batches = kate.iter_corpus(files, on_error="skip")
    assert done == encode_corpus(model, batches, tmp_path / "expected.parquet", **how) == (2_400, 4)
    assert (dying.n_skipped, dying.skipped) == (batches.n_skipped, batches.skipped)
    assert pl.read_parquet(tmp_path / "ours.parquet").equals(pl.read_parquet(tmp_path / "expected.parquet"))


def test_labelling_writes_the_same_table(cluster, pieces, model, files, tmp_path):
    done = label_on_cluster(cluster, model, pieces, tmp_path / "ours.parquet", 6, n_workers=1)
    batches = kate.iter_corpus(files, on_error="skip", keep_nested=True)
    assert done == label_corpus(model, batches, tmp_path / "expected.parquet", 6)
    ours, expected = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("ours", "expected"))
    assert ours.drop("topic_share").equals(expected.drop("topic_share"))
    np.testing.assert_allclose(
        ours["topic_share"].drop_nulls(), expected["topic_share"].drop_nulls(), atol=1.1e-4
    )


def test_an_index_is_the_same(cluster, pieces, model, documents):
    found, index = index_on_cluster(cluster, model, pieces, n_workers=1)
    expected = kate.Index.build(model, documents)
    assert len(found) == len(expected)
    np.testing.assert_array_equal(index.store.vectors, expected.store.vectors)
    for name in ("starts", "rows", "weights", "place_starts", "places", "document_starts"):
        np.testing.assert_array_equal(
            getattr(index.store.postings, name), getattr(expected.store.postings, name), name
        )
    assert index.store.frame.drop("note", strict=False).equals(
        expected.store.frame.drop("note", strict=False)
    )
    assert index.store.words.equals(expected.store.words)
    query = expected.store.words["readable"][40]
    assert [hit.id for hit in index.search(query)] == [hit.id for hit in expected.search(query)]


def test_an_error_of_a_worker_is_raised_as_it_is(cluster, files, model):
    with pytest.raises(kate.MalformedRowError, match=r"b\.jsonl, line 51: not JSON"):
        fit_on_cluster(cluster, kate.TextModel(8), CorpusPieces.of([files[0], files[1]]))
    [wrong] = pieces = CorpusPieces.of(files[1])
    worker = ModelWorker([cluster.put(PackedModel.of(model))], pieces.rules, EncodePieces(False, 8))
    rows = {"number": [0], "piece": [cluster.ray.cloudpickle.dumps(wrong)]}
    done = [(0, pickle.loads(worker(rows)["done"][0]))]
    with pytest.raises(kate.MalformedRowError, match=r"b\.jsonl, line 51: not JSON"):
        list(results_in_order(done, pieces))


def test_what_a_cluster_cannot_do_is_refused_with_what_to_do(cluster, pieces, model, files, tmp_path):
    with pytest.raises(
        ClusterError, match="3 workers on a cluster of 2 processors; take at most --workers 2"
    ):
        fit_on_cluster(cluster, kate.TextModel(8), pieces, n_workers=3)
    with pytest.raises(
        kate.CorpusError, match=r"2 workers for a corpus of 1 piece; .*: take --workers 1, or write"
    ):
        encode_on_cluster(cluster, model, CorpusPieces.of(files[2]), tmp_path / "v.npy", n_workers=2)
    with pytest.raises(ValueError, match="phrases are found on one machine only"):
        fit_on_cluster(cluster, kate.TextModel(8, phrases=True), pieces)
    with pytest.raises(ValueError, match=r"validation_fraction=0\.1 holds documents out"):
        fit_on_cluster(cluster, kate.TextModel(8, validation_fraction=0.1), pieces, n_workers=2)
    with pytest.raises(ValueError, match="truncate_dim=9 is more than the 8 components"):
        encode_on_cluster(cluster, model, pieces, tmp_path / "v.npy", truncate_dim=9)


def test_the_command_line_works_on_a_cluster(cluster, files, documents, tmp_path, capsys):
    """The same process uses the same Ray."""

    def run(*arguments):
        with pytest.raises(SystemExit) as ended:
            main([*map(str, arguments)])
        captured = capsys.readouterr()
        assert ended.value.code == 0, captured.err
        return captured.out

    def main(arguments):
        from typer.main import get_command

        from kate.cli.app import app

        get_command(app).main(arguments)

    on_ray = ("--on", "ray", "--on-error", "skip")
    out = run("fit", *files, *on_ray, "--dimensions", 4, "--epochs", 1, "-o", tmp_path / "model")
    assert "2,400 documents" in out
    run(
        "label", tmp_path / "model", *files, *on_ray, "--workers", 1, "-n", 3, "-o", tmp_path / "labelled.csv"
    )
    labelled = pl.read_csv(tmp_path / "labelled.csv")
    expected = kate.load(tmp_path / "model").label(documents, 3)
    assert labelled["topic"].equals(expected["topic"])
