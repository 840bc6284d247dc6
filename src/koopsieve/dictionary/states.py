"""The plainest functions: states, inputs and a constant; and products of two blocks, as in `Inputs() * States()`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.data.signals import Dataset
from koopsieve.dictionary.observables import Observables, Program, indices_below, multiplied, program
from koopsieve.dictionary.recipes import Block, Fitted


@dataclass(frozen=True, eq=False)
class Coordinates(Observables):
    """Some of the coordinates of the point, unchanged: states, or inputs."""

    columns: IndexArray
    per_column = ("columns",)

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

    def fit_block(self, samples: Dataset, rng: np.random.Generator) -> Fitted:
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

    def fit_block(self, samples: Dataset, rng: np.random.Generator) -> Fitted:
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


@dataclass(frozen=True, repr=False)
class Constant(Block):
    """The observable that is one everywhere: an offset for all others."""

    def fit_block(self, samples: Dataset, rng: np.random.Generator) -> Fitted:
        """Nothing depends on the data."""
        return Fitted(observables=Ones(("1",)))


@dataclass(frozen=True, eq=False)
class Pairs(Observables):
    """left[first[i]] · right[second[i]], one per column."""

    left: Observables
    right: Observables
    # (2,): how many coordinates of the point each family takes: functions of the state take fewer than input terms
    widths: IndexArray
    # first, second (size,): which function of each family a column multiplies
    first: IndexArray
    second: IndexArray

    @classmethod
    def of(cls, left: Observables, right: Observables, widths: tuple[int, int]) -> Pairs:
        """Return all products of two families."""
        names = tuple(f"{a} {b}" for a in left.names for b in right.names)
        first, second = np.divmod(np.arange(left.size * right.size), max(right.size, 1))
        return cls(names, left, right, np.array(widths, dtype=np.intp), first, second)

    def evaluate(self, points: FloatArray, out: FloatArray) -> None:
        """Evaluate each family once and multiply."""
        np.multiply(*self._factors(points), out=out)

    def gradient(self, points: FloatArray) -> FloatArray:
        """Apply the product rule."""
        a, b = self._factors(points)
        product = np.zeros((len(points), self.size, points.shape[1]))
        left, right = self.widths
        product[:, :, :left] += self.left.gradient(points[:, :left])[:, self.first] * b[:, :, None]
        product[:, :, :right] += a[:, :, None] * self.right.gradient(points[:, :right])[:, self.second]
        return product

    def _factors(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        left, right = self.widths
        return self.left(points[:, :left])[:, self.first], self.right(points[:, :right])[:, self.second]

    def program(self, width: int) -> Program | None:
        """Return terms with the factors of both functions."""
        left, right = self.left.program(width), self.right.program(width)
        return None if left is None or right is None else multiplied(left, right, self.first, self.second)

    def expression(self, column: int, point: Sequence[Any]) -> Any:
        """Return the product of the factors' expressions."""
        left, right = int(self.first[column]), int(self.second[column])
        return self.left.expression(left, point) * self.right.expression(right, point)

    def fits(self, width: int) -> bool:
        """Tell whether there are two factors per name."""
        factors = ((self.first, self.left.size), (self.second, self.right.size))
        inside = all(indices_below(index, (self.size,), count) for index, count in factors)
        return inside and indices_below(self.widths, (2,), width + 1)

    def code(self) -> Iterator[Observables]:
        """Yield those of both factors."""
        yield from self.left.code()
        yield from self.right.code()

    def select(self, columns: IndexArray) -> Self:
        """Keep some of the products, and only the factors they use."""
        used_left, first = np.unique(self.first[columns], return_inverse=True)
        used_right, second = np.unique(self.second[columns], return_inverse=True)
        left, right = self.left.select(used_left), self.right.select(used_right)
        return replace(super().select(columns), left=left, right=right, first=first, second=second)


@dataclass(frozen=True, repr=False)
class Times(Block):
    """All products of two blocks, as `*` writes them.

    Examples
    --------
    >>> from koopsieve.data import Trajectories
    >>> from koopsieve.dictionary import Inputs, States
    >>> data = Trajectories.from_arrays([[1.0, 2.0], [3.0, 4.0], [5.0, 5.0]], [[1.0], [2.0]])
    >>> (States() + Inputs() * States()).fit(data).input_term_names
    ('u1 x1', 'u1 x2')
    """

    left: Block
    right: Block

    def fit_block(self, samples: Dataset, rng: np.random.Generator) -> Fitted:
        """Fit both factors and multiply; a product with an input term is an input term."""
        left, left_sees_input = _only_family(self.left.fit_block(samples, rng))
        right, right_sees_input = _only_family(self.right.fit_block(samples, rng))
        states, both = len(samples.signals.state_names), len(samples.signals.state_names + samples.signals.acting)
        family = Pairs.of(left, right, (both if left_sees_input else states, both if right_sees_input else states))
        return Fitted(input_terms=family) if left_sees_input or right_sees_input else Fitted(observables=family)

    def __repr__(self) -> str:
        return f"{self.left!r} * {self.right!r}"


def _only_family(fitted: Fitted) -> tuple[Observables, bool]:
    """Return the one family of a fitted block, and whether it sees the input."""
    if fitted.observables is not None and fitted.input_terms is not None:
        raise KoopsieveError(
            "A factor of a product must be functions of the state, or functions that all see the input. "
            'Use of="states" for one factor, and Inputs() for the other.'
        )
    family = fitted.observables if fitted.input_terms is None else fitted.input_terms
    if family is None:
        raise KoopsieveError("A factor of a product has no functions at all. Leave the product out.")
    return family, fitted.input_terms is not None
