"""The search behind the path: from a set that simulates well, to the best sets of all sizes.

1. Candidate columns: all of them, or those that one-step forward selection takes first.
2. A start that simulates: nested one-step sets, each fitted over growing windows; the best one.
3. Spike and slab on the linearised regression, odds from generous to strict, linearised anew after each fit (D53).
4. Every size of the path: downwards by elimination, upwards by selection, each with exchanges (D54).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from koopsieve._types import BoolArray
from koopsieve.execution import Progress, silent
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation.front import Front
from koopsieve.sieve.simulation.levenberg_marquardt import LevenbergMarquardt
from koopsieve.sieve.simulation.one_step import forward_order
from koopsieve.sieve.simulation.problem import Point, SimulationProblem
from koopsieve.sieve.simulation.subsets import eliminate, exchange, extend, supported

_START_SIZES = (4, 8, 16, 32, 64, 128)  # coefficients per output of the sets that a start is looked for among
_FINE = LevenbergMarquardt(iterations=8, tolerance=1e-3)
_ROUGH = LevenbergMarquardt(iterations=4, tolerance=1e-2)


@dataclass(frozen=True)
class Search:
    """How hard to look.

    Parameters
    ----------
    optimiser : LevenbergMarquardt
        For the points of the path.
    rough : LevenbergMarquardt
        For the starts, over growing windows.
    log_odds : tuple of float
        By how much the prior log odds of inclusion are lowered, in turn.
    rounds : int
        Sets that spike and slab proposes at each odds, each linearised at the one before.
    tries, exchanges : int
        Newcomers tried for each exchange; exchanges per proposal at most.
    """

    optimiser: LevenbergMarquardt = _FINE
    rough: LevenbergMarquardt = _ROUGH
    log_odds: tuple[float, ...] = (1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4, 3e4, 1e5)
    rounds: int = 2
    tries: int = 5
    exchanges: int = 20

    def starts(self, problem: SimulationProblem, columns: BoolArray, most: int) -> tuple[Point, ...]:
        """Return nested one-step sets after their fit over growing windows, the smallest first.

        Sets have at most `most` coefficients per output.
        """
        return tuple(problem.grown(free, self.rough) for free in _nested(problem.one_step, columns, most))

    def sweep(self, problem: SimulationProblem, columns: BoolArray, point: Point, progress: Progress = silent) -> Front:
        """Return what spike and slab proposes from generous to strict odds, each proposal fitted.

        The next proposal is linearised at this one if it is on the front; else the regression stays where it was.
        """
        point = problem.fitted(point.free, point.theta, self.optimiser, rounds=2)
        front, factor = Front().with_point(point), problem.linearised(columns, point)
        for log_odds in progress(self.log_odds, "Sifting by simulation", len(self.log_odds)):
            for _ in range(self.rounds):
                kept = supported(factor, log_odds)
                if not kept.any():
                    return front
                point = problem.refitted(columns, factor, kept, self.optimiser)
                front = front.with_point(point)
                if not front.holds(point):
                    break
                factor = problem.linearised(columns, point)
        return front

    def filled(
        self,
        problem: SimulationProblem,
        columns: BoolArray,
        front: Front,
        sizes: tuple[int, ...],
        progress: Progress = silent,
    ) -> Front:
        """Return the front with every size tried from the next larger and from the next smaller point."""
        turns = [*((size, True) for size in sorted(sizes, reverse=True)), *((size, False) for size in sorted(sizes))]
        for size, downwards in progress(turns, "Filling the path", len(turns)):
            source = front.above(size) if downwards else front.below(size)
            if source is None:
                continue
            factor = problem.linearised(columns, source)
            cut = eliminate if downwards else extend
            kept = exchange(factor, cut(factor, source.free[columns], size), self.tries, self.exchanges)
            front = front.with_point(problem.refitted(columns, factor, kept, self.optimiser))
        return front


def candidate_columns(one_step: TriangularFactor, most: int) -> BoolArray:
    """Return the coefficients (p, n) that a path looks at: all, or what forward selection takes first per output."""
    p, n = one_step.S.shape
    columns = np.ones((p, n), dtype=bool)
    if p * n <= most:
        return columns
    columns[:] = False
    for output in range(n):
        columns[forward_order(one_step, output, max(most // n, 1)), output] = True
    return columns


def path_sizes(most: int, steps: int) -> tuple[int, ...]:
    """Return about `steps` sizes up to `most`: half of them one by one, the others evenly spaced in their logarithm.

    Examples
    --------
    >>> path_sizes(60, 20)
    (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 24, 29, 35, 42, 50, 60)
    """
    each = min(max(steps // 2, 1), most)
    beyond = np.geomspace(each, most, max(steps - each, 0) + 1)
    return tuple(sorted({*range(1, each + 1), *(round(float(size)) for size in beyond)}))


def _nested(one_step: TriangularFactor, columns: BoolArray, most: int) -> list[BoolArray]:
    """Return the first columns that forward selection takes, per output, as many as `_START_SIZES` say."""
    orders = [forward_order(one_step, output, int(column.sum())) for output, column in enumerate(columns.T)]
    orders = [order[columns[order, output]] for output, order in enumerate(orders)]
    found: list[BoolArray] = []
    for size in (size for size in _START_SIZES if size <= max(most, _START_SIZES[0])):
        free = np.zeros_like(columns)
        for output, order in enumerate(orders):
            free[order[:size], output] = True
        if not found or free.sum() > found[-1].sum():
            found.append(free)
    return found
