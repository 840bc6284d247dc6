"""What a form says of its models: everything in which forms differ.

A model carries something from step to step: the lifted state, for example, or the delay line itself. A form says how
that starts from a state, how one step changes it, and how outputs are read from it. `Model` builds what users call on
these three. The rest serves those that show a model or write it elsewhere: terms, tables, maps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from koopsieve._types import ComplexArray, FloatArray
from koopsieve.data import Signals
from koopsieve.data.signals import Measured
from koopsieve.dictionary import Dictionary, TermMap
from koopsieve.regression import RegressionStatistics
from koopsieve.uncertainty.calibrate import Calibration
from koopsieve.uncertainty.certificates import Certificate


@dataclass(frozen=True)
class Linearisation:
    """The step around one point: x[k+1] ≈ A·x[k] + B·u[k] + offset, y = C·x, x what the model carries.

    Around many points A, B and offset have a first axis over the points.

    Parameters
    ----------
    A, B, C : array
    offset : array, shape (n,)
    """

    A: FloatArray
    B: FloatArray
    C: FloatArray
    offset: FloatArray


@dataclass(frozen=True, eq=False)
class OutputTerms:
    """What each term adds to what it drives: y[k+1] = Σ coefficient · term."""

    names: tuple[str, ...]
    coef: FloatArray  # (terms, driven): A column per name in `driven_names`: the outputs, and hidden states before them


@dataclass(frozen=True, eq=False)
class NamedMatrix:
    """Numbers of a model with names of their rows and columns."""

    values: FloatArray  # (rows, columns)
    rows: tuple[str, ...]
    columns: tuple[str, ...]


class FormInterface(Measured, ABC):
    """What `Model` asks of its subclasses."""

    form: ClassVar[str]
    carries_observables: ClassVar[bool] = False  # whether observables are carried, by equations of their own
    step_is_linear: ClassVar[bool] = False  # whether the step is A·x + B·u everywhere, without an offset
    counted: ClassVar[str] = "terms"  # what is kept or sifted out
    terms_in_words: ClassVar[str]  # what `output_terms` are, for the report
    probability_in_words: ClassVar[str] = (
        "p: the probability that the term drives the output one step ahead, by spike and slab. A term may be kept for "
        "what it does several steps ahead, or for what it does to other observables."
    )
    dictionary: Dictionary
    calibration: Calibration | None

    @property
    @abstractmethod
    def numbers_per_start(self) -> int:
        """How many numbers one step holds for each start, which decides how many starts are predicted at once."""

    @abstractmethod
    def start(self, states: FloatArray) -> FloatArray:
        """Return what is carried, from states (starts, n) with delays embedded."""

    @abstractmethod
    def advance(self, carried: FloatArray, acting: FloatArray) -> FloatArray:
        """Return what is carried one step later, under the inputs (starts, l)."""

    @abstractmethod
    def read(self, carried: FloatArray) -> FloatArray:
        """Return the outputs (starts, n_outputs) in what is carried."""

    @abstractmethod
    def jacobians(self, carried: FloatArray, acting: FloatArray) -> Linearisation:
        """Return the step linearised around each of many points, given as (points, size) and (points, l)."""

    def unheld_jacobians(self, carried: FloatArray, acting: FloatArray) -> Linearisation:
        """Return `jacobians` with the slopes that outputs held at a bound would have without it, for planning."""
        return self.jacobians(carried, acting)

    @abstractmethod
    def start_slopes(self, states: FloatArray) -> FloatArray:
        """Return the derivatives of what is carried with respect to states (starts, n), shape (starts, size, n)."""

    @abstractmethod
    def output_terms(self) -> OutputTerms:
        """Return the terms of the outputs' next values, with their coefficients."""

    @abstractmethod
    def arrays(self) -> Mapping[str, FloatArray]:
        """Return the numbers that a file must hold beside the dictionary."""

    @property
    @abstractmethod
    def carried_names(self) -> tuple[str, ...]:
        """A name for every number that is carried from step to step."""

    @abstractmethod
    def start_map(self) -> TermMap:
        """Return `start` as sums of terms of the state."""

    @abstractmethod
    def step_map(self) -> TermMap:
        """Return `advance` as sums of terms of what is carried, followed by the acting inputs."""

    @abstractmethod
    def read_map(self) -> TermMap:
        """Return `read` as sums of terms of what is carried."""

    def working_range(self) -> FloatArray:
        """Return least and largest states and inputs, shape (2, n + l), between which the model is of use."""
        n = len(self.signals.state_names)
        found = np.repeat([[-1.0], [1.0]], n + len(self.signals.inputs), axis=1)
        for span in (family.span() for family in self.dictionary.families):
            found[:, :n] = found[:, :n] if span is None else span
        return found

    @property
    def signals(self) -> Signals:
        """Names, sample time and delays."""
        return self.dictionary.signals

    @property
    def driven_names(self) -> tuple[str, ...]:
        """Names of what `output_terms` add up to."""
        return self.output_names

    @property
    def term_names(self) -> tuple[str, ...]:
        """Names of what is counted as the terms of the model."""
        return self.dictionary.regressors

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the observables."""
        return self.dictionary.names

    def matrices(self) -> Mapping[str, NamedMatrix]:
        """Return the coefficients as tables, by name; none in a form that has nothing to show so."""
        return {}

    @property
    def step_dictionary(self) -> Dictionary:
        """The dictionary with every term of one step."""
        return self.dictionary

    @property
    def step_terms(self) -> tuple[str, ...] | None:
        """Names of the terms whose coefficients one regression finds; None in a form without."""
        return None

    @property
    def step_coef(self) -> FloatArray:
        """Coefficients of `step_terms`, shape (terms, targets); only where there are such terms."""
        raise NotImplementedError

    def step_row(self, state: FloatArray, acting: FloatArray) -> FloatArray:
        """Return the values of `step_terms` at one state and input."""
        point = np.concatenate([state, acting])[None]
        row: FloatArray = self.step_dictionary.evaluate(point)[0]
        return row

    def step_targets(self, state: FloatArray) -> FloatArray:
        """Return what the terms predict, as it is in the state one step later."""
        raise NotImplementedError

    def with_step_coef(self, coef: FloatArray) -> Self:
        """Return the model with other coefficients of `step_terms`."""
        raise NotImplementedError

    @property
    def eigenvalues(self) -> ComplexArray:
        """Eigenvalues of A, the largest in absolute value first; none in a form without such a matrix."""
        return np.zeros(0, dtype=complex)

    @property
    def condition_number(self) -> float:
        """Condition number of A; nan in a form without one that is the same everywhere."""
        return np.nan

    @property
    def spectral_radius(self) -> float:
        """Largest absolute value of an eigenvalue of A; nan in a form without one that is the same everywhere."""
        return np.nan

    def certificate(self, statistics: RegressionStatistics) -> Certificate | None:
        """Return how nearly the observables are closed under the dynamics; None where that has no meaning."""
        return None
