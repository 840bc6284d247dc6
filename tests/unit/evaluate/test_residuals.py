"""Residual tests: they find what was put in, and nothing where there is nothing."""

import numpy as np
import pytest

from koopsieve import Constant, KoopsieveWarning, LeastSquares, LinearModel, States, Trajectories, compress
from koopsieve.evaluate.residuals import correlation, one_step_residuals, residual_tests


def first_order(samples=4000, seed=0, noise=None, late=0.0):
    """y[k+1] = 0.8 y[k] + u[k] + late·u[k−2] + e[k], as trajectories."""
    rng = np.random.default_rng(seed)
    u, e = rng.normal(size=samples), 0.3 * rng.normal(size=samples)
    if noise is not None:
        e = noise(e)
    y = np.zeros(samples + 1)
    for k in range(samples):
        y[k + 1] = 0.8 * y[k] + u[k] + (late * u[k - 2] if k >= 2 else 0.0) + e[k]
    return Trajectories.from_arrays(y, u[:, None], state_names="y", input_names="u")


def fitted(data):
    phi = (States() + Constant()).fit(data)
    return LinearModel.from_estimate(LeastSquares().identify(compress(data, phi)), phi)


def true_model():
    """The plant itself, so that residuals are exactly the noise."""
    phi = States().fit(first_order(10))
    return LinearModel(np.array([[0.8]]), np.array([[1.0]]), np.eye(1), phi)


def test_correlation_is_the_literal_sum_and_no_pair_of_samples_crosses_an_episode():
    rng, lags = np.random.default_rng(1), np.arange(-7, 8)
    a, b = rng.normal(size=(2, 50))
    a, b = a - a.mean(), b - b.mean()
    literal = [sum(a[k] * b[k - lag] for k in range(50) if 0 <= k - lag < 50) for lag in lags]
    np.testing.assert_allclose(correlation([a], [b], lags), literal / np.sqrt(sum(a**2) * sum(b**2)), atol=1e-14)
    two = [np.array([1.0, -1.0]), np.array([1.0, -1.0])]
    np.testing.assert_allclose(correlation(two, two, np.array([1])), [-0.5])


@pytest.mark.parametrize("seed", range(5))
def test_the_true_model_leaves_white_noise(seed):
    found = residual_tests(true_model(), first_order(seed=seed))
    assert found.passed
    assert found.words == ("y: the residual looks like white noise, without a trace of the inputs.",)
    assert found.whiteness["y"].value[0] == pytest.approx(1.0)
    data = first_order(100, seed)
    x, u = data.states[0], data.inputs[0]
    np.testing.assert_allclose(one_step_residuals(true_model(), data)[0], x[1:] - 0.8 * x[:-1] - u, atol=1e-12)


def test_one_lag_in_a_hundred_is_outside_the_limits():
    outside = [residual_tests(true_model(), first_order(1000, seed)) for seed in range(40)]
    white = sum(found.whiteness["y"].outside for found in outside) / (40 * 25)
    crossed = sum(found.inputs["y"]["u"].outside for found in outside) / (40 * 26)
    assert 0.002 < white < 0.025
    assert 0.002 < crossed < 0.025


def test_coloured_noise_is_found_at_its_lag():
    data = first_order(noise=lambda e: np.convolve(e, [1.0, 0.0, 0.0, 0.6])[: len(e)])
    found = residual_tests(true_model(), data)
    assert not found.whiteness["y"].passed
    assert found.whiteness["y"].worst == 3
    assert found.inputs["y"]["u"].passed
    assert "correlated with its own past" in found.words[0]
    assert "more delays" in found.words[1]


def test_an_input_that_the_model_misses_is_found_at_its_lag():
    found = residual_tests(fitted(first_order(late=0.5)), first_order(seed=9, late=0.5))
    assert not found.inputs["y"]["u"].passed
    assert found.inputs["y"]["u"].worst == 2
    assert not found.passed
    assert "terms with the input" in found.words[-1]


def test_an_exact_model_and_a_constant_input_have_no_correlation():
    with pytest.warns(KoopsieveWarning, match="never change"):
        data = Trajectories.from_arrays(0.9 ** np.arange(60.0), np.zeros((60, 1)), state_names="y", input_names="u")
    phi = States().fit(data)
    exact = LinearModel(np.array([[0.9]]), np.zeros((1, 1)), np.eye(1), phi)
    found = residual_tests(exact, data)
    assert np.abs(found.inputs["y"]["u"].value).max() == 0
    assert np.isfinite(found.whiteness["y"].value).all()
    assert residual_tests(true_model(), first_order(40)).whiteness["y"].lags[-1] == 10  # short records look less far
