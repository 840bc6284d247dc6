"""What a search is given: data to learn from and to validate on, a dictionary, horizons; and what forms make of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.data import Stream, Trajectories
from koopsieve.data.splitting import thinned
from koopsieve.data.streaming.blocks import BLOCK_ROWS
from koopsieve.dictionary import Dictionary
from koopsieve.evaluate import WindowErrors, simulation_errors, stays_in_range, window_errors
from koopsieve.evaluate.judgement import MAX_STRETCHES, longest_run
from koopsieve.execution import Executor, Progress, silent
from koopsieve.forms.model import Model
from koopsieve.forms.path import PathPoint
from koopsieve.regression import RegressionStatistics, compress
from koopsieve.sieve.simulation.windows import Episode

DEFAULT_BUDGET = 300.0  # seconds
LITTLE_BEYOND = 1.1  # times the deviation from the mean, which a further record of the same plant may reach
MIN_WINDOW, MAX_WINDOW = 20, 100  # steps of the windows that are simulated while fitting
LONGEST_WINDOW = 1000  # … where the outputs change so slowly that shorter ones tell little


@dataclass(frozen=True, eq=False)
class Task:
    """The data of one search, and the dictionary to sift."""

    learn: Trajectories | Stream  # what models learn from while they are compared
    # what they are compared on; the final model learns from these too. The same object as `learn` where nothing was
    # held out
    validation: Trajectories | Stream
    # validation data in memory, from which predictions start: all of them, or a sample of a stream
    windows: Trajectories
    dictionary: Dictionary  # fitted to the learning part
    horizons: tuple[int, ...]  # steps ahead that matter, increasing
    path_length: int = 20  # number of sets on the path, about
    seed: int = 0
    max_terms: int | None = None  # regressors to keep at most
    # executor, progress: see `compress`
    executor: Executor | None = None
    progress: Progress = silent
    # seconds that the whole job may take, about: a form whose fits can go on longer goes on the longer the more
    budget: float = DEFAULT_BUDGET
    # when that time is up, in seconds of `time.perf_counter`; no further round of such a fit begins then
    until: float = np.inf
    # error of the median free run of the best model in other forms; inf where the form was asked for. A form whose
    # short fits do not beat it may stop early
    to_beat: float = np.inf
    # what other searches found, judged on the same validation windows; none where they are no fair comparison
    rivals: tuple[PathPoint, ...] = ()
    # tells whether all of some points are clearly worse than the best of others
    worse: Callable[[Sequence[PathPoint], Sequence[PathPoint]], bool] = lambda points, others: False
    # learning and validation data as one, where the latter were cut out of a record: no sample is lost at the cuts
    uncut: Trajectories | None = None

    @property
    def parts(self) -> tuple[Trajectories | Stream, ...]:
        """What the final model learns from: the uncut data, or the learning part and the validation part."""
        if self.uncut is not None:
            return (self.uncut,)
        return (self.learn,) if self.validation is self.learn else (self.learn, self.validation)

    def judged(self, model: Model) -> tuple[WindowErrors, FloatArray]:
        """Return the errors of a model on the validation windows, and those of free runs along them."""
        return window_errors(model, self.windows, self.horizons), simulation_errors(model, self.windows)

    def beaten(self, points: Sequence[PathPoint]) -> bool:
        """Tell whether points are all clearly worse than one of another search: then a search may end with these."""
        return bool(self.rivals) and self.worse(points, self.rivals)

    def stays_in_range(self, model: Model) -> bool:
        """Tell whether a model stays bounded with inputs beyond those of the data: see `stays_in_range`."""
        return all(stays_in_range(model, part) for part in self.in_memory)

    def stays_bounded(self, model: Model) -> bool:
        """Tell whether a model stays bounded in long runs with the inputs of the data, and a little beyond."""
        return all(stays_in_range(model, part, LITTLE_BEYOND) for part in self.in_memory)

    @cached_property
    def in_memory(self) -> tuple[Trajectories, ...]:
        """The validation windows, and the learning part too unless it is read from a stream."""
        if not isinstance(self.learn, Trajectories) or self.learn is self.validation:
            return (self.windows,)
        stretch = longest_run(self.learn) + 1
        return self.windows, thinned(self.learn, MAX_STRETCHES * stretch, stretch)


def learning_statistics(task: Task, dictionary: Dictionary, horizons: Sequence[int]) -> RegressionStatistics:
    """Return the statistics of the learning part."""
    return compress(task.learn, dictionary, horizons=horizons, executor=task.executor, progress=task.progress)


def with_validation(
    learned: RegressionStatistics, task: Task, dictionary: Dictionary, horizons: Sequence[int]
) -> RegressionStatistics:
    """Return the statistics of learning and validation data together."""
    if task.validation is task.learn:
        return learned
    more = task.validation if task.uncut is None else task.uncut
    found = compress(more, dictionary, horizons=horizons, executor=task.executor, progress=task.progress)
    return learned.merge(found) if task.uncut is None else found


def filled(horizons: Sequence[int]) -> tuple[int, ...]:
    """Return the horizons with 1 and with as many between them as leave no gap wider than about threefold.

    Examples
    --------
    >>> filled([10, 50])
    (1, 3, 10, 22, 50)
    """
    found = sorted({1, *(int(h) for h in horizons)})
    for low, high in pairwise(tuple(found)):
        pieces = int(np.ceil(np.log(high / low) / np.log(3.3)))
        found += [round(low * (high / low) ** (i / pieces)) for i in range(1, pieces)]
    return tuple(sorted(set(found)))


def window_length(task: Task) -> int:
    """Return how many steps are simulated while fitting: about the longest horizon, as far as episodes allow it.

    Where the outputs' memory is longer than `MAX_WINDOW`, as long as that, but at most a quarter of the episode.
    """
    length, memory = int(np.clip(task.horizons[-1], MIN_WINDOW, MAX_WINDOW)), task.windows.memory
    if isinstance(task.learn, Trajectories):
        longest = max(map(len, task.learn.inputs))
        memory, length = min(memory, longest // 4), min(length, longest)
    return length if memory <= MAX_WINDOW else min(memory, LONGEST_WINDOW)


@dataclass(frozen=True, eq=False)
class Episodes:
    """States and the inputs between them, episode by episode or block by block, anew each time."""

    parts: tuple[Trajectories | Stream, ...]

    def __iter__(self) -> Iterator[Episode]:
        for part in self.parts:
            if isinstance(part, Trajectories):
                yield from zip(part.states, part.inputs, strict=True)
            else:
                for piece in part.pieces(BLOCK_ROWS):
                    for block in piece:
                        yield block.states, block.inputs[: len(block.states) - 1]
