"""The bound that the default spike and slab raises, the states it is a function of, and the best means and noise.

A state is never changed: each step makes another. `Bound.means` finds all active means at once, `Bound.posterior` gives
a state its noise, at the exact expected squared error, and the bound that belongs to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from koopsieve._types import BoolArray, FloatArray
from koopsieve.identify.linalg import stacks
from koopsieve.identify.linalg.batches import Batch, batches
from koopsieve.identify.linalg.standardise import StandardProblem
from koopsieve.identify.prior import SpikeSlabPrior
from koopsieve.identify.settle import put, take
from koopsieve.identify.spike_slab import equations
from koopsieve.identify.spike_slab.elbo import Inside, paired_elbo

ACTIVE = 1e-3  # regressors less probable than this stay out of the joint solve


@dataclass(frozen=True, eq=False)
class Posterior:
    """State of the updates, in standard units.

    Mean, variance and probability of each weight; per target the noise precision, the bound, whether exchanges were
    tried in vain, and what the last sweep changed: the bound (in nats) or a probability, whichever is more.
    """

    mu: FloatArray
    sigma2: FloatArray
    gamma: FloatArray
    rho: FloatArray
    elbo: FloatArray
    quiet: BoolArray
    change: FloatArray

    @property
    def w(self) -> FloatArray:
        """Effective weights γ∘μ."""
        return self.gamma * self.mu


@dataclass(frozen=True, eq=False)
class Bound:
    """The bound of one problem.

    Parameters
    ----------
    prior : SpikeSlabPrior
        Hyperparameters.
    log_odds : array, shape (p, 1)
        Prior log odds of each regressor; inf for those that are always in.
    """

    prior: SpikeSlabPrior
    log_odds: FloatArray

    @classmethod
    def of(cls, prior: SpikeSlabPrior, names: tuple[str, ...], problem: StandardProblem) -> Self:
        """Spell the prior out for the regressors of a problem; a regressor that is zero throughout can never be in."""
        log_odds = prior.log_odds(names, problem.rows)
        return cls(prior, np.where((problem.energy > 0) | np.isinf(log_odds), log_odds, -1e30)[:, None])

    def posterior(self, problem: StandardProblem, mu: FloatArray, sigma2: FloatArray, gamma: FloatArray) -> Posterior:
        """Return the state with the noise and the bound that belong to it."""
        prior, inside = self.prior, Inside.of(gamma, mu, sigma2)
        rho, error = self.noise(problem, gamma * mu, inside)
        hyper = (prior.a, prior.b, prior.c, prior.d)
        elbo = paired_elbo(hyper, *self._flags, problem.rows, error, inside)
        return Posterior(mu, sigma2, gamma, rho, elbo, np.zeros(len(elbo), dtype=bool), np.full(len(elbo), np.inf))

    def noise(self, problem: StandardProblem, w: FloatArray, inside: Inside) -> tuple[FloatArray, FloatArray]:
        """Return ρ̂ per target, and the expected squared error that it comes from."""
        missing = equations.missing_power(problem.energy[inside.regressor], inside.gamma, inside.mu, inside.sigma2)
        error = problem.squared_residual(w) + inside.total(missing) + problem.floor
        a_bar, b_bar = equations.update_noise(self.prior.a, self.prior.b, problem.rows, error)
        return a_bar / b_bar, error

    @cached_property
    def _flags(self) -> tuple[FloatArray, float]:
        """Log odds, zero for what is always in, and the log probability a priori that nothing else is in."""
        known = np.isinf(self.log_odds[:, 0])
        odds = np.where(known, 0.0, self.log_odds[:, 0])
        return odds, -float(np.sum(np.logaddexp(0, odds), where=~known))

    def alpha(self, mu: FloatArray, sigma2: FloatArray) -> FloatArray:
        """Return the expected precision of each weight."""
        return equations.update_weight_precision(self.prior.c, self.prior.d, mu, sigma2)

    def solve(self, problem: StandardProblem, state: Posterior) -> Posterior:
        """Solve for all active means at once; a target for which rounding spoiled it keeps its means."""
        mu = self.means(problem, batches(problem, state.gamma >= ACTIVE), state)
        return better(state, self.posterior(problem, mu, state.sigma2, state.gamma))

    def means(self, problem: StandardProblem, active: Iterable[Batch], state: Posterior) -> FloatArray:
        """Return the means of all active regressors at once, given everything else in the state; the others are held.

        With w = γ∘μ the bound is largest where (G + D)w = Φᵀt over the active regressors (see `system`).
        """
        held = np.where(state.gamma >= ACTIVE, 0.0, state.w)
        side = problem.correlation(held) if held.any() else problem.projected
        means = state.mu.copy(order="K")
        for batch in active:
            L = stacks.factorise(self.system(batch, state), problem.rows)
            batch.scatter(means, stacks.solve(L, batch.gather(side, 0.0)) / batch.gather(state.gamma, 1.0))
        return means

    def system(self, batch: Batch, state: Posterior) -> FloatArray:
        """Return G + D over the active regressors, D = ((1 − γ)g + α/ρ)/γ."""
        present = batch.gather(state.gamma, 1.0)
        alpha = self.alpha(batch.gather(state.mu, 0.0), batch.gather(state.sigma2, 1.0))
        ridge = (1 - present) * batch.problem.energy[batch.index] + alpha / state.rho[batch.targets, None]
        return batch.system(ridge / present)


def better(before: Posterior, after: Posterior) -> Posterior:
    """Return, target by target, the state with the higher bound."""
    risen: BoolArray = after.elbo >= before.elbo
    if risen.all():
        return after
    kept = np.flatnonzero(~risen)
    return put(after, kept, take(before, kept))
