"""`koopsieve predict`: a saved model on a file of measurements, as CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
import typer

from koopsieve._types import KoopsieveError
from koopsieve.cli.options import listed
from koopsieve.cli.prediction_table import (
    EpisodeColumn,
    Files,
    Gaps,
    Inputs,
    ModelFile,
    Out,
    Row,
    States,
    TimeColumn,
    read_for,
    write_rows,
)
from koopsieve.data import Trajectories, embedded
from koopsieve.model import Model


def predict(
    model: ModelFile,
    files: Files,
    horizon: Annotated[int, typer.Option(help="Steps ahead.", min=1)] = 1,
    start: Annotated[int | None, typer.Option(help="Predict 1 … HORIZON steps from this row only.", min=0)] = None,
    states: States = None,
    inputs: Inputs = None,
    episode: EpisodeColumn = None,
    time: TimeColumn = None,
    gaps: Gaps = "raise",
    out: Out = None,
) -> None:
    """Predict with a saved model, beside what was measured.

    Each line holds the episode, the row of the predicted sample in it (from 0), the steps since the prediction started,
    then measured and predicted value of every output.

    For example:

    koopsieve predict result/model.npz bench.csv --horizon 20 --out ahead.csv

    koopsieve predict result/model.npz bench.csv --horizon 50 --start 100
    """
    loaded = Model.load(model)
    data = read_for(loaded, files, listed(states), listed(inputs), episode, time, gaps)
    rows = _every_start(loaded, data, horizon) if start is None else _from_row(loaded, data, horizon, start)
    write_rows(loaded, ["episode", "row", "steps"], rows, out)


def _every_start(model: Model, raw: Trajectories, horizon: int) -> Iterator[Row]:
    data, lost = embedded(raw, model.signals.embedding), model.history - 1
    for episode, first, h, predicted in model.predictions(data, [horizon]):
        measured = data.states[episode][first + h :][: len(predicted), : len(model.output_names)]
        for k, (there, here) in enumerate(zip(measured, predicted, strict=True)):
            yield [episode, first + k + h + lost, h, *np.column_stack([there, here]).ravel().tolist()]


def _from_row(model: Model, raw: Trajectories, horizon: int, start: int) -> Iterator[Row]:
    data, lost = embedded(raw, model.signals.embedding), model.history - 1
    x, u, first = data.states[0], data.inputs[0], start - lost
    if not 0 <= first < len(x) - horizon:
        raise KoopsieveError(
            f"--start must leave {lost} rows before it for the delays and {horizon} after it. Expected {lost} to "
            f"{len(x) - horizon - 1 + lost}, got {start}."
        )
    steps = model.steps(model.start(x[first][None]), (u[first + j][None] for j in range(horizon)))
    for k, carried in enumerate(steps, start=1):
        pair = [x[first + k, : len(model.output_names)], model.read(carried)[0]]
        yield [0, start + k, k, *np.column_stack(pair).ravel().tolist()]
