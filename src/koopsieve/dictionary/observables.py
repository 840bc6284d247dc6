"""A fitted family of functions: values and slopes of all terms in NumPy, and one SymPy expression per term.

A family is a memoryless map from points (samples, d) to values (samples, k) with a readable name per column, and can be
cut to any of its columns. A point is a state x, or a state and the input that acts on it, (x, u). Functions of x alone
are the *observables* φ(x); functions that see the input are the *input terms* ψ(x, u). Text, LaTeX, C, CasADi and
MATLAB code are all made from a term's expression.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from koopsieve._types import FloatArray, IndexArray
from koopsieve.dictionary.program import Program


@dataclass(frozen=True, eq=False)
class Observables(ABC):
    """A fitted family of functions of a point.

    Its fields beside the names are arrays of numbers or of indices, texts, or families of which it is made: what a
    model file can hold.

    Parameters
    ----------
    names : tuple of str
        One per column.
    """

    names: tuple[str, ...]

    @property
    def size(self) -> int:
        """Number of functions."""
        return len(self.names)

    @abstractmethod
    def evaluate(self, points: FloatArray, out: FloatArray) -> None:
        """Write the values at `points` (samples, d) into `out` (samples, size)."""

    @abstractmethod
    def gradient(self, points: FloatArray) -> FloatArray:
        """Return the derivatives with respect to the point's coordinates, shape (samples, size, d)."""

    def slope_of_sums(self, points: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the derivatives of weighted sums of the functions, shape (samples, sums, d); weights (sums, size)."""
        return weights @ self.gradient(points)

    def program(self, width: int) -> Program | None:
        """Return the functions as a flat program of points with `width` coordinates; None where they are code."""
        return None

    @abstractmethod
    def expression(self, column: int, point: Sequence[Any]) -> Any:
        """Return one function as a SymPy expression of the point's coordinates, which are real symbols."""

    @abstractmethod
    def select(self, columns: IndexArray) -> Self:
        """Return the family cut to the given columns; what is cut away is not computed any more."""

    @abstractmethod
    def fits(self, width: int) -> bool:
        """Tell whether the arrays belong to the names and to points of `width` coordinates; a file may hold others."""

    def code(self) -> Iterator[Observables]:
        """Yield the families within this one that are computed by a user's Python code and have no expression."""
        return iter(())

    def described(self) -> str:
        """Return what computes the functions, as a user knows it."""
        return type(self).__name__

    def span(self) -> FloatArray | None:
        """Return least and largest coordinates, shape (2, d), between which the functions vary; None if everywhere."""
        return None

    def picked_names(self, columns: IndexArray) -> tuple[str, ...]:
        """Return the names of some columns."""
        return tuple(self.names[i] for i in columns)

    def __call__(self, points: FloatArray) -> FloatArray:
        """Return the values at `points`, shape (samples, size)."""
        out = np.empty((len(points), self.size))
        self.evaluate(points, out)
        return out


def frozen(values: ArrayLike) -> FloatArray:
    """Return a read-only float array."""
    array = np.array(values, dtype=float)
    array.flags.writeable = False
    return array


def indices_below(values: NDArray[Any], shape: tuple[int, ...], limit: int) -> bool:
    """Tell whether an array of indices has this shape, and all of them are below `limit`."""
    inside = not values.size or (int(values.min()) >= 0 and int(values.max()) < limit)
    return values.shape == shape and inside
