"""Least squares from chunked statistics against numpy on the raw matrix."""

import numpy as np
import pytest

from koopsieve.identify import LeastSquares
from koopsieve.regression import RegressionStatistics, TriangularFactor
from tests.problems import lorenz_lifted


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
