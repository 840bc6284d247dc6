"""Predictions as CSV, beside what was measured."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from koopsieve._display import csv_text
from koopsieve._types import KoopsieveError
from koopsieve._written import write_text
from koopsieve.cli.options import count, option, texts
from koopsieve.cli.reading import gaps_argument
from koopsieve.cli.settings import GAPS
from koopsieve.data import Trajectories
from koopsieve.forms import Model
from koopsieve.io.reading.columns import INTERPOLATE, Reading
from koopsieve.io.reading.files import TEXT_SUFFIXES

Row = list[Any]

ModelFile = Annotated[Path, typer.Argument(help="A model.npz written by koopsieve sift.")]
Files = Annotated[list[str], typer.Argument(help="Measurements with the columns the model was made with.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="CSV file; without it, standard output.")]
_AS_LEARNED = "as for sift; by default as the model's own data were read"


@dataclass(frozen=True)
class ReadingOptions:
    """How to read the measurements, as far as the command line says it; the model remembers the rest."""

    states: tuple[str, ...] = option(
        texts, (), "Names of the outputs in the file, if they differ.", "--states", "-y", split=True
    )
    inputs: tuple[str, ...] = option(texts, (), "The same for the inputs.", "--inputs", "-u", split=True)
    episode: str | None = option(str, None, f"Column that tells episodes apart, {_AS_LEARNED}.")
    time: str | None = option(str, None, f"Column of times, {_AS_LEARNED}; '' for none.")
    gaps: str | None = option(GAPS, None, f"refuse, split or interpolate, {_AS_LEARNED}.")
    max_gap: int | None = option(count, None, "The longest gap to interpolate, in samples.")

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
            resample=None if time is None else known.resample,
            date_format=None if time is None else known.date_format,
        )


def read_for(model: Model, files: Sequence[str], asked: ReadingOptions) -> Trajectories:
    """Return measurements under the model's names; columns are taken in the order they were named.

    Raises
    ------
    KoopsieveError
        If they cannot be read, or were not sampled as the model's data were.
    """
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
        missing=reading.missing if text else (),
        date_format=reading.date_format if text else None,
    )
    if (raw.n_states, raw.n_inputs) != (len(signals.outputs), len(signals.inputs)):
        raise KoopsieveError(
            f"The model has {len(signals.outputs)} outputs ({', '.join(signals.outputs)}) and {len(signals.inputs)} "
            f"inputs ({', '.join(signals.inputs) or 'none'}). Got {raw.n_states} and {raw.n_inputs}."
        )
    named = replace(raw.signals, outputs=signals.outputs, inputs=signals.inputs)
    replace(signals, embedding=named.embedding).require_same(named, "Measurements and the model's data")
    return replace(raw, signals=named)


def place_columns(data: Trajectories) -> list[str]:
    """Return the names of the columns that place a sample in its file: those of the file, as far as it has them."""
    reading = data.signals.reading or Reading()
    time = [reading.time] if reading.time is not None else []
    return [reading.episode or "episode", "row", *time]


def place(data: Trajectories, episode: int, sample: int) -> Row:
    """Return the episode's own name, the row in the file (empty where samples no longer are rows), and the time."""
    source = data.provenance.sources[episode]
    row = "" if source.first_row is None else source.first_row + sample
    stamps = [] if source.times is None else [source.time_base.text(source.times[sample])]
    return [source.label if source.name is None else source.name, row, *stamps]


def write_rows(header: Sequence[str], rows: Iterable[Row], out: Path | None, overwrite: bool) -> None:
    """Write lines under their header, to a file or to standard output."""
    text = csv_text(itertools.chain([header], rows))
    if out is None:
        sys.stdout.write(text)
        return
    write_text(out, text, overwrite)
    typer.echo(f"Written to {out}", err=True)
