"""Rollouts and predictions at chosen horizons against plain loops, on models fitted to simulated episodes."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories, embed_delays
from koopsieve.dictionary import Constant, Monomials, States
from koopsieve.evaluate.rollout import horizon_predictions
from koopsieve.forms.lifted_state import LiftedStateModel, lift, powers_are_cheaper, predictions_by_powers
from tests.reference.literal_prediction import predict_one
from tests.reference.pendulum import least_squares_model, simulate_pendulum


@pytest.fixture(params=[0, 1, 2], ids="{} inputs".format)
def data(request):
    return simulate_pendulum([30, 6, 2, 25], request.param)


RECIPE = States() + Constant() + Monomials(degree=3)


@pytest.fixture
def model(data):
    return least_squares_model(data, RECIPE)


@pytest.mark.parametrize("form", ["linear", "bilinear", "reprojected"])
@pytest.mark.parametrize("chunk", [None, 5])
def test_every_start_is_rolled_out(data, form, chunk, monkeypatch):
    model = least_squares_model(data, RECIPE, form=form)
    if chunk:
        monkeypatch.setattr("koopsieve.evaluate.rollout._CHUNK_BYTES", chunk * 8 * model.numbers_per_start)
    found = model.rollout(data, horizon=5)
    assert [f.shape for f in found] == [(25, 5, 2), (1, 5, 2), (0, 5, 2), (20, 5, 2)]
    for predicted, x, u in zip(found, data.states, data.inputs, strict=True):
        for k, rows in enumerate(predicted):
            np.testing.assert_allclose(rows, predict_one(model, x[k], u[k : k + 5]), rtol=1e-9, atol=1e-12)


def test_predict_and_rollout_agree(model, data):
    x, u = data.states[0], data.inputs[0]
    windows = np.stack([u[k : k + 7] for k in range(23)])
    np.testing.assert_allclose(
        model.predict(x[:23, None], windows, horizon=7), model.rollout(data, horizon=7)[0], rtol=1e-11, atol=1e-13
    )


@pytest.mark.parametrize("chunk", [4, 10**6])
def test_jumping_to_horizons_is_stepping_to_them(model, data, chunk, monkeypatch):
    monkeypatch.setattr("koopsieve.evaluate.rollout._CHUNK_BYTES", chunk * 8 * len(model.A))
    horizons = (1, 2, 5, 24)
    jumped, walked = (
        {(episode, first, h): y for episode, first, h, y in pieces}
        for pieces in (predictions_by_powers(model, data, horizons), horizon_predictions(model, data, horizons))
    )
    assert jumped.keys() == walked.keys()
    for key, predicted in walked.items():
        assert jumped[key].shape == predicted.shape
        np.testing.assert_allclose(jumped[key], predicted, rtol=1e-9, atol=1e-9)
    assert sum(len(y) for (_, _, h), y in walked.items() if h == 5) == 25 + 1 + 20


@pytest.mark.parametrize("steps", [1, 25, 60])
def test_runs_by_blocks_are_runs_step_by_step(model, steps):
    rng = np.random.default_rng(0)
    states, acting = rng.normal(size=(3, 2)), rng.normal(size=(3, steps, model.B.shape[1]))
    stepped = LiftedStateModel.free_runs(model, states, acting)
    np.testing.assert_allclose(model.free_runs(states, acting), stepped, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("growth", [1.0, 30.0, 1e3])
def test_runs_by_blocks_lose_no_digits_where_powers_grow(model, growth):
    size = len(model.A)
    rng = np.random.default_rng(0)
    upper = 0.5 * np.eye(size) + growth * np.triu(rng.normal(size=(size, size)), 1)
    turn = np.linalg.qr(rng.normal(size=(size, size)))[0]  # triangular, a balanced matrix would show no growth
    steep = replace(model, A=turn @ upper @ turn.T)
    states, acting = rng.normal(size=(3, 2)), rng.normal(size=(3, 60, model.B.shape[1]))
    exact = np.longdouble(steep.A), np.longdouble(steep.B), np.longdouble(steep.C)
    state, found = np.longdouble(lift(steep.dictionary, states)), []
    for k in range(60):
        state = state @ exact[0].T + acting[:, k] @ exact[1].T
        found.append(state @ exact[2].T)
    stepped, run = LiftedStateModel.free_runs(steep, states, acting), steep.free_runs(states, acting)
    off = [np.abs(one - np.stack(found, axis=1)).max() for one in (stepped, run)]
    assert off[1] <= 100 * off[0]


def test_the_cheaper_way_is_taken(model):
    assert powers_are_cheaper(model, (1, 10, 100))
    small = model.restrict([0, 1])
    assert powers_are_cheaper(small, range(1, 400)) == (len(model.input_names) == 0)


def test_delays_are_rolled_out(data):
    embedded = embed_delays(data.subset([0, 3]), states=2, inputs=1 if data.n_inputs else 0)
    model = least_squares_model(embedded, States() + Monomials(degree=2))
    assert model.output_names == ("x1", "x2")
    found = model.rollout(embedded, horizon=3)
    x, u = embedded.states[0], embedded.inputs[0]
    np.testing.assert_allclose(found[0][4], predict_one(model, x[4], u[4:7]), rtol=1e-9, atol=1e-12)
    for mine, theirs in zip(model.rollout(data.subset([0, 3]), horizon=3), found, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_other_columns_are_refused(model, data):
    other = Trajectories.from_arrays(list(data.states), list(data.inputs), state_names=["x2", "x1"])
    with pytest.raises(KoopsieveError, match=r"model's outputs. Expected \['x1', 'x2'\], got \['x2', 'x1'\]"):
        model.rollout(other, 2)
    other = simulate_pendulum([30], 3)
    with pytest.raises(KoopsieveError, match="model's inputs"):
        model.predictions(other, [2])


def test_horizons_beyond_the_data_are_refused(model, data):
    with pytest.raises(KoopsieveError, match="at least 31 samples, the longest has 30"):
        model.rollout(data, 30)
    with pytest.raises(KoopsieveError, match="at least 31 samples"):
        model.predictions(data, [1, 30])
    with pytest.raises(KoopsieveError, match="horizons is empty"):
        model.predictions(data, [])
    with pytest.raises(KoopsieveError, match="a whole number, 1 or more"):
        model.predictions(data, [0, 3])
