"""How the data of one run are divided into parts: no window lies in two of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np

from koopsieve._types import KoopsieveError, sorted_horizons, warn_user
from koopsieve.data import Embedding, Stream, Trajectories
from koopsieve.data.delays import long_enough, require_dataset
from koopsieve.data.splitting import Stretch, hold_out, in_memory, sample_and_count, thinned, with_lead
from koopsieve.evaluate.judgement import LONGEST_RUN
from koopsieve.io.reading.columns import KEEP
from koopsieve.sifting.parts import MAX_UNCUT_ROWS, EvaluationData, Parts
from koopsieve.sifting.settings import Data, SiftSettings

Given = TypeVar("Given", Data, Data | float, Data | float | None)

MAX_NUMBERS_IN_MEMORY = 10_000_000  # a stream with fewer is read whole, so that it is split as trajectories are
MAX_WINDOW_ROWS = 50_000  # validation samples that every candidate predicts
MAX_JUDGED_ROWS = 200_000  # test samples that the model and the baselines predict
MAX_FOLDED_ROWS = 5_000  # samples to learn from up to which the validation data alone would decide too little
MOST_FOLDED_ROWS = 100_000  # beyond which folds would take long, however slowly the outputs change
USUAL_MEMORY = 100  # samples; where outputs change so much more slowly, as many more rows tell no more
FOLDS = 3  # beside the validation data
LEAD = 14  # samples before short held-out stretches that delays reach into


def divide(data: Data, settings: SiftSettings) -> Parts:
    """Return the parts of the data, without delays, and the horizons that they allow."""
    require_dataset(data)
    delays, horizons = settings.delays_of(data), sorted_horizons(settings.horizons)
    deepest = None if delays is None else max(delays, key=lambda one: one.lost + one.input_lead)
    rest = _usable(in_memory(_outliers_named(data), MAX_NUMBERS_IN_MEMORY), deepest)
    validation = _usable(_outliers_named(settings.validation), deepest)
    test = _usable(_outliers_named(settings.test), deepest)
    given, longest, on = (rest, validation, test), horizons[-1], "test"
    if isinstance(test, int | float):
        rest, test = hold_out(rest, float(test), longest)
        on = "held-out"
    validated = not (isinstance(validation, int | float) and validation == 0)
    if isinstance(validation, Trajectories | Stream):
        learn, held = rest, validation
    elif validated:
        learn, held = hold_out(rest, float(validation), longest)
    else:
        learn = held = rest
    stretch = 20 * (longest + 1)
    sampled, count = sample_and_count(held, MAX_WINDOW_ROWS, stretch)
    windows, lead = thinned(sampled, MAX_WINDOW_ROWS, stretch), 0
    reach = _lead(windows, longest) if validated else 0
    if reach and isinstance(rest, Trajectories) and isinstance(validation, int | float):
        windows, lead = with_lead(rest, float(validation), longest, reach)
    _refuse_constant_outputs(learn)
    judged = EvaluationData("validation", windows)
    if test is not None:
        judged = EvaluationData(on, sample_and_count(test, MAX_JUDGED_ROWS, stretch)[0], settings.truth)
    uncut = thinned(rest, MAX_UNCUT_ROWS, LONGEST_RUN) if isinstance(rest, Trajectories) else None
    whole = uncut is not None and uncut.n_samples == rest.n_samples and isinstance(validation, int | float)
    parts = Parts(learn, held, windows, judged, validated, horizons, given, count, uncut=uncut, whole=whole, lead=lead)
    parts = replace(parts, horizons=_possible_horizons(parts, deepest))
    return replace(parts, cuts=_fold_cuts(parts))


def _refuse_constant_outputs(data: Data) -> None:
    """Refuse outputs that have one value only: there is nothing to learn, and no spread to compare errors with.

    A stream is read only until every output has changed.
    """
    low, high, count = np.full(data.n_outputs, np.inf), np.full(data.n_outputs, -np.inf), 0
    for x in data.state_blocks():
        outputs, count = x[:, : data.n_outputs], count + len(x)
        low, high = (
            (np.minimum(low, outputs.min(axis=0)), np.maximum(high, outputs.max(axis=0))) if count else (low, high)
        )
        if (low < high).all():
            return
    for name, value, changed in zip(data.output_names, low, low < high, strict=True):
        if not changed:
            raise KoopsieveError(
                f"Output {name!r} never changes: it is {value:g} in all {count} samples to learn from. Leave it "
                "out of the outputs, or give data in which it changes."
            )


def _outliers_named(data: Given) -> Given:
    """Return a stream in which samples far outside were looked for; anything else as it is."""
    return data.with_outliers(KEEP) if isinstance(data, Stream) else data


def _usable(data: Given, delays: Embedding | None) -> Given:
    """Return raw trajectories without the episodes that are too short for the delays; anything else as it is."""
    if delays is None or not isinstance(data, Trajectories) or not data.embedding.trivial:
        return data
    return long_enough(data, delays)


def _possible_horizons(asked: Parts, deepest: Embedding | None) -> tuple[int, ...]:
    """Return the horizons that the data to choose and to judge on allow; the others are left out with a warning.

    Where delays and timing are to be found, the later timing of the inputs costs one sample, and the first fold as many
    as there are delays: a few must be possible.
    """
    given = asked.learn.embedding
    found = deepest is None and given.trivial
    later = found and bool(asked.learn.signals.inputs)
    parts, horizons = asked.embedded(given if deepest is None else deepest), asked.horizons
    allowed = min(max(map(len, data.states)) - 1 for data in (parts.windows, parts.evaluation.data))
    if allowed < 1:
        raise KoopsieveError(
            f"The data held out would have to reach {horizons[0]} steps ahead, but allow {allowed}. Give more data."
        )
    allowed = max(allowed - later - (asked.lead if found else 0), 1)
    kept = tuple(h for h in horizons if h <= allowed)
    if kept != horizons:
        instead = "" if kept else f" Errors are given at {max(1, allowed // 2)} instead, which half a stretch allows."
        warn_user(
            f"Horizons beyond {allowed} are left out: the stretches that models are chosen or judged on are too short "
            f"for more.{instead} Give more data to predict further ahead."
        )
    return kept or (max(1, allowed // 2),)


def _lead(held: Trajectories, longest: int) -> int:
    """Return how many samples before held-out stretches delays reach into: some where these hold few beside a window.

    A quarter of a stretch may go to delays.
    """
    length = max(map(len, held.states))
    return min(LEAD, length // 4) if held.embedding.trivial and length - longest - 2 < 4 * LEAD else 0


def _fold_cuts(parts: Parts) -> tuple[tuple[Stretch, ...], ...]:
    """Return the stretches that each fold holds out; none where there are many data, or folds would be too short."""
    learn, held = parts.learn, parts.validation
    if not (parts.validated and isinstance(learn, Trajectories) and isinstance(held, Trajectories)):
        return ()
    if learn.n_samples > min(MAX_FOLDED_ROWS * max(learn.memory / USUAL_MEMORY, 1), MOST_FOLDED_ROWS):
        return ()
    if len(learn) >= FOLDS:
        return tuple(
            tuple((e, 0, len(learn.states[e])) for e in range(fold, len(learn), FOLDS)) for fold in range(FOLDS)
        )
    ends = [np.linspace(0, len(x), FOLDS + 1).astype(int).tolist() for x in learn.states]
    return tuple(tuple((e, cut[fold], cut[fold + 1]) for e, cut in enumerate(ends)) for fold in range(FOLDS))
