"""Monomials of hidden states and inputs as flat tables: one multiplication per monomial, no objects in a time loop.

Comes in: the powers of every term. Goes out: values of all terms, and of everything that their slopes are made of, at
many points at once. Here the points are the *last* axis: a row of the table is then one contiguous copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb

import numpy as np

from koopsieve._types import FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class PowerTable:
    """The terms ψ(x, u) = ∏ x^a u^b.

    Parameters
    ----------
    powers : array of int, shape (m, n + l)
        Of every state and input, a row per term.
    states : int
        Number of states n.
    """

    powers: IndexArray
    states: int

    @classmethod
    def up_to(cls, degree: int, states: int, inputs: int) -> PowerTable:
        """Return all terms up to a total degree: the constant, states and inputs, then products.

        Examples
        --------
        >>> PowerTable.up_to(2, 1, 1).powers.tolist()
        [[0, 0], [1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]
        """
        width = states + inputs
        factors = [c for total in range(degree + 1) for c in combinations_with_replacement(range(width), total)]
        powers = [np.bincount(np.array(c, dtype=np.intp), minlength=width) for c in factors]
        return cls(np.array(powers, dtype=np.intp).reshape(-1, width), states)

    @staticmethod
    def count(degree: int, coordinates: int) -> int:
        """Return how many terms there are up to a total degree."""
        return comb(coordinates + degree, degree)

    @property
    def size(self) -> int:
        """Number of terms m."""
        return len(self.powers)

    @property
    def degrees(self) -> IndexArray:
        """Total degree of every term."""
        degrees: IndexArray = self.powers.sum(axis=1)
        return degrees

    def select(self, terms: IndexArray) -> PowerTable:
        """Return some of the terms."""
        return PowerTable(self.powers[terms], self.states)

    @cached_property
    def closed(self) -> IndexArray:
        """Powers of the terms and of all their divisors by degree, shape (c, n + l); the first is the constant."""
        found = {(0,) * self.powers.shape[1]}
        waiting = [tuple(row) for row in self.powers.tolist()]
        while waiting:
            row = waiting.pop()
            if row not in found:
                found.add(row)
                waiting += [_divided(row, j) for j, power in enumerate(row) if power]
        ordered = sorted(found, key=lambda row: (sum(row), tuple(-power for power in row)))
        return np.array(ordered, dtype=np.intp).reshape(len(ordered), -1)

    @cached_property
    def columns(self) -> IndexArray:
        """Where each term stands among `closed`."""
        return np.array([self._place[tuple(row)] for row in self.powers.tolist()], dtype=np.intp)

    def values(self, points: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return all of `closed` at points (n + l, W), shape (c, W), written into `out` if that is given."""
        found = np.empty((len(self.closed), points.shape[1])) if out is None else out
        found[0] = 1.0
        for degree, (level, parents, factors) in enumerate(self._levels, start=1):
            if degree == 1:
                points.take(factors, 0, out=found[level], mode="clip")  # the mode saves a copy: all indices exist
            else:
                np.multiply(found.take(parents, 0), points.take(factors, 0), out=found[level])
        return found

    def spread(self, coef: FloatArray) -> FloatArray:
        """Return coefficients (rows, m) of the terms as coefficients (rows, c) of `closed`."""
        spread = np.zeros((len(coef), len(self.closed)))
        spread[:, self.columns] = coef
        return spread

    def slopes(self, coef: FloatArray) -> FloatArray:
        """Return M, shape (rows·n, c'), with ∂(coef ψ)/∂x = M times the first c' of `closed`: the degrees below."""
        term, state, lower, power = self._divisors
        highest = int(lower.max(initial=0)) + 1
        matrix = np.zeros((len(coef), self.states, highest))
        matrix[:, state, lower] = coef[:, term] * power
        return matrix.reshape(-1, highest)

    @cached_property
    def _place(self) -> dict[tuple[int, ...], int]:
        return {tuple(row): i for i, row in enumerate(self.closed.tolist())}

    @cached_property
    def _levels(self) -> tuple[tuple[slice, IndexArray, IndexArray], ...]:
        """Per degree: its rows of `closed`, what each is a multiple of, and by which coordinate."""
        degrees = self.closed.sum(axis=1)
        factors = np.argmax(self.closed > 0, axis=1)
        parents = [
            self._place[_divided(tuple(row), j)] if sum(row) else 0
            for row, j in zip(self.closed.tolist(), factors, strict=True)
        ]
        levels = []
        for degree in range(1, int(degrees[-1]) + 1):
            first, last = np.searchsorted(degrees, [degree, degree + 1])
            level = slice(int(first), int(last))
            levels.append((level, np.array(parents[level], dtype=np.intp), factors[level]))
        return tuple(levels)

    @cached_property
    def _divisors(self) -> tuple[IndexArray, IndexArray, IndexArray, IndexArray]:
        """Term, state, place of the term divided by the state, and the state's power in the term."""
        rows = [
            (i, j, self._place[_divided(tuple(row), j)], row[j])
            for i, row in enumerate(self.powers.tolist())
            for j in range(self.states)
            if row[j]
        ]
        term, state, lower, power = np.array(rows, dtype=np.intp).reshape(-1, 4).T
        return term, state, lower, power


def _divided(row: tuple[int, ...], coordinate: int) -> tuple[int, ...]:
    return (*row[:coordinate], row[coordinate] - 1, *row[coordinate + 1 :])
