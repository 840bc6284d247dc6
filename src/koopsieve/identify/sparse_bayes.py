"""Method III: sparse Bayesian learning (Tipping, 2001), target by target with the full posterior covariance.

Each weight has its own Gaussian prior precision λ_i; the precisions and the noise precision ρ maximise the evidence
(D27). Weights whose precision grows without bound leave the model. In come statistics, out comes an `Estimate`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import BoolArray, FloatArray, Range, check_fields
from koopsieve.identify.estimate import Estimate, Status, require_statistics, statuses
from koopsieve.identify.settle import on_all_cores, put, settle, take
from koopsieve.identify.stacks import posterior
from koopsieve.identify.standardise import StandardProblem, standardise
from koopsieve.regression import RegressionStatistics

RIDGE_SWEEPS = 20  # of the fixed point that gives the ridge its start


@dataclass(frozen=True, eq=False)
class Relevance:
    """State of the iteration, in standard units; `precision` is inf for weights that left the model."""

    precision: FloatArray
    noise: FloatArray
    w: FloatArray
    variance: FloatArray
    squared_residual: FloatArray
    evidence: FloatArray


@dataclass(frozen=True)
class SparseBayes:
    """Sparse Bayesian learning whose evidence never falls.

    All parameters refer to standard units (every regressor and target has unit mean square).

    Parameters
    ----------
    noise_shape, noise_rate : float
        Gamma prior of the noise precision. Raising the rate puts a floor of 2·rate/rows under the noise variance.
    weight_shape, weight_rate : float
        Gamma prior of every weight's precision. Raising the rate puts a floor under the size of a weight's prior, so
        that fewer weights leave; raising the shape drives more of them out.
    max_precision : float
        Weights whose prior precision exceeds this multiple of the data's own (ρ‖φ_i‖²) leave the model; with inf none
        ever leaves.
    tolerance : float
        A target has settled when its weights move by less than this, relative to their size and uncertainty.
    max_sweeps : int
        Number of updates at most.
    """

    noise_shape: float = 1e-12
    noise_rate: float = 1e-12
    weight_shape: float = 1e-12
    weight_rate: float = 1e-12
    max_precision: float = 1e3
    tolerance: float = 1e-4
    max_sweeps: int = 300

    def __post_init__(self) -> None:
        shapes = ("noise_shape", "noise_rate", "weight_shape", "weight_rate")
        ranges = {"max_precision": Range(0, open_low=True), "tolerance": Range(0, 1, open_high=True)}
        check_fields(self, wholes=("max_sweeps",), ranges=dict.fromkeys(shapes, Range(0)) | ranges)

    def identify(self, statistics: RegressionStatistics) -> Estimate:
        """Infer the Koopman matrix of every target; inclusion is 1 for weights that stayed and 0 for the others."""
        require_statistics(statistics)
        return on_all_cores(self._identify, statistics)

    def _identify(self, statistics: RegressionStatistics, _: Estimate | None) -> Estimate:
        problem = standardise(statistics)
        result = settle(
            start=self.init(problem),
            step=lambda state, open_: self.step(problem.take(open_), state),
            converged=self.converged,
            targets=problem.S.shape[1],
            max_sweeps=self.max_sweeps,
        )
        state = result.state
        exact = problem.exact(state.squared_residual)
        return Estimate.of(
            statistics,
            problem.original_coef(state.w),
            inclusion=np.isfinite(state.precision).astype(float) * ~problem.zero_target,
            noise_precision=problem.original_precision(state.noise),
            elbo=state.evidence - problem.rows * np.log(problem.target_scale),
            status=statuses(result.settled, exact, Status.DEGENERATE),
            coef_variance=problem.original_variance(state.variance),
            sweeps=result.sweeps,
        )

    def init(self, problem: StandardProblem) -> Relevance:
        """Start with everything in, and the one weight precision per target that has the highest evidence."""
        spectrum = SingularBasis.of(problem)
        precision, noise = ridge_evidence(problem, spectrum)
        present = problem.energy[:, None] > 0
        w, variance, log_det = spectrum.posterior(precision, noise)
        log_det = log_det - np.count_nonzero(~present) * np.log(precision)
        weights = np.asfortranarray(w * present), np.asfortranarray(variance * present), log_det
        return self.relevance(problem, np.asfortranarray(np.where(present, precision, np.inf)), noise, weights)

    def evaluate(self, problem: StandardProblem, precision: FloatArray, noise: FloatArray) -> Relevance:
        """Return the posterior of the weights and the evidence, at given precisions."""
        return self.relevance(problem, precision, noise, posterior(problem, precision, noise))

    def relevance(
        self, problem: StandardProblem, precision: FloatArray, noise: FloatArray, weights: tuple[FloatArray, ...]
    ) -> Relevance:
        """Return the evidence that belongs to the weights' posterior (mean, variance, log determinant): (D27)."""
        w, variance, log_det = weights
        residual = problem.squared_residual(w)
        kept = np.isfinite(precision)
        finite = np.where(kept, precision, 1.0)
        fit = problem.rows * np.log(noise / (2 * np.pi)) - noise * residual
        prior = np.sum(np.log(finite) - finite * w**2, axis=0, where=kept)
        hyper = np.sum(self.weight_shape * np.log(finite) - self.weight_rate * finite, axis=0, where=kept)
        hyper += self.noise_shape * np.log(noise) - self.noise_rate * noise
        return Relevance(precision, noise, w, variance, residual, (fit + prior - log_det) / 2 + hyper)

    def step(self, problem: StandardProblem, state: Relevance) -> Relevance:
        """Try the update that moves furthest first; where the evidence would fall, a more careful one.

        Expectation-maximisation, the last, cannot lower the evidence but for rounding, and then nothing changes.
        """
        following, waiting = state, np.arange(len(state.evidence))
        jumps = () if np.isinf(self.max_precision) else (self.jump,)
        for update in (*jumps, self.fixed_point, self.expectation_maximisation):
            part, before = problem.take(waiting), take(state, waiting)
            trial = self.evaluate(part, *update(part, before))
            fallen = np.flatnonzero(~(trial.evidence >= before.evidence))
            following = put(following, waiting, put(trial, fallen, take(before, fallen)))
            waiting = waiting[fallen]
            if waiting.size == 0:
                break
        return following

    def jump(self, problem: StandardProblem, state: Relevance) -> tuple[FloatArray, FloatArray]:
        """Return the precisions that are best one at a time (Tipping and Faul, 2003): (D28).

        With s_i = 1/Σ_ii − λ_i and q_i = w_i/Σ_ii the evidence is largest at λ_i = s_i²/(q_i² − s_i) if q_i² > s_i,
        else at infinity. Of the weights that would leave, the less relevant two thirds do.
        """
        kept = np.isfinite(state.precision)
        own = np.where(kept, state.variance, 1.0)
        s = np.maximum(1 / own - np.where(kept, state.precision, 0.0), 1e-12 / own)
        excess = (state.w / own) ** 2 / s - 1
        precision = s / np.where(excess > 0, excess, np.inf)
        leaving = kept & (excess <= 0)
        gone = leaving & (excess <= _two_thirds(np.where(leaving, excess, np.inf)))
        precision = np.where(leaving, np.where(gone, np.inf, state.precision), precision)
        return self._prune(problem, precision, self._noise(problem, state), kept=kept)

    def fixed_point(self, problem: StandardProblem, state: Relevance) -> tuple[FloatArray, FloatArray]:
        """Return MacKay's next precisions: (D29).

        λ_i = (1 − λ_iΣ_ii + 2c)/(w_i² + 2d), ρ = (m − Σ_i(1 − λ_iΣ_ii) + 2a)/(‖t − Φw‖² + 2b).
        """
        determined = _determined(state)
        size = state.w**2 + 2 * self.weight_rate + np.finfo(float).tiny
        precision = (determined + 2 * self.weight_shape) / size
        return self._prune(problem, precision, self._noise(problem, state), kept=np.isfinite(state.precision))

    def expectation_maximisation(self, problem: StandardProblem, state: Relevance) -> tuple[FloatArray, FloatArray]:
        """Return the next precisions by expectation-maximisation: (D30).

        λ_i = (1 + 2c)/(w_i² + Σ_ii + 2d), ρ = (m + 2a)/(E‖t − Φw‖² + 2b).
        """
        kept = np.isfinite(state.precision)
        precision = (1 + 2 * self.weight_shape) / (state.w**2 + state.variance + 2 * self.weight_rate + 1e-300)
        expected = _floored(problem, state) + _determined(state).sum(axis=0) / state.noise
        noise = (problem.rows + 2 * self.noise_shape) / (expected + 2 * self.noise_rate)
        return np.where(kept, precision, np.inf), noise

    def _noise(self, problem: StandardProblem, state: Relevance) -> FloatArray:
        free = np.maximum(problem.rows - _determined(state).sum(axis=0), 1e-3)
        noise: FloatArray = (free + 2 * self.noise_shape) / (_floored(problem, state) + 2 * self.noise_rate)
        return noise

    def _prune(
        self, problem: StandardProblem, precision: FloatArray, noise: FloatArray, kept: BoolArray
    ) -> tuple[FloatArray, FloatArray]:
        allowed = precision / noise < self.max_precision * problem.energy[:, None]
        return np.where(kept & allowed, precision, np.inf), noise

    def converged(self, before: Relevance, after: Relevance) -> BoolArray:
        """Tell which targets' weights moved by less than the tolerance, and lost no regressor."""
        same = np.all(np.isfinite(before.precision) == np.isfinite(after.precision), axis=0)
        moved = np.abs(after.w - before.w).max(axis=0, initial=0.0)
        still: BoolArray = same & (moved <= self.tolerance * np.abs(after.w).max(axis=0, initial=0.0))
        return still


@dataclass(frozen=True, eq=False)
class SingularBasis:
    """The design in its singular basis, R = U·diag(κ)·Vᵀ: `power` κ² (p, 1), `side` V, `seen` UᵀS.

    With one weight precision per target all targets are done at once, and the residual suffers no cancellation.
    """

    power: FloatArray
    side: FloatArray
    seen: FloatArray

    @classmethod
    def of(cls, problem: StandardProblem) -> SingularBasis:
        """Decompose the design of a problem."""
        U, singular, Vt = np.linalg.svd(problem.R)
        return cls(singular[:, None] ** 2, Vt.T, U.T @ problem.S)

    def posterior(self, precision: FloatArray, noise: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return mean and variance of the weights and log|ρG + λI| per target."""
        curvature = noise * self.power + precision
        mean = self.side @ (noise * np.sqrt(self.power) * self.seen / curvature)
        return mean, self.side**2 @ (1 / curvature), np.sum(np.log(curvature), axis=0)


def ridge_evidence(problem: StandardProblem, spectrum: SingularBasis) -> tuple[FloatArray, FloatArray]:
    """Return per target the common weight precision and the noise precision of highest evidence: (D31)."""
    y, power = spectrum.seen, spectrum.power
    precision, noise = np.ones(y.shape[1]), np.ones(y.shape[1])
    for _ in range(RIDGE_SWEEPS):
        shrink = precision / (noise * power + precision)
        determined = np.sum(1 - shrink, axis=0)
        residual = problem.leftover + np.sum((shrink * y) ** 2, axis=0) + problem.floor
        size = np.sum(((1 - shrink) * y) ** 2 / np.maximum(power, 1e-300), axis=0)
        precision = np.clip(determined / np.maximum(size, 1e-300), 1e-12, 1e12)
        noise = np.maximum(problem.rows - determined, 1e-3 * problem.rows) / residual
    return precision, noise


def _two_thirds(values: FloatArray) -> FloatArray:
    """Return per column the finite value that two thirds of them do not exceed; inf for a column without any."""
    count = np.count_nonzero(np.isfinite(values), axis=0)
    limit = np.full(values.shape[1], np.inf)
    some = np.flatnonzero(count)
    limit[some] = np.sort(values[:, some], axis=0)[2 * count[some] // 3, np.arange(some.size)]
    return limit


def _determined(state: Relevance) -> FloatArray:
    """Return 1 − λ_iΣ_ii: how far the data, rather than the prior, determine each weight."""
    kept = np.isfinite(state.precision)
    return np.clip(1 - np.where(kept, state.precision, 0.0) * state.variance, 0.0, 1.0) * kept


def _floored(problem: StandardProblem, state: Relevance) -> FloatArray:
    return np.maximum(state.squared_residual, problem.floor)
