"""Sets of regressors and their neighbours: those that one addition, removal or exchange leads to.

A stack of sets comes in, as indices of regressors; out come the posterior of each and the gain in log probability of
every move, by the rank-one formulas of `moves` with the prior odds added (D67, D68).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.identify.prior import ProblemPrior, Slab
from koopsieve.identify.spike_slab.sets import OutsideRegressors, SetPosterior, SetRegressions, removals
from koopsieve.identify.standardise import StandardProblem

FIRST_PRECISION = 1e-2  # of the weights, in standard units, from which a set's posterior is settled
SETTLING_SWEEPS = 3
MAX_CLIMBING_STEPS = 30
MAX_SHORTLIST = 64  # regressors that may come in after the first step of a climb
MIN_CLIMBING_GAIN = 0.05  # nats: moves that gain less are left to the averages
NUMBERS_PER_STACK = 1 << 19  # in the table of moves of a stack of sets


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    """n sets of at most k regressors, and what is one move away."""

    index: IndexArray  # (n, k): regressors of each set, padded
    posterior: SetPosterior
    value: FloatArray  # (n,): log probability of each set and the data, up to what all sets of a target share
    # (n, k + 1, c + 1): gain of taking regressor j out and candidate i in; the last row stands for taking nothing out,
    # the last column for taking nothing in. −inf where a move is impossible
    moves: FloatArray
    # newcomer_mean, newcomer_variance (n, c): of the weight that each candidate would get if it came in
    newcomer_mean: FloatArray
    newcomer_variance: FloatArray


@dataclass(frozen=True, eq=False)
class SetSpace:
    """A problem from which sets of regressors are gathered into stacks. Index p stands for no regressor: padding."""

    prior: ProblemPrior
    rows: float
    # gram, projected, energy (p + 1, p + 1), (p + 1, q) and (p + 1,): of the problem, padded
    gram: FloatArray
    projected: FloatArray
    energy: FloatArray
    # power, rho (q,): ‖t‖², and the noise precision from which a set's posterior is settled
    power: FloatArray
    rho: FloatArray
    # columns, seen, left (p + 1, p), (q, p) and (q,): rᵀ, padded, Sᵀ and r₀ of the problem
    columns: FloatArray
    seen: FloatArray
    left: FloatArray

    @classmethod
    def of(cls, prior: ProblemPrior, problem: StandardProblem, rho: FloatArray) -> SetSpace:
        """Pad a problem."""
        projected = np.pad(problem.projected, ((0, 1), (0, 0)))
        energy = np.append(np.where(problem.energy > 0, problem.energy, 1.0), 1.0)  # of a zero regressor: any
        columns = np.pad(problem.R.T, ((0, 1), (0, 0)))
        factor = columns, np.ascontiguousarray(problem.S.T), problem.leftover + problem.floor
        return cls(prior, problem.rows, problem.padded_gram, projected, energy, problem.target_energy, rho, *factor)

    @property
    def p(self) -> int:
        """Number of regressors."""
        return len(self.gram) - 1

    def size(self, index: IndexArray) -> IndexArray:
        """Return the number of regressors in each set."""
        size: IndexArray = np.count_nonzero(index < self.p, axis=1)
        return size

    def compact(self, index: IndexArray) -> IndexArray:
        """Return sets in increasing order of their regressors, without padding that none of them needs."""
        return np.sort(index, axis=1)[:, : int(self.size(index).max(initial=0))]

    def flags(self, index: IndexArray) -> BoolArray:
        """Return sets as flags, shape (n, p + 1); false for the padding."""
        flags = np.zeros((len(index), self.p + 1), dtype=bool)
        np.put_along_axis(flags, index, True, axis=1)
        flags[:, self.p] = False
        return flags

    def stacks(self, size: IndexArray, candidates: int) -> Iterator[IndexArray]:
        """Split sets of the given sizes into stacks of similar size: their rows, the largest first."""
        order = np.argsort(size, kind="stable")
        while order.size:
            count = max(NUMBERS_PER_STACK // ((int(size[order[-1]]) + 1) * (max(candidates, self.p) + 1)), 1)
            yield order[-count:]
            order = order[:-count]

    def around(self, target: IndexArray, index: IndexArray, candidate: IndexArray | None = None) -> Neighbourhood:
        """Return the neighbourhood of sets, given by their targets (n,) and the regressors that are in (n, k).

        Only regressors among `candidate` (n, c) may come in, if given; those that are in may be among them.
        """
        if candidate is None:
            candidate = np.broadcast_to(np.arange(self.p), (len(target), self.p))
        regressions = self._regressions(target, index)
        posterior = regressions.first(FIRST_PRECISION, self.rho[target], SETTLING_SWEEPS)
        cross = self.gram[index[:, :, None], candidate[:, None, :]]
        gap = self.projected[candidate, target[:, None]] - (posterior.mean[:, None, :] @ cross)[:, 0]
        candidates = OutsideRegressors.of(posterior, cross, self.energy[candidate], gap, self._slab(candidate))
        newcomers = candidates.newcomers(regressions, posterior)
        coming = np.append(self.prior.log_odds, -np.inf)[candidate]
        coming[np.take_along_axis(self.flags(index), candidate, axis=1)] = -np.inf
        leaving = np.append(self.prior.log_odds, np.inf)[index]
        moves = np.zeros((len(target), index.shape[1] + 1, candidate.shape[1] + 1))
        moves[:, -1, :-1] = newcomers.gain + coming
        moves[:, :-1, -1] = removals(regressions, posterior)[1] - leaving
        moves[:, :-1, :-1] = candidates.exchanges(regressions, posterior) + coming[:, None, :] - leaving[:, :, None]
        value = posterior.evidence + np.sum(leaving, axis=1, where=np.isfinite(leaving))
        return Neighbourhood(index, posterior, value, moves, newcomers.mean, newcomers.variance)

    def climbed(self, target: IndexArray, index: IndexArray) -> IndexArray:
        """Return the sets that the best moves lead to, one after another, as long as their log probability rises.

        The first step looks at every regressor, those after it at the ones that then seemed most worth having.
        """
        room = np.full((len(index), MAX_CLIMBING_STEPS), self.p)
        now = np.append(index, room, axis=1)
        before, value, open_ = now.copy(), np.full(len(now), -np.inf), np.arange(len(now))
        shortlist = np.broadcast_to(np.arange(self.p), (len(now), self.p))
        for step in range(MAX_CLIMBING_STEPS):
            shorter = np.empty((len(now), min(MAX_SHORTLIST, self.p)), dtype=np.intp)
            climbing = np.zeros(len(now), dtype=bool)
            for part in self.stacks(self.size(now[open_]), shortlist.shape[1]):
                rows = open_[part]
                found = self.around(target[rows], self.compact(now[rows]), shortlist[rows] if step else None)
                shorter[rows] = _most_worth(found.moves, shortlist[rows], shorter.shape[1])
                risen = found.value > value[rows]
                now[rows] = np.where(risen[:, None], now[rows], before[rows])
                before[rows], value[rows] = now[rows], np.maximum(found.value, value[rows])
                gain, moved = self._best_move(found, shortlist[rows])
                climbing[rows] = risen & (gain > MIN_CLIMBING_GAIN)
                now[rows] = self.p
                now[rows, : moved.shape[1]] = moved
            open_, shortlist = np.flatnonzero(climbing), shorter
        return self.compact(before)

    def _best_move(self, found: Neighbourhood, candidate: IndexArray) -> tuple[FloatArray, IndexArray]:
        """Return the gain of each set's best move, and the set that it leads to."""
        flat = found.moves.reshape(len(found.moves), -1)
        best = np.argmax(flat, axis=1)
        leaving, coming = np.divmod(best, found.moves.shape[2])
        nothing = np.full((len(best), 1), self.p)
        moved = np.append(found.index, nothing, axis=1)
        newcomer = np.take_along_axis(np.append(candidate, nothing, axis=1), coming[:, None], axis=1)
        np.put_along_axis(moved, leaving[:, None], newcomer, axis=1)
        return flat[np.arange(len(best)), best], moved

    def _regressions(self, target: IndexArray, index: IndexArray) -> SetRegressions:
        return SetRegressions(
            self.prior,
            self.gram[index[:, :, None], index[:, None, :]],
            self.projected[index, target[:, None]],
            self.power[target],
            np.full(len(target), self.rows),
            self._slab(index),
            index < self.p,
            (self.columns[index].transpose(0, 2, 1), self.seen[target], self.left[target]),
        )

    def _slab(self, index: IndexArray) -> Slab:
        return self.prior.slab.at(np.minimum(index, self.p - 1))


def _most_worth(moves: FloatArray, candidate: IndexArray, count: int) -> IndexArray:
    """Return, per set, the candidates with the best moves that bring them in."""
    if candidate.shape[1] <= count:
        return candidate
    worth = moves[:, :, :-1].max(axis=1)
    return np.take_along_axis(candidate, np.argpartition(-worth, count, axis=1)[:, :count], axis=1)
