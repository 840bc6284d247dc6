"""Missing and infinite samples: refused with their place, or cut out so that no transition spans one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from koopsieve._types import BoolArray, FloatArray, KoopsieveError
from koopsieve.data.episodes import Episode
from koopsieve.data.warn import warn_user

GAPS = ("raise", "split")


def handle_gaps(
    episodes: Sequence[Episode], state_names: Sequence[str], input_names: Sequence[str], gaps: str
) -> list[Episode]:
    """Return episodes without missing samples.

    Parameters
    ----------
    episodes : sequence of Episode
        NaN marks a missing sample.
    state_names, input_names : sequence of str
        For the messages.
    gaps : {"raise", "split"}
        Refuse missing samples, or cut the episode there. Infinite samples are refused either way.
    """
    if gaps not in GAPS:
        raise KoopsieveError(f'gaps must be "raise" or "split". Got {gaps!r}.')
    for episode in episodes:
        check_samples("State", episode.label, episode.states, state_names, allow_missing=gaps == "split")
        check_samples("Input", episode.label, episode.inputs, input_names, allow_missing=gaps == "split")
    if gaps == "raise":
        return list(episodes)
    pieces = [piece for episode in episodes for piece in split_at_gaps(episode)]
    _report_losses(episodes, pieces)
    return pieces


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
        raise KoopsieveError(
            f"{kind} {_first(missing, names)} of {label} is NaN (missing){_others(missing)}. "
            'Fill it in, or pass gaps="split" to cut the episode there.'
        )


def split_at_gaps(episode: Episode) -> Iterator[Episode]:
    """Yield the longest stretches of the episode in which every sample and every transition is known.

    A state missing at row k makes sample k unusable; an input missing at row k makes the transition from k to k+1
    unusable. Stretches of a single sample hold no transition and are left out.
    """
    known = _known(episode.states)
    linked = known[:-1] & known[1:] & _known(episode.inputs)
    if episode.broken is not None:
        linked = linked & ~episode.broken
    for start, stop in _runs(linked):
        states, inputs = episode.states[start : stop + 1], episode.inputs[start:stop]
        yield Episode(f"rows {start} to {stop} of {episode.label}", states, inputs)


def _known(samples: FloatArray) -> BoolArray:
    complete: BoolArray = np.logical_not(np.isnan(samples).any(axis=1))
    return complete


def _runs(flags: BoolArray) -> Iterator[tuple[int, int]]:
    """Yield [start, stop) of every run of True."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)


def _report_losses(episodes: Sequence[Episode], pieces: Sequence[Episode]) -> None:
    total = sum(len(episode.states) for episode in episodes)
    known = sum(int(_known(episode.states).sum()) for episode in episodes)
    kept = sum(len(piece.states) for piece in pieces)
    if not pieces:
        raise KoopsieveError(
            f"Nothing is left after cutting at missing samples: none of the {known} complete samples (of {total}) is "
            "followed by another. Fill the gaps in, or leave out the column that is missing most often."
        )
    if kept < known:
        warn_user(
            f'gaps="split" lost {known - kept} complete samples of {total}, because they stood alone between missing '
            f"ones; {kept} samples in {len(pieces)} episodes are left."
        )


def _first(flags: BoolArray, names: Sequence[str]) -> str:
    row, column = (int(i) for i in np.argwhere(flags)[0])
    return f"{names[column]!r} at row {row} (counted from 0)"


def _others(flags: BoolArray) -> str:
    more = int(flags.sum()) - 1
    return f", and {more} more like it" if more else ""
