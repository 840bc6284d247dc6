"""The times of samples: checked to be evenly spaced, missing rows inserted, or all put on an even grid by pandas.

On the new grid outputs are interpolated linearly between the samples around each time; inputs are held from the last
one before it. Every column looks only at its own samples, so columns that are missing in most rows are simply slow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from koopsieve._types import MAX_WHOLE, BoolArray, FloatArray, KoopsieveError
from koopsieve.data.episodes import Episode
from koopsieve.io.reading.columns import REFUSE, Reading

STEP_TOLERANCE = 1e-3  # of a step; what the resolution of the times cannot show is allowed on top
MISSING_FROM = 1.5  # steps; above it samples are missing, below it the times are uneven
_SAME_TIME = 1e-6  # of a step: times nearer than this are one
_MAX_SAMPLES_PER_ROW = 1000  # that are inserted or made by resampling


def uneven_steps(times: FloatArray, step: float, counts: FloatArray | float = 1.0) -> BoolArray:
    """Return which steps differ from `counts` times `step` by more than rounding of times does, shape (T-1,)."""
    allowed = STEP_TOLERANCE * step + 4 * np.spacing(np.abs(times).max(initial=0.0))
    uneven: BoolArray = np.abs(np.diff(times) - counts * step) > counts * allowed
    return uneven


def median_step(episodes: Sequence[Episode]) -> float | None:
    """Return the median step of all episodes together; None without times."""
    for episode in episodes:
        _check_increasing(episode)
    times = [episode.times for episode in episodes if episode.times is not None]
    return typical_step(times) if times else None


def typical_step(episodes: Sequence[FloatArray]) -> float:
    """Return the median step of times: the shortest decimal number that their rounding cannot tell from it."""
    step = float(np.median(np.concatenate([np.diff(times) for times in episodes])))
    rounding = 2 * np.spacing(max(np.abs(times).max(initial=0.0) for times in episodes))
    shorter = (float(f"{step:.{digits}g}") for digits in range(1, 17))
    return next((one for one in shorter if abs(one - step) <= rounding), step)


def mark_jumps(episode: Episode, step: float, gaps: str) -> Episode:
    """Return the episode with jumps in time marked as broken transitions."""
    if episode.times is None:
        return episode
    steps = np.diff(episode.times)
    uneven, jumps = uneven_steps(episode.times, step), steps > MISSING_FROM * step
    refused = uneven if gaps == REFUSE else uneven & ~jumps
    if refused.any():
        row = int(np.argmax(refused))
        advice = (
            'Samples are missing there: pass gaps="split" to cut the episode'
            if jumps[row]
            else f"Pass resample={step:.6g} to put them on an even time grid, or leave time= out and pass dt= if only "
            "the times are coarse"
        )
        raise KoopsieveError(
            f"Samples must be evenly spaced in time. Expected steps of {step:.6g}, the median, got {steps[row]:.6g} "
            f"after {episode.source.describe(row)}. {advice}."
        )
    return replace(episode, broken=jumps)


def insert_missing(episode: Episode, step: float, max_gap: int) -> tuple[Episode, int]:
    """Return the episode with a row of missing values for every sample that a short jump in time skips, and how many.

    A jump over more than `max_gap` samples, or over something other than whole steps, is left as it is.
    """
    times, base = episode.times, episode.source.time_base
    if times is None:
        return episode, 0
    counts = np.round(np.diff(times) / step)
    short = (counts > 1) & (counts <= max_gap + 1) & ~uneven_steps(times, step, np.maximum(counts, 1.0))
    missing = int(np.sum(counts[short] - 1))
    if not missing:
        return episode, 0
    if missing > _MAX_SAMPLES_PER_ROW * len(counts):
        raise KoopsieveError(
            f"max_gap={max_gap} would put {missing} rows into the {len(times)} of {episode.label}. "
            "Fill shorter gaps only."
        )
    before = np.repeat(np.flatnonzero(short), (counts[short] - 1).astype(int))  # the sample each new row follows
    ordinal = np.concatenate([np.arange(1, count) for count in counts[short].astype(int)])
    return Episode(
        np.insert(episode.states, before + 1, np.nan, axis=0),
        np.insert(episode.inputs, before + 1, np.nan, axis=0),
        episode.source.moved(np.insert(times, before + 1, times[before] + step * ordinal), base),
    ), missing


def on_even_grid(episodes: Sequence[Episode], reading: Reading) -> tuple[list[Episode], int]:
    """Return every stretch of the episodes that lasts a step or more on the new grid, and how many values in gaps."""
    step, max_gap = reading.resample or 1.0, reading.max_gap or 0
    found: list[Episode] = []
    filled = 0
    for episode in episodes:
        stretches = _stretches(episode, step, max_gap)
        if len(stretches) > 1 and reading.gaps == REFUSE:
            end = len(stretches[0].states)
            text = [episode.source.time_base.text(np.asarray(episode.times)[row]) for row in (end - 1, end)]
            raise KoopsieveError(
                f"Samples are missing after {episode.source.describe(end - 1)}: after time {text[0]} the next is "
                f'{text[1]}. Pass gaps="split" to cut the episode there.'
            )
        for stretch in stretches:
            even, count = _resampled(stretch, step, max_gap)
            found, filled = found + even, filled + count
    if not found:
        raise KoopsieveError(f"resample={step:g} is longer than every episode. Ask for a shorter step.")
    return found, filled


def _stretches(episode: Episode, step: float, max_gap: int) -> list[Episode]:
    """Return the episode cut where time jumps over more than any of its columns can be known over."""
    times, values = np.asarray(episode.times), np.concatenate([episode.states[:-1], episode.inputs], axis=1)
    reach = (max_gap + MISSING_FROM) * max(np.fmax(_own_steps(times[:-1], values, step), step))
    borders = [0, *(np.flatnonzero(np.diff(times) > reach) + 1).tolist(), len(times)]
    return [episode.cut(a, b) for a, b in pairwise(borders)]


def _resampled(episode: Episode, step: float, max_gap: int) -> tuple[list[Episode], int]:
    """Return the episode at times start, start + step, …, missing where a column has a gap; nothing if it is too short.

    The second value is how many values lie in gaps that were bridged.
    """
    times = np.asarray(episode.times)
    count = int(min(float(times[-1] - times[0]) / step + _SAME_TIME, MAX_WHOLE)) + 1
    if count < 2:
        return [], 0
    if count > _MAX_SAMPLES_PER_ROW * len(times):
        raise KoopsieveError(
            f"resample={step:g} would make {count} samples of the {len(times)} rows of {episode.label}. "
            "Ask for a longer step."
        )
    even = times[0] + step * np.arange(count)
    nearest = np.clip(np.searchsorted(times, even - _SAME_TIME * step), 0, len(times) - 1)
    grid = np.where(np.abs(times[nearest] - even) <= _SAME_TIME * step, times[nearest], even)
    states, in_gaps = _on_grid(times, episode.states, grid, step, max_gap, hold=False)
    inputs, held = _on_grid(times[:-1], episode.inputs, grid[:-1], step, max_gap, hold=True)
    base, offset = episode.source.time_base.finer(step)
    return [Episode(states, inputs, episode.source.moved(even + offset, base))], in_gaps + held


def _on_grid(
    times: FloatArray, samples: FloatArray, grid: FloatArray, step: float, max_gap: int, *, hold: bool
) -> tuple[FloatArray, int]:
    """Return samples at the times of a grid, missing where a column has a gap, and how many values lie in shorter ones.

    A column may miss up to `max_gap` samples of its own; they are interpolated, or held over with `hold`.
    """
    import pandas as pd

    frame = pd.DataFrame(samples, index=times).reindex(np.union1d(times, grid))
    here = frame.index.to_numpy()[:, None]
    known = pd.DataFrame(np.where(frame.notna(), here, np.nan), index=frame.index)
    before, after = known.ffill(), known.bfill().fillna(times[-1]) if hold else known.bfill()
    own = _own_steps(times, samples, step)
    reach = (max_gap + MISSING_FROM) * np.fmax(own, step)
    values = frame.ffill() if hold else frame.interpolate(method="index", limit_area="inside")
    bridged = (here - before < reach) if hold else (after - before <= reach)
    in_gap = bridged & frame.isna() & (after - before > MISSING_FROM * own)
    found = np.ascontiguousarray(values.where(bridged).loc[grid].to_numpy())
    found.flags.writeable = False
    return found, int(in_gap.loc[grid].to_numpy().sum())


def _own_steps(times: FloatArray, samples: FloatArray, step: float) -> FloatArray:
    """Return the median time between two samples of each column, `step` where there are no two."""
    known = [times[~np.isnan(column)] for column in samples.T]
    return np.array([float(np.median(np.diff(t))) if len(t) > 1 else step for t in known])


def _check_increasing(episode: Episode) -> None:
    if episode.times is None:
        return
    backwards = np.diff(episode.times) <= 0
    if backwards.any():
        row = int(np.argmax(backwards))
        text = [episode.source.time_base.text(episode.times[i]) for i in (row, row + 1)]
        raise KoopsieveError(
            f"Time does not increase after {episode.source.describe(row)}: {text[0]}, then {text[1]}. If a new episode "
            "starts there, name the column that tells episodes apart (episode=…); otherwise sort the rows by time and "
            "remove doubles."
        )
