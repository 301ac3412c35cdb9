"""A team of threads: work dealt once, barriers that all reach, and no thread that waits for ever."""

import threading
import time

import numpy as np
import pytest
from numba import njit
from scipy.sparse import csr_matrix

from kate.engines.cpu.barrier import STOP, new_state, next_item, run_together, wait_for_all
from kate.engines.cpu.cpu_engine import CPUEngine
from kate.engines.network import Network, Recipe


@njit(nogil=True)
def count_together(n_threads, state, n_rounds, n_items, counts):
    """Deal the items of every round; a round ends when all are dealt."""
    for _ in range(n_rounds):
        item = next_item(state)
        while item < n_items:
            counts[item] += 1
            item = next_item(state)
        if not wait_for_all(state, n_threads):
            return False
    return True


@pytest.fixture
def in_time():
    """Call a function in a thread of its own, so that one that hangs fails the test and does not stop it."""

    def call(function, seconds=180):
        outcome = []

        def run():
            try:
                outcome.append((function(), None))
            except BaseException as error:
                outcome.append((None, error))

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(seconds)
        assert outcome, f"still running after {seconds} seconds"
        result, error = outcome[0]
        if error is not None:
            raise error
        return result

    return call


@pytest.fixture(autouse=True)
def compiled():
    """Compile first: the tests are about seconds."""
    assert count_together(1, new_state(), 1, 2, np.zeros(2, np.int64))


@pytest.fixture
def starts(monkeypatch):
    """Let only so many threads start that run_together asks for; returns those that did."""
    start, started = threading.Thread.start, []

    def allow(most):
        def start_or_fail(thread):
            is_ours = thread.name.startswith("kate-engine")
            if is_ours and len(started) >= most:
                raise RuntimeError("can't start new thread")
            if is_ours:
                started.append(thread)
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", start_or_fail)
        return started

    return allow


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_every_item_is_dealt_once(n_threads, in_time):
    counts, state = np.zeros(100, np.int64), new_state()
    in_time(
        lambda: run_together(lambda thread, n: count_together(n, state, 50, 100, counts), n_threads, state)
    )
    assert counts.tolist() == [50] * 100


@pytest.mark.parametrize("n_allowed", [0, 1, 3])
def test_threads_that_cannot_start_are_done_without(n_allowed, starts, in_time):
    started, counts, state = starts(n_allowed), np.zeros(100, np.int64), new_state()
    sizes = []

    def work(thread, n_threads):
        sizes.append(n_threads)
        count_together(n_threads, state, 20, 100, counts)

    with pytest.warns(
        UserWarning, match=rf"{max(1, n_allowed)} of 5 threads.*can't start new thread.*n_jobs="
    ):
        in_time(lambda: run_together(work, 5, state))
    assert len(started) == n_allowed
    assert sizes == [max(1, n_allowed)] * max(1, n_allowed)
    assert counts.tolist() == [20] * 100
    assert not any(thread.is_alive() for thread in started)


def test_a_fit_goes_on_with_the_threads_that_started(starts, in_time, many_threads):
    rng = np.random.default_rng(0)
    X = csr_matrix((rng.random((30, 500)) < 0.1).astype(np.float32))
    W = rng.normal(scale=0.1, size=(500, 16)).astype(np.float32)

    def loss(n_jobs):
        network = Network(W, np.zeros(16, np.float32), np.zeros(500, np.float32))
        return CPUEngine(network, Recipe("softmax", "tanh", 4, 0.5), n_jobs=n_jobs).gradient(
            X, np.arange(30)
        )[0]

    expected = loss(1)
    starts(1)
    with pytest.warns(UserWarning, match="can't start new thread"):
        assert in_time(lambda: loss(4)) == expected


@pytest.mark.parametrize("failing", [0, 1, 3])
def test_an_error_in_one_thread_ends_the_others(failing, in_time):
    state, counts = new_state(), np.zeros(10, np.int64)
    ended = []

    def work(thread, n_threads):
        if thread == failing:
            time.sleep(0.1)  # the others wait at the barrier by now
            raise ZeroDivisionError("of thread")
        ended.append(count_together(n_threads, state, 1000, 10, counts))

    with pytest.raises(ZeroDivisionError, match="of thread"):
        in_time(lambda: run_together(work, 4, state))
    assert ended == [False] * 3


def test_an_interrupt_asks_the_threads_to_stop_and_waits_for_them(monkeypatch, in_time):
    state, seen = new_state(), []

    def work(thread, n_threads):
        while not state[STOP]:
            time.sleep(0.01)
        seen.append(thread)

    join = threading.Thread.join

    def interrupted(thread, timeout=None):
        if timeout == 0.2:
            raise KeyboardInterrupt
        join(thread, timeout)

    monkeypatch.setattr(threading.Thread, "join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        in_time(lambda: run_together(work, 3, state))
    assert sorted(seen) == [0, 1, 2]
