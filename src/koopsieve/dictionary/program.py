"""Terms as one flat program: index tables that a compiled loop works through, without objects inside the loop.

Every term is a product of atoms: coordinates of the point, kernels, waves, and the nodes of an expression. A family
gives its program, or None where a user's Python code computes it; whoever runs programs then falls back on NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from koopsieve._types import FloatArray, IndexArray

KERNEL, WAVE, NODE = 1 << 28, 2 << 28, 3 << 28  # the first atom of each kind; coordinates count from zero
OPERATIONS = (  # in the order in which the compiled loops know them
    *("number", "add", "multiply", "power", "maximum", "minimum", "absolute", "sign"),
    *("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "atan"),
)


class Tables(NamedTuple):
    """A program for the compiled loops; atoms are numbered through: coordinates, kernels, waves, nodes.

    Parameters
    ----------
    centers, steepness : array, shape (kernels, width)
        exp(−Σ_d steepness_d·(z_d − center_d)²).
    frequencies, phases : array, shape (waves, width) and (waves,)
        cos(z·frequency + phase).
    operation, left, right, number : array, shape (nodes,)
        Index among `OPERATIONS`, the atoms it works on, and its constant; a node stands after those it works on.
    first, factors : array of int, shape (p + 1,) and (all factors,)
        Term i multiplies the atoms factors[first[i]:first[i + 1]].
    """

    centers: FloatArray
    steepness: FloatArray
    frequencies: FloatArray
    phases: FloatArray
    operation: IndexArray
    left: IndexArray
    right: IndexArray
    number: FloatArray
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
