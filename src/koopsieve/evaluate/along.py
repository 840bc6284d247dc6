"""Errors of predictions step by step along windows of data: what bands are calibrated and judged on.

Comes in: a model and trajectories. Goes out: the error of every output at every step after evenly spread
starts. How many numbers are held does not grow with the data.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray, IndexArray
from koopsieve.data import Trajectories
from koopsieve.model import Model
from koopsieve.model.rollout import checked_horizons, chunks, fitting

MAX_NUMBERS = 3_000_000  # of errors held; starts are thinned evenly to stay below


@dataclass(frozen=True, eq=False)
class ErrorsAlong:
    """Errors along windows.

    Parameters
    ----------
    data : Trajectories
        The model's delays embedded.
    episodes, starts : array of int, shape (windows,)
        Where each window starts: the episode, and the sample in it.
    errors : array, shape (windows, horizon, n_outputs)
        y − ŷ; inf where the prediction diverged, nan beyond the end of the episode.
    """

    data: Trajectories
    episodes: IndexArray
    starts: IndexArray
    errors: FloatArray

    @property
    def horizon(self) -> int:
        """Steps ahead."""
        return int(self.errors.shape[1])

    def reaching(self, horizon: int) -> IndexArray:
        """Return the windows that have a sample so many steps ahead."""
        lengths = np.array([len(x) for x in self.data.states])
        return np.flatnonzero(self.starts + horizon < lengths[self.episodes])

    def side_by_side(self, horizon: int) -> int:
        """Return how many windows of so many steps the data hold without overlap."""
        return sum((len(x) - 1) // horizon for x in self.data.states)

    @property
    def states(self) -> FloatArray:
        """The states that windows start from, shape (windows, n)."""
        found: FloatArray = np.concatenate(self.data.states)[self._rows(self.data.states)]
        return found

    def whole(self, windows: IndexArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return states, acting inputs and predicted outputs of some windows that reach all the way."""
        ahead = np.arange(self.horizon)
        acting = np.concatenate(self.data.inputs)[self._rows(self.data.inputs)[windows, None] + ahead]
        true = np.concatenate(self.data.states)[self._rows(self.data.states)[windows, None] + ahead + 1]
        return self.states[windows], acting, true[..., : self.errors.shape[2]] - self.errors[windows]

    def _rows(self, episodes: Sequence[FloatArray]) -> IndexArray:
        """Return where windows start in the episodes put one after the other."""
        first = np.cumsum([0, *(len(one) for one in episodes)])
        rows: IndexArray = first[self.episodes] + self.starts
        return rows


def errors_along(model: Model, trajectories: Trajectories, horizon: int) -> ErrorsAlong:
    """Predict from evenly spread starts, up to the end of the window or of the episode.

    Raises
    ------
    KoopsieveError
        If columns do not fit, or the horizon is longer than every episode.
    """
    data = fitting(model, trajectories)
    (steps,) = checked_horizons([horizon], data)
    outputs = len(model.output_names)
    stride = max(1, -(-sum(map(len, data.states)) * steps * outputs // MAX_NUMBERS))
    starts = [np.arange(0, len(x) - 1, stride) for x in data.states]
    errors = np.full((sum(map(len, starts)), steps, outputs), np.nan)
    first = 0
    for episode, begun in enumerate(starts):
        for part in chunks(len(begun), model.carried_size):
            _along(model, data, episode, begun[part], errors[first : first + len(begun[part])])
            first += len(begun[part])
    episodes = np.repeat(np.arange(len(starts)), [len(one) for one in starts])
    return ErrorsAlong(data, episodes, np.concatenate(starts), errors)


def _along(model: Model, data: Trajectories, episode: int, starts: IndexArray, out: FloatArray) -> None:
    """Write the errors after the starts of one episode into `out` (starts, horizon, n_outputs)."""
    x, u = data.states[episode], data.inputs[episode]

    def acting() -> Iterator[FloatArray]:
        for h in range(1, out.shape[1] + 1):
            alive = starts[: np.searchsorted(starts, len(x) - h)]
            if not len(alive):
                return
            yield u[alive + h - 1]

    for h, carried in enumerate(model.steps(model.start(x[starts]), acting()), start=1):
        predicted = model.read(carried)
        with np.errstate(invalid="ignore", over="ignore"):
            error = x[starts[: len(predicted)] + h, : predicted.shape[1]] - predicted
        out[: len(error), h - 1] = np.where(np.isnan(error), np.inf, error)
