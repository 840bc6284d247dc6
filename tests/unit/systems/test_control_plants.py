"""The plants to control follow their equations, and the loop measures what it says."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from benchmarks.systems.control_plants import heater_task, levitation_task, unseen_tasks
from koopsieve._types import KoopsieveError
from koopsieve.systems import (
    HERON_QUADRATIC,
    control_tasks,
    duffing,
    follow,
    random_drive,
    stirred_tank,
    surface_vehicle,
    two_tanks,
    van_der_pol,
)
from koopsieve.systems.control_tasks import reactor_task, tanks_task, vehicle_task


def tank_field(x, pump, leak=0.0):
    over = 0.04 * max(x[0] - 0.5, 0.0) ** 1.5
    through, out = 1.2e-3 * np.sqrt(x[0]), 1.2e-3 * np.sqrt(x[1])
    return np.array([2e-4 * pump - through - over, through + 0.3 * over - out - leak]) / 0.05


def reactor_field(x, flow, richer=0.0):
    reactions = 5 / 6 * x[0], 5 / 3 * x[1], x[0] ** 2 / 6
    feed = 10.0 + richer - x[0]
    return np.array([flow * feed - reactions[0] - reactions[2], reactions[0] - reactions[1] - flow * x[1]])


def by_scipy(field, drive, dt, initial):
    states = [np.array(initial)]
    for u in drive:
        end = solve_ivp(lambda _, x, u=u: field(x, *u), (0, dt), states[-1], rtol=1e-10, atol=1e-12)
        states.append(end.y[:, -1])
    return np.array(states)


@pytest.mark.parametrize("extra", [0, 1])
def test_the_tanks_follow_their_equations(extra):
    drive = np.array([[3.0, 0.0], [9.0, 5e-5], [9.0, 0.0], [9.0, 5e-5], [2.0, 1e-5]])[:, : 1 + extra]
    found = two_tanks(drive, 20.0, initial=(0.4, 0.3))
    assert found[:, 0].max() > 0.5  # overflows
    np.testing.assert_allclose(found, by_scipy(tank_field, drive, 20.0, (0.4, 0.3)), rtol=1e-4)


@pytest.mark.parametrize(
    ("simulate", "field"),
    [
        (duffing, lambda x, u: [x[1], -0.3 * x[1] + x[0] - x[0] ** 3 + u]),
        (van_der_pol, lambda x, u: [x[1], (1 - x[0] ** 2) * x[1] - x[0] + u]),
    ],
)
def test_the_oscillators_follow_their_equations(simulate, field):
    drive = random_drive(60, 10, 1.0, 0)
    np.testing.assert_allclose(simulate(drive, 0.05), by_scipy(field, drive, 0.05, (1.0, 0.0)), atol=1e-7)


@pytest.mark.parametrize("extra", [0, 1])
def test_the_reactor_follows_its_equations(extra):
    drive = np.array([[0.5, 0.0], [2.0, -0.5], [0.2, 0.4]])[:, : 1 + extra]
    found = stirred_tank(drive, 0.3)
    np.testing.assert_allclose(found, by_scipy(reactor_field, drive, 0.3, (3.0, 1.117)), rtol=1e-7)


def test_the_gain_of_the_reactor_changes_its_sign():
    at_rest = [stirred_tank(np.full((400, 1), flow))[-1, 1] for flow in (0.6, 1.3, 3.0)]
    assert at_rest[1] > max(at_rest[0], at_rest[2]) + 0.05


def test_wind_pushes_the_vehicle():
    thrust = np.array([[5.0, 3.0, 0.0], [5.0, 3.0, -4.0]])
    still, windy = (surface_vehicle(rows, vehicle=HERON_QUADRATIC) for rows in (thrust[:, :2], thrust))
    np.testing.assert_array_equal(still[1], windy[1])
    assert windy[2, 0] < still[2, 0]
    with pytest.raises(KoopsieveError, match="drive must have the columns left, right and, if wanted, push"):
        surface_vehicle(np.zeros((3, 4)))


@pytest.mark.parametrize("simulate", [two_tanks, stirred_tank, duffing])
def test_a_drive_of_another_shape_is_refused(simulate):
    with pytest.raises(KoopsieveError, match=r"drive must have .*Got shape \(5,\)"):
        simulate(np.zeros(5))


class Recorder:
    """Applies one input, and keeps what it was shown."""

    def __init__(self, value):
        self.value, self.shown = np.atleast_1d(value), []

    def step(self, measured, reference):
        self.shown.append((np.array(measured), np.array(reference)))
        return self.value


@pytest.mark.parametrize("task", [vehicle_task(20), tanks_task(20), reactor_task(20)], ids=lambda task: task.name)
def test_a_loop_shows_noisy_outputs_and_the_reference_ahead(task):
    recorder = Recorder(task.acting)
    run = follow(task, recorder, seed=1)
    assert run.states.shape == (21, len(task.outputs))
    assert run.inputs.shape == (20, len(task.inputs))
    measured = np.array([one for one, _ in recorder.shown])
    spread = (measured - run.states[:-1]) / task.noise
    assert 0.5 < spread.std() < 1.5
    np.testing.assert_array_equal(recorder.shown[3][1], task.reference[4 : 4 + task.horizon])
    assert len(recorder.shown[-1][1]) == task.horizon
    drive = np.hstack([run.inputs, task.disturbance])
    np.testing.assert_allclose(run.states, task.simulate(drive, task.initial), rtol=1e-12)
    followed = np.array(task.output_weights) > 0
    gap = (run.states - task.reference[:21])[5:, followed]
    assert run.tracking_error == pytest.approx(np.sqrt((gap**2).mean()))
    assert run.offset == pytest.approx(np.abs(gap[-5:].mean(axis=0)).max())
    low, high = map(np.array, task.output_limits)
    costs = []
    for y, r, u, before in zip(
        run.states[1:], task.reference[1:], run.inputs, [task.acting, *run.inputs[:-1]], strict=False
    ):
        over = np.maximum(np.maximum(y - high, low - y), 0.0)
        costs.append(0.5 * (y - r) ** 2 @ task.output_weights + 0.5 * (u - before) ** 2 @ task.rate_weights)
        costs[-1] += 10.0 * (over + 0.5 * over**2).sum()
    assert run.cost == pytest.approx(np.mean(costs[4:]))
    assert (run.violation > 0) == (run.violations > 0)
    assert run.milliseconds >= 0


def test_beyond_the_limits_is_counted():
    task = tanks_task(60)
    run = follow(task, Recorder(10.0), seed=0)
    over = run.states[:, 0] - 0.57
    assert run.violation == pytest.approx(over.max())
    assert run.violations == pytest.approx((over > 0).mean())
    assert run.violations > 0.5


def test_records_excite_the_whole_range_and_repeat_with_their_seed():
    for task in control_tasks():
        y, u = task.record(500, seed=3)
        assert y.shape == (500, len(task.outputs))
        assert u.shape == (499, len(task.inputs))
        low, high = map(np.array, task.input_limits)
        assert (u.min(axis=0) < low + 0.1 * (high - low)).all()
        assert (u.max(axis=0) > high - 0.1 * (high - low)).all()
        np.testing.assert_array_equal(y, task.record(500, seed=3)[0])


class Follower(Recorder):
    """Keeps a plant where it is, from all of its states."""

    def step(self, measured, reference):
        super().step(measured, reference)
        return np.array([measured[0] / 10 + 0.3 * (measured[0] - 10) + 0.5 * measured[1]])


@pytest.mark.parametrize("task", unseen_tasks(), ids=lambda task: task.name)
def test_what_is_not_measured_is_not_shown_and_dead_time_passes(task):
    y, u = task.record(300, seed=2)
    assert y.shape == (300, len(task.outputs))
    assert np.isfinite(y).all()
    assert (u >= task.input_limits[0]).all()
    assert (u <= task.input_limits[1]).all()
    partly, wholly = Recorder(task.acting), Recorder(task.acting)
    run = follow(task, partly, seed=1, steps=3)
    follow(task, wholly, seed=1, steps=3, whole_state=True)
    assert len(partly.shown[0][0]) == len(task.outputs)
    assert len(wholly.shown[0][0]) == len(task.initial)
    places = list(task.measured or range(len(task.initial)))
    np.testing.assert_array_equal(wholly.shown[2][0][places], partly.shown[2][0])
    np.testing.assert_array_equal(run.outputs, run.states[:, places])


def test_the_heater_is_late_and_the_ball_needs_feedback():
    heater, ball = heater_task(20), levitation_task(60)
    warm = follow(heater, Recorder(10.0), seed=0).states[:, 0]
    assert np.abs(np.diff(warm[: heater.dead_time + 1])).max() < 0.05
    assert np.diff(warm)[heater.dead_time] > 1.0
    assert follow(ball, Recorder(1.05), seed=0).states[-1, 0] < 6.0  # drawn to the magnet
    held = follow(ball, Follower(0.0), seed=0, whole_state=True).states[:, 0]
    assert np.abs(held[:20] - 10).max() < 1.0
