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
MAX_LISTED = 5
NO_BOUNDS = (-np.inf, np.inf)


@dataclass(frozen=True, eq=False)
class Outliers:
    """Flags of the samples of each episode that lie far outside, (T, n) of states and (T-1, l) of inputs."""

    episodes: Sequence[Episode]
    flags: Sequence[tuple[BoolArray, BoolArray]]

    @property
    def count(self) -> int:
        """Number of values far outside."""
        return sum(int(x.sum() + u.sum()) for x, u in self.flags)

    def listed(self, names: tuple[Sequence[str], Sequence[str]]) -> list[str]:
        """Return the first of them in words, with their rows."""
        found = []
        for episode, flags in zip(self.episodes, self.flags, strict=True):
            for values, far, named in zip((episode.states, episode.inputs), flags, names, strict=True):
                found += [
                    far_value(named[column], values[row, column], episode.source.describe(row))
                    for row, column in np.argwhere(far)[:MAX_LISTED].tolist()
                ]
        return found

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

    `what` is "keep" (with a warning), "drop" (treated as missing samples) or "refuse"; `names` are those of states and
    inputs.
    """
    found = find_outliers(episodes)
    if not found.count:
        return episodes, ""
    note = outliers_in_words(found.count, found.listed(names), what)
    return found.dropped() if what == DROP else episodes, note


def outliers_in_words(count: int, listed: Sequence[str], what: str) -> str:
    """Return what was found and done about it; warn of what is kept, raise an error of what is refused."""
    more = f", and {count - MAX_LISTED} more" if count > MAX_LISTED else ""
    words = f"{count} value{'s'[: count != 1]} far outside the others: {'; '.join(listed[:MAX_LISTED])}{more}."
    if what == DROP:
        return f"Dropped: {words}"
    if what == KEEP:
        warn_user(f'{words} Kept; one such sample can spoil a model. Pass outliers="drop" to leave such samples out.')
        return f"Kept: {words}"
    raise KoopsieveError(f'{words} Repair the data, or pass outliers="drop" to leave such samples out.')


def far_value(name: str, value: float, where: str) -> str:
    """Return one value far outside in words."""
    return f"{name!r} is {value:.6g} at {where}"


def _without(far: BoolArray, values: FloatArray) -> FloatArray:
    left = np.where(far, np.nan, values)
    left.flags.writeable = False
    return left


def _flags(arrays: Sequence[FloatArray]) -> list[BoolArray]:
    samples = np.concatenate(arrays)
    between = bounds(samples, *extremes(samples))
    return [single_flags(outside(values, between)) for values in arrays]


def extremes(samples: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the least and the largest known value of every column; infinite where none is known."""
    low: FloatArray = np.fmin.reduce(samples, axis=0, initial=np.inf)
    high: FloatArray = np.fmax.reduce(samples, axis=0, initial=-np.inf)
    return low, high


def bounds(samples: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return between which values each signal is not far outside, shape (2, columns); infinite if that is not known.

    `samples` (rows, columns) are all or many, drawn evenly; `low` and `high` the least and the largest value of all.
    """
    found = [_bounds(column, *ends) for column, *ends in zip(samples.T, low.tolist(), high.tolist(), strict=True)]
    return np.array(found).reshape(-1, 2).T


def outside(values: FloatArray, between: FloatArray) -> BoolArray:
    """Return which values lie outside their bounds."""
    far: BoolArray = (values < between[0]) | (values > between[1])
    return far


def _bounds(values: FloatArray, low: float, high: float) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    if len(known) < MIN_SAMPLES:
        return NO_BOUNDS
    size = max(abs(low), abs(high)) or 1.0
    scaled = known / size  # squares of enormous numbers stay finite
    if max(high / size - scaled.mean(), scaled.mean() - low / size) <= _NEVER_FAR * scaled.std():
        return NO_BOUNDS
    margin = (1 - MIDDLE) / 2
    lower, upper = np.quantile(scaled, margin, method="higher"), np.quantile(scaled, 1 - margin, method="lower")
    if not lower < upper:
        return NO_BOUNDS  # at rest but for a few samples: these are events, as far as anybody can tell
    center, reach = float(np.median(scaled)), FAR * (upper - lower) / 2
    return size * (center - reach), size * (center + reach)


def single_flags(far: BoolArray) -> BoolArray:
    """Return, of every column, the runs of at most `MAX_RUN` flags that neither begin nor end the column."""
    found = np.zeros_like(far)
    for column in np.flatnonzero(far.any(axis=0)).tolist():
        padded = np.concatenate([[False], far[:, column], [False]])
        edges = np.flatnonzero(np.diff(padded.astype(np.int8)))
        for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            if start > 0 and stop < len(far) and stop - start <= MAX_RUN:
                found[start:stop, column] = True
    return found
