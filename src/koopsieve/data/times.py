"""The times of samples: checked to be evenly spaced, and the source of the sample time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from koopsieve._types import KoopsieveError
from koopsieve.data.episodes import Episode

TOLERANCE = 1e-3  # of a step; what resolution of the clock itself cannot show is allowed on top
JUMP = 1.5  # steps; above it samples are missing, below it the clock is uneven


def check_times(episodes: Sequence[Episode], gaps: str) -> tuple[list[Episode], float | None]:
    """Return the episodes with jumps in time marked as broken transitions, and the median step; None without times.

    Raises
    ------
    KoopsieveError
        If time does not increase, or its steps differ; jumps over missing samples pass with gaps="split".
    """
    for episode in episodes:
        _check_increasing(episode)
    steps = [np.diff(episode.times) for episode in episodes if episode.times is not None]
    if not steps:
        return list(episodes), None
    step = float(np.median(np.concatenate(steps)))
    return [_mark_jumps(episode, step, gaps) for episode in episodes], step


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


def _mark_jumps(episode: Episode, step: float, gaps: str) -> Episode:
    if episode.times is None:
        return episode
    steps = np.diff(episode.times)
    allowed = TOLERANCE * step + 4 * np.spacing(np.abs(episode.times).max())
    uneven, jumps = np.abs(steps - step) > allowed, steps > JUMP * step
    refused = uneven & ~jumps if gaps == "split" else uneven
    if refused.any():
        row = int(np.argmax(refused))
        advice = (
            'Samples are missing there: pass gaps="split" to cut the episode'
            if jumps[row]
            else "Resample to even steps, or, if only the clock is coarse, leave time= out and pass dt="
        )
        raise KoopsieveError(
            f"Samples must be evenly spaced in time. Expected steps of {step:.6g}, the median, got {steps[row]:.6g} "
            f"from row {row} to row {row + 1} of {episode.label}. {advice}."
        )
    return replace(episode, broken=jumps)
