"""The sieve of the hidden form: which coefficients simulation supports, as a path of sizes.

At a fitted point the Gauss–Newton factor is a regression (D51). Backward elimination on it says what is missed least
(D54); the rest is fitted again, from there. A state that no output can see any more goes with its row.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from koopsieve._types import BoolArray, FloatArray
from koopsieve.forms.hidden.fit import HiddenFit, QuasiNewton
from koopsieve.forms.hidden.problem import HiddenProblem
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation.subsets import eliminate

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


@dataclass(frozen=True)
class HiddenPath:
    """How the sizes of the path are reached.

    Parameters
    ----------
    shrink : float
        Share of the coefficients that the next smaller size keeps.
    least : int
        Coefficients at which the path ends.
    optimiser : QuasiNewton
        For every size.
    rows : int
        Of a factor, per coefficient.
    """

    shrink: float = 0.7
    least: int = 20
    optimiser: QuasiNewton = field(default_factory=lambda: QuasiNewton(rounds=2, iterations=30, damping=1e-3))
    rows: int = 16

    def points(self, problem: HiddenProblem, full: HiddenFit, until: float = np.inf) -> Iterator[HiddenPoint]:
        """Yield points from the full model down; none is begun after `until`, in seconds of `time.monotonic`."""
        point = HiddenPoint(np.ones(full.coef.shape, dtype=bool), full)
        yield point
        while point.size > self.least and time.monotonic() < until:
            following = self.smaller(problem, point, int(point.size * self.shrink), until)
            if following is None:
                return
            point = following
            yield point

    def smaller(
        self, problem: HiddenProblem, point: HiddenPoint, size: int, until: float = np.inf
    ) -> HiddenPoint | None:
        """Return the point of a smaller size, from the regression's start, or with the rest as it was.

        None where nothing is left that the outputs see.
        """
        used = np.flatnonzero(point.free.any(axis=0))
        small, free, coef = problem.select(used), point.free[:, used], point.fit.coef[:, used]
        factor = _around(small.in_units_left(coef).factor(coef, free, self.rows * point.size), coef[free])
        kept = np.zeros_like(free)
        kept[free] = eliminate(factor, np.ones(point.size, dtype=bool), size)
        kept = seen(small, kept)
        if not kept.any():
            return None
        starts = [_solved(factor, coef, free, kept), np.where(kept, coef, 0.0)]
        best = min(starts, key=small.loss)
        fit = self.optimiser.fit(small, best, kept, until)
        whole, flags = np.zeros_like(point.fit.coef), np.zeros_like(point.free)
        whole[:, used], flags[:, used] = fit.coef, kept
        return HiddenPoint(flags, HiddenFit(whole, fit.loss, fit.trace, fit.settled))


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
    R, norm = factor.R[:, kept[free]], np.linalg.norm(factor.R[:, kept[free]], axis=0)
    scale = np.where(norm > 0, norm, 1.0)
    found[kept] = np.linalg.lstsq(R / scale, factor.S[:, 0], rcond=1e-12)[0] / scale
    return found
