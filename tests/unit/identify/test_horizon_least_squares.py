"""The refit over horizons: its loss and gradient against the data, and what it promises."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import check_grad, minimize

from koopsieve import (
    HorizonLeastSquares,
    KoopsieveError,
    LeastSquares,
    LinearModel,
    SquaredExponential,
    States,
    compress,
)
from koopsieve.data import Trajectories
from koopsieve.identify import Status
from koopsieve.identify import least_squares as method
from koopsieve.identify.horizon_loss import HorizonLoss, whitening
from koopsieve.systems import random_drive, van_der_pol

HORIZONS = (1, 4, 8)


def oscillator(samples=300, inputs=1):
    rng = np.random.default_rng(2)
    drive = random_drive(samples, 10, 1.0 if inputs else 0.0, rng)
    x = van_der_pol(drive, 0.1) + 0.01 * rng.normal(size=(samples + 1, 2))
    return Trajectories.from_arrays(x, drive if inputs else None)


def prepared(inputs=1, kernels=4):
    data = oscillator(inputs=inputs)
    phi = (States() + SquaredExponential(centers=kernels, coefficients=[0.5])).fit(data)
    return data, phi, compress(data, phi, horizons=HORIZONS)


def loss_of(statistics, tie, emphasis=0.0):
    frame = whitening(statistics)
    tied = frame.inward(LeastSquares().identify(statistics).coef)
    return HorizonLoss.of(statistics.multistep, frame, np.array([0, 1]), tied, tie, emphasis), frame, tied


def squared_errors(model, data, horizon):
    """Return the squared error per output over the windows that have all horizons ahead."""
    rows = len(data.states[0]) - max(HORIZONS)
    predicted = model.rollout(data, horizon)[0][:rows, -1]
    return np.sum((data.states[0][horizon : horizon + rows] - predicted) ** 2, axis=0)


@pytest.mark.parametrize("inputs", [0, 1])
def test_the_loss_is_the_models_own_squared_error_over_the_data(inputs):
    data, phi, statistics = prepared(inputs)
    loss, frame, tied = loss_of(statistics, tie=0.0)
    rng = np.random.default_rng(0)
    points = [tied, tied + 0.01 * rng.normal(size=tied.shape)]
    found, direct = [], []
    for white in points:
        coef = frame.outward(white)
        estimate = replace(LeastSquares().identify(statistics), coef=coef)
        model = LinearModel.from_estimate(estimate, phi)
        weighted = [w @ squared_errors(model, data, h) for h, w in ((term.horizon, term.weight) for term in loss.terms)]
        direct.append(sum(weighted))
        found.append(loss(white.ravel())[0])
    np.testing.assert_allclose(found[1] - found[0], direct[1] - direct[0], rtol=1e-6)


def test_white_coordinates_are_uncorrelated_with_unit_mean_square():
    data, phi, statistics = prepared(inputs=1)
    frame, lifted, u = whitening(statistics), phi(data.states[0][:-1]), data.inputs[0]
    white, scaled = lifted @ frame.into, u / frame.input_scale
    design, change = np.hstack([white, scaled]), np.random.default_rng(0).normal(size=(frame.rank + 1, 2))
    np.testing.assert_allclose(white.T @ white / len(white), np.eye(frame.rank), atol=1e-9)
    np.testing.assert_allclose(np.mean(scaled**2, axis=0), 1.0)
    np.testing.assert_allclose(white @ frame.back, lifted, atol=1e-6)
    np.testing.assert_allclose(frame.mean_products(change), design.T @ design @ change / len(design), atol=1e-9)


def test_a_koopman_matrix_survives_the_way_in_and_out():
    _, _, statistics = prepared(inputs=1)
    frame = whitening(statistics)
    white = np.random.default_rng(0).normal(size=(frame.rank + 1, frame.rank))
    np.testing.assert_allclose(frame.inward(frame.outward(white)), white, atol=1e-8)


def test_the_status_is_what_the_optimiser_says():
    _, _, statistics = prepared()
    few, many = (HorizonLeastSquares(max_sweeps=count).identify(statistics) for count in (2, 100_000))
    assert set(few.status) == {Status.MAX_SWEEPS}
    assert np.all(few.sweeps == 2)
    assert set(many.status) == {Status.SETTLED}
    assert np.all(many.sweeps > 2)


def test_an_optimiser_that_gives_up_is_reported(monkeypatch):
    _, _, statistics = prepared()

    def gives_up(*args, **kwargs):
        end = minimize(*args, **kwargs)
        end.success, end.status = False, 2  # how L-BFGS-B says that its line search failed
        return end

    monkeypatch.setattr(method, "minimize", gives_up)
    found = HorizonLeastSquares().identify(statistics)
    assert set(found.status) == {Status.STALLED}
    assert not found.settled


@pytest.mark.parametrize("inputs", [0, 1])
def test_the_gradient_is_the_gradient(inputs):
    """Through every power of A, every stack of inputs and the tie."""
    _, _, statistics = prepared(inputs)
    loss, _, tied = loss_of(statistics, tie=3.0, emphasis=1.0)
    start = (tied + 0.01 * np.random.default_rng(1).normal(size=tied.shape)).ravel()
    size = np.linalg.norm(loss(start)[1])
    assert check_grad(lambda x: loss(x)[0], lambda x: loss(x)[1], start) < 1e-5 * size


@pytest.mark.parametrize("inputs", [0, 1])
def test_predictions_at_the_horizons_improve_on_the_training_data(inputs):
    data, phi, statistics = prepared(inputs)
    one, many = (
        LinearModel.from_estimate(refit.identify(statistics), phi)
        for refit in (LeastSquares(), HorizonLeastSquares(tie=0.0))
    )
    assert np.all(squared_errors(many, data, 8) < squared_errors(one, data, 8))


def test_a_strong_tie_is_least_squares():
    _, _, statistics = prepared()
    tied = HorizonLeastSquares(tie=1e9).identify(statistics)
    np.testing.assert_allclose(tied.coef, LeastSquares().identify(statistics).coef, atol=1e-3)
    assert tied.regressors == statistics.regressors


def test_a_linear_system_is_left_as_it_is():
    rng = np.random.default_rng(3)
    u, x = rng.normal(size=(200, 1)), np.zeros((201, 2))
    A, B = np.array([[0.9, 0.2], [-0.1, 0.8]]), np.array([0.0, 1.0])
    for k in range(200):
        x[k + 1] = A @ x[k] + B * u[k]
    data = Trajectories.from_arrays(x, u)
    found = HorizonLeastSquares().identify(compress(data, States().fit(data), horizons=HORIZONS))
    np.testing.assert_allclose(found.coef, np.vstack([A.T, B[None]]), atol=1e-8)


def test_units_do_not_matter():
    data, _, _ = prepared()
    small = Trajectories.from_arrays(data.states[0] * [1e-4, 1e3], data.inputs[0] * 1e5)
    recipe = States() + SquaredExponential(centers=data.states[0][::60], coefficients=[0.5], standardize=True)
    scaled = States() + SquaredExponential(centers=small.states[0][::60], coefficients=[0.5], standardize=True)
    a, b = (
        LinearModel.from_estimate(HorizonLeastSquares(max_sweeps=20).identify(compress(d, phi, horizons=HORIZONS)), phi)
        for d, phi in ((data, recipe.fit(data)), (small, scaled.fit(small)))
    )
    one = a.predict(data.states[0][0], data.inputs[0][:8], 8)
    other = b.predict(small.states[0][0], small.inputs[0][:8], 8)
    np.testing.assert_allclose(other / [1e-4, 1e3], one, rtol=1e-3, atol=1e-4)


def test_an_unstable_start_is_brought_to_finite_predictions():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(60, 2))
    data = Trajectories.from_arrays(x)
    phi = (States() + SquaredExponential(centers=40, coefficients=[5.0])).fit(data)
    model = LinearModel.from_estimate(HorizonLeastSquares().identify(compress(data, phi, horizons=(1, 20))), phi)
    assert np.isfinite(model.predict(x[0], horizon=20)).all()


def test_what_cannot_be_done_is_refused():
    data, phi, statistics = prepared()
    with pytest.raises(KoopsieveError, match="horizons"):
        HorizonLeastSquares().identify(compress(data, phi))
    with pytest.raises(KoopsieveError, match="x1"):
        HorizonLeastSquares().identify(statistics.select([1, 2, 3]))
    with pytest.raises(KoopsieveError, match="tie"):
        HorizonLeastSquares(tie=-1.0)
