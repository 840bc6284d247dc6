"""Predictions from every start of measured trajectories with the measured inputs, and their errors step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from koopsieve._types import FloatArray, IndexArray, KoopsieveError, sorted_horizons
from koopsieve.data import Trajectories, embedded

if TYPE_CHECKING:
    from koopsieve.forms import Model

_CHUNK_BYTES = 32 * 2**20  # memory of the lifted states that are stepped at once
MAX_STEP_ERRORS = 3_000_000  # numbers that `step_errors` holds; starts are thinned evenly to stay below


class HorizonPredictions(NamedTuple):
    """Predictions of consecutive starts: row i is predicted from sample first + i for the sample `horizon` later."""

    # episode, first, horizon: the episode, the sample of the first start (counted where the state begins), and the
    # number of steps
    episode: int
    first: int
    horizon: int
    predicted: FloatArray  # (starts, n_outputs): the predicted outputs


def rollout(model: Model, trajectories: Trajectories, horizon: int) -> tuple[FloatArray, ...]:
    """Return all predictions up to `horizon`, per episode; see `Model.rollout`."""
    data = embedded_for(model, trajectories)
    (steps,) = checked_horizons([horizon], data)
    found = tuple(np.empty((max(0, len(x) - steps), steps, len(model.output_names))) for x in data.states)
    for episode, first, h, predicted in horizon_predictions(model, data, range(1, steps + 1)):
        rows = found[episode][first : first + len(predicted)]
        rows[:, h - 1] = predicted[: len(rows)]
    return found


def horizon_predictions(
    model: Model, trajectories: Trajectories, horizons: Sequence[int]
) -> Iterator[HorizonPredictions]:
    """Return the predictions at `horizons` from every start that has a sample that far ahead, step by step."""
    data = embedded_for(model, trajectories)
    return _horizon_predictions(model, data, checked_horizons(horizons, data))


def _horizon_predictions(model: Model, data: Trajectories, horizons: Sequence[int]) -> Iterator[HorizonPredictions]:
    for episode, part in start_slices(model.numbers_per_start, data, min(horizons)):
        states, following = data.states[episode][part], data.inputs[episode][part.start :]
        for h, predicted in model.from_each(states, following, horizons):
            yield HorizonPredictions(episode, part.start, h, predicted)


def checked_horizons(horizons: Sequence[int], trajectories: Trajectories) -> tuple[int, ...]:
    """Return the horizons sorted, without repeats, after checking that an episode is long enough for the longest."""
    wanted = sorted_horizons(horizons)
    if not wanted:
        raise KoopsieveError("horizons is empty. Expected at least one number of steps, such as [1, 10, 50].")
    longest = max(map(len, trajectories.states))
    if wanted[-1] >= longest:
        raise KoopsieveError(
            f"No episode is long enough to predict {wanted[-1]} steps. Expected at least {wanted[-1] + 1} samples, "
            f"the longest has {longest}. Ask for shorter horizons."
        )
    return wanted


def embedded_for(model: Model, trajectories: Trajectories) -> Trajectories:
    """Return the trajectories with the model's delays, if they have its outputs, inputs and sample time."""
    expected = replace(model.signals, embedding=trajectories.embedding)
    expected.require_same(trajectories.signals, "The trajectories and the model's data")
    return embedded(trajectories, model.signals.embedding)


def start_slices(size: int, trajectories: Trajectories, nearest: int) -> Iterator[tuple[int, slice]]:
    """Yield the episode and slices of the starts that have a sample `nearest` steps later; each fits in memory."""
    for episode, x in enumerate(trajectories.states):
        for part in chunks(len(x) - nearest, size):
            yield episode, part


def chunks(count: int, size: int) -> Iterator[slice]:
    """Cut starts into slices whose lifted states, `size` numbers each, fit in `_CHUNK_BYTES`."""
    rows = max(1, _CHUNK_BYTES // (8 * max(1, size)))
    for first in range(0, count, rows):
        yield slice(first, min(first + rows, count))


@dataclass(frozen=True, eq=False)
class StepErrors:
    """Errors of predictions at every step of windows of data: what bands are calibrated and tested on."""

    data: Trajectories  # the model's delays embedded
    # episodes, starts (windows,): where each window starts: the episode, and the sample in it
    episodes: IndexArray
    starts: IndexArray
    # (windows, horizon, n_outputs): y − ŷ; inf where the prediction diverged, nan beyond the end of the episode
    errors: FloatArray

    @property
    def horizon(self) -> int:
        """Number of steps of a window."""
        return int(self.errors.shape[1])

    def reaching(self, horizon: int) -> IndexArray:
        """Return the windows that have a sample `horizon` steps after their start."""
        lengths = np.array([len(x) for x in self.data.states])
        return np.flatnonzero(self.starts + horizon < lengths[self.episodes])

    def separate_windows(self, horizon: int) -> int:
        """Return the number of windows of `horizon` steps that the data hold without overlap."""
        return sum((len(x) - 1) // horizon for x in self.data.states)

    @property
    def states(self) -> FloatArray:
        """The states that windows start from, shape (windows, n)."""
        found: FloatArray = np.concatenate(self.data.states)[self._rows(self.data.states)]
        return found

    def complete_windows(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return states, acting inputs and predicted outputs of the windows that do not reach past their episode."""
        windows, steps = self.reaching(self.horizon), np.arange(self.horizon)
        acting = np.concatenate(self.data.inputs)[self._rows(self.data.inputs)[windows, None] + steps]
        true = np.concatenate(self.data.states)[self._rows(self.data.states)[windows, None] + steps + 1]
        return self.states[windows], acting, true[..., : self.errors.shape[2]] - self.errors[windows]

    def _rows(self, episodes: Sequence[FloatArray]) -> IndexArray:
        """Return where windows start in the episodes put one after the other."""
        first = np.cumsum([0, *(len(one) for one in episodes)])
        rows: IndexArray = first[self.episodes] + self.starts
        return rows


def step_errors(model: Model, trajectories: Trajectories, horizon: int) -> StepErrors:
    """Return the errors after evenly spread starts, up to the end of the window or of the episode.

    The number of errors held does not grow with the data.
    """
    data = embedded_for(model, trajectories)
    (steps,) = checked_horizons([horizon], data)
    outputs = len(model.output_names)
    stride = max(1, -(-sum(map(len, data.states)) * steps * outputs // MAX_STEP_ERRORS))
    starts = [np.arange(0, len(x) - 1, stride) for x in data.states]
    errors = np.full((sum(map(len, starts)), steps, outputs), np.nan)
    first = 0
    for episode, begun in enumerate(starts):
        for part in chunks(len(begun), model.numbers_per_start):
            _write_errors(model, data, episode, begun[part], errors[first : first + len(begun[part])])
            first += len(begun[part])
    episodes = np.repeat(np.arange(len(starts)), [len(one) for one in starts])
    return StepErrors(data, episodes, np.concatenate(starts), errors)


def _write_errors(model: Model, data: Trajectories, episode: int, starts: IndexArray, out: FloatArray) -> None:
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
