"""The data of one run in their parts: to learn from, to validate on, to judge on; no window lies in two of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from koopsieve._types import KoopsieveError, require_kind
from koopsieve.data import Embedding, Stream, Trajectories, embedded
from koopsieve.data.delays import long_enough, require_recorded
from koopsieve.data.holding_out import hold_out, in_memory, sample
from koopsieve.data.provenance import Counts, Provenance
from koopsieve.data.warn import warn_user
from koopsieve.evaluate import Errors, judge
from koopsieve.model import Model
from koopsieve.settings_checks import check_share
from koopsieve.sieve.result import Judged

Data = Trajectories | Stream

MAX_NUMBERS_IN_MEMORY = 10_000_000  # a stream with fewer is read whole, so that it is split as trajectories are
MAX_WINDOW_ROWS = 50_000  # validation samples that every candidate predicts
MAX_JUDGED_ROWS = 200_000  # test samples that the model and the baselines predict


@dataclass(frozen=True, eq=False)
class Parts:
    """The data in their parts: as they were measured, or with delays embedded.

    Parameters
    ----------
    learn, validation : Trajectories or Stream
    windows : Trajectories
        The validation data in memory: all of them, or a sample of a stream.
    judged : Judged
        What errors are reported on.
    validated : bool
        Whether anything was held out for validation.
    given : tuple
        The data as they came: to learn from, to validate on, to judge on.
    """

    learn: Data
    validation: Data
    windows: Trajectories
    judged: Judged
    validated: bool
    given: tuple[object, ...] = ()

    @property
    def provenance(self) -> Provenance:
        """Where the data come from, and all that was done to them until they were used.

        Of a stream it is known only how much was read.
        """
        used = (self.learn, self.validation, *([] if self.judged.on == "validation" else [self.judged.data]))
        there = [one.provenance for one in self.given if isinstance(one, Trajectories)]
        steps = [one.provenance for one in used if isinstance(one, Trajectories)]
        streams = [one for one in self.given if isinstance(one, Stream)]
        if not streams:
            return replace(Provenance.join(there), steps=Provenance.join([*there, *steps]).steps)
        rows = sum(one.n_samples or 0 for one in streams)
        note = "Read as a stream, piece by piece."
        return Provenance.join([*there, Provenance(steps=(Counts(rows_read=rows, notes=(note,)),))])

    @property
    def samples(self) -> dict[str, int]:
        """How many samples there are to learn from, to validate on and to judge on; 0 where it is not known."""
        counts = {"learn": self.learn.n_samples, "validation": self.validation.n_samples if self.validated else 0}
        judged = 0 if self.judged.on == "validation" else self.judged.data.n_samples
        return {**{name: count or 0 for name, count in counts.items()}, "judged": judged}

    def errors(self, model: Model, before: Model, horizons: Sequence[int]) -> Errors:
        """Return a model's errors on the judged data; on validation data those of the model that had not seen them."""
        judged = before if self.judged.on == "validation" else model
        return judge(judged, self.judged.data, horizons, self.judged.truth)

    def embedded(self, embedding: Embedding, deepest: Embedding | None = None) -> Parts:
        """Return the parts with delays.

        Parameters
        ----------
        embedding : Embedding
        deepest : Embedding, optional
            Predictions of all models that are compared start where this one could: windows of models with fewer delays
            are cut, so that all start at the same samples.
        """
        learn, held = embedded(self.learn, embedding), embedded(self.validation, embedding)
        learn.signals.require_same(held.signals, "Learning and validation data")
        windows = _trimmed(embedded(self.windows, embedding), embedding if deepest is None else deepest)
        if self.judged.on == "validation":
            return Parts(learn, held, windows, Judged("validation", windows), self.validated, self.given)
        judged = embedded(self.judged.data, embedding)
        learn.signals.require_same(judged.signals, "Learning and test data")
        truth = None if self.judged.truth is None else embedded(self.judged.truth, embedding)
        return Parts(learn, held, windows, Judged(self.judged.on, judged, truth), self.validated, self.given)


def _trimmed(data: Trajectories, deepest: Embedding) -> Trajectories:
    """Return what a deeper embedding would have left of each episode."""
    first, last = deepest.lost - data.embedding.lost, deepest.ahead - data.embedding.ahead
    if not first and not last:
        return data
    kept = [(e, first, len(x) - last) for e, x in enumerate(data.states) if len(x) - last - first > 1]
    return data.stretches(kept)


def divide(
    data: Data,
    delays: Embedding | None,
    validation: Data | float,
    test: Data | float | None,
    truth: Trajectories | None,
    horizons: tuple[int, ...],
) -> Parts:
    """Return the parts of the data; the arguments are those of `sift`, `delays` the deepest of them, if known."""
    require_recorded(data)
    _check_parts(validation, test, truth)
    data, validation, test = (
        _usable(one, delays) for one in (in_memory(data, MAX_NUMBERS_IN_MEMORY), validation, test)
    )
    longest, rest, on = horizons[-1], data, "test"
    if isinstance(test, int | float):
        rest, test = hold_out(data, float(test), longest)
        on = "held-out"
    validated = not (isinstance(validation, int | float) and validation == 0)
    if isinstance(validation, Trajectories | Stream):
        learn, held = rest, validation
    elif validated:
        learn, held = hold_out(rest, float(validation), longest)
    else:
        learn = held = rest
    stretch = 20 * (longest + 1)
    windows = sample(held, MAX_WINDOW_ROWS, stretch)
    judged = Judged("validation", windows)
    if test is not None:
        judged = Judged(on, sample(test, MAX_JUDGED_ROWS, stretch), truth)
    given = (data, validation, test if on == "test" else None)
    return Parts(learn, held, windows, judged, validated, given)


def _usable(data: Any, delays: Embedding | None) -> Any:
    """Return raw trajectories without the episodes that are too short for the delays; anything else as it is."""
    if delays is None or not isinstance(data, Trajectories) or not data.embedding.trivial:
        return data
    return long_enough(data, delays)


def _check_parts(validation: object, test: object, truth: object) -> None:
    """Refuse parts of the data that are neither data nor a share of them."""
    if not isinstance(validation, Trajectories | Stream):
        check_share("validation, the share of the data held out to choose on,", validation, zero=True)
    if test is not None and not isinstance(test, Trajectories | Stream):
        check_share("test, the share of the data held out to judge on,", test)
    if truth is not None:
        require_kind("truth as Trajectories", truth, Trajectories, "Build them with Trajectories.from_arrays.")


def possible_horizons(horizons: tuple[int, ...], parts: Parts) -> tuple[int, ...]:
    """Return the horizons that the data to choose and to judge on allow; the others are left out with a warning.

    Raises
    ------
    KoopsieveError
        If they allow none.
    """
    allowed = min(max(map(len, data.states)) - 1 for data in (parts.windows, parts.judged.data))
    kept = tuple(h for h in horizons if h <= allowed)
    if not kept:
        raise KoopsieveError(
            f"The data held out would have to reach {horizons[0]} steps ahead, but allow {allowed}. Ask for shorter "
            "horizons, or give more data."
        )
    if kept != horizons:
        warn_user(
            f"Horizons beyond {allowed} are left out: no stretch of the data that models are chosen or judged on is "
            "longer. Give more data to look further ahead."
        )
    return kept
