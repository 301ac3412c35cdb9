"""Vectors of the compiled kernels, function by function, for the width that this process uses."""

import numpy as np
from numba import njit

from kate.engines.cpu.addresses import address
from kate.engines.cpu.buffers import ROW, all_words
from kate.engines.cpu.simd_math import BYTES, TILE, exp, log, reciprocal, reciprocal_root
from kate.engines.cpu.simd_memory import (
    add_eight_sums,
    add_four_sums,
    any_above,
    broadcast,
    count_at_least,
    load,
    store,
    total,
)
from kate.engines.cpu.target import LANES
from kate.engines.cpu.tiles import transpose_tile
from kate.engines.network import floats


@njit
def apply_all(x, exps, logs, reciprocals, roots):
    for i in range(0, 4 * x.size, BYTES):
        store(address(exps) + i, exp(load(address(x) + i)))
        store(address(logs) + i, log(load(address(exps) + i)))
        store(address(reciprocals) + i, reciprocal(load(address(exps) + i)))
        store(address(roots) + i, reciprocal_root(load(address(exps) + i)))


def test_functions_are_exact_enough():
    x = np.linspace(-86, 86, 2048, dtype=np.float32)
    exps, logs, reciprocals, roots = (np.empty_like(x) for _ in range(4))
    apply_all(x, exps, logs, reciprocals, roots)
    np.testing.assert_allclose(exps, np.exp(x.astype(np.float64)), rtol=5e-7)
    y = exps.astype(np.float64)
    np.testing.assert_allclose(logs, np.log(y), rtol=5e-7, atol=5e-7)
    np.testing.assert_allclose(reciprocals, 1 / y, rtol=5e-7)
    np.testing.assert_allclose(roots, 1 / np.sqrt(y), rtol=5e-7)


@njit
def sum_up(x, out):
    at = address(x)
    out[0] = total(load(at))
    add_four_sums(address(out) + 4, load(at), load(at + BYTES), load(at + 2 * BYTES), load(at + 3 * BYTES))
    add_eight_sums(
        address(out) + 20,
        load(at),
        load(at + BYTES),
        load(at + 2 * BYTES),
        load(at + 3 * BYTES),
        load(at + 4 * BYTES),
        load(at + 5 * BYTES),
        load(at + 6 * BYTES),
        load(at + 7 * BYTES),
    )


def test_sums_of_lanes():
    x = floats(8, LANES)
    x[...] = np.random.default_rng(0).integers(-50, 50, x.shape)
    out = np.full(13, 0.5, np.float32)
    sum_up(x, out)
    sums = x.sum(axis=1)
    np.testing.assert_array_equal(out, [sums[0], *(sums[:4] + 0.5), *(sums + 0.5)])


@njit
def compare(x, bound):
    return any_above(load(address(x)), broadcast(bound)), count_at_least(load(address(x)), broadcast(bound))


def test_comparisons_of_lanes():
    x = np.arange(LANES, dtype=np.float32)
    for bound in (-1, 0, 3, LANES - 1, LANES):
        found = compare(x, np.float32(bound))
        assert found == ((x > bound).any(), np.count_nonzero(x >= bound))


@njit
def transposed_tile(W, tile, words, out):
    transpose_tile(W, tile, words, address(out))


def test_a_whole_tile_of_words_is_transposed():
    """LLVM once removed the transposition inside its callers: addresses were integers then."""
    n_components = 3 * LANES
    W = floats(2 * TILE, n_components)
    W[...] = np.arange(1, W.size + 1).reshape(W.shape)
    words = all_words(2 * TILE, 4 * n_components, 1)
    assert ROW == 4 * TILE
    for tile in range(2):
        out = floats(n_components, TILE)
        transposed_tile(W, tile, words, out)
        np.testing.assert_array_equal(out, W[tile * TILE : (tile + 1) * TILE].T)
