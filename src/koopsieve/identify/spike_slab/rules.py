"""The update rules of the default spike and slab: pure steps between posteriors, none of which lowers the bound.

`solve` (of `Bound`) finds all active means at once; `sweep` visits the regressors in turn, each with its best weight,
precision and inclusion given the rest; `exchange` takes regressors in and out while the others make up for it, where
the bound rises. Every rule ends with the noise, at the exact expected squared error.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.identify.linalg import stacks
from koopsieve.identify.linalg.batches import CACHE, Batch, batches
from koopsieve.identify.linalg.standardise import StandardProblem
from koopsieve.identify.settle import put, take
from koopsieve.identify.spike_slab import equations
from koopsieve.identify.spike_slab.bound import ACTIVE, Bound, Posterior, better
from koopsieve.identify.spike_slab.elbo import Inside
from koopsieve.identify.spike_slab.stepwise import eliminate, select

SURE = 40.0  # log odds beyond which a flag is one to the last digit
MOST = 32  # regressors per target that may come in during one sweep
IDLE = 64  # targets without any regressor that are worked on at once
ENTER = 1e-3  # a flag that is off stays off below this probability
NEVER = 1e-9  # and one that is on is switched off below this


@dataclass(frozen=True, eq=False)
class Rules(Bound):
    """The update rules of one problem."""

    def step(self, problem: StandardProblem, state: Posterior) -> Posterior:
        """Run one sweep: flags in order, all active means, exchanges."""
        solved = self.solve(problem, self.sweep(problem, state))
        moved = np.any((solved.gamma >= 0.5) != (state.gamma >= 0.5), axis=0)
        lively = np.flatnonzero(moved | ~state.quiet)
        solved = replace(solved, quiet=np.ones_like(state.quiet))  # nothing to exchange until the flags move again
        if lively.size:
            before = take(solved, lively)
            after = self.exchange(problem.take(lively), before)
            solved = put(solved, lively, replace(after, quiet=after.elbo <= before.elbo))
        turned = np.abs(solved.gamma - state.gamma).max(axis=0, initial=0.0)
        return replace(solved, change=np.maximum(turned, solved.elbo - state.elbo))

    def sweep(self, problem: StandardProblem, state: Posterior) -> Posterior:
        """Visit the regressors; a target for which rounding spoiled it stays as it was."""
        return better(state, self.visited(problem, state))

    def visited(self, problem: StandardProblem, state: Posterior) -> Posterior:
        """Update the weight, precision and inclusion of each regressor in turn, the most evident first.

        The order belongs to the data and not to the indices, so that permuting the dictionary permutes the answer.
        Regressors that are out and stay out change nobody else, nor do those that are surely in, whose means `solve`
        finds: they are updated all at once. Of those that might come in, a sweep visits only the `MOST` likely.
        """
        out = state.gamma == 0
        s, mu, sigma2, eta = self._alone(problem, state, out)
        open_ = ~out & ((eta < SURE) | (state.gamma < 1))
        gamma = state.gamma.copy(order="K")
        likely = np.where(out, eta, -np.inf)
        few = np.partition(likely, -MOST, axis=0)[-MOST] if len(likely) > MOST else -np.inf
        visible = open_ | ((likely > np.log(ENTER)) & (likely >= few))
        for batch in batches(problem, visible, first=eta, numbers=8 * CACHE):
            after = self._visit(batch, mu, sigma2, gamma, s, state.rho)
            for into, values in zip((mu, sigma2, gamma), after, strict=True):
                batch.scatter(into, values)
        return self.posterior(problem, mu, sigma2, gamma)

    def reported(self, problem: StandardProblem, state: Posterior) -> FloatArray:
        """Return the inclusion probabilities, also of what is out: those it would have if it were visited now.

        What is out has probabilities below `ENTER`, down to which it is a matter of rounding whether a flag came on.
        """
        out = state.gamma == 0
        eta = self._alone(problem, state, out)[3]
        return np.where(out, np.minimum(expit(eta), ENTER), state.gamma)

    def _alone(self, problem: StandardProblem, state: Posterior, out: BoolArray) -> tuple[FloatArray, ...]:
        """Return s, mean, variance and log odds of every regressor, with the best weight for those that are out."""
        w, g = state.w, problem.energy[:, None]
        s = problem.correlation(w) + g * w
        alone, sigma2 = equations.paired_weights(state.rho, g, self.alpha(state.mu, state.sigma2), s)
        mu = np.where(out, alone, state.mu)
        return s, mu, sigma2, self.eta(state.rho, mu, sigma2, g, s, self.log_odds)

    def _visit(
        self,
        batch: Batch,
        mu: FloatArray,
        sigma2: FloatArray,
        gamma: FloatArray,
        s: FloatArray,
        rho: FloatArray,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Update the regressors of a batch in turn, all its targets at once."""
        rho, index = rho[batch.targets], batch.index.T
        g, log_odds = batch.problem.energy[index], self.log_odds[index, 0]
        mu, sigma2 = batch.gather(mu, 0.0).T.copy(), batch.gather(sigma2, 1.0).T.copy()
        gamma, s = batch.gather(gamma, 0.0).T.copy(), batch.gather(s, 0.0).T.copy()
        sigma2 = equations.paired_variance(rho, g, self.alpha(mu, sigma2))  # whatever the order
        least = np.where(gamma > 0, NEVER, ENTER)
        for k in range(len(mu)):
            w = gamma[k] * mu[k]
            mu[k] = rho * s[k] * sigma2[k]
            gamma[k] = inclusion(self.eta(rho, mu[k], sigma2[k], g[k], s[k], log_odds[k]), least[k])
            s[k + 1 :] -= batch.later(k) * (gamma[k] * mu[k] - w)
        return mu.T, sigma2.T, gamma.T

    def eta(
        self, rho: FloatArray, mu: FloatArray, sigma2: FloatArray, g: FloatArray, s: FloatArray, log_odds: FloatArray
    ) -> FloatArray:
        """Return the log odds of inclusion: what the regressor explains, less its price, plus the prior log odds."""
        explained = equations.explained(rho, mu, sigma2, g, s)
        return explained + equations.slab_gain(self.prior.c, self.prior.d, mu, sigma2) + log_odds

    def exchange(self, problem: StandardProblem, state: Posterior) -> Posterior:
        """Take regressors in, then out, where that raises the bound."""
        return self.drop(problem, self.add(problem, state, most=8))

    def drop(self, problem: StandardProblem, state: Posterior) -> Posterior:
        """Take out what the others can replace."""
        active = state.gamma >= ACTIVE
        a_bar, b_bar = self._noise(problem, state)
        out = np.zeros_like(active)
        for batch in batches(problem, active):
            C = stacks.inverse(stacks.factorise(self.system(batch, state), problem.rows))
            mu, sigma2, rho = batch.gather(state.mu, 0.0), batch.gather(state.sigma2, 1.0), state.rho[batch.targets]
            price = self._price(problem.energy[batch.index], mu, sigma2, rho[:, None], self.log_odds[batch.index, 0])
            price = np.where(batch.real, price, -np.inf)
            w = batch.gather(state.gamma, 0.0) * mu
            batch.scatter(out, eliminate(C, w, price, a_bar, b_bar[batch.targets, None]))
        touched = np.flatnonzero(out.any(axis=0))
        return self._try(problem, state, touched, np.where(out, 0.0, state.gamma))

    def add(self, problem: StandardProblem, state: Posterior, most: int) -> Posterior:
        """Take in what lowers the residual by more than its price, after the others have given way."""
        active = state.gamma >= ACTIVE
        a_bar, b_bar = self._noise(problem, state)
        s, come = problem.correlation(state.w), np.zeros_like(active)
        for targets, V in self._spans(problem, state, active):
            mu, sigma2, rho = state.mu[:, targets].T, state.sigma2[:, targets].T, state.rho[targets]
            price = self._price(problem.energy, mu, sigma2, rho[:, None], self.log_odds[:, 0])
            price = np.where(active[:, targets].T, np.inf, price)
            come[:, targets] = select(problem, V, s[:, targets].T, price, a_bar, b_bar[targets, None], most).T
        touched = np.flatnonzero(come.any(axis=0))
        return self._try(problem, state, touched, np.where(come, 1.0, state.gamma))

    def _spans(
        self, problem: StandardProblem, state: Posterior, active: BoolArray
    ) -> Iterator[tuple[IndexArray, FloatArray]]:
        """Return targets, some at a time, with V = L⁻¹G over their active regressors, LLᵀ = G + D."""
        idle, p = np.flatnonzero(~active.any(axis=0)), len(active)
        for first in range(0, idle.size, IDLE):
            targets = idle[first : first + IDLE]
            yield targets, np.zeros((targets.size, 0, p))
        for batch in batches(problem, active, width=p):
            L = stacks.factorise(self.system(batch, state), problem.rows)
            yield batch.targets, stacks.forward(L, batch.gram_rows())

    def _try(self, problem: StandardProblem, state: Posterior, targets: IndexArray, gamma: FloatArray) -> Posterior:
        """Return the state with other flags for some targets, solved anew, where that raises the bound."""
        if targets.size == 0:
            return state
        part, before = problem.take(targets), take(state, targets)
        trial = replace(before, gamma=gamma[:, targets])
        active = list(batches(part, trial.gamma >= ACTIVE))
        trial = replace(trial, mu=self.means(part, active, trial))
        sigma2 = equations.paired_variance(before.rho, part.energy[:, None], self.alpha(trial.mu, before.sigma2))
        rho, _ = self.noise(part, trial.w, Inside.of(trial.gamma, trial.mu, sigma2))
        mu = self.means(part, active, replace(trial, sigma2=sigma2, rho=rho))
        return put(state, targets, better(before, self.posterior(part, mu, sigma2, trial.gamma)))

    def _noise(self, problem: StandardProblem, state: Posterior) -> tuple[float, FloatArray]:
        a_bar = self.prior.a + problem.rows / 2
        return a_bar, a_bar / state.rho

    def _price(
        self, g: FloatArray, mu: FloatArray, sigma2: FloatArray, rho: FloatArray, log_odds: FloatArray
    ) -> FloatArray:
        """Return what having a regressor in costs the bound, besides its fit."""
        spread = 0.5 * rho * g * sigma2
        price: FloatArray = spread - equations.slab_gain(self.prior.c, self.prior.d, mu, sigma2) - log_odds
        return price


def inclusion(eta: FloatArray, least: FloatArray) -> FloatArray:
    """Return γ̂ = sigmoid(η), the paired counterpart of eq. (pi_update); zero below `least`.

    A flag that is off stays off below `ENTER`, and one that is on is off below `NEVER`: null regressors would otherwise
    all be on with the tiny probability that the prior gives them, at the price of visiting them in every sweep.
    """
    gamma: FloatArray = expit(eta)
    gamma *= gamma >= least
    return gamma
