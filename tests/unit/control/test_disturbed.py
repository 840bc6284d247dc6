"""Reality: samples that are missing, spikes, jumps that stay, a model file that knows its noise."""

from dataclasses import replace

import numpy as np
import pytest

from koopsieve import Model, Trajectories, calibrate, sift
from koopsieve._types import KoopsieveError
from koopsieve.control import Controller, Innovations, KalmanFilter, Limits, Noise, Weights
from koopsieve.control.state_estimate import MAX_REJECTED
from koopsieve.data import Embedding
from koopsieve.dictionary import Constant, States
from koopsieve.uncertainty import Calibration
from tests.unit.export.models import FORMS, pendulum_model
from tests.unit.export.plant import plant_model, plant_step, record

every_form = pytest.mark.parametrize("form", FORMS)
every_estimator = pytest.mark.parametrize("filtered", [False, True], ids=["history", "kalman"])
DEVIATION = 0.01


def noisy_model(form):
    """The plant with the noise that its sensors have here."""
    model = plant_model(form, noise=0.0)
    process = np.zeros(len(model.carried_names))
    process[:2] = 1e-6 if form != "linear" else 2e-3  # a linear model is wrong by more
    known = Noise(process, np.full(2, DEVIATION**2), np.full(2, 2 * DEVIATION**2 + process[0]))
    return replace(model, calibration=Calibration(noise=known))


def loop(model, filtered, spoil=lambda k, y: y, steps=80, gate=5.0, push=0.0):
    """Inputs and states under control, with measurements that `spoil` may change."""
    problem = model.to_qp(10, Weights([0.0, 1.0], 1e-2), Limits((-2.0, 2.0)))
    controller = Controller(problem, gain=None if filtered else 0.2, gate=gate)
    rng, x, states, inputs = np.random.default_rng(1), np.array([0.1, 0.4]), [], []
    for k in range(steps):
        u = controller.step(spoil(k, x + DEVIATION * rng.normal(size=2)), [0.0, 0.8])
        x = plant_step(x, u, push if k > 40 else 0.0)
        states.append(x)
        inputs.append(u[0])
    return np.array(inputs), np.array(states), controller


@every_form
@every_estimator
def test_a_spike_in_one_sample_moves_the_input_no_more_than_noise(form, filtered):
    model = noisy_model(form)
    spike = lambda k, y: y + np.array([0.0, 5.0 if k == 50 else 0.0])  # noqa: E731
    calm, _, _ = loop(model, filtered)
    spoiled, _, controller = loop(model, filtered, spike)
    open_gate, _, _ = loop(model, filtered, spike, gate=np.inf)
    assert np.abs(spoiled - calm).max() < 0.2
    assert np.abs(open_gate - calm).max() > 5 * np.abs(spoiled - calm).max()
    assert controller.innovations.taken.all()


@every_form
@every_estimator
def test_missing_samples_and_channels_are_predicted(form, filtered):
    model = noisy_model(form)

    def spoil(k, y):
        return np.full(2, np.nan) if 30 <= k < 36 else np.where([k % 3 == 0, k % 4 == 0], np.nan, y) if k else y

    _, states, _ = loop(model, filtered, spoil)
    assert np.abs(states[20:, 1] - 0.8).max() < (0.15 if form == "linear" else 0.06)


@every_estimator
def test_a_jump_that_stays_is_taken(filtered):
    """No spike lasts longer than the gate allows, so a sensor that was moved, or a real change, gets through."""
    model = noisy_model("bilinear")
    jump = lambda k, y: y + np.array([0.0, 1.0 if k >= 50 else 0.0])  # noqa: E731
    taken = []
    problem = model.to_qp(10, Weights([0.0, 1.0], 1e-2), Limits((-2.0, 2.0)))
    controller = Controller(problem, gain=None if filtered else 0.2)
    rng, x = np.random.default_rng(1), np.array([0.1, 0.4])
    for k in range(70):
        x = plant_step(x, controller.step(jump(k, x + DEVIATION * rng.normal(size=2)), [0.0, 0.8]))
        taken.append(controller.innovations.taken[1])
    assert taken[:50] == [True] * 50
    assert taken[50 : 50 + MAX_REJECTED + 1] == [False] * MAX_REJECTED + [True]


@every_estimator
def test_innovations_say_whether_the_model_is_right(filtered):
    _, _, controller = loop(noisy_model("bilinear"), filtered)
    assert controller.innovations.consistent
    assert 0.5 < controller.innovations.spread.mean() < 1.6
    _, _, wrong = loop(noisy_model("bilinear"), filtered, steps=46, push=0.3)
    assert not wrong.innovations.consistent
    assert Innovations.none(2).consistent  # nothing is known yet


@pytest.mark.parametrize("first", [[np.nan, 0.4], [np.nan, np.nan]])
def test_the_first_measurement_must_be_whole(first):
    with pytest.raises(KoopsieveError, match="The first measured row must be finite, one value per signal"):
        Controller(plant_model("linear").to_qp(8)).step(first, [0.0, 0.8])


def test_without_a_correction_the_filter_only_predicts():
    model = noisy_model("bilinear")
    kalman = KalmanFilter(model)
    belief = kalman.start([0.2, 0.3])
    blind = kalman.update(belief, [0.5], [np.nan, np.nan])
    np.testing.assert_allclose(blind.carried[:2], plant_step([0.2, 0.3], [0.5]), atol=1e-9)
    seen = kalman.update(belief, [0.5], plant_step([0.2, 0.3], [0.5]))
    half = kalman.update(belief, [0.5], [plant_step([0.2, 0.3], [0.5])[0], np.nan])
    traces = [np.trace(one.covariance) for one in (seen, half, blind)]
    assert traces[0] < traces[1] < traces[2]


@every_form
def test_a_filter_starts_from_measured_rows(form):
    embedding = Embedding(1, 2)
    model, rng = pendulum_model(form, embedding), np.random.default_rng(0)
    size = len(model.carried_names)
    kalman = KalmanFilter(model, Noise(np.full(size, 1e-4), np.full(2, 1e-2)))
    rows, inputs = rng.normal(size=(5, 2)), rng.normal(size=(4, 2))
    state = np.concatenate([rows[-1], rows[-2], inputs[-1], inputs[-2]])
    np.testing.assert_array_equal(kalman.start(rows, inputs).carried, kalman.start(state).carried)
    with pytest.raises(KoopsieveError, match="history must hold the last 3 or more rows"):
        kalman.start(rows[:2], inputs[:1])
    with pytest.raises(KoopsieveError, match=r"inputs must have a column per input"):
        kalman.start(rows, inputs[:2])


def test_noise_travels_with_the_model_and_its_file(tmp_path):
    data = record(1500, noise=0.02)
    result = sift(data, States() + Constant(), form="bilinear", horizons=[1, 5])
    for name, model in (("kept", result.model), ("linear", result.baselines["linear"].model)):
        model.save(tmp_path / f"{name}.npz")
        read = Model.load(tmp_path / f"{name}.npz")
        np.testing.assert_array_equal(read.noise.process, model.noise.process)
        np.testing.assert_array_equal(read.noise.one_step, model.noise.one_step)
        assert len(KalmanFilter(read).start([0.1, 0.2]).carried) == len(model.carried_names)
    assert np.sqrt(result.model.noise.measurement) == pytest.approx([0.02, 0.02], rel=0.15)


@every_form
def test_noise_of_held_out_errors_is_what_was_put_in(form):
    """The bilinear and reprojected models are exact, so all of it is noise of the sensors."""
    model = calibrate(plant_model(form), record(3000, seed=5, noise=0.05), horizon=6)
    sensors = np.sqrt(model.noise.measurement)
    if form == "linear":
        assert (model.noise.process[:2] > 0).all()
    else:
        assert sensors == pytest.approx([0.05, 0.05], rel=0.15)
    with pytest.raises(KoopsieveError, match="does not know its noise"):
        KalmanFilter(plant_model(form))


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


def test_a_controller_filters_with_the_noise_that_its_model_knows():
    model = noisy_model("bilinear")
    problem = model.to_qp(5)
    assert Controller(problem).law.estimator.kalman.noise is model.noise
    assert Controller(problem, gain=0.3).law.estimator.gain == 0.3
    unknown = plant_model("bilinear")
    assert Controller(unknown.to_qp(5)).law.estimator.gain == 0.2


@every_estimator
def test_another_model_can_take_over(filtered):
    """One that carries other numbers begins at the measured state; the plan goes on as a first guess."""
    controller = Controller(noisy_model("bilinear").to_qp(5), gain=None if filtered else 0.2)
    for _ in range(3):
        controller.step([0.1, 0.2], [0.0, 0.0])
    controller.follow_model(noisy_model("reprojected"))
    assert np.isfinite(controller.step([0.1, 0.2], [0.0, 0.0])).all()
    assert len(controller.state.situation.carried) == 2
