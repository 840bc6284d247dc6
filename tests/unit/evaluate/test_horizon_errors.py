"""Errors window by window: the same errors as the NMSE, in blocks, for every form and for extreme numbers."""

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.data import Embedding, Trajectories
from koopsieve.data.delays import embedded
from koopsieve.dictionary import Constant, Monomials, States
from koopsieve.evaluate import horizon_nmse, window_errors
from koopsieve.evaluate.horizon_errors import _standard_error
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


def test_blocks_by_hand():
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


def test_the_order_of_pieces_does_not_matter(monkeypatch):
    data = simulate_pendulum([60, 50], 1)
    model = least_squares_model(data, RECIPE)
    whole = window_errors(model, data, [1, 5])
    monkeypatch.setattr("koopsieve.evaluate.rollout._CHUNK_BYTES", 7 * 8 * model.numbers_per_start)
    np.testing.assert_allclose(window_errors(model, data, [1, 5]).blocks, whole.blocks, rtol=1e-9)


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
