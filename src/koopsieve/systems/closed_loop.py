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
from koopsieve.systems.differential_equations import State, integrate

PRICE = 10.0  # of exceeding a limit, as in `koopsieve.control.Limits`
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
        Measured states, and inputs.
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
    measured : tuple of int
        Which states are measured; all of them if left out.
    dead_time : int
        Samples after which an input acts.
    stabilise : callable, optional
        (state, level) to the input, for a plant that cannot be excited without feedback; `level` is a random input.
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
    measured: tuple[int, ...] = ()
    dead_time: int = 0
    stabilise: Callable[[FloatArray, FloatArray], FloatArray] | None = None

    def read(self, states: FloatArray) -> FloatArray:
        """Return the measured states (rows, n_outputs) of all states (rows, n)."""
        return states[:, list(self.measured)] if self.measured else states

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
        states = self._driven(inputs)
        outputs = self.read(states)
        return outputs + rng.normal(size=outputs.shape) * self.noise, inputs

    def _driven(self, inputs: FloatArray) -> FloatArray:
        """Return the states under random levels, which become the inputs of a plant that is stabilised."""
        if self.stabilise is None:
            late = np.vstack([np.tile(self.acting, (self.dead_time, 1)), inputs])[: len(inputs)]
            return self.simulate(late, self.initial)
        states = [np.array(self.initial)]
        for k, level in enumerate(inputs):
            inputs[k] = np.clip(self.stabilise(states[-1], level), *self.input_limits)
            states.append(self.simulate(inputs[k : k + 1], states[-1])[-1])
        return np.array(states)


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
        return float(np.sqrt(np.mean(self._gaps() ** 2)))

    @property
    def offset(self) -> float:
        """Largest mean distance from the reference of an output, over the last third."""
        gaps = self._gaps()
        return float(np.abs(gaps[-(len(gaps) // 3) :].mean(axis=0)).max())

    @property
    def cost(self) -> float:
        """Mean of what the controller minimises, as it happened: squares of gaps and changes, price of excess."""
        task, (low, high) = self.task, self.task.output_limits
        change = np.diff(np.vstack([task.acting, self.inputs]), axis=0)[SETTLING_SAMPLES - 1 :]
        excess = np.maximum(np.maximum(self.outputs - high, low - self.outputs), 0.0)[SETTLING_SAMPLES:]
        weights = np.array([weight for weight in task.output_weights if weight > 0])
        squares = self._gaps() ** 2 @ weights + change**2 @ np.array(task.rate_weights)
        return float(np.mean(0.5 * squares + PRICE * (excess + 0.5 * excess**2).sum(axis=1)))

    @property
    def outputs(self) -> FloatArray:
        """The measured states, without noise."""
        return self.task.read(self.states)

    def _gaps(self) -> FloatArray:
        followed = np.array(self.task.output_weights) > 0
        gaps: FloatArray = (self.outputs - self.task.reference[: len(self.states)])[SETTLING_SAMPLES:, followed]
        return gaps

    @property
    def violation(self) -> float:
        """Largest distance beyond the limits of the outputs."""
        low, high = self.task.output_limits
        return float(np.maximum(self.outputs - high, low - self.outputs).max(initial=0.0))

    @property
    def violations(self) -> float:
        """Share of the samples at which an output is beyond its limits."""
        low, high = self.task.output_limits
        return float(((self.outputs > high) | (self.outputs < low)).any(axis=1).mean())

    @property
    def milliseconds(self) -> float:
        """Median processor time of one step of the controller."""
        return float(1e3 * np.median(self.seconds))


def follow(
    task: ControlTask, controller: Steps, seed: int, steps: int | None = None, whole_state: bool = False
) -> ClosedLoopRun:
    """Control the plant along its reference; `seed` is that of the measurement noise.

    With `whole_state` the controller sees all states: those that are not measured as they are.
    """
    rng = np.random.default_rng(seed)
    states, inputs, seconds = [np.array(task.initial)], [], []
    places = list(task.measured or range(len(task.outputs)))
    for k, disturbance in enumerate(task.disturbance[:steps]):
        seen = states[-1].copy()
        seen[places] += rng.normal(size=len(task.noise)) * task.noise
        measured = seen if whole_state else seen[places]
        begun = time.process_time()
        inputs.append(np.array(controller.step(measured, task.reference[k + 1 : k + 1 + task.horizon])))
        seconds.append(time.process_time() - begun)
        arriving = inputs[k - task.dead_time] if k >= task.dead_time else np.array(task.acting)
        states.append(task.simulate(np.concatenate([arriving, disturbance])[None], states[-1])[-1])
    return ClosedLoopRun(task, np.array(states), np.array(inputs), np.array(seconds))
