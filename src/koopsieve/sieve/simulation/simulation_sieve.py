"""The simulation sieve: which terms of a reprojected model many-step simulation supports, as a path of sizes.

Comes in: a model structure with all candidate regressors, and embedded episodes to learn from. Goes out: a
`SimulationPath`, the best set of terms of every size with its multi-step fit. Which one to take is decided on other
data: see `koopsieve.sieve.choice`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError, check_fields
from koopsieve.execution import Progress, one_blas_thread, silent
from koopsieve.sieve.simulation.one_step import one_step_factor
from koopsieve.sieve.simulation.problem import Point, SimulationProblem
from koopsieve.sieve.simulation.search import Search, candidate_columns, path_sizes
from koopsieve.sieve.simulation.simulate import Reprojected
from koopsieve.sieve.simulation.subsets import evidence
from koopsieve.sieve.simulation.windows import Episode, draw_windows


@dataclass(frozen=True, eq=False)
class SimulationPath:
    """Sets of terms from small to large, each with its multi-step fit.

    Parameters
    ----------
    points : tuple of Point
        The smallest first; each larger one has a smaller loss.
    problem : SimulationProblem
        What they were fitted to.
    """

    points: tuple[Point, ...]
    problem: SimulationProblem

    def at_most(self, terms: int) -> Point:
        """Return the best point with at most so many regressors; the smallest of all where none has so few."""
        fitting = [point for point in self.points if len(point.retained) <= terms]
        return min(fitting, key=lambda point: point.loss) if fitting else self.points[0]


@dataclass(frozen=True)
class SimulationSieve:
    """Sift the terms of a reprojected model by simulation.

    Parameters
    ----------
    length : int
        Steps T of the windows that are simulated; about the longest horizon that matters.
    rows : int
        Windows times steps times outputs at most: the price of one iteration.
    repeats : float
        How often a sample is used on average at most; windows of short records overlap.
    columns : int
        Coefficients that are looked at, at most; where there are more candidates, those that one-step forward selection
        takes first.
    largest, steps : int
        Coefficients of the largest set that the path is filled up to, and about how many sizes it has.
    search : Search
        How hard to look for each size.
    """

    length: int = 50
    rows: int = 30_000
    repeats: float = 10.0
    columns: int = 150
    largest: int = 60
    steps: int = 20
    search: Search = field(default_factory=Search)

    def __post_init__(self) -> None:
        check_fields(self, numbers=("repeats",), wholes=("length", "rows", "columns", "largest", "steps"))
        if min(self.length, self.rows, self.columns, self.largest, self.steps) < 1 or not self.repeats > 0:
            raise KoopsieveError(
                "length, rows, columns, largest and steps must be at least 1, repeats above 0. Got "
                f"length={self.length}, rows={self.rows}, repeats={self.repeats}, columns={self.columns}, "
                f"largest={self.largest}, steps={self.steps}."
            )

    def problem(self, model: Reprojected, episodes: Iterable[Episode], rng: np.random.Generator) -> SimulationProblem:
        """Return the windows and the one-step regression of some data; they are read twice.

        Raises
        ------
        KoopsieveError
            If no episode is as long as a window.
        """
        n = model.outputs
        one_step = one_step_factor(model.regressors, episodes, n)
        most = min(self.rows / (self.length * n), self.repeats * one_step.rows / self.length)
        windows = draw_windows(episodes, n, self.length, max(int(most), 1), rng)
        weight = np.full((self.length, n), 1.0 / (self.length * n))
        return SimulationProblem(model, windows, one_step, weight)

    def path(self, problem: SimulationProblem, progress: Progress = silent) -> SimulationPath:
        """Return the best sets found of sizes up to `largest`, and of some beyond."""
        columns = candidate_columns(problem.one_step, self.columns)
        sizes = path_sizes(min(self.largest, int(columns.sum())), self.steps)
        with one_blas_thread():
            start = min(self.search.starts(problem, columns, self.columns), key=lambda point: point.loss)
            front = self.search.sweep(problem, columns, start, progress)
            front = self.search.filled(problem, columns, front, sizes, progress)
        return SimulationPath(front.undominated(), problem)

    def rough_path(self, problem: SimulationProblem) -> SimulationPath:
        """Return a few sets that one-step selection nests, fitted over growing windows: a fast look at a dictionary."""
        columns = candidate_columns(problem.one_step, self.columns)
        with one_blas_thread():
            return SimulationPath(self.search.starts(problem, columns, self.largest), problem)

    def refit(self, problem: SimulationProblem, point: Point) -> Point:
        """Return a point fitted to another problem with the same regressors: more data, or longer windows."""
        with one_blas_thread():
            return problem.fitted(point.free, point.theta, self.search.optimiser, rounds=2)

    def inclusion(self, problem: SimulationProblem, point: Point) -> FloatArray:
        """Return the probability of each coefficient being in, given the others, shape (p, n) (D53).

        Errors within a window are alike, so its T rows count as one: the regression is discounted by 1/T.
        """
        columns = candidate_columns(problem.one_step, self.columns) | point.free
        found = np.zeros(columns.shape)
        with one_blas_thread():
            factor = problem.linearised(columns, point).discount(1 / problem.windows.length)
            found[columns] = evidence(factor, 0.0).inclusion[:, 0]
        return found
