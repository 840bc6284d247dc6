"""Inclusion and weights averaged over sets of regressors, for targets that several sets explain about equally well.

Mean-field inference ends at one set and is certain of it. Among regressors that nearly copy each other many sets are as
good. Here a target's posterior is averaged over the sets that one addition, removal or exchange reaches from the best
ones: the best sets known are *expanded*, one round after another, which computes their evidence in full and that of all
their neighbours by rank-one formulas (D69). In come the endings of mean-field inference, out come inclusion, means
and variances (D70).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.identify.prior import ProblemPrior
from koopsieve.identify.spike_slab.known_sets import FirstSets, KnownSets, Turnable
from koopsieve.identify.spike_slab.neighbourhood import Neighbourhood, SetSpace
from koopsieve.identify.standardise import StandardProblem

MAX_EXPANDED = 24  # sets per target, near its best, whose neighbours are evaluated
MAX_EXPANDED_EVER = 96  # those included that were near the best before a better one was found
EXPANDED_PER_ROUND = 6  # of one target at once
EXPANDED_WITHIN = 4.0  # nats below the best: sets further down are not expanded
SOLVED_WITHIN = 7.0  # nats below the best: in the end, sets down to there are solved and not only estimated
MAX_SOLVED = 64  # of them per target
COUNTED_WITHIN = 9.0  # nats below the best: sets further down are not counted
_EXPANSION = (EXPANDED_PER_ROUND, EXPANDED_WITHIN, MAX_EXPANDED, MAX_EXPANDED_EVER)
NUMBERS_AT_ONCE = 1 << 18  # flags in a group of targets that is worked on together: what was solved is kept for each


@dataclass(frozen=True, eq=False)
class WeightMoments:
    """Inclusion, mean and variance of every effective weight, in standard units, shape (p, q)."""

    inclusion: FloatArray
    mean: FloatArray
    variance: FloatArray


def average(prior: ProblemPrior, problem: StandardProblem, first: BoolArray, rho: FloatArray) -> WeightMoments:
    """Return the averages of all q targets, whose noise precisions are `rho` (q,).

    `first` (p, starts, q) are sets at which inference ended, one or more per target; those that are always in are in
    all.
    """
    space, shape = SetSpace.of(prior, problem, rho), problem.S.shape
    found = WeightMoments(np.zeros(shape), np.zeros(shape), np.zeros(shape))
    at_once = max(NUMBERS_AT_ONCE // (shape[0] * first.shape[1]), 1)
    for begin in range(0, shape[1], at_once):
        targets = np.arange(begin, min(begin + at_once, shape[1]))
        parts = _averaged(space, targets, first[:, :, targets])
        for into, values in zip((found.inclusion, found.mean, found.variance), parts, strict=True):
            into[:, targets] = values.T
    return found


@dataclass(frozen=True, eq=False)
class Solved:
    """Sets whose posterior was computed: targets within the group, log probabilities, regressors, E β and E β²."""

    group: IndexArray
    value: FloatArray
    index: IndexArray
    mean: FloatArray
    square: FloatArray

    @classmethod
    def of(cls, group: IndexArray, found: Neighbourhood, new: BoolArray | slice = slice(None)) -> Solved:
        """Keep what the averages need, of all sets or of those that are new."""
        mean = found.posterior.mean[new]
        square = mean**2 + found.posterior.variance[new]
        return cls(group[new], found.value[new], found.index[new], mean, square)


def _averaged(space: SetSpace, targets: IndexArray, sets: BoolArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return inclusion, means and variances of a group of targets, shape (T, p): (D70)."""
    first = FirstSets.of(space, targets, *_different(space, targets, sets))
    turnable = Turnable.of(space, targets, first, COUNTED_WITHIN)
    known, solved = _searched(space, turnable, turnable.known(space, first).within(COUNTED_WITHIN))
    total = known.log_total()
    inclusion = _inclusion(space, turnable, first, known, total)
    mean, square = _moments(space, first, solved, inclusion)
    return inclusion, mean, np.maximum(square - mean**2, 0.0)


def _different(space: SetSpace, targets: IndexArray, sets: BoolArray) -> tuple[IndexArray, IndexArray]:
    """Return the different sets that the best moves lead to from the given ones: targets in the group, regressors."""
    group = np.tile(np.arange(sets.shape[2]), sets.shape[1])
    index = np.where(sets.reshape(space.p, -1).T, np.arange(space.p), space.p)
    group, index = _unique(group, space.compact(index))
    return _unique(group, space.climbed(targets[group], index))


def _unique(group: IndexArray, index: IndexArray) -> tuple[IndexArray, IndexArray]:
    rows = np.unique(np.column_stack([group, index]), axis=0)
    return rows[:, 0], rows[:, 1:]


def _searched(space: SetSpace, turnable: Turnable, known: KnownSets) -> tuple[KnownSets, list[Solved]]:
    """Expand the best sets, round after round, until those left are few or improbable: (D69).

    Then the probable ones that were only estimated are solved too, which rids them of rounding in the estimates. Where
    one of these turns out to be better than all others, the search goes on around it.
    """
    solved: list[Solved] = []
    while True:
        known, found = _expanded(space, turnable, known)
        solved += found
        for part, alone in turnable.alone(space, known, known.next_to_solve(MAX_SOLVED, SOLVED_WITHIN)):
            solved.append(Solved.of(known.target[part], alone))
            known = known.with_solved(part, alone.value)
        if not known.next_to_expand(*_EXPANSION).size:
            return known.capped(), solved


def _expanded(space: SetSpace, turnable: Turnable, known: KnownSets) -> tuple[KnownSets, list[Solved]]:
    """Expand the best sets until there is none to expand."""
    solved = []
    while (rows := known.next_to_expand(*_EXPANSION)).size:
        keys, values = [], []
        for part, found, key in turnable.neighbourhoods(space, known, rows):
            solved.append(Solved.of(known.target[part], found, ~known.solved[part]))
            known = known.with_solved(part, found.value, expanded=True)
            near = np.nonzero((found.moves >= -COUNTED_WITHIN) & (key >= 0))
            keys.append(key[near])
            values.append(found.value[near[0]] + found.moves[near])
        known = known.with_sets(np.concatenate(keys), np.concatenate(values)).within(COUNTED_WITHIN)
    return known, solved


def _inclusion(
    space: SetSpace, turnable: Turnable, first: FirstSets, known: KnownSets, total: FloatArray
) -> FloatArray:
    """Return the probability of each regressor: summed over known sets; of what may not turn, from its nearest set."""
    probability = np.exp(np.minimum(first.log_in - total[:, None], 0.0))
    stays = np.take_along_axis(1 - np.exp(np.minimum(first.log_out - total[:, None], 0.0)), turnable.fixed, axis=1)
    np.put_along_axis(probability, turnable.fixed, stays, axis=1)
    share = np.zeros(turnable.local.shape)
    np.add.at(share, known.target, np.exp(known.value - total[known.target])[:, None] * turnable.member(known.code))
    least = np.minimum(np.take_along_axis(probability, turnable.local, axis=1), np.exp(-COUNTED_WITHIN))
    np.put_along_axis(probability, turnable.local, np.where(share > 0, share, least), axis=1)
    return np.clip(probability[:, : space.p], 0.0, 1.0)


def _moments(
    space: SetSpace, first: FirstSets, solved: list[Solved], inclusion: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return E γβ over the solved sets, and E (γβ)²: inclusion times E β² in the sets that have the regressor.

    Weights that cancel each other in a set must be averaged with the same shares, or predictions would suffer: hence
    the sets that were only estimated do not count for the means.
    """
    best = np.full(len(inclusion), -np.inf)
    for part in solved:
        np.maximum.at(best, part.group, part.value)
    total, (weight, mean, square) = np.zeros(len(inclusion)), np.zeros((3, len(inclusion), space.p + 1))
    for part in solved:
        share = np.exp(part.value - best[part.group])
        np.add.at(total, part.group, share)
        for sums, values in ((weight, np.ones_like(part.mean)), (mean, part.mean), (square, part.square)):
            np.add.at(sums, (part.group[:, None], part.index), share[:, None] * values)
    weight, mean, square = weight[:, : space.p], mean[:, : space.p] / total[:, None], square[:, : space.p]
    given_in = np.divide(square, weight, out=first.square.copy(), where=weight > 0)
    return mean, inclusion * given_in
