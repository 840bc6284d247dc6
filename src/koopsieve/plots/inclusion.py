"""The inclusion matrix Γ as a heat map: which observable the data say drives which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from koopsieve.plots.figure import as_text, figure_of, new_axes
from koopsieve.workflow import SieveResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_NAMES = 60  # beyond this names are too small to read


def plot_inclusion(result: SieveResult, axes: Axes | None = None) -> Axes:
    """Draw inclusion probabilities, regressors down and targets across, retained observables in bold.

    Parameters
    ----------
    result : SieveResult
    axes : matplotlib axes, optional
        Left out, a new figure.
    """
    found, kept = result.found, set(result.retained.tolist())
    size = 2.8 + 0.16 * min(len(found.regressors), _MOST_NAMES)
    ax = new_axes(size + 0.8, size) if axes is None else axes
    image = ax.imshow(found.inclusion, cmap="Greys", vmin=0, vmax=1, interpolation="nearest", aspect="auto")
    figure_of(ax).colorbar(image, ax=ax, label="inclusion probability", fraction=0.04)
    if len(found.regressors) <= _MOST_NAMES:
        ax.set_xticks(np.arange(len(found.targets)), [as_text(name) for name in found.targets], rotation=90, fontsize=7)
        ax.set_yticks(np.arange(len(found.regressors)), [as_text(name) for name in found.regressors], fontsize=7)
        for index, labels in enumerate(zip(ax.get_xticklabels(), ax.get_yticklabels(), strict=False)):
            for label in labels:
                label.set_fontweight("bold" if index in kept else "normal")
                label.set_color("black" if index in kept else "0.45")
    ax.set_xlabel("target at the next step")
    ax.set_ylabel("regressor now")
    how = f"threshold {result.reduction.threshold:g}" if result.path is None else "chosen along the path"
    ax.set_title(f"{len(kept)} of {result.dictionary.size} observables retained ({how})", fontsize=10)
    return ax
