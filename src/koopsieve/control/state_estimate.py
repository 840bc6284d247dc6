"""Estimates of the plant's state and of its disturbance: from measured history, or from a Kalman filter.

Both give what the model carries now, and what to add to every step of a prediction so that a plant at rest is predicted
to stay where it is. That makes tracking free of offset (D74).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.control.innovations import Innovations
from koopsieve.control.kalman import Belief, KalmanFilter, check_gate
from koopsieve.control.limits import in_range
from koopsieve.forms import Model

GAIN = 0.2  # share of the newest one-step error that goes into the disturbance


@dataclass(frozen=True, eq=False)
class Situation:
    """What a controller knows of the plant.

    Parameters
    ----------
    carried : array, shape (size,)
        What the model carries now.
    disturbance : array, shape (size,)
        What is added in every step.
    line : array, shape (n,)
        The measured state, delays included; what is missing or a spike is replaced by its prediction.
    innovations : Innovations
        What the newest measurement said that the prediction did not.
    belief : Belief, optional
        Of the Kalman filter, where one is used.
    """

    carried: FloatArray
    disturbance: FloatArray
    line: FloatArray
    innovations: Innovations
    belief: Belief | None = None


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
    """Lift the measured state; the disturbance is the smoothed error of one-step predictions (D74).

    Parameters
    ----------
    model : Model
    gain : float
        Share of the newest error that goes into the disturbance, from 0 (no disturbance) to 1 (no smoothing).
    gate : float
        Standard deviations beyond which an innovation is a spike and not used, one sample at most. It needs a model
        that knows its noise.
    """

    model: Model
    gain: float = GAIN
    gate: float = 8.0

    def __post_init__(self) -> None:
        check_gate(self.gate)
        in_range("gain, the share of the newest error,", self.gain, 0.0, 1.0)

    def start(self, line: FloatArray) -> Situation:
        """Lift, and assume no disturbance."""
        carried = self.model.start(line[None])[0]
        return Situation(carried, np.zeros(len(carried)), line, Innovations.none(len(self.model.signals.outputs)))

    def update(self, before: Situation, acted: FloatArray, measured: FloatArray) -> Situation:
        """Shift the delay line, lift, and compare with what was predicted."""
        ahead = self.model.advance(before.carried[None], acted[None])[0]
        expected = self.model.read((ahead + before.disturbance)[None])[0]
        known = None if self.model.noise is None else self.model.noise.one_step
        found = before.innovations.following(measured - expected, known, self.gate)
        line = shifted(self.model, before.line, acted, np.where(found.taken, measured, expected))
        carried = self.model.start(line[None])[0]
        error = carried - ahead - before.disturbance
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
