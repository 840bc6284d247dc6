"""Models that carry the lifted state: what the linear and the bilinear form share, and several steps by powers of A.

y[k+h] = C·Aʰ·φ(x[k]) + Σⱼ C·Aʰ⁻¹⁻ʲ·B·u[k+j]. For predictions at a few horizons this carries n_outputs numbers per start
where a step carries L². For model predictive control it is one affine function of all inputs to come.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy.linalg import matrix_balance

from koopsieve._types import ComplexArray, FloatArray, KoopsieveError, whole_number
from koopsieve.data import Trajectories
from koopsieve.dictionary import Dictionary, TermMap
from koopsieve.dictionary.term_map import Shifts
from koopsieve.evaluate.rollout import HorizonPredictions, start_slices
from koopsieve.forms.interface import NamedMatrix, OutputTerms
from koopsieve.forms.model import Model
from koopsieve.forms.spectra import eigenvalues
from koopsieve.identify import Estimate
from koopsieve.regression import RegressionStatistics
from koopsieve.uncertainty.certificates import Certificate, certified

if TYPE_CHECKING:
    from koopsieve.forms.linear.model import LinearModel


STEPS_AT_A_TIME = 25  # of a run, at most
MAX_GROWTH = 100.0  # of the norm of a power: rounding grows with it


def output_powers(A: FloatArray, C: FloatArray, highest: int) -> list[FloatArray]:
    """Return C, CA, CA², …, CAʰ."""
    powers = [C]
    for _ in range(highest):
        powers.append(powers[-1] @ A)
    return powers


def prediction_matrices(A: FloatArray, B: FloatArray, C: FloatArray, horizon: int) -> tuple[FloatArray, FloatArray]:
    """Return F and G of Y = F·φ(x[k]) + G·U; see `LinearModel.prediction_matrices`."""
    steps = whole_number("horizon, the number of steps,", horizon, 1)
    outputs, inputs = len(C), B.shape[1]
    with np.errstate(over="ignore", invalid="ignore"):
        reads = output_powers(A, C, steps)
        pulses = [power @ B for power in reads]  # the Markov parameters
    G = np.zeros((steps * outputs, steps * inputs))
    for h in range(steps):
        for j in range(h + 1):
            G[h * outputs : (h + 1) * outputs, j * inputs : (j + 1) * inputs] = pulses[h - j]
    return np.concatenate(reads[1:]), G


def runs_by_powers(model: LinearModel, states: FloatArray, acting: FloatArray) -> FloatArray:
    """Return the outputs of runs from states (runs, n) under inputs (runs, steps, l), many steps at a time.

    What is carried goes on by φ[k+s] = Aˢφ[k] + Σⱼ Aˢ⁻¹⁻ʲ·B·u[k+j]; the outputs between are read from φ[k].
    """
    (runs, steps, inputs), n = acting.shape, len(model.C)
    found, carried = np.empty((runs, steps, n)), lift(model.dictionary, states)
    with np.errstate(over="ignore", invalid="ignore"):
        size = max(min(_safe_steps(model.A), steps), 1)
        F, G = prediction_matrices(model.A, model.B, model.C, size)
        pulses = [model.B]
        for _ in range(size - 1):
            pulses.append(model.A @ pulses[-1])
        power, pulled = np.linalg.matrix_power(model.A, size).T, np.hstack(pulses[::-1]).T
        for first in range(0, steps, size):
            block = acting[:, first : first + size].reshape(runs, -1)
            here = min(size, steps - first)
            read, pull = F[: here * n].T, G[: here * n, : here * inputs].T
            found[:, first : first + here] = (carried @ read + block @ pull).reshape(runs, here, n)
            if here == size:
                carried = carried @ power + block @ pulled
    return found


def _safe_steps(A: FloatArray) -> int:
    """Return how many steps may be taken at a time, so that what powers of A grow by on the way loses no digits.

    The matrix is balanced first, so that the units of the observables do not matter.
    """
    if not np.isfinite(A).all():
        return 1
    balanced = matrix_balance(A, permute=False)[0]
    power, steps = balanced, 1
    while steps < STEPS_AT_A_TIME and np.linalg.norm(power := power @ balanced, 1) <= MAX_GROWTH:
        steps += 1
    return steps


def predictions_by_powers(
    model: LinearModel, data: Trajectories, horizons: Sequence[int]
) -> Iterator[HorizonPredictions]:
    """Yield the predictions at `horizons` from every start that has a sample that far ahead."""
    with np.errstate(over="ignore", invalid="ignore"):
        reads = output_powers(model.A, model.C, max(horizons))
        pulses = [power @ model.B for power in reads]
    for episode, part in start_slices(len(model.A), data, min(horizons)):
        x, u = data.states[episode], data.inputs[episode]
        lifted = lift(model.dictionary, x[part])
        for h in horizons:
            rows = min(part.stop, len(x) - h) - part.start
            if rows > 0:
                with np.errstate(over="ignore", invalid="ignore"):
                    predicted = lifted[:rows] @ reads[h].T
                    for j in range(h if u.shape[1] else 0):
                        predicted += u[part.start + j :][:rows] @ pulses[h - 1 - j].T
                yield HorizonPredictions(episode, part.start, h, predicted)


def powers_are_cheaper(model: LinearModel, horizons: Sequence[int]) -> bool:
    """Compare the multiplications per start by powers and step by step."""
    outputs, L = model.C.shape
    inputs = model.B.shape[1]
    return bool(outputs * sum(L + h * inputs for h in horizons) <= max(horizons) * L * (L + inputs))


_NUMBERS_AT_A_TIME = 1 << 18  # of lifted states that are held while a model runs


class LiftedStateModel(Model, ABC):
    """A model that lifts the state once, at the start; subclasses declare A, B and C as fields."""

    carries_observables: ClassVar[bool] = True

    A: FloatArray
    B: FloatArray
    C: FloatArray

    @property
    def step_dictionary(self) -> Dictionary:
        """Observables and inputs."""
        return self.dictionary.linear()

    @property
    def step_coef(self) -> FloatArray:
        """The next observables from the terms of `step_dictionary`, shape (terms, L)."""
        return np.concatenate([self.A.T, self.B.T])

    def step_targets(self, state: FloatArray) -> FloatArray:
        """Return the observables."""
        found: FloatArray = self.start(state[None])[0]
        return found

    @property
    def eigenvalues(self) -> ComplexArray:
        """Eigenvalues of A, the largest in absolute value first."""
        return eigenvalues(self.A)

    def output_terms(self) -> OutputTerms:
        """Return observables and inputs: the outputs' rows; other observables have rows of their own."""
        return OutputTerms((*self.names, *self.signals.acting), (self.C @ np.hstack([self.A, self.B])).T)

    def matrices(self) -> Mapping[str, NamedMatrix]:
        """Return A, B and C."""
        return {
            "A": NamedMatrix(self.A, self.names, self.names),
            "B": NamedMatrix(self.B, self.names, self.signals.acting),
            "C": NamedMatrix(self.C, self.output_names, self.names),
        }

    def start_slopes(self, states: FloatArray) -> FloatArray:
        """Return the derivatives of the observables."""
        return np.concatenate([family.gradient(states) for family in self.dictionary.families], axis=1)

    @property
    def numbers_per_start(self) -> int:
        """Number of observables."""
        return len(self.A)

    def certificate(self, statistics: RegressionStatistics) -> Certificate | None:
        """Return how nearly the observables are closed under the dynamics; None if the statistics lack some."""
        return certified(self, statistics)

    @property
    def carried_names(self) -> tuple[str, ...]:
        """Names of the observables."""
        return self.dictionary.names

    def start_map(self) -> TermMap:
        """Return the observables."""
        return TermMap.of_terms(self.dictionary.state_names, self.dictionary.families)

    def read_map(self) -> TermMap:
        """Return Cφ."""
        return TermMap.linear(self.carried_names, self.output_names, self.C)

    def start(self, states: FloatArray) -> FloatArray:
        """Lift the states."""
        return lift(self.dictionary, states)

    def read(self, carried: FloatArray) -> FloatArray:
        """Return Cφ."""
        with np.errstate(over="ignore", invalid="ignore"):
            outputs: FloatArray = carried @ self.C.T
        return outputs

    def free_runs(self, states: FloatArray, acting: FloatArray) -> FloatArray:
        """Return the outputs of runs, read from many steps at once."""
        found, carried = np.empty((*acting.shape[:2], len(self.C))), self.start(states)
        some = max(_NUMBERS_AT_A_TIME // max(carried.size, 1), 1)
        with np.errstate(over="ignore", invalid="ignore"):
            for first in range(0, acting.shape[1], some):
                block = acting[:, first : first + some]
                passed = np.empty((block.shape[1], *carried.shape))
                for k in range(block.shape[1]):
                    carried = passed[k] = self.advance(carried, block[:, k])
                found[:, first : first + some] = (passed @ self.C.T).transpose(1, 0, 2)
        return found


def lift(dictionary: Dictionary, states: FloatArray) -> FloatArray:
    """Return the lifted states; a state that is not finite, or too large for an observable, gives nan or inf."""
    finite = np.isfinite(states).all(axis=1)
    with np.errstate(all="ignore"):
        if finite.all():
            return dictionary(states)
        lifted = np.full((len(states), dictionary.size), np.nan)
        if finite.any():
            lifted[finite] = dictionary(states[finite])
    return lifted


def check_made_with(estimate: Estimate, dictionary: Dictionary, regressors: tuple[str, ...]) -> None:
    """Refuse an estimate of other observables, and a dictionary that lacks an output."""
    L = dictionary.size
    if estimate.regressors != regressors or estimate.coef.shape[1] != L:
        raise KoopsieveError(
            f"The estimate was not made with this dictionary. Expected {L} observables {list(regressors[:5])}…, got "
            f"{estimate.coef.shape[1]}, {list(estimate.regressors[:5])}…. "
            "After a reduction pass `dictionary.select(retained)`."
        )
    if len(dictionary.outputs) < len(dictionary.signals.outputs):
        raise KoopsieveError(
            "The dictionary lacks a measured state, so the model could not predict it. Add a States() block, and keep "
            "the outputs when reducing."
        )


def shifted_coefficients(coef: FloatArray, known: int, carried: Dictionary, structure: Shifts) -> FloatArray:
    """Return coefficients (regressors, targets) on the carried dictionary, its delayed copies shifted exactly.

    `coef` has the first `known` observables and the input terms as regressors, and these observables as targets.
    """
    L = carried.size
    full = np.zeros((L + len(coef) - known, L))
    full[:known, :known], full[L:, :known] = coef[:known], coef[known:]
    full[:, structure.targets] = 0.0
    full[structure.sources, structure.targets] = 1.0
    return full
