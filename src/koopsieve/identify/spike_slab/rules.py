"""The update rules of the default spike and slab: pure steps between posteriors, none of which lowers the bound.

`solve` (of `Bound`) finds all active means at once; `sweep` visits the regressors in turn, each with its best weight,
precision and inclusion given the rest; `exchange` takes regressors in and out, the others solved anew, where the bound
rises. Every rule ends with the noise, at the exact expected squared error.

The bound has many local optima: each target is inferred from several starts, nothing in, everything in, a greedy
selection or an earlier answer, and the best ending is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from scipy.linalg import cho_solve
from scipy.special import expit

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.identify import stacks
from koopsieve.identify.estimate import Estimate
from koopsieve.identify.prior import Slab
from koopsieve.identify.settle import put, take
from koopsieve.identify.spike_slab import equations
from koopsieve.identify.spike_slab.bound import MIN_SOLVED_INCLUSION, Bound, Included, Posterior, better
from koopsieve.identify.spike_slab.stepwise import eliminate, select
from koopsieve.identify.stacks import CACHE, Batch, batches
from koopsieve.identify.standardise import StandardProblem

CERTAIN_LOG_ODDS = 40.0  # beyond these a flag is one to the last digit
MAX_ENTERING_PER_SWEEP = 32  # regressors per target that may come in while a sweep visits them
MAX_ADDED_PER_EXCHANGE = 8  # and that an exchange may add
EMPTY_TARGETS_PER_STACK = 64  # targets without any active regressor that `add` works on at once
MIN_ENTERING_INCLUSION = 1e-3  # a flag that is off stays off below this probability
MIN_INCLUSION = 1e-9  # a flag that is on is switched off below this probability


@dataclass(frozen=True, eq=False)
class Rules(Bound):
    """The update rules of one problem."""

    def step(self, problem: StandardProblem, state: Posterior) -> Posterior:
        """Run one sweep: flags in order, all active means, exchanges."""
        solved = self.solve(problem, self.sweep(problem, state))
        moved = np.any((solved.gamma >= 0.5) != (state.gamma >= 0.5), axis=0)
        due = np.flatnonzero(moved | ~state.exchanges_tried)
        solved = replace(solved, exchanges_tried=np.ones_like(state.exchanges_tried))
        if due.size:
            before = take(solved, due)
            after = self.exchange(problem.take(due), before)
            solved = put(solved, due, replace(after, exchanges_tried=after.elbo <= before.elbo))
        turned = np.abs(solved.gamma - state.gamma).max(axis=0, initial=0.0)
        return replace(solved, change=np.maximum(turned, solved.elbo - state.elbo))

    def sweep(self, problem: StandardProblem, state: Posterior) -> Posterior:
        """Visit the regressors; a target for which rounding spoiled it stays as it was."""
        return better(state, self.visited(problem, state))

    def visited(self, problem: StandardProblem, state: Posterior) -> Posterior:
        """Update the weight, precision and inclusion of each regressor in turn, the most evident first.

        The order belongs to the data and not to the indices, so that permuting the dictionary permutes the answer.
        Regressors that are out and stay out change nobody else, nor do those that are certainly in, whose means `solve`
        finds: they are updated all at once. Of those that might come in, only the `MAX_ENTERING_PER_SWEEP` likeliest
        are visited.
        """
        out = state.gamma == 0
        s, mu, sigma2, eta = self._alone(problem, state, out)
        open_ = ~out & ((eta < CERTAIN_LOG_ODDS) | (state.gamma < 1))
        gamma = state.gamma.copy(order="K")
        visible = open_ | _likeliest(np.where(out, eta, -np.inf))
        for batch in batches(problem, visible, first=eta, numbers=8 * CACHE):
            after = self._visit(batch, mu, sigma2, gamma, s, state.rho)
            for into, values in zip((mu, sigma2, gamma), after, strict=True):
                batch.scatter(into, values)
        return self.posterior(problem, mu, sigma2, gamma)

    def reported(self, problem: StandardProblem, state: Posterior) -> FloatArray:
        """Return the inclusion probabilities, also of what is out: those it would have if it were visited now.

        What is out has probabilities below `MIN_ENTERING_INCLUSION`, down to which it is a matter of rounding whether
        a flag came on.
        """
        out = state.gamma == 0
        eta = self._alone(problem, state, out)[3]
        return np.where(out, np.minimum(expit(eta), MIN_ENTERING_INCLUSION), state.gamma)

    def _alone(self, problem: StandardProblem, state: Posterior, out: BoolArray) -> tuple[FloatArray, ...]:
        """Return s, mean, variance and log odds of every regressor, with the best weight for those that are out."""
        w, g = state.w, problem.energy[:, None]
        s = problem.correlation(w) + g * w
        alone, sigma2 = equations.paired_weights(state.rho, g, self.alpha(state.mu, state.sigma2), s)
        mu = np.where(out, alone, state.mu)
        return s, mu, sigma2, equations.paired_log_odds(state.rho, mu, sigma2, g, s, self.slab, self.log_odds)

    def _visit(
        self,
        batch: Batch,
        mu: FloatArray,
        sigma2: FloatArray,
        gamma: FloatArray,
        s: FloatArray,
        rho: FloatArray,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Update the regressors of a batch in turn, all its targets at once: (D13), (D14), (D12)."""
        rho, index = rho[batch.targets], batch.index.T
        g, log_odds = batch.problem.energy[index], self.prior.log_odds[index]
        mu, sigma2 = batch.gather(mu, 0.0).T.copy(), batch.gather(sigma2, 1.0).T.copy()
        gamma, s = batch.gather(gamma, 0.0).T.copy(), batch.gather(s, 0.0).T.copy()
        alpha = equations.update_weight_precision(self.prior.slab.at(index), mu, sigma2)
        sigma2 = equations.paired_variance(rho, g, alpha)  # whatever the order
        least = np.where(gamma > 0, MIN_INCLUSION, MIN_ENTERING_INCLUSION)
        for k in range(len(mu)):
            w, slab = gamma[k] * mu[k], self.prior.slab.at(index[k])
            mu[k] = rho * s[k] * sigma2[k]
            eta = equations.paired_log_odds(rho, mu[k], sigma2[k], g[k], s[k], slab, log_odds[k])
            gamma[k] = inclusion(eta, least[k])
            s[k + 1 :] -= batch.later(k) * (gamma[k] * mu[k] - w)
        return mu.T, sigma2.T, gamma.T

    def exchange(self, problem: StandardProblem, state: Posterior) -> Posterior:
        """Take regressors in, then out, where that raises the bound."""
        return self.drop(problem, self.add(problem, state, MAX_ADDED_PER_EXCHANGE))

    def drop(self, problem: StandardProblem, state: Posterior) -> Posterior:
        """Take out what the others can replace: (D19)."""
        active = state.gamma >= MIN_SOLVED_INCLUSION
        a_bar, b_bar = self._noise_shapes(problem, state)
        out = np.zeros_like(active)
        for batch in batches(problem, active):
            C = stacks.inverse(stacks.factorise(self.system(batch, state)))
            mu, sigma2, rho = batch.gather(state.mu, 0.0), batch.gather(state.sigma2, 1.0), state.rho[batch.targets]
            log_odds = np.where(batch.real, self.prior.log_odds[batch.index], np.inf)  # the padding stays in
            cost = _cost(
                problem.energy[batch.index], mu, sigma2, rho[:, None], self.prior.slab.at(batch.index), log_odds
            )
            w = batch.gather(state.gamma, 0.0) * mu
            batch.scatter(out, eliminate(C, w, cost, a_bar, b_bar[batch.targets, None]))
        return self._try(problem, state, out, 0.0)

    def add(self, problem: StandardProblem, state: Posterior, most: int) -> Posterior:
        """Take in what lowers the squared error by more than its cost, the others solved anew: (D21)."""
        active = state.gamma >= MIN_SOLVED_INCLUSION
        a_bar, b_bar = self._noise_shapes(problem, state)
        s, come = problem.correlation(state.w), np.zeros_like(active)
        for targets, V in self._spans(problem, state, active):
            mu, sigma2, rho = state.mu[:, targets].T, state.sigma2[:, targets].T, state.rho[targets]
            cost = _cost(problem.energy, mu, sigma2, rho[:, None], self.prior.slab, self.prior.log_odds)
            cost = np.where(active[:, targets].T, np.inf, cost)
            come[:, targets] = select(problem, V, s[:, targets].T, cost, a_bar, b_bar[targets, None], most).T
        return self._try(problem, state, come, 1.0)

    def _spans(
        self, problem: StandardProblem, state: Posterior, active: BoolArray
    ) -> Iterator[tuple[IndexArray, FloatArray]]:
        """Return targets, some at a time, with V = L⁻¹G over their active regressors, LLᵀ = G + D."""
        empty, p = np.flatnonzero(~active.any(axis=0)), len(active)
        for first in range(0, empty.size, EMPTY_TARGETS_PER_STACK):
            targets = empty[first : first + EMPTY_TARGETS_PER_STACK]
            yield targets, np.zeros((targets.size, 0, p))
        for batch in batches(problem, active, width=p, numbers=4 * CACHE):
            L = stacks.factorise(self.system(batch, state))
            yield batch.targets, stacks.forward(L, batch.gram_rows())

    def _try(self, problem: StandardProblem, state: Posterior, changed: BoolArray, flag: float) -> Posterior:
        """Return the state with the changed flags set, where that raises the bound."""
        targets = np.flatnonzero(changed.any(axis=0))
        if targets.size == 0:
            return state
        before = take(state, targets)
        gamma = np.where(changed[:, targets], flag, before.gamma)
        return put(state, targets, better(before, self.with_flags(problem.take(targets), before, gamma)))

    def with_flags(self, problem: StandardProblem, before: Posterior, gamma: FloatArray) -> Posterior:
        """Return the state with other flags: means, variances and noise solved anew, then the means once more."""
        trial = replace(before, gamma=gamma)
        active = list(batches(problem, gamma >= MIN_SOLVED_INCLUSION))
        trial = replace(trial, mu=self.means(problem, active, trial))
        sigma2 = equations.paired_variance(before.rho, problem.energy[:, None], self.alpha(trial.mu, before.sigma2))
        rho, _ = self.noise(problem, trial.w, Included.of(gamma, trial.mu, sigma2))
        mu = self.means(problem, active, replace(trial, sigma2=sigma2, rho=rho))
        return self.posterior(problem, mu, sigma2, gamma)

    def _noise_shapes(self, problem: StandardProblem, state: Posterior) -> tuple[float, FloatArray]:
        a_bar = self.prior.a + problem.rows / 2
        return a_bar, a_bar / state.rho


def _cost(
    g: FloatArray, mu: FloatArray, sigma2: FloatArray, rho: FloatArray, slab: Slab, log_odds: FloatArray
) -> FloatArray:
    """Return what having a regressor in costs the bound, besides its fit: (D18)."""
    cost: FloatArray = 0.5 * rho * g * sigma2 - equations.slab_gain(slab, mu, sigma2) - log_odds
    return cost


def _likeliest(eta: FloatArray) -> BoolArray:
    """Return per target the regressors likely enough to come in, at most `MAX_ENTERING_PER_SWEEP` of them."""
    likely: BoolArray = eta > np.log(MIN_ENTERING_INCLUSION)
    if len(eta) > MAX_ENTERING_PER_SWEEP:
        likely &= eta >= np.partition(eta, -MAX_ENTERING_PER_SWEEP, axis=0)[-MAX_ENTERING_PER_SWEEP]
    return likely


def inclusion(eta: FloatArray, least: FloatArray) -> FloatArray:
    """Return γ̂ = sigmoid(η), the paired counterpart of equation (27); zero below `least`.

    A flag that is off stays off below `MIN_ENTERING_INCLUSION`, and one that is on is off below `MIN_INCLUSION`: null
    regressors would otherwise all be on with the tiny probability that the prior gives them, at the cost of visiting
    them in every sweep.
    """
    gamma: FloatArray = expit(eta)
    gamma *= gamma >= least
    return gamma


RIDGE = 1e-10  # per row, of the start with everything in
MIN_RESUMED_INCLUSION = 0.1  # of a regressor in an earlier answer, for it to be in at the start
MAX_STARTING_REGRESSORS = 64  # per target, in a dense or greedy start


class Start(Enum):
    """Where the updates may start."""

    ZERO = "Nothing is in."
    RIDGE = "Everything is in, with ridge weights."
    GREEDY = "What forward selection takes in."


def begin(rules: Rules, problem: StandardProblem, kind: Start, nothing: Posterior | None = None) -> Posterior:
    """Return a start; `nothing` is the empty state, for callers that need it more than once."""
    if kind is Start.RIDGE:
        return dense(rules, problem)
    nothing = empty(rules, problem) if nothing is None else nothing
    return rules.add(problem, nothing, most=MAX_STARTING_REGRESSORS) if kind is Start.GREEDY else nothing


def empty(rules: Rules, problem: StandardProblem) -> Posterior:
    """Return the state with nothing in but what is always in; each regressor has the weight it would have alone."""
    shape = problem.S.shape
    always = np.broadcast_to(np.isinf(rules.log_odds), shape)
    mu = problem.projected / np.maximum(problem.energy, 1.0)[:, None]
    sigma2 = np.tile(1 / (problem.energy + 1.0), (shape[1], 1)).T
    gamma = np.array(always, dtype=float, order="F")
    return rules.solve(problem, rules.posterior(problem, mu, sigma2, gamma))


def dense(rules: Rules, problem: StandardProblem) -> Posterior:
    """Return the ridge weights with everything in, or each target's `MAX_STARTING_REGRESSORS` most significant ones.

    A weight's significance is w_i²/C_ii, C = (G + ridge)⁻¹: what the squared error grows by without it (D19).
    """
    ridged = problem.gram + RIDGE * problem.rows * np.eye(len(problem.gram))
    L = stacks.factorise(ridged[None])
    w = np.asfortranarray(cho_solve((L[0], True), problem.projected))
    growth = w**2 / np.diagonal(stacks.inverse(L)[0])[:, None]
    held = (problem.energy[:, None] > 0) & (growth >= _least_allowed(growth))
    rho = problem.rows / (problem.squared_residual(w) + 1e-24 * problem.rows)
    sigma2 = equations.paired_variance(rho, problem.energy[:, None], rules.alpha(w, np.zeros_like(w)))
    gamma = np.where(held | np.isinf(rules.log_odds), 1.0, 0.0)
    return rules.drop(problem, rules.solve(problem, rules.posterior(problem, w, sigma2, gamma)))


def resume(rules: Rules, problem: StandardProblem, start: Estimate) -> Posterior:
    """Return an earlier answer as a start, without what is improbable in it."""
    probable = (start.inclusion >= MIN_RESUMED_INCLUSION) & (start.coef != 0)
    coef, gamma = np.asfortranarray(start.coef * probable), np.asfortranarray(start.inclusion * probable)
    w = coef * problem.column_scale[:, None] / problem.target_scale
    mu = np.divide(w, gamma, out=np.zeros_like(w), where=gamma > 0)
    rho = start.noise_precision * problem.target_scale**2
    sigma2 = equations.paired_variance(rho, problem.energy[:, None], rules.alpha(mu, np.zeros_like(mu)))
    return rules.posterior(problem, mu, sigma2, gamma)


def _least_allowed(growth: FloatArray) -> FloatArray:
    """Return each target's smallest growth that is still among its `MAX_STARTING_REGRESSORS` largest."""
    surplus = len(growth) - MAX_STARTING_REGRESSORS
    if surplus <= 0:
        return np.full(growth.shape[1], -np.inf)
    smallest: FloatArray = np.partition(growth, surplus, axis=0)[surplus]
    return smallest
