"""Method IV as shipped: the paper's spike-and-slab model, inferred by updates that settle and a bound that only rises.

One sweep: all active means at once (a linear solve), then the regressors in order, each with its best weight, precision
and inclusion given the rest, then the noise with the exact expected squared error. Every part can only raise the bound.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray, KoopsieveError
from koopsieve.identify import updates
from koopsieve.identify.elbo import paired_elbo
from koopsieve.identify.estimate import Estimate, Status
from koopsieve.identify.gaussian import active_weights
from koopsieve.identify.prior import SpikeSlabPrior
from koopsieve.identify.published import LORENZ_PRIOR, PublishedSpikeSlab
from koopsieve.identify.settle import Settled, put, settle, take
from koopsieve.identify.standardise import StandardProblem, standardise
from koopsieve.regression import RegressionStatistics

ACTIVE = 1e-3  # regressors less probable than this stay out of the joint solve
NOISE_FLOOR = 1e-12  # relative root mean square below which a residual is rounding, not noise


class Start(Enum):
    """Where the updates may start."""

    ZERO = "Nothing is in."
    RIDGE = "Everything is in, with ridge weights."


@dataclass(frozen=True, eq=False)
class Posterior:
    """State of the updates, in standard units: mean, variance, probability of each weight; noise precision; bound."""

    mu: FloatArray
    sigma2: FloatArray
    gamma: FloatArray
    rho: FloatArray
    elbo: FloatArray


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
    starts: tuple[Start, ...] = (Start.ZERO, Start.RIDGE)
    tolerance: float = 1e-6
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
        problem = standardise(statistics)
        rules = Rules(self.prior, statistics.regressors)
        begins = [rules.init(problem, kind) for kind in self.starts]
        if start is not None:
            begins.append(rules.resume(problem, start))
        ends = [self._settle(problem, rules, begin) for begin in begins]
        return _estimate(statistics, problem, *_best(ends))

    def _settle(self, problem: StandardProblem, rules: Rules, begin: Posterior) -> Settled[Posterior]:
        return settle(
            start=begin,
            step=lambda state, open_: rules.step(problem.take(open_), state),
            converged=self.converged,
            targets=problem.S.shape[1],
            max_sweeps=self.max_sweeps,
        )

    def converged(self, before: Posterior, after: Posterior) -> BoolArray:
        """Tell which targets gained almost nothing in the last sweep."""
        moved = np.abs(after.gamma - before.gamma).max(axis=0, initial=0.0)
        still: BoolArray = (after.elbo - before.elbo <= self.tolerance) & (moved <= self.tolerance)
        return still


class Rules:
    """The update rules of one problem: the prior spelled out for its regressors."""

    def __init__(self, prior: SpikeSlabPrior, names: tuple[str, ...]) -> None:
        self.prior = prior
        self.log_odds = np.where(prior.is_certain(names), np.inf, prior.log_odds(names))[:, None]

    def init(self, problem: StandardProblem, kind: Start) -> Posterior:
        """Return a start."""
        shape = problem.S.shape
        sure = np.isinf(self.log_odds)
        inside = np.broadcast_to(sure if kind is Start.ZERO else sure | (problem.energy > 0)[:, None], shape)
        gamma = np.where(inside, np.where(sure, 1.0, 0.99), 0.0)
        rho = np.ones(shape[1])
        sigma2 = np.broadcast_to(1 / (problem.energy[:, None] + 1.0), shape)
        return self._finish(problem, np.zeros(shape), sigma2, gamma, rho)

    def resume(self, problem: StandardProblem, start: Estimate) -> Posterior:
        """Return an earlier answer as a start."""
        gamma = np.array(start.inclusion)
        w = start.coef * problem.column_scale[:, None] / problem.target_scale
        mu = np.divide(w, gamma, out=np.zeros_like(w), where=gamma > 0)
        rho = start.noise_precision * problem.target_scale**2
        sigma2 = 1 / (rho * problem.energy[:, None] + self._alpha(mu, np.zeros_like(mu)))
        return self._finish(problem, mu, sigma2, gamma, rho)

    def step(self, problem: StandardProblem, state: Posterior) -> Posterior:
        """Run one sweep."""
        return self.sweep(problem, self.solve(problem, state))

    def solve(self, problem: StandardProblem, state: Posterior) -> Posterior:
        """Solve for all active means at once; a target for which rounding spoiled it keeps its means."""
        alpha = self._alpha(state.mu, state.sigma2)
        mu = active_weights(problem, state.gamma, state.mu, alpha, state.rho, ACTIVE)
        solved = self._finish(problem, mu, state.sigma2, state.gamma, state.rho)
        better = np.flatnonzero(solved.elbo >= state.elbo)
        return put(state, better, take(solved, better))

    def sweep(self, problem: StandardProblem, state: Posterior) -> Posterior:
        """Update each regressor's weight, precision and inclusion in turn, then the noise."""
        mu, sigma2, gamma = state.mu.copy(), state.sigma2.copy(), state.gamma.copy()
        w = gamma * mu
        correlation = problem.R.T @ problem.gap(w)
        for i in _order(problem):
            g = problem.energy[i]
            s = correlation[i] + g * w[i]
            mu[i], sigma2[i], gamma[i] = self.coordinate(mu[i], sigma2[i], state.rho, g, s, self.log_odds[i])
            change = gamma[i] * mu[i] - w[i]
            w[i] += change
            correlation -= np.outer(problem.gram[:, i], change)
        return self._finish(problem, mu, sigma2, gamma, state.rho)

    def coordinate(
        self, mu: FloatArray, sigma2: FloatArray, rho: FloatArray, g: float, s: FloatArray, log_odds: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the best q of one regressor, given the rest."""
        mu, sigma2 = updates.paired_weights(rho, np.asarray(g), self._alpha(mu, sigma2), s)
        gain = updates.slab_gain(self.prior.c, self.prior.d, mu, sigma2)
        gamma = updates.paired_inclusion(updates.explained(rho, mu, sigma2, np.asarray(g), s), gain, log_odds)
        return mu, sigma2, gamma

    def _alpha(self, mu: FloatArray, sigma2: FloatArray) -> FloatArray:
        return updates.update_weight_precision(self.prior.c, self.prior.d, mu, sigma2)

    def _finish(
        self, problem: StandardProblem, mu: FloatArray, sigma2: FloatArray, gamma: FloatArray, rho: FloatArray
    ) -> Posterior:
        prior = self.prior
        error = problem.squared_residual(gamma * mu) + NOISE_FLOOR**2 * problem.rows
        error = error + updates.missing_power(problem.energy[:, None], gamma, mu, sigma2)
        a_bar, b_bar = updates.update_noise(prior.a, prior.b, problem.rows, error)
        hyper = (prior.a, prior.b, prior.c, prior.d)
        elbo = paired_elbo(hyper, self.log_odds, problem.rows, error, gamma, mu, sigma2)
        return Posterior(mu, sigma2, gamma, a_bar / b_bar, elbo)


def _order(problem: StandardProblem) -> IndexArray:
    """Return the regressors by decreasing relevance to the targets: an order of the data, not of the indices."""
    relevance = np.einsum("ij,ij->i", *(2 * (problem.R.T @ problem.S,)))
    return np.argsort(-relevance, kind="stable")


def _best(ends: list[Settled[Posterior]]) -> tuple[Settled[Posterior], IndexArray]:
    """Return each target's best ending, and how many starts ended there."""
    elbo = np.stack([end.state.elbo for end in ends])
    state, sweeps, settled = ends[0].state, ends[0].sweeps.copy(), ends[0].settled.copy()
    winner = np.argmax(elbo, axis=0)
    for number, end in enumerate(ends):
        won = np.flatnonzero(winner == number)
        state = put(state, won, take(end.state, won))
        sweeps[won], settled[won] = end.sweeps[won], end.settled[won]
    agreement = np.sum(elbo >= elbo.max(axis=0) - 1e-3, axis=0)
    return Settled(state, sweeps, settled), agreement


def _estimate(
    statistics: RegressionStatistics, problem: StandardProblem, end: Settled[Posterior], agreement: IndexArray
) -> Estimate:
    state = end.state
    w = state.gamma * state.mu
    exact = problem.squared_residual(w) <= 4 * NOISE_FLOOR**2 * problem.rows
    return Estimate(
        coef=problem.original_coef(w),
        inclusion=state.gamma,
        noise_precision=state.rho / problem.target_scale**2,
        elbo=state.elbo - problem.rows * np.log(problem.target_scale),
        status=tuple(map(_status, end.settled, exact)),
        coef_variance=problem.original_variance(state.gamma * ((1 - state.gamma) * state.mu**2 + state.sigma2)),
        sweeps=end.sweeps,
        agreement=agreement,
        regressors=statistics.regressors,
        targets=statistics.observables,
    )


def _status(settled: bool, exact: bool) -> Status:
    if exact:
        return Status.DEGENERATE
    return Status.SETTLED if settled else Status.MAX_SWEEPS
