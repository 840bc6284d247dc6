"""Monomials of signals that are far from zero, such as kelvin: taken about their mean."""

import warnings

import numpy as np
import pytest

from koopsieve import Constant, Inputs, Monomials, States, Trajectories, embed_delays, sift

RNG = np.random.default_rng(0)
X, U = 3 * RNG.normal(size=(60, 2)), 3 * RNG.normal(size=(59, 1))
X -= X.mean(axis=0)
OFFSET = np.array([313.2, 0.0])
NAMES = {"state_names": ["T", "v"], "input_names": ["u"]}
DATA = embed_delays(Trajectories.from_arrays(X + OFFSET, U - U[1:].mean() - 1e6, **NAMES), 1, 0)
PHI = (States() + Constant() + Inputs() + Monomials(2, of="states and inputs")).fit(DATA)
POINTS = np.concatenate(list(DATA.acted_blocks()))


def test_powers_are_taken_about_the_mean():
    values = dict(zip(PHI.regressors, PHI.evaluate(POINTS).T, strict=True))
    warm, pushed = POINTS[:, 0].mean(), POINTS[:, 4].mean()
    T, v, before, u = POINTS[:, 0] - warm, POINTS[:, 1], POINTS[:, 2] - warm, POINTS[:, 4] - pushed
    name = f"(T - {warm:.6g})"
    np.testing.assert_allclose(values[f"{name}^2"], T**2, atol=1e-9)
    np.testing.assert_allclose(values[f"{name} (T[k-1] - {warm:.6g})"], T * before, atol=1e-9)
    np.testing.assert_allclose(values[f"v (u + {-pushed:.9g})"], v * u, atol=1e-6)
    assert "v^2" in values


@pytest.mark.parametrize("factor", [1e-6, 3.7, 1e9])
def test_neither_units_nor_the_order_of_the_data_matter(factor):
    episodes = [X[:20] + OFFSET, X[20:35] + OFFSET, X[35:] + OFFSET]
    first = Monomials(3).fit(Trajectories.from_arrays(episodes))
    other = Monomials(3).fit(Trajectories.from_arrays([factor * x for x in episodes[::-1]]))
    scale = np.abs(first(X + OFFSET)).max(axis=0)
    found = other(factor * (X + OFFSET)) / scale
    ratio = np.abs(found).max(axis=0)
    np.testing.assert_allclose(found / ratio, first(X + OFFSET) / scale, atol=1e-9)


@pytest.mark.parametrize("offset", [300.0, 1e4])
def test_an_offset_of_a_column_changes_nothing(offset):
    rng = np.random.default_rng(3)
    u, y = rng.uniform(-1, 1, 400), np.zeros(400)
    for k in range(399):
        y[k + 1] = 0.8 * y[k] - 0.1 * y[k] ** 2 + 0.5 * u[k] ** 2
    y += 0.001 * rng.normal(size=400)
    recipe = States() + Constant() + Inputs() + Monomials(3, of="states and inputs")
    first, second = (
        sift(Trajectories.from_arrays(y + c, u[:-1] + c), recipe, form="reprojected", horizons=[1, 10])
        for c in (0.0, offset)
    )
    np.testing.assert_allclose(second.errors.mean, first.errors.mean, rtol=0.05)
    assert first.errors.mean[-1] < 1e-3


def test_numbers_near_the_largest_of_all_are_not_moved():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        huge = Monomials(2).fit(Trajectories.from_arrays(np.array([[-1.7e308], [1.7e308], [1.0]])))
    assert huge.names == ("x1^2",)
