"""A pack hands the arrays of a named tuple to compiled code, by one address."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit

from kate.engines.cpu.packs import Pack


class Arrays(NamedTuple):
    numbers: Any
    table: Any
    places: Any
    cube: Any
    empty: Any


def arrays() -> Arrays:
    rng = np.random.default_rng(0)
    return Arrays(
        7, rng.normal(size=(3, 5)).astype(np.float32), np.arange(4, dtype=np.int32), rng.normal(size=(2, 3, 4)),
        np.zeros((0, 6), np.float32),
    )  # fmt: skip


@njit
def read(pack):
    return (
        pack.numbers + pack.places[3] + pack.cube[1, 2, 3] + pack.table[2, 4] + pack.empty.shape[1],
        pack.table[1].sum() + pack.cube[1].sum() + pack.table.strides[0] + pack.empty.size,
    )


@njit
def write(pack, value):
    for i in range(pack.table.shape[0]):
        pack.table[i, 1] = value
    return pack.table.shape


def test_compiled_code_reads_what_is_there():
    ours = arrays()
    expected = (
        7 + 3 + ours.cube[1, 2, 3] + ours.table[2, 4] + 6,
        ours.table[1].sum() + ours.cube[1].sum() + ours.table.strides[0],
    )
    np.testing.assert_allclose(read(Pack(ours)), expected, rtol=1e-6)


def test_compiled_code_writes_into_the_arrays():
    ours = arrays()
    before = ours.table.copy()
    assert write(Pack(ours), 9) == (3, 5)
    before[:, 1] = 9
    np.testing.assert_array_equal(ours.table, before)


def test_packs_of_the_same_kinds_share_their_code():
    read(Pack(arrays()))
    n = len(read.overloads)
    read(Pack(arrays()._replace(table=np.ones((30, 50), np.float32))))
    assert len(read.overloads) == n
    read(Pack(arrays()._replace(table=np.ones((30, 50)))))
    assert len(read.overloads) == n + 1


def test_an_array_with_gaps_is_refused():
    with pytest.raises(ValueError, match="contiguous"):
        Pack(arrays()._replace(table=np.ones((3, 10))[:, ::2]))
