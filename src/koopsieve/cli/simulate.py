"""`koopsieve simulate`: a saved model run freely along a record, as CSV."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from koopsieve._written import check_file
from koopsieve.cli.options import Overwrite, listed
from koopsieve.cli.prediction_table import (
    Asked,
    EpisodeColumn,
    Files,
    Gaps,
    Inputs,
    MaxGap,
    ModelFile,
    Out,
    Row,
    States,
    TimeColumn,
    place,
    place_columns,
    read_for,
    write_rows,
)
from koopsieve.data import Trajectories, embedded
from koopsieve.evaluate import free_run
from koopsieve.forms import Model


def simulate(
    model: ModelFile,
    files: Files,
    states: States = None,
    inputs: Inputs = None,
    episode: EpisodeColumn = None,
    time: TimeColumn = None,
    gaps: Gaps = None,
    max_gap: MaxGap = None,
    out: Out = None,
    overwrite: Overwrite = False,
) -> None:
    """Run a saved model along whole records: it sees the first rows and the inputs, and nothing else.

    Each line holds the episode, the row (from 0) and the time as the file has them, then measured and simulated value
    of every output.

    For example:

    koopsieve simulate result/model.npz bench.csv --out run.csv
    """
    if out is not None:
        check_file(out, overwrite)
    loaded = Model.load(model)
    raw = read_for(loaded, files, Asked(listed(states), listed(inputs), episode, time, gaps, max_gap))
    data = embedded(raw, loaded.signals.embedding)
    columns = [column for name in loaded.output_names for column in (name, f"{name}_predicted")]
    write_rows([*place_columns(data), *columns], _rows(loaded, data), out, overwrite)


def _rows(model: Model, data: Trajectories) -> Iterator[Row]:
    for episode, (x, u) in enumerate(zip(data.states, data.inputs, strict=True)):
        for k, here in enumerate(free_run(model, x[0], u), start=1):
            pair = [x[k, : len(here)], here]
            yield [*place(data, episode, k), *np.column_stack(pair).ravel().tolist()]
