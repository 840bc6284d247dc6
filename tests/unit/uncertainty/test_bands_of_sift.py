"""Bands as sift gives them: from validation windows, in every form, judged on test data only."""

import numpy as np
import pytest

from koopsieve import Constant, GraphSieve, KoopsieveError, LeastSquares, Monomials, States, Stream, Trajectories, sift
from koopsieve.uncertainty import calibrate

RECIPE = States() + Constant() + Monomials(degree=2)


def plant(seed, steps=3000):
    """x+ = 0.9 x + 0.1 x u + u + noise: bilinear, one output."""
    rng = np.random.default_rng(seed)
    u = np.repeat(rng.uniform(-0.5, 0.5, size=(steps // 5 + 1, 1)), 5, axis=0)[: steps - 1]
    x = np.zeros((steps, 1))
    for k in range(steps - 1):
        x[k + 1] = 0.9 * x[k] + 0.1 * x[k] * u[k] + u[k] + 0.1 * rng.normal(size=1)
    return Trajectories.from_arrays(x, u, dt=0.1)


@pytest.fixture(scope="module", params=["linear", "bilinear", "reprojected"])
def result(request):
    return sift(plant(0), RECIPE, form=request.param, horizons=[1, 5, 10], path_length=3, test=plant(1))


def test_they_hold_on_test_data_in_every_form(result):
    assert result.model.calibration.bands.longest == 10
    np.testing.assert_allclose(result.coverage.share, 0.9, atol=0.04)
    np.testing.assert_allclose(result.coverage.joint, 0.9, atol=0.05)
    assert result.coverage.outside.max() < 0.03
    assert (result.model.calibration.certificate is None) == (result.form == "reprojected")
    assert "side by side" not in result.describe()


def test_they_come_from_the_model_before_it_learned_from_the_validation_data_and_not_from_test_data():
    validation = plant(2)
    asked = {"horizons": [1, 5], "path_length": 3, "validation": validation, "form": "linear"}
    plain, judged = (sift(plant(0), RECIPE, **asked, **more) for more in ({}, {"test": plant(1), "level": 0.5}))
    again = calibrate(plain.path.choice.model, validation, 5)
    for one in (plain, judged):
        np.testing.assert_array_equal(one.model.calibration.bands.widths, again.calibration.bands.widths)
    assert plain.coverage is None
    assert judged.coverage.level == 0.5
    np.testing.assert_allclose(judged.coverage.share, 0.5, atol=0.06)
    with pytest.raises(KoopsieveError, match="level must lie above 0"):
        sift(plant(0), RECIPE, **asked, level=1.0)


def test_where_nothing_is_held_out_there_are_none_and_few_windows_are_told():
    asked = {"sieve": GraphSieve(), "refits": {"least squares": LeastSquares()}, "form": "linear", "horizons": [1, 5]}
    alone = sift(plant(0, 300), RECIPE, validation=0, **asked)
    assert alone.model.calibration is None
    assert alone.coverage is None
    short = sift(plant(0, 400), States() + Constant(), horizons=[1, 30], path_length=3, form="linear")
    assert "need 10 windows of 30 steps side by side" in short.describe()


def test_a_stream_gives_them_too():
    data = plant(0)
    stream = Stream.from_arrays(data.states[0], data.inputs[0], dt=0.1)
    result = sift(stream, RECIPE, horizons=[1, 5], path_length=3, test=0.25, form="linear")
    np.testing.assert_allclose(result.coverage.share, 0.9, atol=0.06)
    assert result.model.calibration.support is not None
