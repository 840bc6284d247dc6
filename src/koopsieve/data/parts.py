"""Choosing and cutting episodes: which positions were meant, and where to split."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from koopsieve._types import FloatArray, IndexArray, KoopsieveError


def positions(episodes: int | Iterable[int], count: int) -> IndexArray:
    """Return the chosen positions among `count` episodes, given as positions or as one flag per episode."""
    given: ArrayLike = episodes if isinstance(episodes, int | np.ndarray) else list(episodes)
    chosen = np.atleast_1d(np.asarray(given))
    if chosen.dtype == bool and chosen.shape == (count,):
        chosen = np.flatnonzero(chosen)
    if chosen.size == 0:
        raise KoopsieveError("No episodes were chosen. Expected at least one position.")
    if chosen.dtype.kind not in "iu" or chosen.ndim != 1 or chosen.min() < -count or chosen.max() >= count:
        raise KoopsieveError(
            f"Episodes are chosen by position, 0 to {count - 1}, or by one flag per episode. Got {chosen.tolist()}."
        )
    return chosen.astype(np.intp)


def between(rows: FloatArray, start: int, stop: int) -> FloatArray:
    """Return rows start … stop−1; all of them are the same object."""
    return rows if (start, stop) == (0, len(rows)) else rows[start:stop]


def check_fraction(fraction: float) -> None:
    """Refuse a fraction that would leave one side empty."""
    if not 0 < fraction < 1:
        raise KoopsieveError(f"fraction must lie between 0 and 1, both excluded. Got {fraction}.")


def cut_between(transitions: Sequence[int], fraction: float) -> int:
    """Return how many episodes, of at least two, come nearest to `fraction` of all transitions."""
    share = np.cumsum(transitions) / np.sum(transitions)
    return 1 + int(np.argmin(np.abs(share[:-1] - fraction)))


def cut_within(samples: int, fraction: float, reach: int) -> int:
    """Return the row at which to cut one episode so that either side has a transition after losing `reach` rows."""
    if samples < 4 + reach:
        raise KoopsieveError(
            f"One episode of {samples} samples is too short to be split in two. Expected at least {4 + reach} samples: "
            "two on either side, and those that the delays reach back over."
        )
    return min(max(round(fraction * samples), 2), samples - reach - 2)
