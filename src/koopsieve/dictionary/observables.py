"""A fitted family of functions: values and slopes of all terms in NumPy, and one SymPy expression per term.

A family is a memoryless map from points (samples, d) to values (samples, k) with a readable name per column, and can be
cut to any of its columns. A point is a state x, or a state and the input that acts on it, (x, u). Functions of x alone
are the *observables* φ(x); functions that see the input are the *input terms* ψ(x, u). Text, LaTeX, C, CasADi and
MATLAB code are all made from a term's expression.

`Program` holds terms as index tables that a compiled loop works through, without objects inside the loop. Every term is
then a product of atoms: coordinates of the point, kernels, waves, and the nodes of an expression. A family gives its
program, or None where a user's Python code computes it; whoever runs programs then falls back on NumPy.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from koopsieve._types import FloatArray, IndexArray

KERNEL, WAVE, NODE = 1 << 28, 2 << 28, 3 << 28  # the first atom of each kind; coordinates count from zero
OPERATIONS = (  # in the order in which the compiled loops know them
    *("number", "add", "multiply", "power", "maximum", "minimum", "absolute", "sign"),
    *("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan"),
)


class Tables(NamedTuple):
    """A program for the compiled loops; atoms are numbered through: coordinates, kernels, waves, nodes."""

    # centers, steepness (kernels, width): exp(−Σ_d steepness_d·(z_d − center_d)²)
    centers: FloatArray
    steepness: FloatArray
    # frequencies, phases (waves, width) and (waves,): cos(z·frequency + phase)
    frequencies: FloatArray
    phases: FloatArray
    # operation, left, right, number (nodes,): index among `OPERATIONS`, the atoms it works on, and its constant; a
    # node stands after those it works on
    operation: IndexArray
    left: IndexArray
    right: IndexArray
    number: FloatArray
    # first, factors (p + 1,) and (all factors,): term i multiplies the atoms factors[first[i]:first[i + 1]]
    first: IndexArray
    factors: IndexArray


@dataclass(frozen=True, eq=False)
class Program:
    """Terms as products of atoms, in tables as in `Tables`; only the numbers of atoms are kept apart by kind."""

    width: int
    tables: Tables

    @property
    def size(self) -> int:
        """Number of terms."""
        return len(self.tables.first) - 1

    @cached_property
    def flat(self) -> Tables:
        """The tables with all atoms numbered through."""
        one = self.tables
        starts = np.cumsum([self.width, len(one.centers), len(one.phases)])

        def through(atoms: IndexArray) -> IndexArray:
            kind = atoms >> 28
            return np.where(kind > 0, (atoms & (KERNEL - 1)) + starts[kind - 1], atoms)

        return one._replace(left=through(one.left), right=through(one.right), factors=through(one.factors))

    def select(self, terms: IndexArray) -> Program:
        """Return some of the terms; atoms that no term needs are not computed any more."""
        one = self.tables
        lengths = np.diff(one.first)[terms]
        first = np.concatenate([[0], np.cumsum(lengths)])
        places = np.arange(first[-1]) - np.repeat(first[:-1] - one.first[:-1][terms], lengths)
        return replace(self, tables=one._replace(first=first, factors=one.factors[places]))._pruned()

    def _pruned(self) -> Program:
        one = self.tables
        nodes = np.zeros(len(one.operation), dtype=bool)
        nodes[one.factors[one.factors >= NODE] - NODE] = True
        for i in range(len(nodes) - 1, -1, -1):
            if nodes[i]:
                nodes[[a - NODE for a in (one.left[i], one.right[i]) if a >= NODE]] = True
        kernels = np.unique(one.factors[(one.factors >= KERNEL) & (one.factors < WAVE)]) - KERNEL
        waves = np.unique(one.factors[(one.factors >= WAVE) & (one.factors < NODE)]) - WAVE
        kept = np.flatnonzero(nodes)

        def renumbered(atoms: IndexArray) -> IndexArray:
            found = atoms.copy()
            for start, used in ((KERNEL, kernels), (WAVE, waves), (NODE, kept)):
                those = (atoms >= start) & (atoms < start + KERNEL)
                found[those] = start + np.searchsorted(used, atoms[those] - start)
            return found

        return replace(
            self,
            tables=Tables(
                one.centers[kernels], one.steepness[kernels], one.frequencies[waves], one.phases[waves],
                one.operation[kept], renumbered(one.left[kept]), renumbered(one.right[kept]), one.number[kept],
                one.first, renumbered(one.factors),
            ),
        )  # fmt: skip


def program(
    width: int,
    factors: Sequence[Sequence[int] | IndexArray] | IndexArray,
    kernels: tuple[FloatArray, FloatArray] | None = None,
    waves: tuple[FloatArray, FloatArray] | None = None,
    nodes: Sequence[tuple[str, int, int, float]] = (),
) -> Program:
    """Return the program of terms that multiply these atoms; see `Tables`."""
    none = np.zeros((0, width))
    centers, steepness = (none, none) if kernels is None else kernels
    frequencies, phases = (none, np.zeros(0)) if waves is None else waves
    columns = list(zip(*nodes, strict=True)) or [(), (), (), ()]
    operation = np.array([OPERATIONS.index(name) for name in columns[0]], dtype=np.int64)
    left, right = (np.array(one, dtype=np.int64) for one in columns[1:3])
    first = np.concatenate([[0], np.cumsum([len(row) for row in factors], dtype=np.int64)]).astype(np.int64)
    flat = np.array([atom for row in factors for atom in row], dtype=np.int64)
    wide = [_widened(one, width) for one in (centers, steepness, frequencies)]
    number = np.array(columns[3], dtype=float)
    atoms = (wide[0], wide[1], wide[2], np.ascontiguousarray(phases), operation, left, right, number)
    return Program(width, Tables(*atoms, first, flat))


def _widened(rows: FloatArray, width: int) -> FloatArray:
    """Return rows with zeros for the coordinates beyond those that they know."""
    wide = np.zeros((len(rows), width))
    wide[:, : rows.shape[1]] = rows
    return wide


def joined(parts: Sequence[Program]) -> Program:
    """Return the terms of several programs of the same points, one after the other."""
    counts = np.array([[len(one.tables.centers), len(one.tables.phases), len(one.tables.operation)] for one in parts])
    before = np.cumsum(counts, axis=0) - counts

    def moved(atoms: IndexArray, by: IndexArray) -> IndexArray:
        kind = atoms >> 28
        return np.where(kind > 0, atoms + by[kind - 1], atoms)

    tables = [
        one._replace(left=moved(one.left, by), right=moved(one.right, by), factors=moved(one.factors, by))
        for one, by in zip([part.tables for part in parts], before, strict=True)
    ]
    lengths = np.concatenate([np.diff(one.first) for one in tables])
    together = {name: np.concatenate([getattr(one, name) for one in tables]) for name in Tables._fields}
    return Program(parts[0].width, Tables(**{**together, "first": np.concatenate([[0], np.cumsum(lengths)])}))


def multiplied(left: Program, right: Program, first: IndexArray, second: IndexArray) -> Program:
    """Return the products left[first[i]]·right[second[i]]: the factors of both."""
    both = joined([left, right])
    one = both.tables
    rows = [one.factors[one.first[i] : one.first[i + 1]] for i in range(both.size)]
    factors = [np.concatenate([rows[i], rows[left.size + j]]) for i, j in zip(first, second, strict=True)]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in factors], dtype=np.int64)])
    flat = np.concatenate(factors) if factors else np.zeros(0, dtype=np.int64)
    return replace(both, tables=one._replace(first=starts, factors=flat))._pruned()


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
    per_column: ClassVar[tuple[str, ...]] = ()  # fields with a row per function, beside the names

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

    def select(self, columns: IndexArray) -> Self:
        """Return the family cut to the given columns; what is cut away is not computed any more."""
        rows = {field: getattr(self, field)[columns] for field in self.per_column}
        return replace(self, names=tuple(self.names[i] for i in columns), **rows)

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


def offsets(families: Sequence[Observables]) -> IndexArray:
    """Return where the columns of each family begin, and where the last ends."""
    return np.cumsum([0, *(family.size for family in families)])


def evaluate_families(families: Sequence[Observables], points: FloatArray, out: FloatArray) -> None:
    """Write the values of families side by side into `out` (samples, columns)."""
    first = 0
    for family in families:
        family.evaluate(points, out[:, first : first + family.size])
        first += family.size


def selected(families: Sequence[Observables], kept: IndexArray) -> tuple[Observables, ...]:
    """Return the families cut to the columns kept; those that lose all are left out."""
    first = offsets(families)
    owner = np.searchsorted(first, kept, side="right") - 1
    return tuple(family.select(kept[owner == i] - first[i]) for i, family in enumerate(families) if (owner == i).any())
