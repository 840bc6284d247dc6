"""The published updates against the literal algorithm on raw data."""

import numpy as np
import pytest

from koopsieve.identify import SpikeSlab, SpikeSlabPrior, Status
from tests.problems import lorenz_lifted, sparse_problem, statistics_of
from tests.reference.algorithm1 import algorithm1

PRIOR = SpikeSlabPrior(a=1.01, b=0.1, c=1e-3, d=1e-4, e=0.5, f=20.0)
WIENER = SpikeSlabPrior(a=1.0, b=0.1, c=1e-3, d=1e-3, e=0.1, f=20.0)


def agree(design, targets, prior, relaxation, sweeps):
    statistics = statistics_of(design, targets)
    found = SpikeSlab.published(prior, relaxation=relaxation, max_sweeps=sweeps, tolerance=0.0).identify(statistics)
    for j in range(targets.shape[1]):
        w, gamma, *_ = algorithm1(design, targets[:, j], prior, relaxation, sweeps)[-1]
        np.testing.assert_allclose(found.coef[:, j], w, rtol=1e-10, atol=1e-10 * np.abs(w).max())
        np.testing.assert_allclose(found.inclusion[:, j], gamma, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("sweeps", [1, 2, 50])
@pytest.mark.parametrize("prior", [PRIOR, WIENER], ids=["lorenz", "wiener-hammerstein"])
def test_fifty_sweeps_on_a_sparse_regression(sweeps, prior):
    design, targets, _ = sparse_problem(seed=0, rows=150, regressors=6, targets=6, active=2)
    agree(design, targets, prior, 0.3, sweeps)


def test_fifty_sweeps_on_lorenz_with_overlapping_kernels():
    design, targets = lorenz_lifted(samples=1500, snr_db=20, coefficient=1e-2)
    agree(design, targets[:, :23], PRIOR, 0.02, 50)


def test_a_target_that_overflows_is_reported_and_stays_finite():
    design, targets = lorenz_lifted(samples=300, coefficient=1e-2)
    found = SpikeSlab.published(PRIOR).identify(statistics_of(1e200 * design, targets))
    assert np.all(np.isfinite(found.coef))
    assert set(found.status) == {Status.DIVERGED}
    assert "relaxation" in found.describe()


def test_full_relaxation_cycles_on_overlapping_kernels_where_the_default_settles():
    statistics = statistics_of(*lorenz_lifted(samples=500, snr_db=40, coefficient=1e-3))
    assert not SpikeSlab.published(PRIOR, relaxation=1.0, max_sweeps=2000).identify(statistics).settled
    assert SpikeSlab().identify(statistics).settled
