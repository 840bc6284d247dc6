"""What the linear and the bilinear form share: the lifted state is carried, and outputs are read from it."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from koopsieve._types import ComplexArray, FloatArray
from koopsieve.dictionary import Dictionary, TermMap
from koopsieve.forms.interface import NamedMatrix, OutputTerms
from koopsieve.forms.model import Model
from koopsieve.forms.spectra import eigenvalues
from koopsieve.regression import RegressionStatistics
from koopsieve.uncertainty.certificates import Certificate, certified

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
