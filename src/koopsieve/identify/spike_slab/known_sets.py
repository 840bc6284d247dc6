"""The sets of regressors that a search knows, for many targets at once, with their log probabilities.

A set is a whole number: bit i says whether the i-th regressor that may turn is in. The table is flat, one row per
target and set, in increasing order of both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray

BITS = 40  # regressors that may turn at most; the number of the target stands above these bits


@dataclass(frozen=True, eq=False)
class KnownSets:
    """Known sets; every target has at least one.

    Parameters
    ----------
    key : array of int, shape (N,)
        Target and set in one number, increasing.
    value : array, shape (N,)
        Log probability, up to what all sets of a target share.
    solved : array of bool, shape (N,)
        Whether the value was computed in full; otherwise it is an estimate.
    expanded : array of bool, shape (N,)
        Whether the neighbours are known too.
    least : array, shape (T,)
        Value of a set of each target that is known to be no estimate.
    """

    key: IndexArray
    value: FloatArray
    solved: BoolArray
    expanded: BoolArray
    least: FloatArray

    @classmethod
    def of(cls, target: IndexArray, code: IndexArray, value: FloatArray, targets: int) -> KnownSets:
        """Return a table of sets whose values were computed in full, but whose neighbours are not known yet."""
        least = np.full(targets, -np.inf)
        np.maximum.at(least, target, value)
        none = np.zeros(0, dtype=bool)
        nothing = cls(np.zeros(0, dtype=np.intp), np.zeros(0), none, none, least)
        return nothing.with_sets(key_of(target, code), value)

    @property
    def targets(self) -> int:
        """Number of targets."""
        return len(self.least)

    @property
    def target(self) -> IndexArray:
        """Target of each set."""
        return self.key >> BITS

    @property
    def code(self) -> IndexArray:
        """Bits of each set."""
        return self.key & ((1 << BITS) - 1)

    def best(self) -> FloatArray:
        """Return the largest value of each target's sets that was computed in full: estimates may err."""
        best = self.least.copy()
        np.maximum.at(best, self.target[self.solved], self.value[self.solved])
        return best

    def next_to_expand(self, each: int, within: float, most: int, ever: int) -> IndexArray:
        """Return, per target, the best few rows that are not expanded and near its best.

        None once `most` as near to the best were expanded: where a better set has come up, the search goes on around
        it. And none once `ever` were expanded altogether.
        """
        near = self.value >= self.best()[self.target] - within
        spent, altogether = (self._count(self.expanded & which) for which in (near, np.ones_like(near)))
        left = (spent < most) & (altogether < ever)
        return self._largest(np.flatnonzero(~self.expanded & near & left[self.target]), each)

    def next_to_solve(self, each: int, within: float) -> IndexArray:
        """Return, per target, the best few rows that are estimates and near its best."""
        near = self.value >= self.best()[self.target] - within
        return self._largest(np.flatnonzero(~self.solved & near), each)

    def _count(self, which: BoolArray) -> IndexArray:
        return np.bincount(self.target[which], minlength=self.targets)

    def _largest(self, rows: IndexArray, each: int) -> IndexArray:
        """Return at most `each` rows of every target, those of the largest values."""
        rows = rows[np.lexsort((-self.value[rows], self.target[rows]))]
        target = self.target[rows]
        rank = np.arange(len(rows)) - np.searchsorted(target, target)
        return rows[rank < each]

    def with_solved(self, rows: IndexArray, value: FloatArray, expanded: bool = False) -> KnownSets:
        """Return the table with some values computed in full, and perhaps their neighbours known."""
        values, solved, known = self.value.copy(), self.solved.copy(), self.expanded.copy()
        values[rows], solved[rows], known[rows] = value, True, known[rows] | expanded
        return replace(self, value=values, solved=solved, expanded=known)

    def with_sets(self, key: IndexArray, value: FloatArray) -> KnownSets:
        """Return the table with more sets, estimated; of equal ones the solved stays, or that of the largest value."""
        new = np.zeros(len(key), dtype=bool)
        keys, values = np.concatenate([self.key, key]), np.concatenate([self.value, value])
        solved, expanded = (np.concatenate([flags, new]) for flags in (self.solved, self.expanded))
        order = np.lexsort((-values, ~solved, keys))
        order = order[np.append(True, np.diff(keys[order]) != 0)] if order.size else order
        return KnownSets(keys[order], values[order], solved[order], expanded[order], self.least)

    def within(self, nats: float) -> KnownSets:
        """Return the table without the sets that are further than this below their target's best.

        Those that were solved stay: known to be improbable, they need not be solved again.
        """
        kept = self.solved | (self.value >= self.best()[self.target] - nats)
        return KnownSets(self.key[kept], self.value[kept], self.solved[kept], self.expanded[kept], self.least)

    def capped(self) -> KnownSets:
        """Return the table with no estimate above the best value that was computed in full."""
        return replace(self, value=np.minimum(self.value, self.best()[self.target]))

    def log_total(self) -> FloatArray:
        """Return the logarithm of the summed probabilities of each target's sets."""
        best = self.best()
        total: FloatArray = best + np.log(np.bincount(self.target, np.exp(self.value - best[self.target])))
        return total


def key_of(target: IndexArray, code: IndexArray) -> IndexArray:
    """Return target and set in one number."""
    return (target << BITS) | code
