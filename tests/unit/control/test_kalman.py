"""The filter against the textbook's, written out; the noises against those that were put in."""

import numpy as np
import pytest

from koopsieve import Model, Trajectories, calibrate, sift
from koopsieve._types import KoopsieveError
from koopsieve.control import KalmanFilter, Noise, noise_of
from koopsieve.data import Embedding
from koopsieve.data.delays import embedded
from koopsieve.dictionary import Constant, Monomials, States
from koopsieve.forms import LinearModel
from koopsieve.identify import LeastSquares
from koopsieve.regression import compress
from tests.unit.export.models import FORMS, pendulum_model
from tests.unit.export.plant import PLANT_FORMS, plant_model, plant_step, record, statistics_of

SMALL = Noise(np.array([1e-4, 2e-4, 0.0]), np.array([0.01, 0.02]))
DELAYS = Embedding(1, 1)


def even_noise(model, process=1e-4, measurement=1e-2):
    return Noise(np.full(len(model.carried_names), process), np.full(2, measurement))


def test_in_the_linear_form_it_is_the_textbooks():
    model = plant_model("linear")
    kalman, rng = KalmanFilter(model, SMALL, drift=0.05, gate=np.inf), np.random.default_rng(0)
    belief = kalman.start([0.2, 0.3])
    E = np.eye(3)[:, :2]  # observables are the two states and the constant, which no disturbance moves
    F = np.block([[model.A, E], [np.zeros((2, 3)), np.eye(2)]])
    G, H = np.vstack([model.B, np.zeros((2, 1))]), np.hstack([model.C, np.zeros((2, 2))])
    drifts = 0.05 * (SMALL.process[:2] + np.minimum(SMALL.measurement, 9 * SMALL.process[:2]))
    Q, R = np.diag([*SMALL.process, *drifts]), np.diag(SMALL.measurement)
    mean, P = np.concatenate([belief.carried, belief.disturbance]), belief.covariance
    for _ in range(20):
        u, y = rng.uniform(-1, 1, size=1), rng.normal(size=2)
        belief = kalman.update(belief, u, y)
        mean, P = F @ mean + G @ u, F @ P @ F.T + Q
        gain = P @ H.T @ np.linalg.inv(H @ P @ H.T + R)
        mean, P = mean + gain @ (y - H @ mean), (np.eye(5) - gain @ H) @ P
        np.testing.assert_allclose([*belief.carried, *belief.disturbance], mean, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(belief.covariance, P, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("form", ["bilinear", "reprojected"])
def test_in_the_others_it_is_linearised_at_each_step(form):
    model, rng = plant_model(form), np.random.default_rng(1)
    noise = Noise(SMALL.process[: len(model.carried_names)], SMALL.measurement)
    kalman = KalmanFilter(model, noise, drift=0.0, gate=np.inf)
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


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("embedding", [Embedding(), DELAYS], ids=["no delays", "delays"])
def test_covariances_stay_symmetric_and_positive(form, embedding):
    model, rng = pendulum_model(form, embedding), np.random.default_rng(2)
    kalman = KalmanFilter(model, even_noise(model, 1e-6))
    belief = kalman.start(0.1 * rng.normal(size=len(model.signals.state_names)))
    for _ in range(60):
        belief = kalman.update(belief, rng.normal(size=2), 0.1 * rng.normal(size=2))
        np.testing.assert_allclose(belief.covariance, belief.covariance.T, rtol=1e-6, atol=1e-12)
        assert np.linalg.eigvalsh(belief.covariance).min() > -1e-9


@pytest.mark.parametrize("form", ["bilinear", "reprojected"])
@pytest.mark.parametrize("push, worse", [(0.0, 0.5), (0.2, 0.7)])
def test_it_knows_more_than_a_measurement_and_finds_a_disturbance(form, push, worse):
    def errors(drift):
        """Return how far estimates and measurements are from the plant, and the disturbance found."""
        model, rng = plant_model(form), np.random.default_rng(3)
        kalman = KalmanFilter(model, even_noise(model, 1e-5), drift)
        x, belief, gaps = np.array([0.2, 0.3]), None, []
        for _ in range(300):
            u = rng.uniform(-1, 1, size=1)
            x = plant_step(x, u, push)
            y = x + 0.1 * rng.normal(size=2)
            belief = kalman.start(y) if belief is None else kalman.update(belief, u, y)
            gaps.append([model.read(belief.carried[None])[0] - x, y - x])
        return *np.sqrt((np.array(gaps)[50:] ** 2).mean(axis=(0, 2))), belief.disturbance

    estimated, measured, found = errors(drift=0.01)
    assert estimated < worse * measured
    np.testing.assert_allclose(found, [0.0, push], atol=0.1)
    assert (errors(drift=0.0)[0] > 2 * estimated) == (push > 0)


def test_lifting_anew_keeps_observables_functions_of_the_state():
    model, rng = pendulum_model("linear", recipe=States() + Constant() + Monomials(3)), np.random.default_rng(5)
    kalman = KalmanFilter(model, even_noise(model, measurement=1e-3))
    belief, x = kalman.start([0.4, 0.1]), np.array([0.4, 0.1])
    for column, step in enumerate(1e-6 * np.eye(2)):  # a disturbance enters by the slope of the observables
        slope = (model.dictionary(x + step) - model.dictionary(x - step)) / 2e-6
        np.testing.assert_allclose(belief.entering[:, column], slope, rtol=1e-6, atol=1e-9)
    for _ in range(5):
        belief = kalman.update(belief, rng.normal(size=2), rng.normal(size=2))
        np.testing.assert_allclose(belief.carried, model.dictionary(belief.carried[:2]), rtol=1e-12)


def test_without_a_correction_the_filter_only_predicts():
    model = plant_model("bilinear")
    kalman, after = KalmanFilter(model, even_noise(model)), plant_step([0.2, 0.3], [0.5])
    belief = kalman.start([0.2, 0.3])
    blind, half, seen = (kalman.update(belief, [0.5], y) for y in ([np.nan, np.nan], [after[0], np.nan], after))
    np.testing.assert_allclose(blind.carried[:2], after, atol=1e-9)
    assert np.trace(seen.covariance) < np.trace(half.covariance) < np.trace(blind.covariance)


@pytest.mark.parametrize("form", FORMS)
def test_a_filter_starts_from_measured_rows(form):
    model, rng = pendulum_model(form, Embedding(1, 2)), np.random.default_rng(0)
    kalman, rows, inputs = KalmanFilter(model, even_noise(model)), rng.normal(size=(5, 2)), rng.normal(size=(4, 2))
    state = np.concatenate([rows[-1], rows[-2], inputs[-1], inputs[-2]])
    np.testing.assert_array_equal(kalman.start(rows, inputs).carried, kalman.start(state).carried)
    with pytest.raises(KoopsieveError, match="history must hold the last 3 or more rows"):
        kalman.start(rows[:2], inputs[:1])
    with pytest.raises(KoopsieveError, match=r"inputs must have a column per input"):
        kalman.start(rows, inputs[:2])


@pytest.mark.parametrize("process, measurement", [(0.3, 0.3), (0.1, 0.5), (0.5, 0.1)])
def test_the_noises_are_told_apart(process, measurement):
    rng, samples = np.random.default_rng(0), 40_000
    u, x = rng.normal(size=(samples - 1, 1)), np.zeros((samples, 1))
    for k in range(samples - 1):
        x[k + 1] = 0.95 * x[k] + u[k] + process * rng.normal()
    data = Trajectories.from_arrays(x + measurement * rng.normal(size=x.shape), u, dt=1.0)
    phi = States().fit(data)
    statistics = compress(data, phi, horizons=[1, 2, 3, 4])
    found = noise_of(LinearModel.from_estimate(LeastSquares().identify(statistics), phi), statistics)
    assert found.measurement[0] == pytest.approx(measurement**2, rel=0.35)
    assert found.process[0] == pytest.approx(process**2, rel=0.35)


def test_noise_from_statistics_of_few_horizons_delays_and_exact_records():
    """Half is of the sensors without horizons; copies have none; an output without error may yet be disturbed."""
    data, model = record(noise=0.1), plant_model("linear", noise=0.1)
    statistics = statistics_of("linear", data, horizons=())
    found, variance = noise_of(model, statistics), statistics.leftover / statistics.rows
    np.testing.assert_allclose(found.measurement, 0.25 * variance[:2])
    np.testing.assert_allclose(found.process, 0.5 * variance)
    delayed = plant_model("linear", DELAYS, noise=0.1)
    found = noise_of(delayed, statistics_of("linear", embedded(data, DELAYS)))
    copies = np.array(["[k" in name for name in delayed.names])
    assert copies.sum() == 3
    np.testing.assert_array_equal(found.process[copies], 0.0)
    assert (found.process[:2] > 0).all()
    exact = noise_of(plant_model("linear"), statistics_of("linear", record()))
    assert exact.process[1] > 1e-9
    assert exact.measurement[1] > 1e-11


def test_noise_travels_with_the_model_and_its_file(tmp_path):
    result = sift(record(1500, noise=0.02), States() + Constant(), form="bilinear", horizons=[1, 5])
    for model in (result.model, result.baselines["linear"].model):
        model.save(tmp_path / "model.npz")
        read = Model.load(tmp_path / "model.npz")
        np.testing.assert_array_equal(read.noise.process, model.noise.process)
        np.testing.assert_array_equal(read.noise.one_step, model.noise.one_step)
        assert len(KalmanFilter(read).start([0.1, 0.2]).carried) == len(model.carried_names)
    assert np.sqrt(result.model.noise.measurement) == pytest.approx([0.02, 0.02], rel=0.15)


@pytest.mark.parametrize("form", PLANT_FORMS)
def test_noise_of_held_out_errors_is_what_was_put_in(form):
    """The bilinear and reprojected models are exact, so all of it is noise of the sensors."""
    model = calibrate(plant_model(form), record(3000, seed=5, noise=0.05), horizon=6)
    if form == "linear":
        assert (model.noise.process[:2] > 0).all()
    else:
        assert np.sqrt(model.noise.measurement) == pytest.approx([0.05, 0.05], rel=0.15)


def test_noise_of_a_model_that_differentiates_is_that_of_its_sensor():
    """y[k+1] = 1.6 y[k] − 0.64 y[k−1] + u: a one-step error holds four times the sensor's variance, and no other."""
    rng = np.random.default_rng(0)
    u, y = rng.normal(size=1500), [0.0, 0.0]
    for force in u[1:-1]:
        y.append(1.6 * y[-1] - 0.64 * y[-2] + force)
    clean = Trajectories.from_arrays(np.array(y), u)
    model = sift(clean, States(), form="linear", delays=Embedding(1, 0), horizons=[1, 5]).model
    noisy = Trajectories.from_arrays(np.array(y) + 0.05 * rng.normal(size=1500), u)
    found = calibrate(model, noisy, horizon=6).noise
    assert np.sqrt(found.measurement) == pytest.approx([0.05], rel=0.1)
    assert found.one_step == pytest.approx([(1 + 1.6**2 + 0.64**2) * 0.05**2], rel=0.2)
    assert found.process[0] < 0.1 * found.one_step[0]


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda m: KalmanFilter(m, Noise(np.ones(3), np.ones(3))), r"does not fit the model\. Expected 2 measurement"),
        (lambda m: KalmanFilter(m, Noise(np.ones(1), np.ones(2))), r"and 3 process variances, got \(2,\) and \(1,\)"),
        (lambda m: KalmanFilter(m, SMALL, drift=-1.0), "drift, the variance of the disturbance, must be a finite"),
        (lambda m: KalmanFilter(m, SMALL, gate=0.0), "gate, in standard deviations .*must be a positive number"),
        (lambda m: KalmanFilter(m, 0.1), r"noise= as Noise, got float. Make it with noise_of\(model"),
        (KalmanFilter, "The model does not know its noise"),
        (lambda m: noise_of(m, None), "statistics must be RegressionStatistics"),
        (lambda m: Noise(np.array([-1.0]), np.ones(1)), "process noise must be an array, 0 or more"),
        (lambda m: Noise(np.array([np.nan]), np.ones(1)), "process noise must be an array, 0 or more"),
        (lambda m: Noise(np.ones(1), np.array([np.inf])), "measurement noise must be an array, 0 or more"),
        (lambda m: Noise(np.ones(1), np.zeros(1)), "variances of the measurement must be above 0"),
    ],
)
def test_what_does_not_fit_is_refused(wrong, message):
    with pytest.raises(KoopsieveError, match=message):
        wrong(plant_model("linear"))


@pytest.mark.parametrize("wrong", [[0.1], [0.1, np.inf], [0.1, 0.2, 0.3]])
def test_measurements_that_do_not_fit_are_refused(wrong):
    kalman = KalmanFilter(plant_model("linear"), SMALL)
    belief = kalman.start([0.1, 0.2])
    expected = r"must be finite.*, one value per signal \(level, next\)\. Expected \(2,\)"
    with pytest.raises(KoopsieveError, match=f"state {expected}"):
        kalman.start(wrong)
    with pytest.raises(KoopsieveError, match=f"measured {expected}"):
        kalman.update(belief, [0.0], wrong)
    with pytest.raises(KoopsieveError, match=r"acted must be finite, one value per signal \(u1\)"):
        kalman.update(belief, [0.1, 0.2], [0.1, 0.2])
