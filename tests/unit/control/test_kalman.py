"""The filter against the textbook's, written out; the noises against those that were put in."""

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.control import KalmanFilter, Noise, noise_of
from koopsieve.data import Embedding, Trajectories
from koopsieve.data.delays import embedded
from koopsieve.dictionary import Constant, Monomials, States
from koopsieve.forms import LinearModel
from koopsieve.identify import LeastSquares
from koopsieve.regression import compress
from tests.unit.export.models import pendulum_model
from tests.unit.export.plant import plant_model, plant_step, record, statistics_of

SMALL = Noise(np.array([1e-4, 2e-4, 0.0]), np.array([0.01, 0.02]))


def textbook(A, B, C, Q, R, mean, P, acted, measured):
    """One predict and correct, as printed."""
    mean, P = A @ mean + B @ acted, A @ P @ A.T + Q
    gain = P @ C.T @ np.linalg.inv(C @ P @ C.T + R)
    return mean + gain @ (measured - C @ mean), (np.eye(len(P)) - gain @ C) @ P


def test_in_the_linear_form_it_is_the_textbooks():
    model = plant_model("linear")
    kalman, rng = KalmanFilter(model, SMALL, drift=0.05, gate=np.inf), np.random.default_rng(0)
    belief = kalman.start([0.2, 0.3])
    size, outputs = 3, 2
    E = np.eye(3)[:, :2]  # observables are the two states and the constant, which no disturbance moves
    F = np.block([[model.A, E], [np.zeros((2, 3)), np.eye(2)]])
    G, H = np.vstack([model.B, np.zeros((2, 1))]), np.hstack([model.C, np.zeros((2, 2))])
    drifts = 0.05 * (SMALL.process[:2] + np.minimum(SMALL.measurement, 9 * SMALL.process[:2]))
    Q, R = np.diag([*SMALL.process, *drifts]), np.diag(SMALL.measurement)
    mean, P = np.concatenate([belief.carried, belief.disturbance]), belief.covariance
    for _ in range(20):
        u, y = rng.uniform(-1, 1, size=1), rng.normal(size=2)
        belief = kalman.update(belief, u, y)
        mean, P = textbook(F, G, H, Q, R, mean, P, u, y)
        np.testing.assert_allclose(belief.carried, mean[:size], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(belief.disturbance, mean[size:], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(belief.covariance, P, rtol=1e-7, atol=1e-12)
    assert len(belief.covariance) == size + outputs


@pytest.mark.parametrize("form", ["bilinear", "reprojected"])
def test_in_the_others_it_is_linearised_at_each_step(form):
    model = plant_model(form)
    process = SMALL.process if form == "bilinear" else SMALL.process[:2]
    kalman, rng = (
        KalmanFilter(model, Noise(process, SMALL.measurement), drift=0.0, gate=np.inf),
        np.random.default_rng(1),
    )
    belief = kalman.start([0.2, 0.3])
    mean, P = np.array([0.2, 0.3]), belief.covariance[:2, :2]
    for _ in range(15):
        u, y = rng.uniform(-1, 1, size=1), rng.normal(size=2)
        A = np.array([[0.8 + 0.12 * u[0], 0.0], [0.3, 0.7]])  # of the plant, at this input
        P = A @ P @ A.T + np.diag(SMALL.process[:2])
        mean = plant_step(mean, u)
        gain = P @ np.linalg.inv(P + np.diag(SMALL.measurement))
        mean, P = mean + gain @ (y - mean), (np.eye(2) - gain) @ P
        belief = kalman.update(belief, u, y)
        np.testing.assert_allclose(model.read(belief.carried[None])[0], mean, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(belief.covariance[:2, :2], P, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("form", ["linear", "bilinear", "reprojected"])
@pytest.mark.parametrize("embedding", [Embedding(), Embedding(1, 1)], ids=["no delays", "delays"])
def test_covariances_stay_symmetric_and_positive(form, embedding):
    model, rng = pendulum_model(form, embedding), np.random.default_rng(2)
    x = 0.1 * rng.normal(size=(1, len(model.signals.state_names)))
    size = model.start(x).shape[1]
    kalman = KalmanFilter(model, Noise(np.full(size, 1e-6), np.full(2, 1e-2)))
    belief = kalman.start(x[0])
    for _ in range(60):
        belief = kalman.update(belief, rng.normal(size=2), 0.1 * rng.normal(size=2))
        np.testing.assert_allclose(belief.covariance, belief.covariance.T, rtol=1e-6, atol=1e-12)
        assert np.linalg.eigvalsh(belief.covariance).min() > -1e-9


def filtered_error(kalman, samples=300, noise=0.1, push=0.0, seed=3):
    """How far estimates and measurements are from a plant, and the disturbance found."""
    rng = np.random.default_rng(seed)
    x, belief, errors = np.array([0.2, 0.3]), None, []
    for _ in range(samples):
        u = rng.uniform(-1, 1, size=1)
        x = plant_step(x, u, push)
        y = x + noise * rng.normal(size=2)
        belief = kalman.start(y) if belief is None else kalman.update(belief, u, y)
        errors.append([kalman.model.read(belief.carried[None])[0] - x, y - x])
    errors = np.array(errors)[50:]
    return np.sqrt((errors**2).mean(axis=(0, 2))), belief.disturbance


@pytest.mark.parametrize("form", ["bilinear", "reprojected"])
def test_it_knows_more_than_a_measurement(form):
    model = plant_model(form)
    noise = Noise(np.full(3 if form == "bilinear" else 2, 1e-5), np.full(2, 0.01))
    (estimated, measured), _ = filtered_error(KalmanFilter(model, noise))
    assert estimated < 0.5 * measured


def test_it_finds_a_disturbance():
    kalman = KalmanFilter(plant_model("bilinear"), Noise(np.full(3, 1e-5), np.full(2, 0.01)), drift=0.01)
    (estimated, measured), found = filtered_error(kalman, push=0.2)
    np.testing.assert_allclose(found, [0.0, 0.2], atol=0.1)
    assert estimated < 0.7 * measured
    blind = KalmanFilter(kalman.model, kalman.noise, drift=0.0)
    assert filtered_error(blind, push=0.2)[0][0] > 2 * estimated


def test_lifting_anew_keeps_observables_functions_of_the_state():
    model, rng = pendulum_model("linear", recipe=States() + Constant() + Monomials(3)), np.random.default_rng(5)
    noise = Noise(np.full(len(model.A), 1e-4), np.full(2, 1e-3))
    kalman, plain = KalmanFilter(model, noise), KalmanFilter(model, noise, relift=False)
    belief, other = kalman.start([0.4, 0.1]), plain.start([0.4, 0.1])
    for _ in range(5):
        u, y = rng.normal(size=2), rng.normal(size=2)
        belief, other = kalman.update(belief, u, y), plain.update(other, u, y)
        np.testing.assert_allclose(belief.carried, model.dictionary(belief.carried[:2]), rtol=1e-12)
    assert np.abs(other.carried - model.dictionary(other.carried[:2])).max() > 1e-3


def test_the_entering_of_a_disturbance_is_the_slope_of_the_observables():
    model = pendulum_model("linear")
    belief = KalmanFilter(model, Noise(np.full(len(model.A), 1e-4), np.full(2, 1e-3))).start([0.4, 0.1])
    x = np.array([0.4, 0.1])
    for column, step in enumerate(1e-6 * np.eye(2)):
        slope = (model.dictionary(x + step) - model.dictionary(x - step)) / 2e-6
        np.testing.assert_allclose(belief.entering[:, column], slope, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.C @ belief.entering, np.eye(2))


def autoregression(process, measurement, samples=40_000):
    rng = np.random.default_rng(0)
    u, x = rng.normal(size=(samples - 1, 1)), np.zeros((samples, 1))
    for k in range(samples - 1):
        x[k + 1] = 0.95 * x[k] + u[k] + process * rng.normal()
    return Trajectories.from_arrays(x + measurement * rng.normal(size=x.shape), u, dt=1.0)


@pytest.mark.parametrize("process, measurement", [(0.3, 0.3), (0.1, 0.5), (0.5, 0.1)])
def test_the_noises_are_told_apart(process, measurement):
    data = autoregression(process, measurement)
    phi = States().fit(data)
    statistics = compress(data, phi, horizons=[1, 2, 3, 4])
    model = LinearModel.from_estimate(LeastSquares().identify(statistics), phi)
    found = noise_of(model, statistics)
    assert found.measurement[0] == pytest.approx(measurement**2, rel=0.35)
    assert found.process[0] == pytest.approx(process**2, rel=0.35)


def test_without_horizons_half_is_measurement_noise():
    data = record(noise=0.1)
    statistics = statistics_of("linear", data, horizons=())
    model = plant_model("linear", noise=0.1)
    found = noise_of(model, statistics)
    variance = statistics.leftover / statistics.rows
    np.testing.assert_allclose(found.measurement, 0.25 * variance[:2])
    np.testing.assert_allclose(found.process, [*(0.5 * variance[:2]), 0.5 * variance[2]])


def test_delayed_copies_have_no_noise_of_their_own():
    model = plant_model("linear", Embedding(1, 1), noise=0.1)
    statistics = statistics_of("linear", embedded(record(noise=0.1), Embedding(1, 1)))
    found = noise_of(model, statistics)
    copies = [i for i, name in enumerate(model.names) if "[k" in name]
    assert len(copies) == 3
    np.testing.assert_array_equal(found.process[copies], 0.0)
    assert (found.process[:2] > 0).all()


def test_settings_that_do_not_fit_are_refused():
    model = plant_model("linear")
    with pytest.raises(KoopsieveError, match=r"noise does not fit the model\. Expected 2 measurement variances"):
        KalmanFilter(model, Noise(np.ones(3), np.ones(3)))
    with pytest.raises(KoopsieveError, match=r"and 3 process variances, got \(2,\) and \(1,\)"):
        KalmanFilter(model, Noise(np.ones(1), np.ones(2)))
    with pytest.raises(KoopsieveError, match="drift, the variance of the disturbance, must be a finite number, 0 or"):
        KalmanFilter(model, SMALL, drift=-1.0)
    with pytest.raises(KoopsieveError, match=r"noise must be a Noise, for example noise_of\(model, statistics\)"):
        KalmanFilter(model, 0.1)


@pytest.mark.parametrize(
    "process, measurement, said",
    [
        ([-1.0], [1.0], "process noise must be an array, 0 or more"),
        ([np.nan], [1.0], "process noise must be an array, 0 or more"),
        ([1.0], [np.inf], "measurement noise must be an array, 0 or more"),
        ([1.0], [0.0], "variances of the measurement must be above 0"),
    ],
)
def test_variances_that_are_none_are_refused(process, measurement, said):
    with pytest.raises(KoopsieveError, match=said):
        Noise(np.array(process), np.array(measurement))


@pytest.mark.parametrize("form", ["linear", "reprojected"])
@pytest.mark.parametrize("wrong", [[0.1], [0.1, np.inf], [0.1, 0.2, 0.3]])
def test_measurements_that_do_not_fit_are_refused(form, wrong):
    model = plant_model(form)
    kalman = KalmanFilter(model, Noise(SMALL.process[: 3 if form == "linear" else 2], SMALL.measurement))
    belief = kalman.start([0.1, 0.2])
    expected = r"must be finite.*, one value per signal \(level, next\)\. Expected \(2,\)"
    with pytest.raises(KoopsieveError, match=f"state {expected}"):
        kalman.start(wrong)
    with pytest.raises(KoopsieveError, match=f"measured {expected}"):
        kalman.update(belief, [0.0], wrong)
    with pytest.raises(KoopsieveError, match=r"acted must be finite, one value per signal \(u1\)"):
        kalman.update(belief, [0.1, 0.2], [0.1, 0.2])


def test_statistics_that_are_none_are_refused():
    with pytest.raises(KoopsieveError, match="statistics must be RegressionStatistics"):
        noise_of(plant_model("linear"), None)


def test_without_noise_in_the_record_no_variance_is_zero():
    """The second output follows its equation to rounding, and yet the filter believes that it may be disturbed."""
    found = noise_of(plant_model("linear"), statistics_of("linear", record()))
    assert found.process[1] > 1e-9
    assert found.measurement[1] > 1e-11
