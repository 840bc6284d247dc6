"""Method IV to the letter: the paper's Algorithm 1, all coordinates at once (Jacobi), relaxed, in the data's own units.

The paper leaves two things to the reader; here: ρ̂ is that of the same sweep's first line, and within one regressor each
line uses what the lines above it have just computed, while other regressors count as the previous sweep left them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from koopsieve._types import BoolArray, FloatArray, KoopsieveError
from koopsieve.identify.estimate import Estimate, Status, statuses
from koopsieve.identify.prior import SpikeSlabPrior
from koopsieve.identify.settle import settle
from koopsieve.identify.spike_slab import equations
from koopsieve.identify.spike_slab.elbo import published_elbo
from koopsieve.regression import RegressionStatistics, TriangularFactor

LORENZ_PRIOR = SpikeSlabPrior(a=1.01, b=0.1, c=1e-3, d=1e-4, e=0.5, f=20.0)


@dataclass(frozen=True, eq=False)
class MeanField:
    """State of the published updates: mean and precision of each weight, inclusion, noise precision."""

    mu: FloatArray
    precision: FloatArray
    gamma: FloatArray
    rho: FloatArray


@dataclass(frozen=True)
class PublishedSpikeSlab:
    """The paper's own updates; use `SpikeSlab` unless you want to compare with the paper.

    Parameters
    ----------
    prior : SpikeSlabPrior
        Here in the data's own units, as in the paper's appendix; the default is its table for Lorenz.
    relaxation : float
        The paper's p_d in (0, 1]: the share of the new mean and precision in each update. Small values oscillate less.
    max_sweeps : int
        Number of sweeps at most.
    tolerance : float
        A target has settled when no mean moves by more than this fraction of the largest.
    initial_precision, initial_inclusion : float
        Where q(β) and q(γ) start (the paper: 1/10 and 0.5).
    """

    prior: SpikeSlabPrior = field(default_factory=lambda: LORENZ_PRIOR)
    relaxation: float = 0.1
    max_sweeps: int = 500
    tolerance: float = 1e-6
    initial_precision: float = 0.1
    initial_inclusion: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.relaxation <= 1:
            raise KoopsieveError(f"relaxation must lie in (0, 1]. Got {self.relaxation}.")
        if self.prior.odds or self.prior.always:
            raise KoopsieveError("The published updates know no odds of single regressors. Use SpikeSlab(prior).")

    def identify(self, statistics: RegressionStatistics) -> Estimate:
        """Infer the Koopman matrix and the inclusion probabilities of every target."""
        factor = statistics.factor
        targets = factor.S.shape[1]
        with np.errstate(all="ignore"):  # diverging targets overflow; they are stopped and reported by their status
            result = settle(
                start=self.init(factor),
                step=lambda state, open_: self.step(factor.only(open_), state),
                converged=self.converged,
                targets=targets,
                max_sweeps=self.max_sweeps,
            )
            return self._estimate(statistics, result.state, result.sweeps, result.settled)

    def init(self, factor: TriangularFactor) -> MeanField:
        """Return the paper's start: zero means, even inclusion."""
        shape = factor.S.shape
        precision = np.full(shape, self.initial_precision)
        gamma = np.full(shape, self.initial_inclusion)
        return MeanField(np.zeros(shape), precision, gamma, np.full(shape[1], self.prior.a / self.prior.b))

    def step(self, factor: TriangularFactor, state: MeanField) -> MeanField:
        """Run one sweep of Algorithm 1; a target whose update overflows stays where it was."""
        prior, keep = self.prior, 1 - self.relaxation
        e, f = prior.beta_shapes(len(factor.R))
        g = np.einsum("ij,ij->j", factor.R, factor.R)[:, None]
        w = state.gamma * state.mu
        gap = factor.S - factor.R @ w
        s = factor.R.T @ gap + g * w
        a_bar, b_bar = equations.update_noise(prior.a, prior.b, factor.rows, _power(gap) + factor.leftover)
        rho = a_bar / b_bar
        alpha = equations.update_weight_precision(prior.c, prior.d, state.mu, 1 / state.precision)
        e_bar, f_bar = equations.update_inclusion_shapes(e, f, state.gamma)
        precision, mu = equations.published_weights(rho, state.gamma, g, alpha, s)
        precision = self.relaxation * precision + keep * state.precision
        mu = self.relaxation * mu + keep * state.mu
        gamma = equations.published_inclusion(rho, mu, 1 / precision, g, s, e_bar, f_bar)
        fine = np.all(np.isfinite(mu) & np.isfinite(precision) & np.isfinite(gamma), axis=0) & np.isfinite(rho)
        return MeanField(
            np.where(fine, mu, state.mu),
            np.where(fine, precision, state.precision),
            np.where(fine, gamma, state.gamma),
            np.where(fine, rho, np.nan),
        )

    def converged(self, before: MeanField, after: MeanField) -> BoolArray:
        """Tell which targets' means stand still, or have overflowed."""
        moved = np.abs(after.mu - before.mu).max(axis=0, initial=0.0)
        still: BoolArray = moved <= self.tolerance * np.abs(after.mu).max(axis=0, initial=0.0)
        return still | np.isnan(after.rho)

    def _estimate(
        self, statistics: RegressionStatistics, state: MeanField, sweeps: np.ndarray, settled: BoolArray
    ) -> Estimate:
        prior, factor = self.prior, statistics.factor
        e, f = prior.beta_shapes(len(factor.R))
        w, sigma2 = state.gamma * state.mu, 1 / state.precision
        g = np.einsum("ij,ij->j", factor.R, factor.R)[:, None]
        error = _power(factor.S - factor.R @ w) + factor.leftover
        expected = error + np.sum(equations.missing_power(g, state.gamma, state.mu, sigma2), axis=0)
        diverged = np.isnan(state.rho)
        hyper = (prior.a, prior.b, prior.c, prior.d, e, f)
        return Estimate(
            coef=w,
            inclusion=state.gamma,
            noise_precision=(prior.a + factor.rows / 2) / (prior.b + error / 2),
            elbo=published_elbo(hyper, factor.rows, expected, state.gamma, state.mu, sigma2),
            status=statuses(settled, diverged, Status.DIVERGED),
            coef_variance=state.gamma * ((1 - state.gamma) * state.mu**2 + sigma2),
            sweeps=sweeps,
            agreement=np.ones(len(sweeps), dtype=np.intp),
            regressors=statistics.regressors,
            targets=statistics.observables,
        )


def _power(gap: FloatArray) -> FloatArray:
    power: FloatArray = np.einsum("ij,ij->j", gap, gap)
    return power
