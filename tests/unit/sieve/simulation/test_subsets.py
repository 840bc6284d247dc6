"""Proposals of sets from a triangular factor, against refitting from the rows."""

import numpy as np
import pytest

from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation.simulation_problem import least_squares
from koopsieve.sieve.simulation.subsets import eliminate, exchange, extend, forward_order, supported
from tests.reference.literal_subsets import backward, forward, squared_error


def factor_of(design, target):
    return TriangularFactor.empty(design.shape[1], 1).absorb(design, target[:, None])


def regression(seed, rows=80, columns=9, active=4, correlation=0.7, noise=0.3):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(rows, 1))
    design = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.normal(size=(rows, columns))
    design *= 10.0 ** rng.integers(-3, 4, size=columns)  # units must not matter
    weights = np.zeros(columns)
    weights[:active] = rng.choice([-1.0, 1.0], active) / np.linalg.norm(design[:, :active], axis=0)
    target = design @ weights + noise * rng.normal(size=rows) / np.sqrt(rows)
    return design, target, factor_of(design, target)


def flags(kept, columns=9):
    return np.isin(np.arange(columns), list(kept))


@pytest.mark.parametrize("seed", range(6))
def test_they_are_those_of_refitting_every_candidate(seed):
    design, target, factor = regression(seed)
    for size in (6, 3, 1):
        found = eliminate(factor, np.ones(9, dtype=bool), size)
        assert set(np.flatnonzero(found)) == backward(design, target, range(9), size)
    assert set(np.flatnonzero(extend(factor, flags({5}), 4))) == forward(design, target, {5}, 4)
    order = forward_order(factor, 0, 5)
    for size in range(1, 6):
        assert set(order[:size]) == forward(design, target, set(), size)
    chosen = np.array([0, 3, 8])
    expected = np.linalg.lstsq(design[:, chosen], target, rcond=None)[0]
    np.testing.assert_allclose(least_squares(factor, chosen), expected, rtol=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_exchanges_end_where_no_single_one_helps(seed):
    design, target, factor = regression(seed, noise=1.0)
    found = exchange(factor, flags({6, 7, 8}), tries=9, most=50)
    assert found.sum() == 3
    kept = set(np.flatnonzero(found))
    error = squared_error(design, target, kept)
    for newcomer in set(range(9)) - kept:
        for leaving in kept:
            assert squared_error(design, target, kept - {leaving} | {newcomer}) >= error * (1 - 2e-6)


def test_nearly_equal_columns_are_told_apart_by_what_they_add():
    """Gram matrices lose this: the difference of two columns, 1e-7 of their size, carries the whole signal."""
    rng = np.random.default_rng(0)
    base, signal, other = rng.normal(size=(3, 400))
    factor = factor_of(np.column_stack([base, base + 1e-7 * signal, other]), signal + 0.01 * rng.normal(size=400))
    np.testing.assert_array_equal(eliminate(factor, np.ones(3, dtype=bool), 2), [True, True, False])


def test_of_equal_columns_one_goes_first_and_the_other_is_never_added():
    base, other = np.random.default_rng(0).normal(size=(2, 50))
    factor = factor_of(np.column_stack([base, base, other]), base + 0.1 * other)
    assert eliminate(factor, np.ones(3, dtype=bool), 2)[2]
    np.testing.assert_array_equal(extend(factor, flags({0}, 3), 3), [True, False, True])
    assert len(forward_order(factor, 0, 3)) == 2


def test_spike_and_slab_supports_what_made_the_target_and_less_at_stricter_odds():
    _, _, factor = regression(0, rows=400, correlation=0.3, noise=0.5)
    np.testing.assert_array_equal(supported(factor, 0.0), flags(range(4)))
    sizes = [supported(factor, odds).sum() for odds in (0.0, 50.0, 1e4)]
    assert sizes[0] >= sizes[1] >= sizes[2]
    assert sizes[2] < 4
