"""Plants under control: the loop shows and measures what it says."""

import numpy as np
import pytest

from benchmarks.systems.control_plants import heater_task, levitation_task, unseen_tasks
from koopsieve.systems import follow, reactor_task, tanks_task, vehicle_task


class Recorder:
    """Applies one input, or one that grows, and keeps what it was shown."""

    def __init__(self, value, rise=0.0):
        self.value, self.rise, self.shown = np.atleast_1d(value), rise, []

    def step(self, measured, reference):
        self.shown.append((np.array(measured), np.array(reference)))
        return self.value + self.rise * len(self.shown)


@pytest.mark.parametrize("task", [vehicle_task(20), tanks_task(20), reactor_task(20)], ids=lambda task: task.name)
def test_a_loop_shows_noisy_outputs_and_the_reference_ahead(task):
    recorder = Recorder(task.acting, rise=0.02 * np.ptp(task.input_limits, axis=0))
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
    for task in (vehicle_task(), tanks_task(), reactor_task()):
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
