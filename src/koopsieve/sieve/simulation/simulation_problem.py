"""What the simulation sieve works on: one structure, windows to learn from, the one-step regression, and units.

A `FittedSet` is one set of free coefficients with their multi-step fit; everything that makes or improves one is here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from koopsieve._types import BoolArray, FloatArray, IndexArray, or_one
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation.far_terms import FarTerms, back
from koopsieve.sieve.simulation.levenberg_marquardt import FitStatus, LeastSquaresFit, LevenbergMarquardt
from koopsieve.sieve.simulation.windows import ABREAST, Structure, TurnedFit, WindowFit, Windows

_PRIOR_ROW = 1e-6  # relative to the norm of a column
_WEAK_PRIOR = 1e-7  # singular value, relative to the largest, of a direction that the data and the prior share alike
ALIKE = 1e-6  # relative difference of losses that rounding may cause in fits that have not settled to the last digit
_SHARE_OF_GROWTH = 4  # every fourth window, but at least those simulated side by side, is fitted over growing lengths
USELESS = 1.0  # loss of the mean of the outputs
FLOOR = 1e-14  # squared error relative to the output's variance below which differences are rounding


@dataclass(frozen=True, eq=False)
class FittedSet:
    """Some coefficients left free, and their fit."""

    free: BoolArray  # (p, q)
    theta: FloatArray  # (P,): the free coefficients in the order of `coef[free]`
    loss: float  # geometric mean over steps and outputs of the squared error relative to the output's variance (D52)
    status: FitStatus  # how the last fit ended
    trace: tuple[float, ...]  # the loss at the start and after every round of the fit

    @property
    def size(self) -> int:
        """Number of free coefficients."""
        return int(self.free.sum())

    @property
    def retained(self) -> IndexArray:
        """Increasing indices of the terms that some sum uses."""
        return np.flatnonzero(self.free.any(axis=1))

    @property
    def elbo(self) -> float:
        """No evidence is weighed: sets are compared by their loss."""
        return np.nan

    @property
    def coef(self) -> FloatArray:
        """All coefficients, shape (p, q)."""
        coef = np.zeros(self.free.shape)
        coef[self.free] = self.theta
        return coef


@dataclass(frozen=True, eq=False)
class SimulationProblem:
    """Windows to learn from, and the structure that is fitted to them."""

    structure: Structure  # with all candidate terms
    windows: Windows  # what is learned from
    one_step: TriangularFactor  # the one-step regression on all terms: p columns, a target for each of the q sums
    weight: FloatArray  # (T, n): weight of each output after each step in the loss; they sum to one
    far: FarTerms | None = None  # terms that `one_step` and least squares take about their means

    @cached_property
    def variance(self) -> FloatArray:
        """Variance of the outputs over all windows, shape (n,)."""
        return or_one(np.var(self.windows.outputs, axis=(0, 1)))

    def shortened(self, length: int) -> SimulationProblem:
        """Return the problem over the first `length` steps of every window."""
        weight = self.weight[:length]
        return replace(self, windows=self.windows.shortened(length), weight=weight / weight.sum())

    def thinned(self, share: int) -> SimulationProblem:
        """Return the problem with one window in `share`, spread over all of them: to compare starts."""
        return replace(self, windows=self.windows.take(slice(None, None, share)))

    def squared_errors(self, free: BoolArray, theta: FloatArray) -> FloatArray:
        """Return the mean squared error after each step, relative to the output's variance, shape (T, n)."""
        return self._relative(self._fit(free), theta)

    def loss(self, free: BoolArray, theta: FloatArray) -> float:
        """Return the geometric mean of the squared errors over steps and outputs (D52)."""
        return self._mean(self.squared_errors(free, theta))

    def fitted(self, free: BoolArray, theta: FloatArray, optimiser: LevenbergMarquardt, rounds: int = 1) -> FittedSet:
        """Return the set fitted from θ: least squares in units of the errors left so far, `rounds` times (D52)."""
        return self._fitted(self._fit(free), free, theta, optimiser, rounds)

    def grown(self, free: BoolArray, optimiser: LevenbergMarquardt) -> FittedSet:
        """Return the set fitted from one-step least squares, at once or over windows of 2, 4, 8, … steps (D55).

        A model that is good one step ahead may diverge over a whole window; over twice as many steps as it can already
        do, it rarely does. But many coefficients may fit short windows too well. The better of the two is taken, and
        only that is fitted to all windows; up to there some of them tell enough.
        """
        some = self.thinned(min(_SHARE_OF_GROWTH, max(self.windows.count // ABREAST, 1)))
        first = one_step_theta(self.one_step, free, self.far)
        theta, length = first, 2
        while length < self.windows.length:
            theta = some.shortened(length).fitted(free, theta, optimiser).theta
            length *= 2
        ends = [some.fitted(free, start, optimiser) for start in (first, theta)]
        best = first_least([one.loss for one in ends])
        return self.fitted(free, ends[best].theta, optimiser)

    def enlarged(self, smaller: FittedSet | None, free: BoolArray, optimiser: LevenbergMarquardt) -> FittedSet:
        """Return a set fitted from one of its subsets or from one-step least squares, whichever simulates better.

        Where there is no subset, or neither simulates, it is fitted over growing windows.
        """
        if smaller is None:
            return self.grown(free, optimiser)
        starts = smaller.coef[free], one_step_theta(self.one_step, free, self.far)
        fit = self._fit(free)
        theta, loss = self._best(fit, starts)
        return self._fitted(fit, free, theta, optimiser) if loss < USELESS else self.grown(free, optimiser)

    def linearised(self, columns: BoolArray, fitted: FittedSet) -> TriangularFactor:
        """Return the Gauss–Newton regression on all of `columns` at a set whose free coefficients are among them.

        Errors are in units of those that the set leaves after each step, so the noise of the regression is one. A prior
        row for each coefficient holds back directions that the data hardly see: rounding would decide about them.
        Terms that are far from zero are taken about their means: a constant beside these is not one of many ways to say
        the same.
        """
        unit = self._unit(self.squared_errors(fitted.free, fitted.theta))
        return self._fit(columns, unit).factor(fitted.coef[columns], _PRIOR_ROW, self._turn(columns))

    def refitted(
        self,
        columns: BoolArray,
        source: FittedSet,
        factor: TriangularFactor,
        kept: BoolArray,
        optimiser: LevenbergMarquardt,
    ) -> FittedSet:
        """Return the set with only the `kept` of `columns` free, fitted from the best of three starts.

        They are least squares through the regression linearised at `source`, one-step least squares, and the
        coefficients of `source`: so a set that holds the source is never worse than it.
        """
        free = np.zeros_like(columns)
        free[columns] = kept
        linearised, turn = least_squares(factor, np.flatnonzero(kept)), self._turn(free)
        linearised = linearised if turn is None else turn @ linearised
        one_step = one_step_theta(self.one_step, free, self.far)
        fit = self._fit(free)
        theta, _ = self._best(fit, (linearised, one_step, source.coef[free]))
        return self._fitted(fit, free, theta, optimiser)

    def _best(self, fit: WindowFit, starts: Sequence[FloatArray]) -> tuple[FloatArray, float]:
        """Return the start with the least loss, and that loss."""
        losses = [self._mean(self._relative(fit, theta)) for theta in starts]
        best = first_least(losses)
        return starts[best], losses[best]

    def _fitted(
        self, fit: WindowFit, free: BoolArray, theta: FloatArray, optimiser: LevenbergMarquardt, rounds: int = 1
    ) -> FittedSet:
        status, left = FitStatus.SETTLED, self._relative(fit, theta)
        trace = [self._mean(left)]
        for _ in range(rounds):
            unit = self._unit(left)
            known = float(np.mean(left * self.variance / unit**2))
            end = _optimised(optimiser, replace(fit, scale=unit), theta, known, self._turn(free))
            theta, status = end.theta, end.status
            left = self._relative(fit, theta)
            trace.append(self._mean(left))
        return FittedSet(free, theta, trace[-1], status, tuple(trace))

    def _turn(self, free: BoolArray) -> FloatArray | None:
        return None if self.far is None else self.far.turn(free)

    def _relative(self, fit: WindowFit, theta: FloatArray) -> FloatArray:
        relative: FloatArray = fit.squared_errors(theta) / self.variance
        return np.maximum(relative, FLOOR)

    def _mean(self, squared_errors: FloatArray) -> float:
        return float(np.exp(np.sum(self.weight * np.log(squared_errors))))

    def _unit(self, squared_errors: FloatArray) -> FloatArray:
        """Return the units (T, n) in which least squares lowers the loss: the errors left, over their weights (D52)."""
        mean = self.weight.size * self.weight
        unit: FloatArray = np.sqrt(squared_errors * self.variance / np.where(mean > 0, mean, 1e-12))
        return unit

    def _fit(self, free: BoolArray, scale: FloatArray | None = None) -> WindowFit:
        """Return the squared error of the windows, in units of the outputs or of `scale`."""
        used, scale = np.flatnonzero(free.any(axis=1)), np.ones_like(self.weight) if scale is None else scale
        return WindowFit(self.structure.select(used), self.windows, scale, free[used])


def first_least(losses: Sequence[float]) -> int:
    """Return the index of the first loss that is about the least, so that rounding does not tell equal ones apart."""
    most = (1 + ALIKE) * np.min(losses)
    return int(np.argmax(np.asarray(losses) <= most)) if np.isfinite(most) else 0


def _optimised(
    optimiser: LevenbergMarquardt, fit: WindowFit, theta: FloatArray, loss: float, turn: FloatArray | None
) -> LeastSquaresFit:
    if turn is None:
        return optimiser.fit(fit, theta, loss)
    end = optimiser.fit(TurnedFit(fit, turn), back(turn) @ theta, loss)
    return replace(end, theta=turn @ end.theta)


def least_squares(factor: TriangularFactor, columns: IndexArray, target: int = 0) -> FloatArray:
    """Return the least-squares weights of one target on some columns, scaled inside, shape (len(columns),).

    A weak prior holds back directions that the data hardly see. Leaving them out below some singular value instead
    would let rounding decide which.
    """
    R = factor.R[:, columns]
    scale = or_one(np.linalg.norm(R, axis=0))
    left, spread, turn = np.linalg.svd(R / scale, full_matrices=False)
    prior = (_WEAK_PRIOR * spread.max(initial=0.0)) ** 2
    filtered = (left.T @ factor.S[:, target]) * spread / (spread**2 + max(prior, np.finfo(float).tiny))
    weights: FloatArray = (turn.T @ filtered) / scale
    return weights


def one_step_theta(factor: TriangularFactor, free: BoolArray, far: FarTerms | None = None) -> FloatArray:
    """Return the one-step least squares of every sum on its free coefficients, in the order of `coef[free]`.

    The factor is that of terms about their means, see `FarTerms`, where some are far from zero.
    """
    coef = np.zeros(free.shape)
    for target, column in enumerate(free.T):
        chosen = np.flatnonzero(column)
        coef[chosen, target] = least_squares(factor, chosen, target)
    theta: FloatArray = coef[free]
    turn = None if far is None else far.turn(free)
    return theta if turn is None else turn @ theta
