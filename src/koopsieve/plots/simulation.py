"""Free runs along the record that a run was judged on, beside what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from koopsieve._types import KoopsieveError
from koopsieve.evaluate import free_run
from koopsieve.plots.curves import draw_model, limits_around
from koopsieve.plots.examples import shown_models
from koopsieve.plots.figure import as_text, legend, new_axes
from koopsieve.plots.prediction import position
from koopsieve.sieve.views import Sifted, contenders, result_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        Which; by default the first.
    episode : int
        Which of the judged episodes.
    seconds : float, optional
        How much of it to draw, from the start; left out, all of it.

    Raises
    ------
    KoopsieveError
        If there is no such output or episode.
    """
    result = result_of(given)
    data, names = result.judged.data, result.model.output_names
    if not 0 <= episode < len(data.states):
        raise KoopsieveError(f"There is no episode {episode}. Expected a number from 0 to {len(data.states) - 1}.")
    ax = new_axes(9.0, 3.4) if axes is None else axes
    column = position("output", output or names[0], names)
    x, u = data.states[episode], data.inputs[episode]
    rows = len(x) if seconds is None else min(len(x), 1 + round(seconds / data.dt))
    truth = None if result.judged.truth is None else result.judged.truth.states[episode]
    measured = (x if truth is None else truth)[:rows, column]
    time, limits = np.arange(rows, dtype=float) * data.dt, limits_around(measured)
    ax.plot(time, measured, color="0.72", linewidth=4.0, label="measured" if truth is None else "true")
    terms = {one.name: one.terms for one in contenders(result)}
    for name, model in shown_models(result).items():
        run = np.concatenate([x[:1, column], free_run(model, x[0], u[: rows - 1])[:, column]])
        draw_model(ax, time, run, limits, name, f"{name} ({terms[name]})")
    ax.set(xlim=(0, time[-1]), ylim=limits, xlabel="time / s", ylabel=as_text(names[column]))
    ax.grid(alpha=0.25)
    legend(ax, "model (terms)")
    return ax
