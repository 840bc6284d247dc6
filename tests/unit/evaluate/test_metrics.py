"""The paper's error, against plain loops and worked by hand; noise of a given level."""

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import Trajectories, embed_delays
from koopsieve.dictionary import Constant, Monomials, States
from koopsieve.evaluate.metrics import add_noise, horizon_nmse, nmse
from koopsieve.regression import compress, condition_number, design_diagnostics
from tests.reference.literal_prediction import horizon_nmse as literal_horizon_nmse
from tests.reference.pendulum import least_squares_model, simulate_pendulum


@pytest.mark.parametrize(
    "true, predicted, expected",
    [
        ([1.0, 2.0, 3.0], [1.0, 2.0, 4.0], [0.5]),
        ([[0.0, 1.0], [2.0, 5.0]], [[1.0, 3.0], [1.0, 3.0]], [1.0, 1.0]),
        (np.full((7, 2), 0.1), np.tile([0.1, 0.1 + 1e-9], (7, 1)), [0.0, np.inf]),  # constant columns
        *(([1.0, 2.0], [bad, 2.0], [np.inf]) for bad in (np.nan, np.inf, -np.inf, 1e300)),
    ],
)
def test_nmse_by_hand(true, predicted, expected):
    assert nmse(true, predicted).tolist() == expected


def test_nmse_does_not_depend_on_units():
    rng = np.random.default_rng(0)
    true, predicted = rng.normal(size=(2, 50, 3))
    scale, offset = np.array([1e-6, 3.0, 1e9]), np.array([1.0, -5.0, 0.0])
    moved = nmse(true * scale + offset, predicted * scale + offset)
    np.testing.assert_allclose(moved, nmse(true, predicted), rtol=1e-6)


@pytest.mark.parametrize(
    "true, predicted, message",
    [
        ([1.0], [[1.0]], "same shape"),
        ([1.0, 2.0], [1.0], "same shape"),
        ([], [], "same shape"),
        (1.0, 1.0, "same shape"),
        ([1.0, np.nan], [1.0, 2.0], "Got 1 samples"),
    ],
)
def test_what_does_not_fit_is_refused(true, predicted, message):
    with pytest.raises(KoopsieveError, match=message):
        nmse(true, predicted)


def model_of(trajectories, scale=1.0, form="linear"):
    return least_squares_model(trajectories, States() + Constant() + Monomials(degree=3), scale, form)


@pytest.mark.parametrize("inputs", [0, 2])
@pytest.mark.parametrize("form", ["linear", "bilinear", "reprojected"])
@pytest.mark.parametrize("with_truth", [False, True])
def test_horizon_nmse_is_that_of_plain_loops(inputs, form, with_truth, monkeypatch):
    clean = simulate_pendulum([40, 9, 30], inputs)
    noisy = add_noise(clean, 40, rng=1)
    model = model_of(noisy, form=form)
    monkeypatch.setattr("koopsieve.evaluate.rollout._CHUNK_BYTES", 7 * 8 * model.numbers_per_start)
    truth = clean if with_truth else None
    found = horizon_nmse(model, noisy, [5, 1, 12, 5], truth=truth)
    judge = literal_horizon_nmse(model, noisy, [5, 1, 12, 5], truth=truth)
    assert list(found) == ["x1", "x2"]
    for name in found:
        np.testing.assert_allclose(found[name], judge[name], rtol=1e-8)


def test_one_step_is_the_papers_one_step_error():
    data = simulate_pendulum([60], 1)
    model = model_of(data)
    predicted = model.predict(data.states[0][:-1, None], data.inputs[0][:, None, :], horizon=1)[:, 0]
    found = horizon_nmse(model, data, [1])
    expected = nmse(data.states[0][1:], predicted)  # of x1, which is predicted exactly, it is rounding
    np.testing.assert_allclose([found["x1"][0], found["x2"][0]], expected, rtol=1e-9, atol=1e-24)


@pytest.mark.parametrize("form", ["linear", "bilinear", "reprojected"])
def test_divergence_gives_inf_and_no_warning_and_reprojection_is_held_to_the_data(form):
    data = simulate_pendulum([60], 1)
    for near, far in horizon_nmse(model_of(data, 1e30, form), data, [1, 50]).values():
        assert np.isfinite(near)
        assert (near > 10 and 10 < far < np.inf) if form == "reprojected" else far == np.inf


def test_delayed_copies_are_not_scored_and_truth_must_be_of_the_same_shape():
    delayed = embed_delays(simulate_pendulum([60], 1), states=2, inputs=1)
    assert list(horizon_nmse(model_of(delayed), delayed, [1, 4])) == ["x1", "x2"]
    data = simulate_pendulum([30, 20], 0)
    model = model_of(data)
    with pytest.raises(KoopsieveError, match="same episodes and states"):
        horizon_nmse(model, data, [1], truth=data.subset([0]))
    with pytest.raises(KoopsieveError, match="longest has 30"):
        horizon_nmse(model, data, [1, 30])


def test_noise_has_the_asked_level_in_every_column_and_one_for_all_episodes():
    rng = np.random.default_rng(0)
    clean = rng.normal(size=(200_000, 3)) * [1e-3, 1.0, 1e4] + [5.0, 0.0, -1e5]
    noise = add_noise(clean, 20.0, rng) - clean
    np.testing.assert_allclose(noise.std(axis=0), 0.1 * clean.std(axis=0), rtol=0.006)
    assert np.abs(np.corrcoef(noise.T) - np.eye(3)).max() < 0.02
    episodes = Trajectories.from_arrays([np.sin(np.arange(30_000.0)), 3 + 0.1 * np.sin(np.arange(20_000.0))])
    noisy = add_noise(episodes, 10.0, 0)
    deviations = [np.std(y - x) for x, y in zip(episodes.states, noisy.states, strict=True)]
    np.testing.assert_allclose(deviations, np.concatenate(episodes.states).std() * 10**-0.5, rtol=0.02)


def test_noise_is_repeatable_leaves_the_rest_and_must_make_sense():
    clean = simulate_pendulum([30], 1)
    one, two = add_noise(clean, 20, 3), add_noise(clean, 20, np.random.default_rng(3))
    assert np.array_equal(one.states[0], two.states[0])
    assert one.inputs is clean.inputs
    assert np.array_equal(add_noise(clean, np.inf, 3).states[0], clean.states[0])
    with pytest.raises(KoopsieveError, match="decibels"):
        add_noise(np.ones((3, 1)), np.nan, 0)
    with pytest.raises(KoopsieveError, match="then embed delays"):
        add_noise(embed_delays(clean, states=1), 20, 0)


def test_condition_number():
    matrix = np.random.default_rng(0).normal(size=(5, 3))
    assert condition_number(matrix) == pytest.approx(np.linalg.cond(matrix))
    assert condition_number(np.zeros((2, 2))) == np.inf
    assert condition_number(np.diag([1.0, 0.0])) == np.inf
    assert condition_number(np.array([[np.nan]])) == np.inf


def test_design_diagnostics_see_through_units_and_find_copies():
    data = simulate_pendulum([300], 1)
    dictionary = (States() + Constant() + Monomials(degree=2)).fit(data)
    lifted = np.hstack([dictionary(data.states[0][:-1]), data.inputs[0]])
    found = design_diagnostics(compress(data, dictionary))
    assert (found.columns, found.rank) == (7, 7)
    assert found.condition_number == pytest.approx(np.linalg.cond(lifted / np.linalg.norm(lifted, axis=0)), rel=1e-9)

    x = data.states[0]
    rescaled = Trajectories.from_arrays(x * [1e-8, 1e6], data.inputs[0])
    scaled = design_diagnostics(compress(rescaled, (States() + Constant() + Monomials(degree=2)).fit(rescaled)))
    assert scaled.condition_number == pytest.approx(found.condition_number, rel=1e-6)

    copied = Trajectories.from_arrays(np.column_stack([x, x[:, 0] + x[:, 1]]), data.inputs[0])
    found = design_diagnostics(compress(copied, States().fit(copied)))
    assert (found.columns, found.rank) == (4, 3)
    assert found.condition_number > 1e14
