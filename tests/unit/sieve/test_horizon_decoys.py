"""Observables of an unrelated run have nothing to do with the outputs, and the sieve must not be sure of them."""

import numpy as np
import pytest

from koopsieve import Constant, HorizonSieve, SquaredExponential, States, Trajectories
from koopsieve.regression import HorizonStatistics, RegressionStatistics, TriangularFactor
from koopsieve.sieve.horizon.horizon_problem import horizon_problem
from koopsieve.systems import duffing, random_drive, van_der_pol

HORIZONS = (1, 2, 5, 10, 20, 50)


def run(simulate, seed, samples):
    """Return noisy states, inputs, and the states, a constant and 20 kernels along them."""
    rng = np.random.default_rng(seed)
    u = random_drive(samples, 20, 1.0, rng)
    x = simulate(u, 0.05)[:samples]
    x = x + 0.1 * x.std(axis=0) * rng.normal(size=x.shape)
    data = Trajectories.from_arrays(x)
    return x, u, (States() + Constant() + SquaredExponential(20, standardize=True)).fit(data, seed=0)(x)


def with_decoys(simulate, seed, samples=4000):
    """Return statistics of one run whose candidates are its own observables and those of another, and which are its."""
    x, u, own = run(simulate, seed, samples)
    other = np.delete(run(simulate, seed + 100, samples)[2], x.shape[1], axis=1)  # without its constant
    lifted, rows = np.hstack([own, other]), samples - HORIZONS[-1]
    design = np.hstack([lifted[:rows], *(u[j : j + rows] for j in range(HORIZONS[-1]))])
    targets = np.hstack([x[h : h + rows] for h in HORIZONS])
    factor = TriangularFactor.empty(design.shape[1], targets.shape[1]).absorb(design, targets)
    names = (*(f"own{i}" for i in range(own.shape[1])), *(f"decoy{i}" for i in range(other.shape[1])))
    ahead = HorizonStatistics(factor, names, ("u",), names[:2], HORIZONS)
    one_step = TriangularFactor.empty(len(names) + 1, len(names))
    return RegressionStatistics(one_step, names, ("u",), ahead, (0, 1))


def decoys_in(found):
    return [name for name in found.retained_names if name.startswith("decoy")]


@pytest.mark.parametrize("seed", [0, 2])
def test_decoys_are_let_in_by_overlapping_windows_and_not_by_those_side_by_side(seed):
    statistics, sieve = with_decoys(duffing, seed), HorizonSieve()
    found = sieve.identify(statistics)
    assert decoys_in(found) == []
    assert len(found.retained) > 6  # and the run's own are still found
    decoy = np.array([name.startswith("decoy") for name in found.observables])
    assert found.composite_inclusion[decoy].max() < 0.5
    overlapping = sieve._search(statistics)
    end, _ = overlapping.climb(overlapping.dense(), sieve.max_sweeps)
    wrong = end.kept[decoy[end.kept]]
    assert len(wrong) >= 2
    assert overlapping.inclusion(end)[wrong].min() > 0.5


def test_another_system_lets_none_in_either():
    found = HorizonSieve().identify(with_decoys(van_der_pol, 3))
    assert decoys_in(found) == []
    assert len(found.retained) > 6


def test_a_set_of_given_size_reports_the_probability_of_independent_windows():
    statistics = with_decoys(duffing, 1, samples=2000)
    (found,) = HorizonSieve().sizes(statistics, [12])
    search = HorizonSieve()._search(statistics).independent()
    expected = search.inclusion(search.of(found.retained))
    np.testing.assert_allclose(found.composite_inclusion, expected, atol=1e-9)


def test_independent_rows_are_the_rows_over_the_horizon():
    problem = horizon_problem(with_decoys(van_der_pol, 0, samples=1000), emphasis=1.0)
    counted = problem.independent()
    for t, h in enumerate(problem.horizon):
        np.testing.assert_allclose(counted.gram[counted.group[t]] * h, problem.gram[problem.group[t]])
        np.testing.assert_allclose(counted.projected[t] * h, problem.projected[t])
        assert counted.rows[t] * h == pytest.approx(problem.rows[t])
        assert counted.power[t] * h == pytest.approx(problem.power[t])
