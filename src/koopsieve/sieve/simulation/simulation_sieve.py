"""The simulation sieve: which terms of a structure many-step simulation supports, as a path of sizes.

Comes in: a structure with all candidate terms, its one-step regression, and embedded episodes to learn from. Goes out:
the best set of terms of every size with its multi-step fit. Which one to take is decided on other data: see
`koopsieve.sifting.choose`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from koopsieve._types import POSITIVE, check_fields
from koopsieve.execution import Progress, one_blas_thread, silent
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation import path_search
from koopsieve.sieve.simulation.far_terms import FarTerms
from koopsieve.sieve.simulation.path_search import Hopeless, candidate_columns, never, sizes_up_to
from koopsieve.sieve.simulation.simulation_problem import FittedSet, SimulationProblem, first_least
from koopsieve.sieve.simulation.windows import Episode, Structure, draw_windows

_WINDOWS_OF_STARTS = 60  # tell which start is best; fitted to fewer, a start may diverge in the others


@dataclass(frozen=True)
class SimulationSieve:
    """Sift the terms of a model by simulation.

    Parameters
    ----------
    length : int, optional
        Steps T of the windows that are simulated; left out, about the longest horizon in `sift`, else 50.
    rows : int
        Windows times steps times outputs at most: the price of one iteration.
    repeats : float
        How often a sample is used on average at most; windows of short records overlap.
    columns : int
        Coefficients to choose from, at most; where there are more candidates, those that one-step forward selection
        takes first.
    largest : int
        Coefficients of the largest set that the path is filled up to.
    """

    sifts: ClassVar[type[SimulationProblem]] = SimulationProblem

    length: int | None = None
    rows: int = 12_000
    repeats: float = 10.0
    columns: int = 150
    largest: int = 60

    def __post_init__(self) -> None:
        given = () if self.length is None else ("length",)
        check_fields(self, counts=(*given, "rows", "columns", "largest"), ranges={"repeats": POSITIVE})

    @property
    def steps(self) -> int:
        """Steps T of the windows."""
        return 50 if self.length is None else self.length

    def problem(
        self,
        structure: Structure,
        one_step: TriangularFactor,
        episodes: Iterable[Episode],
        rng: np.random.Generator,
        constant: int | None = None,
    ) -> SimulationProblem:
        """Return the problem of fitting a structure to windows of data, of which one episode must hold one.

        `constant` is the place of that term.
        """
        n, steps = structure.outputs, self.steps
        most = min(self.rows / (steps * n), self.repeats * one_step.rows / steps)
        windows = draw_windows(episodes, n, steps, max(int(most), 1), rng)
        weight = np.full((steps, n), 1.0 / (steps * n))
        far = FarTerms.of(one_step, constant)
        return SimulationProblem(structure, windows, one_step if far is None else far.about(one_step), weight, far)

    def path(
        self,
        problem: SimulationProblem,
        path_length: int = 20,
        progress: Progress = silent,
        hopeless: Hopeless = never,
    ) -> tuple[FittedSet, ...]:
        """Return the best sets found of about `path_length` sizes up to `largest`, and of some beyond.

        The smallest is first; each larger one has a smaller loss. No sizes are filled up below two that are
        hopeless beside larger ones, and none where all that spike and slab proposed is hopeless.
        """
        columns = candidate_columns(problem.one_step, self.columns)
        sizes = sizes_up_to(min(self.largest, int(columns.sum())), path_length)
        linearised = cache(lambda one: problem.linearised(columns, one))
        with one_blas_thread():
            share = max(problem.windows.count // _WINDOWS_OF_STARTS, 1)
            some = problem.thinned(share)  # the best start is fitted to all windows by what follows
            starts = path_search.starts(some, columns, self.columns)
            start = starts[first_least([problem.loss(one.free, one.theta) for one in starts])]
            front = path_search.sweep(problem, columns, linearised, start, progress)
            if not hopeless(front.undominated(), ()):
                front = path_search.filled(problem, columns, linearised, front, sizes, progress, hopeless)
        return front.undominated()

    def rough_path(self, problem: SimulationProblem) -> tuple[FittedSet, ...]:
        """Return a few sets that one-step selection nests, each fitted from the one before: a fast search."""
        columns = candidate_columns(problem.one_step, self.columns)
        with one_blas_thread():
            return path_search.enlarged(problem, columns, self.largest)

    def refit(self, problem: SimulationProblem, found: FittedSet, rounds: int = 2) -> FittedSet:
        """Return a set fitted to another problem with the same terms: more data, or longer windows."""
        with one_blas_thread():
            return problem.fitted(found.free, found.theta, path_search.FINE, rounds=rounds)
