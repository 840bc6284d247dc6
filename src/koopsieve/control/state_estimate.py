"""What measurements say of a plant: innovations, a gate against spikes, a test of the model, estimates of its state.

An innovation is a measured output minus the one predicted for it one step before. Estimates of the state and of the
disturbance come from measured history or from a Kalman filter. Both give what the model carries now, and what to add to
every step of a prediction so that a plant at rest is predicted to stay where it is. That makes tracking free of offset
(D74).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy.stats import chi2

from koopsieve._types import BoolArray, FloatArray, IndexArray, Range, real_number
from koopsieve.forms import Model

if TYPE_CHECKING:
    from koopsieve.control.kalman import Belief, KalmanFilter

MAX_REJECTED = 1  # samples in a row; what stays away for longer is no spike, and a controller must not be blind to it
SPREAD_MEMORY = 50  # samples over which the size of innovations is averaged
PRIOR_SAMPLES = 10  # of the expected size, which the gate counts beside those seen
GAIN = 0.2  # share of the newest one-step error that goes into the disturbance
TEST_LEVEL = 0.001  # probability of an alarm although the model is right


@dataclass(frozen=True, eq=False)
class Innovations:
    """The newest innovations, and what is remembered of those before.

    Parameters
    ----------
    values : array, shape (n_outputs,)
        Measured minus predicted, at most as far as the data of the model are wide; NaN where nothing was measured.
    deviation : array, shape (n_outputs,)
        Standard deviations that were expected; NaN if the model does not know its noise.
    taken : array of bool, shape (n_outputs,)
        Which measurements were used: not those that are missing or beyond the gate.
    rejected : array of int, shape (n_outputs,)
        Samples in a row that the gate has kept out.
    spread : array, shape (n_outputs,)
        Mean square of the innovations taken lately, in units of what was expected: one if the model is right.
    samples : float
        Number of samples in this mean, at most `SPREAD_MEMORY`.
    """

    values: FloatArray
    deviation: FloatArray
    taken: BoolArray
    rejected: IndexArray
    spread: FloatArray
    samples: float

    @classmethod
    def none(cls, outputs: int) -> Innovations:
        """Return what is known before the first one."""
        nothing = np.full(outputs, np.nan)
        kept, count = np.ones(outputs, dtype=bool), np.zeros(outputs, dtype=np.intp)
        return cls(nothing, nothing, kept, count, np.ones(outputs), 0.0)

    def following(self, values: FloatArray, variance: FloatArray | None, gate: float) -> Innovations:
        """Return the next innovations; `gate` is the number of standard deviations beyond which one is a spike."""
        here = ~np.isnan(values)
        if variance is None:
            return replace(self, values=values, deviation=np.full_like(values, np.nan), taken=here)
        deviation = np.sqrt(variance)
        size = np.where(here, values, 0.0) / deviation
        usual = (PRIOR_SAMPLES + self.samples * self.spread) / (PRIOR_SAMPLES + self.samples)
        spike = here & (np.abs(size) > gate * np.sqrt(np.maximum(usual, 1.0))) & (self.rejected < MAX_REJECTED)
        taken, samples = here & ~spike, min(self.samples + 1, SPREAD_MEMORY)
        spread = self.spread + np.where(taken, 1.0 / samples, 0.0) * (size**2 - self.spread)
        return Innovations(values, deviation, taken, np.where(spike, self.rejected + 1, 0), spread, samples)

    @property
    def p_value(self) -> float:
        """Probability of innovations as large as those of the last samples if the model and its noise are right.

        From the χ² distribution of their sum of squares; NaN before the first ones.
        """
        if not self.samples:
            return np.nan
        count = self.samples * len(self.spread)
        return float(chi2.sf(float(self.spread.sum()) * self.samples, count))

    @property
    def consistent(self) -> bool:
        """Tell whether innovations are no larger than the noise of the model explains."""
        return not self.p_value < TEST_LEVEL


@dataclass(frozen=True, eq=False)
class Situation:
    """What a controller knows of the plant."""

    carried: FloatArray  # (size,): what the model carries now
    disturbance: FloatArray  # (size,): what is added in every step
    # (n,): the measured state, delays included; what is missing or a spike is replaced by its prediction
    line: FloatArray
    innovations: Innovations  # the newest measurement less its prediction
    belief: Belief | None = None  # of the Kalman filter, where one is used


class Estimator(Protocol):
    """How the situation follows from measurements."""

    def start(self, line: FloatArray) -> Situation:
        """Return the situation from one measured state."""
        ...

    def update(self, before: Situation, acted: FloatArray, measured: FloatArray) -> Situation:
        """Return the situation after an input acted and new outputs were measured, NaN where they are missing."""
        ...


@dataclass(frozen=True, eq=False)
class FromHistory:
    """Lift the measured state; the disturbance is the smoothed error of one-step predictions (D74)."""

    model: Model
    # share of the newest error that goes into the disturbance, from 0 (no disturbance) to 1 (no smoothing)
    gain: float = GAIN
    # standard deviations beyond which an innovation is a spike and not used, one sample at most. It needs a model that
    # knows its noise
    gate: float = 8.0

    def __post_init__(self) -> None:
        check_gate(self.gate)
        real_number("gain, the share of the newest error,", self.gain, Range(0, 1))

    def start(self, line: FloatArray) -> Situation:
        """Lift, and assume no disturbance."""
        carried = self.model.start(line[None])[0]
        return Situation(carried, np.zeros(len(carried)), line, Innovations.none(len(self.model.signals.outputs)))

    def update(self, before: Situation, acted: FloatArray, measured: FloatArray) -> Situation:
        """Shift the delay line, lift, and compare with what was predicted."""
        advanced = self.model.advance(before.carried[None], acted[None])[0]
        expected = self.model.read((advanced + before.disturbance)[None])[0]
        known = None if self.model.noise is None else self.model.noise.one_step
        y = plausible(self.model, measured, expected)
        found = before.innovations.following(y - expected, known, self.gate)
        line = shifted(self.model, before.line, acted, np.where(found.taken, y, expected))
        carried = self.model.start(line[None])[0]
        error = carried - advanced - before.disturbance
        return Situation(carried, before.disturbance + self.gain * error, line, found)


@dataclass(frozen=True, eq=False)
class Filtered:
    """Take both from a Kalman filter."""

    kalman: KalmanFilter

    def start(self, line: FloatArray) -> Situation:
        """Begin at the measured state."""
        return self._situation(self.kalman.start(line), line)

    def update(self, before: Situation, acted: FloatArray, measured: FloatArray) -> Situation:
        """Filter."""
        belief = before.belief if before.belief is not None else self.kalman.start(before.line)
        now = self.kalman.update(belief, acted, measured)
        expected = self.kalman.model.read(now.carried[None])[0]
        seen = np.where(now.innovations.taken, measured, expected)
        return self._situation(now, shifted(self.kalman.model, before.line, acted, seen))

    def _situation(self, belief: Belief, line: FloatArray) -> Situation:
        return Situation(belief.carried, belief.entering @ belief.disturbance, line, belief.innovations, belief)


def shifted(model: Model, line: FloatArray, acted: FloatArray, measured: FloatArray) -> FloatArray:
    """Return the measured state one sample later."""
    moved: FloatArray = model.signals.embedding.shift(line[None], measured[None], acted[None])[0]
    return moved


def data_widths(model: Model) -> FloatArray:
    """Return how far apart the least and the largest value of each output in the data are; infinity if not known."""
    outputs, known = len(model.signals.outputs), model.support
    widths = np.zeros(outputs) if known is None else np.ptp(known.region[:, :outputs], axis=0)
    return np.where(widths > 0, widths, np.inf)


def plausible(model: Model, measured: FloatArray, expected: FloatArray) -> FloatArray:
    """Return the measured outputs, none further from its prediction than the data of the model are wide.

    A real change is followed in steps of that width. A sensor that fails shows any number, for more samples than a gate
    keeps out, and an estimate that was once there finds its way back late or, if the model is not linear, not at all.
    """
    widest = data_widths(model)
    near: FloatArray = np.clip(measured, expected - widest, expected + widest)
    return near


def check_gate(gate: float) -> None:
    """Check the number of standard deviations of a gate."""
    real_number("gate, in standard deviations and infinity for none,", gate, Range(0, open_low=True))
