"""The sets of regressors that a search knows, with their log probabilities; and the regressors whose flags it may turn.

A set is a whole number: bit i says whether the i-th regressor that may turn is in. The table is flat, one row per
target and set, in increasing order of both. `Turnable` finds, from a target's first sets, the few regressors that one
probable set has and another has not; the others are in or out for good.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.identify.spike_slab.neighbourhood import Neighbourhood, SetSpace

BITS = 40  # regressors that may turn at most; the number of the target stands above these bits


@dataclass(frozen=True, eq=False)
class KnownSets:
    """Known sets; every target has at least one."""

    key: IndexArray  # (N,): target and set in one number, increasing
    value: FloatArray  # (N,): log probability, up to what all sets of a target share
    solved: BoolArray  # (N,): whether the value was computed in full; otherwise it is an estimate
    expanded: BoolArray  # (N,): whether the neighbours are known too
    least: FloatArray  # (T,): value of a set of each target that is known to be no estimate

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


@dataclass(frozen=True, eq=False)
class FirstSets:
    """The first sets of a group of T targets, and what their neighbourhoods over all regressors show."""

    group: IndexArray  # (n,): target of each set, numbered within the group; each has at least one
    index: IndexArray  # (n, k): regressors of each set
    value: FloatArray  # (n,): log probability of each set
    # log_in, log_out (T, p + 1): largest log probability found of a set with, and of one without, each regressor
    log_in: FloatArray
    log_out: FloatArray
    square: FloatArray  # (T, p): E β² that each regressor would get as a newcomer to one of its target's sets

    @classmethod
    def of(cls, space: SetSpace, targets: IndexArray, group: IndexArray, index: IndexArray) -> FirstSets:
        """Evaluate the neighbourhoods of the first sets, stack by stack."""
        value, square = np.empty(len(group)), np.empty((len(targets), space.p))
        log_in, log_out = (np.full((len(targets), space.p + 1), -np.inf) for _ in range(2))
        for rows in space.stacks(space.size(index), space.p):
            found = space.around(targets[group[rows]], space.compact(index[rows]))
            value[rows] = found.value
            square[group[rows]] = found.newcomer_mean**2 + found.newcomer_variance
            with_, without = _in_and_out(space, found)
            np.maximum.at(log_in, group[rows], with_)
            np.maximum.at(log_out, group[rows], without)
        best = np.full(len(targets), -np.inf)
        np.maximum.at(best, group, value)  # above which a neighbour's estimate is not believed: a climb ended here
        log_in, log_out = (np.minimum(values, best[:, None]) for values in (log_in, log_out))
        return cls(group, index, value, log_in, log_out, square)

    @property
    def best(self) -> IndexArray:
        """The row of each target's most probable set."""
        order = np.lexsort((self.value, self.group))
        return order[np.searchsorted(self.group[order], np.arange(len(self.log_in)), side="right") - 1]


def _in_and_out(space: SetSpace, found: Neighbourhood) -> tuple[FloatArray, FloatArray]:
    """Return, per set and regressor, the largest log probability nearby of a set with it and of one without it."""
    inside, value = space.flags(found.index), found.value[:, None]
    coming, leaving = (np.full((len(inside), space.p + 1), -np.inf) for _ in range(2))
    coming[:, :-1] = found.moves[:, :, :-1].max(axis=1)
    np.put_along_axis(leaving, found.index, found.moves[:, :-1].max(axis=2), axis=1)
    return np.where(inside, value, value + coming), np.where(inside, value + leaving, value)


@dataclass(frozen=True, eq=False)
class Turnable:
    """The regressors that may turn, for a group of T targets."""

    targets: IndexArray  # (T,): which targets they are
    local: IndexArray  # (T, c): regressors that may turn, padded
    fixed: IndexArray  # (T, k): regressors that stay in, padded

    @classmethod
    def of(cls, space: SetSpace, targets: IndexArray, first: FirstSets, within: float) -> Turnable:
        """Find what is in one set and out of another within `within` nats of the best; at most `BITS` of them."""
        either = np.minimum(first.log_in, first.log_out)[:, : space.p]
        best = np.maximum(first.log_in, first.log_out).max(axis=1, keepdims=True)
        near = either >= best - within
        count = min(int(np.count_nonzero(near, axis=1).max(initial=0)), BITS)
        local = np.argsort(-either, axis=1, kind="stable")[:, :count]
        local = np.where(np.take_along_axis(near, local, axis=1), local, space.p)
        fixed = space.flags(first.index[first.best])
        np.put_along_axis(fixed, local, False, axis=1)
        return cls(targets, local, space.compact(np.where(fixed, np.arange(space.p + 1), space.p)))

    @property
    def bit(self) -> IndexArray:
        """Value of each bit, and a last zero for the padding."""
        return np.append(np.left_shift(1, np.arange(self.local.shape[1])), 0)

    def member(self, code: IndexArray) -> IndexArray:
        """Return the bits of sets, shape (n, c)."""
        return np.right_shift(code[:, None], np.arange(self.local.shape[1])) & 1

    def known(self, space: SetSpace, first: FirstSets) -> KnownSets:
        """Return the first sets as whole numbers; those that differ in what may not turn are left out."""
        flags, local = space.flags(first.index), self.local[first.group]
        code = np.take_along_axis(flags, local, axis=1) @ self.bit[:-1]
        np.put_along_axis(flags, local, False, axis=1)
        alike = (flags == space.flags(self.fixed)[first.group]).all(axis=1)
        return KnownSets.of(first.group[alike], code[alike], first.value[alike], len(self.targets))

    def neighbourhoods(
        self, space: SetSpace, known: KnownSets, rows: IndexArray
    ) -> Iterator[tuple[IndexArray, Neighbourhood, IndexArray]]:
        """Return rows of the table, stack by stack, with their neighbourhoods and the keys of all neighbours.

        The keys have the shape of the moves; those of moves that would turn what may not are −1.
        """
        for stack in self._stacks(space, known, rows):
            group, code = known.target[stack], known.code[stack]
            place, index, fixed = self._sets(space, group, code)
            found = space.around(self.targets[group], index, self.local[group])
            out = np.append(self.bit[place], np.zeros((len(group), 1), dtype=np.intp), axis=1)
            key = key_of(group, code)[:, None, None] - out[:, :, None] + self.bit
            yield stack, found, np.append(np.full((len(group), fixed, key.shape[2]), -1), key, axis=1)

    def alone(self, space: SetSpace, known: KnownSets, rows: IndexArray) -> Iterator[tuple[IndexArray, Neighbourhood]]:
        """Return rows of the table, stack by stack, with their values and posteriors but without neighbours."""
        for stack in self._stacks(space, known, rows):
            group = known.target[stack]
            _, index, _ = self._sets(space, group, known.code[stack])
            yield stack, space.around(self.targets[group], index, np.empty((len(group), 0), dtype=np.intp))

    def _stacks(self, space: SetSpace, known: KnownSets, rows: IndexArray) -> Iterator[IndexArray]:
        size = space.size(self.fixed[known.target[rows]]) + self.member(known.code[rows]).sum(axis=1)
        for stack in space.stacks(size, self.local.shape[1]):
            yield rows[stack]

    def _sets(self, space: SetSpace, group: IndexArray, code: IndexArray) -> tuple[IndexArray, IndexArray, int]:
        """Return sets as places among the turnable regressors and as indices, and the number of fixed ones, first."""
        local, member = self.local[group], self.member(code)
        place = np.sort(np.where(member, np.arange(local.shape[1]), local.shape[1]), axis=1)
        place = place[:, : int(member.sum(axis=1).max(initial=0))]
        fixed, padded = space.compact(self.fixed[group]), np.append(local, np.full((len(local), 1), space.p), axis=1)
        return place, np.append(fixed, np.take_along_axis(padded, place, axis=1), axis=1), fixed.shape[1]
