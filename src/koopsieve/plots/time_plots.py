"""Models over time beside what was measured: predictions from one start, and free runs over a record.

Predictions are shown on stretches of the judged trajectories: a typical one, the best and the worst.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError, or_one
from koopsieve.evaluate import free_run
from koopsieve.forms import Model
from koopsieve.plots.figure import LEFT, MODELS, as_text, legend, new_axes
from koopsieve.sifting.judge import EVERYTHING, LINEAR, SIFTED
from koopsieve.sifting.result import SieveResult, Sifted, result_of
from koopsieve.sifting.tables import contenders

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_STARTS = 200
_MAX_STEPS = 400  # of a stretch; a longer one shows no more
_MARGIN = 0.4  # above and below the measured values, in units of their range


@dataclass(frozen=True, eq=False)
class Example:
    """Measured outputs over one stretch, and the predictions of the models from its start."""

    kind: str  # "typical", "best" or "worst", by the error of the sifted model among starts spread over all episodes
    # episode, start: where the predictions start, counted where the state begins
    episode: int
    start: int
    measured: FloatArray  # (steps + 1, outputs): the truth, where that is known
    # mapping from model to array (steps + 1, outputs): the first row is the start. Not finite where a model diverged
    predicted: Mapping[str, FloatArray]
    # lower and upper limit around the sifted model's predictions at the level of the result, each as `measured`
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
        gap = (_predicted(result.judged_model, result, starts, steps) - measured) / or_one(spread)
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
    found = band_around(result, result.evaluation.data.states[place[0]][place[1]], mean)
    return found if found is not None and len(found[0]) == len(mean) else None


def band_around(result: SieveResult, state: FloatArray, mean: FloatArray) -> tuple[FloatArray, FloatArray] | None:
    """Return the limits around a prediction of the sifted model from a state on, as far ahead as it has bands.

    None where it has none, or where they were made of the judged data.
    """
    bands = result.model.bands
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
    found[can] = model.free_runs(states, acting)
    return found


@dataclass(frozen=True, eq=False)
class DelayLine:
    """An episode of the judged data with a model's own delays: the baseline may have others than the sifted model."""

    # states, acting: the states, and the input that acts from each on
    states: FloatArray
    acting: FloatArray
    first: int  # the row of the judged data that the first state belongs to; negative where it lies before them


def delay_line(model: Model, result: SieveResult, episode: int) -> DelayLine:
    """Return an episode of the judged data with the delays of a model."""
    data = result.evaluation.data
    x, u, wanted = data.states[episode], data.inputs[episode], model.signals.embedding
    if wanted == data.embedding:
        return DelayLine(x, u, 0)
    outputs, inputs, before = data.embedding.measured(x, u, data.n_outputs)
    if len(outputs) < wanted.lost + wanted.input_lead + 2:
        return DelayLine(np.empty((0, 0)), np.empty((0, 0)), len(x))
    return DelayLine(*wanted.embed(outputs, inputs), wanted.lost - before)


def simulated_rows(model: Model, result: SieveResult, episode: int, rows: int) -> FloatArray:
    """Return a free run along the first rows of an episode; it begins with a measured row, nan where it cannot."""
    line, run = delay_line(model, result, episode), np.full((rows, len(model.output_names)), np.nan)
    lead = max(0, line.first)
    begin = lead - line.first
    if begin >= len(line.states) or lead >= rows:
        return run
    predicted = free_run(model, line.states[begin], line.acting[begin : begin + rows - 1 - lead])
    run[lead : lead + 1 + len(predicted)] = np.vstack([line.states[begin : begin + 1, : run.shape[1]], predicted])
    return run


def _reference(result: SieveResult, episode: int) -> FloatArray:
    reference = result.evaluation.data if result.evaluation.truth is None else result.evaluation.truth
    return reference.states[episode][:, : len(result.model.output_names)]


def _reference_word(result: SieveResult) -> str:
    return "measured" if result.evaluation.truth is None else "true"


def limits_around(measured: FloatArray) -> tuple[float, float]:
    """Return the limits of a picture of measured values, with room for models that are a little off."""
    room = _MARGIN * (float(np.ptp(measured)) or 1.0)
    return float(measured.min()) - room, float(measured.max()) + room


def draw_model(
    ax: Axes, time: FloatArray, values: FloatArray, limits: tuple[float, float], name: str, label: str
) -> None:
    """Draw the outputs of a model in its own style; beyond the limits the line is cut, and a cross marks the place."""
    style: dict[str, Any] = {key: MODELS[name][key] for key in ("color", "linestyle", "linewidth")}
    low, high = limits
    inside = np.isnan(values) | (values >= low) & (values <= high)  # nan: there is no prediction
    last = len(values) if inside.all() else int(np.argmin(inside))
    ax.plot(time[:last], values[:last], label=label, zorder=4 if name == SIFTED else 2, **style)
    if last < len(values):
        edge = high if values[last] > high else low
        mark = {"color": style["color"], "marker": "x", "markersize": 8, "markeredgewidth": 2}
        ax.plot(time[last], edge, linestyle="none", clip_on=False, zorder=5, gid=LEFT, **mark)


def plot_prediction(
    given: Sifted, axes: Axes | None = None, *, output: str | None = None, stretch: str = "typical"
) -> Axes:
    """Draw measured outputs and the predictions of the models from one start: sifted, linear, everything.

    Where the sifted model has bands, that of the result's level is shaded. A prediction that leaves the picture is cut
    there, and a cross marks where.

    Parameters
    ----------
    given : SieveResult or fitted KoopmanSieve
    axes : matplotlib axes, optional
        Left out, a new figure.
    output : str, optional
        Name of the output; by default the first.
    stretch : {"typical", "best", "worst"}
        Which start, by the error of the sifted model.
    """
    result = result_of(given)
    ax = new_axes(7.0, 3.4) if axes is None else axes
    column = position("output", output or result.model.output_names[0], result.model.output_names)
    found = examples(result)
    example = found[position("stretch", stretch, tuple(e.kind for e in found))]
    time = np.arange(len(example.measured), dtype=float) * result.model.dt
    limits = limits_around(example.measured[:, column])
    ax.plot(time, example.measured[:, column], color="black", linewidth=1.4, label=_reference_word(result), zorder=3)
    if example.band is not None and result.coverage is not None:
        lower, upper = (limit[:, column] for limit in example.band)
        shade: dict[str, Any] = {"color": MODELS[SIFTED]["color"], "alpha": 0.18, "linewidth": 0}
        ax.fill_between(time, lower, upper, label=f"{100 * result.coverage.level:g} % band", **shade)
    for name, values in example.predicted.items():
        draw_model(ax, time, values[:, column], limits, name, name)
    ax.set_ylim(limits)
    ax.set_xlabel("seconds after the start")
    ax.set_ylabel(as_text(result.model.signals.label(result.model.output_names[column])))
    ax.grid(alpha=0.25)
    legend(ax)
    return ax


def position(what: str, name: str, known: tuple[str, ...]) -> int:
    """Return the place of a name among those known."""
    if name not in known:
        raise KoopsieveError(f"There is no {what} {name!r}. Expected one of {', '.join(known)}.")
    return known.index(name)


def plot_simulation(
    given: Sifted,
    axes: Axes | None = None,
    *,
    output: str | None = None,
    episode: int = 0,
    seconds: float | None = None,
) -> Axes:
    """Draw a record and free runs along it: each model is given the first rows and the inputs, and nothing else.

    A run that leaves the picture is cut there, and a cross marks where.

    Parameters
    ----------
    given : SieveResult or fitted KoopmanSieve
    axes : matplotlib axes, optional
        Left out, a new figure.
    output : str, optional
        Name of the output; by default the first.
    episode : int
        Which of the judged episodes.
    seconds : float, optional
        Length to draw, from the start; by default the whole episode.

    Raises
    ------
    KoopsieveError
        If there is no such output or episode.
    """
    result = result_of(given)
    data, names = result.evaluation.data, result.model.output_names
    if not 0 <= episode < len(data.states):
        raise KoopsieveError(f"There is no episode {episode}. Expected a number from 0 to {len(data.states) - 1}.")
    ax = new_axes(9.0, 3.4) if axes is None else axes
    column = position("output", output or names[0], names)
    x = data.states[episode]
    rows = len(x) if seconds is None else min(len(x), 1 + round(seconds / data.dt))
    measured = _reference(result, episode)[:rows, column]
    time, limits = np.arange(rows, dtype=float) * data.dt, limits_around(measured)
    ax.plot(time, measured, color="0.72", linewidth=4.0, label=_reference_word(result))
    terms = {one.name: one.terms for one in contenders(result)}
    for name, model in shown_models(result).items():
        run = simulated_rows(model, result, episode, rows)[:, column]
        draw_model(ax, time, run, limits, name, f"{name} ({terms[name]})")
    ax.set(xlim=(0, time[-1]), ylim=limits, xlabel="time / s")
    ax.set_ylabel(as_text(result.model.signals.label(names[column])))
    ax.grid(alpha=0.25)
    legend(ax, "model (terms)")
    return ax
