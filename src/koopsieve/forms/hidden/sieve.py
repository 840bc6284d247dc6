"""The sieve of the hidden form: which coefficients simulation supports, as a path of sizes.

At a fitted point the Gauss–Newton factor is a regression (D51). Backward elimination on it says what is missed least
(D54); the rest is fitted again, from there. A state that no output can see any more goes with its row.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from koopsieve._types import BoolArray, FloatArray, IndexArray, KoopsieveError, or_one, whole_number
from koopsieve.execution import Progress, silent
from koopsieve.forms.hidden.fit import SHRINKAGE, HiddenFit, QuasiNewton, fitted, without_polish
from koopsieve.forms.hidden.growth import AS_GOOD, SHORT_ROUNDS, Growth, HiddenStart, held_out_error
from koopsieve.forms.hidden.learning import HiddenLearning
from koopsieve.forms.hidden.problem import HiddenProblem, boxed
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation.levenberg_marquardt import LevenbergMarquardt
from koopsieve.sieve.simulation.subsets import eliminate

_SMALLER = LevenbergMarquardt(iterations=3, tolerance=0.02, damping=1e-3, polish=QuasiNewton(iterations=30))
_FAR_OFF = 100.0  # times the loss before a removal: so far from a fit it may not find back
_SPLITS = 4  # sizes tried, each nearer to the size before
_EFFORT = (0.25, 4.0)  # least and most that is made of a budget, relative to the default
SHRINKAGES = (SHRINKAGE, 10 * SHRINKAGE, 100 * SHRINKAGE)  # that are tried, the weakest first
_RIDGE = 1e-5  # of the proximal rows, relative to the squared norm of each column (D86)


@dataclass(frozen=True, eq=False)
class HiddenPoint:
    """Some coefficients left free, and their fit.

    Parameters
    ----------
    free : array of bool, shape (n + outputs, m)
    fit : HiddenFit
    """

    free: BoolArray
    fit: HiddenFit

    @property
    def size(self) -> int:
        """Number of free coefficients."""
        return int(self.free.sum())

    @property
    def retained(self) -> IndexArray:
        """Places of the free coefficients among all, row by row."""
        return np.flatnonzero(self.free)

    @property
    def elbo(self) -> float:
        """Not known: sizes are compared by simulation."""
        return np.nan


@dataclass(frozen=True, eq=False)
class GrownProblem:
    """What the sieve sifts: a problem with all terms, and the fit of all of them."""

    problem: HiddenProblem
    full: HiddenFit


@dataclass(frozen=True)
class HiddenSieve:
    """Sift the coefficients of a polynomial state space by simulation: `sieve=HiddenSieve(…)` with `form="hidden"`.

    Parameters
    ----------
    states : int, optional
        Number of hidden states; left out, the least with which a linear model simulates the validation data best.
    degree : int
        Highest degree of the products of states and inputs; lower where the data have too few rows for it.
    length, windows : int
        Steps of the windows that are simulated while fitting, and how many there are, at most.
    burn : int
        Steps of each window that do not count, at most: the hidden start is not exact.
    by_term : bool
        One flag per term across all states and outputs, instead of one per coefficient: fewer different terms, for a
        model that is easier to read.
    least : int
        Coefficients at which the path ends.
    growth : Growth
        How the model with all terms is reached.
    optimiser : LevenbergMarquardt
        For every smaller size.
    rows : int
        Of a Gauss–Newton regression, per coefficient.
    shrinkage : float, optional
        How strongly products are drawn to zero: see `FreeCoefficients` (D92). Left out, as strongly as held-out
        data allow.
    """

    sifts: ClassVar[type[GrownProblem]] = GrownProblem

    states: int | None = None
    degree: int = 3
    length: int = 300
    windows: int = 120
    burn: int = 40
    by_term: bool = False
    least: int = 10
    growth: Growth = field(default_factory=Growth)
    optimiser: LevenbergMarquardt = _SMALLER
    rows: int = 10
    shrinkage: float | None = None

    def __post_init__(self) -> None:
        if self.states is not None:
            whole_number("states, the number of hidden states,", self.states, 1)
        for name, smallest in (("degree", 1), ("length", 2), ("windows", 1), ("burn", 0), ("least", 1)):
            whole_number(name, getattr(self, name), smallest)
        if self.shrinkage is not None and not 0 <= self.shrinkage < np.inf:
            raise KoopsieveError(f"shrinkage must be a finite number, 0 or more. Got {self.shrinkage}.")

    @property
    def shrinkage_used(self) -> float:
        """Where none is asked for, the weakest that is tried."""
        return SHRINKAGE if self.shrinkage is None else self.shrinkage

    def with_effort(self, effort: float) -> HiddenSieve:
        """Return the sieve with more windows and longer fits, in proportion to the time that they may take."""
        times = float(np.clip(effort, *_EFFORT))
        higher = replace(self.growth.higher, iterations=_times(self.growth.higher.iterations, times))
        optimiser = replace(self.optimiser, iterations=_times(self.optimiser.iterations, times))
        windows = _times(self.windows, max(times, 1.0))
        return replace(self, growth=replace(self.growth, higher=higher), optimiser=optimiser, windows=windows)

    def longer(self, start: HiddenStart, until: float = np.inf) -> HiddenStart:
        """Return the start with all terms fitted on; no round begins after `until` (`time.perf_counter`)."""
        if not start.has_products:
            return start
        free, higher = np.ones(start.fit.coef.shape, dtype=bool), self.growth.higher
        later = replace(higher, iterations=max(higher.iterations - SHORT_ROUNDS, 1), damping=1e-3)
        problem, method = boxed(start.problem, start.fit.coef), without_polish(later, free.size)
        fit = fitted(method, problem, start.fit.coef, free, self.rows, until, self.shrinkage_used)
        return replace(start, problem=problem, fit=fit)  # it holds within these limits

    def strongest(
        self, start: HiddenStart, learned: HiddenLearning, held_out: HiddenLearning, until: float = np.inf
    ) -> tuple[HiddenSieve, HiddenStart]:
        """Return the sieve with the strongest shrinkage that held-out data allow, and its fit of all terms.

        Parameters
        ----------
        start : HiddenStart
            A fit of all terms, to go on from.
        learned, held_out : HiddenLearning
            In the same units.
        until : float
            No round begins after it, in seconds of `time.perf_counter`.
        """
        if self.shrinkage is not None:
            return self, self.longer(start, until)
        found: list[tuple[HiddenSieve, HiddenStart]] = []
        for shrinkage in SHRINKAGES:
            if found and time.perf_counter() > until:
                break
            sieve = replace(self, shrinkage=shrinkage)
            start = sieve.longer(start, until)
            start = replace(start, error=held_out_error(start, learned, held_out))
            if found and start.error > AS_GOOD * min(one.error for _, one in found):
                break
            found.append((sieve, start))
        return found[-1]

    def path(
        self, problem: GrownProblem, path_length: int, progress: Progress = silent, until: float = np.inf
    ) -> tuple[HiddenPoint, ...]:
        """Return about half as many sizes as asked for, since each is fitted anew; the smallest first."""
        size = problem.full.coef.size
        steps = max(path_length // 2 - 1, 1)
        share = min((self.least / size) ** (1 / steps), 0.9) if size > self.least else 0.5
        points = self.points(problem.problem, problem.full, share, until)
        return tuple(progress(points, "Sifting hidden states", steps + 1))[::-1]

    def points(
        self, problem: HiddenProblem, full: HiddenFit, share: float = 0.7, until: float = np.inf
    ) -> Iterator[HiddenPoint]:
        """Yield points from the full model down, each with a share of the coefficients of the one before.

        None is begun after `until`, in seconds of `time.perf_counter`.
        """
        point = HiddenPoint(np.ones(full.coef.shape, dtype=bool), full)
        yield point
        while point.size > self.least and time.perf_counter() < until:
            following = self.smaller(problem, point, int(point.size * share), until)
            if following is None:
                return
            point = following
            yield point

    def smaller(
        self, problem: HiddenProblem, point: HiddenPoint, size: int, until: float = np.inf
    ) -> HiddenPoint | None:
        """Return the point of a smaller size, from the regression's start, or with the rest as it was.

        Where both are far off, fewer coefficients go at once. None where nothing is left that the outputs see.
        """
        used = np.flatnonzero(point.free.any(axis=0))
        free, coef = point.free[:, used], point.fit.coef[:, used]
        small = boxed(problem.select(used), coef)
        factor = _around(small.in_units_left(coef).factor(coef, free, self.rows * point.size), coef[free])
        for _ in range(_SPLITS):
            kept = seen(small, _terms_left(factor, free, size) if self.by_term else _left(factor, free, size))
            if not kept.any():
                return None
            starts = [_solved(factor, coef, free, kept), np.where(kept, coef, 0.0)]
            best = min(starts, key=small.loss)
            if small.loss(best) <= _FAR_OFF * point.fit.loss:
                break
            size = int(np.sqrt(size * point.size))
        method = without_polish(self.optimiser, int(kept.sum()))
        fit = fitted(method, small, best, kept, self.rows, until, self.shrinkage_used)
        whole, flags = np.zeros_like(point.fit.coef), np.zeros_like(point.free)
        whole[:, used], flags[:, used] = fit.coef, kept
        return HiddenPoint(flags, HiddenFit(whole, fit.loss, fit.trace, fit.settled))


def _times(count: int, times: float) -> int:
    return max(round(count * times), 1)


def _left(factor: TriangularFactor, free: BoolArray, size: int) -> BoolArray:
    """Return which coefficients are missed most."""
    kept = np.zeros_like(free)
    kept[free] = eliminate(factor, np.ones(int(free.sum()), dtype=bool), size)
    return kept


def _terms_left(factor: TriangularFactor, free: BoolArray, size: int) -> BoolArray:
    """Return the coefficients of the terms that are missed most: backward elimination of whole terms (D89).

    With X = R⁻¹ and w the least squares, taking out a term with rows X_g adds w_gᵀ(X_g X_gᵀ)⁻¹w_g to the squared error.
    The term that adds least per coefficient goes, until at most `size` are left, or one term.
    """
    X = solve_triangular(factor.R / or_one(np.linalg.norm(factor.R, axis=0)), np.eye(len(factor.R)))
    w, term = X @ factor.S[:, 0], np.nonzero(free)[1]
    alive = {int(one): np.flatnonzero(term == one) for one in np.unique(term)}
    while sum(map(len, alive.values())) > size and len(alive) > 1:
        cost = {one: _cost(X[rows], w[rows]) / len(rows) for one, rows in alive.items()}
        rows = alive.pop(min(cost, key=cost.__getitem__))
        directions, triangle = np.linalg.qr(X[rows].T)
        w = w - X @ directions @ solve_triangular(triangle, w[rows], trans="T")
        X = X - X @ directions @ directions.T
    found = np.zeros_like(free)
    found[:, list(alive)] = free[:, list(alive)]
    return found


def _cost(X: FloatArray, w: FloatArray) -> float:
    """Return wᵀ(X Xᵀ)⁻¹w."""
    triangle = np.linalg.qr(X.T, mode="r")
    return float(np.sum(solve_triangular(triangle, w, trans="T") ** 2))


def seen(problem: HiddenProblem, free: BoolArray) -> BoolArray:
    """Return the free coefficients without the rows of states that no output sees, directly or through others."""
    n, powers = problem.structure.states, problem.structure.terms.powers
    reads = (free.astype(int) @ (powers[:, :n] > 0)) > 0  # row i reads state j
    found = reads[n:].any(axis=0)
    for _ in range(n):
        found = found | reads[:n][found].any(axis=0)
    kept = free.copy()
    kept[:n][~found] = False
    return kept


def _around(factor: TriangularFactor, theta: FloatArray) -> TriangularFactor:
    """Return the regression around θ: its targets are what θ predicts, and rows hold every coefficient a little (D86).

    What θ does not explain is left out. Its Gauss–Newton step would go further than the linearisation holds, and
    removals would be counted from there.
    """
    norm = np.sqrt(_RIDGE) * np.linalg.norm(factor.R, axis=0)
    R = factor.absorb(np.diag(norm), np.zeros((len(theta), 1))).R
    return TriangularFactor(R, (R @ theta)[:, None], np.zeros((1, 1)), factor.rows)


def _solved(factor: TriangularFactor, coef: FloatArray, free: BoolArray, kept: BoolArray) -> FloatArray:
    """Return the least squares of the regression on what is kept."""
    found = np.zeros_like(coef)
    R = factor.R[:, kept[free]]
    scale = or_one(np.linalg.norm(R, axis=0))
    found[kept] = np.linalg.lstsq(R / scale, factor.S[:, 0], rcond=1e-12)[0] / scale
    return found
