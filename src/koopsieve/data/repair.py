"""From episodes as they were read to episodes without gaps in even steps of time, with counts of all that was done.

In this order: single samples far outside (kept, or taken for missing), an even time grid (resample), rows inserted and
short gaps filled (interpolate), cuts at what is left (split). No transition ever spans a gap that was not filled.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from koopsieve._types import BoolArray, FloatArray, KoopsieveError, warn_user
from koopsieve.data.episodes import Episode, warn_of_oddities
from koopsieve.data.outliers import handle_outliers
from koopsieve.data.provenance import Counts, Provenance
from koopsieve.data.resampling import insert_missing, mark_jumps, median_step, on_even_grid
from koopsieve.data.signals import Signals
from koopsieve.io.reading.columns import DROP, REFUSE, Reading, check_dt, check_names

_SAME_STEP = 1e-3  # relative; sample times nearer than this are one
_SLOW_COLUMN_SHARE = 0.5  # of the rows: a column missing in more of them is sampled at another rate


def repaired(
    episodes: Sequence[Episode],
    names: tuple[tuple[str, ...], tuple[str, ...]],
    dt: float | None,
    reading: Reading,
    notes: tuple[str, ...] = (),
) -> tuple[tuple[FloatArray, ...], tuple[FloatArray, ...], Signals, Provenance]:
    """Return the states and inputs of episodes without missing samples (NaN), their signals, and what was done.

    Without `dt` the sample time is the median step, or one. `reading` says what to do about gaps and uneven times,
    `notes` what was found while reading.
    """
    check_names(*names)
    rows_read, step = _samples(episodes), median_step(episodes)
    _check(episodes, names, allow_missing=reading.gaps != REFUSE or reading.resample is not None)
    episodes, far = handle_outliers(episodes, names, reading.outliers)
    cuts = reading.gaps != REFUSE or (bool(far) and reading.outliers == DROP)
    sample_time = _sample_time(dt, step, reading.resample)
    inserted = values = 0
    if reading.resample is not None:
        whole, values = on_even_grid(episodes, reading)
    else:
        whole, inserted = _evenly_timed(episodes, step, reading)
    _check(whole, names, allow_missing=cuts)
    if reading.max_gap is not None:
        pairs = [_filled(episode, reading.max_gap) for episode in whole]
        whole, values = [episode for episode, _ in pairs], values + sum(count for _, count in pairs)
    pieces = [piece for one in whole for piece in _split_at_gaps(one)] if cuts else whole
    _report_losses(whole, pieces, reading.gaps)
    resampled = _samples(whole) if reading.resample is not None else 0
    done = Counts(
        episodes_read=len(episodes),
        rows_read=rows_read,
        rows_inserted=inserted,
        values_filled=values,
        samples_resampled=resampled,
        rows_dropped=(resampled or rows_read + inserted) - _samples(pieces),
        notes=(*notes, far) if far else notes,
    )
    states, inputs = tuple(piece.states for piece in pieces), tuple(piece.inputs for piece in pieces)
    warn_of_oddities(states, inputs, names)
    provenance = Provenance(tuple(one.source for one in pieces), (done,))
    return states, inputs, Signals(*names, sample_time), provenance


def _samples(episodes: Sequence[Episode]) -> int:
    return sum(len(episode.states) for episode in episodes)


def _sample_time(dt: float | None, step: float | None, resample: float | None) -> float:
    """Return the sample time, of which what was given, the times and what was asked for must agree."""
    if resample is not None and step is None:
        raise KoopsieveError("resample= needs the times of the samples. Name their column with time=.")
    if dt is not None:
        check_dt(dt)
    known = step if resample is None else resample
    if dt is not None and known is not None and abs(dt / known - 1) > _SAME_STEP:
        what = "the times, whose median step is" if resample is None else "resample="
        raise KoopsieveError(f"dt={dt:g} contradicts {what} {known:.6g}. Leave one of the two out.")
    if resample is not None:
        return float(resample)
    return dt if dt is not None else 1.0 if step is None else step


def _evenly_timed(episodes: Sequence[Episode], step: float | None, reading: Reading) -> tuple[list[Episode], int]:
    """Return episodes with jumps in time filled with missing rows, or marked as broken, and how many rows that were."""
    if step is None:
        return list(episodes), 0
    pairs = [insert_missing(episode, step, reading.max_gap or 0) for episode in episodes]
    return [mark_jumps(episode, step, reading.gaps) for episode, _ in pairs], sum(count for _, count in pairs)


def _check(episodes: Sequence[Episode], names: tuple[Sequence[str], Sequence[str]], *, allow_missing: bool) -> None:
    for episode in episodes:
        _check_samples("State", episode, episode.states, names[0], allow_missing)
        _check_samples("Input", episode, episode.inputs, names[1], allow_missing)


def _check_samples(kind: str, episode: Episode, samples: FloatArray, names: Sequence[str], allow_missing: bool) -> None:
    """Refuse the first infinite sample, and the first NaN unless missing samples are allowed."""
    if np.isfinite(samples).all():
        return
    infinite, missing = np.isinf(samples), np.isnan(samples)
    if infinite.any():
        raise KoopsieveError(
            f"{kind} {_first(infinite, names, episode)} is infinite{_others(infinite)}. "
            'Remove or repair the sample; if it was lost, write NaN and pass gaps="split".'
        )
    if not allow_missing:
        shares = zip(names, missing.mean(axis=0), strict=True)
        slow = [repr(name) for name, share in shares if share > _SLOW_COLUMN_SHARE]
        advice = (
            f"{', '.join(slow)} may be sampled more slowly than the rest: pass resample= with time= to put all columns "
            'on one time grid. Otherwise pass gaps="split" to cut the episode there.'
            if slow
            else 'Fill it in, or pass gaps="split" to cut the episode there.'
        )
        raise KoopsieveError(f"{kind} {_first(missing, names, episode)} is NaN (missing){_others(missing)}. {advice}")


def _first(flags: BoolArray, names: Sequence[str], episode: Episode) -> str:
    row, column = (int(i) for i in np.argwhere(flags)[0])
    return f"{names[column]!r} at {episode.source.describe(row)}"


def _others(flags: BoolArray) -> str:
    more = int(flags.sum()) - 1
    return f", and {more} more like it" if more else ""


def _filled(episode: Episode, max_gap: int) -> tuple[Episode, int]:
    """Return the episode with gaps of at most `max_gap` samples filled in, and how many values that were.

    Outputs are interpolated linearly; inputs are held from the last one known. Nothing is filled over a transition that
    is broken, or at an end.
    """
    states, inputs = episode.states.copy(), episode.inputs.copy()
    cuts = [] if episode.broken is None else (np.flatnonzero(episode.broken) + 1).tolist()
    count = 0
    for start, stop in pairwise([0, *cuts, len(states)]):
        count += _fill(states[start:stop], max_gap, hold=False) + _fill(inputs[start : stop - 1], max_gap, hold=True)
    states.flags.writeable = inputs.flags.writeable = False
    return replace(episode, states=states, inputs=inputs), count


def _fill(samples: FloatArray, max_gap: int, *, hold: bool) -> int:
    """Fill short gaps in place; return how many values that were."""
    if not np.isnan(samples).any():
        return 0
    import pandas as pd

    frame = pd.DataFrame(samples)
    missing = frame.isna()
    runs = (missing != missing.shift()).cumsum()
    lengths = pd.DataFrame({j: flags.groupby(runs[j]).transform("sum") for j, flags in missing.items()})
    known = frame.ffill() if hold else frame.interpolate(limit_area="inside")
    short = (missing & (lengths <= max_gap) & known.notna()).to_numpy()
    samples[short] = known.to_numpy()[short]
    return int(short.sum())


def _split_at_gaps(episode: Episode) -> Iterator[Episode]:
    """Yield the longest stretches of the episode in which every sample and every transition is known.

    A state missing at row k makes sample k unusable; an input missing at row k makes the transition from k to k+1
    unusable. Stretches of a single sample hold no transition and are left out.
    """
    known = _complete(episode.states)
    linked = known[:-1] & known[1:] & _complete(episode.inputs)
    if episode.broken is not None:
        linked = linked & ~episode.broken
    edges = np.flatnonzero(np.diff(np.concatenate([[False], linked, [False]]).astype(np.int8)))
    for start, stop in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
        yield episode.cut(start, stop + 1)


def _complete(samples: FloatArray) -> BoolArray:
    """Return which rows miss nothing."""
    known: BoolArray = np.logical_not(np.isnan(samples).any(axis=1))
    return known


def _report_losses(episodes: Sequence[Episode], pieces: Sequence[Episode], gaps: str) -> None:
    total, kept = _samples(episodes), _samples(pieces)
    known = sum(int(_complete(episode.states).sum()) for episode in episodes)
    if not pieces:
        raise KoopsieveError(
            f"Nothing is left after cutting at missing samples: none of the {known} complete samples (of {total}) is "
            "followed by another. Fill the gaps in, or leave out the column that is missing most often."
        )
    if kept < known:
        warn_user(
            f"gaps={gaps!r} lost {known - kept} complete samples of {total}, because they stood alone between missing "
            f"ones; {kept} samples are left, in {len(pieces)} episode{'s'[: len(pieces) != 1]}."
        )
