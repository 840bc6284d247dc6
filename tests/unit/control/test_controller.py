"""Closed loops on a small plant: no offset, limits kept, delays and timing, memory made explicit."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from koopsieve._types import KoopsieveError
from koopsieve.control import ControlLaw, Controller, Limits, Noise, Weights
from koopsieve.control.state_estimate import FromHistory
from koopsieve.data import Trajectories
from koopsieve.dictionary import Constant, States
from koopsieve.forms import BilinearModel, LinearModel
from tests.reference.pendulum import least_squares
from tests.unit.export.models import EMBEDDINGS, FORMS, names_of
from tests.unit.export.plant import plant_model, plant_step

every_form = pytest.mark.parametrize("form", FORMS)
TRACK_NEXT = Weights(outputs=[0.0, 1.0], rates=1e-3)


def closed_loop(controller, reference, steps=80, push=0.0, noise=0.0, seed=0):
    """States and inputs of the plant under control; the push begins after a quarter of the time."""
    rng, x = np.random.default_rng(seed), np.array([0.1, 0.4])
    states, inputs = [x], []
    for k in range(steps):
        u = controller.step(x + noise * rng.normal(size=2), reference)
        x = plant_step(x, u, push if k > steps // 4 else 0.0)
        states.append(x)
        inputs.append(u)
    return np.array(states), np.array(inputs)


@every_form
@pytest.mark.parametrize("estimator", ["history", "kalman"])
def test_there_is_no_offset_under_a_constant_disturbance(form, estimator):
    model = plant_model(form)
    size = len(model.start(np.zeros((1, 2)))[0])
    noise = None if estimator == "history" else Noise(np.full(size, 1e-4), np.full(2, 1e-4))
    controller = Controller(model.to_qp(10, TRACK_NEXT, Limits((-2.0, 2.0))), noise=noise, tolerance=1e-7)
    states, _ = closed_loop(controller, [0.0, 0.8], push=-0.15)
    assert abs(states[-1, 1] - 0.8) < 2e-3
    assert abs(states[19, 1] - 0.8) < 5e-2


@every_form
def test_without_the_estimate_of_the_disturbance_there_is_one(form):
    controller = Controller(plant_model(form).to_qp(10, TRACK_NEXT, Limits((-2.0, 2.0))), gain=0.0)
    states, _ = closed_loop(controller, [0.0, 0.8], push=-0.15)
    assert abs(states[-1, 1] - 0.8) > 0.05


@every_form
def test_inputs_and_their_changes_stay_within_their_limits(form):
    limits = Limits(inputs=(-0.3, 0.35), rates=0.1)
    controller = Controller(plant_model(form).to_qp(10, TRACK_NEXT, limits), acting=0.2)
    _, inputs = closed_loop(controller, [0.0, 5.0], noise=0.05)
    assert inputs.max() == pytest.approx(0.35)
    assert inputs.min() >= -0.3
    changes = np.diff(np.concatenate([[0.2], inputs[:, 0]]))
    assert np.abs(changes).max() <= 0.1 + 1e-12
    assert np.abs(changes).max() == pytest.approx(0.1, abs=1e-4)


@pytest.mark.parametrize("form", ["bilinear", "reprojected"])
def test_outputs_keep_to_their_limits_where_they_can(form):
    limits = Limits(inputs=(-2.0, 2.0), outputs=([-np.inf, -np.inf], [0.3, np.inf]))
    model = plant_model(form)
    states, _ = closed_loop(Controller(model.to_qp(10, TRACK_NEXT, limits), tolerance=1e-7), [0.0, 2.0])
    assert states[:, 0].max() < 0.303
    assert states[-1, 0] == pytest.approx(0.3, abs=3e-3)
    free, _ = closed_loop(Controller(model.to_qp(10, TRACK_NEXT, Limits((-2.0, 2.0)))), [0.0, 2.0])
    assert free[:, 0].max() > 1.0


def test_limits_that_are_beyond_reach_are_exceeded_and_not_an_error():
    limits = Limits(inputs=(-0.1, 0.1), outputs=([1.0, -np.inf], [2.0, np.inf]))
    states, inputs = closed_loop(Controller(plant_model("bilinear").to_qp(10, TRACK_NEXT, limits)), [0.0, 0.4])
    assert states[-1, 0] < 1.0
    assert inputs[-1] == pytest.approx(0.1)  # as far as it can go


@every_form
@pytest.mark.parametrize("embedding", EMBEDDINGS, ids=names_of)
def test_delays_and_timing(form, embedding):
    """The acting input is the one that a controller returns, whatever it is called in the record."""
    controller = Controller(plant_model(form, embedding).to_qp(10, TRACK_NEXT, Limits((-2.0, 2.0))), tolerance=1e-7)
    states, _ = closed_loop(controller, [0.0, 0.8], push=-0.15)
    assert abs(states[-1, 1] - 0.8) < 5e-3


def test_the_nonlinear_forms_plan_better_than_the_linear_one():
    reference = 0.7 + 0.6 * np.sin(0.5 * np.arange(80))
    errors = {}
    for form in FORMS:
        controller = Controller(plant_model(form, bend=0.9).to_qp(10, TRACK_NEXT, Limits((-2.0, 2.0))))
        x, errors[form] = np.array([0.1, 0.4]), []
        for k in range(60):
            wanted = np.column_stack([np.zeros(10), reference[k + 1 : k + 11]])
            x = plant_step(x, controller.step(x, wanted), bend=0.9)
            errors[form].append(x[1] - reference[k + 1])
    spread = {form: np.sqrt(np.mean(np.square(one[10:]))) for form, one in errors.items()}
    assert spread["bilinear"] < 0.5 * spread["linear"]
    assert spread["reprojected"] < 0.5 * spread["linear"]


@every_form
def test_the_law_without_memory_gives_the_same(form):
    problem = plant_model(form).to_qp(8, TRACK_NEXT, Limits((-1.0, 1.0), rates=0.4))
    controller, law = Controller(problem), ControlLaw(problem, FromHistory(problem.model))
    state = law.start()
    rng = np.random.default_rng(0)
    for _ in range(10):
        y = rng.normal(size=2)
        state = law.step(state, y, [0.0, 0.5])
        np.testing.assert_array_equal(controller.step(y, [0.0, 0.5]), state.plan.inputs[0])
    assert state.plan.inputs.shape == (8, 1)


@every_form
def test_a_step_does_not_depend_on_what_the_solver_did_before(form):
    problem = plant_model(form).to_qp(8, TRACK_NEXT, Limits((-1.0, 1.0)))
    used, fresh = (ControlLaw(problem, FromHistory(problem.model), tolerance=1e-7) for _ in range(2))
    state = used.start()
    for _ in range(6):
        state = used.step(state, np.random.default_rng(1).normal(size=2), [0.0, 0.5])
    y = [0.2, 0.1]
    found = used.step(state, y, [0.0, 0.9]).acting
    np.testing.assert_allclose(found, fresh.step(state, y, [0.0, 0.9]).acting, atol=1e-4)


def test_an_input_that_was_overruled_is_told():
    problem = plant_model("bilinear").to_qp(8, TRACK_NEXT, Limits((-1.0, 1.0)))
    controller = Controller(problem, gain=1.0)
    x = np.array([0.1, 0.4])
    controller.step(x, [0.0, 0.8])
    x = plant_step(x, [0.0])  # someone held the valve
    controller.step(x, [0.0, 0.8], acted=[0.0])
    np.testing.assert_allclose(controller.state.situation.disturbance, 0.0, atol=1e-9)
    unaware = Controller(problem, gain=1.0)
    unaware.step([0.1, 0.4], [0.0, 0.8])
    unaware.step(x, [0.0, 0.8])
    assert np.abs(unaware.state.situation.disturbance).max() > 0.05


def test_reset_forgets():
    controller = Controller(plant_model("bilinear").to_qp(8, TRACK_NEXT, Limits((-1.0, 1.0))))
    first = controller.step([0.1, 0.4], [0.0, 0.8])
    controller.step([0.3, 0.4], [0.0, 0.8])
    controller.reset()
    np.testing.assert_allclose(controller.step([0.1, 0.4], [0.0, 0.8]), first, atol=1e-3)


@pytest.mark.parametrize(
    "measured, message",
    [
        ([1.0], r"measured row must be finite.*\(level, next\)\. Expected \(2,\)"),
        ([1.0, np.inf], "measured row must be finite"),
    ],
)
def test_measurements_that_do_not_fit_are_refused(measured, message):
    controller = Controller(plant_model("linear").to_qp(8))
    with pytest.raises(KoopsieveError, match=message):
        controller.step(measured, [0.0, 0.8])


@pytest.mark.parametrize("form", ["linear", "reprojected"])
def test_after_an_input_from_elsewhere_limits_go_before_rates(form):
    """Someone opened the valve far beyond its limit; the next step is back within it, not an error."""
    problem = plant_model(form).to_qp(8, TRACK_NEXT, Limits((-1.0, 1.0), rates=0.1))
    controller = Controller(problem, acting=5.0)
    first = controller.step([0.1, 0.4], [0.0, 0.2])
    assert 0.9 - 1e-9 <= first[0] <= 1.0
    following = controller.step([0.1, 0.4], [0.0, 0.2], acted=[-7.0])
    assert -1.0 <= following[0] <= -0.9 + 1e-9


def test_settings_that_make_no_sense_are_refused():
    problem = plant_model("linear").to_qp(8)
    with pytest.raises(KoopsieveError, match="gain, the share of the newest error, must lie from 0 to 1"):
        Controller(problem, gain=1.5)
    with pytest.raises(KoopsieveError, match="iterations must be a whole number, 1 or more"):
        Controller(problem, iterations=0)
    for tolerance in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(KoopsieveError, match="tolerance, that of the solver, must lie between 0 and 1"):
            Controller(problem, tolerance=tolerance)
    for acting in ([1.0, 2.0], np.nan, [[0.0]]):
        with pytest.raises(KoopsieveError, match=r"acting must be finite, one value per signal \(u1\)"):
            Controller(problem, acting=acting)
    with pytest.raises(KoopsieveError, match=r"must be a ControlProblem, for example model\.to_qp"):
        Controller(problem.model)


def test_osqp_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "osqp", None)
    with pytest.raises(KoopsieveError, match=r"A controller needs osqp.*pip install 'koopsieve\[osqp\]'"):
        Controller(plant_model("linear").to_qp(8)).step([0.0, 0.0], [0.0, 0.8])


def test_a_model_that_diverges_is_an_error_in_words():
    model = plant_model("linear")
    wild = replace(model, A=1e200 * np.eye(len(model.A)))
    with pytest.raises(KoopsieveError, match="predictions over the horizon are not finite"):
        Controller(wild.to_qp(8)).step([0.1, 0.2], [0.0, 0.8])


@pytest.mark.parametrize("form", ["linear", "reprojected"])
def test_limits_may_be_others_in_one_step(form):
    problem = plant_model(form).to_qp(8, TRACK_NEXT, Limits((-1.0, 1.0), rates=1.5))
    controller = Controller(problem)
    assert controller.step([0.1, 0.4], [0.0, 5.0])[0] == pytest.approx(1.0, abs=1e-4)
    assert controller.step([0.1, 0.4], [0.0, 5.0], limits=Limits((-1.0, 0.3)))[0] == pytest.approx(0.3)
    ramp = np.linspace(0.9, 0.2, 8)[:, None]
    controller.step([0.1, 0.4], [0.0, 5.0], limits=Limits((-1.0, ramp), rates=0.05))
    np.testing.assert_allclose(controller.plan.inputs[0], 0.35, atol=1e-4)
    assert (controller.plan.inputs <= ramp).all()
    assert controller.step([0.1, 0.4], [0.0, 5.0])[0] == pytest.approx(1.0, abs=1e-4)
    with pytest.raises(KoopsieveError, match="may change limits, not add new ones"):
        controller.step([0.1, 0.4], [0.0, 5.0], limits=Limits((-1.0, 1.0), outputs=(0.0, 1.0)))


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


def room(x, u):
    return 0.8 * x + 0.15 * u[0] + 0.3 * u[1] + 0.05 * u[1] * x


@pytest.mark.parametrize("form", ["linear", "bilinear"])
def test_a_measured_disturbance_is_met_before_it_acts(form):
    """With a forecast of the weather the heater acts in time, and the room hardly notices."""
    model, outside = two_inputs(form), np.where(np.arange(60) < 30, 0.0, -0.8)
    problem = model.to_qp(10, Weights(1.0, 1e-4), Limits((-3.0, 3.0), rates=0.2), measured_inputs=("outside",))
    worst = {}
    for forecast in (1, 10):
        controller, x = Controller(problem), np.array([0.5])
        gaps = []
        for k in range(50):
            u = controller.step(x, [0.5], measured_inputs=outside[k : k + forecast])
            assert u.shape == (1,)
            assert controller.plan.inputs.shape == (10, 1)
            np.testing.assert_array_equal(controller.plan.acting[:forecast, 0], outside[k : k + forecast])
            x = room(x, np.array([outside[k], u[0]]))
            gaps.append(abs(x[0] - 0.5))
        worst[forecast] = max(gaps[20:])
        assert gaps[-1] < 5e-3
        if form == "bilinear":
            np.testing.assert_allclose(controller.state.situation.disturbance[0], 0.0, atol=1e-6)  # all is explained
    assert worst[10] < 0.6 * worst[1]


def test_measured_inputs_are_named_and_given():
    model = two_inputs("linear")
    for wrong in (("wind",), ("outside", "heater"), ("outside", "outside")):
        with pytest.raises(KoopsieveError, match="measured_inputs must be some of the inputs, not all"):
            model.to_qp(5, measured_inputs=wrong)
    controller = Controller(model.to_qp(5, measured_inputs=("outside",)))
    with pytest.raises(KoopsieveError, match=r"a value for each of \(outside\), are needed at every step"):
        controller.step([0.0], [0.5])
    with pytest.raises(KoopsieveError, match="were given, but the problem has none"):
        Controller(model.to_qp(5)).step([0.0], [0.5], measured_inputs=[0.1])
