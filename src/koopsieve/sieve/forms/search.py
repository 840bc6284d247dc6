"""What searching a model in one prediction form takes and gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import ClassVar

import numpy as np

from koopsieve._display import Facts, Shown
from koopsieve.data import Stream, Trajectories
from koopsieve.data.holding_out import thinned
from koopsieve.data.stream import BLOCK_ROWS
from koopsieve.dictionary import Dictionary
from koopsieve.evaluate import stays_in_range
from koopsieve.evaluate.free_runs import MAX_STEPS, MAX_STRETCHES
from koopsieve.execution import Executor, Progress, silent
from koopsieve.identify import Estimate, Identifier
from koopsieve.model import Model
from koopsieve.regression import RegressionStatistics, compress
from koopsieve.sieve.path import SievePath
from koopsieve.sieve.simulation.windows import Episode

MIN_WINDOW, MAX_WINDOW = 20, 100  # steps of the windows that are simulated while fitting


@dataclass(frozen=True, eq=False)
class Task:
    """The data of one search, and the dictionary to sift.

    Parameters
    ----------
    learn : Trajectories or Stream
        What models learn from while they are compared.
    validation : Trajectories or Stream
        What they are compared on; the final model learns from these too. The same object as `learn` where nothing was
        held out.
    windows : Trajectories
        Validation data in memory, from which predictions start: all of them, or a sample of a stream.
    dictionary : Dictionary
        Fitted to the learning part.
    horizons : tuple of int
        Steps ahead that matter, increasing.
    steps : int
        Number of sets on the path, about.
    seed : int
    max_terms : int, optional
        Regressors to keep at most.
    executor, progress
        See `compress`.
    """

    learn: Trajectories | Stream
    validation: Trajectories | Stream
    windows: Trajectories
    dictionary: Dictionary
    horizons: tuple[int, ...]
    steps: int = 20
    seed: int = 0
    max_terms: int | None = None
    executor: Executor | None = None
    progress: Progress = silent

    def stays_in_range(self, model: Model) -> bool:
        """Tell whether a model stays bounded with inputs beyond those of the data: see `stays_in_range`."""
        return all(stays_in_range(model, part) for part in self._in_memory)

    @cached_property
    def _in_memory(self) -> tuple[Trajectories, ...]:
        """The validation windows, and the learning part too unless it is read from a stream."""
        if not isinstance(self.learn, Trajectories) or self.learn is self.validation:
            return (self.windows,)
        return self.windows, thinned(self.learn, MAX_STRETCHES * (MAX_STEPS + 1), MAX_STEPS + 1)


@dataclass(frozen=True, eq=False, repr=False)
class Outcome(Shown):
    """What the search in one form found.

    Parameters
    ----------
    path : SievePath
        Every candidate with its validation errors, and the choice.
    model : Model
        The chosen set, learned from learning and validation data together.
    everything : tuple of Model
        All candidates, one-step least squares: learned from the learning part, and from both.
    dictionary : Dictionary
        The candidates.
    statistics, kept : RegressionStatistics
        Of learning and validation data, for all candidates and for those kept.
    explain : Identifier
        Says what drives what among those kept.
    decided : Estimate, optional
        Where a graph decided: what drives what among all candidates.
    status : str
        What was done about the stability of the model, or how its fit ended; empty if there is nothing to say.
    """

    path: SievePath
    model: Model
    everything: tuple[Model, Model]
    dictionary: Dictionary
    statistics: RegressionStatistics
    kept: RegressionStatistics
    explain: Identifier
    decided: Estimate | None = None
    status: str = ""

    @property
    def graph_decides(self) -> bool:
        """Whether the explanation is what decided."""
        return self.decided is not None

    @cached_property
    def explanation(self) -> Estimate:
        """What drives what, on the kept set, or on all candidates where the graph decided; computed when asked for."""
        return self.explain.identify(self.kept) if self.decided is None else self.decided

    def _facts(self) -> Facts:
        kept = f"{self.path.choice.size} of {self.path.candidates}"
        return {"form": self.path.form, "kept": kept, "graph decides": "yes" if self.graph_decides else "no"}


class FormSearch(ABC):
    """How a model in one prediction form is searched."""

    form: ClassVar[str]

    @abstractmethod
    def search(self, task: Task) -> Outcome:
        """Compress, sieve, refit, choose and relearn."""


def compressed(
    task: Task, dictionary: Dictionary, horizons: Sequence[int]
) -> tuple[RegressionStatistics, RegressionStatistics]:
    """Return the statistics of the learning part, and of learning and validation data together."""

    def of(part: Trajectories | Stream) -> RegressionStatistics:
        return compress(part, dictionary, horizons=horizons, executor=task.executor, progress=task.progress)

    learned = of(task.learn)
    return learned, learned if task.validation is task.learn else learned.merge(of(task.validation))


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
    """Return how many steps are simulated while fitting: about the longest horizon, as far as episodes allow it."""
    length = int(np.clip(task.horizons[-1], MIN_WINDOW, MAX_WINDOW))
    if isinstance(task.learn, Trajectories):
        length = min(length, max(map(len, task.learn.inputs)))
    return length


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
