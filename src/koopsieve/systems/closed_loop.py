"""Plants to control, in simulation: measurements, disturbances and references.

A controller is anything with `step(measured, reference) -> input`. It sees measurements with noise and the reference
over its horizon; the disturbance it does not see.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray
from koopsieve.systems.integrate import State, integrate

SETTLING_SAMPLES = 5  # at the start, which do not count: no controller has a state estimate yet


class Steps(Protocol):
    """A controller, as far as the loop is concerned."""

    def step(self, measured: ArrayLike, reference: ArrayLike) -> FloatArray: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class ControlTask:
    """A plant and what a controller has to do with it.

    Parameters
    ----------
    name : str
    outputs, inputs : tuple of str
        All states are measured.
    output_units, input_units : tuple of str
    dt, max_step : float
        Sample time, and the longest step of the integration.
    time_unit : str
        Of both.
    derivative : callable
        (state, drive, maths) to the state's time derivative; drive is the inputs followed by the disturbances, and
        maths is NumPy or CasADi.
    noise : tuple of float
        Standard deviation of the measurement noise of every output.
    initial, acting : tuple of float
        State and input at the beginning.
    hold : int
        Samples for which each random level is held when the plant is excited for its identification.
    horizon : int
        Prediction horizon of a controller.
    output_weights, rate_weights : tuple of float
        What a controller minimises; an output with weight 0 has no reference.
    input_limits, output_limits : pair of tuples of float
        Least and largest values.
    reference : array, shape (steps + horizon + 1, n_outputs)
    disturbance : array, shape (steps, d)
        Added after the inputs in the drive.
    disturbed_by : str
        What the disturbance is.
    """

    name: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    output_units: tuple[str, ...]
    input_units: tuple[str, ...]
    dt: float
    time_unit: str
    max_step: float
    derivative: Callable[[Any, Any, Any], Any]
    noise: tuple[float, ...]
    initial: tuple[float, ...]
    acting: tuple[float, ...]
    hold: int
    horizon: int
    output_weights: tuple[float, ...]
    rate_weights: tuple[float, ...]
    input_limits: tuple[tuple[float, ...], tuple[float, ...]]
    output_limits: tuple[tuple[float, ...], tuple[float, ...]]
    reference: FloatArray
    disturbance: FloatArray
    disturbed_by: str

    def simulate(self, drive: FloatArray, initial: Iterable[float]) -> FloatArray:
        """Return the states under inputs and disturbances held over each sample, one row more than `drive`."""

        def derivative(state: State, held: State) -> State:
            return tuple(float(value) for value in self.derivative(state, held, np))

        return integrate(derivative, initial, drive, self.dt, self.max_step)

    def record(self, samples: int, seed: int) -> tuple[FloatArray, FloatArray]:
        """Return measured outputs (samples, n) and inputs (samples − 1, l) of an excitation over the whole range."""
        rng = np.random.default_rng(seed)
        levels = rng.uniform(*self.input_limits, size=(-(-samples // self.hold), len(self.inputs)))
        inputs = np.repeat(levels, self.hold, axis=0)[: samples - 1]
        states = self.simulate(inputs, self.initial)
        return states + rng.normal(size=states.shape) * self.noise, inputs


@dataclass(frozen=True, eq=False)
class ClosedLoopRun:
    """What a controller did.

    Parameters
    ----------
    task : ControlTask
    states : array, shape (steps + 1, n)
        Without noise.
    inputs : array, shape (steps, l)
    seconds : array, shape (steps,)
        Processor time that each step of the controller took; other programs on the machine do not count.
    """

    task: ControlTask
    states: FloatArray
    inputs: FloatArray
    seconds: FloatArray

    @property
    def tracking_error(self) -> float:
        """Root mean square distance from the reference, over the outputs that have one."""
        followed = np.array(self.task.output_weights) > 0
        gap = (self.states - self.task.reference[: len(self.states)])[SETTLING_SAMPLES:, followed]
        return float(np.sqrt(np.mean(gap**2)))

    @property
    def violation(self) -> float:
        """Largest distance beyond the limits of the outputs."""
        low, high = self.task.output_limits
        return float(np.maximum(self.states - high, low - self.states).max(initial=0.0))

    @property
    def violations(self) -> float:
        """Share of the samples at which an output is beyond its limits."""
        low, high = self.task.output_limits
        return float(((self.states > high) | (self.states < low)).any(axis=1).mean())

    @property
    def milliseconds(self) -> float:
        """Median processor time of one step of the controller."""
        return float(1e3 * np.median(self.seconds))


def follow(task: ControlTask, controller: Steps, seed: int, steps: int | None = None) -> ClosedLoopRun:
    """Control the plant along its reference; `seed` decides the measurement noise."""
    rng = np.random.default_rng(seed)
    states, inputs, seconds = [np.array(task.initial)], [], []
    for k, disturbance in enumerate(task.disturbance[:steps]):
        measured = states[-1] + rng.normal(size=len(task.noise)) * task.noise
        begun = time.process_time()
        inputs.append(np.array(controller.step(measured, task.reference[k + 1 : k + 1 + task.horizon])))
        seconds.append(time.process_time() - begun)
        states.append(task.simulate(np.concatenate([inputs[-1], disturbance])[None], states[-1])[-1])
    return ClosedLoopRun(task, np.array(states), np.array(inputs), np.array(seconds))
