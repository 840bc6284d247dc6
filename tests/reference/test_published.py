"""The published updates against the literal algorithm on raw data, in all four readings."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve import KoopsieveError, KoopsieveWarning
from koopsieve.identify import SpikeSlab, SpikeSlabPrior, Status, UpdateOrder
from tests.problems import lorenz_lifted, sparse_problem, statistics_of
from tests.reference.algorithm1 import algorithm1

PRIOR = SpikeSlabPrior(a=1.01, b=0.1, c=1e-3, d=1e-4, e=0.5, f=20.0)
WIENER = SpikeSlabPrior(a=1.0, b=0.1, c=1e-3, d=1e-3, e=0.1, f=20.0)
pytestmark = pytest.mark.filterwarnings("ignore:Algorithm 1 settled:koopsieve.KoopsieveWarning")
every_order = pytest.mark.parametrize("order", list(UpdateOrder), ids=lambda order: order.name)


def agree(design, targets, prior, relaxation, sweeps, order, precision=0.1, inclusion=0.5):
    start = {"initial_precision": precision, "initial_inclusion": inclusion}
    settings = {"relaxation": relaxation, "max_sweeps": sweeps, "tolerance": 0.0, "order": order, **start}
    found = SpikeSlab.published(prior, **settings).identify(statistics_of(design, targets))
    for j in range(targets.shape[1]):
        q = algorithm1(design, targets[:, j], prior, relaxation, sweeps, order.name, precision, inclusion)
        gamma, mu = np.array(q.gamma), np.array(q.mu)
        w = gamma * mu
        np.testing.assert_allclose(found.coef[:, j], w, rtol=1e-10, atol=1e-10 * np.abs(w).max())
        np.testing.assert_allclose(found.inclusion[:, j], gamma, rtol=1e-10, atol=1e-10)
        variance = gamma * (mu**2 + 1 / np.array(q.precision)) - w**2
        np.testing.assert_allclose(found.coef_variance[:, j], variance, rtol=1e-6, atol=1e-10)
        np.testing.assert_allclose(found.noise_precision[j], q.rho, rtol=1e-8)
        agree_in_distribution(found.posterior, j, q, atol=1e-9 * np.abs(mu).max())


def agree_in_distribution(posterior, j, q, atol):
    """Means and variances of the five factors are those of the literal algorithm's parameters."""
    c_bar = np.array(q.alpha) * np.array(q.d)  # α̂ = c̄/d̄
    e, f = np.array(q.e), np.array(q.f)
    expected = {
        "beta": (q.mu, 1 / np.array(q.precision)),
        "gamma": (q.gamma, np.array(q.gamma) * (1 - np.array(q.gamma))),
        "alpha": (q.alpha, c_bar / np.array(q.d) ** 2),
        "pi": (e / (e + f), e * f / ((e + f) ** 2 * (e + f + 1))),
        "rho": (q.a / q.b, q.a / q.b**2),
    }
    for name, (mean, variance) in expected.items():
        factor = getattr(posterior, name)
        np.testing.assert_allclose(factor.mean()[..., j], mean, rtol=1e-7, atol=atol, err_msg=name)
        np.testing.assert_allclose(factor.var()[..., j], variance, rtol=1e-7, atol=1e-12, err_msg=name)


SPARSE = sparse_problem(seed=0, rows=150, regressors=6, targets=6, active=2)[:2]
DRAWN = 10.0 ** np.random.default_rng(0).uniform(-3, 1, (4, 6))
OWN = {name: {f"o{i + 1}": float(v) for i, v in enumerate(row)} for name, row in zip("cdef", DRAWN, strict=True)}


@every_order
@pytest.mark.parametrize(
    "prior, sweeps, start",
    [
        *((prior, sweeps, {}) for prior in (PRIOR, WIENER) for sweeps in (1, 2, 3, 50)),
        (replace(PRIOR, **OWN), 20, {}),  # every regressor with hyperparameters of its own
        (PRIOR, 5, {"precision": 2.0, "inclusion": 0.9}),  # it starts where it is told
    ],
)
def test_sweeps_on_a_sparse_regression(prior, sweeps, start, order):
    agree(*SPARSE, prior, 0.3, sweeps, order, **start)


@every_order
def test_fifty_sweeps_on_lorenz_with_overlapping_kernels(order):
    design, targets = lorenz_lifted(samples=1500, snr_db=20, coefficient=1e-2)
    agree(design, targets[:, :23], PRIOR, 0.02, 50, order)


@pytest.mark.parametrize("stated", [{"initial_precision": 0.0}, {"initial_inclusion": 1.0}, {"order": "Jacobi"}])
def test_what_it_cannot_start_from_is_refused(stated):
    with pytest.raises(KoopsieveError):
        SpikeSlab.published(**stated)


def test_the_four_readings_are_different_algorithms():
    statistics = statistics_of(*lorenz_lifted(samples=600, kernels=7, snr_db=20, coefficient=1e-4))
    found = [SpikeSlab.published(PRIOR, max_sweeps=20, order=order).identify(statistics) for order in UpdateOrder]
    for i, one in enumerate(found):
        for other in found[:i]:
            assert np.max(np.abs(one.inclusion - other.inclusion)) > 0.01


def test_it_warns_when_targets_have_not_settled_and_says_how_many():
    """On Lorenz with overlapping kernels none of the targets settles."""
    statistics = statistics_of(*lorenz_lifted(samples=600, kernels=7, snr_db=20, coefficient=1e-4))
    with pytest.warns(KoopsieveWarning, match="settled for 0 of 10 targets: 10 still moved after 100 sweeps"):
        SpikeSlab.published(PRIOR, max_sweeps=100).identify(statistics)


@every_order
def test_a_target_that_overflows_is_reported_and_stays_finite(order):
    design, targets = lorenz_lifted(samples=300, coefficient=1e-2)
    found = SpikeSlab.published(PRIOR, order=order).identify(statistics_of(1e200 * design, targets))
    assert np.all(np.isfinite(found.coef))
    assert set(found.status) == {Status.DIVERGED}
    assert "relaxation" in found.describe()


def test_a_target_has_not_settled_while_its_variances_move():
    """The means stand still after a few hundred sweeps; the variance of a regressor that is out still drifts."""
    statistics = statistics_of(*SPARSE)
    method = SpikeSlab.published(PRIOR, relaxation=0.3, max_sweeps=400)
    found, later = (replace(method, max_sweeps=count).identify(statistics) for count in (400, 401))
    moved = np.abs(later.coef - found.coef).max(axis=0) / np.abs(found.coef).max(axis=0)
    assert np.all(moved < 1e-6)
    assert set(found.status) == {Status.MAX_SWEEPS}
    assert set(replace(method, max_sweeps=100_000).identify(statistics).status) == {Status.SETTLED}


@every_order
def test_full_relaxation_cycles_on_overlapping_kernels_where_the_default_settles(order):
    statistics = statistics_of(*lorenz_lifted(samples=500, snr_db=40, coefficient=1e-3))
    assert not SpikeSlab.published(PRIOR, relaxation=1.0, max_sweeps=2000, order=order).identify(statistics).settled
    assert SpikeSlab().identify(statistics).settled
