"""Closed loops on a small plant: no offset, limits kept, delays and timing, spikes, missing samples, memory."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.control import ControlLaw, Controller, Innovations, Limits, Noise, Weights
from koopsieve.control.state_estimate import MAX_REJECTED, FromHistory
from koopsieve.data import Trajectories
from koopsieve.dictionary import Constant, States
from koopsieve.forms import BilinearModel, LinearModel
from koopsieve.uncertainty import Calibration, Support
from tests.reference.pendulum import least_squares
from tests.unit.export.models import EMBEDDINGS, NO_DELAYS
from tests.unit.export.plant import PLANT_FORMS, plant_model, plant_step

every_form = pytest.mark.parametrize("form", PLANT_FORMS)
every_estimator = pytest.mark.parametrize("filtered", [False, True], ids=["history", "kalman"])
WIDE, REFERENCE, DEVIATION = Limits((-2.0, 2.0)), [0.0, 0.8], 0.01


def problem_of(model, limits=WIDE, horizon=10, rates=1e-3, **more):
    return model.to_qp(horizon, Weights([0.0, 1.0], rates), limits, **more)


def noisy_model(form):
    """The plant with the noise that its sensors have here."""
    model = plant_model(form)
    process = np.zeros(len(model.carried_names))
    process[:2] = 1e-6 if form != "linear" else 2e-3  # a linear model is wrong by more
    known = Noise(process, np.full(2, DEVIATION**2), np.full(2, 2 * DEVIATION**2 + process[0]))
    return replace(model, calibration=Calibration(noise=known))


def closed_loop(controller, reference=REFERENCE, steps=80, push=0.0, noise=0.0, spoil=lambda k, y: y, bend=0.3):
    """States, inputs and which measurements of the second output were taken; the push begins at half of the time."""
    rng, x = np.random.default_rng(1), np.array([0.1, 0.4])
    states, inputs, taken = [x], [], []
    for k in range(steps):
        wanted = reference(k) if callable(reference) else reference
        u = controller.step(spoil(k, x + noise * rng.normal(size=2)), wanted)
        x = plant_step(x, u, push if k > steps // 2 else 0.0, bend)
        states.append(x)
        inputs.append(u)
        taken.append(controller.innovations.taken[1])
    return np.array(states), np.array(inputs), taken


def watched(model, filtered, gate=5.0, **loop):
    """The same with a noisy sensor."""
    controller = Controller(problem_of(model, rates=1e-2), gain=None if filtered else 0.2, gate=gate)
    return *closed_loop(controller, noise=DEVIATION, **loop), controller


@every_form
@pytest.mark.parametrize("filtered, embedding", [(False, one) for one in EMBEDDINGS] + [(True, NO_DELAYS)])
def test_there_is_no_offset_under_a_constant_disturbance(form, filtered, embedding):
    """The acting input is the one that a controller returns, whatever it is called in the record."""
    model = plant_model(form, embedding)
    noise = Noise(np.full(len(model.carried_names), 1e-4), np.full(2, 1e-4)) if filtered else None
    controller = Controller(problem_of(model), noise=noise, tolerance=1e-7)
    states, _, _ = closed_loop(controller, steps=120, push=-0.15)
    assert abs(states[-1, 1] - 0.8) < (5e-3 if embedding.history > 1 else 2e-3)
    assert abs(states[19, 1] - 0.8) < 5e-2
    if not filtered and embedding.history == 1:
        blind, _, _ = closed_loop(Controller(problem_of(model), gain=0.0), push=-0.15)
        assert abs(blind[-1, 1] - 0.8) > 0.05


@every_form
def test_inputs_and_their_changes_stay_within_their_limits(form):
    controller = Controller(problem_of(plant_model(form), Limits((-0.3, 0.35), rates=0.1)), acting=0.2)
    _, inputs, _ = closed_loop(controller, [0.0, 5.0], noise=0.05)
    assert inputs.max() == pytest.approx(0.35)
    assert inputs.min() >= -0.3
    changes = np.abs(np.diff(np.concatenate([[0.2], inputs[:, 0]]))).max()
    assert changes <= 0.1 + 1e-12
    assert changes == pytest.approx(0.1, abs=1e-4)


@pytest.mark.parametrize("form", ["bilinear", "reprojected"])
def test_outputs_keep_to_their_limits_where_they_can(form):
    model, limits = plant_model(form), replace(WIDE, outputs=([-np.inf, -np.inf], [0.3, np.inf]))
    states, _, _ = closed_loop(Controller(problem_of(model, limits), tolerance=1e-7), [0.0, 2.0])
    assert states[:, 0].max() < 0.303
    assert states[-1, 0] == pytest.approx(0.3, abs=3e-3)
    free, _, _ = closed_loop(Controller(problem_of(model)), [0.0, 2.0])
    assert free[:, 0].max() > 1.0
    beyond = Limits((-0.1, 0.1), outputs=([1.0, -np.inf], [2.0, np.inf]))
    states, inputs, _ = closed_loop(Controller(problem_of(model, beyond)), [0.0, 0.4])
    assert states[-1, 0] < 1.0  # out of reach, which is no error
    assert inputs[-1] == pytest.approx(0.1)  # as far as it can go


def test_the_nonlinear_forms_plan_better_than_the_linear_one():
    wave, spread = 0.7 + 0.6 * np.sin(0.5 * np.arange(80)), {}
    for form in PLANT_FORMS:
        controller = Controller(problem_of(plant_model(form, bend=0.9)))
        ahead = lambda k: np.column_stack([np.zeros(10), wave[k + 1 : k + 11]])  # noqa: E731
        states, _, _ = closed_loop(controller, ahead, steps=60, bend=0.9)
        spread[form] = np.sqrt(np.mean((states[11:, 1] - wave[11:61]) ** 2))
    assert max(spread["bilinear"], spread["reprojected"]) < 0.5 * spread["linear"]


@every_form
def test_the_law_without_memory_gives_the_same_whatever_the_solver_did_before(form):
    problem = problem_of(plant_model(form), Limits((-1.0, 1.0), rates=0.4), horizon=8)
    controller, rng = Controller(problem, tolerance=1e-7), np.random.default_rng(0)
    law, fresh = (ControlLaw(problem, FromHistory(problem.model), tolerance=1e-7) for _ in range(2))
    state, measured = law.start(), rng.normal(size=(10, 2))
    for y in measured:
        state = law.step(state, y, [0.0, 0.5])
        np.testing.assert_array_equal(controller.step(y, [0.0, 0.5]), state.plan.inputs[0])
    assert state.plan.inputs.shape == (8, 1)
    found = [one.step(state, [0.2, 0.1], [0.0, 0.9]).acting for one in (law, fresh)]
    np.testing.assert_allclose(*found, atol=1e-4)
    controller.reset()
    np.testing.assert_allclose(
        controller.step(measured[0], [0.0, 0.5]), law.step(law.start(), measured[0], [0.0, 0.5]).acting, atol=1e-4
    )


def test_an_input_that_was_overruled_is_told():
    problem, disturbances = problem_of(plant_model("bilinear"), horizon=8), []
    held = plant_step([0.1, 0.4], [0.0])  # someone held the valve
    for options in ({"acted": [0.0]}, {}):
        controller = Controller(problem, gain=1.0)
        controller.step([0.1, 0.4], REFERENCE)
        controller.step(held, REFERENCE, **options)
        disturbances.append(np.abs(controller.state.situation.disturbance).max())
    assert disturbances[0] < 1e-9
    assert disturbances[1] > 0.05


@pytest.mark.parametrize("form", ["linear", "reprojected"])
def test_limits_go_before_rates_and_may_be_others_in_one_step(form):
    """Someone opened the valve far beyond its limit; the next step is back within it, not an error."""
    problem = problem_of(plant_model(form), Limits((-1.0, 1.0), rates=0.1), horizon=8)
    controller = Controller(problem, acting=5.0)
    assert 0.9 - 1e-9 <= controller.step([0.1, 0.4], [0.0, 0.2])[0] <= 1.0
    assert -1.0 <= controller.step([0.1, 0.4], [0.0, 0.2], acted=[-7.0])[0] <= -0.9 + 1e-9

    controller = Controller(problem_of(problem.model, Limits((-1.0, 1.0), rates=1.5), horizon=8))
    given, ramp = ([0.1, 0.4], [0.0, 5.0]), np.linspace(0.9, 0.2, 8)[:, None]
    assert controller.step(*given)[0] == pytest.approx(1.0, abs=1e-4)
    assert controller.step(*given, limits=Limits((-1.0, 0.3)))[0] == pytest.approx(0.3)
    assert controller.step(*given, limits=Limits((-1.0, ramp), rates=0.05))[0] == pytest.approx(0.35, abs=1e-4)
    assert (controller.plan.inputs <= ramp).all()
    assert controller.step(*given)[0] == pytest.approx(1.0, abs=1e-4)
    with pytest.raises(KoopsieveError, match="may change limits, not add new ones"):
        controller.step(*given, limits=Limits((-1.0, 1.0), outputs=(0.0, 1.0)))


@every_form
@every_estimator
def test_a_spike_in_one_sample_moves_the_input_no_more_than_noise(form, filtered):
    model, spike = noisy_model(form), lambda k, y: y + np.array([0.0, 5.0 if k == 50 else 0.0])
    _, calm, _, _ = watched(model, filtered)
    _, spoiled, taken, _ = watched(model, filtered, spoil=spike)
    _, open_gate, _, _ = watched(model, filtered, np.inf, spoil=spike)
    assert np.flatnonzero(~np.array(taken)).tolist() == [50]
    assert np.abs(spoiled - calm).max() < 0.2
    assert np.abs(open_gate - calm).max() > 5 * np.abs(spoiled - calm).max()


@every_form
@every_estimator
def test_missing_samples_and_channels_are_predicted(form, filtered):
    def spoil(k, y):
        return np.full(2, np.nan) if 30 <= k < 36 else np.where([k % 3 == 0, k % 4 == 0], np.nan, y) if k else y

    states, _, _, _ = watched(noisy_model(form), filtered, spoil=spoil)
    assert np.abs(states[21:, 1] - 0.8).max() < (0.15 if form == "linear" else 0.06)


@every_form
@every_estimator
def test_a_sensor_that_fails_for_some_samples_is_soon_forgotten(form, filtered):
    """An innovation counts as no larger than the data of the model are wide, if the model knows them."""
    model, states, failed = noisy_model(form), {}, np.array([0.0, 1e6])
    region, reach = np.outer([-1.0, 1.0], [2.0, 2.0, 1.0]), np.outer([-1.0, 1.0], [3.0, 3.0])
    known = Support(("level",), np.zeros((1, 1)), 1.0, region, reach)
    for name, support in (("known", known), ("unknown", None)):
        one = replace(model, calibration=replace(model.calibration, support=support))
        states[name], *_ = watched(one, filtered, steps=120, spoil=lambda k, y: y + failed * (40 <= k < 43))
    assert np.abs(states["known"][80:, 1] - 0.8).max() < 0.05
    assert np.abs(states["unknown"][80:, 1] - 0.8).max() > 0.2


@every_estimator
def test_jumps_that_stay_are_taken_and_innovations_say_whether_the_model_is_right(filtered):
    """No spike lasts longer than the gate allows, so a sensor that was moved, or a real change, gets through."""
    model = noisy_model("bilinear")
    _, _, taken, _ = watched(model, filtered, 8.0, spoil=lambda k, y: y + np.array([0.0, 1.0 if k >= 50 else 0.0]))
    assert taken[: 51 + MAX_REJECTED] == [True] * 50 + [False] * MAX_REJECTED + [True]
    *_, right = watched(model, filtered)
    assert right.innovations.consistent
    assert 0.5 < right.innovations.spread.mean() < 1.6
    *_, wrong = watched(model, filtered, steps=46, push=0.3)
    assert not wrong.innovations.consistent
    assert Innovations.none(2).consistent  # nothing is known yet


def test_a_controller_filters_with_the_noise_that_its_model_knows():
    model = noisy_model("bilinear")
    assert Controller(model.to_qp(5)).law.estimator.kalman.noise is model.noise
    assert Controller(model.to_qp(5), gain=0.3).law.estimator.gain == 0.3
    assert Controller(plant_model("bilinear").to_qp(5)).law.estimator.gain == 0.2


@every_estimator
def test_another_model_can_take_over(filtered):
    """One that carries other numbers begins at the measured state; the plan goes on as a first guess."""
    controller = Controller(noisy_model("bilinear").to_qp(5), gain=None if filtered else 0.2)
    for _ in range(3):
        controller.step([0.1, 0.2], [0.0, 0.0])
    controller.follow_model(noisy_model("reprojected"))
    assert np.isfinite(controller.step([0.1, 0.2], [0.0, 0.0])).all()
    assert len(controller.state.situation.carried) == 2


def room(x, u):
    return 0.8 * x + 0.15 * u[0] + 0.3 * u[1] + 0.05 * u[1] * x


def two_inputs(form):
    """A plant with a heater and the temperature outside, which is measured."""
    rng = np.random.default_rng(0)
    u, x = rng.uniform(-1, 1, size=(300, 2)), np.zeros((301, 1))
    for k in range(300):
        x[k + 1] = room(x[k], u[k])
    data = Trajectories.from_arrays(x, u, dt=1.0, state_names=["room"], input_names=["outside", "heater"])
    phi = (States() + Constant()).fit(data)
    if form == "bilinear":
        return BilinearModel.from_estimate(least_squares(data, phi.bilinear()), phi)
    return LinearModel.from_estimate(least_squares(data, phi), phi)


@pytest.mark.parametrize("form", ["linear", "bilinear"])
def test_a_measured_disturbance_is_met_before_it_acts(form):
    """With a forecast of the weather the heater acts in time, and the room hardly notices."""
    model, outside, worst = two_inputs(form), np.where(np.arange(60) < 30, 0.0, -0.8), {}
    problem = model.to_qp(10, Weights(1.0, 1e-4), Limits((-3.0, 3.0), rates=0.2), measured_inputs=("outside",))
    for forecast in (1, 10):
        controller, x, gaps = Controller(problem), np.array([0.5]), []
        for k in range(50):
            u = controller.step(x, [0.5], measured_inputs=outside[k : k + forecast])
            assert (u.shape, controller.plan.inputs.shape) == ((1,), (10, 1))
            np.testing.assert_array_equal(controller.plan.acting[:forecast, 0], outside[k : k + forecast])
            x = room(x, np.array([outside[k], u[0]]))
            gaps.append(abs(x[0] - 0.5))
        worst[forecast] = max(gaps[20:])
        assert gaps[-1] < 5e-3
        if form == "bilinear":
            np.testing.assert_allclose(controller.state.situation.disturbance[0], 0.0, atol=1e-6)  # all is explained
    assert worst[10] < 0.6 * worst[1]


def wild(model):
    return replace(model, A=1e200 * np.eye(len(model.A)))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda m: Controller(m.to_qp(8), gain=1.5), "gain, the share of the newest error, must lie from 0 to 1"),
        (lambda m: Controller(m.to_qp(8), noise=Noise(np.ones(3), np.ones(2)), gain=0.2), "Give one of the two"),
        (lambda m: Controller(m.to_qp(8), gain=0.2, drift=0.1), "drift= has no effect without a filter"),
        (lambda m: Controller(m.to_qp(8), iterations=0), "iterations must be a whole number, 1 or more"),
        (lambda m: Controller(m.to_qp(8), tolerance=0.0), "tolerance, that of the solver, must lie between 0 and 1"),
        (lambda m: Controller(m.to_qp(8), tolerance=np.nan), "tolerance, that of the solver, must lie between 0 and"),
        (lambda m: Controller(m.to_qp(8), time_limit=-1.0), "time_limit, the seconds of a step, must be a finite num"),
        (lambda m: Controller(m.to_qp(8), acting=[1.0, 2.0]), r"acting must be finite, one value per signal \(u1\)"),
        (lambda m: Controller(m.to_qp(8), acting=np.nan), r"acting must be finite, one value per signal \(u1\)"),
        (lambda m: Controller(m.to_qp(8), acting=[[0.0]]), r"acting must be finite, one value per signal \(u1\)"),
        (Controller, r"Expected a ControlProblem, got LinearModel\. Make it with model\.to_qp"),
        (lambda m: Controller(m.to_qp(8)).plan, "no plan before the first step"),
        (
            lambda m: Controller(m.to_qp(8)).step([1.0], REFERENCE),
            r"measured row must be finite.*\(level, next\)\. Exp",
        ),
        (lambda m: Controller(m.to_qp(8)).step([np.nan, 0.4], REFERENCE), "The first measured row must be finite, one"),
        (lambda m: Controller(m.to_qp(8)).step([1.0, np.inf], REFERENCE), "measured row must be finite"),
        (lambda m: Controller(wild(m).to_qp(8)).step([0.1, 0.2], REFERENCE), "predictions over the horizon are not fi"),
        (lambda m: m.to_qp(5, measured_inputs=("wind",)), "measured_inputs must be some of the inputs, not all"),
        (lambda m: m.to_qp(5, measured_inputs=("u1",)), "measured_inputs must be some of the inputs, not all"),
        (lambda m: two_inputs("linear").to_qp(5, measured_inputs=("outside",) * 2), "must be some of the inputs, not"),
        (
            lambda m: Controller(two_inputs("linear").to_qp(5, measured_inputs="outside")).step([0.0], [0.5]),
            r"a value for each of \(outside\), are needed at every step",
        ),
        (
            lambda m: Controller(m.to_qp(5)).step([0.1, 0.2], REFERENCE, measured_inputs=[0.1]),
            "were given, but the problem has none",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(KoopsieveError, match=message):
        call(plant_model("linear"))


def test_osqp_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "osqp", None)
    with pytest.raises(KoopsieveError, match=r"A controller needs osqp.*pip install 'koopsieve\[osqp\]'"):
        Controller(plant_model("linear").to_qp(8)).step([0.0, 0.0], REFERENCE)
