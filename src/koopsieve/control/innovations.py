"""What measurements say that predictions did not: innovations, a gate against spikes, and a test of the model.

An innovation is a measured output minus the one predicted for it one step before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from koopsieve._types import BoolArray, FloatArray, IndexArray

MAX_REJECTED = 1  # samples in a row; what stays away for longer is no spike, and a controller must not be blind to it
SPREAD_MEMORY = 50  # samples over which the size of innovations is averaged
PRIOR_SAMPLES = 10  # of the expected size, which the gate counts beside those seen
TEST_LEVEL = 0.001  # probability of an alarm although the model is right


@dataclass(frozen=True, eq=False)
class Innovations:
    """The newest innovations, and what is remembered of those before.

    Parameters
    ----------
    values : array, shape (n_outputs,)
        Measured minus predicted; NaN where nothing was measured.
    deviation : array, shape (n_outputs,)
        Standard deviations that were expected; NaN if the model does not know its noise.
    taken : array of bool, shape (n_outputs,)
        Which measurements were used: not those that are missing or beyond the gate.
    rejected : array of int, shape (n_outputs,)
        Samples in a row that the gate has kept out.
    spread : array, shape (n_outputs,)
        Mean square of the innovations taken lately, in units of what was expected: one if the model is right.
    correlation : array, shape (n_outputs,)
        Mean product of neighbours, in the same units: zero if the model is right.
    samples : float
        Number of samples in these means, at most `SPREAD_MEMORY`.
    """

    values: FloatArray
    deviation: FloatArray
    taken: BoolArray
    rejected: IndexArray
    spread: FloatArray
    correlation: FloatArray
    samples: float

    @classmethod
    def none(cls, outputs: int) -> Innovations:
        """Return what is known before the first one."""
        nothing = np.full(outputs, np.nan)
        kept, count = np.ones(outputs, dtype=bool), np.zeros(outputs, dtype=np.intp)
        return cls(nothing, nothing, kept, count, np.ones(outputs), np.zeros(outputs), 0.0)

    def following(self, values: FloatArray, variance: FloatArray | None, gate: float) -> Innovations:
        """Return the next innovations; `gate` is the number of standard deviations beyond which one is a spike."""
        here = ~np.isnan(values)
        if variance is None:
            return Innovations(values, np.full_like(values, np.nan), here, self.rejected, *self._means)
        deviation = np.sqrt(variance)
        size = np.where(here, values, 0.0) / deviation
        usual = (PRIOR_SAMPLES + self.samples * self.spread) / (PRIOR_SAMPLES + self.samples)
        spike = here & (np.abs(size) > gate * np.sqrt(np.maximum(usual, 1.0))) & (self.rejected < MAX_REJECTED)
        taken, samples = here & ~spike, min(self.samples + 1, SPREAD_MEMORY)
        before = np.where(np.isnan(self.values), 0.0, self.values) / deviation
        new = np.where(taken, 1.0 / samples, 0.0)
        spread = self.spread + new * (size**2 - self.spread)
        correlation = self.correlation + new * (size * before - self.correlation)
        rejected = np.where(spike, self.rejected + 1, 0)
        return Innovations(values, deviation, taken, rejected, spread, correlation, samples)

    @property
    def _means(self) -> tuple[FloatArray, FloatArray, float]:
        return self.spread, self.correlation, self.samples

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
