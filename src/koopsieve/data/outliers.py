"""Single samples far outside the others: named with their rows before anything is learned from them.

A sample is far outside if it lies more than ten half-widths of the middle 98 % of its signal away from its median. Only
up to three in a row, between samples that are not far, count: a longer stretch, or one that begins or ends an episode,
is more likely an event than a fault.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from koopsieve._types import BoolArray, FloatArray, KoopsieveError, warn_user
from koopsieve.data.episodes import Episode
from koopsieve.io.reading.columns import DROP, KEEP

FAR = 10.0  # half-widths of the middle of a signal
MIDDLE = 0.98  # share of the samples in the middle
MAX_RUN = 3  # samples in a row
MIN_SAMPLES = 20  # below, the middle says nothing
_NEVER_FAR = 5.0  # standard deviations: where none is further from the mean, none is far outside
_LISTED = 5


@dataclass(frozen=True, eq=False)
class Outliers:
    """Flags of the samples of each episode that lie far outside, (T, n) of states and (T-1, l) of inputs."""

    episodes: Sequence[Episode]
    flags: Sequence[tuple[BoolArray, BoolArray]]

    @property
    def count(self) -> int:
        """Number of values far outside."""
        return sum(int(x.sum() + u.sum()) for x, u in self.flags)

    def describe(self, names: tuple[Sequence[str], Sequence[str]]) -> str:
        """Return the first of them in words, with their rows."""
        found = []
        for episode, flags in zip(self.episodes, self.flags, strict=True):
            for values, far, named in zip((episode.states, episode.inputs), flags, names, strict=True):
                found += [
                    f"{named[column]!r} is {values[row, column]:.6g} at {episode.source.describe(row)}"
                    for row, column in np.argwhere(far)[:_LISTED].tolist()
                ]
        more = f", and {self.count - _LISTED} more" if self.count > _LISTED else ""
        return "; ".join(found[:_LISTED]) + more

    def dropped(self) -> list[Episode]:
        """Return the episodes with these values missing."""
        return [
            replace(one, states=_without(x, one.states), inputs=_without(u, one.inputs))
            for one, (x, u) in zip(self.episodes, self.flags, strict=True)
        ]


def find_outliers(episodes: Sequence[Episode]) -> Outliers:
    """Return which samples lie far outside the others of their signal, in all episodes together."""
    states, inputs = (_flags([getattr(one, kind) for one in episodes]) for kind in ("states", "inputs"))
    return Outliers(episodes, list(zip(states, inputs, strict=True)))


def handle_outliers(
    episodes: Sequence[Episode], names: tuple[Sequence[str], Sequence[str]], what: str
) -> tuple[Sequence[Episode], str]:
    """Return the episodes, without what lies far outside if it is to be dropped, and what was found in words.

    Parameters
    ----------
    episodes : sequence of Episode
    names : pair of sequences of str
        Of states and inputs.
    what : {"keep", "drop", "refuse"}
        Keep outliers with a warning, treat them as missing samples, or raise an error.

    Raises
    ------
    KoopsieveError
        If there are any and they are refused.
    """
    found = find_outliers(episodes)
    if not found.count:
        return episodes, ""
    several = found.count != 1
    words = f"{found.count} value{'s'[:several]} far outside the others: {found.describe(names)}."
    if what == DROP:
        return found.dropped(), f"Dropped: {words}"
    if what == KEEP:
        warn_user(f'{words} Kept; one such sample can spoil a model. Pass outliers="drop" to leave such samples out.')
        return episodes, f"Kept: {words}"
    raise KoopsieveError(f'{words} Repair the data, or pass outliers="drop" to leave such samples out.')


def _without(far: BoolArray, values: FloatArray) -> FloatArray:
    left = np.where(far, np.nan, values)
    left.flags.writeable = False
    return left


def _flags(arrays: Sequence[FloatArray]) -> list[BoolArray]:
    samples = np.concatenate(arrays)
    flags = [np.zeros(values.shape, dtype=bool) for values in arrays]
    for column in range(samples.shape[1]):
        bounds = _bounds(samples[:, column])
        if bounds is not None:
            for values, found in zip(arrays, flags, strict=True):
                found[:, column] = _single((values[:, column] < bounds[0]) | (values[:, column] > bounds[1]))
    return flags


def _bounds(values: FloatArray) -> tuple[float, float] | None:
    """Return between which values a signal is not far outside; none if that cannot be said."""
    known = values[np.isfinite(values)]
    if len(known) < MIN_SAMPLES:
        return None
    size = float(np.abs(known).max()) or 1.0
    scaled = known / size  # squares of enormous numbers stay finite
    if np.abs(scaled - scaled.mean()).max() <= _NEVER_FAR * scaled.std():
        return None
    margin = (1 - MIDDLE) / 2
    low, high = np.quantile(scaled, margin, method="higher"), np.quantile(scaled, 1 - margin, method="lower")
    if not low < high:
        return None  # at rest but for a few samples: these are events, as far as anybody can tell
    center, reach = float(np.median(scaled)), FAR * (high - low) / 2
    return size * (center - reach), size * (center + reach)


def _single(far: BoolArray) -> BoolArray:
    """Return the runs of at most `MAX_RUN` flags that begin after the first sample and end before the last."""
    if not far.any():
        return far
    edges = np.flatnonzero(np.diff(np.concatenate([[False], far, [False]]).astype(np.int8)))
    found = np.zeros_like(far)
    for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        if start > 0 and stop < len(far) and stop - start <= MAX_RUN:
            found[start:stop] = True
    return found
