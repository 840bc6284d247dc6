"""The plainest functions: the states and the inputs themselves, and a constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.dictionary.observables import Observables, Program, indices_below, program
from koopsieve.dictionary.recipes import Block, Fitted, Samples

MAX_DEGREE = 100
MAX_MONOMIALS = 50_000  # their regression alone would take 20 GB


@dataclass(frozen=True, eq=False)
class Coordinates(Observables):
    """Some of the coordinates of the point, unchanged: states, or inputs."""

    columns: IndexArray

    def evaluate(self, points: FloatArray, out: FloatArray) -> None:
        """Copy the columns."""
        out[:] = points[:, self.columns]

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return ones and zeros."""
        unit = np.eye(points.shape[1])[self.columns]
        return np.broadcast_to(unit, (len(points), *unit.shape)).copy()

    def slope_of_sums(self, points: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the weights, each where its coordinate stands."""
        slope = weights @ np.eye(points.shape[1])[self.columns]
        return np.broadcast_to(slope, (len(points), *slope.shape))

    def program(self, width: int) -> Program:
        """Return terms of one factor each."""
        return program(width, self.columns[:, None])

    def expression(self, column: int, point: Sequence[Any]) -> Any:
        """Return the coordinate's symbol."""
        return point[self.columns[column]]

    def fits(self, width: int) -> bool:
        """Tell whether every column is a coordinate."""
        return indices_below(self.columns, (self.size,), width)

    def select(self, columns: IndexArray) -> Self:
        """Keep some of them."""
        return type(self)(self.picked_names(columns), self.columns[columns])


@dataclass(frozen=True, repr=False)
class States(Block):
    """The states themselves, delayed copies included. Without them a model has no outputs.

    Parameters
    ----------
    acting : bool
        Leave out the inputs that a dead time holds back (see `Embedding`). Linear models need them, to hand them on.

    Examples
    --------
    >>> from koopsieve.data import Trajectories
    >>> phi = States().fit(Trajectories.from_arrays([[1.0, 2.0], [3.0, 4.0]], state_names=["angle", "speed"]))
    >>> phi.names, phi.outputs
    (('angle', 'speed'), (0, 1))
    """

    acting: bool = False

    def fit_block(self, samples: Samples, rng: np.random.Generator) -> Fitted:
        """Take every state."""
        signals = samples.signals
        names, depths = signals.state_names, signals.depths[: len(signals.state_names)]
        columns = np.flatnonzero(depths >= 0) if self.acting else np.arange(len(names))
        return Fitted(observables=Coordinates(tuple(names[i] for i in columns), columns))


@dataclass(frozen=True, repr=False)
class Inputs(Block):
    """The inputs that act in the step, as input terms: the B of a linear model.

    Examples
    --------
    >>> from koopsieve.data import Trajectories
    >>> data = Trajectories.from_arrays([[1.0], [3.0], [2.0]], [[1.0], [2.0]], input_names=["force"])
    >>> (States() + Inputs()).fit(data).input_term_names
    ('force',)
    """

    def fit_block(self, samples: Samples, rng: np.random.Generator) -> Fitted:
        """Take every input."""
        names, first = samples.signals.acting, len(samples.signals.state_names)
        if not names:
            raise KoopsieveError("Inputs() needs data with inputs, and these have none. Leave it out.")
        return Fitted(input_terms=Coordinates(names, first + np.arange(len(names))))


@dataclass(frozen=True, eq=False)
class Ones(Observables):
    """The constant observable."""

    def evaluate(self, points: FloatArray, out: FloatArray) -> None:
        """Fill with one."""
        out[:] = 1.0

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return zeros."""
        return np.zeros((len(points), self.size, points.shape[1]))

    def program(self, width: int) -> Program:
        """Return a product of nothing."""
        return program(width, [()] * self.size)

    def expression(self, column: int, point: Sequence[Any]) -> Any:
        """Return one."""
        from sympy import Integer

        return Integer(1)

    def fits(self, width: int) -> bool:
        """Tell that it is a function of any point."""
        return True

    def select(self, columns: IndexArray) -> Self:
        """Keep it or not."""
        return type(self)(self.picked_names(columns))


@dataclass(frozen=True, repr=False)
class Constant(Block):
    """The observable that is one everywhere: an offset for all others."""

    def fit_block(self, samples: Samples, rng: np.random.Generator) -> Fitted:
        """Nothing depends on the data."""
        return Fitted(observables=Ones(("1",)))
