"""The search behind the path: from a set that simulates well, to the best sets of all sizes.

1. Candidate columns: all of them, or those that one-step forward selection takes first.
2. A start that simulates: nested one-step sets, each fitted over growing windows; the best one.
3. Spike and slab on the linearised regression, odds from generous to strict, linearised anew after each fit (D53).
4. Every size of the path: downwards by elimination, upwards by selection, each with exchanges (D54).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from koopsieve._types import BoolArray
from koopsieve.execution import Progress, silent
from koopsieve.regression import TriangularFactor
from koopsieve.sieve.simulation.levenberg_marquardt import FitStatus, LevenbergMarquardt
from koopsieve.sieve.simulation.simulation_problem import ALIKE, USELESS, FittedSet, SimulationProblem
from koopsieve.sieve.simulation.subsets import eliminate, exchange, extend, forward_order, supported

_START_SIZES = (4, 8, 16, 32, 64, 128)  # coefficients per sum of the nested sets, the best of which is the start
_PATIENCE = 2  # hopeless sizes after which smaller ones are left out: the way up begins below the first of them
FINE = LevenbergMarquardt(iterations=8, tolerance=1e-3)  # for the sets of the path
ROUGH = LevenbergMarquardt(iterations=4, tolerance=1e-2)  # for the starts, over growing windows
LOG_ODDS = (1, 3, 10, 30, 100, 300, 1e3, 3e3, 1e4, 3e4, 1e5)  # by how much the prior ones are lowered, in turn
PROPOSALS_PER_ODDS = 2  # sets that spike and slab proposes at each odds, each linearised at the one before
NEWCOMERS_PER_EXCHANGE = 5
MAX_EXCHANGES = 20  # per proposal

Linearised = Callable[[FittedSet], TriangularFactor]  # the regression at a set: most sets are asked for several times
Hopeless = Callable[[Sequence[FittedSet], Sequence[FittedSet]], bool]  # whether sets are, beside larger ones if given


def never(sets: Sequence[FittedSet], larger: Sequence[FittedSet]) -> bool:
    """Call no set hopeless."""
    return False


@dataclass(frozen=True, eq=False)
class Front:
    """The best set of every size found so far: the one with the least loss."""

    sets: Mapping[int, FittedSet] = field(default_factory=dict)

    def with_set(self, new: FittedSet) -> Front:
        """Return the front with one more set, if it is the best of its size.

        One that runs away in some windows is left out where there are others: its fit says nothing of its terms, and
        rounding grows in it.
        """
        known = self.sets.get(new.size)
        if (self.sets and new.loss > USELESS) or (known is not None and known.loss <= (1 + ALIKE) * new.loss):
            return self
        return Front({**self.sets, new.size: new})

    def undominated(self) -> tuple[FittedSet, ...]:
        """Return the sets that no smaller set matches, the smallest first."""
        found: list[FittedSet] = []
        for size in sorted(self.sets):
            if not found or (1 + ALIKE) * self.sets[size].loss < found[-1].loss:
                found.append(self.sets[size])
        return tuple(found)

    def holds(self, given: FittedSet) -> bool:
        """Tell whether this very set is among the undominated ones."""
        return any(given is known for known in self.undominated())

    def knows(self, columns: BoolArray, kept: BoolArray) -> bool:
        """Tell whether the set of `kept` among `columns` is the best of its size, and its fit has settled."""
        known = self.sets.get(int(kept.sum()))
        settled = known is not None and known.status is not FitStatus.MAX_ITERATIONS
        return known is not None and settled and bool(np.array_equal(known.free[columns], kept))

    def larger(self, size: int) -> tuple[FittedSet, ...]:
        """Return the undominated sets that are larger than `size`."""
        return tuple(one for one in self.undominated() if one.size > size)

    def above(self, size: int) -> FittedSet | None:
        """Return the smallest undominated set that is larger than `size`."""
        return next(iter(self.larger(size)), None)

    def below(self, size: int) -> FittedSet | None:
        """Return the largest undominated set that is smaller than `size`."""
        return next((one for one in reversed(self.undominated()) if one.size < size), None)


def starts(problem: SimulationProblem, columns: BoolArray, most: int) -> tuple[FittedSet, ...]:
    """Return nested one-step sets after their fit over growing windows, the smallest first.

    Sets have at most `most` coefficients per output.
    """
    return tuple(problem.grown(free, ROUGH) for free in _nested(problem.one_step, columns, most))


def enlarged(problem: SimulationProblem, columns: BoolArray, most: int) -> tuple[FittedSet, ...]:
    """Return nested one-step sets, each fitted from the one before: faster, but all of them near the first."""
    found: list[FittedSet] = []
    for free in _nested(problem.one_step, columns, most):
        found.append(problem.enlarged(found[-1] if found else None, free, ROUGH))
    return tuple(found)


def sweep(
    problem: SimulationProblem,
    columns: BoolArray,
    linearised: Linearised,
    start: FittedSet,
    progress: Progress = silent,
) -> Front:
    """Return what spike and slab proposes from generous to strict odds, each proposal fitted.

    The next proposal is linearised at this one if it is on the front; else the regression stays where it was.
    """
    source = problem.fitted(start.free, start.theta, FINE, rounds=2)
    front, tried = Front().with_set(source), set[tuple[FittedSet, bytes]]()
    for log_odds in progress(LOG_ODDS, "Sifting by simulation", len(LOG_ODDS)):
        for _ in range(PROPOSALS_PER_ODDS):
            kept = supported(linearised(source), log_odds)
            if not kept.any():
                return front
            if front.knows(columns, kept) or (source, kept.tobytes()) in tried:
                break
            tried.add((source, kept.tobytes()))
            proposed = problem.refitted(columns, source, linearised(source), kept, FINE)
            front = front.with_set(proposed)
            if not front.holds(proposed):
                break
            source = proposed
    return front


def filled(
    problem: SimulationProblem,
    columns: BoolArray,
    linearised: Linearised,
    front: Front,
    sizes: tuple[int, ...],
    progress: Progress = silent,
    hopeless: Hopeless = never,
) -> Front:
    """Return the front with every size tried from the next larger and from the next smaller set.

    Sizes below hopeless ones are left out.
    """
    turns = [*((size, True) for size in sorted(sizes, reverse=True)), *((size, False) for size in sorted(sizes))]
    least = failed = 0
    for size, downwards in progress(turns, "Filling the path", len(turns)):
        source = front.above(size) if downwards else front.below(size)
        if source is None or size < least:
            continue
        factor, cut = linearised(source), eliminate if downwards else extend
        kept = exchange(factor, cut(factor, source.free[columns], size), NEWCOMERS_PER_EXCHANGE, MAX_EXCHANGES)
        if not front.knows(columns, kept):
            front = front.with_set(problem.refitted(columns, source, factor, kept, FINE))
        if downwards and size in front.sets and hopeless([front.sets[size]], front.larger(size)):
            failed += 1
            least = size if failed == _PATIENCE else least
    return front


def candidate_columns(one_step: TriangularFactor, most: int) -> BoolArray:
    """Return the coefficients (p, q) to choose from: all, or what forward selection takes first per output.

    Terms that are combinations of those before them on these data are left out: which of them to keep would be decided
    by rounding.
    """
    n = one_step.S.shape[1]
    columns = np.repeat(one_step.independent[:, None], n, axis=1)
    if columns.sum() <= most:
        return columns
    columns[:] = False
    for output in range(n):
        columns[forward_order(one_step, output, max(most // n, 1)), output] = True
    return columns


def sizes_up_to(most: int, count: int) -> tuple[int, ...]:
    """Return about `count` sizes up to `most`: half of them one by one, the others evenly spaced in their logarithm.

    Examples
    --------
    >>> sizes_up_to(60, 20)
    (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 17, 20, 24, 29, 35, 42, 50, 60)
    """
    each = min(max(count // 2, 1), most)
    beyond = np.geomspace(each, most, max(count - each, 0) + 1)
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
