"""Figures of the Wiener–Hammerstein system: heat maps of |K|, and errors at horizons beside the paper's (5.3)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve._json import number
from koopsieve.experiments.comparison import FULL, REDUCED
from koopsieve.experiments.figure_style import (
    close_above,
    curve,
    legend_above,
    name_panels,
    panels,
    save,
    styled,
)
from koopsieve.experiments.tables import source_in_title
from koopsieve.plots.figure import log_axis, look_of, tick_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Summary = Mapping[str, Any]
_TOP = 1e3  # errors above are marked on the upper edge
_STRENGTHS = (1e-8, 1e-4, 1.0, 1e4, 1e8)  # ticks of the colours
_ZERO = "0.6"  # grey, as in the paper
_LOWEST, _HIGHEST = -9.0, 9.0  # decades of |K| that the colours span


def draw_circuit(summary: Summary, coefficients: Mapping[str, Any], folder: Path) -> None:
    """Draw and write all figures of the Wiener–Hammerstein system."""
    with styled():
        for size in (FULL, REDUCED):
            save(draw_heat_maps(summary, coefficients[size], size), folder, f"heat_maps_{size}")
        save(draw_errors(summary), folder, "long_term")


def draw_heat_maps(summary: Summary, coefficients: Mapping[str, Any], size: str) -> Figure:
    """Draw |K| of every method: rows are regressors (the last is the input), columns targets, grey means zero."""
    from matplotlib.colors import LogNorm

    figure, axes = panels(1, len(coefficients), 1.75 * len(coefficients) + 0.9, 2.6, sharey=True)
    for one, (method, rows) in zip(axes[0], coefficients.items(), strict=True):
        K = np.abs([[number(value) for value in row] for row in rows])
        image = one.imshow(
            np.ma.masked_equal(K, 0.0),
            norm=LogNorm(10**_LOWEST, 10**_HIGHEST),
            cmap="viridis",
            interpolation="nearest",
            aspect="auto",
            extent=(0.5, K.shape[1] + 0.5, K.shape[0] + 0.5, 0.5),
        )
        one.set(title=method, facecolor=_ZERO, xlabel="target")
        one.grid(visible=False)
        _whole_numbers(one, K.shape)
    axes[0, 0].set_ylabel("regressor (last: input)")
    bar = figure.colorbar(image, ax=axes, extend="both")
    bar.set_ticks(_STRENGTHS, labels=[tick_text(strength) for strength in _STRENGTHS])
    bar.set_label("|K|")
    figure.suptitle(f"{summary['title']}: {size} dictionary\n{source_in_title(summary['source'])}", fontsize=9)
    return figure


def draw_errors(summary: Summary) -> Figure:
    """Draw our errors as lines with open marks and the paper's as filled marks, full left and reduced right."""
    figure, axes = panels(1, 2, 6.8, 3.3, sharey=True)
    for one, size in zip(axes[0], (FULL, REDUCED), strict=True):
        one.set(xlabel="prediction horizon (samples)", title=f"{size} dictionary")
        _draw_beside_paper(one, summary, size)
        one.axhline(1.0, color="0.4", linewidth=0.8)
        log_axis(one, "x", summary["horizons"])
        log_axis(one, "y")
        one.set_ylim(bottom=1e-2)
    close_above(axes[0], _TOP)
    axes[0, 0].set_ylabel("NMSE of y, test multisine")
    legend_above(
        figure,
        axes[0, 1],
        title=f"lines, open marks: {source_in_title(summary['source'])}\nfilled marks, to the right: the paper",
    )
    name_panels(axes[0])
    return figure


def _draw_beside_paper(axes: Axes, summary: Summary, size: str) -> None:
    horizons = np.array(summary["horizons"])
    for method, values in summary["long_term"][size].items():
        mean = np.array(values, dtype=float)
        curve(axes, summary["horizons"], mean, np.full(len(mean), np.nan), _TOP, label=method, **look_of(method))
        paper = np.array(summary["paper"]["long_term"][size].get(method, [np.nan] * len(mean)), dtype=float)
        look = {key: look_of(method)[key] for key in ("color", "marker")}
        axes.plot(1.14 * horizons, np.where(paper < _TOP, paper, np.nan), linestyle="none", markersize=3.5, **look)


def _whole_numbers(axes: Any, shape: tuple[int, int]) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins=4, integer=True, min_n_ticks=1))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True, min_n_ticks=1))
    axes.set(xlim=(0.5, shape[1] + 0.5), ylim=(shape[0] + 0.5, 0.5))
