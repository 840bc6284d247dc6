"""Method IV as shipped: the paper's spike-and-slab model, inferred by updates that settle and a bound that only rises.

One sweep: all active means at once (a linear solve), then the regressors in order, each with its best weight, precision
and inclusion given the rest, then the noise with the exact expected squared error. Every part can only raise the bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError
from koopsieve.identify.estimate import Estimate, Status, statuses
from koopsieve.identify.in_batches import on_all_cores
from koopsieve.identify.linalg.standardise import StandardProblem, standardise
from koopsieve.identify.prior import SpikeSlabPrior
from koopsieve.identify.settle import Settled, join, put, settle, take
from koopsieve.identify.spike_slab.bound import Posterior
from koopsieve.identify.spike_slab.published import LORENZ_PRIOR, PublishedSpikeSlab
from koopsieve.identify.spike_slab.rules import Rules
from koopsieve.identify.spike_slab.starts import Start, begin, empty, resume
from koopsieve.regression import RegressionStatistics

ROUGHLY = 1e-2  # nats per sweep below which a start has shown where it will end
TOGETHER = 1 << 18  # weights up to which starts run side by side
EQUAL = 10  # tolerances within which a settled bound is known: what all the sweeps not made might still have added
AGREE = 0.1  # nats within which two starts ended at the same answer


@dataclass(frozen=True)
class SpikeSlab:
    """Variational spike and slab: which regressor drives which target, and how much.

    Parameters
    ----------
    prior : SpikeSlabPrior
        What is believed before the data, in standard units.
    starts : tuple of Start
        Each target is inferred from each start; the answer with the highest bound is kept.
    tolerance : float
        A target has settled when a sweep raises its bound by less than this (in nats) and moves no inclusion
        probability by more.
    max_sweeps : int
        Number of sweeps per start at most.
    """

    prior: SpikeSlabPrior = field(default_factory=SpikeSlabPrior)
    starts: tuple[Start, ...] = (Start.GREEDY, Start.RIDGE, Start.ZERO)
    tolerance: float = 1e-4
    max_sweeps: int = 200

    def __post_init__(self) -> None:
        if not self.starts:
            raise KoopsieveError("At least one start is needed. Use the default, or starts=(Start.ZERO,).")

    @staticmethod
    def published(
        prior: SpikeSlabPrior = LORENZ_PRIOR, *, relaxation: float = 0.1, max_sweeps: int = 500, tolerance: float = 1e-6
    ) -> PublishedSpikeSlab:
        """Return the paper's own updates (Algorithm 1), for comparison."""
        return PublishedSpikeSlab(prior, relaxation=relaxation, max_sweeps=max_sweeps, tolerance=tolerance)

    def identify(self, statistics: RegressionStatistics, start: Estimate | None = None) -> Estimate:
        """Infer the Koopman matrix and the inclusion probabilities of every target.

        Parameters
        ----------
        statistics : RegressionStatistics
            The compressed data.
        start : Estimate, optional
            An earlier answer for the same regressors and targets, used as one more start: after late data arrived, or
            with a slightly different prior.
        """
        return on_all_cores(self._identify, statistics, start)

    def _identify(self, statistics: RegressionStatistics, start: Estimate | None) -> Estimate:
        problem = standardise(statistics)
        rules = Rules.of(self.prior, statistics.regressors, problem)
        nothing = empty(rules, problem)
        begins = [begin(rules, problem, kind, nothing) for kind in self.starts]
        if start is not None:
            begins.append(resume(rules, problem, start))
        ends = [end for group in _groups(begins) for end in self._roughly(problem, rules, group)]
        end, agreement = _best(self._finely(problem, rules, ends), self.tolerance)
        return _estimate(statistics, problem, end, agreement, rules.reported(problem, end.state))

    def _roughly(self, problem: StandardProblem, rules: Rules, begins: list[Posterior]) -> list[Settled[Posterior]]:
        """Run several starts at once, side by side as if they were more targets."""
        every = np.arange(problem.S.shape[1])
        copies = problem.take(np.tile(every, len(begins)))
        end = self._settle(copies, rules, join(begins), max(self.tolerance, ROUGHLY), self.max_sweeps)
        return [_part(end, every + number * every.size) for number in range(len(begins))]

    def _finely(
        self, problem: StandardProblem, rules: Rules, ends: list[Settled[Posterior]]
    ) -> list[Settled[Posterior]]:
        """Settle to the last digit each start's targets for which it did better than every start before it."""
        if self.tolerance >= ROUGHLY:
            return ends
        records = _records(ends, self.tolerance)
        rough = [_part(end, targets) for end, targets in zip(ends, records, strict=True)]
        spent = np.concatenate([part.sweeps for part in rough])
        copies, first = problem.take(np.concatenate(records)), join([part.state for part in rough])
        first = replace(first, quiet=np.zeros_like(first.quiet))  # a last look for something to exchange
        fine = self._settle(copies, rules, first, self.tolerance, self.max_sweeps - spent)
        pieces = np.split(np.arange(spent.size), np.cumsum([targets.size for targets in records])[:-1])
        fine = Settled(fine.state, fine.sweeps + spent, fine.settled)
        return [
            _replaced(end, targets, _part(fine, piece))
            for end, targets, piece in zip(ends, records, pieces, strict=True)
        ]

    def _settle(
        self, problem: StandardProblem, rules: Rules, first: Posterior, tolerance: float, max_sweeps: int | IndexArray
    ) -> Settled[Posterior]:
        return settle(
            start=first,
            step=lambda state, open_: rules.step(problem.take(open_), state),
            converged=lambda _, after: after.change <= tolerance,
            targets=problem.S.shape[1],
            max_sweeps=max_sweeps,
        )


def _groups(begins: list[Posterior]) -> list[list[Posterior]]:
    """Return which starts to run at once: as many as keep the processor's cache."""
    count = max(TOGETHER // max(begins[0].mu.size, 1), 1)
    return [begins[first : first + count] for first in range(0, len(begins), count)]


def _part(end: Settled[Posterior], targets: IndexArray) -> Settled[Posterior]:
    return Settled(take(end.state, targets), end.sweeps[targets], end.settled[targets])


def _replaced(end: Settled[Posterior], targets: IndexArray, part: Settled[Posterior]) -> Settled[Posterior]:
    sweeps, settled = end.sweeps.copy(), end.settled.copy()
    sweeps[targets], settled[targets] = part.sweeps, part.settled
    return Settled(put(end.state, targets, part.state), sweeps, settled)


def _records(ends: list[Settled[Posterior]], tolerance: float) -> list[IndexArray]:
    """Return per start the targets for which it did better than every start before it, and has not settled yet.

    Only these are settled to the last digit. Another start adds to them and takes none away, so that more starts never
    lower the bound.
    """
    records, highest = [], np.full(len(ends[0].sweeps), -np.inf)
    for end in ends:
        records.append(np.flatnonzero((end.state.elbo > highest) & (end.state.change > tolerance)))
        highest = np.maximum(highest, end.state.elbo)
    return records


def _best(ends: list[Settled[Posterior]], tolerance: float) -> tuple[Settled[Posterior], IndexArray]:
    """Return each target's best ending, and how many starts ended there.

    Of endings whose bounds differ by less than sweeps have settled to, the first is kept: rounding must not choose.
    """
    elbo = np.stack([end.state.elbo for end in ends])
    state, sweeps, settled = ends[0].state, ends[0].sweeps.copy(), ends[0].settled.copy()
    best = elbo.max(axis=0)
    winner = np.argmax(elbo >= best - EQUAL * tolerance, axis=0)
    for number, end in enumerate(ends):
        won = np.flatnonzero(winner == number)
        state = put(state, won, take(end.state, won))
        sweeps[won], settled[won] = end.sweeps[won], end.settled[won]
    return Settled(state, sweeps, settled), np.sum(elbo >= best - AGREE, axis=0)


def _estimate(
    statistics: RegressionStatistics,
    problem: StandardProblem,
    end: Settled[Posterior],
    agreement: IndexArray,
    inclusion: FloatArray,
) -> Estimate:
    state, w = end.state, end.state.w
    exact = problem.exact(problem.squared_residual(w))
    return Estimate(
        coef=problem.original_coef(w),
        inclusion=inclusion * ~problem.silent,
        noise_precision=state.rho / problem.target_scale**2,
        elbo=state.elbo - problem.rows * np.log(problem.target_scale),
        status=statuses(end.settled, exact, Status.DEGENERATE),
        coef_variance=problem.original_variance(state.gamma * ((1 - state.gamma) * state.mu**2 + state.sigma2)),
        sweeps=end.sweeps,
        agreement=agreement,
        regressors=statistics.regressors,
        targets=statistics.observables,
    )
