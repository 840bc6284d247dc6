"""The plainest functions: the states and the inputs themselves, a constant, and monomials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb
from typing import Any, Self

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError, whole_number
from koopsieve.data import Signals
from koopsieve.dictionary.observables import Observables, indices_below
from koopsieve.dictionary.program import Program, program
from koopsieve.dictionary.recipes import STATES, STATES_AND_INPUTS, Block, Domain, Fitted, Samples

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

    Examples
    --------
    >>> from koopsieve.data import Trajectories
    >>> phi = States().fit(Trajectories.from_arrays([[1.0, 2.0], [3.0, 4.0]], state_names=["angle", "speed"]))
    >>> phi.names, phi.outputs
    (('angle', 'speed'), (0, 1))
    """

    def fit_block(self, samples: Samples, rng: np.random.Generator) -> Fitted:
        """Take every state."""
        names = samples.signals.state_names
        return Fitted(observables=Coordinates(names, np.arange(len(names))))


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


@dataclass(frozen=True, eq=False)
class Products(Observables):
    """Monomials ∏ x_d^powers[i, d] of the first coordinates of the point."""

    powers: IndexArray

    def evaluate(self, points: FloatArray, out: FloatArray) -> None:
        """Multiply up each monomial from the coordinates it holds."""
        _multiply(self._of_points(points), out)

    def gradient(self, points: FloatArray) -> FloatArray:
        """Return, per factor of a monomial, the product of the others, added up where its coordinate stands."""
        gradient = np.zeros((len(points), self.size, points.shape[1] + 1))
        column = np.arange(self.size)
        for where, others in self._without_one_factor(points):
            gradient[:, column, where] += others
        return gradient[:, :, :-1]

    def slope_of_sums(self, points: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the same, each product already weighted and added up: one matrix product per factor."""
        sums, d = len(weights), points.shape[1]
        slope = np.zeros((len(points), sums * (d + 1)))
        for where, others in self._without_one_factor(points):
            placed = np.zeros((self.size, sums, d + 1))
            placed[np.arange(self.size), :, where] = weights.T
            slope += others @ placed.reshape(self.size, -1)
        return slope.reshape(len(points), sums, d + 1)[:, :, :d]

    def _of_points(self, points: FloatArray) -> list[FloatArray]:
        """Return the factors of all monomials at the points, one array (samples, size) per place in the product."""
        extended = padded(points[:, : self.powers.shape[1]])
        return [extended[:, row] for row in self._factors.T]

    def _without_one_factor(self, points: FloatArray) -> Iterator[tuple[IndexArray, FloatArray]]:
        """Yield per place in the product which coordinate stands there (d: none), and the product of the others."""
        held, none = self._of_points(points), self.powers.shape[1]
        for place, row in enumerate(self._factors.T):
            others = np.empty((len(points), self.size))
            _multiply(held[:place] + held[place + 1 :], others)
            yield np.where(row == none, points.shape[1], row), others

    @cached_property
    def _factors(self) -> IndexArray:
        """The coordinates that each monomial multiplies, (size, highest degree); the last stands for one."""
        degree, d = int(self.powers.sum(axis=1).max(initial=0)), self.powers.shape[1]
        factors = np.full((self.size, degree), d, dtype=np.intp)
        for i, powers in enumerate(self.powers):
            held = np.repeat(np.arange(d), powers)
            factors[i, : len(held)] = held
        return factors

    def program(self, width: int) -> Program:
        """Return the coordinates that each monomial multiplies."""
        return program(width, [np.repeat(np.arange(len(row)), row) for row in self.powers])

    def expression(self, column: int, point: Sequence[Any]) -> Any:
        """Return the product of powers."""
        from sympy import Mul

        return Mul(*(x ** int(power) for x, power in zip(point, self.powers[column], strict=False) if power))

    def fits(self, width: int) -> bool:
        """Tell whether there is a row of powers per name, and none is beyond reason."""
        powers = self.powers
        fits = powers.ndim == 2 and powers.shape[1] <= width
        fits = fits and indices_below(powers, (self.size, powers.shape[1]), MAX_DEGREE + 1)
        return fits and bool((powers.sum(axis=1) <= MAX_DEGREE).all())

    def select(self, columns: IndexArray) -> Self:
        """Keep some of the monomials."""
        return type(self)(self.picked_names(columns), self.powers[columns])


def _multiply(factors: Sequence[FloatArray], out: FloatArray) -> None:
    """Write the product of arrays of the same shape; of none it is one."""
    out[:] = 1.0
    for factor in factors:
        out *= factor


def padded(points: FloatArray) -> FloatArray:
    """Return the points with a last coordinate that is one."""
    return np.concatenate([points, np.ones((len(points), 1))], axis=1)


@dataclass(frozen=True, repr=False)
class Monomials(Block):
    """All products of states (or of states and inputs) with total degree from two up to `degree`.

    Degree one is `States()` and `Inputs()`, degree zero `Constant()`.

    Parameters
    ----------
    degree : int
        Highest total degree, at least two.
    of : {"states", "states and inputs"}
        With the second, products that hold an input are input terms, the others observables.
    depth : int, optional
        Multiply only samples that lie at most this many steps back; left out, all delays.

    Examples
    --------
    >>> from koopsieve.data import Trajectories
    >>> Monomials(degree=2).fit(Trajectories.from_arrays([[1.0, 2.0], [3.0, 5.0]])).names
    ('x1^2', 'x1 x2', 'x2^2')
    """

    degree: int = 2
    of: str = STATES
    depth: int | None = None

    def __post_init__(self) -> None:
        degree = whole_number("degree", self.degree)
        if self.depth is not None:
            whole_number("depth, the number of samples back,", self.depth)
        if not 2 <= degree <= MAX_DEGREE:
            raise KoopsieveError(
                f"degree must lie between 2 and {MAX_DEGREE}. Got {degree}; degree one is States(), degree zero is "
                "Constant()."
            )

    def fit_block(self, samples: Samples, rng: np.random.Generator) -> Fitted:
        """List the powers."""
        names = Domain(samples, self.of).names
        signals = samples.signals
        d, n, used = len(names), len(signals.state_names), self._columns(signals, len(names))
        count = comb(len(used) + self.degree, self.degree) - len(used) - 1
        if count > MAX_MONOMIALS:
            raise KoopsieveError(
                f"{len(used)} coordinates have {count:.6g} products up to degree {self.degree}, more than "
                f"{MAX_MONOMIALS}. Ask for a lower degree or fewer delays, or use kernels."
            )
        factors = [c for total in range(2, self.degree + 1) for c in combinations_with_replacement(used, total)]
        powers = np.array([np.bincount(c, minlength=d) for c in factors], dtype=np.intp).reshape(-1, d)
        if self.of == STATES_AND_INPUTS:
            with_input = powers[:, n:].any(axis=1)
            return Fitted(_products(powers[~with_input, :n], names), _products(powers[with_input], names))
        return Fitted(observables=_products(powers, names))

    def _columns(self, signals: Signals, coordinates: int) -> list[int]:
        """Return the coordinates that are multiplied: those at most `depth` samples back, and the acting inputs."""
        depths = signals.embedding.depths(len(signals.outputs), len(signals.inputs))
        near = np.ones(coordinates, dtype=bool)
        if self.depth is not None:
            near[: len(depths)] = depths <= self.depth
        return np.flatnonzero(near).tolist()


def _products(powers: IndexArray, names: tuple[str, ...]) -> Products:
    return Products(tuple(_monomial_name(row, names) for row in powers), powers)


def _monomial_name(powers: IndexArray, names: tuple[str, ...]) -> str:
    return " ".join(
        name if power == 1 else f"{name}^{power}" for name, power in zip(names, powers, strict=False) if power
    )
