"""The evidence lower bound of variational spike and slab, the states it is a function of, and the best means and noise.

`paired_elbo` is the bound of the default family (D10), `published_elbo` that of the paper's mean-field family
(D11); both are equation (6), written out with the model of equation (17). A state is never changed: each step makes
another. `Bound.means` finds all active means at once (D16), `Bound.posterior` gives a state its noise, at the exact
expected squared error, and the bound that belongs to it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import betaln, gammaln, xlog1py, xlogy

from koopsieve._types import BoolArray, FloatArray, IndexArray
from koopsieve.identify import stacks
from koopsieve.identify.prior import ProblemPrior, Slab, SpikeSlabPrior
from koopsieve.identify.settle import put, take
from koopsieve.identify.spike_slab import equations
from koopsieve.identify.stacks import Batch, batches
from koopsieve.identify.standardise import StandardProblem

MIN_SOLVED_INCLUSION = 1e-3  # regressors less probable than this stay out of the joint solve
NEVER_IN = -1e30  # log odds of a regressor that is zero throughout


def noise_term(a: float, b: float, rows: float | FloatArray, squared_error: FloatArray) -> FloatArray:
    """Return E log p(t|·) + E log p(ρ) + H(q(ρ)) at the best q(ρ): (D8)."""
    a_bar, b_bar = a + rows / 2, b + squared_error / 2
    constant = -rows / 2 * np.log(2 * np.pi) + gammaln(a_bar) - gammaln(a) + a * np.log(b)
    return np.asarray(constant - a_bar * np.log(b_bar), dtype=float)


def entropy(gamma: FloatArray) -> FloatArray:
    """Return the entropy of each inclusion flag."""
    return np.asarray(-xlogy(gamma, gamma) - xlog1py(1 - gamma, -gamma), dtype=float)


@dataclass(frozen=True, eq=False)
class Included:
    """The weights whose flag is on, in one row: which regressor of which target, and the parameters of q.

    A flag that is off adds nothing to sums over regressors, and almost all are off.
    """

    regressor: IndexArray
    target: IndexArray
    gamma: FloatArray
    mu: FloatArray
    sigma2: FloatArray
    targets: int

    @classmethod
    def of(cls, gamma: FloatArray, mu: FloatArray, sigma2: FloatArray) -> Included:
        """Pick them out of (regressors, targets) arrays."""
        flags = gamma.T.ravel()
        places = np.flatnonzero(flags != 0)
        target, regressor = np.divmod(places, len(gamma))
        return cls(regressor, target, flags[places], mu.T.ravel()[places], sigma2.T.ravel()[places], gamma.shape[1])

    def total(self, values: FloatArray) -> FloatArray:
        """Add values up, target by target."""
        return np.bincount(self.target, values, minlength=self.targets).astype(float, copy=False)


def paired_elbo(prior: ProblemPrior, rows: float, squared_error: FloatArray, included: Included) -> FloatArray:
    """Return the bound of the paired family, with q(ρ) and q(α) at their best: (D10).

    Regressors that are always in have infinite log odds, and their flags are one. `rows` is m, `squared_error` (q,) is
    E‖t − Φ(γ∘β)‖².
    """
    slab = equations.slab_gain(prior.slab.at(included.regressor), included.mu, included.sigma2)
    gain = included.gamma * (slab + prior.finite_log_odds[included.regressor]) + entropy(included.gamma)
    elbo: FloatArray = noise_term(prior.a, prior.b, rows, squared_error) + included.total(gain) + prior.log_none_in
    return elbo


def published_elbo(
    prior: ProblemPrior,
    rows: float,
    squared_error: FloatArray,
    gamma: FloatArray,
    mu: FloatArray,
    sigma2: FloatArray,
) -> FloatArray:
    """Return the bound of the mean-field family, with q(ρ), q(α) and q(π) at their best: (D11)."""
    e, f = (np.reshape(value, (-1, 1)) for value in (prior.e, prior.f))
    flags = betaln(e + gamma, f + 1 - gamma) - betaln(e, f) + entropy(gamma)
    weights = equations.slab_gain(prior.slab.column, mu, sigma2)
    elbo: FloatArray = noise_term(prior.a, prior.b, rows, squared_error) + np.sum(weights + flags, axis=0)
    return elbo


@dataclass(frozen=True, eq=False)
class Posterior:
    """State of the updates, in standard units.

    Mean, variance and probability of each weight; per target the noise precision, the bound, whether exchanges were
    tried without raising the bound since the flags last moved, and what the last sweep changed: the bound (in nats) or
    a probability, whichever is more.
    """

    mu: FloatArray
    sigma2: FloatArray
    gamma: FloatArray
    rho: FloatArray
    elbo: FloatArray
    exchanges_tried: BoolArray
    change: FloatArray

    @property
    def w(self) -> FloatArray:
        """Effective weights γ∘μ."""
        return self.gamma * self.mu


@dataclass(frozen=True, eq=False)
class Bound:
    """The bound of one problem, a function of the state: (D10)."""

    prior: ProblemPrior

    @classmethod
    def of(cls, prior: SpikeSlabPrior, names: tuple[str, ...], problem: StandardProblem) -> Self:
        """Write the prior out for the regressors of a problem; one that is zero throughout can never be in."""
        stated = prior.on(names, problem.rows)
        possible = (problem.energy > 0) | np.isinf(stated.log_odds)
        return cls(replace(stated, log_odds=np.where(possible, stated.log_odds, NEVER_IN)))

    @cached_property
    def slab(self) -> Slab:
        """The slab for arrays of shape (regressors, targets)."""
        return self.prior.slab.column

    @cached_property
    def log_odds(self) -> FloatArray:
        """Prior log odds, shape (p, 1)."""
        return self.prior.log_odds[:, None]

    def posterior(self, problem: StandardProblem, mu: FloatArray, sigma2: FloatArray, gamma: FloatArray) -> Posterior:
        """Return the state with the noise and the bound that belong to it."""
        included = Included.of(gamma, mu, sigma2)
        rho, error = self.noise(problem, gamma * mu, included)
        elbo = paired_elbo(self.prior, problem.rows, error, included)
        return Posterior(mu, sigma2, gamma, rho, elbo, np.zeros(len(elbo), dtype=bool), np.full(len(elbo), np.inf))

    def noise(self, problem: StandardProblem, w: FloatArray, included: Included) -> tuple[FloatArray, FloatArray]:
        """Return ρ̂ per target, and the expected squared error that it comes from: (D6), (D7)."""
        g = problem.energy[included.regressor]
        excess = equations.excess_error(g, included.gamma, included.mu, included.sigma2)
        error = problem.squared_residual(w) + included.total(excess) + problem.floor
        a_bar, b_bar = equations.update_noise(self.prior.a, self.prior.b, problem.rows, error)
        return a_bar / b_bar, error

    def alpha(self, mu: FloatArray, sigma2: FloatArray) -> FloatArray:
        """Return the expected precision of each weight, for arrays of shape (regressors, targets)."""
        return equations.update_weight_precision(self.slab, mu, sigma2)

    def solve(self, problem: StandardProblem, state: Posterior) -> Posterior:
        """Solve for all active means at once; a target for which rounding spoiled it keeps its means."""
        return better(state, self.solved(problem, state))

    def solved(self, problem: StandardProblem, state: Posterior) -> Posterior:
        """Return the state with all active means at their best given the rest: (D16)."""
        mu = self.means(problem, batches(problem, state.gamma >= MIN_SOLVED_INCLUSION), state)
        return self.posterior(problem, mu, state.sigma2, state.gamma)

    def means(self, problem: StandardProblem, active: Iterable[Batch], state: Posterior) -> FloatArray:
        """Return the means of all active regressors at once, given everything else in the state; the others are held.

        With w = γ∘μ the bound is largest where (G + D)w = Φᵀt over the active regressors: (D16).
        """
        held = np.where(state.gamma >= MIN_SOLVED_INCLUSION, 0.0, state.w)
        right = problem.correlation(held) if held.any() else problem.projected
        means = state.mu.copy(order="K")
        for batch in active:
            L = stacks.factorise(self.system(batch, state))
            batch.scatter(means, stacks.solve(L, batch.gather(right, 0.0)) / batch.gather(state.gamma, 1.0))
        return means

    def system(self, batch: Batch, state: Posterior) -> FloatArray:
        """Return G + D over the active regressors, D = ((1 − γ)g + α/ρ)/γ: (D15)."""
        gamma, slab = batch.gather(state.gamma, 1.0), self.prior.slab.at(batch.index)
        mu, sigma2 = batch.gather(state.mu, 0.0), batch.gather(state.sigma2, 1.0)
        alpha = equations.update_weight_precision(slab, mu, sigma2)
        ridge = (1 - gamma) * batch.problem.energy[batch.index] + alpha / state.rho[batch.targets, None]
        return batch.system(ridge / gamma)


def better(before: Posterior, after: Posterior) -> Posterior:
    """Return, target by target, the state with the higher bound."""
    risen: BoolArray = after.elbo >= before.elbo
    if risen.all():
        return after
    kept = np.flatnonzero(~risen)
    return put(after, kept, take(before, kept))
