"""The posterior of the weights when a given set of observables is in, and what one more would change.

For a set of observables the model is Bayesian linear regression target by target, with the paper's Gamma priors on
noise and on each weight's precision; q(β) has a full covariance. The bound of the shared flags is

    Σ_t weight_t·(noise term + weight terms)_t + Σ_i log p(γ_i),

closed form throughout (D35). `newcomers` gives the change of the bound when one flag is turned on, with the
weights of all other observables solved anew (D36); `removal` when one is turned off.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import FloatArray, IndexArray
from koopsieve.identify.prior import ProblemPrior
from koopsieve.identify.spike_slab.sets import MIN_REMAINING_ERROR, OutsideRegressors, SetPosterior, SetRegressions
from koopsieve.sieve.horizon.horizon_problem import HorizonProblem

MAX_ENTRIES = 1 << 25  # of a stack of matrices, one per target: 256 MB


@dataclass(frozen=True, eq=False)
class TargetRegressions:
    """The regressions of all targets on one set of observables, taken some targets at a time."""

    problem: HorizonProblem
    prior: ProblemPrior
    kept: IndexArray  # (k,): the observables that are in

    @property
    def parts(self) -> tuple[slice, ...]:
        """Targets whose matrices, of the observables that are in and of all, are in memory at the same time."""
        targets = len(self.problem.power)
        step = max(MAX_ENTRIES // max(len(self.kept) * self.problem.observables, 1), 1)
        return tuple(slice(first, min(first + step, targets)) for first in range(0, targets, step))

    def of(self, part: slice) -> SetRegressions:
        """Return the regressions of some targets."""
        problem, kept = self.problem, self.kept
        gram = problem.gram[:, kept[:, None], kept][problem.group[part]]
        projected, slab = problem.projected[part][:, kept], self.prior.slab.at(kept)
        return SetRegressions(self.prior, gram, projected, problem.power[part], problem.rows[part], slab)

    def posterior(self, found: Iterable[SetPosterior]) -> HorizonPosterior:
        """Join what is found part by part; covariances are held only where all targets are one part."""
        parts = [_marginal(one, held=len(self.parts) == 1) for one in found]
        mean, variance, alpha, rho, squared_error, evidence = (
            np.concatenate([one[i] for one in parts]) for i in range(6)
        )
        weighted = float(self.problem.weight @ evidence)
        held = parts[0][6] if len(parts) == 1 else None
        return HorizonPosterior(self, mean, variance, alpha, rho, squared_error, weighted, held)


_Marginal = tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray, FloatArray | None]


def _marginal(found: SetPosterior, held: bool) -> _Marginal:
    variance = found.variance if held else found.variance.copy()  # a view would keep the covariances in memory
    of_targets = found.alpha, found.rho, found.squared_error, found.evidence
    return found.mean, variance, *of_targets, found.covariance if held else None


@dataclass(frozen=True, eq=False)
class HorizonPosterior:
    """q(β), q(α), q(ρ) of every target, given which observables are in."""

    regressions: TargetRegressions  # on the observables that are in
    # mean, variance (Q, k): posterior mean and variance of the weights
    mean: FloatArray
    variance: FloatArray
    # alpha, rho (Q, k) and (Q,): the expected precisions of weights and noise for which mean and covariance were
    # solved
    alpha: FloatArray
    rho: FloatArray
    squared_error: FloatArray  # (Q,): E‖t − Φβ‖²
    evidence: float  # the weighted bound, without the flags' prior
    # (Q, k, k): posterior covariances; left out where they would take too much memory, and then solved for when asked
    # for
    held: FloatArray | None

    @property
    def kept(self) -> IndexArray:
        """The observables that are in, shape (k,)."""
        return self.regressions.kept

    def by_target(self, part: slice) -> SetPosterior:
        """Return some targets as a stack of regressions on one set."""
        alpha, rho = self.alpha[part], self.rho[part]
        covariance = self.regressions.of(part).covariance(alpha, rho) if self.held is None else self.held[part]
        unknown = np.full_like(rho, np.nan)
        return SetPosterior(self.mean[part], covariance, alpha, rho, self.squared_error[part], unknown)

    def column(self, position: int) -> FloatArray:
        """Return the covariances of one weight with all, shape (Q, k)."""
        if self.held is not None:
            return self.held[:, :, position]
        parts = (self.by_target(part).covariance[:, :, position].copy() for part in self.regressions.parts)
        return np.concatenate(list(parts))


def first_posterior(problem: HorizonProblem, prior: ProblemPrior, kept: IndexArray, sweeps: int) -> HorizonPosterior:
    """Return the posterior of a set, starting from weights of order one and a tenth of each target as noise."""
    targets = len(problem.power)
    alpha, rho = np.ones((targets, len(kept))), 10 * problem.rows / np.maximum(problem.power, 1e-12 * problem.rows)
    return settle_weights(solved(problem, prior, kept, alpha, rho), sweeps)


def settle_weights(posterior: HorizonPosterior, sweeps: int) -> HorizonPosterior:
    """Update q(α) and q(ρ), then q(β), `sweeps` times; each update can only raise the bound."""
    if not sweeps:
        return posterior
    every, mean, variance, error = posterior.regressions, posterior.mean, posterior.variance, posterior.squared_error
    return every.posterior(
        every.of(part).settled_from(mean[part], variance[part], error[part], sweeps) for part in every.parts
    )


def solved(
    problem: HorizonProblem, prior: ProblemPrior, kept: IndexArray, alpha: FloatArray, rho: FloatArray
) -> HorizonPosterior:
    """Return q(β) given the precisions, and the evidence with q(α) and q(ρ) at their best for it: (D35)."""
    every = TargetRegressions(problem, prior, kept)
    return every.posterior(every.of(part).solved(alpha[part], rho[part]) for part in every.parts)


@dataclass(frozen=True, eq=False)
class Newcomers:
    """What every observable that is out would get if it came in."""

    gains: FloatArray  # (L,): how much the evidence rises; −inf for those that are in already
    # mean, variance, alpha (Q, L): its weight, and the precision of that weight
    mean: FloatArray
    variance: FloatArray
    alpha: FloatArray
    growth: FloatArray  # (Q, L): by how much the squared error grows (it is negative: it shrinks)
    # (Q, k, L): by how much the weights of those that are in fall, per unit of the newcomer's weight; left out where it
    # would take too much memory
    held: FloatArray | None


def newcomers(posterior: HorizonPosterior) -> Newcomers:
    """Return what each observable would get and give if it came in, the others solved anew: (D36)."""
    problem, parts = posterior.regressions.problem, posterior.regressions.parts
    gains, found, held = np.zeros(problem.observables), [], None
    for part in parts:
        rows = posterior.by_target(part)
        candidates = _outside(posterior.regressions, rows, part)
        new = candidates.newcomers(posterior.regressions.of(part), rows)
        gains += problem.weight[part] @ new.gain
        found.append((new.mean, new.variance, new.alpha, new.growth))
        held = candidates.response if len(parts) == 1 else None
    gains[posterior.kept] = -np.inf
    mean, variance, alpha, growth = (np.concatenate(one) for one in zip(*found, strict=True))
    return Newcomers(gains, mean, variance, alpha, growth, held)


def _outside(regressions: TargetRegressions, rows: SetPosterior, part: slice) -> OutsideRegressors:
    """Return all observables as those that are in see them, for some targets."""
    problem, group = regressions.problem, regressions.problem.group[part]
    cross, own = problem.gram[:, regressions.kept][group], np.einsum("gii->gi", problem.gram)[group]
    gap = problem.projected[part] - (rows.mean[:, None, :] @ cross)[:, 0]
    return OutsideRegressors.of(rows, cross, own, gap, regressions.prior.slab)


def _response(posterior: HorizonPosterior, new: Newcomers, observable: int) -> FloatArray:
    """Return by how much the weights fall per unit of one newcomer's weight, shape (Q, k)."""
    if new.held is not None:
        return new.held[:, :, observable]
    problem, found = posterior.regressions.problem, []
    for part in posterior.regressions.parts:
        cross = problem.gram[:, posterior.kept, observable][problem.group[part]]
        rows = posterior.by_target(part)
        found.append(rows.rho[:, None] * (rows.covariance @ cross[:, :, None])[:, :, 0])
    return np.concatenate(found)


def with_newcomer(posterior: HorizonPosterior, new: Newcomers, observable: int) -> HorizonPosterior:
    """Return the posterior after one observable came in, ρ as it was; its evidence is not known (nan)."""
    response = _response(posterior, new, observable)
    variance, weight = new.variance[:, observable, None], new.mean[:, observable, None]
    least = MIN_REMAINING_ERROR * posterior.squared_error
    return HorizonPosterior(
        regressions=replace(posterior.regressions, kept=np.append(posterior.kept, observable)),
        mean=np.hstack([posterior.mean - response * weight, weight]),
        variance=np.hstack([posterior.variance + variance * response**2, variance]),
        alpha=np.hstack([posterior.alpha, new.alpha[:, observable, None]]),
        rho=posterior.rho,
        squared_error=np.maximum(posterior.squared_error + new.growth[:, observable], least),
        evidence=np.nan,
        held=None if posterior.held is None else _widened(posterior.held, response, variance),
    )


def _widened(covariance: FloatArray, response: FloatArray, variance: FloatArray) -> FloatArray:
    """Return the covariances with a newcomer, given its own variance (Q, 1)."""
    k = covariance.shape[1]
    wide = np.empty((len(variance), k + 1, k + 1))
    wide[:, :k, :k] = covariance + (variance * response)[:, :, None] * response[:, None, :]
    wide[:, :k, k] = wide[:, k, :k] = -variance * response
    wide[:, k, k] = variance[:, 0]
    return wide
