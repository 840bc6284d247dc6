"""Sparse Bayes against scikit-learn's ARDRegression, and against its own evidence computed from raw data."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.linear_model import ARDRegression

from koopsieve import KoopsieveError
from koopsieve.identify import SparseBayes
from koopsieve.identify.standardise import standardise
from tests.problems import lorenz_lifted, sparse_problem, statistics_of


def standardised(seed, **kind):
    design, targets, _ = sparse_problem(seed, **kind)
    return design / np.sqrt(np.mean(design**2, axis=0)), targets / np.sqrt(np.mean(targets**2, axis=0))


def both(design, targets, hyper):
    """Yield, target by target, our endpoint and ARDRegression's, and the evidence of each by our formula."""
    names = ("noise_shape", "noise_rate", "weight_shape", "weight_rate")
    equal = dict.fromkeys(("alpha_1", "alpha_2", "lambda_1", "lambda_2"), hyper)
    method = SparseBayes(**dict.fromkeys(names, hyper), max_precision=np.inf, tolerance=1e-13, max_sweeps=20_000)
    statistics = statistics_of(design, targets)
    problem, ours = standardise(statistics), method.identify(statistics)
    for j, t in enumerate(targets.T):
        ard = ARDRegression(**equal, threshold_lambda=1e300, fit_intercept=False, tol=1e-13, max_iter=20_000)
        theirs = ard.fit(design, t)
        part = problem.take(np.array([j]))
        yield j, ours, theirs, method.evaluate(part, theirs.lambda_[:, None], np.array([theirs.alpha_])).evidence[0]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("hyper", [1e-6, 1e-3])
def test_agrees_with_ard_regression_at_equal_hyperpriors(seed, hyper):
    design, targets = standardised(seed, rows=300, regressors=8, targets=8, active=8, correlation=0.3)
    for j, ours, theirs, _ in both(design, targets, hyper):
        np.testing.assert_allclose(ours.coef[:, j], theirs.coef_, atol=1e-6)
        np.testing.assert_allclose(ours.noise_precision[j], theirs.alpha_, rtol=1e-6)
        np.testing.assert_allclose(ours.coef_variance[:, j], np.diag(theirs.sigma_), rtol=1e-5, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_with_irrelevant_regressors_the_same_optimum_or_a_better_one(seed):
    design, targets = standardised(seed, rows=300, regressors=10, targets=10, active=4, correlation=0.3)
    same = 0
    for j, ours, theirs, evidence in both(design, targets, 1e-6):
        close = np.allclose(ours.coef[:, j], theirs.coef_, atol=1e-6)
        same += close
        assert close or ours.elbo[j] > evidence
    assert same >= 7


def test_the_evidence_is_that_of_the_raw_data():
    design, targets = standardised(0, rows=40, regressors=5, targets=5)
    problem = standardise(statistics_of(design, targets))
    rng = np.random.default_rng(0)
    precision, noise = rng.uniform(0.5, 4.0, (5, 5)), rng.uniform(1.0, 9.0, 5)
    state = SparseBayes().evaluate(problem, precision, noise)
    for j in range(5):
        covariance = np.eye(40) / noise[j] + design @ np.diag(1 / precision[:, j]) @ design.T
        expected = multivariate_normal(np.zeros(40), covariance).logpdf(targets[:, j])
        np.testing.assert_allclose(state.evidence[j], expected, rtol=1e-9)


@pytest.mark.parametrize("snr_db", [None, 40, 20])
@pytest.mark.parametrize("coefficient", [1e-5, 1e-2])
def test_the_evidence_never_falls(snr_db, coefficient):
    problem = standardise(statistics_of(*lorenz_lifted(samples=1500, snr_db=snr_db, coefficient=coefficient)))
    method = SparseBayes()
    state = method.init(problem)
    for _ in range(30):
        following = method.step(problem, state)
        assert np.all(np.isfinite(following.evidence))
        assert np.all(following.evidence >= state.evidence)
        state = following


def test_fits_as_well_as_least_squares_where_the_data_are_clean():
    design, targets = lorenz_lifted(samples=3000, coefficient=1e-3)
    found = SparseBayes().identify(statistics_of(design, targets))
    best = np.linalg.lstsq(design, targets, rcond=None)[0]
    ratio = np.sum((targets - design @ found.coef) ** 2, axis=0) / np.sum((targets - design @ best) ** 2, axis=0)
    assert np.all(ratio < 1.5)


@pytest.mark.parametrize("tolerance", [-1.0, 1.0, 1e308, np.nan])
def test_a_tolerance_that_is_no_share_is_refused(tolerance):
    with pytest.raises(KoopsieveError, match=r"tolerance"):
        SparseBayes(tolerance=tolerance)
