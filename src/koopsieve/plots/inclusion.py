"""The inclusion matrix Γ as a heat map: which term the data say drives which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from koopsieve.plots.figure import as_text, figure_of, new_axes
from koopsieve.plots.layout import shorten
from koopsieve.sieve.views import Sifted, result_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_NAMES = 60  # beyond this names are too small to read
_MAX_LETTERS = 18


def plot_inclusion(given: Sifted, axes: Axes | None = None) -> Axes:
    """Draw the inclusion probabilities of the explanation, regressors down and targets across.

    They are those of the kept terms; where the graph decided what is kept, of all, with the kept names in bold.

    Parameters
    ----------
    given : SieveResult or fitted KoopmanSieve
    axes : matplotlib axes, optional
        Left out, a new figure.
    """
    result = result_of(given)
    found, kept = result.explanation, set(result.retained_names)
    rows, columns = len(found.regressors), len(found.targets)
    size = (3.4 + 0.22 * min(columns, _MAX_NAMES), 2.0 + 0.22 * min(rows, _MAX_NAMES))
    ax = new_axes(*size) if axes is None else axes
    image = ax.imshow(found.inclusion, cmap="Blues", vmin=0, vmax=1, interpolation="nearest", aspect="auto")
    bar = figure_of(ax).colorbar(image, ax=ax, label="probability", ticks=[0, 0.5, 1], fraction=0.04, pad=0.02)
    bar.outline.set_linewidth(0.5)
    if max(rows, columns) <= _MAX_NAMES:
        ax.set_xticks(np.arange(columns), _short(found.targets), fontsize=7.5)
        ax.tick_params(axis="x", rotation=90 if columns > 4 else 0)
        ax.set_yticks(np.arange(rows), _short(found.regressors), fontsize=7.5)
        if result.outcome.graph_decides:
            _make_bold(ax, kept, found.targets, found.regressors)
    ax.set_xlabel("driven, at the next step")
    ax.set_ylabel("driving, now")
    return ax


def _short(names: tuple[str, ...]) -> list[str]:
    return [as_text(shorten(name, _MAX_LETTERS)) for name in names]


def _make_bold(ax: Axes, kept: set[str], targets: tuple[str, ...], regressors: tuple[str, ...]) -> None:
    for labels, names in ((ax.get_xticklabels(), targets), (ax.get_yticklabels(), regressors)):
        for label, name in zip(labels, names, strict=True):
            label.set_fontweight("bold" if name in kept else "normal")
            label.set_color("black" if name in kept else "0.45")
