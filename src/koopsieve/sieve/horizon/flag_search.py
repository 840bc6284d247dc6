"""The search over shared flags: from everything in towards few, from few towards more, and exchanges at equal size.

Every move is scored with the weights of the other observables solved anew, and an exchange is accepted only if the
evidence, computed in full, rises. The order of moves comes from the data, so permuting the dictionary permutes the
answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from scipy.special import expit

from koopsieve._types import FloatArray, IndexArray
from koopsieve.execution import Progress, silent
from koopsieve.identify.prior import ProblemPrior
from koopsieve.sieve.horizon.horizon_problem import HorizonProblem
from koopsieve.sieve.horizon.posterior import (
    HorizonPosterior,
    first_posterior,
    newcomers,
    settle_weights,
    with_newcomer,
)
from koopsieve.sieve.horizon.removal import ALIKE, first_largest, removal_gains, without, without_least

MAX_SIZE_FOR_EXCHANGES = 80  # in larger sets one observable more or fewer changes the bound little
EXCHANGE_DEPTHS = (1, 2, 4)  # observables exchanged at once
MIN_RELATIVE_RISE = 1e-9  # smaller rises of the bound, as a fraction of it, are rounding; and those below `ALIKE`
MAX_REMOVED_SHARE = 10  # at most one observable in ten is taken out before the precisions are updated


@dataclass(frozen=True, eq=False)
class FlagSearch:
    """A problem, the prior, and how hard to try."""

    problem: HorizonProblem
    prior: ProblemPrior  # of the observables; log odds are inf for those that are always in
    weight_sweeps: int  # updates of weights and precisions after a move
    max_newcomers: int  # newcomers tried in full before an exchange is given up
    max_exchanges: int  # accepted exchanges at most, per size

    def bound(self, posterior: HorizonPosterior) -> float:
        """Return the evidence with the flags' prior: the ELBO of this set (D35)."""
        return posterior.evidence + self._flags(posterior.kept) + self.prior.log_none_in

    def independent(self) -> FlagSearch:
        """Return the same search on windows that do not overlap: (D78)."""
        return replace(self, problem=self.problem.independent())

    def of(self, kept: IndexArray) -> HorizonPosterior:
        """Return the posterior with some observables in."""
        return first_posterior(self.problem, self.prior, kept, 2 * self.weight_sweeps)

    def dense(self) -> HorizonPosterior:
        """Return the posterior with every observable in."""
        return self.of(np.arange(self.problem.observables))

    def sparse(self) -> HorizonPosterior:
        """Return the posterior with only those in that always are."""
        return self.of(np.flatnonzero(np.isinf(self.prior.log_odds)))

    def shrink(self, posterior: HorizonPosterior, size: int) -> HorizonPosterior:
        """Take out the observable that the bound needs least, one by one, until `size` are in."""
        return settle_weights(self._shrunk(posterior, size), self.weight_sweeps)

    def grow(self, posterior: HorizonPosterior, size: int) -> HorizonPosterior:
        """Put in the observable that helps most, one by one, until `size` are in."""
        return settle_weights(self._grown(posterior, size), self.weight_sweeps)

    def exchange(self, posterior: HorizonPosterior) -> HorizonPosterior:
        """Replace observables by others, one or some at once, at the same size, as long as the bound rises."""
        return self._repeated(self._exchanges, posterior)

    def exchange_single(self, posterior: HorizonPosterior) -> HorizonPosterior:
        """Replace observables one by one: a fast search."""
        return posterior if self._large(posterior) else self._repeated(self._single_exchanges, posterior)

    def _repeated(
        self, moves: Callable[[HorizonPosterior], Iterator[HorizonPosterior]], posterior: HorizonPosterior
    ) -> HorizonPosterior:
        posterior = settle_weights(posterior, 3 * self.weight_sweeps)
        for _ in range(self.max_exchanges):
            better = next(moves(posterior), None)
            if better is None:
                break
            posterior = better
        return posterior

    def climb(self, posterior: HorizonPosterior, max_sweeps: int) -> tuple[HorizonPosterior, tuple[float, ...]]:
        """Take out, put in and exchange until the bound cannot be raised so; return its values on the way too."""
        trace = [self.bound(posterior)]
        for _ in range(max_sweeps):
            better = next(self._moves(posterior), None)
            if better is None:
                break
            posterior = better
            trace.append(self.bound(posterior))
        return posterior, tuple(trace)

    def inclusion(self, posterior: HorizonPosterior) -> FloatArray:
        """Return the probability of each flag given the others, weights integrated over: (D39)."""
        logit = self._with_odds(newcomers(posterior).gains)
        logit[posterior.kept] = -self._removals(posterior)
        probability: FloatArray = expit(logit)
        return probability

    def _moves(self, posterior: HorizonPosterior) -> Iterator[HorizonPosterior]:
        """Yield sets with a higher bound: several removals, one removal, one addition, one exchange."""
        for most in (len(posterior.kept), 1):
            fewer = self._stretch(posterior, most, 0.0)
            if len(fewer.kept) < len(posterior.kept):
                yield from self._if_better(fewer, posterior)
        new = newcomers(posterior)
        gains = self._with_odds(new.gains)
        best = first_largest(gains)
        if gains[best] > 0:
            yield from self._if_better(with_newcomer(posterior, new, best), posterior)
        yield from self._exchanges(posterior)

    def _exchanges(self, posterior: HorizonPosterior) -> Iterator[HorizonPosterior]:
        """Yield sets of the same size with a higher bound: single exchanges, then some at once, up first or down first.

        Sets above `MAX_SIZE_FOR_EXCHANGES` observables are left as they are.
        """
        size = len(posterior.kept)
        if self._large(posterior):
            return
        yield from self._single_exchanges(posterior)
        free = size - int(np.sum(np.isinf(self.prior.log_odds)))
        up = down = posterior
        for depth in (d for d in EXCHANGE_DEPTHS if d <= free):
            up = self._grown(up, min(size + depth, self.problem.observables))
            yield from self._if_better(self._shrunk(up, size), posterior)
            down = self._shrunk(down, size - depth)
            yield from self._if_better(self._grown(down, size), posterior)

    def _large(self, posterior: HorizonPosterior) -> bool:
        return len(posterior.kept) > MAX_SIZE_FOR_EXCHANGES

    def _single_exchanges(self, posterior: HorizonPosterior) -> Iterator[HorizonPosterior]:
        new = newcomers(posterior)
        gains = self._with_odds(new.gains)
        for newcomer in np.argsort(-np.round(gains / ALIKE), kind="stable")[: self.max_newcomers]:
            if not np.isfinite(gains[newcomer]):
                return
            more = with_newcomer(posterior, new, int(newcomer))
            leaving = self._removals(more)[:-1]
            if gains[newcomer] + leaving.max(initial=-np.inf) > 0:
                yield from self._if_better(without(more, first_largest(leaving)), posterior)

    def _grown(self, posterior: HorizonPosterior, size: int) -> HorizonPosterior:
        while len(posterior.kept) < size:
            new = newcomers(posterior)
            posterior = settle_weights(with_newcomer(posterior, new, first_largest(self._with_odds(new.gains))), 1)
        return posterior

    def _shrunk(self, posterior: HorizonPosterior, size: int) -> HorizonPosterior:
        while len(posterior.kept) > size:
            posterior = settle_weights(self._stretch(posterior, len(posterior.kept) - size, -np.inf), 1)
        return posterior

    def _if_better(self, new: HorizonPosterior, old: HorizonPosterior) -> Iterator[HorizonPosterior]:
        if set(new.kept.tolist()) == set(old.kept.tolist()):
            return  # the same observables, only settled further
        settled = settle_weights(new, self.weight_sweeps)
        rise = settled.evidence + self._flags(settled.kept) - old.evidence - self._flags(old.kept)
        if rise > max(MIN_RELATIVE_RISE * abs(old.evidence), ALIKE):
            yield settled

    def _stretch(self, posterior: HorizonPosterior, most: int, least_gain: float) -> HorizonPosterior:
        """Take out at most `most`, and at most one in `MAX_REMOVED_SHARE`, without updating precisions between."""
        count = min(most, max(1, len(posterior.kept) // MAX_REMOVED_SHARE))
        return without_least(posterior, count, least_gain)

    def _removals(self, posterior: HorizonPosterior) -> FloatArray:
        return removal_gains(posterior) - self.prior.log_odds[posterior.kept]

    def _with_odds(self, gains: FloatArray) -> FloatArray:
        return gains + self.prior.finite_log_odds

    def _flags(self, kept: IndexArray) -> float:
        return float(np.sum(self.prior.finite_log_odds[kept]))


def by_size(search: FlagSearch, sizes: Sequence[int], progress: Progress = silent) -> dict[int, HorizonPosterior]:
    """Return the best set found for each size: from dense to sparse and back up, the better of both exchanged.

    On the way only single exchanges are tried, which cost little.
    """
    down, up = sorted(sizes, reverse=True), sorted(size for size in sizes if size <= MAX_SIZE_FOR_EXCHANGES)
    best: dict[int, HorizonPosterior] = {}
    for end in progress(chain(_downward(search, down), _upward(search, up)), "Searching", len(down) + len(up)):
        size = len(end.kept)
        if size not in best or end.evidence > best[size].evidence + ALIKE:
            best[size] = end
    return {size: search.exchange(end) for size, end in progress(best.items(), "Exchanging", len(best))}


def _downward(search: FlagSearch, sizes: Sequence[int]) -> Iterator[HorizonPosterior]:
    posterior = search.dense()
    for size in sizes:
        posterior = search.exchange_single(search.shrink(posterior, size))
        yield posterior


def _upward(search: FlagSearch, sizes: Sequence[int]) -> Iterator[HorizonPosterior]:
    posterior = search.sparse()
    for size in sizes:
        posterior = search.exchange_single(search.grow(posterior, size))
        yield posterior
