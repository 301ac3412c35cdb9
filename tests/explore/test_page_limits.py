"""What a page is kept to: its size, its number of documents, and corpora of which no page can be made."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest

import kate
from explore.page_reading import read_page
from kate.explore import explorer, page, page_limits
from kate.explore.page_limits import chosen_rows, file_bytes

rng = np.random.default_rng(0)
WORDS = [f"{one}{two}{three}" for one in "bdgklm" for two in "aeiou" for three in "nrst"]
# long enough that snippets are shorter, and with letters that hardly compress
TEXTS = [
    " ".join(rng.choice(WORDS[60 * (row % 2) :][:60], 40)) + " " + rng.bytes(300).hex() for row in range(60)
]


@pytest.fixture(scope="module")
def model():
    return kate.TextModel(n_components=4, max_epochs=2, min_df=2).fit(TEXTS)


@pytest.fixture(scope="module")
def sizes(model, tmp_path_factory):
    """Bytes of the page with whole texts, with snippets and without any."""
    folder = tmp_path_factory.mktemp("sizes")
    return {
        kept: page(model, TEXTS, folder / "a.html", texts=kept).n_bytes
        for kept in ("whole", "snippet", "none")
    }


def test_whole_texts_become_snippets_and_these_nothing(model, sizes, tmp_path):
    assert sizes["whole"] > sizes["snippet"] + 5_000 > sizes["none"] + 10_000
    path = tmp_path / "a.html"
    for kept, told in (
        ("whole", None),
        ("snippet", "holds the beginning of each text only"),
        ("none", "holds no texts"),
    ):
        most = sizes[kept] + 500  # the sentence about it takes some room
        written = page(model, TEXTS, path, max_size=most)
        manifest, parts = read_page(path)
        assert (written.texts, manifest["texts"]) == (kept, kept)
        assert written.n_bytes == path.stat().st_size <= most
        assert (told is None) == (not written.notes)
        assert told is None or told in written.notes[0]
        assert ("texts-0" in parts) == (kept != "none")


def test_a_snippet_is_the_beginning_of_its_text(model, tmp_path):
    page(model, TEXTS, tmp_path / "a.html", texts="snippet")
    _, parts = read_page(tmp_path / "a.html")
    offsets = np.frombuffer(parts["text_offsets"], np.uint32)
    held = [parts["texts-0"][one:other].decode() for one, other in pairwise(offsets)]
    assert len(held) == len(TEXTS)
    for snippet, text in zip(held, TEXTS, strict=True):
        assert snippet.endswith(" …")
        assert text.startswith(snippet.removesuffix(" …"))
        assert 200 < len(snippet) <= 282


def test_a_page_that_cannot_be_so_small_is_refused_and_nothing_is_written(model, tmp_path):
    with pytest.raises(ValueError, match=r"without its texts .* allow more \(--max-size 1MB\)"):
        page(model, TEXTS, tmp_path / "a.html", max_size="20kB")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("given", ["big", "20 parsecs", "", "-1MB", "0", True, 1.5])
def test_what_is_no_size_is_refused(given):
    with pytest.raises(ValueError, match=r"give (one|a size) such as 20MB"):
        file_bytes(given)


def test_a_sample_is_the_same_every_time_and_says_so(model, tmp_path):
    written = page(model, TEXTS, tmp_path / "a.html", sample=20)
    manifest, parts = read_page(tmp_path / "a.html")
    assert (written.n_documents, manifest["n_documents"]) == (20, 20)
    assert manifest["sample"] == {"total": 60}
    first = (tmp_path / "a.html").read_bytes()
    page(model, TEXTS, tmp_path / "a.html", sample=20)
    assert (tmp_path / "a.html").read_bytes() == first
    rows = chosen_rows(60, 20)
    offsets = np.frombuffer(parts["text_offsets"], np.uint32)
    assert parts["texts-0"][: offsets[1]].decode() == TEXTS[rows[0]]


def test_two_million_documents_are_sampled_and_told_of_before_any_work(model, tmp_path, monkeypatch):
    texts = pl.Series(["the kan and the mos"]).new_from_index(0, 2_000_000)
    done = []
    monkeypatch.setattr(page_limits, "MOST_DOCUMENTS", 50)
    monkeypatch.setattr(explorer.ExploredCorpus, "of", lambda *_: done.append("counting") or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        page(model, pl.DataFrame({"text": texts}), tmp_path / "a.html", say=done.append)
    said, counting = done
    assert counting == "counting"
    assert said.startswith("2,000,000 documents are more than a page can show: it gets 50 of them")
    assert "kate serve" in said
    assert not list(tmp_path.iterdir())


def test_documents_of_which_the_model_knows_no_word_make_no_page(model, tmp_path):
    with pytest.raises(
        ValueError, match=r"none of the 2 documents has a word that the model knows.*kate fit"
    ):
        page(model, ["Χαίρετε", "κόσμε"], tmp_path / "a.html")
    assert not list(tmp_path.iterdir())


def test_one_document_and_documents_all_alike_make_a_page(model, tmp_path):
    for texts in ([TEXTS[0]], [TEXTS[0], "Χαίρετε"], [TEXTS[0]] * 40):
        page(model, texts, tmp_path / "a.html")
        manifest, parts = read_page(tmp_path / "a.html")
        places = np.frombuffer(parts["positions"], np.uint16)
        assert manifest["n_documents"] == len(texts)
        assert len(places) == 2 * len(texts)
        assert len(parts["assignments"]) == len(texts) * len(manifest["cuts"])
    # alike, and yet no two of them on one point
    assert len(set(zip(places[:40].tolist(), places[40:].tolist(), strict=True))) == 40


def test_a_target_that_cannot_be_written_is_told_before_the_work(model, tmp_path, monkeypatch):
    monkeypatch.setattr(explorer.ExploredCorpus, "of", lambda *_: pytest.fail("the work had begun"))
    with pytest.raises(IsADirectoryError, match="is a folder; give the name of a file"):
        page(model, TEXTS, tmp_path)
    with pytest.raises(FileNotFoundError, match="does not exist; create it"):
        page(model, TEXTS, tmp_path / "none" / "a.html")
    with pytest.raises(OSError, match=r"cannot write /proc/a.html: the folder /proc takes nothing new"):
        page(model, TEXTS, "/proc/a.html")
    with pytest.raises(ValueError, match="no documents"):
        page(model, [], tmp_path / "a.html")


def test_dates_that_cannot_be_read_are_told_of(model, tmp_path):
    frame = pl.DataFrame({"text": TEXTS[:4], "date": ["2001-01-01", "2001-01-02", "soon", None]})
    with pytest.raises(ValueError, match=r"'soon' in the column 'date' \(row 2, id '2'\) is not a date"):
        page(model, frame, tmp_path / "a.html", date="date")
    with pytest.raises(ValueError, match="no column 'dat'; did you mean date"):
        page(model, frame, tmp_path / "a.html", date="dat")
    assert not list(tmp_path.iterdir())
    written = page(model, frame, tmp_path / "a.html")
    assert written.notes[0].startswith("The column 'date' is not used as dates: 'soon'")
    assert read_page(tmp_path / "a.html")[0]["date"] is None
