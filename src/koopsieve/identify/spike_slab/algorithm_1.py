"""Algorithm 1 of the paper: method IV as published, damped, in the data's own units.

The paper writes hats for "the expectations of the random variables after the previous iteration" and bars for the
parameters "after the update takes place", says that updates are done "in the Jacobi fashion", and renews expectations
inside the loop of its listing. These do not agree with each other, so `UpdateOrder` names four readings. In come
statistics, out comes an `Estimate` with the posterior of every random variable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from koopsieve._types import (
    POSITIVE,
    SHARE,
    BoolArray,
    FloatArray,
    IndexArray,
    KoopsieveError,
    Range,
    check_fields,
    require_kind,
    warn_user,
)
from koopsieve.identify.estimate import Estimate, Status, require_statistics, statuses
from koopsieve.identify.prior import ProblemPrior, SpikeSlabPrior
from koopsieve.identify.settle import settle
from koopsieve.identify.spike_slab import equations
from koopsieve.identify.spike_slab.bound import published_elbo
from koopsieve.identify.spike_slab.equations import MeanField
from koopsieve.regression import RegressionStatistics, TriangularFactor

LORENZ_PRIOR = SpikeSlabPrior(a=1.01, b=0.1, c=1e-3, d=1e-4, e=0.5, f=20.0)


class UpdateOrder(Enum):
    """Which values the lines of Algorithm 1 read: four readings, each newer than the one before."""

    PREVIOUS_SWEEP = (
        "Jacobi: every factor is updated from the other factors as the previous sweep left them, those of the same "
        "regressor and the noise included."
    )
    NEW_BARS = (
        "Jacobi, hats from the previous sweep, bars from this one: as before, but equation (26) reads ē and f̄, which "
        "it prints with bars, as equation (20) has just computed them."
    )
    LINE_BY_LINE = (
        "As the lines of Algorithm 1 stand: within one regressor each line reads what the lines above it have just "
        "computed, the noise of this sweep included; other regressors count as the previous sweep left them."
    )
    SEQUENTIAL = (
        "As the loop of Algorithm 1 stands: line by line, and its expectations are renewed inside the loop, so that "
        "each regressor reads those before it as this sweep has left them (Gauss–Seidel)."
    )

    @property
    def reads_new_lines(self) -> bool:
        """True if the lines of one regressor read those above them."""
        return self in (UpdateOrder.LINE_BY_LINE, UpdateOrder.SEQUENTIAL)

    @property
    def reads_new_bars(self) -> bool:
        """True if equation (26) reads ē and f̄ of this sweep."""
        return self is not UpdateOrder.PREVIOUS_SWEEP

    def blocks(self, regressors: int) -> Sequence[slice]:
        """Return the regressors that are updated at once: all of them, or one after the other."""
        at_once = 1 if self is UpdateOrder.SEQUENTIAL else max(regressors, 1)
        return [slice(first, first + at_once) for first in range(0, regressors, at_once)]


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
        Which of the four readings of Algorithm 1.
    initial_precision, initial_inclusion : float
        Where the precisions of q(β) and q(α), and q(γ), start (the paper: 1/10 and 0.5).
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
        require_kind("an UpdateOrder", self.order, UpdateOrder, "Use UpdateOrder.PREVIOUS_SWEEP.")
        ranges = {
            "relaxation": Range(0, 1, open_low=True),
            "initial_precision": POSITIVE,
            "initial_inclusion": SHARE,
        }
        check_fields(self, numbers=("tolerance",), wholes=("max_sweeps",), ranges=ranges)
        if self.prior.odds or self.prior.always or self.prior.worth:
            raise KoopsieveError(
                "The published updates have no place for odds of single regressors, `always` or `worth`. "
                f"Got odds={dict(self.prior.odds)}, always={self.prior.always}, worth={self.prior.worth}. "
                "Use SpikeSlab(prior), or a prior without them."
            )

    def identify(self, statistics: RegressionStatistics) -> Estimate:
        """Infer the Koopman matrix, the inclusion probabilities and all posteriors of every target.

        Warns if targets have not settled: their answer depends on `max_sweeps` and `relaxation`.
        """
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
            found = _estimate(statistics, prior, result.state, result.sweeps, result.settled)
        self._warn_unless_settled(found)
        return found

    def init(self, factor: TriangularFactor, prior: ProblemPrior) -> MeanField:
        """Return the paper's start: zero means, even inclusion, noise at its prior mean."""
        shape = factor.S.shape
        c, _, e, f = _columns(prior)
        c_bar = np.broadcast_to(c + 0.5, shape).copy()
        inclusion = np.full(shape, self.initial_inclusion)
        e_bar, f_bar = equations.update_inclusion_shapes(e, f, inclusion)
        return MeanField(
            mean=np.zeros(shape),
            precision=np.full(shape, self.initial_precision),
            inclusion=inclusion,
            c_bar=c_bar,
            d_bar=c_bar / self.initial_precision,
            e_bar=e_bar,
            f_bar=f_bar,
            a_bar=np.full(shape[1], prior.a),
            b_bar=np.full(shape[1], prior.b),
            diverged=np.zeros(shape[1], dtype=bool),
        )

    def step(self, factor: TriangularFactor, prior: ProblemPrior, state: MeanField) -> MeanField:
        """Run one sweep of Algorithm 1; a target whose update overflows stays where it was, marked as diverged."""
        R, w = factor.R, state.weights
        gap = factor.S - R @ w
        error = np.einsum("ij,ij->j", gap, gap) + factor.leftover
        a_bar, b_bar = equations.update_noise(prior.a, prior.b, factor.rows, error)
        rho = a_bar / b_bar if self.order.reads_new_lines else state.expected_noise_precision
        g, shapes = np.einsum("ij,ij->j", R, R)[:, None], _columns(prior)
        parts = []
        for block in self.order.blocks(len(R)):
            s = R[:, block].T @ gap + g[block] * w[block]  # φᵢᵀrᵢ, the residual without regressor i: equation (21)
            parts.append(self._update([x[block] for x in shapes], state.rows(block), rho, g[block], s))
            gap = gap - R[:, block] @ (parts[-1]["inclusion"] * parts[-1]["mean"] - w[block])
        updated = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]} if parts else {}
        return state.changed({**updated, "a_bar": np.broadcast_to(a_bar, b_bar.shape), "b_bar": b_bar})

    def _update(
        self, shapes: Sequence[FloatArray], state: MeanField, rho: FloatArray, g: FloatArray, s: FloatArray
    ) -> dict[str, FloatArray]:
        """Return the factors of some regressors after lines 6 to 11, which read what `order` says."""
        c, d, e, f = shapes
        mean, sigma2, bars = state.mean, 1 / state.precision, (state.e_bar, state.f_bar)
        c_bar, d_bar = equations.update_precision_shapes(c, d, mean, sigma2)
        e_bar, f_bar = equations.update_inclusion_shapes(e, f, state.inclusion)
        alpha = c_bar / d_bar if self.order.reads_new_lines else state.expected_weight_precision
        precision, new_mean = equations.published_weights(rho, state.inclusion, g, alpha, s)
        precision = self.relaxation * precision + (1 - self.relaxation) * state.precision  # equation (23)
        new_mean = self.relaxation * new_mean + (1 - self.relaxation) * mean
        if self.order.reads_new_lines:
            mean, sigma2 = new_mean, 1 / precision
        if self.order.reads_new_bars:
            bars = e_bar, f_bar
        return {
            "mean": new_mean,
            "precision": precision,
            "inclusion": equations.published_inclusion(rho, mean, sigma2, g, s, *bars),
            "c_bar": np.broadcast_to(c_bar, d_bar.shape),
            "d_bar": d_bar,
            "e_bar": e_bar,
            "f_bar": f_bar,
        }

    def converged(self, before: MeanField, after: MeanField) -> BoolArray:
        """Return for which targets q(β) stands still, in mean and variance, or has overflowed."""
        moved = np.abs(after.mean - before.mean).max(axis=0, initial=0.0)
        widened = np.abs(before.precision / after.precision - 1).max(axis=0, initial=0.0)
        still: BoolArray = moved <= self.tolerance * np.abs(after.mean).max(axis=0, initial=0.0)
        still &= widened <= self.tolerance
        return still | after.diverged

    def _warn_unless_settled(self, found: Estimate) -> None:
        ends = [found.status.count(status) for status in (Status.SETTLED, Status.MAX_SWEEPS, Status.DIVERGED)]
        if ends[1] + ends[2]:
            warn_user(
                f"Algorithm 1 settled for {ends[0]} of {len(found.targets)} targets: {ends[1]} still moved after "
                f"{self.max_sweeps} sweeps, {ends[2]} diverged. What it includes there depends on max_sweeps and "
                "relaxation. Raise max_sweeps, lower relaxation, or use SpikeSlab(), whose updates settle."
            )


def _estimate(
    statistics: RegressionStatistics, prior: ProblemPrior, state: MeanField, sweeps: IndexArray, settled: BoolArray
) -> Estimate:
    factor, w, sigma2 = statistics.factor, state.weights, 1 / state.precision
    g, gap = np.einsum("ij,ij->j", factor.R, factor.R)[:, None], factor.S - factor.R @ w
    expected = np.einsum("ij,ij->j", gap, gap) + factor.leftover
    expected += np.sum(equations.excess_error(g, state.inclusion, state.mean, sigma2), axis=0)
    return Estimate.of(
        statistics,
        w,
        inclusion=state.inclusion,
        noise_precision=state.expected_noise_precision,
        elbo=published_elbo(prior, factor.rows, expected, state.inclusion, state.mean, sigma2),
        status=statuses(settled, state.diverged, Status.DIVERGED),
        coef_variance=equations.effective_variance(state.inclusion, state.mean, sigma2),
        sweeps=sweeps,
        posterior=state,
    )


def _columns(prior: ProblemPrior) -> list[FloatArray]:
    """Return c, d, e and f with one row per regressor."""
    given = (prior.slab.c, prior.slab.d, prior.e, prior.f)
    return [np.broadcast_to(np.reshape(value, (-1, 1)), (len(prior.log_odds), 1)) for value in given]
