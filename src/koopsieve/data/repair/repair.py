"""From episodes as they were read to episodes without holes on an even clock, with counts of all that was done.

In this order: an even clock (resample), rows put in and short holes filled (interpolate), cuts at what is left (split).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from koopsieve._types import KoopsieveError, whole_number
from koopsieve.data.episodes import Episode
from koopsieve.data.provenance import Counts, Provenance, Source
from koopsieve.data.reading.reading import GAPS
from koopsieve.data.repair.gaps import check_samples, complete, filled, split_at_gaps
from koopsieve.data.repair.resample import resampled, stretches
from koopsieve.data.repair.times import insert_missing, mark_jumps, median_step
from koopsieve.data.signals import check_dt
from koopsieve.data.warn import warn_user

_SAME_STEP = 1e-3  # relative; sample times nearer than this are one


@dataclass(frozen=True)
class Repair:
    """What to do with missing samples and uneven times.

    Parameters
    ----------
    gaps : {"raise", "split", "interpolate"}
        Refuse missing samples, cut the episode there, or fill short holes in and cut at the others.
    max_gap : int, optional
        The longest hole to fill, in samples; must be stated for gaps="interpolate".
    resample : float, optional
        Put samples on an even clock with this step first.
    """

    gaps: str = "raise"
    max_gap: int | None = None
    resample: float | None = None

    def __post_init__(self) -> None:
        if self.gaps not in GAPS:
            raise KoopsieveError(f'gaps must be "raise", "split" or "interpolate". Got {self.gaps!r}.')
        if self.max_gap is not None:
            whole_number("max_gap, the longest hole in samples,", self.max_gap, 1)
            if self.gaps != "interpolate":
                raise KoopsieveError(f'max_gap goes with gaps="interpolate". Got gaps={self.gaps!r}.')
        elif self.gaps == "interpolate":
            raise KoopsieveError('gaps="interpolate" needs max_gap, the longest hole to fill, in samples.')
        if self.resample is not None:
            check_dt(self.resample, "resample, the new sample time,")


@dataclass(frozen=True, eq=False)
class Repaired:
    """Episodes without holes, their sample time, and what was done."""

    episodes: tuple[Episode, ...]
    dt: float
    provenance: Provenance


def repaired(
    episodes: Sequence[Episode],
    names: tuple[Sequence[str], Sequence[str]],
    dt: float | None,
    repair: Repair,
    notes: tuple[str, ...] = (),
) -> Repaired:
    """Return episodes without missing samples on an even clock.

    Parameters
    ----------
    episodes : sequence of Episode
        NaN marks a missing sample.
    names : pair of sequences of str
        Of states and inputs, for the messages.
    dt : float, optional
        Sample time, if it was given; otherwise the median step, or one.
    repair : Repair
    notes : tuple of str
        What was found while reading.

    Raises
    ------
    KoopsieveError
        If samples are missing and must not be, a sample is infinite, nothing is left, or `dt` contradicts the times.
    """
    read = sum(len(episode.states) for episode in episodes)
    step = median_step(episodes)
    sample_time = _sample_time(dt, step, repair.resample)
    inserted = values = 0
    if repair.resample is not None:
        _check(episodes, names, allow_missing=True)
        whole = _on_even_clock(episodes, repair.resample, repair)
    else:
        whole, inserted = _evenly_timed(episodes, step, repair)
    _check(whole, names, allow_missing=repair.gaps != "raise")
    if repair.max_gap is not None:
        pairs = [filled(episode, repair.max_gap) for episode in whole]
        whole, values = [episode for episode, _ in pairs], sum(count for _, count in pairs)
    pieces = list(whole) if repair.gaps == "raise" else [piece for one in whole for piece in split_at_gaps(one)]
    _report_losses(whole, pieces, repair.gaps)
    resampled_to = sum(len(episode.states) for episode in whole) if repair.resample is not None else 0
    kept = sum(len(piece.states) for piece in pieces)
    done = Counts(
        episodes_read=len(episodes),
        rows_read=read,
        rows_inserted=inserted,
        values_filled=values,
        samples_resampled=resampled_to,
        rows_dropped=(resampled_to or read + inserted) - kept,
        notes=notes,
    )
    sources = tuple(Source(one.label, one.first_row, one.times, one.clock, one.name) for one in pieces)
    return Repaired(tuple(pieces), sample_time, Provenance(sources, (done,)))


def _sample_time(dt: float | None, step: float | None, resample: float | None) -> float:
    """Return the sample time, of which what was given, what times say and what was asked for must agree."""
    if resample is not None and step is None:
        raise KoopsieveError("resample= needs the times of the samples. Name their column with time=.")
    if dt is not None:
        check_dt(dt)
    told = step if resample is None else resample
    if dt is not None and told is not None and abs(dt / told - 1) > _SAME_STEP:
        what = "the times, whose median step is" if resample is None else "resample="
        raise KoopsieveError(f"dt={dt:g} contradicts {what} {told:.6g}. Leave one of the two out.")
    if resample is not None:
        return float(resample)
    return dt if dt is not None else 1.0 if step is None else step


def _evenly_timed(episodes: Sequence[Episode], step: float | None, repair: Repair) -> tuple[list[Episode], int]:
    """Return episodes with jumps in time filled with missing rows, or marked as broken, and how many rows that were."""
    if step is None:
        return list(episodes), 0
    pairs = [insert_missing(episode, step, repair.max_gap or 0) for episode in episodes]
    return [mark_jumps(episode, step, repair.gaps) for episode, _ in pairs], sum(count for _, count in pairs)


def _on_even_clock(episodes: Sequence[Episode], step: float, repair: Repair) -> list[Episode]:
    """Return every stretch of the episodes that lasts at least one step on the new clock."""
    found: list[Episode] = []
    for episode in episodes:
        parts = stretches(episode, step, repair.max_gap or 0)
        if len(parts) > 1 and repair.gaps == "raise":
            before, after = parts[0].times, parts[1].times
            ends = (float("nan") if t is None else t[i] for t, i in ((before, -1), (after, 0)))
            raise KoopsieveError(
                f"Samples are missing in {episode.label}: after time {next(ends):.10g} the next is {next(ends):.10g}. "
                'Pass gaps="split" to cut the episode there.'
            )
        found += [even for part in parts if (even := resampled(part, step, repair.max_gap or 0)) is not None]
    if not found:
        raise KoopsieveError(f"resample={step:g} is longer than every episode. Ask for a shorter step.")
    return found


def _check(episodes: Sequence[Episode], names: tuple[Sequence[str], Sequence[str]], *, allow_missing: bool) -> None:
    for episode in episodes:
        check_samples("State", episode.label, episode.states, names[0], allow_missing=allow_missing)
        check_samples("Input", episode.label, episode.inputs, names[1], allow_missing=allow_missing)


def _report_losses(episodes: Sequence[Episode], pieces: Sequence[Episode], gaps: str) -> None:
    total = sum(len(episode.states) for episode in episodes)
    known = sum(int(complete(episode.states).sum()) for episode in episodes)
    kept = sum(len(piece.states) for piece in pieces)
    if not pieces:
        raise KoopsieveError(
            f"Nothing is left after cutting at missing samples: none of the {known} complete samples (of {total}) is "
            "followed by another. Fill the gaps in, or leave out the column that is missing most often."
        )
    if kept < known:
        warn_user(
            f"gaps={gaps!r} lost {known - kept} complete samples of {total}, because they stood alone between missing "
            f"ones; {kept} samples in {len(pieces)} episodes are left."
        )
