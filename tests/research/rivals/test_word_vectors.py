"""Word2Vec, pre-trained vectors and Doc2Vec: order, means, files of every format, a start that does not change."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

pytest.importorskip("gensim", exc_type=ImportError)

from kate.research.rivals import doc2vec_inference as paragraphs
from kate.research.rivals.doc2vec import Doc2Vec
from kate.research.rivals.pretrained import PretrainedWord2Vec
from kate.research.rivals.vector_files import read_vectors
from kate.research.rivals.word2vec import Word2Vec
from kate.text.sequences import Sequences
from kate.text.vocabulary import Vocabulary

DOCUMENTS = Sequences.of([[0, 1, 2] * 5, [3, 4, 5] * 5, [0, 1, 1] * 5, [5, 4, 3] * 5, []], n_words=7)
WORDS = {
    "Company": [1.0, 0.0],
    "companies": [0.0, 1.0],
    "office": [4.0, 4.0],
    "the": [9.0, 9.0],
    "naïve": [2.0, 3.0],
}


def test_a_document_is_the_mean_of_its_words_and_rare_words_can_count_for_more() -> None:
    model = Word2Vec(3, random_state=0).fit(DOCUMENTS)
    np.testing.assert_allclose(
        model.transform(DOCUMENTS)[0], model.word_vectors_[[0, 1, 2]].mean(axis=0), atol=1e-6
    )
    assert not model.word_vectors_[6].any()  # a word that never occurs
    np.testing.assert_array_equal(model.transform(DOCUMENTS.counts()), model.transform(DOCUMENTS))
    weighted = model.set_params(weighting="idf").transform(Sequences.of([[0, 2]], n_words=7))[0]
    idf = model.idf_[[0, 2]]
    assert idf[1] > idf[0]
    np.testing.assert_allclose(weighted, idf @ model.word_vectors_[[0, 2]] / idf.sum(), atol=1e-6)


def test_other_words_and_unknown_choices_are_refused() -> None:
    model = Word2Vec(3, random_state=0).fit(DOCUMENTS)
    with pytest.raises(ValueError, match="over 8 words and Word2Vec was fitted on 7"):
        model.transform(Sequences.of([[0]], n_words=8))
    with pytest.raises(ValueError, match="algorithm='glove' is not known"):
        Word2Vec(3, algorithm="glove").fit(DOCUMENTS)
    with pytest.raises(ValueError, match="choose one of dm, dm-concat, dbow"):
        Doc2Vec(3, method="pv").fit(DOCUMENTS)


@pytest.mark.parametrize("method", ["dm", "dm-concat", "dbow"])
def test_doc2vec_infers_the_same_vector_in_another_process(method: str, tmp_path: Path) -> None:
    model = Doc2Vec(3, method=method, epochs=3, inference_epochs=3, random_state=1).fit(DOCUMENTS)
    model.save(tmp_path / "model")
    program = (
        "import sys; import numpy as np; from kate.research.rivals.doc2vec import Doc2Vec; "
        "from kate.text.sequences import Sequences; "
        "v = Doc2Vec.load(sys.argv[1]).transform(Sequences.of([[0, 1, 6, 2]], n_words=7)); print(v.tobytes().hex())"
    )
    environment = os.environ | {"PYTHONHASHSEED": "77", "PYTHONPATH": os.pathsep.join(sys.path)}
    told = subprocess.run(
        [sys.executable, "-c", program, tmp_path / "model"],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    ).stdout.strip()
    vectors = model.transform(Sequences.of([[3], [0, 1, 6, 2]], n_words=7))
    assert told == vectors[1:].tobytes().hex()
    assert hasattr(model, "word_vectors_") == (method != "dbow")


@pytest.mark.parametrize("method", ["dm", "dm-concat", "dbow"])
@pytest.mark.parametrize("worth", [0, 10**9])
def test_doc2vec_infers_what_gensim_does(method: str, worth: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from gensim.models import doc2vec as gensim

    monkeypatch.setattr(paragraphs, "_WORTH", worth)  # with the products of all words, or without
    monkeypatch.setattr(paragraphs, "_DRAWS_AT_ONCE", 500)  # some blocks of documents
    random = np.random.default_rng(0)
    documents = Sequences.of([random.integers(0, 20, size=n).tolist() for n in [40, 0, 1, 9, 30]], n_words=21)
    model = Doc2Vec(8, method=method, window=3, epochs=9, inference_epochs=4, subsample=0.05, random_state=1)
    model.set_params(learning_rate=0.2).fit(documents)
    own, seed = model._trained_network(), model.settings_["random_state"]
    train = {
        "dm": gensim.train_document_dm,
        "dm-concat": gensim.train_document_dm_concat,
        "dbow": gensim.train_document_dbow,
    }[method]
    vectors = model.transform(documents)
    assert not vectors[1].any()  # a document without a word
    for document, found in zip(documents, vectors, strict=True):
        if not len(document):
            continue
        fingerprint = zlib.crc32(document.tobytes())
        start = (np.random.default_rng([seed, fingerprint]).random(8) - 0.5) / 8
        vector = start.astype(np.float32).reshape(1, -1)
        own.random.seed((seed + fingerprint) % 2**32)
        fixed = {"learn_words": False, "learn_hidden": False, "doctags_lockf": np.ones(1, dtype=np.float32)}
        for rate in np.linspace(0.2, 1e-4, 4):
            train(own, [str(word) for word in document], [0], rate, doctag_vectors=vector, **fixed)
        np.testing.assert_allclose(found, vector[0], atol=1e-4)
        assert len(document) == 1 or np.abs(found - start).max() > 0.01  # it has learned


def write_all_formats(folder: Path) -> list[Path]:
    from gensim.models import KeyedVectors

    stored = KeyedVectors(2)
    stored.add_vectors(list(WORDS), np.array(list(WORDS.values()), dtype=np.float32))
    stored.save(str(folder / "vectors.kv"))
    stored.save_word2vec_format(str(folder / "vectors.bin"), binary=True)
    stored.save_word2vec_format(str(folder / "vectors.txt"), binary=False)
    glove = "".join(f"{word} {a} {b}\n" for word, (a, b) in WORDS.items())
    (folder / "glove.txt").write_text(glove, encoding="utf-8")
    with gzip.open(folder / "vectors.bin.gz", "wb") as file:
        file.write((folder / "vectors.bin").read_bytes())
    return sorted(folder.glob("*.*"))


def test_every_format_of_vectors_is_read_alike(tmp_path: Path) -> None:
    for path in write_all_formats(tmp_path):
        [(words, vectors)] = read_vectors(path)
        assert words == list(WORDS), path.name
        np.testing.assert_array_equal(vectors, list(WORDS.values()))


def test_words_with_the_same_stem_are_averaged_and_unknown_ones_left_out(tmp_path: Path) -> None:
    write_all_formats(tmp_path)
    vocabulary, X = Vocabulary.learn(["company offices zebra", "zebra", "company company office"])
    model = PretrainedWord2Vec(vectors=str(tmp_path / "vectors.bin")).fit(X, vocabulary=vocabulary)
    known = dict(zip(vocabulary.words, model.word_vectors_.tolist(), strict=True))
    assert known == {"compani": [0.5, 0.5], "offic": [4.0, 4.0], "zebra": [0.0, 0.0]}
    third = (2 * 0.5 + 4.0) / 3
    np.testing.assert_allclose(model.transform(X), [[2.25, 2.25], [0, 0], [third, third]], rtol=1e-6)
    model.save(tmp_path / "model")
    again = PretrainedWord2Vec.load(tmp_path / "model")
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_what_is_wrong_with_a_file_of_vectors_is_told(tmp_path: Path) -> None:
    write_all_formats(tmp_path)
    vocabulary, X = Vocabulary.learn(["zebra crossing"])
    with pytest.raises(FileNotFoundError, match="no such file of word vectors"):
        PretrainedWord2Vec(vectors=str(tmp_path / "none.bin")).fit(X, vocabulary=vocabulary)
    with pytest.raises(ValueError, match="has no vector for any of the 2 words"):
        PretrainedWord2Vec(vectors=str(tmp_path / "glove.txt")).fit(X, vocabulary=vocabulary)
    with pytest.raises(ValueError, match="pass vocabulary="):
        PretrainedWord2Vec(vectors=str(tmp_path / "glove.txt")).fit(csr_matrix([[1, 2]]))
    whole = (tmp_path / "vectors.bin").read_bytes()
    (tmp_path / "cut.bin").write_bytes(whole[:-6])
    with pytest.raises(ValueError, match="ends after 4 of its 5 words: it is truncated"):
        list(read_vectors(tmp_path / "cut.bin"))
    (tmp_path / "glove.txt").write_text("company 1 2\noffice 1 x\n")
    with pytest.raises(ValueError, match="line 2 of vectors: expected a word and 2 numbers"):
        list(read_vectors(tmp_path / "glove.txt"))
