"""Batches of texts and the threads that work on them."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import polars as pl
import pytest

from kate.text import counting
from kate.text.counting import factorize, map_in_order
from kate.text.text_batches import text_batches


def threads_of(n_jobs: int | None, n_items: int = 20) -> set[int]:
    """The threads that work on some items."""
    return set(map_in_order(lambda _: threading.get_ident(), range(n_items), n_jobs))


@pytest.mark.parametrize("n_jobs", [1, 2, 5, -1, None])
def test_results_come_in_the_order_of_the_items(n_jobs: int | None) -> None:
    assert list(map_in_order(lambda n: n * n, range(100), n_jobs)) == [n * n for n in range(100)]


def test_the_threads_are_those_of_kate_and_no_more_than_polars_has(monkeypatch: pytest.MonkeyPatch) -> None:
    here = {threading.get_ident()}
    monkeypatch.setattr(counting, "thread_count", lambda n_jobs: 4 if n_jobs is None else n_jobs)
    monkeypatch.setattr(pl, "thread_pool_size", lambda: 4)
    assert threads_of(None).isdisjoint(here)
    assert threads_of(1) == here
    monkeypatch.setattr(pl, "thread_pool_size", lambda: 1)  # POLARS_MAX_THREADS=1
    assert threads_of(None) == here
    assert threads_of(2).isdisjoint(here)  # who asks for threads gets them


def test_a_single_item_needs_no_pool() -> None:
    assert threads_of(4, n_items=1) == {threading.get_ident()}


def test_no_more_than_a_few_items_are_read_ahead() -> None:
    taken = 0

    def items() -> Iterator[int]:
        nonlocal taken
        for number in range(1000):
            taken += 1
            yield number

    results = map_in_order(abs, items(), n_jobs=2)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    assert taken < 20
    results.close()
    assert taken < 20


def test_an_error_in_a_thread_is_raised() -> None:
    def fail_at_five(number: int) -> int:
        if number == 5:
            raise ValueError("five")
        return number

    results = map_in_order(fail_at_five, range(100), n_jobs=2)
    assert [next(results) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="five"):
        next(results)


@pytest.mark.parametrize("kind", [list, pl.Series])
def test_batches_hold_all_texts_and_a_long_text_is_a_batch_of_its_own(kind: type) -> None:
    texts = ["four", "more", "a text that is longer than a batch", "", "end"]
    batches = [batch.to_list() for batch in text_batches(kind(texts), size=8)]
    assert batches == [["four", "more"], ["a text that is longer than a batch"], ["", "end"]]


def test_codes_give_the_strings_again() -> None:
    strings = pl.Series(["b", "a", "b", "", "é", "a"])
    codes, distinct = factorize(strings)
    assert distinct[codes].to_list() == strings.to_list()
    assert sorted(distinct) == ["", "a", "b", "é"]
    assert sorted(set(codes.tolist())) == [0, 1, 2, 3]
