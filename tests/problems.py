"""Shared by tests: Lorenz with overlapping kernels, random sparse regressions, comparison of statistics."""

import numpy as np

from koopsieve.regression import RegressionStatistics, TriangularFactor


def lorenz(samples, dt=1e-3, start=(-8.0, 7.0, 27.0)):
    def field(x):
        return np.array([10 * (x[1] - x[0]), x[0] * (28 - x[2]) - x[1], x[0] * x[1] - 8 / 3 * x[2]])

    states = np.empty((samples + 1, 3))
    states[0] = start
    for k in range(samples):
        x = states[k]
        k1 = field(x)
        k2 = field(x + dt / 2 * k1)
        k3 = field(x + dt / 2 * k2)
        k4 = field(x + dt * k3)
        states[k + 1] = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return states


def lift(states, centers, coefficient):
    squared = ((states[:, None, :] - centers) ** 2).sum(axis=2)
    return np.hstack([states, np.exp(-coefficient * squared)])


def lorenz_lifted(samples=6000, kernels=20, coefficient=1e-3, snr_db=None, seed=0, dt=1e-3):
    """Return the design and the targets of the lifted Lorenz system (states, then kernels at samples of the data)."""
    rng = np.random.default_rng(seed)
    states = lorenz(samples, dt)
    if snr_db is not None:
        states = states + rng.normal(size=states.shape) * states.std(axis=0) * 10 ** (-snr_db / 20)
    centers = states[rng.choice(len(states), kernels, replace=False)]
    lifted = lift(states, centers, coefficient)
    return lifted[:-1], lifted[1:]


def statistics_of(design, targets, observables=None, inputs=()):
    """Return the statistics of a regression given as arrays; names default to o1, o2, …."""
    factor = TriangularFactor.empty(design.shape[1], targets.shape[1]).absorb(design, targets)
    if observables is None:
        observables = tuple(f"o{i + 1}" for i in range(design.shape[1] - len(inputs)))
    return RegressionStatistics(factor, tuple(observables), tuple(inputs))


def sparse_problem(seed, rows=200, regressors=20, targets=4, active=3, correlation=0.5, snr_db=20.0):
    """Return design, targets and true weights of a random sparse regression with correlated columns."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(rows, 1))
    design = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.normal(size=(rows, regressors))
    weights = np.zeros((regressors, targets))
    for j in range(targets):
        support = rng.choice(regressors, active, replace=False)
        weights[support, j] = rng.choice([-1.0, 1.0], active) * rng.uniform(0.5, 2.0, active)
    clean = design @ weights
    noise = rng.normal(size=clean.shape) * clean.std(axis=0) * 10 ** (-snr_db / 20)
    return design, clean + noise, weights


def assert_same_factor(mine, theirs, tolerance=1e-12):
    """Compare two triangular factors up to rounding."""
    scale = max(np.abs(theirs.R).max(initial=0), np.abs(theirs.S).max(initial=0), 1)
    np.testing.assert_allclose(mine.R, theirs.R, atol=tolerance * np.abs(theirs.R).max(initial=0))
    np.testing.assert_allclose(mine.S, theirs.S, atol=tolerance * scale)
    largest = np.abs(theirs.leftover_products).max(initial=0)
    np.testing.assert_allclose(
        mine.leftover_products, theirs.leftover_products, rtol=1e-10, atol=tolerance * (1 + largest)
    )
    assert mine.rows == theirs.rows


def assert_same_statistics(mine, theirs, tolerance=1e-12):
    """Compare two statistics up to rounding: names, one step, and several steps if there are any."""
    assert (mine.regressors, mine.outputs) == (theirs.regressors, theirs.outputs)
    assert_same_factor(mine.factor, theirs.factor, tolerance)
    assert (mine.multistep is None) == (theirs.multistep is None)
    if theirs.multistep is not None:
        assert mine.multistep.horizons == theirs.multistep.horizons
        assert_same_factor(mine.multistep.factor, theirs.multistep.factor, tolerance)
