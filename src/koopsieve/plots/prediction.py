"""Predicted against measured trajectories, from a start in the data the run was judged on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from koopsieve._types import KoopsieveError
from koopsieve.plots.examples import examples
from koopsieve.plots.figure import FULL, KEPT, as_text, new_axes
from koopsieve.workflow import SieveResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_prediction(
    result: SieveResult, axes: Axes | None = None, *, output: str | None = None, stretch: str = "typical"
) -> Axes:
    """Draw what was measured and what the best method said at the start, with all observables and with those kept.

    Parameters
    ----------
    result : SieveResult
    axes : matplotlib axes, optional
        Left out, a new figure.
    output : str, optional
        Which; by default the first.
    stretch : {"typical", "best", "worst"}
        Which start, by the error of the reduced model.
    """
    ax = new_axes(6.0, 3.2) if axes is None else axes
    column = _position("output", output or result.model.output_names[0], result.model.output_names)
    found = examples(result)
    example = found[_position("stretch", stretch, tuple(e.kind for e in found))]
    steps = np.arange(len(example.measured))
    full, kept = result.dictionary.size, len(result.retained)
    measured = example.measured[:, column]
    room = 0.25 * (np.ptp(measured) or 1.0)
    low, high = measured.min() - room, measured.max() + room
    far = 10 * (high - low)  # a diverging line leaves the picture without troubling the axes
    for values, style in (
        (example.full, {"color": FULL, "linestyle": "--", "label": f"all {full}"}),
        (example.reduced, {"color": KEPT, "linewidth": 2.0, "label": f"kept {kept}"}),
        (example.measured, {"color": "black", "linewidth": 1.2, "label": "measured"}),
    ):
        ax.plot(steps, np.clip(np.nan_to_num(values[:, column], nan=high + far), low - far, high + far), **style)
    ax.set_ylim(low, high)
    ax.set_xlabel(f"steps of {result.model.dt:g} after the start")
    ax.set_ylabel(as_text(result.model.output_names[column]))
    ax.grid(alpha=0.25)
    ax.legend(fontsize=8, frameon=False)
    return ax


def _position(what: str, name: str, known: tuple[str, ...]) -> int:
    if name not in known:
        raise KoopsieveError(f"There is no {what} {name!r}. Expected one of {', '.join(known)}.")
    return known.index(name)
