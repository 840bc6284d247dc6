"""Every identifier keeps the same promises."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve.identify import (
    STLSQ,
    HorizonLeastSquares,
    LeastSquares,
    SparseBayes,
    SpikeSlab,
    SpikeSlabPrior,
    Status,
)
from koopsieve.identify.spike_slab.algorithm_1 import LORENZ_PRIOR, UpdateOrder
from koopsieve.regression import HorizonStatistics
from tests.problems import sparse_problem, statistics_of

IDENTIFIERS = {
    "I": LeastSquares(),
    "I horizons": HorizonLeastSquares(max_sweeps=500),
    "II": STLSQ(threshold=0.05),
    "II relative": STLSQ(threshold=0.02, relative=True),
    "III": SparseBayes(),
    "IV": SpikeSlab(),
    "IV flat": SpikeSlab(SpikeSlabPrior().flat()),
    "IV published": SpikeSlab.published(LORENZ_PRIOR, relaxation=0.5, max_sweeps=200),
    **{
        f"IV {order.name}": SpikeSlab.published(LORENZ_PRIOR, relaxation=0.5, max_sweeps=200, order=order)
        for order in list(UpdateOrder)[1:]
    },
}
UNIT_FREE = ["I", "I horizons", "II relative", "III", "IV", "IV flat"]
LEAST_SQUARES = ["I", "I horizons"]
BAYESIAN = ["III", "IV", "IV flat"]
TARGET_BY_TARGET = [name for name in IDENTIFIERS if name != "I horizons"]
PUBLISHED = ["IV published", *(f"IV {order.name}" for order in list(UpdateOrder)[1:])]
ITERATIVE = ["II", "II relative", "III", "IV", *PUBLISHED]

pytestmark = pytest.mark.filterwarnings("ignore:Algorithm 1 settled:koopsieve.KoopsieveWarning")
everyone = pytest.mark.parametrize("name", IDENTIFIERS)


def statistics(design, targets, **names):
    """Return statistics that hold, as horizons, the outputs one step ahead: for a refit that looks ahead."""
    found = statistics_of(design, targets, **names)
    multistep = HorizonStatistics(found.factor, found.observables, found.input_terms, found.observables, (1,))
    return replace(found, multistep=multistep, outputs=tuple(range(len(found.observables))))


def run(name, design, targets, **names):
    return IDENTIFIERS[name].identify(statistics(design, targets, **names))


def sparse():
    design, targets, _ = sparse_problem(seed=3, regressors=8, targets=8, active=2)
    return design, targets


def accuracy(name):
    """Return how closely coefficients agree: an optimiser stops within a billionth of its loss, not of its place."""
    return {"rtol": 1e-3, "atol": 1e-4} if name == "I horizons" else {"rtol": 1e-6, "atol": 1e-9}


def assert_finite(found):
    for field in ("coef", "inclusion", "coef_variance"):
        assert np.all(np.isfinite(getattr(found, field))), field
    assert not np.any(np.isnan(found.noise_precision))


@everyone
def test_shapes_names_and_ranges(name):
    design, targets = sparse()
    names = tuple(f"phi{i}" for i in range(6))
    found = run(name, design, targets[:, :6], observables=names, inputs=("u1", "u2"))
    assert found.coef.shape == found.inclusion.shape == found.coef_variance.shape == (8, 6)
    assert found.noise_precision.shape == found.elbo.shape == found.sweeps.shape == found.agreement.shape == (6,)
    assert found.regressors == (*names, "u1", "u2")
    assert found.targets == names
    assert len(found.status) == 6
    assert np.all((found.inclusion >= 0) & (found.inclusion <= 1))
    assert np.all(found.coef_variance >= 0)
    assert np.all(found.noise_precision > 0)
    assert np.all((found.agreement >= 1) & (found.sweeps >= 1))
    assert "targets" in found.describe()


@everyone
def test_calling_twice_gives_the_same_and_changes_nothing(name):
    given = statistics(*sparse())
    before = [a.copy() for a in (given.R, given.S, given.leftover)]
    first, second = (IDENTIFIERS[name].identify(given) for _ in range(2))
    for old, now in zip(before, (given.R, given.S, given.leftover), strict=True):
        np.testing.assert_array_equal(old, now)
    np.testing.assert_array_equal(first.coef, second.coef)
    np.testing.assert_array_equal(first.inclusion, second.inclusion)


@everyone
def test_permuting_the_dictionary_permutes_the_answer(name):
    design, targets = sparse()
    order = np.random.default_rng(0).permutation(8)
    plain, permuted = run(name, design, targets), run(name, design[:, order], targets[:, order])
    np.testing.assert_allclose(permuted.coef, plain.coef[np.ix_(order, order)], **accuracy(name))
    np.testing.assert_allclose(permuted.inclusion, plain.inclusion[np.ix_(order, order)], atol=1e-6)


@pytest.mark.parametrize("name", TARGET_BY_TARGET)
def test_a_target_does_not_depend_on_the_others(name):
    design, targets = sparse()
    order = np.array([5, 0, 7, 2])
    inputs = ("u1", "u2", "u3", "u4")
    some = run(name, design, targets[:, order], inputs=inputs)
    every = run(name, design, targets)
    np.testing.assert_allclose(some.coef, every.coef[:, order], **accuracy(name))
    np.testing.assert_allclose(some.inclusion, every.inclusion[:, order], atol=1e-6)


@everyone
def test_finds_a_plain_sparse_system(name):
    design, targets, weights = sparse_problem(seed=1, rows=2000, regressors=8, targets=8, correlation=0.2, snr_db=40)
    found = run(name, design, targets)
    np.testing.assert_allclose(found.coef, weights, atol=0.02)


@pytest.mark.parametrize("name", UNIT_FREE)
@pytest.mark.parametrize("seed", range(3))
def test_units_do_not_matter(name, seed):
    design, targets = sparse()
    rng = np.random.default_rng(seed)
    columns, outputs = 10.0 ** rng.uniform(-9, 9, 8), 10.0 ** rng.uniform(-9, 9, 8)
    if name == "I horizons":
        outputs = columns  # it predicts with its own predictions: a target is the observable a step later
    plain, scaled = run(name, design, targets), run(name, design * columns, targets * outputs)
    np.testing.assert_allclose(scaled.inclusion, plain.inclusion, atol=1e-6)
    np.testing.assert_allclose(scaled.coef * columns[:, None] / outputs, plain.coef, **accuracy(name))
    np.testing.assert_allclose(scaled.noise_precision * outputs**2, plain.noise_precision, rtol=1e-6)
    variance = scaled.coef_variance * (columns[:, None] / outputs) ** 2
    np.testing.assert_allclose(variance, plain.coef_variance, rtol=1e-6, atol=1e-12)
    if name in BAYESIAN:
        rows = len(design)
        np.testing.assert_allclose(scaled.elbo + rows * np.log(outputs), plain.elbo, rtol=1e-9)


@everyone
def test_rank_deficient_designs(name):
    design, targets = sparse()
    for lifted in (design, targets):  # an observable that is a copy now is one a step later
        lifted[:, 3] = lifted[:, 2]
        lifted[:, 5] = lifted[:, 0] + lifted[:, 1]
    found = run(name, design, targets)
    assert_finite(found)
    best = np.linalg.lstsq(design, targets, rcond=None)[0]
    floor = np.sum((targets - design @ best) ** 2, axis=0)
    assert np.all(np.sum((targets - design @ found.coef) ** 2, axis=0) >= floor * (1 - 1e-9))
    if name in LEAST_SQUARES:
        np.testing.assert_allclose(np.sum((targets - design @ found.coef) ** 2, axis=0), floor, rtol=1e-9)


@everyone
@pytest.mark.parametrize("rows", [1, 3, 11])
def test_more_regressors_than_rows(name, rows):
    design, targets, _ = sparse_problem(seed=2, rows=rows, regressors=12, targets=12)
    assert_finite(run(name, design, targets))


@everyone
def test_zero_columns_and_zero_targets(name):
    design, targets = sparse()
    design[:, 4], targets[:, [2, 4]] = 0.0, 0.0
    found = run(name, design, targets[:, :7], observables=[f"o{i}" for i in range(7)], inputs=("u",))
    assert found.coef.shape == (8, 7)
    assert_finite(found)
    np.testing.assert_allclose(found.coef[:, 2], 0.0, atol=1e-4 if name == "I horizons" else 1e-12)
    np.testing.assert_allclose(found.coef[4], 0.0, atol=1e-12)
    if name in BAYESIAN:
        assert found.status[2] is Status.DEGENERATE
        np.testing.assert_array_equal(found.inclusion[:, 2], 0.0)
        np.testing.assert_array_equal(found.inclusion[4], 0.0)


@everyone
def test_constant_targets_and_columns(name):
    design, targets = sparse()
    design[:, 1], targets[:, 1] = 1.0, 1.0
    found = run(name, design, targets)
    assert_finite(found)
    if name not in PUBLISHED:
        np.testing.assert_allclose(design @ found.coef[:, 1], 1.0, atol=1e-8)


@everyone
def test_a_target_that_a_regressor_reproduces_exactly(name):
    design, targets = sparse()
    targets = targets.copy()
    targets[:, 6] = 3.0 * design[:, 4]
    found = run(name, design, targets)
    assert_finite(found)
    if name not in PUBLISHED:
        np.testing.assert_allclose(found.coef[:, 6], 3.0 * (np.arange(8) == 4), atol=1e-8)
    if name in BAYESIAN:
        assert found.status[6] is Status.DEGENERATE
        np.testing.assert_allclose(found.inclusion[:, 6], np.arange(8) == 4, atol=1e-6)


@everyone
def test_one_regressor(name):
    rng = np.random.default_rng(0)
    design = rng.normal(size=(100, 1))
    found = run(name, design, 0.5 * design + 0.01 * rng.normal(size=(100, 1)))
    np.testing.assert_allclose(found.coef, [[0.5]], atol=0.02)
    np.testing.assert_allclose(found.inclusion, [[1.0]], atol=1e-6)


@pytest.mark.parametrize("name", ITERATIVE)
def test_too_few_sweeps_are_said_and_enough_sweeps_settle(name):
    given = statistics(*sparse())
    few = replace(IDENTIFIERS[name], max_sweeps=1).identify(given)
    assert Status.MAX_SWEEPS in few.status
    assert not few.settled
    assert "max_sweeps" in few.describe()
    assert np.all(few.sweeps == 1)
    enough = replace(IDENTIFIERS[name], max_sweeps=100_000).identify(given)
    assert set(enough.status) == {Status.SETTLED}
    assert np.all(enough.sweeps >= few.sweeps)
    assert np.any(enough.sweeps > 1)
