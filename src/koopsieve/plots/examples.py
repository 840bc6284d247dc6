"""Stretches of the judged trajectories to show predictions on: a typical one, the best and the worst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from koopsieve._types import FloatArray
from koopsieve.evaluate import free_run
from koopsieve.forms import Model
from koopsieve.sifting.judge import EVERYTHING, LINEAR, SIFTED
from koopsieve.sifting.result import SieveResult

_MAX_STARTS = 200
_MAX_STEPS = 400  # of a stretch; a longer one shows no more


@dataclass(frozen=True, eq=False)
class Example:
    """Measured outputs over one stretch, and the predictions of the models from its start.

    Parameters
    ----------
    kind : str
        "typical", "best" or "worst", by the error of the sifted model among starts spread over all episodes.
    episode, start : int
        Where the predictions start, counted where the state begins.
    measured : array, shape (steps + 1, outputs)
        The truth, where that is known.
    predicted : mapping from model to array, shape (steps + 1, outputs)
        The first row is the start. Not finite where a model diverged.
    band : tuple of array, optional
        Lower and upper limit around the sifted model's predictions at the level of the result, each as `measured`.
    """

    kind: str
    episode: int
    start: int
    measured: FloatArray
    predicted: Mapping[str, FloatArray]
    band: tuple[FloatArray, FloatArray] | None = None


def shown_models(result: SieveResult) -> dict[str, Model]:
    """Return the models whose predictions are drawn: sifted, linear, everything.

    Where errors are on the validation data, only models that had not learned from them.
    """
    if result.evaluation.on == "validation":
        return {SIFTED: result.judged_model, EVERYTHING: result.outcome.everything[0]}
    baselines = {name: result.baselines[name].model for name in (LINEAR, EVERYTHING)}
    return {SIFTED: result.model, **baselines}


def examples(result: SieveResult) -> tuple[Example, ...]:
    """Return a typical, the best and the worst stretch of the longest horizon, by the sifted model's error."""
    data, steps = result.evaluation.data, min(max(result.horizons), _MAX_STEPS)
    starts = [(episode, k) for episode, x in enumerate(data.states) for k in range(len(x) - steps)]
    picked = [starts[i] for i in np.unique(np.linspace(0, len(starts) - 1, _MAX_STARTS).round().astype(int))]
    order = np.argsort(_errors(result, picked, steps), kind="stable")
    chosen = {"typical": order[len(order) // 2], "best": order[0], "worst": order[-1]}
    return tuple(_example(kind, result, picked[place], steps) for kind, place in chosen.items())


def _errors(result: SieveResult, starts: Sequence[tuple[int, int]], steps: int) -> FloatArray:
    """Return the mean squared error of the sifted model over each stretch, each output in units of its spread."""
    measured = np.array([_reference(result, episode)[k + 1 : k + steps + 1] for episode, k in starts])
    spread = measured.std(axis=(0, 1))
    with np.errstate(over="ignore", invalid="ignore"):
        gap = (_predicted(result.judged_model, result, starts, steps) - measured) / np.where(spread > 0, spread, 1.0)
        errors: FloatArray = np.mean(gap**2, axis=(1, 2))
    return np.nan_to_num(errors, nan=np.inf)


def _example(kind: str, result: SieveResult, place: tuple[int, int], steps: int) -> Example:
    episode, start = place
    first = result.evaluation.data.states[episode][start : start + 1, : len(result.model.output_names)]
    predicted = {
        name: np.vstack([first, _predicted(model, result, [place], steps)[0]])
        for name, model in shown_models(result).items()
    }
    measured, band = _reference(result, episode)[start : start + steps + 1], _band(result, place, predicted[SIFTED])
    return Example(kind, episode, start, measured, predicted, band)


def _band(result: SieveResult, place: tuple[int, int], mean: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return the limits around the sifted model's prediction, where there are bands that far ahead."""
    found = band_around(result, result.evaluation.data.states[place[0]][place[1]], mean)
    return found if found is not None and len(found[0]) == len(mean) else None


def band_around(result: SieveResult, state: FloatArray, mean: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return the limits around a prediction of the sifted model from a state on, as far ahead as it has bands.

    None where it has none, or where they were made of the judged data.
    """
    known = result.model.calibration
    bands = None if known is None else known.bands
    if bands is None or result.coverage is None:
        return None
    steps = min(len(mean) - 1, bands.longest)
    half = bands.around(result.model.dictionary, state[None], steps, result.coverage.level)[0]
    width = np.vstack([np.zeros((1, half.shape[1])), half])
    return mean[: steps + 1] - width, mean[: steps + 1] + width


def _predicted(model: Model, result: SieveResult, starts: Sequence[tuple[int, int]], steps: int) -> FloatArray:
    """Return predictions (starts, steps, outputs) with the measured inputs; nan where a model cannot start."""
    found = np.full((len(starts), steps, len(model.output_names)), np.nan)
    lines = [delay_line(model, result, episode) for episode, _ in starts]
    can = [i for i, (episode, k) in enumerate(starts) if 0 <= k - lines[i].first <= len(lines[i].acting) - steps]
    if not can:
        return found
    rows = [starts[i][1] - lines[i].first for i in can]
    states = np.array([lines[i].states[row] for i, row in zip(can, rows, strict=True)])
    acting = np.array([lines[i].acting[row : row + steps] for i, row in zip(can, rows, strict=True)])
    run = model.steps(model.start(states), (acting[:, h] for h in range(steps)))
    found[can] = np.stack([model.read(carried) for carried in run], axis=1)
    return found


@dataclass(frozen=True, eq=False)
class DelayLine:
    """An episode of the judged data with a model's own delays: the baseline may have others than the sifted model.

    Parameters
    ----------
    states, acting : array
        The states, and the input that acts from each on.
    first : int
        The row of the judged data that the first state belongs to; negative where it lies before them.
    """

    states: FloatArray
    acting: FloatArray
    first: int


def delay_line(model: Model, result: SieveResult, episode: int) -> DelayLine:
    """Return an episode of the judged data with the delays of a model."""
    data = result.evaluation.data
    x, u, wanted = data.states[episode], data.inputs[episode], model.signals.embedding
    if wanted == data.embedding:
        return DelayLine(x, u, 0)
    outputs, inputs, before = data.embedding.measured(x, u, data.n_outputs)
    if len(outputs) < wanted.lost + wanted.ahead + 2:
        return DelayLine(np.empty((0, 0)), np.empty((0, 0)), len(x))
    return DelayLine(*wanted.embed(outputs, inputs), wanted.lost - before)


def run_along(model: Model, result: SieveResult, episode: int, rows: int) -> FloatArray:
    """Return a free run along the first rows of an episode; it begins with a measured row, nan where it cannot."""
    line, run = delay_line(model, result, episode), np.full((rows, len(model.output_names)), np.nan)
    lead = max(0, line.first)
    begin = lead - line.first
    if begin >= len(line.states) or lead >= rows:
        return run
    ahead = free_run(model, line.states[begin], line.acting[begin : begin + rows - 1 - lead])
    run[lead : lead + 1 + len(ahead)] = np.vstack([line.states[begin : begin + 1, : run.shape[1]], ahead])
    return run


def _reference(result: SieveResult, episode: int) -> FloatArray:
    reference = result.evaluation.data if result.evaluation.truth is None else result.evaluation.truth
    return reference.states[episode][:, : len(result.model.output_names)]
