"""Tests of the one-step residuals: correlation with their own past, and with the inputs.

Comes in: a model and measured trajectories. Goes out: correlations lag by lag with limits that a residual without any
information exceeds at one lag in a hundred, and a verdict in words (Ljung, System Identification, Section 16.6).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from koopsieve._display import number
from koopsieve._types import FloatArray, IndexArray
from koopsieve.data import Trajectories, embedded

if TYPE_CHECKING:
    from koopsieve.forms import Model

LAGS = 25
NORMAL_99 = 2.5758293035489004  # standard deviations within which 99 % of a normal variable lies
MAX_LAGS_OUTSIDE = 2  # of 25 lags; up to this number outside the limits counts as chance
MAX_EXCESS = 1.5  # times the limit; beyond that, one lag is enough to fail
SMALL_CORRELATION = 0.1  # below this it is visible only because there are many samples


@dataclass(frozen=True, eq=False)
class Correlation:
    """Correlation of one residual e with something else, lag by lag.

    Parameters
    ----------
    lags : array of int
        At lag τ, e[k] is compared with the other at k − τ; at negative lags with its future.
    value : array
        Between −1 and 1.
    limit : float
        99 % of the values lie within ± this where there is no dependence.
    tested : array of int
        Lags that the verdict is about.
    """

    lags: IndexArray
    value: FloatArray
    limit: float
    tested: IndexArray

    @property
    def outside(self) -> int:
        """Number of the tested lags that exceed the limit."""
        return int(np.sum(np.abs(self._tested_values) > self.limit))

    @property
    def worst(self) -> int:
        """The tested lag with the largest correlation."""
        return int(self.tested[np.argmax(np.abs(self._tested_values))])

    @property
    def largest(self) -> float:
        """The largest correlation at the tested lags, with its sign."""
        return float(self._tested_values[np.argmax(np.abs(self._tested_values))])

    @property
    def passed(self) -> bool:
        """Whether no more lags exceed the limit, and by no more, than chance explains."""
        return self.outside <= MAX_LAGS_OUTSIDE and abs(self.largest) <= MAX_EXCESS * self.limit

    @property
    def _tested_values(self) -> FloatArray:
        return self.value[np.isin(self.lags, self.tested)]


@dataclass(frozen=True, eq=False)
class ResidualTests:
    """Tests of the one-step residuals of a model on one data set.

    Parameters
    ----------
    samples : int
        Number of residuals.
    whiteness : mapping from output to Correlation
        Of each output's residual with its own past.
    inputs : mapping from output to mapping from input to Correlation
        Of each output's residual with each input, present and past.
    """

    samples: int
    whiteness: Mapping[str, Correlation]
    inputs: Mapping[str, Mapping[str, Correlation]]

    @property
    def passed(self) -> bool:
        """Whether every test is passed."""
        crossed = [one for each in self.inputs.values() for one in each.values()]
        return all(one.passed for one in (*self.whiteness.values(), *crossed))

    @property
    def words(self) -> tuple[str, ...]:
        """The verdicts: a sentence per output, then what to do about what was found."""
        sentences = [f"{name}: {self._verdict(name)}" for name in self.whiteness]
        own = [one for one in self.whiteness.values() if not one.passed]
        crossed = [one for each in self.inputs.values() for one in each.values() if not one.passed]
        if own:
            sentences.append(
                "Correlated with its own past: more delays or other terms may help. Noise in the measurements has this "
                "effect too."
            )
        if any(abs(one.largest) >= SMALL_CORRELATION for one in crossed):
            sentences.append("Correlated with an input: offer more delays of the input, or terms with the input.")
        elif crossed:
            sentences.append("The correlation with inputs is small; it shows because there are many samples.")
        return tuple(sentences)

    def _verdict(self, name: str) -> str:
        tests = {"its own past": self.whiteness[name], **self.inputs[name]}
        failed = [f"{other} {_counted(one)}" for other, one in tests.items() if not one.passed]
        if not failed:
            return "the residual looks like white noise" + (
                ", without a trace of the inputs." if len(tests) > 1 else "."
            )
        return f"the residual is correlated with {' and with '.join(failed)}."


def residual_tests(model: Model, trajectories: Trajectories) -> ResidualTests:
    """Test the residuals of one-step predictions along all episodes, up to 25 steps back; less in short records."""
    data = embedded(trajectories, model.signals.embedding)
    residuals = one_step_residuals(model, data)
    reach = max(1, min(LAGS, max(map(len, residuals)) // 4))
    whiteness, crossed = {}, {}
    for j, output in enumerate(model.output_names):
        e = [one[:, j] for one in residuals]
        whiteness[output] = _autocorrelation(e, reach)
        crossed[output] = {
            name: _cross_correlation(e, [u[: len(one), i] for u, one in zip(data.inputs, e, strict=True)], reach)
            for i, name in enumerate(model.input_names)
        }
    return ResidualTests(sum(map(len, residuals)), whiteness, crossed)


def one_step_residuals(model: Model, data: Trajectories) -> list[FloatArray]:
    """Return y[k+1] minus its prediction from sample k, an array (transitions, n_outputs) per episode."""
    predicted = [one[:, 0] for one in model.rollout(data, 1)]
    with np.errstate(invalid="ignore", over="ignore"):
        return [x[1:, : one.shape[1]] - one for x, one in zip(data.states, predicted, strict=True)]


def _autocorrelation(e: Sequence[FloatArray], reach: int) -> Correlation:
    lags = np.arange(reach + 1)
    value = correlation(e, e, lags)
    return Correlation(lags, value, NORMAL_99 / np.sqrt(max(1, sum(map(len, e)))), lags[1:])


def _cross_correlation(e: Sequence[FloatArray], u: Sequence[FloatArray], reach: int) -> Correlation:
    """Return the correlation with an input; its variance is Σ_τ r_e(τ)·r_u(τ) / N where there is no dependence."""
    lags = np.arange(-reach, reach + 1)
    both = correlation(e, e, lags) @ correlation(u, u, lags)
    limit = NORMAL_99 * np.sqrt(max(float(both), 0.1) / max(1, sum(map(len, e))))
    return Correlation(lags, correlation(e, u, lags), float(limit), lags[lags >= 0])


def correlation(a: Sequence[FloatArray], b: Sequence[FloatArray], lags: IndexArray) -> FloatArray:
    """Return the correlation of a[k] with b[k − lag] over several episodes; zero where one of them is constant."""
    a, b = ([np.nan_to_num(x - _mean(each)) for x in each] for each in (a, b))
    power = np.sqrt(sum(float(x @ x) for x in a) * sum(float(x @ x) for x in b))
    if not power > 0:
        return np.zeros(len(lags))
    found = [sum(_overlap(x, y, int(lag)) for x, y in zip(a, b, strict=True)) for lag in lags]
    return np.asarray(np.array(found) / power)


def _overlap(a: FloatArray, b: FloatArray, lag: int) -> float:
    first, last = max(lag, 0), len(a) + min(lag, 0)
    return float(a[first:last] @ b[first - lag : last - lag]) if last > first else 0.0


def _mean(pieces: Sequence[FloatArray]) -> float:
    return float(np.nanmean(np.concatenate(list(pieces))))


def _counted(found: Correlation) -> str:
    return (
        f"({found.outside} of {len(found.tested)} lags outside the 99 % limits, {number(found.largest)} at lag "
        f"{found.worst})"
    )
