"""Models over time beside what was measured: predictions from one start, and free runs over a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.plots.examples import examples, run_along, shown_models
from koopsieve.plots.figure import LEFT, MODELS, as_text, legend, new_axes
from koopsieve.sifting.judge import SIFTED
from koopsieve.sifting.result import Sifted, result_of
from koopsieve.sifting.tables import contenders

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARGIN = 0.4  # above and below the measured values, in units of their range


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
    word = "measured" if result.evaluation.truth is None else "true"
    ax.plot(time, example.measured[:, column], color="black", linewidth=1.4, label=word, zorder=3)
    if example.band is not None and result.coverage is not None:
        _draw_band(ax, example.band, time, column, result.coverage.level)
    for name, values in example.predicted.items():
        draw_model(ax, time, values[:, column], limits, name, name)
    ax.set_ylim(limits)
    ax.set_xlabel("seconds after the start")
    ax.set_ylabel(as_text(result.model.signals.label(result.model.output_names[column])))
    ax.grid(alpha=0.25)
    legend(ax)
    return ax


def _draw_band(ax: Axes, band: tuple[FloatArray, FloatArray], time: FloatArray, column: int, level: float) -> None:
    lower, upper = (limit[:, column] for limit in band)
    label = f"{100 * level:g} % band"
    ax.fill_between(time, lower, upper, color=MODELS[SIFTED]["color"], alpha=0.18, linewidth=0, label=label)


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
    truth = None if result.evaluation.truth is None else result.evaluation.truth.states[episode]
    measured = (x if truth is None else truth)[:rows, column]
    time, limits = np.arange(rows, dtype=float) * data.dt, limits_around(measured)
    ax.plot(time, measured, color="0.72", linewidth=4.0, label="measured" if truth is None else "true")
    terms = {one.name: one.terms for one in contenders(result)}
    for name, model in shown_models(result).items():
        run = run_along(model, result, episode, rows)[:, column]
        draw_model(ax, time, run, limits, name, f"{name} ({terms[name]})")
    ax.set(
        xlim=(0, time[-1]), ylim=limits, xlabel="time / s", ylabel=as_text(result.model.signals.label(names[column]))
    )
    ax.grid(alpha=0.25)
    legend(ax, "model (terms)")
    return ax
