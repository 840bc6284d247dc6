"""The files that a command is given: for `sift`, large ones as a stream; for a saved model, as its data were read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from koopsieve._types import KoopsieveError, needed
from koopsieve.cli.command_settings import GAPS, Settings
from koopsieve.cli.options import any_text, count, option, positive, texts
from koopsieve.data import Stream, Trajectories
from koopsieve.forms import Model
from koopsieve.io.reading.columns import INTERPOLATE, REFUSE, Reading
from koopsieve.io.reading.files import TEXT_SUFFIXES

MAX_BYTES_IN_MEMORY = 2 * 2**30  # bytes of samples; more are streamed, as is more than an eighth of the memory there is
_AS_LEARNED = "as for sift; by default as the model's own data were read"


def read(settings: Settings, files: Sequence[str]) -> Trajectories | Stream:
    """Return the data in files."""
    if settings.stream == "yes" or (settings.stream == "auto" and _is_large(files, settings)):
        return _stream(settings, files)
    data = Trajectories.from_file(
        files,
        columns_by_name(settings.states),
        columns_by_name(settings.inputs),
        episode=settings.episode,
        time=settings.time,
        dt=None if settings.time is not None else settings.dt,
        gaps=gaps_argument(settings.gaps),
        max_gap=settings.max_gap,
        resample=settings.resample,
        missing=settings.missing,
        date_format=settings.date_format,
        outliers=settings.outliers,
    )
    _check_dt(settings, data)
    return data


def gaps_argument(gaps: str) -> str:
    """Return what is done about missing samples, as the rest of the package calls it."""
    return REFUSE if gaps == "refuse" else gaps


def _stream(settings: Settings, files: Sequence[str]) -> Stream:
    others = [file for file in files if Path(file).suffix.lower() != ".parquet"]
    if others:
        raise KoopsieveError(f"Only Parquet files can be streamed. Got {others[0]}. Leave --stream out, or convert it.")
    if gaps_argument(settings.gaps) != REFUSE or settings.resample is not None:
        raise KoopsieveError(
            "What is streamed cannot be cut at gaps, interpolated or resampled. Repair the files first, or read them "
            "whole with --stream no."
        )
    if settings.max_gap is not None:
        raise KoopsieveError("--max-gap has no effect on what is streamed. Leave it out, or use --stream no.")
    if settings.missing or settings.date_format is not None:
        raise KoopsieveError("--missing and --date-format are about text. Parquet files hold numbers and dates.")
    states, inputs = columns_by_name(settings.states), columns_by_name(settings.inputs)
    data = Stream.from_parquet(
        list(files),
        list(states.values()),
        list(inputs.values()),
        episode=settings.episode,
        time=settings.time,
        dt=settings.dt,
        outliers=settings.outliers,
    )
    _check_dt(settings, data)
    return replace(data, signals=data.signals.renamed(states, inputs))


def columns_by_name(given: Sequence[str]) -> dict[str, str]:
    """Return the column of every signal; "speed=Drehzahl Last [1/s]" gives a column a shorter name.

    Examples
    --------
    >>> columns_by_name(["y", "speed=Drehzahl Last [1/s]"])
    {'y': 'y', 'speed': 'Drehzahl Last [1/s]'}
    """
    pairs = [
        (name.strip(), column.strip()) if sign else (one, one)
        for one in given
        for name, sign, column in [one.partition("=")]
    ]
    twice = [name for name, times in Counter(name for name, _ in pairs).items() if times > 1]
    if twice:
        raise KoopsieveError(f"The name {twice[0]!r} occurs twice. Give every state and every input its own name.")
    return dict(pairs)


def _is_large(files: Sequence[str], settings: Settings) -> bool:
    """Tell whether Parquet files hold more samples than should be in memory; anything else is read whole."""
    if not files or any(Path(file).suffix.lower() != ".parquet" or not Path(file).is_file() for file in files):
        return False
    needed("pyarrow", "Reading Parquet", "parquet")
    from pyarrow import ArrowException, parquet

    try:
        rows = sum(parquet.read_metadata(file).num_rows for file in files)
    except (ArrowException, OSError, ValueError):
        return False  # the reader says what is wrong
    columns = len(settings.states) + len(settings.inputs)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else MAX_BYTES_IN_MEMORY
    return bool(8 * rows * columns > min(MAX_BYTES_IN_MEMORY, memory // 8))


def _check_dt(settings: Settings, data: Trajectories | Stream) -> None:
    if settings.time is not None and settings.dt is not None and abs(data.dt / settings.dt - 1) > 1e-3:
        raise KoopsieveError(
            f"--dt says {settings.dt:g}, but the times in column {settings.time!r} are {data.dt:g} apart. "
            "Leave one of the two out."
        )


@dataclass(frozen=True)
class ReadingOptions:
    """How to read the measurements, as far as the command line gives it; the rest is in the model file."""

    states: tuple[str, ...] = option(
        texts, (), "Names of the outputs in the file, if they differ.", "--states", "-y", split=True
    )
    inputs: tuple[str, ...] = option(texts, (), "The same for the inputs.", "--inputs", "-u", split=True)
    episode: str | None = option(any_text, None, f"Column that tells episodes apart, {_AS_LEARNED}.")
    time: str | None = option(any_text, None, f"Column of times, {_AS_LEARNED}; '' for none.")
    gaps: str | None = option(GAPS, None, f"refuse, split or interpolate, {_AS_LEARNED}.")
    max_gap: int | None = option(count, None, "The longest gap to interpolate, in samples.")
    resample: float | None = option(positive, None, "Sample time of the model, for times that jitter.")
    missing: tuple[str, ...] = option(texts, (), f"Text that marks missing values, {_AS_LEARNED}.", split=True)
    date_format: str | None = option(any_text, None, f"How dates are written, {_AS_LEARNED}.")

    def over(self, known: Reading) -> Reading:
        """Return how the model's data were read, with what was given here in its place; empty text means no column."""
        gaps = known.gaps if self.gaps is None else gaps_argument(self.gaps)
        time = known.time if self.time is None else self.time or None
        return replace(
            known,
            episode=known.episode if self.episode is None else self.episode or None,
            time=time,
            gaps=gaps,
            max_gap=self.max_gap or (known.max_gap if gaps == INTERPOLATE else None),
            resample=self.resample or (None if time is None else known.resample),
            missing=self.missing or known.missing,
            date_format=self.date_format or (None if time is None else known.date_format),
        )


def read_for(model: Model, files: Sequence[str], asked: ReadingOptions) -> Trajectories:
    """Return measurements under the model's names; columns are taken in the order they were named."""
    signals = model.signals
    reading = asked.over(signals.reading or Reading())
    text = any(Path(file).suffix.lower() in TEXT_SUFFIXES for file in files)
    raw = Trajectories.from_file(
        files,
        asked.states or reading.columns_of(signals.outputs),
        asked.inputs or reading.columns_of(signals.inputs),
        episode=reading.episode,
        time=reading.time,
        dt=None if reading.time is not None else signals.dt,
        gaps=reading.gaps,
        max_gap=reading.max_gap,
        resample=reading.resample,
        missing=reading.missing if text else asked.missing,
        date_format=reading.date_format if text else asked.date_format,
    )
    if (raw.n_states, raw.n_inputs) != (len(signals.outputs), len(signals.inputs)):
        raise KoopsieveError(
            f"The model has {len(signals.outputs)} outputs ({', '.join(signals.outputs)}) and {len(signals.inputs)} "
            f"inputs ({', '.join(signals.inputs) or 'none'}). Got {raw.n_states} and {raw.n_inputs}."
        )
    named = replace(raw.signals, outputs=signals.outputs, inputs=signals.inputs)
    replace(signals, embedding=named.embedding).require_same(named, "Measurements and the model's data")
    return replace(raw, signals=named)
