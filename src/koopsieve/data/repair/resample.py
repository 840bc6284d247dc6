"""Jittered or irregular times, and columns of several rates, put on one even clock.

Outputs are interpolated linearly between the samples around each new time; inputs are held from the last one before
it. Every column looks only at its own samples, so columns that are missing in most rows are simply slow.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from koopsieve._types import MAX_WHOLE, BoolArray, FloatArray, KoopsieveError
from koopsieve.data.episodes import Episode
from koopsieve.data.repair.times import MISSING_FROM

_SAME_TIME = 1e-6  # of a step: times nearer than this are one
_MAX_SAMPLES_PER_ROW = 1000


def stretches(episode: Episode, step: float, max_gap: int) -> list[Episode]:
    """Return the episode cut where time jumps over more than any of its columns can be known over."""
    times, values = np.asarray(episode.times), np.concatenate([episode.states[:-1], episode.inputs], axis=1)
    reach = max(_longest(_known(times[:-1], column)[0], step, max_gap) for column in values.T)
    borders = [0, *(np.flatnonzero(np.diff(times) > reach) + 1).tolist(), len(times)]
    return [
        replace(episode, states=episode.states[a:b], inputs=episode.inputs[a : b - 1], times=times[a:b])
        for a, b in pairwise(borders)
    ]


def resampled(episode: Episode, step: float, max_gap: int) -> Episode | None:
    """Return the episode at times start, start + step, …, missing where a column has a hole; None if it is too short.

    Parameters
    ----------
    episode : Episode
        With times.
    step : float
        The new sample time.
    max_gap : int
        How many samples of its own a column may miss and still be interpolated or held over.

    Raises
    ------
    KoopsieveError
        If there would be far more samples than rows.
    """
    times = np.asarray(episode.times)
    steps = float(times[-1] - times[0]) / float(step) + _SAME_TIME
    count = int(min(steps, MAX_WHOLE)) + 1
    if count < 2:
        return None
    if count > _MAX_SAMPLES_PER_ROW * len(times):
        raise KoopsieveError(
            f"resample={step:g} would make {count} samples of the {len(times)} rows of {episode.label}. "
            "Ask for a longer step."
        )
    even = times[0] + step * np.arange(count)
    clock, offset = episode.clock.finer(step)
    states = [_interpolated(times, x, even, step, max_gap) for x in episode.states.T]
    inputs = [_held(times[:-1], u, even[:-1], step, max_gap) for u in episode.inputs.T]
    return replace(
        episode,
        states=_frozen(states, count),
        inputs=_frozen(inputs, count - 1),
        times=even + offset,
        broken=None,
        first_row=None,
        clock=clock,
    )


def _interpolated(times: FloatArray, values: FloatArray, even: FloatArray, step: float, max_gap: int) -> FloatArray:
    t, x = _known(times, values)
    if len(t) < 2:
        return np.full(len(even), np.nan)
    after = np.clip(np.searchsorted(t, even), 1, len(t) - 1)
    near = np.minimum(np.abs(even - t[after - 1]), np.abs(even - t[after])) <= _SAME_TIME * step
    inside = (even >= t[0]) & (even <= t[-1]) & (t[after] - t[after - 1] <= _longest(t, step, max_gap))
    return np.where(near | inside, np.interp(even, t, x), np.nan)


def _held(times: FloatArray, values: FloatArray, even: FloatArray, step: float, max_gap: int) -> FloatArray:
    t, u = _known(times, values)
    if not len(t):
        return np.full(len(even), np.nan)
    last = np.searchsorted(t, even + _SAME_TIME * step, side="right") - 1
    age = even - t[np.maximum(last, 0)]
    fresh: BoolArray = (last >= 0) & (age < _longest(t, step, max_gap))
    return np.where(fresh, u[np.maximum(last, 0)], np.nan)


def _known(times: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    known = ~np.isnan(values)
    return times[known], values[known]


def _longest(times: FloatArray, step: float, max_gap: int) -> float:
    """Return the longest time between two samples of a column over which it is still known."""
    own = float(np.median(np.diff(times))) if len(times) > 1 else step
    return (max_gap + MISSING_FROM) * max(own, step)


def _frozen(columns: list[FloatArray], rows: int) -> FloatArray:
    matrix = np.ascontiguousarray(np.stack(columns, axis=1)) if columns else np.zeros((rows, 0))
    matrix.flags.writeable = False
    return matrix
