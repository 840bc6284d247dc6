"""Predicted against measured trajectories, from a start in the data the run was judged on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from koopsieve._types import FloatArray, KoopsieveError
from koopsieve.plots.curves import draw_model, limits_around
from koopsieve.plots.examples import examples
from koopsieve.plots.figure import MODELS, as_text, legend, new_axes
from koopsieve.sieve.result import SIFTED
from koopsieve.sieve.views import Sifted, result_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_prediction(
    given: Sifted, axes: Axes | None = None, *, output: str | None = None, stretch: str = "typical"
) -> Axes:
    """Draw what was measured and what the models said at the start: the sifted one, the linear one, everything.

    Where the sifted model has bands, that of the result's level is shaded. A prediction that leaves the picture is cut
    there, and a cross marks where.

    Parameters
    ----------
    given : SieveResult or fitted KoopmanSieve
    axes : matplotlib axes, optional
        Left out, a new figure.
    output : str, optional
        Which; by default the first.
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
    word = "measured" if result.judged.truth is None else "true"
    ax.plot(time, example.measured[:, column], color="black", linewidth=1.4, label=word, zorder=3)
    if example.band is not None and result.coverage is not None:
        _draw_band(ax, example.band, time, column, result.coverage.level)
    for name, values in example.predicted.items():
        draw_model(ax, time, values[:, column], limits, name, name)
    ax.set_ylim(limits)
    ax.set_xlabel("seconds after the start")
    ax.set_ylabel(as_text(result.model.output_names[column]))
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
