"""Which term drives which: the inclusion matrix Γ as a heat map, and the graph of dependencies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from koopsieve.plots.dependencies import INPUT, OUTPUT, dependencies
from koopsieve.plots.figure import KEPT, REMOVED, as_text, figure_of, new_axes
from koopsieve.plots.layout import Layout, NodeBox, lay_out, shorten
from koopsieve.sifting.result import Sifted, result_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_NAMES = 60  # beyond this names are too small to read
_MAX_LETTERS = 18
_UNITS_PER_INCH = 100.0
_INPUT_FILL = "#fdf3e3"


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


def plot_graph(given: Sifted, axes: Axes | None = None) -> Axes:
    """Draw the graph of dependencies: arrows lead from what drives to what is driven, circles share a box.

    It is the graph of the kept terms; where the graph decided what is kept, of all. Arrows that follow from others are
    left out; with many terms those that no output depends on share one box. Inputs are tinted, outputs filled.

    Parameters
    ----------
    given : SieveResult or fitted KoopmanSieve
    axes : matplotlib axes, optional
        Left out, a new figure.
    """
    result = result_of(given)
    layout = lay_out(dependencies(result))
    size = max(4.5, layout.width / _UNITS_PER_INCH), max(1.8, layout.height / _UNITS_PER_INCH + 0.4)
    ax = new_axes(*size) if axes is None else axes
    ax.set_xlim(0, layout.width)
    ax.set_ylim(layout.height, 0)  # layers go down the page
    ax.set_aspect("equal")
    ax.set_axis_off()
    _draw_edges(ax, layout)
    for box in layout.boxes:
        _draw_box(ax, box)
    ax.set_title(f"what drives what, with a probability of {result.reduction.threshold:g} or more", fontsize=10)
    return ax


def _draw_edges(ax: Axes, layout: Layout) -> None:
    for edge in layout.edges:
        a, b = layout.boxes[edge.source], layout.boxes[edge.target]
        ax.annotate(
            "",
            xy=(b.x + b.width / 2, b.y),
            xytext=(a.x + a.width / 2, a.y + a.height),
            arrowprops={"arrowstyle": "-|>", "color": KEPT if edge.retained else REMOVED, "lw": 0.9, "shrinkA": 0},
            zorder=1,
        )


def _draw_box(ax: Axes, box: NodeBox) -> None:
    from matplotlib.patches import Rectangle

    colour = KEPT if box.retained else REMOVED
    line: dict[str, Any] = {"edgecolor": colour, "linewidth": 0.9}
    if len(box.members) > 1:
        ax.add_patch(Rectangle((box.x, box.y), box.width, box.height, fill=False, linestyle="--", **line))
    for chip in box.chips:
        output = chip.kind == OUTPUT
        if chip.index >= 0:
            line["facecolor"] = colour if output else _INPUT_FILL if chip.kind == INPUT else "white"
            ax.add_patch(Rectangle((chip.x, chip.y), chip.width, chip.height, zorder=3, **line))
        middle = chip.x + chip.width / 2, chip.y + chip.height / 2
        ink = "white" if output else "black" if box.retained else "0.5"
        ax.text(*middle, as_text(chip.label), ha="center", va="center", fontsize=7.5, color=ink, zorder=4)
