"""The published updates against the literal algorithm on raw data, in both readings."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve.identify import SpikeSlab, SpikeSlabPrior, Status
from koopsieve.identify.spike_slab.algorithm_1 import UpdateOrder
from tests.problems import lorenz_lifted, sparse_problem, statistics_of
from tests.reference.algorithm1 import algorithm1

PRIOR = SpikeSlabPrior(a=1.01, b=0.1, c=1e-3, d=1e-4, e=0.5, f=20.0)
WIENER = SpikeSlabPrior(a=1.0, b=0.1, c=1e-3, d=1e-3, e=0.1, f=20.0)
both_orders = pytest.mark.parametrize("order", list(UpdateOrder), ids=lambda order: order.name)


def agree(design, targets, prior, relaxation, sweeps, order):
    statistics = statistics_of(design, targets)
    method = SpikeSlab.published(prior, relaxation=relaxation, max_sweeps=sweeps, tolerance=0.0, order=order)
    found, previous = method.identify(statistics), order is UpdateOrder.PREVIOUS_SWEEP
    for j in range(targets.shape[1]):
        w, gamma, mu, precision, _ = algorithm1(design, targets[:, j], prior, relaxation, sweeps, previous=previous)[-1]
        np.testing.assert_allclose(found.coef[:, j], w, rtol=1e-10, atol=1e-10 * np.abs(w).max())
        np.testing.assert_allclose(found.inclusion[:, j], gamma, rtol=1e-10, atol=1e-10)
        variance = gamma * (mu**2 + 1 / precision) - w**2
        np.testing.assert_allclose(found.coef_variance[:, j], variance, rtol=1e-6, atol=1e-10)


@both_orders
@pytest.mark.parametrize("sweeps", [1, 2, 3, 50])
@pytest.mark.parametrize("prior", [PRIOR, WIENER], ids=["lorenz", "wiener-hammerstein"])
def test_fifty_sweeps_on_a_sparse_regression(sweeps, prior, order):
    design, targets, _ = sparse_problem(seed=0, rows=150, regressors=6, targets=6, active=2)
    agree(design, targets, prior, 0.3, sweeps, order)


@both_orders
def test_every_regressor_may_have_its_own_hyperparameters(order):
    design, targets, _ = sparse_problem(seed=0, rows=150, regressors=6, targets=6, active=2)
    rng, names = np.random.default_rng(0), [f"o{i + 1}" for i in range(6)]
    own = {name: dict(zip(names, 10.0 ** rng.uniform(-3, 1, 6), strict=True)) for name in "cdef"}
    agree(design, targets, replace(PRIOR, **own), 0.3, 20, order)


@both_orders
def test_fifty_sweeps_on_lorenz_with_overlapping_kernels(order):
    design, targets = lorenz_lifted(samples=1500, snr_db=20, coefficient=1e-2)
    agree(design, targets[:, :23], PRIOR, 0.02, 50, order)


def test_the_two_readings_are_different_algorithms():
    statistics = statistics_of(*sparse_problem(seed=0, rows=150, regressors=6, targets=6, active=2)[:2])
    one, other = (SpikeSlab.published(PRIOR, max_sweeps=10, order=order).identify(statistics) for order in UpdateOrder)
    assert np.max(np.abs(one.inclusion - other.inclusion)) > 0.1


@both_orders
def test_a_target_that_overflows_is_reported_and_stays_finite(order):
    design, targets = lorenz_lifted(samples=300, coefficient=1e-2)
    found = SpikeSlab.published(PRIOR, order=order).identify(statistics_of(1e200 * design, targets))
    assert np.all(np.isfinite(found.coef))
    assert set(found.status) == {Status.DIVERGED}
    assert "relaxation" in found.describe()


def test_a_target_has_not_settled_while_its_variances_move():
    """The means stand still after a few hundred sweeps; the variance of a regressor that is out still drifts."""
    design, targets, _ = sparse_problem(seed=0, rows=150, regressors=6, targets=6, active=2)
    statistics = statistics_of(design, targets)
    method = SpikeSlab.published(PRIOR, relaxation=0.3, max_sweeps=400)
    found, later = (replace(method, max_sweeps=count).identify(statistics) for count in (400, 401))
    moved = np.abs(later.coef - found.coef).max(axis=0) / np.abs(found.coef).max(axis=0)
    assert np.all(moved < 1e-6)
    assert set(found.status) == {Status.MAX_SWEEPS}
    assert set(replace(method, max_sweeps=100_000).identify(statistics).status) == {Status.SETTLED}


@both_orders
def test_full_relaxation_cycles_on_overlapping_kernels_where_the_default_settles(order):
    statistics = statistics_of(*lorenz_lifted(samples=500, snr_db=40, coefficient=1e-3))
    assert not SpikeSlab.published(PRIOR, relaxation=1.0, max_sweeps=2000, order=order).identify(statistics).settled
    assert SpikeSlab().identify(statistics).settled
