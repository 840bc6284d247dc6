"""Method IV as shipped: the paper's spike-and-slab model, inferred by updates that settle and a bound that only rises.

One sweep: the regressors in order, each with its best weight, precision and inclusion given the rest; all active means
at once (a linear solve); exchanges of regressors; each with the noise at the exact expected squared error. Every part
can only raise the bound. The sets at which the starts ended are where the averages begin that are reported. In come
statistics, out comes an `Estimate`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray, KoopsieveError, check_fields, require_kind
from koopsieve.identify.estimate import Estimate, Status, require_statistics, statuses
from koopsieve.identify.prior import SpikeSlabPrior
from koopsieve.identify.settle import Settled, join, on_all_cores, put, settle, take
from koopsieve.identify.spike_slab import equations
from koopsieve.identify.spike_slab.algorithm_1 import PublishedSpikeSlab
from koopsieve.identify.spike_slab.averaging import WeightMoments, average
from koopsieve.identify.spike_slab.bound import Posterior
from koopsieve.identify.spike_slab.rules import Rules, Start, begin, empty, resume
from koopsieve.identify.standardise import StandardProblem, standardise
from koopsieve.regression import RegressionStatistics

FIRST_TOLERANCE = 1e-2  # nats per sweep below which a run has shown where it will end
MAX_WEIGHTS_SIDE_BY_SIDE = 1 << 18  # weights up to which several starts run at once: as many as the cache holds
EQUAL_WITHIN = 10  # tolerances within which a settled bound is known: what all the sweeps not made might have added
AGREE_WITHIN = 0.1  # nats within which two starts ended at the same answer
MAX_AVERAGED_REGRESSORS = 100  # up to which answers are averaged unless something else is asked for
MIN_AVERAGED_RESIDUAL = 1e-9  # of a target's power: below, rounding decides between sets, and nothing is averaged


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
    averaged : bool, optional
        If true, inclusion, weights and their variances are averages over the sets of regressors near the best ones:
        regressors that could stand for one another share their probability. If false they are those of the best answer
        alone (mean field), which takes half the time or less and is too certain where regressors nearly copy each
        other. Left out, they are averaged where there are at most 100 regressors: with more, nobody reads them one by
        one, and averages of all targets take most of the time and memory.
    """

    prior: SpikeSlabPrior = field(default_factory=SpikeSlabPrior)
    starts: tuple[Start, ...] = (Start.GREEDY, Start.RIDGE, Start.ZERO)
    tolerance: float = 1e-4
    max_sweeps: int = 200
    averaged: bool | None = None
    published: ClassVar[type[PublishedSpikeSlab]] = PublishedSpikeSlab  # the paper's own updates, Algorithm 1

    def __post_init__(self) -> None:
        require_kind("a prior", self.prior, SpikeSlabPrior, "Use SpikeSlabPrior().")
        check_fields(self, numbers=("tolerance",), wholes=("max_sweeps",))
        if not isinstance(self.averaged, bool | None):
            raise KoopsieveError(f"averaged must be True, False or None. Got {self.averaged!r}.")
        if not self.starts:
            raise KoopsieveError("At least one start is needed. Use the default, or starts=(Start.ZERO,).")

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
        require_statistics(statistics)
        return on_all_cores(self._identify, statistics, start)

    def _identify(self, statistics: RegressionStatistics, start: Estimate | None) -> Estimate:
        problem = standardise(statistics)
        rules = Rules.of(self.prior, statistics.regressors, problem)
        nothing = empty(rules, problem)
        begins = [begin(rules, problem, kind, nothing) for kind in self.starts]
        if start is not None:
            begins.append(resume(rules, problem, start))
        runs = self._settled_finely(problem, rules, self._settled_roughly(problem, rules, begins))
        end, agreement = best_of(runs, len(begins), self.tolerance)
        answer = _mean_field(rules, problem, end.state)
        if len(problem.gram) <= MAX_AVERAGED_REGRESSORS if self.averaged is None else self.averaged:
            sets = runs.state.gamma.reshape(len(problem.gram), len(begins), -1) >= 0.5
            answer = _averaged(rules, problem, end.state, sets, answer)
        return _estimate(statistics, problem, end, agreement, answer)

    def _settled_roughly(self, problem: StandardProblem, rules: Rules, begins: list[Posterior]) -> Settled[Posterior]:
        """Run every start until it has shown where it will end; the runs stand side by side, start after start."""
        tolerance, targets = max(self.tolerance, FIRST_TOLERANCE), np.arange(problem.S.shape[1])
        at_once = max(MAX_WEIGHTS_SIDE_BY_SIDE // max(begins[0].mu.size, 1), 1)
        ends = []
        for first in range(0, len(begins), at_once):
            group = begins[first : first + at_once]
            copies = problem.take(np.tile(targets, len(group)))
            ends.append(self._settle(copies, rules, join(group), tolerance, self.max_sweeps))
        sweeps, settled = (np.concatenate([getattr(end, name) for end in ends]) for name in ("sweeps", "settled"))
        return Settled(join([end.state for end in ends]), sweeps, settled)

    def _settled_finely(self, problem: StandardProblem, rules: Rules, runs: Settled[Posterior]) -> Settled[Posterior]:
        """Continue, down to the last tolerance, the runs that did better than all earlier starts of their target.

        The others cannot become a target's best answer. Another start adds to the runs that are continued and takes
        none away, so that more starts never lower the bound.
        """
        targets = problem.S.shape[1]
        open_ = np.flatnonzero(leading(runs.state.elbo, targets) & (runs.state.change > self.tolerance))
        first = take(runs.state, open_)
        first = replace(first, exchanges_tried=np.zeros_like(first.exchanges_tried))  # look for exchanges once more
        budget = self.max_sweeps - runs.sweeps[open_]
        fine = self._settle(problem.take(open_ % targets), rules, first, self.tolerance, budget)
        sweeps, settled = runs.sweeps.copy(), runs.settled.copy()
        sweeps[open_] += fine.sweeps
        settled[open_] = fine.settled
        return Settled(put(runs.state, open_, fine.state), sweeps, settled)

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


def leading(elbo: FloatArray, targets: int) -> np.ndarray:
    """Return which runs, side by side start after start, have a higher bound than every earlier start of their target.

    Examples
    --------
    Two targets, three starts:

    >>> leading(np.array([3.0, 1.0, 2.0, 5.0, 4.0, 4.0]), targets=2)
    array([ True,  True, False,  True,  True, False])
    """
    by_start = elbo.reshape(-1, targets)
    before = np.vstack([np.full(targets, -np.inf), np.maximum.accumulate(by_start)[:-1]])
    return (by_start > before).ravel()


def best_of(runs: Settled[Posterior], starts: int, tolerance: float) -> tuple[Settled[Posterior], IndexArray]:
    """Return each target's best run, and how many starts ended there.

    Of runs whose bounds differ by less than sweeps have settled to, the first is kept: rounding must not choose.
    """
    elbo = runs.state.elbo.reshape(starts, -1)
    best = elbo.max(axis=0)
    winner = np.argmax(elbo >= best - EQUAL_WITHIN * tolerance, axis=0)
    chosen = winner * elbo.shape[1] + np.arange(elbo.shape[1])
    end = Settled(take(runs.state, chosen), runs.sweeps[chosen], runs.settled[chosen])
    return end, np.sum(elbo >= best - AGREE_WITHIN, axis=0)


def _mean_field(rules: Rules, problem: StandardProblem, state: Posterior) -> WeightMoments:
    variance = equations.effective_variance(state.gamma, state.mu, state.sigma2)
    return WeightMoments(rules.reported(problem, state), state.w, variance)


def _averaged(
    rules: Rules, problem: StandardProblem, state: Posterior, sets: BoolArray, mean_field: WeightMoments
) -> WeightMoments:
    """Return the averages; targets that the regressors reproduce but for rounding keep the mean-field answer."""
    noisy = np.flatnonzero(problem.squared_residual(state.w) > MIN_AVERAGED_RESIDUAL * problem.rows)
    found = average(rules.prior, problem.take(noisy), sets[:, :, noisy], state.rho[noisy])
    return put(mean_field, noisy, found)


def _estimate(
    statistics: RegressionStatistics,
    problem: StandardProblem,
    end: Settled[Posterior],
    agreement: IndexArray,
    answer: WeightMoments,
) -> Estimate:
    state = end.state
    exact = problem.exact(problem.squared_residual(state.w))
    return Estimate.of(
        statistics,
        problem.original_coef(answer.mean),
        inclusion=answer.inclusion * ~problem.zero_target,
        noise_precision=problem.original_precision(state.rho),
        elbo=state.elbo - problem.rows * np.log(problem.target_scale),
        status=statuses(end.settled, exact, Status.DEGENERATE),
        coef_variance=problem.original_variance(answer.variance),
        sweeps=end.sweeps,
        agreement=agreement,
    )
