"""`koopsieve predict`: a saved model on a file of measurements, as CSV."""

from __future__ import annotations

import csv
import io
import math
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from koopsieve._types import KoopsieveError, written_whole
from koopsieve.cli.naming import measured_names
from koopsieve.cli.reduce import listed
from koopsieve.data import Trajectories, embed_delays
from koopsieve.model import LiftedModel

Row = list[Any]


def predict(
    model: Annotated[Path, typer.Argument(help="A model.npz written by koopsieve reduce.")],
    files: Annotated[list[str], typer.Argument(help="Measurements with the columns the model was made with.")],
    horizon: Annotated[int, typer.Option(help="Steps ahead.", min=1)] = 1,
    start: Annotated[int | None, typer.Option(help="Predict 1 … HORIZON steps from this row only.", min=0)] = None,
    states: Annotated[
        list[str] | None,
        typer.Option("--states", "-y", help="Names of the outputs in the file, if they differ."),
    ] = None,
    inputs: Annotated[list[str] | None, typer.Option("--inputs", "-u", help="The same for the inputs.")] = None,
    episode: Annotated[str | None, typer.Option(help="Column that tells episodes apart.")] = None,
    time: Annotated[str | None, typer.Option(help="Column of times.")] = None,
    gaps: Annotated[str, typer.Option(help="raise or split, as for reduce.")] = "raise",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="CSV file; without it, standard output.")] = None,
) -> None:
    """Predict with a saved model, beside what was measured.

    Each line holds the episode, the row of the predicted sample in it (from 0), the steps since the prediction started,
    then measured and predicted value of every output.

    For example:

    koopsieve predict result/model.npz bench.csv --horizon 20 --out ahead.csv

    koopsieve predict result/model.npz bench.csv --horizon 50 --start 100
    """
    lifted = LiftedModel.load(model)
    measured, delays, input_delays = measured_names(lifted)
    raw = Trajectories.from_file(
        files, listed(states) or measured, listed(inputs) or lifted.input_names, episode=episode, time=time, gaps=gaps
    )
    if time is not None and not math.isclose(raw.dt, lifted.dt, rel_tol=0.01):
        typer.echo(f"koopsieve: note: the sample time is {raw.dt:g}, that of the model {lifted.dt:g}.", err=True)
    named = _renamed(raw, measured, lifted.input_names)
    trajectories = embed_delays(named, states=delays, inputs=input_delays)
    lost = max(delays, input_delays)
    if start is None:
        rows = _every_start(lifted, trajectories, horizon, lost)
    else:
        rows = _from_row(lifted, trajectories, horizon, start - lost, lost)
    _write(lifted, rows, out)


def _renamed(raw: Trajectories, states: tuple[str, ...], inputs: tuple[str, ...]) -> Trajectories:
    """Return the trajectories under the model's names; columns are taken in the order they were named."""
    if (raw.n_states, raw.n_inputs) != (len(states), len(inputs)):
        raise KoopsieveError(
            f"The model has {len(states)} outputs ({', '.join(states)}) and {len(inputs)} inputs "
            f"({', '.join(inputs) or 'none'}). Got {raw.n_states} and {raw.n_inputs}."
        )
    return replace(raw, state_names=states, input_names=inputs)


def _every_start(model: LiftedModel, data: Trajectories, horizon: int, lost: int) -> Iterator[Row]:
    columns = _output_columns(model, data)
    for episode, first, h, predicted in model.predictions(data, [horizon]):
        measured = data.states[episode][first + h :][: len(predicted), columns]
        for k, (there, here) in enumerate(zip(measured, predicted, strict=True)):
            yield [episode, first + k + h + lost, h, *np.column_stack([there, here]).ravel().tolist()]


def _from_row(model: LiftedModel, data: Trajectories, horizon: int, start: int, lost: int) -> Iterator[Row]:
    x, u = data.states[0], data.inputs[0]
    if not 0 <= start < len(x) - horizon:
        raise KoopsieveError(
            f"--start must leave {lost} rows before it for the delays and {horizon} after it. Expected {lost} to "
            f"{len(x) - horizon - 1 + lost}, got {start + lost}."
        )
    predicted = model.predict(x[start], u[start : start + horizon], horizon)
    measured = x[start + 1 :][:horizon, _output_columns(model, data)]
    for k, (there, here) in enumerate(zip(measured, predicted, strict=True)):
        yield [0, start + k + 1 + lost, k + 1, *np.column_stack([there, here]).ravel().tolist()]


def _output_columns(model: LiftedModel, data: Trajectories) -> list[int]:
    return [data.state_names.index(name) for name in model.output_names]


def _write(model: LiftedModel, rows: Iterable[Row], out: Path | None) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    pairs = [(name, f"{name}_predicted") for name in model.output_names]
    writer.writerow(["episode", "row", "steps", *(name for pair in pairs for name in pair)])
    writer.writerows(rows)
    if out is None:
        sys.stdout.write(text.getvalue())
        return
    with written_whole(out) as stream:
        stream.write(text.getvalue().encode())
    typer.echo(f"Written to {out}", err=True)
