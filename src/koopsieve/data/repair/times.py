"""The times of samples: checked to be evenly spaced, and the source of the sample time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from koopsieve._types import BoolArray, FloatArray, KoopsieveError
from koopsieve.data.episodes import Episode

STEP_TOLERANCE = 1e-3  # of a step; what resolution of the clock itself cannot show is allowed on top
MAX_INSERTED_PER_ROW = 1000
MISSING_FROM = 1.5  # steps; above it samples are missing, below it the clock is uneven


def uneven_steps(times: FloatArray, step: float, counts: FloatArray | float = 1.0) -> BoolArray:
    """Return which steps differ from `counts` times `step` by more than a clock does, shape (T-1,)."""
    allowed = STEP_TOLERANCE * step + 4 * np.spacing(np.abs(times).max(initial=0.0))
    uneven: BoolArray = np.abs(np.diff(times) - counts * step) > counts * allowed
    return uneven


def median_step(episodes: Sequence[Episode]) -> float | None:
    """Return the median step of all episodes together; None without times.

    Raises
    ------
    KoopsieveError
        If time does not increase.
    """
    for episode in episodes:
        _check_increasing(episode)
    steps = [np.diff(episode.times) for episode in episodes if episode.times is not None]
    return float(np.median(np.concatenate(steps))) if steps else None


def mark_jumps(episode: Episode, step: float, gaps: str) -> Episode:
    """Return the episode with jumps in time marked as broken transitions.

    Raises
    ------
    KoopsieveError
        If steps differ; jumps over missing samples pass unless gaps="raise".
    """
    if episode.times is None:
        return episode
    steps = np.diff(episode.times)
    uneven, jumps = uneven_steps(episode.times, step), steps > MISSING_FROM * step
    refused = uneven if gaps == "raise" else uneven & ~jumps
    if refused.any():
        row = int(np.argmax(refused))
        advice = (
            'Samples are missing there: pass gaps="split" to cut the episode'
            if jumps[row]
            else f"Pass resample={step:.6g} to put them on an even clock, or leave time= out and pass dt= if only the "
            "clock is coarse"
        )
        raise KoopsieveError(
            f"Samples must be evenly spaced in time. Expected steps of {step:.6g}, the median, got {steps[row]:.6g} "
            f"from row {row} to row {row + 1} of {episode.label}. {advice}."
        )
    return replace(episode, broken=jumps)


def insert_missing(episode: Episode, step: float, max_gap: int) -> tuple[Episode, int]:
    """Return the episode with a row of missing values for every sample that a short jump in time skips, and how many.

    A jump over more than `max_gap` samples, or over something other than whole steps, is left as it is.
    """
    if episode.times is None:
        return episode, 0
    counts = np.round(np.diff(episode.times) / step)
    short = (counts > 1) & (counts <= max_gap + 1) & ~uneven_steps(episode.times, step, np.maximum(counts, 1.0))
    missing = int(np.sum(counts[short] - 1))
    if not missing:
        return episode, 0
    if missing > MAX_INSERTED_PER_ROW * len(counts):
        raise KoopsieveError(
            f"max_gap={max_gap} would put {missing} rows into the {len(episode.times)} of {episode.label}. "
            "Fill shorter holes only."
        )
    before = np.repeat(np.flatnonzero(short), (counts[short] - 1).astype(int))  # the sample each new row follows
    ordinal = np.concatenate([np.arange(1, count) for count in counts[short].astype(int)])
    times = np.insert(episode.times, before + 1, episode.times[before] + step * ordinal)
    states = np.insert(episode.states, before + 1, np.nan, axis=0)
    inputs = np.insert(episode.inputs, before + 1, np.nan, axis=0)
    return replace(episode, states=states, inputs=inputs, times=times, first_row=None), missing


def _check_increasing(episode: Episode) -> None:
    if episode.times is None:
        return
    backwards = np.diff(episode.times) <= 0
    if backwards.any():
        row = int(np.argmax(backwards))
        raise KoopsieveError(
            f"Time does not increase from row {row} to row {row + 1} of {episode.label}: {episode.times[row]:.10g}, "
            f"then {episode.times[row + 1]:.10g}. If a new episode starts there, name the column that tells episodes "
            "apart (episode=…); otherwise sort the rows by time and remove doubles."
        )
