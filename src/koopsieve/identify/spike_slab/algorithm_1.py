"""Algorithm 1 of the paper: method IV as published, all regressors at once, relaxed, in the data's own units.

The paper writes "hat variables the expectations of the random variables after the previous iteration" and that the
updates are done "in the Jacobi fashion"; its Algorithm 1 lists them line by line. `UpdateOrder` names the two readings.
In come statistics, out comes an `Estimate`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray, KoopsieveError, check_fields, require_kind
from koopsieve.identify.estimate import Estimate, Status, require_statistics, statuses
from koopsieve.identify.prior import ProblemPrior, SpikeSlabPrior
from koopsieve.identify.settle import settle
from koopsieve.identify.spike_slab import equations
from koopsieve.identify.spike_slab.bound import published_elbo
from koopsieve.regression import RegressionStatistics, TriangularFactor

LORENZ_PRIOR = SpikeSlabPrior(a=1.01, b=0.1, c=1e-3, d=1e-4, e=0.5, f=20.0)


class UpdateOrder(Enum):
    """Which values the lines of Algorithm 1 read."""

    PREVIOUS_SWEEP = (
        "Jacobi, as the paper's text says: every factor is updated from the other factors as the previous sweep left "
        "them, those of the same regressor and the noise included."
    )
    LINE_BY_LINE = (
        "As the lines of Algorithm 1 stand: within one regressor each line reads what the lines above it have just "
        "computed, the noise of this sweep included; other regressors count as the previous sweep left them."
    )


@dataclass(frozen=True, eq=False)
class MeanField:
    """State of the published updates: the parameters of every factor of q.

    Mean and precision of each weight, inclusion, expected weight precision α̂, ē and f̄ of q(π), noise precision ρ̂.
    """

    mu: FloatArray
    precision: FloatArray
    gamma: FloatArray
    alpha: FloatArray
    e_bar: FloatArray
    f_bar: FloatArray
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
        A target has settled when no mean moves by more than this fraction of the largest, and no variance by more than
        this fraction of itself.
    order : UpdateOrder
        Which of the two readings of Algorithm 1.
    initial_precision, initial_inclusion : float
        Where q(β) and q(γ) start (the paper: 1/10 and 0.5).
    """

    prior: SpikeSlabPrior = field(default_factory=lambda: LORENZ_PRIOR)
    relaxation: float = 0.1
    max_sweeps: int = 500
    tolerance: float = 1e-6
    order: UpdateOrder = UpdateOrder.PREVIOUS_SWEEP
    initial_precision: float = 0.1
    initial_inclusion: float = 0.5

    def __post_init__(self) -> None:
        require_kind("a prior", self.prior, SpikeSlabPrior, "Use SpikeSlabPrior().")
        numbers = ("relaxation", "tolerance", "initial_precision", "initial_inclusion")
        check_fields(self, numbers=numbers, wholes=("max_sweeps",))
        if not 0 < self.relaxation <= 1:
            raise KoopsieveError(f"relaxation must lie in (0, 1]. Got {self.relaxation}.")
        if self.prior.odds or self.prior.always or self.prior.worth:
            raise KoopsieveError(
                "The published updates have no place for odds of single regressors, `always` or `worth`. "
                f"Got odds={dict(self.prior.odds)}, always={self.prior.always}, worth={self.prior.worth}. "
                "Use SpikeSlab(prior), or a prior without them."
            )

    def identify(self, statistics: RegressionStatistics) -> Estimate:
        """Infer the Koopman matrix and the inclusion probabilities of every target."""
        require_statistics(statistics)
        factor, prior = statistics.factor, self.prior.on(statistics.regressors, statistics.rows)
        with np.errstate(all="ignore"):  # diverging targets overflow; they are stopped and reported by their status
            result = settle(
                start=self.init(factor, prior),
                step=lambda state, open_: self.step(factor.only(open_), prior, state),
                converged=self.converged,
                targets=factor.S.shape[1],
                max_sweeps=self.max_sweeps,
            )
            return _estimate(statistics, prior, result.state, result.sweeps, result.settled)

    def init(self, factor: TriangularFactor, prior: ProblemPrior) -> MeanField:
        """Return the paper's start: zero means, even inclusion, noise at its prior mean."""
        shape = factor.S.shape
        precision, gamma = np.full(shape, self.initial_precision), np.full(shape, self.initial_inclusion)
        e_bar, f_bar = equations.update_inclusion_shapes(*_shapes(prior), gamma)
        rho = np.full(shape[1], prior.a / prior.b)
        return MeanField(np.zeros(shape), precision, gamma, precision, e_bar, f_bar, rho)

    def step(self, factor: TriangularFactor, prior: ProblemPrior, state: MeanField) -> MeanField:
        """Run one sweep of Algorithm 1; a target whose update overflows stays where it was, with ρ̂ not a number."""
        g, s, error = _products(factor, state.gamma * state.mu)
        a_bar, b_bar = equations.update_noise(prior.a, prior.b, factor.rows, error)
        rho = a_bar / b_bar
        alpha = equations.update_weight_precision(prior.slab.column, state.mu, 1 / state.precision)
        e_bar, f_bar = equations.update_inclusion_shapes(*_shapes(prior), state.gamma)
        if self.order is UpdateOrder.PREVIOUS_SWEEP:
            mu, precision = self._weights(state, state.rho, g, state.alpha, s)
            seen = state.rho, state.mu, 1 / state.precision, g, s, state.e_bar, state.f_bar
        else:
            mu, precision = self._weights(state, rho, g, alpha, s)
            seen = rho, mu, 1 / precision, g, s, e_bar, f_bar
        gamma = equations.published_inclusion(*seen)
        return _where_finite(MeanField(mu, precision, gamma, alpha, e_bar, f_bar, rho), state)

    def _weights(
        self, state: MeanField, rho: FloatArray, g: FloatArray, alpha: FloatArray, s: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return mean and precision of q(β), damped: equations (22) and (23)."""
        precision, mu = equations.published_weights(rho, state.gamma, g, alpha, s)
        share = self.relaxation
        return share * mu + (1 - share) * state.mu, share * precision + (1 - share) * state.precision

    def converged(self, before: MeanField, after: MeanField) -> BoolArray:
        """Return for which targets q(β) stands still, in mean and variance, or has overflowed."""
        moved = np.abs(after.mu - before.mu).max(axis=0, initial=0.0)
        widened = np.abs(before.precision / after.precision - 1).max(axis=0, initial=0.0)
        still: BoolArray = moved <= self.tolerance * np.abs(after.mu).max(axis=0, initial=0.0)
        still &= widened <= self.tolerance
        return still | np.isnan(after.rho)


def _estimate(
    statistics: RegressionStatistics, prior: ProblemPrior, state: MeanField, sweeps: IndexArray, settled: BoolArray
) -> Estimate:
    factor, w, sigma2 = statistics.factor, state.gamma * state.mu, 1 / state.precision
    g, _, error = _products(factor, w)
    expected = error + np.sum(equations.excess_error(g, state.gamma, state.mu, sigma2), axis=0)
    a_bar, b_bar = equations.update_noise(prior.a, prior.b, factor.rows, error)
    return Estimate.of(
        statistics,
        w,
        inclusion=state.gamma,
        noise_precision=a_bar / b_bar,
        elbo=published_elbo(prior, factor.rows, expected, state.gamma, state.mu, sigma2),
        status=statuses(settled, np.isnan(state.rho), Status.DIVERGED),
        coef_variance=equations.effective_variance(state.gamma, state.mu, sigma2),
        sweeps=sweeps,
    )


def _products(factor: TriangularFactor, w: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return g_i = ‖φ_i‖², s_i = φ_iᵀr_i without regressor i, and ‖t − Φw‖²: equations (21), (24) and (25)."""
    g = np.einsum("ij,ij->j", factor.R, factor.R)[:, None]
    gap = factor.S - factor.R @ w
    return g, factor.R.T @ gap + g * w, np.einsum("ij,ij->j", gap, gap) + factor.leftover


def _shapes(prior: ProblemPrior) -> tuple[FloatArray, FloatArray]:
    return np.reshape(prior.e, (-1, 1)), np.reshape(prior.f, (-1, 1))


def _where_finite(after: MeanField, before: MeanField) -> MeanField:
    """Return the new state, but for targets where it is not finite the old one with ρ̂ not a number."""
    fine = np.all(np.isfinite(after.mu) & np.isfinite(after.precision) & np.isfinite(after.gamma), axis=0)
    fine &= np.isfinite(after.rho)
    kept = {name: np.where(fine, getattr(after, name), getattr(before, name)) for name in MeanField.__annotations__}
    return MeanField(**{**kept, "rho": np.where(fine, after.rho, np.nan)})
