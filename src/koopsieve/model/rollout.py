"""Predictions from every start of measured trajectories, with the inputs that were measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError, sorted_horizons
from koopsieve.data import Trajectories, embedded

if TYPE_CHECKING:
    from koopsieve.model.forms import Model


_CHUNK_BYTES = 32 * 2**20  # of what is carried at once


class Ahead(NamedTuple):
    """Predictions of consecutive starts: row i is predicted from sample first + i for the sample `horizon` later.

    Parameters
    ----------
    episode, first, horizon : int
        The episode, the sample of the first start (counted where the state begins), and how many steps ahead.
    predicted : array, shape (starts, n_outputs)
        The predicted outputs.
    """

    episode: int
    first: int
    horizon: int
    predicted: FloatArray


def rollout(model: Model, trajectories: Trajectories, horizon: int) -> tuple[FloatArray, ...]:
    """Return all predictions up to `horizon`, per episode; see `Model.rollout`."""
    data = fitting(model, trajectories)
    (steps,) = checked_horizons([horizon], data)
    found = tuple(np.empty((max(0, len(x) - steps), steps, len(model.output_names))) for x in data.states)
    for episode, first, h, predicted in stepped(model, data, range(1, steps + 1)):
        rows = found[episode][first : first + len(predicted)]
        rows[:, h - 1] = predicted[: len(rows)]
    return found


def stepped(model: Model, trajectories: Trajectories, horizons: Sequence[int]) -> Iterator[Ahead]:
    """Return the predictions at `horizons` from every start that has a sample that far ahead, step by step."""
    data = fitting(model, trajectories)
    return _stepped(model, data, checked_horizons(horizons, data))


def _stepped(model: Model, data: Trajectories, horizons: Sequence[int]) -> Iterator[Ahead]:
    wanted, furthest = set(horizons), max(horizons)
    for episode, part in start_slices(model.carried_size, data, min(horizons)):
        u = data.inputs[episode]
        sequence = (u[part.start + j : part.stop + j] for j in range(min(furthest, len(u) - part.start)))
        carried = model.start(data.states[episode][part])
        for h, now in enumerate(model.steps(carried, sequence), start=1):
            if h in wanted:
                yield Ahead(episode, part.start, h, model.read(now))


def checked_horizons(horizons: Sequence[int], trajectories: Trajectories) -> tuple[int, ...]:
    """Return the horizons sorted and once each, or say which no episode is long enough for."""
    wanted = sorted_horizons(horizons)
    if not wanted:
        raise KoopsieveError("horizons is empty. Expected at least one number of steps, such as [1, 10, 50].")
    longest = max(map(len, trajectories.states))
    if wanted[-1] >= longest:
        raise KoopsieveError(
            f"No episode is long enough to look {wanted[-1]} steps ahead. Expected at least {wanted[-1] + 1} samples, "
            f"the longest has {longest}. Ask for shorter horizons."
        )
    return wanted


def fitting(model: Model, trajectories: Trajectories) -> Trajectories:
    """Return the trajectories with the model's delays, or say why the model cannot predict them."""
    for what, expected, came in (
        ("outputs", model.signals.outputs, trajectories.output_names),
        ("inputs", model.signals.inputs, trajectories.input_names),
    ):
        if expected != came:
            raise KoopsieveError(
                f"The trajectories do not have the model's {what}. Expected {list(expected)}, got {list(came)}. "
                "Give them the same names, columns in the same order."
            )
    return embedded(trajectories, model.signals.embedding)


def start_slices(size: int, trajectories: Trajectories, nearest: int) -> Iterator[tuple[int, slice]]:
    """Yield the episode and a slice of starts that have a sample `nearest` steps ahead, small enough for the memory."""
    for episode, x in enumerate(trajectories.states):
        for part in chunks(len(x) - nearest, size):
            yield episode, part


def chunks(count: int, size: int) -> Iterator[slice]:
    """Cut starts into slices whose carried numbers fit the memory set aside for them."""
    rows = max(1, _CHUNK_BYTES // (8 * max(1, size)))
    for first in range(0, count, rows):
        yield slice(first, min(first + rows, count))
