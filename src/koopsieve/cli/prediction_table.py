"""Predictions as CSV, beside what was measured."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from koopsieve._types import KoopsieveError, written_whole
from koopsieve.data import Trajectories
from koopsieve.model import Model

Row = list[Any]

# options that `predict` and `simulate` share
ModelFile = Annotated[Path, typer.Argument(help="A model.npz written by koopsieve sift.")]
Files = Annotated[list[str], typer.Argument(help="Measurements with the columns the model was made with.")]
States = Annotated[
    list[str] | None, typer.Option("--states", "-y", help="Names of the outputs in the file, if they differ.")
]
Inputs = Annotated[list[str] | None, typer.Option("--inputs", "-u", help="The same for the inputs.")]
EpisodeColumn = Annotated[str | None, typer.Option(help="Column that tells episodes apart.")]
TimeColumn = Annotated[str | None, typer.Option(help="Column of times.")]
Gaps = Annotated[str, typer.Option(help="raise or split, as for sift.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="CSV file; without it, standard output.")]


def read_for(
    model: Model,
    files: Sequence[str],
    states: Sequence[str] | None,
    inputs: Sequence[str] | None,
    episode: str | None,
    time: str | None,
    gaps: str,
) -> Trajectories:
    """Return measurements under the model's names; columns are taken in the order they were named.

    Raises
    ------
    KoopsieveError
        If they cannot be read, or were not sampled as the model's data were.
    """
    signals = model.signals
    raw = Trajectories.from_file(
        files,
        states or signals.outputs,
        inputs or signals.inputs,
        episode=episode,
        time=time,
        dt=None if time is not None else signals.dt,
        gaps=gaps,
    )
    if (raw.n_states, raw.n_inputs) != (len(signals.outputs), len(signals.inputs)):
        raise KoopsieveError(
            f"The model has {len(signals.outputs)} outputs ({', '.join(signals.outputs)}) and {len(signals.inputs)} "
            f"inputs ({', '.join(signals.inputs) or 'none'}). Got {raw.n_states} and {raw.n_inputs}."
        )
    named = replace(raw.signals, outputs=signals.outputs, inputs=signals.inputs)
    replace(signals, embedding=named.embedding).require_same(named, "Measurements and the model's data")
    return replace(raw, signals=named)


def write_rows(header: Sequence[str], rows: Iterable[Row], out: Path | None) -> None:
    """Write lines under their header, to a file or to standard output."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    if out is None:
        sys.stdout.write(text.getvalue())
        return
    with written_whole(out) as stream:
        stream.write(text.getvalue().encode())
    typer.echo(f"Written to {out}", err=True)
