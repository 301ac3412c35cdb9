"""Averaging copies: the mean by documents, entry by entry, in a fixed order."""

import numpy as np

from kate.engines.averaging import as_flat, mean_of_copies, parts_of, take_flat
from kate.engines.network import Network, Optimizer


def copies(n, size=200_000):
    return [np.random.default_rng(i).normal(size=size).astype(np.float32) for i in range(n)]


def test_one_copy_stays_as_it_is():
    [copy] = copies(1)
    copy[:4] = [np.float32(1e-45), -0.0, 3e38, 1 / 3]
    assert mean_of_copies([copy], [1.0]).tobytes() == copy.tobytes()


def test_the_mean_is_that_of_double_precision():
    given, shares = copies(5), [0.1, 0.4, 0.2, 0.25, 0.05]
    expected = np.average(np.float64(given), axis=0, weights=shares).astype(np.float32)
    np.testing.assert_array_max_ulp(mean_of_copies(given, shares), expected, maxulp=1)


def test_parts_averaged_apart_have_the_bits_of_the_whole():
    given, shares = copies(3), [0.5, 0.25, 0.25]
    by_parts = [mean_of_copies(parts, shares) for parts in zip(*(parts_of(c, 7) for c in given), strict=True)]
    assert np.concatenate(by_parts).tobytes() == mean_of_copies(given, shares).tobytes()


def test_a_network_and_its_optimizer_come_back_from_a_flat_array():
    random = np.random.default_rng(0)
    network = Network(*(random.normal(size=shape).astype(np.float32) for shape in ((7, 3), 3, 7)))
    optimizer = Optimizer.adam(network)
    optimizer.first.W[...], optimizer.second.c[...] = 2.0, 3.0
    flat = as_flat(network, optimizer)
    other = Network(*(np.zeros_like(array) for array in network))
    its_optimizer = Optimizer.adam(other)
    take_flat(flat, other, its_optimizer)
    assert all(np.array_equal(a, b) for a, b in zip(network, other, strict=True))
    assert (its_optimizer.first.W == 2.0).all()
    assert (its_optimizer.second.c == 3.0).all()
    assert len(flat) == 3 * (21 + 3 + 7)
