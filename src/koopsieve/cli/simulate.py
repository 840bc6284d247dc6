"""`koopsieve simulate`: a saved model run freely along a record, as CSV."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from koopsieve.cli.options import listed
from koopsieve.cli.prediction_table import Row, read_for, write_rows
from koopsieve.data import Trajectories, embedded
from koopsieve.evaluate import free_run
from koopsieve.model import Model


def simulate(
    model: Annotated[Path, typer.Argument(help="A model.npz written by koopsieve sift.")],
    files: Annotated[list[str], typer.Argument(help="Measurements with the columns the model was made with.")],
    states: Annotated[
        list[str] | None,
        typer.Option("--states", "-y", help="Names of the outputs in the file, if they differ."),
    ] = None,
    inputs: Annotated[list[str] | None, typer.Option("--inputs", "-u", help="The same for the inputs.")] = None,
    episode: Annotated[str | None, typer.Option(help="Column that tells episodes apart.")] = None,
    time: Annotated[str | None, typer.Option(help="Column of times.")] = None,
    gaps: Annotated[str, typer.Option(help="raise or split, as for sift.")] = "raise",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="CSV file; without it, standard output.")] = None,
) -> None:
    """Run a saved model along whole records: it sees the first rows and the inputs, and nothing else.

    Each line holds the episode, the row in it (from 0), then measured and simulated value of every output.

    For example:

    koopsieve simulate result/model.npz bench.csv --out run.csv
    """
    loaded = Model.load(model)
    data = read_for(loaded, files, listed(states), listed(inputs), episode, time, gaps)
    write_rows(loaded, ["episode", "row"], _rows(loaded, data), out)


def _rows(model: Model, raw: Trajectories) -> Iterator[Row]:
    data = embedded(raw, model.signals.embedding)
    for episode, (x, u) in enumerate(zip(data.states, data.inputs, strict=True)):
        for k, here in enumerate(free_run(model, x[0], u), start=1):
            pair = [x[k, : len(here)], here]
            yield [episode, k + model.history - 1, *np.column_stack(pair).ravel().tolist()]
