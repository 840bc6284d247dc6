"""`koopsieve predict` and `koopsieve simulate`: a saved model on a file of measurements, as CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.lib.stride_tricks import sliding_window_view

from koopsieve._types import BoolArray, FloatArray, KoopsieveError
from koopsieve._written import check_file
from koopsieve.cli.options import Overwrite, Row, from_flags, with_options, write_rows
from koopsieve.cli.reading import ReadingOptions, read_for
from koopsieve.data import Trajectories, embedded
from koopsieve.evaluate import free_run
from koopsieve.evaluate.rollout import checked_horizons, chunks
from koopsieve.forms import Model
from koopsieve.forms.prediction import Starts, banded, outside, predicted
from koopsieve.io.reading.columns import Reading

ModelFile = Annotated[Path, typer.Argument(help="A model.npz written by koopsieve sift.")]
Files = Annotated[list[str], typer.Argument(help="Measurements with the columns the model was made with.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="CSV file; without it, standard output.")]


@with_options(ReadingOptions)
def predict(
    model: ModelFile,
    files: Files,
    *,
    horizon: Annotated[int, typer.Option(help="Steps ahead.", min=1)] = 1,
    start: Annotated[int | None, typer.Option(help="Predict 1 … HORIZON steps from this row only.", min=0)] = None,
    level: Annotated[
        list[float] | None,
        typer.Option(help="Also give bands that hold the measured value with this probability; may be repeated."),
    ] = None,
    joint: Annotated[
        bool, typer.Option("--joint", help="Bands that hold all outputs at all steps up to HORIZON together.")
    ] = False,
    flags: Mapping[str, Any],
    out: Out = None,
    overwrite: Overwrite = False,
) -> None:
    """Predict with a saved model, beside what was measured.

    Each line holds the episode, the row (from 0) and the time of the predicted sample as the file has them, the steps
    since the prediction started, then measured and predicted value of every output. With --level follow the lower and
    the upper bound of the band, and a last column tells whether the prediction rests on something outside the data that
    the model was learned from (1) or not (0).

    For example:

    koopsieve predict result/model.npz bench.csv --horizon 20 --out ahead.csv

    koopsieve predict result/model.npz bench.csv --horizon 10 --start 100 --level 0.9
    """
    if joint and not level:
        raise KoopsieveError("--joint says which bands to give. Say of which level, such as --level 0.9.")
    loaded, data = _model_and_data(model, files, flags, out, overwrite)
    every = _every_start(loaded, data, horizon) if start is None else _from_row(loaded, data, horizon, start)
    parts = [(stretch, *_values(loaded, stretch, level or (), joint)) for stretch in every]
    marks = [outside for _, _, outside in parts if outside is not None]
    flagged = level is not None and bool(marks)
    header = [*place_columns(data), "steps", *_columns(loaded, level or ()), *(["outside"] if flagged else [])]
    write_rows(header, (row for part in parts for row in _lines(data, *part, flagged)), out, overwrite)
    if words := _flagged(marks):
        typer.echo(words, err=True)


def _model_and_data(
    model: Path, files: Sequence[str], flags: Mapping[str, Any], out: Path | None, overwrite: bool
) -> tuple[Model, Trajectories]:
    if out is not None:
        check_file(out, overwrite, read=(model, *files))
    loaded = Model.load(model)
    raw = read_for(loaded, files, from_flags(ReadingOptions(), flags))
    return loaded, embedded(raw, loaded.signals.embedding)


@dataclass(frozen=True, eq=False)
class _Stretch:
    """Starts of one episode, and which of the steps after them are asked for.

    `first` is the sample of the first start in the episode; `measured` has shape (starts, steps, n_outputs).
    """

    episode: int
    first: int
    steps: tuple[int, ...]
    given: Starts
    measured: FloatArray


def _every_start(model: Model, data: Trajectories, horizon: int) -> Iterator[_Stretch]:
    """Yield all starts, piece by piece so that the memory does not grow with the record, and their last step."""
    checked_horizons([horizon], data)
    numbers = model.numbers_per_start + horizon * (len(model.output_names) + len(model.input_names))
    for episode, (x, u) in enumerate(zip(data.states, data.inputs, strict=True)):
        for part in chunks(len(x) - horizon, numbers):
            inputs = u[part.start : part.stop + horizon - 1]
            acting = sliding_window_view(inputs, horizon, axis=0).transpose(0, 2, 1)
            measured = x[part.start + horizon : part.stop + horizon, None, : len(model.output_names)]
            yield _Stretch(episode, part.start, (horizon,), Starts(x[part], acting, False), measured)


def _from_row(model: Model, data: Trajectories, horizon: int, start: int) -> Iterator[_Stretch]:
    """Yield one start, given by its row in the file, with all steps after it."""
    starts = [source.first_row or 0 for source in data.provenance.sources]
    allowed = [(row, row + len(x) - horizon - 1) for row, x in zip(starts, data.states, strict=True)]
    episode = next((i for i, (least, most) in enumerate(allowed) if least <= start <= most), None)
    if episode is None:
        expected = " or ".join(f"{least} to {most}" for least, most in allowed if least <= most) or "a shorter horizon"
        raise KoopsieveError(
            f"--start must leave {model.history - 1} rows before it for the delays and {horizon} after it. Expected "
            f"{expected}, got {start}."
        )
    x, u, first = data.states[episode], data.inputs[episode], start - starts[episode]
    rows = first + np.arange(horizon)
    given, measured = Starts(x[first][None], u[rows][None], False), x[rows + 1][None]
    yield _Stretch(episode, first, tuple(range(1, horizon + 1)), given, measured[..., : len(model.output_names)])


def _values(
    model: Model, stretch: _Stretch, levels: Sequence[float], joint: bool
) -> tuple[FloatArray, BoolArray | None]:
    """Return the columns of a stretch, (starts, steps, columns), and where it lies outside the data."""
    at, mean = np.array(stretch.steps) - 1, predicted(model, stretch.given)
    flags, bounds = outside(model, stretch.given, mean), []
    if levels:
        found = banded(model, stretch.given, mean, list(levels), joint)
        bounds = [side[i][:, at] for i in range(len(levels)) for side in (found.lower, found.upper)]
    columns = np.stack([stretch.measured, mean[:, at], *bounds], axis=-1)
    return columns.reshape(*columns.shape[:2], -1), None if flags is None else flags[:, at]


def _lines(
    data: Trajectories, stretch: _Stretch, columns: FloatArray, outside: BoolArray | None, flagged: bool
) -> Iterator[Row]:
    """Yield the lines of a stretch, placed as `data` says, with the flag in the last column if it is asked for."""
    for k, values in enumerate(columns):
        for i, h in enumerate(stretch.steps):
            flag = [int(outside[k, i])] if flagged and outside is not None else []
            yield [*place(data, stretch.episode, stretch.first + k + h), h, *values[i].tolist(), *flag]


def _columns(model: Model, levels: Sequence[float]) -> list[str]:
    """Return the names of the columns of all outputs; bounds name their level where there are several."""
    ends = ["", "_predicted"]
    for level in levels:
        of = f"_{level:g}" if len(levels) > 1 else ""
        ends += [f"_lower{of}", f"_upper{of}"]
    return [name + end for name in model.output_names for end in ends]


def _flagged(flags: Sequence[BoolArray]) -> str:
    """Return a sentence on the predictions that lie outside the data; empty if there are none, or it is not known."""
    count, total = sum(int(one.sum()) for one in flags), sum(one.size for one in flags)
    if not count:
        return ""
    return (
        f"{count} of {total} predictions rest{'s'[: count == 1]} on a start, an input or an earlier prediction outside "
        "the data that the model was learned from. Bands do not hold there."
    )


@with_options(ReadingOptions)
def simulate(
    model: ModelFile,
    files: Files,
    *,
    flags: Mapping[str, Any],
    out: Out = None,
    overwrite: Overwrite = False,
) -> None:
    """Run a saved model along whole records: it sees the first rows and the inputs, and nothing else.

    Each line holds the episode, the row (from 0) and the time as the file has them, then measured and simulated value
    of every output.

    For example:

    koopsieve simulate result/model.npz bench.csv --out run.csv
    """
    loaded, data = _model_and_data(model, files, flags, out, overwrite)
    columns = [column for name in loaded.output_names for column in (name, f"{name}_predicted")]
    write_rows([*place_columns(data), *columns], _rows(loaded, data), out, overwrite)


def _rows(model: Model, data: Trajectories) -> Iterator[Row]:
    for episode, (x, u) in enumerate(zip(data.states, data.inputs, strict=True)):
        for k, here in enumerate(free_run(model, x[0], u), start=1):
            pair = [x[k, : len(here)], here]
            yield [*place(data, episode, k), *np.column_stack(pair).ravel().tolist()]


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
