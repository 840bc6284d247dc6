"""The plainest observables: the states themselves, a constant, and products of states."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Self

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.dictionary.observables import Block, Observables, Samples


@dataclass(frozen=True, eq=False)
class StateColumns(Observables):
    """Some of the states, unchanged."""

    columns: IndexArray

    def evaluate(self, states: FloatArray, out: FloatArray) -> None:
        """Copy the columns."""
        out[:] = states[:, self.columns]

    def select(self, columns: IndexArray) -> Self:
        """Keep some of the states."""
        return type(self)(self.picked_names(columns), self.columns[columns])


@dataclass(frozen=True)
class States(Block):
    """The states themselves, delayed copies included. Without them a model has no outputs.

    Examples
    --------
    >>> from koopsieve.data import Trajectories
    >>> phi = States().fit(Trajectories.from_arrays([[1.0, 2.0], [3.0, 4.0]], state_names=["angle", "speed"]))
    >>> phi.names, phi.outputs
    (('angle', 'speed'), (0, 1))
    """

    def fit_observables(self, samples: Samples, rng: np.random.Generator) -> StateColumns:
        """Take every state."""
        return StateColumns(samples.state_names, np.arange(len(samples.state_names)))


@dataclass(frozen=True, eq=False)
class Ones(Observables):
    """The constant observable."""

    def evaluate(self, states: FloatArray, out: FloatArray) -> None:
        """Fill with one."""
        out[:] = 1.0

    def select(self, columns: IndexArray) -> Self:
        """Keep it or not."""
        return type(self)(self.picked_names(columns))


@dataclass(frozen=True)
class Constant(Block):
    """The observable that is one everywhere: an offset for all others."""

    def fit_observables(self, samples: Samples, rng: np.random.Generator) -> Ones:
        """Nothing depends on the data."""
        return Ones(("1",))


@dataclass(frozen=True, eq=False)
class Products(Observables):
    """Monomials ∏ x_d^powers[i, d]."""

    powers: IndexArray

    def evaluate(self, states: FloatArray, out: FloatArray) -> None:
        """Multiply up each monomial from the states it holds."""
        for i, powers in enumerate(self.powers):
            used = np.flatnonzero(powers)
            out[:, i] = np.prod(states[:, used] ** powers[used], axis=1)

    def select(self, columns: IndexArray) -> Self:
        """Keep some of the monomials."""
        return type(self)(self.picked_names(columns), self.powers[columns])


@dataclass(frozen=True)
class Monomials(Block):
    """All products of states with total degree from two up to `degree`.

    Degree one is `States()`, degree zero `Constant()`.

    Parameters
    ----------
    degree : int
        Highest total degree, at least two.

    Examples
    --------
    >>> from koopsieve.data import Trajectories
    >>> Monomials(degree=2).fit(Trajectories.from_arrays([[1.0, 2.0], [3.0, 5.0]])).names
    ('x1^2', 'x1 x2', 'x2^2')
    """

    degree: int = 2

    def __post_init__(self) -> None:
        if self.degree < 2:
            raise KoopsieveError(
                f"degree must be at least 2. Got {self.degree}; degree one is States(), degree zero is Constant()."
            )

    def fit_observables(self, samples: Samples, rng: np.random.Generator) -> Products:
        """List the powers."""
        names, n = samples.state_names, len(samples.state_names)
        factors = [c for d in range(2, self.degree + 1) for c in combinations_with_replacement(range(n), d)]
        powers = np.array([np.bincount(c, minlength=n) for c in factors], dtype=np.intp).reshape(-1, n)
        return Products(tuple(_monomial_name(row, names) for row in powers), powers)


def _monomial_name(powers: IndexArray, names: tuple[str, ...]) -> str:
    return " ".join(
        name if power == 1 else f"{name}^{power}" for name, power in zip(names, powers, strict=True) if power
    )
