"""Least squares from chunked statistics against numpy on the raw matrix; STLSQ against pysindy's on raw data."""

import numpy as np
import pytest

from koopsieve.identify import STLSQ, LeastSquares
from koopsieve.regression import RegressionStatistics, TriangularFactor
from tests.problems import lorenz, lorenz_lifted, sparse_problem, statistics_of


@pytest.mark.parametrize("coefficient", [1e-5, 1e-4, 1e-3])
def test_same_residual_as_lstsq_on_overlapping_kernels(coefficient):
    design, targets = lorenz_lifted(samples=6000, coefficient=coefficient)
    if coefficient == 1e-5:
        assert np.linalg.cond(design / np.linalg.norm(design, axis=0)) > 1e14
    factor = TriangularFactor.empty(23, 23)
    for first in range(0, 6000, 700):
        factor = factor.absorb(design[first : first + 700], targets[first : first + 700])
    found = LeastSquares().identify(RegressionStatistics(factor, tuple(f"o{i}" for i in range(23))))
    raw = np.linalg.lstsq(design, targets, rcond=None)[0]
    ours = np.sum((targets - design @ found.coef) ** 2, axis=0)
    theirs = np.sum((targets - design @ raw) ** 2, axis=0)
    assert np.all(ours <= 1.01 * theirs + 1e-24 * np.sum(targets**2, axis=0))


pysindy = pytest.importorskip("pysindy")


def polynomials(states):
    x, y, z = states.T
    return np.column_stack([np.ones(len(states)), x, y, z, x * x, x * y, x * z, y * y, y * z, z * z])


@pytest.mark.parametrize("ridge", [0.0, 0.05])
@pytest.mark.parametrize("threshold", [0.05, 0.1, 0.5])
def test_agrees_with_pysindy_on_lorenz(threshold, ridge):
    states = lorenz(4000, dt=2e-3)
    x, y, z = states.T
    design = polynomials(states)
    targets = np.column_stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])
    targets = targets + 0.1 * np.random.default_rng(0).normal(size=targets.shape)
    inputs = tuple(f"u{i}" for i in range(7))
    found = STLSQ(threshold=threshold, ridge=ridge).identify(statistics_of(design, targets, inputs=inputs))
    settings = {"normalize_columns": False, "copy_X": True, "unbias": True, "max_iter": 20}
    theirs = pysindy.STLSQ(threshold=threshold, alpha=ridge, **settings).fit(design, targets).coef_.T
    np.testing.assert_array_equal(found.inclusion > 0, theirs != 0)
    np.testing.assert_allclose(found.coef, theirs, rtol=1e-6, atol=1e-9)


def test_the_relative_threshold_measures_what_a_coefficient_moves():
    design, targets, weights = sparse_problem(seed=5, rows=1000, regressors=6, targets=6, active=2, snr_db=40)
    units = 10.0 ** np.arange(-3, 3)
    statistics = statistics_of(design * units, targets)
    np.testing.assert_array_equal(STLSQ(0.05, relative=True).identify(statistics).inclusion > 0, weights != 0)
    assert np.any((STLSQ(0.05).identify(statistics).inclusion > 0) != (weights != 0))


def test_everything_below_the_threshold_leaves_nothing():
    design, targets, _ = sparse_problem(seed=5)
    found = STLSQ(threshold=1e6).identify(statistics_of(design, targets, inputs=[f"u{i}" for i in range(16)]))
    np.testing.assert_array_equal(found.coef, 0.0)
    assert found.settled
