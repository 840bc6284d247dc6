"""Free runs along a record, and beyond its range."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve import Constant, Monomials, States, Trajectories
from koopsieve.evaluate import free_run, simulation_errors, stays_in_range
from koopsieve.forms.reprojected.model import ReprojectedModel


def spring(cubic, seed=0):
    """Return a record of y[k+1] = 0.8y − c·y³ + 0.15u with |y| below about one, and the model that made it."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.uniform(-1, 1, size=15), 40)
    y = np.zeros(601)
    for k in range(600):
        y[k + 1] = 0.8 * y[k] - cubic * y[k] ** 3 + 0.15 * u[k]
    data = Trajectories.from_arrays(y[:, None], u[:, None], dt=0.1)
    phi = (States() + Constant() + Monomials(3)).fit(data)
    coef = np.zeros((len(phi.regressors), 1))
    for name, value in {"x1": 0.8, "x1^3": -cubic, "u1": 0.15}.items():
        coef[phi.regressors.index(name)] = value
    seen = np.array([[y.min(), -1.0], [y.max(), 1.0]])
    return data, ReprojectedModel(coef, phi, seen, np.array([[-1e6], [1e6]]))


def test_the_model_that_made_a_record_simulates_it():
    data, model = spring(0.05)
    assert simulation_errors(model, data).max() < 1e-20
    np.testing.assert_allclose(free_run(model, data.states[0][0], data.inputs[0])[:, 0], data.states[0][1:, 0])


def test_a_model_that_is_bounded_out_there_stays_in_range():
    data, model = spring(0.05)
    assert stays_in_range(model, data)


def test_a_model_that_is_exact_in_the_data_and_unstable_beyond_does_not_stay():
    data, model = spring(-0.045)  # softer and softer: with inputs above 1.1 it runs away
    assert simulation_errors(model, data).max() < 1e-20
    assert not stays_in_range(model, data)


@pytest.mark.parametrize("scale", [1.0, 1 + 1e-10, 1 - 1e-10])
def test_a_model_that_is_held_at_its_bounds_has_left_the_range_whatever_rounding_says(scale):
    data, model = spring(-0.045)
    low, high = data.states[0].min(axis=0), data.states[0].max(axis=0)
    held = replace(model, limits=scale * np.stack([2 * low - high, 2 * high - low]))
    assert not stays_in_range(held, data)


def test_without_inputs_there_is_nothing_to_stretch():
    rng = np.random.default_rng(0)
    data = Trajectories.from_arrays(rng.normal(size=(50, 1)), dt=0.1)
    phi = (States() + Constant()).fit(data)
    model = ReprojectedModel(np.array([[5.0], [0.0]]), phi, np.array([[-3.0], [3.0]]), np.array([[-1e6], [1e6]]))
    assert stays_in_range(model, data)


@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_the_answer_does_not_depend_on_where_zero_is(offset):
    data, model = spring(0.05)
    moved = Trajectories.from_arrays(data.states[0] + offset, data.inputs[0], dt=0.1)
    phi = (States() + Constant()).fit(moved)
    coef = np.array([[0.8], [0.2 * offset], [0.15]])
    linear = ReprojectedModel(coef, phi, model.region + np.array([offset, 0.0]), model.limits + offset)
    assert phi.regressors == ("x1", "1", "u1")
    assert stays_in_range(linear, moved)
