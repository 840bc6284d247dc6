"""The gradient of every family against central differences, at random points, whole and cut."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import PolynomialFeatures

from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories
from koopsieve.dictionary import (
    Constant,
    Fourier,
    Function,
    Inputs,
    Monomials,
    PeriodicSquaredExponential,
    RandomFourier,
    SquaredExponential,
    States,
    Transformer,
)

RNG = np.random.default_rng(0)
DATA = Trajectories.from_arrays(RNG.normal(size=(60, 2)), RNG.normal(size=(59, 2)))
BOTH = "states and inputs"


def swirl(x):
    return np.column_stack([np.sin(x[:, 0]) * x[:, 1], x[:, 0] ** 3])


def swirl_gradient(x):
    first = np.stack([np.cos(x[:, 0]) * x[:, 1], np.sin(x[:, 0])], axis=1)
    second = np.stack([3 * x[:, 0] ** 2, np.zeros(len(x))], axis=1)
    return np.stack([first, second], axis=1)


BLOCKS = {
    "states": States(),
    "constant": Constant(),
    "inputs": Inputs(),
    "monomials": Monomials(degree=4),
    "monomials of both": Monomials(degree=3, of=BOTH),
    "kernels": SquaredExponential(centers=4, coefficients=[0.3, 2.0]),
    "standardised kernels": SquaredExponential(centers=3, standardize=True),
    "kernels of both": SquaredExponential(centers=3, coefficients=[0.2], of=BOTH),
    "periodic kernels": PeriodicSquaredExponential(centers=3, coefficients=[0.5, 1.5], frequencies=[0.3, 1.0]),
    "standardised periodic kernels": PeriodicSquaredExponential(centers=2, standardize=True),
    "periodic kernels of both": PeriodicSquaredExponential(centers=2, of=BOTH),
    "waves": Fourier(frequencies=[0.25, 0.6]),
    "waves of both": Fourier(of=BOTH),
    "random waves": RandomFourier(features=5),
    "function": Function(swirl, names=["s", "c"]),
    "function with gradient": Function(swirl, names=["s", "c"], gradient=swirl_gradient),
    "function of both": Function(lambda p: p[:, 0] * np.tanh(p[:, 3]), names=["t"], of=BOTH),
    "transformer": Transformer(PolynomialFeatures(degree=2, include_bias=False), names=list("abcde")),
    "products of states": States() * Monomials(degree=2),
    "products with inputs": Inputs() * SquaredExponential(centers=2, coefficients=[0.4]),
    "products of products": Inputs() * (States() * States()),
    "products of drives": Inputs() * Inputs(),
}


@cache
def fitted(name):
    return BLOCKS[name].fit(DATA, seed=1)


def differences(function, points, step=1e-5):
    columns = []
    for j in range(points.shape[1]):
        moved = np.zeros(points.shape[1])
        moved[j] = step
        columns.append((function(points + moved) - function(points - moved)) / (2 * step))
    return np.stack(columns, axis=2)


@pytest.mark.parametrize("name", BLOCKS)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.1, 1.0, 3.0]))
def test_every_gradient_is_that_of_differences(name, seed, scale):
    phi = fitted(name)
    rng = np.random.default_rng(seed)
    points = scale * rng.normal(size=(3, 4))
    found = phi.gradient(points)
    assert found.shape == (3, len(phi.regressors), 4)
    expected = differences(phi.evaluate, points)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("name", BLOCKS)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.1, 1.0, 3.0]), sums=st.integers(1, 3))
def test_the_slope_of_weighted_sums_is_the_weighted_sum_of_the_gradients(name, seed, scale, sums):
    phi = fitted(name)
    rng = np.random.default_rng(seed)
    points, weights = scale * rng.normal(size=(5, 4)), rng.normal(size=(sums, len(phi.regressors)))
    expected = weights @ phi.gradient(points)
    close = {"rtol": 1e-10, "atol": 1e-11 * max(1.0, np.abs(expected).max())}
    np.testing.assert_allclose(phi.slope_of_sums(points, weights), expected, **close)


@pytest.mark.parametrize("name", BLOCKS)
def test_cutting_commutes_with_the_gradient(name):
    phi = fitted(name)
    points = np.random.default_rng(2).normal(size=(5, 4))
    kept, drives = np.arange(0, phi.size, 2), np.arange(0, len(phi.input_term_names), 2)
    cut = phi.select(kept, drives)
    columns = [*kept, *(phi.size + drives)]
    assert cut.regressors == tuple(phi.regressors[i] for i in columns)
    np.testing.assert_allclose(cut.evaluate(points), phi.evaluate(points)[:, columns], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(cut.gradient(points), phi.gradient(points)[:, columns], rtol=1e-9, atol=1e-9)


def test_differences_of_a_function_keep_their_digits_far_out():
    """The step grows with the coordinate, so that its rounding does not drown the difference."""
    phi = Function(lambda x: x[:, 0] ** 2, names=["square"]).fit(DATA)
    for x in (1e-8, 1.0, 1e6):
        (slope,) = phi.gradient(np.array([[x, 0.0, 0.0, 0.0]]))[0, 0, :1]
        assert slope == pytest.approx(2 * x, rel=1e-6)


def test_a_gradient_of_the_wrong_shape_is_refused():
    phi = Function(swirl, names=["s", "c"], gradient=lambda x: np.zeros((len(x), 2))).fit(DATA)
    with pytest.raises(KoopsieveError, match=r"Expected \(3, columns, 2\), got \(3, 2\) for s, c"):
        phi.gradient(np.zeros((3, 4)))
