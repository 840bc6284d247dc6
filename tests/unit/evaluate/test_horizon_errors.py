"""Errors window by window and in free runs: those of the NMSE, in blocks, for every form and for extreme numbers."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve import Constant, Monomials, States, Trajectories
from koopsieve._types import KoopsieveError
from koopsieve.data import Embedding
from koopsieve.data.delays import embedded
from koopsieve.evaluate import free_run, horizon_nmse, simulation_errors, stays_in_range, window_errors
from koopsieve.evaluate.horizon_errors import _standard_error
from koopsieve.evaluate.rollout import step_errors
from koopsieve.forms.reprojected.model import ReprojectedModel
from tests.reference.literal_prediction import predict_one
from tests.reference.pendulum import least_squares_model, simulate_pendulum

RECIPE = States() + Constant() + Monomials(degree=2)


@pytest.mark.parametrize("form", ["linear", "bilinear", "reprojected"])
@pytest.mark.parametrize("embedding", [Embedding(), Embedding(2, 1), Embedding(0, 1, "k+1")])
def test_their_mean_is_the_mean_nmse(form, embedding):
    data = simulate_pendulum([60, 9, 45], 1)
    model = least_squares_model(embedded(data, embedding), RECIPE, form=form)
    found = window_errors(model, data, [7, 1, 3])
    assert found.horizons == (1, 3, 7)
    nmse = horizon_nmse(model, data, [1, 3, 7])
    np.testing.assert_allclose(found.error, (nmse["x1"] + nmse["x2"]) / 2, rtol=1e-9, atol=1e-24)


def test_blocks_by_hand(monkeypatch):
    data = simulate_pendulum([40, 30], 1)
    model = least_squares_model(data, RECIPE)
    found = window_errors(model, data, [4])
    ahead = np.concatenate([x[4:] for x in data.states])
    variance = ahead.var(axis=0)
    errors = np.array(
        [
            np.mean((x[k + 4] - predict_one(model, x[k], u[k : k + 4])[-1]) ** 2 / variance)
            for x, u in zip(data.states, data.inputs, strict=True)
            for k in range(len(x) - 4)
        ]
    )
    blocks = [block.mean() for block in np.array_split(errors, len(errors) // 4)]
    np.testing.assert_allclose(found.blocks[0], blocks, rtol=1e-8)
    np.testing.assert_allclose(found.standard_error, np.std(blocks, ddof=1) / np.sqrt(len(blocks)), rtol=1e-8)
    monkeypatch.setattr("koopsieve.evaluate.rollout._CHUNK_BYTES", 7 * 8 * model.numbers_per_start)
    np.testing.assert_allclose(window_errors(model, data, [4]).blocks, found.blocks, rtol=1e-9)  # piece by piece


def test_an_output_that_never_changes_does_not_make_all_models_alike():
    rng = np.random.default_rng(0)
    train = Trajectories.from_arrays(rng.normal(size=(60, 2)))
    with pytest.warns(UserWarning, match="never change"):
        still = Trajectories.from_arrays(np.column_stack([rng.normal(size=30), np.full(30, 3.0)]))
    model = least_squares_model(train, States())
    assert np.isfinite(window_errors(model, still, [1]).error).all()
    assert horizon_nmse(model, still, [1])["x2"][0] == np.inf


@pytest.mark.parametrize("scale", [1e-310, 1e-160, 1e160, 1e300])
def test_units_change_no_error(scale):
    data = simulate_pendulum([50, 30], 0)
    scaled = Trajectories.from_arrays([x * scale for x in data.states], dt=0.1)
    model = least_squares_model(data, States())
    one, two = horizon_nmse(model, data, [1, 5]), horizon_nmse(model, scaled, [1, 5])
    loose = 1e-2 if scale == 1e-310 else 1e-6  # few digits are left of numbers this small
    for name in one:
        np.testing.assert_allclose(two[name], one[name], rtol=loose, atol=1e-9)
    np.testing.assert_allclose(
        window_errors(model, scaled, [1, 5]).error, window_errors(model, data, [1, 5]).error, rtol=loose, atol=1e-9
    )


@pytest.mark.parametrize("horizons", [[1.9], [0], [True], 5, "15"])
def test_horizons_that_are_none(horizons):
    data = simulate_pendulum([30], 0)
    model = least_squares_model(data, States())
    for errors in (window_errors, horizon_nmse):
        with pytest.raises(KoopsieveError, match=r"whole number|several numbers"):
            errors(model, data, horizons)


def test_the_spread_of_huge_errors_is_infinite_without_a_warning():
    np.testing.assert_array_equal(_standard_error(np.array([[1e200, 3e200], [1.0, 3.0]])), [np.inf, 1.0])


def test_errors_of_every_step_are_those_of_predictions_written_out(monkeypatch):
    data = simulate_pendulum([60, 9], 1)
    model = least_squares_model(data, RECIPE)
    errors, windows = step_errors(model, data, 12), [(0, k) for k in range(59)] + [(1, k) for k in range(8)]
    assert list(zip(errors.episodes, errors.starts, strict=True)) == windows
    for row, (episode, k) in zip(errors.errors, windows, strict=True):
        x, u = data.states[episode], data.inputs[episode]
        steps = min(12, len(x) - 1 - k)
        predicted = model.predict(x[k], u[k : k + steps], steps)
        np.testing.assert_allclose(row[:steps], x[k + 1 : k + 1 + steps] - predicted, atol=1e-12)
        assert np.isnan(row[steps:]).all()
    assert [len(errors.reaching(h)) for h in (1, 8, 12)] == [67, 53, 48]
    assert [errors.separate_windows(h) for h in (8, 12)] == [8, 4]
    states, acting, predicted = errors.complete_windows()
    np.testing.assert_array_equal(states, data.states[0][:48])
    np.testing.assert_array_equal(acting[4], data.inputs[0][4:16])
    np.testing.assert_allclose(predicted[4], model.predict(states[4], acting[4], 12), atol=1e-12)
    monkeypatch.setattr("koopsieve.evaluate.rollout.MAX_STEP_ERRORS", 400)
    errors = step_errors(model, data, 4)  # many windows are thinned evenly
    assert errors.errors.size <= 400
    assert set(np.diff(errors.starts[errors.episodes == 0])) == {2}


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


@pytest.mark.parametrize("cubic, stays", [(0.05, True), (-0.045, False)])  # softer and softer: it runs away above 1.1
def test_the_model_that_made_a_record_simulates_it_and_may_not_stay_in_range(cubic, stays):
    data, model = spring(cubic)
    assert simulation_errors(model, data).max() < 1e-20
    np.testing.assert_allclose(free_run(model, data.states[0][0], data.inputs[0])[:, 0], data.states[0][1:, 0])
    assert stays_in_range(model, data) == stays


@pytest.mark.parametrize("scale", [1.0, 1 + 1e-10, 1 - 1e-10])
def test_a_model_that_is_held_at_its_bounds_has_left_the_range_whatever_rounding_says(scale):
    data, model = spring(-0.045)
    low, high = data.states[0].min(axis=0), data.states[0].max(axis=0)
    held = replace(model, limits=scale * np.stack([2 * low - high, 2 * high - low]))
    assert not stays_in_range(held, data)


def test_without_inputs_there_is_nothing_to_stretch():
    data = Trajectories.from_arrays(np.random.default_rng(0).normal(size=(50, 1)), dt=0.1)
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
