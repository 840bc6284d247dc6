"""Missing and infinite samples: refused with their place, filled in where a hole is short, or cut out.

No transition ever spans a hole that was not filled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from koopsieve._types import BoolArray, FloatArray, KoopsieveError
from koopsieve.data.episodes import Episode

_SLOW_COLUMN_SHARE = 0.5  # of the rows: a column missing in more of them is sampled at another rate


def check_samples(
    kind: str, label: str, samples: FloatArray, names: Sequence[str], *, allow_missing: bool = False
) -> None:
    """Refuse the first infinite sample, and the first NaN unless missing samples are allowed."""
    if np.isfinite(samples).all():
        return
    infinite = np.isinf(samples)
    if infinite.any():
        place = _first(infinite, names)
        raise KoopsieveError(
            f"{kind} {place} of {label} is infinite{_others(infinite)}. "
            'Remove or repair the sample; if it was lost, write NaN and pass gaps="split".'
        )
    if not allow_missing:
        missing = np.isnan(samples)
        slow = [
            repr(name) for name, share in zip(names, missing.mean(axis=0), strict=True) if share > _SLOW_COLUMN_SHARE
        ]
        advice = (
            f"{', '.join(slow)} may be sampled more slowly than the rest: pass resample= with time= to put all columns "
            'on one clock. Otherwise pass gaps="split" to cut the episode there.'
            if slow
            else 'Fill it in, or pass gaps="split" to cut the episode there.'
        )
        raise KoopsieveError(f"{kind} {_first(missing, names)} of {label} is NaN (missing){_others(missing)}. {advice}")


def filled(episode: Episode, max_gap: int) -> tuple[Episode, int]:
    """Return the episode with holes of at most `max_gap` samples filled in, and how many values that were.

    Outputs are interpolated linearly; inputs are held from the last one known. Nothing is filled over a transition that
    is broken, or at an end.
    """
    states, inputs = episode.states.copy(), episode.inputs.copy()
    cuts = np.zeros(0, dtype=np.intp) if episode.broken is None else np.flatnonzero(episode.broken) + 1
    borders = [0, *cuts.tolist(), len(states)]
    count = 0
    for start, stop in pairwise(borders):
        count += sum(_interpolate(column, max_gap) for column in states[start:stop].T)
        count += sum(_hold(column, max_gap) for column in inputs[start : stop - 1].T)
    states.flags.writeable = inputs.flags.writeable = False
    return replace(episode, states=states, inputs=inputs), count


def split_at_gaps(episode: Episode) -> Iterator[Episode]:
    """Yield the longest stretches of the episode in which every sample and every transition is known.

    A state missing at row k makes sample k unusable; an input missing at row k makes the transition from k to k+1
    unusable. Stretches of a single sample hold no transition and are left out.
    """
    known = complete(episode.states)
    linked = known[:-1] & known[1:] & complete(episode.inputs)
    if episode.broken is not None:
        linked = linked & ~episode.broken
    for start, stop in _runs(linked):
        yield replace(
            episode,
            states=episode.states[start : stop + 1],
            inputs=episode.inputs[start:stop],
            times=None if episode.times is None else episode.times[start : stop + 1],
            broken=None,
            first_row=None if episode.first_row is None else episode.first_row + start,
        )


def complete(samples: FloatArray) -> BoolArray:
    """Return which rows miss nothing."""
    known: BoolArray = np.logical_not(np.isnan(samples).any(axis=1))
    return known


def _interpolate(column: FloatArray, max_gap: int) -> int:
    """Fill short holes between known values in place; return how many values that were."""
    holes, known = _short_holes(column, max_gap), np.flatnonzero(~np.isnan(column))
    inside = [hole for hole in holes if hole.start > 0 and hole.stop < len(column)]
    for hole in inside:
        column[hole] = np.interp(np.arange(hole.start, hole.stop), known, column[known])
    return sum(hole.stop - hole.start for hole in inside)


def _hold(column: FloatArray, max_gap: int) -> int:
    """Fill short holes with the value before them in place; return how many values that were."""
    held = [hole for hole in _short_holes(column, max_gap) if hole.start > 0]
    for hole in held:
        column[hole] = column[hole.start - 1]
    return sum(hole.stop - hole.start for hole in held)


def _short_holes(column: FloatArray, max_gap: int) -> list[slice]:
    return [slice(start, stop) for start, stop in _runs(np.isnan(column)) if stop - start <= max_gap]


def _runs(flags: BoolArray) -> Iterator[tuple[int, int]]:
    """Yield [start, stop) of every run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _first(flags: BoolArray, names: Sequence[str]) -> str:
    row, column = (int(i) for i in np.argwhere(flags)[0])
    return f"{names[column]!r} at row {row} (counted from 0)"


def _others(flags: BoolArray) -> str:
    more = int(flags.sum()) - 1
    return f", and {more} more like it" if more else ""
